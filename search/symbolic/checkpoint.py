"""Checkpoints of a symbolic search: the nodes as they are in memory, the values of components, and two sets of states.

They are taken between two modes, and when a budget or Ctrl-C ends the search: what was reached and what waits are
consistent then. What rules do to classes of values is learnt again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kwalk.model.language import Model, UsageError
from kwalk.search.base.options import SearchOptions
from kwalk.search.exhaustive.checkpoint import CheckpointWriter, identity
from kwalk.search.kernel.interface import Kernel
from kwalk.search.symbolic.engine import Stopped
from kwalk.search.symbolic.reachability import Reachability, States


class SetCheckpoints(CheckpointWriter):
    """The checkpoints of a search by sets of states.

    Args:
        model: The model.
        kernel: A kernel of the model, for the packing of states.
        reachability: The search, which has only its initial states.
        options: The options of the search, with where to write.
    """

    unit = "nodes of diagrams"

    def __init__(self, model: Model, kernel: Kernel, reachability: Reachability, options: SearchOptions) -> None:
        assert options.checkpoint is not None
        self.reachability, self.engine, self.seconds = reachability, reachability.engine, 0.0
        components = [sorted(leaves) for leaves in self.engine.components]
        super().__init__(options.checkpoint, {**identity(model, kernel, options), "components": components})
        if self.manifest is not None:
            try:
                self._restore(self.manifest)
            except BaseException:
                self.folder.close()
                raise

    def _restore(self, manifest: dict[str, Any]) -> None:
        """Restore what was reached, and what waits."""
        size, search = self.size_in(manifest), self.reachability
        nodes = self.engine.room_for_nodes(size)
        if nodes is None:
            raise self._too_small(size)
        self.folder.read_changing("nodes", nodes)
        for level, count in enumerate(manifest["values"]):
            rows = np.zeros((count, self.engine.values_of(level).shape[1]), np.uint64)
            self.folder.read_changing(f"values-{level}", _bytes(rows))
            self.engine.add_values(level, rows)
        search.initial, search.reached, search.waiting = (
            {int(mode): int(states) for mode, states in manifest[name]} for name in ("initial", "reached", "waiting")
        )
        search.learnt = ()
        try:
            search.collect()
        except Stopped as stopped:
            raise self._too_small(size) from stopped

    def _too_small(self, size: int) -> UsageError:
        return UsageError(
            f"The memory budget is too small to resume from {size:,} nodes of diagrams. Give more with --memory."
        )

    def write(self) -> int:
        """Save a checkpoint; return the number of nodes."""
        search, engine = self.reachability, self.engine
        values = [engine.values_of(level) for level in range(engine.levels)]
        sets: dict[str, States] = {"initial": search.initial, "reached": search.reached, "waiting": search.waiting}
        content = {
            "identity": self.identity,
            "stored": engine.nodes,
            "seconds": self.before + self.seconds,
            "values": [len(rows) for rows in values],
            **{name: list(states.items()) for name, states in sets.items()},
        }
        changing = {f"values-{level}": _bytes(rows) for level, rows in enumerate(values)}
        self.folder.save({}, content, {**changing, "nodes": _bytes(engine.node_table[: engine.nodes])})
        return engine.nodes


def _bytes(rows: np.ndarray) -> np.ndarray:
    """Return the bytes of an array without gaps, which share its memory."""
    return rows.reshape(-1).view(np.uint8)
