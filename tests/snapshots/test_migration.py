"""What an inspection says of a migration to KRaft: of clusters that the lab damaged, and of each release."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.invariants.reading.migration_search import read_migration
from kwalk.model.kafka.migration.versions import MIGRATING
from kwalk.model.language import UsageError
from kwalk.model.language.inspection import Consequence, Prognosis, Prospect
from kwalk.reports.command_line import main

DAMAGED, BEFORE = (Path(__file__).parent / name for name in ("damaged", "before_migration"))
LOSES, STUCK, WAITS, UNKNOWN, READY = Prognosis


def prospect_of(source: Path | Mapping[str, Any]) -> Prospect:
    document = json.loads(source.read_text()) if isinstance(source, Path) else source
    (found,) = inspect_snapshot(json.dumps({"migration": None, **document}).encode()).prospects
    return found


def consequence(prospect: Prospect, name: str) -> Consequence:
    (found,) = (one for one in prospect.consequences if one.name == name)
    return found


def snapshot(name: str, **changes: Any) -> dict[str, Any]:
    return {**json.loads((DAMAGED / f"{name}.json").read_text()), **changes}


def healthy() -> dict[str, Any]:
    """A cluster whose topic has the id of its logs, all brokers up."""
    found = snapshot("stray-log-3.9.0", migration=None)
    del found["brokers"]["2"]["dirs"]["t0-0"]
    return found


@pytest.mark.parametrize(
    ("name", "prognosis", "names"),
    [
        ("before-failover-3.9.0", LOSES, {"topic-is-emptied"}),
        ("after-failover-3.9.0", LOSES, {"topic-is-emptied"}),
        ("before-failover-2.8.2", LOSES, {"topic-is-emptied", "release-cannot-migrate"}),
        ("stale-log-3.9.0", LOSES, {"replica-starts-empty"}),
        ("mixed-ids-of-a-partition-3.4.1", LOSES, {"topic-is-emptied"}),
        ("stray-log-3.9.0", LOSES, {"left-over-log-goes"}),
        ("deleted-by-hand-3.9.0", LOSES, {"left-over-log-goes"}),
        ("another-broker-id-rf-1-3.9.0", LOSES, {"left-over-log-goes", "broker-is-waited-for", "not-judged"}),
        ("waiting-deletion-3.9.0", LOSES, {"deletion-is-left", "not-judged"}),
        ("waiting-deletion-3.4.1", LOSES, {"deletion-is-forgotten", "broker-is-waited-for", "not-judged"}),
        ("stopped-isr-3.9.0", WAITS, {"broker-is-waited-for", "not-judged"}),
        (
            "reassignment-to-a-lost-broker-3.9.0",
            WAITS,
            {"broker-is-waited-for", "reassignment-is-copied", "not-judged"},
        ),
        ("diverged-3.9.0", UNKNOWN, {"not-judged"}),
        ("empty-isr-3.4.1", UNKNOWN, {"not-judged"}),
        ("without-metadata-file-3.9.0", READY, {"settings-are-not-shown"}),
    ],
)
def test_what_a_migration_does_to_a_damaged_cluster(name: str, prognosis: Prognosis, names: set[str]) -> None:
    found = prospect_of(DAMAGED / f"{name}.json")
    assert (found.prognosis, {one.name for one in found.consequences}) == (prognosis, names)


def test_an_erased_id_is_minted_in_the_roll_and_the_topic_loses_its_records() -> None:
    found = consequence(prospect_of(DAMAGED / "before-failover-3.9.0.json"), "topic-is-emptied")
    assert found.title == "a topic loses its records: t0"
    assert found.places[0] == (
        "t0-0: KRaft copies a new id; the logs of brokers 1, 2 and 3 have the id DHReRs7LSMKFKuXGVU6qlQ, and are set "
        "aside in dual write"
    )
    assert "The znode of t0 has no id: the roll restarts the controller's broker" in found.text


@pytest.mark.parametrize("release", MIGRATING)
def test_a_topic_without_id_is_waited_for_when_all_brokers_have_restarted(release: str) -> None:
    waiting = json.loads((BEFORE / "erased-id-while-waiting-3.6.2.json").read_text())
    found = prospect_of({**waiting, "version": release})
    (one,) = found.consequences
    assert one.name == "topic-id-is-missing" and one.places == ("the znode of t0 has no topic id",)
    assert found.prognosis is (STUCK if release.startswith("3.4") else WAITS)


@pytest.mark.parametrize("mode", ["zookeeper", None])
def test_a_broker_that_is_to_restart_lets_a_topic_without_id_get_another_one(mode: str | None) -> None:
    waiting = json.loads((BEFORE / "erased-id-while-waiting-3.6.2.json").read_text())
    waiting["brokers"]["1"]["mode"] = mode
    found = prospect_of(waiting)
    assert found.prognosis is LOSES and consequence(found, "topic-is-emptied")


@pytest.mark.parametrize("release", MIGRATING)
def test_what_becomes_of_logs_with_another_id_by_release(release: str) -> None:
    number = tuple(map(int, release.split(".")))
    found = consequence(prospect_of(snapshot("after-failover-3.9.0", version=release)), "topic-is-emptied")
    is_aside = number >= (3, 6, 2)
    assert ("set aside in dual write" in found.places[0]) == is_aside
    assert ("deleted when they start in KRaft mode" in found.places[0]) != is_aside


@pytest.mark.parametrize(
    ("release", "names"),
    [
        ("3.6.1", {"left-over-log-goes"}),
        ("3.6.2", {"full-request-fails"}),
        ("3.7.0", {"left-over-log-goes", "full-request-fails", "kraft-start-fails"}),
        ("3.7.1", {"left-over-log-goes", "full-request-fails"}),
        ("3.9.2", {"left-over-log-goes", "full-request-fails"}),
    ],
)
def test_a_left_over_log_without_topic_id_by_release(release: str, names: set[str]) -> None:
    cluster = {**healthy(), "version": release}
    log = dict(next(iter(cluster["brokers"]["1"]["dirs"].values())), partition_metadata=None)
    cluster["brokers"]["2"]["dirs"]["gone-0"] = log
    assert {one.name for one in prospect_of(cluster).consequences} == names


def test_up_to_3_6_an_exception_keeps_strays_when_a_log_has_no_topic_id() -> None:
    cluster = {**healthy(), "version": "3.5.2"}
    log = next(iter(cluster["brokers"]["1"]["dirs"].values()))
    cluster["brokers"]["2"]["dirs"]["gone-0"] = dict(log, partition_metadata=None)
    found = prospect_of(cluster)
    assert [one.name for one in found.consequences] == ["not-judged"]
    assert "(orphaned-log)" in consequence(found, "not-judged").places[0]


def test_a_log_without_topic_id_gets_one_in_the_roll_if_its_broker_is_a_replica() -> None:
    cluster = healthy()
    for broker in cluster["brokers"].values():
        for log in broker["dirs"].values():
            log["partition_metadata"] = None
    names = [one.name for one in prospect_of(cluster).consequences]
    assert "not-judged" in names  # the topic's znode was written twice: brokers may hold another id in memory
    cluster["topics"]["t0"]["version"] = 1
    assert prospect_of(cluster).prognosis is READY


def test_topics_that_never_had_an_id_get_one_in_the_roll() -> None:
    cluster = healthy()
    cluster["topics"]["t0"]["znode"]["topic_id"] = None
    for broker in cluster["brokers"].values():
        broker["metadata_cache"] = None
        for log in broker["dirs"].values():
            log["partition_metadata"] = None
    assert not {one.name for one in prospect_of(cluster).consequences} - {"not-judged", "protocol-is-too-old"}


def test_brokers_whose_protocol_mints_no_ids_do_not_start_to_migrate() -> None:
    """A controller of 2.8 or later gives every topic an id, unless its inter-broker protocol is older."""
    cluster = healthy()
    del cluster["topics"]["t0"]["znode"]["topic_id"]
    for broker in cluster["brokers"].values():
        broker["metadata_cache"] = None
        for log in broker["dirs"].values():
            log["partition_metadata"] = None
    found = prospect_of(cluster)
    assert (found.prognosis, [one.name for one in found.consequences]) == (WAITS, ["protocol-is-too-old"])
    cluster["brokers"]["1"]["dirs"]["t0-0"]["partition_metadata"] = "version: 0\ntopic_id: Yo-ugbuTTvCSC_ZyqKVEaw"
    assert "protocol-is-too-old" not in {one.name for one in prospect_of(cluster).consequences}


def test_brokers_that_answer_no_id_show_that_the_protocol_is_too_old_now() -> None:
    """It was 2.8 or later before: znodes and logs have ids. An id that the znode has lost is written first."""
    cluster = healthy()
    cluster["topics"]["u"] = json.loads(json.dumps(cluster["topics"]["t0"]))
    cluster["topics"]["u"]["znode"]["topic_id"] = None
    for broker in cluster["brokers"].values():
        if "t0-0" in broker["dirs"]:
            broker["dirs"]["u-0"] = broker["dirs"]["t0-0"]
        broker["metadata_cache"] = {
            "brokers": [1, 2, 3],
            "controller": cluster["controller"],
            "topics": {name: {"topic_id": "A" * 22, "partitions": {}} for name in ("t0", "u")},
        }
    found = consequence(prospect_of(cluster), "protocol-is-too-old")
    assert found.prognosis is WAITS and found.way_out.startswith("first write the topic id of u")
    cluster["brokers"]["1"]["metadata_cache"]["topics"]["u"]["topic_id"] = "Yo-ugbuTTvCSC_ZyqKVEaw"
    assert "protocol-is-too-old" not in {one.name for one in prospect_of(cluster).consequences}


@pytest.mark.parametrize(
    ("release", "least", "authorizer"), [("3.4.1", "3.4", True), ("3.5.1", "3.4", False), ("3.9.0", "3.6", False)]
)
def test_ready_says_which_settings_to_look_at(release: str, least: str, authorizer: bool) -> None:
    cluster = {**healthy(), "version": release}
    found = prospect_of(cluster)
    places = consequence(found, "settings-are-not-shown").places
    assert found.prognosis is READY and f"at least {least} on every broker" in places[0]
    assert any("authorizer.class.name" in place for place in places) is authorizer
    assert not any("broker.id is set" in place for place in places)
    cluster["brokers"]["1001"] = cluster["brokers"].pop("2")
    text = json.dumps(cluster).replace("[1, 2, 3]", "[1, 1001, 3]")
    assert (
        "broker.id is set on broker 1001"
        in consequence(prospect_of(json.loads(text)), found.consequences[0].name).places[-1]
    )


@pytest.mark.parametrize(
    ("release", "issues"),
    [
        ("3.4.1", "15010 15003 16120 15799 14801 14840 16222 15552 15327"),
        ("3.5.1", "16120 15799 15374 16222 15552 15327"),
        ("3.5.2", "16120 15799 16222 15327"),
        ("3.6.0", "16120 15799 16222 15552 15327"),
        ("3.6.1", "16120 16222 15327"),
        ("3.6.2", ""),
        ("3.7.0", "16222"),
        ("3.7.1", ""),
    ],
)
def test_ready_says_what_migrations_of_the_release_do_wrong(release: str, issues: str) -> None:
    found = prospect_of({**healthy(), "version": release})
    places = [one.places for one in found.consequences if one.name == "release-has-known-faults"]
    assert found.prognosis is READY and bool(places) == bool(issues)
    assert [
        place.rpartition("(")[2].removeprefix("KAFKA-").removeprefix("#").rstrip(")") for one in places for place in one
    ] == issues.split()


def named_by_its_broker_only(cluster: dict[str, Any]) -> None:
    read = {"path": "/a", "broker_id": 2, "cluster_id": "c", "offline": False}
    cluster["brokers"]["2"]["log_dirs"] = [
        read,
        {"path": "/b", "broker_id": None, "cluster_id": None, "offline": False},
    ]


def offline(cluster: dict[str, Any]) -> None:
    named_by_its_broker_only(cluster)
    cluster["brokers"]["2"]["log_dirs"][1]["offline"] = True


def of_some_topics(cluster: dict[str, Any]) -> None:
    cluster["taken"]["topics"] = ["t*"]


def with_a_topic_that_could_not_be_read(cluster: dict[str, Any]) -> None:
    cluster["problems"] = ["The states of the partitions 0 of u lack a field: it is left out."]


def without_migration(cluster: dict[str, Any]) -> None:
    del cluster["migration"]


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (named_by_its_broker_only, "What is in /b of broker 2 was not read."),
        (offline, "What is in /b of broker 2 was not read."),
        (of_some_topics, "The snapshot has only the topics t*."),
        (with_a_topic_that_could_not_be_read, "The states of the partitions 0 of u lack a field: it is left out."),
        (without_migration, "The snapshot does not show /migration, which an earlier attempt may have left."),
    ],
)
def test_what_a_snapshot_does_not_show_may_be_lost(change: Callable[[dict[str, Any]], None], place: str) -> None:
    """A log in a directory that was not read may have another id; a topic that is not shown, too."""
    cluster = healthy()
    assert prospect_of(cluster).prognosis is READY
    change(cluster)
    (found,) = inspect_snapshot(json.dumps(cluster).encode()).prospects
    assert found.prognosis is UNKNOWN and consequence(found, "not-judged").places[0].endswith(place)


def test_it_is_not_ready_if_log_directories_are_not_seen() -> None:
    cluster = healthy()
    assert prospect_of(cluster).prognosis is READY
    cluster["brokers"]["2"] |= {"dirs": None, "log_dirs": None}
    found = prospect_of(cluster)
    assert found.prognosis is UNKNOWN
    (place,) = consequence(found, "not-judged").places
    assert place.startswith("No log directories of broker 2 are in the snapshot")


def test_an_empty_log_is_no_loss() -> None:
    cluster = snapshot("stray-log-3.9.0")
    assert prospect_of(cluster).prognosis is LOSES
    cluster["brokers"]["2"]["dirs"]["t0-0"]["files"] = {"00000000000000000000.log": 0}
    assert "left-over-log-goes" not in {one.name for one in prospect_of(cluster).consequences}


def test_a_broker_is_waited_for_and_recover_is_named_if_its_start_may_lose_records() -> None:
    found = consequence(prospect_of(DAMAGED / "wiped-leader-3.9.0.json"), "broker-is-waited-for")
    assert found.way_out.startswith("follow `kwalk diagnose --plan`")
    assert found.commands == ("kwalk diagnose SNAPSHOT --plan",)


@pytest.mark.parametrize(("release", "prognosis"), [("3.5.1", UNKNOWN), ("3.5.2", WAITS), ("3.7.0", READY)])
def test_several_log_directories_by_release(release: str, prognosis: Prognosis) -> None:
    cluster = {**healthy(), "version": release}
    cluster["brokers"]["1"]["log_dirs"] = [{"path": path, "broker_id": 1} for path in ("/a", "/b")]
    assert consequence(prospect_of(cluster), "several-log-directories").prognosis is prognosis


def test_a_reassignment_under_way_is_copied() -> None:
    cluster = healthy()
    cluster["topics"]["t0"]["znode"]["adding_replicas"] = {"0": [3]}
    cluster["topics"]["t0"]["partition_state"]["0"]["isr"].remove(3)
    found = prospect_of(cluster)
    assert (found.prognosis, consequence(found, "reassignment-is-copied").prognosis) == (READY, READY)


@pytest.mark.parametrize(
    ("path", "prognosis"), [("reassign_partitions", UNKNOWN), ("preferred_replica_election", READY)]
)
def test_what_clients_have_requested_in_zookeeper_is_not_copied(path: str, prognosis: Prognosis) -> None:
    """The roll handles it first; to which brokers it moves replicas is not in a snapshot."""
    found = prospect_of({**healthy(), path: {"t0": [0]}})
    assert consequence(found, "requests-are-not-copied").places == (f"/admin/{path} names t0-0",)
    assert found.prognosis is prognosis
    moving = {**healthy(), "reassign_partitions": {"t0": [0]}}
    moving["topics"]["t0"]["znode"]["adding_replicas"] = {"0": [3]}
    assert consequence(prospect_of(moving), "requests-are-not-copied").prognosis is READY


def test_a_roll_leaves_no_controller_where_no_failover_succeeds() -> None:
    cluster = {**healthy(), "preferred_replica_election": {"t0": [0]}}
    cluster["topics"]["t0"]["partition_state"] = {}
    for number in (1, 3):
        cluster["brokers"][str(number)]["alive"] = False
        cluster["broker_ids"].remove(number)
    cluster["controller"] = 2
    assert consequence(prospect_of(cluster), "failover-fails").prognosis is STUCK


def test_a_topic_without_partitions_and_id_is_waited_for() -> None:
    waiting = json.loads((BEFORE / "erased-id-while-waiting-3.9.0.json").read_text())
    topic = waiting["topics"]["t0"]
    waiting["topics"]["empty"] = {**topic, "znode": {**topic["znode"], "partitions": {}}, "partition_state": {}}
    topic["znode"]["topic_id"] = next(iter(waiting["brokers"]["1"]["dirs"].values()))["partition_metadata"].split()[-1]
    found = consequence(prospect_of(waiting), "topic-id-is-missing")
    assert found.places == ("the znode of empty has no topic id",)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("before-failover-3.9.0", 12),
        ("stopped-isr-3.9.0", 13),
        ("diverged-3.9.0", 3),
        ("without-metadata-file-3.9.0", 0),
    ],
)
def test_the_exit_code_with_migration_is_that_of_the_forecast(name: str, code: int, capsys, tmp_path) -> None:
    path = tmp_path / "now.json"
    path.write_text(json.dumps(snapshot(name, migration=None)))
    assert main(["diagnose", str(path), "--migration"]) == code
    shown = capsys.readouterr().out
    assert "If it migrated to KRaft now: " in shown and f"Reproduce: kwalk diagnose {path} --migration" in shown


def test_the_forecast_in_json_and_in_the_section_of_an_inspection(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(DAMAGED / "after-failover-3.9.0.json")
    assert main(["diagnose", path, "--json"]) == 12
    (found,) = json.loads(capsys.readouterr().out)["snapshots"]
    migration = found["prospects"]["migration"]
    assert (migration["prognosis"], migration["exit_code"]) == ("loses", 12)
    assert [one["name"] for one in migration["consequences"]] == ["topic-is-emptied", "not-judged"]
    assert main(["diagnose", path]) == 12
    shown = capsys.readouterr().out
    assert (
        "If it migrated to KRaft now: LOSES" in shown
        and "loses  a topic loses its records: t0 (topic-is-emptied)" in shown
    )


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name", ["after-failover-3.9.0", "before-failover-3.9.0", "without-metadata-file-3.9.0", "stale-log-3.9.0"]
)
def test_a_search_through_the_migration_agrees_with_the_forecast(name: str, tmp_path: Path) -> None:
    """Whether the topic loses its records; a stale log outside of the ISR is none of its own."""
    path = str(DAMAGED / f"{name}.json")
    code = main(["diagnose", path, "--forecast", "--migration", "--seconds", "300", "--out", str(tmp_path)])
    is_emptied = "topic-is-emptied" in {one.name for one in prospect_of(Path(path)).consequences}
    assert code == (12 if is_emptied else 0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kraft_controller_epoch": 4, "controller": 3000}, "migrates already"),
        ({"topics": {}}, "has no topic with partitions"),
    ],
)
def test_a_search_begins_before_the_migration_and_with_a_topic(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_migration(json.dumps({**healthy(), **changes}).encode())


OBSERVED = {
    "differing-id-3.6.2": {"t0"},
    "differing-id-3.9.0": {"t0"},
    "erased-id-3.5.2": {"t0"},
    "erased-id-3.6.2": {"t0"},
    "erased-id-3.9.0": {"t0"},
}
"""The topics that lost their records on real brokers (docs/reference/migrations.md); all others lost none."""
WAITED = {"gone-broker-3.9.0", "erased-id-while-waiting-3.6.2", "erased-id-while-waiting-3.9.0"}
UNTOUCHED = {"healthy", "healthy-quorum", "without-metadata-file", "reassignment-in-flight"}
"""What migrated as if nothing were wrong."""


@pytest.mark.parametrize("path", sorted(BEFORE.glob("*.json")), ids=lambda path: path.stem)
def test_the_forecast_is_what_real_brokers_did(path: Path) -> None:
    """`kwalk lab reproduce migration-…` took the snapshots, and then migrated the clusters."""
    found = prospect_of(path)
    emptied = {one.title.rpartition(": ")[2] for one in found.consequences if one.name == "topic-is-emptied"}
    assert emptied == OBSERVED.get(path.stem, set())
    assert (found.prognosis is WAITS) == (path.stem in WAITED)
    assert (found.prognosis is READY) == (path.stem.rpartition("-")[0] in UNTOUCHED)


def test_logs_that_are_deleted_or_set_aside_are_those_that_real_brokers_removed() -> None:
    for name, fate in {
        "erased-id-3.5.2": "deleted when they start in KRaft mode",
        "erased-id-3.9.0": "set aside",
    }.items():
        places = consequence(prospect_of(BEFORE / f"{name}.json"), "topic-is-emptied").places
        assert [place.partition(":")[0] for place in places] == ["t0-0", "t0-1"] and fate in places[0]
