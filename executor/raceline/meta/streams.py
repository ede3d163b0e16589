"""Streams, events and graphs as the program sees them, on the modelled device.

Owns what their calls mean for order and the modelled clock, and the steps they write. The classes are made per session so
that the stand-ins carry no global state.
"""
import threading

PRIORITY_POOLS = (0, -1, -2, -3, -4, -5)
POOL_SIZE = 32


class Current(threading.local):
    """The current stream of each host thread: a new thread starts on the default stream."""

    stream = None


def make(session):
    """The stand-in classes for torch.cuda.Stream, Event, CUDAGraph and the functions that need them."""
    import torch

    recording, device = session.recording, session.device
    current = Current()
    created = dict.fromkeys(PRIORITY_POOLS, 0)

    class Stream:
        def __init__(self, device=None, priority=0, _handle=None, **_):
            if _handle is None:
                pool = max(min(0, priority), -5)
                slot = created[pool] % POOL_SIZE
                created[pool] += 1
                _handle = 0x5000_0000 + 0x1000 * -pool + 0x10 * (slot + 1)
                recording.name_stream(0, _handle, recording.sites.target())
            self.cuda_stream = _handle
            self.stream_id = _handle
            self.priority = priority
            self.device = torch.device("cuda", 0)
            self.device_index = 0
            self.device_type = 1
            self._outer = []

        @staticmethod
        def priority_range():
            return PRIORITY_POOLS[0], PRIORITY_POOLS[-1]

        @property
        def native_handle(self):
            return self.cuda_stream

        def wait_event(self, event):
            event.wait(self)

        def wait_stream(self, stream):
            self.wait_event(stream.record_event())

        def record_event(self, event=None):
            if event is None:
                event = Event()
            event.record(self)
            return event

        def query(self):
            time = device.call()
            done = device.tail(self.cuda_stream) <= time
            if done:
                recording.step("poll", f',"on":"stream","st":{session.stream_id(self.cuda_stream)}')
            return done

        def synchronize(self):
            time = device.call()
            waited = device.block_host(device.tail(self.cuda_stream))
            recording.step("sync", f',"on":"stream","st":{session.stream_id(self.cuda_stream)},"d":{waited}', time=time)

        def is_capturing(self):
            return session.capturing is not None

        def __eq__(self, other):
            return isinstance(other, Stream) and other.cuda_stream == self.cuda_stream

        def __hash__(self):
            return hash((self.cuda_stream, 0))

        def __repr__(self):
            return f"<torch.cuda.Stream device=cuda:0 cuda_stream={self.cuda_stream:#x}>"

        def __enter__(self):
            self._outer.append(current_stream())
            set_stream(self)
            return self

        def __exit__(self, *_):
            set_stream(self._outer.pop())

    class ExternalStream(Stream):
        def __init__(self, stream_ptr, device=None, **_):
            super().__init__(_handle=stream_ptr or 0x6000_0000)

    class Event:
        def __init__(self, device=None, enable_timing=False, blocking=False, interprocess=False, external=False, **_):
            if isinstance(device, bool):  # torch.cuda.Event takes enable_timing first
                enable_timing = device
            self._id = None
            self._done_at = None
            self.enable_timing = enable_timing
            self.device = torch.device("cuda", 0)

        @property
        def event_id(self):
            return self._name()

        @property
        def cuda_event(self):
            return 0 if self._done_at is None else 0x7000_0000 + self._name()

        def _name(self):
            if self._id is None:
                self._id = recording.new_event()
            return self._id

        def record(self, stream=None):
            stream = current_stream() if stream is None else stream
            time = device.call()
            start = device.run(stream.cuda_stream, 0)
            self._done_at = start
            recording.step("record", f',"e":{self._name()},"st":{session.stream_id(stream.cuda_stream)}', time=time)

        def wait(self, stream=None):
            stream = current_stream() if stream is None else stream
            time = device.call()
            if self._done_at is not None:
                device.wait(stream.cuda_stream, self._done_at)
            recording.step("wait", f',"e":{self._name()},"st":{session.stream_id(stream.cuda_stream)}', time=time)

        def query(self):
            time = device.call()
            done = self._done_at is None or self._done_at <= time
            if done and self._done_at is not None:
                recording.step("poll", f',"on":"event","e":{self._name()}')
            return done

        def synchronize(self):
            time = device.call()
            waited = device.block_host(self._done_at or 0)
            recording.step("sync", f',"on":"event","e":{self._name()},"d":{waited}', time=time)

        def elapsed_time(self, end_event):
            if self._done_at is None or end_event._done_at is None:
                raise ValueError("Both events must be recorded before calculating elapsed time.")
            return (end_event._done_at - self._done_at) / 1e6

        def ipc_handle(self):
            raise RuntimeError("Events cannot be shared between processes on the meta device.")

    class CUDAGraph:
        def __init__(self, keep_graph=False):
            self._id = recording.new_graph()
            self._work = 0
            self._stream = None

        def __new__(cls, keep_graph=False):
            return super().__new__(cls)

        def capture_begin(self, pool=None, capture_error_mode="global", **_):
            self._stream = current_stream()
            time = device.call()
            session.capturing = self
            self._started = device.tail(self._stream.cuda_stream)
            recording.step("capture", f',"g":{self._id},"st":{session.stream_id(self._stream.cuda_stream)}', time=time)

        def capture_end(self):
            time = device.call()
            session.capturing = None
            recording.step("captureEnd", f',"g":{self._id}', time=time)

        def add(self, duration):
            self._work += duration

        def instantiate(self):
            pass

        def replay(self):
            time = device.call()
            stream = current_stream().cuda_stream
            start = device.run(stream, self._work)
            ident = session.stream_id(stream)
            recording.step("replay", f',"g":{self._id},"st":{ident}', time=time, following=session.device_slice(ident, start, self._work, "graph", "kernel"))

        def reset(self):
            pass

        def pool(self):
            return (0, 1)

        def enable_debug_mode(self):
            pass

        def debug_dump(self, path):
            pass

    class graph:
        """torch.cuda.graph: captures what runs inside, on a stream of its own unless one is given."""

        default_stream = None

        def __init__(self, cuda_graph, pool=None, stream=None, capture_error_mode="global", **_):
            if graph.default_stream is None:
                graph.default_stream = Stream()
            self._graph = cuda_graph
            self._context = use(stream if stream is not None else graph.default_stream)
            self.pool = pool
            self.capture_error_mode = capture_error_mode

        def __enter__(self):
            synchronize()
            self._context.__enter__()
            self._graph.capture_begin()

        def __exit__(self, *failure):
            self._graph.capture_end()
            self._context.__exit__(*failure)

    class use:
        """torch.cuda.stream: a context that makes a stream current; None changes nothing."""

        def __init__(self, stream):
            self.stream = stream
            self._outer = []

        def __enter__(self):
            if self.stream is not None:
                self._outer.append(current_stream())
                set_stream(self.stream)
            return self.stream

        def __exit__(self, *_):
            if self.stream is not None:
                set_stream(self._outer.pop())

    default = Stream(_handle=0)

    def current_stream(device=None):
        return current.stream or default

    def default_stream(device=None):
        return default

    def set_stream(stream):
        if stream is not None:
            current.stream = stream

    def synchronize(device_=None):
        time = device.call()
        waited = device.block_host(device.idle_at())
        recording.step("sync", f',"on":"device","device":0,"d":{waited}', time=time)

    return {
        "Stream": Stream, "ExternalStream": ExternalStream, "Event": Event, "CUDAGraph": CUDAGraph, "graph": graph, "stream": use, "StreamContext": use,
        "current_stream": current_stream, "default_stream": default_stream, "set_stream": set_stream, "synchronize": synchronize,
    }
