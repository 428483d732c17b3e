"""The signature of a model, and the renamings of behaviours: what minimizing needs of a model besides its kernel.

Words: a *signature* has the action instances and property instances of a model by number, name and arguments, and its
initial states. It has no functions, so that it can be pickled and sent. Arguments are members of domains, or the tokens
of other values. A *renaming* permutes the members of each domain (brokers, topics).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations, product
from math import factorial, prod
from typing import Any

from attrs import frozen

from kwalk.model.language import Kind, Model, Vector
from kwalk.model.language.action import Parametric

MAX_RENAMINGS = 120
"""Where members can be renamed in more ways than this, they are not."""
UNKNOWN = -1
"""The number of an instance that the model does not have."""


@frozen
class ParameterSlot:
    """A parameter: the name of the domain whose members it takes; None for other values."""

    over: str | None

    def token(self, argument: Any) -> str:
        """Return an argument as the keys of instances write it."""
        return str(argument)


@frozen
class Declaration:
    """An action or a property, by its name and parameters."""

    name: str
    parameters: tuple[ParameterSlot, ...]


@frozen
class SignatureInstance:
    """An action with its parameters chosen."""

    index: int
    action: Declaration
    args: tuple[Any, ...]


@frozen
class SignatureProperty:
    """A property with its parameters chosen."""

    index: int
    declaration: Declaration
    args: tuple[Any, ...]
    kind: Kind


@frozen
class ModelSignature:
    """The action instances, the property instances and the initial states of a model."""

    instances: tuple[SignatureInstance, ...]
    properties: tuple[SignatureProperty, ...]
    initial: tuple[Vector, ...]


def signature_of(model: Model) -> ModelSignature:
    """Return the signature of a model; instances of one declaration share one object."""
    declarations: dict[Parametric, Declaration] = {}

    def declared(thing: Parametric) -> Declaration:
        slots = tuple(ParameterSlot(parameter.over) for parameter in thing.parameters)
        return declarations.setdefault(thing, Declaration(thing.name, slots))

    instances = tuple(
        SignatureInstance(i.index, declared(i.action), _arguments(i.action, i.args)) for i in model.instances
    )
    properties = tuple(
        SignatureProperty(p.index, declared(p.declaration), _arguments(p.declaration, p.args), p.kind)
        for p in model.properties
    )
    return ModelSignature(instances, properties, model.initial)


def _arguments(thing: Parametric, args: tuple[Any, ...]) -> tuple[Any, ...]:
    pairs = zip(thing.parameters, args, strict=True)
    return tuple(arg if parameter.over is not None else parameter.token(arg) for parameter, arg in pairs)


def members_of(calls: Iterable[tuple[Any, tuple[Any, ...]]]) -> dict[str, list[Any]]:
    """Return the members in the arguments of (declaration, arguments), by domain, in the order of first appearance."""
    found: dict[str, dict[Any, None]] = {}
    for thing, args in calls:
        for parameter, arg in zip(thing.parameters, args, strict=True):
            if parameter.over is not None:
                found.setdefault(parameter.over, {})[arg] = None
    return {domain: list(members) for domain, members in found.items()}


def orders_of(members: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Sequence[Any]]] | None:
    """Yield all orders of the members of each domain; None if there are more than MAX_RENAMINGS."""
    if prod(factorial(len(each)) for each in members.values()) > MAX_RENAMINGS:
        return None
    orders = product(*(permutations(each) for each in members.values()))
    return (dict(zip(members, order, strict=True)) for order in orders)


class Renamings:
    """All renamings of a model, applied to the numbers of action instances and property instances."""

    def __init__(self, model: Model | ModelSignature) -> None:
        calls = [(i.action, i.args) for i in model.instances], [(p.declaration, p.args) for p in model.properties]
        numbered = [{call: number for number, call in enumerate(each)} for each in calls]
        members = members_of([*calls[0], *calls[1]])
        renamings = (
            {(domain, old): new for domain in members for old, new in zip(members[domain], order[domain], strict=True)}
            for order in orders_of(members) or ()
        )
        self._maps = [
            [[each.get((thing, _renamed(thing, args, one)), UNKNOWN) for thing, args in each] for each in numbered]
            for one in renamings
        ]

    def of(self, properties: Sequence[int], steps: Sequence[int]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Yield each different renaming of properties and steps that the model has, but not these themselves."""
        met = {(tuple(properties), tuple(steps))}
        for instances, renamed in self._maps:
            other = tuple(sorted(renamed[n] for n in properties)), tuple(instances[n] for n in steps)
            if UNKNOWN not in other[0] and UNKNOWN not in other[1] and other not in met:
                met.add(other)
                yield other


def _renamed(thing: Any, args: tuple[Any, ...], renaming: Mapping[tuple[str, Any], Any]) -> tuple[Any, ...]:
    pairs = zip(thing.parameters, args, strict=True)
    return tuple(arg if parameter.over is None else renaming[parameter.over, arg] for parameter, arg in pairs)
