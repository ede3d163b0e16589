"""The device is synchronized, and its streams once more one by one."""
import torch


def main():
    lanes = [torch.cuda.Stream() for _ in range(2)]
    blocks = torch.randn(2, 1024, 1024, device="cuda")
    torch.cuda.synchronize()
    products = []
    for lane, block in zip(lanes, blocks.unbind(0)):
        with torch.cuda.stream(lane):
            products.append(block @ block)
    torch.cuda.synchronize()
    for lane in lanes:
        lane.synchronize()  # expect: redundant-sync
    print([product.trace().item() for product in products])


if __name__ == "__main__":
    main()
