"""Exhaustive search up to the names of interchangeable members: one state is visited for all that differ by names only.

Words: see `search.loops.orbits`. What is counted are orbits, and steps out of representatives; counts of instances and
claims that differ by names are put together. Traces are led back to real states, and end in a representative.

Source: C. N. Ip and D. L. Dill, "Better verification through symmetry", Formal Methods in System Design 9 (1996).
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from attrs import evolve

from model.language import Kind, Model, UsageError
from search.confirm import Path, applied, path_along
from search.exploration import Ending, Exploration, Wish
from search.kernel import Kernel
from search.loops.frontier import Machine
from search.symmetry.interchange import check_interchangeable
from search.symmetry.permutations import Renaming
from search.symmetry.table import OrbitTable

BLOCK = 1 << 14
"""States whose orbits are counted at a time."""


class OrbitExploration(Exploration):
    """A search over the orbits of a domain. UsageError, with the place, if its members are not interchangeable."""

    def __init__(self, model: Model, kernel: Kernel, wish: Wish, domain: str) -> None:
        if wish.checkpoint is not None:
            raise UsageError("A search with symmetry saves no checkpoints. Leave one of the two out.")
        self.renaming = Renaming(model, domain)
        check_interchangeable(self.renaming, wish.claims)
        self.table = OrbitTable(self.renaming, kernel)
        super().__init__(model, kernel, wish)

    def _starts(self) -> np.ndarray:
        return self.table.represented(super()._starts())

    def _machine(self) -> Machine:
        return super()._machine()._replace(orbits=self.table.orbits.table)

    def run(self) -> None:
        """Search, then put together what differs by names only."""
        super().run()
        self.counts: Any = _Together(self.counts, self.renaming)
        seen = self.counts.first_state
        together = _classes(self.renaming, self.model.claims, self.renaming.claim)
        shown = {c for claims in together for c in claims if any(seen[other.index] for other in claims)}
        hidden = {c for c in shown if c.kind is Kind.REACHABLE and not seen[c.index]}
        self.wish = evolve(self.wish, claims=tuple(c for c in self.wish.claims if c not in hidden))

    def path_to(self, index: int, last_step: int | None = None) -> Path:
        """A shortest path of real states to a representative, and on by one more instance if `last_step` gives it."""
        states, instances = [self.states.rows([index])[0]], list[int]()
        while index >= self.initial:
            index, instance = self._parent(index)
            before, step = self._led_back(self.states.rows([index])[0], instance, states[-1])
            states.append(before)
            instances.append(step)
        path = Path(np.array(states[::-1]), tuple(instances[::-1]))
        if last_step is None:
            return path
        onward = path_along(self.kernel, path.states[-1], (last_step,))
        return Path(np.vstack([path.states, onward.states[1:]]), path.instances + onward.instances)

    def _led_back(self, parent: np.ndarray, instance: int, after: np.ndarray) -> tuple[np.ndarray, int]:
        """The renamed parent and instance that lead to just this state."""
        reached = np.zeros(self.kernel.words, np.uint64)
        applied(self.kernel, instance, np.ascontiguousarray(parent), reached)
        names, renamed = self.table.permutations, self.table.permuted(reached)
        which = next(n for n, row in enumerate(renamed) if (row == after).all())
        step = self.renaming.instance(self.model.instances[instance], names[which])
        return self.table.permuted(parent)[which], step.index

    def notes(self) -> Iterator[str]:
        """Sentences for people: how many states the orbits stand for."""
        orbits, members = self.stored, self.renaming.size
        what = f"Symmetry in {self.renaming.name} ({members}! = {len(self.table.permutations)} ways to name them)"
        if self.ending is Ending.COMPLETE:
            states = sum(self._sizes())
            yield f"{what}: {orbits:,} states stand for {states:,}, a saving of × {states / orbits:.2f}."
        else:
            yield f"{what}: counts are of states that differ by more than names."
        yield "Claims and instances that differ by names only stand for each other; Z3 has shown that they may."

    def _sizes(self) -> Iterator[int]:
        """The sizes of orbits, added up in blocks."""
        for first in range(0, self.stored, BLOCK):
            rows = self.states.rows(list(range(first, min(self.stored, first + BLOCK))))
            yield self.table.states_behind(rows)


class _Together:
    """The counts of a search, where instances (and claims) that differ by names only have the sum of their counts."""

    def __init__(self, counts: Any, renaming: Renaming) -> None:
        self._counts = counts
        model = renaming.model
        instances = _classes(renaming, model.instances, renaming.instance)
        claims = _classes(renaming, model.claims, renaming.claim)
        self.enabled_totals = _summed(counts.enabled_totals, instances)
        self.blocked, self.idle = _summed(counts.blocked, instances), _summed(counts.idle, instances)
        self.premise_totals = _summed(counts.premise_totals, claims)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._counts, name)


def _classes(renaming: Renaming, things: Any, renamed: Callable[..., Any]) -> list[set[Any]]:
    """Instances or claims, put together where they differ by names only."""
    left, found = list(things), []
    while left:
        together = {renamed(left[0], permutation) for permutation in renaming.permutations}
        found.append(together)
        left = [thing for thing in left if thing not in together]
    return found


def _summed(totals: np.ndarray, classes: list[set[Any]]) -> np.ndarray:
    summed = totals.copy()
    for together in classes:
        places = [thing.index for thing in together]
        summed[places] = totals[places].sum()
    return summed


__all__ = ["OrbitExploration"]
