"""Triton kernels that the program launches itself: no operator stands for them, so their launches are steps of their own.

What a kernel does to its tensors is read from its own intermediate code, once per kernel: a pointer that reaches a store is written, one
that reaches a load is read. The bytes are the tensor's whole extent. Code that this does not follow gives a step without accesses, blind.
"""
import re
import time

import torch

from raceline.operators import extent
from raceline.rows import BOTH, OP, READ, WRITE

now = time.time_ns
FUNCTION = re.compile(r"tt\.func public @\S+?\((.*?)\)\s*(?:attributes|\{)", re.S)
POINTER = re.compile(r"(%\w+): !tt\.ptr<")
RESULT = re.compile(r"^\s*(%[\w.]+)(?::\d+)? = (\S+)(.*)$")
NAME = re.compile(r"%[\w.]+(?:#\d+)?")
CARRIED = re.compile(r"(%[\w.]+) = (%[\w.]+(?:#\d+)?)")
LOADS = ("tt.load", "tt.descriptor_load", "tt.descriptor_gather", "tt.experimental_descriptor_load")
STORES = ("tt.store", "tt.descriptor_store", "tt.descriptor_scatter", "tt.experimental_descriptor_store")
ATOMICS = ("tt.atomic_rmw", "tt.atomic_cas", "tt.descriptor_reduce")


def modes_of(code):
    """What a kernel does to each of its pointers, in order (READ, WRITE, BOTH; None: nothing); None: it cannot be told."""
    head = FUNCTION.search(code)
    if head is None or "tt.call" in code or "tt.int_to_ptr" in code or "inline_asm" in code:
        return None
    pointers = POINTER.findall(head.group(1))
    roots = {name: {at} for at, name in enumerate(pointers)}
    done = [set() for _ in pointers]

    def reach(operand):
        return roots.get(operand) or roots.get(operand.partition("#")[0]) or set()

    for line in code[head.end() :].splitlines():
        found = RESULT.match(line)
        result, operation, rest = found.groups() if found else (None, line.strip().partition(" ")[0], line)
        operands = NAME.findall(rest)
        first = reach(operands[0]) if operands else set()
        if operation in LOADS:
            for at in first:
                done[at].add(READ)
            continue
        if operation in STORES:
            for at in first:
                done[at].add(WRITE)
            continue
        if operation in ATOMICS:
            for at in first:
                done[at].update((READ, WRITE))
            continue
        if "iter_args(" in rest:
            for index, (inner, outer) in enumerate(CARRIED.findall(rest.partition("iter_args(")[2])):
                roots[inner] = set(reach(outer))
                if result:
                    roots[f"{result}#{index}"] = set(reach(outer))
            if result:
                roots[result] = set().union(*(reach(outer) for _, outer in CARRIED.findall(rest.partition("iter_args(")[2])), set())
        elif result:
            through = set().union(*(reach(operand) for operand in operands), set())
            if through:
                roots[result] = through
    return [BOTH if len(what) == 2 else next(iter(what)) if what else None for what in done]


def patch_launch(patches, wrap):
    """Put `wrap(plain)` in the place of the call that launches a kernel. False: Triton is there, and has no such call (2.1)."""
    try:
        from triton.runtime.jit import JITFunction
    except Exception:  # there is no Triton, or it cannot be loaded here
        return True
    plain = getattr(JITFunction, "run", None)
    if plain is None:
        return False
    patches.put(JITFunction, "run", wrap(plain))
    return True


def kernel_name(function):
    return getattr(function, "__name__", None) or getattr(function.fn, "__name__", "triton kernel")


class TritonLaunches:
    def __init__(self, session, patches):
        self._session = session
        self._patches = patches
        self._modes = {}

    def install(self):
        launched = self._launched

        def wrap(plain):
            def run(function, *args, **kwargs):
                start = now()
                kernel = plain(function, *args, **kwargs)
                if not kwargs.get("warmup"):
                    try:
                        launched(function, kernel, args, kwargs, start, now())
                    except Exception:  # what is recorded must not change what the program does
                        pass
                return kernel

            return run

        if not patch_launch(self._patches, wrap):
            self._session.recording.file.limit("Launches of Triton kernels are not seen: this Triton has no call of them to watch.")

    def _launched(self, function, kernel, args, kwargs, start, end):
        session = self._session
        thread = session.local.thread
        file = session.recording.file
        if thread.pending is not None or file.closed:
            return
        named = {name: value for name, value in kwargs.items() if name in function.arg_names}
        values = [*args, *(named[name] for name in function.arg_names[len(args) :] if name in named)]
        tensors = [value for value in values if isinstance(value, torch.Tensor)]
        device = next((tensor.get_device() for tensor in tensors if tensor.is_cuda), torch._C._cuda_getDevice())
        modes = self._modes_of(kernel)
        accesses, blind = [], modes is None or len(modes) != len(tensors)
        for tensor, mode in zip(tensors, () if blind else modes):
            block = session.blocks.live.get(tensor.untyped_storage().data_ptr())
            span = extent(tensor) if block is not None and mode is not None else None
            if span:
                accesses += (block, *span, mode)
        stream = session.stream_of(torch._C._cuda_getCurrentRawStream(device), device)
        site = session.recording.sites.here()
        if blind:
            file.limit("Some Triton kernels are launched whose accesses cannot be read from their code: what they read and write is not known.")
        file.rows.extend((OP, start, end, stream, file.string(kernel_name(function)), session.thread_of(thread), session.slot_of(thread), session.nowhere() if site is None else site,
                          ',"blind":true' if blind else None, len(accesses) >> 2, *accesses))

    def _modes_of(self, kernel):
        key = id(kernel)
        if key not in self._modes:
            code = getattr(kernel, "asm", {}).get("ttir")
            # The kernel is kept with it: its id is the key.
            self._modes[key] = kernel, modes_of(code) if isinstance(code, str) else None
        return self._modes[key][1]
