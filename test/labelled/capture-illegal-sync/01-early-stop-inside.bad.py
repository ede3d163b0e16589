"""A captured iteration looks at its residual on the host."""
import torch


def iteration(x, b):
    x = x - 0.1 * (x - b)
    if (x - b).abs().max().item() < 1e-6:  # expect: capture-illegal-sync
        return b
    return x


def main():
    b = torch.ones(1 << 16, device="cuda")
    x = torch.zeros(1 << 16, device="cuda")
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = iteration(x, b)  # may: capture-illegal-sync
    graph.replay()
    torch.cuda.synchronize()
    print((out - b).abs().max().item())


if __name__ == "__main__":
    main()
