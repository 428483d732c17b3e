"""TopicDeletionManager.completeDeleteTopic: once all replicas of a topic are deleted, its znodes go one by one.

Words: the *phases* are the topic's znode with everything below, its configuration, its marker. Each znode is deleted
under the controller epoch only. Others act between: a topic that is created again after the first phase loses its
configuration in the second, and one whose marker is still there is deleted by the next controller.
"""
from __future__ import annotations

from model.kafka.actors import CONTROLLER
from model.kafka.controller_context import Step
from model.kafka.domains import TOPICS, Broker
from model.kafka.state import Cluster
from model.kafka.topic_deletion import completed_topic, resume_deletions
from model.kafka.versions import DELETION, PIECEMEAL_REMOVAL
from model.kafka.zookeeper import (
    check_controller_epoch,
    remove_config,
    remove_marker,
    remove_partition_states,
    remove_topic_znode,
)
from model.language import action, require


@action(
    by=CONTROLLER,
    says="completes a deletion: deletes the znodes of the topic's partitions",
    source="KafkaZkClient.deleteTopicZNode, deleteRecursive: children first, each under the controller epoch",
)
def complete_deletion_deletes_states(cluster: Cluster, broker: Broker) -> None:
    """It first stops to watch the topic. Whoever reads now finds a topic whose partitions never had a leader."""
    require(bool(DELETION) and bool(PIECEMEAL_REMOVAL))
    controller = cluster.brokers[broker].controller
    require(controller.step is Step.REPLICAS_DELETED)
    controller.step = Step.STATES_DELETED
    done = completed_topic(controller)
    for topic in TOPICS:
        if topic == done:
            cluster.zookeeper.watches[broker].topic[topic] = False
            check_controller_epoch(cluster, broker)
            remove_partition_states(cluster, topic)


@action(
    by=CONTROLLER,
    says="completes a deletion: deletes the topic's znodes",
    source="TopicDeletionManager.completeDeleteTopic; KafkaZkClient.deleteTopicZNode",
)
def complete_deletion_deletes_topic(cluster: Cluster, broker: Broker) -> None:
    """It has stopped to watch the topic. What is below goes with it, unless that has gone in a step before."""
    require(DELETION)
    controller = cluster.brokers[broker].controller
    require(controller.step is (Step.STATES_DELETED if PIECEMEAL_REMOVAL else Step.REPLICAS_DELETED))
    controller.step = Step.TOPIC_DELETED
    done = completed_topic(controller)
    for topic in TOPICS:
        if topic == done:
            cluster.zookeeper.watches[broker].topic[topic] = False
            check_controller_epoch(cluster, broker)
            remove_topic_znode(cluster, topic)


@action(
    by=CONTROLLER,
    says="completes a deletion: deletes the topic's configuration",
    source="KafkaZkClient.deleteTopicConfigs",
)
def complete_deletion_deletes_config(cluster: Cluster, broker: Broker) -> None:
    """The second of three fenced deletions."""
    require(DELETION)
    controller = cluster.brokers[broker].controller
    require(controller.step is Step.TOPIC_DELETED)
    controller.step = Step.CONFIG_DELETED
    done = completed_topic(controller)
    for topic in TOPICS:
        if topic == done:
            check_controller_epoch(cluster, broker)
            remove_config(cluster, topic)


@action(
    by=CONTROLLER,
    says="completes a deletion: deletes the marker, forgets the topic, and goes on with other deletions",
    source="KafkaZkClient.deleteTopicDeletions; ControllerContext.removeTopic",
)
def complete_deletion_deletes_marker(cluster: Cluster, broker: Broker) -> None:
    """The last of three fenced deletions."""
    require(DELETION)
    controller = cluster.brokers[broker].controller
    require(controller.step is Step.CONFIG_DELETED)
    controller.step = Step.IDLE
    done = completed_topic(controller)
    for topic in TOPICS:
        if topic == done:
            check_controller_epoch(cluster, broker)
            remove_marker(cluster, topic)
            controller.topics[topic].remove(completed=True)
    resume_deletions(cluster, broker)
