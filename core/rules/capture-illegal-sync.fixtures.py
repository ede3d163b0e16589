#- case: a value is read inside the capture
def captured(host):
    x = host.cuda()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
    #    ~ the capture begins here
        scale = x.max().item()
              # ^ capture-illegal-sync: The host waits for the device here (`item` needs a value of the device) while a
              # | graph is being captured: captured work does not run, and CUDA breaks the capture off
        y = x / scale
    return graph
#- fixed
def captured(host):
    x = host.cuda()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        scale = x.max()
        y = x / scale
    return graph

#- case: synchronized by hand
def captured(host):
    x = host.cuda()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x * 2
        torch.cuda.synchronize()
      # ^ capture-illegal-sync: The host waits for the device here while a graph is being captured
    return graph
#- fixed
def captured(host):
    x = host.cuda()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x * 2
    return graph

#- case: behind a guard
def report(x):
    if not torch.cuda.is_current_stream_capturing():
        print(x.max().item())

def captured(host):
    x = host.cuda()
    report(x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        report(x)
        y = x * 2
    return graph

#- case: before and after the capture, and a tensor that may be on the CPU
def captured(host, x, limit):
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        if limit.item() > 0:
            y = x * 2
    torch.cuda.synchronize()
    return graph

#- case: lengths that are known need no wait
graph = torch.cuda.CUDAGraph()

def captured(x):
    block = x.cuda()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        long = torch.repeat_interleave(block, 2)
        found = torch.nonzero_static(block, size=4)
        total = found.sum() + long.sum()
    graph.replay()
    return total

#- case: what depends on the values waits for them
graph = torch.cuda.CUDAGraph()

def captured(x):
    block = x.cuda()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        (found,) = torch.where(block > 0)
        #          ^ capture-illegal-sync: `where`
        total = found.sum()
    graph.replay()
    return total
#- good
graph = torch.cuda.CUDAGraph()

def captured(x):
    block = x.cuda()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        chosen = torch.where(block > 0, block, 0)
        total = chosen.sum()
    graph.replay()
    return total
