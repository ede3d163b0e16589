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

#- case: a gradient is returned before it is ready
lane = torch.cuda.Stream()

class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        current = torch.cuda.current_stream()
        lane.wait_stream(current)
        with torch.cuda.stream(lane):
            out = grad * 2
            #     ~ `out` is written here, on `lane`
        out.record_stream(current)
        return out
      # ^ backward-missing-sync: `out` is returned

def train():
    x = torch.randn(1024, device="cuda", requires_grad=True)
    for _ in range(3):
        Double.apply(x).sum().backward()
    torch.cuda.synchronize()
#- fixed
lane = torch.cuda.Stream()

class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        current = torch.cuda.current_stream()
        lane.wait_stream(current)
        with torch.cuda.stream(lane):
            out = grad * 2
            lane_done = lane.record_event()
        out.record_stream(current)
        current.wait_event(lane_done)
        return out

def train():
    x = torch.randn(1024, device="cuda", requires_grad=True)
    for _ in range(3):
        Double.apply(x).sum().backward()
    torch.cuda.synchronize()

#- case: nobody applies it
lane = torch.cuda.Stream()

class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        current = torch.cuda.current_stream()
        lane.wait_stream(current)
        with torch.cuda.stream(lane):
            out = grad * 2
        out.record_stream(current)
        return out
      # ^ backward-missing-sync: `out` is returned
#- fixed
lane = torch.cuda.Stream()

class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        current = torch.cuda.current_stream()
        lane.wait_stream(current)
        with torch.cuda.stream(lane):
            out = grad * 2
        out.record_stream(current)
        current.wait_stream(lane)
        return out
