"""Graphs as SVG, without any program but this one: states in columns by their depth, few arrows that cross.

Words: a *layer* is the nodes of one depth, drawn as a column from left to right. The layout is the layered one: the
order in each layer is improved by sweeps that move a node to the mean place of its neighbours (the barycenter
heuristic), and the order with the fewest crossings is used. Arrows within a layer, to itself, or to an earlier layer
are drawn as arcs. Every text is escaped here.

Source: K. Sugiyama, S. Tagawa and M. Toda, "Methods for visual understanding of hierarchical system structures", IEEE
Transactions on Systems, Man, and Cybernetics 11 (1981).
"""

from __future__ import annotations

import bisect
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import pairwise

from attrs import field, frozen

from kwalk.reports.escaping import visible

SWEEPS = 12
"""How often the order of all layers is improved."""
MOST_CROSSING = 4000
"""With more arrows than that, crossings are not counted: the last order is used."""
LABELLED = 80
"""A drawing of at most so many nodes has the labels below them; that of more has them as titles only."""
ROW, COLUMN = 46, 150
"""The distances of nodes with labels."""
NARROW_ROW, NARROW_COLUMN = 24, 74
"""The distances of nodes without labels."""
RADIUS, MARGIN = 8, 20
CENTRED = 24
"""Layers of at most so many nodes are centred; larger ones begin at the top, where a reader looks first."""
CUT = 24
"""Characters of a label that are drawn; the title has all."""


@frozen
class GraphNode:
    """A node to draw: its layer, its number or sign, a label, a title with everything, style classes, attributes."""

    layer: int
    sign: str
    label: str = ""
    title: str = ""
    style: str = ""
    data: Mapping[str, str] = field(factory=dict)


@frozen
class GraphArrow:
    """An arrow to draw, between nodes by their places in the list of nodes."""

    source: int
    target: int
    title: str = ""
    style: str = ""


