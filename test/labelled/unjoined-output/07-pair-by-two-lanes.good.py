"""Real and imaginary parts are filtered on two lanes; the function joins one of them by its event."""
import torch


def filter_parts(signal, taps, lanes):
    here = torch.cuda.current_stream()
    parts, done = [], []
    for lane, part in zip(lanes, (signal.real, signal.imag)):
        lane.wait_stream(here)
        with torch.cuda.stream(lane):
            parts.append(torch.nn.functional.conv1d(part[None, None], taps))
            done.append(lane.record_event())
    here.wait_event(done[0])
    here.wait_event(done[1])
    real, imaginary = parts
    return real, imaginary


@torch.inference_mode()
def main():
    lanes = (torch.cuda.Stream(), torch.cuda.Stream())
    taps = torch.ones(1, 1, 15, device="cuda") / 15
    signal = torch.randn(1 << 18, dtype=torch.cfloat, device="cuda")
    real, imaginary = filter_parts(signal, taps, lanes)
    power = (real.square() + imaginary.square()).mean()
    torch.cuda.synchronize()
    print(power.item())


if __name__ == "__main__":
    main()
