#- case: nothing records it
copy = torch.cuda.Stream()

def load(host):
    ready = torch.cuda.Event()
    with torch.cuda.stream(copy):
        x = host.to("cuda", non_blocking=True)
    torch.cuda.current_stream().wait_event(ready)
  # ^ event-never-recorded: The default stream waits for `ready`, which nothing has recorded yet: the wait has no
  # | effect
    return x.sum().item()
#- fixed
copy = torch.cuda.Stream()

def load(host):
    ready = torch.cuda.Event()
    with torch.cuda.stream(copy):
        x = host.to("cuda", non_blocking=True)
        ready.record(copy)
    torch.cuda.current_stream().wait_event(ready)
    return x.sum().item()

#- case: the record comes after the wait
def load(host):
    copy, compute = torch.cuda.Stream(), torch.cuda.Stream()
    ready = torch.cuda.Event()
    with torch.cuda.stream(copy):
        x = host.to("cuda", non_blocking=True)
    compute.wait_event(ready)
  # ^ event-never-recorded: `compute` waits for `ready`, which nothing has recorded yet: the wait has no effect
    ready.record(copy)
    with torch.cuda.stream(compute):
        y = x.sum()
    torch.cuda.synchronize()
    return y
#- fixed
def load(host):
    copy, compute = torch.cuda.Stream(), torch.cuda.Stream()
    ready = torch.cuda.Event()
    with torch.cuda.stream(copy):
        x = host.to("cuda", non_blocking=True)
    ready.record(copy)
    compute.wait_event(ready)
    with torch.cuda.stream(compute):
        y = x.sum()
    torch.cuda.synchronize()
    return y

#- case: recorded under one key, waited for under another
def sum_of(host):
    copy = torch.cuda.Stream()
    done = {"a": torch.cuda.Event(), "b": torch.cuda.Event()}
    with torch.cuda.stream(copy):
        x = host.to("cuda", non_blocking=True)
        done["a"].record(copy)
    torch.cuda.current_stream().wait_event(done["b"])
  # ^ event-never-recorded: The default stream waits for `done["b"]`, which nothing has recorded yet: the wait has no
  # | effect
    return x.sum().item()
#- fixed
def sum_of(host):
    copy = torch.cuda.Stream()
    done = {"a": torch.cuda.Event(), "b": torch.cuda.Event()}
    with torch.cuda.stream(copy):
        x = host.to("cuda", non_blocking=True)
        done["b"].record(copy)
    torch.cuda.current_stream().wait_event(done["b"])
    return x.sum().item()

#- case: an event of an object may have been recorded by another method
class Lane:
    def __init__(self):
        self.copy = torch.cuda.Stream()
        self.ready = torch.cuda.Event()

    def stage(self, host):
        with torch.cuda.stream(self.copy):
            self.x = host.to("cuda", non_blocking=True)
            self.ready.record(self.copy)

    def total(self):
        torch.cuda.current_stream().wait_event(self.ready)
        return self.x.sum().item()

#- case: a pipeline that has nothing to wait for on its first turn
def scores(hosts):
    copy = torch.cuda.Stream()
    slot = torch.empty(1024, device="cuda")
    copy.wait_stream(torch.cuda.current_stream())
    free = torch.cuda.Event()
    totals = []
    for host in hosts:
        copy.wait_event(free)
        with torch.cuda.stream(copy):
            slot.copy_(host, non_blocking=True)
        torch.cuda.current_stream().wait_stream(copy)
        totals.append(slot.sum())
        free.record()
    torch.cuda.synchronize()
    return totals

#- case: another thread records it before it says so
import threading

class Done:
    def __init__(self):
        self.done = torch.cuda.Event()

    def wait(self, side):
        self.done.wait(side)
      # ^ event-never-recorded

def consume(state, x):
    done = Done()
    with torch.cuda.stream(state.side):
        y = x.cuda() * 2
    done.wait(torch.cuda.current_stream())
    return y.sum().item()
#- good
import threading

class Done:
    def __init__(self):
        self.done = torch.cuda.Event()
        self.recorded = threading.Event()

    def wait(self, side):
        self.recorded.wait()
        self.done.wait(side)
        self.recorded.clear()

    def record(self, side):
        self.done = torch.cuda.Event()
        self.done.record(side)
        self.recorded.set()

