"""ReplicaAlterLogDirsThread: a replica moves to another log directory of its broker, by way of a future log.

A thread copies the current log to the future log, and replaces one by the other once both have the same end. It fetches
as a follower does: with a leader epoch, after it has truncated what it copies to. The cleaner of a compacted log pauses
meanwhile, and its checkpoint moves, too.

What the model leaves out, and why its story loses nothing by it:

* A truncation of the current log: the future log follows in the same step, as the next fetch would do, but in a story
  in which the current log gets other records first.
* Records: a log is its end offset, and where its active segment begins. What a cleaning removes is in `log_cleaner`.
* Retries: a step that would fail again and again is not taken.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.storage.domains import (
    CLEANINGS,
    FAULT,
    LOG,
    LOG_CLEANER,
    OFFSETS,
    OPERATOR,
    PRODUCER,
    REPLICAS,
    STOPS,
    TRUNCATIONS,
)
from kwalk.model.kafka.storage.leader_epochs import ELECTIONS
from kwalk.model.kafka.storage.versions.moves import (
    CHECKPOINT_MOVES,
    EPOCH_REACHES_THE_MOVE,
    FAILED_MOVES_RESUME,
    LOG_IS_LOCKED_WHILE_IT_IS_UPDATED,
    MOVE_ASKS_BY_ITS_EPOCH,
    MOVE_COMPARES_OFFSETS,
    MOVE_RESUMES_AT_ITS_LOG,
    MOVES_HAVE_AN_EPOCH,
    MOVES_PAUSE_ONCE,
    OLD_REQUESTS_LEAVE_MOVES,
    PAUSES_ARE_COUNTED,
    REPLACED_MOVES_RESUME,
)
from kwalk.model.language import Actor, Bound, action, choice, flag, number, optional, require, state

CONTROLLER = Actor("controller", system=False)
LATE_UPDATES = Bound("late_updates", "how often a leader is late to raise its high watermark after a fetch", default=0)
DIVERGENCES = Bound(
    "divergences", "how often a follower's log is truncated and gets other records while it is moved", default=0
)
REPEATS = Bound("repeats", "how often the controller sends a leader epoch again, as another one does", default=0)
REPLACED_MOVES = Bound("replaced_moves", "how often a move is replaced by one to another directory", default=0)


class MovePhase(Enum):
    """How far the move is."""

    ABSENT = "not asked for"
    TRUNCATING = "truncates"
    FETCHING = "fetches"
    FAILED = "failed"
    DONE = "done"


@state
class MovingReplica:
    """A replica's current log and future log, the partition's leader epoch, and what the thread knows.

    A log has an end offset; `base` and `future_base` are where its active segment begins. The thread fetches from
    `fetch_offset` on, with `thread_epoch`.

    Of a compacted log: the cleaner leaves it out while it has `pauses`. `checkpoint` is what cleaner-offset-checkpoint
    of the log's directory has, and `stale_checkpoint` that of the other directory, which `is_read_last` if it stands
    later in log.dirs.

    Of a leader whose thread is late: the follower has fetched up to `known_end`, and the thread is to raise the high
    watermark to `late_end`, of a log that by then `is_replaced`.

    Of a follower that gets another leader: both logs have the same records up to `agreed_end`.
    """

    end: int = number(0, OFFSETS)
    base: int = number(0, OFFSETS)
    high_watermark: int = number(0, OFFSETS)
    future_end: int = number(0, OFFSETS)
    future_base: int = number(0, OFFSETS)
    fetch_offset: int = number(0, OFFSETS)
    epoch: int = number(0, ELECTIONS)
    thread_epoch: int = number(0, ELECTIONS)
    phase: MovePhase = choice(MovePhase)
    stops: int = number(0, STOPS)
    pauses: int = number(0, ELECTIONS + REPLACED_MOVES + REPEATS + 1, when=CLEANINGS)
    checkpoint: int = number(0, OFFSETS, when=CLEANINGS)
    stale_checkpoint: int | None = optional(number(0, OFFSETS), when=CLEANINGS)
    is_read_last: bool = flag(when=CLEANINGS)
    cleanings: int = number(0, CLEANINGS)
    truncations: int = number(0, TRUNCATIONS)
    known_end: int = number(0, OFFSETS, when=LATE_UPDATES)
    late_end: int | None = optional(number(0, OFFSETS), when=LATE_UPDATES)
    is_replaced: bool = flag(when=LATE_UPDATES)
    late_updates: int = number(0, LATE_UPDATES)
    agreed_end: int = number(0, OFFSETS, when=DIVERGENCES)
    divergences: int = number(0, DIVERGENCES)
    replaced_moves: int = number(0, REPLACED_MOVES)
    repeats: int = number(0, REPEATS)


def starts_in_a_directory(replica: MovingReplica, is_last: bool) -> None:
    """Put the replica into the first or the last of two log directories."""
    replica.is_read_last = is_last


def is_moving(replica: MovingReplica) -> bool:
    """Whether the broker has a future log."""
    return replica.phase not in (MovePhase.ABSENT, MovePhase.DONE)


def begin_at(replica: MovingReplica, offset: int) -> None:
    """Hand the partition to the thread, to truncate first (Kafka: AbstractFetcherThread.addPartitions)."""
    replica.phase, replica.fetch_offset, replica.thread_epoch = MovePhase.TRUNCATING, offset, replica.epoch


def pause_cleaning(replica: MovingReplica) -> None:
    """Keep the cleaner away until cleaning is resumed; since KAFKA-7441, as often as it was paused.

    Kafka: LogCleanerManager.abortAndPauseCleaning.
    """
    if CLEANINGS > 0:
        replica.pauses = replica.pauses + 1 if PAUSES_ARE_COUNTED else 1


def resumption_offset(replica: MovingReplica) -> int:
    """Return where a move goes on: at the future log's high watermark; before KAFKA-9087, at the current log's.

    Kafka: ReplicaManager.maybeAddLogDirFetchers.
    """
    return min(replica.high_watermark, replica.future_end) if MOVE_RESUMES_AT_ITS_LOG else replica.high_watermark


@action(by=PRODUCER, description="appends a record; the log rolls: {rolls}", source="Log.append")
def append_record(replica: MovingReplica, rolls: bool) -> None:
    """The current log is that of a leader or of a follower."""
    require(not rolls or replica.base < replica.end)
    if rolls:
        replica.base = replica.end
    replica.end += 1


@action(by=REPLICAS, description="replicate the log", source="Log.updateHighWatermark")
def replicate(replica: MovingReplica) -> None:
    """The high watermark rises to the end offset."""
    require(replica.high_watermark < replica.end)
    replica.high_watermark = replica.end


@action(
    by=REPLICAS,
    description="fetch the last record; the leader's thread is about to raise the high watermark of the log",
    source="Partition.updateFollowerFetchState",
)
def begin_update(replica: MovingReplica) -> None:
    """A fetch that tells the leader nothing is no step."""
    require(replica.late_end is None and replica.known_end < replica.end)
    replica.late_updates += 1
    replica.known_end = replica.end
    replica.late_end = replica.end


@action(by=LOG, description="raises the high watermark", source="Partition.maybeIncrementLeaderHW")
def end_update(replica: MovingReplica) -> None:
    """Before KAFKA-9263 perhaps that of a log which was replaced meanwhile."""
    require(replica.late_end is not None)
    assert replica.late_end is not None
    if not replica.is_replaced:
        replica.high_watermark = max(replica.high_watermark, replica.late_end)
    replica.late_end, replica.is_replaced = None, False


@action(
    by=REPLICAS,
    description="truncate the log to its high watermark",
    source="ReplicaFetcherThread.truncate; LogManager.truncateTo, LogCleanerManager.maybeTruncateCheckpoint",
)
def truncate(replica: MovingReplica) -> None:
    """A follower's log, of which segments go, so that cleaning pauses for a moment; the log then has one segment."""
    require(replica.high_watermark < replica.base)
    replica.truncations += 1
    replica.end = replica.high_watermark
    replica.base = replica.checkpoint = 0
    if not PAUSES_ARE_COUNTED:
        replica.pauses = 0
    if replica.future_end > replica.end:
        replica.future_end = replica.end
        replica.future_base = 0
        if replica.phase is MovePhase.FETCHING:
            replica.fetch_offset = replica.end


