"""Search for a behaviour of a model that passes through a series of snapshots.

Words: a *segment* leads to a waypoint from the one before. An *assumed event* is a step that the snapshots do not show
and that need not happen: of a client, an operator, a fault, or a system step that the series names. Segments are
searched with 0, 1, 2 … assumed events, so that the first behaviour that is found assumes few there. *Calm*, *eager* and
*hasty*: see `kwalk.search.analyses.explain.segment`. The *starts* of a segment are all states found that match the
waypoint before it; if none of them leads on, the search backtracks one segment and assumes more there.

If no behaviour fits, the last segment is searched once more, calmly and without limits, for a number of states. Of the
states at rest, the *closest* is the one that differs from the snapshot least.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from functools import partial
from itertools import accumulate, pairwise, product

import numpy as np
from attrs import define, evolve, field, frozen

from kwalk.model.language import DomainError, Model, Vector
from kwalk.model.language.errors import InternalError
from kwalk.model.language.model import ActionInstance
from kwalk.model.language.series import Clause, Event, Fact, LoggedStep, Series, Waypoint
from kwalk.search.analyses.explain.kernels import CompilationQueue, SearchKernel
from kwalk.search.analyses.explain.segment import (
    BudgetSpent,
    EventTiming,
    Layers,
    SegmentContext,
    StepFailed,
    compile_loops,
    is_logged,
    program_of,
    text_of,
    truth,
)
from kwalk.search.base.progress import Progress, Report, silent
from kwalk.search.kernel.compared import Compared
from kwalk.search.kernel.interface import Kernel
from kwalk.search.kernel.python_comparison import CompiledRecord, RecordMaker
from kwalk.search.kernel.sampling import StateSampler, candidates
from kwalk.search.native.memory import DEFAULT_SHARE, available_memory
from kwalk.search.results.confirmation import Origin, PackedPath, confirmed_trace, domain_error, path_along
from kwalk.search.results.trace import ModelFailure, Trace

NEAR_STATES = 50_000
"""The number of states in the search for the closest one."""
NEAR_SHARE, NEAR_SECONDS = 0.15, 30.0
"""The share of the time budget for that search, and its most seconds."""
NEAR_EVENTS = 3
MOST_VALUES = 4
"""The most different values of a fact that are listed."""


@frozen
class FactMismatch:
    """A fact of a snapshot, its value in the closest state, and its values in the other states."""

    name: str
    value: str
    closest: str
    reached: tuple[str, ...]
    never: bool
    """Whether no visited state has the value of the snapshot."""


@frozen
class Mismatch:
    """The first waypoint that was not reached, the closest state, and the facts in which it differs.

    `not_taken` are the logged steps at which the search came to a halt, one for each log in which some state has not
    taken what comes before the waypoint. The `distance` is the weight of the differences together.
    """

    number: int
    waypoint: str
    differences: tuple[FactMismatch, ...]
    closest: Vector | None
    states: int
    distance: int = 0
    not_taken: tuple[LoggedStep, ...] = ()

    def is_better_than(self, other: Mismatch) -> bool:
        """Whether its search came further, or as far and nearer to the waypoint."""
        return (self.number, -self.distance) > (other.number, -other.distance)


def find_mismatch(
    context: SegmentContext, waypoint: Waypoint, number: int, starts: np.ndarray, seconds: float = NEAR_SECONDS
) -> Mismatch:
    """Return the closest state to a waypoint that was not reached from these starts, and its differences.

    Args:
        context: What the search has in common.
        waypoint: The waypoint.
        number: Its number, from 0 on.
        starts: The packed states from which it was not reached, uint64[n, words].
        seconds: The time after which the closest state so far is taken.
    """
    layers = _near(context, waypoint, starts, time.monotonic() + seconds)
    rest = np.flatnonzero(layers.at_rest())
    packed = layers.packed(rest if len(rest) else np.arange(layers.size))
    programs = [program_of(context.model, context.kernel, fact.clauses) for fact in waypoint.facts]
    differs = np.logical_not(np.array([truth(program, packed) for program in programs]))
    never = differs.all(axis=1)
    weights = np.array([fact.weight for fact in waypoint.facts])
    distances = weights @ differs
    best = int(distances.argmin())
    vector = tuple(context.unpack(packed[best : best + 1])[0].tolist())
    differing = sorted(np.flatnonzero(differs[:, best]).tolist(), key=lambda n: (not never[n], -weights[n]))
    mismatches = tuple(_difference(context, waypoint.facts[n], packed, best, never=bool(never[n])) for n in differing)
    return Mismatch(number, waypoint.name, mismatches, vector, len(packed), int(distances[best]))


def _near(context: SegmentContext, waypoint: Waypoint, starts: np.ndarray, until: float) -> Layers:
    """Search without limits, with few events and a budget of states and time."""
    seen = 0

    def tick(expanded: int) -> None:
        nonlocal seen
        seen += expanded
        if seen >= NEAR_STATES or time.monotonic() >= until:
            raise BudgetSpent("enough")

    layers = Layers(evolve(context, tick=tick), waypoint, starts, EventTiming.CALM, limited=False)
    try:
        for _ in range(NEAR_EVENTS + 1):
            layers.advance()
    except BudgetSpent:
        pass
    return layers


def _difference(context: SegmentContext, fact: Fact, packed: np.ndarray, best: int, *, never: bool) -> FactMismatch:
    paths = {path for clause in fact.clauses for path, _ in clause}
    columns = [index for index, leaf in enumerate(context.model.leaves) if leaf.path in paths]
    _, first = np.unique(context.unpack(packed)[:, columns], axis=0, return_index=True)
    look = _text_of(context, fact, packed)
    reached = dict.fromkeys(look(index) for index in first.tolist())
    return FactMismatch(fact.name, fact.value, look(best), tuple(reached)[:MOST_VALUES], never)


def _text_of(context: SegmentContext, fact: Fact, packed: np.ndarray) -> Callable[[int], str]:
    def look(index: int) -> str:
        vector = context.unpack(packed[index : index + 1])[0].tolist()
        with context.model.active():
            return fact.look(context.model.shape.rebuild(iter(vector)))

    return look


def steps_not_taken(searches: Iterable[SegmentSearch]) -> tuple[LoggedStep, ...]:
    """Return the next logged step of each log of which no state has taken what is due at the waypoint.

    Args:
        searches: The searches of one segment.
    """
    found: list[LoggedStep] = []
    searches = list(searches)
    layers = [each for search in searches for each in search.tried.values() if each.size]
    if not layers or not layers[0].logs.due.size:
        return ()
    logs, due = layers[0].context.series.logs, layers[0].logs.due
    ended = [one.positions for search in searches for one in search.ended.values()]
    furthest = np.max([*map(_positions, layers), *ended], axis=0)
    for log, place in zip(logs, np.where(furthest < due, furthest, -1).tolist(), strict=True):
        found += [log[place]] if place >= 0 else []
    return tuple(found)


def _positions(layers: Layers) -> np.ndarray:
    """Return how many steps of each log some state has taken, int64[logs]."""
    if not layers.context.series.logs:
        return np.zeros(0, np.int64)
    found: np.ndarray = layers.context.positions(layers.packed(np.arange(layers.size))).max(axis=0, initial=0)
    return found


def logged_along(
    model: Model, series: Series, trace: Trace, arrivals: Sequence[int]
) -> tuple[tuple[int, LoggedStep], ...]:
    """Return the logged steps that a behaviour takes, each with the number of its step, in plain Python.

    Args:
        model: The model.
        series: The series, with its logs.
        trace: The behaviour.
        arrivals: The numbers of steps after which it matches each waypoint.

    Raises:
        InternalError: It matches a waypoint before it has taken what the logs show until then.
    """
    places, found, leaves = [0] * len(series.logs), [], model.leaf_numbers

    def holds(clauses: tuple[Clause, ...], vector: Vector) -> bool:
        return all(any(vector[leaves[path]] in numbers for path, numbers in clause) for clause in clauses)

    def fits(step: LoggedStep, instance: ActionInstance, number: int) -> bool:
        is_it = is_logged(instance, step) and holds(step.before, trace.states[number - 1])
        return is_it and holds(step.clauses, trace.states[number])

    begin = 0
    for waypoint, end in enumerate(arrivals):
        for number in range(begin + 1, end + 1):
            instance = model.instance(trace.actions[number - 1])
            for index, log in enumerate(series.logs):
                first = places[index]
                for step in log[first:]:
                    if step.first > waypoint or not fits(step, instance, number):
                        break
                    if step.distinct and places[index] > first:
                        break
                    found.append((number, step))
                    places[index] += 1
        begin = end
        for index, log in enumerate(series.logs if waypoint == 0 else ()):
            for step in log[places[index] :]:
                if not (step.standing and holds(step.clauses, trace.states[end])):
                    break
                found.append((end, step))
                places[index] += 1
        for place, log in zip(places, series.logs, strict=True):
            if any(step.last is not None and step.last <= waypoint for step in log[place:]):
                raise InternalError(f"Plain Python does not take what a log shows before {series.waypoints[waypoint]}.")
    return tuple(found)


EVENTS = 8
"""The default for the most assumed events of a segment."""
SHARES = {
    EventTiming.PATIENT: 8,
    EventTiming.CALM: 4,
    EventTiming.EAGER: 2,
    EventTiming.SLOW: 2,
    EventTiming.HASTY: 2,
    EventTiming.AIMED: 6,
    EventTiming.SEQUENCE: 2,
}
"""The most assumed events with each timing; of a search that aims, those beyond the fewest that the waypoint needs; of
one in sequence, the others."""
MEMORY = 1 << 30
"""The most bytes of states for one timing of one segment."""
INTERRUPTED = "interrupted"
LADDER = (
    {EventTiming.PATIENT: 1, EventTiming.CALM: 1},
    {EventTiming.PATIENT: 1, EventTiming.CALM: 1, EventTiming.AIMED: 1, EventTiming.EAGER: 0},
    {EventTiming.SEQUENCE: 0},
    {EventTiming.AIMED: 4},
    {EventTiming.PATIENT: 2, EventTiming.CALM: 2, EventTiming.EAGER: 0},
    {EventTiming.SEQUENCE: 1},
    {EventTiming.PATIENT: 2, EventTiming.CALM: 2, EventTiming.AIMED: 6, EventTiming.EAGER: 1},
    {EventTiming.SEQUENCE: 2},
    {EventTiming.PATIENT: 3, EventTiming.CALM: 2, EventTiming.EAGER: 1},
    {EventTiming.PATIENT: 3, EventTiming.CALM: 2, EventTiming.EAGER: 1, EventTiming.HASTY: 1},
    {EventTiming.PATIENT: 3, EventTiming.CALM: 2, EventTiming.EAGER: 2, EventTiming.SLOW: 1, EventTiming.HASTY: 1},
)
"""The events that are tried in turn for the furthest segment, before all segments are searched exhaustively: each
event more costs a multiple, and an earlier segment may have to end elsewhere. An aimed, eager or slow search aims at
the waypoint; its number is that of events beyond the fewest that the waypoint needs. The number of a sequence is that
of other events before and after it, and between the two of a pair."""
BACKTRACKED_SEGMENTS = 1
"""How many segments before the furthest one are searched in haste, too."""

MOST_SPARE = 2
"""The most spare events of a calm search that aims, if they may be any: of more, they are two that belong together."""

SearchKey = tuple[EventTiming, tuple[Event | None, ...], int | None]
"""What distinguishes the searches of a segment: the timing, the sequence of events, and the number of spare events."""

Limits = Mapping[EventTiming, int]
"""The most events of a segment with each timing, and beyond the fewest if it is eager; others are left out."""


class Fit(Enum):
    """The answer; the value is what `--json` prints as `verdict`."""

    EXPLAINED = "explained"
    REFUSED = "no behaviour fits"
    UNDECIDED = "undecided"

    @property
    def exit_code(self) -> int:
        """The command's exit code."""
        return {"explained": 0, "no behaviour fits": 12, "undecided": 3}[self.value]


