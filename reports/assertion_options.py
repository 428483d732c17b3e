"""The options of a test run that all its assertions about scenarios share.

They come from pytest's command line, or from a caller's own `with AssertionOptions(…).active():`. An argument of an
assertion takes precedence over them. This module uses `dataclasses`, not attrs: the pytest plugin imports it in every
test run of every project, and pytest has imported `dataclasses` already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from kwalk.search.base.option_table import DEFAULT_OUT, PROFILES


@dataclass(frozen=True)
class Failure:
    """What a failed assertion leaves: its test, claim and length, and the files of the trace.

    Args:
        test: The identifier of the test.
        subject: The checked property, and the scenario.
        claim: What is violated, in one line, with the number of steps.
        symptom: What users see.
        page: The page of the trace, "" if it was not saved.
        trace: The file that replays it, "" if it was not saved.
        text: The whole message.
    """

    test: str
    subject: str
    claim: str
    symptom: str
    page: str
    trace: str
    text: str


@dataclass(frozen=True)
class AssertionOptions:
    """The options of a test run.

    Args:
        variant: The variant to check where an assertion names none.
        profile: The Hypothesis profile: one of `PROFILES`.
        seconds: The time limit of each search, None for no limit.
        seed: The number from which all random choices derive.
        bounds: Sizes that replace those of the scenarios, by the name of the bound.
        out: The folder for traces.
        pin: Whether a known counterexample that is found again, with the same length, replaces its pinned trace.
        strict: Whether all assertions are strict, as with their argument of that name.
        test: The identifier of the running test.
    """

    variant: str | None = None
    profile: str = PROFILES[0]
    seconds: float | None = None
    seed: int = 0
    bounds: Mapping[str, int] = field(default_factory=dict)
    out: Path = Path(DEFAULT_OUT)
    pin: bool = False
    strict: bool = False
    test: str = ""

    @contextmanager
    def active(self) -> Iterator[None]:
        """Make these the options that assertions read, until the block ends."""
        token = _ACTIVE.set(self)
        try:
            yield
        finally:
            _ACTIVE.reset(token)


_ACTIVE: ContextVar[AssertionOptions] = ContextVar("options", default=AssertionOptions())  # noqa: B039 - only lines are added


def active_options() -> AssertionOptions:
    """Return the options in force."""
    return _ACTIVE.get()
