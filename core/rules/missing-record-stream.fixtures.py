#- case: dropped by del in a loop
copy = torch.cuda.Stream()

def consume(hosts):
    total = torch.zeros(1, device="cuda")
    for host in hosts:
        with torch.cuda.stream(copy):
            batch = host.to("cuda", non_blocking=True)
        torch.cuda.current_stream().wait_stream(copy)
        total += batch.sum()
        #        ~ `batch` is used here, on the default stream
        del batch
      # ^ missing-record-stream: `batch` is dropped while `sum` on the default stream may still use it: its memory
      # | returns to `copy` and can be handed out again there; neither a record_stream on the default stream nor a
      # | wait of `copy` for the default stream protects it
    return total
#- fixed
copy = torch.cuda.Stream()

def consume(hosts):
    total = torch.zeros(1, device="cuda")
    for host in hosts:
        with torch.cuda.stream(copy):
            batch = host.to("cuda", non_blocking=True)
        torch.cuda.current_stream().wait_stream(copy)
        batch.record_stream(torch.cuda.current_stream())
        total += batch.sum()
        del batch
    return total

#- case: the slot of an object is cleared
class Prefetcher:
    def __init__(self, hosts):
        self.hosts = iter(hosts)
        self.copy = torch.cuda.Stream()
        self.ready = None

    def preload(self):
        with torch.cuda.stream(self.copy):
            self.ready = next(self.hosts).to("cuda", non_blocking=True)

    def take(self):
        torch.cuda.current_stream().wait_stream(self.copy)
        batch = self.ready
        self.preload()
        return batch

def train(hosts):
    feed = Prefetcher(hosts)
    feed.preload()
    total = torch.zeros(1, device="cuda")
    for _ in range(4):
        batch = feed.take()
        total += batch.sum()
        #        ~ `self.ready` is used here, on the default stream
        del batch
      # ^ missing-record-stream: `self.ready` is dropped while `sum` on the default stream may still use it: its
      # | memory returns to `self.copy` and can be handed out again there; neither a record_stream on the default
      # | stream nor a wait of `self.copy` for the default stream protects it
    print(total.item())

train([torch.ones(8).pin_memory() for _ in range(5)])
#- fixed
class Prefetcher:
    def __init__(self, hosts):
        self.hosts = iter(hosts)
        self.copy = torch.cuda.Stream()
        self.ready = None

    def preload(self):
        with torch.cuda.stream(self.copy):
            self.ready = next(self.hosts).to("cuda", non_blocking=True)

    def take(self):
        torch.cuda.current_stream().wait_stream(self.copy)
        batch = self.ready
        self.preload()
        return batch

def train(hosts):
    feed = Prefetcher(hosts)
    feed.preload()
    total = torch.zeros(1, device="cuda")
    for _ in range(4):
        batch = feed.take()
        batch.record_stream(torch.cuda.current_stream())
        total += batch.sum()
        del batch
    print(total.item())

train([torch.ones(8).pin_memory() for _ in range(5)])

#- case: the source of work on a side stream
side = torch.cuda.Stream()

def stage(n):
    current = torch.cuda.current_stream()
    results = []
    for i in range(n):
        x = torch.full((1024,), float(i), device="cuda")
        side.wait_stream(current)
        with torch.cuda.stream(side):
            results.append(x.relu())
            #              ~ `x` is used here, on `side`
        del x
      # ^ missing-record-stream: `x` is dropped while `relu` on `side` may still use it: its memory returns to
      # | `current` and can be handed out again there; neither a record_stream on `side` nor a wait of `current` for
      # | `side` protects it
    current.wait_stream(side)
    return results
#- fixed
side = torch.cuda.Stream()

def stage(n):
    current = torch.cuda.current_stream()
    results = []
    for i in range(n):
        x = torch.full((1024,), float(i), device="cuda")
        side.wait_stream(current)
        with torch.cuda.stream(side):
            x.record_stream(side)
            results.append(x.relu())
        del x
    current.wait_stream(side)
    return results

#- case: the tensor lives until the streams are joined
side = torch.cuda.Stream()

