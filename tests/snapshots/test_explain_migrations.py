"""Series of real clusters that migrate to KRaft: what is explained, what is undecided and why, and what is refused.

They are from experiments of the lab (`kwalk lab reproduce migration-…`), on 3.9.0, with a snapshot after each stage.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kwalk.model.kafka.snapshots.series import MIGRATING_CLUSTER, read_series
from kwalk.model.language import UsageError
from kwalk.model.language.series import LogSource, Series
from kwalk.reports.handlers.explain import explained, model_of, own_scenario
from kwalk.reports.handlers.target import scenario_with
from kwalk.reports.pages.explanation import ReportedExplanation, sentences
from kwalk.search.analyses.explain.explain import ExplainOptions, Fit

FOLDER = Path(__file__).parent / "migrations"
ROLL = ["stop_to_migrate", "restart", "stop_to_migrate", "provision_again", "restart"]
"""What brings a cluster of two brokers to dual write."""


def snapshots(name: str) -> list[dict[str, Any]]:
    """The snapshots of a series."""
    found: list[dict[str, Any]] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return found


def only(documents: list[dict[str, Any]], topic: str) -> list[dict[str, Any]]:
    """The snapshots as if the cluster had no other topic."""
    made = copy.deepcopy(documents)
    for document in made:
        for held in (document["topics"], (document["image"] or {"topics": {}})["topics"]):
            for name in set(held) - {topic}:
                del held[name]
    return made


def series_of(documents: list[dict[str, Any]], logs: LogSource | None = None) -> tuple[Series, ...]:
    names = [f"snapshot {number}" for number in range(1, len(documents) + 1)]
    return read_series([json.dumps(document).encode() for document in documents], names, logs)


def reports_of(found: tuple[Series, ...], **options: Any) -> dict[str, ReportedExplanation]:
    """What `kwalk diagnose --explain` reports, by topic."""
    _, scenario = scenario_with("read_series")
    pairs = [(model_of(own_scenario(scenario, one), one, None), one) for one in found]
    reports = explained(pairs, ExplainOptions(**{"seconds": 1200.0, **options}))
    return {one.model.scenario.labels["topics"][0]: one for one in reports}


def assumed(report: ReportedExplanation) -> list[list[str]]:
    """The names of the assumed steps before each snapshot."""
    return [[step.key.split("(")[0] for step in steps if report.is_assumed(step.key)] for _, steps in report.legs()]


def taken(report: ReportedExplanation) -> list[str]:
    """The names of the steps before each snapshot."""
    return [step.key.split("(")[0] for _, steps in report.legs() for step in steps]


# Real clusters.


def test_a_roll_leads_to_dual_write() -> None:
    """The cluster was migrated as documented, and nothing was damaged."""
    report = reports_of(series_of(only(snapshots("partition-not-written")[:2], "t0")))["t0"]
    assert report.fit is Fit.EXPLAINED
    created, rolled = assumed(report)
    assert (created, sorted(rolled)) == (["new_client_creates_topic"], sorted(ROLL))
    steps = taken(report)
    order = ("become_active", "wait_for_brokers", "claim_controller", "copy_topic", "end_copy", "record_copy")
    assert [step for step in steps if step in order] == list(order)
    assert steps.index("record_copy") < steps.index("end_sync") < steps.index("send_to_brokers")


def test_an_old_client_in_dual_write_then_a_crash_the_way_out_and_the_roll_to_kraft() -> None:
    """An old client adds a partition, KRaft's controller restarts, a leader crashes, and the znode is written back.

    Then the broker starts, and both restart in KRaft mode.
    """
    report = reports_of(series_of(only(snapshots("old-client-in-dual-write"), "t0")))["t0"]
    assert report.fit is Fit.EXPLAINED
    _, expanded, restarted, crashed, repaired, rolled = assumed(report)
    assert "old_client_adds_partitions" in expanded
    assert (restarted, crashed, repaired) == (["fail_quorum"], ["crash"], ["write_topic_id"])
    assert rolled == ["restart", "stop_for_kraft", "restart", "stop_for_kraft", "restart"]
    steps = taken(report)
    assert steps.index("copy_topic") < steps.index("old_client_adds_partitions")


@pytest.mark.thorough
def test_an_erased_id_and_the_roll_to_kraft() -> None:
    """An old client has erased the topic's id, and a failover of the roll mints another one: logs are set aside."""
    report = reports_of(series_of(only(snapshots("erased-id"), "t0")))["t0"]
    assert report.fit is Fit.EXPLAINED
    _, migrated, rolled = assumed(report)
    assert set(ROLL) <= set(migrated)
    assert sorted(rolled) == ["restart", "restart", "stop_for_kraft", "stop_for_kraft"]


