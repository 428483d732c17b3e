"""A search by Hypothesis, from settings to a verdict.

Words: a *profile* is a named set of Hypothesis settings: `dev` while writing a model, `ci` the same on every run and
without a database, `nightly` long. A *batch* is one run of Hypothesis, with a seed of its own that comes from the run's
seed and the batch's number. Without a time budget there is one batch; with one, batches follow each other until
something is found or time is up.
"""
from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import count
from types import MappingProxyType

import hypothesis
from attrs import evolve, field, frozen
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis.errors import Unsatisfiable
from hypothesis.stateful import run_state_machine_as_test

from model.language import Claim, Kind, Model
from model.language.errors import unknown
from search.fairness import safety, without_liveness
from search.hypothesis.machine import Falsified, machine_for
from search.hypothesis.tally import Tally
from search.progress import Progress, Report, silent
from search.shrink import shrink
from search.trace import Trace
from search.verdict import DEADLOCK, Answer, Finding, Verdict

# No explain phase, as in `machine_for`; the target phase needs targets, and a model has none.
_PHASES = [Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink]
_COMMON = hypothesis.settings(deadline=None, suppress_health_check=list(HealthCheck), phases=_PHASES)
PROFILES = MappingProxyType({
    "dev": hypothesis.settings(_COMMON, max_examples=100, stateful_step_count=50),
    "ci": hypothesis.settings(
        _COMMON, max_examples=100, stateful_step_count=50, derandomize=True, database=None, print_blob=True
    ),
    "nightly": hypothesis.settings(_COMMON, max_examples=10_000, stateful_step_count=200),
})
"""Settings of Hypothesis by name; `register_profiles` makes them known to Hypothesis itself."""



def register_profiles() -> None:
    """Make `dev`, `ci` and `nightly` known to Hypothesis, so that `--hypothesis-profile` takes them too."""
    for name, settings in PROFILES.items():
        hypothesis.settings.register_profile(name, settings)


class OutOfTime(KeyboardInterrupt):
    """The time budget ended. An interrupt, as Hypothesis takes everything else for a failure of the test."""


def hypothesis_search(
    model: Model,
    *,
    claims: Iterable[Claim] | None = None,
    profile: str = "dev",
    seed: int = 0,
    seconds: float | None = None,
    keep_going: bool = False,
    report: Report = silent,
    command: str = "",
) -> Verdict:
    """Let Hypothesis look for a counterexample to the claims (all of the model's without any), and minimize it.

    It stops at the first claim that falls; with `keep_going` it goes on with the other invariants. Without `seconds`
    the profile's number of examples ends it. UsageError for an unknown profile.
    """
    if profile not in PROFILES:
        raise unknown("profile", profile, PROFILES)
    wanted = tuple(model.claims if claims is None else claims)
    kept = safety(wanted)
    tally, clock = Tally(), Clock(seconds, report)
    tally.on_example = lambda: clock.look(tally)
    settings = hypothesis.settings(PROFILES[profile], verbosity=Verbosity.quiet, report_multiple_bugs=False)
    batches = Batches(model, kept, tally, settings, keep_going=keep_going)
    limit = batches.run(seed, clock)
    verdict = _verdict(model, kept, tally, Ending(seed, clock.seconds, limit, command))
    return without_liveness(verdict, wanted, "Hypothesis")


class Clock:
    """The time budget of a search, which also says twice a second how far it is."""

    def __init__(self, budget: float | None, report: Report) -> None:
        self.budget, self.report, self.started, self.told = budget, report, time.monotonic(), 0.0

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    @property
    def is_up(self) -> bool:
        """Whether the budget is spent; never so without one."""
        return self.budget is not None and self.seconds >= self.budget

    def look(self, tally: Tally) -> None:
        """Raise OutOfTime when the budget is spent; now and then, report."""
        if self.is_up:
            raise OutOfTime
        if self.seconds - self.told >= 0.5:
            self.told = self.seconds
            left = None if self.budget is None else self.budget - self.told
            note = "shrinking" if tally.found else ""
            self.report(Progress("hypothesis", tally.steps, "steps", self.told, left=left, note=note))


