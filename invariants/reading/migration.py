"""What a migration to KRaft would do to a captured cluster: which topics it empties, what it waits for, what stops it.

Each consequence follows from what the roll and the copy make of a partition (`kwalk.model.kafka.snapshots.migration`),
or from who takes part. What an inspection finds wrong beside that is not judged: a migration begins with a cluster that
is consistent.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from attrs import evolve, frozen

from kwalk.invariants.reading.finding_kinds import OF_MIGRATION, REQUEST_WAITS
from kwalk.invariants.reading.migrating import (
    PAGE,
    SOURCE,
    MigrationPhase,
    is_led_by_kraft,
    migrating_prospect,
    of_copies,
    of_directories,
    of_requests,
    of_unidentified_logs,
    outdated_members,
    phase_of,
    unidentified_copies,
)
from kwalk.model.kafka.migration.log_manager import Fate
from kwalk.model.kafka.migration.versions import LAST_RELEASE
from kwalk.model.kafka.snapshots.at_rest import Observed, Situations
from kwalk.model.kafka.snapshots.capture import METADATA_LOG, Capture, CapturedImage, Topic, topic_label
from kwalk.model.kafka.snapshots.diagnosis import (
    MOST_NAMES,
    brokers,
    each,
    failing_failovers,
    later_than_deletion,
    listed,
    not_shown,
)
from kwalk.model.kafka.snapshots.migrating import compares
from kwalk.model.kafka.snapshots.migration import (
    Migrated,
    can_migrate,
    documented_migration,
    known_faults,
    least_protocol,
    refuses_authorizers,
)
from kwalk.model.kafka.snapshots.procedures import MOST_CONFIGURED, stop_script
from kwalk.model.language.inspection import Consequence, Inspection, Prognosis, Prospect, Severity

LOSES, STUCK, WAITS, UNKNOWN, READY = Prognosis
RECOVER = "kwalk diagnose SNAPSHOT --plan"
REPAIR = "repair the topic first; `kwalk diagnose --plan` has the plan. Then take a new snapshot, and diagnose it"
START_THEM = "start the brokers, or move their replicas to others"
FOLLOW = "follow `kwalk diagnose --plan`: whether a broker may start depends on the logs that it has"
MOVE = "bin/kafka-reassign-partitions.sh --bootstrap-server BROKER --reassignment-json-file REPLICAS --execute"
STRAY_LINE = "server.log, WARN: Log for partition … is marked as stray and renamed to …-stray"


@frozen
class _Partition:
    """A partition of a capture after the migration, in one of the states that it may be in."""

    name: str
    topic: Topic
    partition: int
    observed: Observed
    migrated: Migrated
    fates: Mapping[int, Fate]
    """By number of the broker, of logs with records."""
    certain: bool
    losing: frozenset[int] = frozenset()
    """The brokers that lose their log, also one that is empty yet, or is made, and copied, before."""

    def brokers(self, numbers: Iterable[int]) -> str:
        return brokers(self.observed.named(numbers))

    def id_of(self, number: int | None) -> str:
        """Return a topic id in words; the roll mints those that the capture lacks."""
        if number is None:
            return "no topic id"
        known = self.observed.ids
        return f"the id {known[number]}" if number < len(known) else "a new id"

    @property
    def gone(self) -> tuple[int, ...]:
        """The brokers whose log is not kept."""
        return tuple(number for number, fate in self.fates.items() if fate is not Fate.KEPT)

    @property
    def is_emptied(self) -> bool:
        """Whether the leader's log, or every log of the ISR, is not kept: the others copy an empty log."""
        registered = self.migrated.registered
        if registered is None or not self.gone:
            return False
        held = registered.isr & self.migrated.hosts
        return registered.leader in self.losing or (bool(held) and held <= self.losing)

    def logs(self, numbers: Iterable[int]) -> str:
        """Return who has which log, and what becomes of it."""
        known = sorted(numbers, key=lambda b: (self.fates[b].value, str(self.migrated.logs[b]), b))
        parts = []
        for (fate, identity), found in groupby(known, key=lambda b: (self.fates[b], self.migrated.logs[b])):
            holders = list(found)
            one = len(holders) == 1
            what = (
                fate.value if one else fate.value.replace("is ", "are ", 1).replace("the broker starts", "they start")
            )
            has = f"the log of {self.brokers(holders)} has" if one else f"the logs of {self.brokers(holders)} have"
            parts.append(f"{has} {self.id_of(identity)}, and {what}")
        return "; ".join(parts)


