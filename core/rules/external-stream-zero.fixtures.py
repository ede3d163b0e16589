#- case: the handle of the default stream
def launch(kernel, a):
    stream = torch.cuda.ExternalStream(0)
    #        ^ external-stream-zero: ExternalStream(0) is not the default stream
    with torch.cuda.stream(stream):
        kernel(a)
#- fixed
def launch(kernel, a):
    stream = torch.cuda.default_stream()
    with torch.cuda.stream(stream):
        kernel(a)

#- case: the device is named, the handle has a name
import torch
from torch.cuda import ExternalStream
NULL = 0

class Runner:
    def __init__(self, device):
        self.stream = ExternalStream(NULL, device=device)
        #             ^ external-stream-zero: ExternalStream(0) is not the default stream
#- fixed
import torch
from torch.cuda import ExternalStream
NULL = 0

class Runner:
    def __init__(self, device):
        self.stream = torch.cuda.default_stream(device)

#- case: module code, and an accelerator's module
stream = torch.xpu.ExternalStream(stream_ptr=0, device=1) if hasattr(torch, "xpu") else torch.cuda.ExternalStream(0)
#        ^ external-stream-zero: ExternalStream(0) is not the default stream
#- good
stream = torch.cuda.default_stream(1)

#- case: a handle that somebody gives
def wrap(handle, stream):
    return torch.cuda.ExternalStream(handle), torch.cuda.ExternalStream(stream.cuda_stream), torch.cuda.ExternalStream(7)
