"""Slices: the part of a model that can influence some properties. Only that part is encoded.

Words: the *cone of influence* of some leaves is the least set that holds them and, with each leaf, all leaves that the
guards and updates of its writers read. A *slice* is a cone with the action instances that write into it. The rest of
the model can neither change the slice nor disable its instances, so the slice has the same behaviours as the whole
model, projected to its leaves: verdicts, traces and shortest lengths are the same. A *stuttering* step changes nothing.

Guards of instances outside of a slice matter to two kinds of properties. `when_quiescent` reads the guards of all
system instances. A `step` property that a stuttering step could violate is checked for every instance.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from attrs import evolve, frozen

from kwalk.model.language import Kind, Model
from kwalk.model.language.lift import Lifted, LiftedAction, LiftedProperty, Term, reads
from kwalk.search.solver.terms import satisfying_state, state_variables, step_violation

MAX_NAMED_FIELDS = 12
"""Fields of the state that the description of a slice names; it counts the others."""


@frozen(eq=False)
class Slice:
    """The leaves that can influence some properties, and the model lifted to terms over these leaves."""

    leaves: tuple[int, ...]
    """In order. Leaves and instances have the same numbers as in the model."""
    lifted: Lifted
    whole: Lifted
    """The model that it is a slice of."""
    stuttering: bool = True
    """Whether steps that change nothing in the slice count as steps."""

    @property
    def model(self) -> Model:
        """The model."""
        return self.lifted.model

    @cached_property
    def varying(self) -> tuple[int, ...]:
        """The leaves that have more than one value."""
        return tuple(n for n in self.leaves if self.model.leaves[n].low < self.model.leaves[n].high)

    @cached_property
    def writers(self) -> tuple[LiftedAction, ...]:
        """The instances that write into the slice; the others are there for their guards only."""
        return tuple(action for action in self.lifted.actions if action.updates)

    def description(self) -> str:
        """Return how much of the model it is, and which fields of the state."""
        total = sum(leaf.low < leaf.high for leaf in self.model.leaves)
        instances = f"{len(self.writers)} of {len(self.whole.actions)} instances"
        size = f"{len(self.varying)} of {total} state variables, {instances}"
        if len(self.varying) == total:
            return size
        fields = list(dict.fromkeys(_field(self.model.leaves[n].path) for n in self.varying))
        more = f" and {len(fields) - MAX_NAMED_FIELDS} more" if len(fields) > MAX_NAMED_FIELDS else ""
        return f"{size}: {', '.join(fields[:MAX_NAMED_FIELDS])}{more}"


def _field(path: str) -> str:
    """Return the field of the state that a leaf belongs to, without indexes."""
    return ".".join(part.split("[")[0].split("{")[0].rstrip("#?") for part in path.rstrip("#?").split(".")[:2])


def whole_model(lifted: Lifted) -> Slice:
    """Return the slice that is the model itself."""
    return Slice(tuple(range(len(lifted.model.leaves))), lifted, lifted)


def slice_of(lifted: Lifted, properties: Sequence[LiftedProperty]) -> Slice:
    """Return the least slice in which the properties mean what they mean in the model."""
    seeds = frozenset[int]().union(*(property_reads(lifted, prop) for prop in properties))
    stuttering = any(_may_fail_by_stuttering(lifted, prop) for prop in properties)
    if stuttering:
        seeds |= reads(root for action in lifted.actions for root in _conditions(action))
    leaves = cone_of_influence(lifted.actions, seeds)
    quiescent = any(prop.prop.kind is Kind.WHEN_QUIESCENT for prop in properties)
    actions = [
        evolve(action, updates={n: term for n, term in action.updates.items() if n in leaves})
        for action in lifted.actions
        if stuttering or action.writes & leaves or (quiescent and action.instance.action.by.system)
    ]
    part = Lifted(lifted.model, lifted.terms, tuple(actions), tuple(properties))
    return Slice(tuple(sorted(leaves)), part, lifted, stuttering)


def property_reads(lifted: Lifted, prop: LiftedProperty) -> frozenset[int]:
    """Return the leaves whose numbers decide whether a state (or step) violates a property."""
    size = len(lifted.model.leaves)
    found = frozenset(n % size for n in reads(prop.roots))
    if prop.prop.kind is Kind.WHEN_QUIESCENT:
        found |= reads(a.guard for a in lifted.actions if a.instance.action.by.system)
    return found


def cone_of_influence(actions: Sequence[LiftedAction], seeds: frozenset[int]) -> frozenset[int]:
    """Return the cone of influence of the leaves `seeds`."""
    known = seeds
    writers: dict[int, list[LiftedAction]] = {}
    for action in actions:
        for leaf in action.updates:
            writers.setdefault(leaf, []).append(action)
    seen: set[int] = set()
    pending = list(seeds)
    while pending:
        leaf = pending.pop()
        found: set[int] = set()
        for action in writers.get(leaf, ()):
            found |= reads([action.updates[leaf]])
            if action.instance.index not in seen:
                seen.add(action.instance.index)
                found |= reads(_conditions(action))
        pending += found - known
        known |= found
    return known


def _conditions(action: LiftedAction) -> list[Term]:
    """Return what decides whether an instance is taken."""
    return [action.guard, *(o.condition for o in action.side_conditions)]


def _may_fail_by_stuttering(lifted: Lifted, prop: LiftedProperty) -> bool:
    """Whether a step that changes nothing may violate the property."""
    if prop.prop.kind is not Kind.STEP:
        return False
    now = state_variables(lifted)
    try:
        return satisfying_state(lifted.model, step_violation(lifted, prop, now, now), 2_000) is not None
    except TimeoutError:
        return True
