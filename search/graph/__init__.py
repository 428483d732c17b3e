"""A state graph: the first states of a model, breadth first, with every step out of them, by plain execution.

Words: a state is *drawn* if it is one of the first that were discovered; every drawn state is expanded, so that all of
its steps are known. A state is *left out* if a step out of a drawn state leads to it and it is not drawn. A step is
*idle* if it changes nothing. An *end* is a state in which no step can be taken: a *dead end*, or a *blocked* one where
only a bound is in the way of some step.
"""
from __future__ import annotations

import time
from collections import Counter

from attrs import field, frozen

from model.language import Claim, DomainError, Kind, Model, UsageError, Vector
from model.language.errors import KwalkError
from search.plain import Visit
from search.progress import Progress, Report, silent

MOST = 300
"""States that are drawn if nobody says how many; more than that no picture shows."""
PERIOD = 0.5
"""Seconds between two reports of progress."""


@frozen
class Edge:
    """All steps from one state to one other (or to itself, where they are idle), by the numbers of their instances."""

    target: int
    instances: tuple[int, ...]
    violated: tuple[Claim, ...] = ()
    """The step claims to which these steps are counterexamples."""


@frozen
class Node:
    """An expanded state; `depth` is in steps from an initial state, `parent` is where it was discovered from."""

    number: int
    vector: Vector = field(repr=False)
    depth: int
    parent: int | None
    edges: tuple[Edge, ...] = field(repr=False)
    is_quiet: bool
    is_dead: bool
    violated: tuple[Claim, ...] = ()

    @property
    def is_initial(self) -> bool:
        """Whether behaviours begin here."""
        return self.parent is None

    @property
    def is_end(self) -> bool:
        """Whether no step can be taken here."""
        return not self.edges

    @property
    def branching(self) -> int:
        """How many other states the steps out of here lead to, drawn or not."""
        return sum(edge.target != self.number for edge in self.edges)


@frozen
class StateGraph:
    """The drawn states in the order of discovery, and the depths of all states that are known, drawn ones first."""

    model: Model = field(repr=False)
    nodes: tuple[Node, ...] = field(repr=False)
    known: tuple[int, ...] = field(repr=False)
    bounds_hit: dict[str, int]
    interrupted: bool = False

    @property
    def left_out(self) -> int:
        """How many states are one step from a drawn one (or initial) and not drawn; 0 if this is the whole graph."""
        return len(self.known) - len(self.nodes)

    def is_drawn(self, number: int) -> bool:
        """Whether a state is drawn."""
        return number < len(self.nodes)

    def outside(self, node: Node) -> int:
        """How many left-out states the steps out of a drawn state lead to."""
        return sum(not self.is_drawn(edge.target) for edge in node.edges)


def explore(
    model: Model, *, claims: tuple[Claim, ...] | None = None, most: int = MOST, report: Report = silent
) -> StateGraph:
    """The graph of the first `most` states, with what violates the claims (by default all).

    UsageError for a number below 1; DomainError if an action leaves its domain. Ctrl-C ends it with the states that are
    expanded by then, if there are any.
    """
    if most < 1:
        raise UsageError(f"A graph has at least one state (asked for {most:,}). Give a number of 1 or more.")
    growth = _Growth(model, model.claims if claims is None else claims, report)
    interrupted = False
    try:
        growth.grow(most)
    except KeyboardInterrupt:
        if not growth.nodes:
            raise
        interrupted = True
    depths = tuple(depth for depth, _, _ in growth.found[: growth.settled])
    return StateGraph(model, tuple(growth.nodes), depths, dict(growth.hits), interrupted)


