"""The state of one consumer group: its partition of __consumer_offsets, the coordinators' caches, and the consumers.

Words: a group lives in one partition of __consumer_offsets, whose leader is its *coordinator*. What a coordinator
*caches* is what it answers with; what is in the *log* is what the next coordinator loads. A coordinator *owns* the
partition from the end of a load to the next unload, whether it still leads or not. The topic that the group consumes
has one partition, and its *owner* is the member to which the group's leader has assigned it.

What no action can observe is reset to its default, so that equivalent clusters are equal states.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.domains import BROKERS, INCARNATIONS, LEADER_EPOCHS, REQUESTS
from kwalk.model.kafka.groups.domains import (
    BUSY_LOCKS,
    CLEANINGS,
    COMMITS,
    CONSUMER_STOPS,
    CONSUMERS,
    GENERATIONS,
    GROUP_DELETIONS,
    GROUP_MAX_SIZE,
    ISR_SHRINKS,
    JOIN_TIMEOUTS,
    LATE_EXPIRATIONS,
    LATER_RECORDS,
    LOG,
    LONG_METADATA,
    MEMBER_IDS,
    MOVES,
    OTHER_PROTOCOLS,
    PAUSES,
    REASSIGNMENTS,
    RETENTIONS,
    STARTS,
    TASKS,
    TRANSACTIONAL_COMMITS,
    WAITING_HEARTBEATS,
)
from kwalk.model.kafka.groups.versions import LOADED_MEMBERS_ARE_STATIC, OLD_RECORDS, REMOVAL_WAITS, STATIC_MEMBERS
from kwalk.model.language import (
    Array,
    Fifo,
    Fresh,
    array,
    choice,
    fifo,
    flag,
    fresh,
    member,
    nested,
    number,
    optional,
    state,
    subset,
    value,
)


@value
class CommittedOffset:
    """A committed offset (Kafka: OffsetAndMetadata): which commit it is, counted from 1, and when it was made.

    `incarnation` says which topic of that name it belongs to; `time` is the number of retention periods before it.
    """

    commit: int = number(0, COMMITS)
    incarnation: int = number(0, INCARNATIONS)
    time: int = number(0, RETENTIONS)


class RecordKey(Enum):
    """What a record in the log is about (Kafka: GroupMetadataKey, OffsetKey)."""

    GROUP = "group"
    OFFSET = "offset"


@value
class OffsetsRecord:
    """A record of __consumer_offsets; a group's has `generation` to `other_protocol`, an offset's has `offset`.

    `time` is the number of retention periods before the group came into its state (Kafka: currentStateTimestamp).
    `removed_from` are the brokers whose log cleaner has removed it from their replica; its offset stays.
    """

    key: RecordKey = choice(RecordKey)
    is_tombstone: bool = flag()
    generation: int = number(0, GENERATIONS)
    members: frozenset[int] = subset(MEMBER_IDS)
    leader: int | None = optional(MEMBER_IDS)
    owner: int | None = optional(MEMBER_IDS)
    time: int = number(0, RETENTIONS)
    other_protocol: bool = flag(when=OTHER_PROTOCOLS)
    offset: CommittedOffset = nested(CommittedOffset)
    removed_from: frozenset[int] = subset(BROKERS, when=CLEANINGS)

    @property
    def is_gone(self) -> bool:
        """Whether no replica has it any more."""
        return all(broker in self.removed_from for broker in BROKERS)


@state
class OffsetsPartition:
    """The group's partition of __consumer_offsets: its leader, and the leader's log.

    The two brokers are all its replicas, and in sync. The first `replicated` records are in both logs; the leader knows
    that of the first `high_watermark`, and the follower one fetch later of the first `follower_high_watermark`.
    `is_short_of_replicas` means that fewer replicas are in sync than min.insync.replicas: no commit is accepted.
    `clean_ends` is, for each broker, how many of the first records of its replica its log cleaner has cleaned.
    `has_later_records` means that both replicas have a record of a type that a later release has brought, and
    `has_pending_commit` that they have an offset of a transaction, and no marker of its end.
    """

    leader: int = member(BROKERS)
    leader_epoch: int = number(0, LEADER_EPOCHS)
    log: Fifo[OffsetsRecord] = fifo(OffsetsRecord, LOG)
    replicated: int = number(0, LOG)
    high_watermark: int = number(0, LOG)
    follower_high_watermark: int = number(0, LOG)
    is_short_of_replicas: bool = flag(when=ISR_SHRINKS)
    clean_ends: Array[int] = array(BROKERS, number(0, LOG), when=CLEANINGS)
    has_later_records: bool = flag(when=LATER_RECORDS)
    has_pending_commit: bool = flag(when=TRANSACTIONAL_COMMITS)


class GroupState(Enum):
    """The state of a cached group; Dead where the cache has none, as DescribeGroups says.

    CompletingRebalance is AwaitingSync in releases before 1.0.

    Kafka: GroupState.
    """

    DEAD = "Dead"
    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"


@state
class GroupMetadata:
    """A group in a coordinator's cache (Kafka: GroupMetadata, MemberMetadata).

    `awaiting_join` and `awaiting_sync` are the members whose requests wait for an answer, `pending_sync` those that
    have not sent SyncGroup in this generation. `owner` is the assignment. `time` is when the group came into its state;
    `is_unsubscribed` means that the last generation was Empty. `is_storing` and `is_committing` are appends whose
    answers wait for the replicas. `offset` is what OffsetFetch answers; in 0.10.0 it can be there without a group.
    `replaced` are the earlier ids of static members that have started again: they are back if the append fails.
    `is_commit_forgotten` means that the topic was deleted while a commit was on its way: it will not be cached.
    `is_pending_elsewhere` means that a commit of another partition counts as one on its way. `is_overlooked` means that
    all replicas have what was appended, and no thread looks at that before more is appended, or the time is up.
    A load can leave out since when the group is in its state (`has_no_time`), or take the offset for expired
    (`is_offset_due`). `unwatched` are the members whose session does not expire, as none of their requests has come
    since they joined; `still_watched` are members that were removed, and whose session is yet to end. A load took
    those of `taken_for_static` for static ones.
    """

    state: GroupState = choice(GroupState)
    generation: int = number(0, GENERATIONS)
    members: frozenset[int] = subset(MEMBER_IDS)
    awaiting_join: frozenset[int] = subset(MEMBER_IDS)
    awaiting_sync: frozenset[int] = subset(MEMBER_IDS)
    pending_sync: frozenset[int] = subset(MEMBER_IDS)
    unwatched: frozenset[int] = subset(MEMBER_IDS, when=CONSUMER_STOPS)
    still_watched: frozenset[int] = subset(MEMBER_IDS, when=LATE_EXPIRATIONS)
    taken_for_static: frozenset[int] = subset(MEMBER_IDS, when=LOADED_MEMBERS_ARE_STATIC)
    leader: int | None = optional(MEMBER_IDS)
    owner: int | None = optional(MEMBER_IDS)
    time: int = number(0, RETENTIONS)
    is_unsubscribed: bool = flag(when=RETENTIONS)
    has_no_time: bool = flag()
    other_protocol: bool = flag(when=OTHER_PROTOCOLS)
    is_storing: bool = flag()
    is_committing: bool = flag()
    is_commit_forgotten: bool = flag(when=INCARNATIONS)
    is_pending_elsewhere: bool = flag(when=LONG_METADATA)
    is_overlooked: bool = flag(when=BUSY_LOCKS)
    is_removing: bool = flag(when=REMOVAL_WAITS)
    replaced: frozenset[int] = subset(MEMBER_IDS, when=STATIC_MEMBERS)
    offset: CommittedOffset | None = optional(CommittedOffset)
    is_offset_due: bool = flag(when=OLD_RECORDS)

    @property
    def exists(self) -> bool:
        """Whether the group is in the cache."""
        return self.state is not GroupState.DEAD

    def forget_group(self) -> None:
        """Remove the group, without its offset."""
        self.state, self.generation, self.members = GroupState.DEAD, 0, frozenset()
        self.awaiting_join = self.awaiting_sync = self.pending_sync = self.unwatched = frozenset()
        self.leader = self.owner = None
        self.time = 0
        self.is_unsubscribed = self.other_protocol = self.is_storing = self.is_removing = False
        self.has_no_time = False
        self.replaced = self.still_watched = self.taken_for_static = frozenset()

    def forget(self) -> None:
        """Remove everything."""
        self.forget_group()
        self.offset, self.is_committing, self.is_offset_due = None, False, False
        self.is_pending_elsewhere = self.is_overlooked = self.is_commit_forgotten = False

    def remove_member(self, member_id: int) -> None:
        """Remove a member; if it is the leader, another one becomes leader (Kafka: GroupMetadata.remove)."""
        self.members = self.members - {member_id}
        self.awaiting_join = self.awaiting_join - {member_id}
        self.awaiting_sync = self.awaiting_sync - {member_id}
        self.pending_sync = self.pending_sync - {member_id}
        self.unwatched = self.unwatched - {member_id}
        self.taken_for_static = self.taken_for_static - {member_id}
        if self.leader == member_id:
            self.leader = min(self.members) if self.members else None

    def replace_member(self, old: int, new: int) -> None:
        """Give a static member its new member id, with its place (Kafka: GroupMetadata.replaceGroupInstance)."""
        self.members = (self.members - {old}) | {new}
        self.unwatched = self.unwatched - {old}
        self.awaiting_join = self.awaiting_join - {old}
        self.awaiting_sync = self.awaiting_sync - {old}
        if old in self.pending_sync:
            self.pending_sync = (self.pending_sync - {old}) | {new}
        if self.leader == old:
            self.leader = new
        if self.owner == old:
            self.owner = new


@value
class LeaderAndIsr:
    """What a LeaderAndIsr request says about the partition, or a StopReplica that deletes it (`stops_replica`).

    The controller's own record has more.
    """

    leader: int = member(BROKERS)
    leader_epoch: int = number(0, LEADER_EPOCHS)
    stops_replica: bool = flag(when=REASSIGNMENTS)


@value
class Task:
    """A load or an unload that waits for the single thread of a coordinator's scheduler, with its leader epoch."""

    is_load: bool = flag()
    leader_epoch: int = number(0, LEADER_EPOCHS)


