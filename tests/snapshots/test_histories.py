"""Histories of real clusters that were once refused or not explained, each with the fewest snapshots that show it.

They are from `kwalk lab fuzz`; what else a series may show is made of them by a change.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from kwalk.model.kafka.clients import operator
from kwalk.model.kafka.initial_states import running_cluster
from kwalk.model.kafka.snapshots.capture import read_capture
from kwalk.model.kafka.snapshots.series import REAL_CLUSTER, SERIES_FLAGS, read_series
from kwalk.model.language import Model, Scenario, require
from kwalk.model.language.errors import InternalError
from kwalk.model.language.lift import lift
from kwalk.model.language.series import LogSource
from kwalk.reports.contradiction_bundle import bundle_of
from kwalk.reports.handlers import explain as handler
from kwalk.reports.handlers.explain import explained, model_of, whole_model
from kwalk.reports.handlers.target import scenario_with
from kwalk.reports.pages.explanation import ReportedExplanation, exit_code_of, explanations_object, sentences
from kwalk.search.analyses.explain import kernels
from kwalk.search.analyses.explain.explain import (
    COMPILING,
    NEAR_SHARE,
    ExplainOptions,
    Fit,
    TraceReconstruction,
    events_along,
    explain,
    explain_along,
)
from kwalk.search.analyses.explain.segment import BudgetSpent
from kwalk.search.kernel.compile.compiler import kernel_for
from tests.search.kitchen import KITCHEN, Kitchen, cook, order, seen, series
from tests.snapshots.logged import LoggedWalk
from tests.snapshots.synthetic import Walk
from tests.snapshots.test_explain import SMALL

HISTORIES = Path(__file__).parent / "histories"


def history(name: str) -> list[dict[str, Any]]:
    """The snapshots of a history."""
    found: list[dict[str, Any]] = json.loads((HISTORIES / f"{name}.json").read_text("utf-8"))
    return found


def reports_of(documents: Sequence[dict[str, Any]]) -> list[ReportedExplanation]:
    """What `kwalk diagnose --explain` reports."""
    found = read_series([json.dumps(document).encode() for document in documents])
    _, scenario = scenario_with("read_series")
    return explained([(model_of(scenario, one, None), one) for one in found], ExplainOptions(seconds=1200.0))


def test_a_leader_that_is_stopped_takes_its_topic_id_before_it_leaves() -> None:
    (report,) = reports_of(history("stopped-leader-takes-its-id"))
    assert report.fit is Fit.EXPLAINED
    keys = list(report.trace.actions)
    stopped = next(place for place, key in enumerate(keys) if key.startswith("stop("))
    broker = keys[stopped][5]
    assert f"handle_leader_and_isr({broker})" in keys[stopped : keys.index(f"leave({broker})")]


@pytest.mark.thorough
def test_in_another_order_of_actions_a_broker_that_stops_takes_its_topic_id_as_well() -> None:
    """With `leave` before the others, prompt steps alone would let it leave at once."""
    found = read_series([json.dumps(document).encode() for document in history("stopped-leader-takes-its-id")])
    _, scenario = scenario_with("read_series")
    leaves_first = evolve(scenario, actions=(operator.leave, *(a for a in scenario.actions if a is not operator.leave)))
    models = [(model_of(leaves_first, one, None), one) for one in found]
    (report,) = explained(models, ExplainOptions(seconds=1200.0))
    assert report.fit is Fit.EXPLAINED


def test_a_reassignment_to_the_same_replicas_raises_the_leader_epoch() -> None:
    (report,) = reports_of(history("reassigned-to-the-same-list"))
    assert report.fit is Fit.EXPLAINED
    assert any(key.startswith("reassign_to_list") for key in report.trace.actions)


def test_replicas_in_another_order_are_reassigned() -> None:
    first, later = history("reassigned-to-the-same-list")
    topic = later["topics"]["h3"]
    topic["znode"]["partitions"]["0"] = [3, 2]
    (report,) = reports_of([first, later])
    assert report.fit is Fit.EXPLAINED
    assert ("order of the replicas of h3-0", "3, 2") in [(f.name, f.value) for f in report.series.waypoints[1].facts]


def test_a_reassignment_that_an_old_client_drops_leaves_more_replicas() -> None:
    """Two are reassigned, three are under way, and then three are there, as in the partition that the client adds."""
    documents = history("an-old-client-drops-a-reassignment")
    (report,) = reports_of(documents)
    assert report.fit is Fit.EXPLAINED
    assert "old_client_adds_partitions(0)" in report.trace.actions


@pytest.mark.parametrize("left_out", [None, 1], ids=["gone in a snapshot", "gone between two"])
def test_a_topic_that_is_created_again_with_other_replicas_is_explained(left_out: int | None) -> None:
    """If a snapshot between the two lives shows nothing of it, each is explained by itself."""
    documents = [one for place, one in enumerate(history("created-again-with-three-replicas")) if place != left_out]
    found = reports_of(documents)
    parts = 2 if left_out is None else 1
    assert [report.fit for report in found] == [Fit.EXPLAINED] * parts
    assert ("created again" in found[-1].series.name) == (parts == 2)
    made = explanations_object([(report, None) for report in found])
    assert (made["exit_code"], {one["verdict"] for one in made.get("series") or [made]}) == (0, {"explained"})


def test_a_topic_that_is_removed_and_at_once_created_with_more_partitions_loses_the_first() -> None:
    (report,) = reports_of(history("removed-and-created-with-more-partitions"))
    assert report.fit is Fit.EXPLAINED
    assert any(key.startswith("remove_topic_by_hand") for key in report.trace.actions)
    assert any(key.startswith("admin_creates_topic") for key in report.trace.actions)


@pytest.mark.thorough
def test_a_topic_that_is_created_again_over_its_logs_with_other_replicas_is_explained() -> None:
    """Removed by hand: the logs of the first life are still there, and two brokers refuse the second one's id."""
    (report,) = reports_of(history("removed-and-created-with-three-replicas"))
    assert report.fit is Fit.EXPLAINED
    assert any(key.startswith("remove_topic_by_hand") for key in report.trace.actions)


