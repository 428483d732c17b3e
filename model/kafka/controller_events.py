"""The active controller's events about topics and brokers, and its periodic preferred leader election.

A module that is not active any more takes each event off its queue and does nothing. A read in a handler arms the
watch that brought the event.
"""
from __future__ import annotations

from model.kafka.actors import CONTROLLER
from model.kafka.assignment import first_assigned
from model.kafka.controller_channels import remove_channels, send_leader_and_isr, send_update_metadata
from model.kafka.controller_context import ControllerEvent, EventKind, Liveness, Step, TopicContext
from model.kafka.domains import BROKERS, PARTITIONS, TOPICS, Broker, Topic
from model.kafka.inter_broker_protocol import found_topic_id
from model.kafka.partition_creation import on_new_partition_creation
from model.kafka.partition_state_machine import (
    elect_preferred,
    online_brokers,
    replicas_of,
    take_partitions_offline,
    trigger_online_partition_state_change,
)
from model.kafka.reassignment import resume_reassignments
from model.kafka.replica_state_machine import bring_replicas_online, led_partitions, take_replicas_offline
from model.kafka.state import Cluster
from model.kafka.topic_deletion import fail_replica_deletion, resume_deletion_for_topics
from model.kafka.topic_ids import is_any_topic_id_shared, restore_topic_id, set_missing_topic_id
from model.kafka.versions import (
    DELETION,
    PREFERRED_ELECTION,
    REASSIGNMENT,
    RESTORE_FROM_CACHE,
    RESTORE_ON_DELETE,
    SESSIONS,
)
from model.kafka.zookeeper import check_controller_epoch, write_topic_from_context
from model.language import action, require


@action(
    by=CONTROLLER,
    says="handles TopicChange: lists the topics and reads the new ones",
    source="KafkaController.processTopicChange: getAllTopicsInCluster, getReplicaAssignmentAndTopicIdForTopics",
)
def topic_change(cluster: Cluster, broker: Broker) -> None:
    """New are the topics that the context lacks."""
    controller, zookeeper = cluster.brokers[broker].controller, cluster.zookeeper
    require(controller.is_at(EventKind.TOPIC_CHANGE))
    controller.events.pop()
    if not controller.is_active:
        return
    zookeeper.watches[broker].topics = True
    if DELETION:
        remove_missing_topics(cluster, broker)
    for topic in TOPICS:
        if zookeeper.topics[topic].exists and controller.topics[topic].partition_count == 0:
            zookeeper.watches[broker].topic[topic] = True
            controller.new_topics = controller.new_topics | {topic}
            controller.topics[topic].partition_count = zookeeper.topics[topic].partition_count
            controller.topics[topic].assignments = zookeeper.topics[topic].assignments
            controller.topics[topic].topic_id = found_topic_id(broker, zookeeper.topics[topic].topic_id)
    if controller.new_topics:
        controller.step = Step.NEW_TOPICS_READ


@action(
    by=CONTROLLER,
    says="goes on with TopicChange: mints ids for new topics that have none, creates their partitions",
    source="KafkaController.processTopicIds, onNewPartitionCreation; KafkaZkClient.setTopicIds",
)
def topic_change_creates_partitions(cluster: Cluster, broker: Broker) -> None:
    """The id is written over whatever the znode holds by now, then every new partition gets its first leader.

    If a new topic has the id of another, the event ends half done: no partition is created. Kafka's context then keeps
    the names, and looks at those topics again when their znodes change; here also at the next TopicChange.
    """
    controller = cluster.brokers[broker].controller
    require(controller.step is Step.NEW_TOPICS_READ)
    found = controller.new_topics
    controller.step, controller.new_topics = Step.IDLE, frozenset()
    for topic in TOPICS:
        if topic in found:
            set_missing_topic_id(cluster, broker, topic)
    is_refused = is_any_topic_id_shared(cluster, broker)
    for topic in TOPICS:
        if topic in found and is_refused:
            controller.topics[topic].remove(completed=False)
        elif topic in found:
            create_new_partitions(cluster, broker, topic)


def create_new_partitions(cluster: Cluster, broker: int, topic: int) -> None:
    """All partitions of a topic that is new to the context."""
    known = cluster.brokers[broker].controller.topics[topic].partition_count
    on_new_partition_creation(cluster, broker, topic, frozenset({p for p in PARTITIONS if p < known}))


