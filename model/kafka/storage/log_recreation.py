"""LogManager: a topic is deleted, and created again in the log directory that it was the only one of."""

from __future__ import annotations

from kwalk.model.kafka.storage.domains import CLIENT, SEGMENTS
from kwalk.model.kafka.storage.log import is_running
from kwalk.model.kafka.storage.log_segment import open_segment
from kwalk.model.kafka.storage.state import PartitionLog
from kwalk.model.kafka.storage.versions.retention import LAST_DELETIONS_ARE_CHECKPOINTED
from kwalk.model.language import action, require


@action(
    by=CLIENT,
    description="deletes the topic, and creates it again",
    source="LogManager.asyncDelete, LogManager.logsByDir; LogManager.getOrCreateLog",
)
def create_again(log: PartitionLog) -> None:
    """A new log begins at 0; until KAFKA-10002 the checkpoints of a directory without logs were not written."""
    require(is_running(log))
    log.recreations += 1
    for slot in SEGMENTS:
        log.segments[slot].clear()
    log.count = 1
    open_segment(log.segments[0], 0, log.clock)
    log.deleted.clear()
    log.torn = None
    log.start_offset = log.end_offset = log.high_watermark = log.recovery_point = 0
    if LAST_DELETIONS_ARE_CHECKPOINTED:
        log.recovery_point_checkpoint = log.start_offset_checkpoint = 0
