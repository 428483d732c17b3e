"""What a migration to KRaft must keep of configurations, client quotas, ACLs and producer ids."""

from __future__ import annotations

from kwalk.model.kafka.migration.configuration_state import ConfigurationMigration, Delta, Entity, Phase
from kwalk.model.language import always, premise, reachable, when_quiescent


@always(
    symptom="a configuration, a quota or an ACL that a client has set does not hold once brokers run in KRaft mode",
    log="none: kafka-configs.sh --describe --bootstrap-server shows another value, or another name",
)
def configuration_survives_migration(migration: ConfigurationMigration, entity: Entity) -> bool:
    """While KRaft's controller leads, its image has what the client was told last."""
    premise(migration.entity is entity and migration.is_led_by_kraft and migration.accepted is not None)
    return migration.kraft == migration.accepted


@always(
    symptom="a configuration, a quota or an ACL that a client has deleted holds again in KRaft mode",
    log="none: kafka-configs.sh --describe --bootstrap-server shows it",
)
def deletion_survives_migration(migration: ConfigurationMigration, entity: Entity) -> bool:
    """While KRaft's controller leads, its image has nothing that a client has deleted."""
    premise(migration.entity is entity and migration.is_led_by_kraft and migration.accepted is None)
    return migration.kraft is None and migration.misnamed is None


@always(
    symptom="after a rollback a configuration, a quota or an ACL is an older one, or there is none",
    log="controller.log of KRaft: Encountered zk migration fault; or none",
)
def configuration_survives_rollback(migration: ConfigurationMigration, entity: Entity) -> bool:
    """After a rollback ZooKeeper has what the client was told last."""
    premise(migration.entity is entity and migration.phase is Phase.ROLLED_BACK)
    return migration.zookeeper == migration.accepted


@when_quiescent(
    symptom="a change of a configuration, a quota or an ACL has no effect on a broker",
    log="server.log: error while processing notification change; or none",
)
def brokers_apply_the_configuration(migration: ConfigurationMigration, entity: Entity) -> bool:
    """At rest a broker applies what the client was told last, in either mode."""
    premise(migration.entity is entity and migration.phase in (Phase.DUAL_WRITE, Phase.ROLLED_BACK))
    return migration.applied == migration.accepted


@always(
    symptom="a broker in KRaft mode, or after a rollback, cannot open its keystore: its listeners fail",
    log="server.log: Failed to load SSL keystore; or Dynamic password config … could not be decoded, ignoring",
)
def secret_is_readable(migration: ConfigurationMigration) -> bool:
    """A password is plain in the image, and cipher text in ZooKeeper after a rollback."""
    premise(migration.entity is Entity.SECRET and migration.has_begun)
    if migration.phase is Phase.ROLLED_BACK:
        return migration.zookeeper is None or migration.zookeeper_is_encrypted
    return migration.kraft is None or not migration.kraft_is_encrypted


@when_quiescent(
    symptom="the migration never gets to dual write: KRaft's controllers end, or copy the same again and again",
    log="controller.log of KRaft: Starting ZK migration; Aborting the ZK migration",
)
def copy_of_configurations_ends(migration: ConfigurationMigration, entity: Entity) -> bool:
    """Once KRaft's controller has claimed the cluster, a copy ends, and is the last one."""
    premise(migration.entity is entity and migration.is_claimed)
    return migration.phase not in (Phase.FAILED, Phase.ZK_MIGRATION)


@when_quiescent(
    symptom="brokers in ZooKeeper mode get no requests after KRaft's controller has failed",
    log="controller.log of KRaft: Encountered zk migration fault, of SyncKRaftMetadataEvent, again and again",
)
def image_is_written_to_the_end(migration: ConfigurationMigration, entity: Entity) -> bool:
    """A controller that writes its image to ZooKeeper gets to dual write."""
    premise(migration.entity is entity and migration.is_led_by_kraft)
    return migration.phase is not Phase.SYNC_KRAFT_TO_ZK


@when_quiescent(
    symptom="ZooKeeper stays behind the image",
    log="controller.log of KRaft: the metric ZkWriteBehindLag does not fall to 0",
)
def every_change_is_handled(migration: ConfigurationMigration) -> bool:
    """In dual write each change of the image is handled."""
    premise(migration.phase is Phase.DUAL_WRITE)
    return migration.delta is Delta.NONE and not migration.blocks.is_unwritten


@always(
    symptom="producers fail with OutOfOrderSequenceException, or their records are dropped as duplicates",
    log="none: two brokers log the same Acquired new producerId block",
)
def producer_ids_are_given_once(migration: ConfigurationMigration) -> bool:
    """No block of producer ids is given twice."""
    return not migration.blocks.is_given_twice


@reachable()
def change_is_applied_in_kraft_mode(migration: ConfigurationMigration) -> bool:
    """A broker in KRaft mode applies a value that a client has set there."""
    is_set = migration.accepted is not None and migration.changes > 0
    return migration.is_in_kraft_mode and is_set and migration.applied == migration.accepted


@reachable()
def block_is_given_after_a_rollback(migration: ConfigurationMigration) -> bool:
    """ZooKeeper's controller gives a block after a rollback, behind one that KRaft's has given."""
    return migration.phase is Phase.ROLLED_BACK and len(migration.blocks.given) > 2
