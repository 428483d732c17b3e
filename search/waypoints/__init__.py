"""A behaviour of a model that passes through a series of snapshots, or where no behaviour fits.

Words: a *gap* lies before each waypoint. An *assumed event* is a step that nobody saw and that need not happen: a
client's, an operator's, a fault, or one of the system's that the series names. Gaps are searched with 0, 1, 2 … assumed
events, so that the first way found assumes the fewest there. *Calm* and *hasty*: see `waypoints_gap`. The *starts* of a
gap are all states found that match the waypoint before it; where none of them leads on, the search goes back a gap and
assumes more there.
"""
from __future__ import annotations

import time
from collections.abc import Mapping
from enum import Enum

import numpy as np
from attrs import define, field, frozen

from model.language import Model
from model.language.series import Series, Waypoint
from search.confirm import Origin, Path, confirmed, domain_error, path_along
from search.kernel import Kernel
from search.loops.memory import SHARE, available_memory
from search.progress import Progress, Report, silent
from search.trace import Trace
from search.waypoints.gap import Ground, Layers, Manner, StepFailed, Stop, compile_loops
from search.waypoints.misfit import Misfit, misfit_of

EVENTS = 8
"""How many events are assumed in a gap, at most, if nobody says."""
SHARES = {Manner.PATIENT: 8, Manner.CALM: 4, Manner.HASTY: 2}
"""How many of them in each manner, at most."""
MEMORY = 1 << 30
"""Bytes of states in one manner of one gap, at most."""
BEFORE = 1
"""How many gaps before the furthest one are searched in haste too."""

Limits = Mapping[Manner, int]
"""The most events of a gap in each manner; a manner that is not there is not tried."""


class Fit(Enum):
    """What was found; the value is what `--json` prints as `verdict`."""

    EXPLAINED = "explained"
    REFUSED = "no behaviour fits"
    UNDECIDED = "undecided"

    @property
    def exit_code(self) -> int:
        """The command's exit code."""
        return {"explained": 0, "no behaviour fits": 12, "undecided": 3}[self.value]


@frozen
class Wish:
    """What is asked for: the most assumed events of a gap, and budgets in seconds and bytes."""

    events: int = EVENTS
    seconds: float | None = None
    memory: int | None = None
    report: Report = field(default=silent, repr=False)
    command: str = ""

    @property
    def limits(self) -> Limits:
        """How many events in each manner."""
        return {manner: min(share, self.events) for manner, share in SHARES.items()}


@frozen
class Effort:
    """What was done in the gap before a waypoint: states stored, and the events assumed exhaustively, by manner.

    None means that not even the layer without events was completed; a manner that was not tried is not there.
    """

    number: int
    waypoint: str
    starts: int
    states: int
    complete: Mapping[Manner, int | None]


@frozen
class Explanation:
    """The answer. `arrivals` are the numbers of steps after which the trace matches each waypoint.

    Without EXPLAINED the trace goes to the last waypoint that was reached, and `misfit` tells of the next one.
    """

    fit: Fit
    how: str
    trace: Trace | None
    arrivals: tuple[int, ...]
    efforts: tuple[Effort, ...]
    seconds: float
    misfit: Misfit | None = None
    bounds_hit: dict[str, int] = field(factory=dict)

    @property
    def states(self) -> int:
        """How many states were stored in all."""
        return sum(effort.states for effort in self.efforts)


@define(eq=False)
class GapSearch:
    """The search of one gap from some starts; each layer may find new states that match the waypoint."""

    ground: Ground
    number: int
    starts: np.ndarray
    before: tuple[GapSearch, Layers, np.ndarray] | None
    """The search of the gap before, the layers there that found the starts, and the starts' numbers in those."""
    known: set[bytes]
    """The states matching the waypoint that any search of this gap has told of: nobody need go on from them again."""
    tried: dict[Manner, Layers] = field(factory=dict)
    _told: dict[Manner, int] = field(factory=dict)

    @property
    def waypoint(self) -> Waypoint:
        """Where the gap leads."""
        return self.ground.series.waypoints[self.number]

    def next(self, limits: Limits) -> tuple[Layers, np.ndarray] | None:
        """The states that the next fruitful layer finds, with the layers; None when all within the limits are known."""
        for manner, most in limits.items():
            if manner not in self.tried:
                self.tried[manner] = Layers(self.ground, self.waypoint, self.starts, manner)
            layers = self.tried[manner]
            while layers.complete is None or layers.complete < most:
                layers.advance()
                new = self._new(layers)
                if len(new):
                    return layers, new
        return None

    def _new(self, layers: Layers) -> np.ndarray:
        """Those of the matching states that nobody was told of before; what only counts events tells none apart."""
        found = layers.found[self._told.get(layers.manner, 0) :]
        self._told[layers.manner] = len(layers.found)
        new: list[int] = []
        for index, row in zip(found.tolist(), layers.packed(found) & self.ground.telling, strict=True):
            key = row.tobytes()
            if key not in self.known:
                self.known.add(key)
                new.append(index)
        return np.array(new, np.int64)

    def effort(self) -> Effort:
        """What was done so far."""
        complete = {manner: layers.complete for manner, layers in self.tried.items()}
        states = sum(layers.size for layers in self.tried.values())
        return Effort(self.number, self.waypoint.name, len(self.starts), states, complete)


def explain(model: Model, kernel: Kernel, series: Series, wish: Wish | None = None) -> Explanation:
    """Look for a behaviour of the model that passes through all waypoints of the series in order.

    The model must have been made with the series' bounds, flags and initial states. DomainError if an action leaves
    its domain on the way.
    """
    journey = Journey(model, kernel, series, wish or Wish())
    try:
        return journey.run()
    finally:
        journey.searches.clear()  # The states go now, not when Python next looks for cycles.


