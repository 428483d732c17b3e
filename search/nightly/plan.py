"""From a configuration to the tasks of a run: models, claims and budgets, all checked before anything starts."""
from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any

from attrs import frozen

from model.language import Claim, Model, UsageError
from model.language.errors import KwalkError
from model.language.registry import find_scenario
from model.language.settings import setting_from, setting_text
from search.compile.fingerprint import fingerprint
from search.nightly.config import DEPTH, Config, Entry
from search.walks.allowed import allowed_instances

MOST_TASKS = 10_000


@frozen(eq=False)
class Task:
    """One scenario in one variant, with bounds and flags, and how it is searched. Tasks are numbered from 0."""

    number: int
    reference: str
    """By which the scenario is found again."""
    model: Model
    claims: tuple[Claim, ...]
    entry: Entry
    seed: int
    seconds: float | None
    """The most that it may take, by its own setting and by its share of the run's minutes."""

    @property
    def name(self) -> str:
        """The task in a few words."""
        asked = [f"{name} {size}" for name, size in self.model.asked_bounds.items()]
        walks = self.entry.engine == "walk"
        asked += [] if walks and self.entry.swarm else ["uniform"] if walks else ["exhaust"]
        asked += [*(f"only {name}" for name in self.entry.only), *(f"without {name}" for name in self.entry.without)]
        asked += [f"{name} {setting_text(setting)}" for name, setting in self.model.asked_flags.items()]
        return " ".join([self.reference, self.model.variant, *([f"({', '.join(asked)})"] if asked else [])])

    @property
    def depth(self) -> int:
        """Steps of a walk, at most."""
        return self.entry.depth or DEPTH

    @property
    def identity(self) -> dict[str, Any]:
        """What must be the same when a run goes on, as the manifest has it."""
        return {
            "task": self.number, "name": self.name, "scenario": self.reference, "variant": self.model.variant,
            "bounds": {name: int(size) for name, size in self.model.binding.bounds.items()},
            "flags": dict(self.model.asked_flags), "engine": self.entry.engine, "fingerprint": fingerprint(self.model),
        }  # fmt: skip

    def command(self, walks: int | None) -> str:
        """The command that does the same by itself; so many walks, if it is about walks."""
        words = ["kwalk", self.entry.engine, self.reference, "--variant", self.model.variant]
        if self.entry.engine == "walk":
            words += ["--seed", str(self.seed), "--depth", str(self.depth), "--walks", str(max(1, walks or 1))]
            words += ["--uniform"] * (not self.entry.swarm)
            words += [word for name in self.entry.only for word in ("--only", name)]
            words += [word for name in self.entry.without for word in ("--without", name)]
        words += [word for name in self.entry.claims for word in ("--invariant", name)]
        words += [word for name, size in self.model.asked_bounds.items() for word in ("--bound", f"{name}={size}")]
        flags = self.model.asked_flags.items()
        words += [word for name, setting in flags for word in ("--flag", f"{name}={setting_text(setting)}")]
        return shlex.join([*words, "--keep-going"])


def tasks_of(config: Config, place: str) -> tuple[Task, ...]:
    """The tasks, in the order of the configuration; UsageError if one of them cannot be."""
    asked = [(entry, n, *one) for n, entry in enumerate(config.tasks, start=1) for one in _multiplied(entry)]
    if len(asked) > MOST_TASKS:
        raise UsageError(f"{place}: {len(asked):,} tasks are more than {MOST_TASKS:,}. Make several runs of them.")
    shares = sum(entry.share for entry, *_ in asked)
    tasks = []
    for number, (entry, line, reference, variant, bounds) in enumerate(asked):
        granted = None if config.minutes is None else 60 * config.minutes * entry.share / shares
        try:
            model = _model(entry, reference, variant, bounds)
            claims = _claims(model, entry.claims)
            allowed_instances(model, entry.only, entry.without)
        except KwalkError as error:
            raise UsageError(f"{place}, task entry {line}: {error}") from error
        seconds = min((s for s in (granted, entry.seconds) if s is not None), default=None)
        tasks.append(Task(number, reference, model, claims, entry, config.seed, seconds))
    return tuple(tasks)


def _multiplied(entry: Entry) -> Iterator[tuple[str, str | None, dict[str, int]]]:
    variants: Iterable[str | None] = entry.variants or (None,)
    sizes = [dict(zip(entry.bounds, chosen, strict=True)) for chosen in product(*entry.bounds.values())]
    return product(entry.scenarios, variants, sizes)


def _model(entry: Entry, reference: str, variant: str | None, bounds: Mapping[str, int]) -> Model:
    scenario = find_scenario(reference)
    flags = {name: setting_from(scenario, name, setting_text(setting)) for name, setting in entry.flags.items()}
    model = Model(scenario, variant, bounds, flags)
    model.initial  # noqa: B018 - a scenario that begins nowhere is refused now, not at night
    return model


def _claims(model: Model, names: Iterable[str]) -> tuple[Claim, ...]:
    """The claims asked for, each once and in the model's order; all of them if none is named."""
    wanted = {claim.index for name in names for claim in model.claims_of(name)}
    return tuple(claim for claim in model.claims if not names or claim.index in wanted)
