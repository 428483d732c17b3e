"""Each partition of a capture as states of the model, so that properties are evaluated on it without a search.

Words: a *situation* is all that matters of one partition of a capture, with brokers and topic ids numbered in the order
in which they occur; leader epochs are compared with ZooKeeper's only. A cluster with 36,000 partitions has few
different situations, and properties are evaluated once for each. What a process holds in memory is inferred (see
`initial_state`); where a capture leaves it open, a situation has several states.

A capture is taken to be of a cluster at rest: requests in flight cannot be captured.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import combinations

from attrs import evolve, field, frozen

from kwalk.model.kafka.broker.log import Commit, Record
from kwalk.model.kafka.domains import PARTITIONS
from kwalk.model.kafka.requests import UpdateMetadataPartitionState
from kwalk.model.kafka.snapshots.capture import (
    Broker,
    Capture,
    CapturedMetadata,
    CapturedPartitionState,
    CapturedReplica,
    Directory,
    MetadataCache,
    Topic,
    kept_by_capture,
)
from kwalk.model.kafka.snapshots.diagnosis import (
    alters_isr,
    disks_of_others,
    each,
    garbled_ids,
    has_epoch,
    has_old_protocol,
    has_topic_ids,
    holds_another_id,
    hosts_of_lost,
    is_behind_logs,
    is_of_an_earlier_topic,
    later_than_deletion,
    listed,
    lost_state,
    marks_refused_logs_offline,
    may_have_lost_ids,
    may_hold_another_id,
    refuses_all,
    served_without_state,
    symptoms,
)
from kwalk.model.kafka.snapshots.diagnosis import brokers as brokers_in_words
from kwalk.model.kafka.snapshots.initial_state import (
    Focus,
    InferredReplica,
    arrange_without_topics,
    infer,
)
from kwalk.model.kafka.snapshots.lineage import (
    OWN,
    LaterState,
    LineageCase,
    Lineages,
    Relation,
    compare,
    id_on_failed_disks,
    in_sync,
    is_displaced,
    last_copies_aside,
    lineages_of,
    lost_records,
    members_lacking_records,
    newest_logs,
    records_elsewhere,
    unordered_members,
)
from kwalk.model.kafka.snapshots.misnamed import needing_their_names
from kwalk.model.kafka.snapshots.scope import Scope
from kwalk.model.kafka.snapshots.series import (
    REAL_CLUSTER,
    InferredStart,
    arrange_as_shown,
    at_epoch,
    histories,
)
from kwalk.model.kafka.state import Cluster, SessionState
from kwalk.model.kafka.versions.grain import METADATA_CACHES
from kwalk.model.kafka.zookeeper.znodes import PartitionStateZnode
from kwalk.model.language import Model, Property

MOST_BROKERS = 7
"""The most brokers of a situation: a partition's replicas, others that have a directory of it, and the controller."""
TOPIC = "t"
EPOCH = 1
"""The leader epoch of a situation's partition in ZooKeeper, if it is not the first one; 0 stands for any other one."""
IDS = 6
"""How many topic ids a situation has room for."""
NOT_HOSTED = -2, False
"""What a process has in memory of a partition of which no controller has told it."""


@frozen
class BrokerSituation:
    """What matters of one broker for one partition.

    Attributes:
        alive: whether its process runs.
        registered: whether /brokers/ids has it.
        controller: whether /controller names it.
        replica: whether the partition is assigned to it.
        in_isr: whether the state znode's ISR has it.
        leads: whether the state znode names it as leader.
        directory: whether it has a log directory of the partition.
        file: the number of the topic id in its partition.metadata.
        has_epoch: whether its leader-epoch checkpoint has ZooKeeper's leader epoch; None if nothing shows it.
        cached: the leader's number and whether the epoch is ZooKeeper's, as its metadata cache has them; None without
            a cache.
        cached_id: the number of the topic id in its metadata cache.
        earlier: whether its log is one of an earlier topic of the name, which refuses all requests.
        offline: whether its process runs, and the disk of the log has failed: for the partition it counts as down.
        may_hold_another_id: whether its partition.metadata was removed while it ran, and it may hold another topic id.
        holds_another_id: whether it holds another topic id in memory than the topic has, though its file does not.
        hosted: how far its leader epoch is above ZooKeeper's in memory, -1, 0 or 1, and whether it leads; None if that
            is not shown. It may be `NOT_HOSTED`.
    """

    alive: bool
    registered: bool
    controller: bool
    replica: bool
    in_isr: bool
    leads: bool
    directory: bool
    file: int | None
    has_epoch: bool | None
    cached: tuple[int | None, bool] | None
    cached_id: int | None
    earlier: bool = False
    offline: bool = False
    may_hold_another_id: bool = False
    holds_another_id: bool = False
    hosted: tuple[int, bool] | None = None


@frozen
class Situation:
    """What matters of one partition; brokers are in the order of its replicas, others follow.

    Attributes:
        release: the capture's release of Kafka.
        topic_id: the number of the topic id in ZooKeeper.
        listed: whether the topic's znode lists the partition.
        has_state: whether the partition has a state znode.
        deleting: whether /admin/delete_topics has the topic.
        topic_exists: whether /brokers/topics has the topic.
        at_first_epoch: whether ZooKeeper's leader epoch is 0, so that nothing has changed since the partition began;
            also without a state, as the epoch that the partition would get.
        is_served: whether only the state znode is gone: brokers serve the partition, and the controller knows it, as
            one that is elected creates the state.
        is_isr_by_hand: whether the leader has another ISR in memory than the state, which a hand wrote.
        has_old_protocol: whether no controller gives a topic an id, as inter.broker.protocol.version is below 2.8.
        brokers: what matters of each broker.
    """

    release: str
    topic_id: int | None
    listed: bool
    has_state: bool
    deleting: bool
    topic_exists: bool
    at_first_epoch: bool
    brokers: tuple[BrokerSituation, ...]
    is_served: bool = False
    is_isr_by_hand: bool = False
    has_old_protocol: bool = False

    @property
    def is_ignored(self) -> bool:
        """Whether the leader that the state names has its leader epoch, or a later one, and does not lead at it."""
        hosted = [one.hosted for one in self.brokers if one.leads and one.hosted is not None]
        return any(found[0] >= 0 and found != (0, True) for found in hosted)

    @property
    def is_lost(self) -> bool:
        """Whether the topic's znode has lost the partition: its state znode is there."""
        return self.topic_exists and self.has_state and not self.listed


