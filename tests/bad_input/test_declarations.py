"""A declaration that is given a value of a wrong kind is refused there, with what is allowed and what it got."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from kwalk import (
    SYSTEM_FAIRNESS,
    Actor,
    Bound,
    Domain,
    Fix,
    Flag,
    Mark,
    Scenario,
    Trial,
    action,
    action_constraint,
    always,
    always_eventually,
    array,
    bounded_set,
    choice,
    constraint,
    eventually,
    eventually_always,
    fifo,
    flag,
    fresh,
    inevitable,
    leads_to,
    member,
    nested,
    number,
    optional,
    reachable,
    refines,
    require,
    state,
    step,
    strongly_fair,
    subset,
    value,
    weakly_fair,
    when_quiescent,
)
from kwalk.model.language import KwalkError
from kwalk.model.language.errors import LiftError, UsageError

ROOMS, LIMIT, FAST, GUEST = Domain("rooms"), Bound("limit"), Flag("fast"), Actor("guest")


@value
class Key:
    """A record."""

    room: int = member(ROOMS)


@state
class House:
    """A state."""

    guests: int = number(0, 2)


def is_empty(house: House) -> bool:
    """A predicate."""
    return house.guests == 0


def two(before: House, after: House) -> bool:
    """A predicate of a step."""
    return after.guests >= before.guests


def copied(detailed: House, abstract: House) -> None:
    """A mapping."""
    abstract.guests = detailed.guests


def enter(house: House) -> None:
    """An effect."""
    require(house.guests < 2)
    house.guests += 1


ENTER = action(by=GUEST)(enter)
EMPTY = always()(is_empty)
HOUSE = Scenario(name="house", story="Guests.", state=House, actions=(ENTER,), properties=(EMPTY,))
TEXTS = {"symptom": "seen", "log": "line"}
PROPERTIES = {
    each.__name__: (each, TEXTS, is_empty)
    for each in (
        always,
        when_quiescent,
        reachable,
        eventually,
        inevitable,
        always_eventually,
        eventually_always,
    )
}
DECORATORS: dict[str, tuple[Callable[..., Any], dict[str, Any], Callable[..., Any]]] = {
    **PROPERTIES,
    "step": (step, TEXTS, two),
    "constraint": (constraint, {"optional": True}, is_empty),
    "action_constraint": (action_constraint, {"optional": True}, two),
    "action": (
        action,
        {"by": GUEST, "description": "enters", "source": "x", "group": "guests", "mark": Mark.CRASH},
        enter,
    ),
}
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "Domain": (Domain, {"name": "d", "about": "x", "size": LIMIT, "label": str}),
    "Bound": (Bound, {"name": "b", "about": "x", "minimum": 0}),
    "Flag": (Flag, {"name": "f", "about": "x", "settings": ("a", "b"), "excludes": (FAST,)}),
    "Actor": (Actor, {"name": "a", "system": True, "of": ROOMS}),
    "flag": (flag, {"default": True, "when": FAST}),
    "number": (number, {"least": 0, "most": 2, "default": 1, "when": FAST}),
    "member": (member, {"domain": ROOMS, "default": 0, "when": FAST}),
    "choice": (choice, {"enum": Mark, "default": Mark.CRASH, "when": FAST}),
    "optional": (optional, {"of": ROOMS, "when": FAST}),
    "subset": (subset, {"of": ROOMS, "default": {0}, "when": FAST}),
    "bounded_set": (bounded_set, {"of": Key, "most": LIMIT}),
    "array": (array, {"domain": ROOMS, "element": ROOMS, "when": FAST}),
    "fifo": (fifo, {"element": ROOMS, "capacity": LIMIT}),
    "fresh": (fresh, {"domain": ROOMS}),
    "nested": (nested, {"cls": House}),
    "leads_to": (leads_to, {"source": is_empty, "target": is_empty, "name": "n", **TEXTS}),
    "weakly_fair": (lambda of, each: weakly_fair(of, each=each), {"of": ENTER, "each": ()}),
    "strongly_fair": (lambda of, each: strongly_fair(of, each=each), {"of": ENTER, "each": ()}),
    "refines": (
        refines,
        {"scenario": HOUSE, "mapping": copied, "variant": "default", "bounds": {}, "flags": {}, "name": "n", **TEXTS},
    ),
    "Trial": (
        Trial,
        {"scenario": HOUSE, "properties": ("is_empty",), "variant": "default", "bounds": {}, "flags": {}, "about": "x"},
    ),
    "Fix": (
        Fix,
        {"flag": FAST, "closes": "x", "trials": (Trial(HOUSE),), "source": "x", "off": False, "on": True, "name": "n"},
    ),
    "Scenario": (
        Scenario,
        {
            "name": "house",
            "story": "x",
            "state": House,
            "actions": (ENTER,),
            "properties": (EMPTY,),
            "initial": enter,
            "bounds": {"limit": 1},
            "flags": {},
            "variants": {"v": {}},
            "labels": {"rooms": ("a",)},
            "constraints": (),
            "aliases": (is_empty,),
            "deadlock_is_error": True,
            "fairness": (SYSTEM_FAIRNESS,),
            "read_snapshot": is_empty,
            "source": "x",
        },
    ),
}
WRONG: tuple[Any, ...] = (7.5, object(), {1: [2]}, (7.5,), b"bytes")
"""Values that no argument takes."""


async def later(house):
    """A call of it executes nothing."""
    house.n = 1


def lazily(house):
    """Nor one of this."""
    house.n = 1
    yield


@pytest.mark.parametrize(("name", "argument"), [(name, each) for name, (_, given) in CALLS.items() for each in given])
def test_an_argument_of_a_wrong_kind_is_refused(name, argument):
    declare, given = CALLS[name]
    declare(**given)
    for wrong in WRONG:
        with pytest.raises((UsageError, LiftError)) as error:
            declare(**{**given, argument: wrong})
        assert len(str(error.value)) > 20 and type(error.value) in (UsageError, LiftError)


@pytest.mark.parametrize(
    ("name", "argument"), [(name, each) for name, (_, given, _) in DECORATORS.items() for each in given]
)
def test_an_argument_of_a_decorator_is_refused_too(name, argument):
    decorator, given, function = DECORATORS[name]
    decorator(**given)(function)
    for wrong in WRONG:
        with pytest.raises(KwalkError, match=rf"^@{name}\(…\): `{argument}` must be .* \(got "):
            decorator(**{**given, argument: wrong})(function)
    for wrong in (*WRONG, House, len, later, lazily):
        with pytest.raises(KwalkError, match=rf"^@{name}\(…\): `function` must be a function that is written with def"):
            decorator(**given)(wrong)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('@action(by="consumer")', 'mine.py:2: @action(…): `by` must be an Actor, such as CLERK = Actor("clerk")'),
        ("@always", "mine.py:2: TypeError: always() takes 0 positional arguments but 1 was given: a decorator needs"),
        ("@always(symptom=3)", "mine.py:2: @always(…): `symptom` must be a text in quotes (got 3)"),
    ],
)
def test_the_command_names_file_and_line(line, why, kwalk, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(f"from kwalk import *\n{line}\ndef go(s):\n    pass\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    ran = kwalk("exhaust", "mine:SC")
    assert ran.code == 2 and why in ran.err and "Traceback" not in ran.err
