"""torch.cuda without CUDA: the stand-ins that a program meets, installed for the length of a recording.

Mostly a table. What a call means for order and time is in streams.py and session.py.
"""
import collections
import contextlib
import types

import torch

from raceline.meta import dynamo, model, parallel, tensor_types
from raceline.meta.engine import Backward


def install(session):
    """Replace what needs a GPU. Nothing is put back: the process ends with the program."""
    cuda = torch.cuda
    pool = session.device.allocator
    limit = session.recording.file.limit

    # A function for each name: torch._dynamo takes one under two names for a mistake.
    def answer(value):
        return lambda *args, **kwargs: value

    def graphed(callables, sample_args, *args, **kwargs):
        limit("torch.cuda.make_graphed_callables is skipped: its callables run operator by operator.")
        return callables

    properties = types.SimpleNamespace(
        name="meta device", major=9, minor=0, total_memory=model.TOTAL, multi_processor_count=132, is_integrated=False, is_multi_gpu_board=False,
        warp_size=32, max_threads_per_multi_processor=2048, regs_per_multiprocessor=65536, shared_memory_per_block=49152, L2_cache_size=50 << 20, gcnArchName="",
    )
    table = {
        **session.api,
        "is_available": answer(True), "is_initialized": answer(True), "_is_compiled": answer(True), "init": answer(None), "_lazy_init": answer(None),
        "device_count": answer(1), "current_device": answer(0), "set_device": answer(None), "_exchange_device": answer(0), "_maybe_exchange_device": answer(0),
        "get_device_name": answer("meta device"), "get_device_capability": answer((9, 0)), "get_device_properties": answer(properties),
        "get_arch_list": answer(["sm_90"]), "can_device_access_peer": answer(False), "is_bf16_supported": answer(True), "is_tf32_supported": answer(True),
        "is_current_stream_capturing": lambda: session.capturing is not None, "graph_pool_handle": answer((0, 1)),
        "empty_cache": answer(None), "ipc_collect": answer(None), "reset_peak_memory_stats": answer(None), "reset_max_memory_allocated": answer(None), "reset_accumulated_memory_stats": answer(None),
        "memory_allocated": lambda device=None: pool.allocated, "max_memory_allocated": lambda device=None: pool.peak,
        "memory_reserved": lambda device=None: pool.reserved, "max_memory_reserved": lambda device=None: pool.reserved,
        "memory_stats": lambda device=None: collections.defaultdict(int, {"active_bytes.all.current": pool.allocated + pool.held, "allocated_bytes.all.current": pool.allocated, "reserved_bytes.all.current": pool.reserved}),
        "memory_summary": answer(""), "mem_get_info": lambda device=None: ((model.TOTAL) - pool.reserved, model.TOTAL),
        "manual_seed": answer(None), "manual_seed_all": answer(None), "seed": answer(None), "seed_all": answer(None), "initial_seed": answer(0),
        "get_rng_state": lambda device=None: torch.zeros(16, dtype=torch.uint8), "set_rng_state": answer(None), "get_rng_state_all": lambda: [], "set_rng_state_all": answer(None),
        "_sleep": session.spin, "set_sync_debug_mode": answer(None), "get_sync_debug_mode": answer(0), "synchronize": session.api["synchronize"],
        "memory_snapshot": answer([]), "memory_stats_as_nested_dict": lambda device=None: collections.defaultdict(dict), "host_memory_stats": lambda: collections.defaultdict(int),
        "set_per_process_memory_fraction": answer(None), "get_per_process_memory_fraction": answer(1.0), "get_allocator_backend": answer("native"), "device_memory_used": lambda device=None: pool.reserved,
        "utilization": answer(0), "memory_usage": answer(0), "temperature": answer(0), "power_draw": answer(0), "clock_rate": answer(0), "current_blas_handle": answer(0), "check_error": answer(None),
        "get_stream_from_external": lambda data_ptr, device=None: session.api["ExternalStream"](data_ptr), "make_graphed_callables": graphed, "MemPool": Pool,
        "use_mem_pool": lambda pool, device=None: contextlib.nullcontext(), "default_generators": (torch.default_generator,),
        "cudart": lambda: types.SimpleNamespace(cudaProfilerStart=answer(None), cudaProfilerStop=answer(None), cudaMemGetInfo=lambda device=0: ((model.TOTAL) - pool.reserved, model.TOTAL)),
    }
    for name, value in table.items():
        setattr(cuda, name, value)
    for owner, names in ((getattr(cuda, "graphs", None), ("CUDAGraph", "graph", "make_graphed_callables", "is_current_stream_capturing")), (getattr(cuda, "streams", None), ("Stream", "Event", "ExternalStream")),
                         (getattr(cuda, "memory", None), ("memory_snapshot", "set_per_process_memory_fraction", "memory_stats_as_nested_dict", "MemPool", "use_mem_pool", "empty_cache", "memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved", "memory_stats", "reset_peak_memory_stats", "mem_get_info"))):
        for name in names if owner is not None else ():
            if name in table:
                setattr(owner, name, table[name])
    for name in ("get_rng_state", "set_rng_state", "get_rng_state_all", "set_rng_state_all", "manual_seed", "manual_seed_all", "seed", "seed_all", "initial_seed"):
        setattr(cuda.random, name, table[name])
    cuda.profiler.start, cuda.profiler.stop = answer(None), answer(None)
    cuda.nccl.version = answer((2, 0, 0))
    if hasattr(cuda, "memory"):
        cuda.memory._record_memory_history = answer(None)
    for name in ("range_push", "mark", "range_start"):
        setattr(cuda.nvtx, name, answer(0))
    for name in ("range_pop", "range_end"):
        setattr(cuda.nvtx, name, answer(0))
    cuda.nvtx.range = lambda *args, **kwargs: contextlib.nullcontext()
    if not hasattr(torch._C, "_cuda_getCurrentRawStream"):
        # Imported by torch._dynamo (which meta kernels pull in) as soon as CUDA is said to be there.
        torch._C._cuda_getCurrentRawStream = lambda index=0: session.current()
    dynamo.install(torch)
    parallel.install(limit)
    tensor_types.install()
    # Its argument is parsed in C++ before the function mode is asked.
    torch.Tensor.record_stream = session.record_stream_of
    torch.Stream, torch.Event = session.api["Stream"], session.api["Event"]
    _accelerator(session)
    base = getattr(torch, "_streambase", None)
    if hasattr(getattr(base, "_EventBase", None), "register"):
        # torch._dynamo of PyTorch 2.2 to 2.4 asks for it.
        base._StreamBase.register(session.api["Stream"])
        base._EventBase.register(session.api["Event"])

    torch.__future__.set_overwrite_module_params_on_conversion(True)
    torch.autograd.backward = session.engine.wrap(torch.autograd.backward)
    torch.autograd.grad = session.engine.wrap(torch.autograd.grad)
    torch.autograd.Variable._execution_engine = Backward(torch.autograd.Variable._execution_engine, session.inside)
    apply = torch.autograd.Function.apply.__func__
    torch.autograd.Function.apply = classmethod(lambda cls, *args, **kwargs: session.engine.see(apply(cls, *args, **kwargs)))

    autocast = type("autocast", (contextlib.ContextDecorator,), {
        "__init__": lambda self, *args, **kwargs: limit("Automatic mixed precision is not modelled: operators run in their tensors' own types."),
        "__enter__": lambda self: self, "__exit__": lambda self, *failure: False,
    })
    torch.autocast = torch.amp.autocast = torch.amp.autocast_mode.autocast = autocast
    torch.cuda.amp.autocast = autocast

    def compiled(model=None, **kwargs):
        limit("torch.compile is skipped: compiled functions run operator by operator.")
        if model is None:
            return lambda function: function
        return OptimizedModule(model) if isinstance(model, torch.nn.Module) else model

    torch.compile = compiled
    torch.testing.assert_close = session.close_enough(torch.testing.assert_close)
    hooks = torch.autograd.graph.saved_tensors_hooks
    init_hooks = hooks.__init__
    # They are called inside of operators, where the program's function mode is off.
    hooks.__init__ = lambda self, pack, unpack: init_hooks(self, session.inside(pack), session.inside(unpack))
    load = torch.load

    def load_on_meta(*args, **kwargs):
        where = kwargs.get("map_location", args[1] if len(args) > 1 else None)
        if where is not None and str(where).startswith("cuda"):
            kwargs["map_location"] = "meta"
            args = args[:1]
        return load(*args, **kwargs)

    torch.load = load_on_meta
    default = torch.set_default_device

    def set_default_device(device):
        default("meta" if device is not None and str(device).startswith("cuda") else device)

    torch.set_default_device = set_default_device
    torch.Generator = type("Generator", (torch.Generator,), {"__new__": lambda cls, device="cpu": torch._C.Generator.__new__(cls, "cpu")})
    try:
        import torch.fx.experimental._config as config

        # Operators that count nonzero elements have no answer on the meta device; take the largest.
        config.meta_nonzero_assume_all_nonzero = True
    except (ImportError, AttributeError):
        pass


