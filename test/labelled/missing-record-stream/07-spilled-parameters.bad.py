"""Parameters are spilled to pinned memory once a layer has run, and their device copy dropped."""
import torch
from torch import nn


class Spill:
    def __init__(self):
        self.stream = torch.cuda.Stream()
        self.stub = torch.empty(0, device="cuda")
        self.copies = []

    def out(self, layer):
        here = torch.cuda.current_stream()
        self.stream.wait_stream(here)
        with torch.cuda.stream(self.stream):
            for parameter in layer.parameters():
                copy = torch.empty(parameter.shape, pin_memory=True)
                copy.copy_(parameter.data, non_blocking=True)  # may: missing-record-stream
                self.copies.append(copy)
        for parameter in layer.parameters():
            parameter.data = self.stub  # expect: missing-record-stream


@torch.no_grad()
def main():
    layers = [nn.Linear(768, 768).cuda() for _ in range(4)]
    spill = Spill()
    x = torch.randn(768, 768, device="cuda")
    for layer in layers:
        x = torch.relu(layer(x))
        spill.out(layer)  # may: missing-record-stream
    torch.cuda.synchronize()
    print(x.sum().item(), spill.copies[0].mean().item())


if __name__ == "__main__":
    main()
