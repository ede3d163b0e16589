#- case: the buffer is refilled while it is read
side = torch.cuda.Stream()

def publish(host, value):
    table = host.cuda()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        total = table.sum()
        #       ~ `table` is read here, on `side`
    table.fill_(value)
  # ^ write-after-read: `table` is overwritten on the default stream by `fill_` while the `sum` on `side` may still
  # | read it: no wait of the default stream for `side` lies between
    torch.cuda.synchronize()
    return total.item()
#- fixed
side = torch.cuda.Stream()

def publish(host, value):
    table = host.cuda()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        total = table.sum()
        side_done = side.record_event()
    torch.cuda.current_stream().wait_event(side_done)
    table.fill_(value)
    torch.cuda.synchronize()
    return total.item()

#- case: the writer waits for the reader
side = torch.cuda.Stream()

def publish(host, value):
    table = host.cuda()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        total = table.sum()
    torch.cuda.current_stream().wait_stream(side)
    table.fill_(value)
    torch.cuda.synchronize()
    return total.item()

#- case: one slot that a copy stream refills turn after turn
def scores(hosts):
    copy = torch.cuda.Stream()
    slot = torch.empty(1024, device="cuda")
    copy.wait_stream(torch.cuda.current_stream())
    totals = []
    for host in hosts:
        with torch.cuda.stream(copy):
            slot.copy_(host, non_blocking=True)
          # ^ write-after-read: `slot` is overwritten on `copy` by `copy_` while the `sum` on the default stream may
          # | still read it: no wait of `copy` for the default stream lies between
        torch.cuda.current_stream().wait_stream(copy)
        totals.append(slot.sum())
        #             ~ `slot` is read here, on the default stream
    torch.cuda.synchronize()
    return totals
#- fixed
def scores(hosts):
    copy = torch.cuda.Stream()
    slot = torch.empty(1024, device="cuda")
    copy.wait_stream(torch.cuda.current_stream())
    totals = []
    for host in hosts:
        copy.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(copy):
            slot.copy_(host, non_blocking=True)
        torch.cuda.current_stream().wait_stream(copy)
        totals.append(slot.sum())
    torch.cuda.synchronize()
    return totals

#- case: the slot is announced as free
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

#- case: two reads do not conflict
side = torch.cuda.Stream()

def both(host):
    table = host.cuda()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        low = table.min()
    high = table.max()
    torch.cuda.synchronize()
    return low, high

#- case: a kernel that stores under a flag that its caller sets
import triton
import triton.language as tl

@triton.jit
def scale(x_ptr, y_ptr, n, IN_PLACE: tl.constexpr):
    i = tl.arange(0, 1024)
    v = tl.load(x_ptr + i)
    if IN_PLACE:
        tl.store(x_ptr + i, v * 2)
    else:
        tl.store(y_ptr + i, v * 2)

