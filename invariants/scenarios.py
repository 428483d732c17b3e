"""The stories about Kafka with their properties, and the fixes: what commands and tests find by name."""

from __future__ import annotations

from attrs import evolve

from kwalk.invariants import (
    controllers,
    deletion,
    ensembles,
    groups,
    partitions,
    records,
    recovery,
    runbooks,
    sessions,
    storage,
    topic_ids,
    witnesses,
)
from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.invariants.reading.outlook import read_snapshot, recovery_problem
from kwalk.model.kafka import fixes
from kwalk.model.kafka import scenarios as stories
from kwalk.model.kafka.snapshots.series import REAL_CLUSTER
from kwalk.model.kafka.stories import deletion as deletion_stories
from kwalk.model.kafka.stories import groups as group_stories
from kwalk.model.kafka.stories import healthy as healthy_stories
from kwalk.model.kafka.stories import reassignment as reassignment_stories
from kwalk.model.kafka.stories import records as records_stories
from kwalk.model.kafka.stories import runbooks as runbook_stories
from kwalk.model.kafka.stories import sessions as session_stories
from kwalk.model.kafka.stories import storage as storage_stories
from kwalk.model.kafka.stories import topic_ids as topic_id_stories
from kwalk.model.language import Property, Scenario
from kwalk.model.zookeeper import stories as ensemble_stories

EVERYWHERE = (
    topic_ids.replica_id_matches_zookeeper,
    partitions.partition_servable,
    partitions.replicas_converge,
    topic_ids.topic_id_stable,
    topic_ids.zk_id_not_erased,
    partitions.no_partition_lost,
    partitions.leader_in_assignment,
    controllers.context_agrees,
    controllers.controller_epoch_monotone,
    controllers.leader_epoch_monotone,
)
WITNESSES = (witnesses.expansion_is_registered, witnesses.failover_completes, witnesses.replica_gets_its_file)

RECORDS = (
    records.committed_survives,
    records.no_divergence,
    records.no_resurrection,
    records.records_have_a_topic_id,
    records.log_keeps_its_topic_id,
    records.records_are_committed,
    partitions.partition_servable,
    partitions.replicas_converge,
    partitions.leader_in_assignment,
    witnesses.record_is_committed,
    witnesses.record_is_replicated,
)

DELETION = (
    deletion.deletion_targets_intent,
    deletion.deleted_logs_were_unused,
    deletion.deletion_terminates,
    deletion.no_stray,
    deletion.no_unrequested_topic,
    deletion.partition_gets_a_leader,
    topic_ids.replica_id_matches_zookeeper,
    controllers.context_agrees,
    deletion.topic_is_deleted,
)

INVARIANTS = (*EVERYWHERE, *WITNESSES)

