"""What min.insync.replicas and unclean.leader.election.enable make of a cluster: now, and while brokers are away."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.invariants.reading.outlook import problem_of, read_snapshot
from kwalk.model.kafka.snapshots.capture import MIN_IN_SYNC, UNCLEAN_ELECTIONS, read_capture
from kwalk.model.kafka.snapshots.series import read_series
from kwalk.reports.pages.outlook import diagnosis_of
from kwalk.search.analyses.recovery import foresee
from tests.snapshots.test_combined_damages import EPOCHS, IDS, OTHER, log, names, problem, stop, ways_out
from tests.snapshots.test_reported_plans import procedure
from tests.snapshots.test_strangers import state
from tests.snapshots.test_strangers_foreseen import alone, down, found, without_log

REFUSED = "isr-below-min-insync-replicas"
AHEAD = "unclean-election-is-ahead"


def configured(release: str = "3.6.2", /, default: dict[str, Any] | None = None, **settings: Any) -> dict[str, Any]:
    """A healthy cluster with settings of topic orders, and of all brokers."""
    snapshot = alone(release)
    snapshot["topics"]["orders"]["settings"] = {name.replace("_", "."): value for name, value in settings.items()}
    return snapshot | {"default_settings": default or {}}


def two_replicas(release: str = "3.6.2", least: int = 2) -> dict[str, Any]:
    snapshot = configured(release, min_insync_replicas=least)
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [1, 2]
    state(snapshot)["isr"] = [1, 2]
    without_log(snapshot, 3)
    return snapshot


def notes(snapshot: dict[str, Any]) -> list[str]:
    seen = inspect_snapshot(json.dumps(snapshot).encode()).notes
    return [note for note in seen if note.startswith("A stop or restart")]


# Who needs how many.


def test_the_setting_of_a_topic_counts_before_that_of_the_leader_and_this_before_that_of_all_brokers() -> None:
    snapshot = configured(default={MIN_IN_SYNC: 3})
    stop(snapshot, 3)
    one = found(snapshot)[REFUSED]
    assert one.detail.endswith("min.insync.replicas of all brokers is 3") and not one.certain
    snapshot["brokers"]["1"]["settings"] = {MIN_IN_SYNC: 1}
    assert REFUSED not in found(snapshot)
    snapshot["brokers"]["1"]["settings"] = {MIN_IN_SYNC: 3}
    one = found(snapshot)[REFUSED]
    assert one.detail.endswith("min.insync.replicas of broker 1 is 3") and one.certain
    snapshot["topics"]["orders"]["settings"] = {MIN_IN_SYNC: 2}
    assert REFUSED not in found(snapshot)


@pytest.mark.parametrize("unread", [None, {}])
def test_nothing_is_said_where_the_setting_in_force_is_not_shown(unread: dict[str, Any] | None) -> None:
    """The topic's configuration was not read, or has no value, and nothing shows the brokers' static one."""
    snapshot = configured(default={MIN_IN_SYNC: 3} if unread is None else {})
    snapshot["topics"]["orders"]["settings"] = unread
    stop(snapshot, 3)
    stop(snapshot, 2)
    assert REFUSED not in found(snapshot) and not notes(snapshot)


@pytest.mark.parametrize("release", ["2.5.1", "3.6.2", "3.9.0"])
def test_a_healthy_cluster_has_no_finding_with_either_setting(release: str) -> None:
    snapshot = configured(release, min_insync_replicas=2, unclean_leader_election_enable=True)
    if release < "2.8":
        snapshot["topics"]["orders"]["znode"].pop("topic_id")
        for broker in snapshot["brokers"].values():
            broker["dirs"]["orders-0"]["partition_metadata"] = None
    assert not ways_out(snapshot) and not notes(snapshot)


def test_from_3_7_on_a_partition_needs_no_more_replicas_than_it_has() -> None:
    """Partition.effectiveMinIsr."""
    assert REFUSED not in found(two_replicas("3.7.1", 3))
    one = found(two_replicas("3.6.2", 3))[REFUSED]
    assert one.kind.cause == "min.insync.replicas is larger than the number of replicas"
    assert "orders-0 has fewer replicas: add some" in one.kind.way_out and not one.kind.acts


def test_from_3_7_on_consumers_wait_for_the_high_watermark_too() -> None:
    """Partition.maybeIncrementLeaderHW."""
    for release, waits in (("3.6.2", False), ("3.7.1", True)):
        snapshot = configured(release, min_insync_replicas=2)
        stop(snapshot, 3)
        stop(snapshot, 2)
        one = found(snapshot)[REFUSED]
        assert ("consumers do not get" in one.kind.now) is waits
        assert one.kind.way_out.startswith("start brokers 2 and 3; if producers cannot wait")


def test_a_topic_that_is_being_deleted_or_has_no_leader_refuses_otherwise() -> None:
    snapshot = configured(min_insync_replicas=2)
    state(snapshot).update(isr=[3], leader=-1)
    down(snapshot, 3)
    assert REFUSED not in found(snapshot) and "no-live-isr" in found(snapshot)
    snapshot = configured(min_insync_replicas=3) | {"delete_topics": ["orders"]}
    stop(snapshot, 3)
    assert REFUSED not in found(snapshot)


def test_groups_notice_when_their_partition_refuses() -> None:
    """GroupMetadataManager.storeOffsets appends with acks=all."""
    snapshot = configured(min_insync_replicas=2)
    snapshot["topics"]["__consumer_offsets"] = snapshot["topics"].pop("orders")
    for broker in snapshot["brokers"].values():
        broker["dirs"]["__consumer_offsets-0"] = broker["dirs"].pop("orders-0")
    for number in (2, 3):
        stop(snapshot, number)
    assert "consumer groups whose offsets are in it" in found(snapshot)[REFUSED].detail


# While brokers are away.


def test_a_restart_refuses_acks_all_where_the_isr_has_none_to_spare() -> None:
    (note,) = notes(two_replicas())
    assert note.startswith("A stop or restart of brokers 1 or 2: acks=all of orders-0 is refused meanwhile")
    assert not notes(two_replicas(least=1))


def test_steps_and_events_that_stop_brokers_say_who_is_refused_meanwhile() -> None:
    snapshot = two_replicas()
    snapshot["topics"]["orders"]["znode"]["topic_id"] = OTHER
    known = problem(snapshot)
    for name in ("restart 1", "restart-without-metadata-files orders 1 2"):
        assert "acks=all of orders-0 is refused meanwhile" in procedure(known, name).risk
    assert "acks=all" not in procedure(known, "fail-over").risk
    text = " ".join(diagnosis_of(known.inspection, [foresee(known)], []))
    assert "acks=all of orders-0 is refused meanwhile" in text.split("broker 1 restarts")[1]


def test_the_start_of_a_broker_that_lets_acks_all_go_on_is_no_event_that_changes_nothing() -> None:
    snapshot = configured(min_insync_replicas=3)
    stop(snapshot, 3)
    known = problem(snapshot)
    text = " ".join(diagnosis_of(known.inspection, [foresee(known)], []))
    served = "acks=all of orders-0 is served again when broker 3 has joined the ISR; nothing else changes."
    assert text.split("If broker 3 starts")[1].endswith(served) and text.count("acks=all of orders-0") == 1
    stop(snapshot, 2)
    known = problem(snapshot)
    assert "served again" not in " ".join(diagnosis_of(known.inspection, [foresee(known)], []))


# Elections outside of the ISR.


def lagging(*, unclean: bool | None) -> dict[str, Any]:
    """Broker 1 is the only ISR member, and its log has more; a hand has minted another id."""
    settings = {} if unclean is None else {UNCLEAN_ELECTIONS: unclean}
    snapshot = alone("3.6.2") | {"default_settings": {}}
    snapshot["topics"]["orders"]["settings"] = settings
    state(snapshot)["isr"] = [1]
    return snapshot


def test_a_follower_that_may_be_elected_is_named_and_no_act_comes_before() -> None:
    snapshot = lagging(unclean=True)
    one = found(snapshot)[AHEAD]
    assert one.detail.endswith("it may elect brokers 2 or 3") and one.kind.later.startswith("once the last ISR member")
    snapshot["topics"]["orders"]["znode"]["topic_id"] = OTHER
    assert "but first see to orders-0, of which a replica outside" in ways_out(snapshot)["fetch-by-id-refused"]
    assert AHEAD not in found(lagging(unclean=False)) and AHEAD not in found(lagging(unclean=None))


def test_the_controllers_setting_counts_where_the_topic_has_none() -> None:
    """ZkPartitionStateMachine.collectUncleanLeaderElectionState: the topic's, and the controller's configuration."""
    snapshot = lagging(unclean=None) | {"default_settings": {UNCLEAN_ELECTIONS: True}}
    assert AHEAD in found(snapshot)
    snapshot["brokers"]["1"]["settings"] = {UNCLEAN_ELECTIONS: False}
    assert AHEAD not in found(snapshot)


def test_an_isr_that_is_down_is_started_first() -> None:
    snapshot = lagging(unclean=True)
    down(snapshot, 1, 2)
    state(snapshot)["leader"] = -1
    ways = ways_out(snapshot)
    assert ways[AHEAD].endswith("; bring an ISR member of orders-0 back before any other broker starts")
    assert "but first see to orders-0, of which a replica outside" in ways["broker-down"]
    assert "but first" not in ways["no-live-isr"]
    assert found(snapshot)["no-live-isr"].kind.later.startswith("it lasts, of orders-0, until a broker starts")
    down(snapshot, 3)
    assert ways_out(snapshot)[AHEAD] == "bring an ISR member of orders-0 back before any other broker starts"


def test_forecasts_have_the_elections_and_plans_their_condition() -> None:
    """Brokers 1 and 2 are down; 2 is not in the ISR, and is the first of the assignment that starts."""
    snapshot = lagging(unclean=True)
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [1, 2]
    without_log(snapshot, 3)
    down(snapshot, 1, 2)
    state(snapshot)["leader"] = -1
    capture = read_capture(json.dumps(snapshot).encode())
    known = problem_of(capture)
    text = " ".join(diagnosis_of(known.inspection, [foresee(known)], []))
    assert "broker 2 starts with the logs that it has" in text
    assert "acknowledged records that are lost" in text.split("If broker 2 starts")[1]
    assert problem(snapshot).premise == "if unclean.leader.election.enable of orders was set to false before"
    assert "start-broker 1" in names(problem(snapshot))
    assert read_snapshot(json.dumps(snapshot).encode()).flags["unclean_election"] is True


def test_a_step_asks_for_no_setting_that_is_shown() -> None:
    for unclean, is_asked in ((None, True), (False, False)):
        snapshot = lagging(unclean=unclean)
        snapshot["topics"]["orders"]["znode"]["topic_id"] = OTHER
        asked = procedure(problem(snapshot), "restart 1").condition()
        assert ("unclean.leader.election.enable is false for orders-0" in asked) is is_asked


def test_the_controller_fails_over_though_its_own_disk_is_what_has_failed() -> None:
    """Broker 1 is the controller, and the only ISR member, with its log on a failed disk."""
    snapshot = lagging(unclean=True)
    without_log(snapshot, 1)
    failed = {"path": "/b", "broker_id": None, "cluster_id": None, "offline": True}
    snapshot["brokers"]["1"]["log_dirs"] = [*snapshot["brokers"]["1"]["log_dirs"], failed]
    state(snapshot)["leader"] = -1
    known = problem_of(read_capture(json.dumps(snapshot).encode()))
    text = " ".join(diagnosis_of(known.inspection, [foresee(known)], []))
    assert "broker 1 restarts" in text.split("acknowledged records that are lost")[0].split("If ")[-1]


# Who is elected as the ISR is gone for good.


def given_up(snapshot: dict[str, Any], condition: str) -> list[str]:
    """The names of the starts and elections of the operator who gives some brokers up."""
    lossy = [one for one in problem(snapshot).alternatives if one.premise == condition]
    (found,) = {tuple(name for name in names(one) if name.startswith(("start-", "elect-unclean"))) for one in lossy}
    return list(found)


def test_brokers_that_are_down_and_whole_are_elected_where_only_the_isr_is_gone_for_good() -> None:
    snapshot = alone("3.6.2", brokers=4)
    state(snapshot).update(leader=-1, isr=[3], leader_epoch=8)
    down(snapshot, 1, 2, 3)
    condition = "if broker 3 is gone for good, and acknowledged records may be lost"
    assert given_up(snapshot, condition) == ["start-broker 1", "start-broker 2", "elect-unclean orders"]
    snapshot["brokers"]["2"]["dirs"]["orders-0"] = log(IDS["orders"], (*EPOCHS, (6, 80)))
    assert given_up(snapshot, condition) == ["start-broker 2", "elect-unclean orders"]


def test_a_member_of_the_isr_that_nobody_has_is_not_asked_for() -> None:
    snapshot = alone("3.6.2")
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [1]
    state(snapshot)["isr"] = [1]
    without_log(snapshot, 1, 2, 3)
    assert ways_out(snapshot)["isr-member-has-no-log"].endswith("consume what they serve into another topic first")


# Series.


@pytest.mark.parametrize(
    ("shown", "flag", "is_untried"), [(True, True, False), (False, False, False), (None, False, True)]
)
def test_a_series_has_the_elections_that_its_snapshots_show(shown: bool | None, flag: bool, is_untried: bool) -> None:
    snapshots = [json.dumps(lagging(unclean=shown)).encode()] * 2
    (series,) = read_series(snapshots)
    assert bool(series.flags.get("unclean_election")) is flag
    assert any("elections of replicas outside of the ISR" in one for one in series.untried) is is_untried


# Plans where nothing shows whether a replica outside of the ISR is elected.


def leaderless(**brokers: bool) -> dict[str, Any]:
    """The only ISR member of orders is down; brokers say whether they elect outsiders, as controllers."""
    snapshot = configured("3.6.2")
    state(snapshot).update(leader=-1, isr=[3], leader_epoch=6)
    down(snapshot, 3)
    for name, is_unclean in brokers.items():
        snapshot["brokers"][name.removeprefix("broker")]["settings"] = {UNCLEAN_ELECTIONS: is_unclean}
    return snapshot


OF_BROKERS = f"if {UNCLEAN_ELECTIONS} of the brokers is false"


def test_a_plan_says_that_it_needs_clean_elections_where_the_brokers_were_not_asked() -> None:
    snapshot = leaderless()
    assert problem(snapshot).premise == OF_BROKERS
    snapshot["topics"]["orders"]["settings"] = None
    assert problem(snapshot).premise == f"if {UNCLEAN_ELECTIONS} of orders is false"
    snapshot["topics"]["orders"]["settings"] = {UNCLEAN_ELECTIONS: False}
    assert problem(snapshot).premise == ""
    snapshot["topics"]["orders"]["settings"] = {UNCLEAN_ELECTIONS: True}
    assert problem(snapshot).premise == f"if {UNCLEAN_ELECTIONS} of orders was set to false before"


def test_each_broker_that_runs_may_be_the_next_controller() -> None:
    """ZkPartitionStateMachine.collectUncleanLeaderElectionState: with the configuration of the controller."""
    assert problem(leaderless(broker1=False, broker2=False)).premise == ""
    assert problem(leaderless(broker1=False)).premise == OF_BROKERS
    assert problem(leaderless(broker1=False, broker2=True)).premise == OF_BROKERS
    assert problem(leaderless(broker1=True)).premise == f"if {UNCLEAN_ELECTIONS} of orders was set to false before"
    assert problem(leaderless() | {"default_settings": {UNCLEAN_ELECTIONS: False}}).premise == ""


def test_a_replica_outside_of_the_isr_is_elected_in_its_place_only() -> None:
    """Two ISR members live, or all replicas are in the ISR: no fault makes an outsider lead."""
    snapshot = leaderless()
    del snapshot["topics"]["orders"]["znode"]["topic_id"]
    snapshot["topics"]["orders"]["znode"]["version"] = 1
    state(snapshot).update(leader=1, isr=[1, 2])
    assert "unclean" not in problem(snapshot).premise
    state(snapshot).update(leader=1, isr=[1])
    assert OF_BROKERS in problem(snapshot).premise
    state(snapshot).update(leader=-1, isr=[1, 2, 3])
    assert "unclean" not in problem(snapshot).premise


def test_a_forecast_says_that_it_has_clean_elections_only_where_nothing_shows_it() -> None:
    assumed = f"Assumed: {UNCLEAN_ELECTIONS} is false; the snapshot does not show it for each broker."
    facts = [read_snapshot(json.dumps(one).encode()).facts for one in (leaderless(), leaderless(broker1=True))]
    assert [assumed in known for known in facts] == [True, False]
    assert assumed not in read_snapshot(json.dumps(leaderless(broker1=False, broker2=False)).encode()).facts