def test_a_restart_of_all_brokers_after_a_topic_was_created_again_unnoticed_is_explained() -> None:
    """Five events, of which the controller's restart is the first: too many for one after the other."""
    (report,) = reports_of(history("created-again-and-all-restarted"))
    begin, end = report.explanation.arrivals[-2:]
    taken = [key[:-1].split(",")[0] for key in report.trace.actions[begin:end] if key.startswith(("stop(", "restart("))]
    assert report.fit is Fit.EXPLAINED
    assert taken == ["stop(0", "restart(0", "stop(1", "restart(1", "restart(2"]


def test_a_log_has_the_leader_epoch_of_a_state_that_was_removed() -> None:
    """The state is written again with epoch 0, which logs have from before: brokers are at 1, and none takes it up."""
    (report,) = reports_of(history("states-removed-and-written-again")[1:])
    assert report.fit is Fit.EXPLAINED
    assert any(key.startswith("remove_partition_states_by_hand") for key in report.trace.actions)


def test_states_are_removed_before_any_snapshot_shows_them() -> None:
    """Logs with the topic's id tell that a controller has written the states: it creates none without them."""
    before, after = history("created-and-states-removed")
    (report,) = reports_of([before, after])
    assert report.fit is Fit.EXPLAINED
    assert any(key.startswith("remove_partition_states_by_hand") for key in report.trace.actions)
    for broker in after["brokers"].values():
        broker["dirs"], broker["replicas"] = {}, {}
    (report,) = reports_of([before, after])
    assert not any(key.startswith("remove_partition_states_by_hand") for key in report.trace.actions)