class Journey:
    """The search through all gaps."""

    def __init__(self, model: Model, kernel: Kernel, series: Series, wish: Wish) -> None:
        self.wish, self.started, self.expanded = wish, time.monotonic(), 0
        memory = min(MEMORY, int(SHARE * available_memory())) if wish.memory is None else wish.memory
        self.ground = Ground(model, kernel, series, memory, self._tick)
        self.searches: list[GapSearch] = []
        self.known: dict[int, set[bytes]] = {}
        self.origin = Origin("explain", command=wish.command)

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return time.monotonic() - self.started

    def _tick(self, expanded: int) -> None:
        self.expanded += expanded
        budget, gap = self.wish.seconds, self.searches[-1].number if self.searches else 0
        self.wish.report(
            Progress(
                engine="explain", done=self.expanded, unit="states", seconds=self.seconds,
                left=None if budget is None else max(0.0, budget - self.seconds),
                note=f"on the way to {self.ground.series.waypoints[gap].name}",
            )
        )  # fmt: skip
        if budget is not None and self.seconds >= budget:
            raise Stop(f"time budget of {budget:g} s")

    def run(self) -> Explanation:
        """Search calmly; where that ends, go on in haste from there and from a gap before; the answer."""
        compile_loops(self.ground)
        self.started = time.monotonic()
        calm: Limits = {manner: most for manner, most in self.wish.limits.items() if manner is not Manner.HASTY}
        try:
            arrived = self._search(self._search_of(0, self._initial(), None), calm)
            for back in range(BEFORE + 1):
                for search in self._searches_of(self._furthest() - back) if arrived is None else ():
                    arrived = arrived or self._search(search, self.wish.limits)
        except Stop as stop:
            return self._ended(Fit.UNDECIDED, str(stop))
        except KeyboardInterrupt:
            return self._ended(Fit.UNDECIDED, "interrupted")
        except StepFailed as failure:
            raise self._failure(failure) from None
        if arrived is None:
            return self._ended(Fit.REFUSED, "exhaustive")
        return self._answer(Fit.EXPLAINED, "confirmed in plain Python", self._way(*arrived))

    def _initial(self) -> np.ndarray:
        model = self.ground.model
        vectors = np.unique(np.array(model.initial, np.int64).reshape(len(model.initial), -1), axis=0)
        return self.ground.kernel.pack(vectors)

    def _search_of(
        self, number: int, starts: np.ndarray, before: tuple[GapSearch, Layers, np.ndarray] | None
    ) -> GapSearch:
        search = GapSearch(self.ground, number, starts, before, self.known.setdefault(number, set()))
        self.searches.append(search)
        return search

    def _search(self, first: GapSearch, limits: Limits) -> tuple[GapSearch, Layers, int] | None:
        """Depth first from a gap to the last waypoint: where it is matched, or None."""
        stack = [first]
        while stack:
            search = stack[-1]
            found = search.next(limits)
            if found is None:
                stack.pop()
            elif search.number + 1 == len(self.ground.series.waypoints):
                return search, found[0], int(found[1][0])
            else:
                starts = found[0].packed(found[1])
                stack.append(self._search_of(search.number + 1, starts, (search, *found)))
        return None

    def _furthest(self) -> int:
        """The number of the furthest gap that was reached."""
        return max(search.number for search in self.searches)

    def _searches_of(self, number: int) -> list[GapSearch]:
        return [search for search in self.searches if search.number == number]

    # The answer.

    def _way(self, search: GapSearch, layers: Layers, index: int) -> list[tuple[int, ...]]:
        """The instances taken in each gap up to a state, with the number of the initial state in front."""
        parts: list[tuple[int, ...]] = []
        while True:
            start, instances = layers.way_to(index)
            parts.append(tuple(instances))
            if search.before is None:
                return [(start,), *parts[::-1]]
            search, layers, numbers = search.before
            index = int(numbers[start])

    def _path(self, way: list[tuple[int, ...]]) -> Path:
        taken = [instance for part in way[1:] for instance in part]
        return path_along(self.ground.kernel, self._initial()[way[0][0]], taken)

    def _trace(self, way: list[tuple[int, ...]]) -> Trace:
        return confirmed(self.ground.model, self.ground.kernel, self._path(way), claim=None, origin=self.origin)

    def _answer(
        self, fit: Fit, how: str, way: list[tuple[int, ...]] | None, misfit: Misfit | None = None
    ) -> Explanation:
        arrivals = np.cumsum([len(part) for part in (way or [()])[1:]]).tolist()
        hits: dict[str, int] = {}
        for search in self.searches:
            for layers in search.tried.values():
                for name, count in layers.bounds_hit().items():
                    hits[name] = hits.get(name, 0) + count
        return Explanation(
            fit, how, self._trace(way) if way else None, tuple(arrivals), tuple(s.effort() for s in self.searches),
            self.seconds, misfit, hits,
        )  # fmt: skip

    def _ended(self, fit: Fit, how: str) -> Explanation:
        """The answer without a way to the end: how far it went, and what is different there."""
        furthest = self._searches_of(self._furthest())[0]
        way = None
        if furthest.before is not None:
            search, layers, numbers = furthest.before
            way = self._way(search, layers, int(numbers[0]))
        misfit = misfit_of(self.ground, furthest.waypoint, furthest.number, furthest.starts)
        return self._answer(fit, how, way, misfit)

    def _failure(self, failure: StepFailed) -> Exception:
        search = next(s for s in self.searches if failure.layers in s.tried.values())
        path = self._path(self._way(search, failure.layers, failure.index))
        return domain_error(self.ground.model, self.ground.kernel, path, self.origin)
