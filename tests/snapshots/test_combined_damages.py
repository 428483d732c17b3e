"""Two damages at once, on a healthy cluster that is edited: no way out of one may harm what the other has left."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from kwalk.clusters.handlers.recover import recovery_object
from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.invariants.reading.migration_search import read_migration
from kwalk.invariants.reading.outlook import read_snapshot, recovery_problem
from kwalk.invariants.reading.partition_groups import MOST_PARTS
from kwalk.model.language import UsageError
from kwalk.model.language.inspection import Condition
from kwalk.model.language.recovery import Problem
from kwalk.reports.document.markdown import markdown_document
from kwalk.reports.pages.recovery import blocks_of, nothing_planned
from kwalk.search.analyses import settling
from kwalk.search.analyses.recovery import Recovery, plan_recovery
from kwalk.search.base.options import StopReason

IDS = {"orders": "AAAAAAAAAAAAAAAAAAAAAQ", "payments": "AAAAAAAAAAAAAAAAAAAAAg"}
OTHER = "BBBBBBBBBBBBBBBBBBBBBQ"
EPOCHS = ((0, 0), (3, 10), (5, 40))
"""The leader epochs of all logs, with their start offsets."""


def log(identity: str | None, epochs: Sequence[tuple[int, int]] = EPOCHS, crc: int = 7) -> dict[str, Any]:
    """A log directory; logs with another CRC began apart."""
    lines = [f"{epoch} {offset}" for epoch, offset in epochs]
    return {
        "partition_metadata": None if identity is None else f"version: 0\ntopic_id: {identity}",
        "leader_epoch_checkpoint": "\n".join(["0", str(len(lines)), *lines, ""]),
        "root": "/kafka",
        "files": {f"{0:020}.log": 1000 + 100 * epochs[-1][1]},
        "first_batch": {"base_offset": 0, "leader_epoch": epochs[0][0], "timestamp": 1, "crc": crc},
        "log_start": None,
        "recovery_point": None,
        "high_watermark": epochs[-1][1],
    }


def cluster(release: str = "3.9.0", *, brokers: int = 3, ids: Mapping[str, str | None] = IDS) -> dict[str, Any]:
    """A healthy cluster with one partition of each topic on brokers 1, 2 and 3."""
    numbers = list(range(1, brokers + 1))
    topics = {}
    for name, identity in ids.items():
        state = {"leader": 1, "leader_epoch": 5, "isr": [1, 2, 3], "controller_epoch": 6, "zk_version": 9}
        znode = {"partitions": {"0": [1, 2, 3]}, "adding_replicas": {}, "removing_replicas": {}, "version": 3}
        topics[name] = {
            "znode": {**znode, **({"topic_id": identity} if identity else {})},
            "version": 2,
            "czxid": 60,
            "mzxid": 90,
            "cleanup_policy": "default",
            "settings": {"unclean.leader.election.enable": False},
            "partition_state": {"0": state},
        }
    roots = [{"path": "/kafka", "broker_id": None, "cluster_id": None, "offline": False}]
    return {
        "format": 3,
        "version": release,
        "broker_ids": numbers,
        "controller": 1,
        "controller_epoch": 6,
        "delete_topics": [],
        "topics": topics,
        "problems": [],
        "unsettled": [],
        "brokers": {
            str(number): {
                "alive": True,
                "log_dirs": roots,
                "dirs": {f"{name}-0": log(identity) for name, identity in ids.items()} if number < 4 else {},
                "metadata_cache": None,
            }
            for number in numbers
        },
    }


def stop(snapshot: dict[str, Any], number: int) -> None:
    """Take a broker out of the cluster and of its ISRs."""
    snapshot["brokers"][str(number)]["alive"] = False
    snapshot["broker_ids"].remove(number)
    for topic in snapshot["topics"].values():
        topic["partition_state"]["0"]["isr"].remove(number)


def ways_out(snapshot: dict[str, Any]) -> dict[str, str]:
    """What an inspection says to do, by the kind of damage."""
    return {kind.name: kind.way_out for kind in inspect_snapshot(json.dumps(snapshot).encode()).by_kind()}


def test_the_cluster_is_healthy_before_it_is_edited() -> None:
    assert not ways_out(cluster()) and not ways_out(cluster("2.5.1", ids=dict.fromkeys(IDS)))


def test_the_log_of_an_isr_member_that_is_no_replica_is_not_moved_away() -> None:
    found = cluster(brokers=4)
    found["brokers"]["4"]["dirs"]["orders-0"] = log(IDS["orders"])
    found["topics"]["orders"]["partition_state"]["0"].update(leader=4, isr=[4])
    assert ways_out(found)["stray-log"].startswith(
        "leave orders-0 on broker 4 as it is: the broker leads the partition"
    )


def test_no_controller_fails_over_between_two_ids_that_are_written() -> None:
    """Each topic has the other's id: after the first write both have one."""
    found = cluster()
    for name, other in zip(IDS, reversed(IDS), strict=True):
        found["topics"][name]["znode"]["topic_id"] = IDS[other]
    (way_out,) = {text for kind, text in ways_out(found).items() if kind.startswith("fetch-by-id-refused")}
    assert way_out.count("into the znode of") == 2 and way_out.count("fail the controller over") == 1


def test_a_reassignment_to_a_failed_disk_waits_for_it() -> None:
    found = cluster()
    found["topics"]["orders"]["znode"]["adding_replicas"] = {"0": [3]}
    found["topics"]["orders"]["partition_state"]["0"]["isr"] = [1, 2]
    found["brokers"]["3"]["log_dirs"] = [{"path": "/b", "broker_id": None, "cluster_id": None, "offline": True}]
    found["brokers"]["3"]["dirs"].pop("orders-0")
    assert "repair its disk" in ways_out(found)["reassignment-waits"]


