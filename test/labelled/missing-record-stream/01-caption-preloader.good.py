"""A preloader keeps one captioned batch ahead on its own stream."""
import torch


class Preloader:
    def __init__(self, batches):
        self.source = iter(batches)
        self.stream = torch.cuda.Stream()
        self.ahead = None
        self.preload()

    def preload(self):
        host = next(self.source, None)
        if host is None:
            self.ahead = None
            return
        with torch.cuda.stream(self.stream):
            self.ahead = {name: value.cuda(non_blocking=True) for name, value in host.items()}

    def next(self):
        here = torch.cuda.current_stream()
        here.wait_stream(self.stream)
        batch = self.ahead
        if batch is not None:
            for value in batch.values():
                value.record_stream(here)
        self.preload()
        return batch


def main():
    batches = [
        {"pixels": torch.rand(64, 3072).pin_memory(), "mask": torch.ones(64, 3072).pin_memory()}
        for _ in range(6)
    ]
    loader = Preloader(batches)
    total = torch.zeros((), device="cuda")
    batch = loader.next()
    while batch is not None:
        total += (batch["pixels"] * batch["mask"]).sum()
        batch = loader.next()
    torch.cuda.synchronize()
    print(total.item())


if __name__ == "__main__":
    main()
