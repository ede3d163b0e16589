"""Lidar sweeps are uploaded and rotated; the join has slipped in front of the loop."""
import functools

import torch


def main():
    here = torch.cuda.current_stream()
    copier = torch.cuda.Stream()
    join = functools.partial(here.wait_stream, copier)
    sweeps = [torch.rand(1 << 16, 3).pin_memory() for _ in range(5)]
    rotation = torch.eye(3, device="cuda")
    uploaded, turned = [], []
    for sweep in sweeps:
        with torch.cuda.stream(copier):
            points = sweep.to("cuda", non_blocking=True)
        uploaded.append(points)
        join()
        turned.append(points @ rotation)
    torch.cuda.synchronize()
    print(turned[-1].norm().item(), len(uploaded))


if __name__ == "__main__":
    main()
