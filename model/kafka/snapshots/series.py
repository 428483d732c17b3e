"""A series of captures of one real cluster, and the behaviours of the model that pass through all of them.

The series is about one topic; other topics of the captures are left out. The model uses the grain of real clusters with
two exceptions, which lose nothing that captures can show: partition.metadata is written at once, and fired watches are
delivered at once. A broker that is stopped handles requests until it leaves: what its controlled shutdown sends decides
which topic ids it has.

Words: a topic is *young* in a capture when the present controller may have created it, with every leader its first, and
no write to it since: then a behaviour begins without the topic. Otherwise it begins settled, as the capture shows it.
What the capture does not show is left open: which brokers have *bounced* (stopped and started) since their replicas'
ids differ from the controller's, and what they hold in memory where there is no file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from itertools import chain, combinations, pairwise, permutations
from typing import Any

from attrs import evolve, frozen

from kwalk.model.kafka import actions
from kwalk.model.kafka.assignment import order_of
from kwalk.model.kafka.base import RUNNING_CLUSTER
from kwalk.model.kafka.broker.partition import follower_lags
from kwalk.model.kafka.clients import admin_clients, faults, operator, repair
from kwalk.model.kafka.controller.controller_context import (
    Controller,
    ControllerEvent,
    EventKind,
    PartitionState,
    ReplicaState,
)
from kwalk.model.kafka.controller.reassignment import reassign_to_list
from kwalk.model.kafka.domains import BROKERS, OLD_PROTOCOL_BROKERS, PARTITIONS, REPLICA_TARGETS, TOPIC_IDS, TOPICS
from kwalk.model.kafka.migration import versions as migrating_versions
from kwalk.model.kafka.snapshots import migrating_series as migrating
from kwalk.model.kafka.snapshots.capture import (
    Broker,
    Capture,
    Directory,
    Topic,
    read_capture,
    topic_label,
)
from kwalk.model.kafka.snapshots.diagnosis import (
    assigns_ids_at_once,
    each,
    has_topic_ids,
    is_as_created,
    listed,
    symptoms,
)
from kwalk.model.kafka.snapshots.diagnosis import brokers as brokers_in_words
from kwalk.model.kafka.snapshots.initial_state import (
    Focus,
    InferredMemory,
    InferredReplica,
    InferredState,
    arrange,
    arrange_without_topics,
    ids_in,
    infer,
)
from kwalk.model.kafka.snapshots.limits import (
    CapturePoint,
    file_is_gone,
    limits,
    needs,
    not_between,
    unlikely_between,
)
from kwalk.model.kafka.snapshots.log_lines import EXPIRED
from kwalk.model.kafka.snapshots.logs import Logs, ReadLogs, moments_of, read_logs, steps_of
from kwalk.model.kafka.snapshots.noticed import noticed
from kwalk.model.kafka.snapshots.projection import Numbering, Unsettled, epochs_in_memory, facts_of, unsettled_of
from kwalk.model.kafka.snapshots.scope import (
    Scope,
    is_another,
    is_young,
    logs_left,
    logs_of,
    loses_logs,
    loses_states,
    scope_of,
    sharing,
    within_room,
)
from kwalk.model.kafka.snapshots.snapshot import short
from kwalk.model.kafka.snapshots.untrusted_json import printable
from kwalk.model.kafka.state import Cluster, Replica
from kwalk.model.kafka.versions import FINE
from kwalk.model.kafka.versions.deletion import CLEAR_SM_ON_REMOVE
from kwalk.model.kafka.versions.grain import UNCLEAN_ELECTION
from kwalk.model.kafka.versions.records import TOPICS_HAVE_IDS
from kwalk.model.kafka.zookeeper import kafka_zk_client, sessions
from kwalk.model.kafka.zookeeper.znodes import Assignment, ReplicaOrder
from kwalk.model.language import UsageError
from kwalk.model.language.series import Event, LogSource, Requirement, Series, Waypoint, sharing_models


@frozen
class InferredStart(InferredState):
    """What is inferred of a cluster with its real leader epochs, if these brokers have bounced.

    The others that are `kept` have been running since their files were removed.
    """

    bounced: frozenset[int] = frozenset()
    kept: frozenset[int] = frozenset()

    def replica(self, broker: int, partition: int, memory: InferredMemory) -> InferredReplica:
        """Return a broker's replica of a partition; what it has in memory without a file depends on the broker."""
        without_file = InferredMemory.KEPT_ID if broker in self.kept else InferredMemory.NO_ID
        return super().replica(broker, partition, without_file)

    def leader_epoch(self, partition: int) -> int | None:
        """Return the partition's leader epoch in ZooKeeper."""
        state = self.focus.topic.states.get(partition)
        return None if state is None else state.leader_epoch

    def _distance(self, above: int) -> int:
        return above

    def _hosted(self, broker: int, partition: int, ids: InferredReplica) -> InferredReplica:
        state = self.focus.topic.states.get(partition)
        if state is None:
            return ids
        leads = state.leader == broker
        if not self.refuses(ids):
            return (
                self._stuck(ids, state.leader_epoch)
                if state.leader is None
                else at_epoch(ids, state.leader_epoch, leads)
            )
        led = self.focus.symptoms.led[partition] is not False
        if leads:
            return at_epoch(ids, state.leader_epoch, leads) if led else self._stuck(ids, state.leader_epoch)
        if broker in self.bounced:
            return ids if self.checked_at_first else at_epoch(ids, state.leader_epoch, leads)
        takes_part = led and state.leader is not None and broker in state.isr
        return at_epoch(ids, state.leader_epoch, leads) if takes_part else self._stuck(ids, state.leader_epoch)

    def refuses(self, ids: InferredReplica) -> bool:
        """Whether a log with these ids refuses what the controller sends."""
        return None not in (ids.memory, self.context_id) and ids.memory != self.context_id

    def _stuck(self, ids: InferredReplica, epoch: int) -> InferredReplica:
        """Return the replica at an older leader epoch; which one has no effect on the behaviours."""
        return at_epoch(ids, max(epoch - 1, 0), leads=False)


def at_epoch(ids: InferredReplica, epoch: int, leads: bool) -> InferredReplica:
    """Return a replica that leads or follows under a leader epoch."""
    return InferredReplica(ids.file, ids.memory, True, epoch, leads)


