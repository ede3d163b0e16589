"""`--serialize` on the meta device: what is synchronized, what stays on one stream; and what is said without a GPU."""
import itertools
import os
import sys
import tempfile
import textwrap
import types
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from harness import NEEDS_TORCH, TORCH_PYTHON, Trace, run_warm

PROGRAM = """\
    import torch
    side = torch.cuda.Stream()
    x = torch.ones(8, device="cuda")
    with torch.cuda.stream(side):
        y = x * 2
    host = y.to("cpu", non_blocking=True)
    print("done")
    """


@unittest.skipUnless(TORCH_PYTHON, NEEDS_TORCH)
class Serialize(unittest.TestCase):
    def record(self, *options):
        with tempfile.TemporaryDirectory() as folder:
            program, output = os.path.join(folder, "program.py"), os.path.join(folder, "t.raceline")
            with open(program, "w", encoding="utf-8") as text:
                text.write(textwrap.dedent(PROGRAM))
            done = run_warm(["-o", output, "--device", "meta", *options, program], cwd=folder)
            self.assertEqual((done.returncode, done.stdout), (0, "done\n"), done.stderr)
            return Trace(output)

    def test_blocks_are_synchronized_where_the_stream_changes_and_after_copies(self):
        lines = [(r["k"], r.get("on")) for r in self.record("--serialize", "blocks").rows if r["k"] in ("op", "sync")]
        lines = [line for line, _ in itertools.groupby(lines)]  # twice in a row is once
        device = ("sync", "device")
        self.assertEqual(lines, 3 * [("op", None), device])
        plain = [r for r in self.record().rows if r["k"] == "sync"]
        self.assertEqual(plain, [])

    def test_one_stream(self):
        trace = self.record("--serialize", "stream")
        self.assertEqual(len({r["st"] for r in trace.of("op")}), 1)
        self.assertEqual(trace.of("sync"), [])

    def test_a_stream_function_that_looks_its_class_up(self):
        """PyTorch's `torch.cuda.stream` is a function that names the class, which is replaced too."""
        from raceline.serialize import serialize

        told = []

        class StreamContext:
            def __init__(self, stream):
                self.stream = stream

            def __enter__(self):
                told.append(f"into {self.stream}")

            def __exit__(self, *failure):
                told.append(f"out of {self.stream}")

        cuda = types.SimpleNamespace(
            StreamContext=StreamContext, Stream=type("Stream", (), {}), set_stream=lambda stream: told.append(f"set {stream}"),
            synchronize=lambda: told.append("sync"), is_current_stream_capturing=lambda: False,
        )
        cuda.stream = lambda stream: cuda.StreamContext(stream)
        tensor = type("Tensor", (), {name: lambda self: None for name in ("to", "copy_", "cuda", "cpu")})
        serialize(types.SimpleNamespace(cuda=cuda, Tensor=tensor), "blocks")
        with cuda.stream("side"):
            pass
        with cuda.StreamContext("other"):
            pass
        self.assertEqual(told, ["sync", "into side", "sync", "out of side", "sync", "into other", "sync", "out of other"])

    def test_races_need_a_gpu(self):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "program.py")
            open(program, "w").close()
            done = run_warm(["--confirm", "plan.json", "--report", "report.json", program], cwd=folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("Races happen on a GPU only", done.stderr)


if __name__ == "__main__":
    unittest.main()
