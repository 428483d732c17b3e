"""The effect of renaming the members of a domain on vectors, terms, packed states, instances and properties.

Words: see `canonicalize`. A *permutation* is a tuple: member m is renamed to `permutation[m]`. A leaf *holds* a member
if its shape is a member of the domain, or an optional one; where it can be observed only while another leaf is above a
number (the length of a queue, the presence of a record), that leaf is its *witness*.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from kwalk.model.language import ActionInstance, Domain, Model, PropertyInstance, UsageError, Vector
from kwalk.model.language.containers import ArrayShape, FifoShape, FreshShape, FrozenArray
from kwalk.model.language.model import domains_of
from kwalk.model.language.record_sets import BoundedSetShape, FlaggedSetShape
from kwalk.model.language.records import RecordShape, ValueShape, shapes_of
from kwalk.model.language.shapes import NONE, MemberShape, OptionalShape, Shape, SubsetShape

if TYPE_CHECKING:
    from kwalk.model.language.lift.terms import Term, Terms

MAX_MEMBERS = 6
"""Larger domains have too many permutations to try them all on each state."""
Permutation = tuple[int, ...]
Index = tuple[Any, ...]
Witness = tuple[int | None, int]
"""A witness, and the number that it must be above."""


@frozen
class RenamedLeaf:
    """A leaf: its key, whether it holds a member, and its witness with the number that it must be above."""

    leaf: int
    key: tuple[Any, ...]
    """Names of fields, and indices; members of the domain are wrapped in `MemberStep`."""
    holds: bool
    witness: int | None
    above: int


@frozen
class MemberStep:
    """An index into an array over the domain, or into a subset of it."""

    member: int


@frozen
class RecordStep:
    """A record that can be in a set."""

    record: Any


class Renaming:
    """The effect of permutations of one domain on a model. UsageError for an unknown, too large or ordered domain."""

    def __init__(self, model: Model, name: str) -> None:
        self.model, self.name = model, name
        sizes = {**model.binding.bounds, **model.domains}
        if not 2 <= sizes.get(name, 0) <= MAX_MEMBERS:
            raise UsageError(
                f"{name!r} is not a domain of 2 to {MAX_MEMBERS} members (bounds: "
                f"{', '.join(f'{bound} {size}' for bound, size in sizes.items())})."
            )
        self.size = sizes[name]
        with model.active():
            self.places = tuple(self._places(model.shape, (), (None, 0), iter(range(len(model.leaves)))))
        self._at = {place.key: place.leaf for place in self.places}

    @property
    def permutations(self) -> list[Permutation]:
        """All permutations, the identity first."""
        return list(permutations(range(self.size)))

    @property
    def swaps(self) -> list[Permutation]:
        """The swaps of neighbours, which generate all permutations."""
        members = range(self.size - 1)
        return [tuple({a: a + 1, a + 1: a}.get(m, m) for m in range(self.size)) for a in members]

    def _is_it(self, domain: Any) -> bool:
        return isinstance(domain, Domain) and domain.name == self.name

    def _places(self, shape: Shape, key: Index, witness: Witness, numbers: Iterator[int]) -> Iterator[RenamedLeaf]:
        if isinstance(shape, RecordShape | ValueShape):
            if isinstance(shape, ValueShape) and shape.optional:
                present = next(numbers)
                yield RenamedLeaf(present, (*key, "?"), False, None, 0)
                witness = present, 0
            for name, inner in shapes_of(shape.cls):
                yield from self._places(inner, (*key, name), witness, numbers)
        elif isinstance(shape, ArrayShape):
            for member in shape.domain:
                step = MemberStep(member) if self._is_it(shape.domain) else member
                yield from self._places(shape.element, (*key, step), witness, numbers)
        elif isinstance(shape, SubsetShape):
            for member in shape.domain:
                step = MemberStep(member) if self._is_it(shape.domain) else member
                yield RenamedLeaf(next(numbers), (*key, step), False, None, 0)
        elif isinstance(shape, FlaggedSetShape):
            for record in shape.members():
                at = RecordStep(record) if self._has_members(type(record)) else record
                yield RenamedLeaf(next(numbers), (*key, at), False, None, 0)
        elif isinstance(shape, BoundedSetShape):
            if self._has_members(shape.cls):
                raise UsageError(
                    f"The {self.name} are ordered: {'.'.join(map(str, key))} is a bounded_set(…), which keeps records "
                    "that have some in order. Declare it subset(…), or search without symmetry in them."
                )
            for leaf in shape.leaves(""):
                yield RenamedLeaf(next(numbers), (*key, leaf.path), False, None, 0)
        elif isinstance(shape, FifoShape):
            length = next(numbers)
            yield RenamedLeaf(length, (*key, "#"), False, None, 0)
            for slot in range(int(shape.capacity)):
                yield from self._places(shape.element, (*key, slot), (length, slot), numbers)
        else:
            self._refuse_ids(shape, key)
            scalar = shape.inner if isinstance(shape, OptionalShape) else shape
            holds = isinstance(scalar, MemberShape) and self._is_it(scalar.domain)
            yield RenamedLeaf(next(numbers), key, holds, *(witness if holds else (None, 0)))

    def _has_members(self, cls: type) -> bool:
        """Whether records of a class hold members of the domain."""
        return any(self._is_it(domain) for domain in domains_of(ValueShape(cls)))

    def _refuse_ids(self, shape: Shape, key: Index) -> None:
        if isinstance(shape, FreshShape) and self._is_it(shape.domain):
            raise UsageError(
                f"{self.name!r} is ordered: field {'.'.join(map(str, key))} allocates its members one after the other."
            )

    def target(self, place: RenamedLeaf, permutation: Permutation) -> int:
        """Return the leaf that has the content of a leaf after the renaming."""
        return self._at[tuple(self._renamed_step(step, permutation) for step in place.key)]

    def _renamed_step(self, step: Any, permutation: Permutation) -> Any:
        if isinstance(step, MemberStep):
            return MemberStep(permutation[step.member])
        if isinstance(step, RecordStep):
            with self.model.active():
                return RecordStep(self.renamed(ValueShape(type(step.record)), step.record, permutation))
        return step

    def vector(self, vector: Vector, permutation: Permutation) -> Vector:
        """Return the renamed state."""
        made = list(vector)
        for place in self.places:
            number = vector[place.leaf]
            alive = place.witness is None or vector[place.witness] > place.above
            renamed = place.holds and alive and number != NONE
            made[self.target(place, permutation)] = permutation[number] if renamed else number
        return tuple(made)

    def terms(self, t: Terms, state: list[Term], permutation: Permutation) -> list[Term]:
        """Return the renamed state, of a state as terms."""
        made = list(state)
        for place in self.places:
            made[self.target(place, permutation)] = self._renamed(t, state, place, permutation)
        return made

    def _renamed(self, t: Terms, state: list[Term], place: RenamedLeaf, permutation: Permutation) -> Term:
        old = new = state[place.leaf]
        if not place.holds:
            return old
        for member, name in enumerate(permutation):
            if member != name:
                new = t.choose(t.equal(old, t.integer(member)), t.integer(name), new)
        if place.witness is None:
            return new
        witness = state[place.witness]
        return t.choose(witness if witness.is_bool else t.less(t.integer(place.above), witness), new, old)

    def instance(self, instance: ActionInstance, permutation: Permutation) -> ActionInstance:
        """Return the renamed instance."""
        key = instance.action.key(self._arguments(instance.action.parameters, instance.args, permutation))
        return self.model.instance(key)

    def prop(self, prop: PropertyInstance, permutation: Permutation) -> PropertyInstance:
        """Return the renamed property instance."""
        key = prop.declaration.key(self._arguments(prop.declaration.parameters, prop.args, permutation))
        return next(other for other in self.model.properties if other.key == key)

    def _arguments(self, parameters: Iterable[Any], args: tuple[Any, ...], permutation: Permutation) -> tuple[Any, ...]:
        pairs = zip(parameters, args, strict=True)
        with self.model.active():
            return tuple(self.renamed(parameter.domain, arg, permutation) for parameter, arg in pairs)

    def renamed(self, domain: Any, value: Any, permutation: Permutation) -> Any:
        """Return a value over a domain, or of a shape, with its members renamed; the model must be active."""
        if self._is_it(domain):
            return permutation[value]
        if value is None or not isinstance(domain, Shape):
            return value
        if isinstance(domain, MemberShape | SubsetShape):
            members = value if isinstance(domain, SubsetShape) else (value,)
            renamed = frozenset(self.renamed(domain.domain, member, permutation) for member in members)
            return renamed if isinstance(domain, SubsetShape) else next(iter(renamed))
        if isinstance(domain, OptionalShape):
            return self.renamed(domain.inner, value, permutation)
        if isinstance(domain, FlaggedSetShape):
            return frozenset(self.renamed(ValueShape(type(record)), record, permutation) for record in value)
        if isinstance(domain, ValueShape):
            fields = {n: self.renamed(s, getattr(value, n), permutation) for n, s in shapes_of(domain.cls)}
            return domain.cls(**fields)
        if isinstance(domain, FifoShape):
            return tuple(self.renamed(domain.element, item, permutation) for item in value)
        if isinstance(domain, ArrayShape):
            items = [self.renamed(domain.element, item, permutation) for item in value]
            places = permutation if self._is_it(domain.domain) else range(len(items))
            return FrozenArray(domain, [items[old] for old in np.argsort(places)])
        return value


def packed_names(permutation: Permutation, low: int) -> np.ndarray:
    """Return the new bits of a leaf that holds a member, indexed by its bits; `low` is -1 where it may hold none."""
    names = {member - low: name - low for member, name in enumerate(permutation)}
    return np.array([names.get(bits, bits) for bits in range(2 * len(permutation) + 2)], np.uint64)
