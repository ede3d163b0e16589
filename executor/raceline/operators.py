"""What an operator does to its tensors, read once from its schema.

PyTorch's schemas say which arguments an operator writes (`Tensor(a!)`) and which results are views of an argument
(`Tensor(a)`). A few operators need more than that; they are the tables below. A result that shares its storage with an
argument is a view whatever the schema says (`_unsafe_view`), so results are compared with what is known, never trusted.
"""

# Memory is handed out, nothing runs on the device.
ALLOCATES_ONLY = {
    "empty", "empty_like", "empty_strided", "empty_permuted", "empty_quantized", "new_empty", "new_empty_strided",
    "_empty_affine_quantized", "_efficientzerotensor",
}
# Metadata only: the schema says `a!`, no byte of data is touched.
METADATA_ONLY = {
    "resize_", "resize_as_", "set_", "requires_grad_", "detach_", "squeeze_", "unsqueeze_", "transpose_", "t_", "swapaxes_",
    "swapdims_", "as_strided_", "is_pinned", "is_same_size", "size", "stride", "sym_size", "sym_stride", "sym_numel",
    "sym_storage_offset", "numel", "dim", "is_contiguous", "storage_offset", "record_stream", "_version",
    "_has_compatible_shallow_copy_type", "result_type", "_autocast_to_reduced_precision", "retain_grad", "rename_",
}
# Reads one value back: the host waits for the current stream.
READS_BACK = {"_local_scalar_dense", "is_nonzero", "equal", "item"}
# The old contents are not read although the schema only says "written".
OVERWRITES = {"copy_", "fill_", "zero_", "normal_", "uniform_", "random_", "bernoulli_", "exponential_"}


# The schemas of collectives mark nothing as written. By the argument's name: results, and tensors that are both.
COLLECTIVES = "c10d::"


def _collective_mode(operator, argument):
    if argument.startswith("output"):
        return "w"
    if argument == "tensors" and operator != "send":
        return "w" if operator.startswith("recv") else "rw"
    return "r"


class Plan:
    """Where an operator's tensors are: positions and names of arguments, each with whether it is written."""

    __slots__ = ("name", "full", "base", "tensors", "named", "kind", "writes", "label", "scratch", "collective", "quiet", "copies", "pins", "simple", "call", "fast", "func", "scratch_sizes", "called")

    def __init__(self, func):
        schema = func._schema
        # The operator itself, without the wrapper that a call of an OpOverload goes through first.
        self.call = getattr(func, "_op", func)
        self.name = schema.name
        self.full = f"{schema.name}.{schema.overload_name}" if schema.overload_name else schema.name
        self.base = schema.name.rpartition("::")[2]
        overwrites = self.base in OVERWRITES or any(a.is_out for a in schema.arguments)
        self.tensors = []
        self.named = {}
        for index, argument in enumerate(schema.arguments):
            text = str(argument.type)
            if "Tensor" not in text:
                continue
            info = argument.alias_info
            written = info is not None and info.is_write
            mode = "r" if not written else "w" if overwrites or argument.is_out else "rw"
            if schema.name.startswith(COLLECTIVES):
                mode = _collective_mode(self.base, argument.name)
            many = "List" in text or "[]" in text
            self.tensors.append((index, mode, many))
            self.named[argument.name] = (mode, many)
        self.writes = any(mode != "r" for _, mode, _ in self.tensors)
        if self.base in ALLOCATES_ONLY:
            self.kind = "empty"
        elif self.base == "record_stream":
            self.kind = "record_stream"
        elif self.base in METADATA_ONLY:
            self.kind = "metadata"
        elif self.base in READS_BACK:
            self.kind = "read_back"
        elif not self.writes and any(r.alias_info is not None and not r.alias_info.is_write for r in schema.returns):
            self.kind = "view"
        else:
            self.kind = "op"
        # Filled by the recorder: the string id of the name; the tensors with their modes as rows have them; how often to look for scratch memory of its own.
        self.label = None
        self.fast = ()
        self.scratch = 0
        # By what it was called with: the sizes of all that it allocates, and whether a second call has borne them out.
        self.scratch_sizes = {}
        # Sites from which it was called.
        self.called = set()
        self.quiet = self.kind in ("view", "metadata", "record_stream")
        # "result": it makes pinned memory; "asked": it does when its argument says so.
        self.pins = "result" if self.base == "_pin_memory" else "asked" if any(a.name == "pin_memory" for a in schema.arguments) else None
        self.copies = self.base in ("copy_", "_to_copy")
        self.collective = schema.name.startswith(("c10d::", "_c10d_functional::"))
        self.simple = self.kind == "op" and not self.copies and not self.collective

    def arguments(self, args, kwargs):
        """Every tensor argument with its access mode."""
        count = len(args)
        for index, mode, many in self.tensors:
            if index < count:
                value = args[index]
                if value is None:
                    continue
                if many or type(value) in (list, tuple):
                    for item in value:
                        if item is not None:
                            yield item, mode
                else:
                    yield value, mode
        if kwargs:
            named = self.named
            for key, value in kwargs.items():
                got = named.get(key)
                if got is None or value is None:
                    continue
                mode, many = got
                if many or type(value) in (list, tuple):
                    for item in value:
                        if item is not None:
                            yield item, mode
                else:
                    yield value, mode


def called_with(args):
    """What decides how much scratch memory an operator takes: shapes, types and plain values. None: something else is among it."""
    key = []
    for value in args:
        kind = value.__class__
        if kind is list or kind is tuple:
            value = tuple(value)
            if not PLAIN_VALUES.issuperset(map(type, value)):
                return None
            key.append(value)
        elif kind in PLAIN_VALUES:
            key.append(value)
        elif hasattr(value, "shape"):
            key += (value.shape, value.stride(), value.dtype)
        else:
            key.append(str(value))
    return tuple(key)


PLAIN_VALUES = {int, float, bool, str, type(None)}


def extent(tensor):
    """First byte and end byte (exclusive) of a strided tensor within its storage; None: it has no elements."""
    size = tensor.element_size()
    count = tensor.numel()
    if not count:
        return None
    start = tensor.storage_offset() * size
    if tensor.is_contiguous():
        return start, start + count * size
    last = 0
    for length, stride in zip(tensor.shape, tensor.stride()):
        last += (length - 1) * stride
    return start, start + (last + 1) * size


def storage_key(tensor):
    """What tells a tensor's storage from others while it lives; None: it has none of its own (sparse, wrapped by functorch)."""
    try:
        return tensor.untyped_storage()._cdata
    except (NotImplementedError, RuntimeError):
        return None
