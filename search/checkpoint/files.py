"""The files of a checkpoint: data that only ever grows, and a manifest that says how much of it counts.

Words: the *manifest* is written aside and renamed when all data that it speaks of is on the disk. Whatever is killed at
whatever moment, the folder holds the last checkpoint or the one before, whole. An *extent* is how many bytes of a file
count, with their CRC-32; bytes behind it are of a checkpoint that did not come about. Data that is *changing* has two
files, of which the one that does not count is written next.
"""
from __future__ import annotations

import fcntl
import hashlib
import json
import os
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from model.language import UsageError

MANIFEST = "manifest.json"
BLOCK = 1 << 24
"""Bytes that are written or read at a time."""

Extent = tuple[int, int]


class CheckpointFolder:
    """A folder with at most one checkpoint. UsageError if it cannot be used, or if what is in it is not whole."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.extents: dict[str, Extent] = {}
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise UsageError(
                f"Checkpoints cannot be kept in {str(path)!r}: {(error.strerror or str(error)).lower()}. "
                "Name another folder with --checkpoint."
            ) from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._lock)
            raise UsageError(
                f"Another search keeps its checkpoints in {str(path)!r}. Wait for its end, or name another folder."
            ) from error

    def manifest(self) -> dict[str, Any] | None:
        """What the manifest says, None if there is none. UsageError if it is damaged."""
        try:
            text = (self.path / MANIFEST).read_text(encoding="utf-8")
            both = json.loads(text)
            content: dict[str, Any] = both["content"]
            whole = both["digest"] == _digest(content)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise self._damaged(MANIFEST, "cannot be read") from error
        if not whole:
            raise self._damaged(MANIFEST, "was changed")
        self.extents = {name: (int(length), int(crc)) for name, (length, crc) in content["extents"].items()}
        return content

    def _damaged(self, name: str, what: str) -> UsageError:
        return UsageError(
            f"The checkpoint in {str(self.path)!r} is damaged: {name} {what}. It cannot be gone on from; "
            "begin anew, with another folder or without these files."
        )

    def read_changing(self, name: str, target: np.ndarray) -> None:
        """Read what was saved as changing data."""
        self.read(_other(self._next_name(name)), target)

    def _next_name(self, name: str) -> str:
        """The file for changing data that does not count now."""
        return _other(f"{name}.0") if f"{name}.0" in self.extents else f"{name}.0"

    def read(self, name: str, target: np.ndarray) -> None:
        """Read what counts of a file into bytes of just that length."""
        length, crc = self.extents.get(name, (0, 0))
        if length != len(target):
            raise self._damaged(name, f"should have {len(target):,} bytes, and {length:,} were saved")
        found = done = 0
        try:
            with open(self.path / name, "rb", buffering=0) as file:
                while done < length:
                    block = target[done : done + BLOCK].data
                    count = file.readinto(block) or 0
                    if count == 0:
                        raise self._damaged(name, f"ends after {done:,} of {length:,} bytes")
                    found, done = zlib.crc32(block[:count], found), done + count
        except OSError as error:
            raise self._damaged(name, f"cannot be read ({(error.strerror or str(error)).lower()})") from error
        if found != crc:
            raise self._damaged(name, "has other bytes than were saved")

    def save(
        self, data: dict[str, np.ndarray], content: dict[str, Any], changing: dict[str, np.ndarray] | None = None
    ) -> None:
        """Make a checkpoint of bytes by name, which begin with what was saved before; but for `changing` ones.

        At an OSError the checkpoint from before stays.
        """
        files = {**data, **{self._next_name(name): array for name, array in (changing or {}).items()}}
        extents = {name: self._append(name, array) for name, array in files.items()}
        content = {**content, "extents": extents}
        aside = self.path / f"{MANIFEST}.partial"
        with open(aside, "w", encoding="utf-8") as file:
            json.dump({"digest": _digest(content), "content": content}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, self.path / MANIFEST)
        self._settle()
        self.extents = extents

    def _append(self, name: str, data: np.ndarray) -> Extent:
        """Write the bytes that are new; the extent with them."""
        kept, crc = self.extents.get(name, (0, 0))
        with open(self.path / name, "r+b" if (self.path / name).exists() else "w+b", buffering=0) as file:
            try:
                file.seek(kept)
                for first in range(kept, len(data), BLOCK):
                    block = data[first : first + BLOCK].data
                    crc = zlib.crc32(block, crc)
                    _write_all(file, block)
                file.truncate(len(data))
                os.fsync(file.fileno())
            except OSError:
                with suppress(OSError):
                    file.truncate(kept)
                raise
        return len(data), crc

    def _settle(self) -> None:
        """Let the renaming be on the disk."""
        folder = os.open(self.path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def discard(self) -> None:
        """Remove the checkpoint, and the folder if nothing else is in it."""
        with suppress(OSError):
            for name in (MANIFEST, f"{MANIFEST}.partial", *self.extents, *map(_other, self.extents), "lock"):
                (self.path / name).unlink(missing_ok=True)
            self.path.rmdir()

    def close(self) -> None:
        """Let others use the folder."""
        with suppress(OSError):
            os.close(self._lock)


def _write_all(file: Any, block: memoryview) -> None:
    while len(block):
        block = block[file.write(block) :]


def _other(name: str) -> str:
    """The other file of changing data."""
    return f"{name[:-1]}{1 - int(name[-1])}" if name.endswith((".0", ".1")) else name


def _digest(content: dict[str, Any]) -> str:
    return hashlib.blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=16).hexdigest()
