#- case: joined twice
side = torch.cuda.Stream()

def doubled(host):
    here = torch.cuda.current_stream()
    with torch.cuda.stream(side):
        y = host.cuda(non_blocking=True) * 2
    here.wait_stream(side)
  # ~ this wait covers it
    here.wait_stream(side)
  # ^ redundant-sync: `here` has waited for all of this already, and nothing new was queued since: this wait changes
  # | nothing
    print(y.sum().item())
#- fixed
side = torch.cuda.Stream()

def doubled(host):
    here = torch.cuda.current_stream()
    with torch.cuda.stream(side):
        y = host.cuda(non_blocking=True) * 2
    here.wait_stream(side)
    print(y.sum().item())

#- case: a stream waits for itself
side = torch.cuda.Stream()

def doubled(host):
    with torch.cuda.stream(side):
        y = host.cuda(non_blocking=True)
        between = side.record_event()
        side.wait_event(between)
      # ^ redundant-sync: `side` waits for its own work here, which changes nothing: one stream does its work in order
        z = y * 2
    torch.cuda.current_stream().wait_stream(side)
    print(z.sum().item())
#- good
side = torch.cuda.Stream()

def doubled(host):
    with torch.cuda.stream(side):
        y = host.cuda(non_blocking=True)
        z = y * 2
    torch.cuda.current_stream().wait_stream(side)
    print(z.sum().item())

#- case: the host waits for the device, and for its streams once more
def products(hosts):
    lanes = [torch.cuda.Stream() for _ in range(2)]
    found = []
    for lane in lanes:
        with torch.cuda.stream(lane):
            found.append(hosts.cuda(non_blocking=True) * 2)
    torch.cuda.synchronize()
    for lane in lanes:
        lane.synchronize()
      # ^ redundant-sync: The host has waited for all of this already
    print(found)
#- good
def products(hosts):
    lanes = [torch.cuda.Stream() for _ in range(2)]
    found = []
    for lane in lanes:
        with torch.cuda.stream(lane):
            found.append(hosts.cuda(non_blocking=True) * 2)
    torch.cuda.synchronize()
    print(found)

#- case: new work in between, an unseen call, a timer
import time
import library

side = torch.cuda.Stream()

def doubled(host):
    here = torch.cuda.current_stream()
    with torch.cuda.stream(side):
        y = host.cuda(non_blocking=True)
    here.wait_stream(side)
    with torch.cuda.stream(side):
        y.mul_(2)
    here.wait_stream(side)
    print(y.sum().item())

def unseen(host):
    here = torch.cuda.current_stream()
    with torch.cuda.stream(side):
        y = host.cuda(non_blocking=True)
        here.wait_stream(side)
        library.prefetch()
    here.wait_stream(side)
    print(y.sum().item())

def timed(host):
    y = host.cuda(non_blocking=True) * 2
    torch.cuda.synchronize()
    started = time.perf_counter()
    torch.cuda.synchronize()
    print(time.perf_counter() - started)

#- case: the second wait passes on what the first one did not know
def passed_on(host):
    here, a, b = torch.cuda.current_stream(), torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(a):
        y = host.cuda(non_blocking=True)
    here.wait_stream(a)
    with torch.cuda.stream(b):
        z = host.cuda(non_blocking=True)
    a.wait_stream(b)
    here.wait_stream(a)
    print((y + z).sum().item())

#- case: needed on the first turn only
def turns(host):
    here, side = torch.cuda.current_stream(), torch.cuda.Stream()
    x = host.cuda()
    found = []
    for _ in range(3):
        side.wait_stream(here)
        with torch.cuda.stream(side):
            found.append(x * 2)
    here.wait_stream(side)
    print(found)

#- case: a blocking copy makes no wait redundant
def doubled(host):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        y = host.cuda(non_blocking=True)
        total = y.sum().item()
    torch.cuda.current_stream().wait_stream(side)
    print(y, total)

#- case: an event within one stream, which then serves nobody
def summed(n):
    here = torch.cuda.current_stream()
    lane = torch.cuda.Stream()
    x = torch.randn(n, device="cuda")
    lane.wait_stream(here)
    with torch.cuda.stream(lane):
        y = x.tanh()
        between = lane.record_event()
        lane.wait_event(between)
      # ^ redundant-sync: `lane` waits for its own work here
        z = y.sum()
    here.wait_stream(lane)
    print(z.item())
#- fixed
def summed(n):
    here = torch.cuda.current_stream()
    lane = torch.cuda.Stream()
    x = torch.randn(n, device="cuda")
    lane.wait_stream(here)
    with torch.cuda.stream(lane):
        y = x.tanh()
        z = y.sum()
    here.wait_stream(lane)
    print(z.item())

#- case: only the wait in `finally` runs where the body raises
def upload(sources, target):
    stage = torch.empty(1024, pin_memory=True)
    lane = torch.cuda.Stream()
    here = torch.cuda.current_stream()
    lane.wait_stream(here)
    try:
        with torch.cuda.stream(lane):
            stage.copy_(target.cuda(), non_blocking=True)
        lane.synchronize()
        lane.synchronize()
      # ^ redundant-sync
    finally:
        print("done")
    return stage.tolist()
