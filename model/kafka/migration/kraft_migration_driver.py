"""KRaftMigrationDriver: how KRaft's active controller takes a cluster over from ZooKeeper, copies and writes it back.

Words: m1 to m8 number the steps of KIP-866. Each `multi` of ZooKeeper, and each record that ends a transaction, is a
step of its own: whatever is between two of them may meet a crash. A broker that runs in ZooKeeper mode with the
migration enabled is registered with KRaft's controllers.

The copy reads one topic after another; here each is one step, in the order of their numbers. Configurations, quotas,
ACLs and producer ids have a model of their own, `zk_config_migration_client`. What a deposed controller of KRaft
writes, and events that come in another order, are in `kraft_migration_races`.

3.4 has no comparison (SYNC_KRAFT_TO_ZK): a controller of KRaft that becomes active waits for brokers in ZooKeeper
mode, and copies, unless its process has started since the copy.

Source: org.apache.kafka.metadata.migration.KRaftMigrationDriver; kafka.zk.KafkaZkClient.
"""

from __future__ import annotations

from kwalk.model.kafka.actors import FAULT, KRAFT, OPERATOR
from kwalk.model.kafka.clients.runbook import is_at_rest
from kwalk.model.kafka.controller.controller_context import EventKind
from kwalk.model.kafka.domains import BROKERS, PARTITIONS, QUORUM_FAILURES, ROLLBACKS, TOPICS, Topic
from kwalk.model.kafka.migration.kraft_migration_zk_writer import (
    is_behind,
    is_every_topic_identified,
    lose_driver,
    remember_replicas,
)
from kwalk.model.kafka.migration.migration_propagator import send_full
from kwalk.model.kafka.migration.state import BrokerMode, DriverState
from kwalk.model.kafka.migration.versions import (
    CHECKS_CLAIM,
    COMPARES_AFTER_CLAIM,
    COPY_FAILURE_ENDS,
    COPY_IS_TRANSACTION,
    READS_EMPTY_ZNODE,
    WAITS_FOR_TOPIC_IDS,
)
from kwalk.model.kafka.migration.zk_topic_migration_client import first_leader, replicas_of
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.versions.grain import MIGRATION, PATIENT_OPERATOR, ROLLBACK_REMOVES_MIGRATION
from kwalk.model.kafka.zookeeper.kafka_zk_client import controller_changed
from kwalk.model.language import action, require


@action(
    by=KRAFT,
    group="migration",
    description="becomes active, and looks how far the migration is",
    source="KRaftMigrationDriver: RecoverMigrationStateFromZKEvent, KRaftLeaderEvent, WaitForControllerQuorumEvent",
)
def become_active(cluster: Cluster) -> None:
    """m1: of a migration whose log says that it has begun, and /migration does not, the driver stays inactive.

    A transaction that a controller before it has begun is aborted.
    """
    migration, is_recorded = cluster.migration, cluster.zookeeper.migration_is_recorded
    require(MIGRATION and migration.driver is DriverState.INACTIVE)
    require(not migration.is_finalized and not migration.is_deprovisioned)
    require(not cluster.zookeeper.migration_is_empty or READS_EMPTY_ZNODE)
    if not migration.has_begun and COPY_IS_TRANSACTION:
        migration.clear_images()
    migration.copied = migration.compared = frozenset()
    migration.has_stale_version = migration.has_read_copy = False
    migration.read_controller_epoch = 0
    migration.epoch += 1
    if not COMPARES_AFTER_CLAIM or not migration.has_begun:
        migration.driver = DriverState.WAIT_FOR_BROKERS
    elif is_recorded:
        prepare_claim(cluster)
    else:
        migration.driver = DriverState.GIVEN_UP


