"""What a migration to KRaft must keep of configurations, client quotas, ACLs and producer ids."""

from __future__ import annotations

from kwalk.model.kafka.migration.configuration_state import ConfiguredCluster, Delta, DriverPhase, Entity
from kwalk.model.language import always, premise, reachable, step, when_quiescent


@always(
    symptom="a configuration, a quota or an ACL that a client has set does not hold once brokers run in KRaft mode",
    log="none: kafka-configs.sh --describe --bootstrap-server shows another value, or another name",
)
def configuration_survives_migration(cluster: ConfiguredCluster, entity: Entity) -> bool:
    """While KRaft's controller leads, its image has what the client was told last."""
    premise(cluster.entity is entity and cluster.is_led_by_kraft and cluster.accepted is not None)
    return cluster.kraft == cluster.accepted


@always(
    symptom="a configuration, a quota or an ACL that a client has deleted holds again in KRaft mode",
    log="none: kafka-configs.sh --describe --bootstrap-server shows it",
)
def deletion_survives_migration(cluster: ConfiguredCluster, entity: Entity) -> bool:
    """While KRaft's controller leads, its image has nothing that a client has deleted."""
    premise(cluster.entity is entity and cluster.is_led_by_kraft and cluster.accepted is None)
    return cluster.kraft is None


@always(
    symptom="after a rollback a configuration, a quota or an ACL is an older one, or there is none",
    log="controller.log of KRaft: Encountered zk migration fault: Unhandled error in …; or none",
)
def configuration_survives_rollback(cluster: ConfiguredCluster, entity: Entity) -> bool:
    """After a rollback ZooKeeper has what the client was told last."""
    premise(cluster.entity is entity and cluster.phase is DriverPhase.ROLLED_BACK)
    return cluster.zookeeper == cluster.accepted


@when_quiescent(
    symptom="a change of a configuration, a quota or an ACL has no effect on a broker",
    log="server.log: error processing change notification … from …; or none",
)
def brokers_apply_the_configuration(cluster: ConfiguredCluster, entity: Entity) -> bool:
    """At rest a broker applies what the client was told last, in either mode."""
    premise(cluster.entity is entity and cluster.phase in (DriverPhase.DUAL_WRITE, DriverPhase.ROLLED_BACK))
    return cluster.applied == cluster.accepted


@always(
    symptom="a broker in KRaft mode, or after a rollback, cannot open its keystore: its listeners fail",
    log="server.log: Failed to load SSL keystore … of type …; or Dynamic password config … could not be "
    "decoded, ignoring.",
)
def secret_is_readable(cluster: ConfiguredCluster) -> bool:
    """A password is plain in the image, and cipher text in ZooKeeper before a migration and after a rollback."""
    premise(cluster.entity is Entity.SECRET)
    if cluster.phase is DriverPhase.ROLLED_BACK or not cluster.has_begun:
        return cluster.zookeeper is None or cluster.zookeeper_is_encrypted
    return cluster.kraft is None or not cluster.kraft_is_encrypted


@when_quiescent(
    symptom="the migration never gets to dual write: KRaft's controllers end, or copy the same again and again",
    log="controller.log of KRaft: Encountered fatal fault: Aborting the ZK migration; or Starting ZK migration, "
    "again and again",
)
def copy_of_configurations_ends(cluster: ConfiguredCluster, entity: Entity) -> bool:
    """Once KRaft's controller has claimed the cluster, a copy ends, and is the last one."""
    premise(cluster.entity is entity and cluster.is_claimed)
    return cluster.phase not in (DriverPhase.FAILED, DriverPhase.ZK_MIGRATION)


@when_quiescent(
    symptom="brokers in ZooKeeper mode get no requests after KRaft's controller has failed",
    log="controller.log of KRaft: Encountered ZooKeeper error during event … Will retry.; or Encountered zk "
    "migration fault: Unhandled error in …",
)
def image_is_written_to_the_end(cluster: ConfiguredCluster, entity: Entity) -> bool:
    """A controller that writes its image to ZooKeeper gets to dual write."""
    premise(cluster.entity is entity and cluster.is_led_by_kraft)
    return cluster.phase is not DriverPhase.SYNC_KRAFT_TO_ZK


@when_quiescent(
    symptom="ZooKeeper stays behind the image",
    log="none: the metric ZkWriteBehindLag does not fall to 0",
)
def every_change_is_handled(cluster: ConfiguredCluster) -> bool:
    """In dual write each change of the image is handled."""
    premise(cluster.phase is DriverPhase.DUAL_WRITE)
    return cluster.delta is Delta.NONE and not cluster.blocks.is_unwritten


@always(
    symptom="producers fail with OutOfOrderSequenceException, or their records are dropped as duplicates",
    log="none: two brokers log the same Acquired new producerId block",
)
def producer_ids_are_given_once(cluster: ConfiguredCluster) -> bool:
    """No block of producer ids is given twice."""
    return not cluster.blocks.is_given_twice


