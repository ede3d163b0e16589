import torch


def upload(frames, stream):
    with torch.cuda.stream(stream):
        return frames.to("cuda", non_blocking=True)
