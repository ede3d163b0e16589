"""A double-buffered slot: the retired block is still being copied out."""
import torch


class Slot:
    def __init__(self, n):
        self.block = torch.zeros(n, device="cuda")
        self.lane = torch.cuda.Stream()

    def retire(self, host, fresh):
        self.lane.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.lane):
            host.copy_(self.block, non_blocking=True)  # may: missing-record-stream
        self.block = fresh  # may: missing-record-stream
        self.block.record_stream(self.lane)  # expect: late-record-stream  # may: redundant-record-stream


def main():
    n = 1 << 20
    slot = Slot(n)
    hosts = [torch.empty(n, pin_memory=True)]
    slot.retire(hosts[0], torch.full((n,), 1.0, device="cuda"))  # may: missing-record-stream
    more = torch.full((n,), 2.0, device="cuda")
    torch.cuda.synchronize()
    print(hosts[0][0].item(), slot.block[0].item(), more.numel())


if __name__ == "__main__":
    main()
