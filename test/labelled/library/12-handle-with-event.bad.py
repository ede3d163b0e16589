"""Public code without a main: a handle is returned whose event belongs to nothing."""
import torch


class Pending:
    def __init__(self, value, done):
        self.value = value
        self.done = done

    def get(self):
        self.done.wait(torch.cuda.current_stream())  # expect: event-never-recorded
        return self.value  # may: unjoined-output


def reduce_later(tensors, stream):
    done = torch.cuda.Event()
    here = torch.cuda.current_stream()
    stacked = torch.stack([tensor.cuda() for tensor in tensors])
    stream.wait_stream(here)
    with torch.cuda.stream(stream):
        total = stacked.sum(0)
    stacked.record_stream(stream)
    total.record_stream(here)
    return Pending(total, done)


def reduce_now(tensors, stream):
    pending = reduce_later(tensors, stream)
    return pending.get() + 0.5  # may: missing-wait, event-never-recorded
