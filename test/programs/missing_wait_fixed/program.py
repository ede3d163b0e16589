"""The brightened frame again, this time with the event between the two streams."""
import torch

SIZE = 1 << 21


def process(frame, brighten, blur):
    blurred = torch.zeros(SIZE, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(brighten):
        torch.cuda._sleep(20_000_000)
        frame.mul_(1.5)
        bright = torch.cuda.Event()
        bright.record()
    with torch.cuda.stream(blur):
        blur.wait_event(bright)
        blurred.add_(frame, alpha=0.25)
    torch.cuda.synchronize()
    return blurred


def main():
    brighten, blur = torch.cuda.Stream(), torch.cuda.Stream()
    frame = torch.rand(SIZE, device="cuda")
    return [float(process(frame, brighten, blur).sum()) for _ in range(2)]


if __name__ == "__main__":
    print("sums", main())
