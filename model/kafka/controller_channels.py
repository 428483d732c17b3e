"""The requests that a controller sends: ControllerBrokerRequestBatch and ControllerChannelManager.

A request is dropped here, not at the receiver, when the broker's registration that the context knows has ended: the
broker epoch in it would be refused as stale. StopReplica is sent only under the flag `stop_replica`, and never to a
broker that is about to stop; UpdateMetadata, which goes to all live brokers, only under the flag `metadata_caches`.
"""
from __future__ import annotations

from model.kafka.controller_context import Controller, Liveness
from model.kafka.domains import BROKERS, PARTITIONS
from model.kafka.inter_broker_protocol import uses_topic_ids
from model.kafka.requests import EpochKind, LeaderAndIsr, PartitionState, RequestKind
from model.kafka.state import Cluster
from model.kafka.versions import BROKER_EPOCH, METADATA_CACHES, REQUEST_PER_PARTITION, SESSIONS


def send_leader_and_isr(
    cluster: Cluster, broker: int, topic: int, partitions: frozenset[int], *, to: frozenset[int]
) -> None:
    """sendRequestsToBrokers: the context's leadership of the partitions, to those brokers that it can reach."""
    if REQUEST_PER_PARTITION:
        for partition in PARTITIONS:
            if partition in partitions:
                send_batch(cluster, broker, topic, frozenset({partition}), to=to)
    elif partitions:
        send_batch(cluster, broker, topic, partitions, to=to)
    send_update_metadata(cluster, broker, topic, partitions, to=cluster.brokers[broker].controller.live_brokers)


def send_batch(cluster: Cluster, broker: int, topic: int, partitions: frozenset[int], *, to: frozenset[int]) -> None:
    """One LeaderAndIsr request about some partitions of a topic to each of the brokers."""
    controller = cluster.brokers[broker].controller
    topic_id = controller.topics[topic].topic_id if uses_topic_ids(broker) else None
    header = LeaderAndIsr(controller.epoch, topic, topic_id)
    for receiver in BROKERS:
        assignments = controller.topics[topic].assignments
        hosted = frozenset({p for p in PARTITIONS if p in partitions and receiver in assignments[p].replicas})
        if receiver in to and bool(hosted) and can_send(controller, receiver):
            requests = cluster.brokers[receiver].requests
            requests.headers.push(header)
            for partition in PARTITIONS:
                wanted = partition_state(controller, topic, partition) if partition in hosted else None
                requests.columns[partition].push(wanted)


def partition_state(controller: Controller, topic: int, partition: int) -> PartitionState:
    """What the controller asks of a partition's replicas; a leader that it takes for dead is no leader."""
    leadership = controller.topics[topic].leadership[partition]
    leader = leadership.leader if leadership.leader in controller.live_brokers else None
    return PartitionState(leader, leadership.leader_epoch, isr=leadership.isr)


def send_update_metadata(
    cluster: Cluster, broker: int, topic: int, partitions: frozenset[int], *, to: frozenset[int]
) -> None:
    """addUpdateMetadataRequestForBrokers: what clients are to know of the partitions, after LeaderAndIsr of a batch."""
    if METADATA_CACHES and bool(partitions):
        controller = cluster.brokers[broker].controller
        header = LeaderAndIsr(controller.epoch, topic, None, RequestKind.UPDATE_METADATA)
        for receiver in BROKERS:
            if receiver in to and can_send(controller, receiver):
                requests = cluster.brokers[receiver].requests
                requests.headers.push(header)
                for partition in PARTITIONS:
                    is_told = partition in partitions
                    requests.columns[partition].push(cached_state(controller, topic, partition) if is_told else None)


def cached_state(controller: Controller, topic: int, partition: int) -> PartitionState | None:
    """updateMetadataRequestPartitionInfo: the context's leadership, if there is any; LeaderDuringDelete if it goes."""
    leadership = controller.topics[topic].leadership[partition]
    if not leadership.is_known:
        return None
    if controller.topics[topic].machines.to_be_deleted:
        return PartitionState(None, 0, epoch_kind=EpochKind.DURING_DELETE)
    return PartitionState(leadership.leader, leadership.leader_epoch)


def send_stop_replica(
    cluster: Cluster, broker: int, topic: int, partitions: frozenset[int], *, to: frozenset[int], delete: bool
) -> None:
    """addStopReplicaRequestForBrokers: one StopReplica request about some partitions of a topic to each broker."""
    controller = cluster.brokers[broker].controller
    header = LeaderAndIsr(controller.epoch, topic, None, RequestKind.STOP_REPLICA)
    for receiver in BROKERS:
        if bool(partitions) and receiver in to and can_send(controller, receiver):
            requests = cluster.brokers[receiver].requests
            requests.headers.push(header)
            for partition in PARTITIONS:
                wanted = stop_state(controller, topic, partition, delete=delete) if partition in partitions else None
                requests.columns[partition].push(wanted)


def stop_state(controller: Controller, topic: int, partition: int, *, delete: bool) -> PartitionState:
    """The entry of a StopReplica request: the leader epoch that the context has now, or the reason for none."""
    leadership = controller.topics[topic].leadership[partition]
    if controller.topics[topic].machines.to_be_deleted:
        return PartitionState(None, 0, delete, EpochKind.DURING_DELETE)
    if not leadership.is_known:
        return PartitionState(None, 0, delete, EpochKind.NO_EPOCH)
    return PartitionState(None, leadership.leader_epoch, delete, EpochKind.LEADER_EPOCH)


def can_send(controller: Controller, receiver: int) -> bool:
    """Whether a request to the broker goes out: before 2.2 also to one whose process has ended, for its next one."""
    liveness = controller.liveness[receiver]
    return liveness is Liveness.CURRENT or (not BROKER_EPOCH and liveness is Liveness.STALE)


def remove_channels(cluster: Cluster, broker: int, *, to: frozenset[int]) -> None:
    """ControllerChannelManager.removeBroker: nothing that waits is sent; what is in flight reaches a live process.

    Where every process has a session and an epoch of its own, nothing is on the way to one that was lost.
    """
    if bool(SESSIONS) or not BROKER_EPOCH:
        epoch = cluster.brokers[broker].controller.epoch
        for receiver in BROKERS:
            if receiver in to:
                cluster.brokers[receiver].requests.drop_waiting(epoch, in_flight_arrives=cluster.is_up(receiver))


def drop_channels(cluster: Cluster, broker: int) -> None:
    """ControllerChannelManager.shutdown: of the controller's requests only those in flight still arrive."""
    for receiver in BROKERS:
        cluster.brokers[receiver].requests.drop_waiting(cluster.brokers[broker].controller.epoch)
