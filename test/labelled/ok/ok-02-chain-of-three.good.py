"""C hears of A's work through B, and the caller of all of it through C."""
import torch

A, B, C = (torch.cuda.Stream() for _ in range(3))


def main():
    caller = torch.cuda.current_stream()
    seeds = torch.arange(1 << 16, device="cuda")
    A.wait_stream(caller)
    with torch.cuda.stream(A):
        squares = seeds * seeds
    B.wait_stream(A)
    with torch.cuda.stream(B):
        shifted = squares + 1
    C.wait_event(B.record_event())
    with torch.cuda.stream(C):
        both = squares + shifted + seeds
    caller.wait_stream(C)
    total = (both - squares).sum() + shifted.sum()
    torch.cuda.synchronize()
    print(total.item())


if __name__ == "__main__":
    main()
