"""Each job of a pool of threads works on a lane of its own and comes back with its event."""
from concurrent.futures import ThreadPoolExecutor

import torch


def work(x, lane, ready):
    with torch.cuda.stream(lane):
        lane.wait_event(ready)
        y = torch.relu(x @ x)
        done = lane.record_event()
    return y, done


def main():
    lanes = [torch.cuda.Stream() for _ in range(3)]
    x = torch.randn(256, 256, device="cuda")
    ready = torch.cuda.current_stream().record_event()
    here = torch.cuda.current_stream()
    with ThreadPoolExecutor(3) as pool:
        jobs = [pool.submit(work, x, lane, ready) for lane in lanes]
        outs = []
        for job in jobs:
            y, done = job.result()
            here.wait_event(done)
            outs.append(y)
    total = torch.stack(outs).sum()
    torch.cuda.synchronize()
    print(total.item())


if __name__ == "__main__":
    main()
