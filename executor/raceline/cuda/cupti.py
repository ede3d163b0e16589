"""Device activities straight from CUPTI, the library that PyTorch's profiler stands on, as the program runs.

Kernels, copies, sets and the calls that start them are asked for and nothing else, which costs a fraction of a profile. CUPTI fills
buffers; full ones are handed on as they are, ten times a second, and read by the writer (device_buffers). Here only the names of
kernels are looked up, since they are addresses in this process. Two fields of a record are read: its kind and, of a kernel, its name.
"""
import ctypes
import time

from raceline.device_buffers import DRIVER, KERNEL, MEMCPY, MEMSET, NAME_WORD, RUNTIME
from raceline.rows import BUFFER, NAME, NUMBER

# The callback domains of the two interfaces, and a bound on how many calls either has.
DRIVER_DOMAIN, RUNTIME_DOMAIN = 1, 2
MOST_CALLS = 1000
STARTS_WORK = (b"Launch", b"Memcpy", b"Memset")
BUFFER_BYTES = 1 << 20
# Half-full buffers are asked for this often, so that a run that is killed keeps its times.
DRAIN_SECONDS = 0.5
FORCED = 1
# So many records of one kind are looked at together.
STRETCH = 64


def libraries():
    """(CUPTI, the driver's library), as this process has loaded them; None where one is missing."""
    try:
        with open("/proc/self/maps") as maps:
            paths = {line.split()[-1] for line in maps if "libcupti" in line or "libcuda.so" in line}
    except OSError:
        return None, None
    found = [next((path for path in sorted(paths) if name in path), None) for name in ("libcupti", "libcuda.so")]
    return tuple(None if path is None else ctypes.CDLL(path) for path in found)


def event_calls():
    """The driver's (record(event, stream), wait(stream, event, flags)): 0 or an error's number; None: the library is not to be had."""
    driver = libraries()[1]
    if driver is None:
        return None
    record, wait = driver.cuEventRecord, driver.cuStreamWaitEvent
    record.argtypes, wait.argtypes = (ctypes.c_void_p, ctypes.c_void_p), (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint)
    record.restype = wait.restype = ctypes.c_int
    return record, wait


