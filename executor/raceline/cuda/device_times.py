"""When kernels, copies and sets ran, from PyTorch's profiler, and which step started each.

Only the profiler's CUDA side runs: it is cheap, and every device activity carries the correlation number of the runtime call
that started it. That call's thread and time lie inside exactly one step of the same thread, since both clocks are Unix time:

    step       |--- aten::mul ---|     |- aten::add -|
    runtime        | launch 17 |         | launch 18 |
    device                  [ kernel 17 ]       [ kernel 18 ]
"""
import bisect
import collections
import ctypes
import json
import os
import tempfile
import warnings

import torch

# Clocks agree to a few microseconds.
SLACK = 3_000

# CUPTI's numbers for the two interfaces, and a bound on how many calls either has.
DRIVER_API, RUNTIME_API = 1, 2
MOST_CALLS = 1000

# A span is (start, end, step, stream) in a flat array.
WIDTH = 4

KINDS = {"kernel": "kernel", "gpu_memcpy": "copy", "gpu_memset": "set"}


def start():
    """Start the profiler; its own advice about cycles is not for the program's user."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        profile = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA])
        profile.start()
    _only_launches()
    return profile


def _libraries():
    """(CUPTI, the driver's library), as this process has loaded them; None where one is missing."""
    try:
        with open("/proc/self/maps") as maps:
            paths = {line.split()[-1] for line in maps if "libcupti" in line or "libcuda.so" in line}
    except OSError:
        return None, None
    found = [next((path for path in sorted(paths) if name in path), None) for name in ("libcupti", "libcuda.so")]
    return tuple(None if path is None else ctypes.CDLL(path) for path in found)


def _only_launches():
    """Tell CUPTI to record only the calls that start device work: the others are not looked at and make the profile half as long again."""
    cupti, _ = _libraries()
    if cupti is None or not hasattr(cupti, "cuptiActivityEnableRuntimeApi"):  # before CUDA 12
        return
    name = ctypes.c_char_p()
    for domain, switch in ((DRIVER_API, cupti.cuptiActivityEnableDriverApi), (RUNTIME_API, cupti.cuptiActivityEnableRuntimeApi)):
        for call in range(1, MOST_CALLS):
            if cupti.cuptiGetCallbackName(ctypes.c_int(domain), ctypes.c_uint32(call), ctypes.byref(name)) or not name.value:
                continue
            if not any(word in name.value for word in (b"Launch", b"Memcpy", b"Memset")):
                switch(ctypes.c_uint32(call), ctypes.c_uint8(0))


class DeviceTimes:
    def __init__(self, session, profile):
        self._session = session
        self._profile = profile
        self.count = 0

    def watch_profilers(self):
        """PyTorch allows one profiler at a time, and the program's comes first."""
        from torch.autograd import profiler

        prepare = profiler.profile._prepare_trace
        ours = self

        def prepare_for_program(profile, *args, **kwargs):
            if ours._profile is not None:
                ours._session.recording.file.limit("The program uses the profiler itself: kernels are timed only up to there.")
                ours.finish()
            return prepare(profile, *args, **kwargs)

        profiler.profile._prepare_trace = prepare_for_program

    def finish(self):
        profile, self._profile = self._profile, None
        if profile is None:
            return
        session = self._session
        before, session.quiet = session.quiet, True
        try:
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
        finally:
            session.quiet = before

    def write(self, trace):
        """Write a line for each device activity of a profiler trace."""
        session = self._session
        recording, file = session.recording, session.recording.file
        base = trace.get("baseTimeNanoseconds", 0)
        calls, activities = {}, []
        for event in trace["traceEvents"]:
            kind = event.get("cat")
            if kind in KINDS:
                activities.append(event)
            elif kind in ("cuda_runtime", "cuda_driver") and event.get("ph") == "X":
                correlation = event.get("args", {}).get("correlation")
                if correlation is not None:
                    calls[correlation] = (event["tid"], base + round(event["ts"] * 1000))
        activities.sort(key=lambda event: event["ts"])
        spans = Spans(session.spans)
        steps = []
        for event in activities:
            call = calls.get(event.get("args", {}).get("correlation"))
            steps.append(None if call is None else spans.find(*call))
        streams = self._stream_ids(activities, steps)
        for event, step in zip(activities, steps):
            args = event.get("args", {})
            body = "" if step is None else f'"op":{step[0]},'
            kind = KINDS[event["cat"]]
            more = f',"bytes":{int(args["bytes"])}' if kind != "kernel" and "bytes" in args else ""
            if "correlation" in args:
                more += f',"corr":{args["correlation"]}'
            file.append(
                f'{{"k":"gpu",{body}"st":{streams[_stream_key(args)]},"t":{base + round(event["ts"] * 1000) - session.start_ns},"d":{round(event["dur"] * 1000)},'
                f'"name":{file.string(event["name"])},"kind":"{kind}"{more}}}'
            )
            self.count += 1
        unknown = steps.count(None)
        if unknown and session.level == "full":
            file.limit(f"{unknown} kernels or copies were started by code that is not seen (extensions, libraries): what they read and write is not known.")

    def _stream_ids(self, activities, steps):
        """The profiler's stream numbers → stream ids, learnt from the steps whose kernels ran on them.

        The runtime's own number of a stream (cudaStreamGetId) is not always the profiler's.
        """
        votes = {}
        for event, step in zip(activities, steps):
            count = votes.setdefault(_stream_key(event.get("args", {})), collections.Counter())
            if step is not None and step[1] >= 0:
                count[step[1]] += 1
        recording = self._session.recording
        found, taken = {}, set()
        if votes and not any(votes.values()):
            found = self._numbered(votes)
            taken = set(found.values())
        for key, count in sorted(votes.items(), key=lambda item: -sum(item[1].values())):
            best = next((stream for stream, _ in count.most_common(1) if stream not in taken), None)
            if key in found:
                continue
            if best is not None:
                recording.number_stream(best, key[1])
            found[key] = recording.stream_by_number(*key) if best is None else best
            taken.add(found[key])
        return found

    def _numbered(self, votes):
        """Without operators (timeline level) the profiler's library is asked."""
        recording = self._session.recording
        found = {}
        for (device, handle), stream in recording.stream_keys.items():
            number = _profiler_number(handle) if isinstance(handle, int) else None
            if (device, number) in votes:
                found[(device, number)] = stream
                recording.number_stream(stream, number)
        return found


def _stream_key(args):
    return args.get("device", 0), args.get("stream", -1)


def _profiler_number(handle):
    """What CUPTI, the profiler's library, calls a stream of the current context; None: it does not say."""
    cupti, driver = _libraries()
    if cupti is None or driver is None:
        return None
    context, number = ctypes.c_void_p(), ctypes.c_uint()
    if driver.cuCtxGetCurrent(ctypes.byref(context)) or cupti.cuptiGetStreamIdEx(context, ctypes.c_void_p(handle), ctypes.c_ubyte(0), ctypes.byref(number)):
        return None
    return number.value


class Spans:
    """The calls of each thread, in order, and which of them holds a moment."""

    def __init__(self, by_thread):
        self._by_thread = {tid: (spans[0::WIDTH], spans) for tid, spans in by_thread.items()}
        self._all = list({id(spans): (spans[0::WIDTH], spans) for spans in by_thread.values()}.values())

    def find(self, thread, time):
        """(step, stream), or None. A thread that the profiler names otherwise is told by the time alone."""
        known = self._by_thread.get(abs(thread)) if isinstance(thread, int) else None
        if known is not None:
            return _step(*known, time)
        found = [step for step in (_step(*one, time) for one in self._all) if step is not None]
        return found[0] if len(found) == 1 else None


def _step(starts, spans, time):
    """The call that holds `time`, or the nearest within the clocks' slack."""
    if not starts:
        return None
    at = bisect.bisect_right(starts, time) - 1
    if at < 0 or time > spans[WIDTH * at + 1] + SLACK:
        if at + 1 == len(starts) or starts[at + 1] - time > SLACK:
            return None
        at += 1
    return spans[WIDTH * at + 2], spans[WIDTH * at + 3]
