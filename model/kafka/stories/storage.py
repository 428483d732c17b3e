"""Stories about the log of one partition: its segments and indexes, retention."""

from __future__ import annotations

from attrs import evolve

from kwalk.model.kafka.storage import dynamic_broker_config, log, log_cleaner, log_loading, versions
from kwalk.model.kafka.storage.dynamic_broker_config import BrokerConfiguration
from kwalk.model.kafka.storage.state import PartitionLog
from kwalk.model.language import Scenario

LOOKUP = Scenario(
    name="log-lookup",
    story=(
        "Batches of several sizes are appended with timestamps in any order; segments roll, the log is truncated, and "
        "clients delete records."
    ),
    state=PartitionLog,
    actions=(log.append, log.raise_high_watermark, log.truncate_to, log.delete_records, log.delete_before_start),
    bounds={
        "offsets": 4,
        "times": 1,
        "segments": 3,
        "batches": 3,
        "batch_bytes": 2,
        "batch_records": 1,
        "gaps": 0,
        "truncations": 1,
        "touches": 0,
        "crashes": 0,
        "losses": 0,
        "stops": 0,
        "cleanings": 0,
        "keys": 1,
        "tombstones": 0,
        "min_dirty_percent": 0,
        "delete_retention_ms": 0,
        "segment_bytes": 3,
        "segment_ms": 3,
        "index_interval_bytes": 0,
        "index_entries": 3,
        "time_index_entries": 3,
        "max_relative_offset": 9,
        "retention_ms": 9,
        "retention_bytes": 99,
        "file_delete_delay_ms": 0,
    },
    variants=versions.VARIANTS,
    source="Log, LogSegment, OffsetIndex and TimeIndex of 0.10.0.0 to 3.9",
)
ROLL = evolve(
    LOOKUP,
    name="log-roll",
    story="Batches are appended after gaps, as in the copy of a compacted log, while time passes: every rule rolls.",
    actions=(log.append, log.time_passes),
    bounds={
        **LOOKUP.bounds,
        "offsets": 7,
        "gaps": 2,
        "batch_records": 2,
        "batch_bytes": 1,
        "truncations": 0,
        "segment_ms": 0,
        "times": 1,
        "index_entries": 2,
        "time_index_entries": 2,
        "max_relative_offset": 3,
        "segments": 4,
        "batches": 5,
        "segment_bytes": 4,
    },
)
RETENTION = evolve(
    LOOKUP,
    name="log-retention",
    story="Time passes and the log grows; retention deletes segments by time, by size and by start offset.",
    actions=(
        log.append,
        log.raise_high_watermark,
        log.time_passes,
        log.touch,
        log.delete_records,
        log.delete_old,
        log.delete_excess,
        log.delete_before_start,
        log.delete_files,
    ),
    bounds={
        **LOOKUP.bounds,
        "offsets": 4,
        "times": 2,
        "truncations": 0,
        "touches": 1,
        "batches": 3,
        "batch_bytes": 1,
        "segment_bytes": 2,
        "retention_ms": 0,
        "retention_bytes": 2,
        "file_delete_delay_ms": 1,
    },
    source="Log.deleteOldSegments; KAFKA-3163, KAFKA-5634",
)
RECOVERY = evolve(
    LOOKUP,
    name="log-recovery",
    story=(
        "The log is flushed and checkpointed at intervals; the broker stops in an orderly way, or its machine crashes, "
        "also while it loads its logs; the next start recovers what was not flushed."
    ),
    actions=(
        log.append,
        log.raise_high_watermark,
        log.time_passes,
        log.delete_records,
        log.delete_old,
        log_loading.flush,
        log_loading.checkpoint_recovery_point,
        log_loading.checkpoint_start_offset,
        log_loading.shut_down,
        log_loading.crash,
        log_loading.load,
        log_loading.finish_loading,
    ),
    bounds={
        **LOOKUP.bounds,
        "offsets": 3,
        "truncations": 0,
        "batches": 3,
        "batch_bytes": 1,
        "segment_bytes": 2,
        "retention_ms": 0,
        "crashes": 2,
        "losses": 1,
        "stops": 1,
    },
    source="Log.loadSegments, Log.recoverLog, LogManager.loadLogs; KAFKA-10101, KAFKA-10471",
)
COMPACTION = evolve(
    LOOKUP,
    name="log-compaction",
    story="Records with keys are appended; the cleaner compacts the log, and the broker may crash at any moment.",
    actions=(
        log.append_keyed,
        log.raise_high_watermark,
        log_cleaner.begin_cleaning,
        log_cleaner.write_cleaned,
        log_cleaner.rename_to_swap,
        log_cleaner.rename_old,
        log_cleaner.finish_swap,
        log_loading.crash,
        log_loading.load,
        log_loading.finish_loading,
    ),
    bounds={
        **LOOKUP.bounds,
        "offsets": 6,
        "times": 0,
        "truncations": 0,
        "batches": 3,
        "batch_bytes": 1,
        "segment_bytes": 2,
        "segments": 4,
        "keys": 2,
        "crashes": 1,
        "cleanings": 2,
        "min_dirty_percent": 40,
    },
    source="LogCleaner, Log.replaceSegments; KAFKA-6264, KAFKA-13194",
)
TOMBSTONES = evolve(
    COMPACTION,
    name="log-tombstones",
    story="Values and tombstones are appended with timestamps in any order, and compacted as time passes.",
    actions=(
        log.append_keyed,
        log.replicate,
        log.time_passes,
        log_cleaner.begin_cleaning,
        log_cleaner.write_cleaned,
        log_cleaner.rename_to_swap,
        log_cleaner.rename_old,
        log_cleaner.finish_swap,
    ),
    bounds={
        **COMPACTION.bounds,
        "offsets": 4,
        "times": 1,
        "segment_bytes": 1,
        "batches": 1,
        "crashes": 0,
        "tombstones": 1,
        "delete_retention_ms": 1,
        "min_dirty_percent": 30,
    },
    source="Cleaner.shouldRetainRecord; KAFKA-4529, KAFKA-4545",
)
COMPACTED_COPY = evolve(
    COMPACTION,
    name="log-compacted-copy",
    story="The copy of a compacted log has gaps between its offsets, and is compacted itself.",
    actions=TOMBSTONES.actions,
    bounds={
        **COMPACTION.bounds,
        "offsets": 8,
        "gaps": 1,
        "crashes": 0,
        "index_interval_bytes": 1,
        "max_relative_offset": 2,
    },
    source="Cleaner.groupSegmentsBySize; KAFKA-5413",
)
CONFIGURATION = Scenario(
    name="dynamic-configuration",
    story=(
        "A key is changed for a topic, a broker and all brokers, and another key too; the broker is restarted, with "
        "another server.properties or the same."
    ),
    state=BrokerConfiguration,
    actions=(
        dynamic_broker_config.alter_topic,
        dynamic_broker_config.alter_broker,
        dynamic_broker_config.alter_cluster,
        dynamic_broker_config.alter_other_key,
        dynamic_broker_config.handle_topic_change,
        dynamic_broker_config.handle_broker_change,
        dynamic_broker_config.handle_cluster_change,
        dynamic_broker_config.stop,
        dynamic_broker_config.edit_file,
        dynamic_broker_config.start,
    ),
    initial=dynamic_broker_config.starts_with_a_file,
    bounds={"values": 3, "changes": 3, "restarts": 1, "edits": 1},
    variants=versions.VARIANTS,
    source="DynamicBrokerConfig, DynamicLogConfig; KAFKA-9254, KAFKA-10268, KAFKA-17584",
)
