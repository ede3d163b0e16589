"""A runner makes another stream current for the time of one call and puts the old one back."""
import torch


def run_on(stream, job, *inputs):
    before = torch.cuda.current_stream()
    torch.cuda.set_stream(stream)
    try:
        result = job(*inputs)  # expect: missing-wait
    finally:
        torch.cuda.set_stream(before)
        before.wait_stream(stream)
    return result


def orbit(positions, masses):
    offsets = positions[:, None] - positions[None]  # may: missing-wait
    return (offsets * masses[:, None]).sum(1)  # may: missing-wait


def main():
    side = torch.cuda.Stream()
    positions = torch.randn(2048, 3, device="cuda")
    masses = torch.rand(2048, device="cuda")
    pull = run_on(side, orbit, positions, masses)
    torch.cuda.synchronize()
    print(pull.norm().item())


if __name__ == "__main__":
    main()
