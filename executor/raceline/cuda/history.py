"""The allocator's own history: when a block that record_stream held back became free again; at the timeline level also
every allocation, since no operator is watched there. It is kept without stacks: these allocations have no place in the source.
"""
import collections

import torch

MOST_ENTRIES = 1_000_000


def start():
    torch.cuda.memory._record_memory_history("all", context=None, max_entries=MOST_ENTRIES)


class History:
    def __init__(self, session, allocations):
        """`allocations`: write them too, and not only when blocks came back."""
        self._session = session
        self._allocations = allocations

    def finish(self):
        devices = torch.cuda.memory._snapshot()["device_traces"]
        torch.cuda.memory._record_memory_history(enabled=None)
        for device, entries in enumerate(devices):
            if len(entries) >= MOST_ENTRIES:
                self._session.recording.file.limit("The allocator's history is longer than what is kept: when held-back blocks came back is not known.")
            elif self._allocations:
                self._write_all(device, entries)
            else:
                self._write_reusable(entries)

    def _write_reusable(self, entries):
        """Match allocations with ours by order and address; write where the allocator took its time to take a block back."""
        session = self._session
        waiting = collections.defaultdict(collections.deque)
        order = session.blocks.order
        for index in range(0, len(order), 2):
            waiting[order[index]].append(order[index + 1])
        current, requested = {}, {}
        for index, entry in enumerate(entries):
            address, action = entry["addr"], entry["action"]
            if action == "alloc":
                current[address] = waiting[address].popleft() if waiting[address] else None
            elif action == "free_requested":
                requested[address] = index
            elif action == "free_completed":
                block = current.get(address)
                if block is not None and index - requested.get(address, index) > 1 and "time_us" in entry:
                    session.recording.file.append(f'{{"k":"reusable","b":{block},"t":{entry["time_us"] * 1000 - session.start_ns}}}')

    def _write_all(self, device, entries):
        session = self._session
        recording = session.recording
        blocks = {}
        for entry in entries:
            address, action = entry["addr"], entry["action"]
            time = entry.get("time_us", 0) * 1000 - session.start_ns
            if action == "alloc":
                block = blocks[address] = recording.new_block()
                stream = recording.stream(device, entry.get("stream", 0))
                recording.alloc(block, address, entry["size"], stream, None, time=time)
            elif action == "free_requested" and address in blocks:
                recording.step("free", f',"b":{blocks[address]}', None, time)
            elif action == "free_completed" and address in blocks:
                recording.file.append(f'{{"k":"reusable","b":{blocks.pop(address)},"t":{time}}}')
        if blocks or entries:
            recording.file.limit("At this level allocations stand behind the other steps: only their times place them.")
