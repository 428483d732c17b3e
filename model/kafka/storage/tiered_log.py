"""UnifiedLog with remote.storage.enable (KIP-405, since 3.6): which records a log has, here and in the remote store.

The leader copies closed segments to the remote store, and deletes here what it has copied. Retention deletes there.

What the model leaves out, and why its story loses nothing by it: segments of more than one record; local.retention.ms,
which is retention.ms; followers; and what the remote store knows.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.kafka.storage.domains import CLIENT, LOG, OFFSETS, OPERATOR, PRODUCER, TIME
from kwalk.model.kafka.storage.versions.retention import (
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
def append_tiered(tiered: TieredLog) -> None:
    """It is in the active segment, which is empty before."""
    require(tiered.active == tiered.end)
    tiered.end += 1


@action(by=PRODUCER, description="fills the segment", source="UnifiedLog.roll")
def roll_tiered(tiered: TieredLog) -> None:
    """The next record begins another one."""
    require(tiered.active < tiered.end)
    tiered.active = tiered.end


@action(by=TIME, description="has retention.ms pass", source="time")
def age_records(tiered: TieredLog) -> None:
    """All records are old."""
    require(tiered.old_end < tiered.end)
    tiered.old_end = tiered.end


@action(by=LOG, description="rolls the active segment, which is old", source="UnifiedLog.deletableSegments: roll")
def roll_old(tiered: TieredLog) -> None:
    """Since KAFKA-15047: a segment is copied, and deleted, when it is closed."""
    require(bool(OLD_ACTIVE_SEGMENTS_ROLL) and tiered.local_start == tiered.active < tiered.end == tiered.old_end)
    tiered.active = tiered.end


@action(by=REMOTE, description="copies a segment", source="RemoteLogManager.copyLogSegmentsToRemote")
def copy_segment(tiered: TieredLog) -> None:
    """What is before the start offset is not copied."""
    first = max(tiered.copied, tiered.start)
    require(first < tiered.active)
    if tiered.remote_start == tiered.copied:
        tiered.remote_start = first
    tiered.copied = first + 1


@action(by=LOG, description="deletes its first segment", source="UnifiedLog.deleteOldSegments")
def delete_local(tiered: TieredLog) -> None:
    """It is old, or before the start offset. In 3.6 it must have been copied in either case."""
    is_before_start = tiered.start > tiered.local_start
    require(tiered.local_start < tiered.active and (is_before_start or tiered.local_start < tiered.old_end))
    require(tiered.copied > tiered.local_start or (is_before_start and bool(START_OFFSETS_FREE_SEGMENTS)))
    tiered.local_start += 1


@action(
    by=REMOTE, description="deletes the first remote segment", source="RemoteLogManager.cleanupExpiredRemoteLogSegments"
)
def delete_remote(tiered: TieredLog) -> None:
    """It is old, or before the start offset, which follows."""
    require(tiered.remote_start < tiered.copied)
    require(tiered.remote_start < tiered.start or tiered.remote_start < tiered.old_end)
    tiered.remote_start += 1
    tiered.start = max(tiered.start, tiered.remote_start)


@action(by=CLIENT, description="deletes the records before {offset}", source="UnifiedLog.maybeIncrementLogStartOffset")
def delete_tiered(tiered: TieredLog, offset: RemoteStart) -> None:
    """DeleteRecords raises the start offset."""
    require(tiered.start < offset <= tiered.end)
    tiered.start = offset


@action(
    by=OPERATOR, description="restarts the broker", source="LogManager.checkpointLogStartOffsetsInDir, LogLoader.load"
)
def restart_tiered(tiered: TieredLog) -> None:
    """Until KAFKA-16146 a start offset was in no checkpoint that is not above the first local segment.

    Then the leader begins with the first remote segment, or with the first local one.
    Kafka: RemoteLogManager.maybeUpdateLogStartOffsetOnBecomingLeader.
    """
    is_written = bool(REMOTE_STARTS_ARE_CHECKPOINTED) or tiered.start > tiered.local_start
    first = tiered.remote_start if tiered.remote_start < tiered.copied else tiered.local_start
    tiered.start = tiered.start if is_written else first
