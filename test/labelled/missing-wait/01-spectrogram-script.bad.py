"""A waveform goes up on an urgent stream; the default stream windows it for a spectrum."""
import torch
from torch import cuda

upload = cuda.Stream(priority=-1)
window = torch.hann_window(1 << 16, device="cuda")
clip = torch.rand(1 << 16).pin_memory()
with cuda.stream(upload):
    wave = clip.cuda(non_blocking=True)
spectrum = torch.fft.rfft(wave * window)  # expect: missing-wait
cuda.synchronize()
print(spectrum.abs().max().item())
