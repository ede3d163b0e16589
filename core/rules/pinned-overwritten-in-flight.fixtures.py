#- case: one staging buffer for all rows
staging = torch.empty(1024, pin_memory=True)

def upload(rows):
    total = torch.zeros(1, device="cuda")
    for row in rows:
        staging.copy_(row)
      # ^ pinned-overwritten-in-flight: `staging` is changed by the host in `copy_` while the copy from it on the
      # | default stream may still read it: the host does not wait for the default stream in between
        total += staging.to("cuda", non_blocking=True).sum()
        #        ~ the copy from `staging` is queued here, on the default stream
    return total
#- fixed
staging = torch.empty(1024, pin_memory=True)

def upload(rows):
    total = torch.zeros(1, device="cuda")
    for row in rows:
        torch.cuda.current_stream().synchronize()
        staging.copy_(row)
        total += staging.to("cuda", non_blocking=True).sum()
    return total

#- case: changed right after the upload
def upload(row):
    staging = row.pin_memory()
    batch = staging.to("cuda", non_blocking=True)
    #       ~ the copy from `staging` is queued here, on the default stream
    staging.zero_()
  # ^ pinned-overwritten-in-flight: `staging` is changed by the host in `zero_` while the copy from it on the default
  # | stream may still read it: the host does not wait for the default stream in between
    return batch
#- fixed
def upload(row):
    staging = row.pin_memory()
    batch = staging.to("cuda", non_blocking=True)
    torch.cuda.current_stream().synchronize()
    staging.zero_()
    return batch

#- case: the host waits first
def upload(row):
    staging = row.pin_memory()
    batch = staging.to("cuda", non_blocking=True)
    torch.cuda.current_stream().synchronize()
    staging.zero_()
    return batch

#- case: reading it again is no conflict
def upload(row):
    staging = row.pin_memory()
    batch = staging.to("cuda", non_blocking=True)
    print(staging.sum().item())
    return batch

#- case: two slots that take turns
class Stage:
    def __init__(self):
        self.copies = torch.cuda.Stream()
        self.slots = [torch.empty(8, pin_memory=True) for _ in range(2)]
        self.at = 0

    def record(self, rows):
        host = self.slots[self.at]
        out = rows.cuda()
        self.copies.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.copies):
            out.copy_(host, non_blocking=True)
        host.numpy()[0].fill(1.0)
      # ^ pinned-overwritten-in-flight
        torch.cuda.current_stream().wait_stream(self.copies)
        return out
#- good
class Stage:
    def __init__(self):
        self.copies = torch.cuda.Stream()
        self.slots = [torch.empty(8, pin_memory=True) for _ in range(2)]
        self.done = [torch.cuda.Event() for _ in range(2)]
        self.at = 0

    def add(self, row):
        self.slots[self.at].numpy()[row].fill(1.0)

    def record(self, rows: torch.Tensor):
        ready = self.at ^ 1
        self.done[ready].synchronize()
        self.at, write = ready, self.at
        self.copies.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.copies):
            self.slots[write].copy_(rows, non_blocking=True)
            self.done[write].record()

    def read(self):
        return self.slots[self.at].numpy().sum()

#- case: `copyto` writes its first argument only
import numpy as np
import torch

def store(batch, slot):
    staging = batch.pin_memory()
    device = staging.to("cuda", non_blocking=True)
    np.copyto(slot, staging.numpy())
    return device

#- case: `copyto` into the memory that is being copied
import numpy as np
import torch

def upload(batch, rows):
    staging = batch.pin_memory()
    device = staging.to("cuda", non_blocking=True)
    np.copyto(staging.numpy(), rows)
  # ^ pinned-overwritten-in-flight: `staging` is changed by the host in `numpy.copyto` while the copy
    return device
#- fixed
import numpy as np
import torch

def upload(batch, rows):
    staging = batch.pin_memory()
    device = staging.to("cuda", non_blocking=True)
    torch.cuda.current_stream().synchronize()
    np.copyto(staging.numpy(), rows)
    return device

#- case: a blocking collective of host memory writes it at once
import torch.distributed as dist

def receive(turns):
    stage = torch.empty(1024, pin_memory=True)
    total = torch.zeros(1, device="cuda")
    for _ in range(turns):
        dist.recv(stage, src=1)
      # ^ pinned-overwritten-in-flight: `stage` is changed by the host in `recv` while the copy from it on the default
      # | stream may still read it
        total += stage.cuda(non_blocking=True).sum()
        #        ~ the copy from `stage` is queued here, on the default stream
    return total
#- good
import torch.distributed as dist

def receive(turns):
    stage = torch.empty(1024, pin_memory=True)
    total = torch.zeros(1, device="cuda")
    for _ in range(turns):
        dist.recv(stage, src=1)
        total += stage.cuda(non_blocking=True).sum()
        torch.cuda.current_stream().synchronize()
    return total
