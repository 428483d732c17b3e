"""What the fuzzer has found, reduced by hand: each is refused, or means what it means in CPython."""

from __future__ import annotations

import pytest

from kwalk.model.language import Model
from tests.fuzz.comparison import difference_in, imported
from tests.fuzz.run import Engines
from tests.fuzz.snippets import compare_snippets

MODEL = """
from enum import Enum
from typing import Annotated
from kwalk import (
    Abort, Actor, Array, Bound, Domain, Fifo, Flag, Scenario, action, always, array, choice, fifo, flag, number,
    optional, require, state,
)
SYSTEM = Actor("system")
ITEMS, CAP, LIM = Domain("items"), Bound("cap"), Bound("lim")
MODE = Flag("mode", settings=("old", "new"))
Item = Annotated[int, ITEMS]


class Light(Enum):
    RED = "red"
    GREEN = "green"


@state
class S:
    n: int = number(0, 3)
    b: bool = flag()
    o: int | None = optional(ITEMS)
    e: Light = choice(Light)
    a: Array[int] = array(ITEMS, ITEMS)
    q: Fifo[int] = fifo(ITEMS, CAP)


@action(by=SYSTEM)
def idle(s: S) -> None:
    pass


@action(by=SYSTEM)
def snippet(s: S, d: Item) -> None:
    BODY


SCENARIO = Scenario(
    name="snippet", story="A snippet.", state=S, actions=(idle, snippet),
    bounds={"items": 3, "cap": 2, "lim": 2}, flags={"mode": "old"},
)
"""
FOUND = {
    "a loop over an array reads what it has written": "for i in s.a:\n        s.a[d], s.a[0] = i, s.a[d]",
    "enumerate reads them, too": "for n, i in enumerate(s.a):\n        s.a[2] = n; s.n = i",
    "next does not test what follows the item that it finds": "s.n = next((n for n in ITEMS if s.a[2 * n] >= 0), 0)",
    "any does not either": "s.b = any(n == 0 for n in ITEMS if s.a[2 * n] >= 0)",
    "an inner iterable exists only where its outer tests are true": (
        "s.b = any(m for n in ITEMS if s.n == 3 for m in (s.a[2 * n], s.a[n]))"
    ),
    "a queue as a guard": "require(s.q)",
    "a queue as a condition": "if s.q:\n        s.n = 1",
    "a queue among any": "s.b = any((s.q, s.b))",
    "an empty list as a condition": "if []:\n        s.n = 1",
    "abs of None": "s.n = abs(s.o)",
    "a number compared with an Enum member": "s.b = s.n < s.e",
    "a bound that is stored": "s.n = LIM",
    "a name that one branch assigns": "if s.b:\n        v = 1\n    s.n = v",
    "an index outside of a tuple": "s.n = (1, 2)[5]",
    "a negative index into a tuple": "s.n = (1, 2)[s.n - 1]",
    "a list without elements that is stored in an array": "s.a = []",
    "a start of enumerate that is no number": "for n, i in enumerate(s.a, s):\n        s.n = i",
    "a flag with settings as a condition": "s.n = 1 if MODE else 0",
    "a queue that is compared with a list": "s.b = s.q == []",
    "a tuple that is compared with a queue": "s.b = (0, d) == s.q",
    "an array that is compared with a tuple": "s.b = s.a != (0, 0, d)",
}


@pytest.fixture(scope="module")
def differing() -> set[str]:
    """The names of the actions that differ, of one model with an action for each of what was found."""
    names = [f"found_{number}" for number in range(len(FOUND))]
    head, _, tail = MODEL.partition("@action(by=SYSTEM)\ndef snippet")
    bodies = (
        f"@action(by=SYSTEM)\ndef {name}(s: S, d: Item) -> None:\n    {body}\n\n\n"
        for name, body in zip(names, FOUND.values(), strict=True)
    )
    scenario = tail[tail.index("SCENARIO") :].replace("snippet),", f"{', '.join(names)}),")
    report = compare_snippets(f"{head}{''.join(bodies)}{scenario}", 5)
    assert report.accepted + report.refusals.total() == len(FOUND)
    return {name for name, _ in report.differences}


@pytest.mark.parametrize("number", range(len(FOUND)), ids=list(FOUND))
def test_what_was_found_is_refused_or_means_what_cpython_does(differing, number):
    assert f"found_{number}" not in differing


def test_the_model_without_these_constructs_agrees():
    assert compare_snippets(MODEL.replace("BODY", "s.n = (s.n + 1) % 4"), 5).accepted == 1
    assert difference_in(MODEL.replace("BODY", "s.n = (s.n + 1) % 4"), 5, Engines.NONE) is None


def test_numbers_between_none_and_the_least_value_of_an_optional_are_none():
    """Random vectors have them, as a leaf has one range of numbers."""
    with imported(MODEL.replace("optional(ITEMS)", "optional(number(2, 3))").replace("BODY", "s.o = 2")) as module:
        model = Model(module.SCENARIO)
    assert model.canonical((0, 0, 1, 0, 0, 0, 0, 0, 0, 0)) == (0, 0, -1, 0, 0, 0, 0, 0, 0, 0)
    assert model.canonical((0, 0, 2, 0, 0, 0, 0, 0, 0, 0)) == (0, 0, 2, 0, 0, 0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    "body",
    [
        "s.n = 9 if s.n == 2 and d == 0 else min(s.n + 1, 3)",  # both in three steps
        "s.n = s.n + 1",  # the violation in three steps, the error in four
        "s.n = 9 if s.n == 1 and d == 0 else min(s.n + 1, 3)",  # the error in two steps
    ],
)
def test_a_violation_as_short_as_an_error_may_be_reported_in_place_of_it(body):
    wrong = "@always()\ndef low(s: S) -> bool:\n    return s.n < 3\n\n\nSCENARIO ="
    source = MODEL.replace("SCENARIO =", wrong).replace("snippet),", "snippet), properties=(low,),")
    source = source.replace("BODY", body)
    assert difference_in(source, 5, Engines.KERNEL | Engines.SEARCHES | Engines.SYMBOLIC) is None
