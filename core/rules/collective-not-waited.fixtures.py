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

#- case: sends and receives in one batch
import torch.distributed as dist

def exchange(n, peer):
    mine, theirs = torch.ones(n, device="cuda"), torch.empty(n, device="cuda")
    operations = [dist.P2POp(dist.isend, mine, peer), dist.P2POp(dist.irecv, theirs, peer)]
    handles = dist.batch_isend_irecv(operations)
    #         ~ the collective on `theirs` starts here
    total = theirs.sum()
    #       ^ collective-not-waited: `theirs` is used on the default stream by `sum` before the `batch_isend_irecv` on
    # | the process group's stream is done: no wait() of its handle lies between
    for handle in handles:
        handle.wait()
    return total.item()
#- good
import torch.distributed as dist

def exchange(n, peer):
    mine, theirs = torch.ones(n, device="cuda"), torch.empty(n, device="cuda")
    operations = [dist.P2POp(dist.isend, mine, peer), dist.P2POp(dist.irecv, theirs, peer)]
    for handle in dist.batch_isend_irecv(operations):
        handle.wait()
    return theirs.sum().item()

#- case: what is sent is overwritten
import torch.distributed as dist

def send(n, peer):
    mine = torch.ones(n, device="cuda")
    handle = dist.isend(mine, peer)
    mine.zero_()
  # ^ collective-not-waited: `mine` is used on the default stream by `zero_` before the `isend`
    handle.wait()
    return mine.sum().item()
#- fixed
import torch.distributed as dist

def send(n, peer):
    mine = torch.ones(n, device="cuda")
    handle = dist.isend(mine, peer)
    handle.wait()
    mine.zero_()
    return mine.sum().item()

#- case: a functional collective waits at its first use
import torch.distributed._functional_collectives as funcol

def average(x, group):
    total = funcol.all_reduce(x.cuda(), "sum", group)
    return (total / group.size()).sum().item()

def average_on_side(x, group, side):
    total = funcol.all_gather_tensor(x.cuda(), 0, group)
    total = funcol.wait_tensor(total)
    return total.sum().item()

#- case: the future of a collective
import torch.distributed as dist

def average(x):
    grad = x.cuda()
    future = dist.all_reduce(grad, async_op=True).get_future()
    total = grad.sum()
    #       ^ collective-not-waited: `grad` is used on the default stream by `sum` before the `all_reduce`
    future.wait()
    return total.item()
#- good
import torch.distributed as dist

def average(x):
    grad = x.cuda()
    future = dist.all_reduce(grad, async_op=True).get_future()
    return future.wait()[0].sum().item()

#- case: what a future's callback does is waited for with its own future
import torch.distributed as dist

def average(x, n):
    grad = x.cuda()
    halved = dist.all_reduce(grad, async_op=True).get_future().then(lambda done: done.value()[0].div_(n))
    total = grad.sum()
    #       ^ collective-not-waited: `grad` is used on the default stream by `sum` before the `div_`
    halved.wait()
    return total.item()
#- good
import torch.distributed as dist

def average(x, n):
    grad = x.cuda()
    halved = dist.all_reduce(grad, async_op=True).get_future().then(lambda done: done.value()[0].div_(n))
    halved.wait()
    return grad.sum().item()

#- case: a handle that says it is done
import torch.distributed as dist

def average(x):
    grad = x.cuda()
    work = dist.all_reduce(grad, async_op=True)
    while not work.is_completed():
        pass
    return grad.sum().item()

#- case: coalesced collectives have one handle
import torch.distributed as dist
from torch.distributed.distributed_c10d import _coalescing_manager

def gather(parts, group):
    outs = []
    with _coalescing_manager(group=group, async_ops=True) as work:
        for part in parts:
            out = torch.empty(1024, device="cuda")
            dist.all_gather_into_tensor(out, part, group=group)
            outs.append(out)
    total = torch.cat(outs).sum()
    #       ^ collective-not-waited: `out` is used on the default stream by `cat` before the `all_gather_into_tensor`
    work.wait()
    return total.item()
#- good
import torch.distributed as dist
from torch.distributed.distributed_c10d import _coalescing_manager

def gather(parts, group):
    outs = []
    with _coalescing_manager(group=group, async_ops=True) as work:
        for part in parts:
            out = torch.empty(1024, device="cuda")
            dist.all_gather_into_tensor(out, part, group=group)
            outs.append(out)
    work.wait()
    return torch.cat(outs).sum().item()

