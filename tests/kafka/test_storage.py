"""Logs of a partition: worked examples, what releases break by the shortest way, and what holds in every state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import pytest
from attrs import evolve

from kwalk.invariants.stories import server, storage
from kwalk.invariants.stories.storage import LOOKUP
from kwalk.model.kafka.server import versions as server_versions
from kwalk.model.kafka.server.config_keys import TOPIC_CONFIG_SYNONYMS, UpdateMode, update_mode
from kwalk.model.kafka.storage import log as log_module
from kwalk.model.kafka.storage import log_cleaner, log_loading, log_segment
from kwalk.model.kafka.storage import versions as storage_versions
from kwalk.model.kafka.storage.indexes import lookup_offset, lookup_timestamp
from kwalk.model.kafka.storage.log import (
    append_to_log,
    fetch_offset_by_timestamp,
    file_name,
    read_from_log,
    start_offset_breached,
    time_passes,
)
from kwalk.model.kafka.storage.log_segment import open_segment
from kwalk.model.kafka.storage.state import Batch, LogSegment, OffsetPosition, PartitionLog, TimestampOffset
from kwalk.model.language import Kind, Model
from kwalk.model.language.state import shape_of
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Strength
from tests.kafka.broken import Broken, is_broken_at_the_end, judged
from tests.kafka.outcomes import outcome_of, pinned

LOG_SCENARIOS = (*storage.SCENARIOS, *server.SCENARIOS)
STORIES = {scenario.name: scenario for scenario in LOG_SCENARIOS}
LARGE = {
    "offsets": 1_000,
    "times": 1_000,
    "segments": 6,
    "batches": 100,
    "batch_bytes": 1_000,
    "batch_records": 100,
    "segment_bytes": 100_000,
    "segment_ms": 1_000,
    "index_interval_bytes": 300,
    "index_entries": 50,
    "time_index_entries": 50,
    "max_relative_offset": 1_000,
    "retention_bytes": 600_000,
}
"""Bounds in which the numbers of the examples fit."""
CLEANED = "write_cleaned() rename_to_swap() rename_old() finish_swap()"
BROKEN = (
    (
        Broken(
            "logs_agree(1, 0)",
            "leader-epochs-late-bytes",
            "3.9.0",
            """
            produce() produce() fetch(1) delay_bytes(1) elect_unnoticed(2,1) produce() produce() truncate_follower(0)
            fetch(0) fetch(0) receive_bytes(1) hear_of_election(1) truncate_follower(1)
            """,
        ),
        "3.9.1",
    ),
    (
        Broken(
            "directory_outlives_a_move()",
            "log-move-amid-a-flush",
            "3.5.1",
            "create_future() begin_flush() flush_files() replace_log() flush_folder()",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "no_batch_is_passed()",
            "log-of-a-new-partition",
            "3.9.0",
            "send_first() send_second() handle_first() host_partition() handle_second()",
        ),
        "2.3.1",
    ),
    (
        Broken(
            "start_offsets_are_written()",
            "log-starts-amid-a-truncation",
            "2.8.2",
            "raise_start() remove_all_segments() write_starts()",
        ),
        "3.7.0",
    ),
    (
        Broken(
            "young_record_without_time_is_kept()",
            "log-records-without-time",
            "3.9.0",
            "send_timed() pass_time() send_untimed() pass_time() delete_mixed()",
        ),
        "0.10.0",
    ),
    (
        Broken(
            "misled_consumer_keeps_its_offset()",
            "consumer-with-old-metadata",
            "3.9.0",
            "produce_to_leader() fetch_from_leader() read_old_metadata() fetch_from_follower()",
        ),
        "2.3.1",
    ),
    (
        Broken(
            "follower_that_joins_has_caught_up()",
            "replica-joins-a-small-isr",
            "3.9.0",
            "produce_to_one() pass_lag_time() take_out() join_isr()",
        ),
        "2.8.2",
    ),
    (Broken("appended_messages_are_sound()", "log-damaged-message", "0.10.2", "send_damaged()"), "0.11.0.0"),
    (
        Broken(
            "append_to_a_time_index_succeeds()",
            "log-largest-time-of-two-readers",
            "3.9.0",
            """
            read_last_entry() append_with_time(0) append_with_time(1) keep_last_entry() append_with_time(0)
            """,
        ),
        "2.0",
    ),
    (
        Broken(
            "cleaning_resumes_after_a_move()",
            "log-move-replaced",
            "3.9.0",
            "start_move() replace_move() truncate_future() replace_log()",
        ),
        "2.0",
    ),
    (
        Broken(
            "fenced_producer_is_told_so()",
            "transaction-aborted-amid-an-append",
            "3.9.0",
            "begin_verified() send_within() abort_and_fence() append_within()",
        ),
        "2.8.2",
    ),
    (
        Broken(
            "request_outlives_a_fetch()",
            "fetch-to-debug-a-replica",
            "2.3.1",
            "fetch_to_debug() take_replica() look_at_fetch()",
        ),
        "2.5",
    ),
    (
        Broken(
            "transaction_outlives_an_upgrade()",
            "transactions-amid-an-upgrade",
            "3.7.0",
            "upgrade_leader() append_verified()",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "closed_segment_has_a_small_index(0)",
            "log-added-time-indexes",
            "0.10.1",
            "add_time_indexes()",
        ),
        "0.10.2",
    ),
    (
        Broken(
            "wrong_checkpoint_is_corrected()",
            "log-cleaner-checkpoint",
            "2.3.1",
            "delete_first() look_at_log(0)",
        ),
        "2.7",
    ),
    (
        Broken(
            "added_reassignment_is_done()",
            "reassignments-added",
            "3.9.0",
            "elect_beside_tools() write_list(0) begin_as_written() add_to_list()",
        ),
        "1.0",
    ),
    (
        Broken(
            "directory_outlives_a_deletion()",
            "log-deletion-amid-retention",
            "3.7.0",
            "create() delete_log() remove_late() delete_files() list_folder() delete_late() delete_folder()",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "cleaner_stops_at_grown_batches_only()",
            "log-grown-batches",
            "0.10.1",
            """
            append_batch(1,0) append_batch(2,1) append_batch(2,1) append_batch(1,0) clean_chunk() clean_chunk()
            """,
            bounds={"offsets": 4},
        ),
        "0.10.2",
    ),
    (
        Broken(
            "start_of_a_tiered_log_stays()",
            "log-tiered",
            "3.7.0",
            "append_tiered() roll_tiered() copy_segment() delete_tiered(1) delete_local() restart_tiered()",
        ),
        "3.9.0",
    ),
    (
        Broken("deleted_segment_goes()", "log-tiered", "3.6.0", "append_tiered() roll_tiered() delete_tiered(1)"),
        "3.7.0",
    ),
    (Broken("old_record_goes()", "log-tiered", "3.6.0", "append_tiered() age_records()"), "3.7.0"),
    (
        Broken(
            "partition_keeps_a_replica()",
            "tools-and-the-controller",
            "0.10.2",
            "elect_beside_tools() write_list(1) reassign_as_written()",
        ),
        "0.11.0.0",
    ),
    (
        Broken(
            "controller_can_read_what_is_written()",
            "tools-and-the-controller",
            "1.0",
            "write_other_types() elect_beside_tools()",
        ),
        "2.0",
    ),
    (
        Broken(
            "broker_can_be_elected()",
            "tools-and-the-controller",
            "2.3.1",
            "migrate_security()",
        ),
        "2.5",
    ),
    (
        Broken(
            "fetch_has_the_last_epoch()",
            "epochs-of-fetches",
            "3.6.0",
            "elect_for_fetches() fetch_with_epoch(1)",
        ),
        "3.7.0",
    ),
    (
        Broken(
            "quota_threads_end()",
            "quota-that-changes",
            "2.8.2",
            "begin_count() begin_quota_change()",
        ),
        "3.7.0",
    ),
    (
        Broken(
            "failed_sender_looks_again()",
            "channel-to-the-controller",
            "3.7.0",
            "change_refusal(0) send_to_controller()",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "converted_batches_have_room()",
            "log-converted-batches",
            "2.0",
            "write_formatted(1,0) write_formatted(0,0) fetch_converted()",
        ),
        "2.5",
    ),
    (
        Broken(
            "headers_are_left_out()",
            "log-converted-batches",
            "1.0",
            "write_formatted(1,1) fetch_converted()",
        ),
        "2.0",
    ),
    (
        Broken(
            "existing_topic_is_known()",
            "partition-and-its-clients",
            "1.0",
            "create_topic(0,0) ask_produce()",
        ),
        "2.0",
    ),
    (
        Broken(
            "existing_topic_is_known()",
            "partition-and-its-clients",
            "2.0",
            "create_topic(0,0) ask_epoch()",
        ),
        "2.1.0",
    ),
    (
        Broken(
            "consumer_is_sent_on()",
            "partition-and-its-clients",
            "2.5",
            "create_topic(0,0) ask_fetch(0)",
        ),
        "2.7",
    ),
    (
        Broken(
            "marker_is_asked_for_again()",
            "partition-and-its-clients",
            "0.11.0.0",
            "create_topic(0,0) write_marker()",
        ),
        "1.0",
    ),
    (
        Broken(
            "compression_is_of_the_topic()",
            "partition-and-its-clients",
            "2.1.0",
            "create_topic(0,0) ask_fetch(1)",
        ),
        "2.3.1",
    ),
    (
        Broken(
            "lost_leader_is_no_lost_listener()",
            "partition-and-its-clients",
            "2.5",
            "create_topic(0,0) end_other() ask_metadata()",
        ),
        "2.7",
    ),
    (
        Broken(
            "metadata_has_the_isr()",
            "partition-and-its-clients",
            "2.3.1",
            "create_topic(0,0) end_other() ask_metadata()",
        ),
        "2.5",
    ),
    (
        Broken(
            "metadata_has_replicas_in_order()",
            "partition-and-its-clients",
            "0.10.2",
            "create_topic(0,1) ask_metadata()",
        ),
        "0.11.0.0",
    ),
    (
        Broken(
            "fetch_has_the_stable_offset()",
            "partition-and-its-clients",
            "2.0",
            "create_topic(1,0) ask_fetch(0)",
        ),
        "2.1.0",
    ),
    (
        Broken(
            "creation_that_fails_says_why()",
            "requests-about-a-topic",
            "0.10.0",
            "ask_for_absent()",
        ),
        "0.10.1",
    ),
    (
        Broken(
            "disabled_deletion_is_refused()",
            "requests-about-a-topic",
            "2.0",
            "create_numbered(0) delete_disabled()",
        ),
        "2.3.1",
    ),
    (
        Broken(
            "absent_topic_has_no_values()",
            "requests-about-a-topic",
            "1.0",
            "describe()",
        ),
        "2.0",
    ),
    (
        Broken(
            "partitions_are_numbered_from_zero()",
            "requests-about-a-topic",
            "2.0",
            "create_numbered(0)",
        ),
        "2.3.1",
    ),
    (
        Broken(
            "list_can_be_appended_to()",
            "requests-about-a-topic",
            "2.5",
            "create_numbered(1) append_to_list()",
        ),
        "2.7",
    ),
    (
        Broken(
            "null_is_refused()",
            "requests-about-a-topic",
            "2.5",
            "create_numbered(1) set_null()",
        ),
        "2.7",
    ),
    (
        Broken(
            "absent_topic_is_not_altered()",
            "requests-about-a-topic",
            "2.5",
            "alter_absent()",
        ),
        "2.7",
    ),
    (
        Broken(
            "broker_outlives_its_session()",
            "features-amid-a-session",
            "2.8.2",
            "change_features(0) lose_session() read_features()",
        ),
        "3.7.0",
    ),
    (
        Broken(
            "broker_that_exits_ends()",
            "features-amid-a-session",
            "2.7",
            "change_features(1) read_features()",
        ),
        "2.8.2",
    ),
    (
        Broken(
            "failed_start_stops()",
            "start-that-fails",
            "0.10.1",
            "begin_quotas() load_server_logs(0) open_port(1)",
        ),
        "0.10.2",
    ),
    (
        Broken(
            "stopped_server_has_no_threads()",
            "start-that-fails",
            "1.0",
            "begin_quotas() load_server_logs(1) stop_failed()",
        ),
        "2.0",
    ),
    (
        Broken(
            "set_expiration_holds()",
            "dynamic-producer-expiration",
            "3.4.0",
            "change_expiration() stop_with_expiration() start_with_expiration()",
        ),
        "3.7.0",
    ),
    (
        Broken(
            "follower_in_sync_is_answered()",
            "fetch-of-a-throttled-follower",
            "1.0",
            "exceed_quota() begin_to_wait() produce_for_follower()",
        ),
        "2.0",
    ),
    (
        Broken(
            "consumer_gets_on()",
            "consumer-under-a-quota",
            "2.3.1",
            "produce_for_consumer(3) fetch_under_quota()",
        ),
        "2.5",
    ),
    (
        Broken(
            "used_session_stays(0)",
            "cache-of-fetch-sessions",
            "2.3.1",
            "pass_unused() pass_unused() use_session(0) evict(0)",
        ),
        "2.5",
    ),
    (
        Broken(
            "partitions_are_divided()",
            "fetchers-of-another-number",
            "2.8.2",
            "resize(1,0,0) resize(0,1,0)",
        ),
        "3.7.0",
    ),
    (
        Broken(
            "ended_thread_has_no_connection(1)",
            "fetchers-of-another-number",
            "2.0",
            "resize(1,0,0) resize(0,0,1)",
        ),
        "2.3.1",
    ),
    (
        Broken(
            "closed_directory_is_clean(1)",
            "log-stop-of-two-directories",
            "2.7",
            "close_logs(1) fail_to_close(0) finish_directory()",
        ),
        "2.8.2",
    ),
    (
        Broken(
            "deleted_log_has_no_task()",
            "log-and-its-task",
            "2.3.1",
            "schedule_log() delete_scheduled()",
        ),
        "2.5",
    ),
    (
        Broken(
            "batch_has_a_record_for_each_offset()",
            "log-received-batches",
            "1.0",
            "send_wrong_count()",
        ),
        "2.0",
    ),
    (
        Broken(
            "earlier_batch_is_accepted()",
            "log-received-batches",
            "2.5",
            "send_with_gaps()",
        ),
        "2.7",
    ),
    (
        Broken(
            "followers_know_the_compression()",
            "log-received-batches",
            "2.1.0",
            "send_zstd()",
        ),
        "2.3.1",
    ),
    (
        Broken(
            "refused_producer_is_answered()",
            "log-received-batches",
            "2.1.0",
            "send_old_zstd()",
        ),
        "2.3.1",
    ),
    (
        Broken(
            "file_is_read_to_its_end()",
            "log-file-that-is-read",
            "0.10.1",
            "write_batch() read_batch(1)",
        ),
        "0.10.2",
    ),
    (
        Broken(
            "reading_does_not_fail()",
            "log-file-that-is-read",
            "1.0",
            "write_batch() write_batch() read_batch(0) read_batch(0) read_batch(0)",
        ),
        "2.0",
    ),
    (
        Broken(
            "lookup_in_a_map_ends()",
            "log-full-map",
            "0.10.0",
            "put_key() put_key() look_up_absent()",
        ),
        "0.10.1",
    ),
    (
        Broken(
            "accepted_value_can_be_read()",
            "requests-about-a-topic",
            "1.0",
            "create_numbered(1) set_timestamp_type(0) restart_with_values()",
        ),
        "2.0",
    ),
    (
        Broken(
            "accepted_value_can_be_read()",
            "requests-about-a-topic",
            "2.0",
            "create_numbered(0) set_format(0) restart_with_values()",
        ),
        "2.3.1",
    ),
    (
        Broken(
            "accepted_value_lets_records_in()",
            "requests-about-a-topic",
            "1.0",
            "create_numbered(0) set_segment_ms(1) append_record()",
        ),
        "2.0",
    ),
    (
        Broken(
            "cleaner_has_room_for_a_set()",
            "log-cleaned-formats",
            "0.10.0",
            "write_set(0) raise_format() clean_set(0)",
        ),
        "0.10.1",
    ),
    (
        Broken(
            "set_has_one_format()",
            "log-cleaned-formats",
            "0.10.0",
            "write_set(1) raise_format() clean_set(1)",
            flags={"cleaner_keeps_formats": True},
        ),
        "0.10.1",
    ),
    (
        Broken(
            "given_id_is_not_generated(1)", "generated-broker-ids", "0.10.0", "start_without_id(0) start_with_id(1,1)"
        ),
        "0.10.1",
    ),
    (
        Broken(
            "full_update_leaves_what_it_names()",
            "full-requests-of-kraft",
            "3.6.1",
            "delete_topic() create_topic() send_full_requests() handle_full_update()",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "full_leader_and_isr_leaves_what_it_names()",
            "full-requests-of-kraft",
            "3.6.1",
            "delete_topic() create_topic() send_full_requests() handle_full_update() handle_full_leader_and_isr()",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "replica_of_the_image_is_there()",
            "kraft-topic-created-again",
            "3.6.0",
            "write_record() crash() create_topic_again() start_broker()",
        ),
        "3.7.0",
    ),
    (Broken("broker_starts()", "kraft-topic-created-again", "3.7.0", "crash() start_broker()"), "3.9.0"),
    (
        Broken(
            "served_log_has_what_was_written()",
            "kraft-failed-directory",
            "3.7.0",
            "write_record() break_disk(0) read_that_there_is_no_leader() flush_topic_id() crash() start_broker()",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "broker_starts()",
            "kraft-failed-directory",
            "3.7.0",
            "break_disk(0) create_topic_again() crash() repair_disk(0) start_broker()",
            flags={"unidentified_logs_are_strays": True},
        ),
        "3.9.0",
    ),
    (
        Broken(
            "copy_is_in_another_directory(1)",
            "kraft-move-from-a-failed-directory",
            "3.7.0",
            "move_replica(1) assign_directory(1) break_disk(0) crash() start_broker()",
            flags={"offline_replicas_keep_ids": True},
        ),
        "3.9.0",
    ),
    (
        Broken(
            "directory_fails_with_its_disk(1)",
            "kraft-move-from-a-failed-directory",
            "3.7.0",
            "move_replica(1) assign_directory(1) break_disk(0) crash() start_broker() promote_future_log(1)",
            flags={"offline_replicas_keep_ids": True},
        ),
        "3.9.0",
    ),
    (
        Broken(
            "producer_outlives_a_deletion()",
            "log-forgotten-producer",
            "2.0",
            "produce() delete_records() end_transaction() produce()",
        ),
        "2.3.1",
    ),
    (
        Broken("follower_has_a_fetcher()", "fetcher-of-a-moved-leader", "0.10.2", "follow() restart(1) follow()"),
        "0.11.0.0",
    ),
    (
        Broken("request_waits_for_its_time()", "request-and-a-clock", "0.10.0", "wait() wait() set_back() wait()"),
        "0.10.1",
    ),
    (Broken("leader_chooses_the_replica()", "consumer-of-followers", "2.8.2", "choose(0) send_on(1)"), "3.7.0"),
    (Broken("chosen_replica_is_in_sync(0)", "consumer-of-followers", "2.8.2", "leave_isr(0) choose(0)"), "3.7.0"),
    (
        Broken(
            "partition_waits_for_one_response(1)",
            "fetch-of-two-partitions",
            "2.8.2",
            "produce(0) produce(1) fetch() produce(0) fetch()",
        ),
        "3.7.0",
    ),
    (Broken("old_epoch_is_fenced()", "fetch-with-an-old-epoch", "2.3.1", "elect() fetch()"), "2.5"),
    (Broken("fetch_outlives_a_partition()", "fetch-of-a-lost-replica", "0.11.0.0", "reassign(0) fetch()"), "1.0"),
    (
        Broken(
            "buffers_are_used_by_one_request(0)",
            "append-in-another-thread",
            "3.6.0",
            "begin_append(0) verify() go_on(1) begin_request(0)",
        ),
        "3.7.0",
    ),
    (
        Broken(
            "move_is_accepted()",
            "log-move-asked-for-again",
            "1.1",
            "create_future() ask_again() replace_log() compare_directories()",
        ),
        "2.3.1",
    ),
    (
        Broken(
            "fetch_ends_at_the_high_watermark()",
            "log-fetch-amid-an-append",
            "2.3.1",
            "begin_fetch() slice_file() append() read_to_the_end()",
        ),
        "2.7",
    ),
    (
        Broken(
            "lookup_is_answered()",
            "log-lookup-amid-changes",
            "0.10.0",
            "begin_lookup() copy_segments() append() answer_lookup()",
            bounds={"old_segments": 0},
        ),
        "0.10.2",
    ),
    (
        Broken(
            "lookup_is_answered()",
            "log-lookup-amid-changes",
            "0.10.1",
            "begin_lookup() remove_segment() copy_segments()",
        ),
        "0.10.2",
    ),
    (
        Broken("fetch_is_answered()", "log-fetch-from-a-new-leader", "0.11.0.0", "begin_to_lead() fetch_and_wait()"),
        "1.0",
    ),
    (
        Broken(
            "append_to_a_new_segment_succeeds()",
            "log-index-of-two-readers",
            "2.3.1",
            "look(0) look(1) open_file(0) open_file(1) append()",
        ),
        "2.5",
    ),
    (Broken("large_log_is_shortened()", "log-above-two-gib", "0.11.0.0", "fill() fill() fill() fill()"), "1.0"),
    (
        Broken(
            "dirty_log_is_cleaned()", "log-above-two-gib-compacted", "0.11.0.0", "fill() clean() fill() fill() fill()"
        ),
        "1.0",
    ),
    (
        Broken(
            "transaction_is_read_when_it_has_ended()",
            "log-wrapped-sequences",
            "2.0",
            "produce() commit() produce() replicate()",
        ),
        "2.3.1",
    ),
    (
        Broken(
            "start_reads_what_was_not_flushed()",
            "log-start-after-a-crash",
            "0.11.0.0",
            "roll() flush() roll() roll() write_checkpoint() flush() crash() start()",
        ),
        "1.0",
    ),
    (Broken("start_reads_what_was_not_flushed()", "log-start-after-an-upgrade", "1.0", "start()"), "2.0"),
    (
        Broken(
            "start_reads_what_was_not_flushed()",
            "log-start-amid-a-swap",
            "2.7",
            "roll() roll() stop() leave_swap() start()",
        ),
        "3.7.0",
    ),
    (
        Broken(
            "broker_starts_amid_a_deletion()",
            "log-deletion-of-a-name-with-periods",
            "0.10.2",
            "create() delete_log() crash() start()",
        ),
        "2.3.1",
    ),
    (Broken("directory_outlives_a_deletion()", "log-deletion-of-a-long-name", "2.0", "create() delete_log()"), "2.3.1"),
    (
        Broken(
            "deletion_is_not_refused()",
            "log-deletion-beside-a-failed-disk",
            "2.0",
            "create() fail_other_disk() delete_log()",
        ),
        "2.3.1",
    ),
    (
        Broken(
            "broker_starts_amid_a_deletion()",
            "log-deletion-beside-a-failed-disk",
            "1.1",
            "crash() fail_other_disk() start()",
        ),
        "2.3.1",
    ),
    (
        Broken(
            "follower_with_all_records_stays()",
            "replica-lag-with-failing-reads",
            "2.3.1",
            "begin_to_shrink() fail_read() end_round() stall() end_round() end_round() shrink_isr()",
        ),
        "2.5",
    ),
    (Broken("stop_keeps_file_times()", "log-recovery", "0.10.0", "time_passes() shut_down()"), "0.10.1"),
    (Broken("segments_do_not_overlap(0)", "log-roll", "0.10.1", "append(1,0,1,0) append(1,0,2,2)"), "0.10.2"),
    (
        Broken(
            "append_does_not_fail()",
            "log-lookup",
            "1.0",
            "append(1,0,1,2) truncate_to(0)",
            bounds={"gaps": 2, "max_relative_offset": 1},
        ),
        "2.0",
    ),
    (
        Broken(
            "append_does_not_fail()", "log-recovery", "2.0", "shut_down() load() crash(0,0) load() finish_loading()"
        ),
        "2.5",
    ),
    (
        Broken(
            "cleaning_has_something_to_clean()",
            "log-compacted-copy",
            "2.0",
            f"""
            append_keyed(0,0,0,1) append_keyed(0,0,0,1) begin_cleaning() {CLEANED} begin_cleaning()
            """,
        ),
        "2.5",
    ),
    (
        Broken(
            "segment_before_the_start_is_deleted()",
            "log-deleted-records",
            "2.0",
            f"""
            append_keyed(0,0,0,0) append_keyed(0,0,0,0) append_keyed(0,0,0,0) replicate() delete_records(2)
            begin_cleaning() {CLEANED}
            """,
        ),
        "2.5",
    ),
    (
        Broken(
            "cleaning_has_something_to_clean()",
            "log-deleted-records",
            "2.5",
            "append_keyed(0,0,0,0) replicate() delete_records(1) begin_cleaning()",
        ),
        "2.7",
    ),
    (
        Broken(
            "expired_segment_is_deleted()",
            "log-retention",
            "0.10.0",
            "time_passes() append(1,0,1,0) raise_high_watermark(1)",
        ),
        "0.10.1",
    ),
    (
        Broken("young_record_is_kept(0)", "log-retention", "0.10.0", "append(1,1,1,0) time_passes() delete_old()"),
        "0.10.1",
    ),
    (
        Broken(
            "start_offset_is_not_above_the_high_watermark()",
            "log-retention",
            "0.11.0.0",
            "append(1,0,1,0) time_passes() delete_old()",
        ),
        "1.0",
    ),
    (
        Broken(
            "tombstone_is_kept_after_its_append(1)",
            "log-tombstones",
            "0.10.1",
            f"""
            append_keyed(0,1,0,0) append_keyed(0,0,1,0) begin_cleaning() append_keyed(1,0,0,0) {CLEANED}
            begin_cleaning() {CLEANED} {CLEANED}
            """,
        ),
        "0.10.2",
    ),
    (
        Broken(
            "cleaner_lives()",
            "log-compacted-copy",
            "0.10.2",
            f"""
            append_keyed(0,0,0,0) append_keyed(0,0,0,0) append_keyed(0,0,0,0) append_keyed(0,0,0,0)
            append_keyed(1,0,0,0) append_keyed(1,0,0,0) begin_cleaning() append_keyed(0,0,0,0) {CLEANED} {CLEANED}
            begin_cleaning() write_cleaned()
            """,
        ),
        "0.11.0.0",
    ),
    (
        Broken(
            "last_value_is_kept(0)",
            "log-compaction",
            "1.0",
            f"""
            append_keyed(0,0,0,0) append_keyed(0,0,0,0) append_keyed(1,0,0,0) append_keyed(1,0,0,0)
            append_keyed(0,0,0,0) raise_high_watermark(4) begin_cleaning() {CLEANED} write_cleaned() rename_to_swap()
            rename_old() crash(5,0) load() finish_loading()
            """,
            flags={"clean_below_high_watermark": True},
        ),
        "2.0",
    ),
    (
        Broken(
            "young_record_is_kept(0)",
            "log-recovery",
            "2.7",
            """
            append(1,1,1,0) raise_high_watermark(1) time_passes() shut_down() load() crash(1,0) load() finish_loading()
            delete_old()
            """,
        ),
        "2.8.2",
    ),
    (
        Broken(
            "no_batch_is_torn()",
            "log-recovery",
            "2.3.1",
            """
            append(1,0,1,0) append(1,0,1,0) append(1,0,1,0) crash(1,0) load() finish_loading()
            checkpoint_recovery_point() crash(0,1) load() finish_loading()
            """,
        ),
        "2.8.2",
    ),
    (
        Broken(
            "last_value_is_kept(0)",
            "log-compaction",
            "2.8.2",
            f"""
            append_keyed(0,0,0,0) append_keyed(0,0,0,0) append_keyed(0,0,0,0) raise_high_watermark(1) begin_cleaning()
            {CLEANED}
            """,
        ),
        "3.9.0",
    ),
    (
        Broken(
            "tombstone_is_kept_after_compaction(0)",
            "log-tombstones",
            "2.8.2",
            f"""
            append_keyed(0,0,1,0) time_passes() append_keyed(1,0,0,0) append_keyed(1,0,0,0) begin_cleaning()
            append_keyed(1,0,0,0) {CLEANED} {CLEANED} begin_cleaning() {CLEANED}
            """,
        ),
        "3.9.0",
    ),
    (
        Broken(
            "tombstone_goes_after_its_time()",
            "log-tombstones",
            "2.8.2",
            """
            append_keyed(0,0,1,0) append_keyed(1,0,0,0) begin_cleaning() append_keyed(0,0,0,0) write_cleaned()
            time_passes() rename_to_swap() rename_old() finish_swap() begin_cleaning() write_cleaned()
            """,
        ),
        "3.9.0",
    ),
    (
        Broken("start_offset_is_not_above_the_high_watermark()", "log-full-truncation", "2.0", "truncate_fully(1)"),
        "2.5",
    ),
    (
        Broken(
            "committed_record_is_kept(0)",
            "leader-epochs",
            "0.10.2",
            "produce() fetch(1) fetch(1) elect(1) elect(0) truncate_follower(1) elect(1)",
        ),
        "0.11.0.0",
    ),
    (
        Broken(
            "logs_agree(1, 0)",
            "leader-epochs",
            "1.0",
            "produce() elect(1) produce() elect(0) truncate_follower(1)",
            flags={"leader_knows_its_epoch": True},
        ),
        "2.5",
    ),
    (
        Broken(
            "committed_record_is_kept(0)",
            "leader-epochs",
            "2.0",
            "produce() elect(1) produce() elect(0) produce() truncate_follower(1) fetch(1) elect(1)",
        ),
        "2.5",
    ),
    (
        Broken(
            "committed_record_is_kept(1)",
            "leader-epochs",
            "2.0",
            """
            produce() produce() fetch(1) fetch(1) crash(2,0) fetch(1) elect(1) restart(2) truncate_follower(2) fetch(2)
            elect(2)
            """,
            bounds={"members": 3, "elections": 2, "offsets": 2, "crashes": 1},
            flags={"leader_knows_its_epoch": True},
        ),
        "2.5",
    ),
    (
        Broken(
            "committed_record_is_kept(0)",
            "leader-epochs-missed-election",
            "2.0",
            """
            produce() fetch(1) elect_unnoticed(2,1) produce() truncate_follower(0) fetch(0) elect(0)
            truncate_follower(2) fetch(1) fetch(2) elect(1)
            """,
            flags={"leader_knows_its_epoch": True, "isr_needs_the_epoch": True},
        ),
        "2.3.1",
    ),
    (
        Broken(
            "committed_record_is_kept(0)",
            "leader-epochs-zombie-follower",
            "2.0",
            """
            produce() fetch(1) elect_unnoticed(2,1) produce() truncate_follower(0) fetch(0) elect_again_unnoticed(0,1)
            truncate_follower(2) fetch(2) fetch_unaware(1) elect(1)
            """,
            flags={"leader_knows_its_epoch": True, "isr_needs_the_epoch": True, "missed_epochs_truncate": True},
        ),
        "2.1.0",
    ),
    (
        Broken(
            "logs_agree(0, 0)",
            "leader-epochs-early-leader",
            "2.0",
            "produce() elect(1) produce() truncate_follower(0)",
        ),
        "2.2.0",
    ),
    (
        Broken(
            "largest_timestamp_has_its_offset()",
            "log-largest-timestamp-uncompressed",
            "3.7.0",
            "append_uncompressed(0,1)",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "changed_limit_holds()",
            "log-segment-limits",
            "2.0",
            "append(1,0,1,0) lower_segment_bytes() append(1,0,1,0)",
        ),
        "2.3.1",
    ),
    (
        Broken(
            "no_batch_is_torn()",
            "log-recovery-failed-start",
            "3.5.1",
            "append(1,0,1,0) crash(0,1) fail_before_loading() load() finish_loading()",
        ),
        "3.9.0",
    ),
    (
        Broken("elected_replica_leads()", "log-full-truncation-elected", "1.0", "truncate_fully(1) begin_to_lead()"),
        "2.0",
    ),
    (
        Broken(
            "crashed_broker_starts()",
            "log-recovery-below-the-start",
            "1.0",
            "append(1,0,1,0) append(1,0,1,0) replicate() delete_records(1) checkpoint_start_offset() crash(2,0)",
        ),
        "2.0",
    ),
    (
        Broken(
            "flushed_records_survive(1)",
            "log-lost-names",
            "2.8.2",
            "append(1,0,1,0) append(1,0,1,0) flush(2) crash_unnamed(1)",
        ),
        "3.7.0",
    ),
    (
        Broken(
            "broker_outlives_its_leaders_log()",
            "leader-epochs-missed-election",
            "2.0",
            "produce() fetch(1) elect_unnoticed(2,1) truncate_follower(0) elect(0) fetch(1)",
        ),
        "2.3.1",
    ),
    (
        Broken(
            "follower_shows_what_is_committed(0, 0)",
            "leader-epochs",
            "2.8.2",
            "produce() elect(1) crash(0,0) produce() restart(0) raise_before_truncation(0)",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "isr_follows_its_replica()",
            "isr-changes",
            "2.7",
            """
            fall_behind() shrink_isr() elect(0) handle_leader_and_isr() shrink_isr() handle_alter_isr(0) handle_answer()
            """,
        ),
        "3.7.0",
    ),
    (
        Broken(
            "isr_follows_its_replica()",
            "isr-changes",
            "2.8.2",
            "fall_behind() shrink_isr() handle_alter_isr(1) handle_answer()",
        ),
        "3.7.0",
    ),
    (
        Broken(
            "lone_leader_has_committed_all()",
            "isr-changes",
            "2.8.2",
            "produce() fall_behind() shrink_isr() handle_alter_isr(0) handle_answer()",
        ),
        "3.7.0",
    ),
    (
        Broken(
            "cleaner_outlives_empty_batches()",
            "log-empty-batches",
            "2.0",
            "append_record() end_transaction(0,1) clean(0) clean(1)",
            flags={"empty_markers_are_read": True},
        ),
        "2.3.1",
    ),
    (
        Broken(
            "empty_marker_can_be_loaded()",
            "log-empty-batches",
            "2.0",
            "append_record() end_transaction(0,0) append_record() end_transaction(1,1) clean(0) clean(1) load()",
        ),
        "2.3.1",
    ),
    (
        Broken(
            "one_batch_is_left_empty()",
            "log-empty-batches",
            "2.0",
            "append_record() append_record() end_transaction(0,1) clean(0)",
            bounds={"reuses": 1},
            flags={"empty_batches_alone_are_written": True, "empty_markers_are_read": True},
        ),
        "2.3.1",
    ),
    (
        Broken(
            "deleted_key_stays_deleted()",
            "log-deleted-key",
            "0.11.0.0",
            "append_record() delete_key() end_transaction(0,0) clean(1)",
        ),
        "1.0",
    ),
    (
        Broken(
            "offset_is_given_once()",
            "log-write-errors",
            "2.0",
            "fail_to_index() append()",
        ),
        "2.3.1",
    ),
    (
        Broken(
            "answered_batch_survives_a_failure()",
            "log-write-errors",
            "2.7",
            "fail_to_append() append() go_offline() restart()",
        ),
        "3.7.0",
    ),
    (
        Broken(
            "cleaner_outlives_errors()",
            "log-shared-with-the-cleaner",
            "2.0",
            "append_record() begin_cleaning() fail_to_clean()",
            flags={"choices_outlive_errors": True},
        ),
        "2.5",
    ),
    (
        Broken("cleaner_outlives_errors()", "log-shared-with-the-cleaner", "2.3.1", "append_record() fail_to_choose()"),
        "2.5",
    ),
    (
        Broken(
            "truncation_does_not_wait_for_good()",
            "log-shared-with-the-cleaner",
            "1.0",
            """
            append_record() expire() begin_cleaning() end_cleaning() begin_deletion() begin_truncation() end_deletion()
            """,
            bounds={"log_errors": 0},
        ),
        "2.0",
    ),
    (
        Broken(
            "cleaning_resumes()",
            "log-shared-with-the-cleaner",
            "0.10.2",
            "append_record() begin_truncation() fail_to_truncate()",
        ),
        "0.11.0.0",
    ),
    (
        Broken(
            "log_keeps_its_time_index()",
            "log-deletion",
            "0.11.0.0",
            "create() delete_log() create() delete_files()",
        ),
        "1.0",
    ),
    (
        Broken(
            "directory_outlives_a_deletion()",
            "log-deletion",
            "1.0",
            "create() begin_flush() delete_log() flush_files()",
        ),
        "2.0",
    ),
    (
        Broken(
            "directory_outlives_a_deletion()",
            "log-deletion",
            "3.5.1",
            "create() begin_flush() delete_log() flush_files() flush_folder()",
        ),
        "3.7.0",
    ),
    (
        Broken(
            "broker_starts_amid_a_deletion()",
            "log-deletion",
            "2.0",
            "create() delete_log() delete_files() crash() start()",
        ),
        "2.3.1",
    ),
    (
        Broken(
            "removed_segment_leaves_no_files()",
            "log-deletion-after-a-move",
            "2.8.2",
            "create_future() remove_segment() replace_log() delete_removed()",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "logs_agree(0, 0)",
            "leader-epochs-old-format",
            "1.0",
            "produce() elect(1) produce() truncate_follower(0)",
        ),
        "2.0",
    ),
    (
        Broken(
            "truncation_spares_what_is_committed(1)",
            "leader-epochs-mixed-formats",
            "2.1.0",
            "elect(1) produce() truncate_follower(0) fetch(0) fetch(0) elect(0) truncate_follower(1)",
            bounds={"members": 2, "old_members": 2, "elections": 2},
        ),
        "2.2.0",
    ),
    (
        Broken(
            "truncation_spares_what_is_committed(0)",
            "leader-epochs-mixed-formats",
            "2.2.0",
            """
            elect(1) elect(2) produce() truncate_follower(0) truncate_follower(1) fetch(0) fetch(0) fetch(1) fetch(1)
            fetch(0) elect(1) truncate_follower(0)
            """,
        ),
        "2.3.1",
    ),
    (
        Broken(
            "no_batch_is_torn()",
            "log-recovery-full-disk",
            "2.8.2",
            "append(1,0,1,0) crash(0,1) fail_to_load() load() finish_loading()",
        ),
        "3.7.0",
    ),
    (
        Broken(
            "lookup_finds_what_can_be_read()",
            "log-committed-lookups",
            "0.11.0.0",
            "append_other(0,0) look_up(0)",
        ),
        "1.0",
    ),
    (
        Broken(
            "broker_starts_after_a_crash()",
            "log-producer-state",
            "0.11.0.0",
            "produce(0,0) append_other(0,1) crash(1,0) start()",
        ),
        "1.0",
    ),
    (
        Broken(
            "open_transaction_is_not_read()",
            "log-committed-reads",
            "2.3.1",
            "begin() begin_read() produce(1,0) end_read()",
        ),
        "2.5",
    ),
    (
        Broken(
            "replicated_record_is_committed()",
            "log-move-late-update",
            "2.7",
            """
            append_record(0) begin_update() start_move() truncate_future() fetch(0) replace_log() end_update()
            """,
        ),
        "3.7.0",
    ),
    (
        Broken("truncation_ends(0)", "leader-epochs", "2.5", "produce() elect(1) produce() elect(0) elect(1)"),
        "2.7",
    ),
    (
        Broken(
            "epochs_of_the_log_are_known(0)",
            "leader-epochs-lost",
            "2.5",
            "produce() crash(0,0) remove_epochs(0) restart(0)",
        ),
        "2.7",
    ),
    (
        Broken("epoch_file_can_be_read()", "leader-epochs-torn", "3.7.0", "elect(1) truncate_follower(0) crash(0,1)"),
        "3.9.0",
    ),
    (
        Broken(
            "log_directory_stays_online()",
            "log-policy-change",
            "2.0",
            """
            append_keyed(0,0,0,0) append_keyed(0,0,0,0) append_keyed(0,0,0,0) replicate() time_passes()
            begin_cleaning() change_policy() delete_old() miss_old()
            """,
        ),
        "2.5",
    ),
    (
        Broken(
            "cleaning_ends_with_its_policy()",
            "log-policy-change",
            "2.8.2",
            """
            append_keyed(0,0,0,0) append_keyed(0,0,0,0) append_keyed(0,0,0,0) begin_cleaning() write_cleaned()
            change_policy() rename_to_swap()
            """,
        ),
        "3.9.0",
    ),
    (
        Broken(
            "cleaner_lives()",
            "log-small-map",
            "0.10.0",
            "append_keyed(0,0,0,0) append_keyed(1,0,0,0) append_keyed(0,0,0,0) begin_cleaning()",
        ),
        "0.10.1",
    ),
    (
        Broken(
            "cleaner_lives()",
            "log-large-batches",
            "0.10.0",
            "append_keyed(0,0,0,0) append_keyed(0,0,0,0) append_keyed(0,0,0,0) begin_cleaning()",
        ),
        "0.10.1",
    ),
    (
        Broken(
            "cleaner_lives()",
            "log-large-batches",
            "1.0",
            "append_keyed(0,0,0,0) append_keyed(0,0,0,0) append_keyed(0,0,0,0) lower_limit() begin_cleaning()",
        ),
        "2.0",
    ),
    (
        Broken(
            "segment_ends_with_its_last_record(0)",
            "log-preallocated",
            "0.11.0.0",
            f"""
            append_keyed(0,0,0,0) append_keyed(0,0,0,0) append_keyed(0,0,0,0) begin_cleaning() {CLEANED} flush(2)
            checkpoint_recovery_point() crash(3,0) load()
            """,
        ),
        "1.0",
    ),
    (
        Broken(
            "aborted_record_is_left_out()",
            "log-compacted-transactions",
            "2.7",
            "append_record(0,0) append_record(0,0) append_record(0,1) end_transaction(0) clean(0)",
        ),
        "2.8.2",
    ),
    (
        Broken(
            "transaction_has_its_marker()",
            "log-compacted-transactions",
            "2.8.2",
            "append_record(1,1) end_transaction(1) append_record(0,0) clean(0) clean(0)",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "marker_outlives_its_records()",
            "log-compacted-transactions",
            "2.8.2",
            "append_record(0,1) end_transaction(0) append_record(1,0) clean(0)",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "index_has_the_marker()",
            "log-compacted-transactions",
            "2.8.2",
            "append_record(0,1) end_transaction(0) append_record(1,0) clean(0)",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "cleaner_lives()",
            "log-deleted-records",
            "2.3.1",
            "append_keyed(0,0,0,0) replicate() delete_records(1) begin_cleaning()",
        ),
        "2.7",
    ),
    (
        Broken(
            "appended_record_can_be_read()",
            "log-recovery",
            "2.0",
            """
            append(1,0,1,0) raise_high_watermark(1) delete_records(1) checkpoint_start_offset() crash(0,0) load()
            finish_loading() append(1,0,1,0)
            """,
        ),
        "2.5",
    ),
    (
        Broken(
            "empty_segment_is_merged()",
            "log-compacted-copy",
            "2.8.2",
            f"""
            append_keyed(0,0,0,0) append_keyed(0,0,0,0) append_keyed(0,0,0,0) append_keyed(0,0,0,0)
            append_keyed(0,0,0,0) append_keyed(0,0,0,0) append_keyed(0,0,0,0) append_keyed(0,0,0,0) begin_cleaning()
            append_keyed(0,0,0,0) {CLEANED} {CLEANED} {CLEANED} begin_cleaning() write_cleaned()
            """,
            bounds={"offsets": 9, "gaps": 0, "keys": 1, "segments": 5},
        ),
        "3.9.0",
    ),
    (
        Broken(
            "transaction_has_its_marker()",
            "log-transactions-in-groups",
            "2.0",
            "append_record(0,0) append_record(0,1) end_transaction(1) clean(1)",
            flags={"markers_have_no_key": True},
        ),
        "2.5",
    ),
    (
        Broken(
            "answered_batch_was_appended()",
            "log-producer-state",
            "1.0",
            "produce(1,0) produce(0,1) truncate_to(1) produce(1,0)",
        ),
        "2.0",
    ),
    (
        Broken(
            "producer_can_continue()",
            "log-producer-state",
            "2.3.1",
            "produce(1,0) append_other(0,1) delete_first_segment()",
        ),
        "2.5",
    ),
    (
        Broken(
            "producer_can_continue()",
            "log-producer-state",
            "2.3.1",
            "produce(1,0) produce(0,1) delete_first_segment() truncate_to(1)",
            flags={"producers_outlive_records": True},
        ),
        "2.5",
    ),
    (
        Broken("snapshot_can_be_read()", "log-producer-state", "2.7", "produce(0,0) append_other(0,1) crash(1,0)"),
        "2.8.2",
    ),
    (
        Broken(
            "file_deletion_spares_snapshots()",
            "log-producer-state",
            "2.8.2",
            "produce(0,0) append_other(0,1) truncate_to(0) produce(0,0) append_other(0,1) delete_files()",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "replication_continues()",
            "log-copied-producer",
            "0.11.0.0",
            "produce(1,0) append_other(0,1) delete_first_segment()",
        ),
        "1.0",
    ),
    (
        Broken(
            "fenced_producer_appends_nothing()",
            "log-late-batches",
            "2.3.1",
            "begin() delay() end_transaction(1) expire() arrive()",
        ),
        "2.5",
    ),
    (
        Broken(
            "truncation_does_not_fail()",
            "log-late-batches",
            "2.5",
            "begin() append_other(0,0) produce(0,0) stop() start() truncate_to(0)",
        ),
        "2.8.2",
    ),
    (
        Broken(
            "open_transaction_is_ongoing()",
            "log-late-batches",
            "2.8.2",
            "begin() delay() end_transaction(0) arrive()",
        ),
        "3.7.0",
    ),
    (
        Broken(
            "open_transaction_has_its_first_offset()",
            "log-recovered-transactions",
            "2.7",
            "begin() produce(1,0) produce(1,1) produce(0,1) crash(1,0) start()",
        ),
        "2.8.2",
    ),
    (
        Broken(
            "move_ends()",
            "log-move",
            "2.0",
            "append_record(0) append_record(0) start_move() truncate_future() fetch(0) fetch(1)",
        ),
        "2.3.1",
    ),
    (
        Broken(
            "move_does_not_fail()",
            "log-move",
            "2.3.1",
            "start_move() change_leader() truncate_future() fetch(0)",
        ),
        "2.5",
    ),
    (
        Broken(
            "move_does_not_fail()",
            "log-move",
            "2.8.2",
            "append_record(0) replicate() start_move() change_leader() truncate_future() fetch(0)",
        ),
        "3.7.0",
    ),
    (
        Broken(
            "committed_record_is_kept(0)",
            "leader-epochs-late-answer",
            "2.8.0",
            """
            produce() elect(1) delay_answer(0) elect(0) truncate_follower(1) fetch(1) fetch(1) handle_late_answer(0)
            """,
        ),
        "2.8.2",
    ),
    *(
        (
            Broken(
                "committed_record_is_kept(0)",
                "leader-epochs-stale-answer",
                release,
                """
                produce() elect(1) delay_answer(0) elect(0) truncate_follower(1) fetch(1) fetch(1) elect(1)
                handle_late_answer(0) elect(0)
                """,
            ),
            repaired,
        )
        for release, repaired in (("2.1.0", "2.2.0"), ("3.9.0", "3.9.1"))
    ),
    (
        Broken(
            "fetcher_does_not_give_up()",
            "leader-epochs-deleted-records",
            "2.8.0",
            """
            produce() produce() produce() elect(1) produce() elect(0) crash(1,0) produce() restart(1) delete_records(2)
            give_up(1)
            """,
        ),
        "2.8.2",
    ),
    (
        Broken(
            "told_end_does_not_go_back()",
            "leader-epochs-end-lookups",
            "2.1.0",
            "produce() fetch(1) fetch(1) ask_for_end() elect(1) ask_for_end()",
        ),
        "2.2.0",
    ),
    (
        Broken(
            "cleaner_outlives_transactions()",
            "log-compacted-transactions",
            "1.0",
            "append_record(0,1) append_record(0,1) end_transaction(0) clean(0)",
        ),
        "2.0",
    ),
    (
        Broken(
            "move_does_not_fail()",
            "log-move-compacted",
            "2.0",
            "append_record(0) append_record(1) start_move() truncate_future() truncate() replace_log()",
            flags={"move_resumes_at_its_log": True},
        ),
        "2.3.1",
    ),
    (
        Broken(
            "cleaning_is_remembered()",
            "log-move-compacted",
            "2.5",
            """
            append_record(0) append_record(1) clean() start_move() truncate_future() fetch(0) fetch(0) replace_log()
            append_record(1) clean()
            """,
            start=1,
        ),
        "2.7",
    ),
    (
        Broken(
            "cleaning_resumes_after_a_move()",
            "log-move-compacted",
            "3.7.0",
            "start_move() change_leader() truncate_future() replace_log()",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "follower_catches_up()",
            "log-copy",
            "1.0",
            "truncate_within_a_batch(1)",
            flags={"followers_take_large_batches": True, "responses_are_of_one_moment": True},
        ),
        "2.0",
    ),
    (
        Broken(
            "follower_catches_up()",
            "log-copy",
            "1.0",
            "delete_of_leader(1)",
            flags={"followers_take_large_batches": True, "copies_begin_within_a_batch": True},
        ),
        "2.0",
    ),
    (Broken("follower_catches_up()", "log-copy", "2.5", "lower_limit()"), "2.7"),
    (Broken("follower_catches_up()", "log-copy-damaged", "0.10.1", "damage_response()"), "0.10.2"),
    (
        Broken(
            "moved_log_has_the_same_records()",
            "log-move-diverged",
            "1.1",
            """
            append_record(0) start_move() truncate_future() fetch(0) diverge() append_record(0) truncate_future()
            replace_log()
            """,
        ),
        "2.0",
    ),
    (
        Broken("largest_timestamp_has_its_offset()", "log-largest-timestamp", "3.7.0", "append_compressed(0,1)"),
        "3.9.0",
    ),
    (
        Broken(
            "old_appends_are_deleted()",
            "log-future-timestamps",
            "3.9.0",
            "append(1,1,1,0) raise_high_watermark(1) time_passes()",
        ),
        "0.10.0",  # the last one without it: no later one closes it, unless it is configured
    ),
    (
        Broken(
            "topic_configuration_is_kept()",
            "dynamic-configuration",
            "2.0",
            """
            alter_topic(0) alter_broker(0) handle_topic_change() handle_broker_change() alter_broker(1)
            handle_broker_change()
            """,
        ),
        "2.5",
    ),
    (
        Broken(
            "deleted_configuration_does_not_hold()",
            "dynamic-configuration",
            "2.5",
            "alter_broker(1) handle_broker_change() alter_broker(None) handle_broker_change()",
        ),
        "2.7",
    ),
    (
        Broken(
            "configuration_follows_precedence()",
            "dynamic-configuration",
            "2.8.2",
            "alter_other_key() handle_cluster_change()",
            start=2,
        ),
        "3.9.0",
    ),
    (
        Broken(
            "log_has_the_topics_configuration()",
            "log-created-amid-a-change",
            "2.3.1",
            "begin_creation() change_configuration() handle_change() create() finish_creation()",
        ),
        "2.5",
    ),
    (
        Broken(
            "created_log_keeps_its_records(0)",
            "log-created-again",
            "2.5",
            """
            append(1,0,1,0) raise_high_watermark(1) delete_records(1) checkpoint_start_offset() create_again()
            append(1,0,1,0) crash(1,0) load()
            """,
        ),
        "2.7",
    ),
    (
        Broken(
            "no_batch_is_torn()",
            "log-created-again-unflushed",
            "2.5",
            """
            append(1,0,1,0) flush(1) checkpoint_recovery_point() create_again() append(1,0,1,0) append(1,0,1,0)
            crash(0,1) load() finish_loading()
            """,
        ),
        "2.7",
    ),
    (
        Broken(
            "kept_batch_is_whole()",
            "log-grown-batches",
            "0.10.2",
            "append_batch(1,2) append_batch(1,3) clean_chunk()",
        ),
        "0.11.0.0",
    ),
    (
        Broken(
            "cleaner_outlives_grown_batches()",
            "log-grown-batches",
            "0.10.1",
            "append_batch(1,2) append_batch(1,3) clean_chunk()",
        ),
        "0.11.0.0",
    ),
    (
        Broken(
            "topic_created_later_is_cleaned()",
            "log-uncleanable",
            "2.8.2",
            """
            append_records() damage_batch() fail_to_clean() delete_topic() come_round() create_topic() append_records()
            """,
        ),
        "3.7.0",
    ),
    (
        Broken("cleaner_has_its_rate()", "dynamic-cleaner-rate", "2.8.2", "alter_rate(1) handle_change()"),
        "3.7.0",
    ),
    (
        Broken(
            "other_partitions_are_fetched(1)",
            "fetcher-of-two-partitions",
            "2.1.1",
            "add(0) add(1) list_truncating() remove(0) truncate()",
            bounds={"fetch_errors": 0},
        ),
        "2.3.1",
    ),
    (
        Broken(
            "other_partitions_are_fetched(1)",
            "fetcher-of-two-partitions",
            "2.0",
            "add(0) list_truncating() add(1) truncate() fail(0)",
        ),
        "2.3.1",
    ),
    (
        Broken(
            "appends_end(0, 1)",
            "appends-amid-changes",
            "2.1.0",
            "append(0,0) append(1,1) begin_answer(0) begin_answer(1) begin_change(0) begin_change(1)",
        ),
        "2.3.1",
    ),
    (
        Broken(
            "due_request_is_answered()",
            "requests-that-wait",
            "1.0",
            "send() fetch_some(0) look(0) fetch_all(1) look(1) unlock(0)",
            flags={"stops_check_requests": True},
        ),
        "2.5",
    ),
    (Broken("due_request_is_answered()", "requests-that-wait", "2.3.1", "send() stop_replica(0)"), "2.5"),
    (Broken("due_request_is_answered()", "fetches-from-a-follower", "2.8.2", "fetch_from_leader()"), "3.9.0"),
    (
        Broken(
            "due_request_is_answered()",
            "fetches-from-a-follower",
            "2.8.2",
            "send() follow(0)",
            flags={"redirects_are_answered": True},
        ),
        "3.7.0",
    ),
    (
        Broken("broker_ends()", "stop-that-asks-the-controller", "2.8.2", "start() request_stop() lose_zookeeper()"),
        "3.7.0",
    ),
    (Broken("broker_ends()", "stop-that-asks-the-controller", "2.5", "connect() fail_start()"), "2.7"),
    (
        Broken(
            "stop_asks_for_other_leaders()",
            "stop-that-asks-the-controller",
            "1.0",
            "start() request_stop() lose_controller() ask()",
        ),
        "2.0",
    ),
    (
        Broken("coordinator_is_told()", "fetcher-without-partitions", "2.0", "send() lead() end_idle() receive()"),
        "2.3.1",
    ),
    (
        Broken(
            "stop_is_clean()",
            "orderly-stop",
            "0.10.1",
            "request_stop() end_scheduler() begin_to_close() expire_member()",
        ),
        "0.10.2",
    ),
    (
        Broken(
            "stop_is_clean()", "orderly-stop", "3.0.0", "request_stop() end_coordinator() begin_to_close() retain()"
        ),
        "3.7.0",
    ),
    (
        Broken(
            "stop_ends()",
            "orderly-stop-without-a-delete-delay",
            "2.8.2",
            "begin_deletion() request_stop() end_coordinator()",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "committed_transaction_is_whole()",
            "transaction-that-times-out",
            "0.11.0.0",
            """
            write_to_a_partition() abort_after_timeout() write_to_a_partition() commit_open_transaction()
            """,
        ),
        "1.0",
    ),
    (
        Broken(
            "prepared_transaction_is_completed()",
            "transactional-id",
            "0.11.0.0",
            """
            start_producer() replicate_record() add_first_partition() replicate_record() end_by_request()
            replicate_beside_a_thread()
            """,
        ),
        "1.0",
    ),
    (
        Broken(
            "transactional_id_can_be_used()",
            "transactional-id",
            "2.0",
            "start_producer() replicate_record() expire_id(1) refuse_record()",
            flags={"unused_ids_expire": True},
        ),
        "2.3.1",
    ),
    (
        Broken(
            "transactional_id_can_be_used()",
            "transactional-id",
            "2.3.1",
            """
            start_producer() replicate_record() add_first_partition() replicate_record() end_by_request()
            replicate_record() send_marker() write_marker(1) replicate_record() add_first_partition()
            set_clock_back() replicate_record()
            """,
            flags={"unused_ids_expire": True},
        ),
        "2.5",
    ),
    (
        Broken(
            "prepared_transaction_is_completed()",
            "transactional-id",
            "2.3.1",
            """
            start_producer() replicate_record() add_first_partition() replicate_record() end_by_request()
            replicate_record() send_marker() answer_disk_error()
            """,
            flags={"completions_are_noticed": True},
        ),
        "2.5",
    ),
    (
        Broken(
            "prepared_transaction_is_completed()",
            "transactional-id",
            "2.5",
            """
            start_producer() replicate_record() add_first_partition() replicate_record() end_by_request()
            replicate_record() send_marker() write_marker(0)
            """,
        ),
        "2.7",
    ),
    (
        Broken(
            "transactional_id_can_be_used()",
            "transactional-id",
            "2.8.2",
            "start_producer() leave_unused_id() replicate_record() expire_id(1)",
        ),
        "3.7.0",
    ),
    (
        Broken(
            "other_ids_expire()",
            "many-transactional-ids",
            "2.7",
            "start_producer() replicate_record() expire_many_ids()",
            flags={"unused_ids_expire": True},
        ),
        "2.8.2",
    ),
    (
        Broken(
            "coordinator_ends_to_load()",
            "transactions-of-a-moved-coordinator",
            "2.3.1",
            "move_transactions_away(1) move_transactions_back()",
        ),
        "2.5",
    ),
    (
        Broken(
            "loaded_transaction_is_completed()",
            "transactions-of-a-moved-coordinator",
            "2.8.2",
            "prepare_end() move_transactions_away(0) move_transactions_back() answer_old_marker()",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "epoch_rises_once()",
            "fences-that-fail",
            "2.5",
            "fence_producer() refuse_fence() fence_producer()",
        ),
        "2.7",
    ),
    (
        Broken(
            "new_producer_waits_for_its_id()",
            "producer-ids-from-the-controller",
            "3.3.1",
            "change_controller() ask_for_an_id() miss_the_ids()",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "cleaning_resumes_after_a_move()",
            "log-move-amid-a-failover",
            "2.5",
            "start_move() truncate_future() repeat_leader() replace_log()",
            flags={"moves_pause_once": True},
        ),
        "3.9.0",
    ),
)
"""The shortest way to what each fix closes, in a release without it; and a release in which that way breaks nothing."""
NEVER_FIXED = (
    Broken("cleaning_resumes_after_a_move()", "log-move-cancelled", "3.9.0", "start_move() cancel_move()"),
    Broken(
        "cleaning_outlives_a_failed_move()",
        "log-move-that-fails",
        "3.9.0",
        "start_move() truncate_future() fail_move()",
    ),
    Broken("follower_catches_up()", "log-copy-above-segments", "3.9.0", "lower_segments()"),
    Broken(
        "producer_commits_what_is_read()",
        "transaction-after-a-late-commit",
        "3.9.0",
        "write_next() commit_first(1) write_next() get_late_copy()",
    ),
    Broken(
        "coordinator_ends_to_load()",
        "transactions-loaded-amid-a-session",
        "3.9.0",
        "move_transactions_away(0) load_amid_a_session()",
    ),
    Broken(
        "grown_segment_is_cleaned()",
        "log-grown-segment",
        "3.9.0",
        "append_batch(1,2) append_batch(1,3) clean_chunk()",
    ),
    Broken(
        "untrimmed_index_is_recovered(1)",
        "log-stop-with-a-full-disk",
        "3.9.0",
        "close_logs(0) fail_to_trim(1) finish_directory() finish_directory()",
    ),
    Broken(
        "due_request_is_answered()",
        "requests-beside-a-failed-fetch",
        "3.9.0",
        "send() fetch_all_beside_a_failure(0)",
    ),
    Broken(
        "removed_segment_leaves_no_snapshot()",
        "log-snapshot-after-a-move",
        "3.9.0",
        "create_future() remove_segment() replace_log() delete_removed()",
    ),
    Broken(
        "copy_ends_with_the_log()",
        "log-last-tombstone",
        "3.9.0",
        """
        append_keyed(0,0,1,0) append_keyed(0,0,0,0) empty_active_segment() replicate() begin_cleaning()
        time_passes() write_cleaned() rename_to_swap() rename_old() finish_swap() lose_cleaner_checkpoint()
        begin_cleaning() write_cleaned() rename_to_swap() rename_old() finish_swap()
        """,
    ),
    Broken(
        "follower_that_waits_stays()",
        "replica-lag-with-slow-reads",
        "3.9.0",
        "produce() begin_to_shrink() begin_slow_read() end_round() end_round() end_round() shrink_isr()",
    ),
    Broken(
        "directory_outlives_a_deletion()",
        "log-deletion-amid-a-long-flush",
        "3.9.0",
        "create() begin_flush() delete_log() delete_files() flush_files()",
    ),
    Broken(
        "served_log_has_what_was_written()",
        "kraft-move-from-a-failed-directory",
        "3.9.0",
        "move_replica(1) assign_directory(1) write_record() crash() start_broker()",
    ),
    Broken(
        "broker_starts()",
        "kraft-move-from-a-failed-directory",
        "3.9.0",
        """
        move_replica(1) assign_directory(1) break_disk(0) crash() start_broker() crash() repair_disk(0)
        start_broker()
        """,
    ),
    Broken(
        "exit_spares_records(0)",
        "leader-epochs-lost-tail",
        "0.10.0",
        """
        produce() fetch(1) fetch(1) elect(1) lose_tail(0) restart(1) elect(1) truncate_follower(0)
        exit_at_a_shorter_leader(0) restart(0) truncate_follower(0)
        """,
    ),
    Broken(
        "exit_spares_records(0)",
        "leader-epochs-lost-tail",
        "0.10.2",
        """
        produce() fetch(1) fetch(1) elect(1) lose_tail(0) restart(1) elect(1) truncate_follower(0)
        exit_at_a_shorter_leader(0) restart(0) truncate_follower(0)
        """,
    ),
    Broken(
        "committed_record_is_kept(0)",
        "leader-epochs-last-member",
        "3.9.0",
        "produce() fetch(1) fetch(1) lose_tail(0) restart(0) elect(0)",
    ),
    Broken(
        "broker_registers_under_its_id(0)",
        "generated-ids-in-a-migration",
        "3.9.0",
        "start_without_id(0) start_without_id(1) register_with_kraft(0) register_with_kraft(1)",
    ),
    Broken("follower_is_answered(0)", "leader-epochs-moved-log", "3.9.0", "elect(1) move_log(1)"),
    Broken(
        "young_record_is_kept(0)",
        "log-untrimmed-indexes",
        "3.9.0",
        """
        append(1,1,1,0) append(1,0,1,0) replicate() time_passes() flush(1) checkpoint_recovery_point()
        crash_untrimmed(0) load() finish_loading() delete_old()
        """,
    ),
    Broken(
        "isr_has_what_is_committed()",
        "isr-changes-replaced-disk",
        "3.9.0",
        """
        produce() fall_behind() elect(1) catch_up() handle_leader_and_isr() expand_isr() replace_disk()
        handle_alter_isr(0)
        """,
    ),
    Broken(
        "committed_record_is_kept(0)",
        "leader-epochs-old-format",
        "2.8.2",
        "produce() fetch(1) fetch(1) fetch(2) fetch(2) elect(1) truncate_follower(2) elect(2)",
    ),
    Broken(
        "timestamp_lookup_finds_the_first_record(0)",
        "log-lookup",
        "3.9.0",
        "append(2,0,1,0) append(2,0,1,0) raise_high_watermark(1) delete_records(1)",
    ),
    Broken(
        "start_offset_does_not_move_back()",
        "log-recovery",
        "3.9.0",
        "append(1,0,1,0) raise_high_watermark(1) delete_records(1) crash(0,0) load()",
    ),
    Broken(
        "flushed_records_survive(2)",
        "log-recovery",
        "3.9.0",
        """
        append(1,0,1,0) append(1,0,1,0) append(1,0,1,0) raise_high_watermark(2) delete_records(2) flush(3) crash(0,1)
        load()
        """,
    ),
    Broken(
        "no_batch_is_torn()",
        "log-recovery",
        "3.9.0",
        """
        append(1,0,1,0) append(1,0,1,0) append(1,0,1,0) raise_high_watermark(2) delete_records(2)
        checkpoint_recovery_point() crash(0,1) load() finish_loading()
        """,
    ),
    Broken(
        "largest_timestamp_is_of_a_record()",
        "log-largest-timestamp",
        "3.9.0",
        "append_compressed(0,0) raise_high_watermark(2) delete_records(2)",
    ),
    Broken(
        "open_transaction_is_ongoing()",
        "log-late-batches",
        "3.9.0",
        """
        begin() produce(0,0) stop() start() end_transaction(0) append_other(0,0) time_passes() expire() truncate_to(2)
        """,
    ),
    Broken(
        "producer_can_continue()",
        "log-late-copies",
        "3.9.0",
        "begin() produce(1,0) delay_copy() end_transaction(0) begin() arrive_copy()",
    ),
    Broken(
        "batch_is_appended_once()",
        "log-producer-state",
        "3.9.0",
        """
        produce(0,0) append_other(1,0) append_other(0,1) delete_first_segment() truncate_to(2) produce(0,0)
        """,
    ),
    Broken(
        "topic_created_at_once_is_cleaned()",
        "log-uncleanable",
        "3.9.0",
        "append_records() damage_batch() fail_to_clean() delete_topic() create_topic() append_records()",
    ),
    Broken(
        "failed_disk_is_offline()",
        "log-uncleanable",
        "3.9.0",
        "append_records() damage_sector() fail_to_read()",
    ),
    Broken(
        "deleted_records_stay_deleted()",
        "log-unreadable-checkpoint",
        "3.9.0",
        "delete_records(1) stop() damage_start() start()",
    ),
    Broken(
        "cleaner_outlives_its_checkpoint()",
        "log-unreadable-checkpoint",
        "3.9.0",
        "damage_dirty() read_dirty()",
    ),
)
"""The shortest way to what no release closes, also where an earlier one did not have it."""
SEARCHED = (
    ("log-lookup", "2.8.2"),
    ("log-roll", "2.8.2"),
    ("log-retention", "2.8.2"),
    ("log-retention", "0.10.0"),
    ("log-compaction", "3.9.0"),
    ("log-compacted-transactions", "3.9.0"),
    ("log-transactions-in-groups", "3.9.0"),
    ("log-deleted-records", "3.9.0"),
    ("log-full-truncation", "3.9.0"),
    ("log-large-batches", "3.9.0"),
    ("log-small-map", "3.9.0"),
    ("leader-epochs", "3.9.0"),
    ("leader-epochs-lost", "3.9.0"),
    ("leader-epochs-torn", "3.9.0"),
    ("leader-epochs-late-answer", "3.9.0"),
    ("leader-epochs-stale-answer", "3.9.1"),
    ("leader-epochs-late-bytes", "3.9.1"),
    ("leader-epochs-missed-election", "3.9.0"),
    ("leader-epochs-deleted-records", "3.9.0"),
    ("leader-epochs-end-lookups", "3.9.0"),
    ("leader-epochs-lost-tail", "0.10.0"),
    ("leader-epochs-last-member", "3.9.0"),
    ("leader-epochs-moved-log", "3.9.0"),
    ("leader-epochs-zombie-follower", "2.1.0"),
    ("isr-changes", "3.9.0"),
    ("isr-changes-replaced-disk", "3.9.0"),
    ("replica-lag", "3.9.0"),
    ("replica-lag-oversized", "3.9.0"),
    ("replica-lag-beside-a-reassignment", "3.9.0"),
    ("log-empty-batches", "3.9.0"),
    ("log-deleted-key", "3.9.0"),
    ("log-write-errors", "3.9.0"),
    ("log-move-late-update", "3.9.0"),
    ("log-committed-reads", "3.9.0"),
    ("log-shared-with-the-cleaner", "3.9.0"),
    ("log-deletion", "3.9.0"),
    ("log-deletion-after-a-move", "3.9.0"),
    ("log-recovery-full-disk", "3.9.0"),
    ("log-recovery-below-the-start", "3.9.0"),
    ("log-untrimmed-indexes", "3.9.0"),
    ("log-lost-names", "3.9.0"),
    ("log-full-truncation-elected", "3.9.0"),
    ("log-segment-limits", "3.9.0"),
    ("log-recovery-failed-start", "3.9.0"),
    ("log-committed-lookups", "3.9.0"),
    ("leader-epochs-old-format", "2.8.2"),
    ("leader-epochs-mixed-formats", "2.8.2"),
    ("leader-epochs-early-leader", "2.2.0"),
    ("log-created-amid-a-change", "3.9.0"),
    ("dynamic-configuration", "3.9.0"),
    ("dynamic-configuration", "2.8.2"),
    ("log-producer-state", "3.9.0"),
    ("log-copied-producer", "3.9.0"),
    ("log-late-batches", "3.9.0"),
    ("log-late-copies", "3.9.0"),
    ("log-recovered-transactions", "3.9.0"),
    ("log-largest-timestamp", "3.9.0"),
    ("log-largest-timestamp-uncompressed", "3.9.0"),
    ("log-move", "3.9.0"),
    ("log-move-compacted", "3.9.0"),
    ("log-move-diverged", "3.9.0"),
    ("log-copy", "3.9.0"),
    ("log-copy-damaged", "3.9.0"),
    ("log-future-timestamps", "3.9.0"),
    ("log-created-again", "3.9.0"),
    ("log-created-again-unflushed", "3.9.0"),
    ("log-grown-batches", "3.9.0"),
    ("log-uncleanable", "3.9.0"),
    ("log-unreadable-checkpoint", "3.9.0"),
    ("dynamic-cleaner-rate", "3.9.0"),
    ("orderly-stop", "3.9.0"),
    ("appends-amid-changes", "3.9.0"),
    ("stop-that-asks-the-controller", "3.9.0"),
    ("fetcher-without-partitions", "3.9.0"),
    ("requests-that-wait", "3.9.0"),
    ("consumer-of-followers", "3.9.0"),
    ("fetch-of-two-partitions", "3.9.0"),
    ("fetch-with-an-old-epoch", "3.9.0"),
    ("fetch-of-a-lost-replica", "3.9.0"),
    ("append-in-another-thread", "3.9.0"),
    ("log-move-asked-for-again", "3.9.0"),
    ("fetcher-of-a-moved-leader", "3.9.0"),
    ("request-and-a-clock", "3.9.0"),
    ("log-cleaned-formats", "0.10.2"),
    ("partition-and-its-clients", "3.9.0"),
    ("requests-about-a-topic", "3.9.0"),
    ("features-amid-a-session", "3.9.0"),
    ("start-that-fails", "3.9.0"),
    ("dynamic-producer-expiration", "3.9.0"),
    ("fetch-of-a-throttled-follower", "3.9.0"),
    ("consumer-under-a-quota", "3.9.0"),
    ("cache-of-fetch-sessions", "3.9.0"),
    ("fetchers-of-another-number", "3.9.0"),
    ("log-stop-of-two-directories", "3.9.0"),
    ("log-and-its-task", "3.9.0"),
    ("log-received-batches", "3.9.0"),
    ("log-file-that-is-read", "3.9.0"),
    ("log-full-map", "3.9.0"),
    ("log-converted-batches", "3.9.0"),
    ("channel-to-the-controller", "3.9.0"),
    ("quota-that-changes", "3.9.0"),
    ("epochs-of-fetches", "3.9.0"),
    ("tools-and-the-controller", "3.9.0"),
    ("reassignments-added", "1.0"),
    ("log-cleaner-checkpoint", "3.9.0"),
    ("log-added-time-indexes", "3.9.0"),
    ("transactions-amid-an-upgrade", "3.9.0"),
    ("fetch-to-debug-a-replica", "3.9.0"),
    ("generated-broker-ids", "3.9.0"),
    ("generated-ids-in-a-migration", "3.9.0"),
    ("full-requests-of-kraft", "3.9.0"),
    ("kraft-topic-created-again", "3.9.0"),
    ("kraft-failed-directory", "3.9.0"),
    ("kraft-move-from-a-failed-directory", "3.9.0"),
    ("log-forgotten-producer", "3.9.0"),
    ("log-fetch-amid-an-append", "3.9.0"),
    ("log-lookup-amid-changes", "3.9.0"),
    ("log-fetch-from-a-new-leader", "3.9.0"),
    ("log-index-of-two-readers", "3.9.0"),
    ("log-above-two-gib", "3.9.0"),
    ("log-above-two-gib-compacted", "3.9.0"),
    ("log-wrapped-sequences", "3.9.0"),
    ("log-start-after-a-crash", "3.9.0"),
    ("log-start-amid-a-swap", "3.9.0"),
    ("log-start-after-an-upgrade", "3.9.0"),
    ("log-deletion-of-a-name-with-periods", "3.9.0"),
    ("log-deletion-of-a-long-name", "3.9.0"),
    ("log-deletion-beside-a-failed-disk", "3.9.0"),
    ("log-deletion-amid-retention", "3.9.0"),
    ("log-tiered", "3.9.0"),
    ("log-move-amid-a-flush", "3.9.0"),
    ("log-damaged-message", "3.9.0"),
    ("log-largest-time-of-two-readers", "2.0"),
    ("log-move-amid-a-failover", "3.9.0"),
    ("log-move-replaced", "2.0"),
    ("log-move-cancelled", "3.9.0"),
    ("log-move-that-fails", "3.9.0"),
    ("log-copy-above-segments", "3.9.0"),
    ("log-snapshot-after-a-move", "2.8.2"),
    ("log-grown-segment", "3.9.0"),
    ("log-of-a-new-partition", "2.3.1"),
    ("transaction-after-a-late-commit", "3.9.0"),
    ("transactional-id", "3.9.0"),
    ("transactions-of-a-moved-coordinator", "3.9.0"),
    ("transactions-loaded-amid-a-session", "3.9.0"),
    ("fences-that-fail", "3.9.0"),
    ("transaction-that-times-out", "3.9.0"),
    ("producer-ids-from-the-controller", "3.9.0"),
    ("many-transactional-ids", "3.9.0"),
    ("log-records-without-time", "0.10.0"),
    ("log-starts-amid-a-truncation", "3.9.0"),
    ("consumer-with-old-metadata", "2.3.1"),
    ("replica-joins-a-small-isr", "2.8.2"),
    ("log-stop-with-a-full-disk", "3.9.0"),
    ("requests-beside-a-failed-fetch", "3.9.0"),
    ("transaction-aborted-amid-an-append", "2.8.2"),
    ("replica-lag-with-failing-reads", "3.9.0"),
    ("fetches-from-a-follower", "3.9.0"),
    ("fetcher-of-two-partitions", "3.9.0"),
    ("orderly-stop-without-a-delete-delay", "3.9.0"),
)
MANY_STATES = (
    ("log-recovery", "2.8.2"),
    ("log-recovery", "2.7"),
    ("log-compaction", "2.8.2"),
    ("log-tombstones", "3.9.0"),
    ("log-policy-change", "3.9.0"),
    ("log-preallocated", "3.9.0"),
    ("log-compacted-copy", "3.9.0"),
)
"""Stories and releases of which every state is searched; the large ones only in thorough tests."""


class Entry(NamedTuple):
    """An entry of either index, with numbers beyond any bound."""

    offset: int
    position: int = 0
    timestamp: int = 0


INDEX_OF_001 = (Entry(0, 0), Entry(20, 320), Entry(43, 1220))
"""The offset index that document 001 prints (docs/reference/sources.md)."""


@contextmanager
def large_log(**bounds: int) -> Iterator[PartitionLog]:
    """An empty log in a model with large bounds, whose one action has no parameters."""
    model = Model(evolve(LOOKUP, actions=(time_passes,)), "2.8.2", {**LARGE, **bounds})
    with model.active():
        yield model.state(model.initial[0])


def fill(log: PartitionLog, *batches: tuple[int, int, int]) -> None:
    """Append batches, each given by its number of records, its timestamp and its size."""
    for records, timestamp, size in batches:
        last = log.end_offset + records - 1
        append_to_log(log, Batch(last_offset=last, records=records, timestamp=timestamp, size=size))


def log_after(story: str, variant: str, steps: str, **bounds: int) -> tuple[Model, PartitionLog]:
    """The log of a story after some steps."""
    model = Model(STORIES[story], variant, bounds)
    state = model.initial[0]
    for key in steps.split():
        after = model.attempt(model.instance(key.replace(",", ", ")), state).after
        assert after is not None, key
        state = after
    return model, model.state(state)


def test_a_cleaning_passes_a_gap_before_a_segment_of_which_its_map_has_nothing():
    records = "append_keyed(0,0,0,0) append_keyed(1,0,0,0) append_keyed(1,0,0,2) append_keyed(1,0,0,0)"
    steps = f"{records} append_keyed(0,0,0,0) replicate() begin_cleaning()"
    _, log = log_after("log-small-map", "3.9.0", steps, gaps=2, offsets=8, map_keys=2)
    assert (log.segments[1].base_offset, log.cleaning_to) == (4, 4)


def test_a_tombstone_behind_the_end_of_a_cleaning_is_kept():
    steps = "append_keyed(0,0,0,0) append_keyed(1,0,1,0) append_keyed(0,0,0,0) replicate() begin_cleaning()"
    model, log = log_after("log-tombstones", "2.8.2", steps, map_keys=1, segment_bytes=2, batches=2)
    with model.active():
        log.horizon = 1
        assert log.cleaning_to == 1
        assert log_cleaner.is_retained(log, log.segments[0], log.segments[0].batches[1])


@pytest.mark.parametrize(("entries", "number"), [(1, 1), (2, 2)])
def test_segments_are_cleaned_into_one_whose_index_has_room_for_their_entries(entries, number):
    model, log = log_after("log-compaction", "3.9.0", "", time_index_entries=entries)
    with model.active():
        for slot in range(3):
            open_segment(log.segments[slot], slot, 0)
        for slot in range(2):
            log_segment.append_batch(log.segments[slot], Batch(last_offset=slot), 0)
            log.segments[slot].time_index.push(TimestampOffset(timestamp=0, offset=slot))
        log.count, log.cleaning_to = 3, 2
        assert log_cleaner.group_size(log, 0) == number


def test_a_tombstone_remembers_when_the_cleaning_began_that_has_first_seen_it():
    steps = "append_keyed(0,0,1,0) append_keyed(1,0,0,0) replicate() begin_cleaning() time_passes() write_cleaned()"
    _, log = log_after("log-tombstones", "3.9.0", steps)
    assert log.clock == 1 and log.cleaned[0].cleaned == 0


def test_a_segment_is_named_by_its_base_offset_in_20_digits():
    assert file_name(121, ".log") == "00000000000000000121.log"
    assert file_name(0, ".timeindex") == "00000000000000000000.timeindex"


def test_offset_23_is_searched_from_position_320():
    with large_log():
        found = [lookup_offset(INDEX_OF_001, 0, offset) for offset in (20, 23, 42, 43, 1_000)]
    assert found == [Entry(20, 320), Entry(20, 320), Entry(20, 320), Entry(43, 1220), Entry(43, 1220)]


def test_before_its_first_entry_an_offset_index_leads_to_the_beginning_of_the_segment():
    with large_log():
        assert lookup_offset((Entry(20, 320),), 7, 19) == OffsetPosition(offset=7, position=0)


@pytest.mark.parametrize(
    ("last", "position"),
    [
        pytest.param(Entry(43, 1220), 1220, id="the index that document 001 prints"),
        pytest.param(Entry(431, 1220), 320, id="an index of which its answer, (20, 320), is true"),
    ],
)
def test_timestamp_1557554753430_leads_by_offset_430_to_the_position_that_the_last_entry_decides(last, position):
    # Of the time index the document prints the entry of offset 430 only; the two others are made up.
    times = [Entry(offset, timestamp=1557554753000 + ms) for offset, ms in ((380, 370), (430, 420), (501, 440))]
    with large_log():
        entry = lookup_timestamp(times, 1557554753430)
        found = lookup_offset((*INDEX_OF_001[:2], last), 0, entry.offset)
        earlier = lookup_timestamp(times, 1557554753369)
    assert (entry, found.position, earlier) == (Entry(430, timestamp=1557554753420), position, None)


@pytest.mark.parametrize(
    ("story", "text"),
    [
        ("log-largest-timestamp", "Batch(last offset 1, records 2, timestamp 0, largest is first no)"),
        ("log-tombstones", "Batch(last offset 1, timestamp 0, key 0, is tombstone no, appended 0, cleaned none)"),
    ],
)
def test_a_batch_is_printed_without_what_is_always_the_same_in_the_story(story, text):
    model = Model(STORIES[story], "3.9.0")
    with model.active():
        records = 2 if story == "log-largest-timestamp" else 1
        assert shape_of(Batch).text(Batch(last_offset=1, records=records)) == text


def test_appending_batches_writes_the_entries_of_that_index_but_the_first():
    with large_log() as log:
        fill(log, (20, 6, 320), (1, 5, 900), (23, 9, 900), (10, 7, 100))
        segment = log.segments[0]
        assert [(entry.offset, entry.position) for entry in segment.offset_index] == [(20, 320), (43, 1220), (53, 2120)]
        assert list(segment.time_index) == [
            TimestampOffset(timestamp=6, offset=19),
            TimestampOffset(timestamp=9, offset=43),
        ]
        assert [read_from_log(log, offset).first_offset for offset in (0, 20, 23, 43, 44)] == [0, 20, 21, 21, 44]
        assert fetch_offset_by_timestamp(log, 7).first_offset == 21
        assert fetch_offset_by_timestamp(log, 10) is None


def test_a_start_offset_between_23_and_30_deletes_the_two_segments_before_23():
    with large_log(segment_bytes=1) as log:
        fill(log, (11, 0, 1), (12, 0, 1), (7, 0, 1), (5, 0, 1))
        assert [segment.base_offset for segment in log.segments][: log.count] == [0, 11, 23, 30]
        log.high_watermark, deleted = 35, {}
        for start in (10, 11, 22, 23, 25, 29, 30):
            log.start_offset = start
            deleted[start] = start_offset_breached(log)
    assert deleted == {10: 0, 11: 1, 22: 1, 23: 2, 25: 2, 29: 2, 30: 3}


@pytest.mark.parametrize(
    ("bounds", "batches", "bases"),
    [
        ({"segment_bytes": 10}, [(1, 0, 5), (1, 0, 5), (1, 0, 1)], [0, 2]),
        ({"segment_ms": 3}, [(1, 0, 1), (1, 3, 1), (1, 4, 1), (1, 1, 1)], [0, 2]),
        ({"index_interval_bytes": 0, "index_entries": 1}, [(1, 0, 1), (1, 0, 1), (1, 0, 1)], [0, 2]),
        ({"max_relative_offset": 9}, [(10, 0, 1), (1, 0, 1)], [0, 10]),
    ],
    ids=["size", "time", "index", "relative offset"],
)
def test_each_rule_rolls_a_segment(bounds, batches, bases):
    with large_log(**bounds) as log:
        fill(log, *batches)
        assert [segment.base_offset for segment in log.segments][: log.count] == bases


def test_a_segment_that_is_rolled_ends_its_time_index_with_its_largest_timestamp():
    with large_log(segment_bytes=10) as log:
        fill(log, (1, 3, 5), (1, 8, 5), (1, 2, 5))
        assert list(log.segments[0].time_index) == [TimestampOffset(timestamp=8, offset=1)]
        assert log.segments[1].time_index.is_empty


@pytest.mark.parametrize(
    ("key", "mode"),
    [
        ("log.retention.ms", UpdateMode.CLUSTER_WIDE),
        ("log.cleaner.threads", UpdateMode.CLUSTER_WIDE),
        ("num.io.threads", UpdateMode.CLUSTER_WIDE),
        ("max.connections.per.ip.overrides", UpdateMode.CLUSTER_WIDE),
        ("advertised.listeners", UpdateMode.PER_BROKER),
        ("ssl.keystore.password", UpdateMode.PER_BROKER),
        ("log.retention.hours", UpdateMode.READ_ONLY),
        ("log.message.format.version", UpdateMode.READ_ONLY),
        ("delete.topic.enable", UpdateMode.READ_ONLY),
        ("num.partitions", UpdateMode.READ_ONLY),
    ],
)
def test_a_configuration_of_brokers_can_change_at_run_time_or_not(key, mode):
    assert update_mode(key) is mode


def test_the_keys_of_topics_that_the_tool_lists_have_a_synonym_of_brokers():
    listed = """
        cleanup.policy compression.type delete.retention.ms file.delete.delay.ms flush.messages flush.ms
        index.interval.bytes max.compaction.lag.ms max.message.bytes message.downconversion.enable
        message.format.version message.timestamp.difference.max.ms message.timestamp.type min.cleanable.dirty.ratio
        min.compaction.lag.ms min.insync.replicas preallocate retention.bytes retention.ms segment.bytes
        segment.index.bytes segment.jitter.ms segment.ms unclean.leader.election.enable
    """
    assert set(listed.split()) == TOPIC_CONFIG_SYNONYMS.keys()


@pytest.mark.parametrize(("broken", "later"), BROKEN, ids=[f"{b.invariant}-{b.variant}" for b, _ in BROKEN])
def test_what_a_release_breaks_a_later_one_does_not(broken, later):
    assert is_broken_at_the_end(broken, STORIES[broken.story], broken.variant)
    assert not any(judged(broken, STORIES[broken.story], later))


@pytest.mark.parametrize("broken", NEVER_FIXED, ids=lambda broken: broken.invariant)
def test_what_no_release_fixes_is_broken_by_the_last_step_of_a_behaviour(broken):
    assert is_broken_at_the_end(broken, STORIES[broken.story], broken.variant)


def test_a_broker_that_has_corrected_the_assignment_loses_no_record_by_a_crash():
    steps = "move_replica(1) assign_directory(1) correct_assignment() write_record() crash() start_broker()"
    kept = Broken("served_log_has_what_was_written()", "kraft-move-from-a-failed-directory", "3.9.0", steps)
    assert judged(kept, STORIES[kept.story], kept.variant) == [False] * 7


def reads_the_end(segment: LogSegment, offset: int) -> int:
    """A lookup takes the last entry, whatever its offset."""
    return 0 if segment.offset_index.is_empty else segment.offset_index[-1].position


def appends_the_beginning(segment: LogSegment, offset: int, position: int) -> None:
    """An entry leads to the beginning of the segment."""
    segment.offset_index.push(OffsetPosition(offset=offset, position=0))


def rolls_by(shift: int) -> Callable[[PartitionLog, int], None]:
    """A new segment has a base offset that is not the end offset."""

    def mistaken(log: PartitionLog, next_offset: int) -> None:
        log.count += 1
        open_segment(log.segments[log.count - 1], log.end_offset + shift, log.clock)

    return mistaken


def recovers_nothing(segment: LogSegment) -> None:
    """A recovery throws the segment's batches away."""
    segment.batches.clear()
    RECOVER_SEGMENT(segment)


