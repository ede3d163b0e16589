"""Only large tensors are thought worth recording before they are deleted."""
import torch


def main():
    side = torch.cuda.Stream()
    sums = []
    for power in (12, 16, 20, 20, 16, 12):
        molecule = torch.rand(1 << power, device="cuda")
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            sums.append(molecule.sum())  # may: missing-record-stream
        if molecule.numel() > 100_000:
            molecule.record_stream(side)
        del molecule  # expect: missing-record-stream
    torch.cuda.synchronize()
    print([value.item() for value in sums])


if __name__ == "__main__":
    main()
