"""Embeddings of all ranks are gathered asynchronously and compared before the handle is waited for."""
import torch
import torch.distributed as dist


def similarity(own):
    gathered = torch.empty(dist.get_world_size() * own.shape[0], own.shape[1], device="cuda")
    handle = dist.all_gather_into_tensor(gathered, own, async_op=True)
    scores = own @ gathered.t()  # expect: collective-not-waited
    handle.wait()
    return scores


def main():
    torch.cuda.set_device(0)
    dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)
    own = torch.randn(128, 64, device="cuda")
    print(similarity(own).mean().item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
