"""Traces of the post office, made by plain execution."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve

from kwalk.model.language import Model, Scenario
from kwalk.reports.traces.replay import stamped
from kwalk.search.results.trace import Trace, run
from tests.reports.post_office import POST_OFFICE

REFERENCE = "tests.reports.post_office:POST_OFFICE"
LOST = ("post(0, FIRST)", "drive()", "drive()", "drive()", "let_dog_out(0)", "drive()", "deliver()")
LONG = ("post(0, FIRST)", *["drive()"] * 9, "let_dog_out(0)", "drive()", "deliver()")
"""More steps than a short trace has, so that routine ones fold."""
HOSTILE = ("<script>alert(1)</script>", "\x1b[31mred\x1b[0m|`*_x_*`](http://evil) ../x;\n## end @you \u202eRTL")
"""Two labels that no output may act on."""


def model(labels: Mapping[str, tuple[str, ...]] | None = None) -> Model:
    """The model, with names from a snapshot if given."""
    return Model(labelled(labels))


def labelled(labels: Mapping[str, tuple[str, ...]] | None) -> Scenario:
    return evolve(POST_OFFICE, labels=dict(labels or {}))


def trace(actions: tuple[str, ...] = LOST, prop: str | None = "nothing_is_lost(0)", of: Model | None = None) -> Trace:
    """A stamped trace of these steps from the first initial state."""
    of = of or model()
    made = Trace(
        scenario="post-office",
        variant=of.variant,
        bounds={},
        states=run(of, of.initial[0], actions),
        actions=actions,
        prop=prop,
        seed=7,
        found_by="hand",
        command="kwalk exhaust post-office",
    )
    return stamped(made, of, REFERENCE)
