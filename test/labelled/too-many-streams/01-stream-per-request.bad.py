"""Every request gets a stream of its own."""
import torch


def serve(requests):
    here = torch.cuda.current_stream()
    answers = []
    for request in requests:
        stream = torch.cuda.Stream()  # expect: too-many-streams
        stream.wait_stream(here)
        with torch.cuda.stream(stream):
            answers.append(request.softmax(-1).amax())
        here.wait_stream(stream)
    return answers


def main():
    requests = torch.randn(100, 4096, device="cuda").unbind(0)
    answers = serve(requests)
    torch.cuda.synchronize()
    print(max(answer.item() for answer in answers))


if __name__ == "__main__":
    main()