@state
class Coordinator:
    """A broker: its replica of the partition, and its GroupMetadataManager.

    `is_leader` is the replica's. `owns` is ownedPartitions; `loaded_epoch` is the highest leader epoch of a load or
    unload that was done. `misses_deletion` means that an UpdateMetadata about the deleted topic is on its way.
    """

    is_leader: bool = flag()
    requests: Fifo[LeaderAndIsr] = fifo(LeaderAndIsr, REQUESTS)
    tasks: Fifo[Task] = fifo(Task, TASKS)
    owns: bool = flag()
    loaded_epoch: int = number(0, LEADER_EPOCHS)
    group: GroupMetadata = nested(GroupMetadata)
    misses_deletion: bool = flag(when=INCARNATIONS)


class ConsumerStatus(Enum):
    """How far a consumer's membership is: JOINING_NEW has sent JoinGroup without a member id, and does not know it yet.

    JOINED has the answer to JoinGroup and is to send SyncGroup. FENCED has got FENCED_INSTANCE_ID, and REFUSED
    INCONSISTENT_GROUP_PROTOCOL, GROUP_MAX_SIZE_REACHED or another error that it does not expect: the application gets
    an exception.
    """

    STOPPED = "stopped"
    UNJOINED = "unjoined"
    JOINING_NEW = "joining, without a member id"
    JOINING = "joining"
    JOINED = "joined"
    SYNCING = "syncing"
    STABLE = "stable"
    FENCED = "fenced"
    REFUSED = "refused"


