"""Limits between two captures: epochs, ids and files that only grow, or do not change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, groupby

from attrs import field, frozen

from kwalk.model.kafka.snapshots.capture import Capture, Topic
from kwalk.model.kafka.snapshots.projection import (
    NONE,
    TOPIC,
    Numbering,
    Unsettled,
    may_lack,
    order_clauses,
    written_later,
)
from kwalk.model.language.series import Clause, Need, where

EXPANSIONS = ("old_client_adds_partitions", "new_client_adds_partitions", "admin_writes_topic", "admin_adds_partitions")
REASSIGNMENTS = frozenset(
    {
        "reassign_to_list",
        "cancel_partition_reassignment",
    }
)
REASSIGNING = frozenset(
    {
        "complete_reassignment",
        "reassignment_stops_unneeded_replicas",
        "reassignment_changes_leadership",
        "reassignment_stops_old_replicas",
        "reassignment_writes_target",
    }
)
"""What controllers do in a reassignment."""
SESSION_EVENTS = frozenset(
    {"expire_session", "notice_expiry", "register_broker_and_reelect", "auth_failure_reinitializes"}
)
AMID_REQUEST = "expire_session_amid_request"
"""A session is taken to end amid a request only where nothing simpler fits."""
LAG = "follower_lags"
"""A follower is taken to lag only where a capture shows an ISR without it."""
UNUSED = frozenset(
    {
        "flush_metadata",
        "deliver_notification",
        "start_with_offline_logs",
        "storage_error",
        "alter_partition_reassignments",
        "alter_partition_reassignments_to",
        "partition_modifications_restores_topic_id",
    }
)
"""What no series needs: its flags and bounds exclude it."""
OLD_CREATION, NEW_CREATION = "old_client_creates_topic", "new_client_creates_topic"
CREATIONS = frozenset({OLD_CREATION, NEW_CREATION, "admin_creates_topic"})
WRITERS = frozenset({*CREATIONS, *EXPANSIONS, *REASSIGNMENTS, "write_topic_id", "admin_reads_topic"})
"""Actions of clients and operators that write the topic's znode, or read it in order to write it."""
REMOVALS = frozenset({"client_deletes_topic", "remove_topic_by_hand", "remove_deletion_request_by_hand"})
STATE_REMOVAL = "remove_partition_states_by_hand"
REMOVAL, EDIT = "remove_metadata_files", "edit_metadata_files"
LOG_REMOVAL, DISK_REPLACEMENT = "move_directory_away", "replace_disk"
"""Of a broker that is down, one log goes or all of them: which is taken between two captures, these show."""
LOST_REQUEST = "lose_request"
"""A request is lost only if the controller that has sent it resigns."""
STARTS = frozenset({"restart", "notice_expiry"})
ENDS = frozenset({"stop", "crash", "expire_session", "auth_failure_reinitializes"})


@frozen
class CapturePoint:
    """A capture, None before the first one, and the number of its topic's life.

    `removals` is whether operators were seen to remove files, in this capture or one before; `open` is what the capture
    lacks as the cluster was at work.
    """

    capture: Capture | None
    life: int
    removals: bool = False
    open: Unsettled = field(factory=Unsettled)

    def topic(self, numbering: Numbering) -> Topic | None:
        """Return the topic, or None if it does not exist."""
        return self.capture.topics.get(numbering.topic) if self.capture else None


def limits(before: CapturePoint, after: CapturePoint, numbering: Numbering, *, known_ids: int) -> tuple[Clause, ...]:
    """Return what holds from one capture to the next; the series has shown `known_ids` ids so far."""
    assert after.capture is not None
    return (
        *_controllers(after.capture, numbering),
        _within("topic_ids#", range(known_ids + 1)),
        *(clause for p in range(numbering.partitions) for clause in _partition(before, after, numbering, p)),
        *_files(before, after, numbering),
        *_lives(after, numbering),
    )


def _within(path: str, numbers: range) -> Clause:
    return ((path, frozenset(numbers)),)


def _controllers(capture: Capture, numbering: Numbering) -> Iterator[Clause]:
    """The controller epoch rises with each election; under the last epoch the captured controller stays."""
    epoch = capture.controller_epoch - numbering.earlier_epochs
    yield _within("zookeeper.controller_epoch", range(epoch + 1))
    if capture.controller is not None:
        elected = ("zookeeper.controller", frozenset({numbering.broker(capture.controller)}))
        yield (("zookeeper.controller_epoch", frozenset(range(epoch))), elected)


