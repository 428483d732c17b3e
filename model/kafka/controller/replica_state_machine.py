"""ZkReplicaStateMachine: what happens to partitions when replicas come online or go offline.

A replica is *online* while its broker is live in the context. Requests to a broker that stops (StopReplica) are left
out: they may arrive when it has stopped.

Words: a change of replica states collects requests in a *batch*, and sends it at its end. OfflineReplica adds a
StopReplica request for each replica before it writes an ISR. If that write is refused, as the controller was deposed,
the batch keeps these requests. No change of replica states can begin while the batch of an earlier one is not empty:
Kafka logs an IllegalStateException and continues.
"""

from __future__ import annotations

from kwalk.model.kafka.controller.controller_channel_manager import send_leader_and_isr, send_stop_replica
from kwalk.model.kafka.controller.controller_context import ReplicaState, TopicContext, replica_may_become
from kwalk.model.kafka.controller.partition_state_machine import read_leadership, replicas_of, set_leader_and_isr
from kwalk.model.kafka.domains import BROKERS, PARTITIONS
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.versions.deletion import OFFLINE_WITHOUT_LEADERSHIP
from kwalk.model.kafka.versions.grain import DELETION, OFFLINE_LOGS, UNSENT_BATCH


def led_partitions(topic: TopicContext) -> frozenset[int]:
    """Return the partitions for which the context has leadership."""
    return frozenset({partition for partition in PARTITIONS if topic.leadership[partition].is_known})


def may_change_replicas(cluster: Cluster, broker: int) -> bool:
    """Whether a change of replica states can begin: the last one has sent its requests.

    Kafka: ZkReplicaStateMachine.handleStateChanges, AbstractControllerBrokerRequestBatch.newBatch.
    """
    return not (UNSENT_BATCH and cluster.controller_of(broker).has_unsent_batch)


def add_stop_replica(cluster: Cluster, broker: int) -> None:
    """Add requests to the batch that stay there if a write is refused before they are sent."""
    if UNSENT_BATCH:
        cluster.controller_of(broker).has_unsent_batch = True


def send_batch_of_replicas(cluster: Cluster, broker: int) -> None:
    """Empty the batch, as nothing was refused."""
    cluster.controller_of(broker).has_unsent_batch = False


def bring_replicas_online(cluster: Cluster, broker: int, topic: int, *, on: frozenset[int]) -> None:
    """Send brokers the current leadership of all their partitions, but of offline logs (Kafka: OnlineReplica)."""
    if OFFLINE_LOGS:
        context = cluster.controller_of(broker).topics[topic]
        for replica in sorted(on):
            online = frozenset({partition for partition in PARTITIONS if replica not in context.offline[partition]})
            make_online(cluster, broker, topic, online, on=frozenset({replica}))
    elif DELETION:
        make_online(cluster, broker, topic, frozenset(PARTITIONS), on=on)
    elif may_change_replicas(cluster, broker):
        partitions = led_partitions(cluster.controller_of(broker).topics[topic])
        send_leader_and_isr(cluster, broker, topic, partitions, to=on)


def make_online(cluster: Cluster, broker: int, topic: int, partitions: frozenset[int], *, on: frozenset[int]) -> None:
    """Make replicas OnlineReplica, and send leadership to those that were not New.

    Kafka: ReplicaStateMachine.handleStateChanges.
    """
    if not may_change_replicas(cluster, broker):
        return
    context = cluster.controller_of(broker).topics[topic]
    for replica in BROKERS:
        to_send: frozenset[int] = frozenset()
        for partition in PARTITIONS:
            status = context.replica_states[partition][replica]
            if replica in on and partition in partitions & context.partitions_on(replica):
                is_asked = status is not ReplicaState.NEW and replica_may_become(status, ReplicaState.ONLINE)
                if is_asked and context.leadership[partition].is_known:
                    to_send = to_send | {partition}
                context.move_replica(partition, replica, ReplicaState.ONLINE)
        send_leader_and_isr(cluster, broker, topic, to_send, to=frozenset({replica}))


def initialize_replica_states(cluster: Cluster, broker: int, topic: int) -> None:
    """Set the states: replicas that are not online are ReplicaDeletionIneligible, whatever their topic.

    Kafka: ReplicaStateMachine.initializeReplicaState.
    """
    controller = cluster.controller_of(broker)
    context = controller.topics[topic]
    for replica in BROKERS:
        for partition in sorted(context.partitions_on(replica)):
            is_live = replica in controller.live_brokers
            state = ReplicaState.ONLINE if is_live else ReplicaState.DELETION_INELIGIBLE
            if OFFLINE_LOGS and replica in context.offline[partition]:
                state = ReplicaState.DELETION_INELIGIBLE
            context.replica_states[partition][replica] = state


