"""Symptoms of a topic in a capture: which replicas refuse the controller, and which leaders never took up their epoch.

Words: an id is *foreign* to a replica when its partition.metadata names another topic id than ZooKeeper does; such a
replica refuses every LeaderAndIsr (INCONSISTENT_TOPIC_ID), and the controller ignores the error. A partition is *led*
if its leader took up the leader epoch that ZooKeeper has: then the leader's own leader-epoch checkpoint lists it. What
is wrong with a cluster is said by `kwalk.invariants.reading`, not here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache

from attrs import evolve, field, frozen

from kwalk.model.kafka.snapshots.capture import (
    Broker,
    Capture,
    CapturedMetadata,
    CapturedReplica,
    Directory,
    LogRoot,
    Topic,
    kept_by_capture,
    topic_label,
)
from kwalk.model.kafka.snapshots.untrusted_json import printable
from kwalk.model.kafka.versions import flags_of
from kwalk.model.kafka.versions.deletion import UNOPENED_LOG_IS_OFFLINE
from kwalk.model.kafka.versions.records import (
    FETCH_BY_TOPIC_ID,
    FIRST_LEADER_AND_ISR_ASSIGNS_ID,
    SKIPS_OLDER_PARTITION_EPOCHS,
    TOPICS_HAVE_IDS,
)
from kwalk.model.kafka.versions.sessions import ALTER_ISR

MOST = 8
"""A longer list is cut."""

MOST_NAMES = 5
"""How many names a sentence has."""
LATER_IDS = (
    "before brokers start, write a block above all producer ids that were given into /latest_producer_id_block: the "
    "first record of a producer that gets an id again is taken for a duplicate, acknowledged, and lost"
)
"""What a ZooKeeper that has gone back needs: seen on 3.9.0 (UnifiedLog.analyzeAndValidateProducerState)."""


def listed(words: Sequence[str], last: str = "and") -> str:
    """Join words as "a, b and c"."""
    if len(words) > MOST:
        return f"{', '.join(words[: MOST - 1])} {last} {len(words) - MOST + 1} more"
    if len(words) < 2:
        return words[0] if words else "none"
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def partitions(topic: str, numbers: Iterable[int]) -> str:
    """Partitions: "t-0 and t-1"."""
    return listed([f"{topic}-{number}" for number in sorted(numbers)])


def brokers(numbers: Iterable[int], last: str = "and") -> str:
    """Brokers: "brokers 1, 2 and 3"."""
    known = sorted(numbers)
    return f"broker{'s' * (len(known) != 1)} {listed([str(number) for number in known], last)}"


def disks_of_others(capture: Capture) -> Iterator[tuple[int, LogRoot]]:
    """Yield the brokers and those of their log directories with which they do not start, by meta.properties.

    Source: kafka.server.KafkaServer.startup and getOrGenerateBrokerId; from 3.7 on MetaPropertiesEnsemble.verify.
    """
    for broker in capture.brokers.values():
        for root in broker.roots:
            of_another = root.broker_id not in (None, broker.id)
            if of_another or (
                None not in (root.cluster_id, capture.cluster_id) and root.cluster_id != capture.cluster_id
            ):
                yield broker.id, root


def lost_topics(capture: Capture) -> tuple[str, ...]:
    """Return the topics whose logs brokers have, if neither ZooKeeper nor KRaft has them, and they were not deleted.

    One topic may have been deleted; several were not, nor the one of a cluster whose id is not that of its disks, or
    one that more than one broker has in a migration, nor one beside logs of a topic of Kafka's own that is gone, too.
    These are created again as soon as a client asks. In a migration brokers may have set the logs aside. Where
    ZooKeeper has other topics of the logs, these show that it has lost its data, or was restored from a backup: several
    brokers have the log of an earlier topic of the name, or of the partition's later states. A deletion waits for each
    replica, so that not all of them missed it.
    """
    hosts: dict[str, set[int]] = {}
    for broker in (one for one in capture.brokers.values() if one.id not in strangers(capture)):
        aside = [name.rpartition(".")[0] for name in broker.set_aside if name.endswith("-stray")]
        for name in [*broker.directories, *(aside if capture.image else ())]:
            hosts.setdefault(name.rpartition("-")[0], set()).add(broker.id)
    have = {*capture.topics, *(capture.image.topics if capture.image else ())}
    shown = {name for name in hosts.keys() - {*capture.deleting} if name and not name.startswith("__")}
    found = sorted(shown - have)
    several = min(2, len(set().union(*hosts.values())))
    is_on_several = any(len(hosts[name]) >= several for name in found)
    ids = {root.cluster_id for broker in capture.brokers.values() for root in broker.roots} - {None}
    is_another = bool(ids) and capture.cluster_id not in ids
    is_enough = any(name.startswith("__") for name in hosts.keys() - {*have, *capture.deleting})
    if have.isdisjoint(shown):
        is_enough = is_enough or is_another
        is_enough = is_enough or len(found) > 1 or (capture.image is not None and is_on_several)
    else:
        is_shown = any(_has_lost_its_state(capture, one, several) for one in capture.topics.values())
        is_backup = not capture.is_kraft and is_on_several and is_shown
        is_enough = is_enough or is_backup or (is_another and capture.cluster_id is not None)
    return tuple(found) if found and is_enough and not capture.patterns else ()


@kept_by_capture
def strangers(capture: Capture) -> frozenset[int]:
    """Return the running brokers that may be of another cluster, as zookeeper.connect has lost its chroot.

    They are replicas of nothing, and their logs of topics that exist have other ids. Where a replica has a log of an
    earlier topic, too, the topics were created again.

    Kafka: KafkaServer.getOrGenerateClusterId: without meta.properties a broker takes the cluster id that it finds.
    """
    used = {b for topic in capture.topics.values() for replicas in topic.partitions.values() for b in replicas}
    others, own = set[int](), set[int]()
    for broker in (one for one in capture.brokers.values() if one.alive and one.seen):
        for name, log in broker.directories.items():
            topic = capture.topics.get(name.rpartition("-")[0])
            if topic is not None and None not in (topic.topic_id, log.topic_id):
                (own if log.topic_id == topic.topic_id else others).add(broker.id)
    found = others - own - used
    return frozenset(found) if found == others else frozenset()


def topics_created_again(capture: Capture) -> tuple[str, ...]:
    """Return the topics of which a broker has a log of an earlier topic of the name, by its id."""
    return tuple(topic.name for topic in capture.topics.values() if _earlier_logs(capture, topic))


def _earlier_logs(capture: Capture, topic: Topic) -> dict[int, set[int]]:
    """Return the brokers with logs of earlier topics of the name, by partition."""
    found: dict[int, set[int]] = {}
    for broker in capture.brokers.values():
        for number in topic.partitions:
            log = capture.directory(broker.id, topic.name, number)
            if broker.seen and is_of_an_earlier_topic(capture, topic, log):
                found.setdefault(number, set()).add(broker.id)
    return found


def _has_lost_its_state(capture: Capture, topic: Topic, several: int) -> bool:
    """Whether a topic was created again over the logs of several brokers, or its states are older than these."""
    is_again = any(len(brokers) >= several for brokers in _earlier_logs(capture, topic).values())
    return is_again or any(is_behind_logs(capture, topic, number) for number in topic.states)


def failing_failovers(capture: Capture) -> dict[tuple[str, int], tuple[int, ...]]:
    """Return the partitions at which each failover of the controller ends with an exception, with their replicas.

    They have no state, an election or a reassignment is requested, and no replica is live, or the topic is marked for
    deletion, so that no leader is elected.

    Source: KafkaController.fetchPendingPreferredReplicaElections; initializePartitionReassignments, updateLeaderEpoch;
    PartitionStateMachine.triggerOnlineStateChangeForPartitions; `controller.preferred_election`,
    `controller.reassignment`.
    """
    moving = {(topic.name, number) for topic in capture.topics.values() for number in topic.moving}
    live = set(capture.live)
    found: dict[tuple[str, int], tuple[int, ...]] = {}
    for name, number in sorted(capture.elections | moving):
        topic = capture.topics.get(name)
        replicas = () if topic is None else topic.partitions.get(number, ())
        is_elected = bool(live & set(replicas)) and name not in capture.deleting
        if topic is not None and number not in topic.states and replicas and not is_elected:
            found[name, number] = replicas
    return found


def lost_state(capture: Capture, topic: Topic, partition: int) -> CapturedMetadata | None:
    """Return what the leader of a partition answers whose state znode is gone.

    Returns:
        The answer; None if the partition has a state, no broker leads it, it had no records, or an id shows a log of an
        earlier topic.
    """
    return served_without_state(capture, topic, partition) if has_own_logs(capture, topic, partition) else None


def served_without_state(capture: Capture, topic: Topic, partition: int) -> CapturedMetadata | None:
    """Return what the leader of a partition answers that has no state znode; None if no broker leads it.

    A controller begins at leader epoch 0: brokers that have a later one refuse it, and followers whose logs have one
    copy nothing from a leader that has restarted.

    Kafka: PartitionStateMachine.initializeLeaderAndIsrForPartitions; Partition.readRecords (OFFSET_OUT_OF_RANGE).
    """
    is_without = partition not in topic.states and topic.name not in capture.deleting
    return served_as(capture, topic, partition) if is_without else None


def is_led_from_outside(capture: Capture, topic: Topic, partition: int) -> bool:
    """Whether a broker that runs says that it leads, as the state has it, and the ISR lacks it: clients are served."""
    state = topic.states.get(partition)
    leader = None if state is None or not state.isr or state.leader in state.isr else state.leader
    broker = None if leader is None else capture.brokers[leader]
    return broker is not None and broker.alive and broker.leads(topic.name, partition)


def served_as(capture: Capture, topic: Topic, partition: int) -> CapturedMetadata | None:
    """Return what the broker answers that leads a partition in its own memory; None if none does."""
    for broker in capture.brokers.values():
        found = broker.cache.partitions.get(topic.name, {}).get(partition) if broker.alive and broker.cache else None
        if found is not None and found.leader == broker.id and broker.leads(topic.name, partition):
            return found
    return None


def unseen(capture: Capture, gone: Collection[int] = ()) -> tuple[str, ...]:
    """Return what a capture does not show of a cluster, or may show of two moments, one sentence each.

    Args:
        capture: The capture.
        gone: Brokers that are taken to have no log directories.
    """
    return (*([capture.version_note] if capture.version_note else ()), *not_shown(capture, gone))


def not_shown(capture: Capture, gone: Collection[int] = ()) -> tuple[str, ...]:
    """Return the same without what is said of the version."""
    found = [f"When the snapshot was taken: {printable(problem, 300)}" for problem in capture.problems]
    found += not_read(capture, gone)
    if capture.patterns:
        patterns = listed([printable(pattern, 100) for pattern in capture.patterns], "or")
        found.append(f"The snapshot has only the topics {patterns}.")
    if capture.unsettled:
        names = listed([topic_label(name) for name in capture.unsettled])
        found.append(f"Changed while the snapshot was taken, so that it may mix two moments: {names}.")
    return tuple(found)


def not_read(capture: Capture, gone: Collection[int] = ()) -> tuple[str, ...]:
    """Return what was not read of the logs of brokers, where damage may be that nothing else shows.

    Args:
        capture: The capture.
        gone: Brokers that are taken to have no log directories.
    """
    found = []
    missing = [broker.id for broker in capture.hosts if not broker.seen and broker.id not in gone]
    if missing:
        found.append(
            f"No log directories of {brokers(missing)} are in the snapshot: they are taken to agree with ZooKeeper."
        )
    found += [
        f"What is in {listed([printable(path, 200) for path in broker.unread])} of broker {broker.id} was not read"
        f"{', or is of another cluster or broker' * bool(broker.foreign)}."
        for broker in capture.hosts
        if broker.seen and broker.unread
    ]
    bare = sorted(
        {
            name
            for broker in capture.hosts
            for name, log in broker.directories.items()
            if log.leader_epochs is None and log.is_empty is False and name not in broker.assumed
        }
    )
    if bare:
        found.append(
            f"No leader epochs of {listed(bare)} are shown, though there are records: what a replica lacks of others "
            "is not seen."
        )
    if unnamed := may_have_lost_ids(capture):
        found.append(
            f"Without topic id in ZooKeeper: {topics_in_words(unnamed)}. The next controller mints one, which logs "
            "that have another id refuse; whether they have one was not read."
        )
    return tuple(found)


def ids(topic_ids: Iterable[str]) -> str:
    """Topic ids: "the id To2TH2onRbqmsWZJo11m5w"."""
    found = sorted(topic_ids)
    return f"the id{'s' * (len(found) != 1)} {listed(found)}" if found else "an id that the capture does not show"


def each(things: Iterable[object], one: str, many: str) -> str:
    """The form of a verb: `one` for one thing, `many` for several."""
    return one if len(tuple(things)) == 1 else many


def sentence(text: str) -> str:
    """Return the text with a capital first letter."""
    return text[:1].upper() + text[1:]


Replicas = Mapping[int, frozenset[int]]
"""Brokers by partition."""


@frozen
class Symptoms:
    """The symptoms of a topic in a capture."""

    foreign: Replicas = field(factory=dict)
    """Replicas whose partition.metadata differs from ZooKeeper's id."""
    outside: Replicas = field(factory=dict)
    """Live replicas that are not in the ISR."""
    led: Mapping[int, bool | None] = field(factory=dict)
    """Whether the leader took up the present leader epoch; None if the capture does not show it."""
    lost: frozenset[int] = frozenset()
    """Partitions that have a state in ZooKeeper but are no longer in the topic's znode."""
    without_file: Replicas = field(factory=dict)
    """Replicas that have a directory without partition.metadata."""
    remembered: tuple[str, ...] = ()
    """The topic ids on disks and in brokers' metadata caches; the latter show what the controller sends."""
    sent: str | None = None
    """The id that the controller sends, as its own broker's metadata cache shows it."""

    @property
    def broken(self) -> tuple[int, ...]:
        """Partitions without a working leader, or that keep a live replica out permanently.

        A live replica outside of the ISR may just be catching up. It is a symptom if its id is foreign, or if nothing
        shows that the leader leads.
        """
        return tuple(p for p, led in self.led.items() if led is False or self._keeps_out(p))

    def _keeps_out(self, partition: int) -> bool:
        outside = self.outside.get(partition, frozenset())
        stuck = outside if self.led[partition] is None else outside & self.foreign.get(partition, frozenset())
        return bool(stuck)


