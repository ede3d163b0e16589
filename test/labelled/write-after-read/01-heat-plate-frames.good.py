"""A heat plate is simulated in two grids; every step is copied out for a film."""
import torch

STEPS = 8


def main():
    here = torch.cuda.current_stream()
    film = torch.cuda.Stream()
    grids = [torch.rand(1024, 1024, device="cuda") for _ in range(2)]
    frames = [torch.empty(1024, 1024, pin_memory=True) for _ in range(STEPS)]
    shot = [torch.cuda.Event() for _ in grids]
    for step in range(STEPS):
        old, new = step % 2, (step + 1) % 2
        here.wait_event(shot[new])
        torch.mul(grids[old], 0.99, out=grids[new])
        film.wait_stream(here)
        with torch.cuda.stream(film):
            frames[step].copy_(grids[new], non_blocking=True)
            shot[new].record(film)
    torch.cuda.synchronize()
    print([frame.mean().item() for frame in frames])


if __name__ == "__main__":
    main()
