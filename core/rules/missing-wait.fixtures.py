#- case: a copy stream and the current stream
copy = torch.cuda.Stream()

def mean_of(host):
    with torch.cuda.stream(copy):
        batch = host.to("cuda", non_blocking=True)
        #       ~ `batch` is written here, on `copy`
    return batch.mean().item()
    #      ^ missing-wait: `batch` is read on the default stream by `mean` before the `copy` on `copy` is done: no
    # | wait of the default stream for `copy` lies between
#- fixed
copy = torch.cuda.Stream()

def mean_of(host):
    with torch.cuda.stream(copy):
        batch = host.to("cuda", non_blocking=True)
        copy_done = copy.record_event()
    torch.cuda.current_stream().wait_event(copy_done)
    return batch.mean().item()

#- case: both streams are named
def pipeline(host):
    copy, compute = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(copy):
        x = host.cuda(non_blocking=True)
        x.mul_(2)
      # ~ `x` is written here, on `copy`
    with torch.cuda.stream(compute):
        y = x + 1
        #   ^ missing-wait: `x` is read on `compute` by `add` before the `mul_` on `copy` is done: no wait of
        # | `compute` for `copy` lies between
    torch.cuda.synchronize()
    return y
#- fixed
def pipeline(host):
    copy, compute = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(copy):
        x = host.cuda(non_blocking=True)
        x.mul_(2)
        copy_done = copy.record_event()
    compute.wait_event(copy_done)
    with torch.cuda.stream(compute):
        y = x + 1
    torch.cuda.synchronize()
    return y

#- case: a wait in between is enough
def pipeline(host):
    copy, compute = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(copy):
        x = host.cuda(non_blocking=True)
    ready = torch.cuda.Event()
    ready.record(copy)
    compute.wait_event(ready)
    with torch.cuda.stream(compute):
        y = x + 1
    torch.cuda.synchronize()
    return y

#- case: the side stream must wait for the caller first
side = torch.cuda.Stream()

def doubled(n):
    x = torch.ones(n, device="cuda")
    #   ~ `x` is written here, on the default stream
    with torch.cuda.stream(side):
        y = x * 2
        #   ^ missing-wait: `x` is read on `side` by `mul` before the `ones` on the default stream is done: no wait of
        # | `side` for the default stream lies between
    torch.cuda.current_stream().wait_stream(side)
    y.record_stream(torch.cuda.current_stream())
    return y
#- fixed
side = torch.cuda.Stream()

