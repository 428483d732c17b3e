"""Clusters of strangers whose files were removed, edited or copied, and whose znodes name no replicas that stay."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.search.analyses.recovery import plan_recovery
from tests.snapshots.test_combined_damages import (
    EPOCHS,
    IDS,
    OTHER,
    cluster,
    log,
    names,
    planned,
    problem,
    steps,
    ways_out,
)
from tests.snapshots.test_strangers import answers, state
from tests.snapshots.test_strangers_foreseen import alone, down, found
from tests.snapshots.test_strangers_tools import unread

LATER = (*EPOCHS, (6, 48))
Snapshot = dict[str, Any]


def of_orders(snapshot: Snapshot, broker: int) -> Snapshot:
    directory: Snapshot = snapshot["brokers"][str(broker)]["dirs"]["orders-0"]
    return directory


def only(snapshot: Snapshot, member: int, epoch: int = 7) -> Snapshot:
    """A broker that is down is the only ISR member of orders-0."""
    down(snapshot, member)
    state(snapshot).update(leader=-1, isr=[member], leader_epoch=epoch)
    return snapshot


# Segments that were removed.


def without_segments(snapshot: Snapshot, *numbers: int) -> Snapshot:
    for number in numbers:
        of_orders(snapshot, number).update(files={}, first_batch=None)
    return snapshot


@pytest.mark.parametrize(
    ("numbers", "way_out"),
    [
        (
            [3],
            "restart broker 3 with a controlled shutdown (kafka-server-stop.sh) while another ISR member (1 or 2) runs",
        ),
        ([1, 2, 3], "do not stop brokers 1, 2 and 3, and let no controller fail over"),
    ],
)
def test_a_directory_without_segments_is_no_log(numbers: list[int], way_out: str) -> None:
    """The process has the files open; as it starts, it begins an empty log (LogLoader.load)."""
    snapshot = without_segments(alone(), *numbers)
    of_orders(snapshot, 3)["partition_metadata"] = None
    follows = {"orders": {"0": {"leader_epoch": 5, "leads": False}}}
    snapshot["brokers"]["3"]["replicas"] = follows
    kinds = found(snapshot)
    assert kinds.keys() == {"isr-member-has-no-log"} and not kinds["isr-member-has-no-log"].certain
    assert way_out in ways_out(snapshot)["isr-member-has-no-log"]


def test_a_broker_whose_segments_were_removed_does_not_start_first() -> None:
    snapshot = only(without_segments(alone(), 3), 3)
    assert ways_out(snapshot)["no-live-isr"].startswith("do not start broker 3: its log of orders-0 is gone")
    assert plan_recovery(problem(snapshot), seconds=60).plan is None


def test_a_directory_without_segments_is_refused_with_another_topics_id() -> None:
    snapshot = alone()
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(OTHER)
    state(snapshot)["isr"] = [1, 2]
    assert "replica-refuses" in found(without_segments(snapshot, 3))


# Files that were edited.


@pytest.mark.parametrize(
    "text",
    [
        "version: 0\r\ntopic_id: {}\r\n",
        "version:  0\ntopic_id:\t{}\n\n",
        "version: 00\nid: {}\nmore",
    ],
)
def test_what_a_broker_reads_as_partition_metadata_is_not_garbled(text: str) -> None:
    """PartitionMetadataFile.read: two lines, each with a colon and blanks."""
    snapshot = alone()
    of_orders(snapshot, 2)["partition_metadata"] = text.format(IDS["orders"])
    assert not found(snapshot)


@pytest.mark.parametrize("text", ["version: 1\ntopic_id: {}", "version: 0\ntopic_id: {} ", "version: 0\ntopic_id:{}"])
def test_what_no_broker_reads_as_partition_metadata_is_garbled(text: str) -> None:
    snapshot = alone()
    of_orders(snapshot, 2)["partition_metadata"] = text.format(IDS["orders"])
    assert "partition-metadata-is-garbled" in found(snapshot)


@pytest.mark.parametrize(
    ("name", "isr", "way_out"),
    [
        ("orders-0/leader-epoch-checkpoint", [3], "as the only ISR member it leads, with all its records"),
        ("orders-0/leader-epoch-checkpoint", [2, 3], "and is not to be elected"),
        ("recovery-point-offset-checkpoint", [3], "all logs are read then"),
        ("cleaner-offset-checkpoint", [3], "begins with the first record of each compacted log"),
    ],
)
def test_a_garbled_checkpoint_has_a_way_out_of_its_own(name: str, isr: list[int], way_out: str) -> None:
    snapshot = only(alone(), 3)
    state(snapshot)["isr"] = isr
    snapshot["brokers"]["3"]["log_dirs"][0]["garbled"] = [name]
    text = ways_out(snapshot)["checkpoint-is-garbled"]
    assert text.startswith(f"move {name} of broker 3 to another place") and way_out in text


def test_one_directory_by_two_paths_is_not_moved_away() -> None:
    snapshot = alone()
    snapshot["brokers"]["2"]["twice"] = {"orders-0": ["/kafka", "/mnt/kafka"]}
    assert ways_out(snapshot)["partition-in-two-log-directories"].startswith("see first that they are two")


# Reassignments that end without replicas.


def removing(snapshot: Snapshot, *numbers: int) -> Snapshot:
    snapshot["topics"]["orders"]["znode"]["removing_replicas"] = {"0": list(numbers)}
    return snapshot


def without_controller(snapshot: Snapshot) -> None:
    snapshot["controller"] = None


def without_id(snapshot: Snapshot) -> None:
    del snapshot["topics"]["payments"]["znode"]["topic_id"]


@pytest.mark.parametrize(("damage", "kind"), [(without_controller, "no-controller"), (without_id, "")])
def test_no_controller_fails_over_before_replicas_are_taken_out_that_are_all_removed(
    damage: Callable[[Snapshot], None], kind: str
) -> None:
    """On 3.4.1 no broker stays controller then, on 2.5.0 the next one has all logs of the partition deleted."""
    snapshot = removing(cluster(), 1, 2, 3)
    damage(snapshot)
    ways = ways_out(snapshot)
    first = "before the next failover, take orders-0 out of adding_replicas and removing_replicas"
    assert ways["partition-without-replicas"].startswith(first)
    assert not kind or "but first write the replicas of orders-0" in ways[kind]
    assert not [name for name in names(problem(snapshot)) if name == "fail-over" or name.startswith("restart")]


def test_a_reassignment_that_leaves_a_replica_waits_for_it() -> None:
    snapshot = removing(alone(), 1, 2)
    state(snapshot)["isr"] = [1, 2]
    assert "partition-without-replicas" not in found(snapshot)


# Records on brokers that are no replicas, and on brokers that are down.


def moved_back(snapshot: Snapshot, *replicas: int, isr: list[int], epoch: int = 2) -> Snapshot:
    """The znode of orders names replicas, as before a reassignment; all brokers are down."""
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = list(replicas)
    state(snapshot).update(leader=isr[0], isr=isr, leader_epoch=epoch)
    down(snapshot, *range(1, len(snapshot["brokers"]) + 1))
    return snapshot


def test_a_state_older_than_logs_is_not_written_for_a_replica_that_lacks_records_of_others() -> None:
    snapshot = alone()
    for number in (2, 3):
        snapshot["brokers"][str(number)]["dirs"]["orders-0"] = log(IDS["orders"], LATER)
    ways = ways_out(moved_back(snapshot, 1, isr=[1]))
    assert ways["state-is-behind-the-logs"].startswith(
        "see to orders-0: brokers that are no replicas have later records"
    )
    assert "that of brokers 2 and 3 whose log ends last" in ways["records-on-no-replica"]
    assert "but first write the state of orders-0" not in ways["records-on-no-replica"]


@pytest.mark.parametrize("stray", [LATER, EPOCHS])
def test_a_copy_on_a_broker_that_is_no_replica_is_not_needed(stray: tuple[tuple[int, int], ...]) -> None:
    snapshot = alone(brokers=4)
    for number in (1, 2, 3):
        snapshot["brokers"][str(number)]["dirs"]["orders-0"] = log(IDS["orders"], LATER)
    snapshot["brokers"]["4"]["dirs"]["orders-0"] = log(IDS["orders"], stray)
    ways = ways_out(moved_back(snapshot, 1, 2, 3, isr=[1]))
    assert "records-on-no-replica" not in ways and "broker 1 as leader" in ways["state-is-behind-the-logs"]


@pytest.mark.parametrize("is_read", [True, False])
def test_an_isr_member_that_is_no_replica_may_have_all_records(is_read: bool) -> None:
    snapshot = alone(brokers=4)
    snapshot["brokers"]["4"]["dirs"] = {}
    moved_back(snapshot, 4, isr=[3], epoch=5)
    if not is_read:
        unread(snapshot, 3)
    kinds = found(snapshot)
    assert "isr-outside-replicas" in kinds and "records-on-no-replica" not in kinds


def stray(snapshot: Snapshot) -> None:
    """Broker 4 has the records of orders, and is no replica of it, but one of payments."""
    for number in (1, 2, 3):
        of_orders(snapshot, number).update(files={f"{0:020}.log": 0}, first_batch=None, high_watermark=0)
    snapshot["brokers"]["4"]["dirs"]["orders-0"] = log(IDS["orders"], (*EPOCHS, (9, 48)))


def orphan(snapshot: Snapshot) -> None:
    snapshot["brokers"]["4"]["dirs"]["audit-0"] = log(OTHER)


def in_logs_only(snapshot: Snapshot) -> None:
    snapshot["brokers"]["4"]["dirs"]["orders-1"] = log(IDS["orders"])


@pytest.mark.parametrize(("damage", "name"), [(stray, "orders-0"), (orphan, "audit-0"), (in_logs_only, "orders-1")])
def test_a_broker_with_the_last_log_of_what_it_is_no_replica_of_is_not_given_up(
    damage: Callable[[Snapshot], None], name: str
) -> None:
    snapshot = cluster(brokers=4)
    snapshot["topics"]["payments"]["znode"]["partitions"]["0"] = [1, 2, 3, 4]
    down(snapshot, 4)
    assert "do not give broker 4 up" not in ways_out(snapshot)["broker-down"]
    damage(snapshot)
    given = ways_out(snapshot)["broker-down"]
    assert f"do not give broker 4 up: it may have the last copy of records of {name}" in given
    assert "live ISR members have what was acknowledged" not in given


# Orders of steps.


def test_an_id_is_written_before_a_log_is_made_anew() -> None:
    """Until the next controller has read the znode, a new log gets the id that the present one sends."""
    snapshot = alone("3.6.2")
    snapshot["topics"]["orders"]["znode"]["topic_id"] = OTHER
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = {**log(OTHER), "files": {f"{0:020}.log": 0}, "first_batch": None}
    state(snapshot)["isr"] = [1, 2]
    way_out = next(text for text in ways_out(snapshot).values() if "move orders-0 away" in text)
    assert way_out.startswith(f"write the id {IDS['orders']}, which the logs have, into the znode of orders, then fail")
    assert way_out.endswith("; stop broker 3, move orders-0 away, and start it")


def test_a_log_that_differs_is_moved_away_before_its_broker_may_follow() -> None:
    """All logs have one id: with it in the znode the one with a leader epoch of another leader would join the ISR."""
    snapshot = alone("3.6.2")
    snapshot["topics"]["orders"]["znode"]["topic_id"] = OTHER
    state(snapshot).update(isr=[1, 2], leader_epoch=6)
    for number in (1, 2):
        snapshot["brokers"][str(number)]["dirs"]["orders-0"] = log(IDS["orders"], LATER)
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(IDS["orders"], (*EPOCHS, (6, 44)))
    way_out = next(text for text in ways_out(snapshot).values() if "move orders-0 away" in text)
    first = "stop broker 3, move orders-0 away, and start it after the next step; write the id"
    assert way_out.startswith(first)


@pytest.mark.parametrize("are_down", [False, True])
def test_elections_outside_of_the_isr_are_forbidden_though_its_member_must_not_start(are_down: bool) -> None:
    snapshot = only(alone(), 1)
    snapshot["topics"]["orders"]["settings"] = {"unclean.leader.election.enable": True}
    of_orders(snapshot, 1).update(log(IDS["orders"], EPOCHS[:1]))
    if are_down:
        down(snapshot, 2, 3)
    way_out = ways_out(snapshot)["unclean-election-is-ahead"]
    assert way_out.startswith("do not start broker 1") and "bring an ISR member" not in way_out
    assert (
        way_out.endswith("set unclean.leader.election.enable of orders to false (kafka-configs.sh --alter)") ^ are_down
    )


def test_states_are_created_before_a_replica_of_a_partition_starts_that_has_lost_its_state() -> None:
    """A new ensemble without the state znodes: the first live replica leads at leader epoch 0."""
    snapshot = alone()
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(IDS["orders"], LATER)
    snapshot["topics"]["orders"]["partition_state"] = {}
    down(snapshot, 1, 2, 3)
    one = found(snapshot)["no-live-replica"]
    assert one.kind.title == "a partition has logs and no state, and all its replicas are down"
    assert one.kind.way_out.startswith("start no broker before you know whose records the logs are")
    assert "broker 3 as leader and only ISR member" in one.kind.way_out
    assert any(
        "orders-0, and no step of a plan touches it: it has no state znode" in n for n in problem(snapshot).notes
    )


def test_no_replica_is_elected_with_the_log_of_an_earlier_topic() -> None:
    snapshot = only(alone(), 3)
    snapshot["brokers"]["1"]["dirs"]["orders-0"] = log(OTHER, ((0, 0), (2, 90)), crc=9)
    assert "unclean election, of broker 2, while broker 1 is stopped" in ways_out(snapshot)["no-live-isr"]


def test_no_leader_epoch_above_the_largest_is_written() -> None:
    snapshot = alone()
    for number in (1, 2, 3):
        snapshot["brokers"][str(number)]["dirs"]["orders-0"] = log(IDS["orders"], (*EPOCHS, (2**31 - 2, 50)))
    down(snapshot, 1, 2, 3)
    assert "a leader_epoch of 2147483647, and" in ways_out(snapshot)["state-is-behind-the-logs"]


# Logs without records.


def test_a_follower_whose_records_are_all_in_remote_storage_has_a_log() -> None:
    snapshot = alone()
    state(snapshot)["isr"] = [1, 2]
    of_orders(snapshot, 3).update(files={f"{50:020}.log": 0}, first_batch=None, log_start=10)
    assert found(snapshot).keys() == {"catching-up"}
    of_orders(snapshot, 3).update(files={f"{0:020}.log": 0}, log_start=None, leader_epoch_checkpoint=None)
    assert "replica-has-no-log" in found(snapshot)


def test_a_disk_of_a_broker_that_runs_may_have_its_last_copies() -> None:
    snapshot = alone("3.6.2", brokers=4)
    for number, broker in snapshot["brokers"].items():
        broker["log_dirs"][0]["broker_id"] = int(number) if number != "4" else 3
    down(snapshot, 4)
    seen = inspect_snapshot(json.dumps(snapshot).encode())
    (kind,) = (kind for kind in seen.by_kind() if kind.name == "log-directory-of-another-broker")
    assert "Broker 3 runs: attach the disk there again only if it has made none of its partitions anew" in kind.way_out


# Members that would lead with nothing.


@pytest.mark.parametrize(
    ("isr", "ways"),
    [
        (
            [1],
            {
                "no-live-isr": "do not start broker 1: its log of orders-0 is another one",
                "own": "kwalk diagnose --plan says",
            },
        ),
        (
            [1, 2],
            {
                "no-live-isr": "start broker 2 before broker 1, whose log of orders-0 is another one",
                "own": "start broker 2 first, so that it leads, and before broker 1 starts, move orders-0 away there",
            },
        ),
    ],
)
def test_a_member_whose_log_is_moved_away_does_not_start_first(isr: list[int], ways: dict[str, str]) -> None:
    """With an empty log it would lead, and the others truncate theirs."""
    snapshot = alone("3.6.2")
    snapshot["topics"]["orders"].update(version=0, mzxid=60)  # the id is its first one
    snapshot["brokers"]["1"]["dirs"]["orders-0"] = log(OTHER, ((0, 0), (2, 30)), crc=9)
    down(snapshot, *isr)
    state(snapshot).update(leader=-1, isr=isr, leader_epoch=7)
    found_ways = ways_out(snapshot)
    assert found_ways["no-live-isr"].startswith(ways["no-live-isr"])
    assert found_ways["down-broker-has-another-log"].startswith(ways["own"])
    assert "see to orders-0 of broker 1, which is another log" in found_ways["broker-down"]
    if len(isr) > 1:
        plan = plan_recovery(problem(snapshot), seconds=60).plan
        assert plan is not None and plan.procedures[0].name == "start-broker 2"


def test_no_id_is_written_that_fits_one_of_the_logs_only_that_are_chosen_from() -> None:
    snapshot = alone("3.6.2")
    snapshot["brokers"]["1"]["dirs"]["orders-0"] = log(OTHER, ((0, 0), (2, 30)), crc=9)
    text = ways_out(only(snapshot, 1))["replica-has-another-log"]
    assert text.startswith("choose which records orders-0 is to have") and "write the id" not in text


def begun_anew(snapshot: Snapshot) -> None:
    """The logs of the ISR begin with the leader epoch of the state, as if their disks had been replaced."""
    for number in (2, 3):
        snapshot["brokers"][str(number)]["dirs"]["orders-0"] = log(IDS["orders"], ((5, 0),))
    state(snapshot).update(leader=2, isr=[2, 3])


@pytest.mark.parametrize("is_anew", [True, False])
def test_logs_that_begin_with_a_later_leader_epoch_may_lack_what_another_replica_has(is_anew: bool) -> None:
    failed, gone = alone("3.6.2"), alone("3.6.2")
    for snapshot in (failed, gone):
        state(snapshot).update(leader=2, isr=[2, 3])
        if is_anew:
            begun_anew(snapshot)
    root = {"path": "/b", "broker_id": None, "cluster_id": None, "offline": True}
    failed["brokers"]["1"]["log_dirs"].append(root)
    del failed["brokers"]["1"]["dirs"]["orders-0"]
    down(gone, 1)
    unread(gone, 1)
    first = ways_out(failed)["offline-replica"].startswith("copy orders-0 from the failed disk first")
    but = "but for records of orders-0 before leader epoch 5, if there were any" in ways_out(gone)["broker-down"]
    assert (first, but) == (is_anew, is_anew)


def test_the_isr_of_a_lost_partition_is_not_given_up() -> None:
    snapshot = alone(brokers=4)
    topic = snapshot["topics"]["orders"]
    topic["znode"]["partitions"]["0"] = [1, 2, 3, 4]
    topic["partition_state"]["1"] = {**state(snapshot), "isr": [4], "leader": -1}
    down(snapshot, 4)
    assert (
        "do not give broker 4 up: it may have the last copy of records of orders-1" in ways_out(snapshot)["broker-down"]
    )


def with_another_log(snapshot: Snapshot, number: int) -> Snapshot:
    """A broker has the log of an earlier topic of the name, whose id the present one has had from its creation on."""
    snapshot["topics"]["orders"].update(version=0, mzxid=60)
    snapshot["brokers"][str(number)]["dirs"]["orders-0"] = log(OTHER, ((0, 0), (2, 30)), crc=9)
    return snapshot


def on_failed_disk(snapshot: Snapshot, number: int) -> None:
    broker = snapshot["brokers"][str(number)]
    broker["log_dirs"].append({"path": "/b", "broker_id": None, "cluster_id": None, "offline": True})
    del broker["dirs"]["orders-0"]


PLANNED = "kwalk diagnose --plan says what to do about orders-0: no live broker has the log that it is to have"


def test_an_isr_member_on_a_failed_disk_does_not_lead() -> None:
    snapshot = with_another_log(alone("3.6.2"), 2)
    on_failed_disk(snapshot, 1)
    down(snapshot, 2)
    state(snapshot).update(leader=-1, isr=[1, 2], leader_epoch=7)
    ways = ways_out(snapshot)
    assert ways["down-broker-has-another-log"] == PLANNED
    assert ways["broker-down"].startswith("do not start broker 2: its log of orders-0 is another one")


def test_a_leader_with_another_log_that_is_the_only_isr_member_does_not_begin_anew() -> None:
    """Replicas outside of the ISR have the topic's records, and would truncate their logs."""
    snapshot = with_another_log(alone("3.6.2"), 1)
    state(snapshot).update(leader=1, isr=[1], leader_epoch=7)
    assert ways_out(snapshot)["leader-refuses-mixed-topic-ids"].startswith(PLANNED)


