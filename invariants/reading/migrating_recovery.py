"""How to get a migration to KRaft on that is stuck, or would be: the claims of a migration in the worlds of its topics.

Each plan holds though KRaft's active controller fails once more, at any moment.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence

from attrs import evolve

from kwalk.invariants import migration, records
from kwalk.invariants.reading.carried_out_plans import IN_MIGRATIONS
from kwalk.invariants.reading.finding_kinds import MIGRATION_NOT_SHOWN, OF_MIGRATION
from kwalk.invariants.reading.migrating import MigrationPhase, migrating_prospect, phase_of
from kwalk.model.kafka.snapshots.capture import Capture, CapturedImagePartition, CapturedImageTopic, topic_label
from kwalk.model.kafka.snapshots.diagnosis import brokers as brokers_in_words
from kwalk.model.kafka.snapshots.diagnosis import listed, unseen
from kwalk.model.kafka.snapshots.former_logs import (
    FormerLogs,
    LogOrigin,
    former_logs,
    is_over,
    set_aside_logs,
    world_of_logs,
)
from kwalk.model.kafka.snapshots.migrating import MigratingTopic, compares, fits, topics_of, world_of
from kwalk.model.kafka.snapshots.procedures import NOTHING, REST, START, STOP, commands_to_write, stop_script, within
from kwalk.model.kafka.snapshots.rollback import (
    PartitionRollback,
    elections_due,
    parts_of_rollback,
    world_of_rollback,
)
from kwalk.model.language.inspection import Consequence, Inspection, Prognosis, Severity
from kwalk.model.language.recovery import Move, Problem, Procedure, WhatIf

CLAIMS = (
    migration.comparison_ends,
    migration.migrating_cluster_has_a_controller,
    migration.zookeeper_accepts_krafts_writes,
    migration.zookeeper_catches_up,
)
OF_LOGS = (
    migration.acknowledged_record_survives_migration,
    records.isr_has_only_own_records,
    records.no_divergence,
    records.last_copies_are_kept,
    migration.replicas_have_the_images_id,
    migration.migrating_cluster_has_a_controller,
)
"""The claims about logs that may be brought back."""
OF_ROLLBACK = (
    migration.migration_is_rolled_back,
    migration.acknowledged_record_survives_rollback,
    migration.leaders_move_after_rollback,
    migration.state_znode_has_no_later_epoch,
    migration.topics_stay,
)
"""The claims about a rollback: the first one is what it is for."""
ROLLBACK_HARMS = (migration.acknowledged_record_survives_rollback.name, migration.topics_stay.name)
HARMS = (migration.comparison_ends.name, migration.migrating_cluster_has_a_controller.name)
PHRASES = {
    migration.comparison_ends.name: "a comparison with ZooKeeper that fails: brokers in ZooKeeper mode get no requests",
    migration.migrating_cluster_has_a_controller.name: "no working controller",
    migration.zookeeper_accepts_krafts_writes.name: "refused writes: KRaft's driver has a stale version of /migration",
    migration.zookeeper_catches_up.name: "something that ZooKeeper does not have as KRaft has it",
    migration.acknowledged_record_survives_migration.name: "no leader with the records that were acknowledged",
    records.isr_has_only_own_records.name: "other records in the ISR",
    records.no_divergence.name: "replicas in the ISR with different records",
    records.last_copies_are_kept.name: "records whose last copy is gone",
    migration.migration_is_rolled_back.name: "a migration that is not rolled back yet",
    migration.acknowledged_record_survives_rollback.name: "a leader without records that were acknowledged",
    migration.leaders_move_after_rollback.name: "a partition without a live leader",
    migration.state_znode_has_no_later_epoch.name: "state znodes with a higher epoch than /controller_epoch",
    migration.topics_stay.name: "a topic that is gone from ZooKeeper",
    migration.replicas_have_the_images_id.name: "a replica without a log of KRaft's id",
}
COVERED = (
    "topic-without-id-stops-kraft",
    "rollback-loses",
    "copy-was-not-recorded",
    "comparison-fails",
    "comparison-leaves-zookeeper-behind",
)
"""The consequences that claims of the worlds are about."""
OF_EPOCHS = "rollback-stops-elections"
"""The consequence that only a rollback has, and whose plan takes it into account."""
OF_FORMER_LOGS = ("log-was-set-aside", "log-goes-at-kraft-start")
"""The consequences that the worlds of former logs are about."""
UNSAFE = Prognosis.LOSES.exit_code
KEEPS = "safe: KRaft's image and all logs stay as they are,"
KEEPS_LOGS = "safe: no acknowledged record is lost, none of another topic comes in, and no last copy goes,"
GOES_AT_START = (
    "Logs with the former id that have their place are set aside, before 3.7 deleted, when their brokers start in "
    "KRaft mode: move them away before."
)
GIVES_UP = "the records that the topic has now are given up, and stay in BACKUP only; the former ones are all kept,"
ALTHOUGH = "though KRaft's active controller fails"
"""What a plan keeps: its steps write to ZooKeeper, and restart controllers of KRaft."""
DUAL_WRITE = (
    "wait until the log of KRaft's active controller says that it transitions to DUAL_WRITE (a minute at most), then "
    "take a snapshot"
)
RESTART = "bin/kafka-server-start.sh -daemon config/controller.properties"
TRIED = "it was tried on brokers of 3.9.0"


def _of_damage(inspection: Inspection) -> Inspection:
    """Return the inspection without what is not shown, which is no damage to repair."""
    damage = tuple(one for one in inspection.observations if one.kind.name != MIGRATION_NOT_SHOWN.name)
    return evolve(inspection, observations=damage)


def migrating_problem(capture: Capture, inspection: Inspection) -> Problem:
    """Return the problem of a cluster that KRaft's controller leads.

    Args:
        capture: the capture.
        inspection: what is wrong with it.
    """
    inspection = _of_damage(inspection)
    logs, left_logs = former_logs(capture)
    if capture.patterns or (not _is_modelled(capture) and not (logs and is_over(capture))):
        is_hidden = capture.patterns or (capture.image is None and phase_of(capture) is not MigrationPhase.COPYING)
        return Problem(inspection, (), notes=(_not_modelled(capture),), uncovered=("not-judged",) if is_hidden else ())
    topics = [one for one in topics_of(capture) if one.differs and not is_over(capture)]
    worlds, unfit = [one for one in topics if fits(one)], [one for one in topics if not fits(one)]
    if not worlds and capture.lacks_copy_record:
        worlds = [one for one in topics_of(capture) if fits(one)][:1]
    places = (*(frozenset(one.brokers) for one in unfit), *(_places(capture, label) for label in left_logs))
    steps, left = _Steps(capture, worlds, left=places), _uncovered(capture, logs, left_logs)
    procedures, withheld = steps.procedures()
    worse = (kind for kind in inspection.by_kind() if kind.severity is not Severity.NOTE)
    damage = [kind for kind in worse if kind.name not in OF_MIGRATION]
    first = Problem(
        inspection,
        tuple(world_of(capture, one, CLAIMS, HARMS) for one in worlds),
        procedures=procedures,
        what_ifs=(steps.failure(),),
        describe=describe,
        keeps=KEEPS,
        although=ALTHOUGH,
        notes=(
            *(
                f"Not covered by plans: {one.title} ({one.name}); `kwalk diagnose --migration` says what to do."
                for one in left
            ),
            *(f"Not covered by plans: {one.title} ({one.name}); `kwalk diagnose` says what to do." for one in damage),
            *_of_logs(capture, left_logs),
            *(
                f"No model has topic {topic_label(one.name)}, and no step of a plan touches it: "
                f"{len(one.partitions)} partitions on {len(one.brokers)} brokers differ between ZooKeeper and KRaft."
                for one in unfit
            ),
            *unseen(capture),
        ),
        uncovered=(*(one.name for one in left), *(one.name for one in damage)),
        left_out=(*(topic_label(one.name) for one in unfit), *left_logs),
        withheld=withheld,
    )
    if logs:
        return _with_logs(first, _Steps(capture, worlds, logs, places))
    return first if is_over(capture) else _with_rollback(capture, first)


def _with_rollback(capture: Capture, first: Problem) -> Problem:
    """Return the problem with that of who wants to return to ZooKeeper mode beside it, or why that is not planned."""
    why, parts = "", list[PartitionRollback]()
    others = tuple(name for name in first.uncovered if name != OF_EPOCHS)
    if first.worlds or first.left_out or others or _is_rollback_unsafe(capture):
        why = "first ZooKeeper must have what KRaft has, and nothing else may be wrong: ask again then"
    else:
        parts, left = parts_of_rollback(capture)
        if left:
            why = f"of {listed(left[:3])} a broker is down, its mode is not shown, or a reassignment is in flight"
    if why or not parts:
        return evolve(first, notes=(*first.notes, f"A rollback is not planned: {why or 'there is no topic'}."))
    healthy = evolve(first, uncovered=(), notes=tuple(_of_logs(capture, ())), inspection=_without_findings(first))
    rollback = evolve(
        healthy,
        worlds=tuple(world_of_rollback(capture, one, OF_ROLLBACK, ROLLBACK_HARMS) for one in parts),
        procedures=_Rollback(capture, parts).procedures(),
        what_ifs=(),
        notes=(),
        premise="to roll the migration back",
        keeps="safe: no acknowledged record and no topic is lost, and leaders move afterwards,",
        although=f"{ALTHOUGH}, a broker crashes, or an answer of ZooKeeper is lost",
        goals=frozenset({migration.migration_is_rolled_back.name, migration.state_znode_has_no_later_epoch.name}),
    )
    return evolve(healthy if OF_EPOCHS in first.uncovered else first, alternatives=(rollback,))


def _is_rollback_unsafe(capture: Capture) -> bool:
    """Whether ZooKeeper would lose something, or delete it, that no world shows."""
    return any(one.name == "rollback-loses" for one in migrating_prospect(capture).consequences)


def _with_logs(first: Problem, steps: _Steps) -> Problem:
    """Return the problem of who wants the former records; who wants the present ones is asked beside it."""
    label = listed(list(dict.fromkeys(topic_label(one.topic) for one in steps.logs)))
    ids = listed(list(dict.fromkeys(f"under the id {one.identity or 'that was lost'}" for one in steps.logs)))
    harms = tuple(prop.name for prop in OF_LOGS[:4])
    of_others = first.inspection if first.worlds or first.uncovered or first.left_out else _without_findings(first)
    present = evolve(
        first,
        inspection=of_others,
        premise=f"to leave topic {label} the records that it has now; so if it was deleted and created again",
        what_ifs=(),
        notes=(GOES_AT_START,) if any(one.in_place for one in steps.logs) else (),
    )
    is_given_up = any(one.has_present_records for one in steps.logs)
    has_present = any(one.has_present_log(broker) for one in steps.logs for broker in one.brokers)
    procedures, withheld = steps.procedures()
    return evolve(
        first,
        worlds=(*first.worlds, *(world_of_logs(steps.capture, one, OF_LOGS, harms) for one in steps.logs)),
        procedures=procedures,
        withheld=withheld,
        what_ifs=(steps.failure(),),
        premise=f"to bring back the records that topic {label} had {ids}; not if it was deleted and "
        "created again, of which the snapshot does not show whether it was",
        keeps=GIVES_UP if is_given_up else KEEPS_LOGS,
        although=f"{ALTHOUGH} or a broker crashes",
        carried_out=tuple(one for one in IN_MIGRATIONS if steps.capture.version in one.releases),
        alternatives=(present,) if has_present else (),
    )


def _without_findings(problem: Problem) -> Inspection:
    return evolve(problem.inspection, observations=())


def _of_logs(capture: Capture, left: Sequence[str]) -> Iterator[str]:
    """Yield what is said of logs that no plan brings back."""
    earlier = [one for one in set_aside_logs(capture) if one.origin is LogOrigin.EARLIER_TOPIC]
    for name in sorted({one.topic for one in earlier}):
        fact = next(one.fact for one in earlier if one.topic == name)
        yield f"The logs of topic {topic_label(name)} that were set aside are of an earlier topic of the name: {fact}."
    if left:
        yield (
            f"Not planned is how to bring back the logs of {listed(left)}: they are no copies of one another, their "
            "broker is down or no replica, or the present logs do not begin at offset 0."
        )


def _places(capture: Capture, label: str) -> frozenset[int]:
    """Return the brokers with replicas or former logs of a topic."""
    topics = () if capture.image is None else capture.image.topics.items()
    replicas = {
        b for name, one in topics if topic_label(name) == label for p in one.partitions.values() for b in p.replicas
    }
    return frozenset(replicas | {one.broker for one in set_aside_logs(capture) if topic_label(one.topic) == label})


def _uncovered(capture: Capture, logs: Sequence[FormerLogs], left: Sequence[str]) -> list[Consequence]:
    """Return what is wrong that no claim of the worlds is about."""
    bad = (one for one in migrating_prospect(capture).consequences if one.prognosis.exit_code == UNSAFE)
    covered = (*COVERED, *(OF_FORMER_LOGS if logs and not left else ()))
    return [one for one in bad if one.name not in covered]


def _is_modelled(capture: Capture) -> bool:
    """Whether a snapshot shows what KRaft has, after the copy, and its controllers compare that with ZooKeeper."""
    is_shown = capture.image is not None and capture.image.state == "MIGRATION" and compares(capture.version)
    return is_shown and bool(capture.is_kraft)


def _not_modelled(capture: Capture) -> str:
    if capture.patterns:
        return "The snapshot has some topics only, and KRaft's controller acts on all: take one without --topic."
    if capture.image is None:
        return (
            "The snapshot has no image of KRaft, and so does not show what ZooKeeper should have: copy "
            "__cluster_metadata-0 of a controller, and take another one."
        )
    if not compares(capture.version):
        return "Plans are about 3.5.0 and later: in 3.4 KRaft's controllers do not compare ZooKeeper with their image."
    if not capture.is_kraft:
        return "KRaft's controller has lost /controller: `kwalk diagnose --migration` says what to do first."
    if phase_of(capture) is MigrationPhase.FINALIZED:
        return "The migration has ended: plans are about clusters in ZooKeeper mode, or in dual write."
    return "The copy from ZooKeeper has not ended: `kwalk diagnose --migration` says what stops it."


def describe(violated: Iterable[str]) -> str:
    """Return what a cluster has that violates these claims."""
    found = set(violated)
    if migration.comparison_ends.name in found:
        found -= {migration.migrating_cluster_has_a_controller.name}
    return listed([PHRASES.get(name, name) for name in (*PHRASES, *sorted(found - PHRASES.keys())) if name in found])


class _Steps:
    """Makes the procedures for the worlds of topics, and for those of logs after them.

    What is `left` has no world: of each topic the brokers that have a part in it.
    """

    def __init__(
        self,
        capture: Capture,
        topics: Sequence[MigratingTopic],
        logs: Sequence[FormerLogs] = (),
        left: Sequence[frozenset[int]] = (),
    ) -> None:
        self.capture, self.topics, self.logs, self.left = capture, tuple(topics), tuple(logs), tuple(left)

    def procedures(self) -> tuple[tuple[Procedure, ...], tuple[str, ...]]:
        """Return what an operator can do and does nothing to what is left, and the names of the rest."""
        found = [self._write_content(one) for one in self.topics if one.topic is not None and one.image is not None]
        found += [self._create_states(one) for one in self.topics if one.without_state]
        found += [self._record()] if self.capture.lacks_copy_record else []
        known = sorted({broker for one in self.logs for broker in one.brokers})
        returns = [self._bring_back((first, *(b for b in known if b != first))) for first in known]
        restarts = [] if is_over(self.capture) else [self.restart()]
        return within((*found, *restarts, *returns), len(self.topics) + len(self.logs))

    def failure(self) -> WhatIf:
        """Return the failure of KRaft's active controller."""
        moves = (Move((("fail_quorum()",),)),)
        what = "KRaft's controller fails over"
        return WhatIf(what, "happens by itself", tuple(moves for _ in (*self.topics, *self.logs)))

    def _in_all(self, *keys: str) -> tuple[tuple[Move, ...], ...]:
        return tuple(tuple(Move(((key,),)) for key in keys) for _ in (*self.topics, *self.logs, *self.left))

    def _in_one(self, topic: MigratingTopic, keys: Callable[[], Sequence[str]]) -> tuple[tuple[Move, ...], ...]:
        moves = tuple(Move(((key,),)) for key in keys())
        nothing = tuple(NOTHING for _ in moves)
        return tuple(moves if one is topic else nothing for one in (*self.topics, *self.logs, *self.left))

    def _bring_back(self, order: Sequence[int]) -> Procedure:
        """Return the step that gives former logs their places; the first broker to start is the last to stop."""

        def moves(one: FormerLogs) -> Iterator[Move]:
            numbers = [one.brokers.index(b) if b in one.brokers else None for b in order]
            for number in reversed(numbers):
                start = frozenset({f"restart({number})"})
                yield NOTHING if number is None else Move(((f"stop_broker({number})",),), hold=start)
            for broker, number in zip(order, numbers, strict=True):
                keys = [f"{one.how(broker)}({number}, 0, 0)"]
                keys = [f"put_log_back({number}, 0, 0)", *keys] if number in one.in_place else keys
                yield NOTHING if number is None else Move(tuple((key,) for key in keys))
            for number in numbers:
                key = f"restart({number})"
                yield NOTHING if number is None else Move(((key,),), release=frozenset({key}))

        stops = tuple(Move(((f"stop_broker({broker})",),)) for broker in order)
        away = [tuple(m if b in one else NOTHING for m, b in zip(stops, order, strict=True)) for one in self.left]
        labels = list(dict.fromkeys(topic_label(one.topic) for one in self.logs))
        is_given_up = any(one.has_present_records for one in self.logs)
        return Procedure(
            f"bring-logs-back {' '.join(labels)} {' '.join(map(str, order))}",
            f"Stop {brokers_in_words(order)}, bring the former logs of topic {listed(labels)} back, and start "
            f"{'it' if len(order) == 1 else f'broker {order[0]} first'}.",
            (
                *(tuple(NOTHING for _ in range(3 * len(order))) for _ in self.topics),
                *map(tuple, map(moves, self.logs)),
                *away,
            ),
            cost=4 * len(order),
            commands=(
                *(stop_script(f"on broker {b}") for b in reversed(order)),
                *(line for broker in order for line in self._renamed(broker)),
                *(f"{START[0]}   # on broker {b}; wait until it has started" for b in order),
            ),
            before=f"no client writes topic {listed(labels)}"
            + "; what is wanted of the records that it has now was copied elsewhere" * is_given_up,
            after=REST,
            risk="no topic of these brokers is served meanwhile"
            + "; the records that were written since are in BACKUP only: keep it" * is_given_up,
        )

    def _renamed(self, broker: int) -> Iterator[str]:
        """Yield the commands on a stopped broker."""
        yield f"# on broker {broker}, in LOG_DIR"
        for one in self.logs:
            for number in one.partitions if broker in one.brokers else ():
                name, path = one.names.get((number, broker)), shlex.quote(f"{one.topic}-{number}")
                away = f"mv {path} BACKUP"
                if one.how(broker) == "write_log_id":
                    yield f"ls -d {path}.*-stray   # nothing; else: {away} && mv {path}.*-stray {path}"
                elif one.has_present_log(broker):
                    yield away
                if name is not None:
                    yield f"mv {shlex.quote(name)} {path}"
                if name is not None or one.how(broker) == "write_log_id":
                    yield f"printf 'version: 0\\ntopic_id: {one.topic_id}\\n' > {path}/partition.metadata"

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
        commands = (
            "zkCli.sh -server ZK get /migration   # note its content: only two numbers change",
            "zkCli.sh -server ZK set /migration CONTENT   # with kraft_metadata_offset and kraft_metadata_epoch 1",
        )
        if self.capture.migration is None:
            keys = ("version", "kraft_controller_id", "kraft_controller_epoch")
            numbers = (0, self.capture.controller, self.capture.quorum_epoch)
            content = dict(zip(keys, numbers, strict=True)) | {"kraft_metadata_offset": 1, "kraft_metadata_epoch": 1}
            commands = (
                "zkCli.sh -server ZK get /migration   # it is not there; if it is, set it in place of create",
                f"zkCli.sh -server ZK create /migration {shlex.quote(json.dumps(content, separators=(',', ':')))}",
            )
        return Procedure(
            "write-migration",
            "Write to /migration that there is a copy.",
            self._in_all("record_by_hand()"),
            cost=1,
            commands=commands,
            before="the migration is not to be rolled back; topics in KRaft are those in ZooKeeper"
            if self.capture.migration is None
            else "the log of the controller says `KRaft controller indicates an active migration, but the ZK state "
            "does not`, and topics in KRaft are those in ZooKeeper",
            after="go on with the next step",
            risk="a copy that is not whole would be taken for one; "
            + ("not tried on brokers without /migration" if self.capture.migration is None else TRIED),
        )

    def restart(self) -> Procedure:
        """Return the restart of KRaft's active controller."""
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