def doubled(n):
    x = torch.ones(n, device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x * 2
    torch.cuda.current_stream().wait_stream(side)
    y.record_stream(torch.cuda.current_stream())
    return y

#- case: streams of an object
class Loader:
    def __init__(self):
        self.lane = torch.cuda.Stream()

    def load(self, host):
        with torch.cuda.stream(self.lane):
            item = host.to("cuda", non_blocking=True).float()
            #      ~ `item` is written here, on `self.lane`
        item += 1
      # ^ missing-wait: `item` is written on the default stream by `add_` before the `float` on `self.lane` is done:
      # | no wait of the default stream for `self.lane` lies between
        item.record_stream(torch.cuda.current_stream())
        return item
#- fixed
class Loader:
    def __init__(self):
        self.lane = torch.cuda.Stream()

    def load(self, host):
        with torch.cuda.stream(self.lane):
            item = host.to("cuda", non_blocking=True).float()
            lane_done = self.lane.record_event()
        torch.cuda.current_stream().wait_event(lane_done)
        item += 1
        item.record_stream(torch.cuda.current_stream())
        return item

#- case: the record comes before the last write
def late(host):
    copy = torch.cuda.Stream()
    with torch.cuda.stream(copy):
        x = host.cuda(non_blocking=True)
        ready = copy.record_event()
        x.mul_(0.5)
      # ~ `x` is written here, on `copy`
    torch.cuda.current_stream().wait_event(ready)
    return x.sum().item()
    #      ^ missing-wait: `x` is read on the default stream by `sum` before the `mul_` on `copy` is done: no wait of
    # | the default stream for `copy` lies between
#- fixed
def late(host):
    copy = torch.cuda.Stream()
    with torch.cuda.stream(copy):
        x = host.cuda(non_blocking=True)
        x.mul_(0.5)
        ready = copy.record_event()
    torch.cuda.current_stream().wait_event(ready)
    return x.sum().item()

#- case: only one branch waits
side = torch.cuda.Stream()

def total(host, overlap):
    with torch.cuda.stream(side):
        x = host.cuda(non_blocking=True)
        #   ~ `x` is written here, on `side`
    if not overlap:
        torch.cuda.current_stream().wait_stream(side)
    return x.sum().item()
    #      ^ missing-wait: `x` is read on the default stream by `sum` before the `copy` on `side` is done: no wait of
    # | the default stream for `side` lies between; on the path where `overlap` is true
#- fixed
side = torch.cuda.Stream()

def total(host, overlap):
    with torch.cuda.stream(side):
        x = host.cuda(non_blocking=True)
        side_done = side.record_event()
    if not overlap:
        torch.cuda.current_stream().wait_stream(side)
    torch.cuda.current_stream().wait_event(side_done)
    return x.sum().item()

#- case: the helper's caller does not wait
side = torch.cuda.Stream()

def fill(out):
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        out.fill_(1.0)
      # ~ `out` is written here, on `side`

def run():
    out = torch.empty(1024, device="cuda")
    fill(out)
    print(out.sum().item())
    #     ^ missing-wait: `out` is read on the default stream by `sum` before the `fill_` on `side` is done: no wait
    # | of the default stream for `side` lies between
    torch.cuda.synchronize()

run()
#- fixed
side = torch.cuda.Stream()

def fill(out):
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        out.fill_(1.0)

def run():
    out = torch.empty(1024, device="cuda")
    fill(out)
    side_done = side.record_event()
    torch.cuda.current_stream().wait_event(side_done)
    print(out.sum().item())
    torch.cuda.synchronize()

run()

#- case: each turn reads what the turn before wrote
def smooth(n):
    side = torch.cuda.Stream()
    state = torch.zeros(1024, device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    for _ in range(n):
        other = state + 1
        #       ^ missing-wait: `state` is read on the default stream by `add` before the `add_` on `side` is done: no
        # | wait of the default stream for `side` lies between
        #       ~ `state` is read here, on the default stream
        with torch.cuda.stream(side):
            state.add_(0.5)
          # ^ write-after-read: `state` is overwritten on `side` by `add_` while the `add` on the default stream may
          # | still read it: no wait of `side` for the default stream lies between
          # ~ `state` is written here, on `side`
    torch.cuda.synchronize()
    return other
#- fixed
def smooth(n):
    side = torch.cuda.Stream()
    state = torch.zeros(1024, device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    for _ in range(n):
        torch.cuda.current_stream().wait_stream(side)
        other = state + 1
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            state.add_(0.5)
    torch.cuda.synchronize()
    return other

#- case: every lane must be waited for
def spread(x):
    x = x.cuda()
    current = torch.cuda.current_stream()
    lanes = [torch.cuda.Stream() for _ in range(3)]
    parts = []
    for lane, piece in zip(lanes, x.chunk(3)):
        lane.wait_stream(current)
        with torch.cuda.stream(lane):
            part = piece.relu()
            #      ~ `part` is written here, on `lane`
        part.record_stream(current)
        parts.append(part)
    return torch.cat(parts).sum().item()
    #      ^ missing-wait: `part` is read on `current` by `cat` before the `relu` on `lane` is done: no wait of
    # | `current` for `lane` lies between
#- fixed
def spread(x):
    x = x.cuda()
    current = torch.cuda.current_stream()
    lanes = [torch.cuda.Stream() for _ in range(3)]
    parts = []
    for lane, piece in zip(lanes, x.chunk(3)):
        lane.wait_stream(current)
        with torch.cuda.stream(lane):
            part = piece.relu()
        part.record_stream(current)
        parts.append(part)
    for lane in lanes:
        current.wait_stream(lane)
    return torch.cat(parts).sum().item()

#- case: a host synchronization orders as well
side = torch.cuda.Stream()

def total(host):
    with torch.cuda.stream(side):
        x = host.cuda(non_blocking=True)
    side.synchronize()
    return x.sum().item()

#- case: a tensor that may not be on a GPU is not accused
side = torch.cuda.Stream()

def total(x):
    with torch.cuda.stream(side):
        y = x * 2
    return y.sum()

#- case: tabs and a comment at the end
side = torch.cuda.Stream()

def total(host):
	with torch.cuda.stream(side):
		x = host.cuda(non_blocking=True)  # asynchronous
  #   ~ `x` is written here, on `side`
	return x.sum().item()  # blocks
 #      ^ missing-wait: `x` is read on the default stream by `sum` before the `copy` on `side` is done: no wait of the
 # | default stream for `side` lies between
#- fixed
side = torch.cuda.Stream()

def total(host):
	with torch.cuda.stream(side):
		x = host.cuda(non_blocking=True)  # asynchronous
		side_done = side.record_event()
	torch.cuda.current_stream().wait_event(side_done)
	return x.sum().item()  # blocks

#- case: one line
side = torch.cuda.Stream()

def total(host):
    with torch.cuda.stream(side): x = host.cuda(non_blocking=True)
    #                                 ~ `x` is written here, on `side`
    y = x * 2; return y.sum().item()
    #   ^ missing-wait: `x` is read on the default stream by `mul` before the `copy` on `side` is done: no wait of the
    # | default stream for `side` lies between
#- fixed
side = torch.cuda.Stream()

def total(host):
    with torch.cuda.stream(side): x = host.cuda(non_blocking=True); side_done = side.record_event()
    torch.cuda.current_stream().wait_event(side_done)
    y = x * 2; return y.sum().item()

#- case: the event is recorded, and nobody waits for it
def pipeline(host):
    copy, compute = torch.cuda.Stream(), torch.cuda.Stream()
    ready = torch.cuda.Event()
    with torch.cuda.stream(copy):
        x = host.cuda(non_blocking=True)
        #   ~ `x` is written here, on `copy`
        ready.record(copy)
    with torch.cuda.stream(compute):
        y = x + 1
        #   ^ missing-wait: `x` is read on `compute` by `add` before the `copy` on `copy` is done: no wait of
        # | `compute` for `copy` lies between
    torch.cuda.synchronize()
    return y
#- fixed
def pipeline(host):
    copy, compute = torch.cuda.Stream(), torch.cuda.Stream()
    ready = torch.cuda.Event()
    with torch.cuda.stream(copy):
        x = host.cuda(non_blocking=True)
        ready.record(copy)
    compute.wait_event(ready)
    with torch.cuda.stream(compute):
        y = x + 1
    torch.cuda.synchronize()
    return y

#- case: an accelerator object has the functions of the device
from deepspeed.accelerator import get_accelerator
import torch

class Uploader:
    def __init__(self):
        self.accelerator = get_accelerator()
        self.side = self.accelerator.Stream()

    def upload(self, host):
        with self.accelerator.stream(self.side):
            x = host.to(get_accelerator().current_device_name(), non_blocking=True)
        return x.sum().item()
        #      ^ missing-wait: `x` is read on the default stream by `sum` before the `copy` on `self.side` is done
#- good
from deepspeed.accelerator import get_accelerator
import torch

class Uploader:
    def __init__(self):
        self.accelerator = get_accelerator()
        self.side = self.accelerator.Stream()

    def upload(self, host):
        with self.accelerator.stream(self.side):
            x = host.to(get_accelerator().current_device_name(), non_blocking=True)
        get_accelerator().current_stream().wait_stream(self.side)
        return x.sum().item()

#- case: a package that chooses its accelerator itself
from accelerator.real import get_accelerator
import torch

def upload(host):
    side = get_accelerator().Stream()
    with get_accelerator().stream(side):
        x = host.to("cuda", non_blocking=True)
    return x.sum().item()
    #      ^ missing-wait: `x` is read on the default stream by `sum` before the `copy` on `side` is done
#- file: accelerator/__init__.py

#- file: accelerator/real.py
import importlib
import os
chosen = None

def get_accelerator():
    global chosen
    if chosen is None:
        chosen = importlib.import_module(os.environ["ACCELERATOR"]).Accelerator()
    return chosen
#- good
from accelerator.real import get_accelerator
import torch

def upload(host):
    side = get_accelerator().Stream()
    with get_accelerator().stream(side):
        x = host.to("cuda", non_blocking=True)
    get_accelerator().current_stream().wait_stream(side)
    return x.sum().item()

#- case: the generic streams and events
def upload(host):
    side = torch.Stream("cuda")
    with side:
        x = host.to("cuda", non_blocking=True)
    return x.sum().item()
    #      ^ missing-wait: `x` is read on the default stream by `sum` before the `copy` on `side` is done
#- good
def upload(host):
    side = torch.Stream("cuda")
    with side:
        x = host.to("cuda", non_blocking=True)
    ready = torch.Event("cuda")
    ready.record(side)
    ready.wait()
    return x.sum().item()

#- case: the generic functions of the accelerator
def upload(host):
    before = torch.accelerator.current_stream()
    side = torch.Stream()
    torch.accelerator.set_stream(side)
    x = host.to(torch.accelerator.current_accelerator(), non_blocking=True)
    torch.accelerator.set_stream(before)
    return x.sum().item()
    #      ^ missing-wait: `x` is read on `before` by `sum` before the `copy` on `side` is done
#- good
def upload(host):
    before = torch.accelerator.current_stream()
    side = torch.Stream()
    torch.accelerator.set_stream(side)
    x = host.to(torch.accelerator.current_accelerator(), non_blocking=True)
    torch.accelerator.synchronize()
    torch.accelerator.set_stream(before)
    return x.sum().item()

#- case: the module of whatever device there is
def upload(host, device):
    module = torch.get_device_module(device)
    side = module.Stream()
    with module.stream(side):
        x = host.to("cuda", non_blocking=True)
    return x.sum().item()
    #      ^ missing-wait: `x` is read on the default stream by `sum` before the `copy` on `side` is done
#- good
def upload(host, kind):
    module = getattr(torch, kind)
    side = module.Stream()
    with module.stream(side):
        x = host.to("cuda", non_blocking=True)
    module.current_stream().wait_stream(side)
    return x.sum().item()

#- case: a device module that came as a parameter
class Uploader:
    def __init__(self, device_handle):
        self.device_handle = device_handle
        self.side = self.device_handle.Stream(priority=-1)

    def upload(self, host):
        with self.device_handle.stream(self.side):
            x = host.to("cuda", non_blocking=True)
        return x.sum().item()
        #      ^ missing-wait: `x` is read on the default stream by `sum` before the `copy` on `self.side` is done
#- good
class Uploader:
    def __init__(self, device_handle):
        self.device_handle = device_handle
        self.side = self.device_handle.Stream(priority=-1)

    def upload(self, host):
        ready = self.device_handle.Event()
        with self.device_handle.stream(self.side):
            x = host.to("cuda", non_blocking=True)
            ready.record()
        self.device_handle.current_stream().wait_event(ready)
        return x.sum().item()

#- case: a process has events of its own
def watch(context, host):
    side = torch.cuda.Stream()
    stop = context.Event()
    with torch.cuda.stream(side):
        x = host.to("cuda", non_blocking=True)
    side.synchronize()
    stop.wait()
    return x.sum().item()

#- case: a hook for saved tensors copies what the forward has just made
class Offload(torch.autograd.graph.saved_tensors_hooks):
    def __init__(self):
        self.side = torch.cuda.Stream()
        self.kept = {}

        def pack(x):
            host = torch.empty_like(x, device="cpu", pin_memory=True)
            with torch.cuda.stream(self.side):
                host.copy_(x, non_blocking=True)
              # ^ missing-wait: `x` is read on `self.side` by `copy_` before the `forward` on the default stream is
              # | done: no wait of `self.side` for the default stream lies between
            self.kept[id(host)] = x, self.side.record_event()
            return host

        def unpack(host):
            x, copied = self.kept.pop(id(host))
            torch.cuda.current_stream().wait_event(copied)
            return x

        super().__init__(pack, unpack)
#- good
class Offload(torch.autograd.graph.saved_tensors_hooks):
    def __init__(self):
        self.side = torch.cuda.Stream()
        self.kept = {}

        def pack(x):
            host = torch.empty_like(x, device="cpu", pin_memory=True)
            self.side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self.side):
                host.copy_(x, non_blocking=True)
            self.kept[id(host)] = x, self.side.record_event()
            return host

        def unpack(host):
            x, copied = self.kept.pop(id(host))
            torch.cuda.current_stream().wait_event(copied)
            return x

        super().__init__(pack, unpack)

#- case: a hook on accumulated gradients
side = torch.cuda.Stream()
hosts = {}

def offload_gradients(parameters):
    def offload(parameter):
        with torch.cuda.stream(side):
            hosts[parameter].copy_(parameter.grad, non_blocking=True)
          # ^ missing-wait: `parameter.grad` is read on `side` by `copy_` before the `backward` on the default stream

    for parameter in parameters:
        hosts[parameter] = torch.empty(parameter.shape, pin_memory=True)
        parameter.register_post_accumulate_grad_hook(offload)
#- good
side = torch.cuda.Stream()
hosts = {}

def offload_gradients(parameters):
    def offload(parameter):
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            hosts[parameter].copy_(parameter.grad, non_blocking=True)
            parameter.grad.record_stream(side)

    for parameter in parameters:
        hosts[parameter] = torch.empty(parameter.shape, pin_memory=True)
        parameter.register_post_accumulate_grad_hook(offload)

#- case: a method is the hook of a module
class Recorder:
    def __init__(self, module):
        self.side = torch.cuda.Stream()
        self.host = torch.empty(1024, pin_memory=True)
        module.register_forward_hook(self.note)

    def note(self, module, args, output):
        with torch.cuda.stream(self.side):
            self.host.copy_(output.detach(), non_blocking=True)
          # ^ missing-wait
#- good
class Recorder:
    def __init__(self, module):
        self.side = torch.cuda.Stream()
        self.host = torch.empty(1024, pin_memory=True)
        module.register_forward_hook(self.note)

    def note(self, module, args, output):
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            self.host.copy_(output.detach(), non_blocking=True)
            output.record_stream(self.side)

#- case: one of several results
side = torch.cuda.Stream()

def ordered(x):
    block = x.cuda()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        lowest = block.sort(dim=0).values
        #        ~ `lowest` is written here, on `side`
    return lowest.sum().item()
    #      ^ missing-wait: `lowest` is read on the default stream by `sum` before the `sort` on `side` is done

def best(x):
    block = x.cuda()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        scores, places = torch.topk(block, 3)
    return places.sum().item()
    #      ^ missing-wait: `places` is read on the default stream by `sum` before the `topk` on `side` is done

def decomposed(x):
    block = x.cuda()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        u, s, vh = torch.linalg.svd(block)
    return vh.sum().item()
    #      ^ missing-wait: `vh` is read on the default stream by `sum` before the `svd` on `side` is done
#- good
side = torch.cuda.Stream()

def ordered(x):
    block = x.cuda()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        lowest = block.sort(dim=0).values
    torch.cuda.current_stream().wait_stream(side)
    return lowest.sum().item()

def best(x):
    block = x.cuda()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        scores, places = block.max(dim=-1)
    torch.cuda.current_stream().wait_stream(side)
    return places.sum().item()

#- case: results go to several tensors that are given
side = torch.cuda.Stream()

def ordered(x):
    block = x.cuda()
    values, places = torch.empty_like(block), torch.empty_like(block)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        torch.sort(block, out=(values, places))
    return places.sum().item()
    #      ^ missing-wait: `places` is read on the default stream by `sum` before the `sort` on `side` is done
#- good
side = torch.cuda.Stream()

def ordered(x):
    block = x.cuda()
    values, places = torch.empty_like(block), torch.empty_like(block)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        torch.sort(block, out=(values, places))
    side.synchronize()
    return places.sum().item()

#- case: one launch over a list of tensors
side = torch.cuda.Stream()

def raised(n):
    a, b = torch.zeros(n, device="cuda"), torch.zeros(n, device="cuda")
    with torch.cuda.stream(side):
        torch._foreach_add_([a, b], 1.0)
      # ^ missing-wait: `a` is written on `side` by `_foreach_add_` before the `zeros` on the default stream is done
    torch.cuda.current_stream().wait_stream(side)
    return a + b
#- good
side = torch.cuda.Stream()

def raised(n):
    a, b = torch.zeros(n, device="cuda"), torch.zeros(n, device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        c, d = torch._foreach_add([a, b], 1.0)
    torch.cuda.current_stream().wait_stream(side)
    return c + d

#- case: two tensors change places
side = torch.cuda.Stream()

def swapped(n):
    a, b = torch.ones(n, device="cuda"), torch.zeros(n, device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        a.mul_(2)
    torch.utils.swap_tensors(a, b)
    return b.sum().item()
    #      ^ missing-wait: is read on the default stream by `sum` before the `mul_` on `side` is done
#- good
side = torch.cuda.Stream()

def swapped(n):
    a, b = torch.ones(n, device="cuda"), torch.zeros(n, device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        a.mul_(2)
    torch.utils.swap_tensors(a, b)
    total = a.sum().item()
    torch.cuda.current_stream().wait_stream(side)
    return total

#- case: another element type is another block
side = torch.cuda.Stream()

def halved(x):
    block = x.cuda()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        small = block.type(torch.float16)
    return small.sum().item()
    #      ^ missing-wait: `small` is read on the default stream by `sum` before the `type` on `side` is done
#- good
side = torch.cuda.Stream()

def halved(x):
    block = x.cuda()
    with torch.cuda.stream(side):
        kind = block.type()
    return block.sum().item(), kind

#- case: operators by the dispatcher's names, and of the special modules
side = torch.cuda.Stream()

def doubled(x):
    block = x.cuda()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        twice = torch.ops.aten.mul.Tensor(block, 2)
        waves = torch.fft.rfft(torch.special.expit(twice))
    return waves.abs().sum().item()
    #      ^ missing-wait: `waves` is read on the default stream by `abs` before the `rfft` on `side` is done
#- good
side = torch.cuda.Stream()

def doubled(x):
    block = x.cuda()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        twice = torch.ops.aten.mul.Tensor(block, 2)
        waves = torch.fft.rfft(torch.special.expit(twice))
    torch.cuda.current_stream().wait_stream(side)
    return waves.abs().sum().item()

#- case: gradients are clipped, not parameters
side = torch.cuda.Stream()

def clipped(weights, x):
    weights = weights.cuda().requires_grad_()
    (weights * x.cuda()).sum().backward()
    with torch.cuda.stream(side):
        torch.nn.utils.clip_grad_norm_([weights], 1.0)
    side.synchronize()
    return weights.detach().sum().item()

#- case: a place in memory that is copied in another order
side = torch.cuda.Stream()

def flat(x):
    block = x.cuda()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        line = block.t().reshape(-1)
    return line.sum().item()
    #      ^ missing-wait: `line` is read on the default stream by `sum` before the `reshape` on `side` is done
#- good
side = torch.cuda.Stream()

def flat(x):
    block = x.cuda()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        line = block.reshape(-1)
    return line.sum().item()

#- case: behind tests that leave what is not worth the copy where it is
def offload(x, side, known, least):
    if x.numel() < least:
        return x
    if id(x) in known:
        return x
    if x.device.index in known:
        return x
    y = x.cuda() * 2
    host = torch.empty(x.shape, pin_memory=True)
    with torch.cuda.stream(side):
        host.copy_(y, non_blocking=True)
      # ^ missing-wait
    return host, y, side.record_event()
#- good
def offload(x, side, known, least):
    if x.numel() < least:
        return x
    if id(x) in known:
        return x
    if x.device.index in known:
        return x
    y = x.cuda() * 2
    host = torch.empty(x.shape, pin_memory=True)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        host.copy_(y, non_blocking=True)
    return host, y, side.record_event()
#- case: an unknown collective reads what another stream has made for the device
def gather(parameters, collective, group, device, pack, exchange):
    with torch.cuda.stream(pack):
        packed = torch.empty(sum(p.numel() for p in parameters), device=device)
        torch.cat(parameters, out=packed)
      # ~ `packed` is written here, on `pack`
    with torch.cuda.stream(exchange):
        collective(packed, group=group)
      # ^ missing-wait: `packed` is read on `exchange` by `collective` before the `cat` on `pack` is done: no wait of
      # | `exchange` for `pack` lies between
    torch.cuda.current_stream().wait_stream(exchange)
#- good
def gather(parameters, collective, group, device, pack, exchange):
    with torch.cuda.stream(pack):
        packed = torch.empty(sum(p.numel() for p in parameters), device=device)
        torch.cat(parameters, out=packed)
    exchange.wait_stream(pack)
    with torch.cuda.stream(exchange):
        collective(packed, group=group)
    torch.cuda.current_stream().wait_stream(exchange)

#- case: what a request gives is used where record_stream says
def look_up(requests, tables, arriving):
    here = torch.cuda.current_stream()
    for table in tables:
        request = requests.pop(table.name)
        with torch.cuda.stream(arriving):
            rows = request.wait()
            #      ~ `rows` is written here, on `arriving`
        rows.record_stream(here)
        table.prefetch(rows)
      # ^ missing-wait: `rows` is read on `here` by
#- good
def look_up(requests, tables, arriving):
    here = torch.cuda.current_stream()
    for table in tables:
        request = requests.pop(table.name)
        with torch.cuda.stream(arriving):
            rows = request.wait()
        here.wait_stream(arriving)
        rows.record_stream(here)
        table.prefetch(rows)

#- case: the library's own way of selecting a stream
def look_up(requests, tables, arriving, stream_context):
    here = torch.cuda.current_stream()
    for table in tables:
        with stream_context(arriving):
            rows = requests.pop(table.name).wait()
        rows.record_stream(here)
        table.prefetch(rows)
      # ^ missing-wait: `rows` is read on `here` by
#- good
def look_up(requests, tables, arriving, stream_context):
    here = torch.cuda.current_stream()
    for table in tables:
        with stream_context(arriving):
            rows = requests.pop(table.name).wait()
        here.wait_stream(arriving)
        rows.record_stream(here)
        table.prefetch(rows)

#- case: a warm-up before a capture reads the caller's tensors
class Graphed:
    def __init__(self, model):
        self.model = model

    def capture(self, *inputs):
        warm = torch.cuda.Stream()
        with torch.cuda.stream(warm):
            self.model(*inputs)
          # ^ missing-wait: The result of `inputs[0]` is read on `warm` by `model` before the
        torch.cuda.current_stream().wait_stream(warm)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.output = self.model(*inputs)
#- good
class Graphed:
    def __init__(self, model):
        self.model = model

    def capture(self, *inputs):
        warm = torch.cuda.Stream()
        warm.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(warm):
            self.model(*inputs)
        torch.cuda.current_stream().wait_stream(warm)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.output = self.model(*inputs)

#- case: a wait for a side stream says that its operators work on the device
def smooth(x):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        y = torch.cos(x)
        #   ^ missing-wait: `x` is read on `side` by `cos` before the caller's earlier work on the default stream is
        # | done: no wait of `side` for the default stream lies between
    torch.cuda.current_stream().wait_stream(side)
    return y + 1
#- good
def smooth(x):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = torch.cos(x)
    torch.cuda.current_stream().wait_stream(side)
    return y + 1

#- case: numbers of a side stream are no tensors
def chunks(first, count, blocks):
    side = torch.cuda.Stream()
    at = first * count
    with torch.cuda.stream(side):
        if at % 4 == 0:
            blocks.exchange(at)
    torch.cuda.current_stream().wait_stream(side)

#- case: a group that has more than one member has one
def reduce(grad, group, work, wide):
    size = group.size()
    with torch.cuda.stream(work):
        out = torch.zeros(8, device="cuda")
        if size > 1:
            out.mul_(2)
    if size >= 1:
        wide.wait_stream(work)
    with torch.cuda.stream(wide):
        out.add_(1)
    torch.cuda.current_stream().wait_stream(wide)
    return None

#- case: an asynchronous copy to a device that came as a parameter
def ahead(loader, device):
    copier = torch.cuda.Stream()
    for host in loader:
        with torch.cuda.stream(copier):
            batch = host.to(device, non_blocking=True)
        print((batch * 2).sum())
        #      ^ missing-wait
#- good
def ahead(loader, device):
    copier = torch.cuda.Stream()
    for host in loader:
        with torch.cuda.stream(copier):
            batch = host.to(device, non_blocking=True)
        torch.cuda.current_stream().wait_stream(copier)
        batch.record_stream(torch.cuda.current_stream())
        print((batch * 2).sum())

#- case: the fork asks for the current stream inside of the region
side = torch.cuda.Stream()

def doubled(n):
    x = torch.ones(n, device="cuda")
    with torch.cuda.stream(side):
        side.wait_stream(torch.cuda.current_stream())  # the fork
      # ~ this wait is for the same stream
      # ^ redundant-sync: it asks for `current_stream()` inside the `with`, where that is `side` itself
        y = x * 2
        #   ^ missing-wait: no wait of `side` for the default stream lies between; the wait that is there asks for
        # | `current_stream()` inside the `with`, where that is `side` itself
    torch.cuda.current_stream().wait_stream(side)
    return y.sum().item()
#- fixed
side = torch.cuda.Stream()

def doubled(n):
    x = torch.ones(n, device="cuda")
    side.wait_stream(torch.cuda.current_stream())  # the fork
    with torch.cuda.stream(side):
        y = x * 2
    torch.cuda.current_stream().wait_stream(side)
    return y.sum().item()

#- case: the join asks for the current stream inside of the region
side = torch.cuda.Stream()

def doubled(host):
    with torch.cuda.stream(side):
        y = host.cuda(non_blocking=True) * 2
        torch.cuda.current_stream().wait_stream(side)
      # ^ redundant-sync
    return y.sum().item()
    #      ^ missing-wait: the wait that is there asks for `current_stream()` inside the `with`, where that is `side` itself
#- fixed
side = torch.cuda.Stream()

def doubled(host):
    with torch.cuda.stream(side):
        y = host.cuda(non_blocking=True) * 2
    torch.cuda.current_stream().wait_stream(side)
    return y.sum().item()

#- case: the name of the current stream is taken inside of the region
side = torch.cuda.Stream()

def doubled(n):
    x = torch.ones(n, device="cuda")
    with torch.cuda.stream(side):
        here = torch.cuda.current_stream()
        side.wait_stream(here)
      # ^ redundant-sync
        y = x * 2
        #   ^ missing-wait: the wait that is there names what `current_stream()` gave inside the `with`: `side` itself
    here.wait_stream(side)
  # ^ redundant-sync
    return y.sum().item()
    #      ^ missing-wait: the wait that is there names what `current_stream()` gave inside the `with`: `side` itself
#- fixed
side = torch.cuda.Stream()

def doubled(n):
    x = torch.ones(n, device="cuda")
    here = torch.cuda.current_stream()
    with torch.cuda.stream(side):
        side.wait_stream(here)
        y = x * 2
    here.wait_stream(side)
    return y.sum().item()

#- case: the event is recorded inside of the region
side = torch.cuda.Stream()

def doubled(n):
    x = torch.ones(n, device="cuda")
    ready = torch.cuda.Event()
    with torch.cuda.stream(side):
        ready.record()
        side.wait_event(ready)
      # ^ redundant-sync
        y = x * 2
        #   ^ missing-wait: the wait that is there is for an event recorded inside the `with`, where the current stream is
        # | `side` itself
    torch.cuda.current_stream().wait_stream(side)
    return y.sum().item()
#- fixed
side = torch.cuda.Stream()

def doubled(n):
    x = torch.ones(n, device="cuda")
    ready = torch.cuda.Event()
    ready.record()
    with torch.cuda.stream(side):
        side.wait_event(ready)
        y = x * 2
    torch.cuda.current_stream().wait_stream(side)
    return y.sum().item()

#- case: the current stream is asked for where it is the outer one
side = torch.cuda.Stream()

def doubled(n):
    x = torch.ones(n, device="cuda")
    here = torch.cuda.current_stream()
    with torch.cuda.stream(side):
        side.wait_stream(here)
        y = x * 2
        here.wait_stream(torch.cuda.current_stream())
    return y.sum().item()

#- case: the default stream is waited for, and the work is on another
def doubled(host):
    main, other = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(main):
        x = host.cuda(non_blocking=True)
        other.wait_stream(torch.cuda.default_stream())
      # ~ this wait is for another stream
        with torch.cuda.stream(other):
            y = x * 2
            #   ^ missing-wait: the wait that is there is for the default stream, and the work is on `main`
        torch.cuda.default_stream().wait_stream(other)
        return y.sum().item()
        #      ^ missing-wait: the wait that is there makes the default stream wait, and the use is on `main`
#- fixed
def doubled(host):
    main, other = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(main):
        x = host.cuda(non_blocking=True)
        other.wait_stream(main)
        with torch.cuda.stream(other):
            y = x * 2
        main.wait_stream(other)
        return y.sum().item()

#- case: a current stream that was stored at another time
class Doubler:
    def __init__(self):
        self.main = torch.cuda.current_stream()
        self.side = torch.cuda.Stream()

    def step(self, x):
        self.side.wait_stream(self.main)
        with torch.cuda.stream(self.side):
            y = x * 2
            #   ^ missing-wait: the wait that is there is for `self.main`, the current stream of the time when it was
            # | stored, and the work is on `work`
        self.main.wait_stream(self.side)
        return y
      # ^ unjoined-output: the wait that is there makes `self.main`, the current stream of the time when it was stored,
      # | wait, and the use is on `work`

def run(host):
    doubler = Doubler()
    work = torch.cuda.Stream()
    with torch.cuda.stream(work):
        x = host.cuda(non_blocking=True)
        return doubler.step(x).sum().item()
#- fixed
class Doubler:
    def __init__(self):
        self.main = torch.cuda.current_stream()
        self.side = torch.cuda.Stream()

    def step(self, x):
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            y = x * 2
        torch.cuda.current_stream().wait_stream(self.side)
        return y

def run(host):
    doubler = Doubler()
    work = torch.cuda.Stream()
    with torch.cuda.stream(work):
        x = host.cuda(non_blocking=True)
        return doubler.step(x).sum().item()

#- case: a stored stream that is the current one still
class Doubler:
    def __init__(self):
        self.main = torch.cuda.current_stream()
        self.side = torch.cuda.Stream()

    def step(self, x):
        self.side.wait_stream(self.main)
        with torch.cuda.stream(self.side):
            y = x * 2
        self.main.wait_stream(self.side)
        return y

def run(host):
    doubler = Doubler()
    return doubler.step(host.cuda()).sum().item()

#- case: the record of another turn
class Uploader:
    def __init__(self):
        self.side = torch.cuda.Stream()
        self.ready = torch.cuda.Event()

    def upload(self, host):
        self.ready.record(self.side)
      # ~ the event is recorded here, before the `copy`
        with torch.cuda.stream(self.side):
            self.x = host.cuda(non_blocking=True)

    def use(self):
        torch.cuda.current_stream().wait_event(self.ready)
      # ~ this wait takes a record that was made before the `copy`, and does not cover it
        return self.x.sum()

def run(host):
    uploader = Uploader()
    for _ in range(3):
        uploader.upload(host)
        print(uploader.use().item())
        #     ^ missing-wait
#- fixed
class Uploader:
    def __init__(self):
        self.side = torch.cuda.Stream()
        self.ready = torch.cuda.Event()

    def upload(self, host):
        with torch.cuda.stream(self.side):
            self.x = host.cuda(non_blocking=True)
            self.ready.record(self.side)

    def use(self):
        torch.cuda.current_stream().wait_event(self.ready)
        return self.x.sum()

def run(host):
    uploader = Uploader()
    for _ in range(3):
        uploader.upload(host)
        print(uploader.use().item())

#- case: a closure that a method returns, with a stream that the class gets later
class Store:
    copier = None

    @classmethod
    def setup(cls):
        cls.copier = torch.cuda.Stream()

    @classmethod
    def stasher(cls, tensors):
        kept = []

        def stash():
            with torch.cuda.stream(cls.copier):
                for t in tensors:
                    host = torch.empty(t.shape, pin_memory=True)
                    host.copy_(t, non_blocking=True)
                  # ^ missing-wait: `t` is read on `
                    t.record_stream(cls.copier)
                    kept.append(host)

        return stash
#- good
class Store:
    copier = None

    @classmethod
    def setup(cls):
        cls.copier = torch.cuda.Stream()

    @classmethod
    def stasher(cls, tensors):
        kept = []

        def stash():
            cls.copier.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(cls.copier):
                for t in tensors:
                    host = torch.empty(t.shape, pin_memory=True)
                    host.copy_(t, non_blocking=True)
                    t.record_stream(cls.copier)
                    kept.append(host)

        return stash

#- case: a gradient is what the backward pass has just made
class Reducer:
    def __init__(self, buffer):
        self.buffer = buffer
        self.side = torch.cuda.Stream()

    def add(self, param):
        with torch.cuda.stream(self.side):
            place = self.buffer.narrow(0, 0, param.grad.numel())
            place.copy_(param.grad.view(-1), non_blocking=True)
          # ^ missing-wait: `param.grad` is read on `self.side` by `copy_` before the caller's earlier work
            param.grad.record_stream(self.side)
#- good
class Reducer:
    def __init__(self, buffer):
        self.buffer = buffer
        self.side = torch.cuda.Stream()

    def add(self, param):
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            place = self.buffer.narrow(0, 0, param.grad.numel())
            place.copy_(param.grad.view(-1), non_blocking=True)
            param.grad.record_stream(self.side)

#- case: a stream that is not the current one is another stream
def look_up(request, table, arriving):
    here = torch.cuda.current_stream()
    with torch.cuda.stream(arriving):
        rows = request.wait()
        ready = arriving.record_event() if arriving != here else None
    if ready is not None:
        here.wait_event(ready)
    rows.record_stream(here)
    table.prefetch(rows)

#- case: another function of the module lets the stream wait first
copier = None

def setup():
    global copier
    copier = torch.cuda.Stream()

def begin():
    copier.wait_stream(torch.cuda.current_stream())

def move(x, place):
    with torch.cuda.stream(copier):
        place.copy_(x, non_blocking=True)
        x.record_stream(copier)

#- case: a module is moved on a stream of its own
class Shard(torch.nn.Module):
    def __init__(self, layers, device):
        super().__init__()
        self.layers = layers
        self.device = device
        self.upload = torch.cuda.Stream(device=device)

    def load(self):
        with torch.cuda.stream(self.upload):
            self.layers.to(self.device, non_blocking=True)

    def forward(self, x):
        return self.layers(x)

class Model(torch.nn.Module):
    def __init__(self, parts, device):
        super().__init__()
        self.shards = [Shard(part, device) for part in parts]

    def forward(self, x):
        for shard in self.shards:
            shard.load()
            x = shard(x)
            #   ^ missing-wait: before the `to` on `self.upload` is done
        return x
#- good
class Shard(torch.nn.Module):
    def __init__(self, layers, device):
        super().__init__()
        self.layers = layers
        self.device = device
        self.upload = torch.cuda.Stream(device=device)

    def load(self):
        with torch.cuda.stream(self.upload):
            self.layers.to(self.device, non_blocking=True)
        torch.cuda.current_stream().wait_stream(self.upload)

    def forward(self, x):
        return self.layers(x)

class Model(torch.nn.Module):
    def __init__(self, parts, device):
        super().__init__()
        self.shards = [Shard(part, device) for part in parts]

    def forward(self, x):
        for shard in self.shards:
            shard.load()
            x = shard(x)
        return x

#- case: submodules that are not known compute on the stream that is selected
from layers import Experts

class Mixture(torch.nn.Module):
    def __init__(self, side):
        super().__init__()
        self.side = side
        self.shared = Experts()
        self.routed = Experts()

    def forward(self, x):
        here = torch.cuda.current_stream()
        self.side.wait_stream(here)
        shared = self.shared(x)
        with torch.cuda.stream(self.side):
            routed = self.routed(x)
        return routed + shared
             # ^^^^^^^^^^^^^^^ missing-wait: `routed` is read on `here` by `add` before the `self.routed` on `self.side` is
             # | done: no wait of `here` for `self.side` lies between
#- good
from layers import Experts

class Mixture(torch.nn.Module):
    def __init__(self, side):
        super().__init__()
        self.side = side
        self.shared = Experts()
        self.routed = Experts()

    def forward(self, x):
        here = torch.cuda.current_stream()
        self.side.wait_stream(here)
        shared = self.shared(x)
        with torch.cuda.stream(self.side):
            routed = self.routed(x)
        here.wait_stream(self.side)
        return routed + shared

class Unordered(torch.nn.Module):
    """Nothing here says that the two streams are this module's to order."""
    def forward(self, x):
        with torch.cuda.stream(self.side):
            y = self.routed(x)
        return y + 1

#- case: a flag that switches the wait off makes the order the caller's duty
class Shared(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.side = torch.cuda.Stream()
        self.gate = torch.nn.Linear(8, 8).cuda()

    def begin(self, x, wait=True):
        if wait:
            self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            self.score = self.gate(x)

#- case: a Function loads its shards, where a flag of the constructor asks for it
class Shard(torch.nn.Module):
    def __init__(self, layers, device, offload_device):
        super().__init__()
        self.layers = layers
        self.device = device
        self.offload_device = offload_device
        self.upload = torch.cuda.Stream(device=device)
        self.download = torch.cuda.Stream(device=device)

    def forward(self, *inputs):
        return self.layers(*inputs)

    def load(self):
        with torch.cuda.stream(self.upload):
            self.layers.to(device=self.device, non_blocking=True)

    def drop(self):
        with torch.cuda.stream(self.download):
            self.layers.to(self.offload_device, non_blocking=True)
          # ^ missing-wait: is read on `self.download` by `to` before the `to` on `self.upload` is done

class ByShards(torch.autograd.Function):
    @staticmethod
    def forward(ctx, inputs, unused, model):
        for shard in model.shards:
            shard.load()
            inputs = shard(inputs)
            #        ^ missing-wait: before the `to` on `self.upload` is done
            shard.drop()
        return inputs

class Model(torch.nn.Module):
    def __init__(self, parts, device, offload_device, by_shards=False, pieces=1):
        super().__init__()
        if not by_shards and pieces > 1:
            raise ValueError("pieces need shards")
        self.by_shards = by_shards
        self.shards = [Shard(part, device, offload_device) for part in parts]

    def forward(self, *inputs):
        if self.by_shards:
            return ByShards.apply(*inputs, torch.tensor([], requires_grad=True), self)
        return inputs[0].cuda() * 2
#- good
class Shard(torch.nn.Module):
    def __init__(self, layers, device, offload_device):
        super().__init__()
        self.layers = layers
        self.device = device
        self.offload_device = offload_device
        self.upload = torch.cuda.Stream(device=device)
        self.download = torch.cuda.Stream(device=device)

    def forward(self, *inputs):
        return self.layers(*inputs)

    def load(self):
        with torch.cuda.stream(self.upload):
            self.layers.to(device=self.device, non_blocking=True)
        torch.cuda.current_stream().wait_stream(self.upload)

    def drop(self):
        # The copies to the host only read; what is on the device may be read by others as well.
        self.download.wait_stream(self.upload)
        with torch.cuda.stream(self.download):
            self.layers.to(self.offload_device, non_blocking=True)
        self.upload.wait_stream(self.download)
        self.upload.wait_stream(torch.cuda.current_stream())

class ByShards(torch.autograd.Function):
    @staticmethod
    def forward(ctx, inputs, unused, model):
        for shard in model.shards:
            shard.load()
            inputs = shard(inputs)
            shard.drop()
        return inputs

class Model(torch.nn.Module):
    def __init__(self, parts, device, offload_device, by_shards=False, pieces=1):
        super().__init__()
        if not by_shards and pieces > 1:
            raise ValueError("pieces need shards")
        self.by_shards = by_shards
        self.shards = [Shard(part, device, offload_device) for part in parts]

    def forward(self, *inputs):
        if self.by_shards:
            return ByShards.apply(*inputs, torch.tensor([], requires_grad=True), self)
        return inputs[0].cuda() * 2

#- case: of several results the first is named
def attended(attend, q):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        out, _, _ = attend(q.cuda())
    y = out * 2
      # ^ missing-wait: `out` is read
    print(y.sum().item())
#- good
def attended(attend, q):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        out, _, _ = attend(q.cuda())
    torch.cuda.current_stream().wait_stream(side)
    y = out * 2
    print(y.sum().item())

#- case: who sends a broadcast only reads
import torch.distributed as dist

class Last:
    def __init__(self, group):
        self.is_last = group.is_last
        self.last = group.last
        self.copies = torch.cuda.Stream()
        self.sends = torch.cuda.Stream()

    def publish(self, host):
        tokens = host.cuda()
        here = torch.cuda.current_stream()
        self.sends.wait_stream(here)
        self.copies.wait_stream(here)
        with torch.cuda.stream(self.sends):
            dist.broadcast(tokens, src=self.last)
        with torch.cuda.stream(self.copies):
            kept = tokens * 2
            #      ^ missing-wait
        here.wait_stream(self.sends)
        here.wait_stream(self.copies)
        print(kept.sum().item())
#- good
import torch.distributed as dist

class Last:
    def __init__(self, group):
        self.is_last = group.is_last
        self.last = group.last
        self.copies = torch.cuda.Stream()
        self.sends = torch.cuda.Stream()

    def publish(self, host):
        assert self.is_last
        tokens = host.cuda()
        here = torch.cuda.current_stream()
        self.sends.wait_stream(here)
        self.copies.wait_stream(here)
        with torch.cuda.stream(self.sends):
            dist.broadcast(tokens, src=self.last)
        with torch.cuda.stream(self.copies):
            kept = tokens * 2
        here.wait_stream(self.sends)
        here.wait_stream(self.copies)
        print(kept.sum().item())

#- case: a method that runs long on a stream of its own leaves the others where they are
class Table:
    def __init__(self):
        self.side = torch.cuda.Stream()
        self.weight = torch.ones(8, 8, device="cuda")
        self.rows = {}

    def fill(self):
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            for i in range(60):
                for j in range(60):
                    self.rows[i, j] = self.weight * i
        torch.cuda.current_stream().wait_stream(self.side)

    def score(self, x):
        y = x @ self.weight
        self.side.wait_stream(torch.cuda.current_stream())
        return y

#- case: what is None until another method sets it is nobody's latest work
class Stage:
    def __init__(self):
        self.side = torch.cuda.Stream()
        self.weight = torch.ones(8, 8, device="cuda")
        self.kept = None

class Later(Stage):
    def _compute(self, hidden):
        return hidden.view(-1, 8) @ self.weight

    def go(self):
        with torch.cuda.stream(self.side):
            out = self._compute(self.kept)
        torch.cuda.current_stream().wait_stream(self.side)
        return out

#- case: a stage takes a part only after the stage before has had it
class Stages:
    def __init__(self, parts, models, devices):
        self.parts = parts
        self.models = models
        self.sides = [[torch.cuda.Stream(device) for _ in parts] for device in devices]

    def turns(self):
        m, n = len(self.parts), len(self.models)
        for k in range(m + n - 1):
            yield [(k - j, j) for j in range(max(1 + k - m, 0), min(1 + k, n))]

    def run(self):
        failed = None
        main = torch.cuda.current_stream()
        for turn in self.turns():
            for i, j in turn:
                if j != 0:
                    with torch.cuda.stream(self.sides[j - 1][i]):
                        self.parts[i] = self.parts[i].cuda() * 2
                    main.wait_stream(self.sides[j - 1][i])
            for i, j in turn:
                done, found = self.models[j](self.parts[i])
                if failed is not None:
                    continue
                elif not done:
                    failed = found
                    continue
                self.sides[j][i].wait_stream(main)
        if failed is not None:
            raise failed[0].with_traceback(failed[1])

#- case: a stream that a cached function gives
import functools

@functools.lru_cache
def lane():
    return torch.cuda.Stream()

def flow(host):
    x = host.cuda()
    lane().wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(lane()):
        y = x * 2
    torch.cuda.current_stream().wait_stream(lane())
    print(y.sum().item())

#- case: a stream that a cached function gives is nobody else's
import functools

@functools.lru_cache(maxsize=None)
def lane():
    return torch.cuda.Stream()

def flow(host):
    x = host.cuda()
    lane().wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(lane()):
        y = x * 2
    print(y.sum().item())
        # ^ missing-wait: `y` is read
#- fixed
import functools

@functools.lru_cache(maxsize=None)
def lane():
    return torch.cuda.Stream()

def flow(host):
    x = host.cuda()
    lane().wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(lane()):
        y = x * 2
        done = torch.cuda.current_stream().record_event()
    torch.cuda.current_stream().wait_event(done)
    print(y.sum().item())

#- case: one cached stream a device, asked for with devices of unknown places
import functools

@functools.cache
def lane(device):
    return torch.cuda.Stream(device=device)

def spread(host, devices):
    parts = host.cuda()
    first = lane(devices[0])
    first.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(first):
        sums = parts * 2
    for device in devices:
        with torch.cuda.stream(lane(device)):
            sums.add_(1)
    torch.cuda.current_stream().wait_stream(first)
    return sums

#- case: a method of what is None on this path is no path
import contextlib, inspect
from library import gather

if "works" in inspect.signature(gather).parameters:
    @contextlib.contextmanager
    def gather(group):
        yield
else:
    pass

def flow(host, group):
    x = host.cuda()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side), gather(group) as pending:
        x.mul_(2)
    pending.wait()
    print(x.sum().item())

#- case: a stream of its own for a thread that has none yet is selected before anything else
import threading

kept = threading.local()

def mine():
    if not hasattr(kept, "stream"):
        kept.stream = torch.cuda.Stream()
        torch.cuda.set_stream(kept.stream)
    return kept.stream

def flow(x):
    side = torch.cuda.Stream()
    side.wait_stream(mine())
    with torch.cuda.stream(side):
        y = x * 2
    mine().wait_stream(side)
    return y + x

#- case: a stream that a library gave to the object long ago is one of its own
from runtime import current_device_stream, get_stream, linear

class Experts(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.shared = linear(width)
        self.routed = linear(width)
        self.alt = get_stream("alt")

    def forward(self, hidden):
        main = current_device_stream()
        with torch.cuda.stream(self.alt):
            shared = self.shared(hidden * 2)
            #                    ^ missing-wait
        routed = self.routed(hidden)
        main.wait_stream(self.alt)
        return routed + shared
#- good
from runtime import current_device_stream, get_stream, linear

class Experts(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.shared = linear(width)
        self.routed = linear(width)
        self.alt = get_stream("alt")

    def forward(self, hidden):
        main = current_device_stream()
        self.alt.wait_stream(main)
        with torch.cuda.stream(self.alt):
            shared = self.shared(hidden * 2)
        routed = self.routed(hidden)
        main.wait_stream(self.alt)
        return routed + shared

#- case: a stream that a method made wait under another name, or that is asked for anew
from runtime import get_stream, linear

class Gate(torch.nn.Module):
    def __init__(self, width, side):
        super().__init__()
        self.gate = linear(width)
        self.side = side
        self.pending = None

    def fork(self):
        side = self.side
        side.wait_stream(torch.cuda.current_stream())
        self.pending = side

    def compute(self, hidden):
        side = self.pending
        if side is None:
            return self.gate(hidden)
        with torch.cuda.stream(side):
            gate = self.gate(hidden * 2)
        torch.cuda.current_stream().wait_stream(side)
        return gate

    def again(self, hidden):
        side = get_stream("ready")
        with torch.cuda.stream(side):
            gate = self.gate(hidden * 2)
        torch.cuda.current_stream().wait_stream(side)
        return gate

#- case: the handle of an event is given to what waits for it
import kernels

def run(host):
    block = host.cuda()
    side = torch.cuda.Stream()
    ready = torch.cuda.Event()
    room = torch.empty(1024, device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        delta = block.mul(2, out=room)
        ready.record()
    handle = ready.cuda_event
    out = kernels.fused(block, delta, handle)
    return out

#- case: a kernel that waits on the device for what another one stores
import triton
import triton.language as tl

@triton.jit
def produce(out, flags, n: tl.constexpr):
    at = tl.program_id(0) * n + tl.arange(0, n)
    tl.store(out + at, at)
    tl.atomic_add(flags, 1)

@triton.jit
def consume(src, dst, flags, n: tl.constexpr):
    while tl.load(flags) == 0:
        pass
    at = tl.program_id(0) * n + tl.arange(0, n)
    tl.store(dst + at, tl.load(src + at))

def flow(n):
    side = torch.cuda.Stream()
    src = torch.empty(n, device="cuda")
    dst = torch.empty(n, device="cuda")
    flags = torch.zeros(1, device="cuda", dtype=torch.int32)
    side.wait_stream(torch.cuda.current_stream())
    produce[(1,)](src, flags, n)
    with torch.cuda.stream(side):
        consume[(1,)](src, dst, flags, n)
    torch.cuda.current_stream().wait_stream(side)
    return dst

#- case: a kernel that waits for nothing, by a jit of a library's own
import triton.language as tl
from library import jit

@jit(donate=True)
def produce(out, n: tl.constexpr):
    at = tl.program_id(0) * n + tl.arange(0, n)
    tl.store(out + at, at)

@jit(donate=True)
def consume(src, dst, n: tl.constexpr):
    at = tl.program_id(0) * n + tl.arange(0, n)
    tl.store(dst + at, tl.load(src + at))

def flow(n):
    side = torch.cuda.Stream()
    src = torch.empty(n, device="cuda")
    dst = torch.empty(n, device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    produce[(1,)](src, n)
    with torch.cuda.stream(side):
        consume[(1,)](src, dst, n)
      # ^ missing-wait: `src` is read
    torch.cuda.current_stream().wait_stream(side)
    return dst
#- fixed
import triton.language as tl
from library import jit

@jit(donate=True)
def produce(out, n: tl.constexpr):
    at = tl.program_id(0) * n + tl.arange(0, n)
    tl.store(out + at, at)

@jit(donate=True)
def consume(src, dst, n: tl.constexpr):
    at = tl.program_id(0) * n + tl.arange(0, n)
    tl.store(dst + at, tl.load(src + at))

def flow(n):
    side = torch.cuda.Stream()
    src = torch.empty(n, device="cuda")
    dst = torch.empty(n, device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    produce[(1,)](src, n)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        consume[(1,)](src, dst, n)
    torch.cuda.current_stream().wait_stream(side)
    return dst

#- case: a stream of a library that the function lets begin, and does not wait for
from runtime import aux_stream

def both(host):
    x = host.cuda()
    side = aux_stream()
    main = torch.cuda.current_stream()
    side.wait_stream(main)
    with torch.cuda.stream(side):
        y = x * 2
    return x + y
    #      ^ missing-wait
#- good
from runtime import aux_stream

def both(host):
    x = host.cuda()
    side = aux_stream()
    main = torch.cuda.current_stream()
    side.wait_stream(main)
    with torch.cuda.stream(side):
        y = x * 2
    main.wait_stream(side)
    return x + y

#- case: a stream of a library of which nobody sees where it begins
from runtime import aux_stream

def both(host):
    x = host.cuda()
    side = aux_stream()
    with torch.cuda.stream(side):
        y = x * 2
    torch.cuda.current_stream().wait_stream(side)
    return x + y

#- case: a constructor that refuses what it does not know
class Store:
    def __init__(self, kind, side):
        if kind == "ring":
            self.slots = 4
        elif kind == "flat":
            self.slots = 1
        else:
            raise ValueError(kind)
        self.side = side

    def scale(self, x):
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            y = x.cuda() * 2
        return y
      # ^ unjoined-output
#- good
class Store:
    def __init__(self, kind, side):
        if kind == "ring":
            self.slots = 4
        elif kind == "flat":
            self.slots = 1
        else:
            raise ValueError(kind)
        self.side = side

    def scale(self, x):
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            y = x.cuda() * 2
        torch.cuda.current_stream().wait_stream(self.side)
        return y

#- case: all of several streams are joined, one of them is used
def flow(ctx, x):
    here = torch.cuda.current_stream()
    x = x * 2
    for lane in ctx.lanes:
        lane.wait_stream(here)
    with torch.cuda.stream(ctx.lanes[0]):
        y = x + 1
    with torch.cuda.stream(ctx.lanes[5]):
        z = x + 1
    for lane in ctx.lanes:
        here.wait_stream(lane)
    return y + z

#- case: all of several streams are joined, some one of them is used
def flow(ctx, x, turn):
    here = torch.cuda.current_stream()
    x = x * 2
    for lane in ctx.lanes:
        lane.wait_stream(here)
    with torch.cuda.stream(ctx.lanes[turn]):
        y = x + 1
    for lane in ctx.lanes:
        here.wait_stream(lane)
    return y + x

#- case: only where there is a lane
def total(host, lane=None):
    x = host.cuda()
    if lane is not None:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            x.mul_(2)
    return x.sum().item()
    #      ^ missing-wait: `x` is read on the default stream by `sum` before the `mul_` on `side` is done: no wait of
    # | the default stream for `side` lies between; on the path where `lane is not None` is true
#- fixed
def total(host, lane=None):
    x = host.cuda()
    if lane is not None:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            x.mul_(2)
        torch.cuda.current_stream().wait_stream(side)
    return x.sum().item()

#- case: a method of its own begins the work of the side stream
class Experts:
    def __init__(self, layer):
        self.layer = layer
        self.side = torch.cuda.Stream()

    def begin(self, x):
        x.record_stream(self.side)
        self.side.wait_stream(torch.cuda.current_stream())

    def run(self, x):
        with torch.cuda.stream(self.side):
            y = x.cuda().mul(2)
        torch.cuda.current_stream().wait_stream(self.side)
        y.record_stream(torch.cuda.current_stream())
        return y

#- case: a method that begins its own work says nothing of another one's
class Experts:
    def __init__(self, layer):
        self.layer = layer
        self.side = torch.cuda.Stream()

    def first(self, x: torch.Tensor):
        x = x.cuda()
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            y = x.mul(2)
        torch.cuda.current_stream().wait_stream(self.side)
        y.record_stream(torch.cuda.current_stream())
        return y

    def second(self, x: torch.Tensor):
        x.record_stream(self.side)
        with torch.cuda.stream(self.side):
            y = x.mul(2)
          #     ^ missing-wait: `x` is read on
        torch.cuda.current_stream().wait_stream(self.side)
        y.record_stream(torch.cuda.current_stream())
        return y
#- fixed
class Experts:
    def __init__(self, layer):
        self.layer = layer
        self.side = torch.cuda.Stream()

    def first(self, x: torch.Tensor):
        x = x.cuda()
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            y = x.mul(2)
        torch.cuda.current_stream().wait_stream(self.side)
        y.record_stream(torch.cuda.current_stream())
        return y

    def second(self, x: torch.Tensor):
        x.record_stream(self.side)
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            y = x.mul(2)
        torch.cuda.current_stream().wait_stream(self.side)
        y.record_stream(torch.cuda.current_stream())
        return y

#- case: an event recorded on a stream of which nobody knows which it is
from library import stream_in_use

def start(x: torch.Tensor, fork: torch.cuda.Event, join: torch.cuda.Event):
    side = torch.cuda.Stream()
    x.record_stream(side)
    fork.record(stream_in_use())
    with torch.cuda.stream(side):
        fork.wait(side)
        y = x.mul(2)
        join.record(side)
    return y, join

#- case: a stream out of a container whose streams are made the current ones elsewhere
streams = {}

def begin_thread():
    for index, stream in streams.items():
        with torch.cuda.device(index):
            torch.cuda.set_stream(stream)

def stage_out(x: torch.Tensor):
    y = x.cuda().add_(1)
    stream = streams.get(y.device.index)
    if stream is not None:
        with torch.cuda.stream(stream):
            host = y.to("cpu", non_blocking=True)
            torch.cuda.synchronize()
        return host
    return y.cpu()

#- case: a stream out of a container of streams to work beside the current one
lanes = {}

def stage_out(x: torch.Tensor):
    y = x.cuda().add_(1)
    stream = lanes.get(y.device.index)
    if stream is not None:
        with torch.cuda.stream(stream):
            host = y.to("cpu", non_blocking=True)
          #        ^ missing-wait: `y` is read on
            torch.cuda.synchronize()
        return host
    return y.cpu()
#- fixed
lanes = {}

def stage_out(x: torch.Tensor):
    y = x.cuda().add_(1)
    stream = lanes.get(y.device.index)
    if stream is not None:
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            host = y.to("cpu", non_blocking=True)
            torch.cuda.synchronize()
        return host
    return y.cpu()

#- case: a variable of the environment is not set, or says something
import os

def load(host, store):
    folder = os.getenv("SPILL_FOLDER")
    copier = torch.cuda.Stream()
    if not folder:
        with torch.cuda.stream(copier):
            x = host.cuda(non_blocking=True)
    else:
        x = store.read(folder)
    if folder is None:
        torch.cuda.current_stream().wait_stream(copier)
    return x * 2

#- case: a device that is not CUDA has no stream to wait for
def stage(weight, device: torch.device):
    copier = torch.cuda.Stream()
    with torch.cuda.stream(copier):
        moved = weight.to(device, non_blocking=True)
    if device.type == "cuda":
        torch.cuda.current_stream().wait_stream(copier)
    return moved * 2

#- case: a device is not the CPU
def stage(weight, device: torch.device):
    copier = torch.cuda.Stream()
    with torch.cuda.stream(copier):
        moved = weight.to(device, non_blocking=True)
    if device.type != "cpu":
        torch.cuda.current_stream().wait_stream(copier)
    return moved * 2

#- case: two of the given streams are used, and all of them joined
def merged(lanes, left, right):
    with torch.cuda.stream(lanes[0]):
        a = left.cuda(non_blocking=True)
    with torch.cuda.stream(lanes[1]):
        b = right.cuda(non_blocking=True)
    for lane in lanes:
        torch.cuda.current_stream().wait_stream(lane)
    return a + b

#- case: another method has let the side stream wait for the caller
class Experts:
    def __init__(self):
        self.side = torch.cuda.Stream()

    def begin(self):
        self.side.wait_stream(torch.cuda.current_stream())

    def run(self, x: torch.Tensor):
        x.record_stream(self.side)
        with torch.cuda.stream(self.side):
            y = x.mul(2)
        torch.cuda.current_stream().wait_stream(self.side)
        y.record_stream(torch.cuda.current_stream())
        return y

#- case: a new event that a stream of a library records, which may be the current one
from library import stream_in_use

def double(host):
    busy = stream_in_use()
    side = torch.cuda.Stream()
    done = torch.cuda.Event()
    x = host.cuda() * 2
    busy.record_event(done)
    side.wait_event(done)
    with torch.cuda.stream(side):
        x.mul_(2)
    torch.cuda.current_stream().wait_stream(side)
    return x

#- case: a thread's stream, which its first call has made and selected long ago
import threading

kept = threading.local()

def current():
    if not hasattr(kept, "stream"):
        torch.cuda.set_stream(torch.cuda.Stream())
        kept.stream = torch.cuda.current_stream()
    return kept.stream

def scaled(x: torch.Tensor):
    stream = current()
    x.record_stream(stream)
    return x.mul(2)

#- case: a thread's stream, which is None until its first call
import threading

kept = threading.local()

def current():
    if getattr(kept, "stream", None) is None:
        torch.cuda.set_stream(torch.cuda.Stream())
        kept.stream = torch.cuda.current_stream()
    return kept.stream

def scaled(x: torch.Tensor):
    stream = current()
    x.record_stream(stream)
    return x.mul(2)

#- case: the path is told as the test stands, by a negation
def load(host, mode):
    copier = torch.cuda.Stream()
    with torch.cuda.stream(copier):
        x = host.cuda(non_blocking=True)
    if mode != "late":
        torch.cuda.current_stream().wait_stream(copier)
    return x * 2
    #      ^ missing-wait: on the path where `mode != "late"` is false
#- good
def load(host, mode):
    copier = torch.cuda.Stream()
    with torch.cuda.stream(copier):
        x = host.cuda(non_blocking=True)
    torch.cuda.current_stream().wait_stream(copier)
    return x * 2

#- case: the path is told by a test that has a name
def load(host, cache, mode):
    copier = torch.cuda.Stream()
    joins = cache is not None
    with torch.cuda.stream(copier):
        x = host.cuda(non_blocking=True)
    if joins:
        torch.cuda.current_stream().wait_stream(copier)
    return x * 2
    #      ^ missing-wait: on the path where `cache is not None` is false
#- good
def load(host, cache, mode):
    copier = torch.cuda.Stream()
    with torch.cuda.stream(copier):
        x = host.cuda(non_blocking=True)
    torch.cuda.current_stream().wait_stream(copier)
    return x * 2

#- case: of a match on what is known only one case runs
class Frames:
    def __init__(self, net):
        self.net = net
        self.side = torch.cuda.Stream()
        self.step = torch.empty(1, device="cuda")
        self.frame = torch.empty(64, device="cuda")
        torch.cuda.synchronize()

    def _run(self, x, what):
        match what:
            case "first" | "next":
                with torch.cuda.stream(self.side):
                    self.frame.copy_(x)
                self.side.synchronize()
            case None:
                return x * 2
            case "infer":
                with torch.cuda.stream(self.side):
                    y = self.net(self.frame)
                self.side.synchronize()
                return y

    def __call__(self, frame):
        frame = frame.cuda()
        self.side.wait_stream(torch.cuda.current_stream())
        self._run(frame, "next")
        self.step.fill_(0.5)
        return self._run(self.step, "infer")

#- case: the case that runs is judged
def run(x, what):
    side = torch.cuda.Stream()
    match what:
        case "copy":
            with torch.cuda.stream(side):
                y = x.clone()
                  # ^ missing-wait: `x` is read on `side` by `clone` before the `mul` on the default stream is done
        case _:
            return x + 1
    side.synchronize()
    return y

def step(host):
    x = host.cuda(non_blocking=True) * 2
    return run(x, "copy")
#- fixed
def run(x, what):
    side = torch.cuda.Stream()
    match what:
        case "copy":
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                y = x.clone()
        case _:
            return x + 1
    side.synchronize()
    return y

def step(host):
    x = host.cuda(non_blocking=True) * 2
    return run(x, "copy")

#- case: only a tensor is moved without blocking by `cuda`
class Prefetcher:
    def __init__(self, loader):
        self.loader = iter(loader)
        self.side = torch.cuda.Stream()
        self.preload()

    def preload(self):
        self.item = next(self.loader)
        with torch.cuda.stream(self.side):
            self.item[0].cuda(non_blocking=True)

    def next(self):
        torch.cuda.current_stream().wait_stream(self.side)
        item = self.item
        self.preload()
        return item

#- case: a method that is too long to be followed to its end may order what it has begun
class Runner:
    def __init__(self):
        self.cache = torch.zeros(64, device="cuda")
        torch.cuda.synchronize()

    def warm(self):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for i in range(60):
                for j in range(60):
                    self.cache.add_(i + j)
        torch.cuda.current_stream().wait_stream(side)

    def step(self, x):
        self.cache.copy_(x)
        return self.cache * 2

#- case: what is asserted is so in the tests that follow
def load(host, mode):
    assert mode != "late"
    copier = torch.cuda.Stream()
    with torch.cuda.stream(copier):
        x = host.cuda(non_blocking=True)
    if mode != "late":
        torch.cuda.current_stream().wait_stream(copier)
    return x * 2

#- case: what a guard has refused is so in the tests that follow
def load(host, mode):
    if mode is not None:
        raise ValueError("no mode yet")
    copier = torch.cuda.Stream()
    with torch.cuda.stream(copier):
        x = host.cuda(non_blocking=True)
    if mode is None:
        torch.cuda.current_stream().wait_stream(copier)
    return x * 2

#- case: what has been done before is not gone on with where an assertion refuses it
def reduce(grad, out, everywhere, scatter):
    grad = grad.cuda()
    if everywhere:
        work = torch.distributed.all_reduce(grad, async_op=True)
    if scatter:
        assert not everywhere
        torch.distributed.reduce_scatter_tensor(out, grad)
    if everywhere:
        work.wait()
    return grad + 1

#- case: nobody goes on behind `assert False`
def gather(x, overlap):
    x = x.cuda()
    y = torch.empty_like(x)
    if overlap:
        assert False
        work = torch.distributed.all_to_all_single(y, x, async_op=True)
    else:
        torch.distributed.all_to_all_single(y, x)
    return y * 2

#- case: what one of two reasons has refused may still be so
def load(host, mode, late):
    if mode is None and late is None:
        raise ValueError("one of the two")
    copier = torch.cuda.Stream()
    with torch.cuda.stream(copier):
        x = host.cuda(non_blocking=True)
    if mode is not None:
        torch.cuda.current_stream().wait_stream(copier)
    return x * 2
         # ^ missing-wait: `x` is read on
#- fixed
def load(host, mode, late):
    if mode is None and late is None:
        raise ValueError("one of the two")
    copier = torch.cuda.Stream()
    with torch.cuda.stream(copier):
        x = host.cuda(non_blocking=True)
        copier_done = copier.record_event()
    if mode is not None:
        torch.cuda.current_stream().wait_stream(copier)
    torch.cuda.current_stream().wait_event(copier_done)
    return x * 2

#- case: the path that an assertion asks for is followed, though its test is decided the other way first
def load(host, ready=None):
    copier = torch.cuda.Stream()
    if ready is None:
        copier.wait_stream(torch.cuda.current_stream())
    assert ready is not None
    with torch.cuda.stream(copier):
        x = host.cuda(non_blocking=True)
    return x * 2
         # ^ missing-wait: `x` is read on
#- fixed
def load(host, ready=None):
    copier = torch.cuda.Stream()
    if ready is None:
        copier.wait_stream(torch.cuda.current_stream())
    assert ready is not None
    with torch.cuda.stream(copier):
        x = host.cuda(non_blocking=True)
        copier_done = copier.record_event()
    torch.cuda.current_stream().wait_event(copier_done)
    return x * 2

#- case: what a guard raises is caught, and the program goes on
def load(host, mode):
    copier = torch.cuda.Stream()
    if mode is None:
        copier.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(copier):
        x = host.cuda(non_blocking=True)
    try:
        if mode is None:
            raise ValueError("no mode yet")
        torch.cuda.current_stream().wait_stream(copier)
    except ValueError:
        pass
    return x * 2
         # ^ missing-wait: `x` is read on
#- fixed
def load(host, mode):
    copier = torch.cuda.Stream()
    if mode is None:
        copier.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(copier):
        x = host.cuda(non_blocking=True)
        copier_done = copier.record_event()
    try:
        if mode is None:
            raise ValueError("no mode yet")
        torch.cuda.current_stream().wait_stream(copier)
    except ValueError:
        pass
    torch.cuda.current_stream().wait_event(copier_done)
    return x * 2

#- case: what a method of the class calls is no call from outside
class Net:
    def __init__(self, model):
        self.model = model
        self.before = torch.zeros(4, device="cuda")
        self.now = torch.zeros(4, device="cuda")
        torch.cuda.synchronize()
        self.side = torch.cuda.Stream()

    def keep(self):
        self.before.copy_(self.now)

    def step(self, frame):
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            self.now.copy_(frame)
            y = self.model(self.before, self.now)
            self.keep()
        torch.cuda.current_stream().wait_stream(self.side)
        return y

#- case: a global stream is there where the object's flag is on
side = None

class Manager:
    def __init__(self, overlap: bool = False):
        self.overlap = overlap
        global side
        if self.overlap and side is None:
            side = torch.cuda.Stream()

    def append(self, x, y):
        x = x.cuda() * 2
        with torch.cuda.stream(side):
            y.add_(x)
          # ^ missing-wait: `x` is read on `side` by `add_` before the `mul` on the default stream is done
        if self.overlap:
            torch.cuda.current_stream().wait_stream(side)
        return y
#- good
side = None

class Manager:
    def __init__(self, overlap: bool = False):
        self.overlap = overlap
        global side
        if self.overlap and side is None:
            side = torch.cuda.Stream()

    def append(self, x, y):
        x = x.cuda() * 2
        if self.overlap:
            side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            y.add_(x)
        if self.overlap:
            torch.cuda.current_stream().wait_stream(side)
        return y

#- case: the current stream of one device is set beside those of the others
class Pipeline:
    def __init__(self, layers, devices):
        self.layers = layers
        self.devices = devices
        self.streams = {}

    def forward(self, x):
        first = torch.cuda.current_stream()
        with torch.cuda.stream(first):
            for i, layer in enumerate(self.layers):
                if i in self.devices:
                    before = torch.cuda.current_stream()
                    device = self.devices[i]
                    if device not in self.streams:
                        self.streams[device] = torch.cuda.Stream(device)
                    torch.cuda.set_device(device)
                    self.streams[device].wait_stream(before)
                    torch.cuda.set_stream(self.streams[device])
                    x = x.to(self.devices[i], non_blocking=True)
                x = x * 2
        with torch.cuda.stream(first):
            return x + 1

#- case: what a method that failed here has left is not held against the next one
class Runner:
    def __init__(self, model=None):
        self.model = model
        self.side = torch.cuda.Stream()
        self.sizes = torch.empty(1, device="cuda")

    def plan(self, batch):
        if isinstance(self.model, torch.nn.Linear):
            return self.model(batch)
        elif isinstance(self.model, torch.nn.Conv2d):
            return batch
        else:
            assert False, "no such model"

    def warm(self, batch):
        self.sizes[0] = 8
        self.plan(batch)
        torch.cuda.synchronize()
        with torch.cuda.stream(self.side):
            self.sizes.add_(1)
        torch.cuda.current_stream().wait_stream(self.side)

    def run(self, batch):
        with torch.cuda.stream(self.side):
            self.sizes.copy_(batch)
        torch.cuda.current_stream().wait_stream(self.side)
        return self.sizes * 2

#- case: brought back without a wait, of an object that has no method to wait for the stream it was given
class Swapped:
    def __init__(self, x):
        self.x = x
        self.size = x.storage().size()
        self.host = torch.empty(x.shape, pin_memory=True, device="cpu")

    def away(self, side):
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            self.host.copy_(self.x, non_blocking=True)

    def load(self):
        self.x.storage().resize_(self.size)
        self.x.copy_(self.host)
      # ^ missing-wait
#- good
class Swapped:
    def __init__(self, x):
        self.x = x
        self.size = x.storage().size()
        self.host = torch.empty(x.shape, pin_memory=True, device="cpu")

    def away(self, side):
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            self.host.copy_(self.x, non_blocking=True)

    def settle(self, side, really):
        if really:
            torch.cuda.current_stream().wait_stream(side)
        self.x.storage().resize_(0)
        self.where = "host"

    def load(self):
        self.x.storage().resize_(self.size)
        self.x.copy_(self.host)

#- case: the base class passes on what a stage left on the default stream
class Model:
    def infer(self, images):
        made = self.prepare(images)
        return self.finish(self.run(made))

    def prepare(self, images):
        raise NotImplementedError

    def run(self, made):
        raise NotImplementedError

    def finish(self, scores):
        raise NotImplementedError

class Net(Model):
    def __init__(self, weight):
        self.weight = weight.cuda()
        self.side = torch.cuda.Stream()

    def prepare(self, images):
        with torch.cuda.stream(self.side):
            made = images.cuda(non_blocking=True) / 255
        self.side.synchronize()
        return made

    def run(self, made):
        return made @ self.weight

    def finish(self, scores):
        with torch.cuda.stream(self.side):
            best = scores.softmax(-1)
                 # ^ missing-wait
        self.side.synchronize()
        return best
#- good
class Model:
    def infer(self, images):
        made = self.prepare(images)
        return self.finish(self.run(made))

    def prepare(self, images):
        raise NotImplementedError

    def run(self, made):
        raise NotImplementedError

    def finish(self, scores):
        raise NotImplementedError

class Net(Model):
    def __init__(self, weight):
        self.weight = weight.cuda()
        self.side = torch.cuda.Stream()

    def prepare(self, images):
        with torch.cuda.stream(self.side):
            made = images.cuda(non_blocking=True) / 255
        self.side.synchronize()
        return made

    def run(self, made):
        with torch.cuda.stream(self.side):
            scores = made @ self.weight
        self.side.synchronize()
        return scores

    def finish(self, scores):
        with torch.cuda.stream(self.side):
            best = scores.softmax(-1)
        self.side.synchronize()
        return best

#- case: what comes behind the write may launch a kernel or not
import torch.distributed as dist

def spread(parts, group, side):
    handles = []
    for part in parts:
        part.mul_(2)
      # ~ `part` is written here, on the default stream
        part = part.reshape(4, -1)
        with torch.cuda.stream(side):
            handles.append(dist.all_reduce(part, group=group, async_op=True))
            #              ^ missing-wait: `part` is written on the process group's stream by `all_reduce`
    for handle in handles:
        handle.wait()
#- fixed
import torch.distributed as dist

def spread(parts, group, side):
    handles = []
    for part in parts:
        part.mul_(2)
        part = part.reshape(4, -1)
        done = torch.cuda.current_stream().record_event()
        with torch.cuda.stream(side):
            torch.cuda.current_stream().wait_event(done)
            handles.append(dist.all_reduce(part, group=group, async_op=True))
    for handle in handles:
        handle.wait()

#- case: what comes behind the write in the producer's own block
def gather(x, copy, work):
    with torch.cuda.stream(copy):
        y = x.cuda(non_blocking=True)
        #   ~ `y` is written here, on `copy`
        y = y.reshape(4, -1)
    with torch.cuda.stream(work):
        z = y.sum()
        #   ^ missing-wait: `y` is read on `work` by `sum`
    torch.cuda.current_stream().wait_stream(work)
    return z
#- fixed
def gather(x, copy, work):
    with torch.cuda.stream(copy):
        y = x.cuda(non_blocking=True)
        y = y.reshape(4, -1)
        copy_done = copy.record_event()
    work.wait_event(copy_done)
    with torch.cuda.stream(work):
        z = y.sum()
    torch.cuda.current_stream().wait_stream(work)
    return z

#- case: a number that says how much there is of something is no tensor
side = torch.cuda.Stream()

def scaled(host, gain):
    with torch.cuda.stream(side):
        x = host.cuda(non_blocking=True)
        y = x * gain
          # ^ missing-wait
    torch.cuda.current_stream().wait_stream(side)
    return (y * 2).sum().item()
#- good
side = torch.cuda.Stream()

def scaled(host, block_size):
    with torch.cuda.stream(side):
        x = host.cuda(non_blocking=True)
        y = x * block_size
    torch.cuda.current_stream().wait_stream(side)
    return (y * 2).sum().item()

#- case: the stream that has to wait may be None
def route(x, source, target=None):
    with torch.cuda.stream(source):
        y = x * 2
        #   ~ `y` is written here, on `source`
    if target is not None:
        y.record_stream(target)
    with torch.cuda.stream(target):
        z = y.sum()
        #   ^ missing-wait: `y` is read on `target` by `sum`
    return z
#- fixed
def route(x, source, target=None):
    with torch.cuda.stream(source):
        y = x * 2
        source_done = source.record_event()
    if target is not None:
        y.record_stream(target)
    if target is not None:
        target.wait_event(source_done)
    with torch.cuda.stream(target):
        z = y.sum()
    return z

#- case: the stream that has to wait is made where it is None
side = torch.cuda.Stream()

def route(x, target=None):
    if target is None:
        target = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x * 2
        #   ~ `y` is written here, on `side`
    with torch.cuda.stream(target):
        z = y.sum()
        #   ^ missing-wait: `y` is read on `target` by `sum`
    torch.cuda.current_stream().wait_stream(target)
    return z
#- fixed
side = torch.cuda.Stream()

def route(x, target=None):
    if target is None:
        target = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x * 2
        side_done = side.record_event()
    target.wait_event(side_done)
    with torch.cuda.stream(target):
        z = y.sum()
    torch.cuda.current_stream().wait_stream(target)
    return z

#- case: a graph's warm-up on a stream of its own
class Calculator:
    def __init__(self, model, device):
        self.model = model
        self.device = device
        self.graph = None

    def capture(self):
        side = torch.cuda.Stream()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.stream(side):
            self.energy = self.model(self.place)
                        # ^ missing-wait
            with torch.cuda.graph(self.graph):
                self.energy = self.model(self.place)

    def calculate(self, place):
        place = place.to(self.device).reshape(-1, 3)
        if self.graph is None:
            self.place = place.clone()
            self.capture()
        self.place.copy_(place)
        self.graph.replay()
        return self.energy
#- good
class Calculator:
    def __init__(self, model, device):
        self.model = model
        self.device = device
        self.graph = None

    def capture(self):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.stream(side):
            self.energy = self.model(self.place)
            with torch.cuda.graph(self.graph):
                self.energy = self.model(self.place)

    def calculate(self, place):
        place = place.to(self.device).reshape(-1, 3)
        if self.graph is None:
            self.place = place.clone()
            self.capture()
        self.place.copy_(place)
        self.graph.replay()
        return self.energy

#- case: the constructor has made another stream the current one for good
class Runner:
    def __init__(self):
        self.side = torch.cuda.Stream()

    def run(self, x):
        with torch.cuda.stream(self.side):
            y = x * (2 if x.is_cuda else 1)
              # ^ missing-wait
        torch.cuda.current_stream().wait_stream(self.side)
        return y
#- good
class Runner:
    def __init__(self):
        torch.cuda.set_stream(torch.cuda.Stream())
        self.done = torch.cuda.Event()

    def run(self, x):
        y = x * (2 if x.is_cuda else 1)
        self.done.record()
        return y

#- case: a part that another method gives reads the result on the host
class Reader:
    def __init__(self):
        self.coder = None

    def attach(self, coder):
        self.coder = coder

    def decode(self, symbols):
        self.coder.decode(symbols, 1)

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.reader = Reader()
        self.mix = torch.nn.Conv2d(3, 3, 1)
        self.side = torch.cuda.Stream()

    def decompress(self, z):
        scales = self.mix(z.cuda())
        with torch.cuda.stream(self.side):
            y = scales + 1
      #         ^ missing-wait
            done = self.side.record_event()
        done.wait()
        return y
#- good
class Reader:
    def __init__(self):
        self.coder = None

    def attach(self, coder):
        self.coder = coder

    def decode(self, symbols):
        self.coder.decode(symbols, 1)

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.reader = Reader()
        self.mix = torch.nn.Conv2d(3, 3, 1)
        self.side = torch.cuda.Stream()

    def decompress(self, z):
        scales = self.mix(z.cuda())
        self.reader.decode(scales)
        with torch.cuda.stream(self.side):
            y = scales + 1
            done = self.side.record_event()
        done.wait()
        return y

#- case: a thread that begins when somebody asks it to
import queue
import threading

class Worker:
    def __init__(self):
        self.inbox = queue.Queue()
        self.outbox = queue.Queue()
        self.table = torch.zeros(64, device="cuda")
        self.lane = torch.cuda.Stream()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        with torch.cuda.stream(self.lane):
            doubled = self.table * 2
      #               ^ missing-wait
            self.lane.synchronize()
            self.outbox.put(doubled)

    def ask(self, what):
        torch.cuda.current_stream().synchronize()
        self.inbox.put(what)
#- good
import queue
import threading

class Worker:
    def __init__(self):
        self.inbox = queue.Queue()
        self.outbox = queue.Queue()
        self.table = torch.zeros(64, device="cuda")
        self.lane = torch.cuda.Stream()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        with torch.cuda.stream(self.lane):
            while True:
                what = self.inbox.get()
                if what is None:
                    break
                doubled = self.table * 2
                self.lane.synchronize()
                self.outbox.put(doubled)

    def ask(self, what):
        torch.cuda.current_stream().synchronize()
        self.inbox.put(what)

#- case: a callee whose name says that it copies to the host
import library

class Counts:
    def __init__(self):
        self.side = torch.cuda.Stream()
        self.sizes = None

    def count(self, tokens, when):
        tokens = tokens.cuda()
        self.sizes = tokens.sum(0)
        if when == "before":
            self.side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self.side):
                self.sizes = library.maybe_move_tensor_to_cpu(self.sizes, record_stream=True)
        return library.permute(tokens, self.sizes).clamp_(0).sum().item()

#- case: a hook that the object registers writes what another method reads
import functools

class Histogram(torch.nn.Module):
    def __init__(self, network, device):
        super().__init__()
        self.network = network.to(device)
        self.side = torch.cuda.Stream(device)
        self.sums = {}
        for name, layer in self.network.named_modules():
            if isinstance(layer, torch.nn.Conv2d):
                self.sums[name] = torch.zeros(8, device=device)
                layer.register_forward_hook(functools.partial(self._count, name))

    def _count(self, name, layer, args, output):
        self.side.wait_stream(torch.cuda.current_stream(output.device))
        with torch.cuda.stream(self.side):
            self.sums[name].add_(output.detach().histc(8))
        output.record_stream(self.side)

    def forward(self, x):
        return self.network(x)

    def totals(self):
        return [total * 2 for total in self.sums.values()]
     #          ^ missing-wait
#- good
import functools

class Histogram(torch.nn.Module):
    def __init__(self, network, device):
        super().__init__()
        self.network = network.to(device)
        self.side = torch.cuda.Stream(device)
        self.sums = {}
        for name, layer in self.network.named_modules():
            if isinstance(layer, torch.nn.Conv2d):
                self.sums[name] = torch.zeros(8, device=device)
                layer.register_forward_hook(functools.partial(self._count, name))

    def _count(self, name, layer, args, output):
        self.side.wait_stream(torch.cuda.current_stream(output.device))
        with torch.cuda.stream(self.side):
            self.sums[name].add_(output.detach().histc(8))
        output.record_stream(self.side)

    def forward(self, x):
        return self.network(x)

    def totals(self):
        torch.cuda.current_stream().wait_stream(self.side)
        return [total * 2 for total in self.sums.values()]
#- good
class Histogram(torch.nn.Module):
    def __init__(self, network):
        super().__init__()
        self.network = network
        self.side = torch.cuda.Stream()
        self.sum = torch.zeros(8, device="cuda")
        network.register_forward_hook(self._count)

    def _count(self, layer, args, output):
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            self.sum.add_(output.detach().histc(8))
        output.record_stream(self.side)

    def settle(self):
        torch.cuda.current_stream().wait_stream(self.side)

    def total(self):
        return self.sum * 2

#- case: a graph's inputs are whatever keywords there are
class Runner:
    def __init__(self, fn):
        self.fn = fn
        self.pool = None

    def capture(self, **inputs):
        kept = {name: value.clone() if isinstance(value, torch.Tensor) else value for name, value in inputs.items()}
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(3):
                self.fn(**kept)
              # ^ missing-wait
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self.pool):
            result = self.fn(**kept)
        return graph, kept, result
#- good
class Runner:
    def __init__(self, fn):
        self.fn = fn
        self.pool = None

    def capture(self, **inputs):
        kept = {name: value.clone() if isinstance(value, torch.Tensor) else value for name, value in inputs.items()}
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.fn(**kept)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self.pool):
            result = self.fn(**kept)
        return graph, kept, result

#- case: a forward that is put into the place of a module's own
def moe_forward(self, hidden):
    def custom_forward(hidden):
        scores = self.router(hidden)
        self.lane.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.lane):
            shared = self.shared_experts(hidden)
        routed = self.experts(hidden, scores)
        return routed + shared
      #        ^ missing-wait

    return self.checkpoint(custom_forward, hidden) if self.saves else custom_forward(hidden)
#- good
def moe_forward(self, hidden):
    def custom_forward(hidden):
        scores = self.router(hidden)
        self.lane.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.lane):
            shared = self.shared_experts(hidden)
        routed = self.experts(hidden, scores)
        torch.cuda.current_stream().wait_stream(self.lane)
        return routed + shared

    return self.checkpoint(custom_forward, hidden) if self.saves else custom_forward(hidden)

#- case: a stream that the constructor is given, and that nothing here lets wait or waits for
class Trainer:
    def __init__(self, model, lane):
        self.model = model
        self.lane = lane

    def step(self, batches):
        total = torch.tensor(0.0, device="cuda")
        self.lane.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.lane):
            for batch in batches:
                total += self.model(batch.cuda()).norm()
        return total.item()
      #        ^ missing-wait
#- good
class Trainer:
    def __init__(self, model, lane):
        self.model = model
        self.lane = lane

    def step(self, batches):
        total = torch.tensor(0.0, device="cuda")
        with torch.cuda.stream(self.lane):
            for batch in batches:
                total += self.model(batch.cuda()).norm()
        return total.item()

#- case: a module moved to the device gets memory of its own
class Engine:
    def __init__(self, make):
        self.model = make()
        self.model.to("cpu", non_blocking=True)
        self.lane = torch.cuda.Stream()

    def load(self, x):
        with torch.cuda.stream(self.lane):
            self.model.to("cuda", non_blocking=True)
        return self.model(x.cuda()).sum().item()
      #        ^ missing-wait
#- good
class Engine:
    def __init__(self, make):
        self.model = make()
        self.model.to("cpu", non_blocking=True)
        self.lane = torch.cuda.Stream()

    def load(self, x):
        with torch.cuda.stream(self.lane):
            self.model.to("cuda", non_blocking=True)
        torch.cuda.current_stream().wait_stream(self.lane)
        return self.model(x.cuda()).sum().item()

#- case: what a callee that nobody knows has just given goes into a module that forks
import library

class Experts(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.shared = library.Dense(config)
        self.routed = library.Routed(config)
        self.side = torch.cuda.Stream()

    def forward(self, hidden):
        current = torch.cuda.current_stream()
        with torch.cuda.stream(self.side):
            routed = self.routed(hidden)
      #              ^ missing-wait
        shared = self.shared(hidden)
        current.wait_stream(self.side)
        return routed + shared

class Layer(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.boundary = library.boundary(config)
        self.experts = Experts(config)

    def forward(self, hidden, residual):
        hidden, residual = self.boundary.enter(hidden, residual)
        return self.experts(hidden), residual
#- good
import library

class Experts(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.shared = library.Dense(config)
        self.routed = library.Routed(config)
        self.side = torch.cuda.Stream()

    def forward(self, hidden):
        current = torch.cuda.current_stream()
        self.side.wait_stream(current)
        with torch.cuda.stream(self.side):
            routed = self.routed(hidden)
        shared = self.shared(hidden)
        current.wait_stream(self.side)
        return routed + shared

class Layer(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.boundary = library.boundary(config)
        self.experts = Experts(config)

    def forward(self, hidden, residual):
        hidden, residual = self.boundary.enter(hidden, residual)
        return self.experts(hidden), residual
#- good
import library

class Experts(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.shared = library.Dense(config)
        self.routed = library.Routed(config)
        self.side = torch.cuda.Stream()

    def forward(self, hidden):
        current = torch.cuda.current_stream()
        with torch.cuda.stream(self.side):
            routed = self.routed(hidden)
        shared = self.shared(hidden)
        current.wait_stream(self.side)
        return routed + shared

class Layer(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.boundary = library.boundary(config)
        self.experts = Experts(config)

    def forward(self, hidden, residual):
        hidden, residual = self.boundary.enter(hidden, residual)
        self.experts.side.wait_stream(torch.cuda.current_stream())
        return self.experts(hidden), residual
#- good
import library

def push(rows, stream, done):
    with torch.cuda.stream(stream):
        stream.wait_event(done)
        rows.mul_(2)
    torch.cuda.current_stream().wait_stream(stream)

def run(stream):
    done = torch.cuda.Event()
    for name, rows in library.tables():
        done.record()
        push(rows, stream, done)

#- case: a thread puts what it has made into a queue, before it is done
import queue
import threading

def produce(results, lane):
    with torch.cuda.stream(lane):
        squares = torch.arange(1 << 20, device="cuda") ** 2
    results.put(squares)

def consume():
    results, lane = queue.Queue(), torch.cuda.Stream()
    thread = threading.Thread(target=produce, args=(results, lane))
    thread.start()
    squares = results.get()
    print(squares.sum().item())
    #     ^ missing-wait
    thread.join()

consume()
#- good
import queue
import threading

def produce(results, lane):
    with torch.cuda.stream(lane):
        squares = torch.arange(1 << 20, device="cuda") ** 2
    lane.synchronize()
    results.put(squares)

def consume():
    results, lane = queue.Queue(), torch.cuda.Stream()
    thread = threading.Thread(target=produce, args=(results, lane))
    thread.start()
    squares = results.get()
    print(squares.sum().item())
    thread.join()

consume()
#- good
import collections
import threading

def produce(latest, lane):
    with torch.cuda.stream(lane):
        latest.append(torch.zeros(4, device="cuda"))
        squares = torch.arange(1 << 20, device="cuda") ** 2
    lane.synchronize()
    latest.append(squares)

def consume():
    latest, lane = collections.deque(maxlen=1), torch.cuda.Stream()
    thread = threading.Thread(target=produce, args=(latest, lane))
    thread.start()
    squares = latest.popleft()
    print(squares.sum().item())
    thread.join()

consume()

#- case: what a thread waits for after it has put something says nothing of that
import queue
import threading

def produce(results, lane):
    with torch.cuda.stream(lane):
        squares = torch.arange(1 << 20, device="cuda") ** 2
    results.put(squares)
    lane.synchronize()

def consume():
    results, lane = queue.Queue(), torch.cuda.Stream()
    thread = threading.Thread(target=produce, args=(results, lane))
    thread.start()
    squares = results.get()
    print(squares.sum().item())
    #     ^ missing-wait
    thread.join()

consume()
#- good
import queue
import threading

def produce(results, lane):
    with torch.cuda.stream(lane):
        squares = torch.arange(1 << 20, device="cuda") ** 2
    with torch.cuda.stream(lane):
        squares = squares + 1
    torch.cuda.synchronize()
    results.put(squares)

def consume():
    results, lane = queue.Queue(), torch.cuda.Stream()
    thread = threading.Thread(target=produce, args=(results, lane))
    thread.start()
    squares = results.get()
    print(squares.sum().item())
    thread.join()

consume()

#- case: a stream that a class keeps, and that is ordered under the name of a variable
class Store:
    _to_host_stream = None

    @classmethod
    def start(cls, stream):
        cls._to_host_stream = stream

    @classmethod
    def lane(cls):
        return cls._to_host_stream

    @classmethod
    def save(cls, x, event=None):
        x = x.cuda() * 2
        lane = cls.lane()
        if event is not None:
            lane.wait_event(event)
        with torch.cuda.stream(lane):
            y = x + 1
      #         ^ missing-wait
        torch.cuda.current_stream().wait_stream(lane)
        return y
#- good
class Store:
    _to_host_stream = None

    @classmethod
    def start(cls, stream):
        cls._to_host_stream = stream

    @classmethod
    def lane(cls):
        return cls._to_host_stream

    @classmethod
    def save(cls, x, event=None):
        x = x.cuda() * 2
        lane = cls.lane()
        if event is not None:
            lane.wait_event(event)
        lane.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(lane):
            y = x + 1
        torch.cuda.current_stream().wait_stream(lane)
        return y

#- case: a hook of gradients runs where the program starts its backward pass
class Gauge:
    def __init__(self, model):
        self.side = torch.cuda.Stream()
        self.norms = []
        for parameter in model.parameters():
            parameter.register_post_accumulate_grad_hook(self.measure)

    def measure(self, parameter):
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            self.norms.append(parameter.grad.norm())

    def total(self):
        return torch.stack(self.norms).sum()

def train():
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 1)).cuda()
    gauge = Gauge(model)
    model(torch.randn(4, 8, device="cuda")).mean().backward()
    total = gauge.total()
      #     ^ missing-wait
    torch.cuda.synchronize()
    print(total.item())

train()
#- good
class Gauge:
    def __init__(self, model):
        self.side = torch.cuda.Stream()
        self.norms = []
        for parameter in model.parameters():
            parameter.register_post_accumulate_grad_hook(self.measure)

    def measure(self, parameter):
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            self.norms.append(parameter.grad.norm())

    def total(self):
        torch.cuda.current_stream().wait_stream(self.side)
        return torch.stack(self.norms).sum()

def train():
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 1)).cuda()
    gauge = Gauge(model)
    model(torch.randn(4, 8, device="cuda")).mean().backward()
    total = gauge.total()
    torch.cuda.synchronize()
    print(total.item())

train()

#- case: an object that is a thread, and is at work while its methods are called
import queue
import threading

class Uploader(threading.Thread):
    def __init__(self, source):
        super().__init__(daemon=True)
        self.source = source
        self.lane = torch.cuda.Stream()
        self.out = queue.Queue(2)
        self.start()

    def run(self):
        for host in self.source:
            with torch.cuda.stream(self.lane):
                x = host.pin_memory().cuda(non_blocking=True)
            self.out.put(x)

    def take(self):
        x = self.out.get()
        return x * 2
      #        ^ missing-wait
#- good
import queue
import threading

class Uploader(threading.Thread):
    def __init__(self, source):
        super().__init__(daemon=True)
        self.source = source
        self.lane = torch.cuda.Stream()
        self.out = queue.Queue(2)
        self.start()

    def run(self):
        for host in self.source:
            with torch.cuda.stream(self.lane):
                x = host.pin_memory().cuda(non_blocking=True)
            self.lane.synchronize()
            self.out.put(x)

    def take(self):
        x = self.out.get()
        return x * 2

#- case: a signal tells no more than its sender knows
import threading

class Refresher:
    def __init__(self):
        self.lane = torch.cuda.Stream()
        self.asked = threading.Event()
        self.ready = threading.Event()
        self.host = torch.empty(8, pin_memory=True)
        self.table = torch.empty(8, device="cuda")
        threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        while True:
            self.asked.wait()
            self.asked.clear()
            with torch.cuda.stream(self.lane):
                self.table.copy_(self.host, non_blocking=True)
            self.ready.set()

    def doubled(self):
        self.asked.set()
        self.ready.wait()
        self.ready.clear()
        return self.table * 2
      #        ^ missing-wait
#- good
import threading

class Refresher:
    def __init__(self):
        self.lane = torch.cuda.Stream()
        self.asked = threading.Event()
        self.ready = threading.Event()
        self.host = torch.empty(8, pin_memory=True)
        self.table = torch.empty(8, device="cuda")
        threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        while True:
            self.asked.wait()
            self.asked.clear()
            with torch.cuda.stream(self.lane):
                self.table.copy_(self.host, non_blocking=True)
            self.lane.synchronize()
            self.ready.set()

    def doubled(self):
        self.asked.set()
        self.ready.wait()
        self.ready.clear()
        return self.table * 2
#- good
import threading

class Refresher:
    def __init__(self, source):
        self.lane = torch.cuda.Stream()
        self.lock = threading.Lock()
        self.table = None
        self.source = source
        threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        while True:
            host = self.source.get()
            with torch.cuda.stream(self.lane):
                table = host.pin_memory().cuda(non_blocking=True)
            self.lane.synchronize()
            with self.lock:
                self.table = table

    def doubled(self):
        with self.lock:
            return self.table * 2

#- case: parts of what a callee gave, one of which goes on beside the current stream
from context import projected

class Attention:
    def forward_prepare(self, hidden):
        q, latent = projected(hidden.shape).split([8, 4], dim=-1)
        current = torch.cuda.current_stream()
        q = self.q_norm(q)
        with torch.cuda.stream(self.lane):
            k = self.k_norm(latent)
      #         ^ missing-wait
        current.wait_stream(self.lane)
        return q @ k
#- good
from context import projected

class Attention:
    def forward_prepare(self, hidden):
        q, latent = projected(hidden.shape).split([8, 4], dim=-1)
        current = torch.cuda.current_stream()
        self.lane.wait_stream(current)
        q = self.q_norm(q)
        with torch.cuda.stream(self.lane):
            k = self.k_norm(latent)
        current.wait_stream(self.lane)
        return q @ k
#- good
from context import weights

class Attention:
    def forward_prepare(self, hidden):
        scale, shift = weights(hidden.shape)
        current = torch.cuda.current_stream()
        with torch.cuda.stream(self.lane):
            bias = self.k_norm(shift)
            far = self.q_norm(scale)
        current.wait_stream(self.lane)
        return hidden * far + bias

#- case: a callee that says whether something is supported gives no tensor
from kernels import fused, gate, is_fused_supported

class Mixer(torch.nn.Module):
    def __init__(self, norm):
        super().__init__()
        self.norm = norm
        self.lane = torch.cuda.Stream()

    def forward(self, x):
        normed = self.norm(x)
        if is_fused_supported(normed, self.weight):
            mixed = fused(normed, self.weight)
        else:
            mixed = normed * 2
        with torch.cuda.stream(self.lane):
            parts = gate(normed)
      #             ^ missing-wait
        normed.record_stream(self.lane)
        torch.cuda.current_stream().wait_stream(self.lane)
        return mixed + parts
#- good
from kernels import fused, gate, is_fused_supported

class Mixer(torch.nn.Module):
    def __init__(self, norm):
        super().__init__()
        self.norm = norm
        self.lane = torch.cuda.Stream()

    def forward(self, x):
        normed = self.norm(x)
        if is_fused_supported(normed, self.weight):
            mixed = fused(normed, self.weight)
        else:
            mixed = normed * 2
        self.lane.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.lane):
            parts = gate(normed)
        normed.record_stream(self.lane)
        torch.cuda.current_stream().wait_stream(self.lane)
        return mixed + parts

#- case: methods of one object that are told which of its things they work on are told the same
class Cache:
    def __init__(self, layers):
        self.side = torch.cuda.Stream()
        self.keys = [torch.empty(1024, pin_memory=True) for _ in range(layers)]
        self.away = [torch.cuda.Event() for _ in range(layers)]

    def offload(self, layer_idx, key):
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            self.keys[layer_idx].copy_(key, non_blocking=True)
            self.away[layer_idx].record()

    def fetch(self, layer_idx):
        return self.keys[layer_idx].cuda(non_blocking=True)
      #        ^ missing-wait
#- good
class Cache:
    def __init__(self, layers):
        self.side = torch.cuda.Stream()
        self.keys = [torch.empty(1024, pin_memory=True) for _ in range(layers)]
        self.away = [torch.cuda.Event() for _ in range(layers)]

    def offload(self, layer_idx, key):
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            self.keys[layer_idx].copy_(key, non_blocking=True)
            self.away[layer_idx].record()

    def fetch(self, layer_idx):
        self.away[layer_idx].wait()
        return self.keys[layer_idx].cuda(non_blocking=True)

#- case: of two bases with one of their own, what the second overrides comes before what the first inherits
class Stage:
    def __init__(self):
        self.side = torch.cuda.Stream()

    def join(self):
        pass

class Timed(Stage):
    def join(self):
        print("joined")

class Ordered(Stage):
    def join(self):
        torch.cuda.current_stream().wait_stream(self.side)

class Double(Timed, Ordered):
    def run(self, x):
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            y = x.cuda() * 2
        self.join()
        return y.sum()
        #      ^ missing-wait
#- good
class Stage:
    def __init__(self):
        self.side = torch.cuda.Stream()

    def join(self):
        pass

class Timed(Stage):
    def report(self):
        print("joined")

class Ordered(Stage):
    def join(self):
        torch.cuda.current_stream().wait_stream(self.side)

class Double(Timed, Ordered):
    def run(self, x):
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            y = x.cuda() * 2
        y.record_stream(torch.cuda.current_stream())
        self.join()
        return y.sum()

#- case: a hook of a module that nobody knows joins before its forward
from models import build

def run(hosts):
    copies = torch.cuda.Stream()
    model = build()
    def join(module, args):
        print("forward")
    model.register_forward_pre_hook(join)
    for host in hosts:
        with torch.cuda.stream(copies):
            x = host.to("cuda", non_blocking=True)
        y = model(x)
        #   ^ missing-wait
        x.record_stream(torch.cuda.current_stream())
        print(y.sum().item())
#- good
from models import build

def run(hosts):
    copies = torch.cuda.Stream()
    model = build()
    def join(module, args):
        torch.cuda.current_stream().wait_stream(copies)
    model.register_forward_pre_hook(join)
    for host in hosts:
        with torch.cuda.stream(copies):
            x = host.to("cuda", non_blocking=True)
        y = model(x)
        x.record_stream(torch.cuda.current_stream())
        print(y.sum().item())
#- good
from models import build

def run(hosts):
    copies = torch.cuda.Stream()
    model = build()
    def join(module, args):
        torch.cuda.current_stream().wait_stream(copies)
    for layer in model.layers:
        layer.register_forward_pre_hook(join)
    for host in hosts:
        with torch.cuda.stream(copies):
            x = host.to("cuda", non_blocking=True)
        y = model(x)
        x.record_stream(torch.cuda.current_stream())
        print(y.sum().item())

#- case: a hook of a whole module does not run where one of its parts is called
from models import build

def run(hosts):
    copies = torch.cuda.Stream()
    model = build()
    encoder = model.encoder
    def join(module, args):
        torch.cuda.current_stream().wait_stream(copies)
    model.register_forward_pre_hook(join)
    for host in hosts:
        with torch.cuda.stream(copies):
            x = host.to("cuda", non_blocking=True)
        y = encoder(x)
        #   ^ missing-wait
        x.record_stream(torch.cuda.current_stream())
        print(y.sum().item())
#- good
from models import build

def run(hosts):
    copies = torch.cuda.Stream()
    model = build()
    encoder = model.encoder
    def join(module, args):
        torch.cuda.current_stream().wait_stream(copies)
    encoder.register_forward_pre_hook(join)
    for host in hosts:
        with torch.cuda.stream(copies):
            x = host.to("cuda", non_blocking=True)
        y = encoder(x)
        x.record_stream(torch.cuda.current_stream())
        print(y.sum().item())

#- case: who asks a thread whether it is ready goes on when it is
import threading

def upload(host):
    copies = torch.cuda.Stream()
    ready = threading.Event()
    box = {}
    def work():
        with torch.cuda.stream(copies):
            box["x"] = host.cuda(non_blocking=True)
        ready.set()
    threading.Thread(target=work).start()
    while not ready.is_set():
        pass
    return box["x"] * 2
    #      ^ missing-wait
#- good
import threading

def upload(host):
    copies = torch.cuda.Stream()
    ready = threading.Event()
    box = {}
    def work():
        with torch.cuda.stream(copies):
            box["x"] = host.cuda(non_blocking=True)
        copies.synchronize()
        ready.set()
    threading.Thread(target=work).start()
    while not ready.is_set():
        pass
    return box["x"] * 2
#- good
import threading

def upload(host):
    copies = torch.cuda.Stream()
    box = {}
    def work():
        with torch.cuda.stream(copies):
            box["x"] = host.cuda(non_blocking=True)
        copies.synchronize()
    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        pass
    return box["x"] * 2
#- good
import threading

def upload(host):
    copies = torch.cuda.Stream()
    filled = threading.Semaphore(0)
    box = {}
    def work():
        with torch.cuda.stream(copies):
            box["x"] = host.cuda(non_blocking=True)
        copies.synchronize()
        filled.release()
    threading.Thread(target=work).start()
    filled.acquire()
    return box["x"] * 2

#- case: a constructor calls a module on which it has a hook
class Stage:
    def __init__(self, model, example):
        self.side = torch.cuda.Stream()
        model.register_forward_pre_hook(self.join)
        self.model = model
        self.model(example)

    def join(self, module, args):
        torch.cuda.current_stream().wait_stream(self.side)

    def run(self, host):
        with torch.cuda.stream(self.side):
            x = host.cuda(non_blocking=True) * 2
        return x.sum()
        #      ^ missing-wait
#- good
class Stage:
    def __init__(self, model, example):
        self.side = torch.cuda.Stream()
        model.register_forward_pre_hook(self.join)
        self.model = model
        self.model(example)

    def join(self, module, args):
        torch.cuda.current_stream().wait_stream(self.side)

    def run(self, host):
        with torch.cuda.stream(self.side):
            x = host.cuda(non_blocking=True) * 2
        x.record_stream(torch.cuda.current_stream())
        torch.cuda.current_stream().wait_stream(self.side)
        return x.sum()

#- case: a hook of a module that the constructor calls has run once when a method comes
class Stage:
    def __init__(self, model, example):
        self.side = torch.cuda.Stream()
        self.table = None
        model.register_forward_pre_hook(self._begin)
        model(example)

    def _begin(self, module, args):
        if self.table is None:
            with torch.cuda.stream(self.side):
                self.table = torch.ones(8, device="cuda")
        else:
            self.table = torch.zeros(8, device="cuda")

    def total(self):
        return self.table.sum()
        #      ^ missing-wait
#- good
class Stage:
    def __init__(self, model, example):
        self.side = torch.cuda.Stream()
        self.table = None
        model.register_forward_pre_hook(self._begin)
        model(example)

    def _begin(self, module, args):
        if self.table is None:
            with torch.cuda.stream(self.side):
                self.table = torch.ones(8, device="cuda")
        else:
            self.table = torch.zeros(8, device="cuda")

    def total(self):
        torch.cuda.current_stream().wait_stream(self.side)
        return self.table.sum()

#- case: a hook of gradients that the constructor computes has run once when a method comes
class Stage:
    def __init__(self, model, example):
        self.side = torch.cuda.Stream()
        self.table = None
        for parameter in model.parameters():
            parameter.register_post_accumulate_grad_hook(self._begin)
        model(example).sum().backward()

    def _begin(self, parameter):
        if self.table is None:
            with torch.cuda.stream(self.side):
                self.table = torch.ones(8, device="cuda")
        else:
            self.table = torch.zeros(8, device="cuda")

    def total(self):
        return self.table.sum()
        #      ^ missing-wait
#- good
class Stage:
    def __init__(self, model, example):
        self.side = torch.cuda.Stream()
        self.table = None
        for parameter in model.parameters():
            parameter.register_post_accumulate_grad_hook(self._begin)
        model(example).sum().backward()

    def _begin(self, parameter):
        if self.table is None:
            with torch.cuda.stream(self.side):
                self.table = torch.ones(8, device="cuda")
        else:
            self.table = torch.zeros(8, device="cuda")

    def total(self):
        torch.cuda.current_stream().wait_stream(self.side)
        return self.table.sum()
#- case: a lock that another thread gives back is a signal, one that its holder gives back is none
import threading

def upload(host):
    copies = torch.cuda.Stream()
    lock = threading.Lock()
    box = {}
    def work():
        with torch.cuda.stream(copies):
            x = host.cuda(non_blocking=True)
        with lock:
            box["x"] = x
        copies.synchronize()
    threading.Thread(target=work).start()
    lock.acquire()
    y = box["x"] * 2
    #   ^ missing-wait
    lock.release()
    return y
#- good
import threading

def upload(host):
    copies = torch.cuda.Stream()
    filled = threading.Lock()
    filled.acquire()
    box = {}
    def work():
        with torch.cuda.stream(copies):
            box["x"] = host.cuda(non_blocking=True)
        copies.synchronize()
        filled.release()
    threading.Thread(target=work).start()
    filled.acquire()
    return box["x"] * 2
#- good
import threading

def halves(host):
    copies, reads = torch.cuda.Stream(), torch.cuda.Stream()
    buffer = torch.empty(1024, device="cuda")
    go = threading.Semaphore(0)
    out = []
    def work():
        go.acquire()
        with torch.cuda.stream(reads):
            out.append(buffer / 2)
        reads.synchronize()
    copies.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(copies):
        buffer.copy_(host.pin_memory(), non_blocking=True)
    worker = threading.Thread(target=work)
    worker.start()
    copies.synchronize()
    go.release()
    worker.join()
    return out[0]

#- case: a module that is called by the name of the method
import torch.nn as nn

def run(host):
    side = torch.cuda.Stream()
    model = nn.Linear(8, 8).cuda()
    model.register_forward_hook(lambda module, args, result: torch.cuda.current_stream().wait_stream(side))
    with torch.cuda.stream(side):
        x = host.cuda(non_blocking=True)
    x.record_stream(torch.cuda.current_stream())
    return model.__call__(x)
    #      ^ missing-wait
#- good
import torch.nn as nn

def run(host):
    side = torch.cuda.Stream()
    model = nn.Linear(8, 8).cuda()
    model.register_forward_pre_hook(lambda module, args: torch.cuda.current_stream().wait_stream(side))
    with torch.cuda.stream(side):
        x = host.cuda(non_blocking=True)
    x.record_stream(torch.cuda.current_stream())
    return model.__call__(x)
#- good
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8).cuda()

    def forward(self, x):
        return self.layer(x)

    def __call__(self, x):
        return super().__call__(x)

def run(host):
    side = torch.cuda.Stream()
    model = Net()
    model.register_forward_pre_hook(lambda module, args: torch.cuda.current_stream().wait_stream(side))
    with torch.cuda.stream(side):
        x = host.cuda(non_blocking=True)
    x.record_stream(torch.cuda.current_stream())
    return model(x)

#- case: hooks of the parts of a module that a wrapper runs
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP

def run(host, other):
    side = torch.cuda.Stream()
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU()).cuda()
    other[0].register_forward_pre_hook(lambda module, args: torch.cuda.current_stream().wait_stream(side))
    model = DDP(model)
    with torch.cuda.stream(side):
        x = host.cuda(non_blocking=True)
    x.record_stream(torch.cuda.current_stream())
    return model(x)
    #      ^ missing-wait
#- good
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP

def run(host):
    side = torch.cuda.Stream()
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU()).cuda()
    model[0].register_forward_pre_hook(lambda module, args: torch.cuda.current_stream().wait_stream(side))
    model = DDP(model)
    with torch.cuda.stream(side):
        x = host.cuda(non_blocking=True)
    x.record_stream(torch.cuda.current_stream())
    return model(x)
#- good
from torch.nn.parallel import DistributedDataParallel as DDP

def run(model, host):
    side = torch.cuda.Stream()
    model = DDP(model)
    model.module.first.register_forward_pre_hook(lambda module, args: torch.cuda.current_stream().wait_stream(side))
    with torch.cuda.stream(side):
        x = host.cuda(non_blocking=True)
    x.record_stream(torch.cuda.current_stream())
    return model(x)
#- good
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

def run(model, host):
    side = torch.cuda.Stream()
    first = model.get_submodule("first")
    first.register_forward_pre_hook(lambda module, args: torch.cuda.current_stream().wait_stream(side))
    model = FSDP(model)
    with torch.cuda.stream(side):
        x = host.cuda(non_blocking=True)
    x.record_stream(torch.cuda.current_stream())
    return model(x)
#- good
import torch.nn as nn
from engine import initialize

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 8)])

