"""A real cluster, if the jars of the lab are there: what `kwalk collect` sees is what the lab's own eyes see."""

from __future__ import annotations

import json
import re
import socket
import sys
from pathlib import Path

import pytest

from kwalk.clusters.lab.brokers import produce
from kwalk.clusters.lab.cluster import Lab, LabOptions
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.zookeeper import create
from tests.collect.clusters import SECRET

pytest.importorskip("kazoo", reason="kazoo is not installed; run make setup")
pytestmark = [pytest.mark.lab, pytest.mark.slow]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Two brokers with a topic, at rest: every replica has its partition.metadata, and is in the ISR."""
    with Lab(tmp_path_factory.mktemp("lab") / "cluster", LabOptions(brokers=2)) as running:
        for path in ("/config/users/alice", "/config/brokers/1"):
            running.zk.do(create(path, json.dumps({"config": {"ssl.keystore.password": SECRET}}).encode()))
        assert running.admin().create_topic("t", {0: [1, 2], 1: [2, 1]}).ok
        assert running.wait_for_leaders("t", 2)
        assert wait_until(lambda: _has_all_files(running), 20)
        yield running


def _has_all_files(lab):
    dirs = [broker["dirs"] for broker in lab.capture()["brokers"].values()]
    return all(found.get(f"t-{p}", {}).get("partition_metadata") for found in dirs for p in (0, 1))


@pytest.fixture
def collect(lab, kwalk, tmp_path, monkeypatch):
    """Run `kwalk collect` against the lab; return the snapshot."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        ran = kwalk("collect", f"127.0.0.1:{lab.zookeeper_port}", "--release", "3.9.0", "--save-as", "now.json", *words)
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.splitlines()[-1] == "Next: kwalk diagnose now.json"
        return json.loads((tmp_path / "now.json").read_text())

    return run


def logs(lab):
    return [word for broker in lab.brokers.values() for word in ("--logs", f"{broker.id}={broker.data}")]


def without_its_circumstances(snapshot):
    return {name: value for name, value in snapshot.items() if name not in ("label", "lab_seconds", "extra", "taken")}


def test_collect_sees_what_the_lab_sees(lab, collect):
    assert without_its_circumstances(collect(*logs(lab))) == without_its_circumstances(lab.capture())


def test_by_ssh_it_sees_the_same(lab, collect, tmp_path):
    (tmp_path / "ssh.py").write_text("import os, sys\nos.execvp('sh', ['sh', '-c', sys.argv[-1]])\n")
    places = (word for b in lab.brokers.values() for word in ("--logs", f"{b.id}=ssh://broker{b.data}"))
    by_ssh = collect("--ssh", f"{sys.executable} {tmp_path / 'ssh.py'}", *places)
    assert without_its_circumstances(by_ssh) == without_its_circumstances(lab.capture())


def test_the_logs_of_one_partition_begin_with_the_same_batch_and_no_record_is_in_the_snapshot(lab, collect, tmp_path):
    assert wait_until(lambda: produce(lab.brokers[1].port, "t", 0, SECRET)["ok"], 20)
    assert wait_until(lambda: high_watermarks(lab) == [1, 1], 20)
    snapshot = collect(*logs(lab))
    assert SECRET not in (tmp_path / "now.json").read_text()
    first, second = (snapshot["brokers"][number]["dirs"]["t-0"] for number in ("1", "2"))
    assert first["first_batch"] == second["first_batch"] is not None
    assert first["files"] == second["files"]
    for number, broker in lab.brokers.items():
        (root,) = snapshot["brokers"][str(number)]["log_dirs"]
        cluster = snapshot["cluster_id"]
        assert root == {"path": str(broker.data), "broker_id": number, "cluster_id": cluster, "offline": False}


def high_watermarks(lab):
    return [broker["dirs"]["t-0"]["high_watermark"] for broker in lab.capture()["brokers"].values()]


def test_a_disk_that_has_failed_is_in_the_snapshot_as_its_broker_says(kwalk, tmp_path):
    (tmp_path / "file").write_text("no folder can be below it")
    folder, failed = tmp_path / "lab", tmp_path / "file" / "logs"
    own = {1: {"log.dirs": f"{folder / 'broker-1' / 'data'},{failed}"}}
    with Lab(folder, LabOptions(brokers=1, own_settings=own)) as lab:
        (root, offline) = lab.capture()["brokers"]["1"]["log_dirs"][::-1]
        assert (root["path"], root["offline"]) == (str(lab.brokers[1].data), False)
        assert offline == {"path": str(failed), "broker_id": None, "cluster_id": None, "offline": True}
        where, out = f"127.0.0.1:{lab.zookeeper_port}", str(tmp_path / "now.json")
        ran = kwalk("collect", where, "--release", "3.9.0", "--save-as", out)
        assert f"Broker 1 says that its log directory {failed} is offline." in ran.err


