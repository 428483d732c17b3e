"""LeaderEpochFileCache: which leader epochs a log knows, and how followers truncate by them after elections.

Replicas of one partition, each with its records and its cache of leader epochs, whose file is
`leader-epoch-checkpoint`. What `kwalk.model.kafka.broker.log` has as one rule is here as releases have it: what a
leader answers to OffsetsForLeaderEpoch, what a follower makes of the answer, and what a crash leaves of the file.

What the model leaves out, and why its stories lose nothing by it:

* A record is a number, its leader epoch: records of one epoch have one leader, which appends them in order. In message
  formats before 0.11 it is history: brokers do not see it. A broker has one format in a story, and none restarts.
* A log is one segment that was not flushed: its recovery reads all records. Those below its start offset are history.
* Requests are one step each, but for an answer that may be late, and a replica follows a new leader at once, unless it
  misses the election: a crash may come before its next step.
* From 2.8 on, the diverging epoch is in the response to a fetch (KIP-595): the same two offsets are compared. Records
  are deleted only in stories of these releases: before, a follower truncates also below the start of its leader's log.
* The last member of the ISR stays in it. Replicas that are slow leave the ISR only by a crash.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.kafka.storage.domains import (
    CLIENT,
    CONSUMER,
    CRASHES,
    FAULT,
    LEADER_DELETIONS,
    LOSSES,
    OFFSETS,
    OPERATOR,
    PRODUCER,
    Offset,
)
from kwalk.model.kafka.storage.versions.leader_epochs import (
    ANSWERS_MATCH_THE_EPOCH,
    END_NEEDS_THE_EPOCH,
    EPOCH_FILE_IS_FLUSHED,
    EPOCH_ZERO_IS_RECOVERED,
    EPOCHS_ARE_TRUNCATED_AT_THE_END,
    EXITS_WRITE_CHECKPOINTS,
    FETCHES_HAVE_AN_EPOCH,
    ISR_NEEDS_THE_EPOCH,
    LEADER_ANSWERS_WITH_ITS_EPOCH,
    LEADER_KNOWS_ITS_EPOCH,
    MISSED_EPOCHS_TRUNCATE,
    OLD_FORMATS_HAVE_NO_EPOCHS,
    OLD_RECORDS_CLEAR_EPOCHS,
    OUT_OF_RANGE_COMES_FIRST,
    REMOVED_PARTITIONS_STAY,
    RESPONSES_ARE_OF_THEIR_EPOCH,
    SHORTER_LEADERS_ARE_FOLLOWED,
    TRUNCATES_BEFORE_THE_HIGH_WATERMARK,
    TRUNCATES_BY_EPOCH,
    UNDEFINED_EPOCHS_ARE_NOT_ASKED,
    UNDEFINED_EPOCHS_HAVE_NO_END,
)
from kwalk.model.kafka.storage.versions.moves import MOVES_CARRY_EPOCHS
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
EPOCHS_OF_LEADERS = Domain("epochs_of_leaders", "leader epochs", size=ELECTIONS + 1)
LATE_ANSWERS = Bound(
    "late_answers", "how often a fetcher handles the answer of a leader late: the follower may lead by then", default=0
)
MISSED_ELECTIONS = Bound(
    "missed_elections", "how often a follower does not get the controller's request about an election", default=0
)
LATE_BYTES = Bound(
    "late_bytes", "how often the bytes of a response to a fetch are read late from the file of the leader", default=0
)
END_LOOKUPS = Bound("end_lookups", "how often a consumer asks for the end of the partition", default=0)
OLD_MEMBERS = Bound(
    "old_members", "replicas, the last ones, whose brokers append in a message format before 0.11", default=0
)
TAIL_LOSSES = Bound(
    "tail_losses",
    "1 if unclean.leader.election.enable=false, and a crash of a leader's machine may lose the end of its log",
    default=0,
)
EARLY_MEMBERS = Bound(
    "early_members", "replicas, the last ones, whose brokers are of a release up to 1.0.1 during an upgrade", default=0
)
LOG_MOVES = Bound("log_moves", "how often a replica's log is moved to another log directory", default=0)
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
    its leader knows it. A `late_answer` says where it is to truncate: it comes from the `asked_leader`, and the
    request was sent when the log ended at `asked_end`. A replica that has missed elections takes its
    `former_leader` for the leader, and gets no answer from it, but perhaps a response to an earlier fetch: that is
    of `response_epoch`, and its bytes are still in the log of `response_from`. Its broker `has_exited` at a leader
    with a shorter log.
    Records below its `start_offset` are deleted. Its fetcher `has_failed` if it does not fetch the partition any more.
    `checkpointed` is its high watermark in replication-offset-checkpoint, `exited_at` what it was as its broker exited.
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
    asked_leader: int | None = optional(MEMBERS, when=LATE_ANSWERS)
    asked_end: int = number(0, OFFSETS, when=LATE_ANSWERS)
    former_leader: int | None = optional(MEMBERS, when=MISSED_ELECTIONS)
    has_exited: bool = flag(when=MISSED_ELECTIONS)
    response_from: int | None = optional(MEMBERS, when=LATE_BYTES)
    response_epoch: int = number(0, ELECTIONS, when=LATE_BYTES)
    start_offset: int = number(0, OFFSETS, when=LEADER_DELETIONS)
    has_failed: bool = flag(when=LEADER_DELETIONS)
    checkpointed: int = number(0, OFFSETS, when=TAIL_LOSSES)
    exited_at: int | None = optional(number(0, OFFSETS), when=TAIL_LOSSES)


@state
class EpochPartition:
    """The replicas of a partition, its leader with its epoch and that epoch's start, and the `committed` records.

    The records of `old_epochs` are in a message format before 0.11. A consumer was told the `told_end` last.
    """

    replicas: Array[ReplicaLog] = array(MEMBERS, ReplicaLog)
    leader: int | None = optional(MEMBERS)
    leader_epoch: int = number(0, ELECTIONS)
    epoch_start: int = number(0, OFFSETS)
    committed: Fifo[int] = fifo(number(0, ELECTIONS), OFFSETS)
    old_epochs: Array[bool] = array(EPOCHS_OF_LEADERS, flag(), when=OLD_MEMBERS)
    crashes: int = number(0, CRASHES)
    removals: int = number(0, REMOVALS)
    log_moves: int = number(0, LOG_MOVES)
    tail_losses: int = number(0, TAIL_LOSSES)
    late_answers: int = number(0, LATE_ANSWERS)
    late_bytes: int = number(0, LATE_BYTES)
    missed_elections: int = number(0, MISSED_ELECTIONS)
    leader_deletions: int = number(0, LEADER_DELETIONS)
    end_lookups: int = number(0, END_LOOKUPS)
    told_end: int = number(0, OFFSETS, when=END_LOOKUPS)


def latest_epoch(log: ReplicaLog) -> int:
    """Return the latest leader epoch that a log knows (Kafka: LeaderEpochFileCache.latestEpoch)."""
    return UNDEFINED if log.epochs.is_empty else log.epochs[-1].epoch


def start_of(log: ReplicaLog) -> int:
    """Return the offset of the first record that a log still has."""
    return log.start_offset if LEADER_DELETIONS > 0 else 0


def follow_high_watermark(log: ReplicaLog, high_watermark: int) -> None:
    """Take over the leader's high watermark: it stays within the log (Kafka, since 2.4: Log.updateHighWatermark)."""
    log.high_watermark = max(start_of(log), min(high_watermark, len(log.records)))


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


