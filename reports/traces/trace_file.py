"""Reading a saved trace, from a file that may be damaged or malicious.

Each error is one UsageError that names the file and what is wrong. Only the form is checked here; `replay` checks
whether the trace fits the model.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from kwalk.model.language import UsageError, Vector
from kwalk.reports.escaping import visible
from kwalk.search.results.trace import Trace

MOST_BYTES = 64 * 2**20
MOST_STEPS = 100_000
REFERENCE = re.compile(r"[\w.-]+|\w+(\.\w+)*:\w+", re.ASCII)
"""A scenario's name, or package.module:name."""


def read_trace(path: str | Path) -> Trace:
    """Return the trace in a file; UsageError if kwalk did not write it as a trace."""
    page = _page(path)
    meta = _Fields(str(path), page["#meta"])
    vectors = tuple(_vector(meta, number, text) for number, text in enumerate(meta.texts("vectors")))
    actions = meta.texts("actions")
    if len(vectors) != len(actions) + 1:
        raise meta.refusal(
            f"it has {len(actions):,} actions and {len(vectors):,} states; there must be one more state than actions"
        )
    return Trace(
        scenario=_reference(meta),
        variant=meta.text("variant"),
        bounds=meta.bounds(),
        states=vectors,
        actions=actions,
        prop=meta.text_or_none(_property_key(meta)),
        labels=meta.labels(),
        seed=meta.integer_or_none("seed"),
        found_by=meta.text_or_none("found-by") or "",
        shortest=meta.text_or_none("shortest"),
        command=meta.text_or_none("command") or "",
        fingerprint=meta.text_or_none("fingerprint") or "",
        flags=meta.flags(),
        loop=_loop(meta, page.get("loop"), vectors),
    )


def _property_key(meta: _Fields) -> str:
    """Return the key of the property; older files have `claim` or `invariant`."""
    return next((name for name in ("property", "claim", "invariant") if name in meta.fields), "property")


def _loop(meta: _Fields, loop: Any, vectors: tuple[Vector, ...]) -> int | None:
    """Return the number of the state where the loop starts; the last state must equal it."""
    if loop is None or (type(loop) is int and 0 <= loop < len(vectors) and vectors[loop] == vectors[-1]):
        return loop
    raise meta.refusal("`loop` must be the number of a state that equals the last one")


def readable_text(path: str | Path, kind: str) -> str:
    """Return the text of a file; UsageError if it is missing, not a plain file, too large, or not UTF-8."""
    name = visible(str(path))
    try:
        about = os.stat(path)
        if not stat.S_ISREG(about.st_mode):
            raise UsageError(f"{name!r} is not a plain file. Name a {kind} file.")
        if about.st_size > MOST_BYTES:
            size, most = about.st_size / 2**20, MOST_BYTES // 2**20
            raise UsageError(f"{name!r} has {size:,.0f} MiB; a {kind} file has at most {most} MiB. It is not read.")
        return Path(path).read_text("utf-8")
    except (OSError, ValueError) as error:
        why = error.strerror.lower() if isinstance(error, OSError) and error.strerror else "it is not UTF-8 text"
        raise UsageError(f"Cannot read the {kind} {name!r}: {why}.") from error


def _page(path: str | Path) -> dict[str, Any]:
    name = visible(str(path))
    try:
        page = json.loads(readable_text(path, "trace"))
    except RecursionError as error:
        raise UsageError(f"{name!r} is nested too deeply for a trace.") from error
    except ValueError as error:
        raise UsageError(f"{name!r} is not JSON ({visible(str(error))}); a trace is an .itf.json file.") from error
    meta = page.get("#meta") if isinstance(page, dict) else None
    if not isinstance(page, dict) or not isinstance(page.get("states"), list):
        raise UsageError(
            f"{name!r} is JSON, but not an ITF trace: it has no list `states`. If it is a snapshot of a system, read "
            f"it with `kwalk diagnose {shlex.quote(name)} --forecast`."
        )
    if not isinstance(meta, dict) or "vectors" not in meta:
        raise UsageError(
            f"{name!r} is an ITF trace that kwalk did not write: its `#meta` has no `vectors`. "
            "Only traces from kwalk can be shown and replayed."
        )
    return page


@frozen
class _Fields:
    """The fields of a trace's `#meta`; each method checks the form of a field."""

    path: str
    fields: Mapping[str, Any]

    def refusal(self, why: str) -> UsageError:
        return UsageError(f"{visible(self.path)!r} is not a valid trace: {why}.")

    def text_or_none(self, name: str) -> str | None:
        found = self.fields.get(name)
        if found is not None and not isinstance(found, str):
            raise self.refusal(f"`{name}` must be a string")
        return found

    def text(self, name: str) -> str:
        found = self.text_or_none(name)
        if not found:
            raise self.refusal(f"`{name}` is missing")
        return found

    def texts(self, name: str) -> tuple[str, ...]:
        found = self.fields.get(name)
        if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
            raise self.refusal(f"`{name}` must be a list of strings")
        if len(found) > MOST_STEPS:
            raise self.refusal(f"`{name}` has {len(found):,} entries; at most {MOST_STEPS:,} are read")
        return tuple(found)

    def mapping(self, name: str) -> dict[str, Any]:
        found = self.fields.get(name, {})
        if not isinstance(found, dict):
            raise self.refusal(f"`{name}` must be an object")
        return found

    def integer_or_none(self, name: str) -> int | None:
        found = self.fields.get(name)
        return None if found is None else self._integer(name, found)

    def bounds(self) -> dict[str, int]:
        return {name: self._integer(f"bounds.{name}", size) for name, size in self.mapping("bounds").items()}

    def flags(self) -> dict[str, bool | str]:
        found = self.mapping("flags")
        for name, setting in found.items():
            if not isinstance(setting, bool | str):
                raise self.refusal(f"`flags.{visible(name, 60)}` must be true, false or a string")
        return found

    def labels(self) -> dict[str, tuple[str, ...]]:
        found = self.mapping("labels")
        for name, labels in found.items():
            if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
                raise self.refusal(f"`labels.{visible(name, 60)}` must be a list of strings")
        return {name: tuple(labels) for name, labels in found.items()}

    def _integer(self, name: str, value: Any) -> int:
        digits = value.get("#bigint") if isinstance(value, dict) else value
        if isinstance(digits, int) and not isinstance(digits, bool):
            return digits
        if isinstance(digits, str) and re.fullmatch(r"-?[0-9]{1,20}", digits):
            return int(digits)
        raise self.refusal(f'`{visible(name, 60)}` must be an integer, such as {{"#bigint": "3"}}')


def _vector(meta: _Fields, number: int, text: str) -> Vector:
    if not re.fullmatch(r"-?[0-9]{1,18}( -?[0-9]{1,18})*|", text):
        raise meta.refusal(f"vector {number} is not a list of small numbers")
    return tuple(map(int, text.split()))


def _reference(meta: _Fields) -> str:
    """Return the scenario's reference; a reference into the standard library is refused."""
    reference = meta.text("scenario")
    module = reference.partition(":")[0].partition(".")[0] if ":" in reference else ""
    if not REFERENCE.fullmatch(reference) or module in sys.stdlib_module_names:
        raise meta.refusal(f"{visible(reference, 60)!r} cannot be the name of a scenario")
    return reference
