"""Raceline's native executor: runs a PyTorch program unchanged and records what its CUDA streams were asked to do.

    python -m raceline [options] script.py args…

The trace it writes is described in docs/trace-format.md. Standard library only; PyTorch is imported from the program's
own environment.
"""

__version__ = "0.1.0"
