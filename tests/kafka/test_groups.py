"""Consumer groups: which releases break what, by the shortest way; what closes it; and what holds in every state."""

from __future__ import annotations

import pytest

from kwalk.invariants.stories.groups import SCENARIOS as GROUP_SCENARIOS
from kwalk.model.kafka.groups.state import ConsumerStatus, GroupCluster, GroupState
from kwalk.model.kafka.groups.versions import FIXES, RELEASES, VARIANTS
from kwalk.model.language import Kind, Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.trace import run
from kwalk.search.results.verdict import Strength
from tests.kafka.broken import Broken, is_broken_at_the_end, judged
from tests.kafka.lengths import shortest
from tests.kafka.outcomes import outcome_of, pinned

STORIES = {scenario.name: scenario for scenario in GROUP_SCENARIOS}
JOINED = "start(0) join_group(0,0) complete_join(0) sync_group(0,0,0) replicate(0)"
COMMITTED = f"{JOINED} commit(0,0) replicate(0)"
MOVED = f"{COMMITTED} elect(1,1) handle_leader_and_isr(1,0) run_task(1,0)"
CRASHED = "start(0) join_group(0,0) crash(0) complete_join(0) expire_heartbeat(0,0) complete_join(0) replicate(0)"
THERE = "start(0) elect(1,1) handle_leader_and_isr(0,0) handle_leader_and_isr(1,0) run_task(1,0)"
AND_BACK = "elect(0,1) handle_leader_and_isr(0,1) handle_leader_and_isr(1,0) run_task(0,0) run_task(0,0) run_task(1,0)"
AWAY = "handle_leader_and_isr(0,0) handle_leader_and_isr(1,0) run_task(0,0) find_coordinator(0) run_task(1,0)"
REMOVED = """
    begin_rebalance() prepare_join(0) end_session(0) prepare_join(1) learn_of_removal(0) send_join(1) complete_join(1)
    receive_assignment(1) send_join(0)
    """
MISSED = """
    begin_rebalance() prepare_join(0) prepare_join(1) send_join(0) send_join(1) complete_join(0) receive_assignment(1)
    begin_rebalance() prepare_join(1) send_join(1) join_once_more(0) send_join(0)
    """
