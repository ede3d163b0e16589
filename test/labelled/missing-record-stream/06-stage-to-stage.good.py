"""Micro-batches run through stages with a stream each; a stage replaces its input by its output."""
import torch
from torch import nn


@torch.no_grad()
def main():
    lanes = [torch.cuda.Stream() for _ in range(3)]
    stages = [nn.Sequential(nn.Linear(512, 512), nn.GELU()).cuda() for _ in lanes]
    batches = [torch.randn(128, 512, device="cuda") for _ in range(6)]
    outputs = []
    for activation in batches:
        before = torch.cuda.current_stream()
        for lane, stage in zip(lanes, stages):
            lane.wait_stream(before)
            with torch.cuda.stream(lane):
                activation.record_stream(lane)
                activation = stage(activation)
            before = lane
        outputs.append(activation)
    torch.cuda.synchronize()
    print(sum(output.mean().item() for output in outputs))


if __name__ == "__main__":
    main()
