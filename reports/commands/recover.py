"""The command that plans the repair of a real system from its snapshot: `kwalk recover`."""
from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import Any

from kwalk.model.language.inspection import FindingKind
from kwalk.model.language.recovery import Problem, Procedure
from kwalk.reports.commands.inspect import scenario_for
from kwalk.reports.commands.output import print_ending, print_json
from kwalk.reports.commands.target import command_line, malformed_json
from kwalk.reports.document import Block, Card, CodeBlock, Line, Paragraph, Span, strong
from kwalk.reports.document.text import print_blocks
from kwalk.reports.escaping import visible
from kwalk.reports.json_output import FORMAT
from kwalk.reports.progress import shown_on_stderr
from kwalk.reports.terminal import console
from kwalk.reports.traces.trace_file import readable_text
from kwalk.search.analyses.recovery import Deed, Defeat, Plan, Recovery, plan_recovery

NOTHING, PLANNED, NO_PLAN, UNDECIDED = 0, 0, 12, 3
"""Exit codes."""
DEFEATS = 5
"""How many candidates that are no plan are shown."""
DEEDS = 40
"""A longer trace is cut at its beginning."""
UNTRIED = "The plan is searched in the model; it was not tried on real brokers. Take a snapshot after every step."


def run_recover(options: Namespace) -> int:
    """Plan a repair; 0 if there is a plan or nothing to do, 12 if there is none, 3 if the time ended before."""
    problem = _problem(options)
    command = command_line(options, [options.snapshot], ("scenario", "seconds"))
    with shown_on_stderr() as report:
        recovery = plan_recovery(problem, seconds=options.seconds, report=report)
    if options.json:
        print_json(recovery_object(recovery, options.snapshot, command))
    else:
        print_blocks(blocks_of(recovery, options.snapshot), console())
        print_ending({}, command, console())
    return exit_code(recovery)


def _problem(options: Namespace) -> Problem:
    scenario = scenario_for(options.scenario, "recover_snapshot", "plan from")
    assert scenario.recover_snapshot is not None
    readable_text(options.snapshot, "snapshot")
    with malformed_json(f"The snapshot {visible(options.snapshot)!r}"):
        return scenario.recover_snapshot(options.snapshot)


def exit_code(recovery: Recovery) -> int:
    """Return 0 for a plan, 12 if there is none, 3 if that is undecided."""
    if recovery.plan is not None and not _nothing_planned(recovery):
        return PLANNED
    return NO_PLAN if recovery.complete else UNDECIDED


def _nothing_planned(recovery: Recovery) -> bool:
    """Whether something is wrong, and no part of it can be planned for."""
    return recovery.healthy and recovery.problem.inspection.exit_code != 0 and not recovery.problem.worlds


def _repairs_itself(recovery: Recovery) -> bool:
    return recovery.healthy and recovery.problem.inspection.exit_code != 0


# Text.


def blocks_of(recovery: Recovery, snapshot: str) -> Iterator[Block]:
    """Yield the answer, the steps, what was assumed; without a plan what defeats the candidates, and the best left."""
    problem = recovery.problem
    yield Paragraph("")
    yield Paragraph(_title(recovery))
    yield Paragraph(f"{snapshot}: {problem.inspection.headline}.", 2)
    for kind, seen in problem.inspection.by_kind().items():
        if kind.severity.rank < 2:
            subjects = list(dict.fromkeys(one.subject for one in seen))
            shown = ", ".join(subjects[:6]) + (f" and {len(subjects) - 6:,} more" if len(subjects) > 6 else "")
            yield Paragraph([Span(f"{kind.severity.value}: ", "faint"), f"{kind.title}: {shown}"], 2)
    plan = recovery.plan or recovery.best
    if recovery.plan is None and recovery.best is not None:
        yield Paragraph("The best that is left: it repairs the cluster if nothing fails meanwhile.", 2)
    if plan is not None:
        yield from _steps(plan, problem, snapshot)
    if recovery.plan is None and not _nothing_planned(recovery):
        yield from _defeats(recovery)
    for note in problem.notes:
        yield Paragraph(note, 2)
    if plan is not None and plan.procedures:
        yield Paragraph(UNTRIED, 2)
    yield Paragraph(
        f"{recovery.visited:,} states in {recovery.seconds:.0f} s; {recovery.compared} steps compared with plain "
        "Python, no difference.", 2,
    )  # fmt: skip


def _title(recovery: Recovery) -> list[str | Span]:
    if _nothing_planned(recovery):
        return [strong("NO PLAN", "open"), "  Plans do not cover what is wrong; `kwalk inspect` names the way out."]
    if _repairs_itself(recovery):
        what = "  What the model covers repairs itself; inspect a new snapshot in a minute."
        return [strong("WAIT", "good"), what]
    if recovery.healthy:
        return [strong("NOTHING TO DO", "good"), "  No topic is damaged."]
    if recovery.plan is not None:
        steps = len(recovery.plan.procedures)
        return [
            strong("PLAN", "good"),
            f"  {steps} step{'s' * (steps != 1)}; safe though a broker crashes or the controller fails over meanwhile.",
        ]
    if recovery.complete:
        return [strong("NO SAFE PLAN", "bad"), "  Every sequence that was tried can be defeated by one fault."]
    return [strong("UNDECIDED", "open"), "  The time ended before a safe plan was found; increase --seconds."]