OLD_CLIENT_EXPANSION = evolve(
    stories.OLD_CLIENT_EXPANSION,
    properties=INVARIANTS,
    read_snapshot=read_snapshot,
    inspect_snapshot=inspect_snapshot,
    recover_snapshot=recovery_problem,
)
OLD_CLIENT_EXPANSION_IN_DETAIL = evolve(
    stories.OLD_CLIENT_EXPANSION_IN_DETAIL, properties=INVARIANTS, read_snapshot=read_snapshot
)
LOGS = (records.common_records_are_kept, records.open_log_has_the_id_of_its_file, partitions.leader_has_a_log)
RECORDS_THROUGH_FAILOVER = evolve(
    records_stories.RECORDS_THROUGH_FAILOVER, properties=(*RECORDS, *LOGS, witnesses.logs_diverge)
)
LEADERS_IN_SUCCESSION = evolve(
    records_stories.LEADERS_IN_SUCCESSION, properties=(*RECORDS, *LOGS, records.followers_catch_up)
)
RECREATED_TOPIC_RECORDS = evolve(
    records_stories.RECREATED_TOPIC_RECORDS,
    properties=(
        *(i for i in RECORDS if i is not records.committed_survives),
        records.elected_log_is_of_its_topic,
        witnesses.recreated_topic_has_a_record,
    ),
)
STRAY_LOGS = tuple(
    evolve(
        story,
        properties=(*RECORDS, records.request_for_another_log_is_refused, witnesses.recreated_topic_has_a_record),
    )
    for story in (records_stories.STRAY_LOG, records_stories.STRAY_LOG_WITHOUT_ID)
)
RECOVERY = (
    recovery.partition_is_eventually_served,
    recovery.deletion_eventually_ends,
    recovery.failover_eventually_ends,
)
REQUESTED_DELETION = (
    *DELETION,
    deletion.deletion_is_not_dropped,
    deletion.waiting_deletion_is_ineligible,
    deletion.topic_has_its_configuration,
    topic_ids.incarnation_keeps_its_id,
    controllers.states_agree,
    partitions.leader_has_a_log,
    sessions.resigned_controller_has_no_context,
    sessions.ready_controller_takes_lost_brokers_out,
)
TOPIC_DELETION = evolve(deletion_stories.TOPIC_DELETION, properties=(*REQUESTED_DELETION, *RECOVERY))
TOPIC_DELETION_WITH_STRAY_LOG = evolve(
    deletion_stories.TOPIC_DELETION_WITH_STRAY_LOG, properties=(*DELETION, *RECOVERY)
)
DELETE_AND_RECREATE = evolve(
    deletion_stories.DELETE_AND_RECREATE, properties=(*REQUESTED_DELETION, deletion.topic_is_created_again)
)
THROUGH_BROKERS = evolve(
    deletion_stories.THROUGH_BROKERS, properties=(*REQUESTED_DELETION, deletion.topic_is_created_again)
)
DELETE_BY_HAND = evolve(deletion_stories.DELETE_BY_HAND, properties=(*DELETION, deletion.topic_is_created_again))
DELETION_DISABLED = evolve(
    deletion_stories.DELETION_DISABLED,
    properties=(
        deletion.deletion_is_not_dropped,
        deletion.deletion_terminates,
        deletion.no_stray,
        partitions.partition_servable,
        controllers.context_agrees,
    ),
)
EXPANSION_DURING_DELETION = evolve(deletion_stories.EXPANSION_DURING_DELETION, properties=DELETION)
EXPANSION_DURING_HALTED_DELETION = evolve(
    deletion_stories.EXPANSION_DURING_HALTED_DELETION,
    properties=(*(i for i in DELETION if i is not deletion.topic_is_deleted), deletion.expansion_meets_a_deletion),
)
RUNBOOK = (
    *(i for i in DELETION if i not in (deletion.topic_is_deleted, deletion.deletion_terminates)),
    partitions.partition_servable,
    runbooks.removed_topic_is_not_served,
    runbooks.config_goes_with_topic,
    runbooks.runbook_is_finished,
    runbooks.topic_serves_after_the_runbook,
)
RUNBOOKS = (
    *(evolve(story, properties=RUNBOOK) for story in runbook_stories.WITHOUT_ASKING),
    *(evolve(story, properties=(*RUNBOOK, deletion.deletion_terminates)) for story in runbook_stories.AFTER_ASKING),
)
REPAIR = (*EVERYWHERE, topic_ids.repaired_partition_serves, witnesses.one_topic_id_everywhere)
TOPIC_ID_STORIES = (
    evolve(topic_id_stories.TWO_ADMINS, properties=(*EVERYWHERE, witnesses.admins_overlap)),
    evolve(
        topic_id_stories.MIXED_INTER_BROKER_PROTOCOL,
        properties=(
            *EVERYWHERE,
            topic_ids.topic_has_an_id,
            topic_ids.ids_follow_the_protocol,
            witnesses.old_protocol_controller_serves,
        ),
    ),
    evolve(topic_id_stories.REPAIR_BY_REMOVING_FILES, properties=REPAIR),
    evolve(topic_id_stories.REPAIR_BY_WRITING_THE_ID_BACK, properties=REPAIR),
    evolve(topic_id_stories.FULL_ISR, properties=(*EVERYWHERE, partitions.isr_members_fetch, *WITNESSES)),
    evolve(
        topic_id_stories.REPAIR_WITH_RECORDS,
        properties=(
            *(i for i in RECORDS if i is not records.log_keeps_its_topic_id),
            topic_ids.repaired_partition_serves,
            witnesses.one_topic_id_everywhere,
        ),
    ),
)
SESSIONS = (
    *EVERYWHERE,
    sessions.one_effective_controller,
    sessions.controller_serves,
    sessions.replica_leader_epoch_monotone,
    sessions.watch_covered,
    sessions.topic_watch_covered,
)
WATCHES = (sessions.fired_watch_is_pending, sessions.fired_topic_watch_is_pending)
ZOMBIE_CONTROLLER = evolve(
    session_stories.ZOMBIE_CONTROLLER,
    properties=(*SESSIONS, *WATCHES, sessions.deposed_controller_is_unaware, sessions.broker_registers_again),
)
FAILOVER_DURING_EXPANSION = evolve(
    session_stories.FAILOVER_DURING_EXPANSION,
    properties=(*SESSIONS, *WATCHES, sessions.deposed_controller_is_unaware, sessions.deposed_controller_writes),
)
AUTHENTICATION_FAILURE = evolve(
    session_stories.AUTHENTICATION_FAILURE,
    properties=(*SESSIONS, WATCHES[0], sessions.topic_serves_after_a_failed_authentication),
)
CONTROLLER_COMES_BACK = evolve(
    session_stories.CONTROLLER_COMES_BACK,
    properties=(*EVERYWHERE, sessions.cluster_has_a_controller, sessions.watch_covered),
)
FAST_BOUNCE = evolve(session_stories.FAST_BOUNCE, properties=(*SESSIONS, WATCHES[0], sessions.broker_is_bounced))
MOVED = (witnesses.replica_is_moved, witnesses.reassignment_is_cancelled)
REASSIGNMENT = evolve(
    reassignment_stories.REASSIGNMENT,
    properties=(
        *EVERYWHERE,
        deletion.no_stray,
        partitions.leader_has_a_log,
        sessions.resigned_controller_has_no_context,
        sessions.controller_does_not_give_up,
        controllers.idle_controller_is_done_with_reassignments,
        *MOVED,
    ),
)
REASSIGNMENT_WITH_EXPANSION = evolve(
    reassignment_stories.REASSIGNMENT_WITH_EXPANSION,
    properties=(*EVERYWHERE, deletion.no_stray, witnesses.expansion_is_registered),
)
REASSIGNMENT_AS_CLIENTS_SEE_IT = evolve(
    reassignment_stories.REASSIGNMENT_AS_CLIENTS_SEE_IT,
    properties=(*EVERYWHERE, deletion.no_stray, partitions.metadata_converges, *MOVED),
)
REASSIGNMENT_THERE_AND_BACK = evolve(
    reassignment_stories.REASSIGNMENT_THERE_AND_BACK,
    properties=(
        *EVERYWHERE,
        deletion.no_stray,
        deletion.deleted_logs_were_unused,
        witnesses.replica_is_moved,
        witnesses.replica_is_moved_back,
    ),
)
REASSIGNMENT_REPLACED = evolve(
    reassignment_stories.REASSIGNMENT_REPLACED,
    properties=(*EVERYWHERE, deletion.no_stray, partitions.leader_has_a_log, *MOVED[:1]),
)
DELETION_DURING_REASSIGNMENT = evolve(
    reassignment_stories.DELETION_DURING_REASSIGNMENT,
    properties=(
        deletion.deletion_targets_intent,
        deletion.deleted_logs_were_unused,
        deletion.deletion_terminates,
        controllers.context_agrees,
        controllers.idle_controller_is_done_with_reassignments,
        deletion.topic_is_deleted,
        deletion.deletion_is_not_dropped,
        deletion.deleted_replica_has_no_log,
        partitions.leader_has_a_log,
        recovery.deletion_eventually_ends,
        witnesses.replica_is_moved,
    ),
)
RETIREMENT = (
    partitions.partition_servable,
    partitions.partition_has_a_live_isr_member,
    partitions.replicas_are_live,
    partitions.leader_in_assignment,
    deletion.no_stray,
    witnesses.replica_is_moved,
)
RETIRED_BROKERS = tuple(
    evolve(story, properties=RETIREMENT)
    for story in (reassignment_stories.RETIRE_BROKER, reassignment_stories.RETIRE_BROKER_WITHOUT_REPLICAS)
)
HEALTH = (
    *SESSIONS,
    sessions.controller_lives,
    sessions.one_active_controller,
    sessions.resigned_controller_has_no_context,
    sessions.ready_controller_has_live_brokers,
    sessions.ready_controller_replaces_leaders,
    sessions.ready_controller_takes_lost_brokers_out,
    partitions.leader_has_a_log,
)
AFTER_FAULTS = (
    recovery.partition_is_eventually_served,
    recovery.failover_eventually_ends,
    recovery.events_are_eventually_handled,
)
HEALTHY_INVARIANTS = (
    (
        healthy_stories.HEALTHY_CLUSTER,
        (
            *HEALTH,
            *AFTER_FAULTS,
            deletion.partition_gets_a_leader,
            partitions.preferred_replica_leads,
            *WATCHES,
            *WITNESSES,
            witnesses.leader_epoch_rises,
        ),
    ),
    (
        healthy_stories.HEALTHY_SESSIONS,
        (
            *HEALTH,
            *AFTER_FAULTS,
            *WATCHES,
            sessions.deposed_controller_is_unaware,
            sessions.broker_registers_again,
        ),
    ),
    (
        healthy_stories.HEALTHY_RECORDS,
        (*HEALTH, *RECORDS, records.open_log_has_the_id_of_its_file, records.followers_catch_up),
    ),
    (healthy_stories.HEALTHY_METADATA, (*HEALTH, partitions.metadata_converges, witnesses.failover_completes)),
    (healthy_stories.HEALTHY_DELETION, (*HEALTH, *REQUESTED_DELETION)),
    (
        healthy_stories.HEALTHY_REASSIGNMENT,
        (*HEALTH, deletion.no_stray, deletion.deleted_logs_were_unused, witnesses.replica_is_moved),
    ),
    (
        healthy_stories.ROLLING_RESTART,
        (
            *HEALTH,
            controllers.stopped_broker_hands_over,
            controllers.new_leader_is_sent_leader_and_isr,
            deletion.partition_gets_a_leader,
            witnesses.failover_completes,
        ),
    ),
    (
        healthy_stories.CONTROLLED_SHUTDOWN,
        (*HEALTH, *AFTER_FAULTS, deletion.partition_gets_a_leader, *WITNESSES[1:], witnesses.leader_epoch_rises),
    ),
)
HEALTHY = tuple(evolve(story, properties=tuple(dict.fromkeys(held))) for story, held in HEALTHY_INVARIANTS)
CONTROLLER_SCENARIOS = (
    OLD_CLIENT_EXPANSION,
    OLD_CLIENT_EXPANSION_IN_DETAIL,
    RECORDS_THROUGH_FAILOVER,
    LEADERS_IN_SUCCESSION,
    RECREATED_TOPIC_RECORDS,
    *STRAY_LOGS,
    TOPIC_DELETION,
    TOPIC_DELETION_WITH_STRAY_LOG,
    DELETE_AND_RECREATE,
    THROUGH_BROKERS,
    DELETE_BY_HAND,
    EXPANSION_DURING_DELETION,
    EXPANSION_DURING_HALTED_DELETION,
    *RUNBOOKS,
    *TOPIC_ID_STORIES,
    REAL_CLUSTER,
    ZOMBIE_CONTROLLER,
    FAILOVER_DURING_EXPANSION,
    AUTHENTICATION_FAILURE,
    FAST_BOUNCE,
    REASSIGNMENT,
    REASSIGNMENT_WITH_EXPANSION,
    REASSIGNMENT_AS_CLIENTS_SEE_IT,
    REASSIGNMENT_THERE_AND_BACK,
    REASSIGNMENT_REPLACED,
    DELETION_DURING_REASSIGNMENT,
    *HEALTHY,
    DELETION_DISABLED,
    *RETIRED_BROKERS,
    CONTROLLER_COMES_BACK,
)
"""The stories about the controller and what it controls."""

