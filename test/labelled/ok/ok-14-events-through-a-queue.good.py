"""A host queue carries each block with its event; the taker waits, and returns blocks for reuse."""
from collections import deque

import torch


def produce(queue, free, stream, value):
    block, taken = free.popleft()
    stream.wait_event(taken)
    with torch.cuda.stream(stream):
        block.fill_(value)
        queue.append((block, stream.record_event()))


def consume(queue, free):
    here = torch.cuda.current_stream()
    block, made = queue.popleft()
    here.wait_event(made)
    total = block.sum()
    free.append((block, here.record_event()))
    return total


def main():
    producer = torch.cuda.Stream()
    here = torch.cuda.current_stream()
    queue, free = deque(), deque()
    for _ in range(2):
        free.append((torch.empty(1 << 20, device="cuda"), here.record_event()))
    totals = []
    for value in range(6):
        produce(queue, free, producer, float(value))
        totals.append(consume(queue, free))
    torch.cuda.synchronize()
    print([total.item() for total in totals])


if __name__ == "__main__":
    main()
