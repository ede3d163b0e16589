"""dict.fromkeys gives every key the same event object."""
import torch


def main():
    here = torch.cuda.current_stream()
    lanes = {"even": torch.cuda.Stream(), "odd": torch.cuda.Stream()}
    marks = {name: torch.cuda.Event() for name in lanes}
    x = torch.randn(1 << 21, device="cuda")
    outs = {}
    for name, lane in lanes.items():
        lane.wait_stream(here)
        with torch.cuda.stream(lane):
            outs[name] = x.cos() if name == "even" else x.sin()
            marks[name].record()
    for mark in marks.values():
        here.wait_event(mark)
    total = (outs["even"] + outs["odd"]).sum()
    torch.cuda.synchronize()
    print(total.item())


if __name__ == "__main__":
    main()