def forgets_the_start(log: PartitionLog, *, had_clean_shutdown: bool) -> None:
    """A start does not read the checkpoint of the start offset."""
    log.start_offset_checkpoint = 0
    RECOVER_LOG(log, had_clean_shutdown=had_clean_shutdown)


RECOVER_SEGMENT, RECOVER_LOG = log_loading.recover_segment, log_loading.recover_log
TWO = "append(2,0,1,0) append(2,0,1,0)"
PLANTED = (
    (
        "offset_lookup_finds_the_first_record(0)",
        "log-lookup",
        log_segment,
        "lookup",
        reads_the_end,
        "append(1,0,1,0) append(1,0,1,0)",
    ),
    (
        "indexes_point_to_batches(0)",
        "log-lookup",
        log_segment,
        "append_offset",
        appends_the_beginning,
        "append(1,0,1,0) append(1,0,1,0)",
    ),
    (
        "indexes_grow(0)",
        "log-lookup",
        log_segment,
        "append_offset",
        appends_the_beginning,
        "append(1,0,1,0) append(1,0,1,0) append(1,0,1,0)",
    ),
    ("segments_do_not_overlap(0)", "log-lookup", log_module, "roll", rolls_by(-1), TWO),
    ("segments_are_not_larger_than_allowed(0)", "log-lookup", log_module, "should_roll", lambda *_: False, TWO),
    (
        "active_segment_is_there()",
        "log-retention",
        log_module,
        "roll",
        rolls_by(1),
        "append(1,0,1,0) raise_high_watermark(1) time_passes() delete_old()",
    ),
    (
        "excess_is_deleted()",
        "log-retention",
        log_module,
        "retention_size_breached",
        lambda _: 0,
        "append(1,0,1,0) append(1,0,1,0) append(1,0,1,0) append(1,0,1,0) raise_high_watermark(4)",
    ),
    (
        "segment_before_the_start_is_deleted()",
        "log-lookup",
        log_module,
        "start_offset_breached",
        lambda _: 0,
        f"{TWO} raise_high_watermark(1) delete_records(1)",
    ),
    (
        "start_offset_survives_a_stop()",
        "log-recovery",
        log_loading,
        "recover_log",
        forgets_the_start,
        "append(1,0,1,0) raise_high_watermark(1) delete_records(1) shut_down() load()",
    ),
    (
        "flushed_records_survive(0)",
        "log-recovery",
        log_loading,
        "recover_segment",
        recovers_nothing,
        "append(1,0,1,0) append(1,0,1,0) append(1,0,1,0) flush(2) crash(3,0) load()",
    ),
    (
        "deleted_files_are_kept_for_the_delay()",
        "log-retention",
        log_module,
        "is_delay_over",
        lambda _: True,
        "append(1,0,1,0) raise_high_watermark(1) time_passes() delete_old() delete_files()",
    ),
)
"""Mistakes that are planted in the model, for properties that no release breaks."""