ALL_JOIN = "begin_rebalance() prepare_join(0) prepare_join(1) send_join(0) send_join(1) complete_join(1)"
BROKEN = (
    (
        Broken(
            "assigned_partition_has_one_consumer()",
            "sticky-assignor-and-a-late-consumer",
            "2.2",
            "remove_late_member(0) assign_sticky_partition(0) assign_sticky_partition(1)",
        ),
        "2.3",
    ),
    (
        Broken(
            "subscription_is_assigned()",
            "consumer-that-subscribes-again",
            "0.10.0",
            "ask_subscriber_to_join() join_with_subscription() answer_subscriber() subscribe_otherwise() "
            "assign_to_subscriber()",
        ),
        "0.11.0.0",
    ),
    (
        Broken(
            "consumer_outside_its_group_joins()",
            "consumer-that-subscribes-again",
            "2.4.1",
            "subscribe_otherwise() join_with_subscription() fail_subscriber()",
        ),
        "2.5.0",
    ),
    (
        Broken(
            "consumer_outside_its_group_joins()",
            "consumer-that-subscribes-again",
            "0.10.1",
            "ask_subscriber_to_join() join_with_subscription() answer_subscriber() fail_subscriber()",
            flags={"changes_ask_for_joins": True},
        ),
        "0.11.0.0",
    ),
    (
        Broken(
            "subscribed_topic_is_assigned()",
            "leader-that-subscribes-again",
            "2.4.1",
            "subscribe_to_another_topic() ask_for_metadata() prepare_leader_to_join() assign_with_metadata()",
        ),
        "2.5.1",
    ),
    (
        Broken(
            "restarted_consumer_joins()",
            "static-consumer-that-is-restarted",
            "2.7.0",
            "restart_static_member() slow_replicas_down() answer_static_member()",
        ),
        "2.8.2",
    ),
    (
        Broken(
            "other_topics_are_read()",
            "consumer-of-a-deleted-topic",
            "2.8.2",
            "delete_committed_topic() commit_topics() answer_commit_of_topics()",
        ),
        "3.2.0",
    ),
    (
        Broken(
            "commit_of_a_topic_is_kept()",
            "consumer-of-a-deleted-topic",
            "1.0",
            "forget_topics() commit_topics() answer_commit_of_topics()",
        ),
        "2.8.2",
    ),
    (
        Broken(
            "record_is_returned()",
            "consumer-that-polls",
            "2.3",
            "meet_an_error() poll_a_record()",
        ),
        "2.8.2",
    ),
    (
        Broken(
            "commit_finds_its_coordinator()",
            "consumer-that-commits-by-itself",
            "2.8.2",
            """
            commit_without_a_coordinator() answer_lookup() fetch_committed_offset() leave_coordinator()
            commit_without_a_coordinator()
            """,
        ),
        "3.4.0",
    ),
    (
        Broken(
            "commit_finds_its_coordinator()",
            "consumer-that-commits-by-itself",
            "1.0",
            "fetch_committed_offset() leave_coordinator() commit_without_a_coordinator()",
        ),
        "2.4.1",
    ),
    (
        Broken(
            "poll_waits_for_no_coordinator()",
            "consumer-that-commits-by-itself",
            "3.2.0",
            "poll_without_a_coordinator()",
        ),
        "3.4.0",
    ),
    (
        Broken(
            "poll_outlives_its_join()",
            "consumer-that-joins-again",
            "2.2",
            "begin_to_rejoin(0) change_subscription() answer_rejoin() finish_callback()",
        ),
        "2.3",
    ),
    (
        Broken(
            "poll_outlives_its_join()",
            "consumer-that-joins-again",
            "1.0",
            "begin_to_rejoin(0) answer_rejoin() wake_callback() finish_callback()",
            flags={"changed_subscriptions_join_again": True},
        ),
        "2.3",
    ),
    (
        Broken(
            "failed_lookup_is_repeated()",
            "consumer-that-seeks-its-coordinator",
            "2.4.1",
            "begin_lookup() fail_early() note_lookup() wait_for_a_lookup()",
        ),
        "2.8.2",
    ),
    (Broken("assignment_is_accepted()", "consumer-group-of-two-releases", "2.8.1", ALL_JOIN), "3.6.2"),
    (
        Broken(
            "partition_is_revoked_first()",
            "consumer-group-of-two-releases",
            "2.8.2",
            f"{ALL_JOIN} receive_assignment(1)",
        ),
        "3.6.2",
    ),
    (
        Broken(
            "group_has_no_leftover_member()",
            "consumer-that-joins-again",
            "2.8.0",
            "begin_to_rejoin(0) fail_join_for_now()",
        ),
        "2.8.2",
    ),
    (
        Broken(
            "same_subscription_is_known()",
            "consumer-that-joins-again",
            "2.4.1",
            "begin_to_rejoin(0) fail_join_for_now() send_join_again(1)",
        ),
        "2.8.2",
    ),
    (
        Broken(
            "callback_is_called_to_its_end()",
            "consumer-that-joins-again",
            "0.11.0.0",
            "begin_to_rejoin(0) answer_rejoin() wake_callback()",
        ),
        "2.3",
    ),
    (
        Broken(
            "commit_is_followed_by_the_join()",
            "consumer-that-joins-again",
            "3.2.0",
            "begin_to_rejoin(1) answer_commit_of_join()",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "partition_begins_at_its_commit()",
            "consumer-that-assigns-itself",
            "0.10.0",
            "begin_to_read() assign_by_hand() begin_to_read()",
        ),
        "0.10.1",
    ),
    (
        Broken(
            "settled_partition_has_one_consumer()",
            "consumer-group-cooperative",
            "2.8.0",
            f"""{REMOVED} prepare_join(1) send_join(1) complete_join(0) receive_assignment(0) receive_assignment(1)""",
        ),
        "2.8.2",
    ),
    (
        Broken(
            "partition_is_revoked_first()",
            "consumer-group-cooperative",
            "2.4.1",
            REMOVED,
        ),
        "3.9.0",
    ),
    (
        Broken(
            "assignment_is_accepted()",
            "consumer-group-cooperative",
            "2.8.1",
            f"{MISSED} complete_join(1)",
        ),
        "2.8.2",
    ),
    (
        Broken(
            "partition_is_revoked_first()",
            "consumer-group-cooperative",
            "2.8.2",
            f"{MISSED} complete_join(1) receive_assignment(1)",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "partition_is_kept_for_its_consumer()",
            "consumer-group-cooperative",
            "3.3.1",
            "end_session(1) prepare_join(0) send_join(0) complete_join(0) begin_rebalance() join_once_more(0)",
        ),
        "3.4.0",
    ),
    (
        Broken(
            "partition_is_revoked_first()",
            "consumer-group-cooperative-racks",
            "3.6.2",
            """
            change_rack(1) prepare_join(0) prepare_join(1) send_join(0) send_join(1) complete_join(1)
            receive_assignment(1)
            """,
        ),
        "3.9.0",
    ),
    (
        Broken(
            "processed_records_are_committed()",
            "consumer-that-revokes",
            "3.2.2",
            "commit_before_revocation() process_record() answer_last_commit()",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "join_is_completed()",
            "consumer-with-two-threads",
            "2.3",
            "leave_for_want_of_polls() join_with_another_id() leave_for_want_of_polls() finish_join()",
        ),
        "2.4.1",
    ),
    (
        Broken(
            "waiting_consumer_stays()",
            "consumer-that-waits",
            "1.0",
            2 * f"poll_for_an_answer() {5 * 'pass_second() '}",
        ),
        "1.0.2",
    ),
    (
        Broken(
            "waiting_consumer_stays()",
            "consumer-that-waits",
            "1.0.2",
            f"pass_second() poll_for_an_answer() {5 * 'pass_second() '}",
            bounds={"session_seconds": 6, "interval_seconds": 2},
        ),
        "3.9.0",
    ),
    (
        Broken(
            "other_topics_are_assigned()",
            "sticky-assignor-and-a-deleted-topic",
            "2.1.0",
            "delete_subscribed_topic() assign_subscribed_topics()",
        ),
        "2.3",
    ),
    (
        Broken(
            "topics_are_spread()",
            "sticky-assignor-and-two-topics",
            "3.6.2",
            "keep_owned_partition(0) keep_owned_partition(0)",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "every_consumer_has_a_partition()",
            "sticky-assignor-and-racks",
            "3.6.2",
            """
            give_next_partition(0) give_next_partition(1) give_next_partition(0) give_next_partition(1)
            go_on_without_racks() give_next_partition(2)
            """,
        ),
        "3.9.0",
    ),
    (
        Broken(
            "offset_in_zookeeper_is_found()",
            "consumer-group-in-zookeeper",
            "1.1.0",
            "commit_to_zookeeper() upgrade_zookeeper_broker() fetch_from_zookeeper()",
        ),
        "2.0",
    ),
    (
        Broken(
            "offsets_have_their_replicas()",
            "consumer-group-first-of-a-cluster",
            "0.10.2",
            "start_one() look_for_coordinator()",
        ),
        "0.11.0.0",
    ),
    (
        Broken(
            "offsets_have_their_configuration()",
            "consumer-group-first-of-a-cluster",
            "0.10.0",
            "start_one() look_for_coordinator()",
        ),
        "0.10.1",
    ),
    (
        Broken(
            "described_member_has_its_subscription()",
            "consumer-group-and-its-clients",
            "2.3",
            "change_members() describe_group()",
        ),
        "2.8.0",
    ),
    (
        Broken(
            "commit_can_be_sent_again()",
            "consumer-group-and-its-clients",
            "3.7.0",
            "commit_verified(0)",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "heartbeat_is_answered()",
            "consumer-group-leftover-timers",
            "2.3",
            "join_at_once() move_away() move_back() end_old_session() send_heartbeat()",
        ),
        "2.4.1",
    ),
    (
        Broken(
            "static_member_is_kept_for_its_session()",
            "consumer-group-changed-timeouts",
            "2.8.2",
            "stop_consumer() start_with_other_timeout(1) stop_consumer() pass_time() end_session()",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "static_member_goes_after_its_session()",
            "consumer-group-changed-timeouts",
            "2.8.2",
            """
            stop_consumer() pass_time() end_session() start_with_other_timeout(1) stop_consumer()
            start_with_other_timeout(0) stop_consumer() pass_time() pass_time()
            """,
        ),
        "3.9.0",
    ),
    (
        Broken(
            "group_with_an_offset_is_listed(0)",
            "consumer-group-removal",
            "0.10.0",
            f"{JOINED} commit(0,0) leave_group(0,0) complete_join(0) replicate(0)",
        ),
        "0.10.1",
    ),
    (
        Broken(
            "partition_is_consumed()",
            "consumer-group-reassigned-partition",
            "0.10.1",
            f"""
            {JOINED} reassign(1) handle_leader_and_isr(1,0) run_task(1,0) handle_stop_replica(0) replicate(1)
            replicate(1)
            """,
        ),
        "0.10.2",
    ),
    (
        Broken(
            "recreated_topic_has_no_offset(0)",
            "consumer-group-recreated-topic",
            "0.10.1",
            f"{COMMITTED} recreate_topic() handle_deleted_partitions(0) handle_deleted_partitions(1)",
        ),
        "0.10.2",
    ),
    (Broken("committed_offset_is_kept(1)", "consumer-group", "0.10.2", MOVED), "1.0"),
    (Broken("committed_offset_is_kept(1)", "consumer-group", "0.11.0.0", MOVED), "1.0"),
    (
        Broken(
            "committed_offset_is_kept(0)",
            "consumer-group-retention",
            "2.0",
            f"{COMMITTED} retention_passes() clean_up(0)",
        ),
        "2.3",
    ),
    (
        Broken(
            "young_offset_is_kept(1)",
            "consumer-group-retention-after-a-move",
            "2.1.0",
            f"""
            {JOINED} commit(0,0) leave_group(0,0) complete_join(0) elect(1,1) handle_leader_and_isr(1,0) run_task(1,0)
            clean_up(1)
            """,
            flags={"old_records": True},
        ),
        "2.3",
    ),
    (
        Broken(
            "offset_is_kept_from_empty_on(1)",
            "consumer-group-retention-after-a-move",
            "2.3",
            f"""
            {JOINED} commit(0,0) leave_group(0,0) retention_passes() complete_join(0) elect(1,1)
            handle_leader_and_isr(1,0) run_task(1,0) clean_up(1)
            """,
        ),
        "2.8.0",
    ),
    (
        Broken(
            "partition_is_consumed()",
            "consumer-group-compaction-there-and-back",
            "2.3",
            """
            start(0) join_group(0,0) complete_join(0) sync_group(0,0,0) clean(0,0) elect(1,0) handle_leader_and_isr(0,0)
            handle_leader_and_isr(1,0) run_task(0,0) run_task(1,0) elect(0,1) handle_leader_and_isr(0,0)
            handle_leader_and_isr(1,0) run_task(1,0)
            """,
        ),
        "2.8.0",
    ),
    (
        Broken(
            "rebalance_ends()",
            "consumer-group-stalled-member",
            "2.4.1",
            """
            start(0) start(1) join_group(0,0) crash(0) join_group(1,0) complete_join(0) sync_group(1,0,1)
            """,
            bounds={"pauses": 0, "consumer_stops": 1},
        ),
        "2.8.2",
    ),
    (
        Broken(
            "dead_member_is_removed(0)",
            "consumer-group-removal",
            "2.4.1",
            "start(0) join_group(0,0) crash(0) complete_join(0)",
        ),
        "2.8.0",
    ),
    (
        Broken(
            "committed_offset_is_kept(0)",
            "consumer-group-retention",
            "2.8.0",
            """
            start(0) start(1) join_group(0,0) complete_join(0) sync_group(0,0,0) replicate(0) commit(0,0)
            leave_group(0,0) complete_join(0) join_group(1,0) replicate(0) retention_passes() clean_up(0)
            """,
        ),
        "2.8.2",
    ),
    (
        Broken(
            "partition_is_consumed()",
            "consumer-group-static-member",
            "2.3",
            """
            start(0) join_group(0,0) crash(0) start(0) complete_join(0) join_group(0,0) sync_group(0,0,1) replicate(0)
            replicate(0)
            """,
        ),
        "2.8.0",
    ),
    (
        Broken(
            "settled_static_member_is_not_fenced(0)",
            "consumer-group-static-member",
            "2.3",
            f"""
            start(0) join_group(0,0) complete_join(0) sync_group(0,0,0) crash(0) start(0) join_group(0,0) replicate(0)
            sync_group(0,0,1) elect(1,1) {AWAY} heartbeat(0,1)
            """,
        ),
        "2.8.0",
    ),
    (
        Broken(
            "static_member_can_join(0)",
            "consumer-group-static-member",
            "2.3",
            """
            start(0) join_group(0,0) complete_join(0) sync_group(0,0,0) crash(0) elect(1,1) start(0)
            handle_leader_and_isr(1,0) run_task(1,0) join_group(0,1)
            """,
        ),
        "2.4.1",
    ),
    (
        Broken(
            "rebalance_ends()",
            "consumer-group-stalled-member",
            "2.8.0",
            """
            start(0) start(1) join_group(0,0) join_group(1,0) complete_join(0) sync_group(1,0,1) stall(0,1)
            """,
        ),
        "2.8.2",
    ),
    (Broken("partition_is_consumed()", "consumer-group-there-and-back", "2.8.0", f"{THERE} {AND_BACK}"), "2.8.2"),
    (
        Broken(
            "partition_is_consumed()",
            "consumer-group",
            "2.0",
            """
            start(0) start(1) join_group(0,0) join_group(1,0) complete_join(0) sync_group(0,0,0) replicate(0)
            replicate(0) elect(1,1) handle_leader_and_isr(0,0) handle_leader_and_isr(1,0) run_task(0,0)
            find_coordinator(0) find_coordinator(1)
            """,
            bounds={"large_group": 2},
        ),
        "2.1.0",
    ),
    (
        Broken(
            "short_isr_ends_no_consumer(0)",
            "consumer-group-short-of-replicas",
            "0.10.0",
            "start(0) join_group(0,0) complete_join(0) shrink_isr() sync_group(0,0,0)",
        ),
        "0.10.1",
    ),
    (
        Broken(
            "group_has_no_more_members_than_consumers(0)",
            "consumer-group-join-timeout",
            "2.1.0",
            "start(0) start(1) join_group(0,0) complete_join(0) join_group(1,0) give_up_join(1) join_group(1,0)",
        ),
        "2.3",
    ),
    (
        Broken(
            "group_stays_within_its_maximum(0)",
            "consumer-group-maximum-size",
            "2.4.1",
            "start(0) start(1) look_up_group(0,0) join_group(1,0) join_group(0,0) complete_join(0)",
        ),
        "2.8.0",
    ),
    (
        Broken(
            "group_keeps_its_maximum(0)",
            "consumer-group-over-its-maximum",
            "2.4.1",
            """
            elect(1,1) find_coordinator(0) handle_leader_and_isr(1,0) run_task(0,0) heartbeat(1,0) join_group(1,0)
            run_task(1,0) heartbeat(0,1) join_group(0,1)
            """,
        ),
        "2.8.0",
    ),
    (
        Broken(
            "rebalance_has_a_reason(0)",
            "consumer-group-late-expiration",
            "2.0",
            """
            start(0) start(1) join_group(0,0) complete_join(0) join_group(1,0) stall(0,0) complete_join(0)
            expire_removed_member(0,0)
            """,
        ),
        "2.1.0",
    ),
    (
        Broken(
            "rebalance_ends()",
            "consumer-group-old-leader",
            "2.8.2",
            "start(0) start(1) join_group(0,0) join_group(1,0) complete_join(0)",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "leader_knows_that_it_leads(0)",
            "consumer-group-static-member",
            "2.8.2",
            """
            start(0) join_group(0,0) complete_join(0) sync_group(0,0,0) crash(0) start(0) replicate(0) join_group(0,0)
            replicate(0) sync_group(0,0,1) replicate(0)
            """,
        ),
        "3.9.0",
    ),
    (
        Broken("lone_commit_is_accepted(0)", "consumer-group-without-members", "3.2.3", "start(0) commit_alone(0,0)"),
        "3.9.0",
    ),
    (
        Broken(
            "lone_commit_is_accepted(0)", "consumer-group-append-time", "0.10.2", "start(0) commit_by_append_time(0,0)"
        ),
        "0.11.0.0",
    ),
    (
        Broken(
            "offset_of_an_ended_transaction_is_known()",
            "consumer-group-of-consecutive-transactions",
            "3.9.0",
            "commit_next() append_next() end_next(1) commit_next() take_over()",
        ),
        "1.0",
    ),
    (
        Broken(
            "pending_offset_is_of_a_transaction()",
            "consumer-group-transactional-commit",
            "2.8.2",
            "commit_in_transaction(0,0) end_transaction(0,0) handle_transactional_commit(0)",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "heartbeats_keep_a_member(0)",
            "consumer-group-late-sync",
            "2.3",
            "start(0) join_group(0,0) complete_join(0) stall(0,1) expire_heartbeat(0,0)",
        ),
        "2.8.0",
    ),
    (
        Broken(
            "late_member_gets_no_partition(0)",
            "consumer-group-late-join",
            "2.3",
            "run_task(0,0) start(1) stall(0,1) join_group(1,0) complete_join(0) sync_group(1,0,0)",
        ),
        "2.8.0",
    ),
    (
        Broken(
            "member_that_answers_is_not_removed(0)",
            "consumer-group-without-rebalance-timeout",
            "2.3",
            "start(1) join_group(1,0) complete_join(0)",
        ),
        "2.4.1",
    ),
    (
        Broken(
            "moved_member_keeps_its_id(0)",
            "consumer-group-waiting-heartbeat",
            "2.1.0",
            "elect(1,1) wait_for_group(0,0) handle_leader_and_isr(0,0) run_task(0,0)",
        ),
        "2.3",
    ),
    (
        Broken(
            "replicated_append_is_answered(0)",
            "consumer-group-busy-lock",
            "2.3",
            "start(0) join_group(0,0) complete_join(0) sync_group(0,0,0) replicate_while_locked(0)",
        ),
        "2.8.0",
    ),
    (Broken("committed_offset_is_kept(0)", "consumer-group-downgrade", "2.8.2", "run_task(0,0)"), "3.9.0"),
    (
        Broken(
            "named_protocol_is_accepted(0)",
            "consumer-group-without-protocol",
            "0.11.0.0",
            "start(0) start(1) join_group(1,0) join_group(0,0)",
        ),
        "1.0",
    ),
    (
        Broken(
            "committed_offset_is_kept(0)",
            "consumer-group-retention-for-good",
            "0.10.1",
            "start(0) join_group(0,0) complete_join(0) sync_group(0,0,0) replicate(0) commit(0,0) replicate(0) "
            "clean_up(0)",
        ),
        "0.10.2",
    ),
    (
        Broken(
            "pending_commit_is_on_its_way(0)",
            "consumer-group-long-metadata",
            "2.8.2",
            f"{JOINED} commit_with_long_metadata(0,0) replicate(0)",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "requests_are_answered(0, 1)",
            "consumer-group-expiration-amid-a-commit",
            "0.10.1",
            "commit(0) clean_up(0) handle_fetch(1) find(1,0) check(1)",
        ),
        "0.10.2",
    ),
    (
        Broken(
            "requests_are_answered(0, 1)",
            "consumer-group-empty-amid-a-commit",
            "0.10.1",
            "commit(0) append_and_wait(0,0) handle_fetch(1) find(1,0) check(1)",
        ),
        "0.10.2",
    ),
    (
        Broken(
            "requests_are_answered(0, 1)",
            "consumer-groups-of-one-partition",
            "0.11.0.0",
            "commit(0) commit(1) append(0,0) append(1,1) find(0,1) find(1,0)",
        ),
        "1.0",
    ),
    (
        Broken(
            "requests_are_answered(0, 1)",
            "consumer-groups-of-ended-transactions",
            "1.0",
            """
               end_transaction(0) end_transaction(1) append(0,0) append(1,1) find(0,1) find(1,0) check(0) check(1)
               """,
        ),
        "2.0",
    ),
)
"""The shortest way to what each fix closes, in a release without it; and a release in which that way breaks nothing."""
NEVER_FIXED = (
    Broken(
        "committed_offset_is_the_last_record()",
        "consumer-group-commit-before-a-tombstone",
        "3.9.0",
        "choose_expired() commit_new() append_tombstone()",
    ),
    Broken(
        "committed_offset_outlives_a_cleaning()",
        "consumer-group-expiration-amid-a-transaction",
        "3.9.0",
        "commit_beside_an_old_one() expire_old_offset() end_with_a_commit() clean_offsets() load_offsets()",
    ),
    Broken(
        "deleted_group_stays_deleted(1)",
        "consumer-group-removal",
        "3.9.0",
        f"{CRASHED} delete_group(0) elect(1,0) handle_leader_and_isr(1,0) run_task(1,0)",
    ),
    Broken(
        "removed_group_stays_removed(1)",
        "consumer-group-removal",
        "3.9.0",
        f"{CRASHED} clean_up(0) elect(1,0) handle_leader_and_isr(1,0) run_task(1,0)",
    ),
    Broken(
        "group_is_never_listed_twice()",
        "consumer-group-removal",
        "3.9.0",
        """
           start(0) join_group(0,0) complete_join(0) sync_group(0,0,0) elect(1,1) handle_leader_and_isr(1,0)
           run_task(1,0)
           """,
    ),
    Broken(
        "recreated_topic_has_no_offset(1)",
        "consumer-group-recreated-topic",
        "3.9.0",
        f"""
           {COMMITTED} elect(1,1) handle_leader_and_isr(1,0) recreate_topic() handle_deleted_partitions(0)
           handle_deleted_partitions(1) run_task(1,0)
           """,
    ),
    Broken(  # a commit that is not cached yet has no tombstone
        "recreated_topic_has_no_offset(1)",
        "consumer-group-recreated-topic",
        "3.9.0",
        f"""
           {JOINED} commit(0,0) recreate_topic() handle_deleted_partitions(0) handle_deleted_partitions(1) elect(1,1)
           handle_leader_and_isr(1,0) run_task(1,0)
           """,
    ),
    Broken(  # nor has its incarnation: a late UpdateMetadata removes the offset of the new topic
        "committed_offset_is_kept(0)",
        "consumer-group-recreated-topic",
        "3.9.0",
        f"{JOINED} recreate_topic() commit(0,0) replicate(0) handle_deleted_partitions(0)",
    ),
    Broken(
        "static_member_is_not_fenced(0)",
        "consumer-group-static-member",
        "3.9.0",
        f"""
           start(0) join_group(0,0) complete_join(0) sync_group(0,0,0) crash(0) start(0) join_group(0,0)
           complete_join(0) elect(1,1) {AWAY} sync_group(0,1,1)
           """,
    ),
    Broken(
        "only_the_last_generation_commits()",
        "consumer-group-slow-unload",
        "3.9.0",
        """
           elect(1,1) start(1) handle_leader_and_isr(0,0) handle_leader_and_isr(1,0) run_task(1,0) join_group(1,1)
           complete_join(1) sync_group(1,1,1) replicate(1) elect(0,1) handle_leader_and_isr(0,0) commit(0,0)
           """,
    ),
    Broken(
        "committed_offset_is_kept(0)",
        "consumer-group-there-and-back",
        "3.9.0",
        """
           elect(1,1) start(0) handle_leader_and_isr(0,0) handle_leader_and_isr(1,0) run_task(1,0) join_group(0,1)
           complete_join(1) sync_group(0,1,0) replicate(1) commit(0,1) replicate(1) elect(0,1)
           handle_leader_and_isr(0,1) run_task(0,0) run_task(0,0)
           """,
    ),
)
"""The shortest way to what no release closes."""
SEARCHED = (
    ("consumer-group", "2.8.2"),
    ("consumer-group-busy-lock", "3.9.0"),
    ("consumer-group-compaction", "3.9.0"),
    ("consumer-group-compaction-there-and-back", "3.9.0"),
    ("consumer-group-downgrade", "3.9.0"),
    ("consumer-group-join-timeout", "3.9.0"),
    ("consumer-group-late-expiration", "3.9.0"),
    ("consumer-group-late-join", "3.9.0"),
    ("consumer-group-late-sync", "2.8.0"),
    ("consumer-group-long-metadata", "3.9.0"),
    ("consumer-group-retention-for-good", "3.9.0"),
    ("consumer-group-in-zookeeper", "3.9.0"),
    ("consumer-group-changed-timeouts", "3.9.0"),
    ("consumer-group-leftover-timers", "2.3"),
    ("consumer-group-first-of-a-cluster", "3.9.0"),
    ("consumer-group-and-its-clients", "3.9.0"),
    ("consumer-group-maximum-size", "3.9.0"),
    ("consumer-group-old-leader", "3.9.0"),
    ("consumer-group-over-its-maximum", "3.9.0"),
    ("consumer-group-recreated-topic", "3.9.0"),
    ("consumer-group-removal", "0.10.0"),
    ("consumer-group-removal", "3.9.0"),
    ("consumer-group-reassigned-partition", "2.8.2"),
    ("consumer-group-retention", "2.8.2"),
    ("consumer-group-short-of-replicas", "3.9.0"),
    ("consumer-group-retention-after-a-move", "2.8.2"),
    ("consumer-group-slow-unload", "3.9.0"),
    ("consumer-group-stalled-member", "2.8.2"),
    ("consumer-group-static-member", "3.9.0"),
    ("consumer-group-there-and-back", "3.9.0"),
    ("consumer-group-transactional-commit", "3.9.0"),
    ("consumer-group-of-consecutive-transactions", "1.0"),
    ("consumer-group-commit-before-a-tombstone", "0.10.0"),
    ("consumer-group-expiration-amid-a-transaction", "3.9.0"),
    ("consumer-group-waiting-heartbeat", "3.9.0"),
    ("consumer-group-without-members", "3.9.0"),
    ("consumer-group-append-time", "3.9.0"),
    ("consumer-group-without-rebalance-timeout", "3.9.0"),
    ("consumer-group-expiration-amid-a-commit", "3.9.0"),
    ("consumer-group-empty-amid-a-commit", "3.9.0"),
    ("consumer-groups-of-one-partition", "3.9.0"),
    ("consumer-groups-of-ended-transactions", "3.9.0"),
    ("consumer-group-cooperative", "2.8.2"),
    ("consumer-that-revokes", "3.9.0"),
    ("consumer-with-two-threads", "2.8.2"),
    ("consumer-that-waits", "3.9.0"),
    ("sticky-assignor-and-a-deleted-topic", "3.9.0"),
    ("sticky-assignor-and-two-topics", "3.9.0"),
    ("sticky-assignor-and-racks", "3.9.0"),
)
"""Stories and releases of which every state is searched."""


