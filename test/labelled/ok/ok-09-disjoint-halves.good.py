"""Two lanes fill the two halves of one buffer: the bytes never meet."""
import torch


def main():
    here = torch.cuda.current_stream()
    upper, lower = torch.cuda.Stream(), torch.cuda.Stream()
    image = torch.zeros(1024, 1024, device="cuda")
    upper.wait_stream(here)
    lower.wait_stream(here)
    with torch.cuda.stream(upper):
        image[:512].normal_()
    with torch.cuda.stream(lower):
        image[512:].uniform_()
    here.wait_stream(upper)
    here.wait_stream(lower)
    brightness = image.mean()
    torch.cuda.synchronize()
    print(brightness.item())


if __name__ == "__main__":
    main()
