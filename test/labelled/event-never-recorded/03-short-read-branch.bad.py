"""Long reads are trimmed and short reads padded; only the branch for long ones records the event."""
import torch

LENGTH = 4096


def fit(read, side, done):
    with torch.cuda.stream(side):
        bases = read.to("cuda", non_blocking=True)
        if bases.numel() >= LENGTH:
            bases = bases[:LENGTH] * 2
            done.record(side)
        else:
            bases = torch.nn.functional.pad(bases, (0, LENGTH - bases.numel()))
    return bases  # may: unjoined-output


def main():
    side = torch.cuda.Stream()
    kept, scores = [], []
    for length in (8192, 1024, 4096):
        done = torch.cuda.Event()
        bases = fit(torch.rand(length).pin_memory(), side, done)
        kept.append(bases)
        torch.cuda.current_stream().wait_event(done)  # expect: event-never-recorded
        scores.append(bases.mean())  # may: missing-wait
    torch.cuda.synchronize()
    print([score.item() for score in scores], len(kept))


if __name__ == "__main__":
    main()
