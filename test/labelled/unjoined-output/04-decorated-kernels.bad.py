"""A decorator moves whole functions to a stream."""
import functools

import torch

SIDE = torch.cuda.Stream()


def on_stream(stream):
    def decorate(function):
        @functools.wraps(function)
        def run(*arguments):
            here = torch.cuda.current_stream()
            stream.wait_stream(here)
            with torch.cuda.stream(stream):
                result = function(*arguments)
            return result  # expect: unjoined-output

        return run

    return decorate


@on_stream(SIDE)
def field_energy(electric, magnetic):
    return 0.5 * (electric.square() + magnetic.square()).sum()


def main():
    electric = torch.randn(3, 1 << 18, device="cuda")
    magnetic = torch.randn(3, 1 << 18, device="cuda")
    energy = field_energy(electric, magnetic)
    density = energy / electric.shape[1]  # may: missing-wait
    torch.cuda.synchronize()
    print(density.item())


if __name__ == "__main__":
    main()