def test_a_log_that_began_as_another_one_and_has_later_epochs_shows_an_older_state() -> None:
    """The third log ends before: it is not the log of the topic that the others have lost."""
    found = cluster()
    stop(found, 3)
    found["brokers"]["3"]["dirs"]["orders-0"] = log(IDS["orders"], EPOCHS[:1])
    found["topics"]["orders"]["partition_state"]["0"]["leader_epoch"] = 2
    ways = ways_out(found)
    assert "a leader_epoch of 15 or more, and broker 1" in ways["state-is-behind-the-logs"]
    assert "but first write the state of orders-0" in ways["broker-down"]


def test_a_log_without_id_that_began_as_the_others_has_later_records_of_the_topic() -> None:
    found = cluster("2.6.2", ids=dict.fromkeys(IDS))
    stop(found, 3)
    found["brokers"]["3"]["dirs"]["orders-0"] = log(None, (*EPOCHS, (7, 90)))
    assert "look at the logs of orders-0 on brokers 1 and 2 first" in ways_out(found)["state-is-behind-the-logs"]
    found["brokers"]["3"]["dirs"]["orders-0"] = log(None, (*EPOCHS, (7, 90)), crc=8)
    assert "down-broker-has-another-log" in ways_out(found)


def test_a_way_out_is_never_empty() -> None:
    """A partition without a state, of which one broker has a log of another topic."""
    found = cluster()
    found["topics"]["orders"]["znode"]["partitions"]["1"] = [3, 1, 2]
    found["brokers"]["3"]["dirs"]["orders-1"] = log(OTHER)
    ways = ways_out(found)
    assert all(ways.values()) and "see to the log of orders-1" in ways["partition-without-state"]


def test_a_broker_that_is_down_starts_only_without_the_earlier_logs_of_all_topics() -> None:
    """Kafka 2.8 takes the log of an earlier topic for its own: a start with one of them harms its topic."""
    snapshot = cluster("2.8.2")
    stop(snapshot, 3)
    for name in IDS:
        snapshot["brokers"]["3"]["dirs"][f"{name}-0"] = log(OTHER, ((0, 0), (7, 30)), crc=8)
    found = plan_recovery(recovery_problem(json.dumps(snapshot).encode()), seconds=60)
    assert found.plan is not None and [one.name for one in found.plan.procedures] == [
        "move-directories orders payments 3"
    ]
    assert found.plan.procedures[0].commands[0].startswith("mv orders-0 payments-0 BACKUP   # in LOG_DIR")


def test_a_plan_says_which_records_it_gives_up() -> None:
    snapshot = cluster()
    snapshot["topics"] = {"orders": snapshot["topics"]["orders"]}
    topic = snapshot["topics"]["orders"]
    topic.update(version=0, czxid=90)
    topic["znode"]["topic_id"] = OTHER
    topic["partition_state"]["0"].update(leader_epoch=0, zk_version=0)
    for broker in snapshot["brokers"].values():
        broker["dirs"]["orders-0"] = log(IDS["orders"], EPOCHS[:1])
    first = recovery_problem(json.dumps(snapshot).encode())
    (empty,) = first.alternatives
    assert first.keeps.startswith("safe: no acknowledged record is lost")
    assert empty.premise == f"{first.premise.partition(', and to keep')[0]}, and to begin topic orders with empty logs"
    assert empty.keeps.startswith("it gives up the records that topic orders has now;")


@pytest.mark.parametrize("release", ["2.8.2", "3.9.0"])
def test_logs_with_another_id_and_later_leader_epochs_are_not_kept_without_a_later_state(release):
    """The id was erased and minted, and the state is that of a backup: with the id alone it is older than the logs."""
    snapshot = cluster(release)
    snapshot["topics"]["orders"]["znode"]["topic_id"] = OTHER
    snapshot["topics"]["orders"]["partition_state"]["0"].update(leader_epoch=3)
    found = recovery_problem(json.dumps(snapshot).encode())
    assert found.left_out == ("orders-0",) and not found.procedures
    assert any("later leader epochs than ZooKeeper's state" in note for note in found.notes)
    ways = ways_out(snapshot)
    assert all(
        "but first write what is older than the logs, the state of orders-0: a leader_epoch of 15 or more" in ways[name]
        for name in ways
        if "id" in name
    )


def several_erased(count: int) -> dict[str, Any]:
    """A healthy cluster, but that an old client has erased the ids of some topics."""
    ids = {f"topic{number:03}": f"{number:03}{'A' * 18}g" for number in range(count)}
    snapshot = cluster("3.6.2", ids=ids)
    for topic in snapshot["topics"].values():
        del topic["znode"]["topic_id"]
        topic["znode"]["version"] = 1
    return snapshot


def test_a_controller_that_fails_over_between_two_ids_is_looked_at() -> None:
    """It mints an id for the topic whose id is not written yet: one more failover makes all agree."""
    found = plan_recovery(recovery_problem(json.dumps(several_erased(2)).encode()), seconds=60)
    assert found.plan is not None and found.plan.early == (True, True)
    assert [one.name for one in found.plan.procedures] == ["write-topic-ids topic000 topic001", "fail-over"]
    paths = [command for command in found.plan.procedures[0].commands if "set -v" in command]
    assert [f"/brokers/topics/topic{number:03}" in path for number, path in enumerate(paths)] == [True, True]


def test_no_topic_is_left_out_of_a_plan_that_fails_the_controller_over() -> None:
    many = plan_recovery(recovery_problem(json.dumps(several_erased(20)).encode()), seconds=60)
    assert many.plan is not None and not many.problem.left_out
    too_many = recovery_problem(json.dumps(several_erased(MOST_PARTS + 1)).encode())
    assert not too_many.worlds and len(too_many.left_out) == MOST_PARTS + 1
    assert nothing_planned(plan_recovery(too_many))


