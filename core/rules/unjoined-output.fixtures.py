#- case: returned after the with
side = torch.cuda.Stream()

def scaled(x):
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x.cuda() / 255
        #   ~ `y` is written here, on `side`
    return y
  # ^ unjoined-output: `y` is returned before the `div` on `side` is done: no wait of the default stream for `side`
  # | lies between
#- fixed
side = torch.cuda.Stream()

def scaled(x):
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x.cuda() / 255
    torch.cuda.current_stream().wait_stream(side)
    return y

#- case: the caller's stream is named
side = torch.cuda.Stream()

def scaled(x):
    current = torch.cuda.current_stream()
    side.wait_stream(current)
    with torch.cuda.stream(side):
        y = x.cuda() / 255
        #   ~ `y` is written here, on `side`
    y.record_stream(current)
    return y
  # ^ unjoined-output: `y` is returned before the `div` on `side` is done: no wait of `current` for `side` lies
  # | between
#- fixed
side = torch.cuda.Stream()

def scaled(x):
    current = torch.cuda.current_stream()
    side.wait_stream(current)
    with torch.cuda.stream(side):
        y = x.cuda() / 255
    y.record_stream(current)
    current.wait_stream(side)
    return y

#- case: returned inside of the with
side = torch.cuda.Stream()

def upload(host):
    with torch.cuda.stream(side):
        x = host.to("cuda", non_blocking=True)
        #   ~ `x` is written here, on `side`
        return x
      # ^ unjoined-output: `x` is returned before the `copy` on `side` is done: no wait of the default stream for
      # | `side` lies between
#- fixed
side = torch.cuda.Stream()

def upload(host):
    caller = torch.cuda.current_stream()
    with torch.cuda.stream(side):
        x = host.to("cuda", non_blocking=True)
        caller.wait_stream(side)
        return x

#- case: the return itself is the work
side = torch.cuda.Stream()

def upload(host):
    with torch.cuda.stream(side):
        return host.to("cuda", non_blocking=True)
      # ^ unjoined-output: The result of `copy` is returned before the `copy` on `side` is done: no wait of the
      # | default stream for `side` lies between
        #      ~ the result of `copy` is written here, on `side`
#- fixed
side = torch.cuda.Stream()

def upload(host):
    caller = torch.cuda.current_stream()
    with torch.cuda.stream(side):
        result = host.to("cuda", non_blocking=True)
        caller.wait_stream(side)
        return result

#- case: yielded
def batches(hosts):
    side = torch.cuda.Stream()
    for host in hosts:
        with torch.cuda.stream(side):
            batch = host.to("cuda", non_blocking=True)
            #       ~ `batch` is allocated here, on `side`
            #       ~ `batch` is written here, on `side`
        yield batch
      # ^ missing-record-stream: `batch` is used on the default stream by the caller's work and dropped before that is
      # | done: its memory returns to `side` and can be handed out again there; neither a record_stream on the default
      # | stream nor a wait of `side` for the default stream protects it
      # ^ unjoined-output: `batch` is yielded before the `copy` on `side` is done: no wait of the default stream for
      # | `side` lies between
#- fixed
def batches(hosts):
    side = torch.cuda.Stream()
    for host in hosts:
        with torch.cuda.stream(side):
            batch = host.to("cuda", non_blocking=True)
        batch.record_stream(torch.cuda.current_stream())
        torch.cuda.current_stream().wait_stream(side)
        yield batch

#- case: the stream of an object
class Encoder:
    def __init__(self):
        self.lane = torch.cuda.Stream()

    def encode(self, x):
        self.lane.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.lane):
            code = x.cuda().sign()
            #      ~ `code` is written here, on `self.lane`
        return code
      # ^ unjoined-output: `code` is returned before the `sign` on `self.lane` is done: no wait of the default stream
      # | for `self.lane` lies between
#- fixed
class Encoder:
    def __init__(self):
        self.lane = torch.cuda.Stream()

    def encode(self, x):
        self.lane.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.lane):
            code = x.cuda().sign()
        torch.cuda.current_stream().wait_stream(self.lane)
        return code

