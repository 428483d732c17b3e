"""The options of random walks: how many walks, what they check, and which steps they may take or prefer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from attrs import field, frozen

from kwalk.model.language import Model, PropertyInstance, UsageError
from kwalk.model.language.errors import unknown
from kwalk.search.base.progress import Report, silent
from kwalk.search.kernel.interface import Kernel
from kwalk.search.results.fairness import safety_properties
from kwalk.search.simulation.chunks import SimulationPlan
from kwalk.search.simulation.swarm import swarm_for

DEFAULT_WALKS = 10_000
"""The number of walks without a number and without a time budget."""


@frozen(kw_only=True)
class SimulationOptions:
    """The options of random walks.

    Args:
        properties: the property instances to check; None for all of the model. Walks check none about behaviours.
        seed: what happens in a walk depends on the seed and the number of the walk only.
        walks: the number of walks; None for as many as the time allows, or DEFAULT_WALKS without a time budget.
        depth: the number of steps after which a walk ends.
        seconds: the time budget; None for no limit.
        keep_going: whether to continue after a violation.
        minimize: how many findings to minimize and to group by shape, in the order of the walks.
        workers: the number of threads.
        only: names of actions or actors; if there are any, walks take no other instances.
        without: names of actions or actors whose instances walks do not take.
        swarm: whether each walk draws preferences (see `swarm`); otherwise all enabled instances are equally likely.
        adaptive: whether a swarm learns to prefer instances that were rarely taken.
        restarts: whether some walks of a swarm begin at rarely visited states.
        count_states: whether to estimate how many distinct states were visited.
        compare: whether to compare some visits with plain Python.
        report: receives the progress, about five times a second.
        command: the command line that reproduces the run.
    """

    properties: tuple[PropertyInstance, ...] | None = None
    seed: int = 0
    walks: int | None = None
    depth: int = 100
    seconds: float | None = None
    keep_going: bool = False
    minimize: int = 0
    workers: int = 1
    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    swarm: bool = False
    adaptive: bool = True
    restarts: bool = True
    count_states: bool = False
    compare: bool = True
    report: Report = field(default=silent, repr=False)
    command: str = ""

    @property
    def limit(self) -> int | None:
        """The number of walks after which the run ends; None for no limit."""
        return DEFAULT_WALKS if self.walks is None and self.seconds is None else self.walks

    def checked(self, model: Model) -> tuple[PropertyInstance, ...]:
        """Return the properties that walks can check."""
        return safety_properties(model.properties if self.properties is None else self.properties)

    def plan(self, model: Model, kernel: Kernel) -> SimulationPlan:
        """Return what walks do, with the first generation of a swarm; UsageError for unknown names or a large depth."""
        if self.depth > MOST_STEPS:
            raise UsageError(f"Walks of {self.depth:,} steps are too long; the depth is at most {MOST_STEPS:,}.")
        swarm = swarm_for(model, adaptive=self.adaptive, restarting=self.restarts) if self.swarm else None
        return SimulationPlan(
            kernel.pack(np.array(model.initial, np.int64).reshape(len(model.initial), -1)),
            tuple(prop.index for prop in self.checked(model)),
            self.seed,
            self.depth,
            stop=not self.keep_going,
            deadlock=model.scenario.deadlock_is_error,
            allowed=allowed_instances(model, self.only, self.without),
            swarm=swarm,
            count_states=self.count_states,
        )


MOST_STEPS = 10**6
"""The largest depth: each walk in progress stores a number for each of its steps."""
UNIFORM = SimulationOptions()
"""All enabled instances are equally likely at each step."""
SWARM = SimulationOptions(swarm=True, count_states=True)


def steps_of(options: Mapping[str, Any]) -> SimulationOptions:
    """Return how walks choose their steps, from the options of a query (`Steps`)."""
    only, without = tuple(options["only"]), tuple(options["without"])
    return SimulationOptions(only=only, without=without, swarm=not options["uniform"], count_states=True)


def allowed_instances(model: Model, only: Iterable[str] = (), without: Iterable[str] = ()) -> tuple[int, ...] | None:
    """Return the numbers of the instances that walks may take; None for all.

    Args:
        model: the model.
        only: names of actions (`crash`), actors (`broker`), or one of several actors (`broker 2`).
        without: names of the same kinds.

    Raises:
        UsageError: a name is unknown, or no instance is left.
    """
    names = _names(model)
    only, without = _known(only, names), _known(without, names)
    allowed = [n for n, own in enumerate(names) if (not only or own & only) and not own & without]
    if not allowed:
        raise UsageError("No action is left that a walk may take. Name fewer with --without, or others with --only.")
    return None if len(allowed) == len(names) else tuple(allowed)


def _names(model: Model) -> list[set[str]]:
    """Return the names that mean each instance."""
    with model.active():
        return [{i.action.name, i.action.by.name, i.actor} for i in model.instances]


def _known(labels: Iterable[str], names: list[set[str]]) -> set[str]:
    known = sorted(set().union(*names))
    for name in labels:
        if name not in known:
            raise unknown("action or actor", name, known)
    return set(labels)