@action(
    by=KRAFT,
    group="migration",
    description="starts, reads in /migration that there is a copy, and becomes active",
    source="KRaftMigrationDriver.initializeMigrationState, KRaftLeaderEvent (3.4)",
)
def become_active_after_start(cluster: Cluster) -> None:
    """In 3.4 only a controller whose process has started since the copy knows of it; the others have forgotten it."""
    migration = cluster.migration
    require(not COMPARES_AFTER_CLAIM and cluster.zookeeper.migration_is_recorded)
    become_active(cluster)
    migration.has_read_copy = True
    prepare_claim(cluster)


def prepare_claim(cluster: Cluster) -> None:
    """Read the controller epoch that a claim is to raise; KRaft's claim is not lost to a broker."""
    cluster.migration.driver = DriverState.BECOME_CONTROLLER
    if not CHECKS_CLAIM and not cluster.zookeeper.is_led_by_kraft:
        cluster.migration.read_controller_epoch = cluster.zookeeper.controller_epoch


@action(
    by=KRAFT,
    group="migration",
    description="has waited for the brokers",
    source="KRaftMigrationDriver.WaitForZkBrokersEvent, areZkBrokersReadyForMigration; "
    "ZkTopicMigrationClient.iterateTopics: topicIdOpt.get",
)
def wait_for_brokers(cluster: Cluster) -> None:
    """m3: since 3.5 the ids of all topics are read on the way, and one that is missing ends each poll."""
    require(MIGRATION and cluster.migration.driver is DriverState.WAIT_FOR_BROKERS and cluster.all_up)
    require(cluster.migration.enabled == frozenset(BROKERS))
    require(all(cluster.brokers[broker].mode is BrokerMode.ZOOKEEPER for broker in BROKERS))
    require(not WAITS_FOR_TOPIC_IDS or is_every_topic_identified(cluster))
    prepare_claim(cluster)


@action(
    by=KRAFT,
    group="migration",
    description="claims /controller",
    source="KRaftMigrationDriver.BecomeZkControllerEvent; KafkaZkClient.tryRegisterKRaftControllerAsActiveController",
)
def claim_controller(cluster: Cluster) -> None:
    """m4: one multi raises the epoch, and puts a persistent znode in the place of the controller's.

    Which brokers are fenced is in the image: a controller that claims it again unfences those that have started since.
    """
    migration, zookeeper = cluster.migration, cluster.zookeeper
    require(MIGRATION and migration.driver is DriverState.BECOME_CONTROLLER)
    if not zookeeper.is_led_by_kraft:
        keep_state_znodes(cluster)
        migration.live = zookeeper.broker_ids
    zookeeper.controller = None
    zookeeper.is_led_by_kraft = True
    zookeeper.controller_epoch += 1
    migration.read_controller_epoch = 0
    controller_changed(cluster, EventKind.CONTROLLER_CHANGE)
    if not zookeeper.migration_is_recorded:
        migration.driver = DriverState.ZK_MIGRATION
    elif COMPARES_AFTER_CLAIM:
        migration.driver = DriverState.SYNC_KRAFT_TO_ZK
    elif migration.has_read_copy:
        migration.driver = DriverState.KRAFT_CONTROLLER_TO_BROKER_COMM
    else:
        migration.driver = DriverState.ZK_MIGRATION


def keep_state_znodes(cluster: Cluster) -> None:
    """Let KRaft's controller lead: from now on the state znodes are those that the driver writes."""
    for topic in TOPICS:
        for partition in PARTITIONS:
            state, znode = (
                cluster.zookeeper.state_of(topic, partition),
                cluster.migration.images[topic].znodes[partition],
            )
            znode.leader, znode.leader_epoch, znode.isr = state.leader, state.leader_epoch, state.isr
            znode.controller_epoch = state.controller_epoch
        remember_replicas(cluster, topic)


def restore_state_znodes(cluster: Cluster) -> None:
    """Let ZooKeeper lead again: leaders and ISRs are those of the state znodes, whatever KRaft's controller decided."""
    for topic in TOPICS:
        for partition in PARTITIONS:
            state, znode = (
                cluster.zookeeper.state_of(topic, partition),
                cluster.migration.images[topic].znodes[partition],
            )
            state.leader, state.leader_epoch, state.isr = znode.leader, znode.leader_epoch, znode.isr
            state.controller_epoch = znode.controller_epoch
            znode.remove()


