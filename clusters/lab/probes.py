"""Whether diagnoses are right: what an inspection says of a partition, beside what a producer and a consumer got.

Words: a partition *serves* if a producer with acks=all and a consumer of the release's own kind get what they ask for
within a short timeout. A finding *stops clients* if it says that the partition does not serve.

The diagnosis of each snapshot is compared with its own probe; what it foresees is compared in `forecasts`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

from attrs import frozen

from kwalk.clusters.lab.cluster import serves
from kwalk.invariants.reading import finding_kinds as kinds
from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.model.kafka.snapshots.capture import Capture, read_capture
from kwalk.model.language.inspection import Inspection, Observation, Severity

STOPPING = frozenset(
    {
        "partition_has_a_live_isr_member",
        "partition_servable",
        "partition_gets_a_leader",
        "leader_answers_fetches_by_id",
        "isr_members_live",
    }
)
"""The properties without which a producer with acks=all, or a consumer, gets nothing. Under-replication is not one:
min.insync.replicas is 1 in the lab."""
WAITING = frozenset({kinds.STALE_IN_ISR.name, kinds.MEMBER_AHEAD.name, kinds.NOT_FOLLOWING.name})
"""Further kinds whose finding is that acks=all times out: a member of the ISR copies nothing."""
PROBE = "probe"
"""The field of the snapshot's `extra` with the probes, by topic and partition."""


class ProbeClass(Enum):
    """What became of a comparison; the value is its name in tables."""

    RIGHT = "right"
    WRONG = "wrong"
    UNDECIDED = "undecided"


class ProbeTime(Enum):
    """When the partition was probed."""

    AT_ONCE = "at once"
    LATER = "after an event that was foreseen"


@frozen
class ProbeVerdict:
    """A comparison of a diagnosis with a probe of a partition.

    Args:
        kind: Its class.
        time: When the partition was probed.
        snapshot: The file that was inspected.
        partition: The partition.
        findings: The kinds of the findings about it that are more than notes.
        serves: Whether it served.
        got: What the producer and the consumer got.
        why: Why it is undecided.
    """

    kind: ProbeClass
    time: ProbeTime
    snapshot: Path
    partition: str
    findings: tuple[str, ...]
    serves: bool
    got: str
    why: str = ""


@frozen
class ProbedSnapshot:
    """A snapshot with its probes, and its inspection."""

    path: Path
    capture: Capture
    inspection: Inspection
    extra: Mapping[str, Any]

    @staticmethod
    def read(path: Path) -> ProbedSnapshot:
        """Read and inspect a file."""
        content = path.read_bytes()
        extra = json.loads(content).get("extra") or {}
        return ProbedSnapshot(path, read_capture(content), inspect_snapshot(content), extra)

    def partitions(self) -> Iterator[tuple[str, int]]:
        """Yield the topic and the number of each partition that was probed; topics that are deleted are left out."""
        for topic in self.extra.get(PROBE, {}):
            if topic in self.capture.topics and topic not in self.capture.deleting:
                yield from ((topic, number) for number in sorted(self.capture.topics[topic].partitions))

    def probe(self, topic: str, number: int) -> Mapping[str, Any]:
        """Return the probe of a partition; one that no broker has metadata of does not serve."""
        missing = {what: {"ok": False, "error": "no metadata"} for what in ("produce", "consume")}
        found: Mapping[str, Any] = self.extra[PROBE][topic].get(str(number), missing)
        return found

    def about(self, topic: str, number: int) -> list[Observation]:
        """Return the findings about a partition, or its topic."""
        found = (one for one in self.inspection.observations if one.fields.get("topic") == topic)
        return [one for one in found if one.fields.get("partition", str(number)) == str(number)]

    def doubt(self, topic: str) -> str:
        """Return why a probe is not of what was inspected; empty if it is."""
        if topic in self.capture.unsettled:
            return "the topic changed while the snapshot was taken"
        if not self.extra.get("at_rest", True):
            return "the cluster was not at rest"
        return "the cluster changed before the probes were done" if self.extra.get("changed") else ""


def stops_clients(one: Observation) -> bool:
    """Return whether a finding says that producers with acks=all, or consumers, are not served."""
    if one.kind.severity is not Severity.BROKEN:
        return False
    if one.kind.name == kinds.STATE_BEHIND_LOGS.name:
        return one.fields["served"] != "yes"
    return bool(STOPPING & set(one.kind.properties)) or one.kind.name in WAITING


