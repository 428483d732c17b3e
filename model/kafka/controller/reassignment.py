"""Reassignment of replicas: KafkaController.onPartitionReassignment, and the requests of clients that lead to it.

Words: the *origin* is the set of replicas before, the *target* the set after; meanwhile the replicas are both, and
`adding` and `removing` are the difference. Steps U, A and B are numbered as in Kafka's own comment on
onPartitionReassignment: U writes the new assignment, A starts the replicas that are added, B follows when all of the
target are in the ISR.

Every write of the assignment sets the whole topic from the controller's context: partitions that a client has added and
the controller has not read yet are lost, and a topic id that a client has erased is written back. The controller does
not wait for the answer to a StopReplica, and sends none to a broker that is down.

Left out: StopReplica without deletion, which only stops the fetcher; the second request that a replica gets when it
goes from New to Online; /admin/reassign_partitions, the older interface for the same.
"""
from __future__ import annotations

from kwalk.model.kafka.actors import CONTROLLER, NEW_CLIENT
from kwalk.model.kafka.assignment import first_assigned
from kwalk.model.kafka.controller.controller_channel_manager import (
    send_batch,
    send_leader_and_isr,
    send_stop_replica,
    send_update_metadata,
)
from kwalk.model.kafka.controller.controller_context import Controller, EventProgress
from kwalk.model.kafka.controller.partition_state_machine import elect_for_reassignment, read_leadership
from kwalk.model.kafka.controller.replica_state_machine import remove_replica_from_isr
from kwalk.model.kafka.domains import BROKERS, CANCELLATIONS, PARTITIONS, REASSIGNMENTS, Broker, Partition, Topic
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.versions import ALTER_ISR, CTX_EPOCH_ON_BUMP, REASSIGNMENT
from kwalk.model.kafka.zookeeper.kafka_zk_client import check_controller_epoch, write_topic_from_context
from kwalk.model.kafka.zookeeper.znodes import Assignment
from kwalk.model.language import action, require


def reassign_to(current: Assignment, target: frozenset[int]) -> Assignment:
    """Return the assignment during a reassignment to the target (Kafka: ReplicaAssignment.reassignTo).

    The origin is that of before a reassignment that is under way.
    """
    replicas = target | current.origin
    return Assignment(replicas, replicas - current.origin, replicas - target)


def accepts_reassignment(controller: Controller, topic: int, partition: int) -> bool:
    """Whether a controller can handle a request about the partition now: it considers itself active and is idle."""
    return controller.is_active and controller.step is EventProgress.IDLE and controller.topics[topic].leadership[
        partition
    ].is_known


@action(
    by=NEW_CLIENT,
    description="asks controller {broker} to move the replica of {topic}-{partition} from broker {removed} to another",
    source="KafkaController.processApiPartitionReassignment; AlterPartitionReassignments",
)
def alter_partition_reassignments(
    cluster: Cluster, broker: Broker, topic: Topic, partition: Partition, removed: Broker
) -> None:
    """The other broker is the first live one, in the partition's order, without a replica."""
    controller = cluster.controller_of(broker)
    require(REASSIGNMENT and cluster.reassignments < REASSIGNMENTS)
    require(accepts_reassignment(controller, topic, partition))
    current = controller.topics[topic].assignments[partition]
    added = first_assigned(partition, controller.live_brokers - current.replicas)
    require(removed in current.replicas and not current.is_being_reassigned and added is not None)
    cluster.reassignments += 1
    target = frozenset({b for b in BROKERS if b == added or (b in current.replicas and b != removed)})
    on_partition_reassignment(cluster, broker, topic, partition, reassign_to(current, target))


