"""Reruns on streams of the CPU that can be held: what is made to happen, what is said of it, and what stays right."""
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import types
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

try:
    import torch
except ImportError:
    torch = None

from harness import NEEDS_TORCH, TORCH_PYTHON


@unittest.skipUnless(torch is None and TORCH_PYTHON, "PyTorch is here, the tests below run themselves")
class Elsewhere(unittest.TestCase):
    def test_in_the_interpreter_that_has_torch(self):
        done = subprocess.run([TORCH_PYTHON, "-m", "unittest", "test_confirm"], cwd=HERE, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


def rerun(text, work):
    """Write the program and call `work(prepare, path, streams)` where it can be run."""
    import fake_streams

    from raceline.program import prepare_script

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(text))
        argv, paths = list(sys.argv), list(sys.path)
        streams = fake_streams.Streams()
        try:
            with fake_streams.installed(streams):
                return work(lambda: prepare_script(path, []), path, streams)
        finally:
            sys.argv[:], sys.path[:] = argv, paths


@unittest.skipUnless(torch, NEEDS_TORCH)
class Confirm(unittest.TestCase):
    def confirm(self, text, kind, conflict, first, second):
        """`first` and `second`: (operator, line)."""
        from raceline.confirm.confirm import confirm

        def work(prepare, path, streams):
            places = [{"name": name if "." in name or ":" in name else f"aten::{name}", "file": path, "line": line, "occurrence": 0} for name, line in (first, second)]
            plan, report = (os.path.join(os.path.dirname(path), name) for name in ("plan.json", "report.json"))
            with open(plan, "w", encoding="utf-8") as file:
                json.dump({"version": 1, "hazards": [{"id": 0, "kind": kind, "conflict": conflict, "first": places[0], "second": places[1], "size": 32}]}, file)
            self.assertEqual(confirm(prepare, plan, report, streams), 0)
            with open(report, encoding="utf-8") as file:
                (result,) = json.load(file)["results"]
            return result

        return rerun(text, work)

    def test_a_read_before_the_write(self):
        program = """\
            import streams, torch
            x = torch.zeros(8)
            with streams.on("a"):
                x.fill_(3.0)
            {wait}
            with streams.on("b"):
                y = x * 2
            """
        got = self.confirm(program.format(wait="pass"), "order", "read-after-write", ("fill_", 4), ("mul", 7))
        self.assertEqual((got["status"], got["happened"]), ("reproduced", True))
        wrong = got["wrong"]
        self.assertEqual((wrong["what"], wrong["name"], wrong["line"], wrong["tensor"]), ("second", "aten::mul", 7, "float32[8]"))
        self.assertEqual((wrong["index"], wrong["expected"], wrong["got"], wrong["wrong"], wrong["total"]), ([0], "6", "nan", 8, 8))
        got = self.confirm(program.format(wait="streams.wait('b', 'a')"), "order", "read-after-write", ("fill_", 4), ("mul", 7))
        self.assertEqual((got["status"], got["happened"]), ("not reproduced", False))

    def test_an_overwrite_before_the_read(self):
        got = self.confirm(
            """\
            import streams, torch
            x = torch.ones(4)
            with streams.on("a"):
                y = x.sum()
            x.zero_()
            """,
            "order", "write-after-read", ("sum", 4), ("zero_", 5),
        )
        self.assertEqual((got["status"], got["wrong"]["what"], got["wrong"]["expected"], got["wrong"]["got"]), ("reproduced", "first", "4", "0"))

    def test_two_writes_the_wrong_way_round(self):
        got = self.confirm(
            """\
            import streams, torch
            x = torch.ones(4)
            with streams.on("a"):
                x.add_(1)
            x.mul_(3)
            """,
            "order", "write-after-write", ("add_", 4), ("mul_", 5),
        )
        self.assertEqual((got["status"], got["wrong"]["expected"], got["wrong"]["got"]), ("reproduced", "6", "4"))

    def test_the_later_turn_of_a_loop(self):
        got = self.confirm(
            """\
            import streams, torch
            parts = [torch.ones(4) for _ in range(3)]
            with streams.on("a"):
                for part in parts:
                    part.mul_(2)
            y = torch.stack(parts)
            """,
            "order", "read-after-write", ("mul_", 5), ("stack", 6),
        )
        self.assertEqual((got["status"], got["wrong"]["expected"], got["wrong"]["got"]), ("reproduced", "2", "1"))

    def test_a_read_by_the_host(self):
        program = """\
            import streams, torch
            x = torch.full((4,), 3.0)
            host = torch.zeros(4, dtype=torch.float64)
            with streams.on("a"):
                host.copy_(x, non_blocking=True)
            {wait}
            print({read})
            """
        for read, name in (("host.tolist()", "Tensor.tolist"), ("host.sum().item()", "sum")):
            got = self.confirm(program.format(wait="pass", read=read), "host", "host-read-before-copy-done", ("copy_", 5), (name, 7))
            self.assertEqual((got["status"], got["happened"], got["wrong"]["got"]), ("reproduced", True, "nan"), name)
            got = self.confirm(program.format(wait="streams.synchronize()", read=read), "host", "host-read-before-copy-done", ("copy_", 5), (name, 7))
            self.assertEqual((got["status"], got["happened"]), ("not reproduced", False), name)

    def test_what_is_saved_before_it_has_come(self):
        program = """\
            import io, streams, torch
            x = torch.full((4,), 3.0)
            host = torch.zeros(4)
            with streams.on("a"):
                host.copy_(x, non_blocking=True)
            {wait}
            torch.save(host, io.BytesIO())
            """
        got = self.confirm(program.format(wait="pass"), "host", "host-read-before-copy-done", ("copy_", 5), ("torch.save", 7))
        self.assertEqual((got["status"], got["happened"], got["wrong"]["wrong"]), ("reproduced", True, 16))
        got = self.confirm(program.format(wait="streams.synchronize()"), "host", "host-read-before-copy-done", ("copy_", 5), ("torch.save", 7))
        self.assertEqual((got["status"], got["happened"]), ("not reproduced", False))

    def test_a_launch_of_a_triton_kernel(self):
        """By a stand-in of Triton: a kernel that is loaded before its stream is held, and fills its argument."""
        loaded = []

        class Kernel:
            def _init_handles(self):
                loaded.append(self)

        class JITFunction:
            __name__ = "fill.kernel"

            def run(self, x, *, grid, warmup):
                if warmup:
                    return Kernel()
                x.fill_(3.0)

        jit = types.ModuleType("triton.runtime.jit")
        jit.JITFunction = JITFunction
        program = """\
            import streams, torch
            from triton.runtime.jit import JITFunction
            x = torch.zeros(8)
            with streams.on("a"):
                JITFunction().run(x, grid=(1,), warmup=False)
            {wait}
            y = x * 2
            """
        with mock.patch.dict(sys.modules, {"triton": types.ModuleType("triton"), "triton.runtime": types.ModuleType("triton.runtime"), "triton.runtime.jit": jit}):
            got = self.confirm(program.format(wait="pass"), "order", "read-after-write", ("fill.kernel", 5), ("mul", 7))
            self.assertEqual((got["status"], got["happened"], got["wrong"]["expected"]), ("reproduced", True, "6"))
            self.assertEqual(len(loaded), 3)
            got = self.confirm(program.format(wait="streams.wait('default', 'a')"), "order", "read-after-write", ("fill.kernel", 5), ("mul", 7))
            self.assertEqual((got["status"], got["happened"]), ("not reproduced", False))
            del JITFunction.run
            got = self.confirm("import torch\n", "order", "read-after-write", ("fill_", 4), ("mul", 7))
            self.assertEqual(got["status"], "not reproduced")

    def test_a_broken_order_that_changes_nothing(self):
        got = self.confirm(
            """\
            import streams, torch
            x = torch.ones(4)
            with streams.on("a"):
                x.add_(0)
            y = x * 2
            """,
            "order", "read-after-write", ("add_", 4), ("mul", 5),
        )
        self.assertEqual((got["status"], got["happened"]), ("not reproduced", True))
        self.assertIn("the same all the same", got["message"])

    def test_what_differs_from_run_to_run_says_nothing(self):
        got = self.confirm(
            """\
            import time, streams, torch
            x = torch.zeros(4)
            with streams.on("a"):
                x.add_(0)
            y = x * time.time_ns()
            """,
            "order", "read-after-write", ("add_", 4), ("mul", 5),
        )
        self.assertEqual(got["status"], "not reproduced")

    def test_who_interrupts_the_program_wants_no_further_run(self):
        from raceline.confirm.rerun import Stopped

        with self.assertRaises(Stopped):
            self.confirm("raise KeyboardInterrupt\n", "order", "read-after-write", ("fill_", 4), ("mul", 7))

    def test_what_a_copy_reads_is_not_filled(self):
        got = self.confirm(
            """\
            import streams, torch
            x = torch.arange(6.0)
            with streams.on("a"):
                x[2:].copy_(x[:4].clone()); x[:2].copy_(x[4:])
            y = x * 2
            """,
            "order", "read-after-write", ("copy_", 4), ("mul", 5),
        )
        self.assertEqual((got["status"], got["wrong"]["expected"]), ("reproduced", "4"))

    def test_a_call_that_does_not_come_again(self):
        got = self.confirm("import torch\n", "order", "read-after-write", ("fill_", 4), ("mul", 7))
        self.assertEqual((got["status"], got["happened"]), ("not reproduced", False))
        self.assertIn("does not come to the first call", got["message"])


