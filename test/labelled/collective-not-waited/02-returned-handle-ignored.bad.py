"""A gather function returns its buffer and its handle; the caller takes the buffer only."""
import torch
import torch.distributed as dist


def gather_async(shard):
    world = dist.get_world_size()
    full = torch.empty(world * shard.numel(), device="cuda")
    return full, dist.all_gather_into_tensor(full, shard, async_op=True)


class Layer:
    def __init__(self, n):
        self.shard = torch.randn(n, device="cuda")

    def forward(self, x):
        full, _ = gather_async(self.shard)
        return x * full  # expect: collective-not-waited


def main():
    torch.cuda.set_device(0)
    dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)
    layer = Layer(1 << 18)
    x = torch.ones(1 << 18, device="cuda")
    for _ in range(3):
        x = layer.forward(x)
    torch.cuda.synchronize()
    print(x.norm().item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
