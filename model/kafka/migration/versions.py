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
    "before, one that ran during the copy waits for brokers in ZooKeeper mode, and copies ZooKeeper over its image, "
    "again and again",
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
READS_FIRST_IMAGE = version_flag(
    "reads_first_image",
    "KAFKA-15389 (3.6.0): the driver waits for the first image that is not empty; from 3.5.0 on it took the empty one "
    "of a new quorum for that of a cluster that does not migrate",
    {"3.5.0": False, "3.6.0": True},
    before=True,
    no_fix="another controller of KRaft becomes active",
)
RECOVERS_BEFORE_LEADING = version_flag(
    "recovers_before_leading",
    "KAFKA-17506 (3.8.1): a controller of KRaft that becomes active reads /migration first; since KAFKA-16563 (3.7.1) "
    "the two could come in any order",
    {"3.7.1": False, "3.8.1": True},
    before=True,
    no_fix="another controller of KRaft becomes active",
)
REPEATS_RECOVERY = version_flag(
    "repeats_recovery",
    "KAFKA-16563 (3.7.1): a driver whose first reading of /migration fails reads it again; before, it ended to poll",
    {"3.7.1": True},
    no_fix="the controller of KRaft restarts",
)
CHECKS_QUORUM = version_flag(
    "checks_quorum",
    "KAFKA-14909 (3.5.0): the migration waits until every controller of KRaft runs with it, with a metadata version "
    "from 3.7-IV0 on since 3.7.0; before, one without it could become active",
    {"3.5.0": True},
    no_fix="an operator configures all controllers of KRaft",
)
CHECKS_DRIVER_STATE = version_flag(
    "checks_driver_state",
    "KAFKA-15263 (3.5.2): an event that is queued twice runs once, as it looks at the state of the driver",
    {"3.5.2": True},
    no_fix="the second copy has what the first one has",
)
CHECKS_CLAIM = version_flag(
    "checks_claim",
    "KAFKA-16171 (3.6.2): a driver that fails to claim /controller claims it again; before, it went on without",
    {"3.6.2": True},
    no_fix="ZooKeeper's controller does not move while KRaft's takes over",
)
MIGRATION_VERSION = version_flag(
    "migration_version",
    "which version of /migration the driver checks when it writes: that of its election; since KAFKA-16171 (3.6.2) one "
    "that it reads again after the claim; since KAFKA-16667 (3.9.0) that of a write of its own",
    {"3.6.2": "read again", "3.9.0": "of its own write"},
    before="of the election",
    no_fix="the active controller of KRaft fails over",
)
READS_EMPTY_ZNODE = version_flag(
    "reads_empty_znode",
    "KAFKA-19480 (3.9.2): a /migration without content is written anew; before, each poll failed",
    {"3.9.2": True},
    no_fix="an operator deletes /migration",
)
ACCEPTS_EQUAL_EPOCH = version_flag(
    "accepts_equal_epoch",
    "KAFKA-16120 (3.6.2): a broker in ZooKeeper mode takes a LeaderAndIsr of KRaft's controller under the leader epoch "
    "that it has; before, the leader did not hear of replicas that are added",
    {"3.6.2": True},
    no_fix="the brokers restart in KRaft mode",
)
DELETES_REMOVED_REPLICAS = version_flag(
    "deletes_removed_replicas",
    "KAFKA-16120 (3.6.2): KRaft's controller lets brokers in ZooKeeper mode delete the logs of replicas that a "
    "reassignment removes; before, they only stop to fetch",
    {"3.6.2": True},
    no_fix="the brokers restart in KRaft mode",
)
FULL_UPDATE_METADATA = version_flag(
    "full_update_metadata",
    "KAFKA-15799 (3.6.1): what KRaft's first UpdateMetadata does not name leaves the caches of brokers in ZooKeeper "
    "mode; before, it stays",
    {"3.6.1": True},
    no_fix="the brokers restart",
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
