"""dict.fromkeys gives every key the same event object."""
import torch


def main():
    here = torch.cuda.current_stream()
    lanes = {"even": torch.cuda.Stream(), "odd": torch.cuda.Stream()}
    marks = dict.fromkeys(lanes, torch.cuda.Event())
    x = torch.randn(1 << 21, device="cuda")
    outs = {}
    for name, lane in lanes.items():
        lane.wait_stream(here)
        with torch.cuda.stream(lane):
            outs[name] = x.cos() if name == "even" else x.sin()
            marks[name].record()  # expect: event-rerecorded
    for mark in marks.values():
        here.wait_event(mark)  # may: redundant-sync
    total = (outs["even"] + outs["odd"]).sum()  # may: missing-wait
    torch.cuda.synchronize()
    print(total.item())


if __name__ == "__main__":
    main()
