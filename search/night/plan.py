"""The tasks of a run: models, properties and budgets from a configuration, all checked before anything starts."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any

from attrs import frozen

from kwalk.model.language import Model, PropertyInstance, UsageError
from kwalk.model.language.errors import KwalkError
from kwalk.model.language.registry import find_scenario
from kwalk.model.language.settings import setting_from, setting_text, setting_texts
from kwalk.search.base.option_table import Properties, WalkKeywords, rows, words_of
from kwalk.search.kernel.model_digest import cache_key
from kwalk.search.night.config import DEPTH, Config, TaskTable
from kwalk.search.simulation.options import allowed_instances

MOST_TASKS = 10_000


@frozen(eq=False)
class NightlyTask:
    """One scenario in one variant, with bounds and flags, and how it is searched. Numbers begin at 0."""

    number: int
    reference: str
    """The reference of the scenario."""
    model: Model
    properties: tuple[PropertyInstance, ...]
    entry: TaskTable
    seed: int
    seconds: float | None
    """The time budget: its own setting, or its share of the run's minutes if that is less."""

    @property
    def name(self) -> str:
        """The task in a few words."""
        details = [f"{name} {size}" for name, size in self.model.bound_overrides.items()]
        walks = self.entry.engine == "walk"
        details += [] if walks and self.entry.swarm else ["uniform"] if walks else ["exhaust"]
        details += [*(f"only {name}" for name in self.entry.only), *(f"without {name}" for name in self.entry.without)]
        details += [f"{name} {setting_text(setting)}" for name, setting in self.model.flag_overrides.items()]
        return " ".join([self.reference, self.model.variant, *([f"({', '.join(details)})"] if details else [])])

    @property
    def depth(self) -> int:
        """The most steps of a walk."""
        return self.entry.depth or DEPTH

    @property
    def identity(self) -> dict[str, Any]:
        """What must be the same when a run is resumed, as it is in the manifest."""
        return {
            "task": self.number,
            "name": self.name,
            "scenario": self.reference,
            "variant": self.model.variant,
            "bounds": {name: int(size) for name, size in self.model.binding.bounds.items()},
            "flags": dict(self.model.flag_overrides),
            "engine": self.entry.engine,
            "fingerprint": cache_key(self.model),
        }

    def command(self, walks: int | None) -> str:
        """Return the command that runs this task alone, with that many walks."""
        model, entry = self.model, self.entry
        values: dict[str, Any] = {"variant": model.variant, "properties": entry.properties, "keep_going": True}
        values |= {"bounds": model.bound_overrides, "flags": setting_texts(model.flag_overrides)}
        if entry.engine == "walk":
            values |= {"seed": self.seed, "depth": self.depth, "walks": max(1, walks or 1)}
            values |= {"uniform": not entry.swarm, "only": entry.only, "without": entry.without}
        return shlex.join(["kwalk", entry.engine, self.reference, *words_of(values, rows(Properties, WalkKeywords))])


def tasks_of(config: Config, place: str) -> tuple[NightlyTask, ...]:
    """Return the tasks, in the order of the configuration; `place` names it in errors.

    Raises:
        UsageError: A scenario, variant, bound, flag, property or action is unknown.
    """
    requested = [(entry, n, *one) for n, entry in enumerate(config.tasks, start=1) for one in _multiplied(entry)]
    if len(requested) > MOST_TASKS:
        raise UsageError(f"{place}: {len(requested):,} tasks are more than {MOST_TASKS:,}. Make several runs of them.")
    shares = sum(entry.share for entry, *_ in requested)
    tasks = []
    for number, (entry, line, reference, variant, bounds) in enumerate(requested):
        granted = None if config.minutes is None else 60 * config.minutes * entry.share / shares
        try:
            model = _model(entry, reference, variant, bounds)
            properties = model.properties_named(entry.properties)
            allowed_instances(model, entry.only, entry.without)
        except KwalkError as error:
            raise UsageError(f"{place}, task entry {line}: {error}") from error
        seconds = min((s for s in (granted, entry.seconds) if s is not None), default=None)
        tasks.append(NightlyTask(number, reference, model, properties, entry, config.seed, seconds))
    return tuple(tasks)


def _multiplied(entry: TaskTable) -> Iterator[tuple[str, str | None, dict[str, int]]]:
    variants: Iterable[str | None] = entry.variants or (None,)
    sizes = [dict(zip(entry.bounds, chosen, strict=True)) for chosen in product(*entry.bounds.values())]
    return product(entry.scenarios, variants, sizes)


def _model(entry: TaskTable, reference: str, variant: str | None, bounds: Mapping[str, int]) -> Model:
    scenario = find_scenario(reference)
    flags = {name: setting_from(scenario, name, setting_text(setting)) for name, setting in entry.flags.items()}
    model = Model(scenario, variant, bounds, flags)
    model.initial  # noqa: B018 - a scenario that begins nowhere is refused now, not at night
    return model