class Cupti:
    """Use `start`; an OSError says that CUPTI is not to be had."""

    def __init__(self, joined):
        """`joined`: record the calls that start work too, to join activities with steps."""
        self._cupti, self._driver = libraries()
        if self._cupti is None or self._driver is None:
            raise OSError("CUPTI is not loaded as a library")
        self._kinds = (KERNEL, MEMCPY, MEMSET, *((RUNTIME, DRIVER) if joined else ()))
        self._free, self._buffers, self._full = [], {}, []
        self._sizes, self._names = {}, {}
        self._contexts = {}
        self._drained = time.monotonic()
        self._demangle = _demangler()
        self.running = False
        self.lost = 0

    def start(self):
        cupti = self._cupti
        address, size, count = ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t), ctypes.POINTER(ctypes.c_size_t)
        # Kept: CUPTI calls them until the process ends.
        self._requested = ctypes.CFUNCTYPE(None, address, size, count)(self._request)
        self._completed = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)(self._complete)
        self._check(cupti.cuptiActivityRegisterCallbacks(self._requested, self._completed), "register")
        self._offset = self._clock_offset()
        for kind in self._kinds:
            self._check(cupti.cuptiActivityEnable(ctypes.c_int(kind)), "enable")
        self.running = True
        if RUNTIME in self._kinds:
            self._only_launches()
        return self

    @staticmethod
    def _check(code, what):
        if code:
            raise OSError(f"CUPTI does not {what} activities (error {code})")

    def _only_launches(self):
        """Calls that start no device work are not looked at."""
        cupti = self._cupti
        if not hasattr(cupti, "cuptiActivityEnableRuntimeApi"):  # before CUDA 12
            return
        name = ctypes.c_char_p()
        for domain, switch in ((DRIVER_DOMAIN, cupti.cuptiActivityEnableDriverApi), (RUNTIME_DOMAIN, cupti.cuptiActivityEnableRuntimeApi)):
            for call in range(1, MOST_CALLS):
                if cupti.cuptiGetCallbackName(ctypes.c_int(domain), ctypes.c_uint32(call), ctypes.byref(name)) or not name.value:
                    continue
                if not any(word in name.value for word in STARTS_WORK):
                    switch(ctypes.c_uint32(call), ctypes.c_uint8(0))

    def _clock_offset(self):
        """What to add to CUPTI's times to get Unix time; 0 where they are that already."""
        stamp = ctypes.c_uint64()
        narrowest = None
        for _ in range(5):
            before = time.time_ns()
            self._cupti.cuptiGetTimestamp(ctypes.byref(stamp))
            after = time.time_ns()
            if narrowest is None or after - before < narrowest[1] - narrowest[0]:
                narrowest = before, after, stamp.value
        before, after, value = narrowest
        return 0 if before <= value <= after else (before + after) // 2 - value

    # Called by CUPTI, on any thread.

    def _request(self, address, size, count):
        try:
            buffer = self._free.pop()
        except IndexError:
            buffer = ctypes.create_string_buffer(BUFFER_BYTES + 8)
        start = (ctypes.addressof(buffer) + 7) // 8 * 8
        self._buffers[start] = buffer
        address[0], size[0], count[0] = start, BUFFER_BYTES, 0

    def _complete(self, context, stream, address, size, valid):
        self._full.append((address, valid))

    # Called ten times a second.

    def collect(self, rows):
        """Append what has come as rows."""
        if self.running and time.monotonic() - self._drained > DRAIN_SECONDS:
            self._drained = time.monotonic()
            self._cupti.cuptiActivityFlushAll(ctypes.c_uint32(0))
        full, self._full = self._full, []
        for address, valid in full:
            buffer = self._buffers.pop(address, None)
            if valid:
                content = ctypes.string_at(address, valid)
                self._scan(content, address, valid, rows)
                rows.extend((BUFFER, content, self._offset, dict(self._sizes)))
            if buffer is not None:
                self._free.append(buffer)

    def _scan(self, content, address, valid, rows):
        """Learn how long the records of each kind are, and the names of kernels.

        This holds up the program's own threads, so stretches are gone through at once in which one kind or two by turns follow each
        other (a call and its kernel): where a record begins, the next one stands its length behind it.
        """
        words, halves = memoryview(content).cast("Q"), memoryview(content).cast("I")
        sizes, pointers = self._sizes, set()
        at, end, single = 0, len(words), 0
        while at < end:
            kind = halves[2 * at]
            size = sizes.get(kind)
            if size is None:
                size = sizes[kind] = self._size(address, valid, 8 * at) // 8
            after = at + size
            if single:
                single -= 1
            elif after < end:
                other = halves[2 * after]
                # A kind whose length is not known yet is met on its own first.
                length = size if other == kind else size + sizes.get(other, end)
                stop = at + STRETCH * length
                if stop <= end and halves[2 * at : 2 * stop : 2 * length].tolist() == [kind] * STRETCH:
                    if other == kind or halves[2 * after : 2 * stop : 2 * length].tolist() == [other] * STRETCH:
                        if kind == KERNEL:
                            pointers.update(words[at + NAME_WORD : stop : length])
                        elif other == KERNEL:
                            pointers.update(words[after + NAME_WORD : stop : length])
                        at = stop
                        continue
                single = STRETCH
            if kind == KERNEL:
                pointers.add(words[at + NAME_WORD])
            at = after
        names = self._names
        for pointer in pointers:
            if pointer not in names:
                names[pointer] = True
                text = ctypes.string_at(pointer) if pointer else b"kernel"
                rows.extend((NAME, pointer, self.string(self._demangle(text))))

    # What gives a text's id in the trace; set by the session.
    string = None

    def _size(self, address, valid, offset):
        """How long the records of a kind are: they grow from one CUDA to the next."""
        record = ctypes.c_void_p(address + offset)
        if self._cupti.cuptiActivityGetNextRecord(ctypes.c_void_p(address), ctypes.c_size_t(valid), ctypes.byref(record)):
            return valid - offset
        return record.value - address - offset

    def finish(self, rows):
        """End it; the device has to be idle."""
        if not self.running:
            return
        cupti = self._cupti
        cupti.cuptiActivityFlushAll(ctypes.c_uint32(FORCED))
        self.running = False
        for kind in self._kinds:
            cupti.cuptiActivityDisable(ctypes.c_int(kind))
        self.collect(rows)
        dropped = ctypes.c_size_t()
        if hasattr(cupti, "cuptiActivityGetNumDroppedRecords") and not cupti.cuptiActivityGetNumDroppedRecords(None, 0, ctypes.byref(dropped)):
            self.lost = dropped.value

    @property
    def devices(self):
        """Those whose streams were seen."""
        return tuple(self._contexts)

    def number(self, device, handle, stream, rows):
        """CUPTI's number of a stream, which the writer is told as well; None: it does not say."""
        context = self._contexts.get(device)
        if context is None:
            ordinal, context = ctypes.c_int(), ctypes.c_void_p()
            if self._driver.cuDeviceGet(ctypes.byref(ordinal), ctypes.c_int(device)) or self._driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), ordinal):
                return None
            self._contexts[device] = context
        number = ctypes.c_uint32()
        if self._cupti.cuptiGetStreamIdEx(context, ctypes.c_void_p(handle), ctypes.c_uint8(0), ctypes.byref(number)):
            return None
        rows.extend((NUMBER, device, number.value, stream))
        return number.value


def _demangler():
    try:
        library = ctypes.CDLL("libstdc++.so.6")
        demangle = library.__cxa_demangle
        demangle.restype = ctypes.c_void_p
        free = ctypes.CDLL(None).free
        free.argtypes = [ctypes.c_void_p]
    except (OSError, AttributeError):
        return lambda name: name.decode("utf-8", "replace")

    def call(name):
        status = ctypes.c_int()
        got = demangle(ctypes.c_char_p(name), None, None, ctypes.byref(status))
        if not got or status.value:
            return name.decode("utf-8", "replace")
        try:
            return ctypes.string_at(got).decode("utf-8", "replace")
        finally:
            free(got)

    return call
