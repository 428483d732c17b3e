"""Hypothesis as an engine: a rule-based state machine made of the actions of a model, executed in plain Python.

Words: a *rule* of Hypothesis is an action; Hypothesis draws an action with an enabled instance, then one of its enabled
instances. An *example* is one behaviour that it tries, also while it shrinks.

Hypothesis is slow (thousands of steps per second at best) and proves nothing. Its counterexamples are short lists of
steps in the words of the model, and its database shows them again in the next run.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, ClassVar

import hypothesis
import hypothesis.strategies as st
from attrs import Factory, define
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kwalk.model.language import Action, ActionInstance, Kind, Model, Property, PropertyInstance, UsageError
from kwalk.search.examination.examination import warn_of_unfailing
from kwalk.search.kernel.interpreter import Visit, VisitCache
from kwalk.search.results.fairness import UncheckedProperties, safety_properties, unchecked_note
from kwalk.search.results.trace import Trace, reference_of
from kwalk.search.results.verdict import ActionCount


@define
class MachineCounters:
    """The counts of a machine over all of its examples."""

    on_example: Callable[[], None] = lambda: None
    """Called before each example; an exception of it ends the run."""
    examples: int = 0
    steps: int = 0
    quiescent: int = 0
    bounds_hit: Counter[str] = Factory(Counter)
    enabled: Counter[int] = Factory(Counter)
    taken: Counter[int] = Factory(Counter)
    changed: Counter[int] = Factory(Counter)
    premises: Counter[str] = Factory(Counter)
    witnessed: dict[str, Trace] = Factory(dict)
    traces: dict[str | None, Trace] = Factory(dict)
    """The shortest trace so far of each violated property instance, by key; of a deadlock by None."""
    times: Counter[str | None] = Factory(Counter)

    def begin_example(self) -> None:
        """Count an example."""
        self.on_example()
        self.examples += 1

    def add_violation(self, trace: Trace) -> None:
        """Count a violation; save its trace if it is the shortest of its property instance."""
        self.times[trace.prop] += 1
        shortest = self.traces.get(trace.prop)
        if shortest is None or trace.length < shortest.length:
            self.traces[trace.prop] = trace

    def leaves(self, visit: Visit, step: ActionInstance | None) -> None:
        """Count a state, the steps that were tried from it, and the one that was taken."""
        self.quiescent += visit.is_known_quiescent
        for number, tried in visit.outcomes.items():
            if tried.bound is not None:
                self.bounds_hit[tried.bound] += 1
            self.enabled[number] += tried.is_enabled
        if step is not None:
            self.taken[step.index] += 1
            self.changed[step.index] += visit.after(step) != visit.vector

    def action_counts(self, model: Model) -> dict[str, ActionCount]:
        """Return the counts of all action instances."""
        counters = (self.enabled, self.taken, self.changed)
        return {i.key: ActionCount(*(counter[i.index] for counter in counters)) for i in model.instances}


class Falsified(AssertionError):
    """A behaviour violates a property, or deadlocks where that is an error; the message lists the steps."""

    def __init__(self, machine: ModelMachine, prop: PropertyInstance | None) -> None:
        self.trace = machine.trace(prop)
        with machine.model.active():
            what = "Deadlock: no action is enabled" if prop is None else f"{prop.description} is violated"
        super().__init__("\n".join([f"{what}, after {self.trace.length} steps.", *machine.story()]))


class ModelMachine(RuleBasedStateMachine):
    """The machine to which `machine_for` adds rules and invariants.

    A falsifying example that Hypothesis prints is executable Python: its lines call `begin` and `take`.
    """

    model: ClassVar[Model]
    visits: ClassVar[VisitCache]
    counters: ClassVar[MachineCounters]
    expects_no_deadlock: ClassVar[bool]

    def __init__(self) -> None:
        super().__init__()
        # Hypothesis would disable some rules for a whole example, and discard the example where only those are enabled:
        # with few rules enabled at a time, that is after a few steps.
        self._rules_strategy = _next_rule(self)  # type: ignore[assignment]
        self.counters.begin_example()
        self.begin(0)

    def begin(self, number: int) -> None:
        """Start in the initial state of that index."""
        self.start, self.has_rested = number, False
        self.path: list[ActionInstance] = []
        self.visited = [self.visits.at(self.model.initial[number])]

    @property
    def here(self) -> Visit:
        """The current state."""
        return self.visited[-1]

    def step(self, instance: ActionInstance) -> None:
        """Take an enabled step."""
        after = self.visits.step(self.here, instance)
        if after is None:
            raise UsageError(f"{instance.key} is not enabled here, after {', '.join(self.keys) or 'no step'}.")
        self.counters.leaves(self.here, instance)
        self.counters.steps += 1
        self.path.append(instance)
        self.visited.append(after)

    def take(self, key: str) -> None:
        """Take a step by its key, then check all invariants: the line of a falsifying example."""
        self.step(self.model.instance(key))
        for one in self.invariants:
            one.function(self)

    def check(self, properties: Iterable[PropertyInstance]) -> None:
        """Raise Falsified for the first property instance that is violated here."""
        here, before = self.here, self.visited[-2].vector if self.path else None
        for prop in properties:
            true = here.truth(prop, before)
            if true is not None:
                self.counters.premises[prop.key] += 1
            if prop.kind is Kind.REACHABLE and true and prop.key not in self.counters.witnessed:
                self.counters.witnessed[prop.key] = self.trace(prop)
            elif prop.kind is not Kind.REACHABLE and true is False:
                self.falsify(prop)

    def rest(self) -> None:
        """Do nothing, where no action is enabled; check for a deadlock."""
        self.has_rested = True
        if self.expects_no_deadlock and self.here.is_dead:
            self.falsify(None)

    def falsify(self, prop: PropertyInstance | None) -> None:
        """Raise the error of a property: each has a class of its own, so that shrinking keeps the property."""
        self.counters.add_violation(self.trace(prop))
        raise _falsified("Deadlocked" if prop is None else prop.declaration.name)(self, prop)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the steps taken so far."""
        return tuple(instance.key for instance in self.path)

    def trace(self, prop: PropertyInstance | None) -> Trace:
        """Return the behaviour so far."""
        return Trace(
            scenario=reference_of(self.model),
            variant=self.model.variant,
            bounds=self.model.binding.bounds,
            states=tuple(visit.vector for visit in self.visited),
            actions=self.keys,
            prop=None if prop is None else prop.key,
            labels=self.model.binding.labels,
            found_by="hypothesis",
            flags=self.model.flag_overrides,
        )

    def story(self) -> list[str]:
        """Return the steps so far as text, a line each."""
        with self.model.active():
            lines = [f"  {n:3} {i.actor}: {i.description}   [{i.key}]" for n, i in enumerate(self.path, start=1)]
        first = [f"      from initial state {self.start}"] if len(self.model.initial) > 1 else []
        return first + lines

    # The output of Hypothesis for an example.

    def _repr_step(self, rule: Any, data: Any, result: Any) -> str:
        """Return a line of a falsifying example: Python, with the description of the step as a comment."""
        if rule.function.__name__ == BEGIN:
            return f"state.begin({self.start})"
        if rule.function.__name__.endswith(REST):
            return "state.rest()  # no action is enabled"
        instance = self.path[-1]
        with self.model.active():
            return f"state.take({instance.key!r})  # {instance.actor}: {instance.description}"

    def check_invariants(self, settings: Any, output: Any, runtimes: Any) -> None:
        """Check the invariants unless the last step was `rest`, without printing a line for each."""
        if self.has_rested:
            return
        super().check_invariants(settings, lambda line: None, runtimes)

    def teardown(self) -> None:
        """Count the last state."""
        self.counters.leaves(self.here, None)


