"""Draw the counterexamples that Markdown documents show: `python -m docs.illustrate [--check] FILE …`.

A document shows a counterexample as an image named by the property instance, and the command that finds it:

    ![nothing_is_lost()](../diagrams/lost-update-no-lock-nothing-is-lost.svg)

    Shortest, 4 steps: `kwalk exhaust lost-update --variant no-lock --property nothing_is_lost`.

This program writes the name of the file, the number of steps, and the drawing, which keeps the steps. If the file
exists, they are replayed, without a search; otherwise the shortest counterexample is searched for. Begin with
`![PROPERTY]()` and `? steps`. The longer form `4 steps, the shortest that … finds.` is read, too.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import frozen

from docs.counterexample_drawing import drawing, steps_of
from kwalk.model.language import Model, PropertyInstance, UsageError
from kwalk.model.language.registry import find_scenario
from kwalk.model.language.settings import setting_from
from kwalk.reports.escaping import file_stem
from kwalk.reports.options.parser import parser
from kwalk.reports.traces.sequence import sequence_of
from kwalk.reports.traces.story import story_of
from kwalk.search.results.fairness import is_counterexample, with_loop
from kwalk.search.results.trace import ReplayError, Trace, reference_of, run

BLOCK = re.compile(
    r"!\[(?P<prop>[^\]\n]*)\]\((?:[^)\s]*\.svg)?\)\n\n(?P<before>Shortest, )?(?:\d+|\?) steps?"
    r"(?P<after>(?(before):|, the shortest that) `(?P<command>kwalk exhaust [^`]+)`(?(before)| finds)\.)"
)
FOLDER = Path(__file__).parent / "diagrams"


@frozen
class DocumentCounterexample:
    """What a document says of a counterexample."""

    prop: str
    command: str
    scenario: str
    variant: str | None
    bounds: Mapping[str, int]
    flags: Mapping[str, str]

    @property
    def file(self) -> str:
        """The name of the drawing."""
        pairs = [f"{name}={setting}" for name, setting in (*self.bounds.items(), *self.flags.items())]
        return f"{file_stem(self.scenario, self.variant or '', *pairs, self.prop)}.svg"


def illustrated(page: Path, document: str, folder: Path | None = None) -> dict[Path, str]:
    """Draw the counterexamples of a document.

    Args:
        page: The file of the document.
        document: Its text.
        folder: Where the drawings are; None for `docs/diagrams`.

    Returns:
        The text of the document and of each drawing, by file.

    Raises:
        UsageError: One is no counterexample, or no longer.
    """
    drawings: dict[Path, str] = {}

    def block(found: re.Match[str]) -> str:
        wanted = _read(found["prop"], found["command"])
        file = (folder or FOLDER) / wanted.file
        length, drawings[file] = _drawn(wanted, file)
        link = Path(os.path.relpath(file, page.parent)).as_posix()
        steps = f"{length} step{'s' * (length != 1)}"
        return f"![{wanted.prop}]({link})\n\n{found['before'] or ''}{steps}{found['after']}"

    return {page: BLOCK.sub(block, document), **drawings}


def _read(prop: str, command: str) -> DocumentCounterexample:
    words = shlex.split(command)
    options = parser().parse_args(words[1:])
    bounds, flags = dict(options.bounds), dict(options.flags)
    return DocumentCounterexample(prop, command, options.scenario, options.variant, bounds, flags)


def _drawn(wanted: DocumentCounterexample, file: Path) -> tuple[int, str]:
    """Return the number of steps and the drawing."""
    scenario = find_scenario(wanted.scenario)
    flags = {name: setting_from(scenario, name, text) for name, text in wanted.flags.items()}
    model = Model(scenario, wanted.variant, wanted.bounds, flags)
    prop = next((prop for prop in model.properties if prop.key == wanted.prop), None)
    if prop is None:
        raise UsageError(f"Scenario {wanted.scenario!r} has no property instance {wanted.prop!r} under these bounds.")
    trace = _replayed(model, prop, file, wanted) if file.exists() else _found(model, prop)
    return trace.length, drawing(story_of(model, trace), sequence_of(model, trace), trace.actions)


def _replayed(model: Model, prop: PropertyInstance, file: Path, wanted: DocumentCounterexample) -> Trace:
    steps = steps_of(file.read_text(encoding="utf-8"))
    for start in model.initial:
        try:
            states = run(model, start, steps)
        except ReplayError:
            continue
        trace = with_loop(model, prop, _trace(model, prop, states, steps))
        if is_counterexample(model, prop, trace):
            return trace
    raise UsageError(
        f"The steps of {str(file)!r} no longer lead to a violation of {wanted.prop}. "
        f"Remove the file to search for others: {wanted.command}"
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
        for file, text in illustrated(document, document.read_text(encoding="utf-8")).items():
            if file.exists() and file.read_text(encoding="utf-8") == text:
                continue
            stale += 1
            print(f"{file} {'is out of date' if options.check else 'was updated'}.")
            if not options.check:
                file.write_text(text, encoding="utf-8")
    return 1 if stale and options.check else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, UsageError) as error:
        sys.exit(str(error))