class _Growth:
    """A graph while it is explored."""

    def __init__(self, model: Model, claims: tuple[Claim, ...], report: Report) -> None:
        self.model, self.report = model, report
        self.of_states = tuple(claim for claim in claims if claim.kind in (Kind.ALWAYS, Kind.WHEN_QUIET))
        self.of_steps = tuple(claim for claim in claims if claim.kind is Kind.STEP)
        self.numbers: dict[Vector, int] = {}
        self.found: list[tuple[int, int | None, int | None]] = []
        """For each known state its depth, the state from which it was discovered, and by which instance."""
        self.vectors: list[Vector] = []
        self.nodes: list[Node] = []
        self.hits: Counter[str] = Counter(dict.fromkeys(model.binding.bounds, 0))
        for vector in model.initial:
            self._number(vector, 0)
        self.settled = len(self.vectors)
        """How many states were known when the last expansion was complete."""

    def grow(self, most: int) -> None:
        """Expand states until there are `most` of them, or all."""
        started = told = time.monotonic()
        while len(self.nodes) < min(most, len(self.vectors)):
            node, hits = self._expanded(len(self.nodes))
            self.hits.update(hits)
            self.nodes.append(node)
            self.settled = len(self.vectors)
            now = time.monotonic()
            if now - told >= PERIOD:
                told = now
                self.report(Progress("graph", len(self.nodes), "states", now - started, total=most))

    def _number(self, vector: Vector, depth: int, parent: int | None = None, by: int | None = None) -> int:
        number = self.numbers.setdefault(vector, len(self.vectors))
        if number == len(self.vectors):
            self.vectors.append(vector)
            self.found.append((depth, parent, by))
        return number

    def _expanded(self, number: int) -> tuple[Node, list[str]]:
        """A state with all of its steps, and the bounds that disabled some."""
        vector, (depth, parent, _) = self.vectors[number], self.found[number]
        visit = Visit(self.model, vector)
        try:
            edges = self._edges(number, visit)
            violated = tuple(claim for claim in self.of_states if visit.violates(claim))
            node = Node(number, vector, depth, parent, edges, visit.is_quiet, visit.is_dead, violated)
        except Exception as error:
            raise self._told(number, error) from error
        return node, [tried.bound for tried in visit.tries.values() if tried.bound is not None]

    def _edges(self, number: int, visit: Visit) -> tuple[Edge, ...]:
        taken: dict[int, list[int]] = {}
        for instance in self.model.instances:
            after = visit.after(instance)
            if after is not None:
                target = self._number(after, self.found[number][0] + 1, number, instance.index)
                taken.setdefault(target, []).append(instance.index)
        return tuple(
            Edge(target, tuple(instances), self._violated(visit.vector, self.vectors[target]))
            for target, instances in taken.items()
        )

    def _violated(self, before: Vector, after: Vector) -> tuple[Claim, ...]:
        if not self.of_steps:
            return ()
        visit = Visit(self.model, after)
        return tuple(claim for claim in self.of_steps if visit.violates(claim, before))

    # What goes wrong.

    def _told(self, number: int, error: Exception) -> Exception:
        """The error for people: which part of the model failed, and how to come there."""
        if not isinstance(error, KwalkError):
            error = self._named(number) or error
        if not isinstance(error, DomainError):
            return error
        keys = self._route(number)
        where = f"after {len(keys)} steps: {', '.join(keys)}" if keys else "in an initial state"
        return DomainError(f"{error} This happens {where}.")

    def _named(self, number: int) -> KwalkError | None:
        """What the model says itself when it looks at a state again, slowly and with names for its parts."""
        model, vector = self.model, self.vectors[number]
        try:
            for _, after in model.successors(vector):
                for claim in self.of_steps:
                    model.violates(claim, after, vector)
            for claim in self.of_states:
                model.violates(claim, vector)
        except KwalkError as error:
            return error
        return None

    def _route(self, number: int) -> list[str]:
        """The keys of the steps that led to a state."""
        keys: list[str] = []
        parent: int | None = number
        while parent is not None:
            _, parent, by = self.found[parent]
            keys += [] if by is None else [self.model.instances[by].key]
        return keys[::-1]
