"""ZkConfigMigrationClient: what the migration does to configurations, client quotas, ACLs and blocks of producer ids.

KRaft's controller copies them from ZooKeeper into its image, and in dual write it writes each change of the image to
ZooKeeper, with a notification for brokers in ZooKeeper mode. One change is written before the next one is made. An
operator who rolls back has waited until all is written. SCRAM credentials and delegation tokens are left out.

Source: kafka.zk.ZkMigrationClient, kafka.zk.migration.ZkConfigMigrationClient and ZkAclMigrationClient;
org.apache.kafka.metadata.migration.KRaftMigrationZkWriter and KRaftMigrationDriver (3.4.0 to 3.9.0).
"""

from __future__ import annotations

from kwalk.model.kafka.actors import FAULT, KRAFT, OPERATOR
from kwalk.model.kafka.migration.configuration_state import (
    FAILURES,
    LATE_REQUESTS,
    ROLLBACKS,
    ConfigurationMigration,
    Delta,
    Entity,
    Phase,
    Value,
)
from kwalk.model.kafka.migration.configuration_versions import (
    ACLS_ARE_WRITTEN_WHOLE,
    AUTHORIZERS_MIGRATE,
    CHANGES_ARE_NOTIFIED,
    CONFIG_WRITES_ARE_CHECKED,
    CONTROLLERS_HAVE_THE_SECRET,
    DEFAULT_BROKER_IS_COPIED,
    DEFAULT_BROKER_IS_WRITTEN,
    DELETED_QUOTAS_ARE_WRITTEN,
    DELETIONS_ARE_NOTIFIED,
    IMAGE_IS_WRITTEN_BACK,
    LATE_REQUESTS_ARE_REFUSED,
    PASSWORDS_ARE_DECODED,
    QUOTA_NAMES_ARE_TRANSLATED,
    QUOTA_TYPES_ARE_TRANSLATED,
)
from kwalk.model.kafka.migration.producer_id_manager import copy_block, write_block, write_block_back
from kwalk.model.language import Actor, action, require

ADMIN = Actor("admin", system=False)
BROKER = Actor("broker")


def entity_with_a_value(migration: ConfigurationMigration, entity: Entity, value: Value) -> None:
    """Any entity with any value or none, which the broker applies; one block of producer ids is given."""
    require(entity is not Entity.ACLS or AUTHORIZERS_MIGRATE)
    migration.entity = entity
    migration.zookeeper = migration.accepted = migration.applied = value
    migration.zookeeper_is_encrypted = entity is Entity.SECRET
    migration.blocks.given = frozenset({0})


@action(
    by=ADMIN,
    description="sets the value to {value} in ZooKeeper",
    source="AdminZkClient.changeEntityConfig; KafkaZkClient.setOrCreateEntityConfigs; AclAuthorizer.updateResourceAcls",
)
def alter_in_zookeeper(migration: ConfigurationMigration, value: Value) -> None:
    """A broker in ZooKeeper mode handles the request, also if KRaft's controller leads, of which it has not heard."""
    require(migration.phase is not Phase.ROLLED_BACK and not migration.knows_kraft and migration.zookeeper != value)
    require(not migration.is_claimed or is_written_late(migration, value))
    migration.changes += 1
    migration.late_requests += migration.is_claimed
    migration.zookeeper = migration.accepted = value
    migration.zookeeper_is_encrypted = migration.entity is Entity.SECRET
    migration.notified = True


def is_written_late(migration: ConfigurationMigration, value: int | None) -> bool:
    """Whether a value is written to ZooKeeper although /controller is KRaft's.

    Kafka: setOrCreateEntityConfigs checks; AdminZkClient.tryCleanQuotaNodes and AclAuthorizer do not.
    """
    is_unchecked = migration.entity is Entity.ACLS or (migration.is_quota and value is None)
    is_refused = LATE_REQUESTS_ARE_REFUSED if is_unchecked else CONFIG_WRITES_ARE_CHECKED
    return not is_refused and migration.late_requests < LATE_REQUESTS


