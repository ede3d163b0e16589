"""What needs no PyTorch: the trace file, names, the command's messages."""
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from harness import EXECUTOR, Trace, run, settled
from raceline.names import Names
from raceline.trace_file import TraceFile

HEADER = {"raceline": 1, "producer": "test", "mode": "meta", "unix": "0", "level": "full"}


class TraceFiles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "a.raceline")

    def test_strings_are_declared_once_and_before_use(self):
        file = TraceFile(self.path, HEADER)
        first, again = file.string("aten::mul"), file.string("aten::mul")
        file.step("op", f',"name":{first}')
        file.close(5, "ok")
        self.assertEqual(first, again)
        self.assertEqual([r["k"] for r in Trace(self.path).rows], ["str", "op", "end"])

    def test_limits_are_said_once(self):
        file = TraceFile(self.path, HEADER)
        file.limit("Half is missing.")
        file.limit("Half is missing.")
        file.close(0, "ok")
        self.assertEqual(Trace(self.path).limits, ["Half is missing."])

    def test_packed(self):
        file = TraceFile(self.path + ".gz", HEADER)
        file.string("ü")
        file.close(0, "error", "it broke")
        trace = Trace(self.path + ".gz")
        self.assertEqual(trace.strings, {0: "ü"})
        self.assertEqual((trace.end["status"], trace.end["message"]), ("error", "it broke"))

    def test_lines_after_the_end_are_dropped(self):
        file = TraceFile(self.path, HEADER)
        file.close(0, "ok")
        file.append("{}")
        file.flush()
        self.assertEqual(len(Trace(self.path).rows), 1)

    def test_a_killed_process_leaves_whole_lines(self):
        script = textwrap.dedent(f"""
            import sys, time
            sys.path.insert(0, {EXECUTOR!r})
            from raceline.trace_file import TraceFile
            file = TraceFile({self.path!r}, {HEADER!r})
            for number in range(1_000_000):
                file.step("op", ',"t":1')
                if number == 5000:
                    file.flush()
                    print("written", flush=True)
                time.sleep(0.0001)
        """)
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        trace = settled(self.path)
        self.assertGreaterEqual(len(trace.of("op")), 5000)
        self.assertIsNone(trace.end)

    @unittest.skipUnless(hasattr(os, "fork"), "needs fork")
    def test_a_forked_child_does_not_write(self):
        file = TraceFile(self.path, HEADER)
        file.append('{"k":"limit","v":"parent"}')
        child = os.fork()
        if not child:
            file.append('{"k":"limit","v":"child"}')
            file.close(0, "ok")
            os._exit(0)
        os.waitpid(child, 0)
        file.close(0, "ok")
        self.assertEqual(Trace(self.path).limits, ["parent"])


class NamesOfNewObjects(unittest.TestCase):
    def names(self, source):
        """What each call of `make()` in the source is named, in the order of the calls."""
        names, got = Names(), []
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program.py")
            with open(path, "w") as out:
                out.write(textwrap.dedent(source))

            def make(*_, **__):
                frame = sys._getframe(1)
                got.append(names.target(frame.f_code, frame.f_lasti))

            with open(path) as text:
                exec(compile(text.read(), path, "exec"), {"make": make, "thing": type("Thing", (), {})(), "box": {}})
        return got

    def test_assignments(self):
        self.assertEqual(self.names("a = make()\nthing.side = make()\nbox['k'] = make()\n"), ["a", "thing.side", "box['k']"])

    @unittest.skipIf(sys.version_info < (3, 11), "several names on a line need Python 3.11's columns")
    def test_several_at_once(self):
        self.assertEqual(self.names("a, b = make(), make()\nc = [make(), make()]\nd = {'copy': make()}\n"), ["a", "b", "c[0]", "c[1]", "d['copy']"])

    def test_comprehension_counts(self):
        self.assertEqual(self.names("lanes = [make() for _ in range(3)]\n"), ["lanes[0]", "lanes[1]", "lanes[2]"])

    def test_no_name(self):
        self.assertEqual(self.names("make()\nstr(make())\n")[0], None)

    @unittest.skipIf(sys.version_info < (3, 11), "needs Python 3.11's columns")
    def test_an_inner_call_is_not_the_value(self):
        self.assertEqual(self.names("a = str(make())\n"), [None])


class Messages(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.script = os.path.join(self.folder.name, "p.py")
        with open(self.script, "w") as out:
            out.write("print('ran')\n")

    def with_torch(self, text):
        path = os.path.join(self.folder.name, "torch.py")
        with open(path, "w") as out:
            out.write(text)
        return run([self.script], python=sys.executable, path=[self.folder.name], cwd=self.folder.name)

    def test_no_torch(self):
        done = self.with_torch("raise ImportError('No module named torch')\n")
        self.assertEqual(done.returncode, 2)
        self.assertIn("PyTorch cannot be imported", done.stderr)
        self.assertIn("raceline preview FILE.py", done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.assertNotIn("ran", done.stdout)

    def test_old_torch(self):
        done = self.with_torch("__version__ = '1.13.1+cu117'\n")
        self.assertEqual(done.returncode, 2)
        self.assertIn("PyTorch 1.13.1+cu117 is too old", done.stderr)
        self.assertIn("2.1 or newer", done.stderr)

    def test_no_script(self):
        done = run([os.path.join(self.folder.name, "absent.py")], python=sys.executable)
        self.assertEqual(done.returncode, 2)
        self.assertIn("absent.py cannot be read", done.stderr)

    def test_syntax_error(self):
        with open(self.script, "w") as out:
            out.write("def f(:\n")
        done = run([self.script], python=sys.executable)
        self.assertEqual(done.returncode, 1)
        self.assertIn("SyntaxError", done.stderr)
        self.assertIn("p.py", done.stderr)

    def test_version(self):
        self.assertRegex(run(["--version"], python=sys.executable).stdout, r"raceline-executor \d+\.\d+\.\d+")


if __name__ == "__main__":
    unittest.main()
