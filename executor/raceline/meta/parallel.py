"""torch.distributed and torch.nn.parallel without NCCL and without devices to spread over.

Process groups are gloo's, so that ranks still meet, and what they send is theirs; collectives on the modelled device move nothing.
"""
import contextlib

import torch
from torch.utils._pytree import tree_map


class DistributedDataParallel(torch.nn.Module):
    """Passes calls on. Gradients are not reduced: the C++ reducer wants tensors with memory."""

    def __init__(self, module, device_ids=None, output_device=None, **_):
        super().__init__()
        self.module = module
        self.device_ids, self.output_device = device_ids, output_device
        self.require_backward_grad_sync = True

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    @contextlib.contextmanager
    def no_sync(self):
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    @contextlib.contextmanager
    def join(self, **_):
        yield

    def register_comm_hook(self, state, hook):
        pass

    def _set_static_graph(self):
        pass


def install(limit):
    parallel = torch.nn.parallel

    def scatter(self, inputs, kwargs, device_ids):
        move = lambda value: value.to("cuda") if isinstance(value, torch.Tensor) else value
        return (tree_map(move, inputs),), (tree_map(move, kwargs),)

    parallel.DataParallel.scatter = scatter
    if not torch.distributed.is_available():
        return

    class Reducing(DistributedDataParallel):
        def __init__(self, module, *args, **kwargs):
            limit("DistributedDataParallel passes calls on here: gradients are not reduced, and its streams are not in the trace.")
            super().__init__(module, *args, **kwargs)

    Reducing.__name__ = Reducing.__qualname__ = "DistributedDataParallel"
    parallel.DistributedDataParallel = parallel.distributed.DistributedDataParallel = Reducing
    distributed = torch.distributed
    for name in ("init_process_group", "new_group"):
        _over_gloo(distributed, name, limit)


def _over_gloo(distributed, name, limit):
    plain = getattr(distributed, name)
    position = {"init_process_group": 0, "new_group": 2}[name]

    def call(*args, **kwargs):
        args = list(args)
        backend = args[position] if len(args) > position else kwargs.get("backend")
        if backend is not None and "nccl" in str(backend):
            limit("Process groups run over gloo here: collectives on the device move nothing, and their streams are not in the trace.")
            if len(args) > position:
                args[position] = "gloo"
            else:
                kwargs["backend"] = "gloo"
            kwargs.pop("pg_options", None)
        kwargs.pop("device_id", None)
        return plain(*args, **kwargs)

    setattr(distributed, name, call)
    setattr(distributed.distributed_c10d, name, call)
