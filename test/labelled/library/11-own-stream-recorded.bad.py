"""Public code without a main: a scheduler records its tensors for the stream that made them."""
import torch


class Ramp:
    def __init__(self, steps):
        self.stream = torch.cuda.Stream()
        self.steps = steps

    def total(self):
        here = torch.cuda.current_stream()
        with torch.cuda.stream(self.stream):
            ramp = torch.linspace(0.0, 1.0, self.steps, device="cuda")
            weights = torch.softmax(ramp, 0)
            ramp.record_stream(self.stream)  # expect: redundant-record-stream
            peak = weights.amax()
        peak.record_stream(here)
        here.wait_stream(self.stream)
        return peak