@pytest.mark.parametrize("damage", [lambda s: with_another_log(s, 2), lambda s: without_segments(s, 2)])
def test_a_live_isr_member_without_the_log_is_no_reason_to_give_others_up(
    damage: Callable[[Snapshot], Snapshot],
) -> None:
    snapshot = damage(alone("3.6.2"))
    down(snapshot, 1, 3)
    state(snapshot).update(leader=2, isr=[2], leader_epoch=7)
    assert "live ISR members have what was acknowledged" not in ways_out(snapshot)["broker-down"]


def test_a_state_that_is_lost_is_not_created_with_a_leader_on_a_failed_disk() -> None:
    """Of a log that is not shown no topic id differs."""
    snapshot = alone("3.6.2")
    on_failed_disk(snapshot, 1)
    answers(snapshot)
    snapshot["topics"]["orders"]["partition_state"] = {}
    kinds = found(snapshot)
    assert "isr-member-refuses" not in kinds
    assert "that of brokers 2 and 3 whose log ends last as leader" in kinds["partition-state-is-lost"].kind.way_out


@pytest.mark.parametrize("identity", [OTHER, None])
def test_a_znode_that_was_written_again_gets_the_id_of_the_logs_and_their_states(identity: str | None) -> None:
    snapshot = alone("3.4.1")
    topic = snapshot["topics"]["orders"]
    topic.update(version=0, czxid=9000, mzxid=9000, partition_state={})
    topic["znode"] = {**topic["znode"], "topic_id": identity}
    down(snapshot, 1, 2, 3)
    way_out = ways_out(snapshot)["no-live-replica"]
    assert way_out.startswith("start no broker before you know whose records the logs are")
    assert f"as leader and only ISR member, and write the topic id {IDS['orders']} into the znode of orders" in way_out


