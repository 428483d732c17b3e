"""Writing what a run leaves behind: whole files or none.

A file appears under its name only when all of it is on the disk; several files that belong together appear together.
A folder that a run made, and that nothing was written to, goes away again.
"""
from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from attrs import field, frozen

from model.language import UsageError
from reports.escaping import visible


class CannotWrite(UsageError):
    """A file or folder cannot be written: no permission, no space, something else in the way."""


@frozen
class OutFolder:
    """A folder for results that can be written to; `made` are the folders that did not exist before."""

    path: Path
    made: tuple[Path, ...] = field(default=(), repr=False)

    def write(self, texts: Mapping[str, str]) -> dict[str, Path]:
        """Write files that belong together, by name; all of them or none, and CannotWrite then."""
        partial: dict[Path, Path] = {}
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            for name, text in texts.items():
                partial[self.path / name] = _write_aside(self.path, text)
            for final, aside in partial.items():
                os.replace(aside, final)
        except OSError as error:
            for aside in partial.values():
                with suppress(OSError):
                    aside.unlink()
            raise _refusal(self.path, error) from error
        return {name: self.path / name for name in texts}

    def tidy(self) -> None:
        """Remove the folders that this run made if nothing is in them."""
        for folder in reversed(self.made):
            with suppress(OSError):
                folder.rmdir()


@contextmanager
def out_folder(name: str | Path) -> Iterator[OutFolder]:
    """The folder of that name, made if need be and tried before anything costly runs; CannotWrite if it is no use."""
    path = Path(name)
    try:
        made = tuple(_make(path))
        folder = OutFolder(path, made)
    except OSError as error:
        raise _refusal(path, error) from error
    try:
        try:
            _write_aside(path, "").unlink()
        except OSError as error:
            raise _refusal(path, error) from error
        yield folder
    finally:
        folder.tidy()


def _make(path: Path) -> Iterator[Path]:
    """Make a folder and its parents; yields those that were missing, outermost first."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir()
        yield folder
    if not path.is_dir():
        raise NotADirectoryError(20, "it is not a folder")


def _write_aside(folder: Path, text: str) -> Path:
    """A new file in the folder, under a name of its own, with all of the text on the disk."""
    handle, name = tempfile.mkstemp(prefix=".kwalk-", suffix=".partial", dir=folder)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, 0o644)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
    return Path(name)


def _refusal(path: Path, error: OSError) -> CannotWrite:
    why = (error.strerror or str(error)).lower()
    return CannotWrite(
        f"Cannot write to {visible(str(path))!r}: {why}. Nothing was left half-written; name another folder with --out."
    )
