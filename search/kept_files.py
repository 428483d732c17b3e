"""The cache: files that are there whole or not at all, and that whoever misses one makes again.

It is in `$XDG_CACHE_HOME/kwalk` (by default `~/.cache/kwalk`), with a folder for each kind of file, and can be deleted
at any time.
"""
from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def place(folder: str, name: str) -> Path:
    """Where a file of that name is kept; for a user without a home, a path that can be neither read nor written."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    try:
        return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "kwalk" / folder / name
    except RuntimeError:
        return Path(os.devnull, name)


def keep(path: Path, content: bytes) -> None:
    """Write a file and its folder, in the place of an older one; if that cannot be, it is no error."""
    with suppress(OSError):
        _write(path, content)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, aside = tempfile.mkstemp(dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
        os.replace(aside, path)
    except OSError:
        os.unlink(aside)
        raise
