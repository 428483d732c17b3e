"""Exhaustive search: every reachable state, breadth first, exact, with shortest traces.

Words: a *budget* (time or memory) ends a search without a verdict. A *witness* is a state in which a `reachable` claim
is true.
"""
from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from model.language import Claim, Kind, Model, UsageError
from search.checkpoint import Checkpoint
from search.confirm import EngineDisagreement, Origin, confirmed, domain_error
from search.exploration import Ending, Exploration, Wish
from search.explored import Explored
from search.fairness import never_ends, safety, without_liveness
from search.kernel import Kernel
from search.liveness import Waits, look_through_waits, told
from search.loops.frontier import ASLEEP, DEADLOCKS, DEPTH, FIRST_DEADLOCK, GENERATED, NEXT, QUIET, SIZE
from search.loops.memory import SHARE, available_memory
from search.progress import Report, silent
from search.trace import Trace
from search.verdict import DEADLOCK, Answer, Finding, RuleCount, Verdict


def exhaust(
    model: Model,
    *,
    claims: tuple[Claim, ...] | None = None,
    keep_going: bool = False,
    seconds: float | None = None,
    memory_bytes: int | None = None,
    workers: int = 1,
    report: Report = silent,
    kernel: Kernel | None = None,
    checkpoint: Checkpoint | None = None,
    symmetry: str | None = None,
    command: str = "",
    reduce: bool = False,
) -> Verdict:
    """Visit every reachable state and check the claims (by default all) there; at a violation, stop or `keep_going`.

    With `symmetry`, states that differ only by the names of that domain's members count as one; UsageError if they are
    not interchangeable. With `reduce`, states that make no difference to the claims' answers and shortest traces are
    left out; `eventually` claims are then not looked at, and the verdict says so; UsageError for symmetry.
    DomainError if an action leaves its domain. A spent budget or Ctrl-C gives a partial verdict, UNDECIDED.
    """
    asked = model.claims if claims is None else claims
    wish = Wish(
        safety(asked) if reduce else asked, keep_going=keep_going, seconds=seconds, workers=workers,
        memory=int(SHARE * available_memory()) if memory_bytes is None else memory_bytes, report=report,
        checkpoint=checkpoint, reduce=reduce,
    )  # fmt: skip
    kernel = kernel or _compiled(model)
    exploration = Exploration(model, kernel, wish) if symmetry is None else _by_orbits(model, kernel, wish, symmetry)
    exploration.run()
    conclusion = Conclusion(exploration, look_through_waits(exploration), command)
    verdict = conclusion.verdict()
    if reduce:
        verdict = without_liveness(verdict, asked, "a search with --reduce")
    if exploration.saving is not None:
        exploration.saving.end(keep=not conclusion.is_over)
    return verdict


def _by_orbits(model: Model, kernel: Kernel, wish: Wish, domain: str) -> Exploration:
    from search.symmetry import OrbitExploration

    if wish.reduce:
        raise UsageError("A reduced search does not use symmetry so far. Leave out --symmetry, or --reduce.")
    return OrbitExploration(model, kernel, wish, domain)


def _compiled(model: Model) -> Kernel:
    from search.compile import kernel_for

    return kernel_for(model)


@frozen
class Sighting:
    """The first place where a claim (None: deadlock freedom) fails or is witnessed: a state, or a step from it."""

    state: int
    step: int | None
    claim: Claim | None
    count: int

    @property
    def answer(self) -> Answer:
        """What it means for the verdict."""
        if self.claim is None:
            return Answer.DEADLOCK
        return Answer.BAD_STABLE_STATE if self.claim.kind is Kind.WHEN_QUIET else Answer.VIOLATED


