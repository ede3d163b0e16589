"""Frequency bands are made on a side stream and recorded for that same stream."""
import torch


def main():
    side = torch.cuda.Stream()
    here = torch.cuda.current_stream()
    trace = torch.randn(1 << 18, device="cuda")
    side.wait_stream(here)
    with torch.cuda.stream(side):
        bands = [trace * factor for factor in (0.25, 0.5, 1.0)]
    here.wait_stream(side)
    power = torch.stack([band.square().mean() for band in bands])
    torch.cuda.synchronize()
    print(power.tolist())


if __name__ == "__main__":
    main()
