"""Draw the counterexamples that Markdown documents name: `python docs/illustrate.py [--check] FILE …`.

A document names a counterexample in a comment, and its diagram follows:

    <!-- counterexample
    scenario: lost-update
    variant: no-lock
    property: nothing_is_lost()
    bounds: workers=2
    flags: fenced=off; elections=by lot
    steps: read(0); read(1); write(0); write(1)
    -->
    (the diagram, which this program writes)
    <!-- end of counterexample -->

`bounds` and `flags` are optional; flags are written as for `--flag`. Without `steps` the shortest counterexample is
searched for, and its steps are written into the comment. With `steps` they are only replayed, without a search. Older
documents have `claim` instead of `property`.
"""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import evolve, frozen

from kwalk.model.language import Model, PropertyInstance, UsageError
from kwalk.model.language.registry import find_scenario
from kwalk.model.language.settings import setting_from
from kwalk.reports.document.markdown import diagram
from kwalk.reports.traces.sequence import sequence_of
from kwalk.reports.traces.story import story_of
from kwalk.search.results.fairness import is_counterexample, with_loop
from kwalk.search.results.trace import ReplayError, Trace, reference_of, run

BLOCK = re.compile(r"<!-- counterexample\n(?P<head>.*?)-->\n.*?<!-- end of counterexample -->", re.DOTALL)
FIELDS = ("scenario", "variant", "property", "bounds", "flags", "steps")
NEW_NAMES = {"claim": "property"}
NEEDED = ("scenario", "variant", "property")


@frozen
class DocumentCounterexample:
    """The fields of a counterexample in a document."""

    scenario: str
    variant: str
    prop: str
    bounds: Mapping[str, int]
    flags: Mapping[str, str]
    steps: tuple[str, ...]

    @property
    def command(self) -> str:
        """The command that searches for the counterexample."""
        words = ["kwalk", "exhaust", self.scenario, "--variant", self.variant]
        words += [word for name, size in self.bounds.items() for word in ("--bound", f"{name}={size}")]
        words += [word for name, setting in self.flags.items() for word in ("--flag", f"{name}={setting}")]
        return shlex.join([*words, "--property", self.prop.partition("(")[0]])


def illustrated(document: str) -> str:
    """Return the document with every diagram drawn again; UsageError if one is no longer a counterexample."""
    return BLOCK.sub(lambda match: _block(_read(match["head"])), document)


def _read(head: str) -> DocumentCounterexample:
    fields = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
    fields = {NEW_NAMES.get(name, name): text for name, text in fields.items()}
    unknown = [name for name in fields if name not in FIELDS]
    missing = [name for name in NEEDED if name not in fields]
    if unknown or missing:
        what = f"knows no {unknown[0]!r}" if unknown else f"needs {missing[0]!r}"
        raise UsageError(f"A counterexample in a document {what}. It has the lines {', '.join(FIELDS)}.")
    sizes = {name: int(size) for name, size in _pairs(fields.get("bounds", "").split())}
    flags = dict(_pairs(_listed(fields.get("flags", ""))))
    steps = tuple(_listed(fields.get("steps", "")))
    return DocumentCounterexample(fields["scenario"], fields["variant"], fields["property"], sizes, flags, steps)


def _listed(text: str) -> list[str]:
    return [word.strip() for word in text.split(";") if word.strip()]


def _pairs(words: list[str]) -> list[tuple[str, str]]:
    return [(word.partition("=")[0], word.partition("=")[2]) for word in words]


def _block(wanted: DocumentCounterexample) -> str:
    scenario = find_scenario(wanted.scenario)
    flags = {name: setting_from(scenario, name, text) for name, text in wanted.flags.items()}
    model = Model(scenario, wanted.variant, wanted.bounds, flags)
    prop = next((prop for prop in model.properties if prop.key == wanted.prop), None)
    if prop is None:
        raise UsageError(f"Scenario {wanted.scenario!r} has no property instance {wanted.prop!r} under these bounds.")
    trace = _replayed(model, prop, wanted) if wanted.steps else _found(model, prop)
    replayed = evolve(wanted, steps=trace.actions)
    drawing = "\n".join(diagram(story_of(model, trace), sequence_of(model, trace))).rstrip()
    caption = f"{trace.length} steps, the shortest that `{replayed.command}` finds."
    return f"<!-- counterexample\n{_head(replayed)}-->\n{drawing}\n\n{caption}\n<!-- end of counterexample -->"


def _head(wanted: DocumentCounterexample) -> str:
    lines = {
        "scenario": wanted.scenario,
        "variant": wanted.variant,
        "property": wanted.prop,
        "bounds": " ".join(f"{name}={size}" for name, size in wanted.bounds.items()),
        "flags": "; ".join(f"{name}={setting}" for name, setting in wanted.flags.items()),
        "steps": "; ".join(wanted.steps),
    }
    return "".join(f"{name}: {text}\n" for name, text in lines.items() if text)


def _replayed(model: Model, prop: PropertyInstance, wanted: DocumentCounterexample) -> Trace:
    for start in model.initial:
        try:
            states = run(model, start, wanted.steps)
        except ReplayError:
            continue
        trace = with_loop(model, prop, _trace(model, prop, states, wanted.steps))
        if is_counterexample(model, prop, trace):
            return trace
    raise UsageError(
        f"The steps of {wanted.prop} in {wanted.scenario!r} ({wanted.variant}) no longer lead to a violation. "
        f"Remove the line `steps:` to search for others: {wanted.command}"
    )


def _trace(model: Model, prop: PropertyInstance, states: tuple[tuple[int, ...], ...], steps: tuple[str, ...]) -> Trace:
    return Trace(
        reference_of(model), model.variant, model.binding.bounds, states, steps, prop.key, flags=model.flag_overrides
    )


def _found(model: Model, prop: PropertyInstance) -> Trace:
    from kwalk.search.exhaustive.search import exhaust

    found = exhaust(model, properties=(prop,)).counterexample
    if found is None:
        where = f"{model.scenario.name!r} ({model.variant})"
        raise UsageError(f"{prop.key} is not violated in {where}: no counterexample.")
    return found


def main(words: Sequence[str] | None = None) -> int:
    """Draw the diagrams of documents again, or check them; return 1 if one is out of date and is only checked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", metavar="FILE", nargs="+", type=Path)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a diagram is out of date")
    options = parser.parse_args(words)
    stale = 0
    for document in options.documents:
        before = document.read_text(encoding="utf-8")
        after = illustrated(before)
        if after != before:
            stale += 1
            print(f"{document} {'is out of date' if options.check else 'was updated'}.")
            if not options.check:
                document.write_text(after, encoding="utf-8")
    return 1 if stale and options.check else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, UsageError) as error:
        sys.exit(str(error))
