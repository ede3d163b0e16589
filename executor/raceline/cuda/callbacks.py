"""PyTorch's GPU-trace callbacks: event records and waits, host waits, allocations and frees, in the order they are issued.

They see what Python does not: the autograd engine's own records and waits, collectives, waits inside operators. During an
operator of the dispatch mode the entries are held until its row is written (see watch), since its kernels are enqueued in
between. Callbacks cannot be taken back; they fall silent when the file is closed.
"""
import sys
import time

import torch
import torch.cuda._gpu_trace as gpu_trace

from raceline.rows import FREE, RECORD, WAIT

now = time.time_ns


class Callbacks:
    def __init__(self, session):
        self._session = session
        self._recording = session.recording
        self._local = session.local
        self._file = session.recording.file
        # Event handle → event id. A handle whose event is deleted is handed out again: another life, another id.
        self.events = {}
        # The two that run for every tensor and every event are closures: what they need is at hand.
        self.allocation, self.deallocation = _memory(session)
        self.record, self.wait = _events(session, self.events)

    def install(self, memory):
        table = {"event_record": self.record, "event_wait": self.wait, "event_deletion": self.deletion, "event_synchronization": self.event_sync,
                 "stream_synchronization": self.stream_sync, "device_synchronization": self.device_sync}
        if memory:
            table.update(memory_allocation=self.allocation, memory_deallocation=self.deallocation)
        for kind, callback in table.items():
            if not _shortcut(kind, callback):
                getattr(gpu_trace, f"register_callback_for_{kind}")(callback)
        for kind in ("event_creation", "memory_allocation", "memory_deallocation", "stream_creation"):
            if kind not in table:
                _shortcut(kind, None)
        torch._C._activate_gpu_trace()

    def deletion(self, handle):
        self.events.pop(handle, None)

    def event_sync(self, handle):
        event = self.events.get(handle)
        if event is not None:
            self._sync(f',"on":"event","e":{event}')

    def stream_sync(self, stream):
        self._sync(f',"on":"stream","st":{self._session.stream_of(stream)}')

    def device_sync(self):
        self._sync(f',"on":"device","device":{torch._C._cuda_getDevice()}')

    def _sync(self, body):
        if self._file.closed or self._session.quiet:
            return
        thread = self._local.thread
        if thread.sync is not None:
            thread.sync.append(body)  # a patched call is active: it adds how long the host waited
            return
        if not thread.intent:
            body += ',"implicit":true'
        if thread.pending is None:
            self._recording.step("sync", body, -1 if thread.site is None else thread.site)
        else:
            thread.pending.append(("sync", body, self._recording.clock()))


def _memory(session):
    file, local, live = session.recording.file, session.local, session.blocks.live
    put, line, thread_of = file.rows.extend, session.recording.sites.line, session.thread_of
    getframe = sys._getframe

    def allocation(address):
        thread = local.thread
        pending = thread.pending
        if pending is not None:
            pending.append(("alloc", address, session.measured(thread) if thread.measure else 0))
        elif not file.closed:
            session.outside_allocation(address)

    def deallocation(address):
        block = live.pop(address, None)
        thread = local.thread
        if thread.pending is not None:
            thread.pending.append(("free", address, block, now()))
        elif block is not None and not file.closed:
            site = line(getframe(1))
            if site is None:
                site = session.nowhere()
            put((FREE, now(), block, thread.id if thread.id is not None else thread_of(thread), site))

    return allocation, deallocation


def _events(session, events):
    file, local, recording, ids = session.recording.file, session.local, session.recording, session.stream_ids
    put, at, thread_of, stream_of, new_event = file.rows.extend, recording.sites.at, session.thread_of, session.stream_of, recording.new_event
    getframe = sys._getframe

    def step(kind, thread, event, stream):
        number = ids.get(stream)
        if number is None:
            number = stream_of(stream)
        pending = thread.pending
        if pending is not None:
            pending.append((kind, event, number, not thread.intent, now()))
            return
        site = thread.site
        if site is None:
            site = at(getframe(2))[0]
            if site is None:
                site = session.nowhere()
        put((kind, now(), event, number, thread.id if thread.id is not None else thread_of(thread), site, 0 if thread.intent else 1))

    def record(handle, stream):
        if file.closed:
            return
        thread = local.thread
        event = events.get(handle)
        if event is None:
            # An event that was waited for before its first record has its id already.
            event = thread.naming
            if event is None:
                event = new_event()
            events[handle] = event
        step(RECORD, thread, event, stream)

    def wait(handle, stream):
        if file.closed:
            return
        event = events.get(handle)
        if event is None:
            file.limit("Events recorded before the recording began, or by another process, are not followed.")
            return
        step(WAIT, local.thread, event, stream)

    return record, wait


# Callbacks with one argument that run often.
ONE = {"memory_allocation", "memory_deallocation", "event_deletion"}


class _Direct:
    """Stands in for a callback registry: one call less for each allocation. Callbacks of others still run."""

    __slots__ = ("fire_callbacks", "add_callback", "callback_list", "name")

    def __init__(self, registry, callback, name):
        others = registry.callback_list
        self.callback_list, self.name, self.add_callback = others, registry.name, registry.add_callback
        fire_others = registry.fire_callbacks

        def fire(*args):
            try:
                callback(*args)
            except Exception:  # an exception would end the program inside C++
                pass
            if others:
                fire_others(*args)

        def silent(*args):
            if others:
                fire_others(*args)

        def fire_one(one):
            try:
                callback(one)
            except Exception:
                pass
            if others:
                fire_others(one)

        self.fire_callbacks = silent if callback is None else fire_one if name in ONE else fire


def _shortcut(kind, callback):
    name = "".join(part.capitalize() for part in kind.split("_")) + "Callbacks"
    registry = getattr(gpu_trace, name, None)
    if not all(hasattr(registry, part) for part in ("callback_list", "fire_callbacks", "add_callback", "name")):
        return False
    setattr(gpu_trace, name, _Direct(registry, callback, kind))
    return True
