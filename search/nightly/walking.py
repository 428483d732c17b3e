"""One task of random walks: its rounds, each saved when it is done, and what they amount to.

Words: the *sum* of a task is what its rounds have counted together; its *clusters* are what was minimized.
Both are made from what the folder holds, whether it was written just now or last night.
"""
from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from functools import reduce
from statistics import median
from typing import Any

from model.language import Kind
from search.fairness import safety
from search.kernel import Kernel
from search.nightly.counts import Sum, chunk_rows, coverage_rows, rule_rows, unpacked_sum
from search.nightly.findings import Reader, rows_of_clusters
from search.nightly.folder import Damaged, RunFolder
from search.nightly.plan import Task
from search.nightly.rounds import Generation, block_of, generation_of
from search.nightly.tables import ChunkRow, FindingRow
from search.shrink.clusters import Clustering, Clusters, merge
from search.spark.minimizing import Choice
from search.spark.work import Chunk, Round, done_in_blocks
from search.walks.chunks import run_chunk
from search.walks.generations import next_generation
from search.walks.manner import Manner, course_for

LAST = "chunks"
"""The table whose part makes a round count."""
ROUND_SECONDS = 20.0
"""Seconds that a round should take, at most."""
LOOKS = 20
"""Rounds that a time budget should have, at least."""
HOME_SECONDS = 0.5
"""Rounds of fewer seconds are done by the driver: a Spark job costs as much, whatever it does."""
PER_PARTITION = 2
"""Chunks for each partition, so that one that is done early does not wait long."""
GROWTH = 8
"""How many times as many blocks as the round before a round may have."""


