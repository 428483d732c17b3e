"""Captures: what was observed of a real cluster at one moment, read from a JSON file.

Words: a *capture* has the znodes of ZooKeeper (topics with their partition states, the controller), and for every
broker its log directories and its answer to a Metadata request (its *metadata cache*). A *directory* is the log
directory of one partition on one broker. *partition.metadata* is the file with the topic id that the broker gave the
partition. The *leader-epoch checkpoint* lists the leader epochs that left records in the log, or that began on this
replica as leader, each with its start offset. Broker ids, topic names and topic ids are the real ones.

A capture is untrusted input: whatever does not fit raises one UsageError. A topic may have any name, which is kept as
it is; `topic_label` is its printable form.

Source: kafka.server.PartitionMetadataFile, kafka.server.checkpoints.LeaderEpochCheckpointFile.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from enum import IntEnum
from functools import cached_property, wraps
from itertools import pairwise
from typing import Any, Concatenate, ParamSpec, TypeVar

from attrs import evolve, field, frozen

from kwalk.model.kafka.snapshots.untrusted_json import TAKE_AGAIN, JsonNode, key_number, load, printable
from kwalk.model.kafka.versions.reported import VERSION, ReportedRelease, reported_release
from kwalk.model.language import UsageError

ZERO_ID = "A" * 22
"""How Kafka writes the id that stands for "none"."""


_ID = re.compile(r"[A-Za-z0-9_-]{22}")


_METADATA = re.compile(r"[^:\n]*:[ \t]+[+-]?0+\r?\n[^:\n]*:[ \t]+(\S+)(\r?\n.*)?", re.DOTALL)
"""What brokers read as partition.metadata (PartitionMetadataFile.read); other line ends were seen on 3.4.1."""


_WHOLE_NUMBER = re.compile(r"[0-9]{1,19}")


_SET_ASIDE = re.compile(r".+-[0-9]{1,10}\.[^.]*-(stray|delete|future)", re.DOTALL)


_SEGMENT = re.compile(r"([0-9]{20})\.log")


def topic_id(node: JsonNode) -> str | None:
    """A topic id in Kafka's Base64, or None where there is none."""
    if node.missing:
        return None
    text = node.text()
    if not _ID.fullmatch(text):
        raise node.wrong("is no topic id", "22 characters of A-Z a-z 0-9 _ -, or null")
    return None if text == ZERO_ID else text


def partition_metadata(node: JsonNode) -> str | None:
    """The topic id in a partition.metadata file, None where there is no file."""
    if node.missing:
        return None
    found = _METADATA.fullmatch(node.text())
    if not found or not _ID.fullmatch(found[1]) or found[1] == ZERO_ID:
        raise node.wrong(
            "is truncated or garbled: a broker with such a file does not start",
            '"version: 0", then "topic_id: " and 22 characters of A-Z a-z 0-9 _ -; or null where there is no file',
        )
    return found[1]


def leader_epochs(node: JsonNode) -> tuple[tuple[int, int], ...] | None:
    """The (epoch, start offset) pairs of a leader-epoch checkpoint, None where there is no file or it is empty."""
    if node.missing or not node.text():
        return None
    lines = node.text().rstrip("\n").split("\n")
    pairs = tuple(_pair(line, node) for line in lines[2:])
    if lines[0] != "0" or len(lines) < 2 or lines[1] != str(len(pairs)):
        raise _garbled(node)
    if any(later[0] <= earlier[0] for earlier, later in pairwise(pairs)):
        raise _garbled(node)
    return pairs


def _pair(line: str, node: JsonNode) -> tuple[int, int]:
    words = line.split(" ")
    if len(words) != 2 or not all(_WHOLE_NUMBER.fullmatch(word) for word in words):
        raise _garbled(node)
    return int(words[0]), int(words[1])


def _garbled(node: JsonNode) -> UsageError:
    return UsageError(
        f'{node.path} is truncated or garbled (got "{printable(node.value)}"). Allowed: the lines "0", the number of '
        f'epochs, and one "epoch offset" for each, rising; or null where there is no file. {TAKE_AGAIN}'
    )


INT32 = 2**31 - 1
FORMAT = 3
"""The newest format of captures (docs/generate/snapshot_format.toml)."""


OFFSET_OUT_OF_RANGE, INCONSISTENT_TOPIC_ID = 1, 103
"""The errors of a fetch beyond the end of a log: of one with the topic id that is named, or none, and of another."""


METADATA_LOG = "__cluster_metadata-0"
"""The directory of KRaft's metadata log, which is not read: brokers before 3.3.2 let a topic have its name."""
MIN_IN_SYNC, UNCLEAN_ELECTIONS = SETTINGS = ("min.insync.replicas", "unclean.leader.election.enable")
"""The settings that decide whether acks=all is served, and who is elected."""
COMPACTED = ("__consumer_offsets", "__transaction_state")
"""The topics that Kafka creates, and has compacted (GroupCoordinator.offsetsTopicConfigs)."""
ZNODE_FIELDS = {"version", "partitions", "adding_replicas", "removing_replicas", "topic_id"}
"""The fields of a topic's znode that Apache Kafka knows (kafka.zk.TopicZNode)."""
MODES = ("zookeeper", "migrating", "kraft")
"""The modes of brokers; one that migrates is in ZooKeeper mode, and registered with KRaft's controllers."""


_THREE_DIGITS = re.compile(r"[0-9]{3}")


P = ParamSpec("P")
T = TypeVar("T")


@frozen
class BatchHeader:
    """The header of a record batch: two logs that have the same one at an offset have copied it from one another."""

    base_offset: int
    leader_epoch: int
    timestamp: int
    crc: int


class Cleaning(IntEnum):
    """Whether a cleaner has rewritten the batches of a partition's logs, by what a capture shows.

    A broker writes the offset up to which it has cleaned a log to cleaner-offset-checkpoint as it is done, and removes
    it with the log.

    Kafka: LogCleaner.cleanLog, LogCleanerManager.doneCleaning; LogManager.asyncDelete.
    """

    NEVER = 0
    """No broker has an entry, and the topic is not known to be compacted."""
    NOT_SHOWN = 1
    """The topic's own policy is another one, or it has none, and a checkpoint was not read."""
    POSSIBLE = 2
    """Neither the topic's policy nor all checkpoints were read."""
    CLEANED = 3
    """The topic is compacted, or a broker has an entry."""