@action(
    by=BROKER,
    description="handles the notification of a change in ZooKeeper",
    source="ZkConfigManager.ConfigChangedNotificationHandler; AclAuthorizer.AclChangedNotificationHandler",
)
def handle_notification(migration: ConfigurationMigration) -> None:
    """A broker in ZooKeeper mode reads the znode."""
    require(migration.notified and not migration.is_in_kraft_mode)
    migration.notified = False
    migration.applied = value_in_zookeeper_mode(migration)


def value_in_zookeeper_mode(migration: ConfigurationMigration) -> int | None:
    """Return what a broker in ZooKeeper mode has of the znode: a password that it cannot decode is ignored."""
    is_readable = migration.entity is not Entity.SECRET or migration.zookeeper_is_encrypted
    return migration.zookeeper if is_readable else None


@action(
    by=KRAFT,
    description="claims /controller",
    source="KRaftMigrationDriver.BecomeZkControllerEvent; KafkaZkClient.tryRegisterKRaftControllerAsActiveController",
)
def claim_controller(migration: ConfigurationMigration) -> None:
    """All brokers are registered."""
    require(migration.phase is Phase.ZOOKEEPER)
    migration.phase = Phase.ZK_MIGRATION


@action(
    by=BROKER,
    description="handles UpdateMetadata: KRaft's controller leads",
    source="MigrationPropagator.sendRPCsToBrokersFromMetadataImage; ZkMetadataCache.updateMetadata",
)
def hear_of_kraft(migration: ConfigurationMigration) -> None:
    """The first request of KRaft's controller follows its comparison; requests of clients are forwarded from now on."""
    require(migration.phase is Phase.DUAL_WRITE and not migration.knows_kraft)
    migration.knows_kraft = True


@action(
    by=KRAFT,
    description="copies from ZooKeeper",
    source="KRaftMigrationDriver.MigrateMetadataEvent; ZkMigrationClient.readAllMetadata",
)
def copy(migration: ConfigurationMigration) -> None:
    """The copy fails if <default> is parsed as a broker id; each next controller meets the same.

    It fails also after all values of <default> were deleted, as the znode stays; that is left out.
    """
    require(migration.phase is Phase.ZK_MIGRATION and not migration.has_begun)
    if migration.entity is Entity.DEFAULT_BROKER and migration.zookeeper is not None and not DEFAULT_BROKER_IS_COPIED:
        migration.phase = Phase.FAILED
    else:
        copy_entity(migration)
        copy_block(migration.blocks)
        migration.has_begun = True
        migration.phase = Phase.SYNC_KRAFT_TO_ZK if IMAGE_IS_WRITTEN_BACK else Phase.DUAL_WRITE


@action(
    by=KRAFT,
    description="copies from ZooKeeper once more",
    source="KRaftMigrationDriver.MigrateMetadataEvent of 3.4: setMigrationRecoveryState with ZkVersion.UnknownVersion",
)
def copy_again(migration: ConfigurationMigration) -> None:
    """Before 3.5 the next controller does this again and again, as it does not know the version of /migration."""
    require(migration.phase is Phase.ZK_MIGRATION and migration.has_begun)
    require(migration.zookeeper is not None and migration.zookeeper not in (migration.kraft, migration.misnamed))
    copy_entity(migration)


def copy_entity(migration: ConfigurationMigration) -> None:
    """Give the image the value in ZooKeeper, or give it to a name that no client has."""
    if is_misnamed(migration):
        migration.misnamed = migration.zookeeper
    else:
        migration.kraft = migration.zookeeper
        migration.kraft_is_encrypted = migration.zookeeper_is_encrypted and not has_encoder()