#- case: joined
side = torch.cuda.Stream()

def scaled(x):
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x.cuda() / 255
    torch.cuda.current_stream().wait_stream(side)
    y.record_stream(torch.cuda.current_stream())
    return y

#- case: a known caller is given the return
side = torch.cuda.Stream()

def make():
    with torch.cuda.stream(side):
        y = torch.ones(1024, device="cuda")
        #   ~ `y` is written here, on `side`
    return y
  # ^ unjoined-output: `y` is returned before the `ones` on `side` is done: no wait of the default stream for `side`
  # | lies between

def main():
    print(make().sum().item())
    torch.cuda.synchronize()

main()
#- fixed
side = torch.cuda.Stream()

def make():
    with torch.cuda.stream(side):
        y = torch.ones(1024, device="cuda")
    torch.cuda.current_stream().wait_stream(side)
    return y

def main():
    print(make().sum().item())
    torch.cuda.synchronize()

main()


#- case: whoever gets the event with the tensor is given the order to wait for
side = torch.cuda.Stream()

def stage(x):
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x.cuda() * 2
        done = torch.cuda.Event()
        done.record(side)
        return y, done

#- case: an event of whichever device module
def launch(kernel, x, side, device):
    with torch.cuda.stream(side):
        x.record_stream(side)
        y = kernel(x)
        done = torch.get_device_module(device).Event()
        done.record(side)
        return y, done

#- case: a collective's handle goes with its buffer
import torch.distributed as dist

def start(buffer, parts):
    out = torch.empty(1024, device="cuda")
    work = dist.all_to_all_single(out, buffer, async_op=True)
    return work, out

#- case: what a hook for saved tensors brings back is used at once
class Offload(torch.autograd.graph.saved_tensors_hooks):
    def __init__(self):
        self.side = torch.cuda.Stream()

        def pack(x):
            return x.cpu().pin_memory()

        def unpack(host):
            with torch.cuda.stream(self.side):
                x = host.to("cuda", non_blocking=True)
            x.record_stream(torch.cuda.current_stream())
            return x
          # ^ unjoined-output

        super().__init__(pack, unpack)
#- good
class Offload(torch.autograd.graph.saved_tensors_hooks):
    def __init__(self):
        self.side = torch.cuda.Stream()

        def pack(x):
            return x.cpu().pin_memory()

        def unpack(host):
            with torch.cuda.stream(self.side):
                x = host.to("cuda", non_blocking=True)
            torch.cuda.current_stream().wait_stream(self.side)
            x.record_stream(torch.cuda.current_stream())
            return x

        super().__init__(pack, unpack)

#- case: the caller's own streams are the caller's to order
class Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, source, target, *tensors):
        here = torch.cuda.current_stream()
        copies = []
        with torch.cuda.stream(source), torch.cuda.stream(target):
            for x in tensors:
                y = x.to("cuda", non_blocking=True)
                copies.append(y)
                x.record_stream(source)
                y.record_stream(here)
        return tuple(copies)

#- case: a registry of the module holds the event to wait for
pending = {}
side = torch.cuda.Stream()

def fetch(host):
    done = torch.cuda.Event()
    pending[id(host)] = (done, host.shape)
    with torch.cuda.stream(side):
        x = host.to("cuda", non_blocking=True)
        done.record()
    return x

#- case: a handle that goes with its buffers inside of another one
import torch.distributed as dist
from dataclasses import dataclass

@dataclass
class Gathered:
    handle: object
    parts: tuple

    def wait(self):
        self.handle.wait()

def gather(buffer, group):
    out = torch.empty(1024, device="cuda")
    with dist._coalescing_manager(group=group, async_ops=True) as manager:
        dist.all_gather_into_tensor(out, buffer, group=group)
    return out
  # ^ unjoined-output
#- good
import torch.distributed as dist
from dataclasses import dataclass

@dataclass
class Gathered:
    handle: object
    parts: tuple

    def wait(self):
        self.handle.wait()

def gather(buffer, group):
    out = torch.empty(1024, device="cuda")
    with dist._coalescing_manager(group=group, async_ops=True) as manager:
        dist.all_gather_into_tensor(out, buffer, group=group)
    return out, Gathered(manager, (out, buffer))

