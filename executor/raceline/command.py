"""The command line: options, which way to run, what to say when it cannot, and what was written at the end."""
import argparse
import atexit
import contextlib
import os
import sys
import time

from raceline import __version__, recorder
from raceline.program import INTERRUPTED, CannotStart, execute, prepare_module, prepare_script

OLDEST_TORCH = (2, 1)


def main():
    options = _options(sys.argv[1:])
    try:
        code = _rerun(options) if options.confirm or options.bisect else _run(options)
    except CannotStart as error:
        recorder.say(f"raceline: {error}")
        code = 2
    with contextlib.suppress(AttributeError, OSError, ValueError):  # the program may have closed it
        sys.stdout.flush()
    if code == INTERRUPTED:
        # Its traceback is printed. Left to Python, the process ends by the signal, and a shell's loop with it.
        sys.excepthook = lambda *_: None
        raise KeyboardInterrupt
    # Not os._exit: threads of the program and its exit handlers still run, and are still recorded.
    sys.exit(code)


def _options(argv):
    parser = argparse.ArgumentParser(
        prog="raceline",
        description="Run a PyTorch program unchanged and record its CUDA streams, events and memory as a .raceline trace.",
        usage="python -m raceline [options] script.py [args …]\n       python -m raceline [options] -m module [args …]",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="the trace to write; .raceline.gz is packed (default: .raceline/NAME-TIME.raceline)")
    parser.add_argument("-m", "--module", action="store_true", help="run a module, as python -m does")
    parser.add_argument("--level", choices=("full", "timeline"), default="full", help="full: accesses to memory too; timeline: streams, events, kernels (cheaper)")
    parser.add_argument("--device", choices=("auto", "cuda", "meta"), default="auto", help="auto: the GPU if there is one, else the meta device with modelled times")
    parser.add_argument("--last", type=_seconds, metavar="SECONDS", help="keep only the last seconds of the run, and write them at its end")
    parser.add_argument("--on-demand", action="store_true", help="record only what the program runs inside `with raceline.record():`")
    parser.add_argument("--iterations", metavar="FIRST:LAST", help="record only these iterations, counted from 0: each ends with an optimizer's step, or with raceline.step()")
    parser.add_argument("--relative-to", metavar="DIR", help="write paths below DIR relative to it and leave the working directory out, for traces that are passed on")
    parser.add_argument("--serialize", choices=("blocks", "stream"), help="blocks: the device is synchronized at each change of the stream; stream: everything runs on one stream. Tells a fault of the logic from one of synchronization")
    parser.add_argument("--confirm", metavar="PLAN", help="make the hazards of a plan happen (raceline confirm makes the plan)")
    parser.add_argument("--bisect", metavar="PLAN", help="find where a synchronization makes the result right (raceline bisect makes the plan)")
    parser.add_argument("--report", metavar="FILE", help="where --confirm and --bisect write what they find")
    parser.add_argument("--version", action="version", version=f"raceline-executor {__version__}")
    parser.add_argument("program", help="script or, with -m, module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's own arguments")
    return parser.parse_args(argv)


def _seconds(text):
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text}: give a number of seconds, such as 10 or 0.5.")
    return seconds


def _run(options):
    if options.iterations:
        recorder.parse_iterations(options.iterations)
    if options.module:
        code, names = prepare_module(options.program, options.arguments)
    else:
        code, names = prepare_script(options.program, options.arguments)
    torch = _torch()
    device = _device(torch, options.device)
    output = recorder.with_rank(options.output or _default_output(options))
    _check_output(output)
    relative = os.path.abspath(options.relative_to) if options.relative_to else None
    argv = [options.program, *options.arguments]
    if relative and not options.module:
        argv[0] = os.path.relpath(os.path.abspath(options.program), relative).replace(os.sep, "/")
    settings = recorder.Settings(output, options.level, device, relative, options.last, argv)
    if options.on_demand or options.iterations:
        return _run_parts(options, settings, code, names)
    ours = recorder.Recorder(settings, torch)
    outcome = {"status": "ok", "message": None}

    def finish():
        recorder.say(recorder.summary(ours.stop(outcome["status"], outcome["message"])))

    plain_exit = os._exit

    def leave(status):
        ours.leave(f"os._exit({status})")
        plain_exit(status)

    os._exit = leave
    # Registered before the program runs, so it runs after the program's own exit handlers.
    atexit.register(finish)
    ours.start()
    if options.serialize:
        from raceline.serialize import serialize

        # After the session's own patches, so that what is synchronized here is recorded.
        serialize(torch, options.serialize)
    code_, outcome["status"], outcome["message"] = execute(code, names)
    return code_


