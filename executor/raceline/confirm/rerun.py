"""The program, run several times in one process: each run finds the seeds, modules and settings that the first one found.

One process has every kernel loaded after the first run. The first use of a kernel waits for all streams, which would hide
what a later run looks for.
"""
import gc
import io
import os
import random
import sys
import threading

import torch

from raceline.confirm.plan import first_line
from raceline.program import execute

SEED = 20240229


class Stopped(BaseException):
    """Whoever runs it wants no further run."""


class Outcome:
    """How a run ended, what it printed, and the names of its `__main__`."""

    def __init__(self, code, status, message, printed, names):
        self.code, self.status, self.message, self.printed, self.names = code, status, message, printed, names


class Program:
    def __init__(self, prepare, device, places):
        self._prepare = prepare
        self._device = device
        self._places = places
        self._argv, self._path, self._folder = list(sys.argv), list(sys.path), os.getcwd()
        self._environment = dict(os.environ)
        self._modules = set(sys.modules)
        # What is there before the first run stays: only what a run leaves behind is looked through after it.
        gc.collect()
        gc.freeze()

    def run(self, modes, check=None):
        """One run under the dispatch modes that `modes` makes. `check`: asked about the run while its names are alive."""
        self._reset()
        code, names = self._prepare()
        printed = _Tee(sys.stdout)
        plain_exit, start_thread, stdout = os._exit, threading.Thread.start, sys.stdout

        def leave(status):
            raise SystemExit(status)

        def start(thread):
            body = thread.run
            if not getattr(thread, "_raceline", False):

                def run():
                    with modes():
                        body()

                thread.run = run
            start_thread(thread)

        os._exit, threading.Thread.start, sys.stdout = leave, start, printed
        try:
            with modes():
                exit_code, status, message = execute(code, names)
            if status == "stopped":
                raise Stopped
            main = sys.modules["__main__"].__dict__
            try:
                self._device.synchronize()
            except RuntimeError as error:
                exit_code, status, message = exit_code or 1, "error", message or first_line(error)
            outcome = Outcome(exit_code, status, message, printed.text(), None)
            if check is not None:
                outcome.names = main
                check(outcome)
                outcome.names = None
            main.clear()
            return outcome
        finally:
            os._exit, threading.Thread.start, sys.stdout = plain_exit, start_thread, stdout

    def _reset(self):
        sys.argv[:], sys.path[:] = self._argv, self._path
        os.chdir(self._folder)
        os.environ.clear()
        os.environ.update(self._environment)
        for name in set(sys.modules) - self._modules:
            file = getattr(sys.modules[name], "__file__", None)
            # What belongs to an environment stays: extension modules cannot be loaded twice.
            if file and self._places.is_own(file):
                del sys.modules[name]
        distributed = getattr(torch, "distributed", None)
        if distributed is not None and distributed.is_available() and distributed.is_initialized():
            distributed.destroy_process_group()
        torch.set_grad_enabled(True)
        torch.set_default_dtype(torch.float32)
        gc.collect()
        self._device.clean()
        random.seed(SEED)
        torch.manual_seed(SEED)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(SEED)


class _Tee(io.TextIOBase):
    """Standard output that also remembers what was printed."""

    LIMIT = 1 << 20

    def __init__(self, plain):
        self._plain = plain
        self._kept = []
        self._size = 0

    def write(self, text):
        if self._size < self.LIMIT:
            self._kept.append(text)
            self._size += len(text)
        return self._plain.write(text)

    def flush(self):
        self._plain.flush()

    def writable(self):
        return True

    def fileno(self):
        return self._plain.fileno()

    def text(self):
        return "".join(self._kept)