def stage(n):
    current = torch.cuda.current_stream()
    kept = []
    results = []
    for i in range(n):
        x = torch.full((1024,), float(i), device="cuda")
        side.wait_stream(current)
        with torch.cuda.stream(side):
            results.append(x.relu())
        kept.append(x)
    current.wait_stream(side)
    kept.clear()
    return results

#- case: used and dropped on its own stream
side = torch.cuda.Stream()

def work(n):
    with torch.cuda.stream(side):
        for _ in range(n):
            x = torch.ones(1024, device="cuda")
            y = x * 2
            del x, y

#- case: dropped by the assignment that makes the next one
def consume(hosts):
    copy = torch.cuda.Stream()
    total = torch.zeros(1, device="cuda")
    for host in hosts:
        with torch.cuda.stream(copy):
            batch = host.to("cuda", non_blocking=True)
          # ^ missing-record-stream: `batch` is dropped while `sum` on the default stream may still use it
        torch.cuda.current_stream().wait_stream(copy)
        total += batch.sum()
    return total
#- todo: the block can be reused in the third turn at the earliest, and two are executed

#- case: the graph gives what the forward made to a hook, which is its only owner
side = torch.cuda.Stream()

def pack(x):
    host = torch.empty_like(x, device="cpu", pin_memory=True)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        host.copy_(x, non_blocking=True)
      # ^ missing-record-stream
    return host, side.record_event()

def unpack(packed):
    host, copied = packed
    torch.cuda.current_stream().wait_event(copied)
    return host.to("cuda", non_blocking=True)

def forward(model, x):
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        return model(x)
#- good
side = torch.cuda.Stream()

def pack(x):
    host = torch.empty_like(x, device="cpu", pin_memory=True)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        host.copy_(x, non_blocking=True)
    x.record_stream(side)
    return host, side.record_event()

def unpack(packed):
    host, copied = packed
    torch.cuda.current_stream().wait_event(copied)
    return host.to("cuda", non_blocking=True)

def forward(model, x):
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        return model(x)

#- case: a local goes when its function returns
side = torch.cuda.Stream()

def total(x):
    y = x.cuda() * 2
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        result = y.sum()
        #        ^ missing-record-stream
    return result, side.record_event()
#- good
side = torch.cuda.Stream()

def total(x):
    y = x.cuda() * 2
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        result = y.sum()
    y.record_stream(side)
    return result, side.record_event()

#- case: parameters give their memory back
class Spill:
    def __init__(self, parameters):
        self.side = torch.cuda.Stream()
        self.parameters = [p.cuda() for p in parameters]
        self.hosts = [torch.empty(p.shape, pin_memory=True) for p in parameters]

    def spill(self):
        self.side.wait_stream(torch.cuda.current_stream())
        for p, host in zip(self.parameters, self.hosts):
            with torch.cuda.stream(self.side):
                host.copy_(p.data, non_blocking=True)
            p.data = torch.empty(0, device="cuda")
          # ^ missing-record-stream
#- good
class Spill:
    def __init__(self, parameters):
        self.side = torch.cuda.Stream()
        self.parameters = [p.cuda() for p in parameters]
        self.hosts = [torch.empty(p.shape, pin_memory=True) for p in parameters]

    def spill(self):
        self.side.wait_stream(torch.cuda.current_stream())
        for p, host in zip(self.parameters, self.hosts):
            with torch.cuda.stream(self.side):
                host.copy_(p.data, non_blocking=True)
            p.data.record_stream(self.side)
            p.data = torch.empty(0, device="cuda")

#- case: on a path that few take, nothing says that the caller allocates next
def reload(states, side, seen=None):
    restored = {}
    for label, host in states:
        x = torch.empty(host.shape, device="cuda")
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            x.copy_(host, non_blocking=True)
        if seen and label in seen:
            continue
        restored[label] = x
    return restored, side.record_event()

#- case: whoever gets the event with the tensor waits for it before the tensor goes
def reload(states, side):
    for host in states:
        x = torch.empty(host.shape, device="cuda")
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            x.copy_(host, non_blocking=True)
        yield x, side.record_event()

