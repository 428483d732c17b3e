"""Clusters of strangers: plans of who has lost a broker, or whose disk has got another broker's id."""

from __future__ import annotations

from copy import deepcopy
from functools import reduce
from typing import Any

import pytest
from attrs import evolve

from kwalk.model.language.recovery import Problem
from kwalk.search.analyses.recovery import plan_recovery
from kwalk.search.analyses.settling import Settling
from tests.snapshots.test_combined_damages import EPOCHS, IDS, OTHER, cluster, log, names, problem, ways_out
from tests.snapshots.test_reported_plans import procedure
from tests.snapshots.test_strangers import state
from tests.snapshots.test_strangers_foreseen import alone, down


def test_the_log_of_a_broker_that_is_gone_for_good_stands_in_the_way_of_no_plan() -> None:
    """A broker that is down has the log of an earlier topic: no process takes up what is gone."""
    snapshot = alone("2.8.2")
    del snapshot["topics"]["orders"]["znode"]["topic_id"]
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(OTHER, ((0, 0), (2, 30)), crc=9)
    down(snapshot, 3)
    state(snapshot)["isr"] = [1, 2]
    first = problem(snapshot)
    gone = next(one for one in first.alternatives if one.premise == "if broker 3 is gone for good")
    fits = [
        {c.args[0] for c in one.worlds[0].claims if c.declaration.name == "down_replica_fits"} for one in (first, gone)
    ]
    assert fits == [{0, 1, 2}, {0, 1}]
    assert "down-broker-has-another-log" in gone.uncovered and "down-broker-has-another-log" not in first.uncovered
    found = plan_recovery(gone, seconds=60)
    assert found.plan is not None and "write-topic-id orders" in found.plan.procedures[0].name


def renumbered(*isr: int) -> dict[str, Any]:
    """Broker 4 runs with the disk of broker 1, which has more than broker 2."""
    snapshot = alone("3.4.1")
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [1, 2]
    snapshot["brokers"]["4"] = {
        **snapshot["brokers"]["1"],
        "dirs": {"orders-0": log(IDS["orders"], (*EPOCHS, (6, 80)))},
    }
    snapshot["brokers"]["1"] = {**snapshot["brokers"]["1"], "dirs": None, "log_dirs": None}
    snapshot["brokers"]["3"]["dirs"].pop("orders-0")
    snapshot["broker_ids"] = [1, 2, 3, 4]
    down(snapshot, *{1, *isr})
    state(snapshot).update(leader=-1, isr=list(isr), leader_epoch=7)
    return snapshot


def violated(given: Problem, *steps: str) -> bool:
    """Whether something is wrong after steps."""
    settling = Settling(given.worlds[0])
    moves = (move for name in steps for move in procedure(given, name).moves[0])
    belief = reduce(settling.moved, moves, settling.first(0))
    return any(settling.violated(vector) for vector, _ in belief.states)


def test_a_disk_under_a_new_id_has_what_the_isr_had() -> None:
    """The other replica is behind: it has nothing that was acknowledged and the member of the ISR lacks."""
    given = problem(renumbered(1))
    assert given.premise == "if the disk of broker 4 is that of broker 1, which has got another id"
    assert not violated(given, "set-broker-id 4 1")


def test_of_two_isr_members_that_are_down_the_disk_under_a_new_id_may_have_more() -> None:
    """Power was lost: what broker 2 lacks may have been acknowledged, and would be truncated if it led."""
    snapshot = renumbered(1, 2)
    snapshot["brokers"]["2"]["dirs"]["orders-0"] = log(IDS["orders"], (*EPOCHS, (6, 80)))
    snapshot["brokers"]["4"]["dirs"]["orders-0"]["files"] = {f"{0:020}.log": 12000}
    given = problem(snapshot)
    assert not violated(given, "set-broker-id 4 1", "elect-unclean orders", "start-broker 2")
    assert violated(given, "start-broker 2", "set-broker-id 4 1")


