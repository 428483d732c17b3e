"""Refinement: every behaviour of a detailed scenario is one of an abstract scenario, by a mapping of the states.

Words: the *mapping* is a function of a detailed state that writes the abstract state which it stands for; the *image*
of a state is that abstract state. A step *stutters* if the images of the states before and after it are equal. A step
*maps to* an action of the abstract scenario if an instance of that action leads from the one image to the other. The
scenario refines the abstract one if the image of every initial state is an initial state there, and every step stutters
or maps to an action.

This is TLA+'s `Spec => Abstract!Spec` without its liveness part: weak fairness, and so `eventually` properties of the
abstract scenario, do not carry over. An abstract step that a bound or an error prevents is none.

Source: M. Abadi, L. Lamport, "The existence of refinement mappings" (1991).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from attrs import frozen

from kwalk.model.language.action import Parameter, place_of
from kwalk.model.language.binding import Binding, active_binding, cached
from kwalk.model.language.declared import check_declared, table, text
from kwalk.model.language.errors import Abort, BoundReached, DomainError, GuardFailed, PremiseFailed, UsageError
from kwalk.model.language.model import ActionInstance, Model, Vector, active_model, failure
from kwalk.model.language.properties import Kind, Property
from kwalk.model.language.scenario import Scenario

CACHED_IMAGES = 20_000
"""The number of abstract states whose steps are cached in plain execution."""
CHECKED_MAPPINGS = 200
"""How many times plain execution checks that the mapping does not change the detailed state; lifting proves it."""
MOST_WRONG_STARTS = 1_000
"""More initial states with a wrong image than these are not looked for."""


@frozen(eq=False)
class Refinement:
    """What a scenario refines: the abstract scenario with its choices, and the mapping.

    Attributes:
        scenario: the abstract scenario.
        mapping: a function of a detailed state and of a new abstract state, which it changes into the image.
        variant: the variant of the abstract scenario; None to take flags over by name.
        bounds: bounds that take precedence over those of the same name in the detailed scenario.
        flags: settings that take precedence over the variant's.
    """

    scenario: Scenario
    mapping: Callable[[Any, Any], Any]
    variant: str | None
    bounds: Mapping[str, int]
    flags: Mapping[str, Any]

    @property
    def abstract(self) -> Model:
        """Return the abstract model that belongs to the active binding of a detailed model.

        Raises:
            UsageError: a bound is given another value than the one of that name in the detailed scenario.
        """
        return cached(("abstract", self), self._abstract)

    def _abstract(self) -> Model:
        detailed, tables = active_binding(), self.scenario.variants
        for name, size in self.bounds.items():
            if detailed.bounds.get(name, size) != size:
                raise UsageError(
                    f"refines({self.scenario.name!r}): the bound {name!r} is {size} there and {detailed.bounds[name]} "
                    "in the detailed scenario. In the mapping one name can have one value only: leave it out of "
                    "`bounds`, or give the abstract scenario's bound another name."
                )
        bounds = {name: detailed.bounds[name] for name in self.scenario.bounds if name in detailed.bounds}
        flags, variant = {}, self.variant
        if variant is None:
            named = {name for table in tables.values() for name in table if name in detailed.flags}
            flags = {name: detailed.flags[name] for name in named}
            same = (v for v, table in tables.items() if all(flags.get(n) == value for n, value in table.items()))
            variant = next(same, None)
            flags = {} if variant is not None else flags
        return Model(self.scenario, variant, {**bounds, **self.bounds}, {**flags, **self.flags})

    @property
    def binding(self) -> Binding:
        """Return the binding under which the mapping runs: a flag that both scenarios have has its abstract setting."""
        return cached(("mapping", self), self._binding)

    def _binding(self) -> Binding:
        detailed, abstract = active_binding(), self.abstract.binding
        return Binding(
            bounds={**detailed.bounds, **abstract.bounds},
            flags={**detailed.flags, **abstract.flags},
            labels={**abstract.labels, **detailed.labels},
        )

    def image(self, state: Any) -> Vector:
        """Return the image of a state of the detailed model, which is active.

        Raises:
            DomainError: the mapping fails there.
            UsageError: the mapping contains what no mapping may.
        """
        abstract, binding = self.abstract, self.binding
        before = self._copy_to_check(state)
        with abstract.active():
            image = abstract.scenario.state()
        with binding.active():
            try:
                returned = self.mapping(state, image)
            except (GuardFailed, PremiseFailed, Abort) as error:
                raise self.misuse("ends with `require`, `premise` or an abort; every state has an image") from error
            except BoundReached as hit:
                raise DomainError(
                    f"{self.place}: the image exceeds the bound {hit.bound!r} of {abstract.scenario.name}. Give the "
                    "abstract scenario a larger one."
                ) from hit
        if returned is not None:
            raise self.misuse("returns a value; it changes its second argument, the abstract state, and returns None")
        if before is not None and before != state:
            raise self.misuse("changes the detailed state; it only reads it")
        return self._checked(abstract, abstract.vector(image))

    def _copy_to_check(self, state: Any) -> Any:
        """Return a copy of a state for the first mappings; None for later ones, and for a state that records reads."""
        model, done = active_model(), cached(("checked", self), list[int])
        if len(done) >= CHECKED_MAPPINGS or type(state) is not model.scenario.state:
            return None
        done.append(1)
        return model.shape.copy(state)

    @staticmethod
    def _checked(abstract: Model, vector: Vector) -> Vector:
        for leaf, number in zip(abstract.leaves, vector, strict=True):
            if not leaf.low <= number <= leaf.high:
                raise DomainError(f"The image has {leaf.path} = {number}, which is not in {leaf.low} … {leaf.high}.")
        return vector

    @property
    def place(self) -> str:
        """Return file, line and name of the mapping."""
        return f"{place_of(self.mapping)}: the mapping {self.mapping.__name__}"

    def misuse(self, what: str) -> UsageError:
        """Return the error for a mapping that does what no mapping may."""
        return UsageError(f"{self.place} {what}.")

    def steps(self, image: Vector) -> dict[Vector, tuple[ActionInstance, ...]]:
        """Return the abstract states that a step leads to from an image, with the instances that do."""
        found = cached(("steps", self), dict[Vector, dict[Vector, tuple[ActionInstance, ...]]])
        if image not in found:
            if len(found) >= CACHED_IMAGES:
                found.clear()
            found[image] = self._steps(image)
        return found[image]

    def _steps(self, image: Vector) -> dict[Vector, tuple[ActionInstance, ...]]:
        made: dict[Vector, tuple[ActionInstance, ...]] = {}
        for instance in self.abstract.instances:
            try:
                after = self.abstract.attempt(instance, image).after
            except DomainError:
                continue
            if after is not None:
                made[after] = (*made.get(after, ()), instance)
        return made

    def wrong_starts(self) -> frozenset[Vector]:
        """Return the initial states of the active model whose images are no initial states (not all, if many)."""
        return cached(("wrong starts", self), self._wrong_starts)

    def _wrong_starts(self) -> frozenset[Vector]:
        model, right, wrong = active_model(), frozenset(self.abstract.initial), set()
        for vector in model.initial:
            try:
                image = self.image(model.state(vector))
            except DomainError as error:
                raise failure(f"The mapping {self.mapping.__name__}, in an initial state,", error) from error
            if image not in right:
                wrong.add(vector)
            if len(wrong) >= MOST_WRONG_STARTS:
                break
        return frozenset(wrong)


class RefinementProperty(Property):
    """A property that is derived from a refinement. Its function is the mapping."""

    def __init__(self, refinement: Refinement, kind: Kind, name: str, about: str, **texts: str) -> None:
        super().__init__(refinement.mapping, kind, texts.get("symptom", ""), texts.get("log", ""))
        self.refinement, self.name, self.about = refinement, name, about

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Return none: the parameters of the mapping are states."""
        return ()

    @property
    def functions(self) -> tuple[Callable[..., Any], ...]:
        """Return the mapping, and the functions of the abstract scenario's actions."""
        scenario = self.refinement.scenario
        return (self.function, scenario.initial, *(action.function for action in scenario.actions))

    @property
    def context(self) -> Any:
        """Return what of the abstract scenario its meaning depends on, besides those functions."""
        abstract, mapping = self.refinement.abstract, self.refinement.mapping
        names = [mapping.__module__, mapping.__qualname__, abstract.scenario.state.__qualname__]
        order = [instance.key for instance in abstract.instances]
        choices = [dict(abstract.binding.bounds), dict(abstract.binding.flags)]
        return [names, order, choices, sorted(self.refinement.wrong_starts())]