#- case: a hook lets go of the gradient that it copies
side = torch.cuda.Stream()
hosts = {}

def offload_gradients(parameters):
    def offload(parameter):
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            hosts[parameter].copy_(parameter.grad, non_blocking=True)
        parameter.grad = None
      # ^ missing-record-stream

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
        parameter.grad = None

    for parameter in parameters:
        hosts[parameter] = torch.empty(parameter.shape, pin_memory=True)
        parameter.register_post_accumulate_grad_hook(offload)

#- case: a flag that leaves record_stream out of a function that gives the memory up
def offload(host, record: bool = True):
    main = torch.cuda.current_stream()
    side = torch.cuda.Stream()
    block = host.cuda()
    kept = torch.empty_like(block, device="cpu").pin_memory()
    with torch.cuda.stream(side):
        side.wait_stream(main)
        kept.copy_(block, non_blocking=True)
    if record:
        block.record_stream(side)
    block.untyped_storage().resize_(0)
  # ^ missing-record-stream
    other = torch.zeros(1024, device="cuda")
    side.synchronize()
    return kept, other
#- good
def offload(host):
    main = torch.cuda.current_stream()
    side = torch.cuda.Stream()
    block = host.cuda()
    kept = torch.empty_like(block, device="cpu").pin_memory()
    with torch.cuda.stream(side):
        side.wait_stream(main)
        kept.copy_(block, non_blocking=True)
    side.synchronize()
    block.untyped_storage().resize_(0)
    other = torch.zeros(1024, device="cuda")
    return kept, other

#- case: one of two buffers is an input, the other is not
import engines

class Runner:
    def buffers(self, engine):
        inputs, outputs = [], []
        for name in engine.names():
            host = torch.empty(1024).pin_memory()
            device = torch.empty(1024, device="cuda")
            if engine.mode(name) == engines.Mode.INPUT:
                inputs.append({"host": host, "device": device})
            else:
                outputs.append({"host": host, "device": device})
        return inputs, outputs

    def fetch(self, outputs):
        for one in outputs:
            one["host"].copy_(one["device"], non_blocking=True)

    def run(self, engine):
        inputs, outputs = self.buffers(engine)
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for one in inputs:
                one["device"].copy_(one["host"], non_blocking=True)
            stream.synchronize()
            self.fetch(outputs)
        outputs.clear()
      # ^ missing-record-stream
        torch.zeros(1024, device="cuda")
#- good
import engines

class Runner:
    def buffers(self, engine):
        inputs, outputs = [], []
        for name in engine.names():
            host = torch.empty(1024).pin_memory()
            device = torch.empty(1024, device="cuda")
            if engine.mode(name) == engines.Mode.INPUT:
                inputs.append({"host": host, "device": device})
            else:
                outputs.append({"host": host, "device": device})
        return inputs, outputs

    def fetch(self, outputs):
        for one in outputs:
            one["host"].copy_(one["device"], non_blocking=True)

    def run(self, engine):
        inputs, outputs = self.buffers(engine)
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for one in inputs:
                one["device"].copy_(one["host"], non_blocking=True)
            stream.synchronize()
            self.fetch(outputs)
            stream.synchronize()
        outputs.clear()
        torch.zeros(1024, device="cuda")

#- case: a function that a class only keeps is no method
class Prefetched:
    def batches(loader):
        copier = torch.cuda.Stream()
        first = True
        for upcoming in loader:
            with torch.cuda.stream(copier):
                upcoming = upcoming.cuda(non_blocking=True)
                upcoming = upcoming.float().sub_(1)
            if not first:
                batch.record_stream(torch.cuda.current_stream())
                yield batch
            first = False
            torch.cuda.current_stream().wait_stream(copier)
            batch = upcoming
        batch.record_stream(torch.cuda.current_stream())
        yield batch

    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        return Prefetched.batches(self.loader)

#- case: the object that keeps the streams knows which one is current
def run(x, ctx):
    part = torch.empty_like(x)
    ctx.side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(ctx.side):
        part.copy_(x)
        ctx.out.add_(part)
    ctx.main.wait_stream(ctx.side)
    return ctx.out

