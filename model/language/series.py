"""Series of snapshots: successive observations of a real system, in the terms of a model.

Words: a *clause* is a disjunction of alternatives, each a leaf with the numbers that it may have. A *fact* is what one
snapshot shows in one place. A *waypoint* is a snapshot: all of its facts are true in one state of a behaviour. *Limits*
are true in every state before a waypoint: a leaf that only grows is not beyond its value there. A *log* of the system
is a list of steps that it took, in their order; several logs are not ordered with each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import evolve, field, frozen

Clause = tuple[tuple[str, frozenset[int]], ...]
"""Alternatives by the leaf's path; numbers are those of vectors, where -1 stands for None."""


Event = tuple[str, int | None]
"""An assumed event: the name of its action, with its first argument, or None for any."""


def where(path: str, *numbers: int) -> Clause:
    """Return the clause that a leaf has one of these numbers."""
    return ((path, frozenset(numbers)),)


@frozen
class Fact:
    """What a snapshot shows in one place.

    Attributes:
        name: its name.
        value: its value, for reports.
        clauses: the condition on a state, as a conjunction of clauses.
        look: a function from a state of the model to the value there, in the words of `value`.
        weight: the distance of a state in which the fact is false.
    """

    name: str
    value: str
    clauses: tuple[Clause, ...]
    look: Callable[[Any], str] = field(repr=False, eq=False)
    weight: int = 1


@frozen
class Need:
    """What an assumed event has to do before a waypoint.

    Attributes:
        clauses: true in a state in which it is done.
        events: those that may do it.
    """

    clauses: tuple[Clause, ...]
    events: frozenset[Event]


@frozen
class Waypoint:
    """A snapshot.

    Attributes:
        name: its name.
        facts: what it shows.
        limits: clauses that are true in every state before it.
        without: names of actions, and of actors, that take no step before it.
        rare: names of events that count as two before it.
        needs: groups of lists of needs: an event serves one group, and there one need of each list. A search that
            aims at the waypoint prefers events that serve; it may be wrong that another one cannot.
        happened: the events of the whole system that may happen before it, as actor and description; None for any.
        doubt: why it may not show a state at rest, or what cannot be assumed has happened; or nothing. That no
            behaviour passes through it then decides nothing.
    """

    name: str
    facts: tuple[Fact, ...]
    limits: tuple[Clause, ...] = ()
    without: frozenset[str] = frozenset()
    rare: frozenset[str] = frozenset()
    needs: tuple[tuple[tuple[Need, ...], ...], ...] = ()
    happened: frozenset[str] | None = None
    doubt: str = ""


@frozen
class LoggedStep:
    """A step that a log shows: between two waypoints, the behaviour has one that fits.

    Attributes:
        name: where and when it is logged, for reports.
        text: what is logged.
        actions: the names of the actions of which one was taken; any if there is none.
        arguments: arguments of the action, by parameter; those of parameters that it does not have are ignored.
        clauses: the condition on the state after the step, as a conjunction.
        before: that on the state before it.
        first: the number of the first waypoint that may come after the step, from 0 on.
        last: the number of the waypoint that comes after it for certain; None if the step need not be taken.
        distinct: whether it is another step than the one before it in its log.
        standing: whether it may have been taken before the first waypoint, if its condition holds there.
        events: assumed events of which one happens before it, or is the step; none if no event has to.
    """

    name: str
    text: str
    actions: tuple[str, ...] = ()
    arguments: Mapping[str, int] = field(factory=dict)
    clauses: tuple[Clause, ...] = ()
    before: tuple[Clause, ...] = ()
    first: int = 0
    last: int | None = None
    distinct: bool = False
    standing: bool = False
    events: frozenset[Event] = frozenset()


@frozen
class LogCounts:
    """What became of the lines of logs.

    Attributes:
        files: the number of files.
        lines: the number of lines, without those that continue another one.
        used: the number of lines that a behaviour must pass through.
        unused: the numbers of lines that say nothing here, by why.
        unknown: the numbers of lines that are not understood, by what they look like, the most frequent first.
        notes: sentences on what was read and assumed.
    """

    files: int
    lines: int
    used: int
    unused: Mapping[str, int] = field(factory=dict)
    unknown: Mapping[str, int] = field(factory=dict)
    notes: tuple[str, ...] = ()


@frozen
class Requirement:
    """What the first snapshot needs of the version: a flag that has a setting. `text` says why, as a sentence."""

    flag: str
    setting: Any
    text: str


