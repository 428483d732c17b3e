"""Experiments on advice: the lab reads its numbers as `kwalk diagnose` writes them, and names kinds of findings."""

from __future__ import annotations

import json

from kwalk.clusters.lab.experiments import EXPERIMENTS
from kwalk.clusters.lab.experiments.ways_out import LEADER_ONLY, REPLICAS, STATE, _put
from kwalk.clusters.lab.zookeeper import create
from kwalk.invariants.reading.advice import _state
from kwalk.invariants.reading.finding_kinds import KINDS
from tests.snapshots.test_reported_clusters import ways_out


def test_states_and_replicas_are_read_from_sentences():
    assert STATE.findall(_state(17, "broker 2")) == [("17", "2")]
    assert REPLICAS.findall(f"t0-1 the replicas 2 and 3, and {_state(14, 'broker 3')}") == [("1", "2 and 3", "14", "3")]
    assert LEADER_ONLY.findall(ways_out("power-was-lost")["no-live-isr"]) == [("0", "2"), ("0", "1")]


def test_each_experiment_follows_a_kind_that_there_is():
    cases = [getattr(one.run, "keywords", {}).get("case") for one in EXPERIMENTS.values()]
    kinds = [case.kind for case in cases if hasattr(case, "kind")]
    assert len(kinds) > 10 and set(kinds) <= {kind.name for kind in KINDS}


class _ZooKeeper:
    """What a client of ZooKeeper is asked for; nothing is there but /brokers."""

    def __init__(self) -> None:
        self.zk, self.writes, self.note = self, [], str
        self.do = self.writes.append

    def get(self, path):
        return None

    def exists(self, path):
        return path == "/brokers"


def test_a_znode_is_created_with_those_above_it_that_are_not_there():
    lab, state = _ZooKeeper(), {"leader": 1}
    _put(lab, "/brokers/topics/t", state)
    assert lab.writes == [create("/brokers/topics"), create("/brokers/topics/t", json.dumps(state).encode())]
