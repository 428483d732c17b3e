"""Stories about a broker: requests, fetchers, stops, what holds of its configuration, and who is in the ISR."""

from __future__ import annotations

from kwalk.invariants import cleaner_rate as rates
from kwalk.invariants import delayed_requests as requests
from kwalk.invariants import fetch_session as sessions
from kwalk.invariants import fetcher_endpoint as endpoints
from kwalk.invariants import fetcher_threads as fetchers
from kwalk.invariants import full_requests as fulls
from kwalk.invariants import generated_ids as ids
from kwalk.invariants import idle_fetcher as idle
from kwalk.invariants import isr_changes, storage
from kwalk.invariants import kraft_directories as kraft
from kwalk.invariants import network_stop as network_stops
from kwalk.invariants import partition_locks as append_locks
from kwalk.invariants import read_replica as replicas
from kwalk.invariants import replica_lag as lags
from kwalk.invariants import request_buffers as buffers
from kwalk.invariants import request_timer as timers
from kwalk.invariants import server_stop as stops
from kwalk.invariants.stories import answers, clients, transactions
from kwalk.model.kafka.server import (
    alter_partition_manager,
    cleaner_rate,
    delayed_requests,
    dynamic_broker_config,
    fetch_session,
    fetcher_endpoint,
    fetcher_thread,
    full_requests,
    generated_ids,
    idle_fetcher,
    kraft_directories,
    network_stop,
    partition_locks,
    read_replica,
    replica_lag,
    request_buffers,
    request_timer,
    server_stop,
    versions,
)
from kwalk.model.kafka.server.alter_partition_manager import IsrPartition
from kwalk.model.kafka.server.cleaner_rate import CleanerRate
from kwalk.model.kafka.server.delayed_requests import WaitingRequest
from kwalk.model.kafka.server.dynamic_broker_config import BrokerConfiguration
from kwalk.model.kafka.server.fetch_session import FetchSession
from kwalk.model.kafka.server.fetcher_endpoint import FetcherEndpoint
from kwalk.model.kafka.server.fetcher_thread import FetcherPartitions
from kwalk.model.kafka.server.full_requests import RequestedBroker
from kwalk.model.kafka.server.generated_ids import BrokerIds
from kwalk.model.kafka.server.idle_fetcher import IdleFetcher
from kwalk.model.kafka.server.kraft_directories import KraftReplica
from kwalk.model.kafka.server.network_stop import NetworkOfBroker
from kwalk.model.kafka.server.partition_locks import PartitionLocks
from kwalk.model.kafka.server.read_replica import MisledConsumer, ReadReplica
from kwalk.model.kafka.server.replica_lag import FollowerLag, JoiningFollower
from kwalk.model.kafka.server.request_buffers import RequestBuffers
from kwalk.model.kafka.server.request_timer import RequestTimer
from kwalk.model.kafka.server.server_stop import StoppingServer
from kwalk.model.language import Scenario, actions_of