def test_brokers_are_asked_after_zookeeper_and_may_be_ahead() -> None:
    """The snapshot has ZooKeeper before an election, and the brokers' memory after it."""
    before, after = history("states-removed-and-written-again")[:2]
    torn = copy.deepcopy(before)
    for number in ("1", "3"):
        torn["brokers"][number]["replicas"] = after["brokers"][number]["replicas"]
    (report,) = reports_of([before, torn, after])
    assert report.fit is Fit.EXPLAINED
    shown = "snapshot 2 has broker 1 at leader epoch 1 of h0-a-0, and ZooKeeper at 0"
    assert [waypoint.doubt for waypoint in report.series.waypoints] == ["", shown, ""]
    assert any(fact.startswith(shown) for fact in report.series.facts)


def test_what_a_broker_had_in_memory_before_is_no_later_epoch_than_that_of_a_new_topic() -> None:
    """It is of the topic before, as of one that is created again: the snapshot is not one amid an election."""
    before, after = history("states-removed-and-written-again")[1], history("states-removed-and-written-again")[4]
    topic = after["topics"]["h0-a"]
    topic.update(czxid=topic["czxid"] + 50, mzxid=topic["mzxid"] + 50)
    found = read_series([json.dumps(document).encode() for document in (before, after)])
    assert not [fact for one in found for fact in one.facts if "ZooKeeper at" in fact]


@pytest.mark.parametrize("kept", [(), ("h1-a-1", "h1-a-2")], ids=["all", "one"])
def test_a_broker_that_is_down_loses_its_logs(kept: tuple[str, ...]) -> None:
    """All of them in one step: an empty disk, or its directories are removed."""
    documents = history("a-stopped-broker-loses-its-logs")
    before, after = (document["brokers"]["1"]["dirs"] for document in documents[-2:])
    after |= {name: before[name] for name in kept}
    (report,) = reports_of(documents)
    assert report.fit is Fit.EXPLAINED
    assert report.trace.actions[-1] == ("move_directory_away(0, 0, 0)" if kept else "replace_disk(0)")


@pytest.mark.parametrize("name", ["begins-removed-with-states-in-the-controller", "begins-removed-before-two-orders"])
def test_a_series_may_begin_when_a_topic_was_removed_by_hand(name: str) -> None:
    """Its logs are there; a controller that had it elects no leader of its next life, until there is a failover."""
    (report,) = reports_of(history(name))
    assert report.fit is Fit.EXPLAINED
    assert any("Logs of an earlier topic t0 are there" in fact for fact in report.series.facts)


def test_the_id_of_an_earlier_life_is_written_back() -> None:
    documents = history("created-again-with-three-replicas")
    later = copy.deepcopy(documents[-1])
    (topic,), (first,) = later["topics"].values(), documents[0]["topics"].values()
    topic["znode"]["topic_id"], topic["version"] = first["znode"]["topic_id"], topic["version"] + 1
    found = reports_of([*documents, later])
    assert [report.fit for report in found] == [Fit.EXPLAINED] * 2
    assert any(key.startswith("write_topic_id") for key in found[1].trace.actions)


def test_a_snapshot_that_may_have_been_taken_too_early_is_in_doubt() -> None:
    document = history("stopped-leader-takes-its-id")[0]

    def doubt() -> str:
        (found,) = read_series([json.dumps(document).encode()])
        return found.waypoints[0].doubt

    assert doubt() == ""
    state = document["topics"]["h3"]["partition_state"]["0"]
    leader, state["leader"] = state["leader"], -1
    assert doubt() == "snapshot 1 has no leader of h3-0, and live brokers in its ISR"
    state["leader"] = leader
    brokers = document["broker_ids"]
    document["broker_ids"] = [broker for broker in brokers if broker != leader]
    what = f"snapshot 1 has broker {leader} as the leader of h3-0, which is not registered, and live brokers in its ISR"
    assert doubt() == what
    document["broker_ids"] = brokers
    del document["brokers"]["2"]["dirs"]["h3-0"]
    assert doubt() == "snapshot 1 has broker 2 in the ISR of h3-0, and no log of it"
    document["topics"]["h3"]["partition_state"] = {}
    assert doubt() == "snapshot 1 has h3 without a state of any partition"


