"""Sentences about a run and about a comparison, for text and pages alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path

from kwalk.model.language import KwalkError
from kwalk.model.language.registry import find_scenario
from kwalk.reports.document import Span, code
from kwalk.reports.nightly_compare.charts import Curve
from kwalk.reports.nightly_compare.comparison import REACHABLE, Comparison, Loss, Pair, is_bad, property_of
from kwalk.reports.nightly_compare.environment import is_repeatable
from kwalk.reports.progress import times
from kwalk.search.night.folder import TRACES
from kwalk.search.night.results import RunResult, TaskResult
from kwalk.search.night.tables import FindingRow
from kwalk.search.results.verdict import Answer

NAMED = 6
"""The number of names of a list that are printed; the others are counted."""


def headline(comparison: Comparison) -> str:
    """Return what is new, in a line."""
    new, shapes, gone = (len(list(each)) for each in (comparison.new, comparison.new_shapes, comparison.gone))
    worse = sum(pair.verdict_changed for pair in comparison.pairs)
    lost = len(list(comparison.losses)) + len(comparison.only_before)
    parts = [times(new, "new group") if new else "", times(shapes, "new shape") if shapes else ""]
    parts += [times(worse, "changed verdict") if worse else ""]
    parts += [f"{gone:,} gone" if gone else "", f"{lost:,} no longer covered" if lost else ""]
    text = ", ".join(filter(None, parts)) or "nothing new"
    accepted = len(list(comparison.accepted))
    accepted_ones = f", {times(accepted, 'accepted group')}" if accepted else ""
    return f"{text}; {times(comparison.known_groups, 'known group')}{accepted_ones}"


@cache
def claim_of(scenario: str, name: str) -> str:
    """Return what a property claims, the first sentence of its docstring; "" if its scenario cannot be found."""
    try:
        declared = find_scenario(scenario).declared_properties
    except KwalkError:
        return ""
    about = next((" ".join(one.about.split()) for one in declared if one.name == name), "")
    return about.partition(". ")[0].rstrip(".") + "." * bool(about)


def actions_to_take(comparison: Comparison) -> Iterator[list[str | Span]]:
    """Yield what a reader does now, the most urgent first."""
    before, after = comparison.before, comparison.after
    if after.missing:
        yield ["The run is not complete: resume it with ", code(f"kwalk nightly --resume {after.path}"), "."]
    both = chain(comparison.new, comparison.new_shapes)
    new = [(task, group) for task, group in both if group.kind != REACHABLE]
    for task, group in new[:NAMED]:
        file = trace_file(after.path, task, group)
        if file is not None:
            what = f"Look at {group.property} ({times(group.length, 'step')}): "
            yield [what, code(f"kwalk replay {file}"), " or ", code(f"kwalk explore {file}")]
    suspects = suspect_commits(before, after)
    if new and suspects:
        how = (
            "repeatable, so `git bisect` finds the commit"
            if is_repeatable(before, after)
            else ("the runs are not repeatable: run both commits with one seed and numbers of walks first")
        )
        yield ["Suspect commits: ", code(f"git log {suspects}"), f"; {how}."]
    elif new:
        yield ["The commits do not differ: what is new comes from the seed, the configuration or the time."]
    if new:
        how = f'properties = ["{property_of(new[0][1])}"] reason = "WHY"'
        yield ["Known, and not to be corrected? Accept it in the configuration: ", code(f"[[accepted]] {how}"), "."]
    if comparison.only_before or any(True for _ in comparison.losses):
        yield ["Less is covered: see below which properties are no longer tested, and which actions no longer taken."]
    for pair in comparison.pairs:
        if pair.is_undecided_now and pair.after.outcome is not None:
            if pair.after.answer == Answer.UNDECIDED.value:
                yield [f"{pair.after.name} is undecided now ({pair.after.how}): give it more time."]
            else:
                yield [f"{pair.after.name} has a property now that cannot fail: correct it, or declare the reason."]


def suspect_commits(before: RunResult, after: RunResult) -> str:
    """Return the range of commits between two runs as Git writes it; "" if it is empty or unknown."""
    first, last = before.text_of("commit"), after.text_of("commit")
    return "" if "unknown" in (first, last) or first == last else f"{first[:12]}..{last[:12]}"


def shape_of(group: FindingRow) -> str:
    """Return the steps of a group's shape in a line."""
    return "; ".join(group.steps) or "an initial state"


def evidence(task: TaskResult, group: FindingRow) -> str:
    """Return the length of a group's trace, the number of its findings, and its id."""
    proved = ", the shortest" if group.shortest else ""
    first = f", first in walk {group.first_walk:,}" if task.walks else ""
    findings = times(group.count, "minimized finding")
    return f"{times(group.length, 'step')}{proved}; {findings}{first}; group {group.group}"


def tone_of_task(task: TaskResult) -> str:
    """Return the tone of a task's answer: good, bad, hollow, open, or faint where all that is violated is accepted."""
    if task.accepted:
        return "faint"
    return "bad" if is_bad(task) else {"holds": "good", "cannot fail": "hollow"}.get(task.answer, "open")


def tone_of_group(group: FindingRow) -> str:
    """Return the tone of a group: good for a witness, faint if it is accepted, else bad."""
    return "good" if group.kind == REACHABLE else "faint" if group.accepted else "bad"


def trace_file(run: Path, task: TaskResult, group: FindingRow) -> Path | None:
    """Return the saved trace of a group, None if there is none (yet)."""
    path = run / TRACES / f"{task.number:04}-{group.group}.itf.json"
    return path if path.exists() else None


