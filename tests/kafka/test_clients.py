"""Producers' batches and consumers' fetches: what a release of the library breaks, and a later one does not."""

from __future__ import annotations

import pytest

from kwalk.invariants.stories.clients import SCENARIOS
from tests.kafka.broken import Broken, is_broken_at_the_end, judged

STORIES = {scenario.name: scenario for scenario in SCENARIOS}
BROKEN = (
    (
        Broken(
            "sent_record_is_answered()",
            "send-amid-a-close",
            "0.10.0",
            "begin_send() get_metadata() get_memory() begin_to_close() end_of_sender() append_to_batch()",
        ),
        "0.10.1",
    ),
    (
        Broken(
            "send_ends_with_its_producer()",
            "send-amid-a-close",
            "1.0",
            "begin_send() begin_to_close() go_on_to_close() end_of_sender()",
        ),
        "2.0",
    ),
    (
        Broken(
            "send_ends_with_its_producer()",
            "send-amid-a-close",
            "2.3.1",
            "begin_send() get_metadata() begin_to_close() go_on_to_close() end_of_sender()",
        ),
        "2.5",
    ),
    (
        Broken(
            "split_records_keep_their_headers()",
            "batch-that-is-split",
            "0.11.0.0",
            "send_batch() split_batch() send_batch() append_batch()",
        ),
        "1.0",
    ),
    (
        Broken("get_waits_its_time()", "batch-that-is-split", "2.0", "get_future() send_batch() split_batch()"),
        "2.3.1",
    ),
    (
        Broken(
            "partition_has_its_turn()",
            "partitions-of-one-request",
            "2.8.2",
            "drain_two_partitions() drain_two_partitions()",
        ),
        "3.3.1",
    ),
    (
        Broken(
            "partition_has_its_turn()",
            "partitions-of-one-request",
            "2.0",
            "drain_two_partitions() drain_one_partition() drain_two_partitions()",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "unreadable_record_is_told()",
            "poll-at-an-unreadable-record",
            "0.10.0.0",
            "change_deserializer() poll_partitions()",
        ),
        "0.10.0.1",
    ),
    (
        Broken(
            "no_record_is_skipped()",
            "poll-at-an-unreadable-record",
            "0.10.1",
            "change_deserializer() poll_partitions()",
        ),
        "0.10.2.1",
    ),
    (
        Broken(
            "record_is_returned_once()",
            "poll-at-an-unreadable-record",
            "0.11.0.0",
            "change_deserializer() poll_partitions() change_deserializer() poll_partitions()",
        ),
        "1.0",
    ),
    (
        Broken(
            "position_is_where_it_was_sought()",
            "seek-amid-a-reset",
            "2.0",
            "look_at_reset() seek_to_end() set_looked_at()",
        ),
        "2.3.1",
    ),
    (
        Broken(
            "paused_position_is_kept()",
            "position-of-a-paused-partition",
            "0.10.1",
            "pause_or_resume() assign_another() seek_paused() ask_for_position()",
        ),
        "0.10.2",
    ),
    (
        Broken(
            "fetch_is_sent_again()",
            "fetch-of-a-lost-connection",
            "2.3.0",
            "send_fetch() end_fetch() add_listener()",
        ),
        "2.3.1",
    ),
    (
        Broken("poll_reads_what_it_can()", "poll-without-a-leader", "1.0", "change_leader(0) poll_for_positions()"),
        "2.0",
    ),
    (
        Broken("all_partitions_are_told()", "poll-without-a-leader", "2.0", "change_leader(1) ask_for_partitions()"),
        "2.3.1",
    ),
    (
        Broken(
            "call_finds_the_leader()",
            "offsets-of-a-new-leader",
            "2.3.1",
            "ask_for_offsets() move_leader() answer_offsets_of_leader()",
        ),
        "2.5",
    ),
    (
        Broken(
            "client_knows_the_leader()",
            "client-of-a-recreated-topic",
            "2.7",
            "create_client_topic(0) elect_leader_for_clients(1) ask_for_metadata_of_topic() delete_client_topic() "
            "create_client_topic(0) ask_for_metadata_of_topic()",
        ),
        "3.0.0",
    ),
    (
        Broken(
            "client_knows_the_leader()",
            "client-of-a-recreated-topic",
            "3.0.0",
            "create_client_topic(0) elect_leader_for_clients(1) ask_for_metadata_of_topic() delete_client_topic() "
            "ask_for_metadata_of_topic() create_client_topic(0) ask_for_metadata_of_topic()",
        ),
        "3.7.0",
    ),
)
"""What a release breaks, and a later one that does not."""


@pytest.mark.parametrize(("broken", "later"), BROKEN, ids=[f"{b.invariant}-{b.variant}" for b, _ in BROKEN])
def test_what_a_release_of_the_library_breaks_a_later_one_does_not(broken, later):
    assert is_broken_at_the_end(broken, STORIES[broken.story], broken.variant)
    assert not any(judged(broken, STORIES[broken.story], later))


@pytest.mark.parametrize(
    ("prop", "story", "earlier", "steps"),
    [
        (
            "position_is_where_it_was_sought()",
            "seek-amid-a-reset",
            "1.0",
            "look_at_reset() seek_to_end() set_looked_at()",
        ),
        (
            "paused_position_is_kept()",
            "position-of-a-paused-partition",
            "0.10.0",
            "pause_or_resume() assign_another() seek_paused() ask_for_position()",
        ),
        (
            "call_finds_the_leader()",
            "offsets-of-a-new-leader",
            "1.0",
            "ask_for_offsets() move_leader() answer_offsets_of_leader()",
        ),
    ],
)
def test_releases_before_a_mistake_have_it_not(prop, story, earlier, steps):
    assert not any(judged(Broken(prop, story, earlier, steps), STORIES[story], earlier))


def test_a_woken_callback_is_called_again_with_its_partition_up_to_2_3():
    story, steps = STORIES["callback-that-is-woken"], "wake_callback() end_callback()"
    for release, is_broken in (("2.3", False), ("2.8.2", True), ("3.9.0", True)):
        behaviour = Broken("assigned_partition_is_named()", story.name, release, steps)
        assert judged(behaviour, story, release)[-1] is is_broken


def test_a_record_that_cannot_be_read_is_returned_when_it_can_be():
    steps = "change_deserializer() poll_partitions() change_deserializer() poll_partitions() poll_partitions()"
    for prop in ("record_is_returned_once()", "no_record_is_skipped()"):
        behaviour = Broken(prop, "poll-at-an-unreadable-record", "3.9.0", steps)
        assert judged(behaviour, STORIES["poll-at-an-unreadable-record"], "3.9.0") == [False] * 6
