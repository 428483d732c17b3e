"""What commands leave behind: files, and results on standard output, as text or as one JSON object.

What only some results need is imported where these are made, so that a short search ends sooner.
"""

from __future__ import annotations

import hashlib
import shlex
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from attrs import evolve

from kwalk.model.language import Reading
from kwalk.reports.document import Block, CodeBlock, Lead, Paragraph, Span, strong
from kwalk.reports.document.html import html_document
from kwalk.reports.document.markdown import markdown_document
from kwalk.reports.escaping import file_stem, visible
from kwalk.reports.files import CannotWrite, OutFolder, out_folder
from kwalk.reports.json_output import print_json, verdict_object
from kwalk.reports.pages.verdict import MOST_GROUPS, group_table, summary
from kwalk.reports.program import program
from kwalk.reports.progress import shown_on_stderr
from kwalk.reports.traces.replay import stamped
from kwalk.reports.traces.save import save
from kwalk.reports.traces.story import Story, story_of
from kwalk.search.base.query import Query
from kwalk.search.results.trace import Trace
from kwalk.search.results.verdict import Finding, Verdict

if TYPE_CHECKING:
    from rich.console import Console

    from kwalk.reports.pages.incident import Incident

FORESEE_SECONDS = 20.0
"""The time budget of what is foreseen from a snapshot."""
LABELS = {"trace": "Trace", "page": "Read", "markdown": "Markdown"}
"""What the output calls each file of a trace, by its format."""