def pair_sentences(pair: Pair) -> Iterator[str]:
    """Yield the differences of a task besides its groups, the most serious first."""
    before, after = pair.before, pair.after
    if pair.verdict_changed:
        yield f"{before.answer} ({before.how}) → {after.answer} ({after.how})"
    for was, now in pair.shorter:
        yield f"{now.property} is reached in {times(now.length, 'step')} instead of {was.length:,}"
    yield from _losses("no longer tested", pair.untested)
    yield from _losses("no longer taken", pair.stopped)
    if pair.bounds_newly_hit:
        hits = ", ".join(f"{name} ({count:,} times)" for name, count in pair.bounds_newly_hit.items())
        yield f"newly reached bounds: {hits}"
    if pair.speed is not None and before.rate and after.rate:
        unit = "steps per CPU second" if after.walks else "successors a second"
        change = f"{pair.speed - 1:+.0%}".replace("-", "−")
        yield f"speed: {before.rate:,.0f} → {after.rate:,.0f} {unit} ({change})"


def _losses(what: str, losses: Iterable[Loss]) -> Iterator[str]:
    """Yield at most three sentences: losses that count, losses that may be chance, and what the later model lacks."""
    lost = list(losses)
    real = [f"{loss.name} ({loss.before:,} before)" for loss in lost if not loss.is_gone and not loss.may_be_chance]
    rare = [f"{loss.name} ({loss.before:,} before)" for loss in lost if loss.may_be_chance]
    gone = [loss.name for loss in lost if loss.is_gone]
    if real:
        yield f"{what}: {listed(real)}"
    if rare:
        yield f"{what}, possibly by chance, because it was rare: {listed(rare)}"
    if gone:
        yield f"not in the later model: {listed(gone)}"


def listed(names: list[str]) -> str:
    """Return the first names, and the number of the others."""
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def untested(task: TaskResult) -> list[str]:
    """Return the property instances whose premise held in no state."""
    return [prop.property for prop in task.properties if not prop.premise]


def never_taken(task: TaskResult) -> list[str]:
    """Return the actions of which no instance was taken, and the number of such instances of other actions."""
    taken: dict[str, list[bool]] = {}
    for instance in task.actions:
        taken.setdefault(instance.action, []).append(instance.taken > 0)
    whole = [name for name, each in taken.items() if not any(each)]
    parts = ((name, each.count(False), len(each)) for name, each in taken.items() if any(each) and not all(each))
    return [*whole, *(f"{name} ({less} of its {all_} instances)" for name, less, all_ in parts)]


# Of one run.


def tone_of_run(run: RunResult) -> str:
    """Return the tone of what a run found: bad if something is violated that is not accepted, else good."""
    tones = {tone_of_group(group) for task in run.tasks for group in task.groups}
    return "bad" if "bad" in tones else "good"


def summary(run: RunResult) -> str:
    """Return what a run found, in a line."""
    found = [task for task in run.tasks if task.groups]
    if not found:
        return f"nothing found in {times(len(run.tasks), 'task')}"
    groups, met = sum(len(task.groups) for task in found), sum(c.count for task in found for c in task.groups)
    where = f"{len(found):,} of {times(len(run.tasks), 'task')}"
    accepted = sum(bool(group.accepted) for task in found for group in task.groups)
    known = f"; {accepted:,} accepted" if accepted else ""
    return f"{times(groups, 'group')} of {times(met, 'minimized finding')}, in {where}{known}"


def distinct(task: TaskResult, short: Callable[[float | None], str]) -> str:
    """Return the number of distinct states of a task, with the error of an estimate."""
    error = None if task.outcome is None else task.outcome.distinct_error
    is_counted = bool(task.levels) or task.distinct is None
    text = f"{'' if is_counted else '≈ '}{short(task.distinct)}"
    return text if is_counted or not error else f"{text} ± {error:.1%}"


def grown(drawn: Curve, short: Callable[[float | None], str]) -> str:
    """Return the number of states of a growth curve, and the part of its last quarter."""
    late = "" if drawn.late is None else f", {drawn.late:.0%} of them in the last quarter"
    return f"{distinct(drawn.task, short)} states{late}"


def hits(task: TaskResult) -> str:
    """Return the bounds that a task reached."""
    return ", ".join(f"{name} {times(count, 'time')}" for name, count in task.bounds_hit.items())


def covered(run: RunResult) -> str:
    """Return how many property instances were tested, and how many action instances were taken."""
    properties = [prop for task in run.tasks for prop in task.properties]
    instances = [instance for task in run.tasks for instance in task.actions]
    tested, taken = sum(prop.premise > 0 for prop in properties), sum(instance.taken > 0 for instance in instances)
    text = f"{tested:,} of {times(len(properties), 'property instance')} were tested"
    return f"{text}, {taken:,} of {times(len(instances), 'action instance')} were taken."


def cost(run: RunResult, short: Callable[[float | None], str], duration: Callable[[float], str]) -> Iterator[str]:
    """Yield the time and steps of walks, then those of searches."""
    for unit, tasks in (
        ("steps", [task for task in run.tasks if task.walks]),
        ("successors", [task for task in run.tasks if not task.walks and task.steps]),
    ):
        spent, steps = sum(task.spent for task in tasks), sum(task.steps for task in tasks)
        if spent:
            what = "CPU time of walks" if unit == "steps" else "searches"
            yield f"{duration(spent)} of {what} for {short(steps)} {unit}: {short(steps / spent)} a second."