@frozen
class Batches:
    """Runs of Hypothesis over one model that share a tally."""

    model: Model
    claims: tuple[Claim, ...]
    tally: Tally
    settings: hypothesis.settings
    keep_going: bool = field(kw_only=True)

    def run(self, seed: int, clock: Clock) -> str | None:
        """Run batches to the end of the budget, or to the first finding; the limit that cut one short, if one did."""
        for batch in count():
            fallen = len(self.tally.found)
            limit = self._batch(derived(seed, batch))
            news = len(self.tally.found) > fallen
            if limit or (news and not self.keep_going) or not (news or clock.budget):
                return limit
            if not self._standing and None in self.tally.found:
                return None
        raise AssertionError  # count() never ends

    def _batch(self, seed: int) -> str | None:
        machine = machine_for(self.model, self._standing, tally=self.tally, deadlocks=self._expects_no_deadlock)
        try:
            run_state_machine_as_test(hypothesis.seed(seed)(machine), settings=self.settings)
        except Falsified:
            return None
        except Unsatisfiable:
            return None  # every example ended where the rules that Hypothesis had switched on could not go on
        except OutOfTime:
            return "time"
        except KeyboardInterrupt:
            return "interrupted"
        return None

    @property
    def _standing(self) -> tuple[Claim, ...]:
        """The claims of the invariants of which none has fallen yet."""
        fallen = {self.model.claims_of(key)[0].invariant for key in self.tally.found if key is not None}
        return tuple(claim for claim in self.claims if claim.invariant not in fallen)

    @property
    def _expects_no_deadlock(self) -> bool:
        return self.model.scenario.deadlock_is_error and None not in self.tally.found


def derived(seed: int, number: int) -> int:
    """The seed of one part of a run: the same on every machine, and unrelated between parts."""
    return int.from_bytes(blake2b(f"{seed}/{number}".encode(), digest_size=8).digest(), "big")


@frozen
class Ending:
    """How a search ended: its seed, how long it took, which limit stopped it early, if one did, and its command."""

    seed: int
    seconds: float
    limit: str | None
    command: str


def _verdict(model: Model, claims: tuple[Claim, ...], tally: Tally, ending: Ending) -> Verdict:
    findings = tuple(sorted(_findings(model, tally, ending.seed), key=lambda f: f.trace.length if f.trace else 0))
    answer, how = _answer(model, tally, findings, ending.limit)
    return Verdict(
        answer=answer,
        how=how,
        engine="hypothesis",
        scenario=model.scenario.name,
        variant=model.variant,
        bounds=model.binding.bounds,
        invariants=tuple(dict.fromkeys(claim.invariant.name for claim in claims)),
        steps=tally.steps,
        walks=tally.examples,
        quiet_states=tally.quiet if any(claim.kind is Kind.WHEN_QUIET for claim in claims) else None,
        seconds=ending.seconds,
        seed=ending.seed,
        bounds_hit=dict(tally.bounds_hit),
        rules=tally.rules(model),
        premises={claim.key: tally.premises[claim.key] for claim in claims},
        findings=findings,
        notes=tuple(_notes(claims, tally, ending)),
        command=ending.command,
        flags=model.asked_flags,
    )


def _findings(model: Model, tally: Tally, seed: int) -> Iterator[Finding]:
    """A finding for each invariant that fell: its shortest trace, minimized further."""
    invariants = {key: key and model.claims_of(key)[0].invariant.name for key in tally.found}
    for name in dict.fromkeys(invariants.values()):
        keys = [key for key in tally.found if invariants[key] == name]
        shortest = shrink(model, evolve(min((tally.found[key] for key in keys), key=_length), seed=seed), seconds=10)
        yield Finding(shortest.claim or DEADLOCK, sum(tally.times[key] for key in keys), shortest)


def _length(trace: Trace) -> int:
    return trace.length


def _answer(model: Model, tally: Tally, findings: tuple[Finding, ...], limit: str | None) -> tuple[Answer, str]:
    """The answer to the shortest finding; without one, how sure its absence is."""
    if findings:
        claim = findings[0].trace.claim if findings[0].trace else None
        if claim is None:
            return Answer.DEADLOCK, "sampled"
        quiet = model.claims_of(claim)[0].kind is Kind.WHEN_QUIET
        return (Answer.BAD_STABLE_STATE if quiet else Answer.VIOLATED), "sampled"
    if limit == "interrupted" or not tally.steps:
        return Answer.UNDECIDED, limit or "no step was possible"
    return Answer.HOLDS, "sampled"


def _notes(claims: tuple[Claim, ...], tally: Tally, ending: Ending) -> Iterator[str]:
    if ending.limit is not None:
        yield f"Stopped by {ending.limit} after {ending.seconds:.1f} s and {tally.examples:,} examples."
    missed = [c.key for c in claims if c.kind is Kind.REACHABLE and c.key not in tally.witnessed]
    if missed:
        yield f"Not met in {tally.examples:,} examples, though it should be possible: {', '.join(missed)}."