def migration_prospect(capture: Capture, inspection: Inspection) -> tuple[Prospect, ...]:
    """Return what a migration would do to the cluster of a capture, or what awaits one that migrates."""
    if is_led_by_kraft(capture):
        return (migrating_prospect(capture, _damage(inspection, OF_MIGRATION)),)
    return (_Forecast(capture, inspection).prospect(),)


def _damage(inspection: Inspection, but: Collection[str] = ()) -> list[str]:
    """Return what an inspection finds wrong, but for kinds of which more is said."""
    worse = (kind for kind in inspection.by_kind() if kind.severity is not Severity.NOTE)
    return [f"{kind.severity.value}: {kind.title} ({kind.name})" for kind in worse if kind.name not in but]


def _is_rolled(capture: Capture) -> bool:
    """Whether all brokers run with the migration enabled: what is left before the copy restarts none of them."""
    modes = {broker.mode if broker.id in capture.live else None for broker in capture.brokers.values()}
    return phase_of(capture) is MigrationPhase.WAITING and modes == {"migrating"} and not _has_begun(capture)


def _has_begun(capture: Capture) -> bool:
    """Whether the log of KRaft's controllers has a migration; in 3.4 the number of the state has another meaning."""
    is_begun = capture.image is not None and capture.image.state in ("MIGRATION", "POST_MIGRATION")
    return is_begun and compares(capture.version)


