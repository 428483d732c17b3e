"""Directories of a partition that have another partition's log: they were renamed or copied on a broker.

Brokers compare the topic id in partition.metadata, which all partitions of a topic share, and not the partition. Where
there is none, as before 2.8, the other partition may be of any topic.

Kafka: LogManager.loadLog (the directory's name is the partition's), UnifiedLog.initializeTopicId, before 3.0 Log.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from kwalk.model.kafka.snapshots.capture import BatchHeader, Capture, Directory, Topic, kept_by_capture, topic_label
from kwalk.model.kafka.snapshots.diagnosis import brokers, listed
from kwalk.model.kafka.snapshots.lineage import KEEPING, Choice, Lineages, Relation, choices_of, compare


@kept_by_capture
def partition_in(capture: Capture, topic: Topic, partition: int, broker: int) -> int | None:
    """Return the partition of the topic whose log a broker has in the directory of another one; None if none is shown.

    Its first batch is that of a log of the other partition on another broker, from which it does not differ, and the
    other logs of its own partition begin with other ones.

    Args:
        capture: The capture.
        topic: The topic.
        partition: The partition whose name the directory has.
        broker: The broker.
    """
    log = capture.directory(broker, topic.name, partition)
    if log is None or log.first_batch is None:
        return None
    own = [one.first_batch for b, one in _logs(capture, topic, partition) if b != broker and one.first_batch]
    if not own or log.first_batch in own:
        return None
    found = {
        number
        for number in _beginning(capture, topic).get(log.first_batch, frozenset()) - {partition}
        for b, other in _logs(capture, topic, number)
        if b != broker and compare(log, other).relation in (Relation.SAME, Relation.PREFIX)
    }
    return found.pop() if len(found) == 1 else None


@kept_by_capture
def place_in(capture: Capture, topic: Topic, partition: int, broker: int) -> tuple[str, int] | None:
    """Return the topic and partition whose log a broker has in the directory of another one; None if none is shown.

    Another topic is looked at only if the log has no topic id, and in the same way as another partition.
    """
    number = partition_in(capture, topic, partition, broker)
    if number is not None:
        return topic.name, number
    log = capture.directory(broker, topic.name, partition)
    if log is None or log.first_batch is None or log.topic_id is not None:
        return None
    own = [one.first_batch for b, one in _logs(capture, topic, partition) if b != broker and one.first_batch]
    if log.first_batch in own:
        return None
    places = _beginning_anywhere(capture).get(log.first_batch, frozenset())
    found = {
        (name, number)
        for name, number in places
        for b, other in _logs(capture, capture.topics[name], number)
        if name != topic.name and b != broker and compare(log, other).relation in (Relation.SAME, Relation.PREFIX)
    }
    if not own:  # one batch may have been sent to both: then the other directory has it, too
        found = {one for one in found if _begins_otherwise(capture, one, broker, log.first_batch)}
    return found.pop() if len(found) == 1 else None


def _begins_otherwise(capture: Capture, place: tuple[str, int], broker: int, batch: BatchHeader) -> bool:
    """Whether a broker's own directory of a partition begins with another batch."""
    own = capture.directory(broker, *place)
    return own is not None and own.first_batch not in (None, batch)


def misnamed_logs(capture: Capture, topic: Topic, partition: int) -> dict[int, tuple[str, int]]:
    """Return the brokers whose directory of a partition has another one's log, with that topic and partition."""
    pairs = ((b, place_in(capture, topic, partition, b)) for b, _ in _logs(capture, topic, partition))
    return {b: other for b, other in pairs if other is not None}


def rivals_of(capture: Capture, topic: Topic, partition: int, broker: int) -> list[int]:
    """Return the other brokers on which directories may have been renamed instead: of two logs none is outvoted."""
    wrong = misnamed_logs(capture, topic, partition)
    return [b for b, other in wrong.items() if b != broker and other == wrong.get(broker)]


