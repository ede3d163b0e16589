"""Two slots, and for each an event in either direction: filled and free."""
import torch


class Slots:
    def __init__(self, shape):
        self.data = [torch.empty(shape, device="cuda") for _ in range(2)]
        self.filled = [torch.cuda.Event() for _ in range(2)]
        self.free = [torch.cuda.Event() for _ in range(2)]
        for event in self.free:
            event.record()

    def fill(self, turn, host, copier):
        slot = turn % 2
        copier.wait_event(self.free[slot])
        with torch.cuda.stream(copier):
            self.data[slot].copy_(host, non_blocking=True)
        self.filled[slot].record(copier)

    def consume(self, turn, total):
        slot = turn % 2
        here = torch.cuda.current_stream()
        here.wait_event(self.filled[slot])
        total += self.data[slot].mean()
        self.free[slot].record(here)


def main():
    copier = torch.cuda.Stream()
    hosts = [torch.rand(1 << 20).pin_memory() for _ in range(7)]
    slots = Slots((1 << 20,))
    total = torch.zeros((), device="cuda")
    slots.fill(0, hosts[0], copier)
    for turn in range(len(hosts)):
        if turn + 1 < len(hosts):
            slots.fill(turn + 1, hosts[turn + 1], copier)
        slots.consume(turn, total)
    torch.cuda.synchronize()
    print(total.item())


if __name__ == "__main__":
    main()