@action(
    by=REPLICAS,
    description="elect another leader: the log is truncated to its high watermark, and its copy is to be",
    source="ReplicaFetcherThread.truncate; ReplicaAlterLogDirsManager.markPartitionsForTruncation",
)
def diverge(replica: MovingReplica) -> None:
    """A follower's log, within its active segment; what it gets from then on are other records."""
    require(replica.high_watermark < replica.end and (replica.base < replica.high_watermark or replica.base == 0))
    replica.divergences += 1
    replica.end = replica.high_watermark
    replica.agreed_end = min(replica.agreed_end, replica.end)
    if replica.phase is MovePhase.FETCHING:
        replica.phase, replica.fetch_offset = MovePhase.TRUNCATING, min(replica.fetch_offset, replica.end)


def truncate_copy(replica: MovingReplica) -> None:
    """Cut off what the future log has beyond the answer of the current log; before KAFKA-6795 that was its end."""
    end = replica.agreed_end if MOVE_ASKS_BY_ITS_EPOCH else replica.end
    replica.future_end = min(replica.future_end, end)
    if replica.future_base >= replica.future_end:
        replica.future_base = 0


@action(
    by=OPERATOR,
    description="moves the replica to another log directory",
    source="ReplicaManager.alterReplicaLogDirs",
)
def start_move(replica: MovingReplica) -> None:
    """The future log is empty."""
    require(replica.phase is MovePhase.ABSENT)
    begin_at(replica, 0)
    pause_cleaning(replica)


