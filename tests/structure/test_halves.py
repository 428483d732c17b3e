"""What is about any model works without what is about Kafka: `model/kafka`, `invariants`, `clusters` and the like."""

from __future__ import annotations

import json

from tests.structure.partial_trees import COMMANDS, PartialTree

KAFKA = ("model/kafka", "model/zookeeper", "invariants", "clusters")
ENTRY_POINTS = """
[kwalk.scenarios]
examples = kwalk.model.examples.scenarios

[kwalk.commands]
general = kwalk.reports.commands
"""
TRIED = {
    "--help": (0, "exhaust"),
    "scenarios": (0, "die-hard"),
    "scenarios die-hard --properties": (0, "not_solved"),
    "exhaust die-hard": (12, "VIOLATED"),
    "exhaust two-phase-commit --reduce": (0, "HOLDS"),
    "exhaust ticket-lock --symmetry clients": (0, "HOLDS"),
    "walk die-hard --seed 1": (12, "VIOLATED"),
    "prove die-hard": (12, "VIOLATED"),
    "explore die-hard --graph": (0, "GRAPH"),
    "mutate lost-update --list": (0, "dropped-guard"),
    "audit fixes:FIX": (0, "closes"),
}
"""By the words of a command: its exit code, and what it prints."""

FIX = """
from kwalk import Fix, Trial
from kwalk.model.examples.lost_update import LOCK, LOST_UPDATE

FIX = Fix(flag=LOCK, closes="Nothing is lost.", trials=(Trial(LOST_UPDATE, ("counts_every_increment",)),))
"""


def test_the_general_half_works_without_the_half_about_kafka(tmp_path):
    (tmp_path / "fixes.py").write_text(FIX)
    tree = PartialTree(tmp_path, KAFKA, ENTRY_POINTS)
    ran = tree.run(COMMANDS.format(words=[words.split() for words in TRIED]))
    assert ran.returncode == 0, ran.stderr
    results = dict(zip(TRIED, json.loads(ran.stdout.splitlines()[-1]), strict=True))
    assert {words: result[0] for words, result in results.items()} == {
        words: code for words, (code, _) in TRIED.items()
    }
    assert [words for words, (_, shown) in TRIED.items() if shown not in results[words][1]] == []
    assert "lab" not in results["--help"][1]
    missing = tree.run("import kwalk.model.kafka")
    assert "No module named 'kwalk.model.kafka'" in missing.stderr
