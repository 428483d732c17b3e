"""Events that KRaft's migration driver meets in a bad order, by release, and failures in the middle of its writes.

Words: a driver that *misses* its leadership stays inactive until another controller of KRaft becomes active; in Kafka
it is INACTIVE, or UNINITIALIZED. A *deposed* controller of KRaft may write to ZooKeeper once more before it hears of
the next one.

Each of them counts as a failure of KRaft's controller, or follows one.

Source: org.apache.kafka.metadata.migration.KRaftMigrationDriver; kafka.zk.KafkaZkClient.
"""

from __future__ import annotations

from kwalk.model.kafka.actors import FAULT, KRAFT, OPERATOR
from kwalk.model.kafka.domains import QUORUM_FAILURES, Partition, Topic
from kwalk.model.kafka.migration.kraft_migration_zk_writer import lose_driver, write
from kwalk.model.kafka.migration.state import DriverState
from kwalk.model.kafka.migration.versions import (
    CHECKS_CLAIM,
    CHECKS_DRIVER_STATE,
    CHECKS_QUORUM,
    COMPARES_AFTER_CLAIM,
    MIGRATION_VERSION,
    READS_FIRST_IMAGE,
    RECOVERS_BEFORE_LEADING,
    REPEATS_RECOVERY,
)
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.versions.grain import MIGRATION, PATIENT_OPERATOR, ROLLBACK_REMOVES_MIGRATION
from kwalk.model.language import action, require


def miss_leadership(cluster: Cluster) -> None:
    """Let a controller of KRaft become active whose driver does nothing."""
    migration = cluster.migration
    require(MIGRATION and migration.driver is DriverState.INACTIVE and migration.failures < QUORUM_FAILURES)
    require(not migration.is_finalized and not migration.is_deprovisioned)
    migration.failures += 1
    migration.epoch += 1
    migration.driver = DriverState.GIVEN_UP


@action(
    by=KRAFT,
    group="migration races",
    description="becomes active, and takes an empty image for one of a cluster that does not migrate",
    source="MetadataLoader.initializeNewPublishers; KRaftMigrationDriver.WaitForControllerQuorumEvent: NONE "
    "(KAFKA-15389)",
)
def read_empty_image(cluster: Cluster) -> None:
    """The log of a new quorum is read before its first records are in it."""
    require(not READS_FIRST_IMAGE and cluster.migration.epoch == 0 and not cluster.migration.has_begun)
    miss_leadership(cluster)


@action(
    by=KRAFT,
    group="migration races",
    description="becomes active before it has read /migration",
    source="KRaftMigrationDriver.onControllerChange, RecoverMigrationStateFromZKEvent (KAFKA-17506)",
)
def lead_before_recovery(cluster: Cluster) -> None:
    """The event that /migration was read comes after that of the leadership, and makes the driver inactive."""
    require(not RECOVERS_BEFORE_LEADING)
    miss_leadership(cluster)


@action(
    by=FAULT,
    group="migration races",
    description="ZooKeeper fails while KRaft's controller reads /migration at its start; it becomes active",
    source="KRaftMigrationDriver.PollEvent: recoverMigrationStateFromZK, scheduleDeferred (KAFKA-16563)",
)
def fail_recovery(cluster: Cluster) -> None:
    """The poll ends with the error, and is not scheduled again."""
    require(not REPEATS_RECOVERY)
    miss_leadership(cluster)


@action(
    by=KRAFT,
    group="migration races",
    description="becomes active, and runs without the migration",
    source="KRaftMigrationDriver.isControllerQuorumReadyForMigration (KAFKA-14909)",
)
def lead_without_migration(cluster: Cluster) -> None:
    """An operator has forgotten zookeeper.metadata.migration.enable on one of several controllers."""
    require(not CHECKS_QUORUM and not PATIENT_OPERATOR)
    miss_leadership(cluster)