def is_old(member: int) -> bool:
    """Whether the broker of a replica appends in a message format before 0.11 (log.message.format.version)."""
    return member >= len(MEMBERS) - OLD_MEMBERS


def is_early(member: int) -> bool:
    """Whether the broker of a replica is still of a release before KAFKA-6857."""
    return member >= len(MEMBERS) - EARLY_MEMBERS


def has_epochs(member: int) -> bool:
    """Whether a replica has a cache of leader epochs (Kafka: Log.initializeLeaderEpochCache)."""
    return not (is_old(member) and OLD_FORMATS_HAVE_NO_EPOCHS)


def is_of_an_old_epoch(partition: EpochPartition, epoch: int) -> bool:
    """Whether records of an epoch are in a message format before 0.11."""
    return OLD_MEMBERS > 0 and partition.old_epochs[epoch]


def append_record(partition: EpochPartition, member: int, epoch: int) -> None:
    """Append a record, whose epoch the replica then knows; one without clears what is known, since KAFKA-7601.

    Kafka: Log.append, Log.maybeAssignEpochStartOffset.
    """
    replica = partition.replicas[member]
    if not is_of_an_old_epoch(partition, epoch):
        if has_epochs(member):
            assign(replica, epoch, len(replica.records))
    elif OLD_RECORDS_CLEAR_EPOCHS:
        replica.epochs.clear()
    replica.records.push(epoch)


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


