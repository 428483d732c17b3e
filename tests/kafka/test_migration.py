"""The migration to KRaft: what goes wrong by release, in how many steps, and that nothing does by itself."""

from __future__ import annotations

import pytest

from kwalk.invariants.migration import leaders_move_after_rollback
from kwalk.invariants.stories.migration import (
    DELETION_IN_DUAL_WRITE,
    MIGRATION,
    MIGRATION_AFTER_A_ROLLBACK,
    MIGRATION_WITH_RECORDS,
    PROPERTIES,
)
from kwalk.model.kafka.broker.replica_manager import handle_leader_and_isr
from kwalk.model.kafka.migration.state import DriverState
from kwalk.model.kafka.migration.versions import MIGRATING
from kwalk.model.language import Model, Vector
from tests.kafka.outcomes import pinned_searches

BEGINS = ("become_active()", "wait_for_brokers()", "claim_controller()")
COPIES = ("copy_topic(0)", "end_copy()", "record_copy()", "end_sync()", "send_to_brokers()")


def shortest(words: str) -> dict[str, int]:
    return pinned_searches()[f"kwalk exhaust {words}"].shortest


def after(model: Model, *keys: str) -> Vector:
    (vector,) = model.initial
    return after_of(model, vector, *keys)


def after_of(model: Model, vector: Vector, *keys: str) -> Vector:
    for key in keys:
        found = model.attempt(model.instance(key), vector).after
        assert found is not None, key
        vector = found
    return vector


def is_enabled(model: Model, key: str, vector: Vector) -> bool:
    return model.attempt(model.instance(key), vector).after is not None


def test_nothing_goes_wrong_without_old_clients_and_failures() -> None:
    assert shortest("migration --variant 3.9.0 --bound expansions=0 --bound quorum_failures=0 --keep-going") == {}


@pytest.mark.parametrize(
    ("release", "steps"),
    [
        (
            "3.4.1",
            {
                "migrating_cluster_has_a_controller": 5,
                "migration_progresses": 5,
                "migration_eventually_progresses": 5,
                "copy_is_complete_or_absent": 6,
                "copy_is_not_repeated": 9,
                "zookeeper_catches_up": 10,
                "promised_partitions_are_in_the_image": 10,
                "zookeeper_eventually_catches_up": 11,
            },
        ),
        (
            "3.5.2",
            {
                "migration_progresses": 4,
                "migration_eventually_progresses": 4,
                "copy_is_complete_or_absent": 6,
                "migrating_cluster_has_a_controller": 7,
                "comparison_ends": 8,
                "zookeeper_eventually_catches_up": 9,
                "zookeeper_catches_up": 11,
                "zookeeper_accepts_krafts_writes": 12,
                "promised_partitions_are_in_the_image": 11,
            },
        ),
        (
            "3.9.0",
            {
                "migration_progresses": 4,
                "migration_eventually_progresses": 4,
                "migrating_cluster_has_a_controller": 7,
                "comparison_ends": 8,
                "zookeeper_eventually_catches_up": 9,
                "zookeeper_catches_up": 11,
                "zookeeper_accepts_krafts_writes": 12,
                "promised_partitions_are_in_the_image": 11,
            },
        ),
    ],
)
def test_an_erased_id_by_release(release: str, steps: dict[str, int]) -> None:
    """Before 3.5 the copy fails, again and again; before 3.6 a copy that fails is no transaction."""
    found = shortest(f"migration --variant {release} --keep-going")
    assert found == {**steps, "image_has_the_topics_first_id": 9}


def test_a_failure_between_the_end_of_the_copy_and_its_record_leaves_no_controller() -> None:
    found = shortest("migration --variant 3.9.0 --bound expansions=0 --keep-going")
    assert found["migrating_cluster_has_a_controller"] == 8
    model = Model(MIGRATION, "3.9.0")
    copied = (*BEGINS, "copy_topic(0)", "end_copy()")
    stuck = after(model, *copied, "fail_quorum()", "become_active()")
    recorded = after(model, *copied, "record_copy()", "fail_quorum()", "become_active()")
    with model.active():
        assert model.state(stuck).migration.driver is DriverState.GIVEN_UP
        assert model.state(recorded).migration.driver is DriverState.BECOME_CONTROLLER


def test_a_partition_that_zookeeper_lacks_stops_the_next_controller_since_3_7() -> None:
    """Its state znode is set and not created; before 3.7 it is taken for the same, and has no state znode."""
    words = "--bound expansions=0 --keep-going"
    assert shortest(f"migration --variant 3.9.0 {words}")["comparison_ends"] == 15
    found = shortest(f"migration --variant 3.6.2 {words}")
    assert "comparison_ends" not in found and found["zookeeper_catches_up"] == 18


