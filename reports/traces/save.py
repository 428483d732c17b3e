"""Saving a trace: an ITF file that replays it, an HTML page and a Markdown page, all of them or none."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import evolve

from kwalk.model.language import Model
from kwalk.model.language.distributions import kwalk_version
from kwalk.reports.document import Lead
from kwalk.reports.document.html import html_page
from kwalk.reports.document.markdown import markdown_page
from kwalk.reports.escaping import file_stem, visible
from kwalk.reports.files import OutFolder
from kwalk.reports.program import program
from kwalk.reports.traces.itf import itf_text
from kwalk.reports.traces.sequence import sequence_of, states_of
from kwalk.reports.traces.story import Story, story_of
from kwalk.search.kernel.compared import Compared
from kwalk.search.results.trace import Trace

FORMATS = {"trace": ".itf.json", "page": ".html", "markdown": ".md"}


def save(
    model: Model,
    trace: Trace,
    out: OutFolder,
    compared: Compared | None = None,
    *,
    story: Story | None = None,
    lead: Lead | None = None,
    about: Mapping[str, Any] | None = None,
) -> dict[str, Path]:
    """Write a trace in all formats; return its paths by format.

    Args:
        model: The model of the trace.
        trace: A stamped trace (see `replay.stamped`).
        out: The folder to write to.
        compared: How much of the run that found it was compared with plain Python, for the pages.
        story: Its story; None for the usual one.
        lead: What the pages say before the story.
        about: What the file says beside the trace, for scripts: an object for its `#meta`.

    Raises:
        CannotWrite: A file cannot be written; then none is.
    """
    names = {kind: stem(model, trace) + ending for kind, ending in FORMATS.items()}
    replay = f"{program()} replay {shlex.quote(visible(str(out.path / names['trace'])))}"
    shown = story or story_of(model, trace)
    story = evolve(shown, reproduce=replay, compared="" if compared is None else str(compared))
    sequence = sequence_of(model, trace)
    written = out.write(
        {
            names["trace"]: itf_text(model, trace, kwalk_version(), about),
            names["page"]: html_page(story, diagram=sequence, states=states_of(model, trace), lead=lead),
            names["markdown"]: markdown_page(story, sequence=sequence, lead=lead),
        }
    )
    return {kind: written[name] for kind, name in names.items()}


def stem(model: Model, trace: Trace) -> str:
    """Return the name of a trace's files: scenario, variant, property, and a digest of the trace."""
    bounds, flags = sorted(trace.bounds.items()), [sorted(trace.flags.items())] if trace.flags else []
    more = [*flags, *([] if trace.loop is None else [trace.loop])]
    same = (trace.scenario, trace.variant, bounds, trace.states[0], trace.actions, trace.prop, *more)
    digits = hashlib.blake2b(repr(same).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{file_stem(model.scenario.name, trace.variant, trace.prop or 'no property', longest=80)}-{digits}"