@frozen
class Observed:
    """A situation in a capture, with the real brokers and topic ids that its numbers stand for.

    `alike` are brokers that are left out, with the number of one that is like them.
    """

    situation: Situation
    brokers: tuple[int, ...]
    ids: tuple[str, ...]
    alike: Mapping[int, int] = field(factory=dict, hash=False)

    @property
    def isr(self) -> list[int]:
        """The brokers in the ISR."""
        return [b for b, one in zip(self.brokers, self.situation.brokers, strict=True) if one.in_isr]

    def named(self, numbers: Iterable[int]) -> list[int]:
        """Return the ids of brokers of the situation, and of those that are left out and alike."""
        known = list(numbers)
        return [
            *(self.brokers[number] for number in known),
            *(b for b, number in self.alike.items() if number in known),
        ]


def without_alike(observed: Observed, most: int = 2, but: Collection[int] = ()) -> Observed:
    """Return what is observed with so many at most of the live followers in the ISR that have a log and are alike.

    Args:
        observed: What is observed.
        most: How many are kept of those that are alike.
        but: Brokers that are kept, and like no others.
    """
    situation = observed.situation
    named = {one.cached[0] for one in situation.brokers if one.cached is not None}
    seen, left, kept = dict[BrokerSituation, int](), list[int](), list[int]()
    for number, one in enumerate(situation.brokers):
        follows = is_in_order(one) and not (one.leads or one.controller)
        is_apart = not follows or number in named or observed.brokers[number] in but
        seen[one] = seen.get(one, 0) + (not is_apart)
        (kept if is_apart or seen[one] <= most else left).append(number)
    places = {number: place for place, number in enumerate(kept)}
    known = tuple(
        evolve(one, cached=one.cached and (None if one.cached[0] is None else places[one.cached[0]], one.cached[1]))
        for one in (situation.brokers[number] for number in kept)
    )
    twins = {situation.brokers[n]: places[n] for n in kept if n not in named and observed.brokers[n] not in but}
    like = {observed.brokers[number]: twins[situation.brokers[number]] for number in left}
    return Observed(evolve(situation, brokers=known), tuple(observed.brokers[n] for n in kept), observed.ids, like)


def is_in_order(one: BrokerSituation) -> bool:
    """Whether a live replica is in the ISR with a log."""
    return one.replica and one.in_isr and one.alive and one.registered and one.directory


def without_logs(observed: Observed, brokers: Collection[int]) -> Observed:
    """Return what is observed if some brokers, which are down, have no log of the partition."""
    numbers = {number for number, real in enumerate(observed.brokers) if real in brokers}
    known = tuple(
        evolve(one, directory=False, file=None, has_epoch=None) if number in numbers else one
        for number, one in enumerate(observed.situation.brokers)
    )
    return evolve(observed, situation=evolve(observed.situation, brokers=known))


@frozen
class Broken:
    """A property that a situation violates, with the broker's number if it is about one.

    `certain` is False if it depends on what the capture does not show.
    """

    property: str
    broker: int | None = None
    certain: bool = True


# From a capture to situations.


class Situations:
    """Finds the situations of a capture's partitions.

    Args:
        capture: the capture.
    """

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self.release = capture.version
        self.deleting = frozenset(capture.deleting)
        self.registered = frozenset(capture.registered)
        self.hosts = _hosts(capture)
        self.has_old_protocol = has_old_protocol(capture)

    def of(self, topic: Topic, partition: int) -> Observed | None:
        """Return the situation of a partition; None if more brokers take part than the model has room for."""
        found = self.whole(topic, partition)
        return found if len(found.brokers) <= MOST_BROKERS else None

    def fitting(self, one: Topic, partition: int) -> Observed | None:
        """Return the situation of a partition, without brokers that are alike if there are too many."""
        found = self.of(one, partition) or without_alike(self.whole(one, partition))
        return found if len(found.brokers) <= MOST_BROKERS else None

    def whole(self, topic: Topic, partition: int) -> Observed:
        """Return the situation of a partition, however many brokers take part."""
        capture, state = self.capture, topic.states.get(partition)
        replicas = topic.partitions.get(partition, ())
        offline = offline_replicas(capture, topic, partition)
        controller = self._controller_but(offline)
        members = _members(replicas, state, self.hosts.get((topic.name, partition), ()), controller)
        caches = [None if b in offline else capture.brokers[b].cache for b in members]
        cached_ids = [cache.topic_ids.get(topic.name) if cache else None for cache in caches]
        on_failed = Directory(id_on_failed_disks(capture, topic, partition)) if offline else None
        directories = [on_failed if b in offline else capture.directory(b, topic.name, partition) for b in members]
        ids = _distinct([topic.topic_id, *cached_ids, *(d.topic_id if d else None for d in directories)])
        isr = state.isr if state else ()
        reads_ids = has_topic_ids(self.release)
        found = tuple(
            BrokerSituation(
                alive=capture.brokers[b].alive and b not in offline,
                registered=b in self.registered and b not in offline,
                controller=b == controller,
                replica=b in replicas,
                in_isr=b in isr,
                leads=state is not None and state.leader == b,
                directory=directory is not None,
                file=_number(directory.topic_id if directory and reads_ids else None, ids),
                has_epoch=has_epoch(capture, topic, partition, b) if directory else None,
                cached=_cached(cache, topic.name, partition, state, members),
                cached_id=_number(cached_id, ids),
                earlier=state is not None and refuses_all(capture, topic, directory),
                may_hold_another_id=b not in offline and may_hold_another_id(capture, topic, partition, b),
                holds_another_id=b not in offline and holds_another_id(capture, topic, partition, b),
                offline=b in offline,
                hosted=None if b in offline else _hosted(capture.brokers[b], topic, partition),
            )
            for b, cache, cached_id, directory in zip(members, caches, cached_ids, directories, strict=True)
        )
        situation = Situation(
            self.release,
            _number(topic.topic_id, ids),
            partition in topic.partitions,
            state is not None,
            topic.name in self.deleting,
            bool(topic.partitions) or topic.name in capture.topics,
            state is None or state.leader_epoch == 0,
            found,
            is_served=lost_state(capture, topic, partition) is not None,
            is_isr_by_hand=bool(isr_before_hand(capture, topic, partition)),
            has_old_protocol=self.has_old_protocol,
        )
        return Observed(situation, members, ids)

    def _controller_but(self, offline: Collection[int]) -> int | None:
        """Return the controller; another broker stands in for one that counts as down."""
        capture = self.capture
        if capture.controller is None or capture.controller not in offline:
            return capture.controller
        return next((b for b in capture.live if b in self.registered and b not in offline), None)

    def lineages(self, topic: Topic, partition: int, brokers: Sequence[int]) -> Lineages:
        """Return the lineages of a partition's logs on the brokers of its situation."""
        earlier: dict[int, str] = {}
        for b in brokers:
            log = self.capture.directory(b, topic.name, partition)
            if log is not None and self.capture.brokers[b].seen and is_of_an_earlier_topic(self.capture, topic, log):
                earlier[b] = (
                    f"it has the topic id {log.topic_id}, and the topic never had another one than its present "
                    f"{topic.topic_id}: its znode has the data version {topic.version}"
                )
        replicas = {*topic.partitions.get(partition, ()), *in_sync(self.capture, topic, partition)}
        not_seen = {b for b in brokers if b in replicas and not self.capture.shows(b, topic.name, partition)}
        failed = offline_replicas(self.capture, topic, partition)
        return lineages_of(
            self.capture, topic, partition, brokers, earlier=earlier, unseen=not_seen - failed, failed=failed
        )

    def of_broker(self, broker: int) -> Observed:
        """Return the situation of a broker and the controller, without any topic."""
        capture = self.capture
        members = tuple(dict.fromkeys([broker, *([] if capture.controller is None else [capture.controller])]))
        found = tuple(
            BrokerSituation(
                alive=capture.brokers[b].alive,
                registered=b in self.registered,
                controller=b == capture.controller,
                replica=False,
                in_isr=False,
                leads=False,
                directory=False,
                file=None,
                has_epoch=None,
                cached=None,
                cached_id=None,
            )
            for b in members
        )
        return Observed(Situation(self.release, None, False, False, False, False, False, found), members, ())

    def orphaned(self) -> dict[str, dict[int, tuple[int, ...]]]:
        """Return the brokers that have directories of partitions that no topic in ZooKeeper has, by topic."""
        found: dict[str, dict[int, tuple[int, ...]]] = {}
        for (name, partition), hosts in sorted(self.hosts.items()):
            topic = self.capture.topics.get(name)
            if topic is None or (partition not in topic.partitions and partition not in topic.states):
                found.setdefault(name, {})[partition] = tuple(hosts)
        return found


