"""Clusters of strangers: advice that was harmful beside another damage, and plans that passed over records."""

from __future__ import annotations

import copy
from functools import reduce
from typing import Any

import pytest

from kwalk.search.analyses.settling import Settling
from tests.snapshots.test_combined_damages import EPOCHS, IDS, OTHER, cluster, log, names, problem, ways_out
from tests.snapshots.test_reported_plans import procedure
from tests.snapshots.test_strangers import state
from tests.snapshots.test_strangers_foreseen import alone, down, found


def minted(release: str = "3.4.1", **changes: Any) -> dict[str, Any]:
    """An old client has erased the id of orders, and a controller has minted another one."""
    snapshot = alone(release)
    snapshot["topics"]["orders"]["znode"]["topic_id"] = OTHER
    return snapshot | changes


def test_topics_with_each_others_ids_were_not_created_again_though_their_znodes_are_young() -> None:
    """A hand wrote both: an id that only logs of another topic have is minted by no controller."""
    snapshot = alone("3.6.2")
    snapshot["topics"]["payments"] = {**snapshot["topics"]["orders"], "version": 1}
    snapshot["topics"]["orders"] = {**snapshot["topics"]["orders"], "version": 1}
    for name, other in (("orders", "payments"), ("payments", "orders")):
        znode = snapshot["topics"][name]["znode"]
        snapshot["topics"][name]["znode"] = {**znode, "topic_id": IDS[other]}
        for broker in snapshot["brokers"].values():
            broker["dirs"][f"{name}-0"] = log(IDS[name])
    (way_out,) = {text for kind, text in ways_out(snapshot).items() if kind.startswith("fetch-by-id-refused")}
    assert way_out.count("fail the controller over") == 1 and "empty logs" not in way_out


def test_no_broker_of_the_isr_restarts_while_a_leader_would_refuse_the_id_at_a_later_epoch() -> None:
    """ZkReplicaStateMachine.doRemoveReplicasFromIsr raises the leader epoch as a member of the ISR stops."""
    snapshot = minted()
    other = {**snapshot["topics"]["orders"], "znode": {**snapshot["topics"]["orders"]["znode"]}}
    other["znode"]["topic_id"] = IDS["payments"]
    other["partition_state"] = {"0": {**state(snapshot), "isr": [1, 1, 2, 3]}}
    snapshot["topics"]["payments"] = other
    for broker in snapshot["brokers"].values():
        broker["dirs"]["payments-0"] = log(IDS["payments"])
    assert "but first see to the topic id of orders-0" in ways_out(snapshot)["isr-repeats-a-broker"]
    state(snapshot)["isr"] = [2, 3]
    state(snapshot)["leader"] = 2
    assert "but first see to the topic id" not in ways_out(snapshot)["isr-repeats-a-broker"]


def test_no_replica_is_reassigned_while_its_leader_would_refuse_the_id_at_a_later_epoch() -> None:
    snapshot = minted()
    down(snapshot, 3)
    state(snapshot)["isr"] = [1, 2]
    assert ways_out(snapshot)["broker-down"].count("reassign orders-0 when the topic id is seen to") == 1
    snapshot["brokers"]["1"]["dirs"]["orders-0"] = log(OTHER)  # the leader has ZooKeeper's id, and a follower another
    assert "reassign orders-0 when" not in ways_out(snapshot)["broker-down"]


def outvoted() -> dict[str, Any]:
    """Broker 2 is the whole ISR, with a log that began under the minted id; the others have the records before."""
    snapshot = minted("3.6.2")
    snapshot["topics"]["orders"]["version"] = 3
    state(snapshot).update(leader=2, isr=[2], leader_epoch=6)
    snapshot["brokers"]["2"]["dirs"]["orders-0"] = log(OTHER, ((6, 0),), crc=9)
    return snapshot


def test_logs_that_more_replicas_have_under_an_earlier_id_are_not_given_up_without_a_word() -> None:
    way_out = ways_out(outvoted())["replica-refuses"]
    assert (
        way_out.startswith("choose which records orders-0 is to have") and way_out.count("orders-0 and orders-0") == 0
    )
    assert "to keep those of brokers 1 and 3, move nothing away before one of them leads: broker 2 would" in way_out
    first = problem(outvoted())
    assert first.premise == "to keep the records that topic orders has on broker 2"
    assert first.keeps.startswith("it gives up the records that only brokers 1 and 3 have of topic orders")
    assert first.alternatives[0].premise.endswith("on broker 1 and 3")
    created_again = outvoted()
    created_again["topics"]["orders"]["version"] = 0
    assert problem(created_again).premise == ""


