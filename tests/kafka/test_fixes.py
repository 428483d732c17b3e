"""Every difference of releases has a fix, nearly all close something, and the page says what an audit finds."""

from __future__ import annotations

import pytest

from docs.generate.fixes import rows
from kwalk.invariants.stories import FIXES
from kwalk.model.kafka.groups import versions as group_versions
from kwalk.model.kafka.migration import configuration_versions
from kwalk.model.kafka.server import versions as server_versions
from kwalk.model.kafka.storage import versions as storage_versions
from kwalk.model.kafka.storage.versions.producers import EARLIEST_SEQUENCE_COUNTS
from kwalk.model.kafka.storage.versions.retention import DELETE_RECORDS
from kwalk.model.kafka.versions import PARTS as PARTS_OF_THE_CONTROLLER
from kwalk.model.kafka.versions import VARIANTS
from kwalk.model.kafka.versions.deletion import OLD_UPSERT
from kwalk.model.kafka.versions.sessions import ALTER_ISR, OPENS_PORTS_LATE
from kwalk.reports.pages.audit import audit_document
from kwalk.search.analyses.audit.audit import AuditOptions, Judgement, audit, cells_of

PARTS = (
    *PARTS_OF_THE_CONTROLLER,
    group_versions.FLAGS,
    *storage_versions.PARTS,
    server_versions.FLAGS,
    configuration_versions.FLAGS,
)
CLOSE_NOTHING = {ALTER_ISR.name, DELETE_RECORDS.name, EARLIEST_SEQUENCE_COUNTS.name}
"""Fixes that no trial shows to close anything; the page names them too.

Of DeleteRecords and of KAFKA-14920 (`earliest_sequence_counts`) the trials show the price.

What KIP-497 is for, that the controller does not act on an ISR which a leader has changed since, is no own step of the
model: the notification by which controllers heard of changes before 2.7 arrives at once.
"""


def test_every_flag_in_which_releases_differ_and_every_candidate_is_a_fix_or_says_why_it_is_none():
    variants = (
        VARIANTS,
        group_versions.VARIANTS,
        storage_versions.VARIANTS,
        server_versions.VARIANTS,
        configuration_versions.VARIANTS,
    )
    flags = {name for part in variants for settings in part.values() for name in settings}
    flags |= {OLD_UPSERT.name, OPENS_PORTS_LATE.name}
    no_fix = {name for part in PARTS for name in part.repairing_nothing}
    assert {fix.flag.name for fix in FIXES} == flags - no_fix


def test_every_fix_closes_something_or_is_named_as_one_that_does_not():
    closing = {row.fix.name for row in rows() if row.judgement is Judgement.CLOSES}
    assert {fix.name for fix in FIXES} - closing == CLOSE_NOTHING


@pytest.mark.usefixtures("interpreted")
def test_an_audit_finds_what_the_page_says():
    (guard,) = (fix for fix in FIXES if fix.name == "auth_reinit_guard")
    audited = audit(cells_of([guard]), AuditOptions())
    expected = [row for row in rows() if row.fix is guard]
    assert [*audit_document(audited, "make docs")] == [*audit_document(expected, "make docs")]