def created_partitions(topic: Topic) -> int:
    """Return how many partitions a topic was created with: those that one controller brought online, or some of all.

    A capture does not show how many partitions a client has added while the first controller was active.
    """
    count = len(topic.partitions)
    if is_as_created(topic) or count == 1:
        return count
    first = topic.states[0].controller_epoch if 0 in topic.states else None
    oldest = sum(state.controller_epoch == first for state in topic.states.values())
    return oldest if 0 < oldest < count else count // 2


def infer_start(capture: Capture, topic: Topic, brokers: tuple[int, ...]) -> InferredStart:
    """Infer the state of the whole topic, without bounces."""
    focus = Focus(topic, symptoms(capture, topic), tuple(sorted(topic.partitions)), brokers)
    inferred = infer(capture, focus)
    return InferredStart(inferred.capture, focus, inferred.context_id, inferred.checked_at_first)


def as_shown(inferred: InferredStart, scope: Scope) -> Callable[..., None]:
    """Return the initial function of a behaviour that begins as the capture shows, with a state for each history."""
    possible = list(histories(inferred))
    choice = Enum("History", {f"history_{number}": number for number in range(len(possible))})  # type: ignore[misc]

    def snapshot(cluster: Cluster, history: Any) -> None:
        arrange_as_shown(cluster, possible[history.value], scope)

    snapshot.__annotations__ = {"cluster": Cluster, "history": choice, "return": None}
    return snapshot


def arrange_as_shown(cluster: Cluster, believed: InferredStart, scope: Scope) -> None:
    """Turn a fresh state into what the capture shows under one history."""
    arrange(cluster, believed, InferredMemory.NO_ID)
    _arrange_lists(cluster, scope)
    _arrange_directories(cluster, believed, scope)
    _arrange_assignments(cluster, believed, scope)
    _arrange_deletion(cluster, believed, scope)


def histories(inferred: InferredStart) -> Iterator[InferredStart]:
    """Yield what brokers may have done and hold in memory, where the capture does not show it."""
    unknown = _without_files(inferred)
    partitions = inferred.focus.partitions
    same = frozenset(b for b in unknown if any(inferred.may_hold_another_id(b, p) for p in partitions))
    known = {b for b in inferred.focus.brokers if any(inferred.holds_another_id(b, p) for p in partitions)}
    for kept in (one | other for other in dict.fromkeys((frozenset(), same)) for one in _subsets(unknown - same)):
        remembering = evolve(inferred, kept=kept)
        for bounced in _subsets(_refusing(remembering) - same - known):  # a restart would have read or written files
            yield evolve(remembering, bounced=bounced)


def _subsets(brokers: Iterable[int]) -> Iterator[frozenset[int]]:
    known = sorted(brokers)
    sizes = (combinations(known, size) for size in range(len(known) + 1))
    return (frozenset(chosen) for chosen in chain.from_iterable(sizes))


def _without_files(inferred: InferredStart) -> set[int]:
    """Return the brokers whose memory of replicas without partition.metadata makes a difference."""
    partitions = inferred.focus.partitions
    return {
        b
        for b in inferred.focus.brokers
        for p in partitions
        if inferred.replica(b, p, InferredMemory.NO_ID)
        != evolve(inferred, kept=frozenset({b})).replica(b, p, InferredMemory.NO_ID)
    }


def _refusing(inferred: InferredStart) -> set[int]:
    """Return the running brokers with a replica that refuses."""
    focus = inferred.focus
    held = {(b, p): inferred.replica(b, p, InferredMemory.NO_ID) for b in focus.brokers for p in focus.partitions}
    return {b for (b, _), ids in held.items() if inferred.capture.brokers[b].alive and inferred.refuses(ids)}


def _arrange_directories(cluster: Cluster, inferred: InferredStart, scope: Scope) -> None:
    if scope.flags["stop_replica"]:
        for number, broker in enumerate(scope.brokers):
            for partition, replica in enumerate(cluster.brokers[number].replicas[0]):
                replica.on_disk = inferred.capture.directory(broker, scope.topic, partition) is not None


def _arrange_lists(cluster: Cluster, scope: Scope) -> None:
    """Set the lists of replicas that clients choose; the last target as often as there is room."""
    if scope.chosen is None:
        return

    def numbered(replicas: Sequence[int]) -> ReplicaOrder:
        members = [scope.brokers.index(broker) for broker in replicas]
        return ReplicaOrder(frozenset(members), order_of(members))

    for life, created in enumerate(scope.chosen.created):
        for partition, replicas in enumerate(created):
            cluster.planned[life][partition] = numbered(replicas)
    for number in range(len(cluster.targets) if scope.chosen.targets else 0):
        cluster.targets[number] = numbered(scope.chosen.targets[min(number, len(scope.chosen.targets) - 1)])


def _arrange_assignments(cluster: Cluster, inferred: InferredStart, scope: Scope) -> None:
    """Set the assignments; a behaviour begins without a reassignment."""
    if scope.reassignment:
        known = [c.topics[0] for c in (b.controller for b in cluster.brokers) if c.is_active]
        for partition, replicas in inferred.focus.topic.partitions.items():
            members = [scope.brokers.index(broker) for broker in replicas]
            wanted = Assignment(frozenset(members))
            cluster.zookeeper.topics[0].assignments[partition] = wanted
            for context in known:
                context.assignments[partition] = wanted
            if scope.lists:
                for orders in (cluster.zookeeper.topics[0].orders, *(context.orders for context in known)):
                    orders[partition] = order_of(members)
            for broker in cluster.brokers:
                if broker.replicas[0][partition].is_leader:
                    broker.replicas[0][partition].assigned = wanted.replicas


def _arrange_deletion(cluster: Cluster, inferred: InferredStart, scope: Scope) -> None:
    """Set the states of a topic that is not deleted; a delete_topics znode is still unread."""
    if not scope.models_deletion:
        return
    znode, marked = cluster.zookeeper.topics[0], scope.topic in inferred.capture.deleting
    znode.was_created = znode.has_config = True
    znode.deletion_requested = marked
    cluster.zookeeper.delete_topics = frozenset({0} if marked else ())
    for number, broker in enumerate(cluster.brokers):
        if broker.controller.is_active:
            cluster.zookeeper.watches[number].delete_topics = not marked
            _arrange_states(broker.controller)
            if marked:
                broker.controller.events.push(ControllerEvent(EventKind.TOPIC_DELETION, 0))


