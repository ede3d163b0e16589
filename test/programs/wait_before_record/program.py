"""The reader waits for an event first, the writer records it afterwards: the wait has nothing to wait for."""
import torch

SIZE = 1 << 20


def main():
    writer, reader = torch.cuda.Stream(), torch.cuda.Stream()
    page = torch.zeros(SIZE, device="cuda")
    copied = torch.zeros(SIZE, device="cuda")
    written = torch.cuda.Event()
    torch.cuda.synchronize()
    reader.wait_event(written)  # never recorded so far
    with torch.cuda.stream(writer):
        torch.cuda._sleep(3_000_000)
        page.fill_(5.0)
        written.record()
    with torch.cuda.stream(reader):
        copied.add_(page)
    torch.cuda.synchronize()
    return float(copied.sum())


if __name__ == "__main__":
    print("sum", main())
