"""What ways out say of random clusters, beside what the model does when an operator follows them."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest
from attrs import evolve, frozen

from kwalk.invariants.reading import finding_kinds
from kwalk.invariants.reading.claims import OF_RECORDS
from kwalk.invariants.reading.finding_kinds import OF_LACKING, Act
from kwalk.invariants.reading.inspection import inspect_capture
from kwalk.invariants.reading.outlook import problem_of
from kwalk.model.kafka.snapshots.capture import read_capture
from kwalk.model.language import UsageError
from kwalk.model.language.inspection import FindingKind
from kwalk.model.language.recovery import Problem, WhatIf
from kwalk.search.analyses.recovery import foresee
from tests.snapshots.followed_advice import Operator, as_event
from tests.snapshots.random_clusters import random_cluster
from tests.snapshots.test_combined_damages import EPOCHS, IDS, OTHER, cluster, log, names, problem, stop, ways_out

BY_ACT = {
    "failover": r"delete /controller|fail the controller over",
    "restart": r"\brestart|\bstop (it|the broker|brokers? \d)",
    "start": r"\bstart (it|one|the broker|brokers? \d)",
}
"""How a way out names what an operator does."""
ACTS = {"failover": Act.FAIL_OVER, "restart": Act.STOP, "start": Act.START | Act.STOP}
NEGATED = r"(do not|neither|never|before|which|not?) [^;,:.]*"
CONDITION = "|".join(
    (r"\bfirst\b", r"\bbefore\b", r"\bdo not\b", r"\bneither\b", r"\bnever\b", r"\bchoose which records\b")
    + (r"\bcompare the ends\b", "when it is out of the ISR")
)
"""How a way out says that something comes first, or that an act loses records."""
MOVING = r"stop brokers? [\d, and]+, move [^;]+ away( on each)?, and start (it|them)"
"""A step that takes a log with other records out of a partition, and keeps it."""
SEEING_TO_LOGS = tuple(kind.name for kind in OF_LACKING)
"""Kinds whose ways out copy what may be lost."""
RELEASES = ("2.6.2", "2.8.2", "3.4.1", "3.9.0")
SHARES, SEEDS = 2, 25
DIVERGED = ((0, 0), (4, 30))


@frozen
class Probe:
    """What the model says of the ways out of one cluster.

    Attributes:
        harmful: the acts after which records may be lost, or foreign, that were in order before.
        unconditional: the ways out that advise such an act without a condition.
        harming: the ways out after which it is so, carried out to the letter.
        undeclared: the acts in sentences that their kinds do not state.
        followed: how many ways out were carried out, in each way.
        others: the kinds of those that were not: they have other steps than plans, or a condition.
    """

    harmful: frozenset[str] = frozenset()
    unconditional: tuple[str, ...] = ()
    harming: tuple[str, ...] = ()
    undeclared: tuple[str, ...] = ()
    followed: int = 0
    others: tuple[str, ...] = ()


def foreseen(problem: Problem) -> tuple[Counter[WhatIf], set[WhatIf]]:
    """Return in how many worlds each event was foreseen, and those after which records may be lost, or foreign.

    Where they are lost in each state that the cluster may come to by itself, an event does no more than one of these.
    """
    names = {prop.name for prop in OF_RECORDS}
    outlook, harmful = foresee(problem, seconds=60), set[WhatIf]()
    for event in outlook.events:
        possible = outlook.now[event.world]
        known = possible if all(one & names for one in possible) else {frozenset.intersection(*possible)}
        if any(not any(end & names <= one for one in known) for end in event.outcomes - possible):
            harmful.add(event.what_if)
    return Counter(event.what_if for event in outlook.events), harmful


def act_of(what_if: WhatIf) -> str:
    return "failover" if "fails over" in what_if.title else "start" if "starts with" in what_if.title else "restart"


def undeclared(kind: FindingKind) -> list[str]:
    """The acts that a way out names, before what comes first, and that its kind does not state."""
    text = re.sub(NEGATED, "", kind.way_out.partition("; but first ")[0])
    return [
        f"{kind.name}: {act} in: {kind.way_out}" for act in BY_ACT if named(act, text) and not kind.acts & ACTS[act]
    ]


def named(act: str, text: str) -> bool:
    return bool(re.search(BY_ACT[act], text))


def probe(release: str, seed: int) -> Probe:
    """Return what the model says of the ways out of a random cluster."""
    capture = read_capture(json.dumps(random_cluster(release, seed)).encode())
    try:
        inspection = inspect_capture(capture)
        problem = problem_of(capture, inspection)
    except UsageError:  # two topics of one id
        return Probe()
    kinds = inspection.by_kind()
    ways = {kind: Operator(capture, kind, places).ways() for kind, places in kinds.items() if kind.acts}
    events = {kind: [as_event(problem, kind, way) for way in found] for kind, found in ways.items() if found}
    tried = {kind: found for kind, found in events.items() if None not in found and problem.worlds}
    advised = tuple(event for found in tried.values() for event in found if event is not None)
    given = evolve(problem, what_ifs=(*problem.what_ifs, *advised))
    seen, harmful = foreseen(given) if problem.worlds else (Counter[WhatIf](), set[WhatIf]())
    followed = [kind for kind, found in tried.items() if all(seen[one] == len(problem.worlds) for one in found if one)]
    acts = frozenset(act_of(one) for one in harmful if one not in advised)
    unconditional = (
        f"{release} {seed} {kind.name}: {kind.way_out} (harmful: {', '.join(sorted(acts))})"
        for kind in kinds
        if kind.name not in SEEING_TO_LOGS
        and any(named(act, re.sub(MOVING, "", kind.way_out)) for act in acts)
        and not re.search(CONDITION, kind.way_out)
    )
    return Probe(
        acts,
        tuple(unconditional),
        tuple(f"{release} {seed} {one.title}" for one in advised if one in harmful),
        tuple(f"{release} {seed} {text}" for kind in kinds for text in undeclared(kind)),
        len(followed),
        tuple(kind.name for kind in ways if kind not in followed),
    )


@pytest.mark.thorough
@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize("release", RELEASES)
def test_no_way_out_advises_what_loses_records_in_the_model(release: str, share: int) -> None:
    probes = [probe(release, seed) for seed in range(share * SEEDS, (share + 1) * SEEDS)]
    assert not [text for one in probes for text in (*one.unconditional, *one.harming, *one.undeclared)]
    assert any(one.harmful for one in probes), "few acts of these clusters are harmful"
    followed, others = sum(one.followed for one in probes), Counter(name for one in probes for name in one.others)
    print(f"{release}: {followed} ways out were carried out, {others.total()} were not: {dict(others.most_common())}")
    assert followed >= SEEDS // 10, "few ways out consist of steps that the model has"


@pytest.mark.thorough
def test_without_the_table_of_hazards_a_way_out_loses_records(monkeypatch) -> None:
    monkeypatch.setattr("kwalk.invariants.reading.advice.precautions.HAZARDS", ())
    found = probe("3.9.0", 1)
    assert found.unconditional or found.harming


def test_each_kind_states_the_acts_of_its_way_out() -> None:
    found = [kind for kind in vars(finding_kinds).values() if isinstance(kind, FindingKind)]
    assert not [text for kind in found for text in undeclared(kind)]
    assert [
        kind.name for kind in found if kind.acts & Act.START and not re.search(r"\bstart", kind.way_out or "start")
    ] == []
    unused = evolve(finding_kinds.BROKER_DOWN, acts=Act.NONE)
    assert undeclared(unused) == ["broker-down: start in: start it"]


# What these clusters have found, each by itself.


def state_of(snapshot: dict[str, Any], name: str = "orders") -> dict[str, Any]:
    """The state of a topic's partition, to be edited."""
    state: dict[str, Any] = snapshot["topics"][name]["partition_state"]["0"]
    return state


