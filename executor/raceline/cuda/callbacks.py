"""PyTorch's GPU-trace callbacks: event records and waits, host waits, allocations and frees, in the order they are issued.

They see what Python does not: the autograd engine's own records and waits, collectives, waits inside operators. During an
operator of the dispatch mode the entries are held until its line is written (see watch), since its kernels are enqueued in
between. Callbacks cannot be taken back; they fall silent when the file is closed.
"""
import sys
import time

import torch
import torch.cuda._gpu_trace as gpu_trace

now = time.time_ns


class Callbacks:
    def __init__(self, session):
        self._session = session
        self._recording = session.recording
        self._local = session.local
        self._file = session.recording.file
        self._start = session.start_ns
        self._sites = session.recording.sites
        self._live = session.blocks.live
        # Event handle → event id. A handle whose event is deleted is handed out again: another life, another id.
        self.events = {}

    def install(self, memory):
        table = {"event_record": self.record, "event_wait": self.wait, "event_deletion": self.deletion, "event_synchronization": self.event_sync,
                 "stream_synchronization": self.stream_sync, "device_synchronization": self.device_sync}
        if memory:
            table.update(memory_allocation=self.allocation, memory_deallocation=self.deallocation)
        for kind, callback in table.items():
            if not _shortcut(kind, callback):
                getattr(gpu_trace, f"register_callback_for_{kind}")(callback)
        torch._C._activate_gpu_trace()

    def record(self, handle, stream):
        if self._file.closed:
            return
        thread = self._local.thread
        event = self.events.get(handle)
        if event is None:
            # An event that was waited for before its first record has its id already.
            event = thread.naming
            if event is None:
                event = self._recording.new_event()
            self.events[handle] = event
        implicit = "" if thread.intent else ',"implicit":true'
        self._put(thread, "record", f',"e":{event},"st":{self._session.stream_of(stream)}{implicit}')

    def wait(self, handle, stream):
        if self._file.closed:
            return
        event = self.events.get(handle)
        if event is None:
            self._file.limit("Events recorded before the recording began, or by another process, are not followed.")
            return
        thread = self._local.thread
        implicit = "" if thread.intent else ',"implicit":true'
        self._put(thread, "wait", f',"e":{event},"st":{self._session.stream_of(stream)}{implicit}')

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
        self._put(thread, "sync", body)

    def _put(self, thread, kind, body):
        pending = thread.pending
        if pending is None:
            self._recording.step(kind, body, -1 if thread.site is None else thread.site)
        else:
            pending.append((kind, body, now() - self._start))

    def allocation(self, address):
        if self._file.closed:
            return
        thread = self._local.thread
        pending = thread.pending
        if pending is None:
            self._session.outside_allocation(address)
        else:
            pending.append(("alloc", address, self._session.measured(thread) if thread.measure else 0))

    def deallocation(self, address):
        file = self._file
        if file.closed:
            return
        thread = self._local.thread
        block = self._live.pop(address, None)
        if thread.pending is not None:
            thread.pending.append(("free", address, block, now() - self._start))
        elif block is not None:
            time_ = now() - self._start
            site = self._sites.line(sys._getframe())
            if site is None:
                site = self._recording.fallback_site
            key = thread.key
            if key is None:
                key = thread.key = self._recording.thread_key()
                if key is None:
                    key = self._recording.where(None)
                    site = None
            where = key if site is None else f'{key},"s":{site}'
            with file.lock:
                file.append(f'{{"k":"free","n":{next(file._numbers)},"t":{time_},"b":{block.id}{where}}}')


class _Direct:
    """Stands in for a callback registry: one call less for each allocation. Callbacks of others still run."""

    __slots__ = ("fire_callbacks", "add_callback", "callback_list", "name")

    def __init__(self, registry, callback):
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

        self.fire_callbacks = fire


def _shortcut(kind, callback):
    name = "".join(part.capitalize() for part in kind.split("_")) + "Callbacks"
    registry = getattr(gpu_trace, name, None)
    if not all(hasattr(registry, part) for part in ("callback_list", "fire_callbacks", "add_callback", "name")):
        return False
    setattr(gpu_trace, name, _Direct(registry, callback))
    return True
