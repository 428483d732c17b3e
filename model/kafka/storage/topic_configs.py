"""Configurations of a topic that change while the cleaner is at work or not: cleanup.policy, max.message.bytes."""

from __future__ import annotations

from kwalk.model.kafka.storage.domains import CLIENT, LOG_CLEANER
from kwalk.model.kafka.storage.log import is_running
from kwalk.model.kafka.storage.log_cleaner import forget_cleaning
from kwalk.model.kafka.storage.state import LogPhase, PartitionLog
from kwalk.model.kafka.storage.versions.compaction import POLICY_ENDS_THE_CLEANING
from kwalk.model.language import action, require


@action(
    by=CLIENT,
    description="changes cleanup.policy from compact to delete, or back",
    source="TopicConfigHandler.processConfigChanges; LogManager.updateTopicConfig",
)
def change_policy(log: PartitionLog) -> None:
    """The log has retention from now on, or is compacted; since KAFKA-12840 a cleaning is aborted, but for a swap."""
    require(is_running(log))
    log.policy_changes += 1
    log.is_compacted = not log.is_compacted
    if POLICY_ENDS_THE_CLEANING:
        forget_cleaning(log)


@action(
    by=LOG_CLEANER,
    description="does not find an old segment, which retention has deleted",
    source="Log.replaceSegments, Log.asyncDeleteSegment; LogCleaner.CleanerThread.cleanOrSleep",
)
def miss_old(log: PartitionLog) -> None:
    """The cleaner cannot rename a file that is gone: its directory is taken offline."""
    require(log.phase is LogPhase.RUNNING and log.lacks_old and log.deleted.is_empty)
    log.is_offline, log.lacks_old = True, False
    forget_cleaning(log)


@action(
    by=CLIENT,
    description="lowers max.message.bytes to less than the batches of the log have",
    source="TopicConfigHandler.processConfigChanges; LogManager.updateTopicConfig",
)
def lower_limit(log: PartitionLog) -> None:
    """Batches that are there already stay, and are larger than the topic allows now."""
    log.limit_changes += 1


@action(
    by=CLIENT,
    description="lowers segment.bytes of the topic to the size of a batch",
    source="TopicConfigHandler.processConfigChanges; LogManager.updateTopicConfig",
)
def lower_segment_bytes(log: PartitionLog) -> None:
    """The configuration of the log has the new value at once."""
    log.segment_limits += 1


@action(
    by=CLIENT,
    description="lowers segment.bytes to less than the batches of the log have",
    source="TopicConfigHandler.processConfigChanges; LogManager.updateTopicConfig",
)
def lower_segments(log: PartitionLog) -> None:
    """Batches that are there already stay; a follower has the new value, too."""
    log.limit_changes += 1
