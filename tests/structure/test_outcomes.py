"""`tests/kafka/outcomes.json` has what pages and tests need and nothing else, and documents state what it has."""

from __future__ import annotations

import re

import pytest

from tests.kafka.outcomes import FILE, canonical, file_text, pinned_mutants, pinned_searches
from tests.kafka.pins import wanted_mutants, wanted_searches
from tests.kafka.searches import SEARCHES
from tests.kafka.statements import LENGTHS, ROW, STATES, statements
from tests.structure.documents import documents
from tests.structure.rooms import ROOT

PROSE = (
    *sorted((ROOT / "docs" / "stories").glob("*.md")),
    ROOT / "docs" / "explanation" / "healthy-runs.md",
    ROOT / "docs" / "reference" / "known-bugs.md",
)
"""The pages about scenarios of Kafka and ZooKeeper."""
COUNT = r"\b\d[\d,]* states"


def test_the_file_has_every_outcome_that_is_needed_and_no_other():
    """`make pins ARGS="…"` adds and removes outcomes."""
    assert pinned_searches().keys() ^ wanted_searches() == set()
    assert pinned_mutants().keys() ^ wanted_mutants() == set()


def test_the_file_is_sorted_with_one_outcome_a_line():
    assert FILE.read_text(encoding="utf-8") == file_text(pinned_searches(), pinned_mutants())


def test_the_searches_of_tests_are_written_in_their_canonical_form_and_each_once():
    assert [words for words in SEARCHES if canonical(f"kwalk exhaust {words}") != f"kwalk exhaust {words}"] == []
    assert len(set(SEARCHES)) == len(SEARCHES)


@pytest.mark.parametrize("statement", statements(), ids=str)
def test_a_document_states_the_outcome_of_its_command(statement):
    outcome = pinned_searches()[statement.search]
    if statement.steps is not None:
        assert outcome.steps == statement.steps
    else:
        assert (outcome.states, outcome.shortest) == (statement.states, {})


def test_each_counterexample_and_each_known_bug_states_its_command_and_its_length():
    texts = [page.read_text("utf-8") for page in documents()]
    diagrams = sum(text.count("/diagrams/") for text in texts)
    caption = rf"\.svg\) (?:{'|'.join(LENGTHS)})"
    captions = (re.findall(caption, re.sub(r"\s+", " ", text)) for text in texts)
    assert sum(map(len, captions)) == diagrams > 70
    known = (ROOT / "docs" / "reference" / "known-bugs.md").read_text("utf-8").partition("## Not modelled")[0]
    assert (
        len(re.findall(ROW, known, re.MULTILINE)) == len(re.findall(r"^\| (?:KAFKA|KIP|PR)-", known, re.MULTILINE)) > 30
    )


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.stem)
def test_prose_states_a_number_of_states_only_beside_its_command(page):
    text = re.sub(r"\s+", " ", page.read_text("utf-8"))
    assert re.findall(COUNT, re.sub(STATES, "", text)) == []


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.stem)
def test_prose_states_a_number_of_steps_only_beside_its_command(page):
    text = re.sub("|".join(LENGTHS), "", re.sub(r"\s+", " ", page.read_text("utf-8")))
    assert re.findall(r"\b\d+ steps?\b(?!:)", text) == []


def test_the_table_of_runbooks_has_the_lengths_of_the_shortest_traces():
    """A dash stands for what no state breaks; of two properties the one counts that is broken earlier."""
    page = (ROOT / "docs" / "stories" / "delete-by-hand.md").read_text("utf-8")
    rows = re.findall(r"^\| [^|]*\(`(runbook-[a-z-]+)`\) \|([^\n]*)\|$", page, re.MULTILINE)
    harms = (
        ("partition_gets_a_leader",),
        ("deletion_targets_intent", "deleted_logs_were_unused"),
        ("no_stray",),
        ("removed_topic_is_not_served",),
        ("replica_id_matches_zookeeper", "partition_servable"),
    )
    for name, cells in rows:
        shortest = pinned_searches()[f"kwalk exhaust {name} --variant 2.8.2 --keep-going"].shortest
        lengths = (min((shortest[harm] for harm in names if harm in shortest), default="–") for names in harms)
        assert [cell.strip() for cell in cells.split("|")] == [str(length) for length in lengths]
    assert len(rows) == 6


def test_requests_that_overtake_change_no_number_of_quiescent_states():
    """docs/explanation/fidelity.md says so."""
    flag = " --flag overtaking_requests=on"
    pairs = [(found, pinned_searches()[c.replace(flag, "")]) for c, found in pinned_searches().items() if flag in c]
    assert all(one.quiescent == other.quiescent and one.shortest == other.shortest for one, other in pairs)
    assert len(pairs) == 8
