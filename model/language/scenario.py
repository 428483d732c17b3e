"""Scenarios: a story to explore, with its state, actions, invariants, bounds and variants.

Words: a *variant* is a named set of flag values (a version of the modelled system, or a candidate fix). An *initial*
function takes a fresh state, and parameters over domains if there is a choice, and arranges the start; it may
`require`.
A *reading* is what a snapshot of a real system says: bounds, labels, and one or more initial states.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from attrs import evolve, field, frozen, validators

from model.language.action import Action
from model.language.binding import Binding
from model.language.errors import UsageError, unknown
from model.language.invariant import Invariant


def nothing(state: Any) -> None:
    """The initial function of a model that starts with the defaults of its fields."""


Steps = Sequence[tuple[str, str]]
"""The steps of a trace for people: each the lane of its actor, and what it does."""


@frozen
class Reading:
    """What a snapshot of a real system amounts to in the model.

    `bounds` and `labels` win over the scenario's; `initial` arranges the state as the snapshot shows it; `facts` are
    sentences for people, on what was read and what was left out. `invariants` are the names of those worth asking
    from there; none means all. `diagnose`, if there is one, turns what a search found from there into sentences in
    the operator's words: it takes the shortest counterexample's steps, or None if none was found.
    """

    bounds: Mapping[str, int]
    labels: Mapping[str, tuple[str, ...]]
    initial: Callable[..., None]
    variant: str | None = None
    facts: tuple[str, ...] = ()
    invariants: tuple[str, ...] = ()
    diagnose: Callable[[Steps | None], tuple[str, ...]] | None = None


def _actions(actions: Iterable[Action]) -> tuple[Action, ...]:
    return tuple(actions)


def _invariants(invariants: Iterable[Invariant]) -> tuple[Invariant, ...]:
    return tuple(invariants)


@frozen(eq=False)
class Scenario:
    """A story: everything that engines need to explore it."""

    name: str
    story: str
    state: type
    actions: tuple[Action, ...] = field(converter=_actions, validator=validators.min_len(1))
    invariants: tuple[Invariant, ...] = field(converter=_invariants, default=())
    initial: Callable[..., None] = nothing
    bounds: Mapping[str, int] = field(factory=dict)
    flags: Mapping[str, Any] = field(factory=dict)
    variants: Mapping[str, Mapping[str, Any]] = field(factory=dict)
    labels: Mapping[str, tuple[str, ...]] = field(factory=dict)
    deadlock_is_error: bool = False
    read_snapshot: Callable[[Any], Reading] | None = None
    source: str = ""

    def __attrs_post_init__(self) -> None:
        for kind, things in (("action", self.actions), ("invariant", self.invariants)):
            names = [thing.name for thing in things]
            for name in names:
                if names.count(name) > 1:
                    raise UsageError(f"Scenario {self.name!r} has two {kind}s named {name!r}; rename one of them.")

    @property
    def default_variant(self) -> str:
        """The first variant, or "default" if the scenario has none."""
        return next(iter(self.variants), "default")

    def binding(self, variant: str | None = None, bounds: Mapping[str, int] | None = None) -> Binding:
        """The values of all bounds and flags for a variant and bounds asked for; UsageError for unknown ones."""
        variant = variant or self.default_variant
        if variant not in self.variants and variant != self.default_variant:
            raise unknown("variant", variant, self.variants)
        for name, wanted in (bounds or {}).items():
            if name not in self.bounds:
                raise unknown("bound", name, self.bounds)
            if type(wanted) is not int or wanted < 0:
                raise UsageError(f"Bound {name!r} must be an int of 0 or more (got {wanted!r}).")
        return Binding(
            bounds={**self.bounds, **(bounds or {})},
            flags={**self.flags, **self.variants.get(variant, {})},
            labels=self.labels,
        )

    def starting_from(self, reading: Reading) -> Scenario:
        """The same story, begun from what a snapshot shows."""
        for name in reading.bounds:
            if name not in self.bounds:
                raise unknown("bound", name, self.bounds)
        known = {invariant.name: invariant for invariant in self.invariants}
        for name in reading.invariants:
            if name not in known:
                raise unknown("invariant", name, known)
        asked = [known[name] for name in reading.invariants]
        return evolve(
            self,
            bounds={**self.bounds, **reading.bounds},
            labels={**self.labels, **reading.labels},
            initial=reading.initial,
            invariants=asked or self.invariants,  # type: ignore[arg-type]  # attrs cannot type the converter tuple
        )
