"""What an exhaustive search must count, by a few lines of plain Python."""

from __future__ import annotations

from collections import Counter, deque

from attrs import define, field

from kwalk.model.language import Kind, Model, StepResult, Vector


@define
class Expected:
    """The counts of a complete breadth-first search, keyed as a verdict keys them."""

    depths: dict[Vector, int] = field(factory=dict)
    generated: int = 0
    quiescent: int = 0
    enabled: Counter[str] = field(factory=Counter)
    taken: Counter[str] = field(factory=Counter)
    changed: Counter[str] = field(factory=Counter)
    hits: Counter[str] = field(factory=Counter)
    premises: Counter[str] = field(factory=Counter)
    violated: Counter[str] = field(factory=Counter)
    shortest: dict[str, int] = field(factory=dict)
    """Steps to the first violation (or witness) of a property."""


def plain_counts(model: Model) -> Expected:
    """Search all states of a small model."""
    found = Expected(depths=dict.fromkeys(model.initial, 0), generated=len(model.initial))
    waiting = deque(model.initial)
    while waiting:
        vector = waiting.popleft()
        _check(model, vector, found)
        for instance in model.instances:
            outcome = model.attempt(instance, vector)
            found.enabled[instance.key] += outcome.result is not StepResult.DISABLED
            if outcome.bound:
                found.hits[outcome.bound] += 1
            if outcome.after is not None:
                found.generated += 1
                found.taken[instance.key] += 1
                found.changed[instance.key] += outcome.after != vector
                _check_step(model, vector, outcome.after, found)
                if outcome.after not in found.depths:
                    found.depths[outcome.after] = found.depths[vector] + 1
                    waiting.append(outcome.after)
    return found


def _check(model: Model, vector: Vector, found: Expected) -> None:
    quiescent = model.is_quiescent(vector)
    found.quiescent += quiescent
    for prop in model.properties:
        if prop.kind is Kind.STEP or (prop.kind is Kind.WHEN_QUIESCENT and not quiescent):
            continue
        truth = model.truth(prop, vector)
        found.premises[prop.key] += truth is not None
        if truth is (prop.kind is Kind.REACHABLE):
            found.violated[prop.key] += 1
            found.shortest.setdefault(prop.key, found.depths[vector])


def _check_step(model: Model, before: Vector, after: Vector, found: Expected) -> None:
    for prop in model.properties:
        if prop.kind is Kind.STEP:
            truth = model.truth(prop, after, before)
            found.premises[prop.key] += truth is not None
            if truth is False:
                found.violated[prop.key] += 1
                found.shortest.setdefault(prop.key, found.depths[before] + 1)
