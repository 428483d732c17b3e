"""Properties of controllers (P4, P7): the active one agrees with ZooKeeper and sends what it has; epochs only grow."""

from __future__ import annotations

from kwalk.model.kafka.assignment import first_replica
from kwalk.model.kafka.controller.controller_context import (
    BrokerRegistration,
    EventProgress,
    PartitionState,
    ReplicaState,
)
from kwalk.model.kafka.domains import BROKERS, PARTITIONS, TOPICS, Broker, Partition, Topic
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.versions.grain import DELETION, PIECEMEAL_REMOVAL
from kwalk.model.language import always, premise, step, when_quiescent


@when_quiescent(
    symptom="the controller acts on outdated data: clients see an old topic id, changes have no effect",
    log="none: the controller notices nothing until the next failover",
)
def context_agrees(cluster: Cluster, broker: Broker, topic: Topic) -> bool:
    """P4 ContextAgrees: the active controller has ZooKeeper's partitions, topic id and leadership for every topic."""
    controller, znode = cluster.controller_of(broker), cluster.zookeeper.topics[topic]
    premise(cluster.zookeeper.controller == broker and controller.is_active and controller.step is EventProgress.IDLE)
    context = controller.topics[topic]
    return (
        context.partition_count == znode.partition_count
        and context.topic_id == znode.topic_id
        and all(context.assignments[p] == znode.assignments[p] for p in PARTITIONS)
        and all(
            context.leadership[p].leader == znode.states[p].leader
            and context.leadership[p].leader_epoch == znode.states[p].leader_epoch
            for p in PARTITIONS
        )
    )


@step(
    symptom="requests of the present controller are refused as stale",
    log="Ignoring LeaderAndIsr request from controller … since its controller epoch … is old",
)
def controller_epoch_monotone(before: Cluster, after: Cluster, broker: Broker) -> bool:
    """P7 EpochMonotone: neither /controller_epoch nor the highest epoch that a running broker has seen ever falls."""
    premise(before.is_up(broker) and after.is_up(broker))
    seen_before, seen_after = before.brokers[broker].controller_epoch, after.brokers[broker].controller_epoch
    return seen_before <= seen_after and before.zookeeper.controller_epoch <= after.zookeeper.controller_epoch


@step(
    symptom="followers and consumers get FENCED_LEADER_EPOCH or UNKNOWN_LEADER_EPOCH and stop",
    log="Ignoring LeaderAndIsr request … since its associated leader epoch … is smaller than the current …",
)
def leader_epoch_monotone(before: Cluster, after: Cluster, topic: Topic, partition: Partition) -> bool:
    """P7 EpochMonotone: the leader epoch of a partition's state znode never falls while its topic exists.

    Where znodes are removed one after the other, the state znode of a topic to be deleted may go first.
    """
    old, new = before.zookeeper.state_of(topic, partition), after.zookeeper.state_of(topic, partition)
    premise(old.exists and after.zookeeper.topics[topic].exists)
    if not new.exists:
        return bool(PIECEMEAL_REMOVAL) and after.zookeeper.topics[topic].deletion_requested
    assert old.leader_epoch is not None and new.leader_epoch is not None
    return old.leader_epoch <= new.leader_epoch


