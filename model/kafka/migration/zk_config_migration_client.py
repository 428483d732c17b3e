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
    ConfiguredCluster,
    Delta,
    DriverPhase,
    Entity,
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


def entity_with_a_value(cluster: ConfiguredCluster, entity: Entity, value: Value) -> None:
    """Any entity with any value or none, which the broker applies; one block of producer ids is given."""
    require(entity is not Entity.ACLS or AUTHORIZERS_MIGRATE)
    cluster.entity = entity
    cluster.zookeeper = cluster.accepted = cluster.applied = value
    cluster.zookeeper_is_encrypted = entity is Entity.SECRET
    cluster.blocks.held = frozenset({0})


@action(
    by=ADMIN,
    description="sets the value to {value} in ZooKeeper",
    source="AdminZkClient.changeEntityConfig; KafkaZkClient.setOrCreateEntityConfigs; AclAuthorizer.updateResourceAcls",
)
def alter_in_zookeeper(cluster: ConfiguredCluster, value: Value) -> None:
    """A broker in ZooKeeper mode handles the request, also if KRaft's controller leads, of which it has not heard."""
    require(cluster.phase is not DriverPhase.ROLLED_BACK and not cluster.knows_kraft and cluster.zookeeper != value)
    require(not cluster.is_claimed or is_written_late(cluster, value))
    cluster.changes += 1
    cluster.late_requests += cluster.is_claimed
    cluster.zookeeper = cluster.accepted = value
    cluster.zookeeper_is_encrypted = cluster.entity is Entity.SECRET
    cluster.notified = True


def is_written_late(cluster: ConfiguredCluster, value: int | None) -> bool:
    """Whether a value is written to ZooKeeper although /controller is KRaft's.

    Kafka: setOrCreateEntityConfigs checks; AdminZkClient.tryCleanQuotaNodes and AclAuthorizer do not.
    """
    is_unchecked = cluster.entity is Entity.ACLS or (cluster.is_quota and value is None)
    is_refused = LATE_REQUESTS_ARE_REFUSED if is_unchecked else CONFIG_WRITES_ARE_CHECKED
    return not is_refused and cluster.late_requests < LATE_REQUESTS


@action(
    by=BROKER,
    description="handles the notification of a change in ZooKeeper",
    source="ZkConfigManager.ConfigChangedNotificationHandler; AclAuthorizer.AclChangedNotificationHandler",
)
def handle_notification(cluster: ConfiguredCluster) -> None:
    """A broker in ZooKeeper mode reads the znode."""
    require(cluster.notified)
    cluster.notified = False
    cluster.applied = value_in_zookeeper_mode(cluster)


def value_in_zookeeper_mode(cluster: ConfiguredCluster) -> int | None:
    """Return what a broker in ZooKeeper mode has of the znode: a password that it cannot decode is ignored."""
    is_readable = cluster.entity is not Entity.SECRET or cluster.zookeeper_is_encrypted
    return cluster.zookeeper if is_readable else None


@action(
    by=KRAFT,
    description="claims /controller",
    source="KRaftMigrationDriver.BecomeZkControllerEvent; KafkaZkClient.tryRegisterKRaftControllerAsActiveController",
)
def claim_controller(cluster: ConfiguredCluster) -> None:
    """All brokers are registered."""
    require(cluster.phase is DriverPhase.ZOOKEEPER)
    cluster.phase = DriverPhase.ZK_MIGRATION


@action(
    by=BROKER,
    description="handles UpdateMetadata: KRaft's controller leads",
    source="MigrationPropagator.sendRPCsToBrokersFromMetadataImage; ZkMetadataCache.updateMetadata",
)
def hear_of_kraft(cluster: ConfiguredCluster) -> None:
    """The first request of KRaft's controller follows its comparison; requests of clients are forwarded from now on."""
    require(cluster.phase is DriverPhase.DUAL_WRITE and not cluster.knows_kraft)
    cluster.knows_kraft = True


@action(
    by=KRAFT,
    description="copies from ZooKeeper",
    source="KRaftMigrationDriver.MigrateMetadataEvent; ZkMigrationClient.readAllMetadata",
)
def copy(cluster: ConfiguredCluster) -> None:
    """The copy fails if <default> is parsed as a broker id; each next controller meets the same.

    It fails also after all values of <default> were deleted, as the znode stays; that is left out.
    """
    require(cluster.phase is DriverPhase.ZK_MIGRATION and not cluster.has_begun)
    if cluster.entity is Entity.DEFAULT_BROKER and cluster.zookeeper is not None and not DEFAULT_BROKER_IS_COPIED:
        cluster.phase = DriverPhase.FAILED
    else:
        copy_entity(cluster)
        copy_block(cluster.blocks)
        cluster.has_begun = True
        cluster.phase = DriverPhase.SYNC_KRAFT_TO_ZK if IMAGE_IS_WRITTEN_BACK else DriverPhase.DUAL_WRITE