@action(
    by=OPERATOR,
    description="moves the replica to a third log directory instead",
    source="ReplicaManager.alterReplicaLogDirs: futureReplicaDirChanged",
)
def replace_move(replica: MovingReplica) -> None:
    """The future log is deleted, and another one begins. Until KAFKA-19458 cleaning pauses once more."""
    require(is_moving(replica) and replica.replaced_moves < REPLACED_MOVES)
    replica.replaced_moves += 1
    replica.future_end = replica.future_base = 0
    begin_at(replica, 0)
    if not REPLACED_MOVES_RESUME:
        pause_cleaning(replica)


@action(
    by=OPERATOR,
    description="moves the replica to the log directory where it is, which cancels the move",
    source="ReplicaManager.alterReplicaLogDirs: futureReplicaDirChanged; Partition.maybeCreateFutureReplica",
)
def cancel_move(replica: MovingReplica) -> None:
    """The future log is deleted, and no other one begins. Until KAFKA-19458 cleaning stays paused."""
    require(is_moving(replica) and replica.replaced_moves < REPLACED_MOVES)
    replica.replaced_moves += 1
    replica.phase, replica.future_end, replica.future_base = MovePhase.ABSENT, 0, 0
    if REPLACED_MOVES_RESUME:
        replica.pauses = max(replica.pauses - 1, 0)


@action(
    by=FAULT,
    description="has the thread fail, which drops the partition",
    source="AbstractFetcherThread.processFetchRequest: addFailedPartition; ReplicaAlterLogDirsThread",
)
def fail_move(replica: MovingReplica) -> None:
    """An error that no one expects. The future log stays, and cleaning stays paused (KAFKA-14824)."""
    require(replica.phase is MovePhase.FETCHING)
    replica.phase = MovePhase.FAILED
    if FAILED_MOVES_RESUME:
        replica.pauses = max(replica.pauses - 1, 0)


@action(
    by=CONTROLLER,
    description="sends a LeaderAndIsr request with a new leader epoch",
    source="ReplicaManager.becomeLeaderOrFollower",
)
def change_leader(replica: MovingReplica) -> None:
    """Since KAFKA-9654 the thread learns the epoch, and begins again, also with a partition that it had dropped.

    Until KAFKA-16709 cleaning pauses once more.
    """
    replica.epoch += 1
    if is_moving(replica) and EPOCH_REACHES_THE_MOVE:
        begin_at(replica, resumption_offset(replica))
        if not MOVES_PAUSE_ONCE:
            pause_cleaning(replica)


@action(
    by=CONTROLLER,
    description="sends a LeaderAndIsr request with the leader epoch that the broker knows",
    source="ReplicaManager.becomeLeaderOrFollower: updatedPartitions",
)
def repeat_leader(replica: MovingReplica) -> None:
    """A controller that is elected does. In 2.5 cleaning pauses once more, and a copy that has failed begins again."""
    require(is_moving(replica) and replica.repeats < REPEATS)
    replica.repeats += 1
    if not OLD_REQUESTS_LEAVE_MOVES:
        pause_cleaning(replica)
        if replica.phase is MovePhase.FAILED:
            begin_at(replica, resumption_offset(replica))


