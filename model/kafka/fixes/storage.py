"""Fixes for the log of a partition: records that vanish early, stay too long, or are not found.

They are no part of the audit of the controller's fixes: `kwalk audit kwalk.model.kafka.fixes.storage:FIXES`.
"""
from __future__ import annotations

from kwalk.model.kafka.storage.versions import (
    DELETE_BELOW_HIGH_WATERMARK,
    DELETE_RECORDS,
    LATER_SEGMENTS_ARE_SEARCHED,
    TIME_INDEX,
)
from kwalk.model.language.fix import Fix, Trial

FIXES = (
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
        flag=LATER_SEGMENTS_ARE_SEARCHED,
        closes="a lookup by timestamp finds a record although an earlier segment has such ones before the start offset",
        source="no release",
        trials=(Trial("log-lookup", ("timestamp_lookup_finds_the_first_record",)),),
    ),
)
"""All fixes for logs, in the order of the audit."""