def _arrange_states(controller: Controller) -> None:
    context = controller.topics[0]
    for partition in range(context.partition_count):
        leads = context.leadership[partition].leader in controller.live_brokers
        context.partition_states[partition] = PartitionState.ONLINE if leads else PartitionState.OFFLINE
        for broker in context.assignments[partition].replicas:
            status = ReplicaState.ONLINE if broker in controller.live_brokers else ReplicaState.OFFLINE
            context.replica_states[partition][broker] = status


def before_the_topic(series: Captures, scope: Scope) -> Callable[..., None]:
    """Return the initial function of a behaviour that begins in a settled cluster without the topic, but with its logs.

    The logs are of a life before, of which nothing else is known. There is a state for each of what may be left in
    memory: a broker that has run since then has Partition objects, and a controller has the states of partitions and
    replicas. What only a controller without a reaction to the removal of a topic has is not among that.
    """
    capture, left, minted = series.first, scope.left, len(series.returning)
    choices = list(_subsets_and(_remembering(capture, scope), bool(left) and capture.controller is not None))

    def begin(cluster: Cluster, running: frozenset[int], *, states: bool, late: bool) -> None:
        for _ in range(minted):
            cluster.topic_ids.take()
        arrange_without_topics(cluster, capture, scope.brokers)
        _arrange_lists(cluster, scope)
        if scope.models_deletion:
            _arrange_request(cluster, marked=scope.topic in capture.deleting)
        for broker, partition, directory in left:
            number = scope.brokers.index(broker)
            replica = cluster.replica_of(number, 0, partition)
            _arrange_left(replica, directory, series, runs=capture.brokers[broker].alive)
            if number in running:
                replica.log_open, replica.leader_epoch = True, MOST_EARLIER if late else _last_epoch(directory)
            for state in cluster.brokers if states and number in cluster.zookeeper.broker_ids else ():
                if state.controller.is_active:
                    context = state.controller.topics[0]
                    context.partition_states[partition] = PartitionState.ONLINE
                    context.replica_states[partition][number] = ReplicaState.ONLINE

    if not left:

        def settled(cluster: Cluster) -> None:
            begin(cluster, frozenset(), states=False, late=False)

        return settled
    choice = Enum("History", {f"history_{number}": number for number in range(len(choices))})  # type: ignore[misc]

    def snapshot(cluster: Cluster, history: Any) -> None:
        running, states, late = choices[history.value]
        begin(cluster, running, states=states and not CLEAR_SM_ON_REMOVE, late=late)

    snapshot.__annotations__ = {"cluster": Cluster, "history": choice, "return": None}
    return snapshot


MOST_EARLIER = 15
"""A leader epoch of a life before that is above those with which the next one begins."""


def _remembering(capture: Capture, scope: Scope) -> dict[int, bool]:
    """Return the running brokers with logs that are left, by number, and whether the leader epoch in memory matters.

    Since 3.0 a log with an id refuses another topic's requests whether it was hosted or not.
    """
    found: dict[int, bool] = {}
    for broker, _, directory in scope.left:
        number, has_id = scope.brokers.index(broker), directory.topic_id is not None
        if capture.brokers[broker].alive and not (has_id and assigns_ids_at_once(capture.version)):
            found[number] = found.get(number, False) or not has_id
    return found


def _subsets_and(brokers: Mapping[int, bool], controller: bool) -> Iterator[tuple[frozenset[int], bool, bool]]:
    """Yield which brokers have Partition objects, whether the controller has states, and whether epochs are late."""
    for running in _subsets(brokers):
        for states in (False, True) if controller else (False,):
            for late in (False, True) if any(brokers[number] for number in running) else (False,):
                yield running, states, late


def _arrange_request(cluster: Cluster, *, marked: bool) -> None:
    """Set a delete_topics znode that is left without its topic; nothing has happened to it since."""
    cluster.zookeeper.delete_topics = frozenset({0} if marked else ())
    for number, broker in enumerate(cluster.brokers):
        if broker.controller.is_active:
            cluster.zookeeper.watches[number].delete_topics = True


def _arrange_left(replica: Replica, directory: Directory, series: Captures, *, runs: bool) -> None:
    """Set the log of a replica to one that is on disk, and loaded if the broker runs."""
    identity = None if directory.topic_id is None else series.returning.index(directory.topic_id)
    replica.file_topic_id = identity
    replica.topic_id = identity if runs else None
    replica.on_disk = True


def _last_epoch(directory: Directory) -> int:
    """Return the last leader epoch of a log that its checkpoint has; 0 without one."""
    return min(directory.leader_epochs[-1][0], MOST_EARLIER) if directory.leader_epochs else 0


EVENTS = frozenset({"restart", "auto_preferred_election", "notice_expiry"})


PROMPT = frozenset({"handle_leader_and_isr", "handle_stop_replica", "deliver_notification", "leave"})


SLOW = frozenset({"handle_leader_and_isr", "handle_stop_replica", "leave"})
"""Requests: one that a broker has not received when its controller resigns may be lost; and a broker that stops may
leave before it has handled them. Of prompt steps a search takes the first one, in the order of the scenario's actions:
what that excludes, such as a broker that leaves at once, a slow one finds.
"""


RARE = frozenset(
    {
        faults.crash.name,
        follower_lags.name,
        sessions.expire_session.name,
        sessions.auth_failure_reinitializes.name,
    }
)


COMMON = frozenset({"delete_controller", "stop", "crash", "restart", "expire_session", "notice_expiry"})
"""Events of the whole cluster, which all of its topics see."""


EVENT_COUNTERS = frozenset({"controller_deletions", "stops", "repairs", "expirations", "reassignments"})
"""Leaves that count actions of clients and operators; their bounds are ample."""


IDLE_TIME = frozenset({"shrink_isr", "expand_isr"})


