"""Known bugs of the controller: a trace in a release that has each, and that one which repairs it does not break it.

Releases before 2.5 are no variants: the flags of a behaviour take their repairs out of 2.5.0, which has them.
"""

from __future__ import annotations

import pytest

from kwalk.invariants.stories import SCENARIOS
from tests.kafka.broken import Broken, is_broken_at_the_end, judged

STORIES = {scenario.name: scenario for scenario in SCENARIOS}
BROKEN = (
    (
        Broken(
            "committed_survives(2, 0, 0)",
            "leaders-in-succession",
            "2.5.0",
            "crash(1) broker_failure(0) produce(0,0,0) fetch(2,0,0) fetch(2,0,0) "
            "handle_leader_and_isr(0) crash(0) reelect(2) failover_reads_topics(2) "
            "failover_sets_topic_ids(2) failover_reads_states(2) handle_leader_and_isr(2) "
            "failover_sends_requests(2) handle_leader_and_isr(2) handle_leader_and_isr(2) "
            "handle_leader_and_isr(2)",
            flags={"truncation": "high watermark"},
        ),
        "2.5.0",
    ),
    (
        Broken(
            "committed_survives(1, 0, 0)",
            "replica-joins-new-leader",
            "2.5.0",
            "auto_preferred_election(0) handle_leader_and_isr(0) handle_leader_and_isr(1) handle_leader_and_isr(2) "
            "fetch(1,0,0) expand_isr(1,0,0) crash(0) reelect(1) failover_reads_topics(1) failover_sets_topic_ids(1) "
            "failover_reads_states(1) failover_sends_requests(1) handle_leader_and_isr(1) handle_leader_and_isr(1) "
            "handle_leader_and_isr(1)",
            flags={"isr_needs_epoch_start": False},
        ),
        "2.5.0",
    ),
    (
        Broken(
            "next_leader_is_the_first_replica(0, 0)",
            "leaders-shut-down-in-succession",
            "2.8.2",
            "stop(0,0)",
            flags={"shutdown_prefers_the_first_replica": False},
        ),
        "2.8.2",
    ),
    (
        Broken(
            "follower_that_fetches_stays()",
            "replica-lag",
            "3.9.0",
            "produce() begin_to_shrink() exceed_quota() end_round() end_round() end_round() shrink_isr()",
            flags={"throttles_laggards_only": False},
        ),
        "3.9.0",
    ),
    (
        Broken(
            "follower_that_fetches_stays()",
            "replica-lag",
            "2.8.2",
            "produce() begin_to_shrink() exceed_quota() end_round() end_round() end_round() shrink_isr()",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "oversized_batch_is_fetched()",
            "replica-lag-oversized",
            "0.10.0",
            "produce_oversized() fetch()",
        ),
        "2.8.2",
    ),
    (
        Broken(
            "follower_that_fetches_stays()",
            "replica-lag",
            "0.10.1",
            "fetch() produce() end_round() fetch() produce() end_round() fetch() end_round() "
            "begin_to_shrink() shrink_isr()",
            bounds={"throttles": 0},
        ),
        "2.8.2",
    ),
    (
        Broken(
            "follower_with_all_records_stays()",
            "replica-lag",
            "2.0",
            "begin_to_shrink() stall() end_round() end_round() end_round() shrink_isr()",
        ),
        "2.8.2",
    ),
    (
        Broken(
            "failed_leader_keeps_the_isr()",
            "replica-lag",
            "2.0",
            "begin_to_shrink() fail_disk() end_round() end_round() end_round() shrink_isr()",
        ),
        "2.8.2",
    ),
    (
        Broken(
            "metadata_converges(0, 0, 0)",
            "deletion-disabled-as-clients-see-it",
            "2.5.0",
            "delete_controller() reelect(0) reelect(1) failover_reads_topics(0) "
            "failover_sets_topic_ids(0) client_deletes_topic(0) failover_reads_states(0) "
            "failover_sends_requests(0) controller_change(0) handle_leader_and_isr(0) "
            "handle_update_metadata(0) handle_update_metadata(0) handle_update_metadata(1) "
            "handle_leader_and_isr(1) handle_update_metadata(1)",
            flags={"marks_are_removed": False},
        ),
        "2.5.0",
    ),
    (
        Broken(
            "reassignment_reaches_its_target(0, 0)",
            "reassignment-across-failovers",
            "2.8.2",
            "delete_controller() crash(1) alter_partition_reassignments(0,0,0,0) "
            "reassignment_changes_leadership(0,0,0) reelect(0) failover_reads_topics(0) "
            "failover_sets_topic_ids(0) failover_reads_states(0) failover_sends_requests(0)",
            bounds={"cancellations": 0, "failovers": 1, "restarts": 1},
            flags={"resumes_to_dead_brokers": False},
        ),
        "2.8.2",
    ),
    (
        Broken(
            "replicas_converge(1, 0, 0)",
            "live-brokers-in-metadata",
            "2.5.0",
            "delete_controller() reelect(0) crash(1) restart(1) reelect(1) "
            "failover_reads_topics(0) failover_sets_topic_ids(0) failover_reads_states(0) "
            "failover_sends_requests(0) controller_change(0) handle_leader_and_isr(0) "
            "handle_leader_and_isr(1) handle_update_metadata(0) handle_update_metadata(0) "
            "handle_update_metadata(1) handle_update_metadata(1)",
            flags={"failover_sends_metadata_first": False},
        ),
        "2.5.0",
    ),
    (
        Broken(
            "reassignment_is_requested(0, 0)",
            "reassignment-across-failovers",
            "2.8.2",
            "delete_controller() alter_partition_reassignments(0,0,0,0) reassignment_changes_leadership(0,0,0) "
            "reelect(1) delete_controller() failover_reads_topics(1) failover_sets_topic_ids(1) "
            "failover_reads_states(1) failover_sends_requests(1) reassignment_changes_leadership(1,0,0) "
            "cancel_partition_reassignment(1,0,0) reelect(0) failover_reads_topics(0) failover_sets_topic_ids(0) "
            "failover_reads_states(0) failover_sends_requests(0)",
            flags={"resignation_clears_the_context": False},
        ),
        "2.8.2",
    ),
    (
        Broken(
            "running_broker_is_registered(1)",
            "session-that-cannot-be-made",
            "2.8.2",
            "expire_session(1) broker_failure(0) fail_to_resolve_name(1)",
            flags={"tries_sessions_again": False},
        ),
        "2.8.2",
    ),
    (
        Broken(
            "partition_servable(0, 0)",
            "zombie-controller",
            "2.5.0",
            "new_client_creates_topic(0) topic_change(0) expire_session(0) reelect(1) "
            "failover_reads_topics(1) failover_sets_topic_ids(1) failover_reads_states(1) "
            "topic_change_creates_partitions(0) failover_sends_requests(1) controller_change(1) "
            "handle_leader_and_isr(1) notice_expiry(0) register_broker_and_reelect(0) "
            "broker_startup(1)",
            flags={"session_bound": False, "zk_fencing": False},
        ),
        "2.5.0",
    ),
    (
        Broken(
            "preferred_replica_leads(0, 0)",
            "preferred-leaders-during-reassignment",
            "2.8.2",
            "alter_partition_reassignments(0,0,0,0) partition_modifications(0,0) handle_leader_and_isr(0) "
            "handle_leader_and_isr(1) handle_leader_and_isr(2) handle_leader_and_isr(2)",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "preferred_replica_leads_at_rest(1, 0)",
            "preferred-leaders-after-a-deletion",
            "2.8.2",
            "alter_partition_reassignments(0,0,0,0) partition_modifications(0,0) handle_leader_and_isr(0) "
            "handle_leader_and_isr(1) handle_leader_and_isr(1) client_deletes_topic(0) topic_deletion(0) "
            "handle_stop_replica(0) handle_stop_replica(0) handle_stop_replica(1) handle_stop_replica(1) "
            "stop_replica_response(0) stop_replica_response(0) complete_deletion_deletes_topic(0) "
            "complete_deletion_deletes_config(0) complete_deletion_deletes_request(0)",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "client_of_the_controller_is_answered()",
            "end-of-a-session-amid-an-event",
            "2.5.0",
            "expire() ask_controller() tell_controller()",
        ),
        "2.8.2",
    ),
    (
        Broken(
            "creation_is_accepted_or_refused(1)",
            "two-creations",
            "2.8.2",
            "ask(0) ask(1) set_configuration(0) set_configuration(1) create_configuration(0) create_configuration(1)",
            flags={"created_configurations_are_set": False},
        ),
        "2.8.2",
    ),
    (
        Broken(
            "creation_is_accepted_or_refused(1)",
            "two-creations-with-a-period",
            "2.8.2",
            "ask(0) ask(1) set_configuration(0) create_configuration(0) create_topic(0) compare_names(1)",
            flags={"names_do_not_meet_themselves": False},
        ),
        "2.8.2",
    ),
    (
        Broken(
            "controller_can_be_elected_again()",
            "resignation-amid-a-request",
            "2.8.2",
            "elect() send() depose() resign() elect()",
            flags={"senders_end_first": False},
        ),
        "2.8.2",
    ),
    (
        Broken(
            "last_leader_leads()",
            "unclean-elections-allowed",
            "2.8.2",
            "fail(0) allow() fail(1) forbid() start(0) handle()",
            flags={"last_member_stays": False},
        ),
        "2.8.2",
    ),
    (
        Broken(
            "allowed_election_is_held()",
            "unclean-elections-allowed",
            "2.8.2",
            "fail(0) allow_by_default()",
            flags={"defaults_start_elections": False},
        ),
        "2.8.2",
    ),
    (
        Broken(
            "allowed_election_is_held()",
            "unclean-elections-allowed",
            "2.8.2",
            "fail(0) allow_by_default() handle() update_default()",
            flags={"defaults_hold_before_elections": False},
        ),
        "2.8.2",
    ),
    (
        Broken(
            "allowed_election_is_held()",
            "unclean-elections-allowed",
            "2.8.2",
            "fail(0) allow()",
            flags={"topics_start_elections": False},
        ),
        "2.8.2",
    ),
    (
        Broken(
            "resignation_ends()",
            "sessions-of-an-old-controller",
            "2.8.2",
            "end_session() begin_task() begin_resignation()",
            flags={"resigns_without_lock": False},
        ),
        "2.8.2",
    ),
    (
        Broken(
            "elected_controller_acts()",
            "sessions-of-an-old-controller",
            "2.8.2",
            "end_session() end_session() begin_resignation() resign() begin_resignation() resign()",
            flags={"keeps_its_office": False},
        ),
        "2.8.2",
    ),
    (
        Broken(
            "former_controller_writes_nothing()",
            "sessions-of-an-old-controller",
            "2.8.2",
            "end_session() elect_another() change_znode() begin_resignation() resign() call_listener()",
            flags={"listeners_ask_for_the_office": False},
        ),
        "2.8.2",
    ),
    (
        Broken(
            "ended_session_is_replaced()",
            "end-of-a-session-amid-an-event",
            "2.8.2",
            "expire() begin_event() tell_controller()",
            flags={"expires_without_lock": False},
        ),
        "2.8.2",
    ),
    (
        Broken(
            "partition_servable(0, 0)",
            "broker-without-a-listener",
            "3.9.0",
            "new_client_creates_topic(0) crash(0) start_without_listener(0) reelect(0) reelect(1) "
            "failover_reads_topics(0) failover_sets_topic_ids(0) failover_reads_states(0) failover_sends_requests(0) "
            "controller_change(0) handle_leader_and_isr(1)",
            flags={"opens_ports_late": True},
        ),
        "3.9.0",
    ),
    (
        Broken(
            "no_unrequested_topic(0)",
            "deletion-amid-a-listing",
            "2.5.0",
            "list_topics(0) client_deletes_topic(0) topic_deletion(0) handle_update_metadata(0) "
            "handle_stop_replica(0) handle_stop_replica(0) stop_replica_response(0) "
            "complete_deletion_deletes_topic(0) describe_listed_topics(0)",
        ),
        "2.8.2",
    ),
    (
        Broken(
            "no_unrequested_topic(0)",
            "expansion-during-deletion",
            "2.5.0",
            "client_deletes_topic(0) topic_deletion(0) handle_stop_replica(0) "
            "handle_stop_replica(0) stop_replica_response(0) admin_reads_topic(0,0) "
            "complete_deletion_deletes_topic(0) admin_writes_topic(0,1)",
            bounds={"failovers": 0},
            flags={"old_upsert": True},
        ),
        "2.5.0",
    ),
    (
        Broken(
            "context_agrees(0, 0)",
            "expansion-during-halted-deletion",
            "2.5.0",
            "client_deletes_topic(0) crash(1) topic_deletion(0) broker_failure(0) "
            "handle_stop_replica(0) handle_stop_replica(0) stop_replica_response(0) "
            "admin_reads_topic(0,0) admin_writes_topic(0,1) partition_modifications(0,0)",
            flags={"restore_on_delete": False},
        ),
        "2.5.0",
    ),
    (
        Broken(
            "deletion_terminates(0)",
            "topic-deletion",
            "2.5.0",
            "new_client_creates_topic(0) stop(0,0) reelect(1) restart(0) reelect(0) "
            "failover_reads_topics(1) failover_sets_topic_ids(1) client_deletes_topic(0) "
            "failover_reads_states(1) failover_sends_requests(1) controller_change(1) "
            "handle_stop_replica(0) handle_stop_replica(1)",
            flags={"offline_without_leadership": False},
        ),
        "2.5.0",
    ),
    (
        Broken(
            "replica_on_a_working_disk_is_hosted(1, 0, 0)",
            "replaced-disk",
            "2.5.0",
            "delete_controller() reelect(0) crash(1) restart(1) reelect(1) "
            "failover_reads_topics(0) failover_sets_topic_ids(0) failover_reads_states(0) "
            "failover_sends_requests(0) controller_change(0) handle_leader_and_isr(0)",
            flags={"resignation_forgets_offline_logs": False},
        ),
        "2.5.0",
    ),
    (
        Broken(
            "partition_servable(0, 1)",
            "failover-during-expansion",
            "2.5.0",
            "new_client_creates_topic(0) topic_change(0) new_client_adds_partitions(0) "
            "delete_controller() reelect(1) failover_reads_topics(1) failover_sets_topic_ids(1) "
            "failover_reads_states(1) topic_change_creates_partitions(0) "
            "partition_modifications(0,0) reelect(0) failover_sends_requests(1) "
            "controller_change(1) handle_leader_and_isr(0) handle_leader_and_isr(1)",
            flags={"zk_fencing": False},
        ),
        "2.5.0",
    ),
    (
        Broken(
            "replaced_leader_is_sent_leader_and_isr(0, 0, 0)",
            "controlled-shutdown",
            "2.5.0",
            "new_client_creates_topic(0) topic_change(0) topic_change_creates_partitions(0) stop(0,0)",
            flags={"informs_stopping_leaders": False},
        ),
        "2.5.0",
    ),
    (
        Broken(
            "replicas_converge(1, 0, 0)",
            "fast-bounce",
            "2.5.0",
            "new_client_creates_topic(0) topic_change(0) topic_change_creates_partitions(0) "
            "handle_leader_and_isr(0) handle_leader_and_isr(1) crash(1) handle_leader_and_isr(2) "
            "restart(1) reelect(1) broker_startup(0)",
            flags={"broker_epoch": False},
        ),
        "2.5.0",
    ),
    (
        Broken(
            "running_broker_is_registered(1)",
            "late-znode-of-an-unknown-session",
            "3.9.0",
            "expire_session_before_its_znodes(1) remove_late_znodes(1) notice_expiry(1) "
            "expire_session_amid_a_registration(1) notice_expiry(1) register_broker_and_reelect(1) "
            "remove_late_znodes(1) broker_failure(0)",
        ),
        "",
    ),
    (
        Broken(
            "running_broker_is_registered(1)",
            "late-ephemeral-znode",
            "2.5.0",
            "expire_session_before_its_znodes(1) notice_expiry(1) register_broker_and_reelect(1) "
            "remove_late_znodes(1) broker_failure(0)",
            flags={"recreates_ephemerals": False},
        ),
        "2.5.0",
    ),
    (
        Broken(
            "ready_controller_takes_lost_brokers_out(0, 0, 0)",
            "healthy-cluster",
            "2.5.0",
            "new_client_creates_topic(0) delete_controller() topic_change(0) "
            "topic_change_creates_partitions(0) reelect(0) crash(1) failover_reads_topics(0) "
            "failover_sets_topic_ids(0) failover_reads_states(0) failover_sends_requests(0)",
            bounds={"partitions": 1, "new_expansions": 0},
            flags={"failover_takes_replicas_offline": False},
        ),
        "2.5.0",
    ),
    (
        Broken(
            "metadata_converges(0, 0, 0)",
            "reassignment-as-clients-see-it",
            "2.5.0",
            "alter_partition_reassignments(0,0,0,0) cancel_partition_reassignment(0,0,0) "
            "partition_modifications(0,0) handle_leader_and_isr(0) handle_leader_and_isr(1) "
            "handle_update_metadata(0) handle_update_metadata(0) handle_leader_and_isr(0) "
            "handle_update_metadata(0) handle_leader_and_isr(0) handle_update_metadata(0) "
            "handle_update_metadata(0) handle_update_metadata(1) handle_leader_and_isr(1) "
            "handle_update_metadata(1) handle_update_metadata(1) handle_stop_replica(1) "
            "handle_update_metadata(1) handle_update_metadata(1)",
            flags={"ctx_epoch_on_bump": False},
        ),
        "2.5.0",
    ),
    (
        Broken(
            "replicas_converge(0, 0, 0)",
            "reassignment-there-and-back",
            "2.5.0",
            "alter_partition_reassignments(0,0,0,0) handle_leader_and_isr(0) "
            "handle_leader_and_isr(1) handle_leader_and_isr(1) expand_isr(1,0,0) "
            "complete_reassignment(0,0,0) alter_partition_reassignments(0,0,0,1) "
            "partition_modifications(0,0) handle_leader_and_isr(1) handle_leader_and_isr(1) "
            "handle_leader_and_isr(1) break_connection(0) handle_stop_replica(0) "
            "handle_leader_and_isr(0) handle_leader_and_isr(0) receive_late_copy(0) "
            "handle_stop_replica(0)",
        ),
        "2.6.0",
    ),
    (
        Broken(
            "context_agrees(1, 0)",
            "mixed-inter-broker-protocol",
            "2.8.0",
            "delete_controller() new_client_creates_topic(0) reelect(1) reelect(0) "
            "failover_reads_topics(1) failover_sets_topic_ids(1) failover_reads_states(1) "
            "failover_sends_requests(1) controller_change(1) topic_change(0) "
            "handle_leader_and_isr(0) handle_leader_and_isr(1)",
            bounds={"restarts": 0},
        ),
        "2.8.1",
    ),
    (
        Broken(
            "no_divergence(1, 0, 0)",
            "stray-log",
            "2.8.2",
            "new_client_creates_topic(0) topic_change(0) topic_change_creates_partitions(0) "
            "handle_leader_and_isr(0) handle_leader_and_isr(1) produce(0,0,0) fetch(1,0,0)",
            start=1,
        ),
        "3.0",
    ),
    (
        Broken(
            "committed_survives(0, 0, 0)",
            "records-through-failover",
            "2.8.0",
            "new_client_creates_topic(0) topic_change(0) topic_change_creates_partitions(0) "
            "handle_leader_and_isr(0) handle_leader_and_isr(1) produce(0,0,0) stop(0,0) "
            "reelect(1) handle_leader_and_isr(1) restart(0) failover_reads_topics(1) "
            "failover_sets_topic_ids(1) failover_reads_states(1) failover_sends_requests(1) "
            "handle_leader_and_isr(0) produce(1,0,0) fetch(0,0,0) expand_isr(0,0,0) stop(1,1) "
            "handle_leader_and_isr(0)",
        ),
        "2.8.1",
    ),
    (
        Broken(
            "controller_serves(0)",
            "authentication-failure",
            "3.0.0",
            "auth_failure_reinitializes(0)",
        ),
        "3.0.1",
    ),
    (
        Broken(
            "deletion_targets_intent(0)",
            "delete-and-recreate",
            "3.0.2",
            "delete_controller() reelect(0) failover_reads_topics(0) new_client_creates_topic(0) "
            "failover_sets_topic_ids(0) client_deletes_topic(0) failover_reads_states(0) "
            "failover_sends_requests(0) complete_deletion_deletes_topic(0) "
            "new_client_creates_topic(0) complete_deletion_deletes_config(0)",
        ),
        "3.1.0",
    ),
    (
        Broken(
            "deletion_terminates(0)",
            "topic-deletion-with-stray-log",
            "3.0",
            "new_client_creates_topic(0) topic_change(0) topic_change_creates_partitions(0) "
            "handle_leader_and_isr(0) handle_leader_and_isr(1) client_deletes_topic(0) "
            "topic_deletion(0) handle_stop_replica(0) handle_stop_replica(0) "
            "handle_stop_replica(1) handle_stop_replica(1) storage_error(0) "
            "stop_replica_response(0) handle_stop_replica(0)",
        ),
        "3.1.0",
    ),
    (
        Broken(
            "metadata_has_the_live_brokers(0)",
            "brokers-lost-in-succession",
            "3.0",
            "crash(1) broker_failure(0) crash(2) broker_failure(0) handle_update_metadata(0)",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "ready_controller_takes_lost_brokers_out(0, 0, 0)",
            "healthy-sessions",
            "3.2.3",
            "new_client_creates_topic(0) topic_change(0) topic_change_creates_partitions(0) "
            "handle_leader_and_isr(0) shrink_isr(0,0,0) handle_leader_and_isr(1) "
            "expire_session(1) broker_failure(0) expand_isr(1,0,0)",
            bounds={"new_expansions": 0, "partitions": 1},
        ),
        "3.3.1",
    ),
    (
        Broken(
            "no_stray(1, 0, 0)",
            "reassignment",
            "3.4.0",
            "new_client_creates_topic(0) topic_change(0) topic_change_creates_partitions(0) "
            "handle_leader_and_isr(0) alter_partition_reassignments(0,0,0,0) "
            "handle_leader_and_isr(0) handle_leader_and_isr(1) handle_leader_and_isr(1) "
            "cancel_partition_reassignment(0,0,0) partition_modifications(0,0) "
            "handle_leader_and_isr(0) handle_leader_and_isr(0) handle_stop_replica(1)",
            bounds={"brokers": 2, "replication_factor": 1},
        ),
        "3.4.1",
    ),
    (
        Broken(
            "no_stray(0, 0, 0)",
            "reassignment",
            "3.9.0",
            "new_client_creates_topic(0) topic_change(0) topic_change_creates_partitions(0) "
            "handle_leader_and_isr(0) alter_partition_reassignments(0,0,0,0) "
            "reassignment_changes_leadership(0,0,0) handle_leader_and_isr(0) "
            "handle_leader_and_isr(1) handle_leader_and_isr(1) expand_isr(1,0,0) "
            "reassignment_changes_leadership(0,0,0) reassignment_stops_old_replicas(0,0,0) "
            "reassignment_writes_target(0,0,0) stop(0,0) reelect(1) handle_leader_and_isr(1) "
            "restart(0) reelect(0) failover_reads_topics(1) failover_sets_topic_ids(1) "
            "failover_reads_states(1) failover_sends_requests(1) controller_change(1) "
            "handle_leader_and_isr(1)",
            bounds={"brokers": 2, "replication_factor": 1, "cancellations": 0, "restarts": 1},
        ),
        "",
    ),
    (
        Broken(
            "leader_in_assignment(0, 0)",
            "expansion-during-reassignment",
            "3.9.0",
            "admin_reads_topic(0,0) alter_partition_reassignments(0,0,0,0) "
            "handle_leader_and_isr(0) handle_leader_and_isr(1) handle_leader_and_isr(1) "
            "expand_isr(1,0,0) admin_writes_topic(0,1)",
        ),
        "",
    ),
    (
        Broken(
            "replicas_converge(1, 0, 0)",
            "controller-comes-back",
            "3.9.0",
            "crash(1) delete_controller() restart(1) reelect(1) crash(1) broker_failure(0) "
            "controller_moved(0) reelect(0) restart(1) reelect(1) failover_reads_topics(0) "
            "failover_sets_topic_ids(0) failover_reads_states(0) failover_sends_requests(0) "
            "controller_change(0)",
        ),
        "",
    ),
    (
        Broken(
            "topic_id_stable(0)",
            "old-client-expansion",
            "3.9.0",
            "old_client_creates_topic(0) delete_controller() topic_change(0) "
            "topic_change_creates_partitions(0) old_client_adds_partitions(0) reelect(0) "
            "failover_reads_topics(0) failover_sets_topic_ids(0)",
            bounds={"restarts": 0},
        ),
        "",
    ),
    (
        Broken(
            "partition_servable(0, 0)",
            "reassignment-replaced",
            "3.9.0",
            "alter_partition_reassignments_to(0,0,0,ReplicaList(1,2)) handle_leader_and_isr(0) "
            "handle_leader_and_isr(1) handle_leader_and_isr(1) handle_leader_and_isr(2) "
            "handle_leader_and_isr(2) expand_isr(1,0,0) auto_preferred_election(0) "
            "alter_partition_reassignments_to(0,0,0,ReplicaList(2,0)) "
            "partition_modifications(0,0) handle_leader_and_isr(0) handle_leader_and_isr(0) "
            "handle_leader_and_isr(0) handle_leader_and_isr(1) handle_leader_and_isr(2) "
            "handle_leader_and_isr(2) handle_leader_and_isr(2) handle_stop_replica(1)",
        ),
        "",
    ),
    (
        Broken(
            "isr_member_keeps_its_log(0, 0, 0)",
            "reassignment-cancelled-without-its-replicas",
            "3.9.0",
            "alter_partition_reassignments_to(0,0,0,ReplicaList(0,2)) reassignment_changes_leadership(0,0,0) "
            "handle_leader_and_isr(0) handle_leader_and_isr(0) handle_leader_and_isr(1) handle_leader_and_isr(2) "
            "handle_leader_and_isr(2) expand_isr(0,0,0) stop(1,0) handle_leader_and_isr(0) "
            "cancel_partition_reassignment(0,0,0) reassignment_stops_unneeded_replicas(0,0,0) "
            "handle_stop_replica(0)",
        ),
        "",
    ),
    (
        Broken(
            "partition_servable(0, 0)",
            "reassignment-cancelled-without-its-replicas",
            "3.9.0",
            "alter_partition_reassignments_to(0,0,0,ReplicaList(0,2)) reassignment_changes_leadership(0,0,0) "
            "handle_leader_and_isr(0) handle_leader_and_isr(0) handle_leader_and_isr(1) handle_leader_and_isr(2) "
            "handle_leader_and_isr(2) expand_isr(0,0,0) stop(1,0) handle_leader_and_isr(0) "
            "handle_leader_and_isr(2) restart(1) reelect(1) cancel_partition_reassignment(0,0,0) "
            "reassignment_stops_unneeded_replicas(0,0,0) handle_stop_replica(0) handle_stop_replica(2) "
            "reassignment_changes_leadership(0,0,0) reassignment_writes_target(0,0,0) "
            "partition_modifications(0,0) broker_failure(0) broker_startup(0) handle_leader_and_isr(1)",
        ),
        "",
    ),
    (
        Broken(
            "replicas_converge(1, 0, 0)",
            "session-that-ends-amid-a-request",
            "2.8.2",
            "crash(1) new_client_adds_partitions(0) broker_failure(0) partition_modifications(0,0) "
            "handle_leader_and_isr(0) handle_leader_and_isr(0) restart(1) broker_startup(0) "
            "expire_session_amid_request(1,{0}) broker_failure(0) handle_leader_and_isr(0) notice_expiry(1) "
            "register_broker_and_reelect(1) broker_startup(0) handle_leader_and_isr(1) expand_isr(1,0,1)",
            flags={"skips_logs_it_cannot_create": False},
        ),
        "2.8.2",
    ),
    (
        Broken(
            "follower_that_stands_still_leaves()",
            "replica-lag-beside-a-reassignment",
            "2.8.2",
            "produce() stall() end_round() end_round() end_round() end_round() reassign_other_partition()",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "running_broker_is_registered(1)",
            "session-that-cannot-be-made",
            "2.5.0",
            "expire_session(1) broker_failure(0) fail_to_authenticate(1)",
        ),
        "2.8.2",
    ),
    (
        Broken(
            "replicas_converge(1, 0, 0)",
            "session-with-a-late-epoch",
            "2.5.0",
            "expire_session(1) new_client_creates_topic(0) notice_expiry(1) register_broker_and_reelect(1) "
            "broker_failure(0) broker_startup(0) topic_change(0) topic_change_creates_partitions(0) "
            "handle_leader_and_isr(0) handle_leader_and_isr(1) handle_update_metadata(0) "
            "handle_update_metadata(1) learn_broker_epoch(1)",
        ),
        "2.8.2",
    ),
    (
        Broken(
            "reassignment_ends(0, 0)",
            "reassignment-with-a-failed-directory",
            "2.8.2",
            "alter_partition_reassignments(0,0,0,0) partition_modifications(0,0) handle_leader_and_isr(0) "
            "fail_spare_directory(1) handle_leader_and_isr(1) handle_leader_and_isr(1) storage_error(0) "
            "handle_leader_and_isr(0) storage_error(0)",
            flags={"tries_other_directories": False},
        ),
        "2.8.2",
    ),
    (
        Broken(
            "reassignment_ends(0, 0)",
            "reassignment-with-a-failed-directory",
            "2.8.2",
            "alter_partition_reassignments(0,0,0,0) partition_modifications(0,0) handle_leader_and_isr(0) "
            "fail_spare_directory(1) notice_failed_directory(1) handle_leader_and_isr(1) "
            "handle_leader_and_isr(1) storage_error(0) handle_leader_and_isr(0) storage_error(0)",
            flags={"added_replicas_are_new": False},
        ),
        "2.8.2",
    ),
)
"""In the order of the page: a behaviour, and a release that does not have the defect; none if all have it."""


@pytest.mark.parametrize(("behaviour", "later"), BROKEN, ids=[f"{b.story}-{b.invariant}" for b, _ in BROKEN])
def test_what_a_release_breaks_one_with_the_repair_does_not(behaviour: Broken, later: str) -> None:
    assert is_broken_at_the_end(behaviour, STORIES[behaviour.story], behaviour.variant)
    if later:
        flags = {} if later == behaviour.variant else behaviour.flags
        assert not any(judged(behaviour, STORIES[behaviour.story], later, flags))
