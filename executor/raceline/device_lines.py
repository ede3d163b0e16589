"""When kernels, copies and sets ran, and which step started each.

Every device activity carries the correlation number of the runtime call that started it. That call's thread and time lie inside
exactly one step of the same thread, since both clocks are Unix time:

    step       |--- aten::mul ---|     |- aten::add -|
    runtime        | launch 17 |         | launch 18 |
    device                  [ kernel 17 ]       [ kernel 18 ]

Steps, calls and activities come in any order; an activity waits here until its call is known and the steps of that call's thread
have passed it. Knows nothing of where they come from (CUPTI, a profiler's trace).
"""
import array
import bisect

# Clocks agree to a few microseconds.
SLACK = 3_000
# A span is (start, end, step, stream) in a flat array.
WIDTH = 4
# Spans and calls that are kept for activities still to come.
MOST_SPANS = 400_000
MOST_CALLS = 400_000
# Streams that only the profiler knows (inside a graph, of a library) have ids of their own range.
FIRST_UNNAMED = 1 << 20
# A step whose kernels run on streams that are not the step's.
ELSEWHERE = -1
# CUPTI's number of a node has its graph's in the upper half.
LOW_HALF = 0xFFFFFFFF
# What an activity is, by the number it has in a row.
KIND_KERNEL, KIND_COPY, KIND_SET = range(3)
KINDS = ("kernel", "copy", "set")


class DeviceLines:
    def __init__(self, start):
        self._start = start
        self._spans = Spans()
        self._calls = {}
        self._waiting = []
        self._streams = {}
        self._unnamed = 0
        self.count = 0
        self.unknown = 0

    @property
    def joined(self):
        """Whether there were steps to join with: at the timeline level there are none."""
        return self._spans.any

    def span(self, slot, start, end, step, stream):
        self._spans.add(slot, start, end, step, stream)

    def slot(self, slot, thread):
        self._spans.name(slot, thread)

    def number(self, device, number, stream):
        self._streams[(device, number)] = stream

    def call(self, correlation, thread, time):
        calls = self._calls
        calls[correlation] = (thread, time)
        if len(calls) > MOST_CALLS:
            for old in list(calls)[: MOST_CALLS // 2]:
                del calls[old]

    def activity(self, fields):
        self._waiting.append(fields)

    def ready(self):
        """Lines of the activities whose step is known by now."""
        out = []
        still = []
        calls, spans = self._calls, self._spans
        for fields in self._waiting:
            call = calls.get(fields[6])
            if call is None or not spans.passed(*call):
                still.append(fields)
            else:
                self._line(fields, spans.find(*call), out)
        self._waiting = still
        return out

    def rest(self):
        out = []
        for fields in self._waiting:
            call = self._calls.get(fields[6])
            self._line(fields, None if call is None else self._spans.find(*call), out)
        self._waiting = []
        return out

    def _line(self, fields, step, out):
        device, start, end, name, kind, size, correlation, node = fields
        stream = self._streams.get(device)
        if stream is None:
            stream = self._learn(device, step, out)
        if step is None:
            self.unknown += 1
            body = ""
        else:
            body = f'"op":{step[0]},'
        more = f',"bytes":{size}' if kind else ""
        if node:
            more += f',"node":{node & LOW_HALF}'
        out.append(f'{{"k":"gpu",{body}"st":{stream},"t":{start - self._start},"d":{end - start},"name":{name},"kind":"{KINDS[kind]}"{more},"corr":{correlation}}}')
        self.count += 1

    def _learn(self, key, step, out):
        """Whose number this is, where nobody said: the stream of the first step whose kernels run there, or a stream of its own."""
        device, number = key
        if step is not None and step[1] != ELSEWHERE and step[1] not in self._streams.values():
            stream = step[1]
            out.append(f'{{"k":"stream","id":{stream},"num":{number}}}')
        else:
            stream = FIRST_UNNAMED + self._unnamed
            self._unnamed += 1
            out.append(f'{{"k":"stream","id":{stream},"device":{device},"num":{number}}}')
        self._streams[key] = stream
        return stream


class Spans:
    """The calls of each thread, in order, and which of them holds a moment."""

    def __init__(self):
        self._slots = {}
        self._threads = {}
        self._latest = 0

    def add(self, slot, start, end, step, stream):
        flat = self._slots.get(slot)
        if flat is None:
            flat = self._slots[slot] = array.array("q")
        flat.extend((start, end, step, stream))
        if end > self._latest:
            self._latest = end
        if len(flat) > WIDTH * MOST_SPANS:
            del flat[: WIDTH * (MOST_SPANS // 2)]

    @property
    def any(self):
        return bool(self._slots)

    def name(self, slot, thread):
        """A slot's steps are the profiler's `thread`'s."""
        self._threads[thread] = slot

    def passed(self, thread, time):
        """Whether no step is to come that could hold `time`."""
        flat = self._slots.get(self._threads.get(thread))
        latest = flat[-3] if flat else self._latest
        return latest > time + SLACK

    def find(self, thread, time):
        """(step, stream), or None. A thread that has no slot is told by the time alone."""
        slot = self._threads.get(thread)
        if slot is not None:
            flat = self._slots.get(slot)
            return None if flat is None else _step(flat, time)
        found = [step for step in (_step(flat, time) for flat in self._slots.values()) if step is not None]
        return found[0] if len(found) == 1 else None


class _Starts:
    """The starts of a flat array of spans, for bisect on Python before 3.10."""

    __slots__ = ("flat",)

    def __init__(self, flat):
        self.flat = flat

    def __len__(self):
        return len(self.flat) // WIDTH

    def __getitem__(self, index):
        return self.flat[WIDTH * index]


def _step(flat, time):
    """The call that holds `time`, or the nearest within the clocks' slack."""
    if not flat:
        return None
    starts = _Starts(flat)
    at = bisect.bisect_right(starts, time) - 1
    if at < 0 or time > flat[WIDTH * at + 1] + SLACK:
        if at + 1 == len(starts) or starts[at + 1] - time > SLACK:
            return None
        at += 1
    return flat[WIDTH * at + 2], flat[WIDTH * at + 3]
