"""Reassignment of replicas: KafkaController.onPartitionReassignment, and the requests of clients that lead to it.

Words: the *origin* is the replicas before, the *target* those after; meanwhile the replicas are both, and `adding` and
`removing` are what they differ by. Steps U, A and B are numbered as in Kafka's own comment on onPartitionReassignment:
U writes down what is wanted, A starts the replicas that are added, B comes when all of the target are in the ISR.

Every write of the assignment sets the whole topic from the controller's context: partitions that a client has added
and the controller has not read yet are lost, and a topic id that a client has erased is back. Nobody waits for the
answer to a StopReplica, and none goes to a broker that is down.

Left out: StopReplica without deletion, which only stops the fetcher; the request that a replica gets once more when it
goes from New to Online; znode /admin/reassign_partitions, the older way to ask for the same.
"""
from __future__ import annotations

from model.kafka.actors import CONTROLLER, NEW_CLIENT
from model.kafka.assignment import first_assigned
from model.kafka.controller_channels import (
    send_batch,
    send_leader_and_isr,
    send_stop_replica,
    send_update_metadata,
)
from model.kafka.controller_context import Controller, Step
from model.kafka.domains import BROKERS, CANCELLATIONS, PARTITIONS, REASSIGNMENTS, Broker, Partition, Topic
from model.kafka.partition_state_machine import elect_for_reassignment, read_leadership
from model.kafka.replica_state_machine import remove_replica_from_isr
from model.kafka.state import Cluster
from model.kafka.versions import ALTER_ISR, CTX_EPOCH_ON_BUMP, REASSIGNMENT
from model.kafka.znodes import Assignment
from model.kafka.zookeeper import check_controller_epoch, write_topic_from_context
from model.language import action, require


def reassign_to(current: Assignment, target: frozenset[int]) -> Assignment:
    """ReplicaAssignment.reassignTo: the origin stays what it was before a reassignment that is under way."""
    replicas = target | current.origin
    return Assignment(replicas, replicas - current.origin, replicas - target)


def accepts_reassignment(controller: Controller, topic: int, partition: int) -> bool:
    """Whether a controller can take a request about the partition now: it thinks that it is active and is free."""
    return controller.is_active and controller.step is Step.IDLE and controller.topics[topic].leadership[
        partition
    ].is_known