def needing_their_names(capture: Capture, topic: Topic, partition: int) -> dict[int, str]:
    """Return the brokers that are down and whose directory of a partition needs its own name, with whose log it is.

    The broker is an ISR member of one of the partitions whose logs have other names there, and no member of it runs;
    or it is a rival of such a one.
    """
    down = (b.id for b in capture.hosts if not b.alive)
    wrong = {b: other for b in down if (other := place_in(capture, topic, partition, b)) is not None}
    last = [b for b in wrong if any(_is_last_of(capture, *one, b) for one in _touched(capture, topic, b))]
    named = {*last, *(rival for b in last for rival in rivals_of(capture, topic, partition, b))}
    return {b: _label(other) for b, other in wrong.items() if b in named}


def own_choices(capture: Capture, lineages: Lineages, topic: Topic, partition: int) -> tuple[Choice, ...]:
    """Return the choices between the logs of a partition, without those of another one while a log of its own is left.

    Args:
        capture: The capture.
        lineages: The logs of the partition.
        topic: The topic.
        partition: The partition.
    """
    choices, wrong = choices_of(capture, lineages, topic, partition), misnamed_logs(capture, topic, partition)
    left = tuple(one for one in choices if not one.keeps or not {*one.keeps} <= wrong.keys())
    if left == choices or not any(one.keeps for one in left):
        return choices
    is_one = len(left) == 1 and left[0].premise.startswith(KEEPING)
    return (evolve(left[0], premise=""),) if is_one else left


def _label(place: tuple[str, int]) -> str:
    return f"{topic_label(place[0])}-{place[1]}"


def _touched(capture: Capture, topic: Topic, broker: int) -> set[tuple[str, int]]:
    """Return the topics and partitions whose directory or log has another name on a broker."""
    found = {n: other for n in topic.partitions if (other := place_in(capture, topic, n, broker)) is not None}
    return {*((topic.name, n) for n in found), *found.values()}


def _is_last_of(capture: Capture, name: str, partition: int, broker: int) -> bool:
    """Whether a broker is in the ISR of a partition, and no member of it runs."""
    states = capture.topics[name].states
    isr = states[partition].isr if partition in states else ()
    return broker in isr and not {*isr} & {*capture.live}


def of_misnamed(capture: Capture, topic: Topic, partition: int, broker: int) -> str:
    """Return whose log a broker has in the directory of a partition, as the end of a sentence; empty if its own."""
    other = place_in(capture, topic, partition, broker)
    if other is None:
        return ""
    rivals = rivals_of(capture, topic, partition, broker)
    if rivals:
        of = f"{_label(other)} of {brokers(rivals)}"
        return f"; it begins as {of} does: directories were renamed or copied on one of these brokers"
    own = _label((topic.name, partition))
    return f"; {own} of broker {broker} begins as {_label(other)} does: its directory was renamed or copied"


def names_given_back(capture: Capture, topic: Topic, broker: int) -> str:
    """Return which partitions' logs the directories of a topic on a broker have that are not their own."""
    found = [(n, place_in(capture, topic, n, broker)) for n in sorted(topic.partitions)]
    known = ((_label((topic.name, number)), _label(other)) for number, other in found if other is not None)
    return listed([f"{own} there is the log of {other}" for own, other in known])


@kept_by_capture
def _beginning_anywhere(capture: Capture) -> dict[BatchHeader, frozenset[tuple[str, int]]]:
    """Return the topics and partitions of which a log begins with a batch."""
    found: dict[BatchHeader, set[tuple[str, int]]] = {}
    for topic in capture.topics.values():
        for batch, numbers in _beginning(capture, topic).items():
            found.setdefault(batch, set()).update((topic.name, number) for number in numbers)
    return {batch: frozenset(places) for batch, places in found.items()}


@kept_by_capture
def _beginning(capture: Capture, topic: Topic) -> dict[BatchHeader, frozenset[int]]:
    """Return the partitions of a topic of which a log begins with a batch."""
    found: dict[BatchHeader, set[int]] = {}
    for number in topic.partitions:
        for _, log in _logs(capture, topic, number):
            if log.first_batch is not None:
                found.setdefault(log.first_batch, set()).add(number)
    return {batch: frozenset(numbers) for batch, numbers in found.items()}


def _logs(capture: Capture, topic: Topic, partition: int) -> Iterator[tuple[int, Directory]]:
    for broker in capture.hosts:
        log = capture.directory(broker.id, topic.name, partition)
        if log is not None:
            yield broker.id, log
