"""UnifiedLog with remote.storage.enable (KIP-405, since 3.6): which records a log has, here and in the remote store.

The leader copies closed segments to the remote store, and deletes here what it has copied. Retention deletes there.

What the model leaves out, and why its story loses nothing by it: segments of more than one record; local.retention.ms, which is that of retention.ms; and followers, and the remote store's own metadata.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.kafka.storage.domains import CLIENT, LOG, OFFSETS, OPERATOR, PRODUCER, TIME
from kwalk.model.kafka.storage.versions import (
    OLD_ACTIVE_SEGMENTS_ROLL,
    REMOTE_STARTS_ARE_CHECKPOINTED,
    START_OFFSETS_FREE_SEGMENTS,
)
from kwalk.model.language import Actor, action, number, require, state

REMOTE = Actor("remote log manager")
RemoteStart = Annotated[int, number(0, OFFSETS)]


@state
class TieredLog:
    """Offsets of a log: its `start` and `end`, and where its `active` segment begins.

    Attributes:
        local_start: where the first segment begins that is here.
        remote_start: where the first segment begins that is in the remote store.
        copied: up to where segments were copied.
        old_end: up to where records are older than retention.ms.
    """

    start: int = number(0, OFFSETS)
    end: int = number(0, OFFSETS)
    active: int = number(0, OFFSETS)
    local_start: int = number(0, OFFSETS)
    remote_start: int = number(0, OFFSETS)
    copied: int = number(0, OFFSETS)
    old_end: int = number(0, OFFSETS)


@action(by=PRODUCER, description="appends a record", source="UnifiedLog.append")
def append_tiered(log: TieredLog) -> None:
    """It is in the active segment, which is empty before."""
    require(log.active == log.end)
    log.end += 1


@action(by=PRODUCER, description="fills the segment", source="UnifiedLog.roll")
def roll_tiered(log: TieredLog) -> None:
    """The next record begins another one."""
    require(log.active < log.end)
    log.active = log.end


@action(by=TIME, description="has retention.ms pass", source="time")
def age_records(log: TieredLog) -> None:
    """All records are old."""
    require(log.old_end < log.end)
    log.old_end = log.end


@action(by=LOG, description="rolls the active segment, which is old", source="UnifiedLog.deletableSegments: roll")
def roll_old(log: TieredLog) -> None:
    """Since KAFKA-15047: a segment is copied, and deleted, when it is closed."""
    require(bool(OLD_ACTIVE_SEGMENTS_ROLL) and log.local_start == log.active < log.end == log.old_end)
    log.active = log.end


@action(by=REMOTE, description="copies a segment", source="RemoteLogManager.copyLogSegmentsToRemote")
def copy_segment(log: TieredLog) -> None:
    """What is before the start offset is not copied."""
    first = max(log.copied, log.start)
    require(first < log.active)
    if log.remote_start == log.copied:
        log.remote_start = first
    log.copied = first + 1


@action(by=LOG, description="deletes its first segment", source="UnifiedLog.deleteOldSegments")
def delete_local(log: TieredLog) -> None:
    """It is old, or before the start offset. In 3.6 it must have been copied in either case."""
    is_before_start = log.start > log.local_start
    require(log.local_start < log.active and (is_before_start or log.local_start < log.old_end))
    require(log.copied > log.local_start or (is_before_start and bool(START_OFFSETS_FREE_SEGMENTS)))
    log.local_start += 1


@action(
    by=REMOTE, description="deletes the first remote segment", source="RemoteLogManager.cleanupExpiredRemoteLogSegments"
)
def delete_remote(log: TieredLog) -> None:
    """It is old, or before the start offset, which follows."""
    require(log.remote_start < log.copied)
    require(log.remote_start < log.start or log.remote_start < log.old_end)
    log.remote_start += 1
    log.start = max(log.start, log.remote_start)


@action(by=CLIENT, description="deletes the records before {offset}", source="UnifiedLog.maybeIncrementLogStartOffset")
def delete_tiered(log: TieredLog, offset: RemoteStart) -> None:
    """DeleteRecords raises the start offset."""
    require(log.start < offset <= log.end)
    log.start = offset


@action(
    by=OPERATOR, description="restarts the broker", source="LogManager.checkpointLogStartOffsetsInDir, LogLoader.load"
)
def restart_tiered(log: TieredLog) -> None:
    """Until KAFKA-16146 a start offset was in no checkpoint that is not above the first local segment.

    Then the leader begins with the first remote segment, or with the first local one.
    Kafka: RemoteLogManager.maybeUpdateLogStartOffsetOnBecomingLeader.
    """
    is_written = bool(REMOTE_STARTS_ARE_CHECKPOINTED) or log.start > log.local_start
    first = log.remote_start if log.remote_start < log.copied else log.local_start
    log.start = log.start if is_written else first