FLAGS = {**FINE, "async_metadata_flush": False, "metadata_file_removal": True, "metadata_file_edits": True}
SERIES_FLAGS = {**FLAGS, "stepwise_shutdown": True}


SPARE_IDS = 1
"""How many ids may be minted after those that the series shows."""


USUAL_PARTITIONS = 2


ASSUMED = (
    "Assumed: partition.metadata is written at once; operators remove or edit it only where a snapshot shows one gone "
    "or with another id, and then perhaps remove it again later; watches are delivered at once; no topic was created, "
    "and no topic id minted, that no snapshot shows; the cluster was at rest before the first snapshot.",
)


UNSEEN = (
    "sessions that expired and came back between two snapshots, seen by none, also amid a request that creates logs, "
    "operators who removed partition.metadata between two snapshots of which neither has it, and followers that lagged "
    "before they stopped"
)


CLEAN = "elections of replicas outside of the ISR (no snapshot shows unclean.leader.election.enable, or it changes)"
UNTRIED = (
    "a broker that crashes in the middle of a controlled shutdown",
    "operators who put partition.metadata back, or who removed it before the first snapshot",
    "znodes of topics, and states of partitions, that somebody writes by hand",
    "failed disks",
    "failed authentication with ZooKeeper",
    "an inter.broker.protocol.version that changes between the snapshots, or that is not that of the release",
    "requests that arrive late or twice",
)
"""What no search for an explanation tries."""


Source = str | os.PathLike[str] | bytes


@frozen
class Captures:
    """Captures of one cluster in order, with their display names, and the topic of the series.

    `life` numbers the lives of the topic that are explained by themselves. The `earlier` ids are those of lives before:
    an operator may write them back. `logs` are the logs of the brokers.
    """

    names: tuple[str, ...]
    captures: tuple[Capture, ...]
    topic: str
    life: int = 0
    earlier: tuple[str, ...] = ()
    logs: Logs | None = None

    @property
    def ids(self) -> tuple[str, ...]:
        """The topic's ids in the captures."""
        return tuple(dict.fromkeys(i for capture in self.captures for i in shown_ids(capture, self.topic)))

    @property
    def returning(self) -> tuple[str, ...]:
        """The ids of lives before that the captures show, and those that the first one shows of an earlier topic."""
        left = sorted({log.topic_id for _, _, log in logs_left(self.first, self.topic) if log.topic_id})
        gone = () if self.topic in self.first.topics else shown_ids(self.first, self.topic)
        return tuple(dict.fromkeys([*(identity for identity in self.earlier if identity in self.ids), *left, *gone]))

    @property
    def first(self) -> Capture:
        """The first capture."""
        return self.captures[0]

    @property
    def topics(self) -> list[Topic]:
        """The topic in every capture that has it."""
        return [c.topics[self.topic] for c in self.captures if self.topic in c.topics]

    @property
    def has_old_protocol(self) -> bool:
        """Whether a controller that mints ids would have: one is elected between two captures, and no topic has an id.

        Kafka: KafkaConfig.usesTopicId.
        """
        logs = (log for c in self.captures for b in c.brokers.values() if b.seen for log in b.directories.values())
        has_ids = any(one.topic_id for c in self.captures for one in c.topics.values()) or any(d.topic_id for d in logs)
        elected = self.captures[-1].controller_epoch > self.first.controller_epoch
        return has_topic_ids(self.first.version) and elected and not has_ids

    @property
    def elects_uncleanly(self) -> bool | None:
        """Whether replicas outside of the ISR are elected; None if a capture does not show it, or two differ."""
        shown = {topic.elects_uncleanly for topic in self.topics}
        return shown.pop() if len(shown) == 1 else None


def read_series(
    sources: Sequence[Source], names: Sequence[str] | None = None, logs: LogSource | None = None
) -> tuple[Series, ...]:
    """Read captures (JSON files, or their bytes) of one cluster, and the logs of its brokers.

    Args:
        sources: The captures, in the order in which they were taken.
        names: Their display names; None for those of the files.
        logs: The logs; None without any.

    Returns:
        A series for each topic, those that change most first. Lives of a topic are series of their own if a snapshot
        between them shows nothing of it.

    Raises:
        UsageError: They are not of one cluster, unreadable, or show of no topic what is modelled; or the logs are
            unreadable, or of another time.
    """
    called = tuple(names or _names(sources))
    read = tuple(_capture(source, name) for source, name in zip(sources, called, strict=True))
    _same_kind(called, read)
    captures, absent = _with_all_brokers(called, read)
    if logs is not None:
        moments_of(called, captures)
    lines = None if logs is None else read_logs(logs)
    topics, parts, refused = _topics(captures), list[tuple[Captures, Scope]](), list[str]()
    for topic in topics:
        with _noting(topic, refused, alone=len(topics) == 1):
            shown, left = within_room(captures, topic)
            parts += _parts(Captures(called, shown, topic, logs=lines))
            refused += [f"Not explained: {left}, for which a series has no room."] if left else []
    found: list[Series] = []
    for (part, _), scope in zip(parts, sharing([scope for _, scope in parts]), strict=True):
        with _noting(part.topic, refused, alone=len(topics) == 1):
            found.append(_series(part, scope))
    if not found:
        raise UsageError("\n".join(refused))
    found = sharing_models(found)
    left = _own_topics(captures, topics)
    facts = (*absent, *refused, *([f"Left out: {left}."] if left else []))
    return tuple(
        evolve(one, facts=(*one.facts, *facts), refused=tuple(refused), name=one.name if len(found) > 1 else "")
        for one in found
    )


@contextmanager
def _noting(name: str, refused: list[str], *, alone: bool) -> Iterator[None]:
    """Note that a topic cannot be explained; raise it if there is no other one."""
    try:
        yield
    except UsageError as error:
        if alone:
            raise
        refused.append(f"{topic_label(name)} is not explained: {error}")


def _parts(series: Captures) -> Iterator[tuple[Captures, Scope]]:
    """Yield the captures of each part with what they need."""
    earlier: tuple[str, ...] = ()
    for part in lives_apart(series):
        yield evolve(part, earlier=earlier), scope_of(part.captures, part.names, part.topic)
        earlier = tuple(dict.fromkeys((*earlier, *part.ids)))


