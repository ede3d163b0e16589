"""An iterator uploads dictionaries one ahead."""
import torch


class Uploader:
    def __init__(self, source):
        self.source = iter(source)
        self.lane = torch.cuda.Stream()
        self.ahead = None
        self._fetch()

    def _fetch(self):
        host = next(self.source, None)
        if host is None:
            self.ahead = None
            return
        with torch.cuda.stream(self.lane):
            self.ahead = {k: v.to("cuda", non_blocking=True) for k, v in host.items()}

    def __iter__(self):
        return self

    def __next__(self):
        batch = self.ahead
        if batch is None:
            raise StopIteration
        here = torch.cuda.current_stream()
        for v in batch.values():
            v.record_stream(here)
        self._fetch()
        return batch  # expect: unjoined-output


def main():
    hosts = [{"x": torch.rand(1 << 18).pin_memory(), "w": torch.rand(1 << 18).pin_memory()} for _ in range(5)]
    total = torch.zeros((), device="cuda")
    for batch in Uploader(hosts):
        total += batch["x"].dot(batch["w"])  # may: missing-wait
    torch.cuda.synchronize()
    print(total.item())


if __name__ == "__main__":
    main()
