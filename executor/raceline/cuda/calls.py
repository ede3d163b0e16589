"""The program's own calls of torch.cuda, patched: what was meant, how long the host waited, what calls no callback.

A wait on an event that was never recorded reaches no callback, a query never does; `implicit` on a step is the absence of a
patched call that the program's own code made.
"""
import sys
import time

import torch

from raceline.cuda.cupti import event_calls
from raceline.cuda.triton_launches import TritonLaunches
from raceline.device_lines import ELSEWHERE
from raceline.patches import Patches
from raceline.rows import RECORD, WAIT

now = time.time_ns
# An event, its id and its handle.
NO_EVENT = None, None, None


class Calls:
    def __init__(self, session):
        self._session = session
        self._recording = session.recording
        self._local = session.local
        self._sites = session.recording.sites
        self._patches = Patches()

    def remove(self):
        self._patches.back()

    def install(self):
        self._events()
        self._streams()
        self._graphs()
        self._autograd()
        self._rest()

    def _stream_id(self, stream):
        return self._session.stream_of(stream.cuda_stream, stream.device_index)

    def _event_id(self, event):
        """The id of an event object: that of its handle, or its own until it is first recorded."""
        known = self._session.callbacks.events.get(event.cuda_event)
        if known is None:
            known = event.__dict__.get("_raceline_event")
            if known is None:
                known = event.__dict__["_raceline_event"] = self._recording.new_event()
        return known

    def _events(self):
        recording, local, sites = self._recording, self._local, self._sites
        events = self._session.callbacks.events
        Event = torch.cuda.Event
        plain_record, plain_wait, plain_query = Event.record, Event.wait, Event.query
        self._plain = Event, plain_record, plain_wait
        at, getframe = sites.at, sys._getframe

        def record(event, stream=None):
            thread = local.thread
            thread.naming = event.__dict__.get("_raceline_event")
            outer = thread.site
            if outer is None:
                thread.site = at(getframe(1))[0]
            thread.intent += 1
            try:
                plain_record(event, stream)
            finally:
                thread.intent -= 1
                thread.naming = None
                thread.site = outer

        def wait(event, stream=None):
            thread = local.thread
            if event.cuda_event:
                outer = thread.site
                if outer is None:
                    thread.site = at(getframe(1))[0]
                thread.intent += 1
                try:
                    plain_wait(event, stream)
                finally:
                    thread.intent -= 1
                    thread.site = outer
                return
            # Never recorded: no callback tells of it.
            plain_wait(event, stream)
            stream = torch.cuda.current_stream() if stream is None else stream
            recording.step("wait", f',"e":{self._event_id(event)},"st":{self._stream_id(stream)}', sites.here() if thread.site is None else thread.site)

        def query(event):
            done = plain_query(event)
            if done and event.cuda_event in events:
                recording.step("poll", f',"on":"event","e":{events[event.cuda_event]}')
            return done

        put = self._patches.put
        put(Event, "record", record)
        put(Event, "wait", wait)
        put(Event, "query", query)
        put(Event, "synchronize", self._waiting(Event.synchronize))

    def _waiting(self, plain):
        """A host wait with how long it took; the callback inside it says only that it was called."""
        session, recording, local, sites = self._session, self._recording, self._local, self._sites

        def call(*args, **kwargs):
            thread = local.thread
            if thread.sync is not None or session.quiet:
                return plain(*args, **kwargs)
            start = now()
            thread.sync = []
            try:
                return plain(*args, **kwargs)
            finally:
                bodies, thread.sync = thread.sync, None
                implicit = "" if sites.calls_directly() else ',"implicit":true'
                for body in bodies:
                    recording.step("sync", f'{body},"d":{now() - start}{implicit}', time=start - session.start_ns)

        return call

    def _streams(self):
        session, recording, local, sites = self._session, self._recording, self._local, self._sites
        Stream = torch.cuda.Stream
        plain_new, plain_query, plain_wait_stream = Stream.__new__, Stream.query, Stream.wait_stream
        Event, plain_record, plain_wait = self._plain
        events, stream_ids, put = session.callbacks.events, session.stream_ids, session.put
        at, getframe, thread_of, file = sites.at, sys._getframe, session.thread_of, recording.file
        # Their plain forms in C++ call back for each record and wait, which costs more than the driver's work.
        driver = event_calls()
        # Nobody else may miss them.
        told_of_records, told_of_waits = session.callbacks.told_of_records, session.callbacks.told_of_waits

        def new(cls, device=None, priority=0, **kwargs):
            stream = plain_new(cls, device, priority, **kwargs)
            if "stream_id" not in kwargs:
                session.know_stream(stream.cuda_stream, stream.device_index, sites.target())
            return stream

        def query(stream):
            done = plain_query(stream)
            if done:
                recording.step("poll", f',"on":"stream","st":{self._stream_id(stream)}')
            return done

        def wait_stream(stream, other):
            thread = local.thread
            outer = thread.site
            site = outer
            if site is None:
                site = at(getframe(1))[0]
            kept = type(stream) is Stream and type(other) is Stream and not session.capturing
            # What PyTorch's own does, with an event that is kept: a wait has what it needs of its record, so that making
            # one for each (and being told of its life) is spared. A capture has its own way with events.
            event, number, handle = thread.events.get(other.device_index, NO_EVENT) if kept else NO_EVENT
            if number is not None and driver is not None and thread.pending is None and not file.closed and not told_of_records and not told_of_waits:
                first, second = other.cuda_stream, stream.cuda_stream
                # To the driver a default stream is the current device's.
                if not (first and second) and not other.device_index == stream.device_index == torch._C._cuda_getDevice():
                    first = None
                source, target = stream_ids.get(first or -1 - other.device_index), stream_ids.get(second or -1 - stream.device_index)
                if first is not None and source is not None and target is not None:
                    # Both rows at once, which no callback writes. What fails is called again as PyTorch does, which says why.
                    record, wait = driver
                    recorded = now()
                    if not record(handle, first):
                        waited = now()
                        if not wait(second, handle, 0):
                            ident = thread.id if thread.id is not None else thread_of(thread)
                            if site is None:
                                site = session.nowhere()
                            put((RECORD, recorded, number, source, ident, site, 0, WAIT, waited, number, target, ident, site, 0))
                            return
            thread.site = site
            thread.intent += 1
            try:
                if kept:
                    if event is None:
                        event = Event()
                    plain_record(event, other)
                    plain_wait(event, stream)
                    thread.events[other.device_index] = event, events.get(event.cuda_event), event.cuda_event
                else:
                    plain_wait_stream(stream, other)
            finally:
                thread.intent -= 1
                thread.site = outer

        patch = self._patches.put
        patch(Stream, "__new__", new)
        patch(Stream, "query", query)
        patch(Stream, "wait_stream", wait_stream)
        patch(Stream, "synchronize", self._waiting(Stream.synchronize))
        patch(torch.cuda, "synchronize", self._waiting(torch.cuda.synchronize))

    def _graphs(self):
        session, recording = self._session, self._recording
        Graph = torch.cuda.CUDAGraph
        begin, end, replay = Graph.capture_begin, Graph.capture_end, Graph.replay

        def graph_id(graph):
            ident = graph.__dict__.get("_raceline_graph")
            if ident is None:
                ident = graph.__dict__["_raceline_graph"] = recording.new_graph()
            return ident

        def capture_begin(graph, *args, **kwargs):
            begin(graph, *args, **kwargs)
            session.capturing += 1
            graph.__dict__.pop("_raceline_graph", None)  # a second capture makes another graph
            recording.step("capture", f',"g":{graph_id(graph)},"st":{self._stream_id(torch.cuda.current_stream())}')

        def capture_end(graph, *args, **kwargs):
            session.capturing -= 1
            end(graph, *args, **kwargs)
            recording.step("captureEnd", f',"g":{graph_id(graph)}')

        def replayed(graph, *args, **kwargs):
            start = now()
            replay(graph, *args, **kwargs)
            after = now()
            # Its kernels run on streams of the graph's own.
            session.launched("replay", start, after, f',"g":{graph_id(graph)},"st":{self._stream_id(torch.cuda.current_stream())}', ELSEWHERE)

        put = self._patches.put
        put(Graph, "capture_begin", capture_begin)
        put(Graph, "capture_end", capture_end)
        put(Graph, "replay", replayed)

    def _autograd(self):
        session, recording = self._session, self._recording

        def wrap(plain):
            def call(*args, **kwargs):
                before = recording.fallback_site
                recording.fallback_site = recording.sites.here()
                lent = recording.lend_thread()
                session.backward += 1
                session.turn += 1
                try:
                    return plain(*args, **kwargs)
                finally:
                    session.backward -= 1
                    session.turn += 1
                    recording.unlend_thread(lent)
                    recording.fallback_site = before

            return call

        self._patches.put(torch.autograd, "backward", wrap(torch.autograd.backward))
        self._patches.put(torch.autograd, "grad", wrap(torch.autograd.grad))

    def _rest(self):
        session, recording = self._session, self._recording
        limit = recording.file.limit
        if session.level != "full":
            return
        if hasattr(torch.cuda, "_sleep"):
            sleep = torch.cuda._sleep
            label = recording.file.string("torch.cuda._sleep")

            def spin(cycles):
                start = now()
                sleep(cycles)
                after = now()
                stream = self._stream_id(torch.cuda.current_stream())
                session.launched("op", start, after, f',"st":{stream},"name":{label},"acc":[]', stream)

            self._patches.put(torch.cuda, "_sleep", spin)
        if hasattr(torch, "compile"):
            compile_ = torch.compile

            def compiled(*args, **kwargs):
                limit("torch.compile is skipped: under a recording compiled functions run operator by operator.")
                return compile_(*args, **kwargs)

            self._patches.put(torch, "compile", compiled)
        TritonLaunches(session, self._patches).install()
        self._saving()
        tolist, numpy = torch.Tensor.tolist, torch.Tensor.numpy
        blocks = session.blocks

        def to_list(tensor):
            if blocks.pinned:
                blocks.host_access(tensor, "r", "Tensor.tolist")
            return tolist(tensor)

        def to_numpy(tensor, *args, **kwargs):
            if blocks.pinned and tensor.device.type == "cpu" and tensor.untyped_storage().data_ptr() in blocks.pinned:
                limit("What NumPy does with a pinned tensor's memory is not seen.")
            return numpy(tensor, *args, **kwargs)

        self._patches.put(torch.Tensor, "tolist", to_list)
        self._patches.put(torch.Tensor, "numpy", to_numpy)

    def _saving(self):
        """torch.save reads storages in C++."""
        writer = getattr(torch._C, "PyTorchFileWriter", None)
        if writer is None:
            return
        write_record = writer.write_record
        session = self._session

        def write(archive, name, content, size):
            # Before PyTorch 2.3 the storage's address comes.
            address = content.data_ptr() if isinstance(content, torch.UntypedStorage) else content
            block = session.blocks.pinned.get(address) if isinstance(address, int) else None
            if block is not None and size:
                session.recording.host(block, "r", 0, size, "torch.save")
            return write_record(archive, name, content, size)

        self._patches.put(writer, "write_record", write)