def run(host):
    side = torch.cuda.Stream()
    model = Net()
    model.layers[0].register_forward_pre_hook(lambda module, args: torch.cuda.current_stream().wait_stream(side))
    engine, optimizer = initialize(model=model)
    with torch.cuda.stream(side):
        x = host.cuda(non_blocking=True)
    x.record_stream(torch.cuda.current_stream())
    return engine(x)

#- case: the last turn of a loop over what is enumerated
def total(hosts):
    side = torch.cuda.Stream()
    parts = []
    for i, host in enumerate(hosts):
        with torch.cuda.stream(side):
            parts.append(host.cuda(non_blocking=True))
        if i + 1 < len(hosts):
            torch.cuda.current_stream().wait_stream(side)
    for part in parts:
        part.record_stream(torch.cuda.current_stream())
    return [part.sum() for part in parts]
    #       ^ missing-wait
#- good
def total(hosts):
    side = torch.cuda.Stream()
    parts = []
    for i, host in enumerate(hosts):
        with torch.cuda.stream(side):
            parts.append(host.cuda(non_blocking=True))
        if i + 1 < len(hosts):
            continue
        torch.cuda.current_stream().wait_stream(side)
    for part in parts:
        part.record_stream(torch.cuda.current_stream())
    return [part.sum() for part in parts]