def unread() -> dict[str, Any]:
    """The power of all was lost, broker 1 has lost its end, and nobody has read the disk of broker 3."""
    snapshot = alone("3.9.0")
    snapshot["brokers"]["2"]["dirs"]["orders-0"] = {**log(IDS["orders"]), "high_watermark": 90}
    snapshot["brokers"]["3"].update(dirs=None, log_dirs=None)
    down(snapshot, 1, 2, 3)
    return snapshot


def test_what_a_disk_has_that_was_not_read_is_a_condition_though_another_broker_is_gone() -> None:
    """Its log may lack records, or have some that the ISR members which were read have lost."""
    first = problem(unread())
    condition = (
        "if the log directories of broker 3, which the snapshot lacks, have the logs that ZooKeeper assigns to them; "
        "those of broker 3 have no leader epoch above ZooKeeper's; "
        "of broker 3 they end where the longest of other ISR members do"
    )
    assert first.premise == condition
    gone = {one.instead_of: one.premise for one in first.alternatives if not one.is_last_resort}
    assert gone[frozenset({"start-broker 2"})] == f"{condition}, and if broker 2 is gone for good"
    lost = "if the logs of brokers 1 and 2 have lost no end with the power"
    assert gone[frozenset({"start-broker 3"})] == f"{lost}, and if broker 3 is gone for good"
    lossy = {one.premise for one in first.alternatives if one.instead_of == {"start-broker 1"} and one.is_last_resort}
    assert lossy == {f"{condition}, and if broker 1 is gone for good, and acknowledged records may be lost"}


def test_where_no_log_was_read_and_all_isr_members_are_down_their_ends_are_a_condition() -> None:
    """Only ZooKeeper was read after a loss of power: the first member that starts may be the one with an old log."""
    snapshot = unread()
    for broker in snapshot["brokers"].values():
        broker.update(dirs=None, log_dirs=None)
    ends = "; of brokers 1, 2 and 3 they end where the longest of other ISR members do"
    assert problem(snapshot).premise.endswith(ends)
    assert "compare the logs of orders-0 on brokers 1, 2 and 3" in ways_out(snapshot)["no-live-isr"]


def test_the_end_of_a_log_that_was_not_read_does_not_matter_while_a_leader_lives() -> None:
    snapshot = unread()
    snapshot["broker_ids"], snapshot["controller"] = [1, 2], 1
    for number in "12":
        snapshot["brokers"][number]["alive"] = True
    snapshot["topics"]["orders"]["znode"].pop("topic_id")
    assert problem(snapshot).premise.endswith("have the logs that ZooKeeper assigns to them")


def test_what_a_member_of_the_isr_can_bring_back_is_given_up_only_if_it_is_gone() -> None:
    """Its start is no step of a plan that gives records up: as long as it can start, nothing is to be given up."""
    snapshot = alone("3.4.1")
    down(snapshot, 2)
    state(snapshot).update(leader=-1, isr=[2], leader_epoch=7)
    snapshot["brokers"]["2"]["dirs"]["orders-0"] = log(IDS["orders"], (*EPOCHS, (6, 80)))
    lossy = next(one for one in problem(snapshot).alternatives if one.is_last_resort)
    assert "start-broker 2" not in names(lossy) and "elect-unclean orders" in names(lossy)
    assert lossy.premise == "if broker 2 is gone for good, and acknowledged records may be lost"
    snapshot["brokers"]["2"].update(dirs=None, log_dirs=None)  # of what is gone, nothing need be on its disk
    lossy = next(one for one in problem(snapshot).alternatives if one.is_last_resort and not one.instead_of)
    assert lossy.premise == "if broker 2 is gone for good, and acknowledged records may be lost"


def without_isr() -> dict[str, Any]:
    """As before, and a hand has emptied the ISR; broker 2 has the newest log."""
    snapshot = unread()
    snapshot["brokers"]["2"]["dirs"]["orders-0"] = log(IDS["orders"], (*EPOCHS, (6, 80)))
    state(snapshot).update(leader=-1, isr=[], leader_epoch=8)
    return snapshot


