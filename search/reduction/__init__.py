"""Partial-order reduction: of the enabled instances take only those that matter for what is asked.

Words: an *instance* is cut into *cases* (see `cases`), and each case has *atoms*, conditions that are all true where
it is enabled. Two cases *clash* unless they were proved independent. A *goal* is a kind of state that must not be lost
(see `goals`). In each state the search takes a *stubborn set* (see `search.loops.stubborn`): closed, and with
something on every path to every goal. Then the first of its members on such a path can be moved to the path's front,
so that a path of the same length survives, and what is found is as shallow as ever. docs/explanation/reduction.md says
why.
"""
from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from model.language import Claim, Kind, Model
from search.kernel import Kernel, bit_row
from search.loops.stubborn import SleepSets, Stubborn, room_words
from search.progress import Report, silent
from search.reduction.cache import ARRAYS, plan_of
from search.reduction.code import NAME, loaded
from search.reduction.plan import ERROR, Plan


class Reduction:
    """A plan in use for some claims: arrays and machine code, which live as long as this object."""

    def __init__(self, model: Model, kernel: Kernel, claims: Iterable[Claim], report: Report = silent) -> None:
        self.plan: Plan = plan_of(model, kernel, report)
        self.claims = tuple(claims)
        self.asked = {claim.index for claim in self.claims}
        self.machine_code = loaded(self.plan.code)
        self.finds_quiet = any(claim.kind is Kind.WHEN_QUIET for claim in model.claims if claim.index in self.asked)
        self.finds_deadlocks = model.scenario.deadlock_is_error
        self.final_row = self._final_row(model, kernel)
        wanted = [claim == ERROR or claim in self.asked for claim in self.plan.goal_claims.tolist()]
        self.open = np.array(wanted, np.int64)
        self.sleep_sets = SleepSets(kernel.instance_words)

    def _final_row(self, model: Model, kernel: Kernel) -> np.ndarray | None:
        """The instances that are all disabled in the states that must all be found: quiet ones, or deadlocks."""
        if not self.finds_quiet and not self.finds_deadlocks:
            return None
        ends = (i.index for i in model.instances if i.action.by.system or not self.finds_quiet)
        return bit_row(ends, kernel.instance_words)

    def close(self, found: Iterable[int]) -> None:
        """Seek no more states that show these claims. Only between two depths, so that any number of workers agrees."""
        self.open[np.isin(self.plan.goal_claims, list(found))] = 0

    @property
    def settled(self) -> list[Claim]:
        """The claims that no state and no step can violate, as Z3 has shown: there is nothing to seek for them."""
        sought = set(self.plan.goal_claims.tolist())
        return [c for c in self.claims if c.kind in (Kind.ALWAYS, Kind.STEP) and c.index not in sought]

    def room(self, kernel: Kernel) -> int:
        """The words of room that one worker needs."""
        plan = self.plan
        relations = plan.clashes.shape[1], plan.needs.shape[1], kernel.instance_words
        return room_words(relations, kernel.instances, kernel.words)

    def stubborn(self, kernel: Kernel) -> Stubborn:
        """What the loops need."""
        plan = self.plan
        rows = {
            name: getattr(plan, name).ctypes.data
            for name in Stubborn._fields if name in ARRAYS
        }
        return Stubborn(
            cases=len(plan.instances), case_words=plan.clashes.shape[1], atom_words=plan.needs.shape[1],
            row_words=kernel.instance_words, words=kernel.words, guards=kernel.guards, apply=kernel.apply,
            board=self.sleep_sets.board.ctypes.data,
            atoms=self.machine_code.addresses[NAME], goals=len(self.open), goal_open=self.open.ctypes.data,
            final_row=0 if self.final_row is None else self.final_row.ctypes.data, **rows,
        )  # fmt: skip
