"""The page of a search in progress: it loads itself again every few seconds, until the search has ended."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise
from pathlib import Path

from attrs import define, field

from kwalk.reports.document import BarChart
from kwalk.reports.document.html import html_blocks, render
from kwalk.reports.escaping import visible
from kwalk.reports.progress import duration, line, short
from kwalk.search.base.atomic_files import save
from kwalk.search.base.progress import Progress

REFRESH = 2
"""Seconds between two versions of the page."""
POINTS = 300
"""The most points of a chart; beyond that every second one is dropped."""
WIDTH, HEIGHT = 600.0, 120.0
PAGE = "watch.html"


@define
class WatchPage:
    """A page that is written, whole, at most every REFRESH seconds. Call it with the progress of a search.

    Args:
        path: The file.
        command: The command of the search.
    """

    path: Path
    command: str
    samples: dict[str, list[Progress]] = field(factory=dict)
    """By the name of the engine: a command may run several."""
    _written: float = 0.0

    def __call__(self, progress: Progress) -> None:
        """Add a sample, and write the page if it is time; a page that cannot be written does not end the search."""
        samples = self.samples.setdefault(progress.engine, [])
        samples.append(progress)
        if len(samples) > POINTS:
            del samples[1::2]
        if time.monotonic() - self._written >= REFRESH:
            self.write(line(progress, 200), refresh=True)

    def begin(self, phase: str) -> None:
        """Write that a phase without a count begins, such as compiling the model."""
        self.write(f"{phase.capitalize()} …", refresh=True)

    def end(self, answer: str) -> None:
        """Write the page for the last time."""
        self.write(answer, refresh=False)

    def write(self, now: str, *, refresh: bool) -> None:
        """Write the page."""
        self._written = time.monotonic()
        text = render(
            "watch.html.j2",
            now=visible(now),
            command=visible(self.command),
            refresh=REFRESH if refresh else None,
            engines=[_shown(samples) for samples in self._looked_at()],
            written=time.strftime("%H:%M:%S"),
        )
        try:
            save(self.path, text.encode())
        except OSError:
            return

    def _looked_at(self) -> list[list[Progress]]:
        """Return the samples of the engines that ran for a second; of all if none did."""
        known = list(self.samples.values())
        return [samples for samples in known if samples[-1].seconds - samples[0].seconds >= 1] or known


def _shown(samples: Sequence[Progress]) -> tuple[str, list[tuple[str, str, str]], str]:
    """Return the name of an engine, its charts, and the chart of its coverage as HTML."""
    return visible(samples[-1].engine), list(_charts(samples)), html_blocks(_coverage(samples[-1]))


def _charts(samples: Sequence[Progress]) -> Iterator[tuple[str, str, str]]:
    """Yield title, last value and SVG of each chart."""
    if len(samples) < 2:
        return
    unit = samples[-1].unit
    rates = [
        (now.seconds, (now.done - before.done) / (now.seconds - before.seconds))
        for before, now in pairwise(samples)
        if now.seconds > before.seconds and now.done >= before.done
    ]
    if rates:
        yield f"Rate, {unit} per second, over the seconds of the search", short(rates[-1][1]), _curve(rates)
    yield (
        f"{unit.capitalize()} over the seconds of the search",
        short(samples[-1].done),
        _curve([(each.seconds, float(each.done)) for each in samples]),
    )
    levels: dict[int, int] = {}
    for each in samples:
        if each.depth is not None and each.frontier is not None:
            levels[each.depth] = max(levels.get(each.depth, 0), each.frontier)
    if len(levels) > 1:
        points = [(float(depth), float(size)) for depth, size in sorted(levels.items())]
        yield "Largest frontier seen at each depth, states", short(points[-1][1]), _curve(points)
    used = [(each.seconds, each.memory / 2**30) for each in samples if each.memory is not None]
    if used:
        budget = samples[-1].memory_budget
        of = "" if budget is None else f" of {budget / 2**30:.3g} GiB"
        yield "Memory of the states, GiB", f"{used[-1][1]:.3g}{of}", _curve(used)


def _coverage(progress: Progress) -> Iterator[BarChart]:
    """Yield a chart of the steps of each action so far, if the engine counts them."""
    if progress.count_steps is not None:
        steps = progress.count_steps()
        taken = sum(count > 0 for count in steps.values())
        title = f"Steps of each action so far: {taken:,} of {len(steps):,} actions were taken"
        yield BarChart(title, "times taken", tuple(steps.items()), logarithmic=True, complete=True)


def _curve(points: Sequence[tuple[float, float]]) -> str:
    """Return an SVG with both axes labelled."""
    left, right, top = points[0][0], points[-1][0], max(value for _, value in points) or 1.0
    wide = (right - left) or 1.0
    way = " L".join(f"{WIDTH * (x - left) / wide:.1f} {HEIGHT - HEIGHT * y / top:.1f}" for x, y in points)
    ends = f"{short(left)} … {short(right)}" if right < 60 else f"{duration(left)} … {duration(right)}"
    highest = f"{top:.2g}" if top < 10 else short(top)
    label = escape(f"from {ends}, at most {highest}")
    return (
        f'<svg class="curve" viewBox="-4 -14 {WIDTH + 8:.0f} {HEIGHT + 32:.0f}" role="img" aria-label="{label}">'
        f'<path class="axis" d="M0 0V{HEIGHT:.0f}H{WIDTH:.0f}"/><path class="line" d="M{way}"/>'
        f'<text x="4" y="-3">{highest}</text><text x="0" y="{HEIGHT + 14:.0f}">{short(left)}</text>'
        f'<text class="end" x="{WIDTH:.0f}" y="{HEIGHT + 14:.0f}">{short(right)}</text></svg>'
    )
