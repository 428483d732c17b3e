"""What `kwalk diagnose` says to do by hand of znodes that were erased, restored or written again, on real brokers.

As in `ways_out`, whose rounds these are.
"""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Mapping
from functools import partial

from kwalk.clusters.lab.cluster import LabOptions
from kwalk.clusters.lab.experiments import damages
from kwalk.clusters.lab.experiments.damages import FIRST, TWO, Scene, new_term
from kwalk.clusters.lab.experiments.deletions import writes_of_creation
from kwalk.clusters.lab.experiments.known_records import AFTER, BACKUP, Ledger
from kwalk.clusters.lab.experiments.operator_steps import carry_out, rest
from kwalk.clusters.lab.experiments.recoveries import DEAD, PATIENCE, diagnosed
from kwalk.clusters.lab.experiments.ways_out import (
    Advised,
    add_partition,
    advised,
    put_states,
    read,
    start_all,
    write_replicas,
)
from kwalk.clusters.lab.experiments.ways_out_of_replicas import THREE, elect_unclean
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.zookeeper import Write, create, delete
from kwalk.clusters.wire import new_topic_id
from kwalk.invariants.reading.outlook import recovery_problem
from kwalk.model.language import KwalkError
from kwalk.search.analyses.recovery import plan_recovery

EMPTY = "empty"
"""A topic without partitions."""

# Damages.


def without_partitions(scene: Scene) -> None:
    """Create a topic in ZooKeeper without partitions, beside one that is served."""
    scene.create(THREE)
    scene.write(FIRST)
    scene.lab.zk.do(*writes_of_creation(EMPTY, {}))
    rest(scene.lab)


def erased_partitions(scene: Scene, *, other_id: bool) -> None:
    """Write a topic's znode without partitions or states, perhaps with another id, while a replica lacks records.

    The controller fails over, and the broker of the replica starts.
    """
    lab = scene.lab
    scene.create(THREE)
    scene.write(FIRST)
    lab.move_controller(2)
    scene.stop(1)
    scene.write(FIRST)
    content = {**(lab.topic(scene.topic) or {}), "partitions": {}}
    _write_again(scene, {**content, **({"topic_id": new_topic_id()} if other_id else {})})
    lab.delete_controller()
    scene.start(1)


def _write_again(scene: Scene, content: Mapping[str, object]) -> None:
    """Remove the znodes of a topic, and write its first one, in one transaction: no controller sees a difference."""
    path = f"/brokers/topics/{scene.topic}"
    scene.lab.zk.do(*_removal(scene, path), create(path, json.dumps(content).encode()))
    scene.lab.note(f"{path} is written again without what was below: {json.dumps(content)}")


def _removal(scene: Scene, path: str) -> list[Write]:
    """Return the writes that remove a znode and all below."""
    below = [write for name in scene.lab.zk.children(path) for write in _removal(scene, f"{path}/{name}")]
    return [*below, delete(path)]


def written_without_states(scene: Scene) -> None:
    """Write the znodes of a topic again without states, while all brokers are down, and the first lacks records."""
    lab = scene.lab
    scene.create(TWO)
    scene.write(FIRST)
    lab.move_controller(2)
    scene.stop(1)
    scene.write(FIRST)
    for number in (2, 3):
        lab.kill(number)
    wait_until(lambda: not lab.zk.children("/brokers/ids"), 60)
    _write_again(scene, lab.topic(scene.topic) or {})


def restored_mark(scene: Scene, *, elections: bool) -> None:
    """Restore ZooKeeper from a backup of when a topic was to be deleted; one of its name was created since.

    Args:
        scene: The cluster.
        elections: Whether the later topic has leader epochs above those of the states in the backup.
    """
    lab = scene.lab
    scene.create()
    lab.move_controller(1)
    scene.crash(3)
    lab.admin(milliseconds=8000).delete_topic(scene.topic)
    time.sleep(damages.DELETING)
    with damages.restored(scene):
        scene.start(3)
        if not wait_until(lambda: lab.topic(scene.topic) is None, 60):
            raise KwalkError(f"Topic {scene.topic} is not deleted when its brokers run.")
        scene.create()
        scene.write(FIRST)
        for number in (2, 3, 1, 2, 3, 1) if elections else ():
            new_term(scene, number)


def shorter_leader(scene: Scene) -> None:
    """Write a state by hand that names the replica with the shortest log while the others are down."""
    scene.create(THREE)
    scene.write(FIRST)
    scene.lab.move_controller(2)
    scene.stop(1)
    scene.write(FIRST)
    scene.stop(3, 2)
    scene.start(1)
    scene.write_state(0, leader=1, isr=[1])
    scene.lab.delete_controller()
    rest(scene.lab)


def nobodys_isr(scene: Scene) -> None:
    """Write a leader that does not exist by hand, and fail over; the first replica lacks records, and starts last."""
    scene.create(THREE)
    scene.write(FIRST)
    scene.lab.move_controller(2)
    scene.stop(1)
    scene.write(FIRST)
    scene.write_state(0, leader=7, isr=[7])
    scene.lab.delete_controller()
    scene.start(1)


# What is done.


def mark_for_deletion(scene: Scene, way_out: str) -> None:
    """Create the znode that marks the topic without partitions for deletion."""
    ((path,),) = read(re.compile(r"create the znode (/admin/delete_topics/[^:\s]+):"), way_out)
    scene.lab.zk.do(create(path))
    wait_until(lambda: scene.lab.topic(EMPTY) is None, 20)


