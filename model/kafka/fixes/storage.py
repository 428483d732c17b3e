"""Fixes for the log of a partition: records that vanish early, stay too long, or are not found."""

from __future__ import annotations

from kwalk.model.kafka.storage.versions import (
    CLEAN_BELOW_HIGH_WATERMARK,
    DELETE_BELOW_HIGH_WATERMARK,
    DELETE_RECORDS,
    DELETED_CONFIG_IS_REMOVED,
    EMPTY_SEGMENT_IS_REPLACED,
    FILE_TIMES_SURVIVE_A_STOP,
    GAPS_ARE_PASSED,
    GROUPS_BY_LAST_OFFSET,
    LATER_SEGMENTS_ARE_SEARCHED,
    RECOVERY_POINT_IS_FLUSHED,
    ROLLS_BEFORE_OVERFLOW,
    SWAP_REPLACES_ITS_OWN,
    SYNONYMS_ARE_KEPT,
    TIME_INDEX,
    TOMBSTONES_BY_FILE_TIME,
    TOMBSTONES_HAVE_A_HORIZON,
    TOPIC_OVERRIDES_ARE_KEPT,
    TRUNCATION_MAKES_ROOM,
    UNCLEAN_WHILE_LOADING,
)
from kwalk.model.language.fix import Fix, Trial

GAP = {"gaps": 2, "max_relative_offset": 1}
"""A gap that is larger than Integer.MAX_VALUE, as there can be at the beginning of a compacted log."""