#- good
def total(hosts, scales):
    side = torch.cuda.Stream()
    parts = []
    last = len(hosts) - 1
    for i, (host, scale) in enumerate(zip(hosts, scales)):
        with torch.cuda.stream(side):
            parts.append(host.cuda(non_blocking=True) * scale)
        if i == last:
            torch.cuda.current_stream().wait_stream(side)
    for part in parts:
        part.record_stream(torch.cuda.current_stream())
    return [part.sum() for part in parts]
#- good
def total(hosts):
    side = torch.cuda.Stream()
    loaded = torch.cuda.Event()
    parts = []
    for count, host in enumerate(hosts, start=1):
        with torch.cuda.stream(side):
            parts.append(host.cuda(non_blocking=True))
            if count == len(hosts):
                loaded.record()
    torch.cuda.current_stream().wait_event(loaded)
    for part in parts:
        part.record_stream(torch.cuda.current_stream())
    return [part.sum() for part in parts]

#- case: a thread that waits until its starter has filled what it reads
import threading

def total(host):
    copies, reads = torch.cuda.Stream(), torch.cuda.Stream()
    buffer = torch.empty(64, device="cuda")
    go = threading.Event()
    out = []
    def work():
        go.wait()
        with torch.cuda.stream(reads):
            out.append(buffer.sum())
            #          ^ missing-wait
        reads.synchronize()
    worker = threading.Thread(target=work)
    worker.start()
    copies.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(copies):
        buffer.copy_(host.pin_memory(), non_blocking=True)
    go.set()
    worker.join()
    copies.synchronize()
    return out[0]