@frozen
class ExplainOptions:
    """The options of `explain`.

    Args:
        events: The most assumed events of a segment.
        seconds: The time budget, with all that is prepared; None for no limit.
        memory: The memory budget in bytes for one timing of one segment; None for a default.
        report: Receives progress.
        command: The command line that reproduces the search.
        began: When the time of the budget began, in seconds of the monotonic clock; None for now.
        queue: What compiles models, also of other searches; None for a queue of its own.
    """

    events: int = EVENTS
    seconds: float | None = None
    memory: int | None = None
    began: float | None = None
    report: Report = field(default=silent, repr=False)
    command: str = ""
    queue: CompilationQueue | None = field(default=None, repr=False, eq=False)

    @property
    def limits(self) -> Limits:
        """The most events with each timing."""
        return {timing: min(share, self.events) for timing, share in SHARES.items()}


@frozen
class SegmentEffort:
    """The search of one segment: states stored, and the number of events up to which it was exhaustive, by timing.

    None means that not even the layer without events was completed. A timing that was not searched is missing, and so
    is a search of sequences, or one that aims at the waypoint, which is exhaustive for no number of events.
    """

    number: int
    waypoint: str
    starts: int
    states: int
    complete: Mapping[EventTiming, int | None]


@frozen
class Explanation:
    """The answer. `arrivals` are the numbers of steps after which the trace matches each waypoint.

    Unless the fit is EXPLAINED, the trace leads to the last waypoint that was reached, and `mismatch` is about the
    next.
    """

    fit: Fit
    how: str
    trace: Trace | None
    arrivals: tuple[int, ...]
    efforts: tuple[SegmentEffort, ...]
    seconds: float
    mismatch: Mismatch | None = None
    bounds_hit: dict[str, int] = field(factory=dict)
    compared: Compared = field(factory=Compared, eq=False)
    """How much was compared with plain Python."""
    executed: str = "compiled code"
    """What executed the model: compiled code, plain Python, or the second and then the first."""
    logged: tuple[tuple[int, LoggedStep], ...] = ()
    """The logged steps that the trace takes, each with the number of the step."""

    @property
    def states(self) -> int:
        """The number of stored states."""
        return sum(effort.states for effort in self.efforts)


