"""Topic ids: minted by whoever first finds a topic without one, and written blindly."""
from __future__ import annotations

from model.kafka.domains import TOPICS
from model.kafka.inter_broker_protocol import uses_topic_ids
from model.kafka.state import Cluster
from model.kafka.versions import CAS_TOPIC_WRITE
from model.kafka.zookeeper import check_controller_epoch, write_topic_from_context


def set_missing_topic_id(cluster: Cluster, broker: int, topic: int) -> None:
    """KafkaZkClient.setTopicIds: a topic of the context without an id gets a fresh one.

    The write is fenced by the controller epoch only and sets the partitions that the context has read: what a client
    wrote in between is lost, unless topics' znodes are compared before they are written.
    """
    context = cluster.brokers[broker].controller.topics[topic]
    if uses_topic_ids(broker) and context.partition_count > 0 and context.topic_id is None:
        check_controller_epoch(cluster, broker)
        if CAS_TOPIC_WRITE:
            read_topic_again(cluster, broker, topic)
        if context.partition_count > 0 and context.topic_id is None:
            context.topic_id = cluster.topic_ids.take()
            write_topic_from_context(cluster, broker, topic)


def is_any_topic_id_shared(cluster: Cluster, broker: int) -> bool:
    """Whether two topics of the context have one id: then ControllerContext.addTopicId throws IllegalStateException."""
    topics = cluster.brokers[broker].controller.topics
    return any(
        a < b and topics[a].topic_id is not None and topics[a].topic_id == topics[b].topic_id
        for a in TOPICS
        for b in TOPICS
    )


def restore_topic_id(cluster: Cluster, broker: int, topic: int) -> None:
    """apache/kafka PR 13111: the znode has lost its id, and gets the context's; as blind a write as the one above."""
    context = cluster.brokers[broker].controller.topics[topic]
    check_controller_epoch(cluster, broker)
    topic_id = context.topic_id
    if CAS_TOPIC_WRITE:
        read_topic_again(cluster, broker, topic)
    if context.partition_count > 0:
        context.topic_id = topic_id
        write_topic_from_context(cluster, broker, topic)


def read_topic_again(cluster: Cluster, broker: int, topic: int) -> None:
    """A write was refused as the znode is not the one that was read: read it, and write under what it says now.

    The watch is armed by the read. Reading and writing are one step here, as whoever loses the race tries again.
    """
    context, znode = cluster.brokers[broker].controller.topics[topic], cluster.zookeeper.topics[topic]
    cluster.zookeeper.watches[broker].topic[topic] = True
    context.partition_count = znode.partition_count
    context.assignments = znode.assignments
    context.topic_id = znode.topic_id
