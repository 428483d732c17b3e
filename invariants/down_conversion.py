"""Properties of what an earlier consumer reads of a log."""

from __future__ import annotations

from kwalk.model.kafka.storage.down_conversion import ConvertedLog
from kwalk.model.language import always, premise, reachable, step


@always(symptom="consumers of before 0.11 stop at a record with headers", log="none")
def headers_are_left_out(log: ConvertedLog) -> bool:
    """An earlier consumer reads records without their headers."""
    return not log.met_headers


@always(
    symptom="consumers of before 0.11 stop, after the message format of a topic was changed there and back",
    log="none",
)
def converted_batches_have_room(log: ConvertedLog) -> bool:
    """An earlier consumer reads batches in whatever order their formats are."""
    return not log.had_no_room


@step(symptom="records change their format in the log", log="none")
def batches_are_written_in_order(before: ConvertedLog, after: ConvertedLog) -> bool:
    """A batch is written behind the last one, and stays as it is; only one of v2 has headers."""
    premise(before.first != after.first or before.second != after.second)
    if before.first == 0:
        is_next = after.first > 0 and after.second == 0
    else:
        is_next = after.first == before.first and before.second == 0 and after.second > 0
    is_headed = not after.has_headers or after.first == 2 or after.second == 2
    return is_next and is_headed and before.has_headers <= after.has_headers and not after.is_read


@step(symptom="a fetch changes the log", log="none")
def fetch_has_an_end(before: ConvertedLog, after: ConvertedLog) -> bool:
    """A fetch reads all batches that there are, or fails."""
    premise(before.first == after.first and before.second == after.second)
    is_one = after.is_read or after.met_headers or after.had_no_room
    return is_one and before.has_headers == after.has_headers and after.first > 0


@reachable()
def headers_are_read(log: ConvertedLog) -> bool:
    """A batch with headers is there, and another one without."""
    return log.has_headers and log.first == 1 and log.second == 2


@reachable()
def log_has_no_headers(log: ConvertedLog) -> bool:
    """Two batches of v2 have no headers."""
    return log.first == 2 and log.second == 2 and not log.has_headers


@reachable()
def formats_are_mixed(log: ConvertedLog) -> bool:
    """A batch of v1 is behind one of v2."""
    return log.first == 2 and log.second == 1
