#- case: numpy of a copy in flight
def fetch(x):
    host = x.cuda().to("cpu", non_blocking=True)
    #      ~ the copy into `host` is queued here, on the default stream
    return host.numpy().sum()
    #      ^ host-read-before-sync: `host` is read by the host in `sum` before the copy into it on the default stream
    # | is done: the host does not wait for the default stream in between
#- fixed
def fetch(x):
    host = x.cuda().to("cpu", non_blocking=True)
    torch.cuda.current_stream().synchronize()
    return host.numpy().sum()

#- case: an event is waited for by a stream only
def fetch(x):
    side = torch.cuda.Stream()
    x = x.cuda()
    side.wait_stream(torch.cuda.current_stream())
    out = torch.empty(1024, pin_memory=True)
    with torch.cuda.stream(side):
        out.copy_(x, non_blocking=True)
      # ~ the copy into `out` is queued here, on `side`
    done = side.record_event()
    torch.cuda.current_stream().wait_event(done)
    return out.tolist()
    #      ^ host-read-before-sync: `out` is read by the host in `tolist` before the copy into it on `side` is done:
    # | the host does not wait for `side` in between
#- fixed
def fetch(x):
    side = torch.cuda.Stream()
    x = x.cuda()
    side.wait_stream(torch.cuda.current_stream())
    out = torch.empty(1024, pin_memory=True)
    with torch.cuda.stream(side):
        out.copy_(x, non_blocking=True)
    done = side.record_event()
    torch.cuda.current_stream().wait_event(done)
    done.synchronize()
    return out.tolist()

#- case: the host waits for the event
def fetch(x):
    side = torch.cuda.Stream()
    x = x.cuda()
    side.wait_stream(torch.cuda.current_stream())
    out = torch.empty(1024, pin_memory=True)
    with torch.cuda.stream(side):
        out.copy_(x, non_blocking=True)
    done = side.record_event()
    done.synchronize()
    return out.tolist()

#- case: a blocking copy needs nothing
def fetch(x):
    host = x.cuda().to("cpu")
    return host.numpy().sum()

#- case: what lies in pinned memory is computed by the host itself
def offsets(x, lengths, more):
    side = torch.cuda.Stream()
    out = torch.empty(1024, dtype=torch.int32, pin_memory=True)
    with torch.cuda.stream(side):
        out.copy_(x.cuda(), non_blocking=True)
    return out.tolist()
    #      ^ host-read-before-sync
#- good
def offsets(x, lengths, more):
    out = torch.empty(1024, dtype=torch.int32, pin_memory=True)
    torch.subtract(lengths[:8], more, out=out)
    return out.tolist()

#- case: the end of a `with` waits between two methods
class Queue:
    def __init__(self):
        self.side = torch.cuda.Stream()
        self.rows = []

    def submit(self, x):
        host = torch.empty(1024, pin_memory=True)
        with torch.cuda.stream(self.side):
            host.copy_(x.cuda(), non_blocking=True)
        self.rows.append(host)
        return host.tolist()
        #      ^ host-read-before-sync
#- good
class Queue:
    def __init__(self):
        self.side = torch.cuda.Stream()
        self.rows = []

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.side.synchronize()

    def submit(self, x):
        host = torch.empty(1024, pin_memory=True)
        with torch.cuda.stream(self.side):
            host.copy_(x.cuda(), non_blocking=True)
        self.rows.append(host)

    def rows_of_all(self):
        return [row.tolist() for row in self.rows]

#- case: a backend of the host moves what lies in host memory
import torch.distributed as dist

def exchange(x, group):
    got = torch.empty(1024, device="cuda")
    work = dist.irecv(got, 1, group=group)
    return got.tolist()
    #      ^ collective-not-waited
#- good
import torch.distributed as dist

def exchange(x, group):
    got = torch.empty(1024, pin_memory=True)
    work = dist.irecv(got, 1, group=group)
    return got.tolist()

