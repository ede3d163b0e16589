"""A network keeps its depth prediction on a side stream and adds it to the features."""
import torch
from torch import nn


class DepthHead(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.project = nn.Conv2d(channels, channels, 1)
        self.stream = torch.cuda.Stream()
        self.latest = None

    def forward(self, features):
        self.stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.stream):
            self.latest = self.project(features)
        return features


class SceneNet(nn.Module):
    def __init__(self, channels=16):
        super().__init__()
        self.stem = nn.Conv2d(3, channels, 3, padding=1)
        self.depth = DepthHead(channels)

    def forward(self, image):
        features = self.depth(self.stem(image))
        torch.cuda.current_stream().wait_stream(self.depth.stream)
        return features + self.depth.latest


@torch.inference_mode()
def main():
    net = SceneNet().cuda().eval()
    image = torch.rand(1, 3, 256, 256, device="cuda")
    scenes = [net(image) for _ in range(3)]
    torch.cuda.synchronize()
    print([scene.mean().item() for scene in scenes])


if __name__ == "__main__":
    main()
