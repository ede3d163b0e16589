"""Enlarged frames wait in a short queue while a side stream measures them."""
import torch


def measure(frames, side, depth=2):
    here = torch.cuda.current_stream()
    queue, brightness = [], []
    for frame in frames:
        large = frame.repeat(4, 4)
        side.wait_stream(here)
        with torch.cuda.stream(side):
            brightness.append(large.mean())
            measured = side.record_event()
        queue.append((large, measured))
        if len(queue) > depth:
            queue[0][1].synchronize()
            del queue[0]
    torch.cuda.synchronize()
    return brightness


def main():
    side = torch.cuda.Stream()
    frames = [torch.rand(256, 256, device="cuda") for _ in range(8)]
    print([value.item() for value in measure(frames, side)])


if __name__ == "__main__":
    main()
