"""A property whose quantifiers never have an element was never put to the test, and each verdict says so."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from attrs import evolve

from kwalk import exhaust as public_exhaust
from kwalk.model.language import DomainError, Model, Vector, always, premise
from kwalk.model.language.quantifiers import QuantifierElements, counted_quantifiers
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.kernel.differential import disagreements
from kwalk.search.kernel.interpreted import interpreted_kernel
from kwalk.search.results.vacuity import vacuity_notes
from kwalk.search.results.verdict import Answer, Verdict
from kwalk.search.simulation.walk import walk
from tests.check import club
from tests.check.club import CLUB, PEOPLE, Club
from tests.fuzz.comparison import imported
from tests.queries import hunt, hypothesis_search
from tests.states import random_states

REFERENCE = "tests.check.club:CLUB"


@cache
def model(variant: str) -> Model:
    return Model(CLUB, variant)


def line_of(text: str) -> int:
    """The line of the module of the club that contains a text first."""
    lines = inspect.getsource(club).splitlines()
    return next(number for number, line in enumerate(lines, start=1) if text in line)


def said(verdict: Verdict, of: Model) -> dict[str, str]:
    """What a verdict says of quantifiers: the clauses by what was not put to the test."""
    found = [note for note in vacuity_notes(verdict, of) if note.startswith("never put to the test: ")]
    return {what: why for what, _, why in (note.partition(": ")[2].partition(", as ") for note in found)}


CLOSED = {
    "members_are_not_banned": "`for person in club.members`",
    "a part of none_below_is_banned": "`for other in sorted(club.members) if other < person`",
    "all_know_each_other": "`for other in club.members`",
    "a part of open_clubs_have_good_members": "`for person in club.members`",
}
"""Of the club that admits nobody. Its inner quantifier is all that `all_know_each_other` could fail by."""


ENGINES = {
    "compiled": exhaust,
    "plain Python": lambda of: exhaust(of, kernel=interpreted_kernel(of)),
    "two threads": lambda of: exhaust(of, workers=2),
    "walk": lambda of: walk(of, walks=200, depth=12),
    "hypothesis": hypothesis_search,
    "hunt": lambda of: hunt(of, seconds=20.0),
}


@pytest.mark.parametrize("engine", ENGINES)
def test_each_engine_names_the_quantifiers_that_never_had_an_element(engine: str) -> None:
    of = model("closed")
    verdict = ENGINES[engine](of)
    found = said(verdict, of)
    assert {what: why.partition(" (")[0] for what, why in found.items()} == CLOSED
    place = f"club.py:{line_of('person not in club.banned for person in club.members)')}) had no element"
    assert place in found["members_are_not_banned"]


@pytest.mark.parametrize("engine", ["compiled", "walk"])
def test_nothing_is_said_where_they_have_elements(engine: str) -> None:
    of = model("admitting")
    assert said(ENGINES[engine](of), of).keys() == {"queue_is_served"}  # whoever is admitted waits no more


def reached(of: Model) -> Iterator[Vector]:
    """The reachable states of a model, by plain Python."""
    waiting, seen = list(of.initial), set(of.initial)
    while waiting:
        vector = waiting.pop()
        yield vector
        new = [state for state in dict.fromkeys(after for _, after in of.successors(vector)) if state not in seen]
        seen.update(new)
        waiting += new


@pytest.mark.parametrize("variant", ["closed", "admitting"])
def test_counts_are_those_of_the_states_with_an_element(variant: str) -> None:
    of = model(variant)
    expected = dict.fromkeys(["members", "below", "outer", "inner", "open", "quiescent"], 0)
    for vector in reached(of):
        now: Any = of.state(vector)
        expected["members"] += bool(now.members)
        expected["below"] += 0 in now.members
        expected["outer"] += not now.queue.is_empty
        expected["inner"] += not now.queue.is_empty and bool(now.members)
        expected["open"] += any(now.paid) and now.open and bool(now.members)
        expected["quiescent"] += of.is_quiescent(vector) and not now.queue.is_empty
    premises = exhaust(of).premises
    names = {
        "members": "members_are_not_banned_elements_1()",
        "below": "none_below_is_banned_elements_1()",
        "outer": "all_know_each_other_elements_1()",
        "inner": "all_know_each_other_elements_2()",
        "open": "open_clubs_have_good_members_elements_2()",
        "quiescent": "queue_is_served_elements_1()",
    }
    assert {key: premises[name] for key, name in names.items()} == expected


def test_quantifiers_that_always_have_elements_and_positive_ones_are_not_counted() -> None:
    counted = {
        prop.declaration.prop.name
        for prop in model("closed").properties
        if isinstance(prop.declaration, QuantifierElements)
    }
    assert counted == {prop.name for prop in club.PROPERTIES} - {
        "nobody_owes",
        "some_positive_any",
        "members_stay",
    }
    assert counted_quantifiers(club.nobody_owes) == counted_quantifiers(club.some_positive_any) == ()


def test_all_executions_count_alike() -> None:
    of = model("admitting")
    states = [*of.initial, *random_states(of, 60, 5)]
    assert not list(disagreements(of, states, kernel=kernel_for(of)))
    assert not list(disagreements(of, states[::6], kernel=kernel_for(of), with_z3=True))


@always()
def fails(club: Club) -> bool:
    """Violated where the club is open."""
    return not club.open and all(person < 0 for person in club.members)


@always()
def untested(club: Club) -> bool:
    """Nobody is ever banned."""
    premise(len(club.banned) > 0)
    return all(person < 0 for person in club.members)


@always()
def first_in_line(club: Club) -> bool:
    """It raises an error where the club is open and nobody waits."""
    return all(club.queue.head >= person for person in PEOPLE if club.open)


def test_plain_python_counts_with_the_present_names_of_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    (counted,) = counted_quantifiers(club.nobody_below)
    with model("closed").active():
        state = Club(members=frozenset({1}))
        assert counted.truth(state) is None
        monkeypatch.setattr(club, "LEAST", 2)
        assert counted.truth(state) is True


def test_nothing_is_said_of_a_property_that_is_violated_or_was_never_tested() -> None:
    of = Model(evolve(CLUB, properties=(fails, untested)), "closed")  # type: ignore[arg-type]
    verdict = exhaust(of, keep_going=True)
    assert verdict.answer is Answer.VIOLATED
    assert said(verdict, of) == {}
    assert "never tested (the premise was never true): untested" in list(vacuity_notes(verdict, of))


def test_a_property_with_an_error_ends_the_search_with_that_error() -> None:
    with pytest.raises(DomainError, match="first_in_line"):
        exhaust(Model(evolve(CLUB, properties=(first_in_line,))))  # type: ignore[arg-type]


def test_other_searches_take_them_along() -> None:
    of = Model(evolve(CLUB, properties=club.PROPERTIES[:1]), "closed")  # type: ignore[arg-type]
    assert said(exhaust(of, symmetry="people"), of).keys() == {"members_are_not_banned"}
    assert exhaust(model("closed"), reduce=True).answer is Answer.HOLDS
    one = public_exhaust(CLUB, "all_know_each_other", variant="closed")
    assert set(one.premises) == {"all_know_each_other()", *(f"all_know_each_other_elements_{n}()" for n in (1, 2))}
    assert one.properties == ("all_know_each_other",)


def test_the_text_and_the_json_object_have_the_sentences(kwalk: Any) -> None:
    text = " ".join(kwalk("exhaust", REFERENCE).out.split())
    assert "never put to the test: members_are_not_banned, as `for person in club.members` (" in text
    found = kwalk("exhaust", REFERENCE, "--json").object
    assert sum(note.startswith("never put to the test: ") for note in found["vacuity"]) == len(CLOSED)
    assert found["verdict"] == "cannot fail"
    assert [one["prop"] for one in found["cannot_fail"]] == [
        "all_know_each_other",
        "queue_is_served",
        "nobody_owes",
        "some_positive_any",
    ]


ROOM = """
from kwalk import Actor, Domain, Scenario, action, always, require, state, subset