@action(
    by=KRAFT,
    group="migration",
    description="copies {topic} from ZooKeeper",
    source="KRaftMigrationDriver.MigrateMetadataEvent; ZkTopicMigrationClient.iterateTopics",
)
def copy_topic(cluster: Cluster, topic: Topic) -> None:
    """m5: without an id the copy fails, and the controller ends; in 3.4 it begins again, each second.

    Kafka: ZkTopicMigrationClient.iterateTopics: "Could not find partition state in ZK".
    """
    migration, znode = cluster.migration, cluster.zookeeper.topics[topic]
    require(MIGRATION and migration.driver is DriverState.ZK_MIGRATION and is_next_to_copy(cluster, topic))
    require(bool(COPY_FAILURE_ENDS) or znode.topic_id is not None)
    if znode.topic_id is None:
        migration.driver = DriverState.INACTIVE
    else:
        migration.copied = migration.copied | {topic}
        image = migration.images[topic]
        image.partition_count = image.copied_partitions = znode.partition_count
        image.topic_id = znode.topic_id
        for partition in PARTITIONS:
            if partition < znode.partition_count:
                copy_partition(cluster, topic, partition)


def copy_partition(cluster: Cluster, topic: int, partition: int) -> None:
    """Copy leader and ISR; a partition without state znode gets those that it would have been created with."""
    state, znode = cluster.zookeeper.state_of(topic, partition), cluster.migration.images[topic].znodes[partition]
    if znode.leader_epoch is None:
        state.leader, state.isr = first_leader(cluster, topic, partition), replicas_of(cluster, topic, partition)
        state.leader_epoch = 0
    else:
        state.leader, state.leader_epoch, state.isr = znode.leader, znode.leader_epoch, znode.isr


def is_next_to_copy(cluster: Cluster, topic: int) -> bool:
    """Whether a topic is the first in ZooKeeper that the copy has not read."""
    left = [cluster.zookeeper.topics[t].exists and t not in cluster.migration.copied for t in TOPICS]
    return left[topic] and not any(left[t] and t < topic for t in TOPICS)


@action(
    by=KRAFT,
    group="migration",
    description="ends the copy: the log says that the migration has begun",
    source="KRaftMigrationDriver.MigrateMetadataEvent: completeMigration; ZkMigrationStateRecord",
)
def end_copy(cluster: Cluster) -> None:
    """m5: EndTransaction and the state MIGRATION are committed together."""
    migration = cluster.migration
    require(MIGRATION and migration.driver is DriverState.ZK_MIGRATION)
    require(not any(is_next_to_copy(cluster, topic) for topic in TOPICS))
    migration.has_begun, migration.copied = True, frozenset()
    migration.driver = DriverState.RECORDING


@action(
    by=KRAFT,
    group="migration",
    description="writes the offset of the copy to /migration",
    source="KRaftMigrationDriver.MigrateMetadataEvent: setMigrationRecoveryState",
)
def record_copy(cluster: Cluster) -> None:
    """m5: only now does ZooKeeper show that there is a copy.

    In 3.4 a second record is refused, as the driver has forgotten the version of the first; the copy begins again, each
    second (KAFKA-15010).
    """
    migration, zookeeper = cluster.migration, cluster.zookeeper
    require(MIGRATION and migration.driver is DriverState.RECORDING)
    if COMPARES_AFTER_CLAIM:
        migration.driver = DriverState.SYNC_KRAFT_TO_ZK
    elif zookeeper.migration_is_recorded:
        migration.driver = DriverState.ZK_MIGRATION
    else:
        migration.driver = DriverState.KRAFT_CONTROLLER_TO_BROKER_COMM
    zookeeper.migration_is_recorded = True