def deletion_waits_for(capture: Capture, deleted: Topic, hosts: Iterable[int] = ()) -> tuple[list[int], list[int]]:
    """Return for which brokers that are down, and for whose failed disks, the deletion of a topic waits.

    Kafka: TopicDeletionManager.isTopicIneligibleForDeletion; KafkaController.fetchTopicDeletionsInProgress.

    Args:
        capture: the capture.
        deleted: the topic.
        hosts: brokers with logs of it that are no replicas.
    """
    needed = {*hosts, *(b for replicas in deleted.partitions.values() for b in replicas)}
    failed = {b for n in deleted.partitions for b in offline_replicas(capture, deleted, n)}
    return sorted(b for b in needed if not capture.brokers[b].alive), sorted(failed)


@kept_by_capture
def offline_replicas(capture: Capture, topic: Topic, partition: int) -> frozenset[int]:
    """Return the replicas on failed disks: their brokers run, and say so, or metadata does.

    Files in a directory that is offline may still be there to be read: one error, as of a full disk, takes it offline.

    Kafka: MetadataCache.getPartitionMetadata: offline replicas are those on brokers that are down, or on offline log
    directories (KIP-112).
    """
    named = {
        b
        for broker in capture.brokers.values()
        if broker.alive and broker.cache
        for known in [broker.cache.partitions.get(topic.name, {}).get(partition)]
        if known
        for b in known.offline
    }
    registered = {*capture.registered, *(capture.image.registered if capture.serves_in_kraft and capture.image else ())}
    found: set[int] = set()
    for b in set(capture.live) & registered & set(topic.partitions.get(partition, ())):
        broker, directory = capture.brokers[b], capture.directory(b, topic.name, partition)
        failed = {root.path for root in broker.roots if root.is_offline}
        if not broker.seen:
            is_offline = b in named and (bool(failed) or not marks_refused_logs_offline(capture.version))
        elif directory is None:
            is_offline = bool(failed) or b in named
        elif directory.root is None:
            is_offline = b in named and f"{topic.name}-{partition}" not in broker.assumed
        else:
            is_offline = directory.root in failed
        if is_offline:
            found.add(b)
    return frozenset(found)


def members_without_log(capture: Capture, topic: Topic, partition: int) -> list[int]:
    """Return the ISR members that run, and whose disks were read and have no directory of the partition.

    A process keeps files open that are removed, and serves them: seen on 2.8.2 and 3.9.0. A broker creates the
    directory as it takes up its first LeaderAndIsr request (ReplicaManager.makeLeaders, makeFollowers).
    """
    if topic.name in capture.deleting or partition not in topic.states:
        return []
    answered = capture.cached(topic.name, partition)
    if answered is not None and answered.leader_epoch > topic.states[partition].leader_epoch:
        return []  # the state is an earlier one: its ISR need not be that of the brokers
    members = set(topic.states[partition].isr) & set(topic.partitions.get(partition, ())) & set(capture.live)
    found = sorted(members - offline_replicas(capture, topic, partition))
    return [b for b in found if capture.lacks(b, topic.name, partition)]


def leader_before_hand(capture: Capture, topic: Topic, partition: int) -> int | None:
    """Return the live leader that all brokers answer, where ZooKeeper's state was written by hand.

    The state names another leader at the same leader epoch, which a controller raises with each leader. Brokers ignore
    a LeaderAndIsr request of the epoch that they have, so that after a failover the leader in ZooKeeper does not lead:
    seen on 3.9.0. Or it names none: a controller takes no leader away that lives, and would have informed brokers. They
    serve the partition meanwhile: seen on 3.4.1. So they do if it names one that is down, and out of the ISR that they
    answer: a controller elects none such while the leader lives. Where the leader that they answer is down, or on a
    failed disk, the controller elects another one, and raises the epoch.

    Kafka: ReplicaManager.becomeLeaderOrFollower.
    """
    state, known = topic.states.get(partition), capture.all_cached(topic.name, partition)
    if state is None or not known:
        return None
    answered = {(one.leader, one.leader_epoch) for one in known}
    leader, epoch = answered.pop()
    leads = leader in capture.live and leader not in offline_replicas(capture, topic, partition)
    leads = leads and leader is not None and capture.brokers[leader].leads(topic.name, partition)
    is_other = leader != state.leader and epoch == state.leader_epoch
    if state.leader not in capture.live:
        is_other |= epoch <= state.leader_epoch and all(state.leader not in one.isr for one in known)
    return leader if leads and is_other and not answered else None