#- good
import threading

def total(host):
    copies, reads = torch.cuda.Stream(), torch.cuda.Stream()
    buffer = torch.empty(64, device="cuda")
    go = threading.Lock()
    go.acquire()
    out = []
    def work():
        with go:
            with torch.cuda.stream(reads):
                out.append(buffer.sum())
            reads.synchronize()
    worker = threading.Thread(target=work)
    worker.start()
    copies.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(copies):
        buffer.copy_(host.pin_memory(), non_blocking=True)
    copies.synchronize()
    go.release()
    worker.join()
    return out[0]
#- good
import threading

def total(hosts):
    copies, reads = torch.cuda.Stream(), torch.cuda.Stream()
    buffer = torch.zeros(64, device="cuda")
    copies.wait_stream(torch.cuda.current_stream())
    full, empty = threading.Semaphore(0), threading.Semaphore(1)
    out = []
    def work():
        for _ in hosts:
            full.acquire()
            with torch.cuda.stream(reads):
                out.append(buffer.sum())
            reads.synchronize()
            empty.release()
    worker = threading.Thread(target=work)
    worker.start()
    for host in hosts:
        empty.acquire()
        with torch.cuda.stream(copies):
            buffer.copy_(host.pin_memory(), non_blocking=True)
        copies.synchronize()
        full.release()
    worker.join()
    return out