@action(
    by=KRAFT,
    description="copies from ZooKeeper once more",
    source="KRaftMigrationDriver.MigrateMetadataEvent of 3.4: setMigrationRecoveryState with ZkVersion.UnknownVersion",
)
def copy_again(cluster: ConfiguredCluster) -> None:
    """Before 3.5 the next controller does this again and again, as it does not know the version of /migration.

    It waits for all brokers first, and for good if one runs in KRaft mode.
    """
    require(cluster.phase is DriverPhase.ZK_MIGRATION and cluster.has_begun and not cluster.is_in_kraft_mode)
    require(cluster.zookeeper is not None and cluster.zookeeper not in (cluster.kraft, cluster.misnamed))
    copy_entity(cluster)


def copy_entity(cluster: ConfiguredCluster) -> None:
    """Give the image the value in ZooKeeper, or give it to a name that no client has."""
    if is_misnamed(cluster):
        cluster.misnamed = cluster.zookeeper
    else:
        cluster.kraft = cluster.zookeeper
        cluster.kraft_is_encrypted = cluster.zookeeper_is_encrypted and not has_encoder()


def is_misnamed(cluster: ConfiguredCluster) -> bool:
    """Whether the copy takes the name of a znode for that of a client, or the type of a znode for that of a quota."""
    has_special_name = cluster.entity in (Entity.USER_QUOTA, Entity.DEFAULT_QUOTA)
    return cluster.is_quota and (
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
def write_image(cluster: ConfiguredCluster) -> None:
    """A name that cannot be written lets the comparison fail, again and again.

    A misnamed quota is written back to the znode that it is from.
    """
    require(cluster.phase is DriverPhase.SYNC_KRAFT_TO_ZK)
    require(not has_unwritable_name(cluster) or cluster.kraft is None)
    cluster.delta = Delta.NONE
    image = cluster.misnamed if is_misnamed(cluster) else cluster.kraft
    if image != cluster.zookeeper:
        write(cluster, image)
    write_block_back(cluster.blocks)
    cluster.phase = DriverPhase.DUAL_WRITE


def has_unwritable_name(cluster: ConfiguredCluster) -> bool:
    """Whether the znode that is written for the entity is another one, has no parent, or has no path."""
    if cluster.entity is Entity.DEFAULT_BROKER:
        return not DEFAULT_BROKER_IS_WRITTEN
    return cluster.entity in (Entity.USER_QUOTA, Entity.DEFAULT_QUOTA) and not QUOTA_NAMES_ARE_TRANSLATED


def write(cluster: ConfiguredCluster, value: int | None) -> None:
    """Write the znode, and its notification; quotas are not deleted, but written empty."""
    cluster.zookeeper = value
    cluster.zookeeper_is_encrypted = cluster.entity is Entity.SECRET and (cluster.kraft_is_encrypted or has_encoder())
    is_deleted = value is None and not cluster.is_quota and cluster.entity is not Entity.ACLS
    if CHANGES_ARE_NOTIFIED and (DELETIONS_ARE_NOTIFIED or not is_deleted):
        cluster.notified = not cluster.is_in_kraft_mode


@action(
    by=ADMIN,
    description="sets the value to {value} at KRaft's controller",
    source="ConfigurationControlManager, ClientQuotaControlManager, AclControlManager",
)
def alter_in_kraft(cluster: ConfiguredCluster, value: Value) -> None:
    """The image has the value when the client is told."""
    require(cluster.is_led_by_kraft and cluster.knows_kraft and cluster.kraft != value)
    require(cluster.delta is Delta.NONE)
    cluster.changes += 1
    cluster.delta = Delta.FEWER_ACLS if deletes_acls(cluster, value) else Delta.CHANGED
    cluster.kraft = cluster.accepted = value
    cluster.kraft_is_encrypted = False


def deletes_acls(cluster: ConfiguredCluster, value: int | None) -> bool:
    """Whether a new value leaves some of the ACLs of the resource, and fewer than there were."""
    image = cluster.kraft
    return cluster.entity is Entity.ACLS and value is not None and image is not None and value < image


@action(
    by=KRAFT,
    description="handles the change of its image: writes it to ZooKeeper, if it can",
    source="KRaftMigrationDriver.MetadataChangeEvent; KRaftMigrationZkWriter.handleDelta",
)
def write_delta(cluster: ConfiguredCluster) -> None:
    """A write that throws is not repeated; with a deletion only the first of the other ACLs is written before 3.6.2."""
    require(cluster.phase is DriverPhase.DUAL_WRITE)
    require(cluster.delta is not Delta.NONE)
    is_partial = cluster.delta is Delta.FEWER_ACLS and not ACLS_ARE_WRITTEN_WHOLE
    cluster.delta = Delta.NONE
    if not has_unwritable_name(cluster) and not is_missing_in_the_image(cluster):
        write(cluster, 0 if is_partial else cluster.kraft)


def is_missing_in_the_image(cluster: ConfiguredCluster) -> bool:
    """Whether a delta looks for a quota that the image has no longer: a NullPointerException.

    Kafka: KRaftMigrationZkWriter.handleClientQuotasDelta: entities().get(clientQuotaEntity).quotaMap().
    """
    is_deleted = cluster.entity is Entity.CLIENT_QUOTA and cluster.kraft is None
    return is_deleted and not DELETED_QUOTAS_ARE_WRITTEN


@action(
    by=KRAFT,
    description="handles a new block of producer ids: writes it to ZooKeeper",
    source="KRaftMigrationZkWriter.handleProducerIdDelta; ZkMigrationClient.writeProducerId",
)
def write_producer_ids(cluster: ConfiguredCluster) -> None:
    """The block in ZooKeeper is then the one that KRaft gives next."""
    require(cluster.phase is DriverPhase.DUAL_WRITE and cluster.blocks.is_unwritten)
    write_block(cluster.blocks)


@action(
    by=FAULT,
    description="KRaft's active controller fails; another one claims /controller",
    source="KRaftMigrationDriver.KRaftLeaderEvent",
)
def fail_quorum(cluster: ConfiguredCluster) -> None:
    """What was not written is in the image only."""
    require(cluster.phase in (DriverPhase.SYNC_KRAFT_TO_ZK, DriverPhase.DUAL_WRITE) and cluster.failures < FAILURES)
    cluster.failures += 1
    cluster.delta = Delta.NONE
    cluster.blocks.is_unwritten = False
    cluster.phase = DriverPhase.SYNC_KRAFT_TO_ZK if IMAGE_IS_WRITTEN_BACK else DriverPhase.ZK_MIGRATION


@action(
    by=OPERATOR,
    description="restarts the broker in KRaft mode",
    source="docs/ops.html, Migrating brokers to KRaft; BrokerMetadataPublisher",
)
def start_in_kraft_mode(cluster: ConfiguredCluster) -> None:
    """It reads the image."""
    require(cluster.phase is DriverPhase.DUAL_WRITE and cluster.knows_kraft and not cluster.is_in_kraft_mode)
    cluster.is_in_kraft_mode, cluster.notified = True, False
    cluster.applied = value_in_kraft_mode(cluster)


@action(
    by=BROKER,
    description="applies the change of the image",
    source="BrokerMetadataPublisher: DynamicConfigPublisher, DynamicClientQuotaPublisher, AclPublisher",
)
def apply_image(cluster: ConfiguredCluster) -> None:
    """A broker in KRaft mode reads the image."""
    require(cluster.is_in_kraft_mode and cluster.applied != value_in_kraft_mode(cluster))
    cluster.applied = value_in_kraft_mode(cluster)


def value_in_kraft_mode(cluster: ConfiguredCluster) -> int | None:
    """Return what a broker in KRaft mode has of the image: cipher text is no password."""
    return None if cluster.kraft_is_encrypted else cluster.kraft


@action(
    by=OPERATOR,
    description="rolls the migration back: the broker starts in ZooKeeper mode, without KRaft's controllers",
    source="docs/ops.html, Reverting to ZooKeeper mode During the Migration",
)
def roll_back(cluster: ConfiguredCluster) -> None:
    """The operator has waited until all is written, or until nothing is written any more."""
    require(cluster.has_begun and cluster.phase in (DriverPhase.DUAL_WRITE, DriverPhase.ZK_MIGRATION))
    require(cluster.delta is Delta.NONE and not cluster.blocks.is_unwritten and cluster.rollbacks < ROLLBACKS)
    cluster.rollbacks += 1
    cluster.phase = DriverPhase.ROLLED_BACK
    cluster.is_in_kraft_mode = cluster.knows_kraft = cluster.notified = False
    cluster.applied = value_in_zookeeper_mode(cluster)