@frozen
class Directory:
    """The log directory of one partition: what shows which log it is, without its records.

    Everything is None where the file does not exist, or the capture lacks it.

    Attributes:
        topic_id: the id in partition.metadata.
        leader_epochs: the leader-epoch checkpoint: each epoch with its start offset.
        root: the log directory of the broker (log.dirs) that it is in.
        segments: the sizes of segments in bytes, by their base offsets.
        first_batch: the first batch of the first segment.
        log_start: the entry in log-start-offset-checkpoint: only where it is not the first segment's base offset.
        recovery_point: the entry in recovery-point-offset-checkpoint: the log has at least so many offsets, unless a
            machine has crashed since.
        high_watermark: the entry in replication-offset-checkpoint.
        is_garbled: whether partition.metadata is truncated or garbled, as after a crash of the machine (KAFKA-20177).
        cleaned: the entry in cleaner-offset-checkpoint, 0 without one: up to where its broker has cleaned it.
        cleaning: whether a cleaner has rewritten batches of the partition, on any broker: replicas copy what is left.
    """

    topic_id: str | None = None
    leader_epochs: tuple[tuple[int, int], ...] | None = None
    root: str | None = None
    segments: Mapping[int, int] | None = field(default=None, hash=False)
    first_batch: BatchHeader | None = None
    log_start: int | None = None
    recovery_point: int | None = None
    high_watermark: int | None = None
    is_garbled: bool = False
    cleaned: int | None = None
    cleaning: Cleaning = field(default=Cleaning.NOT_SHOWN, eq=False)

    @property
    def is_compacted(self) -> bool:
        """Whether a cleaner removes batches: a replica that is made later gets the leader epochs of what is left.

        Each begins at the first batch that has it (UnifiedLog.append).
        """
        return self.cleaning is Cleaning.CLEANED

    @cached_property
    def start(self) -> int | None:
        """The log start offset; None if nothing shows it."""
        bases = [] if self.segments is None else sorted(self.segments)
        known = [offset for offset in (self.log_start, *bases[:1]) if offset is not None]
        return max(known, default=None)

    @property
    def lost_epochs_before(self) -> int | None:
        """The offset before which leader epochs of records are not in the checkpoint, as its broker led at a lower one.

        None if nothing shows it. After a deletion of records log_start may be written later than the checkpoint.

        Kafka: LeaderEpochFileCache.assign, truncateAndAppend.
        """
        batch, first = self.first_batch, (self.leader_epochs or (None,))[0]
        if batch is None or first is None or batch.leader_epoch < 0 or self.start is None:
            return None
        return first[1] if first[1] > max(self.start, batch.base_offset) else None

    @property
    def is_cut_by_hand(self) -> bool:
        """Whether segments at the beginning were removed while the broker was down: their leader epochs are left.

        A broker that deletes segments moves the first leader epoch to the first offset that is left.

        Kafka: UnifiedLog.maybeIncrementLogStartOffset (LeaderEpochFileCache.truncateFromStart).
        """
        starts = [offset for _, offset in self.leader_epochs or ()]
        return bool(starts) and bool(self.segments) and min(starts) < min(self.segments or starts)

    @cached_property
    def least_end(self) -> int:
        """An offset up to which the log has records, as far as is shown: its end is not below it."""
        segments = self.segments or {}
        known = [base + (size > 0) for base, size in segments.items()]
        epochs = [offset for _, offset in self.leader_epochs or ()]
        checkpoints = (offset or 0 for offset in (self.recovery_point, self.high_watermark))
        return max((*known, *epochs, *checkpoints, 0))

    @cached_property
    def end(self) -> int | None:
        """The log end offset; None if nothing shows it: the last segment has records, or sizes are not shown."""
        last = max(self.segments, default=None) if self.segments else None
        return None if last is None or self.segments is None or self.segments[last] else last

    @property
    def is_empty(self) -> bool | None:
        """Whether it has no records; None if nothing shows it."""
        return None if self.segments is None else not any(self.segments.values())

    @property
    def is_measured(self) -> bool:
        """Whether its segments are shown, and the leader epochs and the first batch of its records."""
        return bool(self.is_empty) or None not in (self.segments, self.leader_epochs, self.first_batch)

    @cached_property
    def last_epochs(self) -> tuple[int, ...] | None:
        """The leader epochs that its last record may have, earliest first; None if nothing shows them.

        A leader writes its epoch before it has a record of it, and what was not flushed is lost with the power. A
        broker that starts removes what has no record.

        Kafka: Partition.makeLeader (maybeAssignEpochStartOffset); LogLoader.load (truncateFromEnd), before 3.0 Log.
        """
        known = sorted((start, epoch) for epoch, start in self.leader_epochs or ())
        if not known and not self.is_empty:
            return None
        kept = max((base + (size > 0) for base, size in (self.segments or {}).items()), default=0)
        kept = max(kept, self.recovery_point or 0)
        sure = [epoch for start, epoch in known if start < kept]
        return (*sure[-1:], *(e for start, e in known if start >= kept and (self.end is None or start < self.end)))

    def has_epoch(self, epoch: int) -> bool | None:
        """Whether the checkpoint has the leader epoch; None if there is no checkpoint to ask."""
        return None if self.leader_epochs is None else any(known == epoch for known, _ in self.leader_epochs)


@frozen
class CapturedPartitionState:
    """The state znode of a partition; `leader` is None for ZooKeeper's -1, `repeated` names what the ISR has twice.

    `version` is ZooKeeper's count of its changes; None if the capture lacks it.
    """

    leader: int | None
    leader_epoch: int
    isr: tuple[int, ...]
    controller_epoch: int
    repeated: tuple[int, ...] = ()
    version: int | None = field(default=None, eq=False)


@frozen
class MovingReplicas:
    """What the topic's znode says of a partition that is being reassigned: replicas that are added, and removed."""

    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()

    def target(self, replicas: Iterable[int]) -> tuple[int, ...]:
        """Return the replicas that the partition is to have."""
        return tuple(broker for broker in replicas if broker not in self.removing)

    def origin(self, replicas: Iterable[int]) -> tuple[int, ...]:
        """Return the replicas that a cancellation leaves."""
        return tuple(broker for broker in replicas if broker not in self.adding)


@frozen
class Settings:
    """What a configuration says about acknowledgements and elections; None where it leaves it to others."""

    min_insync_replicas: int | None = None
    unclean_elections: bool | None = None


@frozen
class Topic:
    """The znode of a topic: its partitions' replicas, its topic id (None if it has none), and the states.

    `format` is the znode's own "version" field (3 where ids are known), `version` ZooKeeper's count of its changes, and
    `created` its czxid, which differs from that of an earlier topic of the same name, `changed` its mzxid; None if the
    capture lacks them. `moving` are the partitions whose replicas are being reassigned. `cleanup_policy` is that of the
    topic's configuration, "default" where it has none, None if it was not read. `repeated` names what the replicas of
    a partition have twice, `unassigned` the partitions to which the znode gives no replica: `partitions` lacks them.
    `settings` are those of its own configuration, None if it was not read. `elects_uncleanly` says whether the
    controller elects replicas outside of the ISR, by the topic's configuration or its own; None if it is not known.
    """

    name: str
    partitions: Mapping[int, tuple[int, ...]]
    topic_id: str | None
    format: int
    version: int
    states: Mapping[int, CapturedPartitionState] = field(factory=dict)
    created: int | None = None
    moving: Mapping[int, MovingReplicas] = field(factory=dict)
    changed: int | None = None
    cleanup_policy: str | None = None
    repeated: Mapping[int, tuple[int, ...]] = field(factory=dict)
    unassigned: tuple[int, ...] = ()
    settings: Settings | None = None
    elects_uncleanly: bool | None = None

    @property
    def is_compacted(self) -> bool:
        """Whether a cleaner rewrites its logs, or did: the policy says so, or the topic is Kafka's own."""
        return self.name in COMPACTED or "compact" in (self.cleanup_policy or "")

    @property
    def has_lost_its_policy(self) -> bool:
        """Whether it is one of Kafka's own, which has them compacted, and its policy is another one."""
        return self.name in COMPACTED and "compact" not in (self.cleanup_policy or "compact")


