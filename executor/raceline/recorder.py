"""A recording from its file to its end: what the command line, `raceline.record()` and the schedule of iterations share.

Under the command line one recording runs from the program's start, or, with `--on-demand` and `--iterations`, parts of the program
make one each, in files of their own: what happened between two parts is not known, so they are not one trace.
"""
import contextlib
import os
import sys
import time

from raceline import __version__
from raceline.program import CannotStart
from raceline.sites import Sites
from raceline.trace_file import TraceFile

# What the command line wants of recordings that the program starts; the one that runs.
settings = None
running = None


class Settings:
    def __init__(self, output, level="full", device="cuda", relative=None, last=None, argv=None):
        self.output, self.level, self.device, self.relative, self.last = output, level, device, relative, last
        self.argv = sys.argv if argv is None else argv
        # How many recordings went to the files of the command line, and to files that the program named.
        self.parts = self.named = 0

    def next_output(self):
        """The file of the next part: NAME.raceline, then NAME-2.raceline."""
        self.parts += 1
        if self.parts == 1:
            return self.output
        return _marked(self.output, f"-{self.parts}")


class Recorder:
    def __init__(self, settings, torch, output=None, level=None, late=False):
        """`late`: the program has been running, and goes on afterwards."""
        self._late = late
        device, level = settings.device, level or settings.level
        if device == "cuda":
            from raceline.cuda.session import Session, Sources

            sources = (Sources(level),)
        else:
            from raceline.meta.session import Session

            sources = ()
        start = time.time_ns()
        header = {
            "raceline": 1, "producer": f"raceline-executor {__version__}", "mode": device, "torch": torch.__version__,
            "device": torch.cuda.get_device_name() if device == "cuda" else "meta device", "unix": str(start),
            "argv": list(settings.argv), "cwd": os.getcwd(), "level": level,
        }
        if settings.relative:
            del header["cwd"]
        rank = rank_of()
        if rank is not None:
            header["rank"] = rank
        self.file = TraceFile(output or settings.next_output(), header, start if device == "cuda" else 0, last=settings.last)
        sites = Sites(self.file, os.path.dirname(os.path.abspath(torch.__file__)), settings.relative)
        self._session = Session(self.file, sites, start, level, *sources)

    def start(self):
        global running
        running = self
        if self._late:
            self._session.start(late=True)
        else:
            self._session.start()
        return self

    def stop(self, status="ok", message=None):
        """End it; the program may go on."""
        global running
        running = None
        try:
            self._session.finish()
        except Exception as error:  # the program's own result must not depend on the recorder
            self.file.limit(f"The recording could not be completed: {type(error).__name__}: {error}.")
        self.file.close(self._session.end_time(), status, message)
        if self._late:
            self._session.put_back()
        return self.file

    def leave(self, message):
        """The process ends without exit handlers: what is buffered is still worth writing."""
        self.file.close(self._session.end_time(), "stopped", message)


def rank_of():
    """This process's rank, where a launcher started several; None: it is alone."""
    rank, size = os.environ.get("RANK"), os.environ.get("WORLD_SIZE", "1")
    return int(rank) if rank and rank.isdigit() and size.isdigit() and int(size) > 1 else None


def with_rank(path):
    """Ranks write a file each: NAME.rank0.raceline."""
    rank = rank_of()
    return path if rank is None else _marked(path, f".rank{rank}")


def _marked(path, mark):
    """A trace's path with a mark before its ending. Its folder may be called .raceline too."""
    folder, name = os.path.split(path)
    stem, dot, ending = name.partition(".raceline")
    return os.path.join(folder, f"{stem}{mark}{dot}{ending}")


class record:
    """Record what runs inside, into a file of its own. On a GPU only: without one the program runs as it is.

        with raceline.record("step.raceline"):
            train_step(batch)

    Under `python -m raceline` everything is recorded already and this changes nothing, but with `--on-demand` nothing else is.
    """

    def __init__(self, output=None, level=None):
        self._output, self._level = output, level
        self._recorder = None

    def __enter__(self):
        if running is not None:
            return self
        import torch

        if not torch.cuda.is_available():
            say("raceline: no GPU here: raceline.record() records nothing. `python -m raceline` runs the whole program on the meta device.")
            return self
        ours = settings or Settings(with_rank(self._output or "recording.raceline"))
        output = None
        if self._output:
            output = with_rank(self._output)
            os.makedirs(os.path.dirname(os.path.abspath(output)), exist_ok=True)
            ours.named += 1
        self._recorder = Recorder(ours, torch, output, self._level, late=True).start()
        return self

    def __exit__(self, kind, error, trace):
        self.stop(*(("ok", None) if error is None else ("error", f"{kind.__name__}: {error}")))
        return False

    def stop(self, status, message):
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            say(summary(recorder.stop(status, message)))


class Iterations:
    """Record iterations first to last (the last one left out). An iteration ends with an optimizer's step, or, in programs that call
    it, with `raceline.step()`."""

    def __init__(self, first, last):
        self._first, self._last = first, last
        self._number = 0
        self._counts_steps = True
        self._recorder = None

    def install(self):
        from torch.optim.optimizer import register_optimizer_step_post_hook

        register_optimizer_step_post_hook(lambda optimizer, args, kwargs: self._end() if self._counts_steps else None)
        self._begin()

    def step(self):
        if self._counts_steps and self._number and self._recorder is None:
            self._number = 0
        self._counts_steps = False
        self._end()

    def _begin(self):
        if self._number == self._first and self._recorder is None:
            self._recorder = record()
            self._recorder.__enter__()

    def _end(self):
        self._number += 1
        if self._number == self._last:
            self.finish("ok", None)
        self._begin()

    def finish(self, status, message):
        """The schedule is over, or the program ends inside it."""
        if self._recorder is not None:
            self._recorder.stop(status, message)
            self._recorder = None


schedule = None


def step():
    """An iteration of the program ends here (see `--iterations`)."""
    if schedule is not None:
        schedule.step()


def parse_iterations(text):
    first, colon, last = text.partition(":")
    if not colon or not first.isdigit() or not last.isdigit() or int(first) >= int(last):
        raise CannotStart(f"--iterations {text}: give two numbers as FIRST:LAST, counted from 0, such as 10:12 for the eleventh and the twelfth.")
    return Iterations(int(first), int(last))


def say(sentence):
    """On standard error, if the program has left it open: `print` takes standard output where there is none."""
    if sys.stderr is not None and not sys.stderr.closed:
        with contextlib.suppress(OSError):
            print(sentence, file=sys.stderr)


def summary(file):
    """What was written, in a sentence."""
    if file.failure:
        why = getattr(file.failure, "strerror", None) or file.failure
        return f"raceline: {file.path} holds the beginning of the run only, since writing stopped: {why}. Where there is no room, name another place with -o FILE."
    counts = file.counts
    parts = [f"{counts.get(kind, 0)} {word}" for kind, word in (("op", "operators"), ("wait", "waits"), ("record", "records"), ("alloc", "allocations")) if counts.get(kind)]
    if counts.get("gpu"):
        parts.insert(1 if counts.get("op") else 0, f"{counts['gpu']} kernels and copies")
    line = f"raceline: wrote {file.path}: {', '.join(parts) or 'nothing ran on a device'}."
    if file.limits:
        line += " Limits: " + " ".join(file.limits)
    return line
