"""Traces: a behaviour of a model, from an initial state to what it shows.

One `Trace` flows between all engines and reports. It names its actions and holds its states, so that it can be read
without the model, and replayed step by step with it.
"""
from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from model.language import KwalkError, Model, Result, Vector
from model.language.model import Claim


class ReplayError(KwalkError):
    """A trace does not replay: the model (or its bounds, or its version) is not the one that made it."""


@frozen
class Trace:
    """A behaviour: `states[0]`, then for each i `actions[i]` leads to `states[i + 1]`.

    `scenario` is the reference by which it is found again, `bounds` are all of its bounds, `flags` those that were set
    otherwise than the variant has them, `labels` the names of domain members where a snapshot gave them. `claim` is the
    key of the violated (or witnessed) invariant instance, None for a deadlock or a sample. `shortest` says that no
    shorter one exists within the bounds, and by which engine. With `loop` it never ends: the last state is
    `states[loop]` again, and the steps from there on are taken for ever (where there are none, it stays as it is).
    """

    scenario: str
    variant: str
    bounds: Mapping[str, int]
    states: tuple[Vector, ...]
    actions: tuple[str, ...]
    claim: str | None = None
    labels: Mapping[str, tuple[str, ...]] = field(factory=dict)
    flags: Mapping[str, bool | str] = field(factory=dict)
    seed: int | None = None
    found_by: str = ""
    shortest: str | None = None
    command: str = ""
    fingerprint: str = ""
    loop: int | None = None

    @property
    def length(self) -> int:
        """The number of steps."""
        return len(self.actions)


def reference_of(model: Model) -> str:
    """The reference by which a trace of this model finds its scenario again."""
    return model.scenario.name


def run(model: Model, start: Vector, actions: tuple[str, ...]) -> tuple[Vector, ...]:
    """The states that a list of action instances leads through; ReplayError at the first one that is not enabled."""
    states = [start]
    for number, key in enumerate(actions, start=1):
        outcome = model.attempt(model.instance(key), states[-1])
        if outcome.after is None:
            why = outcome.bound if outcome.result is Result.BOUND else "its guard is false"
            raise ReplayError(f"Step {number}, {key}, cannot be taken here: {outcome.result.value} ({why}).")
        states.append(outcome.after)
    return tuple(states)


def shows(model: Model, claim: Claim, states: tuple[Vector, ...]) -> bool:
    """Whether the last state (for a step invariant: the last step) of a behaviour violates the claim."""
    before = states[-2] if claim.invariant.states == 2 and len(states) > 1 else None
    return model.violates(claim, states[-1], before)
