"""The recorder's end of the trace file: rows in, handed over so that a run that dies leaves a readable file.

Owns the buffer and the interned strings. Knows nothing of streams, tensors or torch, nor how rows are worded (rows).

A row is appended raw, in one `extend`, which no other thread can come between. A background thread hands the buffer to the
writer's process ten times a second: after a crash of this one at most that much is missing, and wording costs it nothing. Where
no process can be started the lines are written here.
"""
import json
import marshal
import os
import struct
import subprocess
import sys
import threading

from raceline import rows as kinds
from raceline.sink import Sink

FLUSH_SECONDS = 0.1


class TraceFile:
    def __init__(self, path, header, start=0, apart=True, last=None):
        """`start`: what the raw rows' times count from. `apart`: in a process of its own. `last`: keep only so many seconds."""
        self.path = path
        self._pid = os.getpid()
        self._strings = {}
        self._limits = set()
        self.closed = False
        self.failure = None
        self.counts = {}
        # Called before rows are handed over: sources that have rows of their own (device activities).
        self.sources = []
        # The one list of rows; sources keep its `extend`.
        self.rows = []
        # For what must be looked up and declared in one go. Re-entrant: a garbage collection inside can free a tensor.
        self.lock = threading.RLock()
        self._write_lock = threading.Lock()
        self._wake = threading.Event()
        self._out = _open(path, start, last, apart)
        self.append(json.dumps(header, separators=(",", ":"), ensure_ascii=False))
        self.flush()
        self._flusher = threading.Thread(target=self._flush_regularly, name="raceline flush", daemon=True)
        self._flusher._raceline = True  # not a thread of the program: see host_threads
        self._flusher.start()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)

    def append(self, line):
        if not self.closed:
            self.rows.append(line)

    def step(self, kind, body, following=None):
        """Append a step; `body` starts with a comma. `following`: a line after it, in which \\0 stands for the step's number."""
        if not self.closed:
            self.rows.extend((kinds.STEP, kind, body, following))

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
            for source in self.sources:
                source()
            self._hand_over()

    def _hand_over(self):
        pending = self.rows
        count = len(pending)
        if not count:
            return
        # Two steps, each whole under the interpreter's lock: rows that come in between stand behind.
        chunk = pending[:count]
        del pending[:count]
        try:
            self._out.write(chunk)
        except OSError as error:  # a full disk must not stop the program that is watched
            self.closed = True
            self.failure = self._out.failure() or error

    def close(self, time, status, message=None):
        """Write the end line and close. Later rows are dropped: the program is over."""
        if self.closed or os.getpid() != self._pid:
            return
        self.flush()
        text = "" if message is None else ',"message":' + json.dumps(message)
        self.rows.extend((kinds.END, '{"k":"end","t":%d,"status":"%s"%s}' % (time, status, text)))
        self._wake.set()
        with self._write_lock:
            self._hand_over()
            self.closed = True
            try:
                self.counts = self._out.close()
            except OSError as error:
                self.failure = error

    def _flush_regularly(self):
        while not self._wake.wait(FLUSH_SECONDS):
            self.flush()

    def _forked(self):
        """A forked child shares the pipe: it must not write what the parent already has in its buffer, nor keep it open."""
        self.closed = True
        self.rows.clear()
        self.sources.clear()
        self._write_lock = threading.Lock()
        self.lock = threading.RLock()
        self._out.forsake()


def _open(path, start, last, apart):
    if apart and sys.executable:
        try:
            return Apart(path, start, last)
        except OSError:  # no process is to be had (limits, sandboxes)
            pass
    return Here(path, start, last)


class Here:
    """Words and writes the rows in this process."""

    def __init__(self, path, start, last):
        self._sink = Sink(path, start, last)
        self.write, self.close = self._sink.write, self._sink.close

    def failure(self):
        return None

    def forsake(self):
        pass


class Apart:
    """Hands the rows to the writer's process."""

    def __init__(self, path, start, last):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "writer.py")
        # Its own session: neither Ctrl-C nor the end of this process's group takes it along.
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-E", "-s", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, start_new_session=True, close_fds=True
        )
        self._report = None
        self._send([os.path.abspath(path), start, last])

    def write(self, chunk):
        self._send(chunk)

    def _send(self, chunk):
        content = marshal.dumps(chunk, 2)
        left = memoryview(struct.pack("<Q", len(content)) + content)
        while left:
            left = left[self._process.stdin.write(left) :]

    def close(self):
        self._process.stdin.close()
        failure = self.failure()
        if failure:
            raise OSError(0, failure)
        return self._report.get("counts", {})

    def failure(self):
        """Why the writer ended early, or None."""
        if self._report is None:
            text = self._process.stdout.read()
            self._process.wait()
            try:
                self._report = json.loads(text)
            except ValueError:
                self._report = {"failure": "the process that writes the trace ended"}
        return self._report.get("failure")

    def forsake(self):
        """In a forked child: let go of the pipe, and never wait for a process that is not this one's."""
        try:
            self._process.stdin.close()
            self._process.stdout.close()
        except OSError:
            pass
        self._process.returncode = 0
