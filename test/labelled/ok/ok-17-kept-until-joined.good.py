"""Sources of copies are kept in a list until the stream that made them has waited."""
import torch


class Offloader:
    def __init__(self):
        self.lane = torch.cuda.Stream()
        self.keep = []
        self.hosts = []

    def push(self, t):
        self.lane.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.lane):
            self.hosts.append(t.to("cpu", non_blocking=True))
        self.keep.append(t)

    def flush(self):
        torch.cuda.current_stream().wait_stream(self.lane)
        self.keep.clear()


def main():
    off = Offloader()
    for i in range(6):
        off.push(torch.full((1 << 18,), float(i), device="cuda"))
        if i % 3 == 2:
            off.flush()
    torch.cuda.synchronize()
    print(sum(h.sum().item() for h in off.hosts))


if __name__ == "__main__":
    main()
