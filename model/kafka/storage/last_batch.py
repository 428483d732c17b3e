"""Log and LogCleaner: how a compacted log comes to end above its last batch.

The active segment is empty once an uncommitted record was truncated that had begun it. Before it are tombstones, whose
time is over.
"""

from __future__ import annotations

from kwalk.model.kafka.storage.domains import FAULT, REPLICAS, TRUNCATIONS
from kwalk.model.kafka.storage.log import active_segment
from kwalk.model.kafka.storage.log_cleaner import is_idle
from kwalk.model.kafka.storage.log_segment import truncate_segment
from kwalk.model.kafka.storage.state import PartitionLog
from kwalk.model.language import action, require


@action(
    by=REPLICAS,
    description="truncate the log to where its active segment begins",
    source="Log.truncateTo; LogSegment.truncateTo",
)
def empty_active_segment(log: PartitionLog) -> None:
    """The segment stays, and with it the end of the log, which is in no batch any more."""
    offset = active_segment(log).base_offset
    require(is_idle(log) and log.truncations < TRUNCATIONS)
    require(max(log.high_watermark, log.start_offset) <= offset < log.end_offset)
    log.truncations += 1
    truncate_segment(active_segment(log), offset, log.clock, was_closed=False)
    log.end_offset = offset


@action(
    by=FAULT,
    description="loses the cleaner's checkpoint, as a new copy of the log has none",
    source="LogCleanerManager.allCleanerCheckpoints; cleaner-offset-checkpoint",
)
def lose_cleaner_checkpoint(log: PartitionLog) -> None:
    """All of the log is dirty again. Batches keep their delete horizons, which copies have, too (KIP-534)."""
    require(is_idle(log) and log.dirty_offset > 0)
    log.dirty_offset = 0
