#- case: only one of two marks is waited for
def flow(host, side):
    frames = host.cuda()
    here = torch.cuda.current_stream()
    started, ended = torch.cuda.Event(), torch.cuda.Event()
    side.wait_stream(here)
    with torch.cuda.stream(side):
        started.record()
      # ^ unused-event: `started` is recorded on `side`, but nothing ever waits for it, asks it or times with it
        y = frames * 2
        ended.record()
    here.wait_event(ended)
    print(y.sum().item())
#- fixed
def flow(host, side):
    frames = host.cuda()
    here = torch.cuda.current_stream()
    started, ended = torch.cuda.Event(), torch.cuda.Event()
    side.wait_stream(here)
    with torch.cuda.stream(side):
        y = frames * 2
        ended.record()
    here.wait_event(ended)
    print(y.sum().item())

#- case: a list of marks
def flow(host, side):
    frames = host.cuda()
    here = torch.cuda.current_stream()
    marks = [torch.cuda.Event() for _ in range(3)]
    side.wait_stream(here)
    for mark in marks:
        with torch.cuda.stream(side):
            frames.mul_(2)
        mark.record(side)
      # ^ unused-event: `mark` is recorded on `side`, but nothing ever waits for it
    here.wait_stream(side)
    print(frames.sum().item())
#- fixed
def flow(host, side):
    frames = host.cuda()
    here = torch.cuda.current_stream()
    marks = [torch.cuda.Event() for _ in range(3)]
    side.wait_stream(here)
    for mark in marks:
        with torch.cuda.stream(side):
            frames.mul_(2)
    here.wait_stream(side)
    print(frames.sum().item())

#- case: a timing
def timed(host):
    a = host.cuda()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    b = a @ a
    end.record()
    torch.cuda.synchronize()
    print(begin.elapsed_time(end), b.sum().item())

#- case: asked, returned, kept, handed over
import library

class Copier:
    def copy(self, host, side):
        self.done = torch.cuda.Event()
        with torch.cuda.stream(side):
            x = host.to("cuda", non_blocking=True)
            self.done.record()
        torch.cuda.current_stream().wait_stream(side)
        return x

def polled(side):
    done = side.record_event()
    while not done.query():
        pass

def returned(side):
    done = torch.cuda.Event()
    done.record(side)
    return done

def handed(side):
    done = side.record_event()
    library.wait_for(done)

#- case: waited for on some paths
def flow(host, side, early):
    done = torch.cuda.Event()
    with torch.cuda.stream(side):
        x = host.to("cuda", non_blocking=True)
        done.record()
    if early:
        torch.cuda.current_stream().wait_event(done)
    else:
        torch.cuda.synchronize()
    print(x.sum().item())

#- case: a struct that is returned holds it
import msgspec

class Table(msgspec.Struct):
    rows: torch.Tensor
    ready: torch.cuda.Event

def build(host):
    rows = host.cuda()
    side = torch.cuda.Stream()
    ready = torch.cuda.Event()
    ready.record()
  # ^ unused-event
    return rows
#- good
import msgspec

class Table(msgspec.Struct):
    rows: torch.Tensor
    ready: torch.cuda.Event

def build(host):
    rows = host.cuda()
    ready = torch.cuda.Event()
    ready.record()
    return Table(rows=rows, ready=ready)

#- case: an object that its metaclass hands out again holds it
class Uploads:
    def __init__(self):
        self.lane = torch.cuda.Stream()
        self.events = {}

def upload(region):
    done = torch.cuda.Event()
    done.record(Uploads().lane)
  # ^ unused-event
    Uploads().events[region] = done
#- good
class Single(type):
    made = {}

    def __call__(cls):
        if cls not in cls.made:
            cls.made[cls] = super().__call__()
        return cls.made[cls]

class Uploads(metaclass=Single):
    def __init__(self):
        self.lane = torch.cuda.Stream()
        self.events = {}

def upload(region):
    done = torch.cuda.Event()
    done.record(Uploads().lane)
    Uploads().events[region] = done

#- case: kept in a place that a list has on another path
class Ring:
    def __init__(self, last, depth):
        self.last = last
        self.slots = [] if last else [None] * depth

    def receive(self, host):
        done = torch.cuda.Event()
        done.record()
      # ^ unused-event
        return host.cuda()
#- good
class Ring:
    def __init__(self, last, depth):
        self.last = last
        self.slots = [] if last else [None] * depth

    def receive(self, host):
        done = torch.cuda.Event()
        done.record()
        self.slots[-1] = (done, host.cuda())

#- case: kept at a place that is not known, and waited for by the next round
def flow(batches, slots):
    side = torch.cuda.Stream()
    marks = [None for _ in range(slots)]
    for turn, batch in enumerate(batches):
        x = batch.cuda()
        if marks[turn % slots]:
            side.wait_event(marks[turn % slots])
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            x.mul_(2)
        torch.cuda.current_stream().wait_stream(side)
        mark = torch.cuda.Event()
        mark.record()
        marks[(turn - 1) % slots] = mark
        print(x.sum().item())

