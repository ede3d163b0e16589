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

#- case: a value of the device decides while a graph is captured
import triton
import triton.language as tl

@triton.jit
def scale(x_ptr, y_ptr, H: tl.constexpr):
    i = tl.arange(0, H)
    tl.store(y_ptr + i, tl.load(x_ptr + i) * 2)

def decode(state, heads):
    total = state.sum()
    if total == heads:
  #    ^ capture-illegal-sync
        return state
    scale[(heads,)](state, total, H=heads)
    return total

def bench(options):
    for heads in options.heads:
        state = torch.randn(heads + 8, heads, 64, device="cuda")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(3):
                decode(state, heads)
#- good
import triton
import triton.language as tl

@triton.jit
def scale(x_ptr, y_ptr, H: tl.constexpr):
    i = tl.arange(0, H)
    tl.store(y_ptr + i, tl.load(x_ptr + i) * 2)

def decode(state, heads):
    total = state.sum()
    rows, columns, depth = state.shape
    if columns * depth != rows + heads:
        return state
    scale[(heads,)](state, total, H=heads)
    return total

def bench(options):
    for heads in options.heads:
        state = torch.randn(heads + 8, heads, 64, device="cuda")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(3):
                decode(state, heads)

#- case: a status that a library gives is no value of the device
from cuda.bindings import runtime

def checked(result):
    status, *rest = result
    if status != runtime.cudaError_t.cudaSuccess:
        raise RuntimeError(f"CUDA failed: {status}")
    return rest

def captured(x, loop):
    block = x.cuda()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        node = checked(loop.add_node(block))
        y = block * 2
    return graph, node, y

#- case: a capture that is too long to be followed to its end
class Runner:
    def __init__(self):
        self.x = torch.zeros(8, device="cuda")
        self.graphs = {}

    def layers(self, x):
        for _ in range(60):
            for _ in range(60):
                x = x * 2 + 1
        return x

    def capture(self):
        for size in range(8):
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                for _ in range(60):
                    self.x.copy_(self.layers(self.x))
            self.graphs[size] = graph

    def stop(self):
        torch.cuda.synchronize()
        self.graphs.clear()

#- case: what is taken for a tensor may be one of the device already
class Boxes:
    def __init__(self, box):
        device = box.device if isinstance(box, torch.Tensor) else torch.device("cpu")
        self.box = torch.tensor(box, dtype=torch.float32, device=device)
                 # ^ capture-illegal-sync

def captured(features, anchors):
    x = features.cuda()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x * 2
        made = [Boxes(one) for one in anchors]
    return graph, y, made
#- good
class Boxes:
    def __init__(self, box):
        device = box.device if isinstance(box, torch.Tensor) else torch.device("cpu")
        self.box = torch.as_tensor(box, dtype=torch.float32, device=device)

def captured(features, anchors):
    x = features.cuda()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x * 2
        made = [Boxes(one) for one in anchors]
    return graph, y, made
