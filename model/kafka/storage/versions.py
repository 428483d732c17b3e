"""What releases of Kafka differ in about logs, and the switches that choose the grain of the log model.

Each flag was dated by comparing the sources of the releases on both sides of the change.
"""
from __future__ import annotations

from kwalk.model.kafka.releases import ReleaseFlags

RELEASES = ("2.8.2", "0.10.0", "0.10.1", "0.10.2", "0.11.0.0", "1.0", "2.0", "2.7", "3.9.0")
"""Those that have a variant; the first one is the default of a scenario."""

_FLAGS = ReleaseFlags()
version_flag, candidate = _FLAGS.version_flag, _FLAGS.candidate

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

# Fixes that no release has.

LATER_SEGMENTS_ARE_SEARCHED = candidate(
    "later_segments_are_searched",
    "a lookup by timestamp that finds nothing at or above the log start offset in a segment continues in the next one",
)

VARIANTS = {release: _FLAGS.variant_of(release) for release in RELEASES}
