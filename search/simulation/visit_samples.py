"""Comparison of random walks with plain Python: which of their visits, and the states there.

Words: the visit after step s of walk w has the *number* w · (depth + 1) + s, whether or not the walk is that long; a
shorter walk stands for its last state. A walk is repeated to find the state of a visit.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import islice

import numpy as np

from kwalk.model.language import Model
from kwalk.search.kernel.compared import Compared
from kwalk.search.kernel.interface import Kernel
from kwalk.search.kernel.python_comparison import CompiledRecord, RecordMaker
from kwalk.search.kernel.sampling import StateSampler, candidates
from kwalk.search.simulation.chunks import SimulationPlan, WalkCounts, WalkReplayer

CHUNK_RECORDS = 64
"""Records that are made where a chunk of walks runs, at most."""

VisitRecords = Mapping[int, CompiledRecord]
"""Records by the numbers of the visits."""


def visit_records(kernel: Kernel, plan: SimulationPlan, walks: range) -> dict[int, CompiledRecord]:
    """Return the records of the first candidates among the visits of some walks of one generation."""
    replayer, maker, size = WalkReplayer(kernel, plan), RecordMaker(kernel), plan.depth + 1
    numbers = islice(candidates(walks.start * size, walks.stop * size, plan.seed), CHUNK_RECORDS)
    return {number: maker.record(_state(replayer, number, size)) for number in numbers}


def _state(replayer: WalkReplayer, number: int, size: int) -> np.ndarray:
    return replayer.path_to(number // size, number % size).state


class WalkSampler:
    """Compares visits of a run of walks with plain Python.

    Args:
        model: The model.
        plan: A plan of the run; its seed and its depth count.
    """

    def __init__(self, model: Model, plan: SimulationPlan) -> None:
        self._sampler, self._seed, self._size = StateSampler(model, plan.seed), plan.seed, plan.depth + 1
        self._offered = 0
        self._records: dict[int, CompiledRecord] = {}
        self._seen: set[bytes] = set()
        self._replayer: WalkReplayer | None = None

    @property
    def compared(self) -> Compared:
        """How much was compared so far."""
        return self._sampler.compared

    def collect(self, records: VisitRecords) -> None:
        """Take records that were made where the walks ran; they are used in place of new ones."""
        self._records.update(records)

    def compare(
        self, elapsed: float, kernel: Kernel, plan: SimulationPlan, walks: int, last: WalkCounts | None = None
    ) -> None:
        """Compare as many visits of the first `walks` walks as the time allows.

        Before that, instances that fired and were not compared yet are looked for in the last of these walks.

        Args:
            elapsed: Seconds of the run so far.
            kernel: The kernel of the walks.
            plan: The plan with all generations of these walks.
            walks: The number of walks.
            last: What the last of them counted, those since the call before; None if they are to be left out.

        Raises:
            EngineDisagreement: Plain Python has another result in a state.
        """
        end = walks * self._size
        self._sampler.offer(candidates(self._offered, end, self._seed))
        self._offered = max(self._offered, end)
        if self._replayer is None or (self._replayer.kernel, self._replayer.plan) != (kernel, plan):
            self._replayer = WalkReplayer(kernel, plan)
        replayer, maker = self._replayer, RecordMaker(kernel)
        if last is not None:
            self._compare_firings(elapsed, replayer, range(walks - last.walks, walks), last.taken)

        def record_of(number: int) -> CompiledRecord | None:
            record = self._records.pop(number, None)
            state = _state(replayer, number, self._size) if record is None else record.state
            if state.tobytes() in self._seen:
                return None
            self._seen.add(state.tobytes())
            return maker.record(state) if record is None else record

        self._sampler.compare(elapsed, kernel, record_of)

    def _compare_firings(self, elapsed: float, replayer: WalkReplayer, walks: range, taken: np.ndarray) -> None:
        """Compare instances that fired in some walks and were not compared yet, where one of these walks takes them."""
        maker, depth = RecordMaker(replayer.kernel), self._size - 1
        left = {number for number in np.flatnonzero(taken).tolist() if not self._sampler.has_compared(number)}
        for walk in walks:
            if not left or not self._sampler.may_look_further(elapsed):
                return
            with self._sampler.timed():
                track = replayer.path_to(walk, depth).track
            found = [(instance, track.index(instance)) for instance in left.intersection(track)]
            firings = ((instance, partial(replayer.path_to, walk, step)) for instance, step in found)
            self._sampler.compare_firings(elapsed, replayer.kernel, lambda path: maker.record(path.state), firings)
            left.difference_update(track)
