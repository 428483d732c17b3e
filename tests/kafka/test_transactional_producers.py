"""The producer's half of a transaction: what a release breaks, and a later one does not."""

from __future__ import annotations

import pytest

from kwalk.invariants.stories.transactions import SCENARIOS
from tests.kafka.broken import Broken, is_broken_at_the_end, judged

STORIES = {scenario.name: scenario for scenario in SCENARIOS}
ALONE = "lose_or_find_brokers()"
BROKEN = (
    (
        Broken(
            "committed_transaction_has_all_records()",
            "transaction-with-a-refused-record",
            "2.8.2",
            "refuse_record_at_once() commit_sent_transaction()",
        ),
        "3.7.0",
    ),
    (
        Broken(
            "repeated_call_returns()",
            "call-that-is-repeated",
            "2.8.2",
            "call_init() end_call_in_time() answer_call() repeat_call()",
        ),
        "3.7.0",
    ),
    (
        Broken(
            "forced_close_is_heeded()",
            "producer-that-closes",
            "1.0",
            f"{ALONE} look_for_a_coordinator() close_producer() force_close() look_at_a_forced_close()",
        ),
        "2.0",
    ),
    (
        Broken(
            "forced_close_is_heeded()",
            "producer-that-closes",
            "2.0",
            f"{ALONE} wait_for_an_id() close_producer() force_close() look_at_a_forced_close()",
        ),
        "2.3.1",
    ),
    (
        Broken(
            "closed_producer_has_no_transaction()",
            "producer-that-closes",
            "2.0",
            "hold_transaction() close_producer() end_sender()",
        ),
        "2.3.1",
    ),
    (
        Broken(
            "closed_producer_has_no_connections()",
            "producer-that-closes",
            "3.5.2",
            f"hold_transaction() {ALONE} fail_held_transaction(1) close_producer() abort_at_a_close()",
        ),
        "3.7.0",
    ),
    (
        Broken(
            "close_goes_on()",
            "producer-that-closes",
            "3.7.0",
            f"hold_transaction() {ALONE} fail_held_transaction(1) close_producer() abort_at_a_close()",
        ),
        "3.9.0",
    ),
    (
        Broken(
            "producer_outlives_a_load()",
            "offsets-of-a-transaction-amid-a-load",
            "2.0",
            "move_group() send_offsets() answer_offsets()",
        ),
        "2.3.1",
    ),
    (
        Broken(
            "sender_reads_answers()",
            "sender-with-one-request",
            "2.5",
            "ask_for_metadata() queue_request() answer_in_flight() look_for_a_node()",
        ),
        "2.7",
    ),
    (
        Broken(
            "first_batch_of_an_epoch_is_taken()",
            "partitions-of-an-idempotent-producer",
            "2.5",
            "send_numbered_batch(0) raise_epoch(1) send_numbered_batch(0)",
        ),
        "2.8.2",
    ),
    (
        Broken(
            "request_outlives_a_throttle()",
            "throttled-producer",
            "2.0",
            "change_throttle() queue_for_the_coordinator() begin_to_send() change_throttle() send_after_a_wait()",
        ),
        "2.3.1",
    ),
    (
        Broken(
            "batches_keep_their_order()",
            "batches-that-are-renumbered",
            "2.0",
            "renumber_batches(1) append_in_sequence(0) append_in_sequence(2)",
        ),
        "2.3.1",
    ),
    (
        Broken(
            "producer_outlives_its_numbers()",
            "partitions-of-an-idempotent-producer",
            "2.0",
            "send_numbered_batch(0) send_numbered_batch(0) send_numbered_batch(0)",
        ),
        "2.3.1",
    ),
)
"""What a release breaks, and a later one that does not."""


@pytest.mark.parametrize(("broken", "later"), BROKEN, ids=[f"{b.invariant}-{b.variant}" for b, _ in BROKEN])
def test_what_a_release_of_the_library_breaks_a_later_one_does_not(broken, later):
    assert is_broken_at_the_end(broken, STORIES[broken.story], broken.variant)
    assert not any(judged(broken, STORIES[broken.story], later))


def test_a_close_leaves_what_it_was_before_its_transaction_could_be_refused():
    steps = f"hold_transaction() {ALONE} fail_held_transaction(1) close_producer() {ALONE} abort_at_a_close()"
    for prop in ("close_goes_on()", "closed_producer_has_no_connections()", "closed_producer_has_no_transaction()"):
        behaviour = Broken(prop, "producer-that-closes", "2.8.2", steps)
        assert judged(behaviour, STORIES["producer-that-closes"], "2.8.2") == [False] * 7


def test_a_commit_that_was_done_is_refused_when_it_is_called_again():
    steps = "call_init() answer_call() begin_after_calls() call_commit() end_call_in_time() answer_call() repeat_call()"
    behaviour = Broken("repeated_call_returns()", "call-that-is-repeated", "2.3.1", steps)
    assert is_broken_at_the_end(behaviour, STORIES["call-that-is-repeated"], "2.3.1")
    assert not any(judged(behaviour, STORIES["call-that-is-repeated"], "3.9.0"))
