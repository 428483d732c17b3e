"""All examples are announced, documented and sound where their source says so; together they use the whole language."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import pytest

import kwalk.model.examples
from kwalk.model.examples.scenarios import SCENARIOS
from kwalk.model.language import Kind, Model, Scenario
from kwalk.model.language.containers import ArrayShape, FifoShape, FreshShape
from kwalk.model.language.record_sets import FlaggedSetShape
from kwalk.model.language.records import RecordShape, ValueShape, shapes_of
from kwalk.model.language.shapes import (
    ChoiceShape,
    FlagShape,
    MemberShape,
    NumberShape,
    OptionalShape,
    Shape,
    SubsetShape,
)
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Answer
from tests.examples.plain_search import Space, space_of

SMALL = {
    "readers-writers": {"actors": 2, "requests": 4},
    "ewd426": {"nodes": 4, "counters": 4, "arrangements": 4**4},
    "ewd998": {"nodes": 2, "messages": 2, "total": 4},
    "disruptor": {"writers": 1, "readers": 2, "slots": 2, "limit": 3},
    "checkpoint-lease": {"nodes": 2, "numbers": 2, "majority": 2},
    "lamport-mutex": {"processes": 2, "last_clock": 4, "channel": 3},
    "voting": {"acceptors": 3, "values": 2, "ballots": 2},
    "synod": {"acceptors": 1, "values": 2, "ballots": 2},
    "paxos": {"servers": 2, "clients": 2, "ballots": 4, "majority": 2},
    "random-access-file": {"most": 2},
    "buffered-file": {"most": 2, "symbols": 1},
    "key-value-store": {"keys": 2, "values": 1},
    "b-tree": {"values": 1},
    "topic-id-core": {"brokers": 2, "partitions": 2, "topic_ids": 3, "failovers": 1, "restarts": 1},
}
"""Sizes at which plain Python searches whole spaces in a moment, where the published size is too large for that."""

FOUND_ON_PURPOSE = {
    ("die-hard", "not_solved"),
    ("tower-of-hanoi", "not_solved"),
    ("lost-update", "counts_every_increment"),
    ("lost-update", "nothing_is_lost"),
    ("blocking-queue", "somebody_runs"),
    ("snapshot-isolation", "transactions_are_serializable"),
    ("nonblocking-commit", "yes_votes_lead_to_commit"),
    ("topic-id-core", "disk_matches_znode"),
    ("topic-id-core", "leaders_when_settled"),
}
"""Invariants that their scenario violates in its first variant."""

IN_PORTS_ONLY = {Kind.EVENTUALLY_ALWAYS}
"""Kinds of properties that no example has; the models of tests/liveness/tla_ports.py have them."""

ABOUT_BEHAVIOURS = {Kind.EVENTUALLY, Kind.INEVITABLE, Kind.ALWAYS_EVENTUALLY, Kind.EVENTUALLY_ALWAYS}

MOST_STEPS = 10_000
"""The most steps that plain Python asks a step property about; beyond it, the compiled search does."""

PROPERTIES = [(scenario, invariant.name) for scenario in SCENARIOS for invariant in scenario.properties]


def _modules() -> list[ModuleType]:
    names = [m.name for m in pkgutil.iter_modules(kwalk.model.examples.__path__) if m.name != "scenarios"]
    return [importlib.import_module(f"kwalk.model.examples.{name}") for name in names]


def _space(scenario: Scenario) -> Space:
    return space_of(scenario, None, **SMALL.get(scenario.name, {}))


@pytest.mark.parametrize("module", _modules(), ids=lambda module: module.__name__.rpartition(".")[2])
def test_an_example_is_short_names_its_source_and_is_announced(module: ModuleType) -> None:
    assert len(inspect.getsource(module).splitlines()) <= 340
    assert "\nSource: " in (module.__doc__ or "")
    assert {thing for thing in vars(module).values() if isinstance(thing, Scenario)} <= set(SCENARIOS)


def test_names_of_scenarios_differ() -> None:
    assert len({scenario.name for scenario in SCENARIOS}) == len(SCENARIOS)


@pytest.mark.parametrize(("scenario", "name"), PROPERTIES, ids=lambda part: getattr(part, "name", part))
def test_an_invariant_holds_unless_the_bug_was_planted(scenario: Scenario, name: str) -> None:
    space = _space(scenario)
    kind = space.model.properties_of(name)[0].kind
    if kind in ABOUT_BEHAVIOURS or (kind is Kind.STEP and space.steps.total() > MOST_STEPS):
        answer = exhaust(space.model, properties=space.model.properties_of(name)).answer
        assert (answer is Answer.VIOLATED) == ((scenario.name, name) in FOUND_ON_PURPOSE)
        assert answer in (Answer.HOLDS, Answer.VIOLATED)
    elif kind is Kind.REACHABLE:
        assert space.witness(name) is not None
    else:
        assert (space.violation(name) is not None) == ((scenario.name, name) in FOUND_ON_PURPOSE)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_every_action_of_an_example_can_be_taken(scenario: Scenario) -> None:
    space = _space(scenario)
    taken = {origin[1].partition("(")[0] for origin in space.reached.values() if origin is not None}
    idle = {action.name for action in scenario.actions} - taken
    for vector in space.reached:
        if not idle:
            break
        idle -= {instance.action.name for instance, _ in space.model.successors(vector)}
    assert not idle


def _shapes(shape: Shape) -> Iterator[Shape]:
    yield shape
    if isinstance(shape, (RecordShape, ValueShape)):
        for _, part in shapes_of(shape.cls):
            yield from _shapes(part)
    if isinstance(shape, (ArrayShape, FifoShape)):
        yield from _shapes(shape.element)
    if isinstance(shape, OptionalShape):
        yield from _shapes(shape.inner)


def test_together_the_examples_use_every_kind_of_field() -> None:
    used = {type(shape) for scenario in SCENARIOS for shape in _shapes(Model(scenario).shape)}
    assert used == {
        ArrayShape,
        ChoiceShape,
        FifoShape,
        FlaggedSetShape,
        FlagShape,
        FreshShape,
        MemberShape,
        NumberShape,
        OptionalShape,
        RecordShape,
        SubsetShape,
        ValueShape,
    }


def test_together_the_examples_use_every_kind_of_invariant_but_those_of_ports() -> None:
    used = {invariant.kind for scenario in SCENARIOS for invariant in scenario.properties}
    assert set(Kind) - used == IN_PORTS_ONLY


def test_together_the_examples_use_variants_many_initial_states_and_deadlock_as_an_error() -> None:
    assert any(len(scenario.variants) > 1 for scenario in SCENARIOS)
    assert any(len(Model(scenario).initial) > 1 for scenario in SCENARIOS)
    assert any(scenario.deadlock_is_error for scenario in SCENARIOS)


def test_together_the_examples_use_what_the_language_has_for_control() -> None:
    tree = ast.parse("\n".join(inspect.getsource(module) for module in _modules()).replace("from __future__", "# "))
    used = {type(node).__name__ for node in ast.walk(tree)}
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert {"Raise", "Try", "IfExp", "Compare", "AugAssign", "For", "Return", "GeneratorExp", "SetComp"} <= used
    assert {"any", "all", "sum", "min", "max", "len", "enumerate", "require", "premise", "evolve"} <= called
