"""Captures of a cluster that migrates from ZooKeeper to KRaft: what they show of the migration, in the model's terms.

While KRaft's controller leads, leaders and ISRs are those of its image; the state znodes in ZooKeeper are what its
driver has written last. The model has the image's in `states` of the topic then, and the znodes' in the image. What no
capture shows is the state of the driver, and which changes it has not written: both are left open.

Words: a capture is *led* by KRaft if /controller is that of a KRaft controller. ZooKeeper is *behind* in it if it does
not have a topic as the image has it: a change is still to be written, or the driver cannot write it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import partial
from itertools import pairwise, product
from typing import Any

from attrs import evolve, frozen

from kwalk.model.kafka import actions
from kwalk.model.kafka.migration.kraft_migration_driver import fail_quorum, finalize, provision_again, roll_back
from kwalk.model.kafka.migration.kraft_migration_zk_writer import lose_connection
from kwalk.model.kafka.migration.replication_control_manager import client_adds_partition
from kwalk.model.kafka.migration.state import BrokerMode, DriverState, WrittenPartitionState
from kwalk.model.kafka.migration.versions import MIGRATING
from kwalk.model.kafka.snapshots.capture import (
    Capture,
    CapturedImage,
    CapturedImagePartition,
    CapturedPartitionState,
    Topic,
    is_written,
    topic_label,
)
from kwalk.model.kafka.snapshots.limits import CapturePoint, limits, needs, not_between
from kwalk.model.kafka.snapshots.projection import (
    NONE,
    TOPIC,
    ZOOKEEPER,
    Numbering,
    Unsettled,
    cluster_facts,
    facts_of,
    replica_facts,
    state_facts,
    topic_facts,
)
from kwalk.model.kafka.snapshots.scope import Scope
from kwalk.model.kafka.snapshots.untrusted_json import printable
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.zookeeper.znodes import PartitionStateZnode
from kwalk.model.language import UsageError
from kwalk.model.language.series import Clause, Fact, Need, where

IMAGE = "migration.images[0]"
MODES = {"zookeeper": BrokerMode.ZOOKEEPER, "migrating": BrokerMode.ZOOKEEPER, "kraft": BrokerMode.KRAFT}
COPIED = ("MIGRATION", "POST_MIGRATION")
"""The states of a migration in which the image has what was copied."""
LEFT_OUT = frozenset({"client_deletes_topic", "client_creates_topic", "apply_deletion"})
"""Actions of topics that are deleted while KRaft's controller leads."""
STEPS = tuple(one for one in actions.MIGRATION if one.name not in LEFT_OUT)
"""The actions of a migration that a behaviour may have."""
PROMPT = frozenset(
    {
        "become_active",
        "wait_for_brokers",
        "end_copy",
        "end_sync",
        "send_to_brokers",
        "fence_broker",
        "unfence_broker",
        "apply_image",
    }
)
"""Steps of KRaft's controller, and of brokers in KRaft mode, for which nothing waits."""
COUNTERS = frozenset({"migration.failures", "migration.rollbacks"})
ASSUMED = (
    "Assumed of the migration: a broker is restarted as the documentation says; what KRaft's driver is at, and what it "
    "has not written, is left open where no snapshot shows it."
)
UNTRIED = (
    "configurations, quotas and ACLs, which the migration writes, too",
    "what the driver does about other topics: one of them may hold it up",
    "znodes of partitions, and /migration, that somebody writes by hand",
    "topics that are created or deleted, and replicas that are reassigned, while KRaft's controller leads",
    "leaders that KRaft's controller moves back, and controlled shutdowns in dual write but for a roll",
)
"""What no search for an explanation of a migration tries."""
WIDER = (
    "brokers that ran with zookeeper.metadata.migration.enable before the first snapshot, and operators who removed "
    "partition.metadata between two snapshots of which neither has it"
)
"""What the wider series may assume."""


# What captures show.


def shows_migration(capture: Capture) -> bool:
    """Whether a capture shows that a migration has begun."""
    modes = {broker.mode for broker in capture.brokers.values()}
    return bool(capture.is_kraft) or capture.migration is not None or not modes.isdisjoint(("migrating", "kraft"))


