"""The norm of a scaled grid is taken in the background; nobody keeps the scaled grid."""
import torch


def log_norm(grid, stream, sink):
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        sink.append(grid.norm())  # expect: missing-record-stream


def main():
    side = torch.cuda.Stream()
    grid = torch.randn(1 << 20, device="cuda")
    norms = []
    for factor in range(8):
        log_norm(grid * float(factor), side, norms)  # may: missing-record-stream
    torch.cuda.synchronize()
    print([norm.item() for norm in norms])


if __name__ == "__main__":
    main()