def isr_before_hand(capture: Capture, topic: Topic, partition: int) -> tuple[int, ...]:
    """Return the ISR that all brokers answer, where a hand wrote another one into ZooKeeper; empty if it is the same.

    Since 2.7 the controller writes the ISR, and informs brokers at once. All members are live replicas: the controller
    takes one that is down out. The leader changes the ISR at the version of the znode that it knows, which is refused:
    seen on 3.9.0.

    Kafka: Partition.submitAlterPartition; ZkPartitionStateMachine.
    """
    state, known = topic.states.get(partition), capture.all_cached(topic.name, partition)
    if state is None or not known or not alters_isr(capture.version) or topic.name in capture.deleting:
        return ()
    answered = {(one.leader, one.leader_epoch, frozenset(one.isr)) for one in known}
    leader, epoch, isr = answered.pop()
    members = {*isr, *state.isr}
    is_live = members <= {*capture.live} & {*topic.partitions.get(partition, ())}
    is_same = (leader, epoch) == (state.leader, state.leader_epoch) and leader in isr and leader in state.isr
    is_other = is_live and is_same and isr != {*state.isr} and partition not in topic.moving
    return tuple(sorted(isr)) if is_other and not answered else ()


def replicas_without_log(capture: Capture, topic: Topic, partition: int) -> list[int]:
    """Return the live replicas outside the ISR that have no log, or copy nothing into an empty one.

    A controller reads the replicas of a partition that it knows when it is elected; then brokers create logs, and the
    leader refuses their fetches while its leader epoch is the same: seen on 2.8.2 and 3.9.0. A log without records that
    ends after 0 was copied, and its records are deleted, or in remote storage. A replica that is added gets its log as
    the reassignment begins.

    Kafka: KafkaController.processPartitionModifications; Partition.makeLeader, fetchRecords.
    """
    state, replicas = topic.states.get(partition), topic.partitions.get(partition, ())
    if state is None or not {state.leader, *state.isr} <= {*replicas}:
        return []
    leading = capture.directory(state.leader, topic.name, partition) if state.leader is not None else None
    is_own = leading is not None and leading.topic_id in (None, topic.topic_id) and leading.is_empty is False
    is_own &= partition not in topic.moving  # a copy may have just begun
    live = {*capture.live} & {*capture.registered} - {*state.isr} - offline_replicas(capture, topic, partition)
    found = {b: capture.directory(b, topic.name, partition) for b in replicas if b in live}
    shown = {b: log for b, log in found.items() if capture.shows(b, topic.name, partition)}
    return [b for b, log in shown.items() if log is None or (log.is_empty is True and not log.end and is_own)]


@frozen
class Reassignment:
    """How far the reassignment of a partition is.

    Attributes:
        lacking: the replicas that the partition is to have, and that are not in its ISR.
        stuck: those of them that are down, or on a failed disk.
        added: the replicas that a cancellation removes, with their logs.
        left: the replicas that a cancellation leaves.
        may_be_cancelled: whether one of those that are left is live and in the ISR.
        is_idle: whether nothing is lacking, and one of the replicas that the partition is to have is live.
        is_led: whether an ISR member is live: nothing is copied without a leader.
    """

    lacking: tuple[int, ...]
    stuck: tuple[int, ...]
    added: tuple[int, ...]
    left: tuple[int, ...]
    may_be_cancelled: bool
    is_idle: bool
    is_led: bool


def reassignment_of(capture: Capture, topic: Topic, partition: int) -> Reassignment:
    """Return how far a reassignment is: it ends when all replicas of its target are in the ISR, whoever is removed.

    Kafka: KafkaController.isReassignmentComplete; a cancellation deletes the logs of the added replicas at once, in the
    ISR or not (updateCurrentReassignment, KAFKA-14424).
    """
    move, replicas, state = topic.moving[partition], topic.partitions.get(partition, ()), topic.states.get(partition)
    isr = state.isr if state else ()
    works = {*capture.live} & {*capture.registered} - offline_replicas(capture, topic, partition)
    lacking, left = tuple(b for b in move.target(replicas) if b not in isr), move.origin(replicas)
    return Reassignment(
        lacking,
        tuple(b for b in lacking if b not in works),
        tuple(b for b in replicas if b not in left),
        left,
        may_be_cancelled=any(b in works and b in isr for b in left),
        is_idle=not lacking and any(b in works for b in move.target(replicas)),
        is_led=any(b in works for b in isr),
    )


def _restored(capture: Capture, topic: Topic, partition: int, *, with_records: bool) -> str:
    """Return what a ZooKeeper that is older than the logs lacks of a partition; empty if nothing shows it.

    In a model with records brokers may serve a partition whose state is gone, if it is shown which log is newest.
    """
    if capture.later_controller is not None:
        return "/controller_epoch is below that of a state, and until it is set controllers elect no leaders"
    served = served_without_state(capture, topic, partition)
    is_planned = with_records and bool(newest_logs(capture, topic, partition))
    if served is not None and served.leader_epoch > 0 and topic.name in capture.topics and not is_planned:
        return "it has no state znode, and a controller would begin at leader epoch 0: create it first, above the logs"
    later = later_than_deletion(capture, topic)
    if later:
        return f"the topic is marked for deletion, and its logs may be later than the mark: {later}"
    if hosts_of_lost(capture, topic, partition):
        return "the topic's znode has lost it"
    elsewhere = records_elsewhere(capture, topic, partition)
    has = each(elsewhere, "no replica, has", "no replicas, have")
    return (
        f"{brokers_in_words(elsewhere)}, {has} records that the replicas lack: see to them first" if elsewhere else ""
    )


def _undecided(capture: Capture, topic: Topic, partition: int) -> str:
    """Return why nothing shows which records of a partition are committed; empty if it has a state, or equal logs."""
    found = (capture.directory(b, topic.name, partition) for b in topic.partitions.get(partition, ()))
    logs = [log for log in found if log is not None]
    compared = (compare(one, other) for one, other in combinations(logs, 2))
    if partition in topic.states or not any(c.relation in (Relation.DIVERGED, Relation.UNRELATED) for c in compared):
        return ""
    return "it has no state znode, and its logs have different records: see to that first"


def _in_memory_only(capture: Capture, topic: Topic, partition: int) -> str:
    """Return what processes have in memory and neither ZooKeeper nor disks have; empty if nothing shows such."""
    if topic.name not in capture.deleting and leader_before_hand(capture, topic, partition) is not None:
        return "its state names another leader than its brokers do, or none"
    without = members_without_log(capture, topic, partition)
    runs = each(without, "runs", "run")
    return f"{brokers_in_words(without)} {runs} in the ISR, without a log on disk" if without else ""


