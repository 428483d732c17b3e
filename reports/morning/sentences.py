"""What is said of a run and of a comparison, in sentences that text and page share."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from reports.morning.comparison import Comparison, Loss, Pair
from reports.morning.growth import Curve
from search.nightly.folder import TRACES
from search.nightly.reading.results import RunResult, TaskResult
from search.nightly.tables import FindingRow

NAMED = 6
"""Names in a list before the rest is told as a number."""


def times(count: int, thing: str) -> str:
    """A count with its noun."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def headline(comparison: Comparison) -> str:
    """What is new, in a line."""
    new, gone = len(list(comparison.new)), len(list(comparison.gone))
    worse = sum(pair.verdict_changed for pair in comparison.pairs)
    lost = len(list(comparison.losses)) + len(comparison.only_before)
    told = [times(new, "new cluster") if new else "", times(worse, "changed verdict") if worse else ""]
    told += [f"{gone:,} gone" if gone else "", f"{lost:,} not covered any more" if lost else ""]
    said = ", ".join(filter(None, told)) or "nothing new"
    return f"{said}; {times(comparison.known, 'known cluster')}"


def shape_of(cluster: FindingRow) -> str:
    """The steps of a cluster's shape in a line."""
    return "; ".join(cluster.steps) or "an initial state"


def evidence(task: TaskResult, cluster: FindingRow) -> str:
    """How short its trace is, and how often it was met."""
    proved = ", the shortest" if cluster.shortest else ""
    first = f", first in walk {cluster.first_walk:,}" if task.walks else ""
    return f"{times(cluster.length, 'step')}{proved}; {times(cluster.count, 'minimized finding')}{first}"


def trace_file(run: Path, task: TaskResult, cluster: FindingRow) -> Path | None:
    """The saved trace of a cluster, None if there is none (yet)."""
    path = run / TRACES / f"{task.number:04}-{cluster.cluster}.itf.json"
    return path if path.exists() else None


def pair_sentences(pair: Pair) -> Iterator[str]:
    """What differs in a task beside its clusters, the most serious first."""
    before, after = pair.before, pair.after
    if pair.verdict_changed:
        yield f"{before.answer} ({before.how}) → {after.answer} ({after.how})"
    for was, now in pair.shorter:
        yield f"{now.claim} is reached in {times(now.length, 'step')}, and took {was.length:,}"
    yield from _losses("never put to the test any more", pair.untested)
    yield from _losses("never taken any more", pair.stopped)
    if pair.bounds_newly_hit:
        hits = ", ".join(f"{name} ({count:,} times)" for name, count in pair.bounds_newly_hit.items())
        yield f"bounds that were not reached before: {hits}"
    if pair.speed is not None and before.rate and after.rate:
        unit = "steps per CPU second" if after.walks else "successors a second"
        change = f"{pair.speed - 1:+.0%}".replace("-", "−")
        yield f"speed: {before.rate:,.0f} → {after.rate:,.0f} {unit} ({change})"


def _losses(what: str, losses: Iterable[Loss]) -> Iterator[str]:
    """The losses in at most three sentences: those that count, those that may be chance, those that are gone."""
    told = list(losses)
    real = [f"{loss.name} ({loss.before:,} before)" for loss in told if not loss.is_gone and not loss.may_be_chance]
    rare = [f"{loss.name} ({loss.before:,} before)" for loss in told if loss.may_be_chance]
    gone = [loss.name for loss in told if loss.is_gone]
    if real:
        yield f"{what}: {listed(real)}"
    if rare:
        yield f"{what}, which may be chance as it was rare: {listed(rare)}"
    if gone:
        yield f"not in the later run at all: {listed(gone)}"


def listed(names: list[str]) -> str:
    """Names, the first of them."""
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def untested(task: TaskResult) -> list[str]:
    """Claims that no state ever put to the test."""
    return [claim.claim for claim in task.claims if not claim.premise]


def idle(task: TaskResult) -> list[str]:
    """Actions of which no instance was ever taken, and how many instances of others were not."""
    taken: dict[str, list[bool]] = {}
    for rule in task.rules:
        taken.setdefault(rule.name, []).append(rule.taken > 0)
    whole = [name for name, each in taken.items() if not any(each)]
    parts = ((name, each.count(False), len(each)) for name, each in taken.items() if any(each) and not all(each))
    return [*whole, *(f"{name} ({less} of its {all_} instances)" for name, less, all_ in parts)]


# Of one run.


def summary(run: RunResult) -> str:
    """What a run found, in a line."""
    found = [task for task in run.tasks if task.clusters]
    if not found:
        return f"nothing found in {times(len(run.tasks), 'task')}"
    clusters, met = sum(len(task.clusters) for task in found), sum(c.count for task in found for c in task.clusters)
    where = f"{len(found):,} of {times(len(run.tasks), 'task')}"
    return f"{times(clusters, 'cluster')} of {times(met, 'minimized finding')}, in {where}"


def distinct(task: TaskResult, short: Callable[[float | None], str]) -> str:
    """How many distinct states a task saw, with the error where that is an estimate."""
    error = None if task.outcome is None else task.outcome.distinct_error
    is_counted = bool(task.levels) or task.distinct is None
    told = f"{'' if is_counted else '≈ '}{short(task.distinct)}"
    return told if is_counted or not error else f"{told} ± {error:.1%}"


def grown(drawn: Curve, short: Callable[[float | None], str]) -> str:
    """How far a growth came, and whether it goes on."""
    late = "" if drawn.late is None else f", {drawn.late:.0%} of them in the last quarter"
    return f"{distinct(drawn.task, short)} states{late}"


def hits(task: TaskResult) -> str:
    """The bounds that a task reached."""
    return ", ".join(f"{name} {times(count, 'time')}" for name, count in task.bounds_hit.items())


def covered(run: RunResult) -> str:
    """How much was covered, in numbers."""
    claims = [claim for task in run.tasks for claim in task.claims]
    rules = [rule for task in run.tasks for rule in task.rules]
    tested, taken = sum(claim.premise > 0 for claim in claims), sum(rule.taken > 0 for rule in rules)
    told = f"{tested:,} of {times(len(claims), 'claim')} were put to the test"
    return f"{told}, {taken:,} of {times(len(rules), 'action instance')} were taken."


def cost(run: RunResult, short: Callable[[float | None], str], duration: Callable[[float], str]) -> Iterator[str]:
    """What a run took, walks and searches apart."""
    for unit, tasks in (("steps", [task for task in run.tasks if task.walks]),
                        ("successors", [task for task in run.tasks if not task.walks and task.steps])):
        spent, steps = sum(task.spent for task in tasks), sum(task.steps for task in tasks)
        if spent:
            what = "CPU time of walks" if unit == "steps" else "searches"
            yield f"{duration(spent)} of {what} for {short(steps)} {unit}: {short(steps / spent)} a second."
