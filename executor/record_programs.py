"""Records many programs next to CSAN: `python executor/record_programs.py -o FOLDER PROGRAMS…` on a machine with a GPU.

PROGRAMS are files, or folders that are searched for .py files (a folder with a run.py is one program). Each is recorded with `full`
and run again under PyTorch's CUDA stream sanitizer, several at once, with PyTorch imported once for all of them. The folder gets a
trace per program and runs.json, which scripts/recordings-table.mjs makes a table of.
"""
import argparse
import json
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT_SECONDS = 120


def programs(roots):
    """(name, path of what is run)."""
    for root in roots:
        if os.path.isfile(root):
            yield os.path.basename(root), root
            continue
        for folder, folders, files in os.walk(root):
            folders.sort()
            if "run.py" in files:
                folders.clear()
                yield os.path.relpath(folder, root), os.path.join(folder, "run.py")
                continue
            for name in sorted(files):
                if name.endswith(".py"):
                    yield os.path.relpath(os.path.join(folder, name), root), os.path.join(folder, name)


def record(path, output, level, extra):
    sys.argv = ["raceline", "--level", level, "--relative-to", os.path.dirname(os.path.abspath(path)), "-o", output, *extra, path]
    from raceline.command import main

    main()


def sanitize(path):
    import runpy

    import torch.cuda._sanitizer

    torch.cuda._sanitizer.enable_cuda_sanitizer()
    sys.argv = [path]
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    runpy.run_path(path, run_name="__main__")


def start(job):
    """Run a job in a child of its own; its output goes to a file."""
    pid = os.fork()
    if pid:
        return pid
    os.setpgid(0, 0)
    descriptor = os.open(job["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--at-once", type=int, default=10)
    parser.add_argument("--level", default="full")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--no-csan", action="store_true")
    parser.add_argument("--skip", default="", help="leave out programs whose name has one of these words (by comma)")
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args()
    os.makedirs(options.output, exist_ok=True)
    sys.path.insert(0, HERE)
    import torch  # noqa: F401  (without CUDA, which a child could not use any more)

    skip = [word for word in options.skip.split(",") if word]
    rows, jobs = {}, []
    for name, path in programs(options.programs):
        if any(word in name for word in skip):
            continue
        flat = name.replace(os.sep, "__").removesuffix(".py")
        rows[name] = {"name": name, "trace": f"{flat}.raceline.gz"}
        jobs.append({"name": name, "path": path, "way": "record", "output": os.path.join(options.output, f"{flat}.raceline.gz"), "log": os.path.join(options.output, f"{flat}.record.txt")})
        if not options.no_csan:
            jobs.append({"name": name, "path": path, "way": "csan", "log": os.path.join(options.output, f"{flat}.csan.txt")})
    running, waiting = {}, jobs[::-1]
    while waiting or running:
        while waiting and len(running) < options.at_once:
            job = waiting.pop()
            pid = start(job)
            if pid is None:
                # Outside of everything, so that the program ends as it would alone.
                return record(job["path"], job["output"], options.level, ["--device", options.device]) if job["way"] == "record" else sanitize(job["path"])
            running[pid] = job, time.time()
        for pid, (job, since) in list(running.items()):
            done, status = os.waitpid(pid, os.WNOHANG)
            if not done:
                if time.time() - since > LIMIT_SECONDS:
                    os.kill(pid, 9)
                continue
            del running[pid]
            with open(job["log"], encoding="utf-8", errors="replace") as text:
                said = text.read()
            row = rows[job["name"]]
            row[job["way"]] = os.waitstatus_to_exitcode(status)
            if job["way"] == "csan":
                row["races"] = said.count("CSAN detected a possible data race")
            elif row["record"]:
                row["said"] = said[-600:]
        time.sleep(0.02)
    with open(os.path.join(options.output, "runs.json"), "w", encoding="utf-8") as out:
        json.dump(list(rows.values()), out, indent=1)
    failed = [row["name"] for row in rows.values() if row["record"]]
    print(f"{len(rows)} programs recorded, {len(failed)} of them ended with an error: {', '.join(failed)}")
    return None


if __name__ == "__main__":
    main()
