"""`--bisect PLAN`: the smallest set of lines before which a synchronization of the device makes the program's result right.

What makes a wrong result likely is tried in turn: nothing, holding back a hazard of the recording, delaying each side
stream, delaying the default stream. For each that gives a wrong result, the lines are halved as delta debugging does (ddmin),
and each one that is left is moved as late and as early as it may go: between these two the order is missing.
"""
import os

from raceline.confirm.device import Cuda
from raceline.confirm.hold import Hold, Serial
from raceline.confirm.observe import Observations, difference
from raceline.confirm.plan import first_line, read_plan, write_report
from raceline.confirm.rerun import Program
from raceline.confirm.watch import Control, Watching

MOST_RUNS = 400
MOST_STEPS = 30
DELAYS = 50


def bisect(prepare, plan_file, report_file, device=None):
    plan = read_plan(plan_file)
    device = Cuda() if device is None else device
    watching = Watching(device)
    search = Search(Program(prepare, device, watching.places), watching, device, plan)
    try:
        report = search.result()
    except TooMany:
        report = {"status": "given up", "message": f"No smallest set was found in {MOST_RUNS} runs.", "places": search.found}
    except RuntimeError as error:
        report = {"status": "failed", "message": f"The device fails: {first_line(error)}", "places": search.found}
    finally:
        watching.remove()
    write_report(report_file, {"runs": search.runs, **report})
    return 0


class TooMany(Exception):
    pass


class Stress(Control):
    """What makes a wrong result likely. `repeats`: how many right runs say that the result is right."""

    name = ""
    repeats = 1

    def release(self):
        """A synchronization comes: let go what would keep it waiting."""


class Nothing(Stress):
    """Nothing is made likely."""

    name = "as it runs by itself"
    repeats = 3


class Holding(Stress):
    """One hazard of the recording is made to happen."""

    def __init__(self, device, hazard):
        self._hold = Hold(device, _Blind(), hazard, broken=True)
        first = hazard["first"]
        self.name = f"with `{first['name']}` at {os.path.basename(first['file'])}:{first['line']} held back"

    def before(self, call):
        self._hold.before(call)

    def after(self, call):
        self._hold.after(call)

    def finish(self):
        self._hold.finish()

    def release(self):
        self._hold.finish()


class Delaying(Stress):
    """The stream that becomes current is late: each side stream, or the default one."""

    def __init__(self, device, side):
        self._device, self._side = device, side
        self._last = None
        self._left = DELAYS
        self.name = "with each side stream delayed" if side else "with the default stream delayed"

    def before(self, call):
        if not call.on_device or self._device.capturing():
            return
        stream = self._device.current()
        if stream != self._last:
            self._last = stream
            if self._left and self._device.is_side(stream) == self._side:
                self._left -= 1
                self._device.delay()


class Synchronizing(Serial):
    """Synchronizes the device before each call on the given lines."""

    def __init__(self, device, observations, sites, stress, order):
        super().__init__(device, observations, serial=False)
        self._sites, self._stress, self._order = sites, stress, order

    def before(self, call):
        # The host's own work too: it may read what a copy has yet to bring.
        if call.place is not None and call.place not in self._order:
            self._order[call.place] = len(self._order)
        if call.place in self._sites and not self.device.capturing():
            self._stress.release()
            self.device.synchronize()
        self._stress.before(call)

    def after(self, call):
        self._stress.after(call)
        super().after(call)

    def finish(self):
        self._stress.finish()


