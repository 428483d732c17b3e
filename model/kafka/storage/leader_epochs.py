"""LeaderEpochFileCache: which leader epochs a log knows, and how followers truncate by them after elections.

Replicas of one partition, each with its records and its cache of leader epochs, whose file is
`leader-epoch-checkpoint`. What `kwalk.model.kafka.broker.log` has as one rule is here as releases have it: what a
leader answers to OffsetsForLeaderEpoch, what a follower makes of the answer, and what a crash leaves of the file.

What the model leaves out, and why its stories lose nothing by it:

* A record is a number, its leader epoch: records of one epoch have one leader, which appends them in order. Records of
  message formats before 0.11, which have none, are not there (KAFKA-6857, KAFKA-7601, KAFKA-7897).
* A log is one segment that was not flushed: its recovery reads all records. Nothing is deleted at its beginning.
* Requests are one step each, but for an answer that may be late, and a replica follows a new leader at once: a crash
  may come before its next step.
* From 2.7 on, the diverging epoch is in the response to a fetch (KIP-595): the same two offsets are compared.
* The last member of the ISR stays in it. Replicas that are slow leave the ISR only by a crash.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.kafka.storage.domains import CRASHES, FAULT, LOSSES, OFFSETS, OPERATOR, PRODUCER
from kwalk.model.kafka.storage.versions import (
    EPOCH_FILE_IS_FLUSHED,
    EPOCH_ZERO_IS_RECOVERED,
    EPOCHS_ARE_TRUNCATED_AT_THE_END,
    ISR_NEEDS_THE_EPOCH,
    LEADER_ANSWERS_WITH_ITS_EPOCH,
    LEADER_KNOWS_ITS_EPOCH,
    REMOVED_PARTITIONS_STAY,
    TRUNCATES_BY_EPOCH,
)
from kwalk.model.language import (
    Actor,
    Array,
    Bound,
    Domain,
    Fifo,
    action,
    array,
    fifo,
    flag,
    number,
    optional,
    require,
    state,
    value,
)

MEMBERS = Domain("members", "replicas of the partition")
ELECTIONS = Bound("elections", "how often a replica is elected: the highest leader epoch")
LATE_ANSWERS = Bound(
    "late_answers", "how often a fetcher handles the answer of a leader late: the follower may lead by then", default=0
)
REMOVALS = Bound("removals", "how often leader-epoch-checkpoint is removed while its broker is down", default=0)

Member = Annotated[int, MEMBERS]
BROKERS = Actor("brokers")
CONTROLLER = Actor("controller", system=False)

UNDEFINED = -1
"""No epoch, or no offset (Kafka: UNDEFINED_EPOCH, UNDEFINED_EPOCH_OFFSET)."""


@value
class EpochEntry:
    """Where a leader epoch begins (Kafka: EpochEntry)."""

    epoch: int = number(0, ELECTIONS)
    start_offset: int = number(0, OFFSETS)


@value
class EpochEnd:
    """Where a leader epoch ends, as a leader answers (Kafka: EpochEndOffset)."""

    epoch: int = number(0, ELECTIONS)
    end_offset: int = number(0, OFFSETS)


@state
class ReplicaLog:
    """A replica: the leader epochs of its `records`, by offset, and the `epochs` that it knows.

    `has_flushed_epochs` means that the file of the epochs is on disk as the cache is; `is_torn` that a crash of the
    machine has left zeros in it. A replica that `is_truncating` does not fetch yet. `known_end` is its end offset, as
    its leader knows it. A `late_answer` says where it is to truncate.
    """

    records: Fifo[int] = fifo(number(0, ELECTIONS), OFFSETS)
    epochs: Fifo[EpochEntry] = fifo(EpochEntry, ELECTIONS + 1)
    high_watermark: int = number(0, OFFSETS)
    known_end: int = number(0, OFFSETS)
    is_up: bool = flag(default=True)
    is_in_isr: bool = flag(default=True)
    is_truncating: bool = flag()
    has_flushed_epochs: bool = flag(when=LOSSES, default=True)
    is_torn: bool = flag(when=LOSSES)
    late_answer: EpochEnd | None = optional(EpochEnd, when=LATE_ANSWERS)


@state
class EpochPartition:
    """The replicas of a partition, its leader with its epoch and that epoch's start, and the `committed` records."""

    replicas: Array[ReplicaLog] = array(MEMBERS, ReplicaLog)
    leader: int | None = optional(MEMBERS)
    leader_epoch: int = number(0, ELECTIONS)
    epoch_start: int = number(0, OFFSETS)
    committed: Fifo[int] = fifo(number(0, ELECTIONS), OFFSETS)
    crashes: int = number(0, CRASHES)
    removals: int = number(0, REMOVALS)
    late_answers: int = number(0, LATE_ANSWERS)


