"""A real cluster: what the lab's hands do, and what its eyes see."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time

import pytest

from kwalk.clusters.lab.brokers import AdminRequests, produce
from kwalk.clusters.lab.cluster import Lab, LabOptions, Mode
from kwalk.clusters.lab.experiments.directories import created
from kwalk.clusters.lab.experiments.known_records import Ledger
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.proxy import matching
from kwalk.clusters.lab.quorum import DUAL_WRITE, FIRST_ID, Quorum
from kwalk.clusters.lab.zookeeper import Op, ZooKeeperError, create, delete
from kwalk.clusters.metadata import Api
from kwalk.model.kafka.snapshots.capture import read_capture

pytestmark = [pytest.mark.lab, pytest.mark.slow]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    with Lab(tmp_path_factory.mktemp("lab") / "cluster", LabOptions(brokers=2, proxied=True)) as running:
        yield running


@pytest.fixture(scope="module")
def topic(lab):
    """A topic of the new client, with two partitions."""
    assert lab.admin().create_topic("t", {0: [1, 2], 1: [2, 1]}).ok
    assert lab.wait_for_leaders("t", 2)
    return "t"


def test_what_is_produced_is_consumed(lab, topic):
    for probe in lab.probe(topic).values():
        assert (probe["produce"]["error"], probe["consume"]["error"]) == ("NONE", "NONE")
        assert probe["consume"]["n"] >= 1


def test_a_capture_is_read_as_those_of_the_project_are(lab, topic, tmp_path):
    file = tmp_path / "capture.json"
    file.write_text(json.dumps(lab.capture("now")))
    capture = read_capture(file)
    assert (capture.version, capture.live) == ("3.9.0", (1, 2))
    assert capture.controller == lab.controller()
    ids = {capture.topics[topic].topic_id}
    ids |= {capture.brokers[b].cache.topic_ids[topic] for b in (1, 2)}

    def replicas_agree():
        read = read_capture(_written(lab, file))
        partitions = [[read.directory(b, topic, p) for b in (1, 2)] for p in (0, 1)]
        return all(
            len({(log.topic_id, log.leader_epochs, log.first_batch) for log in logs}) == 1 for logs in partitions
        )

    assert wait_until(replicas_agree, 10)
    assert len(ids) == 1 and None not in ids


def _written(lab, file):
    file.write_text(json.dumps(lab.capture()))
    return file


def test_an_old_client_erases_the_topic_id(lab):
    lab.tool("1.0.0", "--create", "--topic", "old", "--partitions", "1", "--replication-factor", "2")
    assert wait_until(lambda: "topic_id" in (lab.topic("old") or {}), 10)
    lab.tool("1.0.0", "--alter", "--topic", "old", "--partitions", "2")
    assert "topic_id" not in lab.topic("old")
    assert lab.wait_for_leaders("old", 2)


def test_a_session_that_expires_moves_the_controller(lab):
    before, epoch = lab.controller(), lab.controller_epoch()
    lab.expire_session(before)
    assert wait_until(lambda: lab.controller() is not None and lab.controller_epoch() > epoch, 20)
    assert wait_until(lambda: lab.zk.children("/brokers/ids") == ["1", "2"], 20)


def test_an_order_of_the_proxies_decides_who_becomes_controller(lab):
    for wanted in (1, 2, 1):
        rules = [
            lab.rules.hold(matching(Op.MULTI, broker=3 - wanted, path="/controller")),
            lab.rules.hold(matching(Op.CREATE, broker=3 - wanted, path="/controller")),
        ]
        lab.zk.do(delete("/controller"))
        assert wait_until(lambda: lab.controller() is not None, 20)
        assert lab.controller() == wanted
        for rule in rules:
            lab.rules.drop(rule)
        time.sleep(0.5)


def test_control_requests_can_be_held_before_a_broker(lab):
    controller = lab.controller()
    other = 3 - controller
    hold = lab.rules.hold(matching(Api.LEADER_AND_ISR, broker=other, client=str(controller)))
    assert lab.admin().create_topic("held", {0: [controller, other]}).ok
    assert lab.rules.wait_for(hold)
    assert lab.directories("held")[other] == []
    lab.rules.release(hold)
    assert wait_until(lambda: lab.directories("held")[other] == ["held-0"], 20)
    lab.rules.drop(hold)
    assert lab.admin().delete_topic("held").ok


def test_zookeepers_errors_have_their_names(lab):
    with pytest.raises(ZooKeeperError, match="NODEEXISTS"):
        lab.zk.do(create("/controller_epoch"))
    with pytest.raises(ZooKeeperError, match="NONODE"):
        lab.zk.do(create("/lab"), delete("/nowhere"))
    assert not lab.zk.exists("/lab")


def test_signals_reach_a_broker_and_the_log_shows_when(lab, topic):
    controller, marks = lab.controller(), lab.marks()
    lab.restart(3 - controller)
    assert wait_until(lambda: lab.lines("controller", "Newly added brokers", broker=controller, since=marks), 10)
    lab.pause(3 - controller)
    assert lab.capture()["brokers"][str(3 - controller)]["metadata_cache"] is None
    lab.resume(3 - controller)
    assert wait_until(lambda: all(len(s["isr"]) == 2 for s in lab.states(topic).values()), 30)


def test_a_running_lab_is_seen_by_another_process(lab):
    command = [sys.executable, "-m", "kwalk.reports.command_line", "lab", "capture", str(lab.folder)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert re.search(r'"controller": [12],', output)


def test_a_cluster_migrates_to_a_quorum_that_crashes_and_its_records_survive(tmp_path):
    with Lab(tmp_path / "cluster", LabOptions(brokers=1)) as lab:
        assert lab.admin().create_topic("t", {0: [1]}).ok
        ledger = Ledger("t")
        assert ledger.write(lab, "first") == []
        quorum = Quorum(lab)
        quorum.start()
        assert quorum.reaches("WAIT_FOR_BROKERS")
        assert wait_until(lambda: quorum.hindrances, 20)
        assert quorum.hindrances == ["No brokers are known to KRaft, waiting for brokers to register."]
        lab.roll(1, Mode.MIGRATING)
        assert quorum.reaches(DUAL_WRITE)
        assert (lab.controller(), lab.capture()["controller"]) == (FIRST_ID, FIRST_ID)
        quorum.kill()
        quorum.start()
        assert quorum.reaches(DUAL_WRITE)
        lab.roll(1, Mode.KRAFT)
        assert ledger.write(lab, "after") == []
        quorum.stop()
        assert not quorum.active.runs
        quorum.start(migrates=False)
        assert wait_until(lambda: ledger.write(lab, "after") == [], 20)
        assert lab.probe("t")["0"]["consume"]["n"] >= 3


def test_a_replica_moves_to_another_directory_of_a_broker_that_began_in_kraft_mode(tmp_path):
    with Lab(tmp_path / "cluster", LabOptions(brokers=1, directories=2)) as lab:
        Quorum(lab).start_brokers_without_data()
        broker = lab.brokers[1]
        here = created(lab, "t")
        there = next(root for root in broker.roots if root != here.parent)
        assert produce(broker.port, "t", 0, "first")["offset"] == 0
        assert AdminRequests(lambda: broker.port).move("t", 0, str(there)).ok
        assert wait_until(lambda: broker.directory("t-0") == there / "t-0" and not here.exists(), 20)
        assert wait_until(lambda: produce(broker.port, "t", 0, "later").get("offset") == 1, 20)
