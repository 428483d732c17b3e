"""A state graph as a DOT file, which Graphviz and many other programs draw, and its figures as text.

Words: a state's *marks* repeat in words what its frame shows: initial (bold), quiescent (double), an end (an octagon).
A dashed frame marks a state with steps to states that are left out; violations are red. Names come from models and
snapshots, so every text passes through `quoted`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from attrs import frozen

from kwalk.model.language import Model, PropertyInstance
from kwalk.model.language.settings import variant_text
from kwalk.reports.document import Block, Paragraph, strong
from kwalk.reports.escaping import LONGEST, visible
from kwalk.reports.traces.changes import Part, changes, lines, parts_of, path_text
from kwalk.search.analyses.state_graph import Depth, StateEdge, StateGraph, StateNode, Statistics

LABELS = ("changes", "state")
"""The kinds of labels: changes against the parent of a state, or every part that differs between drawn states."""
CHANGED = 6
"""The number of changes in a label that are shown; the others are counted."""
NAMED = 6
"""The number of steps in an edge's label that are shown; the others are counted."""
VIOLATED = 'color="#b00020", fontcolor="#b00020"'


@frozen
class Drawing:
    """A graph, the kind of its labels, and the command that draws it again."""

    graph: StateGraph
    labels: str = LABELS[0]
    command: str = ""


def dot_text(drawing: Drawing) -> str:
    """Return the text of the file, in UTF-8 where names need it."""
    graph = drawing.graph
    label = _Labels(drawing)
    title = quoted([about(graph.model), extent(graph)])
    return "\n".join(
        [
            f"// {visible(drawing.command)}",
            f"digraph {quoted([graph.model.scenario.name], plain=True)} {{",
            f'  graph [label={title}, labelloc="t", fontname="sans-serif"];',
            '  node [shape="box", style="rounded", fontname="sans-serif", fontsize=10];',
            '  edge [fontname="sans-serif", fontsize=9];',
            *(_node(graph, node, label.of(node)) for node in graph.nodes),
            *(line for node in graph.nodes for line in _edges(graph, node)),
            "}\n",
        ]
    )


def extent(graph: StateGraph) -> str:
    """Return how much of the state graph is drawn, in words."""
    drawn = _counted(len(graph.nodes), "state")
    if not graph.left_out:
        return f"all {drawn} within the bounds"
    why = "interrupted" if graph.interrupted else "capped"
    some = _counted(graph.left_out, "state")
    which = "initial or one step away" if len(graph.model.initial) > len(graph.nodes) else "one step away"
    return f"the first {drawn} ({why}): at least {some} more left out, those {which}"


def quoted(texts: Iterable[str], *, plain: bool = False) -> str:
    """Return lines as one quoted string without DOT syntax; a `plain` one is an identifier, not a label."""
    shown = (visible(text, LONGEST).replace("\\", "\\\\").replace('"', '\\"') for text in texts)
    if plain:
        return f'"{" ".join(shown)}"'
    return '"' + "".join(f"{line.replace('&', '&amp;')}\\l" for line in shown) + '"'


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" + "s" * (count != 1)


def about(model: Model) -> str:
    """Return scenario, variant, flags and bounds of a model; bounds of 0 are not named."""
    bounds = model.binding.bounds
    sizes = ", ".join(f"{name} {size}" for name, size in bounds.items() if size)
    sizes += ", all others 0" if sizes and not all(bounds.values()) else ""
    return f"{model.scenario.name}, variant {variant_text(model.variant, model.flag_overrides)}; {sizes or 'no bounds'}"


# States.


def marks(node: StateNode) -> list[str]:
    """Return the marks of a state."""
    ending = "dead end" if node.is_dead else "blocked by a bound" if node.is_end else ""
    possible = {"initial": node.is_initial, "quiescent": node.is_quiescent, ending: node.is_end}
    return [mark for mark, holds in possible.items() if holds]


def _node(graph: StateGraph, node: StateNode, texts: list[str]) -> str:
    outside = graph.outside(node)
    text = [
        ", ".join([f"{node.number}", *marks(node)]),
        *texts,
        *_violations(node.violated),
        *([f"→ {_counted(outside, 'state')} left out"] if outside else []),
    ]
    return f"  s{node.number} [{', '.join([f'label={quoted(text)}', *_style(node, outside)])}];"


def _style(node: StateNode, outside: int) -> Iterator[str]:
    styles = {"rounded": not node.is_end, "dashed": outside > 0, "filled": bool(node.violated)}
    yield f'style="{",".join(style for style, holds in styles.items() if holds)}"'
    if node.is_end:
        yield 'shape="octagon"'
    if node.is_initial:
        yield "penwidth=3"
    if node.is_quiescent:
        yield "peripheries=2"
    if node.violated:
        yield f'{VIOLATED}, fillcolor="#fde7e9"'


