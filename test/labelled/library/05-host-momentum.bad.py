"""Public code without a main: an optimizer keeps its momentum on the host and fetches gradients there."""
import torch


class HostMomentum:
    def __init__(self, parameters, rate=0.01):
        self.rate = rate
        self.side = torch.cuda.Stream()
        self.slots = {}
        for parameter in parameters:
            momentum = torch.zeros(parameter.shape, pin_memory=True)
            gradient = torch.zeros(parameter.shape, pin_memory=True)
            self.slots[parameter] = (momentum, gradient)

    @torch.no_grad()
    def step(self):
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            for parameter, (_, gradient) in self.slots.items():
                gradient.copy_(parameter.grad, non_blocking=True)
            fetched = self.side.record_event()
        fetched.query()
        for parameter, (momentum, gradient) in self.slots.items():
            momentum.mul_(0.9).add_(gradient)  # expect: host-read-before-sync
            parameter.add_(momentum.cuda(), alpha=-self.rate)
