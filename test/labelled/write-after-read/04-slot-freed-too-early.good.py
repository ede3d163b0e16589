"""Two device slots take turns; an event tells the copier when a slot may be filled again."""
import torch


def feed(batches, copier):
    here = torch.cuda.current_stream()
    slots = [torch.empty(256, 1024, device="cuda") for _ in range(2)]
    free = [torch.cuda.Event() for _ in slots]
    copier.wait_stream(here)
    for turn, batch in enumerate(batches):
        slot = turn % 2
        copier.wait_event(free[slot])
        with torch.cuda.stream(copier):
            slots[slot].copy_(batch, non_blocking=True)
        here.wait_stream(copier)
        yield slots[slot]
        free[slot].record(here)


def main():
    copier = torch.cuda.Stream()
    batches = [torch.rand(256, 1024).pin_memory() for _ in range(8)]
    total = torch.zeros((), device="cuda")
    for batch in feed(batches, copier):
        total += batch.square().mean()
    torch.cuda.synchronize()
    print(total.item())


if __name__ == "__main__":
    main()
