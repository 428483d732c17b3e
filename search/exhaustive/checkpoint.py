"""Checkpoints of an exhaustive search: saved at intervals and when it stops early, and resumed from.

Words: a checkpoint is *taken* between batches and rounds, when states and counts are consistent. It has the keys and
parts of the states, the marks, the cursor and all counts (and, of a reduced search, the open goals and the sleep sets
of two depths); tables are filled again. A resumed search may have another number of workers and other budgets; its
counts and traces are those of an uninterrupted search.

Most data only grows, and the *manifest* states how much of it counts. It is written under a temporary name and renamed
when the data is on the disk: whenever the process is killed, the folder has the last checkpoint or the one before,
intact. An *extent* is the number of bytes of a file that count, with their CRC-32. *Changing* data has two files,
written in turn. The *identity* of a checkpoint is everything that the counts of a search depend on.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shlex
import time
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from kwalk.model.language import Model, UsageError
from kwalk.search.base.atomic_files import replacing
from kwalk.search.base.options import CheckpointOptions
from kwalk.search.exhaustive.layout import Cursor
from kwalk.search.kernel.interface import Kernel
from kwalk.search.visited.key_store import STRIDE

if TYPE_CHECKING:
    from kwalk.search.exhaustive.explorer import Explorer

MANIFEST = "manifest.json"
BLOCK = 1 << 24
"""Bytes that are written or read at a time."""

Extent = tuple[int, int]


class CheckpointFolder:
    """A folder with at most one checkpoint. UsageError if it cannot be used, or if its checkpoint is damaged."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.extents: dict[str, Extent] = {}
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise UsageError(
                f"Checkpoints cannot be written to {str(path)!r}: {(error.strerror or str(error)).lower()}. "
                "Name another folder with --checkpoint."
            ) from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._lock)
            raise UsageError(
                f"Another search writes its checkpoints to {str(path)!r}. Wait for its end, or name another folder."
            ) from error

    def manifest(self) -> dict[str, Any] | None:
        """Return the content of the manifest; None if there is none. UsageError if it is damaged."""
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
            f"The checkpoint in {str(self.path)!r} is damaged: {name} {what}. The search cannot be resumed from it; "
            "start again in another folder, or remove these files."
        )

    def read_changing(self, name: str, target: np.ndarray) -> None:
        """Read changing data."""
        self.read(_other(self._next_name(name)), target)

    def _next_name(self, name: str) -> str:
        """Return the name of the file for changing data that does not count now."""
        return _other(f"{name}.0") if f"{name}.0" in self.extents else f"{name}.0"

    def read(self, name: str, target: np.ndarray) -> None:
        """Read the bytes of a file that count into `target`, which has just that length."""
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
        """Take a checkpoint. The bytes of `data` start with those that were saved before; `changing` data is replaced.

        At an OSError the previous checkpoint stays.
        """
        files = {**data, **{self._next_name(name): array for name, array in (changing or {}).items()}}
        extents = {name: self._append(name, array) for name, array in files.items()}
        content = {**content, "extents": extents}
        with replacing(self.path / MANIFEST) as file:
            file.write(json.dumps({"digest": _digest(content), "content": content}).encode())
        self.extents = extents

    def _append(self, name: str, data: np.ndarray) -> Extent:
        """Write the new bytes of a file; return its extent."""
        done, crc = self.extents.get(name, (0, 0))
        with open(self.path / name, "r+b" if (self.path / name).exists() else "w+b", buffering=0) as file:
            try:
                file.seek(done)
                for first in range(done, len(data), BLOCK):
                    block = data[first : first + BLOCK].data
                    crc = zlib.crc32(block, crc)
                    _write_all(file, block)
                file.truncate(len(data))
                os.fsync(file.fileno())
            except OSError:
                with suppress(OSError):
                    file.truncate(done)
                raise
        return len(data), crc

    def discard(self) -> None:
        """Remove the checkpoint, and the folder if it is empty then."""
        with suppress(OSError):
            for name in (MANIFEST, f".{MANIFEST}.partial", *self.extents, *map(_other, self.extents), "lock"):
                (self.path / name).unlink(missing_ok=True)
            self.path.rmdir()

    def close(self) -> None:
        """Release the folder for other searches."""
        with suppress(OSError):
            os.close(self._lock)


def _write_all(file: Any, block: memoryview) -> None:
    while len(block):
        block = block[file.write(block) :]


def _other(name: str) -> str:
    """Return the other file of changing data."""
    return f"{name[:-1]}{1 - int(name[-1])}" if name.endswith((".0", ".1")) else name


def _digest(content: dict[str, Any]) -> str:
    return hashlib.blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=16).hexdigest()