BEGIN, REST = "begin", "nothing_else"


def machine_for(
    model: Model,
    properties: Iterable[PropertyInstance] | None = None,
    *,
    counters: MachineCounters | None = None,
    deadlocks: bool | None = None,
) -> type[ModelMachine]:
    """Return the state machine of a model: `machine_for(model).TestCase` is a test for pytest and unittest.

    Disabled steps are never drawn.

    Args:
        model: The model.
        properties: The property instances to check; None for all of the model. Those about behaviours are not checked,
            and a warning (`UncheckedProperties`) names them; another one (`CannotFail`) those that cannot fail.
        counters: Where to count; None for new counters.
        deadlocks: Whether a deadlock is a failure; None for what the scenario states.
    """
    wanted = tuple(model.properties if properties is None else properties)
    checked = safety_properties(wanted)
    if len(checked) < len(wanted):
        warnings.warn(unchecked_note(wanted, "Hypothesis"), UncheckedProperties, stacklevel=2)
    if counters is None:  # a search examines its verdict
        warn_of_unfailing(model, checked, stacklevel=2)
    members: dict[str, Any] = {
        "model": model,
        "visits": VisitCache(model),
        "counters": counters or MachineCounters(),
        "expects_no_deadlock": model.scenario.deadlock_is_error if deadlocks is None else deadlocks,
        "__doc__": model.scenario.story,
    }
    if len(model.initial) > 1:
        members["_begin"] = initialize(number=st.sampled_from(range(len(model.initial))))(_begin())
    for number, action in enumerate(model.scenario.actions):
        members[f"_rule_{number}"] = _rule(number, action)
    members["_rule_rest"] = _rest(len(model.scenario.actions))
    for number, one in enumerate({prop.declaration: None for prop in checked}):
        members[f"_invariant_{number:03}"] = _invariant(one, tuple(c for c in checked if c.declaration is one))
    made: type[ModelMachine] = type(_class_name(model), (ModelMachine,), members)
    # Hypothesis stores its findings under the digest of the class; this class has no source text.
    made._hypothesis_internal_add_digest = _identity(model, checked).encode()
    made.TestCase.settings = _unexplained()
    return made


