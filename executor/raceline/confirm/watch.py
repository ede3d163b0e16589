"""The calls of a rerun: a dispatch mode that names each operator as the recorder does and tells a control before and after it.

A call is known by operator, line and count, which is how a plan made from a recording names it.
"""
import contextlib
import ctypes
import functools
import os
import sys
from collections import Counter

import torch

from raceline.confirm.plan import normal
from raceline.cuda.triton_launches import kernel_name, patch_launch
from raceline.dispatch import PLAIN, DispatchMode, is_traced, plan_of
from raceline.patches import Patches
from raceline.sites import Sites

Tensor = torch.Tensor


class Places:
    """Where in the program a call stands. A backward's operators stand at the call of `backward`, as in a recording."""

    def __init__(self):
        self._sites = Sites(None, os.path.dirname(os.path.abspath(torch.__file__)))
        self._normal = {}
        self.backward = None

    def here(self, depth=2):
        try:
            place = self._sites.place(sys._getframe(depth))
        except ValueError:  # autograd's threads have no frames of Python
            place = None
        if place is None:
            return self.backward
        file = self._normal.get(place[0])
        if file is None:
            file = self._normal[place[0]] = normal(place[0])
        return file, place[1]

    def is_own(self, file):
        return self._sites._is_user(file) and "site-packages" not in file and "dist-packages" not in file

    def watch_backward(self, patches):
        """Patches the entries of the autograd engine."""

        def wrap(plain):
            def call(*args, **kwargs):
                before, self.backward = self.backward, self.here()
                try:
                    return plain(*args, **kwargs)
                finally:
                    self.backward = before

            return call

        for name in ("backward", "grad"):
            patches.put(torch.autograd, name, wrap(getattr(torch.autograd, name)))


class Call:
    """One call of an operator. `occurrence` counts those of its name at its line, from 0."""

    __slots__ = ("plan", "name", "place", "occurrence", "args", "kwargs", "on_device", "out")

    def __init__(self, plan, name, place, occurrence, args, kwargs, on_device):
        self.plan, self.name, self.place, self.occurrence = plan, name, place, occurrence
        self.args, self.kwargs, self.on_device = args, kwargs, on_device
        self.out = None

    def read(self):
        return [t for t, _ in self._arguments() if isinstance(t, Tensor)]

    def written(self):
        """The tensors that the call writes: arguments and results."""
        out = self.out if type(self.out) in (tuple, list) else (self.out,)
        results = [t for t in _flat(out) if isinstance(t, Tensor)]
        given = [t for t, mode in self._arguments() if mode != "r" and isinstance(t, Tensor)]
        return given + [t for t in results if not any(t is g for g in given)]

    def overwritten(self):
        """Arguments of which the call keeps nothing."""
        return [t for t, mode in self._arguments() if mode == "w" and isinstance(t, Tensor)]

    def _arguments(self):
        return list(self.plan.arguments(self.args, self.kwargs)) if self.plan is not None else []


class Control:
    """What a rerun does at each call; nothing, here."""

    def before(self, call):
        pass

    def after(self, call):
        pass

    def finish(self):
        pass


class Watch(DispatchMode):
    def __init__(self, places, device, control, counts, plans):
        super().__init__()
        self._places, self._device, self._control = places, device, control
        self._counts, self._plans = counts, plans

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if types and not PLAIN.issuperset(types):
            return func(*args, **kwargs) if is_traced(types) else NotImplemented
        plan = self._plans.get(func)
        if plan is None:
            plan = self._plans[func] = plan_of(func)
        if plan.kind == "composite":
            with self:
                return func.decompose(*args, **kwargs)
        if plan.quiet:
            return func(*args, **kwargs)
        return perform(self._places.here(), plan, plan.name, func, args, kwargs, self._device, self._control, self._counts)


class LaunchPlan:
    """What is known of a launch before it: each tensor that it is given may be read and written."""

    base, kind, writes = "", "op", True

    def arguments(self, args, kwargs):
        return [(t, "rw") for t in (*args, *kwargs.values()) if isinstance(t, Tensor)]