FIXES = (
    Fix(
        flag=FILE_TIMES_SURVIVE_A_STOP,
        closes="a restart does not make files look as if they had just been written",
        source="KAFKA-3802 (0.10.0.1)",
        trials=(
            Trial("log-recovery", ("stop_keeps_file_times",), variant="0.10.0", bounds={"offsets": 2, "crashes": 1}),
        ),
    ),
    Fix(
        flag=TIME_INDEX,
        closes="a segment is kept by the timestamps of its records, whatever the modification time of its file",
        source="KAFKA-3163, KIP-33 (0.10.1.0)",
        trials=(
            Trial("log-retention", ("expired_segment_is_deleted",), variant="0.10.0"),
            Trial("log-retention", ("young_record_is_kept",), variant="0.10.0"),
        ),
    ),
    Fix(
        flag=DELETE_BELOW_HIGH_WATERMARK,
        closes="retention deletes no record that is not replicated yet",
        source="KAFKA-5634 (0.11.0.1)",
        trials=(Trial("log-retention", ("start_offset_is_not_above_the_high_watermark",)),),
    ),
    Fix(
        flag=DELETE_RECORDS,
        closes="clients can delete the records before an offset",
        source="KAFKA-4586, KIP-107 (0.11.0.0)",
        trials=(
            Trial(
                "log-lookup",
                ("timestamp_lookup_finds_the_first_record",),
                about="the price: a lookup by timestamp stops at a segment that ends below the start offset",
            ),
        ),
    ),
    Fix(
        flag=TOMBSTONES_BY_FILE_TIME,
        closes="a tombstone is not removed before it is delete.retention.ms old, whatever its producer's clock",
        source="KAFKA-4529 (0.10.1.1)",
        trials=(
            Trial("log-tombstones", ("tombstone_is_kept_after_its_append",), variant="0.10.1", bounds={"offsets": 3}),
        ),
    ),
    Fix(
        flag=TOMBSTONES_HAVE_A_HORIZON,
        closes="a tombstone lives delete.retention.ms from the first compaction that sees it",
        source="KAFKA-4545, by KIP-534 with KAFKA-8522 (3.1.0)",
        trials=(Trial("log-tombstones", ("tombstone_is_kept_after_compaction",)),),
    ),
    Fix(
        flag=GROUPS_BY_LAST_OFFSET,
        closes="the cleaner does not die of gaps between offsets",
        source="KAFKA-5413 (0.10.2.2, 0.11.0.0)",
        trials=(Trial("log-compacted-copy", ("cleaner_lives",), bounds={"offsets": 7}),),
    ),
    Fix(
        flag=ROLLS_BEFORE_OVERFLOW,
        closes="a log with gaps has no offset that its segment's indexes cannot have",
        source="KAFKA-4451 (0.10.2.0)",
        trials=(Trial("log-roll", ("segments_do_not_overlap",), variant="0.10.1"),),
    ),
    Fix(
        flag=TRUNCATION_MAKES_ROOM,
        closes="an append to an empty segment does not fail after a truncation",
        source="KAFKA-6492 (1.1.0)",
        trials=(Trial("log-lookup", ("append_does_not_fail",), variant="1.0", bounds=GAP),),
    ),
    Fix(
        flag=EMPTY_SEGMENT_IS_REPLACED,
        closes="a roll of an empty segment does not fail",
        source="KAFKA-6388 (2.1.1)",
        trials=(
            Trial("log-recovery", ("append_does_not_fail",), variant="2.0", bounds={"offsets": 2}),
            Trial("log-lookup", ("append_does_not_fail",), variant="1.0", bounds=GAP),
        ),
    ),
    Fix(
        flag=GAPS_ARE_PASSED,
        closes="the cleaner does not clean a gap again and again",
        source="KAFKA-8764 (2.4.1)",
        trials=(
            Trial("log-compacted-copy", ("cleaning_has_something_to_clean",), variant="2.0", bounds={"offsets": 6}),
        ),
    ),
    Fix(
        flag=CLEAN_BELOW_HIGH_WATERMARK,
        closes="a record that is not replicated does not supersede one that is",
        source="KAFKA-13194 (3.1.0)",
        trials=(Trial("log-compaction", ("last_value_is_kept",)),),
    ),
    Fix(
        flag=SWAP_REPLACES_ITS_OWN,
        closes="a broker that completes a swap does not delete the segment before it",
        source="KAFKA-6264 (2.0.0)",
        trials=(Trial("log-compaction", ("last_value_is_kept",), variant="3.9.0"),),
    ),
    Fix(
        flag=UNCLEAN_WHILE_LOADING,
        closes="a crash while logs are loaded is followed by a recovery",
        source="KAFKA-10471 (2.8.0)",
        trials=(Trial("log-recovery", ("young_record_is_kept",)),),
    ),
    Fix(
        flag=RECOVERY_POINT_IS_FLUSHED,
        closes="what a recovery has kept is recovered again after another crash",
        source="KAFKA-10101 (2.8.0)",
        trials=(Trial("log-recovery", ("no_batch_is_torn",)),),
    ),
    Fix(
        flag=TOPIC_OVERRIDES_ARE_KEPT,
        closes="a topic's own configuration holds, however often a broker's changes",
        source="KAFKA-9254 (2.4.1)",
        trials=(Trial("dynamic-configuration", ("topic_configuration_is_kept",)),),
    ),
    Fix(
        flag=DELETED_CONFIG_IS_REMOVED,
        closes="a dynamic configuration that is deleted does not hold any more",
        source="KAFKA-10268 (2.6.0)",
        trials=(
            Trial("dynamic-configuration", ("deleted_configuration_does_not_hold",), variant="2.5"),
            Trial(
                "dynamic-configuration",
                ("configuration_follows_precedence",),
                variant="2.5",
                about="the price: a change of any other key drops the hours of the file",
            ),
        ),
    ),
    Fix(
        flag=SYNONYMS_ARE_KEPT,
        closes="a dynamic change keeps log.retention.hours, and all levels hold in their order",
        source="KAFKA-17584 (3.9.0)",
        trials=(Trial("dynamic-configuration", ("configuration_follows_precedence",)),),
    ),
    Fix(
        flag=LATER_SEGMENTS_ARE_SEARCHED,
        closes="a lookup by timestamp finds a record although an earlier segment has such ones before the start offset",
        source="no release",
        trials=(Trial("log-lookup", ("timestamp_lookup_finds_the_first_record",)),),
    ),
)
"""All fixes for logs, in the order of the audit."""
