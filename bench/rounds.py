"""Rounds: every entry once in each, so that what else the machine does falls on all of them alike.

Words: a *ratio* is kwalk's rate divided by a tool's, at the same work and in the same round; above 1, kwalk is faster.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator

from attrs import define, field

from bench.reading import Unreadable
from bench.reference import Reading, Size, Work
from bench.running import Failed, NotFinished, Run, run
from bench.tools import KWALK, Entry

LEAST_CPU = 1e-3
"""Seconds of CPUs below which the system's clock says nothing."""


class WrongCount(Exception):
    """A complete search counted other than what the size has: the tools do not speak of the same model."""


@define
class Series:
    """What the rounds gave for an entry: a rate for each in which it was run, and why it is run no more, if so."""

    entry: Entry
    rates: dict[int, float] = field(factory=dict)
    cpu_rates: dict[int, float] = field(factory=dict)
    """Units by the CPU seconds of the whole process, its start and all threads included."""
    peak_bytes: int = 0
    ended: str | None = None

    @property
    def median(self) -> float:
        """The median rate."""
        return statistics.median(self.rates.values())

    def ratios(self, base: Series) -> list[float]:
        """The base's rates by this one's, round for round."""
        return [base.rates[number] / rate for number, rate in self.rates.items() if number in base.rates]

    def cpu_ratios(self, base: Series) -> list[float]:
        """The same of the rates by CPU seconds."""
        return [base.cpu_rates[number] / rate for number, rate in self.cpu_rates.items() if number in base.cpu_rates]


@define
class Contest:
    """Rounds of all entries at one size, under a limit of seconds for each run."""

    size: Size
    series: list[Series]
    seconds: float
    report: Callable[[str], None] = lambda line: None

    def round(self, number: int) -> None:
        """Run every entry that is still in once; forwards in even rounds, backwards in odd ones."""
        for series in self.series if number % 2 == 0 else reversed(self.series):
            if series.ended is None:
                self._once(series, number)

    def _once(self, series: Series, number: int) -> None:
        entry = series.entry
        try:
            done = run(entry.command, self.seconds, entry.good)
            found = entry.read(done)
        except (NotFinished, Failed, Unreadable) as ended:
            series.ended = str(ended)
            self.report(f"round {number + 1}: {entry}: {ended}")
            return
        self._count(entry, found)
        self._note(series, number, done, found)

    def _count(self, entry: Entry, found: Reading) -> None:
        steps = 3 if entry.work is Work.TO_I1 else self.size.to_i2
        if found.steps is not None and found.steps != steps:
            raise WrongCount(f"{entry.tool} found a trace of {found.steps} steps; the shortest has {steps}.")
        expected = self.size.distinct, self.size.generated
        if found.counts is not None and found.counts != expected:
            raise WrongCount(
                f"{entry.tool} counted {found.counts[0]:,} distinct and {found.counts[1]:,} generated states; "
                f"the size {self.size.bounds} has {expected[0]:,} and {expected[1]:,}."
            )

    def _note(self, series: Series, number: int, done: Run, found: Reading) -> None:
        series.rates[number] = found.rate
        series.cpu_rates[number] = found.units / max(done.cpu, LEAST_CPU)
        series.peak_bytes = max(series.peak_bytes, done.peak_bytes)
        self.report(f"round {number + 1}: {series.entry}: {found}")

    def of(self, work: Work) -> Iterator[Series]:
        """The series of a work, kwalk's first, then from fast to slow; those without a rate last."""
        yield from sorted(
            (series for series in self.series if series.entry.work is work),
            key=lambda series: (series.entry.tool != KWALK, not series.rates, -series.median if series.rates else 0.0),
        )