class Pool:
    """A memory pool of the program's own, which is not modelled."""

    id, use_count = (0, 1), staticmethod(lambda: 1)

    def __init__(self, *args, **kwargs):
        pass

    def snapshot(self):
        return []


class OptimizedModule(torch.nn.Module):
    """What torch.compile gives for a module: the module inside, whose parameters have longer names."""

    def __init__(self, module):
        super().__init__()
        self._orig_mod = module
        self.training = module.training

    def forward(self, *args, **kwargs):
        return self._orig_mod(*args, **kwargs)

    def __getattr__(self, name):
        inner = self._modules["_orig_mod"]
        return inner if name == "_orig_mod" else getattr(inner, name)


def _accelerator(session):
    accelerator = getattr(torch, "accelerator", None)
    if accelerator is None:
        return
    for name, value in {
        "is_available": lambda: True, "current_accelerator": lambda check_available=False: torch.device("cuda"), "device_count": lambda: 1,
        "current_device_index": lambda: 0, "current_device_idx": lambda: 0, "set_device_index": lambda device: None, "set_device_idx": lambda device: None,
        "empty_cache": lambda: None, "memory_allocated": torch.cuda.memory_allocated, "max_memory_allocated": torch.cuda.max_memory_allocated, "memory_reserved": torch.cuda.memory_reserved,
        "max_memory_reserved": torch.cuda.max_memory_reserved, "memory_stats": torch.cuda.memory_stats, "reset_peak_memory_stats": lambda device=None: None,
        "current_stream": session.api["current_stream"], "set_stream": session.api["set_stream"], "synchronize": session.api["synchronize"],
    }.items():
        if hasattr(accelerator, name):
            setattr(accelerator, name, value)
