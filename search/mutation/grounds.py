"""Grounds: models on which mutants are tried, searched exhaustively beforehand without any mistake in them.

Words: a ground's *claims* are those that hold in it; a claim that is violated without a mistake says nothing about
one. Its *states* are all that can be reached.
"""
from __future__ import annotations

import ast
from functools import cached_property

import numpy as np
from attrs import field, frozen

from model.language import Claim, Model, Outcome, Scenario, Trial, UsageError
from model.language.lift import Lifted, LiftedAction, lift, lift_action
from model.language.lift.machine import Coverage
from model.language.model import Instance
from model.language.registry import find_scenario
from model.language.settings import setting_text
from search.compile.layout import Layout, layout_of
from search.exhaust import Conclusion
from search.exploration import Ending, Exploration, Wish
from search.kernel import Kernel
from search.liveness import look_through_waits
from search.mutation.differences import first_true
from search.mutation.kernels import Foundry
from search.mutation.mutants import Mutant
from search.mutation.paths import Run, noted_runs
from search.progress import Report, silent
from search.verdict import Verdict

SECONDS = 120.0
"""Seconds that the search of a ground may take; one that takes longer is too large to try mutants on."""
MEMORY = 1 << 30
"""Bytes that the states of a search may fill, of a ground or of a mutant."""


class MutatedModel(Model):
    """A model whose steps are those of a mutant; its states, its initial states and its claims are as they were."""

    def __init__(self, model: Model, mutant: Mutant) -> None:
        vars(self).update(vars(model), initial=model.initial)
        self.mutant = mutant

    def attempt(self, instance: Instance, vector: tuple[int, ...]) -> Outcome:
        with self.mutant.planted():
            return super().attempt(instance, vector)


@frozen(eq=False)
class Ground:
    """A model that was searched, and what there is to try mutants of it."""

    trial: Trial
    model: Model
    lifted: Lifted = field(repr=False)
    foundry: Foundry = field(repr=False)
    exploration: Exploration = field(repr=False)
    verdict: Verdict
    states: np.ndarray = field(repr=False)
    """All reachable states, packed, in the order of their discovery."""
    runs: dict[Coverage, Run] = field(repr=False)
    visited: dict[ast.stmt, tuple[LiftedAction, ...]] = field(factory=dict, init=False, repr=False)
    """What is known of `visitors`."""
    passed: dict[ast.stmt, bool] = field(factory=dict, init=False, repr=False)
    """Of changed lines that were looked at, whether a step from a reachable state certainly comes by."""

    @property
    def name(self) -> str:
        """What progress and reports call it: the scenario, and what the trial sets otherwise."""
        flags = [f"{name} {setting_text(setting)}" for name, setting in self.model.asked_flags.items()]
        other = [*(f"{name} {size}" for name, size in self.trial.bounds.items()), *flags]
        return f"{self.model.scenario.name} ({', '.join(other)})" if other else self.model.scenario.name

    @property
    def kernel(self) -> Kernel:
        """The kernel of the model without a mistake."""
        return self.exploration.kernel

    @cached_property
    def layout(self) -> Layout:
        """How its states are packed."""
        return layout_of(self.model.leaves)

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """The claims asked for that hold here."""
        violated = {finding.claim for finding in self.verdict.findings}
        return tuple(c for c in _asked(self.model, self.trial) if c.key not in violated)

    def comes_to(self, mutant: Mutant) -> bool:
        """Whether lifting comes to the line that the mutant changes."""
        return bool(self.affected(mutant))

    def affected(self, mutant: Mutant) -> tuple[LiftedAction, ...]:
        """The action instances that can come to the line that the mutant changes."""
        return tuple(a for a in self.lifted.actions if mutant.edit.statement in a.coverage.statements)

    def visitors(self, mutant: Mutant) -> tuple[LiftedAction, ...]:
        """The action instances that may come to the changed line in a reachable state of the model; no other does."""
        line = mutant.edit.statement
        if line not in self.visited:
            self.visited[line] = tuple(action for action in self.affected(mutant) if self._may_come(action, line))
        return self.visited[line]

    def strangers(self, mutant: Mutant) -> tuple[LiftedAction, ...]:
        """The other instances that lifting brings to the line; in states of the mutant alone they may come there."""
        visitors = self.visitors(mutant)
        return tuple(action for action in self.affected(mutant) if action not in visitors)

    def _may_come(self, action: LiftedAction, line: ast.stmt) -> bool:
        there = self.runs[action.coverage].comes_to(line, self.lifted.terms)
        return first_true(there, self.states, self.layout) is not None

    def lifted_anew(self, actions: tuple[LiftedAction, ...]) -> dict[int, LiftedAction]:
        """The same instances, by number, from the source as it is now; LiftError if it cannot be lifted any more."""
        with self.model.active():
            found = [lift_action(self.model, self.lifted.terms, action.instance) for action in actions]
        return {action.instance.index: action for action in found}


def ground_of(trial: Trial, report: Report = silent) -> Ground:
    """The trial's model, searched; UsageError if it is too large, or already leaves its domain."""
    scenario = trial.scenario if isinstance(trial.scenario, Scenario) else find_scenario(trial.scenario)
    model = Model(scenario, trial.variant, trial.bounds, dict(trial.flags))
    asked = _asked(model, trial)
    with noted_runs() as runs:
        lifted = lift(model)
    foundry = Foundry(model, lifted)
    wish = Wish(asked, keep_going=True, seconds=SECONDS, memory=MEMORY, report=report)
    exploration = Exploration(model, foundry.kernel(lifted), wish)
    exploration.run()
    if exploration.ending is Ending.INTERRUPT:
        raise KeyboardInterrupt
    if exploration.ending in (Ending.TIME, Ending.MEMORY):
        raise UsageError(
            f"Mutants cannot be tried on {scenario.name!r} within these bounds: {exploration.stored:,} states were "
            f"found in its {exploration.ending.value} of {SECONDS:g} s and {MEMORY / 2**30:g} GiB, and there are more. "
            "Give smaller bounds with --bound."
        )
    states = exploration.states.rows(list(range(exploration.stored)))
    return Ground(trial, model, lifted, foundry, exploration, _verdict(exploration), states, runs)


def _verdict(exploration: Exploration) -> Verdict:
    return Conclusion(exploration, look_through_waits(exploration), "").verdict()


def _asked(model: Model, trial: Trial) -> tuple[Claim, ...]:
    named = {claim.index for name in trial.invariants for claim in model.claims_of(name)}
    return tuple(c for c in model.claims if c.index in named) if named else model.claims
