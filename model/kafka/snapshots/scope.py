"""How much of the model a series of captures needs: what it shows beside failovers, restarts and one expansion.

Words: a topic has a new *life* each time that it is created under its name. What a series does not show is switched
off, so that it costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, permutations
from math import factorial
from typing import Any

from attrs import evolve, frozen

from kwalk.model.kafka.assignment import code_of
from kwalk.model.kafka.snapshots.capture import Capture, Directory, Topic, topic_label
from kwalk.model.kafka.snapshots.diagnosis import is_as_created
from kwalk.model.language import UsageError
from kwalk.model.language.shapes import LARGEST


@frozen
class Scope:
    """What a series about one topic needs. `lives` has the number of the topic's life for each capture, from 0 on."""

    topic: str
    brokers: tuple[int, ...]
    lives: tuple[int, ...]
    deletion: bool
    reassignment: bool
    moves: bool
    """Whether replicas are reassigned, as far as captures show."""
    lists: bool
    """Whether clients choose lists of replicas; else each partition has one list only, all of one length."""
    sessions: bool
    """Whether the model has sessions that end while the process runs."""
    stepwise: bool
    """Whether clients do not always create, or add, all partitions that are ever there."""
    orders: tuple[tuple[int, ...], ...]
    """For each partition all brokers, its own replicas first."""
    factor: int
    """How many replicas a new partition has."""
    left: tuple[tuple[int, int, Directory], ...] = ()
    """The logs of an earlier topic of the name that are there at the beginning, with broker and partition."""
    chosen: ReplicaLists | None = None
    """The lists of replicas that clients choose, if they do."""
    expires: bool = False
    """Whether sessions end while the process runs, though the model may have more."""
    removals: bool = False
    """Whether operators may have removed partition.metadata though no capture shows it gone."""
    loses_states: bool = False
    """Whether states of partitions go while their topic stays."""
    migrates: bool = False
    """Whether the captures show a migration to KRaft."""
    rollbacks: int = 0
    """How often captures show that a migration was rolled back."""
    removes_migration: bool = False
    """Whether an operator who rolls a migration back deletes /migration, too."""
    quorum_epoch: int = 0
    """The epoch of the quorum before its first controller that a capture shows, in the model."""
    lives_in_model: int = 0
    """How many lives the model has room for; below 1 if topics are deleted in none of the series that share it."""

    @property
    def models_deletion(self) -> bool:
        """Whether the model has deletion, for this topic or for another one."""
        return self.deletion or self.lives_in_model > 0

    @property
    def removes_logs(self) -> bool:
        """Whether logs of this topic may go."""
        return self.deletion or self.reassignment or self.migrates

    @property
    def flags(self) -> dict[str, Any]:
        """The flags of the model."""
        return {
            "deletion": self.models_deletion,
            "piecemeal_removal": self.loses_states,
            "stop_replica": self.models_deletion or self.removes_logs,
            "reassignment": self.reassignment,
            "sessions": self.sessions,
            "two_step_admin": self.stepwise,
            **({"migration": True, "rollback_removes_migration": self.removes_migration} if self.migrates else {}),
        }

    @property
    def bounds(self) -> dict[str, int]:
        """The bounds of the model."""
        orders = [[self.brokers.index(broker) for broker in order] for order in self.orders]
        return {
            "brokers": len(self.brokers),
            "partitions": len(self.orders),
            "replica_orders": 0 if self.lists else code_of(orders),
            "replication_factor": self.factor if self.reassignment else 0,
            **(self.chosen.bounds if self.chosen else {}),
            "reassignments": 15 * (self.moves and self.reassignment),
            "cancellations": 3 * (self.moves and self.reassignment),
            "incarnations": max(*self.lives, self.lives_in_model - 1) if self.models_deletion else 0,
            "deletions": max(3, *self.lives) * self.models_deletion,
            "hand_removals": 7 * self.models_deletion,
            "expirations": 7 * self.sessions,
            "admins": 1 + self.stepwise,
            "old_admins": int(self.stepwise),
            "events": 6,
            "requests": 4 + self.migrates,
            **({"quorum_failures": 3, "rollbacks": self.rollbacks} if self.migrates else {}),
        }


