"""Stories about the migration to KRaft: its driver, ZooKeeper, old clients, and crashes between two writes.

All brokers are in ZooKeeper mode, with the migration enabled; they and their controllers go on as always.
"""

from __future__ import annotations

from kwalk.invariants import migration
from kwalk.model.kafka import actions
from kwalk.model.kafka.base import RUNNING_CLUSTER
from kwalk.model.kafka.clients import admin_clients
from kwalk.model.kafka.initial_states import cluster_with_topic
from kwalk.model.kafka.migration import kraft_migration_driver
from kwalk.model.kafka.migration.versions import UNLISTED_VARIANTS, VARIANTS

PROPERTIES = (
    migration.migrating_cluster_has_a_controller,
    migration.migration_progresses,
    migration.zookeeper_catches_up,
    migration.promised_partitions_are_in_the_image,
    migration.ended_copy_is_whole,
    migration.kraft_claims_a_new_epoch,
    migration.dual_write_is_recorded,
    migration.topics_stay,
    migration.image_has_the_topics_first_id,
    migration.copy_is_complete_or_absent,
    migration.kraft_has_no_rival,
    migration.partition_is_added_in_dual_write,
)

ZOOKEEPER_MODE = tuple(one for one in RUNNING_CLUSTER.actions if one is not admin_clients.new_client_adds_partitions)
"""Clients of brokers reach KRaft's controller; what writes ZooKeeper beside it are old clients."""

MIGRATION = RUNNING_CLUSTER.varied(
    name="migration",
    story=(
        "A cluster with a topic migrates to KRaft. Meanwhile old clients add partitions, ZooKeeper's controller "
        "moves, and KRaft's controller fails between any two writes."
    ),
    initial=cluster_with_topic,
    actions=(*ZOOKEEPER_MODE, *(one for one in actions.MIGRATION if one is not kraft_migration_driver.roll_back)),
    properties=PROPERTIES,
    bounds={
        "brokers": 1,
        "partitions": 3,
        "expansions": 1,
        "new_expansions": 1,
        "failovers": 1,
        "restarts": 0,
        "quorum_failures": 1,
        "topic_ids": 2,
    },
    flags={"migration": True},
    variants=VARIANTS,
    unlisted_variants=UNLISTED_VARIANTS,
    source="KIP-866; KRaftMigrationDriver, KRaftMigrationZkWriter (3.4.0 to 3.9.0)",
)
MIGRATION_AFTER_A_ROLLBACK = MIGRATION.varied(
    name="migration-after-a-rollback",
    story="A migration is rolled back, /migration is left, and another one begins with new controllers.",
    actions=(*ZOOKEEPER_MODE, *actions.MIGRATION),
    bounds={"expansions": 0, "failovers": 0, "quorum_failures": 0, "rollbacks": 1},
)

SCENARIOS = (MIGRATION, MIGRATION_AFTER_A_ROLLBACK)
