"""A broker's log directory: where a log's topic id is kept across restarts.

Words: *partition.metadata* is the file with the topic id beside a log. An id is *dirty* from when the log takes it
while there is no file, until the file is written. An existing file is never overwritten, and one that is removed from
under a running broker is not written again: the id in memory is not dirty then.
"""
from __future__ import annotations

from model.kafka.actors import BROKER
from model.kafka.domains import Broker, Partition, Topic
from model.kafka.inter_broker_protocol import takes_topic_ids, uses_topic_ids
from model.kafka.state import Cluster, Replica
from model.kafka.versions import ASYNC_METADATA_FLUSH, EPOCH_CHECKPOINT_REMOVAL, METADATA_FILE_REMOVAL
from model.language import action, require


def assign_topic_id(replica: Replica, topic_id: int | None, broker: int) -> None:
    """Log.assignTopicId: the log has the id in memory, and the file follows if there is none."""
    if not takes_topic_ids(broker):
        return
    replica.topic_id = topic_id
    if METADATA_FILE_REMOVAL:
        replica.dirty = replica.file_topic_id is None
    if not ASYNC_METADATA_FLUSH:
        flush_metadata_file(replica)


def is_dirty(replica: Replica) -> bool:
    """Whether the id in memory is still to be written; where no file is ever removed, it is when there is no file."""
    if METADATA_FILE_REMOVAL:
        return replica.dirty
    return replica.topic_id is not None and replica.file_topic_id is None


def flush_metadata_file(replica: Replica) -> None:
    """PartitionMetadataFile.maybeFlush: write a dirty id to partition.metadata."""
    if is_dirty(replica):
        replica.file_topic_id = replica.topic_id
        if METADATA_FILE_REMOVAL:
            replica.dirty = False


@action(
    by=BROKER,
    says="writes partition.metadata of {topic}-{partition}",
    source="Log.maybeFlushMetadataFile, PartitionMetadataFile.maybeFlush",
)
def flush_metadata(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> None:
    """The scheduler's task flush-metadata-file."""
    replica = cluster.brokers[broker].replicas[topic][partition]
    require(ASYNC_METADATA_FLUSH and is_dirty(replica))
    flush_metadata_file(replica)


def lose_memory(replica: Replica) -> None:
    """The process ends: its Partition is gone, and so is an id that no file holds."""
    replica.log_open = replica.is_leader = replica.offline = False
    replica.leader_epoch = replica.topic_id = None
    replica.replication.forget()
    replica.log.high_watermark = 0
    if METADATA_FILE_REMOVAL:
        replica.dirty = False


def delete_log(replica: Replica) -> None:
    """LogManager.asyncDelete: the directory is renamed and purged later; the file with the topic id goes with it."""
    replica.on_disk = False
    replica.topic_id = replica.file_topic_id = None
    replica.log.records.clear()
    replica.log.high_watermark = replica.log.checkpoint = 0
    replica.replication.forget()
    if METADATA_FILE_REMOVAL:
        replica.dirty = False


def keep_or_delete_metadata_file(replica: Replica, broker: int) -> None:
    """Log, on loading: a broker whose inter-broker protocol is below 2.8 deletes the file."""
    if not uses_topic_ids(broker):
        replica.file_topic_id = None


def load_log(replica: Replica) -> None:
    """LogManager.loadLog: a log found on disk has the id of its partition.metadata, if there is one.

    Its high watermark is the one of the last checkpoint.
    """
    replica.topic_id = replica.file_topic_id
    replica.log.load_epochs()
    replica.log.high_watermark = min(replica.log.checkpoint, replica.log.end)


def close_log(replica: Replica) -> None:
    """LogManager.shutdown: what is dirty is written, and the high watermark is checkpointed.

    The periodic checkpoint is left out: a crash finds the one of the last clean stop.
    """
    flush_metadata_file(replica)
    replica.log.checkpoint = replica.log.high_watermark
    if EPOCH_CHECKPOINT_REMOVAL:
        replica.log.is_closed = True