#- good
def upload(sources, target):
    stage = torch.empty(1024, pin_memory=True)
    lane = torch.cuda.Stream()
    here = torch.cuda.current_stream()
    lane.wait_stream(here)
    try:
        with torch.cuda.stream(lane):
            stage.copy_(target.cuda(), non_blocking=True)
        lane.synchronize()
    finally:
        lane.synchronize()
        print("done")
    return stage.tolist()

#- case: a call over several lines inside of its own stream
class Doubler:
    def __init__(self):
        self.side = torch.cuda.Stream()

    def run(self, host):
        x = host.cuda()
        with torch.cuda.stream(self.side):
            self.side.wait_stream(
          # ^ redundant-sync: `self.side` waits for its own work here
                torch.cuda.current_stream()
            )  # what comes before
            y = x * 2
        torch.cuda.current_stream().wait_stream(self.side)
        return y
#- fixed
class Doubler:
    def __init__(self):
        self.side = torch.cuda.Stream()

    def run(self, host):
        x = host.cuda()
        self.side.wait_stream(
            torch.cuda.current_stream()
        )  # what comes before
        with torch.cuda.stream(self.side):
            y = x * 2
        torch.cuda.current_stream().wait_stream(self.side)
        return y

#- case: a stack of contexts leaves what it has entered
from contextlib import ExitStack

def total(host):
    side = torch.cuda.Stream()
    stack = ExitStack()
    stack.enter_context(torch.cuda.stream(side))
    x = host.cuda(non_blocking=True)
    loaded = side.record_event()
    loaded.wait()
  # ^ redundant-sync
    y = x.sum()
    stack.close()
    torch.cuda.current_stream().wait_stream(side)
    y.record_stream(torch.cuda.current_stream())
    return y
#- good
from contextlib import ExitStack

def total(host):
    side = torch.cuda.Stream()
    with ExitStack() as stack:
        stack.enter_context(torch.cuda.stream(side))
        x = host.cuda(non_blocking=True)
        loaded = side.record_event()
    loaded.wait()
    x.record_stream(torch.cuda.current_stream())
    return x.sum()

#- case: the host waits for the current device, which another one is in a context of a device that nobody knows
class Warm:
    def __init__(self, net, device="cuda"):
        self.net = net
        self.index = torch.device(device).index
        self.x = torch.zeros(1024, device=device)

    def run(self):
        self.x.mul_(2)
        torch.cuda.synchronize()
      # ~ this wait covers it
        lane = torch.cuda.Stream()
        lane.wait_stream(torch.cuda.current_stream())
      # ^ redundant-sync: `lane` has waited for all of this already
        with torch.cuda.stream(lane):
            self.net(self.x)
        torch.cuda.synchronize()
#- good
class Warm:
    def __init__(self, net, device="cuda"):
        self.net = net
        self.index = torch.device(device).index
        self.x = torch.zeros(1024, device=device)

    def run(self):
        self.x.mul_(2)
        torch.cuda.synchronize()
        with torch.cuda.device(self.index):
            lane = torch.cuda.Stream()
            lane.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(lane):
                self.net(self.x)
            torch.cuda.synchronize()

#- case: contexts of one device, and of two
def both(x, first, second):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        y = x.cuda(non_blocking=True) * 2
    with torch.cuda.device(first):
        torch.cuda.synchronize()
    with torch.cuda.device(first):
        torch.cuda.synchronize()
      # ^ redundant-sync: The host has waited for all of this already
    return y
#- good
def both(x, first, second):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        y = x.cuda(non_blocking=True) * 2
    with torch.cuda.device(first):
        torch.cuda.synchronize()
    with torch.cuda.device(second):
        torch.cuda.synchronize()
    return y
#- good
def both(x, first, second):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        y = x.cuda(non_blocking=True) * 2
    with torch.cuda.device(first):
        torch.cuda.synchronize()
    torch.cuda.synchronize()
    return y

#- case: one device by its name, and two
def both(x, first, second):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        y = x.cuda(non_blocking=True) * 2
    torch.cuda.synchronize(first)
    torch.cuda.synchronize(first)
  # ^ redundant-sync: The host has waited for all of this already
    return y
#- good
def both(x, first, second):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        y = x.cuda(non_blocking=True) * 2
    torch.cuda.synchronize(first)
    torch.cuda.synchronize(second)
    return y

#- case: a device that is chosen for all that follows
def both(x, rank):
    torch.cuda.set_device(rank)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        y = x.cuda(non_blocking=True) * 2
    torch.cuda.synchronize()
    torch.cuda.synchronize()
  # ^ redundant-sync: The host has waited for all of this already
    return y
#- good
def both(x, rank):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        y = x.cuda(non_blocking=True) * 2
    torch.cuda.synchronize()
    torch.cuda.set_device(rank)
    torch.cuda.synchronize()
    return y

#- case: a stream that waits for itself, and one that waits for what is current on another device
def doubled(host):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        y = host.cuda(non_blocking=True)
        side.wait_stream(torch.cuda.current_stream())
      # ^ redundant-sync: `side` waits for its own work here
        z = y * 2
    torch.cuda.current_stream().wait_stream(side)
    return z
#- good
def doubled(host, other):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        y = host.cuda(non_blocking=True)
        with torch.cuda.device(other):
            side.wait_stream(torch.cuda.current_stream())
        z = y * 2
    torch.cuda.current_stream().wait_stream(side)
    return z
