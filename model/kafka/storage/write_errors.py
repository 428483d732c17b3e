"""What a log has after a write to its disk has failed, until its directory is offline, and after the next start.

A failure is noticed where it happens, and handled by another thread, which takes the log directory offline. In between
other threads may append. The next start recovers the log up to the first batch of which only a part is there.

What the model leaves out, and why its story loses nothing by it:

* Reads that fail, and other replicas: what is lost here may be elsewhere, if the topic has other replicas in sync.
* Indexes of offsets and timestamps, which a recovery builds again.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.storage.domains import FAULT, LOG, OFFSETS, PRODUCER
from kwalk.model.kafka.storage.versions.recovery import END_OFFSET_BEFORE_THE_INDEX, FAILED_WRITES_FENCE
from kwalk.model.language import Bound, Fifo, action, choice, fifo, flag, number, require, state, value

WRITE_FAILURES = Bound("write_failures", "how often a write to the disk fails")


class DirectoryState(Enum):
    """Whether the log directory is used, is known to have failed, or is not used any more."""

    ONLINE = "online"
    FAILING = "a write has failed"
    OFFLINE = "offline"


@value
class WrittenBatch:
    """A batch in the file, by its offset; only a part of it may be there. Its producer may have its answer."""

    offset: int = number(0, OFFSETS)
    is_torn: bool = flag()
    is_answered: bool = flag()


@state
class FailingLog:
    """The batches in the file, the end offset that the broker knows, and how many answered ones a start has lost."""

    batches: Fifo[WrittenBatch] = fifo(WrittenBatch, OFFSETS + WRITE_FAILURES)
    end_offset: int = number(0, OFFSETS)
    directory: DirectoryState = choice(DirectoryState)
    lost: int = number(0, OFFSETS)
    write_failures: int = number(0, WRITE_FAILURES)


def accepts(log: FailingLog) -> bool:
    """Whether the log takes appends: since KAFKA-10778 not after a failure (Kafka: Log.checkForLogDirFailure)."""
    is_failing = log.directory is DirectoryState.FAILING
    return log.directory is DirectoryState.ONLINE or (is_failing and not FAILED_WRITES_FENCE)


@action(by=PRODUCER, description="appends a batch", source="Log.append, Log.maybeHandleIOException")
def append(log: FailingLog) -> None:
    """It is answered."""
    require(accepts(log))
    log.batches.push(WrittenBatch(offset=log.end_offset, is_torn=False, is_answered=True))
    log.end_offset += 1


@action(
    by=FAULT,
    description="writes a part of a batch only: the disk fails",
    source="LogSegment.append; FileRecords.append",
)
def fail_to_append(log: FailingLog) -> None:
    """The file system is full, or has an error."""
    require(accepts(log))
    log.write_failures += 1
    log.batches.push(WrittenBatch(offset=log.end_offset, is_torn=True, is_answered=False))
    log.directory = DirectoryState.FAILING


@action(
    by=FAULT,
    description="cannot write to the transaction index after it has appended the marker of an aborted transaction",
    source="LogSegment.updateTxnIndex; Log.updateLogEndOffset",
)
def fail_to_index(log: FailingLog) -> None:
    """Until KAFKA-7866 the end offset stayed where it was."""
    require(accepts(log))
    log.write_failures += 1
    log.batches.push(WrittenBatch(offset=log.end_offset, is_torn=False, is_answered=False))
    log.end_offset += bool(END_OFFSET_BEFORE_THE_INDEX)
    log.directory = DirectoryState.FAILING


@action(
    by=LOG,
    description="takes the log directory offline",
    source="LogDirFailureChannel; ReplicaManager.handleLogDirFailure",
)
def go_offline(log: FailingLog) -> None:
    """A thread of its own waits for failures."""
    require(log.directory is DirectoryState.FAILING)
    log.directory = DirectoryState.OFFLINE


@action(by=LOG, description="starts again, and recovers the log", source="LogSegment.recover; Log.recoverLog")
def restart(log: FailingLog) -> None:
    """The disk works again. The log is cut off at the first batch that is not whole."""
    require(log.directory is DirectoryState.OFFLINE)
    number = 0
    is_whole = True
    lost = 0
    for batch in log.batches:
        is_whole = is_whole and not batch.is_torn
        if is_whole:
            number += 1
        elif batch.is_answered:
            lost += 1
    log.lost += lost
    log.batches = [batch for at, batch in enumerate(log.batches) if at < number]
    log.end_offset = 0 if log.batches.is_empty else log.batches[-1].offset + 1
    log.directory = DirectoryState.ONLINE
