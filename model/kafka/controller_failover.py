"""What a newly elected controller does: onControllerFailover, in the four steps between which others can interfere.

Words: F1 to F15 number the steps of onControllerFailover in order. F1 to F4 list and read the topics, F5 mints the
missing topic ids, F6 to F9 read the partition states, F10 to F15 tell the brokers.
"""
from __future__ import annotations

from model.kafka.actors import CONTROLLER
from model.kafka.controller_context import Liveness, Step
from model.kafka.controller_election import trigger_controller_move
from model.kafka.domains import BROKERS, PARTITIONS, TOPICS, Broker
from model.kafka.inter_broker_protocol import found_topic_id
from model.kafka.partition_state_machine import (
    initialize_partition_states,
    read_leadership,
    trigger_online_partition_state_change,
)
from model.kafka.reassignment import resume_reassignments
from model.kafka.replica_state_machine import (
    bring_replicas_online,
    initialize_replica_states,
    led_partitions,
    take_replicas_offline,
)
from model.kafka.state import Cluster
from model.kafka.topic_deletion import known_partitions, read_markers, resume_deletions
from model.kafka.topic_ids import is_any_topic_id_shared, set_missing_topic_id
from model.kafka.versions import DELETION, REASSIGNMENT
from model.language import action, require


@action(
    by=CONTROLLER,
    says="fails over: lists brokers and topics and reads the topic znodes",
    source="KafkaController.initializeControllerContext: getAllBrokerAndEpochsInCluster, getAllTopicsInCluster, "
    "getReplicaAssignmentAndTopicIdForTopics",
)
def failover_reads_topics(cluster: Cluster, broker: Broker) -> None:
    """F1 to F4: each read arms its watch."""
    controller, zookeeper = cluster.brokers[broker].controller, cluster.zookeeper
    require(controller.step is Step.ELECTED)
    controller.step = Step.TOPICS_READ
    zookeeper.watches[broker].broker_ids = zookeeper.watches[broker].topics = True
    for other in BROKERS:
        controller.liveness[other] = Liveness.CURRENT if cluster.is_registered(other) else Liveness.GONE
    for topic in TOPICS:
        if zookeeper.topics[topic].exists:
            zookeeper.watches[broker].topic[topic] = True
            controller.topics[topic].partition_count = zookeeper.topics[topic].partition_count
            controller.topics[topic].assignments = zookeeper.topics[topic].assignments
            controller.topics[topic].topic_id = found_topic_id(broker, zookeeper.topics[topic].topic_id)


@action(
    by=CONTROLLER,
    says="fails over: mints an id for each topic that has none",
    source="KafkaController.processTopicIds; KafkaZkClient.setTopicIds",
)
def failover_sets_topic_ids(cluster: Cluster, broker: Broker) -> None:
    """F5: a blind write of the assignment that was read one step before, with the new id.

    Two topics with one id, as only somebody's hand can write them, end every failover here.
    """
    controller = cluster.brokers[broker].controller
    require(controller.step is Step.TOPICS_READ)
    controller.step = Step.TOPIC_IDS_SET
    for topic in TOPICS:
        set_missing_topic_id(cluster, broker, topic)
    if is_any_topic_id_shared(cluster, broker):
        trigger_controller_move(cluster, broker)


@action(
    by=CONTROLLER,
    says="fails over: reads the partition states",
    source="KafkaController.initializeControllerContext: updateLeaderAndIsrCache",
)
def failover_reads_states(cluster: Cluster, broker: Broker) -> None:
    """F6 to F9: leadership is known for the partitions that have a state znode."""
    controller = cluster.brokers[broker].controller
    require(controller.step is Step.TOPIC_IDS_SET)
    controller.step = Step.STATES_READ
    for topic in TOPICS:
        for partition in PARTITIONS:
            if partition < controller.topics[topic].partition_count:
                read_leadership(cluster, broker, topic, partition)
    if DELETION:
        read_markers(cluster, broker)


@action(
    by=CONTROLLER,
    says="fails over: sends LeaderAndIsr for everything, elects leaders for what has none",
    source="ReplicaStateMachine.startup, PartitionStateMachine.startup",
)
def failover_sends_requests(cluster: Cluster, broker: Broker) -> None:
    """F10 to F15: live replicas are told the current state, dead ones leave the ISR, then come elections."""
    controller = cluster.brokers[broker].controller
    require(controller.step is Step.STATES_READ)
    controller.step = Step.IDLE
    live = controller.live_brokers
    for topic in TOPICS:
        if DELETION:
            initialize_replica_states(cluster, broker, topic)
        bring_replicas_online(cluster, broker, topic, on=live)
        led = led_partitions(controller.topics[topic]) if not DELETION else known_partitions(controller.topics[topic])
        take_replicas_offline(cluster, broker, topic, led, on=frozenset(BROKERS) - live)
        if DELETION:
            initialize_partition_states(cluster, broker, topic)
        trigger_online_partition_state_change(cluster, broker, topic)
        if REASSIGNMENT:
            resume_reassignments(cluster, broker, topic, to=frozenset(BROKERS))
    if DELETION:
        resume_deletions(cluster, broker)
