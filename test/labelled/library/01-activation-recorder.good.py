"""Public code without a main: activations are copied to pinned memory beside the forward pass."""
import torch


class ActivationRecorder:
    """Keeps pinned copies of the activations that `save` is given."""

    def __init__(self):
        self.side = torch.cuda.Stream()
        self._copies = []

    def save(self, activation):
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            copy = torch.empty(activation.shape, dtype=activation.dtype, pin_memory=True)
            copy.copy_(activation, non_blocking=True)
        activation.record_stream(self.side)
        self._copies.append(copy)

    def load(self):
        self.side.synchronize()
        return [copy.clone() for copy in self._copies]
