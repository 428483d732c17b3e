"""An error of a property is reported as that of an action: wherever it is, whatever else the property says there."""

from __future__ import annotations

import re
from functools import partial

import pytest
from attrs import evolve

from kwalk.model.language import (
    Actor,
    Domain,
    DomainError,
    Kind,
    Model,
    Scenario,
    action,
    always,
    always_eventually,
    array,
    eventually,
    eventually_always,
    inevitable,
    leads_to,
    number,
    premise,
    reachable,
    require,
    state,
    step,
    when_quiescent,
)
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.compile import functions
from kwalk.search.kernel.interpreted import InterpretedFunctions, interpreted_kernel
from kwalk.search.kernel.python_comparison import EngineDisagreement
from kwalk.search.results.confirmation import StepLeavesDomain
from kwalk.search.results.verdict import Answer
from tests.agreement.planted_kernels import without_cache
from tests.queries import exhaust_on_spark

__all__ = ["without_cache"]

CLOCK = Actor("clock")
DIALS = Domain("dials")
LAST = 3


@state
class Clock:
    """A clock that runs from 0 to LAST; a dial of number 2 is read, and there are only two."""

    time: int = number(0, LAST)
    dials: int = array(DIALS, number(0, 1))


@action(by=CLOCK)
def tick(clock: Clock) -> None:
    """The time advances."""
    require(clock.time < LAST)
    clock.time += 1


def shows_nothing_at_2(clock: Clock) -> bool:
    """Raise an error at time 2; false at time 3, true before."""
    return clock.time < 2 or (clock.time == 2 and clock.dials[clock.time] == 0)


def fails_where_no_wait_begins(clock: Clock) -> bool:
    premise(clock.time == 3)
    return clock.time == 3 or (clock.time == 2 and clock.dials[clock.time] == 0)


def fails_where_the_wait_ends(clock: Clock) -> bool:
    premise(clock.time == 0)
    return clock.time == 3 or (clock.time == 2 and clock.dials[clock.time] == 0)


def time_is_3(clock: Clock) -> bool:
    return clock.time == 3


def dial_shows_0(clock: Clock) -> bool:
    return clock.time == 2 and clock.dials[clock.time] == 0


KINDS = {
    "eventually": eventually,
    "inevitable": inevitable,
    "always eventually": always_eventually,
    "eventually always": eventually_always,
}
LIVENESS = {
    f"{name}, {function.__name__}": kind()(function)
    for name, kind in KINDS.items()
    for function in (fails_where_no_wait_begins, fails_where_the_wait_ends)
}
LIVENESS["leads_to, in the first predicate"] = leads_to(dial_shows_0, time_is_3)
LIVENESS["leads_to, in the second predicate"] = leads_to(time_is_3, dial_shows_0)


def clock_with(*properties) -> Scenario:
    return Scenario(
        name="clock", story="A clock.", state=Clock, actions=(tick,), properties=properties, bounds={"dials": 2}
    )


def interpreted(model, **options):
    return exhaust(model, kernel=interpreted_kernel(model), **options)


SEARCHES = {
    "one thread": exhaust,
    "two threads": partial(exhaust, workers=2),
    "plain Python": interpreted,
    "levels": partial(exhaust_on_spark, folder="states", partitions=2),
}


@pytest.mark.parametrize("going", [False, True], ids=["stops", "keeps going"])
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("prop", LIVENESS)
def test_an_error_of_a_liveness_property_ends_a_search_in_any_state(prop, search, going, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StepLeavesDomain, match=r"leaves its domain: .* after 2 steps: tick\(\), tick\(\)") as error:
        SEARCHES[search](Model(clock_with(LIVENESS[prop])), keep_going=going)
    assert error.value.trace.actions == ("tick()", "tick()")


@pytest.mark.parametrize("prop", LIVENESS)
def test_plain_python_raises_the_error_that_searches_report(prop):
    model = Model(clock_with(LIVENESS[prop]))
    with pytest.raises(DomainError, match="leaves its domain"):
        model.awaited(model.properties[0], (2, 0, 0))