LOST_REQUEST = (
    "old_client_creates_topic(0)",
    "topic_change(0)",
    "topic_change_creates_partitions(0)",
    "handle_leader_and_isr(0)",
    "partition_modifications(0, 0)",
    "old_client_adds_partitions(0)",
    "partition_modifications(0, 0)",
    "delete_controller()",
    "reelect(1)",
    "reelect(0)",
    "lose_request(1)",
)


def test_a_request_that_waits_when_its_controller_goes_may_be_lost(tmp_path: Path) -> None:
    """Three events at one moment, and the request is lost: broker 2 has the id of the second controller only."""
    flags = {name: setting for name, setting in SERIES_FLAGS.items() if REAL_CLUSTER.flags[name] != setting}
    bounds = {**SMALL, "partitions": 2}
    made = LoggedWalk(Model(evolve(REAL_CLUSTER, initial=running_cluster), "3.9.0", bounds, flags), "3.9.0", 1)
    made.capture()
    for key in LOST_REQUEST:
        made.do(key)
    made.rest(orderly=True)
    made.capture()
    _, scenario = scenario_with("read_series")
    (series,) = read_series(made.captures, None, LogSource(str(made.save(tmp_path))))
    assert series.log_counts.used > 5
    (report,) = explained([(model_of(scenario, series, None), series)], ExplainOptions(seconds=300.0))
    assert report.fit is Fit.EXPLAINED
    assert "lose_request(1)" in report.trace.actions


def amid_request(handled: str) -> Walk:
    """A topic of three partitions is created, and a session ends when one of its two brokers has handled some."""
    flags = {name: setting for name, setting in SERIES_FLAGS.items() if REAL_CLUSTER.flags[name] != setting}
    bounds = {**SMALL, "partitions": 3, "created_partitions": 3, "expirations": 1}
    model = Model(evolve(REAL_CLUSTER, initial=running_cluster), "2.8.2", bounds, {**flags, "sessions": True})
    made = Walk(model, "2.8.2", 1)
    made.capture()
    for key in ("new_client_creates_topic(0)", "topic_change(0)", "topic_change_creates_partitions(0)"):
        made.do(key)
    made.do("handle_leader_and_isr(0)")
    made.do(f"expire_session_amid_request(1, {handled})")
    return made


def test_a_session_may_end_when_a_broker_has_created_some_logs_of_a_request() -> None:
    made = amid_request("{0,1}")
    cluster = made.model.state(made.vector)
    assert [replica.log_open for replica in cluster.brokers[1].replicas[0]] == [True, True, False]
    assert not cluster.is_registered(1) and cluster.brokers[1].requests.headers.is_empty
    with pytest.raises(AssertionError, match="is not possible"):  # what it follows comes after what it leads
        amid_request("{0}")


@pytest.mark.thorough
def test_a_request_that_is_handled_in_part_as_a_session_ends_is_explained() -> None:
    """Before 3.0 the second request gives ids to the logs of the first one only."""
    made = amid_request("{0,1}")
    made.rest(orderly=True)
    made.do("notice_expiry(1)")
    made.rest(orderly=True)
    made.capture()
    (report,) = reports_of([json.loads(capture) for capture in made.captures])
    assert report.fit is Fit.EXPLAINED
    assert "expire_session_amid_request(1, {0,1})" in report.trace.actions


