"""What commands about snapshots leave for people: the page of an incident, as HTML and Markdown."""

from __future__ import annotations

import time
from argparse import Namespace
from pathlib import Path
from typing import Any

from kwalk.model.language import Scenario, UsageError
from kwalk.model.language.inspection import Inspection
from kwalk.model.language.recovery import Problem
from kwalk.model.language.registry import announced
from kwalk.reports.document.html import html_document
from kwalk.reports.document.markdown import markdown_document
from kwalk.reports.escaping import file_stem
from kwalk.reports.files import OutFolder, out_folder
from kwalk.reports.pages.incident import Incident
from kwalk.reports.reporter import Written, folder_of
from kwalk.search.analyses.recovery import Recovery, plan_recovery
from kwalk.search.analyses.settling import prepared
from kwalk.search.base.progress import Report

PLAN_SECONDS = 20.0
"""The time budget of a plan that is made for a page only."""


def planned(problem: Problem | None, report: Report, seconds: float = PLAN_SECONDS) -> Recovery | None:
    """Return a plan of repair for a page; None if nothing is wrong or no plan can be looked for."""
    if problem is None or not problem.inspection.is_damaged or not problem.procedures:
        return None
    return plan_recovery(problem, seconds=seconds, report=report)


ANSWERING = 0.7
"""The share of the time of a plan after which it is looked for no longer; the rest says why there is none."""


def planned_until(problem: Problem | None, report: Report, deadline: float) -> Recovery | None:
    """Return a plan as `planned` does, in time; None also if its models cannot be compiled by then.

    Args:
        problem: The problem.
        report: Receives progress.
        deadline: When it is to be done, in seconds of the monotonic clock.
    """
    if problem is None or not problem.inspection.is_damaged or not problem.procedures:
        return None
    if not prepared(problem, ANSWERING * (deadline - time.monotonic())):
        return None
    left = ANSWERING * (deadline - time.monotonic())
    return planned(problem, report, min(left, PLAN_SECONDS)) if left > 0 else None


def problem_of(scenario: Scenario, snapshot: str, inspection: Inspection) -> Problem | None:
    """Return the problem of repairing what a snapshot shows; None if nothing is wrong, or no scenario has one."""
    return _read(scenario, "recover_snapshot", snapshot) if inspection.is_damaged else None


def can_plan(scenario: Scenario) -> bool:
    """Return whether some scenario plans repairs of the systems that this one inspects."""
    return _with_hook(scenario, "recover_snapshot") is not None


def inspection_of(scenario: Scenario, snapshot: str) -> Inspection | None:
    """Return what is wrong in a snapshot; None if no scenario of its system inspects it."""
    found: Inspection | None = _read(scenario, "inspect_snapshot", snapshot)
    return found


def _read(scenario: Scenario, hook: str, snapshot: str) -> Any:
    """Return what a hook reads in a snapshot that another one has read; None if there is none, or it refuses it."""
    reader = _with_hook(scenario, hook)
    try:
        return None if reader is None else getattr(reader, hook)(snapshot)
    except UsageError:
        return None


def _with_hook(scenario: Scenario, hook: str) -> Scenario | None:
    """Return the scenario, or an installed one of the same state class, that has a hook for snapshots."""
    known = (scenario, *(one for one in announced().values() if one.state is scenario.state))
    return next((one for one in known if getattr(one, hook) is not None), None)


def write_incident(incident: Incident, out: OutFolder) -> dict[str, Path]:
    """Write the page of an incident that no trace belongs to; return the paths by format."""
    names = {"page": page_name(incident), "markdown": f"{page_name(incident).removesuffix('.html')}.md"}
    lead = incident.lead()
    written = out.write(
        {names["page"]: html_document(lead.title, lead.blocks), names["markdown"]: markdown_document(lead.blocks)}
    )
    return {kind: written[each] for kind, each in names.items()}


def page_name(incident: Incident) -> str:
    """Return the name of the page of an incident."""
    return f"{file_stem('incident', Path(incident.snapshot).stem)}.html"


def write_incident_pages(incident: Incident, options: Namespace, written: Written) -> None:
    """Write the pages of an incident that the options ask for."""
    lead = incident.lead()
    if options.html:
        with out_folder(options.out) as out:
            written.document(options, out, page_name(incident), lead.title, lead.blocks)
    with folder_of(options.markdown, "--markdown") as folder:
        written.markdown(options, folder, lead.blocks)
