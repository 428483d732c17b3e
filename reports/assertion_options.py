"""What a test run asks of all its assertions about scenarios: from pytest's options, or a caller of one's own.

Words: the *options* hold for a run; what a test says itself wins over them. What the run *saved* are the traces that
its failing assertions wrote.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from attrs import Factory, field, frozen

PROFILES = ("dev", "ci", "nightly")
DEFAULT_OUT = Path("kwalk-out")


@frozen
class Options:
    """Wishes of a run. `seconds` is for each search, None for no limit; `out` is the folder for traces.

    With `pin`, known counterexamples that are found again, and are as long as ever, are pinned anew.
    """

    variant: str | None = None
    profile: str = "dev"
    seconds: float | None = None
    seed: int = 0
    bounds: Mapping[str, int] = field(factory=dict)
    out: Path = DEFAULT_OUT
    pin: bool = False
    saved: list[str] = Factory(list)
    """A line for each trace that was saved, for the end of the run."""

    @contextmanager
    def active(self) -> Iterator[None]:
        """Make these the options that assertions look at."""
        token = _ACTIVE.set(self)
        try:
            yield
        finally:
            _ACTIVE.reset(token)


_ACTIVE: ContextVar[Options] = ContextVar("options", default=Options())  # noqa: B039 - its list is for lines only


def active_options() -> Options:
    """The options in force."""
    return _ACTIVE.get()