def raise_start(log: ReplicaLog, offset: int) -> None:
    """Let a log begin at an offset; of epochs that begin before, the latest then begins there.

    Kafka: Log.maybeIncrementLogStartOffset, LeaderEpochFileCache.truncateFromStart.
    """
    if LEADER_DELETIONS > 0 and offset > log.start_offset:
        log.start_offset = offset
        first = max((entry.epoch for entry in log.epochs if entry.start_offset <= offset), default=UNDEFINED)
        log.epochs = [
            EpochEntry(epoch=entry.epoch, start_offset=max(entry.start_offset, offset))
            for entry in log.epochs
            if entry.epoch >= first
        ]


def end_offset_for(log: ReplicaLog, requested: int) -> int:
    """Return where an epoch ends: where the next one begins that the log knows.

    Before KAFKA-7415 that is undefined also for an epoch before the first one. Before KAFKA-6857 a log without epochs
    took none for its latest one.
    Kafka: LeaderEpochFileCache.endOffsetFor.
    """
    if requested == UNDEFINED and log.epochs.is_empty and not UNDEFINED_EPOCHS_HAVE_NO_END:
        return len(log.records)
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
        if LEADER_DELETIONS > 0:
            log.start_offset = min(log.start_offset, offset)
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
    for other in MEMBERS:
        replica = partition.replicas[other]
        replica.is_truncating = other != member and (replica.is_truncating or not is_unaware(replica, member))
        if MISSED_ELECTIONS > 0:
            replica.former_leader = None
        if LEADER_DELETIONS > 0:
            replica.has_failed = False
    lead(partition, member)


def is_unaware(replica: ReplicaLog, leader: int) -> bool:
    """Whether a replica takes an election for none: its leader is the same as when it missed another one.

    Since KAFKA-7164 it looks at the leader epoch, too. Kafka: Partition.makeFollower.
    """
    return MISSED_ELECTIONS > 0 and replica.former_leader == leader and not MISSED_EPOCHS_TRUNCATE


def lead(partition: EpochPartition, member: int) -> None:
    """Begin another leader epoch."""
    elected = partition.replicas[member]
    partition.leader = member
    partition.leader_epoch += 1
    partition.epoch_start = len(elected.records)
    for replica in partition.replicas:
        replica.known_end = 0
    begin_epoch(partition, member)


def begin_epoch(partition: EpochPartition, member: int) -> None:
    """Enter where the epoch of a new leader begins (Kafka: Partition.makeLeader)."""
    elected = partition.replicas[member]
    if LEADER_KNOWS_ITS_EPOCH and has_epochs(member):
        assign(elected, partition.leader_epoch, len(elected.records))
    if OLD_MEMBERS > 0 and is_old(member):
        partition.old_epochs[partition.leader_epoch] = True


