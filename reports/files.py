"""Output files of a command: complete files or none.

A file gets its name after all of its content is on the disk; files that belong together appear together. A folder that
a command created and wrote nothing to is removed again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile

from attrs import field, frozen

from kwalk.model.language import UsageError
from kwalk.reports.escaping import visible
from kwalk.search.base.atomic_files import replacing


class CannotWrite(UsageError):
    """A file or folder cannot be written: no permission, no space, or a file is in the way."""


@frozen
class OutFolder:
    """A writable folder for results; `new_folders` are the folders that were created for it."""

    path: Path
    new_folders: tuple[Path, ...] = field(default=(), repr=False)

    def write(self, texts: Mapping[str, str]) -> dict[str, Path]:
        """Write files that belong together, by name: all of them, or none and CannotWrite."""
        with _refusal(self.path), ExitStack() as files:
            self.path.mkdir(parents=True, exist_ok=True)
            for name, text in texts.items():
                file = files.enter_context(replacing(self.path / name, durable=False, shared=True))
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
        return {name: self.path / name for name in texts}

    def tidy(self) -> None:
        """Remove the folders that were created if they are empty."""
        for folder in reversed(self.new_folders):
            with suppress(OSError):
                folder.rmdir()


@contextmanager
def out_folder(name: str | Path) -> Iterator[OutFolder]:
    """Yield the folder of that name, created if necessary; CannotWrite at once if no file can be written to it."""
    path = Path(name)
    with _refusal(path):
        folder = OutFolder(path, tuple(_make(path)))
    try:
        with _refusal(path), TemporaryFile(dir=path) as probe:
            os.fsync(probe.fileno())
        yield folder
    finally:
        folder.tidy()


def _make(path: Path) -> Iterator[Path]:
    """Create a folder and its parents; yield those that were missing, outermost first."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir()
        yield folder
    if not path.is_dir():
        raise NotADirectoryError(20, "it is not a folder")


@contextmanager
def _refusal(path: Path) -> Iterator[None]:
    """Turn an error of the file system into CannotWrite."""
    try:
        yield
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise CannotWrite(
            f"Cannot write to {visible(str(path))!r}: {why}. No partial file was left; name another folder with --out."
        ) from error
