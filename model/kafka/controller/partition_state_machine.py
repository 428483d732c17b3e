"""ZkPartitionStateMachine: elects the first leader of a partition, and a new one when its leader is dead.

Words: a partition is *New* while the context has no leadership for it, *Online* while its leader is live, otherwise
*Offline*. An election reads the state znode, computes, and writes it under the controller epoch. A lost race over the
znode is retried, so that an election is one step here.
"""

from __future__ import annotations

from kwalk.model.kafka.assignment import first_in, first_replica
from kwalk.model.kafka.controller.controller_channel_manager import send_leader_and_isr
from kwalk.model.kafka.controller.controller_context import PartitionState, TopicContext
from kwalk.model.kafka.domains import BROKERS, CHOSEN_LISTS, PARTITIONS, RECORDS
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.versions.grain import DELETION, MIGRATION, OFFLINE_LOGS, UNCLEAN_ELECTION
from kwalk.model.kafka.versions.sessions import SHUTDOWN_PREFERS_THE_FIRST_REPLICA
from kwalk.model.kafka.zookeeper.kafka_zk_client import check_controller_epoch
from kwalk.model.kafka.zookeeper.znodes import PartitionStateZnode


def replicas_of(cluster: Cluster, broker: int, topic: int, partition: int) -> frozenset[int]:
    """Return the partition's replicas in the context, including those that are being added or removed."""
    return cluster.controller_of(broker).topics[topic].assignments[partition].replicas


def first_of(cluster: Cluster, broker: int, topic: int, partition: int, among: frozenset[int]) -> int | None:
    """Return the first of the partition's replicas in the context that is among the given brokers, or None."""
    context = cluster.controller_of(broker).topics[topic]
    if CHOSEN_LISTS > 0:
        return first_in(context.orders[partition], among)
    return first_replica(partition, context.assignments[partition], among)


def live_replicas(cluster: Cluster, broker: int, topic: int, partition: int) -> frozenset[int]:
    """Return the replicas that are online in the context."""
    return replicas_of(cluster, broker, topic, partition) & online_brokers(cluster, broker, topic, partition)


def online_brokers(cluster: Cluster, broker: int, topic: int, partition: int) -> frozenset[int]:
    """Return the brokers that are live in the context and on which this log is not offline.

    Kafka: ControllerContext.isReplicaOnline.
    """
    controller = cluster.controller_of(broker)
    if OFFLINE_LOGS:
        return controller.live_brokers - controller.topics[topic].offline[partition]
    return controller.live_brokers


def trigger_online_partition_state_change(cluster: Cluster, broker: int, topic: int) -> None:
    """Try to bring every known partition online that is New or Offline.

    Kafka: PartitionStateMachine.triggerOnlinePartitionStateChange.
    """
    context = cluster.controller_of(broker).topics[topic]
    wanted = context.partitions
    if DELETION:
        states = (PartitionState.NEW, PartitionState.OFFLINE)
        wanted = frozenset({p for p in sorted(wanted) if context.partition_states[p] in states})
    if not context.to_be_deleted:
        bring_online(cluster, broker, topic, wanted)


def is_new(context: TopicContext, partition: int) -> bool:
    """Whether a partition is NewPartition."""
    if DELETION:
        return context.partition_states[partition] is PartitionState.NEW
    return not context.leadership[partition].is_known


def has_election(context: TopicContext, partition: int, live: frozenset[int]) -> bool:
    """Whether an election is held for a partition that is to be online; one is also held for an OnlinePartition."""
    if DELETION:
        return partition_may_elect(context.partition_states[partition])
    return context.leadership[partition].leader not in live


def partition_may_elect(status: PartitionState) -> bool:
    """Whether the partition's state allows an election."""
    return status in (PartitionState.ONLINE, PartitionState.OFFLINE)


def initialize_partition_states(cluster: Cluster, broker: int, topic: int) -> None:
    """Set the states: New without leadership, Online with an online leader, otherwise Offline.

    Kafka: PartitionStateMachine.initializePartitionState.
    """
    context = cluster.controller_of(broker).topics[topic]
    for partition in sorted(context.partitions):
        if not context.leadership[partition].is_known:
            context.partition_states[partition] = PartitionState.NEW
        elif context.leadership[partition].leader in online_brokers(cluster, broker, topic, partition):
            context.partition_states[partition] = PartitionState.ONLINE
        else:
            context.partition_states[partition] = PartitionState.OFFLINE