def test_no_replica_starts_without_its_log_while_an_unclean_election_might_take_it() -> None:
    first, *others = [one for one in problem(without_isr()).alternatives if one.is_last_resort]
    assert "move-directories orders 3" in names(problem(without_isr()))
    assert not any(name.startswith(("move-directories", "start-empty-broker")) for name in names(first))
    assert "down_replica_fits" not in {c.declaration.name for c in first.worlds[0].claims if c.args[:1] == (2,)}
    gone = next(one for one in others if one.instead_of == {"start-broker 2"})
    assert "start-broker 1" in names(gone) and "start-empty-broker 2" not in names(gone)
    assert "start-broker 1" not in names(first)


def test_what_is_gone_for_good_starts_with_no_step() -> None:
    """Of an ISR member that is down and has another id, neither with its files nor without them."""
    snapshot = alone("2.8.2")
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(OTHER, (*EPOCHS, (6, 80)))
    down(snapshot, 3)
    state(snapshot).update(leader=-1, isr=[3], leader_epoch=7)
    lossy = next(one for one in problem(snapshot).alternatives if one.premise.endswith("records may be lost"))
    assert "if broker 3 is gone for good" in lossy.premise and "restart-without-metadata-files orders 3" in names(
        problem(snapshot)
    )
    assert not any("3" in one.starts for one in lossy.procedures)


def test_a_log_that_was_not_read_is_not_moved_away_to_elect_an_empty_one() -> None:
    """That it is of the topic is a condition of all answers (with ZooKeeper's part of a snapshot of 3.0.2)."""
    snapshot = alone("3.0.2")
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [2, 3]
    state(snapshot).update(leader=-1, isr=[2], leader_epoch=7)
    down(snapshot, 2)
    for broker in snapshot["brokers"].values():
        broker.update(dirs=None, log_dirs=None)
    condition = "if those of broker 3 are not of an earlier topic of the name (partition.metadata has the id)"
    first = problem(snapshot)
    lossy = next(one for one in first.alternatives if one.is_last_resort and "if broker 2 is gone" in one.premise)
    for one, step in ((first, "start-broker 2"), (lossy, "elect-unclean orders")):
        found = plan_recovery(evolve(one, alternatives=()), seconds=60)
        assert condition in one.premise and found.plan is not None
        assert [procedure.name for procedure in found.plan.procedures] == [step]


def test_what_no_sequence_repairs_in_one_partition_has_no_plan_for_several() -> None:
    """It was searched for until the time ended: sequences for the other topic were tried with each of them."""
    snapshot = alone("2.8.2", brokers=5)
    snapshot["topics"]["payments"] = deepcopy(snapshot["topics"]["orders"])
    snapshot["topics"]["payments"]["znode"]["topic_id"] = IDS["payments"]
    snapshot["topics"]["payments"]["znode"]["partitions"]["0"] = [4, 2]
    snapshot["topics"]["payments"]["partition_state"]["0"].update(leader=-1, isr=[4], leader_epoch=7)
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [1, 2, 5]
    state(snapshot)["isr"] = [1, 2, 5]
    snapshot["brokers"]["5"]["dirs"] = {"orders-0": log(IDS["orders"])}
    snapshot["brokers"]["3"]["dirs"] = snapshot["brokers"]["4"]["dirs"] = {}
    snapshot["topics"]["orders"]["znode"]["topic_id"] = OTHER
    for number in "24":
        snapshot["brokers"][number]["dirs"]["payments-0"] = log(IDS["payments"])
    down(snapshot, 4)
    first = problem(snapshot)
    gone = next(one for one in first.alternatives if one.premise == "if broker 4 is gone for good")
    found = plan_recovery(evolve(gone, alternatives=()), seconds=30)
    assert found.plan is None and found.complete and found.stopped is None
    assert plan_recovery(evolve(first, alternatives=()), seconds=30).plan is not None


