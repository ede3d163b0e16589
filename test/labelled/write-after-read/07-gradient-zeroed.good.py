"""Gradients are shipped to pinned memory in the background and zeroed for the next step."""
import torch
from torch.cuda import Event, Stream, current_stream, stream


def ship(gradient, mirror, sender):
    sender.wait_stream(current_stream())
    with stream(sender):
        mirror.copy_(gradient, non_blocking=True)
    return sender.record_event(Event())


def main():
    sender = Stream()
    weight = torch.randn(1024, 1024, device="cuda")
    gradient = torch.zeros_like(weight)
    mirrors = [torch.empty(1024, 1024, pin_memory=True) for _ in range(4)]
    shipped = None
    for mirror in mirrors:
        if shipped is not None:
            shipped.wait()
        gradient.zero_()
        gradient.addmm_(weight, weight)
        shipped = ship(gradient, mirror, sender)
    torch.cuda.synchronize()
    print([mirror.norm().item() for mirror in mirrors])


if __name__ == "__main__":
    main()
