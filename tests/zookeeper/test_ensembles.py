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
from tests.kafka.outcomes import outcome_of, pinned

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
SEARCHED = (
    ("ensemble-growth-one-at-a-time", "3.5.9"),
    ("ensemble-growth-new-servers-first", "3.5.9"),
    ("ensemble-retirement-one-at-a-time", "3.5.9"),
    ("ensemble-two-servers-stopped", "3.5.9"),
    ("ensemble-growth", "3.5.9"),
)
"""Stories and releases of which every state is searched."""


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
@pytest.mark.parametrize(("name", "variant"), SEARCHED)
def test_a_search_of_all_states_finds_what_is_broken_and_nothing_else(name, variant):
    model = Model(STORIES[name], variant)
    verdict = exhaust(model, keep_going=True)
    assert (verdict.strength, outcome_of(verdict)) == (Strength.EXHAUSTIVE, pinned(model))


def test_two_servers_stopped_leave_no_room_for_a_crash_and_nothing_else_breaks():
    model = Model(STORIES["ensemble-two-servers-stopped"], "3.5.9")
    verdict = exhaust(model, keep_going=True)
    assert outcome_of(verdict) == pinned(model) and shortest(verdict).keys() == {"crash_is_tolerated"}


@pytest.mark.thorough
def test_the_safe_order_keeps_writes_and_one_leader_also_with_a_lost_connection_and_a_fourth_epoch():
    bounds = {"disconnections": 1, "epochs": 4}
    model = Model(STORIES["ensemble-growth-one-at-a-time"], "3.5.9", bounds)
    verdict = exhaust(model, keep_going=True)
    assert outcome_of(verdict) == pinned(model) and shortest(verdict).keys() == {"crash_is_tolerated"}
