"""The temporal formulas of four specifications hold under the fairness under which TLC finds that they do."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from bench import building
from bench.ports import ORIGINALS
from kwalk.model.language import Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Answer
from tests.liveness.tla_ports import PROPERTIES, SPECIFICATIONS, port
from tests.structure.rooms import ROOT

SPECIFICATIONS_OF_TLC = ROOT / "tests" / "liveness" / "tla"
PAGE = ROOT / "docs" / "explanation" / "coming-from-tla.md"
SIZES = {"EWD998": {"nodes": 2}}
CONSTANTS = {"EWD998": "CONSTANT N = 2\nCONSTRAINT StateConstraint\n"}
NO_FAIRNESS = ("\nSpec ==", "\nNoFairness == Init /\\ [][Next]_vars\n\nSpec ==")
CASES = [(module, name) for module, specifications in SPECIFICATIONS.items() for name in specifications]


def documented() -> dict[tuple[str, str], set[str]]:
    """The formulas that hold, by module and specification formula, from the table of the page for users of TLA+."""
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| (.*?) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return {(module, name): set(re.findall(r"`(\w+)`", holding)) for module, name, holding in rows}


@pytest.mark.parametrize(("module", "name"), CASES)
def test_the_formulas_that_hold_are_those_of_the_page(module, name):
    holding = set()
    for formula in PROPERTIES[module]:
        verdict = exhaust(Model(port(module, name, formula), bounds=SIZES.get(module)))
        assert verdict.answer in (Answer.HOLDS, Answer.VIOLATED)
        if verdict.answer is Answer.HOLDS:
            holding.add(formula)
    assert holding == documented()[module, name]


def holds_for_tlc(folder: Path, module: str, name: str, formula: str) -> bool:
    """Whether TLC finds that a temporal formula holds."""
    for source in (*ORIGINALS.glob("*.tla"), *SPECIFICATIONS_OF_TLC.glob("*.tla")):
        shutil.copy(source, folder)
    file = folder / f"{module}.tla"
    file.write_text(file.read_text(encoding="utf-8").replace(*NO_FAIRNESS, 1), encoding="utf-8")
    configuration = f"SPECIFICATION {name}\nPROPERTY {formula}\n{CONSTANTS.get(module, '')}"
    file.with_suffix(".cfg").write_text(configuration, encoding="utf-8")
    command = [*building.tlc_machine(), "-deadlock", "-workers", "1", str(file)]
    text = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout
    is_violated = re.search(r"Temporal propert\w+ .*violated", text) is not None
    assert is_violated or "No error has been found" in text, text[-2_000:]
    return not is_violated


@pytest.mark.thorough
@pytest.mark.parametrize(("module", "name"), CASES)
def test_tlc_gives_the_same_answers(module, name, tmp_path):
    try:
        building.tlc_machine()
    except building.Missing as missing:
        pytest.skip(f"TLC: {missing}")
    holding = {formula for formula in PROPERTIES[module] if holds_for_tlc(tmp_path, module, name, formula)}
    assert holding == documented()[module, name]