def test_a_search_of_plans_keeps_to_its_time() -> None:
    """Ids of logs that no single step repairs: too many sequences for any budget."""
    snapshot = several_erased(12)
    for number, broker in enumerate(snapshot["brokers"].values()):
        for name in broker["dirs"]:
            broker["dirs"][name] = log(f"{number}{'B' * 20}g", crc=number)
    found = plan_recovery(recovery_problem(json.dumps(snapshot).encode()), seconds=1)
    assert found.plan is None and found.stopped is StopReason.TIME


def test_a_search_that_needs_too_much_memory_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer says so, and has what was found before."""
    snapshot = cluster()
    snapshot["topics"]["orders"]["znode"]["topic_id"] = OTHER
    monkeypatch.setattr(settling, "MEMORY", 1 << 23)
    found = plan_recovery(recovery_problem(json.dumps(snapshot).encode()), seconds=60)
    assert found.plan is None and found.stopped is StopReason.MEMORY
    assert "needs more memory than it may take" in markdown_document(tuple(blocks_of(found, "now.json")))


# Partitions that no model has.


def problem(snapshot: dict[str, Any]) -> Problem:
    return recovery_problem(json.dumps(snapshot).encode())


def names(found: Problem) -> list[str]:
    return [one.name for one in found.procedures]


def restored(snapshot: dict[str, Any], *, read: bool) -> dict[str, Any]:
    """Broker 3 is down, and the state of orders-0 older than the logs, of which that of broker 3 was read or not."""
    stop(snapshot, 3)
    snapshot["topics"]["orders"]["partition_state"]["0"].update(leader_epoch=2)
    if not read:
        snapshot["brokers"]["3"]["dirs"] = None
    return snapshot


def with_another_id(snapshot: dict[str, Any]) -> dict[str, Any]:
    """A controller has minted an id for topic payments; the next one is to send the former one."""
    snapshot["topics"]["payments"]["znode"]["topic_id"] = OTHER
    return snapshot


def test_no_step_does_anything_to_a_partition_that_no_model_has() -> None:
    """Read, the partition has a model: what a step does there, no step may do if it has none."""
    whole, found = (problem(with_another_id(restored(cluster(brokers=4), read=read))) for read in (True, False))
    place = [world.name for world in whole.worlds].index("orders-0")
    harmless = [one.name for one in whole.procedures if all(move.is_nothing for move in one.moves[place])]
    assert not whole.withheld and found.left_out == ("orders-0",)
    assert names(found) == [name for name in harmless if "orders" not in name] and names(found)
    assert {"fail-over", "start-broker 3", "restart 1", "restart 1 2"} <= {*found.withheld}
    for other in found.alternatives:
        assert {*names(other)} <= {*names(found)}


def test_what_stands_in_the_way_of_a_plan_is_named_with_what_to_collect() -> None:
    found = plan_recovery(problem(with_another_id(restored(cluster(), read=False))), seconds=60)
    assert found.plan is None
    text = markdown_document(tuple(blocks_of(found, "now.json")))
    assert "No sequence of steps that do nothing to orders-0" in text
    assert "the log directories of broker 3 were not read: collect them" in text
    assert "Not tried, as they might harm orders-0: " in text and "fail-over" in text


def test_what_does_nothing_to_a_partition_without_a_model_is_planned() -> None:
    """An ISR member has no log; the controller knows the id that an old client has erased: only a znode is written."""
    snapshot = cluster()
    del snapshot["brokers"]["2"]["dirs"]["orders-0"]
    snapshot["brokers"]["2"]["log_dirs"] = [{"path": "/kafka", "broker_id": 2, "cluster_id": "c", "offline": False}]
    del snapshot["topics"]["payments"]["znode"]["topic_id"]
    found = plan_recovery(problem(snapshot), seconds=60)
    assert found.plan is not None
    assert [one.name for one in found.plan.procedures] == [f"write-topic-id payments {IDS['payments']}"]
    assert "and does nothing to orders-0" in markdown_document(tuple(blocks_of(found, "now.json")))


def test_a_way_out_does_not_refer_to_a_plan_that_there_is_not() -> None:
    """The leader began with an empty log, and those that are down have committed records, which they would truncate."""
    snapshot = cluster("3.4.1")
    for number in (2, 3):
        stop(snapshot, number)
    snapshot["brokers"]["1"]["dirs"]["orders-0"] = log(IDS["orders"], ((5, 0),), crc=9)
    assert "orders-0" in problem(snapshot).left_out
    text = ways_out(snapshot)["down-broker-has-another-log"]
    assert text.startswith("choose which records orders-0 is to have: to keep those of broker 1, before broker 2 ")


def test_a_broker_that_has_no_part_in_it_may_restart() -> None:
    """Broker 4 has a log of no topic. Without a controller each broker that starts may become it, and elects."""
    snapshot = restored(cluster(brokers=5), read=False)
    snapshot["brokers"]["4"]["dirs"]["gone-0"] = log(OTHER)
    assert {"restart 4", "move-directories gone 4"} <= {*names(problem(snapshot))}
    stop(snapshot, 1)
    assert not [name for name in names(problem(snapshot)) if name.endswith(" 4")]


def test_an_id_is_not_written_for_some_partitions_of_a_topic_only() -> None:
    """Partition 1 is in order but for the id of its logs."""
    snapshot = restored(cluster(), read=False)
    orders = snapshot["topics"]["orders"]
    orders["znode"]["partitions"]["1"] = [1, 2]
    orders["partition_state"]["1"] = {**orders["partition_state"]["0"], "leader_epoch": 5}
    for number in ("1", "2"):
        snapshot["brokers"][number]["dirs"]["orders-1"] = log(OTHER)
    found = problem(snapshot)
    assert found.left_out == ("orders-0",) and "orders-1" in [world.name for world in found.worlds]
    assert f"write-topic-id orders {OTHER}" in found.withheld


def test_a_broker_that_does_not_start_with_its_disk_is_stopped_by_no_step() -> None:
    """It is controller, and no replica of the damaged topic."""
    snapshot = with_another_id(cluster(brokers=4))
    snapshot.update(controller=4)
    snapshot["brokers"]["4"]["log_dirs"] = [{"path": "/kafka", "broker_id": 9, "cluster_id": None, "offline": False}]
    assert not [
        name for name in names(problem(snapshot)) if name.split()[0].startswith("restart") and "4" in name.split()
    ]


def test_a_forecast_says_what_it_did_not_look_at() -> None:
    snapshot = restored(cluster(), read=False)
    facts = read_snapshot(json.dumps(snapshot).encode()).facts
    assert "What events do to orders-0 was not looked at." in facts
    assert any(one.startswith("Not searched: topic orders: ") for one in facts)


def test_a_search_through_a_migration_begins_with_a_topic_that_the_model_has() -> None:
    snapshot = restored(cluster(), read=False)
    assert any(
        one.startswith("Not searched: topic orders: ") for one in read_migration(json.dumps(snapshot).encode()).facts
    )
    del snapshot["topics"]["payments"]
    with pytest.raises(UsageError, match="No topic of the snapshot can be searched"):
        read_migration(json.dumps(snapshot).encode())


def test_a_plan_from_some_topics_is_one_if_the_others_are_in_order() -> None:
    snapshot = with_another_id(cluster())
    snapshot["taken"] = {"began": "2026-01-01T00:00:00+00:00", "ended": "2026-01-01T00:00:01+00:00", "topics": ["pay*"]}
    assert problem(snapshot).premise == "if no topic that the snapshot lacks is damaged"
    assert "The snapshot has only the topics pay*." in problem(snapshot).notes


@pytest.mark.parametrize("leader", [1, 3])
def test_one_broker_restarts_where_one_log_has_another_id(leader: int) -> None:
    """To restart all of them repairs it, too."""
    snapshot = cluster()
    snapshot["topics"]["payments"]["partition_state"]["0"]["leader"] = leader
    snapshot["brokers"]["3"]["dirs"]["payments-0"] |= {"partition_metadata": f"version: 0\ntopic_id: {OTHER}"}
    found = plan_recovery(problem(snapshot), seconds=60)
    assert found.plan is not None and found.plan.at_any_moment
    assert [one.name for one in found.plan.procedures] == ["restart-without-metadata-files payments 3"]


def under_another_id(release: str, isr: Sequence[int]) -> dict[str, Any]:
    """A cluster in which broker 3 is down, and has the records of a partition under another id."""
    capture = cluster(release)
    stop(capture, 3)
    capture["topics"]["orders"]["partition_state"]["0"].update(leader=isr[0], isr=list(isr))
    capture["brokers"]["3"]["dirs"]["orders-0"] = log(OTHER)
    return capture


@pytest.mark.parametrize("release", ["2.8.2", "3.9.0"])
def test_a_broker_that_is_down_does_not_start_with_another_id_of_the_topic(release):
    capture = under_another_id(release, (1, 2))
    found = ways_out(capture)
    assert found["down-broker-has-another-id"].startswith("before broker 3 starts, move orders-0 away there")
    assert "but first see to orders-0 of broker 3" in found["broker-down"]
    planned = plan_recovery(recovery_problem(json.dumps(capture).encode()), seconds=120)
    assert planned.plan is not None
    assert [one.name for one in planned.plan.procedures] == ["restart-without-metadata-files orders 3"]
    assert planned.plan.procedures[0].title.startswith("Remove partition.metadata of topic orders on broker 3")


def test_the_only_log_under_another_id_is_not_moved_away():
    """The znode keeps its id, which live logs have."""
    capture = under_another_id("3.9.0", (3,))
    assert "may be the last copy" in ways_out(capture)["down-broker-has-another-id"]
    capture["brokers"]["3"]["dirs"]["orders-0"]["leader_epoch_checkpoint"] = "0\n1\n90 0\n"
    assert "may be the last copy" in ways_out(capture)["down-broker-has-another-id"]


def test_replicas_that_are_being_reassigned_are_left_alone() -> None:
    """The id of the topic's log on broker 3 is another one; the content that is written would end the reassignment."""
    snapshot = with_another_id(cluster(brokers=4))
    payments = snapshot["topics"]["payments"]["znode"]
    payments.update(partitions={"0": [4, 1, 2, 3]}, adding_replicas={"0": [4]}, removing_replicas={"0": [3]})
    found = problem(snapshot)
    assert found.left_out == ("payments-0",) and not found.worlds and not names(found)
    assert any("let that end, or cancel it" in note for note in found.notes)


