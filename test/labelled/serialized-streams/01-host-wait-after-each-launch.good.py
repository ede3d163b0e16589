"""Two independent models run on two lanes; the host waits for each before it starts the next."""
import torch


@torch.no_grad()
def main():
    lanes = [torch.cuda.Stream() for _ in range(2)]
    models = [torch.nn.Linear(1024, 1024).cuda() for _ in lanes]
    batch = torch.randn(256, 1024, device="cuda")
    torch.cuda.synchronize()
    answers = []
    for _ in range(4):
        for lane, model in zip(lanes, models):
            with torch.cuda.stream(lane):
                answers.append(model(batch).mean())
    torch.cuda.synchronize()
    print([answer.item() for answer in answers])


if __name__ == "__main__":
    main()
