"""The plan of a model: everything that a reduced search must know, made once per model and cached by content."""

from __future__ import annotations

import hashlib
import io
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial, reduce
from operator import or_
from pathlib import Path

import numpy as np
import z3
from attrs import astuple, define, field, fields, frozen

from kwalk.model.language import Model
from kwalk.model.language.lift import Lifted, Term, lift
from kwalk.model.language.lift.solver import Solver
from kwalk.search.base.cache import cache_path, read_cache, write_cache
from kwalk.search.base.progress import Progress, Report, silent
from kwalk.search.kernel.interface import Kernel
from kwalk.search.kernel.model_digest import cache_key
from kwalk.search.native.processor import cpu
from kwalk.search.partial_order.atom_code import atom_code, words_for
from kwalk.search.partial_order.dependency_analysis import (
    ConditionFinder,
    DependencyAnalysis,
    ObservedRelations,
    PairCounts,
)
from kwalk.search.partial_order.facts import candidate_facts, canonical_facts, proved_facts
from kwalk.search.partial_order.goals import ReductionGoal, goals_of
from kwalk.search.partial_order.observation import observe_relations
from kwalk.search.partial_order.state_queries import StateQueries
from kwalk.search.partial_order.transition_groups import TransitionGroup, transition_groups
from kwalk.search.solver import terms
from kwalk.search.solver.terms import state_variables

EFFORT = 200_000
"""Effort of one query to Z3: some tenths of a second at most."""
SPARE_BITS = 2
"""Numbers after two steps may be larger than those of the model; there are no queries about still larger ones."""
STAGES = ("walks", "facts", "accord", "conditions", "enabling sets", "disabling sets")
"""The stages of making a plan, in order, as progress names them."""
ERROR = -1
"""In place of a property's number: the goal is an error of an action."""
PROPERTY_ERROR = -2
"""This minus a property's number, in place of that: the goal is an error of the property."""
NOT_IN_PLAN = ("__init__.py", "reduction.py", "sleep_sets.py", "stubborn_sets.py", "tables.py")
"""Sources of this folder that plans do not depend on: they use plans."""


@frozen(eq=False)
class ReductionPlan:
    """The relations as bit rows (uint64[n, words]), the machine code that evaluates atoms, and counts.

    Fields with the name of a field of `ReductionTables` are what it points to.
    """

    instances: np.ndarray
    group_atoms: np.ndarray
    do_not_accord: np.ndarray
    conditional: np.ndarray
    condition_numbers: np.ndarray
    """int64[groups, groups]."""
    condition_atoms: np.ndarray
    condition_enabling_sets: np.ndarray
    enabling_sets: np.ndarray
    disabling_sets: np.ndarray
    goal_atoms: np.ndarray
    goal_groups: np.ndarray
    goal_properties: np.ndarray
    """int64 per goal: the number of its property, ERROR, or PROPERTY_ERROR minus that number."""
    code: tuple[bytes, ...]
    pairs: PairCounts
    seconds: float = 0.0
    """How long it took to make."""

    @property
    def digest(self) -> str:
        """A digest of everything that decides which instances are taken."""
        digest = hashlib.blake2b(digest_size=16)
        for name in ARRAYS:
            digest.update(getattr(self, name).tobytes())
        return digest.hexdigest()


ARRAYS = tuple(f.name for f in fields(ReductionPlan) if f.name not in ("code", "pairs", "seconds"))


@define
class AtomTable:
    """Conditions, each with its number."""

    terms: list[Term] = field(factory=list)
    _numbers: dict[int, int] = field(factory=dict)

    def numbers(self, conditions: Iterable[Term]) -> list[int]:
        """Return the numbers of some conditions; new ones are added."""
        return [self._number(condition) for condition in conditions]

    def _number(self, condition: Term) -> int:
        if condition.id not in self._numbers:
            self._numbers[condition.id] = len(self.terms)
            self.terms.append(condition)
        return self._numbers[condition.id]


