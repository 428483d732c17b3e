"""The search of one segment between two waypoints: its states, layer by layer, with one timing of events.

Words: the *timing* states when assumed events happen. In a *calm* search they happen only at rest, when nothing but
idle time is enabled; snapshots are taken at rest, and prompt steps at once. A *patient* search is calm, and events also
wait for what happens in idle time. In a *hasty* one anything happens at any time; in an *eager* one events do, and
prompt steps are taken at once, but for those that the series calls *slow* in a *slow* one. What a calm search finds is
a behaviour of the model; what it does not find may exist in haste.

A search may *aim* at the waypoint: with the fewest events that its needs ask for, or some more. If no more events than
that are left, only events that serve a need are taken. One that does is not rare.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from attrs import evolve, field, frozen

from kwalk.model.language import Action, ActionInstance, Model, UsageError
from kwalk.model.language.errors import unknown
from kwalk.model.language.series import Clause, Event, LoggedStep, Series, Waypoint
from kwalk.search.analyses.explain import segment_loops as loops
from kwalk.search.analyses.explain.kernels import LoopQuery, LoopTask, SearchKernel, instances_of
from kwalk.search.analyses.explain.segment_loops import (
    MOST_LOGGED,
    POSITIONS_PER_WORD,
    ClauseProgram,
    LogProgram,
    Segment,
    SegmentCursor,
    SegmentStatus,
    StepKind,
    holding,
)
from kwalk.search.kernel.interface import Kernel
from kwalk.search.native.memory import reserve
from kwalk.search.visited.key_store import LEAST_REGION, KeyStore

NO_WAYPOINT = -1
WIDEST = 16
"""The most bits of a leaf in a clause: its numbers are looked up in a table."""


def program_of(model: Model, kernel: Kernel, clauses: Iterable[Clause]) -> ClauseProgram:
    """Return the program of a conjunction of clauses; UsageError for an unknown leaf."""
    leaves = model.leaf_numbers
    rows: list[tuple[int, int, int, int]] = []
    ends: list[int] = []
    allowed: list[np.ndarray] = []
    for clause in clauses:
        for path, numbers in clause:
            if path not in leaves:
                raise unknown("leaf", path, leaves)
            leaf = leaves[path]
            offset, width, low = int(kernel.offsets[leaf]), int(kernel.widths[leaf]), int(kernel.lows[leaf])
            rows.append((offset // 64, offset % 64, (1 << width) - 1, sum(map(len, allowed))))
            allowed.append(_table(path, width, low, numbers))
        ends.append(len(rows))
    columns = np.array(rows, np.int64).reshape(-1, 4).T
    return ClauseProgram(
        words=columns[0].copy(),
        shifts=columns[1].astype(np.uint64),
        masks=columns[2].astype(np.uint64),
        bases=columns[3].copy(),
        ends=np.array(ends, np.int64),
        allowed=np.concatenate([*allowed, np.zeros(1, np.uint8)]),
    )


def _table(path: str, width: int, low: int, numbers: Iterable[int]) -> np.ndarray:
    if width > WIDEST:
        raise UsageError(f"The leaf {path!r} has {width} bits, too many for a clause. Allowed: {WIDEST}.")
    table = np.zeros(1 << width, np.uint8)
    for number in numbers:
        if 0 <= number - low < len(table):
            table[number - low] = 1
    return table


def truth(program: ClauseProgram, packed: np.ndarray) -> np.ndarray:
    """Return for each key, uint64[n, words], whether the program holds, bool[n]."""
    found, keys = np.zeros(len(packed), np.bool_), np.ascontiguousarray(packed, np.uint64)
    holding(program, keys.ctypes.data, keys.shape[1], found)
    return found


class EventTiming(Enum):
    """When assumed events happen; an aimed search, and one in sequence, takes them as a calm one."""

    PATIENT = "patient"
    CALM = "calm"
    EAGER = "eager"
    HASTY = "hasty"
    SLOW = "slow"
    AIMED = "aimed"
    SEQUENCE = "sequence"

    @property
    def aims(self) -> bool:
        """Whether a search with this timing aims at the waypoint."""
        return self in (EventTiming.EAGER, EventTiming.SLOW, EventTiming.AIMED)

    @property
    def code(self) -> int:
        """The constant of the loops."""
        return {
            "patient": loops.TIMING_PATIENT,
            "calm": loops.TIMING_CALM,
            "eager": loops.TIMING_EAGER,
            "hasty": loops.TIMING_HASTY,
            "slow": loops.TIMING_EAGER,
            "aimed": loops.TIMING_CALM,
            "sequence": loops.TIMING_CALM,
        }[self.value]


class BudgetSpent(Exception):
    """A budget is spent; the text names it."""


class StepFailed(Exception):
    """An action left its domain in a state."""

    def __init__(self, layers: Layers, index: int) -> None:
        super().__init__()
        self.layers, self.index = layers, index


class SegmentPrograms(NamedTuple):
    """The programs of a segment."""

    limits: ClauseProgram
    goal: ClauseProgram
    logged: LogProgram


@frozen(eq=False)
class SegmentContext:
    """What all segments of a search share."""

    model: Model
    search_kernel: SearchKernel
    series: Series
    memory: int
    tick: Callable[[int], None]
    """Called regularly with the number of newly expanded states; raises BudgetSpent when a budget is spent."""
    most_events: int = 8
    """The most assumed events of a segment."""
    compared_bits: np.ndarray = field(init=False, repr=False)
    """Mask of the bits by which keys are compared, uint64[words]: all but those of the series' event counters."""
    logged_instances: np.ndarray = field(init=False, repr=False)
    """The bit rows of all logged steps, log after log, uint64[steps, instance_words]."""
    _programs: dict[tuple[int, bool], SegmentPrograms] = field(factory=dict, init=False, repr=False)
    _kinds: dict[tuple[int, EventTiming], tuple[Waypoint, np.ndarray]] = field(factory=dict, init=False, repr=False)
    _rows: dict[tuple[int, ...], np.ndarray] = field(factory=dict, init=False, repr=False)

    @property
    def kernel(self) -> Kernel:
        """The present kernel; a faster one has the same layout of states."""
        return self.search_kernel.kernel

    @property
    def words(self) -> int:
        """The words of a key: those of a packed state, and those of the positions in logs."""
        return self.kernel.words - (-len(self.series.logs) // POSITIONS_PER_WORD)

    def keys(self, packed: np.ndarray) -> np.ndarray:
        """Return the keys of packed states at which every log begins, uint64[n, words]."""
        return np.concatenate([packed, np.zeros((len(packed), self.words - packed.shape[1]), np.uint64)], axis=1)

    def unpack(self, keys: np.ndarray) -> np.ndarray:
        """Return the vectors of the packed states in keys."""
        return self.kernel.unpack(np.ascontiguousarray(keys[:, : self.kernel.words]))

    def positions(self, keys: np.ndarray) -> np.ndarray:
        """Return the positions of keys in all logs, int64[n, logs]."""
        found = np.ascontiguousarray(keys[:, self.kernel.words :]).view(np.uint16).astype(np.int64)
        return found[:, : len(self.series.logs)]

    def with_standing(self, keys: np.ndarray) -> np.ndarray:
        """Return keys at the first waypoint, past the logged steps that may have been taken before it."""
        found, width = keys.copy(), self.kernel.words
        positions = found[:, width:].view(np.uint16)
        for number, log in enumerate(self.series.logs):
            for place, step in enumerate(log):
                if not step.standing:
                    break
                holds = truth(program_of(self.model, self.kernel, step.clauses), found)
                positions[holds & (positions[:, number] == place), number] += 1
        return found

    def __attrs_post_init__(self) -> None:
        bits = np.full(self.words, ~np.uint64(0), np.uint64)
        for index, leaf in enumerate(self.model.leaves):
            if leaf.path in self.series.event_counters:
                offset, width = int(self.kernel.offsets[index]), int(self.kernel.widths[index])
                bits[offset // 64] &= ~np.uint64(((1 << width) - 1) << (offset % 64))
        object.__setattr__(self, "compared_bits", bits)
        logged = [logged_instances(self.model, step) for log in self.series.logs for step in log]
        rows = np.array(logged, np.uint64).reshape(-1, self.kernel.instance_words)
        object.__setattr__(self, "logged_instances", rows)

    def programs(self, waypoint: Waypoint, number: int, *, limited: bool) -> SegmentPrograms:
        """Return the programs of a segment; those of a waypoint that has a number are kept."""
        if (number, limited) in self._programs:
            return self._programs[number, limited]
        limits = (*waypoint.limits, *self.series.log_limits) if limited else ()
        goal = tuple(clause for fact in waypoint.facts for clause in fact.clauses)
        first, last = (program_of(self.model, self.kernel, dict.fromkeys(each)) for each in (limits, goal))
        found = SegmentPrograms(first, last, log_program(self, number))
        if number != NO_WAYPOINT:
            self._programs[number, limited] = found
        return found

    def kinds(self, waypoint: Waypoint, timing: EventTiming = EventTiming.CALM) -> np.ndarray:
        """Return the kind of every action instance in the segment of a waypoint, uint8[instances]."""
        key = id(waypoint), timing
        if key not in self._kinds:
            self._kinds[key] = waypoint, self._kinds_of(waypoint, timing)
        return self._kinds[key][1]

    def _kinds_of(self, waypoint: Waypoint, timing: EventTiming) -> np.ndarray:
        found = np.zeros(max(1, len(self.model.instances)), np.uint8)
        for instance in self.model.instances:
            kind = (
                StepKind.NEVER if self._has_not_happened(instance, waypoint) else self._kind(instance.action, waypoint)
            )
            is_slow = timing is EventTiming.SLOW and instance.action.name in self.series.slow
            found[instance.index] = StepKind.ROUTINE if is_slow and kind == StepKind.PROMPT else kind
        return found

    def _has_not_happened(self, instance: ActionInstance, waypoint: Waypoint) -> bool:
        """Whether an instance is an event of the whole system that is known not to happen in the segment."""
        if waypoint.happened is None or instance.action.name not in self.series.common:
            return False
        with self.model.active():
            return text_of(instance) not in waypoint.happened

    def _kind(self, action: Action, waypoint: Waypoint) -> int:
        name, names = action.name, {action.name, action.by.name}
        if not waypoint.without.isdisjoint(names):
            return StepKind.NEVER
        if not action.by.system or name in self.series.events:
            return StepKind.EVENT if names.isdisjoint(self.series.rare | waypoint.rare) else StepKind.RARE
        if name in self.series.idle_time:
            return StepKind.IDLE_TIME
        return StepKind.PROMPT if name in self.series.prompt else StepKind.ROUTINE

    def row(self, *kinds: int) -> np.ndarray:
        """Return the bit row of the instances of some kinds, also of those that a segment leaves out."""
        if kinds not in self._rows:
            self._rows[kinds] = self.row_of(self.kinds(Waypoint("", ())), *kinds)
        return self._rows[kinds]

    def row_of(self, all_kinds: np.ndarray, *kinds: int) -> np.ndarray:
        """Return the bit row of the instances that have one of some kinds, uint64[instance_words]."""
        chosen = np.zeros(len(StepKind), np.uint8)
        chosen[list(kinds)] = 1
        bits = np.zeros(64 * self.kernel.instance_words, np.uint8)
        bits[: len(all_kinds)] = chosen[all_kinds[: len(bits)]]
        return np.packbits(bits, bitorder="little").view(np.uint64)


class Aim:
    """Which events are taken in which states, if a search aims at its waypoint.

    An event that a logged step needs is a need, too, until the step is taken; it may serve the last group as well.

    Args:
        context: What the search has in common.
        waypoint: The waypoint.
        starts: The packed states where the segment begins.
        spare: How many more events than the fewest are taken.
        due: How many of the steps of each log have been taken at the waypoint.
        others: The events of which spare ones are; any if there are none.
    """

    def __init__(
        self,
        context: SegmentContext,
        waypoint: Waypoint,
        starts: np.ndarray,
        spare: int,
        *,
        due: Sequence[int] = (),
        others: Sequence[Event] = (),
    ) -> None:
        self._context, instances = context, context.model.instances
        self.groups = [[len(row) for row in group] for group in waypoint.needs] or [[]]
        needs = [need for group in waypoint.needs for row in group for need in row]
        self._programs = [program_of(context.model, context.kernel, need.clauses) for need in needs]
        logged = [
            (log, place)
            for log, end in enumerate(due)
            for place in range(end)
            if context.series.logs[log][place].events
        ]
        self._logs, self._places = (np.array([each[n] for each in logged], np.int64) for n in (0, 1))
        self.groups[-1].append(len(logged))
        events = [*(need.events for need in needs), *(context.series.logs[log][place].events for log, place in logged)]
        self._serves = np.array(
            [[_serves(each, instance) for instance in instances] for each in events], np.bool_
        ).reshape(len(events), len(instances))
        self._others = np.array([not others or _serves(frozenset(others), one) for one in instances], np.bool_)
        most = spare + int(self.fewest(self._unmet(starts)).max(initial=0))
        self.most = min(most, context.most_events)
        """The most events."""

    def _unmet(self, packed: np.ndarray) -> np.ndarray:
        """Return for each need and state whether it is unmet, bool[needs, states]."""
        rows = [np.logical_not(truth(program, packed)) for program in self._programs]
        if len(self._logs):
            rows += list(self._places[:, None] >= self._context.positions(packed)[:, self._logs].T)
        return np.array(rows, np.bool_).reshape(len(rows), len(packed))

    def fewest(self, unmet: np.ndarray) -> np.ndarray:
        """Return how many events are needed at least, int64[states]."""
        found, place = np.zeros(unmet.shape[1], np.int64), 0
        for group in self.groups:
            counts = [np.zeros(unmet.shape[1], np.int64)]
            for size in group:
                counts.append(unmet[place : place + size].sum(axis=0))
                place += size
            found += np.max(counts, axis=0)
        return found

    def parts(
        self, layers: Layers, order: np.ndarray, layer: int, kind: int
    ) -> tuple[np.ndarray, list[tuple[int, int, np.ndarray]]]:
        """Sort states by the events that are taken in them.

        Args:
            layers: The layers.
            order: The states, all of one layer.
            layer: Its number of events.
            kind: The kind of the events that are taken.

        Returns:
            The states in another order, and its parts: where they begin and end, and the kinds of all instances.
        """
        unmet = self._unmet(layers.packed(order))
        spare = self.most - layer - self.fewest(unmet) - (kind == StepKind.RARE)
        patterns, codes = np.unique(np.vstack([spare > 0, spare >= 0, unmet]), axis=1, return_inverse=True)
        sort = np.argsort(codes.ravel(), kind="stable")
        ends = np.cumsum([0, *np.bincount(codes.ravel(), minlength=patterns.shape[1])]).tolist()
        parts = []
        for pattern, (begin, end) in zip(patterns.T, pairwise(ends), strict=True):
            serving = self._serves[pattern[2:]].any(axis=0)
            taken = serving | (self._others & pattern[0])
            if pattern[1] and taken.any():
                kinds = np.where(serving & (layers.kinds == StepKind.RARE), StepKind.EVENT, layers.kinds)
                parts.append((begin, end, np.where(taken, kinds, StepKind.NEVER).astype(np.uint8)))
        return order[sort], parts


def _serves(events: frozenset[Event], instance: ActionInstance) -> bool:
    first = instance.args[0] if instance.args else None
    return not events.isdisjoint({(instance.action.name, None), (instance.action.name, first)})


def text_of(instance: ActionInstance) -> str:
    """Return who does what, with the labels of a model that is active: the same in all models of one system."""
    return f"{instance.actor} {instance.description}"


def logged_instances(model: Model, step: LoggedStep) -> np.ndarray:
    """Return the bit row of the action instances that may be a logged step, uint64[words]."""
    row = np.zeros((len(model.instances) + 63) // 64, np.uint64)
    for instance in model.instances:
        if is_logged(instance, step):
            row[instance.index // 64] |= np.uint64(1 << (instance.index % 64))
    return row


def is_logged(instance: ActionInstance, step: LoggedStep) -> bool:
    """Return whether an action instance may be a logged step."""
    given = {parameter.name: value for parameter, value in zip(instance.action.parameters, instance.args, strict=True)}
    has_name = not step.actions or instance.action.name in step.actions
    return has_name and all(given.get(name, value) == value for name, value in step.arguments.items())


def log_program(context: SegmentContext, number: int) -> LogProgram:
    """Return the logged steps as those of the segment before a waypoint; without one, none is taken or awaited."""
    logs = context.series.logs
    if max(map(len, logs), default=0) > MOST_LOGGED:
        raise UsageError(f"A log has {max(map(len, logs)):,} steps. Allowed: {MOST_LOGGED:,}; name fewer snapshots.")
    steps = [step for log in logs for step in log]

    def conditions(clauses_of: Callable[[LoggedStep], tuple[Clause, ...]]) -> tuple[np.ndarray, ClauseProgram]:
        ends = np.cumsum([len(clauses_of(step)) for step in steps]).astype(np.int64)
        return ends, program_of(context.model, context.kernel, [c for step in steps for c in clauses_of(step)])

    after, before = conditions(lambda step: step.clauses), conditions(lambda step: step.before)
    ends = [sum(step.first <= number for step in log) for log in logs]
    due = [max((n for n, s in enumerate(log, 1) if s.last is not None and s.last <= number), default=0) for log in logs]
    return LogProgram(
        first_word=context.kernel.words,
        begins=np.cumsum([0, *map(len, logs)])[: len(logs)].astype(np.int64),
        ends=np.array(ends, np.int64),
        due=np.array(due, np.int64),
        rows=context.logged_instances.reshape(-1),
        distinct=np.array([step.distinct for step in steps], np.uint8),
        clauses=after[0],
        after=after[1],
        clauses_before=before[0],
        before=before[1],
    )


class Layers:
    """The states of a segment that are reached from its starts with 0, 1, 2 … events, with one timing.

    A rare event counts as two. Limits may be left out, and logs by leaving out the number of the waypoint. If the
    search aims at the waypoint, `spare` is how many more events than the fewest are taken, of those in `sequence` if
    there are any. Else each layer has one event of the `sequence`, or any one for None; of two that are named and
    follow each other, one may be left out.
    """

    def __init__(
        self,
        context: SegmentContext,
        waypoint: Waypoint,
        starts: np.ndarray,
        timing: EventTiming,
        *,
        number: int = NO_WAYPOINT,
        limited: bool = True,
        spare: int | None = None,
        sequence: Sequence[Event | None] = (),
    ) -> None:
        self.context, self.waypoint, self.timing, self.sequence = context, waypoint, timing, sequence
        kernel = context.kernel
        self.states = KeyStore(context.words, context.memory, widest_step=kernel.instances)
        most = self.states.most
        self.steps = reserve(most, np.uint32, dense=False)  # most searches are small, and there are many
        self.parents, self.depths, self.order, self.matches = (reserve(most, np.int64, dense=False) for _ in range(4))
        self.room = np.zeros((kernel.instances + 1, kernel.words), np.uint64)
        self.successor_instances = np.zeros(kernel.instances + 1, np.uint32)
        self.row, self.hits_of = np.zeros(kernel.instance_words, np.uint64), kernel
        self.hits = np.zeros(2 * len(kernel.bounds) + 2, np.int64)
        self.hits_before: Counter[str] = Counter()
        self.kinds = context.kinds(waypoint, timing)
        self._rows: tuple[np.ndarray, dict[tuple[int, ...], np.ndarray]] = self.kinds, {}
        self.busy_row = context.row(StepKind.ROUTINE, StepKind.PROMPT)
        self.restless_row = context.row(StepKind.ROUTINE, StepKind.PROMPT, StepKind.IDLE_TIME)
        self.limits, self.goal, self.logs = context.programs(waypoint, number, limited=limited)
        self.key = np.zeros(context.words, np.uint64)
        self.cursor = np.zeros(len(SegmentCursor), np.int64)
        self.origins: list[int] = []
        self.parts: list[tuple[int, int]] = []
        """For each layer its begin and end in the order of expansion."""
        self._begin(starts)
        due = self.logs.due.tolist()
        others = [event for event in sequence if event is not None]
        self.aim = None if spare is None else Aim(context, waypoint, starts, spare, due=due, others=others)

    def _begin(self, starts: np.ndarray) -> None:
        """Store the starts that are within the limits; `origins` has their indices."""
        within = truth(self.limits, starts)
        self.origins = np.flatnonzero(within).tolist()
        size = 0
        for first in range(0, len(self.origins), LEAST_REGION // 2):
            block = starts[self.origins[first : first + LEAST_REGION // 2]]
            while not self.states.has_room(len(block)):
                self._grow(size)
            size = self.states.add(block, size)
        self.cursor[[SegmentCursor.STATES, SegmentCursor.SEEDS_END, SegmentCursor.OTHERS]] = size
        self.parents[:size] = -1

    def _grow(self, size: int) -> None:
        if not self.states.grow(size):
            raise BudgetSpent(f"memory budget of {self.context.memory / 2**30:.3g} GiB")

    @property
    def size(self) -> int:
        """The number of states."""
        return int(self.cursor[SegmentCursor.STATES])

    @property
    def goals(self) -> np.ndarray:
        """The states that match the waypoint, nearest first within each layer."""
        return self.matches[: int(self.cursor[SegmentCursor.MATCHES])]

    def packed(self, indices: np.ndarray) -> np.ndarray:
        """Return the keys of these indices, uint64[n, words]; a packed state is at the beginning of its key."""
        return self.states.rows(indices)

    def advance(self) -> None:
        """Complete the next layer: all states that are reached with one more event."""
        cost = 0 if self.complete is None else self.complete + 1
        self.cursor[SegmentCursor.SEEDS] = self.size if cost else 0
        if self.sequence and self.aim is None and cost:
            self._add_event_of_sequence(cost - 1)
        else:
            self._add_events(cost - 1, StepKind.EVENT)
            self._add_events(cost - 2, StepKind.RARE)
        self.cursor[SegmentCursor.SEEDS_END] = self.cursor[SegmentCursor.OTHERS] = self.size
        first = int(self.cursor[SegmentCursor.DONE])
        self._close()
        self.parts.append((first, int(self.cursor[SegmentCursor.DONE])))

    @property
    def complete(self) -> int | None:
        """The greatest number of events for which all states are known; None before the first layer."""
        return len(self.parts) - 1 if self.parts else None

    def _add_events(self, layer: int, kind: int) -> None:
        """Take the events of a kind in the states of an earlier layer."""
        if layer < 0:
            return
        begin, end = self.parts[layer]
        if self.aim is None:
            self._add_events_between(begin, end, kind)
            return
        self.order[begin:end], parts = self.aim.parts(self, self.order[begin:end], layer, kind)
        all_kinds = self.kinds
        for first, last, kinds in parts:
            self.kinds = kinds
            self._add_events_between(begin + first, begin + last, kind)
        self.kinds = all_kinds

    def _add_event_of_sequence(self, place: int) -> None:
        """Take the event at a place of the sequence in the states of the layer before."""
        event, all_kinds = self.sequence[place], self.kinds
        is_event = np.isin(all_kinds, (StepKind.EVENT, StepKind.RARE))
        named = [event is None or _serves(frozenset({event}), one) for one in self.context.model.instances]
        self.kinds = np.where(is_event, np.where(named, StepKind.EVENT, StepKind.NEVER), all_kinds).astype(np.uint8)
        is_after_named = place > 0 and None not in (event, self.sequence[place - 1])
        first = self.parts[place - is_after_named][0]
        self._add_events_between(first, self.parts[place][1], StepKind.EVENT)
        self.kinds = all_kinds

    def _add_events_between(self, begin: int, end: int, kind: int) -> None:
        """Take the events of a kind in expanded states, by their places in the order of expansion."""
        self.cursor[SegmentCursor.ASKED] = begin
        while self.cursor[SegmentCursor.ASKED] < end:
            before = int(self.cursor[SegmentCursor.ASKED])
            self.cursor[SegmentCursor.LIMIT] = min(end, before + self.context.search_kernel.pace)
            self._ask(LoopTask.EVENTS, kind)
            status = loops.seed(self._segment(kind), self.cursor)
            self.context.search_kernel.check()
            if status == SegmentStatus.FULL:
                self._grow(self.size)
            elif status == SegmentStatus.FAILED:
                raise StepFailed(self, int(self.cursor[SegmentCursor.FAILED_AT]))
            self.context.tick(int(self.cursor[SegmentCursor.ASKED]) - before)

    def _close(self) -> None:
        """Expand everything that is reached without a further event."""
        status = SegmentStatus.RUNNING
        while status != SegmentStatus.COMPLETE:
            before = int(self.cursor[SegmentCursor.DONE])
            self.cursor[SegmentCursor.LIMIT] = before + self.context.search_kernel.pace
            self._ask(LoopTask.FREE_STEPS)
            status = loops.close(self._segment(), self.cursor)
            self.context.search_kernel.check()
            if status == SegmentStatus.FULL:
                self._grow(self.size)
            elif status == SegmentStatus.FAILED:
                raise StepFailed(self, int(self.cursor[SegmentCursor.FAILED_AT]))
            self.context.tick(int(self.cursor[SegmentCursor.DONE]) - before)

    def _ask(self, task: LoopTask, event: int = StepKind.EVENT) -> None:
        """Announce what the next loop computes; only plain Python looks at it."""

        def query() -> LoopQuery:
            busy, restless = instances_of(self.busy_row), instances_of(self.restless_row & ~self.busy_row)
            return LoopQuery(task, self.timing.code, tuple(self.kinds.tolist()), busy, restless, event)

        self.context.search_kernel.ask(query)

    def _segment(self, event: int = StepKind.EVENT) -> Segment:
        """Return what the loops read; assumed events are those of a kind."""
        kernel, is_plain = self.context.kernel, self.context.search_kernel.is_plain
        if kernel is not self.hits_of:
            self.hits_before.update(self._hits())
            self.hits, self.hits_of = np.zeros(2 * len(kernel.bounds) + 2, np.int64), kernel
        return Segment(
            expand=kernel.expand if is_plain else 0,
            guards=kernel.guards,
            apply=kernel.apply,
            row_words=kernel.instance_words,
            instances=kernel.instances,
            space=self.states.space,
            successors=self.room.ctypes.data,
            successor_instances=self.successor_instances.ctypes.data,
            row=self.row.ctypes.data,
            hits=self.hits.ctypes.data,
            bounds=len(kernel.bounds),
            prompt_row=self._row(StepKind.PROMPT),
            free_row=self._row(StepKind.ROUTINE, StepKind.PROMPT),
            idle_row=self._row(StepKind.IDLE_TIME),
            event_row=self._row(event),
            busy_row=self.busy_row,
            restless_row=self.restless_row,
            limits=self.limits,
            goal=self.goal,
            logs=self.logs,
            key=self.key.ctypes.data,
            timing=self.timing.code,
            parents=self.parents,
            steps=self.steps,
            depths=self.depths,
            order=self.order,
            matches=self.matches,
        )

    def _row(self, *kinds: int) -> np.ndarray:
        """Return the bit row of the instances that have one of some kinds now, uint64[instance_words]."""
        if self._rows[0] is not self.kinds:
            self._rows = self.kinds, {}
        if kinds not in self._rows[1]:
            self._rows[1][kinds] = self.context.row_of(self.kinds, *kinds)
        return self._rows[1][kinds]

    def at_rest(self) -> np.ndarray:
        """Return for each state whether it is at rest, bool[states]."""
        found = np.zeros(self.size, np.bool_)
        self._ask(LoopTask.REST)
        loops.at_rest(self._segment(), found)
        self.context.kernel.raise_pending()
        return found

    def steps_to(self, index: int) -> tuple[int, list[int]]:
        """Return the index of the start from which a state is reached, and the instances on the path."""
        instances = []
        while self.parents[index] >= 0:
            instances.append(int(self.steps[index]))
            index = int(self.parents[index])
        return self.origins[index], instances[::-1]

    def bounds_hit(self) -> dict[str, int]:
        """Return the bounds that disabled steps, and how often."""
        return dict(self.hits_before + Counter(self._hits()))

    def _hits(self) -> dict[str, int]:
        names = self.hits_of.bounds
        counted = self.hits[len(names) : 2 * len(names)].tolist()
        return {name: count for name, count in zip(names, counted, strict=True) if count}


def compile_loops(context: SegmentContext) -> None:
    """Compile the loops, unless they are cached: their first call does it, and should not count as search time."""
    starts = np.zeros((0, context.words), np.uint64)
    layers = Layers(evolve(context, tick=_no_tick), Waypoint("", ()), starts, EventTiming.CALM)
    layers.states.add(starts, 0)
    layers.advance()
    layers.cursor[SegmentCursor.LIMIT] = layers.cursor[SegmentCursor.ASKED]
    loops.seed(layers._segment(), layers.cursor)
    layers.at_rest()


def _no_tick(expanded: int) -> None:
    """Accept any progress."""
