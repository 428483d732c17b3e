"""Domains, bounds and actors of the log model: how many offsets, segments and bytes, and which limits are configured.

Limits that Kafka counts in bytes, milliseconds or offsets are bounds here, scaled to the sizes of a story.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.language import Actor, Bound, Domain, number

OFFSETS = Bound("offsets", "the highest log end offset")
TIMES = Bound("times", "the last moment of the clock, and the highest timestamp")
SEGMENTS = Domain("segments", "segments that the log can have at a time")
BATCHES = Bound("batches", "batches that a segment can have", minimum=1)
BATCH_BYTES = Bound("batch_bytes", "the size of the largest batch", minimum=1)
BATCH_RECORDS = Bound("batch_records", "records of the largest batch", minimum=1, default=1)
RECORD_TIMES = Bound("record_times", "1 if the records of a batch have timestamps of their own", default=0)
GAPS = Bound(
    "gaps", "how many offsets a batch can leave out, as in a log that is copied from a compacted one", default=0
)
TRUNCATIONS = Bound("truncations", "how often the log is truncated", default=0)
UNALIGNED_STARTS = Bound(
    "unaligned_starts", "1 if a leader's start offset may be within a batch, as clients delete records", default=0
)
LEADER_DELETIONS = Bound("leader_deletions", "how often a leader deletes records while a follower fetches", default=0)
DAMAGES = Bound("damages", "how often a response to a follower's fetch is damaged on its way", default=0)
TOUCHES = Bound("touches", "how often a file's modification time is set, as by a copy of the files", default=0)
CRASHES = Bound("crashes", "how often the broker crashes", default=0)
LOSSES = Bound("losses", "1 if a crash is one of the machine, which loses what was not flushed", default=0)
FULL_DISKS = Bound("full_disks", "how often a start fails, as the disk is full while a log is recovered", default=0)
FAILED_STARTS = Bound("failed_starts", "how often a start in KRaft mode ends before the log is loaded", default=0)
STOPS = Bound("stops", "how often the broker is stopped in an orderly way", default=0)
CLEANINGS = Bound("cleanings", "how often the log is compacted; 0 for cleanup.policy=delete", default=0)
RECREATIONS = Bound("recreations", "how often the topic is deleted and created again", default=0)
LEADERSHIPS = Bound("leaderships", "how often the replica is elected", default=0)
POLICY_CHANGES = Bound(
    "policy_changes", "how often cleanup.policy changes between compact and delete, from compact on", default=0
)
MAP_KEYS = Bound("map_keys", "keys that the map of the log cleaner has room for; 0 for all", default=0)
LARGE_BATCHES = Bound(
    "large_batches", "1 if max.message.bytes of the topic allows batches above message.max.bytes of brokers", default=0
)
LIMIT_CHANGES = Bound(
    "limit_changes", "how often max.message.bytes of the topic is lowered to less than its batches have", default=0
)
LOWERED_SEGMENTS = Bound(
    "lowered_segments", "1 if it is segment.bytes that is lowered to less than batches have", default=0
)
SEGMENT_LIMITS = Bound(
    "segment_limits", "how often segment.bytes of the topic is lowered, to the size of a batch", default=0
)
PREALLOCATES = Bound("preallocates", "1 if log files are preallocated (preallocate=true)", default=0)
TOMBSTONES = Bound("tombstones", "1 if records may have a key and no value", default=0)
KEYS = Domain("keys", "keys of records, in a compacted log", default=1)

SEGMENT_BYTES = Bound("segment_bytes", "log.segment.bytes", minimum=1)
SEGMENT_MS = Bound("segment_ms", "log.roll.ms")
INDEX_INTERVAL_BYTES = Bound("index_interval_bytes", "log.index.interval.bytes", default=0)
INDEX_ENTRIES = Bound("index_entries", "entries of 8 bytes that log.index.size.max.bytes has room for", minimum=1)
TIME_INDEX_ENTRIES = Bound("time_index_entries", "entries of 12 bytes that it has room for", minimum=1)
MAX_RELATIVE_OFFSET = Bound("max_relative_offset", "the highest relative offset: Integer.MAX_VALUE, scaled")
RETENTION_MS = Bound("retention_ms", "log.retention.ms; more than `times` for no limit")
RETENTION_BYTES = Bound("retention_bytes", "log.retention.bytes; more than the log can have for no limit")
FILE_DELETE_DELAY_MS = Bound("file_delete_delay_ms", "file.delete.delay.ms", default=0)
MIN_DIRTY_PERCENT = Bound("min_dirty_percent", "log.cleaner.min.cleanable.ratio, in percent", default=0)
DELETE_RETENTION_MS = Bound("delete_retention_ms", "log.cleaner.delete.retention.ms", default=0)

CLEANED_BATCHES = Domain("cleaned_batches", "batches of a cleaned segment", size=BATCHES)

Offset = Annotated[int, number(0, OFFSETS)]
Timestamp = Annotated[int, number(0, TIMES)]
Size = Annotated[int, number(1, BATCH_BYTES)]
Records = Annotated[int, number(1, BATCH_RECORDS)]
Gap = Annotated[int, number(0, GAPS)]
SegmentSlot = Annotated[int, SEGMENTS]
Key = Annotated[int, KEYS]

LOG = Actor("log manager")
LOG_CLEANER = Actor("log cleaner")
FETCHER = Actor("replica fetcher")
FAULT = Actor("fault", system=False)
PRODUCER = Actor("producer", system=False)
CLIENT = Actor("admin client", system=False)
CONSUMER = Actor("consumer", system=False)
REPLICAS = Actor("replicas", system=False)
TIME = Actor("clock", system=False)
OPERATOR = Actor("operator", system=False)
