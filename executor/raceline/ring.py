"""The last seconds of a long run: lines come in, old ones fall out, what is left is a trace that stands on its own.

What a step in the window needs from before it is kept: tables, blocks that are alive, the latest record of an event, who a block is
kept for, graphs that were captured. Accesses that fell out take part in nothing any more, so nothing is told of them.
"""
import collections
import json
import re

TABLES = {"str", "site", "stream", "thread", "limit"}
TIME = re.compile(r'"t":(\d+)')
OP = re.compile(r'"op":(\d+)')
NUMBER = re.compile(r'"n":(\d+)')
BLOCK_KEYS = ("b", "addr", "size", "st", "name", "mem")


class Ring:
    def __init__(self, seconds):
        self._seconds = seconds
        self._span = int(seconds * 1e9)
        self._header = None
        self._tables = []
        self._window = collections.deque()
        self._newest = 0
        # From before the window: blocks that are alive, streams they are kept for, latest records, captures, all by id.
        self._blocks, self._kept, self._records, self._captured = {}, {}, {}, []
        self._capturing = 0
        self.dropped = 0

    def put(self, lines):
        for line in lines:
            if self._header is None:
                self._header = line
                continue
            kind = line[6 : line.index('"', 6)]
            if kind in TABLES:
                self._tables.append(line)
                continue
            time = TIME.search(line)
            time = int(time.group(1)) if time else self._newest
            if kind != "gpu" and time > self._newest:
                self._newest = time
            self._window.append((time, kind, line))
        oldest = self._newest - self._span
        window = self._window
        while window and window[0][0] < oldest:
            self._forget(*window.popleft()[1:])

    def _forget(self, kind, line):
        self.dropped += 1
        if kind == "capture":
            self._capturing += 1
        if kind in ("capture", "captureEnd", "fork") or self._capturing:
            self._captured.append(line)
            if kind == "captureEnd":
                self._capturing -= 1
            return
        if kind in ("alloc", "block"):
            row = json.loads(line)
            self._blocks[row["b"]] = '{"k":"block",' + json.dumps({key: row[key] for key in BLOCK_KEYS if key in row}, separators=(",", ":"))[1:]
        elif kind == "free":
            block = json.loads(line)["b"]
            self._blocks.pop(block, None)
            self._kept.pop(block, None)
        elif kind == "recordStream":
            self._kept.setdefault(json.loads(line)["b"], []).append(line)
        elif kind == "record":
            self._records[json.loads(line)["e"]] = line

    def lines(self):
        """The trace of what is left."""
        before = [line for lines in self._kept.values() for line in lines] + list(self._records.values()) + self._captured
        steps = {NUMBER.search(line).group(1) for line in before if NUMBER.search(line)}
        steps.update(found.group(1) for found in (NUMBER.search(line) for _, _, line in self._window) if found)
        inside = []
        for _, kind, line in self._window:
            # Device work of a step that is gone would hang in the air.
            step = OP.search(line) if kind == "gpu" else None
            if step is None or step.group(1) in steps:
                inside.append(line)
        said = '{"k":"limit","v":%s}' % json.dumps(f"Only the last {self._seconds:g} seconds were kept: what ran before them is not in the trace.")
        first = [self._header] if self._header else []
        return first + self._tables + ([said] if self.dropped else []) + list(self._blocks.values()) + sorted(before, key=lambda line: int(NUMBER.search(line).group(1))) + inside
