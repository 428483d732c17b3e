"""Stories about what brokers answer, and about parts of a broker that have few steps."""

from __future__ import annotations

from kwalk.invariants import controller_channel as channels
from kwalk.invariants import feature_listener as features
from kwalk.invariants import fetch_epochs as epochs
from kwalk.invariants import fetch_quotas as quotas
from kwalk.invariants import fetcher_pool as pools
from kwalk.invariants import partition_answers as answers
from kwalk.invariants import producer_expiration as expirations
from kwalk.invariants import quota_locks as quota_threads
from kwalk.invariants import server_start as starts
from kwalk.invariants import session_cache as sessions
from kwalk.invariants import topic_requests as requests
from kwalk.invariants import transaction_verification as verifications
from kwalk.invariants import watched_fetch as watched
from kwalk.invariants import written_by_tools as tools
from kwalk.model.kafka.server import (
    controller_channel,
    feature_listener,
    fetch_epochs,
    fetch_quotas,
    fetcher_pool,
    partition_answers,
    producer_expiration,
    quota_locks,
    server_start,
    session_cache,
    topic_requests,
    transaction_verification,
    versions,
    watched_fetch,
    written_by_tools,
)
from kwalk.model.kafka.server.controller_channel import ControllerChannel
from kwalk.model.kafka.server.feature_listener import FeatureListener
from kwalk.model.kafka.server.fetch_epochs import EpochOfFetches
from kwalk.model.kafka.server.fetch_quotas import ConsumerQuota, FollowerQuota
from kwalk.model.kafka.server.fetcher_pool import FetcherPool
from kwalk.model.kafka.server.partition_answers import AskedBroker
from kwalk.model.kafka.server.producer_expiration import ExpirationSetting
from kwalk.model.kafka.server.quota_locks import QuotaLocks
from kwalk.model.kafka.server.server_start import StartingServer
from kwalk.model.kafka.server.session_cache import SessionCache
from kwalk.model.kafka.server.topic_requests import RequestedTopic
from kwalk.model.kafka.server.transaction_verification import FencedTransaction, NextTransaction, VerifiedAppend
from kwalk.model.kafka.server.watched_fetch import WatchedFetch
from kwalk.model.kafka.server.written_by_tools import ToolsAndController
from kwalk.model.language import Scenario, actions_of

PARTITION_AND_ITS_CLIENTS = Scenario(
    name="partition-and-its-clients",
    story="Clients ask a broker about a partition, which it leads or does not, while the leader moves or ends.",
    state=AskedBroker,
    actions=actions_of(partition_answers),
    properties=(
        answers.existing_topic_is_known,
        answers.consumer_is_sent_on,
        answers.marker_is_asked_for_again,
        answers.compression_is_of_the_topic,
        answers.lost_leader_is_no_lost_listener,
        answers.metadata_has_the_isr,
        answers.metadata_has_replicas_in_order,
        answers.fetch_has_the_stable_offset,
        answers.answers_are_of_the_leader,
        answers.metadata_has_the_leader,
        answers.question_changes_nothing,
        answers.partition_changes_by_one_thing,
        answers.follower_is_asked,
        answers.unknown_topic_is_asked_for,
        answers.wide_partition_is_without_a_leader,
    ),
    variants=versions.ANSWER_VARIANTS,
    source="KafkaApis, ReplicaManager, MetadataCache; KAFKA-5610, KAFKA-6796, KAFKA-10223",
)

