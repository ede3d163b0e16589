"""torch.cuda on the CPU, with values, and with streams that can be held: programs run as they stand.

Each stream is a queue. While it is empty its work is done at once; behind a gate that is closed, or a wait for an event that is
not reached, it is put off. An operator that is put off runs at once on what memory holds, so that it has a result of the right
shape, and again when its turn comes; what it wrote too early is put back. A host that waits for a stream that is held opens
all gates, as their time limit does on a device. Memory is not handed out again, backwards run on the stream of their caller.
"""
import contextlib

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from raceline.operators import Plan
from raceline.sites import Sites
from raceline.storage_ends import StorageEnds

CUDA, CPU = torch.device("cuda", 0), torch.device("cpu")
FACTORIES = {"empty", "zeros", "ones", "full", "rand", "randn", "randint", "tensor", "arange", "linspace", "empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like", "eye"}
READS = {"item", "tolist", "numpy", "__bool__", "__float__", "__int__", "__index__", "__repr__", "__format__"}


class Point:
    """A point of a stream that an event marks."""

    def __init__(self):
        self.reached = False


class Held:
    exact, patience = True, 0

    def __init__(self):
        self.device_storages = set()
        self.ends = StorageEnds()
        self.making = False
        self.queues = {}
        self.current_stream = None
        self.open_slots = set()
        self.slots = 0
        self._plain = {name: getattr(torch.Tensor, name) for name in ("is_cuda", "device")}

    # Queues

    def queue(self, handle=None):
        return self.queues.setdefault(self.current() if handle is None else handle, [])

    def put(self, handle, task):
        """Do it now, or when the stream comes to it."""
        queue = self.queue(handle)
        if queue:
            queue.append(("task", task))
        else:
            task()

    def mark_on(self, handle):
        point = Point()

        def reach():
            point.reached = True

        self.put(handle, reach)
        return point

    def wait(self, handle, point):
        if point is not None and not point.reached:
            self.queue(handle).append(("wait", point))

    def pump(self):
        # What is done now was called before: no mode looks at it again.
        with _disable_current_modes(), torch._C.DisableTorchFunction():
            self._pump()

    def _pump(self):
        moved = True
        while moved:
            moved = False
            for queue in list(self.queues.values()):
                while queue:
                    kind, what = queue[0]
                    if kind == "gate" and what not in self.open_slots or kind == "wait" and not what.reached:
                        break
                    queue.pop(0)
                    moved = True
                    if kind == "task":
                        what()

    def host_waits(self, handle=None):
        """For one stream, or all of them."""
        if self.queues.get(handle) if handle is not None else any(self.queues.values()):
            self.open_slots.update(range(1, self.slots + 1))
            self.pump()

    # What a rerun needs of a device

    def is_here(self, tensor):
        return tensor.untyped_storage()._cdata in self.device_storages

    def is_name(self, device):
        return self.making

    def is_side(self, stream):
        return stream != 0

    def current(self):
        return 0 if self.current_stream is None else self.current_stream.cuda_stream

    def capturing(self):
        return False

    def synchronize(self):
        self.host_waits()

    def hold(self):
        self.slots += 1
        self.queue().append(("gate", self.slots))
        return self.slots

    def delay(self):
        self.hold()

    def let_go(self, slot):
        self.open_slots.add(slot)
        self.pump()

    def holds(self, slot):
        return slot not in self.open_slots

    def mark(self):
        return self.mark_on(self.current())

    def reached(self, mark):
        return mark.reached

    def finish_current(self):
        self.host_waits(self.current())

    def fresh(self, size):
        return torch.empty(size, dtype=torch.uint8)

    def arena(self, size):
        return torch.empty(size, dtype=torch.uint8)

    def clean(self):
        self.synchronize()
        self.current_stream = None

    def keep(self, tensor):
        self.ends.poll()
        storage = tensor.untyped_storage()
        if storage._cdata not in self.device_storages:
            self.device_storages.add(storage._cdata)
            self.ends.when_gone(storage, self.device_storages.discard, storage._cdata)


