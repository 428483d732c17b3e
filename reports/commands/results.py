"""What a search leaves: files for each trace that it found, and a report on standard output."""
from __future__ import annotations

import json
import shlex
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from attrs import evolve
from rich.console import Console
from rich.text import Text

from model.language import Reading
from reports.clusters import SHOWN, cluster_table
from reports.commands.target import Target
from reports.escaping import visible
from reports.files import CannotWrite, OutFolder
from reports.machine import verdict_object
from reports.replaying import stamped
from reports.saving import save
from reports.story import tell
from reports.summary import indented, summary
from reports.terminal import console, put
from reports.text import print_story
from search.trace import Trace
from search.verdict import Finding, Verdict

WRITTEN_AS = {"trace": "Trace", "page": "Read", "markdown": "Markdown"}
"""What the verdict calls each file that is written."""


def deliver(aim: Target, verdict: Verdict, out: OutFolder, options: Namespace) -> int:
    """Write the traces, print the verdict; its exit code. What cannot be written is told after the verdict."""
    verdict = evolve(verdict, command=verdict.command or aim.command, findings=_stamped_findings(aim, verdict))
    failure: CannotWrite | None = None
    files: dict[str, dict[str, Path]] = {}
    shapes: list[Path] = []
    try:
        files = {f.claim: save(aim.model, f.trace, out) for f in verdict.findings if f.trace is not None}
        shapes = [save(aim.model, _stamped(aim, verdict, c.trace), out)["trace"] for c in verdict.clusters[:SHOWN]]
    except CannotWrite as error:
        failure = error
    if options.json:
        traces = {claim: paths["trace"] for claim, paths in files.items()}
        facts = list(aim.reading.facts) if aim.reading else []
        told = {"facts": facts, "diagnosis": diagnosis(aim, verdict)}
        print(json.dumps({**verdict_object(verdict, traces, shapes), **told}, indent=2))
    else:
        _print(aim, verdict, (files, shapes), unfold=options.unfold)
    if failure:
        raise failure
    return verdict.exit_code


def _stamped_findings(aim: Target, verdict: Verdict) -> tuple[Finding, ...]:
    return tuple(
        f if f.trace is None else evolve(f, trace=_stamped(aim, verdict, f.trace)) for f in verdict.findings
    )


def _stamped(aim: Target, verdict: Verdict, trace: Trace) -> Trace:
    full = stamped(trace, aim.model, aim.reference)
    return evolve(full, command=trace.command or aim.command, found_by=trace.found_by or verdict.engine)


def diagnosis(aim: Target, verdict: Verdict) -> list[str]:
    """What was found from a snapshot, in the operator's words; nothing if there was none."""
    if aim.reading is None or aim.reading.diagnose is None:
        return []
    trace = verdict.counterexample
    if trace is None:
        return list(aim.reading.diagnose(None))
    with aim.model.active():
        instances = [aim.model.instance(key) for key in trace.actions]
        return list(aim.reading.diagnose([(instance.actor, instance.says) for instance in instances]))


# Text.


def _print(
    aim: Target, verdict: Verdict, written: tuple[dict[str, dict[str, Path]], list[Path]], *, unfold: bool
) -> None:
    out, (files, shapes) = console(), written
    shown = next((f for f in verdict.findings if f.trace is not None), None)
    if aim.reading:
        _print_reading(aim.reading, diagnosis(aim, verdict), out)
    if shown and shown.trace:
        print_story(tell(aim.model, shown.trace), out, unfold=unfold)
        out.print()
    put(out, *summary(verdict, aim.model, shown), *cluster_table(aim.model, verdict.clusters, shapes))
    for ending in _ending(verdict, files, shown):
        out.print(Text(f"  {visible(ending)}"), soft_wrap=True)


def _print_reading(reading: Reading, diagnosis: list[str], out: Console) -> None:
    """What a snapshot amounts to: the diagnosis, its first sentence before all else, then what was read."""
    put(out, *(Text(visible(sentence), style="bold") for sentence in diagnosis[:1]), *map(indented, diagnosis[1:]))
    put(out, *(indented(fact, "dim") for fact in reading.facts), Text())


def _ending(verdict: Verdict, files: dict[str, dict[str, Path]], shown: Finding | None) -> Iterator[str]:
    """Every file that was written, then the commands that reproduce what was found."""
    for claim, paths in files.items():
        first = shown is not None and claim == shown.claim
        about = "" if first else f" of {claim}"
        yield from (f"{WRITTEN_AS[kind]}{about}: {path}" for kind, path in paths.items() if first or kind == "trace")
    if shown and shown.claim in files:
        yield f"Reproduce: kwalk replay {shlex.quote(str(files[shown.claim]['trace']))}"
        yield f"Search again: {verdict.command}"
    else:
        yield f"Reproduce: {verdict.command}"