def test_an_unclean_election_starts_first_the_broker_whose_log_ends_last_though_the_isr_is_empty() -> None:
    snapshot = alone("3.6.2")
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(IDS["orders"], (*EPOCHS, (6, 80)))
    down(snapshot, 3)
    state(snapshot).update(leader=-1, isr=[], leader_epoch=8)
    assert elections(snapshot) == ["elect-unclean-after-start orders 3 1 2"]
    snapshot["brokers"]["2"]["dirs"]["orders-0"] = log(IDS["orders"], (*EPOCHS, (6, 80)))
    assert elections(snapshot) == ["elect-unclean orders 1"]


def elections(snapshot: dict[str, Any]) -> list[str]:
    """The unclean elections of the operator who gives no broker up."""
    found = problem(snapshot).alternatives
    (lossy,) = (one for one in found if one.premise == "if acknowledged records may be lost")
    return [name for name in names(lossy) if name.startswith("elect-unclean")]


def test_no_plan_relies_on_a_preferred_election_that_the_controller_cannot_hold() -> None:
    """KafkaController.canPreferredReplicaBeLeader asks the context: a hand has written the state since it was read."""
    snapshot = alone("3.5.1")
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(IDS["orders"], (*EPOCHS, (7, 80)))
    down(snapshot, 2, 3)
    state(snapshot).update(leader=-1, isr=[3], leader_epoch=4)
    given_up = next(one for one in problem(snapshot).alternatives if "write-states-without-newest 1" in names(one))
    settling = Settling(given_up.worlds[0])
    steps = ("restart 1", "write-states-without-newest 1")
    moves = (move for name in steps for move in procedure(given_up, name).moves[0])
    belief = reduce(settling.moved, moves, settling.first(0))
    assert all("partition_servable" in settling.violated(vector) for vector, _ in belief.states)


def test_a_disk_under_a_new_id_has_the_topics_log_though_another_id_was_minted_since() -> None:
    snapshot = minted("3.6.2")
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [1, 2]
    snapshot["brokers"]["4"] = {**snapshot["brokers"]["1"]}
    snapshot["brokers"]["1"] = {**snapshot["brokers"]["1"], "dirs": None, "log_dirs": None}
    snapshot["brokers"]["3"]["dirs"].pop("orders-0")
    snapshot["broker_ids"] = [1, 2, 3, 4]
    down(snapshot, 1)
    state(snapshot).update(leader=-1, isr=[1], leader_epoch=7)
    ways = ways_out(snapshot)
    assert "give the broker its earlier id again" in ways["replica-under-another-broker-id"]
    assert not any("before broker 1 starts, move orders-0 away" in text for text in ways.values())


def test_a_log_that_was_not_read_is_not_moved_away_if_it_has_the_id_of_the_others() -> None:
    snapshot = minted()
    down(snapshot, 3)
    state(snapshot)["isr"] = [1, 2]
    snapshot["brokers"]["3"].update(dirs=None, log_dirs=None)
    ways = ways_out(snapshot)
    assert any("unless its partition.metadata has the id of the logs that are kept" in text for text in ways.values())
    before = procedure(problem(snapshot), "move-directories orders 3").before
    assert callable(before) and "it stays if its partition.metadata has the id" in before(frozenset())


def test_brokers_that_stop_at_once_leave_other_topics_without_a_leader() -> None:
    """All three have the log of an earlier topic of the name, and the present one is to begin with empty logs."""
    snapshot = alone("2.8.1")
    orders = snapshot["topics"]["orders"]
    snapshot["topics"]["clock"] = {**orders, "znode": {**orders["znode"], "topic_id": OTHER}, "version": 0, "mzxid": 60}
    for broker in snapshot["brokers"].values():
        broker["dirs"]["clock-0"] = log(IDS["payments"])
    (empty,) = problem(snapshot).alternatives
    risk = procedure(empty, "move-directories-at-once clock 1 2 3").risk
    assert "meanwhile orders-0 has no leader" in risk and "unclean.leader.election.enable is false" in risk
    removed = procedure(problem(minted()), "restart-without-metadata-files orders 1 2 3").risk
    assert "orders may have no leader until the last of them has started" in removed


def test_an_erased_id_is_said_to_be_known_to_those_that_show_it() -> None:
    snapshot = alone("3.0.0")
    snapshot["topics"]["orders"]["znode"].pop("topic_id")
    topics = {"orders": {"error": 0, "topic_id": IDS["orders"], "partitions": {}}}
    snapshot["brokers"]["1"]["metadata_cache"] = {"brokers": [1, 2, 3], "controller": 1, "topics": topics}
    assert found(snapshot)["topic-id-missing"].detail.endswith(f"replicas and the controller have {IDS['orders']}")
    for broker in snapshot["brokers"].values():
        broker.update(dirs=None, log_dirs=None)
    assert found(snapshot)["topic-id-missing"].detail.endswith(f"no topic_id; the controller has {IDS['orders']}")


