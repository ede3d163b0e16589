"""A reader of point clouds yields each cloud and joins its copy stream only when asked for the next."""
import torch


class Clouds:
    def __init__(self, scans):
        self.scans = scans
        self.copier = torch.cuda.Stream()

    def __iter__(self):
        for scan in self.scans:
            here = torch.cuda.current_stream()
            with torch.cuda.stream(self.copier):
                cloud = scan.to("cuda", non_blocking=True)
                cloud = cloud - cloud.mean(0)
            cloud.record_stream(here)
            here.wait_stream(self.copier)
            yield cloud


def main():
    scans = [torch.rand(1 << 16, 3).pin_memory() for _ in range(5)]
    reach = torch.zeros((), device="cuda")
    for cloud in Clouds(scans):
        reach = torch.maximum(reach, cloud.norm(dim=1).amax())
    torch.cuda.synchronize()
    print(reach.item())


if __name__ == "__main__":
    main()
