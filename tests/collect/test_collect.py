"""`kwalk collect` on clusters that are not there: what it reads, what it leaves alone, what it says of the rest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attrs import evolve

from kwalk.clusters import fetch
from kwalk.clusters.collect import collect as module
from kwalk.clusters.collect.collect import CollectOptions, LogPlace, collect, log_place, plaintext_endpoint
from kwalk.clusters.collect.znodes import DEFAULT_CONFIG, LEFT_OUT, Topics, Znodes
from kwalk.clusters.metadata import STORAGE_ERROR, Metadata, PartitionMetadata, TopicMetadata
from kwalk.clusters.wire import Malformed, new_topic_id
from kwalk.invariants.reading.inspection import inspect_capture
from kwalk.model.kafka.snapshots.capture import (
    BatchHeader,
    CapturedReplica,
    Directory,
    LogRoot,
    MigrationNode,
    Settings,
    read_capture,
)
from kwalk.model.language import UsageError
from kwalk.model.language.inspection import Condition
from tests.collect.clusters import CLUSTER, SECRET, batch, log_folders, put_topic, zookeeper_of
from tests.snapshots.captured import AGED, FILES, document

NO_CACHES = CollectOptions("2.8.2", ask_brokers=False)


def places(folders):
    return tuple(LogPlace(str(path), number) for number, path in folders.items())


def collected(found):
    return read_capture(found.text.encode())


METADATA_LOG = Path(__file__).parent / "metadata-logs" / "pending-deletion-3.9.0.log"
MIGRATED = {
    "kraft_metadata_offset": 120,
    "kraft_metadata_epoch": 4,
    "kraft_controller_id": 3000,
    "kraft_controller_epoch": 4,
}


@pytest.fixture
def shown():
    """A capture without metadata caches, as JSON."""
    found = document(AGED)
    for broker in found["brokers"].values():
        broker["metadata_cache"] = None
    return found


@pytest.mark.parametrize("name", [name for name in FILES if "stopped" not in name][::4])
def test_what_a_capture_shows_is_collected_again(name, tmp_path):
    shown = document(name)
    for broker in shown["brokers"].values():
        broker["metadata_cache"] = None
        broker["alive"] = True
    shown["broker_ids"] = [int(number) for number in shown["brokers"]]
    options = evolve(NO_CACHES, version=".".join(shown["version"]), logs=places(log_folders(shown, tmp_path)))
    found = collect(zookeeper_of(shown), options)
    assert found.problems == []
    expected = read_capture(json.dumps(shown).encode())
    assert evolve(
        without_lineage(collected(found)), taken=None, cluster_id=None, shows_cluster_id=False, shows_migration=False
    ) == without_lineage(expected)


def without_lineage(capture):
    """The capture without what format 1 does not have."""

    def stripped(broker):
        directories = broker.directories.items()
        kept = {n: Directory(d.topic_id, d.leader_epochs) for n, d in directories}
        return evolve(broker, roots=(), directories=kept, mode=None)

    return evolve(
        capture,
        topics={n: evolve(one, changed=None, cleanup_policy=None, settings=None) for n, one in capture.topics.items()},
        default_settings=None,
        brokers={number: stripped(broker) for number, broker in capture.brokers.items()},
    )


@pytest.fixture(autouse=True)
def log_dirs(monkeypatch):
    """The log directories that brokers name, by host: unless a test says otherwise, one that is online."""
    named = {f"broker-{number}": {"/data/logs": 0} for number in (1, 2, 3)}
    monkeypatch.setattr(module, "describe_log_dirs", lambda port, *, host, seconds: named[host])
    return named


@pytest.fixture(autouse=True)
def settings(monkeypatch):
    """The settings that brokers answer with, by host: unless a test says otherwise, no broker lets the client ask."""
    named = {}
    answer = lambda port, broker, names, *, host, seconds: named.get(host)  # noqa: E731
    monkeypatch.setattr(module, "describe_settings", answer)
    return named


def test_settings_of_topics_and_of_all_brokers_and_of_each_are_collected(shown, monkeypatch, settings):
    """What is no value of a setting makes all that the configuration says unknown."""
    monkeypatch.setattr(module, "metadata", lambda port, *, host, with_ids, seconds: ANSWER)
    zk = zookeeper_of(shown)
    zk.put("/config/topics/t", {"config": {"min.insync.replicas": "2", "retention.ms": SECRET}})
    zk.put("/config/brokers/<default>", {"config": {"unclean.leader.election.enable": "True"}})
    settings["broker-1"] = {"min.insync.replicas": "1", "unclean.leader.election.enable": "false"}
    settings["broker-2"] = {"min.insync.replicas": "many"}
    found = collect(zk, CollectOptions("2.8.2"))
    written = {number: broker["settings"] for number, broker in found.document["brokers"].items()}
    assert written == {
        "1": {"min.insync.replicas": 1, "unclean.leader.election.enable": False},
        "2": None,
        "3": None,
    }
    assert found.document["topics"]["t"]["settings"] == {"min.insync.replicas": 2}
    assert found.document["default_settings"] == {"unclean.leader.election.enable": True}
    assert SECRET not in found.text
    capture = collected(found)
    assert capture.topics["t"].settings == Settings(min_insync_replicas=2)
    assert capture.brokers[capture.controller].settings.unclean_elections is False
    assert capture.topics["t"].elects_uncleanly is None  # as another broker may be the next controller


@pytest.fixture(autouse=True)
def replicas(monkeypatch):
    """The replicas that brokers have in memory, by host: unless a test says otherwise, none answers with any."""
    named = {f"broker-{number}": {} for number in (1, 2, 3)}
    monkeypatch.setattr(module, "replicas_in_memory", lambda port, epochs, *, host, seconds: named[host])
    return named


def test_the_replicas_that_brokers_have_in_memory_are_collected(shown, monkeypatch, replicas):
    """Also those of which a broker has not been told since it started; what it did not answer is not known."""
    asked = {}

    def answer(port, epochs, *, host, seconds):
        asked[host] = epochs
        return replicas[host]

    monkeypatch.setattr(module, "metadata", lambda port, *, host, with_ids, seconds: ANSWER)
    monkeypatch.setattr(module, "replicas_in_memory", answer)
    replicas |= {"broker-1": {("t", 0): CapturedReplica(4, leads=True), ("t", 1): None}}
    found = collect(zookeeper_of(shown), CollectOptions("2.8.2"))
    written = {number: broker["replicas"] for number, broker in found.document["brokers"].items()}
    assert written == {"1": {"t": {"0": {"leader_epoch": 4, "leads": True}, "1": None}}, "2": {}, "3": {}}
    brokers = collected(found).brokers
    assert [brokers[n].replicas for n in (1, 2, 3)] == [replicas["broker-1"], {}, {}]
    states = {n: topic["partition_state"] for n, topic in shown["topics"].items()}
    assert asked["broker-2"] == {
        (name, int(p)): state["leader_epoch"]
        for name, by in states.items()
        for p, state in by.items()
        if 2 in (state["leader"], *state["isr"], *shown["topics"][name]["znode"]["partitions"][p])
    }


def test_a_metadata_cache_is_written_as_its_differences_from_that_of_the_first_broker(shown, monkeypatch):
    def answer(leader):
        return TopicMetadata(0, None, {0: PartitionMetadata(0, leader, 4, (1, 2), ())})

    answers = {
        "broker-1": Metadata((1, 2, 3), 1, {"t": answer(1), "u": answer(2)}),
        "broker-2": Metadata((1, 2, 3), 1, {"t": answer(1), "u": answer(3)}),
        "broker-3": Metadata((1, 2), 2, {"t": answer(1)}),
    }
    monkeypatch.setattr(module, "metadata", lambda port, *, host, with_ids, seconds: answers[host])
    found = collect(zookeeper_of(shown), CollectOptions("2.8.2"))
    written = {number: broker["metadata_cache"] for number, broker in found.document["brokers"].items()}
    assert list(written["1"]["topics"]) == ["t", "u"]
    assert (written["2"]["like"], list(written["2"]["topics"])) == (1, ["u"])
    assert written["3"]["topics"] == {"u": None}
    caches = {number: broker.cache for number, broker in collected(found).brokers.items()}
    leaders = {
        n: {name: {p: m.leader for p, m in by.items()} for name, by in c.partitions.items()} for n, c in caches.items()
    }
    assert leaders == {1: {"t": {0: 1}, "u": {0: 2}}, 2: {"t": {0: 1}, "u": {0: 3}}, 3: {"t": {0: 1}, "u": {}}}


def test_a_broker_that_does_not_answer_is_a_problem_and_no_failure(shown, monkeypatch):
    def refuse(port, *, host, with_ids, seconds):
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr(module, "metadata", refuse)
    found = collect(zookeeper_of(shown), CollectOptions("2.8.2"))
    first = "Broker 1 did not answer a Metadata request at broker-1:9092: Connection refused."
    assert len(found.problems) == 3
    assert found.problems[0] == first
    assert f"When the snapshot was taken: {first}" in inspect_capture(collected(found)).notes


def test_a_broker_of_before_topic_ids_is_asked_again_without_them(shown, monkeypatch):
    asked = []

    def answer(port, *, host, with_ids, seconds):
        asked.append(with_ids)
        if with_ids:
            raise ConnectionError("closed")
        return Metadata((1,), 1, {})

    monkeypatch.setattr(module, "metadata", answer)
    assert collect(zookeeper_of(shown), CollectOptions("2.8.2")).problems == []
    assert sorted(asked) == [False] * 3 + [True] * 3


def test_a_broker_of_3_1_and_later_is_asked_for_the_topic_ids_of_its_replicas(shown, monkeypatch):
    """By the ids that it answers itself; of an id that two topics have it is not known which is meant."""

    def topic(identity, leader=1, isr=(1, 2)):
        return TopicMetadata(0, identity, {p: PartitionMetadata(0, leader, 4, isr, ()) for p in (0, 1)})

    ids, asked = [new_topic_id() for _ in range(3)], {}
    topics = {"t": topic(ids[0]), "u": topic(ids[1]), "v": topic(ids[1]), "w": topic(None), "x": topic(ids[2], -1, ())}
    answers = {1: {(ids[0], 0): 1, (ids[0], 1): 103}, 2: {(ids[0], 0): -1, (ids[0], 1): 1}, 3: {}}

    def errors(port, topics, *, host, seconds):
        number = int(host.removeprefix("broker-"))
        asked[number] = {identity: numbers for identity, numbers in topics.items() if numbers}
        return answers[number]

    monkeypatch.setattr(module, "metadata", lambda port, *, host, with_ids, seconds: Metadata((1, 2, 3), 1, topics))
    monkeypatch.setattr(fetch, "errors_by_id", errors)
    found = collect(zookeeper_of(shown), CollectOptions("3.1.0"))
    assert found.problems == []
    assert asked == {1: {ids[0]: [0, 1]}, 2: {ids[0]: [0, 1]}, 3: {}}
    written = {number: broker["fetch_errors"] for number, broker in found.document["brokers"].items()}
    assert written == {"1": {"1": {"t": [0]}, "103": {"t": [1]}}, "2": {"-1": {"t": [0]}, "1": {"t": [1]}}, "3": {}}
    brokers = collected(found).brokers
    assert (brokers[1].agreeing, brokers[1].refusing) == ({("t", 0)}, {("t", 1)})
    assert (brokers[2].agreeing, brokers[2].refusing) == ({("t", 1)}, set())
    asked.clear()
    found = collect(zookeeper_of(shown), CollectOptions("3.0.2"))
    assert (asked, found.document["brokers"]["1"]["fetch_errors"]) == ({}, None)
    assert collected(found).brokers[1].agreeing == set()


def test_a_broker_that_does_not_answer_a_fetch_is_a_problem_and_no_failure(shown, monkeypatch):
    def refuse(port, topics, *, host, seconds):
        raise Malformed("a frame of 7 bytes")

    monkeypatch.setattr(module, "metadata", lambda port, *, host, with_ids, seconds: ANSWER)
    monkeypatch.setattr(fetch, "errors_by_id", refuse)
    found = collect(zookeeper_of(shown), CollectOptions("3.9.0"))
    assert found.problems == [
        f"Broker {n} did not answer a Fetch request at broker-{n}:9092: a frame of 7 bytes." for n in (1, 2, 3)
    ]
    broker = found.document["brokers"]["1"]
    assert (broker["metadata_cache"]["controller"], broker["fetch_errors"]) == (1, None)
    assert broker["log_dirs"]
    assert collected(found).brokers[1].cache is not None


# What is read.


def test_only_the_znodes_that_are_needed_are_read_and_no_secret_is_in_the_snapshot(shown, tmp_path):
    zk = zookeeper_of(shown)
    found = collect(zk, evolve(NO_CACHES, logs=places(log_folders(shown, tmp_path))))
    allowed = ("/brokers/ids", "/brokers/topics", "/config/topics", "/admin/delete_topics", "/controller", "/cluster")
    allowed += ("/migration", "/admin/preferred_replica_election", "/admin/reassign_partitions", DEFAULT_CONFIG)
    assert [path for path in zk.asked if not path.startswith(allowed)] == []
    assert SECRET not in found.text


def test_a_topic_filter_keeps_znodes_directories_and_deletions_of_these_topics_only(shown, tmp_path):
    topic = shown["topics"]["t"]
    shown["topics"] |= {"orders-eu": topic, "orders-us": topic}
    shown["delete_topics"] = ["t", "orders-eu"]
    for broker in shown["brokers"].values():
        broker["dirs"] |= {f"{name}-0": broker["dirs"]["t-0"] for name in ("orders-eu", "gone")}
    zk = zookeeper_of(shown)
    for name in shown["delete_topics"]:
        zk.put(f"/admin/delete_topics/{name}")
    options = evolve(NO_CACHES, topics=("orders-*",), logs=places(log_folders(shown, tmp_path)))
    found = collect(zk, options).document
    assert (sorted(found["topics"]), found["delete_topics"]) == (["orders-eu", "orders-us"], ["orders-eu"])
    assert list(found["brokers"]["1"]["dirs"]) == ["orders-eu-0"]
    assert not [path for path in zk.asked if path.startswith("/brokers/topics/t")]


def test_requests_of_clients_in_zookeeper_are_collected_by_topic(shown, tmp_path):
    zk, options = zookeeper_of(shown), evolve(NO_CACHES, topics=("t",), logs=places(log_folders(shown, tmp_path)))
    assert collect(zk, options).document["reassign_partitions"] is None
    entries = [{"topic": "t", "partition": 1}, {"topic": "t", "partition": 0}, {"topic": "u", "partition": 0}, 7]
    zk.put("/admin/preferred_replica_election", {"version": 1, "partitions": entries})
    moves = [{"topic": "t", "partition": 0, "replicas": [1, 2]}, {"topic": "t", "partition": -1, "replicas": []}]
    zk.put("/admin/reassign_partitions", {"version": 1, "partitions": moves})
    found = collect(zk, options)
    assert found.document["preferred_replica_election"] == {"t": [1, 0]}
    assert collected(found).elections == {("t", 0), ("t", 1)}
    assert collected(found).reassignments == {("t", 0)}


def test_a_topic_that_does_not_exist_is_named(shown):
    assert collect(zookeeper_of(shown), evolve(NO_CACHES, topics=("t", "u"))).problems == ["No topic is named u."]


def test_brokers_that_only_assignments_name_are_in_the_snapshot_and_down(shown):
    zk = zookeeper_of(shown)
    zk.delete("/brokers/ids/3")
    brokers = collect(zk, NO_CACHES).document["brokers"]
    assert {number: broker["alive"] for number, broker in brokers.items()} == {"1": True, "2": True, "3": False}


# Logs and log directories.


ANSWER = Metadata((1, 2, 3), 1, {})


def test_a_log_has_what_shows_which_log_it_is(shown, tmp_path):
    folders = log_folders(shown, tmp_path)
    log = folders[1] / "t-0"
    for path in log.glob("*.log"):
        path.unlink()
    (log / f"{1200:020}.log").write_bytes(batch(1200, epoch=5))
    (log / f"{700:020}.log").write_bytes(batch(703, epoch=4, timestamp=-1, crc=2**32 - 1))
    (log / f"{700:020}.index").write_text(SECRET)
    (log / f"{0:020}.log.deleted").write_bytes(batch())
    (folders[1] / "log-start-offset-checkpoint").write_text("0\n1\nt 0 750\n")
    (folders[1] / "recovery-point-offset-checkpoint").write_text("0\n2\nt 0 1201\nt 1 7\n")
    (folders[1] / "replication-offset-checkpoint").write_text("0\n2\nt 1 6\nt 0 1202\n")
    (folders[1] / "cleaner-offset-checkpoint").write_text("0\n1\nt 1 40\n")
    found = collect(zookeeper_of(shown), evolve(NO_CACHES, logs=places(folders)))
    assert found.problems == []
    assert SECRET not in found.text
    written = found.document["brokers"]["1"]["dirs"]["t-0"]
    size = len(batch())
    assert written["files"] == {f"{700:020}.log": size, f"{1200:020}.log": size}
    capture = collected(found)
    read = capture.directory(1, "t", 0)
    assert evolve(read, topic_id=None, leader_epochs=None) == Directory(
        root=str(folders[1]),
        segments={700: size, 1200: size},
        first_batch=BatchHeader(703, 4, -1, 2**32 - 1),
        log_start=750,
        recovery_point=1201,
        high_watermark=1202,
        cleaned=0,
    )
    assert [capture.directory(b, "t", 1).cleaned for b in (1, 2)] == [40, None]
    assert capture.directory(1, "t", 1).high_watermark == 6
    assert capture.directory(2, "t", 0).high_watermark is None
    assert capture.brokers[1].roots == (LogRoot(str(folders[1]), 1, CLUSTER),)
    assert (capture.cluster_id, capture.is_kraft) == (CLUSTER, None)


def test_a_controller_of_3_4_says_that_it_is_none_of_kraft(shown):
    zk = zookeeper_of(shown)
    zk.put("/controller", {"version": 2, "brokerid": 1, "kraftControllerEpoch": -1})
    found = collect(zk, NO_CACHES)
    assert found.document["kraft_controller_epoch"] == -1
    assert collected(found).is_kraft is False


def test_brokers_say_which_log_directories_they_have_and_which_are_offline(shown, monkeypatch, log_dirs):
    monkeypatch.setattr(module, "metadata", lambda port, *, host, with_ids, seconds: ANSWER)
    log_dirs |= {"broker-1": {"/b/": STORAGE_ERROR, "/a": 0}, "broker-2": {"/a": -1}, "broker-3": {}}
    found = collect(zookeeper_of(shown), CollectOptions("2.8.2"))
    assert found.problems == [
        "Broker 1 says that its log directory /b/ is offline.",
        "Broker 2 cannot describe its log directory /a (error -1).",
        "Broker 3 names no log directory in its answer to a DescribeLogDirs request: the client may lack the "
        "permission DESCRIBE for the cluster.",
    ]
    roots = {number: broker.roots for number, broker in collected(found).brokers.items()}
    assert roots == {1: (LogRoot("/a"), LogRoot("/b", is_offline=True)), 2: (LogRoot("/a"),), 3: ()}
    assert found.document["brokers"]["2"]["log_dirs"][0]["offline"] is None


def test_a_broker_that_does_not_describe_its_log_directories_is_a_problem_and_no_failure(shown, monkeypatch):
    def refuse(port, *, host, seconds):
        raise ConnectionError("closed")

    monkeypatch.setattr(module, "metadata", lambda port, *, host, with_ids, seconds: ANSWER)
    monkeypatch.setattr(module, "describe_log_dirs", refuse)
    found = collect(zookeeper_of(shown), CollectOptions("2.8.2"))
    assert found.problems[0] == "Broker 1 did not answer a DescribeLogDirs request at broker-1:9092: closed."
    assert collected(found).brokers[1].cache is not None
    assert found.document["brokers"]["1"]["log_dirs"] is None


def listing(folder, lines):
    path = folder / "listing"
    path.write_text("\n".join(["kwalk log directories 2", *lines, "end", ""]))
    return LogPlace(str(path), 1)


def test_a_root_that_cannot_be_entered_is_kept_if_its_broker_says_that_it_is_offline(
    shown, monkeypatch, log_dirs, tmp_path
):
    place = listing(tmp_path, ["root /a", "file ./meta.properties", "|broker.id=1", "root /b", "missing"])
    monkeypatch.setattr(module, "metadata", lambda port, *, host, with_ids, seconds: ANSWER)
    log_dirs["broker-1"] = {"/a": 0, "/b": STORAGE_ERROR}
    found = collect(zookeeper_of(shown), CollectOptions("2.8.2", logs=(place,)))
    assert "Broker 1 says that its log directory /b is offline." in found.problems
    assert collected(found).brokers[1].roots == (LogRoot("/a", 1), LogRoot("/b", is_offline=True))
    log_dirs["broker-1"] = {"/a": 0, "/b": 0}
    with pytest.raises(UsageError, match=r"listing: there is no folder /b, or it cannot be entered\.$"):
        collect(zookeeper_of(shown), CollectOptions("2.8.2", logs=(place,)))


def test_a_root_that_cannot_be_entered_and_is_of_no_broker_is_refused(shown, tmp_path):
    place = evolve(listing(tmp_path, ["root /b", "missing"]), broker=None)
    with pytest.raises(UsageError, match="there is no folder /b, or it cannot be entered"):
        collect(zookeeper_of(shown), evolve(NO_CACHES, logs=(place,)))


def test_a_log_that_is_in_two_roots_has_the_offsets_of_the_root_that_is_named(shown, tmp_path):
    lines = [
        f"root {path}\ndirectory ./t-0\nfile ./replication-offset-checkpoint\n|0\n|1\n|t 0 {offset}"
        for path, offset in (("/a", 5), ("/b", 6))
    ]
    found = collect(zookeeper_of(shown), evolve(NO_CACHES, logs=(listing(tmp_path, lines),)))
    assert "Broker 1 has t-0 in two log directories; one of each is left out." in found.problems
    log = collected(found).directory(1, "t", 0)
    assert (log.root, log.high_watermark) == ("/a", 5)


# One moment.


def test_what_changes_while_brokers_are_looked_at_is_read_again(shown):
    zk = zookeeper_of(shown)
    expanded = json.loads(json.dumps(shown["topics"]["t"]))
    expanded["znode"]["partitions"]["2"] = [1, 2, 3]
    expanded["partition_state"]["2"] = {"leader": 1, "leader_epoch": 0, "isr": [1, 2, 3], "controller_epoch": 1}

    def change(path):
        if path == "/cluster/id" and "/brokers/ids/2" in zk.znodes:
            put_topic(zk, "t", expanded)
            zk.delete("/brokers/ids/2")

    zk.before = change
    found = collect(zk, NO_CACHES)
    assert found.problems == []
    assert found.document["unsettled"] == []
    assert sorted(found.document["topics"]["t"]["partition_state"]) == ["0", "1", "2"]
    assert found.document["broker_ids"] == [1, 3]


def test_a_topic_that_is_deleted_meanwhile_is_not_in_the_snapshot(shown):
    zk = zookeeper_of(shown)

    def change(path):
        if path == "/cluster/id" and "/brokers/topics/t" in zk.znodes:
            zk.delete("/brokers/topics/t")

    zk.before = change
    assert collect(zk, NO_CACHES).document["topics"] == {}


def test_a_topic_that_changes_all_the_time_is_named(shown):
    zk = zookeeper_of(shown)
    state = "/brokers/topics/t/partitions/0/state"
    zk.before = lambda path: path == state and zk.put(state, json.loads(zk.znodes[state].content))
    found = collect(zk, NO_CACHES)
    assert found.document["unsettled"] == ["t"]
    message = "Topics that changed while the snapshot was taken, so that it may mix two moments: t."
    assert found.problems == [message]
    notes = inspect_capture(collected(found)).notes
    assert "Changed while the snapshot was taken, so that it may mix two moments: t." in notes


# What cannot be read.


def test_znodes_that_may_not_be_read_are_named_and_their_directories_are_no_orphans(shown, tmp_path):
    zk = zookeeper_of(shown)
    put_topic(zk, "closed", shown["topics"]["t"])
    for broker in shown["brokers"].values():
        broker["dirs"]["closed-0"] = broker["dirs"]["t-0"]
    zk.refused |= {"/brokers/topics/closed", "/brokers/topics/t/partitions/1/state"}
    found = collect(zk, evolve(NO_CACHES, logs=places(log_folders(shown, tmp_path))))
    refusal = "ZooKeeper refused with NOAUTH to read /brokers/topics/closed, /brokers/topics/t/partitions/1/state."
    assert found.problems == [f"{refusal} Topics of which a znode could not be read are left out."]
    assert found.document["topics"] == found.document["brokers"]["1"]["dirs"] == {}
    assert inspect_capture(collected(found)).observations == ()


@pytest.mark.parametrize("path", ["/brokers/topics", "/brokers/ids", "/controller"])
def test_without_permission_for_what_all_else_depends_on_there_is_no_snapshot(shown, path):
    zk = zookeeper_of(shown)
    zk.refused.add(path)
    with pytest.raises(UsageError, match=rf"ZooKeeper refuses to read {path} \(NOAUTH\).*--sasl or --digest"):
        collect(zk, NO_CACHES)


def test_a_log_directory_that_was_forgotten_is_asked_for(shown, tmp_path):
    folders = log_folders(shown, tmp_path)
    (folders[1] / "t-1").rename(tmp_path / "t-1")
    found = collect(zookeeper_of(shown), evolve(NO_CACHES, logs=places(folders)))
    (problem,) = found.problems
    assert problem.startswith("Broker 1 is in the ISR of t-1; no such directory was found. If")


@pytest.mark.parametrize(
    ("path", "content", "problem"),
    [
        ("/brokers/topics/t", b"{", f"No JSON object is in /brokers/topics/t. {LEFT_OUT}"),
        (
            "/brokers/topics/t",
            b'{"partitions": [1]}',
            "No assignment of replicas is in /brokers/topics/t: the topic is left out.",
        ),
        (
            "/brokers/topics/t/partitions/1/state",
            b'{"leader": 1}',
            "The states of the partitions 1 of t lack a field: it is left out.",
        ),
        (
            "/brokers/topics/t/partitions/1/state",
            b"[]",
            f"No JSON object is in /brokers/topics/t/partitions/1/state. {LEFT_OUT}",
        ),
    ],
)
def test_a_garbled_znode_is_named_and_left_out(shown, path, content, problem):
    zk = zookeeper_of(shown)
    zk.put(path, content)
    found = collect(zk, NO_CACHES)
    assert found.problems == [problem]
    assert inspect_capture(collected(found)).observations == ()


def test_a_garbled_file_is_named_and_left_out(shown, tmp_path):
    folders = log_folders(shown, tmp_path)
    (folders[2] / "t-0" / "partition.metadata").write_text("version: 0\ntopic")
    (folders[2] / "t-1" / "leader-epoch-checkpoint").write_text("0\n7\n")
    (folders[2] / "replication-offset-checkpoint").write_text("0\n1\nt 0 5\nt 1 6\n")
    (folders[2] / "recovery-point-offset-checkpoint").write_text("0\n2\nt 0 5\nt 1 6\n")
    (folders[3] / "t-0" / f"{0:020}.log").write_bytes(batch(-1))
    found = collect(zookeeper_of(shown), evolve(NO_CACHES, logs=places(folders)))
    assert found.problems == [
        f"Broker 2: replication-offset-checkpoint in {folders[2]} is truncated or garbled.",
        "Broker 2: partition.metadata of t-0 is truncated or garbled.",
        "Broker 2: leader-epoch-checkpoint of t-1 is truncated or garbled.",
        "Broker 3: the first batch of t-0 is truncated or garbled.",
    ]
    capture = collected(found)
    assert (capture.directory(2, "t", 0).high_watermark, capture.directory(2, "t", 0).recovery_point) == (None, 5)
    assert capture.directory(3, "t", 0).first_batch is None
    garbled = {number: [root.garbled for root in capture.brokers[number].roots] for number in (2, 3)}
    assert garbled == {2: [("replication-offset-checkpoint", "t-1/leader-epoch-checkpoint")], 3: [()]}


def test_a_snapshot_that_inspection_would_refuse_is_written_and_says_so(shown):
    zk = zookeeper_of(shown)
    put_topic(zk, "twin", {**shown["topics"]["t"], "znode": {**shown["topics"]["t"]["znode"], "topic_id": "abc"}})
    found = collect(zk, NO_CACHES)
    assert "is no topic id" in found.problems[-1]
    assert sorted(found.document["topics"]) == ["t", "twin"]


def test_without_log_directories_nothing_is_taken_for_broken(shown):
    found = inspect_capture(collected(collect(zookeeper_of(shown), NO_CACHES)))
    assert found.condition is Condition.NOT_JUDGED and not found.is_damaged
    note = "No log directories of brokers 1, 2 and 3 are in the snapshot: they are taken to agree with ZooKeeper."
    assert note in found.notes


def test_a_migrating_cluster_has_its_image_and_its_modes(shown, tmp_path):
    zk = zookeeper_of(shown)
    zk.put("/controller", {"version": 2, "brokerid": 3000, "kraftControllerEpoch": 1})
    zk.put("/migration", {"version": 0, **MIGRATED})
    folders = log_folders(shown, tmp_path)
    log = folders[1] / "__cluster_metadata-0"
    log.mkdir()
    (log / "00000000000000000000.log").write_bytes(METADATA_LOG.read_bytes())
    stray = folders[1] / f"t-0.{'0' * 32}-stray"
    stray.mkdir()
    (stray / "partition.metadata").write_text("version: 0\ntopic_id: hbcto079Q-K_O7AoNlw-Ig")
    (folders[2] / "meta.properties").write_text("version=1\nnode.id=2\n")
    found = collected(collect(zk, evolve(NO_CACHES, logs=places(folders))))
    assert (found.is_kraft, found.migration) == (True, MigrationNode(120, 4))
    assert found.image.state == "MIGRATION" and sorted(found.image.topics) == ["healthy", "t0"]
    assert [found.brokers[b].mode for b in (1, 2, 3)] == ["kraft", "kraft", "zookeeper"]
    assert found.brokers[1].set_aside[stray.name].topic_id == "hbcto079Q-K_O7AoNlw-Ig"
    assert "__cluster_metadata-0" not in found.brokers[1].directories


def test_a_controllers_folder_is_read_for_its_metadata_log_only(shown, tmp_path):
    zk = zookeeper_of(shown)
    zk.put("/controller", {"version": 2, "brokerid": 3000, "kraftControllerEpoch": 1})
    folder = tmp_path / "controller"
    (folder / "__cluster_metadata-0").mkdir(parents=True)
    (folder / "__cluster_metadata-0" / "00000000000000000000.log").write_bytes(METADATA_LOG.read_bytes())
    for properties in (None, "version=1\nnode.id=3000\n"):
        if properties:
            (folder / "meta.properties").write_text(properties)
        found = collect(zk, evolve(NO_CACHES, logs=(LogPlace(str(folder)),)))
        assert found.document["image"]["end_offset"] == 146
        assert found.document["brokers"]["3000"]["dirs"] is None
    (folder / "__cluster_metadata-0" / "00000000000000000000.log").write_bytes(b"\0" * 100)
    (problem,) = collect(zk, evolve(NO_CACHES, logs=(LogPlace(str(folder)),))).problems[:1]
    assert problem.startswith(f"The metadata log in {folder} cannot be read: no batch of format 2 at byte 0.")


def test_a_migrating_cluster_without_a_metadata_log_says_how_to_get_one(shown):
    zk = zookeeper_of(shown)
    zk.put("/migration", {"version": 0, **MIGRATED})
    (problem,) = collect(zk, NO_CACHES).problems
    assert problem.startswith("The cluster migrates to KRaft, and no metadata log was read: copy __cluster_metadata-0")


# Where brokers and log directories are.


@pytest.mark.parametrize(
    ("registration", "endpoint"),
    [
        (
            {
                "endpoints": ["SSL://a:1", "INSIDE://b:2"],
                "listener_security_protocol_map": {"SSL": "SSL", "INSIDE": "PLAINTEXT"},
            },
            ("b", 2),
        ),
        ({"endpoints": ["PLAINTEXT://[::1]:9092"]}, ("::1", 9092)),
        ({"endpoints": ["SASL_SSL://a:1"]}, None),
        ({"endpoints": ["PLAINTEXT://a:nine"]}, None),
        ({}, None),
    ],
)
def test_a_broker_is_asked_at_a_listener_without_encryption(registration, endpoint):
    assert plaintext_endpoint(registration) == endpoint


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("/data/logs", LogPlace("/data/logs")),
        ("12=/data/a=b", LogPlace("/data/a=b", 12)),
        ("3=ssh://admin@host:22/data", LogPlace("/data", 3, "admin@host:22")),
        ("ssh://{host}/data", LogPlace("/data", None, "{host}")),
    ],
)
def test_a_place_of_log_directories_names_a_broker_and_a_path_or_a_host(text, place):
    assert log_place(text) == place


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ssh://host/data", "names no broker. Allowed: ID=ssh://host/data for one, or ssh://{host}/data for every"),
        ("1=ssh://host", "names no folder"),
        ("1=ssh://-oProxyCommand=x/data", "is no host for ssh"),
        ("1=ssh://a b/data", "is no host for ssh"),
    ],
)
def test_a_place_that_is_none_is_refused(text, message):
    with pytest.raises(UsageError) as error:
        log_place(text)
    assert message in str(error.value)


def test_a_log_that_is_gone_as_its_topic_is_being_deleted_is_not_asked_for(shown, tmp_path):
    folders = log_folders(shown, tmp_path)
    (folders[1] / "t-1").rename(tmp_path / "t-1")
    zk = zookeeper_of(shown)
    zk.put("/admin/delete_topics/t")
    assert collect(zk, evolve(NO_CACHES, logs=places(folders))).problems == []


def test_no_replica_is_asked_for_by_an_assignment_that_cannot_be_read(shown):
    """One of numbers that are none, or beyond what a request has room for."""
    zookeeper = zookeeper_of(shown)
    zookeeper.put("/brokers/topics/odd", {"partitions": {"0": [[1], "2"], "99999999999": [1], "1": [3]}})
    zookeeper.put("/brokers/topics/odd/partitions/1/state", {"leader": 3, "isr": [3], "leader_epoch": 1 << 40})
    znodes = Znodes(zookeeper, Topics(("odd",)))
    znodes.read()
    assert znodes.assigned() == {}
