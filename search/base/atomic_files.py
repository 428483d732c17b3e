"""Atomic writes: a file appears under its name when all of it is written, or not at all.

Words: a file is written under a *temporary name* in the same folder, which begins with a dot, and then renamed. A
*durable* write is on the disk when it returns (fsync of the file and of its folder).
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from kwalk.model.language import UsageError


class CannotSave(UsageError):
    """A file of a run cannot be written (no space, no permission). Files that were written before are intact."""


@contextmanager
def replacing(path: Path, *, durable: bool = True, shared: bool = False) -> Iterator[IO[bytes]]:
    """Open a temporary file for writing that replaces `path` at the end of the block.

    Args:
        path: The file to replace; its folder must exist.
        durable: Whether the file and its new name are on the disk at the end of the block.
        shared: Whether several processes may write `path` at once; each then has a temporary name of its own.

    Raises:
        OSError: The file cannot be written; an older one stays as it was.
    """
    aside = path.with_name(f".{uuid.uuid4().hex}.partial" if shared else f".{path.name}.partial")
    try:
        with open(aside, "wb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(aside, path)
        if durable:
            sync_folder(path.parent)
    except BaseException:
        with suppress(OSError):
            aside.unlink()
        raise


def sync_folder(folder: Path) -> None:
    """Write the names of a folder's files to the disk (fsync)."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def save(path: Path, content: bytes) -> None:
    """Write a file of a run durably, and create its folder.

    Raises:
        CannotSave: The file cannot be written; an older one stays as it was.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            file.write(content)
    except OSError as error:
        raise cannot_save(path, error) from error


def cannot_save(path: Path, error: OSError) -> CannotSave:
    """Return the error for a file of a run that cannot be written."""
    why = (error.strerror or str(error)).lower()
    return CannotSave(
        f"Cannot write {str(path)!r}: {why}. Everything that was written before is intact: remove the cause, then "
        "resume the run."
    )
