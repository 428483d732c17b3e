"""Variants, candidate fixes of lost topic ids, admins that overwrite each other, and repairs of a broken cluster."""

from __future__ import annotations

from itertools import permutations

import pytest

from kwalk.invariants.stories import SCENARIOS
from kwalk.model.kafka.versions import RELEASES, VARIANTS
from kwalk.model.language import Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Strength, Verdict
from tests.kafka.lengths import shortest
from tests.kafka.outcomes import outcome_of, pinned, pinned_steps
from tests.kafka.schedule import Schedule

STORIES = {scenario.name: scenario for scenario in SCENARIOS}


def searched(name: str, **bounds: int) -> tuple[Verdict, dict[str, int | None]]:
    """Every state of a story of 2.8.2, and the length of the shortest trace to a violation of each invariant.

    A state that should be reachable, and is not, has no length.
    """
    return examined(Model(STORIES[name], "2.8.2", bounds))


def examined(model: Model) -> tuple[Verdict, dict[str, int | None]]:
    """The same of any model."""
    verdict = exhaust(model, keep_going=True)
    assert verdict.strength is Strength.EXHAUSTIVE
    return verdict, shortest(verdict)


def test_a_version_flag_is_on_from_the_release_that_brought_it():
    on = {name: {release for release in RELEASES if VARIANTS[release][name]} for name in VARIANTS["2.8.2"]}
    assert on["topic_ids"] == {"2.8.0", "2.8.2", "3.0", "3.4.1", "3.9.0"}
    assert on["keep_ids_below_ibp"] == on["topic_ids"] - {"2.8.0"}
    assert on["first_leader_and_isr_assigns_id"] == {"3.0", "3.4.1", "3.9.0"}
    assert on["restore_from_cache"] == on["old_client_refuses"] == on["cas_topic_write"] == set()
    assert [VARIANTS[r]["stop_replica_epoch"] for r in ("2.5.0", "3.0", "3.4.1")] == ["none", "gt", "ge"]
    assert VARIANTS["2.8.0"]["async_metadata_flush"] is False
    assert "async_metadata_flush" not in VARIANTS["2.8.2"]


def test_before_2_8_no_id_is_minted_and_no_client_overwrites_the_expansion():
    model = Model(STORIES["old-client-expansion"], "2.5.0", {"brokers": 2, "restarts": 0})
    names = ("replica_id_matches_zookeeper", "topic_id_stable", "context_agrees", "no_partition_lost")
    verdict = exhaust(model, properties=tuple(prop for name in names for prop in model.properties_of(name)))
    assert (verdict.strength, verdict.findings) == (Strength.EXHAUSTIVE, ())


def test_brokers_of_mixed_protocols_keep_one_id():
    model = Model(STORIES["mixed-inter-broker-protocol"], "2.8.2", {"restarts": 0})
    verdict, found = examined(model)
    assert (outcome_of(verdict), found) == (pinned(model), {})


@pytest.mark.parametrize(("variant", "is_violated"), [("2.8.2", False), ("3.0", False), ("3.9.0", True)])
def test_from_3_3_on_an_isr_stays_full_of_replicas_that_do_not_fetch(variant, is_violated):
    model = Model(STORIES["full-isr"], variant)
    verdict = exhaust(model, properties=model.properties_of("isr_members_fetch"), keep_going=True)
    assert outcome_of(verdict) == pinned(model, "isr_members_fetch")
    assert bool(verdict.findings) == is_violated


def test_what_keeps_the_isr_full_is_that_a_leader_asks_by_its_topic_id():
    model = Model(STORIES["full-isr"], "3.9.0", flags={"alter_partition_by_topic_id": False})
    verdict = exhaust(model, properties=model.properties_of("isr_members_fetch"))
    assert (verdict.strength, verdict.findings) == (Strength.EXHAUSTIVE, ())


def test_files_removed_and_brokers_restarted_in_any_order_repair():
    model = Model(STORIES["repair-by-removing-files"], "2.8.2")
    verdict, found = examined(model)
    assert (outcome_of(verdict), verdict.bounds_hit) == (pinned(model), {})
    assert found.keys() == {"replica_id_matches_zookeeper", "partition_servable", "replicas_converge"}
    assert verdict.premises["repaired_partition_serves(0, 0)"] > 0  # and it is not among what was found


EDITS = {"metadata_file_removal": False, "metadata_file_edits": True}
"""Operators write ZooKeeper's topic ids into the files, and remove none."""


