"""State graphs: exact counts where the whole graph is drawn, and exact words on the part that is where it is not."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import pytest
from attrs import evolve

from kwalk.model.examples.die_hard import DIE_HARD
from kwalk.model.examples.lost_update import LOST_UPDATE
from kwalk.model.examples.two_phase_commit import TWO_PHASE_COMMIT
from kwalk.model.language import (
    Actor,
    Bound,
    Domain,
    DomainError,
    Kind,
    Model,
    Scenario,
    UsageError,
    action,
    number,
    state,
)
from kwalk.search.analyses import state_graph as graphs
from kwalk.search.analyses.state_graph import MOST, components, explore, statistics_of
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import DEADLOCK
from tests.search.plain_counts import plain_counts
from tests.search.post_office import BROKEN, STUCK, post_office

ALL = 100_000
STEPS = Bound("steps", "steps that are ever taken")
SIDES = Domain("sides")


@state
class Walk:
    """How many steps were climbed."""

    taken: int = number(0, STEPS)


@action(by=Actor("walker"))
def ahead(walk: Walk) -> None:
    """One step, until the bound is in the way."""
    walk.taken += 1


@action(by=Actor("walker"))
def trip(walk: Walk, side: Annotated[int, SIDES]) -> None:
    """A bug of the model that is none of its domains'."""
    walk.taken = 1 // (1 - walk.taken)


WALK = Scenario(name="walk", story="Somebody walks.", state=Walk, actions=(ahead,), bounds={"steps": 3})


@pytest.fixture(scope="module")
def small():
    return post_office(streets=2, letters=2)


@pytest.fixture(scope="module")
def whole(small):
    return explore(small, most=ALL)


@pytest.mark.parametrize("scenario", [DIE_HARD, LOST_UPDATE, TWO_PHASE_COMMIT], ids=lambda scenario: scenario.name)
def test_a_whole_graph_counts_what_an_exhaustive_search_counts(scenario):
    model = Model(scenario)
    graph, verdict = explore(model, most=ALL), exhaust(model, keep_going=True)
    figures = statistics_of(graph)
    assert graph.left_out == 0
    assert len(graph.nodes) == verdict.distinct_states
    assert len(model.initial) + figures.steps == verdict.generated_states
    assert (max(graph.known), figures.quiescent) == (verdict.depth, verdict.quiescent_states)
    kinds = {prop.key: prop.kind for prop in model.properties}
    violations = {f.prop: f.count for f in verdict.findings if kinds.get(f.prop, Kind.REACHABLE) is not Kind.REACHABLE}
    assert figures.violations == violations


def test_a_whole_graph_counts_what_plain_python_counts(small, whole):
    expected, figures = plain_counts(small), statistics_of(whole)
    assert {node.vector: node.depth for node in whole.nodes} == expected.depths
    assert [node.vector for node in whole.nodes] == list(expected.depths)
    assert figures.steps == expected.generated - len(small.initial) == expected.taken.total()
    assert figures.idle == expected.taken.total() - expected.changed.total()
    assert figures.quiescent == expected.quiescent
    assert list(whole.bounds_hit) == list(small.binding.bounds)
    assert +Counter(whole.bounds_hit) == expected.hits != Counter()
    reachable = {prop.key for prop in small.properties if prop.kind is Kind.REACHABLE}
    violated = {key: count for key, count in expected.violated.items() if key not in reachable}
    assert figures.violations == violated and len(violated) == 2
    assert Counter(whole.known) == {depth.depth: depth.states for depth in figures.depths}
    assert all(depth.complete and depth.drawn == depth.states for depth in figures.depths)


def test_a_state_was_discovered_by_a_step_from_its_parent(whole):
    for node in whole.nodes:
        assert node.is_initial == (node.depth == 0)
        if node.parent is not None:
            parent = whole.nodes[node.parent]
            assert parent.depth == node.depth - 1 and node.number in [edge.target for edge in parent.edges]


