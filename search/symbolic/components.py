"""The components of a state: the parts that have one level each in a diagram, and the order of the levels.

Words: a *component* is a set of leaves that a diagram takes as one number. Diagrams of single leaves have about as many
nodes as there are states; those of whole objects share their values (measured in docs/explanation/symbolic.md).

Source of the order: F. A. Aloul, I. L. Markov and K. A. Sakallah, "FORCE: a fast and easy-to-implement
variable-ordering heuristic", GLSVLSI 2003.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

SMALL = 4
"""The bits of an object below which it stays in the component of what it is a part of."""
WHOLE = 16
"""The bits of an object up to which it is not divided."""
LARGE = 12
"""The bits of a component of objects that exist once, at most, unless it is a single leaf."""
ROUNDS = 50
"""The rounds of the heuristic that orders components, at most."""
STEP = re.compile(r"\[\d+\]|\.?[^.\[]+")
"""A part of a path: an attribute, or the position in an array."""


def components_of(paths: Sequence[str], widths: Sequence[int]) -> list[frozenset[int]]:
    """Return the components of a state: its objects, without the objects in them; what exists once comes first.

    Args:
        paths: The path of each leaf.
        widths: The bits of each leaf. Leaves without bits have one value, and are in no component.
    """
    queues = {path[:-1] for path in paths if path.endswith("#")}
    owners = {leaf: _owners(path, queues) for leaf, path in enumerate(paths) if widths[leaf]}
    bits = Counter[str]()
    for leaf, names in owners.items():
        bits.update(dict.fromkeys(names, widths[leaf]))
    objects: dict[str, list[int]] = {}
    for leaf, names in owners.items():
        whole = (name for name in names if "[" in name and SMALL <= bits[name] <= WHOLE)
        large = (name for name in reversed(names) if bits[name] >= SMALL)
        objects.setdefault(next(whole, "") or next(large, ""), []).append(leaf)
    single = [leaf for name, leaves in objects.items() if "[" not in name for leaf in leaves]
    parts = _merged(_divided(single, paths, widths, 1), widths)
    return [frozenset(leaves) for leaves in (*parts, *(objects[name] for name in objects if "[" in name))]


def _divided(leaves: list[int], paths: Sequence[str], widths: Sequence[int], steps: int) -> list[list[int]]:
    """Return leaves in parts of at most LARGE bits: those whose paths begin with the same steps are together."""
    starts: dict[tuple[str, ...], list[int]] = {}
    for leaf in leaves:
        starts.setdefault(tuple(STEP.findall(paths[leaf])[:steps]), []).append(leaf)
    found = list[list[int]]()
    for part in starts.values():
        is_small = len(part) == 1 or sum(widths[leaf] for leaf in part) <= LARGE
        found += [part] if is_small else _divided(part, paths, widths, steps + 1)
    return found


def _merged(parts: Iterable[list[int]], widths: Sequence[int]) -> list[list[int]]:
    """Return parts that follow each other as one, up to LARGE bits."""
    found = list[list[int]]()
    for part in parts:
        together = [*(found[-1] if found else []), *part]
        if found and sum(widths[leaf] for leaf in together) <= LARGE:
            found[-1] = together
        else:
            found.append(part)
    return found


def _owners(path: str, queues: Collection[str]) -> list[str]:
    """Return the paths of the objects that a leaf is in, the outermost first; a queue is not divided."""
    owners, whole = [""], ""
    steps = STEP.findall(path)
    for step, following in pairwise(steps):
        whole += step
        if whole in queues:
            break
        if following[0] == ".":
            owners.append(whole)
    return owners


def in_good_order(components: Sequence[frozenset[int]], steps: Collection[frozenset[int]]) -> list[frozenset[int]]:
    """Return the components so that those which the same steps touch are near each other.

    The first component stays first, as what changes it begins another mode (see `reachability`).

    Args:
        components: The components.
        steps: For each step, the leaves that it touches.
    """
    touched = [[n for n, component in enumerate(components) if n and component & step] for step in steps]
    edges = [edge for edge in touched if len(edge) > 1]
    order = list(range(len(components)))
    best, least = order, _span(edges, order)
    for _ in range(ROUNDS):
        place = {n: rank for rank, n in enumerate(order)}
        centers: dict[int, list[float]] = {n: [] for n in order}
        for edge in edges:
            center = sum(place[n] for n in edge) / len(edge)
            for n in edge:
                centers[n].append(center)
        wanted = {n: sum(near) / len(near) if near else place[n] for n, near in centers.items()}
        order = [
            0,
            *sorted(order[1:] if order[0] == 0 else [n for n in order if n], key=lambda n: (wanted[n], place[n])),
        ]
        span = _span(edges, order)
        if span >= least:
            break
        best, least = order, span
    return [components[n] for n in best]


def _span(edges: Iterable[Sequence[int]], order: Sequence[int]) -> int:
    """Return the sum of the distances between the first and the last component that each step touches."""
    place = {n: rank for rank, n in enumerate(order)}
    return sum(max(place[n] for n in edge) - min(place[n] for n in edge) for edge in edges)