@frozen
class CapturedMetadata:
    """A partition in a broker's Metadata response; `leader` is None for -1.

    `offline` are the replicas that are not available: their broker is down, or the disk of the log has failed.
    """

    leader: int | None
    leader_epoch: int
    offline: tuple[int, ...] = ()
    isr: tuple[int, ...] = ()


@frozen
class CapturedReplica:
    """A replica in a broker's memory: the leader epoch that it has taken up, -1 before the first, and its role."""

    leader_epoch: int
    leads: bool


@frozen
class MetadataCache:
    """A broker's Metadata response: the live brokers, the controller, and each topic's id and partitions."""

    brokers: tuple[int, ...]
    controller: int | None
    topic_ids: Mapping[str, str | None]
    partitions: Mapping[str, Mapping[int, CapturedMetadata]]


@frozen
class LogRoot:
    """A broker's log directory (log.dirs): whose it is by meta.properties, and whether its disk has failed.

    `broker_id` and `cluster_id` are None where there is no meta.properties, or it was not read. `garbled` are the paths
    in it of checkpoints that no broker can read.
    """

    path: str
    broker_id: int | None = None
    cluster_id: str | None = None
    is_offline: bool = False
    garbled: tuple[str, ...] = ()

    @property
    def is_read(self) -> bool:
        """Whether its files were read, which meta.properties are of, and the broker does not only name it."""
        return (self.broker_id, self.cluster_id) != (None, None)


@frozen
class Broker:
    """A broker: whether it runs, its directories by name such as "t-0", and its metadata cache if it answered.

    If its directories were not `seen`, they are taken to be those that ZooKeeper assigns to it; of a broker that was
    read in part, those that were not found are `assumed`, unless the disk has failed. `is_described` is False
    if the capture has nothing of it: assignments or states name it. `mode` is "zookeeper", "migrating" (in ZooKeeper
    mode, and registered with KRaft) or "kraft"; None if nothing shows it. `set_aside` are the directories of logs that
    were renamed, to -stray, or to -delete before they are removed, and of copies to another log directory, -future.
    `twice` has the log directories of each partition's directory that is in more than one of them. `foreign` are the
    paths of log directories of another cluster or broker, which are not looked at: the broker is down, and does not
    start with them. `agreeing` are the topics and partitions of which it answered a fetch by the topic id in `cache` as
    a log does that has the id in memory, or none; `refusing` those whose logs have another one. Others are not known.
    `replicas` are those that it has in memory, None for one of which no controller has told it since it started.
    `settings` are what it uses where topics have none, None if it does not say.
    """

    id: int
    alive: bool
    directories: Mapping[str, Directory]
    cache: MetadataCache | None = None
    seen: bool = True
    roots: tuple[LogRoot, ...] = ()
    is_described: bool = True
    mode: str | None = None
    set_aside: Mapping[str, Directory] = field(factory=dict)
    assumed: frozenset[str] = frozenset()
    twice: Mapping[str, tuple[str, ...]] = field(factory=dict)
    foreign: frozenset[str] = frozenset()
    agreeing: frozenset[tuple[str, int]] = frozenset()
    refusing: frozenset[tuple[str, int]] = frozenset()
    replicas: Mapping[tuple[str, int], CapturedReplica | None] = field(factory=dict)
    settings: Settings | None = None

    def leads(self, topic: str, partition: int) -> bool:
        """Whether it leads a partition, as it says or, if it was not asked, as it answers clients.

        Of a replica that is offline it does not say, and leads none. Up to 3.0 one that it has refused by its topic id
        is offline, too, until it starts again: seen on 3.0.2.

        Kafka: Partition.lastOffsetForLeaderEpoch; ReplicaManager.becomeLeaderOrFollower, markPartitionOffline.
        """
        if not self.alive or topic in self._asked:
            found = self.replicas.get((topic, partition))
            return found is not None and found.leads
        known = self.cache.partitions.get(topic, {}).get(partition) if self.cache else None
        return known is not None and known.leader == self.id

    @cached_property
    def _asked(self) -> frozenset[str]:
        """The topics of which it said what it has in memory."""
        return frozenset(name for name, _ in self.replicas)

    @property
    def unread(self) -> list[str]:
        """The log directories whose files were not read, though others were, or are of others."""
        known = any(root.is_read for root in self.roots)
        unread = {root.path for root in self.roots if not root.is_read and (root.is_offline or known)}
        return [root.path for root in self.roots if root.path in unread | self.foreign]


@frozen
class MigrationNode:
    """The content of /migration: up to which record of KRaft's log ZooKeeper has everything; -1 before the copy."""

    offset: int
    controller_epoch: int


@frozen
class CapturedImagePartition:
    """A partition in KRaft's image; `leader` is None for -1."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int | None
    leader_epoch: int
    moving: bool


@frozen
class CapturedImageTopic:
    """A topic in KRaft's image."""

    topic_id: str
    partitions: Mapping[int, CapturedImagePartition]


@frozen
class CapturedImage:
    """KRaft's image: topics by name, and the brokers that are registered, with whether each migrates and is fenced.

    `state` is that of the migration: NONE, PRE_MIGRATION, MIGRATION or POST_MIGRATION; None if no record says it.
    `level` is that of metadata.version.
    """

    end_offset: int
    state: str | None
    topics: Mapping[str, CapturedImageTopic]
    migrating: tuple[int, ...]
    fenced: tuple[int, ...]
    registered: tuple[int, ...]
    open_transaction: bool = False
    level: int | None = None


