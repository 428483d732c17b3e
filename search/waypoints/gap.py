"""One gap between two waypoints: its states, layer by layer, in one manner of looking.

Words: a *manner* says when assumed events happen. In a *calm* one they happen at rest only, when nothing but idle time
goes on; snapshots are taken at rest, and prompt steps at once. A *patient* one is calm, and events also wait for what
happens in idle time. In a *hasty* one anything happens at any moment. What a calm search finds is a behaviour; what it
does not find may still exist in haste.
"""
from __future__ import annotations

from collections.abc import Callable
from enum import Enum

import numpy as np
from attrs import evolve, field, frozen

from model.language import Action, Model
from model.language.series import Clause, Series, Waypoint
from search.kernel import Kernel
from search.loops import gap as loops
from search.loops.gap import (
    ASKED,
    CLOSED,
    DONE,
    FAILED,
    FAILED_AT,
    FULL,
    LIMIT,
    MATCHES,
    OTHERS,
    SEEDS,
    SEEDS_END,
    SIZE,
    Gap,
)
from search.loops.memory import reserve
from search.loops.states import FIRST_REGION, States
from search.waypoints.program import program_of, truth

PACE = 1 << 14
"""States between looks at the clock."""


class Manner(Enum):
    """When events happen."""

    PATIENT = "patient"
    CALM = "calm"
    HASTY = "hasty"

    @property
    def code(self) -> int:
        """How the loops know it."""
        return {"patient": loops.PATIENT, "calm": loops.CALM, "hasty": loops.HASTY}[self.value]


class Stop(Exception):
    """The search ends without an answer; the text says which budget is spent."""


class StepFailed(Exception):
    """An action left its domain in a state."""

    def __init__(self, layers: Layers, index: int) -> None:
        super().__init__()
        self.layers, self.index = layers, index