@frozen(eq=False)
class EndedLayers:
    """What is kept of layers: the number of states, and how many steps of each log some state has taken."""

    size: int
    positions: np.ndarray


@define(eq=False)
class SegmentSearch:
    """The search of one segment from some starts; each layer may find new states that match the waypoint."""

    context: SegmentContext
    number: int
    starts: np.ndarray
    before: tuple[SegmentSearch, Layers, np.ndarray] | None
    """The search of the segment before, its layers that found the starts, and the indices of the starts in them."""
    results: set[bytes]
    """The matching states that any search of this segment has returned; they are not continued from again."""
    tried: dict[SearchKey, Layers] = field(factory=dict)
    ended: dict[SearchKey, EndedLayers] = field(factory=dict)
    """The searches in sequence that ended without any state that matches: there are many."""
    _reported: dict[SearchKey, int] = field(factory=dict)

    @property
    def waypoint(self) -> Waypoint:
        """The waypoint at the end of the segment."""
        return self.context.series.waypoints[self.number]

    def next(self, limits: Limits) -> tuple[Layers, np.ndarray] | None:
        """Return the new matching states of the next layer that has some; None when the limits are reached."""
        for timing, most in limits.items():
            for key in self._keys(timing, most):
                new = None if key in self.ended else self._search(key, most)
                if new is not None:
                    return new
        return None

    def _search(self, key: SearchKey, most: int) -> tuple[Layers, np.ndarray] | None:
        """Return the new matching states of the next layer of one search; what ends without any is forgotten."""
        timing, sequence, spare = key
        if key not in self.tried:
            self.tried[key] = Layers(
                self.context, self.waypoint, self.starts, timing, number=self.number, spare=spare, sequence=sequence
            )
        layers = self.tried[key]
        last = layers.aim.most if layers.aim is not None else len(sequence) or most
        while layers.complete is None or layers.complete < last:
            layers.advance()
            new = self._new(key)
            if len(new):
                return layers, new
        if sequence and not len(layers.goals):
            self.ended[key] = EndedLayers(layers.size, _positions(layers))
            del self.tried[key]
        return None

    def _keys(self, timing: EventTiming, most: int) -> Iterator[SearchKey]:
        """Yield the searches of a timing: the events of those in sequence, and the spare events of those that aim."""
        if timing is EventTiming.SEQUENCE:
            for others in range(most + 1):
                yield from ((timing, sequence, None) for sequence in self._sequences(others))
        elif timing is EventTiming.AIMED:
            yield from ((timing, (), spare) for spare in range(min(most, 1) + 1))
            pairs = [events for events in self.context.series.sequences if len(events) == 2]
            yield from ((timing, pair, most) for pair in pairs if most > MOST_SPARE)
            yield from ((timing, (), spare) for spare in range(2, min(most, MOST_SPARE) + 1))
        elif timing.aims:
            yield from ((timing, (), spare) for spare in range(most + 1))
        else:
            yield timing, (), None

    def _sequences(self, others: int) -> Iterator[tuple[Event | None, ...]]:
        """Yield the sequences with a number of any events before and after them, and between the two of a pair."""
        for before, between in product(range(others + 1), repeat=2):
            for events in self.context.series.sequences:
                after = others - before - between
                if after >= 0 and (between == 0 or len(events) == 2):
                    yield (*[None] * before, events[0], *[None] * between, *events[1:], *[None] * after)

    def _others(self) -> int | None:
        """Return the number of other events up to which all sequences have ended; None without any."""
        found = None
        for others in range(SHARES[EventTiming.SEQUENCE] + 1):
            keys = list(self._keys(EventTiming.SEQUENCE, others))
            if not keys or not all(map(self._has_ended, keys)):
                break
            found = others
        return found

    def _has_ended(self, key: SearchKey) -> bool:
        """Whether a search in sequence has taken all of its events."""
        return key in self.ended or (key in self.tried and self.tried[key].complete == len(key[1]))

    def _new(self, key: SearchKey) -> np.ndarray:
        """Return the matching states that no search has returned before; event counters are not compared."""
        layers = self.tried[key]
        found = layers.goals[self._reported.get(key, 0) :]
        self._reported[key] = len(layers.goals)
        new: list[int] = []
        for index, row in zip(found.tolist(), layers.packed(found) & self.context.compared_bits, strict=True):
            state = row.tobytes()
            if state not in self.results:
                self.results.add(state)
                new.append(index)
        return np.array(new, np.int64)

    def effort(self) -> SegmentEffort:
        """Return what was done so far."""
        complete = {
            timing: layers.complete
            for (timing, sequence, spare), layers in self.tried.items()
            if not sequence and spare is None
        }
        if (others := self._others()) is not None:
            complete[EventTiming.SEQUENCE] = others
        sizes = [*(layers.size for layers in self.tried.values()), *(one.size for one in self.ended.values())]
        return SegmentEffort(self.number, self.waypoint.name, len(self.starts), sum(sizes), complete)


