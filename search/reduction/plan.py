"""A plan: all that a search must know to reduce, worked out once per model, and kept in the cache by content."""
from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial, reduce
from operator import or_

import numpy as np
from attrs import define, field, fields, frozen

from model.language import Model
from model.language.lift import Lifted, Term, lift
from model.language.lift.solver import Solver
from search.kernel import Kernel
from search.progress import Progress, Report, silent
from search.prove.terms import state_variables
from search.reduction.canonical import canonical
from search.reduction.cases import Case, cases_of
from search.reduction.code import code_of, words_for
from search.reduction.conditions import ConditionFinder
from search.reduction.facts import candidates, proved
from search.reduction.goals import GoalFinder
from search.reduction.observation import observed
from search.reduction.relations import PairCounts, Relating, Seen
from search.reduction.solver import Questions

EFFORT = 200_000
"""How much Z3 may think about one question, in its own unit: some tenths of a second at most."""
SPARE_BITS = 2
"""Numbers after two steps may be larger than those of the model; a question about still larger ones is not asked."""
PARTS = ("walks", "facts", "clashes", "conditions", "causes", "stoppers")
"""What is done one after the other."""
ERROR = -1
"""The number of the claim of a goal that is an error."""


@frozen(eq=False)
class Plan:
    """The relations as bit rows (uint64), the machine code that evaluates atoms, and what was counted on the way."""

    instances: np.ndarray
    """int64 per case: its instance."""
    needs: np.ndarray
    """Per case, the row of its atoms."""
    clashes: np.ndarray
    """Per case, the row of cases."""
    sometimes: np.ndarray
    """Per case, the row of those of them with which it has a condition."""
    pair_numbers: np.ndarray
    """int64[cases, cases]: the number of the condition of two cases, -1 if they have none."""
    pair_needs: np.ndarray
    """Per condition, the row of its atoms: where none is true, the two do not clash."""
    pair_causes: np.ndarray
    """Per condition, the row of cases that make one of its atoms true."""
    causes: np.ndarray
    """Per atom, the row of cases that make it true."""
    stoppers: np.ndarray
    """Per instance, the row of cases that make its guard false where it is true."""
    goal_needs: np.ndarray
    goal_takes: np.ndarray
    goal_claims: np.ndarray
    """int64 per goal: the number of its claim, or ERROR."""
    code: tuple[bytes, ...]
    pairs: PairCounts
    seconds: float = 0.0

    @property
    def digest(self) -> str:
        """A digest of all that decides which instances are taken."""
        digest = hashlib.blake2b(digest_size=16)
        for kept in fields(Plan):
            if kept.name not in ("code", "pairs", "seconds"):
                digest.update(getattr(self, kept.name).tobytes())
        return digest.hexdigest()


