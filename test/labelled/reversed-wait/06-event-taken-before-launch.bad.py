"""The event that should announce a batch is recorded and awaited before the batch is sent."""
import torch


class Sender:
    def __init__(self):
        self.stream = torch.cuda.Stream()
        self.sent = torch.cuda.Event()

    def send(self, host):
        with torch.cuda.stream(self.stream):
            return host.to("cuda", non_blocking=True)  # may: unjoined-output

    def receive(self):
        self.sent.record(self.stream)
        torch.cuda.current_stream().wait_event(self.sent)  # expect: reversed-wait


def main():
    sender = Sender()
    host = torch.rand(1 << 20).pin_memory()
    sender.receive()  # may: reversed-wait
    batch = sender.send(host)
    total = batch.sum()  # may: missing-wait
    torch.cuda.synchronize()
    print(total.item())


if __name__ == "__main__":
    main()
