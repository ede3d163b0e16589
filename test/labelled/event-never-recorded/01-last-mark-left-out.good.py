"""Prefix sums run chunk by chunk; the marks of the chunks are recorded for all but the last."""
import torch


def main():
    here = torch.cuda.current_stream()
    side = torch.cuda.Stream()
    chunks = torch.rand(4, 1 << 20, device="cuda").unbind(0)
    marks = [torch.cuda.Event() for _ in chunks]
    side.wait_stream(here)
    sums = []
    for index, chunk in enumerate(chunks):
        with torch.cuda.stream(side):
            sums.append(chunk.cumsum(0))
        marks[index].record(side)
    total = torch.zeros((), device="cuda")
    for mark, prefix in zip(marks, sums):
        here.wait_event(mark)
        total += prefix[-1]
    torch.cuda.synchronize()
    print(total.item())


if __name__ == "__main__":
    main()