@unittest.skipUnless(torch, NEEDS_TORCH)
class Reuse(unittest.TestCase):
    """A released block is found among its pool's free ones, also where the same call used memory that still lives."""

    class Pool:
        """Hands out each free address once, then new ones."""

        def __init__(self, free):
            self.free, self.filled = list(free), []

        def fresh(self, size):
            pool, address = self, self.free.pop(0) if self.free else 1 << 40

            class Block:
                nbytes = size

                def data_ptr(self):
                    return address

                def fill_(self, _):
                    pool.filled.append(address)

            return Block()

    def reuse(self, used, free):
        from raceline.confirm.hold import Hold

        place = {"name": "aten::copy_", "file": "a.py", "line": 1, "occurrence": 0}
        pool = self.Pool(free)
        hold = Hold(pool, None, {"kind": "lifetime", "first": place, "second": place}, broken=False)
        hold._used[0] = used
        return hold._reuse(0), pool.filled

    def test_beside_memory_that_still_lives(self):
        self.assertEqual(self.reuse([(4096, 512), (8192, 512)], free=[8192]), (True, [8192]))

    def test_two_released_blocks(self):
        self.assertEqual(self.reuse([(4096, 512), (8192, 512)], free=[8192, 4096]), (True, [8192, 4096]))

    def test_a_block_that_is_part_of_a_larger_one(self):
        self.assertEqual(self.reuse([(4352, 512)], free=[1024, 4096, 4352]), (True, [4096]))

    def test_nothing_is_to_be_had(self):
        self.assertEqual(self.reuse([(4096, 512)], free=[1024]), (False, []))