def _partition(before: CapturePoint, after: CapturePoint, numbering: Numbering, partition: int) -> Iterator[Clause]:
    """A leader epoch rises with each change of the leader; under the last epoch the captured leader stays.

    This holds for one topic: the next topic of its name starts at leader epoch 0.
    """
    path, topic = f"{TOPIC}.states[{partition}]", after.topic(numbering)
    if before.topic(numbering) is not None and (topic is None or before.life != after.life):
        return
    state = topic.states.get(partition) if topic else None
    if after.open.is_new:
        return
    was = earlier_topic.states.get(partition) if (earlier_topic := before.topic(numbering)) else None
    if was is not None and (state is None or state.leader_epoch < was.leader_epoch):
        return  # an operator has removed it
    if state is None and after.open.states_removed:
        return  # so it may be, though no capture has shown it
    if state is None:
        yield _within(f"{path}.leader_epoch", range(NONE, NONE + 1))
        return
    if partition in after.open.waiting:
        yield _within(f"{path}.leader_epoch", range(NONE, state.leader_epoch + written_later(state) + 1))
        return
    yield _within(f"{path}.leader_epoch", range(NONE, state.leader_epoch + 1))
    earlier = (f"{path}.leader_epoch", frozenset(range(NONE, state.leader_epoch)))
    yield (earlier, (f"{path}.leader", frozenset({numbering.broker(state.leader)})))


def _lives(after: CapturePoint, numbering: Numbering) -> Iterator[Clause]:
    """The topic is not created more often than captures show."""
    if numbering.scope.models_deletion:
        yield _within(f"{TOPIC}.incarnation", range(after.life + 1))


def _files(before: CapturePoint, after: CapturePoint, numbering: Numbering) -> Iterator[Clause]:
    """A file is not overwritten: it is the earlier one, none, or the later one, unless the log is deleted.

    Only where operators may have removed files does a file vanish or appear in between.
    """
    assert after.capture is not None
    deletes, visited = numbering.scope.removes_logs, set(_visited(before, after, numbering))
    for (number, partition), was, will in _kept(before.capture, after.capture, numbering):
        there = _has_directory(after.capture, numbering, number, partition)
        if (deletes and not there) or (number in visited and there and will == NONE):
            continue
        if may_lack(after.capture, numbering, after.open, numbering.brokers[number], partition):
            continue
        stays = was == will and number not in visited and not deletes
        numbers = {was} if stays else {was, will, NONE}
        yield ((f"brokers[{number}].replicas[0][{partition}].file_topic_id", frozenset(numbers)),)


def _visited(before: CapturePoint, after: CapturePoint, numbering: Numbering) -> Iterator[int]:
    """Yield the brokers where operators may have removed files: a log has none, or another one than before."""
    assert after.capture is not None
    for place, was, will in _kept(before.capture, after.capture, numbering) if after.removals else ():
        if (will == NONE or was not in (NONE, will)) and _has_directory(after.capture, numbering, *place):
            yield place[0]


def _kept(before: Capture | None, capture: Capture, numbering: Numbering) -> Iterator[tuple[tuple[int, int], int, int]]:
    """Yield for every partition.metadata its broker and partition in the model, its earlier and its later id."""
    for number, real in enumerate(numbering.brokers):
        for partition in range(numbering.partitions):
            was, will = (_file(c, real, numbering, partition) for c in (before, capture))
            yield (number, partition), was, will


def _has_directory(capture: Capture, numbering: Numbering, broker: int, partition: int) -> bool:
    return capture.directory(numbering.brokers[broker], numbering.topic, partition) is not None


def _file(capture: Capture | None, broker: int, numbering: Numbering, partition: int) -> int:
    directory = capture.directory(broker, numbering.topic, partition) if capture else None
    return numbering.identity(directory.topic_id if directory else None)


def file_is_gone(before: CapturePoint, after: CapturePoint, numbering: Numbering) -> bool:
    """Whether a capture lacks a file that the one before has, or has another one, while topic and log live on."""
    assert after.capture is not None
    kept = _kept(before.capture, after.capture, numbering) if before.life == after.life else ()
    return any(
        was not in (NONE, will) and _has_directory(after.capture, numbering, *place) for place, was, will in kept
    )


