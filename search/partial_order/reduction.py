"""Partial-order reduction: of the enabled instances, take only those that matter for the properties that are checked.

Words: an *instance* is split into *transition groups* (see `transition_groups`); each has *atoms*, conditions that are
all true where it is enabled. Two groups *do not accord* unless they are proved to be independent. A *goal* is a kind of
state that must not be lost (see `goals`). In each state the search takes a *stubborn set* (see `stubborn_sets`): it is
closed, and has something on every path to every goal. The first of its members on such a path can be moved to the
path's front, so a path of the same length survives, and everything is found at the depth of a full search. Of several
orders of the same steps only one is taken (see `sleep_sets`). docs/explanation/reduction.md has the proof.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from kwalk.model.language import Kind, Model, PropertyInstance
from kwalk.search.base.progress import Report, silent
from kwalk.search.kernel.interface import Kernel, bit_row
from kwalk.search.partial_order.atom_code import FUNCTION, load_atom_code
from kwalk.search.partial_order.plan import ARRAYS, ERROR, PROPERTY_ERROR, ReductionPlan, plan_of
from kwalk.search.partial_order.sleep_sets import SleepSets
from kwalk.search.partial_order.tables import ReductionTables, workspace_words
from kwalk.search.results.vacuity import whole_names


class Reduction:
    """The plan of a model in use for some properties. Its arrays and machine code live as long as this object."""

    def __init__(
        self, model: Model, kernel: Kernel, properties: Iterable[PropertyInstance], report: Report = silent
    ) -> None:
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

    def close(self, found: Iterable[int]) -> None:
        """Stop looking for these properties, but not for their errors.

        Only between two depths, so that any number of workers agrees.
        """
        self.open[np.isin(self.plan.goal_properties, list(found))] = 0

    @property
    def proved(self) -> list[PropertyInstance]:
        """The properties that no state and no step can violate, as Z3 has shown: the search does not look for them."""
        goals = set(self.plan.goal_properties.tolist())
        return [p for p in self.properties if p.kind in (Kind.ALWAYS, Kind.STEP) and p.index not in goals]

    def workspace_words(self, kernel: Kernel) -> int:
        """Return the words of the workspace that one worker needs."""
        group_words, atom_words = self.plan.do_not_accord.shape[1], self.plan.group_atoms.shape[1]
        return workspace_words(group_words, atom_words, kernel.instance_words, kernel.instances, kernel.words)

    def tables(self, kernel: Kernel) -> ReductionTables:
        """Return what the loops need."""
        plan, final = self.plan, self._final_instances
        arrays = {
            name: getattr(plan, name).ctypes.data
            for name in ReductionTables._fields if name in ARRAYS
        }  # fmt: skip
        return ReductionTables(
            groups=len(plan.instances), group_words=plan.do_not_accord.shape[1], atom_words=plan.group_atoms.shape[1],
            row_words=kernel.instance_words, words=kernel.words, guards=kernel.guards, apply=kernel.apply,
            evaluate_atoms=self._machine_code.addresses[FUNCTION], goals=len(self.open),
            goal_open=self.open.ctypes.data, sleep_tables=self.sleep_sets.tables.ctypes.data,
            final_instances=0 if final is None else final.ctypes.data, **arrays,
        )  # fmt: skip

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
        exact = "Quiescent states are counted as in a full search; other" if self.finds_quiescent else "All"
        yield (
            f"{exact} counts are of the states visited: a reduced search does not know which actions never fire, "
            "which premises never hold, or which bounds are never reached."
        )
