"""The command about saved traces: `kwalk replay`."""

from __future__ import annotations

import io
import shlex
import sys
from argparse import Namespace
from collections.abc import Mapping
from functools import partial

from attrs import evolve

from kwalk.model.language import UsageError
from kwalk.model.language.distributions import kwalk_version
from kwalk.model.language.settings import variant_text
from kwalk.reports.document import CodeBlock, strong
from kwalk.reports.document.html import html_page
from kwalk.reports.document.markdown import markdown_page
from kwalk.reports.document.text import Printable, print_blocks, story_text
from kwalk.reports.escaping import visible
from kwalk.reports.files import out_folder
from kwalk.reports.handlers.output import deliver_verdict
from kwalk.reports.handlers.target import command_line
from kwalk.reports.json_output import counterexample_object
from kwalk.reports.program import program
from kwalk.reports.progress import shown_on_stderr
from kwalk.reports.reporter import deliver
from kwalk.reports.streams import remark
from kwalk.reports.terminal import console
from kwalk.reports.traces.itf import itf_text
from kwalk.reports.traces.replay import OpenedTrace, ReplayResult, open_trace, replay
from kwalk.reports.traces.save import stem
from kwalk.reports.traces.sequence import sequence_of, states_of
from kwalk.reports.traces.story import Story, story_of
from kwalk.reports.traces.trace_file import read_trace
from kwalk.search.base.option_table import DEFAULT_OUT
from kwalk.search.base.query import Query
from kwalk.search.results.verdict import Answer, Strength
from kwalk.search.results.verdict_builder import VerdictBuilder, answer_to

ENDINGS = {"text": ".txt", "markdown": ".md", "html": ".html", "itf": ".itf.json"}


def run_replay(options: Namespace) -> int:
    """Execute the steps of a trace again; return the exit code of what they show, 2 if they do not fit the model."""
    _check(options)
    if options.minimize:
        return _minimize(options)
    if options.format is not None:
        return _format(options)
    opened = _opened(options.trace, options.variant, dict(options.flags))
    result = replay(opened.model, opened.trace)
    if result.mismatch and not opened.is_other:
        raise _mismatch_error(opened, result, options.trace)
    _warn(opened, options.trace)
    code = Answer.UNDECIDED.exit_code if result.answer is None else result.answer.exit_code
    blocks: list[Printable] = []
    if result.answer is not None:
        shown = evolve(opened.trace, variant=opened.model.variant, flags=opened.model.flag_overrides)
        blocks += [*story_text(story_of(opened.model, shown), unfold=options.unfold), CodeBlock(("",))]
    blocks.append(CodeBlock(([strong(_outcome(opened, result))],), 2))
    data = partial(_replay_object, opened, result, options.trace)
    return deliver(options, data, blocks, code=code, command=command_line(options, [options.trace]))


REFUSED = {"minimize": ("variant", "flags", "format"), "format": ("variant", "flags", "json", "seconds")}
"""What takes the trace as it was saved, and the options that it has not."""


def _check(options: Namespace) -> None:
    """Raise UsageError for options that contradict each other."""
    for what, refused in REFUSED.items():
        given = [options.rows[name].name_on_command_line(name) for name in refused if getattr(options, name)]
        if getattr(options, what) and given:
            raise UsageError(f"--{what} takes the trace as it was saved. Leave out {', '.join(given)}, or --{what}.")


def _format(options: Namespace) -> int:
    """Write a saved trace in a format; 0."""
    opened = opened_to_replay(options.trace)
    command = f"{program()} replay {shlex.quote(visible(options.trace))}"
    story = evolve(story_of(opened.model, opened.trace), reproduce=command)
    if options.out is not None:
        return _write(opened, story, options)
    if options.format == "text":
        return deliver(options, dict, (*story_text(story, unfold=options.unfold), CodeBlock(("",))), command=command)
    sys.stdout.write(_rendered(opened, story, options))
    return 0


def opened_to_replay(path: str) -> OpenedTrace:
    """Return a saved trace with its model; UsageError if its steps do not fit the model."""
    opened = _opened(path)
    result = replay(opened.model, opened.trace)
    if result.mismatch:
        raise _mismatch_error(opened, result, path)
    _warn(opened, path)
    return opened


def _opened(path: str, variant: str | None = None, flags: Mapping[str, str] | None = None) -> OpenedTrace:
    trace = read_trace(path)
    try:
        opened = open_trace(trace, variant, flags)
    except UsageError as error:
        if variant is not None or flags:
            raise
        raise UsageError(f"{visible(path)!r} belongs to another model, or to another version of it. {error}") from error
    return opened


