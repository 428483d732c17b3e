"""The page of fixes says what an audit finds: all of them are on it, and those that are quickly audited are again."""

from __future__ import annotations

import pytest

from kwalk.invariants.stories import FIXES
from kwalk.model.kafka.groups import versions as group_versions
from kwalk.model.kafka.groups.versions import HEARTBEAT_WHILE_COMPLETING
from kwalk.model.kafka.storage import versions as storage_versions
from kwalk.model.kafka.storage.versions import DELETE_RECORDS
from kwalk.model.kafka.versions import VARIANTS
from kwalk.model.kafka.versions.deletion import OLD_UPSERT
from kwalk.model.kafka.versions.reassignment import ELECTION_DURING_REASSIGNMENT
from kwalk.model.kafka.versions.sessions import ALTER_ISR
from kwalk.model.kafka.versions.topic_ids import ALTER_PARTITION_BY_TOPIC_ID
from kwalk.reports.document.markdown import markdown_document
from kwalk.reports.escaping import markdown
from kwalk.reports.pages.audit import audit_document, properties_of, trial_text
from kwalk.search.analyses.audit.audit import INTERRUPTED, AuditOptions, AuditRow, audit, cells_of
from tests.structure.rooms import ROOT

PAGE = (ROOT / "docs" / "reference" / "fixes.md").read_text(encoding="utf-8")
AUDITED = [
    pytest.param("zk_fencing", marks=pytest.mark.thorough),
    pytest.param("session_bound", marks=pytest.mark.thorough),
    pytest.param("broker_epoch", marks=pytest.mark.thorough),
    "auth_reinit_guard",
]
"""Fixes with small models."""
NO_FIX = {ALTER_PARTITION_BY_TOPIC_ID.name, ELECTION_DURING_REASSIGNMENT.name}
"""Flags in which releases differ that repair nothing: what the later releases do is no answer to a defect."""
CLOSE_NOTHING = {ALTER_ISR.name, HEARTBEAT_WHILE_COMPLETING.name, DELETE_RECORDS.name}
"""Fixes that no trial shows to close anything; the page names them too.

Of a heartbeat while the group completes a rebalance, and of DeleteRecords, the trials show the price.

What KIP-497 is for, that the controller does not act on an ISR which a leader has changed since, is no own step of the
model: the notification by which controllers heard of changes before 2.7 arrives at once.
"""


def rows_of(document: str) -> list[list[str]]:
    """The cells of each row of a document's table, without the marks of code."""
    rows = [line for line in document.splitlines() if line.startswith("| `")]
    return [[cell.strip().replace("`", "") for cell in row.strip("|").split(" | ")] for row in rows]


def test_every_flag_in_which_releases_differ_and_every_candidate_has_a_fix():
    variants = (VARIANTS, group_versions.VARIANTS, storage_versions.VARIANTS)
    flags = {name for part in variants for settings in part.values() for name in settings} | {OLD_UPSERT.name}
    assert {fix.flag.name for fix in FIXES} == flags - NO_FIX


def test_the_page_has_all_trials_and_no_other():
    unknown = [AuditRow(off, on, INTERRUPTED, INTERRUPTED) for off, on in cells_of(FIXES)]
    announced = [[row.fix.name, markdown(trial_text(row)), ", ".join(properties_of(row))] for row in unknown]
    assert [row[:3] for row in rows_of(PAGE)] == announced


def test_every_fix_closes_something_or_is_named_as_one_that_does_not():
    closing = {fix for fix, *_, judgement in rows_of(PAGE) if judgement == "**closes**"}
    assert {fix.name for fix in FIXES} - closing == CLOSE_NOTHING


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("name", AUDITED)
def test_an_audit_finds_what_the_page_says(name):
    rows = audit(cells_of(fix for fix in FIXES if fix.name == name), AuditOptions())
    found = markdown_document(audit_document(rows, "kwalk audit"))
    section = found.partition(f"\n## {name}\n")[2]
    assert rows_of(found) == [row for row in rows_of(PAGE) if row[0] == name]
    assert section and section in PAGE
