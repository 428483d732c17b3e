"""Whether a property can fail: whether some state of the domains violates it, reachable or not.

Words: a property *cannot fail* if every state of the domains satisfies it (a `step` property: every two states), for
all of its instances that are checked. No action, however wrong, could violate it then, and "holds" says nothing.
Whether a state is quiescent does not matter, as that depends on the actions. A *witness* is a state, or two, that
meets a condition without which nothing violates the property; plain Python confirms it. States near the initial ones
are tried first, which takes microseconds each; Z3 is asked for what is left, once: the answers are in the cache.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from kwalk.model.language import Kind, Model, PropertyInstance, Vector
from kwalk.model.language.errors import KwalkError, LiftError
from kwalk.search.base.cache import read_cache, write_cache
from kwalk.search.base.progress import announce
from kwalk.search.kernel.model_digest import path_for

if TYPE_CHECKING:
    import numpy as np

    from kwalk.model.language.lift import Lifted, LiftedProperty, Term
    from kwalk.search.kernel.interface import Kernel

TRIED = 64, 4096
"""How many states are tried: first, and then for the properties that have no witness among those."""
TRIED_BY_PYTHON = 100
"""How many states are tried where there is no compiled code."""
CONFIRMED = 3
"""How many states that compiled code finds are tried in plain Python, for each condition."""
SECONDS = 5.0
"""The time budget of Z3 for all properties of a model."""


class Falsifiability(Enum):
    """Whether a property can fail; the value is in the cache, and completes a sentence."""

    CAN_FAIL = "can fail"
    ALWAYS_TRUE = "is true in every state of the domains"
    NO_PREMISE = "has a premise that is true in no state of the domains"
    UNKNOWN = "may be unable to fail"

    @property
    def cannot_fail(self) -> bool:
        """Whether it is known that the property cannot fail."""
        return self in (Falsifiability.ALWAYS_TRUE, Falsifiability.NO_PREMISE)


Condition = Callable[[Callable[[Any, Any], Any], Callable[[Any], Any], Any, Any], Any]
"""A function of `and`, `not`, and of the truth of a property's premise and of the rest of it."""


def _violated(both: Any, no: Any, premise: Any, rest: Any) -> Any:
    return both(premise, no(rest))


def _not_satisfied(both: Any, no: Any, premise: Any, rest: Any) -> Any:
    return no(both(premise, rest))


def _premise(both: Any, no: Any, premise: Any, rest: Any) -> Any:
    return premise


def _rest_is_false(both: Any, no: Any, premise: Any, rest: Any) -> Any:
    return no(rest)


CONDITIONS: dict[Kind, tuple[Condition, ...]] = {
    Kind.REACHABLE: (_not_satisfied,),
    Kind.ALWAYS_EVENTUALLY: (_premise, _rest_is_false),
    Kind.EVENTUALLY_ALWAYS: (_premise, _rest_is_false),
}
"""What must be met by some state each, so that the property can fail; a violation, for other kinds."""


def conditions_of(prop: PropertyInstance) -> tuple[Condition, ...]:
    """Return the conditions without whose witnesses the property cannot fail."""
    return CONDITIONS.get(prop.kind, (_violated,))


def falsifiability(model: Model, properties: Iterable[PropertyInstance]) -> dict[str, Falsifiability]:
    """Return whether properties can fail, by name: one can if one of its given instances can.

    Properties that only count, and parts of others (such as the start of a refinement), are left out.

    Args:
        model: The model.
        properties: The property instances.
    """
    groups: dict[str, list[PropertyInstance]] = {}
    for prop in properties:
        if not prop.declaration.only_counts and not prop.declaration.part_of:
            groups.setdefault(prop.declaration.name, []).append(prop)
    keys = {name: _key(model, props) for name, props in groups.items()}
    path = path_for(model, "falsifiability", __file__)
    known = _load(path)
    missing = {name: groups[name] for name, key in keys.items() if key not in known}
    if missing:
        found = _Examination(model, missing).outcomes()
        known |= {keys[name]: outcome for name, outcome in found.items()}
        write_cache(path, json.dumps({key: outcome.value for key, outcome in known.items()}).encode())
    return {name: known[key] for name, key in keys.items()}