LAUNCH = LaunchPlan()
# What the host does to memory of its own.
HOST_CALLS = ("Tensor.tolist", "torch.save")
# Bytes of a record that are compared.
MOST_SAVED = 4 << 20


def perform(place, plan, name, func, args, kwargs, device, control, counts):
    on_device = plan is None and name not in HOST_CALLS or device.is_name(kwargs.get("device")) or any(device.is_here(t) for t in _flat((args, kwargs.values())) if isinstance(t, Tensor))
    key = (name, place, on_device)
    call = Call(plan, name, place, counts[key], args, kwargs, on_device)
    counts[key] += 1
    with torch.no_grad():
        control.before(call)
    call.out = func(*args, **kwargs)
    with torch.no_grad():
        control.after(call)
    return call.out


class Watching:
    """Makes the modes of each run, and watches the calls that are no operators: graph replays, spins, lists of a tensor's values."""

    def __init__(self, device):
        self.places = Places()
        self._patches = Patches()
        self.places.watch_backward(self._patches)
        self._device = device
        self._plans = {}
        self._control = Control()
        self._counts = Counter()
        self._watch_calls()

    def begin(self, control):
        self._control = control
        self._counts = Counter()

    def modes(self):
        return Watch(self.places, self._device, self._control, self._counts, self._plans)

    def remove(self):
        self._patches.back()

    def _watch_calls(self):
        def watch(owner, name, label):
            plain = getattr(owner, name, None)
            if plain is None:
                return

            def call(*args, **kwargs):
                with torch._C._DisableTorchDispatch() if label == "Tensor.tolist" else contextlib.nullcontext():
                    return perform(self.places.here(), None, label, plain, args, kwargs, self._device, self._control, self._counts)

            self._patches.put(owner, name, call)

        watch(torch.cuda.CUDAGraph if hasattr(torch.cuda, "CUDAGraph") else None, "replay", "replay")
        watch(torch.cuda, "_sleep", "torch.cuda._sleep")
        watch(torch.Tensor, "tolist", "Tensor.tolist")
        self._watch_launches()
        self._watch_saving()

    def _watch_launches(self):
        def wrap(plain):
            def run(function, *args, **kwargs):
                if kwargs.get("warmup"):
                    return plain(function, *args, **kwargs)
                try:
                    # Each run makes its kernels anew. Loading one waits for all streams, which would let go the one that is held.
                    plain(function, *args, **{**kwargs, "warmup": True})._init_handles()
                except Exception:
                    pass
                launch = functools.partial(plain, function)
                return perform(self.places.here(), LAUNCH, kernel_name(function), launch, args, kwargs, self._device, self._control, self._counts)

            return run

        patch_launch(self._patches, wrap)

    def _watch_saving(self):
        """torch.save reads storages in C++, one record after the other."""
        writer = getattr(torch._C, "PyTorchFileWriter", None)
        if writer is None:
            return
        plain = writer.write_record

        def write(archive, name, content, size):
            with torch._C._DisableTorchDispatch():
                memory = _host_memory(content, size)
            if memory is None:
                return plain(archive, name, content, size)

            def save():
                plain(archive, name, content, size)
                with torch._C._DisableTorchDispatch():
                    return memory[:MOST_SAVED].clone()

            perform(self.places.here(), None, "torch.save", save, (), {}, self._device, self._control, self._counts)

        self._patches.put(writer, "write_record", write)


def _host_memory(content, size):
    """The bytes of a record that is a storage; None: it is something else."""
    if isinstance(content, int) and content and size:  # its address, before PyTorch 2.3
        return torch.frombuffer((ctypes.c_char * size).from_address(content), dtype=torch.uint8)
    if isinstance(content, torch.UntypedStorage) and content.device.type == "cpu":
        return torch.empty(0, dtype=torch.uint8).set_(content)
    return None


def _flat(values):
    for value in values:
        if type(value) in (tuple, list) or isinstance(value, type({}.values())):
            yield from _flat(value)
        else:
            yield value