#- case: an object keeps the handles for another method
import torch.distributed as dist

class Ring:
    def exchange(self, x, rank):
        got = torch.empty_like(x.cuda())
        dist.batch_isend_irecv([dist.P2POp(dist.irecv, got, rank)])
        return got
      # ^ unjoined-output
#- good
import torch.distributed as dist

class Ring:
    def __init__(self):
        self.requests = []

    def exchange(self, x, rank):
        got = torch.empty_like(x.cuda())
        self.requests = dist.batch_isend_irecv([dist.P2POp(dist.irecv, got, rank)])
        return got

    def wait(self):
        for request in self.requests:
            request.wait()

#- case: a pipeline that runs two turns beyond its items
import torch.distributed as dist

def exchange(inputs, group, side):
    outputs, works = [None] * len(inputs), [None] * len(inputs)
    for i in range(len(inputs) + 2):
        if 0 < i < len(inputs) + 1:
            outputs[i - 1] = torch.empty_like(inputs[i - 1].cuda())
            works[i - 1] = dist.all_to_all_single(outputs[i - 1], inputs[i - 1], group=group, async_op=True)
        if 1 < i < len(inputs) + 1:
            works[i - 2].wait()
    return outputs
  # ^ unjoined-output
#- good
import torch.distributed as dist

def exchange(inputs, group, side):
    outputs, works = [None] * len(inputs), [None] * len(inputs)
    for i in range(len(inputs) + 2):
        if 0 < i < len(inputs) + 1:
            outputs[i - 1] = torch.empty_like(inputs[i - 1].cuda())
            works[i - 1] = dist.all_to_all_single(outputs[i - 1], inputs[i - 1], group=group, async_op=True)
        if i > 1:
            works[i - 2].wait()
    return outputs

#- case: the consumer's stream is one that the object was given, and it waits
class Stage(torch.nn.Module):
    def __init__(self, layer: torch.nn.Linear, ahead: torch.cuda.Stream, main: torch.cuda.Stream):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8).cuda()
        self.ahead = ahead
        self.main = main

    def forward(self, x):
        with torch.cuda.stream(self.ahead):
            y = self.layer(torch.zeros(8, device="cuda"))
        self.main.wait_stream(self.ahead)
        y.record_stream(self.main)
        return y

#- case: who passes the stream is the one to wait for it
def upload(x, copier):
    here = torch.cuda.current_stream()
    out = torch.empty_like(x, device="cuda")
    with torch.cuda.stream(copier):
        copier.wait_stream(here)
        out.copy_(x, non_blocking=True)
    return out

#- case: another method of the object joins the stream before it uses what this one gave
from layers import Gate