def _key(model: Model, props: Sequence[PropertyInstance]) -> str:
    """Return the name of a property; if not all of its instances are given, their keys."""
    name = props[0].declaration.name
    total = sum(1 for prop in model.properties if prop.declaration is props[0].declaration)
    return name if len(props) == total else " ".join(prop.key for prop in props)


def _load(path: Path) -> dict[str, Falsifiability]:
    with suppress(ValueError, AttributeError):
        return {key: Falsifiability(value) for key, value in json.loads(read_cache(path) or b"{}").items()}
    return {}


@frozen
class _Open:
    """A condition of a property that has no witness so far."""

    condition: Condition
    props: tuple[PropertyInstance, ...]


class _Examination:
    """Looks for witnesses of the conditions of some properties."""

    def __init__(self, model: Model, groups: dict[str, list[PropertyInstance]]) -> None:
        self.model = model
        self._canonical: dict[Vector, Vector | None] = {}
        self.open = {
            name: [_Open(condition, tuple(props)) for condition in conditions_of(props[0])]
            for name, props in groups.items()
        }

    def outcomes(self) -> dict[str, Falsifiability]:
        """Return whether each property can fail."""
        from kwalk.search.kernel.compile.compiler import cached_kernel

        found = dict.fromkeys(self.open, Falsifiability.CAN_FAIL)
        kernel = cached_kernel(self.model)
        for count in (TRIED_BY_PYTHON,) if kernel is None else TRIED:
            if any(self.open.values()):
                self._try_states(kernel, count)
        left = {name: conditions for name, conditions in self.open.items() if conditions}
        if left:
            found |= self._ask_z3(left)
        return found

    # States near the initial ones.

    def _try_states(self, kernel: Kernel | None, count: int) -> None:
        """Remove the conditions that some states near the initial ones meet."""
        states = states_near(self.model, count)
        evaluated = None if kernel is None else KernelTruths(self.model, kernel, states)
        for name, conditions in self.open.items():
            self.open[name] = [one for one in conditions if not self._has_witness(one, states, evaluated)]

    def _has_witness(self, one: _Open, states: np.ndarray, evaluated: KernelTruths | None) -> bool:
        vectors = states.tolist()
        for prop in one.props:
            places: Iterable[int] = range(len(vectors)) if evaluated is None else evaluated.meeting(prop, one.condition)
            for place in places:
                if self._is_met(one.condition, prop, vectors[place], vectors[place - 1]):
                    return True
        return False

    def _is_met(self, condition: Condition, prop: PropertyInstance, state: Vector, before: Vector) -> bool:
        """Return whether plain Python confirms a condition in a state; an error ends a run, as a violation does."""
        from operator import and_, not_

        model, now = self.model, self._state_of(state)
        earlier = self._state_of(before) if prop.kind is Kind.STEP else None
        if now is None or (earlier is None and prop.kind is Kind.STEP):
            return False
        try:
            if prop.kind.is_liveness:
                return bool(condition(and_, not_, *model.awaited(prop, now)))
            true = model.truth(prop, now, earlier)
        except KwalkError:
            return True
        return bool(condition(and_, not_, true is not None, true is True))

    def _state_of(self, vector: Vector) -> Vector | None:
        """Return the state that differs from a vector in what cannot be observed only; None if there is none."""
        key = tuple(vector)
        if key not in self._canonical:
            self._canonical[key] = None
            with suppress(KwalkError):  # such as records of a set that are out of order
                self._canonical[key] = self.model.canonical(key)
        return self._canonical[key]

    # Z3.

    def _ask_z3(self, left: dict[str, list[_Open]]) -> dict[str, Falsifiability]:
        from kwalk.model.language.lift import lift_properties

        announce("asking Z3 whether properties can fail")
        try:
            lifted = lift_properties(self.model, {p: None for each in left.values() for one in each for p in one.props})
        except LiftError:
            return dict.fromkeys(left, Falsifiability.UNKNOWN)
        terms = {prop.prop.index: prop for prop in lifted.properties}
        deadline = time.monotonic() + SECONDS
        return {name: self._outcome(lifted, terms, conditions, deadline) for name, conditions in left.items()}

    def _outcome(
        self, lifted: Lifted, terms: dict[int, LiftedProperty], conditions: list[_Open], deadline: float
    ) -> Falsifiability:
        try:
            met = [self._can_be_met(lifted, terms, one, deadline) for one in conditions]
            if all(met):
                return Falsifiability.CAN_FAIL
            premise = _Open(_premise, conditions[0].props)
            has_premise = self._can_be_met(lifted, terms, premise, deadline, confirm=False)
        except TimeoutError:
            return Falsifiability.UNKNOWN
        return Falsifiability.ALWAYS_TRUE if has_premise else Falsifiability.NO_PREMISE

    def _can_be_met(
        self, lifted: Lifted, terms: dict[int, LiftedProperty], one: _Open, deadline: float, *, confirm: bool = True
    ) -> bool:
        """Return whether some state meets a condition.

        Raises:
            TimeoutError: It is not known: the time is spent, or what Z3 finds is no state in plain Python.
        """
        from kwalk.search.solver.terms import satisfying_states

        t = lifted.terms
        met = t.disjunction(_term(lifted, terms[prop.index], one.condition) for prop in one.props)
        left = max(1, int(1000 * (deadline - time.monotonic())))
        found = satisfying_states(self.model, met, left)
        if found is None or not confirm:
            return found is not None
        before, after = found
        step = one.props[0].kind is Kind.STEP
        if not any(self._is_met(one.condition, p, after if step else before, before) for p in one.props):
            raise TimeoutError("Z3 finds no state that is one in plain Python")
        return True


