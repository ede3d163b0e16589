"""Runs the executor as its users do, and reads the traces that it writes."""
import atexit
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
EXECUTOR = os.path.dirname(HERE)
REPOSITORY = os.path.dirname(EXECUTOR)
PROGRAMS = os.path.join(REPOSITORY, "test", "programs")


def _has_torch(python):
    return subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0


def _find():
    for python in (os.environ.get("RACELINE_TEST_PYTHON"), os.path.join(REPOSITORY, ".venv", "bin", "python"), sys.executable):
        if python and os.path.exists(python) and _has_torch(python):
            return python
    return None


TORCH_PYTHON = _find()
NEEDS_TORCH = "needs PyTorch: name an interpreter that has it in RACELINE_TEST_PYTHON, or make .venv"


_warm = None


def run_warm(arguments, cwd=None):
    """As `run` with the interpreter that has PyTorch, imported once for all runs."""
    global _warm
    if not hasattr(os, "fork"):
        return run(arguments, cwd=cwd)
    if _warm is None:
        environment = dict(os.environ, PYTHONPATH=EXECUTOR, CUDA_VISIBLE_DEVICES="")
        _warm = subprocess.Popen([TORCH_PYTHON, os.path.join(HERE, "warm.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        atexit.register(_stop)
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: os.path.join(folder, name) for name in ("stdout", "stderr")}
        print(json.dumps({"arguments": list(arguments), "cwd": cwd, **paths}), file=_warm.stdin, flush=True)
        code = int(_warm.stdout.readline())
        texts = {}
        for name, path in paths.items():
            with open(path, encoding="utf-8") as text:
                texts[name] = text.read()
    return subprocess.CompletedProcess(arguments, code, texts["stdout"], texts["stderr"])


def _stop():
    _warm.stdin.close()
    _warm.stdout.close()
    _warm.wait()


def run(arguments, python=None, path=(), cwd=None, timeout=300):
    """`python -m raceline ARGUMENTS`; returns the finished process."""
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([*path, EXECUTOR]), CUDA_VISIBLE_DEVICES="")
    return subprocess.run([python or TORCH_PYTHON, "-m", "raceline", *arguments], capture_output=True, text=True, env=environment, cwd=cwd, timeout=timeout)


def settled(path):
    """The trace of a program that was killed, once its writer has put down what it was handed."""
    size = -1
    while size != os.path.getsize(path):
        size = os.path.getsize(path)
        time.sleep(0.3)
    return Trace(path)


class Trace:
    """A trace's lines, with strings and sites looked up."""

    def __init__(self, path):
        with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as text:
            content = text.read()
        whole = content[: content.rfind("\n") + 1]
        rows = [json.loads(line) for line in whole.splitlines()]
        self.header, self.rows = rows[0], rows[1:]
        self.strings = {r["id"]: r["v"] for r in self.rows if r["k"] == "str"}
        self.sites = {r["id"]: r for r in self.rows if r["k"] == "site"}
        self.streams = {}
        for row in self.of("stream"):
            self.streams.setdefault(row["id"], {}).update(row)
        self.limits = [r["v"] for r in self.of("limit")]
        self.end = next((r for r in self.rows if r["k"] == "end"), None)

    def of(self, *kinds):
        return [r for r in self.rows if r["k"] in kinds]

    def name(self, row):
        return self.strings.get(row.get("name"))

    def stream(self, row):
        """What the program calls the stream of a row."""
        return self.strings.get(self.streams[row["st"]].get("name"))

    def line(self, row):
        return self.sites[row["s"]]["line"] if "s" in row else None

    def steps(self):
        """Steps in file order, short: `op aten::mul on a`, `record 0 on a`, …"""
        out = []
        for r in self.rows:
            if "n" not in r:
                continue
            text = r["k"]
            if r["k"] == "op":
                text += f" {self.name(r)}"
            if r["k"] in ("record", "wait") or r.get("on") == "event":
                text += f" {r['e']}"
            if "st" in r:
                text += f" on {self.stream(r)}"
            if r.get("implicit"):
                text += " (implicit)"
            out.append(text)
        return out

    def check(self, case):
        """What every trace must keep: ids declared before use, numbers growing, accesses within blocks."""
        seen = {k: set() for k in ("str", "site", "stream", "thread")}
        blocks, last = {}, -1
        for r in self.rows:
            kind = r["k"]
            if kind in seen:
                seen[kind].add(r["id"])
            for key, table in (("s", "site"), ("st", "stream"), ("th", "thread"), ("up", "site")):
                if key in r:
                    case.assertIn(r[key], seen[table], r)
            for key in ("name", "file", "fn", "api"):
                if key in r:
                    case.assertIn(r[key], seen["str"], r)
            if "n" in r:
                case.assertGreater(r["n"], last, r)
                last = r["n"]
            if kind == "alloc":
                case.assertNotIn(r["b"], blocks)
                blocks[r["b"]] = r["size"]
            elif kind in ("free", "recordStream", "reusable", "host"):
                case.assertIn(r["b"], blocks)
            for block, low, high, mode in r.get("acc", ()) if kind == "op" else ():
                case.assertIn(block, blocks)
                case.assertTrue(0 <= low < high <= blocks[block], r)
                case.assertIn(mode, ("r", "w", "rw"))
