"""Stories about the migration to KRaft: its driver, ZooKeeper, old clients, and crashes between two writes.

All brokers run in ZooKeeper mode with the migration enabled at first; they and their controllers go on as always.
"""

from __future__ import annotations

from kwalk.invariants import deletion, migration, partitions, records
from kwalk.invariants.reading.migration_search import read_migration
from kwalk.model.kafka import actions
from kwalk.model.kafka.base import RUNNING_CLUSTER
from kwalk.model.kafka.broker import metadata_cache, replica_manager
from kwalk.model.kafka.clients import admin_clients, faults, operator
from kwalk.model.kafka.controller import kafka_controller
from kwalk.model.kafka.domains import BROKERS
from kwalk.model.kafka.initial_states import cluster_with_topic
from kwalk.model.kafka.migration import broker_server, kraft_migration_races, kraft_migration_zk_writer
from kwalk.model.kafka.migration import kraft_migration_driver as driver
from kwalk.model.kafka.migration.state import DriverState
from kwalk.model.kafka.migration.versions import UNLISTED_VARIANTS, VARIANTS
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.versions.grain import METADATA_CACHES

PROPERTIES = (
    migration.migrating_cluster_has_a_controller,
    migration.migration_progresses,
    migration.comparison_ends,
    migration.zookeeper_accepts_krafts_writes,
    migration.zookeeper_catches_up,
    migration.migration_eventually_progresses,
    migration.zookeeper_eventually_catches_up,
    migration.promised_partitions_are_in_the_image,
    migration.ended_copy_is_whole,
    migration.copied_partition_has_an_isr,
    migration.kraft_claims_a_new_epoch,
    migration.active_controller_runs_the_migration,
    migration.copy_is_not_repeated,
    migration.dual_write_is_recorded,
    migration.topics_stay,
    migration.image_has_the_topics_first_id,
    migration.copy_is_complete_or_absent,
    migration.kraft_has_no_rival,
    migration.partition_is_added_in_dual_write,
)

OF_RECORDS = (
    migration.acknowledged_record_survives_migration,
    migration.live_log_is_not_set_aside,
    migration.acknowledged_record_is_on_a_disk,
    migration.copied_partition_has_an_isr,
    partitions.partition_servable,
    migration.migrating_cluster_has_a_controller,
    migration.all_brokers_reach_kraft_mode,
)
ZOOKEEPER_MODE = tuple(one for one in RUNNING_CLUSTER.actions if one is not admin_clients.new_client_adds_partitions)
"""Clients of brokers reach KRaft's controller; what writes ZooKeeper beside it are old clients."""

FORWARD = (broker_server.stop_for_kraft, broker_server.stop_for_zookeeper, driver.provision_again, driver.finalize)
RACES = tuple(one for one in actions.MIGRATION_RACES if one is not kraft_migration_races.empty_migration)
BACKWARD = (broker_server.stop_for_zookeeper, driver.roll_back, driver.provision_again, driver.finalize)


def cluster_that_may_migrate(cluster: Cluster) -> None:
    """A cluster with a topic, whose brokers have restarted with the migration enabled."""
    cluster_with_topic(cluster)
    cluster.migration.enabled = frozenset(BROKERS)


def cluster_in_dual_write(cluster: Cluster) -> None:
    """A cluster with a topic, which migrates, after the copy; the quorum was elected four times."""
    cluster_that_may_migrate(cluster)
    cluster.migration.epoch = 3
    for step in (driver.become_active, driver.wait_for_brokers, driver.claim_controller):
        step.function(cluster)
    for broker in BROKERS:
        kafka_controller.controller_change.function(cluster, broker)
    driver.copy_topic.function(cluster, 0)
    driver.end_copy.function(cluster)
    driver.record_copy.function(cluster)
    if cluster.migration.driver is DriverState.SYNC_KRAFT_TO_ZK:
        kraft_migration_zk_writer.end_sync.function(cluster)
    driver.send_to_brokers.function(cluster)
    for broker in BROKERS:
        if METADATA_CACHES:
            metadata_cache.handle_update_metadata.function(cluster, broker)
        replica_manager.handle_leader_and_isr.function(cluster, broker)