def _violations(properties: Iterable[PropertyInstance]) -> list[str]:
    return [f"violates {prop.key}" for prop in properties]


class _Labels:
    """The labels of states."""

    def __init__(self, drawing: Drawing) -> None:
        self.graph, self.model = drawing.graph, drawing.graph.model
        self.parts = parts_of(self.model)
        everywhere = drawing.labels == "state"
        self.varying = self._varying(drawing.graph.nodes) if everywhere else None
        self.at_first = self._varying([node for node in drawing.graph.nodes if node.is_initial])

    def _varying(self, nodes: Iterable[StateNode]) -> tuple[Part, ...]:
        """Return the parts that differ between these states."""
        vectors = [node.vector for node in nodes]
        return tuple(part for part in self.parts if len({part.numbers(vector) for vector in vectors}) > 1)

    def of(self, node: StateNode) -> list[str]:
        """Return the lines of a state's label, without its marks."""
        if self.varying is not None:
            return self._values(node, self.varying)
        if node.parent is None:
            return self._values(node, self.at_first)
        before = self.graph.nodes[node.parent].vector
        changed = [str(line) for line in lines(changes(self.model, self.parts, before, node.vector))]
        return _shortened(changed, CHANGED)

    def _values(self, node: StateNode, parts: tuple[Part, ...]) -> list[str]:
        with self.model.active():
            return [f"{path_text(part.path)} {part.value_text(node.vector)}" for part in parts]


def _shortened(texts: list[str], most: int) -> list[str]:
    return texts if len(texts) <= most + 1 else [*texts[:most], f"… and {len(texts) - most} more"]


# Steps.


def _edges(graph: StateGraph, node: StateNode) -> Iterator[str]:
    for edge in node.edges:
        if graph.is_drawn(edge.target):
            idle = edge.target == node.number
            label = quoted([*_shortened(_steps(graph, edge, idle=idle), NAMED), *_violations(edge.violated)])
            style = [f"label={label}", *([VIOLATED] if edge.violated else []), *(['style="dotted"'] if idle else [])]
            yield f"  s{node.number} -> s{edge.target} [{', '.join(style)}];"


def _steps(graph: StateGraph, edge: StateEdge, *, idle: bool) -> list[str]:
    """Return the keys of an edge's steps; idle ones of the same action are merged."""
    instances = [graph.model.instances[number] for number in edge.instances]
    times = Counter(instance.action.name for instance in instances)
    if not idle:
        return [instance.key for instance in instances]
    return list(dict.fromkeys(_idle(i.key, i.action.name, times[i.action.name]) for i in instances))


def _idle(key: str, name: str, times: int) -> str:
    return f"{key if times == 1 else f'{name} ×{times}'}, idle"


# Text.


def graph_text(graph: StateGraph, figures: Statistics) -> Iterator[Block]:
    """Yield how much of the graph is drawn, then its figures."""
    yield Paragraph([strong("GRAPH"), f"  {extent(graph)}"])
    yield from (Paragraph(fact, 2) for fact in _facts(graph, figures))


def _facts(explored: StateGraph, figures: Statistics) -> Iterator[str]:
    """Yield sentences about the figures, in a fixed order."""
    branching = figures.branching
    yield about(explored.model)
    if explored.left_out:
        yield "except for the states by depth, all figures are about the drawn states and the steps from them"
    yield f"states by depth, from 0 on: {', '.join(map(_depth, figures.depths))}"
    yield (
        f"branching (other states that a state leads to): least {branching.least}, median {branching.median:g}, "
        f"most {branching.most}, mean {branching.mean:.2f}"
    )
    yield f"steps: {figures.steps:,}, of which {figures.idle:,} idle; edges drawn between states: {figures.edges:,}"
    yield (
        f"quiescent states: {figures.quiescent:,}; dead ends: {figures.dead_ends:,}; "
        f"ends that only a bound blocks: {figures.blocked_ends:,}"
    )
    yield (
        f"strongly connected components: {figures.components:,}, the largest of {figures.largest_component:,}; "
        f"states on a cycle with others: {figures.cyclic:,}"
    )
    yield from (f"violated: {prop}, {_times(count)}" for prop, count in figures.violations.items())
    yield from (f"bound reached: {name}, {_times(hits)}" for name, hits in explored.bounds_hit.items() if hits)


def _times(count: int) -> str:
    return f"{count:,} time" + "s" * (count != 1)


def _depth(depth: Depth) -> str:
    """Return the number of states at a depth, and the number of drawn ones if it differs."""
    least = "" if depth.complete else "at least "
    drawn = "" if depth.drawn == depth.states else f" ({depth.drawn:,} drawn)"
    return f"{least}{depth.states:,}{drawn}"
