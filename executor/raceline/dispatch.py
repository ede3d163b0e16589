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