FORMAT = 8
"""To be raised when the layout of files, the identity, or the numbering or counting of states changes."""
CHANGEABLE = ("seconds", "memory", "workers", "report", "checkpoint", "symmetry", "command")
"""The options that may differ in a resumed search: no count depends on them (a search with symmetry saves nothing)."""


def identity(model: Model, kernel: Kernel, options: Any) -> dict[str, Any]:
    """Return what must be the same in a resumed search, by names for people, as JSON values."""
    from kwalk.search.kernel.model_digest import cache_key  # only a search with checkpoints needs it

    compared = {
        f.name.replace("_", "-"): str(getattr(options, f.name))
        for f in attrs.fields(type(options))
        if f.name not in CHANGEABLE and f.name != "properties"
    }
    return {
        "format": FORMAT,
        "scenario": model.scenario.name,
        "variant": model.variant,
        "bounds": {name: int(value) for name, value in model.binding.bounds.items()},
        "flags": {name: str(value) for name, value in model.binding.flags.items()},
        "properties": [prop.key for prop in options.properties],
        **compared,
        "initial states": hashlib.blake2b(repr(model.initial).encode(), digest_size=16).hexdigest(),
        "packing": [kernel.words, kernel.offsets.tolist(), kernel.widths.tolist(), kernel.lows.tolist()],
        "sources": cache_key(model),
    }


UNPRINTABLE = {
    "initial states": "its initial states differ",
    "packing": "its packing of states differs",
    "components": "one of the two searches is of single states, or their components differ",
    "relations": "the dependencies of its actions differ",
    "sources": "the model, a value that it reads, or the modelling language has changed",
}
"""Texts for differences whose values mean nothing to people."""


def differences(saved: dict[str, Any], current: dict[str, Any]) -> list[str]:
    """Return the differences as texts; the sources only if nothing else differs."""
    texts: list[str] = []
    for name in dict.fromkeys([*current, *saved]):
        before, now = saved.get(name), current.get(name)
        if before == now or (name in UNPRINTABLE and texts):
            continue
        texts += [UNPRINTABLE[name]] if name in UNPRINTABLE else _difference(name, before, now)
    return texts


def _difference(name: str, before: Any, now: Any) -> list[str]:
    if isinstance(before, dict) and isinstance(now, dict):
        keys = [key for key in dict.fromkeys([*now, *before]) if before.get(key) != now.get(key)]
        return [f"{name}: {key} was {before.get(key)}, and is {now.get(key)}" for key in keys]
    if isinstance(before, list) and isinstance(now, list):
        before, now = (", ".join(map(str, names)) or "none" for names in (before, now))
    return [f"{name} was {before}, and is {now}"]


def check_compatible(
    options: CheckpointOptions, saved: dict[str, Any] | None, current: dict[str, Any], stored: str
) -> None:
    """Raise a UsageError unless the search resumes from a checkpoint of the same search, or starts without one.

    `saved` is the identity of the checkpoint, None if there is none; `stored` says how many states it has.
    """
    place = repr(str(options.folder))
    if saved is None:
        if options.resume:
            raise UsageError(f"There is no checkpoint in {place} to resume from. Leave out --resume to start a search.")
        return
    if not options.resume:
        raise UsageError(
            f"There is already a checkpoint in {place}, of {saved.get('scenario')} with "
            f"{stored}. Resume it with --resume, or name another folder."
        )
    if saved.get("format") != FORMAT:
        age = "an older" if saved.get("format", 0) < FORMAT else "a newer"
        raise UsageError(
            f"The checkpoint in {place} is of {age} kwalk (format {saved.get('format')}, not {FORMAT}). Resume it with "
            "that version, or start again in another folder."
        )
    different = differences(saved, current)
    if different:
        raise UsageError(
            f"The checkpoint in {place} is of another search: {'; '.join(different)}. Use the same model and options."
        )


def resumed_note(place: str, stored: str) -> str:
    """Return the note on the checkpoint that a search resumed from."""
    return f"Resumed from the checkpoint in {place}, which had {stored}."


def saved_note(place: str, stored: str, command: str) -> str:
    """Return the note on a saved checkpoint; `command` started the search."""
    again = shlex.join(["--checkpoint", place, "--resume"])
    return f"Checkpoint saved: {place}, with {stored}; resume with: {command or '…'} {again}"


