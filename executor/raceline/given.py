"""What an operator was called with, as the text of an `op` line's key `in`: types and shapes of tensors, and plain values.

It is worded at the first call of an operator from a place only, so that every further call costs one look-up.
"""
import json

import torch

# Nobody reads more of one call.
MOST_ARGUMENTS = 32
MOST_IN_LIST = 16
LONGEST_VALUE = 60

_PLAIN = (bool, int, float, str, torch.dtype, torch.memory_format, torch.layout)


def given(args, kwargs):
    """The key with its comma; nothing where the arguments cannot be looked at (tracers' tensors, symbols)."""
    values = [*args, *kwargs.values()] if kwargs else args
    try:
        return ',"in":[' + ",".join([_worded(value) for value in values[:MOST_ARGUMENTS]]) + "]"
    except Exception:
        return ""


def _worded(value):
    if isinstance(value, torch.Tensor):
        return _tensor(value)
    if isinstance(value, (list, tuple)):
        if any(isinstance(item, torch.Tensor) for item in value):
            return "[" + ",".join([_tensor(item) for item in value[:MOST_IN_LIST] if isinstance(item, torch.Tensor)]) + "]"
        return _text(value) if all(item is None or isinstance(item, _PLAIN) for item in value) else "null"
    return _text(value) if isinstance(value, _PLAIN) else "null"


def _tensor(tensor):
    shape = ",".join([str(int(length)) for length in tensor.shape])
    return f'["{str(tensor.dtype)[6:]}",[{shape}]]'


def _text(value):
    return json.dumps(str(value)[:LONGEST_VALUE])
