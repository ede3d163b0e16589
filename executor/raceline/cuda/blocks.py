"""Which blocks of memory are alive, by address, and which of them is pinned host memory."""
import array

from raceline.operators import extent
from raceline.storage_ends import StorageEnds


class Blocks:
    def __init__(self, recording):
        self._recording = recording
        # Base address → block id. Addresses of device and pinned host memory never collide (one virtual address space).
        self.live = {}
        self.pinned = {}
        # Blocks made during a backward pass: id → [stream of its pool, streams that it is kept for].
        self.gradients = {}
        # Allocations in order, address and block id in turn: what the allocator's own history is matched with at the end.
        self.order = array.array("Q")
        self.new_id = recording.new_block
        self._ends = StorageEnds()
        if self._ends.polled:
            recording.before_step = self._ends.poll

    def add(self, address, size, stream, backward, site, name, time):
        block = self.live[address] = self.new_id()
        self.order.extend((address, block))
        if backward:
            self.gradients[block] = [stream, None]
        self._recording.alloc(block, address, size, stream, site, name, False, time)
        return block

    def add_foreign(self, address, size, stream, site):
        """Memory that PyTorch's allocator did not hand out (another library's, another process's)."""
        recording = self._recording
        recording.file.limit("Memory that does not come from PyTorch's allocator is followed from its first use; its release is not seen.")
        block = self.live[address] = self.new_id()
        recording.alloc(block, address, size, stream, site)
        return block

    def pin(self, tensor, stream, site):
        """Follow a pinned host buffer from here on; returns its block, or None for pageable memory."""
        self._ends.poll()
        storage = tensor.untyped_storage()
        address = storage.data_ptr()
        block = self.pinned.get(address)
        if block is not None:
            return block
        if not address or not tensor.is_pinned():
            return None
        recording = self._recording
        block = self.new_id()
        recording.alloc(block, address, storage.nbytes(), stream, site, recording.sites.target(), True)
        self.pinned[address] = block
        self._ends.when_gone(storage, self._unpin, address, block)
        return block

    def _unpin(self, address, block):
        if self.pinned.get(address) == block:
            del self.pinned[address]
            if not self._recording.file.closed:
                self._recording.step("free", f',"b":{block}')

    def host_access(self, tensor, mode, name):
        """The CPU reads or writes `tensor`: a step if its memory is pinned."""
        if tensor.device.type != "cpu" or tensor.is_sparse:
            return
        block = self.pinned.get(tensor.untyped_storage().data_ptr())
        span = extent(tensor) if block is not None else None
        if span:
            self._recording.host(block, mode, *span, name)
