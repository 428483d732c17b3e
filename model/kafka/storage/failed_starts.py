"""BrokerMetadataPublisher and LogManager: a start in KRaft mode that ends before it has loaded the logs."""

from __future__ import annotations

from kwalk.model.kafka.storage.domains import FAULT
from kwalk.model.kafka.storage.state import LogPhase, PartitionLog
from kwalk.model.kafka.storage.versions.recovery import UNLOADED_LOGS_ARE_UNCLEAN
from kwalk.model.language import action, require


@action(
    by=FAULT,
    description="starts in KRaft mode, and ends as another part fails, before this log is loaded",
    source="BrokerMetadataPublisher.initializeManagers; LogManager.shutdown",
)
def fail_before_loading(log: PartitionLog) -> None:
    """Another thread loads the logs. The stop writes checkpoints and, until KAFKA-15375, the clean shutdown file."""
    require(log.phase is LogPhase.STOPPED and not log.has_clean_shutdown_file)
    log.failed_starts += 1
    log.recovery_point_checkpoint = log.start_offset_checkpoint = 0
    log.has_clean_shutdown_file = not UNLOADED_LOGS_ARE_UNCLEAN
