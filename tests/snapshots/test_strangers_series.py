"""Clusters of strangers: series, migrations, and two damages at once, which were read wrong once."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.invariants.reading.outlook import read_snapshot
from kwalk.invariants.stories.expansion import OLD_CLIENT_EXPANSION
from kwalk.model.kafka.snapshots.series import USUAL_EVENTS, read_series
from kwalk.model.language import Model, UsageError
from kwalk.reports.command_line import main
from kwalk.search.analyses.explain.explain import EVENTS, Explanation, Fit
from kwalk.search.analyses.recovery import plan_recovery
from tests.snapshots.test_combined_damages import EPOCHS, IDS, OTHER, cluster, log, names, problem, stop, ways_out
from tests.snapshots.test_explain import explained
from tests.snapshots.test_migrating import dual_write
from tests.snapshots.test_reported_plans import answers
from tests.snapshots.test_strangers import state
from tests.snapshots.test_strangers_foreseen import alone, down, without_log


def empty(directory: dict[str, Any]) -> dict[str, Any]:
    """A log that was just created."""
    files = dict.fromkeys(directory["files"], 0)
    return {**directory, "files": files, "first_batch": None, "leader_epoch_checkpoint": "0\n0\n", "high_watermark": 0}


# Series.


def told(*snapshots: dict[str, Any]) -> Explanation:
    return explained([json.dumps(one).encode() for one in snapshots])


def events(done: Explanation) -> list[str]:
    return [key for key in done.trace.actions if key.startswith(("follower_lags", "crash", "delete_controller"))]


def test_a_follower_that_lags_before_it_crashes_leaves_the_isr_at_the_same_leader_epoch() -> None:
    gone = alone("3.4.1")
    down(gone, 3)
    state(gone).update(isr=[1, 2], zk_version=10)
    (series,) = read_series([json.dumps(one).encode() for one in (alone("3.4.1"), gone)])
    assert series.wider is not None and "followers that lagged before they stopped" in series.wider.assumes
    lagging = [["follower_lags" not in one.without for one in each.waypoints] for each in (series, series.wider)]
    assert lagging == [[False, False], [False, True]]


@pytest.mark.parametrize("ends", ["catches up", "the only member crashes"])
def test_followers_that_live_and_lag_leave_the_isr(ends: str) -> None:
    """Partition.getOutOfSyncReplicas: who has not caught up for replica.lag.time.max.ms; the leader epoch stays."""
    lagging = alone("3.4.1")
    state(lagging).update(isr=[1], zk_version=10)
    later = deepcopy(lagging) if ends != "catches up" else alone("3.4.1")
    if ends != "catches up":
        down(later, 1)
        later["controller_epoch"] = 7
        state(later).update(leader=-1, leader_epoch=6, controller_epoch=7)
    done = told(alone("3.4.1"), lagging, later)
    assert done.fit is Fit.EXPLAINED
    expected = ["follower_lags(1, 0, 0)", "follower_lags(2, 0, 0)"]
    assert sorted(events(done))[-2:] == expected


def test_no_follower_is_taken_to_lag_where_every_isr_is_full() -> None:
    (series,) = read_series([json.dumps(alone("3.4.1")).encode()] * 2)
    assert all("follower_lags" in one.without for one in series.waypoints)


def test_a_log_that_was_there_before_does_not_come_a_moment_later() -> None:
    """Somebody has removed it while its broker ran: nothing explains that, and it may not be called nothing."""
    vanished = alone("3.4.1")
    without_log(vanished, 3)
    done = told(alone("3.4.1"), vanished)
    assert done.fit is Fit.UNDECIDED and done.how.endswith("has broker 3 in the ISR of orders-0, and no log of it")
    (series,) = read_series([json.dumps(one).encode() for one in (alone("3.4.1"), vanished)])
    assert not any("what came a moment later is left open" in one for one in series.facts)
    (series,) = read_series([json.dumps(one).encode() for one in (vanished, alone("3.4.1"))])
    assert any("what came a moment later is left open" in one for one in series.facts)


@pytest.mark.parametrize(("elections", "leaders"), [(40, 0), (0, 6)])
def test_snapshots_that_are_weeks_apart_are_undecided(elections: int, leaders: int) -> None:
    """Nothing is wrong with a cluster because more has happened than a search assumes."""
    later = alone("3.4.1")
    later["controller_epoch"] += elections
    state(later)["leader_epoch"] += leaders
    series = [
        read_series([json.dumps(one).encode() for one in (alone("3.4.1"), to)])[0] for to in (later, alone("3.4.1"))
    ]
    assert [bool(one.waypoints[1].doubt) for one in series] == [True, False]
    assert "events came after" in series[0].waypoints[1].doubt and USUAL_EVENTS == EVENTS


def test_a_long_series_has_room_for_what_each_snapshot_shows() -> None:
    """Bounds are about all of a series: events between two snapshots add up."""
    shown = [alone("3.4.1")]
    for number in range(1, 9):
        shown.append(deepcopy(shown[-1]))
        topic = shown[-1]["topics"]["orders"]
        topic["version"] += 1
        topic["znode"]["partitions"][str(number)] = [1, 2, 3]
        topic["partition_state"][str(number)] = {**state(shown[-1]), "leader_epoch": 0}
        for broker in shown[-1]["brokers"].values():
            broker["dirs"][f"orders-{number}"] = log(IDS["orders"], EPOCHS[:1])
    (series,) = read_series([json.dumps(one).encode() for one in shown])
    assert (series.bounds["new_expansions"], series.bounds["expansions"]) == (8, 8)
    assert series.bounds["restarts"] >= 3 * 8 and series.bounds["failovers"] >= 8
    again = [deepcopy(shown[0]) for _ in range(6)]
    for number, one in enumerate(again):
        one["topics"]["orders"]["czxid"] += number
    (series,) = read_series([json.dumps(one).encode() for one in again])
    assert series.bounds["deletions"] == series.bounds["incarnations"] == 5


def test_brokers_whose_protocol_is_below_2_8_mint_no_ids_in_a_failover() -> None:
    """KafkaConfig.usesTopicId: a release from 2.8 on has the older protocol until an operator raises it."""
    before = cluster("2.8.2", ids={"orders": None})
    after = {**deepcopy(before), "controller": 2, "controller_epoch": 7}
    (series,) = read_series([json.dumps(one).encode() for one in (before, after)])
    assert series.bounds["old_protocol_brokers"] == 3
    assert any("inter.broker.protocol.version below 2.8" in one for one in series.facts)
    assert told(before, after).fit is Fit.EXPLAINED
    (series,) = read_series([json.dumps(before).encode()] * 2)
    assert "old_protocol_brokers" not in series.bounds
    (series,) = read_series([json.dumps(one).encode() for one in (before, {**alone("2.8.2"), "controller_epoch": 7})])
    assert "old_protocol_brokers" not in series.bounds


# Migrations.


def test_in_dual_write_a_partition_without_a_leader_is_not_consistent() -> None:
    """ReplicationControlManager elects when a broker is unfenced: a copied partition without a leader has none."""
    snapshot = dual_write()
    shown = state(snapshot, "t0"), snapshot["image"]["topics"]["t0"]["partitions"]["0"]
    for one in shown:
        one.update(leader=-1, isr=[3])
    assert "--election-type PREFERRED" in ways_out(snapshot)["leader-not-elected"]
    assert "delete /controller: the next" not in ways_out(snapshot)["leader-not-elected"]
    for one in shown:
        one.update(leader=3)
    assert "leader-not-elected" not in ways_out(snapshot)


# Plans.


@pytest.mark.parametrize("release", ["2.6.2", "3.9.0"])
@pytest.mark.parametrize("is_answered", [False, True])
def test_no_failover_is_planned_that_begins_at_leader_epoch_0_below_the_logs(release: str, is_answered: bool) -> None:
    """Brokers that run refuse epoch 0; followers of a leader that took it get OFFSET_OUT_OF_RANGE."""
    snapshot = cluster(release, ids=IDS if release > "2.8" else dict.fromkeys(IDS))
    snapshot["topics"]["orders"]["partition_state"] = {}
    if is_answered:  # nobody leads the partition: all brokers have restarted since
        for broker in snapshot["brokers"].values():
            broker["metadata_cache"] = {"brokers": [1, 2, 3], "controller": 1, "topics": {}}
    unasked = "if brokers 1, 2 and 3, which the snapshot has no answer of, do not serve orders-0"
    premise = unasked if release > "2.8" and not is_answered else ""
    assert answers(plan_recovery(problem(snapshot), seconds=60)) == {
        premise: ["write-states-of-first-leaders", "fail-over"]
    }
    assert "a leader_epoch of 15 or more" in ways_out(snapshot)["partition-without-state"]
    for broker in snapshot["brokers"].values():
        broker["dirs"]["orders-0"] = log(IDS["orders"] if release > "2.8" else None, EPOCHS[:1])
    assert answers(plan_recovery(problem(snapshot), seconds=60)) == {premise: ["fail-over"]}


def test_a_broker_that_saves_the_records_of_one_topic_starts_before_those_of_another_are_given_up() -> None:
    snapshot = cluster("3.1.2")
    stop(snapshot, 3)
    state(snapshot).update(leader=-1, isr=[3], leader_epoch=7)
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(IDS["orders"], (*EPOCHS, (6, 60)))
    state(snapshot, "payments").update(leader=-1, isr=[], leader_epoch=6)
    found = answers(plan_recovery(problem(snapshot), seconds=120))
    assert found["if acknowledged records may be lost"] == ["start-broker 3", "elect-unclean payments"]
    given_up = found["if broker 3 is gone for good, and acknowledged records may be lost"]
    assert given_up is not None and sorted(given_up) == ["elect-unclean orders", "elect-unclean payments"]


def test_no_records_are_given_up_of_a_broker_that_no_step_may_start_yet() -> None:
    """Broker 3 has what was acknowledged of payments; a reassignment of orders, which removes it, has to end before."""
    snapshot = cluster("3.1.2", brokers=4)
    stop(snapshot, 3)
    down(snapshot, 4)
    moving = {"adding_replicas": {"0": [4]}, "removing_replicas": {"0": [1, 2, 3]}}
    snapshot["topics"]["orders"]["znode"].update(partitions={"0": [1, 2, 3, 4]}, **moving)
    state(snapshot, "payments").update(leader=-1, isr=[3], leader_epoch=7)
    snapshot["brokers"]["3"]["dirs"]["payments-0"] = log(IDS["payments"], (*EPOCHS, (6, 60)))
    found = problem(snapshot)
    assert "start-broker 3" not in names(found)
    lossy = [one.premise for one in found.alternatives if "acknowledged records may be lost" in one.premise]
    assert lossy == ["if broker 3 is gone for good, and acknowledged records may be lost"]


def test_no_step_starts_a_broker_to_lead_a_topic_empty_because_of_another_topic() -> None:
    """Broker 3 is the ISR of orders, and its log there is gone; the log of payments has a former id."""
    snapshot = cluster("3.6.2")
    stop(snapshot, 3)
    state(snapshot).update(leader=-1, isr=[3], leader_epoch=7)
    snapshot["brokers"]["3"]["dirs"] = {"payments-0": log(OTHER, EPOCHS[:1], crc=9)}
    found = problem(snapshot)
    assert any("3" in one.starts for one in found.procedures)
    lossy = [one for one in found.alternatives if "acknowledged records may be lost" in one.premise]
    assert lossy and not any("3" in step.starts for one in lossy for step in one.procedures)
    assert all("elect-unclean orders" in names(one) for one in lossy)


def test_records_are_given_up_with_a_broker_that_cannot_start_for_another_topic_only_if_it_is_gone() -> None:
    snapshot = cluster("3.6.2")
    stop(snapshot, 3)
    for topic in ("orders", "payments"):
        state(snapshot, topic).update(leader=-1, isr=[3], leader_epoch=7)
    snapshot["brokers"]["3"]["dirs"] = {"payments-0": log(IDS["payments"], (*EPOCHS, (6, 60)))}
    lossy = [one.premise for one in problem(snapshot).alternatives if "acknowledged records may be lost" in one.premise]
    assert lossy[0] == "if broker 3 is gone for good, and acknowledged records may be lost"


@pytest.mark.parametrize("is_begun", [False, True])
def test_a_replica_that_is_added_and_has_no_log_yet_is_no_finding_that_a_search_contradicts(is_begun: bool) -> None:
    """A search begins at rest, where a replica that is added has a log; empty ones are copied into."""
    snapshot = cluster("3.6.2")
    snapshot["topics"]["orders"]["znode"].update(adding_replicas={"0": [3]})
    state(snapshot)["isr"] = [1, 2]
    snapshot["brokers"]["3"]["dirs"].pop("orders-0")
    if is_begun:
        snapshot["brokers"]["3"]["dirs"]["orders-0"] = empty(log(IDS["orders"], EPOCHS[:1]))
    found = inspect_snapshot(json.dumps(snapshot).encode())
    assert ("catching-up" if is_begun else "replica-has-no-log") in {kind.name for kind in found.by_kind()}
    reading = read_snapshot(json.dumps(snapshot).encode())
    assert ("replica-has-no-log" in reading.lacks) != is_begun


def test_a_follower_that_has_refused_the_first_request_hosts_nothing_in_a_search() -> None:
    snapshot = json.loads((Path(__file__).parent / "before_migration" / "healthy-3.9.0.json").read_text("utf-8"))
    for broker in snapshot["brokers"].values():
        broker["metadata_cache"] = None
    snapshot["brokers"]["3"]["dirs"]["t0-0"]["partition_metadata"] = f"version: 0\ntopic_id: {OTHER}"
    assert "isr-member-refuses" in ways_out(snapshot)
    reading = read_snapshot(json.dumps(snapshot).encode())
    model = Model(OLD_CLIENT_EXPANSION.starting_from(reading), reading.variant, flags=reading.flags)
    violated = {
        prop.key.partition("(")[0]
        for prop in model.properties
        for start in model.initial
        if model.violates(prop, start)
    }
    assert "replicas_converge" in violated


def test_a_broker_in_the_isr_that_is_no_replica_is_not_left_out_of_a_series() -> None:
    foreign = alone("3.4.1", brokers=4)
    state(foreign)["isr"] = [1, 2, 3, 4]
    (series,) = read_series([json.dumps(one).encode() for one in (alone("3.4.1", brokers=4), foreign)])
    assert series.bounds["brokers"] == 4
    (isr,) = (one for one in series.waypoints[1].facts if one.name == "ISR of orders-0")
    assert isr.value == "1, 2, 3, 4"


def test_a_broker_that_joins_or_is_retired_is_part_of_the_series() -> None:
    """Broker 3 is replaced by 4 through a reassignment, which nothing in the first snapshot names."""
    before, after = alone("3.6.2"), alone("3.6.2", brokers=4)
    orders = after["topics"]["orders"]
    orders.update(version=4, mzxid=120)
    orders["znode"]["partitions"]["0"] = [1, 2, 4]
    state(after).update(isr=[1, 2, 4], leader_epoch=8, zk_version=13)
    after["brokers"]["4"]["dirs"] = {"orders-0": after["brokers"]["3"]["dirs"]["orders-0"]}
    del after["brokers"]["3"]
    after["broker_ids"] = [1, 2, 4]
    (series,) = read_series([json.dumps(one).encode() for one in (before, after)])
    assert series.bounds["brokers"] == 4
    assert [fact for fact in series.facts if "taken to be down" in fact] == [
        "Broker 4 is not in snapshot 1: it is taken to be down, without logs.",
        "Broker 3 is not in snapshot 2: it is taken to be down, without logs.",
    ]
    with pytest.raises(UsageError, match="one cluster and one release"):
        del after["brokers"]["1"], after["brokers"]["2"]
        after["topics"] = {}
        after.update(controller=4, broker_ids=[4])
        read_series([json.dumps(one).encode() for one in (before, after)])


def wide(brokers: int, partitions: int) -> dict[str, Any]:
    """A topic with many partitions on many brokers, whose replicas have no common order."""
    snapshot = alone("3.6.2", brokers=brokers)
    orders = snapshot["topics"]["orders"]
    for number in range(partitions):
        replicas = [1 + (7 * number + n * (1 + number % 2)) % brokers for n in (0, 1, 2)]
        orders["znode"]["partitions"][str(number)] = replicas
        orders["partition_state"][str(number)] = {**state(snapshot), "leader": replicas[0], "isr": replicas}
        for broker in snapshot["brokers"].values():
            broker["dirs"].pop(f"orders-{number}", None)
        for replica in replicas:
            snapshot["brokers"][str(replica)]["dirs"][f"orders-{number}"] = log(IDS["orders"])
    return snapshot


def test_partitions_whose_orders_no_bound_has_get_lists() -> None:
    """The number of an order of 5 partitions on 5 brokers is above 2^31."""
    before = json.dumps(wide(5, 5)).encode()
    (series,) = read_series([before, before])
    assert (series.bounds["replica_orders"], series.bounds["chosen_lists"]) == (0, 1)


@pytest.mark.parametrize("change", ["", "it moves"])
def test_of_a_topic_with_many_partitions_the_first_ones_are_in_the_series(change: str) -> None:
    before = wide(3, 16)
    after = deepcopy(before) | {"controller": 2, "controller_epoch": 7}
    given = [json.dumps(one).encode() for one in (before, after)]
    if change:
        after["topics"]["orders"]["znode"]["partitions"]["15"].reverse()
        with pytest.raises(UsageError, match="orders has 16 partitions, and none can be left out"):
            read_series([json.dumps(one).encode() for one in (before, after)])
        return
    (series,) = read_series(given)
    assert series.refused == ("Not explained: orders-6 to orders-15, for which a series has no room.",)
    assert series.bounds["partitions"] == 6


def written(folder: Path, *snapshots: dict[str, Any]) -> list[str]:
    paths = [folder / f"{number}.json" for number in range(len(snapshots))]
    for path, one in zip(paths, snapshots, strict=True):
        path.write_text(json.dumps(one), encoding="utf-8")
    return [str(path) for path in paths]


def without_broker_3(before: dict[str, Any]) -> dict[str, Any]:
    """The cluster after the end of broker 3, and of the controller."""
    after = deepcopy(before) | {"controller": 2, "controller_epoch": 7}
    down(after, 3)
    for number, one in after["topics"]["orders"]["partition_state"].items():
        isr = [broker for broker in one["isr"] if broker != 3]
        one.update(isr=isr, leader=one["leader"] if one["leader"] != 3 else isr[0], leader_epoch=6, zk_version=10)
        for broker in isr:
            after["brokers"][str(broker)]["dirs"][f"orders-{number}"] = log(IDS["orders"], (*EPOCHS, (6, 50)))
    return after


def test_the_first_of_many_partitions_are_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = wide(3, 24)
    paths = written(tmp_path, before, without_broker_3(before))
    assert main(["diagnose", "--explain", *paths, "--out", str(tmp_path / "out")]) == 3
    said = capsys.readouterr().out
    assert "EXPLAINED" in said and "Not explained: orders-6 to orders-23, for which a series has no room." in said


def test_the_loops_of_a_search_with_many_partitions_are_compiled(tmp_path: Path) -> None:
    """The states of a search do not fit into a mebibyte: the command ended with an exception."""
    before, after = wide(3, 11), without_broker_3(wide(3, 12))
    paths = written(tmp_path, before, after)
    assert main(["diagnose", "--explain", *paths, "--seconds", "8", "--out", str(tmp_path / "out")]) in (0, 3)