@pytest.mark.parametrize("release", ["2.6.2", "2.8.2", "3.9.0"])
def test_a_log_without_id_of_another_topic_does_not_come_back(release: str) -> None:
    """The first batches of the logs differ: a broker that starts with one takes it for that of the topic."""
    ids = IDS if release != "2.6.2" else dict.fromkeys(IDS)
    snapshot = cluster(release, ids=ids)
    stop(snapshot, 3)
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(None, ((1, 0), (4, 30)), crc=8)
    ways = ways_out(snapshot)
    assert "move orders-0 away" in ways["down-broker-has-another-log"] and "but first move" in ways["broker-down"]
    assert "start-broker 3" not in [one.name for one in plan_recovery(problem(snapshot), seconds=60).plan.procedures]
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(None, EPOCHS[:1])
    assert "down-broker-has-another-log" not in ways_out(snapshot)


def test_topic_ids_that_brokers_before_2_8_do_not_read_matter_at_the_next_upgrade() -> None:
    """Brokers of 2.8 or later wrote partition.metadata, and a controller of 2.6 dropped the id from the znode."""
    snapshot = cluster("2.6.2", ids=dict.fromkeys(IDS))
    for number in "123":
        snapshot["brokers"][number]["dirs"]["orders-0"] = log(IDS["orders"])
    (way_out,) = ways_out(snapshot).values()
    assert way_out.startswith("just before an upgrade, write the topic_id")
    assert not plan_recovery(problem(snapshot), seconds=60).plan.procedures
    snapshot["topics"]["orders"]["znode"]["topic_id"] = IDS["orders"]
    assert not ways_out(snapshot)


