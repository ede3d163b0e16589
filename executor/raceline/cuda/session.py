"""A recording on the GPU: starts and ends the sources (callbacks, dispatch mode, patched calls, profiler, memory history).

Owns what they share: which stream a handle is, which block an address is, whether a backward pass is running. What is
written when is decided in the sources.
"""
import contextlib
import itertools
import os
import threading
import time

import torch

from raceline.cuda import device_times, history
from raceline.cuda.blocks import Blocks
from raceline.cuda.callbacks import Callbacks
from raceline.cuda.calls import Calls
from raceline.cuda.device_times import DeviceTimes
from raceline.cuda.history import History
from raceline.cuda.watch import Watch
from raceline.host_threads import HostThreads
from raceline.recording import Recording
from raceline.rows import LAUNCH, NOWHERE, SLOT

# Settings that PyTorch or CUDA read when they start, which is before the program does.
EARLY_SETTINGS = ("CUDA_VISIBLE_DEVICES", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_NO_CUDA_MEMORY_CACHING", "CUDA_LAUNCH_BLOCKING", "CUDA_MODULE_LOADING")
SNAPSHOTS = 200


class Sources:
    """What takes seconds to start and is not part of the program's time: CUDA itself, the profiler, the memory history."""

    def __init__(self, level):
        torch.cuda.init()
        history.start()
        self.profile = device_times.start(joined=level == "full")


class Thread:
    """What one host thread is in the middle of."""

    __slots__ = ("pending", "intent", "sync", "naming", "measure", "base", "slot", "id", "site", "events", "turn", "lent")

    def __init__(self):
        self.pending = None  # entries of callbacks inside an operator, or None outside
        self.intent = 0  # how many patched calls of the program are active
        self.sync = None  # where callbacks leave host waits while a patched call measures them
        self.naming = None  # the id that an event has before its first record
        self.measure = False  # whether the scratch memory of the operator is measured
        self.base = 0
        self.slot = None  # its number for the join with device activities
        self.id = None  # its id in the trace, where that stays the same
        self.site = None  # the site of the patched call that is active
        self.events = {}  # device → the event of its wait_stream calls, its id and its handle
        self.turn = -1  # the backward for which it is lent to another thread, and to which
        self.lent = None


class Local(threading.local):
    def __init__(self):
        self.thread = Thread()


class Session:
    def __init__(self, file, sites, start, level, sources):
        self.start_ns = start
        self.level = level
        self.recording = Recording(file, sites, lambda: time.time_ns() - start)
        self.local = Local()
        self.plans = {}
        self.blocks = Blocks(self.recording)
        self.backward = 0
        self.capturing = 0
        self.turn = 0  # counts calls of backward
        self.quiet = False
        self.put = file.rows.extend
        # Stream handle → id; -1 - device for a default stream, whose handle is 0 on every device.
        self.stream_ids = {}
        self._slots = itertools.count()
        self._devices = {}
        self._kept_on = {}
        self._snapshots = 0
        self._stack = contextlib.ExitStack()
        self.callbacks = Callbacks(self)
        self.times = DeviceTimes(self, sources.profile)
        self.history = History(self, level != "full")
        self._settings = {name: os.environ.get(name) for name in EARLY_SETTINGS}

    def start(self, late=False):
        """`late`: the program has been running; what it did so far is waited for and its memory is looked up."""
        recording = self.recording
        recording.number_of = self.times.number
        recording.thread()
        recording.file.sources.append(self.times.collect)
        recording.stream(torch.cuda.current_device(), 0)
        full = self.level == "full"
        if not full:
            recording.file.limit("Accesses to memory are not recorded at this level: races cannot be told.")
        self.times.watch_profilers()
        if late:
            torch.cuda.synchronize()
            if full:
                self._blocks_so_far()
        self._calls = Calls(self)
        self._calls.install()
        self.callbacks.install(memory=full)
        self._threads = HostThreads(recording, self._modes)
        self._threads.install()
        self._stack.enter_context(self._modes())

    def _blocks_so_far(self):
        file = self.recording.file
        for segment in torch._C._cuda_memorySnapshot(None)["segments"]:
            stream = self.stream_of(segment["stream"], segment["device"])
            address = segment["address"]
            for block in segment["blocks"]:
                if block["state"] == "active_allocated":
                    self.blocks.live[address] = ident = self.blocks.new_id()
                    file.append(f'{{"k":"block","b":{ident},"addr":"{address:#x}","size":{block["size"]},"st":{stream}}}')
                address += block["size"]

    def put_back(self):
        """After `finish`, where the program goes on: PyTorch as it was, but for callbacks that do nothing."""
        self._threads.remove()
        self._calls.remove()
        self.callbacks.remove()
        self.times.remove()

    def _modes(self):
        return Watch(self) if self.level == "full" else contextlib.nullcontext()

    def finish(self):
        """Stop the sources and write what only is known at the end. The program's failure may have taken the GPU with it."""
        self.quiet = True
        if self.times.collect in self.recording.file.sources:
            self.recording.file.sources.remove(self.times.collect)
        limit = self.recording.file.limit
        for step, what in ((self._stack.close, "the dispatch mode"), (self.times.finish, "kernel times"), (self.history.finish, "the allocator's history")):
            try:
                step()
            except Exception as error:
                limit(f"{what[0].upper()}{what[1:]} could not be read at the end: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
        for name, before in self._settings.items():
            if os.environ.get(name) != before:
                limit(f"The program sets {name} itself, after PyTorch has started under the recorder: set it in the shell instead.")

    def end_time(self):
        return time.time_ns() - self.start_ns

    # Streams

    def stream_of(self, handle, device=None):
        if device is None:
            device = self._devices.get(handle)
            if device is None:
                device = torch._C._cuda_getDevice()
        elif handle:
            self._devices[handle] = device
        stream = self.recording.stream(device, handle)
        self.stream_ids[handle or -1 - device] = stream
        return stream

    def know_stream(self, handle, device, name):
        if handle:
            self._devices[handle] = device
        self.recording.name_stream(device, handle, name)

    # Memory

    def record_stream(self, block, stream, site):
        # The dispatcher gives a bare stream without its handle; one with a handle is made once.
        key = stream.stream_id, stream.device_index
        number = self._kept_on.get(key)
        if number is None:
            handle = getattr(stream, "cuda_stream", None)
            if handle is None:
                handle = torch.cuda.Stream(stream_id=stream.stream_id, device_index=stream.device_index, device_type=stream.device_type).cuda_stream
            number = self._kept_on[key] = self.stream_of(handle, stream.device_index)
        self.recording.step("recordStream", f',"b":{block},"st":{number}', site)

    def keep_gradient(self, block, device):
        """The engine keeps a gradient that another stream reads (record_stream in C++, which nobody is told of)."""
        made, kept = self.blocks.gradients[block]
        stream = self.stream_of(torch._C._cuda_getCurrentRawStream(device), device)
        if stream == made or kept is not None and stream in kept:
            return
        self.blocks.gradients[block][1] = (kept or set()) | {stream}
        self.recording.step("recordStream", f',"b":{block},"st":{stream},"implicit":true')

    def measure_start(self, thread):
        thread.measure = True
        thread.base = _allocated()

    def measured(self, thread):
        total = _allocated()
        size, thread.base = total - thread.base, total
        return size

    def outside_allocation(self, address):
        """Memory that no operator asked for (a storage that is resized or loaded): its size is looked up."""
        size = 512
        if self._snapshots < SNAPSHOTS:
            self._snapshots += 1
            size = _size_of(address) or size
        device = torch._C._cuda_getDevice()
        stream = self.stream_of(torch._C._cuda_getCurrentRawStream(device), device)
        site, name = self.recording.sites.look()
        self.blocks.add(address, size, stream, bool(self.backward), site, name, None)

    # Threads

    def thread_of(self, thread):
        """The id of the calling thread, whose state is given."""
        if thread.id is not None:
            return thread.id
        if thread.turn == self.turn:
            return thread.lent
        thread.id = self.recording.thread_key()
        if thread.id is not None:
            return thread.id
        # One of autograd's: for this backward it counts as the thread that called it.
        thread.turn, thread.lent = self.turn, self.recording.thread()
        return thread.lent

    def slot_of(self, thread):
        if thread.slot is None:
            thread.slot = next(self._slots)
            # A call's record names its thread by the low half of its handle; a profiler's trace takes that for a signed number,
            # drops the sign, or gives the system's number.
            low = threading.get_ident() & 0xFFFFFFFF
            for name in {low, low if low < 1 << 31 else (1 << 32) - low, threading.get_native_id()}:
                self.put((SLOT, thread.slot, name))
        return thread.slot

    def nowhere(self):
        """The site of a row that is issued outside of the program's frames."""
        site = self.recording.fallback_site
        return NOWHERE if site is None else site

    def launched(self, kind, start, end, body, stream, site=-1):
        """A step that starts kernels and is no operator."""
        recording = self.recording
        site = recording.sites.here() if site == -1 else site
        self.put((LAUNCH, start, end, stream, self.slot_of(self.local.thread), kind, body + recording.where(site)))


def _allocated():
    return torch._C._cuda_memoryStats(torch._C._cuda_getDevice())["allocated_bytes"]["all"]["allocated"]


def _size_of(address):
    for segment in torch._C._cuda_memorySnapshot(None)["segments"]:
        start = segment["address"]
        if start <= address < start + segment["total_size"]:
            for block in segment["blocks"]:
                if start == address:
                    return block["size"]
                start += block["size"]
    return None
