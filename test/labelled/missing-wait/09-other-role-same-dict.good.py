"""Streams are made on demand by role; the joiner names another role than the worker."""
import torch

_streams = {}


def stream_for(role):
    if role not in _streams:
        _streams[role] = torch.cuda.Stream()
    return _streams[role]


def align(reads, reference):
    worker = stream_for("align")
    worker.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(worker):
        return reads @ reference


def main():
    reads = torch.rand(512, 4096, device="cuda")
    reference = torch.rand(4096, 64, device="cuda")
    scores = align(reads, reference)
    torch.cuda.current_stream().wait_stream(stream_for("align"))
    best = scores.argmax(1)
    torch.cuda.synchronize()
    print(best[:4].tolist())


if __name__ == "__main__":
    main()
