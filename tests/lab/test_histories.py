"""What histories do beside their operations, without brokers: probed snapshots, restarts, sequels, disks and ids."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from kwalk.clusters.lab import cluster, histories
from kwalk.clusters.lab.cluster import Lab, LabBroker
from kwalk.clusters.lab.histories import FuzzHands, draw_history, probed_twice
from kwalk.clusters.metadata import Metadata, PartitionMetadata, TopicMetadata

SERVED = {"ok": True, "error": "NONE", "n": 1}
REFUSED = {"ok": False, "error": "NOT_LEADER_OR_FOLLOWER"}


class FakeLab:
    """Stands for a cluster of three brokers: notes what is done to it."""

    def __init__(self):
        self.brokers = {number: SimpleNamespace(id=number, roots=(Path("data"),)) for number in (1, 2, 3)}
        self.done = []
        self.writes = []
        self.zk = SimpleNamespace(do=self.writes.append)

    def controller(self):
        return 2

    def renumber(self, number, new):
        self.done.append(f"renumber {number} {new}")
        self.brokers[new] = self.brokers.pop(number)

    def states(self, topic):
        return {0: {"leader": 1, "leader_epoch": 4, "isr": [1, 2]}}

    def lines(self, *arguments, **options):
        return []

    def fail_disk(self, number, root):
        self.done.append(f"fail_disk {number} {root.name}")
        return True

    def __getattr__(self, name):
        return lambda *numbers: self.done.append(" ".join(map(str, (name, *numbers))))


@pytest.fixture(autouse=True)
def _always_at_rest(monkeypatch):
    monkeypatch.setattr(histories, "_rest", lambda hands: True)


def test_all_brokers_restart_the_controller_first_and_those_that_are_down_start():
    hands = FuzzHands(FakeLab(), "t", down={3})
    histories.restart_all(hands)
    assert hands.lab.done == ["restart 2", "restart 1", "start 3"]
    assert not hands.down


@pytest.mark.parametrize("alone", [True, False])
def test_a_broker_returns_under_another_id_and_then_under_its_own(alone):
    hands = FuzzHands(FakeLab(), "t")
    labels = list(histories._returns_under_another_id(hands, 3, alone))
    assert labels == ["broker 3 has returned with the id 6", "broker 3 has its id again"]
    stopped, started = (["stop 1", "stop 2"], ["start 1", "start 2"]) if alone else ([], [])
    then = ["stop 3", "renumber 3 6", *started, "start 6", "stop 6", "renumber 6 3", "start 3"]
    assert hands.lab.done == [*stopped, *then]
    assert not hands.down


def test_a_disk_fails_while_no_other_broker_runs_and_is_repaired():
    hands = FuzzHands(FakeLab(), "t")
    assert len(list(histories._loses_a_disk(hands, 1, True))) == 4
    broken = ["fail_disk 1 data", "start 2", "start 3", "restart 1", "repair_disks 1", "restart 1"]
    assert hands.lab.done == ["stop 2", "stop 3", *broken]


@pytest.mark.parametrize(("alone", "isr"), [(True, []), (False, [2])])
def test_states_are_edited_with_the_next_leader_epoch(alone, isr):
    hands = FuzzHands(FakeLab(), "t")
    assert len(list(histories._states_are_edited(hands, 2, alone))) == 3
    expected = json.dumps({"leader": -1, "leader_epoch": 5, "isr": isr}).encode()
    assert [expected in repr(write).encode() for write in hands.lab.writes] == [True]


def test_a_broker_starts_with_empty_disks_and_then_the_others(tmp_path):
    hands = FuzzHands(FakeLab(), "t")
    disk = tmp_path / "data"
    (disk / "t-0").mkdir(parents=True)
    hands.lab.brokers[1].roots = (disk,)
    assert len(list(histories._disks_are_replaced(hands, 1, True))) == 2
    assert hands.lab.done == ["stop 2", "stop 3", "stop 1", "start 1", "start 2", "start 3"]
    assert not disk.exists()


def test_after_a_sequel_the_cluster_serves_no_other_history(tmp_path, monkeypatch):
    taken = []
    monkeypatch.setattr(histories, "_probed_snapshot", lambda hands, label, path: taken.append(path.name))
    monkeypatch.setattr(histories.shutil, "rmtree", lambda path: None)
    sequels = set()
    for seed in range(40):
        taken.clear()
        hands = FuzzHands(FakeLab(), "t")
        histories._sequel(hands, histories.random.Random(seed), tmp_path)
        assert hands.is_unclean == bool(taken)
        assert taken == [f"sequel-{number}.json" for number in range(1, len(taken) + 1)]
        sequels.add(len(taken))
    assert sequels == {0, 2, 3, 4}


def test_a_snapshot_keeps_the_probes_of_topics_that_are_not_deleted(tmp_path, monkeypatch):
    looks = iter(["before", "after"])
    monkeypatch.setattr(histories, "_fingerprint", lambda hands: next(looks))
    lab = SimpleNamespace(
        capture=lambda label, topic: {"label": label, "topic": topic, "extra": {}},
        topic=lambda name: {} if name == "h1-c" else {"partitions": {}},
        zk=SimpleNamespace(children=lambda path: ["h1-b"]),
        probe_anywhere=lambda topic, seconds: {
            "0": {"produce": {"ok": True}, "consume": {"ok": True, "n": 1, "last": topic}}
        },
    )
    hands = FuzzHands(lab, "h1-a", topics=("h1-a", "h1-b", "h1-c"))
    histories._probed_snapshot(hands, "label", tmp_path / "01.json")
    looks = iter(["before", "before"])
    histories._probed_snapshot(hands, "label", tmp_path / "02.json", probes=False)
    assert json.loads((tmp_path / "02.json").read_text())["extra"] == {"at_rest": True, "changed": False}
    found = json.loads((tmp_path / "01.json").read_text())
    assert found["topic"] == "h1-?"
    assert {topic: probe["0"]["consume"]["last"] for topic, probe in found["extra"]["probe"].items()} == {
        "h1-a": "h1-a"
    }
    assert (found["extra"]["at_rest"], found["extra"]["changed"]) == (True, True)


def test_a_partition_that_does_not_serve_is_probed_once_more():
    """A follower whose fetch was refused waits for a second."""
    served, refused = ({"produce": {"ok": ok}, "consume": {"ok": ok, "n": 1}} for ok in (True, False))
    answers = [{"0": served, "1": refused, "2": refused}, {"0": refused, "1": served}]
    lab = SimpleNamespace(probe_anywhere=lambda topic, seconds: answers.pop(0))
    assert probed_twice(lab, "t") == {"0": served, "1": served, "2": refused}
    answers = [{"0": served}]
    assert probed_twice(lab, "t") == {"0": served} and not answers


def test_a_broker_that_is_not_down_is_not_started():
    for number in range(200):
        down = 0
        for operation in draw_history(str(number), 12):
            down += operation.name in histories.STOPS
            assert operation.name != histories.STARTS or down


# The lab.


@pytest.fixture
def broker(tmp_path) -> LabBroker:
    found = LabBroker(3, "3.9.0", tmp_path, directories=2)
    for disk in found.roots:
        disk.mkdir()
        (disk / "meta.properties").write_text("version=0\nbroker.id=3\ncluster.id=c\n")
    return found


def test_a_broker_has_another_id_with_the_same_disks(broker):
    lab = SimpleNamespace(brokers={3: broker}, note=lambda text: None)
    Lab.renumber(lab, 3, 6)
    assert lab.brokers == {6: broker}
    assert broker.id == 6
    for disk in broker.roots:
        assert (disk / "meta.properties").read_text() == "version=0\nbroker.id=6\ncluster.id=c\n"


def test_a_disk_that_is_repaired_has_what_it_had(broker):
    lab = SimpleNamespace(brokers={3: broker}, note=lambda text: None, marks=dict, lines=lambda *a, **o: ["Stopping"])
    lab.take_disk = partial(Lab.take_disk, lab)
    assert Lab.fail_disk(lab, 3, broker.roots[1])
    assert broker.roots[1].is_file()
    Lab.repair_disks(lab, 3)
    assert (broker.roots[1] / "meta.properties").exists()


@pytest.mark.parametrize(("leaders", "tried", "ok"), [((1, 2), [1, 2], True), ((1, 1), [1], False)])
def test_a_probe_that_fails_tries_the_metadata_of_another_broker_if_it_differs(leaders, tried, ok, monkeypatch):
    brokers = {n: SimpleNamespace(id=n, port=n, runs=True, paused=False) for n in (1, 2)}
    for one in brokers.values():
        one.knows_topic_ids = one.fetches_by_id = False
    asked = []

    def known(port: int, *, with_ids: bool) -> Metadata:
        partition = PartitionMetadata(0, leaders[port - 1], 0, (1, 2), ())
        return Metadata((1, 2), 1, {"t": TopicMetadata(0, None, {0: partition})})

    def produce(port: int, *_: object, **__: object) -> dict[str, object]:
        asked.append(port)
        return SERVED if port == 2 else REFUSED

    def probe(*arguments: object, **options: object) -> object:
        return Lab._probe_partition(lab, *arguments, **options)

    monkeypatch.setattr(cluster, "metadata", known)
    monkeypatch.setattr(cluster, "produce", produce)
    monkeypatch.setattr(cluster, "consume", lambda *_, **__: SERVED)
    lab = SimpleNamespace(brokers=brokers, _probe_partition=probe)
    found = Lab.probe_anywhere(lab, "t", seconds=1)["0"]
    assert asked == tried
    assert cluster.serves(found) == ok
    assert found["metadata"] == (2 if ok else 1)
