"""Weights are copied to pinned buffers; the training stream is made to wait instead of the backup."""
import torch


def checkpoint(weights, shelf, backup):
    torch.cuda.current_stream().wait_stream(backup)  # expect: reversed-wait
    with torch.cuda.stream(backup):
        for name, weight in weights.items():
            shelf[name].copy_(weight, non_blocking=True)  # may: missing-wait


def main():
    backup = torch.cuda.Stream()
    weights = {name: torch.randn(1 << 20, device="cuda") for name in ("query", "key", "value")}
    shelf = {name: torch.empty(1 << 20, pin_memory=True) for name in weights}
    checkpoint(weights, shelf, backup)  # may: missing-wait, reversed-wait
    torch.cuda.synchronize()
    print({name: tensor.std().item() for name, tensor in shelf.items()})


if __name__ == "__main__":
    main()
