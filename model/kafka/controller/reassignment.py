"""Reassignment of replicas: KafkaController.onPartitionReassignment, and the requests of clients that lead to it.

Words: the *origin* is the set of replicas before, the *target* the set after; meanwhile the replicas are both, and
`adding` and `removing` are the difference. Steps U, A and B are numbered as in Kafka's own comment on
onPartitionReassignment: U writes the new assignment, A starts the replicas that are added, B follows when all of the
target are in the ISR.

A reassignment is up to four writes, each under the controller epoch only: the assignment (U1), the ISR without replicas
that are not needed any more (U3), the leader epoch or the leader (A1, B3), the ISR without the removed replicas (B4),
and again the assignment (B6). Where another controller can be elected, each is a step of its own: the deposed
controller's next write fails, and what it has begun stays as it is. A leader then keeps the replicas that it got with
its leader epoch, whatever the assignment is by now.

Every write of the assignment sets the whole topic from the controller's context: partitions that a client has added and
the controller has not read yet are lost, and a topic id that a client has erased is written back. The controller does
not wait for the answer to a StopReplica, and sends none to a broker that is down.

Left out: StopReplica without deletion, which only stops the fetcher; the LeaderAndIsr of B1, which adding replicas get
once more, under the leader epoch that they have, if the controller has moved since A2; /admin/reassign_partitions, the
older interface for the same.
"""

from __future__ import annotations

from kwalk.model.kafka.actors import CONTROLLER, NEW_CLIENT
from kwalk.model.kafka.assignment import first_assigned, first_replica, order_towards, reassign_to
from kwalk.model.kafka.controller.controller_channel_manager import (
    send_batch,
    send_leader_and_isr,
    send_stop_replica,
    send_update_metadata,
)
from kwalk.model.kafka.controller.controller_context import Controller, EventProgress, ReplicaState
from kwalk.model.kafka.controller.partition_state_machine import elect_for_reassignment, read_leadership
from kwalk.model.kafka.controller.replica_state_machine import (
    add_stop_replica,
    may_change_replicas,
    remove_replica_from_isr,
    send_batch_of_replicas,
)
from kwalk.model.kafka.controller.topic_deletion_manager import resume_deletion_for_topics, resume_deletions
from kwalk.model.kafka.domains import (
    BROKERS,
    CANCELLATIONS,
    CHOSEN_LISTS,
    EXPIRATIONS,
    FAILOVERS,
    PARTITIONS,
    REASSIGNMENTS,
    RESTARTS,
    TOPICS,
    Broker,
    Partition,
    ReplicaTarget,
    Topic,
)
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.versions.grain import DELETION, REASSIGNMENT, REPLICA_LISTS
from kwalk.model.kafka.versions.reassignment import (
    ADDED_REPLICAS_ARE_NEW,
    CANCELLATIONS_NEED_THE_ISR,
    CTX_EPOCH_ON_BUMP,
    RESIGNATION_CLEARS_THE_CONTEXT,
    RESUMES_TO_DEAD_BROKERS,
)
from kwalk.model.kafka.versions.sessions import ALTER_ISR
from kwalk.model.kafka.zookeeper.kafka_zk_client import check_controller_epoch, write_assignment
from kwalk.model.kafka.zookeeper.znodes import Assignment
from kwalk.model.language import Abort, action, member, require, value


@value
class ReplicaList:
    """What a client wants: two replicas, the preferred one first, or one if both are the same."""

    first: int = member(BROKERS)
    second: int = member(BROKERS)


class ReassignmentFailed(Abort):
    """The topic's znode is gone, or the partition has no state: the event ends there (Kafka: IllegalStateException)."""


def fail(cluster: Cluster, broker: int) -> None:
    """End the event with an exception; a failover fails with it.

    Kafka: KafkaController.maybeTriggerPartitionReassignment, process and elect catch it.
    """
    controller = cluster.controller_of(broker)
    in_failover = controller.reassignment.in_failover
    controller.end_event()
    if in_failover:
        controller.step = EventProgress.FAILOVER_FAILED
    raise ReassignmentFailed


def accepts_reassignment(controller: Controller, topic: int, partition: int) -> bool:
    """Whether a controller can handle a request about a partition that it knows: it considers itself active, is idle.

    The partition may be one that never had a leader.
    """
    is_free = controller.is_active and controller.step is EventProgress.IDLE
    return is_free and partition < controller.topics[topic].partition_count