@action(
    by=NEW_CLIENT,
    says="asks controller {broker} to move the replica of {topic}-{partition} from broker {removed} to another",
    source="KafkaController.processApiPartitionReassignment; AlterPartitionReassignments",
)
def alter_partition_reassignments(
    cluster: Cluster, broker: Broker, topic: Topic, partition: Partition, removed: Broker
) -> None:
    """The other is the first live broker, in the partition's order, that has no replica yet."""
    controller = cluster.brokers[broker].controller
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
    says="asks controller {broker} to cancel the reassignment of {topic}-{partition}",
    source="KafkaController.processApiPartitionReassignment, maybeBuildReassignment without target replicas",
)
def cancel_partition_reassignment(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> None:
    """A cancellation is a reassignment to the origin, and complete at once."""
    controller = cluster.brokers[broker].controller
    require(REASSIGNMENT and cluster.cancellations < CANCELLATIONS)
    require(accepts_reassignment(controller, topic, partition))
    current = controller.topics[topic].assignments[partition]
    require(current.is_being_reassigned)
    cluster.cancellations += 1
    on_partition_reassignment(cluster, broker, topic, partition, reassign_to(current, current.origin))


@action(
    by=CONTROLLER,
    says="completes the reassignment of {topic}-{partition}",
    source="KafkaController.processPartitionReassignmentIsrChange, before 2.7",
)
def complete_reassignment(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> None:
    """The leader has written an ISR that all of the target are in, and the controller notices.

    Since 2.7 the controller writes the ISR itself, and completes the reassignment in the same event.
    """
    controller = cluster.brokers[broker].controller
    require(not ALTER_ISR)
    require(REASSIGNMENT and cluster.zookeeper.controller == broker)
    require(accepts_reassignment(controller, topic, partition))
    current = controller.topics[topic].assignments[partition]
    require(current.is_being_reassigned and is_reassignment_complete(cluster, topic, partition, current))
    on_partition_reassignment(cluster, broker, topic, partition, current)


def maybe_complete_reassignment(cluster: Cluster, broker: int, topic: int, partition: int) -> None:
    """maybeCompleteReassignment: what a controller does, since 2.7, in the event that has written an ISR."""
    current = cluster.brokers[broker].controller.topics[topic].assignments[partition]
    if current.is_being_reassigned and is_reassignment_complete(cluster, topic, partition, current):
        on_partition_reassignment(cluster, broker, topic, partition, current)


def resume_reassignments(cluster: Cluster, broker: int, topic: int, *, to: frozenset[int]) -> None:
    """maybeResumeReassignments: after a failover all, after a broker's start those whose target includes it."""
    context = cluster.brokers[broker].controller.topics[topic]
    for partition in PARTITIONS:
        current = context.assignments[partition]
        if current.is_being_reassigned and bool(current.target & to) and context.leadership[partition].is_known:
            on_partition_reassignment(cluster, broker, topic, partition, current)


def is_reassignment_complete(cluster: Cluster, topic: int, partition: int, wanted: Assignment) -> bool:
    """isReassignmentComplete: nothing is being reassigned, or all of the target are in the state znode's ISR."""
    return not wanted.is_being_reassigned or wanted.target <= cluster.zookeeper.topics[topic].states[partition].isr


def on_partition_reassignment(
    cluster: Cluster, broker: int, topic: int, partition: int, wanted: Assignment
) -> None:
    """onPartitionReassignment: write down what is wanted, then either start what is added or finish."""
    context = cluster.brokers[broker].controller.topics[topic]
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
    """U1 and U2: ZooKeeper and the context have what is wanted; U3: replicas that nobody wants any more stop."""
    context = cluster.brokers[broker].controller.topics[topic]
    before = context.assignments[partition]
    if before != wanted:
        check_controller_epoch(cluster, broker)
        context.assignments[partition] = wanted
        write_topic_from_context(cluster, broker, topic)
        stop_removed_replicas(cluster, broker, topic, partition, before.replicas - wanted.replicas)


def finish_reassignment(cluster: Cluster, broker: int, topic: int, partition: int, wanted: Assignment) -> None:
    """B2: the target are the replicas; B3: one of them leads; B4 and B5: the others stop; B6: ZooKeeper knows.

    B8: clients get to know.
    """
    cluster.brokers[broker].controller.topics[topic].assignments[partition] = Assignment(wanted.target)
    move_leader_if_required(cluster, broker, topic, partition)
    stop_removed_replicas(cluster, broker, topic, partition, wanted.removing)
    check_controller_epoch(cluster, broker)
    write_topic_from_context(cluster, broker, topic)  # B7 is no step here
    live = cluster.brokers[broker].controller.live_brokers
    send_update_metadata(cluster, broker, topic, frozenset({partition}), to=live)


def move_leader_if_required(cluster: Cluster, broker: int, topic: int, partition: int) -> None:
    """moveReassignedPartitionLeaderIfRequired: a live leader of the target stays, under a higher leader epoch."""
    controller = cluster.brokers[broker].controller
    context = controller.topics[topic]
    leader, replicas = context.leadership[partition].leader, context.assignments[partition].replicas
    if any(b == leader and b in replicas & controller.live_brokers for b in BROKERS):
        update_leader_epoch_and_send_request(cluster, broker, topic, partition)
    else:
        is_led = elect_for_reassignment(cluster, broker, topic, partition)
        if is_led:
            send_leader_and_isr(cluster, broker, topic, frozenset({partition}), to=replicas)


def update_leader_epoch_and_send_request(cluster: Cluster, broker: int, topic: int, partition: int) -> None:
    """updateLeaderEpochAndSendRequest: the leader epoch rises in the state znode, and the replicas are told of it.

    Before 2.4 the context kept the epoch before, for whatever it sends later (KAFKA-9212).
    """
    check_controller_epoch(cluster, broker)
    state = cluster.zookeeper.topics[topic].states[partition]
    context = cluster.brokers[broker].controller.topics[topic]
    leadership = context.leadership[partition]
    leader, epoch = leadership.leader, leadership.leader_epoch
    state.leader_epoch += 1
    read_leadership(cluster, broker, topic, partition)
    partitions, replicas = frozenset({partition}), context.assignments[partition].replicas
    send_batch(cluster, broker, topic, partitions, to=replicas)
    if not CTX_EPOCH_ON_BUMP:
        leadership.leader, leadership.leader_epoch = leader, epoch
    send_update_metadata(cluster, broker, topic, partitions, to=cluster.brokers[broker].controller.live_brokers)


def stop_removed_replicas(
    cluster: Cluster, broker: int, topic: int, partition: int, removed: frozenset[int]
) -> None:
    """stopRemovedReplicasOfReassignedPartition: each leaves the ISR, the others are told, and its log is deleted.

    The StopReplica has the leader epoch of the context: if the replica was not in the ISR, the one that it has already.
    """
    partitions = frozenset({partition})
    replicas = cluster.brokers[broker].controller.topics[topic].assignments[partition].replicas
    for replica in BROKERS:
        if replica in removed:
            remove_replica_from_isr(cluster, broker, topic, partition, replica=replica)
            send_leader_and_isr(cluster, broker, topic, partitions, to=replicas - {replica})
            send_stop_replica(cluster, broker, topic, partitions, to=frozenset({replica}), delete=True)