def run(host, n):
    x = host.cuda()
    y = torch.empty(1024, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        z = x.tanh()
    scale[(1,)](x, y, n, IN_PLACE=True)
  # ^ write-after-read
    torch.cuda.current_stream().wait_stream(side)
    print(z.sum().item())
#- good
import triton
import triton.language as tl

@triton.jit
def scale(x_ptr, y_ptr, n, IN_PLACE: tl.constexpr):
    i = tl.arange(0, 1024)
    v = tl.load(x_ptr + i)
    if IN_PLACE:
        tl.store(x_ptr + i, v * 2)
    else:
        tl.store(y_ptr + i, v * 2)

def run(host, n):
    x = host.cuda()
    y = torch.empty(1024, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        z = x.tanh()
    scale[(1,)](x, y, n, IN_PLACE=False)
    torch.cuda.current_stream().wait_stream(side)
    print(z.sum().item())

#- case: a kernel that stores at places that it loads
import triton
import triton.language as tl

@triton.jit
def found(token_ptr, i):
    return tl.load(token_ptr + i)

@triton.jit
def count(token_ptr, bins_ptr, n):
    i = tl.arange(0, 1024)
    token = found(token_ptr, i)
    place = bins_ptr + tl.load(token_ptr) + token
    tl.atomic_add(place, 1)

def run(host):
    tokens = host.cuda()
    bins = torch.zeros(1024, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        seen = bins.sum() + tokens.sum()
    count[(1,)](tokens, bins, 1024)
  # ^ write-after-read: `bins`
    torch.cuda.current_stream().wait_stream(side)
    print(seen.item())
#- good
import triton
import triton.language as tl

@triton.jit
def found(token_ptr, i):
    return tl.load(token_ptr + i)

@triton.jit
def count(token_ptr, bins_ptr, n):
    i = tl.arange(0, 1024)
    token = found(token_ptr, i)
    place = bins_ptr + tl.load(token_ptr) + token
    tl.atomic_add(place, 1)

def run(host):
    tokens = host.cuda()
    bins = torch.zeros(1024, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        seen = tokens.sum()
    count[(1,)](tokens, bins, 1024)
    torch.cuda.current_stream().wait_stream(side)
    print(seen.item())

#- case: a kernel that stores through a descriptor
import triton
import triton.language as tl

@triton.jit
def double(source, target):
    rows = tl.make_tensor_descriptor(source, [1024], [1], [1024])
    out = tl.make_tensor_descriptor(target, [1024], [1], [1024])
    out.store([0], rows.load([0]) * 2)

def run(host):
    x = host.cuda()
    y = torch.zeros(1024, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        seen = y.sum() + x.sum()
    double[(1,)](x, y)
  # ^ write-after-read: `y`
    torch.cuda.current_stream().wait_stream(side)
    print(seen.item())
#- good
import triton
import triton.language as tl

@triton.jit
def double(source, target):
    rows = tl.make_tensor_descriptor(source, [1024], [1], [1024])
    out = tl.make_tensor_descriptor(target, [1024], [1], [1024])
    out.store([0], rows.load([0]) * 2)

def run(host):
    x = host.cuda()
    y = torch.zeros(1024, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        seen = x.sum()
    double[(1,)](x, y)
    torch.cuda.current_stream().wait_stream(side)
    print(seen.item())

#- case: two buffers that take turns come round in the third
class Tiles:
    def __init__(self, width):
        self.side = torch.cuda.Stream()
        self.slots = [torch.empty(width, device="cuda") for _ in range(2)]
        torch.cuda.synchronize()

    def run(self, x, rows, tiles):
        def fill(tile):
            with torch.cuda.stream(self.side):
                self.slots[tile % 2].copy_(rows[tile])
              # ^ write-after-read: is overwritten on `self.side` by `copy_` while the `mul` on the default stream

        y = x.cuda()
        fill(0)
        for tile in range(tiles):
            torch.cuda.current_stream().wait_stream(self.side)
            y = y * self.slots[tile % 2]
            if tile + 1 < tiles:
                fill(tile + 1)
        return y
#- good
class Tiles:
    def __init__(self, width):
        self.side = torch.cuda.Stream()
        self.slots = [torch.empty(width, device="cuda") for _ in range(2)]
        torch.cuda.synchronize()

    def run(self, x, rows, tiles):
        def fill(tile):
            self.side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self.side):
                self.slots[tile % 2].copy_(rows[tile])

        y = x.cuda()
        fill(0)
        for tile in range(tiles):
            torch.cuda.current_stream().wait_stream(self.side)
            y = y * self.slots[tile % 2]
            if tile + 1 < tiles:
                fill(tile + 1)
        return y

#- case: a graph's input is refilled while the replay before may still read it
class Replayer:
    def __init__(self, model, shape):
        self.model = model
        self.copies = torch.cuda.Stream()
        self.input = torch.zeros(shape, device="cuda")
        self.output = None
        self.graph = None

    def record(self):
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.output = self.model(self.input)

    def run(self, pinned):
        if self.graph is None:
            self.record()
        with torch.cuda.stream(self.copies):
            self.input.copy_(pinned, non_blocking=True)
      #     ^ write-after-read
        torch.cuda.current_stream().wait_stream(self.copies)
        self.graph.replay()
        return self.output.clone()
#- good
class Replayer:
    def __init__(self, model, shape):
        self.model = model
        self.copies = torch.cuda.Stream()
        self.input = torch.zeros(shape, device="cuda")
        self.output = None
        self.graph = None

    def record(self):
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.output = self.model(self.input)

    def run(self, pinned):
        if self.graph is None:
            self.record()
        self.copies.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.copies):
            self.input.copy_(pinned, non_blocking=True)
        torch.cuda.current_stream().wait_stream(self.copies)
        self.graph.replay()
        return self.output.clone()
#- good
class Replayer:
    def __init__(self, model, shape):
        self.model = model
        self.input = torch.zeros(shape, device="cuda")
        self.output = None
        self.graph = None

    def record(self):
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.output = self.model(self.input)

    def run(self, pinned):
        if self.graph is None:
            self.record()
        self.input.copy_(pinned, non_blocking=True)
        self.graph.replay()
        return self.output.clone()

#- case: two slots that take turns come round with the third of a list's layers
class Weights:
    def __init__(self, layers):
        self.host = [layer.pin_memory() for layer in layers]
        self.slots = [torch.empty_like(self.host[0], device="cuda") for _ in range(2)]
        self.copier = torch.cuda.Stream()

    def fetch(self, index):
        with torch.cuda.stream(self.copier):
            self.slots[index % 2].copy_(self.host[index], non_blocking=True)
          # ^ write-after-read
            return self.copier.record_event()

    def run(self, x):
        ready = self.fetch(0)
        for index in range(len(self.host)):
            following = self.fetch(index + 1) if index + 1 < len(self.host) else None
            ready.wait()
            x = torch.relu(x @ self.slots[index % 2])
            ready = following
        return x
#- good
class Weights:
    def __init__(self, layers):
        self.host = [layer.pin_memory() for layer in layers]
        self.slots = [torch.empty_like(self.host[0], device="cuda") for _ in range(2)]
        self.copier = torch.cuda.Stream()

    def fetch(self, index):
        self.copier.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.copier):
            self.slots[index % 2].copy_(self.host[index], non_blocking=True)
            return self.copier.record_event()

    def run(self, x):
        ready = self.fetch(0)
        for index in range(len(self.host)):
            following = self.fetch(index + 1) if index + 1 < len(self.host) else None
            ready.wait()
            x = torch.relu(x @ self.slots[index % 2])
            ready = following
        return x

#- case: rows that a table picks
import extension
import triton
import triton.language as tl

@triton.jit
def append(keys_ptr, cache_ptr, table_ptr, width: tl.constexpr):
    row = tl.program_id(0)
    at = row * width + tl.arange(0, width)
    tl.store(cache_ptr + at, tl.load(keys_ptr + at))

def step(keys, cache, stored, table, block_ids):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        extension.swap_blocks(block_ids, cache, stored)
    append[(8,)](keys, cache, table, 64)
  # ^ write-after-read
    torch.cuda.current_stream().wait_stream(side)
#- good
import extension
import triton
import triton.language as tl

@triton.jit
def append(keys_ptr, cache_ptr, table_ptr, width: tl.constexpr):
    row = tl.program_id(0)
    block = tl.load(table_ptr + row).to(tl.int64)
    at = tl.arange(0, width)
    tl.store(cache_ptr + block * width + at, tl.load(keys_ptr + row * width + at))

def step(keys, cache, stored, table, block_ids):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        extension.swap_blocks(block_ids, cache, stored)
    append[(8,)](keys, cache, table, 64)
    torch.cuda.current_stream().wait_stream(side)

#- case: a ring of buffers in a loop over a count
def total(hosts, count):
    lane = torch.cuda.Stream()
    slots = [torch.empty(1024, device="cuda") for _ in range(3)]
    loaded = [torch.cuda.Event() for _ in range(3)]
    lane.wait_stream(torch.cuda.current_stream())
    sums = []
    for i in range(count):
        slot = i % 3
        with torch.cuda.stream(lane):
            slots[slot].copy_(hosts[i], non_blocking=True)
          # ^ write-after-read
            loaded[slot].record()
        torch.cuda.current_stream().wait_event(loaded[slot])
        sums.append(slots[slot].sum())
    return sums
#- good
def total(hosts, count):
    lane = torch.cuda.Stream()
    slots = [torch.empty(1024, device="cuda") for _ in range(3)]
    loaded = [torch.cuda.Event() for _ in range(3)]
    used = [torch.cuda.Event() for _ in range(3)]
    lane.wait_stream(torch.cuda.current_stream())
    sums = []
    for i in range(count):
        slot = i % 3
        with torch.cuda.stream(lane):
            lane.wait_event(used[slot])
            slots[slot].copy_(hosts[i], non_blocking=True)
            loaded[slot].record()
        torch.cuda.current_stream().wait_event(loaded[slot])
        sums.append(slots[slot].sum())
        used[slot].record()
    return sums
#- good
def total(hosts, count):
    lane = torch.cuda.Stream()
    slots = [torch.empty(1024, device="cuda") for _ in range(2)]
    loaded = [torch.cuda.Event() for _ in range(2)]
    used = [torch.cuda.Event() for _ in range(2)]
    lane.wait_stream(torch.cuda.current_stream())
    sums = []
    for i in range(count):
        slot = i % 2
        with torch.cuda.stream(lane):
            if i >= 2:
                lane.wait_event(used[slot])
            slots[slot].copy_(hosts[i], non_blocking=True)
            loaded[slot].record()
        torch.cuda.current_stream().wait_event(loaded[slot])
        sums.append(slots[slot].sum())
        used[slot].record()
    return sums