#- case: an unknown key of what may be a dictionary reads nothing
def to_host(value):
    if isinstance(value, torch.Tensor):
        return value.to("cpu", non_blocking=True)
    return {name: to_host(part) for name, part in value.items()}

def gathered(optimizer, ids):
    states = [to_host(optimizer.state_dict())]
    found = {}
    for state in states:
        for at in ids["params"]:
            if at in state["state"].keys():
                found[ids[at]] = state["state"][at]
    return found

#- case: a tensor that follows a parameter goes where its module was moved
class Patches(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(width, width))

    def forward(self, images):
        x = images.to(device=self.weight.device, non_blocking=True)
        return x.to(torch.float16) @ self.weight

#- case: a tensor that goes to the host
class Patches(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(width, width))

    def forward(self, images):
        x = (images.cuda() @ self.weight).to("cpu", non_blocking=True)
        return x.to(torch.float16)
        #      ^ host-read-before-sync
#- good
class Patches(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(width, width))

    def forward(self, images):
        x = (images.cuda() @ self.weight).to("cpu", non_blocking=True)
        torch.cuda.current_stream().synchronize()
        return x.to(torch.float16)

#- case: what a device without streams does instead
def materialize(weight, device):
    moved = weight.to(device, non_blocking=True)
    return moved.dequantize()

def forward(x, weight, bias, device: torch.device):
    if device.type != "cuda":
        out = torch.nn.functional.linear(x.to("cpu"), materialize(weight, torch.device("cpu")), bias)
        return out.to(x.device)
    return torch.nn.functional.linear(x, materialize(weight, device), bias)

#- case: the caller of two methods waits in between
class Statistics:
    def __init__(self):
        self.host = {}

    def add(self, name, value):
        self.host[name] = value

    def fetch(self, device):
        for name in device:
            self.host[name] = device[name].cuda().to("cpu", non_blocking=True)

    def value(self, name):
        return self.host[name].item()

#- case: a thread's own stream, made by who asks for it first
import threading

kept = threading.local()

def current():
    if not hasattr(kept, "value") or kept.value is None:
        torch.cuda.set_stream(torch.cuda.Stream())
        kept.value = torch.cuda.current_stream()
    return kept.value

def gather(x, y):
    stream = current()
    with torch.cuda.stream(stream):
        y.cuda().copy_(x)
    return y

#- case: a device that is the CPU only where nobody says more
class Loss:
    def __init__(self, device: str = "cpu"):
        self.device = device

    def __call__(self, frames, mask):
        mask = mask.to(device=self.device, non_blocking=True)
        frames = frames.cuda()
        return frames.sum() + mask.all()

#- case: what one call has fetched the next one reports, and its caller waits in between
class Meter:
    def __init__(self, width):
        self.row = torch.zeros(width, pin_memory=True)

    def fetch(self, loss):
        self.row.copy_(loss.cuda(), non_blocking=True)

    def report(self):
        return self.row.tolist()

#- case: a program on CUDA names the device of a metric that is on the CPU by default
class Metric:
    def __init__(self, device: str = "cpu"):
        self.device = device

    def update(self, scores):
        scores = scores.cuda().to(self.device, non_blocking=True)
        return scores.tolist()

#- case: whoever hands over the stream has made it the current one
import numpy as np
import torch

def store(rows: torch.Tensor, slot, stream: torch.cuda.Stream):
    host = [row.to("cpu", non_blocking=True) for row in rows.cuda()]
    stream.synchronize()
    for row in host:
        np.copyto(np.asarray(slot), row.numpy())

#- case: a stream that is selected for something else is another one
def store(rows: torch.Tensor, other: torch.Tensor, stream: torch.cuda.Stream):
    with torch.cuda.stream(stream):
        other.mul_(2)
    host = rows.cuda().to("cpu", non_blocking=True)
    stream.synchronize()
    return host.numpy().sum()
    #      ^ host-read-before-sync: `host` is read by the host in `sum` before
