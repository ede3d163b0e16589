"""`--confirm PLAN`: runs the program three times for each hazard of a plan and writes which of them happened.

    control      every call is done before the next begins: what is right
    broken       the first call is held back until the second one is through
    control      once more, where the two differ: what differs by itself says nothing

The report is written after each hazard, since a hazard may take the process with it.
"""
import json

import torch

from raceline.confirm.device import Cuda
from raceline.confirm.hold import Hold
from raceline.confirm.observe import Observations, difference
from raceline.confirm.plan import first_line, read_plan, write_report
from raceline.confirm.rerun import Program
from raceline.confirm.watch import Watching

# The exit code that asks for another process, for what is left of the plan.
GO_ON = 75


def confirm(prepare, plan_file, report_file, device=None):
    plan, done = read_plan(plan_file), _read(report_file)
    device = Cuda() if device is None else device
    watching = Watching(device)
    try:
        return _try_each(plan["hazards"], done, Program(prepare, device, watching.places), watching, device, report_file)
    finally:
        watching.remove()


def _try_each(hazards, done, program, watching, device, report_file):
    observations = Observations(device)
    for hazard in hazards:
        if any(result["id"] == hazard["id"] for result in done):
            continue
        result = {"id": hazard["id"], "status": "failed", "message": "The process ended while this hazard was tried."}
        _write(report_file, [*done, result])
        alive = True
        try:
            result = {"id": hazard["id"], **Trial(program, watching, device, observations, hazard).result()}
        except RuntimeError as error:
            # The device does not work any more: a fault of the broken run that it did not survive.
            result = {"id": hazard["id"], "status": "failed", "message": first_line(error)}
        try:
            device.synchronize()
        except RuntimeError as error:
            alive = False
            if result["status"] == "failed":
                result = {"id": hazard["id"], "status": "reproduced", "happened": True, "message": f"The device fails: {first_line(error)}"}
        done.append(result)
        _write(report_file, done)
        if not alive:
            return GO_ON
    return 0


class Trial:
    def __init__(self, program, watching, device, observations, hazard):
        self._program, self._watching, self._device = program, watching, device
        self._observations, self._hazard = observations, hazard

    def result(self):
        right, control, kept = self._run(broken=False)
        if not control.met:
            return {"status": "not reproduced", "happened": False, "message": "The program does not come to the first call again: what it does differs from run to run."}
        got, broken, found = self._run(broken=True)
        happened = broken.overtaken
        answer = {"happened": happened, "exact": self._device.exact}
        if got.code != right.code or got.message != right.message:
            if happened:
                return {**answer, "status": "reproduced", "message": f"The program fails: {got.message or f'exit code {got.code}'}"}
            return {**answer, "status": "failed", "message": f"The program fails with its stream held back: {got.message or f'exit code {got.code}'}"}
        if not happened:
            return {**answer, "status": "not reproduced", "message": "The second call did not come before the first one: something orders them, or the device waited for all streams."}
        wrong = [(label, difference(value, found[label])) for label, value in kept.items() if label in found and label[0] in self._telling()]
        wrong = [(label, fault) for label, fault in wrong if fault is not None]
        if wrong:
            _, _, again = self._run(broken=False)
            wrong = [(label, fault) for label, fault in wrong if label in again and difference(kept[label], again[label]) is None]
        if not wrong:
            return {**answer, "status": "not reproduced", "message": "The order was broken, and every value that was compared is the same all the same."}
        label, fault = min(wrong, key=lambda one: (self._telling().index(one[0][0]), one[0][1] if one[0][0] != "read" else 0))
        return {**answer, "status": "reproduced", "message": "", "wrong": {**self._where(label), **fault}, "others": len(wrong) - 1}

    def _telling(self):
        """Whose values the hazard makes wrong, the nearest first."""
        conflict = self._hazard["conflict"]
        if conflict == "write-after-write":
            return ("afterwards", "read")
        return ("second", "read") if conflict in ("read-after-write", "host-read-before-copy-done") else ("first", "read")

    def _run(self, broken):
        self._observations.begin()
        hold = Hold(self._device, self._observations, self._hazard, broken)
        self._watching.begin(hold)
        kept = {}

        def check(_):
            hold.finish()
            self._device.synchronize()
            kept.update(self._observations.end())

        outcome = self._program.run(self._watching.modes, check)
        return outcome, hold, kept

    def _where(self, label):
        """Which tensor of the program a label stands for."""
        if label[0] == "read":
            _, (file, line), name, _ = label
            return {"what": "read", "name": name, "file": file, "line": line}
        place = self._hazard["first"] if label[0] == "first" else self._hazard["second"]
        return {"what": label[0], "name": label[2], "file": place["file"], "line": place["line"]}


def _read(file):
    try:
        with open(file, encoding="utf-8") as text:
            return json.load(text)["results"]
    except (OSError, ValueError, KeyError):
        return []


def _write(file, results):
    write_report(file, {"torch": torch.__version__, "results": results})
