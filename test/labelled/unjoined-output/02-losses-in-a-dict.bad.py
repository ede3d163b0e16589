"""An auxiliary loss is computed beside the main one; both leave in a dictionary."""
import torch
from torch import nn
from torch.nn import functional as F


class TwoLosses(nn.Module):
    def __init__(self, classes=32):
        super().__init__()
        self.main = nn.Linear(128, classes)
        self.aux = nn.Linear(128, classes)
        self.side = torch.cuda.Stream()

    def forward(self, features, target):
        here = torch.cuda.current_stream()
        self.side.wait_stream(here)
        with torch.cuda.stream(self.side):
            auxiliary = F.cross_entropy(self.aux(features), target)
        loss = F.cross_entropy(self.main(features), target)
        return {"main": loss, "auxiliary": auxiliary}  # expect: unjoined-output


@torch.no_grad()
def main():
    model = TwoLosses().cuda()
    features = torch.randn(256, 128, device="cuda")
    target = torch.randint(0, 32, (256,), device="cuda")
    losses = model(features, target)
    weighted = losses["main"] + 0.3 * losses["auxiliary"]  # may: missing-wait
    torch.cuda.synchronize()
    print(weighted.item())


if __name__ == "__main__":
    main()