class Conclusion:
    """The verdict of an exploration that has ended."""

    def __init__(self, exploration: Explored, waits: tuple[Waits, ...], command: str) -> None:
        self.done, self.waits, self.command = exploration, waits, command
        self.model, self.kernel, self.counts = exploration.model, exploration.kernel, exploration.counts
        self.origin = Origin("exhaust", shortest="exhaust", command=command)

    def verdict(self) -> Verdict:
        """The verdict, with confirmed traces; DomainError if that is how the search ended."""
        done, cursor = self.done, self.done.cursor
        if done.ending is Ending.FAILURE:
            path = done.path_to(int(cursor[NEXT]))
            raise domain_error(self.model, self.kernel, path, self.origin)
        sightings = sorted(self._violations(), key=lambda s: (s.state, s.step is not None))
        missing = self._never_witnessed()
        return Verdict(
            answer=self._answer(sightings, missing), how=self._how(), engine="exhaust",
            scenario=self.model.scenario.name, variant=self.model.variant, bounds=self.model.binding.bounds,
            flags=self.model.asked_flags,
            invariants=tuple(dict.fromkeys(claim.invariant.name for claim in done.wish.claims)),
            distinct_states=int(cursor[SIZE]), generated_states=done.initial + int(cursor[GENERATED]),
            depth=int(cursor[DEPTH]), quiet_states=self._quiet_states(), seconds=done.seconds_in_all,
            bounds_hit=self._bounds_hit(), rules=self._rules(), premises=self._premises(), command=self.command,
            findings=(*map(self._finding, sightings), *self._endless(), *(Finding(claim.key, 0) for claim in missing)),
            notes=(*self._notes(missing), *told(self.waits), *done.notes(), *self._saving()),
        )  # fmt: skip

    # What was found.

    def _seen(self, claim: Claim) -> Sighting | None:
        state, instance = int(self.counts.first_state[claim.index]), int(self.counts.first_instance[claim.index])
        if state == 0:
            return None
        step = instance if claim.kind is Kind.STEP else None
        return Sighting(state - 1, step, claim, int(self.counts.seen[claim.index]))

    def _violations(self) -> Iterator[Sighting]:
        cursor = self.done.cursor
        for claim in self.done.wish.claims:
            sighting = self._seen(claim)
            if sighting is not None and claim.kind is not Kind.REACHABLE:
                yield sighting
        if self.model.scenario.deadlock_is_error and cursor[DEADLOCKS]:
            yield Sighting(int(cursor[FIRST_DEADLOCK]), None, None, int(cursor[DEADLOCKS]))

    def _never_witnessed(self) -> list[Claim]:
        """The reachable claims that a complete search has shown to be unreachable."""
        if self.done.ending is not Ending.COMPLETE:
            return []
        return [claim for claim in self._reachable() if self._seen(claim) is None]

    def _reachable(self) -> list[Claim]:
        return [claim for claim in self.done.wish.claims if claim.kind is Kind.REACHABLE]

    def _trace(self, sighting: Sighting) -> Trace:
        path = self.done.path_to(sighting.state, sighting.step)
        return confirmed(self.model, self.kernel, path, claim=sighting.claim, origin=self.origin)

    def _finding(self, sighting: Sighting) -> Finding:
        name = DEADLOCK if sighting.claim is None else sighting.claim.key
        return Finding(name, sighting.count, self._trace(sighting))

    def _endless(self) -> Iterator[Finding]:
        """The waits that never end, each with a lasso that plain Python confirms."""
        for waits in self.waits:
            if waits.lasso is not None:
                path, loop = waits.path(self.done)
                origin = Origin("exhaust", command=self.command)
                trace = confirmed(self.model, self.kernel, path, claim=waits.claim, origin=origin, loop=loop)
                if not never_ends(self.model, waits.claim, trace):
                    raise EngineDisagreement(f"Plain Python says that {waits.claim.key} is no lasso: {trace.actions}.")
                yield Finding(waits.claim.key, waits.beginnings, trace)

    # What it means.

    def _answer(self, sightings: list[Sighting], missing: list[Claim]) -> Answer:
        if sightings:
            return sightings[0].answer
        if missing or any(waits.lasso is not None for waits in self.waits):
            return Answer.VIOLATED
        return Answer.HOLDS if self._ending() is Ending.COMPLETE else Answer.UNDECIDED

    def _ending(self) -> Ending:
        """Why it ended: for claims on waits, the exploration is only the beginning."""
        early = (waits.ending for waits in self.waits if waits.ending not in (None, Ending.VIOLATION))
        return next(early, None) or self.done.ending

    @property
    def is_over(self) -> bool:
        """Whether the search has nothing left to do."""
        return self._ending() in (Ending.COMPLETE, Ending.VIOLATION)

    def _how(self) -> str:
        ending, wish = self._ending(), self.done.wish
        if ending is Ending.TIME:
            return f"{ending.value} of {wish.seconds:g} s"
        if ending is Ending.MEMORY and self.done.states.numbers_are_spent:
            return "numbers for parts of states"
        if ending is Ending.MEMORY:
            return f"{ending.value} of {wish.memory / 1e9:.3g} GB"
        return Ending.INTERRUPT.value if ending is Ending.INTERRUPT else Ending.COMPLETE.value

    def _notes(self, missing: list[Claim]) -> Iterator[str]:
        done = self.done
        if done.ending in (Ending.TIME, Ending.MEMORY, Ending.INTERRUPT):
            depth = int(done.cursor[DEPTH])
            complete = f"depth {depth - 1} complete" if depth else "no depth complete"
            why = "Interrupted" if done.ending is Ending.INTERRUPT else f"Ran out of the {self._how()}"
            yield (
                f"{why} at {done.stored:,} states, depth {depth}: {done.expanded:,} of them are checked, {complete}."
            )
        if done.saving is not None:
            yield from done.saving.notes(self.command, over=self.is_over)
        for claim in missing:
            yield f"{claim.key} should be reachable, and none of the {done.stored:,} reachable states shows it."
        for claim in self._reachable():
            sighting = self._seen(claim)
            if sighting is not None:
                yield f"{claim.key} is reachable, first in {self._trace(sighting).length} steps."
            elif done.ending is not Ending.COMPLETE:
                yield f"{claim.key} was not reached so far."

    # What was counted.

    def _quiet_states(self) -> int | None:
        reduction = self.done.reduction
        return None if reduction is not None and not reduction.finds_quiet else int(self.done.cursor[QUIET])

    def _saving(self) -> Iterator[str]:
        """What a reduced search has saved, and does not know."""
        if self.done.reduction is not None:
            from search.reduction.account import told

            asleep = int(self.done.cursor[ASLEEP])
            yield from told(self.done.reduction, self.counts.enabled_totals, self.counts.blocked, asleep)

    def _bounds_hit(self) -> dict[str, int]:
        hits = self.counts.hits.tolist()
        return {name: count for name, count in zip(self.kernel.bounds, hits, strict=False) if count}

    def _rules(self) -> dict[str, RuleCount]:
        """Of a reduced search none: a rule that did not fire might in a state that was left out."""
        if self.done.reduction is not None:
            return {}
        enabled = self.counts.enabled_totals.tolist()
        rules = {}
        for instance, times in zip(self.model.instances, enabled, strict=False):
            taken = times - int(self.counts.blocked[instance.index])
            rules[instance.key] = RuleCount(times, taken, taken - int(self.counts.idle[instance.index]))
        return rules

    def _premises(self) -> dict[str, int]:
        if self.done.reduction is not None:
            return {}
        held, waits = self.counts.premise_totals.tolist(), {known.claim: known.premises for known in self.waits}
        return {claim.key: waits.get(claim, held[claim.index]) for claim in self.done.wish.claims}
