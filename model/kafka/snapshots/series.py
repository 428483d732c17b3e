"""A series of captures of one real cluster, as what a behaviour of the model has to pass through.

The series is about one topic; what the captures show of others is left out. The model looks at it with the grain in
which real clusters act, but for two things that lose nothing of what captures can show: partition.metadata is written
at once, and fired watches are delivered at once.
"""
from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from attrs import evolve, frozen

from model.kafka import admin_clients, operator, zookeeper
from model.kafka.actors import FAULT
from model.kafka.domains import BROKERS, PARTITIONS, TOPIC_IDS, TOPICS
from model.kafka.scenarios import ADMIN_CLIENTS, BROKER, CONTROLLER, FAULTS, OLD_CLIENT_EXPANSION, REPAIRS
from model.kafka.snapshots.capture import Capture, Topic, read_capture, topic_label
from model.kafka.snapshots.limits import Moment, file_is_gone, limits, not_between, unlikely_between
from model.kafka.snapshots.numbering import Numbering
from model.kafka.snapshots.projection import facts_of
from model.kafka.snapshots.replicas import ids_in
from model.kafka.snapshots.scope import Scope, scope_of
from model.kafka.snapshots.series_start import (
    Recollection,
    as_shown,
    before_the_topic,
    created_partitions,
    is_young,
    recollection,
)
from model.kafka.snapshots.snapshot import short
from model.kafka.snapshots.untrusted_json import printable
from model.kafka.snapshots.words import brokers as brokers_in_words
from model.kafka.snapshots.words import listed
from model.kafka.stories.deletion import BY_HAND, DELETION
from model.kafka.stories.reassignment import REASSIGNMENT_ACTIONS
from model.kafka.stories.sessions import SESSIONS
from model.kafka.versions import FINE, VARIANTS
from model.language import Scenario, UsageError
from model.language.errors import one_of
from model.language.series import Series, Waypoint

EVENTS = frozenset({"restart", "auto_preferred_election", "notice_expiry"})
PROMPT = frozenset({"handle_leader_and_isr", "handle_stop_replica", "deliver_notification"})
TALLIES = frozenset({"controller_deletions", "stops", "repairs", "expirations", "reassignments"})
"""Leaves that count what clients and operators did; their bounds are ample."""
IDLE_TIME = frozenset({"shrink_isr", "expand_isr"})
FLAGS = {**FINE, "async_metadata_flush": False, "metadata_file_removal": True}
SPARE_IDS = 1
"""How many ids may be minted after those that the series shows."""
USUAL_PARTITIONS = 2
ASSUMED = (
    "Taken for true: partition.metadata is written at once; operators remove it only where a snapshot shows one gone, "
    "and then perhaps again later; watches are delivered at once; no topic id was minted that no snapshot shows; "
    "before the first snapshot the cluster had come to rest.",
)

Source = str | os.PathLike[str] | bytes


@frozen
class Captures:
    """Captures of one cluster in order, with their names for people, and the topic that they are about."""

    names: tuple[str, ...]
    captures: tuple[Capture, ...]
    topic: str

    @property
    def first(self) -> Capture:
        """The first capture."""
        return self.captures[0]

    @property
    def topics(self) -> list[Topic]:
        """The topic in every capture that has it."""
        return [c.topics[self.topic] for c in self.captures if self.topic in c.topics]


def read_series(sources: Sequence[Source], names: Sequence[str] | None = None) -> Series:
    """What captures (JSON files, or their bytes) amount to; UsageError if they are no use, or not of one cluster."""
    called = tuple(names or _names(sources))
    captures = tuple(_capture(source, name) for source, name in zip(sources, called, strict=True))
    _same_kind(called, captures)
    return _series(Captures(called, captures, _topic(captures)))


def _capture(source: Source, name: str) -> Capture:
    try:
        return read_capture(source)
    except UsageError as error:
        raise UsageError(f"{printable(name, 200)}: {error}") from error


