"""The events are copied before they are recorded by replacement in the original list."""
import torch


def main():
    here = torch.cuda.current_stream()
    lanes = [torch.cuda.Stream() for _ in range(2)]
    events = [torch.cuda.Event() for _ in lanes]
    waited = list(events)
    x = torch.randn(2, 1 << 18, device="cuda")
    outs = []
    for i, lane in enumerate(lanes):
        lane.wait_stream(here)
        with torch.cuda.stream(lane):
            outs.append(x[i].exp())
        events[i] = lane.record_event()  # may: unused-event
    for event in waited:
        here.wait_event(event)  # expect: event-never-recorded
    total = outs[0] + outs[1]  # may: missing-wait
    torch.cuda.synchronize()
    print(total.sum().item())


if __name__ == "__main__":
    main()
