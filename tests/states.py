"""States of a model to compare executions in."""

from __future__ import annotations

import random

from kwalk.model.language import Model, Vector


def random_states(model: Model, count: int, seed: int) -> list[Vector]:
    """Return arbitrary states of the domain, reachable or not."""
    rng = random.Random(seed)
    return [model.canonical([rng.randint(leaf.low, leaf.high) for leaf in model.leaves]) for _ in range(count)]


def reachable_states(model: Model, count: int, seed: int) -> list[Vector]:
    """Return the states of random walks in plain Python."""
    rng = random.Random(seed)
    found: list[Vector] = []
    state = rng.choice(model.initial)
    while len(found) < count:
        found.append(state)
        following = _any_successor(model, state, rng)
        state = rng.choice(model.initial) if following is None else following
    return found


def _any_successor(model: Model, state: Vector, rng: random.Random) -> Vector | None:
    for instance in rng.sample(model.instances, len(model.instances)):
        after = model.attempt(instance, state).after
        if after is not None:
            return after
    return None
