"""The store of runs: journals, from which nights, audits and mutations continue after a kill.

A *record* is an attrs object. A journal has a line of JSON for each, with a digest of the line and of the format; it is
on the disk before the run goes on. A line that is not whole, as after a kill, was changed, or is of another format does
not count. The reader decides what else does not count then: an outcome of an audit stands alone, a round of walks
builds on the rounds before it.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from enum import Enum
from functools import cache
from hashlib import blake2b
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

import attrs

from kwalk.model.language.errors import UsageError
from kwalk.search.base.atomic_files import cannot_save, sync_folder

Record = TypeVar("Record")


@attrs.frozen
class Journal(Generic[Record]):
    """A file of records of one class; `format` names the class and its version."""

    path: Path
    kind: type[Record]
    format: str

    def append(self, record: Record) -> None:
        """Write a record durably, and create the file and its folder.

        Raises:
            CannotSave: The file cannot be written. The records before are intact.
        """
        text = json.dumps(encoded(record))[:-1]
        line = f'{text}, "digest": "{self._digest(text.encode())}"}}\n'.encode()
        try:
            is_new = not self.path.exists()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, "ab") as file:
                file.write(line if _ends_whole(self.path) else b"\n" + line)
                file.flush()
                os.fsync(file.fileno())
            if is_new:
                sync_folder(self.path.parent)
        except OSError as error:
            raise cannot_save(self.path, error) from error

    def read(self) -> Iterator[Record | str]:
        """Yield the record of each line, or why it does not count; nothing if there is no file.

        Raises:
            UsageError: The file cannot be read.
        """
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise UsageError(f"Cannot read {str(self.path)!r}: {why}. Name another folder with --out.") from error
        *lines, torn = content.split(b"\n")
        for number, line in enumerate([*lines, torn] if torn else lines, start=1):
            record = self._record(line)
            place = f"line {number} of {self.path.parent.name}/{self.path.name}"
            yield f"{place} is damaged, or of another version" if record is None else record

    def _record(self, line: bytes) -> Record | None:
        text, _, end = line.rpartition(b', "digest": "')
        if end != f'{self._digest(text)}"}}'.encode():
            return None
        try:
            record: Record = decoded(self.kind, json.loads(text + b"}"))
        except (LookupError, TypeError, ValueError):  # the class has other fields now
            return None
        return record

    def cut(self, lines: int) -> None:
        """Remove all lines but the first ones."""
        if self.path.exists():
            kept = self.path.read_bytes().split(b"\n")[:lines]
            os.truncate(self.path, min(self.path.stat().st_size, sum(len(line) + 1 for line in kept)))

    def _digest(self, text: bytes) -> str:
        return blake2b(text, digest_size=8, key=self.format.encode()).hexdigest()


def _ends_whole(path: Path) -> bool:
    """Return whether a file ends with a whole line, or is empty."""
    with open(path, "rb") as file:
        if not file.seek(0, os.SEEK_END):
            return True
        file.seek(-1, os.SEEK_END)
        return file.read() == b"\n"


def encoded(value: Any) -> Any:
    """Return a value as JSON has it: enums by value, records by their fields, vectors as texts of numbers."""
    if isinstance(value, Enum):
        return value.value
    if attrs.has(type(value)):
        return {field.name: encoded(getattr(value, field.name)) for field in attrs.fields(type(value))}
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, tuple) and value and all(type(each) is int for each in value):
        return " ".join(map(str, value))
    if isinstance(value, frozenset):
        return sorted(map(encoded, value))
    if isinstance(value, dict):
        return {key: encoded(each) for key, each in value.items()}
    return [encoded(each) for each in value] if isinstance(value, tuple) else value


def decoded(kind: Any, value: Any) -> Any:
    """Return the value of the declared type `kind` that `encoded` wrote."""
    origin, args = get_origin(kind), get_args(kind)
    if value is None:
        return None
    if origin is UnionType:
        others = [each for each in args if each is not NoneType]
        return decoded(next((each for each in others if each is type(value)), others[0]), value)
    if origin is tuple and args[0] is int:
        return tuple(map(int, value.split())) if value else ()
    if origin in (tuple, frozenset):
        return origin(decoded(args[0], each) for each in value)
    if origin is not None:
        return {key: decoded(args[1], each) for key, each in value.items()}
    if attrs.has(kind):
        hints = _hints(kind)
        return kind(**{key: decoded(hints[key], each) for key, each in value.items()})
    if kind is bytes:
        return base64.b64decode(value)
    return kind(value) if isinstance(kind, type) and issubclass(kind, Enum) else value


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