def lives_apart(series: Captures) -> Iterator[Captures]:
    """Yield the captures up to where the topic is gone, those from there to where it is gone again, and so on.

    A capture in which nothing is left of it ends one part and begins the next.
    """
    begin, life, topic = 0, 0, series.topic
    for place in range(1, len(series.captures)):
        shown = any(topic in capture.topics for capture in series.captures[begin:place])
        follows = any(topic in capture.topics for capture in series.captures[place:])
        if shown and follows and _is_gone(series.captures[place], topic):
            end = place + 1
            yield evolve(series, names=series.names[begin:end], captures=series.captures[begin:end], life=life)
            begin, life = place, life + 1
    yield evolve(series, names=series.names[begin:], captures=series.captures[begin:], life=life)


def _is_gone(capture: Capture, topic: str) -> bool:
    """Whether nothing is left of a topic, in ZooKeeper and on disks."""
    left = (name.rpartition("-")[0] for broker in capture.brokers.values() for name in broker.directories)
    return topic not in capture.topics and topic not in capture.deleting and topic not in left


def _capture(source: Source, name: str) -> Capture:
    try:
        capture = migrating.without_kraft_controller(read_capture(source))
    except UsageError as error:
        raise UsageError(f"{printable(name, 200)}: {error}") from error
    missing = [broker.id for broker in capture.brokers.values() if not broker.seen]
    if missing:
        raise UsageError(
            f"{printable(name, 200)} lacks the log directories of {brokers_in_words(missing)}, which a behaviour must "
            "match. Take snapshots with the log directories of every broker."
        )
    return capture


def _names(sources: Sequence[Source]) -> list[str]:
    """Return the names of files, without their folders where they are unique."""
    paths = [f"snapshot {n}" if isinstance(s, bytes) else os.fspath(s) for n, s in enumerate(sources, start=1)]
    short = [os.path.basename(path) for path in paths]
    return short if len(set(short)) == len(short) else paths


def _same_kind(names: Sequence[str], captures: Sequence[Capture]) -> None:
    if not captures:
        raise UsageError("Name one snapshot or more, in the order in which they were taken.")
    first = captures[0]
    for name, capture in zip(names, captures, strict=True):
        if capture.version != first.version or capture.brokers.keys().isdisjoint(first.brokers):
            raise UsageError(
                f"{name} is of Kafka {capture.version} with the brokers {listed([str(b) for b in capture.brokers])}, "
                f"and {names[0]} of Kafka {first.version} with {listed([str(b) for b in first.brokers])}. "
                "Name snapshots of one cluster and one release: those before an upgrade, or after."
            )


def _with_all_brokers(names: Sequence[str], captures: Sequence[Capture]) -> tuple[tuple[Capture, ...], list[str]]:
    """Return captures with the brokers of all of them, and what is assumed: one that is not in a capture is down there.

    Nothing in ZooKeeper names it: it has not joined the cluster yet, or has been retired.
    """
    known = sorted({broker for capture in captures for broker in capture.brokers})
    facts = []
    for name, capture in zip(names, captures, strict=True):
        absent = [broker for broker in known if broker not in capture.brokers]
        if absent:
            has = each(absent, "is not in", "are not in")
            state = each(absent, "it is taken to be down, without logs", "they are taken to be down, without logs")
            facts.append(f"{brokers_in_words(absent).capitalize()} {has} {printable(name, 200)}: {state}.")
    all_of = (
        {b: capture.brokers.get(b, Broker(b, alive=False, directories={})) for b in known} for capture in captures
    )
    return tuple(evolve(c, brokers=found) for c, found in zip(captures, all_of, strict=True)), facts


def _topics(captures: Iterable[Capture]) -> list[str]:
    """Return the topics: those that change most first. Kafka's own are left out if there are others."""
    seen: dict[str, list[Topic]] = {}
    for capture in captures:
        for name, topic in capture.topics.items():
            seen.setdefault(name, []).append(topic)
    if not seen:
        raise UsageError("None of the snapshots shows a topic, so there is nothing to explain. Name later ones too.")
    order = sorted(seen, key=lambda name: (-_changes(seen[name]), -len(seen[name]), name))
    return [name for name in order if not name.startswith("__")] or order


def _own_topics(captures: Iterable[Capture], explained: Sequence[str]) -> str:
    """Return in words the topics that are not explained: Kafka's own."""
    left = sorted({name for capture in captures for name in capture.topics} - set(explained))
    return f"topic{'s' * (len(left) != 1)} {listed([topic_label(name) for name in left])}" if left else ""


def _changes(topics: list[Topic]) -> int:
    return sum(one != other for one, other in pairwise(topics))


def _series(series: Captures, scope: Scope) -> Series:
    """Return the series, and a wider one that is tried if no behaviour fits: with faults that no capture shows."""
    if any(map(migrating.shows_migration, series.captures)):
        return _migrating_series(series, migrating.migrating_scope(scope, series.captures, series.names))
    wider = evolve(_series_within(series, evolve(scope, expires=True, removals=True)), assumes=UNSEEN)
    narrow = _series_within(series, scope)
    if not scope.expires and any(EXPIRED.match(step.text) is not None for log in narrow.logs for step in log):
        narrow = _series_within(series, evolve(scope, expires=True))
    return evolve(narrow, wider=wider)


def _migrating_series(series: Captures, scope: Scope) -> Series:
    """Return a series in which a migration shows, and a wider one: with brokers that had the flag before."""
    refused = migrating.first_state(series.first, series.names[0])
    if refused is not None:
        raise UsageError(refused)
    wider = _series_within(series, evolve(scope, removals=True))
    return evolve(_series_within(series, scope), wider=evolve(wider, assumes=migrating.WIDER))