class Pace(Enum):
    """Whether a consumer's threads run: STALLED sends heartbeats and nothing else, PAUSED sends nothing."""

    RUNNING = "running"
    STALLED = "stalled"
    PAUSED = "paused"


@state
class Consumer:
    """A consumer, and what its ConsumerCoordinator stores.

    `member_ids` are those that the group's leader has read in its answer to JoinGroup; elsewhere they are the group's.
    `found_no_group` means that its JoinGroup is handled, and found no group of that name; `is_waiting`, that its
    heartbeat has found the group, and waits for the group's lock.
    """

    status: ConsumerStatus = choice(ConsumerStatus)
    pace: Pace = choice(Pace, when=PAUSES)
    coordinator: int = member(BROKERS)
    member_id: int | None = optional(MEMBER_IDS)
    generation: int = number(0, GENERATIONS)
    owns: bool = flag()
    member_ids: frozenset[int] = subset(MEMBER_IDS, when=STATIC_MEMBERS)
    found_no_group: bool = flag(when=GROUP_MAX_SIZE)
    is_waiting: bool = flag(when=WAITING_HEARTBEATS)

    @property
    def is_live(self) -> bool:
        """Whether the process runs and takes part in the group, or is about to."""
        return self.status not in (ConsumerStatus.STOPPED, ConsumerStatus.FENCED, ConsumerStatus.REFUSED)

    @property
    def is_running(self) -> bool:
        """Whether it is live, and all of its threads run."""
        return self.is_live and self.pace is Pace.RUNNING

    def rejoin(self) -> None:
        """Give up the partition and send JoinGroup again, with the same member id."""
        self.status, self.owns, self.generation, self.member_ids = ConsumerStatus.UNJOINED, False, 0, frozenset()
        self.found_no_group = self.is_waiting = False

    def reset(self) -> None:
        """Give up the partition and the member id (Kafka: AbstractCoordinator.resetGeneration)."""
        self.rejoin()
        self.member_id = None


