"""The files of a rerun: the plan that says which hazards to try, and the report that says what came of it."""
import json
import os


def read_plan(file):
    with open(file, encoding="utf-8") as text:
        plan = json.load(text)
    for hazard in plan["hazards"]:
        for place in (hazard["first"], hazard["second"]):
            place["file"] = normal(place["file"])
    return plan


def write_report(file, report):
    """Whole or not at all: the process may end at any moment."""
    part = f"{file}.part"
    with open(part, "w", encoding="utf-8") as text:
        json.dump({"version": 1, **report}, text)
    os.replace(part, file)


def normal(file):
    """The name under which a file is compared."""
    return os.path.normcase(os.path.realpath(file))


def first_line(error):
    return str(error).splitlines()[0] if str(error) else type(error).__name__