class _Forecast:
    """Forecasts the migration of a capture."""

    def __init__(self, capture: Capture, inspection: Inspection) -> None:
        self.capture, self.inspection = capture, inspection
        self.is_rolled = _is_rolled(capture)
        self.situations = Situations(capture)
        self.migration = documented_migration(capture.version, is_rolled=self.is_rolled)
        self.unjudged: list[str] = []
        copies = {broker.id: unidentified_copies(broker) for broker in capture.brokers.values()}
        self.unidentified: dict[int, list[str]] = {number: names for number, names in copies.items() if names}
        migrated = list(self._migrated())  # before fates: whether all logs of a broker are identified decides them
        self.partitions = [self._with_fates(one) for one in migrated]

    def prospect(self) -> Prospect:
        found = [
            *self._release(),
            *self._protocol(),
            *self._skipped(),
            *self._emptied(),
            *self._set_aside(),
            *self._left_over(),
            *self._deletions(),
            *of_unidentified_logs(self.migration, self.unidentified),
            *of_copies(self.capture, self.capture.topics.values()),
            *self._topic_ids(),
            *self._waits(),
            *self._unregistered(),
            *of_directories(self.capture),
            *self._name_of_metadata_log(),
            *self._reassignments(),
            *self._requests(),
        ]
        found += self._not_judged(found)
        found += self._settings(found)
        return Prospect(
            "migration",
            "If it migrated to KRaft now",
            tuple(sorted(found, key=lambda one: one.prognosis.rank)),
            ready="Every topic has the id of its logs, every broker that is needed is up, and no log is left over.",
            notes=tuple(self._notes()),
            story=PAGE,
        )

    # What the roll and the copy make of each partition.

    def _migrated(self) -> Iterator[_Partition]:
        lost = self.situations.orphaned()
        for name in [*self.capture.topics, *(name for name in lost if name not in self.capture.topics)]:
            topic = self.capture.topics.get(name) or Topic(name, {}, None, 3, 0)
            for partition in sorted({*topic.partitions, *topic.states, *lost.get(name, {})}):
                yield from self._partition(topic, partition)

    def _partition(self, topic: Topic, partition: int) -> Iterator[_Partition]:
        name = f"{topic_label(topic.name)}-{partition}"
        observed = self.situations.fitting(topic, partition)
        found = None if observed is None else self.migration.migrated(observed.situation)
        if observed is None or found is None:
            self.unjudged.append(name)
            return
        for one in found:
            yield _Partition(name, topic, partition, observed, one, {}, certain=len(found) == 1)
            for broker in observed.named(one.unidentified):
                names = self.unidentified.setdefault(broker, [])
                if name not in names:
                    names.append(name)

    def _with_fates(self, one: _Partition) -> _Partition:
        if self._lacks_topic_id(one):
            return one  # nothing happens to its logs while the migration waits
        identified = tuple(broker not in self.unidentified for broker in one.observed.brokers)
        fates = self.migration.fates(one.migrated, identified)
        has_records = {b: fate for b, fate in fates.items() if not self._is_empty(one, b)}
        return evolve(one, fates=has_records, losing=frozenset(b for b in fates if fates[b] is not Fate.KEPT))

    def _lacks_topic_id(self, one: _Partition) -> bool:
        """Whether the copy meets a topic without id; a roll mints one, where it has not ended."""
        exists = one.partition in one.topic.partitions and not self._is_deleted(one)
        return exists and one.migrated.topic_id is None

    def _is_empty(self, one: _Partition, number: int) -> bool:
        hosts = one.observed.named([number])
        logs = (self.capture.directory(broker, one.topic.name, one.partition) for broker in hosts)
        return all(log is None or log.is_empty is True for log in logs)

    # Logs.

    def _emptied(self) -> Iterator[Consequence]:
        found = [one for one in self._worst() if one.is_emptied and not self._is_deleted(one)]
        if not found:
            return
        minted = sorted({topic_label(one.topic.name) for one in found if one.migrated.is_minted})
        names = sorted({topic_label(one.topic.name) for one in found})
        mint = (
            f" The znode of {listed(minted)} has no id: the roll restarts the controller's broker, and the next "
            "controller mints one."
        )
        yield Consequence(
            "topic-is-emptied",
            LOSES,
            f"a topic loses its records: {listed(names)}",
            tuple(f"{one.name}: {self._copied(one)}; {one.logs(one.gone)}" for one in found),
            f"KRaft takes over the id in ZooKeeper, and the logs have another one: {self._what_becomes()}. The leader "
            "begins an empty log, its followers copy that, and the topic is served, empty; produce and consume work."
            + mint
            * bool(minted),
            REPAIR,
            (RECOVER,),
            "Seen on brokers of 3.5.2 (deleted), 3.6.2 and 3.9.0 (set aside).",
            STRAY_LINE,
        )

    def _copied(self, one: _Partition) -> str:
        return f"KRaft copies {one.id_of(one.migrated.topic_id)}"

    def _what_becomes(self) -> str:
        """Return what becomes of logs with another id, in the release of the migration."""
        fates = {fate for one in self.partitions for number, fate in one.fates.items() if number in one.gone}
        texts = {
            Fate.SET_ASIDE: "in dual write, brokers rename their directories to …-stray",
            Fate.SET_ASIDE_AT_START: "brokers that start in KRaft mode rename their directories to …-stray",
            Fate.DELETED_AT_START: "brokers that start in KRaft mode delete them after file.delete.delay.ms, a minute",
        }
        return "; ".join(text for fate, text in texts.items() if fate in fates)

    def _set_aside(self) -> Iterator[Consequence]:
        """Logs of replicas of partitions whose leader keeps its log."""
        found = [one for one in self._worst() if one.migrated.registered is not None and not one.is_emptied]
        replicas = [(one, self._replicas(one)) for one in found if self._replicas(one) and not self._is_deleted(one)]
        if replicas:
            yield Consequence(
                "replica-starts-empty",
                LOSES,
                "a replica loses its log, and copies the leader's",
                tuple(f"{one.name}: {self._copied(one)}; {one.logs(numbers)}" for one, numbers in replicas),
                f"The log has another topic id than KRaft: {self._what_becomes()}. The records of the partition are on "
                "the other replicas; an ISR member that begins empty loses them if it is elected before it has copied "
                "them.",
                REPAIR,
                (RECOVER,),
                SOURCE,
                STRAY_LINE,
            )

    @staticmethod
    def _replicas(one: _Partition) -> tuple[int, ...]:
        registered = one.migrated.registered
        return tuple(b for b in one.gone if registered is not None and b in registered.replicas)

    def _left_over(self) -> Iterator[Consequence]:
        """Logs of partitions that are not in the image, and logs on brokers that are no replicas."""
        found = []
        for one in self._worst():
            registered = one.migrated.registered
            strays = tuple(b for b in one.gone if registered is None or b not in registered.replicas)
            if strays and not self._is_deleted(one):
                why = "is no replica" if registered is not None else "no topic in ZooKeeper has the partition"
                found.append(f"{one.name}: {why}; {one.logs(strays)}")
        if found:
            yield Consequence(
                "left-over-log-goes",
                LOSES,
                "a log is removed that no partition has",
                tuple(found),
                f"It may be the only copy of its records: {self._what_becomes()}.",
                "look whether anybody needs the records; `kwalk diagnose --plan` says how the log is taken into use, "
                "or moved away while the broker is stopped",
                (RECOVER,),
                SOURCE,
                STRAY_LINE,
            )

    def _worst(self) -> list[_Partition]:
        """Return each partition once, in the worst of the states that it may be in."""
        ordered: dict[str, _Partition] = {}
        for one in self.partitions:
            before = ordered.get(one.name)
            if before is None or (one.is_emptied, len(one.gone)) > (before.is_emptied, len(before.gone)):
                ordered[one.name] = one
        return list(ordered.values())

    def _is_deleted(self, one: _Partition) -> bool:
        return one.topic.name in self.capture.deleting

    # Deletions and reassignments.

    def _deletions(self) -> Iterator[Consequence]:
        left: dict[str, _Partition] = {}
        for one in self.partitions:
            if self._is_deleted(one) and (one.migrated.hosts or one.migrated.registered is not None):
                left.setdefault(topic_label(one.topic.name), one)
        way_out = "let the deletion end: start the brokers that it waits for, or follow `kwalk diagnose --plan`"
        if any(later_than_deletion(self.capture, one.topic) for one in left.values()):
            way_out = "see whose records the logs are, which may be later than the mark, as `kwalk diagnose` says"
        waiting = [
            topic_label(t.name) for t in self.capture.topics.values() if t.name in self.capture.deleting and t.moving
        ]
        forgotten = [name for name, one in left.items() if one.migrated.registered is not None]
        if forgotten:
            yield Consequence(
                "deletion-is-forgotten",
                LOSES,
                "a topic that is to be deleted comes back",
                tuple(forgotten),
                "Up to 3.6.0 KRaft copies a topic that is in /admin/delete_topics like any other, and does not know "
                "that it is to be deleted: it is served again with what is left of its logs (KAFKA-15605).",
                way_out,
                (RECOVER,),
                SOURCE,
            )
        unfinished = [name for name, one in left.items() if one.migrated.registered is None]
        if self._setting("leaves_deletions_out"):  # what is moved is not deleted before that ends
            unfinished += [name for name in waiting if name not in left]
        if unfinished:
            yield Consequence(
                "deletion-is-left",
                LOSES,
                "a deletion is not finished: its logs become strays",
                tuple(unfinished),
                "KRaft does not copy a topic that is in /admin/delete_topics, and removes its znodes. Its logs are set "
                "aside or deleted as strays; the broker that restarted last may keep its log, and then refuses a topic "
                "that is created under the name, until it starts in KRaft mode.",
                way_out,
                (RECOVER,),
                "Seen on brokers of 3.6.2 and 3.9.0.",
                "controller.log, WARN: Found … pending topic deletions. These will be not migrated to KRaft.",
            )

    def _reassignments(self) -> Iterator[Consequence]:
        without = self.capture.deleting if self._setting("leaves_deletions_out") else ()
        copied = (topic for topic in self.capture.topics.values() if topic.name not in without)
        moving = [f"{topic_label(topic.name)}-{number}" for topic in copied for number in topic.moving]
        if not moving:
            return
        yield Consequence(
            "reassignment-is-copied",
            READY,
            "a reassignment is under way",
            tuple(moving),
            "It is copied, and goes on under KRaft. Up to 3.6.1 brokers in ZooKeeper mode keep the logs of replicas "
            "that it removes (KAFKA-16120).",
            "better wait until it has ended, or cancel it",
            ("bin/kafka-reassign-partitions.sh --bootstrap-server BROKER --list",),
            "Seen on brokers of 3.4.1, 3.5.2, 3.6.2 and 3.9.0: it ended in KRaft mode, and no record was lost.",
        )

    def _requests(self) -> Iterator[Consequence]:
        """Requests of clients in ZooKeeper: the roll fails the controller over, which handles them."""
        capture = self.capture
        failing = failing_failovers(capture)
        if failing and not self.is_rolled:
            yield Consequence(
                "failover-fails",
                STUCK,
                "the roll leaves the cluster without a controller",
                tuple(f"{topic_label(name)}-{number} never had a leader" for name, number in failing),
                "The roll restarts the controller's broker. Each broker that is elected then gives up at once, as a "
                "request names a partition that never had a leader.",
                "see to that first: `kwalk diagnose` says how",
                basis=SOURCE,
                log="controller.log, ERROR: … Trigger controller movement immediately",
            )
        moving = {(topic.name, number) for topic in capture.topics.values() for number in topic.moving}
        waits = bool(capture.reassignments - moving) and not self.is_rolled
        then = (
            "When the roll fails the controller over, it moves the replicas, to brokers that the snapshot does not "
            "show."
        )
        yield from of_requests(capture, UNKNOWN if waits else READY, then * waits)

    # Brokers.

    def _topic_ids(self) -> Iterator[Consequence]:
        """Topics without id after the roll (ZkTopicMigrationClient.iterateTopics: topicIdOpt.get)."""
        found = [one.topic for one in self.partitions if self._lacks_topic_id(one)]
        if self.is_rolled:  # a roll mints those of topics without partitions
            found += [one for one in self.capture.topics.values() if not one.partitions and one.topic_id is None]
        if not found:
            return
        waits = self._setting("waits_for_topic_ids")
        then = (
            "KRaft's controller fails at it in each poll, and ZooKeeper's controller goes on"
            if waits
            else "KRaft's controller takes /controller, fails to copy it, and begins again, each second: the cluster "
            "has no controller"
        )
        yield Consequence(
            "topic-id-is-missing",
            WAITS if waits else STUCK,
            "the copy waits for the id of a topic",
            tuple(dict.fromkeys(f"the znode of {topic_label(one.name)} has no topic id" for one in found)),
            f"{then}. The copy continues when the topic has an id. If ZooKeeper's controller fails over before, it "
            "mints one, and logs that have another are set aside or deleted.",
            "restart no broker; `kwalk diagnose --plan` says which id to write",
            (RECOVER,),
            "Seen on brokers of 3.6.2 and 3.9.0, with the way out." if waits else SOURCE,
            "controller.log of the KRaft controller, ERROR: Unhandled error in WaitForZkBrokersEvent, "
            "java.util.NoSuchElementException: None.get" * bool(waits),
        )

    def _waits(self) -> Iterator[Consequence]:
        """Every broker in an assignment has to register (KRaftMigrationDriver.areZkBrokersReadyForMigration)."""
        capture, needed = self.capture, dict[int, list[str]]()
        for topic in capture.topics.values():
            if topic.name in capture.deleting and self._setting("leaves_deletions_out"):
                continue
            for number, replicas in topic.partitions.items():
                for broker in replicas:
                    needed.setdefault(broker, []).append(f"{topic_label(topic.name)}-{number}")
        up = set(capture.live) & set(capture.registered)
        waiting = {broker: names for broker, names in sorted(needed.items()) if broker not in up}
        if waiting:
            yield Consequence(
                "broker-is-waited-for",
                WAITS,
                f"KRaft's controller waits for {brokers(waiting)}",
                tuple(
                    f"broker {b} is {'not in /brokers/ids' if b in capture.live else 'down'} and has replicas: "
                    f"{listed(names)}"
                    for b, names in waiting.items()
                ),
                "The migration begins when every broker that an assignment names has registered with KRaft's "
                "controllers; until then ZooKeeper mode goes on, and the log has a line at INFO only.",
                START_THEM if self.inspection.severity is Severity.NOTE else FOLLOW,
                (MOVE + " --additional" * self.capture.is_moving,)
                if self.inspection.severity is Severity.NOTE
                else (RECOVER,),
                "Seen on brokers of 3.9.0; it went on when the replicas were moved to other brokers.",
                "controller.log of the KRaft controller, INFO: Still waiting for ZK brokers … found in metadata to "
                "register with KRaft.",
            )

    def _unregistered(self) -> Iterator[Consequence]:
        """Brokers that KRaft's controllers, which run already, do not know; and controllers that do not migrate."""
        image, capture = self.capture.image, self.capture
        if image is None:
            return
        names = sorted(map(topic_label, image.topics))
        if image.state == "NONE":
            yield Consequence(
                "controllers-do-not-migrate",
                STUCK,
                "KRaft's controllers were started without the migration",
                ("KRaft's log says NONE" + f", and has topics: {listed(names[:MOST_NAMES])}" * bool(names),),
                "They do not copy ZooKeeper's content, then or later. A broker that starts in KRaft mode finds none of "
                "its topics there, and removes its logs, or sets them aside."
                + " Topics that KRaft has are those of another cluster, or were written by brokers in KRaft mode."
                * bool(names),
                "start no broker in KRaft mode. "
                + "If nobody needs the records of the topics that only KRaft has: " * bool(names)
                + "Stop the controllers, empty their log directories, format them again, "
                "and start them with zookeeper.metadata.migration.enable before the brokers",
            )
            return
        yield from self._earlier_attempt(image, names)
        missing = [b for b in capture.registered if b not in image.migrating]
        if missing and image.state == "PRE_MIGRATION":
            yield Consequence(
                "broker-is-not-registered",
                WAITS,
                f"{brokers(missing)} {each(missing, 'is', 'are')} not registered with KRaft's controllers",
                (f"{listed([str(b) for b in missing])} in /brokers/ids, and no broker that migrates in KRaft's image",),
                "The migration begins when every broker has registered; until then ZooKeeper mode goes on.",
                "restart each broker with zookeeper.metadata.migration.enable, controller.quorum.voters and "
                "controller.listener.names; if it has them, see in its server.log why it does not reach the "
                "controllers, or is refused: its inter.broker.protocol.version has to be their metadata.version, and "
                "it needs a listener of the name that is their inter.broker.listener.name",
                log="controller.log of the KRaft controller, INFO: No brokers are known to KRaft, waiting for brokers "
                "to register. (Or: Still waiting for ZK brokers … to register with KRaft.)",
            )

    def _earlier_attempt(self, image: CapturedImage, names: Sequence[str]) -> Iterator[Consequence]:
        """What the log of KRaft's controllers has of an attempt that did not end, or was rolled back.

        Source: KRaftMigrationDriver.WaitForControllerQuorumEvent; ReplicationControlManager.replay(TopicRecord): from
        3.6.0 on it refuses a topic that the log has; QuorumController.ZkMigrationConsumer.
        """
        other = sorted({*image.topics} - {*self.capture.topics})
        is_refused = bool(self._setting("copy_is_transaction"))  # since the same release
        is_left = phase_of(self.capture) is MigrationPhase.LEFT and image.state == "MIGRATION"
        if _has_begun(self.capture) and not is_left:
            yield Consequence(
                "controllers-have-an-earlier-attempt",
                WAITS,
                "KRaft's controllers have the log of an earlier attempt: they do not begin another one",
                (f"KRaft's log says {image.state}", *self._older_image()),
                "Each stays inactive, and ZooKeeper's controller goes on. A broker that starts in KRaft mode gets the "
                "topics of that attempt, and removes logs of others, or sets them aside.",
                "start no broker in KRaft mode. If no broker is: stop KRaft's controllers, empty and format their log "
                "directories, and start them with zookeeper.metadata.migration.enable",
                basis=SOURCE,
                log="controller.log of KRaft, ERROR: KRaft controller indicates an active migration, but the ZK state "
                "does not. (Or: … a completed migration, but the migration driver is somehow active.)",
            )
        elif image.state == "PRE_MIGRATION" and names and (is_refused or other):
            yield Consequence(
                "part-of-a-copy-is-left",
                STUCK if is_refused else LOSES,
                "KRaft's log has a part of a copy that did not end",
                (f"KRaft's log has topics before the copy: {listed(names[:MOST_NAMES])}",),
                "Without transactions of the metadata log (metadata.version below 3.6-IV1) the records of a copy that "
                "failed stay. "
                + (
                    "The next copy fails at the first topic that the log has, when /controller is taken already: the "
                    "cluster has no controller."
                    if is_refused
                    else f"Topics that were deleted since come back: {listed([topic_label(n) for n in other])}."
                ),
                "stop KRaft's controllers, empty and format their log directories, with metadata.version 3.6 or later "
                "if the release has it, and start them again",
                basis=SOURCE,
                log="controller.log of KRaft: Found duplicate TopicRecord for …" * is_refused,
            )

    def _name_of_metadata_log(self) -> Iterator[Consequence]:
        """A topic whose directory is that of KRaft's log.

        Source: KafkaRaftManager.maybeDeleteMetadataLogDir (since 3.7.1), createDataDir; KafkaApis.createTopics (3.3.2).
        """
        name, _, number = METADATA_LOG.rpartition("-")
        topic = self.capture.topics.get(name)
        if topic is not None and int(number) in topic.partitions:
            yield Consequence(
                "topic-has-the-name-of-krafts-log",
                LOSES,
                "a topic has the name of KRaft's metadata log",
                (METADATA_LOG,),
                "A broker that starts with the migration enabled uses its directory for KRaft's log: from 3.7.1 on it "
                "deletes what is there, and before, it takes that for KRaft's records.",
                "copy its records into another topic, and delete it",
                basis=SOURCE,
            )

    # What is known.

    def _release(self) -> Iterator[Consequence]:
        if not can_migrate(self.capture.version):
            yield Consequence(
                "release-cannot-migrate",
                WAITS,
                f"brokers of {self.capture.version} cannot migrate",
                (f"the brokers run Kafka {self.capture.version}",),
                f"Releases from 3.4.0 to 3.9.2 can. What else is said here is of {self.migration.release}.",
                f"upgrade the brokers to {self.migration.release} first, and inspect again",
                basis="Kafka's documentation.",
            )

    def _protocol(self) -> Iterator[Consequence]:
        """Controllers send ids from inter.broker.protocol.version 2.8 on; below 3.4 brokers do not start to migrate.

        Source: KafkaConfig.usesTopicId; ControllerChannelManager (versions of LeaderAndIsr and UpdateMetadata).
        """
        capture, topics = self.capture, self.capture.topics.values()
        caches = (broker.cache for broker in capture.brokers.values() if broker.alive and broker.cache)
        answered = {identity for cache in caches for identity in cache.topic_ids.values()}
        logs = [one for b in capture.brokers.values() if b.seen for one in b.directories.items()]
        held = {name.rpartition("-")[0] for name, log in logs if log.topic_id}
        is_answered, has_any = answered == {None}, bool(held) or any(topic.topic_id for topic in topics)
        if not (is_answered or (topics and not answered and not has_any)) or self.is_rolled:
            return
        if not can_migrate(capture.version):
            return
        shown = "brokers answer with the id of no topic" if is_answered else "no topic has an id, in ZooKeeper or a log"
        lost = [topic_label(topic.name) for topic in topics if topic.topic_id is None and topic.name in held]
        first = f"first write the topic id of {listed(lost)}, which the logs have; then " * bool(lost)
        yield Consequence(
            "protocol-is-too-old",
            WAITS,
            "brokers do not start with the migration enabled: inter.broker.protocol.version is below 2.8",
            (shown,),
            "A controller of this release gives each topic an id, and sends it, unless inter.broker.protocol.version "
            "is below 2.8; below 3.4 a broker ends when it starts with the migration enabled.",
            f"{first}set inter.broker.protocol.version to the release of the brokers, restart them one after the "
            "other, and take a new snapshot: the first controller with it gives an id to each topic that has none",
            basis=SOURCE,
            log="server.log, ERROR: Cannot enable ZooKeeper migration without setting "
            "'inter.broker.protocol.version' to 3.4 or higher",
        )

    def _settings(self, consequences: Iterable[Consequence]) -> Iterator[Consequence]:
        """What to look up before the first restart, where nothing else is in the way.

        Source: KafkaConfig.validateValues; KafkaServer.startup (ibpAsFeature), ClusterControlManager.registerBroker:
        a broker registers for one metadata.version; ActivationRecordsGenerator.recordsForEmptyLog.
        """
        capture = self.capture
        if self.is_rolled or any(one.prognosis is not READY for one in consequences):
            return
        least = "3.7" if any(len(b.roots) > 1 for b in capture.brokers.values()) else least_protocol(capture.version)
        places = [
            f"inter.broker.protocol.version is at least {least} on every broker: below it, the broker ends as it "
            "starts, or the migration does not begin",
            "it is the metadata.version with which KRaft's controllers were formatted: a broker with another one does "
            "not register, and the migration waits; so it is with a cluster id that is not that of /cluster/id",
            "node.id of no controller of KRaft is the id of a broker: both share one range of ids",
            "KRaft's controllers have the inter.broker.listener.name of the brokers, to which they send requests, and "
            "password.encoder.secret; and zookeeper.connect with its chroot",
        ]
        if refuses_authorizers(capture.version):
            places.append("authorizer.class.name is not set: the broker ends as it starts (until 3.5.1)")
        generated = [broker for broker in capture.registered if broker > MOST_CONFIGURED]
        if generated:
            places.append(
                f"broker.id is set on {brokers(generated)}, and reserved.broker.max.id is not below it, or "
                f"broker.id.generation.enable is false: an id above {MOST_CONFIGURED} looks generated, with which a "
                "broker ends as it starts with the migration enabled (seen on 3.4.1 to 3.9.2)"
            )
        yield Consequence(
            "settings-are-not-shown",
            READY,
            "look at the settings of brokers, which a snapshot does not have",
            tuple(places),
            "No record is in danger: the broker that restarts first shows what is wrong. Restart the next one only "
            "when it is in /brokers/ids, and registered with KRaft's controllers.",
            "compare server.properties of each broker, and the output of kafka-configs.sh",
            ("bin/kafka-configs.sh --bootstrap-server BROKER --entity-type brokers --entity-name ID --describe --all",),
            SOURCE,
            "server.log, ERROR: Cannot enable ZooKeeper migration without setting 'inter.broker.protocol.version' to "
            "3.4 or higher. (Or: Unable to register because the broker does not support finalized version … of "
            "metadata.version.)",
        )
        yield from self._release_faults()

    def _release_faults(self) -> Iterator[Consequence]:
        """What migrations of the release do wrong, whatever the cluster is."""
        if faults := known_faults(self.capture.version):
            yield Consequence(
                "release-has-known-faults",
                READY,
                f"migrations of {self.capture.version} have faults that later releases do not have",
                faults,
                "The forecast is of a migration in which nothing fails, and nobody changes topics, quotas and ACLs.",
                f"upgrade the brokers to {LAST_RELEASE} first",
                basis="Kafka's source; docs/stories/migration-to-kraft.md.",
            )

    def _skipped(self) -> Iterator[Consequence]:
        """An earlier attempt has left /migration: the next one takes the copy for done."""
        if phase_of(self.capture) is MigrationPhase.LEFT and self.capture.migration is not None:
            offset = self.capture.migration.offset
            yield Consequence(
                "copy-is-skipped",
                LOSES,
                "an earlier attempt has left /migration: the next one copies nothing",
                (f"/migration has the offset {offset}, and KRaft does not have /controller", *self._older_image()),
                "KRaft's controller takes the copy for done. With new controllers its image is empty: it removes every "
                "topic from ZooKeeper (KAFKA-17146), brokers serve from what they remember, and do not start in KRaft "
                "mode. With the log of that attempt it writes over ZooKeeper what was then: topics that were created "
                "since are removed, deleted ones come back.",
                "if the migration was rolled back, stop KRaft's controllers, delete /migration, and empty and format "
                "their log directories, before the next attempt; only if ZooKeeper has not changed since KRaft lost "
                "/controller may they start with the log that they have",
                (
                    stop_script("on each controller of KRaft"),
                    "bin/zookeeper-shell.sh ZK get /migration",
                    "bin/zookeeper-shell.sh ZK delete /migration",
                ),
                "Seen on brokers of 3.9.0 with new controllers: all topics were gone from ZooKeeper, the logs stayed.",
            )

    def _older_image(self) -> Iterator[str]:
        """Yield what ZooKeeper has that KRaft's log, of an earlier attempt, does not have so."""
        capture, image = self.capture, self.capture.image
        if image is None or image.state not in ("MIGRATION", "POST_MIGRATION"):
            return
        created = [topic_label(name) for name in capture.topics if name not in image.topics]
        deleted = [topic_label(name) for name in image.topics if name not in capture.topics]
        later = [
            f"{topic_label(name)}-{number}"
            for name, topic in image.topics.items()
            for number, partition in topic.partitions.items()
            if name in capture.topics and number in (states := capture.topics[name].states)
            if states[number].leader_epoch > partition.leader_epoch
        ]
        found = ((created, "in ZooKeeper only"), (deleted, "in KRaft's log only"), (later, "with later leader epochs"))
        yield from (f"{what}: {listed(names)}" for names, what in found if names)

    def _not_judged(self, consequences: Iterable[Consequence]) -> list[Consequence]:
        capture, places = self.capture, list[str]()
        if self.unjudged:
            places.append(f"more than 7 brokers take part, or the model does not come to rest: {listed(self.unjudged)}")
        places += not_shown(capture)
        if not capture.shows_migration:
            places.append("The snapshot does not show /migration, which an earlier attempt may have left.")
        places += outdated_members(capture, capture.topics.values()).values()
        is_explained = any(map(self._lacks_topic_id, self.partitions))
        if not is_explained and not any(one.prognosis in (LOSES, STUCK) for one in consequences):
            places += _damage(self.inspection, (REQUEST_WAITS.name,))
        if not places:
            return []
        return [
            Consequence(
                "not-judged",
                UNKNOWN,
                "what the snapshot does not show, or the forecast does not cover",
                tuple(places),
                "A migration is only as safe as the cluster is consistent.",
                "repair what is wrong, take a snapshot of all topics with all log directories, and diagnose it (`kwalk "
                "collect --no-metadata` asks no broker)",
            )
        ]

    def _notes(self) -> Iterator[str]:
        roll = "every broker has restarted" if self.is_rolled else "every broker restarts, the controller's last"
        yield (
            f"The forecast is of the documented migration: {roll}, and no client older than 2.8 adds partitions, and "
            "no topic is deleted, until it has ended."
        )
        yield (
            "A snapshot does not show configurations, quotas, ACLs, inter.broker.protocol.version, or KRaft's "
            "controllers: nothing is said about them."
        )
        if self.capture.version_note:
            yield f"{self.capture.version_note} Patch releases differ in what migrations do."

    def _setting(self, name: str) -> bool | str:
        return self.migration.setting(name)
