"""Writes core/torch/generated/operators.ts: what PyTorch's own operator schemas say that each operator does to its tensors.

Run by hand, with the CPU build of the version that the table is made for:

    python -m venv venv && venv/bin/pip install torch==2.13.0 numpy
    venv/bin/python scripts/torch-schemas.py            writes the table
    venv/bin/python scripts/torch-schemas.py --check    fails when the committed table is another one

A schema tells which arguments an operator reads, writes (`Tensor(a!)`) and returns views of (`Tensor(a)`), and what it
gives. It does not tell which calls make the host wait, which only ask for metadata, or what a Python wrapper adds: that is in
the hand-written tables beside the generated one.
"""

import argparse
import builtins
import collections
import concurrent.futures
import datetime
import hashlib
import inspect
import pathlib
import queue
import random
import re
import sys
import textwrap
import threading

import numpy
import torch
import torch.nn.functional

TARGET = pathlib.Path(__file__).parent.parent / "core/torch/generated/operators.ts"

# Families whose operators have the name of their module in front: `torch.linalg.qr` is `aten::linalg_qr`.
MODULES = {
    "linalg": torch.linalg,
    "fft": torch.fft,
    "special": torch.special,
}
# Operators without a place in a public module that programs call all the same.
PRIVATE = re.compile(r"^_(foreach|fused|scaled|grouped|int_mm|weight_int|amp|efficient|flash|convert_weight|weight_norm|softmax$|log_softmax$|unsafe_view$|to_copy$)")
# Their backward, quantized and vendor forms are called by PyTorch itself only.
INTERNAL = re.compile(
    r"backward|^(cudnn|miopen|mkldnn|mkl|q_per|qscheme|quantized|sym_|fbgemm)|_jvp$|_symint$|^_(fused|amp)_\w*[^_]$|^(data|slice_inverse)$|_copy$|_for_|_inplace$|_overrideable$"
)


def is_tensor(type_):
    return "Tensor" in str(type_)


def is_list(type_):
    return isinstance(type_, torch._C.ListType)


def written(argument):
    return argument.alias_info is not None and argument.alias_info.is_write


def aliased(result):
    return result.alias_info is not None


def is_out(schema):
    return any(argument.kwarg_only and written(argument) for argument in schema.arguments) and not schema.name.endswith("_")


def schemas():
    """Overloads on tensors by operator name, those with `out=` apart: every operator's Python function has that one keyword."""
    found = collections.defaultdict(list)
    # What TorchScript alone has (lists' own `sort`, say) is not with the dispatcher.
    dispatched = set(torch._C._dispatch_get_all_op_names())
    for schema in torch._C._jit_get_all_schemas():
        namespace, name = schema.name.split("::")
        on_tensors = any(is_tensor(part.type) for part in [*schema.arguments, *schema.returns])
        whole = f"{schema.name}.{schema.overload_name}".rstrip(".")
        if namespace == "aten" and on_tensors and whole in dispatched and not is_out(schema):
            found[name].append(schema)
    return found


def public(name):
    """The name as programs write it, with its module in front if it is not one of torch, a tensor, or torch.nn.functional."""
    if INTERNAL.search(name):
        return None
    for prefix, module in MODULES.items():
        if name.startswith(prefix + "_"):
            short = name[len(prefix) + 1 :]
            return f"{prefix}.{short}" if hasattr(module, short.rstrip("_")) else None
    if name.startswith("_"):
        return name if PRIVATE.search(name) else None
    homes = (torch, torch.Tensor, torch.nn.functional)
    return name if any(hasattr(home, name) for home in homes) else None


def effect(schema):
    """(kind, detail) of one overload."""
    writes = [i for i, argument in enumerate(schema.arguments) if written(argument)]
    tensors = [result for result in schema.returns if is_tensor(result.type)]
    if writes:
        return "writes", ",".join(map(str, writes))
    if not tensors:
        return "values", ""
    if aliased(tensors[0]):
        return ("splits" if is_list(tensors[0].type) else "views"), ""
    # Of the tensor in `zeros_like` and `new_zeros` the shape and the device are asked for only.
    if re.search(r"_like$|^new_", schema.name.split("::")[1]) or not any(is_tensor(argument.type) for argument in schema.arguments):
        return "makes", ""
    if len(tensors) > 1 or len(schema.returns) > 1:
        if any(is_list(result.type) for result in schema.returns):
            return "unknown", ""
        names = [result.name or "" for result in schema.returns]
        return "several", " ".join(name if name else "_" for name in names)
    return ("lists" if is_list(tensors[0].type) else "computes"), ""


