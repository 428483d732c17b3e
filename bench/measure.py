"""Measuring: a few runs of one piece of work, and what they say together.

Words: a *rate* is units per second; a *sample* is the rates of several runs of the same work. Wall time is what people
wait for; CPU time shows what the work costs on a machine that others use too.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from attrs import frozen


@frozen
class Sample:
    """The rates of several runs, by wall time and by CPU time (all threads together)."""

    wall: tuple[float, ...]
    cpu: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median rate by wall time."""
        return statistics.median(self.wall)

    def __str__(self) -> str:
        low, high = min(self.wall), max(self.wall)
        return f"{in_words(self.median)}  ({in_words(low)} … {in_words(high)}; by CPU {in_words(max(self.cpu))})"


def in_words(rate: float) -> str:
    """A rate with its unit prefix: "4.31 M"."""
    for size, prefix in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if rate >= size:
            return f"{rate / size:.3g}{prefix}"
    return f"{rate:.3g}"


def sample(work: Callable[[], int], runs: int) -> Sample:
    """Do the work once to warm up, then `runs` times; it returns how many units it has done."""
    work()
    rates = [_timed(work) for _ in range(runs)]
    return Sample(tuple(wall for wall, _ in rates), tuple(cpu for _, cpu in rates))


def _timed(work: Callable[[], int]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    units = work()
    return units / (time.perf_counter() - wall), units / (time.process_time() - cpu)