def test_an_error_of_a_property_that_is_not_selected_is_none():
    @always()
    def time_is_short(clock: Clock) -> bool:
        return clock.time <= LAST

    model = Model(clock_with(LIVENESS["eventually, fails_where_no_wait_begins"], time_is_short))
    assert exhaust(model, properties=model.properties_of("time_is_short")).answer is Answer.HOLDS


def fails_at_2(clock: Clock) -> bool:
    return clock.time != 1 and clock.dials[0 if clock.time < 2 else clock.time] == 0


def seen_at_1_fails_at_2(clock: Clock) -> bool:
    return clock.dials[0 if clock.time < 2 else clock.time] == 0 and clock.time == 1


def fails_in_the_second_step(before: Clock, after: Clock) -> bool:
    return after.time != 1 and after.dials[after.time] == 0


SAFETY = {
    "a violated always property": always()(fails_at_2),
    "a witnessed reachable property": reachable()(seen_at_1_fails_at_2),
    "a violated step property": step()(fails_in_the_second_step),
}


@pytest.mark.parametrize("search", [*SEARCHES, "reduced"])
@pytest.mark.parametrize("prop", SAFETY)
def test_an_error_is_found_where_the_property_was_violated_or_witnessed_before(prop, search, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    searches = {**SEARCHES, "reduced": partial(exhaust, reduce=True)}
    model = Model(clock_with(SAFETY[prop]))
    if SAFETY[prop].kind is Kind.REACHABLE:
        with pytest.raises(StepLeavesDomain, match=r"after [12] steps?"):
            searches[search](model, keep_going=True)
        return
    verdict = searches[search](model, keep_going=True)
    assert verdict.answer is Answer.VIOLATED and re.search("an error as well: .* after [12] steps?", verdict.notes[0])


def test_a_violation_comes_before_an_error_that_is_farther_away():
    assert exhaust(Model(clock_with(SAFETY["a violated always property"]))).answer is Answer.VIOLATED


def test_an_error_of_a_quiescent_property_counts_in_quiescent_states_only():
    model = Model(clock_with(when_quiescent()(shows_nothing_at_2)))
    assert exhaust(model).answer is Answer.BAD_STABLE_STATE
    assert interpreted(model).answer is Answer.BAD_STABLE_STATE


# Planted mistakes.


def _forgets_errors_of_liveness(patch):
    honest = functions.false_and_premise

    def bits(prop, terms):
        return (terms.false, terms.false) if prop.prop.kind.is_liveness else honest(prop, terms)

    patch.setattr(functions, "false_and_premise", bits)


def _forgets_errors(patch):
    honest = functions.false_and_premise
    patch.setattr(functions, "false_and_premise", lambda prop, terms: honest(evolve(prop, errors=()), terms))


def _errors_are_violations(patch):
    honest = functions.false_and_premise

    def bits(prop, terms):
        false, _ = honest(prop, terms)
        return false, false

    patch.setattr(functions, "false_and_premise", bits)


def _interpreter_swallows_errors(patch):
    honest = InterpretedFunctions._truth

    def truth(self, visit, before, prop):
        bits = honest(self, visit, before, prop)
        return (False, False) if bits == (True, False) else bits

    patch.setattr(InterpretedFunctions, "_truth", truth)


MISTAKES = {
    "the kernel forgets errors of liveness properties": (_forgets_errors_of_liveness, exhaust),
    "the kernel forgets errors of all properties": (_forgets_errors, exhaust),
    "the kernel takes errors for violations": (_errors_are_violations, exhaust),
    "the interpreter swallows errors": (_interpreter_swallows_errors, interpreted),
}


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("prop", ["eventually, fails_where_no_wait_begins", "leads_to, in the first predicate"])
@pytest.mark.usefixtures("without_cache")
def test_a_planted_mistake_about_errors_ends_in_a_disagreement(prop, mistake, monkeypatch):
    plant, search = MISTAKES[mistake]
    plant(monkeypatch)
    with pytest.raises(EngineDisagreement):
        search(Model(clock_with(LIVENESS[prop])))