def symptoms(capture: Capture, topic: Topic) -> Symptoms:
    """Compare a topic in ZooKeeper with disks and checkpoints."""
    files = {p: files_of(capture, topic, p) for p in topic.partitions}
    return Symptoms(
        foreign=_some({p: _differing(by, topic.topic_id) for p, by in files.items()}),
        outside=_some({p: _outside(capture, topic, p) for p in topic.partitions}),
        led={p: _led(capture, topic, p) for p in topic.states if p in topic.partitions},
        lost=frozenset(p for p in topic.states if p not in topic.partitions),
        without_file=_some({p: {b for b, identity in by.items() if identity is None} for p, by in files.items()}),
        remembered=remembered_ids(capture, topic),
        sent=sent_id(capture, topic),
    )


def files_of(capture: Capture, topic: Topic, partition: int) -> dict[int, str | None]:
    """The topic id on disk by replica, for the logs that are shown; None where there is no partition.metadata."""
    found = capture.logs_of(topic.partitions.get(partition, ()), topic.name, partition)
    return {b: directory.topic_id for b, directory in found.items()}


@kept_by_capture
def may_have_lost_ids(capture: Capture) -> list[str]:
    """Return the topics without an id of which logs were not read, and nothing else shows one."""
    if not has_topic_ids(capture.version):
        return []
    hosts = {t.name: {(b, n) for n, members in t.partitions.items() for b in members} for t in capture.topics.values()}
    return [
        t.name
        for t in capture.topics.values()
        if t.topic_id is None and t.name not in capture.deleting and not remembered_ids(capture, t)
        if not all(capture.shows(b, t.name, n) for b, n in hosts[t.name])
    ]