def test_of_two_failed_disks_one_may_be_lost() -> None:
    """The other one is repaired, and only its own partition gives records up (failed disks of two brokers of 3.9.0)."""
    snapshot = alone("3.9.0", brokers=4)
    snapshot["topics"]["payments"] = deepcopy(snapshot["topics"]["orders"])
    snapshot["topics"]["payments"]["znode"]["topic_id"] = IDS["payments"]
    for (name, replicas), failed in zip({"orders": [2, 1], "payments": [3, 4]}.items(), "23", strict=True):
        topic = snapshot["topics"][name]
        topic["znode"]["partitions"]["0"] = replicas
        topic["partition_state"]["0"].update(leader=-1, isr=replicas[:1], leader_epoch=7)
        root = {"path": "/b", "broker_id": None, "cluster_id": None, "offline": True}
        snapshot["brokers"][failed]["log_dirs"] = [root]
    for number, name in zip("1234", ("orders", "", "", "payments"), strict=True):
        snapshot["brokers"][number]["dirs"] = {f"{name}-0": log(IDS[name])} if name else {}
    lossy = {one.instead_of: one for one in problem(snapshot).alternatives if one.is_last_resort and one.instead_of}
    for failed, topic in (("2", "orders"), ("3", "payments")):
        given = lossy[frozenset({f"repair-disk {failed}"})]
        found = plan_recovery(evolve(given, alternatives=()), seconds=60)
        assert found.plan is not None
        steps = {one.name for one in found.plan.procedures}
        assert steps == {f"repair-disk {5 - int(failed)}", f"elect-unclean {topic}"}
        assert "offline-replica" in given.uncovered


def beside_an_empty_replica() -> dict[str, Any]:
    """The only ISR member is down; the live replica has copied nothing yet, and broker 3 has an earlier topic's log."""
    snapshot = alone("3.6.2", brokers=4)
    snapshot["topics"]["orders"].update(version=0, mzxid=60)
    state(snapshot).update(leader=-1, leader_epoch=7, isr=[1])
    snapshot["brokers"]["2"]["dirs"]["orders-0"] |= {
        "leader_epoch_checkpoint": "",
        "files": {f"{0:020}.log": 0},
        "first_batch": None,
        "high_watermark": 0,
    }
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(OTHER, ((0, 0), (2, 30)), crc=9)
    snapshot["controller"] = 4
    down(snapshot, 1, 3)
    return snapshot


def test_the_id_of_an_earlier_topic_is_not_written_to_start_a_broker_with_its_log() -> None:
    first = problem(beside_an_empty_replica())
    assert not [name for name in names(first) if name.startswith("write-topic-id")]
    assert "move-directories orders 3" in names(first)


def test_where_the_only_log_of_a_topic_is_gone_an_empty_one_leads_and_a_foreign_one_goes() -> None:
    which = "if broker 1 is gone for good, and acknowledged records may be lost"
    gone = next(one for one in problem(beside_an_empty_replica()).alternatives if one.premise == which)
    found = plan_recovery(gone, seconds=60)
    assert found.plan is not None
    assert [one.name for one in found.plan.procedures] == ["move-directories orders 3", "elect-unclean orders"]


def test_the_log_of_a_partition_that_the_topic_no_longer_has_is_no_choice() -> None:
    """An earlier topic of the name had more partitions: what its logs are does not concern this one."""
    snapshot = alone()
    snapshot["brokers"]["3"]["dirs"] = {f"orders-{number}": log(OTHER, ((0, 0), (2, 30)), crc=9) for number in (0, 1)}
    down(snapshot, 3)
    state(snapshot)["isr"] = [1, 2]
    given = problem(snapshot)
    assert not given.premise and not [one for one in given.alternatives if "orders has" in one.premise + one.keeps]