@pytest.mark.parametrize(("broken", "later"), BROKEN, ids=[f"{b.invariant}-{b.variant}" for b, _ in BROKEN])
def test_what_a_release_breaks_a_later_one_does_not(broken, later):
    assert is_broken_at_the_end(broken, STORIES[broken.story], broken.variant)
    assert not any(judged(broken, STORIES[broken.story], later))


@pytest.mark.parametrize("broken", NEVER_FIXED, ids=lambda broken: broken.invariant)
def test_what_no_release_fixes_is_broken_by_the_last_step_of_a_behaviour(broken):
    assert is_broken_at_the_end(broken, STORIES[broken.story], broken.variant)


def test_every_property_that_a_story_breaks_says_what_users_and_operators_see():
    properties = {prop for scenario in GROUP_SCENARIOS for prop in scenario.properties}
    for prop in properties - {prop for prop in properties if prop.kind is Kind.REACHABLE}:
        assert prop.about and prop.symptom and prop.log


def state_after(name: str, variant: str, steps: str, **bounds: int) -> GroupCluster:
    model = Model(STORIES[name], variant, bounds)
    return model.state(run(model, model.initial[0], [key.replace(",", ", ") for key in steps.split()])[-1])


def test_a_group_is_created_by_the_first_join_and_is_in_the_log_when_its_leader_has_synced():
    cluster = state_after("consumer-group", "0.10.0", "start(0) join_group(0,0)")
    assert cluster.coordinators[0].group.state is GroupState.PREPARING_REBALANCE
    assert cluster.partition.log.is_empty
    cluster = state_after("consumer-group", "0.10.0", JOINED)
    assert (cluster.coordinators[0].group.state, cluster.coordinators[0].group.generation) == (GroupState.STABLE, 1)
    assert [(record.generation, record.is_tombstone) for record in cluster.partition.log] == [(1, False)]


