"""`kwalk collect` on clusters that are not there: what it reads, what it leaves alone, what it says of the rest."""

from __future__ import annotations

import json

import pytest
from attrs import evolve

from kwalk.clusters.collect import collect as module
from kwalk.clusters.collect.collect import CollectOptions, LogPlace, collect, log_place, plaintext_endpoint
from kwalk.clusters.collect.znodes import LEFT_OUT
from kwalk.clusters.metadata import Metadata, PartitionMetadata, TopicMetadata
from kwalk.invariants.reading.inspection import inspect_capture
from kwalk.model.kafka.snapshots.capture import read_capture
from kwalk.model.language import UsageError
from tests.collect.clusters import SECRET, log_folders, put_topic, zookeeper_of
from tests.snapshots.captured import AGED, FILES, document

NO_CACHES = CollectOptions("2.8.2", ask_brokers=False)


def places(folders):
    return tuple(LogPlace(str(path), number) for number, path in folders.items())


def collected(found):
    return read_capture(found.text.encode())


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
    assert evolve(collected(found), taken=None) == read_capture(json.dumps(shown).encode())


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


# What is read.


def test_only_the_znodes_that_are_needed_are_read_and_no_secret_is_in_the_snapshot(shown, tmp_path):
    zk = zookeeper_of(shown)
    found = collect(zk, evolve(NO_CACHES, logs=places(log_folders(shown, tmp_path))))
    allowed = ("/brokers/ids", "/brokers/topics", "/admin/delete_topics", "/controller", "/cluster/id")
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


def test_a_topic_that_does_not_exist_is_named(shown):
    assert collect(zookeeper_of(shown), evolve(NO_CACHES, topics=("t", "u"))).problems == ["No topic is named u."]


def test_brokers_that_only_assignments_name_are_in_the_snapshot_and_down(shown):
    zk = zookeeper_of(shown)
    zk.delete("/brokers/ids/3")
    brokers = collect(zk, NO_CACHES).document["brokers"]
    assert {number: broker["alive"] for number, broker in brokers.items()} == {"1": True, "2": True, "3": False}


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
    assert problem.startswith("Broker 1 is in the ISR of t-1, and no directory of them was found. If it has further")


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
    found = collect(zookeeper_of(shown), evolve(NO_CACHES, logs=places(folders)))
    assert found.problems == [
        "Broker 2: partition.metadata of t-0 is truncated or garbled.",
        "Broker 2: leader-epoch-checkpoint of t-1 is truncated or garbled.",
    ]
    collected(found)


def test_a_snapshot_that_inspection_would_refuse_is_written_and_says_so(shown):
    zk = zookeeper_of(shown)
    put_topic(zk, "twin", shown["topics"]["t"])
    found = collect(zk, NO_CACHES)
    assert "has the topic_id of" in found.problems[-1]
    assert sorted(found.document["topics"]) == ["t", "twin"]


def test_without_log_directories_nothing_is_taken_for_broken(shown):
    found = inspect_capture(collected(collect(zookeeper_of(shown), NO_CACHES)))
    assert found.exit_code == 0
    note = "No log directories of brokers 1, 2 and 3 are in the snapshot: they are taken to agree with ZooKeeper."
    assert note in found.notes


def test_a_migrating_cluster_is_refused(shown):
    zk = zookeeper_of(shown)
    zk.put("/controller", {"version": 2, "brokerid": 3000, "kraftControllerEpoch": 1})
    with pytest.raises(UsageError, match="The controller of this cluster is a KRaft controller"):
        collect(zk, NO_CACHES)


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
