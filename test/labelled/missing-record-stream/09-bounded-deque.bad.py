"""The last few blocks are kept in a bounded deque while a side stream sums them."""
from collections import deque

import torch


def main():
    here = torch.cuda.current_stream()
    lane = torch.cuda.Stream()
    recent = deque(maxlen=2)
    sums = []
    for i in range(8):
        x = torch.full((1 << 20,), float(i), device="cuda")
        lane.wait_stream(here)
        with torch.cuda.stream(lane):
            sums.append(x.sum())  # expect: missing-record-stream
        recent.append(x)  # may: missing-record-stream
    torch.cuda.synchronize()
    print([s.item() for s in sums], len(recent))


if __name__ == "__main__":
    main()
