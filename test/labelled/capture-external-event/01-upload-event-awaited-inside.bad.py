"""The upload of the static input is announced by an event that the capture waits for."""
import torch


def main():
    copier = torch.cuda.Stream()
    ready = torch.cuda.Event()
    static = torch.empty(1 << 16, device="cuda")
    host = torch.rand(1 << 16).pin_memory()
    copier.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(copier):
        static.copy_(host, non_blocking=True)
        ready.record()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        torch.cuda.current_stream().wait_event(ready)  # expect: capture-external-event
        doubled = static * 2.0
    graph.replay()
    torch.cuda.synchronize()
    print(doubled.mean().item())


if __name__ == "__main__":
    main()