#- case: coalesced collectives that are not asynchronous
import torch.distributed as dist

def gather(parts, group):
    outs = []
    with dist._coalescing_manager(group=group):
        for part in parts:
            out = torch.empty(1024, device="cuda")
            dist.all_gather_into_tensor(out, part, group=group)
            outs.append(out)
    return torch.cat(outs).sum().item()

#- case: how much a barrier waits for depends on the version of PyTorch, so it counts as all
import torch.distributed as dist

def ready(x, side):
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x.cuda() * 2
    dist.barrier()
    return y.sum().item()

#- case: a library that mirrors the collectives
import deepspeed.comm as dist

def average(x):
    grad = x.cuda()
    work = dist.all_reduce(grad, async_op=True)
    total = grad.sum()
    #       ^ collective-not-waited: `grad` is used on the default stream by `sum` before the `all_reduce`
    work.wait()
    return total.item()
#- good
import deepspeed.comm as dist

def average(x):
    grad = x.cuda()
    work = dist.all_reduce(grad, async_op=True)
    work.wait()
    return grad.sum().item()

#- case: the result of a functional collective goes to whoever uses it first
import torch.distributed._functional_collectives as funcol

def reduced(grad, group, other):
    total = funcol.reduce_scatter_tensor(grad.cuda(), "sum", 0, group)
    bias = funcol.all_reduce(grad.cuda().sum(dim=0), "sum", group)
    other(bias)
    return total, bias.view(-1)

#- case: picked with index tensors it is a copy, a slice is none
import torch.distributed as dist

def loss(logits, rows, columns, group):
    logits = logits.cuda()
    picked = logits[:, 0]
    handle = dist.all_reduce(picked, group=group, async_op=True)
    torch.exp(logits, out=logits)
  # ^ collective-not-waited
    handle.wait()
    return picked
#- good
import torch.distributed as dist

def loss(logits, rows, group):
    logits = logits.cuda()
    columns = torch.arange(1024, device="cuda")
    picked = logits[rows, columns]
    handle = dist.all_reduce(picked, group=group, async_op=True)
    torch.exp(logits, out=logits)
    handle.wait()
    return picked

#- case: a handle is a Work
import torch.distributed as dist

class Splits:
    def __init__(self, x, group, compiling):
        self.out = torch.empty_like(x)
        self.handle = None if compiling else dist.all_to_all_single(self.out, x, group=group, async_op=not compiling)

    def result(self):
        if isinstance(self.handle, dist.Work):
            self.handle.wait()
        return self.out.contiguous()

def exchange(x, group, compiling):
    return Splits(x, group, compiling).result()

#- case: two groups that the caller gives may be one
import torch.distributed as dist

def rings(x, inner, outer):
    block = x.cuda()
    first = dist.all_reduce(block, group=inner, async_op=True)
    second = dist.all_reduce(block, group=outer, async_op=True)
    first.wait()
    second.wait()
    return block

#- case: two groups of the program's own
import torch.distributed as dist

def rings(x, ranks):
    inner = dist.new_group(ranks[:4])
    outer = dist.new_group(ranks)
    block = x.cuda()
    first = dist.all_reduce(block, group=inner, async_op=True)
    second = dist.all_reduce(block, group=outer, async_op=True)
    #        ^ collective-not-waited
    first.wait()
    second.wait()
    return block
#- good
import torch.distributed as dist

def rings(x, ranks):
    inner = dist.new_group(ranks[:4])
    outer = dist.new_group(ranks)
    block = x.cuda()
    first = dist.all_reduce(block, group=inner, async_op=True)
    first.wait()
    second = dist.all_reduce(block, group=outer, async_op=True)
    second.wait()
    return block

#- case: a caller without a word of collectives reads what is on its way, past its own tests
from reducing import finish, start

class Sparsity:
    def step(self, scores, warm, due):
        if warm < due:
            return scores.cuda().sum()
        pending = []
        zeros = scores.cuda().count_nonzero()
        start(pending, zeros)
        total = zeros.item()
        #       ^ collective-not-waited
        finish(pending)
        return total
#- file: reducing.py
import torch.distributed as dist

def start(pending, value):
    pending.append(dist.reduce(value, dst=0, async_op=True))

def finish(pending):
    for handle in pending:
        handle.wait()
#- good
from reducing import finish, start

class Sparsity:
    def step(self, scores, warm, due):
        if warm < due:
            return scores.cuda().sum()
        pending = []
        zeros = scores.cuda().count_nonzero()
        start(pending, zeros)
        finish(pending)
        return zeros.item()