def without_state(snapshot: dict[str, Any]) -> None:
    snapshot["topics"]["orders"]["partition_state"] = {}


def diverged(snapshot: dict[str, Any]) -> None:
    snapshot["brokers"]["2"]["dirs"]["orders-0"] = log(IDS["orders"], DIVERGED)


def without_isr(snapshot: dict[str, Any]) -> None:
    state_of(snapshot).update(isr=[], leader=-1)


@pytest.mark.parametrize(
    "damage, first",
    [
        (without_state, "but first see to orders-0, which has logs and no state znode"),
        (diverged, "but first see to orders-0, of which ISR members have different records"),
        (without_isr, "but first see to orders-0, whose ISR is empty"),
    ],
)
def test_no_broker_starts_or_stops_beside_a_partition_that_an_election_harms(damage, first) -> None:
    """In the model a broker that starts elects the first live replica of a partition without a state."""
    snapshot = cluster(brokers=4)
    snapshot["brokers"]["4"]["alive"] = False
    snapshot["broker_ids"].remove(4)
    payments = snapshot["topics"]["payments"]
    payments["znode"]["partitions"]["0"] = [1, 2, 4]
    payments["partition_state"]["0"]["isr"] = [1, 2]
    assert ways_out(snapshot)["broker-down"].startswith("start it; if broker 4 is gone")
    damage(snapshot)
    assert first in ways_out(snapshot)["broker-down"]


