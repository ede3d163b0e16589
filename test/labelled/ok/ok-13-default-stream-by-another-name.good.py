"""The caller's stream is the default stream under three names; no wait is needed between them."""
import torch
from torch import cuda


def main():
    names = (cuda.current_stream(), cuda.default_stream(), cuda.default_stream("cuda:0"))
    grid = torch.zeros(256, 256, device="cuda")
    for step, stream in enumerate(names):
        with cuda.stream(stream):
            grid.add_(float(step))
    with cuda.stream(None):
        grid.mul_(2.0)
    print(grid.mean().item())


if __name__ == "__main__":
    main()
