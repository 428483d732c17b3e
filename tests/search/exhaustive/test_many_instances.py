"""Numbers of action instances and property instances up to the limit of a model pass through every engine."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve

from kwalk.model.language import Model, UsageError
from kwalk.model.language.model import MOST_INSTANCES
from kwalk.search.exhaustive.layout import batch_of
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.interpreted import interpreted_kernel
from kwalk.search.results.verdict import Answer
from kwalk.search.spark.exhaustive import level_loops
from tests.search.exhaustive.many import MANY, comes_back, goes_to_one, is_another_case

SIZES = [65_534, 65_535, 65_536, 65_537, MOST_INSTANCES - 4]
"""Numbers of instances before the last two: the greatest is that of a model at its limit, which has a property and an
initial function too."""


@pytest.mark.parametrize("others", SIZES)
def test_a_trace_has_the_last_instances(others):
    scenario = MANY if others > 100_000 else evolve(MANY, properties=(*MANY.properties, goes_to_one))
    model = Model(scenario, bounds={"others": others})
    verdict = exhaust(model, kernel=interpreted_kernel(model))
    assert verdict.counterexample.actions == ("begin()", "end()")
    assert {finding.trace.length for finding in verdict.findings} == {2}
    assert verdict.action_counts["begin()"].taken == 1 and not verdict.action_counts["wait(0)"].enabled


def test_a_lasso_has_the_last_instances():
    model = Model(evolve(MANY, properties=(comes_back,)), bounds={"others": 65_537})
    verdict = exhaust(model, kernel=interpreted_kernel(model))
    assert verdict.answer is Answer.VIOLATED and verdict.counterexample.actions[:2] == ("begin()", "end()")


@pytest.mark.parametrize(
    "cases", [65_536, *(pytest.param(cases, marks=pytest.mark.thorough) for cases in (65_535, 65_537))]
)
def test_the_last_instance_of_a_property_is_violated(cases):
    model = Model(evolve(MANY, properties=(is_another_case,)), bounds={"cases": cases})
    verdict = exhaust(model, kernel=interpreted_kernel(model), keep_going=True)
    assert [finding.prop for finding in verdict.findings] == [f"is_another_case({cases - 1})"]


def test_more_instances_than_the_limit_are_refused():
    with pytest.raises(UsageError, match=r"more than 200,000 instances .*wait alone has 200,001"):
        Model(MANY, bounds={"others": MOST_INSTANCES + 1})


def test_every_number_of_an_instance_fits_where_it_is_stored():
    model = Model(MANY)
    largest = MOST_INSTANCES - 1
    assert batch_of(interpreted_kernel(model)).instances.dtype == np.uint32
    assert largest < 1 << level_loops.INSTANCE_BITS
