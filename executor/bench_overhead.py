"""What recording costs: `python executor/bench_overhead.py` on a machine with a GPU.

Two loops, host-bound tiny operators and a transformer's training step, each timed plain and then watched in the same process
(a fresh one per way of watching and loop: PyTorch's callbacks cannot be taken back, and a profiler that has run once leaves its
mark). The host's speed drifts by half within a process, so each iteration is timed in units of a fixed piece of Python that runs
just before it; the figure is the ratio of the medians, rounds are interleaved and their median is taken. CSAN is PyTorch's own CUDA stream sanitizer.
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
WAYS = ("nothing", "timeline", "full", "CSAN")


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


def pace():
    """A fixed piece of work for the host: how fast it is just now."""
    start = time.perf_counter()
    total = 0
    for number in range(60_000):
        total += number & 3
    return time.perf_counter() - start


def timed(step, count):
    """(milliseconds, the same in units of pace) of an iteration, medians."""
    import torch

    times, paced = [], []
    for _ in range(count):
        torch.cuda.synchronize()
        unit = pace()
        start = time.perf_counter()
        step()
        torch.cuda.synchronize()
        took = time.perf_counter() - start
        times.append(took * 1000)
        paced.append(took / unit)
    return statistics.median(times), statistics.median(paced)


def watch(way):
    """Start watching for the rest of the process; returns what ends it."""
    if way == "nothing":
        return lambda: None
    if way == "CSAN":
        import torch.cuda._sanitizer

        torch.cuda._sanitizer.enable_cuda_sanitizer()
        return lambda: None
    sys.path.insert(0, HERE)
    import torch

    from raceline.cuda.session import Session, Sources
    from raceline.sites import Sites
    from raceline.trace_file import TraceFile

    path = os.path.join(tempfile.mkdtemp(), "bench.raceline")
    sources = Sources(way)
    start = time.time_ns()
    file = TraceFile(path, {"raceline": 1, "producer": "bench", "mode": "cuda", "unix": str(start), "level": way}, start)
    session = Session(file, Sites(file, os.path.dirname(torch.__file__)), start, way, sources)
    session.start()

    def end():
        before = time.perf_counter()
        session.finish()
        file.close(session.end_time(), "ok")
        return {"finish_s": round(time.perf_counter() - before, 1), "mb": round(os.path.getsize(path) / 1e6, 1), "operators": file.counts.get("op", 0), "kernels": file.counts.get("gpu", 0), "limits": file.limits}

    return end


def child(way, loop, count):
    step = LOOPS[loop]()
    timed(step, 8)
    plain, plain_paced = timed(step, 2 * count)
    end = watch(way)
    timed(step, 3)
    watched, watched_paced = timed(step, count)
    row = {"loop": loop, "way": way, "plain_ms": round(plain, 1), "watched_ms": round(watched, 1), "ratio": round(watched_paced / plain_paced, 2), "end": end()}
    print(json.dumps(row), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=15)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(*options.child, options.iterations)
        return
    ratios = {}
    for _ in range(options.rounds):
        for way in options.ways.split(","):
            for loop in LOOPS:
                done = subprocess.run([sys.executable, __file__, "--child", way, loop, "--iterations", str(options.iterations)], capture_output=True, text=True)
                line = next((line for line in reversed(done.stdout.splitlines()) if line.startswith("{")), None)
                if line is None:
                    print(f"{way}: failed\n{done.stderr[-2000:]}", flush=True)
                    continue
                print(line, flush=True)
                ratios.setdefault((way, loop), []).append(json.loads(line)["ratio"])
    print("\n| watched by | " + " | ".join(LOOPS) + " |\n|---|" + "---|" * len(LOOPS))
    for way in options.ways.split(","):
        cells = [f"{statistics.median(ratios[way, loop]):.2f} ({', '.join(map(str, sorted(ratios[way, loop])))})" if (way, loop) in ratios else "failed" for loop in LOOPS]
        print(f"| {way} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
