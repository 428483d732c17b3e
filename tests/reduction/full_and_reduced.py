"""What a full and a reduced search must agree on."""
from __future__ import annotations

from model.language import Claim, Kind, Model
from search.exhaust import Conclusion
from search.exploration import Ending, Exploration, Wish
from search.kernel import Kernel


def explored(
    model: Model, kernel: Kernel, claims: tuple[Claim, ...], *, reduce: bool, workers: int = 1, keep_going: bool = True
) -> Exploration:
    """A search that has ended."""
    wish = Wish(claims, keep_going=keep_going, memory=1 << 30, workers=workers, reduce=reduce)
    exploration = Exploration(model, kernel, wish)
    exploration.run()
    assert exploration.ending in (Ending.COMPLETE, Ending.VIOLATION)
    return exploration


def lengths(exploration: Exploration) -> dict[str, int]:
    """For each claim that is violated or witnessed, and for a deadlock, the length of the trace that shows it."""
    conclusion = Conclusion(exploration, (), "")
    sightings = [s for claim in exploration.wish.claims if (s := conclusion._seen(claim)) is not None]
    found = {s.claim.key: conclusion._trace(s).length for s in sightings if s.claim is not None}
    deadlocks = [s for s in conclusion._violations() if s.claim is None]
    return found | ({"deadlock": conclusion._trace(deadlocks[0]).length} if deadlocks else {})


def quiet_states(exploration: Exploration) -> set[bytes]:
    """All stored states in which no system instance is enabled, packed."""
    from search.confirm import enabled_row

    rows, kernel = exploration.states.rows(list(range(exploration.stored))), exploration.kernel
    quiet = (row for row in rows if not (enabled_row(kernel, row) & exploration.rows.system_row).any())
    return {row.tobytes() for row in quiet}


def asks_about_quiet(claims: tuple[Claim, ...]) -> bool:
    """Whether any claim speaks about quiet states only, so that all of these are found."""
    return any(claim.kind is Kind.WHEN_QUIET for claim in claims)


def compare(model: Model, kernel: Kernel, claims: tuple[Claim, ...]) -> tuple[int, int]:
    """Assert that both searches agree for these claims; how many states each has seen."""
    full = explored(model, kernel, claims, reduce=False)
    reduced = explored(model, kernel, claims, reduce=True)
    assert lengths(full) == lengths(reduced)
    if asks_about_quiet(claims):
        assert quiet_states(full) == quiet_states(reduced)
    assert reduced.stored <= full.stored
    return full.stored, reduced.stored
