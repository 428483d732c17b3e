"""What releases of Kafka differ in about logs, and the switches that choose the grain of the log model.

Each flag was dated by comparing the sources of the releases on both sides of the change.
"""

from __future__ import annotations

from kwalk.model.kafka.releases import ReleaseFlags
from kwalk.model.language import Trial

RELEASES = ("2.8.2", "0.10.0", "0.10.1", "0.10.2", "0.11.0.0", "1.0", "2.0", "2.3.1", "2.5", "2.7", "3.7.0", "3.9.0")
"""Those that have a variant; the first one is the default of a scenario."""

FLAGS = ReleaseFlags()
version_flag, candidate = FLAGS.version_flag, FLAGS.candidate
FIXES = FLAGS.fixes

GAP = {"gaps": 2, "max_relative_offset": 1}
"""A gap that is larger than Integer.MAX_VALUE, as there can be at the beginning of a compacted log."""

# What releases differ in.

FILE_TIMES_SURVIVE_A_STOP = version_flag(
    "file_times_survive_a_stop",
    "KAFKA-3802 (0.10.0.1): an orderly stop leaves the modification times of files as they are; before, with some "
    "releases of Java, it set all of them to the present",
    {"0.10.0.1": True},
    closes="a restart does not make files look as if they had just been written",
    source="KAFKA-3802 (0.10.0.1)",
    trials=(Trial("log-recovery", ("stop_keeps_file_times",), variant="0.10.0", bounds={"offsets": 2, "crashes": 1}),),
)
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
DELETE_BELOW_HIGH_WATERMARK = version_flag(
    "delete_below_high_watermark",
    "KAFKA-5634 (0.11.0.1, 1.0.0): retention deletes no segment that has offsets above the high watermark",
    {"0.11.0.1": True},
    closes="retention deletes no record that is not replicated yet",
    source="KAFKA-5634 (0.11.0.1)",
    trials=(Trial("log-retention", ("start_offset_is_not_above_the_high_watermark",)),),
)
DELETE_RECORDS = version_flag(
    "delete_records",
    "KIP-107, KAFKA-4586 (0.11.0.0): clients can delete the records before an offset, which becomes the start offset",
    {"0.11.0.0": True},
    closes="clients can delete the records before an offset",
    source="KAFKA-4586, KIP-107 (0.11.0.0)",
    trials=(
        Trial(
            "log-lookup",
            ("timestamp_lookup_finds_the_first_record",),
            about="the price: a lookup by timestamp stops at a segment that ends below the start offset",
        ),
    ),
)
TOMBSTONES_BY_FILE_TIME = version_flag(
    "tombstones_by_file_time",
    "KAFKA-4529 (0.10.1.1): the time since which a tombstone is kept is a file's modification time; in 0.10.1.0 it was "
    "a segment's largest timestamp, which producers choose",
    {"0.10.1.0": False, "0.10.1.1": True},
    before=True,
    closes="a tombstone is not removed before it is delete.retention.ms old, whatever its producer's clock",
    source="KAFKA-4529 (0.10.1.1)",
    trials=(Trial("log-tombstones", ("tombstone_is_kept_after_its_append",), variant="0.10.1", bounds={"offsets": 3}),),
)
TOMBSTONES_HAVE_A_HORIZON = version_flag(
    "tombstones_have_a_horizon",
    "KAFKA-4545, KAFKA-8522, KIP-534 (3.1.0): a tombstone is kept for delete.retention.ms from the first compaction "
    "that sees it",
    {"3.1.0": True},
    closes="a tombstone lives delete.retention.ms from the first compaction that sees it, and not longer",
    source="KAFKA-4545, by KIP-534 with KAFKA-8522 (3.1.0)",
    trials=(
        Trial("log-tombstones", ("tombstone_is_kept_after_compaction",)),
        Trial("log-tombstones", ("tombstone_goes_after_its_time",), bounds={"offsets": 3}),
    ),
)
EMPTY_SEGMENTS_ARE_MERGED = version_flag(
    "empty_segments_are_merged",
    "KAFKA-12889 (3.0.0): an empty segment is cleaned into the one before it, however far their offsets are apart",
    {"3.0.0": True},
    closes="empty segments go with the next cleaning",
    source="KAFKA-12889 (3.0.0)",
    trials=(
        Trial(
            "log-compacted-copy",
            ("empty_segment_is_merged",),
            bounds={"offsets": 9, "gaps": 0, "keys": 1, "segments": 5},
        ),
    ),
)
GROUPS_BY_LAST_OFFSET = version_flag(
    "groups_by_last_offset",
    "KAFKA-5413 (0.10.2.2, 0.11.0.0): segments are cleaned into one only if the last of their offsets has a relative "
    "offset in it; before, if the last one of their indexes had",
    {"0.10.2.2": True},
    closes="the cleaner does not die of gaps between offsets",
    source="KAFKA-5413 (0.10.2.2, 0.11.0.0)",
    trials=(Trial("log-compacted-copy", ("cleaner_lives",), bounds={"offsets": 7}),),
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
GAPS_ARE_PASSED = version_flag(
    "gaps_are_passed",
    "KAFKA-8764 (2.4.1): a cleaning ends where the dirty part ends; before, at the last record in it, so that a gap "
    "behind that was cleaned again and again",
    {"2.4.1": True},
    closes="the cleaner does not clean a gap again and again",
    source="KAFKA-8764 (2.4.1)",
    trials=(Trial("log-compacted-copy", ("cleaning_has_something_to_clean",), variant="2.0", bounds={"offsets": 6}),),
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
CLEAN_BELOW_HIGH_WATERMARK = version_flag(
    "clean_below_high_watermark",
    "KAFKA-13194 (3.1.0): the cleaner does not go beyond the high watermark",
    {"3.1.0": True},
    closes="a record that is not replicated does not supersede one that is",
    source="KAFKA-13194 (3.1.0)",
    trials=(Trial("log-compaction", ("last_value_is_kept",)),),
)
CLEANS_PARTS_OF_SEGMENTS = version_flag(
    "cleans_parts_of_segments",
    "KAFKA-3894 (0.10.1.0): a cleaning ends where the cleaner's map is full, also within a segment; before, the map "
    "had to have room for the keys of a whole segment",
    {"0.10.1.0": True},
    closes="the cleaner does not die of a segment with many keys",
    source="KAFKA-3894 (0.10.1.0)",
    trials=(Trial("log-small-map", ("cleaner_lives",), variant="0.10.0"),),
)
BUFFERS_GROW_TO_THE_LIMIT = version_flag(
    "buffers_grow_to_the_limit",
    "KAFKA-4019 (0.10.1.0): the cleaner's buffers grow up to max.message.bytes of the topic; before, to "
    "message.max.bytes of the broker",
    {"0.10.1.0": True},
    closes="the cleaner does not die of a batch that a topic allows, and brokers do not",
    source="KAFKA-4019 (0.10.1.0)",
    trials=(Trial("log-large-batches", ("cleaner_lives",), variant="0.10.0", bounds={"limit_changes": 0}),),
)
BUFFERS_GROW_TO_THE_BATCH = version_flag(
    "buffers_grow_to_the_batch",
    "KAFKA-6834 (2.0.0): the cleaner's buffers grow to the size of the batch, whatever the topic allows now",
    {"2.0.0": True},
    closes="the cleaner does not die of a batch that was appended under a higher limit",
    source="KAFKA-6834 (2.0.0)",
    trials=(Trial("log-large-batches", ("cleaner_lives",), variant="1.0"),),
)
GROWN_BATCHES = version_flag(
    "grown_batches",
    "what becomes of a batch that is larger after a cleaning, and has no room in the cleaner's buffer then: up to "
    "0.10.1 the cleaner stops; in 0.10.2.0 and 0.10.2.1 a part is written in most cases, behind bytes that were in the "
    "buffer before; KAFKA-5316 (0.10.2.2, 0.11.0.0): it is written as a whole",
    {"0.10.2.0": "a part is written", "0.10.2.2": "are written"},
    before="the cleaner stops",
)
FLAGS.fix(
    GROWN_BATCHES,
    name="grown_batches_are_whole",
    off="a part is written",
    on="are written",
    closes="what a cleaning keeps of a batch is written as a whole",
    source="KAFKA-5316 (0.10.2.2, 0.11.0.0)",
    trials=(Trial("log-grown-batches", ("kept_batch_is_whole",), variant="0.10.2"),),
)
FLAGS.fix(
    GROWN_BATCHES,
    name="grown_batches_are_written",
    off="the cleaner stops",
    on="are written",
    closes="the cleaner does not die of a batch that is larger after a cleaning",
    source="KAFKA-5316 (0.10.2.2, 0.11.0.0)",
    trials=(Trial("log-grown-batches", ("cleaner_outlives_grown_batches",), variant="0.10.1"),),
)
CLEANED_SEGMENTS_ARE_TRIMMED = version_flag(
    "cleaned_segments_are_trimmed",
    "KAFKA-5431 (0.11.0.1, 1.0.0): the log file of a cleaned segment is trimmed before the swap; before, a "
    "preallocated one ended with zeros, which a broker reads after a crash",
    {"0.11.0.1": True},
    closes="a cleaned segment ends with its last record",
    source="KAFKA-5431 (0.11.0.1, 1.0.0)",
    trials=(Trial("log-preallocated", ("segment_ends_with_its_last_record",), variant="0.11.0.0"),),
)
START_OFFSET_IN_COMPACTED_LOGS = version_flag(
    "start_offset_in_compacted_logs",
    "KAFKA-7400 (2.1.0): segments before the start offset are deleted whatever cleanup.policy is; before, only with "
    "delete in it",
    {"2.1.0": True},
    closes="segments that clients have deleted go, in a compacted log too",
    source="KAFKA-7400 (2.1.0)",
    trials=(Trial("log-deleted-records", ("segment_before_the_start_is_deleted",), variant="2.0"),),
)
DIRTY_PART = version_flag(
    "dirty_part",
    "where the dirty part of a log begins whose checkpoint is below the start offset: at the base offset of the first "
    "segment; KAFKA-8724 (2.3.1): at the start offset, and the cleaner stopped if that was in the active segment; "
    "KAFKA-9133 (2.4.0): there, too, and the active segment counted as dirty; KAFKA-9826 (2.5.1): nothing of the "
    "active segment is dirty",
    {"2.3.1": "in closed segments only", "2.4.0": "from the start offset", "2.5.1": "in closed segments"},
    before="from the first segment",
)
FLAGS.fix(
    DIRTY_PART,
    name="dirty_part_may_be_active",
    off="in closed segments only",
    on="in closed segments",
    closes="the cleaner does not stop at a start offset within the active segment",
    source="KAFKA-9133 (2.4.0)",
    trials=(Trial("log-deleted-records", ("cleaner_lives",), variant="2.3.1"),),
)
FLAGS.fix(
    DIRTY_PART,
    name="dirty_part_is_closed",
    off="from the start offset",
    on="in closed segments",
    closes="the cleaner does not choose an active segment again and again",
    source="KAFKA-9826 (2.5.1)",
    trials=(Trial("log-deleted-records", ("cleaning_has_something_to_clean",), variant="2.5"),),
)
RETENTION_WAITS_FOR_THE_CLEANER = version_flag(
    "retention_waits_for_the_cleaner",
    "KAFKA-7322 (2.1.0): retention leaves out a log that the cleaner is at work on; before, it deleted segments under "
    "the cleaner, if compact had just been removed from cleanup.policy (2.0.1, by KAFKA-7278, leaves those out when it "
    "renames the old segments)",
    {"2.1.0": True},
    closes="a change of cleanup.policy takes no log directory offline",
    source="KAFKA-7278, KAFKA-7322 (2.1.0)",
    trials=(Trial("log-policy-change", ("log_directory_stays_online",), variant="2.0"),),
)
POLICY_ENDS_THE_CLEANING = version_flag(
    "policy_ends_the_cleaning",
    "KAFKA-12840 (3.1.0): a cleaning is aborted when compact is removed from cleanup.policy",
    {"3.1.0": True},
    closes="no record is compacted away once the policy is delete",
    source="KAFKA-12840 (3.1.0)",
    trials=(Trial("log-policy-change", ("cleaning_ends_with_its_policy",)),),
)
SWAP_REPLACES_ITS_OWN = version_flag(
    "swap_replaces_its_own",
    "KAFKA-6264 (2.0.0): a broker that completes an interrupted swap replaces only segments that reach into the "
    "swapped one; before, also the one before it, if the old segment of that base offset was renamed already",
    {"2.0.0": True},
    closes="a broker that completes a swap does not delete the segment before it",
    source="KAFKA-6264 (2.0.0)",
    trials=(Trial("log-compaction", ("last_value_is_kept",), variant="3.9.0"),),
)
UNCLEAN_WHILE_LOADING = version_flag(
    "unclean_while_loading",
    "KAFKA-10471 (2.8.0): the clean shutdown file is deleted before the logs are loaded; before, after that, so that a "
    "crash in between was taken for an orderly stop",
    {"2.8.0": True},
    closes="a crash while logs are loaded is followed by a recovery",
    source="KAFKA-10471 (2.8.0)",
    trials=(Trial("log-recovery", ("young_record_is_kept",)),),
)
FAILED_STARTS_ARE_UNCLEAN = version_flag(
    "failed_starts_are_unclean",
    "KAFKA-13773 (3.2.1): a broker whose disk is full while it recovers a log takes the directory offline; since "
    "2.8.0, and before, it ended with a clean shutdown file",
    {"2.8.0": False, "3.2.1": True},
    before=True,
    closes="a recovery that fails is made up for at the next start",
    source="KAFKA-13773 (3.2.1)",
    trials=(Trial("log-recovery-full-disk", ("no_batch_is_torn",), bounds={"offsets": 2}),),
)
UNLOADED_LOGS_ARE_UNCLEAN = version_flag(
    "unloaded_logs_are_unclean",
    "KAFKA-15375 (3.5.2, 3.6.0): a broker in KRaft mode (since 3.0) that ends before it has loaded its logs writes no "
    "clean shutdown file; before, it did",
    {"3.0.0": False, "3.5.2": True},
    before=True,
    closes="a log is recovered, also if a start has failed before that",
    source="KAFKA-15375 (3.5.2, 3.6.0)",
    trials=(Trial("log-recovery-failed-start", ("no_batch_is_torn",), variant="3.5.1", bounds={"offsets": 2}),),
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
HIGH_WATERMARK_IS_IN_THE_LOG = version_flag(
    "high_watermark_is_in_the_log",
    "KAFKA-3978 (1.0.2, 1.1.0): a replica that is elected takes the beginning of its log for a high watermark that its "
    "log does not have; before, -1, at which it did not begin to lead",
    {"1.0.2": True},
    closes="a replica leads also if its log has begun again",
    source="KAFKA-3978 (1.0.2, 1.1.0)",
    trials=(Trial("log-full-truncation-elected", ("elected_replica_leads",), variant="1.0"),),
)
INDEXES_ARE_CHECKED = version_flag(
    "indexes_are_checked",
    "KAFKA-7283, KIP-263 (2.3.0): a start checks no index of a segment that was flushed; until then, one whose last "
    "timestamp was below the first one was written again",
    {"2.3.0": False},
    before=True,
    closes="a segment is kept by its timestamps, also if a crash has left zeros behind its index",
    source="no release since 2.3; KAFKA-10207",
    trials=(Trial("log-untrimmed-indexes", ("young_record_is_kept",), variant="3.9.0"),),
)
RECOVERY_READS_FORWARD = version_flag(
    "recovery_reads_forward",
    "KAFKA-7401 (2.0.0; of 1.1 only on its branch): a recovery reads what producers sent before a segment only if the "
    "start offset is below it; before, the start failed if another segment followed that began at or below it",
    {"0.11.0.0": False, "2.0.0": True},
    before=True,
    closes="a broker starts after a crash, also if clients have deleted records that were not flushed",
    source="KAFKA-7401 (2.0.0)",
    trials=(Trial("log-recovery-below-the-start", ("crashed_broker_starts",), variant="1.0"),),
)
LOG_BEGINS_AT_ITS_START = version_flag(
    "log_begins_at_its_start",
    "KAFKA-8306 (2.2.1, 2.3.0): a log that ends before its checkpointed start offset, as after a crash, begins again "
    "there; before, it ended below, and what was appended next could not be read",
    {"2.2.1": True},
    closes="what is appended after a crash can be read",
    source="KAFKA-8306 (2.2.1, 2.3.0)",
    trials=(Trial("log-recovery", ("appended_record_can_be_read",), variant="2.0", bounds={"crashes": 1}),),
)
RECOVERY_POINT_IS_FLUSHED = version_flag(
    "recovery_point_is_flushed",
    "KAFKA-10101 (2.8.0): recovery after a crash leaves the recovery point where it is; before, it was raised to the "
    "end offset, although what was recovered had not been flushed",
    {"2.8.0": True},
    closes="what a recovery has kept is recovered again after another crash",
    source="KAFKA-10101 (2.8.0)",
    trials=(Trial("log-recovery", ("no_batch_is_torn",), variant="2.3.1"),),
)
LAST_DELETIONS_ARE_CHECKPOINTED = version_flag(
    "last_deletions_are_checkpointed",
    "KAFKA-10002 (2.7.0): the checkpoints of a log directory are also written when its last log is deleted; before, a "
    "log that was created there had the offsets of the deleted one after a crash",
    {"2.7.0": True},
    closes="a topic that is created again has nothing of the deleted one after a crash",
    source="KAFKA-10002 (2.7.0)",
    trials=(
        Trial("log-created-again", ("created_log_keeps_its_records",), variant="2.5"),
        Trial("log-created-again-unflushed", ("no_batch_is_torn",), variant="2.5"),
    ),
)
DISCARDED_BATCHES_ARE_READ = version_flag(
    "discarded_batches_are_read",
    "KAFKA-6854 (1.0.2, 1.1.1, 2.0.0): the cleaner counts batches that it discards as a whole as read; before, it took "
    "a buffer full of them for one that is too small, and stopped when it could not grow it further",
    {"1.0.2": True, "1.1.0": False, "1.1.1": True},
    closes="the cleaner does not die of aborted transactions",
    source="KAFKA-6854 (1.0.2, 1.1.1, 2.0.0)",
    trials=(Trial("log-compacted-transactions", ("cleaner_outlives_transactions",), variant="1.0"),),
)
CLEANER_CARRIES_TRANSACTIONS = version_flag(
    "cleaner_carries_transactions",
    "KAFKA-8351 (2.2.2, 2.3.0): the cleaner remembers which transactions have records from one group of segments to "
    "the next; before, a marker went if its records were in an earlier group",
    {"2.2.2": True},
    closes="a transaction that spans segments keeps its marker",
    source="KAFKA-8351 (2.2.2, 2.3.0)",
    trials=(
        Trial(
            "log-transactions-in-groups",
            ("transaction_has_its_marker",),
            variant="2.0",
            flags={"markers_have_no_key": True},
        ),
    ),
)
ABORTS_OF_THE_WHOLE_SEGMENT = version_flag(
    "aborts_of_the_whole_segment",
    "KAFKA-13727 (2.8.2, 3.0.2, 3.1.1, 3.2.0): the cleaner looks up the aborted transactions of a whole segment, also "
    "where it cleans only a part, as its map is full; before, those of that part",
    {"2.8.2": True, "3.0.0": False, "3.0.2": True, "3.1.0": False, "3.1.1": True},
    closes="the records of an aborted transaction are not read as committed",
    source="KAFKA-13727 (2.8.2, 3.0.2, 3.1.1, 3.2.0)",
    trials=(Trial("log-compacted-transactions", ("aborted_record_is_left_out",), variant="2.7"),),
)
MARKERS_HAVE_NO_KEY = version_flag(
    "markers_have_no_key",
    "KAFKA-14055 (3.0.2, 3.1.2, 3.2.1, 3.3.0): the cleaner does not look for the key of a marker in its map; before, a "
    "later record whose key has the same bytes removed the marker",
    {"3.0.2": True, "3.1.0": False, "3.1.2": True, "3.2.0": False, "3.2.1": True},
    closes="a transaction with records in the log has its marker",
    source="KAFKA-14055 (3.0.2, 3.1.2, 3.2.1, 3.3.0)",
    trials=(Trial("log-compacted-transactions", ("transaction_has_its_marker",)),),
)
LAST_BATCHES_ARE_EMPTIED = version_flag(
    "last_batches_are_emptied",
    "KAFKA-5490 (0.11.0.1, 1.0.0): of the last batch of a producer the cleaner leaves the header; in 0.11.0.0 it left "
    "the last record, too, which outlived a tombstone that is later",
    {"0.11.0.0": False, "0.11.0.1": True},
    before=True,
    closes="a deleted key does not come back",
    source="KAFKA-5490 (0.11.0.1, 1.0.0)",
    trials=(Trial("log-deleted-key", ("deleted_key_stays_deleted",), variant="0.11.0.0"),),
)
EMPTY_BATCHES_ALONE_ARE_WRITTEN = version_flag(
    "empty_batches_alone_are_written",
    "KAFKA-7385 (2.0.1, 2.1.0): the cleaner writes what it keeps of a buffer also if that is empty batches only; "
    "before, it took -1 for their largest offset, and stopped",
    {"2.0.1": True},
    closes="the cleaner does not die of a buffer of which it keeps nothing but empty batches",
    source="KAFKA-7385 (2.0.1, 2.1.0)",
    trials=(
        Trial(
            "log-empty-batches",
            ("cleaner_outlives_empty_batches",),
            variant="2.0",
            flags={"empty_markers_are_read": True},
        ),
    ),
)
EMPTY_MARKERS_ARE_READ = version_flag(
    "empty_markers_are_read",
    "KAFKA-7467 (2.0.1, 2.1.0): a marker that a cleaning has left empty is passed over; before, it was an exception "
    "for the cleaner, and for a coordinator that loads its groups",
    {"2.0.1": True},
    closes="the cleaner and coordinators read logs with empty markers",
    source="KAFKA-7467 (2.0.1, 2.1.0)",
    trials=(
        Trial("log-empty-batches", ("empty_marker_can_be_loaded",), variant="2.0"),
        Trial(
            "log-empty-batches",
            ("cleaner_outlives_empty_batches",),
            variant="2.0",
            bounds={"cleanings": 3},
            flags={"empty_batches_alone_are_written": True},
        ),
    ),
)
LAST_BATCH_IS_KNOWN_BY_ITS_OFFSET = version_flag(
    "last_batch_is_known_by_its_offset",
    "KAFKA-8335 (2.2.1, 2.3.0): the cleaner knows the last batch of a producer by its offset; before, by its sequence "
    "number, which all batches of a group coordinator share",
    {"2.2.1": True},
    closes="a cleaning leaves one empty batch of a producer",
    source="KAFKA-8335 (2.2.1, 2.3.0)",
    trials=(
        Trial(
            "log-empty-batches",
            ("one_batch_is_left_empty",),
            variant="2.0",
            bounds={"reuses": 1},
            flags={"empty_batches_alone_are_written": True, "empty_markers_are_read": True},
        ),
    ),
)
END_OFFSET_BEFORE_THE_INDEX = version_flag(
    "end_offset_before_the_index",
    "KAFKA-7866 (2.2.1, 2.3.0): the end offset is raised before the transaction index is written; before, after that, "
    "so that the next batch got the same offset if the index could not be written",
    {"2.2.1": True},
    closes="an offset is given once, also after an error of the transaction index",
    source="KAFKA-7866 (2.2.1, 2.3.0)",
    trials=(Trial("log-write-errors", ("offset_is_given_once",), variant="2.0"),),
)
FAILED_WRITES_FENCE = version_flag(
    "failed_writes_fence",
    "KAFKA-10778 (2.8.0): a log whose write has failed takes no appends; before, until its directory was offline",
    {"2.8.0": True},
    closes="nothing is acknowledged behind a part of a batch",
    source="KAFKA-10778 (2.8.0)",
    trials=(Trial("log-write-errors", ("answered_batch_survives_a_failure",), variant="2.7"),),
)
CLEANERS_OUTLIVE_ERRORS = version_flag(
    "cleaners_outlive_errors",
    "KAFKA-7215 (2.1.0): an error of a cleaning that is not of the disk marks the log as uncleanable; before, it ended "
    "the cleaner's thread",
    {"2.1.0": True},
    closes="an error of one log does not end the thread that cleans all of them",
    source="KAFKA-7215 (2.1.0)",
    trials=(
        Trial(
            "log-shared-with-the-cleaner",
            ("cleaner_outlives_errors",),
            variant="2.0",
            flags={"choices_outlive_errors": True},
        ),
    ),
)
DELETED_LOGS_ARE_FORGOTTEN = version_flag(
    "deleted_logs_are_forgotten",
    "KAFKA-13305 (3.1.0): the cleaner's thread forgets that a log was uncleanable which is not there any more, when it "
    "comes round; before, a topic that was created again under that name was not cleaned",
    {"3.1.0": True},
    closes="a topic is cleaned that is created again after an error of its log",
    source="KAFKA-13305 (3.1.0)",
    trials=(Trial("log-uncleanable", ("topic_created_later_is_cleaned",)),),
)
READ_ERRORS_ARE_OF_THE_DISK = version_flag(
    "read_errors_are_of_the_disk",
    "in 1.0 and 1.1 an error of the disk, as the cleaner reads what is new, takes the log directory offline; since "
    "2.0.0 it is within another exception, so that it ended the thread, and since 2.1.0 (KAFKA-7215) marks the log",
    {"1.0.0": True, "2.0.0": False},
    closes="an error of the disk that the cleaner meets takes the log directory offline",
    source="no release since 2.0",
    trials=(Trial("log-uncleanable", ("failed_disk_is_offline",), variant="3.9.0"),),
)
BAD_NUMBERS_ARE_OF_THE_DISK = version_flag(
    "bad_numbers_are_of_the_disk",
    "a number in a checkpoint that cannot be read takes the log directory offline; since 3.1.0 it is an exception "
    "which ends the cleaner's thread, and at a start is passed over",
    {"3.1.0": False},
    before=True,
    closes="what is in a checkpoint is not passed over, nor ends the cleaner, if a number cannot be read",
    source="no release since 3.1",
    trials=(
        Trial(
            "log-unreadable-checkpoint",
            ("deleted_records_stay_deleted", "cleaner_outlives_its_checkpoint"),
            variant="3.9.0",
        ),
    ),
)
CHOICES_OUTLIVE_ERRORS = version_flag(
    "choices_outlive_errors",
    "KAFKA-8725 (2.4.0): the same of an error as the cleaner's thread computes what there is to clean",
    {"2.4.0": True},
    closes="an error of one log, as the cleaner chooses, does not end the thread that cleans all of them",
    source="KAFKA-8725 (2.4.0)",
    trials=(Trial("log-shared-with-the-cleaner", ("cleaner_outlives_errors",), variant="2.3.1"),),
)
DELETIONS_CAN_BE_ABORTED = version_flag(
    "deletions_can_be_aborted",
    "KAFKA-6568 (1.0.1, 1.1.0): the cleaner's thread, which deletes segments of a log, notices at the end that a "
    "fetcher waits to truncate it; before, the fetcher waited for good",
    {"1.0.1": True},
    closes="a fetcher that truncates a log gets its turn after the cleaner",
    source="KAFKA-6568 (1.0.1, 1.1.0)",
    trials=(
        Trial(
            "log-shared-with-the-cleaner",
            ("truncation_does_not_wait_for_good",),
            variant="1.0",
            bounds={"log_errors": 0},
        ),
    ),
)
FAILED_TRUNCATIONS_RESUME = version_flag(
    "failed_truncations_resume",
    "KAFKA-3123 (0.11.0.0): a truncation that fails resumes the cleaner; before, the log was not cleaned any more",
    {"0.11.0.0": True},
    closes="a log is cleaned on after a truncation that has failed",
    source="KAFKA-3123 (0.11.0.0)",
    trials=(Trial("log-shared-with-the-cleaner", ("cleaning_resumes",), variant="0.10.2"),),
)
INDEXES_FOLLOW_THEIR_FOLDER = version_flag(
    "indexes_follow_their_folder",
    "KAFKA-5752 (0.11.0.1, 1.0.0): the indexes of a log that is deleted know its new folder; before, its time indexes "
    "did not, and what was deleted was the file of the log that had been created since",
    {"0.11.0.1": True},
    closes="a deletion deletes no file of a topic that was created again",
    source="KAFKA-5752 (0.11.0.1, 1.0.0)",
    trials=(Trial("log-deletion", ("log_keeps_its_time_index",), variant="0.11.0.0"),),
)
DELETION_WAITS_FOR_FLUSHES = version_flag(
    "deletion_waits_for_flushes",
    "KAFKA-6624 (1.1.0): the files of a deleted log stay open for file.delete.delay.ms; in 1.0, which takes a log "
    "directory offline at an error, they were closed at once, under a flush",
    {"1.0.0": False, "1.1.0": True},
    before=True,
    closes="a deletion during a flush takes no log directory offline",
    source="KAFKA-6624 (1.1.0)",
    trials=(Trial("log-deletion", ("directory_outlives_a_deletion",), variant="1.0"),),
)
EMPTY_FOLDERS_ARE_LOADED = version_flag(
    "empty_folders_are_loaded",
    "KAFKA-8564 (2.2.2, 2.3.0): a folder that is being deleted, and has no segment any more, can be loaded; before, "
    "the start of the broker failed",
    {"2.2.2": True},
    closes="a broker starts that has crashed during a deletion",
    source="KAFKA-8564 (2.2.2, 2.3.0)",
    trials=(Trial("log-deletion", ("broker_starts_amid_a_deletion",), variant="2.0"),),
)
FOLDERS_ARE_FLUSHED = version_flag(
    "folders_are_flushed",
    "KAFKA-3968 (3.0.0): a flush of a new segment also flushes its folder",
    {"3.0.0": True},
    closes="what was flushed is there after a crash, also on file systems that lose the names of files",
    source="KAFKA-3968 (3.0.0)",
    trials=(Trial("log-lost-names", ("flushed_records_survive",)),),
)
FLUSHES_OUTLIVE_THEIR_FOLDER = version_flag(
    "flushes_outlive_their_folder",
    "KAFKA-15391, KAFKA-15572 (3.5.2, 3.6.0): a flush whose folder was renamed, for a deletion or at the end of a "
    "move, is no error; since 3.0, and before, it took the log directory offline",
    {"3.5.2": True},
    closes="a deletion, or a move, during a flush of the folder takes no log directory offline",
    source="KAFKA-15391, KAFKA-15572 (3.5.2, 3.6.0)",
    trials=(
        Trial("log-deletion", ("directory_outlives_a_deletion",), variant="3.5.1"),
        Trial("log-move-amid-a-flush", ("directory_outlives_a_move",), variant="3.5.1"),
    ),
)
GONE_FILES_ARE_PASSED_OVER = version_flag(
    "gone_files_are_passed_over",
    "KAFKA-13403 (3.9.0): the deletion of a log's folder passes over a file that another thread has deleted meanwhile; "
    "from 1.0 on that took the log directory offline",
    {"1.0.0": False, "3.9.0": True},
    before=True,
    closes="a deletion beside the removal of a segment takes no log directory offline",
    source="KAFKA-13403 (3.9.0): Utils.delete",
    trials=(Trial("log-deletion-amid-retention", ("directory_outlives_a_deletion",), variant="3.7.0"),),
)
CLOSED_FILES_MAY_BE_GONE = candidate(
    "closed_files_may_be_gone",
    "KAFKA-19571, of a release after 3.9: the flush of a segment passes over files that are closed and gone",
    closes="a deletion amid a flush that waits for a thread takes no log directory offline",
    source="KAFKA-19571 (after 3.9): LogSegment.flush",
    trials=(Trial("log-deletion-amid-a-long-flush", ("directory_outlives_a_deletion",), variant="3.9.0"),),
)
RESPONSES_ARE_OF_THEIR_EPOCH = version_flag(
    "responses_are_of_their_epoch",
    "KAFKA-18723 (3.9.1): a follower appends no batch of a later leader epoch than that of its fetch; before, a "
    "response whose bytes are read from the file late may have what its leader got from the next one",
    {"3.9.1": True},
    closes="a follower that has missed an election appends nothing of the next leader",
    source="KAFKA-18723 (3.9.1): UnifiedLog.appendAsFollower",
    trials=(Trial("leader-epochs-late-bytes", ("logs_agree",), variant="3.9.0"),),
)
MOVED_SNAPSHOTS_ARE_FOUND = version_flag(
    "moved_snapshots_are_found",
    "a snapshot of producers that is to be deleted goes, also if a future log replaces the current one before; since "
    "3.0.0 (KAFKA-12964), by which a log forgets it first, it stays until the next start",
    {"3.0.0": False},
    before=True,
    closes="removed segments leave no snapshots after a move",
    source="no release since 3.0.0; ProducerStateManager.removeAndMarkSnapshotForDeletion",
    trials=(Trial("log-snapshot-after-a-move", ("removed_segment_leaves_no_snapshot",), variant="3.9.0"),),
)
MOVED_FILES_ARE_FOUND = version_flag(
    "moved_files_are_found",
    "KAFKA-16424 (3.8.0): files that were to be deleted before a future log replaced the current one are deleted where "
    "they are now; before, they stayed until the next start",
    {"3.8.0": True},
    closes="removed segments leave no files after a move",
    source="KAFKA-16424 (3.8.0)",
    trials=(Trial("log-deletion-after-a-move", ("removed_segment_leaves_no_files",)),),
)
STABLE_OFFSET_IS_OF_ONE_MOMENT = version_flag(
    "stable_offset_is_of_one_moment",
    "KAFKA-9807 (2.5.0): a fetch with read_committed reads the high watermark once; before, twice, and it may have "
    "risen in between, to records of a transaction that is open",
    {"2.5.0": True},
    closes="readers of committed records read no record of an open transaction",
    source="KAFKA-9807 (2.5.0)",
    trials=(Trial("log-committed-reads", ("open_transaction_is_not_read",), variant="2.3.1"),),
)
TRUNCATES_BY_EPOCH = version_flag(
    "truncates_by_epoch",
    "KIP-101 (0.11.0.0): a follower asks its leader where its latest leader epoch ends, and truncates to there; "
    "before, to its own high watermark",
    {"0.11.0.0": True},
    closes="a follower that truncates keeps what is committed",
    source="KIP-101 (0.11.0.0)",
    trials=(Trial("leader-epochs", ("committed_record_is_kept",), variant="3.9.0"),),
)
LEADER_ANSWERS_WITH_ITS_EPOCH = version_flag(
    "leader_answers_with_its_epoch",
    "KAFKA-6361, KIP-279 (2.0.0): the leader answers also with the epoch that it knows up to the requested one; "
    "before, with an offset only, which may be of an epoch that the follower does not have",
    {"2.0.0": True},
    closes="after fast failovers a follower truncates to where the logs are equal",
    source="KAFKA-6361, KIP-279 (2.0.0)",
    trials=(Trial("leader-epochs", ("logs_agree",), variant="1.0", flags={"leader_knows_its_epoch": True}),),
)
LEADER_KNOWS_ITS_EPOCH = version_flag(
    "leader_knows_its_epoch",
    "KAFKA-7415 (2.0.1, 2.1.0): a leader enters its epoch when it is elected; before, with its first record, so that "
    "it did not know where later epochs of followers end",
    {"2.0.1": True},
    closes="a leader knows where all epochs of its followers end",
    source="KAFKA-7415 (2.0.1, 2.1.0)",
    trials=(Trial("leader-epochs", ("committed_record_is_kept",), variant="2.0"),),
)
ISR_NEEDS_THE_EPOCH = version_flag(
    "isr_needs_the_epoch",
    "KAFKA-7128 (2.0.1, 2.1.0): a follower joins the ISR when it has reached the offset at which the leader was "
    "elected; before, the leader's high watermark, which may be behind that of the leader before",
    {"2.0.1": True},
    closes="a replica that joins the ISR has all that is committed",
    source="KAFKA-7128 (2.0.1, 2.1.0)",
    trials=(
        Trial(
            "leader-epochs",
            ("committed_record_is_kept",),
            variant="2.5",
            bounds={"members": 3, "elections": 2, "offsets": 2, "crashes": 1},
        ),
    ),
)
END_NEEDS_THE_EPOCH = version_flag(
    "end_needs_the_epoch",
    "KAFKA-2334, KIP-207 (2.2.0): a leader tells clients the end of its log once its high watermark has reached the "
    "offset at which it was elected; before, at once",
    {"2.2.0": True},
    closes="the end that consumers are told does not go back",
    source="KAFKA-2334, KIP-207 (2.2.0)",
    trials=(Trial("leader-epochs-end-lookups", ("told_end_does_not_go_back",), variant="2.1.0"),),
)
MISSED_EPOCHS_TRUNCATE = version_flag(
    "missed_epochs_truncate",
    "KAFKA-7164 (2.0.1, 2.1.0): a follower truncates after each leader epoch that it has missed; before, if its leader "
    "was the one that it knew, it went on to fetch",
    {"2.0.1": True},
    closes="a follower that has missed an election truncates what its leader does not have any more",
    source="KAFKA-7164 (2.0.1, 2.1.0)",
    trials=(
        Trial(
            "leader-epochs-missed-election",
            ("logs_agree", "committed_record_is_kept"),
            variant="2.0",
            flags={"leader_knows_its_epoch": True, "isr_needs_the_epoch": True},
        ),
    ),
)
FETCHES_HAVE_AN_EPOCH = version_flag(
    "fetches_have_an_epoch",
    "KAFKA-6880, KAFKA-7395, KIP-320 (2.1.0): the fetch of a follower has the leader epoch that it knows, and a leader "
    "refuses one of an earlier epoch; before, a follower that had missed all elections went on to fetch",
    {"2.1.0": True},
    closes="a replica that has missed elections copies nothing before it truncates",
    source="KAFKA-6880, KAFKA-7395, KIP-320 (2.1.0)",
    trials=(
        Trial(
            "leader-epochs-zombie-follower",
            ("committed_record_is_kept",),
            variant="2.0",
            flags={"leader_knows_its_epoch": True, "isr_needs_the_epoch": True, "missed_epochs_truncate": True},
        ),
    ),
)
SHORTER_LEADERS_ARE_FOLLOWED = version_flag(
    "shorter_leaders_are_followed",
    "KAFKA-7414 (2.0.1, 2.1.0): a follower whose log is longer than its leader's truncates it; before, with "
    "unclean.leader.election.enable=false, which is the default since 0.11.0.0, its broker exited",
    {"0.11.0.0": False, "2.0.1": True},
    before=True,
    closes="no broker exits as its leader's log is shorter",
    source="KAFKA-7414 (2.0.1, 2.1.0)",
    trials=(Trial("leader-epochs-missed-election", ("broker_outlives_its_leaders_log",), variant="2.0"),),
)
EXITS_WRITE_CHECKPOINTS = version_flag(
    "exits_write_checkpoints",
    "KAFKA-3924 (0.10.0.1) with KAFKA-4039 (0.11.0.0): a broker that exits, as its leader's log is shorter, writes its "
    "high watermarks; 0.10.0.0 halts, and up to 0.10.2 the shutdown waits for the thread that has asked for it",
    {"0.11.0.0": True},
    closes="a broker that exits rather than truncate does not truncate more at its next start",
    source="KAFKA-3924 (0.10.0.1), KAFKA-4039 (0.11.0.0)",
    trials=(Trial("leader-epochs-lost-tail", ("exit_spares_records",), variant="0.10.0"),),
)
TRUNCATES_BEFORE_THE_HIGH_WATERMARK = version_flag(
    "truncates_before_the_high_watermark",
    "KAFKA-14704 (3.4.1, 3.5.0): a follower truncates by the diverging epoch of a response, and takes the high "
    "watermark from the next one; since 2.8.0 (KAFKA-10554) and until then, it raised its high watermark first",
    {"2.8.0": False, "3.4.1": True},
    before=True,
    closes="a follower shows consumers no record that it is about to truncate",
    source="KAFKA-14704 (3.4.1, 3.5.0)",
    trials=(Trial("leader-epochs", ("follower_shows_what_is_committed",)),),
)
REMOVED_PARTITIONS_STAY = version_flag(
    "removed_partitions_stay",
    "KAFKA-13207 (2.8.1, 3.0.0): a fetcher truncates only partitions that it still has, by the diverging epochs of a "
    "response; in 2.8.0 (KAFKA-10554), also one that its broker leads by now",
    {"2.8.0": False, "2.8.1": True},
    before=True,
    closes="a leader's log is not truncated by an answer to what it asked as a follower",
    source="KAFKA-13207 (2.8.1, 3.0.0)",
    trials=(Trial("leader-epochs-late-answer", ("committed_record_is_kept",), variant="2.8.0"),),
)
ANSWERS_MATCH_THE_EPOCH = version_flag(
    "answers_match_the_epoch",
    "KAFKA-7786 (2.1.1, 2.2.0), KAFKA-18991 (3.9.1): a fetcher leaves an answer out that its leader gave in an earlier "
    "leader epoch; before 2.1.1 it truncated by it, and again since 2.8.0 (KAFKA-10554), if the partition is fetched "
    "from the same offset as then",
    {"2.1.1": True, "2.8.0": False, "3.9.1": True},
    closes="a follower's log is not truncated by an answer from an earlier leader epoch",
    source="KAFKA-7786 (2.1.1, 2.2.0), KAFKA-18991 (3.9.1)",
    trials=tuple(
        Trial("leader-epochs-stale-answer", ("committed_record_is_kept",), variant=release)
        for release in ("2.1.0", "3.9.0")
    ),
)
OUT_OF_RANGE_COMES_FIRST = version_flag(
    "out_of_range_comes_first",
    "KAFKA-12996 (2.8.1, 3.0.0): a leader answers a fetch below its start offset with OFFSET_OUT_OF_RANGE also where "
    "the epochs diverge; in 2.8.0 with the diverging epoch and its start offset, at which the fetcher gave up",
    {"2.8.0": False, "2.8.1": True},
    before=True,
    closes="a follower below the start offset of its leader begins its log afresh",
    source="KAFKA-12996 (2.8.1, 3.0.0)",
    trials=(Trial("leader-epochs-deleted-records", ("fetcher_does_not_give_up",), variant="2.8.0"),),
)
EPOCHS_ARE_TRUNCATED_AT_THE_END = version_flag(
    "epochs_are_truncated_at_the_end",
    "KAFKA-10706 (2.6.1, 2.7.0): a truncation to the end of the log removes an epoch without records that begins there",
    {"2.6.1": True},
    closes="a truncation ends",
    source="KAFKA-10706 (2.6.1, 2.7.0)",
    trials=(Trial("leader-epochs", ("truncation_ends",), variant="2.5"),),
)
UNDEFINED_EPOCHS_HAVE_NO_END = version_flag(
    "undefined_epochs_have_no_end",
    "KAFKA-6857 (1.0.2, 1.1.1, 2.0.0): a leader without leader epochs, as with a message format before 0.11, answers "
    "that it does not know where none ends, so that its follower truncates to the high watermark; before, with the end "
    "of its log",
    {"1.0.2": True, "1.1.0": False, "1.1.1": True},
    closes="followers truncate to the high watermark if records have no leader epochs",
    source="KAFKA-6857 (1.0.2, 1.1.1, 2.0.0)",
    trials=(
        Trial(
            "leader-epochs-old-format",
            ("logs_agree",),
            variant="1.0",
            bounds={"members": 2, "old_members": 2, "elections": 1},
        ),
    ),
)
UNDEFINED_EPOCHS_ARE_NOT_ASKED = version_flag(
    "undefined_epochs_are_not_asked",
    "KAFKA-6859 (2.1.0): a follower without leader epochs asks for the end of none, and truncates to its high "
    "watermark; before, to what its leader answers, which may be of a release before KAFKA-6857",
    {"2.1.0": True},
    closes="followers truncate to the high watermark if records have no leader epochs, below any leader",
    source="KAFKA-6859 (2.1.0)",
    trials=(Trial("leader-epochs-early-leader", ("logs_agree",), variant="2.0"),),
)
OLD_FORMATS_HAVE_NO_EPOCHS = version_flag(
    "old_formats_have_no_epochs",
    "KAFKA-7897 (2.1.1, 2.2.0): a log whose message format is before 0.11 has no leader epochs; since 2.0.1, and "
    "before, its leaders knew theirs, and followers truncated by the few that they knew",
    {"2.1.1": True},
    closes="followers do not truncate below the high watermark if records have no leader epochs",
    source="KAFKA-7897 (2.1.1, 2.2.0)",
    trials=(
        Trial(
            "leader-epochs-mixed-formats",
            ("truncation_spares_what_is_committed",),
            variant="2.1.0",
            bounds={"members": 2, "old_members": 2, "elections": 2},
        ),
    ),
)
OLD_RECORDS_CLEAR_EPOCHS = version_flag(
    "old_records_clear_epochs",
    "KAFKA-7601 (2.2.1, 2.3.0): a record of a message format before 0.11 clears the leader epochs of a log, as brokers "
    "with both formats may lead in turn during an upgrade",
    {"2.2.1": True},
    closes="followers do not truncate below the high watermark while message formats are upgraded",
    source="KAFKA-7601 (2.2.1, 2.3.0)",
    trials=(Trial("leader-epochs-mixed-formats", ("truncation_spares_what_is_committed",), variant="2.2.0"),),
)
EPOCH_ZERO_IS_RECOVERED = version_flag(
    "epoch_zero_is_recovered",
    "KAFKA-10432 (2.6.1, 2.7.0): the recovery of a log enters also leader epoch 0 into its epochs",
    {"2.6.1": True},
    closes="a recovered log has all leader epochs of its records",
    source="KAFKA-10432 (2.6.1, 2.7.0)",
    trials=(Trial("leader-epochs-lost", ("epochs_of_the_log_are_known",), variant="2.5"),),
)
EPOCH_FILE_IS_FLUSHED = version_flag(
    "epoch_file_is_flushed",
    "KAFKA-16541 (3.8.0): leader-epoch-checkpoint is flushed whenever it is written; in 3.7 (KAFKA-15046) not after a "
    "truncation",
    {"3.7.0": False, "3.8.0": True},
    before=True,
    closes="a crash of the machine leaves a file of leader epochs that can be read",
    source="KAFKA-16541 (3.8.0)",
    trials=(Trial("leader-epochs-torn", ("epoch_file_can_be_read",), variant="3.7.0"),),
)
LARGEST_TIMESTAMP_IS_READ = version_flag(
    "largest_timestamp_is_read",
    "KAFKA-16310 (3.8.0): a lookup of the largest timestamp (KIP-734, 3.0) reads the records of the batch that has it; "
    "before, it answered with the last offset of a compressed batch, and of any that is fetched from a leader",
    {"3.8.0": True},
    closes="a lookup of the largest timestamp finds the record that has it",
    source="KAFKA-16310 (3.8.0)",
    trials=(Trial("log-largest-timestamp", ("largest_timestamp_has_its_offset",)),),
)
UNCOMPRESSED_OFFSETS_ARE_KNOWN = version_flag(
    "uncompressed_offsets_are_known",
    "KAFKA-16341 (3.8.0): a leader knows which record of a batch that is not compressed has the largest timestamp; in "
    "3.7 it took the last one",
    {"3.7.0": False, "3.8.0": True},
    before=True,
    closes="a lookup of the largest timestamp finds the record that has it, also of batches that are not compressed",
    source="KAFKA-16341 (3.8.0)",
    trials=(Trial("log-largest-timestamp-uncompressed", ("largest_timestamp_has_its_offset",), variant="3.7.0"),),
)
MOVE_COMPARES_OFFSETS = version_flag(
    "move_compares_offsets",
    "KAFKA-8002 (2.2.0): a future log replaces the current one when both end at the same offset; before, their active "
    "segments had to begin at the same offset, too",
    {"2.2.0": True},
    closes="a move between log directories ends",
    source="KAFKA-8002 (2.2.0)",
    trials=(Trial("log-move", ("move_ends",), variant="2.0"),),
)
EPOCH_REACHES_THE_MOVE = version_flag(
    "epoch_reaches_the_move",
    "KAFKA-9654 (2.5.0): the thread that copies a log to another directory learns of a new leader epoch; before, its "
    "fetches were refused, as they have an epoch since 2.1",
    {"2.5.0": True},
    closes="a move between log directories goes on after an election",
    source="KAFKA-9654 (2.5.0)",
    trials=(Trial("log-move", ("move_does_not_fail",), variant="2.3.1", flags={"move_resumes_at_its_log": True}),),
)
MOVES_HAVE_AN_EPOCH = version_flag(
    "moves_have_an_epoch",
    "KIP-320 (2.1.0): the thread that copies a log to another directory fetches with a leader epoch, as followers do",
    {"2.1.0": True},
    no_fix="what the epoch of a fetch is for, no move between log directories shows",
)
MOVE_RESUMES_AT_ITS_LOG = version_flag(
    "move_resumes_at_its_log",
    "KAFKA-9087 (3.5.0): a move that goes on begins at the future log's high watermark; before, at the current log's, "
    "which an empty future log has not got",
    {"3.5.0": True},
    closes="a move between log directories goes on after an election or a restart, before anything is copied",
    source="KAFKA-9087 (3.5.0)",
    trials=(Trial("log-move", ("move_does_not_fail",)),),
)
MOVE_ASKS_BY_ITS_EPOCH = version_flag(
    "move_asks_by_its_epoch",
    "KAFKA-6795 (2.0.0): a move asks where the latest leader epoch of the future log ends in the current log; before, "
    "where that of the current log ends, which is at its end",
    {"2.0.0": True},
    closes="the future log is truncated to what the current log has, also when that has other records by then",
    source="KAFKA-6795 (2.0.0)",
    trials=(Trial("log-move-diverged", ("moved_log_has_the_same_records",), variant="1.1"),),
)
DAMAGED_BATCHES_ARE_FETCHED_AGAIN = version_flag(
    "damaged_batches_are_fetched_again",
    "KAFKA-4384 (0.10.1.1): a fetcher goes on behind a batch when that is appended; before, also if its checksum was "
    "wrong, and the next batch then ended the thread (Offset mismatch for partition)",
    {"0.10.1.1": True},
    closes="a follower outlives a batch that was damaged on its way",
    source="KAFKA-4384 (0.10.1.1)",
    trials=(Trial("log-copy-damaged", ("follower_catches_up",), variant="0.10.1"),),
)
RESPONSES_ARE_OF_ONE_MOMENT = version_flag(
    "responses_are_of_one_moment",
    "KAFKA-7104 (1.0.2, 1.1.1, 2.0.0): a response to a fetch has the start offset that the leader had when it read the "
    "records; since 1.0.0 and until then, a later one, which the follower could not take",
    {"1.0.0": False, "1.0.2": True, "1.1.0": False, "1.1.1": True},
    before=True,
    closes="a follower goes on when its leader deletes records",
    source="KAFKA-7104 (1.0.2, 1.1.1, 2.0.0)",
    trials=(
        Trial(
            "log-copy",
            ("follower_catches_up",),
            variant="1.0",
            flags={"followers_take_large_batches": True, "copies_begin_within_a_batch": True},
        ),
    ),
)
COPIES_BEGIN_WITHIN_A_BATCH = version_flag(
    "copies_begin_within_a_batch",
    "KAFKA-6975 (1.0.2, 1.1.1, 2.0.0): a follower whose log begins within a batch, as its leader's start offset is "
    "there, begins again where the batch does; before, it could not append the batch, and its fetcher ended",
    {"1.0.2": True, "1.1.0": False, "1.1.1": True},
    closes="a follower copies a log of which clients have deleted a part of the first batch",
    source="KAFKA-6975 (1.0.2, 1.1.1, 2.0.0)",
    trials=(
        Trial(
            "log-copy",
            ("follower_catches_up",),
            variant="1.0",
            flags={"followers_take_large_batches": True, "responses_are_of_one_moment": True},
        ),
    ),
)
FOLLOWERS_TAKE_LARGE_BATCHES = version_flag(
    "followers_take_large_batches",
    "KAFKA-9617 (2.6.0): a follower appends what its leader has; before, it refused batches that are larger than "
    "max.message.bytes of the topic is by now",
    {"2.6.0": True},
    closes="a follower copies batches of before max.message.bytes was lowered",
    source="KAFKA-9617 (2.6.0)",
    trials=(Trial("log-copy", ("follower_catches_up",), variant="2.5"),),
)
FOLLOWERS_TAKE_LARGER_THAN_SEGMENTS = candidate(
    "followers_take_larger_than_segments",
    "KAFKA-17375: a follower appends what its leader has, also a batch that is larger than segment.bytes is by now",
    closes="a follower copies batches of before segment.bytes was lowered",
    source="no release; KAFKA-17375",
    trials=(Trial("log-copy-above-segments", ("follower_catches_up",), variant="3.9.0"),),
)
LOG_IS_LOCKED_WHILE_IT_IS_UPDATED = version_flag(
    "log_is_locked_while_it_is_updated",
    "KAFKA-9263 (2.8.0): a leader's log is not replaced at the end of a move while its high watermark is raised; since "
    "2.4.0 and until then, the high watermark of the log that was replaced could be raised instead",
    {"2.4.0": False, "2.8.0": True},
    before=True,
    closes="a record that is in all replicas is committed, also when a move ends",
    source="KAFKA-9263 (2.8.0)",
    trials=(Trial("log-move-late-update", ("replicated_record_is_committed",), variant="2.7"),),
)
PAUSES_ARE_COUNTED = version_flag(
    "pauses_are_counted",
    "KAFKA-7441 (2.1.0): cleaning is resumed when it was resumed as often as it was paused; before, a truncation "
    "during a move between log directories resumed it, and the end of the move failed, as it had nothing to resume",
    {"2.1.0": True},
    closes="a truncation during a move between log directories does not resume the cleaner",
    source="KAFKA-7441 (2.1.0)",
    trials=(
        Trial(
            "log-move-compacted",
            ("cleaning_pauses_for_a_move", "move_does_not_fail"),
            variant="2.0",
            flags={"move_resumes_at_its_log": True},
        ),
    ),
)
MOVES_PAUSE_ONCE = version_flag(
    "moves_pause_once",
    "KAFKA-16709 (3.8.0): cleaning pauses once for a move; since 2.5.0 (KAFKA-9654) and until then, also with each "
    "leader epoch during a move, whose end resumes it once",
    {"2.5.0": False, "3.8.0": True},
    before=True,
    closes="a log is cleaned again after a move",
    source="KAFKA-16709 (3.8.0)",
    trials=(Trial("log-move-compacted", ("cleaning_resumes_after_a_move",)),),
)
OLD_REQUESTS_LEAVE_MOVES = version_flag(
    "old_requests_leave_moves",
    "PR-8460 (2.6.0): a LeaderAndIsr request with a leader epoch that the broker knows changes no move; in 2.5, since "
    "KAFKA-9654, it pauses cleaning once more, which the end of the move resumes once",
    {"2.5.0": False, "2.6.0": True},
    before=True,
    closes="a log is cleaned again after a move amid which the controller moved",
    source="commit b02bdd322 (2.6.0): ReplicaManager.maybeAddLogDirFetchers",
    trials=(
        Trial(
            "log-move-amid-a-failover",
            ("cleaning_resumes_after_a_move",),
            variant="2.5",
            flags={"moves_pause_once": True},
        ),
    ),
)
REPLACED_MOVES_RESUME = candidate(
    "replaced_moves_resume",
    "KAFKA-19458, of a release after 3.9: cleaning resumes as a move is replaced by one to another log directory, or "
    "cancelled (KAFKA-16114); since 2.1, which counts pauses, it does not; before, not as it is cancelled",
    closes="a log is cleaned again after a move that replaces another one",
    source="KAFKA-19458 (after 3.9): ReplicaManager.alterReplicaLogDirs",
    trials=(
        Trial("log-move-replaced", ("cleaning_resumes_after_a_move",), variant="3.9.0"),
        Trial("log-move-cancelled", ("cleaning_resumes_after_a_move",), variant="3.9.0"),
    ),
)
FAILED_MOVES_RESUME = candidate(
    "failed_moves_resume",
    "KAFKA-14824: cleaning resumes as the thread that moves a log fails, and drops it",
    closes="a log is cleaned whose move has failed",
    source="no release; KAFKA-14824",
    trials=(Trial("log-move-that-fails", ("cleaning_outlives_a_failed_move",), variant="3.9.0"),),
)
CHECKPOINT_MOVES = version_flag(
    "checkpoint_moves",
    "KAFKA-8362 (2.7.0): with a log, the cleaner's checkpoint of it leaves its directory; before, both directories had "
    "one, of which the last that is read was taken",
    {"2.7.0": True},
    closes="the cleaner knows what it has cleaned after a move",
    source="KAFKA-8362 (2.7.0)",
    trials=(Trial("log-move-compacted", ("cleaning_is_remembered",), variant="2.5"),),
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
ROLLS_BEFORE_THE_BATCH = version_flag(
    "rolls_before_the_batch",
    "KAFKA-6683 (1.0.2, 1.1.0): the snapshot of a roll has what was known before the batch that rolls; in 1.0.0, "
    "1.0.1 it had that batch already",
    {"1.0.0": False, "1.0.2": True},
    before=True,
    closes="a batch is not taken for one that the log has, after a truncation to where a segment begins",
    source="KAFKA-6683 (1.0.2, 1.1.0)",
    trials=(Trial("log-producer-state", ("answered_batch_was_appended",), variant="1.0"),),
)
REPLICATION_IS_NOT_VALIDATED = version_flag(
    "replication_is_not_validated",
    "KAFKA-6003 (0.11.0.2, 1.0.0): a follower appends what its leader has; before, it compared sequence numbers",
    {"0.11.0.2": True},
    closes="a follower that has deleted the batches of a producer appends its next one",
    source="KAFKA-6003 (0.11.0.2, 1.0.0)",
    trials=(Trial("log-copied-producer", ("replication_continues",), variant="0.11.0.0"),),
)
PRODUCERS_OUTLIVE_RECORDS = version_flag(
    "producers_outlive_records",
    "KAFKA-7190 (2.4.0): a log knows a producer until it expires; before, until its last batch was deleted",
    {"2.4.0": True},
    closes="a producer whose batches were deleted is known, and can continue",
    source="KAFKA-7190 (2.4.0)",
    trials=(
        Trial(
            "log-producer-state",
            ("producer_can_continue", "batch_is_appended_once"),
            variant="2.3.1",
            bounds={"crashes": 0, "stops": 0, "truncations": 0},
        ),
    ),
)
TORN_SNAPSHOTS_ARE_LEFT_OUT = version_flag(
    "torn_snapshots_are_left_out",
    "KAFKA-5747 (0.11.0.1, 1.0.0): a snapshot of producers that is empty or cut off is deleted, and an earlier one is "
    "read; before, the broker did not start",
    {"0.11.0.1": True},
    closes="a broker starts after a crash that has torn a snapshot",
    source="KAFKA-5747 (0.11.0.1, 1.0.0)",
    trials=(Trial("log-producer-state", ("broker_starts_after_a_crash",), variant="0.11.0.0"),),
)
LOOKUPS_END_AT_THE_STABLE_OFFSET = version_flag(
    "lookups_end_at_the_stable_offset",
    "KAFKA-5522 (0.11.0.1, 1.0.0): a lookup by timestamp with read_committed finds no record of an open transaction; "
    "before, any record up to the high watermark, and the one at it",
    {"0.11.0.1": True},
    closes="a lookup with read_committed finds what a fetch does",
    source="KAFKA-5522 (0.11.0.1, 1.0.0)",
    trials=(Trial("log-committed-lookups", ("lookup_finds_what_can_be_read",), variant="0.11.0.0"),),
)
UNKNOWN_PRODUCERS_CONTINUE = version_flag(
    "unknown_producers_continue",
    "KAFKA-8710, KIP-360 (2.5.0): a log appends a batch of a producer that it does not know, whatever its sequence "
    "number; before, it refused all but the first one",
    {"2.5.0": True},
    closes="a producer that a broker has forgotten with a restart can continue",
    source="KAFKA-8710, KIP-360 (2.5.0)",
    trials=(
        Trial(
            "log-producer-state",
            ("producer_can_continue",),
            variant="2.3.1",
            flags={"producers_outlive_records": True},
        ),
    ),
)
MARKERS_KEEP_PRODUCERS = version_flag(
    "markers_keep_producers",
    "KAFKA-9144 (2.4.1): the marker of a transaction counts for the expiration of its producer; since 1.0.0 and until "
    "then, one with a new epoch left no time at all, so that the producer expired at once",
    {"1.0.0": False, "2.4.1": True},
    before=True,
    closes="a producer that the coordinator has fenced stays so",
    source="KAFKA-9144 (2.4.1)",
    trials=(Trial("log-late-batches", ("fenced_producer_appends_nothing",), variant="2.3.1"),),
)
TRUNCATES_TRANSACTIONS_FIRST = version_flag(
    "truncates_transactions_first",
    "KAFKA-12153 (2.7.1, 2.8.0): a truncation forgets transactions before the high watermark follows; since 2.4.0 and "
    "until then, it failed at the first offset of a transaction that was read from the log",
    {"2.4.0": False, "2.7.1": True},
    before=True,
    closes="a truncation does not fail at an open transaction",
    source="KAFKA-12153 (2.7.1, 2.8.0)",
    trials=(Trial("log-late-batches", ("truncation_does_not_fail",), variant="2.5"),),
)
SNAPSHOTS_ARE_FLUSHED = version_flag(
    "snapshots_are_flushed",
    "KAFKA-9892 (2.8.0): a snapshot of producers is flushed when it is written",
    {"2.8.0": True},
    closes="a crash of the machine leaves snapshots of producers that can be read",
    source="KAFKA-9892 (2.8.0)",
    trials=(Trial("log-producer-state", ("snapshot_can_be_read",), variant="2.7"),),
)
SNAPSHOTS_ARE_RENAMED = version_flag(
    "snapshots_are_renamed",
    "KAFKA-12964 (3.0.0): a truncation renames the snapshots of the segments that it deletes; in 2.8 a task deleted "
    "snapshots of that name later, also those written since",
    {"2.8.0": False, "3.0.0": True},
    before=True,
    closes="the task that deletes files spares snapshots of new segments",
    source="KAFKA-12964 (3.0.0)",
    trials=(Trial("log-producer-state", ("file_deletion_spares_snapshots",)),),
)
TRANSACTIONS_ARE_VERIFIED = version_flag(
    "transactions_are_verified",
    "KAFKA-14561, KAFKA-14884, KIP-890 (3.6.0): before a leader begins a transaction in its log, it asks the "
    "coordinator whether the producer has one (transaction.partition.verification.enable)",
    {"3.6.0": True},
    closes="a batch that comes after its transaction has ended begins none that nobody ends",
    source="KAFKA-14561, KAFKA-14884, KIP-890 (3.6.0)",
    trials=(Trial("log-late-batches", ("open_transaction_is_ongoing",), bounds={"truncations": 0}),),
)
TRUNCATION_READS_BATCHES = candidate(
    "truncation_reads_batches",
    "a truncation reads the batches behind its snapshot, also if the log knew no producer before",
    closes="a transaction that has ended is not open again after a truncation",
    source="no release",
    trials=(Trial("log-late-batches", ("open_transaction_is_ongoing",), variant="3.9.0"),),
)
RECOVERY_READS_ITS_OWN_STATE = version_flag(
    "recovery_reads_its_own_state",
    "KAFKA-10832 (2.8.0): a recovery that reads earlier segments knows the transactions that were open before each; "
    "until then, it took the first batch in a segment for the beginning of a transaction that went on there",
    {"2.8.0": True},
    closes="a log that was recovered knows where its open transactions begin",
    source="KAFKA-10832 (2.8.0)",
    trials=(Trial("log-recovered-transactions", ("open_transaction_has_its_first_offset",), variant="2.7"),),
)
EARLIEST_SEQUENCE_COUNTS = version_flag(
    "earliest_sequence_counts",
    "KAFKA-14920 (3.6.0): a leader appends no batch behind the earliest one that it has asked the coordinator about, "
    "which it remembers also after a refusal",
    {"3.6.0": True},
    closes="a batch does not overtake one about which the coordinator is asked again",
    source="KAFKA-14920 (3.6.0)",
    trials=(
        Trial(
            "log-late-copies",
            ("producer_can_continue",),
            variant="3.9.0",
            about="the price: after a late copy of a batch the next transaction is refused",
        ),
    ),
)
SLICES_LOOK_ONCE = version_flag(
    "slices_look_once",
    "KAFKA-9835 (2.5.1): a fetch looks once where the file ends; since 1.1.0 twice, so that one that ends there gets "
    "what is written in between, too",
    {"1.1.0": False, "2.5.1": True},
    before=True,
    closes="a consumer gets nothing from above the high watermark",
    source="KAFKA-9835 (2.5.1): FileRecords.slice",
    trials=(Trial("log-fetch-amid-an-append", ("fetch_ends_at_the_high_watermark",), variant="2.3.1"),),
)
LOOKUPS_LOOK_ONCE = version_flag(
    "lookups_look_once",
    "KAFKA-2236 (0.10.0.1): a lookup of offsets looks once whether the last segment has records; before, twice",
    {"0.10.0.1": True},
    closes="a lookup of offsets is answered while the first record of a segment is appended",
    source="KAFKA-2236 (0.10.0.1): KafkaApis.fetchOffsetsBefore",
    trials=(Trial("log-lookup-amid-changes", ("lookup_is_answered",), variant="0.10.0", bounds={"old_segments": 0}),),
)
SEGMENTS_ARE_BUFFERED = version_flag(
    "segments_are_buffered",
    "KAFKA-4205 (0.10.1.1): lookups, and the cleaner, copy the list of segments one by one; before, into an array, "
    "which had nulls for segments that were removed meanwhile",
    {"0.10.1.1": True},
    closes="a lookup of offsets is answered while a segment is removed",
    source="KAFKA-4205 (0.10.1.1): KafkaApis.fetchOffsetsBefore, LogCleanerManager.cleanableOffsets",
    trials=(Trial("log-lookup-amid-changes", ("lookup_is_answered",), variant="0.10.1"),),
)
LEADERS_KNOW_POSITIONS_FIRST = version_flag(
    "leaders_know_positions_first",
    "KAFKA-5745 (1.0.0): a replica looks up the position of its high watermark before it leads; before, afterwards",
    {"1.0.0": True},
    closes="a fetch that waits is answered by a replica that begins to lead",
    source="KAFKA-5745 (1.0.0): Partition.makeLeader",
    trials=(Trial("log-fetch-from-a-new-leader", ("fetch_is_answered",), variant="0.11.0.0"),),
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
TRANSACTIONS_BEGIN_AT_OFFSETS = version_flag(
    "transactions_begin_at_offsets",
    "KAFKA-7692 (2.1.1): a transaction begins at the first offset of its first batch; before, that offset was counted "
    "by sequence numbers, which can begin again amid a batch",
    {"2.1.1": True},
    closes="no record of an open transaction is read whose producer has sent 2,147,483,647 records",
    source="KAFKA-7692 (2.1.1): ProducerAppendInfo.append",
    trials=(Trial("log-wrapped-sequences", ("transaction_is_read_when_it_has_ended",), variant="2.0"),),
)
SNAPSHOTS_ARE_KEPT_FOR_RECOVERY = version_flag(
    "snapshots_are_kept_for_recovery",
    "KAFKA-5829 (1.0.0): snapshots of producers are deleted that are before the recovery point on disk; before, those "
    "before what is flushed, so that a start after a crash read the log from its begin on",
    {"0.11.0.0": False, "1.0.0": True},
    before=True,
    closes="a start after a crash reads what was not flushed",
    source="KAFKA-5829 (1.0.0): Log.deleteSnapshotsAfterRecoveryPointCheckpoint",
    trials=(Trial("log-start-after-a-crash", ("start_reads_what_was_not_flushed",), variant="0.11.0.0"),),
)
OLD_FORMATS_HAVE_NO_PRODUCERS = version_flag(
    "old_formats_have_no_producers",
    "KAFKA-7076 (2.0.0): no producers are looked for in a log with a message format before 0.11; since 0.11.0.0, in "
    "all of it, where it had no snapshots",
    {"0.11.0.0": False, "2.0.0": True},
    before=True,
    closes="the first start after an upgrade reads what was not flushed",
    source="KAFKA-7076 (2.0.0): Log.rebuildProducerState",
    trials=(Trial("log-start-after-an-upgrade", ("start_reads_what_was_not_flushed",), variant="1.0"),),
)
SWAPS_KEEP_SNAPSHOTS = version_flag(
    "swaps_keep_snapshots",
    "KAFKA-12520 (3.0.0): a start renames a file that the cleaner has left as a `.swap`; since 0.11.0.0 it recovered "
    "it, which deleted the snapshots of producers behind it",
    {"0.11.0.0": False, "3.0.0": True},
    before=True,
    closes="a start after a cleaning that was interrupted reads what was not flushed",
    source="KAFKA-12520 (3.0.0): LogLoader.load",
    trials=(Trial("log-start-amid-a-swap", ("start_reads_what_was_not_flushed",), variant="2.7"),),
)
PERIODS_ARE_OF_TOPICS = version_flag(
    "periods_are_of_topics",
    "KAFKA-5232 (0.10.2.2): the folder of a deleted log has the topic's name up to its last period; in 0.10.2.0, "
    "which brought such folders, up to the first one",
    {"0.10.2.0": False, "0.10.2.2": True},
    before=True,
    closes="a broker starts amid the deletion of a topic with a period in its name",
    source="KAFKA-5232 (0.10.2.2): Log.parseTopicPartitionName",
    trials=(Trial("log-deletion-of-a-name-with-periods", ("broker_starts_amid_a_deletion",), variant="0.10.2"),),
)
LONG_NAMES_ARE_CUT = version_flag(
    "long_names_are_cut",
    "KAFKA-4893 (2.2.2): the folder of a deleted log has a part of a topic's name that is too long; before, the folder "
    "was not renamed, which takes the log directory offline",
    {"2.2.2": True},
    closes="a topic with a long name is deleted",
    source="KAFKA-4893 (2.2.2): Log.logDeleteDirName",
    trials=(Trial("log-deletion-of-a-long-name", ("directory_outlives_a_deletion",), variant="2.0"),),
)
FUTURE_LOGS_ARE_LOOKED_FOR = version_flag(
    "future_logs_are_looked_for",
    "KAFKA-7313 (2.1.0): a deletion deletes a log that is moved if there is one; since 1.1.0 it was an error if there "
    "is none, while a log directory is offline",
    {"1.1.0": False, "2.1.0": True},
    before=True,
    closes="a topic is deleted while a broker has a failed log directory",
    source="KAFKA-7313 (2.1.0): Partition.delete",
    trials=(Trial("log-deletion-beside-a-failed-disk", ("deletion_is_not_refused",), variant="2.0"),),
)
PATHS_MAY_BE_UNREADABLE = version_flag(
    "paths_may_be_unreadable",
    "KAFKA-6697 (2.0.0): a log directory whose path cannot be read is offline; since 1.0.0, in which a broker starts "
    "with some of its directories, it did not start",
    {"1.0.0": False, "2.0.0": True},
    before=True,
    closes="a broker starts one of whose disks has failed",
    source="KAFKA-6697 (2.0.0): LogManager.createAndValidateLogDirs",
    trials=(Trial("log-deletion-beside-a-failed-disk", ("broker_starts_amid_a_deletion",), variant="1.1"),),
)
UNKNOWN_SEQUENCES_ARE_RESET = version_flag(
    "unknown_sequences_are_reset",
    "KAFKA-7298 (2.0.1): a log that knows a marker of a producer only answers UNKNOWN_PRODUCER_ID, at which the "
    "producer begins again; before, OUT_OF_ORDER_SEQUENCE_NUMBER, at which it ends",
    {"2.0.1": True},
    closes="a transactional producer goes on whose records were deleted",
    source="KAFKA-7298 (2.0.1): ProducerAppendInfo.checkSequence",
    trials=(Trial("log-forgotten-producer", ("producer_outlives_a_deletion",), variant="2.0"),),
)
NEW_LOGS_BEGIN_WITH_THE_FIRST = version_flag(
    "new_logs_begin_with_the_first",
    "KAFKA-15591, of a release after 3.9: a log that never had a record appends no batch but the first one of a "
    "producer; since 2.5.0 (KIP-360) any, after which it refuses those before",
    {"2.5.0": False},
    before=True,
    closes="a producer's batches are appended, in whichever order requests meet a new partition",
    source="KAFKA-15591 (after 3.9): ProducerAppendInfo.checkSequence",
    trials=(Trial("log-of-a-new-partition", ("no_batch_is_passed",), variant="3.9.0"),),
)
FUTURE_LOGS_ARE_LOCKED = version_flag(
    "future_logs_are_locked",
    "KAFKA-6949 (2.0.0): a request to move a replica looks at its future log with the partition's lock; in 1.1 it "
    "failed if that log replaced the current one meanwhile",
    {"1.1.0": False, "2.0.0": True},
    before=True,
    closes="a replica can be asked to move as an earlier move ends",
    source="KAFKA-6949 (2.0.0): Partition.futureReplicaDirChanged",
    trials=(Trial("log-move-asked-for-again", ("move_is_accepted",), variant="1.1"),),
)

CLEANER_KEEPS_FORMATS = version_flag(
    "cleaner_keeps_formats",
    "KAFKA-3915 (0.10.0.1): a cleaning keeps the format of messages; before, it converted them to that of the topic, "
    "which is longer, and ended where its buffer had no room for it",
    {"0.10.0.1": True},
    closes="the cleaner outlives messages of an earlier format",
    source="KAFKA-3915 (0.10.0.1): Cleaner.cleanInto",
    trials=(Trial("log-cleaned-formats", ("cleaner_has_room_for_a_set",), variant="0.10.0"),),
)
WRAPPER_HAS_THE_FORMAT_WITHIN = version_flag(
    "wrapper_has_the_format_within",
    "KAFKA-4298 (0.10.1.0): the message that wraps a compressed set which a cleaning writes has the format of the "
    "messages within; in 0.10.0.1, that of the topic",
    {"0.10.1.0": True},
    closes="what a cleaning leaves of a compressed set can be read",
    source="KAFKA-4298 (0.10.1.0): Cleaner.compressMessages",
    trials=(
        Trial("log-cleaned-formats", ("set_has_one_format",), variant="0.10.0", flags={"cleaner_keeps_formats": True}),
    ),
)

DIRECTORIES_STOP_EACH = version_flag(
    "directories_stop_each",
    "KAFKA-10723 (2.8.0): a stop finishes each log directory, whatever has become of others; before, it ended at "
    "the first error",
    {"2.8.0": True},
    closes="a start does not recover logs that were closed",
    source="KAFKA-10723 (2.8.0): LogManager.shutdown",
    trials=(Trial("log-stop-of-two-directories", ("closed_directory_is_clean",), variant="2.7"),),
)
CLOSING_ERRORS_ARE_SEEN = candidate(
    "closing_errors_are_seen",
    "KAFKA-19221, of a release after 3.9: a log directory is not clean if an index could not be closed; in all "
    "releases up to then, the error is a warning",
    closes="a start recovers logs whose indexes were not closed",
    source="KAFKA-19221 (after 3.9): LogSegment.close",
    trials=(Trial("log-stop-with-a-full-disk", ("untrimmed_index_is_recovered",), variant="3.9.0"),),
)
DELETED_LOGS_HAVE_NO_TASK = version_flag(
    "deleted_logs_have_no_task",
    "KAFKA-8448, KAFKA-9265 (2.4.0): a log that is deleted ends its task; since 0.11, and until then, the "
    "scheduler kept it, and so the log in memory",
    {"0.11.0.0": False, "2.4.0": True},
    before=True,
    closes="a log that is deleted is forgotten",
    source="KAFKA-8448, KAFKA-9265 (2.4.0): Log.delete",
    trials=(Trial("log-and-its-task", ("deleted_log_has_no_task",), variant="2.3.1"),),
)
OFFSETS_OF_A_BATCH_ARE_COUNTED = version_flag(
    "offsets_of_a_batch_are_counted",
    "KAFKA-6554 (1.1.0): a batch whose records are not as many as its offsets is refused",
    {"1.1.0": True},
    closes="consumers get past each batch",
    source="KAFKA-6554 (1.1.0): LogValidator.validateBatch",
    trials=(Trial("log-received-batches", ("batch_has_a_record_for_each_offset",), variant="1.0"),),
)
DAMAGED_MESSAGES_ARE_REFUSED = version_flag(
    "damaged_messages_are_refused",
    "KAFKA-8722 (0.11.0.0): the checksum of each message in a compressed set is compared; before, not if the set was "
    "compressed again, as its offsets are those of another log",
    {"0.11.0.0": True},
    closes="consumers get past each message",
    source="KAFKA-8722 (0.11.0.0; its commit is in no release of 0.10.2): LogValidator",
    trials=(Trial("log-damaged-message", ("appended_messages_are_sound",), variant="0.10.2"),),
)
OLD_BATCHES_MAY_HAVE_GAPS = version_flag(
    "old_batches_may_have_gaps",
    "KAFKA-9669 (2.5.1): a batch of format v1 may have gaps among its offsets; in 2.4 and 2.5.0 it was refused",
    {"2.4.0": False, "2.5.1": True},
    before=True,
    closes="earlier producers can write",
    source="KAFKA-9669 (2.5.1): LogValidator.validateOffset",
    trials=(Trial("log-received-batches", ("earlier_batch_is_accepted",), variant="2.5"),),
)
ZSTD_WAITS_FOR_THE_PROTOCOL = version_flag(
    "zstd_waits_for_the_protocol",
    "KAFKA-7920 (2.2.0): a batch in zstd is refused until the inter-broker protocol is 2.1; in 2.1, followers of "
    "earlier releases could not fetch it",
    {"2.1.0": False, "2.2.0": True},
    before=True,
    closes="followers can fetch what is appended amid an upgrade",
    source="KAFKA-7920 (2.2.0): LogValidator",
    trials=(Trial("log-received-batches", ("followers_know_the_compression",), variant="2.1.0"),),
)
OLD_ZSTD_IS_ANSWERED = version_flag(
    "old_zstd_is_answered",
    "KAFKA-7549 (2.1.1): an earlier request with a batch in zstd gets an error; in 2.1.0 its connection was closed",
    {"2.1.0": False, "2.1.1": True},
    before=True,
    closes="a producer learns why it is refused",
    source="KAFKA-7549 (2.1.1): KafkaApis.handleProduceRequest",
    trials=(Trial("log-received-batches", ("refused_producer_is_answered",), variant="2.1.0"),),
)
HEADERS_ARE_READ_WHOLE = version_flag(
    "headers_are_read_whole",
    "KAFKA-4576 (0.10.2.0): a read that gives a part of a header goes on; before, that was taken for the end of "
    "the file",
    {"0.10.2.0": True},
    closes="all batches of a file are read",
    source="KAFKA-4576 (0.10.2.0): FileLogInputStream.nextBatch",
    trials=(Trial("log-file-that-is-read", ("file_is_read_to_its_end",), variant="0.10.1"),),
)
POSITIONS_DO_NOT_OVERFLOW = version_flag(
    "positions_do_not_overflow",
    "KAFKA-6292 (1.1.1): the position of the next header is compared without an overflow; before, one beyond 2 "
    "GiB was before the end of the file",
    {"1.0.2": True, "1.1.0": False, "1.1.1": True},
    closes="a file of any size that a segment may have can be read",
    source="KAFKA-6292 (1.1.1): FileLogInputStream.nextBatch",
    trials=(Trial("log-file-that-is-read", ("reading_does_not_fail",), variant="1.0"),),
)
FULL_MAPS_ARE_SEARCHED_ONCE = version_flag(
    "full_maps_are_searched_once",
    "KAFKA-3682 (0.10.1.0): a lookup in a full map of the cleaner ends after each slot; before, at an index that "
    "overflows",
    {"0.10.1.0": True},
    closes="the cleaner outlives a full map",
    source="KAFKA-3682 (0.10.1.0): SkimpyOffsetMap.get",
    trials=(Trial("log-full-map", ("lookup_in_a_map_ends",), variant="0.10.0"),),
)

HEADERS_ARE_LEFT_OUT = version_flag(
    "headers_are_left_out",
    "KAFKA-6739 (1.1.1): headers of records are left out as they are converted for a consumer of before 0.11; before, "
    "its fetch failed",
    {"1.0.2": True, "1.1.0": False, "1.1.1": True},
    closes="an earlier consumer reads records with headers",
    source="KAFKA-6739 (1.1.1): RecordsUtil.downConvert",
    trials=(Trial("log-converted-batches", ("headers_are_left_out",), variant="1.0"),),
)
OLD_BATCHES_GET_ROOM = version_flag(
    "old_batches_get_room",
    "KAFKA-8570 (2.2.2, 2.3.1): the buffer of a conversion grows for a batch that stays as it is, too; before, such a "
    "batch was taken to come before all that are converted",
    {"2.2.2": True, "2.3.0": False, "2.3.1": True},
    closes="an earlier consumer reads batches in whatever order their formats are",
    source="KAFKA-8570 (2.2.2, 2.3.1): RecordsUtil.downConvert",
    trials=(Trial("log-converted-batches", ("converted_batches_have_room",), variant="2.0"),),
)

CHECKPOINTS_FOLLOW_THE_START = version_flag(
    "checkpoints_follow_the_start",
    "KAFKA-6266 (2.4.1, 2.6.0): the cleaner corrects a checkpoint before the start of a log as it looks at it; "
    "before, as it cleans the log, and it complained each time until then",
    {"2.4.1": True, "2.5.0": False, "2.6.0": True},
    closes="a checkpoint of the cleaner is within its log",
    source="KAFKA-6266 (2.4.1, 2.6.0): LogCleanerManager.grabFilthiestCompactedLog",
    trials=(Trial("log-cleaner-checkpoint", ("wrong_checkpoint_is_corrected",), variant="2.3.1"),),
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

# Fixes that no release has.

LATER_SEGMENTS_ARE_SEARCHED = candidate(
    "later_segments_are_searched",
    "a lookup by timestamp that finds nothing at or above the log start offset in a segment continues in the next one",
    closes="a lookup by timestamp finds a record although an earlier segment has such ones before the start offset",
    source="no release",
    trials=(Trial("log-lookup", ("timestamp_lookup_finds_the_first_record",)),),
)

MOVES_CARRY_EPOCHS = candidate(
    "moves_carry_epochs",
    "a log that replaces another one, at the end of a move, gets its leader epochs; without it, and in all releases, "
    "it has those of its records",
    closes="a leader whose log is moved answers the fetches of its followers",
    source="no release; KAFKA-15608, KAFKA-20961",
    trials=(Trial("leader-epochs-moved-log", ("follower_is_answered",), variant="3.9.0"),),
)

CLEANED_TIMES_HAVE_THEIR_OFFSET = version_flag(
    "cleaned_times_have_their_offset",
    "KAFKA-4497 (0.10.1.1): the time index of a cleaned segment has the offset of the largest timestamp; in 0.10.1.0 "
    "that of the last compressed set, or -1, at which the cleaner stops",
    {"0.10.1.0": False, "0.10.1.1": True},
    before=True,
    closes="the cleaner does not stop at sets of which nothing is kept",
    source="KAFKA-4497 (0.10.1.1): Cleaner.cleanInto",
    trials=(
        Trial("log-grown-batches", ("cleaner_stops_at_grown_batches_only",), variant="0.10.1", bounds={"offsets": 4}),
    ),
)
CLEANED_SEGMENTS_ROLL = candidate(
    "cleaned_segments_roll",
    "KAFKA-20036, of a release after 3.9: a cleaning writes another segment where the first has no room; in all "
    "releases up to then it fails, and since 2.1 the log is not cleaned any more",
    closes="a log is cleaned whose batches are larger after that than a segment may be",
    source="KAFKA-20036 (after 3.9): Cleaner.cleanSegments",
    trials=(Trial("log-grown-segment", ("grown_segment_is_cleaned",), variant="3.9.0"),),
)
REMOTE_STARTS_ARE_CHECKPOINTED = version_flag(
    "remote_starts_are_checkpointed",
    "KAFKA-16146 (3.8.0): the start offset of a log with a remote part is in a checkpoint",
    {"3.8.0": True},
    closes="the start offset of a log with a remote part stays where it is",
    source="KAFKA-16146 (3.8.0): LogManager.checkpointLogStartOffsetsInDir",
    trials=(Trial("log-tiered", ("start_of_a_tiered_log_stays",), variant="3.7.0"),),
)
START_OFFSETS_FREE_SEGMENTS = version_flag(
    "start_offsets_free_segments",
    "PR-14905 (3.7.0): a segment before the start offset is deleted, though it was not copied to the remote store",
    {"3.7.0": True},
    closes="segments of deleted records go",
    source="PR-14905 (3.7.0): UnifiedLog.deletableSegments",
    trials=(Trial("log-tiered", ("deleted_segment_goes",), variant="3.6.0"),),
)
OLD_ACTIVE_SEGMENTS_ROLL = version_flag(
    "old_active_segments_roll",
    "KAFKA-15047 (3.7.0): an active segment that is old is closed, so that it is copied, and deleted",
    {"3.7.0": True},
    closes="old records of a log with a remote part go",
    source="KAFKA-15047 (3.7.0): UnifiedLog.deletableSegments",
    trials=(Trial("log-tiered", ("old_record_goes",), variant="3.6.0", flags={"start_offsets_free_segments": True}),),
)
LAST_BATCHES_OF_ROUNDS_ARE_KEPT = candidate(
    "last_batches_of_rounds_are_kept",
    "KAFKA-17076 (4.0.0): a cleaning keeps the last batch of what it cleans, if empty; in all releases before, a log "
    "could end above its last batch",
    closes="a copy of a compacted log ends where the log ends",
    source="KAFKA-17076 (4.0.0): Cleaner.cleanInto",
    trials=(Trial("log-last-tombstone", ("copy_ends_with_the_log",), variant="3.9.0"),),
)

MARKS_GO_WITH_THEIR_LOG = candidate(
    "marks_go_with_their_log",
    "a deletion forgets that the log was uncleanable",
    closes="a topic is cleaned that is created again before the cleaner's thread comes round",
    source="no release",
    trials=(Trial("log-uncleanable", ("topic_created_at_once_is_cleaned",), variant="3.9.0"),),
)

RECOVERY_POINT_STAYS = candidate(
    "recovery_point_stays",
    "a start offset that rises, or is above it when a log is loaded, leaves the recovery point where it is",
    closes="what is before a start offset that a crash takes back was flushed, or is recovered",
    source="no release",
    trials=(
        Trial(
            "log-recovery",
            (
                "flushed_records_survive",
                "no_batch_is_torn",
                "recovery_point_is_on_disk",
                "indexes_point_to_batches",
                "largest_timestamp_is_known",
                "closed_time_index_ends_with_the_largest_timestamp",
                "flush_covers_closed_segments",
            ),
        ),
    ),
)

FUTURE_TIMESTAMPS_ARE_REFUSED = candidate(
    "future_timestamps_are_refused",
    "message.timestamp.after.max.ms is set (KIP-937, since 3.6.0): a leader refuses a batch with a timestamp above its "
    "clock; without it, and before, retention keeps such a batch until then",
    closes="a segment goes when the retention time is over since its last append",
    source="KAFKA-14991, KIP-937 (3.6.0), a configuration that is off unless it is set",
    trials=(Trial("log-future-timestamps", ("old_appends_are_deleted",), variant="3.9.0"),),
)

VARIANTS = {release: FLAGS.variant_of(release) for release in RELEASES}
FOLDER_VARIANTS = VARIANTS | {"3.5.1": FLAGS.variant_of("3.5.1")}
"""With a release that flushes folders, and takes a missing one for an error (KAFKA-15391)."""
TIERED_VARIANTS = {release: FLAGS.variant_of(release) for release in ("3.9.0", "3.6.0", "3.7.0")}
"""Those that can have a part of a log in a remote store (KIP-405)."""
FETCH_VARIANTS = VARIANTS | {"2.8.0": FLAGS.variant_of("2.8.0")}
"""With the first release whose followers truncate by what a fetch answers (KAFKA-12996, KAFKA-13207)."""
BATCH_VARIANTS = VARIANTS | {"2.1.0": FLAGS.variant_of("2.1.0")}
"""With the first release that knows zstd (KAFKA-7549, KAFKA-7920)."""
FORMAT_VARIANTS = VARIANTS | {release: FLAGS.variant_of(release) for release in ("2.1.0", "2.2.0")}
"""With releases whose leaders know their epochs in any message format (KAFKA-7601, KAFKA-7897)."""
ANSWER_VARIANTS = {release: FLAGS.variant_of(release) for release in ("2.8.2", "2.1.0", "2.2.0", "3.9.0", "3.9.1")}
"""Those on both sides of the two repairs of answers from an earlier leader epoch (KAFKA-7786, KAFKA-18991)."""
MOVE_VARIANTS = {
    release: FLAGS.variant_of(release) for release in (*RELEASES, "1.1") if release == "1.1" or release >= "2."
}
"""Those that have moves between log directories (KIP-113); 1.1 is the first one."""