@pytest.mark.parametrize("own", [None, IDS["payments"]])
def test_before_2_8_the_log_of_an_earlier_topic_is_not_refused_by_its_id(own: str | None) -> None:
    snapshot = cluster("2.6.2", ids={"orders": own})
    stop(snapshot, 3)
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(IDS["orders"], ((1, 0), (4, 30)), crc=8)
    ways = ways_out(snapshot)
    assert "move orders-0 away" in ways["down-broker-has-another-log"] and "move orders-0 away" in ways["broker-down"]
    assert "which logs are the topic's" in ways["topic-ids-mixed-for-later-releases"]
    plan = plan_recovery(problem(snapshot), seconds=60).plan
    assert plan is None or "start-broker 3" not in [one.name for one in plan.procedures]
    snapshot["brokers"]["3"]["alive"] = True
    snapshot["broker_ids"].append(3)
    assert "move orders-0 away" in ways_out(snapshot)["replica-has-another-log"]


@pytest.mark.parametrize("release", ["2.8.2", "3.9.0"])
def test_a_live_replica_with_a_log_of_another_topic_is_no_replica_that_catches_up(release: str) -> None:
    """Nothing but the first batch shows it: a broker takes a log without id for that of the topic."""
    snapshot = cluster(release)
    snapshot["topics"]["orders"]["partition_state"]["0"]["isr"] = [1, 2]
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(None, ((1, 0), (4, 30)), crc=8)
    assert ways_out(snapshot) == {"replica-has-another-log": "stop broker 3, move orders-0 away, and start it"}
    (forecast,) = inspect_snapshot(json.dumps(snapshot).encode()).prospects
    assert forecast.prognosis.name != "READY"
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(None, ((0, 0), (4, 30)))  # it differs later: it is truncated
    assert "replica-has-another-log" not in ways_out(snapshot)


def root(path: str, *, offline: bool = False, read: bool = False) -> dict[str, Any]:
    """A log directory of broker 3."""
    return {"path": path, "broker_id": 3 if read else None, "cluster_id": None, "offline": offline}


FAILED = [root("/a", read=True), root("/b", offline=True)]


def with_failed_disk(isr: Sequence[int], replicas: Sequence[int] = (1, 2, 3)) -> dict[str, Any]:
    """A cluster of which a disk of broker 3 has failed that had a replica of orders."""
    snapshot = cluster()
    orders = snapshot["topics"]["orders"]
    orders["znode"]["partitions"]["0"] = [*replicas]
    orders["partition_state"]["0"].update(isr=[*isr], leader=isr[0] if isr != [3] else -1)
    snapshot["brokers"]["3"]["log_dirs"] = FAILED
    for number in {1, 2, 3} - {*replicas} | {3}:
        del snapshot["brokers"][str(number)]["dirs"]["orders-0"]
    return snapshot


def planned(snapshot: dict[str, Any]) -> dict[str, Recovery]:
    """The answers, by their conditions."""
    found = plan_recovery(problem(snapshot), seconds=60)
    return {one.problem.premise: one for one in (found, *found.alternatives)}


def steps(answers: Mapping[str, Recovery]) -> dict[str, list[str] | None]:
    """The steps of each answer, by its condition; None where there is no plan."""
    return {key: one.plan and [step.name for step in one.plan.procedures] for key, one in answers.items()}


UNREADABLE = "if the failed disk of broker 3 cannot be read"
LOSSY = f"{UNREADABLE}, and acknowledged records may be lost"


def test_a_replica_on_a_failed_disk_comes_back_with_the_disk_or_an_empty_one() -> None:
    found = planned(with_failed_disk([1, 2]))
    assert steps(found) == {"": ["repair-disk 3"], UNREADABLE: ["replace-disk 3"]}


def test_no_empty_disk_leads_while_another_replica_has_records() -> None:
    """The broker of the failed disk is the whole ISR, and runs: with an empty disk it leads, and the others follow."""
    found = planned(with_failed_disk([3]))
    assert steps(found) == {"": ["repair-disk 3"], UNREADABLE: None, LOSSY: ["elect-unclean orders"]}
    (step,) = recovery_object(found[LOSSY], "x.json")["plan"]
    assert "(offline-replica)" in step["after"] and "CONSISTENT" not in step["after"]


def test_an_empty_disk_is_no_step_where_it_would_lead() -> None:
    """The same, without a search."""
    for replicas, is_step in (([1, 2, 3], False), ([3], True)):
        found = problem(with_failed_disk([3], replicas)).alternatives
        assert {("replace-disk 3" in names(one)) for one in found if one.premise == LOSSY} == {is_step}


def test_an_empty_disk_leads_where_no_other_replica_is() -> None:
    assert steps(planned(with_failed_disk([3], [3])))[LOSSY] == ["replace-disk 3"]