def take_replicas_offline(
    cluster: Cluster, broker: int, topic: int, partitions: frozenset[int], *, on: frozenset[int]
) -> None:
    """Take replicas out of the ISR and inform the other replicas' brokers (Kafka: OfflineReplica).

    The request is sent even when nothing changed, with the leader epoch that the brokers have already. Brokers are
    taken in the order of their numbers: if all are offline, the last one stays in the ISR. Kafka takes them as a hash
    map of their ids has them: with Scala 2.13 three as 1, 2, 3, five as 5, 1, 2, 3, 4, as seen on 2.8.2
    (ReplicaStateMachine.handleStateChanges).
    """
    if not may_change_replicas(cluster, broker):
        return
    if DELETION:
        make_offline(cluster, broker, topic, partitions, on=on)
        return
    controller = cluster.controller_of(broker)
    add_stop_replica(cluster, broker)
    for gone in BROKERS:
        for partition in PARTITIONS:
            if gone in on and partition in partitions and gone in replicas_of(cluster, broker, topic, partition):
                remove_replica_from_isr(cluster, broker, topic, partition, replica=gone)
    send_batch_of_replicas(cluster, broker)
    if on:
        to_send = frozenset(
            {p for p in PARTITIONS if p in partitions and bool(on & replicas_of(cluster, broker, topic, p))}
        )
        send_leader_and_isr(cluster, broker, topic, to_send, to=controller.live_or_shutting_down - on)


def make_offline(cluster: Cluster, broker: int, topic: int, partitions: frozenset[int], *, on: frozenset[int]) -> None:
    """Take replicas offline, with their states; for a topic to be deleted send StopReplica to these replicas only."""
    controller = cluster.controller_of(broker)
    to_send: frozenset[int]
    context, to_send = controller.topics[topic], frozenset()
    add_stop_replica(cluster, broker)
    stopped = [
        frozenset({p for p in PARTITIONS if b in on and p in partitions and may_go_offline(context, p, b)})
        for b in BROKERS
    ]
    for replica in BROKERS:
        for partition in PARTITIONS:
            is_led, state = context.leadership[partition].is_known, cluster.zookeeper.state_of(topic, partition)
            if partition in stopped[replica] and is_led and state.exists:
                remove_replica_from_isr(cluster, broker, topic, partition, replica=replica)
                context.replica_states[partition][replica] = ReplicaState.OFFLINE
                to_send = to_send | {partition}
            elif bool(OFFLINE_WITHOUT_LEADERSHIP) and partition in stopped[replica] and not is_led:
                context.replica_states[partition][replica] = ReplicaState.OFFLINE
    send_batch_of_replicas(cluster, broker)
    if context.to_be_deleted:
        for replica in BROKERS:
            send_stop_replica(cluster, broker, topic, stopped[replica], to=frozenset({replica}), delete=False)
    else:
        send_leader_and_isr(cluster, broker, topic, to_send, to=controller.live_or_shutting_down - on)


def may_go_offline(context: TopicContext, partition: int, replica: int) -> bool:
    """Whether a replica that the context has may become OfflineReplica."""
    status = context.replica_states[partition][replica]
    return partition in context.partitions_on(replica) and replica_may_become(status, ReplicaState.OFFLINE)


def remove_replica_from_isr(cluster: Cluster, broker: int, topic: int, partition: int, *, replica: int) -> None:
    """Remove a replica from the ISR, and from leadership (Kafka: ZkReplicaStateMachine.doRemoveReplicasFromIsr).

    Either change raises the leader epoch. The last member stays in the ISR. A replica that is not in the ISR changes
    nothing, and nothing changes if the state znode is gone.
    """
    state = cluster.zookeeper.state_of(topic, partition)
    if state.exists and replica in state.isr:
        leader = None if state.leader == replica else state.leader
        isr = state.isr if state.isr == {replica} else state.isr - {replica}
        set_leader_and_isr(cluster, broker, topic, partition, leader=leader, isr=isr)
    elif state.exists:
        read_leadership(cluster, broker, topic, partition)