def _names(sources: Sequence[Source]) -> list[str]:
    """The names of files without their folders, where those tell them apart."""
    paths = [f"snapshot {n}" if isinstance(s, bytes) else os.fspath(s) for n, s in enumerate(sources, start=1)]
    short = [os.path.basename(path) for path in paths]
    return short if len(set(short)) == len(short) else paths


def _same_kind(names: Sequence[str], captures: Sequence[Capture]) -> None:
    if not captures:
        raise UsageError("Name one snapshot or more, in the order in which they were taken.")
    first = captures[0]
    for name, capture in zip(names, captures, strict=True):
        if capture.version != first.version or tuple(capture.brokers) != tuple(first.brokers):
            raise UsageError(
                f"{name} is of Kafka {capture.version} with the brokers {listed([str(b) for b in capture.brokers])}, "
                f"and {names[0]} of Kafka {first.version} with {listed([str(b) for b in first.brokers])}. "
                "Name snapshots of one cluster."
            )


def _topic(captures: Iterable[Capture]) -> str:
    """The topic that most captures show, of those the one that changes most; users' topics before Kafka's own."""
    seen: dict[str, list[Topic]] = {}
    for capture in captures:
        for name, topic in capture.topics.items():
            seen.setdefault(name, []).append(topic)
    if not seen:
        raise UsageError("None of the snapshots shows a topic, so there is nothing to explain. Name later ones too.")
    return min(seen, key=lambda name: (name.startswith("__"), -len(seen[name]), -_changes(seen[name]), name))


def _changes(shown: list[Topic]) -> int:
    return sum(one != other for one, other in pairwise(shown))


def _series(series: Captures) -> Series:
    scope = scope_of(series.captures, series.names, series.topic)
    start = _start(series, scope)
    numbering = _numbering(series, scope, start)
    return Series(
        bounds=_bounds(series, scope, numbering, created=_created(series, scope, begun=start is not None)),
        labels={
            BROKERS.name: tuple(str(broker) for broker in scope.brokers),
            TOPICS.name: (numbering.name,),
            PARTITIONS.name: tuple(str(n) for n in range(numbering.partitions)),
            TOPIC_IDS.name: short(numbering.ids),
        },
        initial=as_shown(start, scope) if start else before_the_topic(series.first, scope),
        waypoints=tuple(_waypoints(series, scope, numbering)),
        variant=series.first.version if series.first.version in VARIANTS else None,
        flags={**FLAGS, **scope.flags},
        events=EVENTS,
        prompt=PROMPT,
        idle_time=IDLE_TIME,
        rare=frozenset({FAULT.name}),
        tallies=TALLIES,
        facts=(*_facts(series, scope, numbering, start), *ASSUMED),
    )


def _start(series: Captures, scope: Scope) -> Recollection | None:
    """What to begin with; None to begin before the topic is there."""
    topic = series.first.topics.get(series.topic)
    if topic is None or is_young(series.first, topic):
        return None
    return recollection(series.first, topic, scope.brokers)


def _numbering(series: Captures, scope: Scope, start: Recollection | None) -> Numbering:
    ids = dict.fromkeys(ids_in(start) if start else ())
    for capture in series.captures:
        ids.update(dict.fromkeys(shown_ids(capture, series.topic)))
    epochs = [state.leader_epoch for topic in series.topics for state in topic.states.values()]
    return Numbering(
        topic=series.topic, brokers=scope.brokers, partitions=len(scope.orders), ids=tuple(ids),
        earlier_epochs=series.first.controller_epoch - 1, most=_rounded(max(epochs, default=0)), scope=scope,
    )  # fmt: skip


def shown_ids(capture: Capture, name: str) -> tuple[str, ...]:
    """The topic's ids that a capture shows: those in files first, then what the controller sends, then ZooKeeper's."""
    topic = capture.topics.get(name)
    directories = (capture.directory(b, name, p) for b in capture.brokers for p in (topic.partitions if topic else ()))
    files = sorted({d.topic_id for d in directories if d and d.topic_id})
    caches = [b.cache.topic_ids.get(name) for b in capture.brokers.values() if b.cache and b.id == capture.controller]
    found = [*(i for i in files if topic is None or i != topic.topic_id), *caches, topic.topic_id if topic else None]
    return tuple(dict.fromkeys(identity for identity in found if identity))


