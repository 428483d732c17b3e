"""How walks choose their steps, and what a verdict says of it.

Words: see `swarm` for *generations*, *groups* and *restarts*.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from attrs import frozen

from model.language import Claim, Model
from search.kernel import Kernel
from search.walks.allowed import allowed_instances
from search.walks.chunks import Course, Walks
from search.walks.sketch import STANDARD_ERROR
from search.walks.swarm import RESTARTING, Swarm, swarm_for

NAMED = 6
"""Names that a sentence lists, at most."""


@frozen
class Manner:
    """How walks choose: names of actions or actors that they keep to or leave out, and whether they are a swarm."""

    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    swarm: bool = False
    tuned: bool = True
    """Whether a swarm comes to prefer what was rarely taken."""
    restarting: bool = True
    """Whether some walks of a swarm begin at rarely met states."""
    sketching: bool = False
    """Whether to estimate how many distinct states were visited."""


UNIFORM = Manner()
"""All enabled instances are equally likely at each step."""
SWARM = Manner(swarm=True, sketching=True)


def course_for(
    model: Model, kernel: Kernel, claims: Iterable[Claim], manner: Manner, *, seed: int, depth: int, stop: bool
) -> Course:
    """What walks in a model are to do, up to the first generation of a swarm; UsageError for unknown names."""
    swarm = swarm_for(model, tuned=manner.tuned, restarting=manner.restarting) if manner.swarm else None
    return Course(
        kernel.pack(np.array(model.initial, np.int64).reshape(len(model.initial), -1)),
        tuple(claim.index for claim in claims), seed, depth, stop=stop, deadlock=model.scenario.deadlock_is_error,
        allowed=allowed_instances(model, manner.only, manner.without), swarm=swarm, sketching=manner.sketching,
    )  # fmt: skip


def manner_told(model: Model, course: Course, walks: Walks) -> Iterator[str]:
    """What a verdict says of how walks chose, in sentences."""
    if course.allowed is not None:
        rules = len(model.instances)
        names = _left_out(model, course.allowed)
        yield f"Walks could not take {rules - len(course.allowed):,} of {rules:,} rules: {names}."
    if walks.cuts:
        yield f"{walks.cuts:,} of {walks.walks:,} walks were cut where no other rule was enabled."
    if course.swarm is not None:
        yield from _swarm_told(course.swarm)
    if len(walks.sketch):
        yield f"The distinct states are estimated, with a standard error of {100 * STANDARD_ERROR:.1f} %."


def _left_out(model: Model, allowed: tuple[int, ...]) -> str:
    """The actions of which no instance may be taken, then single instances."""
    kept = {model.instances[number].action.name for number in allowed}
    numbers = frozenset(allowed)
    names = [i.action.name if i.action.name not in kept else i.key for i in model.instances if i.index not in numbers]
    return _listed(list(dict.fromkeys(names)))


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _swarm_told(swarm: Swarm) -> Iterator[str]:
    plan = swarm.plans[-1]
    generations = len(swarm.plans)
    yield f"A swarm of {generations} generation{'s' * (generations != 1)}: each walk draws what it prefers."
    if plan.favoured:
        yield f"The last generation favoured, rarest first: {_listed(list(plan.favoured))}."
    if plan.restarts:
        steps = sorted(len(restart.track) for restart in plan.restarts)
        yield (
            f"{100 * RESTARTING:.0f} % of its walks began at one of {len(steps)} rarely met states, "
            f"{steps[0]} to {steps[-1]} steps from an initial one."
        )
