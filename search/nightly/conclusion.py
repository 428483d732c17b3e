"""What came of a task of walks: a verdict, the row of the table, and a confirmed trace of each cluster."""
from __future__ import annotations

import json
from collections.abc import Iterator

from attrs import define, evolve

from model.language import Claim, DomainError
from search.fairness import without_liveness
from search.nightly.counts import Sum
from search.nightly.plan import Task
from search.nightly.tables import RunRow
from search.nightly.walking import Walking
from search.progress import silent
from search.shrink.clusters import told_by
from search.untried import NAMED, untried
from search.verdict import DEADLOCK, Answer, Cluster, Finding, Verdict
from search.walks.chunks import Walks
from search.walks.conclusion import Conclusion
from search.walks.outing import Outing
from search.walks.sketch import STANDARD_ERROR, distinct


@define
class Ended:
    """Walks that have ended, as a conclusion wants them."""

    total: Walks
    seconds: float
    interrupted: bool


class _Counted(Conclusion):
    """A conclusion that leaves traces to the clusters."""

    def _finding(self, number: int, claim: Claim | None) -> Finding:
        return Finding(DEADLOCK if claim is None else claim.key, int(self.run.total.seen[number]))

    def _clusters(self) -> tuple[tuple[Cluster, ...], tuple[str, ...]]:
        return (), ()


def concluded(walking: Walking, why: str) -> Verdict:
    """The verdict of a task, with its clusters; `why` says why it was cut short, if it was.

    EngineDisagreement if plain execution does not show what is in a cluster.
    """
    task, total = walking.task, walking.sum.walks
    outing = Outing(
        task.model, walking.kernel, walking.course, walking.claims, task.entry.walks, task.seconds, 1, silent
    )
    ended = Ended(evolve(total, failed=None), walking.sum.seconds, interrupted=bool(why))
    verdict = _Counted(outing, ended, task.command(total.walks)).verdict()
    verdict = without_liveness(verdict, task.claims, "random walks")
    clusters = told_by(task.model, walking.kernel, walking.clusters)
    verdict = evolve(verdict, clusters=clusters, notes=(*verdict.notes, *_notes(walking)))
    return evolve(verdict, notes=(*verdict.notes, *untried(verdict, task.model)))


def _notes(walking: Walking) -> Iterator[str]:
    if walking.violations:
        yield f"{walking.violations:,} findings in {walking.sum.walks.walks:,} walks."
        yield from walking.clusters.told
    if walking.untraced:
        more = f" and {len(walking.untraced) - NAMED} more" if len(walking.untraced) > NAMED else ""
        yield f"Violated, and not minimized so far: {', '.join(walking.untraced[:NAMED])}{more}."


def error_of(walking: Walking) -> str:
    """In which walk an action left its domain, and how; "" if none did."""
    if walking.sum.walks.failed is None:
        return ""
    task = walking.task
    outing = Outing(
        task.model, walking.kernel, walking.course, walking.claims, task.entry.walks, task.seconds, 1, silent
    )
    ended = Ended(walking.sum.walks, walking.sum.seconds, interrupted=False)
    try:
        Conclusion(outing, ended, task.command(walking.sum.walks.failed + 1)).verdict()
    except DomainError as error:
        return str(error)
    return ""


def run_row(walking: Walking, verdict: Verdict, why: str) -> RunRow:
    """The row of a task that has ended."""
    task, walks = walking.task, walking.sum.walks
    return RunRow(
        task=task.number, name=task.name, scenario=task.reference, variant=task.model.variant,
        bounds=json.dumps(dict(verdict.bounds)), flags=json.dumps(dict(verdict.flags)), engine=task.entry.engine,
        seed=task.seed, answer=verdict.answer.value, how=verdict.how, walks=walks.walks, steps=walks.steps,
        visits=walks.visits, distinct=distinct(walks.sketch), distinct_exact=None, distinct_error=STANDARD_ERROR,
        depth=None, seconds=walking.sum.seconds, cpu_seconds=walking.sum.cpu, why=why,
        bounds_hit=json.dumps(dict(verdict.bounds_hit)), notes=verdict.notes, command=verdict.command,
    )  # fmt: skip


def with_error(row: RunRow, error: str) -> RunRow:
    """The row of a task that an error ended: what it found counts, what it did not find says nothing."""
    answer = Answer.UNDECIDED.value if row.answer == Answer.HOLDS.value else row.answer
    return evolve(row, answer=answer, how="failed", why=error)


def failed_row(task: Task, done: Sum | None, why: str) -> RunRow:
    """The row of a task that was given up, after what it had done."""
    walks = None if done is None else done.walks
    return RunRow(
        task=task.number, name=task.name, scenario=task.reference, variant=task.model.variant,
        bounds=json.dumps(dict(task.model.binding.bounds)), flags=json.dumps(dict(task.model.asked_flags)),
        engine=task.entry.engine, seed=task.seed, answer=Answer.UNDECIDED.value, how="failed",
        walks=walks.walks if walks else 0, steps=walks.steps if walks else 0, visits=walks.visits if walks else 0,
        distinct=None, distinct_exact=None, distinct_error=None, depth=None, seconds=done.seconds if done else 0.0,
        cpu_seconds=done.cpu if done else 0.0, why=why, bounds_hit="{}", notes=(),
        command=task.command(walks.walks if walks else None),
    )  # fmt: skip
