"""A stage records a start mark and an end mark; nobody ever looks at the start."""
import torch


def main():
    here = torch.cuda.current_stream()
    side = torch.cuda.Stream()
    frames = torch.rand(16, 512, 512, device="cuda")
    ended = torch.cuda.Event()
    side.wait_stream(here)
    with torch.cuda.stream(side):
        flow = (frames[1:] - frames[:-1]).abs().mean((1, 2))
        ended.record()
    here.wait_event(ended)
    motion = flow.amax()
    torch.cuda.synchronize()
    print(motion.item())


if __name__ == "__main__":
    main()