GROUP = (
    groups.committed_offset_is_kept,
    groups.live_group_is_not_removed,
    groups.only_the_last_generation_commits,
    groups.one_owner_per_generation,
    groups.consumer_outside_the_group_owns_nothing,
    groups.cached_group_is_consistent,
    groups.members_have_one_protocol,
    groups.waiting_member_is_awaited,
    groups.consumer_knows_its_generation,
    groups.member_that_answers_is_not_removed,
    groups.assignment_is_the_leaders,
    groups.offset_belongs_to_a_group,
    groups.records_are_in_order,
    groups.loaded_group_is_that_of_the_log,
    groups.appends_end_with_the_leadership,
    groups.high_watermark_does_not_go_back,
    groups.unloaded_group_is_not_cached,
    groups.stable_group_is_stored,
    groups.watermark_is_replicated,
    groups.generation_does_not_go_back,
    groups.events_are_counted,
    groups.young_offset_is_kept,
    groups.replicated_append_is_answered,
    groups.dead_member_is_removed,
    groups.partition_is_consumed,
    groups.rebalance_ends,
    groups.group_is_listed_once,
    groups.group_converges,
)
MOVED_GROUP = (*GROUP, groups.members_survive_a_move)
OF_SEVERAL_BROKERS = (
    groups.unloaded_group_is_not_cached,
    groups.loaded_group_is_that_of_the_log,
    groups.appends_end_with_the_leadership,
)
OF_DYNAMIC_MEMBERS = (
    groups.committed_offset_is_kept,
    groups.young_offset_is_kept,
    groups.only_the_last_generation_commits,
    groups.assignment_is_the_leaders,
)
GROUP_OF_ONE_BROKER = tuple(i for i in GROUP if i not in OF_SEVERAL_BROKERS)
GROUP_INVARIANTS = (
    (
        group_stories.CONSUMER_GROUP,
        (*MOVED_GROUP, groups.both_consumers_are_members, groups.old_owner_is_unaware),
    ),
    (group_stories.GROUP_THERE_AND_BACK, MOVED_GROUP),
    (group_stories.SLOW_UNLOAD, (*GROUP, groups.old_owner_is_unaware)),
    (
        group_stories.GROUP_RETENTION,
        (
            *GROUP_OF_ONE_BROKER,
            groups.offset_is_kept_from_empty_on,
            groups.removed_offset_has_a_tombstone,
            groups.both_consumers_are_members,
            groups.offset_expires,
        ),
    ),
    (
        group_stories.RETENTION_AFTER_A_MOVE,
        (
            *MOVED_GROUP,
            groups.offset_is_kept_from_empty_on,
            groups.removed_offset_has_a_tombstone,
            groups.offset_expires,
        ),
    ),
    (group_stories.GROUP_OF_REASSIGNED_PARTITION, MOVED_GROUP),
    (
        group_stories.GROUP_REMOVAL,
        (
            *MOVED_GROUP,
            groups.group_with_an_offset_is_listed,
            groups.deleted_group_stays_deleted,
            groups.deletion_removes_the_group,
            groups.removed_offset_has_a_tombstone,
            groups.removed_group_stays_removed,
            groups.group_is_never_listed_twice,
            groups.group_is_removed,
            groups.operator_deletes_the_group,
        ),
    ),
    (
        group_stories.STALLED_CONSUMER,
        (*GROUP_OF_ONE_BROKER, groups.member_with_heartbeats_is_not_removed, groups.old_owner_is_unaware),
    ),
    (
        group_stories.STATIC_MEMBER,
        (
            *(i for i in GROUP if i not in OF_DYNAMIC_MEMBERS),
            groups.static_member_is_not_fenced,
            groups.static_member_can_join,
            groups.settled_static_member_is_not_fenced,
            groups.static_member_returns,
        ),
    ),
    (
        group_stories.GROUP_OF_RECREATED_TOPIC,
        (*GROUP, groups.recreated_topic_has_no_offset, groups.removed_offset_has_a_tombstone),
    ),
    (group_stories.COMPACTED_OFFSETS, (*MOVED_GROUP, groups.log_is_compacted)),
)
GROUP_SCENARIOS = tuple(evolve(story, properties=held) for story, held in GROUP_INVARIANTS)
"""The stories about consumer groups."""

