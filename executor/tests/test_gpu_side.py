"""The recorder's GPU side on a CPU that plays the GPU (fake_cuda), and the join with a profiler's trace."""
import os
import subprocess
import sys
import tempfile
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

    def test_streams_and_names(self):
        def body(session, state):
            session.know_stream(0x10, 0, "side")
            state.stream = 0x10
            made = torch.zeros(4)
            del made

        trace = self.record(body)
        self.assertEqual(trace.steps(), ["alloc on side", "op aten::zeros on side", "free"])
        self.assertEqual(trace.name(trace.of("alloc")[0]), "made")

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
            pending = [("alloc", 0x100, 64), ("record", ',"e":0,"st":0', 1), ("wait", ',"e":0,"st":0', 2), ("free", 0x100, None, 3),
                       ("record", ',"e":0,"st":0', 4), ("sync", ',"on":"stream","st":0', 5), ("free", x.data_ptr(), session.blocks.live[x.data_ptr()], 6)]
            stream, after, born = watch._settle(pending, {}, 0, session.start_ns)
            self.assertEqual([kind for kind, *_ in after], ["record", "sync", "free"])
            self.assertEqual(born, {})

        trace = self.record(body)
        self.assertEqual([r["k"] for r in trace.rows if "n" in r][3:7], ["alloc", "record", "wait", "free"])

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

    def test_forked_children_record_nothing(self):
        def body(session, state):
            session.recording.file.closed = True
            torch.zeros(4).add_(1)
            session.recording.file.closed = False

        self.assertEqual(self.record(body).of("op"), [])


@unittest.skipUnless(torch, NEEDS_TORCH)
class Join(unittest.TestCase):
    def spans(self, by_thread):
        import array

        from raceline.cuda.device_times import Spans

        return Spans({tid: array.array("q", [v for span in spans for v in span]) for tid, spans in by_thread.items()})

    def test_the_call_that_holds_the_moment(self):
        spans = self.spans({1: [(1_000_000, 1_010_000, 5, 0), (1_050_000, 1_060_000, 6, 2)]})
        self.assertEqual(spans.find(1, 1_005_000), (5, 0))
        self.assertEqual(spans.find(1, 1_060_000), (6, 2))
        self.assertEqual(spans.find(1, 1_049_000), (6, 2))  # within the clocks' slack
        self.assertIsNone(spans.find(1, 1_030_000))

    def test_threads_are_told_apart(self):
        spans = self.spans({1: [(0, 100_000, 5, 0)], 2: [(0, 100_000, 6, 1)]})
        self.assertEqual((spans.find(1, 50_000), spans.find(2, 50_000)), ((5, 0), (6, 1)))
        self.assertEqual(spans.find(-2, 50_000), (6, 1))
        self.assertIsNone(spans.find(77, 50_000), "an unknown thread and two candidates")

    def test_stream_numbers_are_learnt(self):
        import fake_cuda

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.raceline")
            with fake_cuda.recording(path) as (session, state):
                x = torch.zeros(4)
                state.stream = 0x10
                x.add_(1)
                starts = next(iter(session.spans.values()))
                events = []
                for index, number in enumerate((7, 13)):
                    at = (starts[4 * index] + 1_000) / 1000
                    events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "tid": next(iter(session.spans)), "ts": at, "dur": 1, "args": {"correlation": index}})
                    events.append({"ph": "X", "cat": "kernel", "name": f"k{index}", "ts": at + 5, "dur": 2.5, "args": {"correlation": index, "device": 0, "stream": number}})
                events.append({"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "ts": at + 9, "dur": 1, "args": {"correlation": 9, "device": 0, "stream": 99, "bytes": 16}})
                session.times.write({"traceEvents": events})
            trace = Trace(path)
        trace.check(self)
        self.assertEqual([trace.streams[r["st"]]["num"] for r in trace.of("gpu")], [7, 13, 99])
        self.assertEqual([r.get("op") for r in trace.of("gpu")], [r["n"] for r in trace.of("op")] + [None])
        self.assertEqual([r["kind"] for r in trace.of("gpu")], ["kernel", "kernel", "copy"])
        self.assertIn("1 kernels or copies", trace.limits[0])

    def test_reusable(self):
        import fake_cuda

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.raceline")
            with fake_cuda.recording(path) as (session, state):
                session.blocks.order.extend([(0x1000, 0), (0x1000, 1)])
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