def not_between(before: CapturePoint, after: CapturePoint, numbering: Numbering) -> frozenset[str]:
    """Return the actions that are excluded between two captures."""
    visited = set(_visited(before, after, numbering))
    return (
        _no_writers(before, after, numbering)
        | (frozenset() if visited else {REMOVAL})
        | (frozenset() if _has_another_file(before, after, numbering) else {EDIT})
        | ({LOG_REMOVAL, DISK_REPLACEMENT} - set(_lost_logs(before, after, numbering).values()))
        | (frozenset() if numbering.scope.deletion else REMOVALS)
        | (frozenset() if numbering.scope.loses_states else {STATE_REMOVAL})
        | (frozenset() if numbering.scope.moves else REASSIGNMENTS | REASSIGNING)
        | (frozenset() if numbering.scope.expires else SESSION_EVENTS)
        | (frozenset() if numbering.scope.expires and numbering.scope.removals else {AMID_REQUEST})
        | UNUSED
        | (frozenset() if _resigns(before, after) else {LOST_REQUEST})
        | (frozenset() if _lacks_members(after, numbering) else {LAG})
    )


def _lacks_members(after: CapturePoint, numbering: Numbering) -> bool:
    """Whether a capture has an ISR without a replica that is registered; in a wider series, without any replica.

    One that lags before it stops leaves the ISR at the same leader epoch, too.
    """
    topic = after.topic(numbering)
    if after.capture is None or topic is None:
        return False
    known = set(numbering.brokers if numbering.scope.removals else after.capture.registered)
    return any(known & set(topic.partitions.get(p, ())) - set(state.isr) for p, state in topic.states.items())


def _lost_logs(before: CapturePoint, after: CapturePoint, numbering: Numbering) -> dict[tuple[int, int], str]:
    """Return the logs that a broker that is down has lost since the capture before, and how operators took each.

    A broker without any of several logs that it had got an empty disk, or all of them were removed.
    """
    assert after.capture is not None
    if before.capture is None or before.life != after.life:
        return {}
    was, now, name = before.capture, after.capture, numbering.topic
    found: dict[tuple[int, int], str] = {}
    for number, real in enumerate(numbering.brokers):
        if real not in now.brokers or now.brokers[real].alive or not now.brokers[real].seen:
            continue
        had = [p for p in range(numbering.partitions) if was.directory(real, name, p)]
        lost = [p for p in had if now.directory(real, name, p) is None]
        how = DISK_REPLACEMENT if len(lost) > 1 and lost == had else LOG_REMOVAL
        found |= {(number, partition): how for partition in lost}
    return found


def _has_another_file(before: CapturePoint, after: CapturePoint, numbering: Numbering) -> bool:
    """Whether a file has another id than in the capture before: operators edit it, or its log is another one."""
    assert after.capture is not None
    files = _kept(before.capture, after.capture, numbering)
    return any(NONE not in (was, will) and was != will for _, was, will in files)


def _resigns(before: CapturePoint, after: CapturePoint) -> bool:
    """Whether a controller has resigned between two captures, or lost its session: another one is elected, or none."""
    if before.capture is None or after.capture is None:
        return True
    was, now = before.capture, after.capture
    return now.controller is None or (was.controller, was.controller_epoch) != (now.controller, now.controller_epoch)


def unlikely_between(before: CapturePoint, after: CapturePoint, numbering: Numbering) -> frozenset[str]:
    """Return the actions that are rare between two captures: operators remove a file, and none is missing."""
    return frozenset() if file_is_gone(before, after, numbering) else frozenset({REMOVAL})


def _no_writers(before: CapturePoint, after: CapturePoint, numbering: Numbering) -> frozenset[str]:
    """Return the writers that are excluded by ZooKeeper's count of changes to the topic's znode."""
    was, topic = before.topic(numbering), after.topic(numbering)
    if topic is None:
        return WRITERS if was is None else frozenset()
    if was is not None and before.life == after.life:
        return WRITERS if was.version == topic.version else CREATIONS | _no_reassignments(was, topic)
    # A new client writes a znode that has its id; an old one's is written again by the controller that mints one.
    if topic.version == 0 and topic.topic_id:
        return frozenset({OLD_CREATION})
    return frozenset({NEW_CREATION} if topic.version <= 1 else ())


def _no_reassignments(was: Topic, topic: Topic) -> frozenset[str]:
    """Return what reassigns replicas if all writes to the znode are accounted for: partitions, and topic ids.

    A reassignment writes the znode for itself.
    """
    kept = {p: replicas for p, replicas in topic.partitions.items() if p in was.partitions}
    grows, renamed = len(topic.partitions) > len(was.partitions), topic.topic_id != was.topic_id
    minted = renamed and topic.topic_id is not None
    is_accounted_for = topic.version - was.version == minted + max(grows, renamed and not minted)
    is_still = kept == was.partitions and not topic.moving and not was.moving
    return REASSIGNMENTS if is_accounted_for and is_still else frozenset()


# Needs.


