"""Streams that can be held, on the CPU: what is enqueued on one that is held is done when it is let go.

Every CPU tensor counts as the device's, but those of float64: they stand for pinned host memory. An operator on a held
stream runs at once on what memory holds, so that it has a result of the right shape, and again when its stream is let go;
what it wrote too early is put back until then.
"""
import contextlib
import sys
import types

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from raceline.operators import Plan


class Streams:
    exact = True
    patience = 0

    def __init__(self):
        self._current = "default"
        self._held = {}
        self._slots = 0

    # What a program does, as `import streams`.

    def module(self):
        module = types.ModuleType("streams")
        module.on, module.wait, module.synchronize = self.on, self.wait, self.synchronize
        return module

    @contextlib.contextmanager
    def on(self, name):
        outer, self._current = self._current, name
        try:
            yield
        finally:
            self._current = outer

    def wait(self, waiting, awaited):
        queue = self._held.get(awaited)
        if queue is not None and waiting not in self._held:
            self._held[waiting] = self._held[awaited] = queue  # what both get from here on comes after the gate

    # What a rerun needs of a device.

    def is_here(self, tensor):
        return tensor.dtype != torch.float64

    def is_name(self, device):
        return False

    def current(self):
        return self._current

    def capturing(self):
        return False

    def synchronize(self):
        for slot in {queue[0] for queue in self._held.values()}:
            self.let_go(slot)

    def hold(self):
        self._slots += 1
        self._held.setdefault(self._current, [self._slots])
        return self._held[self._current][0]

    def let_go(self, slot):
        queues = [queue for queue in self._held.values() if queue[0] == slot]
        self._held = {stream: queue for stream, queue in self._held.items() if queue[0] != slot}
        for _, *work in queues[:1]:
            for task in work:
                task()

    def is_side(self, stream):
        return stream != "default"

    def delay(self):
        self.hold()

    def holds(self, slot):
        return any(queue[0] == slot for queue in self._held.values())

    def mark(self):
        return self._held.get(self._current)

    def reached(self, mark):
        return mark is None or all(queue is not mark for queue in self._held.values())

    def finish_current(self):
        queue = self._held.get(self._current)
        if queue is not None:
            self.let_go(queue[0])

    def fresh(self, size):
        return torch.empty(size, dtype=torch.uint8)

    def arena(self, size):
        return torch.empty(size, dtype=torch.uint8)

    def clean(self):
        self.synchronize()
        self._current = "default"

    def later(self, task):
        """Whether the current stream is held; then the task is its next."""
        queue = self._held.get(self._current)
        if queue is not None:
            queue.append(task)
        return queue is not None


class Later(TorchDispatchMode):
    """Below the rerun's own mode."""

    def __init__(self, streams):
        super().__init__()
        self._streams = streams

    @classmethod
    def _should_skip_dynamo(cls):
        return False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        plan = Plan(func)
        tensors = [t for t, _ in plan.arguments(args, kwargs) if isinstance(t, torch.Tensor)]
        if tensors and not any(self._streams.is_here(t) for t in tensors):
            return func(*args, **kwargs)  # the host's own work
        if plan.kind == "read_back":
            self._streams.finish_current()
        if plan.quiet or plan.kind in ("empty", "read_back") or self._streams.mark() is None:
            return func(*args, **kwargs)
        written = [t for t, mode in plan.arguments(args, kwargs) if mode != "r"]
        before = [t.clone() for t in written]
        out = func(*args, **kwargs)
        for tensor, old in zip(written, before):
            tensor.copy_(old)

        def again():
            got = func(*args, **kwargs)
            if not written and isinstance(out, torch.Tensor):
                out.copy_(got)

        self._streams.later(again)
        return out


@contextlib.contextmanager
def installed(streams):
    sys.modules["streams"] = streams.module()
    try:
        with Later(streams):
            yield
    finally:
        del sys.modules["streams"]
