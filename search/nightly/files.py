"""Writing the files of a run: each appears under its name when all of it is on the disk, or not at all.

Words: a file is written *aside*, under a name that begins with a dot, and then renamed.
"""
from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from model.language import UsageError


class CannotSave(UsageError):
    """The folder of a run takes no more: no space, no permission. What was saved before stays whole."""


def save(path: Path, content: bytes) -> None:
    """Write a file, whole and lastingly; CannotSave if that cannot be, and then an older one stays."""
    aside = path.with_name(f".{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(aside, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
        _settle(path.parent)
    except OSError as error:
        with suppress(OSError):
            aside.unlink()
        raise refusal(path, error) from error


def refusal(path: Path, error: OSError) -> CannotSave:
    """What is said where something cannot be written."""
    why = (error.strerror or str(error)).lower()
    return CannotSave(
        f"Cannot write {str(path)!r}: {why}. What was written before is whole; mend that, then go on: "
        "kwalk nightly --resume RUN."
    )


def _settle(folder: Path) -> None:
    """Let the renaming be on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
