"""RecordsUtil.downConvert: batches that a leader converts for a consumer of before 0.11, which knows message format v1.

What the model leaves out, and why its story loses nothing by it: v0, which is to v1 as v1 is to v2; sizes, which are
such that a converted batch is larger than its estimate, as compressed ones are; and who has changed the format.
"""

from __future__ import annotations

from kwalk.model.kafka.storage.domains import CONSUMER, PRODUCER
from kwalk.model.kafka.storage.versions.batches import HEADERS_ARE_LEFT_OUT, OLD_BATCHES_GET_ROOM
from kwalk.model.language import action, flag, number, require, state


@state
class ConvertedLog:
    """A log of up to two batches, and how the last fetch of an earlier consumer has ended.

    Attributes:
        first: the format of the first batch; 0 if there is none.
        second: that of the second one.
        has_headers: whether a batch of v2 has a record with headers.
        is_read: whether the consumer has got all batches.
        met_headers: whether its fetch has failed at headers.
        had_no_room: whether it has failed at a batch for which the buffer had no room.
    """

    first: int = number(0, 2)
    second: int = number(0, 2)
    has_headers: bool = flag()
    is_read: bool = flag()
    met_headers: bool = flag()
    had_no_room: bool = flag()


@action(by=PRODUCER, description="writes a batch", source="UnifiedLog.append; message.format.version")
def write_formatted(log: ConvertedLog, is_new: bool, has_headers: bool) -> None:
    """Its format is that of the topic, which differs from leader to leader amid an upgrade; v2 has headers."""
    require(log.second == 0 and (is_new or not has_headers))
    if log.first == 0:
        log.first = 2 if is_new else 1
    else:
        log.second = 2 if is_new else 1
    log.has_headers = log.has_headers or has_headers
    log.is_read = log.met_headers = log.had_no_room = False


@action(by=CONSUMER, description="fetches, and is of before 0.11", source="AbstractRecords.downConvert (RecordsUtil)")
def fetch_converted(log: ConvertedLog) -> None:
    """Up to 1.1.0 headers could not be left out; up to 2.3.0 a batch of v1 behind one of v2 was copied without room."""
    require(log.first > 0)
    log.met_headers = log.has_headers and not HEADERS_ARE_LEFT_OUT
    is_behind = log.first == 2 and log.second == 1
    log.had_no_room = not log.met_headers and is_behind and not OLD_BATCHES_GET_ROOM
    log.is_read = not log.met_headers and not log.had_no_room