class Search:
    def __init__(self, program, watching, device, plan):
        self._program, self._watching, self._device = program, watching, device
        self._hazards, self._check, self._exit = plan["hazards"], plan.get("check"), plan.get("exit_code")
        self._observations = Observations(device)
        self.found = []
        self.runs = 0
        self._order = {}

    def result(self):
        right = self._run(Serial(self._device, self._observations))
        if right["failure"]:
            return {"status": "failed", "message": f"The check fails where each call is done before the next one begins: {right['failure']}", "places": []}
        again = self._run(Serial(self._device, self._observations))
        if (self._check or self._exit) and not right["right"]:
            return {"status": "logic", "message": "The result is wrong too when each call is done before the next one begins: this is no matter of synchronization.", "places": []}
        self._expected = right
        self._stable = {label for label in right["values"] if label in again["values"] and difference(right["values"][label], again["values"][label]) is None}
        beyond = []
        stresses = [Nothing, *(lambda h=h: Holding(self._device, h) for h in self._hazards), lambda: Delaying(self._device, True), lambda: Delaying(self._device, False)]
        for stress in stresses:
            sites = [place["site"] for place in self.found]
            if self._is_right(stress, sites):
                continue
            candidates = [site for site in sorted(self._order, key=self._order.get) if self._watching.places.is_own(site[0]) and site not in sites]
            name = stress().name
            if not self._is_right(stress, [*sites, *candidates]):
                beyond.append(name)
                continue
            for site in self._smallest(candidates, lambda some: self._is_right(stress, [*sites, *some])):
                self.found.append(self._around(site, candidates, stress, name))
        places = [{**place, "site": {"file": place["site"][0], "line": place["site"][1]}} for place in self.found]
        if places:
            return {"status": "found", "message": "", "places": places}
        if beyond:
            return {"status": "not by synchronization", "message": f"The result is wrong {beyond[0]}, and a synchronization before every line does not make it right.", "places": []}
        return {"status": "right", "message": "Every run gave the right result, also with streams held back and delayed.", "places": []}

    def _smallest(self, candidates, right):
        """A set of which no member can be left out."""
        some, pieces = list(candidates), 2
        while len(some) > 1:
            size = -(-len(some) // pieces)
            parts = [some[i : i + size] for i in range(0, len(some), size)]
            smaller = next((part for part in parts if right(part)), None)
            if smaller is not None:
                some, pieces = smaller, 2
                continue
            rests = [[site for site in some if site not in part] for part in parts] if len(parts) > 2 else []
            smaller = next((rest for rest in rests if right(rest)), None)
            if smaller is not None:
                some, pieces = smaller, max(pieces - 1, 2)
            elif pieces >= len(some):
                break
            else:
                pieces = min(pieces * 2, len(some))
        return some

    def _around(self, site, candidates, stress, name):
        """As late and as early as one line may move, with the others as they are."""
        others = [place["site"] for place in self.found]
        at = candidates.index(site)

        def reach(step):
            got = at
            for _ in range(MOST_STEPS):
                if not 0 <= got + step < len(candidates) or not self._is_right(stress, [*others, candidates[got + step]]):
                    break
                got += step
            return got

        late, early = reach(1), reach(-1)
        return {
            "site": candidates[late], "earliest": _place(candidates[early]),
            "after": _place(candidates[early - 1]) if early else None, "stress": name,
        }

    def _is_right(self, stress, sites):
        sites = set(sites)
        for _ in range(stress().repeats if not sites else 1):
            got = self._run(Synchronizing(self._device, self._observations, sites, stress(), self._order))
            if not self._agrees(got):
                return False
        return True

    def _agrees(self, got):
        if self._check or self._exit:
            return got["right"]
        expected = self._expected
        if (got["code"], got["message"]) != (expected["code"], expected["message"]):
            return False
        if self._stable:
            return all(label in got["values"] and difference(expected["values"][label], got["values"][label]) is None for label in self._stable)
        return got["printed"] == expected["printed"]

    def _run(self, control):
        self.runs += 1
        if self.runs > MOST_RUNS:
            raise TooMany
        self._observations.begin()
        self._watching.begin(control)
        got = {"right": False, "values": {}, "failure": ""}

        def check(outcome):
            control.finish()
            self._device.synchronize()
            got["values"] = self._observations.end()
            if self._check:
                names = dict(outcome.names, printed=outcome.printed, exit_code=outcome.code)
                try:
                    got["right"] = bool(eval(self._check, names))
                except Exception as error:
                    got["failure"] = f"{type(error).__name__}: {first_line(error)}"
            else:
                got["right"] = outcome.code == 0

        outcome = self._program.run(self._watching.modes, check)
        return {**got, "code": outcome.code, "message": outcome.message, "printed": outcome.printed}


class _Blind:
    """Keeps nothing."""

    def take(self, label, tensors):
        pass

    def value(self, label, value):
        pass


def _place(site):
    return {"file": site[0], "line": site[1]}
