"""Raceline's native executor: runs a PyTorch program unchanged and records what its CUDA streams were asked to do.

    python -m raceline [options] script.py args…

A program that wants a part of itself recorded says so with `raceline.record()`. The trace that it writes is described in
docs/trace-format.md. Standard library only; PyTorch is imported from the program's own environment.
"""

__version__ = "0.1.0"


def __getattr__(name):
    # Imported when asked for: the writer's process needs nothing of it.
    if name in ("record", "step"):
        from raceline import recorder

        return getattr(recorder, name)
    raise AttributeError(f"module 'raceline' has no attribute {name!r}")