@action(
    by=CONTROLLER,
    description="elects replica {member}; replica {unaware} does not hear of it",
    source="RequestSendThread.doWork; Partition.makeFollower",
)
def elect_unnoticed(partition: EpochPartition, member: Member, unaware: Member) -> None:
    """The request to one follower waits, or is lost with its controller; it asks the former leader, which is none."""
    elected, leader = partition.replicas[member], partition.leader
    require(elected.is_up and elected.is_in_isr and not elected.is_torn)
    require(leader is not None and member != leader != unaware and unaware != member)
    assert leader is not None
    require(partition.replicas[unaware].is_up and partition.replicas[unaware].former_leader is None)
    partition.missed_elections += 1
    partition.replicas[unaware].former_leader = leader
    for other in MEMBERS:
        if other != unaware:
            partition.replicas[other].is_truncating = other != member
            partition.replicas[other].former_leader = None
    lead(partition, member)


@action(
    by=CONTROLLER,
    description="elects replica {member} again; replica {unaware} has missed that it did not lead",
    source="RequestSendThread.doWork; Partition.makeFollower",
)
def elect_again_unnoticed(partition: EpochPartition, member: Member, unaware: Member) -> None:
    """A replica whose broker hears of no election asks the leader of before, which leads again."""
    elected, zombie = partition.replicas[member], partition.replicas[unaware]
    require(elected.is_up and elected.is_in_isr and not elected.is_torn)
    require(zombie.is_up and zombie.former_leader == member and partition.leader not in (None, member, unaware))
    partition.missed_elections += 1
    for other in MEMBERS:
        if other != unaware:
            partition.replicas[other].is_truncating = other != member
    lead(partition, member)


@action(
    by=BROKERS,
    description="replica {member}, which has missed two elections, fetches from its leader",
    source="AbstractFetcherThread.processFetchRequest; Partition.updateFollowerFetchState",
)
def fetch_unaware(partition: EpochPartition, member: Member) -> None:
    """Since KIP-320 the fetch has the leader epoch that the follower knows, and is refused."""
    zombie = partition.replicas[member]
    require(not FETCHES_HAVE_AN_EPOCH and zombie.is_up and zombie.former_leader is not None)
    require(zombie.former_leader == partition.leader)
    assert partition.leader is not None
    leader, end = partition.replicas[partition.leader], len(zombie.records)
    require(end <= len(leader.records) and (zombie.known_end < end or end < len(leader.records)))
    zombie.known_end = end
    raise_high_watermark(partition)
    for at, epoch in enumerate(leader.records):
        if at == end:
            append_record(partition, member, epoch)


@action(by=PRODUCER, description="produces a record", source="Partition.appendRecordsToLeader; Log.append")
def produce(partition: EpochPartition) -> None:
    """The leader appends a record of its epoch; it is committed at once if the leader is alone in the ISR."""
    require(partition.leader is not None)
    assert partition.leader is not None
    append_record(partition, partition.leader, partition.leader_epoch)
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


@action(
    by=BROKERS,
    description="replica {member} hears of the election that it has missed",
    source="ReplicaManager.becomeLeaderOrFollower; Partition.makeFollower",
)
def hear_of_election(partition: EpochPartition, member: Member) -> None:
    """The request comes late, before the next one: the leader is another one, and the replica truncates."""
    replica = partition.replicas[member]
    require(replica.is_up and replica.former_leader is not None)
    replica.former_leader, replica.is_truncating = None, True


def follows(partition: EpochPartition, member: int) -> bool:
    """Whether a live replica has a live leader, knows it, and has not given up."""
    replica = partition.replicas[member]
    is_aware = MISSED_ELECTIONS == 0 or replica.former_leader is None
    is_able = LEADER_DELETIONS == 0 or not replica.has_failed
    return replica.is_up and is_aware and is_able and partition.leader is not None and partition.leader != member


def is_out_of_range(partition: EpochPartition, member: int) -> bool:
    """Whether the log of a follower ends below the start offset of its leader's."""
    assert partition.leader is not None
    return len(partition.replicas[member].records) < start_of(partition.replicas[partition.leader])


