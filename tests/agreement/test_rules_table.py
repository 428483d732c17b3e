"""Every operation on every kind of operands: equal to plain Python on small values, or refused as the page says."""

from __future__ import annotations

import warnings

import pytest

from kwalk.model.language import LiftError
from kwalk.model.language.lift.kinds import ValueKind as K
from kwalk.model.language.lift.kinds import kind_of
from kwalk.model.language.lift.rules import RULES, Operation
from tests.agreement.snippets import HELPERS, SAMPLES, Bench, Snippet, positions, snippets, source_text
from tests.agreement.written import model_of, written
from tests.states import random_states

CONDITIONS = (
    "of two numbers that the state decides",
    "by a number that the state decides",
    "of a number that the state decides",
    "the exponent or shift",
    "may be a single None",
    "can be None is used as a set member",
    "is given a",
    "a guard",
    "an index into something that is empty",
    "has no attribute",
    "isinstance of the class",
    "is compared with a negative number",
    "of mixed types",
    "holds values of different types",
    "member_descriptor",
    "depends on the state",
    "call of",
    "called with",
    "is called without",
    "cannot translate this: Note",
    "attribute 'n' of",
    "in place",
    "generator expression",
    "an iterator that is used",
    "can be None in a set",
    "isinstance of",
    "with these arguments",
    "is never",
    "a set that holds",
    "list of varying length and a tuple",
    "a tuple and a list of varying length",
    "a tuple of varying length",
    "a range of varying length",
)
"""Reasons for which a rule refuses some operands of its kinds: the page's third column, or errors of spelling."""


@pytest.fixture(scope="module")
def bench_of(tmp_path_factory):
    def make(found: list[Snippet]) -> Bench:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # `x is 3`, which lifting refuses
            module = written(tmp_path_factory.mktemp("snippets"), HELPERS + source_text(found))
        return Bench(model_of(module), module)

    return make


@pytest.fixture(scope="module")
def states(bench_of):
    return random_states(bench_of([]).model, 40, seed=11)


def test_each_sample_has_its_kind(bench_of):
    found = [Snippet(None, (kind,), f"return {sample}") for kind in K for sample in SAMPLES[kind]]
    bench = bench_of(found)
    for number, snippet in enumerate(found):
        assert kind_of(bench.lifted(number).value) is snippet.kinds[0], snippet


@pytest.mark.parametrize("operation", [one for one in Operation if one is not Operation.RESULT], ids=lambda o: o.name)
def test_an_operation_has_pythons_value_or_is_refused_as_the_page_says(operation, bench_of, states):
    found = list(snippets([operation]))
    bench = bench_of(found)
    for number, snippet in enumerate(found):
        try:
            lifted = bench.lifted(number)
        except LiftError as refusal:
            if snippet.kinds in RULES[operation]:
                assert any(reason in str(refusal) for reason in CONDITIONS), (snippet, str(refusal))
            assert "Instead: " in str(refusal)
            continue
        assert snippet.kinds in RULES[operation], f"accepted without a rule: {snippet}"
        assert bench.difference(number, states, lifted) is None, snippet
    assert bench.has_kept_states()


def test_every_value_is_the_same_in_every_position(bench_of, states):
    found = list(positions())
    bench = bench_of(found)
    differences = {snippet: bench.difference(number, states) for number, snippet in enumerate(found)}
    assert {snippet: text for snippet, text in differences.items() if text} == {}
    assert bench.has_kept_states()
