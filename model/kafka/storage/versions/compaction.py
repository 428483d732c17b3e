"""What releases and fixes change about the cleaner: what it keeps, what stops it, and its checkpoints."""

from __future__ import annotations

from kwalk.model.kafka.releases import ReleaseFlags
from kwalk.model.language import Trial

FLAGS = ReleaseFlags()
version_flag, candidate = FLAGS.version_flag, FLAGS.candidate

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
GAPS_ARE_PASSED = version_flag(
    "gaps_are_passed",
    "KAFKA-8764 (2.4.1): a cleaning ends where the dirty part ends; before, at the last record in it, so that a gap "
    "behind that was cleaned again and again",
    {"2.4.1": True},
    closes="the cleaner does not clean a gap again and again",
    source="KAFKA-8764 (2.4.1)",
    trials=(Trial("log-compacted-copy", ("cleaning_has_something_to_clean",), variant="2.0", bounds={"offsets": 6}),),
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
FULL_MAPS_ARE_SEARCHED_ONCE = version_flag(
    "full_maps_are_searched_once",
    "KAFKA-3682 (0.10.1.0): a lookup in a full map of the cleaner ends after each slot; before, at an index that "
    "overflows",
    {"0.10.1.0": True},
    closes="the cleaner outlives a full map",
    source="KAFKA-3682 (0.10.1.0): SkimpyOffsetMap.get",
    trials=(Trial("log-full-map", ("lookup_in_a_map_ends",), variant="0.10.0"),),
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