def test_logs_of_an_earlier_topic_that_are_gone_with_their_brokers_forbid_no_empty_ones() -> None:
    """Brokers 2 and 3 were down while orders was created again, and had all that payments had."""
    snapshot = cluster("2.8.2", brokers=3)
    state(snapshot)["isr"] = [1]
    snapshot["topics"]["payments"]["znode"]["partitions"]["0"] = [2, 3]
    state(snapshot, "payments").update(leader=-1, isr=[2], leader_epoch=6)
    snapshot["brokers"]["1"]["dirs"].pop("payments-0")
    for number, epochs in (("2", ((0, 0), (2, 30))), ("3", ((0, 0), (1, 20)))):
        snapshot["brokers"][number]["dirs"]["orders-0"] = log(OTHER, epochs, crc=int(number))
    down(snapshot, 2, 3)
    which = "if brokers 2 and 3 are gone for good, and acknowledged records may be lost"
    found = plan_recovery(next(one for one in problem(snapshot).alternatives if one.premise == which), seconds=60)
    assert found.plan is not None and found.plan.procedures[0].name == "start-empty-broker 2"


@pytest.mark.parametrize("how", ["not read", "on a failed disk"])
def test_the_only_isr_member_has_more_than_others_where_its_log_is_not_seen(how: str) -> None:
    """A live replica ends where another one has a later leader epoch: what the member had since is not shown."""
    snapshot = alone("3.3.2")
    snapshot["brokers"]["2"]["dirs"]["orders-0"] = log(IDS["orders"], ((0, 0),)) | {"high_watermark": 10}
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(IDS["orders"], ((0, 0), (3, 10)))
    snapshot["brokers"]["1"].update(dirs=None, log_dirs=None)
    down(snapshot, 1, 3)
    if how == "on a failed disk":
        snapshot["brokers"]["1"].update(
            alive=True, dirs={}, log_dirs=[{"path": "/kafka", "broker_id": 1, "offline": True}]
        )
        snapshot["broker_ids"].insert(0, 1)
    state(snapshot).update(leader=-1, isr=[1], leader_epoch=6)
    given_up = {"start-broker 1", "repair-disk 1"}
    known = problem(snapshot).alternatives
    gone = next(one for one in known if not one.is_last_resort and one.instead_of and one.instead_of <= given_up)
    found = plan_recovery(gone, seconds=60)
    assert found.plan is None and found.complete


def test_the_only_isr_member_has_records_where_its_log_is_not_seen_and_another_is_empty() -> None:
    snapshot = beside_an_empty_replica()
    snapshot["brokers"]["1"].update(dirs=None, log_dirs=None)
    known = problem(snapshot).alternatives
    found = plan_recovery(next(o for o in known if o.instead_of == {"start-broker 1"}), seconds=60)
    assert found.plan is None and found.complete


def test_nobody_gives_up_the_isr_member_that_may_be_behind_a_log_that_was_not_read() -> None:
    """Broker 2 may have led after broker 3, which has more than the live replica: it starts, unless it is gone, too."""
    snapshot = alone()
    snapshot["brokers"]["1"]["dirs"]["orders-0"] = log(IDS["orders"], EPOCHS[:2])
    snapshot["brokers"]["2"].update(dirs=None, log_dirs=None)
    down(snapshot, 2, 3)
    state(snapshot).update(leader=-1, isr=[3], leader_epoch=9)
    lossy = {one.instead_of: one for one in problem(snapshot).alternatives if one.is_last_resort}
    for given_up, steps in ((frozenset(), ["start-broker 3"]), ({"start-broker 3"}, ["elect-unclean orders"])):
        found = plan_recovery(lossy[frozenset(given_up)], seconds=60)
        assert found.plan is not None and [one.name for one in found.plan.procedures] == steps


def restored_unlike_the_isr() -> dict[str, Any]:
    """The only ISR member was restored from a backup, and nobody has read the other replica, which led before."""
    snapshot = alone()
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [2, 3]
    snapshot["brokers"]["1"]["dirs"] = {}
    snapshot["brokers"]["2"].update(dirs=None, log_dirs=None)
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(IDS["orders"], EPOCHS[:2])
    down(snapshot, 2, 3)
    state(snapshot).update(leader=-1, isr=[3], leader_epoch=9)
    return snapshot


def test_a_log_that_was_not_read_is_no_choice_against_one_that_was() -> None:
    """Who had lost broker 2 was told to keep its records, and to move those of broker 3 away."""
    first = problem(restored_unlike_the_isr())
    assert "to keep the records" not in first.premise
    assert "of broker 2 they end no later than those that were read" in first.premise
    assert "move-directories orders 3" not in names(first)