#- good
import threading

def total(hosts):
    copies, reads = torch.cuda.Stream(), torch.cuda.Stream()
    buffer = torch.zeros(64, device="cuda")
    copies.wait_stream(torch.cuda.current_stream())
    turn = threading.Condition()
    state = {"full": False, "end": False}
    out = []
    def work():
        while True:
            with turn:
                while not state["full"] and not state["end"]:
                    turn.wait()
                if state["end"]:
                    return
            with torch.cuda.stream(reads):
                out.append(buffer.sum())
            reads.synchronize()
            with turn:
                state["full"] = False
                turn.notify_all()
    worker = threading.Thread(target=work)
    worker.start()
    for host in hosts:
        with turn:
            while state["full"]:
                turn.wait()
        with torch.cuda.stream(copies):
            buffer.copy_(host.pin_memory(), non_blocking=True)
        copies.synchronize()
        with turn:
            state["full"] = True
            turn.notify_all()
    with turn:
        state["end"] = True
        turn.notify_all()
    worker.join()
    return out

#- case: attributes and keys whose names are put together
class Shards:
    def __init__(self):
        self.side = torch.cuda.Stream()
        for i in range(2):
            setattr(self, f"shard_{i}", torch.empty(64, device="cuda"))

    def load(self, hosts):
        self.side.wait_stream(torch.cuda.current_stream())
        for i in range(2):
            with torch.cuda.stream(self.side):
                getattr(self, f"shard_{i}").copy_(hosts[i], non_blocking=True)
        return self.shard_1.sum()
        #      ^ missing-wait
