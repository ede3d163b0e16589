"""What PyTorch's autograd engine does with streams, for the meta device, where it does nothing.

On CUDA each backward node runs on the stream that was current when its forward ran; a gradient that crosses streams is
recorded, waited for and kept (record_stream); at the end the caller's stream waits for every stream that was used. Here
pre-hooks on the nodes select the stream and write those edges, marked implicit.
"""
import torch

MARK = "raceline stream"


class Engine:
    def __init__(self, session):
        self._session = session
        self._active = []

    def see(self, out):
        """Note the current stream on every new backward node behind a result."""
        if isinstance(out, torch.Tensor):
            if out.requires_grad:
                self._tag(out.grad_fn)
        elif isinstance(out, (tuple, list)):
            for item in out:
                if isinstance(item, torch.Tensor) and item.requires_grad:
                    self._tag(item.grad_fn)
        return out

    def _tag(self, node):
        handle = self._session.current()
        waiting = [node]
        while waiting:
            node = waiting.pop()
            if node is None or MARK in node.metadata:
                continue
            node.metadata[MARK] = handle
            node.register_prehook(self._hook(handle))
            waiting.extend(following for following, _ in node.next_functions)

    def _hook(self, handle):
        def enter(gradients):
            if self._active:
                self._enter(handle, gradients)

        return enter

    def _enter(self, handle, gradients):
        session = self._session
        session.select(handle)
        self._active[-1].add(handle)
        with torch._C.DisableTorchFunction():
            for gradient in gradients:
                if not isinstance(gradient, torch.Tensor):
                    continue
                block = session.block_of(gradient)
                if block is None or block.writer is None or block.writer == handle:
                    continue
                session.implicit_edge(block.writer, handle)
                session.keep(block, handle, implicit=True)

    def wrap(self, call):
        """`call` (torch.autograd.backward or grad) with the engine's stream handling round it."""

        def run(*args, **kwargs):
            session = self._session
            outer = session.current()
            self._active.append(set())
            site = session.recording.sites.here()
            before, session.recording.fallback_site = session.recording.fallback_site, site
            try:
                return call(*args, **kwargs)
            finally:
                used = self._active.pop()
                session.select(outer)
                for handle in sorted(used - {outer}):
                    session.implicit_edge(handle, outer, site)
                session.recording.fallback_site = before

        return run


class Backward:
    """The C++ engine, entered with the program's function mode on. A backward that begins as a call of a tensor has left it, and hooks,
    saved tensors' hooks, recomputed forwards and a Function's own backward may name the device."""

    def __init__(self, plain, inside):
        self._plain = plain
        self.run_backward = inside(plain.run_backward)

    def __getattr__(self, name):
        return getattr(self._plain, name)