def remove_missing_topics(cluster: Cluster, broker: int) -> None:
    """Topics of the context that are gone from ZooKeeper are forgotten; no broker is told."""
    for topic in TOPICS:
        context = cluster.brokers[broker].controller.topics[topic]
        if context.partition_count > 0 and not cluster.zookeeper.topics[topic].exists:
            context.remove(completed=False)


@action(
    by=CONTROLLER,
    says="handles PartitionModifications of {topic}: creates partitions that it does not know",
    source="KafkaController.processPartitionModifications, onNewPartitionCreation",
)
def partition_modifications(cluster: Cluster, broker: Broker, topic: Topic) -> None:
    """The handler adds what the context lacks. It never looks at topic_id."""
    controller, znode = cluster.brokers[broker].controller, cluster.zookeeper.topics[topic]
    require(controller.step is Step.IDLE)
    require(controller.events.starts_with(ControllerEvent(EventKind.PARTITION_MODIFICATIONS, topic)))
    controller.events.pop()
    if not controller.is_active:
        return
    cluster.zookeeper.watches[broker].topic[topic] = znode.exists
    known = controller.topics[topic].partition_count
    added = frozenset({p for p in PARTITIONS if known <= p < znode.partition_count})
    if bool(added) and controller.topics[topic].machines.to_be_deleted:
        restore_assignment(cluster, broker, topic)
    elif added:
        controller.topics[topic].partition_count = znode.partition_count
        for partition in PARTITIONS:
            if partition in added:
                controller.topics[topic].assignments[partition] = znode.assignments[partition]
        if RESTORE_FROM_CACHE and znode.topic_id is None and controller.topics[topic].topic_id is not None:
            controller.step, controller.new_topics = Step.PARTITIONS_READ, frozenset({topic})
        else:
            on_new_partition_creation(cluster, broker, topic, added)


@action(
    by=CONTROLLER,
    says="goes on with PartitionModifications: writes its topic id back, creates the partitions",
    source="apache/kafka PR 13111: KafkaController.processPartitionModifications",
)
def partition_modifications_restores_topic_id(cluster: Cluster, broker: Broker) -> None:
    """A fix that no release has: the znode that was read has no id, and the context has one."""
    controller = cluster.brokers[broker].controller
    require(RESTORE_FROM_CACHE and controller.step is Step.PARTITIONS_READ)
    found = controller.new_topics
    controller.step, controller.new_topics = Step.IDLE, frozenset()
    for topic in TOPICS:
        if topic in found:
            restore_topic_id(cluster, broker, topic)
            trigger_online_partition_state_change(cluster, broker, topic)


def restore_assignment(cluster: Cluster, broker: int, topic: int) -> None:
    """restorePartitionReplicaAssignment: the znode of a topic to be deleted gets back to what the context has.

    Kafka takes of the context only partitions that have znodes below the topic's; here those without are kept.
    """
    if RESTORE_ON_DELETE:
        check_controller_epoch(cluster, broker)
        write_topic_from_context(cluster, broker, topic)


def unseen_brokers(cluster: Cluster, broker: int) -> frozenset[int]:
    """The brokers of /brokers/ids that the context does not have."""
    liveness = cluster.brokers[broker].controller.liveness
    return frozenset({b for b in BROKERS if cluster.is_registered(b) and liveness[b] is Liveness.GONE})


def lost_brokers(cluster: Cluster, broker: int) -> frozenset[int]:
    """The brokers of the context whose registration is not in /brokers/ids any more."""
    liveness = cluster.brokers[broker].controller.liveness
    expired = frozenset({b for b in BROKERS if liveness[b] is Liveness.CURRENT and not cluster.is_registered(b)})
    stale = frozenset({b for b in BROKERS if liveness[b] is Liveness.STALE})
    return stale | expired if SESSIONS else stale