class Residual(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gate = Gate(width)
        self.side = torch.cuda.Stream()

    def mix(self, hidden):
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            parts = self.gate(hidden).float()
        return hidden, parts

    def combine(self, hidden, parts):
        torch.cuda.current_stream().wait_stream(self.side)
        return hidden + parts

#- case: an event that the object shares with others is recorded behind the work
class Node:
    def __init__(self, forward, stream, event):
        self.forward_func = forward
        self.stream = stream
        self.event = event

    def forward(self, x):
        self.stream.wait_event(self.event)
        with torch.cuda.stream(self.stream):
            y = self.forward_func(x).float()
            self.event.record(self.stream)
        return y

#- case: what is returned beside it has a wait of its own
from layers import gather

class Handle:
    def __init__(self, inner):
        self.inner = inner

    def wait(self):
        self.inner.wait()

def gathered(shard):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        whole, inner = gather(shard.cuda())
        whole = whole.float()
    return whole, Handle(inner)

#- case: the wait goes out with the tensor
import torch.distributed as dist

def exchange(x, group=None):
    out = torch.empty_like(x)
    work = dist.all_to_all_single(out, x, group=group, async_op=True)
    return out, work.wait

#- case: events that an object keeps by number are waited for where the parts are fetched
class Shards:
    def __init__(self, reader, pool):
        self.reader = reader
        self.pool = pool
        self.side = torch.cuda.Stream()
        self.consumer = torch.cuda.current_stream()
        self.ready = {}
        self.parts = {}

    def move(self, index):
        with torch.cuda.stream(self.side):
            part = self.reader(index).cuda(non_blocking=True)
        done = torch.cuda.Event()
        done.record(self.side)
        self.ready[index] = done
        return part

    def start(self, index):
        def work():
            return self.move(index)

        self.parts[index] = self.pool.submit(work)

    def fetch(self, index):
        part = self.move(index)
        if index in self.ready:
            self.consumer.wait_event(self.ready.pop(index))
        return part

#- case: what is handed the tensor is not None
def upload(host, sink=None):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        y = host.cuda(non_blocking=True)
        if sink is not None:
            sink.begin(y)
    if sink is not None:
        torch.cuda.current_stream().wait_stream(side)
    sink.put(y)
    return y

#- case: one flag decides by two tests
def scaled(buffer, overlap: bool):
    side = torch.cuda.Stream()
    if overlap == False:
        y = buffer.cuda() * 2
    else:
        with torch.cuda.stream(side):
            y = buffer.cuda() * 2
    if overlap is not False:
        torch.cuda.current_stream().wait_stream(side)
    return y

#- case: nobody holds the handle when the function returns
import torch.distributed as dist

class Books:
    open = {}

def summed(x, later):
    y = x.detach().clone()
    work = dist.all_reduce(y, async_op=later)
    #      ~ `y` is written here, on the process group's stream
    if work:
        print("started", len(Books.open))
    return y
  # ^ unjoined-output: `y` is returned before the `all_reduce` on the process group's stream is done: no wait of the
  # | default stream for the process group's stream lies between
#- good
import torch.distributed as dist

class Books:
    open = {}

    def take(self, tensor):
        for work in self.open.pop(id(tensor)):
            work.wait()
        return tensor

def summed(x, later):
    y = x.detach().clone()
    work = dist.all_reduce(y, async_op=later)
    if work:
        Books.open[id(y)] = [work]
    return y

#- case: the module keeps the handle of the latest exchange
import torch.distributed as dist

latest = None

def exchanged(x):
    global latest
    y = torch.empty_like(x)
    latest = dist.all_to_all_single(y, x, async_op=True)
    return y

def finish():
    latest.wait()

#- case: the handle hangs on the tensor
import torch.distributed as dist

def whole(part, shape):
    y = torch.empty(shape, device="cuda")
    y._handle = dist.all_gather_into_tensor(y, part, async_op=True)
    return y

#- case: the stream is given out beside the tensor
streams = {}

def stream_for(key):
    if key not in streams:
        streams[key] = torch.cuda.Stream()
    return streams[key]

def fetched(host):
    stream = stream_for("in")
    with torch.cuda.stream(stream):
        x = host.to("cuda", non_blocking=True)
    return stream, x

#- case: an object keeps what one method makes, and another gives it out
class Ranker:
    def __init__(self):
        self.lane = torch.cuda.Stream()
        self.ranks = None

    def begin(self, logits):
        self.lane.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.lane):
            self.ranks = logits.argsort()
        logits.record_stream(self.lane)

    def finish(self):
        here = torch.cuda.current_stream()
        self.ranks.record_stream(here)
        return self.ranks
     #  ^ unjoined-output

def rank(count):
    ranker = Ranker()
    for _ in range(count):
        ranker.begin(torch.randn(1 << 16, device="cuda"))
        print(ranker.finish().sum().item())

rank(3)
#- good
class Ranker:
    def __init__(self):
        self.lane = torch.cuda.Stream()
        self.ranks = None

    def begin(self, logits):
        self.lane.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.lane):
            self.ranks = logits.argsort()
        logits.record_stream(self.lane)

    def finish(self):
        here = torch.cuda.current_stream()
        here.wait_stream(self.lane)
        self.ranks.record_stream(here)
        return self.ranks

def rank(count):
    ranker = Ranker()
    for _ in range(count):
        ranker.begin(torch.randn(1 << 16, device="cuda"))
        print(ranker.finish().sum().item())

