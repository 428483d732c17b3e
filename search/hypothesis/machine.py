"""Hypothesis as an engine: a rule-based state machine made of a model's own actions, by plain execution.

Words: a *rule* is an action; Hypothesis picks one that has an enabled instance, then one of its enabled instances. An
*example* is one behaviour that it tries.

Hypothesis is slow (thousands of steps a second at best) and never proves anything. It is the front door:
counterexamples come out short, as a list of steps in the field's words, and its database shows them again next time.
"""
from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, ClassVar

import hypothesis
import hypothesis.strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from model.language import Action, Claim, Instance, Invariant, Kind, Model, UsageError
from search.fairness import safety
from search.hypothesis.tally import Tally
from search.plain import Visit, Visits
from search.trace import Trace, reference_of


class Falsified(AssertionError):
    """A behaviour that violates a claim, or deadlocks where that is an error; its message lists the steps."""

    def __init__(self, machine: ModelMachine, claim: Claim | None) -> None:
        self.trace = machine.trace(claim)
        with machine.model.active():
            what = "Deadlock: nothing can happen any more" if claim is None else f"{claim.says} is violated"
        super().__init__("\n".join([f"{what}, after {self.trace.length} steps.", *machine.story()]))


class ModelMachine(RuleBasedStateMachine):
    """The machine that `machine_for` fills with rules and invariants.

    A falsifying example that Hypothesis prints is Python that runs: `begin` and `take` are its lines.
    """

    model: ClassVar[Model]
    visits: ClassVar[Visits]
    tally: ClassVar[Tally]
    expects_no_deadlock: ClassVar[bool]

    def __init__(self) -> None:
        super().__init__()
        # Hypothesis would switch some rules off for a whole example, and give the example up where only those could go
        # on: with few rules enabled at a time, that is after a handful of steps.
        self._rules_strategy = _next_rule(self)  # type: ignore[assignment]
        self.tally.begins()
        self.begin(0)

    def begin(self, number: int) -> None:
        """Start in the initial state of that number."""
        self.start, self.has_rested = number, False
        self.taken: list[Instance] = []
        self.visited = [self.visits.at(self.model.initial[number])]

    @property
    def here(self) -> Visit:
        """The state in which the machine is."""
        return self.visited[-1]

    def step(self, instance: Instance) -> None:
        """Take an enabled step."""
        after = self.visits.step(self.here, instance)
        if after is None:
            raise UsageError(f"{instance.key} is not enabled here, after {', '.join(self.keys) or 'no step'}.")
        self.tally.leaves(self.here, instance)
        self.tally.steps += 1
        self.taken.append(instance)
        self.visited.append(after)

    def take(self, key: str) -> None:
        """Take a step by name, then check all invariants: the line that a falsifying example consists of."""
        self.step(self.model.instance(key))
        for one in self.invariants:
            one.function(self)

    def check(self, claims: Iterable[Claim]) -> None:
        """Raise Falsified at the first claim that is violated here."""
        here, before = self.here, self.visited[-2].vector if self.taken else None
        for claim in claims:
            true = here.truth(claim, before)
            if true is not None:
                self.tally.premises[claim.key] += 1
            if claim.kind is Kind.REACHABLE and true and claim.key not in self.tally.witnessed:
                self.tally.witnessed[claim.key] = self.trace(claim)
            elif claim.kind is not Kind.REACHABLE and true is False:
                self.falsify(claim)

    def rest(self) -> None:
        """What happens where nothing else can: a deadlock, if there is nothing that only a bound holds back."""
        self.has_rested = True
        if self.expects_no_deadlock and self.here.is_dead:
            self.falsify(None)

    def falsify(self, claim: Claim | None) -> None:
        """Raise the error that belongs to a claim: one class each invariant, so that shrinking keeps to it."""
        self.tally.finds(self.trace(claim))
        raise _falsified("Deadlocked" if claim is None else claim.invariant.name)(self, claim)

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the steps taken so far."""
        return tuple(instance.key for instance in self.taken)

    def trace(self, claim: Claim | None) -> Trace:
        """The behaviour so far."""
        return Trace(
            scenario=reference_of(self.model),
            variant=self.model.variant,
            bounds=self.model.binding.bounds,
            states=tuple(visit.vector for visit in self.visited),
            actions=self.keys,
            claim=None if claim is None else claim.key,
            labels=self.model.binding.labels,
            found_by="hypothesis",
            flags=self.model.asked_flags,
        )

    def story(self) -> list[str]:
        """The steps so far in the field's words, a line each."""
        with self.model.active():
            lines = [f"  {n:3} {i.actor}: {i.says}   [{i.key}]" for n, i in enumerate(self.taken, start=1)]
        first = [f"      from initial state {self.start}"] if len(self.model.initial) > 1 else []
        return first + lines

    # What Hypothesis prints of an example.

    def _repr_step(self, rule: Any, data: Any, result: Any) -> str:
        """A line of a falsifying example: Python, with the field's words as its comment."""
        if rule.function.__name__ == BEGIN:
            return f"state.begin({self.start})"
        if rule.function.__name__.endswith(REST):
            return "state.rest()  # nothing else can happen"
        instance = self.taken[-1]
        with self.model.active():
            return f"state.take({instance.key!r})  # {instance.actor}: {instance.says}"

    def check_invariants(self, settings: Any, output: Any, runtimes: Any) -> None:
        """Check the invariants where something has happened, without a printed line for each after each step."""
        if self.has_rested:
            return
        super().check_invariants(settings, lambda line: None, runtimes)

    def teardown(self) -> None:
        """Count what was seen in the last state."""
        self.tally.leaves(self.here, None)