@always(
    symptom="after a rollback a broker forwards requests to controllers that are gone, or does not read ZooKeeper",
    log="none: kafka-configs.sh --alter times out",
)
def broker_obeys_zookeeper_after_a_rollback(cluster: ConfiguredCluster) -> bool:
    """After a rollback, which is counted, the broker runs in ZooKeeper mode, and knows no controller of KRaft."""
    premise(cluster.phase is DriverPhase.ROLLED_BACK)
    is_in_zookeeper_mode = not (cluster.is_in_kraft_mode or cluster.knows_kraft or cluster.notified)
    return is_in_zookeeper_mode and cluster.has_begun and cluster.rollbacks == 1


@always(
    symptom="a broker runs in KRaft mode, and follows ZooKeeper",
    log="none: kafka-broker-api-versions.sh shows the mode",
)
def broker_in_kraft_mode_follows_kraft(cluster: ConfiguredCluster) -> bool:
    """A broker in KRaft mode has heard of KRaft's controller, which has copied, and reads no znode."""
    premise(cluster.is_in_kraft_mode)
    return cluster.knows_kraft and cluster.is_led_by_kraft and not cluster.notified


@step(
    symptom="a value that no client has set is acknowledged, or one that was set is not",
    log="none: kafka-configs.sh --describe shows it",
)
def values_change_by_request(before: ConfiguredCluster, after: ConfiguredCluster) -> bool:
    """What clients are told changes by their requests only, and a failure of the quorum is no request."""
    is_failed = after.failures > before.failures
    is_changed = after.changes > before.changes
    premise(is_failed or is_changed or after.accepted != before.accepted)
    is_late = after.late_requests > before.late_requests
    if is_failed:
        return after.accepted == before.accepted and after.kraft == before.kraft
    holds = after.kraft if before.knows_kraft else after.zookeeper
    return is_changed and holds == after.accepted and is_late == (before.is_claimed and not before.knows_kraft)


@step(
    symptom="a producer's broker has no ids, or those of a block that no controller has given it",
    log="none: the broker asks again",
)
def given_block_is_held(before: ConfiguredCluster, after: ConfiguredCluster) -> bool:
    """A block that is given is the next one, and its broker has it; KRaft's controller gives to who knows it."""
    old, new = before.blocks, after.blocks
    by_kraft = new.is_unwritten and not old.is_unwritten
    by_zookeeper = new.in_zookeeper > old.in_zookeeper and not old.is_unwritten and before.phase is after.phase
    premise(by_kraft or by_zookeeper)
    if by_kraft:
        return before.knows_kraft and old.next_in_kraft in new.held
    return new.in_zookeeper == old.in_zookeeper + 1 and new.in_zookeeper in new.held


@step(
    symptom="a controller writes the same change to ZooKeeper again and again, or a broker applies it so",
    log="none: znodes' versions rise",
)
def handled_change_waits_no_more(before: ConfiguredCluster, after: ConfiguredCluster) -> bool:
    """A change that was written or applied, or a block that was written, does not wait for that any more."""
    old, new = before.blocks, after.blocks
    is_written = before.delta is not Delta.NONE and after.zookeeper != before.zookeeper
    is_written = is_written and after.accepted == before.accepted
    is_block_written = old.is_unwritten and new.in_zookeeper != old.in_zookeeper and new.held == old.held
    is_applied = before.notified and after.applied != before.applied and not after.is_in_kraft_mode
    premise(is_written or is_block_written or is_applied)
    waits = (is_written and after.delta is not Delta.NONE) or (is_block_written and new.is_unwritten)
    return not waits and not (is_applied and after.notified)


@step(
    symptom="a value in ZooKeeper that no client has set there, and no controller has written",
    log="none: zookeeper-shell.sh shows it",
)
def configuration_is_written_by_clients_and_controllers(before: ConfiguredCluster, after: ConfiguredCluster) -> bool:
    """A znode changes as a client sets its value, or as KRaft's controller writes what waits, or its image."""
    premise(after.zookeeper != before.zookeeper)
    is_written = before.delta is not Delta.NONE and after.delta is Delta.NONE
    return is_written or after.changes > before.changes or before.phase is DriverPhase.SYNC_KRAFT_TO_ZK


@reachable()
def change_is_applied_in_kraft_mode(cluster: ConfiguredCluster) -> bool:
    """A broker in KRaft mode applies a value that a client has set there."""
    is_set = cluster.accepted is not None and cluster.changes > 0
    return cluster.is_in_kraft_mode and is_set and cluster.applied == cluster.accepted


@reachable()
def block_is_given_after_a_rollback(cluster: ConfiguredCluster) -> bool:
    """ZooKeeper's controller gives a block after a rollback, behind one that KRaft's has given."""
    is_rolled_back = cluster.phase is DriverPhase.ROLLED_BACK and cluster.has_begun
    return is_rolled_back and len(cluster.blocks.held) > 2
