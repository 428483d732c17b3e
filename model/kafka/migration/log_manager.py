"""LogManager and ReplicaManager: which logs a broker takes for strays during a migration, and what it does with them.

Words: a log is *identified* if it has a topic id. A full LeaderAndIsr request *names* the partitions of which the
broker is a replica in the image, with their topic ids.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.migration.versions import FULL_REQUEST, KRAFT_START
from kwalk.model.kafka.migration.zk_topic_migration_client import PartitionRegistration


class Fate(Enum):
    """What becomes of a log."""

    KEPT = "is kept"
    SET_ASIDE = "is set aside in dual write"
    SET_ASIDE_AT_START = "is set aside when the broker starts in KRaft mode"
    DELETED_AT_START = "is deleted when the broker starts in KRaft mode"


def full_request_fails(identified: bool) -> bool:
    """Whether a broker refuses a full LeaderAndIsr, as all its logs are identified or one is not (KAFKA-21022).

    The exception is answered with UNKNOWN_SERVER_ERROR for every partition, and nothing of the request is applied.

    Kafka: LogManager.findStrayReplicas.
    """
    return FULL_REQUEST == "by id" and not identified


def kraft_start_fails(identified: bool) -> bool:
    """Whether a broker ends when it starts in KRaft mode, as one of its logs is not identified (KAFKA-16814).

    Kafka: BrokerMetadataPublisher.initializeManagers, LogManager.deleteStrayKRaftReplicas.
    """
    return KRAFT_START == "sets aside, identified only" and not identified


def is_stray_in_full_request(topic_id: int | None, broker: int, registered: PartitionRegistration | None) -> bool:
    """Whether a full LeaderAndIsr makes a log a stray: the request does not name it, or names it with another id.

    Args:
        topic_id: the log's topic id.
        broker: the broker.
        registered: the partition of this name in the image.

    Kafka: ReplicaManager.findStrayPartitionsFromLeaderAndIsr (3.6.1), LogManager.findStrayReplicas (since 3.6.2).
    """
    if FULL_REQUEST == "none":
        return False
    is_named = registered is not None and broker in registered.replicas
    if not is_named or registered is None:
        return True
    return FULL_REQUEST == "by id" and registered.topic_id != topic_id


def is_stray_in_image(topic_id: int | None, broker: int, registered: PartitionRegistration | None) -> bool:
    """Whether a log is a stray for a broker that starts in KRaft mode: its id and replicas are not those of the image.

    Kafka: LogManager.isStrayKraftReplica; before 3.7.0 BrokerMetadataPublisher.findStrayPartitions.
    """
    if topic_id is None or registered is None or registered.topic_id != topic_id:
        return True
    return broker not in registered.replicas


def fate_of(topic_id: int | None, broker: int, registered: PartitionRegistration | None, *, identified: bool) -> Fate:
    """Return what becomes of a log in dual write and at the broker's start in KRaft mode.

    Args:
        topic_id: the log's topic id.
        broker: the broker.
        registered: the partition of this name in the image.
        identified: whether all logs of the broker are identified.
    """
    if not full_request_fails(identified) and is_stray_in_full_request(topic_id, broker, registered):
        return Fate.SET_ASIDE
    return fate_at_start(topic_id, broker, registered, identified=identified)


def fate_at_start(
    topic_id: int | None, broker: int, registered: PartitionRegistration | None, *, identified: bool
) -> Fate:
    """Return what becomes of a log when its broker starts in KRaft mode; the arguments are those of `fate_of`."""
    if not is_stray_in_image(topic_id, broker, registered):
        return Fate.KEPT
    if KRAFT_START != "deletes":
        return Fate.SET_ASIDE_AT_START
    return Fate.DELETED_AT_START if identified else Fate.KEPT  # an exception ends the removal of strays, and is logged