def serves_marked(capture: Capture, topic: Topic) -> bool:
    """Whether all brokers that answer, the controller's among them, name live leaders of a topic to be deleted.

    When a deletion begins, brokers are told to forget the topic, whatever it waits for then, and live ones to remove
    its logs.

    Kafka: TopicDeletionManager.onTopicDeletion (LeaderDuringDelete); MetadataCache.updateMetadata.
    """
    answers = {b.id: b.cache.partitions.get(topic.name, {}) for b in capture.brokers.values() if b.alive and b.cache}
    led = [any(one.leader in capture.live for one in known.values()) for known in answers.values()]
    live = [b for b in capture.hosts if b.alive]
    has_logs = any(not b.seen or any(name.rpartition("-")[0] == topic.name for name in b.directories) for b in live)
    return topic.name in capture.deleting and capture.controller in answers and all(led) and has_logs


def topics_in_words(names: Sequence[str]) -> str:
    """Return the names of topics as "a, b and 7 more"."""
    more = [f"{len(names) - MOST_NAMES} more"] * (len(names) > MOST_NAMES)
    return listed([*map(topic_label, names[:MOST_NAMES]), *more])


def remembered_ids(capture: Capture, topic: Topic) -> tuple[str, ...]:
    """The topic ids on disks and in brokers' metadata caches; the latter show what the controller sends."""
    on_disk = {identity for p in topic.partitions for identity in files_of(capture, topic, p).values()}
    cached = {b.cache.topic_ids.get(topic.name) for b in capture.brokers.values() if b.cache}
    return tuple(sorted(identity for identity in on_disk | cached if identity))


