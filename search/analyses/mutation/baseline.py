"""Baselines: models on which mutants are evaluated, searched exhaustively without any change in them.

Words: the *properties* of a baseline are those that hold in it; a property that is violated in the model itself kills
no mutant. Its *states* are all reachable ones. A *path* to a statement is the conjunction of the branch conditions that
lead to it, recorded while the model is lifted. Paths are never too narrow: in a state in which none of the paths to a
statement is taken, the step does not execute it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
from attrs import field, frozen

from kwalk.model.language import Model, PropertyInstance, Scenario, StepOutcome, Trial, UsageError
from kwalk.model.language.lift import Lifted, LiftedAction, SideCondition, Term, Terms, lift, lift_action
from kwalk.model.language.lift.machine import Coverage, SymbolicMachine
from kwalk.model.language.lift.statements import STATEMENTS
from kwalk.model.language.model import ActionInstance
from kwalk.model.language.registry import find_scenario
from kwalk.model.language.settings import setting_text
from kwalk.search.analyses.mutation.differences import first_state_where
from kwalk.search.analyses.mutation.mutants import Mutant
from kwalk.search.base.components import entry
from kwalk.search.base.options import SearchOptions, StopReason
from kwalk.search.base.progress import Report, silent
from kwalk.search.exhaustive.explorer import Explorer
from kwalk.search.exhaustive.search import ExhaustiveVerdict
from kwalk.search.kernel.compile.compiler import Compiled, kernel_of
from kwalk.search.kernel.compile.functions import Writer
from kwalk.search.kernel.compile.layout import Layout, layout_of
from kwalk.search.kernel.interface import Kernel
from kwalk.search.native.object_code import object_code
from kwalk.search.results.verdict import Verdict

SECONDS = 120.0
"""The time budget for the search of a baseline; a model that takes longer is too large."""
MEMORY = 1 << 30
"""The memory budget in bytes for the states of a baseline, and of a mutant."""


class MutatedModel(Model):
    """A model whose steps are those of a mutant; states, initial states and properties are those of the model."""

    def __init__(self, model: Model, mutant: Mutant) -> None:
        vars(self).update(vars(model), initial=model.initial)
        self.mutant = mutant

    def attempt(self, instance: ActionInstance, vector: tuple[int, ...]) -> StepOutcome:
        with self.mutant.active():
            return super().attempt(instance, vector)


@frozen(eq=False)
class Baseline:
    """A searched model, with what the evaluation of mutants needs.

    Attributes:
        trial: The scenario, variant, bounds and flags.
        model: The model.
        lifted: Its lifting; mutants are lifted into the same table of terms.
        compiler: Compiles kernels of mutants.
        explorer: The finished search.
        verdict: The verdict of the search.
        states: All reachable states, packed, uint64[n, words], in the order of discovery.
        paths: The paths to each statement, by the coverage of the lifting of an action instance.
    """

    trial: Trial
    model: Model
    lifted: Lifted = field(repr=False)
    compiler: IncrementalCompiler = field(repr=False)
    explorer: Explorer = field(repr=False)
    verdict: Verdict
    states: np.ndarray = field(repr=False)
    paths: dict[Coverage, LiftedPaths] = field(repr=False)
    reached_lines: dict[ast.stmt, tuple[LiftedAction, ...]] = field(factory=dict, init=False, repr=False)
    """A cache of `reached_instances`."""
    exercised_lines: dict[ast.stmt, bool] = field(factory=dict, init=False, repr=False)
    """A cache: whether a step from a reachable state executes the line."""

    @property
    def name(self) -> str:
        """The scenario, and the bounds and flags that differ from its own; for progress and reports."""
        flags = [f"{name} {setting_text(setting)}" for name, setting in self.model.flag_overrides.items()]
        other = [*(f"{name} {size}" for name, size in self.trial.bounds.items()), *flags]
        return f"{self.model.scenario.name} ({', '.join(other)})" if other else self.model.scenario.name

    @property
    def kernel(self) -> Kernel:
        """The kernel of the unchanged model."""
        return self.explorer.kernel

    @cached_property
    def layout(self) -> Layout:
        """The layout of its packed states."""
        return layout_of(self.model.leaves)

    @cached_property
    def properties(self) -> tuple[PropertyInstance, ...]:
        """The requested property instances that hold."""
        violated = {finding.prop for finding in self.verdict.findings}
        return tuple(c for c in self.model.properties_named(self.trial.properties) if c.key not in violated)

    def reaches(self, mutant: Mutant) -> bool:
        """Return whether the lifting of any action instance executes the changed line."""
        return bool(self.affected_instances(mutant))

    def affected_instances(self, mutant: Mutant) -> tuple[LiftedAction, ...]:
        """Return the action instances whose lifting executes the changed line."""
        return tuple(a for a in self.lifted.actions if mutant.edit.statement in a.coverage.statements)

    def reached_instances(self, mutant: Mutant) -> tuple[LiftedAction, ...]:
        """Return a superset of the instances that execute the changed line in a reachable state of the model."""
        line = mutant.edit.statement
        if line not in self.reached_lines:
            found = [action for action in self.affected_instances(mutant) if self._may_reach(action, line)]
            self.reached_lines[line] = tuple(found)
        return self.reached_lines[line]

    def unreached_instances(self, mutant: Mutant) -> tuple[LiftedAction, ...]:
        """Return the other affected instances; only states of the mutant itself can make them execute the line."""
        reached = self.reached_instances(mutant)
        return tuple(action for action in self.affected_instances(mutant) if action not in reached)

    def _may_reach(self, action: LiftedAction, line: ast.stmt) -> bool:
        condition = self.paths[action.coverage].condition_of(line, self.lifted.terms)
        return first_state_where(condition, self.states, self.layout) is not None

    def relift(self, actions: tuple[LiftedAction, ...]) -> dict[int, LiftedAction]:
        """Lift instances again, from the source as it is now; return them by index.

        Raises:
            LiftError: One cannot be lifted any more.
        """
        with self.model.active():
            found = [lift_action(self.model, self.lifted.terms, action.instance) for action in actions]
        return {action.instance.index: action for action in found}


def baseline_of(trial: Trial, report: Report = silent) -> Baseline:
    """Search the model of a trial.

    Raises:
        UsageError: The model is too large, or an action leaves its domain.
        KeyboardInterrupt: Ctrl-C was pressed.
    """
    scenario = trial.scenario if isinstance(trial.scenario, Scenario) else find_scenario(trial.scenario)
    model = Model(scenario, trial.variant, trial.bounds, dict(trial.flags))
    with recorded_paths() as paths:
        lifted = lift(model)
    compiler = IncrementalCompiler(model, lifted)
    properties = model.properties_named(trial.properties)
    options = SearchOptions(properties, keep_going=True, seconds=SECONDS, memory=MEMORY, report=report)
    explorer = Explorer(model, compiler.kernel(lifted), options)
    explorer.run()
    if explorer.stop_reason is StopReason.INTERRUPT:
        raise KeyboardInterrupt
    if explorer.stop_reason in (StopReason.TIME, StopReason.MEMORY):
        raise UsageError(
            f"Mutants of {scenario.name!r} cannot be evaluated within these bounds: the search found "
            f"{explorer.stored:,} states within its {explorer.stop_reason.value} of {SECONDS:g} s and "
            f"{MEMORY / 2**30:g} GiB, and there are more. Give smaller bounds with --bound."
        )
    states = explorer.states.rows(list(range(explorer.stored)))
    verdict = ExhaustiveVerdict(explorer, entry("check_liveness")(explorer)).verdict()
    return Baseline(trial, model, lifted, compiler, explorer, verdict, states, paths)


Path = tuple[tuple[Term, ...], int]
"""The branch conditions, and the number of side conditions of the step that precede the statement."""


@frozen(eq=False)
class LiftedPaths:
    """The side conditions of the lifting of one action instance, in order, and the paths to each statement."""

    side_conditions: list[SideCondition] = field(repr=False)
    paths: dict[ast.stmt, set[Path]] = field(factory=dict, repr=False)

    def condition_of(self, line: ast.stmt, terms: Terms) -> Term:
        """Return the condition under which the step executes a line: a path is taken, and no side condition is true."""
        return terms.disjunction(
            terms.conjunction((*branches, *(terms.negation(o.condition) for o in self.side_conditions[:number])))
            for branches, number in self.paths.get(line, ())
        )


@contextmanager
def recorded_paths() -> Iterator[dict[Coverage, LiftedPaths]]:
    """Record the paths of everything that is lifted within the context; yield them by coverage."""
    found: dict[Coverage, LiftedPaths] = {}
    handlers = dict(STATEMENTS)
    STATEMENTS.update({kind: _recording(handler, found) for kind, handler in handlers.items()})
    try:
        yield found
    finally:
        STATEMENTS.update(handlers)


def _recording(
    handler: Callable[[SymbolicMachine, Any], None], runs: dict[Coverage, LiftedPaths]
) -> Callable[[SymbolicMachine, Any], None]:
    def record(m: SymbolicMachine, node: ast.stmt) -> None:
        run = runs.get(m.coverage) or runs.setdefault(m.coverage, LiftedPaths(m.side_conditions))
        run.paths.setdefault(node, set()).add((m.now.path, len(m.side_conditions)))
        handler(m, node)

    return record


class IncrementalCompiler:
    """Compiles kernels of mutants: what a mutant does not change is the object code of the model.

    There is one unit for each effect, one for the *advance* and one for the *frame*. The advance evaluates the guards:
    which are true in a state, and which can be true after a step; it changes with a guard, or with the leaves that an
    effect writes. The frame has the properties and calls the effects; no mutant changes it.
    """

    def __init__(self, model: Model, lifted: Lifted) -> None:
        self.model, self.lifted, self.layout = model, lifted, layout_of(model.leaves)
        writer = Writer(lifted, self.layout, small=False, unoptimized=True)
        self.names = writer.names
        texts = [writer.action(number, action) for number, action in enumerate(lifted.actions)]
        *self.effects, self.advance, self.frame = _compiled([*texts, _advance(writer), _frame(writer)])

    def kernel(self, lifted: Lifted, changed: Iterable[int] = ()) -> Kernel:
        """Return the kernel of the model's lifting, or of one that differs in the instances `changed`."""
        writer = Writer(lifted, self.layout, small=False, unoptimized=True, names=self.names)
        changed, effects = list(changed), list(self.effects)
        texts = [writer.action(number, lifted.actions[number]) for number in changed]
        if all(self._advances_alike(lifted, number) for number in changed):
            code_of_changed, advance = _compiled(texts), self.advance
        else:
            *code_of_changed, advance = _compiled([*texts, _advance(writer)])
        for number, code in zip(changed, code_of_changed, strict=True):
            effects[number] = code
        whole = Compiled((*effects, advance, self.frame), writer.names.bounds, writer.names.errors)
        return kernel_of(self.model, whole)

    def _advances_alike(self, lifted: Lifted, number: int) -> bool:
        """Return whether an instance has the guard of the model's instance, and writes the same leaves."""
        one, other = self.lifted.actions[number], lifted.actions[number]
        return one.guard is other.guard and one.writes == other.writes


def _advance(writer: Writer) -> str:
    return "\n".join([writer.guards(), writer.advances(), writer.declarations()])


def _frame(writer: Writer) -> str:
    guards = "declare void @guards(ptr, ptr)"
    return "\n".join([writer.expand(), writer.table(), *writer.checks(), writer.declarations(), guards])


def _compiled(texts: Sequence[str]) -> list[bytes]:
    """Compile each text without optimization."""
    return object_code(texts, unoptimized=True, large=True)