def is_of_an_unknown_epoch(partition: EpochPartition, member: int) -> bool:
    """Whether the leader does not know where the latest epoch of a follower ends: it answers OFFSET_OUT_OF_RANGE.

    The follower asks again, at the same offset. A leader that enters its epoch when it is elected knows all earlier
    ones, unless its log was moved since (Kafka: Partition.readRecords).
    """
    assert partition.leader is not None
    requested = latest_epoch(partition.replicas[member])
    is_known = end_offset_for(partition.replicas[partition.leader], requested) != UNDEFINED
    return LOG_MOVES > 0 and requested != UNDEFINED and not is_known


def diverges(leader: ReplicaLog, follower: ReplicaLog) -> bool:
    """Whether a leader answers a fetch with a diverging epoch (Kafka: Partition.readRecords)."""
    requested = latest_epoch(follower)
    end_offset = end_offset_for(leader, requested)
    is_known = requested != UNDEFINED and end_offset != UNDEFINED
    return is_known and (epoch_for(leader, requested) < requested or end_offset < len(follower.records))


def truncation_offset(leader: ReplicaLog, follower: ReplicaLog) -> tuple[int, bool]:
    """Return to where a follower truncates by its leader's answer, and whether that is all.

    Kafka: AbstractFetcherThread.getOffsetTruncationState.
    """
    requested = latest_epoch(follower)
    leader_offset, leader_epoch = end_offset_for(leader, requested), epoch_for(leader, requested)
    own_offset, own_epoch = end_offset_for(follower, leader_epoch), epoch_for(follower, leader_epoch)
    if not TRUNCATES_BY_EPOCH or leader_offset == UNDEFINED:
        return follower.high_watermark, True
    if not LEADER_ANSWERS_WITH_ITS_EPOCH or own_offset == UNDEFINED:
        return leader_offset, True
    if own_epoch != leader_epoch:
        return own_offset, False
    return min(own_offset, leader_offset), True


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
    require(not is_out_of_range(partition, member))
    require(not is_of_an_unknown_epoch(partition, member))
    assert partition.leader is not None
    leader, follower = partition.replicas[partition.leader], partition.replicas[member]
    end = len(follower.records)
    target, is_done = truncation_offset(leader, follower)
    if is_early(partition.leader) and latest_epoch(follower) == UNDEFINED and not UNDEFINED_EPOCHS_ARE_NOT_ASKED:
        target = len(leader.records)
    require(is_done or target < end or (bool(EPOCHS_ARE_TRUNCATED_AT_THE_END) and has_epoch_from(follower, end)))
    truncate_to(follower, min(target, end))
    follower.is_truncating = not is_done


@action(
    by=BROKERS,
    description="replica {member} takes over the high watermark of its leader before it truncates its log",
    source="AbstractFetcherThread.processFetchRequest; ReplicaFetcherThread.processPartitionData",
)
def raise_before_truncation(partition: EpochPartition, member: Member) -> None:
    """In 2.8 and later a response has both the diverging epoch and the high watermark (until KAFKA-14704)."""
    require(not TRUNCATES_BEFORE_THE_HIGH_WATERMARK)
    require(follows(partition, member) and partition.replicas[member].is_truncating)
    require(not is_out_of_range(partition, member))
    assert partition.leader is not None
    leader, follower = partition.replicas[partition.leader], partition.replicas[member]
    end = len(follower.records)
    target, _ = truncation_offset(leader, follower)
    is_news = follower.high_watermark < min(leader.high_watermark, end) or start_of(follower) < start_of(leader)
    require(target < end and is_news)
    follow_high_watermark(follower, leader.high_watermark)
    raise_start(follower, start_of(leader))


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
    follower.asked_leader, follower.asked_end = partition.leader, len(follower.records)


def is_asked_again(partition: EpochPartition, member: int) -> bool:
    """Whether a replica follows the leader again that it has asked, with as many records, and has not truncated yet.

    The fetcher of that leader then has the partition again. It waits for the answer, and so cannot ask for another one.
    Up to 2.1.0 it takes one also if the log has another end by then.
    """
    replica = partition.replicas[member]
    is_the_leader = replica.asked_leader is not None and replica.asked_leader == partition.leader
    return is_the_leader and replica.is_truncating and len(replica.records) == replica.asked_end