#- case: a prefetcher that is asked for the next batch
class Prefetcher:
    def __init__(self, loader):
        self.loader = iter(loader)
        self.side = torch.cuda.Stream()
        self.preload()

    def preload(self):
        try:
            host = next(self.loader)
        except StopIteration:
            self.batch = None
            return
        with torch.cuda.stream(self.side):
            self.batch = host.cuda(non_blocking=True)

    def next(self):
        torch.cuda.current_stream().wait_stream(self.side)
        batch = self.batch
        self.preload()
        return batch
      # ^ missing-record-stream
#- good
class Prefetcher:
    def __init__(self, loader):
        self.loader = iter(loader)
        self.side = torch.cuda.Stream()
        self.preload()

    def preload(self):
        try:
            host = next(self.loader)
        except StopIteration:
            self.batch = None
            return
        with torch.cuda.stream(self.side):
            self.batch = host.cuda(non_blocking=True)

    def next(self):
        torch.cuda.current_stream().wait_stream(self.side)
        batch = self.batch
        if batch is not None:
            batch.record_stream(torch.cuda.current_stream())
        self.preload()
        return batch

#- case: a prefetcher whose stream waits for what was done with the batches before
class Prefetcher:
    def __init__(self, loader):
        self.loader = iter(loader)
        self.side = torch.cuda.Stream()
        self.preload()

    def preload(self):
        try:
            host = next(self.loader)
        except StopIteration:
            self.batch = None
            return
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            self.batch = host.cuda(non_blocking=True)

    def __next__(self):
        torch.cuda.current_stream().wait_stream(self.side)
        batch = self.batch
        if batch is None:
            raise StopIteration
        self.preload()
        return batch

#- case: the stream that is given is the current one of its caller
class Exchange:
    def __init__(self, main):
        self.main = main
        self.side = torch.cuda.Stream()

    def push(self, x, out):
        part = x.cuda() * 2
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            out.add_(part)
        self.main.wait_stream(self.side)
        return out

#- case: a tensor without an element has no memory to lose
class Scores:
    def __init__(self, rows):
        self.side = torch.cuda.Stream()
        self.scores = torch.empty((rows, 0), device="cuda")

    def append(self, x):
        x = x.cuda()
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            self.scores = torch.cat((self.scores, x), dim=-1)
        y = torch.zeros(8, device="cuda")
        torch.cuda.current_stream().wait_stream(self.side)
        return y

#- case: a batch of which nobody knows what it is holds what was put into it
class Prefetcher:
    def __init__(self, loader, options):
        self.loader = iter(loader)
        self.side = torch.cuda.Stream()
        self.device = torch.device("cuda" if options["gpus"] != 0 else "cpu")
        self.preload()

    def preload(self):
        try:
            self.batch = next(self.loader)
        except StopIteration:
            self.batch = None
            return
        with torch.cuda.stream(self.side):
            for name, value in self.batch.items():
                if torch.is_tensor(value):
                    self.batch[name] = self.batch[name].to(device=self.device, non_blocking=True)

    def next(self):
        torch.cuda.current_stream().wait_stream(self.side)
        batch = self.batch
        self.preload()
        return batch
      # ^ missing-record-stream: is used on the default stream by the caller's work and dropped before that is done
#- good
class Prefetcher:
    def __init__(self, loader, options):
        self.loader = iter(loader)
        self.side = torch.cuda.Stream()
        self.device = torch.device("cuda" if options["gpus"] != 0 else "cpu")
        self.preload()

    def preload(self):
        try:
            self.batch = next(self.loader)
        except StopIteration:
            self.batch = None
            return
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            for name, value in self.batch.items():
                if torch.is_tensor(value):
                    self.batch[name] = self.batch[name].to(device=self.device, non_blocking=True)

    def next(self):
        torch.cuda.current_stream().wait_stream(self.side)
        batch = self.batch
        for value in batch.values():
            if torch.is_tensor(value):
                value.record_stream(torch.cuda.current_stream())
        self.preload()
        return batch