def test_a_log_of_another_topic_does_not_keep_a_shorter_one_from_leading() -> None:
    """An ISR member has another log than the one that is gone: it is not emptied to lead while a copy is left."""
    snapshot = alone("2.7.2")
    del snapshot["topics"]["orders"]["znode"]["topic_id"]
    known = (("1", ((0, 0), (4, 20)), 99, 90), ("2", EPOCHS, 7, 60), ("3", EPOCHS[:2], 7, 30))
    for number, epochs, crc, end in known:
        files = {f"{0:020}.log": 1000 + 100 * end}
        snapshot["brokers"][number]["dirs"]["orders-0"] = log(None, epochs, crc) | {
            "files": files,
            "recovery_point": end,
            "high_watermark": end,
        }
    down(snapshot, 1, 2, 3)
    state(snapshot)["isr"] = [1, 2]
    lossy = [one for one in problem(snapshot).alternatives if one.is_last_resort]
    found = plan_recovery(next(one for one in lossy if one.instead_of == {"start-broker 2"}), seconds=60)
    assert found.plan is not None
    assert [one.name for one in found.plan.procedures] == ["start-broker 3", "elect-unclean orders"]


def test_a_log_that_no_disk_has_which_was_read_is_given_up_only_if_no_other_has_it() -> None:
    """The disk of the only ISR member failed, then the broker ended: nothing shows that it had another disk."""
    snapshot = alone("3.4.1")
    snapshot["brokers"]["2"]["dirs"] = {}
    down(snapshot, 2)
    state(snapshot).update(leader=-1, isr=[2], leader_epoch=7)
    given = problem(snapshot)
    assert given.premise == "if the log that broker 2 had of orders-0 is on no other disk"
    assert all(given.premise in one.premise or "broker 2 is gone" in one.premise for one in given.alternatives)


def test_a_live_replica_that_lost_a_foreign_log_leads_before_no_copy_that_can_start() -> None:
    """Broker 3 runs with an earlier topic's log; it leads empty where it is elected in the place of broker 2."""
    snapshot = alone("3.4.1", brokers=4)
    snapshot["topics"]["orders"].update(version=0, mzxid=60)
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [3, 1, 2]
    snapshot["brokers"]["2"]["dirs"]["orders-0"] = log(IDS["orders"], (*EPOCHS, (6, 80)))
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(OTHER, ((0, 0), (2, 30)), crc=9)
    snapshot["controller"] = 4
    down(snapshot, 1, 2)
    state(snapshot).update(leader=-1, isr=[2], leader_epoch=7)
    lossy = next(o for o in problem(snapshot).alternatives if o.is_last_resort and "broker 2 is gone" in o.premise)
    found = plan_recovery(lossy, seconds=60)
    assert found.plan is not None
    assert "elect-unclean-after-start orders 1 3" in [one.name for one in found.plan.procedures]


def on_a_failed_disk() -> dict[str, Any]:
    """The disk of the only ISR member has failed, and the other replica has the log of another id."""
    snapshot = alone("3.4.1")
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [1, 3]
    snapshot["brokers"]["2"]["dirs"] = {}
    failed = {"path": "/kafka", "broker_id": 1, "cluster_id": None, "offline": True}
    snapshot["brokers"]["1"].update(dirs={}, log_dirs=[failed])
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(OTHER, ((0, 0), (2, 30)), crc=9)
    state(snapshot).update(leader=-1, isr=[1], leader_epoch=7)
    return snapshot


def test_a_log_on_a_failed_disk_has_not_the_id_of_an_earlier_topic() -> None:
    snapshot = on_a_failed_disk()
    snapshot["topics"]["orders"].update(version=0, mzxid=60)
    given = problem(snapshot)
    assert not [name for name in names(given) if name.startswith("write-topic-id")]
    assert "restart-without-metadata-files orders 3" not in names(given)
    assert {"move-directories orders 3", "repair-disk 1"} <= {*names(given)}


