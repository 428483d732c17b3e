"""The requests that a controller sends: ControllerBrokerRequestBatch and ControllerChannelManager.

A request is dropped here, not at the receiver, when the broker's registration in the context has ended: the broker
epoch in the request would be refused as stale. StopReplica is sent only under the flag `stop_replica`, and never to a
broker that is about to stop. UpdateMetadata goes to all live brokers, and is sent only under the flag
`metadata_caches`.
"""

from __future__ import annotations

from kwalk.model.kafka.controller.controller_context import BrokerRegistration, Controller
from kwalk.model.kafka.domains import BROKERS, PARTITIONS, TOPICS
from kwalk.model.kafka.inter_broker_protocol import uses_topic_ids
from kwalk.model.kafka.requests import ControlRequest, EpochKind, LeaderAndIsrPartitionState, RequestKind
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.versions.deletion import UNNAMED_TOPICS_LEAVE_CACHES
from kwalk.model.kafka.versions.grain import (
    BROKER_CHECKS,
    FAILED_DIRECTORIES,
    LIVE_BROKER_CACHES,
    METADATA_CACHES,
    REASSIGNMENT,
    REQUEST_PER_PARTITION,
    SESSIONS,
)
from kwalk.model.kafka.versions.sessions import BROKER_EPOCH


def send_leader_and_isr(
    cluster: Cluster,
    broker: int,
    topic: int,
    partitions: frozenset[int],
    *,
    to: frozenset[int],
    new: frozenset[int] = frozenset(),
) -> None:
    """Send the context's leadership of the partitions to the reachable brokers among `to`.

    The replicas of the partitions `new` are new on all of them.

    Kafka: ControllerBrokerRequestBatch.sendRequestsToBrokers.
    """
    if REQUEST_PER_PARTITION:
        for partition in sorted(partitions):
            send_batch(cluster, broker, topic, frozenset({partition}), to=to, new=new, new_on=to)
    elif partitions:
        send_batch(cluster, broker, topic, partitions, to=to, new=new, new_on=to)
    send_update_metadata(cluster, broker, topic, partitions, to=cluster.controller_of(broker).live_or_shutting_down)


def send_batch(
    cluster: Cluster,
    broker: int,
    topic: int,
    partitions: frozenset[int],
    *,
    to: frozenset[int],
    new: frozenset[int] = frozenset(),
    new_on: frozenset[int] = frozenset(),
) -> None:
    """Send one LeaderAndIsr request about partitions of a topic to each broker.

    The replicas of the partitions `new` are new on the brokers `new_on`.

    Kafka: ControllerBrokerRequestBatch.sendLeaderAndIsrRequest.
    """
    controller = cluster.controller_of(broker)
    topic_id = controller.topics[topic].topic_id if uses_topic_ids(broker) else None
    header = ControlRequest(controller.epoch, topic, topic_id, is_cached=is_cached(controller, topic))
    for receiver in BROKERS:
        assignments = controller.topics[topic].assignments
        hosted = frozenset({p for p in PARTITIONS if p in partitions and receiver in assignments[p].replicas})
        if receiver in to and bool(hosted) and can_send(controller, receiver):
            requests = cluster.brokers[receiver].requests
            requests.headers.push(header)
            for partition in PARTITIONS:
                is_new = partition in new and receiver in new_on
                wanted = (
                    partition_state(controller, topic, partition, receiver, is_new) if partition in hosted else None
                )
                requests.partition_states[partition].push(wanted)


def is_cached(controller: Controller, topic: int) -> bool:
    """Whether UpdateMetadata keeps a topic in metadata caches, where only that matters; not one to be deleted."""
    return bool(BROKER_CHECKS) and not controller.topics[topic].to_be_deleted


def partition_state(
    controller: Controller, topic: int, partition: int, receiver: int, is_new: bool
) -> LeaderAndIsrPartitionState:
    """Return a partition's entry in a LeaderAndIsr request; a leader that is not live in the context becomes None."""
    leadership = controller.topics[topic].leadership[partition]
    leader = leadership.leader if leadership.leader in controller.live_or_shutting_down else None
    is_for_leader = bool(REASSIGNMENT) and leader == receiver
    replicas = controller.topics[topic].assignments[partition].replicas if is_for_leader else frozenset()
    assert leadership.leader_epoch is not None
    is_marked = is_new and bool(FAILED_DIRECTORIES)
    return LeaderAndIsrPartitionState(
        leader, leadership.leader_epoch, isr=leadership.isr, replicas=replicas, is_new=is_marked
    )


def send_update_metadata(
    cluster: Cluster, broker: int, topic: int, partitions: frozenset[int], *, to: frozenset[int]
) -> None:
    """Send the leadership of the partitions to metadata caches, after the LeaderAndIsr of a batch.

    Kafka: ControllerBrokerRequestBatch.addUpdateMetadataRequestForBrokers.
    """
    if METADATA_CACHES and bool(partitions):
        controller = cluster.controller_of(broker)
        kept = is_cached(controller, topic)
        header = ControlRequest(
            controller.epoch,
            topic,
            None,
            RequestKind.UPDATE_METADATA,
            is_cached=kept,
            live_brokers=live_brokers_of(controller),
        )
        for receiver in sorted(to):
            if can_send(controller, receiver):
                requests = cluster.brokers[receiver].requests
                requests.headers.push(header)
                for partition in PARTITIONS:
                    is_included = partition in partitions
                    requests.partition_states[partition].push(
                        cached_state(controller, topic, partition) if is_included else None
                    )