class Later(TorchDispatchMode):
    """The device's side of operators, below the rerun's own mode."""

    def __init__(self, held):
        super().__init__()
        self._held = held

    @classmethod
    def _should_skip_dynamo(cls):
        return False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        held, plan = self._held, Plan(func)
        arguments = [(t, mode) for t, mode in plan.arguments(args, kwargs) if isinstance(t, torch.Tensor)]
        if not held.making and not any(held.is_here(t) for t, _ in arguments):
            return func(*args, **kwargs)
        if plan.kind == "read_back":
            held.finish_current()
        written = [t for t, mode in arguments if mode != "r"]
        if plan.quiet or plan.kind in ("empty", "read_back") or not held.queue():
            return self._kept(plan, func(*args, **kwargs), written)
        before = [t.clone() for t in written]
        out = func(*args, **kwargs)
        # What reads nothing has its values now, random ones too: they only come later.
        known = None if any(mode != "w" for _, mode in arguments) else [t.clone() for t in _tensors(out)]
        for tensor, old in zip(written, before):
            tensor.copy_(old)

        for tensor in _tensors(out):
            if tensor.is_floating_point() and not any(tensor is t for t in written):
                tensor.fill_(float("nan"))  # what fresh memory holds

        def again():
            got = _tensors(func(*args, **kwargs)) if known is None else known
            for mine, new in zip(_tensors(out), got):
                if known is not None or not any(mine is t for t in written):
                    mine.copy_(new)

        held.put(None, again)
        return self._kept(plan, out, written)

    def _kept(self, plan, out, written):
        """Results are the device's, but for copies to the host."""
        if plan.kind != "read_back" and self._held.making is not None:
            for tensor in _tensors(out):
                if not any(tensor is t for t in written):
                    self._held.keep(tensor)
        return out


class Redirect(TorchFunctionMode):
    """`cuda` in arguments, and what tensors say of their device."""

    def __init__(self, held):
        super().__init__()
        self._held = held

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs, held, name = dict(kwargs or {}), self._held, getattr(func, "__name__", "")
        tensor = args[0] if args and isinstance(args[0], torch.Tensor) else None
        if name == "__get__":
            prop = getattr(getattr(func, "__self__", None), "__name__", "")
            if prop in ("device", "is_cuda") and tensor is not None:
                here = held.is_here(tensor)
                return here if prop == "is_cuda" else CUDA if here else CPU
            return func(*args, **kwargs)
        if name in ("to", "cuda", "cpu") and tensor is not None:
            return self._move(name, tensor, args[1:], kwargs)
        if name == "pin_memory":
            return tensor.clone()
        if name == "is_pinned":
            return not held.is_here(tensor)
        if name in READS and tensor is not None and held.is_here(tensor):
            held.finish_current()
        if name == "copy_" and not kwargs.get("non_blocking") and True not in args[2:]:
            source = args[1]
            if isinstance(source, torch.Tensor) and held.is_here(source) != held.is_here(tensor):
                held.finish_current()
        device = kwargs.get("device")
        kwargs.pop("pin_memory", None)
        if device is not None:
            kwargs["device"] = CPU
        like = tensor is not None and name.endswith("_like") and held.is_here(tensor) and device is None
        if name in FACTORIES and (_is_cuda(device) or like):
            return self._making(func, args, kwargs)
        return func(*args, **kwargs)

    def _making(self, func, args, kwargs):
        held = self._held
        outer, held.making = held.making, True
        try:
            return func(*args, **kwargs)
        finally:
            held.making = outer

    def _move(self, name, tensor, args, kwargs):
        held = self._held
        non_blocking = kwargs.pop("non_blocking", False) or True in [a for a in args if isinstance(a, bool)]
        target = kwargs.pop("device", None) if name == "to" else name
        others = []
        for argument in args:
            if isinstance(argument, (torch.device, str)):
                target = argument
            elif isinstance(argument, torch.Tensor):
                target, kwargs["dtype"] = CUDA if held.is_here(argument) else CPU, argument.dtype
            elif not isinstance(argument, bool):
                others.append(argument)
        dtype = kwargs.get("dtype") or next((a for a in others if isinstance(a, torch.dtype)), None)
        here, there = held.is_here(tensor), _is_cuda(target)
        if target is None or here == there:
            return tensor if dtype in (None, tensor.dtype) else torch.Tensor.to(tensor, dtype)
        if there:
            out = self._making(torch.ops.aten._to_copy.default, (tensor,), {"dtype": dtype} if dtype else {})
        else:
            outer, held.making = held.making, None  # the result is the host's
            try:
                out = torch.ops.aten._to_copy.default(tensor, dtype=dtype, non_blocking=bool(non_blocking))
            finally:
                held.making = outer
        if not non_blocking:
            held.finish_current()
        return out