BEGIN, REST = "begin", "nothing_else"


def machine_for(
    model: Model, claims: Iterable[Claim] | None = None, *, tally: Tally | None = None, deadlocks: bool | None = None
) -> type[ModelMachine]:
    """The state machine of a model: `machine_for(model).TestCase` is a test that pytest and unittest run.

    It checks the given claims, all of the model's without any, except those of kind `eventually`; a deadlock fails it
    if `deadlocks` says so, by default if the scenario does. Disabled steps are never drawn.
    """
    kept = safety(model.claims if claims is None else claims)
    members: dict[str, Any] = {
        "model": model,
        "visits": Visits(model),
        "tally": tally or Tally(),
        "expects_no_deadlock": model.scenario.deadlock_is_error if deadlocks is None else deadlocks,
        "__doc__": model.scenario.story,
    }
    if len(model.initial) > 1:
        members["_begin"] = initialize(number=st.sampled_from(range(len(model.initial))))(_begin())
    for number, action in enumerate(model.scenario.actions):
        members[f"_rule_{number}"] = _rule(number, action)
    members["_rule_rest"] = _rest(len(model.scenario.actions))
    for number, one in enumerate({claim.invariant: None for claim in kept}):
        members[f"_invariant_{number:03}"] = _invariant(one, tuple(c for c in kept if c.invariant is one))
    made: type[ModelMachine] = type(_class_name(model), (ModelMachine,), members)
    # Hypothesis files what it finds under the digest of the class; this one has no source text of its own.
    made._hypothesis_internal_add_digest = _identity(model, kept).encode()  # type: ignore[attr-defined]
    made.TestCase.settings = _unexplained()
    return made


def _unexplained() -> hypothesis.settings:
    """The current settings without the explain phase.

    It traces every line that runs, which makes plain execution five times slower, and tells what the steps tell.
    """
    phases = [phase for phase in hypothesis.settings().phases if phase is not hypothesis.Phase.explain]
    return hypothesis.settings(deadline=None, suppress_health_check=list(hypothesis.HealthCheck), phases=phases)


@st.composite
def _next_rule(draw: Any, machine: ModelMachine) -> tuple[Any, dict[str, Any]]:
    """A rule whose precondition holds, and its arguments. Where no action is enabled, that is the last one, to rest."""
    offered = machine.rules[-1:] if machine.has_rested else [r for r in machine.rules if _holds(r, machine)]
    chosen = offered[draw(st.integers(0, len(offered) - 1))]
    return chosen, {name: draw(strategy) for name, strategy in chosen.arguments.items()}


def _holds(rule: Any, machine: ModelMachine) -> bool:
    return all(condition(machine) for condition in rule.preconditions)


def _begin() -> Callable[..., None]:
    def begin(self: ModelMachine, number: int) -> None:
        self.begin(number)

    return begin


def _rule(number: int, action: Action) -> Any:
    """The rule of an action. Its number leads its name, as Hypothesis sorts rules by name."""

    def take(self: ModelMachine, instance: Instance) -> None:
        self.step(instance)

    take.__name__ = f"rule_{number:03}_{action.name}"
    instances = st.runner().flatmap(lambda machine: st.sampled_from(machine.here.enabled(action)))
    return rule(instance=instances)(precondition(lambda machine: bool(machine.here.enabled(action)))(take))


def _rest(number: int) -> Any:
    """The rule of last resort, so that Hypothesis always has one; None is drawn only so that it sorts last."""

    def rest(self: ModelMachine, nothing: None) -> None:
        self.rest()

    rest.__name__ = f"rule_{number:03}_{REST}"
    return rule(nothing=st.none())(precondition(lambda machine: machine.here.is_end)(rest))


def _invariant(one: Invariant, claims: tuple[Claim, ...]) -> Any:
    def check(self: ModelMachine) -> None:
        self.check(claims)

    check.__name__ = one.name
    return invariant()(check)


@lru_cache
def _falsified(name: str) -> type[Falsified]:
    return type(name, (Falsified,), {})


def _class_name(model: Model) -> str:
    return "".join(word.capitalize() for word in re.split(r"\W+", model.scenario.name)) or "Machine"


def _identity(model: Model, claims: tuple[Claim, ...]) -> str:
    parts = [model.scenario.name, model.variant, sorted(model.binding.bounds.items()), [c.key for c in claims]]
    parts += [sorted(model.asked_flags.items())] if model.asked_flags else []
    return repr(parts)