def _led(capture: Capture, topic: Topic, partition: int) -> bool | None:
    state = topic.states[partition]
    if state.leader is None or not capture.brokers[state.leader].alive:
        return False
    place = topic.name, partition
    if place in capture.brokers[state.leader].replicas:
        return capture.brokers[state.leader].replicas[place] == CapturedReplica(state.leader_epoch, leads=True)
    return has_epoch(capture, topic, partition, state.leader)


def serves_as_told(capture: Capture, topic: Topic, partition: int) -> bool | None:
    """Whether the leader that clients are told of leads, at the leader epoch that they are told; None if not shown.

    Kafka: Partition.getLocalLog, checkCurrentLeaderEpoch: clients send the epoch that they were told.
    """
    told = capture.cached(topic.name, partition) or topic.states.get(partition)
    if told is None or told.leader is None or told.leader not in capture.live:
        return False
    known, place = capture.brokers[told.leader].replicas, (topic.name, partition)
    return known[place] == CapturedReplica(told.leader_epoch, leads=True) if place in known else None


def is_as_created(topic: Topic) -> bool:
    """Whether only the controller that minted its id has written the topic's znode since its creation."""
    return topic.version <= (topic.topic_id is not None)


def has_first_id(capture: Capture, topic: Topic) -> bool:
    """Whether a topic has had no other id, as far as its znode shows: a controller that sends another minted none.

    No controller mints an id that only logs of other topics have: a hand wrote it.
    """
    if not is_as_created(topic) or topic.name not in capture.topics_by_log_id.get(topic.topic_id or "", {topic.name}):
        return False
    return topic.version == 0 or sent_id(capture, topic) in (None, topic.topic_id)


