"""The two halves of a token list are counted into one histogram, each on a stream of its own."""
import torch

VOCABULARY = 50_000


def count(histogram, tokens, stream):
    with torch.cuda.stream(stream):
        ones = torch.ones_like(tokens, dtype=torch.float32)
        histogram.scatter_add_(0, tokens, ones)


def main():
    start = torch.cuda.Event()
    first, second = torch.cuda.Stream(), torch.cuda.Stream()
    tokens = torch.randint(0, VOCABULARY, (1 << 20,), device="cuda")
    histogram = torch.zeros(VOCABULARY, device="cuda")
    start.record()
    first.wait_event(start)
    second.wait_event(start)
    left, right = tokens.chunk(2)
    count(histogram, left, first)
    second.wait_stream(first)
    count(histogram, right, second)
    torch.cuda.synchronize()
    print(histogram.sum().item())


if __name__ == "__main__":
    main()
