"""`python -m bench.kwalk_once exhaust|walk|swarm|one-by-one …`: a run on the reference model, in its own process.

It prints as the peers do. What is measured begins with the first state: the code of the model is in the cache from the
second time on, and the loops are loaded by a short run before.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from attrs import asdict, evolve

from bench.reference import DEPTH, SCENARIO, Bounds
from kwalk.model.language import Model, PropertyInstance
from kwalk.model.language.registry import find_scenario
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.compile.compiler import fast_kernel_for
from kwalk.search.kernel.compile.slices import with_slices
from kwalk.search.kernel.interface import Kernel
from kwalk.search.simulation.chunks import SLICED_WALKS
from kwalk.search.simulation.options import SWARM, UNIFORM, SimulationOptions
from kwalk.search.simulation.walk import walk

WARMING = 0.01
"""Seconds of the short run before."""


def searched(model: Model, kernel: Kernel, workers: int, properties: Sequence[PropertyInstance] | None = None) -> str:
    """A complete search with these properties checked (None: all), as words."""
    exhaust(model, kernel=kernel, properties=properties, keep_going=True, workers=workers, seconds=WARMING)
    verdict = exhaust(model, kernel=kernel, properties=properties, keep_going=True, workers=workers)
    if not verdict.seconds:
        raise SystemExit("The search took no time at all: ask for a larger size.")
    rate = (verdict.distinct_states or 0) / verdict.seconds
    return f"distinct={verdict.distinct_states} generated={verdict.generated_states} states/s={rate:.0f}"


def walked(model: Model, kernel: Kernel, seconds: int, options: SimulationOptions = UNIFORM) -> str:
    """Random walks with all properties checked at each step, as words; on bit-sliced code, as walks that take long."""
    return _walked(model, with_slices(model, kernel), seconds, options)


def swarmed(model: Model, kernel: Kernel, seconds: int) -> str:
    """The same as a swarm, which is what `kwalk walk` does: each walk has preferences, and states are counted."""
    return walked(model, kernel, seconds, SWARM)


def walked_one_by_one(model: Model, kernel: Kernel, seconds: int) -> str:
    """The same walks as `walked`, on the kernel."""
    return _walked(model, evolve(kernel, can_be_sliced=False), seconds, UNIFORM)


def _walked(model: Model, kernel: Kernel, seconds: int, options: SimulationOptions) -> str:
    options = evolve(options, depth=DEPTH, keep_going=True)
    walk(model, options, kernel=kernel, walks=2 * SLICED_WALKS)
    verdict = walk(model, options, kernel=kernel, seconds=seconds)
    return f"steps={verdict.steps} steps/s={(verdict.steps or 0) / (verdict.seconds or seconds):.0f}"


def main() -> None:
    """Run once what the arguments say: the work, its workers or seconds, and the bounds."""
    work, number, *numbers = sys.argv[1:]
    bounds = Bounds(*map(int, numbers))
    model = Model(find_scenario(SCENARIO), bounds=asdict(bounds))
    run = {"exhaust": searched, "walk": walked, "swarm": swarmed, "one-by-one": walked_one_by_one}[work]
    print(run(model, fast_kernel_for(model), int(number)))


if __name__ == "__main__":
    main()