def test_a_log_on_a_failed_disk_that_may_have_another_id_than_zookeeper_is_a_condition() -> None:
    given = problem(on_a_failed_disk())
    assert f"if orders-0 on the failed disk of broker 1 has the topic id {OTHER}" in given.premise


def test_no_unread_log_is_given_up_for_an_empty_disk() -> None:
    """Who cannot read the failed disk of the ISR member lets the replica lead whose disk nobody has read."""
    snapshot = on_a_failed_disk()
    snapshot["brokers"]["3"].update(dirs=None, log_dirs=None)
    lossy = [one for one in problem(snapshot).alternatives if one.is_last_resort]
    assert lossy and not [one for one in lossy if "replace-disk 1" in names(one)]


def newest_without_state() -> dict[str, Any]:
    """Broker 3, which is down, has the newest log of a partition without a state; 2 has more than 1."""
    snapshot = alone("3.4.1")
    snapshot["topics"]["orders"]["partition_state"] = {}
    for broker, epochs in {1: ((0, 0),), 2: ((0, 0), (3, 10)), 3: ((0, 0), (3, 10), (5, 40))}.items():
        snapshot["brokers"][str(broker)]["dirs"]["orders-0"] = log(IDS["orders"], epochs)
    for broker, size, watermark in ((1, 500, 5), (2, 2000, 10), (3, 5000, 40)):
        snapshot["brokers"][str(broker)]["dirs"]["orders-0"] |= {
            "files": {f"{0:020}.log": size},
            "high_watermark": watermark,
        }
    down(snapshot, 3)
    return snapshot


def test_who_gives_up_the_newest_log_keeps_what_other_brokers_have() -> None:
    """A failover lets the first live replica lead, though another one has more."""
    found = plan_recovery(problem(newest_without_state()), seconds=60)
    (lossy,) = [one for one in found.alternatives if one.problem.is_last_resort and one.problem.instead_of]
    assert lossy.problem.keeps.endswith("no acknowledged one is lost that another broker has,")
    assert lossy.plan is not None
    assert [one.name for one in lossy.plan.procedures] == ["write-states-without-newest 2", "fail-over"]
    assert lossy.problem.premise.endswith("and if another snapshot, a minute later, shows the same")
    world = lossy.problem.worlds[0]
    clusters = [world.model.state(vector) for vector in world.initial]
    with world.model.active():
        committed = [len(cluster.commits[0][0]) for cluster in clusters]
    assert committed and all(count == 2 for count in committed)  # of leader epochs 0 and 3


def test_elections_do_not_reach_the_leader_epoch_of_logs_whose_state_is_gone() -> None:
    """A failover begins at 0: what a restart raises it to is below what clients and logs have."""
    given = problem(newest_without_state())
    lossy = next(one for one in given.alternatives if one.is_last_resort and one.instead_of)
    assert violated(lossy, "fail-over", "restart 1")


@pytest.mark.parametrize("runs", [True, False])
def test_records_are_not_lost_while_a_broker_has_not_deleted_their_directory(runs: bool) -> None:
    """LogManager.deleteLogs, after file.delete.delay.ms; a broker that starts deletes it then."""
    snapshot = alone()
    name = f"orders-0.{0:032x}-delete"
    snapshot["brokers"]["2"]["set_aside"] = {name: snapshot["brokers"]["2"]["dirs"].pop("orders-0")}
    snapshot["brokers"]["3"]["dirs"].pop("orders-0")
    state(snapshot).update(leader=-1, isr=[1], leader_epoch=6)
    down(snapshot, 1, *([] if runs else [2]))
    until = "until file.delete.delay.ms is over" if runs else "until it starts"
    where = f"the copy that was moved or is to be deleted ({name} of broker 2, {until}): keep what is there"
    assert where in ways_out(snapshot)["no-live-isr"] and where in ways_out(snapshot)["broker-down"]
    gone = [one for one in problem(snapshot).alternatives if "broker 1 is gone for good" in one.premise]
    assert gone and all(f"if {name} of broker 2 was copied to another place before" in one.premise for one in gone)


