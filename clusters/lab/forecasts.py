"""Whether forecasts are right: what a snapshot foresees of an event, beside what clients got after it.

Words: an *event* is an operation of a history between two snapshots that changes nothing else: a failover, a restart, a
start, a restart of all brokers. It is foreseen in each possible state; where these differ, nothing is said for sure.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from kwalk.clusters.lab.cluster import serves
from kwalk.clusters.lab.histories import OPERATIONS, ROLLED
from kwalk.clusters.lab.probes import STOPPING, ProbedSnapshot, ProbeTime, ProbeVerdict, class_of, got, is_probed, names
from kwalk.invariants.reading.outlook import read_snapshot
from kwalk.model.language import UsageError
from kwalk.model.language.recovery import Problem
from kwalk.search.analyses.recovery import Outlook, foresee

SECONDS = 20.0
"""The time budget of what is foreseen from one snapshot."""
MAY_STOP = STOPPING | {"replicas_converge"}
"""Claims without which a producer with acks=all may wait: the replica that copies nothing is in the ISR, or not."""
ROLLING = ("all brokers restart in turn",)
EVENTS: Mapping[str, tuple[str, ...]] = {
    "delete /controller": ("the controller fails over",),
    "restart a broker": ("broker {} restarts",),
    "restart all brokers": ROLLING,
}
"""By operation, the titles that its event may have."""
STARTED = "started broker "
"""How the answer of an operation begins that has started a broker, which need not be the one that was drawn."""


@frozen
class Forecast:
    """What a snapshot foresees of an event.

    Attributes:
        problem: the damage that is looked at; None if the snapshot cannot be searched.
        stops: for each partition of a world, whether it stops serving; None where that is not sure.
    """

    problem: Problem | None
    stops: Mapping[str, bool | None]

    def of(self, partition: str, damage: tuple[str, ...]) -> bool | None:
        """Return whether a partition stops serving; None if nothing says it for sure."""
        if self.problem is None or partition in self.stops:
            return self.stops.get(partition)
        is_looked_at = not self.problem.left_out and bool(self.problem.what_ifs or not self.problem.worlds)
        return False if is_looked_at and not damage else None


def forecast_of(path: Path, titles: tuple[str, ...]) -> Forecast:
    """Return what a snapshot foresees of the event with one of some titles."""
    try:
        problem = read_snapshot(path).problems[0]
    except UsageError:
        return Forecast(None, {})
    if not problem.worlds:
        return Forecast(problem, {})
    return Forecast(problem, dict(_stops(foresee(problem, seconds=SECONDS), titles)))


def _stops(outlook: Outlook, titles: tuple[str, ...]) -> Iterator[tuple[str, bool | None]]:
    for world in outlook.problem.worlds:
        yield from ((name, None) for name in _partitions(world.name))
    for event in outlook.events:
        if event.what_if.title in titles:
            stops = {bool(STOPPING & violated) for violated in event.outcomes}
            is_sure = stops == {True} or not any(MAY_STOP & violated for violated in event.outcomes)
            for name in _partitions(outlook.problem.worlds[event.world].name):
                yield name, True in stops if is_sure else None


def _partitions(world: str) -> list[str]:
    return world.partition(" (and")[0].split(", ")


def titles_of(operation: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the titles that the event of an operation may have; none if it was not possible, or is no event."""
    answer: str = operation["answer"]
    if answer.startswith(STARTED):
        return (f"broker {answer.removeprefix(STARTED)} starts with the logs that it has",)
    known = EVENTS.get(operation["operation"], ()) if answer != "not possible" else ()
    return tuple(title.format(operation["broker"]) for title in known)


def forecast_verdicts(case: Path) -> Iterator[ProbeVerdict]:
    """Compare what the snapshots of a history foresee with the probes after events.

    Args:
        case: the folder of the history; it has no operations if the cluster failed.
    """
    done = json.loads((case / OPERATIONS).read_text())["operations"] if (case / OPERATIONS).exists() else []
    before: Path | None = None
    for operation in done:
        after = case / operation["snapshot"] if "snapshot" in operation else None
        titles = titles_of(operation)
        if before is not None and after is not None and titles:
            yield from compared(before, after, titles)
        before = after
    if before is not None and (case / ROLLED).exists():
        yield from compared(before, case / ROLLED, ROLLING)


def compared(before: Path, after: Path, titles: tuple[str, ...]) -> Iterator[ProbeVerdict]:
    """Compare what a snapshot foresees of an event with the probes of the snapshot after it.

    A restart of all brokers also starts those that are down, which no event does.
    """
    if not is_probed(after):
        return
    now, then = ProbedSnapshot.read(before), ProbedSnapshot.read(after)
    starts = titles == ROLLING and not all(broker.alive for broker in now.capture.brokers.values())
    forecast = forecast_of(before, () if starts else titles)
    whole = [one for one in now.inspection.observations if "topic" not in one.fields]
    for topic, number in then.partitions():
        if topic not in now.capture.topics or number not in now.capture.topics[topic].partitions:
            continue
        damage, probe = names([*now.about(topic, number), *whole]), then.probe(topic, number)
        stops = forecast.of(f"{topic}-{number}", damage)
        why = now.doubt(topic) or then.doubt(topic) or "nothing is foreseen for sure" * (stops is None)
        kind, place = class_of(why, is_right=stops is not serves(probe)), f"{topic}-{number}, {titles[0]}"
        yield ProbeVerdict(kind, ProbeTime.LATER, before, place, damage, serves(probe), got(probe), why)