def latest_epoch(log: ReplicaLog) -> int:
    """Return the latest leader epoch that a log knows (Kafka: LeaderEpochFileCache.latestEpoch)."""
    return UNDEFINED if log.epochs.is_empty else log.epochs[-1].epoch


def assign(log: ReplicaLog, epoch: int, offset: int) -> None:
    """Enter where an epoch begins; since KAFKA-7415 entries that contradict it go.

    Kafka: LeaderEpochFileCache.assign, LeaderEpochFileCache.truncateAndAppend.
    """
    if LEADER_KNOWS_ITS_EPOCH:
        is_new = log.epochs.is_empty or log.epochs[-1].epoch != epoch or offset < log.epochs[-1].start_offset
    else:
        is_new = log.epochs.is_empty or (log.epochs[-1].epoch < epoch and log.epochs[-1].start_offset <= offset)
    if is_new:
        if LEADER_KNOWS_ITS_EPOCH:
            log.epochs = [entry for entry in log.epochs if entry.epoch < epoch and entry.start_offset < offset]
        log.epochs.push(EpochEntry(epoch=epoch, start_offset=offset))
        if LOSSES > 0:
            log.has_flushed_epochs = True


def has_epoch_from(log: ReplicaLog, offset: int) -> bool:
    """Whether the log knows an epoch that begins at or above an offset."""
    return any(entry.start_offset >= offset for entry in log.epochs)


def truncate_epochs(log: ReplicaLog, end: int) -> None:
    """Remove the epochs that begin at or above an offset (Kafka: LeaderEpochFileCache.truncateFromEnd).

    In 3.7 the file is written without a flush.
    """
    if has_epoch_from(log, end):
        log.epochs = [entry for entry in log.epochs if entry.start_offset < end]
        if LOSSES > 0:
            log.has_flushed_epochs = bool(EPOCH_FILE_IS_FLUSHED)


def end_offset_for(log: ReplicaLog, requested: int) -> int:
    """Return where an epoch ends: where the next one begins that the log knows.

    Before KAFKA-7415 that is undefined also for an epoch before the first one.
    Kafka: LeaderEpochFileCache.endOffsetFor.
    """
    if requested == UNDEFINED or log.epochs.is_empty:
        return UNDEFINED
    if requested == latest_epoch(log):
        return len(log.records)
    if not LEADER_KNOWS_ITS_EPOCH and requested < log.epochs.head.epoch:
        return UNDEFINED
    return min((entry.start_offset for entry in log.epochs if entry.epoch > requested), default=UNDEFINED)


def epoch_for(log: ReplicaLog, requested: int) -> int:
    """Return the largest epoch up to the requested one that the log knows, or else that (as `end_offset_for`)."""
    known = max((entry.epoch for entry in log.epochs if entry.epoch <= requested), default=UNDEFINED)
    return requested if known == UNDEFINED else known


def truncate_to(log: ReplicaLog, offset: int) -> None:
    """Remove the records from an offset on (Kafka: Log.truncateTo).

    Before KAFKA-10706 nothing happens if there are none, although an epoch without records may begin there.
    """
    end = len(log.records)
    if offset < end:
        log.records = [epoch for at, epoch in enumerate(log.records) if at < offset]
        truncate_epochs(log, offset)
        log.high_watermark = min(log.high_watermark, offset)
    elif EPOCHS_ARE_TRUNCATED_AT_THE_END:
        truncate_epochs(log, end)


@action(
    by=CONTROLLER,
    description="elects replica {member}",
    source="PartitionStateMachine.doElectLeaderForPartitions; Partition.makeLeader, Partition.makeFollower",
)
def elect(partition: EpochPartition, member: Member) -> None:
    """A live member of the ISR leads: the leader is dead, or another replica is preferred; all others follow."""
    elected = partition.replicas[member]
    require(elected.is_up and elected.is_in_isr and not elected.is_torn and partition.leader != member)
    partition.leader = member
    partition.leader_epoch += 1
    partition.epoch_start = len(elected.records)
    for other in MEMBERS:
        partition.replicas[other].known_end = 0
        partition.replicas[other].is_truncating = other != member
    if LEADER_KNOWS_ITS_EPOCH:
        assign(elected, partition.leader_epoch, len(elected.records))


