"""One recording: the ids of streams, threads, events, blocks and graphs, and the lines that steps become.

Both ways to run a program (on its GPU, on the meta device) write through this. It owns numbering and wording of lines, and
nothing of torch: devices are numbers, handles and addresses are numbers, times come from the clock it is given.
"""
import itertools
import os
import sys
import threading


class Recording:
    def __init__(self, file, sites, clock):
        self.file = file
        self.sites = sites
        self.clock = clock
        self._streams = {}
        self._stream_names = {}
        self._collective = set()
        self._threads = {}
        self._lent = None
        self._events = itertools.count()
        self._blocks = itertools.count()
        self._graphs = itertools.count()
        self._thread_ids = itertools.count()
        # Asked for the profiler's number of each new stream: (device, handle, id) → number or None.
        self.number_of = None
        # Called before each step.
        self.before_step = None
        # The site to fall back on when no frame of the program is on the stack: autograd's own threads during a backward.
        self.fallback_site = None

    # Tables

    def stream(self, device, handle):
        """The id of a stream, declared on first use."""
        got = self._streams.get((device, handle))
        return self._new_stream(device, handle) if got is None else got

    def _new_stream(self, device, handle):
        with self.file.lock:
            got = self._streams.get((device, handle))
            if got is not None:
                return got
            got = len(self._streams)
            names = self._stream_names.get((device, handle), ["default"] if handle == 0 else [])
            extra = ""
            if names:
                extra = f',"name":{self.file.string(names[0])}'
            number = None if self.number_of is None else self.number_of(device, handle, got)
            if number is not None:
                extra += f',"num":{number}'
            default = "true" if handle == 0 else "false"
            self.file.append(f'{{"k":"stream","id":{got},"device":{device},"handle":"{hex(handle)}","default":{default}{extra}}}')
            self._streams[(device, handle)] = got
            for alias in names[1:]:
                self.file.append(f'{{"k":"stream","id":{got},"alias":{self.file.string(alias)}}}')
            return got

    def name_stream(self, device, handle, name):
        """What the program calls a stream. The first name stays: pools hand the same stream out again, under another name."""
        key = (device, handle)
        if name is None or handle == 0 or name in self._stream_names.get(key, ()):
            return
        known = self._stream_names.setdefault(key, [])
        known.append(name)
        got = self._streams.get(key)
        if got is not None:
            what = "name" if len(known) == 1 else "alias"
            self.file.append(f'{{"k":"stream","id":{got},"{what}":{self.file.string(name)}}}')

    def mark_collective(self, stream):
        """A stream turns out to be a process group's own."""
        if stream not in self._collective:
            self._collective.add(stream)
            self.file.append(f'{{"k":"stream","id":{stream},"collective":true}}')

    def thread(self):
        """The id of the calling host thread. The autograd engine's threads count as the thread that called backward."""
        ident = threading.get_ident()
        got = self._threads.get(ident)
        if got is None:
            got = self._new_thread(ident)
        return got

    def _new_thread(self, ident):
        # `current_thread` would invent a Thread object for a thread that Python did not start, and keep it.
        known = threading._active.get(ident)
        if (known is None or isinstance(known, threading._DummyThread)) and self._lent is not None:
            return self._lent
        return self.declare_thread(ident, known.name if known is not None else "native thread")

    def declare_thread(self, ident, name, tid=None):
        with self.file.lock:
            got = next(self._thread_ids)
            tid = threading.get_native_id() if tid is None else tid
            self.file.append(f'{{"k":"thread","id":{got},"tid":{tid},"pid":{os.getpid()},"name":{self.file.string(name)}}}')
            self._threads[ident] = got
            return got

    def lend_thread(self):
        """Until it is given back, threads that Python does not know (autograd's) count as the calling one. Returns the one before."""
        before, self._lent = self._lent, self.thread()
        return before

    def unlend_thread(self, before):
        self._lent = before

    def new_event(self):
        return next(self._events)

    def new_block(self):
        return next(self._blocks)

    def new_graph(self):
        return next(self._graphs)

    # Steps

    def step(self, kind, body="", site=-1, time=None, following=None):
        """Write one step; `body` holds its own keys, each with a leading comma. `site` -1: look it up here."""
        if self.before_step is not None:
            self.before_step()
        if site == -1:
            site = self.sites.at(sys._getframe())[0]
        if time is None:
            time = self.clock()
        self.file.step(kind, f',"t":{time}{body}{self.where(site)}', following)

    def thread_key(self):
        """The id of the calling thread, where it stays the same; None: it has to be asked for each time."""
        ident = threading.get_ident()
        if ident not in self._threads and self._lent is not None and ident not in threading._active:
            return None
        return self.thread()

    def where(self, site):
        """The thread and site keys of a step."""
        if site is None:
            site = self.fallback_site
        thread = self._threads.get(threading.get_ident())
        if thread is None:
            thread = self.thread()
        if site is None:
            return f',"th":{thread}' if thread else ""
        return f',"th":{thread},"s":{site}' if thread else f',"s":{site}'

    def host(self, block, mode, low, high, name):
        """The CPU reads or writes bytes of a pinned block."""
        self.step("host", f',"b":{block},"acc":"{mode}","lo":{low},"hi":{high},"name":{self.file.string(name)}')

    def alloc(self, block, address, size, stream, site=-1, name=None, pinned=False, time=None):
        body = f',"b":{block},"addr":"{address:#x}","size":{size},"st":{stream}'
        if pinned:
            body += ',"mem":"pinned"'
        if name is not None:
            body += f',"name":{self.file.string(name)}'
        self.step("alloc", body, self.sites.here() if site == -1 else site, time)
