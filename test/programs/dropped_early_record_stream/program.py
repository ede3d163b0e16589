"""The scratch tensor again: record_stream tells the allocator who still reads it."""
import torch

SIZE = 1 << 20


def add_scratch(total, make, use):
    torch.cuda.synchronize()
    with torch.cuda.stream(make):
        scratch = torch.full((SIZE,), 3.0, device="cuda")
    use.wait_stream(make)
    with torch.cuda.stream(use):
        torch.cuda._sleep(20_000_000)
        total.add_(scratch)
        scratch.record_stream(use)
    del scratch
    with torch.cuda.stream(make):
        following = torch.full((SIZE,), 8.0, device="cuda")
    torch.cuda.synchronize()
    return following


def main():
    make, use = torch.cuda.Stream(), torch.cuda.Stream()
    total = torch.zeros(SIZE, device="cuda")
    for _ in range(2):
        add_scratch(total, make, use)
    return float(total[0])


if __name__ == "__main__":
    print("total", main())