PEOPLE = Domain("people")


@state
class Room:
    members: frozenset[int] = subset(PEOPLE)
    banned: frozenset[int] = subset(PEOPLE)


@action(by=Actor("door"))
def enter(room: Room) -> None:
    require(0 not in room.members)
    room.members = room.members | {{0}}


@always()
def nobody_bad(room: Room) -> bool:
    return (all(one >= 0 for one in room.members) and{}all(one < 0 for one in room.banned))


ROOM = Scenario("room", "", state=Room, actions=(enter,), properties=(nobody_bad,), bounds={{"people": 1}})
"""


def test_quantifiers_of_a_line_are_told_apart_and_the_layout_of_a_text_changes_nothing() -> None:
    answers = []
    for joint in (" ", "\n        "):  # the second one finds in the cache what the first one has left there
        with imported(ROOM.format(joint)) as module:
            of = Model(module.ROOM)
            verdict = exhaust(of)
            notes = [note.partition(" (")[0] for note in vacuity_notes(verdict, of) if "put to the test" in note]
            answers.append((verdict.premises, notes))
    assert answers[0] == answers[1]
    assert answers[0] == (
        {"nobody_bad()": 2, "nobody_bad_elements_1()": 1, "nobody_bad_elements_2()": 0},
        ["never put to the test: a part of nobody_bad, as `for one in room.banned`"],
    )
