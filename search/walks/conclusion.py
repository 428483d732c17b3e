"""The verdict of a run of walks, wherever they were walked."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from attrs import define

from model.language import Claim, Kind
from search.confirm import Origin, confirmed, domain_error
from search.shrink.clusters import Sample, clustered
from search.verdict import DEADLOCK, Answer, Cluster, Finding, RuleCount, Verdict
from search.walks.chunks import Walks, path_of
from search.walks.manner import manner_told
from search.walks.outing import Outing
from search.walks.sketch import distinct


class Ran(Protocol):
    """A run that has ended: what its walks counted, how many seconds it took, and whether it was interrupted."""

    total: Walks
    seconds: float
    interrupted: bool


@define
class Conclusion:
    """The verdict of a run of walks."""

    outing: Outing
    run: Ran
    command: str

    def verdict(self) -> Verdict:
        """The verdict, with confirmed traces; DomainError if that is how the run ended."""
        outing, run = self.outing, self.run
        model, total = outing.model, run.total
        if total.failed is not None:
            path = path_of(outing.kernel, outing.course, total.failed)
            raise domain_error(model, outing.kernel, path, self._origin(total.failed))
        findings = self._findings()
        clusters, told = self._clusters()
        return Verdict(
            answer=self._answer(findings), how="interrupted" if run.interrupted else "sampled", engine="walk",
            scenario=model.scenario.name, variant=model.variant, bounds=model.binding.bounds, flags=model.asked_flags,
            invariants=tuple(dict.fromkeys(claim.invariant.name for claim in outing.claims)), steps=total.steps,
            walks=total.walks, seconds=run.seconds, seed=outing.course.seed, bounds_hit=self._bounds_hit(),
            rules=self._rules(), premises={c.key: int(total.premises[c.index]) for c in outing.claims},
            findings=tuple(finding for _, finding in findings), notes=(*self._notes(), *told), command=self.command,
            clusters=clusters, left_out=self._left_out(),
            estimated_states=round(distinct(total.sketch)) if len(total.sketch) else None,
        )  # fmt: skip

    def _origin(self, number: int) -> Origin:
        return Origin(f"walk {number}", seed=self.outing.course.seed, command=self.command)

    def _findings(self) -> list[tuple[Claim | None, Finding]]:
        """What was violated, in the order in which the walks came to it."""
        total = self.run.total
        bad: list[tuple[int, Claim | None]] = [
            (claim.index, claim) for claim in self.outing.claims if claim.kind is not Kind.REACHABLE
        ]
        bad.append((self.outing.kernel.claims, None))
        met = [(number, claim) for number, claim in bad if total.first_walk[number] >= 0]
        met.sort(key=lambda place: (total.first_walk[place[0]], total.first_step[place[0]], place[0]))
        return [(claim, self._finding(number, claim)) for number, claim in met]

    def _finding(self, number: int, claim: Claim | None) -> Finding:
        total, outing = self.run.total, self.outing
        first = int(total.first_walk[number])
        path = path_of(outing.kernel, self.outing.course, first, int(total.first_step[number]))
        trace = confirmed(outing.model, outing.kernel, path, claim=claim, origin=self._origin(first))
        return Finding(DEADLOCK if claim is None else claim.key, int(total.seen[number]), trace)

    def _clusters(self) -> tuple[tuple[Cluster, ...], tuple[str, ...]]:
        """The findings that were kept, by shape, and what is to be said of them."""
        kept = self.run.total.findings
        if not len(kept):
            return (), ()
        outing = self.outing
        samples = (self._sample(*row) for row in kept.tolist())
        clusters, told = clustered(outing.model, outing.kernel, samples, len(kept), outing.report)
        bad = [claim.index for claim in outing.claims if claim.kind is not Kind.REACHABLE]
        met = int(self.run.total.seen[[*bad, outing.kernel.claims]].sum())
        return clusters, (f"{met:,} findings in {self.run.total.walks:,} walks.", *told)

    def _sample(self, number: int, steps: int, index: int) -> Sample:
        outing = self.outing
        path = path_of(outing.kernel, self.outing.course, number, steps)
        claim = index if index < outing.kernel.claims else None
        return Sample(claim, path.states[0].tobytes(), path.instances, self._origin(number), number)

    def _answer(self, findings: list[tuple[Claim | None, Finding]]) -> Answer:
        if not findings:
            sampled = self.run.total.walks > 0 and not self.run.interrupted
            return Answer.HOLDS if sampled else Answer.UNDECIDED
        claim = findings[0][0]
        if claim is None:
            return Answer.DEADLOCK
        return Answer.BAD_STABLE_STATE if claim.kind is Kind.WHEN_QUIET else Answer.VIOLATED

    def _notes(self) -> Iterator[str]:
        total, wanted = self.run.total, self.outing.walks
        if wanted is not None and total.walks < wanted and not total.stopped:
            yield f"Stopped after {total.walks:,} of {wanted:,} walks."
        if total.dead_ends:
            yield f"{total.dead_ends:,} of {total.walks:,} walks came to a dead end."
        yield from manner_told(self.outing.model, self.outing.course, total)
        for claim in self.outing.claims:
            if claim.kind is Kind.REACHABLE:
                times = int(total.seen[claim.index])
                yield f"{claim.key} was reached in {times:,} walks." if times else f"No walk reached {claim.key}."

    def _bounds_hit(self) -> dict[str, int]:
        hits = self.run.total.hits.tolist()
        return {name: count for name, count in zip(self.outing.kernel.bounds, hits, strict=False) if count}

    def _rules(self) -> dict[str, RuleCount]:
        """The counts of the rules that walks were allowed to take."""
        total, left_out = self.run.total, frozenset(self._left_out())
        counts = zip(total.enabled.tolist(), total.taken.tolist(), total.changed.tolist(), strict=True)
        rules = {i.key: RuleCount(*three) for i, three in zip(self.outing.model.instances, counts, strict=True)}
        return {key: rule for key, rule in rules.items() if key not in left_out}

    def _left_out(self) -> tuple[str, ...]:
        allowed = self.outing.course.allowed
        return () if allowed is None else tuple(i.key for i in self.outing.model.instances if i.index not in allowed)