@unittest.skipUnless(torch, NEEDS_TORCH)
class Bisect(unittest.TestCase):
    def bisect(self, text, hazards=(), **more):
        from raceline.confirm.bisect import bisect

        def work(prepare, path, streams):
            plan, report = (os.path.join(os.path.dirname(path), name) for name in ("plan.json", "report.json"))
            planned = []
            for kind, conflict, first, second in hazards:
                places = [{"name": f"aten::{name}", "file": path, "line": line, "occurrence": 0} for name, line in (first, second)]
                planned.append({"id": 0, "kind": kind, "conflict": conflict, "first": places[0], "second": places[1], "size": 32})
            with open(plan, "w", encoding="utf-8") as file:
                json.dump({"version": 1, "hazards": planned, **more}, file)
            bisect(prepare, plan, report, streams)
            with open(report, encoding="utf-8") as file:
                return json.load(file)

        return rerun(text, work)

    PROGRAM = """\
        import streams, torch
        x = torch.zeros(8)
        z = torch.ones(8)
        with streams.on("a"):
            x.fill_(3.0)
            z = z + 1
        w = torch.ones(3)
        {wait}
        y = x * 2
        v = y + 1
        print(y.sum().item())
        """

    def test_a_delay_shows_the_place(self):
        got = self.bisect(self.PROGRAM.format(wait="pass"))
        self.assertEqual(got["status"], "found")
        (place,) = got["places"]
        self.assertEqual((place["site"]["line"], place["earliest"]["line"], place["after"]["line"]), (9, 6, 5))
        self.assertEqual(place["stress"], "with each side stream delayed")

    def test_the_hazard_of_a_recording_shows_the_place(self):
        got = self.bisect(self.PROGRAM.format(wait="pass"), [("order", "read-after-write", ("fill_", 5), ("mul", 9))])
        self.assertEqual([place["site"]["line"] for place in got["places"]], [9])
        self.assertEqual(got["places"][0]["stress"], "with `aten::fill_` at program.py:5 held back")

    def test_two_faults_are_two_places(self):
        got = self.bisect(
            """\
            import streams, torch
            x, y = torch.zeros(8), torch.zeros(8)
            with streams.on("a"):
                x.fill_(3.0)
            with streams.on("b"):
                p = x * 2
                y.fill_(4.0)
            q = y * 2
            with streams.on("b"):
                r = p.sum()
            streams.synchronize()
            print(r.item(), q.sum().item())
            """
        )
        self.assertEqual(sorted(place["site"]["line"] for place in got["places"]), [6, 8])

    def test_a_right_program(self):
        got = self.bisect(self.PROGRAM.format(wait="streams.wait('default', 'a')"))
        self.assertEqual((got["status"], got["places"]), ("right", []))

    def test_a_check_by_expression(self):
        got = self.bisect(self.PROGRAM.format(wait="pass"), check="y[0] == 6")
        self.assertEqual([place["site"]["line"] for place in got["places"]], [9])
        got = self.bisect(self.PROGRAM.format(wait="pass"), check="y[0] == 7")
        self.assertEqual((got["status"], got["places"]), ("logic", []))

    def test_a_check_that_cannot_be_asked(self):
        for check, error in (("nowhere > 1", "NameError"), ("y[0] ==", "SyntaxError")):
            got = self.bisect(self.PROGRAM.format(wait="pass"), check=check)
            self.assertEqual((got["status"], got["places"], got["runs"]), ("failed", [], 1))
            self.assertIn(error, got["message"])

    def test_an_exit_code(self):
        program = self.PROGRAM.format(wait="pass").replace("print(y.sum().item())", "raise SystemExit(int(y[0].item() != 6))")
        got = self.bisect(program, exit_code=True)
        self.assertEqual([place["site"]["line"] for place in got["places"]], [9])


@unittest.skipUnless(torch, NEEDS_TORCH)
class Compare(unittest.TestCase):
    def test_first_wrong_element(self):
        from raceline.confirm.observe import difference

        right = torch.arange(6.0).view(2, 3)
        wrong = right.clone()
        wrong[1, 2] = 7.0
        got = difference((right, "float32[2, 3]"), (wrong, "float32[2, 3]"))
        self.assertEqual((got["index"], got["expected"], got["got"], got["wrong"], got["total"]), ([1, 2], "5", "7", 1, 6))

    def test_rounding_and_nan_are_no_difference(self):
        from raceline.confirm.observe import difference

        right = torch.tensor([1.0, float("nan"), 1000.0])
        self.assertIsNone(difference((right, ""), (right * (1 + 1e-5), "")))
        self.assertIsNotNone(difference((right, ""), (torch.tensor([1.0, 2.0, 1000.0]), "")))


if __name__ == "__main__":
    unittest.main()
