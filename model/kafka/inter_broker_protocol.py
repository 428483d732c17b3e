"""The inter-broker protocol (IBP) of each broker: during an upgrade brokers of one release still speak an older one.

Below 2.8 a broker's configuration `usesTopicId` is off: as a controller it mints and sends no topic ids, and as a
broker it keeps none in its log directory. Which brokers are below is a constant of the scenario.
"""

from __future__ import annotations

from kwalk.model.kafka.domains import BROKERS, OLD_PROTOCOL_BROKERS
from kwalk.model.kafka.versions.records import TOPICS_HAVE_IDS
from kwalk.model.kafka.versions.topic_ids import KEEP_IDS_BELOW_IBP


def uses_topic_ids(broker: int) -> bool:
    """Whether the broker's inter-broker protocol is 2.8 or later (Kafka: KafkaConfig.usesTopicId)."""
    if not TOPICS_HAVE_IDS:
        return False
    return broker < len(BROKERS) - OLD_PROTOCOL_BROKERS


def topic_id_from_znode(broker: int, topic_id: int | None) -> int | None:
    """Return what a controller's context keeps of the id in a topic's znode.

    Kafka: KafkaController.processTopicIds.
    """
    if KEEP_IDS_BELOW_IBP or uses_topic_ids(broker):
        return topic_id
    return None


def logs_take_topic_ids(broker: int) -> bool:
    """Whether the broker's logs take ids from requests (Kafka: Log.assignTopicId)."""
    return not KEEP_IDS_BELOW_IBP or uses_topic_ids(broker)