def test_an_unreadable_id_of_a_directory_without_segments_is_not_written() -> None:
    snapshot = only(without_segments(alone(), 3), 3)
    of_orders(snapshot, 3)["partition_metadata"] = ""
    ways = ways_out(snapshot)
    assert "partition-metadata-is-garbled" not in ways and ways["no-live-isr"].startswith("do not start broker 3")


@pytest.mark.parametrize(
    ("gone", "loss"),
    [((1, 2), ", and the other replicas would lose the records that it does not have"), ((1, 2, 3), "")],
)
def test_no_member_of_an_isr_starts_whose_logs_all_are_gone(gone: tuple[int, ...], loss: str) -> None:
    """The first one would lead with an empty log, which a replica outside of the ISR then truncates its own to."""
    snapshot = alone()
    for broker in (1, 2, 3):
        down(snapshot, broker)
    for broker in gone:
        del snapshot["brokers"][str(broker)]["dirs"]["orders-0"]
    state(snapshot).update(leader=1, isr=[1, 2])
    snapshot["controller"] = None
    way_out = found(snapshot)["no-live-isr"].kind.way_out
    assert way_out.startswith(
        f"do not start brokers 1 and 2: of each, the log of orders-0 is gone{loss}; find the disks"
    )
    assert "start a broker of the ISR" not in way_out