#- case: handles are waited for on one of several streams, all of which are joined
import torch.distributed as dist

class Reducer:
    def __init__(self):
        self.lanes = [torch.cuda.Stream() for _ in range(2)]
        self.turn = 0

    def start(self, bucket):
        here = torch.cuda.current_stream()
        self.turn = (self.turn + 1) % len(self.lanes)
        lane = self.lanes[self.turn]
        lane.wait_stream(here)
        with torch.cuda.stream(lane):
            work = dist.all_reduce(bucket, async_op=True)
            work.wait()

    def finish(self, bucket):
        self.start(bucket)
        here = torch.cuda.current_stream()
        for lane in self.lanes:
            here.wait_stream(lane)
        bucket.add_(1)

#- case: what a functional collective gives is split by somebody unknown
import torch.distributed._functional_collectives as funcol

def redistribute(local, placement, group):
    whole = funcol.all_reduce(local, "sum", group)
    shards = placement.split(whole, 2)
    return shards[0].clone()

#- case: a flag is tested in two ways
import torch.distributed as dist

def reduce(buffer, async_op: bool = False):
    work = dist.all_reduce(buffer, async_op=async_op)
    if async_op is True:
        return work
    buffer.div_(2)
    return None

#- case: what is asked for its size is not None
import torch.distributed as dist

def gathered(out, part, group=None):
    if group is None:
        group = dist.distributed_c10d._get_default_group()
    return dist.all_gather_into_tensor(out, part, group=group, async_op=True)

def flow(part, weight, group):
    work = None
    if group.size() == 1:
        whole = part
    else:
        whole = torch.empty_like(part)
        work = gathered(whole, part, group)
    if group.size() == 1:
        out = part.matmul(weight)
    else:
        out = part.matmul(weight)
        work.wait()
    return out, whole.t().matmul(part)

#- case: what is sent twice is read twice
import torch.distributed as dist

def tell(ids, src, group):
    message = torch.tensor(ids, device="cuda")
    sent = dist.isend(message, dst=1)
    told = dist.broadcast(message, src=src, group=group, async_op=True)
    sent.wait()
    told.wait()

#- case: whoever asserts that it is the source sends
import torch.distributed as dist

def gossip(rank, edges, message):
    pending = []
    for edge in edges:
        assert rank == edge.src
        pending.append(dist.broadcast(message, src=edge.src, group=edge.group, async_op=True))
    for work in pending:
        work.wait()

#- case: somebody unknown looks at what a functional collective gives, then two streams use it
import torch.distributed._functional_collectives as funcol

def flow(local, layout, group):
    whole = funcol.all_gather_tensor(local, 0, group)
    side = torch.cuda.Stream()
    layout.check(whole)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = whole * 2
    z = whole + 1
    torch.cuda.current_stream().wait_stream(side)
    return y + z

#- case: the source reads on while it sends
import torch.distributed as dist

def publish(rank, edge, host):
    message = host.cuda()
    assert rank == edge.src
    work = dist.broadcast(message, src=edge.src, group=edge.group, async_op=True)
    norm = message.sum()
    work.wait()
    return norm

#- case: every turn leaves something to wait for
import torch
import torch.distributed as dist

def ring(x, size, windows, dst, src):
    slots = [x.cuda(), torch.empty_like(x, device="cuda")]
    handles = []
    for window in range(windows):
        slots[0].mul_(2)
      # ^ collective-not-waited: is used on the default stream by `mul_` before the `isend`
        for i in range(size):
            for handle in handles:
                handle.wait()
            if i < size:
                handles = [dist.isend(slots[i % 2], dst), dist.irecv(slots[(i + 1) % 2], src)]
    for handle in handles:
        handle.wait()
    return slots[0]
#- good
import torch
import torch.distributed as dist

def ring(x, size, windows, dst, src):
    slots = [x.cuda(), torch.empty_like(x, device="cuda")]
    handles = []
    for window in range(windows):
        slots[0].mul_(2)
        for i in range(size):
            for handle in handles:
                handle.wait()
            if i < size - 1:
                handles = [dist.isend(slots[i % 2], dst), dist.irecv(slots[(i + 1) % 2], src)]
    return slots[0]

#- case: a callee that nobody knows is given the part that is on its way
import torch
import torch.distributed as dist