def is_of_an_earlier_topic(capture: Capture, topic: Topic, directory: Directory | None) -> bool:
    """Whether a log has an id that the topic never had.

    The id of a znode that only its creation and the first minting have written is the topic's first one.
    """
    if directory is None or topic.topic_id is None or not has_first_id(capture, topic):
        return False
    return directory.topic_id not in (None, topic.topic_id)


def may_hold_another_id(capture: Capture, topic: Topic, partition: int, broker: int) -> bool:
    """Whether an ISR member that runs, without partition.metadata, may hold another id in memory than the topic has.

    Its log has had the topic's id or an earlier one, so that the file was removed while the broker ran: since 3.0 a log
    gets its id with the first LeaderAndIsr request, in 2.8 at the latest when a controller takes over, as it has if its
    epoch is above that of the state, which changes when a member restarts. If the broker was asked, it is known. A
    broker that has logs of several topics and no file at all speaks a protocol before 2.8, with which it keeps none.
    """
    if (agrees := agrees_in_memory(capture, topic, partition, broker)) is not None:
        return not agrees and holds_another_id(capture, topic, partition, broker)
    state, log = topic.states.get(partition), capture.directory(broker, topic.name, partition)
    if state is None or log is None or log.topic_id is not None or log.is_garbled or broker not in state.isr:
        return False
    if topic.topic_id is None or has_first_id(capture, topic) or not has_topic_ids(capture.version):
        return False
    was_sent = assigns_ids_at_once(capture.version) or capture.controller_epoch > state.controller_epoch
    return was_sent and capture.brokers[broker].alive and capture.brokers[broker].seen and keeps_ids(capture, broker)


def keeps_ids(capture: Capture, broker: int) -> bool:
    """Whether a broker may keep topic ids: not if it has logs of several topics, and no id of one.

    During an upgrade, inter.broker.protocol.version is raised one broker after the other.

    Kafka: KafkaConfig.usesTopicId; Log's keepPartitionMetadataFile: without it the file is deleted as a log is loaded.
    """
    logs = capture.brokers[broker].directories
    return len({name.rpartition("-")[0] for name in logs}) < 2 or any(log.topic_id for log in logs.values())


def has_old_protocol(capture: Capture) -> bool:
    """Whether brokers of a release with topic ids have an inter.broker.protocol.version below 2.8: no topic has one.

    A controller with ids has one of each topic, and hands it out; since 3.0 each log has it, too.

    Kafka: KafkaConfig.usesTopicId; KafkaController.processTopicIds.
    """
    live = [broker for broker in capture.brokers.values() if broker.alive]
    handed_out = {identity for b in live if b.cache for identity in b.cache.topic_ids.values()}
    logs = [log for b in capture.brokers.values() if b.seen for log in b.directories.values()]
    known = {topic.topic_id for topic in capture.topics.values()} | {log.topic_id for log in logs} | handed_out
    has_logs = any(broker.seen and broker.directories for broker in live)
    is_shown = bool(handed_out) or (assigns_ids_at_once(capture.version) and has_logs)
    return has_topic_ids(capture.version) and is_shown and known == {None}


def agrees_in_memory(capture: Capture, topic: Topic, partition: int, broker: int) -> bool | None:
    """Whether a running broker's log has the topic's id in memory, or none; None if the broker was not asked by it.

    Kafka: ReplicaManager.hasConsistentTopicId.
    """
    known, place = capture.brokers[broker], (topic.name, partition)
    asked = None if known.cache is None or not known.alive else known.cache.topic_ids.get(topic.name)
    if asked is None or asked != topic.topic_id or not (place in known.agreeing or place in known.refusing):
        return None
    return place in known.agreeing


def holds_another_id(capture: Capture, topic: Topic, partition: int, broker: int) -> bool:
    """Whether a running broker's log has another id in memory than the topic, and its partition.metadata has not."""
    log = capture.directory(broker, topic.name, partition)
    if log is None or log.topic_id not in (None, topic.topic_id) or not capture.shows(broker, topic.name, partition):
        return False
    return agrees_in_memory(capture, topic, partition, broker) is False


@cache
def has_topic_ids(version: str) -> bool:
    """Whether topics have ids (KIP-516, 2.8): brokers before do not read those of znodes and of partition.metadata."""
    return bool(flags_of(version)[TOPICS_HAVE_IDS.name])


def garbled_ids(capture: Capture, broker: Broker) -> list[str]:
    """Return the directories of partitions whose partition.metadata a broker cannot read, if its release reads it.

    Kafka: PartitionMetadataFile, since 2.8.
    """
    garbled = [name for name, log in broker.directories.items() if log.is_garbled]
    return garbled if has_topic_ids(capture.version) else []