#- case: a prefetcher that brings some keys of each batch
def brought(batch, device):
    made = {}
    for key, value in batch.items():
        if key in ["voxels", "heat"]:
            made[key] = value.to(device, non_blocking=True)
        else:
            made[key] = value
    return made

class Prefetcher:
    def __init__(self, loader):
        self.loader = iter(loader)
        self.side = torch.cuda.Stream()
        self.preload()

    def preload(self):
        try:
            batch = next(self.loader)
        except StopIteration:
            self.batch = None
            return
        with torch.cuda.stream(self.side):
            self.batch = brought(batch, torch.cuda.current_device())

    def next(self):
        torch.cuda.current_stream().wait_stream(self.side)
        batch = self.batch
        self.preload()
        return batch
      # ^ missing-record-stream
#- good
def brought(batch, device):
    made = {}
    for key, value in batch.items():
        if key in ["voxels", "heat"]:
            made[key] = value.to(device, non_blocking=True)
        else:
            made[key] = value
    return made

class Prefetcher:
    def __init__(self, loader):
        self.loader = iter(loader)
        self.side = torch.cuda.Stream()
        self.preload()

    def preload(self):
        try:
            batch = next(self.loader)
        except StopIteration:
            self.batch = None
            return
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            self.batch = brought(batch, torch.cuda.current_device())

    def next(self):
        torch.cuda.current_stream().wait_stream(self.side)
        batch = self.batch
        self.preload()
        return batch

#- case: two tensors go to the caller together, under names that the first turn of the loop has not
class Loader:
    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        first = True
        stream = torch.cuda.Stream()
        for next_input, next_target in self.loader:
            with torch.cuda.stream(stream):
                next_input = next_input.cuda(non_blocking=True)
                next_target = next_target.cuda(non_blocking=True)
            if not first:
                yield input, target
              # ^ missing-record-stream: `input` is used on the default stream by the caller's work
            else:
                first = False
            torch.cuda.current_stream().wait_stream(stream)
            input = next_input
            target = next_target
        yield input, target
#- fixed
class Loader:
    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        first = True
        stream = torch.cuda.Stream()
        for next_input, next_target in self.loader:
            with torch.cuda.stream(stream):
                next_input = next_input.cuda(non_blocking=True)
                next_target = next_target.cuda(non_blocking=True)
            if not first:
                input.record_stream(torch.cuda.current_stream())
                target.record_stream(torch.cuda.current_stream())
                yield input, target
            else:
                first = False
            torch.cuda.current_stream().wait_stream(stream)
            input = next_input
            target = next_target
        yield input, target

#- case: a function that the constructor takes by default moves the batches
def onto_the_gpu(batch):
    if isinstance(batch, torch.Tensor):
        return batch.to("cuda", non_blocking=True)
    if isinstance(batch, (list, tuple)):
        return [onto_the_gpu(part) for part in batch]
    return batch

class Ahead:
    def __init__(self, loader, move=onto_the_gpu):
        self.batches = iter(loader)
        self.move = move
        self.side = torch.cuda.Stream()
        self.fetch()

    def fetch(self):
        try:
            with torch.cuda.stream(self.side):
                self.batch = self.move(next(self.batches))
        except StopIteration:
            self.batch = None

    def __next__(self):
        torch.cuda.current_stream().wait_stream(self.side)
        if self.batch is None:
            raise StopIteration
        batch = self.batch
        self.fetch()
        return batch
      # ^ missing-record-stream
#- good
def onto_the_gpu(batch):
    if isinstance(batch, torch.Tensor):
        return batch.to("cuda", non_blocking=True)
    if isinstance(batch, (list, tuple)):
        return [onto_the_gpu(part) for part in batch]
    return batch

class Ahead:
    def __init__(self, loader, move=onto_the_gpu):
        self.batches = iter(loader)
        self.move = move
        self.side = torch.cuda.Stream()
        self.fetch()

    def fetch(self):
        try:
            with torch.cuda.stream(self.side):
                self.side.wait_stream(torch.cuda.default_stream())
                self.batch = self.move(next(self.batches))
        except StopIteration:
            self.batch = None

    def __next__(self):
        torch.cuda.current_stream().wait_stream(self.side)
        if self.batch is None:
            raise StopIteration
        batch = self.batch
        self.fetch()
        return batch