def ring(net, turns, src):
    buffer = torch.empty((2, 4, 4), device="cuda")
    handles = []
    for turn in range(turns):
        y = net(buffer[1])
          # ^ collective-not-waited: is used on the default stream by `net` before the `irecv`
        for handle in handles:
            handle.wait()
        buffer[0].copy_(y)
        handles = [dist.irecv(buffer[1], src)]
    for handle in handles:
        handle.wait()
    return buffer
#- good
import torch
import torch.distributed as dist

def ring(net, turns, src):
    buffer = torch.empty((2, 4, 4), device="cuda")
    handles = []
    for turn in range(turns):
        y = net(buffer[0])
        for handle in handles:
            handle.wait()
        buffer[1].copy_(y)
        handles = [dist.irecv(buffer[1], src)]
    for handle in handles:
        handle.wait()
    return buffer

#- case: futures of several collectives
import torch.distributed as dist

def average(x, y):
    grads = [x.cuda(), y.cuda()]
    futures = [dist.all_reduce(grad, async_op=True).get_future() for grad in grads]
    early = grads[0].sum()
    #       ^ collective-not-waited: `grads[0]` is used on the default stream by `sum` before the `all_reduce`
    torch.futures.wait_all(futures)
    return early.item()
#- good
import torch.distributed as dist

def average(x, y):
    grads = [x.cuda(), y.cuda()]
    futures = [dist.all_reduce(grad, async_op=True).get_future() for grad in grads]
    torch.futures.wait_all(futures)
    return grads[0].sum().item()

def average_with_one_future(x, y):
    grads = [x.cuda(), y.cuda()]
    futures = [dist.all_reduce(grad, async_op=True).get_future() for grad in grads]
    torch.futures.collect_all(futures).wait()
    return grads[1].sum().item()

#- case: somebody unknown gets a list of handles, of events, of streams
import library
import torch.distributed as dist

def averaged(x, y):
    grads = [x.cuda(), y.cuda()]
    library.finish({"handles": [dist.all_reduce(grad, async_op=True) for grad in grads]})
    return grads[0].sum().item()

def doubled(hosts):
    lanes = [torch.cuda.Stream(), torch.cuda.Stream()]
    parts, marks = [], []
    for lane, host in zip(lanes, hosts):
        with torch.cuda.stream(lane):
            parts.append(host.cuda(non_blocking=True) * 2)
            marks.append(lane.record_event())
    library.finish(marks)
    return torch.stack(parts).sum().item()

#- case: a helper passes on what it was given
import torch.distributed as dist

def exchanged(sent):
    received = torch.empty_like(sent, device="cuda")
    return received, dist.all_to_all_single(received, sent.contiguous(), async_op=True)

def detached(given):
    def one(item):
        copy = item.detach()
        copy.requires_grad = True
        return copy

    return [one(item) if isinstance(item, torch.Tensor) else item for item in given]

def sort(sent, several):
    received, handle = exchanged(sent.cuda())
    tokens, waiting = detached((received, handle))
    if several:
        waiting.wait()
        return tokens * 2
    return tokens.clone()
      #    ^ collective-not-waited
#- good
import torch.distributed as dist

def exchanged(sent):
    received = torch.empty_like(sent, device="cuda")
    return received, dist.all_to_all_single(received, sent.contiguous(), async_op=True)

def detached(given):
    def one(item):
        copy = item.detach()
        copy.requires_grad = True
        return copy

    return [one(item) if isinstance(item, torch.Tensor) else item for item in given]

def sort(sent, several):
    received, handle = exchanged(sent.cuda())
    tokens, waiting = detached((received, handle))
    waiting.wait()
    if several:
        return tokens * 2
    return tokens.clone()

#- case: one rank alone needs no collective
import library
import torch.distributed as dist

def gathered(given):
    ranks = library.get_tensor_model_parallel_world_size()
    out = given if ranks == 1 else torch.empty([given.shape[0] * ranks, 4], device="cuda")
    return out, dist.all_gather_into_tensor(out, given.contiguous(), async_op=True)

def scaled(x, weight, w):
    x = x.cuda()
    total, handle = gathered(x)
    narrow = x @ weight.cuda()
    wide = total @ w.cuda()
      #    ^ collective-not-waited
    return narrow + wide
#- good
import library
import torch.distributed as dist

def gathered(given):
    ranks = library.get_tensor_model_parallel_world_size()
    out = given if ranks == 1 else torch.empty([given.shape[0] * ranks, 4], device="cuda")
    return out, dist.all_gather_into_tensor(out, given.contiguous(), async_op=True)

