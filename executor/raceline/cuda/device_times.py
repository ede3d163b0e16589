"""Device times of a run: from CUPTI as it goes (cupti), or, where that library cannot be had, from a profile of PyTorch's own that is
read at the end. Both become rows; the join with the steps is the writer's (device_lines).
"""
import json
import os
import tempfile
import threading
import warnings

import torch

from raceline.cuda.cupti import Cupti
from raceline.device_lines import KIND_COPY, KIND_KERNEL, KIND_SET
from raceline.patches import Patches
from raceline.rows import CALL, DEVICE

# What a profiler's trace calls the activities.
KINDS = {"kernel": KIND_KERNEL, "gpu_memcpy": KIND_COPY, "gpu_memset": KIND_SET}


def start(joined):
    """Start what there is; `joined`: the activities are to be joined with steps."""
    try:
        return Cupti(joined).start()
    except (OSError, AttributeError):
        pass
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its advice about cycles is not for the program's user
        profile = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA])
        profile.start()
    return profile


class DeviceTimes:
    def __init__(self, session, source):
        self._session = session
        self._source = source
        self._lock = threading.Lock()
        self._patches = Patches()
        self._rows = session.recording.file.rows
        if isinstance(source, Cupti):
            source.string = session.recording.file.string

    def number(self, device, handle, stream):
        """What CUPTI calls a stream; None: it does not say."""
        return self._source.number(device, handle, stream, self._rows) if isinstance(self._source, Cupti) else None

    def collect(self):
        """Hand over what has come so far."""
        with self._lock:
            if isinstance(self._source, Cupti):
                self._source.collect(self._rows)

    def watch_profilers(self):
        """PyTorch's profiler takes CUPTI for itself, and the program's comes first."""
        from torch.autograd import profiler

        prepare = profiler.profile._prepare_trace
        ours = self

        def prepare_for_program(profile, *args, **kwargs):
            if ours._source is not None:
                ours._session.recording.file.limit("The program uses the profiler itself: kernels are timed only up to there.")
                ours.finish()
            return prepare(profile, *args, **kwargs)

        self._patches.put(profiler.profile, "_prepare_trace", prepare_for_program)

    def remove(self):
        self._patches.back()

    def finish(self):
        source, self._source = self._source, None
        if source is None:
            return
        session = self._session
        before, session.quiet = session.quiet, True
        try:
            if isinstance(source, Cupti):
                self._finish_cupti(source)
            else:
                self._finish_profile(source)
        finally:
            session.quiet = before

    def _finish_cupti(self, source):
        for device in source.devices or (torch.cuda.current_device(),):
            try:
                torch.cuda.synchronize(device)
            except Exception:  # a kernel failed: what ran before it is there all the same
                pass
        with self._lock:
            source.finish(self._rows)
        if source.lost:
            self._session.recording.file.limit(f"{source.lost} kernels or copies came faster than CUPTI could note them: their times are missing.")

    def _finish_profile(self, profile):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            profile.stop()
        handle, path = tempfile.mkstemp(suffix=".json")
        os.close(handle)
        try:
            profile.export_chrome_trace(path)
            with open(path, encoding="utf-8", errors="replace") as text:
                trace = json.load(text)
        finally:
            os.remove(path)
        self.write(trace)

    def write(self, trace):
        """The rows of a profiler's trace."""
        file = self._session.recording.file
        base = trace.get("baseTimeNanoseconds", 0)
        activities = []
        for event in trace["traceEvents"]:
            kind, args = event.get("cat"), event.get("args", {})
            if kind in KINDS:
                activities.append(event)
            elif kind in ("cuda_runtime", "cuda_driver") and event.get("ph") == "X" and "correlation" in args:
                self._rows.extend((CALL, args["correlation"], abs(event["tid"]), base + round(event["ts"] * 1000)))
        for event in sorted(activities, key=lambda event: event["ts"]):
            args = event.get("args", {})
            began = base + round(event["ts"] * 1000)
            stream = (args.get("device", 0), args.get("stream", -1))
            self._rows.extend((DEVICE, stream, began, began + round(event["dur"] * 1000), file.string(event["name"]), KINDS[event["cat"]], int(args.get("bytes", 0)), args.get("correlation", -1), 0))