class CheckpointWriter(ABC):
    """Takes the checkpoints of a search. UsageError if the folder, or its checkpoint, cannot be used."""

    unit = "states"
    """What is stored."""

    def __init__(self, options: CheckpointOptions, compared: dict[str, Any]) -> None:
        """Open the folder; `compared` is the identity of the search."""
        self.options, self.identity = options, compared
        self.folder = CheckpointFolder(options.folder)
        try:
            self.manifest = self.folder.manifest()
            self.saved = 0 if self.manifest is None else self.size_in(self.manifest)
            saved = None if self.manifest is None else self.manifest["identity"]
            check_compatible(options, saved, compared, self._stored(self.saved))
        except BaseException:
            self.folder.close()
            raise
        self.trouble = ""
        self.before = 0.0 if self.manifest is None else float(self.manifest["seconds"])
        """Seconds that the search took before it was resumed."""
        self.due = time.monotonic() + options.every

    @staticmethod
    def size_in(manifest: dict[str, Any]) -> int:
        """Return how much a checkpoint has stored."""
        return int(manifest.get("stored", 0))

    @abstractmethod
    def write(self) -> int:
        """Save a checkpoint; return how much it has stored.

        Raises:
            OSError: It cannot be written.
        """

    def take_if_due(self) -> None:
        """Take a checkpoint if the interval is over."""
        if time.monotonic() >= self.due:
            self.take()
            self.due = time.monotonic() + self.options.every

    def take(self) -> None:
        """Take a checkpoint; if it cannot be written, the previous one stays and the search continues."""
        try:
            self.saved, self.trouble = self.write(), ""
        except OSError as error:
            self.trouble = (error.strerror or str(error)).lower()

    def end(self, *, keep: bool) -> None:
        """Release the folder; remove the checkpoint unless `keep`."""
        if not keep:
            self.folder.discard()
        self.folder.close()

    def notes(self, command: str, *, over: bool) -> Iterator[str]:
        """Yield notes on the checkpoint; `command` started the search, which may be `over`."""
        place = str(self.options.folder)
        if self.manifest is not None:
            yield resumed_note(place, self._stored(self.size_in(self.manifest)))
        if over:
            return
        if self.trouble and not self.saved:
            yield f"No checkpoint could be written to {place} ({self.trouble})."
        elif self.trouble:
            yield f"The last checkpoint could not be written ({self.trouble}); the previous one, in {place}, is intact."
        if self.saved:
            yield saved_note(place, self._stored(self.saved), command)

    def _stored(self, size: int) -> str:
        return f"{size:,} {self.unit}"


class StateCheckpoints(CheckpointWriter):
    """The checkpoints of a search of single states."""

    def __init__(self, exploration: Explorer, options: CheckpointOptions) -> None:
        self.exploration = exploration
        compared = identity(exploration.model, exploration.kernel, exploration.options)
        if exploration.reduction is not None:
            compared["relations"] = exploration.reduction.plan.digest
        super().__init__(options, compared)

    def restore(self) -> int:
        """Restore the search from the checkpoint; return the number of its initial states."""
        assert self.manifest is not None
        exploration, manifest = self.exploration, self.manifest
        exploration.cursor[:] = manifest["cursor"]
        try:
            exploration.states.resume(exploration.stored, manifest["parts"], manifest["root bits"], self.folder.read)
            self.folder.read("marks", self._marks())
            if exploration.reduction is not None:
                exploration.reduction.open[:] = manifest["goals"]
                exploration.reduction.sleep_sets.resume(manifest["sleep sets"], self.folder.read_changing)
        except BaseException:
            self.folder.close()
            raise
        exploration.counts.restore(manifest["counts"])
        exploration.level_ends[:] = manifest["level ends"]
        return int(manifest["initial"])

    def _marks(self) -> np.ndarray:
        """Return the bytes of the marks that are set."""
        blocks = -(-int(self.exploration.cursor[Cursor.NEXT]) // STRIDE)
        return self.exploration.counts.marks[:blocks].view(np.uint8)

    def write(self) -> int:
        """Save a checkpoint; return the number of its states."""
        exploration = self.exploration
        cursor, counts = exploration.snapshot()
        content: dict[str, Any] = {
            "identity": self.identity,
            "stored": exploration.stored,
            "cursor": cursor.tolist(),
            "counts": counts,
            "initial": exploration.initial,
            "seconds": self.before + exploration.seconds,
            "parts": exploration.states.parts,
            "root bits": exploration.states.root_bits,
            "level ends": exploration.level_ends,
        }
        changing: dict[str, np.ndarray] = {}
        if exploration.reduction is not None:
            content["goals"] = exploration.reduction.open.tolist()
            changing, content["sleep sets"] = exploration.reduction.sleep_sets.saved()
        data = {**exploration.states.stored_bytes(exploration.stored), "marks": self._marks()}
        self.folder.save(data, content, changing)
        return exploration.stored