def scope_of(captures: Sequence[Capture], names: Sequence[str], topic: str) -> Scope:
    """Return what the captures show of the topic; UsageError, with the file's name, for what is not modelled."""
    lives = _lives(captures, topic)
    shown = [(name, c.topics[topic]) for name, c in zip(names, captures, strict=True) if topic in c.topics]
    for name, one in shown:
        _count_from_zero(name, one)
    lists, brokers = _shown_lists(captures, lives, topic), _brokers(captures, [one for _, one in shown])
    full = all(set(one.replicas) == set(brokers) for one in lists)
    moves = any(one.moves for one in lists) or _changes(lists) or _rewritten(captures, lives, topic)
    chosen = _replica_lists(lists, brokers, moves=moves)
    counts = {len(one.partitions) for _, one in shown}
    backwards = zip(reversed(lives), reversed(captures), strict=True)
    created = {life: len(capture.topics[topic].partitions) for life, capture in backwards if topic in capture.topics}
    gone = any(topic in one.topics and topic not in other.topics for one, other in pairwise(captures))
    loses = any(loses_states(one, other, topic) for one, other in pairwise(captures))
    orders = _orders([one for _, one in shown], brokers)
    left = tuple(each for each in logs_left(captures[0], topic) if each[0] in brokers and each[1] in range(len(orders)))
    return Scope(
        topic=topic,
        brokers=brokers,
        lives=lives,
        loses_states=loses,
        deletion=loses
        or gone
        or bool(left)
        or max(lives) > 0
        or any(topic in capture.deleting for capture in captures),
        reassignment=not full or chosen is not None,
        moves=moves,
        lists=chosen is not None,
        chosen=chosen,
        sessions=True,
        expires=any(set(capture.live) - set(capture.registered) for capture in captures),
        stepwise=len(counts) > 2 or len(set(created.values())) > 1,
        orders=orders,
        left=left,
        factor=min(len(replicas) for _, one in shown[:1] for replicas in one.partitions.values()),
    )


MOST_PARTITIONS, MOST_REPLICAS = 10, 32
"""The most partitions of a topic in a series, and of these times brokers: more were not explained within a minute."""
FIRST_PARTITIONS, FIRST_REPLICAS = 6, 18
"""How many of more partitions a series has, and of these times brokers: they are explained in seconds."""
MOST_SUBSETS = 2**15
"""The most sets of partitions: a session may end when a broker has handled any of them."""


