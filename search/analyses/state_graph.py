"""A state graph: the first states of a model in breadth-first order, with every step from them, in plain Python.

Words: a state is *drawn* if it is one of the first that were discovered; every drawn state is expanded, so that all of
its steps are known. A state is *left out* if a step from a drawn state leads to it and it is not drawn. A step is
*idle* if it does not change the state. An *end* is a state without any step: a *dead end*, or a *blocked* one, where
only a bound disables some step. A *component* is a strongly connected component. The *branching* of a state is the
number of other states that its steps lead to, left-out ones included.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence

from attrs import field, frozen

from kwalk.model.language import DomainError, Kind, Model, PropertyInstance, UsageError, Vector
from kwalk.model.language.display import Displayed
from kwalk.model.language.errors import KwalkError
from kwalk.search.base.progress import Progress, Report, silent
from kwalk.search.kernel.interpreter import Visit

MOST = 300
"""The default number of drawn states; a picture of more is not readable."""
PERIOD = 0.5
"""Seconds between two progress reports."""


@frozen
class StateEdge:
    """All steps from one state to another (or to itself, if idle), by the indices of their action instances."""

    target: int
    instances: tuple[int, ...]
    violated: tuple[PropertyInstance, ...] = ()
    """The step properties that these steps violate."""


@frozen
class StateNode:
    """An expanded state; `depth` counts steps from an initial state, `parent` is the state it was discovered from."""

    number: int
    vector: Vector = field(repr=False)
    depth: int
    parent: int | None
    edges: tuple[StateEdge, ...] = field(repr=False)
    is_quiescent: bool
    is_dead: bool
    violated: tuple[PropertyInstance, ...] = ()

    @property
    def is_initial(self) -> bool:
        """Whether it is an initial state."""
        return self.parent is None

    @property
    def is_end(self) -> bool:
        """Whether it has no step."""
        return not self.edges

    @property
    def branching(self) -> int:
        """The number of other states that its steps lead to, drawn or not."""
        return sum(edge.target != self.number for edge in self.edges)


@frozen
class StateGraph(Displayed):
    """The drawn states in the order of discovery, and the depths of all known states, drawn ones first."""

    model: Model = field(repr=False)
    nodes: tuple[StateNode, ...] = field(repr=False)
    known: tuple[int, ...] = field(repr=False)
    bounds_hit: dict[str, int]
    interrupted: bool = False

    @property
    def left_out(self) -> int:
        """The number of states that are left out; 0 if this is the whole graph."""
        return len(self.known) - len(self.nodes)

    def is_drawn(self, number: int) -> bool:
        """Return whether a state is drawn."""
        return number < len(self.nodes)

    def outside(self, node: StateNode) -> int:
        """Return how many left-out states the steps from a drawn state lead to."""
        return sum(not self.is_drawn(edge.target) for edge in node.edges)


def explore(
    model: Model, *, properties: tuple[PropertyInstance, ...] | None = None, most: int = MOST, report: Report = silent
) -> StateGraph:
    """Return the graph of the first `most` states. Ctrl-C ends it with the states that are expanded by then.

    Args:
        model: The model.
        properties: The property instances whose violations are marked; None for all.
        most: The most states to draw.
        report: Receives progress about twice a second.

    Raises:
        UsageError: `most` is below 1.
        DomainError: An action leaves its domain.
        KeyboardInterrupt: Ctrl-C was pressed before any state was expanded.
    """
    if most < 1:
        raise UsageError(f"A graph has at least one state (got {most:,}). Give a number of 1 or more.")
    growth = _Builder(model, model.properties if properties is None else properties, report)
    interrupted = False
    try:
        growth.grow(most)
    except KeyboardInterrupt:
        if not growth.nodes:
            raise
        interrupted = True
    depths = tuple(depth for depth, _, _ in growth.origins[: growth.settled])
    return StateGraph(model, tuple(growth.nodes), depths, dict(growth.hits), interrupted)


class _Builder:
    """Builds a graph."""

    def __init__(self, model: Model, properties: tuple[PropertyInstance, ...], report: Report) -> None:
        self.model, self.report = model, report
        self.of_states = tuple(prop for prop in properties if prop.kind in (Kind.ALWAYS, Kind.WHEN_QUIESCENT))
        self.of_steps = tuple(prop for prop in properties if prop.kind is Kind.STEP)
        self.numbers: dict[Vector, int] = {}
        self.origins: list[tuple[int, int | None, int | None]] = []
        """For each known state its depth, the state it was discovered from, and the index of the instance."""
        self.vectors: list[Vector] = []
        self.nodes: list[StateNode] = []
        self.hits: Counter[str] = Counter(dict.fromkeys(model.binding.bounds, 0))
        for vector in model.initial:
            self._number(vector, 0)
        self.settled = len(self.vectors)
        """The number of states known after the last complete expansion."""

    def grow(self, most: int) -> None:
        """Expand states until there are `most` of them, or all."""
        started = reported = time.monotonic()
        while len(self.nodes) < min(most, len(self.vectors)):
            node, hits = self._expanded(len(self.nodes))
            self.hits.update(hits)
            self.nodes.append(node)
            self.settled = len(self.vectors)
            now = time.monotonic()
            if now - reported >= PERIOD:
                reported = now
                self.report(Progress("graph", len(self.nodes), "states", now - started, total=most))

    def _number(self, vector: Vector, depth: int, parent: int | None = None, by: int | None = None) -> int:
        number = self.numbers.setdefault(vector, len(self.vectors))
        if number == len(self.vectors):
            self.vectors.append(vector)
            self.origins.append((depth, parent, by))
        return number

    def _expanded(self, number: int) -> tuple[StateNode, list[str]]:
        """Return a state with all of its steps, and the bounds that disabled some."""
        vector, (depth, parent, _) = self.vectors[number], self.origins[number]
        visit = Visit(self.model, vector)
        try:
            edges = self._edges(number, visit)
            violated = tuple(prop for prop in self.of_states if visit.violates(prop))
            node = StateNode(number, vector, depth, parent, edges, visit.is_quiescent, visit.is_dead, violated)
        except Exception as error:
            raise self._described(number, error) from error
        return node, [tried.bound for tried in visit.outcomes.values() if tried.bound is not None]

    def _edges(self, number: int, visit: Visit) -> tuple[StateEdge, ...]:
        taken: dict[int, list[int]] = {}
        for instance in self.model.instances:
            after = visit.after(instance)
            if after is not None:
                target = self._number(after, self.origins[number][0] + 1, number, instance.index)
                taken.setdefault(target, []).append(instance.index)
        return tuple(
            StateEdge(target, tuple(instances), self._violated(visit.vector, self.vectors[target]))
            for target, instances in taken.items()
        )

    def _violated(self, before: Vector, after: Vector) -> tuple[PropertyInstance, ...]:
        if not self.of_steps:
            return ()
        visit = Visit(self.model, after)
        return tuple(prop for prop in self.of_steps if visit.violates(prop, before))

    # Errors.

    def _described(self, number: int, error: Exception) -> Exception:
        """Return the error with the part of the model that failed and the steps that lead there."""
        if not isinstance(error, KwalkError):
            error = self._model_error(number) or error
        if not isinstance(error, DomainError):
            return error
        keys = self._route(number)
        where = f"after {len(keys)} steps: {', '.join(keys)}" if keys else "in an initial state"
        return DomainError(f"{error} This happens {where}.")

    def _model_error(self, number: int) -> KwalkError | None:
        """Return the error of the model itself for a state, which names the part that failed."""
        model, vector = self.model, self.vectors[number]
        try:
            for _, after in model.successors(vector):
                for prop in self.of_steps:
                    model.violates(prop, after, vector)
            for prop in self.of_states:
                model.violates(prop, vector)
        except KwalkError as error:
            return error
        return None

    def _route(self, number: int) -> list[str]:
        """Return the keys of the steps that led to a state."""
        keys: list[str] = []
        parent: int | None = number
        while parent is not None:
            _, parent, by = self.origins[parent]
            keys += [] if by is None else [self.model.instances[by].key]
        return keys[::-1]


@frozen
class Depth:
    """The states at one depth: how many are known and drawn, and whether all are known."""

    depth: int
    states: int
    drawn: int
    complete: bool


@frozen
class Branching:
    """The branching of the drawn states."""

    least: int
    median: float
    most: int
    mean: float


@frozen
class Statistics:
    """The figures of a graph; all but `depths` are about drawn states and their steps."""

    depths: tuple[Depth, ...]
    branching: Branching
    steps: int
    """The number of steps, by action instances."""
    idle: int
    """The number of idle steps."""
    edges: int
    """The number of pairs of different drawn states with a step from one to the other."""
    quiescent: int
    dead_ends: int
    blocked_ends: int
    components: int
    largest_component: int
    cyclic: int
    """The number of states on a cycle of at least two states."""
    violations: dict[str, int]
    """In how many states (for step properties: steps) each property instance is violated, by key."""


def statistics_of(graph: StateGraph) -> Statistics:
    """Return the figures of a graph."""
    nodes = graph.nodes
    sizes = [len(component) for component in components(graph)]
    edges = [(node, edge) for node in nodes for edge in node.edges]
    return Statistics(
        depths=tuple(_depths(graph)),
        branching=_branching([node.branching for node in nodes]),
        steps=sum(len(edge.instances) for _, edge in edges),
        idle=sum(len(edge.instances) for node, edge in edges if edge.target == node.number),
        edges=sum(edge.target != node.number and graph.is_drawn(edge.target) for node, edge in edges),
        quiescent=sum(node.is_quiescent for node in nodes),
        dead_ends=sum(node.is_dead for node in nodes),
        blocked_ends=sum(node.is_end and not node.is_dead for node in nodes),
        components=len(sizes),
        largest_component=max(sizes),
        cyclic=sum(size for size in sizes if size > 1),
        violations=_violations(graph),
    )


def _depths(graph: StateGraph) -> Iterator[Depth]:
    """Yield the depths. Up to that of the last drawn state all states are known, as those above it are expanded."""
    known, drawn = Counter(graph.known), Counter(node.depth for node in graph.nodes)
    whole = max(drawn)
    for depth in sorted(known):
        yield Depth(depth, known[depth], drawn[depth], complete=depth <= whole or not graph.left_out)


def _branching(degrees: Sequence[int]) -> Branching:
    return Branching(min(degrees), statistics.median(degrees), max(degrees), statistics.fmean(degrees))


def _violations(graph: StateGraph) -> dict[str, int]:
    counted: Counter[str] = Counter()
    for node in graph.nodes:
        counted.update(prop.key for prop in node.violated)
        for edge in node.edges:
            counted.update({prop.key: len(edge.instances) for prop in edge.violated})
    return {prop.key: counted[prop.key] for prop in graph.model.properties if prop.key in counted}


def components(graph: StateGraph) -> list[list[int]]:
    """Return the strongly connected components of the drawn states (Tarjan's algorithm, without recursion)."""
    onward = [[edge.target for edge in node.edges if graph.is_drawn(edge.target)] for node in graph.nodes]
    order: dict[int, int] = {}
    lowest: dict[int, int] = {}
    open_states: dict[int, None] = {}
    found: list[list[int]] = []
    for root in range(len(onward)):
        path = [] if root in order else [(root, iter(onward[root]))]
        if path:
            order[root] = lowest[root] = len(order)
            open_states[root] = None
        while path:
            at, targets = path[-1]
            target = next(targets, None)
            if target is None:
                path.pop()
                if path:
                    lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[at])
                if lowest[at] == order[at]:
                    found.append(_closed(open_states, at))
            elif target not in order:
                order[target] = lowest[target] = len(order)
                open_states[target] = None
                path.append((target, iter(onward[target])))
            elif target in open_states:
                lowest[at] = min(lowest[at], order[target])
    return found


def _closed(open_states: dict[int, None], first: int) -> list[int]:
    """Remove and return the component that begins with this state."""
    component: list[int] = []
    while not component or component[-1] != first:
        component.append(open_states.popitem()[0])
    return component