def test_in_3_4_the_copy_begins_again_after_each_failure_of_the_quorum() -> None:
    found = shortest("migration --variant 3.4.1 --bound expansions=0 --keep-going")
    assert found["migration_eventually_progresses"] == 14 and "comparison_ends" not in found


@pytest.mark.parametrize(("release", "is_sent"), [("3.5.0", False), ("3.5.1", True)])
def test_brokers_hear_of_new_partitions_since_3_5_1(release: str, is_sent: bool) -> None:
    model = Model(MIGRATION, release)
    begun = (*BEGINS, "controller_change(0)", *COPIES, "handle_leader_and_isr(0)")
    added = after(model, *begun, "client_adds_partition(0)", "write_delta(0)")
    assert is_enabled(model, "handle_leader_and_isr(0)", added) == is_sent


def test_a_write_that_is_repeated_ends_dual_write() -> None:
    """The driver writes again after its connection was lost, and is refused from then on."""
    model = Model(MIGRATION, "3.9.0")
    begun = (*BEGINS, "controller_change(0)", *COPIES, "handle_leader_and_isr(0)", "client_adds_partition(0)")
    lost = after(model, *begun, "lose_connection(0)")
    assert not is_enabled(model, "handle_leader_and_isr(0)", lost)
    with model.active():
        migration = model.state(lost).migration
        assert migration.has_stale_version and not migration.unwritten


def test_an_attempt_after_a_rollback_removes_the_topics_if_migration_is_left() -> None:
    assert shortest("migration-after-a-rollback --variant 3.9.0 --keep-going")["topics_stay"] == 12
    model = Model(MIGRATION_AFTER_A_ROLLBACK, "3.9.0")
    again = after(model, *BEGINS, *COPIES, "roll_back()", "provision_again()", *BEGINS, "sync_topic(0)")
    with model.active():
        cluster = model.state(again)
        assert not cluster.zookeeper.topics[0].exists and cluster.migration.driver is DriverState.SYNC_KRAFT_TO_ZK


def test_a_failure_in_the_middle_of_the_creation_of_a_topic_stops_the_next_controller() -> None:
    """Each znode is a multi of its own: the topic's is there, and no state."""
    found = shortest("deletion-in-dual-write --variant 3.9.0 --bound quorum_failures=1 --bound restarts=0 --keep-going")
    assert (found["comparison_ends"], found["zookeeper_catches_up"]) == (8, 13)
    model = Model(DELETION_IN_DUAL_WRITE, "3.9.0", {"quorum_failures": 1})
    created = after(model, "client_deletes_topic(0)", "write_delta(0)", "client_creates_topic(0)")
    failed = after_of(model, created, "fail_within_writes(0, 0)")
    with model.active():
        cluster = model.state(failed)
        assert cluster.zookeeper.topics[0].exists and cluster.migration.images[0].znodes[0].leader_epoch is None
        assert not cluster.migration.unwritten


@pytest.mark.parametrize(("key", "driver"), [("become_active()", 1), ("become_active_after_start()", 2)])
def test_in_3_4_only_a_controller_that_has_started_since_the_copy_knows_of_it(key: str, driver: int) -> None:
    """Seen on brokers of 3.4.1: the only controller goes on after a restart, one of three copies again and again."""
    model = Model(MIGRATION, "3.4.1", {"expansions": 0})
    copied = after(model, *BEGINS, "controller_change(0)", *COPIES[:3], "send_to_brokers()", "fail_quorum()", key)
    with model.active():
        assert model.state(copied).migration.driver is DriverState(driver)
    if key == "become_active_after_start()":
        with model.active():
            claimed = model.state(after_of(model, copied, "claim_controller()"))
            assert claimed.migration.driver is DriverState.KRAFT_CONTROLLER_TO_BROKER_COMM


def test_a_broker_does_not_become_controller_while_krafts_is() -> None:
    model = Model(MIGRATION, "3.9.0")
    claimed = after(model, *BEGINS, "controller_change(0)")
    with model.active():
        cluster = model.state(claimed)
        assert cluster.zookeeper.controller is None and not cluster.controller_of(0).is_active


def test_records_survive_a_migration_in_which_nobody_interferes() -> None:
    assert shortest("migration-with-records --variant 3.9.0 --bound expansions=0 --keep-going") == {}


@pytest.mark.parametrize(("release", "sets_aside"), [("3.4.1", False), ("3.6.1", False), ("3.9.0", True)])
def test_an_erased_id_loses_the_records_by_release(release: str, sets_aside: bool) -> None:
    """Full requests set logs aside by id since 3.6.2; before, brokers delete them as they start in KRaft mode."""
    found = shortest(f"migration-with-records --variant {release} --keep-going")
    assert ("live_log_is_not_set_aside" in found) == sets_aside
    assert found["acknowledged_record_survives_migration"] == {"3.4.1": 30, "3.6.1": 33, "3.9.0": 25}[release]


