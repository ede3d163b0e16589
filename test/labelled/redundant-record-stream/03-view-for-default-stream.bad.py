"""A view of a tensor from the default stream is recorded for the default stream."""
from torch import cuda, randn

DEFAULT = cuda.default_stream()
side = cuda.Stream()
prices = randn(252, 4096, device="cuda")
quarter = prices[-63:]
side.wait_stream(DEFAULT)
with cuda.stream(side):
    drift = quarter.mean(0)
quarter.record_stream(DEFAULT)  # expect: redundant-record-stream
DEFAULT.wait_stream(side)
spread = quarter.std(0) - drift
cuda.synchronize()
print(spread.sum().item())