@action(
    by=KRAFT,
    group="migration",
    description="sends brokers in ZooKeeper mode everything, and begins dual write",
    source="KRaftMigrationDriver.SendRPCsToBrokersEvent; MigrationPropagator.sendRPCsToBrokersFromMetadataImage",
)
def send_to_brokers(cluster: Cluster) -> None:
    """m7: full requests, with the image as far as the driver has handled its changes."""
    migration = cluster.migration
    require(MIGRATION and migration.driver is DriverState.KRAFT_CONTROLLER_TO_BROKER_COMM)
    require(not bool(migration.unwritten))
    send_full(cluster)
    migration.driver, migration.is_announced = DriverState.DUAL_WRITE, True


@action(
    by=FAULT,
    group="migration",
    description="KRaft's active controller fails; another one will become active",
    source="KRaftMigrationDriver: the state of the driver is in memory only",
)
def fail_quorum(cluster: Cluster) -> None:
    """What is committed stays."""
    migration = cluster.migration
    require(MIGRATION and migration.driver is not DriverState.INACTIVE and migration.failures < QUORUM_FAILURES)
    migration.failures += 1
    lose_driver(cluster)


@action(
    by=OPERATOR,
    group="migration",
    description="rolls the migration back: deprovisions KRaft's controllers, and deletes /controller",
    source="docs/ops.html, Reverting to ZooKeeper mode During the Migration; KAFKA-17146",
)
def roll_back(cluster: Cluster) -> None:
    """The controllers stop and /controller is deleted; /migration stays, as in one of the two documented cases.

    Brokers in KRaft mode return before. A patient operator waits until ZooKeeper has what KRaft's image has.
    """
    migration, zookeeper = cluster.migration, cluster.zookeeper
    require(MIGRATION and zookeeper.is_led_by_kraft and migration.rollbacks < ROLLBACKS and not migration.is_finalized)
    require(not PATIENT_OPERATOR or (migration.driver is DriverState.DUAL_WRITE and is_settled(cluster)))
    require(all(cluster.brokers[broker].mode is BrokerMode.ZOOKEEPER for broker in BROKERS))
    migration.rollbacks += 1
    migration.is_deprovisioned = True
    migration.driver, migration.has_begun = DriverState.INACTIVE, False
    migration.epoch = 0
    restore_state_znodes(cluster)
    migration.clear_images()
    migration.live = migration.ended = frozenset()
    zookeeper.is_led_by_kraft = False
    if ROLLBACK_REMOVES_MIGRATION:
        zookeeper.migration_is_recorded = False
    controller_changed(cluster, EventKind.REELECT)


@action(
    by=OPERATOR,
    group="migration",
    description="provisions new KRaft controllers",
    source="docs/ops.html, Provisioning the KRaft controller quorum",
)
def provision_again(cluster: Cluster) -> None:
    """Their log is empty."""
    require(MIGRATION and cluster.migration.is_deprovisioned)
    cluster.migration.is_deprovisioned = False


def is_settled(cluster: Cluster) -> bool:
    """Whether ZooKeeper has what the image has, and no request is on its way."""
    return is_at_rest(cluster) and not any(is_behind(cluster, topic) for topic in TOPICS)


@action(
    by=OPERATOR,
    group="migration",
    description="restarts KRaft's controllers without the migration: it is finalized",
    source="docs/ops.html, Finalizing the migration; ActivationRecordsGenerator: POST_MIGRATION",
)
def finalize(cluster: Cluster) -> None:
    """m10: nothing looks whether all brokers run in KRaft mode (KAFKA-20960); a patient operator does."""
    migration = cluster.migration
    require(MIGRATION and migration.driver is DriverState.DUAL_WRITE)
    is_kraft = all(cluster.brokers[broker].mode is BrokerMode.KRAFT for broker in BROKERS)
    require(not PATIENT_OPERATOR or is_kraft)
    migration.is_finalized, migration.driver = True, DriverState.INACTIVE
    migration.unwritten = frozenset()
    for image in migration.images:
        image.changed, image.is_new = frozenset(), False
