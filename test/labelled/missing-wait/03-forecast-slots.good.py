"""Consecutive weather fields are uploaded with an event each and subtracted pair by pair."""
from typing import NamedTuple

import torch


class Field(NamedTuple):
    values: torch.Tensor
    ready: torch.cuda.Event


def upload(grid, copier):
    with torch.cuda.stream(copier):
        values = grid.to("cuda", non_blocking=True)
        ready = copier.record_event()
    return Field(values, ready)


def tendencies(fields):
    now = torch.cuda.current_stream()
    for earlier, later in zip(fields, fields[1:]):
        now.wait_event(earlier.ready)
        now.wait_event(later.ready)
        yield (later.values - earlier.values).abs().mean()


def main():
    copier = torch.cuda.Stream()
    grids = [torch.rand(721, 1440).pin_memory() for _ in range(5)]
    fields = [upload(grid, copier) for grid in grids]
    changes = list(tendencies(fields))
    torch.cuda.synchronize()
    print([change.item() for change in changes])


if __name__ == "__main__":
    main()
