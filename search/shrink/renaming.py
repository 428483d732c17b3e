"""Renamings of behaviours: the same steps with other members of the domains, such as other brokers, in their places."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations, product
from math import factorial, prod
from typing import Any

from model.language import Model
from search.shrink.cast import Cast

MOST_RENAMINGS = 120
"""Where members can be renamed in more ways than this, they are not."""

MISSING = -1
"""The number of what the model does not have."""


class Renamings:
    """All ways to permute the members of a model's domains, applied to the numbers of instances and claims."""

    def __init__(self, model: Model | Cast) -> None:
        things = [(i.action, i.args) for i in model.instances], [(c.invariant, c.args) for c in model.claims]
        numbered = [{thing: number for number, thing in enumerate(each)} for each in things]
        self._maps = [
            [[each.get((thing, _renamed(thing, args, one)), MISSING) for thing, args in each] for each in numbered]
            for one in _renamings([*things[0], *things[1]])
        ]

    def of(self, claims: Sequence[int], steps: Sequence[int]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Claims and steps by other members, each once; only what the model has."""
        met = {(tuple(claims), tuple(steps))}
        for instances, claimed in self._maps:
            other = tuple(sorted(claimed[n] for n in claims)), tuple(instances[n] for n in steps)
            if MISSING not in other[0] and MISSING not in other[1] and other not in met:
                met.add(other)
                yield other


def _renamed(thing: Any, args: tuple[Any, ...], renaming: Mapping[tuple[str, Any], Any]) -> tuple[Any, ...]:
    pairs = zip(thing.parameters, args, strict=True)
    return tuple(arg if parameter.over is None else renaming[parameter.over, arg] for parameter, arg in pairs)


def _renamings(things: Sequence[tuple[Any, tuple[Any, ...]]]) -> Iterator[Mapping[tuple[str, Any], Any]]:
    members: dict[str, dict[Any, None]] = {}
    for thing, args in things:
        for parameter, arg in zip(thing.parameters, args, strict=True):
            if parameter.over is not None:
                members.setdefault(parameter.over, {})[arg] = None
    if prod(factorial(len(each)) for each in members.values()) > MOST_RENAMINGS:
        return
    for chosen in product(*(permutations(each) for each in members.values())):
        names = zip(members.items(), chosen, strict=True)
        yield {(name, old): new for (name, olds), order in names for old, new in zip(olds, order, strict=True)}
