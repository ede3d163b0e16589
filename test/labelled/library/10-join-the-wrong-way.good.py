"""Public code without a main: a mixture runs its second expert aside and joins it the wrong way round."""
import torch
from torch import nn


class TwoExperts(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(width, width, device="cuda")
        self.second = nn.Linear(width, width, device="cuda")
        self.aside = torch.cuda.Stream()

    def forward(self, x):
        here = torch.cuda.current_stream()
        self.aside.wait_stream(here)
        with torch.cuda.stream(self.aside):
            right = self.second(x)
        left = self.first(x)
        here.wait_stream(self.aside)
        return left + right