ROLL = "before each next broker " + REST


LOOK = "look()"
"""No step of a world: a fault may strike between the operator's last look and the next step."""


class _Rollback:
    """Makes the steps of a rollback, in each of which every partition takes part."""

    def __init__(self, capture: Capture, parts: Sequence[PartitionRollback]) -> None:
        self.capture, self.parts = capture, tuple(parts)
        self.brokers = tuple(sorted({broker for part in parts for broker in part.brokers}))

    def procedures(self) -> tuple[Procedure, ...]:
        """Return the steps, the cheapest first."""
        kraft = [b for b in self.brokers if self.capture.brokers[b].mode == "kraft"]
        return (
            *([self._return(kraft)] if kraft else []),
            self._restart_controller(),
            self._roll_back(),
            *([self._raise_epoch()] if elections_due(self.capture) >= 0 else []),
            self._second_roll(),
        )

    def _in_each(self, *keys: str) -> tuple[tuple[Move, ...], ...]:
        return tuple(tuple(Move(((key,),)) for key in keys) for _ in self.parts)

    def _roll(
        self, brokers: Sequence[int], stop: Callable[[int, int], tuple[str, ...]]
    ) -> tuple[tuple[Move, ...], ...]:
        """Return the moves of restarts, one after the other; `stop` has the stops of a number among so many brokers."""

        def moves(part: PartitionRollback) -> Iterator[Move]:
            for broker in brokers:
                if broker not in part.brokers:
                    yield from (NOTHING, NOTHING)
                    continue
                number = part.brokers.index(broker)
                start = f"restart({number})"
                yield Move((stop(number, len(part.brokers)),), hold=frozenset({start}))
                yield Move(((start,),), release=frozenset({start}))

        return tuple(tuple(moves(part)) for part in self.parts)

    def _return(self, kraft: Sequence[int]) -> Procedure:
        """Return the first roll; a driver whose write was refused would not let the brokers leave."""
        restart = self._restart_controller()
        roll = self._roll(kraft, lambda number, count: (f"stop_for_zookeeper({number})",))
        return Procedure(
            f"return-to-zookeeper-mode {' '.join(map(str, kraft))}",
            f"Restart KRaft's active controller, and then {brokers_in_words(kraft)} in ZooKeeper mode, one after the "
            "other, with the migration enabled.",
            tuple((*first, *then) for first, then in zip(restart.moves, roll, strict=True)),
            cost=4,
            commands=(
                *restart.commands,
                f"# {restart.after}; then, on one broker after the other",
                *STOP,
                "# in config/server.properties: no process.roles, broker.id for node.id; as they were:",
                "# zookeeper.connect, inter.broker.protocol.version, authorizer.class.name;",
                "# zookeeper.metadata.migration.enable=true; controller.quorum.* and controller.listener.names stay",
                *START,
            ),
            before=f"{restart.before}; no partition is under-replicated",
            after=ROLL,
            risk="while one is down, partitions have one replica less",
        )

    def _restart_controller(self) -> Procedure:
        return evolve(_Steps(self.capture, ()).restart(), moves=self._in_each("restart_controller()"), cost=3)

    def _roll_back(self) -> Procedure:
        return Procedure(
            "roll-back",
            "Stop KRaft's controllers, and delete /controller and /migration at once.",
            self._in_each(LOOK, "roll_back()"),
            cost=3,
            commands=(
                stop_script("on each controller of KRaft"),
                "zkCli.sh -server ZK delete /controller",
                "zkCli.sh -server ZK get /migration   # keep what it prints",
                "zkCli.sh -server ZK delete /migration",
            ),
            before="`kwalk diagnose --migration` of a new snapshot does not name rollback-loses; all brokers are in "
            "ZooKeeper mode, and in every ISR; until the last step no client creates, deletes or expands topics",
            after="`zkCli.sh -server ZK get /controller` names a broker within a minute",
            risk="what ZooKeeper does not have by then is lost; until /controller is deleted, no leader is elected; "
            "with /migration left, the next migration copies nothing, and deletes all topics; configurations, quotas "
            "and producer ids are not looked at",
        )

    def _raise_epoch(self) -> Procedure:
        due = max(0, elections_due(self.capture))
        return Procedure(
            "raise-controller-epoch",
            "Fail ZooKeeper's controller over until /controller_epoch is above the epochs in all state znodes.",
            self._in_each("raise_controller_epoch()"),
            cost=2,
            commands=(
                "zkCli.sh -server ZK get /controller_epoch",
                f"zkCli.sh -server ZK delete /controller   # some {due + 1} times, until the epoch is above",
                f"# {self.capture.controller_epoch + due}, and above controller_epoch in every …/partitions/N/state",
            ),
            before="all brokers are in /brokers/ids",
            after=REST,
            risk="for about a second each time no leader is elected",
        )

    def _second_roll(self) -> Procedure:
        down = [broker.id for broker in self.capture.hosts if not broker.alive]
        later = (f"# {brokers_in_words(down)}, down in the snapshot: with these settings at the next start, too",)
        return Procedure(
            "restart-without-migration",
            f"Restart {brokers_in_words(self.brokers)}, one after the other, without the migration.",
            self._roll(
                self.brokers,
                lambda number, count: tuple(f"stop_without_migration({number}, {c})" for c in range(count)),
            ),
            cost=4,
            commands=(
                *STOP,
                "# in config/server.properties: no zookeeper.metadata.migration.enable, no controller.quorum.*, no",
                "# controller.listener.names",
                *START,
                *(later if down else ()),
            ),
            before="a broker is ZooKeeper's controller, controller_epoch in no state znode is above /controller_epoch "
            "(`zkCli.sh -server ZK get …/partitions/N/state`), and no partition is under-replicated",
            after=ROLL,
            risk="while one is down, partitions have one replica less",
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
