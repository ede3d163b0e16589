"""The recorder's GPU side on a CPU that plays the GPU (fake_cuda), and the join with a profiler's trace."""
import io
import os
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

try:
    import torch
except ImportError:
    torch = None

from harness import NEEDS_TORCH, TORCH_PYTHON, Trace


@unittest.skipUnless(torch is None and TORCH_PYTHON, "PyTorch is here, the tests below run themselves")
class Elsewhere(unittest.TestCase):
    def test_in_the_interpreter_that_has_torch(self):
        done = subprocess.run([TORCH_PYTHON, "-m", "unittest", "test_gpu_side"], cwd=HERE, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


@unittest.skipUnless(torch, NEEDS_TORCH)
class Lines(unittest.TestCase):
    def record(self, body):
        import fake_cuda

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.raceline")
            with fake_cuda.recording(path) as (session, state):
                body(session, state)
            trace = Trace(path)
        trace.check(self)
        return trace

    def test_accesses(self):
        def body(session, state):
            x = torch.zeros(8, 4)
            x[2:6].fill_(1)
            y = x @ torch.ones(4, 4)
            torch._foreach_add_([x, y], 1.0)
            torch.add(x, x, out=x)
            x * 2.0

        trace = self.record(body)
        ops = {trace.name(r): r["acc"] for r in trace.of("op")}
        self.assertEqual(ops["aten::fill_"], [[0, 32, 96, "w"]])
        self.assertEqual(ops["aten::mm"], [[0, 0, 128, "r"], [1, 0, 64, "r"], [2, 0, 128, "w"]])
        self.assertEqual(ops["aten::_foreach_add_"], [[0, 0, 128, "rw"], [2, 0, 128, "rw"]])
        self.assertEqual(ops["aten::add"], [[0, 0, 128, "r"], [0, 0, 128, "r"], [0, 0, 128, "w"]])
        self.assertEqual([m for *_, m in ops["aten::mul"]], ["r", "w"])
        self.assertFalse(any("blind" in r for r in trace.of("op")))

    def test_what_an_operator_is_called_with_stands_at_the_first_call_from_a_place(self):
        def body(session, state):
            for size in (2, 2, 3):
                x = torch.ones(size, 4)
                x.add_(1.5)
            torch.cat([x, x[:1]], 0)
            x.to(torch.float64)
            x.sum((0, 1))

        trace = self.record(body)
        given = {}
        for row in trace.of("op"):
            given.setdefault(trace.name(row), []).append(row.get("in"))
        self.assertEqual(given["aten::add_"], [[["float32", [2, 4]], "1.5"], None, None])
        self.assertEqual(given["aten::cat"], [[[["float32", [3, 4]], ["float32", [1, 4]]]]])
        self.assertEqual(given["aten::_to_copy"][0][0], ["float32", [3, 4]])
        self.assertEqual(given["aten::sum"][0][:2], [["float32", [3, 4]], "[0, 1]"])

    def test_streams_and_names(self):
        def body(session, state):
            session.know_stream(0x10, 0, "side")
            state.stream = 0x10
            made = torch.zeros(4)
            del made

        trace = self.record(body)
        self.assertEqual(trace.steps(), ["alloc on side", "op aten::zeros on side", "free"])
        self.assertEqual(trace.name(trace.of("alloc")[0]), "made")

    def test_a_transposed_whole_and_a_part(self):
        def body(session, state):
            x = torch.zeros(4, 2)
            x.t().add_(1)
            x.t()[:1].add_(1)

        self.assertEqual([r["acc"] for r in self.record(body).of("op")][1:], [[[0, 0, 32, "rw"]], [[0, 0, 28, "rw"]]])

    def test_copies_within_a_device(self):
        def body(session, state):
            x = torch.zeros(4)
            y = x.to(torch.float64)
            y.copy_(x)

        copies = self.record(body).of("op")[1:]
        self.assertEqual([(r["copy"], r["acc"]) for r in copies], [("d2d", [[0, 0, 16, "r"], [1, 0, 32, "w"]]), ("d2d", [[1, 0, 32, "w"], [0, 0, 16, "r"]])])

    def test_gradients_on_one_stream_are_not_kept(self):
        def body(session, state):
            from raceline.cuda.calls import Calls

            calls = Calls(session)
            calls._autograd()
            try:
                w = torch.ones(4, 4, requires_grad=True)
                ((torch.ones(4, 4) @ w).relu() * 2).sum().backward()
            finally:
                calls.remove()

        trace = self.record(body)
        self.assertEqual(trace.of("recordStream"), [])
        self.assertEqual({r.get("th", 0) for r in trace.of("op")}, {0}, "autograd's thread counts as the caller")

    def test_inference_mode(self):
        """Operators that are made of others come whole there: their parts are what runs."""

        def body(session, state):
            with torch.inference_mode():
                x = torch.zeros(4, 4)
                x.to(torch.float64)
                torch.nn.functional.linear(x, x)
                x.t().contiguous()

        trace = self.record(body)
        self.assertEqual([trace.name(r) for r in trace.of("op")], ["aten::zeros", "aten::_to_copy", "aten::mm", "aten::clone"])
        self.assertEqual(trace.of("op")[1]["acc"], [[0, 0, 64, "r"], [1, 0, 128, "w"]])

    def test_constants_of_a_traced_function_come_as_numbers(self):
        def body(session, state):
            x = torch.zeros(4)
            torch.jit.trace(lambda x: x + 1, x, check_trace=False)(x)

        trace = self.record(body)
        self.assertEqual([trace.name(r) for r in trace.of("op") if r["acc"]][-1], "aten::add")

    def test_an_operator_that_fails_leaves_no_line(self):
        def body(session, state):
            x = torch.zeros(2, 2)
            with self.assertRaises(RuntimeError):
                x @ torch.zeros(3, 3)
            x.add_(1)

        trace = self.record(body)
        self.assertEqual([trace.name(r) for r in trace.of("op")], ["aten::zeros", "aten::zeros", "aten::add_"])

    def test_event_handles_are_lives(self):
        def body(session, state):
            calls = session.callbacks
            calls.record(0xE0, 0x10)
            calls.wait(0xE0, 0)
            calls.deletion(0xE0)
            calls.record(0xE0, 0x20)
            calls.wait(0xE0, 0)

        trace = self.record(body)
        self.assertEqual([r["e"] for r in trace.of("record", "wait")], [0, 0, 1, 1])
        self.assertTrue(all(r["implicit"] for r in trace.of("record", "wait")))

    def test_what_happens_inside_an_operator(self):
        """Before its kernels: allocations, scratch memory and the first record and wait; after them the rest."""

        def body(session, state):
            watch = torch.utils._python_dispatch._get_current_dispatch_mode()
            x = torch.zeros(4)
            session.callbacks.record(0xE0, 0)
            pending = [("alloc", 0x100, 64), (RECORD, 0, 0, True, 1), (WAIT, 0, 0, True, 2), ("free", 0x100, None, 3),
                       (RECORD, 0, 0, True, 4), ("sync", ',"on":"stream","st":0', 5), ("free", x.data_ptr(), session.blocks.live[x.data_ptr()], 6)]
            stream, after, born = watch._settle(pending, {}, 0, session.start_ns, session.local.thread)
            self.assertEqual([kind for kind, *_ in after], [RECORD, "sync", "free"])
            self.assertEqual(born, {})
            watch._after(after[:2], None, session.local.thread)

        from raceline.rows import RECORD, WAIT

        trace = self.record(body)
        self.assertEqual([r["k"] for r in trace.rows if "n" in r][3:9], ["alloc", "record", "wait", "free", "record", "sync"])

    def test_wait_stream_is_a_record_and_a_wait(self):
        """With the driver's own calls the first one is told by the callbacks, the ones after it by the patched call alone."""
        both = ["record", "wait"]
        self.assertEqual(self.wait_stream(None), 4 * both)
        self.assertEqual(self.wait_stream(lambda told: (lambda *_: told.append("mark") or 0, lambda *_: told.append("await") or 0)), both + 3 * ["mark", "await"])
        # What the driver refuses is asked of PyTorch.
        self.assertEqual(self.wait_stream(lambda told: (lambda *_: told.append("mark") or 400, None)), both + 3 * ["mark", *both])
        # Somebody else who is told of records, or of waits, is told of these as well.
        for listening in ("told_of_records", "told_of_waits"):
            self.assertEqual(self.wait_stream(lambda told: (lambda *_: told.append("mark") or 0, lambda *_: told.append("await") or 0), listening), 4 * both)

    def wait_stream(self, driver, listening=None):
        """Checks what four calls write, and returns what they call."""
        told = []

        def body(session, state):
            from raceline.cuda import calls as module
            from raceline.cuda.calls import Calls

            class Event:
                cuda_event = 0

                def record(self, stream=None):
                    self.cuda_event = 0xE0
                    told.append("record")
                    session.callbacks.record(self.cuda_event, stream.cuda_stream)

                def wait(self, stream=None):
                    told.append("wait")
                    session.callbacks.wait(self.cuda_event, stream.cuda_stream)

                def query(self):
                    return True

                def synchronize(self):
                    pass

            class Stream:
                device_index = 0

                def __new__(cls, handle):
                    stream = object.__new__(cls)
                    stream.cuda_stream = handle
                    return stream

                def query(self):
                    return True

                def wait_stream(self, other):
                    raise AssertionError("only in captures")

                def synchronize(self):
                    pass

            a, b = Stream(0x10), Stream(0x20)
            saved = torch.cuda.Stream, torch.cuda.Event
            torch.cuda.Stream, torch.cuda.Event = Stream, Event
            event_calls, module.event_calls = module.event_calls, lambda: driver and driver(told)
            if listening:
                setattr(session.callbacks, listening, [print])
            calls = Calls(session)
            try:
                calls._events()
                calls._streams()
                for _ in range(3):
                    a.wait_stream(b)
                b.wait_stream(a)
                session.callbacks.wait(0xE0, 0x10)
            finally:
                calls.remove()
                module.event_calls = event_calls
                torch.cuda.Stream, torch.cuda.Event = saved

        trace = self.record(body)
        handle = {r["id"]: r["handle"] for r in trace.of("stream") if "handle" in r}
        steps = [(r["k"], r["e"], handle[r["st"]], r.get("implicit", False)) for r in trace.of("record", "wait")]
        turn = [("record", 0, "0x20", False), ("wait", 0, "0x10", False)]
        back = [("record", 0, "0x10", False), ("wait", 0, "0x20", False)]
        self.assertEqual(steps, 3 * turn + back + [("wait", 0, "0x10", True)])
        self.assertEqual(len({r["s"] for r in trace.of("record", "wait")[:6]}), 1)
        return told

    def test_whose_frames_are_the_program_s(self):
        from raceline.sites import Sites

        sites = Sites(None, "/env/site-packages/torch")
        mine = {name: sites._is_user(name) for name in ("/home/a/train.py", "/env/site-packages/kernels/softmax.py", "/env/site-packages/torch/_ops.py", "/env/site-packages/triton/runtime/jit.py")}
        self.assertEqual([name for name, user in mine.items() if user], ["/home/a/train.py", "/env/site-packages/kernels/softmax.py"])

    def test_a_triton_without_a_call_to_watch(self):
        """As 2.1 has none: the recording goes on, and says what it does not see."""
        import types
        from unittest import mock

        jit = types.ModuleType("triton.runtime.jit")
        jit.JITFunction = type("JITFunction", (), {})

        def body(session, state):
            from raceline.cuda.triton_launches import TritonLaunches
            from raceline.patches import Patches

            with mock.patch.dict(sys.modules, {"triton": types.ModuleType("triton"), "triton.runtime": types.ModuleType("triton.runtime"), "triton.runtime.jit": jit}):
                TritonLaunches(session, Patches()).install()

        self.assertTrue(any("Triton" in limit for limit in self.record(body).limits))

    def test_storages_that_are_asked_whether_they_are_gone(self):
        """As on PyTorch 2.1, whose storages cannot be referred to weakly."""
        from raceline.storage_ends import StorageEnds

        gone = []
        ends = StorageEnds(polled=True)
        x, y = torch.ones(4), torch.ones(4)
        part = x[1:]
        ends.when_gone(x.untyped_storage(), gone.append, "x")
        ends.when_gone(y.untyped_storage(), gone.append, "y")
        ends.poll()
        self.assertEqual(gone, [])
        del x, y
        ends.poll()
        self.assertEqual(gone, ["y"], "a view still holds the other")
        del part
        ends.poll()
        ends.poll()
        self.assertEqual(gone, ["y", "x"])

    def test_scratch_memory_is_measured_until_two_calls_agree(self):
        def body(session, state):
            watch = torch.utils._python_dispatch._get_current_dispatch_mode()
            measured = []
            session.measure_start = lambda thread: (measured.append(1), setattr(thread, "measure", True))
            plan = watch._learn(torch.ops.aten.sum.dim_IntList)
            thread = session.local.thread

            def call(tensor, dims, takes):
                thread.measure = False
                plan.scratch = 3
                before = len(measured)
                sizes = watch._scratch(plan, (tensor, dims, False), thread)
                entries = [("alloc", 0x100 * n, size) if thread.measure else 0x100 * n for n, size in enumerate(takes, 1)]
                filled = sizes.fill([*entries, ("free", 0x100, None, 3)], thread.measure) if sizes else entries
                return len(measured) > before, [entry[2] if entry.__class__ is tuple else None for entry in filled if entry.__class__ is int or entry[0] == "alloc"]

            x = torch.zeros(4, 8)
            self.assertEqual([call(x, [0], (64, 32)) for _ in range(3)], [(True, [64, 32]), (True, [64, 32]), (False, [64, 32])])
            self.assertEqual(call(x, [1], (16,)), (True, [16]), "reduced along another dimension")
            self.assertEqual(call(torch.zeros(8, 4).t(), [0], (16,)), (True, [16]), "with other strides")
            self.assertEqual(call(x.double(), [0], (128,)), (True, [128]), "of another type")
            self.assertEqual(call(x, [1], (24,)), (True, [24]))
            self.assertEqual(call(x, [1], (24,)), (True, [24]), "two calls did not take the same: measured for good")
            self.assertEqual(call(x, [0], (64, 32, 8)), (False, [None, None, None]), "it takes more than it did")
            self.assertEqual(call(x, [0], (64, 32, 8)), (True, [64, 32, 8]))

        self.record(body)

    def test_gradients_that_cross_streams_are_kept(self):
        def body(session, state):
            from raceline.cuda.calls import Calls

            Calls(session)._autograd()
            w = torch.ones(4, 4, requires_grad=True)
            loss = (torch.ones(4, 4) @ w).sum()

            def elsewhere(gradient):
                state.stream = 0x30

            loss.register_hook(elsewhere)
            plain = torch.autograd.backward
            try:
                loss.backward()
            finally:
                torch.autograd.backward = plain

        before = torch.autograd.backward, torch.autograd.grad
        try:
            trace = self.record(body)
        finally:
            torch.autograd.backward, torch.autograd.grad = before
        kept = trace.of("recordStream")
        self.assertTrue(kept and all(r["implicit"] for r in kept))

    def test_pinned_memory_that_is_saved(self):
        def body(session, state):
            from raceline.cuda.calls import Calls

            x = torch.ones(4)
            address = x.untyped_storage().data_ptr()
            session.blocks.pinned[address] = session.blocks.live[address]
            calls = Calls(session)
            calls._saving()
            try:
                torch.save(x, io.BytesIO())
            finally:
                calls.remove()

        self.assertEqual([(r["b"], r["lo"], r["hi"]) for r in self.record(body).of("host")], [(0, 0, 16)])

    def test_forked_children_record_nothing(self):
        def body(session, state):
            session.recording.file.closed = True
            torch.zeros(4).add_(1)
            session.recording.file.closed = False

        self.assertEqual(self.record(body).of("op"), [])


@unittest.skipUnless(torch, NEEDS_TORCH)
class TritonCode(unittest.TestCase):
    """What a kernel does to its pointers, from its intermediate code."""

    def modes(self, body, head="%x_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32} , %y_ptr: !tt.ptr<f32>, %n: i32"):
        from raceline.cuda.triton_launches import modes_of

        return modes_of(f"module {{\n  tt.func public @kernel({head}) attributes {{noinline = false}} {{\n{body}\n    tt.return\n  }}\n}}\n")

    def test_read_and_written(self):
        from raceline.rows import BOTH, READ, WRITE

        add = """
            %0 = tt.get_program_id x : i32
            %1 = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
            %2 = tt.addptr %1, %offsets : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
            %3 = tt.load %2, %mask : tensor<1024x!tt.ptr<f32>>
            %4 = tt.splat %y_ptr : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
            {}
            tt.store %4, %3, %mask : tensor<1024x!tt.ptr<f32>>"""
        self.assertEqual(self.modes(add.format("")), [READ, WRITE])
        self.assertEqual(self.modes(add.format("%5 = tt.load %4 : tensor<1024x!tt.ptr<f32>>")), [READ, BOTH])

    def test_pointers_that_a_loop_carries(self):
        from raceline.rows import READ, WRITE

        loop = """
            %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x_ptr, %q = %y_ptr) -> (!tt.ptr<f32>, !tt.ptr<f32>) : i32 {
              %1 = tt.load %p : !tt.ptr<f32>
              %2 = tt.addptr %p, %c1 : !tt.ptr<f32>, i32
              scf.yield %2, %q : !tt.ptr<f32>, !tt.ptr<f32>
            }
            tt.store %0#1, %c0 : !tt.ptr<f32>"""
        self.assertEqual(self.modes(loop), [READ, WRITE])

    def test_atomics_and_pointers_that_are_not_used(self):
        from raceline.rows import BOTH

        self.assertEqual(self.modes("%0 = tt.atomic_rmw fadd, acq_rel, gpu, %y_ptr, %v, %mask : (!tt.ptr<f32>, f32, i1) -> f32"), [None, BOTH])

    def test_code_that_is_not_followed(self):
        self.assertIsNone(self.modes("tt.call @inner(%x_ptr) : (!tt.ptr<f32>) -> ()"))
        from raceline.cuda.triton_launches import modes_of

        self.assertIsNone(modes_of("something else"))


@unittest.skipUnless(torch, NEEDS_TORCH)
class Collectives(unittest.TestCase):
    def test_what_they_write(self):
        import torch.distributed  # noqa: F401

        from raceline.operators import Plan

        def modes(name):
            return [mode for _, mode, _ in Plan(getattr(torch.ops.c10d, name).default).tensors]

        self.assertEqual(modes("_allgather_base_"), ["w", "r"])
        self.assertEqual(modes("allgather_"), ["w", "r"])
        self.assertEqual((modes("send"), modes("recv_"), modes("broadcast_"), modes("allreduce_")[0]), (["r"], ["w"], ["rw"], "rw"))


@unittest.skipUnless(torch, NEEDS_TORCH)
class KernelNames(unittest.TestCase):
    def test_every_kernel_of_a_buffer_is_named(self):
        """In long stretches of one kind, in records by turns that begin with either, and at a buffer's end."""
        for beginning in (3, 4):
            self.name_all(beginning)

    def name_all(self, beginning):
        import ctypes

        from raceline.cuda.cupti import STRETCH, Cupti
        from raceline.device_buffers import KERNEL, MEMCPY, NAME_WORD, RUNTIME

        lengths = {KERNEL: 20, MEMCPY: 8, RUNTIME: 5}
        texts = []
        order = [KERNEL] * (2 * STRETCH + beginning) + [RUNTIME, KERNEL] * (4 * STRETCH) + [RUNTIME] * STRETCH + [MEMCPY, KERNEL, KERNEL] * 9 + [KERNEL] * STRETCH + [MEMCPY]
        words = []
        for kind in order:
            # What a record holds besides may look like a record's beginning.
            record = [KERNEL] * lengths[kind]
            record[0] = kind | 7 << 32
            if kind == KERNEL:
                texts.append(ctypes.create_string_buffer(f"kernel_{len(texts)}".encode()))
                record[NAME_WORD] = ctypes.addressof(texts[-1])
            words += record
        content = struct.pack(f"<{len(words)}Q", *words)

        cupti = object.__new__(Cupti)
        cupti._sizes, cupti._names, cupti._demangle = {}, {}, bytes.decode
        cupti._size = lambda address, valid, offset: 8 * lengths[content[offset]]
        cupti.string = lambda text: text
        rows = []
        cupti._scan(content, 0, len(content), rows)
        self.assertEqual(sorted(rows[2::3]), sorted(text.value.decode() for text in texts))


class Join(unittest.TestCase):
    def spans(self, by_thread):
        from raceline.device_lines import Spans

        spans = Spans()
        for slot, (thread, rows) in enumerate(by_thread.items()):
            spans.name(slot, thread)
            for row in rows:
                spans.add(slot, *row)
        return spans

    def test_the_call_that_holds_the_moment(self):
        spans = self.spans({1: [(1_000_000, 1_010_000, 5, 0), (1_050_000, 1_060_000, 6, 2)]})
        self.assertEqual(spans.find(1, 1_005_000), (5, 0))
        self.assertEqual(spans.find(1, 1_060_000), (6, 2))
        self.assertEqual(spans.find(1, 1_049_000), (6, 2))  # within the clocks' slack
        self.assertIsNone(spans.find(1, 1_030_000))
        self.assertTrue(spans.passed(1, 1_050_000))
        self.assertFalse(spans.passed(1, 1_060_000), "the step after it may hold it")

    def test_threads_are_told_apart(self):
        spans = self.spans({1: [(0, 100_000, 5, 0)], 2: [(0, 100_000, 6, 1)]})
        self.assertEqual((spans.find(1, 50_000), spans.find(2, 50_000)), ((5, 0), (6, 1)))
        self.assertIsNone(spans.find(77, 50_000), "an unknown thread and two candidates")

    def steps(self, session, state):
        """Two operators on two streams, as (thread, a moment inside each)."""
        x = torch.zeros(4)
        state.stream = 0x10
        x.add_(1)
        from raceline.rows import OP

        rows = session.recording.file.rows
        starts = [rows[at + 1] for at, kind in enumerate(rows) if kind == OP and rows[at + 1 :] and isinstance(rows[at + 1], int) and rows[at + 1] > 1 << 50]
        return threading.get_ident() & 0xFFFFFFFF, [start + 1_000 for start in starts[-2:]]

    @unittest.skipUnless(torch, NEEDS_TORCH)
    def test_a_profile(self):
        """What there is where CUPTI cannot be had."""
        import fake_cuda

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.raceline")
            with fake_cuda.recording(path) as (session, state), session.recording.file._write_lock:
                thread, moments = self.steps(session, state)
                events = []
                for index, (number, moment) in enumerate(zip((7, 13), moments)):
                    at = moment / 1000
                    events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "tid": thread, "ts": at, "dur": 1, "args": {"correlation": index}})
                    events.append({"ph": "X", "cat": "kernel", "name": f"k{index}", "ts": at + 5, "dur": 2.5, "args": {"correlation": index, "device": 0, "stream": number}})
                events.append({"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "ts": at + 9, "dur": 1, "args": {"correlation": 9, "device": 0, "stream": 99, "bytes": 16}})
                session.times.write({"traceEvents": events})
            trace = Trace(path)
        trace.check(self)
        self.assertEqual([trace.streams[r["st"]]["num"] for r in trace.of("gpu")], [7, 13, 99])
        self.assertEqual([r.get("op") for r in trace.of("gpu")], [r["n"] for r in trace.of("op")] + [None])
        self.assertEqual([r["kind"] for r in trace.of("gpu")], ["kernel", "kernel", "copy"])
        self.assertIn("1 kernels or copies", trace.limits[0])

    @unittest.skipUnless(torch, NEEDS_TORCH)
    def test_activity_buffers(self):
        """CUPTI's own records: a call and its kernel, a copy of a graph's node, one that nobody started."""
        import fake_cuda

        from raceline.rows import BUFFER, NAME, NUMBER

        def kernel(start, stream, correlation, name, node=0):
            return struct.pack("<I12xQQ8xIII40xI8xQ32xQ8x", 10, start, start + 2_500, 0, 1, stream, correlation, name, node)

        def copy(start, stream, correlation):
            return struct.pack("<IB3xQQQIIII40x", 1, 1, 64, start, start + 900, 0, 1, stream, correlation)

        def call(start, thread, correlation):
            return struct.pack("<IIQQIIII", 5, 211, start, start + 1, 1, thread, correlation, 0)

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.raceline")
            with fake_cuda.recording(path) as (session, state), session.recording.file._write_lock:
                thread, (first, second) = self.steps(session, state)
                content = call(first, thread, 3) + kernel(first + 5_000, 7, 3, 0xABC) + copy(second + 5_000, 13, 4) + call(second, thread, 4) + kernel(second + 9_000, 40, 9, 0xABC, (2 << 32) + 77)
                rows = session.recording.file.rows
                rows.extend((NUMBER, 0, 13, session.stream_of(0x10), NAME, 0xABC, session.recording.file.string("fill")))
                rows.extend((BUFFER, content, 0, {10: 20, 1: 11, 5: 5}))
            trace = Trace(path)
        trace.check(self)
        zeros, add = trace.of("op")
        self.assertEqual([(r.get("op"), trace.name(r), r["kind"], r["d"], r.get("bytes"), r.get("node")) for r in trace.of("gpu")], [
            (zeros["n"], "fill", "kernel", 2500, None, None), (add["n"], "Memcpy HtoD", "copy", 900, 64, None), (None, "fill", "kernel", 2500, None, 77)])
        self.assertEqual([r["st"] for r in trace.of("gpu")[:2]], [zeros["st"], add["st"]])
        self.assertEqual(trace.streams[trace.of("gpu")[2]["st"]]["num"], 40)

    @unittest.skipUnless(torch, NEEDS_TORCH)
    def test_reusable(self):
        import fake_cuda

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.raceline")
            with fake_cuda.recording(path) as (session, state):
                session.blocks.order.extend([0x1000, 0, 0x1000, 1])
                entries = [
                    {"action": "alloc", "addr": 0x1000}, {"action": "free_requested", "addr": 0x1000}, {"action": "free_completed", "addr": 0x1000, "time_us": 1},
                    {"action": "alloc", "addr": 0x1000}, {"action": "free_requested", "addr": 0x1000}, {"action": "alloc", "addr": 0x2000},
                    {"action": "free_completed", "addr": 0x1000, "time_us": session.start_ns // 1000 + 7},
                ]
                session.history._write_reusable(entries)
            rows = Trace(path).of("reusable")
        self.assertEqual([r["b"] for r in rows], [1], "only a block that was held back")


if __name__ == "__main__":
    unittest.main()
