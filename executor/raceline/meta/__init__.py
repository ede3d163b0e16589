"""A run without a GPU: CUDA tensors become meta tensors, streams and events are modelled, the trace has the same steps."""
