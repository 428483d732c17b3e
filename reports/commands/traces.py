"""The commands that read a saved trace: `kwalk replay` and `kwalk show`."""
from __future__ import annotations

import io
import json
import shlex
import sys
from argparse import Namespace
from collections.abc import Mapping

from attrs import evolve
from rich.text import Text

from model.language import UsageError
from model.language.settings import variant_text
from reports.escaping import visible
from reports.files import out_folder
from reports.itf import itf_text
from reports.machine import counterexample_object
from reports.markdown import markdown_page
from reports.page import html_page
from reports.replaying import Opened, Replayed, open_trace, replay
from reports.saving import stem, version
from reports.story import Story, tell
from reports.streams import remark
from reports.terminal import console
from reports.text import print_story
from reports.trace_file import read_trace
from search.verdict import Answer

ENDINGS = {"text": ".txt", "markdown": ".md", "html": ".html", "itf": ".itf.json"}


def run_replay(options: Namespace) -> int:
    """Take the steps of a trace anew; the exit code of what they show, 2 if they do not fit the model."""
    opened = _opened(options.trace, options.variant, dict(options.flag))
    result = replay(opened.model, opened.trace)
    if result.misfit and not opened.is_other:
        raise _misfit(opened, result, options.trace)
    _warn(opened, options.trace)
    code = Answer.UNDECIDED.exit_code if result.answer is None else result.answer.exit_code
    if options.json:
        print(json.dumps(_replay_object(opened, result, code, options.trace), indent=2))
        return code
    out = console()
    if result.answer is not None:
        shown = evolve(opened.trace, variant=opened.model.variant, flags=opened.model.asked_flags)
        print_story(evolve(tell(opened.model, shown), reproduce=""), out, unfold=options.unfold)
        out.print()
    out.print(Text(f"  {_outcome(opened, result)}", style="bold"), soft_wrap=True)
    out.print(Text(f"  Reproduce: {_command(options)}"), soft_wrap=True)
    return code


def show(options: Namespace) -> int:
    """Print a trace as it was saved; 0."""
    opened = opened_to_replay(options.trace)
    story = evolve(tell(opened.model, opened.trace), reproduce=f"kwalk replay {shlex.quote(visible(options.trace))}")
    if options.out is not None:
        return _write(opened, story, options)
    if options.format == "text":
        print_story(story, console(), unfold=options.unfold)
        console().print(Text(f"\n  Reproduce: {story.reproduce}"), soft_wrap=True)
    else:
        sys.stdout.write(_rendered(opened, story, options))
    return 0


def opened_to_replay(path: str) -> Opened:
    """A saved trace with its model; UsageError if its steps do not fit the model."""
    opened = _opened(path)
    result = replay(opened.model, opened.trace)
    if result.misfit:
        raise _misfit(opened, result, path)
    _warn(opened, path)
    return opened


def _opened(path: str, variant: str | None = None, flags: Mapping[str, str] | None = None) -> Opened:
    trace = read_trace(path)
    try:
        opened = open_trace(trace, variant, flags)
    except UsageError as error:
        if variant is not None or flags:
            raise
        raise UsageError(f"{visible(path)!r} is of another model, or of another version of it. {error}") from error
    return opened


def _warn(opened: Opened, path: str) -> None:
    for warning in opened.warnings:
        remark(f"kwalk: {visible(path)!r}: {warning}")


def _misfit(opened: Opened, result: Replayed, path: str) -> UsageError:
    return UsageError(
        f"{visible(path)!r} does not fit the model: {_stops(opened, result)}. "
        f"{' '.join(opened.warnings) or 'The file was edited.'} Search again for a trace that fits."
    )


def _stops(opened: Opened, result: Replayed) -> str:
    fits = f"{result.steps} of its {opened.trace.length} steps fit" if result.steps else "it stops at once"
    return f"{fits}; {result.misfit}"


def _outcome(opened: Opened, result: Replayed) -> str:
    trace, variant = opened.trace, variant_text(opened.model.variant, opened.model.asked_flags)
    claim = visible(trace.claim or "deadlock")
    if result.answer is None:
        return (
            f"In variant {variant} the trace goes no further: {_stops(opened, result)}. "
            "Another way may still be there: search that variant."
        )
    if result.answer is Answer.HOLDS and trace.claim is not None and not _is_witness(opened):
        return f"Replayed {trace.length} steps: {claim} holds in the end; it is not violated any more."
    return f"Replayed {trace.length} steps in plain Python, variant {variant}: they lead where the trace says."


def _is_witness(opened: Opened) -> bool:
    claim = next((c for c in opened.model.claims if c.key == opened.trace.claim), None)
    return claim is not None and claim.kind.value == "reachable"


def _command(options: Namespace) -> str:
    variant = ["--variant", options.variant] if options.variant else []
    flags = [word for name, text in options.flag for word in ("--flag", f"{name}={text}")]
    return visible(shlex.join(["kwalk", "replay", options.trace, *variant, *flags]))


def _replay_object(opened: Opened, result: Replayed, code: int, path: str) -> dict[str, object]:
    trace = opened.trace
    return {
        "verdict": (result.answer or Answer.UNDECIDED).value,
        "how": "replayed" if result.answer else "the trace does not fit this variant",
        "exit_code": code,
        "scenario": trace.scenario,
        "variant": opened.model.variant,
        "flags": dict(opened.model.asked_flags),
        "bounds": dict(trace.bounds),
        "invariant": trace.claim,
        "steps": result.steps,
        "misfit": result.misfit,
        "warnings": list(opened.warnings),
        "counterexample": counterexample_object(trace, path),
    }


def _rendered(opened: Opened, story: Story, options: Namespace) -> str:
    """The trace in the format asked for; text is plain here."""
    if options.format == "markdown":
        return markdown_page(story, unfold=options.unfold)
    if options.format == "html":
        return html_page(story, unfold=options.unfold)
    if options.format == "itf":
        return itf_text(opened.model, opened.trace, version())
    text = io.StringIO()
    plain = console(text)
    print_story(story, plain, unfold=options.unfold)
    return text.getvalue()


def _write(opened: Opened, story: Story, options: Namespace) -> int:
    name = stem(opened.model, opened.trace) + ENDINGS[options.format]
    with out_folder(options.out) as out:
        print(out.write({name: _rendered(opened, story, options)})[name])
    return 0
