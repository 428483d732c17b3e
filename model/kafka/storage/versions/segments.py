"""What releases and fixes change about segments, their indexes and sizes, and the configuration of a log."""

from __future__ import annotations

from kwalk.model.kafka.releases import ReleaseFlags
from kwalk.model.language import Trial

FLAGS = ReleaseFlags()
version_flag = FLAGS.version_flag

GAP = {"gaps": 2, "max_relative_offset": 1}
"""A gap that is larger than Integer.MAX_VALUE, as there can be at the beginning of a compacted log."""

TIME_INDEX = version_flag(
    "time_index",
    "KIP-33, KAFKA-3163 (0.10.1.0): segments have a time index, and are kept by their largest timestamp; before, by "
    "the modification time of the file",
    {"0.10.1.0": True},
    closes="a segment is kept by the timestamps of its records, whatever the modification time of its file",
    source="KAFKA-3163, KIP-33 (0.10.1.0)",
    trials=(
        Trial("log-retention", ("expired_segment_is_deleted",), variant="0.10.0"),
        Trial("log-retention", ("young_record_is_kept",), variant="0.10.0"),
    ),
)
ROLLS_BEFORE_OVERFLOW = version_flag(
    "rolls_before_overflow",
    "KAFKA-4451 (0.10.2.0): a segment rolls before an offset that is too far above its base offset for an index; "
    "before, it was appended all the same, as by a follower that copies a compacted log",
    {"0.10.2.0": True},
    closes="a log with gaps has no offset that its segment's indexes cannot have",
    source="KAFKA-4451 (0.10.2.0)",
    trials=(Trial("log-roll", ("segments_do_not_overlap",), variant="0.10.1"),),
)
TRUNCATION_MAKES_ROOM = version_flag(
    "truncation_makes_room",
    "KAFKA-6492 (1.1.0): after a truncation the active segment's indexes have room; before, those of an empty segment "
    "that had been closed were still trimmed",
    {"1.1.0": True},
    closes="an append to an empty segment does not fail after a truncation",
    source="KAFKA-6492 (1.1.0)",
    trials=(Trial("log-lookup", ("append_does_not_fail",), variant="1.0", bounds=GAP),),
)
EMPTY_SEGMENT_IS_REPLACED = version_flag(
    "empty_segment_is_replaced",
    "KAFKA-6388 (2.1.1): a roll replaces an empty active segment that has the same base offset; before, it failed",
    {"2.1.1": True},
    closes="a roll of an empty segment does not fail",
    source="KAFKA-6388 (2.1.1)",
    trials=(
        Trial("log-recovery", ("append_does_not_fail",), variant="2.0", bounds={"offsets": 2}),
        Trial("log-lookup", ("append_does_not_fail",), variant="1.0", bounds=GAP),
    ),
)
OFFSETS_FOLLOW_THE_START = version_flag(
    "offsets_follow_the_start",
    "KAFKA-9491 (2.4.1): a start offset that rises takes the high watermark and the recovery point along, although "
    "what is before it may not be flushed; before, they stayed, the high watermark of a log that is truncated fully "
    "until the next fetch",
    {"2.4.1": True},
    closes="the high watermark of a follower that was behind its leader's start offset is an offset of its log",
    source="KAFKA-9491 (2.4.1, 2.5.0)",
    trials=(Trial("log-full-truncation", ("start_offset_is_not_above_the_high_watermark",), variant="2.0"),),
)
LIMITS_HOLD_AT_ONCE = version_flag(
    "limits_hold_at_once",
    "KAFKA-7366 (2.1.0): segment.bytes and segment.ms of a topic hold for the active segment when they are changed; "
    "before, from the next segment on",
    {"2.1.0": True},
    closes="a segment has the limits that its topic was given",
    source="KAFKA-7366 (2.1.0)",
    trials=(Trial("log-segment-limits", ("changed_limit_holds",), variant="2.0"),),
)
MISSED_CHANGES_ARE_READ = version_flag(
    "missed_changes_are_read",
    "KAFKA-8813 (2.4.0): a broker that has created a log reads the topic's configuration again, if it has changed "
    "since it was read; before, the change was lost",
    {"2.4.0": True},
    closes="a log has the topic's configuration, also if that changes while the log is created",
    source="KAFKA-8813 (2.4.0): LogManager.finishedInitializingLog",
    trials=(Trial("log-created-amid-a-change", ("log_has_the_topics_configuration",), variant="2.3.1"),),
)
INDEXES_ARE_OPENED_ONCE = version_flag(
    "indexes_are_opened_once",
    "KAFKA-9156 (2.4.0): one thread opens the index of a segment; since 2.3.0, which opens it when it is needed, two "
    "could, of which the later one took the new file for a full index",
    {"2.3.0": False, "2.4.0": True},
    before=True,
    closes="a new segment can be appended to, whoever reads it",
    source="KAFKA-9156 (2.4.0): LazyIndex.get",
    trials=(Trial("log-index-of-two-readers", ("append_to_a_new_segment_succeeds",), variant="2.3.1"),),
)
LARGEST_TIMES_ARE_READ_ONCE = version_flag(
    "largest_times_are_read_once",
    "KAFKA-19407, of a release after 3.9: one thread reads the largest timestamp of a segment from its time index; "
    "since 2.3.0, which does so when it is needed, a lookup can put back what it was before an append",
    {"2.3.0": False},
    before=True,
    closes="a new segment can be appended to, whoever looks up timestamps",
    source="KAFKA-19407 (after 3.9): LogSegment.readMaxTimestampAndOffsetSoFar",
    trials=(Trial("log-largest-time-of-two-readers", ("append_to_a_time_index_succeeds",), variant="3.9.0"),),
)
LOGS_HAVE_A_SEGMENT = version_flag(
    "logs_have_a_segment",
    "KAFKA-12875 (3.3.0): a log that begins again gets its new segment before it loses the others; before, it had none "
    "for a moment, at which the task failed that writes start offsets (KAFKA-12763)",
    {"3.3.0": True},
    closes="start offsets are written while a log begins again",
    source="KAFKA-12875 (3.3.0): LocalLog.createAndDeleteSegment",
    trials=(Trial("log-starts-amid-a-truncation", ("start_offsets_are_written",), variant="2.8.2"),),
)
SIZES_ARE_LONGS = version_flag(
    "sizes_are_longs",
    "KAFKA-5584 (0.11.0.1): the size of a log is a 64-bit integer; before, that of one above 2 GiB was negative",
    {"0.11.0.1": True},
    closes="a log above 2 GiB is shortened to retention.bytes",
    source="KAFKA-5584 (0.11.0.1): Log.size",
    trials=(Trial("log-above-two-gib", ("large_log_is_shortened",), variant="0.11.0.0"),),
)
RATIOS_ARE_OF_LONGS = version_flag(
    "ratios_are_of_longs",
    "KAFKA-6030 (0.11.0.2): the part of a log that is dirty is counted with 64-bit integers; before, one above 2 GiB "
    "was negative",
    {"0.11.0.2": True},
    closes="a compacted log above 2 GiB is cleaned",
    source="KAFKA-6030 (0.11.0.2): LogToClean.cleanableBytes",
    trials=(Trial("log-above-two-gib-compacted", ("dirty_log_is_cleaned",), variant="0.11.0.0"),),
)
ADDED_INDEXES_ARE_TRIMMED = version_flag(
    "added_indexes_are_trimmed",
    "KAFKA-4734 (0.10.2.0): a time index that a start adds to a segment of an earlier release has no room for "
    "entries; in 0.10.1, as much as that of the active segment",
    {"0.10.2.0": True},
    closes="indexes of closed segments are small",
    source="KAFKA-4734 (0.10.2.0): Log.loadSegments",
    trials=(Trial("log-added-time-indexes", ("closed_segment_has_a_small_index",), variant="0.10.1"),),
)
