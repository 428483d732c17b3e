"""How far off estimates are of what walks have and have not seen, where an exhaustive search knows the truth.

Words: a *singleton* is a state that was visited once. Good and Turing (1953) take the part of visits that are of
singletons for the chance that the next visit is of a state not seen so far; Chao1 (1984) adds to the states seen the
square of the singletons by twice the states visited twice. Both are for independent draws, which visits are not.
"""

from __future__ import annotations

from collections import Counter

from kwalk.model.language import Model
from kwalk.search.kernel.compile.compiler import fast_kernel_for
from kwalk.search.simulation.chunks import path_of, run_chunk
from kwalk.search.simulation.hyperloglog import distinct
from kwalk.search.simulation.options import SimulationOptions

VISITS = 500_000
NEXT = 0.1
"""The visits before estimates are made, and the part of as many more that measures how many are of new states."""
HEAD = ("model", "seen", "by the sketch", "error", "all states", "by Chao1", "new next, Good–Turing", "new next, true")


def unseen_row(name: str, model: Model, states: int, wanted: int = VISITS) -> tuple[str, ...]:
    """What was seen, exactly and by the sketch, and what estimators say of the rest against what is true."""
    kernel = fast_kernel_for(model)
    options = SimulationOptions(properties=(), seed=1, depth=100, keep_going=True, count_states=True)
    plan = options.plan(model, kernel)
    visits, counts, number = 0, Counter[bytes](), 0
    while visits < wanted:
        for state in path_of(kernel, plan, number).states:
            counts[state.tobytes()] += 1
            visits += 1
        number += 1
    sketched = distinct(run_chunk(kernel, plan, range(number)).sketch)
    times = Counter(counts.values())
    chao = len(counts) + times[1] ** 2 / (2 * max(1, times[2]))
    new = later = 0
    while later < NEXT * wanted:
        for state in path_of(kernel, plan, number).states:
            new += state.tobytes() not in counts
            counts[state.tobytes()] += 1
            later += 1
        number += 1
    seen = len(counts) - new
    return (
        name,
        f"{seen:,}",
        f"{sketched:,.0f}",
        f"{100 * (sketched / seen - 1):+.1f} %",
        f"{states:,}",
        f"{chao:,.0f}",
        f"{100 * times[1] / visits:.1f} %",
        f"{100 * new / later:.1f} %",
    )
