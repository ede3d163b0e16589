"""A thread copies batches up and hands each over with an event; the main thread waits for it. Correct."""
import queue
import threading

import torch

BATCHES, SIZE = 4, 1 << 18


def produce(handover, host):
    copies = torch.cuda.Stream()
    with torch.cuda.stream(copies):
        for batch in host:
            copied = batch.to("cuda", non_blocking=True)
            ready = torch.cuda.Event()
            ready.record()
            handover.put((copied, ready))
    handover.put(None)


def main():
    host = [torch.full((SIZE,), float(i)).pin_memory() for i in range(BATCHES)]
    total = torch.zeros(SIZE, device="cuda")
    torch.cuda.synchronize()
    handover = queue.Queue()
    thread = threading.Thread(target=produce, args=(handover, host), name="producer")
    thread.start()
    here = torch.cuda.current_stream()
    while (entry := handover.get()) is not None:
        batch, ready = entry
        here.wait_event(ready)
        batch.record_stream(here)
        total.add_(batch)
        del batch, entry
    thread.join()
    return float(total[0])


if __name__ == "__main__":
    print("total", main())
