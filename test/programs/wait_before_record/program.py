"""The reader waits for an event first, the writer records it afterwards: the wait has nothing to wait for."""
import torch

SIZE = 1 << 20


def copy_page(page, copied, writer, reader):
    written = torch.cuda.Event()
    torch.cuda.synchronize()
    reader.wait_event(written)  # never recorded so far
    with torch.cuda.stream(writer):
        torch.cuda._sleep(20_000_000)
        page.fill_(5.0)
        written.record()
    with torch.cuda.stream(reader):
        copied.add_(page)
    torch.cuda.synchronize()


def main():
    writer, reader = torch.cuda.Stream(), torch.cuda.Stream()
    page, copied = torch.zeros(SIZE, device="cuda"), torch.zeros(SIZE, device="cuda")
    for _ in range(2):
        copy_page(page, copied, writer, reader)
    return float(copied.sum())


if __name__ == "__main__":
    print("sum", main())
