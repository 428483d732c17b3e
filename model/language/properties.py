"""Properties: what must hold, as predicates over a state and parameters over domains.

Kinds: an *always* property holds in every reachable state. A *when quiescent* property holds in every reachable state
in which no system action is enabled: a violation is a stable bad state. A *reachable* property is true in at least one
reachable state, which guards against a model in which nothing happens. A *step* property relates the states before and
after a step. The other kinds are about whole behaviours (*liveness*). Let P be the premise of such a property, Q its
rest; in TLA+ it is

    eventually           [](P => <>Q), which is P ~> Q
    inevitable           P => <>Q, of the initial state
    always eventually    [](P => []<>Q), which is []<>Q without a premise
    eventually always    [](P => <>[]Q), which is <>[]Q without a premise

Words: a *behaviour* is a sequence of states and steps that never ends; one that reaches a state and takes no more steps
stays there (it *stutters*). A liveness property is violated if some behaviour that is fair (see `fairness`) violates
it. A *wait* of an eventually property begins in a state in which its premise is true and the rest is not. It ends in a
state in which the rest is true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from inspect import getdoc, signature
from types import FunctionType
from typing import Any

from kwalk.model.language.action import Parametric, place_of, premises_noted
from kwalk.model.language.binding import plain_value
from kwalk.model.language.declared import check_declared, decorator, text
from kwalk.model.language.errors import PremiseFailed, UsageError


class Kind(Enum):
    """When a property is evaluated, and what its truth means."""

    ALWAYS = "always"
    WHEN_QUIESCENT = "when quiescent"
    REACHABLE = "reachable"
    STEP = "step"
    EVENTUALLY = "eventually"
    INEVITABLE = "inevitable"
    ALWAYS_EVENTUALLY = "always eventually"
    EVENTUALLY_ALWAYS = "eventually always"

    @property
    def is_liveness(self) -> bool:
        """Whether it is about whole behaviours, so that only an infinite behaviour can violate it."""
        return self in LIVENESS


LIVENESS = frozenset({Kind.EVENTUALLY, Kind.INEVITABLE, Kind.ALWAYS_EVENTUALLY, Kind.EVENTUALLY_ALWAYS})


class Property(Parametric):
    """A predicate with a name, a kind, and the symptom that a user sees where it is false.

    `premise` is the first predicate of `leads_to`, besides the premises in the function. `cannot_fail` is the reason
    why it is expected that no state of the domains violates it; "" if that is not expected.
    """

    def __init__(
        self,
        function: Callable[..., bool],
        kind: Kind,
        symptom: str,
        log: str,
        premise: Parametric | None = None,
        *,
        cannot_fail: str = "",
    ) -> None:
        super().__init__(function, states=2 if kind is Kind.STEP else 1)
        self.kind, self.symptom, self.log, self.premise = kind, symptom, log, premise
        self.cannot_fail = cannot_fail
        self.parts: tuple[Property, ...] = ()
        """Properties that belong to this one: a scenario that lists it has them too."""
        self.part_of = ""
        """The name of the property that it belongs to; "" if it is one of its own."""
        self.only_counts = False
        """Whether it is true of every state or step, so that a search only counts where its premise is true."""

    @property
    def title(self) -> str:
        """Return the name by which a user selects it."""
        return self.part_of or self.name

    @property
    def functions(self) -> tuple[Callable[..., Any], ...]:
        """Return the functions of models that it calls."""
        return (self.function,) if self.premise is None else (self.premise.function, self.function)

    @property
    def context(self) -> Any:
        """Return what its meaning in the active model depends on besides its functions and the model; None: nothing."""
        return None

    def arguments(self) -> Iterator[tuple[Any, ...]]:
        """Return all tuples of arguments, in lexicographic order.

        Raises:
            UsageError: the two predicates of `leads_to` have parameters with different values.
        """
        if self.premise is not None:
            for one, other in zip(self.premise.parameters, self.parameters, strict=True):
                if list(map(one.token, one.values)) != list(map(other.token, other.values)):
                    raise UsageError(
                        f"{self.name}: the parameter {one.name!r} of {self.premise.name} does not have the values of "
                        f"that of {self.function.__name__}. Give both the same annotation."
                    )
        return super().arguments()

    def truth(self, *arguments: Any) -> bool | None:
        """Return whether it is true of a state (of two for a step) and arguments; None where its premise is false."""
        if self.kind.is_liveness:
            premise, rest = self.awaited(*arguments)
            return rest if premise else None
        try:
            return self._truth_value(self.function(*arguments))
        except PremiseFailed:
            return None

    def awaited(self, *arguments: Any) -> tuple[bool, bool]:
        """Return, for a property about behaviours, whether its premise is true, and whether the rest is true.

        Both are evaluated in every state, independently of each other.
        """
        with premises_noted() as failed:
            premise = self.premise is None or self._truth_value(self.premise.function(*arguments))
            rest = self._truth_value(self.function(*arguments))
        return premise and not failed, rest

    def _truth_value(self, result: Any) -> bool:
        result = plain_value(result)
        if isinstance(result, bool):
            return result
        raise UsageError(
            f"{place_of(self.function)}: the property returned {result!r}; return True or False, such as `bool(…)` or "
            "`… is not None`."
        )

    def __repr__(self) -> str:
        return f"<property {self.name}>"


PropertyDecorator = Callable[[Callable[..., bool]], Property]


def _declare(kind: Kind, symptom: str, log: str, cannot_fail: str) -> PropertyDecorator:
    texts = (text("symptom", symptom), text("log", log), text("cannot_fail", cannot_fail))
    check_declared(f"@{kind.name.lower()}(…)", *texts)
    return decorator(
        f"{kind.name.lower()}(…)", lambda function: Property(function, kind, symptom, log, cannot_fail=cannot_fail)
    )


def always(*, symptom: str = "", log: str = "", cannot_fail: str = "") -> PropertyDecorator:
    """Declare a property that holds in every reachable state.

    Args:
        symptom: what a user sees where it is violated.
        log: the line that an operator finds in a log.
        cannot_fail: the reason why no state of the domains violates it, if that is so and expected: otherwise a search
            ends with "cannot fail" instead of "holds".

    Returns:
        A decorator for a predicate of the state and of parameters that are annotated with domains.
    """
    return _declare(Kind.ALWAYS, symptom, log, cannot_fail)


def when_quiescent(*, symptom: str = "", log: str = "", cannot_fail: str = "") -> PropertyDecorator:
    """Declare a property that holds in every reachable state in which no system action is enabled.

    The other arguments as for `always`.
    """
    return _declare(Kind.WHEN_QUIESCENT, symptom, log, cannot_fail)


def reachable(*, symptom: str = "", log: str = "", cannot_fail: str = "") -> PropertyDecorator:
    """Declare a property that is true in at least one reachable state.

    It cannot fail if every state of the domains satisfies it. The arguments as for `always`.
    """
    return _declare(Kind.REACHABLE, symptom, log, cannot_fail)


def step(*, symptom: str = "", log: str = "", cannot_fail: str = "") -> PropertyDecorator:
    """Declare a property of every step; the predicate takes the state before and the state after it.

    The arguments as for `always`.
    """
    return _declare(Kind.STEP, symptom, log, cannot_fail)


def eventually(*, symptom: str = "", log: str = "", cannot_fail: str = "") -> PropertyDecorator:
    """Declare a property that becomes true from every reachable state in which its premise is true: P ~> Q.

    It is about the fair behaviours (`Scenario(fairness=…)`), and so are the declarations below. The part after
    `premise` is evaluated in every state, so it must have a value also where the premise is false. The
    arguments as for `always`.
    """
    return _declare(Kind.EVENTUALLY, symptom, log, cannot_fail)


def inevitable(*, symptom: str = "", log: str = "", cannot_fail: str = "") -> PropertyDecorator:
    """Declare a property that every fair behaviour makes true at least once: <>Q, from the initial states only.

    A premise restricts it to some initial states. `symptom` and `log` as for `always`.
    """
    return _declare(Kind.INEVITABLE, symptom, log, cannot_fail)


def always_eventually(*, symptom: str = "", log: str = "", cannot_fail: str = "") -> PropertyDecorator:
    """Declare a property that every fair behaviour makes true infinitely often: []<>Q.

    With a premise, every fair behaviour from a state in which the premise is true. `symptom` and `log` as for `always`.
    """
    return _declare(Kind.ALWAYS_EVENTUALLY, symptom, log, cannot_fail)


def eventually_always(*, symptom: str = "", log: str = "", cannot_fail: str = "") -> PropertyDecorator:
    """Declare a property that is true from some state on in every fair behaviour: <>[]Q.

    With a premise, every fair behaviour from a state in which the premise is true. `symptom` and `log` as for `always`.
    """
    return _declare(Kind.EVENTUALLY_ALWAYS, symptom, log, cannot_fail)


def leads_to(
    source: Callable[..., bool], target: Callable[..., bool], *, name: str = "", symptom: str = "", log: str = ""
) -> Property:
    """Declare that each state in which one predicate is true is followed by one in which another is: P ~> Q.

    It is the `eventually` property with the first predicate as its premise and the second as its rest.

    Args:
        source: a predicate of the state and of parameters, declared with `def`.
        target: another one, with the same parameters.
        name: the name of the property; by default `source_leads_to_target`.
        symptom: what a user sees where it is violated.
        log: the line that an operator finds in a log.

    Raises:
        UsageError: the predicates are no functions with names, or have different parameters.
    """
    for function in (source, target):
        if not isinstance(function, FunctionType) or not function.__name__.isidentifier():
            raise UsageError(f"leads_to takes two functions that are declared with `def` (got {function!r}).")
    check_declared("leads_to(…)", text("name", name), text("symptom", symptom), text("log", log))
    first, second = (list(signature(function).parameters)[1:] for function in (source, target))
    if first != second:
        raise UsageError(
            f"leads_to({source.__name__}, {target.__name__}): the two have different parameters after the state, "
            f"({', '.join(first)}) and ({', '.join(second)}). Give both the same ones."
        )
    made = Property(target, Kind.EVENTUALLY, symptom, log, Parametric(source, states=1))
    made.name = name or f"{source.__name__}_leads_to_{target.__name__}"
    made.about = f"{getdoc(source) or source.__name__} Then, eventually: {getdoc(target) or target.__name__}"
    return made