@pytest.mark.parametrize("name", ["between-two-writes-of-a-failover", "before-the-states-of-a-new-topic"])
def test_what_a_snapshot_lacks_that_was_taken_a_moment_too_early_is_left_open(name: str) -> None:
    documents = history(name)
    for snapshots in (documents, documents[: 2 if name.startswith("between") else 1]):
        (report,) = reports_of(snapshots)
        assert report.fit is Fit.EXPLAINED
        assert any("taken while the cluster was at work" in fact for fact in report.series.facts)


def test_what_a_controller_has_not_written_yet_about_a_dead_leader_is_left_open() -> None:
    """The session of a leader has ended, and the next controller has written neither leaders nor ISRs."""
    documents = history("between-a-session-and-an-election")
    (report,) = reports_of(documents)
    assert report.fit is Fit.EXPLAINED
    assert "expire_session(0)" in report.trace.actions

    def shown(*places: int) -> list[str]:
        (found,) = read_series([json.dumps(documents[place]).encode() for place in places])
        return [fact.value for fact in found.waypoints[1].facts if fact.name.startswith("leader epoch of")]

    assert shown(0, 1, 2) == ["0, or the next one, or the one after it"] * 2
    assert shown(0, 1) == ["0", "0"]


def test_that_logs_vanish_whose_topic_no_snapshot_shows_decides_nothing() -> None:
    """It was created and deleted between two snapshots, or somebody removed the directories: neither is assumed."""
    first, *_, later = history("begins-removed-with-states-in-the-controller")
    emptied = copy.deepcopy(first)
    for broker in emptied["brokers"].values():
        broker["dirs"] = {name: kept for name, kept in broker["dirs"].items() if not name.startswith("t0-")}
    (found,) = read_series([json.dumps(document).encode() for document in (first, emptied, later)])
    doubts = [waypoint.doubt for waypoint in found.waypoints]
    assert "snapshot 1 and snapshot 2 lack topic t0, and a log of it vanished" in doubts[1]
    assert doubts[::2] == ["", ""]


def test_what_two_snapshots_lack_is_not_left_open() -> None:
    first, early, _ = history("between-two-writes-of-a-failover")
    later = copy.deepcopy(early)
    later["taken"] = {"began": "2027-01-01T00:00:00+00:00", "ended": "2027-01-01T00:00:01+00:00"}
    (series,) = read_series([json.dumps(document).encode() for document in (first, early, later)])
    shown = [[fact.value for fact in waypoint.facts if fact.name.startswith("leader")] for waypoint in series.waypoints]
    assert shown[1] == ["2", "none"] and "2, or the next one" in shown[2]


@pytest.mark.thorough
def test_a_file_that_appears_and_is_removed_between_two_snapshots_is_assumed_only_if_nothing_else_fits() -> None:
    """A request that its resigning controller never sent explains it as well, without an assumption."""
    (report,) = reports_of(history("a-file-appears-and-is-removed"))
    assert report.fit is Fit.EXPLAINED and not report.tried
    assert any(key.startswith("lose_request") for key in report.trace.actions)


def test_the_model_is_lifted_with_all_that_a_series_may_ask_for() -> None:
    flags = {
        **SERIES_FLAGS,
        "deletion": True,
        "stop_replica": True,
        "reassignment": True,
        "replica_lists": True,
        "sessions": True,
        "two_step_admin": True,
    }
    bounds = {
        "brokers": 2,
        "partitions": 1,
        "admins": 2,
        "old_admins": 1,
        "incarnations": 1,
        "deletions": 1,
        "hand_removals": 1,
        "reassignments": 1,
        "cancellations": 1,
        "expirations": 1,
        "repairs": 1,
        "new_expansions": 1,
        "topic_ids": 2,
        "events": 2,
        "requests": 2,
    }
    model = Model(evolve(REAL_CLUSTER, flags=flags), "3.9.0", bounds)
    assert len(lift(model).actions) == len(model.instances)


