"""What must hold of controllers (P4, P7): the active one knows what ZooKeeper has, and epochs only grow."""
from __future__ import annotations

from model.kafka.controller_context import Step
from model.kafka.domains import PARTITIONS, Broker, Partition, Topic
from model.kafka.state import Cluster
from model.kafka.versions import PIECEMEAL_REMOVAL
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
