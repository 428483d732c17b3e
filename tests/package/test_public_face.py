"""`import kwalk`: what it exports, what it costs, and what a notebook sees."""

from __future__ import annotations

import base64
import re
import subprocess
import sys

import attrs
import pytest

import kwalk
from kwalk import Answer, Model, UsageError, flag, number, state, value
from kwalk.model.examples.die_hard import DIE_HARD, not_solved

HEAVY = ("numpy", "numba", "llvmlite", "z3", "hypothesis", "pyspark", "pyarrow", "pandas", "rich", "jinja2", "attrs")


def test_every_exported_name_can_be_imported():
    assert [name for name in kwalk.__all__ if getattr(kwalk, name, None) is None] == []
    assert len(kwalk.__all__) == len(set(kwalk.__all__))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'kwalk' has no attribute 'exhast'"):
        kwalk.exhast  # noqa: B018


def test_the_package_itself_loads_nothing_heavy():
    code = f"import sys, kwalk; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("asked", ["die-hard", "kwalk.model.examples.die_hard:DIE_HARD", DIE_HARD, Model(DIE_HARD)])
def test_a_scenario_is_given_by_name_by_reference_as_itself_or_as_a_model(asked):
    verdict = kwalk.exhaust(asked, not_solved)
    assert (verdict.answer, verdict.counterexample.length) == (Answer.VIOLATED, 6)


@pytest.mark.parametrize("engine", [kwalk.exhaust, kwalk.walk, kwalk.prove, kwalk.check, kwalk.hunt])
def test_every_engine_returns_a_verdict_with_its_model(engine):
    verdict = engine("die-hard", "not_solved", seconds=20)
    assert verdict.answer is Answer.VIOLATED
    assert verdict.model is not None and verdict.counterexample.model is verdict.model


def test_a_model_takes_no_second_variant():
    with pytest.raises(UsageError, match="has its variant, bounds and flags already"):
        kwalk.exhaust(Model(DIE_HARD), variant="default")


def test_a_property_that_does_not_exist_is_refused():
    with pytest.raises(UsageError, match="Did you mean 'not_solved'"):
        kwalk.exhaust("die-hard", "not_solve")


def test_a_trace_gives_its_states_as_objects_and_as_a_table():
    trace = kwalk.exhaust("die-hard", "not_solved").counterexample
    assert (trace.state(0).big, trace.state().big) == (0, 4)
    table = trace.to_pandas(numbers=True)
    assert list(table.columns) == ["action", "small", "big"] and table.index.name == "step"
    assert table["big"].tolist() == [0, 5, 2, 2, 0, 5, 4]
    assert table["action"].tolist() == [None, *trace.actions]


def test_a_trace_without_its_model_says_how_to_get_one():
    from attrs import evolve

    trace = evolve(kwalk.exhaust("die-hard", "not_solved").counterexample, model=None)
    with pytest.raises(UsageError, match=r"kwalk\.open_trace"):
        trace.to_pandas()


def test_a_saved_trace_is_opened_and_shrunk(tmp_path):
    from kwalk.reports.command_line import main

    main(["walk", "die-hard", "--seed", "3", "--walks", "2000", "--out", str(tmp_path)])
    (path,) = tmp_path.glob("*.itf.json")
    trace = kwalk.open_trace(path)
    assert trace.model.scenario is DIE_HARD
    assert kwalk.shrink(trace).length <= trace.length


def test_notebooks_and_print_show_the_same():
    verdict = kwalk.exhaust("die-hard", "not_solved")
    shown = {
        "fills the big jug": (verdict, verdict.counterexample),
        "small_to_big": (verdict.model,),
        "16 states": (kwalk.graph("die-hard"),),
    }
    for words, things in shown.items():
        for thing in things:
            assert words in str(thing)
            assert words in thing._repr_html_()


