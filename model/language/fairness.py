"""Fairness: which steps an infinite behaviour must take, as conditions on sets of action instances.

Words: a *condition* is a set of action instances with a kind. It is *enabled* in a state if one of its instances is
enabled there and changes the state; it is *taken* by a step of one of them that changes the state. A behaviour is
*weakly fair* to a condition if it takes the condition infinitely often or the condition is disabled infinitely often,
and *strongly fair* if it takes the condition infinitely often or the condition is enabled only finitely often. These
are WF_vars(A) and SF_vars(A) of TLA+, where A is the disjunction of the instances. An instance that only a bound
disables counts as enabled.

Source: L. Lamport, "The temporal logic of actions", ACM TOPLAS 16 (1994), sections 5.3 to 5.5.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from kwalk.model.language.action import Action, ActionSubset, Parameter, argument_token
from kwalk.model.language.declared import check_declared, texts
from kwalk.model.language.errors import UsageError, one_of

if TYPE_CHECKING:
    from kwalk.model.language.model import ActionInstance


class FairnessKind(Enum):
    """The strength of a condition; the value is what reports print."""

    WEAK = "WF"
    STRONG = "SF"


@frozen
class FairnessCondition:
    """A condition on the behaviours of a model.

    Attributes:
        kind: weak or strong.
        instances: the numbers of its action instances.
        text: its name in reports, such as "WF(toggle ∨ finish)".
    """

    kind: FairnessKind
    instances: tuple[int, ...]
    text: str


@frozen
class Fairness:
    """A declaration of one or more conditions; `weakly_fair` and `strongly_fair` make them.

    Attributes:
        kind: weak or strong.
        steps: what the condition is a disjunction of; empty for SYSTEM_FAIRNESS.
        each: names of parameters; there is a condition for each combination of their values.
    """

    kind: FairnessKind
    steps: tuple[ActionSubset, ...]
    each: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return the declaration as reports print it."""
        if not self.steps:
            return "WF of each instance of each system action"
        free = f"for each {', '.join(self.each)}: " if self.each else ""
        return f"{free}{self.kind.value}({' ∨ '.join(self._name(step) for step in self.steps)})"

    def _name(self, step: ActionSubset) -> str:
        """Return the name of an action with what is known of its arguments; `_` is any value."""
        known = {name: "|".join(map(argument_token, values)) for name, values in step.values}
        names = [known.get(p.name, p.name if p.name in self.each else "_") for p in step.action.parameters]
        return f"{step.action.name}({', '.join(names)})" if set(names) - {"_"} else step.action.name

    def conditions(self, instances: Sequence[ActionInstance]) -> Iterator[FairnessCondition]:
        """Yield the conditions on the instances of a model, in the order of their first instances.

        Raises:
            UsageError: an action has no parameter of a name, or a value is no argument of it.
        """
        if not self.steps:
            system = (instance for instance in instances if instance.action.by.system)
            yield from (FairnessCondition(self.kind, (i.index,), f"{self.kind.value}({i.key})") for i in system)
            return
        self._check_each()
        groups: dict[tuple[str, ...], list[ActionInstance]] = {}
        for step in self.steps:
            step.check()
            mine = [i for i in instances if i.action.name == step.action.name and step.includes(i.args)]
            for instance in mine:
                args = dict(zip((p.name for p in step.action.parameters), instance.args, strict=True))
                groups.setdefault(tuple(argument_token(args[name]) for name in self.each), []).append(instance)
        for values, members in groups.items():
            numbers = tuple(dict.fromkeys(instance.index for instance in members))
            yield FairnessCondition(self.kind, numbers, self._condition_text(values, numbers, instances))

    def _condition_text(self, values: tuple[str, ...], numbers: tuple[int, ...], all_: Sequence[ActionInstance]) -> str:
        if len(numbers) == 1:
            return f"{self.kind.value}({all_[numbers[0]].key})"
        given = dict(zip(self.each, values, strict=True))
        where = f" with {', '.join(f'{name} {value}' for name, value in given.items())}" if given else ""
        return f"{self.kind.value}({' ∨ '.join(self._name(step) for step in self.steps)}){where}"

    def _check_each(self) -> None:
        """Raise UsageError unless each step has all parameters of `each`, over the same domains."""
        for name in self.each:
            found = [_parameter(step.action, name) for step in self.steps]
            other = next((p for p in found if p.domain != found[0].domain), None)
            if other is not None:
                raise UsageError(
                    f"`each` of {self.text!r} names {name!r}, which is over {_domain(found[0])} in one action and over "
                    f"{_domain(other)} in another. Declare the fairness of each action on its own."
                )


