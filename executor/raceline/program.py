"""Run a script or module as Python itself would: `__main__`, `sys.argv`, `sys.path[0]`, exit codes and tracebacks."""
import importlib.machinery
import os
import sys
import traceback
import types

HERE = os.path.dirname(os.path.abspath(__file__))
# What `execute` gives for a program that Ctrl-C ended.
INTERRUPTED = 130


class CannotStart(Exception):
    """The program cannot be started; the message says why and what to do."""


def prepare_script(path, arguments):
    """Read and compile a script; returns what `execute` needs."""
    if os.path.isdir(path):
        path = os.path.join(path, "__main__.py")
    try:
        with open(path, "rb") as source:
            text = source.read()
    except OSError as error:
        raise CannotStart(f"{path} cannot be read ({error.strerror}). Give the path of a Python script.") from None
    sys.argv = [path, *arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    full = os.path.abspath(path)
    try:
        code = compile(text, full, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        traceback.print_exception(type(error), error, None)
        raise SystemExit(1) from None
    loader = importlib.machinery.SourceFileLoader("__main__", full)
    return code, {"__file__": full, "__package__": None, "__spec__": None, "__loader__": loader, "__cached__": None}


def prepare_module(name, arguments):
    """Find a module as `python -m` does."""
    import runpy

    sys.argv = ["-m", *arguments]
    sys.path[0] = os.getcwd()
    try:
        _, spec, code = runpy._get_module_details(name)
    except ImportError as error:
        raise CannotStart(f"The module {name} cannot be run: {error}. It is looked for as `python -m {name}` would, from {os.getcwd()}.") from None
    sys.argv[0] = code.co_filename
    return code, {"__file__": code.co_filename, "__package__": spec.parent, "__spec__": spec, "__loader__": spec.loader, "__cached__": spec.cached}


def execute(code, names):
    """Run to the end. Returns (exit code, status, message) as the trace and the shell need them."""
    module = types.ModuleType("__main__")
    module.__dict__.update(names, __builtins__=__builtins__)
    if sys.version_info < (3, 14):
        module.__annotations__ = {}
    sys.modules["__main__"] = module
    try:
        exec(code, module.__dict__)
    except SystemExit as stop:
        return _exit_code(stop.code), ("ok" if stop.code in (None, 0) else "error"), (None if stop.code in (None, 0) else f"SystemExit: {stop.code}")
    except KeyboardInterrupt as error:
        _report(error)
        return INTERRUPTED, "stopped", None
    except BaseException as error:
        _report(error)
        return 1, "error", f"{type(error).__name__}: {error}"
    return 0, "ok", None


def _exit_code(code):
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    if sys.stderr is not None:
        print(code, file=sys.stderr)
    return 1


def _report(error):
    """The traceback as Python prints it: the program's frames alone."""
    trace = without_own_frames(error)
    try:
        sys.excepthook(type(error), error, trace)
    except BaseException:
        traceback.print_exception(type(error), error, trace)
    error.__traceback__ = None


def without_own_frames(error):
    """Takes the recorder's frames out of an exception's tracebacks, and of those behind it; returns its own."""
    waiting, seen = [error], set()
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        entries = []
        trace = one.__traceback__
        while trace is not None:
            if not trace.tb_frame.f_code.co_filename.startswith(HERE):
                entries.append(trace)
            trace = trace.tb_next
        for entry, following in zip(entries, [*entries[1:], None]):
            entry.tb_next = following
        one.__traceback__ = entries[0] if entries else None
        waiting += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]
    return error.__traceback__