def graph_svg(nodes: Sequence[GraphNode], arrows: Sequence[GraphArrow], name: str = "State graph") -> str:
    """Return a drawing of a graph, as large as it needs; its style is that of `graph.css`."""
    layers = _layers(nodes)
    tip = f"tip-{hashlib.blake2b(name.encode('utf-8', 'surrogatepass'), digest_size=4).hexdigest()}"
    labelled = len(nodes) <= LABELLED
    column, row = (COLUMN, ROW) if labelled else (NARROW_COLUMN, NARROW_ROW)
    side = MARGIN + (COLUMN // 2 if labelled else RADIUS)
    ordered = _ordered(layers, arrows)
    rows = max(map(len, ordered))
    above = [(rows - len(layer)) / 2 if rows <= CENTRED else 0 for layer in ordered]
    places = {
        number: (side + column * x, 2 * MARGIN + row * (y + above[x]))
        for x, layer in enumerate(ordered)
        for y, number in enumerate(layer)
    }
    width, height = 2 * side + column * (len(ordered) - 1), 4 * MARGIN + row * (rows - 1)
    return "\n".join(
        [
            f'<svg class="graph" role="group" aria-label="{escape(visible(name))}" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">',
            f'<defs><marker id="{tip}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="6" markerHeight="6" '
            'orient="auto-start-reverse"><path d="M0 0L8 4L0 8z"/></marker></defs>',
            *(_arrow(arrow, places, tip) for arrow in arrows),
            *(_node(number, node, places[number], labelled=labelled) for number, node in enumerate(nodes)),
            "</svg>",
        ]
    )


# Layout.


def _layers(nodes: Sequence[GraphNode]) -> list[list[int]]:
    """Return the numbers of the nodes by layer; no layer is empty."""
    found: dict[int, list[int]] = {}
    for number, node in enumerate(nodes):
        found.setdefault(node.layer, []).append(number)
    return [found[layer] for layer in sorted(found)]


def _ordered(layers: list[list[int]], arrows: Iterable[GraphArrow]) -> list[list[int]]:
    """Return the layers with few crossings."""
    layer_of = {number: place for place, layer in enumerate(layers) for number in layer}
    left: dict[int, list[int]] = {number: [] for number in layer_of}
    right: dict[int, list[int]] = {number: [] for number in layer_of}
    pairs = set()
    for arrow in arrows:
        ends = sorted((arrow.source, arrow.target), key=lambda number: layer_of[number])
        if layer_of[ends[0]] + 1 == layer_of[ends[1]]:
            pairs.add((ends[0], ends[1]))
    for one, other in sorted(pairs):
        right[one].append(other)
        left[other].append(one)
    best, fewest = layers, _crossings(layers, right) if len(pairs) <= MOST_CROSSING else -1
    for sweep in range(SWEEPS):
        layers = _swept(layers, right if sweep % 2 else left, backwards=bool(sweep % 2))
        crossings = _crossings(layers, right) if fewest >= 0 else -1
        if crossings < fewest or fewest < 0:
            best, fewest = layers, crossings
    return best


def _swept(layers: list[list[int]], neighbours: Mapping[int, list[int]], *, backwards: bool) -> list[list[int]]:
    """Return the layers, each in the order of the mean places of its neighbours in the layer before (or after)."""
    done: list[list[int]] = []
    for layer in reversed(layers) if backwards else layers:
        place = {number: (at + 0.5) / len(done[-1]) for at, number in enumerate(done[-1])} if done else {}
        own = {number: (at + 0.5) / len(layer) for at, number in enumerate(layer)}

        def mean(number: int, place: dict[int, float] = place, own: dict[int, float] = own) -> float:
            known = [place[other] for other in neighbours[number] if other in place]
            return sum(known) / len(known) if known else own[number]

        done.append(sorted(layer, key=mean))
    return done[::-1] if backwards else done


def _crossings(layers: list[list[int]], right: Mapping[int, list[int]]) -> int:
    """Return how many pairs of arrows between neighbouring layers cross."""
    count = 0
    for layer, following in pairwise(layers):
        place = {number: at for at, number in enumerate(following)}
        ends = [at for number in layer for at in sorted(place[other] for other in right[number] if other in place)]
        seen: list[int] = []
        for at in ends:
            count += len(seen) - bisect.bisect_right(seen, at)
            bisect.insort(seen, at)
    return count


# SVG.


def _node(number: int, node: GraphNode, place: tuple[float, float], *, labelled: bool) -> str:
    x, y = place
    data = "".join(f' data-{name}="{escape(value)}"' for name, value in node.data.items())
    label = ""
    if labelled and node.label:
        text = visible(node.label)
        shown = text if len(text) <= CUT else f"{text[: CUT - 1]}…"
        label = f'<text class="label" x="{x:g}" y="{y + RADIUS + 12:g}">{escape(shown)}</text>'
    return (
        f'<g class="node {node.style}" data-node="{number}" tabindex="0" role="button"{data}>'
        f"<title>{escape(visible(node.title or node.label))}</title>"
        f'<circle cx="{x:g}" cy="{y:g}" r="{RADIUS}"/>'
        f'<text class="sign" x="{x:g}" y="{y + 3:g}">{escape(visible(node.sign))}</text>{label}</g>'
    )


def _arrow(arrow: GraphArrow, places: Mapping[int, tuple[float, float]], tip: str) -> str:
    (x, y), (u, v) = places[arrow.source], places[arrow.target]
    if arrow.source == arrow.target:
        way = f"M{x - 4:g} {y - RADIUS:g}c-10 -14 18 -14 8 0"
    elif u > x:
        middle = (x + u) / 2
        way = f"M{x + RADIUS:g} {y:g}C{middle:g} {y:g} {middle:g} {v:g} {u - RADIUS - 1:g} {v:g}"
    elif u == x:
        bend = min(60, 14 + abs(v - y) / 3)
        way = f"M{x - RADIUS:g} {y:g}C{x - bend:g} {y:g} {u - bend:g} {v:g} {u - RADIUS - 1:g} {v:g}"
    else:
        top = min(y, v) - 18
        way = f"M{x:g} {y - RADIUS:g}C{x:g} {top:g} {u:g} {top:g} {u:g} {v - RADIUS - 1:g}"
    data = f'data-source="{arrow.source}" data-target="{arrow.target}"'
    return (
        f'<path class="arrow {arrow.style}" {data} d="{way}" marker-end="url(#{tip})">'
        f"<title>{escape(visible(arrow.title))}</title></path>"
    )
