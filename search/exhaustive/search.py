"""Exhaustive search: every reachable state, breadth first, exact, with shortest traces.

Words: a *budget* (time or memory) stops a search before it is finished. A *witness* is a state in which a `reachable`
property is true.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import evolve

from kwalk.model.language import DomainError, Kind, Model, PropertyInstance, UsageError
from kwalk.search.base.components import entry
from kwalk.search.base.options import SearchOptions, StopReason
from kwalk.search.exhaustive.explorer import ExplorationResult, Explorer
from kwalk.search.exhaustive.interfaces import LivenessVerdict
from kwalk.search.exhaustive.layout import Cursor
from kwalk.search.exhaustive.same_length import PropertyHit, together
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.kernel.interface import Kernel
from kwalk.search.kernel.python_comparison import EngineDisagreement
from kwalk.search.native.memory import DEFAULT_SHARE, available_memory
from kwalk.search.results.confirmation import Origin, confirmed_trace, domain_error
from kwalk.search.results.fairness import (
    is_fair_counterexample,
    liveness_properties,
    safety_properties,
    without_liveness,
)
from kwalk.search.results.trace import Trace
from kwalk.search.results.verdict import ActionCount, Answer, Finding, Strength, Verdict
from kwalk.search.results.verdict_builder import VerdictBuilder, answer_to, error_notes


def exhaust(
    model: Model,
    *,
    properties: tuple[PropertyInstance, ...] | None = None,
    memory_bytes: int | None = None,
    kernel: Kernel | None = None,
    **options: Any,
) -> Verdict:
    """Visit every reachable state, breadth first, and check the properties there.

    Args:
        model: The model to search.
        properties: The property instances to check; by default all of the model.
        memory_bytes: The memory budget; by default DEFAULT_SHARE of the available memory.
        kernel: The compiled model; by default it is compiled, or read from the cache.
        **options: Other fields of `SearchOptions`, as keywords. The verdict does not depend on `workers`; `reduce`
            keeps the answers and the lengths of the shortest traces, and checks no properties about behaviours.

    Returns:
        The verdict, with confirmed shortest traces. A spent budget or Ctrl-C gives UNDECIDED.

    Raises:
        DomainError: An action or a property leaves its domain.
        EngineDisagreement: Plain Python and the kernel give different results in some state.
        UsageError: The options do not fit each other or the model.
    """
    checked = model.properties if properties is None else properties
    memory = int(DEFAULT_SHARE * available_memory()) if memory_bytes is None else memory_bytes
    wanted = SearchOptions(checked, memory=memory, **options)
    if wanted.reduce:
        tested = (prop for prop in safety_properties(checked) if not prop.declaration.only_counts)
        wanted = evolve(wanted, properties=tuple(tested))
    verdict = _search(_explorer(model, kernel or kernel_for(model), wanted))
    return without_liveness(verdict, checked, "a search with --reduce") if wanted.reduce else verdict


def _explorer(model: Model, kernel: Kernel, options: SearchOptions) -> Explorer:
    if options.symmetry is None:
        return Explorer(model, kernel, options)
    if options.reduce:
        raise UsageError("Partial-order reduction and symmetry cannot be combined. Leave out --symmetry or --reduce.")
    explorer: Explorer = entry("SymmetricExplorer")(model, kernel, options, options.symmetry)
    return explorer


def _search(explorer: Explorer) -> Verdict:
    explorer.run()
    conclusion = ExhaustiveVerdict(explorer, _liveness(explorer))
    verdict = conclusion.verdict()
    if explorer.saving is not None:
        explorer.saving.end(keep=not conclusion.is_over)
    return verdict


def _liveness(explorer: Explorer) -> tuple[LivenessVerdict, ...]:
    if not any(liveness_properties(explorer.options.properties)):
        return ()
    results: tuple[LivenessVerdict, ...] = entry("check_liveness")(explorer)
    return results


class ExhaustiveVerdict:
    """Makes the verdict of an exploration that has ended."""

    def __init__(self, exploration: ExplorationResult, liveness: tuple[LivenessVerdict, ...] = ()) -> None:
        self.exploration, self.liveness, self.command = exploration, liveness, exploration.options.command
        self.model, self.kernel, self.counts = exploration.model, exploration.kernel, exploration.counts
        self.builder = VerdictBuilder(self.model, exploration.options.properties, "exhaust", self.command)
        self.origin = Origin("exhaust", shortest="exhaust", command=self.command)

    def verdict(self) -> Verdict:
        """Return the verdict, with confirmed traces; DomainError if all there is to report is an error of the model."""
        exploration, cursor = self.exploration, self.exploration.cursor
        error = self._error()
        if error is not None and (exploration.stop_reason is StopReason.FAILURE or not isinstance(error, DomainError)):
            raise error
        found = [(self._trace(hit), hit) for hit in together((*self._violations(), *exploration.found_ahead))]
        found.sort(key=lambda pair: (pair[0].length, pair[1].state))
        missing = self._never_witnessed()
        return self.builder.verdict(
            self._answer([hit for _, hit in found], missing),
            self._strength(),
            stopped=self._stop_reason() if self._stop_reason().is_early else None,
            detail=self._limit(),
            distinct_states=int(cursor[Cursor.STORED]),
            generated_states=exploration.initial + int(cursor[Cursor.GENERATED]),
            depth=int(cursor[Cursor.DEPTH]),
            quiescent_states=self._quiescent_states(),
            seconds=exploration.total_seconds,
            bounds_hit=self.builder.bounds_hit(self.kernel.bounds, self.counts.hits),
            fairness=self.model.fairness.text if self.liveness else "",
            action_counts=self._action_counts(),
            premises=self._premises(),
            compared=exploration.compared,
            sliced_states=exploration.sliced_states,
            states_by_depth=exploration.states_by_depth,
            findings=(
                *(self.builder.finding(hit.prop, hit.count, trace) for trace, hit in found),
                *self._lassos(),
                *(Finding(prop.key, 0) for prop in missing),
            ),
            notes=(
                *error_notes(error),
                *self._notes(missing),
                *self._liveness_notes(),
                *exploration.notes(),
                *self._saving(),
            ),
        )

    # What was found.

    def _error(self) -> Exception | None:
        """Return the error of the model that ended the search, if one did."""
        if self.exploration.failed_state is None:
            return None
        path = self.exploration.path_to(self.exploration.failed_state)
        return domain_error(self.model, self.kernel, path, self.origin, self.exploration.options.properties)

    def _hit(self, prop: PropertyInstance) -> PropertyHit | None:
        state, instance = int(self.counts.first_state[prop.index]), int(self.counts.first_instance[prop.index])
        if state == 0:
            return None
        step = instance if prop.kind is Kind.STEP else None
        return PropertyHit(state - 1, step, prop, int(self.counts.seen[prop.index]))

    def _violations(self) -> Iterator[PropertyHit]:
        cursor = self.exploration.cursor
        for prop in self.exploration.options.properties:
            hit = self._hit(prop)
            if hit is not None and prop.kind is not Kind.REACHABLE:
                yield hit
        if self.model.scenario.deadlock_is_error and cursor[Cursor.DEADLOCKS]:
            yield PropertyHit(int(cursor[Cursor.FIRST_DEADLOCK]), None, None, int(cursor[Cursor.DEADLOCKS]))

    def _never_witnessed(self) -> list[PropertyInstance]:
        """Return the `reachable` properties that a complete search has shown to be unreachable."""
        if self.exploration.stop_reason is not StopReason.COMPLETE:
            return []
        return [prop for prop in self._reachable() if self._hit(prop) is None]

    def _reachable(self) -> list[PropertyInstance]:
        return [prop for prop in self.exploration.options.properties if prop.kind is Kind.REACHABLE]

    def _trace(self, hit: PropertyHit) -> Trace:
        path = self.exploration.path_to(hit.state, hit.step)
        return confirmed_trace(self.model, self.kernel, path, prop=hit.prop, origin=self.origin)

    def _lassos(self) -> Iterator[Finding]:
        """Yield the waits that never end, each with a lasso that plain Python confirms."""
        for result in self.liveness:
            if result.lasso is not None:
                path, loop = result.path(self.exploration)
                origin = Origin("exhaust", command=self.command)
                trace = confirmed_trace(self.model, self.kernel, path, prop=result.prop, origin=origin, loop=loop)
                if not is_fair_counterexample(self.model, result.prop, trace):
                    raise EngineDisagreement(
                        f"Plain Python does not confirm the lasso for {result.prop.key}: {trace.actions}."
                    )
                yield Finding(result.prop.key, result.starts, trace)

    # What it means.

    def _answer(self, hits: list[PropertyHit], missing: list[PropertyInstance]) -> Answer:
        if hits:
            return answer_to(hits[0].prop)
        if any(result.lasso is not None for result in self.liveness):
            return Answer.VIOLATED
        if missing:
            return Answer.NOT_REACHABLE
        return Answer.HOLDS if self._stop_reason() is StopReason.COMPLETE else Answer.UNDECIDED

    def _stop_reason(self) -> StopReason:
        """Return why the search stopped: the exploration, or the liveness search after it."""
        reasons = (result.stop_reason for result in self.liveness if result.stop_reason is not StopReason.VIOLATION)
        return next(filter(None, reasons), self.exploration.stop_reason)

    @property
    def is_over(self) -> bool:
        """Whether the search is finished, so that there is nothing to resume."""
        return self._stop_reason() in (StopReason.COMPLETE, StopReason.VIOLATION)

    def _strength(self) -> Strength:
        return Strength.PARTIAL if self._stop_reason().is_early else Strength.EXHAUSTIVE

    def _limit(self) -> str:
        """Return what stopped the search early, with its amount; "" if nothing did."""
        stop_reason, options = self._stop_reason(), self.exploration.options
        if stop_reason is StopReason.TIME:
            return f"{stop_reason.value} of {options.seconds:g} s"
        if stop_reason is StopReason.MEMORY and self.exploration.states.numbers_exhausted:
            return "32-bit numbers for parts of states"
        if stop_reason is StopReason.MEMORY:
            return f"{stop_reason.value} of {options.memory / 2**30:.3g} GiB"
        return stop_reason.value if stop_reason.is_early else ""

    def _liveness_notes(self) -> Iterator[str]:
        if self.liveness:
            yield from entry("liveness_notes")(self.liveness)

    def _notes(self, missing: list[PropertyInstance]) -> Iterator[str]:
        exploration = self.exploration
        stored, expanded = exploration.stored, exploration.expanded
        if exploration.stop_reason.is_early:
            depth = int(exploration.cursor[Cursor.DEPTH])
            complete = f"depth {depth - 1} complete" if depth else "no depth complete"
            why = (
                "Interrupted" if exploration.stop_reason is StopReason.INTERRUPT else f"Ran out of the {self._limit()}"
            )
            yield f"{why} at {stored:,} states, depth {depth}: {expanded:,} of them are checked, {complete}."
        if exploration.saving is not None:
            yield from exploration.saving.notes(self.command, over=self.is_over)
        for prop in missing:
            yield f"{prop.key} should be reachable, but it is true in none of the {stored:,} reachable states."
        for prop in self._reachable():
            hit = self._hit(prop)
            if hit is not None:
                yield f"{prop.key} is reachable, first in {self._trace(hit).length} steps."
            elif exploration.stop_reason is not StopReason.COMPLETE:
                yield f"{prop.key} was not reached so far."

    # What was counted.

    def _quiescent_states(self) -> int | None:
        reduction = self.exploration.reduction
        known = reduction is None or reduction.finds_quiescent
        return int(self.exploration.cursor[Cursor.QUIESCENT]) if known else None

    def _saving(self) -> Iterator[str]:
        """Yield what a reduced search has saved, and does not count."""
        if self.exploration.reduction is not None:
            in_sleep_set = int(self.exploration.cursor[Cursor.IN_SLEEP_SET])
            yield from self.exploration.reduction.notes(self.counts.enabled_totals, self.counts.blocked, in_sleep_set)

    def _action_counts(self) -> dict[str, ActionCount]:
        """Return the counts of instances; none for a reduced search, which leaves out states where they may fire."""
        if self.exploration.reduction is not None:
            return {}
        taken = self.counts.enabled_totals - self.counts.blocked
        return self.builder.action_counts(self.counts.enabled_totals, taken, taken - self.counts.idle)

    def _premises(self) -> dict[str, int]:
        """Return the counts by key, without the properties about behaviours that were not checked to the end."""
        if self.exploration.reduction is not None:
            return {}
        held, results = self.counts.premise_totals.tolist(), {result.prop: result for result in self.liveness}
        return {
            prop.key: results[prop].premises if prop in results else held[prop.index]
            for prop in self.exploration.options.properties
            if prop not in results or results[prop].stop_reason is None or results[prop].premises
        }