def take_partitions_offline(cluster: Cluster, broker: int, topic: int) -> None:
    """Make partitions whose leader is not online OfflinePartition, unless their topic is to be deleted.

    Kafka: ControllerContext.partitionsWithOfflineLeader.
    """
    context = cluster.controller_of(broker).topics[topic]
    for partition in PARTITIONS:
        leadership = context.leadership[partition]
        is_led = not leadership.is_known or leadership.leader in online_brokers(cluster, broker, topic, partition)
        if not is_led and not context.to_be_deleted:
            context.move_partition(partition, PartitionState.OFFLINE)


def bring_online(cluster: Cluster, broker: int, topic: int, partitions: frozenset[int]) -> None:
    """Elect leaders for partitions that are New or Offline, and send one request for all.

    Kafka: PartitionStateMachine.doHandleStateChanges.
    """
    controller = cluster.controller_of(broker)
    changed: frozenset[int]
    created: frozenset[int]
    live, changed, created = controller.live_brokers, frozenset(), frozenset()
    for partition in sorted(partitions):
        context, is_led = controller.topics[topic], False
        if is_new(context, partition):
            is_led = initialize_leader_and_isr(cluster, broker, topic, partition)
            created = created | {partition}
        elif has_election(context, partition, live):
            is_led = elect_offline(cluster, broker, topic, partition)
        if is_led:
            changed = changed | {partition}
            if DELETION:
                context.partition_states[partition] = PartitionState.ONLINE
    send_leader_and_isr(cluster, broker, topic, changed, to=live, new=created)


def initialize_leader_and_isr(cluster: Cluster, broker: int, topic: int, partition: int) -> bool:
    """Create the state znode with all live replicas as ISR and the first of them as leader.

    Return whether it was created: without a live replica, or if the state znode exists, the partition stays New.

    Kafka: PartitionStateMachine.initializeLeaderAndIsrForPartitions.
    """
    live = live_replicas(cluster, broker, topic, partition)
    state, leader = cluster.zookeeper.state_of(topic, partition), first_of(cluster, broker, topic, partition, live)
    if leader is None:
        return False
    check_controller_epoch(cluster, broker)
    if state.exists:
        return False
    if DELETION and not cluster.zookeeper.topics[topic].exists:
        return False
    state.leader_epoch = 0
    if MIGRATION:
        state.controller_epoch = cluster.controller_of(broker).epoch
    write_leadership(cluster, broker, topic, partition, leader=leader, isr=live)
    return True


def is_electable(cluster: Cluster, broker: int, state: PartitionStateZnode) -> bool:
    """Whether a controller may elect a leader: no controller of a later epoch has written the state znode.

    Only one of KRaft has, whose epochs are its own: ZooKeeper's controllers are fenced by theirs.

    Kafka: PartitionStateMachine.doElectLeaderForPartitions: "was already written by another controller".
    """
    return state.exists and not (bool(MIGRATION) and state.controller_epoch > cluster.controller_of(broker).epoch)


def elect_offline(cluster: Cluster, broker: int, topic: int, partition: int, *, unclean: bool = False) -> bool:
    """Elect the first live ISR member, and return whether there is one.

    The live ISR stays. An `unclean` election, which a configuration allows or an administrator asks for, then takes the
    first live replica, which becomes the whole ISR.

    Kafka: PartitionLeaderElectionAlgorithms.offlinePartitionLeaderElection.
    """
    state, live = cluster.zookeeper.state_of(topic, partition), live_replicas(cluster, broker, topic, partition)
    live_isr = state.isr & live
    leader = first_of(cluster, broker, topic, partition, live_isr)
    if (UNCLEAN_ELECTION or unclean) and leader is None:
        leader = first_of(cluster, broker, topic, partition, live)
        live_isr = frozenset({b for b in BROKERS if b == leader})
    if leader is None or not is_electable(cluster, broker, state):
        return False
    set_leader_and_isr(cluster, broker, topic, partition, leader=leader, isr=live_isr)
    return True


