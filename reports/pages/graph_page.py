"""A state graph as a page: the whole of it or collapsed, its violations in colour, the shortest path, and charts.

Words: a *view* merges states into classes: those that have the same value in a field, or that only steps of one actor
separate. A class is drawn at the depth of its first state.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from attrs import field, frozen

from kwalk.model.language import PropertyInstance
from kwalk.model.language.errors import KwalkError
from kwalk.reports.document import BarChart, Block, Paragraph
from kwalk.reports.document.html import asset, html_blocks, render
from kwalk.reports.escaping import LONGEST, visible
from kwalk.reports.pages.graph_drawing import GraphArrow, GraphNode, graph_svg
from kwalk.reports.pages.state_graph import Drawing, about, extent, marks
from kwalk.reports.traces.changes import Part, parts_of, path_text
from kwalk.search.analyses.state_graph import StateGraph, statistics_of
from kwalk.search.kernel.interpreter import Visit

MOST_VIEWS = 40
"""The number of fields by which a page can collapse a graph."""
PAPER = """:root { --ground: #fff; --ink: #1c1e21; --faint: #667; --panel: #f3f3ee; --bad: #b3261e; --good: #1d6f42; }
.graph { background: #fff; }
"""
"""The colours of a drawing that is a file of its own."""
TRUTHS = {True: "t", False: "f", None: "n"}


@frozen
class GraphView:
    """A drawing of a graph: what it merges, in words, the class of each state, and the SVG."""

    name: str
    about: str
    of: tuple[int, ...] = field(repr=False)
    svg: str = field(repr=False)


def graph_page(drawing: Drawing) -> str:
    """Return the whole page."""
    graph = drawing.graph
    properties = tuple(prop for prop in graph.model.properties if not prop.declaration.only_counts)
    views, script = list(_views(graph)), asset("graph.js")
    nearest = nearest_violation(graph)
    with graph.model.active():
        names = [visible(prop.description, LONGEST) for prop in properties]
    return render(
        "graph.html.j2",
        title=f"State graph of {visible(graph.model.scenario.name)}",
        scenario=visible(graph.model.scenario.name),
        about=visible(about(graph.model)),
        extent=_capital(extent(graph)),
        nearest=_nearest_text(graph, nearest),
        views=views,
        properties=names,
        charts=html_blocks(_charts(graph)),
        command=visible(drawing.command),
        script=script,
        script_digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        data=_data(graph, views, properties, names, nearest),
    )


def graph_drawing(graph: StateGraph) -> str:
    """Return the SVG of a whole graph, with the shortest path to a violation, as a file of its own."""
    svg, style = next(_views(graph)).svg, asset("graph.css")
    return svg.replace("<defs>", f"<style>\n{PAPER}{style}</style>\n<defs>", 1) + "\n"


def nearest_violation(graph: StateGraph) -> int | None:
    """Return the first drawn state that violates a property, or that a violating step leads to; None without one."""
    states = {node.number for node in graph.nodes if node.violated}
    steps = {
        edge.target for node in graph.nodes for edge in node.edges if edge.violated and graph.is_drawn(edge.target)
    }
    return min(states | steps, key=lambda number: (graph.nodes[number].depth, number), default=None)


def _nearest_text(graph: StateGraph, nearest: int | None) -> str:
    if nearest is None and any(edge.violated for node in graph.nodes for edge in node.edges):
        return "Steps to states that are left out violate properties; draw more states with --most to see them."
    if nearest is None:
        return "No state or step in the drawing violates a property."
    depth = graph.nodes[nearest].depth
    which = ", ".join(prop.key for prop in graph.nodes[nearest].violated) or "a property of steps"
    steps = f"{depth:,} step{'s' * (depth != 1)}"
    return f"Nearest violation: {visible(which)} in {steps}; the path to it is drawn in bold."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# Views.


def _views(graph: StateGraph) -> Iterator[GraphView]:
    """Yield the whole graph, then collapsed ones that are smaller."""
    labels = [_label(graph, number) for number in range(len(graph.nodes))]
    yield _view(graph, "all states", "Each circle is a state.", range(len(graph.nodes)), labels)
    for name, classes, texts in (*_by_actor(graph), *_by_field(graph)):
        if 1 < len(set(classes)) < len(graph.nodes):
            what = "States that these steps lead to from one another are one circle, with their number."
            what = what if texts is None else "States with the same value there are one circle, with their number."
            yield _view(graph, name, what, classes, texts or labels)


def _by_actor(graph: StateGraph) -> Iterator[tuple[str, list[int], None]]:
    """Yield, for each actor, the classes of states that are connected by its steps, in either direction."""
    instances = graph.model.instances
    for actor in dict.fromkeys(instance.action.by.name for instance in instances):
        root = list(range(len(graph.nodes)))

        def find(number: int, root: list[int] = root) -> int:
            while root[number] != number:
                root[number] = root[root[number]]
                number = root[number]
            return number

        for node in graph.nodes:
            for edge in node.edges:
                if graph.is_drawn(edge.target) and any(instances[i].action.by.name == actor for i in edge.instances):
                    one, other = sorted((find(node.number), find(edge.target)))
                    root[other] = one
        yield f"without the steps of {visible(actor)}", [find(number) for number in root], None


def _by_field(graph: StateGraph) -> Iterator[tuple[str, list[int], list[str]]]:
    """Yield, for each field that varies, the classes of states that have the same value in it."""
    groups: dict[str, list[Part]] = {}
    for part in parts_of(graph.model):
        groups.setdefault(path_text(part.path[:1]), []).append(part)
        if len(part.path) > 1:
            groups.setdefault(path_text(part.path), []).append(part)
    found = 0
    for name, parts in groups.items():
        values = [tuple(part.numbers(node.vector) for part in parts) for node in graph.nodes]
        first = {value: number for number, value in reversed(list(enumerate(values)))}
        if 1 < len(first) < len(values) and found < MOST_VIEWS:
            found += 1
            with graph.model.active():
                texts = [
                    f"{name} {parts[0].value_text(node.vector)}" if len(parts) == 1 else f"as in state {first[value]}"
                    for node, value in zip(graph.nodes, values, strict=True)
                ]
            yield f"by {visible(name)}", [first[value] for value in values], texts


def _view(graph: StateGraph, name: str, what: str, classes: Sequence[int], labels: Sequence[str]) -> GraphView:
    """Return a view; `classes` has for each state the first state of its class."""
    members = Counter(classes)
    place = {first: number for number, first in enumerate(sorted(members))}
    of = tuple(place[first] for first in classes)
    path = _path(graph, nearest_violation(graph))
    on = {of[number] for number in path}
    on_path = {(of[one], of[other]) for one, other in pairwise(path)}
    nodes = [
        GraphNode(
            layer=graph.nodes[first].depth,
            sign=str(first if count == 1 else count),
            label=labels[first],
            title=_title(graph, first, count),
            style=_style(graph, of, place[first], on),
        )
        for first, count in sorted(members.items())
    ]
    taken: dict[tuple[int, int], dict[str, None]] = {}
    for node in graph.nodes:
        for edge in node.edges:
            if graph.is_drawn(edge.target) and of[node.number] != of[edge.target]:
                keys = dict.fromkeys(graph.model.instances[i].key for i in edge.instances)
                taken.setdefault((of[node.number], of[edge.target]), {}).update(keys)
    arrows = [
        GraphArrow(one, other, ", ".join(keys)[:LONGEST], "on" if (one, other) in on_path else "")
        for (one, other), keys in taken.items()
    ]
    size = f"{len(nodes):,} circles, {len(arrows):,} arrows."
    return GraphView(name, f"{what} {size}", of, graph_svg(nodes, arrows, name))


def _style(graph: StateGraph, of: Sequence[int], number: int, on: set[int]) -> str:
    inside = [node for node in graph.nodes if of[node.number] == number]
    styles = {
        "start": any(node.is_initial for node in inside),
        "rest": any(graph.outside(node) for node in inside),
        "bad": any(node.violated for node in inside),
        "on": number in on,
    }
    return " ".join(style for style, holds in styles.items() if holds)


def _path(graph: StateGraph, number: int | None) -> list[int]:
    """Return the states of a shortest path to one."""
    found: list[int] = []
    while number is not None:
        found.append(number)
        number = graph.nodes[number].parent
    return found[::-1]


def _label(graph: StateGraph, number: int) -> str:
    """Return the step by which a state was discovered."""
    return ", ".join(marks(graph.nodes[number])[:1]) if graph.nodes[number].parent is None else _step_to(graph, number)


def _step_to(graph: StateGraph, number: int) -> str:
    parent = graph.nodes[number].parent
    if parent is None:
        return ""
    edge = next(edge for edge in graph.nodes[parent].edges if edge.target == number)
    return graph.model.instances[edge.instances[0]].key


def _title(graph: StateGraph, first: int, count: int) -> str:
    node = graph.nodes[first]
    what = [f"state {first}" if count == 1 else f"{count:,} states, the first is {first}", f"depth {node.depth}"]
    what += [f"violates {prop.key}" for prop in node.violated]
    return ", ".join(what)[:LONGEST]


# What the script reads, and charts.


def _data(
    graph: StateGraph,
    views: Sequence[GraphView],
    properties: Sequence[PropertyInstance],
    names: Sequence[str],
    nearest: int | None,
) -> str:
    """Return JSON that cannot end its element."""
    nodes = graph.nodes
    varying = [p for p in parts_of(graph.model) if len({p.numbers(node.vector) for node in nodes}) > 1]
    with graph.model.active():
        values = [[visible(part.value_text(node.vector), LONGEST) for part in varying] for node in nodes]
    content = {
        "views": [{"of": view.of} for view in views],
        "properties": names,
        "fields": [visible(path_text(part.path), LONGEST) for part in varying],
        "nearest": nearest,
        "states": [
            {
                "parent": node.parent,
                "by": visible(_step_to(graph, node.number), LONGEST),
                "values": texts,
                "truths": "".join(_truths(graph, node.number, properties)),
            }
            for node, texts in zip(nodes, values, strict=True)
        ],
    }
    return json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")


def _truths(graph: StateGraph, number: int, properties: Sequence[PropertyInstance]) -> Iterator[str]:
    """Yield for each property v (violated here, or by the step that led here), t, f or n (neither)."""
    node = graph.nodes[number]
    parent = None if node.parent is None else graph.nodes[node.parent]
    by = () if parent is None else next(edge.violated for edge in parent.edges if edge.target == number)
    visit = Visit(graph.model, node.vector)
    for prop in properties:
        if prop in node.violated or prop in by:
            yield "v"
        elif prop.kind.is_liveness:
            yield "n"
        else:
            try:
                yield TRUTHS[visit.truth(prop, None if parent is None else parent.vector)]
            except KwalkError:
                yield "n"


def _charts(graph: StateGraph) -> Iterator[Block]:
    figures, instances = statistics_of(graph), graph.model.instances
    least = "" if graph.left_out == 0 else " (from the depth of the last drawn state on, a lower bound)"
    depths = tuple((f"depth {each.depth}", each.states) for each in figures.depths)
    yield BarChart(f"States by depth{least}", "states", depths)
    degrees = Counter(node.branching for node in graph.nodes)
    branching = tuple((f"{number} other states", degrees[number]) for number in sorted(degrees))
    yield BarChart("Branching: how many other states a state leads to", "states", branching)
    taken = Counter(instances[i].action.name for node in graph.nodes for edge in node.edges for i in edge.instances)
    steps = tuple((action.name, taken[action.name]) for action in graph.model.scenario.actions)
    yield BarChart("Steps of each action", "steps from drawn states", steps, logarithmic=True)
    if figures.violations:
        yield BarChart("Violations", "states or steps", tuple(figures.violations.items()), logarithmic=True)
    yield Paragraph(
        f"{figures.components:,} strongly connected components, the largest of {figures.largest_component:,} states; "
        f"{figures.quiescent:,} quiescent states, {figures.dead_ends:,} dead ends."
    )
