"""The *outing* of a run of walks: what it is to do, wherever they are walked."""
from __future__ import annotations

from attrs import field, frozen

from model.language import Claim, Model
from search.fairness import safety
from search.kernel import Kernel
from search.progress import Report
from search.walks.chunks import Course
from search.walks.manner import Manner, course_for

DEFAULT_WALKS = 10_000
"""How many, if nobody says how many or for how long."""


@frozen(eq=False)
class Outing:
    """A run of walks: what to do, how many (None: until the time is up), and who is told."""

    model: Model
    kernel: Kernel
    course: Course
    """In the end with the plans of all generations of a swarm."""
    claims: tuple[Claim, ...]
    walks: int | None
    seconds: float | None
    workers: int
    report: Report = field(repr=False)
    minimize: int = 0
    """How many findings to keep, in the order of the walks, and to group by shape."""


def outing_for(
    model: Model,
    kernel: Kernel,
    claims: tuple[Claim, ...],
    manner: Manner,
    *,
    seed: int,
    depth: int,
    walks: int | None,
    seconds: float | None,
    keep_going: bool,
    workers: int,
    report: Report,
    minimize: int,
) -> Outing:
    """The outing of walks that look at those of the claims that walks can tell; UsageError for unknown names."""
    asked = safety(claims)
    course = course_for(model, kernel, asked, manner, seed=seed, depth=depth, stop=not keep_going)
    if walks is None and seconds is None:
        walks = DEFAULT_WALKS
    return Outing(model, kernel, course, asked, walks, seconds, workers, report, minimize)
