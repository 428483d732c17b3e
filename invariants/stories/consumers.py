"""Stories about consumers of a group: their coordinators' halves, their threads and their assignors."""

from __future__ import annotations

from kwalk.invariants import consumer_coordinators as members
from kwalk.invariants import heartbeat_threads as threads
from kwalk.invariants import reading_consumers as reading
from kwalk.invariants import rejoining_consumers as rejoining
from kwalk.invariants import sticky_assignors as assignors
from kwalk.model.kafka.groups import (
    abstract_coordinator,
    consumer_coordinator,
    heartbeat_thread,
    sticky_assignor,
    subscription_state,
    versions,
)
from kwalk.model.kafka.groups.consumer_coordinator import CooperativeGroup, RevokedPartition
from kwalk.model.language import Scenario, default_bounds

COOPERATIVE_RELEASES = ("2.8.2", "2.4.1", "2.8.0", "2.8.1", "3.3.1", "3.4.0", "3.6.2", "3.9.0")
COOPERATIVE = Scenario(
    name="consumer-group-cooperative",
    story="Consumers with the cooperative sticky assignor are late in a rebalance.",
    state=CooperativeGroup,
    actions=(
        consumer_coordinator.begin_rebalance,
        consumer_coordinator.end_session,
        consumer_coordinator.prepare_join,
        consumer_coordinator.learn_of_removal,
        consumer_coordinator.send_join,
        consumer_coordinator.complete_join,
        consumer_coordinator.receive_assignment,
        consumer_coordinator.join_once_more,
    ),
    initial=consumer_coordinator.first_owns_the_partition,
    properties=(
        members.settled_partition_has_one_consumer,
        members.assignment_is_accepted,
        members.partition_is_revoked_first,
        members.partition_is_kept_for_its_consumer,
        members.last_consumer_keeps_its_partition,
        members.assignment_heeds_claims,
        members.id_goes_with_the_place,
        members.generation_begins_with_its_members,
        members.rebalance_has_a_cause,
        members.waiting_member_stays,
        members.assignment_is_of_the_generation,
        members.member_joins_in_turn,
        members.removed_member_joins_with_its_partition,
        members.partition_goes_to_another_member,
    ),
    bounds=default_bounds(consumer_coordinator) | {"consumers": 2, "generations": 4, "ended_sessions": 1},
    variants={release: versions.FLAGS.variant_of(release) for release in COOPERATIVE_RELEASES},
    source="ConsumerCoordinator, AbstractStickyAssignor (KIP-429); KAFKA-12983, KAFKA-12984, KAFKA-13406, KAFKA-14639",
)
COOPERATIVE_RACKS = COOPERATIVE.varied(
    name="consumer-group-cooperative-racks",
    story="The replicas of a partition move to the rack of another consumer.",
    actions=(consumer_coordinator.change_rack, *COOPERATIVE.actions),
    bounds={**COOPERATIVE.bounds, "rack_changes": 1},
    variants={release: COOPERATIVE.variants[release] for release in ("3.6.2", "3.9.0")},
    source="ConstrainedAssignmentBuilder (KIP-881); KAFKA-15170",
)
TWO_RELEASES = COOPERATIVE.varied(
    name="consumer-group-of-two-releases",
    story="Consumers are upgraded one after another: the leader of their group is, and another one is not yet.",
    bounds={**COOPERATIVE.bounds, "older_members": 1},
    variants={release: COOPERATIVE.variants[release] for release in ("2.8.2", "2.8.1", "3.4.0", "3.6.2", "3.9.0")},
    source="CooperativeStickyAssignor.memberData",
)
REVOKING_CONSUMER = Scenario(
    name="consumer-that-revokes",
    story="A consumer with `enable.auto.commit` revokes its partition before it joins again.",
    state=RevokedPartition,
    actions=(
        consumer_coordinator.process_record,
        consumer_coordinator.commit_before_revocation,
        consumer_coordinator.answer_last_commit,
    ),
    properties=(
        members.processed_records_are_committed,
        members.revocation_follows_a_commit,
        members.record_follows_a_record,
    ),
    bounds={"processed": 2},
    variants={r: versions.FLAGS.variant_of(r) for r in ("2.8.2", "3.2.2", "3.9.0")},
    source="ConsumerCoordinator.onJoinPrepare; KAFKA-14196",
)
TWO_THREADS = Scenario(
    name="consumer-with-two-threads",
    story="A consumer joins its group again, and its heartbeat thread is late.",
    state=heartbeat_thread.JoiningConsumer,
    actions=(
        heartbeat_thread.remove_silent_member,
        heartbeat_thread.handle_error,
        heartbeat_thread.leave_for_want_of_polls,
        heartbeat_thread.join_with_a_lost_id,
        heartbeat_thread.join_with_another_id,
        heartbeat_thread.finish_join,
    ),
    initial=heartbeat_thread.has_the_first_id,
    properties=(
        threads.join_is_completed,
        threads.member_keeps_its_place,
        threads.id_is_the_last_one,
        threads.join_ends_in_turn,
        threads.consumer_in_the_group_has_an_id,
        threads.member_is_removed_or_leaves,
        threads.consumer_joins_again,
        threads.consumer_leaves_amid_its_join,
    ),
    bounds={"given_ids": 3},
    variants={r: versions.VARIANTS[r] for r in ("2.8.2", "1.0", "2.3", "2.4.1", "3.9.0")},
    source="AbstractCoordinator.HeartbeatThread; KAFKA-8104",
)
SEEKING_CONSUMER = Scenario(
    name="consumer-that-seeks-its-coordinator",
    story="A consumer asks for its coordinator, and connections end.",
    state=heartbeat_thread.SoughtCoordinator,
    actions=(
        heartbeat_thread.begin_lookup,
        heartbeat_thread.fail_early,
        heartbeat_thread.note_lookup,
        heartbeat_thread.end_lookup,
        heartbeat_thread.wait_for_a_lookup,
        heartbeat_thread.lose_coordinator,
    ),
    properties=(
        threads.failed_lookup_is_repeated,
        threads.coordinator_is_found_by_a_lookup,
        threads.lookup_is_noted_as_it_is,
        threads.early_failure_is_of_a_request,
        threads.lookup_fails_early,
        threads.coordinator_is_known,
    ),
    variants={r: versions.FLAGS.variant_of(r) for r in ("2.8.2", "1.0", "2.4.1", "2.7.0", "3.9.0")},
    source="AbstractCoordinator.lookupCoordinator; KAFKA-10793",
)
WAITING_CONSUMER = Scenario(
    name="consumer-that-waits",
    story="The application of a consumer waits for an answer of a slow broker.",
    state=heartbeat_thread.WaitingConsumer,
    actions=(
        heartbeat_thread.poll_for_an_answer,
        heartbeat_thread.send_heartbeat_in_turn,
        heartbeat_thread.pass_second,
    ),
    properties=(
        threads.waiting_consumer_stays,
        threads.seconds_pass_one_by_one,
        threads.poll_begins_alone,
        threads.heartbeat_waits_for_a_poll,
    ),
    bounds={"session_seconds": 10, "interval_seconds": 3},
    variants={r: versions.FLAGS.variant_of(r) for r in ("2.8.2", "0.10.1", "1.0", "1.0.2", "3.9.0")},
    source="ConsumerNetworkClient.poll; KAFKA-5212, KAFKA-6593",
)
DELETED_TOPIC = Scenario(
    name="sticky-assignor-and-a-deleted-topic",
    story="A topic is deleted to which members of a group subscribe.",
    state=sticky_assignor.DeletedSubscription,
    actions=(sticky_assignor.delete_subscribed_topic, sticky_assignor.assign_subscribed_topics),
    properties=(
        assignors.other_topics_are_assigned,
        assignors.deleted_topic_is_not_assigned,
        assignors.existing_topic_is_assigned,
    ),
    variants={r: versions.VARIANTS[r] for r in ("2.8.2", "0.11.0.0", "2.1.0", "2.3", "3.9.0")},
    source="StickyAssignor.assign; KAFKA-7962",
)
TWO_TOPICS = Scenario(
    name="sticky-assignor-and-two-topics",
    story="A second consumer joins a group that consumes two topics.",
    state=sticky_assignor.SpreadPartitions,
    actions=(sticky_assignor.keep_owned_partition,),
    properties=(assignors.topics_are_spread, assignors.consumer_keeps_its_share),
    variants={r: COOPERATIVE.variants[r] for r in ("2.8.2", "3.6.2", "3.9.0")},
    source="AbstractStickyAssignor; KAFKA-16277",
)
RACKS = Scenario(
    name="sticky-assignor-and-racks",
    story="Four consumers, of which two are in a rack without replicas, get five partitions.",
    state=sticky_assignor.RackPlaces,
    actions=(sticky_assignor.give_next_partition, sticky_assignor.go_on_without_racks),
    initial=sticky_assignor.begins_with_all_partitions,
    properties=(
        assignors.every_consumer_has_a_partition,
        assignors.every_partition_has_a_consumer,
        assignors.partition_goes_to_one_consumer,
        assignors.consumers_without_a_partition_come_first,
        assignors.partitions_are_counted,
        assignors.consumer_outside_gets_a_partition,
    ),
    bounds={"consumers": 4},
    variants={r: COOPERATIVE.variants[r] for r in ("3.6.2", "3.9.0")},
    source="ConstrainedAssignmentBuilder.assignRackAwareRoundRobin (KIP-881); KAFKA-15170",
)
REJOINING_CONSUMER = Scenario(
    name="consumer-that-joins-again",
    story="A consumer joins its group again; its connection may end, and its callback may be woken.",
    state=abstract_coordinator.RejoiningConsumer,
    actions=(
        abstract_coordinator.begin_to_rejoin,
        abstract_coordinator.answer_commit_of_join,
        abstract_coordinator.fail_join_for_now,
        abstract_coordinator.send_join_again,
        abstract_coordinator.answer_rejoin,
        abstract_coordinator.change_subscription,
        abstract_coordinator.finish_callback,
        abstract_coordinator.wake_callback,
        abstract_coordinator.remove_leftover,
    ),
    properties=(
        rejoining.group_has_no_leftover_member,
        rejoining.same_subscription_is_known,
        rejoining.callback_is_called_to_its_end,
        rejoining.commit_is_followed_by_the_join,
        rejoining.poll_outlives_its_join,
        rejoining.woken_callback_waits,
        rejoining.marks_are_of_the_join,
        rejoining.rejoin_goes_in_turn,
        rejoining.subscription_changes_amid_a_join,
        rejoining.join_waits_for_a_commit,
        rejoining.join_is_sent_again,
    ),
    variants={
        r: versions.FLAGS.variant_of(r)
        for r in ("2.8.2", "0.11.0.0", "1.0", "2.2", "2.3", "2.4.1", "2.8.0", "3.2.0", "3.9.0")
    },
    source="AbstractCoordinator.joinGroupIfNeeded; KAFKA-5611, KAFKA-12898, KAFKA-13214, KAFKA-14024",
)
CONSUMER_BY_HAND = Scenario(
    name="consumer-that-assigns-itself",
    story="A consumer assigns one partition after another to itself.",
    state=abstract_coordinator.AssignedByHand,
    actions=(abstract_coordinator.assign_by_hand, abstract_coordinator.begin_to_read),
    properties=(
        rejoining.partition_begins_at_its_commit,
        rejoining.position_follows_an_assignment,
        rejoining.partition_has_a_position,
    ),
    variants={r: versions.FLAGS.variant_of(r) for r in ("2.8.2", "0.10.0", "0.10.1", "3.9.0")},
    source="SubscriptionState.assignFromUser; KAFKA-3960",
)
COMMITS_BY_HAND = Scenario(
    name="consumer-that-commits-by-itself",
    story="A consumer that assigns partitions to itself commits, and its coordinator moves.",
    state=abstract_coordinator.CommitsByHand,
    actions=(
        abstract_coordinator.fetch_committed_offset,
        abstract_coordinator.leave_coordinator,
        abstract_coordinator.commit_without_a_coordinator,
        abstract_coordinator.poll_without_a_coordinator,
        abstract_coordinator.answer_lookup,
    ),
    properties=(
        rejoining.commit_finds_its_coordinator,
        rejoining.coordinator_is_named,
        rejoining.poll_waits_for_no_coordinator,
        rejoining.poll_ends_with_its_coordinator,
        rejoining.coordinator_is_sought,
    ),
    variants={r: versions.FLAGS.variant_of(r) for r in ("2.8.2", "1.0", "2.4.1", "3.0.2", "3.2.0", "3.4.0", "3.9.0")},
    source="ConsumerCoordinator.commitOffsetsAsync; KAFKA-6362, KAFKA-13563",
)
LATE_CONSUMER = Scenario(
    name="sticky-assignor-and-a-late-consumer",
    story="A consumer is removed from its group, and comes back after another one has had its partition.",
    state=sticky_assignor.StickyGroup,
    actions=(sticky_assignor.remove_late_member, sticky_assignor.assign_sticky_partition),
    initial=sticky_assignor.first_has_the_partition,
    properties=(
        assignors.assigned_partition_has_one_consumer,
        assignors.assigned_partition_has_a_consumer,
        assignors.claim_is_of_its_assignment,
        assignors.partition_is_kept_by_its_last_consumer,
        assignors.late_consumer_is_back,
    ),
    bounds={"consumers": 2, "generations": 4},
    variants={r: versions.FLAGS.variant_of(r) for r in ("2.8.2", "0.11.0.0", "2.2", "2.3", "3.9.0")},
    source="StickyAssignor.prepopulateCurrentAssignments (KIP-341); KAFKA-7026",
)
SUBSCRIBING_CONSUMER = Scenario(
    name="consumer-that-subscribes-again",
    story="A consumer subscribes to other topics, and joins its group again; its connection may end.",
    state=subscription_state.SubscribedConsumer,
    actions=(
        subscription_state.subscribe_otherwise,
        subscription_state.ask_subscriber_to_join,
        subscription_state.join_with_subscription,
        subscription_state.answer_subscriber,
        subscription_state.assign_to_subscriber,
        subscription_state.fail_subscriber,
    ),
    properties=(
        reading.subscription_is_assigned,
        reading.consumer_outside_its_group_joins,
        reading.subscriber_joins_in_turn,
        reading.join_has_the_subscription,
        reading.join_has_a_cause,
        reading.join_is_asked_for_in_turn,
        reading.subscription_changes_alone,
        reading.subscription_changes_before_the_sync,
        reading.member_is_asked_to_join,
    ),
    variants={
        r: versions.FLAGS.variant_of(r) for r in ("2.8.2", "0.10.0", "0.10.1", "0.11.0.0", "2.4.1", "2.5.0", "3.9.0")
    },
    source="ConsumerCoordinator.rejoinNeededOrPending; KAFKA-3949, KAFKA-5154, KAFKA-9815",
)
SUBSCRIBING_LEADER = Scenario(
    name="leader-that-subscribes-again",
    story="The leader of a group subscribes to another topic.",
    state=subscription_state.SubscribedLeader,
    actions=(
        subscription_state.subscribe_to_another_topic,
        subscription_state.ask_for_metadata,
        subscription_state.prepare_leader_to_join,
        subscription_state.assign_with_metadata,
    ),
    properties=(
        reading.subscribed_topic_is_assigned,
        reading.leader_assigns_in_turn,
        reading.leader_asks_as_it_joins,
    ),
    variants={r: versions.FLAGS.variant_of(r) for r in ("2.8.2", "2.4.1", "2.5.1", "3.9.0")},
    source="SubscriptionState.metadataTopics; KAFKA-10056",
)
RESTARTED_MEMBER = Scenario(
    name="static-consumer-that-is-restarted",
    story="A consumer with a group.instance.id is restarted; replicas of its group's partition are slow.",
    state=abstract_coordinator.RestartedStaticMember,
    actions=(
        abstract_coordinator.restart_static_member,
        abstract_coordinator.slow_replicas_down,
        abstract_coordinator.answer_static_member,
    ),
    properties=(
        reading.restarted_consumer_joins,
        reading.static_member_is_answered,
        reading.static_member_joins_beside_slow_replicas,
    ),
    variants={r: versions.FLAGS.variant_of(r) for r in ("2.8.2", "2.7.0", "3.9.0")},
    source="GroupCoordinator.updateStaticMemberAndRebalance; KAFKA-10870",
)
DELETED_COMMIT = Scenario(
    name="consumer-of-a-deleted-topic",
    story="A consumer with enable.auto.commit joins again; a topic of it is deleted, or its coordinator is restarted.",
    state=subscription_state.CommitOfATopic,
    actions=(
        subscription_state.delete_committed_topic,
        subscription_state.forget_topics,
        subscription_state.learn_of_topics,
        subscription_state.commit_topics,
        subscription_state.answer_commit_of_topics,
    ),
    properties=(
        reading.other_topics_are_read,
        reading.commit_of_a_topic_is_kept,
        reading.commit_goes_in_turn,
        reading.known_topic_exists,
        reading.commit_meets_a_broker_that_knows_no_topic,
        reading.commit_is_of_a_deleted_topic,
    ),
    variants={r: versions.FLAGS.variant_of(r) for r in ("2.8.2", "1.0", "3.2.0", "3.9.0")},
    source="ConsumerCoordinator.onJoinPrepare, OffsetCommitResponseHandler; KAFKA-6829, KAFKA-13310",
)
POLLING = Scenario(
    name="consumer-that-polls",
    story="A consumer polls, while errors come.",
    state=subscription_state.PollingConsumer,
    actions=(subscription_state.meet_an_error, subscription_state.poll_a_record),
    properties=(reading.record_is_returned, reading.poll_goes_in_turn, reading.record_is_read_after_an_error),
    bounds={"read_records": 2},
    variants={r: versions.FLAGS.variant_of(r) for r in ("2.8.2", "2.3", "3.9.0")},
    source="KafkaConsumer.poll; KAFKA-8677",
)

SCENARIOS = (
    COOPERATIVE,
    COOPERATIVE_RACKS,
    TWO_RELEASES,
    REVOKING_CONSUMER,
    TWO_THREADS,
    SEEKING_CONSUMER,
    WAITING_CONSUMER,
    DELETED_TOPIC,
    TWO_TOPICS,
    RACKS,
    REJOINING_CONSUMER,
    CONSUMER_BY_HAND,
    COMMITS_BY_HAND,
    LATE_CONSUMER,
    SUBSCRIBING_CONSUMER,
    SUBSCRIBING_LEADER,
    RESTARTED_MEMBER,
    DELETED_COMMIT,
    POLLING,
)