def _created(series: Captures, scope: Scope, *, begun: bool) -> int:
    """How many partitions the topic is created with; where nobody creates it, as many as in most series."""
    fewest = min(len(topic.partitions) for topic in series.topics)
    if not begun:
        return created_partitions(series.topics[0])
    return fewest if scope.deletion else min(fewest, USUAL_PARTITIONS)


def _bounds(series: Captures, scope: Scope, numbering: Numbering, *, created: int) -> dict[str, int]:
    """Room for what the series shows; rounded up, so that series of one kind share a compiled model."""
    return {
        **scope.bounds,
        "topics": 1,
        "created_partitions": created,
        "topic_ids": max(4, len(numbering.ids) + SPARE_IDS),
        "old_creations": 1,
        "new_creations": 1,
        "expansions": 3,
        "new_expansions": 3,
        "failovers": 15,
        "restarts": 15,
        "repairs": 15,
        "controller_epochs": _rounded(series.captures[-1].controller_epoch - numbering.earlier_epochs),
        "leader_epochs": numbering.most,
        "notifications": 0,
    }


def _rounded(number: int) -> int:
    return next(n for n in (15, 31, 63, number) if n >= number)


def _waypoints(series: Captures, scope: Scope, numbering: Numbering) -> Iterator[Waypoint]:
    known, before = 0, Moment(None, 0)
    for name, capture, life in zip(series.names, series.captures, scope.lives, strict=True):
        shown = shown_ids(capture, series.topic)
        known = max([known, *(numbering.identity(identity) + 1 for identity in shown)])
        seen = Moment(capture, life)
        moment = evolve(seen, removals=before.removals or file_is_gone(before, seen, numbering))
        yield Waypoint(
            name=name,
            facts=facts_of(capture, numbering, life),
            limits=limits(before, moment, numbering, known_ids=known),
            without=not_between(before, moment, numbering),
            rare=unlikely_between(before, moment, numbering),
        )
        before = moment


# Facts.


def _facts(series: Captures, scope: Scope, numbering: Numbering, start: Recollection | None) -> Iterator[str]:
    count = len(series.captures)
    strangers = sorted(set(series.first.brokers) - set(scope.brokers))
    yield (
        f"{count} snapshot{'s' * (count != 1)} of Kafka {series.first.version}, about topic {numbering.name} with "
        f"{numbering.partitions} partitions on the brokers {listed([str(b) for b in numbering.brokers])}."
    )
    others = sorted({name for capture in series.captures for name in capture.topics} - {series.topic})
    if others:
        yield f"Left out: topic{'s' * (len(others) != 1)} {listed([topic_label(name) for name in others])}."
    if strangers:
        yield f"Left out: {brokers_in_words(strangers)}, without a replica of {numbering.name}."
    if numbering.earlier_epochs:
        yield f"Controller epochs are counted from {numbering.earlier_epochs + 1} on."
    if start is None:
        yield f"A behaviour begins before topic {numbering.name} is created."
    else:
        yield "A behaviour begins as the first snapshot shows; what nobody can see there is left open."


REAL_CLUSTER = evolve(
    OLD_CLIENT_EXPANSION,
    name="real-cluster",
    story=(
        "Whatever clients, operators and faults do to a cluster, with everything that the model can tell apart: made "
        "to explain snapshots of real clusters."
    ),
    actions=(
        *ADMIN_CLIENTS, *FAULTS, *REPAIRS, *CONTROLLER, *BROKER, zookeeper.deliver_notification,
        operator.write_topic_id, admin_clients.admin_reads_topic, admin_clients.admin_writes_topic,
        *DELETION, *BY_HAND, *REASSIGNMENT_ACTIONS, *SESSIONS,
    ),
    flags=FLAGS,
)  # fmt: skip


def scenario_of(series: Series) -> Scenario:
    """The story in which a series is looked for; UsageError if the series' version is none of its variants."""
    if series.variant is None:
        raise UsageError(f"The snapshots are of a version that kwalk does not model. {one_of(VARIANTS)}")
    return REAL_CLUSTER