def _run_parts(options, settings, code, names):
    """Run the program and record what it asks for, or the iterations that were asked for."""
    if settings.device != "cuda":
        raise CannotStart("--on-demand and --iterations need a GPU: on the meta device the program is recorded from its start.")
    recorder.settings = settings
    if options.iterations:
        recorder.schedule = recorder.parse_iterations(options.iterations)
        recorder.schedule.install()
    code_, status, message = execute(code, names)
    if recorder.schedule is not None:
        recorder.schedule.finish(status, message)
    if not settings.parts:
        os.remove(settings.output)  # it was made to see that it can be
    if not settings.parts and not settings.named:
        recorder.say("raceline: nothing was recorded: " + ("the program ended before those iterations." if options.iterations else "the program entered no raceline.record()."))
    return code_


def _rerun(options):
    """The ways that run the program many times, in this process and on the GPU."""
    torch = _torch()
    if not torch.cuda.is_available():
        raise CannotStart("Races happen on a GPU only, and PyTorch sees none here. The recording made on the meta device still shows the hazards.")
    if not options.report:
        raise CannotStart("Name the report to write with --report FILE.")

    def prepare():
        return (prepare_module if options.module else prepare_script)(options.program, options.arguments)

    if options.confirm:
        from raceline.confirm.confirm import confirm as search
    else:
        from raceline.confirm.bisect import bisect as search
    from raceline.confirm.rerun import Stopped

    try:
        return search(prepare, options.confirm or options.bisect, options.report)
    except (Stopped, KeyboardInterrupt):
        return INTERRUPTED


def _torch():
    try:
        import torch
    except ImportError as error:
        raise CannotStart(
            f"PyTorch cannot be imported by {sys.executable} ({error}). Choose an interpreter that has PyTorch 2.1 or newer; a machine "
            "without a GPU needs only its CPU build. Without PyTorch, `raceline preview FILE.py` (in VS Code: Preview Timeline of Function) "
            "still shows the built-in model of the program."
        ) from None
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if version < OLDEST_TORCH:
        raise CannotStart(f"PyTorch {torch.__version__} is too old: it lacks the hooks that a recording needs. Install PyTorch 2.1 or newer.")
    return torch


def _device(torch, wanted):
    present = torch.cuda.is_available()
    if wanted == "cuda" and not present:
        reason = "this PyTorch is a CPU build" if not torch.backends.cuda.is_built() else "PyTorch sees no GPU here (check nvidia-smi and CUDA_VISIBLE_DEVICES)"
        raise CannotStart(f"--device cuda: {reason}. Use --device meta to run on the meta device with modelled times; races happen on a GPU only.")
    if wanted == "auto" and not present:
        recorder.say("raceline: no GPU here: the program runs on the meta device. Order and lifetimes are real, times are modelled, values are zeros.")
    return "cuda" if present and wanted != "meta" else "meta"


def _default_output(options):
    name = options.program.rsplit(".", 1)[-1] if options.module else os.path.splitext(os.path.basename(os.path.abspath(options.program)))[0]
    return os.path.join(".raceline", f"{name}-{time.strftime('%Y%m%d-%H%M%S')}.raceline")


def _check_output(path):
    """Before CUDA starts, which takes seconds."""
    try:
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        open(path, "wb").close()
    except OSError as error:
        raise CannotStart(f"The trace {path} cannot be written ({error.strerror}). Name a writable place with -o FILE.") from None