def _series_within(series: Captures, scope: Scope) -> Series:
    start = _start(series, scope)
    numbering = _numbering(series, scope, start)
    logs, unclean = _logs(series, numbering), (CLEAN,) if series.elects_uncleanly is None else ()
    return Series(
        name=numbering.name + (f", created again after {series.names[0]}" if series.life else ""),
        bounds=_bounds(series, scope, numbering, created=_created(series, scope, begun=start is not None)),
        labels={
            BROKERS.name: tuple(str(broker) for broker in scope.brokers),
            TOPICS.name: (numbering.name,),
            PARTITIONS.name: tuple(str(n) for n in range(numbering.partitions)),
            TOPIC_IDS.name: short(numbering.ids),
            **_target_labels(scope),
        },
        initial=_initial(series, scope, start, numbering),
        waypoints=tuple(_waypoints(series, scope, numbering)),
        variant=series.first.version,
        flags={**SERIES_FLAGS, **scope.flags, **({UNCLEAN_ELECTION.name: True} if series.elects_uncleanly else {})},
        events=EVENTS,
        prompt=PROMPT | migrating.PROMPT if scope.migrates else PROMPT,
        slow=SLOW,
        idle_time=IDLE_TIME,
        rare=RARE,
        sequences=_sequences(scope),
        common=COMMON,
        event_counters=EVENT_COUNTERS | migrating.COUNTERS if scope.migrates else EVENT_COUNTERS,
        facts=(*_facts(series, scope, numbering, start), *ASSUMED, *([migrating.ASSUMED] if scope.migrates else [])),
        untried=(*unclean, *UNTRIED, *migrating.UNTRIED) if scope.migrates else (*unclean, *UNTRIED),
        logs=logs.logs if logs else (),
        log_limits=logs.limits if logs else (),
        log_counts=logs.counts if logs else None,
        requires=tuple(_requires(series)),
        scenario=MIGRATING_CLUSTER.name if scope.migrates else "",
    )


def _target_labels(scope: Scope) -> dict[str, tuple[str, ...]]:
    """Return the labels of the lists that clients want in reassignments."""
    if scope.chosen is None or not scope.chosen.targets:
        return {}
    texts = [str(list(replicas)) for replicas in scope.chosen.targets]
    room = scope.bounds[REPLICA_TARGETS.name] - len(texts)
    return {REPLICA_TARGETS.name: (*texts, *texts[-1:] * room)}


def _initial(series: Captures, scope: Scope, start: InferredStart | None, numbering: Numbering) -> Callable[..., None]:
    begin = before_the_topic(series, scope) if start is None else as_shown(start, scope)
    if not scope.migrates:
        return begin
    worlds = migrating.worlds_of(series.first, scope, numbering, may_have_flag=scope.removals)
    return migrating.with_worlds(begin, worlds)


MOST_ORDERED = 4
"""The most brokers that are restarted in every order: more are in that of their ids, and in the reverse."""


def _sequences(scope: Scope) -> tuple[tuple[Event, ...], ...]:
    """Return the events of a restart of all brokers, one after the other, and of what one broker comes back from."""
    brokers = tuple(range(len(scope.brokers)))
    orders = permutations(brokers) if len(brokers) <= MOST_ORDERED else (brokers, brokers[::-1])
    restarts = [tuple((name, broker) for broker in order for name in ("stop", "restart")) for order in orders]
    pairs = [("stop", "restart"), ("crash", "restart"), *([("expire_session", "notice_expiry")] * scope.expires)]
    returns = [tuple((name, broker) for name in pair) for pair in pairs for broker in brokers]
    return tuple(dict.fromkeys([*restarts, *returns]))


def _requires(series: Captures) -> Iterator[Requirement]:
    """A release without topic ids mints none, writes no partition.metadata, and cannot read a znode of format 3."""
    topic, shown = series.first.topics.get(series.topic), printable(series.names[0], 200)
    if topic is not None and (topic.topic_id is not None or topic.format >= FORMAT_WITH_IDS):
        what = f"the topic id {topic.topic_id}" if topic.topic_id else f"a znode in format {topic.format}"
    else:
        logs = [
            (b, name)
            for b, broker in sorted(series.first.brokers.items())
            for name, directory in sorted(broker.directories.items())
            if directory.topic_id and name.rpartition("-")[0] == series.topic
        ]
        if not logs:
            return
        what = f"partition.metadata of {printable(logs[0][1], 200)} on broker {logs[0][0]}"
    text = (
        f"{shown} shows {what} for {topic_label(series.topic)}, and releases before 2.8.0 have no topic ids, no "
        "partition.metadata and no znodes in format 3. Allowed: a release from 2.8.0 on, in the field version or as "
        "--variant. A cluster that was upgraded or downgraded in between is not modelled"
    )
    yield Requirement(TOPICS_HAVE_IDS.name, True, text)


FORMAT_WITH_IDS = 3
"""The format of topic znodes from 2.8.0 on."""


def _logs(series: Captures, numbering: Numbering) -> ReadLogs | None:
    """Return what the logs show of the series."""
    if series.logs is None:
        return None
    moments = moments_of(series.names, series.captures)
    unusable = frozenset({0} if series.life else ())  # around its begin, lines may be of the life before
    return steps_of(series.logs, evolve(moments, unusable=unusable), series.captures, numbering)


def _start(series: Captures, scope: Scope) -> InferredStart | None:
    """Return the inferred start; None to begin before the topic exists."""
    topic = series.first.topics.get(series.topic)
    if topic is not None and series.first.is_kraft:
        shown = migrating.in_image(series.first, series.topic)
        return infer_start(shown, shown.topics[series.topic], scope.brokers)
    if topic is None or is_young(series.first, topic):
        return None
    return infer_start(series.first, topic, scope.brokers)


def _numbering(series: Captures, scope: Scope, start: InferredStart | None) -> Numbering:
    ids = dict.fromkeys((*series.returning, *(ids_in(start) if start else ()), *series.ids))
    epochs = [state.leader_epoch for topic in series.topics for state in topic.states.values()]
    brokers = (broker for capture in series.captures for broker in capture.brokers.values())
    epochs += [one.leader_epoch for b in brokers for (t, _), one in b.replicas.items() if one and t == series.topic]
    in_images = (migrating.image_states(capture, series.topic) for capture in series.captures)
    epochs += [state.leader_epoch for states in in_images for state in states.values()]
    return Numbering(
        topic=series.topic,
        brokers=scope.brokers,
        partitions=len(scope.orders),
        ids=tuple(ids),
        earlier_epochs=series.first.controller_epoch - 1,
        most=_rounded(max(epochs, default=0)),
        scope=scope,
    )


