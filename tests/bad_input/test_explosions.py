"""Constants that would take all memory to compute or to unroll are refused before they do, with what to do instead."""

from __future__ import annotations

import importlib
from itertools import count

import pytest

from kwalk.model.language import LiftError, Model
from kwalk.model.language.lift import lift

MODULE = """
from kwalk import *

ANYONE, HUGE = Actor("anyone"), 10 ** 10_000

@state
class Counter:
    n: int = number(0, 1_000_000)
    m: int = number(0, 2)

def twice(n, depth):
    return n if depth == 0 else twice(n, depth - 1) + twice(n, depth - 1)

@action(by=ANYONE)
def go(s: Counter) -> None:
    {body}

SCENARIO = Scenario(name="explosion", story="x", state=Counter, actions=(go,))
"""
NUMBERS = count()
ROUNDS = "more than 200,000 rounds of loops and calls in one function"
REFUSED = {
    "for i in range(10**9): s.m = 1": ROUNDS + " (1,000,000,000 of them here). Instead: shorter loops",
    "for i in range(0, -10**9, -1): s.m = 1": ROUNDS,
    "for i in range(10**3):\n        for j in range(10**3): s.m = 1": ROUNDS,
    "for i in reversed(range(10**9)): s.m = 1": ROUNDS,
    "for i, j in enumerate(range(10**9)): s.m = 1": ROUNDS,
    "for i, j in zip(range(10**9), range(10**9)): s.m = 1": ROUNDS,
    "s.m = sum(range(10**9))": ROUNDS,
    "s.m = min(range(10**9))": ROUNDS,
    "s.m = len(sorted(range(10**9)))": ROUNDS,
    "s.m = len(list(range(10**9)))": ROUNDS,
    "s.m = len(tuple(range(10**9))[5:])": ROUNDS,
    "s.m = len(frozenset(range(10**9)))": ROUNDS,
    "s.m = len({i for i in range(10**9)})": ROUNDS,
    "s.m = len([1 for i in range(10**3) for j in range(10**3)])": ROUNDS,
    "s.m = next(i for i in range(10**9) if i > 5)": ROUNDS,
    "require(all(i >= 0 for i in range(10**9)))": ROUNDS,
    "require(s.n in range(10**9))": ROUNDS,
    "s.m = range(10**9)[s.n]": ROUNDS,
    "t = (0,)\n    for i in range(40): t = t + t\n    s.m = len(t)": ROUNDS,
    "s.m = twice(s.n, 30) % 2": ROUNDS,
    "for i in range(s.n): s.m = 1": "a range of 1,000,000 numbers, from 0 to 1000000. Instead: fields",
    "s.m = len(range(-(2**62), 2**62))": "a range of 9,223,372,036,854,775,808 numbers",
    "s.m = len({s.n})": "a set that holds a number from 0 to 1,000,000. Instead: a field of a smaller range",
    "s.m = len((0,) * 10**9)": "* of a tuple and a number",
    "s.m = len('x' * 10**9)": "* of a text and a number",
    "s.m = 10**10**8": "the exponent or shift 100,000,000. Instead: one from 0 to 62",
    "s.m = 1 << 10**9": "the exponent or shift 1,000,000,000",
    "s.m = 2 ** s.n": "** of a number that the state decides",
    "s.m = 2 ** HUGE": "the number 2 ** 33219 or more. Instead: numbers from -4,611,686,018,427,387,904",
    "s.m = HUGE": "the number 2 ** 33219 or more",
    "s.m = -HUGE % 2": "the number 2 ** 33219 or more",
}


@pytest.mark.parametrize("body", REFUSED)
def test_it_is_refused_with_file_and_line(body, tmp_path, monkeypatch):
    name = f"explosion_{next(NUMBERS)}"
    path = tmp_path / f"{name}.py"
    path.write_text(MODULE.format(body=body), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    model = Model(importlib.import_module(name).SCENARIO)
    with pytest.raises(LiftError) as error:
        lift(model)
    assert str(error.value).startswith(f"{path}:") and f"cannot translate this: {REFUSED[body]}" in str(error.value)
