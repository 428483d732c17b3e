"""The first violation of a verdict is the shortest of all; an error of the model does not hide it, and is named."""

from __future__ import annotations

import pytest
from attrs import evolve

from kwalk.model.language import DomainError, Model
from kwalk.search.analyses.distance import DistanceStatus, distance_from
from kwalk.search.base.options import SearchOptions
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.kernel.interpreted import interpreted_kernel
from kwalk.search.results.verdict import Answer
from tests.queries import check, exhaust_on_spark, hunt, prove
from tests.search.exhaustive.graphs import GRAPHS, WALK
from tests.search.exhaustive.test_blocks import sliced

SHORTEST = {
    "in the same state": ("is_allowed()", 2),
    "later in the level": ("is_allowed()", 2),
    "earlier in the level": ("is_allowed()", 2),
    "by a step from the level": ("goes_up()", 3),
    "after the level, of a state before": ("is_allowed()", 3),
    "after the level, of a state behind": ("is_allowed()", 2),
    "behind a property's error": ("is_allowed()", 1),
    "without an error": ("is_allowed()", 1),
}
ENGINES = {
    "exhaust": lambda model, folder: exhaust(model),
    "two workers": lambda model, folder: exhaust(model, workers=2),
    "all violations": lambda model, folder: exhaust(model, keep_going=True),
    "bit-sliced code": lambda model, folder: exhaust(model, kernel=sliced(model)),
    "plain Python": lambda model, folder: exhaust(model, kernel=interpreted_kernel(model)),
    "reduced": lambda model, folder: exhaust(model, reduce=True),
    "Spark": lambda model, folder: exhaust_on_spark(model, folder=folder / "states", partitions=4, local_level=1 << 60),
    "hunt": lambda model, folder: hunt(model, seconds=20),
    "prove": lambda model, folder: prove(model),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("graph", SHORTEST)
def test_the_first_violation_is_the_shortest_and_an_error_is_named(graph, engine, tmp_path):
    verdict = ENGINES[engine](Model(WALK, graph), tmp_path)
    trace = verdict.counterexample
    assert (verdict.findings[0].prop, trace.length) == SHORTEST[graph]
    assert verdict.answer is Answer.VIOLATED and trace.shortest and verdict.exit_code == 12
    named = any(note.startswith("The model has an error as well: ") for note in verdict.notes)
    assert named or graph in ("earlier in the level", "without an error") or "behind" in graph


@pytest.mark.parametrize("graph", ["longer than the error", "longer than a property's error"])
@pytest.mark.parametrize("engine", ENGINES)
def test_an_error_that_comes_before_every_violation_is_the_answer(graph, engine, tmp_path):
    with pytest.raises(DomainError, match="This happens after 1 steps"):
        ENGINES[engine](Model(WALK, graph), tmp_path)


@pytest.mark.parametrize("engine", [name for name in ENGINES if name not in ("prove", "reduced")])
def test_a_deadlock_goes_before_a_longer_violation(engine, tmp_path):
    steps = WALK.variants["without an error"]
    scenario = evolve(WALK, deadlock_is_error=True, properties=WALK.properties[2:], variants={"all": steps})
    verdict = ENGINES[engine](Model(scenario), tmp_path)
    assert verdict.answer is Answer.DEADLOCK and verdict.counterexample.length == 1


@pytest.mark.parametrize("graph", SHORTEST)
def test_the_distance_of_the_explorer_is_that_of_the_shortest(graph):
    model = Model(WALK, graph)
    options = SearchOptions(model.properties, keep_going=True)
    found = distance_from(model, kernel_for(model), model.initial[0], options)
    assert (found.status, found.properties[0], found.least) == (DistanceStatus.FOUND, *SHORTEST[graph])
    assert len(found.path) == found.least


def test_the_engines_of_a_check_agree_on_the_shortest():
    verdict = check(Model(WALK, "later in the level"), seconds=10)
    assert verdict.counterexample.length == SHORTEST["later in the level"][1]


def test_a_checkpoint_is_over_where_a_violation_goes_before_an_error(tmp_path, kwalk):
    assert {*SHORTEST, "longer than the error", "longer than a property's error"} == set(GRAPHS)
    where = "tests.search.exhaustive.graphs:WALK"
    ran = kwalk("exhaust", where, "--variant", "in the same state", "--checkpoint", tmp_path / "states")
    assert not (tmp_path / "states").exists()
    assert ran.code == 12 and "in 2 steps, the shortest" in ran.out and "has an error as well" in ran.out