def scaled(x, weight, w):
    x = x.cuda()
    total, handle = gathered(x)
    handle.wait()
    narrow = x @ weight.cuda()
    wide = total @ w.cuda()
    return narrow + wide

#- case: handles that hooks inside of a constructor leave to a method
import torch.distributed as dist

class Closure:
    def __init__(self, module):
        self.module = module
        self.handles = []

        def hook(param):
            self.handles.append(dist.all_reduce(param.grad, async_op=True))

        for param in self.module.parameters():
            if param.requires_grad:
                param.register_post_accumulate_grad_hook(hook)

    def finish(self):
        self.handles.clear()
      # ^ collective-not-waited

class Lambda(torch.nn.Module):
    def __init__(self, module):
        super().__init__()
        self.handles = []
        for p in module.parameters():
            p.register_post_accumulate_grad_hook(
                lambda p: self.handles.append((dist.all_reduce(p.grad, async_op=True), p))
            )

    def finish(self):
        for handle, param in self.handles:
            param.grad.div_(2)
          # ^ collective-not-waited
        self.handles.clear()
#- good
import torch.distributed as dist

class Closure:
    def __init__(self, module):
        self.module = module
        self.handles = []

        def hook(param):
            self.handles.append(dist.all_reduce(param.grad, async_op=True))

        for param in self.module.parameters():
            if param.requires_grad:
                param.register_post_accumulate_grad_hook(hook)

    def finish(self):
        for handle in self.handles:
            if handle is not None:
                handle.wait()
        self.handles.clear()

class Lambda(torch.nn.Module):
    def __init__(self, module):
        super().__init__()
        self.handles = []
        for p in module.parameters():
            p.register_post_accumulate_grad_hook(
                lambda p: self.handles.append((dist.all_reduce(p.grad, async_op=True), p))
            )

    def finish(self):
        for handle, param in self.handles:
            handle.wait()
            param.grad.div_(2)
        self.handles.clear()
#- good
import torch.distributed as dist

class Synchronized:
    def __init__(self, module):
        self.handles = []
        for param in module.parameters():
            param.register_post_accumulate_grad_hook(self.reduce)

    def reduce(self, param):
        self.handles.append(dist.all_reduce(param.grad, async_op=True))

    def finish(self):
        torch.cuda.synchronize()
        self.handles.clear()
#- good
import torch.distributed as dist

class Last:
    def __init__(self, module):
        self.handles = []
        for param in module.parameters():
            param.register_post_accumulate_grad_hook(self.reduce)

    def reduce(self, param):
        self.handles.append(dist.all_reduce(param.grad, async_op=True))

    def finish(self):
        self.handles[-1].wait()
        self.handles.clear()
#- good
import torch.distributed as dist

class Dropped:
    def __init__(self, module):
        self.handles = []
        for param in module.parameters():
            param.register_post_accumulate_grad_hook(self.reduce)

    def reduce(self, param):
        self.handles.append(dist.all_reduce(param.grad, async_op=True))

    def finish(self):
        for handle in self.handles:
            handle.wait()

    def reset(self):
        self.handles.clear()
#- case: a text is put together of one of a few
import torch.distributed as dist

def exchange(x, group, later=False, handles=None, kind=None):
    out = torch.empty_like(x)
    work = dist.all_to_all_single(out, x, group=group, async_op=later)
    if later:
        if kind in ("dq", "dk"):
            handles[kind] = work
            return out
    return out.permute(1, 0).contiguous()
         # ^ collective-not-waited

def apply(x, group, handles, kind):
    if kind in ("q", "v"):
        kind = "d" + kind
        return exchange(x, group, True, handles, kind)
    return exchange(x, group, False, handles, kind)
#- good
import torch.distributed as dist

def exchange(x, group, later=False, handles=None, kind=None):
    out = torch.empty_like(x)
    work = dist.all_to_all_single(out, x, group=group, async_op=later)
    if later:
        if kind in ("dq", "dk"):
            handles[kind] = work
            return out
    return out.permute(1, 0).contiguous()

def apply(x, group, handles, kind):
    if kind in ("q", "k"):
        kind = "d" + kind
        return exchange(x, group, True, handles, kind)
    return exchange(x, group, False, handles, kind)

#- case: handles are waited for by whoever has them from a list before that is cleared
import torch.distributed as dist

