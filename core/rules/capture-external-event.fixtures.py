#- case: the event was recorded before the capture
def captured(host):
    copies = torch.cuda.Stream()
    loaded = torch.cuda.Event()
    with torch.cuda.stream(copies):
        w = host.to("cuda", non_blocking=True)
        loaded.record(copies)
      # ~ recorded here
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        torch.cuda.current_stream().wait_event(loaded)
      # ^ capture-external-event: The capture stream is being captured and waits for `loaded`, which was recorded on
      # | `copies` outside of the capture: CUDA breaks the capture off
        y = w * 2
    torch.cuda.synchronize()
    return graph, y
#- fixed
def captured(host):
    copies = torch.cuda.Stream()
    loaded = torch.cuda.Event()
    with torch.cuda.stream(copies):
        w = host.to("cuda", non_blocking=True)
        loaded.record(copies)
    graph = torch.cuda.CUDAGraph()
    torch.cuda.current_stream().wait_event(loaded)
    with torch.cuda.graph(graph):
        y = w * 2
    torch.cuda.synchronize()
    return graph, y

#- case: a captured event is waited for outside
def replayed(host):
    x = host.cuda()
    other = torch.cuda.Stream()
    done = torch.cuda.Event()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x.exp()
        done.record(torch.cuda.current_stream())
    graph.replay()
    other.wait_event(done)
  # ^ capture-external-event: `other` waits for `done`, which was recorded inside a graph capture: no replay records
  # | it, and the wait is an error
#- fixed
def replayed(host):
    x = host.cuda()
    other = torch.cuda.Stream()
    done = torch.cuda.Event()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x.exp()
    graph.replay()
    done.record(torch.cuda.current_stream())
    other.wait_event(done)

#- case: a stream that is no part of the capture is waited for
def captured(x):
    side = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        torch.cuda.current_stream().wait_stream(side)
      # ^ capture-external-event: The capture stream is being captured and waits for `side`, which is no part of the
      # | capture: CUDA breaks the capture off
        y = x.mul(2)
    return graph
#- fixed
def captured(x):
    side = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    torch.cuda.current_stream().wait_stream(side)
    with torch.cuda.graph(graph):
        y = x.mul(2)
    return graph

#- case: recorded and waited for inside
def captured(x):
    side = torch.cuda.Stream()
    done = torch.cuda.Event()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        root = torch.cuda.current_stream()
        side.wait_stream(root)
        with torch.cuda.stream(side):
            y = x.mul(2)
            done.record()
        root.wait_event(done)
    return graph

#- case: an external event may cross the border
def captured(x):
    done = torch.cuda.Event(external=True)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x.mul(2)
        done.record()
    graph.replay()
    done.synchronize()

#- case: where there is no CUDA, its rules do not hold
def measured(platform, x):
    graph = torch.cuda.CUDAGraph()
    done = torch.cuda.Event()
    with torch.cuda.graph(graph):
        y = x.mul(2)
        done.record()
    graph.replay()
    done.synchronize()
  # ^ capture-external-event
#- good
def measured(platform, x):
    graph = torch.cuda.CUDAGraph()
    options = {"external": True} if platform.is_cuda_alike() else {}
    done = torch.cuda.Event(**options)
    with torch.cuda.graph(graph):
        y = x.mul(2)
        done.record()
    graph.replay()
    done.synchronize()
