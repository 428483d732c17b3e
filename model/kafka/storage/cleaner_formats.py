"""Cleaner.cleanInto: the message format of what the cleaner writes, on brokers before 0.11.

Messages have format v0, or since 0.10 v1, which has a timestamp and is longer. A compressed set has messages within one
that wraps them, and both have one format. A broker converts what it appends to `message.format.version` of the topic.

What the model leaves out, and why its story loses nothing by it:

* Keys, and which messages a cleaning keeps: one goes, or none.
* Bytes: a message of v0 has the size 2, and one of v1 the size 3.
* Other sets of the log: both buffers of the cleaner have room for this one as it was, and no more.
"""

from __future__ import annotations

from kwalk.model.kafka.storage.domains import CLIENT, LOG_CLEANER, PRODUCER
from kwalk.model.kafka.storage.versions.compaction import CLEANER_KEEPS_FORMATS, WRAPPER_HAS_THE_FORMAT_WITHIN
from kwalk.model.language import Bound, action, flag, number, require, state

MESSAGES = Bound("messages", "messages of the set", minimum=1)


@state
class FormattedSet:
    """A set of messages in a compacted log, with the topic's format: 1 for v1.

    Attributes:
        format_within: the format of the messages; without compression the only one.
        wrapper_format: that of the message that wraps them.
        has_ended: whether the cleaner's thread has ended.
    """

    topic_format: int = number(0, 1)
    messages: int = number(0, MESSAGES)
    is_compressed: bool = flag()
    format_within: int = number(0, 1)
    wrapper_format: int = number(0, 1)
    has_ended: bool = flag()


@action(by=CLIENT, description="sets message.format.version to 0.10.0", source="LogConfig.messageFormatVersion")
def raise_format(log: FormattedSet) -> None:
    """What is in the log stays as it is."""
    require(log.topic_format == 0)
    log.topic_format = 1


@action(by=PRODUCER, description="writes a set of messages", source="Log.append: ByteBufferMessageSet")
def write_set(log: FormattedSet, is_compressed: bool) -> None:
    """It gets the topic's format."""
    require(log.messages == 0)
    log.messages = int(MESSAGES)
    log.is_compressed = is_compressed
    log.format_within = log.topic_format
    if is_compressed:
        log.wrapper_format = log.topic_format


@action(by=LOG_CLEANER, description="cleans the log", source="Cleaner.cleanInto; Cleaner.compressMessages")
def clean_set(log: FormattedSet, removes_one: bool) -> None:
    """Up to 0.10.0.0 messages are converted; a compressed set is written anew if one goes, or if it is converted.

    Its wrapper has the topic's format up to 0.10.0.1, also where the messages are not converted.
    """
    require(log.messages > (1 if removes_one else 0) and not log.has_ended)
    kept = log.messages - (1 if removes_one else 0)
    is_converted = not CLEANER_KEEPS_FORMATS and log.format_within != log.topic_format
    format_then = log.topic_format if is_converted else log.format_within
    if not log.is_compressed and is_converted and kept * 3 > log.messages * 2:
        log.has_ended = True
    else:
        log.messages = kept
        log.format_within = format_then
        if log.is_compressed and (removes_one or is_converted):
            log.wrapper_format = format_then if WRAPPER_HAS_THE_FORMAT_WITHIN else log.topic_format