def _warn(opened: OpenedTrace, path: str) -> None:
    for warning in opened.warnings:
        remark(f"kwalk: {visible(path)!r}: {warning}")


def _mismatch_error(opened: OpenedTrace, result: ReplayResult, path: str) -> UsageError:
    return UsageError(
        f"{visible(path)!r} does not fit the model: {_stops(opened, result)}. "
        f"{' '.join(opened.warnings) or 'The file was edited.'} Search again for a trace that fits the model."
    )


def _stops(opened: OpenedTrace, result: ReplayResult) -> str:
    fits = f"{result.steps} of its {opened.trace.length} steps fit" if result.steps else "no step fits"
    return f"{fits}; {result.mismatch}"


def _outcome(opened: OpenedTrace, result: ReplayResult) -> str:
    trace, variant = opened.trace, variant_text(opened.model.variant, opened.model.flag_overrides)
    prop = visible(trace.prop or "deadlock")
    if result.answer is None:
        return (
            f"The trace does not fit variant {variant}: {_stops(opened, result)}. "
            "Another trace may exist: search that variant."
        )
    if result.answer is Answer.HOLDS and trace.prop is not None and not _is_witness(opened):
        return f"Replayed {trace.length} steps: {prop} holds in the last state; it is no longer violated."
    return f"Replayed {trace.length} steps in plain Python, variant {variant}: the trace is confirmed."


def _is_witness(opened: OpenedTrace) -> bool:
    prop = next((c for c in opened.model.properties if c.key == opened.trace.prop), None)
    return prop is not None and prop.kind.value == "reachable"


def _replay_object(opened: OpenedTrace, result: ReplayResult, path: str) -> dict[str, object]:
    trace = opened.trace
    return {
        "verdict": (result.answer or Answer.UNDECIDED).value,
        "how": "replayed" if result.answer else "the trace does not fit this variant",
        "scenario": trace.scenario,
        "variant": opened.model.variant,
        "flags": dict(opened.model.flag_overrides),
        "bounds": dict(trace.bounds),
        "property": trace.prop,
        "steps": result.steps,
        "mismatch": result.mismatch,
        "warnings": list(opened.warnings),
        "counterexample": counterexample_object(trace, path),
    }


def _rendered(opened: OpenedTrace, story: Story, options: Namespace) -> str:
    """Return the trace in the format that the options name, without colours."""
    if options.format == "markdown":
        return markdown_page(story, sequence=sequence_of(opened.model, opened.trace), unfold=options.unfold)
    if options.format == "html":
        drawn = sequence_of(opened.model, opened.trace)
        return html_page(story, diagram=drawn, states=states_of(opened.model, opened.trace), unfold=options.unfold)
    if options.format == "itf":
        return itf_text(opened.model, opened.trace, kwalk_version())
    text = io.StringIO()
    plain = console(text)
    print_blocks(story_text(story, unfold=options.unfold), plain)
    return text.getvalue()


def _write(opened: OpenedTrace, story: Story, options: Namespace) -> int:
    name = stem(opened.model, opened.trace) + ENDINGS[options.format]
    with out_folder(options.out) as out:
        print(out.write({name: _rendered(opened, story, options)})[name])
    return 0


SECONDS = 60.0
"""The default of `--seconds`."""


def _minimize(options: Namespace) -> int:
    """Minimize a trace, and try to prove that none is shorter; return the exit code of what it shows."""
    from kwalk.search.kernel.compile.compiler import kernel_for
    from kwalk.search.minimize.shortest import shortest

    opened = opened_to_replay(options.trace)
    model, original = opened.model, opened.trace
    command = command_line(options, [options.trace])
    query = Query(original.scenario, model, model.properties, command=command)
    with out_folder(options.out or DEFAULT_OUT) as out:
        with shown_on_stderr() as report:
            seconds = SECONDS if options.seconds is None else options.seconds
            trace, notes = shortest(model, original, kernel_for(model), seconds=seconds, report=report)
        trace = evolve(trace, command=original.command)
        prop = None if trace.prop is None else model.properties_of(trace.prop)[0]
        builder = VerdictBuilder(model, () if prop is None else (prop,), "shrink", query.command)
        verdict = builder.verdict(
            answer_to(prop),
            Strength.EXHAUSTIVE if trace.shortest else Strength.REPLAYED,
            detail=f"shortest ({trace.shortest})" if trace.shortest else "locally minimal: nothing can be left out",
            seed=trace.seed,
            findings=(builder.finding(prop, 1, trace),),
            notes=notes,
        )
        return deliver_verdict(query, verdict, out, options)
