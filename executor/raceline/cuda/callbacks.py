"""PyTorch's GPU-trace callbacks: event records and waits, host waits, allocations and frees, in the order they are issued.

They see what Python does not: the autograd engine's own records and waits, collectives, waits inside operators. During an
operator of the dispatch mode the entries are held until its row is written (see watch), since its kernels are enqueued in
between. Callbacks cannot be taken back; they fall silent when the file is closed.
"""
import sys
import time

import torch

try:
    import torch.cuda._gpu_trace as gpu_trace

    PREFIX, activate = "", torch._C._activate_gpu_trace
except ImportError:  # before PyTorch 2.3
    import torch.utils._cuda_trace as gpu_trace

    PREFIX, activate = "CUDA", torch._C._activate_cuda_trace

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
        # Those that run for every tensor and every event are closures: what they need is at hand.
        self.allocation, self.deallocation = _memory(session)
        self.record, self.wait, self.deletion = _events(session, self.events)
        # Lists that have something in them while somebody besides this recording is told of records, and of waits.
        self.told_of_records, self.told_of_waits = (getattr(_registry(kind), "callback_list", ()) for kind in ("event_record", "event_wait"))

    def install(self, memory):
        table = {"event_record": self.record, "event_wait": self.wait, "event_deletion": self.deletion, "event_synchronization": _guarded(self.event_sync),
                 "stream_synchronization": _guarded(self.stream_sync), "device_synchronization": _guarded(self.device_sync)}
        if memory:
            table.update(memory_allocation=self.allocation, memory_deallocation=self.deallocation)
        for kind, callback in table.items():
            if not _shortcut(kind, callback):
                getattr(gpu_trace, f"register_callback_for_{PREFIX.lower()}{'_' if PREFIX else ''}{kind}")(callback)
        for kind in ("event_creation", "memory_allocation", "memory_deallocation", "stream_creation"):
            if kind not in table:
                _shortcut(kind, bool)  # asked for all the same: a call of no Python is the least
        activate()

    @staticmethod
    def remove():
        """Callbacks stay for good: they become calls of nothing."""
        for name, registry in vars(gpu_trace).items():
            if isinstance(registry, _Direct):
                registry.silence()

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


def _nothing(*_):
    pass


# An exception in a callback would end the program inside C++, so each holds its own.


def _memory(session):
    file, local, live = session.recording.file, session.local, session.blocks.live
    put, line, thread_of = file.rows.extend, session.recording.sites.line, session.thread_of
    getframe = sys._getframe

    def allocation(address):
        try:
            thread = local.thread
            pending = thread.pending
            if pending is not None:
                pending.append(("alloc", address, session.measured(thread)) if thread.measure else address)
            elif not file.closed:
                session.outside_allocation(address)
        except Exception:
            pass

    def deallocation(address):
        try:
            block = live.pop(address, None)
            thread = local.thread
            if thread.pending is not None:
                thread.pending.append(("free", address, block, now()))
            elif block is not None and not file.closed:
                site = line(getframe(1))
                if site is None:
                    site = session.nowhere()
                put((FREE, now(), block, thread.id if thread.id is not None else thread_of(thread), site))
        except ValueError:  # no frame: a thread that is not Python's
            put((FREE, now(), block, thread_of(thread), session.nowhere()))
        except Exception:
            pass

    return allocation, deallocation


def _events(session, events):
    file, local, ids = session.recording.file, session.local, session.stream_ids
    put, thread_of, stream_of, new_event = file.rows.extend, session.thread_of, session.stream_of, session.recording.new_event

    def issue(kind, event, stream, thread):
        number = ids.get(stream)
        if number is None:
            number = stream_of(stream)
        if thread.pending is not None:
            thread.pending.append((kind, event, number, not thread.intent, now()))
        else:
            site = thread.site
            if site is None:
                site = _here(session)
            put((kind, now(), event, number, thread.id if thread.id is not None else thread_of(thread), site, 0 if thread.intent else 1))

    def record(handle, stream):
        try:
            thread = local.thread
            if file.closed:
                return
            event = events.get(handle)
            if event is None:
                # An event that was waited for before its first record has its id already.
                event = thread.naming
                if event is None:
                    event = new_event()
                events[handle] = event
            issue(RECORD, event, stream, thread)
        except Exception:
            pass

    def wait(handle, stream):
        try:
            thread = local.thread
            if file.closed:
                return
            event = events.get(handle)
            if event is None:
                file.limit("Events recorded before the recording began, or by another process, are not followed.")
                return
            issue(WAIT, event, stream, thread)
        except Exception:
            pass

    def deletion(handle):
        events.pop(handle, None)

    return record, wait, deletion


def _here(session):
    """The site of a call that nobody announced, such as one of the autograd engine's."""
    site = session.recording.sites.at(sys._getframe())[0]
    return session.nowhere() if site is None else site


def _guarded(callback):
    def call(*args):
        try:
            callback(*args)
        except Exception:
            pass

    return call


class _Direct:
    """Stands in for a callback registry: nothing but the callback itself, as long as nobody else has any."""

    __slots__ = ("fire_callbacks", "callback_list", "name", "_registry", "_callback")

    def __init__(self, registry, callback):
        self.callback_list, self.name = registry.callback_list, registry.name
        self._registry, self._callback = registry, callback
        self._choose()

    def add_callback(self, callback):
        self._registry.add_callback(callback)
        self._choose()

    def silence(self):
        self._callback = _nothing
        self._choose()

    def listen(self, callback):
        self._callback = callback
        self._choose()

    def _choose(self):
        ours, fire_others = self._callback, self._registry.fire_callbacks

        def all_of_them(*args):
            ours(*args)
            fire_others(*args)

        self.fire_callbacks = all_of_them if self.callback_list else ours


def _name(kind):
    return PREFIX + "".join(part.capitalize() for part in kind.split("_")) + "Callbacks"


def _registry(kind):
    return getattr(gpu_trace, _name(kind), None)


def _shortcut(kind, callback):
    registry = _registry(kind)
    if isinstance(registry, _Direct):  # a recording before this one
        registry.listen(callback)
        return True
    if not all(hasattr(registry, part) for part in ("callback_list", "fire_callbacks", "add_callback", "name")):
        return False
    setattr(gpu_trace, _name(kind), _Direct(registry, callback))
    return True