@action(
    by=BROKERS,
    description="the fetcher of replica {member} handles the answer that it has",
    source="AbstractFetcherThread.truncateOnFetchResponse, AbstractFetcherThread.maybeTruncateToEpochEndOffsets",
)
def handle_late_answer(partition: EpochPartition, member: Member) -> None:
    """By then another fetcher has the partition, or none, as the replica leads; until KAFKA-13207 it was truncated.

    If this one has it again, in a later leader epoch, it was truncated until KAFKA-7786, and from 2.8 to KAFKA-18991.
    """
    replica = partition.replicas[member]
    require(replica.is_up and replica.late_answer is not None)
    assert replica.late_answer is not None
    answer, is_taken = replica.late_answer, is_asked_again(partition, member) and not ANSWERS_MATCH_THE_EPOCH
    replica.late_answer = None
    if is_taken or not REMOVED_PARTITIONS_STAY:
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

    From 0.11, where unclean elections are off by default, to KAFKA-7414 its broker exited instead. A fetch that changes
    nothing is no step.
    """
    require(follows(partition, member) and not partition.replicas[member].is_truncating)
    require(not is_out_of_range(partition, member))
    require(not is_of_an_unknown_epoch(partition, member))
    require(LATE_BYTES == 0 or partition.replicas[member].response_from is None)
    assert partition.leader is not None
    leader, follower = partition.replicas[partition.leader], partition.replicas[member]
    end, high_watermark = len(follower.records), leader.high_watermark
    may_join = not follower.is_in_isr and may_join_isr(partition, end)
    is_news = follower.known_end < end or follower.high_watermark < high_watermark
    is_news = is_news or start_of(follower) < start_of(leader)
    require(end != len(leader.records) or may_join or is_news)
    require(TAIL_LOSSES == 0 or end <= len(leader.records))
    if end > len(leader.records):
        if SHORTER_LEADERS_ARE_FOLLOWED:
            truncate_to(follower, len(leader.records))
        else:
            leave(partition, member)
            if MISSED_ELECTIONS > 0:
                follower.has_exited = True
    else:
        follower.known_end = end
        raise_high_watermark(partition)
        follower.is_in_isr = follower.is_in_isr or may_join_isr(partition, end)
        for at, epoch in enumerate(leader.records):
            if at == end:
                append_record(partition, member, epoch)
        follow_high_watermark(follower, high_watermark)
        raise_start(follower, start_of(leader))


@action(
    by=FAULT,
    description="delays the response to a fetch of replica {member}, whose bytes are read from the leader's file late",
    source="ReplicaManager.fetchMessages; FileRecords.writeTo",
)
def delay_bytes(partition: EpochPartition, member: Member) -> None:
    """A response has a part of a file, which the network thread reads without the lock of the log."""
    require(follows(partition, member) and not partition.replicas[member].is_truncating)
    assert partition.leader is not None
    follower = partition.replicas[member]
    require(
        follower.response_from is None and len(follower.records) < len(partition.replicas[partition.leader].records)
    )
    partition.late_bytes += 1
    follower.response_from, follower.response_epoch = partition.leader, partition.leader_epoch


@action(
    by=BROKERS,
    description="replica {member} gets the bytes that its leader's file has by now",
    source="AbstractFetcherThread.processFetchRequest; UnifiedLog.appendAsFollower",
)
def receive_bytes(partition: EpochPartition, member: Member) -> None:
    """A replica that knows of another election leaves the response out.

    The former leader may have truncated its log, and copied that of the next one: until KAFKA-18723 the replica
    appended what is there.
    """
    follower = partition.replicas[member]
    require(follower.is_up and follower.response_from is not None)
    assert follower.response_from is not None
    is_unaware = follower.former_leader == follower.response_from
    is_same = partition.leader == follower.response_from and partition.leader_epoch == follower.response_epoch
    end = len(follower.records)
    for at, epoch in enumerate(partition.replicas[follower.response_from].records):
        is_of_its_epoch = epoch <= follower.response_epoch or not RESPONSES_ARE_OF_THEIR_EPOCH
        if at == end and (is_unaware or is_same) and not follower.is_truncating and is_of_its_epoch:
            append_record(partition, member, epoch)
    follower.response_from = None


@action(
    by=CONSUMER,
    description="asks the leader for the end of the partition",
    source="Partition.fetchOffsetForTimestamp",
)
def ask_for_end(partition: EpochPartition) -> None:
    """The answer is the high watermark; since KIP-207 none comes until it has reached the offset of the election."""
    require(partition.leader is not None)
    assert partition.leader is not None
    high_watermark = partition.replicas[partition.leader].high_watermark
    require(high_watermark >= partition.epoch_start or not END_NEEDS_THE_EPOCH)
    partition.end_lookups += 1
    partition.told_end = high_watermark


@action(
    by=CLIENT,
    description="deletes the records of the leader before offset {offset}",
    source="Log.maybeIncrementLogStartOffset; LeaderEpochFileCache.truncateFromStart",
)
def delete_records(partition: EpochPartition, offset: Offset) -> None:
    """A request, or retention, raises the start offset, at most to the high watermark."""
    require(partition.leader is not None)
    assert partition.leader is not None
    leader = partition.replicas[partition.leader]
    require(leader.start_offset < offset <= leader.high_watermark)
    partition.leader_deletions += 1
    raise_start(leader, offset)


@action(
    by=BROKERS,
    description="replica {member} begins its log afresh at the start offset of its leader",
    source="AbstractFetcherThread.fetchOffsetAndTruncate; Log.truncateFullyAndStartAt",
)
def start_afresh(partition: EpochPartition, member: Member) -> None:
    """The leader answers OFFSET_OUT_OF_RANGE; in 2.8.0 not at a diverging epoch. What is deleted is history."""
    require(follows(partition, member) and is_out_of_range(partition, member))
    assert partition.leader is not None
    leader, follower = partition.replicas[partition.leader], partition.replicas[member]
    require(bool(OUT_OF_RANGE_COMES_FIRST) or not diverges(leader, follower))
    start = leader.start_offset
    follower.records = [epoch for at, epoch in enumerate(leader.records) if at < start]
    follower.epochs.clear()
    follower.start_offset = follower.high_watermark = start
    follower.is_truncating = False


@action(
    by=OPERATOR,
    description="moves the log of replica {member} to another log directory of its broker",
    source="ReplicaAlterLogDirsThread.processPartitionData; LogManager.replaceCurrentWithFutureLog",
)
def move_log(partition: EpochPartition, member: Member) -> None:
    """The future log has the epochs of the records that it was given: none of an epoch without records."""
    replica = partition.replicas[member]
    require(replica.is_up and not replica.epochs.is_empty)
    partition.log_moves += 1
    if not MOVES_CARRY_EPOCHS:
        replica.epochs.clear()
        for at, epoch in enumerate(replica.records):
            if at >= start_of(replica):
                assign(replica, epoch, at)


@action(
    by=BROKERS,
    description="replica {member} truncates its log, which is longer than that of its leader",
    source="AbstractFetcherThread.fetchOffsetAndTruncate",
)
def truncate_to_the_leaders_end(partition: EpochPartition, member: Member) -> None:
    """At OFFSET_OUT_OF_RANGE a follower asks for the end of its leader's log, and fetches from there."""
    require(follows(partition, member) and is_of_an_unknown_epoch(partition, member))
    assert partition.leader is not None
    end = len(partition.replicas[partition.leader].records)
    require(end < len(partition.replicas[member].records))
    truncate_to(partition.replicas[member], end)


