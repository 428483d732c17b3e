"""Plans for snapshots of random true states, carried out in these: what a snapshot hides may not make them unsafe."""

from __future__ import annotations

import json
from random import Random

import pytest

from kwalk.invariants.reading.claims import CLAIMS, OF_RECORDS
from kwalk.invariants.reading.conditions import KEEPS
from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.invariants.reading.outlook import recovery_problem
from kwalk.invariants.reading.partition_groups import groups_of, parts_of
from kwalk.model.kafka.snapshots.capture import read_capture
from kwalk.model.language.inspection import Prognosis
from kwalk.search.analyses.recovery import Recovery, plan_recovery
from kwalk.search.analyses.settling import NeverAtRest
from tests.snapshots.test_combined_damages import EPOCHS, OTHER, cluster, log, problem, stop, ways_out
from tests.snapshots.test_random_migrations import harms_of
from tests.snapshots.true_states import BROKERS, NAME, Outcome, TrueState, carried_out, true_model

RECORDS = {prop.name for prop in OF_RECORDS}


def answers(text: bytes) -> list[Recovery]:
    """The answers with a plan that keeps all records, for a snapshot that plans are for."""
    try:
        found = plan_recovery(recovery_problem(text), seconds=60)
    except NeverAtRest:
        return []
    planned = (one for one in (found, *found.alternatives) if one.plan and one.plan.procedures)
    return [one for one in planned if one.problem.keeps == KEEPS]


def harm(outcome: Outcome) -> frozenset[str]:
    """What a plan that keeps all records has done to them."""
    return (outcome.after | outcome.after_a_fault) & RECORDS - outcome.before


def tried(release: str, seeds: range, partitions: int = 1) -> tuple[int, list[str]]:
    """Return how many plans were carried out in true states, and what they did to records, or did not repair."""
    model, count, wrong = true_model(release, partitions), 0, list[str]()
    for seed in seeds:
        state, chance = TrueState(model, seed), Random(seed)
        hidden = [b for b in BROKERS if state.is_as_assigned(b)] if seed % 2 else []
        text = state.snapshot(without=chance.choice(hidden) if hidden else None, is_asked=seed % 3 != 0)
        for answer in answers(text):
            parts = parts_of(groups_of(read_capture(text), [NAME])[0])
            if "to keep the records" in answer.problem.premise or not parts:
                continue
            outcome = carried_out(state, parts, answer.plan.procedures)
            count += 1
            is_repaired = answer.problem.premise or not outcome.after - outcome.before
            if harm(outcome) or not is_repaired:
                steps = [one.name for one in answer.plan.procedures]
                wrong.append(f"{seed}: {state.walk.taken}: {steps} {answer.problem.premise}: {outcome}")
    return count, wrong


@pytest.mark.thorough
@pytest.mark.parametrize("partitions", [1, 2])
@pytest.mark.parametrize("release", ["2.8.2", "3.4.1", "3.9.0"])
def test_a_plan_for_a_snapshot_harms_no_records_of_the_true_state(release: str, partitions: int) -> None:
    count, wrong = tried(release, range(60), partitions)
    assert not wrong
    assert count >= 8


@pytest.mark.thorough
def test_plans_that_do_not_look_at_records_harm_those_of_true_states(monkeypatch) -> None:
    """What the test above would find."""
    claims = tuple(prop for prop in CLAIMS if prop not in OF_RECORDS)
    monkeypatch.setattr("kwalk.invariants.reading.outlook.CLAIMS", claims)
    _, wrong = tried("3.9.0", range(20))
    assert wrong


def migrated(release: str, seeds: range, prognosis: Prognosis) -> tuple[int, list[str]]:
    """Return for how many snapshots of true states a prognosis is made, and what a migration of these does."""
    model, count, wrong = true_model(release), 0, list[str]()
    for seed in seeds:
        state = TrueState(model, seed)
        (prospect,) = inspect_snapshot(state.snapshot(without=None, is_asked=seed % 3 != 0)).prospects
        if prospect.prognosis is prognosis and state.cluster.zookeeper.topics[0].exists:
            count += 1
            found = [*harms_of(model, state.cluster, release)]
            wrong += [f"{seed}: {state.walk.taken}: {found}"] * bool(found)
    return count, wrong


@pytest.mark.thorough
@pytest.mark.parametrize("release", ["3.4.1", "3.6.2", "3.9.0"])
def test_a_migration_of_what_is_ready_harms_no_records_of_the_true_state(release: str) -> None:
    count, wrong = migrated(release, range(200), Prognosis.READY)
    assert not wrong
    assert count >= 8
    assert migrated(release, range(40), Prognosis.LOSES)[1]


# What these states have found.


def test_the_log_of_the_isr_under_another_id_is_a_choice_beside_one_that_began_apart() -> None:
    """Its disk may be that of an earlier topic: it led, and the topic's log was moved away, in a plan for all."""
    snapshot = cluster()
    stop(snapshot, 3)
    snapshot["topics"]["orders"]["partition_state"]["0"].update(leader=-1, isr=[3], leader_epoch=7)
    del snapshot["brokers"]["2"]["dirs"]["orders-0"]  # two copies would outvote one
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(OTHER, EPOCHS[:1], crc=8)
    found = problem(snapshot)
    wanted = {one.premise for one in (found, *found.alternatives)}
    assert {f"to keep the records that topic orders has on broker {which}" for which in ("1", "3")} <= wanted
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(OTHER)
    assert "to keep" not in problem(snapshot).premise  # they began as one: another id was minted


def test_what_was_read_is_the_topic_s_only_if_it_began_as_an_unread_log_of_the_isr() -> None:
    """A log of an earlier topic that has the topic's id, from a start without partition.metadata, looks the same."""
    snapshot = cluster()
    snapshot["topics"]["orders"]["partition_state"]["0"].update(leader=-1, isr=[1])
    snapshot["broker_ids"].remove(1)
    snapshot["brokers"]["1"].update(alive=False, dirs=None)
    assert "of broker 1 they began as those that were read" in problem(snapshot).premise
    snapshot["brokers"]["2"]["dirs"] = snapshot["brokers"]["3"]["dirs"] = {}
    assert "began" not in problem(snapshot).premise  # nothing was read


def test_a_copy_under_another_id_that_ends_before_is_not_the_isr_s_last_log() -> None:
    """The id was minted again, and its broker began to follow: with it all records had come back, a plan said."""
    snapshot = cluster()
    snapshot["topics"] = {"orders": snapshot["topics"]["orders"]}
    snapshot.update(broker_ids=[], controller=None)
    for broker in snapshot["brokers"].values():
        broker["alive"] = False
        broker["dirs"].pop("payments-0")
    snapshot["brokers"]["2"]["dirs"]["orders-0"] = log(OTHER, EPOCHS[:2])
    del snapshot["brokers"]["1"]["dirs"]["orders-0"]
    first = inspect_snapshot(json.dumps(snapshot).encode()).observations[0]
    assert "start broker 3 before broker 1, whose log of orders-0 is gone; start broker 3 before broker 2" in (
        first.kind.way_out
    )
    found = plan_recovery(problem(snapshot), seconds=60)
    assert found.plan is not None and found.plan.procedures[0].name == "start-broker 3"
    snapshot["brokers"]["2"]["dirs"]["orders-0"] = log(OTHER, EPOCHS[:2], crc=8)
    assert "start broker 3 before broker 2" not in ways_out(snapshot)["no-live-isr"]
