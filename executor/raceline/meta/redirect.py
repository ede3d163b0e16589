"""The function mode that turns CUDA tensors into meta tensors and hides it from the program.

`device="cuda"`, `.cuda()` and `.to("cuda")` make meta tensors; `Tensor.device` and `is_cuda` say `cuda:0` again. Everything a
meta tensor has no values for (`item`, `tolist`, `bool`) gives zeros after a modelled wait of the host.
"""
import sys

import torch
from torch.overrides import TorchFunctionMode

from raceline.meta.tensor_types import TensorType

META = torch.device("meta")
CUDA = torch.device("cuda", 0)

GET_DEVICE = torch.Tensor.device.__get__
GET_IS_CUDA = torch.Tensor.is_cuda.__get__
GET_IS_META = torch.Tensor.is_meta.__get__
READS = {"item", "tolist", "numpy", "__bool__", "__float__", "__int__", "__index__", "__complex__", "__array__", "__format__"}


def is_cuda(device):
    if isinstance(device, torch.device):
        return device.type == "cuda"
    if isinstance(device, str):
        return device == "cuda" or device.startswith("cuda:")
    return isinstance(device, int) and not isinstance(device, bool)


class Redirect(TorchFunctionMode):
    def __init__(self, session):
        super().__init__()
        self._session = session
        tensor = torch.Tensor
        self._special = {
            GET_DEVICE: self._device, GET_IS_CUDA: self._is_cuda, GET_IS_META: lambda tensor: False, tensor.get_device: self._get_device, tensor.cuda: self._cuda,
            tensor.to: self._to, tensor.pin_memory: session.pin, tensor.is_pinned: self._is_pinned,
            tensor.type: self._type,
        }

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        special = self._special.get(func)
        if special is not None:
            out = special(*args, **kwargs)
            return self._session.engine.see(out) if func in (torch.Tensor.to, torch.Tensor.cuda) else out
        if kwargs:
            kwargs = self._arguments(kwargs)
        name = getattr(func, "__name__", "")
        if name in READS and args and isinstance(args[0], torch.Tensor) and GET_DEVICE(args[0]).type == "meta":
            return self._session.read_back(args[0], name, *args[1:], **kwargs)
        if name in ("empty", "zeros", "ones", "full", "rand", "randn", "tensor", "empty_like", "zeros_like", "ones_like", "arange") and kwargs.pop("pin_memory", False):
            return self._session.pin_fresh(func(*args, **kwargs))
        if name == "tolist" and args and isinstance(args[0], torch.Tensor):
            self._session.host_read(args[0], "Tensor.tolist")
        return self._session.engine.see(func(*args, **kwargs))

    def _arguments(self, kwargs):
        kwargs = dict(kwargs)
        device = kwargs.get("device")
        if device is not None and is_cuda(device):
            self._session.note_device(device)
            kwargs["device"] = META
        device = GET_DEVICE(kwargs["input"]) if isinstance(kwargs.get("input"), torch.Tensor) else kwargs.get("device")
        if kwargs.get("generator") is not None and device is not None and str(device) == "meta":
            # Values do not exist on the meta device, so neither does a generator for it.
            kwargs["generator"] = None
        return kwargs

    @staticmethod
    def _device(tensor):
        device = GET_DEVICE(tensor)
        if device.type != "meta":
            return device
        # Fake tensors are made of meta tensors, and PyTorch looks whether they are.
        frame = sys._getframe(2)
        while frame.f_code.co_name == "__torch_function__":
            frame = frame.f_back
        return device if frame.f_globals.get("__name__", "").startswith("torch._subclasses.") else CUDA

    @staticmethod
    def _is_cuda(tensor):
        return GET_DEVICE(tensor).type == "meta"

    @staticmethod
    def _get_device(tensor):
        return 0 if GET_DEVICE(tensor).type == "meta" else -1

    def _is_pinned(self, tensor, device=None):
        return self._session.is_pinned(tensor)

    @staticmethod
    def _cuda(tensor, device=None, non_blocking=False, memory_format=torch.preserve_format):
        return tensor.to(META, non_blocking=non_blocking, memory_format=memory_format)

    def _to(self, tensor, *args, **kwargs):
        if args and is_cuda(args[0]):
            self._session.note_device(args[0])
            args = (META, *args[1:])
        # Tensor.to(other) needs nothing: C++ asks for the other's device, and there it is the meta device already.
        return torch.Tensor.to(tensor, *args, **self._arguments(kwargs))

    @staticmethod
    def _type(tensor, dtype=None, *args, **kwargs):
        if dtype is None:
            name = torch.Tensor.type(tensor)
            return name.replace("torch.meta.", "torch.cuda.", 1) if GET_DEVICE(tensor).type == "meta" else name
        if isinstance(dtype, TensorType):
            return tensor.to(META, dtype.dtype)
        if isinstance(dtype, str) and dtype.startswith("torch.cuda."):
            return tensor.to(META).type(dtype.replace("torch.cuda.", "torch.", 1))
        return torch.Tensor.type(tensor, dtype, *args, **kwargs)