@action(
    by=BROKERS,
    description="the fetcher of replica {member} gives up, as its leader's log starts above the end of its own",
    source="Partition.readRecords; ReplicaFetcherThread.processPartitionData",
)
def give_up(partition: EpochPartition, member: Member) -> None:
    """In 2.8.0 a response with a diverging epoch has that start offset, too, which the follower cannot take over."""
    require(not OUT_OF_RANGE_COMES_FIRST)
    require(follows(partition, member) and is_out_of_range(partition, member))
    assert partition.leader is not None
    leader, follower = partition.replicas[partition.leader], partition.replicas[member]
    require(diverges(leader, follower))
    follow_high_watermark(follower, leader.high_watermark)
    follower.has_failed = True


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
    if LOSSES > 0:
        replica.is_torn = replica.is_torn or (with_machine and not replica.has_flushed_epochs)
        replica.has_flushed_epochs = True
    leave(partition, member)


def leave(partition: EpochPartition, member: int) -> None:
    """Take a broker down: the controller takes it out of the ISR, unless it is the last member."""
    replica = partition.replicas[member]
    replica.is_up = False
    if LATE_ANSWERS > 0:
        replica.late_answer = None
    if MISSED_ELECTIONS > 0:
        replica.former_leader = None
    if LEADER_DELETIONS > 0:
        replica.has_failed = False
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
    """A log that was not closed is recovered, and its epochs with it, from those after the latest that the file has.

    Epochs that begin at its end are removed.
    """
    replica = partition.replicas[member]
    require(not replica.is_up and not replica.is_torn)
    require(MISSED_ELECTIONS == 0 or not replica.has_exited)
    replica.is_up, replica.is_truncating = True, True
    for at, epoch in enumerate(replica.records):
        if at >= start_of(replica) and epoch > latest_epoch(replica) and (epoch > 0 or EPOCH_ZERO_IS_RECOVERED):
            assign(replica, epoch, at)
    truncate_epochs(replica, len(replica.records))
    if TAIL_LOSSES > 0:
        replica.high_watermark = min(replica.checkpointed, len(replica.records))