CONFIGURATION = Scenario(
    name="dynamic-configuration",
    story=(
        "A key is changed for a topic, a broker and all brokers, and another key too; the broker is restarted, with "
        "another server.properties or the same."
    ),
    state=BrokerConfiguration,
    actions=actions_of(dynamic_broker_config),
    initial=dynamic_broker_config.starts_with_a_file,
    properties=(
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
    bounds={"values": 3, "changes": 3, "restarts": 1, "edits": 1},
    variants=versions.VARIANTS,
    source="DynamicBrokerConfig, DynamicLogConfig; KAFKA-9254, KAFKA-10268, KAFKA-17584",
)
CLEANER_RATE = Scenario(
    name="dynamic-cleaner-rate",
    story="Admins change the rate of the log cleaner, and restart the broker.",
    state=CleanerRate,
    actions=actions_of(cleaner_rate),
    properties=(
        rates.cleaner_has_its_rate,
        rates.rate_changes_by_request,
        rates.stopped_broker_has_no_rate,
        rates.restarts_are_counted,
        rates.rate_holds_after_a_start,
    ),
    bounds={"values": 2, "changes": 2, "restarts": 1},
    variants={r: flags for r, flags in versions.VARIANTS.items() if not r.startswith("0.") and r != "1.0"},
    source="LogCleaner.reconfigure; KAFKA-13996",
)
ORDERLY_STOP = Scenario(
    name="orderly-stop",
    story="A broker is stopped as logs are deleted, segments become old, and members of groups expire.",
    state=StoppingServer,
    actions=actions_of(server_stop),
    properties=(
        stops.stop_ends,
        stops.stop_is_clean,
        stops.clean_file_comes_last,
        stops.parts_end_in_order,
        stops.tasks_run_in_the_scheduler,
        stops.broker_stops_cleanly,
    ),
    bounds={"no_delete_delay": 0},
    variants=versions.STOP_VARIANTS,
    source="KafkaServer.shutdown; KAFKA-4523, KAFKA-13315",
)
STOP_WITHOUT_A_DELETE_DELAY = ORDERLY_STOP.varied(
    name="orderly-stop-without-a-delete-delay",
    story="The same, where file.delete.delay.ms is 0.",
    bounds={"no_delete_delay": 1},
    source="LogManager.deleteLogs; KAFKA-16588",
)
FETCHER_OF_TWO_PARTITIONS = Scenario(
    name="fetcher-of-two-partitions",
    story="A broker begins and ceases to follow partitions that one thread fetches; one of them may have an error.",
    state=FetcherPartitions,
    actions=actions_of(fetcher_thread),
    properties=(
        fetchers.other_partitions_are_fetched,
        fetchers.partition_fails_by_an_error,
        fetchers.partition_is_truncated_first,
        fetchers.thread_works_in_rounds,
        fetchers.changes_are_counted,
        fetchers.removed_partition_was_listed,
    ),
    bounds={"fetched": 2, "leadership_changes": 3, "fetch_errors": 1},
    variants=versions.FETCHER_VARIANTS,
    source="AbstractFetcherThread; KAFKA-8012, KAFKA-8346",
)
APPENDS_AMID_CHANGES = Scenario(
    name="appends-amid-changes",
    story="Two threads append to two partitions, and answer fetches of both, while their ISRs or leaders change.",
    state=PartitionLocks,
    actions=actions_of(partition_locks),
    properties=(
        append_locks.appends_end,
        append_locks.change_waits_for_appends,
        append_locks.append_waits_for_changes,
        append_locks.change_waits_for_an_append,
    ),
    bounds={"appenders": 2, "locked_partitions": 2},
    variants=versions.LOCK_VARIANTS,
    source="Partition.leaderIsrUpdateLock; KAFKA-7697",
)
REQUESTS_THAT_WAIT = Scenario(
    name="requests-that-wait",
    story="A request waits for replicas, of which the last one fetches as threads look at it, or its own is deleted.",
    state=WaitingRequest,
    actions=(
        delayed_requests.send,
        delayed_requests.fetch_some,
        delayed_requests.fetch_all,
        delayed_requests.stop_replica,
        delayed_requests.look,
        delayed_requests.unlock,
    ),
    properties=(
        requests.due_request_is_answered,
        requests.request_is_answered_when_it_is_due,
        requests.request_has_one_thread,
        requests.thread_looks_before_it_keeps_the_lock,
        requests.lock_is_given_back,
        requests.request_becomes_due_once,
        requests.two_threads_are_at_a_request,
    ),
    bounds={"checkers": 2},
    variants=versions.VARIANTS,
    source="DelayedOperation; KAFKA-6653, KAFKA-9198",
)
REQUESTS_BESIDE_A_FAILURE = REQUESTS_THAT_WAIT.varied(
    name="requests-beside-a-failed-fetch",
    story="A request waits for replicas, beside a fetch of the same partition whose answer fails.",
    actions=(
        delayed_requests.send,
        delayed_requests.fetch_some,
        delayed_requests.fetch_all_beside_a_failure,
        delayed_requests.look,
        delayed_requests.unlock,
    ),
    source="DelayedOperations.checkAndCompleteAll; KAFKA-17234, KAFKA-17240",
)
FETCHES_FROM_A_FOLLOWER = REQUESTS_THAT_WAIT.varied(
    name="fetches-from-a-follower",
    story="A consumer asks the leader, which names a follower; or it waits there for records that are to come.",
    actions=(
        delayed_requests.send,
        delayed_requests.fetch_from_leader,
        delayed_requests.follow,
        delayed_requests.look,
    ),
    properties=(
        requests.due_request_is_answered,
        requests.request_is_answered_when_it_is_due,
        requests.thread_looks_before_it_keeps_the_lock,
        requests.lock_is_given_back,
        requests.request_becomes_due_once,
    ),
    variants=versions.FOLLOWER_FETCH_VARIANTS,
    source="KIP-392; KAFKA-13767, KAFKA-14334",
)
STOP_THAT_ASKS = Scenario(
    name="stop-that-asks-the-controller",
    story="A broker starts, or fails to; it is stopped while ZooKeeper or the controller may be away.",
    state=NetworkOfBroker,
    actions=actions_of(network_stop),
    properties=(
        network_stops.broker_ends,
        network_stops.stop_asks_for_other_leaders,
        network_stops.phases_are_in_order,
        network_stops.controller_moves_leaders,
        network_stops.controller_needs_zookeeper,
        network_stops.broker_knows_whom_to_ask,
        network_stops.only_a_start_leaves_connections_waiting,
        network_stops.stop_finds_zookeeper_away,
        network_stops.stop_moves_the_leaders_at_last,
    ),
    bounds={"shutdown_tries": 2},
    variants=versions.VARIANTS,
    source="KafkaServer.shutdown, controlledShutdown; KAFKA-9189, KAFKA-9796, PR-4359",
)
FETCHER_WITHOUT_PARTITIONS = Scenario(
    name="fetcher-without-partitions",
    story="A broker comes to lead the last partition of a fetcher, which is ended amid a fetch.",
    state=IdleFetcher,
    actions=actions_of(idle_fetcher),
    properties=(
        idle.coordinator_is_told,
        idle.request_is_handled_in_order,
        idle.ended_fetcher_fetches_nothing,
    ),
    bounds={},
    variants=versions.VARIANTS,
    source="ReplicaManager.becomeLeaderOrFollower; KAFKA-7464",
)
ISR_CHANGES = Scenario(
    name="isr-changes",
    story="A follower falls behind and catches up; its leader has the controller change the ISR, also amid elections.",
    state=IsrPartition,
    actions=tuple(
        one for one in actions_of(alter_partition_manager) if one is not alter_partition_manager.replace_disk
    ),
    properties=(
        isr_changes.isr_follows_its_replica,
        isr_changes.lone_leader_has_committed_all,
        isr_changes.full_isr_has_committed_all,
        isr_changes.leader_knows_its_znode,
        isr_changes.isr_has_what_is_committed,
        isr_changes.znode_changes_by_versions,
        isr_changes.offsets_follow_fetches,
        isr_changes.election_is_announced,
        isr_changes.answer_says_what_was_done,
        isr_changes.change_is_due,
        isr_changes.request_is_what_is_unsent,
        isr_changes.follower_has_left_and_joined,
        isr_changes.change_is_fenced,
    ),
    bounds={"offsets": 2, "elections": 2, "lags": 2, "write_errors": 1, "disks": 0, "versions": 9},
    variants={release: versions.VARIANTS[release] for release in ("2.8.2", "2.7", "3.7.0", "3.9.0")},
    source="AlterPartitionManager, Partition; KIP-497, KAFKA-12686, KAFKA-13091, KAFKA-14010",
)
ISR_CHANGES_REPLACED_DISK = ISR_CHANGES.varied(
    name="isr-changes-replaced-disk",
    story="A follower outside the ISR catches up; while its leader asks for it, its broker starts with an empty disk.",
    actions=(*ISR_CHANGES.actions, alter_partition_manager.replace_disk),
    properties=(
        isr_changes.isr_has_what_is_committed,
        isr_changes.election_is_announced,
        isr_changes.change_is_due,
        isr_changes.emptied_replica_is_outside_the_isr,
        isr_changes.follower_has_left_and_joined,
        isr_changes.emptied_replica_joins_again,
    ),
    bounds={"elections": 1, "write_errors": 0, "disks": 1},
    source="KafkaController.processAlterPartition; KAFKA-14139, KIP-903",
)
LAG_IN_ROUNDS = (
    replica_lag.fetch,
    replica_lag.end_round,
    replica_lag.begin_to_shrink,
    replica_lag.shrink_isr,
    replica_lag.keep_isr,
    replica_lag.stall,
    replica_lag.go_on,
)
REPLICA_LAG = Scenario(
    name="replica-lag",
    story=(
        "A follower fetches round by round while records are produced; it may stand still, other replicas may use up "
        "the quota of replication, and the leader's disk may fail."
    ),
    state=FollowerLag,
    actions=(
        replica_lag.produce,
        *LAG_IN_ROUNDS,
        replica_lag.exceed_quota,
        replica_lag.free_quota,
        replica_lag.fail_disk,
    ),
    properties=(
        lags.follower_that_fetches_stays,
        lags.follower_with_all_records_stays,
        lags.failed_leader_keeps_the_isr,
        lags.fetch_is_noted,
        lags.follower_fetches_as_it_may,
        lags.failed_disk_takes_no_record,
        lags.follower_leaves,
    ),
    bounds={
        "offsets": 4,
        "rounds": 4,
        "stalls": 1,
        "throttles": 1,
        "disk_failures": 1,
        "oversized": 0,
        "foreign_members": 0,
        "read_errors": 0,
        "slow_reads": 0,
    },
    variants={release: versions.VARIANTS[release] for release in ("2.8.2", "0.10.1", "2.0", "3.9.0")},
    source="Replica.updateLogReadResult, Partition.getOutOfSyncReplicas; KAFKA-4313, KAFKA-4485",
)
REPLICA_LAG_OVERSIZED = REPLICA_LAG.varied(
    name="replica-lag-oversized",
    story="A follower fetches round by round, or stands still; a batch is larger than replica.fetch.max.bytes.",
    actions=(replica_lag.produce, replica_lag.produce_oversized, *LAG_IN_ROUNDS),
    properties=(
        lags.follower_that_fetches_stays,
        lags.oversized_batch_is_fetched,
        lags.oversized_batch_is_appended,
        lags.failed_disk_takes_no_record,
        lags.follower_leaves,
        lags.oversized_batch_is_copied,
    ),
    bounds={"oversized": 1, "throttles": 0, "disk_failures": 0},
    variants={release: versions.VARIANTS[release] for release in ("2.8.2", "0.10.0", "3.9.0")},
    source="ReplicaManager.readFromLocalLog; KAFKA-3810",
)
REPLICA_LAG_BESIDE_A_REASSIGNMENT = REPLICA_LAG.varied(
    name="replica-lag-beside-a-reassignment",
    story="A follower fetches or stands still; its leader also leads a partition whose ISR has a broker too many.",
    actions=(
        replica_lag.produce,
        *LAG_IN_ROUNDS,
        replica_lag.reassign_other_partition,
        replica_lag.remove_foreign_member,
    ),
    properties=(
        lags.follower_that_fetches_stays,
        lags.follower_that_stands_still_leaves,
        lags.follower_with_all_records_stays,
        lags.follower_leaves,
        lags.follower_leaves_beside_a_foreign_member,
    ),
    bounds={"foreign_members": 1, "throttles": 0, "disk_failures": 0},
    variants={release: versions.VARIANTS[release] for release in ("2.8.2", "2.3.1", "2.5", "3.9.0")},
    source="ReplicaManager.maybeShrinkIsr; KAFKA-9672",
)
REPLICA_LAG_WITH_FAILING_READS = REPLICA_LAG.varied(
    name="replica-lag-with-failing-reads",
    story="A follower that has all records fetches, and its leader answers with errors for a while.",
    actions=(replica_lag.produce, *LAG_IN_ROUNDS, replica_lag.fail_read),
    properties=(
        lags.follower_that_stands_still_leaves,
        lags.follower_with_all_records_stays,
        lags.failed_read_gives_nothing,
        lags.fetch_is_counted_once,
        lags.follower_leaves,
    ),
    bounds={"read_errors": 3, "throttles": 0, "disk_failures": 0},
    variants={release: versions.VARIANTS[release] for release in ("2.8.2", "2.3.1", "2.5", "3.9.0")},
    source="ReplicaManager.updateFollowerFetchState; KAFKA-8400",
)
REPLICA_LAG_WITH_SLOW_READS = REPLICA_LAG.varied(
    name="replica-lag-with-slow-reads",
    story="A follower fetches or stands still, and its leader reads for it from a slow disk.",
    actions=(replica_lag.produce, *LAG_IN_ROUNDS, replica_lag.begin_slow_read, replica_lag.end_slow_read),
    properties=(
        lags.follower_that_waits_stays,
        lags.slow_read_answers_nothing,
        lags.follower_with_all_records_stays,
        lags.fetch_is_counted_once,
        lags.follower_leaves,
    ),
    bounds={"slow_reads": 1, "throttles": 0, "disk_failures": 0},
    source="ReplicaManager.readFromLocalLog, KIP-501; KAFKA-8733",
)
REPLICA_JOINS_A_SMALL_ISR = Scenario(
    name="replica-joins-a-small-isr",
    story="With min.insync.replicas=2, the only follower lags, leaves the ISR, and joins it again.",
    state=JoiningFollower,
    actions=(
        replica_lag.produce_to_one,
        replica_lag.fetch_one,
        replica_lag.pass_lag_time,
        replica_lag.take_out,
        replica_lag.join_isr,
    ),
    properties=(
        lags.follower_that_joins_has_caught_up,
        lags.isr_has_what_is_committed,
        lags.high_watermark_rises,
        lags.laggard_is_behind,
        lags.logs_grow_by_one,
        lags.follower_joins_again,
    ),
    bounds={"offsets": 3},
    variants=versions.VARIANTS,
    source="Partition.isFollowerInSync; KAFKA-15583, KAFKA-19996",
)
CONSUMER_OF_FOLLOWERS = Scenario(
    name="consumer-of-followers",
    story="A consumer is sent to a follower near to it, while followers leave the ISR and join it.",
    state=ReadReplica,
    actions=(
        read_replica.leave_isr,
        read_replica.join_isr,
        read_replica.choose,
        read_replica.send_on,
        read_replica.refresh,
    ),
    properties=(
        replicas.chosen_replica_is_in_sync,
        replicas.leader_chooses_the_replica,
        replicas.isr_changes_by_itself,
        replicas.consumer_reads_from_a_replica_that_lags,
    ),
    bounds={"followers": 2},
    variants=versions.FOLLOWER_FETCH_VARIANTS,
    source="KIP-392; KAFKA-13778, KAFKA-14372",
)
CONSUMER_WITH_OLD_METADATA = Scenario(
    name="consumer-with-old-metadata",
    story="A consumer without leader epochs gets old metadata, in which a follower that lags leads.",
    state=MisledConsumer,
    actions=(
        read_replica.produce_to_leader,
        read_replica.copy_record,
        read_replica.read_old_metadata,
        read_replica.read_new_metadata,
        read_replica.fetch_from_leader,
        read_replica.fetch_from_follower,
    ),
    properties=(
        replicas.misled_consumer_keeps_its_offset,
        replicas.consumer_reads_what_is_there,
        replicas.metadata_sends_the_consumer,
        replicas.reset_is_of_a_later_offset,
        replicas.follower_copies_one,
        replicas.consumer_has_read_all,
    ),
    bounds={"offsets": 3},
    variants=versions.VARIANTS,
    source="KafkaApis.handleFetchRequest; KIP-392, KAFKA-14255",
)
FETCH_OF_TWO_PARTITIONS = Scenario(
    name="fetch-of-two-partitions",
    story="A client fetches two partitions, while records are produced to both.",
    state=FetchSession,
    actions=(fetch_session.produce, fetch_session.fetch),
    properties=(
        sessions.partition_waits_for_one_response,
        sessions.fetch_gets_records_of_one,
        sessions.records_are_news,
        sessions.wait_is_for_records,
        sessions.partition_waits,
    ),
    bounds={"fetched": 2, "fetches": 4, "epochs": 0},
    variants=versions.VARIANTS,
    source="FetchSession; KIP-227, KAFKA-12330",
)
FETCH_WITH_AN_OLD_EPOCH = FETCH_OF_TWO_PARTITIONS.varied(
    name="fetch-with-an-old-epoch",
    story="A client fetches two partitions, whose leader is elected again.",
    actions=(fetch_session.produce, fetch_session.elect, fetch_session.fetch),
    properties=(
        sessions.old_epoch_is_fenced,
        sessions.fetch_gets_records_of_one,
        sessions.records_are_news,
        sessions.leader_is_elected_for_one_epoch,
    ),
    bounds={"fetched": 2, "fetches": 2, "epochs": 2},
    source="FetchSession; KIP-320, KAFKA-9338",
)
FETCH_OF_A_LOST_REPLICA = FETCH_OF_TWO_PARTITIONS.varied(
    name="fetch-of-a-lost-replica",
    story="A broker fetches two partitions, of one of which it is no replica any more.",
    actions=(fetch_session.produce, fetch_session.reassign, fetch_session.fetch),
    properties=(
        sessions.fetch_outlives_a_partition,
        sessions.fetch_gets_records_of_one,
        sessions.records_are_news,
        sessions.replica_is_taken_away_once,
    ),
    bounds={"fetched": 2, "fetches": 2, "epochs": 0},
    source="ReplicaManager.updateFollowerLogReadResults; KAFKA-5758",
)
APPEND_IN_ANOTHER_THREAD = Scenario(
    name="append-in-another-thread",
    story="An append waits until its transaction is verified, and goes on in another thread.",
    state=RequestBuffers,
    actions=actions_of(request_buffers),
    properties=(
        buffers.buffers_are_used_by_one_request,
        buffers.append_goes_on_when_it_is_verified,
        buffers.thread_handles_one_request,
        buffers.append_comes_to_a_thread_that_waits,
        buffers.append_goes_on_in_another_thread,
    ),
    bounds={"handlers": 2},
    variants=versions.BUFFER_VARIANTS,
    source="KafkaRequestHandler; KIP-890, KAFKA-15653",
)
FETCHER_OF_A_MOVED_LEADER = Scenario(
    name="fetcher-of-a-moved-leader",
    story="A leader starts again with another port.",
    state=FetcherEndpoint,
    actions=actions_of(fetcher_endpoint),
    properties=(
        endpoints.follower_has_a_fetcher,
        endpoints.fetcher_is_of_the_port,
        endpoints.leader_has_another_port,
    ),
    bounds={"ports": 2},
    variants=versions.VARIANTS,
    source="AbstractFetcherManager.addFetcherForPartitions; KAFKA-4811",
)
REQUEST_AND_A_CLOCK = Scenario(
    name="request-and-a-clock",
    story="A request waits for its timeout on a machine whose clock is set back.",
    state=RequestTimer,
    actions=actions_of(request_timer),
    properties=(
        timers.request_waits_for_its_time,
        timers.request_is_answered_in_time,
        timers.time_passes,
        timers.request_is_answered_after_all,
    ),
    bounds={"duration": 2, "set_backs": 1},
    variants=versions.VARIANTS,
    source="SystemTimer; KAFKA-4051",
)
KRAFT_STEPS = (
    kraft.served_log_is_of_the_topic,
    kraft.log_has_no_more_than_was_written,
    kraft.records_are_appended_moved_or_deleted,
    kraft.directory_is_assigned_where_the_log_is,
    kraft.replica_is_created_at_a_start,
    kraft.crash_loses_what_was_not_flushed,
    kraft.served_log_gets_its_file,
)
KRAFT_TOPIC_CREATED_AGAIN = Scenario(
    name="kraft-topic-created-again",
    story="A broker in KRaft mode crashes; meanwhile its topic is deleted, and created again.",
    state=KraftReplica,
    initial=kraft_directories.has_its_log,
    actions=(
        kraft_directories.write_record,
        kraft_directories.flush_topic_id,
        kraft_directories.create_topic_again,
        kraft_directories.crash,
        kraft_directories.start_broker,
    ),
    properties=(
        kraft.broker_starts,
        kraft.replica_of_the_image_is_there,
        kraft.served_log_has_what_was_written,
        *KRAFT_STEPS,
        kraft.created_topic_is_served_at_once,
        kraft.topic_is_served_again,
    ),
    bounds={"writes": 1, "starts": 2, "topic_creations": 1, "directories": 1, "disk_failures": 0, "directory_moves": 0},
    variants=versions.KRAFT_VARIANTS,
    source="BrokerMetadataPublisher.initializeManagers; KAFKA-14616, KAFKA-16814",
)
KRAFT_FAILED_DIRECTORY = KRAFT_TOPIC_CREATED_AGAIN.varied(
    name="kraft-failed-directory",
    story="A log directory of a broker in KRaft mode fails; its topic is perhaps created again, and the disk repaired.",
    actions=(
        *KRAFT_TOPIC_CREATED_AGAIN.actions,
        kraft_directories.break_disk,
        kraft_directories.repair_disk,
        kraft_directories.read_that_there_is_no_leader,
    ),
    properties=(
        kraft.served_log_has_what_was_written,
        kraft.broker_starts,
        kraft.directory_fails_with_its_disk,
        *KRAFT_STEPS,
        kraft.disk_fails_and_is_repaired,
        kraft.log_is_created_for_the_image,
        kraft.start_uses_what_works,
        kraft.created_topic_is_served_at_once,
        kraft.record_is_there_after_a_repair,
    ),
    bounds={"directories": 2, "disk_failures": 1},
    variants={release: versions.KRAFT_VARIANTS[release] for release in ("3.9.0", "3.7.0")},
    source="ReplicaManager.getOrCreatePartition, LogManager.loadLog; KAFKA-16157, KAFKA-16234",
)
KRAFT_MOVE_FROM_A_FAILED_DIRECTORY = KRAFT_FAILED_DIRECTORY.varied(
    name="kraft-move-from-a-failed-directory",
    story="A replica of a broker in KRaft mode moves to another directory, as its first one fails, and the broker.",
    actions=(
        kraft_directories.write_record,
        kraft_directories.move_replica,
        kraft_directories.copy_to_future_log,
        kraft_directories.assign_directory,
        kraft_directories.correct_assignment,
        kraft_directories.promote_future_log,
        kraft_directories.break_disk,
        kraft_directories.repair_disk,
        kraft_directories.read_that_there_is_no_leader,
        kraft_directories.crash,
        kraft_directories.start_broker,
    ),
    properties=(
        kraft.served_log_has_what_was_written,
        kraft.broker_starts,
        kraft.directory_fails_with_its_disk,
        *KRAFT_STEPS,
        kraft.disk_fails_and_is_repaired,
        kraft.log_is_created_for_the_image,
        kraft.start_uses_what_works,
        kraft.copy_is_in_another_directory,
        kraft.future_log_is_copied,
        kraft.failed_start_is_one_of_logs,
        kraft.record_is_moved,
    ),
    bounds={"directory_moves": 1, "topic_creations": 0},
    source="LogManager.recoverAbandonedFutureLogs; KAFKA-16082",
)
FULL_REQUESTS_OF_KRAFT = Scenario(
    name="full-requests-of-kraft",
    story="In dual write a topic is deleted, perhaps created again, and KRaft's controller fails before it says it.",
    state=RequestedBroker,
    initial=full_requests.has_a_topic,
    actions=actions_of(full_requests),
    properties=(
        fulls.full_update_leaves_what_it_names,
        fulls.full_leader_and_isr_leaves_what_it_names,
        fulls.requests_have_the_image,
        fulls.topic_has_a_new_id,
        fulls.broker_changes_by_requests,
        fulls.topic_created_again_is_served,
    ),
    bounds={"created_again": 1, "elections_of_kraft": 2},
    variants=versions.MIGRATING_VARIANTS,
    source="ZkMetadataCache, ReplicaManager.becomeLeaderOrFollower; KAFKA-15605, KAFKA-15799, KAFKA-16180",
)
GENERATED_IDS = Scenario(
    name="generated-broker-ids",
    story="Brokers start with ids that an operator gives, and with some that ZooKeeper generates.",
    state=BrokerIds,
    actions=(generated_ids.start_without_id, generated_ids.start_with_id),
    properties=(
        ids.given_id_is_not_generated,
        ids.ids_differ,
        ids.generated_ids_follow_each_other,
        ids.both_kinds_of_ids_are_there,
    ),
    bounds={"started": 2, "ids": 4, "operator_ids": 2, "reserved_id": 1, "generated": 2},
    variants=versions.VARIANTS,
    source="ZkUtils.getSequenceId; KAFKA-3525",
)
GENERATED_IDS_IN_A_MIGRATION = GENERATED_IDS.varied(
    name="generated-ids-in-a-migration",
    story="The same; the brokers register with KRaft's controller, to migrate.",
    actions=(*GENERATED_IDS.actions, generated_ids.register_with_kraft),
    properties=(
        ids.broker_registers_under_its_id,
        ids.registration_is_of_a_running_broker,
        *GENERATED_IDS.properties,
    ),
    variants={release: versions.VARIANTS[release] for release in ("3.9.0",)},
    source="KafkaServer.startup, KafkaConfig.validateValues; KAFKA-17077, KAFKA-17543",
)

SCENARIOS = (
    CONFIGURATION,
    CLEANER_RATE,
    ORDERLY_STOP,
    STOP_WITHOUT_A_DELETE_DELAY,
    FETCHER_OF_TWO_PARTITIONS,
    APPENDS_AMID_CHANGES,
    REQUESTS_THAT_WAIT,
    REQUESTS_BESIDE_A_FAILURE,
    FETCHES_FROM_A_FOLLOWER,
    STOP_THAT_ASKS,
    FETCHER_WITHOUT_PARTITIONS,
    ISR_CHANGES,
    ISR_CHANGES_REPLACED_DISK,
    REPLICA_LAG,
    REPLICA_LAG_OVERSIZED,
    REPLICA_LAG_BESIDE_A_REASSIGNMENT,
    REPLICA_LAG_WITH_FAILING_READS,
    REPLICA_LAG_WITH_SLOW_READS,
    REPLICA_JOINS_A_SMALL_ISR,
    CONSUMER_OF_FOLLOWERS,
    CONSUMER_WITH_OLD_METADATA,
    FETCH_OF_TWO_PARTITIONS,
    FETCH_WITH_AN_OLD_EPOCH,
    FETCH_OF_A_LOST_REPLICA,
    APPEND_IN_ANOTHER_THREAD,
    FETCHER_OF_A_MOVED_LEADER,
    REQUEST_AND_A_CLOCK,
    FULL_REQUESTS_OF_KRAFT,
    GENERATED_IDS,
    GENERATED_IDS_IN_A_MIGRATION,
    KRAFT_TOPIC_CREATED_AGAIN,
    KRAFT_FAILED_DIRECTORY,
    KRAFT_MOVE_FROM_A_FAILED_DIRECTORY,
    *answers.SCENARIOS,
    *transactions.SCENARIOS,
    *clients.SCENARIOS,
)