def shown_ids(capture: Capture, name: str) -> tuple[str, ...]:
    """Return the topic's ids in a capture: those in files first, then the controller's, then ZooKeeper's."""
    topic = capture.topics.get(name)
    files = sorted({directory.topic_id for _, _, directory in logs_of(capture, name) if directory.topic_id})
    caches = [b.cache.topic_ids.get(name) for b in capture.brokers.values() if b.cache and b.id == capture.controller]
    found = [*(i for i in files if topic is None or i != topic.topic_id), *caches, topic.topic_id if topic else None]
    return tuple(dict.fromkeys(identity for identity in found if identity))


def _created(series: Captures, scope: Scope, *, begun: bool) -> int:
    """Return how many partitions the topic is created with; if it is never created, as many as in most series."""
    fewest = min(len(topic.partitions) for topic in series.topics)
    if not begun:
        return created_partitions(series.topics[0])
    return fewest if scope.deletion else min(fewest, USUAL_PARTITIONS)


def _bounds(series: Captures, scope: Scope, numbering: Numbering, *, created: int) -> dict[str, int]:
    """Return bounds for what the series shows, rounded up so that similar series share a compiled model."""
    ample = _rounded(3 * (len(series.captures) - 1))  # a restart of three brokers between any two
    grown = sum(len(one.partitions) < len(other.partitions) for one, other in pairwise(series.topics))
    return {
        **scope.bounds,
        "topics": 1,
        "created_partitions": created,
        "topic_ids": max(4, len(numbering.ids) + SPARE_IDS),
        "old_creations": 1,
        "new_creations": 1,
        "expansions": max(3, grown),
        "new_expansions": max(3, grown),
        "failovers": ample,
        "restarts": ample,
        "repairs": 15,
        "controller_epochs": _rounded(series.captures[-1].controller_epoch - numbering.earlier_epochs),
        "leader_epochs": numbering.most,
        "notifications": 0,
        **({OLD_PROTOCOL_BROKERS.name: len(scope.brokers)} if series.has_old_protocol else {}),
    }


def _rounded(number: int) -> int:
    return next(n for n in (15, 31, 63, number) if n >= number)


def _waypoints(series: Captures, scope: Scope, numbering: Numbering) -> Iterator[Waypoint]:
    known, before = len(series.returning), CapturePoint(None, 0)
    for place, (name, capture, life) in enumerate(zip(series.names, series.captures, scope.lives, strict=True)):
        shown = shown_ids(capture, series.topic)
        known = max([known, *(numbering.identity(identity) + 1 for identity in shown)])
        seen = CapturePoint(capture, life, open=_open(series, place))
        removals = before.removals or file_is_gone(before, seen, numbering) or (scope.removals and place > 0)
        after = evolve(seen, removals=removals)
        if scope.migrates:
            yield _migrating_waypoint(series, place, (before, after), numbering, known_ids=known)
        else:
            yield Waypoint(
                name=name,
                facts=facts_of(capture, numbering, life, after.open, strays=bool(scope.left)),
                limits=limits(before, after, numbering, known_ids=known),
                without=not_between(before, after, numbering),
                rare=unlikely_between(before, after, numbering),
                needs=needs(before, after, numbering),
                doubt=_unsettled(name, capture, series.topic)
                or _ahead(series, place)
                or _unseen_life(series, place)
                or _far(series, place),
            )
        before = after


def _migrating_waypoint(
    series: Captures, place: int, points: tuple[CapturePoint, CapturePoint], numbering: Numbering, *, known_ids: int
) -> Waypoint:
    name, capture, (before, after) = series.names[place], series.captures[place], points
    begun = any(map(migrating.shows_migration, series.captures[: place + 1]))
    back = any(one.is_kraft for one in series.captures[:place]) and not capture.is_kraft
    segment = migrating.MigratingSegment(before, after, begun=begun)
    return Waypoint(
        name=name,
        facts=migrating.migrating_facts(capture, numbering, after.life, after.open, is_rolled_back=back),
        limits=migrating.migrating_limits(before, after, numbering, known_ids=known_ids),
        without=migrating.never_between(segment, numbering),
        rare=unlikely_between(before, after, numbering),
        needs=migrating.migrating_needs(segment, numbering),
        doubt=_unsettled(name, capture, series.topic) or migrating.doubt_of(name, capture, series.topic),
    )


def _open(series: Captures, place: int) -> Unsettled:
    """Return what a capture lacks of the topic, and the next one does not, if there is one.

    Of the last one, ISRs and leaders are not left open: nothing shows that the controller was about to write them.
    """
    found, *later = (unsettled_of(capture, series.topic) for capture in series.captures[place : place + 2])
    now, pairs = series.captures[place].topics.get(series.topic), list(pairwise(series.captures[: place + 1]))
    gone = [other.topics[series.topic] for one, other in pairs if loses_states(one, other, series.topic)]
    if now is not None and any(not is_another(one, now) for one in gone):
        found = evolve(found, is_new=False, states_removed=True)  # what is gone does not come a moment later
    for before, _ in pairs[-1:]:
        was = before.topics.get(series.topic)
        if was is not None and now is not None and not is_another(was, now):
            kept = {(b, p) for b, p in found.without_log if before.directory(b, series.topic, p) is not None}
            found = evolve(found, without_log=found.without_log - kept)
    earlier = {each for one in series.captures[:place] for each in epochs_in_memory(one, series.topic)}
    found = evolve(found, ahead=found.ahead - earlier)  # what a broker had before is not newer than ZooKeeper
    return found.before(later[0]) if later else evolve(found, outdated=frozenset())


def _unseen_life(series: Captures, place: int) -> str:
    """Return that logs of a topic that is gone are gone, too, before a capture; nothing if they are not."""
    before, after = series.captures[max(place - 1, 0)], series.captures[place]
    if not loses_logs(before, after, series.topic):
        return ""
    names, label = (printable(name, 200) for name in series.names[place - 1 : place + 1]), topic_label(series.topic)
    return (
        f"{' and '.join(names)} lack topic {label}, and a log of it vanished: it was there unseen, or somebody did that"
    )


USUAL_EVENTS = 8
"""How many events a search assumes between two captures."""


