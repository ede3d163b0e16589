"""Tells when a storage is gone.

PyTorch 2.1 loses weak references to storages and fails on them at the next garbage collection, so there its own kind is asked
whenever somebody is about to write a step: a release then stands before the step that comes after it.
"""
import collections
import weakref

import torch

POLLED = tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 2)
LATE = "PyTorch 2.1 does not tell when memory is dropped: a release stands at the step that comes after it, with that step's line."


class StorageEnds:
    def __init__(self, polled=POLLED):
        self.polled = polled
        # An entry is with one thread at a time: whoever looks at it has taken it out.
        self._watched = collections.deque()

    def when_gone(self, storage, call, *args):
        """Call `call(*args)` once nobody holds the storage; not at the end of the process."""
        if self.polled:
            self._watched.append((storage._weak_ref(), call, args))
        else:
            weakref.finalize(storage, call, *args).atexit = False

    def poll(self):
        """Make the calls that are due, where they do not come by themselves."""
        watched, storages, due = self._watched, torch.UntypedStorage, []
        for _ in range(len(watched)):
            try:
                entry = watched.popleft()
            except IndexError:  # another thread looks at the rest
                break
            (due if storages._expired(entry[0]) else watched).append(entry)
        for reference, call, args in due:
            storages._free_weak_ref(reference)
            call(*args)