SEGMENTS = (
    storage.offset_lookup_finds_the_first_record,
    storage.indexes_grow,
    storage.indexes_point_to_batches,
    storage.segments_do_not_overlap,
    storage.segments_are_not_larger_than_allowed,
    storage.active_segment_is_there,
    storage.start_offset_does_not_move_back,
    storage.largest_timestamp_is_known,
    storage.closed_time_index_ends_with_the_largest_timestamp,
    storage.index_has_an_entry_for_each_interval,
    storage.removed_segment_leaves_nothing,
    storage.offsets_are_in_order,
    storage.high_watermark_does_not_go_back,
    storage.append_does_not_fail,
    storage.old_segment_rolls,
    storage.appended_batch_ends_the_log,
    storage.new_segment_begins_with_its_first_batch,
)
COMPACTED = (
    *SEGMENTS,
    storage.last_value_is_kept,
    storage.cleaned_part_has_one_record_of_a_key,
    storage.swap_is_in_order,
    storage.cleaning_goes_step_by_step,
    storage.cleaned_segment_has_the_time_of_its_last,
    storage.cleaner_lives,
    storage.cleaning_has_something_to_clean,
    storage.cleaning_covers_what_is_replicated,
    storage.log_is_compacted,
)
LOG_INVARIANTS = (
    (
        storage_stories.LOOKUP,
        (
            *SEGMENTS,
            storage.timestamp_lookup_finds_the_first_record,
            storage.start_offset_is_not_above_the_high_watermark,
            storage.segment_before_the_start_is_deleted,
            storage.record_is_kept,
            storage.record_from_the_start_on_is_kept,
            storage.truncation_ends_the_log,
            storage.log_has_rolled,
            storage.lookup_begins_at_an_entry,
            storage.truncated_log_is_indexed,
        ),
    ),
    (
        storage_stories.ROLL,
        (
            *SEGMENTS,
            storage.timestamp_lookup_finds_the_first_record,
            storage.record_is_kept,
            storage.log_has_rolled,
            storage.lookup_begins_at_an_entry,
        ),
    ),
    (
        storage_stories.RETENTION,
        (
            *SEGMENTS,
            storage.start_offset_is_not_above_the_high_watermark,
            storage.young_record_is_kept,
            storage.expired_segment_is_deleted,
            storage.excess_is_deleted,
            storage.size_retention_leaves_enough,
            storage.deleted_files_are_kept_for_the_delay,
            storage.deleted_files_are_before_the_log,
            storage.file_times_change_by_appends,
            storage.record_is_kept,
            storage.segment_before_the_start_is_deleted,
            storage.active_segment_is_deleted,
        ),
    ),
    (
        storage_stories.RECOVERY,
        (
            *SEGMENTS,
            storage.start_offset_survives_a_stop,
            storage.start_offset_is_not_above_the_high_watermark,
            storage.young_record_is_kept,
            storage.flushed_records_survive,
            storage.no_batch_is_torn,
            storage.closed_log_does_not_change,
            storage.stops_are_counted,
            storage.orderly_stop_writes_everything,
            storage.running_broker_has_no_clean_shutdown_file,
            storage.checkpoints_have_what_they_are_of,
            storage.recovery_point_is_on_disk,
            storage.stop_keeps_file_times,
            storage.crash_loses_what_was_not_flushed,
            storage.torn_batch_is_lost,
            storage.flush_covers_closed_segments,
            storage.high_watermark_survives_a_stop,
            storage.loaded_log_is_that_of_the_disk,
            storage.crash_tears_a_batch,
            storage.crashed_log_is_recovered,
        ),
    ),
    (
        storage_stories.COMPACTION,
        (
            *COMPACTED,
            storage.closed_log_does_not_change,
            storage.stops_are_counted,
            storage.loaded_log_is_that_of_the_disk,
            storage.renamed_segments_do_not_return,
            storage.compacted_record_does_not_return,
            storage.swapped_record_is_kept,
            storage.segments_are_merged,
            storage.crash_leaves_a_swap,
        ),
    ),
    (
        storage_stories.TOMBSTONES,
        (
            *COMPACTED,
            storage.tombstone_is_kept_after_compaction,
            storage.tombstone_is_kept_after_its_append,
            storage.due_tombstone_is_not_written,
        ),
    ),
    (storage_stories.COMPACTED_COPY, COMPACTED),
    (
        storage_stories.CONFIGURATION,
        (
            storage.configuration_follows_precedence,
            storage.topic_configuration_is_kept,
            storage.deleted_configuration_does_not_hold,
            storage.handled_change_is_known,
            storage.running_broker_has_read_its_file,
            storage.configuration_ends_with_its_process,
            storage.values_change_by_request,
            storage.dynamic_configuration_holds,
            storage.changes_are_handled,
            storage.all_levels_are_set,
            storage.other_key_is_read,
        ),
    ),
)
LOG_SCENARIOS = tuple(evolve(story, properties=held) for story, held in LOG_INVARIANTS)
"""The stories about the log of a partition."""

