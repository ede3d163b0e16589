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
from raceline.recording import Recording
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

    def test_a_second_name_of_a_stream_is_an_alias(self):
        file = TraceFile(self.path, HEADER)
        recording = Recording(file, None, None)
        recording.name_stream(0, 0x10, "first")
        recording.name_stream(0, 0x10, "second")
        self.assertEqual(recording.stream(0, 0x10), 0)
        for name in ("first", "second", "third", "third"):
            recording.name_stream(0, 0x10, name)
        file.close(0, "ok")
        trace = Trace(self.path)
        said = [(key, trace.strings[row[key]]) for row in trace.rows if row["k"] == "stream" for key in ("name", "alias") if key in row]
        self.assertEqual(said, [("name", "first"), ("alias", "second"), ("alias", "third")])

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

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs a file that is always full")
    def test_a_full_disk_stops_the_writing_alone(self):
        from raceline.recorder import summary

        for last in (None, 10):
            for apart in (True, False):
                file = TraceFile("/dev/full", HEADER, apart=apart, last=last)
                file.step("op", ',"t":1')
                file.close(0, "ok")
                said = summary(file)
                self.assertIn("writing stopped: No space left on device. Where there is no room, name another place with -o FILE.", said)

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


class LastSeconds(unittest.TestCase):
    """The ring: what is left has to stand on its own."""

    def lines(self, *lines, seconds=1):
        from raceline.ring import Ring

        ring = Ring(seconds)
        ring.put(['{"raceline":1}', *lines])
        return [line for line in ring.lines() if '"limit"' not in line][1:]

    def test_old_steps_fall_out_and_tables_stay(self):
        kept = self.lines('{"k":"str","id":0,"v":"a"}', '{"k":"op","n":0,"t":0,"st":0}', '{"k":"op","n":1,"t":5000000000,"st":0}')
        self.assertEqual(kept, ['{"k":"str","id":0,"v":"a"}', '{"k":"op","n":1,"t":5000000000,"st":0}'])

    def test_it_says_so(self):
        from raceline.ring import Ring

        ring = Ring(2)
        ring.put(['{"raceline":1}', '{"k":"op","n":0,"t":0}', '{"k":"op","n":1,"t":5000000000}'])
        self.assertIn("Only the last 2 seconds", "".join(ring.lines()))

    def test_what_the_window_needs_from_before(self):
        kept = self.lines(
            '{"k":"alloc","n":0,"t":1,"b":0,"addr":"0x10","size":8,"st":1,"s":4,"name":2}', '{"k":"alloc","n":1,"t":1,"b":1,"addr":"0x20","size":8,"st":1}',
            '{"k":"recordStream","n":2,"t":2,"b":0,"st":2}', '{"k":"free","n":3,"t":3,"b":1}', '{"k":"record","n":4,"t":4,"e":7,"st":1}', '{"k":"record","n":5,"t":4,"e":7,"st":2}',
            '{"k":"wait","n":6,"t":5000000000,"e":7,"st":1}')
        self.assertEqual(kept, [
            '{"k":"block","b":0,"addr":"0x10","size":8,"st":1,"name":2}', '{"k":"recordStream","n":2,"t":2,"b":0,"st":2}', '{"k":"record","n":5,"t":4,"e":7,"st":2}',
            '{"k":"wait","n":6,"t":5000000000,"e":7,"st":1}'])

    def test_graphs_stay_whole(self):
        graph = ['{"k":"capture","n":0,"t":1,"g":0,"st":1}', '{"k":"alloc","n":1,"t":1,"b":0,"addr":"0x10","size":8,"st":1}', '{"k":"op","n":2,"t":1,"st":1}', '{"k":"captureEnd","n":3,"t":1,"g":0}']
        replay = '{"k":"replay","n":5,"t":5000000000,"g":0,"st":1}'
        self.assertEqual(self.lines(*graph, '{"k":"op","n":4,"t":2}', replay), [*graph, replay])

    def test_device_work_of_a_step_that_is_gone(self):
        kept = self.lines('{"k":"op","n":0,"t":0}', '{"k":"op","n":1,"t":5000000000}', '{"k":"gpu","op":0,"st":0,"t":5000000000,"d":1}', '{"k":"gpu","op":1,"st":0,"t":5000000000,"d":1}')
        self.assertEqual([line for line in kept if '"gpu"' in line], ['{"k":"gpu","op":1,"st":0,"t":5000000000,"d":1}'])


class Parts(unittest.TestCase):
    def test_iterations_are_counted_from_zero(self):
        from raceline import recorder

        happened = []

        class Fake:
            def __enter__(self):
                happened.append("on")

            def stop(self, status, message):
                happened.append(status)

        plain, recorder.record = recorder.record, Fake
        try:
            schedule = recorder.parse_iterations("1:3")
            schedule._begin()
            for number in range(5):
                happened.append(number)
                schedule.step()
            self.assertEqual(happened, [0, "on", 1, 2, "ok", 3, 4])
            happened.clear()
            schedule = recorder.parse_iterations("0:3")
            schedule._begin()
            schedule.step()
            schedule.finish("error", "ValueError: lost")
            self.assertEqual(happened, ["on", "error"])
        finally:
            recorder.record = plain

    def test_a_schedule_that_is_none(self):
        for text in ("5", "3:3", "a:b", "4:2"):
            done = run(["--iterations", text, "x.py"], python=sys.executable)
            self.assertEqual(done.returncode, 2, text)
            self.assertIn("FIRST:LAST", done.stderr)

    def test_last_seconds_that_are_none(self):
        for text in ("-3", "0", "nan", "inf", "soon"):
            done = run(["--last", text, "x.py"], python=sys.executable)
            self.assertEqual(done.returncode, 2, text)
            self.assertIn("a number of seconds", done.stderr)

    def test_each_part_has_a_file(self):
        from raceline.recorder import Settings

        for folder in ("runs", ".raceline"):
            settings = Settings(os.path.join(folder, "a.raceline.gz"))
            self.assertEqual([settings.next_output(), settings.next_output()], [os.path.join(folder, name) for name in ("a.raceline.gz", "a-2.raceline.gz")])

    def test_each_rank_has_a_file(self):
        from raceline import recorder

        before = {name: os.environ.pop(name, None) for name in ("RANK", "WORLD_SIZE")}
        try:
            self.assertEqual(recorder.with_rank("a.raceline"), "a.raceline")
            os.environ.update(RANK="3", WORLD_SIZE="8")
            self.assertEqual((recorder.with_rank("d/a.raceline.gz"), recorder.with_rank("a")), ("d/a.rank3.raceline.gz", "a.rank3"))
        finally:
            for name, value in before.items():
                os.environ.pop(name, None)
                if value is not None:
                    os.environ[name] = value

    def test_patches_are_put_back(self):
        from raceline.patches import Patches

        class Base:
            def one(self):
                return 1

        class Owner(Base):
            two = 2

        patches = Patches()
        patches.put(Owner, "one", lambda self: 10)
        patches.put(Owner, "two", 20)
        patches.put(Owner, "two", 200)
        self.assertEqual((Owner().one(), Owner.two), (10, 200))
        patches.back()
        self.assertEqual((Owner().one(), Owner.two, "one" in vars(Owner)), (1, 2, False))


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