def empty_isr(*, runs: bool, others_have_logs: bool) -> dict[str, Any]:
    """The ISR of orders-0 is empty, and the disk of broker 1 has failed."""
    snapshot = alone()
    roots = [{"path": "/kafka", "broker_id": None, "cluster_id": None, "offline": True}]
    snapshot["brokers"]["1"].update(log_dirs=roots, dirs={})
    for number in ("2", "3"):
        snapshot["brokers"][number]["dirs"] = snapshot["brokers"][number]["dirs"] if others_have_logs else {}
    state(snapshot).update(leader=-1, isr=[], leader_epoch=6)
    down(snapshot, *([] if runs else [1]))
    return snapshot


@pytest.mark.parametrize("others_have_logs", [True, False])
def test_the_records_of_an_empty_isr_may_be_on_a_failed_disk(others_have_logs: bool) -> None:
    ways = ways_out(empty_isr(runs=True, others_have_logs=others_have_logs))
    assert ways["empty-isr"].startswith(
        "repair the failed disk of broker 1 first: the records of orders-0 may be there"
    )
    assert "repair the disk, with the logs that it had" in ways["offline-log-directory"]
    assert "whose ISR is empty" not in ways["offline-log-directory"]
    found = plan_recovery(problem(empty_isr(runs=True, others_have_logs=others_have_logs)), seconds=60)
    lossy = next(one.plan for one in (found, *found.alternatives) if one.plan)
    assert [one.name for one in lossy.procedures] == ["repair-disk 1", "elect-unclean orders"]


def test_records_that_may_be_on_a_disk_which_was_not_read_are_not_given_up() -> None:
    """A broker that is down has a failed disk: others have no log, and it may have."""
    snapshot = empty_isr(runs=False, others_have_logs=False)
    unread = (
        "read the log directories of broker 1, which the snapshot lacks first: the records of orders-0 may be there"
    )
    assert ways_out(snapshot)["empty-isr"].startswith(unread)
    assert "are given up" not in problem(snapshot).premise
    snapshot["brokers"]["1"]["log_dirs"][0]["offline"] = False
    assert problem(snapshot).premise.startswith("if the records of orders-0 are given up")


def cancelled(isr: list[int]) -> dict[str, Any]:
    """A reassignment was cancelled whose earlier replicas are down; the added ones are about to delete their logs."""
    snapshot = alone(brokers=4)
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [1, 2]
    for number in ("1", "2"):
        snapshot["brokers"][number]["dirs"]["orders-0"] = log(IDS["orders"], EPOCHS[:2])
    for number in ("3", "4"):
        snapshot["brokers"][number]["dirs"] = {}
        snapshot["brokers"][number]["set_aside"] = {
            f"orders-0.{0:032x}-delete": log(IDS["orders"]) | {"high_watermark": 50}
        }
    state(snapshot).update(leader=-1, isr=isr, leader_epoch=7)
    down(snapshot, 1, 2)
    return snapshot


@pytest.mark.parametrize("isr", [[1], [3, 4], []])
def test_a_log_that_is_to_be_deleted_has_what_an_earlier_replica_lacks(isr: list[int]) -> None:
    """KAFKA-14424. The ISR member has no record of the last leader epoch, and would lead."""
    snapshot = cancelled(isr)
    assert (
        "copy the directory of orders-0 on broker 3"
        in ways_out(snapshot)["log-is-deleted-of-which-no-replica-has-a-copy"]
    )
    known = problem(snapshot)
    assert known.left_out == ("orders-0",) and not known.procedures


def test_a_log_that_is_to_be_deleted_may_be_a_copy() -> None:
    """A replica was moved away: the others go on from its records."""
    snapshot = cancelled([1])
    for number in ("1", "2"):
        snapshot["brokers"][number]["dirs"]["orders-0"] = log(IDS["orders"], (*EPOCHS, (6, 60)))
    assert "log-is-deleted-of-which-no-replica-has-a-copy" not in ways_out(snapshot)
