"""Properties of the batches that a producer has."""

from __future__ import annotations

from kwalk.model.kafka.clients.record_accumulator import (
    AT_REST,
    DRAINED,
    BatchStep,
    DrainedPartitions,
    GetStep,
    SendAmidAClose,
    SendStep,
    SplitBatch,
)
from kwalk.model.language import always, premise, reachable, step

WAITS = (SendStep.METADATA, SendStep.MEMORY)
ORDER = (SendStep.METADATA, SendStep.MEMORY, SendStep.READY, SendStep.BUFFERED, SendStep.ANSWERED)


@always(
    symptom="the future of a record is never done, nor its callback called, as another thread closes the producer",
    log="none",
)
def sent_record_is_answered(sends: SendAmidAClose) -> bool:
    """A sender's thread that has ended leaves no record in a batch."""
    return not (sends.has_ended and sends.send is SendStep.BUFFERED)


@always(
    symptom="send hangs for max.block.ms, as another thread has closed the producer",
    log="none: TimeoutException: Failed to update metadata, or to allocate memory",
)
def send_ends_with_its_producer(sends: SendAmidAClose) -> bool:
    """A send does not wait for what only the sender's thread can give, when that has ended."""
    return not (sends.has_ended and sends.send in WAITS)


@step(symptom="a send goes on by itself", log="none")
def send_goes_in_turn(before: SendAmidAClose, after: SendAmidAClose) -> bool:
    """A send gets metadata, memory and its answer from a thread that runs; one that is refused was to wait."""
    premise(before.send is not after.send)
    if after.send is SendStep.METADATA:
        return before.send in AT_REST
    if after.send is SendStep.REFUSED:
        is_woken = before.send in WAITS and after.has_ended
        return is_woken or (before.send is SendStep.READY and before.is_full)
    is_next = any(before.send is ORDER[n] and after.send is ORDER[n + 1] for n in range(len(ORDER) - 1))
    is_taken = not before.is_full or after.send is not SendStep.BUFFERED
    return is_next and is_taken and before.has_ended == after.has_ended


@step(symptom="a producer is closed by itself", log="none")
def producer_closes_in_turn(before: SendAmidAClose, after: SendAmidAClose) -> bool:
    """A close has two halves, one after the other, and ends when both are done, or the first one."""
    halves = (before.is_full != after.is_full) + (before.is_closing != after.is_closing)
    premise(halves > 0 or before.has_ended != after.has_ended)
    if before.has_ended != after.has_ended:
        return before.is_closing and halves == 0
    return halves == 1 and (after.is_full or after.is_closing) and before.send is after.send


@step(symptom="the sender's thread ends, and a send goes on", log="none")
def sender_ends_at_rest(before: SendAmidAClose, after: SendAmidAClose) -> bool:
    """A sender's thread ends when nothing is in a batch, and then gives nothing any more."""
    premise(before.has_ended != after.has_ended)
    return before.send is not SendStep.BUFFERED and after.send in (before.send, SendStep.REFUSED)


@reachable()
def record_is_sent_amid_a_close(sends: SendAmidAClose) -> bool:
    """A record that was in a batch as the close began is sent."""
    return sends.is_closing and sends.send is SendStep.ANSWERED


@reachable()
def send_is_refused(sends: SendAmidAClose) -> bool:
    """A send ends with an exception, while the sender's thread runs."""
    return sends.send is SendStep.REFUSED and not sends.has_ended


@reachable()
def closed_producer_has_ended(sends: SendAmidAClose) -> bool:
    """A close ends after a record was sent."""
    return sends.has_ended and sends.send is SendStep.ANSWERED


@always(
    symptom="records lack the headers with which they were sent, where their batch was too large at first",
    log="none: the producer: Got error produce response … splitting and retrying … MESSAGE_TOO_LARGE",
)
def split_records_keep_their_headers(batch: SplitBatch) -> bool:
    """A log has the headers of its records."""
    return not (batch.step is BatchStep.APPENDED and batch.lacks_headers)


@always(
    symptom="get on the future of a record ends with TimeoutException at once, and the record is written; who sends it "
    "again has it twice",
    log="none",
)
def get_waits_its_time(batch: SplitBatch) -> bool:
    """A call of get ends with the record, or after its timeout."""
    return batch.get is not GetStep.ENDED_EARLY


@step(symptom="a batch is written without being sent", log="none")
def batch_goes_in_turn(before: SplitBatch, after: SplitBatch) -> bool:
    """A batch is sent, and then in the log, or split once and sent again."""
    premise(before.step is not after.step or before.is_split != after.is_split)
    if before.is_split != after.is_split:
        return before.step is BatchStep.SENT and after.step is BatchStep.BUFFERED and after.is_split
    former = BatchStep.BUFFERED if after.step is BatchStep.SENT else BatchStep.SENT
    return before.step is former and after.step is not BatchStep.BUFFERED


@step(symptom="get returns before the record is written", log="none")
def get_returns_with_the_record(before: SplitBatch, after: SplitBatch) -> bool:
    """A call of get waits, and returns as the batch is written."""
    premise(before.get is not after.get)
    if after.get is GetStep.NONE:
        return before.get is GetStep.WAITING and after.step is BatchStep.APPENDED
    is_begun = before.get is GetStep.NONE and after.get is GetStep.WAITING
    return after.step is not BatchStep.APPENDED and (is_begun or after.get is not GetStep.WAITING)


@reachable()
def split_batch_is_waited_for(batch: SplitBatch) -> bool:
    """A call of get waits for a record whose batch was split, and sent again."""
    return batch.get is GetStep.WAITING and batch.is_split and batch.step is BatchStep.SENT


@reachable()
def get_ends_before_the_batch_is_written(batch: SplitBatch) -> bool:
    """A call of get has ended in time, and the batch is written later."""
    return batch.get is GetStep.ENDED and batch.step is BatchStep.APPENDED


@always(
    symptom="records of some partitions of a broker are not sent, and expire, while those of others are",
    log="none: the producer: Expiring … record(s) for …: … ms has passed since batch creation",
)
def partition_has_its_turn(drained: DrainedPartitions) -> bool:
    """A partition with a batch is not passed over twice in succession, where a broker has two."""
    return all(drained.passed_over[p] < 2 for p in DRAINED)


@step(symptom="a request has a batch of no partition", log="none")
def request_has_a_batch(before: DrainedPartitions, after: DrainedPartitions) -> bool:
    """A request has a batch of the partition at the index, and not of the other one."""
    changed = [p for p in DRAINED if before.passed_over[p] != after.passed_over[p]]
    premise(len(changed) > 0)
    other = 1 - before.index
    return after.passed_over[before.index] == 0 and after.passed_over[other] == min(2, before.passed_over[other] + 1)


@reachable()
def second_partition_waits(drained: DrainedPartitions) -> bool:
    """The first partition has been sent last."""
    return drained.passed_over[1] == 1
