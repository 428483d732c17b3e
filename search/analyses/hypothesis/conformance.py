"""Conformance testing: Hypothesis drives a real program beside its model, and compares the two after each step.

Words: the *implementation* is the program under test. Its *adapter* (`Implementation`) turns each action instance of
the model into calls of the program. An *observation* is what can be compared: the adapter reads it from the program,
and computes from the state of the model what it should be; the model is the *test oracle* (model-based testing;
K. Claessen and J. Hughes, Testing Monadic Code with QuickCheck, 2002). An *attempt* calls an action that the model
disables: the implementation must refuse it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, ClassVar

import hypothesis.strategies as st
from attrs import frozen
from hypothesis.stateful import rule

from kwalk.model.language import Action, ActionInstance, Model, StepResult, UsageError
from kwalk.search.analyses.hypothesis.machine import ModelMachine, machine_for

__all__ = ["CallRefused", "Implementation", "ImplementationDiffers", "conformance_machine"]


class CallRefused(Exception):
    """Raised by an adapter's method where the implementation refuses what it was asked to do."""


class ImplementationDiffers(AssertionError):
    """The implementation does not do what the model does; the message lists the steps, and both observations."""


class Implementation:
    """The adapter of a program under test; derive from it.

    A subclass has a method for each action of the model, with the action's name and its parameters after the state. It
    calls the program, and raises `CallRefused` where the program refuses. Each example of Hypothesis makes an object of
    the class, without arguments, and closes it at its end.
    """

    attempts: ClassVar[tuple[Action, ...]] = ()
    """Actions that are also called where the model disables them; they must then raise `CallRefused`."""

    def start(self, state: Any) -> None:
        """Bring the program into an initial state of the model; by default it is there when it has been made."""

    def observe(self) -> Any:
        """Return what the program shows of its state."""
        raise NotImplementedError("An Implementation needs a method observe(self): what the program shows.")

    def expected(self, state: Any) -> Any:
        """Return what `observe` must return in a state of the model."""
        raise NotImplementedError("An Implementation needs a method expected(self, state): what observe must return.")

    def close(self) -> None:
        """Release what the program holds: connections, files, processes."""


@frozen
class Offer:
    """A call that Hypothesis may draw: its rule, its instance, and what the model says of it where it is possible."""

    rule: Any
    instance: ActionInstance
    result: StepResult


class ConformanceMachine(ModelMachine):
    """A state machine that takes each step in the model and in the implementation."""

    adapter: ClassVar[type[Implementation]]
    program: Implementation | None = None

    def __init__(self) -> None:
        super().__init__()
        self._rules_strategy = _next_call(self)  # type: ignore[assignment]

    @cached_property
    def offers(self) -> list[Offer]:
        """The calls of the model's instances: all steps, then all attempts."""
        rules, actions = {rule.function.__name__: rule for rule in self.rules}, self.model.scenario.actions
        names = [_rule_name(actions.index(instance.action), instance.action) for instance in self.model.instances]
        named = [*zip(names, self.model.instances, strict=True)]
        steps = [Offer(rules[name], instance, StepResult.DONE) for name, instance in named]
        attempts = [(rules.get(name + ATTEMPT), instance) for name, instance in named]
        return steps + [Offer(rule, instance, StepResult.DISABLED) for rule, instance in attempts if rule is not None]

    def begin(self, number: int) -> None:
        """Start the model and a new implementation in the initial state of that index."""
        super().begin(number)
        self.teardown_program()
        self.calls: list[tuple[ActionInstance, bool]] = []
        self.program = self.adapter()
        with self._described(), self.model.active():
            self.program.start(self.model.state(self.here.vector))
        self.compare()

    def step(self, instance: ActionInstance) -> None:
        """Take an enabled step in both, and compare."""
        super().step(instance)
        self.calls.append((instance, True))
        try:
            with self._described():
                self._call(instance)
        except CallRefused as error:
            why = str(error) or "without a reason"
            raise self._differs(f"refuses {instance.key}, which the model allows ({why})") from error
        self.compare()

    def attempt(self, key: str) -> None:
        """Call an action that the model disables; the implementation must refuse it and stay as it is."""
        instance = self.model.instance(key)
        if self.here.attempt(instance).result is not StepResult.DISABLED:
            raise UsageError(f"{key} is not disabled here, after {', '.join(self.keys) or 'no step'}.")
        self.calls.append((instance, False))
        try:
            with self._described():
                self._call(instance)
        except CallRefused:
            self.compare()
        else:
            raise self._differs(f"accepts {key}, which the model does not allow")

    def rest(self) -> None:
        """Do nothing, where no possible call was drawn."""

    def compare(self) -> None:
        """Raise ImplementationDiffers unless the program shows what the model expects."""
        assert self.program is not None
        with self._described():
            with self.model.active():
                expected = self.program.expected(self.model.state(self.here.vector))
            found = self.program.observe()
        if found != expected:
            both = f"  model:          {expected!r}", f"  implementation: {found!r}"
            raise self._differs("is in another state", *both)

    def story(self) -> list[str]:
        """Return all calls so far as text, a line each."""
        with self.model.active():
            lines = [
                f"  {n:3} {i.actor}: {i.description}   [{i.key}]" + ("" if allowed else "   must be refused")
                for n, (i, allowed) in enumerate(self.calls, start=1)
            ]
        first = [f"      from initial state {self.start}"] if len(self.model.initial) > 1 else []
        return first + lines

    def teardown(self) -> None:
        """Close the program, and count the last state."""
        self.teardown_program()
        super().teardown()

    def teardown_program(self) -> None:
        """Close the program, if there is one."""
        program, self.program = self.program, None
        if program is not None:
            program.close()

    def _call(self, instance: ActionInstance) -> None:
        with self.model.active():
            getattr(self.program, instance.action.name)(*instance.args)

    def _differs(self, how: str, *more: str) -> ImplementationDiffers:
        count = f"after {len(self.calls)} calls" if len(self.calls) != 1 else "after 1 call"
        return ImplementationDiffers("\n".join([f"The implementation {how}, {count}.", *self.story(), *more]))

    @contextmanager
    def _described(self) -> Iterator[None]:
        """Add the steps so far to an exception of the adapter or the program."""
        try:
            yield
        except CallRefused:
            raise
        except Exception as error:
            error.add_note("\n".join(["The implementation was called:", *self.story()]))
            raise

    def _repr_step(self, rule: Any, data: Any, result: Any) -> str:
        if not rule.function.__name__.endswith(ATTEMPT):
            return super()._repr_step(rule, data, result)
        instance = self.calls[-1][0]
        with self.model.active():
            return f"state.attempt({instance.key!r})  # must be refused: {instance.actor}: {instance.description}"


