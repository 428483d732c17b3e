"""Where a captured cluster is in its migration to KRaft, what would go wrong next, and what a rollback would lose.

What counts is KRaft's image: ZooKeeper has a copy of it, which KRaft's controller writes after each change. Without the
image only ZooKeeper and the disks are compared.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum

from attrs import evolve

from kwalk.invariants import migration
from kwalk.model.kafka.migration.log_manager import Fate
from kwalk.model.kafka.migration.partition_registration import PartitionRegistration
from kwalk.model.kafka.snapshots.capture import (
    Capture,
    CapturedImage,
    CapturedImagePartition,
    CapturedImageTopic,
    CapturedPartitionState,
    Directory,
    Topic,
    topic_label,
)
from kwalk.model.kafka.snapshots.diagnosis import MOST_NAMES, brokers, listed, lost_topics, not_shown
from kwalk.model.kafka.snapshots.former_logs import LogOrigin, set_aside_logs
from kwalk.model.kafka.snapshots.migrating import MigratingTopic, after_a_failure, compares, fits, topics_of
from kwalk.model.kafka.snapshots.migration import DocumentedMigration
from kwalk.model.kafka.snapshots.procedures import START, STOP, znode_content
from kwalk.model.language.inspection import Consequence, Prognosis, Prospect

LOSES, STUCK, WAITS, UNKNOWN, READY = Prognosis
PAGE = "docs/how-to/migrate-to-kraft.md"
SOURCE = "Read in Kafka's source; not tried on brokers."
RECOVER = "`kwalk diagnose --plan` plans what to write to ZooKeeper, and whether to restart KRaft's controller"
COMPARISON = (migration.comparison_ends, migration.zookeeper_catches_up)


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
    if capture.image is not None and capture.image.state == "POST_MIGRATION":
        return MigrationPhase.FINALIZED
    if capture.is_kraft:
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


def _has_another_isr(state: CapturedPartitionState, partition: CapturedImagePartition) -> bool:
    return state.leader_epoch == partition.leader_epoch and set(state.isr) != set(partition.isr)


class _Migrating:
    """Judges a capture of a cluster that migrates."""

    def __init__(self, capture: Capture, phase: MigrationPhase, damage: Sequence[str]) -> None:
        self.capture, self.phase, self.image, self.damage = capture, phase, capture.image, damage

    def consequences(self) -> Iterator[Consequence]:
        yield from self._without_ids()
        yield from self._next_controller()
        if self.image is not None:
            yield from self._lost()
            yield from self._rollback(self.image)
            yield from self._epochs()
            yield from self._strays()
            yield from self._modes(self.image)
        elif self.phase is not MigrationPhase.COPYING:
            yield self._not_judged("the snapshot has no image of KRaft: what it has is not compared with the logs")
        yield from self._set_aside()
        lacking = (*not_shown(self.capture), *self.damage)
        if lacking:
            yield self._not_judged(*lacking)

    def notes(self) -> Iterator[str]:
        image, migration = self.image, self.capture.migration
        if migration is not None:
            yield f"/migration: ZooKeeper has what KRaft's log has up to offset {migration.offset}."
        if image is not None:
            state = "not said" if image.state is None else image.state
            yield f"KRaft's log ends at offset {image.end_offset}; its state of the migration: {state}."

    # All topics.

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

    # ZooKeeper.

    def _without_ids(self) -> Iterator[Consequence]:
        """Topics whose znode has no id: KRaft's controller reads all of them at its next start, and fails."""
        names = [topic for topic in self.capture.topics.values() if topic.topic_id is None and topic.partitions]
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
        if self.image is None or self.image.state != "MIGRATION":
            return
        is_unrecorded = self.capture.migration is not None and self.capture.migration.offset < 0
        if not compares(self.capture.version):
            yield from [] if is_unrecorded else [self._copies_again()]
        elif self.capture.migration is not None and is_unrecorded:
            yield self._unrecorded(self.capture.migration.offset)
        else:
            yield from self._comparison()

    @staticmethod
    def _unrecorded(offset: int) -> Consequence:
        return Consequence(
            "copy-was-not-recorded",
            STUCK,
            "KRaft's log says that the migration has begun, and /migration that there is no copy",
            (f"/migration: kraft_metadata_offset {offset}",),
            "Unless the copy has ended this moment, KRaft's controller has failed between two writes. The next one "
            "stays inactive, while /controller names it: no broker gets requests, and no leader is elected.",
            f"take another snapshot; if it shows the same: {RECOVER}",
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
            yield Consequence(
                "rollback-loses",
                LOSES,
                "ZooKeeper does not have what KRaft has: a rollback would lose it",
                tuple(places),
                "After a rollback the cluster goes on with what ZooKeeper has. KRaft writes each change to ZooKeeper; "
                "what is not there was changed since, or a write failed.",
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
                elif state is not None and _has_another_isr(state, partition):
                    members = listed([str(b) for b in sorted(partition.isr)])
                    had = listed([str(b) for b in sorted(state.isr)])
                    yield f"{label}-{number}: has the ISR {members} in KRaft, and {had} in ZooKeeper"
                if state is not None and state.leader_epoch < partition.leader_epoch:
                    was = f"leader epoch {partition.leader_epoch} in KRaft, and {state.leader_epoch} in ZooKeeper"
                    yield f"{label}-{number}: {was}"
        for name in self.capture.topics.keys() - image.topics.keys():
            yield f"{topic_label(name)}: is in ZooKeeper only, and does not exist for brokers"

    def _epochs(self) -> Iterator[Consequence]:
        """State znodes with a controller epoch above ZooKeeper's: its controllers write none of them."""
        epoch = self.capture.controller_epoch
        ahead = [
            f"{topic_label(topic.name)}-{number}"
            for topic in self.capture.topics.values()
            for number, state in topic.states.items()
            if state.controller_epoch > epoch
        ]
        if ahead and self.phase is not MigrationPhase.FINALIZED:
            yield Consequence(
                "rollback-stops-elections",
                STUCK,
                "after a rollback ZooKeeper's controller elects no leader of these partitions",
                (f"/controller_epoch is {epoch}; state znodes have a higher one: {listed(ahead)}",),
                "KRaft writes the epoch of its quorum into the state znodes. A controller of ZooKeeper mode with a "
                "lower epoch takes itself for deposed, and aborts their elections (KAFKA-20488).",
                "after a rollback, delete /controller again and again, until /controller_epoch is above: `kwalk "
                "recover` plans the rollback",
                basis="Seen on brokers of 3.9.0, with the way out.",
            )

    # Logs.

    def _strays(self) -> Iterator[Consequence]:
        """Logs that have no place in the image: brokers that are not in KRaft mode yet remove them when they are."""
        rules, topics = DocumentedMigration(self.capture.version), {t.name: t for t in topics_of_kraft(self.capture)}
        places = []
        for broker in self.capture.brokers.values():
            if broker.mode == "kraft" or not broker.seen:
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
                    wants = f"KRaft has {known.topic_id}" if known is not None else "KRaft does not have the topic"
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
                "keep the directory: move it away while the broker is stopped, before it starts in KRaft mode. If the "
                "topic's id was erased, write KRaft's id into partition.metadata there, on every replica",
                (*STOP, "mv DIRECTORY BACKUP   # in LOG_DIR", *START),
                "Seen on brokers of 3.9.0 (set aside) and 3.5.2 (deleted).",
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
        left = [b for b in image.registered if b in image.migrating]
        ready = [b for b in image.registered if b not in image.migrating]
        if self.phase is MigrationPhase.FINALIZED and left:
            yield Consequence(
                "finalized-too-early",
                STUCK,
                "the migration was ended while brokers are in ZooKeeper mode",
                (f"{brokers(left)} in ZooKeeper mode, {brokers(ready)} in KRaft mode",),
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
        gone = sorted(b for b in needed - unknown if b not in image.registered or b in image.fenced)
        if gone:
            yield Consequence(
                "broker-is-fenced",
                WAITS,
                "a broker with replicas is not there, or fenced",
                (brokers(gone),),
                "KRaft counts it as down.",
                "start it, as `kwalk diagnose` says, before brokers restart in KRaft mode: each restart takes one "
                "replica more away",
            )
        if self.phase is MigrationPhase.DUAL_WRITE and left:
            yield Consequence(
                "brokers-in-zookeeper-mode",
                READY,
                "brokers are to restart in KRaft mode",
                (f"{brokers(left)} in ZooKeeper mode" + (f", {brokers(ready)} in KRaft mode" if ready else ""),),
                "The migration goes on when they do. It can be rolled back until the controllers run without the flag.",
                "restart them one at a time, and wait until no partition is under-replicated before the next",
            )

    @staticmethod
    def _unknown(unknown: set[int], image: CapturedImage) -> Consequence:
        """Brokers that run in ZooKeeper mode without the migration, so that KRaft's controller has no part of them."""
        rolled_back = (
            ". All brokers are so: if the migration was rolled back, /controller is still that of KRaft, and no broker "
            "becomes the controller: with KRaft's controllers stopped, delete /controller and /migration"
        ) * (unknown >= {*image.registered})
        return Consequence(
            "broker-runs-without-migration",
            STUCK,
            "a broker runs in ZooKeeper mode, and KRaft's controller counts it as down",
            (f"{brokers(unknown)} in /brokers/ids, and fenced by KRaft's controller, or unknown to it",),
            "It gets no requests: its replicas are out of the ISR, and clients that ask it get outdated answers.",
            "take another snapshot after a minute; if it shows the same, restart the broker with "
            "zookeeper.metadata.migration.enable, controller.quorum.voters and controller.listener.names; if it has "
            f"them, see in its server.log why it does not reach the controllers{rolled_back}",
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
