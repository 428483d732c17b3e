"""Partial-order reduction: of the enabled instances, take only those that matter for the properties that are checked.

Words: an *instance* is split into *transition groups* (see `transition_groups`); each has *atoms*, conditions that are
all true where it is enabled. Two groups *do not accord* unless they are proved to be independent. A *goal* is a kind of
state that must not be lost (see `goals`). In each state the search takes a *stubborn set* (see `stubborn_sets`): it is
closed, and has something on every path to every goal. The first of its members on such a path can be moved to the
path's front, so a path of the same length survives, and everything is found at the depth of a full search. Of several
orders of the same steps only one is taken (see `sleep_sets`). docs/explanation/reduction.md has the proof.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from functools import cached_property

import numpy as np

from kwalk.model.language import Kind, Model, PropertyInstance, Vector
from kwalk.search.base.progress import Report, silent
from kwalk.search.exhaustive.layout import SuccessorFunctions
from kwalk.search.kernel.calls import KernelCalls
from kwalk.search.kernel.interface import Kernel, bit_numbers, bit_row
from kwalk.search.kernel.python_comparison import EngineDisagreement, disagreement
from kwalk.search.partial_order.atom_code import FUNCTION, load_atom_code
from kwalk.search.partial_order.plan import ARRAYS, ERROR, PROPERTY_ERROR, ReductionPlan, plan_of
from kwalk.search.partial_order.sleep_sets import SleepSets
from kwalk.search.partial_order.stubborn_sets import choose_successors, compute_stubborn_set
from kwalk.search.partial_order.tables import ReductionTables, workspace_words
from kwalk.search.results.vacuity import whole_names


class Reduction:
    """The plan of a model in use for some properties. Its arrays and machine code live as long as this object."""

    def __init__(
        self, model: Model, kernel: Kernel, properties: Iterable[PropertyInstance], report: Report = silent
    ) -> None:
        self.model, self.checked = model, 0
        self.plan: ReductionPlan = plan_of(model, kernel, report)
        self.properties = tuple(properties)
        indices = {prop.index for prop in self.properties}
        self.finds_quiescent = any(prop.kind is Kind.WHEN_QUIESCENT for prop in self.properties)
        self.finds_deadlocks = model.scenario.deadlock_is_error
        wanted = {ERROR, *indices, *(PROPERTY_ERROR - index for index in indices)}
        self.open = np.array([n in wanted for n in self.plan.goal_properties.tolist()], np.int64)
        """Per goal, whether the search still looks for it."""
        self.sleep_sets = SleepSets(kernel.instance_words)
        self._machine_code = load_atom_code(self.plan.code)
        self._final_instances = self._final_row(model, kernel)

    def _final_row(self, model: Model, kernel: Kernel) -> np.ndarray | None:
        """Return the instances that are disabled in the states that are all to be found: quiescent, or deadlocks."""
        if not self.finds_quiescent and not self.finds_deadlocks:
            return None
        ends = (i.index for i in model.instances if i.action.by.system or not self.finds_quiescent)
        return bit_row(ends, kernel.instance_words)

    def close(self, properties: Iterable[int]) -> None:
        """Stop looking for these properties, but not for their errors.

        Only between two depths, so that any number of workers agrees.
        """
        self.open[np.isin(self.plan.goal_properties, list(properties))] = 0

    @property
    def proved(self) -> list[PropertyInstance]:
        """The properties that no state and no step can violate, as Z3 has shown: the search does not look for them."""
        goals = set(self.plan.goal_properties.tolist())
        return [p for p in self.properties if p.kind in (Kind.ALWAYS, Kind.STEP) and p.index not in goals]

    def check(self, kernel: Kernel, packed: np.ndarray) -> None:
        """Execute what is left out in a state of the search, and compare it with what the stubborn set claims of it.

        The set is that of the state without a sleep set. On every path without a member of the set, its enabled
        members stay enabled and can change places with each step, and no property is violated or witnessed that the
        search still looks for, and no final state is reached. That is checked on all paths of one step, and on some
        random ones of up to LONGEST steps. Sleep sets are not checked.

        Args:
            kernel: The kernel of the model.
            packed: The state, uint64[words].

        Raises:
            EngineDisagreement: The stubborn set is wrong.
        """
        state, tables = _Executed(KernelCalls(kernel), packed), self._reduction_tables(kernel)
        workspace = np.zeros(self.workspace_words(kernel), np.uint64)
        self.checked += 1
        if not compute_stubborn_set(tables, state.packed.ctypes.data, state.guards.ctypes.data, workspace.ctypes.data):
            return
        begin = tables.atom_words + 3 * tables.group_words
        members = {int(self.plan.instances[n]) for n in bit_numbers(workspace[begin : begin + tables.group_words])}
        begin += 3 * tables.group_words
        taken = bit_numbers(workspace[begin : begin + tables.row_words])
        path = _Path(self, state, [n for n in taken if state.after(n) is not None])
        for number in bit_numbers(state.guards):
            if number not in taken:
                path.step(state, number)
        chance = random.Random(self.checked)
        for _ in range(PATHS):
            here = state
            for _ in range(LONGEST):
                steps = [n for n in bit_numbers(here.guards) if n not in members and here.after(n) is not None]
                if not steps:
                    break
                here = path.step(here, chance.choice(steps))

    def workspace_words(self, kernel: Kernel) -> int:
        """Return the words of the workspace that one worker needs."""
        group_words, atom_words = self.plan.do_not_accord.shape[1], self.plan.group_atoms.shape[1]
        return 1 + workspace_words(group_words, atom_words, kernel.instance_words, kernel.instances, kernel.words)

    def functions(self, kernel: Kernel) -> SuccessorFunctions:
        """Return what the loops need; it is valid until the next call."""
        self._tables = np.array(self._reduction_tables(kernel), np.int64)
        return SuccessorFunctions(choose=choose_successors.entry, relations=self._tables.ctypes.data)

    def _reduction_tables(self, kernel: Kernel) -> ReductionTables:
        plan, final = self.plan, self._final_instances
        arrays = {name: getattr(plan, name).ctypes.data for name in ReductionTables._fields if name in ARRAYS}
        return ReductionTables(
            groups=len(plan.instances),
            group_words=plan.do_not_accord.shape[1],
            atom_words=plan.group_atoms.shape[1],
            row_words=kernel.instance_words,
            words=kernel.words,
            guards=kernel.guards,
            apply=kernel.apply,
            evaluate_atoms=self._machine_code.addresses[FUNCTION],
            goals=len(self.open),
            goal_open=self.open.ctypes.data,
            sleep_tables=self.sleep_sets.tables.ctypes.data,
            final_instances=0 if final is None else final.ctypes.data,
            **arrays,
        )

    def notes(self, enabled: np.ndarray, not_taken: np.ndarray, in_sleep_sets: int) -> Iterator[str]:
        """Return notes on a search: what the reduction saved, and what the search does not know.

        Args:
            enabled: Per instance, how often it was enabled.
            not_taken: Per instance, how often it was enabled and not taken.
            in_sleep_sets: How often one was not taken only because it was in the sleep set.
        """
        plan, pairs, total = self.plan, self.plan.pairs, int(enabled.sum())
        taken = total - int(not_taken.sum())
        percent = f" ({100 * taken / total:.0f} %)" if total else ""
        proved = self.proved
        if proved:
            names = ", ".join(whole_names((prop.key for prop in proved), self.properties))
            them = "it" if len(proved) == 1 else "them"
            yield f"Proved by induction, so that no state was visited for {them}: {names}."
        yield (
            f"Partial-order reduction: {taken:,} of {total:,} enabled instances were taken{percent}; "
            f"{in_sleep_sets:,} more were in sleep sets, as another order of the same steps was taken."
        )
        if self.sleep_sets.depths_without:
            yield f"{self.sleep_sets.depths_without:,} depths had no sleep sets, as there was no memory for them."
        yield (
            f"Of {pairs.all:,} pairs of transition groups, {pairs.by_sets:,} are independent by what they read and "
            f"write, {pairs.by_z3:,} by Z3; {pairs.dependent:,} are dependent, {pairs.unknown:,} unknown; "
            f"{len(plan.condition_atoms):,} of these depend on each other in some states only (analysis: "
            f"{plan.seconds:.0f} s)."
        )
        if self.checked:
            states = f"{self.checked:,} state{'s' * (self.checked != 1)}"
            yield f"In {states} what is left out was executed: it is independent of what is taken, and reaches no goal."
        exact = "Quiescent states are counted as in a full search; other" if self.finds_quiescent else "All"
        yield (
            f"{exact} counts are of the states visited: a reduced search does not know which actions never fire, "
            "which premises never hold, or which bounds are never reached."
        )


PATHS, LONGEST = 4, 16
"""Random paths of each state that is checked, and their length."""


class _Path:
    """The check of steps on paths from a state without a member of its stubborn set.

    Args:
        reduction: The reduction.
        start: The state.
        members: The enabled members of the set.
    """

    def __init__(self, reduction: Reduction, start: _Executed, members: list[int]) -> None:
        self.start, self.members, self.model, self.final = start, members, reduction.model, reduction._final_instances
        goals = zip(reduction.plan.goal_properties.tolist(), reduction.open, strict=True)
        closed = {number for number, is_open in goals if not is_open}
        self.properties = [prop for prop in reduction.properties if prop.index not in closed]

    def step(self, here: _Executed, number: int) -> _Executed:
        """Check a step from a state on a path, and return the state after it; EngineDisagreement if it is wrong."""
        after = here.after(number)
        if after is None:
            raise self._wrong(number, "a bound or an error blocks it")
        for one in self.members:
            first, second = here.after(one), after.after(one)
            other = None if first is None else first.after(number)
            if second is None or other is None or (second.packed != other.packed).any():
                raise self._wrong(number, f"{self.model.instances[one].key} depends on it")
        for prop in self.properties:
            false = here.false_after(number) if prop.kind is Kind.STEP else after.false - self.start.false
            if prop.index in false:
                raise self._wrong(number, f"it leads to what {prop.key} is about")
        if self.final is not None and (self.start.guards & self.final).any() and not (after.guards & self.final).any():
            raise self._wrong(number, "it leads to a final state")
        return after

    def _wrong(self, number: int, why: str) -> EngineDisagreement:
        vector: Vector = tuple(self.start.calls.kernel.unpack(self.start.packed[None])[0].tolist())
        text = f"The partial-order reduction leaves out {self.model.instances[number].key}, but {why}"
        return disagreement(self.model, vector, text)


class _Executed:
    """A packed state with what the kernel computes of it: its guards, its properties and its successors."""

    def __init__(self, calls: KernelCalls, packed: np.ndarray) -> None:
        self.calls, self.packed = calls, np.array(packed, np.uint64)
        self._after: dict[int, _Executed | None] = {}

    @cached_property
    def guards(self) -> np.ndarray:
        """The row of instances whose guard is true."""
        return self.calls.guards(self.packed)

    @cached_property
    def false(self) -> set[int]:
        """The numbers of the properties that are false here, without `when_quiescent` and `step` properties."""
        return set(bit_numbers(self.calls.check(self.packed, quiescent=False)[0]))

    def after(self, number: int) -> _Executed | None:
        """Return the state after an instance; None if its guard is false, or a bound or an error blocks it."""
        if number not in self._after:
            after = np.zeros_like(self.packed)
            is_enabled = int(self.guards[number // 64]) >> (number % 64) & 1
            code = self.calls.apply(number, self.packed, after) if is_enabled else 1
            self._after[number] = None if code else _Executed(self.calls, after)
        return self._after[number]

    def false_after(self, number: int) -> set[int]:
        """Return the numbers of the `step` properties that are false on the step that an enabled instance takes."""
        after = self.after(number)
        assert after is not None
        return set(bit_numbers(self.calls.check_step(self.packed, after.packed)[0]))
