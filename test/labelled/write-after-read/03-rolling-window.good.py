"""A window over sensor rows is shifted in place while its newer half is summarised elsewhere."""
import torch


class Window:
    def __init__(self, length, width):
        self.rows = torch.zeros(length, width, device="cuda")
        self.recent = self.rows[length // 2:]
        self.summarised = torch.cuda.Event()
        self.peaks = []

    def push(self, row):
        self.summarised.wait()
        self.rows.copy_(self.rows.roll(-1, 0))
        self.rows[-1] = row

    def summarise(self, stream):
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            self.peaks.append(self.recent.amax(0))
            self.summarised.record()


def main():
    side = torch.cuda.Stream()
    window = Window(64, 4096)
    for value in range(10):
        window.push(torch.full((4096,), float(value), device="cuda"))
        window.summarise(side)
    torch.cuda.synchronize()
    print([peak.max().item() for peak in window.peaks])


if __name__ == "__main__":
    main()
