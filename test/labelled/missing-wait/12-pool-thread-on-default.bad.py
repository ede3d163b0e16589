"""A worker thread does not inherit the stream of the block that submits to it."""
from concurrent.futures import ThreadPoolExecutor

import torch


def total(x):
    return x.sum().item()  # expect: missing-wait


def main():
    lane = torch.cuda.Stream()
    with ThreadPoolExecutor(1) as pool:
        with torch.cuda.stream(lane):
            x = torch.ones(1 << 22, device="cuda").mul_(0.5)
            future = pool.submit(total, x)  # may: missing-wait
        print(future.result())
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