@action(
    by=BROKERS,
    description="the broker of replica {member} writes its high watermark to replication-offset-checkpoint",
    source="ReplicaManager.checkpointHighWatermarks",
)
def checkpoint_high_watermark(partition: EpochPartition, member: Member) -> None:
    """At intervals (replica.high.watermark.checkpoint.interval.ms)."""
    replica = partition.replicas[member]
    require(replica.is_up and replica.checkpointed != replica.high_watermark)
    replica.checkpointed = replica.high_watermark


@action(
    by=FAULT,
    description="the leader hears of no other replica; its machine crashes, and has its log up to offset {offset}",
    source="Partition.maybeShrinkIsr",
)
def lose_tail(partition: EpochPartition, offset: Offset) -> None:
    """As KAFKA-3410 has it: the leader alone is in the ISR, and what it had not flushed is gone."""
    require(partition.leader is not None and partition.tail_losses == 0)
    assert partition.leader is not None
    leader = partition.replicas[partition.leader]
    require(offset < len(leader.records))
    partition.tail_losses += 1
    for member in MEMBERS:
        partition.replicas[member].is_in_isr = member == partition.leader
    leader.records = [epoch for at, epoch in enumerate(leader.records) if at < offset]
    leave(partition, partition.leader)


@action(
    by=BROKERS,
    description="the broker of replica {member} exits, as its leader's log is shorter",
    source="ReplicaFetcherThread.handleOffsetOutOfRange; ReplicaManager.shutdown",
)
def exit_at_a_shorter_leader(partition: EpochPartition, member: Member) -> None:
    """Where unclean elections are off it truncates nothing; 0.10.0.0 halts, and later ones wait for themselves.

    That wait is a deadlock: the fetcher's thread is in System.exit, and the shutdown stops it before it writes
    checkpoints. The operator then kills the process. Since KAFKA-4039 the shutdown ends.
    """
    require(follows(partition, member) and not partition.replicas[member].is_truncating)
    assert partition.leader is not None
    follower = partition.replicas[member]
    require(len(follower.records) > len(partition.replicas[partition.leader].records))
    follower.exited_at = follower.high_watermark
    if EXITS_WRITE_CHECKPOINTS:
        follower.checkpointed = follower.high_watermark
    leave(partition, member)


def starts_with_a_leader(partition: EpochPartition) -> None:
    """Replica 0 leads in epoch 0."""
    partition.leader = 0
    begin_epoch(partition, 0)
