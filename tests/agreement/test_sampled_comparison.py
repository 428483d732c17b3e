"""A wrong kernel, lifting or mapping to Z3 ends every engine with an error, where it would have said HOLDS."""
from __future__ import annotations

import pytest

from kwalk.model.language import Model
from kwalk.search.analyses.check import check
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.python_comparison import EngineDisagreement
from kwalk.search.results.verdict import Answer
from kwalk.search.simulation.options import SWARM
from kwalk.search.simulation.walk import walk
from kwalk.search.spark.exhaustive.search import exhaust_on_spark
from tests.agreement.lending_desk import DESK, RETURNS, RETURNS_IN_STATES
from tests.agreement.planted_kernels import PLANTED, without_cache

__all__ = ["without_cache"]


def safety(model):
    return model.properties_of("loans_were_wanted") + model.properties_of("closed_when_idle")


def on_levels(model, tmp_path):
    """The search on Spark, with levels so small that they are done in this process."""
    return exhaust_on_spark(model, folder=tmp_path / "states", partitions=2)


ENGINES = {
    "exhaust": lambda model, _: exhaust(model),
    "exhaust, keeps going": lambda model, _: exhaust(model, keep_going=True),
    "exhaust with two workers": lambda model, _: exhaust(model, workers=2),
    "exhaust with reduction": lambda model, _: exhaust(model, reduce=True),
    "exhaust with symmetry": lambda model, _: exhaust(model, symmetry="readers", properties=safety(model)),
    "exhaust in levels": on_levels,
    "walk": lambda model, _: walk(model, walks=50, depth=30),
    "swarm with two workers": lambda model, _: walk(model, SWARM, walks=50, depth=30, workers=2),
    "check": lambda model, _: check(model, seconds=6),
}


@pytest.mark.parametrize("engine", ENGINES)
def test_the_desk_holds_and_every_verdict_says_how_much_was_compared(engine, tmp_path):
    found = ENGINES[engine](Model(DESK), tmp_path)
    assert found.answer in (Answer.HOLDS, Answer.UNDECIDED) and not found.findings
    assert found.compared.states >= 20 and found.compared.successors > found.compared.states


SCENARIO_FOR = {
    "an always property is always true": RETURNS_IN_STATES, "a step property is always true": RETURNS,
}  # fmt: skip
"""A property that holds is true in every state that is visited: there, a kernel that says so is right."""


@pytest.mark.parametrize("wrong", PLANTED)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.usefixtures("without_cache")
def test_a_planted_mistake_in_the_kernel_ends_every_engine(engine, wrong, tmp_path, monkeypatch):
    PLANTED[wrong](monkeypatch)
    scenario = SCENARIO_FOR.get(wrong, DESK)
    with pytest.raises(EngineDisagreement) as error:
        ENGINES[engine](Model(scenario), tmp_path)
    assert error.value.model is not None
