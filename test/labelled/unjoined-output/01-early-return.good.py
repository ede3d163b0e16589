"""A track is halved in rate on a side stream; one way out of the function skips the join."""
import torch


def resample(track, side, keep_length):
    here = torch.cuda.current_stream()
    side.wait_stream(here)
    with torch.cuda.stream(side):
        halved = track.view(-1, 2).mean(1)
        restored = halved.repeat_interleave(2) if keep_length else halved
    here.wait_stream(side)
    return restored


def main():
    side = torch.cuda.Stream()
    track = torch.randn(1 << 20, device="cuda")
    same = resample(track, side, True)
    short = resample(track, side, False)
    loudness = same.square().mean() + short.square().mean()
    torch.cuda.synchronize()
    print(loudness.item())


if __name__ == "__main__":
    main()
