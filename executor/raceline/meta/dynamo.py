"""A light stand-in for torch._dynamo, which meta kernels import only to say "do not compile me".

The real package takes seconds to import and looks at CUDA while it does. It is loaded when somebody asks for more of it.
"""
import importlib
import sys
import types


class LightDynamo(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(_real(), name)


def _real():
    import torch

    sys.modules.pop("torch._dynamo", None)
    if isinstance(torch.__dict__.get("_dynamo"), LightDynamo):
        del torch._dynamo
    return importlib.import_module("torch._dynamo")


def install(torch):
    if "torch._dynamo" in sys.modules:
        return
    light = LightDynamo("torch._dynamo")
    light.__path__ = [f"{torch.__path__[0]}/_dynamo"]
    light.disable = lambda fn=None, recursive=True, **_: fn if fn is not None else (lambda inner: inner)
    light.is_compiling = lambda: False
    light.graph_break = lambda *args, **kwargs: None
    sys.modules["torch._dynamo"] = light
    torch._dynamo = light
