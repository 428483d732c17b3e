"""Topic ids: minted by whoever first finds a topic without one, and written blindly."""
from __future__ import annotations

from model.kafka.state import Cluster
from model.kafka.zookeeper import check_controller_epoch, write_topic


def set_missing_topic_id(cluster: Cluster, broker: int, topic: int) -> None:
    """KafkaZkClient.setTopicIds: a topic of the context without an id gets a fresh one.

    The write is fenced by the controller epoch only and sets the partitions that the context has read: what a client
    wrote in between is lost.
    """
    context = cluster.brokers[broker].controller.topics[topic]
    if context.partition_count > 0 and context.topic_id is None:
        check_controller_epoch(cluster, broker)
        context.topic_id = cluster.topic_ids.take()
        write_topic(cluster, topic, context.partition_count, context.topic_id)
