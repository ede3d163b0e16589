"""The old names of tensors on a device, torch.cuda.FloatTensor and its kin: constructors, and types to ask for."""
import torch

DTYPES = {
    "Float": torch.float32, "Double": torch.float64, "Half": torch.float16, "BFloat16": torch.bfloat16, "Byte": torch.uint8, "Char": torch.int8,
    "Short": torch.int16, "Int": torch.int32, "Long": torch.int64, "Bool": torch.bool,
}


class TensorType(type):
    def __call__(cls, *args, **_):
        return getattr(torch, cls.__name__)(*args).to("cuda")

    def __instancecheck__(cls, value):
        return isinstance(value, torch.Tensor) and value.is_cuda and value.dtype == cls.dtype


def install():
    for name, dtype in DTYPES.items():
        setattr(torch.cuda, f"{name}Tensor", TensorType(f"{name}Tensor", (), {"dtype": dtype, "__module__": "torch.cuda", "is_cuda": True}))
    default = torch.set_default_tensor_type

    def set_default_tensor_type(kind):
        if isinstance(kind, str) and kind.startswith("torch.cuda."):
            kind = getattr(torch.cuda, kind.rpartition(".")[2])
        on_device = isinstance(kind, TensorType)
        torch.set_default_device("cuda" if on_device else None)
        default(getattr(torch, kind.__name__) if on_device else kind)

    torch.set_default_tensor_type = set_default_tensor_type
