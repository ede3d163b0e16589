"""Batches are copied up one ahead of their use; the copy is waited for and the batch kept for the stream that reads it. Correct."""
import torch

BATCHES, ROWS, COLUMNS = 5, 128, 512


class Ahead:
    def __init__(self, batches):
        self.batches = iter(batches)
        self.copies = torch.cuda.Stream()
        self.batch = None
        self.fetch()

    def fetch(self):
        host = next(self.batches, None)
        if host is None:
            self.batch = None
            return
        with torch.cuda.stream(self.copies):
            self.batch = host.to("cuda", non_blocking=True)

    def __iter__(self):
        while self.batch is not None:
            here = torch.cuda.current_stream()
            here.wait_stream(self.copies)
            batch = self.batch
            batch.record_stream(here)
            self.fetch()
            yield batch


def main():
    host = [torch.full((ROWS, COLUMNS), float(i)).pin_memory() for i in range(BATCHES)]
    weight = torch.ones(COLUMNS, 64, device="cuda")
    torch.cuda.synchronize()
    sums = []
    for batch in Ahead(host):
        sums.append((batch @ weight).mean())
    return [float(s) for s in sums]


if __name__ == "__main__":
    print("means", main())
