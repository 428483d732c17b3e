"""What releases of Kafka differ in about logs, and the switches that choose the grain of the log model.

Each flag was dated by comparing the sources of the releases on both sides of the change.
"""

from __future__ import annotations

from kwalk.model.kafka.releases import ReleaseFlags

RELEASES = ("2.8.2", "0.10.0", "0.10.1", "0.10.2", "0.11.0.0", "1.0", "2.0", "2.5", "2.7", "3.9.0")
"""Those that have a variant; the first one is the default of a scenario."""

_FLAGS = ReleaseFlags()
version_flag, candidate = _FLAGS.version_flag, _FLAGS.candidate

FILE_TIMES_SURVIVE_A_STOP = version_flag(
    "file_times_survive_a_stop",
    "KAFKA-3802 (0.10.0.1): an orderly stop leaves the modification times of files as they are; before, with some "
    "releases of Java, it set all of them to the present",
    {"0.10.0.1": True},
)
TIME_INDEX = version_flag(
    "time_index",
    "KIP-33, KAFKA-3163 (0.10.1.0): segments have a time index, and are kept by their largest timestamp; before, by "
    "the modification time of the file",
    {"0.10.1.0": True},
)
DELETE_RECORDS = version_flag(
    "delete_records",
    "KIP-107, KAFKA-4586 (0.11.0.0): clients can delete the records before an offset, which becomes the start offset",
    {"0.11.0.0": True},
)
DELETE_BELOW_HIGH_WATERMARK = version_flag(
    "delete_below_high_watermark",
    "KAFKA-5634 (0.11.0.1, 1.0.0): retention deletes no segment that has offsets above the high watermark",
    {"0.11.0.1": True},
)
TOMBSTONES_BY_FILE_TIME = version_flag(
    "tombstones_by_file_time",
    "KAFKA-4529 (0.10.1.1): the time since which a tombstone is kept is a file's modification time; in 0.10.1.0 it was "
    "a segment's largest timestamp, which producers choose",
    {"0.10.1.0": False, "0.10.1.1": True},
    before=True,
)
ROLLS_BEFORE_OVERFLOW = version_flag(
    "rolls_before_overflow",
    "KAFKA-4451 (0.10.2.0): a segment rolls before an offset that is too far above its base offset for an index; "
    "before, it was appended all the same, as by a follower that copies a compacted log",
    {"0.10.2.0": True},
)
TRUNCATION_MAKES_ROOM = version_flag(
    "truncation_makes_room",
    "KAFKA-6492 (1.1.0): after a truncation the active segment's indexes have room; before, those of an empty segment "
    "that had been closed were still trimmed",
    {"1.1.0": True},
)
EMPTY_SEGMENT_IS_REPLACED = version_flag(
    "empty_segment_is_replaced",
    "KAFKA-6388 (2.1.1): a roll replaces an empty active segment that has the same base offset; before, it failed",
    {"2.1.1": True},
)
GAPS_ARE_PASSED = version_flag(
    "gaps_are_passed",
    "KAFKA-8764 (2.4.1): a cleaning ends where the dirty part ends; before, at the last record in it, so that a gap "
    "behind that was cleaned again and again",
    {"2.4.1": True},
)
TOMBSTONES_HAVE_A_HORIZON = version_flag(
    "tombstones_have_a_horizon",
    "KAFKA-4545, KIP-534 (3.1.0): a tombstone is kept for delete.retention.ms from the first compaction that sees it",
    {"3.1.0": True},
)
GROUPS_BY_LAST_OFFSET = version_flag(
    "groups_by_last_offset",
    "KAFKA-5413 (0.10.2.2, 0.11.0.0): segments are cleaned into one only if the last of their offsets has a relative "
    "offset in it; before, if the last one of their indexes had",
    {"0.10.2.2": True},
)
CLEAN_BELOW_HIGH_WATERMARK = version_flag(
    "clean_below_high_watermark",
    "KAFKA-13194 (3.1.0): the cleaner does not go beyond the high watermark",
    {"3.1.0": True},
)
SWAP_REPLACES_ITS_OWN = version_flag(
    "swap_replaces_its_own",
    "KAFKA-6264 (2.0.0): a broker that completes an interrupted swap replaces only segments that reach into the "
    "swapped one; before, also the one before it, if the old segment of that base offset was renamed already",
    {"2.0.0": True},
)
UNCLEAN_WHILE_LOADING = version_flag(
    "unclean_while_loading",
    "KAFKA-10471 (2.8.0): the clean shutdown file is deleted before the logs are loaded; before, after that, so that a "
    "crash in between was taken for an orderly stop",
    {"2.8.0": True},
)
RECOVERY_POINT_IS_FLUSHED = version_flag(
    "recovery_point_is_flushed",
    "KAFKA-10101 (2.8.0): recovery after a crash leaves the recovery point where it is; before, it was raised to the "
    "end offset, although what was recovered had not been flushed",
    {"2.8.0": True},
)
TOPIC_OVERRIDES_ARE_KEPT = version_flag(
    "topic_overrides_are_kept",
    "KAFKA-9254 (2.4.1): a log remembers which values are its topic's own when a broker's defaults change; before, the "
    "second change reset them",
    {"2.4.1": True},
)
DELETED_CONFIG_IS_REMOVED = version_flag(
    "deleted_config_is_removed",
    "KAFKA-10268 (2.6.0): a dynamic value that is deleted does not hold any more; before, one without a default did, "
    "until the broker was restarted",
    {"2.6.0": True},
)
SYNONYMS_ARE_KEPT = version_flag(
    "synonyms_are_kept",
    "KAFKA-17584 (3.9.0): a dynamic change keeps log.retention.hours and other synonyms of the file; since 2.6.0, and "
    "until then, any such change replaced them by Kafka's default",
    {"3.9.0": True},
)

# Fixes that no release has.

LATER_SEGMENTS_ARE_SEARCHED = candidate(
    "later_segments_are_searched",
    "a lookup by timestamp that finds nothing at or above the log start offset in a segment continues in the next one",
)

VARIANTS = {release: _FLAGS.variant_of(release) for release in RELEASES}