def classify():
    tables = collections.defaultdict(set)
    for operator, overloads in schemas().items():
        name = public(operator)
        if name is None:
            continue
        effects = {effect(schema) for schema in overloads}
        kinds = {kind for kind, _ in effects}
        # An overload without any tensor among those with: `full` makes, `normal` does either.
        if kinds != {"makes"}:
            effects = {each for each in effects if each[0] != "makes"}
            kinds.discard("makes")
        if "splits" in kinds:
            kinds.discard("views")
        if "views" in kinds and len(kinds) > 1:
            kinds.discard("computes")
        for kind, detail in effects:
            if kind not in kinds or kind == "unknown":
                continue
            if kind == "writes" and detail == "0":
                tables["inPlace"].add(name)
            elif kind == "writes":
                tables["writing", detail].add(name)
            elif kind == "several" and "computes" in kinds:
                # `max(x)` is a tensor, `max(x, dim)` is several.
                tables["severalWithDim", detail].add(name)
            elif kind == "several":
                tables["several", detail].add(name)
            else:
                tables[kind].add(name)
    # Python functions over operators of another name.
    for name in dir(torch.nn.functional):
        function = getattr(torch.nn.functional, name)
        known = any(name in names for names in tables.values())
        if known or name.startswith("_") or not callable(function) or inspect.isclass(function):
            continue
        if function in torch.overrides.get_testing_overrides():
            tables["computes"].add(name)
    # The same method with the type in its name: no schema of its own.
    for name in ("bfloat16", "bool", "byte", "char", "double", "float", "half", "int", "long", "short", "cdouble", "cfloat"):
        tables["computes"].add(name)
    return tables


def tensor_methods():
    return {name for name in dir(torch.Tensor) if not name.startswith("_")}


def shared_names(names):
    """Names that other objects have as well: calling one tells nothing about what it is called on."""
    classes = [value for value in vars(builtins).values() if inspect.isclass(value)]
    others = [
        collections.Counter, collections.deque, collections.OrderedDict, datetime.datetime, datetime.timedelta, pathlib.Path, queue.Queue,
        random.Random, threading.Thread, threading.Event, concurrent.futures.Executor, concurrent.futures.Future, re.Pattern, re.Match,
        numpy.ndarray, numpy.generic, numpy.random.Generator, torch.nn.Module, torch.optim.Optimizer, torch.Generator,
        torch.utils.data.DataLoader, torch.distributions.Distribution, torch.Stream, torch.Event, torch.UntypedStorage,
    ]
    return {name for name in names if any(hasattr(other, name) for other in [*classes, *others])}


def digest():
    lines = sorted(str(schema) for schema in torch._C._jit_get_all_schemas() if schema.name.startswith("aten::"))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def words(names):
    return "\n".join(textwrap.wrap(" ".join(sorted(names)), 118, break_on_hyphens=False))


def constant(comment, name, names):
    return f"/** {comment} */\nexport const {name} = `\n{words(names)}\n`;\n"


def rows(comment, name, entries):
    body = "\n".join(f"{detail}: {' '.join(sorted(names))}" for detail, names in sorted(entries.items()))
    return f"/** {comment} */\nexport const {name} = `\n{body}\n`;\n"


def render():
    tables = classify()
    grouped = collections.defaultdict(dict)
    for key, names in tables.items():
        if isinstance(key, tuple):
            grouped[key[0]][key[1]] = names
    every = set().union(*tables.values())
    methods = tensor_methods()
    version = torch.__version__.split("+")[0]
    parts = [
        f"/**\n * What PyTorch's operator schemas say, by name. Made by scripts/torch-schemas.py; not to be edited.\n *\n * torch {version}, schemas {digest()}\n */\n",
        f"export const torchVersion = '{version}';\n",
        constant("Read their tensors and make one new one.", "computes", tables["computes"]),
        constant("Read their tensors and make a list of new ones.", "lists", tables["lists"]),
        constant("Give the memory of their first tensor, in another shape (or a copy where that cannot be).", "views", tables["views"]),
        constant("Give a list of views of their first tensor.", "splits", tables["splits"]),
        constant("Write their first tensor or list of tensors.", "inPlace", tables["inPlace"]),
        constant("Make a tensor out of none.", "makes", tables["makes"]),
        constant("Take tensors and give what is none: numbers, flags, sizes.", "values", tables["values"]),
        rows("Give several new tensors. A line: the names of the fields (`_`: without a name), then the operators.", "several", grouped["several"]),
        rows("The same, only where they are asked about one dimension.", "severalWithDim", grouped["severalWithDim"]),
        rows("Write several of their arguments. A line: the places, then the operators.", "writing", grouped["writing"]),
        constant("Methods that a tensor has, of all that the tables here name.", "methods", every & methods),
        constant("Of those, methods that other objects have as well.", "shared", shared_names(every & methods)),
    ]
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail when the committed table differs")
    options = parser.parse_args()
    text = render()
    if not options.check:
        TARGET.write_text(text)
    elif TARGET.read_text() != text:
        sys.exit(f"{TARGET} is not what torch {torch.__version__} gives: run scripts/torch-schemas.py")


main()
