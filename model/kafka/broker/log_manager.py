"""LogManager: a broker's log directories, and the files that keep topic ids across restarts.

Words: *partition.metadata* is the file with the topic id beside a log. An id is *dirty* from when the log takes it
while there is no file, until the file is written. An existing file is never overwritten, and one that is removed under
a running broker is not written again: the id in memory is not dirty then.
"""

from __future__ import annotations

from kwalk.model.kafka.actors import BROKER
from kwalk.model.kafka.broker.log import Record
from kwalk.model.kafka.domains import Broker, Partition, Topic
from kwalk.model.kafka.inter_broker_protocol import logs_take_topic_ids, uses_topic_ids
from kwalk.model.kafka.state import Cluster, Replica
from kwalk.model.kafka.versions.grain import EPOCH_CHECKPOINT_REMOVAL, METADATA_FILE_REMOVAL
from kwalk.model.kafka.versions.records import ASYNC_METADATA_FLUSH
from kwalk.model.language import action, require


def assign_topic_id(replica: Replica, topic_id: int | None, broker: int) -> None:
    """Set the log's id in memory; the file is written later if there is none (Kafka: Log.assignTopicId)."""
    if not logs_take_topic_ids(broker):
        return
    replica.topic_id = topic_id
    if METADATA_FILE_REMOVAL:
        replica.dirty = replica.file_topic_id is None
    if not ASYNC_METADATA_FLUSH:
        flush_metadata_file(replica)


def is_dirty(replica: Replica) -> bool:
    """Whether the id in memory is still to be written; where files are never removed, that is when there is no file."""
    if METADATA_FILE_REMOVAL:
        return replica.dirty
    return replica.topic_id is not None and replica.file_topic_id is None


def flush_metadata_file(replica: Replica) -> None:
    """Write a dirty id to partition.metadata (Kafka: PartitionMetadataFile.maybeFlush)."""
    if is_dirty(replica):
        replica.file_topic_id = replica.topic_id
        if METADATA_FILE_REMOVAL:
            replica.dirty = False


@action(
    by=BROKER,
    group="broker",
    description="writes partition.metadata of {topic}-{partition}",
    source="Log.maybeFlushMetadataFile, PartitionMetadataFile.maybeFlush",
)
def flush_metadata(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> None:
    """The scheduler's task flush-metadata-file."""
    replica = cluster.replica_of(broker, topic, partition)
    require(ASYNC_METADATA_FLUSH and is_dirty(replica))
    flush_metadata_file(replica)


def clear_memory(replica: Replica) -> None:
    """Clear what the process had in memory: its Partition object, and an id that is in no file."""
    replica.log_open = replica.is_leader = replica.offline = replica.lacks_fetcher = False
    replica.has_later_version = False
    replica.leader_epoch = replica.topic_id = None
    replica.assigned = frozenset()
    replica.replication.forget()
    replica.log.high_watermark = 0
    if METADATA_FILE_REMOVAL:
        replica.dirty = False


def delete_log(replica: Replica) -> None:
    """Delete the log with its partition.metadata (Kafka: LogManager.asyncDelete, which renames the directory)."""
    replica.on_disk = False
    replica.topic_id = replica.file_topic_id = None
    replica.log.records.clear()
    replica.log.high_watermark = replica.log.checkpoint = 0
    replica.replication.forget()
    if METADATA_FILE_REMOVAL:
        replica.dirty = False


def keep_or_delete_metadata_file(replica: Replica, broker: int) -> None:
    """Delete partition.metadata on loading if the broker's inter-broker protocol is below 2.8."""
    if not uses_topic_ids(broker):
        replica.file_topic_id = None


def load_log(replica: Replica) -> None:
    """Load a log with the id of its partition.metadata and the checkpointed high watermark.

    Kafka: LogManager.loadLog.
    """
    replica.topic_id = replica.file_topic_id
    replica.log.load_epochs()
    replica.log.high_watermark = min(replica.log.checkpoint, replica.log.end)


def close_log(replica: Replica) -> None:
    """Write dirty data and checkpoint the high watermark (Kafka: LogManager.shutdown).

    The periodic checkpoint is left out: after a crash the checkpoint is that of the last clean stop.
    """
    flush_metadata_file(replica)
    replica.log.checkpoint = replica.log.high_watermark
    if EPOCH_CHECKPOINT_REMOVAL:
        replica.log.is_closed = True


def append(replica: Replica, record: Record) -> None:
    """Append a record; a dirty topic id is written to partition.metadata first (Kafka: Log.append)."""
    flush_metadata_file(replica)
    log = replica.log
    if EPOCH_CHECKPOINT_REMOVAL and (not log.knows_its_epochs or record.leader_epoch > log.latest_epoch):
        log.write_epochs()
    log.records.push(record)
