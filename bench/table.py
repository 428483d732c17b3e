"""The table of a contest, as Markdown, which reads well on a terminal too."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.measure import in_words
from bench.reference import Work
from bench.rounds import Contest, Series
from bench.tools import KWALK, Absent

HEAD = ("tool", "median", "min … max", "runs", "kwalk ÷ tool", "min … max", "by CPU", "peak MiB")
LEGEND = (
    "The ratio is the median of kwalk's rate by the tool's in the same round; above 1, kwalk is faster. "
    "By CPU is the same ratio by the CPU seconds of whole processes, starts included. "
    "Seconds are those of each tool's own clock, TLC's those of its process. The peak is that of the whole process. "
    "C is scalar, one state at a time; bit-sliced C would be the like-for-like peer of walks. "
    "Programs in C and Rust, and SPIN's verifiers, are compiled before. "
    "Every complete search counted the same distinct and generated states; every trace was as long as the shortest."
)

VECTORS = {"avx512bw": "AVX-512", "avx2": "AVX2"}
"""The vector instructions that decide how many walks are taken at once, the widest first."""


def machine() -> str:
    """This machine in a few words, and how busy it is now."""
    facts = {
        name.strip(): value.strip() for name, _, value in (line.partition(":") for line in _lines("/proc/cpuinfo"))
    }
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    vectors = [name for flag, name in VECTORS.items() if flag in facts.get("flags", "").split()]
    inside = ", ".join([*(f"family {facts[key]}" for key in ("cpu family",) if key in facts), *vectors[:1]])
    cpu = facts.get("model name", platform.machine()) + (f" ({inside})" if inside else "")
    return f"{cpu}, {os.cpu_count()} CPUs{load}, Python {platform.python_version()}"


def _lines(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines() if Path(path).exists() else []


def document(contest: Contest, absent: Sequence[Absent]) -> Iterator[str]:
    """The lines of the tables, one for each work, and of what was left out."""
    for work in Work:
        series = list(contest.of(work))
        if any(one.rates for one in series):
            yield from (f"## {work.value[0].upper()}{work.value[1:]}", "")
            yield from aligned([HEAD, *(row(one, series) for one in series if one.rates)])
            yield ""
    yield LEGEND
    missing = [f"- {tool.tool}: {tool.reason}" for tool in absent]
    missing += [f"- {one.entry}: {one.ended}" for one in contest.series if one.ended is not None]
    if missing:
        yield from ("", "Left out:", "", *missing)


def row(one: Series, all_of_the_work: Sequence[Series]) -> tuple[str, ...]:
    """A line of the table: the rates of a tool (or its seconds), and how kwalk's rates compare with them."""
    base = next((series for series in all_of_the_work if series.entry.tool == KWALK), None)
    ratios = one.ratios(base) if base is not None and base is not one else []
    compared = ("", "", "")
    if base is not None and ratios:
        by_cpu = _ratio(statistics.median(one.cpu_ratios(base)))
        compared = (_ratio(statistics.median(ratios)), f"{_ratio(min(ratios))} … {_ratio(max(ratios))}", by_cpu)
    shown = [1 / rate if one.entry.work.is_time else rate for rate in one.rates.values()]
    spread = f"{in_words(min(shown))} … {in_words(max(shown))}"
    peak = f"{one.peak_bytes / (1 << 20):,.0f}"
    return (one.entry.tool, in_words(statistics.median(shown)), spread, str(len(shown)), *compared, peak)


def _ratio(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows as a Markdown table whose columns stand under each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    for cells in (rows[0], rule, *rows[1:]):
        first, *others = (
            cell.ljust(width) if not index else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        yield f"| {' | '.join((first, *others))} |"