def _unequal(capture: Capture, topic: Topic, partition: int) -> str:
    """Return which ISR members may lead without records that others have; empty if none does, or one that is down."""
    state, lacking = topic.states.get(partition), members_lacking_records(capture, topic, partition)
    is_led = state is not None and any(capture.brokers[b].alive for b in state.isr)
    if lacking and is_led and not is_behind_logs(capture, topic, partition):
        has = each(lacking, "has a log that lacks", "have logs that lack")
        return f"{brokers_in_words(lacking)} in the ISR {has} records of others: see to that first"
    found = unordered_members(capture, topic, partition)
    which = brokers_in_words(found, "or")
    return f"nothing shows which ISR member has the last records, {which}: compare their logs" if found else ""


def _under_other_names(capture: Capture, topic: Topic, partition: int) -> str:
    """Return which directories of a partition have another one's log, of which it may be the last."""
    found = needing_their_names(capture, topic, partition)
    where = listed([f"broker {b} may have the log of {other} in its directory" for b, other in found.items()])
    if found:
        return f"{where}: give it its own name again first"
    isr = topic.states[partition].isr if partition in topic.states else ()
    if len(isr) != 1 or not is_displaced(capture, topic, partition, isr[0]):
        return _unread_beside(capture, topic, partition, isr)
    others = [f"{name} of broker {b.id}" for b in capture.hosts for name in b.directories if _is_under(b, name, topic)]
    has = each(others, "the directory {} has", "the directories {} have").format(listed(others))
    return f"{has} its topic id, and may be the log that broker {isr[0]} had: see to it first" if others else ""


def _unread_beside(capture: Capture, topic: Topic, partition: int, isr: Sequence[int]) -> str:
    """Return which live replicas were not read, where the log of the only ISR member has an id the topic never had."""
    unread = [b for b in topic.partitions.get(partition, ()) if not capture.shows(b, topic.name, partition)]
    unread = [b for b in unread if capture.brokers[b].alive]
    held = [capture.directory(b, topic.name, partition) for b in isr if capture.shows(b, topic.name, partition)]
    if not unread or len(isr) != 1 or not any(is_of_an_earlier_topic(capture, topic, log) for log in held):
        return ""
    which = f"the log directories of {brokers_in_words(unread)} were not read"
    return f"broker {isr[0]} has an earlier topic's log, and {which}: collect them (--logs of kwalk collect)"


def _is_under(broker: Broker, name: str, topic: Topic) -> bool:
    """Whether a broker has a log with a topic's id in a directory of another topic."""
    is_named = name.rpartition("-")[0] == topic.name or name in broker.assumed
    return not is_named and broker.directories[name].topic_id == topic.topic_id


def _on_disks_of_others(capture: Capture, topic: Topic, partition: int) -> str:
    """Return which disks of ISR members, none of which runs, are in other brokers: they may have the records."""
    isr = topic.states[partition].isr if partition in topic.states else ()
    if {*isr} & {*capture.live}:
        return ""
    bare = [b for b in isr if capture.directory(b, topic.name, partition) is None]
    found = {root.broker_id: b for b, root in disks_of_others(capture) if root.broker_id in bare}
    where = listed([f"broker {there} has a disk of broker {b}" for b, there in found.items()])
    return f"{where}, which may have its log: put it back first" if found else ""


def obstacle_of(capture: Capture, topic: Topic, partition: int, *, with_records: bool = False) -> str:
    """Return why no state of the model is a partition, in words; empty if one is.

    The controller of the model elects leaders, as one does not whose epoch is below that of a state.
    What its brokers have in memory is neither on disks nor shown, or another leader than that of a state which a hand
    wrote. In a model with records brokers may have a later state in memory than ZooKeeper, if it is shown which log is
    newest. No broker of the model refuses to start, as one with a log directory of another broker does; and no log of
    the model has records that were committed before an unclean election.
    """
    if topic.name in may_have_lost_ids(capture):
        return "its topic's znode has no id, and partition.metadata was not read: the next controller mints one"
    if why := _restored(capture, topic, partition, with_records=with_records) or _undecided(capture, topic, partition):
        return why
    lost = lost_records(capture, topic, partition)
    if lost:
        return f"{brokers_in_words(lost)} would truncate records that were committed: see to them first"
    replicas = topic.partitions.get(partition, ())
    members = {*replicas, *(topic.states[partition].isr if partition in topic.states else ())}
    if why := _in_memory_only(capture, topic, partition) or _unequal(capture, topic, partition):
        return why
    aside = sorted({b for b, _ in last_copies_aside(capture, topic, partition)})
    if aside and topic.name in capture.topics:
        return (
            f"a directory of {brokers_in_words(aside)} that ends in -future or -delete may be the last copy: see to it"
        )
    refused = members & {broker for broker, _ in disks_of_others(capture)}
    if refused:
        does = each(refused, "does", "do")
        return f"{brokers_in_words(refused)} {does} not start with the log directories that meta.properties says"
    if why := _on_disks_of_others(capture, topic, partition) or _under_other_names(capture, topic, partition):
        return why
    double = members & {broker.id for broker in capture.brokers.values() if broker.twice}
    if double:
        does = each(double, "does", "do")
        return f"{brokers_in_words(double)} {does} not start with a partition in two log directories"
    if why := _garbled(capture, members):
        return why
    is_shown = topic.name not in capture.deleting and bool(newest_logs(capture, topic, partition))
    if not is_behind_logs(capture, topic, partition) or (with_records and is_shown):
        return ""
    if is_shown:
        return "ZooKeeper's state is older than the logs, and brokers may know a later one: only plans look at that"
    failed = offline_replicas(capture, topic, partition)
    unread = [b for b in replicas if b not in failed and not capture.shows(b, topic.name, partition)]
    why = "nothing shows which log is the newest"
    if failed:
        why = f"the log on the failed disk of {brokers_in_words(failed)} may be the newest: look at it first"
    if unread:
        why = f"the log directories of {brokers_in_words(unread)} were not read: collect them (--logs of kwalk collect)"
    return f"ZooKeeper's state is older than the logs, and {why}"


def _garbled(capture: Capture, members: Iterable[int]) -> str:
    """Return which brokers have files that they do not read as they start; empty if none has."""
    known = {b: capture.brokers[b] for b in sorted(members)}
    garbled = [b for b, broker in known.items() if garbled_ids(capture, broker)]
    if garbled:
        return f"{brokers_in_words(garbled)} {each(garbled, 'has', 'have')} a garbled partition.metadata"
    unread = [b for b, broker in known.items() if garbled_at_start(broker)]
    does = each(unread, "does", "do")
    return f"{brokers_in_words(unread)} {does} not read a garbled checkpoint: see to it first" if unread else ""