#- fixed
def store(rows: torch.Tensor, other: torch.Tensor, stream: torch.cuda.Stream):
    with torch.cuda.stream(stream):
        other.mul_(2)
    host = rows.cuda().to("cpu", non_blocking=True)
    stream.synchronize()
    torch.cuda.current_stream().synchronize()
    return host.numpy().sum()

#- case: memory goes back to the driver when the device is done
def encode(net, batches):
    kept = []
    for batch in batches:
        kept.append(net(batch.cuda()).to("cpu", non_blocking=True))
        torch.cuda.empty_cache()
    return torch.cat(kept).sum()

#- case: what a loader gives is on the host already
def evaluate(session, meter, data_loader):
    for image, target in meter.every(data_loader, 10):
        scores = session.score(image.cuda()).to("cpu", non_blocking=True)
        print(scores.numpy())
      # ^ host-read-before-sync
#- good
def evaluate(session, meter, data_loader):
    for image, target in meter.every(data_loader, 10):
        image = image.to("cpu", non_blocking=True)
        session.run(image.numpy())

#- case: brought to where a tensor of the host is
def positions(requests, total):
    out = torch.full((3, total), -1, dtype=torch.int32, device="cpu")
    for at, request in enumerate(requests):
        part = request.positions[:, :8].cuda()
        out[:, at : at + 8] = part.to(out.device, non_blocking=True)
      # ^ host-read-before-sync
    return out
#- good
def positions(requests, total):
    out = torch.full((3, total), -1, dtype=torch.int32, device="cpu")
    for at, request in enumerate(requests):
        part = request.positions[:, :8]
        out[:, at : at + 8] = part.to(out.device, non_blocking=True)
    return out

#- case: what a dataclass works out of its fields holds until something changes it
from dataclasses import dataclass

@dataclass
class Mover:
    device: str = "cpu"

    def __post_init__(self):
        self.target = torch.device("cuda") if self.device.startswith("cuda") else torch.device("cpu")
        self.fast = "cpu" in str(self.target.type)

    def move(self, x):
        x = x.to(self.target, non_blocking=self.fast)
        return x.to(dtype=torch.float16)
             # ^ host-read-before-sync
#- good
from dataclasses import dataclass

@dataclass
class Mover:
    device: str = "cpu"

    def __post_init__(self):
        self.target = torch.device("cuda") if self.device.startswith("cuda") else torch.device("cpu")
        self.fast = "cuda" in str(self.target.type)

    def move(self, x):
        x = x.to(self.target, non_blocking=self.fast)
        return x.to(dtype=torch.float16)

#- case: a hook of a module runs where the program calls the module
class Recorder:
    def __init__(self, module):
        self.side = torch.cuda.Stream()
        self.host = torch.empty(4, 8, pin_memory=True)
        module.register_forward_hook(self.note)

    def note(self, module, args, output):
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            self.host.copy_(output.detach(), non_blocking=True)
        output.record_stream(self.side)

    def read(self):
        return self.host.sum().item()
      #        ^ host-read-before-sync

def main():
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)).cuda()
    recorder = Recorder(model[0])
    model(torch.randn(4, 8, device="cuda"))
    print(recorder.read())

main()
#- good
class Recorder:
    def __init__(self, module):
        self.side = torch.cuda.Stream()
        self.host = torch.empty(4, 8, pin_memory=True)
        module.register_forward_hook(self.note)

    def note(self, module, args, output):
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            self.host.copy_(output.detach(), non_blocking=True)
        output.record_stream(self.side)

    def read(self):
        self.side.synchronize()
        return self.host.sum().item()

def main():
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)).cuda()
    recorder = Recorder(model[0])
    model(torch.randn(4, 8, device="cuda"))
    print(recorder.read())

