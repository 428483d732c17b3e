"""The digest of a model does not depend on how it is written, and differs if an action or a property differs."""

from __future__ import annotations

import importlib
import sys

import pytest

from kwalk.model.language import Model
from kwalk.model.language.lift import Terms, lift
from kwalk.search.base.cache import cache_path
from kwalk.search.kernel.model_digest import digests, meaning_key, model_digest, term_names, trace_digest
from tests.agreement.written import action_text, model_of, written

CLOCK = '''"""A clock."""
from kwalk.model.language import (
    Actor, Bound, Fifo, Flag, Scenario, action, always, fifo, flag, number, require, state, when_quiescent,
)

HANDS = Bound("hands", "hands that it has")
LOUD = Flag("loud", "whether it strikes")

@state
class Clock:
    hour: int = number(0, 3)
    struck: bool = flag()
    chimes: Fifo[int] = fifo(number(0, 3), HANDS)

@action(by=Actor("clock"), description="advances")
def tick(clock: Clock) -> None:
    require(clock.hour < 2)
    clock.hour += 1
    if LOUD and clock.hour == 2:
        clock.struck = True

@action(by=Actor("owner", system=False))
def wind(clock: Clock) -> None:
    require(clock.hour == 2)
    clock.chimes.push(clock.hour)
    clock.hour, clock.struck = 0, False

@always(symptom="it is late")
def in_time(clock: Clock) -> bool:
    return clock.hour <= 2

def begin(clock: Clock) -> None:
    clock.hour = 0

CLOCK = Scenario(
    name="clock", story="It ticks.", state=Clock, actions=(tick, wind), properties=(in_time,), initial=begin,
    bounds={"hands": 2}, variants={"loud": {"loud": True}, "silent": {"loud": False}},
)
'''

SAME = {
    "comments, docstrings and layout": [
        ("    require(clock.hour < 2)", '    """On."""\n\n    require(clock.hour < 2)  # until the end'),
    ],
    "texts for people": [
        ('description="advances"', 'description="ticks"'),
        ('"it is late"', '"it is slow"'),
        ("It ticks.", "Tick."),
    ],
    "a guard the other way round": [("require(clock.hour < 2)", "require(not 2 <= clock.hour)")],
    "a helper": [
        ("    clock.hour += 1\n", "    forward(clock)\n"),
        ('@action(by=Actor("clock")', 'def forward(it):\n    it.hour = 1 + it.hour\n\n@action(by=Actor("clock")'),
    ],
    "effects in another order": [("clock.hour, clock.struck = 0, False", "clock.struck = False\n    clock.hour = 0")],
    "where it begins": [("    clock.hour = 0\n", "    clock.hour = 1\n")],
    "a flag's name": [('Flag("loud"', 'Flag("noisy"'), *((f'"loud": {n}', f'"noisy": {n}') for n in (True, False))],
}
OTHER = {
    "a guard": [("require(clock.hour < 2)", "require(clock.hour < 3)")],
    "an effect": [("clock.hour, clock.struck = 0, False", "clock.hour, clock.struck = 0, True")],
    "a condition": [("LOUD and clock.hour == 2", "LOUD and clock.hour == 1")],
    "a property": [("return clock.hour <= 2", "return clock.hour <= 1")],
    "the kind of a property": [('@always(symptom="it is late")', '@when_quiescent(symptom="it is late")')],
    "the name of a property": [("in_time", "on_time")],
    "a step's name": [("tick", "tock")],
    "who acts": [('Actor("clock")', 'Actor("clock", system=False)')],
    "a domain": [("hour: int = number(0, 3)", "hour: int = number(0, 4)")],
    "a bound": [('"hands": 2', '"hands": 1')],
    "a bound's name": [('Bound("hands"', 'Bound("arms"'), ('"hands": 2', '"arms": 2')],
    "whether a deadlock is an error": [('name="clock"', 'name="clock", deadlock_is_error=True')],
}


@pytest.fixture
def clock(tmp_path, monkeypatch):
    """A function from the edits of a clock's text to the model in it."""
    monkeypatch.syspath_prepend(tmp_path)
    made = []

    def of(*edits: tuple[str, str], variant: str = "loud") -> Model:
        text = CLOCK
        for old, new in edits:
            assert old in text
            text = text.replace(old, new)
        made.append(f"clock_{len(made)}")
        (tmp_path / f"{made[-1]}.py").write_text(text)
        importlib.invalidate_caches()
        return Model(importlib.import_module(made[-1]).CLOCK, variant)

    yield of
    for name in made:
        sys.modules.pop(name, None)