def garbled_at_start(broker: Broker) -> list[tuple[str, str]]:
    """Return the log directories and checkpoints in them that a broker cannot read as it starts.

    One that runs writes them again, where the log directory is not offline. Kafka: CheckpointFile.read.
    """
    return [(r.path, name) for r in broker.roots for name in r.garbled if r.is_offline or not broker.alive]


def _hosts(capture: Capture) -> dict[tuple[str, int], list[int]]:
    """Return the brokers that have a directory, by topic and partition; directories of moves and deletions not."""
    found: dict[tuple[str, int], list[int]] = {}
    for broker in capture.brokers.values():
        for name in broker.directories:
            topic, _, number = name.rpartition("-")
            if topic and number.isascii() and number.isdigit():
                found.setdefault((topic, int(number)), []).append(broker.id)
    return found


def _members(
    replicas: Sequence[int], state: CapturedPartitionState | None, hosts: Iterable[int], controller: int | None
) -> tuple[int, ...]:
    others: list[int] = []
    if state is not None:
        others += [*([] if state.leader is None else [state.leader]), *state.isr]
    others += [*hosts, *([] if controller is None else [controller])]
    return tuple(dict.fromkeys([*replicas, *others]))


def _distinct(ids: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(identity for identity in ids if identity is not None))


def _hosted(broker: Broker, topic: Topic, partition: int) -> tuple[int, bool] | None:
    """Return what a process has in memory of a replica, see `BrokerSituation`; None if it is not shown.

    A leader that answers with no brokers has got nothing from a controller since its start.
    """
    state, place = topic.states.get(partition), (topic.name, partition)
    if not broker.alive:
        return None
    if place not in broker.replicas:
        leads = state is not None and state.leader == broker.id
        return NOT_HOSTED if leads and broker.cache is not None and not broker.cache.brokers else None
    found = broker.replicas[place]
    if found is None:
        return NOT_HOSTED
    above = found.leader_epoch - (0 if state is None else state.leader_epoch)
    return max(-1, min(1, above)), found.leads


def _number(identity: str | None, ids: tuple[str, ...]) -> int | None:
    return None if identity is None else ids.index(identity)


def _cached(
    cache: MetadataCache | None,
    topic: str,
    partition: int,
    state: CapturedPartitionState | None,
    members: tuple[int, ...],
) -> tuple[int | None, bool] | None:
    known = cache.partitions.get(topic, {}).get(partition) if cache else None
    if known is None:
        return None if cache is None or state is not None else (None, True)
    leader = members.index(known.leader) if known.leader in members else None
    return leader, known.leader_epoch == (0 if state is None else state.leader_epoch)


# From a situation to states.


@frozen
class Needs:
    """Which optional parts of the model a situation needs."""

    deletion: bool = True
    reassignment: bool = True
    sessions: bool = True
    foreign_isr: bool = False


EVERYTHING = Needs()


def needs_of(situation: Situation, *, deletion: bool = False) -> Needs:
    """Return what a situation needs, with `deletion` if topics are deleted.

    Replica states, which come with deletions, take every broker for a replica: after a failover the model removes a
    broker that is none from the ISR, and real controllers do not.
    """
    known = situation.brokers
    foreign_isr = situation.listed and any(one.in_isr and not one.replica for one in known)
    strays = any(one.directory and not one.replica for one in known) and not foreign_isr
    return Needs(
        deletion=deletion or situation.deleting or strays or not situation.topic_exists,
        reassignment=not all(one.replica for one in known),
        sessions=any(one.alive and not one.registered for one in known),
        foreign_isr=foreign_isr,
    )


def states_of(situation: Situation, needs: Needs = EVERYTHING) -> Iterator[Cluster]:
    """Yield the states of the model that a situation may be; the topic is topic 0 and the partition is partition 0.

    The model has as many brokers as the situation and what it `needs`; its bounds and flags are in force.
    """
    for arrange_as_possible in arrangements_of(situation, needs):
        cluster = Cluster()
        arrange_as_possible(cluster)
        yield cluster


def arrangements_of(
    situation: Situation, needs: Needs = EVERYTHING, *, ids: int = 0
) -> list[Callable[[Cluster], None]]:
    """Return functions that turn a fresh state into one that the situation may be, see `states_of`.

    Args:
        situation: what is known of a partition.
        needs: the optional parts of the model that the states have.
        ids: the least number of topic ids that are taken, for those that other partitions of the topic have.
    """
    capture = _capture_of(situation)
    topic = capture.topics.get(TOPIC)
    brokers = tuple(capture.brokers)
    if topic is None:
        return [partial(_arrange_without_the_partition, capture=capture, situation=situation)]
    focus = Focus(topic, symptoms(capture, topic), tuple(topic.partitions), brokers)
    inferred = infer(capture, focus)
    numbered = tuple(f"id {number}" for number in range(max(ids, _count_ids(situation))))
    earlier = frozenset(b for b, one in zip(brokers, situation.brokers, strict=True) if one.earlier)
    start = _AtRest(
        capture, focus, inferred.context_id, inferred.checked_at_first, numbered, earlier=earlier, situation=situation
    )
    scope = scope_of_situation(situation, brokers, needs)
    found: list[Callable[[Cluster], None]] = [
        partial(_arrange, believed=believed, situation=situation, scope=scope) for believed in _possible(start)
    ]
    is_handled = situation.has_state or situation.is_served
    if is_handled and not (situation.deleting and not _is_being_deleted(situation)):
        return found
    return [*found, *(partial(_arrange_without_event, arranged=one, situation=situation) for one in found)]


def _is_being_deleted(situation: Situation) -> bool:
    """Whether a replica's log is gone, which only a controller that handles the deletion has asked for."""
    return any(one.in_isr and one.alive and not one.directory and not one.offline for one in situation.brokers)


def _arrange_without_event(cluster: Cluster, arranged: Callable[[Cluster], None], situation: Situation) -> None:
    """Arrange a cluster whose controller has dropped a requested deletion, or a new partition: its queue is empty."""
    arranged(cluster)
    for number, broker in enumerate(cluster.brokers):
        if broker.controller.is_active:
            broker.controller.events.clear()
            if situation.deleting:
                cluster.zookeeper.watches[number].delete_topics = True


