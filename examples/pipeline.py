"""A small training pipeline on two side streams, with the faults that multi-stream code usually has.

`upload` copies batches to the GPU on its own stream, `compute` runs the model on another. It runs without an error and
usually prints the right numbers: nothing but timing decides.
"""

import torch

upload = torch.cuda.Stream()
compute = torch.cuda.Stream()


def load(host_batch):
    """Starts the copy of one pinned batch and returns at once."""
    with torch.cuda.stream(upload):
        return host_batch.to("cuda", non_blocking=True)


def score(batch, weight):
    """Runs the layer on `compute`; nothing makes `compute` wait for the copy."""
    with torch.cuda.stream(compute):
        hidden = torch.relu(batch @ weight)
        total = hidden.sum(dim=1)
        total.record_stream(compute)
    return total


def main():
    weight = torch.randn(1024, 1024, device="cuda")
    torch.cuda.synchronize()
    results = torch.zeros(8, device="cuda")
    for step in range(8):
        host_batch = torch.randn(4096, 1024).pin_memory()
        batch = load(host_batch)
        total = score(batch, weight)
        # The last reference goes here, while `compute` may still read: the next upload gets the same block.
        del batch
        results[step] = total.mean()
    print(results.tolist())


if __name__ == "__main__":
    main()