@action(
    by=NEW_CLIENT,
    description="asks controller {broker} to cancel the reassignment of {topic}-{partition}",
    source="KafkaController.processApiPartitionReassignment, maybeBuildReassignment without target replicas",
)
def cancel_partition_reassignment(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> None:
    """A cancellation is a reassignment to the origin, and completes at once."""
    controller = cluster.controller_of(broker)
    require(REASSIGNMENT and cluster.cancellations < CANCELLATIONS)
    require(accepts_reassignment(controller, topic, partition))
    current = controller.topics[topic].assignments[partition]
    require(current.is_being_reassigned)
    cluster.cancellations += 1
    on_partition_reassignment(cluster, broker, topic, partition, reassign_to(current, current.origin))


@action(
    by=CONTROLLER,
    description="completes the reassignment of {topic}-{partition}",
    source="KafkaController.processPartitionReassignmentIsrChange, before 2.7",
)
def complete_reassignment(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> None:
    """The leader has written an ISR that contains the target, and the controller notices.

    Since 2.7 the controller writes the ISR itself, and completes the reassignment in the same event.
    """
    controller = cluster.controller_of(broker)
    require(not ALTER_ISR)
    require(REASSIGNMENT and cluster.zookeeper.controller == broker)
    require(accepts_reassignment(controller, topic, partition))
    current = controller.topics[topic].assignments[partition]
    require(current.is_being_reassigned and is_reassignment_complete(cluster, topic, partition, current))
    on_partition_reassignment(cluster, broker, topic, partition, current)


def maybe_complete_reassignment(cluster: Cluster, broker: int, topic: int, partition: int) -> None:
    """Complete the reassignment in the event that wrote the ISR, since 2.7.

    Kafka: KafkaController.maybeCompleteReassignment.
    """
    current = cluster.controller_of(broker).topics[topic].assignments[partition]
    if current.is_being_reassigned and is_reassignment_complete(cluster, topic, partition, current):
        on_partition_reassignment(cluster, broker, topic, partition, current)


def resume_reassignments(cluster: Cluster, broker: int, topic: int, *, to: frozenset[int]) -> None:
    """Resume reassignments: all after a failover, those to a started broker after its start.

    Kafka: KafkaController.maybeResumeReassignments.
    """
    context = cluster.controller_of(broker).topics[topic]
    for partition in PARTITIONS:
        current = context.assignments[partition]
        if current.is_being_reassigned and bool(current.target & to) and context.leadership[partition].is_known:
            on_partition_reassignment(cluster, broker, topic, partition, current)


def is_reassignment_complete(cluster: Cluster, topic: int, partition: int, wanted: Assignment) -> bool:
    """Whether all of the target are in the ISR, or nothing is being reassigned.

    Kafka: KafkaController.isReassignmentComplete.
    """
    return not wanted.is_being_reassigned or wanted.target <= cluster.zookeeper.state_of(topic, partition).isr


def on_partition_reassignment(
    cluster: Cluster, broker: int, topic: int, partition: int, wanted: Assignment
) -> None:
    """Write the assignment, then either start the added replicas or finish.

    Kafka: KafkaController.onPartitionReassignment.
    """
    context = cluster.controller_of(broker).topics[topic]
    before = context.assignments[partition].replicas
    update_current_reassignment(cluster, broker, topic, partition, wanted)
    if is_reassignment_complete(cluster, topic, partition, wanted):
        finish_reassignment(cluster, broker, topic, partition, wanted)
    else:
        update_leader_epoch_and_send_request(cluster, broker, topic, partition)  # A1
        send_leader_and_isr(cluster, broker, topic, frozenset({partition}), to=wanted.adding - before)  # A2


def update_current_reassignment(
    cluster: Cluster, broker: int, topic: int, partition: int, wanted: Assignment
) -> None:
    """Write the assignment to ZooKeeper and the context (U1, U2), and stop replicas that are not in it (U3).

    Kafka: KafkaController.updateCurrentReassignment.
    """
    context = cluster.controller_of(broker).topics[topic]
    before = context.assignments[partition]
    if before != wanted:
        check_controller_epoch(cluster, broker)
        context.assignments[partition] = wanted
        write_topic_from_context(cluster, broker, topic)
        stop_removed_replicas(cluster, broker, topic, partition, before.replicas - wanted.replicas)


def finish_reassignment(cluster: Cluster, broker: int, topic: int, partition: int, wanted: Assignment) -> None:
    """Replace the replicas by the target, and remove the others (Kafka: KafkaController.onPartitionReassignment).

    B2 sets the replicas, B3 makes one of them leader, B4 and B5 stop the others, B6 writes ZooKeeper, B8 informs
    clients.
    """
    cluster.controller_of(broker).topics[topic].assignments[partition] = Assignment(wanted.target)
    move_leader_if_required(cluster, broker, topic, partition)
    stop_removed_replicas(cluster, broker, topic, partition, wanted.removing)
    check_controller_epoch(cluster, broker)
    write_topic_from_context(cluster, broker, topic)  # B7 is no step here
    live = cluster.controller_of(broker).live_brokers
    send_update_metadata(cluster, broker, topic, frozenset({partition}), to=live)


def move_leader_if_required(cluster: Cluster, broker: int, topic: int, partition: int) -> None:
    """Keep a live leader of the target under a higher leader epoch, or elect one.

    Kafka: KafkaController.moveReassignedPartitionLeaderIfRequired.
    """
    controller = cluster.controller_of(broker)
    context = controller.topics[topic]
    leader, replicas = context.leadership[partition].leader, context.assignments[partition].replicas
    if any(b == leader and b in replicas & controller.live_brokers for b in BROKERS):
        update_leader_epoch_and_send_request(cluster, broker, topic, partition)
    else:
        is_led = elect_for_reassignment(cluster, broker, topic, partition)
        if is_led:
            send_leader_and_isr(cluster, broker, topic, frozenset({partition}), to=replicas)


def update_leader_epoch_and_send_request(cluster: Cluster, broker: int, topic: int, partition: int) -> None:
    """Raise the leader epoch in the state znode and send it to the replicas.

    Before 2.4 the context keeps the previous epoch, for whatever it sends later (KAFKA-9212).

    Kafka: KafkaController.updateLeaderEpochAndSendRequest.
    """
    check_controller_epoch(cluster, broker)
    state = cluster.zookeeper.state_of(topic, partition)
    context = cluster.controller_of(broker).topics[topic]
    leadership = context.leadership[partition]
    leader, epoch = leadership.leader, leadership.leader_epoch
    assert state.leader_epoch is not None
    state.leader_epoch += 1
    read_leadership(cluster, broker, topic, partition)
    partitions, replicas = frozenset({partition}), context.assignments[partition].replicas
    send_batch(cluster, broker, topic, partitions, to=replicas)
    if not CTX_EPOCH_ON_BUMP:
        leadership.leader, leadership.leader_epoch = leader, epoch
    send_update_metadata(cluster, broker, topic, partitions, to=cluster.controller_of(broker).live_brokers)


def stop_removed_replicas(
    cluster: Cluster, broker: int, topic: int, partition: int, removed: frozenset[int]
) -> None:
    """Take replicas out of the ISR, inform the others, and delete their logs.

    The StopReplica has the context's leader epoch: for a replica outside the ISR, the one that it has already.

    Kafka: KafkaController.stopRemovedReplicasOfReassignedPartition.
    """
    partitions = frozenset({partition})
    replicas = cluster.controller_of(broker).topics[topic].assignments[partition].replicas
    for replica in sorted(removed):
        remove_replica_from_isr(cluster, broker, topic, partition, replica=replica)
        send_leader_and_isr(cluster, broker, topic, partitions, to=replicas - {replica})
        send_stop_replica(cluster, broker, topic, partitions, to=frozenset({replica}), delete=True)