@frozen
class Capture:
    """The content of a capture; `controller` is None where there was none.

    `version` is the release of Apache Kafka, and `version_note` says how the version that was reported names it.
    `registered` are the brokers in /brokers/ids, `deleting` the topics with a marker in /admin/delete_topics.
    `problems` says what could not be read, or contradicts itself, and `unsettled` are the topics that changed while
    they were read. `taken` is when it was begun and ended, in seconds since 1970. `is_kraft` says whether /controller
    is that of a KRaft controller, which a migration has (None: not shown); `cluster_id` is that of /cluster/id.
    `migration` is the content of /migration, and `image` KRaft's image; None where there is none, it was not read, or
    is older than what ZooKeeper has; `shows_migration` and `shows_cluster_id` say whether /migration and /cluster/id
    were looked for. `patterns` are those of the topics that were taken, all if there are none. `quorum_epoch` is the
    epoch of KRaft's controller in /controller. `elections` and `reassignments` are the partitions that clients have
    requested them for, in /admin/preferred_replica_election and /admin/reassign_partitions. `default_settings` are
    those of all brokers, in /config/brokers/<default>, None if they were not read.
    """

    version: str
    controller: int | None
    controller_epoch: int
    topics: Mapping[str, Topic]
    brokers: Mapping[int, Broker]
    deleting: tuple[str, ...] = ()
    registered: tuple[int, ...] = ()
    problems: tuple[str, ...] = ()
    unsettled: tuple[str, ...] = ()
    taken: tuple[float, float] | None = None
    is_kraft: bool | None = None
    cluster_id: str | None = None
    version_note: str = ""
    migration: MigrationNode | None = None
    image: CapturedImage | None = None
    shows_migration: bool = False
    patterns: tuple[str, ...] = ()
    quorum_epoch: int | None = None
    shows_cluster_id: bool = False
    elections: frozenset[tuple[str, int]] = frozenset()
    reassignments: frozenset[tuple[str, int]] = frozenset()
    default_settings: Settings | None = None
    kept: dict[Hashable, Any] = field(factory=dict, init=False, eq=False, repr=False)
    """What `kept_by_capture` keeps, by function and arguments."""

    def cached(self, topic: str, partition: int) -> CapturedMetadata | None:
        """Return what the first running broker that knows a partition answers clients; None if none of them does."""
        return next(iter(self.all_cached(topic, partition)), None)

    def all_cached(self, topic: str, partition: int) -> list[CapturedMetadata]:
        """Return what each running broker that knows a partition answers clients about it."""
        caches = (broker.cache for broker in self.brokers.values() if broker.alive and broker.cache)
        return [one for cache in caches if (one := cache.partitions.get(topic, {}).get(partition))]

    def directory(self, broker: int, topic: str, partition: int) -> Directory | None:
        """The directory of a partition on a broker, if it has one."""
        known = self.brokers.get(broker)
        return None if known is None else known.directories.get(f"{topic}-{partition}")

    def shows(self, broker: int, topic: str, partition: int) -> bool:
        """Whether the capture shows a broker's log of a partition, or that it has none: else it may have any log."""
        known, name = self.brokers[broker], f"{topic}-{partition}"
        return known.seen and name not in known.assumed and (name in known.directories or not known.unread)

    def lacks(self, broker: int, topic: str, partition: int) -> bool:
        """Whether the capture shows that a broker has no log of a partition."""
        return self.shows(broker, topic, partition) and self.directory(broker, topic, partition) is None

    def logs_of(self, brokers: Iterable[int], topic: str, partition: int) -> dict[int, Directory]:
        """The directories of a partition that brokers have, and that the capture shows, by broker."""
        found = {b: self.directory(b, topic, partition) for b in brokers if self.shows(b, topic, partition)}
        return {b: directory for b, directory in found.items() if directory is not None}

    @cached_property
    def kraft_controller(self) -> int | None:
        """The id of KRaft's controller, which /controller names; it is no broker, and hosts no logs."""
        is_node = self.is_kraft and self.controller is not None and not self.brokers[self.controller].seen
        return self.controller if is_node else None

    @cached_property
    def in_kraft_mode(self) -> tuple[int, ...]:
        """The brokers that KRaft's controller leads though they are not in ZooKeeper, as far as its image shows.

        If brokers in /brokers/ids are in KRaft mode by the image, it is older than their return to ZooKeeper mode.
        """
        image = self.image
        if image is None or image.state not in ("MIGRATION", "POST_MIGRATION"):
            return ()
        kraft = {*image.registered} - {*image.migrating}
        return () if kraft & {*self.registered} else tuple(sorted(kraft - {*image.fenced}))

    @cached_property
    def serves_in_kraft(self) -> bool:
        """Whether KRaft's controller leads brokers: /controller is its, or they are in KRaft mode without it."""
        return bool(self.is_kraft or self.in_kraft_mode)

    @property
    def lacks_copy_record(self) -> bool:
        """Whether /migration says that KRaft has no copy, or is not there."""
        return self.migration.offset < 0 if self.migration is not None else self.shows_migration

    @cached_property
    def later_controller(self) -> int | None:
        """The latest epoch of a controller that has written a state, if /controller_epoch is below it.

        A controller with a lower epoch elects no leader of such a partition. KRaft's writes the epoch of its quorum.
        """
        latest = max((s.controller_epoch for one in self.topics.values() for s in one.states.values()), default=0)
        return latest if latest > self.controller_epoch and not self.is_kraft else None

    @cached_property
    def shared_ids(self) -> dict[str, tuple[str, ...]]:
        """The topics that have one id, by the id."""
        found: dict[str, list[str]] = {}
        for topic in self.topics.values():
            if topic.topic_id is not None:
                found.setdefault(topic.topic_id, []).append(topic.name)
        return {identity: tuple(names) for identity, names in found.items() if len(names) > 1}

    @cached_property
    def topics_by_log_id(self) -> dict[str, set[str]]:
        """The topics whose logs have a topic id, by the id."""
        found: dict[str, set[str]] = {}
        for name, log in (pair for broker in self.brokers.values() for pair in broker.directories.items()):
            if log.topic_id is not None:
                found.setdefault(log.topic_id, set()).add(name.rpartition("-")[0])
        return found

    @cached_property
    def is_moving(self) -> bool:
        """Whether a reassignment is in progress: the tool starts another one with --additional only (2.6)."""
        image = self.image.topics.values() if self.image else ()
        in_kraft = any(partition.moving for topic in image for partition in topic.partitions.values())
        return in_kraft or bool(self.reassignments) or any(topic.moving for topic in self.topics.values())

    @cached_property
    def hosts(self) -> tuple[Broker, ...]:
        """All brokers: without KRaft's controller."""
        return tuple(broker for number, broker in self.brokers.items() if number != self.kraft_controller)

    @cached_property
    def electable(self) -> frozenset[int]:
        """The brokers that the controller may elect: they run and are registered; with KRaft, if it leads, unfenced."""
        if self.serves_in_kraft and self.image is not None:
            return frozenset({*self.live} & {*self.image.registered} - {*self.image.fenced})
        return frozenset(self.live if self.is_kraft else {*self.live} & {*self.registered})

    @cached_property
    def live(self) -> tuple[int, ...]:
        """The ids of the brokers that run."""
        return tuple(broker.id for broker in self.brokers.values() if broker.alive)


def kept_by_capture(function: Callable[Concatenate[Capture, P], T]) -> Callable[Concatenate[Capture, P], T]:
    """Compute what a function says of a capture and hashable arguments once: there are many thousand partitions.

    Callers must not change what it returns. A topic that is not the capture's own is looked at each time.
    """

    @wraps(function)
    def kept(capture: Capture, /, *about: P.args, **named: P.kwargs) -> T:
        topics = [one for one in about if isinstance(one, Topic)]
        if any(capture.topics.get(one.name) is not one for one in topics):
            return function(capture, *about, **named)
        key = (function, *(one.name if isinstance(one, Topic) else one for one in about), *named.items())
        if key not in capture.kept:
            capture.kept[key] = function(capture, *about, **named)
        found: T = capture.kept[key]
        return found

    return kept


