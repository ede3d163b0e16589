"""The dispatch mode of a run without a GPU: which bytes each operator reads and writes, and what needs real values.

Tensors are followed by storage; a storage's first sight is its allocation, its end its release. Operators that would read
values (`nonzero`, `item`, copies to the host) are answered here with the shapes of an all-nonzero, all-zero tensor.
"""
import torch

from raceline.dispatch import PLAIN, DispatchMode, fake_mode, is_traced, plan_of, with_tensors
from raceline.meta import stand_in
from raceline.operators import storage_key

aten = torch.ops.aten


class Watch(DispatchMode):
    def __init__(self, session):
        super().__init__()
        self._session = session
        self._plans = session.plans
        self._answers = {
            aten._local_scalar_dense.default: self._scalar, aten.equal.default: self._same, aten.allclose.default: self._same, aten.nonzero.default: self._nonzero,
            aten.masked_select.default: self._masked, aten._unique2.default: self._unique, aten._to_copy.default: self._to_copy, aten.copy_.default: self._copy,
        }

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if types and not PLAIN.issuperset(types) and not is_traced(types):
            return NotImplemented  # the subclass unwraps itself; its inner operators come here
        if is_traced(types) or fake_mode():
            return func(*args, **(kwargs or {}))
        # Autograd calls operators without the program's function mode on the way; here it would only be in the way.
        with torch._C.DisableTorchFunction():
            return self._dispatch(func, args, kwargs or {})

    def _dispatch(self, func, args, kwargs):
        session = self._session
        plan = self._plans.get(func)
        if plan is None:
            plan = self._plans[func] = plan_of(func)
            plan.label = session.recording.file.string(plan.name)
        if plan.kind == "composite":
            with self:
                return func.decompose(*args, **kwargs)
        if plan.kind in ("view", "metadata"):
            return self._run(func, plan, args, kwargs, False)
        tensors = [(t, mode) for t, mode in plan.arguments(args, kwargs) if isinstance(t, torch.Tensor)]
        known = {storage_key(t) for t, _ in tensors}
        on_device = any(t.device.type == "meta" for t, _ in tensors)
        answer = self._answers.get(func)
        if answer is not None and on_device:
            out = answer(func, args, kwargs)
        else:
            out = self._run(func, plan, args, kwargs, on_device)
        made = [t for t in _leaves(out) if isinstance(t, torch.Tensor)]
        results = [t for t in made if storage_key(t) not in known]
        if made and not results and not plan.writes:
            return out  # a view, whatever its schema says
        if None in known or any(storage_key(t) is None for t in made):
            session.recording.file.limit("Sparse and nested tensors are not followed: what is done to their memory is not in the trace.")
        session.operator(plan, func, args, kwargs, tensors, results, on_device)
        return out

    def _run(self, func, plan, args, kwargs, on_device):
        try:
            return func(*args, **kwargs)
        except (NotImplementedError, RuntimeError) as error:
            given = with_tensors(plan, args)
            if given is not None:
                return func(*given, **kwargs)
            if not on_device or not stand_in.is_missing(error):
                raise
            out = stand_in.call(func, args, kwargs)
            if out is not None:
                self._session.recording.file.limit(f"The meta device does not know {plan.name}: its results have the shapes that zeros give.")
                return out[0]
            if not plan.writes:
                self._session.recording.file.limit(f"The meta device does not know {plan.name}, and without a GPU nothing stands in for it.")
                raise
            # Written in place and known to the GPU alone (the gradient scaler's): its results are its arguments.
            written = [t for t, mode in plan.arguments(args, kwargs) if mode != "r"]
            return written[0] if len(func._schema.returns) == 1 else tuple(written[: len(func._schema.returns)]) or None

    def _scalar(self, func, args, kwargs):
        self._session.value_read()
        return torch.zeros((), dtype=args[0].dtype).item()

    def _same(self, func, args, kwargs):
        self._session.value_read()
        return True

    @staticmethod
    def _nonzero(func, args, kwargs):
        return torch.empty((args[0].numel(), args[0].dim()), dtype=torch.int64, device="meta")

    @staticmethod
    def _masked(func, args, kwargs):
        shape = torch.broadcast_shapes(args[0].shape, args[1].shape)
        return torch.empty((shape.numel(),), dtype=args[0].dtype, device="meta")

    @staticmethod
    def _unique(func, args, kwargs):
        count = (args[0].numel(),)
        indices = torch.empty(args[0].shape, dtype=torch.int64, device="meta")
        return torch.empty(count, dtype=args[0].dtype, device="meta"), indices, torch.empty(count, dtype=torch.int64, device="meta")

    def _to_copy(self, func, args, kwargs):
        source, device = args[0], kwargs.get("device")
        if source.device.type == "meta" and device is not None and torch.device(device).type == "cpu":
            return torch.zeros(source.shape, dtype=kwargs.get("dtype") or source.dtype)
        return func(*args, **kwargs)

    @staticmethod
    def _copy(func, args, kwargs):
        target, source = args[0], args[1]
        if target.device.type != source.device.type:
            return target  # a copy between host and device moves no shape
        return func(*args, **kwargs)


def _leaves(value):
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    else:
        yield value