@pytest.mark.parametrize(
    ("variant", "state", "tombstones"),
    [("0.10.0", GroupState.DEAD, [False, True]), ("0.10.1", GroupState.EMPTY, [False, False])],
)
def test_a_group_that_loses_its_last_member_is_removed_in_0_10_0_and_becomes_empty_later(variant, state, tombstones):
    cluster = state_after("consumer-group-removal", variant, f"{JOINED} leave_group(0,0) complete_join(0)")
    assert cluster.coordinators[0].group.state is state
    assert [record.is_tombstone for record in cluster.partition.log] == tombstones


def test_a_consumer_of_another_protocol_is_refused():
    steps = f"{JOINED} start(1) join_group(1,0)"
    cluster = state_after("consumer-group", "3.9.0", steps, other_protocols=1)
    assert cluster.consumers[1].status is ConsumerStatus.REFUSED
    assert cluster.coordinators[0].group.state is GroupState.STABLE


def test_a_member_that_a_load_took_for_static_stays_until_its_session_ends_as_its_heartbeats_are_refused():
    steps = "run_task(0,0) start(1) join_group(1,0) stall(0,1) complete_join(0)"
    cluster = state_after("consumer-group-late-join", "2.4.1", steps)
    assert (cluster.coordinators[0].group.members, cluster.coordinators[0].group.leader) == ({0, 1}, 1)
    cluster = state_after("consumer-group-late-join", "2.4.1", f"{steps} expire_heartbeat(0,0)")
    assert cluster.coordinators[0].group.members == {1}
    assert state_after("consumer-group-late-join", "2.8.2", steps).coordinators[0].group.members == {1}