def with_a_second_topic(document: dict[str, Any]) -> dict[str, Any]:
    """The same with a copy of topic h3 under another name and id."""
    made = copy.deepcopy(document)
    text = json.dumps(made["topics"]["h3"]).replace(made["topics"]["h3"]["znode"]["topic_id"], "Z" * 21 + "g")
    made["topics"]["u"] = json.loads(text)
    for broker in made["brokers"].values():
        for name, kept in [*broker["dirs"].items()]:
            other = json.dumps(kept).replace(document["topics"]["h3"]["znode"]["topic_id"], "Z" * 21 + "g")
            broker["dirs"][name.replace("h3-", "u-")] = json.loads(other)
    return made


def test_each_of_two_topics_is_explained_and_one_that_cannot_be_makes_the_answer_incomplete() -> None:
    documents = [with_a_second_topic(one) for one in history("reassigned-to-the-same-list")]
    found = reports_of(documents)
    assert [(report.series.name, report.fit) for report in found] == [("h3", Fit.EXPLAINED), ("u", Fit.EXPLAINED)]
    assert exit_code_of(found) == 0
    documents[1]["topics"]["u"]["znode"]["partitions"] = {"0": [1, 2], "2": [2, 3]}
    (alone,) = reports_of(documents)
    assert exit_code_of([alone]) == Fit.UNDECIDED.exit_code
    assert any("u is not explained: snapshot 2 has u without some partition" in fact for fact in alone.series.facts)


def test_signs_of_damage_are_noticed() -> None:
    documents = history("reassigned-to-the-same-list")
    later = copy.deepcopy(documents[0])
    later["topics"]["h3"]["partition_state"]["0"]["leader"] = -1
    later["topics"]["h3"]["partition_state"]["0"].update(controller_epoch=99, zk_version=999)
    log = later["brokers"]["2"]["dirs"]["h3-0"]
    log["leader_epoch_checkpoint"] = "0\n1\n77 0\n"
    (series,) = read_series([json.dumps(document).encode() for document in (documents[0], later)])
    signs = [fact for fact in series.facts if fact.startswith("Noticed: snapshot 2 has ")]
    assert len(signs) == 3
    assert all(any(what in sign for sign in signs) for what in ("controller epoch 99", "epoch 77", "no leader of h3-0"))


def test_a_znode_that_differs_at_the_same_version_is_noticed() -> None:
    """ZooKeeper: DataTree.setData raises the version with each write."""
    documents = history("reassigned-to-the-same-list")
    earlier = copy.deepcopy(documents[0])
    state = earlier["topics"]["h3"]["partition_state"]["0"]
    state["isr"] = state["isr"][:1]

    def signs() -> list[str]:
        (series,) = read_series([json.dumps(document).encode() for document in (earlier, documents[0])])
        return [fact for fact in series.facts if "of its znode" in fact]

    (sign,) = signs()
    assert f"another state of h3-0 than snapshot 1, at version {state['zk_version']} of its znode" in sign
    state["zk_version"] += 1
    (sign,) = signs()
    assert "another state of h3-0" in sign
    state["zk_version"] -= 2
    assert signs() == []
    earlier["topics"]["h3"]["znode"]["partitions"]["0"].reverse()
    (sign,) = signs()
    assert "another znode of topic h3" in sign


def test_a_broker_that_does_not_answer_has_an_unknown_metadata_cache() -> None:
    _, document = history("reassigned-to-the-same-list")
    for broker in document["brokers"].values():
        broker["metadata_cache"] = {"error": "timed out"}
    assert [broker.cache for broker in read_capture(json.dumps(document).encode()).brokers.values()] == [None] * 3


# The search.