def needs(before: CapturePoint, after: CapturePoint, numbering: Numbering) -> tuple[tuple[tuple[Need, ...], ...], ...]:
    """Return what events must do between two captures, as far as they show it: to the topic, and to brokers."""
    topic = tuple(_topic_needs(before, after, numbering))
    brokers = tuple(_broker_needs(before, after, numbering)), tuple(_election_needs(before, after, numbering))
    return (topic,), brokers


def _any(names: Iterable[str]) -> frozenset[tuple[str, int | None]]:
    return frozenset((name, None) for name in names)


def _topic_needs(before: CapturePoint, after: CapturePoint, numbering: Numbering) -> Iterator[Need]:
    was, topic = before.topic(numbering), after.topic(numbering)
    count, deletes = f"{TOPIC}.partition_count", numbering.scope.deletion
    removals = _any(REMOVALS | {STATE_REMOVAL})  # states that go first
    if before.life != after.life or (topic is not None and was is None):
        if deletes:
            lives = where(f"{TOPIC}.incarnation", after.life)
            if was is not None:
                yield Need(((*lives, *where(count, 0), *where("zookeeper.delete_topics{0}", 1)),), removals)
            yield Need((lives, where(count, *range(1, numbering.partitions + 1))), _any(CREATIONS))
        else:
            yield Need((where(count, *range(1, numbering.partitions + 1)),), _any(CREATIONS))
    elif topic is None or was is None:
        if was is not None and deletes:
            yield Need(((*where(count, 0), *where("zookeeper.delete_topics{0}", 1)),), removals)
    elif len(topic.partitions) > len(was.partitions):
        yield Need((where(count, *range(len(was.partitions) + 1, numbering.partitions + 1)),), _any(EXPANSIONS))
    elif topic.partitions != was.partitions and numbering.scope.reassignment:
        changes = (clause for p in was.partitions for clause in _another_assignment(numbering, p, was))
        yield Need((tuple(chain.from_iterable(changes)),), _any(REASSIGNMENTS))


def _another_assignment(numbering: Numbering, partition: int, was: Topic) -> Iterator[Clause]:
    """Yield alternatives for a reassignment that has begun, or is done."""
    path = f"{TOPIC}.assignments[{partition}]"
    for number, real in enumerate(numbering.brokers):
        yield where(f"{path}.replicas{{{number}}}", int(real not in was.partitions[partition]))
        yield where(f"{path}.adding{{{number}}}", 1)
        yield where(f"{path}.removing{{{number}}}", 1)
    if numbering.scope.lists:
        for clause in order_clauses(numbering, partition, was.partitions[partition]):
            ((leaf, numbers),) = clause
            yield where(leaf, *({0, 1} - numbers))


def _broker_needs(before: CapturePoint, after: CapturePoint, numbering: Numbering) -> Iterator[Need]:
    assert after.capture is not None
    if before.capture is None:
        return
    for number, real in enumerate(numbering.brokers):
        was, will = real in before.capture.registered, real in after.capture.registered
        if was != will:
            events = STARTS if will else ENDS
            yield Need((where(f"zookeeper.broker_ids{{{number}}}", int(will)),), frozenset((e, number) for e in events))
    topic, known = after.topic(numbering), numbering.scope.removes_logs
    replicas = topic.partitions if topic is not None and known else {}  # other logs may go on a controller's request
    gone = {
        (number, p): how
        for (number, p), how in _lost_logs(before, after, numbering).items()
        if numbering.brokers[number] in replicas.get(p, ())
    }
    for (number, how), lost in groupby(gone, lambda place: (place[0], gone[place])):
        clauses = [where(f"brokers[{number}].replicas[0][{p}].on_disk", 0) for _, p in lost]
        for each in [clauses] if how == DISK_REPLACEMENT else [[one] for one in clauses]:
            yield Need(tuple(each), frozenset({(how, number)}))


def _election_needs(before: CapturePoint, after: CapturePoint, numbering: Numbering) -> Iterator[Need]:
    """Each election needs that the controller goes, or that there was none and a broker starts."""
    assert after.capture is not None
    rises = 0 if before.capture is None else after.capture.controller_epoch - before.capture.controller_epoch
    last = after.capture.controller_epoch - numbering.earlier_epochs
    events = _any(("delete_controller", *STARTS, *ENDS))
    for epoch in range(last - rises + 1, last + 1):
        higher = "zookeeper.controller_epoch", frozenset(range(epoch, last + 1))
        gone = "zookeeper.controller", frozenset({NONE})
        yield Need(((higher, gone), where("zookeeper.controller_epoch", *range(epoch - 1, last + 1))), events)
