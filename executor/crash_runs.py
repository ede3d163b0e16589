"""What a recording holds when its program dies: `python executor/crash_runs.py -o FOLDER` on a machine with a GPU.

Records a program many times and ends it at a random moment: by SIGKILL, or by a kernel that writes where no memory is. Each trace has to
be readable to its end and to hold every step that the program took earlier than a grace before it died; the grace is a few times
the interval at which rows are handed over. The traces stay in the folder, for `raceline trace` to open.
"""
import argparse
import concurrent.futures
import json
import os
import random
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
GRACE_SECONDS = 0.5
PROGRAM = '''
import sys, time, torch
ends_at = float(sys.argv[1])
side = torch.cuda.Stream()
x = torch.zeros(1 << 16, device="cuda")
print("begins", flush=True)
began, number = time.time(), 0
while True:
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x * 2
        y.record_stream(side)
    torch.cuda.current_stream().wait_stream(side)
    x.add_(1)
    number += 1
    if number % 50 == 0:
        torch.cuda.current_stream().synchronize()
    print(number, time.time(), flush=True)
    if ends_at and time.time() - began > ends_at:
        nowhere = torch._C._construct_storage_from_data_pointer(0x100000, torch.device("cuda", 0), 1 << 20)
        torch.empty(0, dtype=torch.uint8, device="cuda").set_(nowhere, 0, (1 << 20,)).fill_(1)
        torch.cuda.synchronize()
'''


def die(number, way, folder, level):
    """One run; returns what is wrong with its trace, or None."""
    program, trace = os.path.join(folder, "dies.py"), os.path.join(folder, f"{way}-{number:02}.raceline")
    moment = random.Random(f"{way} {number}").uniform(0.3, 2.5)
    command = [sys.executable, "-m", "raceline", "--level", level, "-o", trace, program, str(moment if way == "illegal" else 0)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=dict(os.environ, PYTHONPATH=HERE))
    process.stdout.readline()
    lines = []
    if way == "kill":
        until = time.time() + moment
        for line in process.stdout:
            lines.append(line)
            if time.time() > until:
                break
        process.send_signal(signal.SIGKILL)
        died = time.time()
        lines += process.stdout.readlines()
    else:
        lines = process.stdout.readlines()
        died = float(lines[-1].split()[1])
    process.wait()
    size = -1
    while size != os.path.getsize(trace):  # the writer's process ends a little later
        size = os.path.getsize(trace)
        time.sleep(0.5)
    steps = [(int(a), float(b)) for a, _, b in (line.partition(" ") for line in lines if line.endswith("\n"))]
    due = max((number for number, at in steps if at < died - GRACE_SECONDS), default=0)
    return {"way": way, "run": number, "after_s": round(moment, 2), "exit": process.returncode, "steps": steps[-1][0], "due": due, **inspect(trace, due)}


def inspect(path, due):
    with open(path, encoding="utf-8") as text:
        content = text.read()
    rows, wrong = [], None
    for at, line in enumerate(content.splitlines()):
        try:
            rows.append(json.loads(line))
        except ValueError:
            wrong = f"line {at + 1} is broken"
    names = {row["id"]: row["v"] for row in rows if row.get("k") == "str"}
    count = {kind: sum(row.get("k") == "op" and names.get(row["name"]) == kind for row in rows) for kind in ("aten::add_", "aten::mul")}
    kernels = sum(row.get("k") == "gpu" for row in rows)
    waits = sum(row.get("k") == "wait" for row in rows)
    if not wrong and not content.endswith("\n"):
        wrong = "the last line is cut"
    if not wrong and min(count["aten::add_"], count["aten::mul"], waits // 2) < due:
        wrong = f"{due} steps were due, {count}, {waits} waits are there"
    return {"held": count["aten::add_"], "kernels": kernels, "end": next((row["status"] for row in rows if row.get("k") == "end"), None), "wrong": wrong}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--level", default="full")
    parser.add_argument("--at-once", type=int, default=10)
    parser.add_argument("--ways", default="kill,illegal")
    options = parser.parse_args()
    os.makedirs(options.output, exist_ok=True)
    with open(os.path.join(options.output, "dies.py"), "w", encoding="utf-8") as program:
        program.write(PROGRAM)
    with concurrent.futures.ThreadPoolExecutor(options.at_once) as pool:
        jobs = [pool.submit(die, number, way, options.output, options.level) for way in options.ways.split(",") for number in range(options.runs)]
        results = [job.result() for job in jobs]
    for row in results:
        print(json.dumps(row))
    for way in options.ways.split(","):
        ours = [row for row in results if row["way"] == way]
        held = sum(row["held"] for row in ours) / max(1, sum(row["steps"] for row in ours))
        print(f"{way}: {len(ours)} runs, {sum(row['wrong'] is None for row in ours)} as they should be, {held:.1%} of all steps held")


if __name__ == "__main__":
    main()
