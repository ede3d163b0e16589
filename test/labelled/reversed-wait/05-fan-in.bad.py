"""Columns are sorted on four lanes and put side by side; the closing loop waits the wrong way."""
import torch


def sort_columns(matrix, lanes):
    here = torch.cuda.current_stream()
    for lane in lanes:
        lane.wait_stream(here)
    columns = []
    for lane, block in zip(lanes, matrix.chunk(len(lanes), dim=1)):
        with torch.cuda.stream(lane):
            columns.append(block.sort(dim=0).values)
    for lane in lanes:
        lane.wait_stream(here)  # expect: reversed-wait  # may: redundant-sync
    return torch.cat(columns, dim=1)  # may: missing-wait


def main():
    lanes = [torch.cuda.Stream() for _ in range(4)]
    matrix = torch.rand(1 << 12, 64, device="cuda")
    ordered = sort_columns(matrix, lanes)
    torch.cuda.synchronize()
    print(ordered[0].sum().item())


if __name__ == "__main__":
    main()