@action(
    by=KRAFT,
    group="migration races",
    description="copies ZooKeeper a second time",
    source="KRaftMigrationDriver.PollEvent, MigrateMetadataEvent (KAFKA-15263)",
)
def copy_twice(cluster: Cluster) -> None:
    """Two polls have each queued a copy, and the second one does not look whether it is due."""
    migration = cluster.migration
    after_copy = DriverState.SYNC_KRAFT_TO_ZK if COMPARES_AFTER_CLAIM else DriverState.KRAFT_CONTROLLER_TO_BROKER_COMM
    require(MIGRATION and not CHECKS_DRIVER_STATE and migration.driver is after_copy)
    require(migration.failures < QUORUM_FAILURES and not migration.is_announced)
    migration.failures += 1
    migration.driver, migration.compared = DriverState.ZK_MIGRATION, frozenset()


@action(
    by=KRAFT,
    group="migration races",
    description="fails to claim /controller, as ZooKeeper's controller has moved, and goes on",
    source="KafkaZkClient.tryRegisterKRaftControllerAsActiveController; "
    "KRaftMigrationDriver.BecomeZkControllerEvent: UNKNOWN_ZK_VERSION (KAFKA-16171)",
)
def go_on_unclaimed(cluster: Cluster) -> None:
    """The driver takes the version of a failed claim for that of a claim."""
    migration, zookeeper = cluster.migration, cluster.zookeeper
    require(MIGRATION and migration.driver is DriverState.BECOME_CONTROLLER and not CHECKS_CLAIM)
    require(not zookeeper.is_led_by_kraft and migration.read_controller_epoch < zookeeper.controller_epoch)
    migration.driver = DriverState.UNCLAIMED


@action(
    by=FAULT,
    group="migration races",
    description="a deposed controller of KRaft writes /migration after the next one has read it",
    source="KRaftMigrationDriver.KRaftLeaderEvent, BecomeZkControllerEvent (KAFKA-16171)",
)
def deposed_controller_writes(cluster: Cluster) -> None:
    """What the next one writes is refused then, as it checks the version that it has read."""
    migration = cluster.migration
    require(MIGRATION and MIGRATION_VERSION == "of the election" and migration.driver is DriverState.BECOME_CONTROLLER)
    require(migration.is_announced and migration.failures > 0)
    migration.has_stale_version = True


@action(
    by=FAULT,
    group="migration races",
    description="KRaft's controller has read the version of /migration at a server of ZooKeeper that lags",
    source="KRaftMigrationDriver.BecomeZkControllerEvent (KAFKA-16667)",
)
def read_at_lagging_server(cluster: Cluster) -> None:
    """A deposed controller has written /migration before the claim, and the server did not have that yet."""
    migration = cluster.migration
    require(MIGRATION and MIGRATION_VERSION == "read again" and migration.driver is DriverState.SYNC_KRAFT_TO_ZK)
    require(migration.is_announced and migration.failures > 0)
    migration.has_stale_version = True


@action(
    by=FAULT,
    group="migration races",
    description="KRaft's controller fails after the writes of {topic} up to the state of partition {partition}",
    source="KRaftMigrationZkWriter; ZkTopicMigrationClient.createTopic, createTopicPartitions: a multi for each znode",
)
def fail_within_writes(cluster: Cluster, topic: Topic, partition: Partition) -> None:
    """The topic's znode is written first, and then the state znode of each partition, in their order."""
    migration, image = cluster.migration, cluster.migration.images[topic]
    require(MIGRATION and migration.handles_deltas and topic in migration.unwritten)
    require(partition < image.partition_count and migration.failures < QUORUM_FAILURES)
    require(image.is_new or partition >= cluster.zookeeper.topics[topic].partition_count)
    migration.failures += 1
    write(cluster, topic, partition)
    lose_driver(cluster)


@action(
    by=OPERATOR,
    group="migration races",
    description="empties /migration after the rollback",
    source="create /migration, set /migration (KAFKA-19480)",
)
def empty_migration(cluster: Cluster) -> None:
    """The znode stays, and has no content: KRaft's controllers fail to read it, at each poll."""
    migration, zookeeper = cluster.migration, cluster.zookeeper
    require(MIGRATION and migration.is_deprovisioned and migration.rollbacks > 0 and not PATIENT_OPERATOR)
    require(not ROLLBACK_REMOVES_MIGRATION and not zookeeper.migration_is_empty)
    zookeeper.migration_is_recorded, zookeeper.migration_is_empty = False, True
