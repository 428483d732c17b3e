"""Every difference of releases has a fix, nearly all close something, and the page says what an audit finds."""

from __future__ import annotations

import pytest

from docs.generate.fixes import rows
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
from kwalk.reports.pages.audit import audit_document
from kwalk.search.analyses.audit.audit import AuditOptions, Judgement, audit, cells_of

NO_FIX = {ALTER_PARTITION_BY_TOPIC_ID.name, ELECTION_DURING_REASSIGNMENT.name}
"""Flags in which releases differ that repair nothing: what the later releases do is no answer to a defect."""
CLOSE_NOTHING = {ALTER_ISR.name, HEARTBEAT_WHILE_COMPLETING.name, DELETE_RECORDS.name}
"""Fixes that no trial shows to close anything; the page names them too.

Of a heartbeat while the group completes a rebalance, and of DeleteRecords, the trials show the price.

What KIP-497 is for, that the controller does not act on an ISR which a leader has changed since, is no own step of the
model: the notification by which controllers heard of changes before 2.7 arrives at once.
"""


def test_every_flag_in_which_releases_differ_and_every_candidate_has_a_fix():
    variants = (VARIANTS, group_versions.VARIANTS, storage_versions.VARIANTS)
    flags = {name for part in variants for settings in part.values() for name in settings} | {OLD_UPSERT.name}
    assert {fix.flag.name for fix in FIXES} == flags - NO_FIX


def test_every_fix_closes_something_or_is_named_as_one_that_does_not():
    closing = {row.fix.name for row in rows() if row.judgement is Judgement.CLOSES}
    assert {fix.name for fix in FIXES} - closing == CLOSE_NOTHING


@pytest.mark.usefixtures("interpreted")
def test_an_audit_finds_what_the_page_says():
    (guard,) = (fix for fix in FIXES if fix.name == "auth_reinit_guard")
    audited = audit(cells_of([guard]), AuditOptions())
    expected = [row for row in rows() if row.fix is guard]
    assert [*audit_document(audited, "make docs")] == [*audit_document(expected, "make docs")]
