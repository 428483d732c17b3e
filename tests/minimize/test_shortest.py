"""A trace becomes the shortest where a search can prove it, and the proof is named."""

from __future__ import annotations

import pytest
from attrs import evolve

from kwalk.model.examples.blocking_queue import BLOCKING_QUEUE
from kwalk.model.examples.reference import REFERENCE
from kwalk.model.language import Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.minimize import shortest as module
from kwalk.search.minimize.shortest import shortest
from kwalk.search.results.cross_check import Contradiction
from kwalk.search.results.verdict import Answer, Strength
from tests.minimize.walks import violating_walks

MODEL = Model(REFERENCE)


@pytest.fixture(scope="module")
def long():
    return next(violating_walks(MODEL, MODEL.properties_of("leaders_when_settled")[0], seed=11))


def without_time(model, **wanted):
    """An exhaustive search that ends at once."""
    return exhaust(model, **{**wanted, "seconds": 1e-9, "properties": ()})


def test_an_exhaustive_search_that_finishes_proves_it(long):
    found, notes = shortest(MODEL, long, kernel_for(MODEL), seconds=30)
    assert (found.length, found.shortest) == (9, "exhaustive to depth 8")
    assert notes == (f"{long.length} steps were given; 9 are left when nothing more can be left out.",)


def test_bounded_checking_proves_it_where_exhaustive_search_does_not_finish(long, monkeypatch):
    monkeypatch.setattr(module, "exhaust", without_time)
    disk = next(violating_walks(MODEL, MODEL.properties_of("disk_matches_znode")[0], seed=3))
    monkeypatch.setattr(module.Minimizer, "minimize", lambda self, trace, **_: evolve(trace, shortest=None))
    found, notes = shortest(MODEL, disk, kernel_for(MODEL), seconds=60)
    assert (found.length, found.shortest) == (3, "bounded checking to depth 2")
    assert any(note.startswith("Exhaustive search did not finish: time budget") for note in notes)


def test_a_deadlock_has_a_shortest_trace_too():
    model = Model(BLOCKING_QUEUE)
    found, _ = shortest(model, next(violating_walks(model, None, seed=1)), kernel_for(model), seconds=30)
    assert (found.length, found.prop, found.shortest) == (7, None, "exhaustive to depth 6")


def test_a_search_that_has_missed_the_trace_is_no_proof(long, monkeypatch):
    def blind(model, **wanted):
        searched = exhaust(model, **wanted)
        return evolve(searched, answer=Answer.HOLDS, strength=Strength.EXHAUSTIVE, findings=())

    monkeypatch.setattr(module, "exhaust", blind)
    with pytest.raises(
        Contradiction, match="According to exhaust, no trace of any length violates leaders_when_settled"
    ):
        shortest(MODEL, long, kernel_for(MODEL), seconds=30)


def test_the_command_says_how_short_and_by_what_it_is_known(kwalk):
    walked = kwalk("walk", "topic-id-core", "--property", "leaders_when_settled", "--walks", 10)
    ran = kwalk("replay", "--minimize", walked.file("Trace"), "--seconds", 30)
    assert ran.code == 12
    assert "VIOLATED  leaders_when_settled()  in 9 steps, the shortest (exhaustive to depth 8)" in ran.out
    assert kwalk("replay", ran.file("Trace")).code == 12
    result = kwalk("replay", "--minimize", walked.file("Trace"), "--json").object
    assert result["counterexample"]["shortest"] == result["how"].removeprefix("shortest (").removesuffix(")")
    assert kwalk("replay", "--minimize", "no-such-file.itf.json").code == 2
