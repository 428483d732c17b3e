"""ZooKeeper's ensemble while its configuration changes: which orders break what, by the shortest way."""

from __future__ import annotations

import re

import pytest

from kwalk.invariants.stories.ensembles import SCENARIOS as ENSEMBLE_SCENARIOS
from kwalk.model.language import Kind, Model
from kwalk.model.zookeeper.ensemble import Ensemble, ServerState
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.trace import run
from kwalk.search.results.verdict import Strength
from tests.kafka.broken import Broken
from tests.kafka.lengths import shortest
from tests.structure.rooms import ROOT

STORIES = {scenario.name: scenario for scenario in ENSEMBLE_SCENARIOS}
NEW_ARE_THERE = "edit_configurations() start(3) join(3,0) start(4) join(4,0)"
ELECTED = "elect(4,{1,3,4}) accept_epoch(1) accept_epoch(3) synchronize(1) synchronize(3)"
BROKEN = (
    Broken(
        "one_leader_is_active()",
        "ensemble-growth",
        "3.5.9",
        """
           edit_configurations() stop(1) start(1) start(3) start(4) elect(1,{1,3,4}) accept_epoch(3) accept_epoch(4)
           synchronize(3) synchronize(4)
           """,
    ),
    Broken(
        "committed_write_is_kept(2, 0)",
        "ensemble-growth",
        "3.5.9",
        """
           write(0) acknowledge(1) edit_configurations() stop(2) start(2) start(3) start(4) elect(2,{2,3,4})
           accept_epoch(3) accept_epoch(4) synchronize(3) synchronize(4)
           """,
    ),
    Broken("service_is_available()", "ensemble-growth", "3.5.9", "edit_configurations() stop(0) start(0) stop(1)"),
    Broken(
        "one_leader_is_active()",
        "ensemble-growth-new-servers-first",
        "3.5.9",
        f"""
           {NEW_ARE_THERE} stop(1) start(1) crash(0) {ELECTED} recover(0) elect(2,{{0,2}}) accept_epoch(0)
           synchronize(0)
           """,
    ),
    Broken(
        "epoch_has_one_leader()",
        "ensemble-growth-new-servers-first",
        "3.5.9",
        f"""
           {NEW_ARE_THERE} stop(1) start(1) crash(0) {ELECTED} recover(0) elect(2,{{0,2}}) accept_epoch(0)
           synchronize(0)
           """,
    ),
    Broken(
        "committed_write_is_kept(4, 0)",
        "ensemble-growth-new-servers-first",
        "3.5.9",
        f"""
           {NEW_ARE_THERE} stop(1) start(1) join(1,0) write(0) stop(2) start(2) join(2,0) stop(0)
           {ELECTED}
           """,
    ),
    Broken("majorities_intersect()", "ensemble-growth-new-servers-first", "3.5.9", "edit_configurations() start(3)"),
    Broken("crash_is_tolerated()", "ensemble-two-servers-stopped", "3.5.9", "stop(3) stop(4) crash(0)"),
    Broken(
        "crash_is_tolerated()",
        "ensemble-growth-one-at-a-time",
        "3.5.9",
        "edit_configurations() start(3) join(3,0) stop(1) start(1) crash(0)",
    ),
    Broken(
        "committed_write_is_kept(2, 0)",
        "ensemble-growth-one-at-a-time",
        "3.4.9",
        """
           write(0) edit_configurations() start(3) join(3,0) crash(0) elect(2,{1,2}) accept_epoch(1) synchronize(1)
           """,
    ),
)
"""The shortest ways to what an order breaks."""
COUNTS = {
    ("ensemble-growth-one-at-a-time", "3.5.9"): (265_542, 5_674, {"crash_is_tolerated": 6}),
    ("ensemble-growth-new-servers-first", "3.5.9"): (
        419_030,
        1_716,
        {
            "majorities_intersect": 2,
            "committed_write_is_kept": 15,
            "one_leader_is_active": 17,
            "epoch_has_one_leader": 17,
        },
    ),
    ("ensemble-retirement-one-at-a-time", "3.5.9"): (227_829, 4_830, {"crash_is_tolerated": 24}),
    ("ensemble-two-servers-stopped", "3.5.9"): (97_584, 3_442, {"crash_is_tolerated": 3}),
    ("ensemble-growth", "3.5.9"): (
        1_752_245,
        4_995,
        {
            "majorities_intersect": 2,
            "service_is_available": 4,
            "one_leader_is_active": 10,
            "committed_write_is_kept": 12,
            "epoch_has_one_leader": 13,
        },
    ),
}
"""Distinct and quiescent states, and how short the ways to what is broken are."""


