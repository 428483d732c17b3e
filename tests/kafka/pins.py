"""Compute the outcomes in `outcomes.json` again, and write the file: `make pins`.

    python -m tests.kafka.pins [WORD …]

With words, only the commands that contain one of them, and those without an outcome, are run; the other outcomes stay.
Each outcome is kept in `build/pins` as soon as it is there: a run that was killed continues where it was, unless a
source has changed.

Words: a command is *wanted* if a trial of a fix, a document, a run of mutants or a test of the model needs its outcome.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from tests.kafka.mutant_runs import RUNS
from tests.kafka.outcomes import (
    FILE,
    MUTANTS,
    SearchOutcome,
    canonical,
    command_of_cell,
    file_text,
    pinned_mutants,
    pinned_searches,
    trial_cells,
)
from tests.kafka.searches import SEARCHES
from tests.kafka.statements import statements
from tests.structure.rooms import ROOT

FOLDER = ROOT / "build" / "pins"
JOURNAL = FOLDER / "journal.json"
SOURCES = ("model", "invariants", "search")
EXITS = (0, 3, 11, 12, 13, 14, 15, 16)
"""The exit codes of a command that has an answer."""


@cache
def wanted_searches() -> frozenset[str]:
    """Return the canonical commands of all searches whose outcome the file has."""
    cells = {command_of_cell(cell) for pair in trial_cells() for cell in pair}
    stated = {statement.search for statement in statements()}
    return frozenset(cells | stated | {canonical(f"kwalk exhaust {words}") for words in SEARCHES})


def wanted_mutants() -> frozenset[str]:
    """Return the commands of all runs of mutants whose outcome the file has."""
    return frozenset(run.command for run in RUNS)


def answer(command: str, *more: str) -> dict[str, Any]:
    """Run a command; return the object that it prints."""
    words = [sys.executable, "-m", "kwalk.reports.command_line", *shlex.split(command)[1:], "--json", *more]
    ran = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if ran.returncode not in EXITS:
        raise SystemExit(f"{command} ended with {ran.returncode}.")
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def searched(command: str) -> SearchOutcome:
    """Search, and return the outcome."""
    with tempfile.TemporaryDirectory() as out:
        found = answer(command, "--out", out)
    violations = found["findings"]
    counts = {"states": found["distinct_states"], "depth": found["depth"], "bounds": sorted(found["bounds_hit"])}
    fairness = found["fairness"] or ""
    if "--keep-going" in shlex.split(command):
        lengths: dict[str, int | None] = {}
        for violation in sorted(violations, key=lambda each: each["length"] or 0):
            lengths.setdefault(violation["property"].partition("(")[0], violation["length"])
        return SearchOutcome(**counts, quiescent=found["quiescent_states"], shortest=lengths, fairness=fairness)
    if not violations:
        return SearchOutcome(**counts, fairness=fairness)
    prop, length = violations[0]["property"], violations[0]["length"]
    if length is not None:
        return SearchOutcome(violates=prop, steps=length, fairness=fairness)
    return SearchOutcome(violates=prop, **counts, fairness=fairness)


def tallied(command: str) -> dict[str, Any]:
    """Try all mutants of a run; return the rows of its outcome."""
    out = FOLDER / hashlib.sha256(command.encode()).hexdigest()[:12]
    found = answer(command, "--out", str(out))
    mutants = found["mutants"]
    rows: dict[str, Any] = {"mutants": {"tried": len(mutants), "total": found["total"]}}
    for baseline in found["baselines"]:
        fairness = {"fairness": baseline["fairness"]} if baseline["fairness"] else {}
        holds = {"states": baseline["distinct_states"], "properties": len(baseline["properties"])}
        rows[f"baseline {baseline['variant']} {baseline['scenario']}"] = {**holds, **fairness}
    for kind in ("operator", "file"):
        for name in {mutant[kind] for mutant in mutants}:
            rows[f"{kind} {name}"] = dict(sorted(Counter(m["status"] for m in mutants if m[kind] == name).items()))
    killers = Counter(mutant["property"].partition("(")[0] for mutant in mutants if mutant["status"] == "killed")
    rows |= {f"killed by {name}": count for name, count in killers.items()}
    alive = (mutant for mutant in mutants if mutant["status"] in ("survived", "undecided"))
    return rows | {f"alive {mutant['id']}": mutant["text"] for mutant in alive}


def sources_digest() -> str:
    """Return a digest of all sources that an outcome depends on."""
    digest = hashlib.sha256()
    for path in sorted(path for folder in SOURCES for path in (ROOT / folder).rglob("*.py")):
        digest.update(f"{path.relative_to(ROOT)}\n".encode() + path.read_bytes())
    return digest.hexdigest()


class Pins:
    """A run of `make pins`: the outcomes of the file, and those that this run has computed."""

    def __init__(self) -> None:
        self.sources = sources_digest()
        there = json.loads(JOURNAL.read_text(encoding="utf-8")) if JOURNAL.exists() else {}
        self.done: dict[str, Any] = there["done"] if there.get("sources") == self.sources else {}
        self.searches = {c: o for c, o in pinned_searches().items() if c in wanted_searches()}
        self.mutants = {c: rows for c, rows in pinned_mutants().items() if c in wanted_mutants()}

    def compute(self, command: str) -> None:
        """Run a command, unless this run or a killed one has; keep its outcome, and write the file."""
        if command not in self.done:
            is_search = not command.startswith(MUTANTS)
            self.done[command] = searched(command).encoded() if is_search else tallied(command)
            _replace(JOURNAL, json.dumps({"sources": self.sources, "done": self.done}))
        if command.startswith(MUTANTS):
            self.mutants[command] = self.done[command]
        else:
            self.searches[command] = SearchOutcome(**self.done[command])
        self.write()

    def write(self) -> None:
        """Write the file."""
        _replace(FILE, file_text(self.searches, self.mutants))


def _replace(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def chosen(words: list[str]) -> list[str]:
    """Return the wanted commands that contain a word or have no outcome yet, all without words; searches come first."""
    commands = [*sorted(wanted_searches()), *sorted(wanted_mutants())]
    new = {*commands} - pinned_searches().keys() - pinned_mutants().keys()
    return [c for c in commands if not words or c in new or any(word in c for word in words)]


def main() -> None:
    """Compute the outcomes that the words on the command line select."""
    pins, commands, start, ran = Pins(), chosen(sys.argv[1:]), time.monotonic(), 0
    for number, command in enumerate(commands):
        if command not in pins.done:
            left = (time.monotonic() - start) / ran * (len(commands) - number) / 60 if ran else None
            eta = "" if left is None else f", {left:.0f} min left"
            print(f"{number} of {len(commands)}{eta}: {command}", file=sys.stderr)
            ran += 1
        pins.compute(command)
    pins.write()
    print(f"{FILE.relative_to(ROOT)}: {len(commands)} outcomes, {ran} of them computed now. Read `git diff`.")


if __name__ == "__main__":
    main()
