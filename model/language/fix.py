"""Fixes: what a repair of the modelled system claims to close, and on what it is tried.

Words: a fix is a flag of the model, *off* in the system as it is and *on* where it is repaired. A *trial* is a scenario
in some variant, its *base*, and the invariants to look at there; an audit searches it with the fix off and with it on.
A trial says nothing of what is expected: a fix that has a hole is shown by the trial in which it fails.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from reprlib import repr as brief
from typing import Any

from attrs import field, frozen

from model.language.binding import Flag
from model.language.errors import UsageError
from model.language.scenario import Scenario
from model.language.settings import Setting, setting_text


@frozen(eq=False)
class Trial:
    """Where a fix is tried: a scenario (or its name), its base variant, bounds and flags set otherwise, invariants.

    `invariants` are names, or names of instances such as `is_kept(0)`; none means all of the scenario's. `about` is a
    sentence on what this trial adds to the others.
    """

    scenario: Scenario | str
    invariants: tuple[str, ...] = ()
    variant: str | None = None
    bounds: Mapping[str, int] = field(factory=dict)
    flags: Mapping[str, Setting] = field(factory=dict)
    about: str = ""

    def __attrs_post_init__(self) -> None:
        _demand(self, "A trial", self._demands())

    @property
    def scenario_name(self) -> str:
        """The name of its scenario, or the reference that finds it."""
        return self.scenario.name if isinstance(self.scenario, Scenario) else self.scenario

    def _demands(self) -> Iterator[tuple[str, bool, str]]:
        """For each field its name, whether its value is of the right kind, and what that is."""
        yield "scenario", isinstance(self.scenario, Scenario | str) and bool(self.scenario), "a Scenario, or a name"
        yield "invariants", _are_names(self.invariants), "a tuple of names"
        yield "variant", self.variant is None or isinstance(self.variant, str), "the name of a variant, or None"
        yield "bounds", isinstance(self.bounds, Mapping), "a mapping of names to sizes"
        yield "flags", isinstance(self.flags, Mapping), "a mapping of names to settings"
        yield "about", isinstance(self.about, str), "a sentence"


@frozen(eq=False)
class Fix:
    """A repair: the flag that turns it on, a sentence on what it claims to close, where it comes from, its trials.

    A flag with settings needs `off` and `on`; `name` is the flag's unless given, as two fixes may turn the same flag.
    """

    flag: Flag
    claims: str
    trials: tuple[Trial, ...]
    source: str = ""
    off: Setting = False
    on: Setting = True
    name: str = field()

    @name.default
    def _flags_name(self) -> str:
        return str(getattr(self.flag, "name", ""))

    def __attrs_post_init__(self) -> None:
        _demand(self, f"Fix {brief(self.name)}", self._demands())
        for trial in self.trials:
            if self.flag.name in trial.flags:
                raise UsageError(
                    f"Fix {self.name!r}: a trial in {trial.scenario_name!r} sets its own flag, {self.flag.name!r}. "
                    "Leave that out, as an audit looks at both settings."
                )

    def _demands(self) -> Iterator[tuple[str, bool, str]]:
        """For each field its name, whether its value is of the right kind, and what that is."""
        yield "flag", isinstance(self.flag, Flag), "a Flag"
        yield "name", isinstance(self.name, str) and bool(self.name), "a text that is not empty"
        yield "claims", isinstance(self.claims, str) and bool(self.claims), "a sentence on what it closes"
        yield "trials", _are_trials(self.trials), "a tuple of one or more Trials"
        yield "source", isinstance(self.source, str), "a text"
        settings = self.flag.settings or (False, True)
        allowed = f"one of the flag's settings, {', '.join(map(setting_text, settings))}"
        yield "off", any(self.off is one or _same_text(self.off, one) for one in settings), allowed
        yield "on", any(self.on is one or _same_text(self.on, one) for one in settings), allowed
        yield "on", self.on != self.off, "another setting than `off`"


def _demand(thing: Any, called: str, demands: Iterator[tuple[str, bool, str]]) -> None:
    for name, well, what in demands:
        if not well:
            raise UsageError(f"{called}: `{name}` must be {what} (got {brief(getattr(thing, name))}).")


def _same_text(one: Any, other: Any) -> bool:
    return isinstance(one, str) and isinstance(other, str) and one == other


def _are_names(things: Any) -> bool:
    return isinstance(things, tuple) and all(isinstance(thing, str) and thing for thing in things)


def _are_trials(things: Any) -> bool:
    return isinstance(things, tuple) and bool(things) and all(isinstance(thing, Trial) for thing in things)