def _domain(parameter: Parameter) -> str:
    return parameter.over or str(getattr(parameter.domain, "__name__", ""))


def _parameter(action: Action, name: str) -> Parameter:
    for parameter in action.parameters:
        if parameter.name == name:
            return parameter
    known = [p.name for p in action.parameters]
    hint = one_of(known) if known else "It has none."
    raise UsageError(f"A fairness names the parameter {name!r}, which the action {action.name} does not have. {hint}")


SYSTEM_FAIRNESS = Fairness(FairnessKind.WEAK, ())
"""Weak fairness of each instance of each system action: what a scenario that declares no fairness has."""


def weakly_fair(*steps: Action | ActionSubset, each: str | Iterable[str] = ()) -> Fairness:
    """Declare weak fairness of a disjunction: WF_vars(a ∨ b ∨ …) of TLA+.

    Args:
        *steps: actions, for all their arguments, or `action.only(parameter=value)` for some.
        each: the name of a parameter of all steps, or several names. There is then a condition for each of its values:
            `weakly_fair(enter, each="process")` is `\\A process : WF_vars(enter(process))`.

    Returns:
        The declaration, for `Scenario(fairness=…)`.

    Raises:
        UsageError: a step is no action.
    """
    return _declared(FairnessKind.WEAK, steps, each)


def strongly_fair(*steps: Action | ActionSubset, each: str | Iterable[str] = ()) -> Fairness:
    """Declare strong fairness of a disjunction: SF_vars(a ∨ b ∨ …) of TLA+. Arguments as for `weakly_fair`."""
    return _declared(FairnessKind.STRONG, steps, each)


def _declared(kind: FairnessKind, steps: tuple[Any, ...], each: str | Iterable[str]) -> Fairness:
    name = "weakly_fair" if kind is FairnessKind.WEAK else "strongly_fair"
    for step in steps:
        if not isinstance(step, (Action, ActionSubset)):
            raise UsageError(f"{name} takes actions, or action.only(parameter=value) (got {step!r}).")
    if not steps:
        raise UsageError(f"{name} needs one or more actions.")
    if not isinstance(each, str):
        check_declared(name, texts("each", each))
    subsets = tuple(step if isinstance(step, ActionSubset) else step.only() for step in steps)
    return Fairness(kind, subsets, (each,) if isinstance(each, str) else tuple(each))


@frozen
class FairnessConditions:
    """All conditions on the behaviours of a model.

    Attributes:
        conditions: the conditions; their numbers are their positions.
        text: a sentence on where they come from, for verdicts.
    """

    conditions: tuple[FairnessCondition, ...]
    text: str
    of_instance: tuple[tuple[int, ...], ...] = field(repr=False)
    """For each action instance, the numbers of the conditions that it belongs to."""


def conditions_of(declared: Sequence[Fairness], instances: Sequence[ActionInstance]) -> FairnessConditions:
    """Return the conditions of some declarations on the instances of a model.

    Raises:
        UsageError: a declaration does not fit the parameters of its actions.
    """
    conditions = tuple(condition for one in declared for condition in one.conditions(instances))
    members: list[list[int]] = [[] for _ in instances]
    for number, condition in enumerate(conditions):
        for instance in condition.instances:
            members[instance].append(number)
    default = " (the default)" if tuple(declared) == (SYSTEM_FAIRNESS,) else ""
    text = "; ".join(one.text for one in declared) + default or "none: any step may be left out (fairness=())"
    return FairnessConditions(conditions, text, tuple(map(tuple, members)))
