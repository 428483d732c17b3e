"""Properties of the message formats that the log cleaner writes."""

from __future__ import annotations

from kwalk.model.kafka.storage.cleaner_formats import FormattedSet
from kwalk.model.language import always, premise, reachable, step


@always(
    symptom="a compacted topic grows, on a broker whose log cleaner has ended",
    log="[kafka-log-cleaner-thread-…]: Error due to java.nio.BufferOverflowException",
)
def cleaner_has_room_for_a_set(log: FormattedSet) -> bool:
    """The cleaner writes what it has read."""
    return not log.has_ended


@always(
    symptom="consumers stop at a set of messages, which old ones cannot read",
    log="none: kafka-dump-log.sh --deep-iteration shows two formats in one set",
)
def set_has_one_format(log: FormattedSet) -> bool:
    """The message that wraps a compressed set has the format of the messages within."""
    premise(log.messages > 0 and log.is_compressed)
    return log.wrapper_format == log.format_within


@step(symptom="a cleaning changes more than what it removes", log="none")
def cleaning_keeps_the_format(before: FormattedSet, after: FormattedSet) -> bool:
    """A cleaning removes a message at most, and writes the others as they are."""
    premise(before.messages > 0)
    is_kept = before.messages - 1 <= after.messages <= before.messages and after.messages > 0
    is_same = after.format_within == before.format_within and after.wrapper_format == before.wrapper_format
    return is_kept and is_same and after.topic_format >= before.topic_format


@step(symptom="messages have a format that the topic has not had", log="none")
def set_begins_with_the_topics_format(before: FormattedSet, after: FormattedSet) -> bool:
    """A set that is written has the topic's format, and as many messages as a producer sends."""
    premise(before.messages == 0 and after.messages > 0)
    is_same = after.wrapper_format == (after.format_within if after.is_compressed else 0)
    return after.format_within == before.topic_format and is_same and after.messages > 1


@reachable()
def old_message_is_alone_in_a_new_topic(log: FormattedSet) -> bool:
    """A message of v0 is left of a set, in a topic of v1."""
    return log.messages == 1 and log.format_within == 0 and log.topic_format == 1 and log.is_compressed