def send_removals(cluster: Cluster, broker: int, *, to: frozenset[int]) -> None:
    """Remove from metadata caches what the context lacks, or is going to delete: a fix that no release has.

    Kafka could send one full request, and brokers would remove what that does not name; here what is not named is sent.
    It does not name topics that are queued for deletion (ControllerContext.partitionsWithLeaders).
    """
    if not METADATA_CACHES or not UNNAMED_TOPICS_LEAVE_CACHES:
        return
    controller = cluster.controller_of(broker)
    removed = LeaderAndIsrPartitionState(None, 0, epoch_kind=EpochKind.DURING_DELETE)
    for topic in TOPICS:
        leadership = controller.topics[topic].leadership
        is_named = not controller.topics[topic].to_be_deleted
        missing = frozenset({p for p in PARTITIONS if not (is_named and leadership[p].is_known)})
        header = ControlRequest(
            controller.epoch, topic, None, RequestKind.UPDATE_METADATA, live_brokers=live_brokers_of(controller)
        )
        for receiver in BROKERS:
            if bool(missing) and receiver in to and can_send(controller, receiver):
                requests = cluster.brokers[receiver].requests
                requests.headers.push(header)
                for partition in PARTITIONS:
                    requests.partition_states[partition].push(removed if partition in missing else None)


def live_brokers_of(controller: Controller) -> frozenset[int]:
    """Return the live brokers that UpdateMetadata has, where metadata caches have them."""
    return controller.live_or_shutting_down if LIVE_BROKER_CACHES else frozenset()


def send_live_brokers(cluster: Cluster, broker: int, *, to: frozenset[int]) -> None:
    """Send brokers an UpdateMetadata without partitions, where metadata caches have the live brokers.

    Kafka: KafkaController.sendUpdateMetadataRequest without partitions.
    """
    if not LIVE_BROKER_CACHES:
        return
    controller = cluster.controller_of(broker)
    live = live_brokers_of(controller)
    header = ControlRequest(controller.epoch, 0, None, RequestKind.UPDATE_METADATA, live_brokers=live)
    for receiver in BROKERS:
        if receiver in to and can_send(controller, receiver):
            cluster.brokers[receiver].requests.headers.push(header)
            for partition in PARTITIONS:
                cluster.brokers[receiver].requests.partition_states[partition].push(None)


def cached_state(controller: Controller, topic: int, partition: int) -> LeaderAndIsrPartitionState | None:
    """Return a partition's entry in UpdateMetadata, or None without leadership.

    The leader is LeaderDuringDelete if the topic is to be deleted.
    """
    leadership = controller.topics[topic].leadership[partition]
    if not leadership.is_known:
        return None
    if controller.topics[topic].is_hidden:
        return LeaderAndIsrPartitionState(None, 0, epoch_kind=EpochKind.DURING_DELETE)
    assert leadership.leader_epoch is not None
    return LeaderAndIsrPartitionState(leadership.leader, leadership.leader_epoch)


def send_stop_replica(
    cluster: Cluster, broker: int, topic: int, partitions: frozenset[int], *, to: frozenset[int], delete: bool
) -> None:
    """Send each broker one StopReplica request about partitions of a topic.

    Kafka: ControllerBrokerRequestBatch.addStopReplicaRequestForBrokers.
    """
    controller = cluster.controller_of(broker)
    kept = is_cached(controller, topic)
    header = ControlRequest(controller.epoch, topic, None, RequestKind.STOP_REPLICA, is_cached=kept)
    for receiver in BROKERS:
        if bool(partitions) and receiver in to and can_send(controller, receiver):
            requests = cluster.brokers[receiver].requests
            requests.headers.push(header)
            for partition in PARTITIONS:
                wanted = stop_state(controller, topic, partition, delete=delete) if partition in partitions else None
                requests.partition_states[partition].push(wanted)


def stop_state(controller: Controller, topic: int, partition: int, *, delete: bool) -> LeaderAndIsrPartitionState:
    """Return a partition's entry in StopReplica: the context's leader epoch, or the reason why there is none."""
    leadership = controller.topics[topic].leadership[partition]
    if controller.topics[topic].to_be_deleted:
        return LeaderAndIsrPartitionState(None, 0, delete, EpochKind.DURING_DELETE)
    if not leadership.is_known:
        return LeaderAndIsrPartitionState(None, 0, delete, EpochKind.NO_EPOCH)
    assert leadership.leader_epoch is not None
    return LeaderAndIsrPartitionState(None, leadership.leader_epoch, delete, EpochKind.LEADER_EPOCH)


def can_send(controller: Controller, receiver: int) -> bool:
    """Whether a request to the broker is sent; before 2.2 also to one whose process has ended, for its next process."""
    registration = controller.registrations[receiver]
    return registration is BrokerRegistration.CURRENT or (not BROKER_EPOCH and registration is BrokerRegistration.STALE)


def remove_channels(cluster: Cluster, broker: int, *, to: frozenset[int]) -> None:
    """Drop the requests that wait for these brokers (Kafka: ControllerChannelManager.removeBroker).

    A request in flight reaches a process that still runs. Where every process has a session and an epoch of its own,
    nothing is on the way to a lost broker.
    """
    if bool(SESSIONS) or not BROKER_EPOCH:
        epoch = cluster.controller_of(broker).epoch
        for receiver in sorted(to):
            cluster.brokers[receiver].requests.drop_waiting(epoch, in_flight_arrives=cluster.is_up(receiver))


def drop_channels(cluster: Cluster, broker: int) -> None:
    """Drop the controller's waiting requests; those in flight may be lost, each by itself (`faults.lose_request`).

    Kafka: ControllerChannelManager.shutdown.
    """
    for receiver in BROKERS:
        cluster.brokers[receiver].requests.drop_waiting(cluster.controller_of(broker).epoch)