def consume(state):
    done = Done()
    state.queue.put(done)
    done.wait(state.side)

#- case: the object that holds the events records them for others
class Slots:
    def __init__(self):
        self.copies = torch.cuda.Stream()
        self.done = [torch.cuda.Event() for _ in range(2)]
        self.at = 0

    def flip(self):
        self.done[self.at].record(self.copies)
        self.at = 1 - self.at

    def read(self):
        self.done[self.at].synchronize()

class Reader:
    def __init__(self):
        self.slots = Slots()

    def step(self):
        self.slots.flip()

    def result(self):
        self.slots.read()

#- case: a hook of a module that is not known records it
def measure(make, batches, profile):
    model, optimizer = make(batches)
    passed = torch.cuda.Event()
    if profile.exact:
        def mark(module, inputs, outputs):
            passed.record()
        model.register_forward_hook(mark)

    def step():
        model(next(batches))
        if profile.exact:
            passed.synchronize()

    step()

#- case: what it waits for does not run in this mode
def flow(host, upload: bool):
    copier = torch.cuda.Stream()
    ready = torch.cuda.Event()
    x = torch.zeros(8, device="cuda")
    if upload:
        copier.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(copier):
            x.copy_(host, non_blocking=True)
            ready.record()
    torch.cuda.current_stream().wait_event(ready)
    x.record_stream(copier)
    print(x.sum().item())

#- case: a loop whose second turn makes the record, and is too far away
class Turns:
    def __init__(self):
        self.marks = [torch.cuda.Event(), torch.cuda.Event()]

    def step(self, x):
        now, before = self.marks
        now.record()
        self.marks = [before, now]
        before.synchronize()
        for _ in range(60):
            for _ in range(60):
                for _ in range(60):
                    x = x * 2 + 1
        return x

def drive(host):
    turns = Turns()
    side = torch.cuda.Stream()
    x = host.cuda()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(4):
            x = turns.step(x)
    side.synchronize()

#- case: the other slot of a ring
def drive(host, done):
    x = host.cuda()
    slots = [torch.cuda.Event() for _ in range(2)]
    turn = 0
    while True:
        x = x * 2
        slots[turn].record()
        turn = 1 - turn
        slots[turn].synchronize()
        if done(turn):
            break
    return x

#- case: the first turn of a ring, whose other turns somebody else makes
def prefill(prompt):
    marks = [torch.cuda.Event() for _ in range(2)]
    x = prompt.cuda() * 2
    marks[0].record()
    marks[1].synchronize()
    return x, marks

#- case: two events take turns, and the second turn is too far away
def drive(host):
    now, before = torch.cuda.Event(), torch.cuda.Event()
    x = host.cuda()
    for _ in range(4):
        x = x * 2
        now.record()
        before.synchronize()
        for _ in range(60):
            for _ in range(60):
                for _ in range(60):
                    x = x * 2 + 1
        now, before = before, now
    return x

#- case: a helper that records in the usual way
def note(marks, skip):
    if skip(marks):
        return
    marks[0].record()

def load(host, skip):
    copier = torch.cuda.Stream()
    marks = [torch.cuda.Event()]
    with torch.cuda.stream(copier):
        x = host.cuda(non_blocking=True)
        note(marks, skip)
    torch.cuda.current_stream().wait_event(marks[0])
    return x + 1

#- case: the slots of a ring of any length, recorded in a function of their own
def launch(streams, marks, held, made, slot):
    stream = streams[slot % len(streams)]
    with torch.cuda.stream(stream):
        made[slot].copy_(held[slot], non_blocking=True)
        marks[slot].record(stream)

def pump(streams, marks, held, made, depth, rounds):
    busy = [False] * depth
    for turn in range(rounds + 1):
        if turn < rounds:
            slot = turn % depth
            if busy[slot]:
                marks[slot].synchronize()
                busy[slot] = False
        if turn > 0:
            slot = (turn - 1) % depth
            launch(streams, marks, held, made, slot)
            busy[slot] = True
    for slot in range(depth):
        if busy[slot]:
            marks[slot].synchronize()