@pytest.mark.parametrize("release", ["2.8.2", "3.9.0"])
def test_files_that_get_zookeepers_id_and_brokers_restarted_in_any_order_repair(release):
    model = Model(STORIES["repair-by-removing-files"], release, flags=EDITS)
    verdict, found = examined(model)
    assert (outcome_of(verdict), verdict.bounds_hit) == (pinned(model), {})
    assert found.keys() == {"replica_id_matches_zookeeper", "partition_servable", "replicas_converge"}
    assert verdict.premises["repaired_partition_serves(0, 0)"] > 0


@pytest.mark.thorough
def test_no_record_is_in_a_log_without_id_where_files_are_edited_and_not_removed():
    model = Model(STORIES["repair-with-records"], "2.8.2", {"restarts": 3}, EDITS)
    verdict, found = examined(model)
    assert outcome_of(verdict) == pinned(model)
    assert found.keys() == {"replicas_converge"}


@pytest.mark.parametrize("left_out", ["repairs", "restarts"])
def test_neither_removing_files_nor_restarting_brokers_repairs_alone(left_out):
    _, found = searched("repair-by-removing-files", **{left_out: 0})
    assert found["one_topic_id_everywhere"] is None


@pytest.mark.thorough
def test_data_are_safe_while_files_with_topic_ids_are_removed_and_brokers_restarted():
    model = Model(STORIES["repair-with-records"], "2.8.2", {"restarts": 3})
    verdict, found = examined(model)
    assert outcome_of(verdict) == pinned(model)
    assert found.keys() == {"records_have_a_topic_id", "partition_servable", "replicas_converge"}


def test_data_are_not_safe_where_leader_epoch_checkpoint_is_removed_as_well():
    bounds = {"restarts": 3, "repairs": 1}
    model = Model(STORIES["repair-with-records"], "2.8.2", bounds, {"epoch_checkpoint_removal": True})
    _, found = examined(model)
    assert found["no_divergence"] == pinned_steps(model, "no_divergence")


def test_an_id_written_back_is_no_repair_until_the_controller_has_moved():
    model = Model(STORIES["repair-by-writing-the-id-back"], "2.8.2")
    _, found = examined(model)
    assert found["repaired_partition_serves"] == pinned_steps(model, "repaired_partition_serves")
    assert "one_topic_id_everywhere" not in found  # which is reached


def broken(**bounds: int) -> Schedule:
    """Three brokers and a topic whose replicas know another id than ZooKeeper and the controller, which is broker 0."""
    room = {"brokers": 3, "repairs": 3, "restarts": 4, "failovers": 1, "controller_epochs": 9}
    return Schedule(Model(STORIES["repair-by-removing-files"], "2.8.2", {**room, **bounds}))


def healthy(schedule: Schedule) -> bool:
    """Whether every replica knows ZooKeeper's id, and follows or leads."""
    names = ("replica_id_matches_zookeeper", "partition_servable", "replicas_converge")
    return not any(schedule.violated(name) for name in names)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_removing_the_files_and_then_restarting_every_broker_repairs_in_any_order(order):
    schedule = broken()
    for broker in range(3):
        schedule.do(f"remove_metadata_files({broker})")
    assert not healthy(schedule)
    for broker in order:
        controller = schedule.cluster.zookeeper.controller
        schedule.do(f"stop({broker}, {controller})")
        schedule.restart(broker)
    assert healthy(schedule)


def test_removing_the_files_without_a_restart_changes_nothing_that_brokers_do():
    schedule = broken()
    for broker in range(3):
        schedule.do(f"remove_metadata_files({broker})")
    assert len(schedule.violated("replica_id_matches_zookeeper")) == 3
    assert schedule.files(0) == [None] * 3


def test_restarting_without_removing_the_files_leaves_every_replica_with_the_other_id():
    schedule = broken()
    for broker in (1, 2, 0):
        controller = schedule.cluster.zookeeper.controller
        schedule.do(f"stop({broker}, {controller})")
        schedule.restart(broker)
    assert len(schedule.violated("replica_id_matches_zookeeper")) == 3


def test_the_first_id_written_back_and_a_failover_make_all_agree_again():
    bounds = {"brokers": 3, "controller_epochs": 9}
    schedule = Schedule(Model(STORIES["repair-by-writing-the-id-back"], "2.8.2", bounds))
    assert len(schedule.violated("replica_id_matches_zookeeper")) == 3
    schedule.do("write_topic_id(0, 0)")
    assert not schedule.violated("replica_id_matches_zookeeper")
    assert schedule.violated("context_agrees")  # the controller keeps sending the second id
    schedule.do("delete_controller()", winner=1)
    assert healthy(schedule) and not schedule.violated("context_agrees")
