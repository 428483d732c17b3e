"""The page of the explorer, and the drawing of a neighbourhood on it."""

from __future__ import annotations

import base64
import hashlib

from kwalk.reports.document.html import asset, render
from kwalk.reports.explorer.session import ExplorerSession, Neighbour, Neighbourhood
from kwalk.reports.pages.graph_drawing import GraphArrow, GraphNode, graph_svg

NOTEBOOKS, NOBODY = "http://localhost:* http://127.0.0.1:*", "'none'"
"""Who may show the explorer in a frame: pages on this machine, if it is for a notebook."""


def explorer_page(*, framed: bool = False) -> tuple[str, str]:
    """Return the page, which says nothing of a model, and its content security policy."""
    digest = base64.b64encode(hashlib.sha256(asset("explore.js").encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; connect-src 'self'; "
        f"img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors {NOTEBOOKS if framed else NOBODY}"
    )
    return render("explore.html.j2", script=asset("explore.js")), policy


def neighbourhood_svg(one: ExplorerSession, around: Neighbourhood) -> str:
    """Return the drawing of the states near a position; a node has the steps that lead to it."""
    keys = [instance.key for instance in one.model.instances]
    nodes = [
        GraphNode(
            layer=each.depth,
            sign=str(each.depth),
            label=keys[each.route[-1]] if each.route else "here",
            title=_title(each, keys),
            style=" ".join(["bad"] * bool(each.violated) + ["start"] * (each.number == 0)),
            data={"steps": " ".join(map(str, each.route))},
        )
        for each in around.nodes
    ]
    arrows = [
        GraphArrow(source, target, ", ".join(keys[number] for number in taken))
        for (source, target), taken in around.arrows.items()
    ]
    return graph_svg(nodes, arrows, "States near here")


def _title(each: Neighbour, keys: list[str]) -> str:
    steps = ", ".join(keys[number] for number in each.route) or "this state"
    return f"{steps}; violates {', '.join(each.violated)}" if each.violated else steps
