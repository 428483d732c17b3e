"""Clusters of many brokers and partitions: the work of a diagnosis grows with their number, and plans are found.

Replicas are placed at random, so that hardly two partitions have the same brokers. Work is counted in calls of
functions, which are the same in every run.
"""

from __future__ import annotations

import cProfile
import json
import pstats
from random import Random
from typing import Any

import pytest

from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.invariants.reading.outlook import recovery_problem
from kwalk.search.analyses.recovery import plan_recovery
from tests.snapshots.test_combined_damages import cluster, log
from tests.snapshots.test_strangers import answers

PARTITIONS = 4


def large(topics: int, damaged: int, brokers: int = 12, release: str = "3.4.1") -> dict[str, Any]:
    """A cluster in which old clients have erased the ids of some topics, and the controller has minted others."""
    ids = {f"topic-{number:04}": f"{number:04}{'A' * 17}g" for number in range(topics)}
    snapshot, random = cluster(release, ids=ids, brokers=brokers), Random(1)
    for broker in snapshot["brokers"].values():
        broker["dirs"] = {}
    for number, (name, identity) in enumerate(ids.items()):
        topic = snapshot["topics"][name]
        state = topic["partition_state"]["0"]
        for partition in range(PARTITIONS):
            replicas = random.sample(range(1, brokers + 1), 3)
            topic["znode"]["partitions"][str(partition)] = replicas
            topic["partition_state"][str(partition)] = {**state, "leader": replicas[0], "isr": replicas}
            for b in replicas:
                snapshot["brokers"][str(b)]["dirs"][f"{name}-{partition}"] = log(identity)
        if number < damaged:
            topic["znode"].update(topic_id=f"{number:04}{'B' * 17}g", version=3)
    return snapshot


def answered(snapshot: dict[str, Any]) -> dict[str, Any]:
    """The same with what brokers answer about partitions, as a snapshot has that is taken of a cluster."""
    answers(snapshot)
    for number, broker in snapshot["brokers"].items():
        broker["replicas"] = {}
        for name, topic in snapshot["topics"].items():
            for partition, replicas in topic["znode"]["partitions"].items():
                if int(number) in replicas:
                    epoch = topic["partition_state"][partition]["leader_epoch"]
                    known = {"leader_epoch": epoch, "leads": replicas[0] == int(number)}
                    broker["replicas"].setdefault(name, {})[partition] = known
    return snapshot


def calls(topics: int, damaged: int, brokers: int) -> int:
    content, profile = json.dumps(answered(large(topics, damaged, brokers))).encode(), cProfile.Profile()
    profile.runcall(inspect_snapshot, content)
    found: int = pstats.Stats(profile).total_calls  # type: ignore[attr-defined]
    return found


def test_the_work_of_a_diagnosis_grows_as_the_number_of_partitions() -> None:
    calls(5, 1, 12)  # what is computed once
    few, some, many = calls(30, 3, 12), calls(60, 6, 12), calls(90, 9, 12)
    assert many - some < 1.1 * (some - few)
    assert many - some < 30 * PARTITIONS * 5000
    assert calls(60, 6, 24) < 1.3 * some  # of more brokers, each with fewer logs


def test_topics_of_one_situation_have_one_plan_however_many_they_are() -> None:
    """Twenty topics on twelve brokers; before, the time was over at ten of them."""
    few, many = (plan_recovery(recovery_problem(json.dumps(large(n, n)).encode()), seconds=200) for n in (3, 20))
    assert few.plan is not None and many.plan is not None and not many.problem.left_out
    for found, count in ((few, 3), (many, 20)):
        names = [one.name for one in found.plan.procedures if found.plan]
        topics = " ".join(f"topic-{number:04}" for number in range(count))
        assert names == [f"write-topic-ids {topics}", "fail-over"]
    assert many.visited <= 4 * few.visited


