"""What releases of Kafka differ in about configurations, quotas, ACLs and producer ids in a migration to KRaft.

Each flag was dated by comparing the sources of the releases on both sides of the change. Three fixes of 3.6.2, and one
of 3.5.2, are not in the first release of the next line.
"""

from __future__ import annotations

from kwalk.model.kafka.migration.versions import MIGRATING
from kwalk.model.kafka.releases import ReleaseFlags
from kwalk.model.language import Trial

RELEASES = ("3.9.0", "3.4.1", "3.5.0", "3.5.1", "3.5.2", "3.6.0", "3.6.1", "3.6.2", "3.7.0", "3.7.1")
"""Those whose variants are listed; the first one is a scenario's default."""

FLAGS = ReleaseFlags()
version_flag, candidate, grain_flag = FLAGS.version_flag, FLAGS.candidate, FLAGS.grain_flag
FIXES = FLAGS.fixes
STORY = "migration-of-configurations"
UNDISTURBED = {"late_requests": 0}
"""Every request is handled by the controller that leads."""

# What releases differ in.

PASSWORDS_ARE_DECODED = version_flag(
    "passwords_are_decoded",
    "KAFKA-14801 (3.5.0): KRaft's controllers decode passwords that they copy, and encode those that they write to "
    "ZooKeeper; before, the image has the cipher text",
    {"3.5.0": True},
    closes="a broker in KRaft mode can read a password that was configured in ZooKeeper mode",
    source="KAFKA-14801 (3.5.0)",
    trials=(Trial(STORY, ("secret_is_readable",), variant="3.4.1", bounds=UNDISTURBED),),
)
IMAGE_IS_WRITTEN_BACK = version_flag(
    "image_is_written_back",
    "KAFKA-14840, KAFKA-15010 (3.5.0; with KAFKA-15004, KAFKA-15009 and KAFKA-15017 for configurations, ACLs and "
    "quotas): a controller that follows another one writes its image to ZooKeeper; before, it copies ZooKeeper again",
    {"3.5.0": True},
    closes="what was changed in KRaft before its controller failed gets to ZooKeeper",
    source="KAFKA-14840, KAFKA-15010 (3.5.0)",
    trials=(
        Trial(STORY, ("configuration_survives_rollback(TOPIC)",), variant="3.4.1", bounds=UNDISTURBED),
        Trial(STORY, ("copy_of_configurations_ends(TOPIC)",), variant="3.4.1", bounds=UNDISTURBED),
    ),
)
CHANGES_ARE_NOTIFIED = version_flag(
    "changes_are_notified",
    "KAFKA-14840 (3.5.0): KRaft's controller writes a notification for what it changes in /config; before, none",
    {"3.5.0": True},
    closes="a broker in ZooKeeper mode applies what KRaft's controller writes",
    source="KAFKA-14840 (3.5.0)",
    trials=(Trial(STORY, ("brokers_apply_the_configuration(TOPIC)",), variant="3.9.0", bounds=UNDISTURBED),),
)
DEFAULT_BROKER_IS_WRITTEN = version_flag(
    "default_broker_is_written",
    "KAFKA-14840 (3.5.0): in dual write the configuration of all brokers is written to /config/brokers/<default>; "
    "before, the path ends in a slash, and ZooKeeper's client refuses it",
    {"3.5.0": True},
    closes="a dynamic configuration of all brokers gets from KRaft to ZooKeeper",
    source="KAFKA-14840 (3.5.0)",
    trials=(Trial(STORY, ("configuration_survives_rollback(DEFAULT_BROKER)",), variant="3.9.0", bounds=UNDISTURBED),),
)
QUOTA_TYPES_ARE_TRANSLATED = version_flag(
    "quota_types_are_translated",
    "KAFKA-14840 (3.5.0): copied quotas have the types user, client-id and ip; before, those of znodes, such as users, "
    "which brokers in KRaft mode ignore",
    {"3.5.0": True},
    closes="a copied client quota is one of a client",
    source="KAFKA-14840 (3.5.0)",
    trials=(Trial(STORY, ("configuration_survives_migration(CLIENT_QUOTA)",), variant="3.9.0", bounds=UNDISTURBED),),
)
QUOTA_NAMES_ARE_TRANSLATED = version_flag(
    "quota_names_are_translated",
    "KAFKA-16222, KAFKA-16411 (3.6.2, 3.7.1, not 3.7.0): names of client quotas are desanitized, and <default> is the "
    "default; before, quotas of such names are copied to names that no client has, and cannot be written back",
    {"3.6.2": True, "3.7.0": False, "3.7.1": True},
    closes="a quota of a user whose name is not that of a znode, and of all users, holds in KRaft mode",
    source="KAFKA-16222, KAFKA-16411 (3.6.2, 3.7.1)",
    trials=(
        Trial(STORY, ("configuration_survives_migration(USER_QUOTA)",), variant="3.7.0", bounds=UNDISTURBED),
        Trial(STORY, ("configuration_survives_migration(DEFAULT_QUOTA)",), variant="3.7.0", bounds=UNDISTURBED),
        Trial(STORY, ("image_is_written_to_the_end(USER_QUOTA)",), variant="3.7.0", bounds=UNDISTURBED),
    ),
)
DEFAULT_BROKER_IS_COPIED = version_flag(
    "default_broker_is_copied",
    "KAFKA-15374 (3.5.2): <default> among the configurations of brokers is no broker id; in 3.5.0 and 3.5.1 it is "
    "parsed as one, the copy fails, and the controller ends; 3.4 collects no ids there",
    {"3.5.0": False, "3.5.2": True},
    before=True,
    closes="a dynamic configuration of all brokers does not let the copy fail",
    source="KAFKA-15374 (3.5.2)",
    trials=(Trial(STORY, ("copy_of_configurations_ends(DEFAULT_BROKER)",), variant="3.5.1", bounds=UNDISTURBED),),
)
DELETIONS_ARE_NOTIFIED = version_flag(
    "deletions_are_notified",
    "KAFKA-16428 (3.6.2, 3.7.1, not 3.7.0): the notification of a deleted configuration names its type; before, "
    "Some(topics), which brokers refuse",
    {"3.6.2": True, "3.7.0": False, "3.7.1": True},
    closes="a broker in ZooKeeper mode applies the deletion of a configuration",
    source="KAFKA-16428 (3.6.2, 3.7.1)",
    trials=(Trial(STORY, ("brokers_apply_the_configuration(TOPIC)",), variant="3.7.0", bounds=UNDISTURBED),),
)
CONFIG_WRITES_ARE_CHECKED = version_flag(
    "config_writes_are_checked",
    "KAFKA-16539 (3.7.1): a broker in ZooKeeper mode writes /config only while /controller is ZooKeeper's; the "
    "removal of the znode of a quota is not checked",
    {"3.7.1": True},
    closes="a configuration that was written to ZooKeeper after the copy is not acknowledged and lost",
    source="KAFKA-16539 (3.7.1)",
    trials=(
        Trial(STORY, ("configuration_survives_migration(TOPIC)",), variant="3.7.0"),
        Trial(
            STORY,
            ("deletion_survives_migration(CLIENT_QUOTA)",),
            variant="3.7.0",
            about="the removal of the znode of a quota is not checked",
        ),
    ),
)
ACLS_ARE_WRITTEN_WHOLE = version_flag(
    "acls_are_written_whole",
    "#15327 (3.6.2): after a deletion all other ACLs of the resource are written; before, only one of them",
    {"3.6.2": True},
    closes="the deletion of an ACL removes no other ACL of its resource from ZooKeeper",
    source="pull request 15327 (3.6.2)",
    trials=(Trial(STORY, ("configuration_survives_rollback(ACLS)",), variant="3.6.1", bounds=UNDISTURBED),),
)
NEXT_PRODUCER_ID_IS_COPIED = version_flag(
    "next_producer_id_is_copied",
    "KAFKA-15552 (3.5.2, 3.6.1, not 3.6.0): KRaft goes on behind the last block of producer ids; before, with it",
    {"3.5.2": True, "3.6.0": False, "3.6.1": True},
    closes="no two brokers get the same block of producer ids",
    source="KAFKA-15552 (3.5.2, 3.6.1)",
    trials=(Trial(STORY, ("producer_ids_are_given_once",), variant="3.6.0", bounds=UNDISTURBED),),
)
AUTHORIZERS_MIGRATE = version_flag(
    "authorizers_migrate",
    "KAFKA-15098 (3.5.1): brokers with an authorizer start with the migration enabled",
    {"3.5.1": True},
    no_fix="before, a cluster with ACLs does not migrate at all",
)