#- case: a thread of a pool waits for it, in a turn that comes later
from concurrent.futures import ThreadPoolExecutor

def upload(parts, target):
    lane = torch.cuda.Stream()
    staging = [torch.empty(1024, pin_memory=True) for _ in range(2)]
    done = [None, None]

    def fill(slot, part):
        if done[slot] is not None:
            done[slot].synchronize()
        staging[slot].copy_(part)

    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(fill, slot, parts[slot]) for slot in range(2)]
        with torch.cuda.stream(lane):
            for i in range(len(parts)):
                waiting[i % 2].result()
                target[i].copy_(staging[i % 2], non_blocking=True)
                event = torch.cuda.Event()
                event.record(lane)
                done[i % 2] = event
    lane.synchronize()

#- case: hooks leave events in lists of the function that registers them
def timed(block, x):
    rows = []

    def before(module, given):
        start = torch.cuda.Event(enable_timing=True)
        start.record()
        rows.append([start])

    def after(module, given, result):
        end = torch.cuda.Event(enable_timing=True)
        end.record()
        rows[-1].append(end)

    handles = [block.register_forward_pre_hook(before), block.register_forward_hook(after)]
    block(x)
    torch.cuda.synchronize()
    for handle in handles:
        handle.remove()
    return sum(start.elapsed_time(end) for start, end in rows)

#- case: left on an object that somebody else keeps
class Loader:
    def __init__(self, pool):
        self.pool = pool
        self.side = torch.cuda.Stream()

    def fetch(self, place, rows):
        slot = self.pool.slot_at(place)
        ready = torch.cuda.Event()
        with torch.cuda.stream(self.side):
            slot.rows.copy_(rows, non_blocking=True)
            ready.record(self.side)
        slot.ready = ready
        return place

#- case: a later turn of the loop waits for it
def scatter(batches, pools, side, transport, target):
    done = [torch.cuda.Event(), torch.cuda.Event()]
    recorded = [False, False]
    now, before = 0, None
    for batch in batches:
        if before is not None:
            with torch.cuda.stream(side):
                target.copy_(before, non_blocking=True)
            done[1 - now].record(side)
          # ^ unused-event
            recorded[1 - now] = True
        before, now = pools[now].take(batch), 1 - now
    side.synchronize()
#- good
def scatter(batches, pools, side, transport, target):
    done = [torch.cuda.Event(), torch.cuda.Event()]
    recorded = [False, False]
    now, before = 0, None
    for batch in batches:
        if recorded[now] and transport is not None:
            transport.wait_event(done[now])
        if before is not None:
            with torch.cuda.stream(side):
                target.copy_(before, non_blocking=True)
            done[1 - now].record(side)
            recorded[1 - now] = True
        before, now = pools[now].take(batch), 1 - now
    side.synchronize()

#- case: the function gives it to whoever wants it, and one caller does not
class Channel:
    def __init__(self, agent):
        self.agent = agent
        self.lane = torch.cuda.Stream()

    def submit(self, buffers):
        self.agent.read(buffers, self.lane.cuda_stream)
        done = torch.cuda.Event()
        done.record(self.lane)
        return done

    def read(self, buffers):
        self.submit(buffers)
        self.lane.synchronize()
        return len(buffers)

#- case: a part that only some objects have takes it
from library import Indexer

class Attention(torch.nn.Module):
    def __init__(self, config, lane):
        super().__init__()
        self.q = torch.nn.Linear(8, 8)
        self.lane = lane
        self.indexer = None
        if config.ratio in (4, 128):
            if config.ratio == 4:
                self.indexer = Indexer(config)

    def forward(self, x):
        here = torch.cuda.current_stream()
        q = self.q(x)
        ready = here.record_event()
        if self.indexer is not None:
            with torch.cuda.stream(self.lane):
                self.indexer(x=x, q=q, ready=ready)
            here.wait_stream(self.lane)
        return q

#- case: an event of a place that comes round later than the turns that are looked at
def total(hosts, count):
    side = torch.cuda.Stream()
    current = torch.cuda.current_stream()
    slots = [torch.empty(64, device="cuda") for _ in range(4)]
    side.wait_stream(current)
    sums = []
    for i in range(count):
        with torch.cuda.stream(side):
            slots[0].copy_(hosts[i], non_blocking=True)
            full = side.record_event()
        current.wait_event(full)
        sums.append(slots[0].sum())
        side.wait_stream(current)
        read = current.record_event()
        #      ^ unused-event
    return sums
#- good
def total(hosts, count):
    side = torch.cuda.Stream()
    current = torch.cuda.current_stream()
    slots = [torch.empty(64, device="cuda") for _ in range(4)]
    read = [None] * 4
    side.wait_stream(current)
    sums = []
    for i in range(count):
        at = i % 4
        with torch.cuda.stream(side):
            if read[at] is not None:
                side.wait_event(read[at])
            slots[at].copy_(hosts[i], non_blocking=True)
            full = side.record_event()
        current.wait_event(full)
        sums.append(slots[at].sum())
        read[at] = current.record_event()
    return sums
