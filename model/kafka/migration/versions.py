"""What releases of Kafka differ in about the migration to KRaft.

Each flag was dated by comparing the sources of the releases on both sides of the change.
"""

from __future__ import annotations

from kwalk.model.kafka.releases import ReleaseFlags
from kwalk.model.kafka.versions import PUBLISHED, flags_of

FLAGS = ReleaseFlags()
version_flag = FLAGS.version_flag

FIRST_RELEASE = "3.4.0"
"""The first release whose brokers can migrate."""
MIGRATING = PUBLISHED[PUBLISHED.index(FIRST_RELEASE) :]
"""The releases whose brokers can migrate."""
LAST_RELEASE = MIGRATING[-1]

FULL_REQUEST = version_flag(
    "full_request",
    "which logs a broker in ZooKeeper mode sets aside on a full LeaderAndIsr: none; since KAFKA-15605 (3.6.1) those of "
    "partitions that it does not name; since KAFKA-16180 (3.6.2) also those that it names with another topic id",
    {"3.6.1": "by name", "3.6.2": "by id"},
    before="none",
    no_fix="a log of another topic id is of an earlier topic, or of a topic whose id was erased",
)
KRAFT_START = version_flag(
    "kraft_start",
    "what a broker that starts in KRaft mode does with strays: it deletes them; since KAFKA-14616 (3.7.0) it sets them "
    "aside, and ends if a log has no topic id; since KAFKA-16814 (3.7.1) such a log is a stray, too",
    {"3.7.0": "sets aside, identified only", "3.7.1": "sets aside"},
    before="deletes",
    no_fix="a log of another topic id is of an earlier topic, or of a topic whose id was erased",
)
LEAVES_DELETIONS_OUT = version_flag(
    "leaves_deletions_out",
    "KAFKA-15605 (3.6.1): topics in /admin/delete_topics are not copied, and their znodes are removed",
    {"3.6.1": True},
    no_fix="the deletion is not finished: the logs of the topics become strays",
)
COPY_IS_TRANSACTION = version_flag(
    "copy_is_transaction",
    "KAFKA-14538 (3.6.0): the copy of ZooKeeper's content is a transaction of the metadata log, with a metadata "
    "version from 3.6-IV1 on; before, records of a copy that has failed stay",
    {"3.6.0": True},
    no_fix="the image before the end of the copy is served to nobody",
)
WAITS_FOR_TOPIC_IDS = version_flag(
    "waits_for_topic_ids",
    "KAFKA-14840 (3.5.0): while KRaft's controller waits for brokers it reads the topics' ids, and waits as long as "
    "one has none; before, the copy fails, when /controller is claimed already",
    {"3.5.0": True},
    no_fix="the migration waits for good",
)
COPY_FAILURE_ENDS = version_flag(
    "copy_failure_ends",
    "KAFKA-14805 (3.5.0): the controller of KRaft ends when the copy fails; before, it copies again, each second",
    {"3.5.0": True},
    no_fix="an operator writes the topic's id",
)
COMPARES_AFTER_CLAIM = version_flag(
    "compares_after_claim",
    "KAFKA-15010 (3.5.0): a controller of KRaft that becomes active in dual write compares ZooKeeper with its image; "
    "before, it waits for brokers in ZooKeeper mode, and copies ZooKeeper over its image, again and again",
    {"3.5.0": True},
    no_fix="the controllers of KRaft do not fail before all brokers run in KRaft mode",
)
WRITES_TOPIC_CHANGES = version_flag(
    "writes_topic_changes",
    "KAFKA-15003 (3.5.0): dual write has deletions, new partitions and assignments; before, only new topics, leaders "
    "and ISRs",
    {"3.5.0": True},
    no_fix="topics are not changed during the migration",
)
REQUESTS_FOR_NEW_PARTITIONS = version_flag(
    "requests_for_new_partitions",
    "KAFKA-15149 (3.5.1): brokers in ZooKeeper mode get requests about partitions that were added in dual write",
    {"3.5.1": True},
    no_fix="the next controller of KRaft sends everything",
)
COMPARES_DIRECTORIES = version_flag(
    "compares_directories",
    "KIP-858 (3.7.0): log directories are a part of what is compared with ZooKeeper, which has none, with a metadata "
    "version from 3.7-IV2 on",
    {"3.7.0": True},
    no_fix="more is written to ZooKeeper than has changed",
)
ZOOKEEPER_CHANNELS_ONLY = version_flag(
    "zookeeper_channels_only",
    "KAFKA-14918 (3.5.0): requests are sent to brokers in ZooKeeper mode only",
    {"3.5.0": True},
    no_fix="brokers in KRaft mode refuse them, and close the connection",
)
LOG_DIRECTORIES = version_flag(
    "log_directories",
    "whether a broker with several log directories starts with the migration enabled: it was not checked; since "
    "KAFKA-15450 (3.5.2) it does not start; since KIP-858 (3.7.0) it does with inter.broker.protocol.version 3.7",
    {"3.5.2": "refused", "3.7.0": "with 3.7"},
    before="not checked",
    no_fix="an operator has to upgrade, or to move the logs to one directory",
)
RELEASES = ("3.9.0", "3.4.1", "3.5.2", "3.6.1")
"""Those whose variants are listed; the first one is a scenario's default."""


def variant_of(release: str) -> dict[str, bool | str]:
    """Return the settings of the flags in a release."""
    return FLAGS.variant_of(release)


def flags_of_migrating(release: str) -> dict[str, bool | str]:
    """Return all flags of the controller, of brokers and of migrations in a release."""
    return {**flags_of(release), **variant_of(release)}


VARIANTS = {release: flags_of_migrating(release) for release in RELEASES}
UNLISTED_VARIANTS = {release: flags_of_migrating(release) for release in MIGRATING if release not in VARIANTS}
"""The variants of all other releases that can migrate."""
