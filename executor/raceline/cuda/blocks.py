"""Which blocks of memory are alive, by address, and which of them is pinned host memory."""
import weakref

from raceline.operators import extent


class DeviceBlock:
    """A live block: id in the trace, stream id of its pool, whether it was made during a backward pass."""

    __slots__ = ("id", "stream", "backward", "kept")

    def __init__(self, ident, stream, backward):
        self.id, self.stream, self.backward = ident, stream, backward
        self.kept = None


class Blocks:
    def __init__(self, recording):
        self._recording = recording
        # Base address → block. Addresses of device and pinned host memory never collide (one virtual address space).
        self.live = {}
        self.pinned = {}
        # Allocations in order, as (address, block id): what the allocator's own history is matched with at the end.
        self.order = []

    def new(self, address, stream, backward):
        """A block whose line the caller writes."""
        block = DeviceBlock(self._recording.new_block(), stream, bool(backward))
        self.live[address] = block
        self.order.append((address, block.id))
        return block

    def add(self, address, size, stream, backward, site, name, time):
        recording = self._recording
        block = self.new(address, stream, backward)
        recording.alloc(block.id, address, size, stream, site, name, False, time)
        return block

    def add_foreign(self, address, size, stream, site):
        """Memory that PyTorch's allocator did not hand out (another library's, another process's)."""
        recording = self._recording
        recording.file.limit("Memory that does not come from PyTorch's allocator is followed from its first use; its release is not seen.")
        block = DeviceBlock(recording.new_block(), stream, False)
        recording.alloc(block.id, address, size, stream, site)
        self.live[address] = block
        return block

    def pin(self, tensor, stream, site):
        """Follow a pinned host buffer from here on; returns its block, or None for pageable memory."""
        storage = tensor.untyped_storage()
        address = storage.data_ptr()
        block = self.pinned.get(address)
        if block is not None:
            return block
        if not address or not tensor.is_pinned():
            return None
        recording = self._recording
        block = DeviceBlock(recording.new_block(), stream, False)
        recording.alloc(block.id, address, storage.nbytes(), stream, site, recording.sites.target(), True)
        self.pinned[address] = block
        weakref.finalize(storage, self._unpin, address, block).atexit = False
        return block

    def _unpin(self, address, block):
        if self.pinned.get(address) is block:
            del self.pinned[address]
            if not self._recording.file.closed:
                self._recording.step("free", f',"b":{block.id}')

    def host_access(self, tensor, mode, name):
        """The CPU reads or writes `tensor`: a step if its memory is pinned."""
        if tensor.device.type != "cpu" or tensor.is_sparse:
            return
        block = self.pinned.get(tensor.untyped_storage().data_ptr())
        span = extent(tensor) if block is not None else None
        if span:
            self._recording.step("host", f',"b":{block.id},"acc":"{mode}","lo":{span[0]},"hi":{span[1]},"name":{self._recording.file.string(name)}')
