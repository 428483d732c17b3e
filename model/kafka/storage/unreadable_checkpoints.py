"""CheckpointFile: what a broker makes of a checkpoint in which a number cannot be read.

A log directory has three files with an offset for each log: the recovery points, the start offsets, and up to where the
cleaner has cleaned. A line that is no entry is an error of the disk, which takes the directory offline.

What the model leaves out, and why its story loses nothing by it:

* Recovery points: if they cannot be read, a start takes longer.
* leader-epoch-checkpoint, which is of the same form, and which `leader_epochs` has.
* Crashes: a start offset that is not in its checkpoint moves back, as `log_loading` has it.
"""

from __future__ import annotations

from kwalk.model.kafka.storage.domains import CLIENT, FAULT, LOG, LOG_CLEANER, OFFSETS, OPERATOR, Offset
from kwalk.model.kafka.storage.versions.compaction import BAD_NUMBERS_ARE_OF_THE_DISK
from kwalk.model.language import Bound, action, flag, number, require, state

DAMAGES = Bound("damages", "how often a number in a checkpoint is damaged")


@state
class CheckpointedLog:
    """A log with its `start_offset`, up to which clients have deleted records, and the `checkpoint` of that.

    That file (`has_bad_start`), or the cleaner's checkpoint (`has_bad_dirty`), has a number that cannot be read.
    """

    start_offset: int = number(0, OFFSETS)
    checkpoint: int = number(0, OFFSETS)
    has_bad_start: bool = flag()
    has_bad_dirty: bool = flag()
    is_up: bool = flag(default=True)
    is_offline: bool = flag()
    is_cleaner_dead: bool = flag()
    damages: int = number(0, DAMAGES)


def is_used(log: CheckpointedLog) -> bool:
    """Whether the broker runs, and uses the log directory."""
    return log.is_up and not log.is_offline


@action(by=CLIENT, description="deletes the records before {offset}", source="Log.maybeIncrementLogStartOffset")
def delete_records(log: CheckpointedLog, offset: Offset) -> None:
    """The start offset rises in memory."""
    require(is_used(log) and log.start_offset < offset)
    log.start_offset = offset


@action(by=LOG, description="writes the checkpoint of the start offsets", source="LogManager.checkpointLogStartOffsets")
def write_start(log: CheckpointedLog) -> None:
    """At intervals (log.flush.start.offset.checkpoint.interval.ms); the file is written anew."""
    require(is_used(log) and (log.has_bad_start or log.checkpoint != log.start_offset))
    log.checkpoint, log.has_bad_start = log.start_offset, False


@action(by=FAULT, description="damages a number in the checkpoint of the start offsets")
def damage_start(log: CheckpointedLog) -> None:
    """An error of the disk, or of a hand that edits the file."""
    require(not log.has_bad_start and log.checkpoint > 0)
    log.damages += 1
    log.has_bad_start = True


@action(by=FAULT, description="damages a number in the checkpoint of the cleaner")
def damage_dirty(log: CheckpointedLog) -> None:
    """As before."""
    require(not log.has_bad_dirty)
    log.damages += 1
    log.has_bad_dirty = True


@action(
    by=LOG_CLEANER,
    description="cannot read a number in its checkpoint",
    source="LogCleanerManager.allCleanerCheckpoints; OffsetCheckpointFile.Formatter.fromString",
)
def read_dirty(log: CheckpointedLog) -> None:
    """The thread reads it each time that it comes round; since 3.1.0 the exception ends the thread."""
    require(is_used(log) and log.has_bad_dirty and not log.is_cleaner_dead)
    log.is_offline, log.is_cleaner_dead = bool(BAD_NUMBERS_ARE_OF_THE_DISK), not BAD_NUMBERS_ARE_OF_THE_DISK


@action(by=OPERATOR, description="stops the broker", source="LogManager.shutdown")
def stop(log: CheckpointedLog) -> None:
    """The checkpoint of a directory that is online is written."""
    require(log.is_up)
    if is_used(log):
        log.checkpoint, log.has_bad_start = log.start_offset, False
    log.is_up = log.is_offline = log.is_cleaner_dead = False


@action(by=OPERATOR, description="writes the damaged numbers again, by hand")
def repair(log: CheckpointedLog) -> None:
    """While the broker is down."""
    require(not log.is_up and (log.has_bad_start or log.has_bad_dirty))
    log.has_bad_start = log.has_bad_dirty = False


@action(by=LOG, description="starts, and reads the checkpoint of the start offsets", source="LogManager.loadLogs")
def start(log: CheckpointedLog) -> None:
    """A log that has no start offset begins with its first segment, in a directory that is still online since 3.1.0."""
    require(not log.is_up)
    log.is_up = True
    log.start_offset = 0 if log.has_bad_start else log.checkpoint
    log.is_offline = log.has_bad_start and bool(BAD_NUMBERS_ARE_OF_THE_DISK)
