"""A small lane object with fork, join and a call operator."""
import torch


class Lane:
    def __init__(self):
        self.stream = torch.cuda.Stream()

    def fork(self):
        self.stream.wait_stream(torch.cuda.current_stream())
        return self

    def __call__(self, fn, *args):
        with torch.cuda.stream(self.stream):
            return fn(*args)

    def join(self):
        torch.cuda.current_stream().wait_stream(self.stream)


def main():
    left, right = Lane(), Lane()
    x = torch.randn(1 << 18, device="cuda")
    a = left.fork()(torch.sin, x)
    b = right.fork()(torch.cos, x)
    left.join()
    right.join()
    y = a * b
    torch.cuda.synchronize()
    print(y.sum().item())


if __name__ == "__main__":
    main()