ATTEMPT = "__attempt"
"""The end of the names of rules that call what the model disables."""
TRIES = 10
"""Draws of a step that may fall on calls that are not possible."""


def conformance_machine(model: Model, implementation: type[Implementation]) -> type[ConformanceMachine]:
    """Return a state machine that compares a program with its model; its `TestCase` is a test for pytest and unittest.

    Properties of the model are not checked: an engine does that once, for all behaviours. Hypothesis's settings,
    options and example database work as for every `RuleBasedStateMachine`.

    Args:
        model: The model, with its bounds and variant.
        implementation: The adapter.

    Raises:
        UsageError: The adapter lacks a method.
    """
    _require_methods(model, implementation)
    base = machine_for(model, (), deadlocks=False)
    members: dict[str, Any] = {"adapter": implementation, "__doc__": implementation.__doc__ or model.scenario.story}
    for number, action in enumerate(model.scenario.actions):
        if action in implementation.attempts:
            members[f"_attempt_{number}"] = _attempt(number, action)
    name = implementation.__name__
    made: type[ConformanceMachine] = type(name, (ConformanceMachine, base), members)
    digest = base._hypothesis_internal_add_digest  # type: ignore[attr-defined]
    identity = f"{implementation.__module__}.{implementation.__qualname__}"
    made._hypothesis_internal_add_digest = digest + identity.encode()
    made.TestCase.settings = base.TestCase.settings
    return made


def _require_methods(model: Model, implementation: type[Implementation]) -> None:
    actions = model.scenario.actions
    missing = [action.name for action in actions if not callable(getattr(implementation, action.name, None))]
    if missing:
        raise UsageError(
            f"{implementation.__name__} has no method {missing[0]!r}: an Implementation needs a method for each action "
            f"of {model.scenario.name!r} ({', '.join(action.name for action in actions)})."
        )
    strange = [getattr(action, "name", repr(action)) for action in implementation.attempts if action not in actions]
    if strange:
        raise UsageError(
            f"{implementation.__name__}.attempts has {strange[0]!r}, which is no action of {model.scenario.name!r}. "
            f"Its actions: {', '.join(action.name for action in actions)}."
        )


@st.composite
def _next_call(draw: Any, machine: ConformanceMachine) -> tuple[Any, dict[str, Any]]:
    """Draw a step or an attempt that is possible here; `rest`, the last rule, if several draws find none.

    What is drawn is a number among all calls, possible or not. So it means the same call in every state, and Hypothesis
    can delete the calls before it when it shrinks. For the same reason no other call is taken in place of an impossible
    one: Hypothesis would shrink the number and keep the effect.
    """
    for _ in range(TRIES):
        offer = machine.offers[draw(st.integers(0, len(machine.offers) - 1))]
        if machine.here.attempt(offer.instance).result is offer.result:
            return offer.rule, {"instance": offer.instance}
    return machine.rules[-1], {"nothing": None}


def _rule_name(number: int, action: Action) -> str:
    """Return the name of an action's rule, as `machine_for` gives it."""
    return f"rule_{number:03}_{action.name}"


def _attempt(number: int, action: Action) -> Any:
    """Return the rule of an attempt. Its name sorts after the rule of the action itself, and before `rest`."""

    def attempt(self: ConformanceMachine, instance: ActionInstance) -> None:
        self.attempt(instance.key)

    attempt.__name__ = _rule_name(number, action) + ATTEMPT
    return rule(instance=st.nothing())(attempt)
