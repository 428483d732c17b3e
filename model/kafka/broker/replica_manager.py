"""ReplicaManager: how a broker handles LeaderAndIsr and StopReplica requests, with Kafka's order of checks.

The responses for single partitions are not stored: the controller acts on storage errors only, which occur under the
flag `offline_logs`, and ignores INCONSISTENT_TOPIC_ID and STALE_CONTROLLER_EPOCH.
"""

from __future__ import annotations

from kwalk.model.kafka.actors import BROKER
from kwalk.model.kafka.broker.log_manager import assign_topic_id, delete_log
from kwalk.model.kafka.broker.partition import advance_high_watermark, begin_leader_epoch
from kwalk.model.kafka.controller.controller_context import ControllerEvent, EventKind
from kwalk.model.kafka.domains import BIND_FAILURES, BROKERS, KRAFT_REASSIGNMENTS, PARTITIONS, TOPIC_IDS, TOPICS, Broker
from kwalk.model.kafka.migration.state import BrokerMode
from kwalk.model.kafka.migration.strays import handle_full_request
from kwalk.model.kafka.migration.versions import ACCEPTS_EQUAL_EPOCH
from kwalk.model.kafka.requests import ControlRequest, EpochKind, LeaderAndIsrPartitionState, RequestKind
from kwalk.model.kafka.state import BrokerState, Cluster, LogDirectoryState, Replica
from kwalk.model.kafka.versions.deletion import UNOPENED_LOG_IS_OFFLINE
from kwalk.model.kafka.versions.grain import (
    DELETION,
    FAILED_DIRECTORIES,
    LIVE_BROKER_CACHES,
    MIGRATION,
    OFFLINE_LOGS,
    STATE_VERSIONS,
    STOP_REPLICA,
)
from kwalk.model.kafka.versions.reassignment import STOP_REPLICA_EPOCH, TRIES_OTHER_DIRECTORIES
from kwalk.model.kafka.versions.records import (
    FIRST_LEADER_AND_ISR_ASSIGNS_ID,
    ID_CHECK_BEFORE_EPOCH,
    SKIPS_OLDER_PARTITION_EPOCHS,
)
from kwalk.model.kafka.versions.sessions import (
    ACCEPTS_NEWER_BROKER_EPOCHS,
    BROKER_EPOCH,
    SKIPS_LOGS_IT_CANNOT_CREATE,
)
from kwalk.model.language import action, evolve, require


def refusals(before: Cluster, _: Cluster, broker: int) -> str:
    """Return what a broker refuses of a LeaderAndIsr request, and why; "" if it refuses nothing."""
    state = before.brokers[broker]
    request = state.requests.headers.head
    if state.controller.is_registering and bool(BROKER_EPOCH) and not ACCEPTS_NEWER_BROKER_EPOCHS:
        return "refuses it: it has a later broker epoch than the broker knows"
    if request.controller_epoch < state.controller_epoch:
        return (
            f"refuses it: it has controller epoch {request.controller_epoch}, the broker knows {state.controller_epoch}"
        )
    found = []
    for partition in PARTITIONS:
        wanted, replica = state.requests.partition_states[partition].head, state.replicas[request.topic][partition]
        if wanted is None or replica.offline:
            continue
        if not check_or_set_topic_id(replica, request.topic_id, wanted, broker):
            ids = [TOPIC_IDS.label(one) for one in (request.topic_id, replica.topic_id) if one is not None]
            name = partition_name(request.topic, partition)
            found.append(f"{name}: the request has id {ids[0]}, memory has {ids[-1]}")
        elif skips_older_version(replica) and (replica.leader_epoch or 0) < wanted.leader_epoch:
            found.append(f"{partition_name(request.topic, partition)}: the state znode had a later version before")
    return f"refuses {'; '.join(found)}" if found else ""


def partition_name(topic: int, partition: int) -> str:
    """Return the name of a partition, such as t-0."""
    return f"{TOPICS.label(topic)}-{PARTITIONS.label(partition)}"


