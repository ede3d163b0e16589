"""The dispatch mode on the GPU: for every operator its stream and the bytes it reads and writes.

This is the hot path of a recording: it runs for every operator of the program, so it works on addresses (one dictionary
look-up a tensor) and leaves numbers (rows). Addresses are enough because a live block's base address is unique.
"""
import sys
import time
import types

import torch

from raceline.dispatch import PLAIN, DispatchMode, is_traced, plan_of, with_tensors
from raceline.given import given
from raceline.operators import called_with, extent
from raceline.rows import ALLOC, BOTH, FREE, MODES, OP, READ, RECORD, WAIT, WRITE

now = time.time_ns
getframe = sys._getframe
Tensor = torch.Tensor
CODES = {"r": READ, "w": WRITE, "rw": BOTH}
# An operator is looked at for scratch memory of its own this often before it is believed to need none.
SCRATCH_LOOKS = 3
# … whose sizes are believed once two calls with the same arguments took the same; for so many different arguments.
MOST_SCRATCH_SIZES = 256


class Watch(DispatchMode):
    def __init__(self, session):
        super().__init__()
        self._session = session
        self._recording = session.recording
        self._sites = session.recording.sites
        self._at = session.recording.sites.at
        self._file = session.recording.file
        self._put = session.recording.file.rows.extend
        self._local = session.local
        self._live = session.blocks.live
        self._gradients = session.blocks.gradients
        self._order = session.blocks.order
        self._new_block = session.blocks.new_id
        self._pinned = session.blocks.pinned
        self._plans = session.plans
        self._start = session.start_ns
        self._raw_stream = torch._C._cuda_getCurrentRawStream
        self._streams = session.stream_ids
        self._names = {None: -1}
        _spare_the_look_up(type(self))

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if types and not PLAIN.issuperset(types):
            # A subclass unwraps itself; its inner operators come here.
            return func(*args, **(kwargs or {})) if is_traced(types) else NotImplemented
        plan = self._plans.get(id(func))  # the operator's own hash is computed in Python
        if plan is None:
            plan = self._learn(func)
        call = plan.call
        thread = self._local.thread
        # Called back from inside an operator, that operator's row covers it. A closed file: the program is over, or this is a
        # process that it forked.
        if plan.quiet or thread.pending is not None or self._file.closed:
            if plan.kind == "record_stream" and not self._file.closed:
                self._record_stream(args, kwargs)
            if plan.kind == "composite" and thread.pending is None and not self._file.closed:
                with self:
                    return func.decompose(*args, **(kwargs or {}))
            try:
                return call(*args, **kwargs) if kwargs else call(*args)
            except RuntimeError:
                tensors = with_tensors(plan, args)
                if tensors is None:
                    raise
                return call(*tensors, **(kwargs or {}))

        # Before the call: an operator may free or move what it reads.
        accesses = []
        device = -1
        host = None
        find = self._live.get
        backward = self._session.backward
        blind = False
        count = len(args)
        try:
            for index, mode, many in plan.fast:
                if index >= count:
                    break
                value = args[index]
                for tensor in value if many else (value,):
                    if tensor.__class__ is not Tensor and not isinstance(tensor, Tensor):
                        if plan.collective and isinstance(tensor, (list, tuple)):  # a list for each rank
                            for inner in tensor:
                                if inner.is_cuda:
                                    device = inner.get_device() if device < 0 else device
                                    self._view(inner, mode, accesses, backward)
                        continue  # an absent optional, or a number that takes a tensor's place
                    block = find(tensor.data_ptr())
                    if block is not None:
                        if device < 0:
                            device = tensor.get_device()
                        size = tensor.nbytes
                        # A transposed whole is a whole.
                        if tensor.is_contiguous() or tensor.untyped_storage().nbytes() == size:
                            accesses += (block, 0, size, mode)
                        else:
                            span = extent(tensor)
                            if span is not None:
                                accesses += (block, 0, span[1] - span[0], mode)
                        if backward:
                            made = self._gradients.get(block)
                            if made is not None and made[0] != self._streams.get(self._raw_stream(device) or -1 - device):
                                self._session.keep_gradient(block, tensor.get_device())
                    elif tensor.is_cuda:
                        if device < 0:
                            device = tensor.get_device()
                        self._view(tensor, mode, accesses, backward)
                    elif self._pinned or plan.copies:
                        if host is None:
                            host = []
                        host.append((tensor, mode))
            if kwargs:
                for key, value in kwargs.items():
                    got = plan.named.get(key)
                    if got is None or value is None:
                        continue
                    for tensor in value if got[1] else (value,):
                        if not isinstance(tensor, Tensor):
                            continue
                        if tensor.is_cuda:
                            if device < 0:
                                device = tensor.get_device()
                            self._view(tensor, CODES[got[0]], accesses, backward)
                        elif self._pinned:
                            host = (host or []) + [(tensor, CODES[got[0]])]
        except Exception:  # tensors without storage (functorch, fake): their accesses are not known
            blind = True

        thread.measure = False
        thread.pending = pending = []
        sizes = None
        if plan.scratch:
            sizes = self._scratch(plan, args, thread)
        start = now()
        try:
            out = call(*args, **kwargs) if kwargs else call(*args)
        except BaseException:
            thread.pending = None
            tensors = with_tensors(plan, args)
            if tensors is not None:
                return self.__torch_dispatch__(func, types, tensors, kwargs)
            _, after, _ = self._settle(pending, {}, max(device, 0), start, thread)
            self._after(after, None, thread)
            raise
        end = now()
        thread.pending = None
        if device < 0 and not pending and host is None and not plan.copies:  # an operator of the CPU
            if plan.pins and (plan.pins == "result" or kwargs and kwargs.get("pin_memory")):
                self._session.blocks.pin(out, self._session.stream_of(self._raw_stream(torch._C._cuda_getDevice())), self._sites.here())
            return out
        try:
            site, name = self._at(getframe(1))
        except ValueError:  # autograd's threads have no frames of Python
            site = name = None
        if site is None:
            site = self._session.nowhere()
        copy = None
        if plan.copies and device >= 0 and host is None and self._stays(plan, args, out):
            copy = ',"copy":"d2d"'
        extra, first = copy, None
        if site not in plan.called:
            plan.called.add(site)
            first = given(args, kwargs)
            extra = (copy or "") + first
        if (plan.simple or copy) and host is None and not blind:
            # The common case in one go: no result is new, or one result that is one new block.
            if not pending:
                if device >= 0 and plan.writes:
                    raw = self._raw_stream(device)
                    stream = self._streams.get(raw or -1 - device)
                    if stream is None:
                        stream = self._session.stream_of(raw, device)
                    ident, slot = thread.id, thread.slot
                    if ident is None or slot is None:
                        ident, slot = self._session.thread_of(thread), self._session.slot_of(thread)
                    self._put((OP, start, end, stream, plan.label, ident, slot, site, extra, len(accesses) >> 2, *accesses))
                    return out
            elif len(pending) == 1 and out.__class__ is Tensor and pending[0] == out.data_ptr() and out.is_contiguous():
                address = pending[0]
                device = out.get_device()
                raw = self._raw_stream(device)
                stream = self._streams.get(raw or -1 - device)
                if stream is None:
                    stream = self._session.stream_of(raw, device)
                ident, slot = thread.id, thread.slot
                if ident is None or slot is None:
                    ident, slot = self._session.thread_of(thread), self._session.slot_of(thread)
                size = out.nbytes
                block = self._live[address] = self._new_block()
                self._order.extend((address, block))
                if backward:
                    self._gradients[block] = [stream, None]
                label = self._names.get(name)
                if label is None:
                    label = self._names[name] = self._file.string(name)
                self._put((ALLOC, start, block, address, size, stream, ident, site, label,
                           OP, start, end, stream, plan.label, ident, slot, site, extra, (len(accesses) >> 2) + 1, *accesses, block, 0, size, WRITE))
                return out
        self._write(plan, args, kwargs, out, accesses, device, host, pending, start, end, blind, site, name, thread, sizes, first)
        return out

    def _scratch(self, plan, args, thread):
        """What the operator will allocate; where that is not known it is measured, which takes longer than all the rest."""
        key = called_with(args)
        sizes = plan.scratch_sizes.get(key)
        if sizes is None and key is not None and len(plan.scratch_sizes) < MOST_SCRATCH_SIZES:
            sizes = plan.scratch_sizes[key] = Sizes()
        plan.scratch -= 1
        if sizes is None or not sizes.known:
            self._session.measure_start(thread)
        return sizes

    @staticmethod
    def _stays(plan, args, out):
        """Whether a copy is one within a device."""
        source = args[1] if plan.base == "copy_" and len(args) > 1 else args[0]
        return isinstance(source, Tensor) and source.is_cuda and out.is_cuda and source.get_device() == out.get_device()

    def _line(self, plan, start, end, stream, site, accesses, thread, extra=None):
        """The operator's own row."""
        session = self._session
        self._put((OP, start, end, stream, plan.label, session.thread_of(thread), session.slot_of(thread), site, extra, len(accesses) >> 2, *accesses))

    def _write(self, plan, args, kwargs, out, accesses, device, host, pending, start, end, blind, site, name, thread, scratch, first):
        """An operator's rows in general: copies, several results, scratch memory, what happened inside it."""
        if device < 0 and (pending or plan.copies):
            # A new tensor says where it is; it need not be on the current device.
            made = out[0] if type(out) in (tuple, list) and out else out
            device = made.get_device() if isinstance(made, Tensor) and made.is_cuda else torch._C._cuda_getDevice()
        copy = None
        if plan.copies:
            copy, device = self._copy(plan, args, out, device)
        if device < 0:
            self._host(host, plan)
            return
        session = self._session
        # Results: fresh blocks are written, anything else is a view of an argument.
        made_sizes = {}
        results = out if type(out) in (tuple, list) else (out,)
        if pending:
            for tensor in results:
                if isinstance(tensor, Tensor) and tensor.is_cuda:
                    storage = tensor.untyped_storage()
                    made_sizes[storage.data_ptr()] = storage.nbytes()
                elif type(tensor) in (tuple, list):
                    for inner in tensor:
                        if isinstance(inner, Tensor) and inner.is_cuda:
                            storage = inner.untyped_storage()
                            made_sizes[storage.data_ptr()] = storage.nbytes()
        stream = session.stream_of(self._raw_stream(device), device)
        after = None
        if pending:
            stream, after, born = self._settle(pending, made_sizes, device, start, thread, site, name, stream, plan, scratch)
            if plan.kind == "empty":
                return
            for tensor in results:
                if isinstance(tensor, Tensor):
                    block = born.get(tensor.data_ptr())
                    if block is not None:
                        if tensor.nbytes:
                            accesses += (block, 0, tensor.nbytes, WRITE)
                    elif born and tensor.is_cuda:
                        self._fresh(tensor, born, accesses)
                elif type(tensor) in (tuple, list):
                    for inner in tensor:
                        if isinstance(inner, Tensor) and inner.is_cuda:
                            self._fresh(inner, born, accesses)
        elif plan.kind == "empty" or (not plan.writes and plan.kind == "op" and not copy and self._is_view(results, args)):
            return
        if host:
            for tensor, mode in host:
                block = session.blocks.pin(tensor, stream, site) if plan.copies else self._pinned.get(tensor.untyped_storage().data_ptr())
                span = extent(tensor) if block is not None else None
                if span:
                    accesses += (block, *span, mode)
        if copy == "d2h" and plan.base == "_to_copy":
            block = session.blocks.pin(out, stream, site)
            if block is not None and out.nbytes:
                accesses += (block, 0, out.nbytes, WRITE)
        extra = f',"copy":"{copy}"' if copy else ""
        if blind:
            extra += ',"blind":true'
        if first:
            extra += first
        self._line(plan, start, end, stream, site, accesses, thread, extra or None)
        if after:
            self._after(after, site, thread, plan)

    def _learn(self, func):
        plan = plan_of(func)
        plan.label = self._file.string(plan.name)
        plan.fast = tuple((index, CODES[mode], many) for index, mode, many in plan.tensors)
        plan.scratch = SCRATCH_LOOKS
        plan.func = func  # kept: its id is the key
        self._plans[id(func)] = plan
        return plan

    def _view(self, tensor, mode, accesses, backward):
        """A tensor that does not start at its block's base, or memory of somebody else."""
        span = extent(tensor)
        if span is None:
            return
        base = tensor.untyped_storage().data_ptr()
        block = self._live.get(base)
        if block is None:
            device = tensor.get_device()
            stream = self._session.stream_of(self._raw_stream(device), device)
            block = self._session.blocks.add_foreign(base, tensor.untyped_storage().nbytes(), stream, self._sites.here())
        accesses += (block, *span, mode)
        if backward and block in self._gradients:
            self._session.keep_gradient(block, tensor.get_device())

    @staticmethod
    def _fresh(tensor, born, accesses):
        block = born.get(tensor.untyped_storage().data_ptr())
        span = extent(tensor) if block is not None else None
        if span:
            accesses += (block, *span, WRITE)

    @staticmethod
    def _is_view(results, args):
        """Whether every result shares its memory with an argument: nothing ran on the device."""
        given = {a.untyped_storage().data_ptr() for a in args if isinstance(a, Tensor)}
        tensors = [r for r in results if isinstance(r, Tensor)]
        return bool(tensors) and all(r.untyped_storage().data_ptr() in given for r in tensors)

    @staticmethod
    def _copy(plan, args, out, device):
        """The direction of a copy and the device whose stream it runs on."""
        source, target = (args[1], args[0]) if plan.base == "copy_" else (args[0], out)
        if not isinstance(target, Tensor) or not isinstance(source, Tensor):
            return None, device
        if target.is_cuda:
            # A copy between devices runs on the source's stream; the destination's waits for it.
            return ("d2d" if source.is_cuda else "h2d"), (source if source.is_cuda else target).get_device()
        return ("d2h", source.get_device()) if source.is_cuda else (None, -1)

    def _host(self, host, plan):
        if host:
            for tensor, mode in host:
                self._session.blocks.host_access(tensor, MODES[mode], plan.name)

    def _record_stream(self, args, kwargs):
        stream = args[1] if len(args) > 1 else kwargs["s"]
        tensor = args[0]
        if not tensor.is_cuda:
            return
        block = self._live.get(tensor.untyped_storage().data_ptr())
        if block is not None:
            try:
                site = self._at(getframe(2))[0]
            except ValueError:
                site = None
            self._session.record_stream(block, stream, site)

    def _settle(self, pending, sizes, device, start, thread, site=None, name=None, stream=None, plan=None, scratch=None):
        """Put the rows of what happened inside an operator before its own; returns (stream, what comes after, fresh blocks).

        Records and waits up to the first wait come before the kernels (the copy waits for the other device, the collective
        for its input), later ones after them; so do host waits and the release of blocks that were there before.
        """
        session, recording = self._session, self._recording
        if stream is None:
            stream = session.stream_of(self._raw_stream(device), device)
        if site is None:
            site = session.nowhere()
        ident = session.thread_of(thread)
        after, born, waited = [], {}, False
        begin = start - self._start
        backward = bool(session.backward)
        if scratch is not None:
            pending = scratch.fill(pending, thread.measure)
        for entry in pending:
            if entry.__class__ is int:  # an allocation that nobody measured
                entry = ("alloc", entry, 0)
            kind = entry[0]
            if kind == "alloc":
                address = entry[1]
                size = sizes.get(address)
                label = None if size is None else name
                if size is None:
                    size = entry[2] or 512
                    if plan is not None:
                        plan.scratch = SCRATCH_LOOKS  # it needs some: keep looking
                born[address] = session.blocks.add(address, size, stream, backward, site if site >= 0 else None, label, begin)
            elif kind == "free":
                address, block = entry[1], entry[2]
                if block is not None:
                    after.append(entry)
                elif address in born:  # scratch memory of the operator itself
                    self._live.pop(address, None)
                    self._put((FREE, entry[3], born.pop(address), ident, site))
            elif kind == "sync" or (kind == RECORD and waited) or (kind == WAIT and any(e[0] == RECORD for e in after)):
                after.append(entry)
            else:
                if kind == WAIT:
                    waited = True
                    if plan is not None and plan.collective:
                        # A collective runs on its group's own stream, the one that has just been made to wait.
                        stream = entry[2]
                        recording.mark_collective(stream)
                self._put((kind, entry[4], entry[1], entry[2], ident, site, 1 if entry[3] else 0))
        return stream, after, born

    def _after(self, entries, site, thread, plan=None):
        """The rows of what comes after the operator."""
        ident = self._session.thread_of(thread)
        if site is None:
            site = self._session.nowhere()
        for entry in entries:
            kind = entry[0]
            if kind == "free":
                self._put((FREE, entry[3], entry[2], ident, site))
            elif kind == "sync":
                api = "" if plan is None else f',"api":{plan.label}'
                self._recording.step("sync", entry[1] + api, site if site >= 0 else None, entry[2])
            else:
                self._put((kind, entry[4], entry[1], entry[2], ident, site, 1 if entry[3] else 0))


