"""Makes one hazard of a recording happen: holds the first call's stream until the second call is through.

A control (`broken` false) does everything but that, with the device synchronized after each call: what it computes is right.
Memory whose contents nobody may rely on (what the first call overwrites, a block that was released) is filled with 0xFF first,
so that what is read too early cannot be right by chance.
"""
import torch

from raceline.confirm.device import Gate, comes_while_closed
from raceline.confirm.watch import HOST_CALLS, Control

# The pair that the recording shows, and what follows it in a loop.
PAIRS = 3
TRIES = 32
READS = 200
READ_SIZE = 1 << 20


class Serial(Control):
    """Each call is done before the next begins. Keeps the values that the program reads."""

    def __init__(self, device, observations, serial=True):
        self.device, self.observations, self.serial = device, observations, serial
        self._reads = 0

    def after(self, call):
        if self.serial and call.on_device and not self.device.capturing():
            self.device.synchronize()
        if call.plan is None:
            if call.name in HOST_CALLS:
                self._read(call, call.out)
        elif call.plan.kind == "read_back":
            self._read(call, call.out)
        elif call.plan.base == "_to_copy" and not call.kwargs.get("non_blocking") and call.on_device and not self.device.is_here(call.out):
            if call.out.numel() * call.out.element_size() <= READ_SIZE:
                self._read(call, call.out.clone())

    def _read(self, call, value):
        if self._reads < READS:
            self._reads += 1
            self.observations.value(("read", call.place, call.name, call.occurrence), value)


class Hold(Serial):
    def __init__(self, device, observations, hazard, broken):
        super().__init__(device, observations, serial=not broken)
        self._hazard = hazard
        self._first, self._second = hazard["first"], hazard["second"]
        self._broken = broken
        self._gates = {}
        self._used = {}
        self._waiting = []
        self._outer = None
        self._late = {}
        self.overtaken = False
        self.met = False

    def before(self, call):
        kind = self._hazard["kind"]
        if call.on_device and self._is_first(call) and not self.device.capturing():
            pair = call.occurrence - self._first["occurrence"]
            self.met = True
            self._waiting.append(pair)
            # One at a time: two that are held could hold each other's second call.
            if any(gate.closed for gate in self._gates.values()):
                return
            if kind == "lifetime":
                self._used[pair] = [(t.untyped_storage().data_ptr(), t.untyped_storage().nbytes()) for t in call.read() if self.device.is_here(t)]
            else:
                self._fill_target(call)
            if self._broken:
                if call.name.startswith("c10d::"):
                    # A collective runs on its group's stream, which waits for the current one only here.
                    self._outer = self.device.step_aside()
                self._gates[pair] = Gate(self.device)
        elif kind == "lifetime" and self._used and call.on_device and _at(call, self._second) and not self.device.capturing():
            for pair in list(self._used):
                if self._reuse(pair):
                    del self._used[pair]

    def after(self, call):
        if self._outer is not None:
            self.device.step_back(self._outer)
            self._outer = None
        if call.on_device and self._is_first(call) and not self.device.capturing():
            self._first_issued(call)
        if self._hazard["kind"] != "lifetime" and self._is_second(call) and not self.device.capturing():
            self._second_done(call)
        super().after(call)

    def finish(self):
        for gate in self._gates.values():
            gate.open()

    def _is_first(self, call):
        return call.name == self._first["name"] and _at(call, self._first) and 0 <= call.occurrence - self._first["occurrence"] < PAIRS

    def _is_second(self, call):
        if call.name != self._second["name"] or not _at(call, self._second):
            return False
        if self._hazard["kind"] == "host":
            return not call.on_device
        return call.on_device and 0 <= call.occurrence - self._second["occurrence"] < PAIRS

    def _first_issued(self, call):
        label = ("first", call.occurrence - self._first["occurrence"], call.name)
        if not call.name.startswith("c10d::"):
            self.observations.take(label, call.written())
        elif self.serial:
            # What a collective gives is on its group's stream: it is there when the device is through.
            self.device.synchronize()
            self.observations.take(label, call.written())
        else:
            self._late[label[1]] = label, call.written()

    def _second_done(self, call):
        if self._hazard["kind"] == "host":
            # The recording counts only what touches pinned memory: the next one after the first call is taken.
            if not self._waiting:
                return
            pair = self._waiting.pop(0)
        else:
            pair = call.occurrence - self._second["occurrence"]
        label = ("second", pair, call.name)
        if call.name in HOST_CALLS:
            self.observations.value(label, call.out)
        elif call.out is not None and not hasattr(call.out, "data_ptr") and type(call.out) not in (tuple, list):
            self.observations.value(label, call.out)
        else:
            self.observations.take(label, call.written())
        gate = self._gates.get(pair)
        if gate is not None and gate.closed:
            if self._hazard["kind"] == "host" or comes_while_closed(self.device, self.device.mark(), gate):
                self.overtaken = True
            gate.open()
        if pair in self._late:
            self.device.synchronize()
            self.observations.take(*self._late.pop(pair))
        if self._hazard["conflict"] == "write-after-write":
            self.device.synchronize()
            self.observations.take(("afterwards", pair, call.name), call.written())

    def _fill_target(self, call):
        """What the call writes without reading it, whether it is there already or is about to be allocated."""
        if call.plan is None:
            return
        targets = call.overwritten()
        if not all(self.device.is_here(target) for target in targets):
            # The host fills what a copy from before may still read.
            self.device.synchronize()
        kept = {t.untyped_storage().data_ptr() for t in call.read() if not any(t is target for target in targets)}
        for target in targets:
            if target.untyped_storage().data_ptr() not in kept:
                _fill(target)
        if not targets and not call.plan.writes and self._hazard["size"]:
            make = self.device.arena if self._hazard["kind"] == "host" else self.device.fresh
            make(self._hazard["size"]).fill_(0xFF)
        # What is read early must find the filling, and not what was there before.
        self.device.finish_current()

    def _reuse(self, pair):
        """Take the released block as its pool's next owner and fill it; False: it is not to be had (yet)."""
        kept, got = [], []
        used = self._used[pair]
        for one in used:
            # What still lives, as the tensor that a copy writes does, is never handed out: the search for it comes by the others.
            if any(_overlaps(block, one) for block in got):
                continue
            for _ in range(TRIES):
                block = self.device.fresh(one[1])
                (got if any(_overlaps(block, other) for other in used) else kept).append(block)
                if _overlaps(block, one):
                    break
        for block in got:
            block.fill_(0xFF)
        gate = self._gates.get(pair)
        if got and gate is not None and gate.closed:
            self.overtaken = comes_while_closed(self.device, self.device.mark(), gate) or self.overtaken
            gate.open()
        return bool(got)


def _overlaps(block, memory):
    address, size = memory
    return block.data_ptr() < address + size and address < block.data_ptr() + block.nbytes


def _at(call, place):
    return call.place == (place["file"], place["line"])


def _fill(tensor):
    if tensor.is_contiguous():
        size = tensor.element_size()
        # Not through the tensor itself: autograd would take it for changed.
        raw = torch.empty(0, dtype=torch.uint8, device=tensor.device)
        raw.set_(tensor.untyped_storage(), tensor.storage_offset() * size, (tensor.numel() * size,)).fill_(0xFF)
    elif tensor.is_floating_point():
        tensor.detach().data.fill_(float("nan"))