def test_who_misses_one_of_several_brokers_starts_another() -> None:
    """Each ISR member has what was acknowledged; only who misses all of them needs an empty broker, and loses it."""
    snapshot = alone()
    for broker in (1, 2, 3):
        down(snapshot, broker)
    snapshot["controller"] = None
    plans = {premise: one for premise, one in steps(planned(snapshot)).items() if one}
    assert plans == {
        "": ["start-broker 1"],
        "if broker 1 is gone for good": ["start-broker 2"],
        "if brokers 1, 2 and 3 are gone for good, and acknowledged records may be lost": ["start-empty-broker 1"],
    }


def test_a_broker_whose_start_would_repair_nothing_is_not_missed() -> None:
    """Broker 2 is not in the ISR: the answer for who misses both would be that for who misses broker 1."""
    snapshot = only(alone(), 1)
    down(snapshot, 2)
    snapshot["controller"] = 3
    found = steps(planned(snapshot))
    assert found[""] == ["start-broker 1"]
    assert not any("brokers 1 and 2 are gone" in premise for premise in found)


def test_who_misses_one_of_several_brokers_loses_no_records_of_the_others() -> None:
    """Each broker that is down has the only log of a topic: who misses one loses its records only."""
    snapshot = cluster()
    for broker, topic in enumerate(IDS, 1):
        snapshot["topics"][topic]["znode"]["partitions"]["0"] = [broker]
        state(snapshot, topic).update(leader=-1, leader_epoch=6, isr=[broker])
        for other in {"1", "2", "3"} - {str(broker)}:
            del snapshot["brokers"][other]["dirs"][f"{topic}-0"]
    down(snapshot, 1, 2)
    found = planned(snapshot)
    assert steps(found) == {
        "": ["start-broker 1", "start-broker 2"],
        "if broker 1 is gone for good": None,
        "if broker 2 is gone for good": None,
        "if broker 1 is gone for good, and acknowledged records may be lost": [
            "start-broker 2",
            "start-empty-broker 1",
        ],
        "if broker 2 is gone for good, and acknowledged records may be lost": [
            "start-broker 1",
            "start-empty-broker 2",
        ],
        "if brokers 1 and 2 are gone for good, and acknowledged records may be lost": [
            "start-empty-broker 1",
            "start-empty-broker 2",
        ],
    }
    for broker, topic in enumerate(IDS, 1):
        one = found[f"if broker {broker} is gone for good, and acknowledged records may be lost"]
        assert f"no acknowledged one of {topic}-0 is lost that another broker has" in one.problem.keeps


