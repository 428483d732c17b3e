"""An argument of each kind passes through every output: texts, pages, files, replays, and the other engines."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from attrs import evolve

import kwalk
from kwalk.model.language import Model
from kwalk.reports.document.html import html_page
from kwalk.reports.document.markdown import markdown_page
from kwalk.reports.traces.itf import itf_text
from kwalk.reports.traces.replay import replay
from kwalk.reports.traces.sequence import sequence_of, states_of
from kwalk.reports.traces.story import story_of
from kwalk.reports.traces.trace_file import read_trace
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.interpreted import interpreted_kernel
from kwalk.search.results.trace import Trace
from tests.queries import hypothesis_search
from tests.reports.exploring import exploring
from tests.reports.parameter_kinds import KINDS

MODULE = "tests.reports.parameter_kinds"


@cache
def found(kind: str) -> tuple[Model, Trace]:
    """A model with such an argument, and the trace that a search finds."""
    model = Model(KINDS[kind])
    trace = exhaust(model).counterexample
    assert trace is not None
    return model, trace


def reference(model: Model) -> str:
    """The name by which a command finds the scenario of a model."""
    return f"{MODULE}:{model.scenario.actions[0].name.removeprefix('take_').upper()}"


def replayed(model: Model, trace: Trace, folder: Any) -> bool:
    """Whether a saved trace replays."""
    path = folder / "trace.itf.json"
    path.write_text(itf_text(model, trace, "0"), encoding="utf-8")
    return replay(model, read_trace(path)).mismatch is None


def explored(model: Model, trace: Trace, folder: Any) -> bool:
    """Whether the explorer can take the steps of a trace."""
    with exploring(model, folder, trace) as session:
        return bool(json.dumps(session.about(), default=str))


def has_label(page: str, model: Model, trace: Trace) -> bool:
    """Whether a page says what the first step does."""
    with model.active():
        step = model.instance(trace.actions[0])
        return step.description in html.unescape(page).replace("\\", "")


OUTPUTS: dict[str, Callable[[Model, Trace, Any], Any]] = {
    "name": lambda model, trace, folder: model.instance(trace.actions[0]).key == trace.actions[0],
    "ITF": lambda model, trace, folder: json.loads(itf_text(model, trace, "0"))["states"][1]["mbt::nondetPicks"]["x"],
    "saved trace": replayed,
    "Markdown": lambda model, trace, folder: has_label(
        markdown_page(story_of(model, trace), sequence=sequence_of(model, trace)), model, trace
    ),
    "HTML": lambda model, trace, folder: has_label(
        html_page(story_of(model, trace), diagram=sequence_of(model, trace), states=states_of(model, trace)),
        model,
        trace,
    ),
    "notebook": lambda model, trace, folder: "takes" in kwalk.exhaust(model)._repr_html_(),
    "explorer": explored,
    "graph": lambda model, trace, folder: kwalk.graph(model)._repr_html_(),
    "plain Python": lambda model, trace, folder: exhaust(model, kernel=interpreted_kernel(model)).findings,
    "reduced": lambda model, trace, folder: exhaust(model, reduce=True).counterexample.actions == trace.actions,
    "walk": lambda model, trace, folder: kwalk.walk(model, walks=100).counterexample.states[-1] == trace.states[-1],
    "proof": lambda model, trace, folder: kwalk.prove(model).counterexample.length == 2,
    "Hypothesis": lambda model, trace, folder: hypothesis_search(model).counterexample.length == 2,
    "shrunk": lambda model, trace, folder: kwalk.shrink(evolve(trace, scenario=reference(model))).length == 2,
}


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_output_takes_an_argument_of_the_kind(kind, output, tmp_path):
    assert OUTPUTS[output](*found(kind), tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_writes_a_trace_that_it_reads(kind, kwalk):
    ran = kwalk("exhaust", f"{MODULE}:{kind.upper()}")
    (path,) = (line.split()[1] for line in ran.out.splitlines() if line.startswith("  Trace: "))
    assert ran.code == 12 and "in 2 steps" in ran.out
    assert kwalk("replay", path).code == 12 and kwalk("replay", "--format", "text", path).code in (0, 12)
    assert json.loads(kwalk("exhaust", f"{MODULE}:{kind.upper()}", "--json").out)["verdict"] == "violated"
