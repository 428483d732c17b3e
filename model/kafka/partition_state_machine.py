"""ZkPartitionStateMachine: partitions get their first leader, and a new one when theirs is dead.

Words: a partition is *New* while the context knows no leadership of it, *Online* while its leader is live, *Offline*
else. An election reads the state znode, computes, and writes it fenced; a lost race over the znode is retried, so that
it is one step here.
"""
from __future__ import annotations

from model.kafka.assignment import first_assigned
from model.kafka.controller_channels import send_leader_and_isr
from model.kafka.controller_context import TopicContext
from model.kafka.domains import BROKERS, PARTITIONS, RECORDS
from model.kafka.state import Cluster
from model.kafka.state_machines import PartitionStatus
from model.kafka.versions import DELETION, OFFLINE_LOGS, UNCLEAN_ELECTION
from model.kafka.zookeeper import check_controller_epoch


def replicas_of(cluster: Cluster, broker: int, topic: int, partition: int) -> frozenset[int]:
    """The partition's replicas in the context, those that are being added or removed included."""
    return cluster.brokers[broker].controller.topics[topic].assignments[partition].replicas


def live_replicas(cluster: Cluster, broker: int, topic: int, partition: int) -> frozenset[int]:
    """The replicas that the context takes for online."""
    return replicas_of(cluster, broker, topic, partition) & online_brokers(cluster, broker, topic, partition)


def online_brokers(cluster: Cluster, broker: int, topic: int, partition: int) -> frozenset[int]:
    """isReplicaOnline: the brokers that the context takes for live, but those on which this log is offline."""
    controller = cluster.brokers[broker].controller
    if OFFLINE_LOGS:
        return controller.live_brokers - controller.topics[topic].offline[partition]
    return controller.live_brokers


def trigger_online_partition_state_change(cluster: Cluster, broker: int, topic: int) -> None:
    """Try to bring every partition online that the context knows and that is New or Offline."""
    context = cluster.brokers[broker].controller.topics[topic]
    known = context.partition_count
    wanted = frozenset({partition for partition in PARTITIONS if partition < known})
    if DELETION:
        states = (PartitionStatus.NEW, PartitionStatus.OFFLINE)
        wanted = frozenset({p for p in PARTITIONS if p in wanted and context.machines.partitions[p] in states})
    if not context.machines.to_be_deleted:
        bring_online(cluster, broker, topic, wanted)


def is_new(context: TopicContext, partition: int) -> bool:
    """Whether a partition is NewPartition."""
    if DELETION:
        return context.machines.partitions[partition] is PartitionStatus.NEW
    return not context.leadership[partition].is_known


def elects(context: TopicContext, partition: int, live: frozenset[int]) -> bool:
    """Whether a partition that is to be online has an election: an OnlinePartition has one too."""
    if DELETION:
        return partition_may_elect(context.machines.partitions[partition])
    return context.leadership[partition].leader not in live


def partition_may_elect(status: PartitionStatus) -> bool:
    """Whether a partition's status lets it have an election."""
    return status in (PartitionStatus.ONLINE, PartitionStatus.OFFLINE)


def initialize_partition_states(cluster: Cluster, broker: int, topic: int) -> None:
    """initializePartitionState: without leadership New, with a live leader Online, else Offline."""
    controller = cluster.brokers[broker].controller
    context = controller.topics[topic]
    for partition in PARTITIONS:
        if partition < context.partition_count:
            if not context.leadership[partition].is_known:
                context.machines.partitions[partition] = PartitionStatus.NEW
            elif context.leadership[partition].leader in controller.live_brokers:
                context.machines.partitions[partition] = PartitionStatus.ONLINE
            else:
                context.machines.partitions[partition] = PartitionStatus.OFFLINE


def take_partitions_offline(cluster: Cluster, broker: int, topic: int) -> None:
    """handleStateChanges(partitionsWithOfflineLeader, OfflinePartition); queued topics have none."""
    context = cluster.brokers[broker].controller.topics[topic]
    for partition in PARTITIONS:
        leadership = context.leadership[partition]
        is_led = not leadership.is_known or leadership.leader in online_brokers(cluster, broker, topic, partition)
        if not is_led and not context.machines.to_be_deleted:
            context.machines.move_partition(partition, PartitionStatus.OFFLINE)


def bring_online(cluster: Cluster, broker: int, topic: int, partitions: frozenset[int]) -> None:
    """handleStateChanges(…, OnlinePartition): those that are New or Offline get a leader, and one request goes out."""
    controller = cluster.brokers[broker].controller
    live, changed = controller.live_brokers, frozenset()
    for partition in PARTITIONS:
        if partition in partitions:
            context, is_led = controller.topics[topic], False
            if is_new(context, partition):
                is_led = initialize_leader_and_isr(cluster, broker, topic, partition)
            elif elects(context, partition, live):
                is_led = elect_offline(cluster, broker, topic, partition)
            if is_led:
                changed = changed | {partition}
                if DELETION:
                    context.machines.partitions[partition] = PartitionStatus.ONLINE
    send_leader_and_isr(cluster, broker, topic, changed, to=live)


def initialize_leader_and_isr(cluster: Cluster, broker: int, topic: int, partition: int) -> bool:
    """initializeLeaderAndIsrForPartitions: all live replicas are the ISR, and the first of them leads.

    Whether it did: without a live replica, or when a state znode is there already, the partition stays New.
    """
    live = live_replicas(cluster, broker, topic, partition)
    state, leader = cluster.zookeeper.topics[topic].states[partition], first_assigned(partition, live)
    if leader is None:
        return False
    check_controller_epoch(cluster, broker)
    if state.exists:
        return False
    if DELETION and not cluster.zookeeper.topics[topic].exists:
        return False
    state.leader_epoch = 0
    keep_leadership(cluster, broker, topic, partition, leader=leader, isr=live)
    return True


def elect_offline(cluster: Cluster, broker: int, topic: int, partition: int) -> bool:
    """offlinePartitionLeaderElection: the first live ISR member leads, the live ISR stays; whether there was one.

    An unclean election then takes the first live replica, which is the whole ISR.
    """
    state, live = cluster.zookeeper.topics[topic].states[partition], live_replicas(cluster, broker, topic, partition)
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
    state, replicas = cluster.zookeeper.topics[topic].states[partition], replicas_of(cluster, broker, topic, partition)
    preferred = first_assigned(partition, replicas)
    live_isr = state.isr & live_replicas(cluster, broker, topic, partition)
    if preferred is None or preferred not in live_isr or not state.exists:
        return False
    set_leader_and_isr(cluster, broker, topic, partition, leader=preferred, isr=state.isr)
    return True


def elect_for_reassignment(cluster: Cluster, broker: int, topic: int, partition: int) -> bool:
    """reassignPartitionLeaderElection: the first live ISR member among the replicas, which are the target by now."""
    state = cluster.zookeeper.topics[topic].states[partition]
    leader = first_assigned(partition, state.isr & live_replicas(cluster, broker, topic, partition))
    if leader is None or not state.exists:
        return False
    set_leader_and_isr(cluster, broker, topic, partition, leader=leader, isr=state.isr)
    return True


def elect_for_controlled_shutdown(
    cluster: Cluster, broker: int, topic: int, partition: int, *, stopping: int
) -> bool:
    """controlledShutdownPartitionLeaderElection: the first live ISR member that is not shutting down leads."""
    state = cluster.zookeeper.topics[topic].states[partition]
    isr = state.isr - {stopping}
    leader = first_assigned(partition, isr & live_replicas(cluster, broker, topic, partition))
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