def test_logs_with_different_records_are_a_choice_and_the_leader_s_comes_first() -> None:
    """The third log is a copy of the leader's, as far as it goes, and of the other one, too."""
    snapshot = cluster()
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [3, 2, 1]
    diverged(snapshot)
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(IDS["orders"], EPOCHS[:2])
    way_out = ways_out(snapshot)["replicas-diverged"]
    assert "to keep those of brokers 1 and 3, stop broker 2, move orders-0 away, and start it" in way_out
    assert "to keep those of broker 2, stop brokers 1 and 3, move orders-0 away on each, and start them" in way_out
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = snapshot["brokers"]["1"]["dirs"].pop("orders-0")
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [2, 3]
    state_of(snapshot).update(isr=[2, 3], leader=3)
    assert (
        "to have (kwalk diagnose --plan has each way): to keep those of broker 3"
        in ways_out(snapshot)["replicas-diverged"]
    )


def test_no_broker_starts_without_its_log_while_the_log_to_be_kept_is_down() -> None:
    """Broker 1 would be the only live ISR member: it would lead with nothing, and broker 2 truncate its log."""
    snapshot = cluster()
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [1, 2]
    del snapshot["brokers"]["3"]["dirs"]["orders-0"]
    diverged(snapshot)
    stop(snapshot, 2)
    state_of(snapshot).update(isr=[1, 2], leader=1)
    way_out = ways_out(snapshot)["replicas-diverged"]
    assert "to keep those of broker 1, before broker 2 starts, move orders-0 away there" in way_out
    assert "to keep those of broker 2, move nothing away before one of them leads: broker 1 would" in way_out


def test_an_empty_log_is_no_choice_beside_one_with_records() -> None:
    snapshot = cluster()
    empty = {**log(OTHER), "leader_epoch_checkpoint": "0\n0\n", "files": {f"{0:020}.log": 0}, "first_batch": None}
    snapshot["brokers"]["2"]["dirs"]["orders-0"] = {**empty, "high_watermark": 0}
    assert not [text for text in ways_out(snapshot).values() if "choose which records" in text]


def test_no_log_is_moved_away_for_one_that_the_snapshot_lacks() -> None:
    """The only ISR member is down, and its disks were not read: nothing shows which of the others are its copies."""
    snapshot = cluster()
    del snapshot["topics"]["orders"]["znode"]["topic_id"]
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(OTHER, ((0, 0), (7, 30)), crc=8)
    stop(snapshot, 2)
    state_of(snapshot).update(isr=[2], leader=2)
    snapshot["brokers"]["2"]["dirs"] = None
    way_out = ways_out(snapshot)["log-of-an-earlier-topic"]
    assert way_out.startswith("keep all logs of orders-0: the snapshot lacks that of broker 2")
    assert "see before that the log directories of broker 2" not in ways_out(snapshot)["broker-down"]  # said already
    assert "broker 2 only if its log directories" in ways_out(snapshot)["broker-down"]


def test_a_broker_starts_when_its_unread_log_directories_are_known_to_be_its_own() -> None:
    snapshot = cluster()
    stop(snapshot, 3)
    assert "which the snapshot lacks" not in ways_out(snapshot)["broker-down"]
    snapshot["brokers"]["3"]["dirs"] = None
    assert (
        "that the log directories of broker 3, which the snapshot lacks, are its own"
        in ways_out(snapshot)["broker-down"]
    )


def test_of_two_isr_members_that_are_down_the_one_with_a_log_starts_first() -> None:
    """Whichever starts first leads: with nothing, the other one would truncate its log."""
    snapshot = cluster()
    for number, broker in snapshot["brokers"].items():
        broker["log_dirs"] = [{"path": "/kafka", "broker_id": int(number), "cluster_id": "c", "offline": False}]
    for number in (2, 3):
        stop(snapshot, number)
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [2, 3]
    del snapshot["brokers"]["1"]["dirs"]["orders-0"], snapshot["brokers"]["2"]["dirs"]["orders-0"]
    state_of(snapshot).update(isr=[2, 3], leader=-1)
    for kind in ("no-live-isr", "broker-down"):
        assert ways_out(snapshot)[kind].startswith("start broker 3 before broker 2, whose log of orders-0 is gone")
    snapshot["brokers"]["3"]["dirs"] = None
    assert (
        "do not start broker 2: its log of orders-0 is empty, and that of another" in ways_out(snapshot)["broker-down"]
    )


def test_no_plan_has_a_partition_without_a_state_whose_logs_differ() -> None:
    """Which records are committed, its first election decides: the model has no room for both."""
    snapshot = cluster()
    without_state(snapshot)
    diverged(snapshot)
    found = problem(snapshot)
    assert found.left_out == ("orders-0",) and "fail-over" not in names(found)
    assert "it has no state znode, and its logs have different records" in found.notes[0]