def is_written(state: CapturedPartitionState | None, image: CapturedImagePartition | CapturedPartitionState) -> bool:
    """Whether a state znode has the leader, the leader epoch and the ISR that the image has."""
    if state is None:
        return False
    return (state.leader_epoch, state.leader, set(state.isr)) == (image.leader_epoch, image.leader, set(image.isr))


def topic_label(name: str) -> str:
    """Return a topic's printable name: characters that Kafka does not allow are escaped."""
    shown = "".join(c if re.match(r"[a-zA-Z0-9._-]", c) else _code(c) for c in name[:250])
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _code(character: str) -> str:
    return f"\\x{ord(character):02x}" if ord(character) < 0x100 else f"\\u{ord(character):04x}"


def read_capture(source: str | os.PathLike[str] | bytes) -> Capture:
    """Read the capture in a JSON file, or in its bytes, to search in it.

    Raises:
        UsageError: It cannot be read, or topics share an id: no controller starts with that, in the model either.
    """
    capture = read_any_capture(source)
    for identity, names in capture.shared_ids.items():
        raise UsageError(
            f"Topics {', '.join(topic_label(name) for name in names)} have one topic_id (got {identity!r}). Allowed: "
            "an id for each topic; no controller starts with this. `kwalk diagnose` says what comes of it."
        )
    return capture


def read_any_capture(source: str | os.PathLike[str] | bytes) -> Capture:
    """Read the capture in a JSON file, or in its bytes, to inspect it; UsageError if it cannot be read."""
    document = load(source)
    _check_format(document)
    caches = _Caches(document.field("brokers"))
    described = _table(document.field("brokers"), "broker id", caches.broker)
    if not described:
        raise document.field("brokers").wrong("names no broker", "at least one broker")
    contradictions: list[str] = []
    topics = {name: _topic(child, name, contradictions) for name, child in document.field("topics").fields()}
    controller, version = document.field("controller"), _version(document.field("version"))
    active = None if controller.missing else controller.number(0, INT32)
    ids, quorum_epoch = document.maybe("broker_ids"), _quorum_epoch(document)
    registered = tuple(b.id for b in described.values() if b.alive) if ids.missing else ids.numbers(0, INT32)
    brokers = _without_foreign(_with_named(described, topics, active, registered), document.maybe("cluster_id"))
    contradictions += (
        f"Broker {b.id} is named in ZooKeeper, and the snapshot has nothing of it: it is taken to be "
        f"{'up' if b.alive else 'down'}."
        for b in brokers.values()
        if not b.is_described and b.id != active
    )
    image, migration = _image(document.maybe("image")), _migration(document.maybe("migration"))
    if image is not None and (older := _older(image, migration, topics, quorum_epoch)):
        contradictions.append(older)
        image = None
    defaults, known = _settings(document.maybe("default_settings")), _with_lost_policies(topics)
    return Capture(
        version=version.name,
        controller=active,
        controller_epoch=document.field("controller_epoch").number(0, INT32),
        topics=_with_elections(known, brokers, active, defaults),
        brokers=_with_cleanings({b: _as_at_start(one, topics) for b, one in brokers.items()}, known),
        deleting=_names(document.maybe("delete_topics")),
        registered=registered,
        problems=(*_names(document.maybe("problems")), *contradictions),
        unsettled=_names(document.maybe("unsettled")),
        taken=_taken(document.maybe("taken")),
        is_kraft=None if quorum_epoch is None else quorum_epoch >= 0,
        quorum_epoch=None if quorum_epoch is None or quorum_epoch < 0 else quorum_epoch,
        elections=_partitions_in(document.maybe("preferred_replica_election")),
        reassignments=_partitions_in(document.maybe("reassign_partitions")),
        cluster_id=None if document.maybe("cluster_id").missing else document.maybe("cluster_id").text(),
        version_note=version.note,
        migration=migration,
        image=image,
        shows_migration="migration" in dict(document.fields()),
        shows_cluster_id="cluster_id" in dict(document.fields()),
        default_settings=defaults,
        patterns=() if document.maybe("taken").missing else _names(document.field("taken").maybe("topics")),
    )


def _older(
    image: CapturedImage, migration: MigrationNode | None, topics: Mapping[str, Topic], quorum_epoch: int | None
) -> str:
    """Return that an image is older than what ZooKeeper has while KRaft leads; empty if it is not, or agrees.

    Only KRaft's controller raises leader epochs then, and writes them to ZooKeeper after its log.
    """
    if quorum_epoch is None or quorum_epoch < 0:
        return ""
    copied = -1 if migration is None else migration.offset
    later = [
        f"{topic_label(name)}-{number}"
        for name, known in image.topics.items()
        for number, partition in known.partitions.items()
        if name in topics and known.topic_id == topics[name].topic_id and number in topics[name].states
        if topics[name].states[number].leader_epoch > partition.leader_epoch
    ]
    if not later and (copied < image.end_offset or not _differs(image, topics)):
        return ""
    has = f"a later leader epoch of {later[0]}" if later else f"what the log had up to {copied}"
    return (
        f"The copy of KRaft's log ends at offset {image.end_offset}, and ZooKeeper has {has}: the copy is older, and "
        "is left out. Copy it again, and take a snapshot at once. If it is so again, KRaft's controllers have lost "
        "records, or are new: restart neither them nor brokers."
    )


def _differs(image: CapturedImage, topics: Mapping[str, Topic]) -> bool:
    """Whether ZooKeeper has other topics, ids or states than an image."""
    if image.topics.keys() != topics.keys():
        return True
    return any(
        known.topic_id != topics[name].topic_id
        or known.partitions.keys() != topics[name].partitions.keys()
        or not all(is_written(topics[name].states.get(n), partition) for n, partition in known.partitions.items())
        for name, known in image.topics.items()
    )


def _partitions_in(node: JsonNode) -> frozenset[tuple[str, int]]:
    """The partitions whose numbers an object has by topic."""
    topics = () if node.missing else node.fields()
    return frozenset((name, number) for name, child in topics for number in child.numbers(0, INT32))


def _migration(node: JsonNode) -> MigrationNode | None:
    if node.missing:
        return None
    offset, epoch = node.field("kraft_metadata_offset"), node.field("kraft_controller_epoch")
    return MigrationNode(offset.number(-1), epoch.number(-1, INT32))


def _image(node: JsonNode) -> CapturedImage | None:
    if node.missing:
        return None
    state, brokers = node.maybe("state"), _table(node.field("brokers"), "broker id", _image_broker)
    return CapturedImage(
        end_offset=node.field("end_offset").number(),
        state=None if state.missing else state.text(),
        topics={name: _image_topic(child) for name, child in node.field("topics").fields()},
        migrating=tuple(number for number, (migrating, _) in brokers.items() if migrating),
        fenced=tuple(number for number, (_, fenced) in brokers.items() if fenced),
        registered=tuple(brokers),
        open_transaction=node.field("open_transaction").flag(),
        level=None if (level := node.maybe("metadata_version")).missing else level.number(),
    )