@state
class GroupCluster:
    """The partition, the coordinators, the consumers, and how much of each budget is spent.

    `clock` counts retention periods; `incarnation` counts how often the consumed topic was deleted and created again.
    `instance_of` is the consumer for which a member id was generated: a static member's id begins with its
    group.instance.id. `transaction` is the consumer whose producer has an ongoing transaction; while a TxnOffsetCommit
    is on its way, `sent_member` has sent it, in `sent_generation`.

    The rest is history. `acknowledged` is the last commit that was acknowledged, unless it may be gone by now: its
    topic or its group was deleted, or it has expired in a group without members. `stored_generation` is the highest
    generation whose assignment was stored, `commit_generation` the one in which the last commit was accepted.
    `is_removed` means that the group was removed, and no consumer has joined it since.
    """

    partition: OffsetsPartition = nested(OffsetsPartition)
    coordinators: Array[Coordinator] = array(BROKERS, Coordinator)
    consumers: Array[Consumer] = array(CONSUMERS, Consumer)
    member_ids: Fresh = fresh(MEMBER_IDS)
    instance_of: Array[int | None] = array(MEMBER_IDS, optional(CONSUMERS), when=STATIC_MEMBERS)
    clock: int = number(0, RETENTIONS)
    incarnation: int = number(0, INCARNATIONS)
    commits: int = number(0, COMMITS)
    starts: int = number(0, STARTS)
    consumer_stops: int = number(0, CONSUMER_STOPS)
    pauses: int = number(0, PAUSES)
    moves: int = number(0, MOVES)
    reassignments: int = number(0, REASSIGNMENTS)
    cleanings: int = number(0, CLEANINGS)
    group_deletions: int = number(0, GROUP_DELETIONS)
    join_timeouts: int = number(0, JOIN_TIMEOUTS)
    late_expirations: int = number(0, LATE_EXPIRATIONS)
    long_metadata: int = number(0, LONG_METADATA)
    isr_shrinks: int = number(0, ISR_SHRINKS)
    busy_locks: int = number(0, BUSY_LOCKS)
    transactional_commits: int = number(0, TRANSACTIONAL_COMMITS)
    transaction: int | None = optional(CONSUMERS, when=TRANSACTIONAL_COMMITS)
    sent_member: int | None = optional(MEMBER_IDS, when=TRANSACTIONAL_COMMITS)
    sent_generation: int = number(0, GENERATIONS, when=TRANSACTIONAL_COMMITS)
    acknowledged: CommittedOffset | None = optional(CommittedOffset)
    stored_generation: int = number(0, GENERATIONS)
    commit_generation: int = number(0, GENERATIONS)
    is_removed: bool = flag()

    def leads(self, broker: int) -> bool:
        """Whether the broker leads the partition and knows it: what it appends is replicated."""
        return self.partition.leader == broker and self.coordinators[broker].is_leader

    def serves(self, broker: int) -> bool:
        """Whether the broker is the coordinator in every respect: it leads, has loaded, and has nothing to do first."""
        coordinator = self.coordinators[broker]
        return self.leads(broker) and coordinator.owns and coordinator.tasks.is_empty and coordinator.requests.is_empty
