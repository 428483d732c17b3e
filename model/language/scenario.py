"""Scenarios: a state class, its actions and properties, with bounds and variants.

Words: a *variant* is a named set of flag values (a version of the modelled system, or a candidate fix). An *initial*
function takes a new state, and parameters over domains if there is a choice, and changes it into an initial state; it
may `require`. A *reading* is the result of reading a snapshot of a real system: bounds, labels, flags, initial states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from reprlib import repr as brief
from typing import TYPE_CHECKING, Any

from attrs import evolve, field, fields, frozen

from kwalk.model.language.action import Action, Parametric, place_of
from kwalk.model.language.binding import Binding
from kwalk.model.language.constraints import Constraint
from kwalk.model.language.declared import is_table, kind_of_class
from kwalk.model.language.errors import UsageError, one_of, unknown
from kwalk.model.language.fairness import SYSTEM_FAIRNESS, Fairness
from kwalk.model.language.properties import Property
from kwalk.model.language.settings import checked

if TYPE_CHECKING:
    from kwalk.model.language.inspection import Inspection
    from kwalk.model.language.recovery import Problem
    from kwalk.model.language.series import Series

VIEWS = ("view", "views", "VIEW")
"""Arguments by which users of TLC would ask for a view."""
NO_VIEW = (
    "A Scenario has no argument {name!r}. A view would join states with unlike futures, so that a search might miss "
    "violations. For a variable that only some properties read, declare its field with `when=` a Flag; for names that "
    "do not matter, search with --symmetry or use fresh(…); to look at less, state that the scenario `refines(…)` a "
    "smaller one, or show functions of the state in traces with `aliases=`. "
    "docs/explanation/coming-from-tla.md has the reasons."
)
OF_SNAPSHOT = "the system of the snapshot has no room for it"
"""Why a property may be unable to fail from there: the sizes are those of a real system, and no choice of a model."""
PLURALS = {"action": "actions", "property": "properties", "constraint": "constraints"}


def start_with_defaults(state: Any) -> None:
    """Start with the defaults of all fields."""


Steps = Sequence[tuple[str, str]]
"""The steps of a trace for an operator: each the lane of its actor, and what it does."""


@frozen
class Reading:
    """The part of a model that a snapshot of a real system determines.

    Attributes:
        bounds: bounds that take precedence over the scenario's.
        labels: labels of domain members that take precedence over the scenario's.
        initial: the initial function, which sets the state that the snapshot shows.
        variant: the variant of the system's version, if the snapshot shows it.
        facts: sentences on what was read and what was left out.
        properties: names of the properties to check from there; empty for all.
        problems: what was found by an inspection, with what may happen next; empty if there is no inspection.
        diagnose: a function from the steps of the shortest counterexample, or None if there is none, to sentences for
            an operator.
        flags: settings that take precedence over the variant's: for `Model`, as traces name them.
        lacks: what the snapshot shows and the model lacks, in words: a search that finds no violation decides nothing.
    """

    bounds: Mapping[str, int]
    labels: Mapping[str, tuple[str, ...]]
    initial: Callable[..., None]
    variant: str | None = None
    facts: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    diagnose: Callable[[Steps | None], tuple[str, ...]] | None = None
    problems: tuple[Problem, ...] = ()
    flags: Mapping[str, Any] = field(factory=dict)
    lacks: str = ""


def _tuple(things: Any) -> Any:
    return tuple(things) if isinstance(things, Iterable) else things


def _fairness(fairness: Fairness | Iterable[Fairness]) -> tuple[Fairness, ...]:
    if isinstance(fairness, Fairness):
        return (fairness,)
    return tuple(fairness) if isinstance(fairness, Iterable) else fairness


def _properties(properties: Iterable[Property]) -> tuple[Property, ...]:
    """Return the properties, each followed by the parts that belong to it."""
    if not isinstance(properties, Iterable):
        return properties
    given = tuple(properties)
    return tuple(
        one for prop in given for one in (prop, *(part for part in getattr(prop, "parts", ()) if part not in given))
    )


@frozen(eq=False)
class Scenario:
    """Everything that engines need to explore a model.

    Attributes:
        name: its name on the command line.
        story: one or two sentences on what happens.
        state: the root class, declared with `@state`.
        actions: its actions.
        properties: its properties.
        initial: the initial function; by default all fields have their defaults.
        bounds: a value for every Bound and Domain.
        flags: settings of flags in all variants.
        variants: settings of flags by the variant's name; the first variant is the default.
        unlisted_variants: further variants, which no list, audit or test of all variants has; a user can name them.
        labels: labels of domain members, by the domain's name.
        constraints: constraints and action constraints, which restrict every search (see `constraints`).
        aliases: functions of the state whose values traces show; plain Python, for reports only.
        cannot_fail: by the name of a property the reason why it is expected that no state of the domains violates it;
            a property that can fail in no scenario declares that itself.
        deadlock_is_error: whether a state without a successor is a violation.
        fairness: what an infinite behaviour must do, for properties about behaviours: `weakly_fair(…)` and
            `strongly_fair(…)` of actions. By default each instance of each system action is weakly fair
            (SYSTEM_FAIRNESS); what is given replaces that, so `()` requires nothing.
        read_snapshot: a function from a JSON object to a `Reading`.
        read_series: a function from the files of snapshots to a `Series`, or to several, each explained by itself. If
            it has an argument `logs`, that is a `LogSource`, or None.
        inspect_snapshot: a function from a JSON file to an `Inspection`.
        recover_snapshot: a function from a JSON file to a `Problem` of `kwalk.model.language.recovery`.
        source: where the model comes from.

    Raises:
        UsageError: a field is of the wrong kind, or two actions or properties have one name.
    """

    name: str
    story: str
    state: type
    actions: tuple[Action, ...] = field(converter=_tuple)
    properties: tuple[Property, ...] = field(converter=_properties, default=())
    initial: Callable[..., None] = start_with_defaults
    bounds: Mapping[str, int] = field(factory=dict)
    flags: Mapping[str, Any] = field(factory=dict)
    variants: Mapping[str, Mapping[str, Any]] = field(factory=dict)
    unlisted_variants: Mapping[str, Mapping[str, Any]] = field(factory=dict)
    labels: Mapping[str, tuple[str, ...]] = field(factory=dict)
    constraints: tuple[Constraint, ...] = field(converter=_tuple, default=())
    aliases: tuple[Callable[[Any], Any], ...] = field(converter=_tuple, default=())
    cannot_fail: Mapping[str, str] = field(factory=dict)
    deadlock_is_error: bool = False
    fairness: tuple[Fairness, ...] = field(converter=_fairness, default=(SYSTEM_FAIRNESS,))
    read_snapshot: Callable[[Any], Reading] | None = None
    read_series: Callable[..., Series | tuple[Series, ...]] | None = None
    inspect_snapshot: Callable[[Any], Inspection] | None = None
    recover_snapshot: Callable[[Any], Problem] | None = None
    source: str = ""

    def __new__(cls, *args: Any, **arguments: Any) -> Scenario:
        """Refuse arguments that a scenario does not have.

        Raises:
            UsageError: there is no such argument; the message says what to write instead.
        """
        known = [each.name for each in fields(cls)]
        for name in arguments:
            if name in VIEWS:
                raise UsageError(NO_VIEW.format(name=name))
            if name not in known:
                raise unknown("argument of a Scenario", name, known)
        return object.__new__(cls)

    def __attrs_post_init__(self) -> None:
        for name, is_met, what in self._requirements():
            if not is_met:
                raise UsageError(
                    f"Scenario {brief(self.name)}: `{name}` must be {what} (got {brief(getattr(self, name))})."
                )
        for kind, declared in (
            ("action", self.actions),
            ("property", self.properties),
            ("constraint", self.constraints),
        ):
            _refuse_name_clash(f"Scenario {self.name!r}", kind, declared)
        known = [action.name for action in self.actions]
        for step in (step for fairness in self.fairness for step in fairness.steps):
            if step.action.name not in known:
                raise UsageError(
                    f"Scenario {self.name!r}: `fairness` names the action {step.action.name!r}, which is not among its "
                    f"actions. {one_of(known)}"
                )
        for name in self.optional_constraints:
            if any(name in table for table in (self.flags, *self.all_variants.values())):
                raise UsageError(
                    f"Scenario {self.name!r}: the optional constraint {name!r} has the name of a flag; it is a flag of "
                    "its own, so rename one of them."
                )

    def _requirements(self) -> Iterator[tuple[str, bool, str]]:
        """Yield for each field its name, whether its value is of the right kind, and what that kind is."""
        names = ("bounds", "flags", "variants", "unlisted_variants", "labels", "cannot_fail")
        yield "name", isinstance(self.name, str) and bool(self.name), "a text that is not empty"
        yield "story", isinstance(self.story, str), "a text"
        yield "source", isinstance(self.source, str), "a text"
        yield "deadlock_is_error", isinstance(self.deadlock_is_error, bool), "True or False"
        for name in ("read_snapshot", "read_series", "inspect_snapshot", "recover_snapshot"):
            reader = getattr(self, name)
            yield name, reader is None or callable(reader), "a function"
        yield "state", kind_of_class(self.state) == "state", "a class declared with @state"
        yield "actions", _all_are(Action, self.actions) and bool(self.actions), "one or more @action functions"
        yield "properties", _all_are(Property, self.properties), "functions declared as properties, such as @always()"
        yield "fairness", _all_are(Fairness, self.fairness), "declarations such as weakly_fair(…) and strongly_fair(…)"
        yield "constraints", _all_are(Constraint, self.constraints), "functions declared with @constraint()"
        aliases = isinstance(self.aliases, tuple) and all(hasattr(each, "__name__") for each in self.aliases)
        yield "aliases", aliases and all(map(callable, self.aliases)), "functions of the state"
        yield "initial", hasattr(self.initial, "__code__"), "a function of the state"
        for name in names:
            yield name, is_table(getattr(self, name)), "a mapping"
        sizes = all(type(size) is int and size >= 0 for size in self.bounds.values())
        yield "bounds", sizes, "a mapping of names to ints of 0 or more"
        labels = all(_all_are(str, each) and not isinstance(each, str) for each in self.labels.values())
        yield "labels", labels, "a mapping of names of domains to tuples of texts"
        for name in ("variants", "unlisted_variants"):
            yield name, _all_are(Mapping, getattr(self, name).values()), "a mapping of names to mappings of flags"

    @property
    def all_variants(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the variants that a user can name, those of `variants` and the unlisted ones."""
        return {**self.unlisted_variants, **self.variants} if self.unlisted_variants else self.variants

    @property
    def default_variant(self) -> str:
        """Return the first variant, or "default" if the scenario has none."""
        return next(iter(self.variants), "default")

    @property
    def declared_properties(self) -> tuple[Property, ...]:
        """Return its properties without the parts of others: those that a user selects by name."""
        return tuple(prop for prop in self.properties if not prop.part_of)

    @property
    def optional_constraints(self) -> tuple[str, ...]:
        """Return the names of the constraints that apply only where they are selected; each is a flag."""
        return tuple(each.name for each in self.constraints if each.optional)

    def binding(
        self,
        variant: str | None = None,
        bounds: Mapping[str, int] | None = None,
        flags: Mapping[str, Any] | None = None,
    ) -> Binding:
        """Return the values of all bounds and flags in a variant.

        Args:
            variant: its name; None for the default.
            bounds: bounds that take precedence over the scenario's.
            flags: settings that take precedence over the variant's.

        Raises:
            UsageError: a name is unknown, or a bound or flag cannot have the value.
        """
        variant = variant or self.default_variant
        variants = self.all_variants
        if variant not in variants and variant != self.default_variant:
            raise unknown("variant", variant, variants or (self.default_variant,))
        for name, wanted in (bounds or {}).items():
            if name not in self.bounds:
                raise unknown("bound", name, self.bounds)
            if type(wanted) is not int or wanted < 0:
                raise UsageError(f"Bound {name!r} must be an int of 0 or more (got {wanted!r}).")
        optional = dict.fromkeys(self.optional_constraints, False)
        settings = {**optional, **self.flags, **variants.get(variant, {}), **(flags or {})}
        return Binding(bounds={**self.bounds, **(bounds or {})}, flags=checked(self, settings), labels=self.labels)

    def varied(self, **changes: Any) -> Scenario:
        """Return a scenario that differs from this one in some fields.

        Args:
            **changes: fields by name. Of `bounds` and `flags` only what differs is given; other fields are replaced.

        Raises:
            UsageError: a scenario has no such field, or the result is none.
        """
        tables = {
            name: {**getattr(self, name), **changes[name]}
            for name in ("bounds", "flags")
            if isinstance(changes.get(name), Mapping)
        }
        return evolve(self, **{**changes, **tables})

    def starting_from(self, reading: Reading) -> Scenario:
        """Return the scenario with the bounds, labels, initial states and properties of a reading."""
        for name in reading.bounds:
            if name not in self.bounds:
                raise unknown("bound", name, self.bounds)
        known = {prop.name: prop for prop in self.properties}
        for name in reading.properties:
            if name not in known:
                raise unknown("property", name, known)
        selected = [known[name] for name in reading.properties] or self.properties
        return evolve(
            self,
            bounds={**self.bounds, **reading.bounds},
            labels={**self.labels, **reading.labels},
            initial=reading.initial,
            properties=selected,  # attrs cannot type the converter tuple
            cannot_fail={**dict.fromkeys((prop.name for prop in selected), OF_SNAPSHOT), **self.cannot_fail},
        )


def _refuse_name_clash(owner: str, kind: str, declared: Iterable[Parametric]) -> None:
    """Raise UsageError if two declarations have one name, or one of them is listed twice.

    Args:
        owner: what lists them, for the beginning of the message.
        kind: what they are, such as "action".
        declared: the actions or properties.
    """
    first: dict[str, Parametric] = {}
    for one in declared:
        other = first.get(one.name)
        if other is one:
            raise UsageError(
                f"{owner} lists the {kind} {one.name!r} twice ({place_of(one.function)}). Remove one of them; or, if "
                "two functions of the module have this name, the second has replaced the first: rename one of them."
            )
        if other is not None:
            raise UsageError(
                f"{owner} has two {PLURALS[kind]} named {one.name!r}: {place_of(other.function)} and "
                f"{place_of(one.function)}. Traces and options refer to them by name; rename one of them."
            )
        first[one.name] = one


def _all_are(kind: type, things: Any) -> bool:
    return isinstance(things, Iterable) and all(isinstance(thing, kind) for thing in things)
