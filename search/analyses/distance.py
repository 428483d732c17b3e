"""The distance from a state to the nearest violation: breadth-first search from it, in a process of its own.

Words: the *distance* of a property is the length of the shortest behaviour from a state to a violation of it (of a
`reachable` property: to a state where it is true). A search proves a lower bound with each level that it completes. The
*goal* is one property, or None: any violation, also a deadlock where the scenario says that it is an error. Properties
about behaviours have no distance, as no single state violates them.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from enum import Enum
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from attrs import evolve, field, frozen

from kwalk.model.language import Kind, Model, PropertyInstance, Vector
from kwalk.model.language.errors import InternalError, KwalkError
from kwalk.search.base.options import SearchOptions, StopReason
from kwalk.search.base.pacing import next_pace
from kwalk.search.base.worker_processes import WorkerProcess
from kwalk.search.exhaustive.explorer import MAX_PACE, MIN_PACE, Explorer
from kwalk.search.exhaustive.layout import Cursor, level_end
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.kernel.interface import Kernel

SECONDS = 10.0
"""The default time budget of one search."""
MEMORY = 1 << 30
"""The default memory budget of one search, in bytes."""
PERIOD = 0.1
"""Seconds between two reports."""


class DistanceStatus(Enum):
    """What is known of a distance."""

    PREPARING = "preparing"
    """The model is lifted and compiled, or its code is loaded from the cache."""
    SEARCHING = "searching"
    FOUND = "found"
    NONE = "none"
    """Every state that can be reached is visited, and none violates a property."""
    BOUNDED = "bounded"
    """The budget is spent."""
    FAILED = "failed"
    """There is no answer: `note` says why."""


@frozen
class Distance:
    """What is known of the distance from a state.

    Args:
        status: How far the search is.
        least: A lower bound of the distance of every property, and the distance itself with FOUND.
        states: The number of states that were visited.
        seconds: The duration of the search.
        properties: The keys of the properties at this distance; "" is a deadlock.
        path: The numbers of the action instances of a shortest behaviour to the first of them.
        note: What ended the search, if that is not evident.
    """

    status: DistanceStatus
    least: int = 0
    states: int = 0
    seconds: float = 0.0
    properties: tuple[str, ...] = ()
    path: tuple[int, ...] = field(default=(), repr=False)
    note: str = ""

    @property
    def is_final(self) -> bool:
        """Whether nothing more will become known."""
        return self.status not in (DistanceStatus.PREPARING, DistanceStatus.SEARCHING)


class _Ring(Explorer):
    """A search from one state, level by level, that ends with the first level that shows a violation."""

    def __init__(self, model: Model, kernel: Kernel, options: SearchOptions, start: Vector, *, deadlock: bool) -> None:
        self.start, self.deadlock = start, deadlock and model.scenario.deadlock_is_error
        super().__init__(model, kernel, options)

    def _initial_rows(self) -> np.ndarray:
        return self.kernel.pack(np.array([self.start], np.int64))

    def advance_in_level(self, pace: int) -> StopReason | None:
        """Expand up to `pace` states of one level."""
        left = level_end(self.cursor) - int(self.cursor[Cursor.NEXT])
        return self._advance(max(1, min(pace, left)))

    @property
    def is_level_complete(self) -> bool:
        """Whether every state of the present level is expanded."""
        return bool(self.cursor[Cursor.NEXT] == self.cursor[Cursor.LEVEL_END])

    def after_slice(self, seconds: float) -> None:
        """Compare states with plain Python, and take a faster kernel if that pays."""
        self._compare_with_python()
        if self.kernel.is_worth_replacing(seconds, self.options.seconds):
            self._take_faster_kernel()


def distance_from(
    model: Model,
    kernel: Kernel,
    start: Vector,
    options: SearchOptions,
    report: Callable[[Distance], bool] = lambda _: True,
    *,
    goal: PropertyInstance | None = None,
) -> Distance:
    """Return the distance from a state to the nearest violation, or what is known of it when the budget is spent.

    Args:
        model: The model.
        kernel: Its kernel.
        start: The state.
        options: The properties, and the budgets of time and memory; `keep_going` must be set.
        report: Receives what is known so far, at most ten times a second; it returns whether to continue.
        goal: The property whose distance is wanted; None for the nearest violation of any.

    Raises:
        EngineDisagreement: Plain Python has another result in a state.
    """
    wanted = tuple(filter(_is_violable, options.properties)) if goal is None else (goal,)
    ring = _Ring(model, kernel, evolve(options, properties=wanted), start, deadlock=goal is None)
    began = reported = time.monotonic()
    pace, least = MIN_PACE, 0
    while True:
        slice_began = time.monotonic()
        stop_reason = ring.advance_in_level(pace)
        now = time.monotonic()
        pace, seconds = next_pace(pace, now - slice_began, least=MIN_PACE, most=MAX_PACE), now - began
        known = Distance(DistanceStatus.SEARCHING, least, ring.stored, seconds)
        if stop_reason is not None:
            return _ended(ring, stop_reason, known)
        if ring.is_level_complete:
            found = _found(ring, known)
            if found is not None:
                return found
            least = int(ring.cursor[Cursor.DEPTH]) + 1
            known = evolve(known, least=least)
        ring.after_slice(seconds)
        if options.seconds is not None and seconds >= options.seconds:
            return evolve(known, status=DistanceStatus.BOUNDED, note=f"the time budget of {options.seconds:g} s")
        if now - reported >= PERIOD:
            reported = now
            if not report(known):
                return evolve(known, status=DistanceStatus.BOUNDED, note="another question")


def _ended(ring: _Ring, reason: StopReason, distance: Distance) -> Distance:
    """Return the result of a search that has stopped by itself."""
    if reason is StopReason.COMPLETE:
        return evolve(distance, status=DistanceStatus.NONE)
    if reason is StopReason.MEMORY:
        note = f"the memory budget of {ring.options.memory / 2**30:.3g} GiB"
        return evolve(distance, status=DistanceStatus.BOUNDED, note=note)
    if ring.look_ahead(reason) is StopReason.VIOLATION and (found := _found(ring, distance)) is not None:
        return found
    steps = int(ring.cursor[Cursor.DEPTH])
    path = ring.path_to(int(ring.cursor[Cursor.NEXT])).instances
    note = f"the model itself fails {steps} steps from here: a step or a property leaves its domain"
    return evolve(distance, status=DistanceStatus.FAILED, path=path, note=note)


def _found(ring: _Ring, result: Distance) -> Distance | None:
    """Return what the last level shows; violations in states are nearer than those in steps or in states after it."""
    depth, counts, cursor = int(ring.cursor[Cursor.DEPTH]), ring.counts, ring.cursor
    shown = [prop for prop in ring.options.properties if counts.first_state[prop.index]]
    steps = [int(counts.first_instance[prop.index]) if prop.kind is Kind.STEP else None for prop in shown]
    hits = [(int(counts.first_state[p.index]) - 1, step, p.key) for p, step in zip(shown, steps, strict=True)]
    if ring.deadlock and cursor[Cursor.DEADLOCKS]:
        hits.append((int(cursor[Cursor.FIRST_DEADLOCK]), None, ""))
    ahead = [hit for hit in ring.found_ahead if hit.prop is not None or ring.deadlock]
    hits += [(hit.state, hit.step, "" if hit.prop is None else hit.prop.key) for hit in ahead]
    for distance in (depth, depth + 1):
        near = [hit for hit in hits if depth + (hit[1] is not None or hit[0] >= cursor[Cursor.LEVEL_END]) == distance]
        if near:
            state, step, _ = near[0]
            keys = tuple(dict.fromkeys(key for *_, key in near))
            path = ring.path_to(state, step).instances
            return evolve(result, status=DistanceStatus.FOUND, least=distance, properties=keys, path=path)
    return None


def has_distance(prop: PropertyInstance) -> bool:
    """Return whether a property has a distance: single states or steps decide it."""
    return not prop.kind.is_liveness and not prop.declaration.only_counts


def _is_violable(prop: PropertyInstance) -> bool:
    return has_distance(prop) and prop.kind is not Kind.REACHABLE


class DistanceSearch:
    """A process that searches from one state at a time: each question ends the search of the one before.

    Args:
        model: The model.
        properties: The property instances whose distance is wanted.
        seconds: The time budget of one search.
        memory: The memory budget of one search, in bytes.
    """

    def __init__(
        self, model: Model, properties: tuple[PropertyInstance, ...], *, seconds: float = SECONDS, memory: int = MEMORY
    ) -> None:
        options = SearchOptions(properties, keep_going=True, seconds=seconds, memory=memory)
        questions, self._questions = multiprocessing.get_context("fork").Pipe(duplex=False)
        self._worker = WorkerProcess(None, lambda send: _answer(model, options, questions, send))
        questions.close()
        self.seconds = seconds
        self._number = 0
        self._question: tuple[Vector, float, int | None] | None = None
        self._known = Distance(DistanceStatus.PREPARING)

    def from_state(self, start: Vector, seconds: float | None = None, goal: PropertyInstance | None = None) -> Distance:
        """Return what is known of the distance from a state so far.

        The first call for a state (or another goal or time budget) starts a search, and ends the one before.
        """
        question = start, self.seconds if seconds is None else seconds, None if goal is None else goal.index
        if question != self._question:
            self._number, self._question = self._number + 1, question
            self._known = Distance(DistanceStatus.PREPARING)
            try:
                self._questions.send((self._number, *question))
            except OSError:
                self._known = self._lost()
        try:
            while self._worker.answers.poll():
                number, known = self._worker.answer()
                if number == self._number or number == 0:
                    self._known = known
        except (EOFError, OSError):
            self._known = self._lost()
        return self._known

    def _lost(self) -> Distance:
        note = "the process of the search ended, perhaps because memory ran out; give it less with --memory"
        return Distance(DistanceStatus.FAILED, note=note)

    def close(self) -> None:
        """End the process."""
        self._worker.process.terminate()
        self._worker.process.join()


def _answer(model: Model, options: SearchOptions, questions: Connection, send: Callable[[Any], None]) -> None:
    """Answer questions until the parent ends. Number 0 is an answer to every question."""
    try:
        kernel = kernel_for(model)
    except KwalkError as error:
        send((0, Distance(DistanceStatus.FAILED, note=str(error))))
        return
    while True:
        question = questions.recv()
        while questions.poll():
            question = questions.recv()
        number, start, seconds, index = question
        goal = None if index is None else model.properties[index]
        report = _Reporter(send, questions, number)
        try:
            known = distance_from(model, kernel, start, evolve(options, seconds=seconds), report, goal=goal)
        except (KwalkError, InternalError) as error:
            known = Distance(DistanceStatus.FAILED, note=str(error))
        send((number, known))


@frozen
class _Reporter:
    """Sends what is known; returns whether no other question waits."""

    send: Callable[[Any], None]
    questions: Connection
    number: int

    def __call__(self, distance: Distance) -> bool:
        self.send((self.number, distance))
        return not self.questions.poll()
