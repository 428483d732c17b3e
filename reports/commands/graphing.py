"""The command `kwalk graph`: the state graph of a model as a picture to draw, and its figures."""
from __future__ import annotations

import hashlib
import json
import shlex
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attrs import asdict
from rich.text import Text

from reports.commands.target import Target, target
from reports.dot import LABELS, Drawing, about, dot_text, extent
from reports.escaping import file_stem, visible
from reports.files import CannotWrite, OutFolder, out_folder
from reports.progress import shown_on_stderr
from reports.summary import indented
from reports.terminal import console, put
from search.graph import MOST, StateGraph, explore
from search.graph.statistics import Depth, Statistics, statistics_of

INTERRUPTED = 3
"""The exit code after Ctrl-C, as of searches that end undecided."""


def graph(options: Namespace) -> int:
    """Draw the first states of a model and count them; 0, or 3 if it was interrupted."""
    aim = target(options)
    with out_folder(options.out) as out:
        with shown_on_stderr() as report:
            explored = explore(aim.model, claims=aim.claims, most=options.most or MOST, report=report)
        return _deliver(aim, Drawing(explored, options.label or LABELS[0], aim.command), out, options)


def _deliver(aim: Target, drawing: Drawing, out: OutFolder, options: Namespace) -> int:
    """Write the file, print the figures; the exit code. What cannot be written is told after the figures."""
    figures, code = statistics_of(drawing.graph), INTERRUPTED * drawing.graph.interrupted
    file: Path | None = None
    failure: CannotWrite | None = None
    try:
        name = _file_name(aim, drawing)
        file = out.write({name: dot_text(drawing)})[name]
    except CannotWrite as error:
        failure = error
    if options.json:
        print(json.dumps({**_object(drawing, figures), "exit_code": code, "file": file and str(file)}, indent=2))
    else:
        _print(drawing, figures, file)
    if failure:
        raise failure
    return code


def _file_name(aim: Target, drawing: Drawing) -> str:
    """A name that is the same for the same command, and another for another one."""
    digits = hashlib.blake2b(drawing.command.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{file_stem(aim.model.scenario.name, aim.model.variant, 'graph', longest=80)}-{digits}.dot"


# Text.


def _print(drawing: Drawing, figures: Statistics, file: Path | None) -> None:
    explored, out = drawing.graph, console()
    put(out, Text.assemble(("GRAPH", "bold"), f"  {extent(explored)}"), *map(indented, _facts(explored, figures)))
    ending = [] if file is None else [f"Graph: {file}", f"Draw: dot -Tsvg -O {shlex.quote(str(file))}"]
    for line in (*ending, f"Reproduce: {drawing.command}"):
        out.print(Text(f"  {visible(line)}"), soft_wrap=True)


def _facts(explored: StateGraph, figures: Statistics) -> Iterator[str]:
    """Sentences on what was counted, in a fixed order."""
    branching = figures.branching
    yield about(explored.model)
    if explored.left_out:
        yield "all figures but those by depth are about the drawn states and the steps out of them"
    yield f"states by depth, from 0 on: {', '.join(map(_depth, figures.depths))}"
    yield (
        f"branching (other states that a state leads to): least {branching.least}, median {branching.median:g}, "
        f"most {branching.most}, mean {branching.mean:.2f}"
    )
    yield f"steps: {figures.steps:,}, of which {figures.idle:,} idle; edges drawn between states: {figures.edges:,}"
    yield (
        f"quiet states: {figures.quiet:,}; dead ends: {figures.dead_ends:,}; "
        f"ends where only a bound is in the way: {figures.blocked_ends:,}"
    )
    yield (
        f"strongly connected components: {figures.components:,}, the largest of {figures.largest_component:,}; "
        f"states on a cycle with others: {figures.cyclic:,}"
    )
    yield from (f"violated: {claim}, {_times(count)}" for claim, count in figures.violations.items())
    yield from (f"bound reached: {name}, {_times(hits)}" for name, hits in explored.bounds_hit.items() if hits)


def _times(count: int) -> str:
    return f"{count:,} time" + "s" * (count != 1)


def _depth(depth: Depth) -> str:
    """How many states there are at a depth, and how many of them are drawn if not all."""
    least = "" if depth.complete else "at least "
    drawn = "" if depth.drawn == depth.states else f" ({depth.drawn:,} drawn)"
    return f"{least}{depth.states:,}{drawn}"


# JSON.


def _object(drawing: Drawing, figures: Statistics) -> dict[str, Any]:
    explored, model = drawing.graph, drawing.graph.model
    return {
        "scenario": model.scenario.name,
        "variant": model.variant,
        "flags": dict(model.asked_flags),
        "bounds": dict(model.binding.bounds),
        "states": len(explored.nodes),
        "left_out": explored.left_out,
        "interrupted": explored.interrupted,
        **asdict(figures),
        "bounds_hit": explored.bounds_hit,
        "command": drawing.command,
    }