@action(
    by=BROKER,
    group="broker",
    description="handles LeaderAndIsr",
    source="KafkaApis.handleLeaderAndIsrRequest, ReplicaManager.becomeLeaderOrFollower",
    outcome=refusals,
)
def handle_leader_and_isr(cluster: Cluster, broker: Broker) -> None:
    """A request of an older controller is refused as a whole; otherwise each partition is checked by itself."""
    state = cluster.brokers[broker]
    require(is_next(state, RequestKind.LEADER_AND_ISR) and not (not BROKER_EPOCH and not cluster.is_up(broker)))
    request = state.requests.headers.pop()
    failed: frozenset[int]
    is_stale, failed = is_refused(state, request), frozenset()
    if not is_stale:
        state.cache_topic(request)
    if MIGRATION and request.is_full and not is_stale:
        is_stale = handle_full_request(cluster, broker, request, named_partitions(state))
    for partition in PARTITIONS:
        wanted = state.requests.partition_states[partition].pop()
        for topic in TOPICS:
            if wanted is not None and request.topic == topic and not is_stale:
                if FAILED_DIRECTORIES:
                    choose_directory(state, state.replicas[topic][partition], wanted)
                if state.replicas[topic][partition].offline:
                    failed = failed | {partition}
                else:
                    replica = state.replicas[topic][partition]
                    if LIVE_BROKER_CACHES:
                        wanted = without_unknown_leader(state, wanted, broker)
                    become_leader_or_follower(replica, request.topic_id, wanted, broker, is_stopping=state.is_stopping)
                    if KRAFT_REASSIGNMENTS > 0 and is_from_kraft(cluster, request):
                        take_equal_epoch(replica, request.topic_id, wanted)
                    mark_offline_without_log(state.replicas[topic][partition])
                    advance_high_watermark(cluster, broker, topic, partition)
    if bool(OFFLINE_LOGS) and bool(failed):
        answer_storage_error(cluster, broker, request, failed)


def choose_directory(state: BrokerState, replica: Replica, sent: LeaderAndIsrPartitionState) -> None:
    """Find a directory for the log of a replica that has none; the replica is offline if that fails.

    While a directory is known to fail, the log of a replica that is not new may be in it: no other one is created.

    Kafka: LogManager.getOrCreateLog, nextLogDirs; ReplicaManager.markPartitionOffline.
    """
    if not is_new(replica) or replica.offline:
        return
    if state.spare_directory is LogDirectoryState.FAILS:
        state.spare_directory = LogDirectoryState.OFFLINE
        replica.offline = not TRIES_OTHER_DIRECTORIES
    elif state.spare_directory is LogDirectoryState.OFFLINE:
        replica.offline = not sent.is_new


def without_unknown_leader(
    state: BrokerState, partition_state: LeaderAndIsrPartitionState, broker: int
) -> LeaderAndIsrPartitionState:
    """Return a partition's entry without a leader that the broker's metadata cache does not have.

    Kafka: ReplicaManager.makeFollowers: "cannot become follower since the new leader is unavailable".
    """
    leader = partition_state.leader
    if leader is None or leader == broker or leader in state.cached_brokers:
        return partition_state
    return evolve(partition_state, leader=None)


def may_break_off(cluster: Cluster, broker: int, handled: frozenset[int]) -> bool:
    """Whether the oldest request may end when these partitions are handled, as the log of another one is new.

    Kafka handles the partitions that the broker leads first, otherwise in any order.

    Kafka: ReplicaManager.makeLeaders, makeFollowers; LogManager.getOrCreateLog: fetchLogConfig.
    """
    state = cluster.brokers[broker]
    if not is_next(state, RequestKind.LEADER_AND_ISR):
        return False
    topic, columns = state.requests.headers.head.topic, state.requests.partition_states
    named = named_partitions(state)
    leads = frozenset({p for p in PARTITIONS if p in named and names_leader(columns[p].head, broker)})
    new = frozenset({p for p in PARTITIONS if is_new(state.replicas[topic][p])})
    fails = bool(named & new - handled) and (not SKIPS_LOGS_IT_CANNOT_CREATE or named - handled <= new)
    return len(handled) > 0 and handled <= named and (handled <= leads or leads <= handled) and fails


def handle_part_of_leader_and_isr(cluster: Cluster, broker: int, handled: frozenset[int]) -> None:
    """Handle some partitions of the oldest request, which ends there.

    Up to 2.6 followers that are handled get no fetcher: they would all have got it afterwards.
    """
    state = cluster.brokers[broker]
    request = state.requests.headers.pop()
    is_stale = is_refused(state, request)
    if not is_stale:
        state.cache_topic(request)
    for partition in PARTITIONS:
        wanted = state.requests.partition_states[partition].pop()
        for topic in TOPICS:
            if wanted is not None and request.topic == topic and partition in handled and not is_stale:
                replica = state.replicas[topic][partition]
                is_left = state.is_stopping or not SKIPS_LOGS_IT_CANNOT_CREATE
                become_leader_or_follower(replica, request.topic_id, wanted, broker, is_stopping=is_left)
                advance_high_watermark(cluster, broker, topic, partition)


def names_leader(partition_state: LeaderAndIsrPartitionState | None, broker: int) -> bool:
    """Whether a request lets a broker lead a partition."""
    return partition_state is not None and partition_state.leader == broker


def is_new(replica: Replica) -> bool:
    """Whether a broker has no log of a replica, as far as the model's grain tells."""
    return not replica.log_open and not replica.on_disk and replica.file_topic_id is None


