"""Exhaustive search with symmetry reduction: one state is visited for all that differ only by names.

Words: see `canonicalize`. Orbits, and steps out of canonical states, are counted; counts of instances and properties
that differ only by names are added. Traces are translated to real states, and end in a canonical state.

Source: C. N. Ip and D. L. Dill, "Better verification through symmetry", Formal Methods in System Design 9 (1996).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from attrs import evolve

from kwalk.model.language import Kind, Model, UsageError
from kwalk.search.base.options import SearchOptions, StopReason
from kwalk.search.exhaustive.explorer import Explorer
from kwalk.search.exhaustive.layout import KernelView, SuccessorFunctions
from kwalk.search.kernel.calls import KernelCalls
from kwalk.search.kernel.interface import Kernel
from kwalk.search.results.confirmation import PackedPath
from kwalk.search.symmetry.canonicalize import SymmetryTable, replace_successors
from kwalk.search.symmetry.interchange import check_interchangeable
from kwalk.search.symmetry.permutations import Renaming

BLOCK = 1 << 14
"""States whose orbits are counted at a time."""


class SymmetricExplorer(Explorer):
    """A search over the orbits of a domain. UsageError, with file and line, if its members are not interchangeable."""

    def __init__(self, model: Model, kernel: Kernel, options: SearchOptions, domain: str) -> None:
        if options.checkpoint is not None:
            raise UsageError("A search with symmetry saves no checkpoints. Leave one of the two out.")
        self.renaming = Renaming(model, domain)
        check_interchangeable(self.renaming, options.properties)
        self.table = SymmetryTable(self.renaming, kernel)
        super().__init__(model, kernel, options)

    def _initial_rows(self) -> np.ndarray:
        return self.table.canonical(super()._initial_rows())

    def _kernel_view(self) -> KernelView:
        return (
            super()
            ._kernel_view()
            ._replace(
                reduction=SuccessorFunctions(replace=replace_successors.entry, permutations=self.table.symmetry.table)
            )
        )

    def run(self) -> None:
        """Search, then add the counts of what differs only by names."""
        super().run()
        self.counts: Any = _SummedCounts(self.counts, self.renaming)
        seen = self.counts.first_state
        classes = _classes(self.renaming, self.model.properties, self.renaming.prop)
        shown = {c for properties in classes for c in properties if any(seen[other.index] for other in properties)}
        hidden = {c for c in shown if c.kind is Kind.REACHABLE and not seen[c.index]}
        self.options = evolve(self.options, properties=tuple(c for c in self.options.properties if c not in hidden))

    def shortest_path(self, index: int) -> PackedPath:
        """Return a shortest path of real states to a canonical state."""
        states, instances = [self.states.rows([index])[0]], list[int]()
        while index >= self.initial:
            index, instance = self._parent(index)
            before, step = self._preimage(self.states.rows([index])[0], instance, states[-1])
            states.append(before)
            instances.append(step)
        return PackedPath(np.array(states[::-1]), tuple(instances[::-1]))

    def _preimage(self, parent: np.ndarray, instance: int, after: np.ndarray) -> tuple[np.ndarray, int]:
        """Return the renamed parent and instance that lead to exactly this state."""
        reached = np.zeros(self.kernel.words, np.uint64)
        KernelCalls(self.kernel).apply(instance, np.ascontiguousarray(parent), reached)
        names, renamed = self.table.permutations, self.table.permuted(reached)
        which = next(n for n, row in enumerate(renamed) if (row == after).all())
        step = self.renaming.instance(self.model.instances[instance], names[which])
        return self.table.permuted(parent)[which], step.index

    def notes(self) -> Iterator[str]:
        """Yield a note on the number of states that the orbits stand for."""
        orbits, members = self.stored, self.renaming.size
        what = f"Symmetry in {self.renaming.name} ({members}! = {len(self.table.permutations)} ways to name them)"
        if self.stop_reason is StopReason.COMPLETE:
            states = sum(self._orbit_sizes())
            yield f"{what}: {orbits:,} states stand for {states:,}, a saving of × {states / orbits:.2f}."
        else:
            yield f"{what}: states that differ only by names count as one."
        yield (
            "Properties and action instances that differ only by names are counted together; Z3 proved them "
            "interchangeable."
        )

    def _orbit_sizes(self) -> Iterator[int]:
        """Yield the numbers of states in blocks of orbits."""
        for first in range(0, self.stored, BLOCK):
            rows = self.states.rows(list(range(first, min(self.stored, first + BLOCK))))
            yield self.table.count_states(rows)


class _SummedCounts:
    """Counts of a search, where instances (and properties) that differ only by names have their sum."""

    def __init__(self, counts: Any, renaming: Renaming) -> None:
        self._counts = counts
        model = renaming.model
        instances = _classes(renaming, model.instances, renaming.instance)
        properties = _classes(renaming, model.properties, renaming.prop)
        self.enabled_totals = _summed(counts.enabled_totals, instances)
        self.blocked, self.idle = _summed(counts.blocked, instances), _summed(counts.idle, instances)
        self.premise_totals = _summed(counts.premise_totals, properties)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._counts, name)


def _classes(renaming: Renaming, things: Any, renamed: Callable[..., Any]) -> list[set[Any]]:
    """Return the classes of instances or properties that differ only by names."""
    left, found = list(things), []
    while left:
        classes = {renamed(left[0], permutation) for permutation in renaming.permutations}
        found.append(classes)
        left = [thing for thing in left if thing not in classes]
    return found


def _summed(totals: np.ndarray, classes: list[set[Any]]) -> np.ndarray:
    summed = totals.copy()
    for members in classes:
        places = [thing.index for thing in members]
        summed[places] = totals[places].sum()
    return summed


__all__ = ["SymmetricExplorer"]
