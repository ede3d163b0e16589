"""A producer records the event it is given, or one of its own when none is given."""
import torch


def project(points, camera, stream, done=None):
    if done is None:
        done = torch.cuda.Event()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        image = points @ camera
        done.record()
    return image


def main():
    side = torch.cuda.Stream()
    camera = torch.rand(4, 3, device="cuda")
    points = torch.rand(1 << 18, 4, device="cuda")
    done = torch.cuda.Event()
    image = project(points, camera, side, done)
    torch.cuda.current_stream().wait_event(done)
    extent = image.amax(0) - image.amin(0)
    torch.cuda.synchronize()
    print(extent.tolist())


if __name__ == "__main__":
    main()