def is_from_kraft(cluster: Cluster, request: ControlRequest) -> bool:
    """Whether a request is from KRaft's controller (Kafka: LeaderAndIsrRequest.isKRaftController)."""
    zookeeper = cluster.zookeeper
    return zookeeper.is_led_by_kraft and request.controller_epoch == zookeeper.controller_epoch


def take_equal_epoch(replica: Replica, topic_id: int | None, partition_state: LeaderAndIsrPartitionState) -> None:
    """Let a leader take its replicas from a request under the leader epoch that it has.

    Kafka: ReplicaManager.becomeLeaderOrFollower: requestLeaderEpoch == currentLeaderEpoch.
    """
    is_same = replica.topic_id == topic_id and replica.leader_epoch == partition_state.leader_epoch
    if ACCEPTS_EQUAL_EPOCH and replica.is_leader and is_same:
        replica.assigned = partition_state.replicas


def named_partitions(state: BrokerState) -> frozenset[int]:
    """Return the partitions that the oldest request on its way to the broker names."""
    columns = state.requests.partition_states
    return frozenset({p for p in PARTITIONS if not columns[p].is_empty and columns[p].head is not None})


def mark_offline_without_log(replica: Replica) -> None:
    """Mark a replica without an open log as offline, as Kafka does up to 3.0.

    Kafka: ReplicaManager.markPartitionOffline.
    """
    if OFFLINE_LOGS and UNOPENED_LOG_IS_OFFLINE and not replica.log_open:
        replica.offline = True


def answer_storage_error(cluster: Cluster, broker: int, request: ControlRequest, failed: frozenset[int]) -> None:
    """Queue the response as an event of the sender, if it is still a controller."""
    for sender in BROKERS:
        if cluster.controller_of(sender).epoch == request.controller_epoch:
            response = ControllerEvent(EventKind.STORAGE_ERROR, request.topic, broker, failed)
            cluster.controller_of(sender).events.push(response)


def is_next(state: BrokerState, kind: RequestKind) -> bool:
    """Whether the oldest request on its way to the broker is of this kind, and reaches it: none does in KRaft mode."""
    headers = state.requests.headers
    if BIND_FAILURES > 0 and state.has_no_listener:
        return False
    if headers.is_empty or (MIGRATION and state.mode is BrokerMode.KRAFT):
        return False
    return headers.head.kind is kind


def is_refused(state: BrokerState, request: ControlRequest) -> bool:
    """Whether a request is refused as a whole; if not, store its controller epoch.

    Up to 2.5.0 a broker that does not know its broker epoch yet throws IllegalStateException at a request that has it.

    Kafka: KafkaApis.isBrokerEpochStale; ReplicaManager.becomeLeaderOrFollower.
    """
    if state.controller.is_registering and bool(BROKER_EPOCH) and not ACCEPTS_NEWER_BROKER_EPOCHS:
        return True
    return is_from_older_controller(state, request)


def is_from_older_controller(state: BrokerState, request: ControlRequest) -> bool:
    """Whether the broker has seen a higher controller epoch than the request's; if not, store the request's."""
    if request.controller_epoch < state.controller_epoch:
        return True  # STALE_CONTROLLER_EPOCH
    state.controller_epoch = request.controller_epoch
    return False


def become_leader_or_follower(
    replica: Replica,
    topic_id: int | None,
    partition_state: LeaderAndIsrPartitionState,
    broker: int,
    *,
    is_stopping: bool = False,
) -> None:
    """Check the topic id, then the leader epoch, then open the log and become leader or follower.

    Kafka: ReplicaManager.becomeLeaderOrFollower.
    """
    if not check_or_set_topic_id(replica, topic_id, partition_state, broker):
        return  # INCONSISTENT_TOPIC_ID
    if replica.leader_epoch is not None and partition_state.leader_epoch <= replica.leader_epoch:
        return  # STALE_CONTROLLER_EPOCH
    if skips_older_version(replica):
        return  # the role, and a follower's fetcher, stay
    open_log(replica, topic_id, broker)
    if partition_state.leader is None:
        return  # the leader is not alive: the log is open, epoch and role stay
    replica.leader_epoch = partition_state.leader_epoch
    begin_leader_epoch(replica, partition_state, broker, is_stopping=is_stopping)
    replica.is_leader = partition_state.leader == broker


def skips_older_version(replica: Replica) -> bool:
    """Whether the broker leaves a replica as it is, as the state znode has a lower version than it has seen.

    Kafka: Partition.makeLeader, makeFollower: "Skipped the become-leader state change".
    """
    return bool(STATE_VERSIONS) and bool(SKIPS_OLDER_PARTITION_EPOCHS) and replica.has_later_version


