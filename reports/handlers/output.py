"""What commands leave that have a verdict: traces with their pages, and the verdict itself.

What only some results need is imported where these are made, so that a short search ends sooner.
"""

from __future__ import annotations

import hashlib
import shlex
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve

from kwalk.model.language import Reading
from kwalk.reports.document import Block, Paragraph, Span, strong
from kwalk.reports.escaping import file_stem
from kwalk.reports.files import OutFolder
from kwalk.reports.json_output import verdict_object
from kwalk.reports.pages.verdict import MOST_GROUPS, group_table, summary
from kwalk.reports.program import program
from kwalk.reports.progress import shown_on_stderr
from kwalk.reports.reporter import LABELS, Written, deliver
from kwalk.reports.traces.replay import stamped
from kwalk.reports.traces.save import save
from kwalk.reports.traces.story import Story, story_of
from kwalk.search.base.query import Query
from kwalk.search.results.trace import Trace
from kwalk.search.results.verdict import Finding, Verdict

if TYPE_CHECKING:
    from kwalk.reports.document.text import Printable
    from kwalk.reports.pages.incident import Incident

FORESEE_SECONDS = 20.0
"""The time budget of what is foreseen from a snapshot."""


def deliver_verdict(query: Query, verdict: Verdict, out: OutFolder, options: Namespace) -> int:
    """Write the traces, print the verdict; return its exit code. CannotWrite is raised after the verdict is printed."""
    findings = tuple(
        f if f.trace is None else evolve(f, trace=_stamped(query, verdict, f.trace)) for f in verdict.findings
    )
    verdict = evolve(verdict, command=verdict.command or query.command, findings=findings)
    files: dict[str, dict[str, Path]] = {}
    shapes: list[Path] = []
    diagnosis_lines = diagnosis(query, verdict)
    incident = _incident(query, diagnosis_lines, options)
    with Written() as written:
        found = [(f.prop, f.trace) for f in verdict.findings if f.trace is not None]
        stories = {prop: story_of(query.model, trace) for prop, trace in found}
        files = {prop: _save(query, (trace, stories[prop]), out, verdict, incident) for prop, trace in found}
        if incident is not None and not files and incident.inspection.is_damaged:
            from kwalk.reports.handlers.incident import write_incident

            written.names = {LABELS[kind]: str(path) for kind, path in write_incident(incident, out).items()}
        traces = (_stamped(query, verdict, group.trace) for group in verdict.groups[:MOST_GROUPS])
        shapes = [save(query.model, trace, out, verdict.compared)["trace"] for trace in traces]
        if getattr(options, "html", False):
            from kwalk.reports.pages.verdict_page import verdict_page

            page = verdict_page(query.model, verdict, files, shapes)
            title = f"{verdict.scenario}: {verdict.answer.value}"
            written.document(options, out, _page_name(query, verdict), title, page)
    code = exit_code_of(query, verdict)
    blocks = _text(query, verdict, (stories, shapes), (diagnosis_lines, incident), unfold=options.unfold)

    def data() -> dict[str, Any]:
        named = {prop: paths["trace"] for prop, paths in files.items()}
        facts = list(query.reading.facts) if query.reading else []
        page = {"page": written.names["Page"]} if "Page" in written.names else {}
        snapshot = {"facts": facts, "diagnosis": diagnosis_lines}
        return {**verdict_object(verdict, named, shapes, query.model), **snapshot, **page}

    written.names |= _ending(verdict, files)
    return deliver(options, data, blocks, written, code=code)


def _incident(query: Query, diagnosis_lines: list[str], options: Namespace) -> Incident | None:
    """Return what is known of the system of a snapshot, with a plan of repair; None without a snapshot."""
    if query.reading is None or not query.reading.problems:
        return None
    from kwalk.reports.handlers.incident import planned, problem_of
    from kwalk.reports.pages.incident import Incident

    inspection = query.reading.problems[0].inspection
    with shown_on_stderr() as report:
        recovery = planned(problem_of(query.model.scenario, options.snapshot, inspection), report)
    return Incident(options.snapshot, inspection, recovery, diagnosis_lines, facts=query.reading.facts)


def _save(
    query: Query, of: tuple[Trace, Story], out: OutFolder, verdict: Verdict, incident: Incident | None
) -> dict[str, Path]:
    """Write a trace with its story; with an incident, its page begins with that."""
    trace, story = of
    if incident is None:
        return save(query.model, trace, out, verdict.compared, story=story)
    from kwalk.reports.pages.incident import cause_of, incident_object, since_of

    since = since_of(incident.inspection, query.model, trace, story)
    about = evolve(incident, forecast=story, cause=cause_of(story), since=since)
    lead, what = about.lead(), incident_object(about)
    return save(query.model, trace, out, verdict.compared, story=story, lead=lead, about=what)


