"""Public code without a main: weights of the next layer are fetched while a layer runs."""
import torch


class LayerCache:
    def __init__(self, layers):
        self.host = [layer.pin_memory() for layer in layers]
        self.slots = [torch.empty_like(self.host[0], device="cuda") for _ in range(2)]
        self.copier = torch.cuda.Stream()

    def _fetch(self, index):
        self.copier.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.copier):
            self.slots[index % 2].copy_(self.host[index], non_blocking=True)
            return self.copier.record_event()  # may: unused-event

    def run(self, x):
        ready = self._fetch(0)
        for index in range(len(self.host)):
            following = self._fetch(index + 1) if index + 1 < len(self.host) else None
            if index > 0:
                ready.wait()
            x = torch.relu(x @ self.slots[index % 2])  # expect: missing-wait
            ready = following
        return x
