"""What an audit keeps in its folder, so that one that was cut short goes on: the outcomes of finished cells, as JSON.

The file appears whole or not at all, after each cell. Outcomes are by content: a digest of the model and of what was
asked. Whoever reads them again confirms their traces in plain Python; here only the form is looked at.
"""
from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import fields_dict

from model.language import UsageError, Vector
from reports.escaping import visible
from reports.files import OutFolder
from reports.trace_file import readable_text
from search.audit import Kept, Known, Outcome
from search.trace import Trace

NAME = "audit.json"
FORMAT = "kwalk audit 1"
NEEDED = {Known.EXHAUSTIVE: ("states", "depth"), Known.SAMPLED: ("steps",), Known.VIOLATED: ("claim",)}
"""What an outcome must have, by how it is known."""


def keep(kept: Kept, out: OutFolder) -> None:
    """Write the outcomes; CannotWrite if the folder takes no file."""
    page = {"format": FORMAT, "cells": {key: _record(outcome) for key, outcome in kept.items()}}
    out.write({NAME: json.dumps(page, indent=1) + "\n"})


def kept_in(folder: Path) -> dict[str, Outcome]:
    """The outcomes that an audit left in a folder, none if there is no file; UsageError if it is no sound one."""
    path = folder / NAME
    if not path.exists():
        return {}
    try:
        page = json.loads(readable_text(path, "audit"))
        if not isinstance(page, dict) or page.get("format") != FORMAT:
            raise ValueError(f"its `format` is not {FORMAT!r}")
        return {key: _outcome(_table(record, "a cell")) for key, record in _table(page.get("cells"), "`cells`").items()}
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{visible(str(path))!r} is no sound file of an audit: {visible(str(error), 100)}. "
            "Give --fresh to audit anew and replace it, or another folder with --out."
        ) from error


def _record(outcome: Outcome) -> dict[str, Any]:
    trace = outcome.trace
    record = {name: getattr(outcome, name) for name in fields_dict(Outcome)}
    return {**record, "known": outcome.known.value, "trace": trace and _trace_record(trace)}


def _trace_record(trace: Trace) -> dict[str, Any]:
    record = {name: getattr(trace, name) for name in fields_dict(Trace)}
    return {**record, "states": [" ".join(map(str, vector)) for vector in trace.states]}


# Reading: each function returns what is well-formed, and raises ValueError otherwise.


def _outcome(record: Mapping[str, Any]) -> Outcome:
    known = Known(record.get("known"))
    seconds = record.get("seconds")
    if not (seconds is None or type(seconds) in (int, float)):
        raise ValueError("`seconds` is no number")
    trace = record.get("trace")
    outcome = Outcome(
        known, _count(record, "states"), _count(record, "depth"), _count(record, "steps"), claim=_text(record, "claim"),
        trace=None if trace is None else _trace(_table(trace, "`trace`")),
        bounds_hit=_texts(record, "bounds_hit"), why=_text(record, "why") or "", seconds=seconds,
    )  # fmt: skip
    needed = (*NEEDED.get(known, ()), *(("states", "depth") if known is Known.VIOLATED and trace is None else ()))
    for name in needed:
        if getattr(outcome, name) is None:
            raise ValueError(f"`{name}` is missing")
    return outcome


def _trace(record: Mapping[str, Any]) -> Trace:
    bounds, flags = _table(record.get("bounds"), "`bounds`"), _table(record.get("flags"), "`flags`")
    labels = _table(record.get("labels"), "`labels`")
    return Trace(
        scenario=_text(record, "scenario") or "", variant=_text(record, "variant") or "", bounds=bounds,
        states=tuple(map(_vector, _texts(record, "states"))), actions=_texts(record, "actions"),
        claim=_text(record, "claim"), labels={name: _texts(labels, name) for name in labels}, flags=flags,
        seed=_count(record, "seed"), found_by=_text(record, "found_by") or "", shortest=_text(record, "shortest"),
        command=_text(record, "command") or "", fingerprint=_text(record, "fingerprint") or "",
        loop=_count(record, "loop"),
    )  # fmt: skip


def _table(thing: Any, name: str) -> dict[str, Any]:
    if not isinstance(thing, dict):
        raise ValueError(f"{name} is no object")
    return thing


def _text(record: Mapping[str, Any], name: str) -> str | None:
    found = record.get(name)
    if not isinstance(found, str | None):
        raise ValueError(f"`{name}` is no text")
    return found


def _texts(record: Mapping[str, Any], name: str) -> tuple[str, ...]:
    found = record.get(name)
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise ValueError(f"`{name}` is no list of texts")
    return tuple(found)


def _count(record: Mapping[str, Any], name: str) -> int | None:
    found = record.get(name)
    if not (found is None or type(found) is int):
        raise ValueError(f"`{name}` is no whole number")
    return found


def _vector(text: str) -> Vector:
    if not re.fullmatch(r"-?[0-9]{1,18}( -?[0-9]{1,18})*|", text):
        raise ValueError("a state is no list of small numbers")
    return tuple(map(int, text.split()))