main()
#- case: a device that is the host where there is no CUDA
def choose(name):
    cuda = name != "cpu" and torch.cuda.is_available()
    return torch.device("cuda:0" if cuda else "cpu")

def test(image, options):
    image = image.to(choose(options.device), non_blocking=True)
    return image.float() / 255

#- case: a device that the constructor chooses may be the host
class Scores:
    def __init__(self, model):
        self.model = model
        self.target = torch.device("cpu")

    def compute(self, x):
        y = self.model(x.cuda()).to(self.target, non_blocking=True)
        return y.tolist()
        #      ^ host-read-before-sync
#- good
class Scores:
    def __init__(self, model):
        self.model = model
        self.target = torch.device("cpu")

    def compute(self, x):
        y = self.model(x.cuda()).to(self.target)
        return y.tolist()

#- case: a blocking collective of host memory is done when it returns, one of the device is queued
import torch.distributed as dist

def gossip(n):
    message = torch.zeros(n, device="cuda")
    mine = torch.empty(n).pin_memory()
    while True:
        dist.broadcast(tensor=message, src=0)
        mine.copy_(message, non_blocking=True)
      # ~ the copy into `mine` is queued here, on the default stream
        print(mine.sum())
        #     ^ host-read-before-sync
#- good
import torch.distributed as dist

def gossip(n):
    message = torch.zeros(n).pin_memory()
    mine = torch.empty(n).pin_memory()
    while True:
        dist.broadcast(tensor=message, src=0)
        mine.copy_(message, non_blocking=True)
        print(mine.sum())

#- case: a blocking collective of host memory reads it at once
import torch.distributed as dist

def report(x):
    totals = torch.empty(8, pin_memory=True)
    totals.copy_(x.cuda(), non_blocking=True)
    dist.all_reduce(totals)
  # ^ host-read-before-sync: `totals` is read by the host in `all_reduce` before the copy into it on the default stream is
  # | done: the host does not wait for the default stream in between
    return totals.tolist()
#- fixed
import torch.distributed as dist

def report(x):
    totals = torch.empty(8, pin_memory=True)
    totals.copy_(x.cuda(), non_blocking=True)
    torch.cuda.current_stream().synchronize()
    dist.all_reduce(totals)
    return totals.tolist()

#- case: a bound of a slice that the device computes lets the host wait
def gather(net, loader):
    rows = torch.empty(1024, 64, pin_memory=True)
    for batch in loader:
        places = batch.places
        out = net(batch.x.cuda())
        rows[places[0] : places[-1] + 1] = out.tanh().to("cpu", non_blocking=True)
      # ^ host-read-before-sync
    return rows
#- good
def gather(net, loader):
    rows = torch.empty(1024, 64, pin_memory=True)
    for batch in loader:
        places = batch.places.cuda()
        out = net(batch.x.cuda())
        rows[places[0] : places[-1] + 1] = out.tanh().to("cpu", non_blocking=True)
    return rows

#- case: a place that the device computes lets the host wait, whatever it is a place of
def picked(x, names):
    best = x.cuda().argmax()
    row = x.cuda().to("cpu", non_blocking=True)
    return names, row.tolist()
    #             ^ host-read-before-sync
#- good
def picked(x, names):
    names = [name for name in names]
    best = x.cuda().argmax()
    row = x.cuda().to("cpu", non_blocking=True)
    return names[best], row.tolist()
#- good
def picked(x, names):
    best = x.cuda().argmax()
    row = x.cuda().to("cpu", non_blocking=True)
    return names[:best], row.tolist()
#- good
def picked(x, names):
    count = x.cuda().argmax()
    row = x.cuda().to("cpu", non_blocking=True)
    return [names[i] for i in range(count)], row.tolist()
#- good
def picked(x, names):
    best = x.cuda().argmax()
    table = torch.empty(8, 64, pin_memory=True)
    row = x.cuda().to("cpu", non_blocking=True)
    return table[best], row.tolist()

