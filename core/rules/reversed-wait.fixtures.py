#- case: the join is the wrong way round
side = torch.cuda.Stream()

def doubled(host):
    current = torch.cuda.current_stream()
    x = host.cuda()
    side.wait_stream(current)
    with torch.cuda.stream(side):
        y = x * 2
        #   ~ this is the work that should be waited for
    side.wait_stream(current)
  # ^ reversed-wait: `side` waits for `current` here, but it is `current` that needs the `mul` on `side` to be done:
  # | the wait is the wrong way round
    return y.sum().item()
#- fixed
side = torch.cuda.Stream()

def doubled(host):
    current = torch.cuda.current_stream()
    x = host.cuda()
    side.wait_stream(current)
    with torch.cuda.stream(side):
        y = x * 2
    current.wait_stream(side)
    return y.sum().item()

#- case: the event is recorded on the consumer
def mean_of(host):
    copy, compute = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(copy):
        x = host.cuda(non_blocking=True)
        #   ~ this is the work that should be waited for
    ready = torch.cuda.Event()
    ready.record(compute)
    copy.wait_event(ready)
  # ^ reversed-wait: `copy` waits for `compute` here, but it is `compute` that needs the `copy` on `copy` to be done:
  # | the wait is the wrong way round
    with torch.cuda.stream(compute):
        y = x.mean()
    torch.cuda.synchronize()
    return y.item()
#- fixed
def mean_of(host):
    copy, compute = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(copy):
        x = host.cuda(non_blocking=True)
    ready = torch.cuda.Event()
    ready.record(copy)
    compute.wait_event(ready)
    with torch.cuda.stream(compute):
        y = x.mean()
    torch.cuda.synchronize()
    return y.item()

#- case: queued before the work
def mean_of(host):
    copy, compute = torch.cuda.Stream(), torch.cuda.Stream()
    compute.wait_stream(copy)
  # ^ reversed-wait: `compute` waits for `copy` as it was before the `copy` was queued there: the wait comes too early
  # | to cover it
    with torch.cuda.stream(copy):
        x = host.cuda(non_blocking=True)
        #   ~ this is the work that should be waited for
    with torch.cuda.stream(compute):
        y = x.mean()
    torch.cuda.synchronize()
    return y.item()
#- fixed
def mean_of(host):
    copy, compute = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(copy):
        x = host.cuda(non_blocking=True)
    compute.wait_stream(copy)
    with torch.cuda.stream(compute):
        y = x.mean()
    torch.cuda.synchronize()
    return y.item()

#- case: a helper is called with its streams swapped
def follow(later, earlier):
    later.wait_stream(earlier)

def mean_of(host):
    copy, compute = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(copy):
        x = host.cuda(non_blocking=True)
        #   ~ this is the work that should be waited for
    follow(copy, compute)
  # ^ reversed-wait: `copy` waits for `compute` here, but it is `compute` that needs the `copy` on `copy` to be done:
  # | the wait is the wrong way round
    with torch.cuda.stream(compute):
        y = x.mean()
    torch.cuda.synchronize()
    print(y.item())

mean_of(torch.ones(8).pin_memory())
#- fixed
def follow(later, earlier):
    later.wait_stream(earlier)

def mean_of(host):
    copy, compute = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(copy):
        x = host.cuda(non_blocking=True)
    follow(compute, copy)
    with torch.cuda.stream(compute):
        y = x.mean()
    torch.cuda.synchronize()
    print(y.item())

mean_of(torch.ones(8).pin_memory())

#- case: both directions are needed in a loop
def smooth(n):
    side = torch.cuda.Stream()
    current = torch.cuda.current_stream()
    state = torch.zeros(1024, device="cuda")
    for _ in range(n):
        side.wait_stream(current)
        with torch.cuda.stream(side):
            state.add_(0.5)
        current.wait_stream(side)
        state.mul_(0.9)
    return state

#- case: the event has its name from the record
def mean_of(host):
    copy, compute = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(copy):
        x = host.cuda(non_blocking=True)
    ready = compute.record_event()
    copy.wait_event(ready)
  # ^ reversed-wait
    with torch.cuda.stream(compute):
        y = x.mean()
    torch.cuda.synchronize()
    return y.item()
#- fixed
def mean_of(host):
    copy, compute = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(copy):
        x = host.cuda(non_blocking=True)
    ready = copy.record_event()
    compute.wait_event(ready)
    with torch.cuda.stream(compute):
        y = x.mean()
    torch.cuda.synchronize()
    return y.item()

#- case: an event that was recorded too early is no wait that comes too early
def summed(x):
    here = torch.cuda.current_stream()
    lane = torch.cuda.Stream()
    done = torch.cuda.Event()
    base = x.cuda()
    lane.wait_stream(here)
    done.record(lane)
  # ~ the event is recorded here, before the `exp`
    with torch.cuda.stream(lane):
        y = base.exp()
    here.wait_event(done)
    total = y.sum()
    #       ^ missing-wait: `y` is read on `here` by `sum` before the `exp` on `lane` is done
    torch.cuda.synchronize()
    print(total.item())
#- good
def summed(x):
    here = torch.cuda.current_stream()
    lane = torch.cuda.Stream()
    done = torch.cuda.Event()
    base = x.cuda()
    lane.wait_stream(here)
    with torch.cuda.stream(lane):
        y = base.exp()
        done.record(lane)
    here.wait_event(done)
    total = y.sum()
    torch.cuda.synchronize()
    print(total.item())