def accepts_request(controller: Controller, topic: int, partition: int) -> bool:
    """Whether a controller can handle a client's request about the partition now; topics to be deleted are refused.

    Kafka: KafkaController.maybeTriggerPartitionReassignment.
    """
    return accepts_reassignment(controller, topic, partition) and not controller.topics[topic].to_be_deleted


@action(
    by=NEW_CLIENT,
    group="reassignment",
    description="asks controller {broker} to move the replica of {topic}-{partition} from broker {removed} to another",
    source="KafkaController.processApiPartitionReassignment; AlterPartitionReassignments",
)
def alter_partition_reassignments(
    cluster: Cluster, broker: Broker, topic: Topic, partition: Partition, removed: Broker
) -> None:
    """The other broker is the first live one, in the partition's order, without a replica."""
    controller = cluster.controller_of(broker)
    require(REASSIGNMENT and cluster.reassignments < REASSIGNMENTS)
    require(accepts_request(controller, topic, partition))
    current = controller.topics[topic].assignments[partition]
    added = first_assigned(partition, controller.live_brokers - current.replicas)
    require(not REPLICA_LISTS and CHOSEN_LISTS == 0)
    require(removed in current.replicas and not current.is_being_reassigned and added is not None)
    cluster.reassignments += 1
    target = frozenset({b for b in BROKERS if b == added or (b in current.replicas and b != removed)})
    on_partition_reassignment(cluster, broker, topic, partition, reassign_to(current, target, current.preferred))


@action(
    by=NEW_CLIENT,
    group="reassignment",
    description="asks controller {broker} to reassign {topic}-{partition} to {wanted}",
    source="KafkaController.processApiPartitionReassignment, validateReplicas, maybeBuildReassignment",
)
def alter_partition_reassignments_to(
    cluster: Cluster, broker: Broker, topic: Topic, partition: Partition, wanted: ReplicaList
) -> None:
    """A client gives a list of one replica, or of two; it may reorder them, and replaces a reassignment under way.

    Only replicas that are added have to be live.
    """
    controller = cluster.controller_of(broker)
    require(bool(REASSIGNMENT) and bool(REPLICA_LISTS) and cluster.reassignments < REASSIGNMENTS)
    require(accepts_request(controller, topic, partition))
    current = controller.topics[topic].assignments[partition]
    assignment = reassign_to(current, frozenset({wanted.first, wanted.second}), wanted.first)
    require(assignment.adding <= controller.live_brokers)
    cluster.reassignments += 1
    on_partition_reassignment(cluster, broker, topic, partition, assignment)


@action(
    by=NEW_CLIENT,
    description="asks controller {broker} to reassign {topic}-{partition} to list {choice}",
    source="KafkaController.processApiPartitionReassignment, validateReplicas, maybeBuildReassignment",
)
def reassign_to_list(
    cluster: Cluster, broker: Broker, topic: Topic, partition: Partition, choice: ReplicaTarget
) -> None:
    """A client gives one of its lists, which may have the same replicas in another order.

    If nothing is added or removed, the reassignment completes at once, under a higher leader epoch.
    """
    controller = cluster.controller_of(broker)
    require(bool(REASSIGNMENT) and CHOSEN_LISTS > 0 and cluster.reassignments < REASSIGNMENTS)
    require(accepts_request(controller, topic, partition))
    target = cluster.targets[choice]
    assignment = reassign_to(controller.topics[topic].assignments[partition], target.replicas, None)
    require(assignment.adding <= controller.live_brokers)
    cluster.reassignments += 1
    order = order_towards(target.replicas, target.order, controller.topics[topic].orders[partition])
    on_partition_reassignment(cluster, broker, topic, partition, assignment, order=order)