def without_kraft_controller(capture: Capture) -> Capture:
    """Return a capture without KRaft's controller, which hosts no logs; a broker in KRaft mode is up while it runs."""
    if not capture.is_kraft:
        return capture
    brokers = {one.id: one for one in capture.hosts}
    running = (one.id for one in brokers.values() if one.mode == "kraft" and one.alive)
    return evolve(capture, controller=None, brokers=brokers, registered=tuple(sorted({*capture.registered, *running})))


def image_of(capture: Capture) -> CapturedImage | None:
    """Return the image of a capture that KRaft leads; None where it is not shown, or the copy has not ended."""
    image = capture.image
    is_whole = image is not None and image.state in COPIED and not image.open_transaction
    return image if capture.is_kraft and is_whole else None


def image_states(capture: Capture, name: str) -> dict[int, CapturedPartitionState]:
    """Return the leaders and ISRs of a topic in the image; none if the image is not shown, or does not have it."""
    image = image_of(capture)
    known = image.topics.get(name) if image else None
    partitions = known.partitions if known else {}
    return {number: _state_of(one) for number, one in partitions.items()}


def _state_of(one: CapturedImagePartition) -> CapturedPartitionState:
    return CapturedPartitionState(one.leader, one.leader_epoch, one.isr, 0)


def in_image(capture: Capture, name: str) -> Capture:
    """Return a capture whose topic has the leaders and ISRs of the image instead of ZooKeeper's."""
    topic = capture.topics.get(name)
    if topic is None:
        return capture
    return evolve(capture, topics={**capture.topics, name: evolve(topic, states=image_states(capture, name))})


def is_behind(capture: Capture, name: str) -> bool:
    """Whether ZooKeeper does not have a topic as the image has it."""
    image, topic = image_of(capture), capture.topics.get(name)
    if image is None or topic is None:
        return False
    states = image_states(capture, name)
    return len(topic.partitions) < len(states) or any(
        not is_written(topic.states.get(number), state) for number, state in states.items()
    )


# How much of the model a series needs.


def migrating_scope(scope: Scope, captures: Sequence[Capture], names: Sequence[str]) -> Scope:
    """Return the scope of a series in which a migration shows; UsageError for what is not modelled."""
    _check_release(captures[0], names[0])
    for name, capture in zip(names, captures, strict=True):
        _check_topic(scope, capture, printable(name, 200))
    label = topic_label(scope.topic)
    refused = {
        f"topic {label} is deleted, or created again": scope.deletion,
        f"replicas of topic {label} are reassigned": scope.moves or scope.lists,
        f"topic {label} has no replica on some broker that is controller in a snapshot": scope.reassignment,
    }
    for what, is_so in refused.items():
        if is_so:
            raise UsageError(
                f"{printable(names[-1], 200)} and those before it show a migration to KRaft, and {what}. A series with "
                "both is not modelled. Allowed: snapshots from before the migration, or of another topic."
            )
    led = [bool(capture.is_kraft) for capture in captures]
    back = [n for n, (one, other) in enumerate(pairwise(led), start=1) if one and not other]
    removes = bool(back) and captures[back[0]].migration is None
    first = next((epoch for epoch in (capture.quorum_epoch for capture in captures) if epoch is not None), 1)
    return evolve(
        scope,
        sessions=False,
        expires=False,
        migrates=True,
        rollbacks=len(back),
        removes_migration=removes,
        quorum_epoch=max(0, first - (captures[0].controller_epoch - 1) - 1),
    )


def _check_release(capture: Capture, name: str) -> None:
    if capture.version not in MIGRATING:
        raise UsageError(
            f"{printable(name, 200)} is of Kafka {capture.version}, and the snapshots show a migration to KRaft. "
            f"Allowed: releases from {MIGRATING[0]} to {MIGRATING[-1]}, whose brokers can migrate."
        )