class RefinedSteps(RefinementProperty):
    """Every step stutters or maps to an action; a step that stutters does not count as tested."""

    def truth(self, *arguments: Any) -> bool | None:
        """Return whether a step maps to an action; None if it stutters."""
        before, after = map(self.refinement.image, arguments)
        return None if before == after else after in self.refinement.steps(before)


class RefinedStart(RefinementProperty):
    """No state is an initial one whose image is no initial state."""

    def truth(self, *arguments: Any) -> bool | None:
        """Return whether a state is no such initial state."""
        wrong = self.refinement.wrong_starts()
        return not wrong or active_model().vector(arguments[0]) not in wrong


class MappedAction(RefinementProperty):
    """A property that is always true; its premise is true of the steps that map to an action of the abstract scenario.

    So a verdict counts these steps, and names the actions that no step maps to.
    """

    def __init__(self, refinement: Refinement, name: str, about: str) -> None:
        super().__init__(refinement, Kind.STEP, name, about)
        self.only_counts = True
        members = [(action.name, action.name) for action in refinement.scenario.actions]
        self._parameter = Parameter("action", Enum("AbstractAction", members))  # type: ignore[arg-type]

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Return the parameter over the actions of the abstract scenario."""
        return (self._parameter,)

    def truth(self, *arguments: Any) -> bool | None:
        """Return True if a step maps to an action; None if it does not."""
        *states, action = arguments
        before, after = map(self.refinement.image, states)
        taken = self.refinement.steps(before).get(after, ())
        return True if any(instance.action.name == action.name for instance in taken) else None


def _check_mapping(scenario: Scenario, mapping: Callable[[Any, Any], None]) -> None:
    if not isinstance(scenario, Scenario):
        raise UsageError(f"refines(…) takes the abstract Scenario first (got {scenario!r}).")
    if not callable(mapping) or not hasattr(mapping, "__code__") or mapping.__code__.co_argcount != 2:
        raise UsageError(
            f"refines({scenario.name!r}, …): the mapping must be a plain function of two states, "
            "mapping(detailed, abstract), which writes the second one."
        )


def refines(
    scenario: Scenario,
    mapping: Callable[[Any, Any], None],
    *,
    variant: str | None = None,
    bounds: Mapping[str, int] | None = None,
    flags: Mapping[str, Any] | None = None,
    name: str = "",
    symptom: str = "",
    log: str = "",
) -> Property:
    """Declare that a scenario refines another one; list the result among the properties of the detailed scenario.

    Args:
        scenario: the abstract scenario.
        mapping: a plain function `mapping(detailed, abstract)` of a detailed state and of a new abstract state; it
            reads the one and writes the other, as an initial function does.
        variant: the variant of the abstract scenario. If None, flags that its variants set are taken over by name.
        bounds: bounds of the abstract scenario; others are taken over by name.
        flags: settings of the abstract scenario that take precedence over its variant's.
        name: the name of the property; by default `refines_` and the abstract scenario's name.
        symptom: what a user sees where it is violated.
        log: the line that an operator finds in a log.

    Raises:
        UsageError: an argument is of the wrong kind.
    """
    _check_mapping(scenario, mapping)
    called = f"refines({scenario.name!r}, …)"
    check_declared(called, text("name", name), text("symptom", symptom), text("log", log))
    check_declared(called, text("variant", variant or ""), table("bounds", bounds or {}), table("flags", flags or {}))
    name = name or f"refines_{re.sub(r'[^0-9A-Za-z]+', '_', scenario.name)}"
    if not name.isidentifier():
        raise UsageError(f"refines({scenario.name!r}): {name!r} is no name of a property; give a Python identifier.")
    refinement = Refinement(scenario, mapping, variant, dict(bounds or {}), dict(flags or {}))
    of = scenario.name
    texts = {"symptom": symptom, "log": log}
    about = f"Every step is a step of {of}, or leaves the image of the state as it is."
    made = RefinedSteps(refinement, Kind.STEP, name, about, **texts)
    start = RefinedStart(
        refinement, Kind.ALWAYS, f"{name}_initially", f"The image of every initial state is initial in {of}.", **texts
    )
    mapped = MappedAction(refinement, f"{name}_by", f"Counts the steps that map to an action of {of}.")
    for part in (start, mapped):
        part.part_of = name
    made.parts = (start, mapped)
    return made