def test_plain_python_and_compiled_code_search_the_same_states(monkeypatch, tmp_path) -> None:
    found = series(
        seen("left", ordered=1, cooked=0, stove_is_off=0, wanted=0), seen("later", cooked=1), seen("never", cooked=0)
    )
    monkeypatch.setenv("KWALK_CACHE", str(tmp_path / "empty"))
    monkeypatch.setattr(kernels, "COMPILE_AFTER", 1e9)
    model = Model(KITCHEN)
    plain, compiled = explain(model, None, found), explain(model, kernel_for(model), found)
    assert (plain.executed, compiled.executed) == ("plain Python", "compiled code")
    assert (plain.fit, compiled.fit) == (Fit.REFUSED, Fit.REFUSED)
    assert [(e.states, dict(e.complete)) for e in plain.efforts] == [
        (e.states, dict(e.complete)) for e in compiled.efforts
    ]
    assert plain.trace.actions == compiled.trace.actions


def test_plain_python_executes_a_step_once_for_all_searches_of_models_that_mean_the_same(monkeypatch, tmp_path) -> None:
    found = series(seen("left", ordered=1, cooked=0, stove_is_off=0, wanted=0), seen("later", cooked=1))
    monkeypatch.setenv("KWALK_CACHE", str(tmp_path / "empty"))
    executed, packed = [], kernels.SegmentFunctions._packed

    def counted(functions, vector, visit, number):
        executed.append((visit.vector, number))
        return packed(functions, vector, visit, number)

    monkeypatch.setattr(kernels.SegmentFunctions, "_packed", counted)
    with kernels.CompilationQueue() as queue:
        options = ExplainOptions(seconds=60.0, queue=queue)
        first = explain(Model(KITCHEN), None, found, options)
        count = len(executed)
        again = explain(Model(KITCHEN), None, found, options)
    assert 5 < count == len(set(executed)) == len(executed)
    assert (again.fit, again.trace.actions, again.efforts) == (first.fit, first.trace.actions, first.efforts)


def test_a_ladder_has_its_share_of_the_time_that_compiled_code_has(monkeypatch, tmp_path) -> None:
    """A third of the time was spent in plain Python: the ladder ends after half of the rest, not of the whole.

    While the model is compiled, it does not end: another search would wait for the same.
    """
    monkeypatch.setenv("KWALK_CACHE", str(tmp_path / "empty"))
    reconstruction = TraceReconstruction(Model(KITCHEN), None, series(seen("one")), ExplainOptions(seconds=90.0))
    reconstruction.share, ends = 0.5, 90.0 * (1 - NEAR_SHARE)
    passed = [ends / 3]
    monkeypatch.setattr(TraceReconstruction, "seconds", property(lambda _: passed[-1]))
    reconstruction._report(1)
    kernel = reconstruction.context.search_kernel
    kernel._asked = "its model"
    passed.append((COMPILING - 0.05) * ends)
    reconstruction._report(1)
    kernel.is_plain = False
    for share in (1 / 3, 0.65):
        passed.append(share * ends)
        reconstruction._report(1)
    assert reconstruction.share == pytest.approx(1 / 3 + 1 / 2 * 2 / 3)
    passed.append(0.68 * ends)
    with pytest.raises(BudgetSpent):
        reconstruction._report(1)


def test_what_no_snapshot_shows_is_assumed_only_if_nothing_else_fits() -> None:
    quiet = series(seen("one", without=("guest",), cooked=1))
    wider = evolve(series(seen("one", cooked=1)), assumes="guests whom nobody saw")
    model = Model(KITCHEN)
    (report,) = explained([(model, evolve(quiet, wider=wider))], ExplainOptions(seconds=60.0))
    assert (report.fit, report.tried) == (Fit.EXPLAINED, "guests whom nobody saw")
    (seen_at_once,) = explained([(model, evolve(wider, wider=wider))], ExplainOptions(seconds=60.0))
    assert (seen_at_once.fit, seen_at_once.tried) == (Fit.EXPLAINED, "")


