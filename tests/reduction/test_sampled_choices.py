"""A wrong choice of steps ends a reduced search: in sampled states, what is left out is executed as well."""

from __future__ import annotations

import re

import numpy as np
import pytest
from attrs import evolve

from kwalk.model.examples.two_phase_commit import TWO_PHASE_COMMIT
from kwalk.model.language import Model
from kwalk.model.language.refinement import RefinementProperty
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.python_comparison import EngineDisagreement
from kwalk.search.partial_order import reduction
from kwalk.search.results.verdict import Answer
from tests.agreement.lending_desk import DESK

SCENARIOS = {"two-phase commit": TWO_PHASE_COMMIT, "lending desk": DESK}


def without_refinement(name: str) -> Model:
    """The model without its refinement, whose properties make all steps visible."""
    scenario = SCENARIOS[name]
    kept = (prop for prop in scenario.declared_properties if not isinstance(prop, RefinementProperty))
    return Model(evolve(scenario, properties=tuple(kept)))


def planted(monkeypatch, **changes):
    """Plans in which some relations are empty."""
    honest = reduction.plan_of

    def plan_of(model, kernel, report):
        plan = honest(model, kernel, report)
        return evolve(plan, **{name: change(getattr(plan, name)) for name, change in changes.items()})

    monkeypatch.setattr(reduction, "plan_of", plan_of)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_right_choice_is_checked_and_the_verdict_says_in_how_many_states(name):
    verdict = exhaust(without_refinement(name), reduce=True, memory_bytes=1 << 30)
    (note,) = [note for note in verdict.notes if "what is left out was executed" in note]
    found = re.match(r"In ([\d,]+) states? what is left out", note)
    assert found and int(found[1].replace(",", "")) >= verdict.compared.states > 0


WRONG = {
    "all groups are independent": ({"do_not_accord": np.zeros_like}, "depends on it"),
    "nothing enables an atom": ({"enabling_sets": np.zeros_like}, "depends on it|leads to"),
    "no goal is looked for": ({"goal_atoms": np.zeros_like, "goal_groups": np.zeros_like}, "leads to what"),
    "nothing disables an instance": ({"disabling_sets": np.zeros_like}, "leads to a final state"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_relation_ends_the_search(wrong, monkeypatch):
    changes, text = WRONG[wrong]
    planted(monkeypatch, **changes)
    with pytest.raises(EngineDisagreement, match=f"The partial-order reduction leaves out .*({text})"):
        for name in SCENARIOS:
            exhaust(without_refinement(name), reduce=True, memory_bytes=1 << 30, keep_going=True)


def test_without_a_comparison_nothing_is_checked():
    verdict = exhaust(without_refinement("two-phase commit"), reduce=True, memory_bytes=1 << 30, compare=False)
    assert verdict.answer is Answer.HOLDS
    assert not any("what is left out was executed" in note for note in verdict.notes)
