"""A state graph as a DOT file, which Graphviz and many other programs draw.

Words: a state's *marks* say in words what its frame says too: initial (bold), quiet (double), an end (an octagon). A
dashed frame is of a state with steps to states that are left out; what violates a claim is red. Names come from models
and snapshots, so that every text passes through `quoted`.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from attrs import frozen

from model.language import Claim, Model
from model.language.settings import variant_text
from reports.changes import Part, changes, lines, parts_of, path_text
from reports.escaping import LONGEST, visible
from search.graph import Edge, Node, StateGraph

LABELS = ("changes", "state")
"""What a state's label says: what changed against its parent, or every part that differs between drawn states."""
CHANGED = 6
"""Lines of changes in a label before the rest is told as a number."""
NAMED = 6
"""Steps in an edge's label before the rest is told as a number."""
FOUND = 'color="#b00020", fontcolor="#b00020"'


@frozen
class Drawing:
    """A graph, what its labels say, and the command that draws it again."""

    graph: StateGraph
    labels: str = LABELS[0]
    command: str = ""


def dot_text(drawing: Drawing) -> str:
    """The file, in ASCII syntax with names as UTF-8."""
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
    """How much of the state graph is drawn, in words."""
    drawn = _counted(len(graph.nodes), "state")
    if not graph.left_out:
        return f"all {drawn} within the bounds"
    why = "interrupted" if graph.interrupted else "capped"
    some = _counted(graph.left_out, "state")
    which = "initial or one step away" if len(graph.model.initial) > len(graph.nodes) else "one step away"
    return f"the first {drawn} ({why}): at least {some} more left out, those {which}"


def quoted(texts: Iterable[str], *, plain: bool = False) -> str:
    """Lines as one quoted string, in which DOT sees nothing but text; a `plain` one is an identifier, not a label."""
    shown = (visible(text, LONGEST).replace("\\", "\\\\").replace('"', '\\"') for text in texts)
    if plain:
        return f'"{" ".join(shown)}"'
    return '"' + "".join(f"{line.replace('&', '&amp;')}\\l" for line in shown) + '"'


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" + "s" * (count != 1)


def about(model: Model) -> str:
    """Which model it is: scenario, variant, flags and bounds; those that are 0 are not named."""
    bounds = model.binding.bounds
    sizes = ", ".join(f"{name} {size}" for name, size in bounds.items() if size)
    sizes += ", all others 0" if sizes and not all(bounds.values()) else ""
    return f"{model.scenario.name}, variant {variant_text(model.variant, model.asked_flags)}; {sizes or 'no bounds'}"


# States.


def marks(node: Node) -> list[str]:
    """What is special about a state, in words."""
    ending = "dead end" if node.is_dead else "blocked by a bound" if node.is_end else ""
    told = {"initial": node.is_initial, "quiet": node.is_quiet, ending: node.is_end}
    return [mark for mark, holds in told.items() if holds]


def _node(graph: StateGraph, node: Node, texts: list[str]) -> str:
    outside = graph.outside(node)
    text = [
        ", ".join([f"{node.number}", *marks(node)]),
        *texts,
        *_violations(node.violated),
        *([f"→ {_counted(outside, 'state')} left out"] if outside else []),
    ]
    return f"  s{node.number} [{', '.join([f'label={quoted(text)}', *_style(node, outside)])}];"


def _style(node: Node, outside: int) -> Iterator[str]:
    styles = {"rounded": not node.is_end, "dashed": outside > 0, "filled": bool(node.violated)}
    yield f'style="{",".join(style for style, holds in styles.items() if holds)}"'
    if node.is_end:
        yield 'shape="octagon"'
    if node.is_initial:
        yield "penwidth=3"
    if node.is_quiet:
        yield "peripheries=2"
    if node.violated:
        yield f'{FOUND}, fillcolor="#fde7e9"'


def _violations(claims: Iterable[Claim]) -> list[str]:
    return [f"violates {claim.key}" for claim in claims]


class _Labels:
    """What the labels of states say about them."""

    def __init__(self, drawing: Drawing) -> None:
        self.graph, self.model = drawing.graph, drawing.graph.model
        self.parts = parts_of(self.model)
        everywhere = drawing.labels == "state"
        self.varying = self._varying(drawing.graph.nodes) if everywhere else None
        self.at_first = self._varying([node for node in drawing.graph.nodes if node.is_initial])

    def _varying(self, nodes: Iterable[Node]) -> tuple[Part, ...]:
        """The parts that are not the same in all of these states."""
        vectors = [node.vector for node in nodes]
        return tuple(part for part in self.parts if len({part.numbers(vector) for vector in vectors}) > 1)

    def of(self, node: Node) -> list[str]:
        """The lines about a state, besides its marks."""
        if self.varying is not None:
            return self._values(node, self.varying)
        if node.parent is None:
            return self._values(node, self.at_first)
        before = self.graph.nodes[node.parent].vector
        told = [str(line) for line in lines(changes(self.model, self.parts, before, node.vector))]
        return _shortened(told, CHANGED)

    def _values(self, node: Node, parts: tuple[Part, ...]) -> list[str]:
        with self.model.active():
            return [f"{path_text(part.path)} {part.says(node.vector)}" for part in parts]


def _shortened(texts: list[str], most: int) -> list[str]:
    return texts if len(texts) <= most + 1 else [*texts[:most], f"… and {len(texts) - most} more"]


# Steps.


def _edges(graph: StateGraph, node: Node) -> Iterator[str]:
    for edge in node.edges:
        if graph.is_drawn(edge.target):
            idle = edge.target == node.number
            label = quoted([*_shortened(_steps(graph, edge, idle=idle), NAMED), *_violations(edge.violated)])
            style = [f"label={label}", *([FOUND] if edge.violated else []), *(['style="dotted"'] if idle else [])]
            yield f"  s{node.number} -> s{edge.target} [{', '.join(style)}];"


def _steps(graph: StateGraph, edge: Edge, *, idle: bool) -> list[str]:
    """The steps of an edge by their keys; idle ones of the same action together."""
    instances = [graph.model.instances[number] for number in edge.instances]
    times = Counter(instance.action.name for instance in instances)
    if not idle:
        return [instance.key for instance in instances]
    return list(dict.fromkeys(_idle(i.key, i.action.name, times[i.action.name]) for i in instances))


def _idle(key: str, name: str, times: int) -> str:
    return f"{key if times == 1 else f'{name} ×{times}'}, idle"