@define
class AtomTable:
    """Conditions, each with its number."""

    terms: list[Term] = field(factory=list)
    _numbers: dict[int, int] = field(factory=dict)

    def numbers(self, conditions: Iterable[Term]) -> list[int]:
        """The numbers of some conditions, which are entered if they are new."""
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
        self.part, self.part_began = 0, self.began
        self.lifted: Lifted = lift(model)
        self.leaves = state_variables(self.lifted)
        self.cases: list[Case] = cases_of(self.lifted)
        self.atoms = AtomTable()
        self.needs = [self.atoms.numbers(case.atoms) for case in self.cases]
        self.facts: list[Term] = []
        terms = self.lifted.terms
        width = Solver.width_for(root for action in self.lifted.actions for root in action.roots) + SPARE_BITS
        self.questions = Questions(terms, canonical(model, terms, self.leaves), width, EFFORT)

    def plan(self) -> Plan:
        """The plan."""
        self._tell("walks", 0, 1)
        relating = Relating(self.lifted.terms, self.cases, self.leaves, self.questions)
        seen = self._seen()
        self._find_facts(relating, seen)
        goals = list(GoalFinder(self.lifted, self.cases, self.leaves, self.questions).goals(self.model.claims))
        goal_needs = [self.atoms.numbers(goal.conditions) for goal in goals]
        clashes, pairs = relating.clashes(seen, partial(self._tell, "clashes"))
        numbers, pair_needs = self._conditions(relating, seen, clashes)
        code = code_of(self.model, self.atoms.terms, self.needs)
        causes = relating.causes(self.atoms.terms, seen, partial(self._tell, "causes"))
        stoppers = relating.stoppers(self._final_guards(), partial(self._tell, "stoppers"))
        cases, atoms = len(self.cases), len(self.atoms.terms)
        return Plan(
            instances=np.array([case.instance for case in self.cases], np.int64),
            needs=rows_of(map(mask_of, self.needs), atoms),
            clashes=rows_of(clashes, cases),
            sometimes=rows_of((mask_of(np.flatnonzero(row >= 0).tolist()) for row in numbers), cases),
            pair_numbers=numbers, pair_needs=rows_of(map(mask_of, pair_needs), atoms),
            pair_causes=rows_of((_union(causes[atom] for atom in pair) for pair in pair_needs), cases),
            causes=rows_of(causes, cases),
            stoppers=rows_of(stoppers, cases),
            goal_needs=rows_of(map(mask_of, goal_needs), atoms),
            goal_takes=rows_of((0 if goal.takes is None else 1 << goal.takes for goal in goals), cases),
            goal_claims=np.array([ERROR if g.claim is None else g.claim.index for g in goals], np.int64),
            code=code, pairs=pairs, seconds=time.monotonic() - self.began,
        )  # fmt: skip

    def _conditions(
        self, relating: Relating, seen: Seen, clashes: Sequence[int]
    ) -> tuple[np.ndarray, list[list[int]]]:
        """For pairs of cases the number of their condition (-1: none), and the atoms of each number."""
        finder = ConditionFinder(relating, self.kernel.unpack(seen.states), seen.met)
        numbers, atoms = np.full((len(self.cases), len(self.cases)), -1, np.int64), list[list[int]]()
        pairs = list(finder.pairs(clashes))
        for done, (one, other) in enumerate(pairs):
            self._tell("conditions", done, len(pairs))
            found = finder.condition(one, other)
            if found is not None:
                numbers[one, other] = numbers[other, one] = len(atoms)
                atoms.append(self.atoms.numbers(found))
        return numbers, atoms

    def _final_guards(self) -> list[Term]:
        """Per instance its guard, if it must be disabled where the search looks for all final states; else nothing."""
        ends, t = set(self._ends()), self.lifted.terms
        return [a.guard if number in ends else t.false for number, a in enumerate(self.lifted.actions)]

    def _tell(self, part: str, done: int, total: int) -> None:
        """Report how far a part is; how long it takes is only known of the part that is being done."""
        now, number = time.monotonic(), PARTS.index(part)
        if number != self.part:
            self.part, self.part_began = number, now
        left = f", {(now - self.part_began) * (total - done) / done:.0f} s left of it" if done else ""
        note = f"which steps are independent? part {number + 1} of {len(PARTS)}, {part}: {done:,} of {total:,}{left}"
        self.report(Progress("exhaust", self.questions.asked, "questions", now - self.began, note=note))

    def _seen(self) -> Seen:
        """What walks meet of the cases, and of the atoms that are known so far, those of cases."""
        code = code_of(self.model, self.atoms.terms, self.needs)
        return observed(self.model, self.kernel, self.cases, len(self.atoms.terms), code)

    def _find_facts(self, relating: Relating, seen: Seen) -> None:
        """Let all questions be about states in which what was proved of all reachable ones holds."""
        sample = self.kernel.unpack(seen.states)
        wanted = candidates(self.lifted, self.leaves, sample)
        tell = partial(self._tell, "facts")
        self.facts = proved(relating, self.questions, self.model.initial, wanted, tell)

    def _ends(self) -> Iterator[int]:
        """The instances that must be disabled where the search looks for all final states."""
        for instance in self.model.instances:
            if instance.action.by.system or self.model.scenario.deadlock_is_error:
                yield instance.index


def mask_of(numbers: Iterable[int]) -> int:
    """A bit mask with these bits set."""
    mask = 0
    for number in numbers:
        mask |= 1 << number
    return mask


def _union(masks: Iterable[int]) -> int:
    """All bits of some masks."""
    return reduce(or_, masks, 0)


def rows_of(masks: Iterable[int], bits: int) -> np.ndarray:
    """Bit masks as rows of words that hold so many bits each."""
    words = words_for(bits)
    rows = [np.frombuffer(mask.to_bytes(8 * words, "little"), np.uint64) for mask in masks]
    return np.array(rows, np.uint64).reshape(-1, words)