def test_a_coordinator_waits_for_members_that_a_load_took_for_static_if_none_has_joined():
    joined = "run_task(0,0) start(1) stall(0,1) join_group(1,0) complete_join(0) sync_group(1,0,1) replicate(0)"
    model = Model(STORIES["consumer-group-late-join"], "2.4.1", {"consumer_stops": 1})
    steps = [key.replace(",", ", ") for key in f"{joined} leave_group(1,0)".split()]
    state = run(model, model.initial[0], steps)[-1]
    assert model.state(state).coordinators[0].group.state is GroupState.PREPARING_REBALANCE
    assert model.attempt(model.instance("complete_join(0)"), state).after is None
    assert model.attempt(model.instance("expire_heartbeat(0, 0)"), state).after is not None


def test_a_version_flag_is_on_from_the_release_that_brought_it():
    since = {name: [release for release in RELEASES if VARIANTS[release][name]] for name in VARIANTS["2.8.2"]}
    assert since["load_whole_log"] == [release for release in RELEASES if release != "0.11.0.0"]
    for name in ("expire_stable_only", "coordinator_epoch", "pending_sync_expires"):
        assert since[name] == ["2.8.2", "3.9.0"]
    assert set(RELEASES) - set(since["delete_groups"]) == {"0.10.0", "0.10.1", "0.10.2", "0.11.0.0", "1.0"}
    assert set(RELEASES) - set(since["empty_groups_stay"]) == {"0.10.0"}
    assert since["loaded_members_are_static"] == ["2.3", "2.4.1"]
    assert set(RELEASES) - set(since["old_consumers_get_their_session"]) == {"2.3"}
    assert since["stale_cache_is_fenced"] == since["removal_waits"] == []


