"""What an operator gives that the meta device has no kernel for: it runs on the CPU, on zeros.

The result's shapes are the operator's own, as far as they do not hang on values; where they do, they are those that zeros give.
"""
import torch
from torch.utils._pytree import tree_flatten, tree_map

# Zeros are made in memory: larger arguments than this are not.
LARGEST = 1 << 30
META, CPU = torch.device("meta"), torch.device("cpu")


def is_missing(error):
    """Whether PyTorch says that an operator has no kernel for the meta device."""
    return isinstance(error, NotImplementedError) or isinstance(error, RuntimeError) and "no fake impl registered" in str(error)


def call(func, args, kwargs):
    """(the operator's result on the meta device,); None: the CPU cannot run it either."""
    taken, made = {}, {}

    def lower(value):
        if isinstance(value, torch.Tensor) and value.device == META:
            if id(value) not in taken:
                taken[id(value)] = _zeros(value)
                made[id(taken[id(value)])] = value
            return taken[id(value)]
        return CPU if isinstance(value, torch.device) and value == META else value

    def lift(value):
        if not isinstance(value, torch.Tensor):
            return value
        own = made.get(id(value))
        if own is not None:  # written in place
            return own
        return value.to(META)

    tensors = [value for value in tree_flatten((args, kwargs))[0] if isinstance(value, torch.Tensor)]
    if sum(value.numel() * value.element_size() for value in tensors) > LARGEST:
        return None
    try:
        args, kwargs = tree_map(lower, (args, kwargs))
        return (tree_map(lift, func(*args, **kwargs)),)
    except (NotImplementedError, RuntimeError):
        return None


def _zeros(tensor):
    if tensor.layout is not torch.sparse_coo:
        return torch.zeros(tensor.shape, dtype=tensor.dtype, layout=tensor.layout)
    indices, values = tensor._indices(), tensor._values()
    made = torch.sparse_coo_tensor(torch.zeros(indices.shape, dtype=torch.int64), torch.zeros(values.shape, dtype=values.dtype), tensor.shape)
    return made._coalesced_(tensor.is_coalesced())