def test_an_empty_broker_leads_what_only_the_gone_one_had_and_copies_the_rest() -> None:
    """Broker 1 has the only log of orders, and is in the ISR of payments with broker 2; both are down.

    The controller may have left broker 1 in that ISR: an empty one that starts before an election would lead it.
    """
    snapshot = cluster()
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [1]
    state(snapshot).update(leader=-1, leader_epoch=6, isr=[1])
    state(snapshot, "payments").update(leader=-1, leader_epoch=7, isr=[1, 2])
    for other in "23":
        del snapshot["brokers"][other]["dirs"]["orders-0"]
    down(snapshot, 1, 2)
    found = steps(planned(snapshot))
    given_up = found["if broker 1 is gone for good, and acknowledged records may be lost"]
    assert given_up == ["start-broker 2", "elect-unclean payments", "start-empty-broker 1"]


def test_of_what_is_left_no_older_log_leads_as_the_newest_is_gone() -> None:
    """The only member of the ISR has an old copy, broker 2 had the newest log, and broker 3 lives, with one between."""
    snapshot = only(alone(), 1)
    down(snapshot, 2)
    snapshot["controller"] = 3
    for broker, epochs in ((1, EPOCHS[:2]), (2, LATER), (3, EPOCHS)):
        snapshot["brokers"][str(broker)]["dirs"]["orders-0"] = log(IDS["orders"], epochs)
    found = steps(planned(snapshot))
    lossy = found["if broker 2 is gone for good, and acknowledged records may be lost"]
    assert lossy is not None and lossy[0] == "elect-unclean orders" and "start-broker 1" not in lossy


