"""LogManager and ReplicaManager: which logs a broker takes for strays during a migration, and what it does with them.

Words: a log is *identified* if it has a topic id. A full LeaderAndIsr request *names* the partitions of which the
broker is a replica in the image, with their topic ids.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.migration.partition_registration import PartitionRegistration
from kwalk.model.kafka.migration.versions import FULL_REQUEST, KRAFT_START


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


def kraft_start_deletes() -> bool:
    """Whether a broker that starts in KRaft mode deletes strays; since 3.7.0 it sets them aside (KAFKA-14616)."""
    return KRAFT_START == "deletes"


def is_stray_in_full_request(topic_id: int | None, named: int | None, *, is_named: bool) -> bool:
    """Whether a full LeaderAndIsr makes a log a stray: the request does not name it, or names it with another id.

    Args:
        topic_id: the log's topic id.
        named: the topic id in the request.
        is_named: whether the request names the partition: the broker is a replica of it in the image.

    Kafka: ReplicaManager.findStrayPartitionsFromLeaderAndIsr (3.6.1), LogManager.findStrayReplicas (since 3.6.2).
    """
    if FULL_REQUEST == "none":
        return False
    return not is_named or (FULL_REQUEST == "by id" and topic_id != named)


def is_stray_in_image(topic_id: int | None, registered: int | None, *, is_replica: bool) -> bool:
    """Whether a log is a stray for a broker that starts in KRaft mode: its id and replicas are not those of the image.

    Args:
        topic_id: the log's topic id.
        registered: the topic id of the partition of this name in the image.
        is_replica: whether the image has the partition, with the broker as a replica.

    Kafka: LogManager.isStrayKraftReplica; before 3.7.0 BrokerMetadataPublisher.findStrayPartitions.
    """
    return topic_id is None or not is_replica or topic_id != registered


def fate_of(topic_id: int | None, broker: int, registered: PartitionRegistration | None, *, identified: bool) -> Fate:
    """Return what becomes of a log in dual write and at the broker's start in KRaft mode.

    Args:
        topic_id: the log's topic id.
        broker: the broker.
        registered: the partition of this name in the image.
        identified: whether all logs of the broker are identified.
    """
    is_replica = registered is not None and broker in registered.replicas
    named = None if registered is None else registered.topic_id
    if not full_request_fails(identified) and is_stray_in_full_request(topic_id, named, is_named=is_replica):
        return Fate.SET_ASIDE
    return fate_at_start(topic_id, broker, registered, identified=identified)


def fate_at_start(
    topic_id: int | None, broker: int, registered: PartitionRegistration | None, *, identified: bool
) -> Fate:
    """Return what becomes of a log when its broker starts in KRaft mode; the arguments are those of `fate_of`."""
    is_replica = registered is not None and broker in registered.replicas
    if not is_stray_in_image(topic_id, None if registered is None else registered.topic_id, is_replica=is_replica):
        return Fate.KEPT
    if not kraft_start_deletes():
        return Fate.SET_ASIDE_AT_START
    return Fate.DELETED_AT_START if identified else Fate.KEPT  # an exception ends the removal of strays, and is logged