def _check_topic(scope: Scope, capture: Capture, name: str) -> None:
    image, topic = image_of(capture), capture.topics.get(scope.topic)
    known = image.topics.get(scope.topic) if image else None
    label = topic_label(scope.topic)
    if known is not None and any(one.moving for one in known.partitions.values()):
        raise UsageError(
            f"{name} shows a reassignment of {label} while KRaft's controller leads, which is not modelled. "
            "Allowed: snapshots from before that, or of another topic."
        )
    ids = {one for one in (topic.topic_id if topic else None, known.topic_id if known else None) if one}
    if capture.is_kraft and topic is None:
        raise UsageError(f"{name} lacks topic {label}, and KRaft's controller leads in it: {NOT_MODELLED}")
    if image is not None and (known is None or len(ids) > 1):
        what = "not in KRaft's image" if known is None else "in KRaft's image with another id than in ZooKeeper"
        raise UsageError(f"{name} has topic {label} {what}: {NOT_MODELLED}")


NOT_MODELLED = (
    "a topic that is created or deleted while KRaft's controller leads is not modelled. Allowed: snapshots from before "
    "that, or of another topic."
)


def first_state(capture: Capture, name: str) -> str | None:
    """Return why a behaviour cannot begin with a capture that KRaft leads; None if it can."""
    if not capture.is_kraft or image_of(capture) is not None:
        return None
    return (
        f"{printable(name, 200)} is the first snapshot, KRaft's controller leads in it, and it does not show the image "
        "after the copy, so that a behaviour cannot begin there. Allowed: a first snapshot from before the migration, "
        "or one with KRaft's image."
    )


# Facts.


def migrating_facts(
    capture: Capture, numbering: Numbering, life: int, open_: Unsettled, *, is_rolled_back: bool
) -> tuple[Fact, ...]:
    """Return what a capture of a cluster that migrates shows of the topic, and of its cluster."""
    of_migration = tuple(evolve(fact, weight=ZOOKEEPER) for fact in _migration(capture, numbering, is_rolled_back))
    if not capture.is_kraft:
        return (*facts_of(capture, numbering, life, open_), *of_migration)
    in_zookeeper = (
        *(fact for fact in cluster_facts(capture, numbering) if fact.name != "controller"),
        *topic_facts(capture, numbering, life),
        *_znodes(capture, numbering),
        *_image(capture, numbering),
    )
    behind, shown = is_behind(capture, numbering.topic), in_image(capture, numbering.topic)
    is_open = behind or image_of(capture) is None
    opened = evolve(open_, leaderless=frozenset(range(numbering.partitions))) if is_open else open_
    return (
        *(evolve(fact, weight=ZOOKEEPER) for fact in in_zookeeper),
        *of_migration,
        *(f for p in range(numbering.partitions) for f in replica_facts(shown, numbering, p, life, opened)),
    )


def _migration(capture: Capture, numbering: Numbering, is_rolled_back: bool) -> Iterator[Fact]:
    words = ("a broker, or none", "a KRaft controller")
    yield Fact(
        "/controller",
        words[bool(capture.is_kraft)],
        (where("zookeeper.is_led_by_kraft", int(bool(capture.is_kraft))),),
        lambda cluster: words[cluster.zookeeper.is_led_by_kraft],
    )
    if capture.shows_migration:
        yield _recorded(capture)
    if capture.image is not None and capture.is_kraft:
        yield _finalized(capture.image)
    for number, real in enumerate(numbering.brokers):
        mode = capture.brokers[real].mode
        if mode is not None:
            yield _mode(number, real, mode, capture, is_rolled_back=is_rolled_back)


def _recorded(capture: Capture) -> Fact:
    has, words = _has_copy(capture), ("no copy", "a copy")
    return Fact(
        "/migration",
        words[has],
        (where("zookeeper.migration_is_recorded", int(has)),),
        lambda cluster: words[cluster.zookeeper.migration_is_recorded],
    )


def _has_copy(capture: Capture) -> bool:
    """Whether /migration has the offset of a copy; one that was not read has it if KRaft leads."""
    known = capture.migration
    return bool(capture.is_kraft) and not capture.shows_migration if known is None else known.offset >= 0


def _finalized(image: CapturedImage) -> Fact:
    has, words = image.state == "POST_MIGRATION", ("is not finalized", "is finalized")
    return Fact(
        "migration",
        words[has],
        (where("migration.is_finalized", int(has)),),
        lambda cluster: words[cluster.migration.is_finalized],
    )


