"""The release of Apache Kafka behind a version that a cluster reports, and what that leaves open.

Words: a *line* is all releases with the same first two numbers, such as 3.4. A *build* is what somebody makes of a
release under a number of its own, such as Confluent Platform, or with a suffix, such as Amazon MSK.

No version is taken for another one in silence: what is not the name of a release gets a note, or is refused.
"""

from __future__ import annotations

import re
from reprlib import repr as brief

from attrs import frozen

from kwalk.model.kafka.versions import LAST_PATCHES, PUBLISHED, flags_of
from kwalk.model.language import UsageError
from kwalk.model.language.errors import unknown

CONFLUENT = {
    "5.5": "2.5",
    "6.0": "2.6",
    "6.1": "2.7",
    "6.2": "2.8",
    "7.0": "3.0",
    "7.1": "3.1",
    "7.2": "3.2",
    "7.3": "3.3",
    "7.4": "3.4",
    "7.5": "3.5",
    "7.6": "3.6",
    "7.7": "3.7",
    "7.8": "3.8",
    "7.9": "3.9",
}
"""The line of Apache Kafka of each line of Confluent Platform; the patch numbers of the two are unrelated.

Source: Confluent's table of supported versions and interoperability.
"""
ALLOWED = (
    f"Allowed: a release of Apache Kafka from {PUBLISHED[0]} to {PUBLISHED[-1]}, such as 3.4.1; of Confluent Platform "
    f"from {next(iter(CONFLUENT))} to {list(CONFLUENT)[-1]}, such as 7.3.0-ccs; a build of a release, such as "
    "2.8.1.amzn.1"
)
TOO_OLD = (
    "is older than what the model has: reassignments as they are since 2.4 (KIP-455), and the controllers and brokers "
    f"of releases from {PUBLISHED[0]} on"
)
OWN_CHANGES = "What the build changes is not modelled."
WITHOUT_ZOOKEEPER = "has no ZooKeeper mode, and kwalk models no other"
VERSION = re.compile(
    r"(?P<line>[0-9]{1,3}\.[0-9]{1,3})(\.(?P<patch>[0-9]{1,3}|x))?(?P<suffix>[.+-][0-9A-Za-z.+_-]{1,60})?"
)


@frozen
class ReportedRelease:
    """The release of Apache Kafka behind a reported version.

    Attributes:
        name: The release, exactly, such as "3.4.1".
        note: A sentence on what the version leaves open; empty if it is the name of the release.
    """

    name: str
    note: str = ""


def reported_release(version: str) -> ReportedRelease:
    """Return the release of Apache Kafka behind a version that a cluster reports.

    Args:
        version: A release ("3.4.1"), a line of which all releases have the same flags ("3.6"), a release with the
            suffix of a build ("2.8.1.amzn.1"), or a version of Confluent Platform ("7.3.0-ccs").

    Raises:
        UsageError: There is no such release, the model does not cover it, or the version leaves open which flags of the
            model the cluster has.
    """
    found = VERSION.fullmatch(version)
    if found is None:
        raise UsageError(f"{brief(version)} is no version of Kafka. {ALLOWED}.")
    line, patch, suffix = found["line"], found["patch"], found["suffix"] or ""
    if line in CONFLUENT:
        what = f"Confluent Platform {line}, which is Apache Kafka {CONFLUENT[line]}"
        return _any_of(version, CONFLUENT[line], f"is of {what}; it does not say of which patch release", OWN_CHANGES)
    if line not in LAST_PATCHES:
        raise UsageError(f"Kafka {version} {_why_not(line)}. {ALLOWED}.")
    if patch is None or patch == "x":
        return _any_of(version, line, "names no patch release")
    release = f"{line}.{patch}"
    if release not in PUBLISHED:
        raise unknown("release of Apache Kafka", release, [one for one in PUBLISHED if one.startswith(f"{line}.")])
    if not suffix:
        return ReportedRelease(release)
    return ReportedRelease(release, f"The version {version} is a build of Apache Kafka {release}. {OWN_CHANGES}")


def _why_not(line: str) -> str:
    """Return why the model covers no release of a line."""
    major, minor = (int(number) for number in line.split("."))
    if major == 4 or (major, minor) >= (8, 0):
        return WITHOUT_ZOOKEEPER
    if (major, minor) < (2, 5) or (major == 5 and minor < 5):
        return TOO_OLD
    return "is a release that kwalk does not know"


def _any_of(version: str, line: str, why: str, more: str = "") -> ReportedRelease:
    """Return the first release of a line for all of them.

    Raises:
        UsageError: They differ in a flag of the model.
    """
    releases = [f"{line}.{patch}" for patch in range(LAST_PATCHES[line] + 1)]
    differing = _differing(releases)
    if differing:
        raise UsageError(
            f"The version {version} {why}, and those of {line} differ in the model: {differing}. "
            f"Allowed: {', '.join(releases)}, as --release of kwalk collect, or in the snapshot's field version."
        )
    return ReportedRelease(
        releases[0],
        f"The version {version} {why}: read as Apache Kafka {releases[0]}, as all releases of {line} have the "
        f"same flags in the model. {more}".rstrip(),
    )


def _differing(releases: list[str]) -> str:
    """Return in words the flags in which releases differ, and from which release on; empty if they are alike."""
    first, found = flags_of(releases[0]), dict[str, str]()
    for release in releases[1:]:
        flags = flags_of(release)
        for name in sorted(first.keys() | flags.keys()):
            if flags.get(name) != first.get(name):
                found.setdefault(name, release)
    return ", ".join(f"{name} since {release}" for name, release in found.items())
