"""Exhaustive search by sets of states: the verdict of `exhaust --symbolic`.

All reachable states are found first, without their depths. Then each property is evaluated once for what its states can
tell apart, and states are counted. For a shortest trace, the search goes level by level from the initial states until a
level has a violation, and back from there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from threading import Thread
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve, field, frozen

from kwalk.model.language import Kind, Model, PropertyInstance
from kwalk.search.base.options import SearchOptions, StopReason
from kwalk.search.base.progress import Progress
from kwalk.search.kernel.compared import Compared
from kwalk.search.kernel.compile.layout import layout_of
from kwalk.search.kernel.interface import Kernel
from kwalk.search.kernel.interpreted import interpreted_kernel
from kwalk.search.native.memory import DEFAULT_SHARE, available_memory
from kwalk.search.results.confirmation import Origin, PackedPath, confirmed_trace, domain_error, extended_path
from kwalk.search.results.fairness import without_liveness
from kwalk.search.results.verdict import Answer, Finding, Strength, Verdict
from kwalk.search.results.verdict_builder import VerdictBuilder, answer_to, error_notes
from kwalk.search.symbolic.census import MOST_STATES, number_of_states
from kwalk.search.symbolic.comparison import SetComparison
from kwalk.search.symbolic.compiled import compiled_rules
from kwalk.search.symbolic.components import components_of, in_good_order
from kwalk.search.symbolic.conditions import What
from kwalk.search.symbolic.counts import Counts
from kwalk.search.symbolic.engine import Stopped, SymbolicEngine
from kwalk.search.symbolic.reachability import Reachability, States, without

if TYPE_CHECKING:
    from kwalk.search.symbolic.checkpoint import SetCheckpoints

LOOK = 0.2
"""Seconds between two looks at the clock while the search runs in its thread."""


def exhaust_symbolically(
    model: Model,
    *,
    properties: tuple[PropertyInstance, ...] | None = None,
    memory_bytes: int | None = None,
    **options: Any,
) -> Verdict:
    """Find every reachable state as sets of states, and check the properties there.

    Args:
        model: The model to search.
        properties: The property instances to check; by default all. Those about behaviours are not checked.
        memory_bytes: The memory budget; by default DEFAULT_SHARE of the available memory.
        **options: Other fields of `SearchOptions`, as keywords: `keep_going`, `seconds`, `report`, …

    Returns:
        The verdict, with confirmed shortest traces: of all violated properties with `keep_going`, otherwise of those
        whose trace is shortest. A spent budget or Ctrl-C gives UNDECIDED.

    Raises:
        DomainError: An action or a property leaves its domain.
        EngineDisagreement: Plain Python and the sets give different results in some state.
        LiftError: The model cannot be lifted.
    """
    checked = model.properties if properties is None else properties
    memory = int(DEFAULT_SHARE * available_memory()) if memory_bytes is None else memory_bytes
    search = SymbolicSearch(model, SearchOptions(checked, memory=memory, **options))
    return without_liveness(search.verdict(), checked, "a symbolic search")


@frozen(eq=False)
class Violation:
    """States that violate a property, or from which a step does, or where the model has an error.

    Args:
        prop: The property; None for a deadlock or an error of an action.
        states: The states.
        count: How many states, or steps, there are.
        step: For a step, its instance.
        is_error: Whether the model has an error there.
    """

    prop: PropertyInstance | None
    states: States
    count: int
    step: int | None = None
    is_error: bool = False

    @property
    def is_witness(self) -> bool:
        """Whether a `reachable` property is true there, which is no violation."""
        return self.prop is not None and self.prop.kind is Kind.REACHABLE and not self.is_error


@frozen(eq=False)
class Found:
    """A violation, with a shortest path to it."""

    violation: Violation
    path: PackedPath = field(repr=False)

    @property
    def length(self) -> int:
        """The number of steps, with that of an action which raises an error."""
        is_of_action = self.violation.is_error and self.violation.prop is None
        return len(self.path.instances) + is_of_action


class SymbolicSearch:
    """One search."""

    def __init__(self, model: Model, options: SearchOptions) -> None:
        self.model, self.options = model, options
        self.kernel: Kernel = interpreted_kernel(model)  # for few states; a compiled one takes seconds to make
        compiled = self.compiled = compiled_rules(model)
        groups, layout = compiled.rules[: len(compiled.instances)], layout_of(model.leaves)
        components = components_of([leaf.path for leaf in model.leaves], layout.widths) or [frozenset()]
        initial = self.kernel.pack(np.array(model.initial, np.int64).reshape(len(model.initial), -1))
        self.engine = SymbolicEngine(
            layout, in_good_order(components, [rule.leaves for rule in groups]), initial, options.memory
        )
        self.engine.add(compiled.rules, compiled.loaded())
        steps = {number: compiled.instances[number] for number, rule in enumerate(groups) if rule.writes}
        self.engine.begin_with(steps)
        checked = {None, *options.checked}
        self.sets = {which: rule for which, rule in compiled.sets if which.prop in checked}
        self.reachability = Reachability(self.engine, steps, initial)
        self.initial = len(initial)
        self.saving = None if options.checkpoint is None else self._checkpoints()
        self.compared = Compared()
        self.seconds = 0.0

    def _checkpoints(self) -> SetCheckpoints:
        from kwalk.search.symbolic.checkpoint import SetCheckpoints

        return SetCheckpoints(self.model, self.kernel, self.reachability, self.options)

    # The run.

    def verdict(self) -> Verdict:
        """Search, and return the verdict."""
        began = time.monotonic()
        result: list[Verdict] = []
        stop_reason = self._in_thread(lambda: result.append(self._search(began)), began)
        self.seconds = time.monotonic() - began
        if self.saving is None:
            return self._undecided(stop_reason) if stop_reason else evolve(result[0], seconds=self.seconds)
        if stop_reason is not None:
            self._save()
        verdict = result[0] if stop_reason is None else self._undecided(stop_reason)
        self.saving.end(keep=stop_reason is not None)
        notes = self.saving.notes(self.options.command, over=stop_reason is None)
        return evolve(verdict, seconds=self.saving.before + self.seconds, notes=(*verdict.notes, *notes))

    def _save(self) -> None:
        """Take a checkpoint."""
        assert self.saving is not None
        self.options.report(self._progress(self.seconds, "a checkpoint is saved"))
        self.saving.seconds = self.seconds
        self.saving.take()

    def _progress(self, spent: float, note: str = "") -> Progress:
        memory, budget = self.engine.used, self.options.memory
        nodes = self.engine.nodes
        return Progress("exhaust", nodes, "nodes of diagrams", spent, note=note, memory=memory, memory_budget=budget)

    def _in_thread(self, work: Callable[[], None], began: float) -> StopReason | None:
        """Do work in another thread, which this one can stop; return why it was stopped, None if it is done."""
        failure: list[BaseException] = []

        def run() -> None:
            try:
                work()
            except BaseException as error:
                failure.append(error)

        thread, reason, seconds = Thread(target=run, daemon=True), StopReason.MEMORY, self.options.seconds
        thread.start()
        while thread.is_alive():
            try:
                thread.join(LOOK)
                spent = time.monotonic() - began
                if seconds is not None and spent >= seconds and reason is StopReason.MEMORY and thread.is_alive():
                    reason = StopReason.TIME
                if reason is not StopReason.MEMORY:
                    self.engine.stop()
                self.options.report(self._progress(spent))
            except KeyboardInterrupt:
                reason = StopReason.INTERRUPT
        if not failure:
            return None
        if isinstance(failure[0], Stopped):
            return reason
        raise failure[0]

    def _search(self, began: float) -> Verdict:
        self.reachability.run(lambda: self._pause(began))
        self.engine.make_room_for_counts()
        self.counts = Counts(self.model, self.compiled, self.sets, self.reachability)
        violations = list(self._violations())
        self.counts.close()
        found = self._with_paths([one for one in violations if not one.is_witness])
        error = self._error(found)
        if self.options.compare:
            comparison = SetComparison(
                self.model,
                self.kernel,
                self.reachability,
                self.compiled,
                sets=self.sets,
                properties=self.options.properties,
            )
            comparison.run(began, [one.path.states[-1] for one in found])
            self.compared = comparison.compared
        self.seconds = time.monotonic() - began
        return self._complete(violations, found, error)

    def _pause(self, began: float) -> None:
        """Take a checkpoint if it is due."""
        if self.saving is not None:
            self.saving.seconds = time.monotonic() - began
            self.saving.take_if_due()

    def _violations(self) -> Iterator[Violation]:
        """Yield the violations of all properties, the witnesses of those that are `reachable`, and the errors."""
        found = list(self.counts.violations())
        for which, step, states, count in found:
            prop = None if which.prop is None else self.model.properties[which.prop]
            failed = [here for other, at, here, _ in found if other == evolve(which, what=What.FAILED) and at == step]
            if which.what is What.FALSE and states and failed:  # the terms of a property that fails are false
                states = without(self.engine, states, failed)
                if not states:
                    continue
                self.reachability.keep(states)
                count = number_of_states(self.engine, states)
            yield Violation(prop, states, count, step, is_error=which.what is not What.FALSE)
        if self.model.scenario.deadlock_is_error and (dead := self.counts.without_enabled(all_instances=True)):
            yield Violation(None, dead, number_of_states(self.engine, dead))

    # Shortest paths.

    def _with_paths(self, violations: Sequence[Violation]) -> list[Found]:
        """Return violations with shortest paths: of all properties with `keep_going`, else the shortest ones only."""
        waiting, found, length = list(violations), list[Found](), 0
        search = self.reachability
        while waiting and search.next_level():
            here = [(one, both) for one in waiting if (both := search.common(search.levels[-1], one.states))]
            for one, both in here:
                waiting.remove(one)
                path = search.path_to(self._state_of(both), length)
                if one.step is not None:
                    path = extended_path(self.kernel, path, (one.step,))
                found.append(Found(one, path))
            if not self.options.keep_going and any(one.length <= length for one in found):
                break
            length += 1
        found.sort(key=lambda one: one.length)
        if found and not self.options.keep_going:
            found = [one for one in found if one.length == found[0].length]
        return found

    def _state_of(self, states: States) -> np.ndarray:
        mode = min(states)
        return self.engine.state(mode, states[mode])

    def _error(self, traced: Sequence[Found]) -> Exception | None:
        """Return the error of the model that has the shortest path; raise it if no violation has one as short."""
        errors = [one for one in traced if one.violation.is_error]
        if not errors:
            return None
        path = errors[0].path
        if errors[0].violation.step is not None:
            path = PackedPath(path.states[:-1], path.instances[:-1])
        origin = Origin("exhaust", shortest="exhaust", command=self.options.command)
        error = domain_error(self.model, self.kernel, path, origin, self.options.properties)
        if not any(not one.violation.is_error and one.length <= errors[0].length for one in traced):
            raise error
        return error

    # The verdict.

    def _builder(self) -> VerdictBuilder:
        return VerdictBuilder(self.model, self.options.properties, "exhaust", self.options.command)

    def _undecided(self, reason: StopReason) -> Verdict:
        detail = {
            StopReason.TIME: f"{reason.value} of {self.options.seconds or 0:g} s",
            StopReason.MEMORY: f"{reason.value} of {self.options.memory / 2**30:.3g} GiB",
        }.get(reason, reason.value)
        return self._builder().verdict(
            Answer.UNDECIDED,
            Strength.PARTIAL,
            stopped=reason,
            detail=detail,
            seconds=self.seconds,
            notes=(self._stop_note(),),
        )

    def _stop_note(self) -> str:
        what = "knew" if self.reachability.waiting else "had counted and checked"
        return f"The symbolic search stopped before it {what} all states, with {self.engine.nodes:,} nodes of diagrams."

    def _complete(self, violations: Sequence[Violation], traced: Sequence[Found], error: Exception | None) -> Verdict:
        counts, builder = self.counts, self._builder()
        seen = {one.prop.index for one in violations if one.prop is not None and not one.is_error}
        missing = [prop for prop in self.options.properties if prop.kind is Kind.REACHABLE and prop.index not in seen]
        bad = [
            one for one in violations if not one.is_error and (one.prop is None or one.prop.kind is not Kind.REACHABLE)
        ]
        hits = dict.fromkeys(self.kernel.bounds, 0)
        for which, count in counts.blocked.items():
            hits[which.bound] += count
        total = counts.everywhere.total
        return builder.verdict(
            self._answer(traced, bad, missing),
            Strength.EXHAUSTIVE,
            distinct_states=total if total < MOST_STATES else None,
            generated_states=self.initial + sum(counts.firings),
            quiescent_states=counts.at_rest.total,
            seconds=self.seconds,
            bounds_hit=builder.bounds_hit(hits, hits.values()),
            action_counts=builder.action_counts(counts.enabled, counts.firings, counts.changed),
            premises=dict(self._premises()),
            compared=self.compared if self.options.compare else None,
            findings=tuple(self._findings(traced, bad, missing)),
            notes=(*error_notes(error), *self._notes(violations, missing, total)),
        )

    @staticmethod
    def _answer(traced: Sequence[Found], bad: Sequence[Violation], missing: Sequence[PropertyInstance]) -> Answer:
        first = next((one.violation for one in traced if not one.violation.is_error), None)
        if first is not None:
            return answer_to(first.prop)
        assert not bad, "a violation has no path"
        return Answer.NOT_REACHABLE if missing else Answer.HOLDS

    def _findings(
        self, traced: Sequence[Found], bad: Sequence[Violation], missing: Sequence[PropertyInstance]
    ) -> Iterator[Finding]:
        origin = Origin("exhaust", shortest="exhaust", command=self.options.command)
        keys = set[int | None]()
        for one in traced:
            prop = one.violation.prop
            number = None if prop is None else prop.index
            if one.violation.is_error or number in keys:
                continue
            keys.add(number)
            count = sum(each.count for each in bad if each.prop is prop)
            trace = confirmed_trace(self.model, self.kernel, one.path, prop=prop, origin=origin)
            yield VerdictBuilder.finding(prop, count, trace)
        for prop in missing:
            yield Finding(prop.key, 0)

    def _notes(self, violations: Sequence[Violation], missing: Sequence[PropertyInstance], total: int) -> Iterator[str]:
        yield f"{total:,} states are {self.engine.nodes:,} nodes of diagrams over {self.engine.levels} components."
        for prop in missing:
            yield f"{prop.key} should be reachable, but it is true in none of the {total:,} reachable states."
        for one in violations:
            if one.prop is not None and one.is_witness:
                yield f"{one.prop.key} is reachable, in {one.count:,} states."

    def _premises(self) -> Iterator[tuple[str, int]]:
        for prop in self.options.properties:
            if not prop.kind.is_liveness:
                yield prop.key, self.counts.premises.get(prop.index, 0)