def arrange_lineage(cluster: Cluster, situation: Situation, case: LineageCase) -> None:
    """Give the logs of an arranged cluster their records, and the history what is not to be lost.

    ISR members have what was acknowledged. What a topic has that is to be deleted may be lost.

    Args:
        cluster: the cluster, arranged as the situation says.
        situation: what is known of the partition.
        case: what its logs are.
    """
    state, znode = cluster.zookeeper.state_of(0, 0), cluster.zookeeper.topics[0]
    znode.incarnation = OWN
    raised = case.leader_epoch - (state.leader_epoch or 0)
    if state.leader_epoch is not None:
        state.leader_epoch += raised
    for broker in cluster.brokers:
        leadership = broker.controller.topics[0].leadership[0]
        if leadership.leader_epoch is not None:
            leadership.leader_epoch += raised
            leadership.isr = state.isr
    for number, content in enumerate(case.logs):
        replica = cluster.replica_of(number, 0, 0)
        if replica.leader_epoch is not None:
            replica.leader_epoch += raised
        if content is not None:
            for offset, (epoch, lineage) in enumerate(zip(content.epochs, content.lineages, strict=True)):
                replica.log.records.push(Record(offset, epoch, lineage))
            replica.log.checkpoint = replica.log.end
            replica.log.high_watermark = replica.log.end if replica.log_open else 0
    if case.later is not None:
        _arrange_later(cluster, situation, case.later)
    for number in range(len(situation.brokers)):
        later, taken_over = case.later, cluster.replica_of(number, 0, 0).leader_epoch
        arrange_replication(cluster, number, later if later is not None and taken_over == later.leader_epoch else state)
    if not situation.deleting:
        _arrange_history(cluster, case)


def _arrange_later(cluster: Cluster, situation: Situation, later: LaterState) -> None:
    """Give processes a state that is later than ZooKeeper's, or that it has lost, where they have not taken up its."""
    for broker in cluster.brokers:
        leadership = broker.controller.topics[0].leadership[0]
        if later.is_known and leadership.is_known:
            leadership.leader, leadership.leader_epoch, leadership.isr = later.leader, later.leader_epoch, later.isr
    for number, one in enumerate(situation.brokers):
        has_nothing = number in later.restarted and not situation.has_state
        if one.alive and one.replica and one.directory and not has_nothing:
            replica = cluster.replica_of(number, 0, 0)
            replica.log_open, replica.is_leader = True, number == later.leader
            replica.leader_epoch = later.leader_epoch
            if number in later.restarted:
                replica.leader_epoch = cluster.zookeeper.state_of(0, 0).leader_epoch
            replica.log.high_watermark = replica.log.end


def arrange_replication(cluster: Cluster, number: int, state: PartitionStateZnode | LaterState) -> None:
    """Give a leader what it knows of its followers, and a follower its leader."""
    replica = cluster.replica_of(number, 0, 0)
    if replica.is_leader:
        replica.replication.isr = state.isr
        replica.replication.epoch_start = sum(r.leader_epoch < (replica.leader_epoch or 0) for r in replica.log.records)
        for other in state.isr - {number}:
            if cluster.replica_of(other, 0, 0).leader_epoch == replica.leader_epoch:
                replica.replication.remote_ends[other] = cluster.replica_of(other, 0, 0).log.end
    elif replica.log_open and replica.leader_epoch == state.leader_epoch:
        replica.replication.leader = state.leader


def _arrange_history(cluster: Cluster, case: LineageCase) -> None:
    seen: set[Record] = set()
    for number in range(len(case.logs)):
        for record in cluster.replica_of(number, 0, 0).log.records:
            if record.incarnation == OWN and number in case.committed and record not in seen:
                cluster.commits[0][0].push(Commit(record, record.leader_epoch))
            if (record.incarnation != OWN or number in case.committed) and record not in seen:
                cluster.originals[0][0].push(record)
                seen.add(record)


def _count_ids(situation: Situation) -> int:
    numbers = [situation.topic_id, *(n for one in situation.brokers for n in (one.file, one.cached_id))]
    return 1 + max((number for number in numbers if number is not None), default=-1)


def _arrange(cluster: Cluster, believed: InferredStart, situation: Situation, scope: Scope) -> None:
    arrange_as_shown(cluster, believed, scope)
    _arrange_sessions(cluster, situation)
    _arrange_caches(cluster, situation)
    cluster.deletions = int(situation.deleting)


@frozen
class _AtRest(InferredStart):
    """What is inferred of a cluster at rest: a leader that never took up the present leader epoch does not lead.

    Where no checkpoint shows that it did, and a live replica is out of the ISR, it `leads` or not. Logs of `earlier`
    topics of the name take part in nothing. A partition without a state that brokers answer for is one of an earlier
    topic, of whose removal they were not informed: they lead and follow as before. The `situation` says which brokers
    have, or may have, another topic id in memory.
    """

    leads: bool = True
    earlier: frozenset[int] = frozenset()
    situation: Situation = field(kw_only=True)

    @property
    def has_old_protocol(self) -> bool:
        return self.situation.has_old_protocol

    def may_hold_another_id(self, broker: int, partition: int) -> bool:
        return self.situation.brokers[broker].may_hold_another_id

    def holds_another_id(self, broker: int, partition: int) -> bool:
        return self.situation.brokers[broker].holds_another_id

    def _shown(
        self, broker: int, partition: int, ids: InferredReplica, replica: CapturedReplica | None
    ) -> InferredReplica:
        return ids if broker in self.earlier else super()._shown(broker, partition, ids, replica)

    def _hosted(self, broker: int, partition: int, ids: InferredReplica) -> InferredReplica:
        if broker in self.earlier:
            return ids
        state = self.focus.topic.states.get(partition)
        led = self.focus.symptoms.led.get(partition)
        served = self._served(broker, partition) if state is None else None
        if served is not None and served.leader is not None:
            return at_epoch(ids, served.leader_epoch, leads=served.leader == broker)
        if state is not None and state.leader == broker and (led is False or not (led or self.leads)):
            return self._stuck(ids, state.leader_epoch)
        return super()._hosted(broker, partition, ids)

    def known_leadership(self, partition: int) -> tuple[int | None, int] | None:
        served = self.capture.cached(self.focus.topic.name, partition) if self.situation.is_served else None
        known = None if served is None else (self.focus.index(served.leader), served.leader_epoch)
        return known or super().known_leadership(partition)

    def _served(self, broker: int, partition: int) -> CapturedMetadata | None:
        """Return what a broker answers about a partition, or others if its cache is unknown.

        One that has restarted since the topic was removed does not know it, whatever others answer.
        """
        name, cache = self.focus.topic.name, self.capture.brokers[broker].cache
        return self.capture.cached(name, partition) if cache is None else cache.partitions.get(name, {}).get(partition)


def _possible(start: _AtRest) -> Iterator[InferredStart]:
    """Yield the histories of a partition, with a leader that leads, and with one that may not."""
    yield from histories(start)
    known = start.focus.symptoms
    if any(led is None and partition in known.outside for partition, led in known.led.items()):
        yield from histories(evolve(start, leads=False))