@frozen(eq=False)
class FurthestSegment:
    """A segment that was reached and not passed: its number, the starts of all searches, the steps to the first one.

    `way` has the instances of each segment before it, preceded by the index of the initial state; None without any.
    """

    number: int
    starts: np.ndarray
    way: list[tuple[int, ...]] | None
    not_taken: tuple[LoggedStep, ...]


def explain(model: Model, kernel: Kernel | None, series: Series, options: ExplainOptions | None = None) -> Explanation:
    """Search for a behaviour of the model that passes through all waypoints of the series in order.

    Args:
        model: The model, with the bounds, flags and initial states of the series.
        kernel: Its kernel; None for one from the cache, or plain Python until the model is compiled.
        series: The waypoints.
        options: The options.

    Raises:
        ModelFailure: An action leaves its domain, or fails otherwise.
        EngineDisagreement: Plain Python and the kernel give different results in some state.
    """
    with _reconstruction(model, kernel, series, options or ExplainOptions()) as reconstruction:
        found = reconstruction.climb() or reconstruction.exhaust()
        return found or reconstruction.undecided()


WIDENING = (0.35, 0.7)
"""The shares of the time after which the ladder of the narrow series ends, and that of the wider one."""
AGAIN, WAITING = 0.4, 0.9
"""The share of the time left for each ladder by compiled code, where plain Python did not come to its end; and the
share of all time up to which compiled code is waited for."""
COMPILING = 0.6
"""The least share of all time up to which a search goes on while its model is compiled: another one would wait, too."""
WAITS = "waiting until the model is compiled"
NARROW = 0.5
"""The share of the time left then for all segments of the narrow series; the wider one has the rest."""


