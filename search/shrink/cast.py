"""What minimizing and naming shapes need of a model, without its functions: it can be pickled and sent.

Words: a *cast* is the instances and claims of a model by their numbers, names and arguments, and its initial states.
Arguments are members of domains, or the tokens of other values.
"""
from __future__ import annotations

from typing import Any

from attrs import frozen

from model.language import Kind, Model, Vector
from model.language.action import Parametric


@frozen
class Place:
    """A parameter: the name of the domain whose members it takes, None for other values."""

    over: str | None

    def token(self, argument: Any) -> str:
        """An argument as instance names write it."""
        return str(argument)


@frozen
class Role:
    """An action or an invariant, by its name and parameters."""

    name: str
    parameters: tuple[Place, ...]


@frozen
class Player:
    """An action with its parameters chosen."""

    index: int
    action: Role
    args: tuple[Any, ...]


@frozen
class Line:
    """An invariant with its parameters chosen."""

    index: int
    invariant: Role
    args: tuple[Any, ...]
    kind: Kind


@frozen
class Cast:
    """The instances, the claims and the initial states of a model."""

    instances: tuple[Player, ...]
    claims: tuple[Line, ...]
    initial: tuple[Vector, ...]


def cast_of(model: Model) -> Cast:
    """The cast of a model."""
    roles: dict[Parametric, Role] = {}
    instances = tuple(Player(i.index, _role(i.action, roles), _told(i.action, i.args)) for i in model.instances)
    claims = tuple(Line(c.index, _role(c.invariant, roles), _told(c.invariant, c.args), c.kind) for c in model.claims)
    return Cast(instances, claims, model.initial)


def _role(thing: Parametric, roles: dict[Parametric, Role]) -> Role:
    """The role of an action or invariant; the same one each time, as minimizing asks which instances share one."""
    return roles.setdefault(thing, Role(thing.name, tuple(Place(parameter.over) for parameter in thing.parameters)))


def _told(thing: Parametric, args: tuple[Any, ...]) -> tuple[Any, ...]:
    pairs = zip(thing.parameters, args, strict=True)
    return tuple(arg if parameter.over is not None else parameter.token(arg) for parameter, arg in pairs)
