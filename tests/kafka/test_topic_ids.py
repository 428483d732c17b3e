"""Variants, candidate fixes of lost topic ids, admins that overwrite each other, and repairs of a broken cluster."""
from __future__ import annotations

import pytest

from invariants.scenarios import SCENARIOS
from model.kafka.fixes.topic_ids import FIXES
from model.kafka.versions import RELEASES, VARIANTS
from model.language import Model
from model.language.fix import Fix, Trial
from search.exhaust import exhaust
from tests.kafka.schedule import Schedule

STORIES = {scenario.name: scenario for scenario in SCENARIOS}

OUTCOMES = {
    ("restore_from_cache", "context_agrees"): (11, None),
    ("restore_from_cache", "topic_id_stable"): (8, 8),
    ("old_client_refuses", "zk_id_not_erased"): (4, None),
    ("old_client_refuses", "no_partition_lost"): (4, 4),
    ("cas_topic_write", "no_partition_lost"): (4, None),
    ("cas_topic_write", "zk_id_not_erased"): (4, 4),
}
"""By fix and first invariant of the trial: the length of the shortest counterexample, with the fix off and on."""


def shortest(trial: Trial, flags: dict[str, object]) -> int | None:
    """The length of the shortest counterexample of a trial, None where an exhaustive search finds none."""
    model = Model(STORIES[trial.scenario_name], trial.variant, trial.bounds, flags)
    verdict = exhaust(model, claims=tuple(c for name in trial.invariants for c in model.claims_of(name)))
    assert verdict.how == "exhaustive" or verdict.counterexample is not None
    return None if verdict.counterexample is None else verdict.counterexample.length


@pytest.mark.parametrize(
    ("fix", "trial"),
    [(fix, trial) for fix in FIXES for trial in fix.trials],
    ids=[f"{fix.name}-{trial.scenario_name}-{trial.invariants[0]}" for fix in FIXES for trial in fix.trials],
)
def test_each_fix_closes_what_it_claims_or_shows_its_hole(fix: Fix, trial: Trial):
    found = shortest(trial, {fix.flag.name: False}), shortest(trial, {fix.flag.name: True})
    assert found == OUTCOMES[fix.name, trial.invariants[0]]


def test_a_version_flag_is_on_from_the_release_that_brought_it():
    on = {name: {release for release in RELEASES if VARIANTS[release][name]} for name in VARIANTS["2.8.2"]}
    assert on["topic_ids"] == {"2.8.0", "2.8.2", "3.0", "3.4.1", "3.9.0"}
    assert on["keep_ids_below_ibp"] == on["topic_ids"] - {"2.8.0"}
    assert on["first_leader_and_isr_assigns_id"] == {"3.0", "3.4.1", "3.9.0"}
    assert on["restore_from_cache"] == on["old_client_refuses"] == on["cas_topic_write"] == set()
    assert [VARIANTS[r]["stop_replica_epoch"] for r in ("2.5.0", "3.0", "3.4.1")] == ["none", "gt", "ge"]
    assert VARIANTS["2.8.0"]["async_metadata_flush"] is False
    assert "async_metadata_flush" not in VARIANTS["2.8.2"]


def test_before_2_8_no_id_is_minted_and_nobody_overwrites_the_expansion():
    model = Model(STORIES["old-client-expansion"], "2.5.0", {"restarts": 0})
    names = ("replica_id_matches_zookeeper", "topic_id_stable", "context_agrees", "no_partition_lost")
    verdict = exhaust(model, claims=tuple(claim for name in names for claim in model.claims_of(name)))
    assert (verdict.how, verdict.findings) == ("exhaustive", ())


def test_brokers_of_mixed_protocols_keep_one_id():
    verdict = exhaust(Model(STORIES["mixed-inter-broker-protocol"], "2.8.2", {"restarts": 0}), keep_going=True)
    assert (verdict.how, verdict.findings, verdict.distinct_states) == ("exhaustive", (), 2_095)


def broken(**bounds: int) -> Schedule:
    """Three brokers and a topic whose replicas know another id than ZooKeeper and the controller, which is broker 0."""
    room = {"brokers": 3, "repairs": 3, "restarts": 4, "failovers": 1, "controller_epochs": 9}
    return Schedule(Model(STORIES["repair-by-removing-files"], "2.8.2", {**room, **bounds}))


def healthy(schedule: Schedule) -> bool:
    """Whether every replica knows ZooKeeper's id, and follows or leads."""
    names = ("replica_id_matches_zookeeper", "partition_servable", "replicas_converge")
    return not any(schedule.violated(name) for name in names)


@pytest.mark.parametrize("order", [(1, 2, 0), (0, 1, 2), (2, 0, 1)])
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
    assert schedule.violated("context_agrees")  # the controller goes on sending the second id
    schedule.do("delete_controller()", winner=1)
    assert healthy(schedule) and not schedule.violated("context_agrees")
