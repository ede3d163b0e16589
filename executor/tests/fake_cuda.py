"""Enough of CUDA, on the CPU, to drive the recorder's GPU side: every CPU tensor claims to be on cuda:0.

A dispatch mode below the recorder's plays the caching allocator: it calls the allocation and release callbacks as PyTorch
does, for the storages that really are made and dropped.
"""
import contextlib
import os
import sys
import time
import types

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from raceline.storage_ends import StorageEnds

APART = False


class Allocator(TorchDispatchMode):
    @classmethod
    def _should_skip_dynamo(cls):
        return False

    def __init__(self, session):
        super().__init__()
        self.callbacks = session.callbacks
        self.local = session.local
        self.seen = set()
        self.ends = StorageEnds()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.poll()
        out = func(*args, **(kwargs or {}))
        for tensor in out if isinstance(out, (tuple, list)) else (out,):
            if isinstance(tensor, torch.Tensor) and tensor.numel():
                storage = tensor.untyped_storage()
                if storage._cdata not in self.seen:
                    self.seen.add(storage._cdata)
                    self.callbacks.allocation(storage.data_ptr())
                    self.ends.when_gone(storage, self.gone, storage._cdata, storage.data_ptr())
        return out

    def poll(self):
        """Storages that have to be asked went before the operator that asks them, and are no part of it."""
        thread = self.local.thread
        pending, thread.pending = thread.pending, None
        self.ends.poll()
        thread.pending = pending

    def gone(self, key, address):
        self.seen.discard(key)
        self.callbacks.deallocation(address)


class State:
    stream = 0
    allocated = 0


@contextlib.contextmanager
def recording(path):
    """Yields (session, state): inside, operators on CPU tensors are recorded as CUDA operators on `state.stream`."""
    from raceline.sites import Sites
    from raceline.trace_file import TraceFile

    state = State()
    stubs = {
        "_cuda_getCurrentRawStream": lambda device: state.stream, "_cuda_getDevice": lambda: 0,
        "_cuda_memoryStats": lambda device: {"allocated_bytes": {"all": {"allocated": state.allocated}}},
    }
    saved = {name: getattr(torch._C, name, None) for name in stubs}
    is_cuda, get_device = torch.Tensor.is_cuda, torch.Tensor.get_device
    for name, value in stubs.items():
        setattr(torch._C, name, value)
    torch.Tensor.is_cuda = property(lambda tensor: True)
    torch.Tensor.get_device = lambda tensor: 0
    try:
        from raceline.cuda.session import Session
        from raceline.cuda.watch import Watch

        start = time.time_ns()
        file = TraceFile(path, {"raceline": 1, "producer": "test", "mode": "cuda", "unix": "0", "level": "full"}, start, apart=APART)
        sites = Sites(file, os.path.dirname(torch.__file__))
        session = Session(file, sites, start, "full", types.SimpleNamespace(profile=None))
        session.recording.thread()
        session.recording.stream(0, 0)
        with Allocator(session) as allocator, Watch(session):
            yield session, state
            allocator.poll()
        file.close(0, "ok")
    finally:
        torch.Tensor.is_cuda, torch.Tensor.get_device = is_cuda, get_device
        for name, value in saved.items():
            if value is None:
                delattr(torch._C, name)
            else:
                setattr(torch._C, name, value)
