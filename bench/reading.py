"""Reading what tools print: counts, seconds and rates, in each tool's own words.

Seconds are those of the tool's own clock, which runs from the first state to the last; TLC's has whole seconds only, so
that the time of its process is taken, with the start of the Java machine. For traces it is the process for every tool.
"""

from __future__ import annotations

import json
import re

from bench.reference import Reading
from bench.running import Run

FIELD = re.compile(r"([a-z/0-9]+)=(\d+(?:\.\d+)?)")
STEPS = ("modelsteps", "states", "steps")
"""What Hypothesis, Stateright and the others call the number of steps of all walks."""
PAN_COUNTS = re.compile(r"^\s*([\d.e+]+) states, stored.*?^\s*([\d.e+]+) transitions", re.MULTILINE | re.DOTALL)
PAN_TIME = re.compile(r"elapsed time ([\d.e+]+) seconds")
TLC_COUNTS = re.compile(r"^(\d+) states generated, (\d+) distinct states found, 0 states left", re.MULTILINE)
TLC_STATE = re.compile(r"^State (\d+): <", re.MULTILINE)
PAN_DEPTH = re.compile(r"depth reached (\d+), errors: 1")
TLC_WALKED = re.compile(r"number of states generated: (\d+)")


class Unreadable(Exception):
    """A tool's output has not what is looked for: the tool stopped early, or speaks otherwise than expected."""


def figures(text: str) -> dict[str, float]:
    """All `name=number` in a text."""
    return {name: float(number) for name, number in FIELD.findall(text)}


def search(run: Run) -> Reading:
    """A complete search by a tool that prints `distinct=`, `generated=` and `states/s=`."""
    said = figures(run.output)
    try:
        counts = int(said["distinct"]), int(said["generated"])
        return Reading(counts[0], counts[0] / said["states/s"], counts)
    except KeyError as missing:
        raise _unreadable(run, f"{missing.args[0]}=") from None


def walks(run: Run) -> Reading:
    """Random walks by a tool that prints `steps/s=`, and how many steps in its own word."""
    said = figures(run.output)
    steps = next((said[word] for word in STEPS if word in said), 0.0)
    if not steps or not said.get("steps/s"):
        raise _unreadable(run, "steps and steps/s=")
    return Reading(steps, steps / said["steps/s"])


def pan_search(run: Run) -> Reading:
    """A complete search by a verifier that SPIN made. Its state before the initial one is not counted."""
    found, time = PAN_COUNTS.search(run.output), PAN_TIME.search(run.output)
    if found is None:
        raise _unreadable(run, '"states, stored" and "transitions"')
    states, transitions = (round(float(number)) - 1 for number in found.groups())
    # It says no time at all below its resolution of 10 ms.
    return Reading(states, float(time[1]) if time and float(time[1]) else run.wall, (states, transitions))


def tlc_search(run: Run) -> Reading:
    """A complete search by TLC."""
    found = TLC_COUNTS.search(run.output)
    if found is None:
        raise _unreadable(run, '"states generated"')
    return Reading(int(found[2]), run.wall, (int(found[2]), int(found[1])))


def tlc_walks(run: Run) -> Reading:
    """Random walks by TLC."""
    found = TLC_WALKED.search(run.output)
    if found is None:
        raise _unreadable(run, '"number of states generated"')
    return Reading(int(found[1]), run.wall)


def trace(run: Run) -> Reading:
    """The trace of a tool that prints `steps=`."""
    said = figures(run.output)
    if "steps" not in said:
        raise _unreadable(run, "steps=")
    return Reading(1, run.wall, steps=int(said["steps"]))


def pan_trace(run: Run) -> Reading:
    """The trace of a verifier that SPIN made to search breadth first."""
    found = PAN_DEPTH.search(run.output)
    if found is None:
        raise _unreadable(run, '"depth reached", with one error')
    return Reading(1, run.wall, steps=int(found[1]))


def tlc_trace(run: Run) -> Reading:
    """TLC's trace, which it prints state by state."""
    states = TLC_STATE.findall(run.output)
    if not states:
        raise _unreadable(run, '"State 1"')
    return Reading(1, run.wall, steps=int(states[-1]) - 1)


def kwalk_trace(run: Run) -> Reading:
    """The trace that `kwalk exhaust --json` prints."""
    try:
        (finding,) = json.loads(run.output)["findings"]
        return Reading(1, run.wall, steps=int(finding["length"]))
    except (ValueError, KeyError, TypeError):
        raise _unreadable(run, "one finding in JSON") from None


def _unreadable(run: Run, wanted: str) -> Unreadable:
    return Unreadable(f"nothing like {wanted} in what it printed, which ends: {run.last_line}")