def within_room(captures: Sequence[Capture], name: str) -> tuple[tuple[Capture, ...], str]:
    """Return the captures with the first partitions of a topic for which a series has room, and which are left out.

    Those that are left out have the same replicas in all captures: nothing that happens to them writes the znode. In a
    migration none are left out.

    Raises:
        UsageError: None can be left out, and they are too many for a search.
    """
    topics = [capture.topics[name] for capture in captures if name in capture.topics]
    count = max(len(topic.partitions) for topic in topics)
    brokers = {broker for topic in topics for replicas in topic.partitions.values() for broker in replicas}
    if count <= MOST_PARTITIONS and count * len(brokers) <= MOST_REPLICAS:
        return tuple(captures), ""
    most = max(min(FIRST_PARTITIONS, FIRST_REPLICAS // len(brokers)), 1)
    rest = [{n: r for n, r in topic.partitions.items() if n >= most} for topic in topics]
    is_written = any(one != rest[0] for one in rest) or any(n >= most for topic in topics for n in topic.moving)
    if is_written or any(capture.image is not None for capture in captures):
        if 2**count > MOST_SUBSETS:
            raise UsageError(
                f"{topic_label(name)} has {count} partitions, and none can be left out that a series has no room for."
            )
        return tuple(captures), ""
    label = topic_label(name)
    left = f"{label}-{most} to {label}-{count - 1}" if count > most + 1 else f"{label}-{most}"
    return tuple(_first_partitions(capture, name, most) for capture in captures), left


def _first_partitions(capture: Capture, name: str, count: int) -> Capture:
    """Return the capture with the first partitions of a topic only."""

    def is_kept(topic: str, partition: int | None) -> bool:
        return topic != name or partition is None or partition < count

    brokers = {
        number: evolve(
            broker,
            directories={d: log for d, log in broker.directories.items() if is_kept(name, partition_of(d, name))},
            assumed=frozenset(d for d in broker.assumed if is_kept(name, partition_of(d, name))),
            replicas={place: one for place, one in broker.replicas.items() if is_kept(*place)},
        )
        for number, broker in capture.brokers.items()
    }
    topic = capture.topics.get(name)
    if topic is None:
        return evolve(capture, brokers=brokers)
    known = evolve(
        topic,
        partitions={n: replicas for n, replicas in topic.partitions.items() if n < count},
        states={n: state for n, state in topic.states.items() if n < count},
        repeated={n: twice for n, twice in topic.repeated.items() if n < count},
    )
    return evolve(capture, topics={**capture.topics, name: known}, brokers=brokers)


def sharing(scopes: Sequence[Scope]) -> list[Scope]:
    """Return scopes of the topics of one cluster that ask for as few models as possible: one has room for several.

    Deletion that a topic does not show, and partitions that it does not have, cost little beside another model.
    """
    groups: dict[tuple[Any, ...], list[Scope]] = {}
    for scope in sorted(scopes, key=lambda one: -len(one.orders)):
        shown = scope.lists, scope.stepwise, scope.migrates, scope.loses_states
        kind = scope.brokers, scope.reassignment, scope.factor, shown
        longest = next((o[0].orders for k, o in groups.items() if k[0] == kind and _begins(o[0], scope)), scope.orders)
        groups.setdefault((kind, longest), []).append(scope)
    found = {id(one): _with_room(one, group) for group in groups.values() for one in group}
    return [found[id(scope)] for scope in scopes]


def _begins(other: Scope, scope: Scope) -> bool:
    """Whether the partitions of a scope are the first ones of another, so that there may be more of them."""
    if scope.chosen is not None or scope.migrates:
        return scope.orders == other.orders
    return scope.orders == other.orders[: len(scope.orders)]


def _with_room(scope: Scope, group: Sequence[Scope]) -> Scope:
    lives = max((1 + max(other.lives) for other in group if other.deletion), default=0)
    return scope if scope.migrates else evolve(scope, orders=group[0].orders, lives_in_model=lives)


def _lives(captures: Sequence[Capture], name: str) -> tuple[int, ...]:
    """Return the topic's life in each capture, or the one before it if the capture does not show the topic."""
    life, found, before = -1, [], None
    for capture in captures:
        topic = capture.topics.get(name)
        if topic is not None and (before is None or is_another(before, topic)):
            life += 1
        found.append(max(0, life))
        before = topic
    return tuple(found)


def loses_states(one: Capture, later: Capture, name: str) -> bool:
    """Whether states of partitions are gone that were there since a capture, while the topic is not being deleted.

    They were there if the capture shows them, or if a broker has got a log with the topic's id since: a controller
    writes the states before it sends a request that creates logs.

    Kafka: PartitionStateMachine.initializeLeaderAndIsrForPartitions.
    """
    before, after = one.topics.get(name), later.topics.get(name)
    if after is None or name in (*one.deleting, *later.deleting):
        return False
    states = {} if before is None or is_another(before, after) else before.states
    known = {p: s.leader_epoch for p, s in after.states.items()}
    if any(p in after.partitions and known.get(p, -1) < state.leader_epoch for p, state in states.items()):
        return True
    earlier, logs = logs_of(one, name), logs_of(later, name)
    named = {(broker, p) for broker, p, log in earlier if log.topic_id == after.topic_id}
    own = {(broker, p) for broker, p, log in logs if log.topic_id == after.topic_id is not None} - named
    return any(p in after.partitions and p not in known for _, p in own)


def loses_logs(one: Capture, later: Capture, name: str) -> bool:
    """Whether logs vanish that an earlier topic has left, and no capture shows the one with which they are deleted."""
    was, now = ({(broker, partition) for broker, partition, _ in logs_of(each, name)} for each in (one, later))
    return name not in one.topics and name not in later.topics and not was <= now


def is_another(before: Topic, topic: Topic) -> bool:
    """Whether a topic cannot be the same as the one of its name in the capture before."""
    if None not in (before.created, topic.created):
        return before.created != topic.created
    return len(topic.partitions) < len(before.partitions) or topic.version < before.version


def _brokers(captures: Sequence[Capture], topics: Sequence[Topic]) -> tuple[int, ...]:
    """Return the brokers that ever have a replica of the topic, are leader or in the ISR, or are controller."""
    replicas = {broker for topic in topics for replicas in topic.partitions.values() for broker in replicas}
    states = [state for topic in topics for state in topic.states.values()]
    named = {broker for state in states for broker in (state.leader, *state.isr)} | {c.controller for c in captures}
    return tuple(sorted(replicas | {broker for broker in named if broker is not None}))


def _orders(topics: Sequence[Topic], brokers: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    first: dict[int, tuple[int, ...]] = {}
    for topic in topics:
        for partition, replicas in topic.partitions.items():
            first.setdefault(partition, replicas)
    return tuple((*first[p], *(b for b in brokers if b not in first[p])) for p in sorted(first))


# What is not modelled.


def _count_from_zero(name: str, topic: Topic) -> None:
    if not topic.partitions:
        raise UsageError(f"{name} has {topic_label(topic.name)} without partitions; a topic has at least partition 0.")
    if sorted(topic.partitions) != list(range(len(topic.partitions))):
        raise UsageError(f"{name} has {topic_label(topic.name)} without some partition; they must count from 0.")


def is_young(capture: Capture, topic: Topic) -> bool:
    """Whether the topic may have been created under the present controller, with every leader its first.

    Its znode has then been written once more at most, by the controller that minted its id.
    """
    states = topic.states.values()
    created = all(s.leader_epoch == 0 and s.controller_epoch == capture.controller_epoch for s in states)
    return created and is_as_created(topic) and topic.name not in capture.deleting


def logs_left(capture: Capture, name: str) -> tuple[tuple[int, int, Directory], ...]:
    """Return the logs, by broker and partition, that a behaviour from a first capture on has from an earlier topic.

    Those are all logs without a topic, and those with another id than a topic that begins in the behaviour.
    """
    topic = capture.topics.get(name)
    if topic is not None and not is_young(capture, topic):
        return ()
    caches = [broker.cache for broker in capture.brokers.values() if broker.cache and broker.alive]
    own = {topic.topic_id, *(cache.topic_ids.get(name) for cache in caches)} if topic else set()
    return tuple(each for each in logs_of(capture, name) if topic is None or each[2].topic_id not in {None, *own})


def logs_of(capture: Capture, name: str) -> list[tuple[int, int, Directory]]:
    """Return all logs of a topic, by broker and partition, whether the topic exists or not."""
    return [
        (broker.id, partition, directory)
        for broker in capture.brokers.values()
        for directory_name, directory in sorted(broker.directories.items())
        if (partition := partition_of(directory_name, name)) is not None
    ]


def partition_of(directory: str, topic: str) -> int | None:
    """Return the partition of a topic whose log directory has this name; None for that of another topic."""
    name, _, number = directory.rpartition("-")
    return int(number) if name == topic and number.isascii() and number.isdigit() else None


# Lists of replicas.


MOST_TARGETS = 24
"""How many lists a client may want: all of the lengths that captures show, if they are no more; else those shown."""


@frozen
class ReplicaLists:
    """The lists of replicas that clients choose, with real brokers.

    `created` has those of the partitions in each life, `targets` those of reassignments; `is_complete` is whether these
    are all of the lengths that captures show.
    """

    created: tuple[tuple[tuple[int, ...], ...], ...]
    targets: tuple[tuple[int, ...], ...]
    is_complete: bool

    @property
    def bounds(self) -> dict[str, int]:
        """The bounds of the model; the number of lists is rounded up so that similar series share a compiled model."""
        return {
            "chosen_lists": 1,
            "replica_targets": next(n for n in (1, 6, 9, 12, 24, 60, len(self.targets)) if n >= len(self.targets)),
        }


@frozen
class _ShownList:
    """The replicas of a partition in a capture, in the life of that number; `moves` is whether they are reassigned."""

    life: int
    partition: int
    replicas: tuple[int, ...]
    moves: bool


def _shown_lists(captures: Sequence[Capture], lives: Sequence[int], name: str) -> list[_ShownList]:
    return [
        _ShownList(life, partition, replicas, partition in capture.topics[name].moving)
        for life, capture in zip(lives, captures, strict=True)
        if name in capture.topics
        for partition, replicas in sorted(capture.topics[name].partitions.items())
    ]


def _changes(lists: Sequence[_ShownList]) -> bool:
    """Whether the list of a partition changes during a life."""
    first: dict[tuple[int, int], tuple[int, ...]] = {}
    at_rest = [one for one in lists if not one.moves]
    return any(first.setdefault((one.life, one.partition), one.replicas) != one.replicas for one in at_rest)


def _replica_lists(lists: Sequence[_ShownList], brokers: tuple[int, ...], *, moves: bool) -> ReplicaLists | None:
    """Return the lists that clients choose; None if a partition has the same one always, all of one length."""
    created, partitions = _created(lists), range(1 + max((one.partition for one in lists), default=0))
    lengths = {len(replicas) for replicas in created.values()}
    if (
        not moves
        and len(lengths) <= 1
        and factorial(len(brokers)) ** len(partitions) <= LARGEST  # else no bound has their order
        and all(created[one.partition] == created[one.life, one.partition] for one in lists)
    ):
        return None
    targets, is_complete = _targets(lists, brokers) if moves else ((), True)
    lives = range(1 + max(one.life for one in lists))
    created_in = tuple(tuple(created.get((life, p), created[p]) for p in partitions) for life in lives)
    return ReplicaLists(created_in, targets, is_complete)


_Created = dict[tuple[int, int] | int, tuple[int, ...]]


def _created(lists: Sequence[_ShownList]) -> _Created:
    """Return the list with which each partition is created, by life and partition, and by partition alone.

    It is the first one that a life shows. Of a partition that moves then, only what moves from is asked for: the last
    replicas, as many as other partitions have.
    """
    at_rest = [len(one.replicas) for one in lists if not one.moves]
    found: _Created = {}
    for one in lists:
        count = min([len(one.replicas), *at_rest]) if one.moves else len(one.replicas)
        for key in ((one.life, one.partition), one.partition):
            found.setdefault(key, one.replicas[len(one.replicas) - count :])
    return found


def _targets(lists: Sequence[_ShownList], brokers: tuple[int, ...]) -> tuple[tuple[tuple[int, ...], ...], bool]:
    """Return the lists that clients may want, and whether they are all; of one that moves the target comes first."""
    targets = [one.replicas[:count] for one in lists if one.moves for count in range(1, len(one.replicas) + 1)]
    shown = tuple(dict.fromkeys([*(one.replicas for one in lists if not one.moves), *targets]))
    lengths = {len(one.replicas) for one in lists if not one.moves} or {len(replicas) for replicas in targets}
    if max(lengths) == 2:
        lengths.add(1)
    every = tuple(replicas for length in sorted(lengths) for replicas in permutations(brokers, length))
    return (tuple(dict.fromkeys([*every, *shown])), True) if len(every) <= MOST_TARGETS else (shown, False)


def _rewritten(captures: Sequence[Capture], lives: Sequence[int], name: str) -> bool:
    """Whether the topic's znode was written without a change that shows, as by a reassignment to the same replicas.

    KRaft's controller writes it, too, in a migration.
    """
    return any(
        one.version < other.version and one.partitions == other.partitions and one.topic_id == other.topic_id
        for (before, life), (after, same) in pairwise(zip(captures, lives, strict=True))
        if life == same and (one := before.topics.get(name)) and (other := after.topics.get(name))
        if not (before.is_kraft or after.is_kraft)
    )