def test_a_plan_may_write_states_of_different_partitions_in_two_steps() -> None:
    """The state of orders is older than the logs, and payments has an empty ISR: the commands of one fit the other."""
    snapshot = cluster()
    state(snapshot)["leader_epoch"] = 2
    state(snapshot, "payments").update(isr=[], zk_version=30)
    writes = {one.name: one.once for one in problem(snapshot).procedures if one.once}
    assert writes.keys() == {"write-states", "write-states-of-leaders"}
    assert all(writes.values()) and writes["write-states"].isdisjoint(writes["write-states-of-leaders"])


def test_each_broker_with_the_newest_log_of_a_partition_may_be_missed() -> None:
    """ZooKeeper was restored: the state of a partition names the next log, whichever broker is missed."""
    snapshot = cluster("3.9.0")
    for name, newest in (("orders", 1), ("payments", 2)):
        state(snapshot, name).update(leader=newest, isr=[1, 2, 3], leader_epoch=2)
        for broker in snapshot["brokers"].values():
            broker["dirs"][f"{name}-0"] = log(IDS[name], EPOCHS)
    snapshot["topics"]["payments"]["znode"]["partitions"]["0"] = [2, 3, 1]
    for broker in (1, 2, 3):
        down(snapshot, broker)
    snapshot["controller"] = None
    steps_of_next = [one for one in problem(snapshot).procedures if one.name.startswith("write-states-of-next")]
    behind = {b for one in problem(snapshot).procedures if one.name == "write-states" for b in leaders(one.commands)}
    assert behind == {1, 2} and len(steps_of_next) == 2
    assert {one.name for one in steps_of_next} == {f"write-states-of-next {b}" for b in behind}
    assert all(int(one.name.split()[1]) not in leaders(one.commands) for one in steps_of_next)


