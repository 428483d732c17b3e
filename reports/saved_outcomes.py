"""Saved outcomes of audits and of mutation testing, from which an interrupted run continues; explanations of mutants.

Outcomes are JSON, by a digest of the model and of the question, so that those of another model are never used. A file
is written whole after each outcome. Reading checks the form of every field against the type that the class declares;
the engines confirm traces by executing them. Explanations are TOML: tables `[[survivors]]`, each with a `reason` and
the ids of the `mutants` that it is about.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

import attrs

from kwalk.model.language import UsageError
from kwalk.reports.escaping import visible
from kwalk.reports.files import OutFolder
from kwalk.reports.traces.trace_file import readable_text
from kwalk.search.analyses.audit.audit import CellOutcome, CellStatus
from kwalk.search.analyses.mutation.mutate import MutantOutcome

T = TypeVar("T")
WHAT = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", NoneType: "null"}
NEEDED = {CellStatus.EXHAUSTIVE: ("states", "depth"), CellStatus.SAMPLED: ("steps",), CellStatus.VIOLATED: ("prop",)}
"""The fields that an outcome of a cell must have, by its status."""


@attrs.frozen
class OutcomeFile(Generic[T]):
    """The file of the outcomes of one kind of run: its name in the output folder, its format, and their class."""

    name: str
    format: str
    cls: type[T]

    def write(self, outcomes: Mapping[str, T], out: OutFolder) -> None:
        """Write all outcomes, by their digests; CannotWrite if the folder takes no file."""
        page = {"format": self.format, "outcomes": {key: _encoded(outcome) for key, outcome in outcomes.items()}}
        out.write({self.name: json.dumps(page, indent=0) + "\n"})

    def read(self, folder: Path) -> dict[str, T]:
        """Return the outcomes in a folder, none without a file; UsageError if the file is damaged or too old."""
        path = folder / self.name
        if not path.exists():
            return {}
        try:
            page = json.loads(readable_text(path, "outcomes"))
            if not isinstance(page, dict) or page.get("format") != self.format:
                raise ValueError(f"its `format` is not {self.format!r}")
            outcomes: Any = page.get("outcomes")
            _demand(isinstance(outcomes, dict), "outcomes", "an object")
            found = {key: _record(self.cls, record, "an outcome") for key, record in outcomes.items()}
            for outcome in found.values():
                _check(outcome)
            return found
        except (ValueError, RecursionError) as error:
            raise UsageError(
                f"{visible(str(path))!r} has no outcomes that this version can read: {visible(str(error), 100)}. "
                "Give --fresh to search everything again and replace it, or name another folder with --out."
            ) from error


AUDIT = OutcomeFile("audit.json", "kwalk audit 3", CellOutcome)
MUTANTS = OutcomeFile("mutate.json", "kwalk mutate 3", MutantOutcome)


def _check(outcome: object) -> None:
    """Raise ValueError if an outcome of a cell lacks what its status needs."""
    if isinstance(outcome, CellOutcome):
        never_reached = outcome.status is CellStatus.VIOLATED and outcome.trace is None
        for name in (*NEEDED.get(outcome.status, ()), *(("states", "depth") if never_reached else ())):
            if getattr(outcome, name) is None:
                raise ValueError(f"`{name}` is missing")


def _encoded(value: Any) -> Any:
    """Return a value as JSON has it: enums by value, records by their fields, vectors as texts of numbers."""
    if isinstance(value, Enum):
        return value.value
    if attrs.has(type(value)):
        return {field.name: _encoded(getattr(value, field.name)) for field in attrs.fields(type(value))}
    if isinstance(value, tuple) and value and all(type(each) is int for each in value):
        return " ".join(map(str, value))
    if isinstance(value, frozenset):
        return sorted(map(_encoded, value))
    return [_encoded(each) for each in value] if isinstance(value, tuple) else value


def _decoded(kind: Any, value: Any, name: str) -> Any:
    """Return the value of the declared type `kind` that `_encoded` wrote; ValueError if it has another form."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return _member(args, value, name)
    if origin is tuple and args[0] is int:
        return _vector(value, name)
    if origin in (tuple, frozenset):
        _demand(isinstance(value, list), name, "a list")
        return origin(_decoded(args[0], each, name) for each in value)
    if origin is not None:
        _demand(isinstance(value, dict), name, "an object")
        return {key: _decoded(args[1], each, name) for key, each in value.items()}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    if attrs.has(kind):
        return _record(kind, value, name)
    _demand(type(value) is kind or (kind is float and type(value) is int), name, WHAT[kind])
    return value


def _record(cls: type[Any], value: Any, name: str) -> Any:
    """Return the record of a class; fields that are absent have their defaults."""
    _demand(isinstance(value, dict), name, "an object")
    hints = get_type_hints(cls)
    for field in attrs.fields(cls):
        if field.default is attrs.NOTHING and field.name not in value:
            raise ValueError(f"`{field.name}` is missing")
    return cls(**{key: _decoded(hints[key], each, key) for key, each in value.items() if key in hints})


def _member(kinds: tuple[Any, ...], value: Any, name: str) -> Any:
    """Return a value of one of several types, None only where it is one of them."""
    if value is None and NoneType in kinds:
        return None
    others = [kind for kind in kinds if kind is not NoneType]
    matching = [kind for kind in others if kind is type(value)]
    return _decoded((matching or others)[0], value, name)


def _vector(value: Any, name: str) -> tuple[int, ...]:
    _demand(
        isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,18}( -?[0-9]{1,18})*|", value), name, "a list of numbers"
    )
    return tuple(map(int, value.split()))


def _demand(good: Any, name: str, what: str) -> None:
    if not good:
        raise ValueError(f"`{name}` is not {what}")


def explanations_in(path: str) -> dict[str, str]:
    """Return the reasons in a file of explanations, by the id of the mutant; UsageError if the file is malformed."""
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
