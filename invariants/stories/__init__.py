"""The stories by theme, each with what happens and what must hold: what commands and tests find by name."""

from __future__ import annotations

from kwalk.invariants.stories import (
    configuration_migration,
    deletion,
    ensembles,
    expansion,
    groups,
    healthy,
    migration,
    reassignment,
    records,
    runbooks,
    server,
    sessions,
    storage,
    topic_ids,
)
from kwalk.invariants.stories.cannot_fail import with_reasons
from kwalk.model.kafka import versions
from kwalk.model.kafka.groups.versions import FIXES as FIXES_OF_GROUPS
from kwalk.model.kafka.migration.configuration_versions import FIXES as FIXES_OF_MIGRATIONS
from kwalk.model.kafka.server.versions import FIXES as FIXES_OF_SERVERS
from kwalk.model.kafka.snapshots.series import MIGRATING_CLUSTER, REAL_CLUSTER
from kwalk.model.kafka.storage.versions import FIXES as FIXES_OF_LOGS

CONTROLLER_SCENARIOS = (
    expansion.OLD_CLIENT_EXPANSION,
    expansion.OLD_CLIENT_EXPANSION_IN_DETAIL,
    records.RECORDS_THROUGH_FAILOVER,
    records.LEADERS_IN_SUCCESSION,
    records.REPLICA_JOINS_NEW_LEADER,
    records.RECREATED_TOPIC_RECORDS,
    records.STRAY_LOG,
    records.STRAY_LOG_WITHOUT_ID,
    deletion.TOPIC_DELETION,
    deletion.TOPIC_DELETION_WITH_STRAY_LOG,
    deletion.DELETE_AND_RECREATE,
    deletion.THROUGH_BROKERS,
    deletion.DELETE_BY_HAND,
    deletion.EXPANSION_DURING_DELETION,
    deletion.EXPANSION_DURING_HALTED_DELETION,
    runbooks.REMOVE_TOPIC,
    runbooks.STOP_ALL,
    runbooks.REMOVE_ZNODES,
    runbooks.REMOVE_ZNODES_AND_CONTROLLER,
    runbooks.REMOVE_LOGS,
    runbooks.ROLL,
    topic_ids.TWO_ADMINS,
    topic_ids.TWO_CREATIONS,
    topic_ids.TWO_CREATIONS_WITH_A_PERIOD,
    topic_ids.MIXED_INTER_BROKER_PROTOCOL,
    topic_ids.REPAIR_BY_REMOVING_FILES,
    topic_ids.REPAIR_BY_WRITING_THE_ID_BACK,
    topic_ids.FULL_ISR,
    topic_ids.REPAIR_WITH_RECORDS,
    REAL_CLUSTER,
    MIGRATING_CLUSTER,
    sessions.ZOMBIE_CONTROLLER,
    sessions.LATE_EPHEMERAL_ZNODE,
    sessions.LATE_ZNODE_OF_AN_UNKNOWN_SESSION,
    sessions.SESSION_THAT_CANNOT_BE_MADE,
    sessions.SESSION_WITH_A_LATE_EPOCH,
    sessions.SESSION_THAT_ENDS_AMID_A_REQUEST,
    sessions.SESSIONS_OF_AN_OLD_CONTROLLER,
    sessions.END_OF_A_SESSION_AMID_AN_EVENT,
    sessions.RESIGNATION_AMID_A_REQUEST,
    sessions.UNCLEAN_ELECTIONS_ALLOWED,
    sessions.FAILOVER_DURING_EXPANSION,
    sessions.AUTHENTICATION_FAILURE,
    sessions.FAST_BOUNCE,
    reassignment.REASSIGNMENT,
    reassignment.REASSIGNMENT_WITH_EXPANSION,
    reassignment.EXPANSION_DURING_REASSIGNMENT,
    reassignment.REASSIGNMENT_ACROSS_FAILOVERS,
    reassignment.REASSIGNMENT_AS_CLIENTS_SEE_IT,
    reassignment.REASSIGNMENT_THERE_AND_BACK,
    reassignment.REASSIGNMENT_REPLACED,
    reassignment.REASSIGNMENT_CANCELLED_WITHOUT_ITS_REPLICAS,
    reassignment.PREFERRED_LEADERS_DURING_REASSIGNMENT,
    reassignment.PREFERRED_LEADERS_AFTER_A_DELETION,
    reassignment.DELETION_DURING_REASSIGNMENT,
    reassignment.REASSIGNMENT_WITH_A_FAILED_DIRECTORY,
    reassignment.DELETION_AND_RECORDS,
    *healthy.HEALTHY,
    healthy.LIVE_BROKERS_IN_METADATA,
    healthy.BROKERS_LOST_IN_SUCCESSION,
    healthy.LEADERS_SHUT_DOWN_IN_SUCCESSION,
    healthy.BROKER_WITHOUT_A_LISTENER,
    deletion.DELETION_DISABLED,
    deletion.DELETION_DISABLED_AS_CLIENTS_SEE_IT,
    deletion.DELETION_AS_CLIENTS_SEE_IT,
    deletion.DELETION_AMID_A_LISTING,
    deletion.REPLACED_DISK,
    reassignment.RETIRE_BROKER,
    reassignment.RETIRE_BROKER_WITHOUT_REPLICAS,
    sessions.CONTROLLER_COMES_BACK,
    sessions.REQUESTED_ELECTIONS,
)
"""The stories about the controller and what it controls."""

SCENARIOS = tuple(
    map(
        with_reasons,
        (
            *CONTROLLER_SCENARIOS,
            *migration.SCENARIOS,
            *configuration_migration.SCENARIOS,
            *groups.SCENARIOS,
            *storage.SCENARIOS,
            *server.SCENARIOS,
            *ensembles.SCENARIOS,
        ),
    )
)
FIXES = (*versions.FIXES, *FIXES_OF_GROUPS, *FIXES_OF_LOGS, *FIXES_OF_SERVERS, *FIXES_OF_MIGRATIONS)
"""All fixes, in the order of the audit."""
