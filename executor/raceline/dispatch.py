"""What the dispatch modes have in common: which tensors they look at, which operators are made of others, and that torch.compile's
wrapper is spared."""
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from raceline.operators import Plan

# A subclass unwraps itself; its inner operators come to the mode.
PLAIN = {torch.Tensor, torch.nn.Parameter} | ({torch.nn.Buffer} if hasattr(torch.nn, "Buffer") else set())

# Tensors of tracers, whose own modes come after all others: an operator on them is passed on, and is no work.
TRACED = {("torch._subclasses.fake_tensor", "FakeTensor"), ("torch._subclasses.functional_tensor", "FunctionalTensor")}


def is_traced(types):
    return any((kind.__module__, kind.__name__) in TRACED for kind in types)


def fake_mode():
    """Whether a tracer's mode makes fake tensors here."""
    return _FAKE is not None and _mode_of(_FAKE) is not None


# Before PyTorch 2.2 the tracers' modes are modes as all others.
_mode_of = getattr(torch._C, "_get_dispatch_mode", None)
_FAKE = getattr(getattr(torch._C, "_TorchDispatchModeKey", None), "FAKE", None)


def plan_of(func):
    """An operator's plan. Where autograd is out of the way (inference mode, inside a subclass) operators that are made of others come
    whole; their parts are what runs."""
    plan = Plan(func)
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    if plan.kind != "metadata" and has_kernel(plan.full, "CompositeImplicitAutograd") and not has_kernel(plan.full, "CUDA"):
        plan.kind, plan.quiet, plan.simple = "composite", True, False
    return plan


class DispatchMode(TorchDispatchMode):
    @classmethod
    def _should_skip_dynamo(cls):
        # Without this every operator goes through a wrapper of torch.compile's, which costs more than the recording does.
        return False


def with_tensors(plan, args):
    """An operator's arguments with tensors where numbers stand for them: PyTorch hands a mode the constants of a traced function as
    numbers, which many operators do not take back. None: there are none."""
    places = [index for index, _, many in plan.tensors if not many and index < len(args) and isinstance(args[index], (bool, int, float, complex))]
    if not places:
        return None
    return [torch.tensor(value) if index in places else value for index, value in enumerate(args)]
