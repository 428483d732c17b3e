"""Refusing senseless sizes before a model is built with them: a bound may come from a file or a slip of the finger."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from math import prod

from attrs import fields_dict

from model.language.action import Parametric
from model.language.binding import Binding, Domain
from model.language.errors import UsageError
from model.language.records import RecordShape, ValueShape, shapes_of
from model.language.scenario import Scenario
from model.language.shapes import Shape

LARGEST = 2**31
MOST_LEAVES = 100_000
MOST_INSTANCES = 200_000


def check_sizes(scenario: Scenario, binding: Binding) -> None:
    """UsageError if a domain would be empty, or the model larger than any engine can search."""
    for name, size in binding.bounds.items():
        if size > LARGEST:
            raise UsageError(f"Bound {name!r} is {size:,}; at most {LARGEST:,} is taken.")
    with binding.active():
        things = [*scenario.actions, *scenario.invariants, Parametric(scenario.initial, states=1)]
        for domain in {*_domains_of(RecordShape(scenario.state)), *_parameter_domains(things)}:
            len(domain)  # reading the size of an empty domain is refused
        leaves = sum(1 for _ in islice(RecordShape(scenario.state).leaves(""), MOST_LEAVES + 1))
        _refuse_if_larger(leaves, MOST_LEAVES, "state variables")
        _refuse_if_larger(sum(map(_instances, things)), MOST_INSTANCES, "instances of actions and invariants")


def _instances(thing: Parametric) -> int:
    return prod(len(p.domain) if isinstance(p.domain, Domain) else len(p.values) for p in thing.parameters)


def _refuse_if_larger(count: int, most: int, what: str) -> None:
    if count > most:
        raise UsageError(f"These bounds make a model with more than {most:,} {what}. Give smaller bounds.")


def _parameter_domains(things: Iterable[Parametric]) -> Iterator[Domain]:
    yield from (p.domain for thing in things for p in thing.parameters if isinstance(p.domain, Domain))


def _domains_of(shape: Shape) -> Iterator[Domain]:
    """All domains that a shape, or a shape within it, ranges over."""
    for name in fields_dict(type(shape)):  # type: ignore[arg-type]
        inner = getattr(shape, name)
        if isinstance(inner, Domain):
            yield inner
        elif isinstance(inner, Shape):
            yield from _domains_of(inner)
    if isinstance(shape, (RecordShape, ValueShape)):
        for _, inner in shapes_of(shape.cls):
            yield from _domains_of(inner)