def _page_name(query: Query, verdict: Verdict) -> str:
    """Return the name of the page of a verdict, with a digest of its command."""
    digits = hashlib.blake2b(verdict.command.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{file_stem(query.model.scenario.name, query.model.variant, verdict.engine, longest=80)}-{digits}.html"


def _stamped(query: Query, verdict: Verdict, trace: Trace) -> Trace:
    full = stamped(trace, query.model, query.reference)
    return evolve(full, command=trace.command or query.command, found_by=trace.found_by or verdict.engine)


def _now(incident: Incident, diagnosis: list[str]) -> Iterator[str]:
    """Yield the sentences of a diagnosis on what is wrong now."""
    from kwalk.reports.pages.outlook import now

    known = set(now(incident.inspection))
    yield from (sentence for sentence in diagnosis if sentence in known)


def diagnosis(query: Query, verdict: Verdict) -> list[str]:
    """Return what the verdict means for the cluster of the snapshot; empty without a snapshot."""
    if query.reading is None or query.reading.diagnose is None:
        return []
    trace = verdict.counterexample
    if trace is None:
        found = list(query.reading.diagnose(None))
    else:
        with query.model.active():
            instances = [query.model.instance(key) for key in trace.actions]
            steps = [(instance.actor, instance.description) for instance in instances]
        found = list(query.reading.diagnose(steps))
    if not query.reading.problems:
        return found
    from kwalk.reports.pages.outlook import diagnosis_of
    from kwalk.search.analyses.recovery import foresee

    outlooks = [foresee(problem, seconds=FORESEE_SECONDS) for problem in query.reading.problems if problem.worlds]
    return diagnosis_of(query.reading.problems[0].inspection, outlooks, found)


def exit_code_of(query: Query, verdict: Verdict) -> int:
    """Return the exit code of what an inspection found, which the search may not be about; otherwise the verdict's."""
    problems = query.reading.problems if query.reading else ()
    if not problems:
        return verdict.exit_code
    inspection = problems[0].inspection
    return inspection.exit_code if inspection.is_damaged else verdict.exit_code or inspection.exit_code


def _text(
    query: Query,
    verdict: Verdict,
    of: tuple[dict[str, Story], list[Path]],
    snapshot: tuple[list[str], Incident | None],
    *,
    unfold: bool,
) -> Iterator[Printable]:
    """Yield what the snapshot shows, the story of the first counterexample, the verdict, and its groups."""
    stories, shapes = of
    if query.reading:
        yield from _reading_blocks(query.reading, *snapshot)
    shown = _shown(verdict)
    if shown:
        from kwalk.reports.document.text import story_text

        yield from (*story_text(stories[shown.prop], unfold=unfold), Paragraph(""))
    yield from summary(verdict, query.model, shown)
    code = exit_code_of(query, verdict)
    if code != verdict.exit_code:
        yield Paragraph(f"The exit code, {code}, is that of what the snapshot shows.", 2)
    yield from group_table(query.model, verdict.groups, shapes)


def _shown(verdict: Verdict) -> Finding | None:
    """Return the finding whose story is told."""
    return next((finding for finding in verdict.findings if finding.trace is not None), None)


def _reading_blocks(reading: Reading, diagnosis: list[str], incident: Incident | None) -> Iterator[Block]:
    """Yield what is wrong in a snapshot, then the plan of repair, what may happen, and the facts that were read."""
    wrong = [] if incident is None or not incident.inspection.is_damaged else list(_now(incident, diagnosis))
    sentences = [*wrong, *(sentence for sentence in diagnosis if sentence not in wrong)]
    yield from (Paragraph([strong(sentence)]) for sentence in sentences[:1])
    yield from (Paragraph(sentence, 2) for sentence in sentences[1 : len(wrong)])
    if wrong and incident is not None and incident.recovery is not None:
        from kwalk.reports.pages.recovery import title_of, way_out

        yield from (Paragraph(""), Paragraph(title_of(incident.recovery)))
        yield from way_out(incident.recovery, incident.snapshot)
        yield Paragraph("")
    yield from (Paragraph(sentence, 2) for sentence in sentences[max(1, len(wrong)) :])
    yield from (Paragraph([Span(fact, "faint")], 2) for fact in reading.facts)
    yield Paragraph("")


def _ending(verdict: Verdict, files: dict[str, dict[str, Path]]) -> dict[str, str]:
    """Return every file of a trace that was written, then the commands that reproduce what was found."""
    ending: dict[str, str] = {}
    top_finding = _shown(verdict)
    for prop, paths in files.items():
        first = top_finding is not None and prop == top_finding.prop
        about = "" if first else f" of {prop}"
        ending |= {f"{LABELS[kind]}{about}": str(path) for kind, path in paths.items() if first or kind == "trace"}
    if top_finding and top_finding.prop in files:
        replayed = shlex.quote(str(files[top_finding.prop]["trace"]))
        return {**ending, "Reproduce": f"{program()} replay {replayed}", "Search again": verdict.command}
    return {**ending, "Reproduce": verdict.command}