class Written:
    """The files that a `with` block writes; a CannotWrite there is raised after the results are printed."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.failure: CannotWrite | None = None

    def __enter__(self) -> Written:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> bool:
        self.failure = error if isinstance(error, CannotWrite) else None
        return self.failure is not None

    def checked(self, code: int) -> int:
        """Return the exit code; raise CannotWrite if a file could not be written."""
        if self.failure is not None:
            raise self.failure
        return code


def print_result(
    options: Namespace,
    page: Callable[[], Mapping[str, Any]],
    blocks: Iterable[Block],
    files: Mapping[str, str],
    command: str,
) -> None:
    """Print the result of a command: with --json one object, otherwise blocks and the ending.

    Args:
        options: The parsed command line.
        page: Returns the object.
        blocks: What people read.
        files: The files that were written, by what they are.
        command: The command that repeats the run.
    """
    if options.json:
        print_json(page())
        return
    from kwalk.reports.document.text import print_blocks
    from kwalk.reports.terminal import console

    print_blocks(blocks, console())
    print_ending(files, command, console())


def print_ending(files: Mapping[str, str], command: str, out: Console) -> None:
    """Print the files that were written, by what they are, and the command that repeats the run."""
    from kwalk.reports.document.text import print_blocks

    lines = tuple(f"{label}: {text}" for label, text in {**files, "Reproduce": command}.items())
    print_blocks([CodeBlock(lines, 2)], out)


@contextmanager
def document_folder(file: str | None, option: str) -> Iterator[OutFolder | None]:
    """Yield the folder of a document that an option names, None without one; CannotWrite if it names a folder."""
    if file is None:
        yield None
        return
    path = Path(file)
    if not path.name or path.is_dir():
        raise CannotWrite(f"Cannot write to {visible(file)!r}: it is a folder. Name a file with {option}.")
    with out_folder(path.parent) as folder:
        yield folder


def write_documents(lead: Lead, options: Namespace) -> dict[str, str]:
    """Write the documents that `--html` and `--markdown` name; return their paths by what they are."""
    found: dict[str, str] = {}
    with document_folder(options.html, "--html") as folder:
        if folder is not None:
            folder.write({Path(options.html).name: html_document(lead.title, lead.blocks)})
            found[LABELS["page"]] = options.html
    with document_folder(options.markdown, "--markdown") as folder:
        if folder is not None:
            folder.write({Path(options.markdown).name: markdown_document(lead.blocks)})
            found[LABELS["markdown"]] = options.markdown
    return found


# Verdicts.


def deliver(query: Query, verdict: Verdict, out: OutFolder, options: Namespace) -> int:
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
        if incident is not None and not files and incident.inspection.exit_code:
            from kwalk.reports.handlers.incident import write_incident

            written.names = {LABELS[kind]: str(path) for kind, path in write_incident(incident, out).items()}
        traces = (_stamped(query, verdict, group.trace) for group in verdict.groups[:MOST_GROUPS])
        shapes = [save(query.model, trace, out, verdict.compared)["trace"] for trace in traces]
        if getattr(options, "html", False):
            written.names["Page"] = str(_write_page(query, verdict, (files, shapes), out))
    if options.json:
        named = {prop: paths["trace"] for prop, paths in files.items()}
        facts = list(query.reading.facts) if query.reading else []
        snapshot = {"facts": facts, "diagnosis": diagnosis_lines}
        page = {"page": written.names["Page"]} if "Page" in written.names else {}
        shown = verdict_object(verdict, named, shapes, query.model)
        print_json({**shown, "exit_code": exit_code_of(query, verdict), **snapshot, **page})
    else:
        lead = list(_reading_blocks(query.reading, diagnosis_lines, incident)) if query.reading else []
        _print(query, verdict, lead, (files, stories, shapes), written.names, unfold=options.unfold)
    return written.checked(exit_code_of(query, verdict))


def _incident(query: Query, diagnosis_lines: list[str], options: Namespace) -> Incident | None:
    """Return what is known of the system of a snapshot, with a plan of repair; None without a snapshot."""
    if query.reading is None or not query.reading.problems:
        return None
    from kwalk.reports.handlers.incident import planned
    from kwalk.reports.pages.incident import Incident

    problem = query.reading.problems[0]
    with shown_on_stderr() as report:
        recovery = planned(problem, report)
    return Incident(options.snapshot, problem.inspection, recovery, diagnosis_lines, facts=query.reading.facts)


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


def _write_page(
    query: Query, verdict: Verdict, written: tuple[dict[str, dict[str, Path]], list[Path]], out: OutFolder
) -> Path:
    """Write the page of a verdict."""
    from kwalk.reports.pages.verdict_page import verdict_page

    name = f"{file_stem(query.model.scenario.name, query.model.variant, verdict.engine, longest=80)}-" + (
        f"{hashlib.blake2b(verdict.command.encode('utf-8', 'surrogatepass'), digest_size=4).hexdigest()}.html"
    )
    blocks = verdict_page(query.model, verdict, *written)
    return out.write({name: html_document(f"{verdict.scenario}: {verdict.answer.value}", blocks)})[name]


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
    return (problems[0].inspection.exit_code if problems else 0) or verdict.exit_code


def _print(
    query: Query,
    verdict: Verdict,
    lead: Sequence[Block],
    written: tuple[dict[str, dict[str, Path]], dict[str, Story], list[Path]],
    pages: Mapping[str, str],
    *,
    unfold: bool,
) -> None:
    from kwalk.reports.document.text import print_blocks, print_story
    from kwalk.reports.terminal import console

    out, (files, stories, shapes) = console(), written
    shown = next((f for f in verdict.findings if f.trace is not None), None)
    print_blocks(lead, out)
    if shown and shown.trace:
        print_story(stories[shown.prop], out, unfold=unfold)
        out.print()
    print_blocks(summary(verdict, query.model, shown), out)
    code = exit_code_of(query, verdict)
    if code != verdict.exit_code:
        print_blocks([Paragraph(f"The exit code, {code}, is that of the damage which the snapshot shows.", 2)], out)
    print_blocks(group_table(query.model, verdict.groups, shapes), out)
    lines = (*(f"{label}: {path}" for label, path in pages.items()), *_ending(verdict, files, shown))
    print_blocks([CodeBlock(lines, 2)], out)


def _reading_blocks(reading: Reading, diagnosis: list[str], incident: Incident | None) -> Iterator[Block]:
    """Yield what is wrong in a snapshot, then the plan of repair, what may happen, and the facts that were read."""
    wrong = [] if incident is None or incident.inspection.exit_code == 0 else list(_now(incident, diagnosis))
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


def _ending(verdict: Verdict, files: dict[str, dict[str, Path]], top_finding: Finding | None) -> Iterator[str]:
    """Yield every file that was written, then the commands that reproduce what was found."""
    for prop, paths in files.items():
        first = top_finding is not None and prop == top_finding.prop
        about = "" if first else f" of {prop}"
        yield from (f"{LABELS[kind]}{about}: {path}" for kind, path in paths.items() if first or kind == "trace")
    if top_finding and top_finding.prop in files:
        yield f"Reproduce: {program()} replay {shlex.quote(str(files[top_finding.prop]['trace']))}"
        yield f"Search again: {verdict.command}"
    else:
        yield f"Reproduce: {verdict.command}"