def leaders(commands: tuple[str, ...]) -> set[int]:
    """The leaders in the states that commands write."""
    return {int(one.partition('"leader":')[2].partition(",")[0]) for one in commands if '"leader":' in one}


@pytest.mark.parametrize("cut", [{0: 5000, 200: 300}, {0: 5000, 100: 2500, 200: 300}])
def test_a_segment_that_was_removed_or_cut_in_the_middle_is_seen_by_its_bytes(cut: dict[int, int]) -> None:
    """Followers copy from their ends on: an ISR member that lacks what is before leads without it, unnoticed."""
    snapshot = alone("3.4.1")
    for number, sizes in (("1", whole := {0: 5000, 100: 6000, 200: 300}), ("2", cut), ("3", whole)):
        files = {f"{base:020}.log": size for base, size in sizes.items()}
        snapshot["brokers"][number]["dirs"]["orders-0"]["files"] = files
    found = plan_recovery(problem(snapshot), seconds=60)
    assert "to keep those of brokers 1 and 3, stop broker 2" in ways_out(snapshot)["replicas-diverged"]
    assert found.plan is not None and [one.name for one in found.plan.procedures] == ["move-directories orders 2"]
    inspection = inspect_snapshot(json.dumps(snapshot).encode())
    (seen,) = (one for one in inspection.observations if one.kind.name == "replicas-diverged")
    assert not seen.certain and "unless a cleaner has rewritten them" in seen.detail  # by the brokers' own policy
    rolled = {f"{base:020}.log": size for base, size in {0: 11000, 200: 300}.items()}
    snapshot["brokers"]["2"]["dirs"]["orders-0"]["files"] = rolled  # brokers roll segments at other offsets
    assert not ways_out(snapshot)
    snapshot["brokers"]["2"]["dirs"]["orders-0"]["files"] = {f"{base:020}.log": size for base, size in cut.items()}
    snapshot["topics"]["orders"]["cleanup_policy"] = "compact"
    assert "replicas-diverged" not in ways_out(snapshot)


@pytest.mark.parametrize(("longer", "is_safe"), [(600, True), (0, False), (-600, False)])
def test_an_isr_member_has_what_a_replica_had_that_began_an_earlier_leader_epoch(longer: int, is_safe: bool) -> None:
    """Leader epochs were raised since it led, as a reassignment raises them: the others may have what it has lost.

    Not if its log is longer: it led later than they did, from the offset on at which they began an epoch. Seen on
    brokers of 3.9.0.
    """
    snapshot = only(alone(), 3, epoch=9)
    for number in (1, 2):
        snapshot["brokers"][str(number)]["dirs"]["orders-0"] = log(IDS["orders"], (*EPOCHS[:2], (4, 40)))
    of_orders(snapshot, 3)["files"][f"{0:020}.log"] += longer
    plan = plan_recovery(problem(snapshot), seconds=60).plan
    assert (plan and [one.name for one in plan.procedures]) == (["start-broker 3"] if is_safe else None)


CERTAIN, UNCERTAIN, NOTHING = True, False, None


@pytest.mark.parametrize(
    ("policy", "entries", "expected"),
    [
        ("default", (None, None, None), UNCERTAIN),
        ("default", (0, 0, 0), CERTAIN),
        ("delete", (0, None, 0), UNCERTAIN),
        ("default", (0, 100, 0), NOTHING),
        (None, (None, None, None), NOTHING),
        (None, (0, 0, 0), CERTAIN),
        ("compact", (0, 0, 0), NOTHING),
    ],
)
@pytest.mark.parametrize(
    ("differing", "where"),
    [
        ("bytes", "replicas-diverged"),
        ("first batch", "replicas-diverged"),
        ("bytes", "replica-has-lost-records"),
        ("bytes", "records-on-no-replica"),
        ("first batch", "records-on-no-replica"),
    ],
)
def test_a_cleaner_explains_other_bytes_if_its_checkpoint_does(
    differing: str, where: str, policy: str | None, entries: tuple[int | None, ...], expected: bool | None
) -> None:
    """Brokers may have log.cleanup.policy=compact, or the topic may have had it: seen on brokers of 2.8.2 and 3.9.0."""
    snapshot = alone("3.4.1")
    snapshot["topics"]["orders"]["cleanup_policy"] = policy
    for number, entry in zip((1, 2, 3), entries, strict=True):
        log_ = of_orders(snapshot, number)
        log_["files"] = {f"{base:020}.log": size for base, size in {0: 5000, 100: 6000, 200: 300}.items()}
        log_.update(cleaned=entry, high_watermark=202)
        log_["first_batch"] = {"base_offset": 0, "leader_epoch": 0, "timestamp": 5, "crc": 7}
    other = of_orders(snapshot, 2)
    if differing == "bytes":
        other["files"][f"{100:020}.log"] += 900
    else:
        other["first_batch"]["crc"] = 8
    if where != "replicas-diverged":
        state(snapshot)["isr"] = [1, 3]
    if where == "records-on-no-replica":
        snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [1, 3]
    seen = [one for one in inspect_snapshot(json.dumps(snapshot).encode()).observations if one.kind.name == where]
    assert [one.certain for one in seen] == ([] if expected is NOTHING else [expected])
    assert all(("unless a cleaner has rewritten them" in one.detail) is not one.certain for one in seen)