def test_the_id_of_a_topic_with_many_partitions_is_written_back_without_a_restart() -> None:
    """Before, a restart of every broker without metadata files was looked at first where there are many worlds."""
    snapshot, old, brokers = large(1, 0, 6, "3.9.0"), "CCCCCCCCCCCCCCCCCCCCCQ", 6
    ((name, topic),) = snapshot["topics"].items()
    topic["znode"].update(partitions={}, topic_id="BBBBBBBBBBBBBBBBBBBBBQ")
    for broker in snapshot["brokers"].values():
        broker.update(dirs={}, metadata_cache=None)
    topic["partition_state"] = {}
    for number in range(2 * brokers):
        replicas = [(number + place * (1 + number // brokers)) % brokers + 1 for place in range(3)]
        topic["znode"]["partitions"][str(number)] = replicas
        shown = {"leader": replicas[0], "leader_epoch": 5, "isr": replicas, "controller_epoch": 3, "zk_version": 9}
        topic["partition_state"][str(number)] = shown
        for replica in replicas:
            snapshot["brokers"][str(replica)]["dirs"][f"{name}-{number}"] = log(old)
    found = plan_recovery(recovery_problem(json.dumps(snapshot).encode()), seconds=200)
    assert len(found.problem.worlds) == 2 * brokers and found.plan is not None
    assert [one.name for one in found.plan.procedures] == [f"write-topic-id {name} {old}", "fail-over"]


def with_new_ids_of_added_partitions(snapshot: dict[str, Any], topics: int) -> dict[str, Any]:
    """The cluster if the logs of the last partition of some topics have the id that was minted, as in 2.8."""
    for broker in snapshot["brokers"].values():
        for name in broker["dirs"]:
            topic, _, number = name.rpartition("-")
            if int(number) == PARTITIONS - 1 and topic < f"topic-{topics:04}":
                broker["dirs"][name] = log(snapshot["topics"][topic]["znode"]["topic_id"])
    return snapshot


@pytest.mark.parametrize("mixed", [7, 3])
def test_metadata_files_of_many_topics_are_removed_in_one_restart_of_each_broker(mixed: int) -> None:
    """Round 0 of recover-many-topics on 2.8.2: there were steps for single topics only, and no plan was found.

    The ids of the topics that are not mixed could be written, but the brokers are restarted anyway.
    """
    count, brokers = 7, 3
    snapshot = with_new_ids_of_added_partitions(large(count, count, brokers, "2.8.2"), mixed)
    found = plan_recovery(recovery_problem(json.dumps(snapshot).encode()), seconds=200)
    assert found.plan is not None and found.plan.at_any_moment and not found.problem.left_out
    (step,) = found.plan.procedures
    topics = [f"topic-{number:04}" for number in range(count)]
    assert step.name == " ".join(["restart-without-metadata-files-of-topics", "1,2,3", *topics])
    removed = [command.split()[2] for command in step.commands if command.startswith("rm -f ")]
    assert removed == [f"{topic}-0/partition.metadata" for topic in topics]


def restored(topics: int, brokers: int) -> dict[str, Any]:
    """A cluster whose ZooKeeper was restored from a backup of before the last elections, of all partitions."""
    snapshot = large(topics, 0, brokers, "3.9.0")
    for topic in snapshot["topics"].values():
        for state in topic["partition_state"].values():
            state.update(leader_epoch=2, zk_version=2)
    return snapshot


@pytest.mark.thorough
def test_a_restart_of_each_of_many_brokers_is_repeated_where_something_fails_meanwhile() -> None:
    """Before, a plan with two of them was dearer than any that was looked at."""
    found = plan_recovery(recovery_problem(json.dumps(restored(1, 7)).encode()), seconds=300).plan
    assert found is not None and found.early[1]
    first, *restarts = [one.name for one in found.procedures]
    assert first == "write-states" and len({*restarts}) == 1 and len(restarts) == 2 and len(restarts[0].split()) > 6


def test_many_brokers_that_are_down_start_in_one_step() -> None:
    """Sixty topics on twelve brokers: before, which of them suffice was looked for until the time was over.

    The first that starts, without a replica of some partition, leaves one member in its ISR, which may be the one that
    is gone: on 2.8.2 no broker led then, and an election outside of the ISR repaired that, without a loss.
    """
    snapshot = large(2, 0, 6, "3.9.0")
    for broker in snapshot["brokers"].values():
        broker["alive"] = False
    snapshot["controller"] = None
    found = plan_recovery(recovery_problem(json.dumps(snapshot).encode()), seconds=200)
    steps = {
        one.problem.premise: [step.name for step in one.plan.procedures]
        for one in (found, *found.alternatives)
        if one.plan is not None
    }
    assert steps[""] == ["start-brokers 1 2 3 4 5 6"]
    *starts, elect = [name.split()[0] for name in steps["if broker 2 is gone for good"]]
    assert {*starts} <= {"start-broker", "elect-unclean"} and elect == "elect-unclean"


def test_metadata_files_of_topics_with_one_id_are_not_removed() -> None:
    """Of 60 topics on 12 brokers, 780 of 795 steps were such: none of them can do anything."""
    problem = recovery_problem(json.dumps(restored(3, 5)).encode())
    steps = {one.name.split()[0] for one in problem.procedures}
    assert steps == {"write-states", "fail-over", "restart"}
    assert [one.name for one in problem.procedures if one.once] == ["write-states"]
