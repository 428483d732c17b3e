"""The page of known bugs says what searches find: each row's trace is one that is replayed, and the shortest."""

from __future__ import annotations

import re
import shlex

import pytest

from docs.generate import history
from docs.generate.experiments import SEEN_RESULTS
from kwalk.invariants.stories import SCENARIOS
from tests.kafka import (
    test_clients,
    test_configuration_migration,
    test_controller_bugs,
    test_groups,
    test_migration_bugs,
    test_storage,
    test_transactional_producers,
)
from tests.structure.rooms import ROOT

PAGE = (ROOT / "docs" / "reference" / "known-bugs.md").read_text(encoding="utf-8")
STORIES = {scenario.name: scenario for scenario in SCENARIOS}
PARTS = (
    test_controller_bugs,
    test_groups,
    test_storage,
    test_transactional_producers,
    test_clients,
    test_configuration_migration,
    test_migration_bugs,
)
PINNED = [broken for part in PARTS for broken, _ in part.BROKEN]
"""The traces that are replayed, in a release that has the defect and in one that has not."""


def rows(section: str) -> list[list[str]]:
    """The cells of a section's table, without the marks of code."""
    text = PAGE.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith(("| KAFKA-", "| KIP-", "| PR-"))]
    return [[cell.strip().replace("`", "") for cell in line.strip("|").split(" | ")] for line in lines]


def found_rows(section: str) -> list[list[str]]:
    """The rows of a section with what its command names: report, story, variant, property, steps."""
    split = ((report, shlex.split(command), steps) for report, _, _, command, steps in rows(section))
    return [
        [report, words[2], words[words.index("--variant") + 1], words[words.index("--property") + 1], steps]
        for report, words, steps in split
    ]


SECTIONS = ("the controller", "consumer groups", "logs", "migrations to KRaft")
FOUND = [row for part in SECTIONS for row in found_rows(f"Found: {part}")]


@pytest.mark.parametrize("row", FOUND, ids=lambda row: row[0])
def test_a_known_bug_has_a_pinned_trace_of_that_length(row):
    _, story, variant, prop, steps = row
    assert variant in STORIES[story].all_variants
    assert prop.partition("(")[0] in {known.name for known in STORIES[story].properties}
    pinned = (*PINNED, *test_storage.NEVER_FIXED)
    lengths = [
        len(b.actions) for b in pinned if (b.story, b.variant) == (story, variant) and prop in (b.invariant, b.prop)
    ]
    assert int(steps) in lengths


@pytest.mark.parametrize("report", sorted({row["report"] for row in SEEN_RESULTS if row["report"]}))
def test_a_report_that_experiments_show_was_seen_on_these_releases(report):
    (cells,) = [cells for part in SECTIONS for cells in rows(f"Found: {part}") if cells[0] == report]
    shown = [row["release"] for row in SEEN_RESULTS if row["report"] == report and row["seen"]]
    assert re.findall(r"\d+(?:\.\d+){2,3}", cells[2].partition("seen on ")[2]) == shown


def test_no_report_is_both_found_and_not_modelled_and_none_is_listed_twice():
    reports = [row[0] for row in (*FOUND, *rows("Not modelled"))] + [row["report"] for row in history.REPORTS]
    names = [name for report in reports for name in re.findall(r"KAFKA-\d+", report)]
    assert len(names) == len(set(names))


def test_every_commit_has_a_verdict_and_those_that_are_found_name_a_report_of_the_page_or_say_why():
    reports = {name for row in FOUND for name in re.findall(r"(?:KAFKA|KIP)-\d+", row[0])}
    lacking = {name for row in history.REPORTS for name in re.findall(r"KAFKA-\d+", row["report"])}
    lacking |= {name for row in rows("Not modelled") for name in re.findall(r"KAFKA-\d+", row[0])}
    for each in history.commits():
        assert each.verdict in history.VERDICTS and each.basis in ("diff", "report", "title")
        named = set(re.findall(r"KAFKA-\d+", each.title.upper()))
        if each.verdict in ("found", "not modelled"):
            assert each.reason or named & (reports if each.verdict == "found" else lacking), each.title
        assert not (named & reports) or each.verdict == "found", each.title
        assert each.reason or each.verdict != "not visible", each.title


def test_every_pinned_trace_of_a_release_is_on_the_page():
    listed = {(row[1], row[2], row[3]) for row in FOUND}
    missing = {
        (b.story, b.variant, b.invariant)
        for b in PINNED
        if not {(b.story, b.variant, b.invariant), (b.story, b.variant, b.prop)} & listed
    }
    assert missing == {
        ("consumer-group-changed-timeouts", "2.8.2", "static_member_goes_after_its_session"),
        ("full-requests-of-kraft", "3.6.1", "full_leader_and_isr_leaves_what_it_names"),
        ("kraft-failed-directory", "3.7.0", "broker_starts"),
        ("kraft-move-from-a-failed-directory", "3.7.0", "directory_fails_with_its_disk"),
        ("consumer-group-of-two-releases", "2.8.1", "assignment_is_accepted"),
        ("consumer-group-of-two-releases", "2.8.2", "partition_is_revoked_first"),
        ("consumer-group-removal", "2.4.1", "dead_member_is_removed"),
        ("log-compacted-transactions", "2.8.2", "index_has_the_marker"),
        ("partitions-of-one-request", "2.0", "partition_has_its_turn"),
        ("log-compacted-transactions", "2.8.2", "marker_outlives_its_records"),
        ("log-created-again-unflushed", "2.5", "no_batch_is_torn"),
        ("log-grown-batches", "0.10.1", "cleaner_outlives_grown_batches"),
        ("log-retention", "0.10.0", "young_record_is_kept"),
        ("reassignment-cancelled-without-its-replicas", "3.9.0", "partition_servable"),
    }, "these are other sides of a bug that the page has"
