"""Weights of one layer after another are brought up for use and their memory given back."""
import torch


class Shard:
    def __init__(self, width):
        self.host = torch.randn(width, width).pin_memory()
        self.full = None

    def gather(self, stream):
        with torch.cuda.stream(stream):
            self.full = self.host.to("cuda", non_blocking=True)

    def release(self):
        self.full.untyped_storage().resize_(0)  # expect: missing-record-stream


def main():
    here = torch.cuda.current_stream()
    gather = torch.cuda.Stream()
    shards = [Shard(1024) for _ in range(4)]
    x = torch.randn(64, 1024, device="cuda")
    for _ in range(2):
        for shard in shards:
            shard.gather(gather)
            here.wait_stream(gather)
            x = torch.tanh(x @ shard.full)  # may: missing-record-stream
            shard.release()  # may: missing-record-stream
    torch.cuda.synchronize()
    print(x.sum().item())


if __name__ == "__main__":
    main()