def test_branching_counts_other_states_only(small, whole):
    degrees = []
    for node in whole.nodes:
        after = {after for _, after in small.successors(node.vector)} - {node.vector}
        assert node.branching == len(after)
        degrees.append(node.branching)
    branching = statistics_of(whole).branching
    assert (branching.least, branching.most) == (min(degrees), max(degrees))
    assert branching.mean == pytest.approx(sum(degrees) / len(degrees))
    assert sorted(degrees)[len(degrees) // 2 - 1] <= branching.median <= sorted(degrees)[len(degrees) // 2]


@pytest.mark.parametrize("most", [1, 2, 7, 20])
def test_a_capped_graph_is_the_beginning_of_the_whole_one(small, whole, most):
    graph = explore(small, most=most)
    assert graph.nodes == whole.nodes[:most]
    beyond = {edge.target for node in graph.nodes for edge in node.edges} | set(range(len(small.initial)))
    assert graph.left_out == len({number for number in beyond if number >= most}) > 0
    assert sum(graph.outside(node) > 0 for node in graph.nodes) > 0


@pytest.mark.parametrize("most", [1, 2, 7, 20])
def test_a_capped_graph_knows_how_wide_the_drawn_depths_are(small, whole, most):
    wide = Counter(node.depth for node in whole.nodes)
    for depth in statistics_of(explore(small, most=most)).depths:
        assert depth.states == wide[depth.depth] if depth.complete else depth.states <= wide[depth.depth]
        assert depth.complete or depth.drawn == 0


def test_components_are_the_states_that_lead_to_each_other():
    graph = explore(Model(DIE_HARD))
    assert [sorted(component) for component in components(graph)] == [list(range(16))]
    for graph in (explore(post_office(streets=3, letters=2)), explore(Model(TWO_PHASE_COMMIT), most=90)):
        reach = [_reached(graph, node.number) for node in graph.nodes]
        together = {frozenset(b for b in reach[a] if a in reach[b]) for a in range(len(reach))}
        assert {frozenset(component) for component in components(graph)} == together
        figures = statistics_of(graph)
        assert figures.components == len(together) and figures.largest_component == max(map(len, together))


def _reached(graph, start):
    found, waiting = {start}, [start]
    while waiting:
        for edge in graph.nodes[waiting.pop()].edges:
            if graph.is_drawn(edge.target) and edge.target not in found:
                found.add(edge.target)
                waiting.append(edge.target)
    return found


def test_an_end_is_dead_or_blocked_by_a_bound_only():
    walk = explore(Model(WALK))
    assert [node.is_end for node in walk.nodes] == [False, False, False, True]
    assert not any(node.is_dead or node.is_quiescent for node in walk.nodes)
    figures = statistics_of(walk)
    assert (figures.dead_ends, figures.blocked_ends, walk.bounds_hit) == (0, 1, {"steps": 1})
    stuck = Model(STUCK)
    dead = statistics_of(explore(stuck, most=ALL)).dead_ends
    found = [finding.count for finding in exhaust(stuck, keep_going=True).findings if finding.prop == DEADLOCK]
    assert [dead] == found


def test_only_the_properties_asked_for_are_looked_at(small):
    assert (
        statistics_of(explore(small, properties=small.properties_of("no_more_delivered_than_written"))).violations == {}
    )


def test_there_is_at_least_one_state():
    with pytest.raises(UsageError, match=r"got 0\)\. Give a number of 1 or more"):
        explore(Model(DIE_HARD), most=0)
    assert MOST == 300


def test_a_step_out_of_its_domain_says_how_to_come_there():
    with pytest.raises(DomainError, match=r"^overflow\(\) leaves its domain.*This happens after \d+ steps: write\("):
        explore(Model(BROKEN), most=ALL)


def test_a_bug_of_the_model_is_reported_with_the_action():
    model = Model(evolve(WALK, actions=(ahead, trip), bounds={"steps": 3, "sides": 1}))
    with pytest.raises(DomainError, match=r"^trip\(0\) cannot be run.*This happens after 1 steps: ahead\(\)\.$"):
        explore(model)


def test_an_interrupted_graph_is_what_was_expanded_by_then(small, whole, monkeypatch):
    visit, visits = graphs.Visit, []

    def interrupted(model, vector):
        visits.append(vector)
        if len(visits) > 40:
            raise KeyboardInterrupt
        return visit(model, vector)

    monkeypatch.setattr(graphs, "Visit", interrupted)
    graph = explore(small, most=ALL)
    assert graph.interrupted and graph.nodes == whole.nodes[: len(graph.nodes)] and 0 < len(graph.nodes) < 40
    monkeypatch.setattr(graphs, "Visit", visit)
    assert graph.known == explore(small, most=len(graph.nodes)).known
    monkeypatch.setattr(graphs, "Visit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        explore(small)