#- good
class Shards:
    def __init__(self):
        self.side = torch.cuda.Stream()
        for i in range(2):
            setattr(self, f"shard_{i}", torch.empty(64, device="cuda"))

    def load(self, hosts):
        self.side.wait_stream(torch.cuda.current_stream())
        for i in range(2):
            with torch.cuda.stream(self.side):
                getattr(self, f"shard_{i}").copy_(hosts[i], non_blocking=True)
        torch.cuda.current_stream().wait_stream(self.side)
        return self.shard_1.sum()

#- case: keys whose names are put together
def first(hosts):
    side = torch.cuda.Stream()
    shards = {}
    for i, host in enumerate(hosts):
        with torch.cuda.stream(side):
            shards[f"shard_{i}"] = host.cuda(non_blocking=True)
    return shards["shard_0"].sum()
    #      ^ missing-wait
#- good
def total(names, table):
    side = torch.cuda.Stream()
    parts, loaded = {}, {}
    for name in names:
        with torch.cuda.stream(side):
            parts[f"{name}.weight"] = table[name].cuda(non_blocking=True)
            loaded[f"{name}.weight"] = side.record_event()
    sums = []
    for name in names:
        torch.cuda.current_stream().wait_event(loaded[f"{name}.weight"])
        parts[f"{name}.weight"].record_stream(torch.cuda.current_stream())
        sums.append(parts[f"{name}.weight"].sum())
    return sums

#- case: hooks of parts that are found by going through the module
import torch.nn as nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        return self.layer(x)

def run(host):
    side = torch.cuda.Stream()
    model = nn.Sequential(Block(), Block()).cuda()

    def add(module):
        if isinstance(module, nn.Conv2d):
            module.register_forward_pre_hook(lambda m, args: torch.cuda.current_stream().wait_stream(side))

    model.apply(add)
    with torch.cuda.stream(side):
        x = host.cuda(non_blocking=True)
    x.record_stream(torch.cuda.current_stream())
    return model(x)
    #      ^ missing-wait
#- good
import torch.nn as nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        return self.layer(x)

def run(host):
    side = torch.cuda.Stream()
    model = nn.Sequential(Block(), Block()).cuda()

    def add(module):
        if isinstance(module, nn.Linear):
            module.register_forward_pre_hook(lambda m, args: torch.cuda.current_stream().wait_stream(side))

    model.apply(add)
    with torch.cuda.stream(side):
        x = host.cuda(non_blocking=True)
    x.record_stream(torch.cuda.current_stream())
    return model(x)
#- good
import torch.nn as nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        return self.layer(x)

def run(host):
    side = torch.cuda.Stream()
    model = nn.Sequential(Block(), Block()).cuda()
    parts = dict(model.named_modules())
    parts["0.layer"].register_forward_pre_hook(lambda m, args: torch.cuda.current_stream().wait_stream(side))
    with torch.cuda.stream(side):
        x = host.cuda(non_blocking=True)
    x.record_stream(torch.cuda.current_stream())
    return model(x)

#- case: who enters a lock first has not waited for whoever holds it later
import threading

def upload(host):
    copies = torch.cuda.Stream()
    lock = threading.Lock()
    box = {"x": torch.zeros(8, device="cuda")}
    def work():
        with lock:
            with torch.cuda.stream(copies):
                box["x"] = host.cuda(non_blocking=True)
            copies.synchronize()
    threading.Thread(target=work).start()
    with lock:
        return box["x"] * 2
        #      ^ missing-wait
#- good
import threading

def upload(host):
    copies = torch.cuda.Stream()
    lock = threading.Lock()
    box = {"x": torch.zeros(8, device="cuda")}
    def work():
        with lock:
            with torch.cuda.stream(copies):
                box["x"] = host.cuda(non_blocking=True)
            copies.synchronize()
    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    with lock:
        return box["x"] * 2

#- case: who asks whether a lock is free goes on when it was given back
import threading
import time

def upload(host):
    copies = torch.cuda.Stream()
    filled = threading.Lock()
    filled.acquire()
    box = {}
    def work():
        with torch.cuda.stream(copies):
            box["x"] = host.cuda(non_blocking=True)
        filled.release()
    threading.Thread(target=work).start()
    while filled.locked():
        time.sleep(0.01)
    return box["x"] * 2
    #      ^ missing-wait
#- good
import threading
import time

def upload(host):
    copies = torch.cuda.Stream()
    filled = threading.Lock()
    filled.acquire()
    box = {}
    def work():
        with torch.cuda.stream(copies):
            box["x"] = host.cuda(non_blocking=True)
        copies.synchronize()
        filled.release()
    threading.Thread(target=work).start()
    while filled.locked():
        time.sleep(0.01)
    return box["x"] * 2

#- case: contexts that another stack takes over are left with that
from contextlib import ExitStack

def run(x):
    x = x.cuda()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with ExitStack() as stack:
        stack.enter_context(torch.cuda.stream(side))
        y = x * 2
        rest = stack.pop_all()
    y.mul_(3)
    rest.close()
    y.record_stream(torch.cuda.current_stream())
    return y + 1
    #      ^ missing-wait
#- good
from contextlib import ExitStack

def run(x):
    x = x.cuda()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with ExitStack() as stack:
        stack.enter_context(torch.cuda.stream(side))
        y = x * 2
        rest = stack.pop_all()
    y.mul_(3)
    rest.close()
    torch.cuda.current_stream().wait_stream(side)
    y.record_stream(torch.cuda.current_stream())
    return y + 1

#- case: parts that an unknown module gives are the same whenever it is asked
def run(model, host):
    side = torch.cuda.Stream()
    for layer in model.children():
        layer.register_forward_hook(lambda module, args, result: torch.cuda.current_stream().wait_stream(side))
    with torch.cuda.stream(side):
        x = host.cuda(non_blocking=True)
    x.record_stream(torch.cuda.current_stream())
    for layer in model.children():
        x = layer(x) + x
        #   ^ missing-wait
    return x
#- good
def run(model, host):
    side = torch.cuda.Stream()
    for layer in model.children():
        layer.register_forward_pre_hook(lambda module, args: torch.cuda.current_stream().wait_stream(side))
    with torch.cuda.stream(side):
        x = host.cuda(non_blocking=True)
    x.record_stream(torch.cuda.current_stream())
    for layer in model.children():
        x = layer(x) + x
    return x

#- case: a part of a module by its path
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
        self.last = nn.Linear(8, 8)

    def forward(self, x):
        return self.first(x)

def run(host):
    side = torch.cuda.Stream()
    net = Net().cuda()
    net.get_submodule("last").register_forward_pre_hook(
        lambda module, args: torch.cuda.current_stream().wait_stream(side)
    )
    with torch.cuda.stream(side):
        x = host.cuda(non_blocking=True)
    x.record_stream(torch.cuda.current_stream())
    return net(x)
    #      ^ missing-wait
#- good
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
        self.last = nn.Linear(8, 8)

    def forward(self, x):
        return self.first(x)

def run(host):
    side = torch.cuda.Stream()
    net = Net().cuda()
    net.get_submodule("first.0").register_forward_pre_hook(
        lambda module, args: torch.cuda.current_stream().wait_stream(side)
    )
    with torch.cuda.stream(side):
        x = host.cuda(non_blocking=True)
    x.record_stream(torch.cuda.current_stream())
    return net(x)

#- case: a wrapper runs the forward of its module
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel

class Net(nn.Module):
    def __init__(self, side):
        super().__init__()
        self.side = side
        self.seen = None

    def forward(self, x):
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            self.seen = x * 2
        return x

def run(x):
    net = Net(torch.cuda.Stream())
    x = x.cuda()
    DistributedDataParallel(net)(x)
    net.seen.record_stream(torch.cuda.current_stream())
    return net.seen + x
    #      ^ missing-wait
#- good
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel

class Net(nn.Module):
    def __init__(self, side):
        super().__init__()
        self.side = side
        self.seen = None

    def forward(self, x):
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            self.seen = x * 2
        return x

def run(x):
    net = Net(torch.cuda.Stream())
    x = x.cuda()
    DistributedDataParallel(net)(x)
    torch.cuda.current_stream().wait_stream(net.side)
    net.seen.record_stream(torch.cuda.current_stream())
    return net.seen + x

#- case: an object that takes long to make
class Setting:
    def __init__(self, name, value):
        self.name = name
        self.value = value

class Part:
    def __init__(self, number):
        self.settings = [Setting(f"{number}.{i}", i) for i in range(30)]

class Stage:
    def __init__(self, number):
        self.parts = [Part(i + number) for i in range(30)]

class Net:
    def __init__(self):
        self.side = torch.cuda.Stream()
        self.stages = [Stage(i) for i in range(30)]
        self.scale = 2

    def run(self, x):
        x = x.cuda() + 1
        with torch.cuda.stream(self.side):
            y = x * self.scale
#               ^ missing-wait
        torch.cuda.current_stream().wait_stream(self.side)
        return y
#- good
class Setting:
    def __init__(self, name, value):
        self.name = name
        self.value = value

class Part:
    def __init__(self, number):
        self.settings = [Setting(f"{number}.{i}", i) for i in range(30)]

class Stage:
    def __init__(self, number):
        self.parts = [Part(i + number) for i in range(30)]

class Net:
    def __init__(self):
        self.side = torch.cuda.Stream()
        self.stages = [Stage(i) for i in range(30)]
        self.scale = 2

    def run(self, x):
        x = x.cuda() + 1
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            y = x * self.scale
        torch.cuda.current_stream().wait_stream(self.side)
        return y

#- case: a method without streams that the class does not have
class Layer:
    def forward_native(self, x):
        raise NotImplementedError

class Net:
    def __init__(self):
        self.side = torch.cuda.Stream()
        self.layer = Layer()

    def run(self, x):
        x = x.cuda() + 1
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            y = self.layer.forward_native(x)
        z = y + 1
#           ^ missing-wait
        torch.cuda.current_stream().wait_stream(self.side)
        return z
#- good
class Layer:
    def forward_native(self, x):
        raise NotImplementedError

class Net:
    def __init__(self):
        self.side = torch.cuda.Stream()
        self.layer = Layer()

    def run(self, x):
        x = x.cuda() + 1
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            y = self.layer.forward_native(x)
        torch.cuda.current_stream().wait_stream(self.side)
        y.record_stream(torch.cuda.current_stream())
        z = y + 1
        return z
#- good
class Layer:
    def forward_native(self, x):
        raise NotImplementedError

def run(layer: Layer, x):
    side = torch.cuda.Stream()
    layer = Layer()
    x = x.cuda() + 1
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x * 2
    try:
        layer.forward_native(x)
    except NotImplementedError:
        torch.cuda.current_stream().wait_stream(side)
    y.record_stream(torch.cuda.current_stream())
    return y + 1
#- good
def options():
    raise NotImplementedError

def run(x):
    side = torch.cuda.Stream()
    x = x.cuda() + 1
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x * 2
    if options():
        torch.cuda.current_stream().wait_stream(side)
    y.record_stream(torch.cuda.current_stream())
    return y + 1

#- case: a flag that a function sets
capturing = False

def set_capturing(value):
    global capturing
    capturing = value

class Net:
    def __init__(self):
        self.side = torch.cuda.Stream()

    def run(self, x):
        x = x.cuda() + 1
        if not capturing:
            return x * 2
        with torch.cuda.stream(self.side):
            y = x * 2
#               ^ missing-wait
        torch.cuda.current_stream().wait_stream(self.side)
        return y
#- good
capturing = False

def set_capturing(value):
    global capturing
    capturing = value

class Net:
    def __init__(self):
        self.side = torch.cuda.Stream()

    def run(self, x):
        x = x.cuda() + 1
        if not capturing:
            return x * 2
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            y = x * 2
        torch.cuda.current_stream().wait_stream(self.side)
        return y
#- good
capturing = False

def set_capturing(value):
    global capturing
    capturing = value

class Net:
    def __init__(self):
        self.side = torch.cuda.Stream()

    def run(self, x):
        x = x.cuda() + 1
        if capturing:
            self.side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self.side):
                y = x * 2
        else:
            y = x * 2
        if capturing:
            torch.cuda.current_stream().wait_stream(self.side)
        return y

#- case: a flag that the body of a class makes
class Flag:
    def __init__(self, value):
        self.value = value

    def get(self):
        return self.value

class Flags:
    OVERLAP = Flag(True)
    COUNT = Flag(3)

def run(x, side):
    x = x.cuda() + 1
    if Flags.OVERLAP.get():
        with torch.cuda.stream(side):
            y = x * 2
#               ^ missing-wait
        torch.cuda.current_stream().wait_stream(side)
        return y
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x * 2
    torch.cuda.current_stream().wait_stream(side)
    return y
#- good
class Flag:
    def __init__(self, value):
        self.value = value

    def get(self):
        return self.value

class Flags:
    OVERLAP = Flag(False)
    COUNT = Flag(3)

def run(x, side):
    x = x.cuda() + 1
    if Flags.OVERLAP.get():
        with torch.cuda.stream(side):
            y = x * 2
        torch.cuda.current_stream().wait_stream(side)
        return y
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x * 2
    torch.cuda.current_stream().wait_stream(side)
    return y
#- case: a method that may move what its object holds lets the host wait, if it is not told to go on
class Layers:
    def __init__(self, blocks):
        self.blocks = blocks
        self.side = torch.cuda.Stream()

    def run(self, host):
        x = host.cuda(non_blocking=True) * 2
        for block in self.blocks:
            block.to_gpu(non_blocking=True)
            with torch.cuda.stream(self.side):
                x = x @ block.weight
                #   ^ missing-wait: `x` is read on `self.side` by `matmul` before the `mul` on the default stream is done
            self.side.synchronize()
        return x
#- good
class Layers:
    def __init__(self, blocks):
        self.blocks = blocks
        self.side = torch.cuda.Stream()

    def run(self, host):
        x = host.cuda(non_blocking=True) * 2
        for block in self.blocks:
            block.to_gpu()
            with torch.cuda.stream(self.side):
                x = x @ block.weight
            self.side.synchronize()
        return x

#- case: a module that is moved in place lets the host wait, if it is not told to go on
def run(block, host):
    side = torch.cuda.Stream()
    x = host.cuda(non_blocking=True) * 2
    block.to("cuda", non_blocking=True)
    with torch.cuda.stream(side):
        y = x @ block.weight
        #   ^ missing-wait: `x` is read on `side` by `matmul` before the `mul` on the default stream is done
    side.synchronize()
    return y
#- good
def run(block, host):
    side = torch.cuda.Stream()
    x = host.cuda(non_blocking=True) * 2
    block.to("cuda")
    with torch.cuda.stream(side):
        y = x @ block.weight
    side.synchronize()
    return y

