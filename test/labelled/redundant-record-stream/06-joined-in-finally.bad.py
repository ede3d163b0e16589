"""A scratch buffer is joined by event and dropped in the finally block of each solve."""
import torch


def solve(rhs, helper, answers):
    here = torch.cuda.current_stream()
    scratch = rhs * 0.5
    finished = torch.cuda.Event()
    helper.wait_stream(here)
    try:
        with torch.cuda.stream(helper):
            answers.append(scratch.cumsum(0).amax())
            finished.record(helper)
            scratch.record_stream(helper)  # expect: redundant-record-stream
    finally:
        here.wait_event(finished)
        scratch = None


def main():
    helper = torch.cuda.Stream()
    rhs = torch.randn(1 << 20, device="cuda")
    answers = []
    for _ in range(5):
        solve(rhs, helper, answers)
    torch.cuda.synchronize()
    print([answer.item() for answer in answers])


if __name__ == "__main__":
    main()