@when_quiescent(
    symptom="OfflinePartitionsCount is wrong; the next transition of a replica is refused as invalid",
    log="ERROR of state.change.logger: Controller … initiated state change of replica … from … to … failed",
)
def states_agree(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """A partition is OnlinePartition iff its leader is alive, and a replica OnlineReplica iff its broker is.

    This holds for partitions of the active controller that are not to be deleted.
    """
    controller = cluster.controller_of(broker)
    premise(cluster.zookeeper.controller == broker and controller.is_active and controller.step is EventProgress.IDLE)
    context = controller.topics[topic]
    context = context
    premise(bool(DELETION) and partition < context.partition_count and not context.to_be_deleted)
    is_led = context.leadership[partition].leader in controller.live_brokers
    return (context.partition_states[partition] is PartitionState.ONLINE) == is_led and all(
        (context.replica_states[partition][replica] is ReplicaState.ONLINE) == (replica in controller.live_brokers)
        for replica in BROKERS
    )


@always(
    symptom="the controller takes a later reassignment that fails for a failover that fails, and does nothing more; or "
    "deletions are resumed that still wait for a broker",
    log="Error completing reassignment of partition …",
)
def idle_controller_is_done_with_reassignments(cluster: Cluster, broker: Broker) -> bool:
    """Between two events a controller has nothing of the reassignments that the last one was at."""
    controller = cluster.controller_of(broker)
    progress = controller.reassignment
    premise(controller.step is EventProgress.IDLE)
    is_at_none = progress.topic == progress.partition == 0 and not progress.before and not progress.removing
    has_none_left = not any(progress.left[topic] for topic in TOPICS)
    return is_at_none and has_none_left and not progress.in_failover and not progress.then_deletes_on


@when_quiescent(
    symptom="kafka-reassign-partitions.sh --verify says that a reassignment is still in progress, for good",
    log="none: kafka-reassign-partitions.sh --verify prints that it is still in progress",
)
def reassignment_ends(cluster: Cluster, topic: Topic, partition: Partition) -> bool:
    """At last no partition is being reassigned, if all brokers are up."""
    premise(cluster.zookeeper.topics[topic].exists and cluster.zookeeper.broker_ids == frozenset(BROKERS))
    return not cluster.zookeeper.topics[topic].assignments[partition].is_being_reassigned


@step(
    symptom="kafka-reassign-partitions.sh --verify says that a reassignment has failed: the replicas are not those of "
    "its target",
    log="none: kafka-topics.sh --describe shows the replicas of before and those that were added",
)
def reassignment_reaches_its_target(before: Cluster, after: Cluster, topic: Topic, partition: Partition) -> bool:
    """A reassignment ends with its target, or with its origin if a client cancels it."""
    was = before.zookeeper.topics[topic].assignments[partition]
    now = after.zookeeper.topics[topic].assignments[partition]
    premise(was.is_being_reassigned and not now.is_being_reassigned and after.zookeeper.topics[topic].exists)
    return now.replicas == was.target or (before.cancellations < after.cancellations and now.replicas == was.origin)


@step(
    symptom="replicas move although no client has requested it, or after a client has cancelled it",
    log="none: kafka-topics.sh --describe shows replicas that are added",
)
def reassignment_is_requested(before: Cluster, after: Cluster, topic: Topic, partition: Partition) -> bool:
    """A reassignment begins only when a client asks for it."""
    was = before.zookeeper.topics[topic].assignments[partition]
    now = after.zookeeper.topics[topic].assignments[partition]
    premise(not was.is_being_reassigned and now.is_being_reassigned and before.zookeeper.topics[topic].exists)
    return before.reassignments < after.reassignments


@step(
    symptom="a clean stop has the effect of a crash: no leader until the controller notices that the broker is gone",
    log="[KafkaServer id=…] Proceeding to do an unclean shutdown as all the controlled shutdown attempts failed",
)
def stopped_broker_hands_over(
    before: Cluster, after: Cluster, broker: Broker, topic: Topic, partition: Partition
) -> bool:
    """A broker that stops leaves the ISR and no longer leads, if another member of the ISR lives.

    Only where no broker crashes.
    """
    was, now = before.zookeeper.state_of(topic, partition), after.zookeeper.state_of(topic, partition)
    premise(before.is_up(broker) and not after.is_up(broker) and was.exists and was.leader is not None)
    premise(any(other != broker and other in was.isr and before.is_up(other) for other in BROKERS))
    return broker not in now.isr and now.leader is not None and now.leader != broker


@step(
    symptom="some brokers lead more partitions than others after a rolling restart",
    log="none: kafka-topics.sh --describe shows a Leader that is not the first of Replicas, and a live ISR",
)
def next_leader_is_the_first_replica(before: Cluster, after: Cluster, topic: Topic, partition: Partition) -> bool:
    """An election makes the first replica leader that is in the ISR, if all of the ISR lives."""
    was, now = before.zookeeper.state_of(topic, partition), after.zookeeper.state_of(topic, partition)
    premise(now.leader is not None and now.leader != was.leader and now.isr <= after.zookeeper.broker_ids)
    return now.leader == first_replica(partition, after.zookeeper.topics[topic].assignments[partition], now.isr)


@step(
    symptom="a partition's leader in ZooKeeper is not informed: producers get NOT_LEADER_OR_FOLLOWER",
    log="none: state-change.log has the election, and no LeaderAndIsr request to the leader",
)
def new_leader_is_sent_leader_and_isr(
    before: Cluster, after: Cluster, broker: Broker, topic: Topic, partition: Partition
) -> bool:
    """A broker that an election makes leader is sent a LeaderAndIsr at once, if the controller can reach it."""
    was, now = before.zookeeper.state_of(topic, partition), after.zookeeper.state_of(topic, partition)
    premise(now.leader == broker and was.leader != broker)
    premise(
        any(
            after.zookeeper.controller == number
            and after.controller_of(number).epoch == after.zookeeper.controller_epoch
            and after.controller_of(number).registrations[broker] is BrokerRegistration.CURRENT
            for number in BROKERS
        )
    )
    return any(
        wanted is not None and wanted.leader == broker and wanted.leader_epoch == now.leader_epoch
        for wanted in after.brokers[broker].requests.partition_states[partition]
    )


@step(
    symptom="producers with acks=1 write to a broker that is shutting down, and their records are truncated",
    log="none: state-change.log has the election, and no LeaderAndIsr request to the broker that led",
)
def replaced_leader_is_sent_leader_and_isr(
    before: Cluster, after: Cluster, broker: Broker, topic: Topic, partition: Partition
) -> bool:
    """A broker whose leadership an election ends is sent a LeaderAndIsr at once, if the controller can reach it.

    Only where no replica moves: one that is taken away gets StopReplica.
    """
    was, now = before.zookeeper.state_of(topic, partition), after.zookeeper.state_of(topic, partition)
    premise(was.leader == broker and now.leader is not None and now.leader != broker)
    premise(
        after.is_up(broker)
        and any(
            after.zookeeper.controller == number
            and after.controller_of(number).epoch == after.zookeeper.controller_epoch
            and after.controller_of(number).registrations[broker] is BrokerRegistration.CURRENT
            for number in BROKERS
        )
    )
    return any(
        wanted is not None and wanted.leader_epoch == now.leader_epoch
        for wanted in after.brokers[broker].requests.partition_states[partition]
    )
