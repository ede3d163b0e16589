"""What recording costs: `python executor/bench_overhead.py` on a machine with a GPU.

Two loops, host-bound tiny operators and a transformer's training step. A process for each way of watching (PyTorch's callbacks
cannot be taken back, and a profiler that has run once leaves its mark) is kept waiting; in each round they run a few iterations one
after the other. The host's speed drifts by half within a minute, so an iteration is compared with the plain one of its own round;
the figure is the median of the rounds' ratios. "plain" twice is the control. CSAN is PyTorch's own CUDA stream sanitizer.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
WAYS = ("plain again", "timeline", "full", "CSAN")


def tiny():
    """2,000 operators of a few microseconds on two streams, handed over 200 times."""
    import torch

    first, second = torch.cuda.Stream(), torch.cuda.Stream()
    source, sink = torch.zeros(1024, device="cuda"), torch.zeros(1024, device="cuda")

    def step():
        for _ in range(200):
            with torch.cuda.stream(first):
                a = source.add(1.0)
                a.mul_(0.5)
                b = a.relu()
                c = b + source
                c.sub_(b)
            second.wait_stream(first)
            with torch.cuda.stream(second):
                c.record_stream(second)
                d = c.mul(2.0)
                d = d.tanh()
                sink.copy_(d)
                sink.add_(1.0)
            first.wait_stream(second)
            del a, b, c, d

    return step


def transformer():
    """Forward, backward and SGD of 12 layers, width 768, in bf16, on 8 sequences of 512."""
    import torch

    layer = torch.nn.TransformerEncoderLayer(768, 12, 3072, batch_first=True, norm_first=True, dropout=0.0)
    model = torch.nn.TransformerEncoder(layer, 12, enable_nested_tensor=False).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    batch = torch.randn(8, 512, 768, device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(batch).float().square().mean()
        loss.backward()
        optimizer.step()

    return step


LOOPS = {"tiny": tiny, "transformer": transformer}


def timed(step, count):
    """Milliseconds of each of some iterations."""
    import torch

    times = []
    for _ in range(count):
        torch.cuda.synchronize()
        start = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) * 1000)
    return times


def watch(way):
    """Start watching for the rest of the process; returns what ends it."""
    if way.startswith("plain"):
        return lambda: None
    if way == "CSAN":
        import torch.cuda._sanitizer

        torch.cuda._sanitizer.enable_cuda_sanitizer()
        return lambda: None
    sys.path.insert(0, HERE)
    import torch

    from raceline.recorder import Recorder, Settings

    path = os.path.join(tempfile.mkdtemp(), "bench.raceline")
    recorder = Recorder(Settings(path, way), torch).start()

    def end():
        before = time.perf_counter()
        file = recorder.stop()
        return {"finish_s": round(time.perf_counter() - before, 1), "mb": round(os.path.getsize(path) / 1e6, 1), "operators": file.counts.get("op", 0), "kernels": file.counts.get("gpu", 0), "limits": file.limits}

    return end


def child(way, loop):
    """Run as many iterations as each line of the input says; an empty line is the end."""
    end = watch(way)
    step = LOOPS[loop]()
    timed(step, 8)
    print("ready", flush=True)
    for line in sys.stdin:
        if not line.strip():
            break
        print(json.dumps(timed(step, int(line))), flush=True)
    print(json.dumps(end()), flush=True)
    sys.stdout.flush()
    os._exit(0)


class Watched:
    def __init__(self, way, loop):
        self.way = way
        self._process = subprocess.Popen([sys.executable, __file__, "--child", way, loop], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def ask(self, line):
        print(line, file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())

    def ready(self):
        if self._process.stdout.readline().strip() != "ready":
            raise RuntimeError(f"{self.way}: failed\n{self._process.stderr.read()[-2000:]}")
        return self


def measure(loop, ways, rounds, iterations):
    """Ratios to the plain loop by way: the median of the rounds, and the middle half."""
    running = [Watched("plain", loop).ready(), *(Watched(way, loop).ready() for way in ways)]
    ratios, times = {way: [] for way in ways}, {}
    for _ in range(rounds):
        plain = None
        for one in running:
            took = statistics.median(one.ask(str(iterations)))
            times.setdefault(one.way, []).append(took)
            if plain is None:
                plain = took
            else:
                ratios[one.way].append(took / plain)
    for one in running:
        print(json.dumps({"loop": loop, "way": one.way, "ms": round(statistics.median(times[one.way]), 1), "end": one.ask("")}), flush=True)
    return {way: statistics.quantiles(values, n=4) for way, values in ratios.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--iterations", type=int, default=3)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(*options.child)
        return
    ways = options.ways.split(",")
    table = {loop: measure(loop, ways, options.rounds, options.iterations) for loop in LOOPS}
    print("\n| watched by | " + " | ".join(LOOPS) + " |\n|---|" + "---|" * len(LOOPS))
    for way in ways:
        print(f"| {way} | " + " | ".join(f"{table[loop][way][1]:.2f} ({table[loop][way][0]:.2f} to {table[loop][way][2]:.2f})" for loop in LOOPS) + " |")


if __name__ == "__main__":
    main()