def _far(series: Captures, place: int) -> str:
    """Return that more events than are tried came before a capture, as epochs show; nothing if they do not.

    Each election of a controller needs an event. Of two changes of a leader, a broker that stops and starts makes one,
    and an election of the preferred leader the other; a reassignment may make more.
    """
    before, after = series.captures[max(place - 1, 0)], series.captures[place]
    was, now = (one.topics.get(series.topic) for one in (before, after))
    rises = [0]
    if was is not None and now is not None and not is_another(was, now):
        rises += [
            now.states[p].leader_epoch - was.states[p].leader_epoch for p in was.states.keys() & now.states.keys()
        ]
    least = max(after.controller_epoch - before.controller_epoch, max(rises) * 3 // 2)
    if least <= USUAL_EVENTS:
        return ""
    shown, earlier = printable(series.names[place], 200), printable(series.names[place - 1], 200)
    return f"{shown} shows by its epochs that about {least} events came after {earlier}: take snapshots in between"


def _unsettled(name: str, capture: Capture, topic_name: str) -> str:
    """Return why a capture may have been taken while the cluster was at work; nothing if it shows no sign of that."""
    open_, shown, label = unsettled_of(capture, topic_name), printable(name, 200), topic_label(topic_name)
    if open_.is_new:
        return f"{shown} has {label} without a state of any partition"
    if open_.leaderless:
        return f"{shown} has no leader of {label}-{min(open_.leaderless)}, and live brokers in its ISR"
    if open_.without_log:
        partition, broker = min((partition, broker) for broker, partition in open_.without_log)
        return f"{shown} has broker {broker} in the ISR of {label}-{partition}, and no log of it"
    states = capture.topics[topic_name].states if open_.outdated else {}
    for partition in sorted(open_.outdated):
        if states[partition].leader not in capture.registered:
            what = f"broker {states[partition].leader} as the leader of {label}-{partition}, which is not registered"
            return f"{shown} has {what}, and live brokers in its ISR"
    return ""


def _ahead(series: Captures, place: int) -> str:
    """Return which broker had a leader epoch that ZooKeeper, read a moment before, does not have; or nothing."""
    for broker, partition, epoch in sorted(_open(series, place).ahead):
        in_zookeeper = series.captures[place].topics[series.topic].states[partition].leader_epoch
        return (
            f"{printable(series.names[place], 200)} has broker {broker} at leader epoch {epoch} of "
            f"{topic_label(series.topic)}-{partition}, and ZooKeeper at {in_zookeeper}"
        )
    return ""


# Facts.


def _facts(series: Captures, scope: Scope, numbering: Numbering, start: InferredStart | None) -> Iterator[str]:
    count, partitions = len(series.captures), max(len(topic.partitions) for topic in series.topics)
    unused = sorted(set(series.first.brokers) - set(scope.brokers))
    yield (
        f"{count} snapshot{'s' * (count != 1)} of Kafka {series.first.version}, about topic {numbering.name} with "
        f"{partitions} partitions on the brokers {listed([str(b) for b in numbering.brokers])}."
    )
    if series.first.version_note:
        yield series.first.version_note
    for place, (name, capture) in enumerate(zip(series.names, series.captures, strict=True)):
        doubt = _unsettled(name, capture, series.topic) or _ahead(series, place)
        if doubt and not _open(series, place).is_settled:
            yield f"{doubt}: it was taken while the cluster was at work, and what came a moment later is left open."
    if series.life:
        yield f"The topic was created again: what it was before {series.names[0]} is explained by itself."
    if scope.left:
        yield (
            f"Logs of an earlier topic {numbering.name} are there when the behaviour begins; what brokers and the "
            "controller have of it in memory is left open."
        )
    for sign in noticed(series.names, series.captures, scope.lives, series.topic):
        yield f"Noticed: {sign.text}"
    others = {name for capture in series.captures for name in capture.topics} - {series.topic}
    if others:
        yield "Each topic is explained by itself: what is assumed for one need not be what is assumed for another."
    if unused:
        yield f"Left out: {brokers_in_words(unused)}, without a replica of {numbering.name}."
    if series.has_old_protocol:
        yield (
            "No topic has an id, although a controller was elected between the snapshots: the brokers are taken to "
            "have an inter.broker.protocol.version below 2.8."
        )
    if numbering.earlier_epochs:
        yield f"Controller epochs are counted from {numbering.earlier_epochs + 1} on."
    if start is None:
        yield f"A behaviour begins before topic {numbering.name} is created."
    else:
        yield "A behaviour begins as the first snapshot shows; what the snapshot does not show is left open."


REAL_CLUSTER = RUNNING_CLUSTER.varied(
    name="real-cluster",
    story=(
        "Any actions of clients, operators and faults, with every step that the model distinguishes: made "
        "to explain snapshots of real clusters."
    ),
    # The order decides between behaviours that assume as much: with `leave` last, a broker that stops handles the
    # requests on their way to it first; see `SLOW`.
    actions=(
        *actions.ADMIN_CLIENTS,
        *(one for one in actions.FAULTS if one is not operator.leave),
        *actions.REPAIRS,
        *actions.CONTROLLER,
        *actions.BROKER,
        kafka_zk_client.deliver_notification,
        operator.leave,
        operator.write_topic_id,
        repair.move_directory_away,
        repair.replace_disk,
        *actions.TWO_STEP_ADMINS,
        admin_clients.admin_adds_partitions,
        admin_clients.admin_creates_topic,
        *actions.DELETION,
        *actions.BY_HAND,
        *actions.REASSIGNMENT,
        reassign_to_list,
        *actions.SESSIONS,
        sessions.expire_session_amid_request,
        follower_lags,
    ),
    bounds={"old_creations": 1, "expansions": 1, "failovers": 1, "restarts": 1},
    flags=FLAGS,
    read_series=read_series,
)
MIGRATING_CLUSTER = REAL_CLUSTER.varied(
    name="migrating-cluster",
    story=(
        "The same with a migration to KRaft, which may be rolled back: made to explain snapshots of clusters that "
        "migrate."
    ),
    actions=(*REAL_CLUSTER.actions, *migrating.STEPS),
    variants=migrating_versions.VARIANTS,
    unlisted_variants=migrating_versions.UNLISTED_VARIANTS,
    read_series=None,
)
