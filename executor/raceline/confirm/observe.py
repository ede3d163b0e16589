"""What a run computed, kept to compare: tensors by label, without making the host or another stream wait.

Copies go to pinned memory on the stream that is current, right behind the work whose result they take. Of large tensors the
beginning and the end are kept.
"""
import torch

ARENA = 64 << 20
LARGEST = 4 << 20
RELATIVE, ABSOLUTE = 1e-3, 1e-6


class Observations:
    def __init__(self, device):
        self._device = device
        self._arena = None
        self._used = 0
        self._taken = []
        self.values = {}

    def begin(self):
        if self._arena is None:
            self._arena = self._device.arena(ARENA)
        self._used = 0
        self._taken = []
        self.values = {}

    def take(self, label, tensors):
        """The values that `tensors` have once the work enqueued so far is done."""
        for index, tensor in enumerate(tensors):
            try:
                self._take((*label, index), tensor)
            except (RuntimeError, NotImplementedError):
                continue  # sparse, nested, without storage: not comparable by bytes

    def value(self, label, value):
        self.values.setdefault(label, value)

    def end(self):
        """All that was taken, as label → (tensor, what it is). The device is idle."""
        kept = {label: (torch.as_tensor(value), "value") for label, value in self.values.items()}
        for label, pieces, dtype, shape, cut in self._taken:
            data = torch.cat([piece.clone() for piece in pieces])
            flat = data.view(torch.uint8 if dtype == torch.bool else dtype)
            kept[label] = (flat if cut else flat.view(shape), f"{str(dtype).replace('torch.', '')}{list(shape)}")
        return kept

    def _take(self, label, tensor):
        size = tensor.numel() * tensor.element_size()
        if not size:
            return
        tensor = tensor.detach()
        if tensor.is_conj() or tensor.is_neg():
            tensor = tensor.resolve_conj().resolve_neg()
        flat = tensor.contiguous().view(-1)
        cut = size > LARGEST
        if cut:
            half = LARGEST // 2 // tensor.element_size()
            parts = (flat[:half], flat[-half:])
        else:
            parts = (flat,)
        total = sum(p.numel() * p.element_size() for p in parts)
        if self._used + total > ARENA:
            return
        pieces = []
        for part in parts:
            data = part.view(torch.uint8)
            piece = self._arena[self._used : self._used + data.numel()]
            piece.copy_(data, non_blocking=True)
            self._used += (data.numel() + 63) // 64 * 64
            pieces.append(piece)
        self._taken.append((label, pieces, tensor.dtype, tuple(tensor.shape), cut))


def difference(expected, got):
    """The first element in which two kept tensors differ by more than rounding; None: they agree."""
    (right, kind), (wrong, _) = expected, got
    if right.shape != wrong.shape or right.dtype != wrong.dtype:
        return {"tensor": kind, "index": None, "expected": str(list(right.shape)), "got": str(list(wrong.shape)), "wrong": None, "total": None}
    a, b = right.reshape(-1), wrong.reshape(-1)
    if a.is_complex():
        a, b = torch.view_as_real(a).reshape(-1), torch.view_as_real(b).reshape(-1)
    if a.is_floating_point():
        a, b = a.double(), b.double()
        scale = a[a.isfinite()].abs().max().item() if a.isfinite().any() else 0.0
        apart = ~torch.isclose(a, b, rtol=RELATIVE, atol=ABSOLUTE * max(scale, 1e-30), equal_nan=True)
    else:
        apart = a != b
    count = int(apart.sum())
    if not count:
        return None
    first = int(apart.nonzero()[0])
    parts = a.numel() // max(1, right.numel())  # a complex number is two
    index = []
    rest = first // parts
    for length in reversed(right.shape):
        index.insert(0, rest % length)
        rest //= length
    return {"tensor": kind, "index": index, "expected": _number(a[first]), "got": _number(b[first]), "wrong": count, "total": a.numel()}


def _number(value):
    return repr(value.item()) if value.dtype != torch.float64 else f"{value.item():.6g}"
