"""The raw rows that the recorder hands over, and the lines of the trace that they become.

The program's threads only put numbers into one flat list (a row is a kind and then its fields, all in one `extend`, so that
rows of several threads never mix); wording, numbering and the join with device times happen here, which is in another process
when there is one (writer). A row that is a text is a whole line already. Knows nothing of torch, and of files only that
somebody takes the lines.

    0 OP      start end stream label thread slot site extra count (block low high mode)×count
    1 ALLOC   time block address size stream thread site name           name: the id of a string, or -1
    2 FREE    time block thread site
    3 RECORD  time event stream thread site implicit
    4 WAIT    time event stream thread site implicit
    5 STEP    kind body following       body: its keys as text; following: a line with \\0 for the step's number, or None
    6 LAUNCH  start end stream slot kind body      a step that starts kernels of its own (a replay, a spin kernel)
    7 SLOT    slot thread               an operating-system thread, as the profiler names it
    8 CALL    correlation thread time
    9 DEVICE  activity stream start end name kind bytes correlation node       stream: (device, the profiler's number)
   10 NUMBER  device number stream      the profiler's number of a stream
   11 END     line                      the last line, once everything else is written
   12 BUFFER  content offset sizes      device activities as CUPTI left them (device_buffers)
   13 NAME    address string            the name that a kernel's record points to
"""
import json

from raceline import device_buffers
from raceline.device_lines import DeviceLines

OP, ALLOC, FREE, RECORD, WAIT, STEP, LAUNCH, SLOT, CALL, DEVICE, NUMBER, END, BUFFER, NAME = range(14)
# Strings that only the writer names have ids of their own range.
FIRST_OWN_STRING = 1 << 20
# What an access does, by the number it has in a row.
READ, WRITE, BOTH = 0, 1, 2
MODES = ("r", "w", "rw")
TAILS = tuple(f',"{mode}"]' for mode in MODES)
# The site of a row that has none.
NOWHERE = -1


class Lines:
    """Turns rows into lines. Numbers steps in the order of the rows, which is the order in which they were issued."""

    def __init__(self, start):
        self._start = start
        self._next = 0
        self._last = None
        self._names = {}
        self._own_strings = {}
        self._own_lines = []
        self.counts = {}
        self.device = DeviceLines(start)

    def take(self, rows):
        """The lines of a flat list of rows."""
        out = []
        put = out.append
        start, n, counts, device = self._start, self._next, self.counts, self.device
        at, end = 0, len(rows)
        ops = 0
        while at < end:
            kind = rows[at]
            if kind.__class__ is str:
                put(kind)
                at += 1
            elif kind == OP:
                _, began, ended, stream, label, thread, slot, site, extra, count = rows[at : at + 10]
                at += 10
                stop = at + 4 * count
                accesses = ",".join([f"[{rows[i]},{rows[i + 1]},{rows[i + 2]}{TAILS[rows[i + 3]]}" for i in range(at, stop, 4)])
                at = stop
                put(f'{{"k":"op","n":{n},"t":{began - start},"d":{ended - began},"st":{stream},"name":{label}{_where(thread, site)}{extra or ""},"acc":[{accesses}]}}')
                device.span(slot, began, ended, n, stream)
                n += 1
                ops += 1
            elif kind == ALLOC:
                _, time, block, address, size, stream, thread, site, name = rows[at : at + 9]
                at += 9
                said = f',"name":{name}' if name >= 0 else ""
                put(f'{{"k":"alloc","n":{n},"t":{time - start},"b":{block},"addr":"{address:#x}","size":{size},"st":{stream}{_where(thread, site)}{said}}}')
                n += 1
                counts["alloc"] = counts.get("alloc", 0) + 1
            elif kind == FREE:
                _, time, block, thread, site = rows[at : at + 5]
                at += 5
                put(f'{{"k":"free","n":{n},"t":{time - start},"b":{block}{_where(thread, site)}}}')
                n += 1
            elif kind == RECORD or kind == WAIT:
                _, time, event, stream, thread, site, implicit = rows[at : at + 7]
                at += 7
                word = "record" if kind == RECORD else "wait"
                counts[word] = counts.get(word, 0) + 1
                mark = ',"implicit":true' if implicit else ""
                put(f'{{"k":"{word}","n":{n},"t":{time - start},"e":{event},"st":{stream}{mark}{_where(thread, site)}}}')
                n += 1
            elif kind == STEP:
                _, word, body, following = rows[at : at + 4]
                at += 4
                counts[word] = counts.get(word, 0) + 1
                put(f'{{"k":"{word}","n":{n}{body}}}')
                if following is not None:
                    put(following.replace("\0", str(n)))
                    counts["gpu"] = counts.get("gpu", 0) + 1
                n += 1
            elif kind == LAUNCH:
                _, began, ended, stream, slot, word, body = rows[at : at + 7]
                at += 7
                counts[word] = counts.get(word, 0) + 1
                put(f'{{"k":"{word}","n":{n},"t":{began - start},"d":{ended - began}{body}}}')
                device.span(slot, began, ended, n, stream)
                n += 1
            elif kind == SLOT:
                device.slot(rows[at + 1], rows[at + 2])
                at += 3
            elif kind == CALL:
                device.call(*rows[at + 1 : at + 4])
                at += 4
            elif kind == DEVICE:
                device.activity(rows[at + 1 : at + 9])
                at += 9
            elif kind == NUMBER:
                device.number(*rows[at + 1 : at + 4])
                at += 4
            elif kind == BUFFER:
                device_buffers.read(*rows[at + 1 : at + 4], self._names, device, self._string)
                at += 4
            elif kind == NAME:
                self._names[rows[at + 1]] = rows[at + 2]
                at += 3
            elif kind == END:
                self._last = rows[at + 1]
                at += 2
            else:
                raise ValueError(f"a row of kind {kind!r} at {at}")
        self._next = n
        counts["op"] = counts.get("op", 0) + ops
        if self._own_lines:
            out.extend(self._own_lines)
            self._own_lines = []
        out.extend(device.ready())
        return out

    def _string(self, text):
        got = self._own_strings.get(text)
        if got is None:
            got = self._own_strings[text] = FIRST_OWN_STRING + len(self._own_strings)
            self._own_lines.append('{"k":"str","id":%d,"v":%s}' % (got, json.dumps(text)))
        return got

    def rest(self):
        """At the end: the lines of what waited for something that has not come."""
        device = self.device
        out = device.rest()
        self.counts["gpu"] = self.counts.get("gpu", 0) + device.count
        if self._last is not None:
            if device.unknown and device.joined:
                sentence = f"{device.unknown} kernels or copies were started by code that is not seen (extensions, libraries): what they read and write is not known."
                out.append('{"k":"limit","v":%s}' % json.dumps(sentence))
            out.append(self._last)
        return out


def _where(thread, site):
    if thread:
        return f',"th":{thread},"s":{site}' if site >= 0 else f',"th":{thread}'
    return f',"s":{site}' if site >= 0 else ""
