"""What a rerun does to the GPU: holds a stream back until it is let go, marks a point of a stream, fills freed memory.

A stream is held by a wait for a word in pinned memory that the host sets (cuStreamWaitValue32), so it is held exactly as long
as needed and not for a guessed time. Where the driver has no such wait, a spin kernel of fixed length takes its place.
"""
import ctypes
import os
import threading
import time

import torch

# How long a stream is held at most: the host may be waiting for it. Seconds.
LONGEST_HOLD = 1.0
SLOTS = 4096
SPIN_CYCLES = 400_000_000
DELAY_CYCLES = 10_000_000
GREATER_OR_EQUAL = 0


class Cuda:
    # How long a mark may take that nothing holds back. Seconds.
    patience = 0.5

    def __init__(self):
        # Each stream gets a queue of its own, so that a stream that is held does not hold another by accident.
        os.environ.setdefault("CUDA_DEVICE_MAX_CONNECTIONS", "32")
        torch.cuda.init()
        self._words = torch.zeros(SLOTS, dtype=torch.int32).pin_memory()
        self._address = self._words.data_ptr()
        self._flags = (ctypes.c_int32 * SLOTS).from_address(self._address)
        self._next = 0
        self._wait = _wait_value()
        self.exact = self._wait is not None

    @staticmethod
    def is_here(tensor):
        return tensor.is_cuda

    @staticmethod
    def is_name(device):
        return device is not None and str(device).startswith("cuda")

    @staticmethod
    def current():
        return torch._C._cuda_getCurrentRawStream(torch._C._cuda_getDevice())

    @staticmethod
    def capturing():
        return torch.cuda.is_current_stream_capturing()

    @staticmethod
    def synchronize():
        # The plain call: torch.cuda.synchronize may be patched, and other devices are waited for as well.
        for index in range(torch.cuda.device_count()):
            with torch.cuda.device(index):
                torch._C._cuda_synchronize()

    def hold(self):
        """Hold back what is enqueued on the current stream from here on. Returns the slot that lets it go."""
        slot = self._next % SLOTS
        self._next += 1
        self._flags[slot] = 0
        if self._wait is None or self._wait(self.current(), self._address + 4 * slot, 1, GREATER_OR_EQUAL) != 0:
            self._wait = None
            self.exact = False
            _spin(SPIN_CYCLES)
        return slot

    @staticmethod
    def is_side(stream):
        return stream != 0

    @staticmethod
    def delay():
        _spin(DELAY_CYCLES)

    def let_go(self, slot):
        self._flags[slot] = 1

    def holds(self, slot):
        return self._flags[slot] == 0

    @staticmethod
    def mark():
        event = torch.cuda.Event()
        event.record()
        return event

    @staticmethod
    def reached(mark):
        return mark.query()

    @staticmethod
    def step_aside():
        """Another stream is current from here on, behind the work of the one that was. Returns that one."""
        outer = torch.cuda.current_stream()
        aside = torch.cuda.Stream()
        aside.wait_stream(outer)
        torch.cuda.set_stream(aside)
        return outer

    @staticmethod
    def step_back(outer):
        torch.cuda.set_stream(outer)

    @staticmethod
    def finish_current():
        torch.cuda.current_stream().synchronize()

    def fresh(self, size):
        """A block of the current stream's pool."""
        return torch.empty(size, dtype=torch.uint8, device="cuda")

    def arena(self, size):
        return torch.empty(size, dtype=torch.uint8, pin_memory=True)

    def clean(self):
        """As a fresh process has it, but with every kernel loaded."""
        self.synchronize()
        torch.cuda.set_stream(torch.cuda.default_stream())
        torch.cuda.empty_cache()


class Gate:
    """One stream held back from one point on, for at most LONGEST_HOLD seconds."""

    def __init__(self, device):
        self._device = device
        self._slot = device.hold()
        self._timer = threading.Timer(LONGEST_HOLD, self.open)
        self._timer.daemon = True
        self._timer._raceline = True
        self._timer.start()

    @property
    def closed(self):
        return self._device.holds(self._slot)

    def open(self):
        if self.closed:
            self._device.let_go(self._slot)
            self._timer.cancel()


def comes_while_closed(device, mark, gate):
    """Whether the device comes to `mark` while the gate still holds its stream: nothing orders the two."""
    end = time.monotonic() + device.patience
    while gate.closed:
        if device.reached(mark):
            return gate.closed
        if time.monotonic() > end:
            return False
        time.sleep(0.0002)
    return False


def _spin(cycles):
    # The plain call: torch.cuda._sleep is patched.
    torch._C._cuda_sleep(cycles)


def _wait_value():
    for name in ("libcuda.so.1", "nvcuda.dll"):
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        for symbol in ("cuStreamWaitValue32_v2", "cuStreamWaitValue32"):
            call = getattr(library, symbol, None)
            if call is not None:
                call.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_uint]
                call.restype = ctypes.c_int
                return call
    return None
