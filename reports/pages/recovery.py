"""The repair of a system as blocks: the answer, the steps of a plan with commands, and what defeats the candidates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kwalk.model.language.recovery import Problem
from kwalk.reports.document import Block, Card, CodeBlock, Details, Paragraph, Span, strong
from kwalk.reports.pages.outlook import listed
from kwalk.search.base.options import StopReason

if TYPE_CHECKING:
    from kwalk.search.analyses.recovery import Plan, Recovery

DEFEATS = 5
"""How many candidates that are no plan are shown."""
NAMED = 3
"""How many parts that were left out the answer names."""
DEEDS = 40
"""A longer trace is cut at its beginning."""
LOOK = "Take a snapshot after every step."


def nothing_planned(recovery: Recovery) -> bool:
    """Return whether something is wrong that plans do not cover, and nothing else is."""
    problem = recovery.problem
    return (
        recovery.healthy
        and problem.inspection.is_damaged
        and bool(not problem.worlds or problem.uncovered or problem.left_out)
    )


def is_unjudged(recovery: Recovery) -> bool:
    """Return whether nothing is known that needs a plan, and the snapshot lacks logs, or what a plan is made of."""
    problem, inspection = recovery.problem, recovery.problem.inspection
    is_lacking = not inspection.is_damaged and problem.uncovered and not problem.worlds
    return recovery.healthy and not nothing_planned(recovery) and bool(inspection.not_read or is_lacking)


def repairs_itself(recovery: Recovery) -> bool:
    """Return whether damage goes away by itself, and nothing that was not read may have more."""
    return recovery.healthy and recovery.problem.inspection.is_damaged and not is_unjudged(recovery)


def blocks_of(recovery: Recovery, snapshot: str) -> Iterator[Block]:
    """Yield the answer, the steps, what was assumed; without a plan what defeats the candidates, and the best left."""
    problem = recovery.problem
    yield Paragraph("")
    yield Paragraph(title_of(recovery))
    yield Paragraph(f"{snapshot}: {problem.inspection.headline}.", 2)
    for kind, seen in problem.inspection.by_kind().items():
        if kind.severity.rank < 2:
            subjects = list(dict.fromkeys(one.subject for one in seen))
            shown = ", ".join(subjects[:6]) + (f" and {len(subjects) - 6:,} more" if len(subjects) > 6 else "")
            yield Paragraph([Span(f"{kind.severity.value}: ", "faint"), f"{kind.title}: {shown}"], 2)
    yield from way_out(recovery, snapshot)
    searches = (recovery, *recovery.alternatives)
    visited, seconds = sum(one.visited for one in searches), sum(one.seconds for one in searches)
    yield Paragraph(
        f"{visited:,} states in {seconds:.0f} s; {recovery.compared} steps compared with plain Python, no difference.",
        2,
    )


def way_out(recovery: Recovery, snapshot: str) -> Iterator[Block]:
    """Yield the steps of the plan, or of the best that is left and what defeats the candidates; then assumptions."""
    problem = recovery.problem
    plan = recovery.plan or recovery.best
    if recovery.plan is None and recovery.best is not None:
        when = "nothing fails within a step" if recovery.best.faults else "nothing fails meanwhile"
        more = "; whether a fault within a step harms it is not known yet" if recovery.best.is_open else ""
        yield Paragraph(f"The best that is left: it repairs the cluster if {when}{more}.", 2)
    if plan is not None:
        yield from _steps(plan, problem, snapshot, is_safe=recovery.plan is not None)
    if recovery.plan is None and not nothing_planned(recovery):
        yield from _withheld(problem)
        yield from _defeats(recovery)
    for note in problem.notes:
        yield Paragraph(note, 2)
    if plan is not None and plan.procedures:
        yield Paragraph(evidence(plan, problem), 2)
    for other in recovery.alternatives:
        yield Paragraph("")
        yield Paragraph(title_of(other))
        yield from way_out(other, snapshot)


def evidence(plan: Plan, problem: Problem) -> str:
    """Return whether a plan of these steps was carried out on a real system, and what to do as this one was not."""
    names = [one.name for one in problem.carried_out_as(plan.procedures)]
    if not names:
        return f"The plan is searched in the model; it was not tried on real brokers. {LOOK}"
    return (
        "The plan is searched in the model. Plans of the same steps repaired the same damage of real brokers of this "
        f"release (kwalk lab reproduce {' '.join(names)}); yours was not tried. {LOOK}"
    )


def title_of(recovery: Recovery) -> list[str | Span]:
    """Return the answer in one line, with the condition under which it holds."""
    first, *rest = _answer(recovery)
    premise = recovery.problem.premise
    return [first, f"  {premise[:1].upper()}{premise[1:]}:" if premise else "", *rest]


def _answer(recovery: Recovery) -> list[str | Span]:
    problem = recovery.problem
    if nothing_planned(recovery):
        return [strong("NO PLAN", "open"), "  Plans do not cover what is wrong; `kwalk diagnose` names the way out."]
    if repairs_itself(recovery):
        what = "  What the model covers repairs itself; inspect a new snapshot in a minute."
        return [strong("WAIT", "good"), what]
    if is_unjudged(recovery):
        what = f"  The snapshot does not show whether something is to be repaired: see below{_beside(problem)}."
        if problem.inspection.is_damaged:
            what = "  What was read repairs itself, and what was not may not: take a snapshot that has it, see below."
        return [strong("NOT JUDGED", "open"), what]
    if recovery.healthy:
        beside = _beside(problem)
        return [strong("NOTHING TO REPAIR" if beside else "NOTHING TO DO", "good"), f"  No topic is damaged{beside}."]
    if recovery.plan is not None:
        steps = len(recovery.plan.procedures)
        rest = "; it is not for all that is wrong" if problem.left_out or problem.uncovered else ""
        rest += f", and does nothing to {listed(problem.left_out, NAMED)}" if problem.withheld else ""
        rest += ", see below" if rest else ""
        tone = "open" if problem.left_out else "good"
        return [strong("PLAN", tone), f"  {steps} step{'s' * (steps != 1)}; {safety(problem)}{rest}."]
    if recovery.complete and problem.withheld:
        what = f"  No sequence of steps that do nothing to {listed(problem.left_out, NAMED)} is one: see below."
        return [strong("NO SAFE PLAN", "open"), what]
    if recovery.complete:
        return [strong("NO SAFE PLAN", "open"), "  Every sequence that was tried can be defeated by one fault."]
    if recovery.stopped is None:
        what = "  One fault can defeat each of the cheapest sequences; dearer ones were not tried."
        return [strong("UNDECIDED", "open"), what]
    if recovery.stopped is StopReason.MEMORY:
        what = "  The search for a safe plan needs more memory than it may take."
        return [strong("UNDECIDED", "open"), what]
    return [strong("UNDECIDED", "open"), "  The time ended before a safe plan was found; increase --seconds."]


def _beside(problem: Problem) -> str:
    """Return what an inspection notes that is no damage, such as a broker that is down, with what to do about it."""
    kinds = problem.inspection.by_kind().items()
    found = [
        f"{kind.title} ({listed(list(dict.fromkeys(one.subject for one in seen)), NAMED)}): {kind.way_out}"
        for kind, seen in kinds
    ]
    return f"; beside that, {'; '.join(found)}" if found else ""


def safety(problem: Problem) -> str:
    """Return what a plan keeps, and what may happen meanwhile."""
    return f"{problem.keeps} {problem.although} at any moment"


def _steps(plan: Plan, problem: Problem, snapshot: str, *, is_safe: bool) -> Iterator[Block]:
    for number, procedure in enumerate(plan.procedures):
        yield Card(
            [strong(f"{number + 1}. {procedure.title}")],
            tuple(_step_blocks(plan, number, problem, snapshot)),
            "good" if is_safe and not plan.downtime[number] else "open",
        )


def _step_blocks(plan: Plan, number: int, problem: Problem, snapshot: str) -> Iterator[Paragraph | CodeBlock]:
    procedure = plan.procedures[number]
    yield CodeBlock(tuple(procedure.commands), 4)
    for label, text in step_texts(plan, number, problem, snapshot).items():
        yield Paragraph([Span(f"{label}: ", "faint"), text], 4)


def step_texts(plan: Plan, number: int, problem: Problem, snapshot: str) -> dict[str, str]:
    """Return what to check before and after a step, and what it risks."""
    procedure = plan.procedures[number]
    started = frozenset(name for one in plan.procedures[:number] for name in one.starts)
    same = f"a new snapshot still shows what {snapshot} shows (`kwalk diagnose`)" if number == 0 else ""
    shows = plan.shows[number] - problem.goals
    intact = "CONSISTENT, or NOT JUDGED for what is still not read" if problem.inspection.not_read else "CONSISTENT"
    expected = f"at most {problem.describe(shows)}" if shows else intact
    others = (*problem.uncovered, *problem.left_out)
    if others:
        beside = f"what the plan is not for ({listed(others, NAMED)})"
        expected = f"{expected}, beside {beside}" if shows else f"nothing but notes and {beside}"
    last = number + 1 == len(plan.procedures)
    early = " If it prints CONSISTENT, stop here." if plan.early[number] and not last else ""
    found = {
        "Before": "; ".join(text for text in (same, procedure.condition(started)) if text),
        "After": f"{procedure.after}; `kwalk diagnose` prints {expected}.{early}",
        "Risk": procedure.risk,
    }
    if plan.downtime[number]:
        found["Downtime"] = "users may notice this step though nothing fails"
    return found


def _withheld(problem: Problem) -> Iterator[Block]:
    if problem.withheld:
        steps = listed(list(dict.fromkeys(name.split()[0] for name in problem.withheld)))
        what = f"Not tried, as they might harm {listed(problem.left_out, NAMED)}: {steps}"
        yield Paragraph(f"{what}. See to that first, and ask again with another snapshot.", 2)


def _defeats(recovery: Recovery) -> Iterator[Block]:
    shown = recovery.defeats[:DEFEATS]
    for defeat in shown:
        titles = " Then: ".join(one.title for one in defeat.procedures)
        deeds = [f"{one.actor}: {one.description}" for one in defeat.deeds[-DEEDS:]]
        how = f", after {deeds[-1]}" if deeds else ", without any step of the system"
        text = f"{defeat.world.name} may then have {recovery.problem.describe(defeat.violated)}{how}."
        yield Card([strong("No plan", "open"), f"  {titles}"], (Paragraph(text, 4),), "open")
        if len(deeds) > 1:
            count = f"The {len(deeds)} steps" if len(deeds) == len(defeat.deeds) else f"The last {len(deeds)} steps"
            yield Details(f"{count} to that", (CodeBlock(tuple(deeds), 4),), is_closed=True)
    if len(recovery.defeats) > len(shown):
        yield Paragraph(f"… and {len(recovery.defeats) - len(shown)} more candidates; --json has them all.", 2)