class Walking:
    """The walks of a task, as far as they have come."""

    def __init__(self, task: Task, folder: RunFolder, kernel: Kernel) -> None:
        self.task, self.folder, self.kernel = task, folder, kernel
        model = task.model
        self.claims = safety(task.claims)
        entry = task.entry
        manner = Manner(entry.only, entry.without, swarm=entry.swarm, sketching=True)
        self.course = course_for(model, kernel, self.claims, manner, seed=task.seed, depth=task.depth, stop=False)
        self.block = block_of(task.depth)
        self.reader = Reader(model, kernel, task.seed)
        self.sum, self.clusters, self.rounds = Sum(run_chunk(kernel, self.course, range(0))), Clusters(), 0
        self.known: frozenset[int] = frozenset()
        self.pace: float | None = None
        """Seconds that one core takes for a block."""
        self.last_blocks = 0
        self._clustering: Clustering | None = None

    # Where it stands.

    @property
    def fraction(self) -> float:
        """How much of the task is done, by its walks or its time, whichever is nearer to the end."""
        task, done = self.task, [0.0]
        if task.entry.walks:
            done.append(self.sum.walks.walks / task.entry.walks)
        if task.seconds:
            done.append(self.sum.seconds / task.seconds)
        return max(done)

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do."""
        return self.fraction >= 1 or self.sum.walks.failed is not None

    @property
    def generation(self) -> Generation:
        """The generation of the next walk."""
        return generation_of(self.sum.walks.walks // self.block)

    # Rounds.

    def next_round(self, partitions: int) -> Round:
        """What to do next, on so many cores."""
        first, task = self.sum.walks.walks, self.task
        blocks = self._blocks_wanted(partitions)
        last = self.block * min(first // self.block + blocks, self.generation.last)
        last = min([last, *(limit for limit in (task.entry.walks, self.course.last) if limit is not None)])
        blocks = -(-(last - first) // self.block)
        size = self.block * -(-blocks // (partitions * PER_PARTITION))
        choice = Choice(self.block, self.generation.stride, self.known)
        return Round(first, last, size, choice=choice, course=self.course.present)

    def _blocks_wanted(self, partitions: int) -> int:
        """As many blocks as fill the time of a round, and of the task."""
        if self.pace is None:
            return 1
        seconds = ROUND_SECONDS
        if self.task.seconds is not None:
            left = self.task.seconds - self.sum.seconds
            seconds = min(seconds, left, max(1.0, self.task.seconds / LOOKS))
        return max(1, min(int(seconds * partitions / self.pace), GROWTH * self.last_blocks))

    def is_small(self, work: Round) -> bool:
        """Whether a round takes less time than asking Spark to do it."""
        return (self.pace or 0.0) * (work.last - work.first) / self.block < HOME_SECONDS

    def at_home(self, work: Round) -> list[Chunk]:
        """Do a small round in this process."""
        if self._clustering is None:
            self._clustering = Clustering(self.task.model, self.kernel)
        assert work.choice is not None
        return [done_in_blocks((self.kernel, self.course), range(work.first, work.last), work.choice, self._clustering)]

    def save(self, chunks: Sequence[Chunk], seconds: float) -> None:
        """Save a round that took so many seconds, and count it; CannotSave if the disk does not take it."""
        chunks = _up_to_a_failure(chunks)
        round_walks = reduce(lambda a, b: a + b, (chunk.walks for chunk in chunks))
        found: Iterable[Clusters] = (pickle.loads(chunk.clusters) for chunk in chunks if chunk.clusters)
        clusters = reduce(merge, found, Clusters())
        done = Sum(
            self.sum.walks + round_walks, self.sum.seconds + seconds, self.sum.cpu + sum(chunk.cpu for chunk in chunks),
            self.sum.minimized + clusters.minimized,
        )  # fmt: skip
        place = (self.task.number, self.rounds)
        rows = rows_of_clusters(self.task.model, self.kernel, clusters, place)
        tables: dict[str, Sequence[Any]] = {
            "findings": rows, "rules": rule_rows(self.task.model, round_walks, place),
            "coverage": coverage_rows(self.task.model, self.claims, round_walks, place),
            LAST: chunk_rows(chunks, place, self.sum.walks.sketch, done),
        }  # fmt: skip
        self.folder.save_round(*place, tables, LAST)
        self._set_pace(chunks)
        self._count(done, rows)

    def _set_pace(self, chunks: Sequence[Chunk]) -> None:
        paces = [chunk.seconds * self.block / chunk.walks.walks for chunk in chunks if chunk.walks.walks]
        self.pace = max(median(paces), 1e-6) if paces else self.pace
        self.last_blocks = -(-sum(chunk.walks.walks for chunk in chunks) // self.block)

    def _count(self, done: Sum, rows: Sequence[FindingRow]) -> None:
        """Count a round that is on the disk."""
        before, minimized = self.generation, done.minimized - self.sum.minimized
        self.sum, self.rounds = done, self.rounds + 1
        self.clusters = merge(self.clusters, self.reader.clusters(rows, minimized))
        if self.generation != before:
            self.known = self._known()
        if self.sum.walks.walks == self.course.last and self.sum.walks.failed is None:
            self.course = next_generation(self.kernel, self.course, self.sum.walks)

    def _known(self) -> frozenset[int]:
        """The claims of whose invariants findings have been minimized; deadlock has the number after the claims."""
        met = {claim for group in self.clusters.groups.values() for claim in group.claims}
        invariants = {self.task.model.claims[claim].invariant for claim in met if claim is not None}
        kept = [claim.index for claim in self.claims if claim.invariant in invariants]
        return frozenset([*kept, *([self.kernel.claims] if None in met else [])])

    def resume(self) -> str:
        """Go on from the rounds that the folder holds; what is wrong with the one after them, "" if nothing is."""
        number = self.task.number
        whole, why = self.folder.whole_rounds(number, LAST)
        for round in whole:
            try:
                self._count(self._sum_of(round), self.folder.read(FindingRow, number, round))
            except Damaged as error:
                why = str(error)
                break
        self.folder.forget_from(number, self.rounds)
        return why

    def _sum_of(self, round: int) -> Sum:
        chunks = self.folder.read(ChunkRow, self.task.number, round)
        return unpacked_sum(chunks[-1].merged if chunks else None)

    # What came of it.

    @property
    def violations(self) -> int:
        """In how many walks claims were violated, each claim counted."""
        seen = self.sum.walks.seen
        bad = [claim.index for claim in self.claims if claim.kind is not Kind.REACHABLE]
        return int(seen[[*bad, self.kernel.claims]].sum())

    @property
    def untraced(self) -> tuple[str, ...]:
        """The claims that were violated and of whose invariants no finding has been minimized so far."""
        seen, known = self.sum.walks.seen, self._known()
        return tuple(
            claim.key for claim in self.claims
            if seen[claim.index] and claim.kind is not Kind.REACHABLE and claim.index not in known
        )  # fmt: skip


def _up_to_a_failure(chunks: Sequence[Chunk]) -> Sequence[Chunk]:
    """The chunks up to the first one in which an action left its domain; others may have been done by then."""
    failed = next((n for n, chunk in enumerate(chunks) if chunk.walks.failed is not None), len(chunks))
    return chunks[: failed + 1]
