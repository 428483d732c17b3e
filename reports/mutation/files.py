"""Files of mutation testing: outcomes that are kept so that a run goes on, and explanations of survivors.

Explanations are TOML: tables `[[survivors]]`, each with a `reason` and the ids of the `mutants` that it is about.
Outcomes are JSON, by content: a digest of the models, of what was asked, and of the mutant.
"""
from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import asdict

from model.language import UsageError
from reports.escaping import visible
from reports.files import OutFolder
from reports.trace_file import readable_text
from search.mutation import Evidence, Fate, Kept, Outcome

NAME = "mutate.json"
FORMAT = "kwalk mutate 1"


def keep(kept: Kept, out: OutFolder) -> None:
    """Write the outcomes; CannotWrite if the folder takes no file."""
    page = {"format": FORMAT, "mutants": {key: _record(outcome) for key, outcome in kept.items()}}
    out.write({NAME: json.dumps(page, indent=0) + "\n"})


def _record(outcome: Outcome) -> dict[str, Any]:
    return {**asdict(outcome), "fate": outcome.fate.value, "evidence": outcome.evidence.value}


def kept_in(folder: Path) -> dict[str, Outcome]:
    """The outcomes that a run left in a folder, none if there is no file; UsageError if it is no sound one."""
    path = folder / NAME
    if not path.exists():
        return {}
    try:
        page = json.loads(readable_text(path, "mutants"))
        if not isinstance(page, dict) or page.get("format") != FORMAT:
            raise ValueError(f"its `format` is not {FORMAT!r}")
        return {key: _outcome(record) for key, record in page["mutants"].items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise UsageError(
            f"{visible(str(path))!r} is no sound file of mutants: {visible(str(error), 100)}. "
            "Give --fresh to look at all of them anew and replace it, or another folder with --out."
        ) from error


def _outcome(record: Mapping[str, Any]) -> Outcome:
    ground, claim, actions, start, loop, seconds = (
        record[name] for name in ("ground", "claim", "actions", "start", "loop", "seconds")
    )
    listed = [] if actions is None else actions
    numbers = (start, *(() if loop is None else (loop,)))
    if not all(isinstance(text, str) for text in (ground, claim, *listed)) or {*map(type, numbers)} != {int}:
        raise ValueError("a mutant's outcome has a field of the wrong kind")
    if not (seconds is None or type(seconds) in (int, float)):
        raise ValueError("`seconds` is no number")
    way = None if actions is None else tuple(actions)
    return Outcome(Fate(record["fate"]), Evidence(record["evidence"]), ground, claim, way, start, loop, seconds)


def explanations_in(path: str) -> dict[str, str]:
    """The reasons of a file of explanations, by mutant; UsageError if it is no sound one."""
    try:
        page = tomllib.loads(readable_text(Path(path), "explanations"))
        found: dict[str, str] = {}
        for table in page.get("survivors", []):
            for mutant in table["mutants"]:
                if mutant in found:
                    raise ValueError(f"{mutant!r} is explained twice")
                found[mutant] = str(table["reason"])
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise UsageError(
            f"{visible(path)!r} explains no mutants: {visible(str(error), 200)}. "
            'It needs tables [[survivors]] with reason = "…" and mutants = ["…"].'
        ) from error
    return found
