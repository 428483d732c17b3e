"""What a verdict says of a reduced search: what it saved, and what it does not know."""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from search.reduction import Reduction


def told(reduction: Reduction, enabled: np.ndarray, blocked: np.ndarray, asleep: int) -> Iterator[str]:
    """Sentences about a reduced search, given how often each instance was enabled, and was not taken.

    And how often one was not taken only because it was asleep.
    """
    pairs, could = reduction.plan.pairs, int(enabled.sum())
    taken = could - int(blocked.sum())
    settled = reduction.settled
    if settled:
        yield (
            f"Proved by induction, so that no state was visited for {'it' if len(settled) == 1 else 'them'}: "
            f"{', '.join(dict.fromkeys(claim.invariant.name for claim in settled))}."
        )
    yield (
        f"Partial-order reduction: {taken:,} of {could:,} enabled instances were taken{_percent(taken, could)}; "
        f"{asleep:,} more were left to sleep, as another order of the same steps was taken."
    )
    if reduction.sleep_sets.without:
        yield f"At {reduction.sleep_sets.without:,} depths nobody slept, as there was no memory to write down who does."
    yield (
        f"Of {pairs.all:,} pairs of cases, {pairs.by_sets:,} are independent by what they read and write, "
        f"{pairs.by_z3:,} by Z3; {pairs.dependent:,} are dependent, {pairs.unknown:,} unknown; of these "
        f"{len(reduction.plan.pair_needs):,} depend on each other in some states only (worked out in "
        f"{reduction.plan.seconds:.0f} s)."
    )
    exact = "Quiet states are counted as in a full search; other" if reduction.finds_quiet else "All"
    yield (
        f"{exact} counts are of the states visited: a reduced search cannot say which rules never fire, "
        "which premises never hold, or which bounds are never reached."
    )


def _percent(part: int, whole: int) -> str:
    return f" ({100 * part / whole:.0f} %)" if whole else ""
