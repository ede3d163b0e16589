"""What programs do besides calling operators, on the meta device: transforms, tracers, hooks, subclasses, threads and ways to end."""
import os
import signal
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from harness import EXECUTOR, TORCH_PYTHON, Trace
from test_meta import Meta


class Programs(Meta):
    def test_inference_mode(self):
        """Operators that are made of others come whole there: their parts are what runs."""
        trace = self.record(
            """
            import torch
            with torch.inference_mode():
                x = torch.ones(4, 4).to("cuda", non_blocking=True)
                y = x.to(torch.float64)
                z = torch.nn.functional.linear(x, x)
                w = x.t().contiguous()
                y.cpu()
            """)
        copies = [(trace.line(r), r.get("copy")) for r in trace.of("op") if trace.name(r) == "aten::_to_copy"]
        self.assertEqual(copies, [(4, "h2d"), (5, None), (8, "d2h")])
        self.assertEqual([trace.name(r) for r in trace.of("op") if trace.line(r) in (6, 7)], ["aten::mm", "aten::clone"])
        self.assertEqual([trace.line(r) for r in trace.of("sync")], [8])

    def test_python_inside_of_operators_may_name_the_device(self):
        """A backward's hooks, what is saved for it, recomputed forwards; functorch's wrapped tensors have no storage of their own."""
        trace = self.record(
            """
            import torch
            from torch.utils.checkpoint import checkpoint
            x = torch.ones(3, device="cuda", requires_grad=True)
            def hook(gradient):
                return gradient + torch.ones(3, device="cuda")
            y = x * 2
            y.register_hook(hook)
            y.sum().backward()
            with torch.autograd.graph.save_on_cpu(pin_memory=True):
                loss = x.pow(2).sum()
            loss.backward()
            def part(x):
                assert x.is_cuda
                return x * torch.ones(3, device="cuda")
            for reentrant in (True, False):
                checkpoint(part, x, use_reentrant=reentrant).sum().backward()
            torch.func.vmap(torch.func.grad(lambda x: x.pow(2).sum()))(torch.ones(2, 3, device="cuda"))
            """)
        downs = [trace.line(r) for r in trace.of("op") if r.get("copy") == "d2h"]
        ups = [trace.line(r) for r in trace.of("op") if r.get("copy") == "h2d"]
        self.assertEqual((set(downs), set(ups)), ({11}, {12}))

    def test_operators_that_the_meta_device_lacks(self):
        trace = self.record(
            """
            import torch
            x = torch.ones(6, device="cuda")
            print(torch.bincount(torch.zeros(3, dtype=torch.long, device="cuda"), minlength=2).shape)
            print(torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, 127).shape)
            bag = torch.nn.EmbeddingBag(10, 4, sparse=True).to("cuda")
            bag(torch.zeros(3, 2, dtype=torch.long, device="cuda")).sum().backward()
            gradient = bag.weight.grad
            print(gradient.is_sparse, gradient.device.type, (gradient + gradient).coalesce().shape)
            eye = torch.eye(3, device="cuda").to_sparse()
            print((eye @ torch.ones(3, 3, device="cuda")).is_cuda, eye.to_dense().shape)
            """)
        self.assertEqual(self.done.stdout.split("\n")[:5], ["torch.Size([2])", "torch.Size([6])", "True cuda torch.Size([10, 4])", "True torch.Size([3, 3])", ""])
        self.assertTrue(any("does not know aten::bincount" in limit for limit in trace.limits))
        self.assertTrue(any("Sparse and nested tensors are not followed" in limit for limit in trace.limits))

    def test_tracers(self):
        """torch._dynamo is a stand-in until a module of its is imported; fake tensors are no work of the device; constants of traced functions come as numbers."""
        trace = self.record(
            """
            import torch
            import torch._dynamo.exc, sys
            from torch._subclasses.fake_tensor import FakeTensorMode
            from torch.fx.experimental.proxy_tensor import make_fx
            print(torch._dynamo.exc is sys.modules["torch._dynamo.exc"], torch._dynamo.exc.__spec__.origin.endswith("exc.py"))
            with FakeTensorMode():
                print(torch.ones(3, device="cuda").add(1).shape)
            x = torch.ones(3, device="cuda")
            print(len(make_fx(lambda x: x.sin() + 1)(x).graph.nodes))
            print(torch.jit.trace(lambda x: x + 1, x, check_trace=False)(x).shape)
            module = torch.compile(torch.nn.Linear(3, 3).to("cuda"))
            print(module(x).shape, sorted(module.state_dict()), module._orig_mod.weight is module.weight)
            """)
        self.assertEqual(self.done.stdout.splitlines(), ["True True", "torch.Size([3])", "4", "torch.Size([3])", "torch.Size([3]) ['_orig_mod.bias', '_orig_mod.weight'] True"])
        self.assertNotIn(8, [trace.line(r) for r in trace.of("op", "alloc")])

    def test_calls_that_need_a_device(self):
        self.record(
            """
            import torch
            x = torch.ones(2, 3, device="cuda")
            assert torch.allclose(x, x) and torch.cuda.memory_stats()["num_ooms"] == 0 and torch.cuda.memory_snapshot() == []
            torch.testing.assert_close(x, x + 1)
            assert isinstance(torch.cuda.FloatTensor(3), torch.cuda.FloatTensor) and not isinstance(torch.ones(2), torch.cuda.FloatTensor)
            assert torch.ones(2).type(torch.cuda.HalfTensor).dtype == torch.float16 and x.type() == "torch.cuda.FloatTensor"
            torch.set_default_tensor_type(torch.cuda.DoubleTensor)
            assert torch.ones(2).is_cuda and torch.ones(2).dtype == torch.float64
            torch.set_default_tensor_type(torch.FloatTensor)
            assert not torch.ones(2).is_cuda
            module = torch.cuda.make_graphed_callables(torch.nn.Linear(3, 3).cuda(), (x,))
            assert torch.nn.DataParallel(module)(x).is_cuda
            torch.cuda.set_rng_state(torch.cuda.get_rng_state())
            try:
                torch.empty(1 << 40, device="cuda")
            except torch.cuda.OutOfMemoryError as error:
                print(error)
            """)
        self.assertIn("Tried to allocate 4096.00 GiB", self.done.stdout)

    def test_a_process_group_of_nccl(self):
        trace = self.record(
            """
            import tempfile, torch
            import torch.distributed as dist
            dist.init_process_group("nccl", init_method=f"file://{tempfile.mkdtemp()}/meet", rank=0, world_size=1)
            model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 3).cuda(), device_ids=[0])
            with model.no_sync():
                model(torch.ones(2, 3, device="cuda")).sum().backward()
            x = torch.ones(3, device="cuda")
            dist.all_reduce(x, async_op=True).wait()
            dist.all_gather([torch.zeros(3, device="cuda")], x)
            host = torch.ones(3)
            dist.all_reduce(host)
            print(host.tolist(), sorted(model.state_dict()), dist.get_world_size())
            dist.destroy_process_group()
            """)
        self.assertEqual(self.done.stdout.strip(), "[1.0, 1.0, 1.0] ['module.bias', 'module.weight'] 1")
        for said in ("gradients are not reduced", "collectives on the device move nothing"):
            self.assertTrue(any(said in limit for limit in trace.limits), said)

    def test_a_thread_without_an_object(self):
        trace = self.record(
            """
            import _thread, torch
            done = _thread.allocate_lock()
            done.acquire()
            def work(value):
                torch.ones(4, device="cuda").add_(value)
                done.release()
            _thread.start_new_thread(work, (2,))
            done.acquire()
            """)
        (fork,) = trace.of("fork")
        ops = trace.of("op")
        self.assertEqual([r["th"] for r in ops], [fork["child"]] * 2)
        self.assertLess(fork["n"], ops[0]["n"])

    def test_main_is_as_it_is_alone(self):
        self.record(
            """
            import inspect, pickle, torch
            class Point:
                x: int = 1
            assert type(pickle.loads(pickle.dumps(Point()))) is Point
            assert inspect.getsource(Point).startswith("class Point")
            assert type(__loader__).__name__ == "SourceFileLoader" and __spec__ is None
            """)


