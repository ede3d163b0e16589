#- case: used before the handle's wait
import torch.distributed as dist

def average(grad):
    grad = grad.cuda()
    work = dist.all_reduce(grad, async_op=True)
    #      ~ the collective on `grad` starts here
    grad.div_(dist.get_world_size())
  # ^ collective-not-waited: `grad` is used on the default stream by `div_` before the `all_reduce` on the process
  # | group's stream is done: no wait() of its handle lies between
    work.wait()
    return grad.sum().item()
#- fixed
import torch.distributed as dist

def average(grad):
    grad = grad.cuda()
    work = dist.all_reduce(grad, async_op=True)
    work.wait()
    grad.div_(dist.get_world_size())
    return grad.sum().item()

#- case: only the first handle is waited for
import torch.distributed as dist

def gather(parts):
    outs = []
    works = []
    for part in parts:
        part = part.cuda()
        out = torch.empty(1024, device="cuda")
        works.append(dist.all_gather_into_tensor(out, part, async_op=True))
        #            ~ the collective on `out` starts here
        outs.append(out)
    works[0].wait()
    return torch.cat(outs).sum().item()
    #      ^ collective-not-waited: `out` is used on the default stream by `cat` before the `all_gather_into_tensor`
    # | on the process group's stream is done: no wait() of its handle lies between
#- fixed
import torch.distributed as dist

def gather(parts):
    outs = []
    works = []
    for part in parts:
        part = part.cuda()
        out = torch.empty(1024, device="cuda")
        works.append(dist.all_gather_into_tensor(out, part, async_op=True))
        outs.append(out)
    works[0].wait()
    for work in works:
        work.wait()
    return torch.cat(outs).sum().item()

#- case: waited for
import torch.distributed as dist

def average(grad):
    grad = grad.cuda()
    work = dist.all_reduce(grad, async_op=True)
    work.wait()
    grad.div_(dist.get_world_size())
    return grad.sum().item()

#- case: a blocking collective
import torch.distributed as dist

def average(grad):
    grad = grad.cuda()
    dist.all_reduce(grad)
    grad.div_(dist.get_world_size())
    return grad.sum().item()