@action(by=PRODUCER, description="produces a record", source="Partition.appendRecordsToLeader; Log.append")
def produce(partition: EpochPartition) -> None:
    """The leader appends a record of its epoch; it is committed at once if the leader is alone in the ISR."""
    require(partition.leader is not None)
    assert partition.leader is not None
    leader = partition.replicas[partition.leader]
    assign(leader, partition.leader_epoch, len(leader.records))
    leader.records.push(partition.leader_epoch)
    raise_high_watermark(partition)


def raise_high_watermark(partition: EpochPartition) -> None:
    """Raise the leader's high watermark to the smallest end offset of the ISR; history remembers what is committed.

    Kafka: Partition.maybeIncrementLeaderHW.
    """
    assert partition.leader is not None
    leader = partition.replicas[partition.leader]
    end = len(leader.records)
    for member in MEMBERS:
        replica = partition.replicas[member]
        if member != partition.leader and replica.is_in_isr:
            end = min(end, replica.known_end)
    leader.high_watermark = max(leader.high_watermark, end)
    for at, epoch in enumerate(leader.records):
        if at == len(partition.committed) and at < leader.high_watermark:
            partition.committed.push(epoch)


def follows(partition: EpochPartition, member: int) -> bool:
    """Whether a live replica has a live leader."""
    return partition.replicas[member].is_up and partition.leader is not None and partition.leader != member


@action(
    by=BROKERS,
    description="replica {member} asks its leader where its latest epoch ends, and truncates its log",
    source="AbstractFetcherThread.maybeTruncate, AbstractFetcherThread.getOffsetTruncationState; "
    "Partition.lastOffsetForLeaderEpoch",
)
def truncate_follower(partition: EpochPartition, member: Member) -> None:
    """A follower truncates before it fetches; with an epoch that it does not know, it asks again.

    A round that changes nothing, and would be repeated, is no step.
    """
    require(follows(partition, member) and partition.replicas[member].is_truncating)
    assert partition.leader is not None
    leader, follower = partition.replicas[partition.leader], partition.replicas[member]
    requested, end = latest_epoch(follower), len(follower.records)
    leader_offset, leader_epoch = end_offset_for(leader, requested), epoch_for(leader, requested)
    own_offset, own_epoch = end_offset_for(follower, leader_epoch), epoch_for(follower, leader_epoch)
    is_done = True
    if not TRUNCATES_BY_EPOCH or leader_offset == UNDEFINED:
        target = follower.high_watermark
    elif not LEADER_ANSWERS_WITH_ITS_EPOCH or own_offset == UNDEFINED:
        target = leader_offset
    elif own_epoch != leader_epoch:
        target, is_done = own_offset, False
    else:
        target = min(own_offset, leader_offset)
    require(is_done or target < end or (bool(EPOCHS_ARE_TRUNCATED_AT_THE_END) and has_epoch_from(follower, end)))
    truncate_to(follower, min(target, end))
    follower.is_truncating = not is_done


@action(
    by=FAULT,
    description="delays the fetcher of replica {member}, which has asked its leader where its latest epoch ends",
    source="AbstractFetcherThread.processFetchRequest; Partition.lastOffsetForLeaderEpoch",
)
def delay_answer(partition: EpochPartition, member: Member) -> None:
    """The thread does not hold its lock between the answer and the truncation: elections may come between."""
    follower = partition.replicas[member]
    require(follows(partition, member) and follower.is_truncating and follower.late_answer is None)
    assert partition.leader is not None
    leader, requested = partition.replicas[partition.leader], latest_epoch(follower)
    leader_offset, leader_epoch = end_offset_for(leader, requested), epoch_for(leader, requested)
    require(UNDEFINED < leader_offset < len(follower.records) and leader_epoch > UNDEFINED)
    partition.late_answers += 1
    follower.late_answer = EpochEnd(epoch=leader_epoch, end_offset=leader_offset)


@action(
    by=BROKERS,
    description="the fetcher of replica {member} handles the answer that it has",
    source="AbstractFetcherThread.truncateOnFetchResponse, AbstractFetcherThread.maybeTruncateToEpochEndOffsets",
)
def handle_late_answer(partition: EpochPartition, member: Member) -> None:
    """By then another fetcher has the partition, or none, as the replica leads; until KAFKA-13207 it was truncated."""
    replica = partition.replicas[member]
    require(replica.is_up and replica.late_answer is not None)
    assert replica.late_answer is not None
    answer = replica.late_answer
    replica.late_answer = None
    if not REMOVED_PARTITIONS_STAY:
        own_offset, own_epoch = end_offset_for(replica, answer.epoch), epoch_for(replica, answer.epoch)
        is_equal = own_offset != UNDEFINED and own_epoch == answer.epoch
        truncate_to(replica, min(own_offset, answer.end_offset) if is_equal else answer.end_offset)


