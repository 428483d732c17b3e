"""What is asked of an engine: a model, the properties to check, and the options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from reprlib import repr as brief
from typing import Any

from attrs import field, frozen

from kwalk.model.language import Model, Property, PropertyInstance, Reading, Scenario, UsageError
from kwalk.model.language.errors import unknown
from kwalk.model.language.registry import find_scenario
from kwalk.search.base.option_table import complete, present
from kwalk.search.base.progress import Report

MINIMIZED = 100
"""The default number of findings that are minimized."""
Checked = Property | PropertyInstance | str
"""A property, one of its instances, or the name of either."""


@frozen
class Query:
    """What is asked of an engine.

    Args:
        reference: The reference by which the scenario is found again.
        model: The model, with its variant, bounds and flags.
        properties: The property instances to check.
        options: The options by name, complete and checked (`option_table`).
        command: The command line that repeats the query; "" for none.
        reading: What was read from a snapshot of a real system, where the model starts from one.
        subject: The checked property, or all of them, in words.
    """

    reference: str
    model: Model
    properties: tuple[PropertyInstance, ...]
    options: Mapping[str, Any] = field(factory=dict)
    command: str = ""
    reading: Reading | None = None
    subject: str = ""

    @property
    def minimized(self) -> int:
        """How many findings are minimized and grouped by shape."""
        count: int = MINIMIZED if self.options["minimize"] is None else self.options["minimize"]
        return count if self.options["keep_going"] else 0

    def keywords(self, report: Report, *names: str) -> dict[str, Any]:
        """Return the keywords of a search: the properties, and some options."""
        return {
            "properties": self.properties,
            "report": report,
            "command": self.command,
            **present(self.options, *names),
        }

    @classmethod
    def of(
        cls,
        subject: Scenario | Model | str,
        accepts: type,
        options: Mapping[str, Any],
        properties: Checked | Iterable[Checked] | None = None,
    ) -> Query:
        """Return a query of Python code.

        Args:
            subject: A scenario, its name, or a model.
            accepts: The class that declares the options.
            options: Values by name; the others have their defaults.
            properties: What to check; None for all of the model.

        Raises:
            UsageError: Something does not exist, or a value is not allowed.
        """
        every = complete(accepts, options)
        if isinstance(subject, Model):
            if any(every[name] for name in ("variant", "bounds", "flags", "constraints")):
                raise UsageError(
                    "A Model has its variant, bounds and flags already. Give a Scenario, or leave these out."
                )
            model = subject
        else:
            scenario = find_scenario(subject) if isinstance(subject, str) else subject
            if not isinstance(scenario, Scenario):
                raise UsageError(
                    f"The first argument is a Scenario, a Model, or the name of a scenario (got {scenario!r})."
                )
            model = model_of(scenario, every)
        reference = subject if isinstance(subject, str) else model.scenario.name
        return cls(reference, model, _listed(model, properties), every)


def model_of(scenario: Scenario, options: Mapping[str, Any]) -> Model:
    """Return the model of a scenario with the variant, bounds, flags and constraints of options.

    Raises:
        UsageError: One of them does not exist.
    """
    flags = {**dict(options["flags"] or ()), **_selected(scenario, options["constraints"])}
    return Model(scenario, options["variant"], dict(options["bounds"] or ()), flags)


def _selected(scenario: Scenario, names: Iterable[str]) -> dict[str, bool]:
    """Return the flags that apply optional constraints; UsageError if the scenario has none of a name."""
    always = [each.name for each in scenario.constraints if not each.optional]
    for name in names:
        if name in always:
            raise UsageError(f"The constraint {name!r} of {scenario.name!r} always applies; leave out --constraint.")
        if name not in scenario.optional_constraints:
            raise unknown("optional constraint", name, scenario.optional_constraints)
    return dict.fromkeys(names, True)


def _listed(model: Model, properties: Checked | Iterable[Checked] | None) -> tuple[PropertyInstance, ...]:
    """Return the instances of properties, in the order in which these are listed."""
    if properties is None:
        return model.properties
    listed = list(properties) if isinstance(properties, Iterable) and not isinstance(properties, str) else [properties]
    return model.with_counts(dict.fromkeys(one for each in listed for one in model.properties_of(_name(each))))


def _name(checked: Checked) -> str:
    if isinstance(checked, Property):
        return checked.name
    name = checked.key if isinstance(checked, PropertyInstance) else checked
    if not isinstance(name, str):
        raise UsageError(f"A property is a Property, or the name of one (got {brief(name)}).")
    return name