class Planner:
    """Makes the plan of one model."""

    def __init__(self, model: Model, kernel: Kernel, report: Report = silent) -> None:
        self.model, self.kernel, self.report, self.began = model, kernel, report, time.monotonic()
        self.stage, self.stage_began = 0, self.began
        self.lifted: Lifted = lift(model)
        self.leaves = state_variables(self.lifted)
        self.groups: list[TransitionGroup] = transition_groups(self.lifted)
        self.atoms = AtomTable()
        self.group_atoms = [self.atoms.numbers(group.atoms) for group in self.groups]
        self.facts: list[Term] = []
        width = Solver.width_for(root for action in self.lifted.actions for root in action.roots) + SPARE_BITS
        facts = canonical_facts(model, self.lifted.terms, self.leaves)
        self.queries = StateQueries(self.lifted.terms, facts, width, EFFORT)

    def plan(self) -> ReductionPlan:
        """Return the plan."""
        self._report("walks", 0, 1)
        analysis = DependencyAnalysis(self.lifted.terms, self.groups, self.leaves, self.queries)
        observed = self._observed()
        candidates = candidate_facts(self.lifted, self.leaves, self.kernel.unpack(observed.states))
        self.facts = proved_facts(analysis, self.model.initial, candidates, partial(self._report, "facts"))
        goals = goals_of(self.lifted, self.groups, self.leaves, self.queries)
        goal_atoms = [self.atoms.numbers(goal.conditions) for goal in goals]
        do_not_accord, pairs = analysis.do_not_accord(observed, partial(self._report, "accord"))
        numbers, condition_atoms = self._conditions(analysis, observed, do_not_accord)
        code = atom_code(self.model, self.atoms.terms, self.group_atoms)
        enabling = analysis.enabling_sets(self.atoms.terms, observed, partial(self._report, "enabling sets"))
        disabling = analysis.disabling_sets(self._final_guards(), partial(self._report, "disabling sets"))
        groups, atoms = len(self.groups), len(self.atoms.terms)
        return ReductionPlan(
            instances=np.array([group.instance for group in self.groups], np.int64),
            group_atoms=rows_of(map(mask_of, self.group_atoms), atoms),
            do_not_accord=rows_of(do_not_accord, groups),
            conditional=rows_of((mask_of(np.flatnonzero(row >= 0).tolist()) for row in numbers), groups),
            condition_numbers=numbers,
            condition_atoms=rows_of(map(mask_of, condition_atoms), atoms),
            condition_enabling_sets=rows_of((_union(enabling[n] for n in some) for some in condition_atoms), groups),
            enabling_sets=rows_of(enabling, groups),
            disabling_sets=rows_of(disabling, groups),
            goal_atoms=rows_of(map(mask_of, goal_atoms), atoms),
            goal_groups=rows_of((0 if goal.takes is None else 1 << goal.takes for goal in goals), groups),
            goal_properties=np.array(list(map(_number_of, goals)), np.int64),
            code=code,
            pairs=pairs,
            seconds=time.monotonic() - self.began,
        )

    def _observed(self) -> ObservedRelations:
        """Return what walks observe of the groups and their atoms."""
        code = atom_code(self.model, self.atoms.terms, self.group_atoms)
        return observe_relations(self.model, self.kernel, self.groups, len(self.atoms.terms), code)

    def _conditions(
        self, analysis: DependencyAnalysis, observed: ObservedRelations, do_not_accord: Sequence[int]
    ) -> tuple[np.ndarray, list[list[int]]]:
        """Return for pairs of groups the number of their condition (-1: none), and the atoms of each condition."""
        finder = ConditionFinder(analysis, self.kernel.unpack(observed.states), observed.co_enabled)
        numbers, atoms = np.full((len(self.groups), len(self.groups)), -1, np.int64), list[list[int]]()
        pairs = list(finder.pairs(do_not_accord))
        for done, (one, other) in enumerate(pairs):
            self._report("conditions", done, len(pairs))
            found = finder.condition(one, other)
            if found is not None:
                numbers[one, other] = numbers[other, one] = len(atoms)
                atoms.append(self.atoms.numbers(found))
        return numbers, atoms

    def _final_guards(self) -> list[Term]:
        """Return per instance its guard, if it is disabled in the final states that must be found; else false."""
        ends, t = set(self._ends()), self.lifted.terms
        return [a.guard if number in ends else t.false for number, a in enumerate(self.lifted.actions)]

    def _ends(self) -> Iterator[int]:
        for instance in self.model.instances:
            if instance.action.by.system or self.model.scenario.deadlock_is_error:
                yield instance.index

    def _report(self, stage: str, count: int, total: int) -> None:
        """Report the progress of a stage; the time left is known of the current stage only."""
        now, number = time.monotonic(), STAGES.index(stage)
        if number != self.stage:
            self.stage, self.stage_began = number, now
        left = f", {(now - self.stage_began) * (total - count) / count:.0f} s left of it" if count else ""
        part = f"part {number + 1} of {len(STAGES)}, {stage}: {count:,} of {total:,}{left}"
        note = f"which steps are independent? {part}"
        self.report(Progress("exhaust", self.queries.count, "questions", now - self.began, note=note))