def _steps(plan: Plan, problem: Problem, snapshot: str) -> Iterator[Block]:
    for number, procedure in enumerate(plan.procedures):
        yield Card(
            [strong(f"{number + 1}. {procedure.title}")],
            tuple(_step_blocks(plan, number, problem, snapshot)), "open" if plan.downtime[number] else "good",
        )  # fmt: skip


def _step_blocks(plan: Plan, number: int, problem: Problem, snapshot: str) -> Iterator[Paragraph | CodeBlock]:
    procedure = plan.procedures[number]
    yield CodeBlock(tuple(procedure.commands), 4)
    for label, text in step_texts(plan, number, problem, snapshot).items():
        yield Paragraph([Span(f"{label}: ", "faint"), text], 4)


def step_texts(plan: Plan, number: int, problem: Problem, snapshot: str) -> dict[str, str]:
    """Return what to check before and after a step, and what it risks."""
    procedure = plan.procedures[number]
    same = f"a new snapshot still shows what {snapshot} shows (`kwalk inspect`)" if number == 0 else ""
    shows = plan.shows[number]
    expected = "CONSISTENT" if not shows else f"at most {problem.describe(shows)}"
    last = number + 1 == len(plan.procedures)
    early = " If it prints CONSISTENT, stop here." if plan.early[number] and not last else ""
    found = {
        "Before": "; ".join(text for text in (same, procedure.before) if text),
        "After": f"{procedure.after}; `kwalk inspect` prints {expected}.{early}",
        "Risk": procedure.risk,
    }
    if plan.downtime[number]:
        found["Downtime"] = "users may notice this step though nothing fails"
    return found


def _defeats(recovery: Recovery) -> Iterator[Block]:
    shown = recovery.defeats[:DEFEATS]
    for defeat in shown:
        titles = " Then: ".join(one.title for one in defeat.procedures)
        lines: list[Line] = [f"{one.actor}: {one.description}" for one in defeat.deeds[-DEEDS:]]
        yield Card(
            [strong("No plan", "bad"), f"  {titles}"],
            (
                Paragraph(f"{defeat.world.name} may then have {recovery.problem.describe(defeat.violated)}:", 4),
                CodeBlock(tuple(lines) or ("without any step of the system",), 4),
            ),
            "bad",
        )
    if len(recovery.defeats) > len(shown):
        yield Paragraph(f"… and {len(recovery.defeats) - len(shown)} more candidates; --json has them all.", 2)


# For machines.


def recovery_object(recovery: Recovery, snapshot: str, command: str) -> dict[str, Any]:
    """Return the JSON object of a recovery."""
    problem = recovery.problem
    return {
        "format": FORMAT,
        "command": command,
        "snapshot": snapshot,
        "headline": problem.inspection.headline,
        "answer": _answer(recovery),
        "exit_code": exit_code(recovery),
        "damage": [_damage(kind, len(seen)) for kind, seen in problem.inspection.by_kind().items()],
        "plan": _plan_object(recovery.plan, problem, snapshot),
        "best_left": _plan_object(recovery.best, problem, snapshot),
        "defeats": [_defeat_object(defeat) for defeat in recovery.defeats],
        "notes": list(problem.notes),
        "tried_on_real_brokers": False,
        "seconds": round(recovery.seconds, 3),
        "states": recovery.visited,
        "compared": recovery.compared,
    }


def _answer(recovery: Recovery) -> str:
    if _nothing_planned(recovery):
        return "not covered"
    if recovery.healthy:
        return "wait" if _repairs_itself(recovery) else "nothing to do"
    if recovery.plan is not None:
        return "plan"
    return "no safe plan" if recovery.complete else "undecided"


def _damage(kind: FindingKind, places: int) -> dict[str, Any]:
    return {"kind": kind.name, "severity": kind.severity.value, "places": places}


def _plan_object(plan: Plan | None, problem: Problem, snapshot: str) -> list[dict[str, Any]] | None:
    if plan is None:
        return None
    return [
        {
            "name": one.name, "title": one.title, "commands": list(one.commands),
            **{label.lower(): text for label, text in step_texts(plan, number, problem, snapshot).items()},
            "downtime": plan.downtime[number], "may_stop_after": plan.early[number],
        }
        for number, one in enumerate(plan.procedures)
    ]  # fmt: skip


def _defeat_object(defeat: Defeat) -> dict[str, Any]:
    return {
        "procedures": _names(defeat.procedures), "part": defeat.world.name, "violated": sorted(defeat.violated),
        "trace": _lines(defeat.deeds),
    }  # fmt: skip


def _names(procedures: Sequence[Procedure]) -> list[str]:
    return [one.name for one in procedures]


def _lines(deeds: Sequence[Deed]) -> list[str]:
    return [f"{one.actor}: {one.description}" for one in deeds]
