"""A run on the GPU: order from PyTorch's GPU-trace callbacks, accesses from the dispatcher, times from the profiler."""