def is_misnamed(migration: ConfigurationMigration) -> bool:
    """Whether the copy takes the name of a znode for that of a client, or the type of a znode for that of a quota."""
    has_special_name = migration.entity in (Entity.USER_QUOTA, Entity.DEFAULT_QUOTA)
    return migration.is_quota and (
        not QUOTA_TYPES_ARE_TRANSLATED or (has_special_name and not QUOTA_NAMES_ARE_TRANSLATED)
    )


def has_encoder() -> bool:
    """Whether KRaft's controllers decode and encode passwords (Kafka: ControllerServer: zkConfigEncoder)."""
    return PASSWORDS_ARE_DECODED and CONTROLLERS_HAVE_THE_SECRET


@action(
    by=KRAFT,
    description="writes its image to ZooKeeper, where it differs",
    source="KRaftMigrationDriver.SyncKRaftMetadataEvent; KRaftMigrationZkWriter.handleSnapshot",
)
def write_image(migration: ConfigurationMigration) -> None:
    """A name that cannot be written lets the comparison fail, again and again.

    A misnamed quota is written back to the znode that it is from.
    """
    require(migration.phase is Phase.SYNC_KRAFT_TO_ZK)
    require(not has_unwritable_name(migration) or migration.kraft is None)
    migration.delta = Delta.NONE
    image = migration.misnamed if is_misnamed(migration) else migration.kraft
    if image != migration.zookeeper:
        write(migration, image)
    write_block_back(migration.blocks)
    migration.phase = Phase.DUAL_WRITE


def has_unwritable_name(migration: ConfigurationMigration) -> bool:
    """Whether the znode that is written for the entity is another one, has no parent, or has no path."""
    if migration.entity is Entity.DEFAULT_BROKER:
        return not DEFAULT_BROKER_IS_WRITTEN
    return migration.entity in (Entity.USER_QUOTA, Entity.DEFAULT_QUOTA) and not QUOTA_NAMES_ARE_TRANSLATED


def write(migration: ConfigurationMigration, value: int | None) -> None:
    """Write the znode, and its notification; quotas are not deleted, but written empty."""
    migration.zookeeper = value
    migration.zookeeper_is_encrypted = migration.entity is Entity.SECRET and (
        migration.kraft_is_encrypted or has_encoder()
    )
    is_deleted = value is None and not migration.is_quota and migration.entity is not Entity.ACLS
    if CHANGES_ARE_NOTIFIED and (DELETIONS_ARE_NOTIFIED or not is_deleted):
        migration.notified = True


@action(
    by=ADMIN,
    description="sets the value to {value} at KRaft's controller",
    source="ConfigurationControlManager, ClientQuotaControlManager, AclControlManager",
)
def alter_in_kraft(migration: ConfigurationMigration, value: Value) -> None:
    """The image has the value when the client is told."""
    require(migration.is_led_by_kraft and migration.knows_kraft and migration.kraft != value)
    require(migration.delta is Delta.NONE)
    migration.changes += 1
    migration.delta = Delta.FEWER_ACLS if deletes_acls(migration, value) else Delta.CHANGED
    migration.kraft = migration.accepted = value
    migration.kraft_is_encrypted = False


def deletes_acls(migration: ConfigurationMigration, value: int | None) -> bool:
    """Whether a new value leaves some of the ACLs of the resource, and fewer than there were."""
    image = migration.kraft
    return migration.entity is Entity.ACLS and value is not None and image is not None and value < image


@action(
    by=KRAFT,
    description="handles the change of its image: writes it to ZooKeeper, if it can",
    source="KRaftMigrationDriver.MetadataChangeEvent; KRaftMigrationZkWriter.handleDelta",
)
def write_delta(migration: ConfigurationMigration) -> None:
    """A write that throws is not repeated; with a deletion only the first of the other ACLs is written before 3.6.2."""
    require(migration.phase is Phase.DUAL_WRITE)
    require(migration.delta is not Delta.NONE)
    is_partial = migration.delta is Delta.FEWER_ACLS and not ACLS_ARE_WRITTEN_WHOLE
    migration.delta = Delta.NONE
    if not has_unwritable_name(migration) and not is_missing_in_the_image(migration):
        write(migration, 0 if is_partial else migration.kraft)


