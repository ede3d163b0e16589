"""A mixer processes an effect beside the dry signal; its join makes the effect wait."""
import torch


class Mixer:
    def __init__(self):
        self.effects = torch.cuda.Stream()
        self.wet = None

    def start(self, dry):
        self.effects.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.effects):
            self.wet = torch.tanh(dry * 4.0)

    def join(self):
        torch.cuda.current_stream().wait_stream(self.effects)


def main():
    mixer = Mixer()
    dry = torch.randn(2, 1 << 18, device="cuda")
    mixer.start(dry)
    mixer.join()
    mixed = 0.7 * dry + 0.3 * mixer.wet
    torch.cuda.synchronize()
    print(mixed.abs().max().item())


if __name__ == "__main__":
    main()
