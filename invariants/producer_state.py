"""Properties of what a log knows of producers: what idempotent and transactional producers, and their readers, lose."""

from __future__ import annotations

from kwalk.model.kafka.storage.producer_state import (
    FOLLOWS,
    TRANSACTIONAL,
    BatchKind,
    ProducerLog,
    accepts,
    end_offset,
    is_duplicate,
)
from kwalk.model.language import always, premise, reachable, step


def has_appended_data(before: ProducerLog, after: ProducerLog) -> bool:
    """Whether the step has appended a batch of the producer."""
    return end_offset(after) > end_offset(before) and after.batches[-1].kind is BatchKind.DATA


@step(
    symptom="an idempotent producer's record is in the topic twice",
    log="none: kafka-dump-log.sh shows two batches with one producerId and baseSequence",
)
def batch_is_appended_once(before: ProducerLog, after: ProducerLog) -> bool:
    """A batch that is sent again is not appended again."""
    premise(has_appended_data(before, after))
    return not after.batches[-1].is_repeated


@always(
    symptom="a record is lost that a producer has an answer for",
    log="none: kafka-dump-log.sh --files ….snapshot shows a lastSequence that the log does not have",
)
def answered_batch_was_appended(log: ProducerLog) -> bool:
    """A batch that is answered is one that the log has got."""
    return log.next_sequence <= log.appended


@always(
    symptom="an idempotent producer ends with OutOfOrderSequenceException or UNKNOWN_PRODUCER_ID",
    log="Found no record of producerId=… on the broker at offset …",
)
def producer_can_continue(log: ProducerLog) -> bool:
    """The leader takes the producer's next batch for one that it has, or appends it."""
    premise(log.is_up and FOLLOWS == 0 and TRANSACTIONAL == 0)
    return is_duplicate(log, log.next_sequence) or accepts(log, log.next_sequence)


@always(
    symptom="a replica does not follow its leader any more, although its broker is up",
    log="Invalid sequence number for new epoch: … (request epoch), … (seq. number)",
)
def replication_continues(log: ProducerLog) -> bool:
    """A follower appends the leader's next batch."""
    premise(log.is_up and FOLLOWS > 0)
    return accepts(log, log.next_sequence)


@always(
    symptom="a broker has forgotten producers after a crash of its machine, or reads much of its logs as it starts",
    log="Failed to load producer snapshot from '…': …",
)
def snapshot_can_be_read(log: ProducerLog) -> bool:
    """A crash of the machine leaves no snapshot empty."""
    return not any(snapshot.is_torn for snapshot in log.snapshots)


@step(
    symptom="a broker has forgotten producers after a restart, or reads much of its logs as it starts",
    log="Loading producer state from snapshot file '…'",
)
def file_deletion_spares_snapshots(before: ProducerLog, after: ProducerLog) -> bool:
    """The task that deletes the files of truncated segments deletes no snapshot of a segment that the log has."""
    premise(len(after.doomed) < len(before.doomed) and after.is_up and after.truncations == before.truncations)
    return len(after.snapshots) == len(before.snapshots)


@always(
    symptom="a replica does not follow its leader any more, after it was to truncate its log",
    log="Partition … marked as failed",
)
def truncation_does_not_fail(log: ProducerLog) -> bool:
    """A truncation ends, whatever transactions the log has open."""
    return not log.has_failed


@step(
    symptom="a record appears of a transaction that the coordinator has aborted after its timeout",
    log="none: kafka-dump-log.sh shows a batch behind a marker of a later producerEpoch",
)
def fenced_producer_appends_nothing(before: ProducerLog, after: ProducerLog) -> bool:
    """Once a marker has fenced the producer, no batch of it is appended."""
    premise(before.is_fenced)
    return not has_appended_data(before, after)


@always(
    symptom="consumers with isolation.level=read_committed stop for good",
    log="none: kafka-transactions.sh find-hanging shows the transaction",
)
def open_transaction_is_ongoing(log: ProducerLog) -> bool:
    """A transaction that is open in the log is one that the coordinator will end."""
    premise(log.is_up and log.known is not None)
    return log.known is None or log.known.transaction is None or log.is_ongoing


@always(
    symptom="an idempotent producer's record is in the topic twice, or its next one is refused",
    log="Out of order sequence number for producer … at offset … in partition …: … (incoming seq. number), …",
)
def state_is_that_of_the_log(log: ProducerLog) -> bool:
    """Behind the last batch of the producer in the log there is nothing else to know."""
    premise(log.is_up and any(batch.kind is BatchKind.DATA for batch in log.batches))
    return is_duplicate(log, max((batch.sequence for batch in log.batches if batch.kind is BatchKind.DATA), default=0))


@always(
    symptom="a broker has forgotten producers after a restart",
    log="Loading producer state from snapshot file '…'",
)
def snapshots_are_within_the_log(log: ProducerLog) -> bool:
    """The last snapshot is that of the highest offset, and none is behind the end of the log."""
    premise(log.is_up and not log.snapshots.is_empty)
    highest = max((snapshot.offset for snapshot in log.snapshots), default=0)
    return log.snapshots[-1].offset == highest <= end_offset(log)


@reachable()
def producer_is_forgotten(log: ProducerLog) -> bool:
    """A producer that has appended is not known."""
    return log.is_up and log.known is None and log.appended > 0


@reachable()
def duplicate_is_answered(log: ProducerLog) -> bool:
    """The log has a batch that the producer sends again."""
    return log.is_up and is_duplicate(log, log.next_sequence)