def is_missing_in_the_image(migration: ConfigurationMigration) -> bool:
    """Whether a delta looks for a quota that the image has no longer: a NullPointerException.

    Kafka: KRaftMigrationZkWriter.handleClientQuotasDelta: entities().get(clientQuotaEntity).quotaMap().
    """
    is_deleted = migration.entity is Entity.CLIENT_QUOTA and migration.kraft is None
    return is_deleted and not DELETED_QUOTAS_ARE_WRITTEN


@action(
    by=KRAFT,
    description="handles a new block of producer ids: writes it to ZooKeeper",
    source="KRaftMigrationZkWriter.handleProducerIdDelta; ZkMigrationClient.writeProducerId",
)
def write_producer_ids(migration: ConfigurationMigration) -> None:
    """The block in ZooKeeper is then the one that KRaft gives next."""
    require(migration.phase is Phase.DUAL_WRITE and migration.blocks.is_unwritten)
    write_block(migration.blocks)


@action(
    by=FAULT,
    description="KRaft's active controller fails; another one claims /controller",
    source="KRaftMigrationDriver.KRaftLeaderEvent",
)
def fail_quorum(migration: ConfigurationMigration) -> None:
    """What was not written is in the image only."""
    require(migration.phase in (Phase.SYNC_KRAFT_TO_ZK, Phase.DUAL_WRITE) and migration.failures < FAILURES)
    migration.failures += 1
    migration.delta = Delta.NONE
    migration.blocks.is_unwritten = False
    migration.phase = Phase.SYNC_KRAFT_TO_ZK if IMAGE_IS_WRITTEN_BACK else Phase.ZK_MIGRATION


@action(
    by=OPERATOR,
    description="restarts the broker in KRaft mode",
    source="docs/ops.html, Migrating brokers to KRaft; BrokerMetadataPublisher",
)
def start_in_kraft_mode(migration: ConfigurationMigration) -> None:
    """It reads the image."""
    require(migration.phase is Phase.DUAL_WRITE and migration.knows_kraft and not migration.is_in_kraft_mode)
    migration.is_in_kraft_mode, migration.notified = True, False
    migration.applied = value_in_kraft_mode(migration)


@action(
    by=BROKER,
    description="applies the change of the image",
    source="BrokerMetadataPublisher: DynamicConfigPublisher, DynamicClientQuotaPublisher, AclPublisher",
)
def apply_image(migration: ConfigurationMigration) -> None:
    """A broker in KRaft mode reads the image."""
    require(migration.is_in_kraft_mode and migration.applied != value_in_kraft_mode(migration))
    migration.applied = value_in_kraft_mode(migration)


def value_in_kraft_mode(migration: ConfigurationMigration) -> int | None:
    """Return what a broker in KRaft mode has of the image: cipher text is no password."""
    return None if migration.kraft_is_encrypted else migration.kraft


@action(
    by=OPERATOR,
    description="rolls the migration back: the broker starts in ZooKeeper mode, without KRaft's controllers",
    source="docs/ops.html, Reverting to ZooKeeper mode During the Migration",
)
def roll_back(migration: ConfigurationMigration) -> None:
    """The operator has waited until all is written, or until nothing is written any more."""
    require(migration.has_begun and migration.phase in (Phase.DUAL_WRITE, Phase.ZK_MIGRATION))
    require(migration.delta is Delta.NONE and not migration.blocks.is_unwritten and migration.rollbacks < ROLLBACKS)
    migration.rollbacks += 1
    migration.phase = Phase.ROLLED_BACK
    migration.is_in_kraft_mode = migration.knows_kraft = migration.notified = False
    migration.applied = value_in_zookeeper_mode(migration)
