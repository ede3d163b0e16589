"""A result comes down into pinned memory without blocking, and the host looks at it before the copy is done."""
import torch

SIZE = 1 << 20


def fetch(result, landing, down):
    landing.zero_()
    torch.cuda.synchronize()
    with torch.cuda.stream(down):
        torch.cuda._sleep(20_000_000)
        landing.copy_(result, non_blocking=True)
    seen = float(landing.sum())  # the copy may not even have started
    down.synchronize()
    return seen, float(landing.sum())


def main():
    down = torch.cuda.Stream()
    landing = torch.zeros(SIZE).pin_memory()
    result = torch.full((SIZE,), 2.0, device="cuda")
    return [fetch(result, landing, down) for _ in range(2)]


if __name__ == "__main__":
    print("early, late", main())
