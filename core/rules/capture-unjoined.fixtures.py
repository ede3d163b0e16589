#- case: one branch is not joined
def captured(x):
    side = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        root = torch.cuda.current_stream()
        y = x.cuda(non_blocking=True) * 2
        side.wait_stream(root)
      # ^ capture-unjoined: `side` is forked into the graph capture here, but `root` does not wait for the `add` on it
      # | before the capture ends: CUDA refuses a graph with unjoined work
        with torch.cuda.stream(side):
            z = y + 1
        w = y - 1
    return graph, w
#- fixed
def captured(x):
    side = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        root = torch.cuda.current_stream()
        y = x.cuda(non_blocking=True) * 2
        side.wait_stream(root)
        with torch.cuda.stream(side):
            z = y + 1
        root.wait_stream(side)
        w = y - 1
    return graph, w

#- case: forked through an event, captured by hand
def captured(x):
    root, side = torch.cuda.Stream(), torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(root):
        graph.capture_begin()
        forked = root.record_event()
        side.wait_event(forked)
      # ^ capture-unjoined: `side` is forked into the graph capture here, but `root` does not wait for the `mul` on it
        with torch.cuda.stream(side):
            y = x.mul(2)
        graph.capture_end()
    return graph
#- fixed
def captured(x):
    root, side = torch.cuda.Stream(), torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(root):
        graph.capture_begin()
        forked = root.record_event()
        side.wait_event(forked)
        with torch.cuda.stream(side):
            y = x.mul(2)
        root.wait_stream(side)
        graph.capture_end()
    return graph

#- case: joined through another stream
def captured(x):
    a, b = torch.cuda.Stream(), torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        root = torch.cuda.current_stream()
        a.wait_stream(root)
        with torch.cuda.stream(a):
            y = x.mul(2)
        b.wait_stream(a)
        with torch.cuda.stream(b):
            z = y + 1
        root.wait_stream(b)
    return graph

#- case: forked, joined and forked again without work
def captured(x):
    side = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        root = torch.cuda.current_stream()
        for _ in range(2):
            side.wait_stream(root)
            with torch.cuda.stream(side):
                y = x.mul(2)
            root.wait_stream(side)
        side.wait_stream(root)
    return graph
