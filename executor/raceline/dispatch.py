"""What the dispatch modes have in common: which tensors they look at, and that torch.compile's wrapper is spared."""
import torch
from torch.utils._python_dispatch import TorchDispatchMode

# A subclass unwraps itself; its inner operators come to the mode.
PLAIN = {torch.Tensor, torch.nn.Parameter} | ({torch.nn.Buffer} if hasattr(torch.nn, "Buffer") else set())


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
