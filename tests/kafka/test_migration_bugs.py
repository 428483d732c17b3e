"""Known bugs of migrations, of topics: a trace in a release that has each, and that a later one does not break it."""

from __future__ import annotations

import pytest

from kwalk.invariants.stories import SCENARIOS
from kwalk.model.kafka.migration.versions import FLAGS
from tests.kafka.broken import Broken, is_broken_at_the_end, judged

COPIES = "become_active() wait_for_brokers() claim_controller() copy_topic(0) end_copy() record_copy()"
STORIES = {scenario.name: scenario for scenario in SCENARIOS}
BROKEN = (
    (
        Broken(
            "copy_is_complete_or_absent()",
            "migration",
            "3.5.2",
            "become_active() wait_for_brokers() claim_controller() copy_topic(0) fail_quorum() become_active()",
            bounds={"expansions": 0, "failovers": 0},
        ),
        "3.6.0",
    ),
    (
        Broken(
            "active_controller_runs_the_migration()",
            "races-of-a-migration",
            "3.4.1",
            "lead_without_migration()",
            flags={"repeats_recovery": True},
        ),
        "3.5.2",
    ),
    (
        Broken(
            "kraft_brokers_get_no_requests(0)",
            "deletion-in-dual-write",
            "3.4.1",
            "stop_for_kraft(0) write_delta(0) restart(0) unfence_broker(0)",
            bounds={"deletions": 0},
        ),
        "3.5.0",
    ),
    (
        Broken(
            "zookeeper_catches_up(0)",
            "migration",
            "3.4.1",
            "become_active() wait_for_brokers() claim_controller() controller_change(0) copy_topic(0) "
            "end_copy() record_copy() send_to_brokers() handle_leader_and_isr(0) client_adds_partition(0) "
            "write_delta(0)",
            bounds={"expansions": 0, "quorum_failures": 0},
        ),
        "3.5.0",
    ),
    (
        Broken(
            "replicas_have_the_images_id(0, 0, 1)",
            "deletion-in-dual-write",
            "3.5.0",
            "fetch(1,0,0) client_adds_partition(0) write_delta(0)",
            bounds={"new_expansions": 1, "partitions": 2, "deletions": 0},
        ),
        "3.5.1",
    ),
    (
        Broken(
            "copy_is_not_repeated()",
            "races-of-a-migration",
            "3.5.1",
            f"{COPIES} copy_twice()",
            bounds={"failovers": 0},
        ),
        "3.5.2",
    ),
    (
        Broken(
            "active_controller_runs_the_migration()",
            "races-of-a-migration",
            "3.5.2",
            "read_empty_image()",
            flags={"repeats_recovery": True},
        ),
        "3.6.0",
    ),
    (
        Broken(
            "deleted_topic_stays_deleted(0)",
            "deletion-in-dual-write",
            "3.5.2",
            "fetch(1,0,0) fail_quorum() become_active() claim_controller() controller_change(0) controller_change(1) "
            "client_deletes_topic(0) sync_topic(0) end_sync() send_to_brokers() handle_leader_and_isr(0) "
            "handle_leader_and_isr(1)",
            bounds={"quorum_failures": 1, "restarts": 0},
        ),
        "3.6.1",
    ),
    (
        Broken(
            "deleted_topic_leaves_caches(0, 0, 0)",
            "metadata-caches-in-dual-write",
            "3.5.2",
            "fail_quorum() become_active() claim_controller() controller_change(0) controller_change(1) "
            "client_deletes_topic(0) sync_topic(0) end_sync() send_to_brokers() handle_update_metadata(0) "
            "handle_leader_and_isr(0) handle_update_metadata(1) handle_leader_and_isr(1)",
        ),
        "3.6.1",
    ),
    (
        Broken(
            "reassignment_completes_in_dual_write(0, 0)",
            "reassignment-in-dual-write",
            "3.6.1",
            "client_moves_replica(0,0,0) write_delta(0) handle_leader_and_isr(0) handle_leader_and_isr(1)",
        ),
        "3.6.2",
    ),
    (
        Broken(
            "kraft_claims_a_new_epoch()",
            "races-of-a-migration",
            "3.6.1",
            "delete_controller() become_active() wait_for_brokers() reelect(0) go_on_unclaimed()",
        ),
        "3.6.2",
    ),
    (Broken("active_controller_runs_the_migration()", "races-of-a-migration", "3.7.0", "fail_recovery()"), "3.7.1"),
    (
        Broken(
            "zookeeper_accepts_krafts_writes()",
            "races-of-a-migration",
            "3.8.0",
            f"{COPIES} end_sync() send_to_brokers() handle_leader_and_isr(0) fail_quorum() become_active() "
            "claim_controller() controller_change(0) read_at_lagging_server() end_sync() send_to_brokers() "
            "handle_leader_and_isr(0)",
            bounds={"new_expansions": 0, "failovers": 0},
        ),
        "3.9.0",
    ),
    (
        Broken(
            "topics_stay(0)",
            "migration-after-a-rollback",
            "3.9.0",
            f"{COPIES} roll_back() provision_again() become_active() wait_for_brokers() claim_controller() "
            "sync_topic(0)",
        ),
        "",
    ),
    (
        Broken("active_controller_runs_the_migration()", "races-of-a-migration", "3.8.0", "lead_before_recovery()"),
        "3.8.1",
    ),
    (
        Broken(
            "migration_progresses()",
            "migration-after-a-rollback",
            "3.9.0",
            "become_active() wait_for_brokers() claim_controller() roll_back() controller_change(0) "
            "empty_migration() provision_again()",
        ),
        "3.9.2",
    ),
    (
        Broken(
            "leaders_move_after_rollback(0, 0)",
            "rollback-of-a-migration",
            "3.9.0",
            "crash(0) crash(1) restart(0) restart(1) fence_broker(0) fence_broker(1) write_delta(0) "
            "roll_back() reelect(0) reelect(1) failover_reads_topics(0) failover_sets_topic_ids(0) "
            "failover_reads_states(0) failover_sends_requests(0) controller_change(0) "
            "handle_leader_and_isr(0) handle_leader_and_isr(1)",
        ),
        "",
    ),
    (
        Broken(
            "partition_servable(0, 0)",
            "finalization-of-a-migration",
            "3.9.0",
            "crash(0) restart(0) reelect(0) finalize() fence_broker(0) unfence_broker(0)",
        ),
        "",
    ),
)
"""By the order of reports: a behaviour, and a release that does not have the defect; none if all have it."""


