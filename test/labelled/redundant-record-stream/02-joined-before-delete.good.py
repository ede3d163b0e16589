"""A noise field is measured on a side stream, joined, and only then deleted."""
import torch


def noise_peak(size, side):
    here = torch.cuda.current_stream()
    noise = torch.randn(size, device="cuda")
    side.wait_stream(here)
    with torch.cuda.stream(side):
        peak = noise.abs().amax()
    here.wait_stream(side)
    del noise
    return float(peak)


def main():
    side = torch.cuda.Stream()
    print([noise_peak(1 << 18, side) for _ in range(4)])


if __name__ == "__main__":
    main()
