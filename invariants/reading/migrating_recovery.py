"""How to get a migration to KRaft on that is stuck, or would be: the claims of a migration in the worlds of its topics.

Each plan holds though KRaft's active controller fails once more, at any moment.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Sequence

from kwalk.invariants import migration
from kwalk.invariants.reading.migrating import MigrationPhase, migrating_prospect, phase_of
from kwalk.model.kafka.snapshots.capture import Capture, CapturedImagePartition, CapturedImageTopic, topic_label
from kwalk.model.kafka.snapshots.diagnosis import listed
from kwalk.model.kafka.snapshots.migrating import MigratingTopic, compares, fits, topics_of, world_of
from kwalk.model.kafka.snapshots.procedures import STOP, commands_to_write
from kwalk.model.language.inspection import Consequence, Inspection, Prognosis
from kwalk.model.language.recovery import Move, Problem, Procedure, WhatIf

CLAIMS = (
    migration.comparison_ends,
    migration.migrating_cluster_has_a_controller,
    migration.zookeeper_accepts_krafts_writes,
    migration.zookeeper_catches_up,
)
HARMS = (migration.comparison_ends.name, migration.migrating_cluster_has_a_controller.name)
PHRASES = {
    migration.comparison_ends.name: "a comparison with ZooKeeper that fails: brokers in ZooKeeper mode get no requests",
    migration.migrating_cluster_has_a_controller.name: "no working controller",
    migration.zookeeper_accepts_krafts_writes.name: "refused writes: KRaft's driver has a stale version of /migration",
    migration.zookeeper_catches_up.name: "something that ZooKeeper does not have as KRaft has it",
}
COVERED = (
    "topic-without-id-stops-kraft",
    "rollback-loses",
    "copy-was-not-recorded",
    "comparison-fails",
    "comparison-leaves-zookeeper-behind",
)
"""The consequences that claims of the worlds are about."""
UNSAFE = Prognosis.LOSES.exit_code
KEEPS = "safe: KRaft's image and all logs stay as they are,"
ALTHOUGH = "though KRaft's active controller fails"
"""What a plan keeps: its steps write to ZooKeeper, and restart controllers of KRaft."""
DUAL_WRITE = (
    "wait until the log of KRaft's active controller says that it transitions to DUAL_WRITE (a minute at most), then "
    "take a snapshot"
)
RESTART = "bin/kafka-server-start.sh -daemon config/controller.properties"
TRIED = "it was tried on brokers of 3.9.0"


def migrating_problem(capture: Capture, inspection: Inspection) -> Problem:
    """Return the problem of a cluster that KRaft's controller leads.

    Args:
        capture: the capture.
        inspection: what is wrong with it.
    """
    if phase_of(capture) is MigrationPhase.FINALIZED or not _is_modelled(capture):
        return Problem(inspection, (), notes=(_not_modelled(capture),))
    topics = [one for one in topics_of(capture) if one.differs]
    worlds = [one for one in topics if fits(one)]
    is_recorded = capture.migration is None or capture.migration.offset >= 0
    if not worlds and not is_recorded:
        worlds = [one for one in topics_of(capture) if fits(one)][:1]
    steps, left = _Steps(capture, worlds), _uncovered(capture)
    return Problem(
        inspection,
        tuple(world_of(capture, one, CLAIMS, HARMS) for one in worlds),
        procedures=steps.procedures(),
        what_ifs=(steps.failure(),),
        describe=describe,
        keeps=KEEPS,
        although=ALTHOUGH,
        notes=tuple(
            f"Not covered by plans: {one.title} ({one.name}); `kwalk inspect --migration` says what to do about it."
            for one in left
        ),
        uncovered=tuple(one.name for one in left),
        left_out=tuple(topic_label(one.name) for one in topics if not fits(one)),
    )


def _uncovered(capture: Capture) -> list[Consequence]:
    """Return what is wrong that no claim of the worlds is about."""
    bad = (one for one in migrating_prospect(capture).consequences if one.prognosis.exit_code == UNSAFE)
    return [one for one in bad if one.name not in COVERED]


def _is_modelled(capture: Capture) -> bool:
    """Whether a snapshot shows what KRaft has, after the copy, and its controllers compare that with ZooKeeper."""
    return capture.image is not None and capture.image.state == "MIGRATION" and compares(capture.version)


def _not_modelled(capture: Capture) -> str:
    if capture.image is None:
        return (
            "The snapshot has no image of KRaft, and so does not show what ZooKeeper should have: copy "
            "__cluster_metadata-0 of a controller, and take another one."
        )
    if not compares(capture.version):
        return "Plans are about 3.5.0 and later: in 3.4 KRaft's controllers do not compare ZooKeeper with their image."
    if phase_of(capture) is MigrationPhase.FINALIZED:
        return "The migration has ended: plans are about clusters in ZooKeeper mode, or in dual write."
    return "The copy from ZooKeeper has not ended: `kwalk inspect --migration` says what stops it."


def describe(violated: Iterable[str]) -> str:
    """Return what a cluster has that violates these claims."""
    found = set(violated)
    if migration.comparison_ends.name in found:
        found -= {migration.migrating_cluster_has_a_controller.name}
    return listed([PHRASES.get(name, name) for name in (*PHRASES, *sorted(found - PHRASES.keys())) if name in found])


class _Steps:
    """Makes the procedures for the worlds of topics."""

    def __init__(self, capture: Capture, topics: Sequence[MigratingTopic]) -> None:
        self.capture, self.topics = capture, tuple(topics)

    def procedures(self) -> tuple[Procedure, ...]:
        """Return what an operator can do, the cheapest first."""
        found = [self._write_content(one) for one in self.topics if one.topic is not None and one.image is not None]
        found += [self._create_states(one) for one in self.topics if one.without_state]
        found += [self._record()] if self.capture.migration is not None and self.capture.migration.offset < 0 else []
        return (*found, self._restart())

    def failure(self) -> WhatIf:
        """Return the failure of KRaft's active controller."""
        return WhatIf("KRaft's controller fails over", "happens by itself", self._in_all("fail_quorum()"))

    def _in_all(self, *keys: str) -> tuple[tuple[Move, ...], ...]:
        return tuple(tuple(Move(((key,),)) for key in keys) for _ in self.topics)

    def _in_one(self, topic: MigratingTopic, keys: Callable[[], Sequence[str]]) -> tuple[tuple[Move, ...], ...]:
        moves = tuple(Move(((key,),)) for key in keys())
        nothing = tuple(Move(()) for _ in moves)
        return tuple(moves if one is topic else nothing for one in self.topics)

    def _write_content(self, one: MigratingTopic) -> Procedure:
        assert one.image is not None and one.topic is not None
        return Procedure(
            f"write-content {topic_label(one.name)}",
            f"Write the content of topic {topic_label(one.name)} into ZooKeeper, as KRaft has it.",
            self._in_one(one, lambda: ("write_content(0)",)),
            cost=1,
            commands=commands_to_write(one.topic, one.image.topic_id, assignment_of(one.image)),
            before="no client older than 2.8 writes the topic, and no reassignment is in flight",
            after=DUAL_WRITE,
            risk="partitions that only ZooKeeper has, and that a client was promised, are given up: they never existed",
        )

    def _create_states(self, one: MigratingTopic) -> Procedure:
        assert one.image is not None
        slots = [one.partitions.index(number) for number in one.without_state if number in one.partitions]
        label = topic_label(one.name)
        commands = [line for number in one.without_state for line in self._creation(one, number)]
        return Procedure(
            f"create-state-znodes {label}",
            f"Create the state znodes of topic {label} that ZooKeeper lacks: "
            f"{listed([f'{label}-{number}' for number in one.without_state])}.",
            self._in_one(one, lambda: [f"create_state_znode(0, {slot})" for slot in slots]),
            cost=1,
            commands=tuple(commands),
            before="the znodes are still missing: `zkCli.sh -server ZK ls …/partitions/N` does not print [state]",
            after=DUAL_WRITE,
            risk=f"none: the comparison writes what KRaft has by then; {TRIED}",
        )

    def _creation(self, one: MigratingTopic, number: int) -> tuple[str, ...]:
        assert one.image is not None
        path = f"/brokers/topics/{topic_label(one.name)}/partitions"
        state = json.dumps(_state(one.image.partitions[number]), separators=(",", ":"))
        return (
            f"zkCli.sh -server ZK create {shlex.quote(path)}   # if it is not there",
            f"zkCli.sh -server ZK create {shlex.quote(f'{path}/{number}')}   # if it is not there",
            f"zkCli.sh -server ZK create {shlex.quote(f'{path}/{number}/state')} {shlex.quote(state)}",
        )

    def _record(self) -> Procedure:
        known, image = self.capture.migration, self.capture.image
        assert known is not None and image is not None
        return Procedure(
            "write-migration",
            "Write to /migration that there is a copy.",
            self._in_all("record_by_hand()"),
            cost=1,
            commands=(
                "zkCli.sh -server ZK get /migration   # note its content: only two numbers change",
                "zkCli.sh -server ZK set /migration CONTENT   # with kraft_metadata_offset and kraft_metadata_epoch 1",
            ),
            before="the log of the controller says `KRaft controller indicates an active migration, but the ZK state "
            "does not`, and topics in KRaft are those in ZooKeeper",
            after="go on with the next step",
            risk=f"a copy that is not whole would be taken for one; {TRIED}",
        )

    def _restart(self) -> Procedure:
        return Procedure(
            "restart-controller",
            "Restart KRaft's active controller.",
            self._in_all("restart_controller()"),
            cost=2,
            commands=("# on KRaft's active controller", *STOP, RESTART),
            before="the other controllers of the quorum run, if there are others",
            after=DUAL_WRITE,
            risk="until another controller has compared everything, no leader is elected",
        )


def assignment_of(image: CapturedImageTopic) -> dict[int, tuple[int, ...]]:
    """Return the replicas of each partition of a topic in KRaft's image."""
    return {number: one.replicas for number, one in image.partitions.items()}


def _state(partition: CapturedImagePartition) -> dict[str, object]:
    leader = -1 if partition.leader is None else partition.leader
    return {
        "controller_epoch": 1,
        "leader": leader,
        "version": 1,
        "leader_epoch": partition.leader_epoch,
        "isr": list(partition.isr),
    }
