"""The trace file: lines in, bytes out, so that a run that dies leaves a readable file.

Owns the buffer, the interned strings and the step numbers. Knows nothing of streams, tensors or torch.

A line is appended already serialized. A background thread hands the buffer to the operating system every half second,
and the writer itself does when the buffer is long: after a crash of the process at most that much is missing.
"""
import gzip
import itertools
import json
import os
import threading

FLUSH_SECONDS = 0.5
FLUSH_LINES = 2000


class TraceFile:
    def __init__(self, path, header):
        self.path = path
        self._raw = open(path, "wb")
        self._out = gzip.GzipFile(fileobj=self._raw, mode="wb", mtime=0) if path.endswith(".gz") else self._raw
        self._pid = os.getpid()
        self._lines = []
        self._strings = {}
        self._limits = set()
        self.closed = False
        # Re-entrant: a garbage collection inside a line can free a tensor, which writes a line of its own.
        self.lock = threading.RLock()
        self._write_lock = threading.Lock()
        self._numbers = itertools.count()
        self._wake = threading.Event()
        self.counts = {"op": 0, "alloc": 0}
        self.append(json.dumps(header, separators=(",", ":"), ensure_ascii=False))
        self.flush()
        self._flusher = threading.Thread(target=self._flush_regularly, name="raceline flush", daemon=True)
        self._flusher._raceline = True  # not a thread of the program: see host_threads
        self._flusher.start()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)

    def append(self, line):
        if self.closed:
            return
        lines = self._lines
        lines.append(line)
        if len(lines) >= FLUSH_LINES:
            self.flush()

    def step(self, kind, body):
        """Append a step and return its number; `body` starts with a comma."""
        with self.lock:
            n = next(self._numbers)
            self.append(f'{{"k":"{kind}","n":{n}{body}}}')
            self.counts[kind] = self.counts.get(kind, 0) + 1
        return n

    def string(self, text):
        """The id of a string; declared on first use."""
        got = self._strings.get(text)
        if got is None:
            with self.lock:
                got = self._strings.get(text)
                if got is None:
                    got = len(self._strings)
                    self.append('{"k":"str","id":%d,"v":%s}' % (got, json.dumps(text)))
                    self._strings[text] = got
        return got

    def limit(self, sentence):
        """Say once what this recording cannot tell."""
        if sentence not in self._limits:
            self._limits.add(sentence)
            self.append('{"k":"limit","v":%s}' % json.dumps(sentence))

    @property
    def limits(self):
        return sorted(self._limits)

    def flush(self):
        if self.closed or os.getpid() != self._pid:
            return
        with self._write_lock:
            lines = self._lines
            count = len(lines)
            if not count:
                return
            chunk = lines[:count]
            del lines[:count]
            try:
                self._out.write(("\n".join(chunk) + "\n").encode("utf-8", "surrogatepass"))
                self._out.flush()
            except OSError as error:  # a full disk must not stop the program that is watched
                self.closed = True
                self.failure = error

    failure = None

    def close(self, time, status, message=None):
        """Write the end line and close. Later lines are dropped: the program is over."""
        if self.closed or os.getpid() != self._pid:
            return
        text = "" if message is None else ',"message":' + json.dumps(message)
        self.append('{"k":"end","t":%d,"status":"%s"%s}' % (time, status, text))
        self.flush()
        self._wake.set()
        with self._write_lock:
            self.closed = True
            try:
                if self._out is not self._raw:
                    self._out.close()
                self._raw.close()
            except OSError as error:
                self.failure = error

    def _flush_regularly(self):
        while not self._wake.wait(FLUSH_SECONDS):
            self.flush()

    def _forked(self):
        """A forked child shares the file descriptor: it must not write what the parent already has in its buffer."""
        self.closed = True
        self._lines = []
        self._write_lock = threading.Lock()
        self.lock = threading.RLock()