def test_a_partition_that_was_not_written_is_a_controller_that_failed_before() -> None:
    """KRaft's controller was killed between the commit of a partition and its write: the next one is stuck."""
    report = reports_of(series_of(only(snapshots("partition-not-written")[:4], "t0")))["t0"]
    assert report.fit is Fit.EXPLAINED
    *_, restarted, crashed = assumed(report)
    assert (sorted(restarted), crashed) == (["client_adds_partition", "fail_quorum"], ["crash"])
    steps = taken(report)
    added, failed = steps.index("client_adds_partition"), steps.index("fail_quorum")
    assert "write_delta" not in steps[min(added, failed) :]
    assert "fence_broker" in steps


def test_what_an_operator_writes_by_hand_is_not_looked_for_and_decides_nothing() -> None:
    """The way out that was taken: state znodes of the partition were created by hand."""
    report = reports_of(series_of(only(snapshots("partition-not-written")[3:], "t0")), events=1)["t0"]
    assert report.fit is Fit.UNDECIDED
    assert "has changes of t0 in KRaft's image that are not in ZooKeeper" in report.explanation.how
    assert report.explanation.mismatch.number == 1
    assert "znodes of partitions, and /migration, that somebody writes by hand" in " ".join(sentences(report))


def test_another_topic_may_hold_the_driver_up() -> None:
    """/migration was written by hand: with another topic in the cluster, that nothing fits is undecided.

    What is seen of the other topic fits a restart of a broker and another controller.
    """
    documents = snapshots("killed-after-copy")[3:]
    both = reports_of(series_of(documents), events=1)
    assert {name: report.fit for name, report in both.items()} == {"t0": Fit.UNDECIDED, "healthy": Fit.EXPLAINED}
    assert "does not look at what other topics" in both["t0"].explanation.how
    alone = reports_of(series_of(only(documents, "t0")), events=1)["t0"]
    assert (alone.fit, alone.explanation.mismatch.number) == (Fit.REFUSED, 1)


def test_a_controller_that_was_killed_after_the_copy_stays_inactive() -> None:
    report = reports_of(series_of(only(snapshots("killed-after-copy")[:4], "t0")))["t0"]
    assert report.fit is Fit.EXPLAINED
    assert "fail_quorum" in assumed(report)[2]
    steps = taken(report)
    assert "end_copy" in steps and not {"record_copy", "send_to_brokers"} & set(steps)


def test_a_migration_is_rolled_back() -> None:
    """The controllers were stopped, /controller and /migration deleted, and the brokers restarted."""
    report = reports_of(series_of(snapshots("rolled-back")))["healthy"]
    assert report.fit is Fit.EXPLAINED
    assert "roll_back" in assumed(report)[3]
    (refused,) = report.series.refused
    assert refused.startswith("t0 is not explained: snapshot 3 lacks topic t0, and KRaft's controller leads in it")


# Logs.


def test_lines_of_the_driver_are_steps_of_a_behaviour() -> None:
    logs = LogSource(str(FOLDER / "partition-not-written-logs"))
    (series,) = series_of(only(snapshots("partition-not-written")[:3], "t0"), logs)
    report = reports_of((series,))["t0"]
    assert report.fit is Fit.EXPLAINED
    story = {step.number: step.key.split("(")[0] for _, steps in report.legs() for step in steps}
    logged = {step.text.rpartition(" transitioning from ")[2]: story[n] for n, step in report.explanation.logged}
    assert logged["WAIT_FOR_BROKERS to BECOME_CONTROLLER state"] == "wait_for_brokers"
    assert logged["BECOME_CONTROLLER to ZK_MIGRATION state"] == "claim_controller"
    assert logged["KRAFT_CONTROLLER_TO_BROKER_COMM to DUAL_WRITE state"] == "send_to_brokers"
    assert logged["BECOME_CONTROLLER to SYNC_KRAFT_TO_ZK state"] == "claim_controller"