rank(3)

#- case: an object's thread hands out tensors with events, which nobody waits for
import queue
import threading

class Uploader:
    def __init__(self, device):
        self.device = torch.device(device)
        self.slab = torch.empty(1024, pin_memory=True)
        self.lane = torch.cuda.Stream(self.device)
        self.inbox = queue.Queue(4)
        self.outbox = queue.Queue(4)
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        sent = None
        while True:
            chunk = self.inbox.get()
            if chunk is None:
                return
            if sent is not None:
                sent.synchronize()
            self.slab.copy_(chunk)
            with torch.cuda.stream(self.lane):
                x = self.slab.to(self.device, non_blocking=True)
                sent = torch.cuda.Event()
                sent.record()
            self.outbox.put((x, sent))

    def put(self, chunk):
        self.inbox.put(chunk)

    def take(self):
        x, sent = self.outbox.get()
        x.record_stream(torch.cuda.current_stream())
        return x
      # ^^^^^^^^ unjoined-output
#- good
import queue
import threading

class Uploader:
    def __init__(self, device):
        self.device = torch.device(device)
        self.slab = torch.empty(1024, pin_memory=True)
        self.lane = torch.cuda.Stream(self.device)
        self.inbox = queue.Queue(4)
        self.outbox = queue.Queue(4)
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        sent = None
        while True:
            chunk = self.inbox.get()
            if chunk is None:
                return
            if sent is not None:
                sent.synchronize()
            self.slab.copy_(chunk)
            with torch.cuda.stream(self.lane):
                x = self.slab.to(self.device, non_blocking=True)
                sent = torch.cuda.Event()
                sent.record()
            self.outbox.put((x, sent))

    def put(self, chunk):
        self.inbox.put(chunk)

    def take(self):
        x, sent = self.outbox.get()
        torch.cuda.current_stream().wait_event(sent)
        x.record_stream(torch.cuda.current_stream())
        return x

#- case: a stream that callers may leave out, on which the function begins its work
from contextlib import nullcontext

def gather(table, index, stream=None):
    here = torch.cuda.current_stream()
    bounded = index.clamp(0, 7)
    if stream is not None:
        stream.wait_stream(here)
    with nullcontext() if stream is None else torch.cuda.stream(stream):
        rows = table.index_select(0, bounded)
    if stream is not None:
        bounded.record_stream(stream)
        rows.record_stream(here)
    return rows
  # ^^^^^^^^^^^ unjoined-output
#- good
from contextlib import nullcontext

def gather(table, index, stream=None):
    here = torch.cuda.current_stream()
    bounded = index.clamp(0, 7)
    if stream is not None:
        stream.wait_stream(here)
    with nullcontext() if stream is None else torch.cuda.stream(stream):
        rows = table.index_select(0, bounded)
    if stream is not None:
        here.wait_stream(stream)
        rows.record_stream(here)
    return rows
#- good
def gather(table, index, stream):
    here = torch.cuda.current_stream()
    bounded = index.clamp(0, 7)
    stream.wait_stream(here)
    with torch.cuda.stream(stream):
        rows = table.index_select(0, bounded)
    bounded.record_stream(stream)
    return rows
#- good
def upload(host, stream=None):
    x = torch.empty(8, device="cuda")
    if stream is None:
        return x.copy_(host)
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        x.copy_(host, non_blocking=True)
    x.record_stream(torch.cuda.current_stream())
    return x
#- good
def doubled(x, stream=None):
    if stream is None:
        return x.exp()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        y = x.exp()
    x.record_stream(stream)
    return y

#- case: who joins what it has begun itself joins nothing of another method
class Experts(torch.nn.Module):
    def __init__(self, shared, routed, lane):
        super().__init__()
        self.shared = shared
        self.routed = routed
        self.lane = lane

    def both(self, hidden):
        self.lane.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.lane):
            shared = self.shared(hidden)
        routed = self.routed(hidden)
        torch.cuda.current_stream().wait_stream(self.lane)
        return shared + routed

    def apart(self, hidden):
        self.lane.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.lane):
            up = self.shared.up(hidden)
        torch.cuda.current_stream().wait_stream(self.lane)
        routed = self.routed(hidden)
        self.lane.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.lane):
            shared = self.shared.down(up)
        return routed, shared
      # ^^^^^^^^^^^^^^^^^^^^^ unjoined-output
