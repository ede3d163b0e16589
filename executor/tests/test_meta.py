"""Runs without a GPU: programs on the meta device, step by step."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from harness import EXECUTOR, NEEDS_TORCH, PROGRAMS, TORCH_PYTHON, Trace, settled, run, run_warm


@unittest.skipUnless(TORCH_PYTHON, NEEDS_TORCH)
class Meta(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.output = os.path.join(self.folder, "out.raceline")

    def record(self, source, *arguments, options=(), code=0):
        script = os.path.join(self.folder, "program.py")
        with open(script, "w") as out:
            out.write(textwrap.dedent(source))
        done = run_warm(["--device", "meta", "-o", self.output, *options, script, *arguments], cwd=self.folder)
        self.assertEqual(done.returncode, code, done.stderr)
        self.done = done
        trace = Trace(self.output)
        trace.check(self)
        return trace


class Running(Meta):
    def test_what_an_operator_is_called_with_stands_at_the_first_call_from_a_place(self):
        trace = self.record(
            """
            import torch
            for size in (2, 2, 3):
                x = torch.ones(size, 4, device="cuda")
                x.add_(1.5)
            """)
        self.assertEqual([r.get("in") for r in trace.of("op") if trace.name(r) == "aten::add_"], [[["float32", [2, 4]], "1.5"], None, None])

    def test_the_program_sees_itself(self):
        self.record(
            """
            import os, sys
            assert __name__ == "__main__" and sys.modules["__main__"].__dict__ is globals()
            print(sys.argv[1:], os.path.basename(__file__), os.path.samefile(sys.path[0], os.path.dirname(__file__)))
            """, "--device", "cuda", "-o")
        self.assertEqual(self.done.stdout.strip(), "['--device', 'cuda', '-o'] program.py True")

    def test_exit_code(self):
        trace = self.record("import sys; sys.exit(7)", code=7)
        self.assertEqual(trace.end["status"], "error")
        self.assertEqual(self.record("raise SystemExit").end["status"], "ok")

    def test_exception(self):
        trace = self.record("def broken():\n    raise KeyError('lost')\nbroken()\n", code=1)
        self.assertEqual((trace.end["status"], trace.end["message"]), ("error", "KeyError: 'lost'"))
        self.assertIn("in broken", self.done.stderr)
        self.assertNotIn("raceline/program.py", self.done.stderr)

    def test_leaving_without_exit_handlers(self):
        trace = self.record("import os, torch\nx = torch.ones(4, device='cuda')\nos._exit(3)\n", code=3)
        self.assertEqual(trace.end["status"], "stopped")
        self.assertEqual(len(trace.of("op")), 1)

    def test_exit_handlers_are_recorded(self):
        trace = self.record("import atexit, torch\natexit.register(lambda: torch.ones(4, device='cuda'))\n")
        self.assertEqual(len(trace.of("op")), 1)

    def test_killed(self):
        script = os.path.join(self.folder, "endless.py")
        with open(script, "w") as out:
            out.write("import time, torch\nx = torch.zeros(4, device='cuda')\nwhile True:\n    x.add_(1)\n    time.sleep(0.001)\n")
        environment = dict(os.environ, PYTHONPATH=EXECUTOR, CUDA_VISIBLE_DEVICES="")
        process = subprocess.Popen([TORCH_PYTHON, "-m", "raceline", "-o", self.output, script], env=environment, stderr=subprocess.DEVNULL)
        for _ in range(600):
            time.sleep(0.1)
            if os.path.exists(self.output) and os.path.getsize(self.output) > 4000:
                break
        process.send_signal(signal.SIGKILL)
        process.wait()
        trace = settled(self.output)
        trace.check(self)
        self.assertIsNone(trace.end)
        self.assertGreater(len(trace.of("op")), 5)

    def test_module(self):
        os.makedirs(os.path.join(self.folder, "pack"))
        for name, text in (("__init__", ""), ("__main__", "from . import part"), ("part", "print('part of', __package__)")):
            with open(os.path.join(self.folder, "pack", f"{name}.py"), "w") as out:
                out.write(text)
        done = run_warm(["--device", "meta", "-o", self.output, "-m", "pack"], cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout.strip()), (0, "part of pack"), done.stderr)

    def test_default_output(self):
        script = os.path.join(self.folder, "named.py")
        open(script, "w").close()
        done = run([script], cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(os.listdir(os.path.join(self.folder, ".raceline"))[0], r"^named-\d{8}-\d{6}\.raceline$")

    def test_unwritable_output(self):
        open(os.path.join(self.folder, "file"), "w").close()
        done = run_warm(["-o", os.path.join(self.folder, "file", "x.raceline"), os.path.join(PROGRAMS, "missing_wait", "program.py")])
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot be written", done.stderr)
        self.assertIn("-o FILE", done.stderr)

    def test_no_gpu(self):
        done = run_warm(["--device", "cuda", os.path.join(PROGRAMS, "missing_wait", "program.py")], cwd=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--device meta", done.stderr)

    def test_relative_paths(self):
        trace = self.record("import torch\nx = torch.ones(2, device='cuda')\n", options=["--relative-to", self.folder])
        self.assertNotIn("cwd", trace.header)
        self.assertEqual(trace.header["argv"], ["program.py"])
        self.assertEqual({trace.strings[site["file"]] for site in trace.sites.values()}, {"program.py"})

    def test_the_folder_as_a_program(self):
        """`python executor script.py`: its own starting file is no caller of the program."""
        script = os.path.join(self.folder, "alone.py")
        with open(script, "w") as out:
            out.write("import sys, torch\nx = torch.ones(2, device='cuda')\nprint(sys.path[0])\n")
        done = subprocess.run([TORCH_PYTHON, EXECUTOR, "-o", self.output, script], capture_output=True, text=True, env=dict(os.environ, CUDA_VISIBLE_DEVICES=""))
        self.assertEqual((done.returncode, done.stdout.strip()), (0, self.folder), done.stderr)
        trace = Trace(self.output)
        self.assertEqual({trace.strings[site["file"]] for site in trace.sites.values()}, {script})


class Steps(Meta):
    def test_order(self):
        trace = self.record(
            """
            import torch
            a, b = torch.cuda.Stream(), torch.cuda.Stream()
            e = torch.cuda.Event()
            with torch.cuda.stream(a):
                x = torch.ones(8, device="cuda")
                e.record()
            b.wait_event(e)
            with torch.cuda.stream(b):
                x.mul_(2)
            b.synchronize()
            torch.cuda.synchronize()
            """)
        self.assertEqual(
            [s for s in trace.steps() if not s.startswith(("alloc", "free"))],
            ["op aten::ones on a", "record 0 on a", "wait 0 on b", "op aten::mul_ on b", "sync on b", "sync"])
        self.assertEqual([trace.line(r) for r in trace.of("op", "wait")], [6, 8, 10])

    def test_unrecorded_wait(self):
        trace = self.record("import torch\ns = torch.cuda.Stream()\ne = torch.cuda.Event()\ns.wait_event(e)\ne.record(s)\n")
        self.assertEqual(trace.steps(), ["wait 0 on s", "record 0 on s"])

    def test_wait_stream_is_a_record_and_a_wait(self):
        trace = self.record("import torch\na, b = torch.cuda.Stream(), torch.cuda.Stream()\na.wait_stream(b)\na.wait_stream(b)\n")
        self.assertEqual(trace.steps(), ["record 0 on b", "wait 0 on a", "record 1 on b", "wait 1 on a"])

    def test_views_share_their_block(self):
        trace = self.record(
            """
            import torch
            x = torch.zeros(8, 4, device="cuda")
            x[2:6].fill_(1)
            x[:, 1:3].add_(1)
            y = x.t()
            """)
        zeros, fill, add = trace.of("op")
        self.assertEqual(zeros["acc"], [[0, 0, 128, "w"]])
        self.assertEqual(fill["acc"], [[0, 32, 96, "w"]])
        self.assertEqual(add["acc"], [[0, 4, 124, "rw"]])
        self.assertEqual(len(trace.of("alloc")), 1)

    def test_release_where_it_is_dropped(self):
        trace = self.record("import torch\nx = torch.ones(4, device='cuda')\ny = x.view(2, 2)\ndel x\nz = 0\ndel y\nz = 1\nx = torch.ones(4, device='cuda')\n")
        late = any("a release stands at the step that comes after it" in limit for limit in trace.limits)
        self.assertEqual([trace.line(r) for r in trace.of("free")], [8 if late else 6])

    def test_released_memory_is_handed_out_again(self):
        source = """
            import torch
            a, b = torch.cuda.Stream(), torch.cuda.Stream()
            with torch.cuda.stream(a):
                x = torch.ones(1000, device="cuda")
            with torch.cuda.stream(b):
                torch.cuda._sleep(1000000)
                x.add_(1)
                {}
            del x
            with torch.cuda.stream(a):
                y = torch.ones(1000, device="cuda")
            """
        same = self.record(source.format("pass")).of("alloc")
        self.assertEqual(same[0]["addr"], same[1]["addr"])
        trace = self.record(source.format("x.record_stream(b)"))
        first, second = trace.of("alloc")
        self.assertNotEqual(first["addr"], second["addr"])
        self.assertEqual(trace.stream(trace.of("recordStream")[0]), "b")
        self.assertEqual(len(trace.of("reusable")), 1)

    def test_copies(self):
        trace = self.record(
            """
            import torch
            host = torch.ones(8).pin_memory()
            x = host.to("cuda", non_blocking=True)
            y = torch.ones(8).cuda()
            down = x.cpu()
            landing = torch.empty(8, pin_memory=True)
            landing.copy_(x, non_blocking=True)
            float(landing.sum())
            landing.tolist()
            """)
        copies = [(r["copy"], len(r["acc"])) for r in trace.of("op") if "copy" in r]
        self.assertEqual(copies, [("h2d", 2), ("h2d", 1), ("d2h", 1), ("d2h", 2)])
        # Only the two blocking copies, from and to pageable memory, make the host wait.
        self.assertEqual([trace.line(r) for r in trace.of("sync")], [5, 6])
        self.assertEqual([(r["acc"], trace.line(r)) for r in trace.of("host")], [("r", 9), ("r", 10)])

    def test_reading_a_value_waits(self):
        trace = self.record("import torch\nx = torch.ones(8, device='cuda')\nif x.sum() > 1:\n    print('large')\nprint(x[0].item(), x.tolist())\n")
        self.assertEqual([trace.line(r) for r in trace.of("sync")], [3, 5, 5])
        self.assertTrue(all(r["implicit"] for r in trace.of("sync")))

    @unittest.skipIf(sys.version_info < (3, 11), "exact places need Python 3.11's columns")
    def test_branches_on_values_are_named(self):
        trace = self.record(
            """
            import torch
            x = torch.ones(8, device="cuda")
            if x.sum() > 1:
                pass
            peak = x.max().item()
            print(x.mean().item())
            while bool(x.any()) and peak > 2:
                break
            for i in range(int(x.sum())):
                pass
            assert not torch.isnan(x).any()
            other = 3
            if other:
                pass
            """)
        named = [limit.split(": the ") for limit in trace.limits if "program.py:" in limit]
        self.assertEqual(sorted((int(place.split(":")[1]), rest.split(" ")[0]) for place, rest in named), [(4, "`if`"), (8, "`while`"), (10, "`for`"), (12, "`assert`")])

    def test_device_is_cuda_for_the_program(self):
        self.record(
            """
            import torch
            x = torch.ones(3, device="cuda:0")
            assert x.is_cuda and x.device == torch.device("cuda", 0) and not x.is_meta and x.get_device() == 0
            y = torch.ones(3).to(x.device)
            assert y.device.type == "cuda" and torch.empty_like(y).is_cuda
            m = torch.nn.Linear(3, 3).cuda()
            assert next(m.parameters()).is_cuda and m(y).is_cuda and m(y).cpu().device.type == "cpu"
            with torch.device("cuda"):
                assert torch.zeros(2).is_cuda
            assert torch.cuda.memory_allocated() > 0 and torch.cuda.get_device_properties(0).major == 9
            """)

    def test_threads(self):
        trace = self.record(
            """
            import threading, torch
            def work():
                with torch.cuda.stream(torch.cuda.Stream()):
                    torch.ones(4, device="cuda")
            t = threading.Thread(target=work, name="worker")
            t.start()
            t.join()
            """)
        fork, join = trace.of("fork")[0], trace.of("join")[0]
        self.assertEqual(fork["child"], join["child"])
        self.assertEqual(trace.of("op")[0]["th"], fork["child"])
        self.assertLess(fork["n"], trace.of("op")[0]["n"])
        self.assertLess(trace.of("op")[0]["n"], join["n"])

    def test_graph(self):
        trace = self.record(
            """
            import torch
            x = torch.ones(4, device="cuda")
            g = torch.cuda.CUDAGraph()
            with torch.cuda.graph(g):
                y = x + 1
            g.replay()
            """)
        kinds = [r["k"] for r in trace.rows if r["k"] in ("capture", "captureEnd", "replay", "op")]
        self.assertEqual(kinds, ["op", "capture", "op", "captureEnd", "replay"])
        captured = trace.of("op")[1]["n"]
        self.assertNotIn(captured, [r.get("op") for r in trace.of("gpu")])

    def test_backward_runs_where_forward_ran(self):
        trace = self.record(
            """
            import torch
            side = torch.cuda.Stream()
            w = torch.ones(4, 4, device="cuda", requires_grad=True)
            x = torch.ones(4, 4, device="cuda")
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                y = x @ w
            torch.cuda.current_stream().wait_stream(side)
            z = y.sum()
            z.backward()
            """)
        multiplications = [trace.stream(r) for r in trace.of("op") if trace.name(r) == "aten::mm"]
        self.assertEqual(multiplications, ["side", "side"])
        implicit = [(r["k"], trace.stream(r)) for r in trace.of("record", "wait") if r.get("implicit")]
        self.assertEqual(implicit, [("record", "default"), ("wait", "side"), ("record", "side"), ("wait", "default")])
        self.assertTrue(all(trace.line(r) == 11 for r in trace.of("record", "wait") if r.get("implicit")))

    def test_a_functions_own_backward_may_name_the_device(self):
        trace = self.record(
            """
            import torch
            side = torch.cuda.Stream()
            class Reload(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    ctx.host = x.detach().cpu().pin_memory()
                    return x * x
                @staticmethod
                def backward(ctx, gradient):
                    with torch.cuda.stream(side):
                        x = ctx.host.to("cuda", non_blocking=True)
                    return gradient * 2 * x
            w = torch.ones(4, device="cuda", requires_grad=True)
            Reload.apply(w).sum().backward()
            """)
        self.assertEqual([trace.stream(r) for r in trace.of("op") if r.get("copy") == "h2d"], ["side"])

    def test_timeline_level(self):
        trace = self.record("import torch\nx = torch.ones(4, device='cuda')\n", options=["--level", "timeline"])
        self.assertEqual(trace.header["level"], "timeline")
        self.assertNotIn("acc", trace.of("op")[0])
        self.assertTrue(any("races cannot be told" in limit for limit in trace.limits))

    def test_times_keep_the_order_of_a_stream(self):
        trace = self.record("import torch\nx = torch.ones(1 << 20, device='cuda')\nfor _ in range(5):\n    x.mul_(2)\n")
        ends = 0
        for row in trace.of("gpu"):
            self.assertGreaterEqual(row["t"], ends)
            ends = row["t"] + row["d"]


class OwnPrograms(Meta):
    def test_every_program_runs(self):
        for name in sorted(os.listdir(PROGRAMS)):
            program = os.path.join(PROGRAMS, name, "program.py")
            if not os.path.exists(program):
                continue
            with self.subTest(name):
                done = run_warm(["--device", "meta", "-o", self.output, program], cwd=self.folder)
                self.assertEqual(done.returncode, 0, done.stderr)
                trace = Trace(self.output)
                trace.check(self)
                self.assertEqual(trace.end["status"], "ok")
                with open(os.path.join(PROGRAMS, name, "expect.json")) as text:
                    for hazard in json.load(text)["hazards"]:
                        self.assertIn(hazard["line"], {trace.line(r) for r in trace.of("op", "wait", "host")})


if __name__ == "__main__":
    unittest.main()