def _image_broker(node: JsonNode, _: int) -> tuple[bool, bool]:
    return node.field("migrating").flag(), node.field("fenced").flag()


def _image_topic(node: JsonNode) -> CapturedImageTopic:
    identity = topic_id(node.field("topic_id"))
    if identity is None:
        raise node.field("topic_id").wrong("is the zero id", "the id of a topic")
    return CapturedImageTopic(identity, _table(node.field("partitions"), "partition", _image_partition))


def _image_partition(node: JsonNode, _: int) -> CapturedImagePartition:
    adding, removing = (node.field(name).list_of_numbers(0, INT32) for name in ("adding_replicas", "removing_replicas"))
    return CapturedImagePartition(
        replicas=node.field("replicas").list_of_numbers(0, INT32),
        isr=node.field("isr").list_of_numbers(0, INT32),
        leader=_leader(node.field("leader")),
        leader_epoch=node.field("leader_epoch").number(-1, INT32),
        moving=bool(adding or removing),
    )


def _quorum_epoch(document: JsonNode) -> int | None:
    """The epoch of KRaft's controller in /controller, which is negative for a broker; None if it is not shown."""
    epoch = document.maybe("kraft_controller_epoch")
    return None if epoch.missing else epoch.number(-1, INT32)


def _with_named(
    described: Mapping[int, Broker], topics: Mapping[str, Topic], controller: int | None, registered: Iterable[int]
) -> dict[int, Broker]:
    """Return the brokers, with those that only ZooKeeper names: of these, registered ones run."""
    named = {*registered, *(() if controller is None else (controller,))}
    for topic in topics.values():
        named.update(*topic.partitions.values())
        for state in topic.states.values():
            named.update(state.isr, () if state.leader is None else (state.leader,))
    up = set(registered)
    others = {b: Broker(b, b in up, {}, seen=False, is_described=False) for b in named - described.keys()}
    return dict(sorted({**others, **described}.items()))


def _without_foreign(brokers: Mapping[int, Broker], cluster: JsonNode) -> dict[int, Broker]:
    """Return the brokers without the directories that are of another cluster, or of another broker where one is down.

    Which cluster is this one is shown by /cluster/id, if some log directory has it, too. A broker that runs has read
    meta.properties as it started: what is on a disk of another cluster is not what it serves here. One that is down
    does not start with a disk of another broker.
    """
    own = None if cluster.missing else cluster.text()
    is_shown = own is not None and any(root.cluster_id == own for broker in brokers.values() for root in broker.roots)
    found = {}
    for number, broker in brokers.items():
        others = {root.path for root in broker.roots if is_shown and root.cluster_id not in (None, own)}
        others |= {root.path for root in broker.roots if not broker.alive and root.broker_id not in (None, number)}
        is_whole = len(others) == len(broker.roots)
        kept = {n: log for n, log in broker.directories.items() if log.root not in others and not is_whole}
        found[number] = evolve(broker, directories=kept, foreign=frozenset(others)) if others else broker
    return found


def _taken(node: JsonNode) -> tuple[float, float] | None:
    if node.missing:
        return None
    return _moment(node.field("began")), _moment(node.field("ended"))


def _moment(node: JsonNode) -> float:
    try:
        moment = datetime.fromisoformat(node.text())
    except ValueError:
        moment = datetime.min
    if moment.tzinfo is None:
        raise node.wrong("is no time with its zone", 'a time such as "2024-05-01T12:00:00.123+00:00"')
    return moment.timestamp()


def _check_format(document: JsonNode) -> None:
    """Refuse formats that are newer than this reader; captures without the field have the first one."""
    number = document.maybe("format")
    if not number.missing and number.number(1) > FORMAT:
        raise UsageError(
            f"The capture has the format {number.value}, which is newer than this kwalk reads. "
            f"Allowed: 1 to {FORMAT}. Inspect it with the kwalk that wrote it, or a later one."
        )


def _as_at_start(broker: Broker, topics: Mapping[str, Topic]) -> Broker:
    """Return a broker with the directories that matter when it starts, whether they were seen or not."""
    return _assumed(_without_removed(broker, topics), topics)


def _without_removed(broker: Broker, topics: Mapping[str, Topic]) -> Broker:
    """Return a broker without the directories whose segments were removed: as it starts it begins an empty log there.

    One with the topic id of another topic stays: it is refused. Seen on 3.4.1: the only ISR member leads with nothing
    then, and the other replicas truncate their logs.

    Kafka: LogLoader.load, before 3.0 Log: a log without segments gets one at its first offset.
    """
    kept = {}
    for name, log in broker.directories.items():
        topic = topics.get(name.rpartition("-")[0])
        is_own = log.topic_id is None or (topic is not None and log.topic_id == topic.topic_id)
        if log.segments != {} or not is_own:
            kept[name] = log
    return evolve(broker, directories=kept) if len(kept) < len(broker.directories) else broker


def _assumed(broker: Broker, topics: Mapping[str, Topic]) -> Broker:
    """Return a broker with directories: those of its replicas that were not seen, with ZooKeeper's topic ids."""
    is_whole = broker.seen and not any(root.path in broker.unread for root in broker.roots if not root.is_offline)
    replicas = (
        (f"{topic.name}-{partition}", topic.topic_id)
        for topic in topics.values()
        for partition, assigned in topic.partitions.items()
        if broker.id in assigned and partition in topic.states
    )
    unread = (one for one in replicas if not is_whole or one[0] == METADATA_LOG)
    found = {name: Directory(identity) for name, identity in unread if name not in broker.directories}
    return evolve(broker, directories={**broker.directories, **found}, assumed=frozenset(found))


def _with_cleanings(brokers: Mapping[int, Broker], topics: Mapping[str, Topic]) -> dict[int, Broker]:
    """Return brokers whose directories say whether a cleaner has rewritten logs of their partitions."""
    entries: dict[str, set[int | None]] = {}
    for broker in brokers.values():
        for name, log in (*broker.directories.items(), *broker.set_aside.items()):
            entries.setdefault(_partition_of(name), set()).add(log.cleaned)
    known = {name: _cleaning(topics.get(name.rpartition("-")[0]), offsets) for name, offsets in entries.items()}

    def with_its(logs: Mapping[str, Directory]) -> dict[str, Directory]:
        return {name: evolve(log, cleaning=known[_partition_of(name)]) for name, log in logs.items()}

    return {
        number: evolve(broker, directories=with_its(broker.directories), set_aside=with_its(broker.set_aside))
        for number, broker in brokers.items()
    }


def _partition_of(directory: str) -> str:
    """Return the name of the directory that a partition's log has in use."""
    return directory.rpartition(".")[0] if _SET_ASIDE.fullmatch(directory) else directory


