"""A replay buffer draws the next sample on its own stream; a host lock guards its methods."""
import threading

import torch


class Replay:
    def __init__(self, size, width):
        self.store = torch.zeros(size, width, device="cuda")
        self.stream = torch.cuda.Stream()
        self.lock = threading.Lock()
        self.drawn = None

    def draw(self, rows):
        with self.lock:
            self.stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self.stream):
                self.drawn = self.store.index_select(0, rows)

    def add(self, places, items):
        with self.lock:
            self.store.index_copy_(0, places, items)

    def take(self):
        torch.cuda.current_stream().wait_stream(self.stream)
        return self.drawn


def main():
    replay = Replay(4096, 128)
    rows = torch.randint(0, 4096, (256,), device="cuda")
    places = torch.arange(64, device="cuda")
    score = torch.zeros((), device="cuda")
    for turn in range(6):
        replay.draw(rows)
        batch = replay.take()
        replay.add(places, torch.full((64, 128), float(turn), device="cuda"))
        score += batch.mean()
    torch.cuda.synchronize()
    print(score.item())


if __name__ == "__main__":
    main()