REQUESTS_ABOUT_A_TOPIC = Scenario(
    name="requests-about-a-topic",
    story="Clients create a topic, set values of its configuration, and delete it; brokers start again.",
    state=RequestedTopic,
    actions=actions_of(topic_requests),
    properties=(
        requests.accepted_value_can_be_read,
        requests.accepted_value_lets_records_in,
        requests.partitions_are_numbered_from_zero,
        requests.creation_that_fails_says_why,
        requests.list_can_be_appended_to,
        requests.null_is_refused,
        requests.absent_topic_is_not_altered,
        requests.absent_topic_has_no_values,
        requests.disabled_deletion_is_refused,
        requests.refused_request_changes_nothing,
        requests.requests_fit_the_topic,
        requests.value_is_refused,
        requests.known_value_is_accepted,
        requests.topic_is_described,
    ),
    variants=versions.VARIANTS,
    source="AdminManager, LogConfig; KAFKA-6973, KAFKA-7409, KAFKA-7864",
)
THROTTLED_FOLLOWER = Scenario(
    name="fetch-of-a-throttled-follower",
    story="A follower fetches from a partition whose replicas are throttled, while others exceed the quota.",
    state=FollowerQuota,
    actions=(
        fetch_quotas.exceed_quota,
        fetch_quotas.fall_below_quota,
        fetch_quotas.change_isr,
        fetch_quotas.begin_to_wait,
        fetch_quotas.produce_for_follower,
        fetch_quotas.complete_fetch,
    ),
    properties=(
        quotas.follower_in_sync_is_answered,
        quotas.laggard_is_throttled,
        quotas.follower_changes_by_one_thing,
        quotas.laggard_is_answered_below_the_quota,
        quotas.laggard_waits,
        quotas.follower_is_in_sync_again,
    ),
    variants=versions.VARIANTS,
    source="DelayedFetch.tryComplete; KAFKA-6937",
)
CONSUMER_UNDER_A_QUOTA = Scenario(
    name="consumer-under-a-quota",
    story="A consumer fetches more at once than its quota allows in its window of time.",
    state=ConsumerQuota,
    actions=(fetch_quotas.produce_for_consumer, fetch_quotas.fetch_under_quota),
    properties=(
        quotas.consumer_gets_on,
        quotas.fetch_is_within_the_window,
        quotas.records_are_produced,
        quotas.consumer_has_more_to_read,
        quotas.consumer_has_one_to_read,
    ),
    bounds={"unread": 3, "window": 2},
    variants=versions.VARIANTS,
    source="ClientQuotaManager; KAFKA-9677",
)
CACHE_OF_SESSIONS = Scenario(
    name="cache-of-fetch-sessions",
    story="Consumers fetch in sessions, for which the broker has no more room.",
    state=SessionCache,
    actions=actions_of(session_cache),
    properties=(
        sessions.used_session_stays,
        sessions.unused_session_goes,
        sessions.cache_knows_the_use,
        sessions.one_session_is_unused,
    ),
    bounds={"cached": 2, "idle": 2},
    variants=versions.VARIANTS,
    source="FetchSessionCache; KAFKA-9137",
)
FETCHERS_OF_ANOTHER_NUMBER = Scenario(
    name="fetchers-of-another-number",
    story="An operator changes num.replica.fetchers.",
    state=FetcherPool,
    actions=actions_of(fetcher_pool),
    initial=fetcher_pool.has_one_thread,
    properties=(
        pools.partitions_are_divided,
        pools.ended_thread_has_no_connection,
        pools.thread_with_partitions_is_connected,
        pools.two_threads_fetch,
        pools.three_threads_fetch,
    ),
    bounds={"pool": 3, "hashes": 3},
    variants=versions.VARIANTS,
    source="AbstractFetcherManager.resizeThreadPool; KAFKA-7576, KAFKA-13772",
)
FEATURES_AMID_A_SESSION = Scenario(
    name="features-amid-a-session",
    story="The features of a cluster change, and the session of a broker ends, as it reads them.",
    state=FeatureListener,
    actions=actions_of(feature_listener),
    properties=(
        features.broker_outlives_its_session,
        features.broker_that_exits_ends,
        features.running_broker_knows_the_features,
        features.features_are_changed_for_good,
        features.lives_end_once,
        features.event_is_of_a_session,
        features.broker_ends_without_a_session,
        features.unsupported_features_are_seen,
        features.features_are_queued,
    ),
    variants=versions.VARIANTS,
    source="FinalizedFeatureChangeListener; KAFKA-13544, KAFKA-14887",
)
START_THAT_FAILS = Scenario(
    name="start-that-fails",
    story="A broker starts, and cannot load a log, or its port is taken.",
    state=StartingServer,
    actions=actions_of(server_start),
    properties=(
        starts.failed_start_stops,
        starts.stopped_server_has_no_threads,
        starts.running_server_has_quotas,
        starts.parts_start_in_order,
        starts.log_is_damaged,
        starts.port_is_taken,
        starts.server_runs,
    ),
    variants=versions.VARIANTS,
    source="KafkaServer.startup; KAFKA-4428, KAFKA-6164",
)
PRODUCER_EXPIRATION = Scenario(
    name="dynamic-producer-expiration",
    story="Admins set producer.id.expiration.ms of all brokers, and a broker is restarted.",
    state=ExpirationSetting,
    actions=actions_of(producer_expiration),
    properties=(
        expirations.set_expiration_holds,
        expirations.expiration_changes_by_request,
        expirations.setting_and_broker_change_apart,
        expirations.notification_is_of_a_change,
        expirations.stopped_broker_has_a_change,
        expirations.set_expiration_is_read,
        expirations.expiration_is_set_back,
    ),
    variants=versions.EXPIRATION_VARIANTS,
    source="KafkaConfig; KAFKA-14990",
)
CHANNEL_TO_THE_CONTROLLER = Scenario(
    name="channel-to-the-controller",
    story="The controller moves, and brokers do not authenticate others, as a leader sends it requests.",
    state=ControllerChannel,
    actions=actions_of(controller_channel),
    properties=(
        channels.failed_sender_looks_again,
        channels.sender_is_answered_at_last,
        channels.controller_answers,
        channels.address_changes_by_an_answer,
        channels.faults_come_one_by_one,
        channels.stale_controller_refuses,
        channels.sender_has_failed,
        channels.both_refuse,
    ),
    bounds={"controllers": 2},
    variants=versions.VARIANTS,
    source="BrokerToControllerChannelManager; KAFKA-15823",
)
QUOTA_THAT_CHANGES = Scenario(
    name="quota-that-changes",
    story="A quota changes, as the first request without one is counted.",
    state=QuotaLocks,
    actions=actions_of(quota_locks),
    properties=(
        quota_threads.quota_threads_end,
        quota_threads.quota_threads_go_on,
        quota_threads.sensor_is_made_once,
        quota_threads.both_hold_a_lock,
    ),
    variants=versions.VARIANTS,
    source="ClientRequestQuotaManager; KAFKA-14225",
)
EPOCHS_OF_FETCHES = Scenario(
    name="epochs-of-fetches",
    story="A follower fetches from one leader after another, and gets records or none.",
    state=EpochOfFetches,
    actions=actions_of(fetch_epochs),
    properties=(
        epochs.fetch_has_the_last_epoch,
        epochs.records_are_of_the_leader,
        epochs.records_are_of_an_earlier_leader,
    ),
    bounds={"fetched_epochs": 2},
    variants=versions.EPOCH_VARIANTS,
    source="AbstractFetcherThread.processFetchRequest; KAFKA-15510",
)
TOOLS_AND_THE_CONTROLLER = Scenario(
    name="tools-and-the-controller",
    story="Operators set ACLs of znodes and ask for reassignments, as the controller moves.",
    state=ToolsAndController,
    actions=(
        written_by_tools.end_controller,
        written_by_tools.elect_beside_tools,
        written_by_tools.migrate_security,
        written_by_tools.write_list,
        written_by_tools.write_other_types,
        written_by_tools.reassign_as_written,
    ),
    properties=(
        tools.broker_can_be_elected,
        tools.controller_can_read_what_is_written,
        tools.partition_keeps_a_replica,
        tools.controller_is_elected_alone,
        tools.reassignment_is_written_and_done,
        tools.list_is_reassigned,
        tools.list_waits_for_a_controller,
    ),
    bounds={"additions": 0},
    variants=versions.VARIANTS,
    source="ZkSecurityMigrator, ReassignPartitionsCommand; KAFKA-4914, KAFKA-5091, KAFKA-9267",
)
REASSIGNMENTS_ADDED = TOOLS_AND_THE_CONTROLLER.varied(
    name="reassignments-added",
    story="A tool adds a partition to /admin/reassign_partitions while another one is reassigned.",
    actions=(
        written_by_tools.end_controller,
        written_by_tools.elect_beside_tools,
        written_by_tools.write_list,
        written_by_tools.begin_as_written,
        written_by_tools.add_to_list,
        written_by_tools.reassign_as_written,
    ),
    properties=(
        tools.added_reassignment_is_done,
        tools.controller_begins_what_is_written,
        tools.list_is_read_by_each_controller,
        tools.list_stays_for_what_was_added,
        tools.controller_is_elected_alone,
        tools.reassignment_is_written_and_done,
        tools.list_waits_for_a_controller,
    ),
    bounds={"additions": 1},
    source="PartitionReassignmentHandler, KafkaController.maybeRemoveFromZkReassignment; KAFKA-9478",
)
TRANSACTIONS_AMID_AN_UPGRADE = Scenario(
    name="transactions-amid-an-upgrade",
    story="Brokers are upgraded one after another, as a producer writes in transactions.",
    state=VerifiedAppend,
    actions=(
        transaction_verification.upgrade_leader,
        transaction_verification.upgrade_coordinator,
        transaction_verification.append_verified,
    ),
    properties=(
        verifications.transaction_outlives_an_upgrade,
        verifications.append_has_one_end,
        verifications.leader_is_upgraded_first,
        verifications.all_are_upgraded,
    ),
    variants={release: versions.VARIANTS[release] for release in ("3.9.0", "3.7.0")},
    source="AddPartitionsToTxnManager; KAFKA-16992",
)
TRANSACTION_ABORTED_AMID_AN_APPEND = Scenario(
    name="transaction-aborted-amid-an-append",
    story="A coordinator aborts a transaction after its timeout, while a batch of it is on its way.",
    state=FencedTransaction,
    actions=(
        transaction_verification.begin_verified,
        transaction_verification.send_within,
        transaction_verification.abort_and_fence,
        transaction_verification.append_within,
    ),
    properties=(
        verifications.fenced_producer_is_told_so,
        verifications.batch_belongs_to_its_transaction,
        verifications.transaction_is_aborted_once,
        verifications.batch_is_late,
        verifications.batch_is_appended_in_time,
        verifications.late_batch_is_refused,
    ),
    variants={release: versions.VARIANTS[release] for release in ("2.8.2", "3.7.0", "3.9.0")},
    source="UnifiedLog.analyzeAndValidateProducerState; KAFKA-19690",
)
TRANSACTION_AFTER_A_LATE_COMMIT = Scenario(
    name="transaction-after-a-late-commit",
    story="A request to commit a transaction was sent twice; one of both comes in the next transaction.",
    state=NextTransaction,
    actions=(
        transaction_verification.write_next,
        transaction_verification.commit_first,
        transaction_verification.get_late_copy,
        transaction_verification.abort_next,
    ),
    properties=(
        verifications.producer_commits_what_is_read,
        verifications.transaction_ends_by_a_request,
        verifications.first_transaction_is_committed_once,
        verifications.early_read_ends_a_transaction,
        verifications.late_copy_comes_once,
        verifications.late_copy_meets_a_transaction,
        verifications.late_copy_meets_none,
    ),
    variants={release: flags for release, flags in versions.VARIANTS.items() if not release.startswith("0.10")},
    source="TransactionCoordinator.endTransaction; KAFKA-17754, KIP-890",
)
FETCH_TO_DEBUG = Scenario(
    name="fetch-to-debug-a-replica",
    story="A tool fetches from a replica that does not lead, which is taken away.",
    state=WatchedFetch,
    actions=actions_of(watched_fetch),
    properties=(
        watched.request_outlives_a_fetch,
        watched.fetch_of_a_lost_replica_ends,
        watched.replica_goes_once,
        watched.fetch_waits_for_a_lost_replica,
    ),
    variants=versions.VARIANTS,
    source="DelayedFetch.tryComplete; KAFKA-9171",
)

SCENARIOS = (
    PARTITION_AND_ITS_CLIENTS,
    REQUESTS_ABOUT_A_TOPIC,
    THROTTLED_FOLLOWER,
    CONSUMER_UNDER_A_QUOTA,
    CACHE_OF_SESSIONS,
    FETCHERS_OF_ANOTHER_NUMBER,
    FEATURES_AMID_A_SESSION,
    START_THAT_FAILS,
    PRODUCER_EXPIRATION,
    CHANNEL_TO_THE_CONTROLLER,
    QUOTA_THAT_CHANGES,
    EPOCHS_OF_FETCHES,
    TOOLS_AND_THE_CONTROLLER,
    REASSIGNMENTS_ADDED,
    TRANSACTIONS_AMID_AN_UPGRADE,
    TRANSACTION_ABORTED_AMID_AN_APPEND,
    TRANSACTION_AFTER_A_LATE_COMMIT,
    FETCH_TO_DEBUG,
)
