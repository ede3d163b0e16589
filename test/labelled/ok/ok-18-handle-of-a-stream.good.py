"""An extension that gets the number of a stream reads on it and comes back when that is done."""
import torch

import sharedmemory


class Client:
    def __init__(self):
        self.stream = torch.cuda.Stream()
        self.handle = self.stream.cuda_stream

    def read(self, tensors):
        self.stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.stream):
            sharedmemory.read(tensors, self.handle)


def load(client: Client, n):
    lane = torch.cuda.Stream()
    lane.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(lane):
        buffers = [torch.empty(n, device="cuda") for _ in range(2)]
    torch.cuda.current_stream().wait_stream(lane)
    client = Client()
    client.read(buffers)
    with torch.cuda.stream(lane):
        for buffer in buffers:
            buffer.mul_(0.5)
    lane.synchronize()
    return torch.stack(buffers).sum().item()
