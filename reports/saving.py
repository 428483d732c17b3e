"""Saving a trace: the ITF file that replays it, the page and the Markdown that people read, together or not at all."""
from __future__ import annotations

import hashlib
import shlex
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from pathlib import Path

from attrs import evolve

from model.language import Model
from reports.escaping import file_stem, visible
from reports.files import OutFolder
from reports.itf import itf_text
from reports.markdown import markdown_page
from reports.page import html_page
from reports.story import tell
from search.trace import Trace

FORMATS = {"trace": ".itf.json", "page": ".html", "markdown": ".md"}


def version() -> str:
    """The installed version of kwalk."""
    try:
        return installed("kwalk")
    except PackageNotFoundError:
        return "from source"


def save(model: Model, trace: Trace, out: OutFolder) -> dict[str, Path]:
    """Write a stamped trace (see `replaying.stamped`) in all formats; its paths by format. CannotWrite if it cannot."""
    names = {kind: stem(model, trace) + ending for kind, ending in FORMATS.items()}
    replay = f"kwalk replay {shlex.quote(visible(str(out.path / names['trace'])))}"
    story = evolve(tell(model, trace), reproduce=replay)
    written = out.write(
        {
            names["trace"]: itf_text(model, trace, version()),
            names["page"]: html_page(story),
            names["markdown"]: markdown_page(story),
        }
    )
    return {kind: written[name] for kind, name in names.items()}


def stem(model: Model, trace: Trace) -> str:
    """The name of a trace's files: what it is about, and a few digits that are the same for the same trace."""
    bounds, flags = sorted(trace.bounds.items()), [sorted(trace.flags.items())] if trace.flags else []
    more = [*flags, *([] if trace.loop is None else [trace.loop])]
    same = (trace.scenario, trace.variant, bounds, trace.states[0], trace.actions, trace.claim, *more)
    digits = hashlib.blake2b(repr(same).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{file_stem(model.scenario.name, trace.variant, trace.claim or 'no claim', longest=80)}-{digits}"
