"""The futures of several collectives are waited for together."""
import torch
import torch.distributed as dist


def main():
    torch.cuda.set_device(0)
    dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)
    flats = [torch.full((1 << 16,), float(i), device="cuda") for i in range(3)]
    futures = [dist.all_reduce(f, async_op=True).get_future() for f in flats]
    torch.futures.wait_all(futures)
    print([f.mean().item() for f in flats])
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
