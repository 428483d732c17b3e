"""What consecutive walks counted and found, merged on its way from executors to the driver.

Words: a *chunk* is a range of consecutive walks; two chunks that follow each other are *merged* into one. A partition
sends one chunk, however many it has done.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any

from attrs import evolve, frozen

from kwalk.search.minimize.groups import merge
from kwalk.search.simulation.chunks import WalkCounts
from kwalk.search.simulation.visit_samples import CHUNK_RECORDS, VisitRecords


@frozen
class Chunk:
    """What some consecutive walks counted and found; `a + b` is what both together did, if b's walks come after a's."""

    first: int
    """The number of the first walk."""
    seconds: float
    """Wall time on one core."""
    counts: WalkCounts
    cpu: float = 0.0
    """CPU seconds."""
    hosts: tuple[str, ...] = ()
    """The names of the machines, in order."""
    minimized: bytes | None = None
    """The pickled groups of the findings that executors minimized."""
    records: bytes | None = None
    """Pickled `VisitRecords` that the executors' code made, for the driver to compare with plain Python; CHUNK_RECORDS
    at most."""
    sliced: int = 0
    """How many of the walks ran on bit-sliced code."""
    disagreement: str = ""
    """What the two kernels of an executor do not count the same, as an EngineDisagreement; "" if nothing."""

    @property
    def visit_records(self) -> VisitRecords:
        """The records, by the numbers of the visits."""
        return {} if self.records is None else pickle.loads(self.records)

    @property
    def ends_run(self) -> bool:
        """Whether walks that come later do not count: a violation ends the run here, or a step left its domain."""
        return self.counts.stopped or self.counts.failed is not None

    def __add__(self, later: Chunk) -> Chunk:
        if self.ends_run:
            return evolve(self, disagreement=self.disagreement or later.disagreement)
        return Chunk(
            self.first,
            self.seconds + later.seconds,
            self.counts + later.counts,
            self.cpu + later.cpu,
            tuple(sorted({*self.hosts, *later.hosts})),
            _both(merge, self.minimized, later.minimized),
            _both(_merged_records, self.records, later.records),
            self.sliced + later.sliced,
            self.disagreement or later.disagreement,
        )


def _merged_records(one: VisitRecords, later: VisitRecords) -> VisitRecords:
    """Merge records; if they are more than those of one chunk can be, keep some of all executors."""
    both = {**one, **later}
    return {number: both[number] for number in sorted(both)[:: -(-len(both) // CHUNK_RECORDS) or 1]}


def _both(merge: Callable[[Any, Any], Any], one: bytes | None, later: bytes | None) -> bytes | None:
    """Merge two pickled objects, where None is nothing; what a folder has is read without unpickling."""
    if one is None or later is None:
        return later if one is None else one
    return pickle.dumps(merge(pickle.loads(one), pickle.loads(later)))


def merged(chunks: Iterable[Chunk], most: int) -> Chunk:
    """Merge chunks, at least one; they are in order, and keep the first `most` findings."""

    def both(one: Chunk, later: Chunk) -> Chunk:
        together = one + later
        return evolve(together, counts=together.counts.with_findings(most))

    return reduce(both, chunks)


def in_order(chunks: Iterable[Chunk]) -> list[Chunk]:
    """Return chunks in the order of their walks."""
    return sorted(chunks, key=lambda chunk: chunk.first)
