"""A search by Hypothesis, from settings to a verdict.

Words: a *profile* is a named set of Hypothesis settings: `dev` while writing a model, `ci` deterministic and without a
database, `nightly` long. A *batch* is one run of Hypothesis; its seed is derived from the seed of the search and the
number of the batch. Without a time budget there is one batch; with one, batches are repeated until a violation is found
or the time is up.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from hashlib import blake2b
from itertools import count
from types import MappingProxyType

import hypothesis
from attrs import evolve, field, frozen
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis.control import current_build_context
from hypothesis.errors import Unsatisfiable
from hypothesis.stateful import run_state_machine_as_test

from kwalk.model.language import Kind, Model, PropertyInstance
from kwalk.search.analyses.hypothesis.machine import Falsified, MachineCounters, machine_for
from kwalk.search.base.options import StopReason
from kwalk.search.base.progress import Progress, Report, silent
from kwalk.search.base.query import Query
from kwalk.search.minimize.shrink import shrink
from kwalk.search.results.fairness import safety_properties, without_liveness
from kwalk.search.results.trace import Trace
from kwalk.search.results.verdict import DEADLOCK, Answer, Finding, Strength, Verdict
from kwalk.search.results.verdict_builder import VerdictBuilder, answer_to

# No explain phase, as in `machine_for`; the target phase needs targets, and a model has none.
_PHASES = [Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink]
_COMMON = hypothesis.settings(deadline=None, suppress_health_check=list(HealthCheck), phases=_PHASES)
PROFILES = MappingProxyType(
    {
        "dev": hypothesis.settings(_COMMON, max_examples=100, stateful_step_count=50),
        "ci": hypothesis.settings(
            _COMMON, max_examples=100, stateful_step_count=50, derandomize=True, database=None, print_blob=True
        ),
        "nightly": hypothesis.settings(_COMMON, max_examples=10_000, stateful_step_count=200),
    }
)
"""Settings of Hypothesis by name; `register_profiles` registers them."""


def register_profiles() -> None:
    """Register `dev`, `ci` and `nightly` with Hypothesis, for `--hypothesis-profile`."""
    for name, settings in PROFILES.items():
        hypothesis.settings.register_profile(name, settings)


class OutOfTime(KeyboardInterrupt):
    """The time budget ended. A KeyboardInterrupt, as Hypothesis treats other exceptions as test failures."""


def hypothesis_search(query: Query, report: Report = silent) -> Verdict:
    """Search for a counterexample with Hypothesis, and minimize it.

    Args:
        query: The model and the properties, with the options `Hypothesis`; without `seconds`, the search ends after
            the profile's number of examples.
        report: Receives progress about twice a second.
    """
    model, options = query.model, query.options
    checked = safety_properties(query.properties)
    counters, clock = MachineCounters(), Clock(options["seconds"], report)
    counters.on_example = lambda: clock.look(counters)
    profile = PROFILES[options["profile"]]
    settings = hypothesis.settings(profile, verbosity=Verbosity.quiet, report_multiple_bugs=False)
    batches = Batches(model, checked, counters, settings, keep_going=options["keep_going"])
    limit = batches.run(options["seed"], clock)
    outcome = HypothesisOutcome(options["seed"], clock.seconds, limit, query.command)
    return without_liveness(_verdict(model, checked, counters, outcome), query.properties, "Hypothesis")


class Clock:
    """The time budget of a search; it also reports progress twice a second."""

    def __init__(self, budget: float | None, report: Report) -> None:
        self.budget, self.report, self.started, self.reported_at = budget, report, time.monotonic(), 0.0

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    @property
    def is_up(self) -> bool:
        """Whether the budget is spent; always false without one."""
        return self.budget is not None and self.seconds >= self.budget

    def look(self, counters: MachineCounters) -> None:
        """Raise OutOfTime when the budget is spent; report progress.

        The final replay of a falsifying example is not cut short: Hypothesis would take it for flaky.
        """
        if self.is_up and not current_build_context().is_final:
            raise OutOfTime
        if self.seconds - self.reported_at >= 0.5:
            self.reported_at = self.seconds
            left = None if self.budget is None else self.budget - self.reported_at
            note = "shrinking" if counters.traces else ""
            self.report(Progress("hypothesis", counters.steps, "steps", self.reported_at, left=left, note=note))


@frozen
class Batches:
    """Runs of Hypothesis over one model with shared counters."""

    model: Model
    properties: tuple[PropertyInstance, ...]
    counters: MachineCounters
    settings: hypothesis.settings
    keep_going: bool = field(kw_only=True)

    def run(self, seed: int, clock: Clock) -> StopReason | None:
        """Run batches to the end of the budget or the first finding; return the limit that stopped one, if any."""
        for batch in count():
            violated = len(self.counters.traces)
            limit = self._batch(derived(seed, batch))
            news = len(self.counters.traces) > violated
            if limit or (news and not self.keep_going) or not (news or clock.budget):
                return limit
            if not self._not_violated and None in self.counters.traces:
                return None
        raise AssertionError  # count() never ends

    def _batch(self, seed: int) -> StopReason | None:
        machine = machine_for(
            self.model, self._not_violated, counters=self.counters, deadlocks=self._expects_no_deadlock
        )
        try:
            run_state_machine_as_test(hypothesis.seed(seed)(machine), settings=self.settings)
        except Falsified:
            return None
        except Unsatisfiable:
            return None  # every example ended in a state in which no rule that Hypothesis had enabled could run
        except OutOfTime:
            return StopReason.TIME
        except KeyboardInterrupt:
            return StopReason.INTERRUPT
        return None

    @property
    def _not_violated(self) -> tuple[PropertyInstance, ...]:
        """The instances of the properties without any violation so far."""
        violated = {self.model.properties_of(key)[0].declaration for key in self.counters.traces if key is not None}
        return tuple(prop for prop in self.properties if prop.declaration not in violated)

    @property
    def _expects_no_deadlock(self) -> bool:
        return self.model.scenario.deadlock_is_error and None not in self.counters.traces


def derived(seed: int, number: int) -> int:
    """Return the seed of one part of a run: the same on every machine, and independent between parts."""
    return int.from_bytes(blake2b(f"{seed}/{number}".encode(), digest_size=8).digest(), "big")


@frozen
class HypothesisOutcome:
    """The end of a search: its seed, its time, the limit that stopped it early (None for none), and its command."""

    seed: int
    seconds: float
    limit: StopReason | None
    command: str


def _verdict(
    model: Model, properties: tuple[PropertyInstance, ...], counters: MachineCounters, ending: HypothesisOutcome
) -> Verdict:
    findings = tuple(sorted(_findings(model, counters, ending.seed), key=lambda f: f.trace.length if f.trace else 0))
    answer, stopped = _answer(model, counters, findings, ending.limit)
    return VerdictBuilder(model, properties, "hypothesis", ending.command).verdict(
        answer,
        Strength.SAMPLED,
        stopped=stopped,
        steps=counters.steps,
        walks=counters.examples,
        quiescent_states=counters.quiescent if any(prop.kind is Kind.WHEN_QUIESCENT for prop in properties) else None,
        seconds=ending.seconds,
        seed=ending.seed,
        bounds_hit=dict(counters.bounds_hit),
        action_counts=counters.action_counts(model),
        premises={prop.key: counters.premises[prop.key] for prop in properties},
        findings=findings,
        notes=tuple(_notes(properties, counters, ending)),
    )


def _findings(model: Model, counters: MachineCounters, seed: int) -> Iterator[Finding]:
    """Yield a finding for each violated property: its shortest trace, minimized further."""
    invariants = {key: key and model.properties_of(key)[0].declaration.name for key in counters.traces}
    for name in dict.fromkeys(invariants.values()):
        keys = [key for key in counters.traces if invariants[key] == name]
        shortest = shrink(
            model, evolve(min((counters.traces[key] for key in keys), key=_length), seed=seed), seconds=10
        )
        yield Finding(shortest.prop or DEADLOCK, sum(counters.times[key] for key in keys), shortest)


def _length(trace: Trace) -> int:
    return trace.length


def _answer(
    model: Model, counters: MachineCounters, findings: tuple[Finding, ...], limit: StopReason | None
) -> tuple[Answer, StopReason | None]:
    """The answer to the shortest finding, or to none; and what stopped the search if it is undecided."""
    if findings:
        prop = findings[0].trace.prop if findings[0].trace else None
        return answer_to(None if prop is None else model.properties_of(prop)[0]), None
    if limit is StopReason.INTERRUPT or not counters.steps:
        return Answer.UNDECIDED, limit or StopReason.NO_STEP
    return Answer.HOLDS, None


def _notes(
    properties: tuple[PropertyInstance, ...], counters: MachineCounters, ending: HypothesisOutcome
) -> Iterator[str]:
    if ending.limit is not None:
        yield f"Stopped ({ending.limit.value}) after {ending.seconds:.1f} s and {counters.examples:,} examples."
    missed = [c.key for c in properties if c.kind is Kind.REACHABLE and c.key not in counters.witnessed]
    if missed:
        yield f"Not reached in {counters.examples:,} examples, though it should be reachable: {', '.join(missed)}."