def run(depth, lanes, rounds):
    streams = [torch.cuda.Stream() for _ in range(lanes)]
    marks = [torch.cuda.Event() for _ in range(depth)]
    held = [torch.empty(1024, pin_memory=True) for _ in range(depth)]
    made = [torch.empty(1024, device="cuda") for _ in range(depth)]
    pump(streams, marks, held, made, depth, rounds)

#- case: a hook waits for an event that only it has
def guarded(x):
    before = torch.cuda.Event()

    def hook(grad):
        torch.cuda.current_stream().wait_event(before)
      # ^ event-never-recorded
        return grad * 2

    x.register_hook(hook)
    return x * 2
#- good
from typing import TypedDict

class Sent(TypedDict):
    x: torch.Tensor
    before: torch.cuda.Event

def guarded(x):
    before = torch.cuda.Event()

    def hook(grad):
        torch.cuda.current_stream().wait_event(before)
        return grad * 2

    x.register_hook(hook)
    return Sent(x=x * 2, before=before)

#- case: another method records what a hook for saved tensors waits for
from torch.autograd.graph import saved_tensors_hooks

class Store(saved_tensors_hooks):
    def __init__(self):
        self._back = torch.cuda.Event()
        self._items = []
        super().__init__(self._put, self._take)

    def _put(self, x):
        self._items.append(x.data)
        return len(self._items) - 1

    def _take(self, at):
        self._back.wait()
      # ^ event-never-recorded
        return self._items[at]
#- good
from torch.autograd.graph import saved_tensors_hooks

class Store(saved_tensors_hooks):
    def __init__(self):
        self._back = torch.cuda.Event()
        self._items = []
        super().__init__(self._put, self._take)

    def _put(self, x):
        self._items.append(x.data)
        return len(self._items) - 1

    def _take(self, at):
        self._back.wait()
        return self._items[at]

    def bring(self, side):
        with torch.cuda.stream(side):
            self._items = [x.cuda() for x in self._items]
            self._back.record()

#- case: a pool's thread may have recorded it by the time it says so
import time

class Fetcher:
    def __init__(self, pool):
        self.pool = pool
        self.side = torch.cuda.Stream()

    def fetch(self, host):
        ready = torch.cuda.Event()
        with torch.cuda.stream(self.side):
            made = host.cuda(non_blocking=True)

        def mark():
            print("asked for")

        future = self.pool.submit(mark)
        while not future.done():
            time.sleep(0.001)
        torch.cuda.current_stream().wait_event(ready)
      # ^ event-never-recorded
        return (made * 2).sum().item()
#- good
import time

class Fetcher:
    def __init__(self, pool):
        self.pool = pool
        self.side = torch.cuda.Stream()

    def fetch(self, host):
        ready = torch.cuda.Event()
        with torch.cuda.stream(self.side):
            made = host.cuda(non_blocking=True)

        def mark():
            ready.record(self.side)

        future = self.pool.submit(mark)
        while not future.done():
            time.sleep(0.001)
        torch.cuda.current_stream().wait_event(ready)
        return (made * 2).sum().item()

#- case: events by name, one of which is recorded for whoever comes next
import collections

class Weights:
    def __init__(self, nodes):
        self.nodes = nodes
        self.side = torch.cuda.Stream()
        self.loaded = collections.defaultdict(torch.cuda.Event)

    def enter(self, node, host, kept):
        torch.cuda.current_stream().wait_event(self.loaded[node])
      # ^ event-never-recorded
        with torch.cuda.stream(self.side):
            kept[node] = host.cuda(non_blocking=True)
#- good
import collections

class Weights:
    def __init__(self, nodes):
        self.nodes = nodes
        self.side = torch.cuda.Stream()
        self.loaded = collections.defaultdict(torch.cuda.Event)

    def enter(self, node, host, kept):
        torch.cuda.current_stream().wait_event(self.loaded[node])
        following = self.nodes[node.place]
        with torch.cuda.stream(self.side):
            kept[following] = host.cuda(non_blocking=True)
            self.loaded[following].record(self.side)
