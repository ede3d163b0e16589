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