# Fixes that no release has.

DELETED_QUOTAS_ARE_WRITTEN = candidate(
    "deleted_quotas_are_written",
    "in dual write the deletion of the last quota of a client id writes an empty znode; in all releases it throws a "
    "NullPointerException, as the image has no such quota any more",
    closes="a deleted quota of a client id is deleted in ZooKeeper",
    source="no release",
    trials=(
        Trial(STORY, ("configuration_survives_rollback(CLIENT_QUOTA)",), variant="3.9.0", bounds=UNDISTURBED),
        Trial(STORY, ("brokers_apply_the_configuration(CLIENT_QUOTA)",), variant="3.9.0", bounds=UNDISTURBED),
    ),
)
LATE_REQUESTS_ARE_REFUSED = candidate(
    "late_requests_are_refused",
    "ZooKeeper's controller gives blocks of producer ids, removes znodes of quotas and writes ACLs only while "
    "/controller_epoch is its own",
    closes="what a deposed controller of ZooKeeper acknowledges is in KRaft",
    source="no release",
    trials=(
        Trial(STORY, ("deletion_survives_migration(CLIENT_QUOTA)",), variant="3.9.0"),
        Trial(STORY, ("configuration_survives_migration(ACLS)",), variant="3.9.0"),
        Trial(STORY, ("producer_ids_are_given_once",), variant="3.9.0"),
    ),
)

# The grain.

CONTROLLERS_HAVE_THE_SECRET = grain_flag(
    "controllers_have_the_secret",
    "KRaft's controllers have password.encoder.secret as the brokers; without it they copy and write as it is",
    default=True,
)

VARIANTS = {release: FLAGS.variant_of(release) for release in RELEASES}
UNLISTED_VARIANTS = {release: FLAGS.variant_of(release) for release in MIGRATING if release not in VARIANTS}
"""The variants of all other releases that can migrate."""
COARSE = dict(FLAGS.defaults)
