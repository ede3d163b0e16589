"""Threads of a pool wait for copies, and a callback reads what has arrived."""
from concurrent.futures import Future, ThreadPoolExecutor

import torch


def main():
    totals = []
    lane = torch.cuda.Stream()

    def arrive(done, host):
        done.synchronize()
        return host

    def collect(future: Future) -> None:
        totals.append(future.result().sum().item())

    with ThreadPoolExecutor(2) as pool:
        for i in range(4):
            x = torch.full((1 << 18,), float(i), device="cuda")
            host = torch.empty(1 << 18, pin_memory=True)
            lane.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(lane):
                host.copy_(x, non_blocking=True)
                done = torch.cuda.Event()
                done.record()
            x.record_stream(lane)
            pool.submit(arrive, done, host).add_done_callback(collect)
    print(sorted(totals))


if __name__ == "__main__":
    main()
