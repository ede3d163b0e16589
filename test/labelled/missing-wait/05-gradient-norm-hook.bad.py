"""A hook measures every gradient on a side stream as soon as backward has accumulated it."""
import torch
from torch import nn


class GradientGauge:
    def __init__(self, model):
        self.stream = torch.cuda.Stream()
        self.norms = []
        for parameter in model.parameters():
            parameter.register_post_accumulate_grad_hook(self.measure)

    def measure(self, parameter):
        with torch.cuda.stream(self.stream):
            self.norms.append(parameter.grad.norm())  # expect: missing-wait

    def collect(self):
        torch.cuda.current_stream().wait_stream(self.stream)
        return torch.stack(self.norms).sum()


def main():
    model = nn.Sequential(nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, 1)).cuda()
    gauge = GradientGauge(model)
    loss = model(torch.randn(64, 256, device="cuda")).square().mean()
    loss.backward()
    total = gauge.collect()
    torch.cuda.synchronize()
    print(total.item())


if __name__ == "__main__":
    main()