MIGRATION = RUNNING_CLUSTER.varied(
    name="migration",
    story=(
        "A cluster with a topic migrates to KRaft. Meanwhile old clients add partitions, ZooKeeper's controller "
        "moves, and KRaft's controller fails between any two writes."
    ),
    initial=cluster_that_may_migrate,
    actions=(*ZOOKEEPER_MODE, *(one for one in actions.MIGRATION if one not in BACKWARD)),
    properties=PROPERTIES,
    bounds={
        "brokers": 1,
        "partitions": 3,
        "expansions": 1,
        "new_expansions": 1,
        "failovers": 1,
        "restarts": 0,
        "quorum_failures": 1,
        "requests": 5,
        "topic_ids": 2,
    },
    flags={"migration": True, "stop_replica": True},
    variants=VARIANTS,
    unlisted_variants=UNLISTED_VARIANTS,
    source="KIP-866; KRaftMigrationDriver, KRaftMigrationZkWriter (3.4.0 to 3.9.0)",
)
RACES_OF_A_MIGRATION = MIGRATION.varied(
    name="races-of-a-migration",
    story=(
        "A cluster with a topic migrates to KRaft. Events of KRaft's migration driver come in a bad order, a deposed "
        "controller writes to ZooKeeper, or the active one fails in the middle of its writes. There are no old clients."
    ),
    actions=(*MIGRATION.actions, *RACES),
    bounds={"expansions": 0},
)
MIGRATION_AFTER_A_ROLLBACK = MIGRATION.varied(
    name="migration-after-a-rollback",
    story="A migration is rolled back, /migration is left, and another one begins with new controllers.",
    actions=(*ZOOKEEPER_MODE, *actions.MIGRATION, kraft_migration_races.empty_migration),
    properties=(*PROPERTIES, migration.leaders_move_after_rollback),
    bounds={"expansions": 0, "failovers": 0, "quorum_failures": 0, "rollbacks": 1},
)

MIGRATION_WITH_RECORDS = MIGRATION.varied(
    name="migration-with-records",
    story=(
        "A topic has a record. An old client erases the topic's id, or not; the cluster migrates, and its brokers "
        "restart in KRaft mode, one after the other."
    ),
    actions=(
        admin_clients.old_client_adds_partitions,
        operator.delete_controller,
        *actions.CONTROLLER,
        *actions.BROKER,
        *actions.RECORDS,
        *(one for one in actions.MIGRATION if one not in BACKWARD),
    ),
    properties=OF_RECORDS,
    bounds={
        "brokers": 2,
        "partitions": 2,
        "records": 1,
        "strays": 1,
        "expansions": 1,
        "new_expansions": 0,
        "failovers": 1,
        "restarts": 2,
        "quorum_failures": 0,
    },
    flags={"isr_changes": "between requests"},
    read_snapshot=read_migration,
)

