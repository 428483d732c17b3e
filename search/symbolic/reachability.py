"""All reachable states by modes, without levels; and, where a trace is wanted, level by level from the initial states.

Words: a *set of states* is a mapping from modes to diagrams (see `rules`). A *level* is the states that a shortest path
of some length leads to.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

import numpy as np

from kwalk.search.results.confirmation import PackedPath
from kwalk.search.symbolic.engine import Stopped, SymbolicEngine
from kwalk.search.symbolic.layout import Stop

States = dict[int, int]
"""A set of states: by the number of each mode its diagram, which is not empty."""


class Reachability:
    """The search for the reachable states.

    Args:
        engine: The engine, with its rules.
        steps: The rules that are steps, each with its action instance.
        initial: The packed initial states, uint64[n, words].
    """

    def __init__(self, engine: SymbolicEngine, steps: Mapping[int, int], initial: np.ndarray) -> None:
        self.engine, self.steps = engine, steps
        self.initial: States = {}
        for packed in initial:
            self.add(self.initial, *engine.single(packed))
        self.reached: States = {}
        self.waiting = dict(self.initial)
        """Reached states of which not all successors are known; a checkpoint has both sets."""
        self.learnt: Collection[int] = steps
        """The steps that have learnt of all reached states."""
        self.levels: list[States] = []
        self._others: list[States] = []
        """Sets that are needed although nothing here has them."""
        engine.roots = self._roots
        self._between_modes = [rule for rule in steps if engine.changes_mode(rule)]

    def add(self, to: States, mode: int, states: int) -> None:
        """Add states of a mode to a set."""
        if states:
            to[mode] = self.engine.union(to.get(mode, 0), states)

    def run(self, pause: Callable[[], None]) -> None:
        """Find all reachable states: in the order of the discovery of modes, all states of a mode by saturation.

        Between two modes `pause` is called.
        """
        engine, waiting = self.engine, self.waiting
        while waiting:
            pause()
            mode = min(waiting)
            before = self.reached.get(mode, 0)
            self._collect_if_full()
            try:
                states = engine.saturated(engine.union(before, waiting[mode]), mode)
            except Stopped as stopped:
                if stopped.why is not Stop.FULL:
                    raise
                self.collect()  # what was learnt is kept: the second time, less is made
                states = engine.saturated(engine.union(before, waiting[mode]), mode)
            new = engine.minus(states, before)
            for rule in self._between_modes:
                for other, after in engine.after(new, mode, rule):
                    if other != mode:
                        self.add(waiting, other, engine.minus(after, self.reached.get(other, 0)))
            self.reached[mode] = states
            del waiting[mode]
        if engine.is_nearly_full:
            engine.collect()  # counts need room, though they may need little

    def _collect_if_full(self, *others: States) -> None:
        if self.engine.is_nearly_full:
            self.collect(*others)

    def collect(self, *others: States) -> None:
        """Free what no set needs.

        Raises:
            Stopped: Few nodes were freed.
        """
        if not self.engine.collect(diagram for each in others for diagram in each.values()):
            raise Stopped(Stop.FULL)

    def _roots(self) -> Iterator[int]:
        for each in (self.initial, self.reached, self.waiting, *self.levels, *self._others):
            yield from each.values()

    def keep(self, states: States) -> None:
        """Do not free a set when garbage is collected."""
        self._others.append(states)

    def contains(self, mode: int, states: int) -> bool:
        """Return whether all states of a set were reached."""
        return self.engine.minus(states, self.reached.get(mode, 0)) == 0

    # Levels and paths.

    def next_level(self) -> bool:
        """Add the next level, the first time that of the initial states; return whether it has a state."""
        if not self.levels:
            self.levels.append(dict(self.initial))
            self._before = dict(self.initial)
            self.keep(self._before)
            return True
        level: States = {}
        for mode, states in self.levels[-1].items():
            self._collect_if_full(level)
            for rule in self.steps:
                for other, after in self.engine.after(states, mode, rule):
                    self.add(level, other, self.engine.minus(after, self._before.get(other, 0)))
        for mode, states in level.items():
            self.add(self._before, mode, states)
        if level:
            self.levels.append(level)
        return bool(level)

    def common(self, left: States, right: States) -> States:
        """Return the states that are in both sets."""
        engine = self.engine
        both = {mode: engine.minus(left[mode], engine.minus(left[mode], right[mode])) for mode in left if mode in right}
        return {mode: states for mode, states in both.items() if states}

    def path_to(self, packed: np.ndarray, length: int) -> PackedPath:
        """Return a path to a state of the level with that number, the last that is known."""
        engine, states, instances = self.engine, [packed], list[int]()
        for number in range(length - 1, -1, -1):
            mode, target = engine.single(states[-1])
            found = next(self._before_state(self.levels[number], mode, target))
            instances.append(found[0])
            states.append(found[1])
        return PackedPath(np.array(states[::-1]), tuple(instances[::-1]))

    def _before_state(self, level: States, mode: int, target: int) -> Iterator[tuple[int, np.ndarray]]:
        """Yield steps from a level to a state: an action instance and the packed state before it."""
        for rule, instance in self.steps.items():
            for other, states in level.items():
                before = self.engine.before(states, other, rule, target, mode)
                if before:
                    yield instance, self.engine.state(other, before)


def where(engine: SymbolicEngine, states: States, rule: int) -> States:
    """Return the states of a set where the conditions of a rule without effect hold."""
    found = {mode: engine.where(diagram, mode, rule) for mode, diagram in states.items()}
    return {mode: diagram for mode, diagram in found.items() if diagram}


def without(engine: SymbolicEngine, states: States, others: Iterable[States]) -> States:
    """Return the states of a set that are in none of some other sets."""
    left = dict(states)
    for each in others:
        left = {mode: engine.minus(diagram, each.get(mode, 0)) for mode, diagram in left.items()}
    return {mode: diagram for mode, diagram in left.items() if diagram}