def as_brokers_read(capture: Capture) -> Capture:
    """Return the capture without the topic ids that later brokers have left, if those that run do not read any."""
    if has_topic_ids(capture.version):
        return capture
    brokers = {
        number: evolve(broker, directories={n: evolve(log, topic_id=None) for n, log in broker.directories.items()})
        for number, broker in capture.brokers.items()
    }
    topics = {name: evolve(topic, topic_id=None) for name, topic in capture.topics.items()}
    return evolve(capture, topics=topics, brokers=brokers)


def refuses_later_epochs(version: str) -> bool:
    """Whether a leader refuses a fetch that follows a leader epoch later than its own (KIP-595, 2.8 like topic ids).

    It answers OFFSET_OUT_OF_RANGE, and the follower asks again from the same offset: seen on 2.8.2. Before, a follower
    truncates to its high watermark.

    Kafka: Partition.readRecords, LeaderEpochFileCache.endOffsetFor; AbstractFetcherThread.fetchOffsetAndTruncate.
    """
    return has_topic_ids(version)


@cache
def assigns_ids_at_once(version: str) -> bool:
    """Whether a log has its topic id from its creation on, and a process checks the first request it gets (3.0)."""
    return bool(flags_of(version)[FIRST_LEADER_AND_ISR_ASSIGNS_ID.name])


@cache
def marks_refused_logs_offline(version: str) -> bool:
    """Whether a process answers KAFKA_STORAGE_ERROR, until it ends, for a log that refused its first request (3.0)."""
    return assigns_ids_at_once(version) and bool(flags_of(version)[UNOPENED_LOG_IS_OFFLINE.name])


def skips_older_versions(version: str) -> bool:
    """Whether a process leaves a replica as it is when a state znode has a lower version than it has seen (3.3)."""
    return bool(flags_of(version)[SKIPS_OLDER_PARTITION_EPOCHS.name])


def alters_isr(version: str) -> bool:
    """Whether the controller writes the ISR, and informs brokers at once (2.7)."""
    return bool(flags_of(version)[ALTER_ISR.name])


def counts_replicas(version: str) -> bool:
    """Whether min.insync.replicas holds up the high watermark, and never asks for more than there are (KIP-966, 3.7).

    On 3.9.0 a consumer does not get what acks=1 appends below it, on 3.6.2 it does.

    Kafka: Partition.maybeIncrementLeaderHW, effectiveMinIsr.
    """
    return tuple(map(int, version.split(".")[:2])) >= (3, 7)


def refused_at_start(capture: Capture, topic: Topic) -> tuple[int, ...]:
    """Return the brokers that run and have refused the first request about a log, which then is offline.

    Such a broker has left the ISR when its process before ended, unless it was the last member.
    """
    found: set[int] = set()
    for partition, state in topic.states.items() if marks_refused_logs_offline(capture.version) else ():
        for broker in topic.partitions.get(partition, ()):
            log = capture.directory(broker, topic.name, partition)
            is_other = log is not None and log.topic_id not in (None, topic.topic_id)
            if is_other and capture.brokers[broker].alive and (broker not in state.isr or len(state.isr) == 1):
                found.add(broker)
    return tuple(sorted(found))


@cache
def fetches_by_topic_id(version: str) -> bool:
    """Whether a fetch names the topic by its id (KIP-516, 3.1)."""
    return bool(flags_of(version)[FETCH_BY_TOPIC_ID.name])


def fetched_under_another_id(capture: Capture, topic: Topic) -> Iterator[tuple[int, list[int], list[int]]]:
    """Yield live followers that may fetch sound partitions of a topic under the id of their other logs of it.

    A fetch names a topic once for partitions in a row, with the id of the first. If that is a log of an earlier topic,
    which its broker has followed since before, the leader answers UNKNOWN_TOPIC_ID for all of them, again and again.

    Kafka: FetchRequest.Builder.build (3.1), AbstractFetcherThread.processFetchRequest. Seen on brokers of 3.6.2.

    Yields:
        The broker, the sound partitions, and those with another id.
    """
    if topic.topic_id is None or not fetches_by_topic_id(capture.version) or capture.serves_in_kraft:
        return
    for broker in capture.live:
        logs = {p: capture.directory(broker, topic.name, p) for p in topic.partitions}
        ids = {p: log.topic_id for p, log in logs.items() if log is not None and log.topic_id is not None}
        known = capture.brokers[broker].replicas
        other = [p for p in sorted(ids) if ids[p] != topic.topic_id]
        shown = {p: known[topic.name, p] for p in other if (topic.name, p) in known}  # None: not told since its start
        others = [p for p in other if p not in shown or ((one := shown[p]) is not None and not one.leads)]
        leaders = {*capture.live} & {b for p in others for b in topic.partitions[p]} - {broker}
        sound = [p for p, state in topic.states.items() if ids.get(p) == topic.topic_id and state.leader in leaders]
        if sound:
            yield broker, sound, others


