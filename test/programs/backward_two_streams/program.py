"""Two towers, each on a stream of its own, and one loss: forward with explicit waits, backward left to autograd. Correct."""
import torch

WIDTH, BATCH = 256, 32


class Towers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.query = torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, 64))
        self.item = torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, 64))
        self.side = torch.cuda.Stream()

    def forward(self, queries, items):
        here = torch.cuda.current_stream()
        self.side.wait_stream(here)
        with torch.cuda.stream(self.side):
            items.record_stream(self.side)
            right = self.item(items)
        left = self.query(queries)
        here.wait_stream(self.side)
        right.record_stream(here)
        return (left * right).sum(dim=1)


def main():
    torch.manual_seed(3)
    model = Towers().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    torch.cuda.synchronize()
    for _ in range(2):
        queries = torch.randn(BATCH, WIDTH, device="cuda")
        items = torch.randn(BATCH, WIDTH, device="cuda")
        optimizer.zero_grad(set_to_none=True)
        loss = model(queries, items).pow(2).mean()
        loss.backward()
        optimizer.step()
    return float(loss)


if __name__ == "__main__":
    print("loss", main())
