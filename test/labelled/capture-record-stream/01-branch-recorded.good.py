"""Inside a capture an intermediate is recorded for the branch that reads it."""
import torch


def branch(hidden, side):
    outer = torch.cuda.current_stream()
    side.wait_stream(outer)
    with torch.cuda.stream(side):
        gate = torch.sigmoid(hidden)
    outer.wait_stream(side)
    return hidden * gate


def main():
    x = torch.randn(64, 1024, device="cuda")
    side = torch.cuda.Stream()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = branch(x + 1.0, side)
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
    print(y.sum().item())


if __name__ == "__main__":
    main()