def may_join_isr(partition: EpochPartition, end: int) -> bool:
    """Whether a follower with that end offset joins the ISR; before KAFKA-7128 the leader's high watermark decides.

    Kafka: Partition.maybeExpandIsr.
    """
    assert partition.leader is not None
    is_committed = end >= partition.replicas[partition.leader].high_watermark
    return is_committed and (end >= partition.epoch_start or not ISR_NEEDS_THE_EPOCH)


@action(
    by=BROKERS,
    description="replica {member} fetches from its leader",
    source="AbstractFetcherThread.processFetchRequest; Partition.updateFollowerFetchState",
)
def fetch(partition: EpochPartition, member: Member) -> None:
    """The leader learns the end of the follower's log, which gets the next record; one that is too long is cut off.

    A fetch that changes nothing is no step.
    """
    require(follows(partition, member) and not partition.replicas[member].is_truncating)
    assert partition.leader is not None
    leader, follower = partition.replicas[partition.leader], partition.replicas[member]
    end, high_watermark = len(follower.records), leader.high_watermark
    may_join = not follower.is_in_isr and may_join_isr(partition, end)
    is_news = follower.known_end < end or follower.high_watermark < high_watermark
    require(end != len(leader.records) or may_join or is_news)
    if end > len(leader.records):
        truncate_to(follower, len(leader.records))
    else:
        follower.known_end = end
        raise_high_watermark(partition)
        follower.is_in_isr = follower.is_in_isr or may_join_isr(partition, end)
        for at, epoch in enumerate(leader.records):
            if at == end:
                assign(follower, epoch, at)
                follower.records.push(epoch)
        follower.high_watermark = min(high_watermark, len(follower.records))


@action(
    by=FAULT,
    description="the broker of replica {member} crashes; its machine, too: {with_machine}",
    source="KafkaController.onBrokerFailure",
)
def crash(partition: EpochPartition, member: Member, with_machine: bool) -> None:
    """The replica leaves the ISR unless it is the last member; a machine leaves a file that was not flushed torn."""
    replica = partition.replicas[member]
    require(replica.is_up and (LOSSES > 0 or not with_machine))
    partition.crashes += 1
    replica.is_up = False
    if LATE_ANSWERS > 0:
        replica.late_answer = None
    if LOSSES > 0:
        replica.is_torn = replica.is_torn or (with_machine and not replica.has_flushed_epochs)
        replica.has_flushed_epochs = True
    if partition.leader == member:
        partition.leader = None
    if any(other != member and partition.replicas[other].is_in_isr for other in MEMBERS):
        replica.is_in_isr = False


@action(
    by=OPERATOR,
    description="removes leader-epoch-checkpoint of replica {member}",
    source="LeaderEpochCheckpointFile.newFile",
)
def remove_epochs(partition: EpochPartition, member: Member) -> None:
    """The file is gone while the broker is down, as after a repair of the disk."""
    replica = partition.replicas[member]
    require(not replica.is_up and not replica.epochs.is_empty)
    partition.removals += 1
    replica.epochs.clear()
    replica.is_torn = False


@action(
    by=BROKERS,
    description="the broker of replica {member} starts",
    source="LogManager.loadLog; LogSegment.recover; LeaderEpochFileCache.truncateFromEnd",
)
def restart(partition: EpochPartition, member: Member) -> None:
    """A log that was not closed is recovered, and its epochs with it, from those after the latest that the file has."""
    replica = partition.replicas[member]
    require(not replica.is_up and not replica.is_torn)
    replica.is_up, replica.is_truncating = True, True
    for at, epoch in enumerate(replica.records):
        if epoch > latest_epoch(replica) and (epoch > 0 or EPOCH_ZERO_IS_RECOVERED):
            assign(replica, epoch, at)


def starts_with_a_leader(partition: EpochPartition) -> None:
    """Replica 0 leads in epoch 0."""
    partition.leader = 0
    if LEADER_KNOWS_ITS_EPOCH:
        assign(partition.replicas[0], 0, 0)
