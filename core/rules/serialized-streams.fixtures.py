#- case: the host waits in each turn
def products(hosts):
    lanes = [torch.cuda.Stream() for _ in range(2)]
    blocks = [torch.ones(64, 64, device="cuda") for _ in range(4)]
    torch.cuda.synchronize()
    found = []
    for i, block in enumerate(blocks):
        with torch.cuda.stream(lanes[i % 2]):
            found.append(block @ block)
        torch.cuda.synchronize()
      # ^ serialized-streams: The host waits here in each turn, before it issues work to another stream that does not
      # | depend on this: the streams cannot overlap
    print([x.sum().item() for x in found])
#- fixed
def products(hosts):
    lanes = [torch.cuda.Stream() for _ in range(2)]
    blocks = [torch.ones(64, 64, device="cuda") for _ in range(4)]
    torch.cuda.synchronize()
    found = []
    for i, block in enumerate(blocks):
        with torch.cuda.stream(lanes[i % 2]):
            found.append(block @ block)
    torch.cuda.synchronize()
    print([x.sum().item() for x in found])

#- case: one side stream waits for another without need
def products(a, b):
    here = torch.cuda.current_stream()
    left, right = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(left):
        x = a.cuda(non_blocking=True) * 2
    right.wait_stream(left)
  # ^ serialized-streams: `right` waits here for `left`, but the `copy` on `right` needs nothing of it: the two cannot
  # | overlap
    with torch.cuda.stream(right):
        y = b.cuda(non_blocking=True) * 2
    here.wait_stream(left)
    here.wait_stream(right)
    print((x + y).sum().item())
#- fixed
def products(a, b):
    here = torch.cuda.current_stream()
    left, right = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(left):
        x = a.cuda(non_blocking=True) * 2
    with torch.cuda.stream(right):
        y = b.cuda(non_blocking=True) * 2
    here.wait_stream(left)
    here.wait_stream(right)
    print((x + y).sum().item())

#- case: the second stream needs the first, or passes its order on
def products(a):
    here = torch.cuda.current_stream()
    left, right = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(left):
        x = a.cuda(non_blocking=True) * 2
    right.wait_stream(left)
    with torch.cuda.stream(right):
        y = x + 1
    here.wait_stream(right)
    print(y.sum().item())

def passed_on(a, b):
    here = torch.cuda.current_stream()
    left, right = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(left):
        x = a.cuda(non_blocking=True) * 2
    right.wait_stream(left)
    with torch.cuda.stream(right):
        y = b.cuda(non_blocking=True) * 2
    here.wait_stream(right)
    print((x + y).sum().item())

#- case: each turn looks at its result, or goes on with that of the turn before
def looked_at():
    lanes = [torch.cuda.Stream() for _ in range(2)]
    blocks = [torch.ones(64, 64, device="cuda") for _ in range(4)]
    torch.cuda.synchronize()
    for i, block in enumerate(blocks):
        with torch.cuda.stream(lanes[i % 2]):
            x = block @ block
        torch.cuda.synchronize()
        print(x.sum().item())

def chained():
    lanes = [torch.cuda.Stream() for _ in range(2)]
    x = torch.ones(64, 64, device="cuda")
    torch.cuda.synchronize()
    for i in range(4):
        with torch.cuda.stream(lanes[i % 2]):
            x.mul_(2)
        torch.cuda.synchronize()
    print(x)
