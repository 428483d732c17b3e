"""What takes long to compute, and is pinned: `outcomes.json`, which `make pins` writes and a reviewer reads as a diff.

Words: a *search* is a command `kwalk exhaust …` in its *canonical* form: the variant is named, and options are sorted.
Each line of the file is one outcome.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from attrs import asdict, field, frozen

from kwalk.invariants.stories import FIXES
from kwalk.model.language import Model
from kwalk.model.language.registry import find_scenario
from kwalk.model.language.settings import setting_text
from kwalk.reports.options.parser import parser
from kwalk.reports.pages.audit import command_of
from kwalk.search.analyses.audit.audit import cells_of
from kwalk.search.analyses.audit.cells import AuditCell, CellOutcome, CellStatus
from kwalk.search.results.verdict import Verdict
from tests.kafka.lengths import shortest

FILE = Path(__file__).parent / "outcomes.json"
MUTANTS = "kwalk mutate"
"""How the commands begin whose outcomes are tallies."""


def _names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(names)


@frozen(kw_only=True)
class SearchOutcome:
    """What a search finds. It stops at the first violation, or with `--keep-going` visits every state.

    Attributes:
        violates: The violated property instance of a search that stopped, otherwise "".
        steps: The length of its shortest trace; None without a violation, and if a witness is never reached.
        states: The number of distinct states; None for a search that stopped.
        depth: The depth of the search; None for a search that stopped.
        quiescent: The number of quiescent states; None unless the search kept going.
        shortest: With `--keep-going`, the length of the shortest trace to a violation of each property.
        bounds: The bounds that disabled a step, sorted; () for a search that stopped.
        fairness: The fairness under which properties about behaviours were checked.
    """

    violates: str = ""
    steps: int | None = None
    states: int | None = None
    depth: int | None = None
    quiescent: int | None = None
    shortest: Mapping[str, int | None] | None = None
    bounds: tuple[str, ...] = field(default=(), converter=_names)
    fairness: str = ""

    def encoded(self) -> dict[str, Any]:
        """Return the fields that say something."""
        page = {name: value for name, value in asdict(self).items() if value not in (None, "", (), [])}
        return page if self.shortest is None else {**page, "shortest": dict(sorted(self.shortest.items()))}


@cache
def trial_cells() -> list[tuple[AuditCell, AuditCell]]:
    """Return the cells of all trials of Kafka's fixes, with their models; refuse trials that name nothing."""
    return cells_of(FIXES)


exhaust_parser, scenario_of = cache(lambda: parser(("exhaust",))), cache(find_scenario)


def canonical(command: str) -> str:
    """Return the canonical form of a command `kwalk exhaust …`."""
    options = exhaust_parser().parse_args(shlex.split(command)[1:])
    scenario = scenario_of(options.scenario)
    variant = options.variant or next(iter(scenario.variants), None)
    words = ["kwalk", "exhaust", options.scenario, *(("--variant", variant) if variant else ())]
    for name, values in (
        ("--property", options.properties),
        ("--bound", [f"{bound}={size}" for bound, size in options.bounds]),
        ("--flag", [f"{flag}={setting}" for flag, setting in options.flags]),
    ):
        words += [word for value in sorted(values) for word in (name, value)]
    return shlex.join([*words, *(("--keep-going",) if options.keep_going else ())])


def command_of_cell(cell: AuditCell) -> str:
    """Return the canonical command that searches a cell of a trial of a fix."""
    return canonical(command_of(cell, CellOutcome(CellStatus.EXHAUSTIVE)))


def command_for(model: Model, *properties: str, keep_going: bool) -> str:
    """Return the canonical command that searches a model: all its states, or until a property is violated."""
    words = ["kwalk", "exhaust", model.scenario.name, *(("--variant", model.variant) if model.variant else ())]
    words += [word for name in properties for word in ("--property", name)]
    words += [word for name, size in model.bound_overrides.items() for word in ("--bound", f"{name}={size}")]
    flags = ((name, setting_text(setting)) for name, setting in model.flag_overrides.items())
    words += [word for name, text in flags for word in ("--flag", f"{name}={text}")]
    return canonical(shlex.join([*words, *(("--keep-going",) if keep_going else ())]))


@cache
def pinned_searches() -> Mapping[str, SearchOutcome]:
    """Return the outcomes of all searches in the file, by canonical command."""
    found = json.loads(FILE.read_text(encoding="utf-8"))["searches"]
    return {command: SearchOutcome(**outcome) for command, outcome in found.items()}


@cache
def pinned_mutants() -> Mapping[str, Mapping[str, Any]]:
    """Return the rows of all runs of mutants in the file, by command."""
    found: Mapping[str, Mapping[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))["mutants"]
    return found


def pinned(model: Model, *properties: str) -> SearchOutcome:
    """Return the outcome in the file of the search that visits all states of a model."""
    return pinned_searches()[command_for(model, *properties, keep_going=True)]


def pinned_steps(model: Model, prop: str) -> int | None:
    """Return the length of the shortest trace to a violation of a property, as the file has it."""
    return pinned_searches()[command_for(model, prop, keep_going=False)].steps


def outcome_of(verdict: Verdict) -> SearchOutcome:
    """Return the outcome of a search in which all states were visited."""
    return SearchOutcome(
        states=verdict.distinct_states,
        depth=verdict.depth,
        quiescent=verdict.quiescent_states,
        shortest=shortest(verdict),
        bounds=tuple(sorted(verdict.bounds_hit)),
        fairness=verdict.fairness or "",
    )


def file_text(searches: Mapping[str, SearchOutcome], mutants: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the text of the file: sorted, one outcome a line."""
    rows = {command: outcome.encoded() for command, outcome in searches.items()}
    parts = [f'"searches": {{\n{_lines(rows)}\n}}']
    runs = ",\n".join(f"{json.dumps(command)}: {{\n{_lines(mutants[command])}\n}}" for command in sorted(mutants))
    return "{\n" + ",\n".join([*parts, f'"mutants": {{\n{runs}\n}}']) + "\n}\n"


def _lines(rows: Mapping[str, Any]) -> str:
    return ",\n".join(f"{json.dumps(key)}: {json.dumps(rows[key], ensure_ascii=False)}" for key in sorted(rows))
