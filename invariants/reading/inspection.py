"""The inspection of a snapshot: which properties its partitions violate, in the kinds that operators know.

Nothing is searched and nothing is judged twice: each partition becomes a state of the model (`at_rest`), the properties
of `kwalk.invariants` are evaluated on it (`findings`), and `finding_kinds` gives each violation its kind.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from functools import partial

from attrs import evolve

from kwalk.invariants.reading.advice.advice import Advice
from kwalk.invariants.reading.finding_kinds import KINDS
from kwalk.invariants.reading.findings import PROPERTIES, Findings
from kwalk.invariants.reading.migration import migration_prospect
from kwalk.model.kafka.snapshots.capture import Capture, Topic, read_any_capture, topic_label
from kwalk.model.kafka.snapshots.diagnosis import (
    brokers,
    files_of,
    listed,
    not_read,
    not_shown,
    sent_id,
    unseen,
)
from kwalk.model.kafka.snapshots.diagnosis import partitions as in_words
from kwalk.model.kafka.snapshots.in_sync import refusals
from kwalk.model.kafka.snapshots.lineage import UNLESS_CLEANED
from kwalk.model.language.inspection import FactTable, Inspection, Observation, Severity

AGREEMENT = "Topic ids agree, every partition is served, and nothing is left over."
PARTLY_SEEN = "As far as the snapshot shows: "
NOT_READ = "What was read is not damaged; what was not read may be: see below, and take a snapshot that has it."
MOST_TOPICS = 20
"""The most topics whose ids are listed."""


def inspect_snapshot(source: str | os.PathLike[str] | bytes) -> Inspection:
    """Inspect a capture (a JSON file, or its bytes).

    Raises:
        UsageError: It cannot be read.
    """
    return inspect_capture(read_any_capture(source))


def inspect_capture(capture: Capture) -> Inspection:
    """Return what is wrong with each topic, partition and broker of a capture, the worst first."""
    found = Findings(capture)
    order = {kind: number for number, kind in enumerate(KINDS)}
    moving = frozenset(capture.unsettled)  # two moments may look like damage
    seen = [evolve(o, certain=o.certain and _is_shown(o, moving)) for o in found.observations()]
    advice = Advice(capture, found.logs(seen), seen)
    kinds = {kind: advice.kind_of(kind) for kind in dict.fromkeys(one.kind for one in seen)}
    observations = [evolve(one, kind=kinds[one.kind]) for one in sorted(seen, key=lambda one: order[one.kind])]
    inspection = Inspection(
        headline=_headline(capture),
        observations=tuple(observations),
        notes=tuple(_notes(capture)),
        tables=tuple(_tables(capture, observations)),
        properties=PROPERTIES,
        consistent=_agreement(capture),
        not_read=_not_read(capture),
        totals={
            "topic": len(capture.topics),
            "broker": len(capture.hosts),
            "partition": sum(len(topic.partitions) for topic in capture.topics.values()),
            "situation": found.evaluation.broken.cache_info().currsize,
        },
    )
    return evolve(inspection, foresee=partial(migration_prospect, capture, inspection))


def _is_shown(one: Observation, moving: Collection[str]) -> bool:
    """Whether an observation holds without a condition: topics that move were seen at two moments."""
    return one.fields.get("topic") not in moving and UNLESS_CLEANED not in one.detail


def _headline(capture: Capture) -> str:
    node = "KRaft controller" if capture.is_kraft else "controller"
    controller = "no controller" if capture.controller is None else f"{node} {capture.controller}"
    return (
        f"Kafka {capture.version}, {len(capture.live)} of {len(capture.hosts)} brokers up, {controller}, "
        f"controller epoch {capture.controller_epoch}"
    )


def _not_asked(capture: Capture) -> Iterator[str]:
    """Yield what is taken to be in order, as clients were not asked."""
    unanswered = [b.id for b in capture.brokers.values() if b.alive and b.cache is None]
    if unanswered:
        yield f"No metadata cache of {brokers(unanswered)} is in the snapshot: it is taken to be ZooKeeper's."


def _not_measured(capture: Capture) -> Iterator[str]:
    """Yield what is taken to be in order, as the files of logs were not asked."""
    logs = [(b, name, log) for b in capture.hosts for name, log in b.directories.items() if name not in b.assumed]
    bare = sorted({name for _, name, log in logs if not log.is_measured and log.leader_epochs is not None})
    if bare:
        yield f"Sizes or first batches of {listed(bare)} are not shown: what differs there is not seen."


def _not_read(capture: Capture) -> tuple[str, ...]:
    """Return what may hide damage; what brokers answer that follow KRaft is KRaft's image."""
    return (*(() if capture.is_kraft else _not_asked(capture)), *not_read(capture))


def _agreement(capture: Capture) -> str:
    if _not_read(capture):
        return NOT_READ
    is_partly_seen = any(_not_measured(capture)) or not_shown(capture)
    return PARTLY_SEEN + AGREEMENT[0].lower() + AGREEMENT[1:] if is_partly_seen else AGREEMENT


def _notes(capture: Capture) -> Iterator[str]:
    yield from _not_asked(capture)
    yield from _not_measured(capture)
    logs = [log for broker in capture.hosts for log in broker.directories.values()]
    if logs and all(log.is_empty for log in logs) and any(map(_was_elected, capture.topics.values())):
        yield (
            "No log has a record, though leaders were elected more than once: if there were records, the disks that "
            "were read are not those that had them."
        )
    stopped: dict[str, list[int]] = {}
    for number in capture.live:
        stopped.setdefault(refusals(capture, (number,)), []).append(number)
    yield from (f"A stop or restart of {brokers(found, 'or')}: {text}." for text, found in stopped.items() if text)
    yield from unseen(capture)


def _was_elected(topic: Topic) -> bool:
    return any(state.leader_epoch > 0 for state in topic.states.values())


def _tables(capture: Capture, observations: Iterable[Observation]) -> Iterator[FactTable]:
    """Yield a table of who has which id of the damaged topics."""
    damaged = {
        one.fields["topic"]: None
        for one in observations
        if one.kind.severity is not Severity.NOTE and one.fields.get("topic") in capture.topics
    }
    known = [capture.topics[name] for name in list(damaged)[:MOST_TOPICS]]
    rows = tuple(row for topic in known for row in _holders(capture, topic))
    if rows:
        yield FactTable("Topic ids, and who has them", ("topic", "id", "who has it"), rows)


def _holders(capture: Capture, topic: Topic) -> Iterator[tuple[str, str, str]]:
    """Yield for each id of a topic, none among them, who has it."""
    holders: dict[str, list[str]] = {topic.topic_id or "none": ["the topic's znode"]}
    sent = sent_id(capture, topic)
    if sent is not None:
        holders.setdefault(sent, []).append("the controller, in memory")
    on_disk: dict[str, dict[tuple[int, ...], list[int]]] = {}
    for partition in sorted(topic.partitions):
        files: dict[str, list[int]] = {}
        for broker, identity in files_of(capture, topic, partition).items():
            files.setdefault(identity or "none", []).append(broker)
        for identity, found in files.items():
            on_disk.setdefault(identity, {}).setdefault(tuple(sorted(found)), []).append(partition)
    for identity, groups in on_disk.items():
        label = topic_label(topic.name)
        texts = [f"{in_words(label, numbers)} on {brokers(found)}" for found, numbers in groups.items()]
        what = "partition.metadata" if identity != "none" else "a log without partition.metadata"
        holders.setdefault(identity, []).append(f"{what} of {listed(texts)}")
    yield from ((topic_label(topic.name), identity, "; ".join(found)) for identity, found in holders.items())
