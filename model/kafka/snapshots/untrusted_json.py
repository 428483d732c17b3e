"""Reading JSON that may be hostile: bounded in size and depth, with one clear error for each wrong piece.

Words: a *node* is one value of a JSON document together with the path that leads to it. *Printable* text is safe for a
terminal or a page: no control characters, no line breaks, not long.
"""

from __future__ import annotations

import json
import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from attrs import frozen

from kwalk.model.language import UsageError

MIB = 1 << 20
SIZE_LIMIT = 64 * MIB
"""The largest capture that is read, in bytes; a cluster of a thousand brokers and topics takes a tenth of it."""
DEPTH_LIMIT = 64
"""How deeply arrays and objects may be nested; a snapshot needs eight levels."""
INT_LIMIT = 2**63 - 1
"""Kafka and ZooKeeper store no larger number."""

TAKE_AGAIN = "Take the snapshot again, or correct the file."
TAKE_ONE = "Allowed: what `kwalk collect` takes (docs/reference/snapshots.md)."


def printable(text: object, limit: int = 60) -> str:
    """The text with everything that is not printable written as an escape, cut to about `limit` characters."""
    raw = text if isinstance(text, str) else repr(text)
    if len(raw) <= limit and raw.isprintable():
        return raw
    shown = "".join(c if c.isprintable() else _escape(c) for c in raw[: limit + 1])
    return shown if len(shown) <= limit else f"{shown[:limit]}…"


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


@frozen
class JsonNode:
    """One value of the document and where it stands: `name` is its field of the parent, or its place in an array."""

    value: Any
    parent: JsonNode | None = None
    name: str | int = ""

    @property
    def path(self) -> str:
        """The path that leads to it; made when it is asked for, as a large capture has a million nodes."""
        above = "" if self.parent is None else self.parent.path
        if isinstance(self.name, int):
            return f"{above}[{self.name}]"
        own = printable(self.name, 40)
        return f"{above}.{own}" if above else own

    def wrong(self, what: str, allowed: str) -> UsageError:
        """Return the error about this node: where, what, the value, what is allowed, what to do."""
        where = self.path or "the snapshot"
        return UsageError(f"{where} {what} (got {_shown(self.value)}). Allowed: {allowed}. {TAKE_AGAIN}")

    @property
    def missing(self) -> bool:
        """Whether the value is null."""
        return self.value is None

    def fields(self) -> Iterator[tuple[str, JsonNode]]:
        """The fields of an object with their names."""
        for name in self._object():
            yield name, self._child(name)

    def field(self, name: str) -> JsonNode:
        """A field that must be there, though it may be null."""
        if name not in self._object():
            if self.parent is None:
                raise UsageError(f"The snapshot lacks the field {name!r}{_other_kind(self.value)}. {TAKE_ONE}")
            raise self.wrong(f"lacks the field {name!r}", "an object that has it (docs/reference/snapshots.md)")
        return self._child(name)

    def maybe(self, name: str) -> JsonNode:
        """A field, or null where it is absent."""
        return self._child(name) if name in self._object() else JsonNode(None, self, name)

    def items(self) -> Iterator[JsonNode]:
        """The elements of an array."""
        if not isinstance(self.value, list):
            raise self.wrong("must be an array", "[…]")
        for index, item in enumerate(self.value):
            yield JsonNode(item, self, index)

    def text(self) -> str:
        """A string."""
        if not isinstance(self.value, str):
            raise self.wrong("must be a string", '"…"')
        return self.value

    def flag(self) -> bool:
        """A truth value."""
        if not isinstance(self.value, bool):
            raise self.wrong("must be true or false", "true, false")
        return self.value

    def number(self, least: int = 0, most: int = INT_LIMIT) -> int:
        """An int within limits."""
        if type(self.value) is not int or not least <= self.value <= most:
            raise self.wrong("must be a whole number", f"{least} … {most}")
        return self.value

    def list_of_numbers(self, least: int = 0, most: int = INT_LIMIT) -> tuple[int, ...]:
        """An array of ints within limits, which may repeat."""
        return tuple(item.number(least, most) for item in self.items())

    def numbers(self, least: int = 0, most: int = INT_LIMIT) -> tuple[int, ...]:
        """An array of different ints within limits."""
        found: dict[int, None] = {}
        for item in self.items():
            number = item.number(least, most)
            if number in found:
                raise item.wrong(f"repeats a number of {self.path}", "each number once")
            found[number] = None
        return tuple(found)

    def _object(self) -> dict[str, Any]:
        if not isinstance(self.value, dict):
            raise self.wrong("must be an object", "{…}")
        return self.value

    def _child(self, name: str) -> JsonNode:
        return JsonNode(self.value[name], self, name)