def keys(steps: str) -> list[str]:
    return [re.sub(r",(?![^{]*})", ", ", step) for step in steps.split()]


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: f"{broken.invariant}-{broken.story}")
def test_an_order_breaks_a_property_with_the_last_step(broken):
    model = Model(STORIES[broken.story], broken.variant)
    (prop,) = model.properties_of(broken.prop)
    states = run(model, model.initial[0], keys(broken.steps))
    assert [model.violates(prop, state, None) for state in states] == [False] * len(keys(broken.steps)) + [True]


def test_a_leader_of_3_5_does_not_count_a_server_that_its_configuration_does_not_list():
    for variant, committed in (("3.4.9", 1), ("3.5.9", 0)):
        model = Model(STORIES["ensemble-growth"], variant)
        steps = "edit_configurations() start(3) join(3,0) write(0) acknowledge(3)"
        ensemble = model.state(run(model, model.initial[0], keys(steps))[-1])
        assert list(ensemble.committed_in) == [committed]


def test_a_restarted_server_with_five_in_its_file_does_not_join_two_that_serve_three():
    model = Model(STORIES["ensemble-growth"], "3.5.9")
    after = run(model, model.initial[0], keys("edit_configurations() stop(1) start(1)"))[-1]
    assert model.attempt(model.instance("join(1, 0)"), after).after is None
    with_a_third = run(model, after, keys("start(3) start(4)"))[-1]
    assert model.attempt(model.instance("join(1, 0)"), with_a_third).after is None


def test_a_leader_whose_followers_have_accepted_its_epoch_of_another_leader_gives_up():
    steps = "write(0) acknowledge(1) crash(0) recover(0) elect(0,{0,3,4}) stop(3) elect(1,{1,2,4}) join(0,1) "
    steps += "accept_epoch(2) stop(4)"
    model = Model(STORIES["ensemble-two-servers-stopped"], "3.5.9")
    state = run(model, model.initial[0], keys(steps))[-1]
    ensemble: Ensemble = model.state(model.attempt(model.instance("give_up_waiting(1)"), state).after)
    assert [server.state for server in ensemble.servers] == [ServerState.LOOKING] * 5


def test_every_property_says_what_operators_see():
    properties = {prop for scenario in ENSEMBLE_SCENARIOS for prop in scenario.properties}
    for prop in properties - {prop for prop in properties if prop.kind is Kind.REACHABLE}:
        assert prop.about and prop.symptom and prop.log


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "variant"), COUNTS)
def test_a_search_of_all_states_finds_what_is_broken_and_nothing_else(name, variant):
    verdict = exhaust(Model(STORIES[name], variant), keep_going=True)
    found = (verdict.distinct_states, verdict.quiescent_states, shortest(verdict))
    assert (verdict.strength, found) == (Strength.EXHAUSTIVE, COUNTS[name, variant])


def test_two_servers_stopped_leave_no_room_for_a_crash_and_nothing_else_breaks():
    name, variant = "ensemble-two-servers-stopped", "3.5.9"
    verdict = exhaust(Model(STORIES[name], variant), keep_going=True)
    assert (verdict.distinct_states, shortest(verdict)) == (COUNTS[name, variant][0], COUNTS[name, variant][2])


@pytest.mark.thorough
def test_the_safe_order_keeps_writes_and_one_leader_also_with_a_lost_connection_and_a_fourth_epoch():
    bounds = {"disconnections": 1, "epochs": 4}
    verdict = exhaust(Model(STORIES["ensemble-growth-one-at-a-time"], "3.5.9", bounds), keep_going=True)
    assert (verdict.distinct_states, shortest(verdict)) == (7_393_562, {"crash_is_tolerated": 6})


def test_the_page_has_the_number_of_states():
    text = (ROOT / "docs" / "stories" / "ensemble-growth.md").read_text(encoding="utf-8")
    assert [name for (name, _), (states, _, _) in COUNTS.items() if f"{states:,} states" not in text] == [
        "ensemble-two-servers-stopped"
    ]