def _tensors(out):
    return [t for t in (out if type(out) in (tuple, list) else (out,)) if isinstance(t, torch.Tensor)]


def _is_cuda(device):
    return device is not None and str(device).startswith("cuda")


def _api(held):
    """The stand-ins for torch.cuda."""

    class Stream:
        made = 0

        def __init__(self, device=None, priority=0, handle=None, **_):
            if handle is None:
                Stream.made += 1
                handle = Stream.made
            self.cuda_stream = self.stream_id = handle
            self.device, self.device_index, self.device_type, self.priority = CUDA, 0, 1, priority

        def wait_event(self, event):
            event.wait(self)

        def wait_stream(self, other):
            self.wait_event(other.record_event())

        def record_event(self, event=None):
            event = event or Event()
            event.record(self)
            return event

        def synchronize(self):
            held.host_waits(self.cuda_stream)

        def query(self):
            self.synchronize()
            return True

        def __eq__(self, other):
            return isinstance(other, Stream) and other.cuda_stream == self.cuda_stream

        def __hash__(self):
            return self.cuda_stream

        def __enter__(self):
            self._outer = current_stream()
            held.current_stream = self
            return self

        def __exit__(self, *_):
            held.current_stream = self._outer

    class Event:
        def __init__(self, *_, **__):
            self._point = None

        def record(self, stream=None):
            self._point = held.mark_on((stream or current_stream()).cuda_stream)

        def wait(self, stream=None):
            held.wait((stream or current_stream()).cuda_stream, self._point)

        def synchronize(self):
            if self._point is not None and not self._point.reached:
                held.host_waits()

        def query(self):
            self.synchronize()
            return True

        def elapsed_time(self, _):
            return 1.0

    class use:
        def __init__(self, stream):
            self.stream = stream

        def __enter__(self):
            self._outer = held.current_stream
            if self.stream is not None:
                held.current_stream = self.stream
            return self.stream

        def __exit__(self, *_):
            held.current_stream = self._outer

    default = Stream(handle=0)

    def current_stream(device=None):
        return held.current_stream or default

    def set_stream(stream):
        held.current_stream = stream

    return {
        "Stream": Stream, "Event": Event, "stream": use, "StreamContext": use, "current_stream": current_stream, "set_stream": set_stream,
        "default_stream": lambda device=None: default, "synchronize": lambda device=None: held.host_waits(),
        "is_available": lambda: True, "device_count": lambda: 1, "current_device": lambda: 0, "_sleep": lambda cycles: None,
        "empty_cache": lambda: None, "is_current_stream_capturing": lambda: False, "manual_seed": lambda seed: None,
    }


@contextlib.contextmanager
def installed(held):
    stand_ins = _api(held)
    saved = {name: getattr(torch.cuda, name, None) for name in stand_ins}
    is_user = Sites._is_user
    # What stands in for PyTorch is no part of the program.
    Sites._is_user = lambda sites, name: name != __file__ and is_user(sites, name)
    for name, value in stand_ins.items():
        setattr(torch.cuda, name, value)
    try:
        # In C++ it takes real streams only.
        torch.Tensor.record_stream = lambda tensor, stream: None
        with Later(held), Redirect(held):
            yield
    finally:
        del torch.Tensor.record_stream
        Sites._is_user = is_user
        for name, value in saved.items():
            setattr(torch.cuda, name, value)