def _mode(number: int, real: int, mode: str, capture: Capture, *, is_rolled_back: bool) -> Fact:
    """Without the image, nothing shows whether a broker in ZooKeeper mode has the flag."""
    clauses: tuple[Clause, ...] = (where(f"brokers[{number}].mode", list(BrokerMode).index(MODES[mode])),)
    is_sure = mode == "migrating" or (mode == "zookeeper" and capture.image is not None and not is_rolled_back)
    if is_sure:
        clauses = (*clauses, where(f"migration.enabled{{{number}}}", int(mode == "migrating")))

    def look(cluster: Cluster) -> str:
        if cluster.brokers[number].mode is BrokerMode.KRAFT:
            return "kraft"
        return "migrating" if is_sure and number in cluster.migration.enabled else "zookeeper"

    return Fact(f"mode of broker {real}", mode if is_sure or mode == "kraft" else "zookeeper", clauses, look)


def _znodes(capture: Capture, numbering: Numbering) -> Iterator[Fact]:
    """The state znodes; where ZooKeeper is behind, they may be written a moment later, some of them, or never."""
    topic = capture.topics.get(numbering.topic)
    if topic is None or is_behind(capture, numbering.topic):
        return
    for partition in range(numbering.partitions):
        yield from state_facts(
            numbering,
            topic.states.get(partition),
            f"{numbering.name}-{partition} in ZooKeeper",
            f"{IMAGE}.znodes[{partition}]",
            partial(_znode_of, partition),
        )


def _znode_of(partition: int, cluster: Cluster) -> WrittenPartitionState:
    return cluster.migration.images[0].znodes[partition]


def _image_state_of(partition: int, cluster: Cluster) -> PartitionStateZnode:
    return cluster.zookeeper.state_of(0, partition)


def _image(capture: Capture, numbering: Numbering) -> Iterator[Fact]:
    image = image_of(capture)
    if image is None:
        return
    known, states = image.topics.get(numbering.topic), image_states(capture, numbering.topic)
    yield Fact(
        f"partitions of {numbering.name} in the image",
        str(len(states)),
        (where(f"{IMAGE}.partition_count", len(states)),),
        lambda cluster: str(cluster.migration.images[0].partition_count),
    )
    identity = numbering.identity(known.topic_id if known else None)
    yield Fact(
        f"topic id of {numbering.name} in the image",
        numbering.id_label(None if identity == NONE else identity),
        (where(f"{IMAGE}.topic_id", identity),),
        lambda cluster: numbering.id_label(cluster.migration.images[0].topic_id),
    )
    for partition, state in sorted(states.items()):
        yield from state_facts(
            numbering,
            state,
            f"{numbering.name}-{partition} in the image",
            f"{TOPIC}.states[{partition}]",
            partial(_image_state_of, partition),
        )


def doubt_of(name: str, capture: Capture, topic: str) -> str:
    """Return why a capture may show what no behaviour of the model has; nothing if it shows no sign of that."""
    shown, label = printable(name, 200), topic_label(topic)
    if is_behind(capture, topic):
        return (
            f"{shown} has changes of {label} in KRaft's image that are not in ZooKeeper: the driver is about to write "
            "them, or cannot, perhaps because of another topic"
        )
    if capture.is_kraft and len(capture.topics) > 1:
        return (
            f"KRaft's controller leads in {shown}, and the model does not look at what other topics than {label}, or "
            "configurations, do to its driver"
        )
    return ""


# Limits.


def migrating_limits(
    before: CapturePoint, after: CapturePoint, numbering: Numbering, *, known_ids: int
) -> tuple[Clause, ...]:
    """Return what holds from one capture to the next."""
    assert after.capture is not None
    was = before.capture
    if not after.capture.is_kraft and not (was and was.is_kraft):
        return limits(before, after, numbering, known_ids=known_ids)
    shown = evolve(after, capture=in_image(after.capture, numbering.topic))
    kept = limits(before, shown, numbering, known_ids=known_ids)
    loose = {f"{TOPIC}.states[{partition}]" for partition in range(numbering.partitions)}
    if image_of(after.capture) is None:
        kept = tuple(clause for clause in kept if not any(path.startswith(tuple(loose)) for path, _ in clause))
    return (*kept, *_znode_limits(after.capture, numbering))