class Sizes:
    """What an operator allocates, in its order, when it is called with the same arguments."""

    __slots__ = ("_sizes", "known")

    def __init__(self):
        self._sizes = None
        # None: two calls did not take the same, so that each is measured.
        self.known = False

    def fill(self, pending, measured):
        """The entries with the size of each allocation in it."""
        if measured:
            sizes = [entry[2] for entry in pending if entry.__class__ is tuple and entry[0] == "alloc"]
            if self.known is not None:
                self.known = None if self._sizes not in (None, sizes) else self._sizes is not None
                self._sizes = sizes
            return pending
        if sum(entry.__class__ is int for entry in pending) != len(self._sizes):
            self.known = None
            return pending
        sizes = iter(self._sizes)
        return [("alloc", entry, next(sizes)) if entry.__class__ is int else entry for entry in pending]


def _spare_the_look_up(ours):
    """PyTorch asks, in Python and for every operator, whether somebody registered a rule for this mode. Nobody can have."""
    try:
        from torch._library import simple_registry

        look_up = simple_registry.find_torch_dispatch_rule
        if look_up.__defaults__ is not None or look_up.__code__.co_argcount != 2:
            return
        plain = types.FunctionType(look_up.__code__, look_up.__globals__)
    except (ImportError, AttributeError):
        return

    def quick(op, torch_dispatch_class, ours=ours, plain=plain):
        return None if torch_dispatch_class is ours else plain(op, torch_dispatch_class)

    # C++ keeps the function, so its body is what is replaced.
    look_up.__defaults__ = quick.__defaults__
    look_up.__code__ = quick.__code__