@action(
    by=CONTROLLER,
    says="handles BrokerChange: new brokers get LeaderAndIsr for all their partitions",
    source="KafkaController.processBrokerChange, onBrokerStartup",
)
def broker_startup(cluster: Cluster, broker: Broker) -> None:
    """New brokers come first. The event stays at the head while lost ones are left, and goes when nothing is."""
    controller = cluster.brokers[broker].controller
    require(controller.is_at(EventKind.BROKER_CHANGE))
    new = unseen_brokers(cluster, broker)
    require(not controller.is_active or bool(new) or not lost_brokers(cluster, broker))
    if not controller.is_active:
        controller.events.pop()
        return
    cluster.zookeeper.watches[broker].broker_ids = True
    if not lost_brokers(cluster, broker):
        controller.events.pop()
    if new:
        for other in BROKERS:
            if other in new:
                controller.liveness[other] = Liveness.CURRENT
        for topic in TOPICS:
            controller.topics[topic].forget_offline(new)
        for topic in TOPICS:
            send_update_metadata(cluster, broker, topic, led_partitions(controller.topics[topic]), to=new)
            bring_replicas_online(cluster, broker, topic, on=new)
            trigger_online_partition_state_change(cluster, broker, topic)
            if REASSIGNMENT:
                resume_reassignments(cluster, broker, topic, to=new)
        if DELETION:
            resume_deletion_for_topics(cluster, broker)


@action(
    by=CONTROLLER,
    says="handles BrokerChange: lost brokers leave the ISR, their partitions get other leaders",
    source="KafkaController.processBrokerChange, onBrokerFailure",
)
def broker_failure(cluster: Cluster, broker: Broker) -> None:
    """A bounced broker, back under another epoch, is lost first and new next: the event then stays at the head."""
    controller = cluster.brokers[broker].controller
    require(controller.is_at(EventKind.BROKER_CHANGE) and controller.is_active)
    lost = lost_brokers(cluster, broker)
    require(bool(lost) and not unseen_brokers(cluster, broker))
    cluster.zookeeper.watches[broker].broker_ids = True
    remove_channels(cluster, broker, to=lost)
    for other in BROKERS:
        if other in lost:
            controller.liveness[other] = Liveness.GONE
    for topic in TOPICS:
        controller.topics[topic].forget_offline(lost)
    if not unseen_brokers(cluster, broker):
        controller.events.pop()
    for topic in TOPICS:
        if DELETION:
            take_partitions_offline(cluster, broker, topic)
        trigger_online_partition_state_change(cluster, broker, topic)
        led = led_partitions(controller.topics[topic]) if not DELETION else kept_partitions(controller.topics[topic])
        take_replicas_offline(cluster, broker, topic, led, on=lost)
    if DELETION:
        fail_replica_deletion(cluster, broker, on=lost)


def kept_partitions(context: TopicContext) -> frozenset[int]:
    """The partitions of a topic, unless it is queued for deletion."""
    known = context.partition_count if not context.machines.to_be_deleted else 0
    return frozenset({partition for partition in PARTITIONS if partition < known})


@action(
    by=CONTROLLER,
    says="moves leaders back to preferred replicas",
    source="KafkaController.processAutoPreferredReplicaLeaderElection, checkAndTriggerAutoLeaderRebalance",
)
def auto_preferred_election(cluster: Cluster, broker: Broker) -> None:
    """Some time after a failover, and then periodically: more than 10 % of a broker's partitions are led elsewhere."""
    require(PREFERRED_ELECTION)
    controller = cluster.brokers[broker].controller
    require(controller.is_active and controller.step is Step.IDLE)
    require(any(imbalanced(cluster, broker, t, p) for t in TOPICS for p in PARTITIONS))
    require(not any(controller.topics[t].assignments[p].is_being_reassigned for t in TOPICS for p in PARTITIONS))
    for topic in TOPICS:
        changed = frozenset()
        for partition in PARTITIONS:
            if imbalanced(cluster, broker, topic, partition):
                is_led = elect_preferred(cluster, broker, topic, partition)
                if is_led:
                    changed = changed | {partition}
        send_leader_and_isr(cluster, broker, topic, changed, to=controller.live_brokers)


def imbalanced(cluster: Cluster, broker: int, topic: int, partition: int) -> bool:
    """Whether a partition is not led by its preferred replica, though that one is live and in the ISR."""
    controller, replicas = cluster.brokers[broker].controller, replicas_of(cluster, broker, topic, partition)
    leadership, preferred = controller.topics[topic].leadership[partition], first_assigned(partition, replicas)
    if preferred is None or controller.topics[topic].machines.to_be_deleted:
        return False
    if not leadership.is_known or leadership.leader == preferred:
        return False
    online = online_brokers(cluster, broker, topic, partition)
    return preferred in cluster.zookeeper.topics[topic].states[partition].isr & online