def _capture_of(situation: Situation) -> Capture:
    """Return the capture of a cluster that has nothing but this situation."""
    known = dict(enumerate(situation.brokers))
    brokers = {b: _broker(b, one, _epoch(situation)) for b, one in known.items()}
    topic = Topic(
        name=TOPIC,
        partitions={0: tuple(b for b, one in known.items() if one.replica)} if situation.listed else {},
        topic_id=_id(situation.topic_id),
        format=3,
        version=2,
        states={0: _state(known, _epoch(situation))} if situation.has_state else {},
    )
    return Capture(
        version=situation.release,
        controller=next((b for b, one in known.items() if one.controller), None),
        controller_epoch=1,
        topics={TOPIC: topic} if situation.listed else {},
        brokers=brokers,
        deleting=(TOPIC,) * situation.deleting,
        registered=tuple(b for b, one in known.items() if one.registered),
    )


def _epoch(situation: Situation) -> int:
    """Return the leader epoch that stands for ZooKeeper's; the other of 0 and 1 stands for any other one."""
    return 0 if situation.at_first_epoch else EPOCH


def _state(situations: Mapping[int, BrokerSituation], epoch: int) -> CapturedPartitionState:
    return CapturedPartitionState(
        leader=next((b for b, one in situations.items() if one.leads), None),
        leader_epoch=epoch,
        isr=tuple(b for b, one in situations.items() if one.in_isr),
        controller_epoch=1,
    )


def _broker(number: int, one: BrokerSituation, epoch: int) -> Broker:
    epochs = {True: ((epoch, 0),), False: ((EPOCH - epoch, 0),), None: None}
    directories = {f"{TOPIC}-0": Directory(_id(one.file), epochs[one.has_epoch])} if one.directory else {}
    replicas: dict[tuple[str, int], CapturedReplica | None] = {}
    if one.hosted is not None:
        above, leads = one.hosted
        replicas[TOPIC, 0] = None if one.hosted == NOT_HOSTED else CapturedReplica(epoch + above, leads)
    cache = None
    if one.cached is not None or one.cached_id is not None:
        leader, is_current = one.cached or (None, False)
        cached = {0: CapturedMetadata(leader, epoch if is_current else EPOCH - epoch)} if one.cached else {}
        cache = MetadataCache((), None, {TOPIC: _id(one.cached_id)}, {TOPIC: cached})
    return Broker(number, one.alive, directories, cache, replicas=replicas)


def _id(number: int | None) -> str | None:
    return None if number is None else f"id {number}"


def scope_of_situation(situation: Situation, brokers: tuple[int, ...], needs: Needs = EVERYTHING) -> Scope:
    """Return the scope of a model that has room for a situation, and what it needs."""
    return Scope(
        topic=TOPIC,
        brokers=brokers,
        lives=(0,),
        deletion=needs.deletion,
        reassignment=needs.reassignment,
        sessions=needs.sessions,
        stepwise=False,
        moves=True,
        lists=False,
        orders=(brokers,) * (1 + situation.is_lost),
        factor=sum(one.replica for one in situation.brokers),
    )


def _arrange_sessions(cluster: Cluster, situation: Situation) -> None:
    """A process that runs and is not in /brokers/ids has lost its session."""
    for number, one in enumerate(situation.brokers):
        if one.alive and not one.registered:
            cluster.brokers[number].session = SessionState.EXPIRED
            cluster.zookeeper.broker_ids = cluster.zookeeper.broker_ids - {number}


def _arrange_caches(cluster: Cluster, situation: Situation) -> None:
    """Set metadata caches, if there are any; one that is not in the capture is taken to be ZooKeeper's."""
    if not METADATA_CACHES:
        return
    state = cluster.zookeeper.state_of(0, 0)
    for number, one in enumerate(situation.brokers):
        leader, epoch = state.leader, state.leader_epoch
        if one.cached is not None and (situation.has_state or one.cached[0] is not None):
            wanted = _epoch(situation)
            leader, epoch = one.cached[0], wanted if one.cached[1] else EPOCH - wanted
        cluster.brokers[number].metadata[0][0] = UpdateMetadataPartitionState(leader, epoch)


def _arrange_without_the_partition(cluster: Cluster, capture: Capture, situation: Situation) -> None:
    """Arrange a cluster whose topic does not list the partition, or which has no such topic.

    A partition that has a state znode was promised to clients: the topic had it as partition 1.
    """
    arrange_without_topics(cluster, capture, tuple(capture.brokers))
    znode, cluster.zookeeper.controller = cluster.zookeeper.topics[0], capture.controller
    if situation.topic_exists and situation.has_state:
        znode.partition_count, znode.accepted_partitions = 1, 2
    for number, one in enumerate(situation.brokers):
        replica = cluster.replica_of(number, 0, 0 if not situation.topic_exists else len(PARTITIONS) - 1)
        replica.on_disk, replica.file_topic_id = one.directory, one.file
    _arrange_sessions(cluster, situation)


# Properties.


@cache
def _models_of(claims: tuple[Property, ...]) -> dict[tuple[str, int, bool, int], Model]:
    """Return the models in which claims were evaluated, also of other captures."""
    return {}


class Evaluation:
    """Evaluates properties on situations.

    Args:
        properties: state properties (`always`, `when_quiescent`) of one topic, partition or broker.
    """

    def __init__(self, properties: Sequence[Property]) -> None:
        self.properties = tuple(properties)
        self.models = _models_of(self.properties)
        self.broken = lru_cache(maxsize=None)(self._broken)

    def _model(self, situation: Situation) -> Model:
        factor = sum(one.replica for one in situation.brokers)
        key = situation.release, len(situation.brokers), situation.is_lost, factor
        if key not in self.models:
            scope = scope_of_situation(situation, tuple(range(len(situation.brokers))))
            story = REAL_CLUSTER.varied(actions=REAL_CLUSTER.actions[:1], properties=self.properties)
            flags = {**scope.flags, "metadata_caches": True}
            bounds = {**scope.bounds, "topics": 1, "topic_ids": IDS, "leader_epochs": EPOCH + 1, "deletions": 1}
            self.models[key] = Model(story, situation.release, bounds, flags)
        return self.models[key]

    def _broken(self, situation: Situation) -> tuple[Broken, ...]:
        """Return the properties that a situation violates, in their order."""
        model = self._model(situation)
        with model.active():
            states = list(states_of(situation))
            found = []
            for instance in model.properties:
                truths = [instance.declaration.truth(state, *instance.args) for state in states]
                if False in truths:
                    names = (parameter.name for parameter in instance.declaration.parameters)
                    broker = dict(zip(names, instance.args, strict=True)).get("broker")
                    certain = all(truth is False for truth in truths)
                    found.append(Broken(instance.declaration.name, broker, certain))
        return tuple(found)
