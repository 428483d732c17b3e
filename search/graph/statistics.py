"""Figures of a state graph: how wide it is at each depth, how far its states branch, and what hangs together.

Words: a *component* is a strongly connected one: states each of which leads to all others. The *branching* of a state
is the number of other states that its steps lead to, left-out ones too.
"""
from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence

from attrs import frozen

from search.graph import StateGraph


@frozen
class Depth:
    """The states at one depth: how many are known, how many of them are drawn, and whether there are no others."""

    depth: int
    states: int
    drawn: int
    complete: bool


@frozen
class Branching:
    """How many other states the drawn states lead to."""

    least: int
    median: float
    most: int
    mean: float


@frozen
class Statistics:
    """What there is to count in a graph; all but `depths` is about drawn states and the steps out of them."""

    depths: tuple[Depth, ...]
    branching: Branching
    steps: int
    """Steps that can be taken, by instances."""
    idle: int
    """Those of them that change nothing."""
    edges: int
    """Pairs of different drawn states with a step from one to the other."""
    quiet: int
    dead_ends: int
    blocked_ends: int
    components: int
    largest_component: int
    cyclic: int
    """States from which some steps lead through another state back to them."""
    violations: dict[str, int]
    """For each violated claim, by its key, in how many states (of a step claim: in how many steps) it is."""


def statistics_of(graph: StateGraph) -> Statistics:
    """The figures of a graph."""
    nodes = graph.nodes
    sizes = [len(component) for component in components(graph)]
    edges = [(node, edge) for node in nodes for edge in node.edges]
    return Statistics(
        depths=tuple(_depths(graph)),
        branching=_branching([node.branching for node in nodes]),
        steps=sum(len(edge.instances) for _, edge in edges),
        idle=sum(len(edge.instances) for node, edge in edges if edge.target == node.number),
        edges=sum(edge.target != node.number and graph.is_drawn(edge.target) for node, edge in edges),
        quiet=sum(node.is_quiet for node in nodes),
        dead_ends=sum(node.is_dead for node in nodes),
        blocked_ends=sum(node.is_end and not node.is_dead for node in nodes),
        components=len(sizes), largest_component=max(sizes), cyclic=sum(size for size in sizes if size > 1),
        violations=_violations(graph),
    )  # fmt: skip


def _depths(graph: StateGraph) -> Iterator[Depth]:
    """Up to the depth of the last drawn state all are known, as every state above it is drawn and expanded."""
    known, drawn = Counter(graph.known), Counter(node.depth for node in graph.nodes)
    whole = max(drawn)
    for depth in sorted(known):
        yield Depth(depth, known[depth], drawn[depth], complete=depth <= whole or not graph.left_out)


def _branching(degrees: Sequence[int]) -> Branching:
    return Branching(min(degrees), statistics.median(degrees), max(degrees), statistics.fmean(degrees))


def _violations(graph: StateGraph) -> dict[str, int]:
    counted: Counter[str] = Counter()
    for node in graph.nodes:
        counted.update(claim.key for claim in node.violated)
        for edge in node.edges:
            counted.update({claim.key: len(edge.instances) for claim in edge.violated})
    return {claim.key: counted[claim.key] for claim in graph.model.claims if claim.key in counted}


def components(graph: StateGraph) -> list[list[int]]:
    """The strongly connected components of the drawn states (Tarjan's algorithm, without recursion)."""
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
    """The component that begins with this state; it is no longer open."""
    component: list[int] = []
    while not component or component[-1] != first:
        component.append(open_states.popitem()[0])
    return component