def created_by_clients(scene: Scene) -> list[str]:
    """Create the topic that had no partitions, if there is none, and write; return what is refused."""
    if not (scene.lab.topic(EMPTY) or {}).get("partitions"):
        answer = scene.lab.admin(milliseconds=8000).create_topic(EMPTY, THREE)
        if not answer.ok:
            return [f"{EMPTY} is not created: {answer}"]
        scene.lab.wait_for_leaders(EMPTY)
        rest(scene.lab)
    return Ledger(EMPTY).write(scene.lab, AFTER)


def write_before_a_start(scene: Scene, way_out: str) -> None:
    """Create the states that the sentence has, and start the brokers."""
    put_states(scene, way_out)
    start_all(scene)


def without_the_mark(scene: Scene, way_out: str) -> None:
    """Delete the mark while no broker runs, and do what is said of the next snapshot: its plan, or its sentence."""
    read(re.compile("delete the topic's mark in /admin/delete_topics, then stop .*, take a snapshot, and"), way_out)
    scene.lab.zk.do(delete(f"/admin/delete_topics/{scene.topic}"))
    found = diagnosed(scene, "without the mark")
    sentences = (kind.way_out for kind in found.inspection.by_kind() if kind.name == "down-broker-has-another-id")
    later = re.search(r"write before a broker starts the id (\S+), which they have.*", next(sentences, ""))
    if later:
        scene.lab.zk.do(scene.lab.topic_id_write(scene.topic, later[1]))
        put_states(scene, later[0])
    else:
        recovery = plan_recovery(recovery_problem(found.snapshot), seconds=PATIENCE)
        keeping = (one for one in (recovery, *recovery.alternatives) if "empty logs" not in one.problem.premise)
        plan = next((one.plan for one in keeping if one.plan), None)
        for procedure in plan.procedures if plan else ():
            carry_out(scene.lab, procedure)
    start_all(scene)


def write_id_and_states(scene: Scene, way_out: str) -> None:
    """Write what is older than the logs: first the state, then the id, and fail the controller over."""
    ((identity,),) = read(re.compile(r"write the id (\S+) into its znode and fail the controller over"), way_out)
    put_states(scene, way_out)
    scene.lab.zk.do(scene.lab.topic_id_write(scene.topic, identity))
    scene.lab.delete_controller()
    rest(scene.lab)


def copy_logs(scene: Scene, way_out: str) -> None:
    """Copy the logs with records that the leader lacks, start their brokers, and see that the records can be read."""
    lab, copies = scene.lab, []
    for number, name in read(re.compile(r"before broker (\d+) starts, copy (\S+) there to another place"), way_out):
        copies.append(lab.brokers[int(number)].folder / BACKUP / name)
        shutil.copytree(lab.brokers[int(number)].data / name, copies[-1])
    start_all(scene)
    lost = {one.value for one in scene.ledger.acknowledged}
    for path in (log for copy in copies for log in copy.glob("*.log")):
        words = ("--files", str(path), "--print-data-log")
        process = lab.run_java("dump", lab.options.release, ("kafka.tools.DumpLogSegments", *words), heap=96)
        process.wait(60)
        lost -= {value for value in lost if value in process.output.read_text()}
    if lost:
        raise KwalkError(f"DumpLogSegments does not show {sorted(lost)} in the copies.")


# Experiments.

DELETED, BY_HAND, DOWN = "delete-and-recreate.md", "delete-by-hand.md", "controller-comes-back.md"

EXPERIMENTS = (
    advised(
        "without-partitions",
        "A topic is created in ZooKeeper without partitions",
        Advised(without_partitions, "topic-without-partitions", mark_for_deletion, created_by_clients),
        BY_HAND,
    ),
    *(
        advised(
            f"erased-partitions{name}",
            f"The znodes of a topic are written again without partitions{what}, while a replica lacks records",
            Advised(partial(erased_partitions, other_id=other_id), kind, add_partition),
            BY_HAND,
        )
        for name, what, other_id, kind in (
            ("", "", False, "partition-is-in-logs-only"),
            ("-and-id", ", and with another id", True, "topic-without-partitions"),
        )
    ),
    advised(
        "written-without-states",
        "The znodes of a topic are written again without states while all brokers are down, and the first lacks "
        "records",
        Advised(written_without_states, "no-live-replica", write_before_a_start),
        BY_HAND,
        options=DEAD,
    ),
    *(
        advised(
            f"restored-mark{name}",
            f"ZooKeeper is restored from a backup of when a topic was being deleted, which was created again{what}",
            Advised(partial(restored_mark, elections=elections), "deletion-of-later-logs", without_the_mark),
            DELETED,
            options=DEAD,
        )
        for name, what, elections in (("", "", False), ("-behind", ", and has seen more elections", True))
    ),
    advised(
        "lost-topic-created-again",
        "ZooKeeper loses a topic that has seen elections; it is created again over its logs, of which one is short",
        Advised(damages.lost_topic_created_again, "log-of-an-earlier-topic", write_id_and_states),
        DELETED,
    ),
    advised(
        "lost-reassignment-of-two",
        "ZooKeeper is restored from a backup of before a partition moved to two brokers, of which one lacks a record",
        Advised(
            partial(damages.lost_reassignment, to=[3, 4], cut=[3]),
            "records-on-no-replica",
            write_replicas,
        ),
        options=LabOptions(brokers=4),
    ),
    advised(
        "shorter-leader",
        "A state is written by hand that names the replica with the shortest log while the others are down",
        Advised(shorter_leader, "replica-has-lost-records", copy_logs, may_lose=True),
        DOWN,
    ),
    advised(
        "leader-does-not-exist",
        "A leader that does not exist is written by hand, and the first replica lacks records",
        Advised(nobodys_isr, "isr-outside-replicas", elect_unclean),
        DOWN,
    ),
)
