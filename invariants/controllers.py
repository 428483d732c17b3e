"""What must hold of controllers (P4, P7): the active one knows what ZooKeeper has and tells it; epochs only grow."""
from __future__ import annotations

from model.kafka.controller_context import Liveness, Step
from model.kafka.domains import BROKERS, PARTITIONS, Broker, Partition, Topic
from model.kafka.state import Cluster
from model.kafka.state_machines import PartitionStatus, ReplicaStatus
from model.kafka.versions import DELETION, PIECEMEAL_REMOVAL
from model.language import premise, step, when_quiet


@when_quiet(
    symptom="the controller acts on what is no longer so: clients see an old topic id, changes have no effect",
    log="none: the controller believes that all is well until the next failover",
)
def context_agrees(cluster: Cluster, broker: Broker, topic: Topic) -> bool:
    """P4 ContextAgrees: the active controller has ZooKeeper's partitions, topic id and leadership for every topic."""
    controller, znode = cluster.brokers[broker].controller, cluster.zookeeper.topics[topic]
    premise(cluster.zookeeper.controller == broker and controller.is_active and controller.step is Step.IDLE)
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
    """P7 EpochMonotone: neither /controller_epoch nor the epoch that a running broker has seen ever falls."""
    premise(before.is_up(broker) and after.is_up(broker))
    seen_before, seen_after = before.brokers[broker].controller_epoch, after.brokers[broker].controller_epoch
    return seen_before <= seen_after and before.zookeeper.controller_epoch <= after.zookeeper.controller_epoch


@step(
    symptom="followers and consumers meet FENCED_LEADER_EPOCH or UNKNOWN_LEADER_EPOCH and stop",
    log="Ignoring LeaderAndIsr request … since its associated leader epoch … is smaller than the current …",
)
def leader_epoch_monotone(before: Cluster, after: Cluster, topic: Topic, partition: Partition) -> bool:
    """P7 EpochMonotone: the leader epoch of a partition's state znode never falls while its topic is there.

    Where znodes are removed one after the other, that of a topic which somebody wants to delete may go first.
    """
    old, new = before.zookeeper.topics[topic].states[partition], after.zookeeper.topics[topic].states[partition]
    premise(old.exists and after.zookeeper.topics[topic].exists)
    if not new.exists:
        return bool(PIECEMEAL_REMOVAL) and after.zookeeper.topics[topic].deletion_asked
    return old.leader_epoch <= new.leader_epoch


@when_quiet(
    symptom="OfflinePartitionsCount is wrong; what is to happen to a replica next is refused as an invalid transition",
    log="ERROR of state.change.logger: Controller … initiated state change of replica … from … to … failed",
)
def statuses_agree(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """A partition is OnlinePartition exactly if its leader is alive, and a replica OnlineReplica if its broker is.

    So it is for partitions of the active controller that are not to be deleted.
    """
    controller = cluster.brokers[broker].controller
    premise(cluster.zookeeper.controller == broker and controller.is_active and controller.step is Step.IDLE)
    context = controller.topics[topic]
    machines = context.machines
    premise(bool(DELETION) and partition < context.partition_count and not machines.to_be_deleted)
    is_led = context.leadership[partition].leader in controller.live_brokers
    return (machines.partitions[partition] is PartitionStatus.ONLINE) == is_led and all(
        (machines.replicas[partition][replica] is ReplicaStatus.ONLINE) == (replica in controller.live_brokers)
        for replica in BROKERS
    )


@step(
    symptom="a clean stop is as bad as a crash: the partition has no leader until the controller misses the broker",
    log="[KafkaServer id=…] Proceeding to do an unclean shutdown as all the controlled shutdown attempts failed",
)
def stopped_broker_hands_over(
    before: Cluster, after: Cluster, broker: Broker, topic: Topic, partition: Partition
) -> bool:
    """A broker that stops leaves the ISR and leads no more, if another member of the ISR lives.

    Only where no broker crashes.
    """
    was, now = before.zookeeper.topics[topic].states[partition], after.zookeeper.topics[topic].states[partition]
    premise(before.is_up(broker) and not after.is_up(broker) and was.exists and was.leader is not None)
    premise(any(other != broker and other in was.isr and before.is_up(other) for other in BROKERS))
    return broker not in now.isr and now.leader is not None and now.leader != broker


@step(
    symptom="a partition has a leader in ZooKeeper that does not know of it: producers get NOT_LEADER_OR_FOLLOWER",
    log="none: state-change.log has the election, and no LeaderAndIsr request that tells the leader",
)
def new_leader_is_told(before: Cluster, after: Cluster, broker: Broker, topic: Topic, partition: Partition) -> bool:
    """A broker that an election makes leader is sent a LeaderAndIsr at once, if the controller can reach it."""
    was, now = before.zookeeper.topics[topic].states[partition], after.zookeeper.topics[topic].states[partition]
    premise(now.leader == broker and was.leader != broker)
    premise(
        any(
            after.zookeeper.controller == number
            and after.brokers[number].controller.epoch == after.zookeeper.controller_epoch
            and after.brokers[number].controller.liveness[broker] is Liveness.CURRENT
            for number in BROKERS
        )
    )
    return any(
        wanted is not None and wanted.leader == broker and wanted.leader_epoch == now.leader_epoch
        for wanted in after.brokers[broker].requests.columns[partition]
    )