def test_earlier_records_of_a_broker_that_is_given_up_are_named_if_its_id_may_have_been_replaced() -> None:
    snapshot = outvoted()
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(OTHER, ((6, 0),), crc=9)
    state(snapshot)["isr"] = [2, 3]
    down(snapshot, 1)
    assert "but for the earlier records of orders-0" in ways_out(snapshot)["broker-down"]
    snapshot["topics"]["orders"]["version"] = 0
    assert "but for the earlier records" not in ways_out(snapshot)["broker-down"]


def test_a_broker_that_is_down_and_no_replica_is_made_one_before_what_only_it_has_is_given_up() -> None:
    """Election.leaderForOffline looks for replicas: a start alone ends nothing, and a reassignment needs a leader."""
    snapshot = alone("3.6.2", brokers=4)
    snapshot["brokers"]["4"]["dirs"]["orders-0"] = log(IDS["orders"], (*EPOCHS, (6, 80)))
    down(snapshot, 4)
    state(snapshot).update(leader=-1, isr=[4], leader_epoch=7)
    put_back = procedure(problem(snapshot), "put-back orders 4")
    order = (
        "start.sh",
        "with-4.json --execute",
        "delete /controller",
        "with-4.json --verify",
        "without-4.json --verify",
    )
    places = [next(n for n, line in enumerate(put_back.commands) if text in line) for text in order]
    assert places == sorted(places) and put_back.starts == {"4"}
    settling = Settling(problem(snapshot).worlds[0])
    belief = reduce(settling.moved, put_back.moves[0], settling.first(0))
    assert not any(settling.violated(vector) for vector, _ in belief.states)
    gone = next(one for one in problem(snapshot).alternatives if "4 is gone for good" in one.premise)
    assert "put-back orders 4" not in names(gone)


@pytest.mark.parametrize("shown", ["renamed", "in memory", "nothing"])
def test_an_isr_member_that_has_deleted_its_log_lacks_records(shown: str) -> None:
    """Somebody removed the marker of a deletion that waited for broker 3, which has the last log (seen on 3.3.2)."""
    snapshot = alone("3.3.2")
    down(snapshot, 3)
    state(snapshot).update(leader=-1, isr=[2], leader_epoch=7)
    for number in "12":
        broker = snapshot["brokers"][number]
        gone = broker["dirs"].pop("orders-0")
        if shown == "renamed":
            broker["set_aside"] = {"orders-0.6046fe9fefc3433f88b6362fbde22cd7-delete": gone}
        elif shown == "in memory":
            broker["replicas"] = {"orders": {"0": None}}
    seen = found(snapshot)
    if shown == "nothing":
        way_out = ways_out(snapshot)["isr-member-has-no-log"]
        assert way_out.endswith("copy orders-0 of broker 3 to another place, before it is truncated")
        return
    assert "isr-member-has-no-log" not in seen
    assert "the log of broker 2 is gone, and broker 3 has" in seen["isr-member-lacks-records"].detail
    assert "a broker that starts deletes its log, too" in seen["isr-member-lacks-records"].kind.cause
    assert "broker 3 as leader and only ISR member" in ways_out(snapshot)["isr-member-lacks-records"]
    assert "but first see to orders-0, of which an ISR member lacks records" in ways_out(snapshot)["broker-down"]


def test_replicas_copy_what_a_leader_without_a_directory_has_open() -> None:
    """Brokers 2 and 3 started, and had all records of the leader, whose directory was removed (seen on 3.4.1)."""
    snapshot = alone("3.4.1")
    down(snapshot, 2, 3)
    state(snapshot).update(leader=1, isr=[1])
    broker = snapshot["brokers"]["1"]
    del broker["dirs"]["orders-0"]
    broker["replicas"] = {"orders": {"0": {"leader_epoch": state(snapshot)["leader_epoch"], "leads": True}}}
    way_out = ways_out(snapshot)["isr-member-has-no-log"]
    assert way_out.endswith("is truncated; then start brokers 2 and 3: replicas copy what broker 1 has open")


def test_a_topic_that_has_the_id_of_another_one_gets_its_own_without_more_ado() -> None:
    """That was to be done before, though it is the way out; before the failover for another topic it is."""
    snapshot = cluster("3.4.1")
    snapshot["topics"]["orders"]["znode"]["topic_id"] = IDS["payments"]
    own, before = f"write the id {IDS['orders']}", "but first give the topics of one id"
    (way_out,) = {text for text in ways_out(snapshot).values() if own in text}
    assert before not in way_out
    third = copy.deepcopy(snapshot["topics"]["payments"])
    snapshot["topics"]["refunds"] = third
    for broker in snapshot["brokers"].values():
        broker["dirs"]["refunds-0"] = log(OTHER, crc=11)
    third["znode"]["topic_id"] = "CCCCCCCCQAGCCCCCCCCCCC"
    assert before in ways_out(snapshot)["fetch-by-id-refused"]
