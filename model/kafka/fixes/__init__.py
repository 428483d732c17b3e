"""Fixes by theme: what each is meant to close, where it comes from, and the trials that show it."""

from __future__ import annotations

from kwalk.model.kafka.fixes import deletion, groups, reassignment, records, sessions, storage, topic_ids
from kwalk.model.language.fix import Fix

FIXES: tuple[Fix, ...] = (
    *topic_ids.FIXES,
    *records.FIXES,
    *reassignment.FIXES,
    *sessions.FIXES,
    *deletion.FIXES,
    *groups.FIXES,
    *storage.FIXES,
)
"""All fixes, in the order of the audit."""
