"""The actions of clients, controllers and brokers by group; `@action(group=…)` says which group an action joins.

The order of modules here, and of actions in a module, is that of the actions in scenarios, and numbers their instances.
"""

from __future__ import annotations

from kwalk.model.kafka.broker import (
    kafka_server,
    log_manager,
    metadata_cache,
    partition,
    replica_fetcher_thread,
    replica_manager,
)
from kwalk.model.kafka.clients import admin_clients, faults, operator, runbook
from kwalk.model.kafka.controller import kafka_controller, reassignment, topic_deletion_manager
from kwalk.model.kafka.migration import (
    broker_server,
    kraft_migration_driver,
    kraft_migration_races,
    kraft_migration_zk_writer,
    replication_control_manager,
)
from kwalk.model.kafka.zookeeper import sessions
from kwalk.model.language import actions_of

MODULES = (
    admin_clients,
    operator,
    faults,
    runbook,
    topic_deletion_manager,
    reassignment,
    replica_manager,
    metadata_cache,
    log_manager,
    partition,
    replica_fetcher_thread,
    kafka_server,
    kafka_controller,
    sessions,
    kraft_migration_driver,
    kraft_migration_zk_writer,
    replication_control_manager,
    broker_server,
    kraft_migration_races,
)
ADMIN_CLIENTS = actions_of(*MODULES, group="admin clients")
TWO_STEP_ADMINS = actions_of(*MODULES, group="two-step admins")
FAULTS = actions_of(*MODULES, group="faults")
REPAIRS = actions_of(*MODULES, group="repairs")
"""What operators do to a broken cluster; no part of the stories that break it."""
BY_HAND = actions_of(*MODULES, group="removal by hand")
RUNBOOK = actions_of(*MODULES, group="runbook")
CONTROLLER = actions_of(*MODULES, group="controller")
BROKER = actions_of(*MODULES, group="broker")
RECORDS = actions_of(*MODULES, group="records")
DELETION = actions_of(*MODULES, group="deletion")
REASSIGNMENT = actions_of(*MODULES, group="reassignment")
SESSIONS = actions_of(*MODULES, group="sessions")
MIGRATION = actions_of(*MODULES, group="migration")
MIGRATION_REASSIGNMENT = actions_of(*MODULES, group="migration reassignment")
MIGRATION_RACES = actions_of(*MODULES, group="migration races")
