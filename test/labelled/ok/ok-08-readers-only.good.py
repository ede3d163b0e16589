"""Two lanes and the caller read one table at the same time; nobody writes it."""
import torch
from torch.cuda import Stream, current_stream, stream


def main():
    table = torch.randn(1 << 20, device="cuda")
    lanes = [Stream(), Stream()]
    ready = current_stream().record_event()
    extremes = []
    for lane, extreme in zip(lanes, (torch.amax, torch.amin)):
        ready.wait(lane)
        with stream(lane):
            extremes.append(extreme(table))
    mean = table.mean()
    for lane in lanes:
        current_stream().wait_stream(lane)
    spread = extremes[0] - extremes[1] + mean
    torch.cuda.synchronize()
    print(spread.item())


if __name__ == "__main__":
    main()