def _unexplained() -> hypothesis.settings:
    """Return the current settings without the explain phase.

    That phase traces every executed line, which makes plain execution five times slower, and adds nothing to the steps.
    """
    phases = [phase for phase in hypothesis.settings().phases if phase is not hypothesis.Phase.explain]
    return hypothesis.settings(deadline=None, suppress_health_check=list(hypothesis.HealthCheck), phases=phases)


@st.composite
def _next_rule(draw: Any, machine: ModelMachine) -> tuple[Any, dict[str, Any]]:
    """Draw a rule whose precondition holds, and its arguments; the last rule, `rest`, where no action is enabled."""
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
    """Return the rule of an action. Its name begins with its number, as Hypothesis sorts rules by name."""

    def take(self: ModelMachine, instance: ActionInstance) -> None:
        self.step(instance)

    take.__name__ = f"rule_{number:03}_{action.name}"
    instances = st.runner().flatmap(lambda machine: st.sampled_from(machine.here.enabled(action)))
    return rule(instance=instances)(precondition(lambda machine: bool(machine.here.enabled(action)))(take))


def _rest(number: int) -> Any:
    """Return the rule for states without enabled actions; it draws None only to be sorted last."""

    def rest(self: ModelMachine, nothing: None) -> None:
        self.rest()

    rest.__name__ = f"rule_{number:03}_{REST}"
    return rule(nothing=st.none())(precondition(lambda machine: machine.here.is_end)(rest))


def _invariant(one: Property, properties: tuple[PropertyInstance, ...]) -> Any:
    def check(self: ModelMachine) -> None:
        self.check(properties)

    check.__name__ = one.name
    return invariant()(check)


@lru_cache
def _falsified(name: str) -> type[Falsified]:
    return type(name, (Falsified,), {})


def _class_name(model: Model) -> str:
    return "".join(word.capitalize() for word in re.split(r"\W+", model.scenario.name)) or "Machine"


def _identity(model: Model, properties: tuple[PropertyInstance, ...]) -> str:
    parts = [model.scenario.name, model.variant, sorted(model.binding.bounds.items()), [c.key for c in properties]]
    parts += [sorted(model.flag_overrides.items())] if model.flag_overrides else []
    return repr(parts)
