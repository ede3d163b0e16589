"""Two halves of a report arrive in two pinned buffers; the host waits for the first only."""
import torch


def main():
    copier = torch.cuda.Stream()
    here = torch.cuda.current_stream()
    losses = torch.rand(1 << 16, device="cuda")
    copier.wait_stream(here)
    halves = losses.chunk(2)
    buffers = [torch.empty(1 << 15, pin_memory=True) for _ in halves]
    arrived = []
    for half, buffer in zip(halves, buffers):
        with torch.cuda.stream(copier):
            buffer.copy_(half, non_blocking=True)
            arrived.append(copier.record_event())
    for event in arrived:
        event.synchronize()
    print(buffers[0][:4].tolist())
    print(buffers[1][:4].tolist())


if __name__ == "__main__":
    main()