def test_no_log_is_the_newest_while_another_one_is_on_a_failed_disk() -> None:
    """ZooKeeper's state is older than the logs that are shown."""
    snapshot = with_failed_disk([1, 2])
    snapshot["topics"]["orders"]["partition_state"]["0"]["leader_epoch"] = 2
    found = problem(snapshot)
    assert found.left_out == ("orders-0",) and "the log on the failed disk of broker 3" in " ".join(found.notes)
    assert "look at the logs of orders-0 on broker 3 first" in ways_out(snapshot)["state-is-behind-the-logs"]


def test_a_state_that_no_controller_has_read_was_taken_up_by_no_leader() -> None:
    """Both replicas are down; a hand wrote the first state, whose leader epoch is the last one of its leader's log."""
    snapshot = cluster("2.8.2")
    orders = snapshot["topics"]["orders"]
    orders["znode"]["partitions"]["0"] = [3, 1]
    for number, epochs in ((3, EPOCHS[:1]), (1, ((0, 0), (2, 4)))):
        stop(snapshot, number)
        snapshot["brokers"][str(number)]["dirs"]["orders-0"] = log(IDS["orders"], epochs)
    del snapshot["brokers"]["2"]["dirs"]["orders-0"]
    orders["partition_state"]["0"].update(leader=3, leader_epoch=0, isr=[3, 1])
    served = {"leader": -1, "leader_epoch": 3, "isr": [1], "offline": [1, 3]}
    answers = {"orders": {"topic_id": IDS["orders"], "partitions": {"0": served}}}
    snapshot["controller"] = 2
    assert problem(snapshot).left_out == ("orders-0",)
    snapshot["brokers"]["2"]["metadata_cache"] = {"brokers": [2], "controller": 2, "topics": answers}
    assert not problem(snapshot).left_out and "write-states" in names(problem(snapshot))
    served["leader_epoch"] = 0  # the controller has read it
    assert problem(snapshot).left_out == ("orders-0",)


def test_a_log_in_a_directory_that_was_not_read_is_not_missing() -> None:
    """Broker 3 leads, and names a log directory that nobody has read."""
    snapshot = cluster()
    for topic in snapshot["topics"].values():
        topic["partition_state"]["0"].update(leader=3)
    snapshot["brokers"]["3"]["log_dirs"] = [root("/a", read=True), root("/b")]
    snapshot["brokers"]["3"]["dirs"] = {}
    assert not ways_out(snapshot)
    assert inspect_snapshot(json.dumps(snapshot).encode()).condition is Condition.NOT_JUDGED
    for topic in snapshot["topics"].values():
        topic["partition_state"]["0"].update(leader=-1, isr=[1, 2, 3])
    stop(snapshot, 3)
    for topic in snapshot["topics"].values():
        topic["partition_state"]["0"].update(isr=[3])
    assert "if the log directories of broker 3, which the snapshot lacks" in problem(snapshot).premise


def test_the_only_isr_member_does_not_start_with_a_log_that_has_lost_its_end() -> None:
    """Power was lost: a replica that copied the leader's log has more of it."""
    snapshot = cluster()
    stop(snapshot, 1)
    snapshot["controller"] = 2
    snapshot["topics"]["payments"]["partition_state"]["0"].update(leader=2)
    snapshot["topics"]["orders"]["partition_state"]["0"].update(leader=-1, leader_epoch=6, isr=[1])
    assert ways_out(snapshot)["no-live-isr"].startswith("start a broker of the ISR; if")
    snapshot["brokers"]["1"]["dirs"]["orders-0"]["files"] = {f"{0:020}.log": 4000}
    assert "has lost its end" in ways_out(snapshot)["no-live-isr"]


def without_power() -> dict[str, Any]:
    """All brokers are down; broker 1, an ISR member, got an old copy of its log."""
    snapshot = cluster()
    snapshot["broker_ids"], snapshot["controller"] = [], None
    for number in "123":
        snapshot["brokers"][number]["alive"] = False
    snapshot["topics"]["orders"]["partition_state"]["0"].update(isr=[1, 2])
    snapshot["brokers"]["1"]["dirs"]["orders-0"] = log(IDS["orders"], EPOCHS[:2])
    return snapshot


def test_the_isr_member_with_the_last_leader_epoch_starts_first() -> None:
    snapshot = without_power()
    first = "start broker 2 before broker 1, whose log of orders-0 lacks the last leader epoch"
    assert ways_out(snapshot)["no-live-isr"].startswith(first)
    snapshot["brokers"]["1"]["dirs"]["orders-0"]["files"] = snapshot["brokers"]["2"]["dirs"]["orders-0"]["files"]
    assert ways_out(snapshot)["no-live-isr"].startswith("start a broker of the ISR; if")  # the last epoch has no record


COMPARED = "compare the logs of orders-0 on brokers 1 and 2 (kafka-dump-log.sh), and start the one first with the last"


def test_a_leader_epoch_that_may_have_no_record_does_not_show_who_starts_first() -> None:
    """Broker 2 writes epoch 5 to its checkpoint as it becomes leader. Without a record of it, its log is shorter."""
    snapshot = without_power()
    older, newer = (snapshot["brokers"][number]["dirs"]["orders-0"] for number in "12")
    older["files"] = {f"{0:020}.log": 9000}
    assert ways_out(snapshot)["no-live-isr"].startswith(COMPARED) and "orders-0" in problem(snapshot).left_out
    newer["recovery_point"] = 41
    first = "start broker 2 before broker 1, whose log of orders-0 lacks the last leader epoch"
    assert ways_out(snapshot)["no-live-isr"].startswith(first)
    newer.update(recovery_point=40, files={f"{0:020}.log": 4000, f"{40:020}.log": 0})
    first = "start broker 1 before broker 2, whose log of orders-0 lacks records"
    assert ways_out(snapshot)["no-live-isr"].startswith(first)


