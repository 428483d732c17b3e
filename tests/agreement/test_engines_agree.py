"""Plain Python, machine code and Z3 give equal results for every action and property."""

from collections import Counter
from collections.abc import Iterable, Iterator

import pytest

from kwalk.model.language import Model, Scenario
from kwalk.model.language.lift import lift
from kwalk.model.language.registry import announced
from kwalk.search.kernel.compile import emitter
from kwalk.search.kernel.compile.compiler import compile_model, fast_kernel_for, kernel_for, kernel_of
from kwalk.search.kernel.differential import disagreements
from tests.agreement.zoo import ZOO
from tests.states import random_states, reachable_states


def variants_of(number: int, scenario: Scenario) -> list[str]:
    """All variants, if they are few; else one of them in turn: together the scenarios look at every release."""
    names = list(scenario.variants) or [scenario.default_variant]
    return names if len(names) <= 3 else [names[number % len(names)]]


def unlike(scenarios: Iterable[Scenario], most: int) -> Iterator[Scenario]:
    """The scenarios, but of those that have the same actions only the first ones."""
    seen: Counter[tuple[str, ...]] = Counter()
    for scenario in scenarios:
        actions = tuple(action.name for action in scenario.actions)
        seen[actions] += 1
        if seen[actions] <= most:
            yield scenario


SCENARIOS = (ZOO, *unlike(announced().values(), 2))
OTHER_ACTIONS = {scenario.name for scenario in unlike(SCENARIOS, 1)}
"""Scenarios whose actions no earlier one has together. The others are compared only thoroughly."""
NOTHING_OF_THEIR_OWN = {
    "healthy-deletion",
    "healthy-records",
    "leaders-in-succession",
    "reassignment-as-clients-see-it",
    "repair-by-removing-files",
    "stray-log",
    "topic-deletion",
    "zombie-controller",
}
"""Scenarios whose every function, statement, field, error and property is lifted for others here as well (compared)."""
KAFKA_IN_TURN = 4
LONG = {"deletion-during-reassignment", "ensemble-growth", "expansion-during-halted-deletion"}
"""Stories that take as long as six others."""


def is_thorough(number: int, scenario: Scenario) -> bool:
    """Whether `make test` leaves the scenario out.

    Of Kafka's stories it takes every fourth one. The tests of tests/kafka search the others, and each search compares a
    sample of its states with plain Python.
    """
    is_kafka = scenario.state.__module__.startswith("kwalk.model.kafka")
    return scenario.name not in OTHER_ACTIONS or (is_kafka and number % KAFKA_IN_TURN > 0) or scenario.name in LONG


PAIRS = [
    pytest.param(s, v, id=f"{s.name}-{v}", marks=pytest.mark.thorough if is_thorough(number, s) else ())
    for number, s in enumerate(SCENARIOS)
    for v in variants_of(number, s)
    if s.name not in NOTHING_OF_THEIR_OWN
]
FEW_BROKERS = {"brokers": 2}
"""With two, every function, statement and field is lifted that is with three (compared), in a third of the terms."""
MODERATE = 20_000
"""Models of fewer terms are compiled with care; for others that takes too long here, and the code means the same."""


@pytest.mark.parametrize(("scenario", "variant"), PAIRS)
def test_plain_python_kernel_and_z3_agree_on_reachable_and_on_arbitrary_states(scenario, variant):
    model = Model(scenario, variant, FEW_BROKERS if scenario.bounds.get("brokers", 0) > 2 else {})
    few = max(2, 300 // (len(model.instances) + len(model.properties)))
    many = 2 * few
    lifted = lift(model)
    kernel = (fast_kernel_for if len(lifted.terms) < MODERATE else kernel_for)(model, lifted)
    slow = [*reachable_states(model, few, seed=1), *random_states(model, few, seed=2)]
    fast = [*reachable_states(model, many, seed=3), *random_states(model, many, seed=4)]
    assert next(disagreements(model, slow, kernel=kernel, lifted=lifted, with_z3=True), None) is None
    assert next(disagreements(model, fast, kernel=kernel, lifted=lifted), None) is None


@pytest.mark.parametrize("unoptimized", [True, False])
@pytest.mark.parametrize("scenario", [ZOO, announced()["topic-id-core"]], ids=lambda scenario: scenario.name)
def test_a_kernel_of_many_short_basic_blocks_agrees_with_plain_python(scenario, unoptimized, monkeypatch):
    monkeypatch.setattr(emitter, "BLOCK", 3)
    model = Model(scenario)
    kernel = kernel_of(model, compile_model(model, unoptimized=unoptimized))
    states = [*reachable_states(model, 30, seed=5), *random_states(model, 30, seed=6)]
    assert next(disagreements(model, states, kernel=kernel), None) is None
