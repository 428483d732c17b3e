"""Which frames the experiments hold between KRaft's controller and ZooKeeper, and what they count, without brokers."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from kwalk.clusters.lab.experiments import migration_steps
from kwalk.clusters.lab.experiments.dual_writes import ALONE, COPIED, _holders, _last_line, _of_migration, _served
from kwalk.clusters.lab.experiments.experiment import ExperimentRound
from kwalk.clusters.lab.experiments.known_records import Acknowledged, Entry, Ledger
from kwalk.clusters.lab.experiments.migration_steps import Migration
from kwalk.clusters.lab.proxy import Direction, ProxiedFrame
from kwalk.clusters.lab.quorum import FIRST_ID
from kwalk.model.language import KwalkError


@pytest.mark.parametrize(
    ("kind", "paths", "direction", "is_held"),
    [
        ("MULTI", ("/controller_epoch", "/migration"), Direction.REQUEST, True),
        ("SET_DATA", ("/migration",), Direction.REQUEST, True),
        ("MULTI", ("/controller_epoch", "/controller", "/migration"), Direction.REQUEST, False),
        ("GET_DATA", ("/migration",), Direction.REQUEST, False),
        ("SET_DATA", ("/migration",), Direction.RESPONSE, False),
    ],
)
def test_a_write_of_migration_is_none_that_claims_controller(kind, paths, direction, is_held):
    assert _of_migration(ProxiedFrame(FIRST_ID, direction, kind, paths)) is is_held
    assert not _of_migration(ProxiedFrame(1, direction, kind, paths))


def test_only_records_that_were_acknowledged_by_the_leader_alone_are_counted(monkeypatch):
    ledger = Ledger("t")
    ledger.acknowledged += [Acknowledged(0, 0, "first:1"), Acknowledged(0, 1, f"{ALONE}:2")]
    logs = {1: {0: {0: Entry("first:1", 0, 0), 1: Entry(f"{ALONE}:2", 0, 0)}}, 2: {0: {0: Entry("first:1", 0, 0)}}}
    monkeypatch.setattr("kwalk.clusters.lab.experiments.dual_writes.logs_on_disks", lambda lab, topic: logs)
    m = SimpleNamespace(lab=None, topic="t", ledgers={"t": ledger})
    assert _holders(m) == {"1": 1, "2": 0}


def test_a_topic_without_metadata_is_not_served():
    probes = {"a": {"0": {"produce": {"error": "NONE"}}, "1": {"produce": {"error": "NO_ANSWER"}}}, "b": {}}
    lab = SimpleNamespace(probe=lambda name, seconds: probes[name])
    assert {name: _served(lab, name) for name in probes} == {"a": "NONE", "b": "no metadata"}


def test_the_last_line_with_one_of_some_words_is_found():
    m = SimpleNamespace(quorum=SimpleNamespace(active=SimpleNamespace(text=f"{COPIED} a\n{COPIED} b\nother\n")))
    assert _last_line(m, f"none|{COPIED}") == f"{COPIED} b"
    assert _last_line(m, "none") is None


def test_a_snapshot_is_taken_without_the_metadata_log_where_it_is_refused(tmp_path, monkeypatch):
    def collected(lab, roots):
        if roots:
            raise KwalkError("the cluster does not migrate")
        return b"{}"

    notes = []
    monkeypatch.setattr(migration_steps, "collected", collected)
    lab = SimpleNamespace(note=notes.append, events=[], marks=dict)
    m = Migration(lab, ExperimentRound(0, lab, tmp_path))
    m.quorum = SimpleNamespace(controllers={FIRST_ID: SimpleNamespace(folder=tmp_path)})
    m.keep("rolled back")
    assert json.loads(m.this.files["00-rolled-back.json"]) == {}
    assert notes == ["kwalk collect: the cluster does not migrate"]
