"""What a full and a reduced search must agree on."""

from __future__ import annotations

from kwalk.model.language import Kind, Model, PropertyInstance
from kwalk.search.base.options import SearchOptions, StopReason
from kwalk.search.exhaustive.explorer import Explorer
from kwalk.search.exhaustive.search import ExhaustiveVerdict
from kwalk.search.kernel.calls import KernelCalls
from kwalk.search.kernel.interface import Kernel


def explored(
    model: Model,
    kernel: Kernel,
    properties: tuple[PropertyInstance, ...],
    *,
    reduce: bool,
    workers: int = 1,
    keep_going: bool = True,
) -> Explorer:
    """A search that has ended."""
    options = SearchOptions(properties, keep_going=keep_going, memory=1 << 30, workers=workers, reduce=reduce)
    exploration = Explorer(model, kernel, options)
    exploration.run()
    assert exploration.stop_reason in (StopReason.COMPLETE, StopReason.VIOLATION)
    return exploration


def lengths(exploration: Explorer) -> dict[str, int]:
    """The length of the trace for each property that is violated or witnessed, and for a deadlock."""
    conclusion = ExhaustiveVerdict(exploration)
    sightings = [s for prop in exploration.options.properties if (s := conclusion._hit(prop)) is not None]
    found = {s.prop.key: conclusion._trace(s).length for s in sightings if s.prop is not None}
    deadlocks = [s for s in conclusion._violations() if s.prop is None]
    return found | ({"deadlock": conclusion._trace(deadlocks[0]).length} if deadlocks else {})


def quiescent_states(exploration: Explorer) -> set[bytes]:
    """All stored states in which no system instance is enabled, packed."""
    rows, calls = exploration.states.rows(list(range(exploration.stored))), KernelCalls(exploration.kernel)
    quiescent = (row for row in rows if not (calls.guards(row) & exploration.rows.system_row).any())
    return {row.tobytes() for row in quiescent}


def checks_quiescent(properties: tuple[PropertyInstance, ...]) -> bool:
    """Whether any property is about quiescent states only, so that all of these are found."""
    return any(prop.kind is Kind.WHEN_QUIESCENT for prop in properties)


def compare(model: Model, kernel: Kernel, properties: tuple[PropertyInstance, ...]) -> tuple[int, int]:
    """Assert that both searches agree for these properties; return how many states each visits."""
    full = explored(model, kernel, properties, reduce=False)
    reduced = explored(model, kernel, properties, reduce=True)
    assert lengths(full) == lengths(reduced)
    if checks_quiescent(properties):
        assert quiescent_states(full) == quiescent_states(reduced)
    assert reduced.stored <= full.stored
    return full.stored, reduced.stored
