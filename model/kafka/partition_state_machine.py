"""ZkPartitionStateMachine: partitions get their first leader, and a new one when theirs is dead.

Words: a partition is *New* while the context knows no leadership of it, *Online* while its leader is live, *Offline*
else. An election reads the state znode, computes, and writes it fenced; a lost race over the znode is retried, so that
it is one step here.
"""
from __future__ import annotations

from model.kafka.assignment import assignment, first_assigned
from model.kafka.controller_channels import send_leader_and_isr
from model.kafka.domains import BROKERS, PARTITIONS, RECORDS
from model.kafka.state import Cluster
from model.kafka.versions import UNCLEAN_ELECTION
from model.kafka.zookeeper import check_controller_epoch


def trigger_online_partition_state_change(cluster: Cluster, broker: int, topic: int) -> None:
    """Try to bring every partition online that the context knows and that is New or Offline."""
    known = cluster.brokers[broker].controller.topics[topic].partition_count
    bring_online(cluster, broker, topic, frozenset({partition for partition in PARTITIONS if partition < known}))


def bring_online(cluster: Cluster, broker: int, topic: int, partitions: frozenset[int]) -> None:
    """handleStateChanges(…, OnlinePartition): those that are New or Offline get a leader, and one request goes out."""
    controller = cluster.brokers[broker].controller
    live, changed = controller.live_brokers, frozenset()
    for partition in PARTITIONS:
        if partition in partitions:
            leadership, is_led = controller.topics[topic].leadership[partition], False
            if not leadership.is_known:
                is_led = initialize_leader_and_isr(cluster, broker, topic, partition)
            elif leadership.leader not in live:
                is_led = elect_offline(cluster, broker, topic, partition)
            if is_led:
                changed = changed | {partition}
    send_leader_and_isr(cluster, broker, topic, changed, to=live)


def initialize_leader_and_isr(cluster: Cluster, broker: int, topic: int, partition: int) -> bool:
    """initializeLeaderAndIsrForPartitions: all live replicas are the ISR, and the first of them leads.

    Whether it did: without a live replica, or when a state znode is there already, the partition stays New.
    """
    live = cluster.brokers[broker].controller.live_brokers
    state, leader = cluster.zookeeper.topics[topic].states[partition], first_assigned(partition, live)
    if leader is None:
        return False
    check_controller_epoch(cluster, broker)
    if state.exists:
        return False
    state.leader_epoch = 0
    keep_leadership(cluster, broker, topic, partition, leader=leader, isr=live)
    return True


def elect_offline(cluster: Cluster, broker: int, topic: int, partition: int) -> bool:
    """offlinePartitionLeaderElection: the first live ISR member leads, the live ISR stays; whether there was one.

    An unclean election then takes the first live replica, which is the whole ISR.
    """
    state, live = cluster.zookeeper.topics[topic].states[partition], cluster.brokers[broker].controller.live_brokers
    live_isr = state.isr & live
    leader = first_assigned(partition, live_isr)
    if UNCLEAN_ELECTION and leader is None:
        leader = first_assigned(partition, live)
        live_isr = frozenset({b for b in BROKERS if b == leader})
    if leader is None or not state.exists:
        return False
    set_leader_and_isr(cluster, broker, topic, partition, leader=leader, isr=live_isr)
    return True


def elect_preferred(cluster: Cluster, broker: int, topic: int, partition: int) -> bool:
    """preferredReplicaPartitionLeaderElection: the first replica leads if it is live and in the ISR."""
    controller, state = cluster.brokers[broker].controller, cluster.zookeeper.topics[topic].states[partition]
    preferred = assignment(partition)[0]
    if preferred not in state.isr & controller.live_brokers or not state.exists:
        return False
    set_leader_and_isr(cluster, broker, topic, partition, leader=preferred, isr=state.isr)
    return True


def elect_for_controlled_shutdown(
    cluster: Cluster, broker: int, topic: int, partition: int, *, stopping: int
) -> bool:
    """controlledShutdownPartitionLeaderElection: the first live ISR member that is not shutting down leads."""
    state = cluster.zookeeper.topics[topic].states[partition]
    isr = state.isr - {stopping}
    leader = first_assigned(partition, isr & cluster.brokers[broker].controller.live_brokers)
    if leader is None or not state.exists:
        return False
    set_leader_and_isr(cluster, broker, topic, partition, leader=leader, isr=isr)
    return True


def set_leader_and_isr(
    cluster: Cluster, broker: int, topic: int, partition: int, *, leader: int | None, isr: frozenset[int]
) -> None:
    """updateLeaderAndIsr: a fenced write of the state znode that raises the leader epoch by one."""
    check_controller_epoch(cluster, broker)
    cluster.zookeeper.topics[topic].states[partition].leader_epoch += 1
    keep_leadership(cluster, broker, topic, partition, leader=leader, isr=isr)


def keep_leadership(
    cluster: Cluster, broker: int, topic: int, partition: int, *, leader: int | None, isr: frozenset[int]
) -> None:
    """The state znode and the context have this leader, and the context the znode's epoch."""
    state = cluster.zookeeper.topics[topic].states[partition]
    state.leader = leader
    state.isr = isr
    read_leadership(cluster, broker, topic, partition)


def read_leadership(cluster: Cluster, broker: int, topic: int, partition: int) -> None:
    """The context takes over what the state znode says."""
    state = cluster.zookeeper.topics[topic].states[partition]
    leadership = cluster.brokers[broker].controller.topics[topic].leadership[partition]
    leadership.leader = state.leader
    leadership.leader_epoch = state.leader_epoch
    if RECORDS > 0:
        leadership.isr = state.isr
