"""The plan of repair of a real system from its snapshot: `kwalk diagnose --plan`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from typing import Any

from kwalk.model.language.inspection import FindingKind
from kwalk.model.language.recovery import Problem, Procedure
from kwalk.reports.handlers.incident import write_incident_pages
from kwalk.reports.handlers.target import command_line, read_by, scenario_with
from kwalk.reports.pages.incident import Incident
from kwalk.reports.pages.recovery import blocks_of, is_unjudged, nothing_planned, repairs_itself, safety, step_texts
from kwalk.reports.progress import shown_on_stderr
from kwalk.reports.reporter import Written, deliver
from kwalk.search.analyses.recovery import Defeat, Plan, Recovery, plan_recovery
from kwalk.search.analyses.settling import Deed

NOTHING, PLANNED, NO_PLAN, UNDECIDED = 0, 0, 12, 3
"""Exit codes."""


def run_recover(options: Namespace) -> int:
    """Plan a repair; 0 if there is a plan or nothing to do, 12 if there is none, 3 if the time ended before."""
    _, scenario = scenario_with("recover_snapshot", options.scenario)
    problem = read_by(scenario, "recover_snapshot", options.snapshot)
    with shown_on_stderr() as report:
        recovery = plan_recovery(problem, seconds=options.seconds, report=report)
    with Written() as written:
        write_incident_pages(Incident(options.snapshot, problem.inspection, recovery), options, written)
    data, blocks = partial(recovery_object, recovery, options.snapshot), blocks_of(recovery, options.snapshot)
    return deliver(
        options, data, blocks, written, code=exit_code(recovery), command=command_line(options, [options.snapshot])
    )


def exit_code(recovery: Recovery) -> int:
    """Return 0 for a plan, 12 if there is none, 3 if that is undecided, or the snapshot does not show enough."""
    if recovery.plan is not None and not (nothing_planned(recovery) or is_unjudged(recovery)):
        return PLANNED
    return NO_PLAN if recovery.complete and not is_unjudged(recovery) else UNDECIDED


# For machines.


def recovery_object(recovery: Recovery, snapshot: str) -> dict[str, Any]:
    """Return the JSON object of a recovery."""
    problem = recovery.problem
    return {
        "snapshot": snapshot,
        "headline": problem.inspection.headline,
        "damage": [_damage(kind, len(seen)) for kind, seen in problem.inspection.by_kind().items()],
        **_answer_object(recovery, snapshot),
        "alternatives": [_answer_object(one, snapshot) for one in recovery.alternatives],
        "seconds": round(recovery.seconds, 3),
        "states": recovery.visited,
        "compared": recovery.compared,
    }


def _answer_object(recovery: Recovery, snapshot: str) -> dict[str, Any]:
    """Return what is said of an answer, also of one under another condition."""
    problem, plan = recovery.problem, recovery.plan or recovery.best
    return {
        "premise": problem.premise,
        "answer": _answer(recovery),
        "safe": safety(problem) if recovery.plan and recovery.plan.procedures else None,
        "plan": _plan_object(recovery.plan, problem, snapshot),
        "faults": _faults(plan),
        "best_left": _plan_object(recovery.best, problem, snapshot),
        "defeats": [_defeat_object(defeat) for defeat in recovery.defeats],
        "left_out": list(problem.left_out),
        "withheld": list(problem.withheld),
        "uncovered": list(problem.uncovered),
        "notes": list(problem.notes),
        "carried_out": [] if plan is None else [one.name for one in problem.carried_out_as(plan.procedures)],
    }


def _answer(recovery: Recovery) -> str:
    if nothing_planned(recovery):
        return "not covered"
    if is_unjudged(recovery):
        return "not judged"
    if repairs_itself(recovery):
        return "wait"
    if recovery.healthy:
        return "nothing to repair" if recovery.problem.inspection.observations else "nothing to do"
    if recovery.plan is not None:
        return "plan"
    return "no safe plan" if recovery.complete else "undecided"


def _faults(plan: Plan | None) -> str | None:
    """Return when one fault may happen during a plan, or during the best that is left."""
    if plan is None or not plan.faults:
        return None
    return "at any moment" if plan.at_any_moment else "at rest after a step"


def _damage(kind: FindingKind, places: int) -> dict[str, Any]:
    return {"kind": kind.name, "severity": kind.severity.value, "places": places}


def _plan_object(plan: Plan | None, problem: Problem, snapshot: str) -> list[dict[str, Any]] | None:
    if plan is None:
        return None
    return [
        {
            "name": one.name,
            "title": one.title,
            "commands": list(one.commands),
            **{label.lower(): text for label, text in step_texts(plan, number, problem, snapshot).items()},
            "downtime": plan.downtime[number],
            "may_stop_after": plan.early[number],
        }
        for number, one in enumerate(plan.procedures)
    ]


def _defeat_object(defeat: Defeat) -> dict[str, Any]:
    return {
        "procedures": _names(defeat.procedures),
        "part": defeat.world.name,
        "violated": sorted(defeat.violated),
        "trace": _lines(defeat.deeds),
    }


def _names(procedures: Sequence[Procedure]) -> list[str]:
    return [one.name for one in procedures]


def _lines(deeds: Sequence[Deed]) -> list[str]:
    return [f"{one.actor}: {one.description}" for one in deeds]