@pytest.mark.parametrize(("prop", "story", "module", "name", "mistake", "steps"), PLANTED, ids=[p[0] for p in PLANTED])
def test_a_planted_mistake_breaks_a_property_of_a_log(prop, story, module, name, mistake, steps, monkeypatch):
    broken = Broken(prop, story, "2.8.2", steps)
    assert not any(judged(broken, STORIES[broken.story], "2.8.2"))
    monkeypatch.setattr(module, name, mistake)
    assert judged(broken, STORIES[broken.story], "2.8.2")[-1]


def test_every_property_says_what_users_and_operators_see():
    properties = {prop for scenario in LOG_SCENARIOS for prop in scenario.properties}
    for prop in properties - {prop for prop in properties if prop.kind is Kind.REACHABLE}:
        assert prop.about and prop.symptom and prop.log


@pytest.mark.parametrize("part", [storage_versions, server_versions], ids=["storage", "server"])
def test_every_version_flag_has_a_fix_or_says_why_it_is_none(part):
    names = {fix.flag.name for fix in part.FIXES} | part.FLAGS.repairing_nothing.keys()
    assert names == part.VARIANTS["2.8.2"].keys()


@pytest.mark.parametrize(
    ("name", "variant"), [*SEARCHED, *(pytest.param(*story, marks=pytest.mark.thorough) for story in MANY_STATES)]
)
def test_a_search_of_all_states_of_a_log_finds_what_is_broken_and_nothing_else(name, variant):
    model = Model(STORIES[name], variant)
    verdict = exhaust(model, keep_going=True)
    assert (verdict.strength, outcome_of(verdict)) == (Strength.EXHAUSTIVE, pinned(model))