def _term(lifted: Lifted, prop: LiftedProperty, condition: Condition) -> Term:
    """Return a condition of a property as a term; where the property has an error, its rest is false."""
    t = lifted.terms
    premise, truth, *errors = prop.roots
    rest = t.conjunction((truth, *map(t.negation, errors)))
    return condition(lambda one, other: t.conjunction((one, other)), t.negation, premise, rest)  # type: ignore[no-any-return]


def states_near(model: Model, count: int) -> np.ndarray:
    """Return vectors, int64[count, leaves]: initial states in which some leaves, few or all, have random numbers."""
    import numpy as np

    chance = np.random.default_rng(count)
    lows, highs = (np.array([getattr(leaf, end) for leaf in model.leaves], np.int64) for end in ("low", "high"))
    starts = np.array(model.initial[:count], np.int64)[np.arange(count) % min(count, len(model.initial))]
    drawn = chance.integers(lows, highs + 1, (count, len(lows)))
    share = 2.0 ** -chance.integers(0, max(1, len(lows).bit_length()) + 1, (count, 1))
    return np.where(chance.random(drawn.shape) < share, drawn, starts)


class KernelTruths:
    """What compiled code says of properties in some states, and of the step from each state to the next.

    Args:
        model: The model.
        kernel: Its kernel.
        states: int64[n, leaves].
    """

    def __init__(self, model: Model, kernel: Kernel, states: np.ndarray) -> None:
        import numpy as np

        from kwalk.search.kernel.calls import KernelCalls

        packed = np.ascontiguousarray(kernel.pack(states))
        self.rows = np.zeros((3, 2, len(packed), kernel.property_words), np.uint64)
        """Of `check`, `check_step` and `check_awaited`: the false row and the premise row of each state."""
        calls, kinds = KernelCalls(kernel), {prop.kind for prop in model.properties}
        for place, state in enumerate(packed):
            self.rows[0, :, place] = calls.check(state, quiescent=True)
            if Kind.STEP in kinds:
                self.rows[1, :, place] = calls.check_step(packed[place - 1], state)
            if any(kind.is_liveness for kind in kinds):
                self.rows[2, :, place] = calls.check_awaited(state)

    def meeting(self, prop: PropertyInstance, condition: Condition) -> Iterator[int]:
        """Yield the places of a few states that meet a condition of a property."""
        import numpy as np

        which = 1 if prop.kind is Kind.STEP else 2 if prop.kind.is_liveness else 0
        false, premise = (self.rows[which, :, :, prop.index // 64] >> np.uint64(prop.index % 64) & np.uint64(1)) == 1
        if prop.kind is Kind.REACHABLE:
            premise, rest = false, false
        else:
            premise, rest = premise | (false if which < 2 else premise), ~false
        yield from np.flatnonzero(condition(np.logical_and, np.logical_not, premise, rest))[:CONFIRMED].tolist()


__all__ = ["Falsifiability", "falsifiability"]
