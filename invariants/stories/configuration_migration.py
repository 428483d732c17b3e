"""Stories about a migration to KRaft and what is no topic: configurations, client quotas, ACLs, producer ids."""

from __future__ import annotations

from kwalk.invariants import configuration_migration as properties
from kwalk.model.kafka.migration import producer_id_manager, zk_config_migration_client
from kwalk.model.kafka.migration.configuration_state import ConfiguredCluster
from kwalk.model.kafka.migration.configuration_versions import COARSE, UNLISTED_VARIANTS, VARIANTS
from kwalk.model.language import Scenario, actions_of

MIGRATION_OF_CONFIGURATIONS = Scenario(
    name="migration-of-configurations",
    story=(
        "A cluster with one configuration, quota or resource with ACLs, and blocks of producer ids, migrates to KRaft. "
        "Clients change and delete it before, meanwhile and after; brokers restart in KRaft mode, KRaft's controller "
        "fails, a broker that has not heard of it handles a request in ZooKeeper, or the migration is rolled back."
    ),
    state=ConfiguredCluster,
    initial=zk_config_migration_client.entity_with_a_value,
    actions=actions_of(zk_config_migration_client, producer_id_manager),
    properties=(
        properties.configuration_survives_migration,
        properties.deletion_survives_migration,
        properties.configuration_survives_rollback,
        properties.brokers_apply_the_configuration,
        properties.secret_is_readable,
        properties.copy_of_configurations_ends,
        properties.image_is_written_to_the_end,
        properties.every_change_is_handled,
        properties.producer_ids_are_given_once,
        properties.broker_obeys_zookeeper_after_a_rollback,
        properties.broker_in_kraft_mode_follows_kraft,
        properties.values_change_by_request,
        properties.given_block_is_held,
        properties.handled_change_waits_no_more,
        properties.configuration_is_written_by_clients_and_controllers,
        properties.change_is_applied_in_kraft_mode,
        properties.block_is_given_after_a_rollback,
    ),
    bounds={
        "values": 3,
        "blocks": 3,
        "changes": 2,
        "late_requests": 1,
        "quorum_failures": 1,
        "rollbacks": 1,
    },
    flags=COARSE,
    variants=VARIANTS,
    unlisted_variants=UNLISTED_VARIANTS,
    source="KIP-866; ZkMigrationClient, ZkConfigMigrationClient, KRaftMigrationZkWriter (3.4.0 to 3.9.0)",
)

SCENARIOS = (MIGRATION_OF_CONFIGURATIONS,)
