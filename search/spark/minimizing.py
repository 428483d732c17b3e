"""Findings minimized where they are met, so that what is sent does not grow with their number.

Words: a *block* is a fixed number of consecutive walks. Which findings are minimized depends on the block that they are
in, and on what was known when its generation began, but not on who walks it: so all ways to share the work find the
same. A claim is *known* once a finding of its invariant has been minimized.
"""
from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from attrs import frozen

from search.confirm import Origin
from search.kernel import Kernel
from search.shrink.clusters import Clustering, Clusters, Sample
from search.walks.chunks import Course, Walks, path_of, run_chunk


@frozen
class Choice:
    """Which findings of a block are minimized: the first of each claim that is not known, of others now and then."""

    block: int
    """Walks in a block."""
    stride: int = 1
    """In each block of which this divides the number, known claims have their turn too."""
    known: frozenset[int] = frozenset()
    most: int = 2
    """Findings of a block, at most."""

    def of(self, findings: np.ndarray, number: int) -> list[tuple[int, int, int]]:
        """The findings (walk, step, claim) of block `number` to minimize; other blocks begin with other claims."""
        claims, places = np.unique(findings[:, 2], return_index=True)
        first = {int(claim): findings[place] for claim, place in zip(claims, places, strict=True)}
        asked = [claim for claim in first if claim not in self.known or number % self.stride == 0]
        most = max(first, default=0) + 1
        asked.sort(key=lambda claim: (claim in self.known, (claim - number) % most))
        return [(int(walk), int(step), int(claim)) for walk, step, claim in (first[c] for c in asked[: self.most])]


def walked_in_blocks(
    walker: tuple[Kernel, Course], numbers: range, choice: Choice, clustering: Clustering
) -> tuple[Walks, Clusters]:
    """Do walks, block by block, and minimize the findings that are chosen; their counts are those of all."""
    kernel, course = walker
    total = run_chunk(kernel, course, range(numbers.start, numbers.start))
    clustering.clusters = Clusters(most=clustering.clusters.most)
    for block in _blocks(numbers, choice.block):
        walks = run_chunk(kernel, course, block, collect=True)
        clustering.minimizer.forget()  # what one block shrinks to must not depend on who has walked which others
        for number, step, claim in choice.of(walks.findings, block.start // choice.block):
            clustering.add(_sample(walker, (number, step, claim)))
        total += walks.with_findings(0)
        if walks.failed is not None:
            break
    return total, clustering.clusters


def _blocks(numbers: range, size: int) -> Iterator[range]:
    ends = (*range(numbers.start - numbers.start % size + size, numbers.stop, size), numbers.stop)
    return (range(first, last) for first, last in pairwise((numbers.start, *ends)))


def _sample(walker: tuple[Kernel, Course], finding: tuple[int, int, int]) -> Sample:
    (kernel, course), (walk, step, claim) = walker, finding
    path = path_of(kernel, course, walk, step)
    origin = Origin(f"walk {walk}", seed=course.seed)
    return Sample(claim if claim < kernel.claims else None, path.states[0].tobytes(), path.instances, origin, walk)
