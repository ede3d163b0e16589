"""The wait stands above the record in a script of two steps."""
import torch

solver = torch.cuda.Stream()
solved = torch.cuda.Event()
matrix = torch.rand(512, 512, device="cuda") + torch.eye(512, device="cuda") * 512
torch.cuda.synchronize()

torch.cuda.current_stream().wait_event(solved)  # expect: event-never-recorded  # may: reversed-wait
with torch.cuda.stream(solver):
    inverse = matrix.reciprocal()
    solved.record()  # may: unused-event
residual = (matrix * inverse - 1.0).abs().amax()  # may: missing-wait
torch.cuda.synchronize()
print(residual.item())