def _cleaning(topic: Topic | None, entries: Collection[int | None]) -> Cleaning:
    """Return what shows whether logs of a partition were rewritten.

    Args:
        topic: The topic, None without znodes.
        entries: Those of the logs in the checkpoints of their brokers.
    """
    if any(entries) or (topic is not None and topic.is_compacted):
        return Cleaning.CLEANED
    if None not in entries:
        return Cleaning.NEVER
    return Cleaning.POSSIBLE if topic is None or topic.cleanup_policy is None else Cleaning.NOT_SHOWN


def _with_lost_policies(topics: Mapping[str, Topic]) -> dict[str, Topic]:
    """Return topics whose policies are not known where one of Kafka's own has lost it: others may have lost theirs."""
    if not any(topic.has_lost_its_policy for topic in topics.values()):
        return dict(topics)
    default = {name for name, topic in topics.items() if topic.cleanup_policy == "default" and name not in COMPACTED}
    return {name: evolve(topic, cleanup_policy=None) if name in default else topic for name, topic in topics.items()}


def _with_elections(
    topics: Mapping[str, Topic], hosts: Mapping[int, Broker], controller: int | None, defaults: Settings | None
) -> dict[str, Topic]:
    """Return topics that say who is elected: by their own configuration, else by the controller's or all brokers'.

    Another broker may be the controller next: that none is elected outside of the ISR is known if all say so.

    Kafka: ZkPartitionStateMachine.collectUncleanLeaderElectionState.
    """
    known = {b: one.settings or defaults or Settings() for b, one in hosts.items() if one.alive or b == controller}
    default = (defaults or Settings() if controller is None else known[controller]).unclean_elections
    default = (
        None if default is False and any(one.unclean_elections is not False for one in known.values()) else default
    )
    found = dict(topics)
    for name, topic in topics.items():
        if topic.settings is not None:
            own = topic.settings.unclean_elections
            found[name] = evolve(topic, elects_uncleanly=default if own is None else own)
    return found


def _settings(node: JsonNode) -> Settings | None:
    if node.missing:
        return None
    least, unclean = node.maybe(MIN_IN_SYNC), node.maybe(UNCLEAN_ELECTIONS)
    return Settings(None if least.missing else least.number(1, INT32), None if unclean.missing else unclean.flag())


def _names(node: JsonNode) -> tuple[str, ...]:
    return () if node.missing else tuple(item.text() for item in node.items())


def _version(node: JsonNode) -> ReportedRelease:
    """The release behind Kafka's version; old captures write 2.8.2 as 282."""
    text = node.text()
    if not VERSION.fullmatch(text) and not _THREE_DIGITS.fullmatch(text):
        raise node.wrong("is no version of Kafka", 'a version such as "2.8.2" or "7.3.0-ccs"')
    return reported_release(".".join(text) if _THREE_DIGITS.fullmatch(text) else text)


def _table(node: JsonNode, what: str, read: Callable[[JsonNode, int], T]) -> dict[int, T]:
    """An object whose fields are named by numbers."""
    return dict(sorted((number, read(child, number)) for number, child in _numbered(node, what)))


def _numbered(node: JsonNode, what: str) -> Iterable[tuple[int, JsonNode]]:
    return ((key_number(name, child, what), child) for name, child in node.fields())


def _topic(node: JsonNode, name: str, contradictions: list[str]) -> Topic:
    znode = node.field("znode")
    partitions = _table(znode.field("partitions"), "partition", lambda child, _: child.list_of_numbers(0, INT32))
    others = sorted({name for name, _ in znode.fields()} - ZNODE_FIELDS)
    contradictions += (
        f"The znode of {topic_label(name)} has the field {printable(one, 100)}, which Apache Kafka does not write: "
        "what brokers do by it is not modelled."
        for one in others
        if not any(f" has the field {printable(one, 100)}, " in known for known in contradictions)
    )
    identity = topic_id(znode.maybe("topic_id"))
    if not node.maybe("topic_id").missing and topic_id(node.maybe("topic_id")) != identity:
        raise node.field("topic_id").wrong("differs from the topic_id in its znode", printable(identity))
    states = _table(node.field("partition_state"), "partition", _state)
    repeated, unassigned = dict[int, tuple[int, ...]](), list[int]()
    for number, replicas in list(partitions.items()):
        where = f"{topic_label(name)}-{number}"
        if not replicas:
            del partitions[number]
            unassigned.append(number)
        elif twice := _repeated(replicas):
            contradictions.append(f"The replicas of {where} name {_list(twice)} more than once.")
            partitions[number], repeated[number] = tuple(dict.fromkeys(replicas)), twice
    return Topic(
        name=name,
        partitions=partitions,
        topic_id=identity,
        format=znode.field("version").number(0, INT32),
        version=node.field("version").number(0, INT32),
        states=states,
        created=None if node.maybe("czxid").missing else node.maybe("czxid").number(),
        moving=_moving(znode, {*partitions, *unassigned}),
        changed=None if node.maybe("mzxid").missing else node.maybe("mzxid").number(),
        cleanup_policy=None if node.maybe("cleanup_policy").missing else node.maybe("cleanup_policy").text(),
        repeated=repeated,
        unassigned=tuple(unassigned),
        settings=_settings(node.maybe("settings")),
    )


def _moving(znode: JsonNode, partitions: Iterable[int]) -> dict[int, MovingReplicas]:
    """The partitions of these that have replicas in adding_replicas or removing_replicas.

    Kafka: TopicZNode.decode, ReplicaAssignment.isBeingReassigned.
    """
    adding, removing = (
        {} if part.missing else _table(part, "partition", lambda child, _: child.list_of_numbers(0, INT32))
        for part in (znode.maybe("adding_replicas"), znode.maybe("removing_replicas"))
    )
    named = (n for n in sorted(partitions) if adding.get(n) or removing.get(n))
    return {n: MovingReplicas(adding.get(n, ()), removing.get(n, ())) for n in named}


def _state(node: JsonNode, _: int) -> CapturedPartitionState:
    isr = node.field("isr").list_of_numbers(0, INT32)
    return CapturedPartitionState(
        leader=_leader(node.field("leader")),
        leader_epoch=node.field("leader_epoch").number(0, INT32),
        isr=tuple(dict.fromkeys(isr)),
        controller_epoch=node.field("controller_epoch").number(0, INT32),
        repeated=_repeated(isr),
        version=None if node.maybe("zk_version").missing else node.maybe("zk_version").number(0, INT32),
    )


def _leader(node: JsonNode) -> int | None:
    return None if node.missing or node.value == -1 else node.number(0, INT32)


def _repeated(numbers: Sequence[int]) -> tuple[int, ...]:
    return tuple(number for number in dict.fromkeys(numbers) if numbers.count(number) > 1)


def _list(numbers: Iterable[int]) -> str:
    shown = [str(number) for number in sorted(numbers)]
    return ", ".join(shown[:20]) + (f" and {len(shown) - 20} more" if len(shown) > 20 else "")


