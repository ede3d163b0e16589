"""A recording on the meta device: the program's CUDA tensors, streams and events are modelled, the steps are written.

Owns the bookkeeping of blocks (a storage is a block) and the meaning of each operator for the modelled device. The function
mode (redirect), the dispatch mode (watch), the stand-ins of torch.cuda (streams, api) and autograd (engine) call it.
"""
import contextlib
import sys

import torch
from torch.overrides import _get_current_function_mode_stack
from torch.utils._pytree import tree_flatten

from raceline.given import given
from raceline.host_threads import HostThreads
from raceline.meta import api, model, streams
from raceline.meta.branches import Branches
from raceline.meta.engine import Engine
from raceline.meta.redirect import GET_DEVICE, Redirect
from raceline.meta.watch import Watch
from raceline.operators import extent, storage_key
from raceline.recording import Recording
from raceline.storage_ends import LATE, StorageEnds

LIMITS = (
    "Tensors have no values there: a branch on a tensor's value takes the arm for zero.",
)
MATRIX = {"mm": 0, "bmm": 0, "addmm": 1, "baddbmm": 1}


class TensorBlock:
    """A storage's block: its id in the trace, its place in the modelled allocator, who wrote it last."""

    __slots__ = ("id", "memory", "stream", "writer", "kept", "pinned", "backward")

    def __init__(self, ident, memory, stream, pinned):
        self.id, self.memory, self.stream, self.pinned = ident, memory, stream, pinned
        self.writer = None
        self.kept = set()