def _znode_limits(capture: Capture, numbering: Numbering) -> Iterator[Clause]:
    topic, states = capture.topics.get(numbering.topic), image_states(capture, numbering.topic)
    for partition in range(numbering.partitions) if topic and capture.is_kraft else ():
        assert topic is not None
        found = [one.leader_epoch for one in (topic.states.get(partition), states.get(partition)) if one is not None]
        yield where(f"{IMAGE}.znodes[{partition}].leader_epoch", *range(NONE, max(found, default=NONE) + 1))


# Actions.


@frozen
class MigratingSegment:
    """Two captures of a series, the first one None before the series; `begun` is whether one so far shows a migration.

    `is_rolled_back` is whether KRaft has led in an earlier capture, and does not in the last.
    """

    before: CapturePoint
    after: CapturePoint
    begun: bool

    @property
    def was_led(self) -> bool:
        """Whether KRaft leads in the capture before."""
        return bool(self.before.capture and self.before.capture.is_kraft)

    @property
    def is_led(self) -> bool:
        """Whether KRaft leads in the capture after."""
        return bool(self.after.capture and self.after.capture.is_kraft)

    def mode(self, real: int) -> tuple[str | None, str | None]:
        """Return the modes of a broker in both captures."""
        was = None if self.before.capture is None else self.before.capture.brokers[real].mode
        assert self.after.capture is not None
        return was, self.after.capture.brokers[real].mode

    @property
    def has_failed(self) -> bool:
        """Whether another controller of KRaft may have become active in between."""
        assert self.after.capture is not None
        if self.before.capture is None or not (self.was_led and self.is_led):
            return True
        return self.before.capture.quorum_epoch != self.after.capture.quorum_epoch


def never_between(segment: MigratingSegment, numbering: Numbering) -> frozenset[str]:
    """Return the actions that are excluded between two captures."""
    found = set(not_between(segment.before, segment.after, numbering))
    if not segment.begun:
        return frozenset(found | {one.name for one in STEPS})
    modes = [segment.mode(real) for real in numbering.brokers]
    shown = {
        "stop_for_kraft": any("kraft" in pair for pair in modes),
        "stop_for_zookeeper": any(was == "kraft" and now != "kraft" for was, now in modes),
        roll_back.name: segment.was_led and not segment.is_led,
        finalize.name: segment.after.capture is not None
        and segment.after.capture.image is not None
        and segment.after.capture.image.state == "POST_MIGRATION",
        fail_quorum.name: segment.has_failed,
        lose_connection.name: segment.was_led or segment.is_led,
        client_adds_partition.name: _grows(segment, numbering),
        provision_again.name: not segment.was_led,
        "stop_to_migrate": not segment.was_led,
        "new_client_adds_partitions": not (segment.was_led or segment.is_led),
    }
    return frozenset(found | {name for name, is_possible in shown.items() if not is_possible})


def _grows(segment: MigratingSegment, numbering: Numbering) -> bool:
    """Whether KRaft's image may have got partitions."""
    after = segment.after.capture
    assert after is not None
    if image_of(after) is None:
        return segment.is_led or segment.was_led
    was, now = segment.before.topic(numbering), image_states(after, numbering.topic)
    known = image_states(segment.before.capture, numbering.topic) if segment.before.capture else {}
    return len(now) > len(known or (was.partitions if was else {}))


# Needs.


def migrating_needs(segment: MigratingSegment, numbering: Numbering) -> tuple[tuple[tuple[Need, ...], ...], ...]:
    """Return what events must do between two captures, as far as they show it."""
    topic, brokers = needs(segment.before, segment.after, numbering)
    if not segment.begun:
        return topic, brokers
    rolls = tuple(_rolls(segment, numbering))
    steps = (tuple(_steps(segment)), tuple(_elections(segment, numbering)))
    image = tuple(_growth(segment, numbering))
    return (*([(image,)] if image else [topic]), (brokers[0], *steps), (rolls,))


