#- case: two producers, one event
def combined(host_a, host_b):
    left, right, consumer = torch.cuda.Stream(), torch.cuda.Stream(), torch.cuda.Stream()
    done = torch.cuda.Event()
    with torch.cuda.stream(left):
        a = host_a.to("cuda", non_blocking=True)
    done.record(left)
  # ~ the record on `left` that is lost
    with torch.cuda.stream(right):
        b = host_b.to("cuda", non_blocking=True)
    done.record(right)
  # ^ event-rerecorded: This record of `done` on `right` takes the place of the one on `left` before anything has
  # | waited for that: the later wait does not cover the `copy` on `left`
    consumer.wait_event(done)
    with torch.cuda.stream(consumer):
        c = a + b
    torch.cuda.synchronize()
    print(c)
#- fixed
def combined(host_a, host_b):
    left, right, consumer = torch.cuda.Stream(), torch.cuda.Stream(), torch.cuda.Stream()
    done = torch.cuda.Event()
    with torch.cuda.stream(left):
        a = host_a.to("cuda", non_blocking=True)
    done.record(left)
    with torch.cuda.stream(right):
        b = host_b.to("cuda", non_blocking=True)
    consumer.wait_event(done)
    done.record(right)
    consumer.wait_event(done)
    with torch.cuda.stream(consumer):
        c = a + b
    torch.cuda.synchronize()
    print(c)

#- case: one event for all turns of a loop
def gathered(x):
    here = torch.cuda.current_stream()
    lanes = [torch.cuda.Stream() for _ in range(2)]
    mark = torch.cuda.Event()
    marks, parts = [], []
    for lane, part in zip(lanes, x.cuda().chunk(2)):
        lane.wait_stream(here)
        with torch.cuda.stream(lane):
            parts.append(part.clone())
        mark.record(lane)
      # ^ event-rerecorded: This record of `mark` on `lane` takes the place of the one on another stream before
      # | anything has waited for that: the later wait does not cover the `clone` on another stream
        marks.append(mark)
    for mark in marks:
        here.wait_event(mark)
    return torch.cat(parts).sum().item()
#- fixed
def gathered(x):
    here = torch.cuda.current_stream()
    lanes = [torch.cuda.Stream() for _ in range(2)]
    mark = torch.cuda.Event()
    marks, parts = [], []
    for lane, part in zip(lanes, x.cuda().chunk(2)):
        lane.wait_stream(here)
        with torch.cuda.stream(lane):
            parts.append(part.clone())
        mark = torch.cuda.Event()
        mark.record(lane)
        marks.append(mark)
    for mark in marks:
        here.wait_event(mark)
    return torch.cat(parts).sum().item()

#- case: recorded again after its wait
def combined(host_a, host_b):
    left, right, consumer = torch.cuda.Stream(), torch.cuda.Stream(), torch.cuda.Stream()
    done = torch.cuda.Event()
    with torch.cuda.stream(left):
        a = host_a.to("cuda", non_blocking=True)
    done.record(left)
    consumer.wait_event(done)
    with torch.cuda.stream(right):
        b = host_b.to("cuda", non_blocking=True)
    done.record(right)
    consumer.wait_event(done)
    with torch.cuda.stream(consumer):
        c = a + b
    torch.cuda.synchronize()
    print(c)

#- case: the second record covers the first
def passed_on(host):
    copy, work = torch.cuda.Stream(), torch.cuda.Stream()
    done = torch.cuda.Event()
    with torch.cuda.stream(copy):
        x = host.to("cuda", non_blocking=True)
    done.record(copy)
    work.wait_stream(copy)
    done.record(work)
    torch.cuda.current_stream().wait_event(done)
    return x.sum().item()