class _Caches:
    """Reads brokers, whose metadata caches may be written as the differences from that of another broker."""

    def __init__(self, brokers: JsonNode) -> None:
        self.brokers = brokers
        self.whole: dict[int, MetadataCache] = {}

    def broker(self, node: JsonNode, number: int) -> Broker:
        directories, cache = node.field("dirs"), _answered(node.maybe("metadata_cache"))
        aside, twice = node.maybe("set_aside"), node.maybe("twice")
        found = () if directories.missing else directories.fields()
        seen = {name: _directory(child) for name, child in found if name != METADATA_LOG}
        return Broker(
            id=number,
            alive=node.field("alive").flag(),
            directories=seen,
            cache=None if cache is None else self._cache(cache, number),
            seen=not directories.missing,
            roots=tuple(_root(child) for child in _items(node.maybe("log_dirs"))),
            mode=_mode(node.maybe("mode")),
            set_aside={} if aside.missing else {name: _set_aside(child, name) for name, child in aside.fields()},
            twice={} if twice.missing else {name: _names(child) for name, child in twice.fields()},
            agreeing=_answered_with(OFFSET_OUT_OF_RANGE, node),
            refusing=_answered_with(INCONSISTENT_TOPIC_ID, node),
            replicas=_replicas(node.maybe("replicas")),
            settings=_settings(node.maybe("settings")),
        )

    def _cache(self, node: JsonNode, number: int) -> MetadataCache:
        """Return the cache of a broker that answered."""
        if number not in self.whole:
            like = node.maybe("like")
            self.whole[number] = _cache(node, None if like.missing else self._other(like))
        return self.whole[number]

    def _other(self, like: JsonNode) -> MetadataCache:
        """Return the cache that differences are from: it must be written as a whole."""
        number = like.number(0, INT32)
        other = self.brokers.maybe(str(number))
        cache = None if other.missing else _answered(other.maybe("metadata_cache"))
        if cache is None or not cache.maybe("like").missing:
            raise like.wrong("names no broker whose metadata_cache is whole", "a broker with one that has no like")
        return self._cache(cache, number)


def _mode(node: JsonNode) -> str | None:
    if node.missing:
        return None
    if node.text() not in MODES:
        raise node.wrong("is no mode of a broker", ", ".join(MODES))
    return node.text()


def _answered(cache: JsonNode) -> JsonNode | None:
    """Return a metadata cache; None for a broker that was not asked or did not answer, which an "error" says."""
    return None if cache.missing or not cache.maybe("error").missing else cache


def _answered_with(error: int, broker: JsonNode) -> frozenset[tuple[str, int]]:
    """Return the partitions of which a broker answered a fetch by topic id with this error."""
    errors = broker.maybe("fetch_errors")
    return frozenset() if errors.missing else _partitions_in(errors.maybe(str(error)))


def _replicas(node: JsonNode) -> dict[tuple[str, int], CapturedReplica | None]:
    """The replicas that a broker has in memory, by topic and partition."""
    return {
        (name, number): one
        for name, by in (() if node.missing else node.fields())
        for number, one in _table(by, "partition", _replica).items()
    }


def _replica(node: JsonNode, _: int) -> CapturedReplica | None:
    if node.missing:
        return None
    return CapturedReplica(node.field("leader_epoch").number(-1, INT32), node.field("leads").flag())


def _directory(node: JsonNode) -> Directory:
    identity, is_garbled = _identity(node.field("partition_metadata"))
    if not node.maybe("topic_id").missing and topic_id(node.maybe("topic_id")) != identity:
        raise node.field("topic_id").wrong("differs from its partition_metadata", printable(identity))
    root, batch = node.maybe("root"), node.maybe("first_batch")
    return Directory(
        topic_id=identity,
        leader_epochs=leader_epochs(node.maybe("leader_epoch_checkpoint")),
        root=None if root.missing else root.text(),
        segments=_segments(node.maybe("files")),
        first_batch=None if batch.missing else _batch(batch),
        log_start=_offset(node.maybe("log_start")),
        recovery_point=_offset(node.maybe("recovery_point")),
        high_watermark=_offset(node.maybe("high_watermark")),
        cleaned=_offset(node.maybe("cleaned")),
        is_garbled=is_garbled,
    )


def _set_aside(node: JsonNode, name: str) -> Directory:
    if not _SET_ASIDE.fullmatch(name):
        raise node.wrong("is named like no directory that a broker has set aside", 'a name such as "t-0.01ab…-stray"')
    return _directory(node)


def _identity(node: JsonNode) -> tuple[str | None, bool]:
    """Return the topic id in a partition.metadata file, and whether the file is garbled."""
    if not node.missing:
        node.text()  # whatever is no text is refused
    try:
        return partition_metadata(node), False
    except UsageError:
        return None, True


def _items(node: JsonNode) -> Iterable[JsonNode]:
    return () if node.missing else node.items()


def _root(node: JsonNode) -> LogRoot:
    number, cluster, offline = node.maybe("broker_id"), node.maybe("cluster_id"), node.maybe("offline")
    return LogRoot(
        path=node.field("path").text(),
        broker_id=None if number.missing else number.number(0, INT32),
        cluster_id=None if cluster.missing else cluster.text(),
        is_offline=not offline.missing and offline.flag(),
        garbled=tuple(child.text() for child in _items(node.maybe("garbled"))),
    )


def _segments(node: JsonNode) -> dict[int, int] | None:
    """The sizes of segments by their base offsets; other files are not looked at."""
    if node.missing:
        return None
    sizes = {name: child.number() for name, child in node.fields()}
    found = ((_SEGMENT.fullmatch(name), size) for name, size in sizes.items())
    return dict(sorted((int(name[1]), size) for name, size in found if name))


def _batch(node: JsonNode) -> BatchHeader:
    return BatchHeader(
        base_offset=node.field("base_offset").number(),
        leader_epoch=node.field("leader_epoch").number(-1, INT32),
        timestamp=node.field("timestamp").number(-1),
        crc=node.field("crc").number(0, 2**32 - 1),
    )


def _offset(node: JsonNode) -> int | None:
    return None if node.missing else node.number()


def _cache(node: JsonNode, other: MetadataCache | None) -> MetadataCache:
    controller = node.maybe("controller")
    topics = dict(node.field("topics").fields())
    ids = {name: None if topic.missing else topic_id(topic.maybe("topic_id")) for name, topic in topics.items()}
    partitions = {
        name: {} if topic.missing else _table(topic.field("partitions"), "partition", _cached)
        for name, topic in topics.items()
    }
    return MetadataCache(
        brokers=node.field("brokers").numbers(0, INT32),
        controller=None if controller.missing or controller.value == -1 else controller.number(0, INT32),
        topic_ids={**(other.topic_ids if other else {}), **ids},
        partitions={**(other.partitions if other else {}), **partitions},
    )


def _cached(node: JsonNode, _: int) -> CapturedMetadata:
    leader, offline, isr = node.field("leader").number(-1, INT32), node.maybe("offline"), node.maybe("isr")
    return CapturedMetadata(
        leader=None if leader == -1 else leader,
        leader_epoch=node.field("leader_epoch").number(-1, INT32),
        offline=() if offline.missing else offline.list_of_numbers(0, INT32),
        isr=() if isr.missing else isr.list_of_numbers(0, INT32),
    )