#- good
class Experts(torch.nn.Module):
    def __init__(self, shared, routed, lane):
        super().__init__()
        self.shared = shared
        self.routed = routed
        self.lane = lane

    def both(self, hidden):
        self.lane.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.lane):
            shared = self.shared(hidden)
        routed = self.routed(hidden)
        torch.cuda.current_stream().wait_stream(self.lane)
        return shared + routed

    def apart(self, hidden):
        self.lane.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.lane):
            up = self.shared.up(hidden)
        torch.cuda.current_stream().wait_stream(self.lane)
        routed = self.routed(hidden)
        self.lane.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.lane):
            shared = self.shared.down(up)
        torch.cuda.current_stream().wait_stream(self.lane)
        return routed, shared
#- good
class Experts(torch.nn.Module):
    def __init__(self, shared, routed, lane):
        super().__init__()
        self.shared = shared
        self.routed = routed
        self.lane = lane

    def settle(self):
        torch.cuda.current_stream().wait_stream(self.lane)

    def apart(self, hidden):
        self.lane.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.lane):
            up = self.shared.up(hidden)
        torch.cuda.current_stream().wait_stream(self.lane)
        routed = self.routed(hidden)
        self.lane.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.lane):
            shared = self.shared.down(up)
        return routed, shared
#- case: the number of ranks is asked for twice
import torch.distributed as dist

grids = {}
name = None

def grid():
    if grids.get(name, None) is None:
        raise RuntimeError("no grid")
    return grids[name]

def step(logits, pad):
    logprob, tokens = logits.float(), logits.argmax(-1)
    if grid().get_world_size() > 1:
        handle = dist.all_reduce(logprob, async_op=True)
        dist.all_reduce(tokens)
    if pad is not None:
        tokens.fill_(pad)
    if grid().get_epoch() > 1:
        handle.wait()
    return tokens, logprob
  # ^ unjoined-output
#- good
import torch.distributed as dist

grids = {}
name = None

def grid():
    if grids.get(name, None) is None:
        raise RuntimeError("no grid")
    return grids[name]

def step(logits, pad):
    logprob, tokens = logits.float(), logits.argmax(-1)
    if grid().get_world_size() > 1:
        handle = dist.all_reduce(logprob, async_op=True)
        dist.all_reduce(tokens)
    if pad is not None:
        tokens.fill_(pad)
    if grid().get_world_size() > 1:
        handle.wait()
    return tokens, logprob

#- case: a callback leaves its handle in a list around it
import library
import torch.distributed as dist

class Stage:
    def receive(self, info, requests):
        work = dist.irecv(info.buffer, info.source)
        requests.append(info)
        return info.buffer

    def receiving(self, requests):
        return lambda info: self.receive(info, requests)
                          # ^ unjoined-output

    def gradients(self, infos):
        requests = []
        given = library.map_aggregate(infos, self.receiving(requests))
        for request in requests:
            request.wait()
        return given
#- good
import library
import torch.distributed as dist

class Stage:
    def receive(self, info, requests):
        work = dist.irecv(info.buffer, info.source)
        requests.append(work)
        return info.buffer

    def receiving(self, requests):
        return lambda info: self.receive(info, requests)

    def gradients(self, infos):
        requests = []
        given = library.map_aggregate(infos, self.receiving(requests))
        for request in requests:
            request.wait()
        return given

#- case: a flag that nobody turns; torch's own function has one of another
import torch.distributed as dist

class Group:
    def broadcast(self, x, later=False):
        x = x.contiguous()
        dist.broadcast(x, src=0, async_op=later)
        return x
      # ^ unjoined-output

def share(group, x, y):
    side = torch.cuda.Stream()
    handle = dist.broadcast(y, 0, True)
    handle.wait()
    return group.broadcast(x), side.record_event()
#- good
import torch.distributed as dist

