"""Checkpoints of an exhaustive search: saved now and then, and when it ends early, and gone on from after any end.

Words: a checkpoint is *taken* between batches and rounds, when what is stored and what is counted fit together. It has
the keys and parts of the states, the marks, the cursor and all counts (and, of a reduced search, which goals are still
sought, and the sleep sets of two depths); tables are filled again. A search that goes on may have another number of
workers and other budgets; it ends with the counts and traces of one that was never stopped.
"""
from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from model.language import UsageError
from search.checkpoint.files import CheckpointFolder
from search.checkpoint.identity import differences, identity
from search.loops.frontier import NEXT, SIZE, STRIDE

if TYPE_CHECKING:
    from search.exploration import Exploration

EVERY = 1800.0
"""Seconds between two checkpoints, as TLC has it."""


@frozen
class Checkpoint:
    """Where checkpoints go, every how many seconds one is taken, and whether the search goes on from the one there."""

    folder: Path
    every: float = EVERY
    resume: bool = False


def agree(wish: Checkpoint, saved: dict[str, Any] | None, asked: dict[str, Any], stored: int | None) -> None:
    """UsageError if what was not meant is asked: to begin where something is, to go on from nothing or something else.

    `saved` is the identity of what is there, with so many states stored; None if nothing is.
    """
    place = repr(str(wish.folder))
    if saved is None:
        if wish.resume:
            raise UsageError(f"There is no checkpoint in {place} to go on from. Leave out --resume to begin.")
        return
    if not wish.resume:
        raise UsageError(
            f"There is a checkpoint in {place} already, of {saved.get('scenario')} with "
            f"{stored:,} states. Go on from it with --resume, or name another folder."
        )
    told = differences(saved, asked)
    if told:
        raise UsageError(f"The checkpoint in {place} is of another search: {'; '.join(told)}. Ask for the same.")


class Saving:
    """The checkpoints of one exploration. UsageError if the folder, or the checkpoint in it, is no use."""

    def __init__(self, exploration: Exploration, wish: Checkpoint) -> None:
        self.exploration, self.wish = exploration, wish
        self.folder = CheckpointFolder(wish.folder)
        try:
            self.found = self.folder.manifest()
            self.identity = identity(exploration.model, exploration.kernel, exploration.wish)
            if exploration.reduction is not None:
                self.identity["relations"] = exploration.reduction.plan.digest
            self._agree()
        except BaseException:
            self.folder.close()
            raise
        self.saved = 0 if self.found is None else int(self.found["cursor"][SIZE])
        self.trouble = ""
        self.before = 0.0
        self.due = time.monotonic() + wish.every

    def _agree(self) -> None:
        """Refuse what was not meant: to begin where something is, to go on where nothing is or something else."""
        stored = None if self.found is None else int(self.found["cursor"][SIZE])
        saved = None if self.found is None else self.found["identity"]
        agree(self.wish, saved, self.identity, stored)

    def restore(self) -> int:
        """Bring the exploration to where the checkpoint was taken; the number of its initial states."""
        assert self.found is not None
        exploration, found = self.exploration, self.found
        exploration.cursor[:] = found["cursor"]
        try:
            exploration.states.resume(exploration.stored, found["parts"], self.folder.read)
            self.folder.read("marks", self._marks())
            if exploration.reduction is not None:
                exploration.reduction.open[:] = found["goals"]
                exploration.reduction.sleep_sets.resume(found["sleep sets"], self.folder.read_changing)
        except BaseException:
            self.folder.close()
            raise
        exploration.counts.restore(found["counts"])
        self.before = float(found["seconds"])
        return int(found["initial"])

    def _marks(self) -> np.ndarray:
        """The bytes of the marks that are set."""
        blocks = -(-int(self.exploration.cursor[NEXT]) // STRIDE)
        return self.exploration.counts.marks[:blocks].view(np.uint8)

    def take_if_due(self) -> None:
        """Take a checkpoint if it is time to."""
        if time.monotonic() >= self.due:
            self.take()
            self.due = time.monotonic() + self.wish.every

    def take(self) -> None:
        """Take a checkpoint; if the disk does not, the one before stays, and the search goes on."""
        exploration = self.exploration
        cursor, counts = exploration.counted()
        content: dict[str, Any] = {
            "identity": self.identity, "cursor": cursor.tolist(), "counts": counts,
            "initial": exploration.initial, "seconds": self.before + exploration.seconds,
            "parts": exploration.states.parts,
        }  # fmt: skip
        changing: dict[str, np.ndarray] = {}
        if exploration.reduction is not None:
            content["goals"] = exploration.reduction.open.tolist()
            changing, content["sleep sets"] = exploration.reduction.sleep_sets.kept()
        try:
            data = {**exploration.states.kept(exploration.stored), "marks": self._marks()}
            self.folder.save(data, content, changing)
        except OSError as error:
            self.trouble = (error.strerror or str(error)).lower()
        else:
            self.saved, self.trouble = exploration.stored, ""

    def end(self, *, keep: bool) -> None:
        """Let others use the folder; remove the checkpoint if it is not to be kept."""
        if not keep:
            self.folder.discard()
        self.folder.close()

    def notes(self, command: str, *, over: bool) -> Iterator[str]:
        """What people should know of it; `command` is what began the search, which may be `over`."""
        place = str(self.wish.folder)
        if self.found is not None:
            yield f"Resumed from the checkpoint in {place}, which had {int(self.found['cursor'][SIZE]):,} states."
        if over:
            return
        if self.trouble and not self.saved:
            yield f"No checkpoint could be written to {place} ({self.trouble})."
        elif self.trouble:
            yield f"The last checkpoint could not be written ({self.trouble}); the one before, in {place}, is whole."
        if self.saved:
            again = shlex.join(["--checkpoint", place, "--resume"])
            yield f"Checkpoint saved: {place}, with {self.saved:,} states; go on with: {command or '…'} {again}"


__all__ = ["EVERY", "Checkpoint", "Saving", "agree"]
