"""A search whose kernel executes plain Python has the verdict of a search that runs compiled code."""

from __future__ import annotations

import pytest

from kwalk.model.language import Model
from kwalk.model.language.registry import announced
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.kernel.differential import disagreements
from kwalk.search.kernel.interpreted import interpreted_kernel
from kwalk.search.results.verdict import Verdict
from tests.agreement.zoo import ZOO
from tests.search.post_office import POST_OFFICE
from tests.states import random_states, reachable_states

CASES = [
    ("die-hard", None, {}),
    ("two-phase-commit", None, {}),
    ("lost-update", None, {}),
    ("blocking-queue", None, {}),
    ("topic-id-core", None, {"restarts": 0, "failovers": 1}),
]


def what_counts(verdict: Verdict) -> tuple[object, ...]:
    return (
        verdict.answer,
        verdict.strength,
        verdict.distinct_states,
        verdict.generated_states,
        verdict.depth,
        verdict.quiescent_states,
        verdict.bounds_hit,
        verdict.premises,
        verdict.action_counts,
        verdict.findings,
    )


@pytest.mark.parametrize(("name", "variant", "bounds"), CASES, ids=[name for name, *_ in CASES])
def test_verdict_counts_and_traces_are_those_of_compiled_code(name, variant, bounds):
    scenario = announced()[name]
    sizes = {bound: size for bound, size in bounds.items() if bound in scenario.bounds}
    model = Model(scenario, variant, sizes)
    compiled = exhaust(model, kernel=kernel_for(model), keep_going=True)
    interpreted = exhaust(model, kernel=interpreted_kernel(model), keep_going=True)
    assert what_counts(interpreted) == what_counts(compiled)


@pytest.mark.parametrize("scenario", [ZOO, POST_OFFICE], ids=lambda scenario: scenario.name)
def test_every_function_of_the_kernel_agrees_with_the_terms(scenario):
    model = Model(scenario)
    states = [*reachable_states(model, 4, seed=1), *random_states(model, 20, seed=2)]
    assert next(disagreements(model, states, kernel=interpreted_kernel(model)), None) is None


def test_an_exception_that_is_no_error_of_the_model_is_raised_by_the_search(monkeypatch):
    model = Model(announced()["die-hard"])
    kernel = interpreted_kernel(model)
    monkeypatch.setattr(type(model), "state", lambda self, vector: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        exhaust(model, kernel=kernel)


def test_the_command_refuses_what_needs_compiled_code(kwalk):
    for words, named in ((("--reduce",), "--reduce"), (("--workers", "2"), "--workers"), (("--spark",), "--spark")):
        ran = kwalk("exhaust", "die-hard", "--interpreter", *words)
        assert ran.code == 2 and named in ran.err and "--interpreter" in ran.err


def test_the_command_reproduces_itself(kwalk):
    ran = kwalk("exhaust", "die-hard", "--interpreter")
    assert ran.code == 12 and "kwalk exhaust die-hard --interpreter" in ran.out