def check_or_set_topic_id(
    replica: Replica, topic_id: int | None, partition_state: LeaderAndIsrPartitionState, broker: int
) -> bool:
    """Whether the request's topic id is consistent with the log's; a log without id may take it.

    Before 3.0 only an open log is checked, so that the first request to a process passes; and a log without id takes it
    whatever the request's leader epoch. Since 3.0 the log that was loaded at start is checked, and one without id takes
    the request's here only if the leader epochs are equal (KAFKA-13132). Without KAFKA-12332 all ids are consistent.

    Kafka: ReplicaManager.checkTopicId, Partition.checkOrSetTopicId.
    """
    if topic_id is None:
        return True
    if FIRST_LEADER_AND_ISR_ASSIGNS_ID:
        if replica.topic_id is None and replica.leader_epoch == partition_state.leader_epoch:
            assign_topic_id(replica, topic_id, broker)
        return replica.topic_id in (None, topic_id) or not ID_CHECK_BEFORE_EPOCH
    if not replica.log_open:
        return True
    if replica.topic_id is None:
        assign_topic_id(replica, topic_id, broker)
    return replica.topic_id in (None, topic_id) or not ID_CHECK_BEFORE_EPOCH


def open_log(replica: Replica, topic_id: int | None, broker: int) -> None:
    """Open the log; since 3.0 a log without id takes the request's then (Kafka: Partition.createLogIfNotExists)."""
    replica.log_open = True
    if STOP_REPLICA:
        replica.on_disk = True
    if FIRST_LEADER_AND_ISR_ASSIGNS_ID and replica.topic_id is None and topic_id is not None:
        assign_topic_id(replica, topic_id, broker)


@action(
    by=BROKER,
    group="broker",
    description="handles StopReplica",
    source="KafkaApis.handleStopReplicaRequest, ReplicaManager.stopReplicas",
)
def handle_stop_replica(cluster: Cluster, broker: Broker) -> None:
    """As with LeaderAndIsr, an older controller's request is refused as a whole."""
    require(STOP_REPLICA)
    state = cluster.brokers[broker]
    require(is_next(state, RequestKind.STOP_REPLICA) and not (not BROKER_EPOCH and not cluster.is_up(broker)))
    request = state.requests.headers.pop()
    deleted: frozenset[int]
    failed: frozenset[int]
    is_stale, deleted, failed = is_refused(state, request), frozenset(), frozenset()
    if not is_stale:
        state.cache_topic(request)
    for partition in PARTITIONS:
        wanted = state.requests.partition_states[partition].pop()
        for topic in TOPICS:
            if wanted is not None and state.replicas[topic][partition].offline and request.topic == topic:
                if wanted.delete and not is_stale:
                    failed = failed | {partition}
            elif wanted is not None and request.topic == topic and not is_stale:
                is_accepted = stop_replica(state.replicas[topic][partition], wanted)
                if is_accepted and wanted.delete:
                    deleted = deleted | {partition}
    if bool(OFFLINE_LOGS) and bool(failed):
        answer_storage_error(cluster, broker, request, failed)
    if DELETION and bool(deleted):
        answer_deletion(cluster, broker, request, deleted)


def answer_deletion(cluster: Cluster, broker: int, request: ControlRequest, deleted: frozenset[int]) -> None:
    """Queue the response as an event of the sender, if it is still a controller that deletes the topic."""
    for sender in BROKERS:
        controller = cluster.controller_of(sender)
        if controller.epoch == request.controller_epoch and controller.topics[request.topic].deletion_started:
            response = ControllerEvent(EventKind.STOP_REPLICA_RESPONSE, request.topic, broker, deleted)
            controller.events.push(response)


def stop_replica(replica: Replica, partition_state: LeaderAndIsrPartitionState) -> bool:
    """Stop fetching, delete the log on request, and return whether the leader epoch was accepted.

    The log is deleted whichever incarnation of the topic it is from. Without deletion the Partition object does not
    change.

    Kafka: ReplicaManager.stopPartitions.
    """
    if not accepts_epoch(replica, partition_state):
        return False  # FENCED_LEADER_EPOCH
    if partition_state.delete:
        replica.log_open = replica.is_leader = replica.lacks_fetcher = False
        replica.has_later_version = False
        replica.assigned = frozenset()
        replica.leader_epoch = None
        delete_log(replica)
    return True


def accepts_epoch(replica: Replica, partition_state: LeaderAndIsrPartitionState) -> bool:
    """Whether the request's leader epoch is recent enough; a replica without leader epoch accepts any."""
    if (
        STOP_REPLICA_EPOCH == "none"
        or partition_state.epoch_kind is not EpochKind.LEADER_EPOCH
        or replica.leader_epoch is None
    ):
        return True
    if STOP_REPLICA_EPOCH == "ge":
        return partition_state.leader_epoch >= replica.leader_epoch
    return partition_state.leader_epoch > replica.leader_epoch
