"""A texture loader readies a new event for the next turn before anybody waited for this one."""
import torch


class TextureLoader:
    def __init__(self):
        self.stream = torch.cuda.Stream()
        self.loaded = torch.cuda.Event()
        self.texture = None

    def load(self, host):
        with torch.cuda.stream(self.stream):
            self.texture = host.cuda(non_blocking=True)
        self.loaded.record(self.stream)  # may: unused-event
        self.loaded = torch.cuda.Event()

    def shade(self, light):
        torch.cuda.current_stream().wait_event(self.loaded)  # expect: event-never-recorded
        return self.texture * light  # may: missing-wait


def main():
    loader = TextureLoader()
    light = torch.rand(1024, 1024, device="cuda")
    loader.load(torch.rand(1024, 1024).pin_memory())
    shaded = loader.shade(light)  # may: event-never-recorded, missing-wait
    torch.cuda.synchronize()
    print(shaded.mean().item())


if __name__ == "__main__":
    main()