#- case: the last turn over a length is told by that length
def sums(hosts):
    copies = torch.cuda.Stream()
    buffer = torch.empty(1024, device="cuda")
    copies.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(copies):
        buffer.copy_(hosts[0], non_blocking=True)
    for i in range(len(hosts)):
        torch.cuda.current_stream().wait_stream(copies)
        print(buffer.sum().item())
        with torch.cuda.stream(copies):
            print(buffer.copy_(hosts[i], non_blocking=True).shape)
            #     ^ missing-record-stream
#- good
def sums(hosts):
    copies = torch.cuda.Stream()
    buffer = torch.empty(1024, device="cuda")
    copies.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(copies):
        buffer.copy_(hosts[0], non_blocking=True)
    for i in range(len(hosts)):
        torch.cuda.current_stream().wait_stream(copies)
        print(buffer.sum().item())
        if i + 1 < len(hosts):
            with torch.cuda.stream(copies):
                buffer.copy_(hosts[i + 1], non_blocking=True)
#- good
def sums(hosts):
    copies = torch.cuda.Stream()
    buffer = torch.empty(1024, device="cuda")
    copies.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(copies):
        buffer.copy_(hosts[0], non_blocking=True)
    for i in range(len(hosts)):
        torch.cuda.current_stream().wait_stream(copies)
        print(buffer.sum().item())
        if (len(hosts) - 1) > i:
            with torch.cuda.stream(copies):
                buffer.copy_(hosts[i + 1], non_blocking=True)
#- good
def sums(hosts):
    copies = torch.cuda.Stream()
    buffer = torch.empty(1024, device="cuda")
    copies.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(copies):
        buffer.copy_(hosts[0], non_blocking=True)
    for i in range(len(hosts)):
        torch.cuda.current_stream().wait_stream(copies)
        print(buffer.sum().item())
        if i != (len(hosts) - 1):
            with torch.cuda.stream(copies):
                buffer.copy_(hosts[i + 1], non_blocking=True)

#- case: an object that goes on by itself takes from an iterator over what nobody knows, a loop from it
class Feed:
    def __init__(self, source):
        self.it = iter(source)
        self.side = torch.cuda.Stream()

    def __iter__(self):
        return self

    def __next__(self):
        with torch.cuda.stream(self.side):
            batch = next(self.it).to("cuda", non_blocking=True)
        torch.cuda.current_stream().wait_stream(self.side)
        return batch

def run(source):
    total = torch.zeros((), device="cuda")
    for batch in Feed(source):
        total += batch.sum()
      #          ^ missing-record-stream
    return total
#- good
class Feed:
    def __init__(self, source):
        self.it = iter(source)
        self.side = torch.cuda.Stream()

    def __iter__(self):
        return self

    def __next__(self):
        with torch.cuda.stream(self.side):
            batch = next(self.it).to("cuda", non_blocking=True)
        torch.cuda.current_stream().wait_stream(self.side)
        batch.record_stream(torch.cuda.current_stream())
        return batch

def run(source):
    total = torch.zeros((), device="cuda")
    for batch in Feed(source):
        total += batch.sum()
    return total
#- good
class Feed:
    def __init__(self, source):
        self.it = iter(source)
        self.side = torch.cuda.Stream()

    def __iter__(self):
        return self

    def __next__(self):
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            batch = next(self.it).to("cuda", non_blocking=True)
        torch.cuda.current_stream().wait_stream(self.side)
        return batch

def run(source):
    total = torch.zeros((), device="cuda")
    for batch in Feed(source):
        total += batch.sum()
    return total
#- good
class Feed:
    def __init__(self, source):
        self.it = iter(source)
        self.side = torch.cuda.Stream()
        self.take()

    def take(self):
        try:
            batch = next(self.it)
        except StopIteration:
            self.ready = None
            return
        with torch.cuda.stream(self.side):
            self.ready = batch.to("cuda", non_blocking=True)

    def __iter__(self):
        return self

    def __next__(self):
        torch.cuda.current_stream().wait_stream(self.side)
        batch = self.ready
        if batch is None:
            raise StopIteration
        batch.record_stream(torch.cuda.current_stream())
        self.take()
        return batch