def _event(name: str, number: int | None = None) -> frozenset[tuple[str, int | None]]:
    return frozenset({(name, number)})


def _rolls(segment: MigratingSegment, numbering: Numbering) -> Iterator[Need]:
    """Each broker that gets another mode stops, and starts again."""
    for number, real in enumerate(numbering.brokers):
        was, now = segment.mode(real)
        enabled, up = where(f"migration.enabled{{{number}}}", 1), where(f"zookeeper.broker_ids{{{number}}}", 1)
        mode = f"brokers[{number}].mode"
        assert segment.after.capture is not None
        runs = real in segment.after.capture.registered
        if segment.is_led and not segment.was_led:
            yield Need((enabled,), _event("stop_to_migrate", number))
            yield from [Need((enabled, up), _event("restart", number))] if runs else ()
        for name, kind in (("stop_for_kraft", BrokerMode.KRAFT), ("stop_for_zookeeper", BrokerMode.ZOOKEEPER)):
            changed = now is not None and MODES[now] is kind and MODES[was or "zookeeper"] is not kind
            there = where(mode, list(BrokerMode).index(kind))
            if changed:
                yield Need((there,), _event(name, number))
                yield from [Need((there, up), _event("restart", number))] if runs else ()


def _steps(segment: MigratingSegment) -> Iterator[Need]:
    """What operators do to KRaft's controllers."""
    if segment.is_led and not segment.was_led:
        yield Need((where("migration.is_deprovisioned", 0),), _event(provision_again.name))
    if segment.was_led and not segment.is_led:
        yield Need((where("zookeeper.is_led_by_kraft", 0),), _event(roll_back.name))


CLAIMING = tuple(
    list(DriverState).index(state)
    for state in (DriverState.INACTIVE, DriverState.WAIT_FOR_BROKERS, DriverState.BECOME_CONTROLLER)
)


def _elections(segment: MigratingSegment, numbering: Numbering) -> Iterator[Need]:
    """Each controller epoch of KRaft but the first one needs that its controller has failed."""
    before, after = segment.before.capture, segment.after.capture
    if not segment.was_led or not segment.is_led or before is None or after is None:
        return
    last = after.controller_epoch - numbering.earlier_epochs
    for epoch in range(before.controller_epoch - numbering.earlier_epochs + 1, last + 1):
        higher = "zookeeper.controller_epoch", frozenset(range(epoch, last + 1))
        claims: Clause = (higher, ("migration.driver", frozenset(CLAIMING)))
        at_least = where("zookeeper.controller_epoch", *range(epoch - 1, last + 1))
        yield Need((claims, at_least), _event(fail_quorum.name))


def _growth(segment: MigratingSegment, numbering: Numbering) -> Iterator[Need]:
    if _grows(segment, numbering) and segment.after.capture is not None:
        count = len(image_states(segment.after.capture, numbering.topic))
        if count:
            wanted = where(f"{IMAGE}.partition_count", *range(count, numbering.partitions + 1))
            yield Need((wanted,), _event(client_adds_partition.name))


# The begin.


def with_worlds(begin: Callable[..., None], worlds: Sequence[Callable[[Cluster], None]]) -> Callable[..., None]:
    """Return an initial function with a state for each world of the migration beside those of another one."""
    choice = Enum("World", {f"world_{number}": number for number in range(len(worlds))})  # type: ignore[misc]
    history = begin.__annotations__.get("history")

    def begin_migrating(cluster: Cluster, history: Any, world: Any) -> None:
        begin(cluster, history)
        worlds[world.value](cluster)

    def begin_settled(cluster: Cluster, world: Any) -> None:
        begin(cluster)
        worlds[world.value](cluster)

    if history is None:
        begin_settled.__annotations__ = {"cluster": Cluster, "world": choice, "return": None}
        return begin_settled
    begin_migrating.__annotations__ = {"cluster": Cluster, "history": history, "world": choice, "return": None}
    return begin_migrating