@action(
    by=NEW_CLIENT,
    group="reassignment",
    description="asks controller {broker} to cancel the reassignment of {topic}-{partition}",
    source="KafkaController.processApiPartitionReassignment, maybeBuildReassignment without target replicas",
)
def cancel_partition_reassignment(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> None:
    """A cancellation is a reassignment to the origin, and completes at once; the origin may be dead.

    What is both in the origin and in the target comes first from now on.
    """
    controller = cluster.controller_of(broker)
    require(REASSIGNMENT and cluster.cancellations < CANCELLATIONS)
    require(accepts_request(controller, topic, partition))
    current = controller.topics[topic].assignments[partition]
    require(current.is_being_reassigned)
    require(not CANCELLATIONS_NEED_THE_ISR or bool(current.origin & cluster.zookeeper.state_of(topic, partition).isr))
    cluster.cancellations += 1
    preferred = first_replica(partition, current, current.origin) if REPLICA_LISTS else None
    on_partition_reassignment(cluster, broker, topic, partition, reassign_to(current, current.origin, preferred))


@action(
    by=CONTROLLER,
    group="reassignment",
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
    require(controller.topics[topic].leadership[partition].is_known)
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


def resume_reassignments(cluster: Cluster, broker: int, *, to: frozenset[int], in_failover: bool = False) -> None:
    """Resume reassignments: all after a failover, those to a started broker after its start.

    Kafka: KafkaController.maybeResumeReassignments.
    """
    controller = cluster.controller_of(broker)
    controller.reassignment.in_failover = in_failover
    for topic in TOPICS:
        context = controller.topics[topic]
        left: frozenset[int] = frozenset()
        for partition in PARTITIONS:
            current = context.assignments[partition]
            if in_failover and is_to_be_dropped(controller, current):
                drop_reassignment(cluster, broker, topic, partition)
            elif current.is_being_reassigned and bool(current.target & to):
                left = left | {partition}
        if is_stepwise():
            controller.reassignment.left[topic] = left
        else:
            for partition in sorted(left):
                on_partition_reassignment(cluster, broker, topic, partition, context.assignments[partition])
    if is_stepwise():
        resume_next_reassignment(cluster, broker)
    if controller.step is EventProgress.IDLE:
        controller.reassignment.in_failover = False


def is_to_be_dropped(controller: Controller, assignment: Assignment) -> bool:
    """Whether a failover gives a reassignment up, as a broker of its target is down (KAFKA-4214)."""
    is_dead = not assignment.target <= controller.live_brokers
    return not RESUMES_TO_DEAD_BROKERS and assignment.is_being_reassigned and is_dead


def drop_reassignment(cluster: Cluster, broker: int, topic: int, partition: int) -> None:
    """Give a reassignment up: the partition keeps the replicas of before and those that are added.

    Kafka: KafkaController.removePartitionFromReassignedPartitions (0.10.1).
    """
    context = cluster.controller_of(broker).topics[topic]
    check_controller_epoch(cluster, broker)
    current = context.assignments[partition]
    context.assignments[partition] = Assignment(current.replicas, preferred=current.preferred)
    write_assignment(cluster, broker, topic, partition)


def remembered(before: Assignment, znode: Assignment) -> Assignment:
    """Return what a failover takes for a partition's assignment, of which the context had another one before.

    Up to 0.11 a controller that resigned kept its reassignments, and went on with them when it was elected again.

    Kafka: KafkaController.initializePartitionReassignment (0.10.2).
    """
    if RESIGNATION_CLEARS_THE_CONTEXT or not before.is_being_reassigned or znode.is_being_reassigned:
        return znode
    return reassign_to(znode, before.target, znode.preferred)


def resume_next_reassignment(cluster: Cluster, broker: int) -> None:
    """Begin the next reassignment that is to be resumed, or end the event."""
    controller = cluster.controller_of(broker)
    progress = controller.reassignment
    for topic in TOPICS:
        for partition in PARTITIONS:
            if controller.step is EventProgress.IDLE and partition in progress.left[topic]:
                progress.left[topic] = progress.left[topic] - {partition}
                current = controller.topics[topic].assignments[partition]
                on_partition_reassignment(cluster, broker, topic, partition, current)


def is_reassignment_complete(cluster: Cluster, topic: int, partition: int, assignment: Assignment) -> bool:
    """Whether all of the target are in the ISR, or nothing is being reassigned.

    Kafka: KafkaController.isReassignmentComplete.
    """
    return not assignment.is_being_reassigned or assignment.target <= cluster.zookeeper.state_of(topic, partition).isr


def is_stepwise() -> bool:
    """Whether each write of a reassignment is a step of its own: where another controller can be elected in between."""
    return FAILOVERS > 0 or RESTARTS > 0 or EXPIRATIONS > 0


def on_partition_reassignment(
    cluster: Cluster,
    broker: int,
    topic: int,
    partition: int,
    assignment: Assignment,
    *,
    order: frozenset[int] | None = None,
) -> None:
    """Write the assignment (U1, U2), then either start the added replicas or finish, in further steps.

    A deletion of the topic that is queued has to wait until the reassignment ends. Without an order of the replicas,
    that of before stays.

    Kafka: KafkaController.onPartitionReassignment, updateCurrentReassignment.
    """
    controller = cluster.controller_of(broker)
    before = controller.topics[topic].assignments[partition]
    if DELETION and controller.topics[topic].to_be_deleted:
        controller.topics[topic].ineligible_for_deletion = True
    is_reordered = order is not None and order != controller.topics[topic].orders[partition]
    is_remembered = not RESIGNATION_CLEARS_THE_CONTEXT and is_behind(cluster, topic, partition, assignment)
    if before != assignment or is_reordered or is_remembered:
        check_controller_epoch(cluster, broker)
        check_topic_znode(cluster, broker, topic)
        controller.topics[topic].assignments[partition] = assignment
        if order is not None:
            controller.topics[topic].orders[partition] = order
        write_assignment(cluster, broker, topic, partition)
    controller.reassignment.topic, controller.reassignment.partition = topic, partition
    controller.reassignment.before = before.replicas
    controller.step = EventProgress.ASSIGNMENT_WRITTEN
    if before.replicas <= assignment.replicas:
        controller.step = EventProgress.UNNEEDED_REPLICAS_STOPPED
    if not is_stepwise():
        continue_at_once(cluster, broker, topic, partition)


def is_behind(cluster: Cluster, topic: int, partition: int, assignment: Assignment) -> bool:
    """Whether a topic's znode has another assignment of the partition."""
    return cluster.zookeeper.topics[topic].assignments[partition] != assignment


def check_topic_znode(cluster: Cluster, broker: int, topic: int) -> None:
    """End the event if the topic's znode is gone, so that its assignment cannot be written.

    Kafka: KafkaController.updateReplicaAssignmentForPartition, NONODE.
    """
    if DELETION and not cluster.zookeeper.topics[topic].exists:
        fail(cluster, broker)


def continue_at_once(cluster: Cluster, broker: int, topic: int, partition: int) -> None:
    """Do the further steps of a reassignment, as nothing that matters can come in between."""
    controller = cluster.controller_of(broker)
    if controller.step is EventProgress.ASSIGNMENT_WRITTEN:
        stop_unneeded_replicas(cluster, broker, topic, partition)
    start_or_finish(cluster, broker, topic, partition)
    if controller.step is EventProgress.TARGET_IS_LED:
        stop_old_replicas(cluster, broker, topic, partition)
    if controller.step is EventProgress.OLD_REPLICAS_STOPPED:
        write_target(cluster, broker, topic, partition)


def is_reassigning(cluster: Cluster, broker: int, topic: int, partition: int, step: EventProgress) -> bool:
    """Whether the controller's reassignment of the partition is due for the step after the given one."""
    controller = cluster.controller_of(broker)
    progress = controller.reassignment
    return controller.step is step and progress.topic == topic and progress.partition == partition


@action(
    by=CONTROLLER,
    group="reassignment",
    description="reassigns {topic}-{partition}: stops the replicas that are not needed any more",
    source="KafkaController.updateCurrentReassignment: stopRemovedReplicasOfReassignedPartition",
)
def reassignment_stops_unneeded_replicas(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> None:
    """U3: the reassignment was cancelled, or another one replaced it."""
    require(bool(REASSIGNMENT) and is_stepwise())
    require(is_reassigning(cluster, broker, topic, partition, EventProgress.ASSIGNMENT_WRITTEN))
    stop_unneeded_replicas(cluster, broker, topic, partition)


@action(
    by=CONTROLLER,
    group="reassignment",
    description="reassigns {topic}-{partition}: raises the leader epoch, or moves the leader to a target replica",
    source="KafkaController.onPartitionReassignment: isReassignmentComplete, updateLeaderEpochAndSendRequest, "
    "moveReassignedPartitionLeaderIfRequired",
)
def reassignment_changes_leadership(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> None:
    """A1 and A2, unless all target replicas are in the ISR; then B1 to B3."""
    require(bool(REASSIGNMENT) and is_stepwise())
    require(is_reassigning(cluster, broker, topic, partition, EventProgress.UNNEEDED_REPLICAS_STOPPED))
    start_or_finish(cluster, broker, topic, partition)


@action(
    by=CONTROLLER,
    group="reassignment",
    description="reassigns {topic}-{partition}: stops the old replicas",
    source="KafkaController.onPartitionReassignment: stopRemovedReplicasOfReassignedPartition",
)
def reassignment_stops_old_replicas(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> None:
    """B4 and B5."""
    require(bool(REASSIGNMENT) and is_stepwise())
    require(is_reassigning(cluster, broker, topic, partition, EventProgress.TARGET_IS_LED))
    stop_old_replicas(cluster, broker, topic, partition)


@action(
    by=CONTROLLER,
    group="reassignment",
    description="reassigns {topic}-{partition}: writes the target as the only replicas",
    source="KafkaController.onPartitionReassignment: updateReplicaAssignmentForPartition, "
    "removePartitionFromReassigningPartitions, sendUpdateMetadataRequest",
)
def reassignment_writes_target(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> None:
    """B6 to B8."""
    require(bool(REASSIGNMENT) and is_stepwise())
    require(is_reassigning(cluster, broker, topic, partition, EventProgress.OLD_REPLICAS_STOPPED))
    write_target(cluster, broker, topic, partition)


def stop_unneeded_replicas(cluster: Cluster, broker: int, topic: int, partition: int) -> None:
    """Stop the replicas that the new assignment does not have (U3)."""
    controller = cluster.controller_of(broker)
    replicas = controller.topics[topic].assignments[partition].replicas
    stop_removed_replicas(cluster, broker, topic, partition, controller.reassignment.before - replicas)
    controller.step = EventProgress.UNNEEDED_REPLICAS_STOPPED


def start_or_finish(cluster: Cluster, broker: int, topic: int, partition: int) -> None:
    """Start the added replicas (A1, A2), or replace the replicas by the target in memory and lead them (B2, B3)."""
    controller = cluster.controller_of(broker)
    progress, wanted = controller.reassignment, controller.topics[topic].assignments[partition]
    if is_reassignment_complete(cluster, topic, partition, wanted):
        move_added_replicas(cluster, broker, topic, partition, ReplicaState.ONLINE)
        controller.topics[topic].assignments[partition] = Assignment(wanted.target, preferred=wanted.preferred)
        move_leader_if_required(cluster, broker, topic, partition)
        progress.removing = wanted.removing
        controller.step = EventProgress.TARGET_IS_LED if wanted.removing else EventProgress.OLD_REPLICAS_STOPPED
    else:
        update_leader_epoch_and_send_request(cluster, broker, topic, partition)
        move_added_replicas(cluster, broker, topic, partition, ReplicaState.NEW)
        if may_change_replicas(cluster, broker):
            new = frozenset({partition})
            send_leader_and_isr(cluster, broker, topic, new, to=wanted.adding - progress.before, new=new)
        end_reassignment(cluster, broker)


def move_added_replicas(cluster: Cluster, broker: int, topic: int, partition: int, target: ReplicaState) -> None:
    """Change the states of replicas that are added (A2, B1); only deletions look at them."""
    context = cluster.controller_of(broker).topics[topic]
    if DELETION and may_change_replicas(cluster, broker):
        for replica in sorted(context.assignments[partition].adding):
            context.move_replica(partition, replica, target)


def stop_old_replicas(cluster: Cluster, broker: int, topic: int, partition: int) -> None:
    """Stop the replicas that are removed (B4, B5)."""
    controller = cluster.controller_of(broker)
    stop_removed_replicas(cluster, broker, topic, partition, controller.reassignment.removing)
    controller.step = EventProgress.OLD_REPLICAS_STOPPED


def write_target(cluster: Cluster, broker: int, topic: int, partition: int) -> None:
    """Write the target as the only replicas (B6), and inform clients (B8); B7 is no step here.

    A deletion that has waited is resumed.
    """
    check_controller_epoch(cluster, broker)
    check_topic_znode(cluster, broker, topic)
    write_assignment(cluster, broker, topic, partition)
    live = cluster.controller_of(broker).live_or_shutting_down
    send_update_metadata(cluster, broker, topic, frozenset({partition}), to=live)
    if DELETION:
        cluster.controller_of(broker).topics[topic].ineligible_for_deletion = False
    end_reassignment(cluster, broker)
    if DELETION and cluster.controller_of(broker).step is EventProgress.IDLE:
        resume_deletions(cluster, broker)


def end_reassignment(cluster: Cluster, broker: int) -> None:
    """End the event, or resume the next reassignment; what the event does with deletions comes last."""
    controller = cluster.controller_of(broker)
    progress = controller.reassignment
    controller.step = EventProgress.IDLE
    progress.end()
    if is_stepwise():
        resume_next_reassignment(cluster, broker)
    if controller.step is EventProgress.IDLE:
        in_failover, on = progress.in_failover, progress.then_deletes_on
        progress.in_failover, progress.then_deletes_on = False, frozenset()
        if DELETION and in_failover:
            resume_deletions(cluster, broker)
        elif DELETION and on:
            resume_deletion_for_topics(cluster, broker, on=on)


def move_leader_if_required(cluster: Cluster, broker: int, topic: int, partition: int) -> None:
    """Keep a live leader of the target under a higher leader epoch, or elect one.

    Without leadership the event ends.

    Kafka: KafkaController.moveReassignedPartitionLeaderIfRequired.
    """
    controller = cluster.controller_of(broker)
    context = controller.topics[topic]
    if not context.leadership[partition].is_known:
        fail(cluster, broker)
    leader, replicas = context.leadership[partition].leader, context.assignments[partition].replicas
    if any(b == leader and b in replicas & controller.live_brokers for b in BROKERS):
        update_leader_epoch_and_send_request(cluster, broker, topic, partition)
    else:
        is_led = elect_for_reassignment(cluster, broker, topic, partition)
        if is_led:
            send_leader_and_isr(cluster, broker, topic, frozenset({partition}), to=replicas)


def update_leader_epoch_and_send_request(cluster: Cluster, broker: int, topic: int, partition: int) -> None:
    """Raise the leader epoch in the state znode and send it to the replicas.

    Before 2.4 the context keeps the previous epoch, for whatever it sends later (KAFKA-9212). Without a state znode the
    event ends.

    Kafka: KafkaController.updateLeaderEpochAndSendRequest, updateLeaderEpoch.
    """
    state = cluster.zookeeper.state_of(topic, partition)
    if not state.exists:
        fail(cluster, broker)
    check_controller_epoch(cluster, broker)
    context = cluster.controller_of(broker).topics[topic]
    leadership = context.leadership[partition]
    leader, epoch = leadership.leader, leadership.leader_epoch
    assert state.leader_epoch is not None
    state.leader_epoch += 1
    read_leadership(cluster, broker, topic, partition)
    partitions, replicas = frozenset({partition}), context.assignments[partition].replicas
    added = context.assignments[partition].adding if ADDED_REPLICAS_ARE_NEW else frozenset()
    send_batch(cluster, broker, topic, partitions, to=replicas, new=partitions, new_on=added)
    if not CTX_EPOCH_ON_BUMP:
        leadership.leader, leadership.leader_epoch = leader, epoch
    send_update_metadata(cluster, broker, topic, partitions, to=cluster.controller_of(broker).live_or_shutting_down)


def stop_removed_replicas(cluster: Cluster, broker: int, topic: int, partition: int, removed: frozenset[int]) -> None:
    """Take replicas out of the ISR, inform the others, and delete their logs.

    The StopReplica has the context's leader epoch: for a replica outside the ISR, the one that it has already. Added
    replicas of a partition that never had a leader were not started: nothing is sent.

    Kafka: KafkaController.stopRemovedReplicasOfReassignedPartition.
    """
    if not may_change_replicas(cluster, broker):
        return
    partitions = frozenset({partition})
    replicas = cluster.controller_of(broker).topics[topic].assignments[partition].replicas
    if not cluster.controller_of(broker).topics[topic].leadership[partition].is_known:
        return
    for replica in sorted(removed):
        add_stop_replica(cluster, broker)
        remove_replica_from_isr(cluster, broker, topic, partition, replica=replica)
        send_batch_of_replicas(cluster, broker)
        send_leader_and_isr(cluster, broker, topic, partitions, to=replicas - {replica})
        send_stop_replica(cluster, broker, topic, partitions, to=frozenset({replica}), delete=True)
        if DELETION:
            context = cluster.controller_of(broker).topics[topic]
            context.replica_states[partition][replica] = ReplicaState.NON_EXISTENT


@action(
    by=NEW_CLIENT,
    description="asks controller {broker} to reassign {topic}-{partition} to its replicas with or without {changed}",
    source="KafkaController.processApiPartitionReassignment, maybeBuildReassignment",
)
def change_one_replica(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition, changed: Broker) -> None:
    """A client asks for one replica more, or for one less. One that is added must be live."""
    controller = cluster.controller_of(broker)
    require(bool(REASSIGNMENT) and cluster.reassignments < REASSIGNMENTS)
    require(accepts_request(controller, topic, partition))
    current = controller.topics[topic].assignments[partition]
    target = frozenset({b for b in BROKERS if (b in current.replicas) != (b == changed)})
    require(not current.is_being_reassigned and bool(target) and target - current.replicas <= controller.live_brokers)
    cluster.reassignments += 1
    on_partition_reassignment(cluster, broker, topic, partition, reassign_to(current, target, current.preferred))
