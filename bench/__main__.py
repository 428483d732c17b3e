"""`python -m bench`: kwalk and other model checkers on the same reference model, side by side in one run.

Every complete search must count the same states, or the bench fails. What this machine lacks is left out by name.
Without options it takes some twenty minutes; `--works search --tools kwalk C Stateright SPIN` takes about one.
"""

from __future__ import annotations

import argparse
import datetime
import os
import sys
from pathlib import Path

from bench import ports
from bench.reference import SIZES, WORKS, Plan
from bench.rounds import Contest, Series, WrongCount
from bench.table import document, machine
from bench.tools import KWALK, TOOLS, entries_of


def main(arguments: list[str] | None = None) -> int:
    """Build, measure, print the tables; 1 if a count is wrong or kwalk itself could not be measured."""
    options = _parsed(arguments)
    size = SIZES[options.size]
    heading = [
        f"# The reference model at {size.distinct:,} states, {options.runs} interleaved runs",
        "",
        f"{machine()}; searches on all cores use {options.cores}; {datetime.date.today()}.",
        "",
    ]
    works = {work for name in options.works for work in WORKS[name]}
    entries, absent = entries_of(tuple(options.tools), Plan(size, options.cores))
    contest = Contest(size, [Series(entry) for entry in entries if entry.work in works], options.seconds, _report)
    try:
        for number in range(options.runs):
            contest.round(number)
        apart = [*ports.lines(options.runs, options.seconds, _report)] if "ports" in options.works else []
    except WrongCount as wrong:
        print(f"Wrong count: {wrong} Its speed means nothing; see bench/peers/README.md.", file=sys.stderr)
        return 1
    lines = [*heading, *document(contest, absent), "", *apart]
    print("\n".join(lines))
    if options.out:
        _write(options.out, lines)
    return int(any(series.entry.tool == KWALK and series.ended is not None for series in contest.series))


def _parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--size", choices=SIZES, default="0.8M", help="distinct states of the model, about (0.8M)")
    parser.add_argument("--runs", type=_positive, default=5, help="rounds in which each tool is run once (5)")
    parser.add_argument("--seconds", type=float, default=300, help="limit of one run; a tool past it is left out (300)")
    parser.add_argument("--cores", type=_positive, default=os.cpu_count() or 1, help="for searches on many cores (all)")
    parser.add_argument("--works", nargs="+", choices=WORKS, default=list(WORKS), help="only these (all)")
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=list(TOOLS), help="only these (all)")
    parser.add_argument("--out", type=Path, help="also write the tables there, as Markdown")
    return parser.parse_args(arguments)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not allowed: give 1 or more")
    return number


def _report(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _write(path: Path, lines: list[str]) -> None:
    written = path.with_name(f".{path.name}.new")
    written.write_text("\n".join([*lines, ""]), encoding="utf-8")
    written.replace(path)
    _report(f"Written: {path}")


if __name__ == "__main__":
    sys.exit(main())
