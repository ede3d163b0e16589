#- case: on the stream that allocated it
side = torch.cuda.Stream()

def work():
    with torch.cuda.stream(side):
        y = torch.ones(1024, device="cuda")
        y.record_stream(side)
      # ^ redundant-record-stream: `y` was allocated on `side`, so record_stream changes nothing here
        y.mul_(2)
    side.synchronize()
    print(y.sum().item())
    del y
#- fixed
side = torch.cuda.Stream()

def work():
    with torch.cuda.stream(side):
        y = torch.ones(1024, device="cuda")
        y.mul_(2)
    side.synchronize()
    print(y.sum().item())
    del y

#- case: joined before the drop
side = torch.cuda.Stream()

def work():
    current = torch.cuda.current_stream()
    x = torch.ones(1024, device="cuda")
    side.wait_stream(current)
    with torch.cuda.stream(side):
        total = x.sum()
    x.record_stream(side)
  # ^ redundant-record-stream: The work on `side` is waited for before `x` is dropped, so record_stream changes
  # | nothing here
    current.wait_stream(side)
  # ~ `side` is waited for here
    del x
    total.record_stream(current)
    return total
#- fixed
side = torch.cuda.Stream()

def work():
    current = torch.cuda.current_stream()
    x = torch.ones(1024, device="cuda")
    side.wait_stream(current)
    with torch.cuda.stream(side):
        total = x.sum()
    current.wait_stream(side)
    del x
    total.record_stream(current)
    return total

#- case: the only statement of a block
side = torch.cuda.Stream()

def work(flag):
    with torch.cuda.stream(side):
        y = torch.ones(1024, device="cuda")
        if flag:
            y.record_stream(side)
          # ^ redundant-record-stream: `y` was allocated on `side`, so record_stream changes nothing here
        y.mul_(2)
    side.synchronize()
    print(y.sum().item())
    del y
#- fixed
side = torch.cuda.Stream()

def work(flag):
    with torch.cuda.stream(side):
        y = torch.ones(1024, device="cuda")
        if flag:
            pass
        y.mul_(2)
    side.synchronize()
    print(y.sum().item())
    del y

#- case: needed where nothing joins before the drop
side = torch.cuda.Stream()

def work(n):
    results = []
    for i in range(n):
        x = torch.full((1024,), float(i), device="cuda")
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            results.append(x.relu())
        x.record_stream(side)
        del x
    torch.cuda.synchronize()
    return results

#- case: what is handed to a caller is never called useless
side = torch.cuda.Stream()

def make():
    current = torch.cuda.current_stream()
    with torch.cuda.stream(side):
        y = torch.ones(1024, device="cuda")
    current.wait_stream(side)
    y.record_stream(current)
    return y

#- case: what a caller drops is its caller's to judge
side = torch.cuda.Stream()

def halve(x):
    current = torch.cuda.current_stream()
    side.wait_stream(current)
    with torch.cuda.stream(side):
        x.record_stream(side)
        y = x * 0.5
    current.wait_stream(side)
    y.record_stream(current)
    return y

def run():
    for i in range(4):
        x = torch.full((1024,), float(i), device="cuda")
        print(halve(x).sum().item())
        del x

#- case: one caller's stream proves nothing of another's
class Scratch:
    def __init__(self):
        self.buffers = {}

    def reserve(self, key, stream):
        with torch.cuda.stream(stream):
            buffer = torch.empty(1024, device="cuda")
        buffer.record_stream(stream)
      # ^ redundant-record-stream
        self.buffers[key] = buffer
#- good
class Scratch:
    def __init__(self):
        self.buffers = {}

    def reserve(self, key, stream):
        with torch.cuda.stream(stream):
            self.buffers[key] = torch.empty(1024, device="cuda")
        self.uses(stream)

    def uses(self, stream):
        for buffer in self.buffers.values():
            buffer.record_stream(stream)

#- case: needless for one stream of several
def packed(host, sides):
    here = torch.cuda.current_stream()
    x = host.cuda()
    x.record_stream(here)
  # ^ redundant-record-stream
    print(x.sum().item())
#- good
def packed(host, pending):
    here = torch.cuda.current_stream()
    side = torch.cuda.Stream()
    x = host.cuda()
    side.wait_stream(here)
    for stream in (side, here):
        x.record_stream(stream)
    with torch.cuda.stream(side):
        y = x * 2
    pending.append((x, y))
    here.wait_stream(side)

#- case: a generator expression makes what it gives under the stream of whoever asks for it
def collate(batch, user):
    x = batch.to("cuda", non_blocking=True)
    x.record_stream(user)
    return x

def prefetch(it, side):
    def fetch():
        with torch.cuda.stream(side):
            return next(it, None)

    following = fetch()
    while following is not None:
        torch.cuda.current_stream().wait_stream(side)
        current = following
        following = fetch()
        yield current

def run(data):
    side = torch.cuda.Stream()
    user = torch.cuda.current_stream()
    loader = (collate(data[i : i + 8], user) for i in range(0, 64, 8))
    total = torch.zeros((), device="cuda")
    for x in prefetch(loader, side):
        total += (x @ x.t()).sum()
    return total
