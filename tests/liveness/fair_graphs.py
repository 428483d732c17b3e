"""Random graphs under many declarations of fairness, and what the oracle finds in them."""

from __future__ import annotations

from functools import cache

from attrs import evolve

from kwalk.model.language import (
    SYSTEM_FAIRNESS,
    Model,
    StepResult,
    always_eventually,
    eventually,
    eventually_always,
    inevitable,
    premise,
    strongly_fair,
    weakly_fair,
)
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.results.verdict import Verdict
from tests.fuzz.oracle import FairGraph, OracleCondition
from tests.liveness.random_graphs import TRAVEL, Travel, World, fault_moves, one_moves, other_moves

SIZE = (1, 80, 6)
"""The seed, the worlds and the nodes of each world in the suite."""


@eventually()
def arrives(travel: Travel, world: World) -> bool:
    """From every start of its world, the traveller comes to a goal."""
    premise(travel.world == world and travel.at in travel.starts)
    return travel.world != world or travel.at in travel.goals


@inevitable()
def arrives_once(travel: Travel, world: World) -> bool:
    """From the first node of its world."""
    premise(travel.world == world)
    return travel.world != world or travel.at in travel.goals


@always_eventually()
def returns(travel: Travel, world: World) -> bool:
    """After a start of its world, the traveller comes to goals infinitely often."""
    premise(travel.world == world and travel.at in travel.starts)
    return travel.world != world or travel.at in travel.goals


@eventually_always()
def stays(travel: Travel, world: World) -> bool:
    """After a start of its world, the traveller stays among goals at last."""
    premise(travel.world == world and travel.at in travel.starts)
    return travel.world != world or travel.at in travel.goals


FAIRNESS = {
    "the default": (SYSTEM_FAIRNESS,),
    "nothing": (),
    "WF of a disjunction": (weakly_fair(one_moves, other_moves),),
    "SF of one": (strongly_fair(one_moves),),
    "SF of two": (strongly_fair(one_moves), strongly_fair(other_moves)),
    "SF of a disjunction and WF": (strongly_fair(one_moves, fault_moves), weakly_fair(other_moves)),
    "SF of all three": (strongly_fair(one_moves), strongly_fair(other_moves), strongly_fair(fault_moves)),
    "WF of overlapping disjunctions": (weakly_fair(one_moves, fault_moves), weakly_fair(fault_moves, other_moves)),
}
MOVERS = {"one_moves": 0, "other_moves": 1, "fault_moves": 2}
SCENARIO = evolve(TRAVEL, properties=(arrives, arrives_once, returns, stays))


@cache
def explored(seed: int, worlds: int, nodes: int):
    """The model without its fairness, and of each world the nodes in the order of discovery and their steps."""
    model = Model(SCENARIO, bounds={"worlds": worlds, "seed": seed, "nodes": nodes})
    found = []
    for start in model.initial:
        numbers, steps, queue = {start: 0}, [], [start]
        for vector in queue:
            outcomes = []
            for instance in model.instances:
                outcome = model.attempt(instance, vector)
                if outcome.after is not None and outcome.after not in numbers:
                    numbers[outcome.after] = len(numbers)
                    queue.append(outcome.after)
                what = "bound" if outcome.result is StepResult.BOUND else "done" if outcome.after else "disabled"
                outcomes.append((what, outcome.after))
            steps.append(outcomes)
        found.append((numbers, steps, model.state(start)))
    return model, found


def expected(fairness, size: tuple[int, int, int]) -> dict[str, int]:
    """By the key of a violated property: in how many states a violation starts, according to the oracle."""
    model, worlds = explored(*size)
    conditions = [
        OracleCondition(frozenset(MOVERS[step.action.name] for step in one.steps), one.kind.value == "SF")
        for one in fairness
        if one.steps
    ]
    if SYSTEM_FAIRNESS in fairness:
        conditions += [OracleCondition(frozenset({number}), is_strong=False) for number in (0, 1)]
    found = {}
    for world, (numbers, steps, travel) in enumerate(worlds):
        graph = FairGraph(conditions, numbers, steps)
        nodes = {n: model.state(vector).at for vector, n in numbers.items()}
        everything = set(nodes)
        open_nodes = {n for n, at in nodes.items() if at not in travel.goals}
        starts = {n for n, at in nodes.items() if at in travel.starts}
        lasting = graph.lasting(open_nodes)
        recurrent = graph.lasting(everything, open_nodes)
        results = {
            "arrives": starts & graph.reaching(lasting, open_nodes),
            "arrives_once": {0} & graph.reaching(lasting, open_nodes),
            "returns": starts & graph.reaching(lasting, everything),
            "stays": starts & graph.reaching(recurrent, everything),
        }
        found.update({f"{name}({world})": len(states) for name, states in results.items() if states})
    return found


def searched(fairness, size: tuple[int, int, int] = SIZE, **options) -> Verdict:
    """The verdict of an exhaustive search; all declarations share one kernel."""
    base, _ = explored(*size)
    model = Model(evolve(SCENARIO, fairness=fairness), bounds=base.bound_overrides)
    return exhaust(model, keep_going=True, kernel=kernel_for(base), compare=False, **options)


def counts(verdict: Verdict) -> dict[str, int]:
    """In how many states a violation of each property starts."""
    return {finding.prop: finding.count for finding in verdict.findings}
