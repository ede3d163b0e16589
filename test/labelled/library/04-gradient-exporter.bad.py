"""Public code without a main: gradients leave through a hook; the next step zeroes them in place."""
import torch


class GradientExporter:
    def __init__(self, parameters):
        self.parameters = list(parameters)
        self.stream = torch.cuda.Stream()

    def export(self, sink):
        """Copies every gradient out and clears it for the next step."""
        here = torch.cuda.current_stream()
        self.stream.wait_stream(here)
        with torch.cuda.stream(self.stream):
            for parameter in self.parameters:
                copy = torch.empty(parameter.shape, pin_memory=True)
                copy.copy_(parameter.grad, non_blocking=True)
                sink.append(copy)
            done = self.stream.record_event()
        for parameter in self.parameters:
            parameter.grad.zero_()  # expect: write-after-read
        return done