@action(by=OPERATOR, description="starts the broker again", source="ReplicaManager.becomeLeaderOrFollower")
def restart(replica: MovingReplica) -> None:
    """A future log that is on disk is copied to again."""
    require(is_moving(replica))
    replica.stops += 1
    begin_at(replica, resumption_offset(replica))
    if CLEANINGS > 0:
        replica.pauses = 1


@action(
    by=LOG,
    description="truncates the future log to what the current log has",
    source="AbstractFetcherThread.truncateToEpochEndOffsets, AbstractFetcherThread.truncateToHighWatermark",
)
def truncate_future(replica: MovingReplica) -> None:
    """By the leader epoch of its last record; a log without records knows none, and takes the offset that it got."""
    require(replica.phase is MovePhase.TRUNCATING)
    if DIVERGENCES > 0:
        truncate_copy(replica)
    if replica.future_end > 0:
        replica.fetch_offset = replica.future_end
    replica.phase = MovePhase.FETCHING


@action(
    by=LOG,
    description="fetches from the current log; the future log rolls: {rolls}",
    source="AbstractFetcherThread.processFetchRequest; ReplicaAlterLogDirsThread.processPartitionData",
)
def fetch(replica: MovingReplica, rolls: bool) -> None:
    """An epoch that is older than the partition's is refused (FENCED_LEADER_EPOCH), and the thread drops the partition.

    It does so if the future log does not end where it fetches, too. Segments roll as in the copy of a compacted log.
    """
    is_fenced = bool(MOVES_HAVE_AN_EPOCH) and replica.thread_epoch < replica.epoch
    fails = is_fenced or replica.fetch_offset != replica.future_end
    require(replica.phase is MovePhase.FETCHING and (fails or replica.future_end < replica.end))
    require(not rolls or (not fails and replica.future_base < replica.future_end))
    if fails:
        replica.phase = MovePhase.FAILED
    else:
        if rolls:
            replica.future_base = replica.future_end
        if DIVERGENCES > 0 and replica.agreed_end == replica.future_end:
            replica.agreed_end = replica.future_end + 1
        replica.future_end += 1
        replica.fetch_offset = replica.future_end


@action(
    by=LOG,
    description="replaces the current log by the future log",
    source="Partition.maybeReplaceCurrentWithFutureReplica; LogManager.replaceCurrentWithFutureLog",
)
def replace_log(replica: MovingReplica) -> None:
    """Both end at the same offset; before KAFKA-8002, their active segments had to begin at the same offset, too.

    The checkpoint of a log that was cleaned stayed in its first directory, too, until KAFKA-8362. Cleaning that is not
    paused cannot be resumed: the thread drops the partition, and the log that was replaced stays.
    """
    require(replica.phase is MovePhase.FETCHING and replica.fetch_offset == replica.future_end == replica.end)
    require(bool(MOVE_COMPARES_OFFSETS) or replica.future_base == replica.base)
    require(LATE_UPDATES == 0 or replica.late_end is None or not LOG_IS_LOCKED_WHILE_IT_IS_UPDATED)
    if LATE_UPDATES > 0:
        replica.is_replaced = replica.late_end is not None
    is_paused = CLEANINGS == 0 or replica.pauses > 0
    replica.phase, replica.base = MovePhase.DONE if is_paused else MovePhase.FAILED, replica.future_base
    if CLEANINGS > 0:
        replica.pauses = max(replica.pauses - 1, 0)
        if replica.checkpoint > 0 and not CHECKPOINT_MOVES:
            replica.stale_checkpoint = replica.checkpoint


def first_dirty_offset(replica: MovingReplica) -> int:
    """Return where the cleaner begins: of two checkpoints, the one that is read last is taken.

    Kafka: LogCleanerManager.allCleanerCheckpoints.
    """
    stale = replica.stale_checkpoint
    return stale if stale is not None and replica.is_read_last else replica.checkpoint


@action(
    by=LOG_CLEANER,
    description="cleans the log up to its active segment",
    source="LogCleanerManager.grabFilthiestCompactedLog, LogCleanerManager.doneCleaning",
)
def clean(replica: MovingReplica) -> None:
    """Not while it is paused. The checkpoint is written in the log's directory."""
    require(replica.pauses == 0 and first_dirty_offset(replica) < replica.base)
    replica.cleanings += 1
    replica.checkpoint = replica.base