def explain_widening(
    narrow: tuple[Model, Series], wider: tuple[Model, Series], options: ExplainOptions
) -> tuple[bool, Explanation]:
    """Search for a behaviour that passes through a series, and for one with more assumptions if there is none.

    A behaviour without them is looked for as long again as its ladder took; what is found soon with more assumptions is
    preferred to a longer search.

    Args:
        narrow: The series, with its model.
        wider: The series with more assumptions.
        options: The options; the time budget is for both.

    Returns:
        Whether it is about the wider series, and the answer.

    Raises:
        ModelFailure: An action leaves its domain, or fails otherwise.
        EngineDisagreement: Plain Python and the kernel give different results in some state.
    """
    refused = None
    with (
        CompilationQueue() as queue,
        _reconstruction(
            narrow[0], None, narrow[1], options if options.queue else evolve(options, queue=queue)
        ) as first,
    ):
        options = first.options
        if found := first.climb(WIDENING[0]):
            return False, found
        share = min(WIDENING[0], first.share_as_long_again)
        if share > 0 and not first.stopped and (found := first.deepen(share)):
            return False, found
        with _reconstruction(wider[0], None, wider[1], options) as second:
            if not first.is_interrupted and (found := second.climb(WIDENING[1])):
                return True, found
            for again in (first, second):
                if not first.is_interrupted and (found := again.climb_again(AGAIN)):
                    return again is second, found
            if not second.is_interrupted and (found := first.exhaust(first.share_of_rest(NARROW))):
                if found.fit is Fit.EXPLAINED:
                    return False, found
                refused = found
            if first.is_interrupted:
                return False, first.undecided()
            if found := second.exhaust():
                return True, found
            if refused:
                return False, refused
            return (False, first.undecided()) if first.reached > second.reached else (True, second.undecided())


def events_along(model: Model, series: Series, explanation: Explanation) -> dict[str, frozenset[str]]:
    """Return the events of the whole system that a behaviour takes before each waypoint, by the waypoint's name.

    Args:
        model: The model.
        series: The series.
        explanation: The answer, with a trace through all waypoints.
    """
    assert explanation.trace is not None
    events: dict[str, frozenset[str]] = {}
    with model.active():
        for waypoint, (begin, end) in zip(series.waypoints, pairwise((0, *explanation.arrivals)), strict=True):
            taken = map(model.instance, explanation.trace.actions[begin:end])
            events[waypoint.name] = frozenset(text_of(one) for one in taken if one.action.name in series.common)
    return events


def explain_along(
    model: Model, series: Series, happened: Mapping[str, frozenset[str]], options: ExplainOptions
) -> Explanation | None:
    """Search for a behaviour with the events of the whole system that another series was explained with.

    Args:
        model: The model.
        series: The series.
        happened: Those events, by the names of the waypoints after them.
        options: The options.

    Returns:
        A behaviour, or the answer of a search that was interrupted. None if none is found, which decides nothing.

    Raises:
        ModelFailure: An action leaves its domain, or fails otherwise.
        EngineDisagreement: Plain Python and the kernel give different results in some state.
    """
    with _reconstruction(model, None, series.along(happened), options) as reconstruction:
        found = reconstruction.climb(ALONG) or reconstruction.deepen()
        return reconstruction.undecided() if reconstruction.is_interrupted else found


