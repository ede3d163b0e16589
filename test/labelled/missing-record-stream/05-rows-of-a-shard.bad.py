"""A reader uploads shard after shard and yields the rows of each as views."""
import torch


def rows_of(shards):
    copier = torch.cuda.Stream()
    for shard in shards:
        with torch.cuda.stream(copier):
            device_shard = shard.to("cuda", non_blocking=True)  # may: missing-record-stream
        here = torch.cuda.current_stream()
        here.wait_stream(copier)
        for row in device_shard.unbind(0):
            yield row  # expect: missing-record-stream


def main():
    shards = [torch.rand(4, 1 << 20).pin_memory() for _ in range(5)]
    best = torch.zeros((), device="cuda")
    for row in rows_of(shards):  # may: missing-record-stream
        best = torch.maximum(best, row.amax())  # may: missing-record-stream
    torch.cuda.synchronize()
    print(best.item())


if __name__ == "__main__":
    main()
