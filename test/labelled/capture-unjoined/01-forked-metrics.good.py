"""A captured step forks its metric onto a side stream and forgets to bring it back."""
import torch


def main():
    static = torch.randn(1 << 16, device="cuda")
    metric = torch.zeros((), device="cuda")
    side = torch.cuda.Stream()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step = static.sin() * 2.0
        forked = torch.cuda.current_stream().record_event()
        side.wait_event(forked)
        with torch.cuda.stream(side):
            metric.copy_(static.square().mean())
        result = step + 1.0
        torch.cuda.current_stream().wait_stream(side)
    graph.replay()
    torch.cuda.synchronize()
    print(result.sum().item(), metric.item())


if __name__ == "__main__":
    main()