def run(source):
    total = torch.zeros((), device="cuda")
    for batch in Feed(source):
        total += batch.sum()
    return total
#- case: who gets the loader from a function lets the host wait in each turn
class Prefetching:
    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        stream = torch.cuda.Stream()
        ready = None
        for image, _ in self.loader:
            with torch.cuda.stream(stream):
                batch = image.cuda(non_blocking=True).float()
            if ready is not None:
                yield ready
            torch.cuda.current_stream().wait_stream(stream)
            ready = batch
        yield ready

def create_loader(dataset):
    loader = torch.utils.data.DataLoader(dataset, pin_memory=True)
    if dataset.on_device:
        loader = Prefetching(loader)
    return loader

def train(dataset, weights, optimizer):
    for batch in create_loader(dataset):
        (batch @ weights).sum().backward()
        optimizer.step()
        torch.cuda.synchronize()

#- case: who gets the loader from a function goes on at once
class Prefetching:
    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        stream = torch.cuda.Stream()
        ready = None
        for image, _ in self.loader:
            with torch.cuda.stream(stream):
                batch = image.cuda(non_blocking=True).float()
            if ready is not None:
                yield ready
            torch.cuda.current_stream().wait_stream(stream)
            ready = batch
        yield ready

def create_loader(dataset):
    loader = torch.utils.data.DataLoader(dataset, pin_memory=True)
    if dataset.on_device:
        loader = Prefetching(loader)
    return loader

def train(dataset, weights, optimizer):
    for batch in create_loader(dataset):
        (batch @ weights).sum().backward()
       # ^ missing-record-stream
        optimizer.step()
#- good
class Prefetching:
    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        stream = torch.cuda.Stream()
        ready = None
        for image, _ in self.loader:
            with torch.cuda.stream(stream):
                batch = image.cuda(non_blocking=True).float()
            if ready is not None:
                yield ready
            torch.cuda.current_stream().wait_stream(stream)
            ready = batch
        yield ready

def create_loader(dataset):
    loader = torch.utils.data.DataLoader(dataset, pin_memory=True)
    if dataset.on_device:
        loader = Prefetching(loader)
    return loader

def train(dataset, weights, optimizer):
    for batch in create_loader(dataset):
        (batch @ weights).sum().backward()
        optimizer.step()
        torch.cuda.synchronize()

#- case: the loader goes from one function to the next
import loaders

def prepare(dataset, model):
    make = loaders.create_loader
    train_loader, count = make(dataset), 2
    return model.cuda(), train_loader

def train(model, loader):
    for batch in loader:
        model(batch).sum().backward()
        torch.cuda.synchronize()

def main(dataset, model):
    model, train_loader = prepare(dataset, model)
    train(model, train_loader)
#- file: loaders.py
import torch

class Prefetching:
    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        stream = torch.cuda.Stream()
        ready = None
        for image, _ in self.loader:
            with torch.cuda.stream(stream):
                batch = image.cuda(non_blocking=True).float()
            if ready is not None:
                yield ready
            torch.cuda.current_stream().wait_stream(stream)
            ready = batch
        yield ready

def create_loader(dataset):
    return Prefetching(torch.utils.data.DataLoader(dataset, pin_memory=True))

#- case: the loader is kept in another object
class Prefetching:
    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        stream = torch.cuda.Stream()
        ready = None
        for image, _ in self.loader:
            with torch.cuda.stream(stream):
                batch = image.cuda(non_blocking=True).float()
            if ready is not None:
                yield ready
            torch.cuda.current_stream().wait_stream(stream)
            ready = batch
        yield ready

def create_loader(dataset):
    return Prefetching(torch.utils.data.DataLoader(dataset, pin_memory=True))

class Trainer:
    def __init__(self, dataset, model):
        self.batches = create_loader(dataset)
        self.model = model

    def epoch(self):
        for batch in self.batches:
            self.model(batch).sum().backward()
            torch.cuda.synchronize()