@pytest.mark.parametrize(("behaviour", "later"), BROKEN, ids=[f"{b.invariant}-{b.variant}" for b, _ in BROKEN])
def test_what_a_release_breaks_a_later_one_does_not(behaviour: Broken, later: str) -> None:
    story = STORIES[behaviour.story]
    assert is_broken_at_the_end(behaviour, story, behaviour.variant)
    assert not later or not any(judged(behaviour, story, later))


def test_the_releases_on_both_sides_of_a_change_differ() -> None:
    """The flags that these bugs are about, at the releases that the page names."""
    for flag, broken, later in (
        ("checks_quorum", "3.4.1", "3.5.0"),
        ("checks_driver_state", "3.5.1", "3.5.2"),
        ("reads_first_image", "3.5.2", "3.6.0"),
        ("full_update_metadata", "3.6.0", "3.6.1"),
        ("accepts_equal_epoch", "3.6.1", "3.6.2"),
        ("checks_claim", "3.6.1", "3.6.2"),
        ("repeats_recovery", "3.7.0", "3.7.1"),
        ("recovers_before_leading", "3.8.0", "3.8.1"),
        ("migration_version", "3.8.1", "3.9.0"),
        ("reads_empty_znode", "3.9.1", "3.9.2"),
    ):
        assert FLAGS.variant_of(broken)[flag] != FLAGS.variant_of(later)[flag]
