"""Fixes: which flag repairs the modelled system, what it is meant to repair, and on which trials an audit tests it.

Words: a fix is a flag of the model, *off* in the system as it is and *on* where it is repaired. A *trial* is a scenario
in some variant, its *base*, and the properties to check there; an audit searches it with the fix off and with it on. A
trial has no expected outcome: an incomplete fix is shown by the trial in which a property is violated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from reprlib import repr as brief
from typing import Any

from attrs import field, frozen

from kwalk.model.language.binding import Flag
from kwalk.model.language.declared import is_table
from kwalk.model.language.errors import UsageError
from kwalk.model.language.scenario import Scenario
from kwalk.model.language.settings import Setting, setting_text


@frozen(eq=False)
class Trial:
    """A scenario on which a fix is tested.

    Attributes:
        scenario: the scenario, or its name.
        properties: names of properties, or of instances such as `is_kept(0)`; empty for all of the scenario's.
        variant: the base variant; None for the scenario's first.
        bounds: bounds that differ from the scenario's.
        flags: flags that differ from the variant's.
        about: a sentence on what this trial adds to the others.
    """

    scenario: Scenario | str
    properties: tuple[str, ...] = ()
    variant: str | None = None
    bounds: Mapping[str, int] = field(factory=dict)
    flags: Mapping[str, Setting] = field(factory=dict)
    about: str = ""

    def __attrs_post_init__(self) -> None:
        _check(self, "A trial", self._requirements())

    @property
    def scenario_name(self) -> str:
        """Return the name of its scenario, or the reference that finds it."""
        return self.scenario.name if isinstance(self.scenario, Scenario) else self.scenario

    def _requirements(self) -> Iterator[tuple[str, bool, str]]:
        """Yield for each field its name, whether its value is of the right kind, and what that kind is."""
        yield "scenario", isinstance(self.scenario, Scenario | str) and bool(self.scenario), "a Scenario, or a name"
        yield "properties", _are_names(self.properties), "a tuple of names"
        yield "variant", self.variant is None or isinstance(self.variant, str), "the name of a variant, or None"
        yield "bounds", is_table(self.bounds), "a mapping of names to sizes"
        yield "flags", is_table(self.flags), "a mapping of names to settings"
        yield "about", isinstance(self.about, str), "a sentence"


@frozen(eq=False)
class Fix:
    """A repair of the modelled system.

    Attributes:
        flag: the flag that turns it on.
        closes: a sentence on what it is meant to repair.
        trials: the trials on which an audit tests it.
        source: where it comes from.
        off: the flag's setting without the fix; needed for a flag with settings.
        on: the flag's setting with the fix.
        name: its name, by default the flag's; two fixes may use one flag.
    """

    flag: Flag
    closes: str
    trials: tuple[Trial, ...]
    source: str = ""
    off: Setting = False
    on: Setting = True
    name: str = field()

    @name.default
    def _flags_name(self) -> str:
        return str(getattr(self.flag, "name", ""))

    def __attrs_post_init__(self) -> None:
        _check(self, f"Fix {brief(self.name)}", self._requirements())
        for trial in self.trials:
            if self.flag.name in trial.flags:
                raise UsageError(
                    f"Fix {self.name!r}: a trial in {trial.scenario_name!r} sets its own flag, {self.flag.name!r}. "
                    "Leave that out, as an audit looks at both settings."
                )

    def _requirements(self) -> Iterator[tuple[str, bool, str]]:
        """Yield for each field its name, whether its value is of the right kind, and what that kind is."""
        yield "flag", isinstance(self.flag, Flag), "a Flag"
        yield "name", isinstance(self.name, str) and bool(self.name), "a text that is not empty"
        yield "closes", isinstance(self.closes, str) and bool(self.closes), "a sentence on what it closes"
        yield "trials", _are_trials(self.trials), "a tuple of one or more Trials"
        yield "source", isinstance(self.source, str), "a text"
        settings = self.flag.settings or (False, True)
        allowed = f"one of the flag's settings, {', '.join(map(setting_text, settings))}"
        yield "off", any(self.off is one or _same_text(self.off, one) for one in settings), allowed
        yield "on", any(self.on is one or _same_text(self.on, one) for one in settings), allowed
        yield "on", self.on != self.off, "another setting than `off`"


def _check(thing: Any, called: str, requirements: Iterator[tuple[str, bool, str]]) -> None:
    for name, is_met, what in requirements:
        if not is_met:
            raise UsageError(f"{called}: `{name}` must be {what} (got {brief(getattr(thing, name))}).")


def _same_text(one: Any, other: Any) -> bool:
    return isinstance(one, str) and isinstance(other, str) and one == other


def _are_names(things: Any) -> bool:
    return isinstance(things, tuple) and all(isinstance(thing, str) and thing for thing in things)


def _are_trials(things: Any) -> bool:
    return isinstance(things, tuple) and bool(things) and all(isinstance(thing, Trial) for thing in things)