def worlds_of(
    capture: Capture, scope: Scope, numbering: Numbering, *, may_have_flag: bool
) -> list[Callable[[Cluster], None]]:
    """Return what may be so of the migration in the first capture, where it does not show it.

    Args:
        capture: The first capture.
        scope: The scope of the series.
        numbering: Its numbering.
        may_have_flag: Whether brokers in ZooKeeper mode may run with the migration enabled.
    """
    every = frozenset(range(len(scope.brokers)))
    migrating = frozenset(n for n, real in enumerate(scope.brokers) if capture.brokers[real].mode == "migrating")
    if not capture.is_kraft:
        flags = [migrating, every] if may_have_flag else [migrating]
        return [partial(_before, capture, scope, enabled) for enabled in flags]
    drivers = [DriverState.DUAL_WRITE, DriverState.SYNC_KRAFT_TO_ZK]
    if not _has_copy(capture):
        drivers = [DriverState.INACTIVE, DriverState.RECORDING]
    unwritten = [False, True] if is_behind(capture, scope.topic) else [False]
    worlds = (LedWorld(*each) for each in product(drivers, [False, True], unwritten))
    return [partial(_led, capture, numbering, world) for world in worlds]


@frozen
class LedWorld:
    """What a capture that KRaft leads does not show: the driver, and whether it has changes that it has not handled."""

    driver: DriverState
    is_stale: bool
    is_unwritten: bool


def _before(capture: Capture, scope: Scope, enabled: frozenset[int], cluster: Cluster) -> None:
    """ZooKeeper leads; KRaft's controllers are there once /migration is."""
    migration = cluster.migration
    migration.enabled = enabled
    waits = capture.migration is not None and capture.migration.offset < 0
    migration.is_deprovisioned = not waits
    migration.epoch = scope.quorum_epoch
    cluster.zookeeper.migration_is_recorded = capture.migration is not None and not waits
    topic = capture.topics.get(scope.topic)
    for partition, state in sorted(topic.states.items()) if topic else ():
        znode = cluster.zookeeper.state_of(0, partition)
        if znode.leader_epoch is not None:
            znode.controller_epoch = max(0, state.controller_epoch - (capture.controller_epoch - 1))


def _led(capture: Capture, numbering: Numbering, world: LedWorld, cluster: Cluster) -> None:
    """KRaft leads, after the copy."""
    migration, zookeeper, scope = cluster.migration, cluster.zookeeper, numbering.scope
    image, topic = image_of(capture), capture.topics[scope.topic]
    assert image is not None
    zookeeper.is_led_by_kraft, zookeeper.migration_is_recorded = True, _has_copy(capture)
    migration.epoch, migration.driver, migration.has_begun = scope.quorum_epoch + 1, world.driver, True
    migration.is_announced, migration.has_stale_version = _has_copy(capture), world.is_stale
    migration.is_finalized = image.state == "POST_MIGRATION"
    if migration.is_finalized:
        migration.driver = DriverState.INACTIVE
    migration.live = frozenset(
        n for n, real in enumerate(scope.brokers) if real in image.registered and real not in image.fenced
    )
    migration.enabled = frozenset(range(len(scope.brokers)))
    for number, real in enumerate(scope.brokers):
        cluster.brokers[number].mode = MODES[capture.brokers[real].mode or "migrating"]
        cluster.brokers[number].controller.events.clear()
        zookeeper.watches[number].controller = number in zookeeper.broker_ids
    known = image.topics.get(scope.topic)
    if known is None:
        return
    found = migration.images[0]
    found.partition_count = found.copied_partitions = len(known.partitions)
    found.topic_id = numbering.ids.index(known.topic_id)
    for partition in range(numbering.partitions):
        _znode(cluster, topic, partition, numbering)
        if world.is_unwritten and partition in known.partitions:
            state = topic.states.get(partition)
            if not is_written(state, known.partitions[partition]):
                migration.change(0, partition)


def _znode(cluster: Cluster, topic: Topic, partition: int, numbering: Numbering) -> None:
    state, znode = topic.states.get(partition), cluster.migration.images[0].znodes[partition]
    if state is not None:
        znode.leader = None if state.leader is None else numbering.broker(state.leader)
        znode.leader_epoch = state.leader_epoch
        znode.isr = frozenset(numbering.broker(real) for real in state.isr)
        znode.controller_epoch = max(0, state.controller_epoch - numbering.earlier_epochs)