ROLLBACK_OF_A_MIGRATION = MIGRATION_WITH_RECORDS.varied(
    name="rollback-of-a-migration",
    story=(
        "A cluster migrates, and is in dual write; KRaft's controllers have been elected four times. A topic gets a "
        "record, the migration is rolled back, and a broker crashes."
    ),
    initial=cluster_in_dual_write,
    actions=(
        admin_clients.old_client_adds_partitions,
        faults.crash,
        *actions.CONTROLLER,
        *actions.BROKER,
        *actions.RECORDS,
        *(one for one in actions.MIGRATION if one not in FORWARD),
    ),
    properties=(
        migration.acknowledged_record_survives_rollback,
        migration.leaders_move_after_rollback,
    ),
    bounds={"partitions": 1, "expansions": 0, "failovers": 0, "restarts": 2, "rollbacks": 1},
)
DELETION_IN_DUAL_WRITE = MIGRATION_WITH_RECORDS.varied(
    name="deletion-in-dual-write",
    story=(
        "A cluster migrates, and is in dual write. A topic is deleted through KRaft's controller, and created again; "
        "brokers crash, and restart in KRaft mode."
    ),
    initial=cluster_in_dual_write,
    actions=(
        faults.crash,
        *actions.CONTROLLER,
        *actions.BROKER,
        *actions.RECORDS,
        *(one for one in actions.MIGRATION if one not in BACKWARD),
        kraft_migration_races.fail_within_writes,
    ),
    properties=(
        migration.comparison_ends,
        migration.zookeeper_accepts_krafts_writes,
        migration.zookeeper_catches_up,
        migration.migrating_cluster_has_a_controller,
        migration.replicas_have_the_images_id,
        migration.deleted_topic_stays_deleted,
        migration.image_has_the_topics_first_id,
        migration.promised_partitions_are_in_the_image,
        records.isr_has_only_own_records,
        migration.kraft_brokers_get_no_requests,
        migration.fenced_broker_leaves_isr,
        migration.log_of_the_image_is_kept,
    ),
    bounds={
        "partitions": 1,
        "strays": 1,
        "expansions": 0,
        "failovers": 0,
        "restarts": 1,
        "deletions": 1,
        "incarnations": 1,
        "quorum_failures": 0,
    },
)
REASSIGNMENT_IN_DUAL_WRITE = MIGRATION_WITH_RECORDS.varied(
    name="reassignment-in-dual-write",
    story=(
        "A cluster migrates, and is in dual write. A client moves a replica through KRaft's controller; brokers "
        "restart in KRaft mode."
    ),
    initial=cluster_in_dual_write,
    actions=(
        *actions.CONTROLLER,
        *actions.BROKER,
        *(one for one in actions.MIGRATION if one not in BACKWARD),
        *actions.MIGRATION_REASSIGNMENT,
    ),
    properties=(
        migration.reassignment_completes_in_dual_write,
        migration.log_of_the_image_is_kept,
        deletion.no_stray,
        partitions.partition_servable,
        migration.replica_is_moved_in_dual_write,
    ),
    bounds={
        "partitions": 1,
        "replication_factor": 1,
        "kraft_reassignments": 1,
        "records": 0,
        "strays": 0,
        "expansions": 0,
        "failovers": 0,
        "restarts": 2,
    },
    flags={"reassignment": True},
)
DELETION_AND_METADATA_CACHES = DELETION_IN_DUAL_WRITE.varied(
    name="metadata-caches-in-dual-write",
    story=(
        "A cluster migrates, and is in dual write. A topic is deleted through KRaft's controller, which fails; brokers "
        "in ZooKeeper mode answer clients from their metadata caches."
    ),
    properties=(migration.deleted_topic_leaves_caches, migration.caches_have_leaders_of_the_image),
    bounds={"records": 0, "strays": 0, "restarts": 0, "incarnations": 0, "quorum_failures": 1},
    flags={"metadata_caches": True},
)
FINALIZATION_OF_A_MIGRATION = MIGRATION_WITH_RECORDS.varied(
    name="finalization-of-a-migration",
    story="A migration is finalized, perhaps while a broker runs in ZooKeeper mode still; a broker crashes.",
    initial=cluster_in_dual_write,
    actions=(
        faults.crash,
        *actions.CONTROLLER,
        *actions.BROKER,
        *(one for one in actions.MIGRATION if one not in BACKWARD[:3]),
    ),
    properties=(
        migration.finalization_leaves_no_zookeeper_broker,
        migration.fenced_broker_leaves_isr,
        migration.log_of_the_image_is_kept,
        partitions.partition_servable,
    ),
    bounds={"partitions": 1, "records": 0, "strays": 0, "expansions": 0, "failovers": 0, "restarts": 3},
)

SCENARIOS = (
    MIGRATION,
    RACES_OF_A_MIGRATION,
    MIGRATION_AFTER_A_ROLLBACK,
    MIGRATION_WITH_RECORDS,
    ROLLBACK_OF_A_MIGRATION,
    DELETION_IN_DUAL_WRITE,
    REASSIGNMENT_IN_DUAL_WRITE,
    DELETION_AND_METADATA_CACHES,
    FINALIZATION_OF_A_MIGRATION,
)
