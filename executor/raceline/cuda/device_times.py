"""When kernels, copies and sets ran, from PyTorch's profiler, and which step started each.

Only the profiler's CUDA side runs: it is cheap, and every device activity carries the correlation number of the runtime call
that started it. That call's thread and time lie inside exactly one step of the same thread, since both clocks are Unix time:

    step       |--- aten::mul ---|     |- aten::add -|
    runtime        | launch 17 |         | launch 18 |
    device                  [ kernel 17 ]       [ kernel 18 ]
"""
import bisect
import json
import os
import tempfile

import torch

# Past so many operators the profiler's own memory would grow without end; later kernels are not timed.
MOST_STEPS = 500_000
# Clocks agree to a few microseconds.
SLACK = 3_000

KINDS = {"kernel": "kernel", "gpu_memcpy": "copy", "gpu_memset": "set"}


class DeviceTimes:
    def __init__(self, session):
        self._session = session
        self._profile = None
        self.count = 0

    def start(self):
        from torch.autograd import profiler

        session = self._session
        self._profile = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA])
        self._profile.start()
        prepare = profiler.profile._prepare_trace
        ours = self

        def prepare_for_program(profile, *args, **kwargs):
            # PyTorch allows one profiler at a time, and the program's comes first.
            if ours._profile is not None:
                session.recording.file.limit("The program uses the profiler itself: kernels are timed only up to there.")
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
                    calls[correlation] = (event["tid"], base + round(event["ts"] * 1000), event["name"])
        streams = self._stream_ids()
        starts = {tid: spans[0::3] for tid, spans in session.spans.items()}
        unknown = 0
        for event in sorted(activities, key=lambda e: e["ts"]):
            args = event.get("args", {})
            key = (args.get("device", 0), args.get("stream"))
            stream = streams.get(key)
            if stream is None:
                stream = streams[key] = self._new_stream(*key)
            correlation = args.get("correlation")
            call = calls.get(correlation)
            n = None if call is None else _step(session.spans.get(call[0]), starts.get(call[0]), call[1])
            if n is None:
                unknown += 1
            kind = KINDS[event["cat"]]
            body = "" if n is None else f'"op":{n},'
            more = f',"bytes":{int(args["bytes"])}' if kind != "kernel" and "bytes" in args else ""
            if correlation is not None:
                more += f',"corr":{correlation}'
            file.append(
                f'{{"k":"gpu",{body}"st":{stream},"t":{base + round(event["ts"] * 1000) - session.start_ns},"d":{round(event["dur"] * 1000)},'
                f'"name":{file.string(event["name"])},"kind":"{kind}"{more}}}'
            )
            self.count += 1
        if unknown and session.level == "full":
            file.limit(f"{unknown} kernels or copies were started by code that is not seen (extensions, libraries): what they read and write is not known.")

    def _stream_ids(self):
        session = self._session
        found = {}
        for (device, handle), stream in session.recording.stream_keys.items():
            number = session.stream_number(handle) if isinstance(handle, int) else None
            if number is not None:
                found[(device, number)] = stream
        return found

    def _new_stream(self, device, number):
        return self._session.recording.stream_by_number(device, number)


def _step(spans, starts, time):
    """The step whose call holds `time`, or the nearest within the clocks' slack."""
    if not spans:
        return None
    at = bisect.bisect_right(starts, time) - 1
    if at >= 0 and time <= spans[3 * at + 1]:
        return spans[3 * at + 2]
    if at >= 0 and time <= spans[3 * at + 1] + SLACK:
        return spans[3 * at + 2]
    if at + 1 < len(starts) and starts[at + 1] - time <= SLACK:
        return spans[3 * at + 5]
    return None
