"""A tracker matches a dense template on a side stream and records the compact copy that it keeps."""
import torch


class Tracker:
    def __init__(self):
        self.matcher = torch.cuda.Stream()
        self.scores = []
        self.history = []

    def step(self, frame):
        dense = frame * 0.9
        compact = dense.half()
        self.matcher.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.matcher):
            self.scores.append(dense.amax())  # may: missing-record-stream
        compact.record_stream(self.matcher)  # expect: late-record-stream  # may: redundant-record-stream
        self.history.append(compact)


def main():
    frames = [torch.rand(1 << 20, device="cuda") for _ in range(5)]
    tracker = Tracker()
    for frame in frames:
        tracker.step(frame)  # may: missing-record-stream
    torch.cuda.synchronize()
    print([score.item() for score in tracker.scores], len(tracker.history))


if __name__ == "__main__":
    main()
