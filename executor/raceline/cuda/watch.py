"""The dispatch mode on the GPU: for every operator its stream and the bytes it reads and writes.

This is the hot path of a recording: it runs for every operator of the program, so it works on addresses (one dictionary
look-up a tensor) and writes its line with one format. Addresses are enough because a live block's base address is unique.
"""
import sys
import time

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from raceline.operators import Plan, extent

now = time.time_ns
Tensor = torch.Tensor
PLAIN = {Tensor, torch.nn.Parameter} | ({torch.nn.Buffer} if hasattr(torch.nn, "Buffer") else set())
# An operator is looked at for scratch memory of its own this often before it is believed to need none.
SCRATCH_LOOKS = 3


class Watch(TorchDispatchMode):
    def __init__(self, session):
        super().__init__()
        self._session = session
        self._recording = session.recording
        self._sites = session.recording.sites
        self._file = session.recording.file
        self._local = session.local
        self._live = session.blocks.live
        self._pinned = session.blocks.pinned
        self._plans = session.plans
        self._start = session.start_ns
        self._raw_stream = torch._C._cuda_getCurrentRawStream

    @classmethod
    def _should_skip_dynamo(cls):
        # Without this every operator goes through a wrapper of torch.compile's, which costs more than the recording does.
        return False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if types and not PLAIN.issuperset(types):
            return NotImplemented  # the subclass unwraps itself; its inner operators come here
        if self._file.closed:  # the program is over, or this is a process that it forked
            return func(*args, **kwargs) if kwargs else func(*args)
        plan = self._plans.get(func)
        if plan is None:
            plan = self._learn(func)
        if plan.quiet:
            if plan.kind == "record_stream":
                self._record_stream(args, kwargs)
            return plan.call(*args, **kwargs) if kwargs else plan.call(*args)
        thread = self._local.thread
        if thread.pending is not None:  # called back from inside an operator: that operator's line covers it
            return plan.call(*args, **kwargs) if kwargs else plan.call(*args)

        # Before the call: an operator may free or move what it reads.
        accesses = []
        device = -1
        host = None
        live = self._live
        backward = self._session.backward
        foreign = 0
        count = len(args)
        try:
            for index, mode, many in plan.tensors:
                if index >= count:
                    break
                value = args[index]
                for tensor in value if many else (value,):
                    if not isinstance(tensor, Tensor):  # an absent optional, or a number that takes a tensor's place
                        continue
                    block = live.get(tensor.data_ptr())
                    if block is not None:
                        if device < 0:
                            device = tensor.get_device()
                        high = tensor.nbytes
                        if tensor.is_contiguous():
                            accesses.append(f'[{block.id},0,{high},"{mode}"]')
                        elif high:
                            accesses.append(f'[{block.id},0,{extent(tensor)[1] - tensor.storage_offset() * tensor.element_size()},"{mode}"]')
                        if backward and block.backward:
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
                            self._view(tensor, got[0], accesses, backward)
                        elif self._pinned:
                            host = (host or []) + [(tensor, got[0])]
        except Exception:  # tensors without storage (functorch, fake): their accesses are not known
            foreign = 1

        thread.measure = False
        thread.pending = pending = []
        if plan.scratch:
            plan.scratch -= 1
            self._session.measure_start(thread)
        start = now()
        try:
            out = plan.call(*args, **kwargs) if kwargs else plan.call(*args)
        except BaseException:
            thread.pending = None
            _, after, _ = self._settle(pending, {}, max(device, 0), start)
            for kind, body, at in after:
                self._recording.step(kind, body, time=at)
            raise
        end = now()
        thread.pending = None
        if device < 0 and not pending and host is None and not plan.copies:  # an operator of the CPU
            if plan.pins and (plan.pins == "result" or kwargs and kwargs.get("pin_memory")):
                self._session.blocks.pin(out, self._session.stream_of(self._raw_stream(torch._C._cuda_getDevice())), self._sites.here())
            return out
        try:
            site, name = self._sites.at(sys._getframe(1))
        except ValueError:  # autograd's threads have no frames of Python
            site = name = None
        if plan.simple and host is None and not foreign:
            # The common case in one go: no result is new, or one result that is one new block.
            if not pending:
                if device >= 0 and plan.writes:
                    self._line(plan, start, end, self._session.stream_of(self._raw_stream(device), device), site, accesses, thread)
                    return out
            elif len(pending) == 1 and type(out) is Tensor and pending[0][0] == "alloc" and pending[0][1] == out.data_ptr() and out.is_contiguous():
                address = pending[0][1]
                device = out.get_device()
                stream = self._session.stream_of(self._raw_stream(device), device)
                size = out.nbytes
                block = self._session.blocks.new(address, stream, backward)
                accesses.append(f'[{block.id},0,{size},"w"]')
                label = "" if name is None else f',"name":{self._file.string(name)}'
                self._line(plan, start, end, stream, site, accesses, thread, "", f'"t":{start - self._start},"b":{block.id},"addr":"{address:#x}","size":{size},"st":{stream}{label}')
                return out
        self._write(plan, args, kwargs, out, accesses, device, host, pending, start, end, foreign, site, name, thread)
        return out

    def _line(self, plan, start, end, stream, site, accesses, thread, extra="", alloc=None):
        """Write the operator's own line, and before it that of its one new block."""
        file = self._file
        key = thread.key
        if site is None:
            site = self._recording.fallback_site
        if key is None:
            key = thread.key = self._recording.thread_key()
            if key is None:
                key = self._recording.where(site)
                site = None
        if site is not None:
            key = f'{key},"s":{site}'
        with file.lock:
            if alloc is not None:
                file.append(f'{{"k":"alloc","n":{next(file._numbers)},{alloc}{key}}}')
                file.counts["alloc"] += 1
            n = next(file._numbers)
            file.append(f'{{"k":"op","n":{n},"t":{start - self._start},"d":{end - start},"st":{stream},"name":{plan.label}{key}{extra},"acc":[{",".join(accesses)}]}}')
            file.counts["op"] += 1
        spans = thread.spans
        if spans is None:
            spans = self._session.new_spans(thread)
        spans.extend((start, end, n, stream))

    def _write(self, plan, args, kwargs, out, accesses, device, host, pending, start, end, blind, site, name, thread):
        """An operator's lines in general: copies, several results, scratch memory, what happened inside it."""
        site = self._recording.fallback_site if site is None else site
        if device < 0:
            device = torch._C._cuda_getDevice() if pending or plan.copies else -1
        copy = None
        if plan.copies:
            copy, device = self._copy(plan, args, out, device, host)
            if copy is None and device < 0:
                self._host(host, plan)
                return
        if device < 0:
            self._host(host, plan)
            return
        session = self._session
        # Results: fresh blocks are written, anything else is a view of an argument.
        sizes = {}
        results = out if type(out) in (tuple, list) else (out,)
        if pending:
            for tensor in results:
                if isinstance(tensor, Tensor) and tensor.is_cuda:
                    storage = tensor.untyped_storage()
                    sizes[storage.data_ptr()] = storage.nbytes()
                elif type(tensor) in (tuple, list):
                    for inner in tensor:
                        if isinstance(inner, Tensor) and inner.is_cuda:
                            storage = inner.untyped_storage()
                            sizes[storage.data_ptr()] = storage.nbytes()
        stream = session.stream_of(self._raw_stream(device), device)
        after = None
        if pending:
            stream, after, born = self._settle(pending, sizes, device, start, site, name, stream, plan)
            if plan.kind == "empty":
                return
            for tensor in results:
                if isinstance(tensor, Tensor):
                    block = born.get(tensor.data_ptr())
                    if block is not None:
                        accesses.append(f'[{block.id},0,{tensor.nbytes},"w"]')
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
                    accesses.append(f'[{block.id},{span[0]},{span[1]},"{mode}"]')
        if copy == "d2h" and plan.base == "_to_copy":
            block = session.blocks.pin(out, stream, site)
            if block is not None:
                accesses.append(f'[{block.id},0,{out.nbytes},"w"]')
        extra = f',"copy":"{copy}"' if copy else ""
        if blind:
            extra += ',"blind":true'
        self._line(plan, start, end, stream, site, accesses, thread, extra)
        if after:
            for kind, body, at in after:
                if kind == "sync":
                    body += f',"api":{plan.label}'
                self._recording.step(kind, body, site, at)

    def _learn(self, func):
        plan = Plan(func)
        plan.label = self._file.string(plan.name)
        plan.scratch = SCRATCH_LOOKS
        self._plans[func] = plan
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
        accesses.append(f'[{block.id},{span[0]},{span[1]},"{mode}"]')
        if backward and block.backward:
            self._session.keep_gradient(block, tensor.get_device())

    @staticmethod
    def _fresh(tensor, born, accesses):
        block = born.get(tensor.untyped_storage().data_ptr())
        span = extent(tensor) if block is not None else None
        if span:
            accesses.append(f'[{block.id},{span[0]},{span[1]},"w"]')

    @staticmethod
    def _is_view(results, args):
        """Whether every result shares its memory with an argument: nothing ran on the device."""
        given = {a.untyped_storage().data_ptr() for a in args if isinstance(a, Tensor)}
        tensors = [r for r in results if isinstance(r, Tensor)]
        return bool(tensors) and all(r.untyped_storage().data_ptr() in given for r in tensors)

    def _copy(self, plan, args, out, device, host):
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
                self._session.blocks.host_access(tensor, mode, plan.name)

    def _record_stream(self, args, kwargs):
        stream = args[1] if len(args) > 1 else kwargs["s"]
        tensor = args[0]
        if not tensor.is_cuda:
            return
        block = self._live.get(tensor.untyped_storage().data_ptr())
        if block is not None:
            self._session.record_stream(block, stream)

    def _settle(self, pending, sizes, device, start, site=None, name=None, stream=None, plan=None):
        """Write what happened inside an operator before its line; returns (stream, what comes after, fresh blocks).

        Records and waits up to the first wait come before the kernels (the copy waits for the other device, the collective
        for its input), later ones after them; so do host waits and the release of blocks that were there before.
        """
        session, recording = self._session, self._recording
        if stream is None:
            stream = session.stream_of(self._raw_stream(device), device)
        after, born, waited = [], {}, False
        begin = start - self._start
        backward = bool(session.backward)
        for entry in pending:
            kind = entry[0]
            if kind == "alloc":
                address = entry[1]
                size = sizes.get(address)
                label = None if size is None else name
                if size is None:
                    size = entry[2] or 512
                    if plan is not None:
                        plan.scratch = SCRATCH_LOOKS  # it needs some: keep looking
                born[address] = session.blocks.add(address, size, stream, backward, site, label, begin)
            elif kind == "free":
                address, block = entry[1], entry[2]
                if block is not None:
                    after.append(("free", f',"b":{block.id}', entry[3]))
                elif address in born:  # scratch memory of the operator itself
                    self._live.pop(address, None)
                    recording.step("free", f',"b":{born.pop(address).id}', site, entry[3])
            elif kind == "sync":
                after.append(entry)
            elif kind == "record" and waited:
                after.append(entry)
            elif after and kind == "wait" and any(e[0] == "record" for e in after):
                after.append(entry)
            else:
                if kind == "wait":
                    waited = True
                    if plan is not None and plan.collective:
                        # A collective runs on its group's own stream, the one that has just been made to wait.
                        stream = int(entry[1].split('"st":')[1].split(",")[0])
                recording.step(kind, entry[1], site, entry[2])
        return stream, after, born
