"""The modelled device: a clock for the host, a queue per stream, and the caching allocator's pools.

Times are rough on purpose (bytes over a bandwidth); what is exact is the order of submission and which addresses the
allocator would hand out again. The numbers are those of a current data-centre GPU.
"""
import bisect
import itertools

CALL = 8_000  # nanoseconds the host needs for an operator
SHORT_CALL = 2_000  # … for an event or stream call
LAUNCH = 3_000  # from the call to the device
KERNEL = 2_000  # a kernel of no size
MEMORY = 3_000  # bytes a nanosecond, device memory
BUS = 50  # bytes a nanosecond, between host and device
MULTIPLY = 300_000  # floating-point operations a nanosecond
CYCLES = 1.98  # cycles a nanosecond, for torch.cuda._sleep
TOTAL = 80 << 30  # bytes of memory

ROUND = 512
SMALL = 1 << 20
SMALL_SEGMENT = 2 << 20
LARGE_SEGMENT = 20 << 20
LARGE_MINIMUM = 10 << 20
SEGMENT_ROUND = 2 << 20


class Device:
    def __init__(self):
        self.now = 0
        self.tails = {}
        self.allocator = Allocator()

    def call(self, nanoseconds=SHORT_CALL):
        """The host makes a call; returns when it starts."""
        start = self.now
        self.now += nanoseconds
        return start

    def run(self, stream, duration):
        """Enqueue work; returns its start."""
        start = max(self.tails.get(stream, 0), self.now + LAUNCH)
        self.tails[stream] = start + int(duration)
        return start

    def tail(self, stream):
        return self.tails.get(stream, 0)

    def wait(self, stream, until):
        self.tails[stream] = max(self.tail(stream), until)

    def block_host(self, until):
        """The host waits; returns for how long."""
        waited = max(0, until - self.now)
        self.now += waited
        return waited

    def idle_at(self):
        return max(self.tails.values(), default=0)


class Block:
    __slots__ = ("address", "size", "pool", "segment", "free")

    def __init__(self, address, size, pool, segment):
        self.address, self.size, self.pool, self.segment, self.free = address, size, pool, segment, True


class Allocator:
    """PyTorch's caching allocator in small: a pool per stream and size class, best fit, split, merge."""

    def __init__(self):
        self._addresses = itertools.count(0x7F00_0000_0000, 1 << 36)
        self._next = {}
        self._free = {}
        self._segments = {}
        self._held = []
        self.allocated = self.peak = self.reserved = self.held = 0

    def allocate(self, size, stream, now):
        """A block on `stream`'s pool. Held-back blocks whose events are done by `now` come back first."""
        for entry in [e for e in self._held if e[0] <= now]:
            self._held.remove(entry)
            self.held -= entry[1].size
            self._put_back(entry[1])
        size = max(ROUND, (size + ROUND - 1) // ROUND * ROUND)
        small = size <= SMALL
        pool = (stream, small)
        free = self._free.setdefault(pool, [])
        at = bisect.bisect_left(free, (size, 0))
        if at < len(free):
            block = free.pop(at)[2]
        else:
            block = self._grow(pool, size, small)
        rest = block.size - size
        if rest >= (ROUND if small else SMALL + 1):
            other = Block(block.address + size, rest, pool, block.segment)
            block.size = size
            segment = self._segments[block.segment]
            segment.insert(segment.index(block) + 1, other)
            bisect.insort(free, (other.size, other.address, other))
        block.free = False
        self.allocated += block.size
        self.peak = max(self.peak, self.allocated)
        return block

    def release(self, block, done_at=None):
        """`done_at`: when the streams named by record_stream are done; None: back in the pool at once."""
        self.allocated -= block.size
        if done_at is None:
            self._put_back(block)
        else:
            self.held += block.size
            self._held.append((done_at, block))

    def _grow(self, pool, size, small):
        segment_size = SMALL_SEGMENT if small else LARGE_SEGMENT if size < LARGE_MINIMUM else (size + SEGMENT_ROUND - 1) // SEGMENT_ROUND * SEGMENT_ROUND
        if not self._next:
            self._next["base"] = next(self._addresses)
        address = self._next["base"]
        self._next["base"] += segment_size
        self.reserved += segment_size
        block = Block(address, segment_size, pool, address)
        self._segments[address] = [block]
        return block

    def _put_back(self, block):
        block.free = True
        free = self._free.setdefault(block.pool, [])
        segment = self._segments[block.segment]
        at = segment.index(block)
        if at + 1 < len(segment) and segment[at + 1].free:
            after = segment.pop(at + 1)
            free.remove((after.size, after.address, after))
            block.size += after.size
        if at and segment[at - 1].free:
            before = segment[at - 1]
            free.remove((before.size, before.address, before))
            segment.pop(at)
            before.size += block.size
            block = before
        bisect.insort(free, (block.size, block.address, block))