#- case: a bound that is computed on another stream says nothing of the copy
def gather(x, rows):
    side = torch.cuda.Stream()
    x = x.cuda()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        row = x.to("cpu", non_blocking=True)
    x.record_stream(side)
    end = x.argmax()
    return rows[:end], row.tolist()
    #                  ^ host-read-before-sync
#- good
def gather(x, rows):
    side = torch.cuda.Stream()
    x = x.cuda()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        row = x.to("cpu", non_blocking=True)
        end = x.argmax()
        return rows[:end], row.tolist()
#- case: what shows progress gives what it goes over
from tqdm import tqdm

def collect(images):
    hosts = [torch.empty(8, pin_memory=True) for _ in range(2)]
    for host in tqdm(hosts):
        host.copy_(images.cuda().mean(0), non_blocking=True)
    return [host.tolist() for host in hosts]
    #       ^ host-read-before-sync
#- good
from tqdm import tqdm

def collect(images):
    hosts = [torch.empty(8, pin_memory=True) for _ in range(2)]
    for host in tqdm(hosts):
        host.copy_(images.cuda().mean(0), non_blocking=True)
    torch.cuda.synchronize()
    return [host.tolist() for host in hosts]

#- case: batches whose progress is shown lie on the host
from torch.utils.data import DataLoader
from tqdm.auto import tqdm

def test(dataset, options):
    target = "cpu" if options.keep else torch.device(options.device)
    for batch in tqdm(DataLoader(dataset, pin_memory=True)):
        image, label = [part.to(target, non_blocking=True) for part in batch]
        print(image.float(), label)

#- case: batches whose progress is shown and counted lie on the host
from rich.progress import track
from torch.utils.data import DataLoader

def test(dataset, options):
    target = "cpu" if options.keep else torch.device(options.device)
    for i, batch in enumerate(track(DataLoader(dataset))):
        image, label = [part.to(target, non_blocking=True) for part in batch]
        print(i, image.float(), label)

#- case: whoever asks for the host has nothing on a device
def test(image, options):
    device = torch.device("cpu") if options.cpu else torch.device("cuda")
    return image.to(device, non_blocking=True).tolist()

#- case: whoever asks for the host, in a statement, has nothing on a device
def test(image, options):
    if options.cpu:
        device = torch.device("cpu")
    else:
        device = torch.device("cuda")
        torch.backends.cudnn.benchmark = True
    return image.to(device, non_blocking=True).tolist()

#- case: what was computed on a device is copied from there
def test(image, options):
    device = torch.device("cpu") if options.cpu else torch.device("cuda")
    scores = image.cuda() * 2
    return scores.to(device, non_blocking=True).tolist()
    #      ^ host-read-before-sync
#- good
def test(image, options):
    device = torch.device("cpu") if options.cpu else torch.device("cuda")
    scores = image.cuda() * 2
    return scores.to(device).tolist()

#- case: where results go is another question than whether there is a device
def test(scores, options):
    if options.cpu_offload:
        target = torch.device("cpu")
    else:
        target = torch.device("cuda")
    return scores.to(target, non_blocking=True).tolist()
    #      ^ host-read-before-sync
#- good
def test(scores, options):
    if options.cpu_offload:
        target = torch.device("cpu")
    else:
        target = torch.device("cuda")
    return scores.to(target).tolist()

#- case: batches that are asked for one by one lie on the host
from torch.utils.data import DataLoader
from tqdm import trange

def test(dataset, options):
    target = "cpu" if options.keep else torch.device(options.device)
    batches = iter(DataLoader(dataset, pin_memory=True))
    for _ in trange(options.steps, desc="test"):
        image, label = [part.to(target, non_blocking=True) for part in next(batches)]
        print(image.float(), label)
    for _ in range(10):
        image, label = [part.to(target, non_blocking=True) for part in next(batches)]
        print(image.float(), label)
