"""Runs the executor many times with PyTorch imported once: reads requests, forks for each, answers with the exit code.

A request is a line of JSON: arguments, cwd, and the files that take stdout and stderr.
"""
import json
import os
import sys
import warnings

import torch._meta_registrations  # noqa: F401  (a meta kernel's first use imports them)


def child(request):
    for number, path in ((1, request["stdout"]), (2, request["stderr"])):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(descriptor, number)
        os.close(descriptor)
    if request["cwd"]:
        os.chdir(request["cwd"])
    sys.argv = ["raceline", *request["arguments"]]
    warnings.simplefilter("default")
    from raceline.command import main

    main()


def serve():
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            return json.loads(line)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status) if hasattr(os, "waitstatus_to_exitcode") else status >> 8, flush=True)
    return None


if __name__ == "__main__":
    got = serve()
    if got is not None:
        child(got)  # outside of everything, so that the program ends as it would alone