class Group:
    def broadcast(self, x, later=False):
        x = x.contiguous()
        handle = dist.broadcast(x, src=0, async_op=later)
        if later:
            return x, handle
        return x

def share(group, x, y):
    side = torch.cuda.Stream()
    handle = dist.broadcast(y, 0, True)
    handle.wait()
    return group.broadcast(x), side.record_event()

#- case: the rank that does not wait may be the one that only sends
import torch.distributed as dist

class Stage:
    def __init__(self, order, rank, final):
        self.order, self.rank, self.final = order, rank, final

    def hand_on(self, x):
        x = x.cuda()
        place = self.order.index(self.rank)
        operations = []
        if place > 0:
            operations.append(dist.P2POp(dist.irecv, x, self.order[place - 1]))
        if place < len(self.order) - 1:
            operations.append(dist.P2POp(dist.isend, x, self.order[place + 1]))
        requests = dist.batch_isend_irecv(operations)
        if self.rank != self.final:
            for request in requests:
                request.wait()
        return x

#- case: who returns early may only send
import torch.distributed as dist

def hand_on(x, rank, previous, next_, is_final):
    x = x.cuda()
    operations = [dist.P2POp(dist.isend, x, next_)]
    if previous is not None:
        operations = [dist.P2POp(dist.irecv, x, previous)]
    requests = dist.batch_isend_irecv(operations)
    if is_final:
        return x
    for request in requests:
        request.wait()
    return x

#- case: no rank waits
import torch.distributed as dist

class Stage:
    def __init__(self, order, rank):
        self.order, self.rank = order, rank

    def hand_on(self, x):
        x = x.cuda()
        place = self.order.index(self.rank)
        operations = []
        if place > 0:
            operations.append(dist.P2POp(dist.irecv, x, self.order[place - 1]))
        if place < len(self.order) - 1:
            operations.append(dist.P2POp(dist.isend, x, self.order[place + 1]))
        dist.batch_isend_irecv(operations)
        return x
      # ^ unjoined-output
#- good
import torch.distributed as dist

class Stage:
    def __init__(self, order, rank):
        self.order, self.rank = order, rank

    def hand_on(self, x):
        x = x.cuda()
        place = self.order.index(self.rank)
        operations = []
        if place > 0:
            operations.append(dist.P2POp(dist.irecv, x, self.order[place - 1]))
        if place < len(self.order) - 1:
            operations.append(dist.P2POp(dist.isend, x, self.order[place + 1]))
        for request in dist.batch_isend_irecv(operations):
            request.wait()
        return x

#- case: each rank receives, and one does not wait
import torch.distributed as dist

def turn(x, rank, final):
    got = torch.empty_like(x.cuda())
    operations = [dist.P2POp(dist.irecv, got, rank - 1), dist.P2POp(dist.isend, x, rank + 1)]
    requests = dist.batch_isend_irecv(operations)
    if rank != final:
        for request in requests:
            request.wait()
    return got
  # ^ unjoined-output
#- good
import torch.distributed as dist

def turn(x, rank):
    got = torch.empty_like(x.cuda())
    operations = [dist.P2POp(dist.irecv, got, rank - 1), dist.P2POp(dist.isend, x, rank + 1)]
    for request in dist.batch_isend_irecv(operations):
        request.wait()
    return got

#- case: the rank that waits is known to be the one that does not receive
import torch.distributed as dist

def hand_on(x, rank):
    x = x.cuda()
    if rank > 0:
        operations = [dist.P2POp(dist.irecv, x, rank - 1)]
    else:
        operations = [dist.P2POp(dist.isend, x, rank + 1)]
    requests = dist.batch_isend_irecv(operations)
    if rank == 0:
        for request in requests:
            request.wait()
    return x
  # ^ unjoined-output
#- good
import torch.distributed as dist

def hand_on(x, rank):
    x = x.cuda()
    if rank > 0:
        operations = [dist.P2POp(dist.irecv, x, rank - 1)]
    else:
        operations = [dist.P2POp(dist.isend, x, rank + 1)]
    requests = dist.batch_isend_irecv(operations)
    if rank > 0:
        for request in requests:
            request.wait()
    return x
