"""Clusters of findings as rows of a table, and rows as clusters again.

Rows of one cluster are merged by adding their counts and keeping the first walk and the shortest trace; of traces that
are equally short, that of the earliest round is kept, as its walks came first.
"""
from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import reduce

import numpy as np

from model.language import Model
from search.confirm import Origin
from search.kernel import Kernel
from search.nightly.tables import FindingRow
from search.shrink.clusters import Clusters, Group, Sample, merge
from search.shrink.shape import Shape
from search.verdict import DEADLOCK


def cluster_id(claim: str, steps: Iterable[str]) -> str:
    """The name of a cluster, by the claim and the steps of its shape: the same in all runs in which it is found."""
    return hashlib.sha256(json.dumps([claim, *steps]).encode()).hexdigest()[:12]


def rows_of_clusters(
    model: Model, kernel: Kernel, clusters: Clusters, place: tuple[int, int]
) -> list[FindingRow]:
    """The rows of a round, those of fewest steps first; `place` is the task and the round."""
    ordered = sorted(clusters.groups.items(), key=lambda pair: (len(pair[0].steps), pair[0]))
    return [_row(model, kernel, (shape, group), place) for shape, group in ordered]


def _row(model: Model, kernel: Kernel, cluster: tuple[Shape, Group], place: tuple[int, int]) -> FindingRow:
    shape, group = cluster
    start = kernel.unpack(np.frombuffer(group.best.start, np.uint64).reshape(1, -1))[0]
    numbers = sorted(group.claims, key=lambda claim: (claim != group.best.claim, -1 if claim is None else claim))
    claims = tuple(DEADLOCK if number is None else model.claims[number].key for number in numbers)
    return FindingRow(
        task=place[0], round=place[1], cluster=cluster_id(shape.claim, shape.steps), kind=shape.kind, claim=shape.claim,
        steps=shape.steps, count=group.count, claims=claims, first_walk=group.first.walk or 0,
        start=tuple(int(number) for number in start),
        actions=tuple(model.instances[step].key for step in group.best.steps), length=len(group.best.steps),
        shortest=group.best.origin.shortest is not None,
    )  # fmt: skip


class Reader:
    """Makes clusters of the rows of one task again."""

    def __init__(self, model: Model, kernel: Kernel, seed: int) -> None:
        self.model, self.kernel, self.seed = model, kernel, seed
        self.numbers: Mapping[str, int | None] = {DEADLOCK: None} | {c.key: c.index for c in model.claims}

    def clusters(self, rows: Iterable[FindingRow], minimized: int) -> Clusters:
        """The clusters that the rows of a round were made of."""
        made = (Clusters({self._shape(row): self._group(row)}, row.count) for row in rows)
        kept = reduce(merge, made, Clusters())
        return Clusters(kept.groups, minimized)

    @staticmethod
    def _shape(row: FindingRow) -> Shape:
        return Shape(row.kind, row.claim, row.steps)

    def _group(self, row: FindingRow) -> Group:
        claims = [self.numbers[key] for key in row.claims]
        start = self.kernel.pack(np.array([row.start], np.int64)).tobytes()
        steps = tuple(self.model.instance(key).index for key in row.actions)
        proved = f"exhaustive to depth {max(0, row.length - 1)}" if row.shortest else None
        origin = Origin("random walks; locally minimal", proved, self.seed)
        best = Sample(claims[0], start, steps, origin, row.first_walk)
        return Group(row.count, frozenset(claims), best, best)