def key_number(key: str, node: JsonNode, what: str) -> int:
    """Return the number in a field's name, such as the broker of "2"; only its usual spelling is accepted."""
    if not (key.isascii() and key.isdigit() and len(key) <= 10 and str(int(key)) == key and int(key) < 2**31):
        raise UsageError(
            f'{node.path} is named like no {what} (got "{printable(key)}"). '
            f'Allowed: a whole number such as "2", 0 … {2**31 - 1}. {TAKE_AGAIN}'
        )
    return int(key)


def load(source: str | os.PathLike[str] | bytes) -> JsonNode:
    """The document in a file, or in bytes that were read already; UsageError for whatever cannot be read."""
    return JsonNode(_parse(source if isinstance(source, bytes) else _read(Path(source))))


def _read(path: Path) -> bytes:
    shown = printable(str(path), 200)
    try:
        # Opening without blocking keeps a named pipe without a writer from blocking the command.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            return _content(descriptor, shown)
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:
        why = printable(getattr(error, "strerror", None) or str(error))
        raise UsageError(f"Cannot read {shown}: {why}. Give the path of a snapshot, a JSON file.") from error


def _content(descriptor: int, place: str) -> bytes:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(f"{place} is not a regular file. Allowed: a snapshot saved as a JSON file. {TAKE_AGAIN}")
    _within_limit(status.st_size)
    with open(descriptor, "rb", closefd=False) as file:
        return file.read(SIZE_LIMIT + 1)


def _within_limit(size: int) -> None:
    if size > SIZE_LIMIT:
        raise UsageError(
            f"The snapshot is too large (got {size / MIB:,.0f} MiB). Allowed: at most {SIZE_LIMIT // MIB} MiB. "
            "Take it again for fewer topics."
        )


def _parse(content: bytes) -> Any:
    _within_limit(len(content))
    try:
        document = json.loads(content.decode("utf-8-sig"), object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        start = _shown(content[:40].decode("latin-1"))
        raise UsageError(
            f"The snapshot is not JSON: {printable(str(error), 120)} (it begins {start}). "
            f"Allowed: one JSON object in UTF-8. {TAKE_AGAIN}"
        ) from error
    if not isinstance(document, dict):
        raise JsonNode(document).wrong("must be an object", "one JSON object that describes a cluster")
    _check_depth(document)
    return document


def _check_depth(document: Any) -> None:
    level = [document]
    for _ in range(DEPTH_LIMIT):
        level = [child for parent in level for child in _children(parent) if isinstance(child, (dict, list))]
        if not level:
            return
    raise _too_deep()


def _children(parent: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return parent.values() if isinstance(parent, dict) else parent


def _too_deep() -> UsageError:
    return UsageError(
        f"The snapshot is nested too deeply (more than {DEPTH_LIMIT} levels). "
        f"Allowed: {DEPTH_LIMIT} levels; a snapshot needs eight. {TAKE_AGAIN}"
    )


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse two values under one name, which would silently become one."""
    made = dict(pairs)
    if len(made) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise UsageError(
            f'The capture has an object with two fields of the same name (got "{printable(twice)}" twice). '
            f"Allowed: each name once in an object. {TAKE_AGAIN}"
        )
    return made


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _other_kind(document: dict[str, Any]) -> str:
    """Return what a document is that is no snapshot, and which command reads it; "" if that is not known."""
    return ", and is a trace, which `kwalk replay` reads" if "#meta" in document else ""


def _shown(value: Any) -> str:
    """A value of the document, short and printable; a large one by its kind and size."""
    if isinstance(value, dict):
        return f"an object of {len(value)} fields"
    if isinstance(value, list):
        return f"an array of {len(value)}"
    return f'"{printable(value)}"' if isinstance(value, str) else printable(json.dumps(value))
