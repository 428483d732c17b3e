"""Partition: a replica that is elected begins to lead, from the high watermark that it has."""

from __future__ import annotations

from kwalk.model.kafka.storage.domains import REPLICAS
from kwalk.model.kafka.storage.log import is_running
from kwalk.model.kafka.storage.state import PartitionLog
from kwalk.model.kafka.storage.versions.leader_epochs import HIGH_WATERMARK_IS_IN_THE_LOG
from kwalk.model.language import action, require


@action(
    by=REPLICAS,
    description="elect this replica; another member of the ISR has not fetched from it yet",
    source="Partition.makeLeader; Replica.convertHWToLocalOffsetMetadata, Partition.maybeIncrementLeaderHW",
)
def begin_to_lead(log: PartitionLog) -> None:
    """It looks its high watermark up in the log. One that the log does not have is -1, until KAFKA-3978.

    So is the end offset of the other member: of two equal offsets it compares the segments, which -1 has not. This is
    an exception; the other partitions of the request of the controller are not handled.
    """
    require(is_running(log))
    log.leaderships += 1
    is_in_the_log = log.segments[0].base_offset <= log.high_watermark <= log.end_offset
    log.has_failed_to_lead = not (is_in_the_log or HIGH_WATERMARK_IS_IN_THE_LOG)
