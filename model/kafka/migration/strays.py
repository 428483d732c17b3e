"""What a broker does with strays: it closes them, and sets their directories aside or deletes them."""

from __future__ import annotations

from kwalk.model.kafka.broker.log_manager import delete_log
from kwalk.model.kafka.domains import PARTITIONS, RECORDS, TOPICS
from kwalk.model.kafka.migration.log_manager import (
    full_request_fails,
    is_stray_in_full_request,
    is_stray_in_image,
    kraft_start_deletes,
)
from kwalk.model.kafka.requests import ControlRequest
from kwalk.model.kafka.state import Cluster, Replica


def is_identified(cluster: Cluster, broker: int) -> bool:
    """Whether all logs of a broker have topic ids."""
    return all(
        not replica.on_disk or replica.topic_id is not None
        for replicas in cluster.brokers[broker].replicas
        for replica in replicas
    )


def handle_full_request(cluster: Cluster, broker: int, request: ControlRequest, named: frozenset[int]) -> bool:
    """Remove what a full LeaderAndIsr makes strays; return whether the request is refused as a whole.

    Kafka: ReplicaManager.becomeLeaderOrFollower: updateStrayLogs.
    """
    if full_request_fails(is_identified(cluster, broker)):
        return True
    for partition in PARTITIONS:
        for topic in TOPICS:
            replica = cluster.replica_of(broker, topic, partition)
            is_named = partition in named
            is_stray = is_stray_in_full_request(replica.topic_id, request.topic_id, is_named=is_named)
            if request.topic == topic and replica.on_disk and is_stray:
                set_aside(replica)
    return False


def remove_strays(cluster: Cluster, broker: int) -> None:
    """Remove the strays of a broker that starts in KRaft mode; before 3.7 a log without topic id keeps all of them."""
    is_kept = bool(kraft_start_deletes()) and not is_identified(cluster, broker)
    for topic in TOPICS:
        for partition in PARTITIONS:
            replica = cluster.replica_of(broker, topic, partition)
            registered = cluster.migration.images[topic].topic_id
            is_replica = cluster.migration.has_partition(topic, partition)
            is_stray = is_stray_in_image(replica.topic_id, registered, is_replica=is_replica)
            if replica.on_disk and is_stray and not is_kept:
                if not kraft_start_deletes():
                    keep_records(replica)
                close(replica)


def set_aside(replica: Replica) -> None:
    """Close a log, and rename its directory: the records are on the disk, and are not served."""
    keep_records(replica)
    close(replica)


def keep_records(replica: Replica) -> None:
    """Store the records of a log as those of a directory that was set aside."""
    end = replica.log.end
    for slot in range(RECORDS):
        if slot < end:
            replica.set_aside.push(replica.log.records.pop())


def close(replica: Replica) -> None:
    """Remove the Partition object and the log."""
    replica.log_open = replica.is_leader = replica.lacks_fetcher = False
    replica.assigned = frozenset()
    replica.leader_epoch = None
    delete_log(replica)