#- case: a move that a base of the object would make, of which nobody knows anything
import library

class Block(library.Block):
    def run(self, host):
        side = torch.cuda.Stream()
        x = host.cuda(non_blocking=True) * 2
        self.to_cuda_async()
        with torch.cuda.stream(side):
            y = x.tanh()
            #   ^ missing-wait: `x` is read on `side` by `tanh` before the `mul` on the default stream is done
        side.synchronize()
        return y
#- good
import library

class Block(library.Block):
    def run(self, host):
        side = torch.cuda.Stream()
        x = host.cuda(non_blocking=True) * 2
        self.to_cuda()
        with torch.cuda.stream(side):
            y = x.tanh()
        side.synchronize()
        return y

#- case: where the class is known, the method does what it says
class Block:
    def __init__(self, weight):
        self.weight = weight.pin_memory()

    def to_cuda(self):
        self.weight = self.weight.cuda(non_blocking=True)

def run(weight, host):
    side = torch.cuda.Stream()
    block = Block(weight)
    x = host.cuda(non_blocking=True) * 2
    block.to_cuda()
    with torch.cuda.stream(side):
        y = x.tanh()
        #   ^ missing-wait: `x` is read on `side` by `tanh` before the `mul` on the default stream is done
    side.synchronize()
    return y
#- good
class Block:
    def __init__(self, weight):
        self.weight = weight.pin_memory()

    def to_cuda(self):
        self.weight = self.weight.cuda()

def run(weight, host):
    side = torch.cuda.Stream()
    block = Block(weight)
    x = host.cuda(non_blocking=True) * 2
    block.to_cuda()
    with torch.cuda.stream(side):
        y = x.tanh()
    side.synchronize()
    return y

#- case: a bound of a slice is read on the current stream
def head(x, rows):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        end = x.cuda().argmax()
    return rows[:end].tolist()
    #      ^ missing-wait: `end` is read on the default stream
#- good
def head(x, rows):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        end = x.cuda().argmax()
    torch.cuda.current_stream().wait_stream(side)
    return rows[:end].tolist()

#- case: a stream that waits for a value in memory
from cuda import cuda

def run(x, flags):
    side = torch.cuda.Stream()
    y = x.cuda() + 1
    flags.fill_(1)
    with torch.cuda.stream(side):
        cuda.cuStreamWriteValue32(side.cuda_stream, flags.data_ptr(), 0, 0)
        z = y * 2
        #   ^ missing-wait
    torch.cuda.current_stream().wait_stream(side)
    z.record_stream(torch.cuda.current_stream())
    return z
#- good
from cuda import cuda

def run(x, flags):
    side = torch.cuda.Stream()
    y = x.cuda() + 1
    flags.fill_(1)
    with torch.cuda.stream(side):
        cuda.cuStreamWaitValue32(side.cuda_stream, flags.data_ptr(), 1, 0)
        z = y * 2
    torch.cuda.current_stream().wait_stream(side)
    z.record_stream(torch.cuda.current_stream())
    return z
#- case: the body of a generator expression runs where an item is asked for
def collate(batch):
    return batch.cuda(non_blocking=True)

def run(data):
    side = torch.cuda.Stream()
    it = (collate(data[i : i + 8]) for i in range(0, 64, 8))
    total = torch.zeros((), device="cuda")
    while True:
        with torch.cuda.stream(side):
            x = next(it, None)
        if x is None:
            break
        x.record_stream(torch.cuda.current_stream())
        total += x.sum()
        #        ^ missing-wait
    return total
#- good
def collate(batch):
    return batch.cuda(non_blocking=True)

def run(data):
    side = torch.cuda.Stream()
    it = (collate(data[i : i + 8]) for i in range(0, 64, 8))
    total = torch.zeros((), device="cuda")
    while True:
        with torch.cuda.stream(side):
            x = next(it, None)
        if x is None:
            break
        torch.cuda.current_stream().wait_stream(side)
        x.record_stream(torch.cuda.current_stream())
        total += x.sum()
    return total

#- case: a generator expression and a map that another function goes through
def doubled(items, side):
    with torch.cuda.stream(side):
        return [item * 2 for item in items]
      # ^ missing-wait

def run(x):
    side = torch.cuda.Stream()
    y = x.cuda() + 1
    made = doubled((y * i for i in range(2)), side)
    torch.cuda.current_stream().wait_stream(side)
    for item in made:
        item.record_stream(torch.cuda.current_stream())
    return made
#- good
def doubled(items, side):
    with torch.cuda.stream(side):
        return [item * 2 for item in items]

def run(x):
    side = torch.cuda.Stream()
    y = x.cuda() + 1
    z = x.cuda() + 2
    side.wait_stream(torch.cuda.current_stream())
    first = doubled((y * i for i in range(2)), side)
    second = doubled(map(lambda i: z * i, range(2)), side)
    torch.cuda.current_stream().wait_stream(side)
    for item in first + second:
        item.record_stream(torch.cuda.current_stream())
    return first, second

#- case: a generator expression and a map that are written under a stream, and gone through outside
def run(x):
    side = torch.cuda.Stream()
    base = x.cuda() + 1
    with torch.cuda.stream(side):
        scaled = (base * i for i in range(4))
        rectified = map(torch.relu, [base])
        kept = filter(lambda item: item.sum() > 0, [base])
    total = sum(scaled)
    for y in rectified:
        total = total + y
    return total + torch.stack(list(kept))

#- case: a module's forward reads the weight that was written by its name
import torch.nn as nn

def run():
    net = nn.Sequential(nn.Linear(8, 8), nn.ReLU()).cuda()
    side = torch.cuda.Stream()
    x = torch.ones(8, 8, device="cuda")
    torch.cuda.synchronize()
    with torch.no_grad():
        net[0].weight.mul_(0.5)
    with torch.cuda.stream(side):
        y = net(x)
        #   ^ missing-wait
    side.synchronize()
    print(y.sum().item())
#- good
import torch.nn as nn

def run():
    net = nn.Sequential(nn.Linear(8, 8), nn.ReLU()).cuda()
    side = torch.cuda.Stream()
    x = torch.ones(8, 8, device="cuda")
    with torch.no_grad():
        net[0].weight.mul_(0.5)
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        y = net(x)
    side.synchronize()
    print(y.sum().item())

#- case: a module's forward reads the weight into which values were copied
import torch.nn as nn

def run(values):
    net = nn.Linear(8, 8).cuda()
    side = torch.cuda.Stream()
    x = torch.ones(8, 8, device="cuda")
    torch.cuda.synchronize()
    net.weight.data.copy_(values.cuda() + 1)
    with torch.cuda.stream(side):
        y = net(x)
        #   ^ missing-wait
    side.synchronize()
    print(y.sum().item())
#- good
import torch.nn as nn

def run(values):
    net = nn.Linear(8, 8).cuda()
    side = torch.cuda.Stream()
    x = torch.ones(8, 8, device="cuda")
    torch.cuda.synchronize()
    net.weight.data.copy_(values.cuda() + 1)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = net(x)
    side.synchronize()
    print(y.sum().item())
#- good
import torch.nn as nn

def run(values):
    net = nn.Linear(8, 8).cuda()
    other = nn.Linear(8, 8).cuda()
    side = torch.cuda.Stream()
    x = torch.ones(8, 8, device="cuda")
    torch.cuda.synchronize()
    other.weight.data.copy_(values.cuda() + 1)
    with torch.cuda.stream(side):
        y = net(x)
    side.synchronize()
    print(y.sum().item())

#- case: a module that gets another type of elements on a stream of its own
import torch.nn as nn

def run():
    net = nn.Linear(8, 8, device="cuda")
    side = torch.cuda.Stream()
    x = torch.ones(8, 8, device="cuda").half()
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        net.half()
    y = net(x)
    #   ^ missing-wait
    side.synchronize()
    return y
#- good
import torch.nn as nn

def run():
    net = nn.Linear(8, 8, device="cuda")
    side = torch.cuda.Stream()
    x = torch.ones(8, 8, device="cuda").half()
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        net.half()
    torch.cuda.current_stream().wait_stream(side)
    return net(x)

#- case: a module that is sent to another type of elements, and run on a stream of its own
import torch.nn as nn

def run():
    net = nn.Sequential(nn.Linear(8, 8), nn.ReLU()).cuda()
    side = torch.cuda.Stream()
    x = torch.ones(8, 8, device="cuda").bfloat16()
    torch.cuda.synchronize()
    net.to(torch.bfloat16)
    with torch.cuda.stream(side):
        y = net(x)
        #   ^ missing-wait
    side.synchronize()
    print(y.sum().item())
#- good
import torch.nn as nn

def run():
    net = nn.Sequential(nn.Linear(8, 8), nn.ReLU()).cuda()
    side = torch.cuda.Stream()
    x = torch.ones(8, 8, device="cuda").bfloat16()
    net.to(torch.bfloat16)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = net(x)
    side.synchronize()
    print(y.sum().item())

#- case: a module that has that type of elements already, may have it, or is on the host
import torch.nn as nn

def has(x):
    net = nn.Linear(8, 8).half().cuda()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        net.half().to("cuda", torch.float16)
    return net(x.cuda().half())

def may_have(x, dtype):
    net = nn.Linear(8, 8).cuda().to(dtype)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        net.half()
    return net(x.cuda().half())

def chosen(x):
    torch.set_default_dtype(torch.float16)
    net = nn.Linear(8, 8).cuda()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        net.half()
    return net(x.cuda())

def on_host(x):
    net = nn.Linear(8, 8)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        net.half()
    net.cuda()
    return net(x.cuda().half())

#- case: a copy of a module has parameters of its own, written where it is made
import copy
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(2)])
        self.scale = nn.Parameter(torch.ones(8))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x) * self.scale
        return x

def run():
    net = Net().cuda()
    side = torch.cuda.Stream()
    x = torch.ones(8, 8, device="cuda")
    torch.cuda.synchronize()
    twin = copy.deepcopy(net)
    with torch.cuda.stream(side):
        y = twin(x)
        #   ^ missing-wait
    side.synchronize()
    print(y.sum().item())
#- good
import copy
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(2)])
        self.scale = nn.Parameter(torch.ones(8))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x) * self.scale
        return x

def run():
    net = Net().cuda()
    side = torch.cuda.Stream()
    x = torch.ones(8, 8, device="cuda")
    torch.cuda.synchronize()
    twin = copy.deepcopy(net)
    with torch.cuda.stream(side):
        y = net(x)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = twin(y)
    side.synchronize()
    print(y.sum().item())

#- case: a copy of a module reads the parameters that it copies
import copy
import torch.nn as nn

def run():
    net = nn.Linear(8, 8).cuda()
    side = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.no_grad():
        net.weight.mul_(2)
    with torch.cuda.stream(side):
        twin = copy.deepcopy(net)
        #      ^ missing-wait
    side.synchronize()
    return twin
#- good
import copy
import torch.nn as nn

def run():
    net = nn.Linear(8, 8).cuda()
    side = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.no_grad():
        net.weight.mul_(2)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        twin = copy.deepcopy(net)
    side.synchronize()
    return twin

#- case: copies of modules on the host, and of one whose hook waits
import copy
import torch.nn as nn

def on_host(x):
    side = torch.cuda.Stream()
    net = nn.Linear(8, 8)
    twin = copy.deepcopy(net)
    net.cuda()
    twin.half()
    with torch.cuda.stream(side):
        twin.cuda()
    torch.cuda.current_stream().wait_stream(side)
    x = x.cuda()
    return net(x), twin(x.half())

def hooked(x):
    side = torch.cuda.Stream()
    net = nn.Linear(8, 8).cuda()
    net.register_forward_pre_hook(lambda module, args: torch.cuda.current_stream().wait_stream(side))
    twin = copy.deepcopy(net)
    with torch.cuda.stream(side):
        y = x.cuda(non_blocking=True)
    y.record_stream(torch.cuda.current_stream())
    return twin(y)

#- case: a state is read, and the parameters are written, where it is loaded
import torch.nn as nn

def reads():
    net = nn.Linear(8, 8).cuda()
    side = torch.cuda.Stream()
    torch.cuda.synchronize()
    state = {name: value + 1 for name, value in net.state_dict().items()}
    with torch.cuda.stream(side):
        net.load_state_dict(state)
      # ^ missing-wait
    side.synchronize()
    return state

def writes(x):
    net = nn.Linear(8, 8).cuda()
    other = nn.Linear(8, 8).cuda()
    side = torch.cuda.Stream()
    x = x.cuda()
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        net.load_state_dict(other.state_dict())
    y = net(x)
    #   ^ missing-wait
    side.synchronize()
    return y
#- good
import torch.nn as nn

def reads():
    net = nn.Linear(8, 8).cuda()
    side = torch.cuda.Stream()
    torch.cuda.synchronize()
    state = {name: value + 1 for name, value in net.state_dict().items()}
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        net.load_state_dict(state)
    side.synchronize()
    return state

def writes(x):
    net = nn.Linear(8, 8).cuda()
    other = nn.Linear(8, 8).cuda()
    side = torch.cuda.Stream()
    x = x.cuda()
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        net.load_state_dict(other.state_dict())
    torch.cuda.current_stream().wait_stream(side)
    return net(x)
#- good
import torch.nn as nn

def from_file(path):
    net = nn.Linear(8, 8).cuda()
    side = torch.cuda.Stream()
    x = torch.ones(8, 8, device="cuda")
    torch.cuda.synchronize()
    net.load_state_dict(torch.load(path, map_location="cpu"))
    with torch.cuda.stream(side):
        y = net(x)
    side.synchronize()
    print(y.sum().item())

def onto_the_device(path):
    net = nn.Linear(8, 8).cuda()
    side = torch.cuda.Stream()
    x = torch.ones(8, 8, device="cuda")
    net.load_state_dict(torch.load(path, map_location="cuda"))
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        y = net(x)
    side.synchronize()
    print(y.sum().item())

#- case: a copy of a module, or of a tensor, of which nobody knows what it is has memory of its own
import copy

def module(model, x):
    side = torch.cuda.Stream()
    t = x.cuda() + 1
    twin = copy.deepcopy(model)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        twin.weight.data.copy_(t, non_blocking=True)
    model.weight.data.add_(t)
    side.synchronize()
    return twin

def tensor(x):
    side = torch.cuda.Stream()
    t = x.cuda() + 1
    x.mul_(t)
    kept = copy.deepcopy(x)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        kept.mul_(t)
    x.add_(t)
    side.synchronize()
    return kept
#- case: an object that was given to the constructor of its caller
import torch.distributed as dist

class Head:
    def __init__(self):
        self.stream = torch.cuda.Stream()

    def step(self, targets):
        with torch.cuda.stream(self.stream):
            gathered = [torch.ones_like(targets) for _ in range(dist.get_world_size())]
            dist.all_gather(gathered, targets)
            total = torch.cat(gathered)
        torch.cuda.current_stream().wait_stream(self.stream)
        return total

class Trainer:
    def __init__(self, head):
        self.head = head

    def run_step(self, data):
        targets = data["targets"].cuda() * 2
        torch.cuda.synchronize()
        return self.head.step(targets)

def main(batches):
    trainer = Trainer(Head())
    for data in batches:
        print(trainer.run_step(data))

#- case: an object that was given to the constructor of its caller, which does not wait
import torch.distributed as dist

class Head:
    def __init__(self):
        self.stream = torch.cuda.Stream()

    def step(self, targets):
        with torch.cuda.stream(self.stream):
            gathered = [torch.ones_like(targets) for _ in range(dist.get_world_size())]
            dist.all_gather(gathered, targets)
          # ^ missing-wait
            total = torch.cat(gathered)
        torch.cuda.current_stream().wait_stream(self.stream)
        return total

class Trainer:
    def __init__(self, head):
        self.head = head

    def run_step(self, data):
        targets = data["targets"].cuda() * 2
        return self.head.step(targets)

def main(batches):
    trainer = Trainer(Head())
    for data in batches:
        print(trainer.run_step(data))
#- good
import torch.distributed as dist

class Head:
    def __init__(self):
        self.stream = torch.cuda.Stream()

    def step(self, targets):
        with torch.cuda.stream(self.stream):
            gathered = [torch.ones_like(targets) for _ in range(dist.get_world_size())]
            dist.all_gather(gathered, targets)
            total = torch.cat(gathered)
        torch.cuda.current_stream().wait_stream(self.stream)
        return total

class Trainer:
    def __init__(self, head):
        self.head = head

    def run_step(self, data):
        targets = data["targets"].cuda() * 2
        torch.cuda.synchronize()
        return self.head.step(targets)

def main(batches):
    trainer = Trainer(Head())
    for data in batches:
        print(trainer.run_step(data))

#- case: an object that the constructor of a third one gives to its caller
from heads import make_head
from trainers import Trainer

class App:
    def __init__(self):
        head = make_head()
        self.trainer = Trainer(head)

    def run(self, batches):
        return [self.trainer.run_step(data) for data in batches]

def main(batches):
    print(App().run(batches))
#- file: heads.py
import torch
import torch.distributed as dist

class Head:
    def __init__(self):
        self.stream = torch.cuda.Stream()

    def step(self, targets):
        with torch.cuda.stream(self.stream):
            gathered = [torch.ones_like(targets) for _ in range(dist.get_world_size())]
            dist.all_gather(gathered, targets)
            total = torch.cat(gathered)
        torch.cuda.current_stream().wait_stream(self.stream)
        return total

def make_head():
    return Head()
#- file: trainers.py
import torch

class Trainer:
    def __init__(self, head):
        self.head = head

    def run_step(self, data):
        targets = data["targets"].cuda() * 2
        torch.cuda.synchronize()
        return self.head.step(targets)

#- case: an object that module code gives to the constructor of its caller
import torch.distributed as dist

class Head:
    def __init__(self):
        self.stream = torch.cuda.Stream()

    def step(self, targets):
        with torch.cuda.stream(self.stream):
            gathered = [torch.ones_like(targets) for _ in range(dist.get_world_size())]
            dist.all_gather(gathered, targets)
            total = torch.cat(gathered)
        torch.cuda.current_stream().wait_stream(self.stream)
        return total

class Trainer:
    def __init__(self, head):
        self.head = head

    def run_step(self, data):
        targets = data["targets"].cuda() * 2
        torch.cuda.synchronize()
        return self.head.step(targets)

trainer = Trainer(head=Head())
for number in range(2):
    print(trainer.run_step({"targets": torch.ones(number)}))

#- case: a flag that the body of a base makes, behind one of the same name
class Flag:
    def __init__(self, value):
        self.value = value

class Base:
    OVERLAP = Flag(True)

class Flags(Base):
    OVERLAP = Flag(False)

    def overlap(self):
        return super().OVERLAP.value

def run(x, side):
    x = x.cuda() + 1
    if not Flags().overlap():
        side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x * 2
        #   ^ missing-wait
    torch.cuda.current_stream().wait_stream(side)
    return y
#- good
class Flag:
    def __init__(self, value):
        self.value = value

class Base:
    OVERLAP = Flag(True)

class Flags(Base):
    OVERLAP = Flag(False)

    def overlap(self):
        return super().OVERLAP.value

def run(x, side):
    x = x.cuda() + 1
    if Flags().overlap():
        side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x * 2
    torch.cuda.current_stream().wait_stream(side)
    return y
