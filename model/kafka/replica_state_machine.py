"""ZkReplicaStateMachine: what happens to partitions when replicas come online or go offline.

A replica is *online* while the context takes its broker for live. Requests to a broker that stops (StopReplica) have
nobody to act on them and are left out.
"""
from __future__ import annotations

from model.kafka.controller_channels import send_leader_and_isr
from model.kafka.domains import BROKERS, PARTITIONS
from model.kafka.partition_state_machine import read_leadership, set_leader_and_isr
from model.kafka.state import Cluster, TopicContext


def led_partitions(topic: TopicContext) -> frozenset[int]:
    """The partitions whose leadership the context knows."""
    return frozenset({partition for partition in PARTITIONS if topic.leadership[partition].is_known})


def bring_replicas_online(cluster: Cluster, broker: int, topic: int, *, on: frozenset[int]) -> None:
    """handleStateChanges(…, OnlineReplica): brokers are sent the current leadership of all their partitions."""
    partitions = led_partitions(cluster.brokers[broker].controller.topics[topic])
    send_leader_and_isr(cluster, broker, topic, partitions, to=on)


def take_replicas_offline(
    cluster: Cluster, broker: int, topic: int, partitions: frozenset[int], *, on: frozenset[int]
) -> None:
    """handleStateChanges(…, OfflineReplica): they leave the ISR, and the other replicas' brokers are told.

    They are told even when nothing changed, with the leader epoch that they have already.
    """
    controller = cluster.brokers[broker].controller
    for gone in BROKERS:
        for partition in PARTITIONS:
            if gone in on and partition in partitions:
                remove_replica_from_isr(cluster, broker, topic, partition, replica=gone)
    if on:
        send_leader_and_isr(cluster, broker, topic, partitions, to=controller.live_brokers - on)


def remove_replica_from_isr(cluster: Cluster, broker: int, topic: int, partition: int, *, replica: int) -> None:
    """doRemoveReplicasFromIsr: no leader if it led, out of the ISR unless it is the last; both raise the leader epoch.

    A replica that is not in the ISR changes nothing.
    """
    state = cluster.zookeeper.topics[topic].states[partition]
    if state.exists and replica in state.isr:
        leader = None if state.leader == replica else state.leader
        isr = state.isr if state.isr == {replica} else state.isr - {replica}
        set_leader_and_isr(cluster, broker, topic, partition, leader=leader, isr=isr)
    else:
        read_leadership(cluster, broker, topic, partition)
