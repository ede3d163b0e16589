#- case: the gradient is read on a stream of its own
lane = torch.cuda.Stream()

class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        current = torch.cuda.current_stream()
        with torch.cuda.stream(lane):
            out = grad * 2
            #     ^ backward-missing-sync: `grad` is read on `lane` by `mul` before the `grad` on `current` is done:
            # | no wait of `lane` for `current` lies between
        current.wait_stream(lane)
        out.record_stream(current)
        return out

def train():
    x = torch.randn(1024, device="cuda", requires_grad=True)
    Scale.apply(x).sum().backward()
  # ~ `grad` is written here, on `current`
    torch.cuda.synchronize()
#- fixed
lane = torch.cuda.Stream()

class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        current = torch.cuda.current_stream()
        lane.wait_stream(current)
        with torch.cuda.stream(lane):
            out = grad * 2
        current.wait_stream(lane)
        out.record_stream(current)
        return out

def train():
    x = torch.randn(1024, device="cuda", requires_grad=True)
    Scale.apply(x).sum().backward()
    torch.cuda.synchronize()

#- case: forked and joined
lane = torch.cuda.Stream()

class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        current = torch.cuda.current_stream()
        lane.wait_stream(current)
        with torch.cuda.stream(lane):
            out = grad * 2
        current.wait_stream(lane)
        out.record_stream(current)
        return out

def train():
    x = torch.randn(1024, device="cuda", requires_grad=True)
    Scale.apply(x).sum().backward()
    torch.cuda.synchronize()
