"""A host read on the producing stream orders everything launched later, on any stream."""
import torch


def main():
    side = torch.cuda.Stream()
    values = torch.randn(1 << 20, device="cuda")
    count = int((values > 0).sum().item())
    with torch.cuda.stream(side):
        scaled = values / count
        peak = scaled.amax()
    side.synchronize()
    print(peak.item())
    values.zero_()
    print(values.sum().item(), scaled.numel())


if __name__ == "__main__":
    main()
