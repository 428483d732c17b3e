"""The folder of a distributed search as its checkpoint: what it is of, who may write to it, and what is told of it."""
from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from model.language import Model
from search.checkpoint import agree
from search.checkpoint.files import CheckpointFolder
from search.checkpoint.identity import identity
from search.distributed.store import Store
from search.exploration import Wish
from search.kernel import Kernel
from search.loops.frontier import SIZE
from search.nightly.files import refusal


class Saving:
    """The folder of one search. UsageError if it, or what is in it, is no use."""

    def __init__(self, store: Store, wish: Wish, model: Model, kernel: Kernel) -> None:
        assert wish.checkpoint is not None
        self.store, self.place = store, str(wish.checkpoint.folder)
        self.folder = CheckpointFolder(wish.checkpoint.folder)
        self.troubles: list[str] = []
        self.found: list[dict[str, Any]] = []
        try:
            manifest, asked = self.folder.manifest(), {"engine": "spark", **identity(model, kernel, wish)}
            if manifest is not None:
                self.found, damage = store.committed()
                if damage:
                    self.troubles.append(f"{damage}: the search went on from the level before, which is whole.")
            stored = int(self.found[-1]["cursor"][SIZE]) if self.found else 0
            agree(wish.checkpoint, None if manifest is None else manifest["identity"], asked, stored)
            store.forget_from(len(self.found))
            self.folder.save({}, {"identity": asked})
        except OSError as error:
            self.folder.close()
            raise refusal(store.folder, error) from error
        except BaseException:
            self.folder.close()
            raise
        self.resumed = self.saved = stored
        self.before = float(self.found[-1]["seconds"]) if self.found else 0.0

    def discard(self) -> None:
        """Remove what is in the folder, which is not needed any more."""
        with suppress(OSError):
            self.store.forget_from(0)
        self.folder.discard()

    def close(self) -> None:
        """Let others use the folder; once."""
        self.folder.close()

    def notes(self, command: str, *, over: bool) -> Iterator[str]:
        """What people should know of it; `command` is what began the search, which may be `over`."""
        if self.found:
            yield f"Resumed from the checkpoint in {self.place}, which had {self.resumed:,} states."
        if not over:
            again = shlex.join(["--checkpoint", self.place, "--resume"])
            yield f"Checkpoint saved: {self.place}, with {self.saved:,} states; go on with: {command or '…'} {again}"