def refuses_all(capture: Capture, topic: Topic, directory: Directory | None) -> bool:
    """Whether a log refuses every request: from 3.0 on, if it is one of an earlier topic of the name."""
    return assigns_ids_at_once(capture.version) and is_of_an_earlier_topic(capture, topic, directory)


def has_epoch(capture: Capture, topic: Topic, partition: int, broker: int) -> bool | None:
    """Whether a log's checkpoint has ZooKeeper's leader epoch; one of an earlier topic of the name is none.

    Before 3.0 it is neither checked nor shown whether a log is one of an earlier topic. A log that is not in the
    snapshot is taken to agree with ZooKeeper. A leader of whose leader epoch a follower has records has led: its log
    is an old copy, or has lost them.
    """
    state, directory = topic.states.get(partition), capture.directory(broker, topic.name, partition)
    if state is None or directory is None:
        return None
    if not capture.shows(broker, topic.name, partition):
        return True
    has = directory.has_epoch(state.leader_epoch)
    if has is False and broker == state.leader and followers_of_epoch(capture, topic, partition):
        return True
    if not has or not is_of_an_earlier_topic(capture, topic, directory):
        return has
    return False if refuses_all(capture, topic, directory) else None


def followers_of_epoch(capture: Capture, topic: Topic, partition: int) -> dict[int, int]:
    """Return the replicas with records of the leader's own leader epoch that its log lacks, and where they begin.

    A follower's checkpoint has a leader epoch since a record of it was appended, which the leader had: an epoch has one
    leader. The logs have the topic's id or, where there are no ids, the leader's first batch.

    Source: kafka.log.Log.appendAsFollower; UnifiedLog.append: maybeAssignEpochStartOffset.
    """
    state = topic.states.get(partition)
    if state is None or state.leader is None or not capture.shows(state.leader, topic.name, partition):
        return {}
    leader = capture.directory(state.leader, topic.name, partition)
    if leader is None or leader.has_epoch(state.leader_epoch) is not False:
        return {}
    found = {}
    for broker in topic.partitions.get(partition, ()):
        log = capture.directory(broker, topic.name, partition)
        if broker == state.leader or log is None or not capture.shows(broker, topic.name, partition):
            continue
        same_batch = log.first_batch is not None and log.first_batch == leader.first_batch
        same_id = None not in (topic.topic_id, log.topic_id) and log.topic_id == topic.topic_id == leader.topic_id
        if (same_id or same_batch) and log.has_epoch(state.leader_epoch):
            found[broker] = dict(log.leader_epochs or ())[state.leader_epoch]
    return found


def epochs_ahead(capture: Capture, topic: Topic, number: int, hosts: Iterable[int]) -> dict[int, int]:
    """Return the last leader epoch of the logs of a partition that are ahead of ZooKeeper's state, by broker."""
    state = topic.states.get(number)
    if state is None or number not in topic.partitions:
        return {}
    latest = last_epochs(capture, topic, number, hosts)
    return {b: epoch for b, epoch in latest.items() if epoch > state.leader_epoch}


def last_epochs(capture: Capture, topic: Topic, number: int, hosts: Iterable[int]) -> dict[int, int]:
    """Return the last leader epoch of each log of a partition that has one, by broker."""
    found = {b: capture.directory(b, topic.name, number) for b in hosts}
    return {b: max(e for e, _ in d.leader_epochs) for b, d in sorted(found.items()) if d and d.leader_epochs}


@kept_by_capture
def is_behind_logs(capture: Capture, topic: Topic, number: int) -> bool:
    """Whether ZooKeeper's state of a partition is behind logs of its replicas, and no id shows another topic's.

    A state znode that was restored from a backup is; so is that of a topic that has taken over logs without an id,
    where all are ahead. One log is enough that began as another replica's, which is not ahead: the topic's id alone
    shows nothing, as a log without one takes that of a later topic.
    """
    replicas = topic.partitions.get(number, ())
    found = capture.logs_of(replicas, topic.name, number)
    logs = {b: log for b, log in found.items() if log.end != 0}  # an empty log is of any topic
    ahead = epochs_ahead(capture, topic, number, logs)
    ids = {log.topic_id for log in logs.values()} - {None}
    if not ids <= {topic.topic_id} and not has_lost_id(capture, topic, ids):
        return False
    others = [log.first_batch for b, log in logs.items() if b not in ahead and log.first_batch is not None]
    return bool(ahead) and (ahead.keys() >= logs.keys() or any(logs[b].first_batch in others for b in ahead))


def has_own_logs(capture: Capture, topic: Topic, number: int) -> bool:
    """Whether a partition has, or had, records in its logs, and no replica's log has the id of another topic."""
    ids = {log.topic_id for log in capture.logs_of(topic.partitions.get(number, ()), topic.name, number).values()}
    is_own = has_lost_id(capture, topic, ids - {None}) or ids <= {topic.topic_id, None}
    return is_own and has_logs_of_one_topic(capture, topic, number)