def elect_preferred(cluster: Cluster, broker: int, topic: int, partition: int) -> bool:
    """Elect the first replica if it is live and in the ISR.

    Kafka: PartitionLeaderElectionAlgorithms.preferredReplicaPartitionLeaderElection.
    """
    state, replicas = cluster.zookeeper.state_of(topic, partition), replicas_of(cluster, broker, topic, partition)
    preferred = first_of(cluster, broker, topic, partition, replicas)
    live_isr = state.isr & live_replicas(cluster, broker, topic, partition)
    if preferred is None or preferred not in live_isr or not is_electable(cluster, broker, state):
        return False
    set_leader_and_isr(cluster, broker, topic, partition, leader=preferred, isr=state.isr)
    return True


def elect_for_reassignment(cluster: Cluster, broker: int, topic: int, partition: int) -> bool:
    """Elect the first live ISR member among the target replicas.

    Kafka: PartitionLeaderElectionAlgorithms.reassignPartitionLeaderElection.
    """
    state = cluster.zookeeper.state_of(topic, partition)
    live_isr = state.isr & live_replicas(cluster, broker, topic, partition)
    leader = first_of(cluster, broker, topic, partition, live_isr)
    if leader is None or not is_electable(cluster, broker, state):
        return False
    set_leader_and_isr(cluster, broker, topic, partition, leader=leader, isr=state.isr)
    return True


def elect_for_controlled_shutdown(cluster: Cluster, broker: int, topic: int, partition: int, *, stopping: int) -> bool:
    """Elect the first live ISR member that is not shutting down; all that are shutting down leave the ISR.

    Up to 0.10.0 the first is that of the ISR, which has its own order; here any but the first replica.

    Kafka: PartitionLeaderElectionAlgorithms.controlledShutdownPartitionLeaderElection.
    """
    state = cluster.zookeeper.state_of(topic, partition)
    isr = state.isr - {stopping} - cluster.controller_of(broker).shutting_down
    live_isr = isr & live_replicas(cluster, broker, topic, partition)
    leader = first_of(cluster, broker, topic, partition, live_isr)
    others = frozenset({b for b in BROKERS if b in live_isr and b != leader})
    if not SHUTDOWN_PREFERS_THE_FIRST_REPLICA and bool(others):
        leader = first_of(cluster, broker, topic, partition, others)
    if leader is None or not is_electable(cluster, broker, state):
        return False
    set_leader_and_isr(cluster, broker, topic, partition, leader=leader, isr=isr)
    return True


def set_leader_and_isr(
    cluster: Cluster, broker: int, topic: int, partition: int, *, leader: int | None, isr: frozenset[int]
) -> None:
    """Write leader and ISR into the state znode under the next leader epoch.

    Kafka: KafkaZkClient.updateLeaderAndIsr.
    """
    check_controller_epoch(cluster, broker)
    state = cluster.zookeeper.state_of(topic, partition)
    assert state.leader_epoch is not None
    state.leader_epoch += 1
    if MIGRATION:
        state.controller_epoch = cluster.controller_of(broker).epoch
    write_leadership(cluster, broker, topic, partition, leader=leader, isr=isr)


def write_leadership(
    cluster: Cluster, broker: int, topic: int, partition: int, *, leader: int | None, isr: frozenset[int]
) -> None:
    """Write leader and ISR into the state znode, and copy the znode into the context."""
    state = cluster.zookeeper.state_of(topic, partition)
    state.leader = leader
    state.isr = isr
    read_leadership(cluster, broker, topic, partition)


def read_leadership(cluster: Cluster, broker: int, topic: int, partition: int) -> None:
    """Copy the state znode into the context (Kafka: KafkaController.updateLeaderAndIsrCache)."""
    state = cluster.zookeeper.state_of(topic, partition)
    leadership = cluster.controller_of(broker).topics[topic].leadership[partition]
    leadership.leader = state.leader
    leadership.leader_epoch = state.leader_epoch
    if RECORDS > 0:
        leadership.isr = state.isr
