"""What cannot be beyond a capture on the way to it: epochs, ids and files that only grow or stay."""
from __future__ import annotations

from collections.abc import Iterator

from model.kafka.actors import NEW_CLIENT, OLD_CLIENT
from model.kafka.capture import Capture
from model.kafka.snapshot_projection import NONE, TOPIC, Numbering
from model.language.series import Clause

CLIENTS = frozenset({OLD_CLIENT.name, NEW_CLIENT.name})
OLD_CREATION, NEW_CREATION = "old_client_creates_topic", "new_client_creates_topic"
REMOVAL = "remove_metadata_files"


def limits(before: Capture | None, capture: Capture, numbering: Numbering, *, known_ids: int) -> tuple[Clause, ...]:
    """What holds at every moment from one capture to the next, `known_ids` being those that the series has shown."""
    return (
        *_controllers(capture, numbering),
        _within("topic_ids#", range(known_ids + 1)),
        *(clause for p in range(numbering.partitions) for clause in _partition(capture, numbering, p)),
        *_files(before, capture, numbering),
    )


def _within(path: str, numbers: range) -> Clause:
    return ((path, frozenset(numbers)),)


def _controllers(capture: Capture, numbering: Numbering) -> Iterator[Clause]:
    """The controller epoch rises with each election; in the last one that controller is elected and stays."""
    epoch = capture.controller_epoch - numbering.earlier_epochs
    yield _within("zookeeper.controller_epoch", range(epoch + 1))
    if capture.controller is not None:
        elected = ("zookeeper.controller", frozenset({numbering.broker(capture.controller)}))
        yield (("zookeeper.controller_epoch", frozenset(range(epoch))), elected)


def _partition(capture: Capture, numbering: Numbering, partition: int) -> Iterator[Clause]:
    """A leader epoch rises with each change of the leader; in the last one that leader is elected and stays."""
    path, topic = f"{TOPIC}.states[{partition}]", capture.topics.get(numbering.topic)
    state = topic.states.get(partition) if topic else None
    if state is None:
        yield _within(f"{path}.leader_epoch", range(NONE, NONE + 1))
        return
    yield _within(f"{path}.leader_epoch", range(NONE, state.leader_epoch + 1))
    earlier = (f"{path}.leader_epoch", frozenset(range(NONE, state.leader_epoch)))
    yield (earlier, (f"{path}.leader", frozenset({numbering.broker(state.leader)})))


def _files(before: Capture | None, capture: Capture, numbering: Numbering) -> Iterator[Clause]:
    """A file is not overwritten: it is the one that was, none, or the one that will be."""
    for path, was, will in _kept(before, capture, numbering):
        yield ((path, frozenset({was, will, NONE})),)


def _kept(before: Capture | None, capture: Capture, numbering: Numbering) -> Iterator[tuple[str, int, int]]:
    """For every partition.metadata its path in the model, what it was, and what it is."""
    for number, real in enumerate(numbering.brokers):
        for partition in range(numbering.partitions):
            was, will = (_file(c, real, numbering, partition) for c in (before, capture))
            yield f"brokers[{number}].replicas[0][{partition}].file_topic_id", was, will


def _file(capture: Capture | None, broker: int, numbering: Numbering, partition: int) -> int:
    directory = capture.directory(broker, numbering.topic, partition) if capture else None
    return numbering.identity(directory.topic_id if directory else None)


def not_between(before: Capture | None, capture: Capture, numbering: Numbering) -> frozenset[str]:
    """Which actors and actions are ruled out between two captures."""
    removed = any(was not in (NONE, will) for _, was, will in _kept(before, capture, numbering))
    return _no_writers(before, capture, numbering) | (frozenset() if removed else {REMOVAL})


def _no_writers(before: Capture | None, capture: Capture, numbering: Numbering) -> frozenset[str]:
    """Clients write the topic's znode, and ZooKeeper counts its changes."""
    was, topic = (c.topics.get(numbering.topic) if c else None for c in (before, capture))
    if topic is None:
        return CLIENTS if was is None else frozenset()
    if was is not None:
        return CLIENTS if was.version == topic.version else frozenset()
    # A new client writes a znode that has its id; an old one's is written again by the controller that mints one.
    return frozenset({OLD_CREATION if topic.version == 0 and topic.topic_id else NEW_CREATION})
