#- case: called inside the capture
def captured(x):
    side = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        root = torch.cuda.current_stream()
        y = x.mul(2)
        side.wait_stream(root)
        with torch.cuda.stream(side):
            z = y + 1
        y.record_stream(side)
      # ^ capture-record-stream: `y` is given to record_stream while a graph is being captured: replays know
      # | nothing of it, and until the capture ends the memory cannot be handed out again
        root.wait_stream(side)
    return graph
#- fixed
def captured(x):
    side = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        root = torch.cuda.current_stream()
        y = x.mul(2)
        side.wait_stream(root)
        with torch.cuda.stream(side):
            z = y + 1
        root.wait_stream(side)
    return graph

#- case: not while capturing
def forked(x, side):
    root = torch.cuda.current_stream()
    y = x.mul(2)
    side.wait_stream(root)
    with torch.cuda.stream(side):
        z = y + 1
    if not torch.cuda.is_current_stream_capturing():
        y.record_stream(side)
    root.wait_stream(side)
    return z

def captured(x):
    side = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        forked(x, side)
    return graph
