"""Traces: behaviours of a model, from an initial state to a violation or a witness.

All engines and reports use the one class `Trace`. It names its actions and holds its states, so that it can be read
without the model, and replayed step by step with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from kwalk.model.language import KwalkError, Model, StepResult, UsageError, Vector
from kwalk.model.language.display import Displayed
from kwalk.model.language.errors import InternalError
from kwalk.model.language.model import PropertyInstance
from kwalk.search.base.components import extra_missing

if TYPE_CHECKING:
    import pandas


class ReplayError(KwalkError):
    """A trace does not replay: the model, its bounds or its version differ from those that the trace was found with."""


@frozen
class Trace(Displayed):
    """A behaviour: `states[0]`, then for each i `actions[i]` leads to `states[i + 1]`.

    Args:
        scenario: The reference by which the scenario is found again.
        variant: The variant of the model.
        bounds: All bounds.
        states: The state vectors.
        actions: The keys of the action instances.
        prop: The key of the violated (or witnessed) property instance; None for a deadlock or a sample.
        labels: The names of domain members that a snapshot gave.
        flags: The flags that differ from the variant's own.
        seed: The seed of the search that found it.
        found_by: The engine, and what minimized the trace.
        shortest: The engine that shows that no shorter trace exists within the bounds; None if none has.
        command: The command line of the search.
        fingerprint: The digest of the model (see `kwalk.search.kernel.model_digest`); "" if it is not saved.
        loop: For an infinite behaviour, a lasso: the last state equals `states[loop]`, and the steps from there on are
            repeated. If there are none, the state stays as it is.
    """

    scenario: str
    variant: str
    bounds: Mapping[str, int]
    states: tuple[Vector, ...]
    actions: tuple[str, ...]
    prop: str | None = None
    labels: Mapping[str, tuple[str, ...]] = field(factory=dict)
    flags: Mapping[str, bool | str] = field(factory=dict)
    seed: int | None = None
    found_by: str = ""
    shortest: str | None = None
    command: str = ""
    fingerprint: str = ""
    loop: int | None = None
    model: Model | None = field(default=None, eq=False, repr=False)
    """The model, where an engine of `kwalk.engines` or `kwalk.open_trace` returned the trace."""

    @property
    def length(self) -> int:
        """Return the number of steps."""
        return len(self.actions)

    def state(self, step: int = -1) -> Any:
        """Return a state as an object of the model's state class.

        Args:
            step: The number of steps taken before it; negative numbers count from the end.

        Raises:
            UsageError: The trace came without its model; `kwalk.open_trace` finds that of a saved one.
        """
        return self._its_model.state(self.states[step])

    def to_pandas(self, *, numbers: bool = False) -> pandas.DataFrame:
        """Return the states as a table: one row per state, one column per field of the state.

        Args:
            numbers: Whether the values are the integers that engines compute with, instead of text.

        Returns:
            A DataFrame with the index `step` and the columns `action` (None for the initial state) and one for
            each field, by its path.

        Raises:
            UsageError: The package pandas is not installed.
        """
        try:
            import pandas
        except ModuleNotFoundError as error:
            raise extra_missing(error) or error from error

        paths = [leaf.path for leaf in self._its_model.leaves]
        rows = [dict(zip(paths, s, strict=True)) if numbers else self._its_model.show(s) for s in self.states]
        table = pandas.DataFrame(rows, columns=paths, index=pandas.RangeIndex(len(rows), name="step"))
        table.insert(0, "action", [None, *self.actions])
        return table

    @property
    def _its_model(self) -> Model:
        if self.model is None:
            raise UsageError("This trace came without its model. Use kwalk.open_trace, or an engine of kwalk.")
        return self.model


def reference_of(model: Model) -> str:
    """Return the reference by which a trace of this model finds its scenario again."""
    return model.scenario.name


def run(model: Model, start: Vector, actions: tuple[str, ...]) -> tuple[Vector, ...]:
    """Return the states that a list of action instances leads through; ReplayError if one of them is not enabled."""
    states = [start]
    for number, key in enumerate(actions, start=1):
        outcome = model.attempt(model.instance(key), states[-1])
        if outcome.after is None:
            why = outcome.bound if outcome.result is StepResult.BOUND else "its guard is false"
            raise ReplayError(f"Step {number}, {key}, cannot be taken here: {outcome.result.value} ({why}).")
        states.append(outcome.after)
    return tuple(states)


def ends_in_deadlock(model: Model, trace: Trace) -> bool:
    """Return whether the last state has no successor, in a model where that is an error.

    Where it is none, a behaviour ends there because everything is done or the bounds are used up.
    """
    return model.scenario.deadlock_is_error and next(iter(model.successors(trace.states[-1])), None) is None


def is_violated_at_end(model: Model, prop: PropertyInstance, states: tuple[Vector, ...]) -> bool:
    """Return whether the last state (for a step property: the last step) of a behaviour violates the property."""
    before = states[-2] if prop.declaration.states == 2 and len(states) > 1 else None
    return model.violates(prop, states[-1], before)


class ModelFailure(InternalError):
    """An action of the model leaves its domain, or fails otherwise: no fault of the snapshots.

    `trace` leads to the state where it happens, if the search knows it.
    """

    def __init__(self, message: str, model: Model, trace: Trace | None) -> None:
        super().__init__(message)
        self.model, self.trace = model, trace
