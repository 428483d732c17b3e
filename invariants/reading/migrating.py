"""Where a captured cluster is in its migration to KRaft, what would go wrong next, and what a rollback would lose.

What counts is KRaft's image: ZooKeeper has a copy of it, which KRaft's controller writes after each change. Without the
image only ZooKeeper and the disks are compared.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import combinations

from attrs import evolve

from kwalk.invariants import migration
from kwalk.model.kafka.migration.log_manager import Fate
from kwalk.model.kafka.migration.partition_registration import PartitionRegistration
from kwalk.model.kafka.snapshots.at_rest import offline_replicas
from kwalk.model.kafka.snapshots.capture import (
    Broker,
    Capture,
    CapturedImage,
    CapturedImagePartition,
    CapturedImageTopic,
    CapturedPartitionState,
    Directory,
    Topic,
    topic_label,
)
from kwalk.model.kafka.snapshots.diagnosis import (
    MOST_NAMES,
    brokers,
    each,
    epochs_ahead,
    failing_failovers,
    listed,
    lost_topics,
    not_shown,
)
from kwalk.model.kafka.snapshots.former_logs import LogOrigin, set_aside_logs
from kwalk.model.kafka.snapshots.lineage import (
    Relation,
    begin_apart,
    compare,
    lost_records,
    members_lacking_records,
)
from kwalk.model.kafka.snapshots.migrating import MigratingTopic, after_a_failure, compares, fits, topics_of
from kwalk.model.kafka.snapshots.migration import DocumentedMigration, documented_migration
from kwalk.model.kafka.snapshots.procedures import START, STOP, move_away, znode_content
from kwalk.model.language.inspection import Consequence, Prognosis, Prospect

LOSES, STUCK, WAITS, UNKNOWN, READY = Prognosis
PAGE = "docs/how-to/migrate-to-kraft.md"
ELECTIONS, REASSIGNMENTS = "/admin/preferred_replica_election", "/admin/reassign_partitions"
SOURCE = "Read in Kafka's source; not tried on brokers."
DIRECTORIES_LEVEL = 17
"""The level of metadata.version 3.7-IV2, from which on brokers register their log directories (MetadataVersion)."""
RECOVER = "`kwalk diagnose --plan` plans what to write to ZooKeeper, and whether to restart KRaft's controller"
OWN_LOG = {
    False: "If the log is the topic's own, as its id was erased, or the log has none, write KRaft's id into its "
    "partition.metadata while the broker is stopped, on every replica; move other logs away then, before the broker "
    "starts in KRaft mode",
    True: "Where KRaft does not have the partition, or not this replica, no id helps: move the directory away while "
    "the broker is stopped, before it starts in KRaft mode, and see whether anybody needs its records",
}
"""What to do with a log that goes when its broker starts in KRaft mode, by whether KRaft lacks such a replica."""
ZOOKEEPER_ONLY = "is in ZooKeeper only, and does not exist for brokers"
COMPARISON = (migration.comparison_ends, migration.zookeeper_catches_up)
RESTARTS = ("finalized-too-early", "brokers-in-zookeeper-mode")
"""The consequences whose way out is that brokers restart in KRaft mode."""
NO_OBSTACLES = ("rollback-loses", "rollback-stops-elections", "controller-copies-again")
"""The consequences that do not come true when brokers restart in KRaft mode."""


class MigrationPhase(Enum):
    """How far a migration is, by what a snapshot shows."""

    NOT_BEGUN = "has not begun"
    WAITING = "waits for brokers"
    LEFT = "was begun and left: ZooKeeper has a controller again, or may have one"
    COPYING = "copies: KRaft has claimed /controller, and the copy has not ended"
    DUAL_WRITE = "is in dual write"
    FINALIZED = "has ended"


def phase_of(capture: Capture) -> MigrationPhase:
    """Return how far the migration of a captured cluster is."""
    offset = None if capture.migration is None else capture.migration.offset
    is_over = capture.image is not None and capture.image.state == "POST_MIGRATION"
    if is_over and (capture.in_kraft_mode or capture.is_kraft is not False):
        return MigrationPhase.FINALIZED
    if capture.serves_in_kraft:
        copied = offset if offset is not None else -1
        return MigrationPhase.COPYING if copied < 0 and capture.migration is not None else MigrationPhase.DUAL_WRITE
    if offset is None:
        return MigrationPhase.NOT_BEGUN
    return MigrationPhase.WAITING if offset < 0 else MigrationPhase.LEFT


def is_led_by_kraft(capture: Capture) -> bool:
    """Whether ZooKeeper's controller is gone for KRaft's, so that what is said of it does not hold."""
    return phase_of(capture) in (MigrationPhase.COPYING, MigrationPhase.DUAL_WRITE, MigrationPhase.FINALIZED)


def topics_of_kraft(capture: Capture) -> Iterator[Topic]:
    """Yield the topics as KRaft has them; before the copy has ended, or without an image, as ZooKeeper has them."""
    image = capture.image
    if image is None or phase_of(capture) is MigrationPhase.COPYING:
        yield from capture.topics.values()
        return
    for name, known in image.topics.items():
        topic = capture.topics.get(name) or Topic(name, {}, known.topic_id, 3, 0)
        states = {n: CapturedPartitionState(p.leader, p.leader_epoch, p.isr, 0) for n, p in known.partitions.items()}
        replicas = {number: partition.replicas for number, partition in known.partitions.items()}
        yield evolve(topic, partitions=replicas, topic_id=known.topic_id, states=states)


def migrating_prospect(capture: Capture, damage: Sequence[str] = ()) -> Prospect:
    """Return what awaits a cluster that migrates; `damage` is what else is wrong with it, of which nothing is said."""
    phase = phase_of(capture)
    found = _Migrating(capture, phase, damage)
    return Prospect(
        "migration",
        f"The migration to KRaft {phase.value}",
        tuple(sorted(found.consequences(), key=lambda one: one.prognosis.rank)),
        ready="Topics have the same ids in KRaft, in ZooKeeper and on disk, and no log was set aside.",
        notes=tuple(found.notes()),
        story=PAGE,
    )


def of_requests(capture: Capture, prognosis: Prognosis, then: str = "") -> Iterator[Consequence]:
    """Yield what becomes of what clients have requested in ZooKeeper.

    Kafka: none of the classes that migrate names the paths; KafkaController.onControllerFailover reads both.

    Args:
        capture: the capture.
        prognosis: how bad it is.
        then: what happens before the copy.
    """
    requests = {ELECTIONS: capture.elections, REASSIGNMENTS: capture.reassignments}
    found = {path: listed([f"{topic_label(t)}-{n}" for t, n in sorted(named)]) for path, named in requests.items()}
    paths = [path for path, named in requests.items() if named]
    if paths:
        yield Consequence(
            "requests-are-not-copied",
            prognosis,
            "clients have requested something in ZooKeeper, which KRaft neither reads nor removes",
            tuple(f"{path} names {found[path]}" for path in paths),
            f"{then} The znodes stay. After a rollback the first controller of ZooKeeper mode handles them again, "
            "whatever has changed since: it moves replicas or leaders.".strip(),
            "wait until what is requested is done; then delete the znodes, as the requests are all that is lost",
            tuple(f"bin/zookeeper-shell.sh ZK delete {path}" for path in paths),
            SOURCE,
        )


def of_directories(capture: Capture) -> Iterator[Consequence]:
    """Yield what comes of brokers with several log directories.

    Kafka: KafkaConfig.validateValues; before 3.7 no request of a broker in KRaft mode names a failed directory.
    """
    several = [broker.id for broker in capture.brokers.values() if len(broker.roots) > 1]
    if not several:
        return
    texts = {
        "not checked": (UNKNOWN, "Up to 3.5.1 nothing checks it, and KRaft does not support it."),
        "refused": (WAITS, "A broker with several log directories does not start with the migration enabled."),
        "with 3.7": (READY, "A broker with several of them starts only with inter.broker.protocol.version 3.7."),
    }
    prognosis, text = texts[str(documented_migration(capture.version).setting("log_directories"))]
    level = None if capture.image is None else capture.image.level
    if prognosis is READY and level is not None and level < DIRECTORIES_LEVEL:
        prognosis, text = WAITS, f"{text} KRaft's controllers have an older metadata.version, of level {level}."
    yield Consequence(
        "several-log-directories",
        prognosis,
        "brokers have several log directories",
        (f"{brokers(several)}",),
        text,
        "migrate with 3.7.1 or later, and inter.broker.protocol.version and metadata.version 3.7 or later",
        basis=SOURCE,
        log="server.log, ERROR: Cannot enable ZooKeeper migration …",
    )


def outdated_members(capture: Capture, topics: Iterable[Topic]) -> dict[tuple[str, int, int], str]:
    """Return the members of ISRs whose logs may be old copies, by topic, partition and broker, and what they lack.

    A broker that restarts makes one of them leader.
    """
    return {
        (one.name, n, b): f"{topic_label(one.name)}-{n}: the log of broker {b}, in the ISR, lacks records of "
        f"{brokers(having)}"
        for one in topics
        for n in one.states
        for b, having in members_lacking_records(capture, one, n).items()
    }


def of_copies(capture: Capture, topics: Iterable[Topic]) -> Iterator[Consequence]:
    """Yield what comes of copies between log directories that have another topic id than KRaft.

    A broker takes the partition for a stray, not the directory, so that the log in use goes with the copy.

    Kafka: LogManager.allLogs, findStrayReplicas, ReplicaManager.updateStrayLogs (since 3.6.2);
    BrokerMetadataPublisher.findStrayPartitions, ReplicaManager.deleteStrayReplicas (before).

    Args:
        capture: the capture.
        topics: the topics that KRaft has, or is to have.
    """
    ids, places = {topic.name: topic.topic_id for topic in topics}, []
    known = [one for one in capture.brokers.values() if one.mode != "kraft"]
    for broker, (name, copy) in ((one, aside) for one in known for aside in one.set_aside.items()):
        partition = name.rpartition(".")[0]
        topic, _, number = partition.rpartition("-")
        used = broker.directories.get(partition)
        if name.endswith("-future") and topic in ids and used and copy.topic_id is not None:
            own = ids[topic] or used.topic_id  # one that has none gets another in the roll, unless it is written
            label = f"{topic_label(topic)}-{number} on broker {broker.id}"
            if copy.topic_id != own:
                places.append(f"{label}: the copy has the id {copy.topic_id}, the topic {own or 'none'}")
    if places:
        yield Consequence(
            "copy-takes-the-log-along",
            LOSES,
            "a copy of another topic, to another log directory, makes a broker remove the log in use, too",
            tuple(places),
            "A broker compares the topic ids of all directories with KRaft's, also of those that end in -future, and "
            "then removes all of the partition: the log is set aside, or deleted before 3.6.2. If it leads, the others "
            "copy an empty log.",
            "move the directory that ends in -future away while the broker is stopped",
            (*STOP, move_away(["DIRECTORY"]), *START),
            SOURCE,
        )


def unidentified_copies(broker: Broker) -> list[str]:
    """Return the copies between log directories of a broker that have no topic id: they are logs like others."""
    return [name for name, copy in broker.set_aside.items() if name.endswith("-future") and copy.topic_id is None]


def of_unidentified_logs(
    rules: DocumentedMigration, logs: Mapping[int, Sequence[str]], first: str = ""
) -> Iterator[Consequence]:
    """Yield what comes of logs without topic id.

    Args:
        rules: what brokers of the release do with them.
        logs: their names by broker.
        first: what the way out begins with.
    """
    places = tuple(f"broker {broker}: {listed(names)} without topic id" for broker, names in sorted(logs.items()))
    way_out = f"{first}look whether anybody needs the records; move the directories away while the broker is stopped"
    if places and rules.full_request_fails(identified=False):
        yield Consequence(
            "full-request-fails",
            STUCK,
            "a broker refuses all requests of KRaft's controller in dual write",
            places,
            "The broker has a log without topic id, and no request has given it one. It answers the full LeaderAndIsr "
            "with UNKNOWN_SERVER_ERROR, and applies nothing of it (KAFKA-21022): what changed while the controller was "
            "down does not reach it.",
            way_out,
            (*STOP, move_away(["DIRECTORY"]), *START),
            "Seen on brokers of 3.6.2 and 3.9.0.",
            "server.log, ERROR: The log dir … does not have a topic ID, which is not allowed when running in KRaft "
            "mode.",
        )
    if places and rules.kraft_start_fails(identified=False):
        yield Consequence(
            "kraft-start-fails",
            STUCK,
            "a broker does not start in KRaft mode",
            places,
            "In 3.7.0 a broker in KRaft mode ends if a log has no topic id (KAFKA-16814).",
            f"{way_out}; or upgrade to 3.7.1 or later",
            (*STOP, move_away(["DIRECTORY"]), *START),
            SOURCE,
        )


def _lacking(one: MigratingTopic) -> str:
    """Return what ZooKeeper does not have of a topic."""
    if one.topic is None:
        return "is not in ZooKeeper"
    if one.image is None:
        return "is in ZooKeeper only"
    if one.topic.topic_id != one.image.topic_id:
        return f"has the id {one.image.topic_id} in KRaft, and {one.topic.topic_id} in ZooKeeper"
    missing = [n for n in sorted(one.image.partitions) if n not in one.topic.partitions]
    if missing:
        return f"ZooKeeper lacks the partitions {listed([str(n) for n in missing])}"
    if one.without_state:
        return f"no state znode of the partitions {listed([str(n) for n in one.without_state])}"
    return "leaders and ISRs differ"


def _wanted(topic: Topic | None, partition: int, broker: int) -> str:
    """Return what KRaft has of a partition, of which a broker has a log."""
    replicas = None if topic is None else topic.partitions.get(partition)
    if topic is None or replicas is None:
        return f"KRaft does not have the {'topic' if topic is None else 'partition'}"
    return f"KRaft has {topic.topic_id}" + f" on {brokers(replicas)}" * (broker not in replicas)


def _differing_state(state: CapturedPartitionState, partition: CapturedImagePartition) -> Iterator[str]:
    """Yield in what ZooKeeper's state of a partition and KRaft's differ."""
    if state.leader_epoch < partition.leader_epoch:
        yield f"has leader epoch {partition.leader_epoch} in KRaft, and {state.leader_epoch} in ZooKeeper"
    if state.leader_epoch == partition.leader_epoch:
        if state.leader != partition.leader:
            was, had = ("none" if one.leader is None else one.leader for one in (partition, state))
            yield f"has the leader {was} in KRaft, and {had} in ZooKeeper"
        if set(state.isr) != set(partition.isr):
            members, isr = (listed([str(b) for b in sorted(one.isr)]) for one in (partition, state))
            yield f"has the ISR {members} in KRaft, and {isr} in ZooKeeper"


class _Migrating:
    """Judges a capture of a cluster that migrates."""

    def __init__(self, capture: Capture, phase: MigrationPhase, damage: Sequence[str]) -> None:
        self.capture, self.phase, self.image, self.damage = capture, phase, capture.image, damage

    def consequences(self) -> Iterator[Consequence]:
        """Yield what awaits the cluster; no broker is to restart in KRaft mode before the rest is in order."""
        found = list(self._consequences())
        restarts = (*RESTARTS, *(["broker-runs-without-migration"] if self.phase is MigrationPhase.FINALIZED else []))
        first = list(
            dict.fromkeys(
                one.name for one in found if one.prognosis is not READY and one.name not in (*restarts, *NO_OBSTACLES)
            )
        )
        for one in found:
            if first and one.name in restarts:
                one = evolve(one, way_out=f"first see to {listed(first)}; then {one.way_out}")
            yield one

    def _consequences(self) -> Iterator[Consequence]:
        yield from self._controller()
        yield from self._node_ids()
        yield from self._without_ids()
        yield from self._next_controller()
        yield from self._without_logs()
        yield from self._apart()
        yield from self._requests()
        if self.image is not None:
            yield from self._lost()
            yield from self._without_copy(self.image) or self._rollback(self.image)
            yield from self._epochs()
            yield from self._strays()
            yield from of_copies(self.capture, topics_of_kraft(self.capture))
            yield from self._unidentified()
            if self.phase is not MigrationPhase.FINALIZED:
                yield from (one for one in of_directories(self.capture) if one.prognosis is not READY)
            yield from self._modes(self.image)
        elif self.phase is not MigrationPhase.COPYING:
            yield Consequence(
                "image-is-not-shown",
                UNKNOWN,
                "what KRaft has is not shown",
                ("the snapshot has no image of KRaft: nothing is compared with it",),
                "Brokers follow KRaft. Which of the logs have a place there, and what a rollback loses, is not known.",
                "copy __cluster_metadata-0 of a controller, and take another snapshot at once",
            )
        yield from self._set_aside()
        is_shown = self.capture.shows_migration or self.phase is MigrationPhase.FINALIZED
        hidden = () if is_shown else ("The snapshot does not show /migration.",)
        lacking = (*not_shown(self.capture), *hidden, *self.damage, *self._ahead())
        if lacking:
            yield self._not_judged(*lacking)

    def _ahead(self) -> Iterator[str]:
        """Yield the partitions with later leader epochs in logs than KRaft has: an election cuts these logs.

        Kafka: LeaderEpochFileCache.assign.
        """
        for topic, number in ((one, n) for one in topics_of_kraft(self.capture) for n in one.states):
            found = epochs_ahead(self.capture, topic, number, topic.partitions.get(number, ()))
            for b, epoch in found.items():
                known = f"and KRaft {topic.states[number].leader_epoch}"
                yield f"{topic_label(topic.name)}-{number}: the log of broker {b} has leader epoch {epoch}, {known}"

    def notes(self) -> Iterator[str]:
        image, migration = self.image, self.capture.migration
        if migration is not None:
            yield f"/migration: ZooKeeper has what KRaft's log has up to offset {migration.offset}."
        if image is not None:
            state = "not said" if image.state is None else image.state
            yield f"KRaft's log ends at offset {image.end_offset}; its state of the migration: {state}."

    # The controller.

    def _controller(self) -> Iterator[Consequence]:
        """Brokers in KRaft mode, and /controller is not KRaft's (tryRegisterKRaftControllerAsActiveController)."""
        capture = self.capture
        is_over, kraft = self.phase is MigrationPhase.FINALIZED, capture.in_kraft_mode
        is_lost = capture.is_kraft is False or capture.controller is None
        if is_lost and kraft and not capture.registered and not is_over:
            yield Consequence(
                "controller-is-missing",
                UNKNOWN,
                "nobody is in /controller",
                (f"{brokers(kraft)} in KRaft mode, by KRaft's log",),
                "If these brokers run, /controller was deleted too early: KRaft's controller still leads, and the next "
                "active one writes it. A broker that starts in ZooKeeper mode takes it before.",
                "if the brokers run, start none in ZooKeeper mode before you have restarted KRaft's active controller; "
                "if they are down, and the migration was rolled back, take a snapshot without KRaft's log",
                basis=SOURCE,
            )
        elif is_lost and kraft and capture.registered:
            names = "nobody" if capture.controller is None else f"broker {capture.controller}"
            yield Consequence(
                "controller-was-taken",
                STUCK,
                "KRaft's controller leads brokers in KRaft mode, and /controller is not its",
                (f"/controller names {names}; {brokers(kraft)} in KRaft mode, by KRaft's log",),
                "/controller was deleted before all brokers had returned to ZooKeeper mode. A broker in ZooKeeper mode "
                "becomes a controller beside KRaft's: both elect leaders, and what one of them accepts the other does "
                "not have. "
                + (
                    "KRaft's never writes to ZooKeeper again."
                    if is_over
                    else "KRaft's next active controller takes /controller again, and writes over ZooKeeper what it "
                    "has: topics that ZooKeeper's controller has created are removed."
                ),
                f"if KRaft's controllers were stopped for a rollback, do not start them: start {brokers(kraft)} in "
                "ZooKeeper mode, and take a snapshot without KRaft's log. If they run, copy their log again; if that "
                "shows the same, delete nothing, and format no controller: "
                + (
                    "stop the brokers in ZooKeeper mode, keep their logs, and compare these with those of the brokers "
                    "in KRaft mode before they start in KRaft mode"
                    if is_over
                    else "let nobody create topics, and restart KRaft's active controller. Who wants to roll back then "
                    "returns all brokers to ZooKeeper mode, with the migration enabled, before /controller is deleted "
                    "(carried out on brokers of 3.6.2 and 3.9.0, though not after this mistake)"
                ),
                basis=SOURCE,
            )

    def _node_ids(self) -> Iterator[Consequence]:
        """A controller with the id of a broker in ZooKeeper mode (KafkaConfig.validateValues)."""
        capture, image = self.capture, self.capture.image
        mine = {*capture.registered, *(image.migrating if image is not None else ())}
        if capture.is_kraft and capture.controller in mine and self.phase is not MigrationPhase.FINALIZED:
            yield Consequence(
                "node-id-is-used-twice",
                STUCK,
                "a controller of KRaft has the node id of a broker",
                (f"/controller names node {capture.controller} of KRaft, and a broker has the id",),
                "Brokers and controllers share node ids. A broker whose id is one of controller.quorum.voters does not "
                "start in KRaft mode; with the migration enabled it takes itself for a controller of the quorum.",
                "roll the migration back, format KRaft's controllers with other ids, and begin again",
                basis=SOURCE,
                log="If process.roles contains just the 'broker' role, the node id … must not be included in the set "
                "of voters",
            )

    # All topics.

    def _without_copy(self, image: CapturedImage) -> list[Consequence]:
        """KRaft's log has no copy, and /migration says that it has (KAFKA-17146)."""
        capture = self.capture
        is_first = image.state in ("NONE", "PRE_MIGRATION") and compares(capture.version)
        if self.phase is not MigrationPhase.DUAL_WRITE or not is_first or capture.lacks_copy_record:
            return []
        return [
            Consequence(
                "controllers-have-no-copy",
                LOSES,
                "KRaft's controllers have no copy of ZooKeeper's content, and /migration says that they have",
                (f"KRaft's log says {image.state}, and has {len(image.topics)} topics",),
                "They are new, or have lost their log. One that becomes active removes all topics from ZooKeeper "
                "(KAFKA-17146), if it has not yet. A broker that starts in KRaft mode removes its logs, or sets them "
                "aside.",
                "see whether the log is that of the controllers of this cluster. If it is, stop them, start no broker "
                "in KRaft mode, and keep each __cluster_metadata-0, also those of brokers. If there are controllers "
                "with the log of the copy, start these. If not, and no broker is in KRaft mode, delete /controller and "
                "/migration: the cluster goes on with what ZooKeeper has (carried out on brokers of 3.6.2 and 3.9.0, "
                "whose controllers had a copy)",
                basis=SOURCE,
            )
        ]

    def _lost(self) -> Iterator[Consequence]:
        """No topic of the logs is in KRaft or ZooKeeper: new controllers took the copy for done."""
        lost = lost_topics(self.capture)
        if lost:
            yield Consequence(
                "topics-are-gone",
                LOSES,
                "neither KRaft nor ZooKeeper has any of the topics whose logs brokers have",
                tuple(f"logs of {topic_label(name)}" for name in lost[:MOST_NAMES]),
                "An earlier attempt had left /migration: new controllers take the copy for done, and remove every "
                "topic from ZooKeeper (KAFKA-17146). Or all topics were deleted.",
                "if they were not deleted: remove no directory, also none that ends in -stray, and start no broker in "
                "KRaft mode, which removes its logs, or sets them aside. Stop KRaft's controllers and the brokers, "
                "bring ZooKeeper's data back from a copy of before this attempt, delete /controller and /migration "
                "there, and rename what is set aside before brokers start without the migration (not tried on real "
                "brokers)",
                basis="Seen on brokers of 3.9.0: all topics were gone from ZooKeeper, and the logs stayed.",
            )

    @staticmethod
    def _copying() -> Consequence:
        """KRaft's controller has taken /controller, and the copy has not ended (migrateZkMetadata)."""
        return Consequence(
            "copy-has-not-ended",
            UNKNOWN,
            "the copy has not ended: until it has, no controller elects leaders",
            ("/controller is that of KRaft, and /migration says that there is no copy",),
            "A copy takes seconds, or minutes where there are many partitions. If it fails, KRaft's controller ends, "
            "and the next one begins again, or waits for brokers while /controller names it.",
            "take another snapshot after some minutes; if it shows the same, see in controller.log of KRaft why the "
            "copy fails",
            basis=SOURCE,
        )

    # ZooKeeper.

    def _requests(self) -> Iterator[Consequence]:
        """Requests that the first controller after a rollback handles, or fails at."""
        capture = self.capture
        failing = {name for name in failing_failovers(capture) if self.phase is not MigrationPhase.FINALIZED}
        if failing:
            yield Consequence(
                "rollback-has-no-controller",
                STUCK,
                "after a rollback no controller of ZooKeeper mode stays",
                tuple(f"{topic_label(name)}-{number} never had a leader" for name, number in sorted(failing)),
                "A request in ZooKeeper names the partition: each broker that is elected gives up at once.",
                f"before a rollback, start a broker with a replica, or delete {ELECTIONS}",
                basis=SOURCE,
                log="controller.log, ERROR: … Trigger controller movement immediately",
            )
        if self.phase is not MigrationPhase.FINALIZED:
            yield from of_requests(capture, READY)

    def _without_ids(self) -> Iterator[Consequence]:
        """Topics whose znode has no id: KRaft's controller reads all of them at its next start, and fails."""
        names = [topic for topic in self.capture.topics.values() if topic.topic_id is None]
        if not names or self.phase is MigrationPhase.FINALIZED:
            return
        copying = self.phase is MigrationPhase.COPYING
        what = (
            "The copy fails on it, KRaft's controller ends, and after a restart it waits for brokers for good: the "
            "cluster has no controller."
            if copying
            else "Nothing is noticed until KRaft's controller starts again or fails over: it then fails to compare "
            "ZooKeeper with its image, again and again, and no broker in ZooKeeper mode gets any request any more: a "
            "dead leader stays leader."
        )
        yield Consequence(
            "topic-without-id-stops-kraft",
            STUCK,
            "a topic has no id in ZooKeeper, which stops KRaft's controller",
            tuple(f"{topic_label(topic.name)}: {self._held(topic)}" for topic in names),
            f"A client older than 2.8 has written the topic's znode. {what}",
            "write the topic's content back, as KRaft has it; the controller goes on by itself at its next attempt",
            tuple(line for topic in names for line in self._content(topic)),
            "Seen on brokers of 3.9.0, with the way out.",
            "controller.log of the KRaft controller, ERROR: Encountered zk migration fault: … "
            "(java.util.NoSuchElementException: None.get)",
        )

    def _next_controller(self) -> Iterator[Consequence]:
        """What stops the next active controller of KRaft, or perhaps the present one already."""
        known, has_begun = self.capture.migration, self.image is not None and self.image.state == "MIGRATION"
        if self.phase is MigrationPhase.COPYING and not (has_begun and compares(self.capture.version)):
            yield self._copying()
        if not has_begun:
            return
        if not compares(self.capture.version):
            yield from [] if known is not None and known.offset < 0 else [self._copies_again()]
        elif self.capture.lacks_copy_record:
            yield self._unrecorded(None if known is None else known.offset)
        else:
            yield from self._comparison()

    @staticmethod
    def _unrecorded(offset: int | None) -> Consequence:
        why = "Unless the copy has ended this moment, KRaft's controller has failed between two writes."
        if offset is None:
            why = "/migration was deleted, or has other content: nothing that KRaft changes gets to ZooKeeper."
        return Consequence(
            "copy-was-not-recorded",
            STUCK,
            "KRaft's log says that the migration has begun, and /migration that there is no copy",
            ("there is no /migration" if offset is None else f"/migration: kraft_metadata_offset {offset}",),
            f"{why} The next one stays inactive, while /controller names it: no broker gets requests, and no leader is "
            "elected.",
            "if the migration is being rolled back, and KRaft's controllers are stopped, delete /controller; else take "
            f"another snapshot, and if it shows the same: {RECOVER}",
            basis="Seen on brokers of 3.5.2, 3.6.2 and 3.9.0, with the way out.",
            log="controller.log of KRaft, ERROR: KRaft controller indicates an active migration, but the ZK state "
            "does not.",
        )

    def _copies_again(self) -> Consequence:
        return Consequence(
            "controller-copies-again",
            STUCK,
            "another controller of KRaft that becomes active copies ZooKeeper over its image, again and again",
            (f"{self.capture.version} is older than 3.5.0",),
            "What KRaft has and ZooKeeper has not is overwritten. With a broker in KRaft mode it waits for good. "
            "Brokers in ZooKeeper mode get no requests meanwhile (KAFKA-15010). A controller that has started since "
            "the copy goes on.",
            "upgrade to 3.5 or later before you migrate; until the migration has ended, do not restart KRaft's "
            "controllers, unless there is one only",
            basis="Seen on brokers of 3.4.1, with one controller and with three.",
            log="controller.log of KRaft, INFO: Starting ZK migration, each second",
        )

    def _comparison(self) -> Iterator[Consequence]:
        """What the next comparison of ZooKeeper with the image fails at, or does not write."""
        fails, behind = [], []
        for one in topics_of(self.capture):
            if not one.differs or (one.topic is not None and one.topic.topic_id is None):
                continue
            violated = after_a_failure(self.capture, one, COMPARISON) if fits(one) else frozenset()
            if migration.comparison_ends.name in violated:
                fails.append(f"{topic_label(one.name)}: {_lacking(one)}")
            elif migration.zookeeper_catches_up.name in violated:
                behind.append(f"{topic_label(one.name)}: {_lacking(one)}")
        if fails:
            yield Consequence(
                "comparison-fails",
                STUCK,
                "ZooKeeper lacks a state znode that KRaft's next active controller sets, and does not create",
                tuple(fails),
                "Each active controller of KRaft compares ZooKeeper with its image first. It then fails, again and "
                "again: no broker in ZooKeeper mode gets requests, a dead leader stays leader. It may be so already.",
                RECOVER,
                basis="Seen on brokers of 3.9.0, with the way out.",
                log="controller.log of KRaft, INFO: Encountered ZooKeeper error during event SyncKRaftMetadataEvent. "
                "Will retry.",
            )
        if behind:
            yield Consequence(
                "comparison-leaves-zookeeper-behind",
                STUCK,
                "KRaft's next active controller leaves ZooKeeper without what KRaft has",
                tuple(behind),
                "It compares ZooKeeper with its image, and does not write all: a topic that was created again is "
                "deleted from ZooKeeper, and a partition may keep no state znode. Its changes then fail to be written, "
                "and brokers in ZooKeeper mode do not hear of them.",
                RECOVER,
                basis="Seen on brokers of 3.9.0.",
            )

    def _held(self, topic: Topic) -> str:
        known = self._in_image(topic.name)
        if known is None:
            return "KRaft does not have it"
        beyond = sorted(topic.partitions.keys() - known.partitions.keys())
        more = f"; partitions {listed([str(n) for n in beyond])} are in ZooKeeper only, and never exist" * bool(beyond)
        return f"KRaft has the id {known.topic_id}{more}"

    def _content(self, topic: Topic) -> Iterator[str]:
        """Yield the commands that write a topic's znode as the image has it, or with the id of its logs."""
        known, path = self._in_image(topic.name), shlex.quote(f"/brokers/topics/{topic_label(topic.name)}")
        ids = {d.topic_id for d in self._logs(topic.name).values() if d.topic_id is not None}
        identity = known.topic_id if known is not None else next(iter(ids)) if len(ids) == 1 else None
        if identity is None:
            yield "# which id the topic had is not shown"
            return
        partitions = {n: p.replicas for n, p in known.partitions.items()} if known is not None else topic.partitions
        yield f"bin/zookeeper-shell.sh ZK set {path} {shlex.quote(znode_content(identity, partitions))}"

    def _in_image(self, name: str) -> CapturedImageTopic | None:
        return None if self.image is None else self.image.topics.get(name)

    def _logs(self, name: str) -> Mapping[tuple[int, int], Directory]:
        """Return the logs of a topic by broker and partition."""
        return {
            (broker.id, int(number)): directory
            for broker in self.capture.brokers.values()
            for directory_name, directory in broker.directories.items()
            for topic, _, number in [directory_name.rpartition("-")]
            if topic == name and number.isdecimal()
        }

    # A rollback.

    def _rollback(self, image: CapturedImage) -> Iterator[Consequence]:
        """What ZooKeeper does not have of the image: a rollback goes on with what ZooKeeper has."""
        if self.phase is MigrationPhase.COPYING:
            return
        places = list(self._differences(image))
        if places and self.phase is MigrationPhase.FINALIZED:
            yield Consequence(
                "rollback-loses",
                READY,
                "the migration has ended, and there is no rollback: ZooKeeper does not have what KRaft has",
                tuple(places),
                "KRaft writes nothing to ZooKeeper any more.",
                "do not roll back",
                basis="Kafka's documentation.",
            )
        elif places:
            is_more = all(place.endswith(ZOOKEEPER_ONLY) for place in places)
            title = "ZooKeeper does not have what KRaft has: a rollback would lose it"
            yield Consequence(
                "rollback-loses",
                LOSES,
                "ZooKeeper has what KRaft does not have: a rollback would bring it back" if is_more else title,
                tuple(places),
                "After a rollback the cluster goes on with what ZooKeeper has. KRaft writes each change to ZooKeeper; "
                "what differs was changed since, or by an old client, or a write failed.",
                f"take another snapshot; if it shows the same: {RECOVER}",
                basis=SOURCE,
            )

    def _differences(self, image: CapturedImage) -> Iterator[str]:
        """Yield in what ZooKeeper and the image differ, topic by topic."""
        for name, known in image.topics.items():
            label, topic = topic_label(name), self.capture.topics.get(name)
            if topic is None:
                yield f"{label}: is not in ZooKeeper"
                continue
            if topic.topic_id not in (None, known.topic_id):
                yield f"{label}: has the id {known.topic_id} in KRaft, and {topic.topic_id} in ZooKeeper"
            missing = sorted(known.partitions.keys() - topic.partitions.keys())
            if missing:
                yield f"{label}: ZooKeeper lacks the partitions {listed([str(number) for number in missing])}"
            for number, partition in known.partitions.items():
                state = topic.states.get(number)
                if number in topic.partitions and topic.partitions[number] != partition.replicas:
                    had = listed([str(b) for b in topic.partitions[number]])
                    replicas = listed([str(b) for b in partition.replicas])
                    yield f"{label}-{number}: has the replicas {replicas} in KRaft, and {had} in ZooKeeper"
                if number in topic.partitions and state is None:
                    yield f"{label}-{number}: has no state znode"
                if number in topic.moving and not partition.moving:
                    yield f"{label}-{number}: is being reassigned in ZooKeeper only"
                for text in () if state is None else _differing_state(state, partition):
                    yield f"{label}-{number}: {text}"
        for name, topic in self.capture.topics.items():
            if name not in image.topics:
                yield f"{topic_label(name)}: {ZOOKEEPER_ONLY}"
                continue
            for number in sorted({*topic.partitions, *topic.states} - {*image.topics[name].partitions}):
                yield f"{topic_label(name)}-{number}: {ZOOKEEPER_ONLY}"
        for name in self.capture.deleting:
            if name in image.topics:
                yield f"{topic_label(name)}: is in /admin/delete_topics: ZooKeeper's controller would delete it"

    def _epochs(self) -> Iterator[Consequence]:
        """State znodes with a controller epoch above ZooKeeper's: its controllers write none of them."""
        epoch = self.capture.controller_epoch
        ahead = [
            f"{topic_label(topic.name)}-{number}"
            for topic in self.capture.topics.values()
            for number, state in topic.states.items()
            if state.controller_epoch > epoch
        ]
        quorum = self.capture.quorum_epoch or 0
        place = f"state znodes have a higher one: {listed(ahead)}"
        if not ahead:
            place = f"KRaft's controller has {quorum}, and writes it into each state znode that changes"
        if (ahead or quorum > epoch) and self.phase is not MigrationPhase.FINALIZED:
            yield Consequence(
                "rollback-stops-elections",
                STUCK,
                "after a rollback ZooKeeper's controller elects no leader of these partitions",
                (f"/controller_epoch is {epoch}; {place}",),
                "KRaft writes the epoch of its quorum into the state znodes. A controller of ZooKeeper mode with a "
                "lower epoch takes itself for deposed, and aborts their elections (KAFKA-20488).",
                "after a rollback, delete /controller again and again, until /controller_epoch is above: `kwalk "
                "diagnose --plan` plans the rollback",
                basis="Seen on brokers of 3.9.0, with the way out.",
            )

    # Logs.

    def _strays(self) -> Iterator[Consequence]:
        """Logs that have no place in the image: brokers remove them at their next start in KRaft mode."""
        rules, topics = documented_migration(self.capture.version), {t.name: t for t in topics_of_kraft(self.capture)}
        places, lacks = [], set[bool]()
        for broker in self.capture.brokers.values():
            if not broker.seen:
                continue
            identified = all(d.topic_id is not None for d in broker.directories.values())
            for name, directory in broker.directories.items():
                topic, _, number = name.rpartition("-")
                if not number.isdecimal() or directory.is_empty is True:
                    continue
                known = topics.get(topic)
                replicas = None if known is None else known.partitions.get(int(number))
                registered = None
                if replicas is not None:
                    registered = PartitionRegistration(0, frozenset(replicas), None, frozenset(), 0)
                identity = (
                    None if directory.topic_id is None else int(known is None or directory.topic_id != known.topic_id)
                )
                fate = rules.fate_at_start(identity, broker.id, registered, identified=identified)
                if fate is not Fate.KEPT:
                    has = f"the id {directory.topic_id}" if directory.topic_id else "no topic id"
                    wants = _wanted(known, int(number), broker.id)
                    lacks.add(replicas is None or broker.id not in replicas)
                    places.append(
                        f"{topic_label(topic)}-{number} on broker {broker.id}: has {has}; {wants}; it {fate.value}"
                    )
        if places:
            yield Consequence(
                "log-goes-at-kraft-start",
                LOSES,
                "a log has no place in KRaft's image: its broker removes it when it starts in KRaft mode",
                tuple(places),
                "If the other replicas have the same, the topic loses its records.",
                "keep the directory. " + ". ".join(OWN_LOG[lack] for lack in sorted(lacks)),
                (*STOP, move_away(["DIRECTORY"]), *START),
                "Seen on brokers of 3.9.0 (set aside) and 3.5.2 (deleted).",
            )

    def _unidentified(self) -> Iterator[Consequence]:
        """Logs without topic id, of brokers in ZooKeeper mode."""
        logs = {
            broker.id: [
                *(name for name, log in broker.directories.items() if log.topic_id is None),
                *unidentified_copies(broker),
            ]
            for broker in self.capture.brokers.values()
            if broker.mode != "kraft" and broker.seen
        }
        own = "write KRaft's topic id into partition.metadata of replicas' logs while the broker is stopped; of others "
        rules = documented_migration(self.capture.version)
        yield from of_unidentified_logs(rules, {b: names for b, names in logs.items() if names}, own)

    def _without_logs(self) -> Iterator[Consequence]:
        """ISR members that have no log of records that were committed, or one that is empty or an old copy."""
        places, capture = [], self.capture
        outdated = outdated_members(capture, topics_of_kraft(capture))
        leaders = {(one.name, n, state.leader) for one in topics_of_kraft(capture) for n, state in one.states.items()}
        is_truncating = not leaders.isdisjoint(outdated)
        for topic, number in ((one, n) for one in topics_of_kraft(capture) for n in one.states):
            state, replicas = topic.states[number], topic.partitions.get(number, ())
            known = {b: capture.directory(b, topic.name, number) for b in replicas}
            logs = {b: log for b, log in known.items() if log is not None and log.is_empty is not True}
            is_committed = any((log.high_watermark or 0) > 0 for log in logs.values())
            for b in state.isr if logs else ():
                log = known.get(b)
                is_bare = log is None or (is_committed and log.is_empty is True and log.end == 0)
                is_shown = b in capture.brokers and capture.shows(b, topic.name, number)
                if is_bare and is_shown and b not in offline_replicas(capture, topic, number):
                    leads = " leads, and" * (b == state.leader)
                    has = f"{leads} has {'no log' if log is None else 'an empty log'}"
                    whose = f"{brokers(logs)} {each(logs, 'has', 'have')} records"
                    places.append(f"{topic_label(topic.name)}-{number}: broker {b}{has}; {whose}")
                    is_truncating |= log is not None and b == state.leader
                    outdated.pop((topic.name, number, b), None)
        if places or outdated:
            yield Consequence(
                "isr-member-lacks-records",
                LOSES,
                "a broker of the ISR lacks the log of a partition, or records",
                (*places, *outdated.values()),
                "Its files were removed or replaced while it ran, or it began an empty log. Once it has restarted, and "
                "leads, the others truncate their logs to its log: records go, in both modes.",
                "copy the other logs to another place, at once: who fetches from a leader that lacks records truncates "
                "them; then "
                * is_truncating
                + "take another snapshot; if it shows the same, do not restart the broker, and move these replicas of "
                "it to other brokers, or remove them, before it restarts",
                (
                    "bin/kafka-reassign-partitions.sh --bootstrap-server BROKER --reassignment-json-file REPLICAS "
                    "--execute" + " --additional" * capture.is_moving,
                ),
                basis=SOURCE,
            )

    def _apart(self) -> Iterator[Consequence]:
        """Logs of one partition with different records: which are kept, the next election decides.

        Logs outside of the ISR that differ are truncated to the leader's, unless they begin with other records.
        """
        places, capture = [], self.capture
        for topic, number in ((one, n) for one in topics_of_kraft(capture) for n in one.states):
            state, name = topic.states[number], f"{topic_label(topic.name)}-{number}"
            known = capture.logs_of(sorted({*topic.partitions.get(number, ())}), topic.name, number)
            logs = {b: log for b, log in known.items() if log.topic_id in (None, topic.topic_id) and not log.is_empty}
            for b, lost in lost_records(capture, topic, number).items():
                what = f"what broker {b} has committed from offset {lost.offset} on{lost.condition}"
                places.append(f"{name}: the leader lacks {what}")
            for (one, log), (other, its) in combinations(logs.items(), 2):
                found = compare(log, its)
                is_kept = {one, other} <= {*state.isr} or begin_apart(log, its)
                if is_kept and found.relation in (Relation.DIVERGED, Relation.UNRELATED):
                    places.append(f"{name}: brokers {one} and {other}: {found.fact}")
        if places:
            yield Consequence(
                "replicas-have-different-records",
                LOSES,
                "replicas of a partition have different records: some are lost when another one leads",
                tuple(places),
                "As brokers restart, any live member of the ISR is elected, in both modes. The others truncate their "
                "logs to its log, or go on with records that it does not have.",
                "restart no broker, and copy the logs of these partitions; decide which records are to be kept, and "
                "move the other replicas to other brokers before any broker restarts",
                basis=SOURCE,
            )

    def _set_aside(self) -> Iterator[Consequence]:
        """Logs that brokers have set aside already: their records are on the disk, and are not served."""
        places, left = [], []
        for one in set_aside_logs(self.capture):
            known = self._in_image(one.topic)
            goes = "; it is deleted within file.delete.delay.ms" * one.is_deleted
            has = f"has the id {one.directory.topic_id}" if one.directory.topic_id else "has no topic id"
            place = f"{topic_label(one.topic)}-{one.partition} on broker {one.broker}: {has}"
            if one.origin is LogOrigin.OPEN and (known is not None or self.image is None):
                places.append(f"{place}{f', KRaft has {known.topic_id}' if known is not None else ''}{goes}")
            else:
                why = "KRaft does not have the topic" if one.origin is LogOrigin.OPEN else one.fact or one.origin.value
                left.append(f"{place}; {why}{goes}")
        if places:
            yield Consequence(
                "log-was-set-aside",
                LOSES,
                "a log was set aside: its records are on the disk, and are not served",
                tuple(places),
                "The broker took it for the log of another topic; so it is if the topic was deleted and created again. "
                "Records that were written since are in the new log.",
                "`kwalk diagnose --plan` plans how to bring the records back. Until then let nobody write the topic",
                basis="Tried on brokers of 3.9.0.",
            )
        if left and not lost_topics(self.capture):
            yield Consequence(
                "log-of-no-topic",
                READY,
                "a directory is left that no topic of KRaft needs",
                tuple(left),
                "The topic was deleted, perhaps created again, or a leader has the same records.",
                "delete directories that end in -stray when you are sure that nobody wants their records",
            )

    # Brokers.

    def _modes(self, image: CapturedImage) -> Iterator[Consequence]:
        left, ready = image.migrating, [b for b in image.registered if b not in image.migrating]
        in_modes = f"{brokers(left)} in ZooKeeper mode" + f", {brokers(ready)} in KRaft mode" * bool(ready)
        if self.phase is MigrationPhase.FINALIZED and left:
            yield Consequence(
                "finalized-too-early",
                STUCK,
                "the migration was ended while brokers are in ZooKeeper mode",
                (in_modes,),
                "KRaft's controller sends them no requests any more (KAFKA-20960).",
                "restart them in KRaft mode",
                basis="Seen on brokers of 3.6.2 and 3.9.0.",
            )
        unknown = {b for b in self.capture.registered if b not in image.registered or b in image.fenced}
        if unknown and self.phase is not MigrationPhase.COPYING:
            yield self._unknown(unknown, image)
        twice = set(self.capture.registered) - unknown - {*image.migrating}
        if twice:
            yield Consequence(
                "broker-id-is-used-twice",
                STUCK,
                "a broker id is registered in ZooKeeper, and with KRaft by a broker in KRaft mode",
                (brokers(twice),),
                "So it is of a broker that has just restarted in KRaft mode, until its ZooKeeper session ends. Else "
                "two processes have the id, each with logs of its own, and KRaft's controller knows one.",
                "take another snapshot after a session timeout; if it shows the same, find the process in ZooKeeper "
                "mode and stop it; remove no log before it is known which of the two has the records",
                basis=SOURCE,
            )
        needed = {b for topic in image.topics.values() for p in topic.partitions.values() for b in p.replicas}
        gone = sorted(needed - unknown - ({*image.registered} & {*self.capture.live} - {*image.fenced}))
        if gone:
            yield Consequence(
                "broker-is-fenced",
                WAITS,
                "a broker with replicas does not run, or is fenced",
                (brokers(gone),),
                "KRaft counts it as down, at the latest after broker.session.timeout.ms.",
                "start it, as `kwalk diagnose` says, before brokers restart in KRaft mode: each restart takes one "
                "replica more away",
            )
        if self.phase is MigrationPhase.DUAL_WRITE and left:
            yield Consequence(
                "brokers-in-zookeeper-mode",
                READY,
                "brokers are to restart in KRaft mode",
                (in_modes,),
                "The migration goes on when they do. It can be rolled back until the controllers run without the flag.",
                "restart them one at a time, and wait until no partition is under-replicated before the next",
            )

    def _unknown(self, unknown: set[int], image: CapturedImage) -> Consequence:
        """Brokers that run in ZooKeeper mode without the migration, so that KRaft's controller has no part of them."""
        rolled_back = (
            ". All brokers are so: if the migration was rolled back, /controller is still that of KRaft, and no broker "
            "becomes the controller: with KRaft's controllers stopped, delete /controller and /migration"
        ) * (unknown >= {*image.registered})
        way_out = (
            "restart the broker with zookeeper.metadata.migration.enable, controller.quorum.voters and "
            "controller.listener.names; if it has them, see in its server.log why it does not reach the "
            f"controllers{rolled_back}"
        )
        if self.phase is MigrationPhase.FINALIZED:
            way_out = "restart the broker in KRaft mode: the controllers take none in ZooKeeper mode any more"
        return Consequence(
            "broker-runs-without-migration",
            STUCK,
            "a broker runs in ZooKeeper mode, and KRaft's controller counts it as down",
            (f"{brokers(unknown)} in /brokers/ids, and fenced by KRaft's controller, or unknown to it",),
            "It gets no requests: its replicas are out of the ISR, and clients that ask it get outdated answers.",
            f"take another snapshot after a minute; if it shows the same, {way_out}",
            basis=SOURCE,
        )

    @staticmethod
    def _not_judged(*places: str) -> Consequence:
        return Consequence(
            "not-judged",
            UNKNOWN,
            "what the snapshot does not show, or the forecast does not cover",
            places,
            "A migration is only as safe as what is known of it.",
            "copy __cluster_metadata-0 of a controller, and take a snapshot of all topics with all log directories of "
            "all brokers",
        )
