"""The product's conscience: plain Python, machine code and Z3 say the same of every action and invariant."""
import pytest

from model.language import Model, Scenario
from model.language.lift import lift
from model.language.registry import announced
from search.agreement import disagreements, random_states, reachable_states
from search.compile import fast_kernel_for, kernel_for
from tests.agreement.zoo import ZOO


def variants_of(number: int, scenario: Scenario) -> list[str]:
    """All variants, if they are few; else one of them in turn: together the scenarios look at every release."""
    names = list(scenario.variants) or [scenario.default_variant]
    return names if len(names) <= 3 else [names[number % len(names)]]


SCENARIOS = (ZOO, *announced().values())
PAIRS = [(s, v) for number, s in enumerate(SCENARIOS) for v in variants_of(number, s)]
EVERY = 6
"""One kernel in so many is compiled with care, which takes LLVM three times as long."""


@pytest.mark.parametrize(
    ("scenario", "variant", "make"),
    [pytest.param(*pair, kernel_for if n % EVERY else fast_kernel_for) for n, pair in enumerate(PAIRS)],
    ids=[f"{s.name}-{v}" for s, v in PAIRS],
)
def test_plain_python_kernel_and_z3_agree_on_reachable_and_on_arbitrary_states(scenario, variant, make):
    model = Model(scenario, variant)
    few = max(3, 300 // (len(model.instances) + len(model.claims)))
    many = 2 * few
    lifted = lift(model)
    kernel = make(model, lifted)
    slow = [*reachable_states(model, few, seed=1), *random_states(model, few, seed=2)]
    fast = [*reachable_states(model, many, seed=3), *random_states(model, many, seed=4)]
    assert next(disagreements(model, slow, kernel=kernel, lifted=lifted, with_z3=True), None) is None
    assert next(disagreements(model, fast, kernel=kernel, lifted=lifted), None) is None
