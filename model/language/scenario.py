"""Scenarios: a story to explore, with its state, actions, invariants, bounds and variants.

Words: a *variant* is a named set of flag values (a version of the modelled system, or a candidate fix). An *initial*
function takes a fresh state, and parameters over domains if there is a choice, and arranges the start; it may
`require`.
A *reading* is what a snapshot of a real system says: bounds, labels, and one or more initial states.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from reprlib import repr as brief
from typing import Any

from attrs import evolve, field, frozen

from model.language.action import Action
from model.language.binding import Binding
from model.language.errors import UsageError, unknown
from model.language.invariant import Invariant
from model.language.series import Series
from model.language.settings import checked


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
    return tuple(actions) if isinstance(actions, Iterable) else actions


def _invariants(invariants: Iterable[Invariant]) -> tuple[Invariant, ...]:
    return tuple(invariants) if isinstance(invariants, Iterable) else invariants


@frozen(eq=False)
class Scenario:
    """A story: everything that engines need to explore it."""

    name: str
    story: str
    state: type
    actions: tuple[Action, ...] = field(converter=_actions)
    invariants: tuple[Invariant, ...] = field(converter=_invariants, default=())
    initial: Callable[..., None] = nothing
    bounds: Mapping[str, int] = field(factory=dict)
    flags: Mapping[str, Any] = field(factory=dict)
    variants: Mapping[str, Mapping[str, Any]] = field(factory=dict)
    labels: Mapping[str, tuple[str, ...]] = field(factory=dict)
    deadlock_is_error: bool = False
    read_snapshot: Callable[[Any], Reading] | None = None
    read_series: Callable[[Sequence[Any]], Series] | None = None
    source: str = ""

    def __attrs_post_init__(self) -> None:
        for name, well, what in self._demands():
            if not well:
                raise UsageError(
                    f"Scenario {brief(self.name)}: `{name}` must be {what} (got {brief(getattr(self, name))})."
                )
        for kind, things in (("action", self.actions), ("invariant", self.invariants)):
            names = [thing.name for thing in things]
            for name in names:
                if names.count(name) > 1:
                    raise UsageError(f"Scenario {self.name!r} has two {kind}s named {name!r}; rename one of them.")

    def _demands(self) -> Iterator[tuple[str, bool, str]]:
        """For each field its name, whether its value is of the right kind, and what that is."""
        tables = (self.bounds, self.flags, self.variants, self.labels)
        yield "name", isinstance(self.name, str) and bool(self.name), "a text that is not empty"
        yield "state", getattr(self.state, "__kwalk__", "") == "state", "a class declared with @state"
        yield "actions", _all_are(Action, self.actions) and bool(self.actions), "one or more @action functions"
        yield "invariants", _all_are(Invariant, self.invariants), "functions declared as invariants, such as @always()"
        yield "initial", callable(self.initial) and hasattr(self.initial, "__name__"), "a function of the state"
        for name, table in zip(("bounds", "flags", "variants", "labels"), tables, strict=True):
            yield name, isinstance(table, Mapping), "a mapping"
        sizes = all(type(size) is int and size >= 0 for size in self.bounds.values())
        yield "bounds", sizes, "a mapping of names to ints of 0 or more"
        yield "variants", _all_are(Mapping, self.variants.values()), "a mapping of names to mappings of flags"

    @property
    def default_variant(self) -> str:
        """The first variant, or "default" if the scenario has none."""
        return next(iter(self.variants), "default")

    def binding(
        self,
        variant: str | None = None,
        bounds: Mapping[str, int] | None = None,
        flags: Mapping[str, Any] | None = None,
    ) -> Binding:
        """The values of all bounds and flags in a variant; those asked for go before the scenario's own.

        UsageError for unknown ones, and for what a bound or flag cannot be.
        """
        variant = variant or self.default_variant
        if variant not in self.variants and variant != self.default_variant:
            raise unknown("variant", variant, self.variants or (self.default_variant,))
        for name, wanted in (bounds or {}).items():
            if name not in self.bounds:
                raise unknown("bound", name, self.bounds)
            if type(wanted) is not int or wanted < 0:
                raise UsageError(f"Bound {name!r} must be an int of 0 or more (got {wanted!r}).")
        return Binding(
            bounds={**self.bounds, **(bounds or {})},
            flags={**self.flags, **self.variants.get(variant, {}), **checked(self, flags or {})},
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


def _all_are(kind: type, things: Any) -> bool:
    return isinstance(things, Iterable) and all(isinstance(thing, kind) for thing in things)