@frozen(eq=False)
class Ground:
    """What all gaps of a journey share."""

    model: Model
    kernel: Kernel
    series: Series
    memory: int
    tick: Callable[[int], None]
    """Called now and then with the number of states expanded since; raises Stop when a budget is spent."""
    telling: np.ndarray = field(init=False, repr=False)
    """The bits of a packed state that tell states apart: all but those of the series' tallies."""

    def __attrs_post_init__(self) -> None:
        bits = np.full(self.kernel.words, ~np.uint64(0), np.uint64)
        for index, leaf in enumerate(self.model.leaves):
            if leaf.path in self.series.tallies:
                offset, width = int(self.kernel.offsets[index]), int(self.kernel.widths[index])
                bits[offset // 64] &= ~np.uint64(((1 << width) - 1) << (offset % 64))
        object.__setattr__(self, "telling", bits)

    def kinds(self, waypoint: Waypoint) -> np.ndarray:
        """The kind of every instance on the way to a waypoint."""
        found = np.zeros(max(1, len(self.model.instances)), np.uint8)
        for instance in self.model.instances:
            found[instance.index] = self._kind(instance.action, waypoint)
        return found

    def _kind(self, action: Action, waypoint: Waypoint) -> int:
        name, names = action.name, {action.name, action.by.name}
        if not waypoint.without.isdisjoint(names):
            return loops.NEVER
        if not action.by.system or name in self.series.events:
            return loops.EVENT if names.isdisjoint(self.series.rare | waypoint.rare) else loops.RARE
        if name in self.series.idle_time:
            return loops.IDLE_TIME
        return loops.PROMPT if name in self.series.prompt else loops.ROUTINE

    def row(self, *kinds: int) -> np.ndarray:
        """The bit row of the instances of some kinds, whatever is left out of a gap."""
        row = np.zeros(self.kernel.instance_words, np.uint64)
        nowhere = Waypoint("", ())
        for index, kind in enumerate(self.kinds(nowhere).tolist()):
            if kind in kinds:
                row[index // 64] |= np.uint64(1 << (index % 64))
        return row


class Layers:
    """The states of a gap that are reached from its starts with 0, 1, 2 … events, in one manner.

    A rare event counts as two. Limits may be left out.
    """

    def __init__(
        self, ground: Ground, waypoint: Waypoint, starts: np.ndarray, manner: Manner, *, limited: bool = True
    ) -> None:
        self.ground, self.waypoint, self.manner = ground, waypoint, manner
        kernel = ground.kernel
        self.states = States(kernel.words, ground.memory, widest_step=kernel.instances)
        most = self.states.most
        self.parents, self.steps = reserve(most, np.int64), reserve(most, np.uint16)
        self.depths, self.order, self.matches = (reserve(most, np.int64) for _ in range(3))
        self.room = np.zeros((kernel.instances + 1, kernel.words), np.uint64)
        self.taken = np.zeros(kernel.instances + 1, np.uint16)
        self.row, self.hits = np.zeros(kernel.instance_words, np.uint64), np.zeros(2 * len(kernel.bounds) + 2, np.int64)
        self.kinds = ground.kinds(waypoint)
        self.busy_row = ground.row(loops.ROUTINE, loops.PROMPT)
        self.restless_row = ground.row(loops.ROUTINE, loops.PROMPT, loops.IDLE_TIME)
        self.limits = self._program(waypoint.limits if limited else ())
        self.goal = self._program(tuple(clause for fact in waypoint.facts for clause in fact.clauses))
        self.cursor = np.zeros(loops.CURSOR_SIZE, np.int64)
        self.origins: list[int] = []
        self.parts: list[tuple[int, int]] = []
        """For each layer where it begins and ends in the order of expansion."""
        self._begin(starts)

    def _program(self, clauses: tuple[Clause, ...]) -> loops.Program:
        return program_of(self.ground.model, self.ground.kernel, clauses)

    def _begin(self, starts: np.ndarray) -> None:
        """Store the starts that are within the limits; `origins` says which ones they are."""
        within = truth(self.limits, starts)
        self.origins = np.flatnonzero(within).tolist()
        size = 0
        for first in range(0, len(self.origins), FIRST_REGION // 2):
            block = starts[self.origins[first : first + FIRST_REGION // 2]]
            while not self.states.has_room(len(block)):
                self._grow(size)
            size = self.states.add(block, size)
        self.cursor[SIZE] = self.cursor[SEEDS_END] = self.cursor[OTHERS] = size
        self.parents[:size] = -1

    def _grow(self, size: int) -> None:
        if not self.states.grow(size):
            raise Stop(f"memory budget of {self.ground.memory / 1e9:.3g} GB")

    @property
    def size(self) -> int:
        """How many states there are."""
        return int(self.cursor[SIZE])

    @property
    def found(self) -> np.ndarray:
        """The states that match the waypoint, nearest first within each layer."""
        return self.matches[: int(self.cursor[MATCHES])]

    def packed(self, indices: np.ndarray) -> np.ndarray:
        """The packed states of these numbers."""
        return self.states.rows(indices.tolist())

    def advance(self) -> None:
        """Complete the next layer: all states that are reached with one event more than before."""
        cost = 0 if self.complete is None else self.complete + 1
        self.cursor[SEEDS] = self.size if cost else 0
        self._ask(cost - 1, loops.EVENT)
        self._ask(cost - 2, loops.RARE)
        self.cursor[SEEDS_END] = self.cursor[OTHERS] = self.size
        first = int(self.cursor[DONE])
        self._close()
        self.parts.append((first, int(self.cursor[DONE])))

    @property
    def complete(self) -> int | None:
        """The greatest number of events for which all states are known; None as long as there is none."""
        return len(self.parts) - 1 if self.parts else None

    def _ask(self, layer: int, kind: int) -> None:
        """Let events of a kind happen in the states of an earlier layer."""
        if layer < 0:
            return
        self.cursor[ASKED], end = self.parts[layer]
        while self.cursor[ASKED] < end:
            before = int(self.cursor[ASKED])
            self.cursor[LIMIT] = min(end, before + PACE)
            if loops.seed(self._gap(), self.cursor, kind) == FULL:
                self._grow(self.size)
            self.ground.tick(int(self.cursor[ASKED]) - before)

    def _close(self) -> None:
        """Expand everything that can be reached without a further event."""
        status = loops.GOING
        while status != CLOSED:
            before = int(self.cursor[DONE])
            self.cursor[LIMIT] = before + PACE
            status = loops.close(self._gap(), self.cursor)
            if status == FULL:
                self._grow(self.size)
            elif status == FAILED:
                raise StepFailed(self, int(self.cursor[FAILED_AT]))
            self.ground.tick(int(self.cursor[DONE]) - before)

    def _gap(self) -> Gap:
        kernel = self.ground.kernel
        return Gap(
            expand=kernel.expand, row_words=kernel.instance_words, instances=kernel.instances,
            space=self.states.space, successors=self.room.ctypes.data, taken=self.taken.ctypes.data,
            row=self.row.ctypes.data, hits=self.hits.ctypes.data, bounds=len(kernel.bounds), kinds=self.kinds,
            busy_row=self.busy_row, restless_row=self.restless_row, limits=self.limits, goal=self.goal,
            manner=self.manner.code, parents=self.parents, steps=self.steps, depths=self.depths, order=self.order,
            matches=self.matches,
        )  # fmt: skip

    def resting(self) -> np.ndarray:
        """For each state, whether it is at rest."""
        found = np.zeros(self.size, np.bool_)
        loops.resting(self._gap(), found)
        return found

    def way_to(self, index: int) -> tuple[int, list[int]]:
        """The start (its number among those given) from which a state is reached, and the instances on the way."""
        instances = []
        while self.parents[index] >= 0:
            instances.append(int(self.steps[index]))
            index = int(self.parents[index])
        return self.origins[index], instances[::-1]

    def bounds_hit(self) -> dict[str, int]:
        """The bounds that disabled steps, and how often."""
        names = self.ground.kernel.bounds
        counted = self.hits[len(names) : 2 * len(names)].tolist()
        return {name: count for name, count in zip(names, counted, strict=True) if count}


def compile_loops(ground: Ground) -> None:
    """Compile the loops where no cache has them: their first call does it, and that is no part of a search."""
    starts = np.zeros((0, ground.kernel.words), np.uint64)
    small = evolve(ground, memory=1 << 20, tick=_no_time_passes)
    layers = Layers(small, Waypoint("", ()), starts, Manner.CALM)
    layers.states.add(starts, 0)
    layers.advance()
    layers.cursor[LIMIT] = layers.cursor[ASKED]
    loops.seed(layers._gap(), layers.cursor, loops.EVENT)
    layers.resting()


def _no_time_passes(expanded: int) -> None:
    """A tick of a search that no budget ends."""
