"""Programs as they stand, with torch.cuda on the CPU (held_cuda): kinds of races that a rerun has to make happen or leave alone."""
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

try:
    import torch
except ImportError:
    torch = None

from harness import NEEDS_TORCH, TORCH_PYTHON

LANES = """\
    import torch
    lanes = [torch.cuda.Stream() for _ in range(3)]
    here = torch.cuda.current_stream()
    x = torch.randn(3, 8, device="cuda")
    pieces = []
    for lane, part in zip(lanes, x.chunk(3)):
        lane.wait_stream(here)
        with torch.cuda.stream(lane):
            pieces.append(part * 2)
    {join}
    out = torch.cat(pieces)
    torch.cuda.synchronize()
    print(out.sum().item())
    """

HOST = """\
    import torch
    lane = torch.cuda.Stream()
    x = torch.arange(8, device="cuda").float()
    lane.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(lane):
        host = torch.empty(8, pin_memory=True)
        host.copy_(x, non_blocking=True)
    {wait}
    print(sum(host.tolist()))
    """

IN_PLACE = """\
    import torch
    store = [torch.ones(8, device="cuda") for _ in "ab"]
    lane = torch.cuda.Stream()
    lane.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(lane):
        for tensor in store:
            tensor.mul_(2.0)
    {wait}
    mixed = store[0] + store[1]
    torch.cuda.synchronize()
    print(mixed.sum().item())
    """


@unittest.skipUnless(torch is None and TORCH_PYTHON, "PyTorch is here, the tests below run themselves")
class Elsewhere(unittest.TestCase):
    def test_in_the_interpreter_that_has_torch(self):
        done = subprocess.run([TORCH_PYTHON, "-m", "unittest", "test_held_cuda"], cwd=HERE, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


@unittest.skipUnless(torch, NEEDS_TORCH)
class Programs(unittest.TestCase):
    def search(self, what, text, kind, conflict, first, second):
        """What confirm or bisect says. `first`, `second`: (operator, a piece of its line)."""
        import held_cuda

        from raceline.confirm.bisect import bisect
        from raceline.confirm.confirm import confirm
        from raceline.program import prepare_script

        lines = textwrap.dedent(text).splitlines()

        def place(name, piece):
            return {"name": name, "file": path, "line": 1 + next(i for i, line in enumerate(lines) if piece in line), "occurrence": 0}

        with tempfile.TemporaryDirectory() as folder:
            path, plan, report = (os.path.join(folder, name) for name in ("program.py", "plan.json", "report.json"))
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n".join(lines))
            with open(plan, "w", encoding="utf-8") as file:
                json.dump({"version": 1, "hazards": [{"id": 0, "kind": kind, "conflict": conflict, "first": place(*first), "second": place(*second), "size": 32}]}, file)
            argv, paths = list(sys.argv), list(sys.path)
            held = held_cuda.Held()
            try:
                with held_cuda.installed(held):
                    {"confirm": confirm, "bisect": bisect}[what](lambda: prepare_script(path, []), plan, report, held)
            finally:
                sys.argv[:], sys.path[:] = argv, paths
            with open(report, encoding="utf-8") as file:
                got = json.load(file)
        return got["results"][0] if what == "confirm" else got

    def test_only_the_last_lane_is_joined(self):
        about = ("order", "read-after-write", ("aten::mul", "part * 2"), ("aten::cat", "torch.cat"))
        got = self.search("confirm", LANES.format(join="here.wait_stream(lane)"), *about)
        self.assertEqual((got["status"], got["wrong"]["what"], got["wrong"]["index"]), ("reproduced", "second", [0, 0]))
        good = LANES.format(join="[here.wait_stream(lane) for lane in lanes]")
        self.assertEqual(self.search("confirm", good, *about)["happened"], False)
        got = self.search("bisect", LANES.format(join="here.wait_stream(lane)"), *about)
        self.assertEqual([place["site"]["line"] for place in got["places"]], [11])
        self.assertEqual(self.search("bisect", good, *about)["status"], "right")

    def test_two_writes_on_one_lane(self):
        about = ("order", "read-after-write", ("aten::mul_", "mul_"), ("aten::add", "mixed ="))
        got = self.search("confirm", IN_PLACE.format(wait="pass"), *about)
        self.assertEqual((got["status"], got["wrong"]["expected"], got["wrong"]["got"]), ("reproduced", "4", "2"))
        good = IN_PLACE.format(wait="torch.cuda.current_stream().wait_stream(lane)")
        self.assertEqual(self.search("confirm", good, *about)["happened"], False)

    def test_a_list_that_is_made_before_the_copy_has_come(self):
        about = ("host", "host-read-before-copy-done", ("aten::copy_", "host.copy_"), ("Tensor.tolist", "tolist"))
        got = self.search("confirm", HOST.format(wait="torch.cuda.current_stream().synchronize()"), *about)
        self.assertEqual((got["status"], got["wrong"]["what"], got["wrong"]["got"]), ("reproduced", "second", "nan"))
        self.assertEqual(self.search("confirm", HOST.format(wait="lane.synchronize()"), *about)["happened"], False)


if __name__ == "__main__":
    unittest.main()