def test_a_driver_that_was_logged_in_a_state_that_it_had_not_is_refuted(tmp_path: Path) -> None:
    source = FOLDER / "partition-not-written-logs" / "controller-3000" / "controller.log"
    lines = source.read_text("utf-8").splitlines()
    wrong = next(line for line in lines if "WAIT_FOR_BROKERS to BECOME_CONTROLLER" in line)
    kept = [wrong.replace("BECOME_CONTROLLER", "DUAL_WRITE"), *(line for line in lines if line >= wrong)]
    (tmp_path / "controller.log").write_text("\n".join(kept), "utf-8")
    (series,) = series_of(only(snapshots("partition-not-written")[:2], "t0"), LogSource(str(tmp_path)))
    report = reports_of((series,), events=5, seconds=10.0)["t0"]
    assert report.fit is not Fit.EXPLAINED


# What is read.


def test_the_release_of_the_snapshots_is_that_of_the_migration() -> None:
    (series,) = series_of(only(snapshots("partition-not-written")[:2], "t0"))
    assert (series.scenario, series.variant) == (MIGRATING_CLUSTER.name, "3.9.0")
    model = model_of(MIGRATING_CLUSTER, series, "3.5.2")
    assert (model.binding.flags["full_request"], model.binding.flags["migration"]) == ("none", True)


def test_a_series_without_a_migration_has_no_step_of_one() -> None:
    (series,) = series_of(only(snapshots("partition-not-written")[:1], "t0"))
    assert (series.scenario, series.flags["migration"]) == ("", False)


def tampered(change: Callable[[list[dict[str, Any]]], object]) -> list[dict[str, Any]]:
    made = only(snapshots("partition-not-written")[:2], "t0")
    change(made)
    return made


@pytest.mark.parametrize(
    "change, text",
    [
        (lambda d: [one.update(version="3.3.2") for one in d], "Allowed: releases from 3.4.0 to 3.9.2"),
        (
            lambda d: d[1]["image"]["topics"]["t0"]["partitions"]["0"].update(adding_replicas=[2]),
            "shows a reassignment of t0 while KRaft's controller leads",
        ),
        (lambda d: d[1]["image"]["topics"].clear(), "has topic t0 not in KRaft's image"),
        (
            lambda d: d[1]["image"]["topics"]["t0"].update(topic_id="b0w9qA9jS_WWfMMoH7oFAA"),
            "in KRaft's image with another id than in ZooKeeper",
        ),
        (lambda d: d[1]["topics"]["t0"].update(czxid=999), "topic t0 is deleted, or created again"),
        (
            lambda d: d[1]["topics"]["t0"]["znode"]["partitions"].update({"0": [2, 1]}),
            "replicas of topic t0 are reassigned",
        ),
        (lambda d: (d.pop(0), d[0].update(image=None)), "does not show the image after the copy"),
    ],
)
def test_what_is_not_modelled_is_refused_in_words(change, text) -> None:
    with pytest.raises(UsageError) as refused:
        series_of(tampered(change))
    assert text in str(refused.value)


def test_a_leader_epoch_that_no_controller_can_have_reached_is_not_explained() -> None:
    def change(documents: list[dict[str, Any]]) -> None:
        for state in (
            documents[1]["topics"]["t0"]["partition_state"]["0"],
            documents[1]["image"]["topics"]["t0"]["partitions"]["0"],
        ):
            state["leader"], state["isr"] = 1, [2]

    report = reports_of(series_of(tampered(change)), events=3)["t0"]
    assert (report.fit, report.explanation.mismatch.number) == (Fit.REFUSED, 1)


def test_a_series_begins_in_dual_write() -> None:
    """What the driver is at is left open: the next snapshot shows that it went on."""
    report = reports_of(series_of(only(snapshots("partition-not-written")[1:3], "t0")))["t0"]
    assert report.fit is Fit.EXPLAINED
    assert sorted(assumed(report)[1]) == ["client_adds_partition", "fail_quorum"]


def test_an_epoch_of_the_quorum_is_no_sign_of_lost_writes_while_kraft_leads() -> None:
    documents = snapshots("rolled-back")
    for document in documents[1:3]:
        for topic in document["topics"].values():
            for state in topic["partition_state"].values():
                state["controller_epoch"] = 11
    facts = [fact for one in series_of(documents) for fact in one.facts]
    assert not any(fact.startswith("Noticed:") for fact in facts)
    last = documents[3]["topics"]["healthy"]["partition_state"]["0"]
    last["controller_epoch"] = 11
    facts = [fact for one in series_of(documents) for fact in one.facts]
    assert any("a KRaft controller wrote it, with the epoch of its quorum" in fact for fact in facts)
