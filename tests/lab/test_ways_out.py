"""Experiments on advice: the lab reads its numbers as `kwalk diagnose` writes them, and names kinds of findings."""

from __future__ import annotations

import json

import pytest

from kwalk.clusters.lab.experiments import EXPERIMENTS
from kwalk.clusters.lab.experiments import ways_out_of_replicas as replicas
from kwalk.clusters.lab.experiments.ways_out import LEADER_ONLY, REPLICAS, STATE, STATES, _put, advised_case
from kwalk.clusters.lab.zookeeper import create
from kwalk.invariants.reading.advice.facts import state_text
from kwalk.invariants.reading.finding_kinds import KINDS
from kwalk.model.language import KwalkError
from tests.snapshots.test_reported_clusters import ways_out


def test_states_and_replicas_are_read_from_sentences():
    assert STATE.findall(state_text(17, "broker 2")) == [("17", "2")]
    states = f"that of t0-1 with {state_text(14, 'that of brokers 2 and 3 whose log ends last')}"
    assert REPLICAS.findall(f"write: {states}, and the replicas 2 and 3; if") == [(states, "2 and 3")]
    assert STATES.findall(states) == [("t0-1", "14", "2 and 3")]
    reported = ways_out("disks-of-two-brokers-swapped")["records-on-no-replica"]
    assert [hosts for _, hosts in REPLICAS.findall(reported)] == ["2", "1"]
    assert LEADER_ONLY.findall(ways_out("power-was-lost")["no-live-isr"]) == [("0", "2"), ("0", "1")]


def test_each_experiment_follows_a_kind_that_there_is():
    cases = [(one, case) for one in EXPERIMENTS.values() if (case := advised_case(one)) is not None]
    assert len(cases) > 10 and {case.kind for _, case in cases} <= {kind.name for kind in KINDS}


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


def test_what_is_followed_is_read_from_sentences_of_reported_clusters():
    found = ways_out("two-isr-members-lack-records-of-each-other")["isr-member-lacks-records"]
    assert replicas.read(replicas.BUT, found) == [("0", "1003"), ("2", "1001")]
    found = ways_out("leaders-were-written-by-hand")["leader-written-by-hand"]
    assert [names for names, *_ in replicas.read(STATES, found)] == [
        "orders-0 and orders-3",
        "orders-1 and orders-4",
        "orders-2",
    ]
    found = ways_out("replaced-disk-of-the-only-isr-member")["leader-lacks-records"]
    assert replicas.read(STATES, found) == [("ev-0", "19", "1")]
    found = ways_out("empty-isr-and-the-last-log-is-down")["empty-isr"]
    assert replicas.read(replicas.ELECTED, found) == [("5", "")]


def test_a_sentence_without_what_is_to_be_followed_fails_the_round():
    with pytest.raises(KwalkError, match="does not have what is to be followed"):
        replicas.read(replicas.STOP, "take another snapshot")
