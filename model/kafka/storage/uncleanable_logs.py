"""LogCleanerManager.uncleanablePartitions: which logs the cleaner leaves out, and how long, after errors of them.

Since KAFKA-7215 an error of a log marks its partition as uncleanable, until the broker stops. An error of the disk is
another matter: it takes the log directory offline, if it is known for one.

What the model leaves out, and why its story loses nothing by it:

* Other logs, which a thread that lives cleans as this one.
* The reads of consumers and followers: one that meets the same sector takes the directory offline, too.
* A restart of the broker, after which no log is marked.
"""

from __future__ import annotations

from kwalk.model.kafka.storage.domains import CLIENT, FAULT, LOG_CLEANER, PRODUCER, RECREATIONS
from kwalk.model.kafka.storage.versions.compaction import (
    CLEANERS_OUTLIVE_ERRORS,
    DELETED_LOGS_ARE_FORGOTTEN,
    MARKS_GO_WITH_THEIR_LOG,
    READ_ERRORS_ARE_OF_THE_DISK,
)
from kwalk.model.language import action, flag, number, require, state


@state
class CleanableTopic:
    """A compacted topic that `is_there`, or is deleted; its log `is_dirty` if it has what is to be cleaned.

    The cleaner cannot read a batch of the log (`has_bad_batch`), or the disk cannot (`has_bad_sector`). The thread
    `has_come_round` since the topic was deleted.
    """

    is_there: bool = flag(default=True)
    is_dirty: bool = flag()
    has_bad_batch: bool = flag()
    has_bad_sector: bool = flag()
    is_uncleanable: bool = flag()
    has_come_round: bool = flag()
    is_cleaner_dead: bool = flag()
    is_offline: bool = flag()
    recreations: int = number(0, RECREATIONS)


def is_used(log: CleanableTopic) -> bool:
    """Whether the broker has the log, and uses its directory."""
    return log.is_there and not log.is_offline


def may_choose(log: CleanableTopic) -> bool:
    """Whether the cleaner's thread chooses the log (Kafka: LogCleanerManager.isUncleanablePartition)."""
    return is_used(log) and log.is_dirty and not log.is_uncleanable and not log.is_cleaner_dead


@action(by=PRODUCER, description="appends records", source="Log.append")
def append_records(log: CleanableTopic) -> None:
    """They supersede earlier ones."""
    require(is_used(log) and not log.is_dirty)
    log.is_dirty = True


@action(by=FAULT, description="damages a batch of the log")
def damage_batch(log: CleanableTopic) -> None:
    """Its checksum is wrong."""
    require(is_used(log) and not log.has_bad_batch and not log.has_bad_sector)
    log.has_bad_batch = True


@action(by=FAULT, description="cannot read a sector that the log has")
def damage_sector(log: CleanableTopic) -> None:
    """An error of the disk."""
    require(is_used(log) and not log.has_bad_batch and not log.has_bad_sector)
    log.has_bad_sector = True


@action(by=LOG_CLEANER, description="cleans the log", source="Cleaner.clean")
def clean(log: CleanableTopic) -> None:
    """All that is new is read."""
    require(may_choose(log) and not log.has_bad_batch and not log.has_bad_sector)
    log.is_dirty = False


@action(
    by=LOG_CLEANER,
    description="cannot read a batch of the log",
    source="LogCleaner.tryCleanFilthiestLog; LogCleanerManager.markPartitionUncleanable",
)
def fail_to_clean(log: CleanableTopic) -> None:
    """Since KAFKA-7215 the log is left out from now on."""
    require(may_choose(log) and log.has_bad_batch)
    log.is_uncleanable, log.is_cleaner_dead = bool(CLEANERS_OUTLIVE_ERRORS), not CLEANERS_OUTLIVE_ERRORS


@action(
    by=LOG_CLEANER,
    description="gets an error of the disk as it reads what is new",
    source="Cleaner.buildOffsetMapForSegment; LogCleaner.cleanLog",
)
def fail_to_read(log: CleanableTopic) -> None:
    """Since 2.0.0 the error is within another exception, which is not taken for one of the disk."""
    require(may_choose(log) and log.has_bad_sector)
    if READ_ERRORS_ARE_OF_THE_DISK:
        log.is_offline = True
    else:
        log.is_uncleanable, log.is_cleaner_dead = bool(CLEANERS_OUTLIVE_ERRORS), not CLEANERS_OUTLIVE_ERRORS


@action(by=CLIENT, description="has the topic deleted", source="LogManager.asyncDelete")
def delete_topic(log: CleanableTopic) -> None:
    """What the cleaner's thread knows of errors is by the name of the partition."""
    require(is_used(log))
    log.is_there = log.is_dirty = log.has_bad_batch = log.has_bad_sector = log.has_come_round = False
    log.is_uncleanable = log.is_uncleanable and not MARKS_GO_WITH_THEIR_LOG


@action(
    by=LOG_CLEANER,
    description="comes round",
    source="LogCleaner.CleanerThread.doWork; LogCleanerManager.maintainUncleanablePartitions",
)
def come_round(log: CleanableTopic) -> None:
    """After log.cleaner.backoff.ms; since KAFKA-13305 the thread forgets logs that are not there."""
    require(not log.is_there and not log.has_come_round and not log.is_cleaner_dead)
    log.has_come_round = True
    log.is_uncleanable = log.is_uncleanable and not DELETED_LOGS_ARE_FORGOTTEN


@action(by=CLIENT, description="has the topic created again", source="LogManager.getOrCreateLog")
def create_topic(log: CleanableTopic) -> None:
    """Its log is empty."""
    require(not log.is_there)
    log.recreations += 1
    log.is_there = True