def test_every_version_flag_has_a_fix():
    assert {fix.flag.name for fix in FIXES} == VARIANTS["2.8.2"].keys()


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    ("variant", "broken"),
    [("0.10.1", {"recreated_topic_has_no_offset"}), ("0.10.2", {"committed_offset_is_kept"})],
)
def test_while_the_coordinator_stays_the_offsets_of_a_deleted_topic_go_since_0_10_2(variant, broken):
    model = Model(STORIES["consumer-group-recreated-topic"], variant, {"moves": 0})
    verdict = exhaust(model, keep_going=True)
    assert (verdict.strength, outcome_of(verdict)) == (Strength.EXHAUSTIVE, pinned(model))
    assert shortest(verdict).keys() == broken


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("consumer-group-removal", {"group_is_never_listed_twice"}),
        ("consumer-group-slow-unload", set()),
        ("consumer-group-static-member", {"static_member_is_not_fenced"}),
        ("consumer-group-there-and-back", set()),
        ("consumer-group-recreated-topic", {"committed_offset_is_kept", "recreated_topic_has_no_offset"}),
    ],
)
def test_with_all_fixes_only_what_has_none_is_broken(name, broken):
    """A list asks one broker after another; a static id is stored late; a load does not know which topics are gone."""
    verdict = exhaust(Model(STORIES[name], "3.9.0", flags={fix.flag.name: fix.on for fix in FIXES}), keep_going=True)
    assert verdict.strength is Strength.EXHAUSTIVE
    assert shortest(verdict).keys() == broken


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "variant"), SEARCHED)
def test_a_search_of_all_states_finds_what_is_broken_and_nothing_else(name, variant):
    model = Model(STORIES[name], variant)
    verdict = exhaust(model, keep_going=True)
    assert (verdict.strength, outcome_of(verdict)) == (Strength.EXHAUSTIVE, pinned(model))
    tested = {key.partition("(")[0] for key, count in verdict.premises.items() if count}
    untested = {key.partition("(")[0] for key in verdict.premises} - tested  # of two threads one order is enough
    later = {
        "deleted_group_stays_deleted": "delete_groups",
        "deletion_removes_the_group": "delete_groups",
        "removed_offset_has_a_tombstone": "delete_groups",
        "offset_belongs_to_a_group": "empty_groups_stay",
    }
    assert untested <= {prop for prop, flag in later.items() if not VARIANTS[variant][flag]}


@pytest.mark.parametrize("name", ["consumer-group-cooperative", "consumer-group-cooperative-racks"])
def test_in_3_9_0_members_keep_their_partitions_without_a_defect(name):
    model = Model(STORIES[name], "3.9.0")
    verdict = exhaust(model, keep_going=True)
    assert (verdict.strength, outcome_of(verdict), shortest(verdict)) == (Strength.EXHAUSTIVE, pinned(model), {})
