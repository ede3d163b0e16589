"""A captured step that forks into two branches and joins them, replayed on fresh input. Correct."""
import torch

WIDTH = 384


def step(x, weights, side):
    here = torch.cuda.current_stream()
    side.wait_stream(here)
    with torch.cuda.stream(side):
        gate = torch.sigmoid(x @ weights[0])
    value = torch.tanh(x @ weights[1])
    here.wait_stream(side)
    return gate * value


def main():
    side, warm = torch.cuda.Stream(), torch.cuda.Stream()
    x = torch.randn(WIDTH, WIDTH, device="cuda")
    weights = [torch.randn(WIDTH, WIDTH, device="cuda") for _ in range(2)]
    warm.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(warm):
        step(x, weights, side)
    torch.cuda.current_stream().wait_stream(warm)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = step(x, weights, side)
    sums = []
    for turn in range(3):
        x.fill_(0.1 * turn)
        graph.replay()
        sums.append(out.sum())
    return [float(s) for s in sums]


if __name__ == "__main__":
    print("sums", main())