class Session:
    def __init__(self, file, sites, start, level):
        self.device = model.Device()
        self.recording = Recording(file, sites, lambda: self.device.now)
        self._ends = StorageEnds()
        if self._ends.polled:
            self.recording.before_step = self._ends.poll
            file.limit(LATE)
        self.level = level
        self.plans = {}
        self.blocks = {}
        self.capturing = None
        self.engine = Engine(self)
        self._branches = Branches(file.limit, sites.relative_to)
        self._pinned_addresses = 0x7E00_0000_0000
        self._stack = contextlib.ExitStack()
        self._threads = HostThreads(self.recording, self._modes)

    def start(self):
        recording = self.recording
        recording.thread()
        self.api = streams.make(self)
        recording.stream(0, 0)
        for sentence in LIMITS:
            recording.file.limit(sentence)
        if self.level == "timeline":
            recording.file.limit("Accesses to memory are not recorded at this level: races cannot be told.")
        api.install(self)
        self._threads.install()
        self._stack.enter_context(self._modes())

    def finish(self):
        self._ends.poll()
        self._stack.close()

    def end_time(self):
        return max(self.device.now, self.device.idle_at())

    def close_enough(self, call):
        """torch.testing.assert_close: what the device has is as it was expected to be."""

        def run(actual, expected, **kwargs):
            leaves = [value for value in tree_flatten((actual, expected))[0] if isinstance(value, torch.Tensor)]
            if not any(value.is_cuda for value in leaves):
                return call(actual, expected, **kwargs)
            for value in leaves:
                if value.is_cuda:
                    self.read_back(value, "tolist")
            return None

        return run

    def inside(self, call):
        """A call with the program's function mode on, which PyTorch takes off inside of its own calls."""

        def run(*args, **kwargs):
            on = any(isinstance(mode, Redirect) for mode in _get_current_function_mode_stack())
            with contextlib.nullcontext() if on else Redirect(self):
                return call(*args, **kwargs)

        return run

    def _modes(self):
        stack = contextlib.ExitStack()
        stack.enter_context(Redirect(self))
        stack.enter_context(Watch(self))
        return stack

    # Streams

    def stream_id(self, handle):
        return self.recording.stream(0, handle)

    def current(self):
        return self.api["current_stream"]().cuda_stream

    def select(self, handle):
        self.api["set_stream"](self.api["Stream"](_handle=handle))

    def implicit_edge(self, source, target, site=-1):
        """A record and a wait that the framework makes."""
        recording, device = self.recording, self.device
        event = recording.new_event()
        done = device.run(source, 0)
        recording.step("record", f',"e":{event},"st":{self.stream_id(source)},"implicit":true', site)
        device.wait(target, done)
        recording.step("wait", f',"e":{event},"st":{self.stream_id(target)},"implicit":true', site)

    def note_device(self, device):
        index = device if isinstance(device, int) else torch.device(device).index
        if index:
            self.recording.file.limit("Only one device is modelled: work on cuda:1 and above is shown on cuda:0.")

    # Blocks

    def block_of(self, tensor):
        return self.blocks.get(storage_key(tensor))

    def _new_block(self, tensor, pinned=False, site=-1, time=None):
        storage = tensor.untyped_storage()
        key, size = storage._cdata, storage.nbytes()
        if not size and not pinned:
            return None
        handle = self.current()
        recording = self.recording
        name = recording.sites.target()
        if pinned:
            memory, address = None, self._pinned_addresses
            self._pinned_addresses += (size + 4095) // 4096 * 4096
        else:
            if size > model.TOTAL:
                raise torch.cuda.OutOfMemoryError(f"CUDA out of memory. Tried to allocate {size / (1 << 30):.2f} GiB. GPU 0 has a total capacity of {model.TOTAL / (1 << 30):.2f} GiB.")
            memory = self.device.allocator.allocate(size, handle, self.device.now)
            address = memory.address
        block = self.blocks[key] = TensorBlock(recording.new_block(), memory, handle, pinned)
        recording.alloc(block.id, address, size if pinned else memory.size, self.stream_id(handle), recording.sites.here() if site == -1 else site, name, pinned, time)
        self._count()
        self._ends.when_gone(storage, self._released, key)
        return block

    def _released(self, key):
        block = self.blocks.pop(key, None)
        if block is None or self.recording.file.closed:
            return
        self.recording.step("free", f',"b":{block.id}', self.recording.sites.here())
        if block.pinned:
            return
        done = max((self.device.tail(handle) for handle in block.kept), default=None)
        self.device.allocator.release(block.memory, done)
        if done is not None:
            self.recording.file.append(f'{{"k":"reusable","b":{block.id},"t":{max(done, self.device.now)}}}')
        self._count()

    def _count(self):
        pool = self.device.allocator
        self.recording.file.append(f'{{"k":"counter","t":{self.device.now},"device":0,"allocated":{pool.allocated},"reserved":{pool.reserved},"held":{pool.held}}}')

    def keep(self, block, handle, implicit=False):
        if handle != block.stream:
            block.kept.add(handle)
        body = f',"b":{block.id},"st":{self.stream_id(handle)}' + (',"implicit":true' if implicit else "")
        self.recording.step("recordStream", body)

    @property
    def record_stream_of(self):
        """A plain function, so that it binds as a method of Tensor."""
        return lambda tensor, stream: self.record_stream(tensor, stream)

    def record_stream(self, tensor, stream):
        with torch._C.DisableTorchFunction():
            block = self.block_of(tensor)
        self.device.call()
        if block is not None and not block.pinned:
            self.keep(block, stream.cuda_stream)

    # Pinned memory

    def pin(self, tensor, device=None):
        if GET_DEVICE(tensor).type != "cpu":
            raise RuntimeError(f"cannot pin '{tensor.type()}' only dense CPU tensors can be pinned")
        if self.is_pinned(tensor):
            return tensor
        self.device.call(model.CALL)
        return self.pin_fresh(tensor.clone(memory_format=torch.contiguous_format))

    def pin_fresh(self, tensor):
        if GET_DEVICE(tensor).type == "cpu":
            self._new_block(tensor, pinned=True)
        return tensor

    def is_pinned(self, tensor):
        block = self.block_of(tensor)
        return block is not None and block.pinned

    def host_read(self, tensor, api_name):
        block = self.block_of(tensor)
        span = extent(tensor) if block is not None and block.pinned else None
        if span:
            self.recording.host(block.id, "r", *span, api_name)

    # Operators

    def read_back(self, tensor, name, *args, **kwargs):
        """A value that only the device has: the host waits for the current stream and gets zeros."""
        zeros = torch.zeros(tensor.shape, dtype=tensor.dtype)
        if name != "__format__":
            self.value_read()
        with torch._C.DisableTorchFunction():
            span = extent(tensor)
            block = self.block_of(tensor)
            accesses = [(block, *span, "r")] if block is not None and span else []
            self._launch(f"Tensor.{name.strip('_')}", accesses, "d2h", tensor.numel() * tensor.element_size())
        self._block_host(f"Tensor.{name.strip('_')}")
        return getattr(zeros, name)(*args, **kwargs)

    def value_read(self):
        """The program looks at a value of a tensor."""
        place = self.recording.sites.caller(sys._getframe())
        if place is not None:
            self._branches.note(*place)

    def operator(self, plan, func, args, kwargs, tensors, results, on_device):
        """Write what one operator did. `tensors`: its arguments with their modes; `results`: tensors over new storages."""
        self._ends.poll()  # what is gone can be handed out again
        device_results = [t for t in results if t.device.type == "meta" and storage_key(t) is not None]
        if not on_device and not device_results:
            self._host_operator(plan, tensors)
            return
        copy = None
        if plan.base in ("_to_copy", "copy_"):
            source, target = (args[1], args[0]) if plan.base == "copy_" else (args[0], results[0] if results else args[0])
            kinds = (source.device.type, target.device.type)
            copy = {("cpu", "meta"): "h2d", ("meta", "cpu"): "d2h"}.get(kinds)
        non_blocking = bool(kwargs.get("non_blocking", len(args) > 2 and plan.base == "copy_" and args[2]))
        time = self.device.call(model.CALL)
        for tensor in device_results:
            self._new_block(tensor, time=time)
        if copy == "d2h" and non_blocking and plan.base == "_to_copy":
            # PyTorch hands out pinned memory for a copy to the host that does not block.
            self._new_block(results[0], pinned=True, time=time)
        if plan.kind == "empty":
            return
        accesses, moved = [], 0
        for tensor, mode in [*tensors, *((t, "w") for t in results)]:
            block = self.block_of(tensor)
            span = extent(tensor) if block is not None else None
            if span is None:
                continue
            accesses.append((block, *span, mode))
            moved += span[1] - span[0]
        if not accesses:
            return
        work = moved / model.MEMORY
        if plan.base in MATRIX and results:
            inner = args[MATRIX[plan.base]].shape[-1]
            work = max(work, 2 * results[0].numel() * inner / model.MULTIPLY)
        self._launch(plan.name, accesses, copy, moved, work, plan.label, self._first(plan, args, kwargs))
        if plan.kind == "read_back":
            self._block_host(plan.name)
        elif copy and self._blocks(copy, non_blocking, source, target):
            self._block_host(plan.name)

    def _blocks(self, copy, non_blocking, source, target):
        """Whether a copy between host and device makes the host wait."""
        if not non_blocking:
            return True
        # To pageable memory it always does; from pageable memory it may return at once, so it is never counted on.
        return copy == "d2h" and not self.is_pinned(target)

    def _host_operator(self, plan, tensors):
        for tensor, mode in tensors:
            block = self.block_of(tensor)
            span = extent(tensor) if block is not None and block.pinned else None
            if span:
                self.recording.host(block.id, mode, *span, plan.name)

    def _first(self, plan, args, kwargs):
        """What the operator is called with, where it was not called from this place before."""
        site = self.recording.sites.here()
        if self.level != "full" or site in plan.called:
            return ""
        plan.called.add(site)
        return given(args, kwargs)

    def _launch(self, name, accesses, copy=None, moved=0, work=0.0, label=None, first=""):
        recording, device = self.recording, self.device
        handle = self.current()
        stream = self.stream_id(handle)
        label = recording.file.string(name) if label is None else label
        time = device.now - model.CALL if device.now >= model.CALL else 0
        merged = {}
        for block, low, high, mode in accesses:
            before = merged.get((block.id, low, high))
            merged[(block.id, low, high)] = mode if before in (None, mode) else "rw"
            if mode != "r" and not block.pinned:
                block.writer = handle
        body = f',"d":{model.CALL},"st":{stream},"name":{label}'
        if self.level == "full":
            body += ',"acc":[' + ",".join(f'[{b},{low},{high},"{mode}"]' for (b, low, high), mode in merged.items()) + "]"
        if copy:
            body += f',"copy":"{copy}"'
        body += first
        duration = model.KERNEL + (moved / model.BUS if copy else work)
        if self.capturing is not None:
            recording.step("op", body, time=time)
            self.capturing.add(int(duration))
            return
        start = device.run(handle, duration)
        recording.step("op", body, time=time, following=self.device_slice(stream, start, int(duration), name, "copy" if copy else "kernel", moved if copy else None))

    def device_slice(self, stream, start, duration, name, kind, moved=None):
        """The line of the device's work that follows a step's own."""
        extra = "" if moved is None else f',"bytes":{moved}'
        return f'{{"k":"gpu","op":\0,"st":{stream},"t":{start},"d":{duration},"name":{self.recording.file.string(name)},"kind":"{kind}"{extra}}}'

    def spin(self, cycles):
        self.device.call(model.CALL)
        handle = self.current()
        stream = self.stream_id(handle)
        duration = int(cycles / model.CYCLES)
        following = self.device_slice(stream, self.device.run(handle, duration), duration, "spin_kernel", "kernel")
        self.recording.step("op", f',"d":{model.CALL},"st":{stream},"name":{self.recording.file.string("torch.cuda._sleep")},"acc":[]', following=following)

    def _block_host(self, api_name):
        handle = self.current()
        time = self.device.now
        waited = self.device.block_host(self.device.tail(handle))
        api_id = self.recording.file.string(api_name)
        self.recording.step("sync", f',"on":"stream","st":{self.stream_id(handle)},"d":{waited},"api":{api_id},"implicit":true', time=time)
