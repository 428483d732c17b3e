"""What became of known records in a migration, by the bytes in renamed directories; and logs that are put back."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kwalk.clusters.lab.brokers import record_batch
from kwalk.clusters.lab.cluster import LabBroker
from kwalk.clusters.lab.experiments.known_records import Acknowledged, Ledger
from kwalk.clusters.lab.experiments.migration_steps import STRAY, Migration
from kwalk.clusters.lab.experiments.migrations import _outcome

UNIQUE = "0123456789abcdef" * 2


def log(broker, name, *values):
    """Write a log with one record at offset 0, or an empty one."""
    folder = broker.data / name
    folder.mkdir(parents=True)
    (folder / f"{0:020}.log").write_bytes(b"".join(record_batch(value.encode(), 0) for value in values))
    return folder


@pytest.fixture
def migration(tmp_path, monkeypatch):
    """A topic whose leader has an empty log; its record was set aside on broker 1, and deleted on broker 2."""
    brokers = {number: LabBroker(number, "3.9.0", tmp_path / f"broker-{number}") for number in (1, 2)}
    log(brokers[1], "t-0")
    log(brokers[1], f"t-0.{UNIQUE}-stray", "first:1")
    log(brokers[2], f"t-0.{UNIQUE}-delete", "first:1")
    log(brokers[2], f"other-0.{UNIQUE}-stray", "first:2")
    found = Migration(SimpleNamespace(brokers=brokers), SimpleNamespace(topic="t"))
    found.ledgers["t"] = Ledger("t")
    found.ledgers["t"].acknowledged.append(Acknowledged(0, 0, "first:1"))
    monkeypatch.setattr(Migration, "leaders", lambda self, name: {0: 1})
    return found


def test_records_that_were_set_aside_or_deleted_are_not_kept(migration):
    fate = migration.fate("t")
    assert (fate["kept"], fate["lost partitions"]) == (0, [0])
    assert (fate["set aside"], fate["deleted"]) == ({"1": 1}, {"2": 1})
    assert migration.renamed(STRAY) == {"1": [f"t-0.{UNIQUE}-stray"], "2": [f"other-0.{UNIQUE}-stray"]}


def test_a_topic_that_somebody_has_deleted_is_not_lost(migration):
    migration.stages["end"] = {
        "driver": None,
        "records": {"t": migration.fate("t")},
        "set aside": {},
        "deleted": {},
    }
    assert migration.observed()["lost topics"] == ["t"]
    migration.dropped.add("t")
    assert migration.observed()["lost topics"] == []


def test_without_a_leader_a_record_is_kept_by_any_log_in_place(migration, monkeypatch):
    log(migration.lab.brokers[2], "t-0", "first:1")
    assert migration.fate("t")["kept"] == 0
    monkeypatch.setattr(Migration, "leaders", lambda self, name: {0: -1})
    assert migration.fate("t")["kept"] == 1


def test_an_outcome_says_whether_the_migration_waits_and_what_it_loses():
    nothing = {"waits": None, "stuck": None, "lost topics": [], "set aside": {}, "deleted": {}}
    assert _outcome(nothing) == "migrated; no records are lost"
    assert _outcome({**nothing, "waits": "Still waiting"}) == "waits; no records are lost"
    lost = {**nothing, "stuck": "fault", "lost topics": ["t"], "set aside": {"1": ["t-0"]}}
    assert _outcome(lost) == "stuck; loses t; set aside"