@pytest.mark.parametrize(("release", "is_refused"), [("3.6.1", False), ("3.6.2", True), ("3.9.2", True)])
def test_a_log_without_topic_id_lets_a_full_request_fail(release: str, is_refused: bool) -> None:
    model = Model(MIGRATION_WITH_RECORDS, release)
    with model.active():
        cluster = model.state(after(model, *BEGINS, *COPIES))
        cluster.replica_of(0, 0, 1).on_disk = True  # of an earlier topic of the name, from before 2.8
        cluster.replica_of(0, 0, 0).leader_epoch = None
        handle_leader_and_isr.function(cluster, 0)
        assert (cluster.replica_of(0, 0, 0).leader_epoch is None) == is_refused


def test_a_broker_in_kraft_mode_reads_the_image_and_gets_no_requests() -> None:
    model = Model(MIGRATION_WITH_RECORDS, "3.9.0")
    begun = (*BEGINS, "controller_change(0)", "controller_change(1)", *COPIES)
    served = (*begun, "handle_leader_and_isr(0)", "handle_leader_and_isr(1)")
    rolled = after(
        model,
        *served,
        "stop_for_kraft(0)",
        "write_delta(0)",
        "handle_leader_and_isr(1)",
        "restart(0)",
        "unfence_broker(0)",
    )
    assert is_enabled(model, "apply_image(0, 0, 0)", rolled)
    with model.active():
        cluster = model.state(rolled)
        assert cluster.brokers[0].requests.headers.is_empty and cluster.zookeeper.state_of(0, 0).leader == 1


@pytest.mark.parametrize("release", MIGRATING)
def test_every_release_that_can_migrate_is_a_variant(release: str) -> None:
    assert Model(MIGRATION, release).initial


def test_the_rollback_has_the_properties_of_the_migration() -> None:
    assert MIGRATION_AFTER_A_ROLLBACK.properties == (*PROPERTIES, leaders_move_after_rollback)


def test_a_rollback_loses_what_zookeeper_does_not_have_yet() -> None:
    """A leader that ZooKeeper does not know has acknowledged a record; who waits until all is written loses none."""
    careless = shortest("rollback-of-a-migration --variant 3.9.0 --keep-going")
    assert careless["acknowledged_record_survives_rollback"] == 22
    patient = shortest("rollback-of-a-migration --variant 3.9.0 --flag patient_operator=on --keep-going")
    assert "acknowledged_record_survives_rollback" not in patient


def test_leaders_do_not_move_after_a_rollback_under_a_lower_epoch() -> None:
    """KAFKA-20488: the state znode has the epoch of the quorum, and ZooKeeper's controller one below it."""
    assert shortest("rollback-of-a-migration --variant 3.9.0 --keep-going")["leaders_move_after_rollback"] == 17


def test_topics_stay_after_a_rollback_that_deletes_migration() -> None:
    words = "migration-after-a-rollback --variant 3.9.0 --flag rollback_removes_migration=on --keep-going"
    assert "topics_stay" not in shortest(words)


def test_a_finalization_leaves_brokers_in_zookeeper_mode_without_requests() -> None:
    """KAFKA-20960: who waits for all brokers meets nothing."""
    words = "finalization-of-a-migration --variant 3.9.0"
    careless = shortest(f"{words} --keep-going")
    assert careless == {"finalization_leaves_no_zookeeper_broker": 1, "partition_servable": 6}
    assert shortest(f"{words} --flag patient_operator=on --keep-going") == {}


@pytest.mark.parametrize(
    ("release", "found"),
    [
        ("3.4.1", {"deleted_topic_stays_deleted", "zookeeper_catches_up", "kraft_brokers_get_no_requests"}),
        ("3.6.2", set()),
        ("3.9.0", set()),
    ],
)
def test_a_deletion_in_dual_write_by_release(release: str, found: set[str]) -> None:
    """A topic that is deleted and created in one delta is refused by brokers in ZooKeeper mode, on all releases."""
    always = {"replicas_have_the_images_id", "isr_has_only_own_records"}
    assert set(shortest(f"deletion-in-dual-write --variant {release} --keep-going")) == always | found


def test_a_comparison_deletes_a_topic_that_was_created_again() -> None:
    """It is created, which does nothing as its znode is there, and then deleted by its name."""
    model = Model(DELETION_IN_DUAL_WRITE.varied(bounds={"quorum_failures": 1}), "3.9.0")
    again = ("client_deletes_topic(0)", "client_creates_topic(0)", "fail_quorum()", "become_active()")
    compared = after(model, *again, "claim_controller()", "sync_topic(0)", "end_sync()")
    with model.active():
        cluster = model.state(compared)
        assert cluster.migration.images[0].exists and not cluster.zookeeper.topics[0].exists
