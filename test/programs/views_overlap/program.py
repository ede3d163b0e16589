"""Two streams fill bands of one canvas, and the bands share some rows. The views start at different addresses."""
import torch

ROWS, COLUMNS = 1536, 1024


def paint(canvas, upper, lower):
    torch.cuda.synchronize()
    with torch.cuda.stream(upper):
        torch.cuda._sleep(20_000_000)
        canvas[: 2 * ROWS // 3].fill_(1.0)
    with torch.cuda.stream(lower):
        canvas[ROWS // 3 :].fill_(2.0)  # the middle third belongs to both
    torch.cuda.synchronize()


def main():
    upper, lower = torch.cuda.Stream(), torch.cuda.Stream()
    canvas = torch.zeros(ROWS, COLUMNS, device="cuda")
    for _ in range(2):
        paint(canvas, upper, lower)
    return float(canvas.sum())


if __name__ == "__main__":
    print("sum", main())