@pytest.mark.parametrize("what", SAME)
def test_a_model_that_is_written_otherwise_means_the_same(clock, what):
    assert model_digest(clock(*SAME[what])) == model_digest(clock())


@pytest.mark.parametrize("what", OTHER)
def test_a_model_that_does_something_else_means_something_else(clock, what):
    assert model_digest(clock(*OTHER[what])) != model_digest(clock())


def test_a_flag_counts_where_it_makes_a_difference(clock):
    assert model_digest(clock(variant="silent")) != model_digest(clock())
    deaf = ("LOUD and clock.hour == 2", "clock.hour == 2")
    assert model_digest(clock(deaf, variant="silent")) == model_digest(clock())


def test_terms_that_are_built_in_another_order_have_the_same_names():
    def names(*, swapped: bool) -> list[str]:
        terms = Terms()
        a, b = (terms.int_variable(n, 0, 7) for n in ((1, 0) if swapped else (0, 1)))
        first, second = (b, a) if swapped else (a, b)
        less, more = terms.less(first, second), terms.less(second, terms.integer(3))
        both = terms.conjunction((more, less) if swapped else (less, more))
        roots = [both, terms.add(a, b), less]
        found, exact = term_names(roots)
        assert found == exact
        return [found[root.id] for root in roots]

    assert names(swapped=False) == names(swapped=True)
    assert len({*names(swapped=False)}) == 3


def test_what_is_sure_to_be_within_a_range_is_the_same_number():
    terms = Terms()
    number = terms.int_variable(0, 0, 7)
    narrow = terms.within(number, 0, 3)
    more = terms.add(number, terms.integer(1)), terms.add(narrow, terms.integer(1))
    names, exact = term_names([number, narrow, *more])
    assert narrow is not number
    for one, other in ((number, narrow), more):
        assert names[one.id] == names[other.id] and exact[one.id] != exact[other.id]
    wider = terms.within(number, 0, 4)
    assert term_names([wider])[1][wider.id] != exact[narrow.id]


def test_a_digest_is_cached_until_a_source_changes_and_a_broken_one_is_computed_again(clock, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    model, lifted = clock(), []
    monkeypatch.setattr(
        "kwalk.model.language.lift.lift", lambda model, *rest: lifted.append(model) or lift(model, *rest)
    )
    expected = model_digest(model)
    assert [model_digest(model), model_digest(model)] == [expected, expected] and len(lifted) == 1
    (file,) = cache_path("digests", "").iterdir()
    whole = file.read_bytes()
    for broken in (b"", b"0123", b"\xff" * 16, b"{}", b'{"": "0"}', whole[:-9]):
        file.write_bytes(broken)
        assert model_digest(model) == expected
    assert len(lifted) == 7 and file.read_bytes() == whole
    model_digest(clock(OTHER["a guard"][0]))
    assert len(lifted) == 8


def test_the_digest_of_a_trace_covers_its_own_property_only(clock):
    other = ("    return clock.hour <= 2", "    return clock.hour <= 1")
    late = trace_digest(clock(), "in_time()")
    assert late != trace_digest(clock(), None) != trace_digest(clock(other), "in_time()") != late
    assert trace_digest(clock(other), None) == trace_digest(clock(), None)
    assert trace_digest(clock(), "gone()") == ""


def test_a_model_that_cannot_be_lifted_has_no_digest(clock):
    model = clock(("return clock.hour <= 2", "return len(str(clock.hour)) <= 2"))
    assert model_digest(model) == trace_digest(model, "in_time()") == ""


def test_the_parts_of_a_digest_are_the_transitions_deadlock_freedom_each_property_and_all_in_order(clock):
    assert digests(lift(clock())).keys() == {"", "deadlock", "in_time()", "in order"}


@pytest.mark.parametrize(("member", "has_key"), [("(Light.RED, frozenset({Light.DARK}))", True), ("Note(n=1)", False)])
def test_a_set_whose_members_lead_to_the_set_itself_has_a_digest_or_none(member, has_key, tmp_path):
    text = f"CHOSEN = frozenset({{{member}}})\n\n\ndef hot(self):\n    return self in CHOSEN\n\n\n"
    methods = "Light.is_hot, Note.is_hot = property(hot), property(hot)\n\n\n"
    model = model_of(written(tmp_path, text + methods + action_text("w.f = Light.RED.is_hot and w.sure.is_hot")))
    assert (meaning_key(model) is not None) is has_key