def _number_of(goal: ReductionGoal) -> int:
    if goal.prop is None:
        return ERROR
    return PROPERTY_ERROR - goal.prop.index if goal.is_error else goal.prop.index


def mask_of(numbers: Iterable[int]) -> int:
    """Return a bit mask with these bits set."""
    return _union(1 << number for number in numbers)


def _union(masks: Iterable[int]) -> int:
    return reduce(or_, masks, 0)


def rows_of(masks: Iterable[int], bits: int) -> np.ndarray:
    """Return bit masks of `bits` bits as rows of words: uint64[n, words]."""
    words = words_for(bits)
    rows = [np.frombuffer(mask.to_bytes(8 * words, "little"), np.uint64) for mask in masks]
    return np.array(rows, np.uint64).reshape(-1, words)


# The cache: one file per model and CPU, written whole or not at all.


def plan_of(model: Model, kernel: Kernel, report: Report = silent) -> ReductionPlan:
    """Return the plan of a model from the cache, or make it, which takes minutes for a large model."""
    path = cache_path("reductions", f"{cache_key(model, cpu() + _sources())}.npz")
    plan = _load(path)
    if plan is None:
        plan = Planner(model, kernel, report).plan()
        _save(path, plan)
    return plan


@cache
def _sources() -> str:
    """Return a digest of what plans depend on besides the model: the sources that make them, and Z3's version."""
    digest = hashlib.blake2b(z3.get_full_version().encode(), digest_size=16)
    for path in (*sorted(Path(__file__).parent.glob("*.py")), Path(terms.__file__)):
        if path.name not in NOT_IN_PLAN:
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _load(path: Path) -> ReductionPlan | None:
    content = read_cache(path)
    if content is None:
        return None
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as saved:
            arrays = {name: saved[name] for name in ARRAYS}
            code = tuple(saved[f"code{n}"].tobytes() for n in range(int(saved["codes"])))
            pairs = PairCounts(*(int(count) for count in saved["pairs"]))
            return ReductionPlan(**arrays, code=code, pairs=pairs, seconds=float(saved["seconds"]))
    except Exception:  # the content is broken: the plan is made again
        return None


def _save(path: Path, plan: ReductionPlan) -> None:
    buffer = io.BytesIO()
    arrays = {name: getattr(plan, name) for name in ARRAYS}
    codes = {f"code{n}": np.frombuffer(code, np.uint8) for n, code in enumerate(plan.code)}
    counts = np.array(astuple(plan.pairs), np.int64)
    np.savez_compressed(buffer, **arrays, **codes, codes=len(plan.code), pairs=counts, seconds=plan.seconds)  # type: ignore[arg-type]
    write_cache(path, buffer.getvalue())