class Reducer:
    def __init__(self, parameters):
        self.works = []
        for p in parameters:
            p.register_post_accumulate_grad_hook(self.reduce)

    def reduce(self, p):
        self.works.append(dist.all_reduce(p.grad, async_op=True))

    def finish(self):
        print(self.works.clear())
        #     ^ collective-not-waited
#- good
import torch.distributed as dist

class Reducer:
    def __init__(self, parameters):
        self.works = []
        for p in parameters:
            p.register_post_accumulate_grad_hook(self.reduce)

    def reduce(self, p):
        self.works.append(dist.all_reduce(p.grad, async_op=True))

    def take(self):
        works = list(self.works)
        self.works.clear()
        return works

    def finish(self):
        for work in self.take():
            work.wait()
#- good
import torch.distributed as dist

class Reducer:
    def __init__(self, parameters):
        self.works = []
        for p in parameters:
            p.register_post_accumulate_grad_hook(self.reduce)

    def reduce(self, p):
        self.works.append(dist.all_reduce(p.grad, async_op=True))

    def finish(self):
        works = self.works[:]
        self.works.clear()
        for work in works:
            work.wait()
#- good
import torch.distributed as dist

class Reducer:
    def __init__(self, parameters):
        self.works = []
        for p in parameters:
            p.register_post_accumulate_grad_hook(self.reduce)

    def reduce(self, p):
        self.works.append(dist.all_reduce(p.grad, async_op=True))

    def finish(self):
        self.works.clear()
        torch.cuda.synchronize()

#- case: handles that a list lets go of are left to whoever else has them
import torch.distributed as dist

class Reducer:
    def __init__(self, parameters):
        self.works = []
        for p in parameters:
            p.register_post_accumulate_grad_hook(self.reduce)

    def reduce(self, p):
        self.works.append(dist.all_reduce(p.grad, async_op=True))

    def take(self):
        works = list(self.works)
        self.works.clear()
        return works

#- case: handles that a list lets go of are kept in another attribute
import torch.distributed as dist

class Reducer:
    def __init__(self, parameters):
        self.works = []
        self.earlier = []
        for p in parameters:
            p.register_post_accumulate_grad_hook(self.reduce)

    def reduce(self, p):
        self.works.append(dist.all_reduce(p.grad, async_op=True))

    def turn(self):
        self.earlier = list(self.works)
        self.works.clear()

#- case: an iterator gives out the handles that its list lets go of
import torch.distributed as dist

class Reducer:
    def __init__(self, parameters):
        self.works = []
        for p in parameters:
            p.register_post_accumulate_grad_hook(self.reduce)

    def reduce(self, p):
        self.works.append(dist.all_reduce(p.grad, async_op=True))

    def __next__(self):
        works = list(self.works)
        self.works.clear()
        return works

#- case: a list lets go of handles that stand in pairs with their parameters
import torch.distributed as dist

class Reducer:
    def __init__(self, parameters):
        self.works = []
        for p in parameters:
            p.register_post_accumulate_grad_hook(self.reduce)

    def reduce(self, p):
        self.works.append((p, dist.all_reduce(p.grad, async_op=True)))

    def finish(self):
        self.works.clear()
      # ^ collective-not-waited
#- good
import torch.distributed as dist

class Reducer:
    def __init__(self, parameters):
        self.works = []
        for p in parameters:
            p.register_post_accumulate_grad_hook(self.reduce)

    def reduce(self, p):
        self.works.append((p, dist.all_reduce(p.grad, async_op=True)))

    def finish(self):
        for p, work in self.works:
            work.wait()
        self.works.clear()

#- case: a list lets go of a handle whose tensor nobody uses any more
import torch.distributed as dist

def warm_up():
    x = torch.zeros(1, device="cuda")
    works = [dist.all_reduce(x, async_op=True)]
    works.clear()

#- case: a hook that was taken away does not run again
import torch.distributed as dist

def train(x):
    works = []
    def reduce(p):
        works.append(dist.all_reduce(p.grad, async_op=True))
    x.register_post_accumulate_grad_hook(reduce)
    (x * 2).sum().backward()
    works[0].wait()
    (x * 3).sum().backward()
    print(x.grad.mul_(0.5))
    #     ^ collective-not-waited
#- good
import torch.distributed as dist

def train(x):
    works = []
    def reduce(p):
        works.append(dist.all_reduce(p.grad, async_op=True))
    handle = x.register_post_accumulate_grad_hook(reduce)
    (x * 2).sum().backward()
    works[0].wait()
    handle.remove()
    (x * 3).sum().backward()
    x.grad.mul_(0.5)
