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
#- good
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
