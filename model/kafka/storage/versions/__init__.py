"""What releases of Kafka differ in about logs, by theme.

Each flag was dated by comparing the sources of the releases on both sides of the change.
"""

from __future__ import annotations

from kwalk.model.kafka.releases import variant_of
from kwalk.model.kafka.storage.versions import (
    batches,
    compaction,
    leader_epochs,
    moves,
    producers,
    reads,
    recovery,
    retention,
    segments,
)

RELEASES = ("2.8.2", "0.10.0", "0.10.1", "0.10.2", "0.11.0.0", "1.0", "2.0", "2.3.1", "2.5", "2.7", "3.7.0", "3.9.0")
"""Those that have a variant; the first one is the default of a scenario."""
THEMES = segments, batches, reads, compaction, retention, recovery, leader_epochs, moves, producers
PARTS = tuple(theme.FLAGS for theme in THEMES)
FIXES = tuple(fix for part in PARTS for fix in part.fixes)
"""All fixes of logs, in the order of the audit."""


def flags_of(name: str) -> dict[str, bool | str]:
    """Return the version flags of a release."""
    return variant_of(PARTS, name)


VARIANTS = {release: flags_of(release) for release in RELEASES}
FOLDER_VARIANTS = VARIANTS | {"3.5.1": flags_of("3.5.1")}
"""With a release that flushes folders, and takes a missing one for an error (KAFKA-15391)."""
TIERED_VARIANTS = {release: flags_of(release) for release in ("3.9.0", "3.6.0", "3.7.0")}
"""Those that can have a part of a log in a remote store (KIP-405)."""
FETCH_VARIANTS = VARIANTS | {"2.8.0": flags_of("2.8.0")}
"""With the first release whose followers truncate by what a fetch answers (KAFKA-12996, KAFKA-13207)."""
BATCH_VARIANTS = VARIANTS | {"2.1.0": flags_of("2.1.0")}
"""With the first release that knows zstd (KAFKA-7549, KAFKA-7920)."""
FORMAT_VARIANTS = VARIANTS | {release: flags_of(release) for release in ("2.1.0", "2.2.0")}
"""With releases whose leaders know their epochs in any message format (KAFKA-7601, KAFKA-7897)."""
ANSWER_VARIANTS = {release: flags_of(release) for release in ("2.8.2", "2.1.0", "2.2.0", "3.9.0", "3.9.1")}
"""Those on both sides of the two repairs of answers from an earlier leader epoch (KAFKA-7786, KAFKA-18991)."""
MOVE_VARIANTS = {release: flags_of(release) for release in (*RELEASES, "1.1") if release == "1.1" or release >= "2."}
"""Those that have moves between log directories (KIP-113); 1.1 is the first one."""
