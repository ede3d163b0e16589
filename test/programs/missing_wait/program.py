"""A frame is brightened on one stream and blurred on another; nothing makes the second wait for the first."""
import torch

SIZE = 1 << 21


def process(frame, brighten, blur):
    blurred = torch.zeros(SIZE, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(brighten):
        torch.cuda._sleep(20_000_000)
        frame.mul_(1.5)
    with torch.cuda.stream(blur):
        blurred.add_(frame, alpha=0.25)  # reads a frame that is still being brightened
    torch.cuda.synchronize()
    return blurred


def main():
    brighten, blur = torch.cuda.Stream(), torch.cuda.Stream()
    frame = torch.rand(SIZE, device="cuda")
    # Twice: the first use of a kernel waits for the whole device and so hides the race.
    return [float(process(frame, brighten, blur).sum()) for _ in range(2)]


if __name__ == "__main__":
    print("sums", main())
