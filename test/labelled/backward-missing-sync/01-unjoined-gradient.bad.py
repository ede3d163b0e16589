"""A custom Function rescales its gradient on a side stream and returns it without a join."""
import torch


class SideScale(torch.autograd.Function):
    side = torch.cuda.Stream()

    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        here = torch.cuda.current_stream()
        SideScale.side.wait_stream(here)
        with torch.cuda.stream(SideScale.side):
            scaled = grad * ctx.factor  # may: missing-record-stream
        scaled.record_stream(here)
        return scaled, None  # expect: backward-missing-sync


def main():
    x = torch.randn(1 << 20, device="cuda", requires_grad=True)
    loss = SideScale.apply(x.sin(), 3.0).sum()
    loss.backward()  # may: missing-wait
    torch.cuda.synchronize()
    print(x.grad.norm().item())


if __name__ == "__main__":
    main()
