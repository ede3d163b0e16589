"""All lanes are joined in a finally block, whatever happened on them."""
import contextlib

import torch


@contextlib.contextmanager
def lanes(count):
    caller = torch.cuda.current_stream()
    pool = [torch.cuda.Stream() for _ in range(count)]
    for lane in pool:
        lane.wait_stream(caller)
    try:
        yield pool
    finally:
        for lane in pool:
            caller.wait_stream(lane)


def main():
    tiles = torch.rand(4, 512, 512, device="cuda")
    edges = []
    with lanes(4) as pool:
        for lane, tile in zip(pool, tiles):
            with torch.cuda.stream(lane):
                edges.append(tile.diff(dim=0).abs().sum())
    total = torch.stack(edges).sum()
    torch.cuda.synchronize()
    print(total.item())


if __name__ == "__main__":
    main()
