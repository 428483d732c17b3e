"""Steps that bounds and constraints cut off: which action would take them, and what the state after them is.

Words: a step is *cut off* if it would leave a domain that a bound declares, or a constraint forbids it. The step
*beyond* is the same action without bounds and constraints, in plain Python: a field then holds more than its domain
allows, and the bounds that properties name keep their values.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from typing import Any

from attrs import frozen

from kwalk.model.language import Abort, Kind, Model, Vector
from kwalk.model.language.binding import unlimited
from kwalk.search.base.cache import read_cache, write_cache
from kwalk.search.kernel.calls import way_to
from kwalk.search.kernel.compile.compiler import cached_kernel
from kwalk.search.kernel.model_digest import meaning_key, path_for
from kwalk.search.kernel.stepping import KernelStepper, PlainStepper, Stepper

ATTEMPTS = 20_000
"""Action instances that the search for cut steps executes in compiled code, breadth first and again in walks."""
ATTEMPTS_OF_PYTHON = 2_000
WALK_DEPTH = 200


@frozen
class CutStep:
    """A step that is cut off, and what the step beyond shows.

    Args:
        bound: The name of the bound, or of the constraint with its prefix.
        action: The name of the action.
        steps: The keys of the action instances from an initial state up to the one that is cut off.
        violated: The keys of the properties that the step beyond violates, of those about states and steps.
        error: Why the step beyond has no meaning; "" if it has one.
    """

    bound: str
    action: str
    steps: tuple[str, ...]
    violated: tuple[str, ...] = ()
    error: str = ""


def cut_steps(model: Model) -> tuple[CutStep, ...]:
    """Return a cut step for each bound and action, if one is met near the initial states or by some random walks.

    They are in the cache, also under the meaning key: what functions do beyond the domains is not in the terms.
    """
    meaning = meaning_key(model)
    if meaning is None:
        return tuple(_Finder(model).run())
    path = path_for(model, "cut-steps", __file__)
    path = path.with_name(f"{path.name}-{meaning}")
    with suppress(ValueError, TypeError):
        return tuple(CutStep(b, a, tuple(s), tuple(v), e) for b, a, s, v, e in json.loads(read_cache(path) or b""))
    found = tuple(_Finder(model).run())
    content = [[one.bound, one.action, one.steps, one.violated, one.error] for one in found]
    write_cache(path, json.dumps(content).encode())
    return found


class _Finder:
    """Looks for one cut step of each bound and action."""

    def __init__(self, model: Model) -> None:
        kernel = cached_kernel(model)
        self.model, self.is_finished = model, False
        self.stepper: Stepper = PlainStepper(model, ()) if kernel is None else KernelStepper(model, (), kernel)
        self.attempts = ATTEMPTS_OF_PYTHON if kernel is None else ATTEMPTS
        self.initial = [self.stepper.start(vector) for vector in model.initial]

    def run(self) -> Iterator[CutStep]:
        """Yield the cut steps."""
        found: dict[tuple[str, str], tuple[Any, int, tuple[int, ...]]] = {}
        for state, path, instance, bound in chain(self._breadth_first(), self._walks()):
            found.setdefault((bound, self.model.instances[instance].action.name), (state, instance, path))
        for (bound, action), (state, instance, path) in found.items():
            steps = tuple(self.model.instances[number].key for number in (*path, instance))
            yield CutStep(bound, action, steps, *_beyond(self.model, self.stepper.vector(state), instance))

    def _breadth_first(self) -> Iterator[Cut]:
        origins: dict[Any, tuple[Any, int] | None] = dict.fromkeys(self.initial)
        states, seen, attempts = list(origins), set[tuple[int, str]](), 0
        for state in states:
            if attempts > self.attempts:
                return
            for instance, bound, after in self.stepper.outcomes(state):
                attempts += 1
                if after is not None and after not in origins:
                    origins[after] = state, instance
                    states.append(after)
                elif bound is not None and (instance, bound) not in seen:
                    seen.add((instance, bound))
                    yield state, way_to(state, origins)[1], instance, bound
        self.is_finished = True

    def _walks(self) -> Iterator[Cut]:
        """Yield what random walks meet, which come further than a search that does not finish."""
        if self.is_finished:
            return
        chance, seen, attempts = random.Random(0), set[tuple[int, str]](), 0
        while attempts < self.attempts:
            state, path = chance.choice(self.initial), list[int]()
            for _ in range(WALK_DEPTH):
                outcomes = list(self.stepper.outcomes(state))
                attempts += 1 + len(outcomes)
                for instance, bound, _ in outcomes:
                    if bound is not None and (instance, bound) not in seen:
                        seen.add((instance, bound))
                        yield state, tuple(path), instance, bound
                taken = [(instance, after) for instance, _, after in outcomes if after is not None]
                if not taken:
                    break
                instance, state = chance.choice(taken)
                path.append(instance)


Cut = tuple[Any, tuple[int, ...], int, str]
"""A state, the instances that lead to it, the instance that is cut off, and by which bound."""


def _beyond(model: Model, vector: Vector, instance: int) -> tuple[tuple[str, ...], str]:
    """Return which properties the step beyond violates, and why it has no meaning ("" if it has one)."""
    taken, before, after = model.instances[instance], model.state(vector), model.state(vector)
    violated: list[str] = []
    with model.active(), unlimited():
        try:
            with suppress(Abort):
                taken.action.function(after, *taken.args)
            for prop in model.properties:
                if prop.kind in (Kind.ALWAYS, Kind.STEP) and not prop.declaration.only_counts:
                    states = (before, after) if prop.kind is Kind.STEP else (after,)
                    if prop.declaration.truth(*states, *prop.args) is False:
                        violated.append(prop.key)
        except Exception as error:
            return tuple(violated), f"{type(error).__name__}: {error}"
    return tuple(violated), ""
