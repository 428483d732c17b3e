"""The Kafka versions as sets of flags, and the switches that choose the grain of the model, by theme.

Words: a *variant* is a release of Apache Kafka; its *version flags* name the changes that distinguish releases, and
each declares, and only there, since when it is on. A *candidate* is a fix that no release has: off in every variant. A
flag that is a *fix* declares what it closes, its source, and the trials of an audit; they name a scenario and
properties. The other flags are a scenario's *grain*: which steps it distinguishes, and which optional behaviour it has.
"""

from __future__ import annotations

from kwalk.model.kafka.releases import variant_of
from kwalk.model.kafka.versions import deletion, grain, reassignment, records, sessions, topic_ids

RELEASES = ("2.8.2", "2.5.0", "2.8.0", "3.0", "3.4.1", "3.9.0")
"""Those whose variants are listed, and which audits and tests iterate over; the first one is a scenario's default."""
LAST_PATCHES = {
    "2.5": 1,
    "2.6": 3,
    "2.7": 2,
    "2.8": 2,
    "3.0": 2,
    "3.1": 2,
    "3.2": 3,
    "3.3": 2,
    "3.4": 1,
    "3.5": 2,
    "3.6": 2,
    "3.7": 2,
    "3.8": 1,
    "3.9": 2,
}
"""The lines of releases that the model covers, each with the number of its last patch release."""
PUBLISHED = tuple(f"{line}.{patch}" for line, last in LAST_PATCHES.items() for patch in range(last + 1))
"""Every release of Apache Kafka from 2.5.0 to 3.9.2, the last with ZooKeeper."""

PARTS = tuple(theme.FLAGS for theme in (topic_ids, records, reassignment, sessions, deletion, grain))
FIXES = tuple(fix for part in PARTS for fix in part.fixes)
"""All fixes of the controller and of brokers, in the order of the audit."""


def flags_of(name: str) -> dict[str, bool | str]:
    """Return the version flags of a release, exactly: without those that it leaves to the scenario."""
    return variant_of(PARTS, name)


VARIANTS = {release: flags_of(release) for release in RELEASES}
UNLISTED_VARIANTS = {release: flags_of(release) for release in PUBLISHED if release not in VARIANTS}
"""The variants of all other releases."""
COARSE = {name: setting for part in PARTS for name, setting in part.defaults.items()}
"""The grain for exhaustive search: quiescent states are the same but for unflushed data that a crash loses."""
FINE = {
    **COARSE,
    "async_metadata_flush": True,
    "isr_changes": "any time",
    "preferred_election": True,
    "lost_requests": True,
    "unsent_batch": True,
}
"""Everything that the model can tell apart and that real clusters do, but for requests that overtake others."""
