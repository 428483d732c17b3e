"""The pages `mutants*.md`: what became of small mistakes in the models, from `tests/kafka/outcomes.json`."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from posixpath import commonpath
from types import ModuleType
from typing import Any

import kwalk.model.kafka
import kwalk.model.zookeeper
from kwalk.model.language import Trial
from kwalk.model.language.action import Parametric
from kwalk.model.language.settings import variant_text
from kwalk.reports.document import Block, Bullets, DataTable, Heading, Line, Paragraph, code, strong
from kwalk.reports.document.markdown import markdown_document
from kwalk.reports.pages.mutation import READING, place_of, score
from kwalk.search.analyses.mutation.mutants import Mutant, mutants_of
from kwalk.search.analyses.mutation.mutate import OPERATORS, MutantStatus
from tests.kafka.mutant_runs import MutantRun, baseline_row, trial_model
from tests.kafka.outcomes import pinned_mutants

Tally = Counter[MutantStatus]


def page(run: MutantRun) -> str:
    """Return the text of the page of a run."""
    return markdown_document(_blocks(run, pinned_mutants()[run.command]))


def _blocks(run: MutantRun, rows: Mapping[str, Any]) -> Iterator[Block]:
    operators, files = (_tallies(rows, kind) for kind in ("operator", "file"))
    total, alive = sum(operators.values(), Counter()), _named(rows, "alive")
    yield Heading(1, f"Mutants of {commonpath(files)}: which mistakes its properties notice")
    yield Paragraph(["Written by ", code("make docs"), " from the outcome of ", code(run.command), "; do not edit."])
    yield Paragraph(READING)
    tried, every = rows["mutants"]["tried"], rows["mutants"]["total"]
    sentence = f"{tried:,} mutants; {score(total)} that can be noticed are noticed; {len(alive):,} are alive."
    yield Paragraph([strong(sentence), f" A random sample of {tried:,} of {every:,}." if tried < every else ""])
    yield Bullets(tuple([strong(s.value), f" ({total[s]:,}): {s.meaning}."] for s in MutantStatus if total[s]))
    yield Heading(2, "Baselines")
    yield Bullets(tuple(_baseline(trial, rows) for trial in run.trials))
    yield Heading(2, "By operator")
    yield _table("operator", {**{name: operators[name] for name in sorted(operators)}, "all": total})
    yield Bullets(tuple([code(operator.name), f": {operator.about}."] for operator in OPERATORS))
    yield Heading(2, "By file")
    yield _table("file", files)
    yield Heading(2, "By property")
    killed = sorted(_named(rows, "killed by").items(), key=lambda pair: (-pair[1], pair[0]))
    cells = tuple(([code(name)], str(count)) for name, count in killed)
    yield DataTable(("property", "mutants that it kills first"), cells, frozenset({1}))
    yield from _survivors(alive, run.explained)


def _named(rows: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return the rows of a kind by what comes after it, sorted."""
    return {key.removeprefix(f"{kind} "): rows[key] for key in sorted(rows) if key.startswith(f"{kind} ")}


def _tallies(rows: Mapping[str, Any], kind: str) -> dict[str, Tally]:
    named = _named(rows, kind)
    return {name: Counter({MutantStatus(s): n for s, n in counts.items()}) for name, counts in named.items()}


def _baseline(trial: Trial, rows: Mapping[str, Any]) -> str:
    """Return a line about the model of a trial."""
    model, found = trial_model(trial), rows[baseline_row(trial)]
    bounds = "".join(f", {name} {size}" for name, size in trial.bounds.items())
    fairness = f"; fairness: {found['fairness']}" if "fairness" in found else ""
    counts = f"{found['states']:,} states, {found['properties']} properties that hold{fairness}"
    variant = variant_text(model.variant, model.flag_overrides)
    return f"{model.scenario.name}, {variant}{bounds}: {counts}. {trial.about}".rstrip()


def _table(first: str, tallies: Mapping[str, Tally]) -> DataTable:
    columns = (first, *(status.value for status in MutantStatus), "score")
    rows = ((name, *(str(tally[s]) for s in MutantStatus), score(tally)) for name, tally in tallies.items())
    cells = tuple(([code(name)] if name != "all" else name, *counts) for name, *counts in rows)
    return DataTable(columns, cells, frozenset(range(1, len(columns))))


def _survivors(alive: Mapping[str, str], explained: Mapping[str, str]) -> Iterator[Block]:
    """Yield every mutant that is alive, under the reason."""
    yield Heading(2, "Survivors")
    known = mutants_by_id(alive)
    for reason in dict.fromkeys(explained.get(name, "") for name in alive):
        yield Heading(3, reason or "Not explained")
        named = [name for name in alive if explained.get(name, "") == reason]
        yield Bullets(tuple(_survivor(name, alive[name], known.get(name)) for name in named))


def _survivor(name: str, outcome: str, mutant: Mutant | None) -> Line:
    if mutant is None:
        return [code(name), f" (changed since): {outcome}"]
    return [code(name), f" ({place_of(mutant)}): {outcome}: ", code(mutant.before), " → ", code(mutant.after)]


def mutants_by_id(names: Iterable[str]) -> dict[str, Mutant]:
    """Return the mutants of the functions that these ids name, wherever records have fields of those names."""
    things = [thing for module in _modules() for thing in vars(module).values()]
    classes = [thing for thing in things if getattr(thing, "__kwalk__", "") in ("state", "value")]
    parts = [part for cls in classes for part in vars(cls).values()]
    found = [part.fget if isinstance(part, property) else part for part in parts]
    found += [thing.function if isinstance(thing, Parametric) else thing for thing in things]
    functions = {name.partition(":")[0] for name in names}
    written = {f for f in found if inspect.isfunction(f) and f.__module__.startswith("kwalk.model.")}
    written = {f for f in written if f"{f.__module__.rpartition('.')[2]}.{f.__qualname__}" in functions}
    uses = {(f, field.name, cls) for f in written for cls in classes for field in cls.__attrs_attrs__}
    return {mutant.id: mutant for mutant in mutants_of(written, uses)}


@cache
def _modules() -> tuple[ModuleType, ...]:
    """Return the modules of the models."""
    parts = (kwalk.model.kafka, kwalk.model.zookeeper)
    found = (info for part in parts for info in pkgutil.walk_packages(part.__path__, f"{part.__name__}."))
    return tuple(importlib.import_module(info.name) for info in found if "snapshots" not in info.name)