def last_transaction(lab):
    """The id of ZooKeeper's last transaction, as its command srvr says."""
    with socket.create_connection(("127.0.0.1", lab.zookeeper_port), timeout=10) as connection:
        connection.sendall(b"srvr")
        answer = b"".join(iter(lambda: connection.recv(4096), b"")).decode()
    return int(re.search(r"Zxid: 0x([0-9a-f]+)", answer)[1], 16)


def test_collect_writes_nothing_but_the_beginning_and_the_end_of_its_session(lab, collect):
    before = last_transaction(lab)
    collect(*logs(lab))
    assert last_transaction(lab) - before == 2


def test_no_planted_secret_is_in_the_snapshot(lab, collect, tmp_path):
    collect(*logs(lab))
    assert SECRET in str(lab.zk.get("/config/users/alice"))
    assert SECRET not in (tmp_path / "now.json").read_text()


def test_a_request_that_is_no_read_is_never_sent(lab):
    from kwalk.clusters.collect.zookeeper import ZooKeeperOptions, ZooKeeperReader
    from kwalk.model.language.errors import InternalError

    before = last_transaction(lab)
    with ZooKeeperReader(ZooKeeperOptions(f"127.0.0.1:{lab.zookeeper_port}")) as reader:
        client = reader._client
        for send in (
            lambda: client.create("/x"),
            lambda: client.set("/controller", b"{}"),
            lambda: client.delete("/controller"),
            lambda: client.set_acls("/controller", []),
            lambda: client.transaction().commit(),
            lambda: client.get("/controller", watch=print),
        ):
            with pytest.raises(InternalError, match="a request to ZooKeeper that is no read"):
                send()
    assert last_transaction(lab) - before == 2


def test_a_healthy_cluster_is_consistent_and_an_old_clients_expansion_is_latent(lab, collect, kwalk):
    collect(*logs(lab))
    assert kwalk("diagnose", "now.json").code == 0
    lab.tool("1.0.0", "--alter", "--topic", "t", "--partitions", "3")
    assert lab.wait_for_leaders("t", 3)
    assert wait_until(lambda: "t-2" in lab.capture()["brokers"]["1"]["dirs"], 10)
    collect(*logs(lab), "--topic", "t")
    found = kwalk("diagnose", "now.json", "--json")
    kinds = [kind["kind"] for kind in json.loads(found.out)["snapshots"][0]["kinds"]]
    assert (found.code, "topic-id-missing" in kinds) == (13, True)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("127.0.0.1:{zookeeper}/nowhere", "No cluster has its znodes below /nowhere of ZooKeeper at 127.0.0.1:"),
        ("127.0.0.1:{broker}", "No ZooKeeper answers at 127.0.0.1:"),
        ("zk.invalid:2181", "No ZooKeeper answers at zk.invalid:2181 within 2 s (Cannot resolve zk.invalid"),
        ("127.0.0.1:{zookeeper}/a/", ""),
    ],
)
def test_an_address_without_a_cluster_is_refused_in_one_line(lab, kwalk, address, message):
    where = address.format(zookeeper=lab.zookeeper_port, broker=lab.brokers[1].port)
    ran = kwalk("collect", where, "--release", "3.9.0", "--seconds", "2")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert message in ran.err


def test_a_cluster_below_a_chroot_is_found_and_its_chroot_is_suggested(lab, kwalk, tmp_path):
    for path in ("/prod", "/prod/brokers", "/prod/brokers/ids", "/prod/brokers/topics"):
        lab.zk.do(create(path))
    address = f"127.0.0.1:{lab.zookeeper_port}"
    ran = kwalk("collect", f"{address}/prod", "--release", "3.9.0", "--save-as", str(tmp_path / "x.json"))
    assert (ran.code, Path(tmp_path / "x.json").exists()) == (0, True)
    assert "0 topics, 0 partitions, 0 brokers" in ran.out
    assert "The snapshot cannot be inspected as it is: brokers names no broker" in ran.err
    for path in ("/elsewhere", "/elsewhere/prod", "/elsewhere/prod/brokers", "/elsewhere/prod/brokers/ids"):
        lab.zk.do(create(path))
    ran = kwalk("collect", f"{address}/elsewhere", "--release", "3.9.0")
    assert "No cluster has its znodes below /elsewhere" in ran.err