def test_a_counterexample_in_a_notebook_is_folded_follows_the_theme_and_saves_its_page():
    trace = kwalk.exhaust("die-hard", "not_solved").counterexample
    shown = trace._repr_html_()
    assert "<summary>not_solved(): 6 steps</summary>" in shown
    assert '[data-jp-theme-light="false"] .kwalk-output' in shown and "--kwalk-800000:#ffb9b9" in shown
    assert "color: #" not in shown and "color: var(--kwalk-800000,#800000)" in shown
    (address,) = re.findall(r'download="die-hard-[^"]*\.html" href="data:text/html;base64,([^"]*)"', shown)
    assert "fills the big jug" in base64.b64decode(address).decode()


def test_what_a_name_holds_is_escaped_in_a_notebook(monkeypatch):
    verdict = kwalk.exhaust("die-hard", "not_solved")
    monkeypatch.setattr(DIE_HARD.actions[0].function, "__doc__", "<script>alert(1)</script>")
    assert "<script>" not in verdict.model._repr_html_()


def test_a_model_is_mutated_and_a_fix_is_audited():
    from tests.search.leases import CHECK_FIX

    results = kwalk.mutate("die-hard", sample=5, seed=1)
    assert len(results) == 5 and all(result.outcome is not None for result in results)
    assert results.answer is kwalk.Answer.VIOLATED and len(results.alive) > 1
    assert "survived; it differs first" in str(results) and "survived" in results._repr_html_()
    report = kwalk.audit(CHECK_FIX)
    assert report.answer is kwalk.Answer.HOLDS
    (row, *_) = report
    assert row.judgement.value in str(report) and row.judgement.value in report._repr_html_()


def test_snapshots_are_explained():
    captures = [f"tests/captures/scenario-01-0{name}.json" for name in ("1-old-create", "1b-aged-by-failover")]
    explained = kwalk.explain(captures, variant="2.8.2", seconds=30)
    assert explained.trace is not None and explained.trace.model is not None
    assert str(explained).startswith(explained.fit.value.upper()) and explained._repr_html_() is not None


@state
class Letter:
    opened: bool = flag()
    weight: int = number(0, 9)


class Quiet:
    hour: int = number(0, 23)

    def __repr__(self) -> str:
        return "quiet"


def test_states_and_values_print_as_attrs_prints_them():
    @attrs.define
    class Plain:
        opened: bool
        weight: int

    @value
    class Stamp:
        hour: int = number(0, 23)

    letter = Letter(opened=True, weight=4)
    assert repr(letter) == repr(Plain(True, letter.weight)).replace("Plain", "Letter")
    assert repr(Stamp(hour=3)) == "Stamp(hour=3)"
    assert repr(value(Quiet)(hour=3)) == "quiet"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"seconds": -1}, r"`seconds` must be a number of seconds above 0 \(got -1\)"),
        ({"workers": 1.5}, r"`workers` must be a whole number in 1 … 256 \(got 1.5\)"),
        ({"memory_bytes": 0}, r"`memory_bytes` must be a whole number of bytes above 0 \(got 0\)"),
        ({"keep_going": "no"}, r"`keep_going` must be True or False \(got 'no'\)"),
        ({"bounds": 3}, r"`bounds` must be sizes by name, .* \(got 3\)"),
        ({"second": 3}, "No option named 'second'. Did you mean 'seconds'?"),
        ({"constraints": "small"}, "No optional constraint named 'small'"),
        ({"spark": True, "reduce": True}, "A search on Spark does not support reduction"),
    ],
)
def test_an_option_of_an_engine_is_checked_as_on_the_command_line(options, expected):
    with pytest.raises(UsageError, match=expected):
        kwalk.exhaust("die-hard", **options)


def test_a_search_in_python_is_the_one_of_the_command(tmp_path):
    from kwalk.reports.command_line import main

    asked = {"seed": 3, "walks": 2000, "keep_going": True, "minimize": 3}
    verdict = kwalk.walk("die-hard", **asked)
    main(
        [
            "walk",
            "die-hard",
            "--seed",
            "3",
            "--walks",
            "2000",
            "--keep-going",
            "--minimize",
            "3",
            "--out",
            str(tmp_path),
        ]
    )
    lengths = {kwalk.open_trace(path).length for path in tmp_path.glob("*.itf.json")}
    assert {finding.trace.length for finding in verdict.findings if finding.trace} <= lengths and verdict.groups
