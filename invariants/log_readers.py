"""Properties of a log that is read while another thread changes it."""

from __future__ import annotations

from kwalk.model.kafka.storage.log_readers import Fetch, LeaderPhase, Lookup, ReadLog, StartOffsets
from kwalk.model.language import always, premise, reachable, step, when_quiescent


@always(
    symptom="a consumer gets a record that is not replicated, and that may be lost when another replica leads",
    log="none: the consumer's next position is above the high watermark of the partition",
)
def fetch_ends_at_the_high_watermark(log: ReadLog) -> bool:
    """A consumer gets what was replicated when its fetch began."""
    premise(log.fetch is Fetch.ANSWERED)
    return log.read_to == log.fetch_limit


@always(
    symptom="a consumer ends with an error of its fetch, as a replica begins to lead",
    log="Error when handling request …",
)
def fetch_is_answered(log: ReadLog) -> bool:
    """A replica that leads answers fetches."""
    return log.fetch is not Fetch.FAILED


@always(
    symptom="a client that looks up offsets gets an error; in 0.10.1.0 the log cleaner stops at the same, too",
    log="Error while responding to offset request",
)
def lookup_is_answered(log: ReadLog) -> bool:
    """A lookup of offsets has room for all of them, and a segment for each."""
    return log.lookup is not Lookup.FAILED


@step(symptom="a fetch has no end, or that of another one", log="none")
def fetch_is_read_once(before: ReadLog, after: ReadLog) -> bool:
    """A fetch is sent once, and gets its limit as it is sent; it is read to where the file ends, if that is its end."""
    premise(before.fetch is not after.fetch or before.fetch_limit != after.fetch_limit)
    if after.fetch is Fetch.LIMITED:
        return before.fetch is Fetch.NONE and after.fetch_limit == before.high_watermark
    if after.fetch is Fetch.OPEN:
        return before.fetch is Fetch.LIMITED and before.fetch_limit == before.written
    return before.fetch in (Fetch.LIMITED, Fetch.OPEN) or before.leadership is not LeaderPhase.FOLLOWS


@step(symptom="a lookup of offsets is answered with those of before", log="none")
def lookup_is_made_in_order(before: ReadLog, after: ReadLog) -> bool:
    """A lookup counts the segments, copies them, and answers."""
    premise(before.lookup is not after.lookup)
    if after.lookup is Lookup.COUNTED:
        return before.lookup is Lookup.NONE and after.counted == before.old_segments
    if after.lookup is Lookup.COPIED:
        return before.lookup is Lookup.COUNTED and after.had_records == (before.written > 0)
    return before.lookup in (Lookup.COUNTED, Lookup.COPIED)


@step(symptom="a replica leads that does not know its high watermark", log="none")
def replica_begins_to_lead_once(before: ReadLog, after: ReadLog) -> bool:
    """A replica begins to lead, and leads."""
    premise(before.leadership is not after.leadership)
    if after.leadership is LeaderPhase.BEGINS:
        return before.leadership is LeaderPhase.FOLLOWS
    return before.leadership is LeaderPhase.BEGINS and after.leadership is LeaderPhase.LEADS


@step(symptom="a record counts as replicated that is not", log="none")
def high_watermark_is_the_end_of_the_log(before: ReadLog, after: ReadLog) -> bool:
    """The high watermark rises to the end of the log."""
    premise(before.high_watermark != after.high_watermark)
    return before.high_watermark < after.high_watermark == before.written


@reachable()
def record_is_written_amid_a_fetch(log: ReadLog) -> bool:
    """The file has become larger since a fetch that has been answered was given its end."""
    return log.fetch is Fetch.ANSWERED and log.written > log.fetch_limit


@reachable()
def segment_is_removed_amid_a_lookup(log: ReadLog) -> bool:
    """A lookup has counted a segment that is not there any more."""
    return log.lookup is Lookup.ANSWERED and log.counted > log.old_segments


@reachable()
def replica_leads(log: ReadLog) -> bool:
    """A replica leads, and a fetch was answered."""
    return log.leadership is LeaderPhase.LEADS and log.fetch is Fetch.ANSWERED


@always(
    symptom="deleted records are there again after a crash: no start offset was written, as another log began again",
    log="Uncaught exception in scheduled task 'kafka-log-start-offset-checkpoint'",
)
def start_offsets_are_written(starts: StartOffsets) -> bool:
    """The task that writes start offsets does so, whatever happens to one of the logs."""
    return not starts.has_failed


@step(symptom="a log starts after a crash where it did not", log="none")
def raised_start_is_written(before: StartOffsets, after: StartOffsets) -> bool:
    """A start offset is written that was raised, and stays; it is written while all logs have a segment."""
    premise(before.is_written != after.is_written or before.is_raised != after.is_raised)
    if before.is_raised != after.is_raised:
        return after.is_raised and before.is_written == after.is_written
    return after.is_written and before.is_raised and not before.is_empty and not after.has_failed


@step(symptom="a round of a task fails for no reason", log="none")
def round_fails_without_a_segment(before: StartOffsets, after: StartOffsets) -> bool:
    """A round fails if a log has no segment, and the next one that does not is no failure."""
    premise(before.has_failed != after.has_failed)
    return before.is_raised and after.has_failed == before.is_empty == after.is_empty


@step(symptom="a log has no segment", log="none")
def log_begins_again(before: StartOffsets, after: StartOffsets) -> bool:
    """A log that loses its segments, or gets one, has no part in what is written."""
    premise(before.is_empty != after.is_empty)
    return before.is_written == after.is_written and before.has_failed == after.has_failed


@when_quiescent(symptom="a log has no segment, and cannot be appended to", log="none")
def log_has_a_segment_at_rest(starts: StartOffsets) -> bool:
    """A log that has lost its segments gets one."""
    return not starts.is_empty


@reachable()
def start_offset_is_written(starts: StartOffsets) -> bool:
    """A start offset is written, as all logs have segments."""
    return starts.is_written