ENSEMBLE = (
    ensembles.one_leader_is_active,
    ensembles.epoch_has_one_leader,
    ensembles.committed_write_is_kept,
    ensembles.current_epoch_is_accepted,
    ensembles.follower_has_its_leaders_history,
    ensembles.new_leader_has_a_new_epoch,
    ensembles.new_leader_has_a_quorum,
    ensembles.logged_write_is_committed,
    ensembles.majorities_intersect,
    ensembles.service_is_available,
    ensembles.leader_changes,
)
GROWN = (*ENSEMBLE, ensembles.change_is_rolled_out)
ENSEMBLE_INVARIANTS = (
    (ensemble_stories.GROWTH, GROWN),
    (ensemble_stories.GROWTH_NEW_SERVERS_FIRST, (*GROWN, ensembles.crash_is_tolerated)),
    (ensemble_stories.GROWTH_ONE_AT_A_TIME, (*GROWN, ensembles.crash_is_tolerated)),
    (ensemble_stories.TWO_SERVERS_STOPPED, (*ENSEMBLE, ensembles.crash_is_tolerated)),
    (ensemble_stories.RETIREMENT_ONE_AT_A_TIME, (*GROWN, ensembles.crash_is_tolerated)),
)
ENSEMBLE_SCENARIOS = tuple(evolve(story, properties=held) for story, held in ENSEMBLE_INVARIANTS)
"""The stories about ZooKeeper's ensemble."""
CANNOT_FAIL: tuple[tuple[Property, dict[str, int], str], ...] = (
    (partitions.no_partition_lost, {"partitions": 1}, "a topic has one partition from the start"),
    (records.no_resurrection, {"incarnations": 0}, "the topic's name is not used again"),
    (groups.members_have_one_protocol, {"other_protocols": 0}, "all consumers support one protocol"),
    (groups.one_owner_per_generation, {"consumers": 1}, "the group has one consumer"),
    (storage.segments_are_not_larger_than_allowed, {"batches": 1}, "a segment has room for one batch of one byte"),
    (topic_ids.topic_has_an_id, {}, "before 2.8 topics have no ids"),
    (groups.offset_belongs_to_a_group, {}, "in 0.10.0 an empty group goes and its offsets stay"),
    (groups.offset_is_kept_from_empty_on, {}, "up to 2.0 offsets expire by their commit's age (KIP-211)"),
    (storage.timestamp_lookup_finds_the_first_record, {}, "before KIP-33 segments have no time index"),
    (storage.new_segment_begins_with_its_first_batch, {}, "before KAFKA-4451 it need not"),
    (storage.cleaning_covers_what_is_replicated, {}, "before KAFKA-8764 a cleaning ends before a gap"),
    (storage.due_tombstone_is_not_written, {}, "in 0.10.1.0 a tombstone's time is not its file's (KAFKA-4529)"),
    (storage.append_does_not_fail, {}, "in this release a roll replaces an empty active segment (KAFKA-6388)"),
)
"""Properties that cannot fail where bounds have these values (with none: in some releases), and why that is so."""


def _expecting(scenario: Scenario) -> Scenario:
    """Return the scenario with the reasons why properties cannot fail within its bounds."""
    reasons = {
        prop.name: reason
        for prop, bounds, reason in CANNOT_FAIL
        if prop in scenario.properties and bounds.items() <= scenario.bounds.items()
    }
    return evolve(scenario, cannot_fail=reasons) if reasons else scenario


SCENARIOS = tuple(map(_expecting, (*CONTROLLER_SCENARIOS, *GROUP_SCENARIOS, *LOG_SCENARIOS, *ENSEMBLE_SCENARIOS)))
FIXES = fixes.FIXES
