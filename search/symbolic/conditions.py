"""The terms of a symbolic search: its steps, and the sets of states that its verdict needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum

from attrs import frozen

from kwalk.model.language import Kind, PropertyInstance
from kwalk.model.language.lift import ConditionKind, Lifted, LiftedAction, Term, reads, substitute
from kwalk.search.kernel.compile.functions import false_and_premise
from kwalk.search.partial_order.transition_groups import TransitionGroup, conjuncts, transition_groups
from kwalk.search.solver.terms import leaves_domain, state_variables
from kwalk.search.symbolic.engine import RuleTerms


class What(Enum):
    """What a set of states says."""

    ENABLED = "enabled"
    """The guard of an instance is true."""
    BOUND = "bound"
    """A bound disables an enabled instance."""
    ERROR = "error"
    """An enabled instance leaves its domain."""
    FALSE = "false"
    """A property is false, or raises an error; of a `reachable` property: it is true."""
    PREMISE = "premise"
    """The premise of a property is true."""
    FAILED = "failed"
    """A property raises an error."""


@frozen
class StateSet:
    """A set of states by its meaning.

    Args:
        what: What it says.
        instance: The number of the action instance; of a `step` property, that of the step.
        prop: The number of the property; of a `step` property without a group, on steps that write nothing of what it
            reads.
        bound: The name of the bound.
        group: The number of the transition group, which is that of its rule.
    """

    what: What
    instance: int | None = None
    prop: int | None = None
    bound: str = ""
    group: int | None = None


@frozen(eq=False)
class SymbolicTerms:
    """The rules of a search: the transition groups, each with its instance, then sets of states.

    Args:
        instances: The action instance of each transition group.
        rules: All rules.
        sets: By a set of states the number of its rule. Sets that are empty by their terms are left out. Several can
            have the same rule; of a set that is only counted, it can be that of a group.
        written: The numbers of the `step` properties, by transition group, that read what the group writes.
    """

    instances: tuple[int, ...]
    rules: tuple[RuleTerms, ...]
    sets: Mapping[StateSet, int]
    written: tuple[frozenset[int], ...]


def symbolic_terms(lifted: Lifted, properties: Sequence[PropertyInstance]) -> SymbolicTerms:
    """Return the terms of a search that checks some properties."""
    groups = transition_groups(lifted)
    rules = [RuleTerms(_flat(group.atoms), group.updates) for group in groups]
    counted = {_key(rule.conditions): number for number, rule in enumerate(rules)}
    numbers: dict[frozenset[int], int] = {}
    sets: dict[StateSet, int] = {}
    of_steps, written = _of_steps(lifted, groups, properties)
    for which, conditions in (*_of_instances(lifted), *_of_states(lifted, properties), *of_steps):
        flat = _flat(conditions)
        if lifted.terms.conjunction(flat) is lifted.terms.false:
            continue
        key = _key(flat)
        if which.what is What.PREMISE and key in counted:
            sets[which] = counted[key]
            continue
        if key not in numbers:
            numbers[key] = len(rules)
            rules.append(RuleTerms(flat, {}))
        sets[which] = numbers[key]
    return SymbolicTerms(tuple(group.instance for group in groups), tuple(rules), sets, written)


def _key(conditions: Sequence[Term]) -> frozenset[int]:
    return frozenset(condition.id for condition in conditions)


def _flat(conditions: Sequence[Term]) -> tuple[Term, ...]:
    """Return the conditions as parts that are as small as possible."""
    return tuple(dict.fromkeys(part for condition in conditions for part in conjuncts(condition)))


def _of_instances(lifted: Lifted) -> Iterator[tuple[StateSet, tuple[Term, ...]]]:
    t = lifted.terms
    for number, action in enumerate(lifted.actions):
        yield StateSet(What.ENABLED, number), (action.guard,)
        for bound, condition in _bounds(lifted, action).items():
            yield StateSet(What.BOUND, number, bound=bound), (action.guard, condition)
        yield StateSet(What.ERROR, number), (leaves_domain(t, action),)


def _bounds(lifted: Lifted, action: LiftedAction) -> dict[str, Term]:
    """Return by the name of each bound where it disables an enabled instance: where no condition before it is met."""
    t, clear, found = lifted.terms, lifted.terms.true, dict[str, Term]()
    for one in action.side_conditions:
        if one.kind is ConditionKind.BOUND:
            met = t.conjunction((clear, one.condition))
            found[one.name] = t.disjunction((found.get(one.name, t.false), met))
        clear = t.conjunction((clear, t.negation(one.condition)))
    return found


def _of_states(lifted: Lifted, properties: Sequence[PropertyInstance]) -> Iterator[tuple[StateSet, tuple[Term, ...]]]:
    t = lifted.terms
    for prop in (lifted.properties[one.index] for one in properties if one.kind is not Kind.STEP):
        number = prop.prop.index
        false, premise = false_and_premise(prop, t)
        failed = t.disjunction(one.condition for one in prop.errors)
        if prop.prop.kind.is_liveness:
            yield StateSet(What.FAILED, prop=number), (failed,)
        else:
            yield StateSet(What.FALSE, prop=number), (false,)
            yield StateSet(What.PREMISE, prop=number), (premise,)
            yield StateSet(What.FAILED, prop=number), (prop.premise, failed)


def _of_steps(
    lifted: Lifted, groups: Sequence[TransitionGroup], properties: Sequence[PropertyInstance]
) -> tuple[list[tuple[StateSet, tuple[Term, ...]]], tuple[frozenset[int], ...]]:
    """Return the sets of `step` properties, and by group the properties that read what it writes."""
    t, leaves = lifted.terms, state_variables(lifted)
    found, written = list[tuple[StateSet, tuple[Term, ...]]](), [set[int]() for _ in groups]
    for prop in (lifted.properties[one.index] for one in properties if one.kind is Kind.STEP):
        number, (false, premise) = prop.prop.index, false_and_premise(prop, t)
        failed = t.conjunction((prop.premise, t.disjunction(one.condition for one in prop.errors)))
        whats = {What.FALSE: false, What.PREMISE: premise, What.FAILED: failed}
        read = {leaf - len(leaves) for leaf in reads(whats.values())}
        same = substitute(t, list(whats.values()), [*leaves, *leaves])
        found += [(StateSet(what, prop=number), (term,)) for what, term in zip(whats, same, strict=True)]
        for group in groups:
            if read.isdisjoint(group.writes):
                continue
            written[group.index].add(number)
            after = [group.updates.get(leaf, term) for leaf, term in enumerate(leaves)]
            here = substitute(t, list(whats.values()), [*leaves, *after])
            for what, term in zip(whats, here, strict=True):
                found.append((StateSet(what, group.instance, number, group=group.index), (*group.atoms, term)))
    return found, tuple(map(frozenset, written))
