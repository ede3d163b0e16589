"""Host threads of the program: who starts and joins whom, and the recorder's modes in each of them.

PyTorch's modes belong to a thread, so every thread that the program starts enters them anew. Threads that Python does not
start (autograd's) inherit the modes from their caller by themselves.
"""
import _thread
import threading


class HostThreads:
    def __init__(self, recording, modes):
        self._recording = recording
        # A function that returns a context manager: the recorder's modes for one thread.
        self._modes = modes
        self._start = threading.Thread.start
        self._join = threading.Thread.join
        self._start_bare = _thread.start_new_thread

    def install(self):
        watcher = self
        plain_start, plain_join = self._start, self._join

        def start(thread):
            if getattr(thread, "_raceline", False):
                return plain_start(thread)
            recording = watcher._recording
            body = thread.run
            forked = threading.Event()

            def run():
                # The child's first step must not come before the line that says who started it.
                forked.wait(10)
                try:
                    with watcher._modes():
                        body()
                finally:
                    recording.file.flush()
                    thread.__dict__.pop("run", None)

            thread.run = run
            try:
                plain_start(thread)
                thread._raceline_id = recording.declare_thread(thread.ident, thread.name, thread.native_id)
                recording.step("fork", f',"child":{thread._raceline_id}')
            except BaseException:
                thread.__dict__.pop("run", None)
                raise
            finally:
                forked.set()

        def join(thread, timeout=None):
            plain_join(thread, timeout)
            child = getattr(thread, "_raceline_id", None)
            if child is not None and not thread.is_alive():
                watcher._recording.step("join", f',"child":{child}')

        threading.Thread.start = start
        threading.Thread.join = join
        _thread.start_new_thread = _thread.start_new = self._bare

    def _bare(self, function, args, kwargs=None):
        """A thread without an object: it declares itself, and nobody joins it."""
        declared, forked = threading.Event(), threading.Event()
        recording, child = self._recording, []

        def run(*args, **kwargs):
            child.append(recording.declare_thread(threading.get_ident(), getattr(function, "__name__", "thread")))
            declared.set()
            forked.wait(10)
            try:
                with self._modes():
                    function(*args, **kwargs)
            finally:
                recording.file.flush()

        ident = self._start_bare(run, args, *([] if kwargs is None else [kwargs]))
        if declared.wait(10):
            recording.step("fork", f',"child":{child[0]}')
        forked.set()
        return ident

    def remove(self):
        threading.Thread.start = self._start
        threading.Thread.join = self._join
        _thread.start_new_thread = _thread.start_new = self._start_bare