def has_logs_of_one_topic(capture: Capture, topic: Topic, number: int) -> bool:
    """Whether a partition has, or had, records in its logs, of which no two have different topic ids."""
    logs = [*capture.logs_of(topic.partitions.get(number, ()), topic.name, number).values()]
    is_used = any(log.is_empty is False or log.leader_epochs for log in logs)
    return is_used and len({log.topic_id for log in logs} - {None}) <= 1


def has_lost_id(capture: Capture, named: Topic, ids: Collection[str | None]) -> bool:
    """Whether a topic's znode may have lost the id of the logs.

    It has none, and was changed since its creation; or the controller sends that of the logs.
    """
    return named.topic_id is None and len(ids) == 1 and (not is_as_created(named) or sent_id(capture, named) in ids)


def later_than_deletion(capture: Capture, topic: Topic) -> str:
    """Return what shows that a topic's mark for deletion is older than its logs; empty if nothing does.

    So it is after ZooKeeper was restored from a backup. Brokers delete logs by the topic's name.

    Kafka: StopReplicaRequest names no topic id.
    """
    if topic.name not in capture.deleting:
        return ""
    logs: list[Directory] = []
    for number in sorted({*topic.partitions, *topic.states}):
        found = {b.id: capture.directory(b.id, topic.name, number) for b in capture.brokers.values() if b.seen}
        logs += [log for log in found.values() if log is not None and log.is_empty is not True]
        for broker, epoch in epochs_ahead(capture, topic, number, found).items():
            place = f"{topic_label(topic.name)}-{number}"
            return f"{place} of broker {broker} has leader epoch {epoch}, ZooKeeper {topic.states[number].leader_epoch}"
    others = {log.topic_id for log in logs} - {None}
    if topic.topic_id is None or not has_first_id(capture, topic) or len(others) != 1 or topic.topic_id in others:
        return ""
    return f"its logs have the topic id {others.pop()}, ZooKeeper has {topic.topic_id}"


def hosts_of_lost(capture: Capture, topic: Topic, partition: int) -> tuple[int, ...]:
    """Return the brokers with logs of a partition that the topic had, and that its znode does not list.

    Kafka never removes a partition. Where a znode has lost its id, or got another one since, that of the topic's other
    logs is its own. A log without an id may be of an earlier topic of the name, if one broker has it.
    """
    if topic.name not in capture.topics or partition in {*topic.partitions, *topic.unassigned}:
        return ()
    found = {b.id: capture.directory(b.id, topic.name, partition) for b in capture.brokers.values() if b.seen}
    logs = {b: log.topic_id for b, log in found.items() if log is not None and log.is_empty is not True}
    on_disk = {identity for p in topic.partitions for identity in files_of(capture, topic, p).values()} - {None}
    ids: set[str | None] = {topic.topic_id} if topic.topic_id else {*remembered_ids(capture, topic)}
    if on_disk and not ids & on_disk and not has_first_id(capture, topic):  # another one was minted
        ids = on_disk
    own = tuple(b for b, identity in logs.items() if len(ids) == 1 and identity in ids)
    return own or (tuple(logs) if len(logs) > 1 and set(logs.values()) == {None} else ())


def other_topic_of(capture: Capture, own: Topic, identity: str) -> str | None:
    """Return another topic that has an id, in ZooKeeper and as far as its logs show: no second znode may get it.

    Directories that were copied from a topic to another have it. One whose own logs have another id is to get that id.

    Kafka: ControllerContext.addTopicId: no controller starts with two topics of one id.
    """
    for other in capture.topics.values():
        if other.name != own.name and other.topic_id == identity:
            logs = (capture.directory(b, other.name, n) for n, held in other.partitions.items() for b in held)
            ids = {log.topic_id for log in logs if log is not None} - {None}
            if not ids or identity in ids:
                return other.name
    return None


def sent_id(capture: Capture, topic: Topic) -> str | None:
    """Return the topic id that the controller sends, as its own broker's metadata cache shows it."""
    cache = None if capture.controller is None else capture.brokers[capture.controller].cache
    return cache.topic_ids.get(topic.name) if cache else None


def _outside(capture: Capture, topic: Topic, partition: int) -> set[int]:
    if partition not in topic.states:
        return set()
    live = {b for b in topic.partitions[partition] if capture.brokers[b].alive}
    return live - set(topic.states[partition].isr)


def _differing(files: Mapping[int, str | None], topic_id: str | None) -> set[int]:
    """Return the brokers whose id differs from ZooKeeper's; none if ZooKeeper has no id."""
    return {broker for broker, identity in files.items() if topic_id and identity not in (None, topic_id)}


def _some(by_partition: Mapping[int, set[int]]) -> Replicas:
    return {partition: frozenset(members) for partition, members in by_partition.items() if members}
