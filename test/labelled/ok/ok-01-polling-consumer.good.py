"""The host polls an event and touches the result only once it says that it is done."""
import time

import torch


def main():
    side = torch.cuda.Stream()
    done = torch.cuda.Event()
    host = torch.rand(1 << 20).pin_memory()
    with torch.cuda.stream(side):
        data = host.to("cuda", non_blocking=True)
        peak = data.amax().to("cpu", non_blocking=True)
        done.record()
    while not done.query():
        time.sleep(0.001)
    print(peak.item(), data.mean().item())


if __name__ == "__main__":
    main()
