"""A light stand-in for torch._dynamo, which meta kernels import only to say "do not compile me".

The real package takes seconds to import and looks at CUDA while it does. It is loaded when somebody asks for more of it: an
attribute, or a module of its.
"""
import importlib
import importlib.abc
import importlib.util
import sys
import types

NAME = "torch._dynamo"


class LightDynamo(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(_real(), name)


class Modules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of the package: its own start comes before theirs, and may have loaded them."""

    def find_spec(self, name, path=None, target=None):
        if not name.startswith(f"{NAME}.") or not isinstance(sys.modules.get(NAME), LightDynamo):
            return None
        _real()
        loaded = sys.modules.get(name)
        if loaded is None:
            return importlib.util.find_spec(name)
        spec = importlib.util.spec_from_loader(name, self)
        spec.loader_state = loaded, loaded.__spec__
        return spec

    def create_module(self, spec):
        return spec.loader_state[0]

    def exec_module(self, module):
        module.__spec__ = module.__spec__.loader_state[1]


def _real():
    import torch

    if isinstance(sys.modules.get(NAME), LightDynamo):
        del sys.modules[NAME]
    if isinstance(torch.__dict__.get("_dynamo"), LightDynamo):
        del torch._dynamo
    return importlib.import_module(NAME)


def install(torch):
    if NAME in sys.modules:
        return
    light = LightDynamo(NAME)
    light.__path__ = [f"{torch.__path__[0]}/_dynamo"]
    light.disable = lambda fn=None, recursive=True, **_: fn if fn is not None else (lambda inner: inner)
    light.is_compiling = lambda: False
    light.graph_break = lambda *args, **kwargs: None
    sys.modules[NAME] = light
    torch._dynamo = light
    sys.meta_path.insert(0, Modules())