def is_certain(one: Observation) -> bool:
    """Return whether the snapshot shows that a finding stops clients."""
    return one.certain and one.fields.get("served") != ""


def names(observations: Iterable[Observation]) -> tuple[str, ...]:
    """Return the kinds of findings that are more than notes, each once."""
    damage = (one for one in observations if one.kind.severity is not Severity.NOTE)
    return tuple(dict.fromkeys(one.kind.name + ("" if one.certain else " (not certain)") for one in damage))


def got(probe: Mapping[str, Any]) -> str:
    """Return what clients got, in a few words."""
    consumed = probe["consume"]
    records = f", {consumed.get('n', 0)} records" if consumed["ok"] else ""
    return f"produce {probe['produce']['error']}, consume {consumed['error']}{records}"


def at_once(snapshot: ProbedSnapshot) -> Iterator[ProbeVerdict]:
    """Compare what a snapshot shows of each partition with its probe."""
    for topic, number in snapshot.partitions():
        about, probe = snapshot.about(topic, number), snapshot.probe(topic, number)
        stopping = [one for one in about if stops_clients(one)]
        why = snapshot.doubt(topic)
        if not why and any(one.kind.name == kinds.NOT_JUDGED.name for one in about):
            why = "the partition is not inspected"
        if not why and stopping and not any(map(is_certain, stopping)):
            why = "the finding is not certain"
        if not why and not serves(probe) and any(one.kind.name == kinds.UNDER_ANOTHER_ID.name for one in about):
            why = "the finding says what happens rarely"
        kind, place = class_of(why, is_right=serves(probe) is not bool(stopping)), f"{topic}-{number}"
        yield ProbeVerdict(kind, ProbeTime.AT_ONCE, snapshot.path, place, names(about), serves(probe), got(probe), why)


def class_of(why: str, *, is_right: bool) -> ProbeClass:
    """Return the class of a comparison; with a reason why it is none, it decides nothing."""
    return ProbeClass.UNDECIDED if why else ProbeClass.RIGHT if is_right else ProbeClass.WRONG


def probe_verdicts(snapshots: Iterable[Path]) -> Iterator[ProbeVerdict]:
    """Compare the diagnoses of snapshots with their probes; those without probes are left out."""
    for path in snapshots:
        if is_probed(path):
            yield from at_once(ProbedSnapshot.read(path))


def is_probed(path: Path) -> bool:
    """Return whether a snapshot has probes."""
    return PROBE in (json.loads(path.read_text()).get("extra") or {})


def counts(verdicts: Iterable[ProbeVerdict]) -> dict[ProbeTime, dict[ProbeClass, int]]:
    """Return how many comparisons each time and class has."""
    found = Counter((each.time, each.kind) for each in verdicts)
    return {time: {kind: found[time, kind] for kind in ProbeClass} for time in ProbeTime}


def probe_lines(verdicts: Sequence[ProbeVerdict]) -> Iterator[str]:
    """Yield the table of the comparisons, and each one that is wrong."""
    if not verdicts:
        return
    yield "  diagnoses, compared with what a producer and a consumer got:"
    for time, by_class in counts(verdicts).items():
        numbers = ", ".join(f"{count} {kind.value}" for kind, count in by_class.items())
        served = sum(each.serves for each in verdicts if each.time is time)
        yield f"    {time.value}: {numbers}; {served} served"
    for each in verdicts:
        if each.kind is ProbeClass.WRONG:
            yield f"  wrong: {each.snapshot}  {each.partition}, {each.time.value}"
            yield f"         found: {', '.join(each.findings) or 'nothing'}; got: {each.got}"


def probe_object(verdicts: Sequence[ProbeVerdict]) -> dict[str, Any]:
    """Return the comparisons as a JSON object."""
    return {
        "counts": {
            time.value: {kind.value: count for kind, count in by_class.items()}
            for time, by_class in counts(verdicts).items()
        },
        "verdicts": [
            {
                "class": each.kind.value,
                "time": each.time.value,
                "snapshot": str(each.snapshot),
                "partition": each.partition,
                "findings": list(each.findings),
                "serves": each.serves,
                "got": each.got,
                "why": each.why or None,
            }
            for each in verdicts
        ],
    }
