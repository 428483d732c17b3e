"""ZkReplicaStateMachine: what happens to partitions when replicas come online or go offline.

A replica is *online* while the context takes its broker for live. Requests to a broker that stops (StopReplica) have
nobody to act on them and are left out.
"""
from __future__ import annotations

from model.kafka.controller_channels import send_leader_and_isr, send_stop_replica
from model.kafka.controller_context import TopicContext
from model.kafka.domains import BROKERS, PARTITIONS
from model.kafka.partition_state_machine import read_leadership, replicas_of, set_leader_and_isr
from model.kafka.state import Cluster
from model.kafka.state_machines import ReplicaStatus, replica_may_become
from model.kafka.versions import DELETION, OFFLINE_WITHOUT_LEADERSHIP


def led_partitions(topic: TopicContext) -> frozenset[int]:
    """The partitions whose leadership the context knows."""
    return frozenset({partition for partition in PARTITIONS if topic.leadership[partition].is_known})


def bring_replicas_online(cluster: Cluster, broker: int, topic: int, *, on: frozenset[int]) -> None:
    """handleStateChanges(…, OnlineReplica): brokers are sent the current leadership of all their partitions."""
    if DELETION:
        make_online(cluster, broker, topic, frozenset(PARTITIONS), on=on)
    else:
        partitions = led_partitions(cluster.brokers[broker].controller.topics[topic])
        send_leader_and_isr(cluster, broker, topic, partitions, to=on)


def make_online(cluster: Cluster, broker: int, topic: int, partitions: frozenset[int], *, on: frozenset[int]) -> None:
    """The same with the replicas' statuses: a replica that was New is told nothing."""
    context = cluster.brokers[broker].controller.topics[topic]
    for replica in BROKERS:
        told = frozenset()
        for partition in PARTITIONS:
            status = context.machines.replicas[partition][replica]
            if replica in on and partition in partitions and partition < context.partition_count:
                is_asked = status is not ReplicaStatus.NEW and replica_may_become(status, ReplicaStatus.ONLINE)
                if is_asked and context.leadership[partition].is_known:
                    told = told | {partition}
                context.machines.move_replica(partition, replica, ReplicaStatus.ONLINE)
        send_leader_and_isr(cluster, broker, topic, told, to=frozenset({replica}))


def initialize_replica_states(cluster: Cluster, broker: int, topic: int) -> None:
    """initializeReplicaState: a replica on a dead broker is ReplicaDeletionIneligible, whatever its topic."""
    controller = cluster.brokers[broker].controller
    context = controller.topics[topic]
    for partition in PARTITIONS:
        for replica in BROKERS:
            if partition < context.partition_count:
                is_live = replica in controller.live_brokers
                status = ReplicaStatus.ONLINE if is_live else ReplicaStatus.INELIGIBLE
                context.machines.replicas[partition][replica] = status


def take_replicas_offline(
    cluster: Cluster, broker: int, topic: int, partitions: frozenset[int], *, on: frozenset[int]
) -> None:
    """handleStateChanges(…, OfflineReplica): they leave the ISR, and the other replicas' brokers are told.

    They are told even when nothing changed, with the leader epoch that they have already.
    """
    if DELETION:
        make_offline(cluster, broker, topic, partitions, on=on)
        return
    controller = cluster.brokers[broker].controller
    for gone in BROKERS:
        for partition in PARTITIONS:
            if gone in on and partition in partitions and gone in replicas_of(cluster, broker, topic, partition):
                remove_replica_from_isr(cluster, broker, topic, partition, replica=gone)
    if on:
        told = frozenset(
            {p for p in PARTITIONS if p in partitions and bool(on & replicas_of(cluster, broker, topic, p))}
        )
        send_leader_and_isr(cluster, broker, topic, told, to=controller.live_brokers - on)


def make_offline(cluster: Cluster, broker: int, topic: int, partitions: frozenset[int], *, on: frozenset[int]) -> None:
    """The same with the replicas' statuses; of a topic to be deleted only those are told that go, with StopReplica."""
    controller = cluster.brokers[broker].controller
    context, told = controller.topics[topic], frozenset()
    stopped = [
        frozenset({p for p in PARTITIONS if b in on and p in partitions and may_go_offline(context, p, b)})
        for b in BROKERS
    ]
    for replica in BROKERS:
        for partition in PARTITIONS:
            is_led, state = context.leadership[partition].is_known, cluster.zookeeper.topics[topic].states[partition]
            if partition in stopped[replica] and is_led and state.exists:
                remove_replica_from_isr(cluster, broker, topic, partition, replica=replica)
                context.machines.replicas[partition][replica] = ReplicaStatus.OFFLINE
                told = told | {partition}
            elif bool(OFFLINE_WITHOUT_LEADERSHIP) and partition in stopped[replica] and not is_led:
                context.machines.replicas[partition][replica] = ReplicaStatus.OFFLINE
    if context.machines.to_be_deleted:
        for replica in BROKERS:
            send_stop_replica(cluster, broker, topic, stopped[replica], to=frozenset({replica}), delete=False)
    else:
        send_leader_and_isr(cluster, broker, topic, told, to=controller.live_brokers - on)


def may_go_offline(context: TopicContext, partition: int, replica: int) -> bool:
    """Whether a replica that the context knows may become OfflineReplica."""
    status = context.machines.replicas[partition][replica]
    return partition < context.partition_count and replica_may_become(status, ReplicaStatus.OFFLINE)


def remove_replica_from_isr(cluster: Cluster, broker: int, topic: int, partition: int, *, replica: int) -> None:
    """doRemoveReplicasFromIsr: no leader if it led, out of the ISR unless it is the last; both raise the leader epoch.

    A replica that is not in the ISR changes nothing; neither does anything if the state znode is gone.
    """
    state = cluster.zookeeper.topics[topic].states[partition]
    if state.exists and replica in state.isr:
        leader = None if state.leader == replica else state.leader
        isr = state.isr if state.isr == {replica} else state.isr - {replica}
        set_leader_and_isr(cluster, broker, topic, partition, leader=leader, isr=isr)
    elif state.exists:
        read_leadership(cluster, broker, topic, partition)