@frozen
class LogSource:
    """The logs of a real system, and how their times are read.

    Attributes:
        folder: the folder with the files.
        tolerance: seconds by which a clock of the system and that of the snapshots may differ.
        zone: seconds by which the times in the logs are ahead of UTC.
    """

    folder: str
    tolerance: float = 1.0
    zone: float = 0.0


@frozen
class Series:
    """Snapshots of a real system in order, and how to search for a behaviour that passes through them.

    Attributes:
        bounds: bounds that take precedence over the scenario's; `labels` and `flags` likewise.
        initial: the initial function.
        waypoints: the snapshots in order.
        variant: the variant of the system's version.
        events: names of system actions that are assumed one by one, like those of a client or operator.
        prompt: names of system actions that may be taken at once without losing many behaviours.
        slow: those of `prompt` that something may hold up until after an event.
        idle_time: names of system actions that happen at any time, and for which nothing waits.
        rare: names of actions and actors whose events count as two.
        sequences: events that are often taken one after the other, with rest between them, as those of a restart of all
            brokers: they are tried together. Of two that follow each other, one may be left out.
        common: names of events of the whole system, so that they happen in the other series of its snapshots, too.
        event_counters: paths of leaves that only count events, up to a bound.
        facts: sentences on what was read, what was left out and what is assumed.
        name: what it is about, where the snapshots are several series.
        wider: the same snapshots with more that may be assumed, which is searched if no behaviour fits.
        assumes: what a wider series may assume, in words.
        untried: what is never assumed, in words: an answer that no behaviour fits names it.
        refused: sentences on what else the snapshots show and what cannot be explained; the answer is then incomplete.
        logs: the logs, each with its steps in their order.
        log_limits: clauses that the logs show to be true in every state.
        log_counts: what became of the lines of the logs; None without logs.
        requires: what the first snapshot needs of the version: another one cannot have produced it.
        scenario: the name of the scenario that has what the snapshots show; nothing for the one that read them.
        beside: names of actions that its model has for other series: see `sharing_models`.
    """

    bounds: Mapping[str, int]
    labels: Mapping[str, tuple[str, ...]]
    initial: Callable[..., None]
    waypoints: tuple[Waypoint, ...]
    variant: str | None = None
    flags: Mapping[str, Any] = field(factory=dict)
    events: frozenset[str] = frozenset()
    prompt: frozenset[str] = frozenset()
    slow: frozenset[str] = frozenset()
    idle_time: frozenset[str] = frozenset()
    rare: frozenset[str] = frozenset()
    sequences: tuple[tuple[Event, ...], ...] = ()
    common: frozenset[str] = frozenset()
    event_counters: frozenset[str] = frozenset()
    facts: tuple[str, ...] = ()
    name: str = ""
    wider: Series | None = field(default=None, repr=False)
    assumes: str = ""
    untried: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    logs: tuple[tuple[LoggedStep, ...], ...] = ()
    log_limits: tuple[Clause, ...] = ()
    log_counts: LogCounts | None = None
    requires: tuple[Requirement, ...] = ()
    scenario: str = ""
    beside: frozenset[str] = frozenset()

    @property
    def never(self) -> frozenset[str]:
        """The names of actions, and of actors, that its model does not have: before no waypoint they take a step."""
        return self._excluded - self.beside

    @property
    def _excluded(self) -> frozenset[str]:
        """The names of those that take no step before any waypoint, nor in the wider series."""
        excluded = [waypoint.without for waypoint in self.waypoints]
        excluded += [self.wider._excluded] if self.wider else []
        return frozenset.intersection(*excluded) if excluded else frozenset()

    def along(self, happened: Mapping[str, frozenset[str]]) -> Series:
        """Return the same with no events of the whole system but these, by the names of the waypoints after them."""
        waypoints = [evolve(one, happened=happened.get(one.name)) for one in self.waypoints]
        return evolve(self, waypoints=tuple(waypoints))

    @property
    def without_logs(self) -> Series:
        """The same snapshots alone."""
        wider = None if self.wider is None else self.wider.without_logs
        return evolve(self, logs=(), log_limits=(), log_counts=None, wider=wider)


def sharing_models(all_series: Sequence[Series]) -> list[Series]:
    """Return series of one system that share models: what one with the same bounds and flags takes, others have, too.

    Actions that a model has and a series does not take cost little: a model is compiled once for all of them.
    """

    def beside(one: Series) -> frozenset[str]:
        same = [other for other in all_series if (other.bounds, other.flags) == (one.bounds, one.flags)]
        return one._excluded - frozenset.intersection(*(other._excluded for other in same))

    return [evolve(one, beside=beside(one)) for one in all_series]
