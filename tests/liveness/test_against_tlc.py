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
HOLD = {
    "Toggle": {
        "Nothing": "",
        "Either": "",
        "OnlyFinish": "Done DoneAgain DoneForGood",
        "Weak": "Lit DarkLeadsToLit",
        "Strong": "Done DoneAgain DoneForGood Lit DarkLeadsToLit",
        "StrongAlone": "",
    },
    "Semaphore": {
        "Nobody": "SomeoneServed FreeAgain Busy",
        "Each": "SomeoneServed FreeAgain Busy",
        "WeakEntry": "SomeoneServed FreeAgain",
        "SomeEntry": "SomeoneServed FreeAgain",
        "FirstEntry": "FirstServed FreeAgain",
        "StrongEntry": "Served FirstServed SomeoneServed FreeAgain",
        "StrongStep": "Served FirstServed SomeoneServed FreeAgain Busy",
    },
    "Idle": {"Weak": "Leaves", "Strong": "End EndForGood Leaves", "Either": "Leaves", "Together": "Leaves"},
    "EWD998": {"Spec": "Liveness", "NoFairness": ""},
}
"""The temporal formulas that hold, by module and specification formula."""
CASES = [(module, name) for module, specifications in SPECIFICATIONS.items() for name in specifications]


def test_the_page_for_users_of_tla_counts_the_questions():
    questions = sum(len(PROPERTIES[module]) for module, _ in CASES)
    text = re.sub(r"\s+", " ", PAGE.read_text(encoding="utf-8"))
    assert f"under {len(CASES)} fairness formulas, kwalk and TLC agree on all {questions}" in text


@pytest.mark.parametrize(("module", "name"), CASES)
def test_the_formulas_hold_that_hold_for_tlc(module, name):
    holding = set()
    for formula in PROPERTIES[module]:
        verdict = exhaust(Model(port(module, name, formula), bounds=SIZES.get(module)))
        assert verdict.answer in (Answer.HOLDS, Answer.VIOLATED)
        if verdict.answer is Answer.HOLDS:
            holding.add(formula)
    assert holding == set(HOLD[module][name].split())


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
    assert holding == set(HOLD[module][name].split())