class Ends(Meta):
    def test_the_traceback_is_the_programs(self):
        self.record(
            """
            import torch
            try:
                torch.ones(3, 4, device="cuda") @ torch.ones(3, 4, device="cuda")
            except RuntimeError as error:
                raise ValueError("lost") from error
            """, code=1)
        self.assertEqual(self.done.stderr.count("Traceback"), 2)
        self.assertNotIn(os.path.join(EXECUTOR, "raceline"), self.done.stderr)

    def test_closed_streams(self):
        trace = self.record("import sys\nprint('said')\nsys.stdout.close()\nsys.stderr.close()\nsys.stderr = None\n")
        self.assertEqual((self.done.stdout, self.done.stderr.count("Traceback")), ("said\n", 0))
        self.assertEqual(trace.end["status"], "ok")

    @unittest.skipUnless(hasattr(signal, "SIGKILL"), "ends by a signal, which Windows does not have")
    def test_interrupted(self):
        """By the signal, as alone: a shell's loop ends with it."""
        script = os.path.join(self.folder, "stuck.py")
        with open(script, "w") as out:
            out.write("import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n")
        done = subprocess.run([TORCH_PYTHON, EXECUTOR, "--device", "meta", "-o", self.output, script], capture_output=True, text=True, env=dict(os.environ, CUDA_VISIBLE_DEVICES=""))
        self.assertEqual(done.returncode, -signal.SIGINT, done.stderr)
        self.assertEqual(done.stderr.count("KeyboardInterrupt"), 1)
        self.assertEqual(Trace(self.output).end["status"], "stopped")


if __name__ == "__main__":
    unittest.main()
