"""Stories about the log of one partition: its segments and indexes, retention."""
from __future__ import annotations

from attrs import evolve

from kwalk.model.kafka.storage import log, versions
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
        "untimed": 0,
        "truncations": 1,
        "touches": 0,
        "segment_bytes": 3,
        "segment_ms": 3,
        "index_interval_bytes": 0,
        "index_entries": 3,
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
        "max_relative_offset": 3,
        "segments": 4,
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
        "batches": 2,
        "batch_bytes": 1,
        "segment_bytes": 2,
        "retention_ms": 0,
        "retention_bytes": 2,
        "file_delete_delay_ms": 1,
    },
    source="Log.deleteOldSegments; KAFKA-3163, KAFKA-5634",
)