ALONG = 0.5
"""The share of the time after which the ladder of such a search ends."""


@contextmanager
def _reconstruction(
    model: Model, kernel: Kernel | None, series: Series, options: ExplainOptions
) -> Iterator[TraceReconstruction]:
    """Yield a search; end its process and free its states afterwards."""
    reconstruction = None
    try:
        reconstruction = TraceReconstruction(model, kernel, series, options)
        yield reconstruction
    except DomainError as error:
        raise ModelFailure(str(error), model, getattr(error, "trace", None)) from error
    finally:
        if reconstruction is not None:
            reconstruction.searches.clear()  # Free the states now, not at the next garbage collection.
            reconstruction.context.search_kernel.close()


class TraceReconstruction:
    """The search through all segments. After `climb` and `exhaust`, `stopped` is why they found nothing."""

    def __init__(self, model: Model, kernel: Kernel | None, series: Series, options: ExplainOptions) -> None:
        self.options, self.expanded, self.stopped, self.share = options, 0, "", 1.0
        self.started = time.monotonic() if options.began is None else options.began
        memory = min(MEMORY, int(DEFAULT_SHARE * available_memory())) if options.memory is None else options.memory
        search_kernel = SearchKernel(model, kernel, options.queue)
        self.context = SegmentContext(model, search_kernel, series, memory, self._report, self.options.events)
        self.searches: list[SegmentSearch] = []
        self.results: dict[int, set[bytes]] = {}
        self.furthest: FurthestSegment | None = None
        """The furthest segment of the searches that were stopped and are forgotten."""
        self.origin = Origin("explain", command=options.command)
        self.climbed_in_plain_python = self.ladder_was_cut = False
        self._was_plain = search_kernel.is_plain

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    def _report(self, expanded: int) -> None:
        self.expanded += expanded
        segment = self.searches[-1].number if self.searches else 0
        self._announce(f"searching for {self.context.series.waypoints[segment].name}{self.context.search_kernel.note}")
        if self._was_plain and not self.context.search_kernel.is_plain:
            self._was_plain, self.share = False, self.share_of_rest(self.share)  # what plain Python took is not counted
        share = max(self.share, COMPILING) if self.context.search_kernel.is_compiling else self.share
        if self._ends is not None and self.seconds >= self._ends * share:
            raise BudgetSpent(f"time budget of {self.options.seconds:g} s")

    def _announce(self, note: str) -> None:
        """Report progress."""
        budget = self.options.seconds
        self.options.report(
            Progress(
                engine="explain",
                done=self.expanded,
                unit="states",
                seconds=self.seconds,
                left=None if budget is None else max(0.0, budget - self.seconds),
                note=note,
            )
        )

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C has ended it."""
        return self.stopped == INTERRUPTED

    def share_of_rest(self, share: float) -> float:
        """Return the share of all time after which a share of the time is spent that is left now."""
        spent = 0.0 if self._ends is None else min(1.0, self.seconds / self._ends)
        return spent + share * (1 - spent)

    @property
    def share_as_long_again(self) -> float:
        """The share of all time after which twice the time is spent that is spent now; 0 if there is no budget."""
        return 0.0 if self._ends is None else 2 * self.seconds / self._ends

    def climb_again(self, share: float) -> Explanation | None:
        """Climb the ladder by compiled code in a share of the time left, if plain Python did not come to its end.

        Compiled code is waited for; without it nothing is searched.
        """
        if not self.ladder_was_cut or self.is_interrupted or not self.climbed_in_plain_python:
            return None
        end = math.inf if self._ends is None else WAITING * self._ends
        try:
            is_there = self.context.search_kernel.wait(self.started + end, partial(self._announce, WAITS))
        except KeyboardInterrupt:
            self.stopped = INTERRUPTED
            return None
        return self.climb(self.share_of_rest(share)) if is_there else None

    @property
    def _ends(self) -> float | None:
        """Seconds after the start when the search ends; the nearest state is looked for in the rest of the time."""
        return None if self.options.seconds is None else (1 - NEAR_SHARE) * self.options.seconds

    def climb(self, share: float = 1.0) -> Explanation | None:
        """Climb the ladder until a share of the time is spent; return the behaviour if one is found."""
        compile_loops(self.context)
        self.climbed_in_plain_python = self.context.search_kernel.is_plain
        found = self._explained(share, lambda: self._climb(self._search_of(0, self._initial(), None)))
        self.ladder_was_cut = bool(self.stopped)
        return found

    def deepen(self, share: float = 1.0) -> Explanation | None:
        """Search all segments calmly, and in haste the furthest and the one before; return the behaviour if any."""
        return None if self.is_interrupted else self._explained(share, self._exhaust)

    def exhaust(self, share: float = 1.0) -> Explanation | None:
        """Deepen the search, and return that no behaviour fits if it is complete; None if it is undecided."""
        found = self.deepen(share)
        if found or self.stopped:
            return found
        reached = self.context.series.waypoints[: self._furthest() + 1]
        doubt = next((waypoint.doubt for waypoint in reached if waypoint.doubt), "")
        return self._ended(Fit.UNDECIDED, doubt) if doubt else self._ended(Fit.REFUSED, "exhaustive")

    def undecided(self) -> Explanation:
        """Return the answer of a search that was stopped."""
        return self._ended(Fit.UNDECIDED, self.stopped)

    def _explained(
        self, share: float, search: Callable[[], tuple[SegmentSearch, Layers, int] | None]
    ) -> Explanation | None:
        """Return the behaviour that a search finds before a share of the time is spent."""
        if self.stopped:  # A layer that was interrupted cannot be continued.
            self.furthest = self._furthest_segment()
            self.searches.clear()
            self.results.clear()
        self.share, self.stopped = share, ""
        try:
            arrived = search()
        except BudgetSpent as stop:
            self.stopped = str(stop)
            return None
        except KeyboardInterrupt:
            self.stopped = INTERRUPTED
            return None
        except StepFailed as failure:
            raise self._failure(failure) from None
        return arrived and self._answer(Fit.EXPLAINED, "confirmed in plain Python", self._steps_to(*arrived))

    def _exhaust(self) -> tuple[SegmentSearch, Layers, int] | None:
        if not self.searches:
            self._search_of(0, self._initial(), None)
        calm: Limits = {timing: SHARES[timing] for timing in (EventTiming.PATIENT, EventTiming.CALM)}
        calm = {timing: min(most, self.options.events) for timing, most in calm.items()}
        arrived = self._search_again(self.searches[0], calm)
        for back in range(BACKTRACKED_SEGMENTS + 1):
            for search in self._searches_of(self._furthest() - back) if arrived is None else ():
                arrived = arrived or self._search(search, self.options.limits)
        return arrived

    def _climb(self, first: SegmentSearch) -> tuple[SegmentSearch, Layers, int] | None:
        """Search with the limits of the ladder, from its first rung after each new segment that is reached."""
        arrived = self._search(first, self._rung(0))
        rung = 1
        while arrived is None and rung < len(LADDER):
            furthest = self._furthest()
            nearest = (s for back in range(BACKTRACKED_SEGMENTS + 1) for s in self._searches_of(furthest - back))
            for search in list(nearest):
                arrived = self._search(search, self._rung(rung), beyond=(furthest, self._rung(0)))
                if arrived is not None or self._furthest() > furthest:
                    break
            rung = 1 if self._furthest() > furthest else rung + 1
        return arrived

    def _rung(self, number: int) -> Limits:
        return {timing: min(most, self.options.events) for timing, most in LADDER[number].items()}

    def _search_again(self, first: SegmentSearch, limits: Limits) -> tuple[SegmentSearch, Layers, int] | None:
        """Search from all states that were reached, the furthest first, with wider limits."""
        for number in range(self._furthest(), first.number - 1, -1):
            for search in self._searches_of(number):
                arrived = self._search(search, limits)
                if arrived is not None:
                    return arrived
        return None

    def _initial(self) -> np.ndarray:
        model = self.context.model
        vectors = np.unique(np.array(model.initial, np.int64).reshape(len(model.initial), -1), axis=0)
        return self.context.keys(self.context.kernel.pack(vectors))

    def _search_of(
        self, number: int, starts: np.ndarray, before: tuple[SegmentSearch, Layers, np.ndarray] | None
    ) -> SegmentSearch:
        begins = self.context.with_standing(starts) if number == 1 else starts
        search = SegmentSearch(self.context, number, begins, before, self.results.setdefault(number, set()))
        self.searches.append(search)
        return search

    def _search(
        self, first: SegmentSearch, limits: Limits, beyond: tuple[int, Limits] | None = None
    ) -> tuple[SegmentSearch, Layers, int] | None:
        """Search depth first from a segment to the last waypoint; return where it is matched, or None.

        Args:
            first: The search of the segment.
            limits: The limits of the events.
            beyond: A segment, and the limits of those after it; None if all have the same.
        """
        stack = [first]
        while stack:
            search = stack[-1]
            found = search.next(limits if beyond is None or search.number <= beyond[0] else beyond[1])
            if found is None:
                stack.pop()
            elif search.number + 1 == len(self.context.series.waypoints):
                return search, found[0], int(found[1][0])
            else:
                starts = found[0].packed(found[1])
                stack.append(self._search_of(search.number + 1, starts, (search, *found)))
        return None

    def _furthest(self) -> int:
        """The number of the furthest segment that was reached."""
        return max(search.number for search in self.searches)

    @property
    def reached(self) -> int:
        """The number of the furthest segment that was reached by any search."""
        return self._furthest_segment().number if self.searches or self.furthest else 0

    def _furthest_segment(self) -> FurthestSegment:
        """Return the furthest segment of all searches: that of the present ones, unless earlier ones came further."""
        if self.furthest and (not self.searches or self._furthest() <= self.furthest.number):
            return self.furthest
        searches = self._searches_of(self._furthest())
        way, before = None, searches[0].before
        if before is not None:
            search, layers, numbers = before
            way = self._steps_to(search, layers, int(numbers[0]))
        starts = np.unique(np.concatenate([search.starts for search in searches]), axis=0)
        return FurthestSegment(searches[0].number, starts, way, steps_not_taken(searches))

    def _searches_of(self, number: int) -> list[SegmentSearch]:
        return [search for search in self.searches if search.number == number]

    # The answer.

    def _steps_to(self, search: SegmentSearch, layers: Layers, index: int) -> list[tuple[int, ...]]:
        """Return the instances of each segment up to a state, preceded by the index of the initial state."""
        parts: list[tuple[int, ...]] = []
        while True:
            start, instances = layers.steps_to(index)
            parts.append(tuple(instances))
            if search.before is None:
                return [(start,), *parts[::-1]]
            search, layers, numbers = search.before
            index = int(numbers[start])

    def _path(self, way: list[tuple[int, ...]]) -> PackedPath:
        taken = [instance for part in way[1:] for instance in part]
        start = self._initial()[way[0][0], : self.context.kernel.words]
        return path_along(self.context.kernel, start, taken)

    def _trace(self, way: list[tuple[int, ...]]) -> Trace:
        return confirmed_trace(self.context.model, self.context.kernel, self._path(way), prop=None, origin=self.origin)

    def _answer(
        self, fit: Fit, how: str, way: list[tuple[int, ...]] | None, mismatch: Mismatch | None = None
    ) -> Explanation:
        arrivals = np.cumsum([len(part) for part in (way or [()])[1:]]).tolist()
        hits: dict[str, int] = {}
        for search in self.searches:
            for layers in search.tried.values():
                for name, count in layers.bounds_hit().items():
                    hits[name] = hits.get(name, 0) + count
        source, trace = self.context.search_kernel, self._trace(way) if way else None
        logged = logged_along(self.context.model, self.context.series, trace, arrivals) if trace else ()
        for name, count in source.functions.bounds_hit.items() if source.functions else ():
            hits[name] = hits.get(name, 0) + count
        return Explanation(
            fit,
            how,
            trace,
            tuple(arrivals),
            tuple(s.effort() for s in self.searches),
            self.seconds,
            mismatch,
            hits,
            self._compared(),
            source.description,
            logged,
        )

    def _compared(self) -> Compared:
        """Compare some of the stored states of all searches with plain Python; return how much was compared.

        Raises:
            EngineDisagreement: Plain Python has another result in some state.
        """
        context = self.context
        if context.search_kernel.is_plain:
            return Compared()
        layers = [each for search in self.searches for each in search.tried.values() if each.size]
        ends = list(accumulate(each.size for each in layers))
        sampler, maker = StateSampler(context.model), RecordMaker(context.kernel)
        sampler.offer(candidates(0, ends[-1] if ends else 0))

        def record(number: int) -> CompiledRecord:
            place = bisect_right(ends, number)
            index = number - (ends[place - 1] if place else 0)
            return maker.record(layers[place].packed(np.array([index], np.int64))[0, : context.kernel.words].copy())

        sampler.compare(self.seconds, context.kernel, record)
        return sampler.compared

    def _ended(self, fit: Fit, how: str) -> Explanation:
        """Return the answer of a search that did not reach the end, with the mismatch."""
        furthest = self._furthest_segment()
        waypoint = self.context.series.waypoints[furthest.number]
        left = NEAR_SECONDS if self.options.seconds is None else self.options.seconds - self.seconds
        seconds = max(min(left * 0.7, NEAR_SECONDS), 0.0)
        mismatch = find_mismatch(self.context, waypoint, furthest.number, furthest.starts, seconds)
        return self._answer(fit, how, furthest.way, evolve(mismatch, not_taken=furthest.not_taken))

    def _failure(self, failure: StepFailed) -> Exception:
        search = next(s for s in self.searches if failure.layers in s.tried.values())
        path = self._path(self._steps_to(search, failure.layers, failure.index))
        return domain_error(self.context.model, self.context.kernel, path, self.origin)