def test_a_broker_that_is_down_has_no_more_of_the_leader_s_epoch_than_its_leader_had() -> None:
    """Two data centres had a leader each, in one leader epoch: what the other one wrote was truncated, unnoticed."""
    snapshot = alone("3.4.1")
    down(snapshot, 3)
    state(snapshot)["isr"] = [1, 2]
    assert ways_out(snapshot).keys() == {"broker-down"}
    snapshot["brokers"]["3"]["dirs"]["orders-0"] |= {"files": {f"{0:020}.log": 9000}, "high_watermark": 60}
    assert "before broker 3 starts, copy orders-0 there" in ways_out(snapshot)["replica-has-lost-records"]


def test_a_beginning_that_only_replicas_outside_of_the_isr_have_was_deleted_on_purpose() -> None:
    """Seen on 3.4.1: they delete it once they follow. What retention has deleted has the epochs that copies show."""
    snapshot = only(alone("3.4.1"), 2)
    cut = {**log(IDS["orders"], ((5, 200),)), "files": {f"{200:020}.log": 300}, "high_watermark": 210}
    cut["first_batch"] = {"base_offset": 200, "leader_epoch": 5, "timestamp": 9, "crc": 9}
    of_orders(snapshot, 2).update(cut)
    for broker in (1, 3):
        of_orders(snapshot, broker)["files"] = {f"{0:020}.log": 5000, f"{200:020}.log": 200}
    found = plan_recovery(problem(snapshot), seconds=60)
    lacks = "if what ISR members lack of the beginning of orders-0, which brokers 1 and 3 have"
    assert found.problem.premise == f"{lacks}, was deleted by retention or on purpose"
    assert found.plan is not None and [one.name for one in found.plan.procedures] == ["start-broker 2"]
    for broker in (1, 3):
        of_orders(snapshot, broker).update(cut, files={f"{200:020}.log": 200})
    assert "beginning" not in problem(snapshot).premise


def test_a_log_that_lost_a_segment_ends_where_the_bytes_of_a_copy_show_it_not_where_its_checkpoints_do() -> None:
    """A copy of a disk was cut off: the others would have truncated their logs to what was left."""
    snapshot = only(alone("3.4.1"), 3)
    for broker in (1, 2):
        of_orders(snapshot, broker).update(files={f"{0:020}.log": 5000, f"{100:020}.log": 3000}, high_watermark=140)
    whole = {f"{0:020}.log": 5000, f"{100:020}.log": 3500}
    of_orders(snapshot, 3).update(log(IDS["orders"], (*EPOCHS, (6, 150))), files=whole, recovery_point=160)
    assert "lost its end" not in ways_out(snapshot)["no-live-isr"]
    of_orders(snapshot, 3).update(files={f"{0:020}.log": 5000})
    assert "do not start broker 3: its log of orders-0 has lost its end" in ways_out(snapshot)["no-live-isr"]
    found = plan_recovery(problem(snapshot), seconds=60)
    assert found.plan is None
    lossy = next(one for one in found.alternatives if one.problem.premise == "if acknowledged records may be lost")
    assert lossy.plan is not None and [one.name for one in lossy.plan.procedures] == ["elect-unclean orders"]
    state(snapshot).update(leader=1, isr=[1, 2], leader_epoch=8)
    for broker in (1, 2):
        lines = [f"{epoch} {offset}" for epoch, offset in (*EPOCHS, (8, 140))]
        of_orders(snapshot, broker)["leader_epoch_checkpoint"] = "\n".join(["0", str(len(lines)), *lines, ""])
    assert "replica-has-lost-records" not in ways_out(snapshot)  # the broker has them no more


@pytest.mark.parametrize("member", [4, 2])
def test_a_segment_that_the_leader_lacks_may_be_on_a_replica_that_is_down_or_on_none(member: int) -> None:
    """What replicas do not have is not left over on another broker; live ISR members do not have it either."""
    snapshot = cluster("3.4.1", brokers=4)
    snapshot["brokers"]["4"]["dirs"]["orders-0"] = log(IDS["orders"])
    for broker in (1, 2, 3, 4):
        of_orders(snapshot, broker)["files"] = {f"{0:020}.log": 5000, f"{200:020}.log": 300}
    whole = {f"{0:020}.log": 5000, f"{100:020}.log": 6000, f"{200:020}.log": 200}
    of_orders(snapshot, member)["files"] = whole
    if member == 4:
        assert "keep orders-0 on broker 4" in ways_out(snapshot)["records-on-no-replica"]
        return
    del snapshot["brokers"]["4"]["dirs"]["orders-0"]
    down(snapshot, 2)
    state(snapshot)["isr"] = [1, 3]
    ways = ways_out(snapshot)
    assert "before broker 2 starts, copy orders-0 there" in ways["replica-has-lost-records"]
    assert "do not give broker 2 up" in ways["broker-down"]
