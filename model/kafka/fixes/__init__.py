"""The fixes that the model has, each with what it claims to close and where it is tried; one module for each theme."""
from __future__ import annotations

from model.kafka.fixes import deletion, reassignment, records, sessions, topic_ids
from model.language.fix import Fix

FIXES: tuple[Fix, ...] = (
    *topic_ids.FIXES,
    *records.FIXES,
    *reassignment.FIXES,
    *sessions.FIXES,
    *deletion.FIXES,
)
"""All of them, in the order in which an audit shows them."""