def test_a_log_without_a_recovery_point_may_have_lost_its_end() -> None:
    """A broker that stops writes one for each log; without an entry Kafka recovers the log from its beginning."""
    snapshot = without_power()
    for number, size in (("1", 4000), ("2", 5000)):
        snapshot["brokers"][number]["dirs"]["orders-0"] = {**log(IDS["orders"]), "files": {f"{0:020}.log": size}}
    first = "start broker 2 before broker 1, whose log of orders-0 is shorter, and may have lost its end"
    assert ways_out(snapshot)["no-live-isr"].startswith(first)
    for number in "12":
        snapshot["brokers"][number]["dirs"]["orders-0"]["recovery_point"] = 45
    first = (
        "start broker 2 before broker 1: it has records of orders-0 that others lack, and that producers with acks=1"
    )
    assert ways_out(snapshot)["no-live-isr"].startswith(first)


def test_no_replica_is_elected_and_no_state_written_for_a_leader_epoch_that_may_have_no_record() -> None:
    snapshot = cluster()
    state = snapshot["topics"]["orders"]["partition_state"]["0"]
    state.update(isr=[], leader=-1, leader_epoch=7)
    newer = snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(IDS["orders"], (*EPOCHS, (7, 45)))
    newer["files"] = {f"{0:020}.log": 4000}
    elected = "an unclean election of brokers 1, 2 or 3, the one with the last record of the later leader epoch"
    assert elected in ways_out(snapshot)["empty-isr"]
    state.update(isr=[1, 2, 3], leader=1, leader_epoch=2)
    assert "orders-0" in problem(snapshot).left_out
    assert "and that of brokers 1, 2 and 3 with the last" in ways_out(snapshot)["state-is-behind-the-logs"]
    newer["recovery_point"] = 46
    assert "orders-0" not in problem(snapshot).left_out
    assert "and broker 3 as leader" in ways_out(snapshot)["state-is-behind-the-logs"]


def test_a_plan_starts_the_isr_member_with_the_last_leader_epoch_first() -> None:
    (first, *_) = steps(planned(without_power()))[""] or []
    assert first == "start-broker 2"


@pytest.mark.parametrize("is_created", [False, True], ids=["before a failover", "after it"])
def test_replicas_that_were_written_by_hand_do_not_catch_up(is_created: bool) -> None:
    """Round 103 of recover-random-damages: the leader refuses brokers 2 and 3, also when they have created logs."""
    snapshot = cluster()
    snapshot["topics"]["orders"]["partition_state"]["0"].update(isr=[1])
    for number in "23":
        del snapshot["brokers"][number]["dirs"]["orders-0"]
        if is_created:
            empty = {**log(IDS["orders"], ((5, 0),)), "files": {f"{0:020}.log": 0}, "first_batch": None}
            snapshot["brokers"][number]["dirs"]["orders-0"] = empty
    assert "reassign the partition" in ways_out(snapshot)["replica-has-no-log"]
    assert problem(snapshot).uncovered == ("replica-has-no-log",)


def test_logs_of_brokers_that_are_down_move_away_by_name() -> None:
    """Broker 3 and 2 were not read: their logs of payments are needed, and those of orders may have the minted id."""
    snapshot = cluster()
    for number in (2, 3):
        stop(snapshot, number)
        snapshot["brokers"][str(number)].update(dirs=None, log_dirs=None)
    orders = snapshot["topics"]["orders"]
    orders["znode"]["topic_id"] = OTHER
    orders["znode"]["partitions"]["1"] = [1, 2, 3]
    orders["partition_state"]["1"] = {**orders["partition_state"]["0"], "leader": -1, "leader_epoch": 7, "isr": [2, 3]}
    (move,) = [one for one in problem(snapshot).procedures if one.name.startswith("move-directories-at-once")]
    assert move.title == "Move orders-0 of broker 2 and orders-0 of broker 3 away, then start them."
    assert not [command for command in move.commands if "stop" in command or "orders-1" in command]


def test_a_deletion_waits_for_a_failed_disk_or_a_reassignment() -> None:
    """A controller that is elected leaves the deletion as it is: seen on 3.9.0 and 2.8.2."""
    snapshot = with_failed_disk([1, 2])
    snapshot["delete_topics"] = ["orders"]
    assert "repair or replace failed disks" in ways_out(snapshot)["deletion-pending"]
    snapshot = cluster(brokers=4)
    snapshot["topics"]["orders"]["znode"]["adding_replicas"] = {"0": [4]}
    snapshot["delete_topics"] = ["orders"]
    assert "let a reassignment end" in ways_out(snapshot)["deletion-pending"]


def test_the_log_of_a_replica_is_its_own_though_a_dead_broker_was_not_read() -> None:
    """Broker 3 is the whole ISR; the others have had its last leader epoch."""
    snapshot = cluster()
    stop(snapshot, 3)
    snapshot["topics"]["orders"]["partition_state"]["0"].update(leader=-1, leader_epoch=6, isr=[3])
    snapshot["brokers"]["3"].update(dirs=None, log_dirs=None)
    assert "replica-under-another-broker-id" not in ways_out(snapshot)


