"""Tells when a storage is gone.

PyTorch 2.1 loses weak references to storages and fails on them at the next garbage collection, so there its own kind is asked
whenever somebody is about to write a step: a release then stands before the step that comes after it.
"""
import weakref

import torch

POLLED = tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 2)


class StorageEnds:
    def __init__(self, polled=POLLED):
        self.polled = polled
        self._watched = []

    def when_gone(self, storage, call, *args):
        """Call `call(*args)` once nobody holds the storage; not at the end of the process."""
        if self.polled:
            self._watched.append((storage._weak_ref(), call, args))
        else:
            weakref.finalize(storage, call, *args).atexit = False

    def poll(self):
        """Make the calls that are due, where they do not come by themselves."""
        if not self._watched:
            return
        storages = torch.UntypedStorage
        watched, self._watched = self._watched, []
        due = []
        for entry in watched:
            (due if storages._expired(entry[0]) else self._watched).append(entry)
        for reference, call, args in due:
            storages._free_weak_ref(reference)
            call(*args)