def test_a_search_begins_with_the_events_of_the_whole_system_that_explain_another_series(monkeypatch) -> None:
    """Both show that the stove was turned off."""
    first = evolve(series(seen("one", cooked=1, stove_is_off=1)), common=frozenset({"turn_off"}))
    second = evolve(series(seen("one", ordered=2, stove_is_off=1)), common=frozenset({"turn_off"}))
    model = Model(KITCHEN)
    found = explain(model, None, first)
    assert events_along(model, first, found) == {"one": frozenset({"cat turns the stove off"})}
    assert explain_along(model, second, {"one": frozenset()}, ExplainOptions()) is None
    climbed, searched = handler._climbed, []

    def counted(model, one, options):
        searched.append(one)
        return climbed(model, one, options)

    monkeypatch.setattr(handler, "_climbed", counted)
    reports = explained([(model, first), (model, second)], ExplainOptions(seconds=60.0))
    assert [report.fit for report in reports] == [Fit.EXPLAINED] * 2
    assert searched == [first]


def test_series_that_are_out_of_time_are_searched_again_until_all_of_the_time_is_spent(monkeypatch) -> None:
    """The first one may have had its share before its model was compiled, and what the others leave is its own."""
    (done,) = explained([(Model(KITCHEN), series(seen("one", cooked=1)))], ExplainOptions(seconds=60.0))
    searched: list[str] = []

    def climbed(model, one, options):
        searched.append(one.name)
        left = evolve(done.explanation, fit=Fit.UNDECIDED, how="time budget of 1 s")
        is_found = one.name == "second" or searched.count("first") == 6
        return evolve(done, series=one, explanation=done.explanation if is_found else left)

    monkeypatch.setattr(handler, "_climbed", climbed)
    pairs = [(done.model, evolve(done.series, name=name)) for name in ("first", "second")]
    assert [report.fit for report in explained(pairs, ExplainOptions(seconds=60.0))] == [Fit.EXPLAINED] * 2
    assert searched == ["first", "second", *["first"] * 5]


def test_a_no_names_what_was_not_tried() -> None:
    none = evolve(series(seen("one", without=("guest",), cooked=1)), untried=("a second cook", "a fire"))
    (report,) = explained([(Model(KITCHEN), none)], ExplainOptions(seconds=60.0))
    assert report.fit is Fit.REFUSED
    assert "Not tried: a second cook; a fire." in sentences(report)


def cannot_happen(kitchen: Kitchen) -> None:
    """Cook more than the stove has."""
    require(kitchen.cooked > 0)
    kitchen.cooked += 1_000


def test_an_exception_of_the_model_is_an_internal_error_with_a_bundle(tmp_path) -> None:
    from kwalk.model.language import action

    failing = action(by=cook.by, description="fails")(cannot_happen)
    scenario: Scenario = evolve(KITCHEN, actions=(order, cook, failing))
    with pytest.raises(InternalError, match="cannot_happen") as raised:
        explain(Model(scenario), None, series(seen("three", cooked=3)))
    bundle = bundle_of(raised.value, tmp_path, "kwalk diagnose --explain three")
    assert bundle is not None and bundle.name.startswith("failure-")
    assert "cannot_happen" in (bundle / "model.json").read_text()


def test_actions_that_a_series_never_takes_are_not_in_its_model_and_a_saved_trace_has_them() -> None:
    (found,) = read_series([json.dumps(document).encode() for document in history("stopped-leader-takes-its-id")])
    _, scenario = scenario_with("read_series")
    model = model_of(scenario, found, None)
    assert "reassign_to_list" in found.never
    assert found.never.isdisjoint(action.name for action in model.scenario.actions)
    whole = whole_model(model, scenario)
    assert whole.scenario.actions == scenario.actions and whole.flag_overrides == model.flag_overrides


def test_the_wider_series_has_the_same_compiled_model() -> None:
    (found,) = read_series([json.dumps(document).encode() for document in history("stopped-leader-takes-its-id")])
    assert found.wider is not None
    assert (dict(found.bounds), dict(found.flags)) == (dict(found.wider.bounds), dict(found.wider.flags))