@pytest.mark.parametrize("epoch", [6, 9])
def test_a_broker_got_another_id_though_controllers_were_elected_since(epoch: int) -> None:
    """Broker 4 has the disk of broker 3, whose partition has no other replica; failovers raise its leader epoch."""
    snapshot = cluster(brokers=4)
    stop(snapshot, 3)
    orders = snapshot["topics"]["orders"]
    orders["znode"]["partitions"]["0"] = [3]
    orders["partition_state"]["0"].update(leader=-1, leader_epoch=epoch, isr=[3])
    snapshot["brokers"]["4"]["dirs"] = snapshot["brokers"]["3"]["dirs"]
    snapshot["brokers"]["3"].update(dirs=None, log_dirs=None)
    for number in "12":
        del snapshot["brokers"][number]["dirs"]["orders-0"]
    assert "give the broker its earlier id" in ways_out(snapshot)["replica-under-another-broker-id"]


def test_an_election_names_partitions_whose_replicas_come_back_before_it() -> None:
    """Broker 2 is to get its disk back, and lead: when the snapshot was taken no replica was up."""
    snapshot = with_failed_disk([1], [1, 3])
    stop(snapshot, 1)
    snapshot["controller"] = 2
    snapshot["topics"]["payments"]["partition_state"]["0"].update(leader=2)
    snapshot["topics"]["orders"]["partition_state"]["0"].update(leader=-1, isr=[1], leader_epoch=6)
    (elect,) = [one for one in problem(snapshot).procedures if one.name == "elect-unclean orders"]
    assert any(command.endswith("--topic orders --partition 0") for command in elect.commands)


def test_the_last_logs_are_left_though_they_are_strays() -> None:
    """The ISR was written by hand: its only member has no log."""
    snapshot = cluster(brokers=4)
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [4]
    snapshot["topics"]["orders"]["partition_state"]["0"].update(leader=4, isr=[4])
    snapshot["brokers"]["4"]["log_dirs"] = [{**root("/a", read=True), "broker_id": 4}]
    assert ways_out(snapshot)["records-on-no-replica"].startswith("keep orders-0 on brokers 1, 2 and 3: ")


def test_what_waits_beside_a_topic_that_is_not_damaged_is_said() -> None:
    snapshot = cluster()
    stop(snapshot, 3)
    found = plan_recovery(problem(snapshot), seconds=60)
    assert recovery_object(found, "x.json")["answer"] == "not judged"  # no broker was asked
    assert "a broker is down (broker 3): start it" in markdown_document(tuple(blocks_of(found, "x.json")))


@pytest.mark.parametrize("release", ["3.0.1", "3.9.0"])
def test_a_log_on_a_failed_disk_has_the_id_of_the_others(release: str) -> None:
    """A controller has minted another one since, and no log has that."""
    snapshot = with_another_id(cluster(release))
    snapshot["topics"]["payments"]["partition_state"]["0"].update(isr=[1, 2], leader_epoch=6)
    snapshot["brokers"]["3"]["log_dirs"] = [{"path": "/b", "broker_id": None, "cluster_id": None, "offline": True}]
    del snapshot["brokers"]["3"]["dirs"]["payments-0"]
    ways = ways_out(snapshot)
    assert ways["leader-refuses-topic-id"].startswith(f"write the id {IDS['payments']}") and not [
        n for n in ways if "mixed" in n
    ]


@pytest.mark.parametrize(
    ("changed", "starts"),
    [
        ({}, True),
        ({"dirs": {"orders-0": log(IDS["orders"], EPOCHS[:2])}}, True),
        ({"dirs": {"orders-0": log(IDS["orders"], (*EPOCHS, (6, 50)))}}, False),
        ({"dirs": {"orders-0": {**log(IDS["orders"]), "files": {f"{0:020}.log": 9000}}}}, False),
        ({"dirs": None, "log_dirs": None}, False),
        ({"dirs": {}, "log_dirs": FAILED}, False),
    ],
    ids=["the same log", "a shorter log", "a later leader epoch", "a longer log", "a log that was not seen", "a disk"],
)
def test_failovers_raise_the_leader_epoch_of_a_partition_without_a_live_isr(changed, starts):
    """The only ISR member has led in leader epoch 5; it stopped, and two controllers were elected since."""
    capture = cluster("3.9.0")
    stop(capture, 1)
    capture["controller"] = 2
    capture["topics"]["orders"]["partition_state"]["0"].update(leader=-1, leader_epoch=8, isr=[1])
    capture["topics"]["payments"]["partition_state"]["0"].update(leader=2)
    capture["brokers"]["3"].update(changed)
    way_out = ways_out(capture)["no-live-isr"]
    assert way_out.startswith("start a broker of the ISR") is starts
    assert way_out.startswith("do not start broker 1") is not starts


def test_another_leader_commits_other_records_than_a_full_log_has() -> None:
    """The only ISR member has four records in the model, and others know less of their epochs: it was an error."""
    snapshot = cluster("3.4.1", brokers=4, ids={"orders": IDS["orders"]})
    stop(snapshot, 1)
    snapshot["controller"] = 4
    orders = snapshot["topics"]["orders"]
    orders["znode"]["partitions"]["0"] = [3, 1, 2]
    orders["partition_state"]["0"].update(leader=-1, isr=[1])
    first, second, third = (snapshot["brokers"][number]["dirs"] for number in "123")
    first["orders-0"] = {**log(IDS["orders"], ((0, 0), (1, 2), (2, 4))), "recovery_point": 4}
    second["orders-0"] = {**log(IDS["orders"], ((0, 0),)), "recovery_point": 2}
    third["orders-0"] = {**log(IDS["orders"], ((0, 0),)), "leader_epoch_checkpoint": "0\n0\n", "first_batch": None}
    third["orders-0"]["files"] = {f"{0:020}.log": 0}
    gone = "if broker 1 is gone for good"
    assert steps(planned(snapshot)) == {
        "": ["start-broker 1"],
        gone: None,
        f"{gone}, and acknowledged records may be lost": ["elect-unclean orders 3"],
    }
