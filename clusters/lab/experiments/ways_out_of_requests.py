"""What `kwalk diagnose` says of what controllers leave undone, and brokers refuse, on real brokers.

As in `ways_out`, whose rounds these are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import partial

from kwalk.clusters.lab.cluster import LabOptions
from kwalk.clusters.lab.experiments.damages import FIRST, Scene, new_term, state_by_hand, write_replicas
from kwalk.clusters.lab.experiments.known_records import AFTER, Ledger
from kwalk.clusters.lab.experiments.operator_steps import move_away, rest
from kwalk.clusters.lab.experiments.recoveries import DELETED, DOWN, RELEASES, REPAIR, SINCE_3, roll_brokers
from kwalk.clusters.lab.experiments.ways_out import Advised, advised, id_of_logs, put_states, read, start_all
from kwalk.clusters.lab.experiments.ways_out_of_replicas import THREE, reassign
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.zookeeper import create, delete, set_data
from kwalk.model.language import KwalkError

ELECTION = "/admin/preferred_replica_election"
GONE = "gone"
"""A topic that does not exist."""
HALF = "half"
"""A topic that is marked for deletion."""
UNTIL_TIMEOUT = 75.0
"""Seconds in which a leader gives up to ask a paused broker, which it takes for the controller, to change an ISR."""
MARK = f"/admin/delete_topics/{GONE}"

# Damages.


def reassignment_by_hand(scene: Scene, *, adding: Sequence[int], removing: Sequence[int]) -> None:
    """Write a reassignment into a topic's znode whose replicas are all in the ISR."""
    lab, path = scene.lab, f"/brokers/topics/{scene.topic}"
    scene.create(THREE)
    scene.write(FIRST)
    moving = {"adding_replicas": {"0": list(adding)}, "removing_replicas": {"0": list(removing)}}
    lab.zk.do(set_data(path, json.dumps({**(lab.topic(scene.topic) or {}), **moving}).encode()))
    lab.note(f"{path} has {moving}")
    rest(lab)


def replicas_are_dead(scene: Scene) -> None:
    """Lose a broker that is to have a replica, and then the one that had it, when another has copied the records."""
    lab = scene.lab
    scene.create({0: [1]})
    lab.move_controller(4)
    scene.write(FIRST)
    lab.pause(3)
    answer = lab.admin(milliseconds=4000).reassign(scene.topic, {0: [2, 3]})
    lab.note(f"{scene.topic}-0 is to have the replicas 2 and 3, of which 3 is paused: {answer}")
    if not wait_until(lambda: 2 in lab.states(scene.topic)[0]["isr"], UNTIL_TIMEOUT):
        raise KwalkError(f"Broker 2 does not copy {scene.topic}-0: {lab.states(scene.topic)}.")
    scene.crash(3)
    lab.brokers[3].paused = False
    scene.crash(1)
    scene.write(FIRST)
    scene.gone |= {1, 3}


def request_beside_a_silent_controller(scene: Scene, request: str) -> None:
    """Pause the controller, which leads nothing, and request an election or a deletion in ZooKeeper."""
    lab = scene.lab
    scene.create({0: [1, 2]})
    scene.write(FIRST)
    new_term(scene, 1)
    lab.move_controller(3)
    lab.pause(3)
    content = {"version": 1, "partitions": [{"topic": scene.topic, "partition": 0}]} if request == ELECTION else {}
    lab.zk.do(create(request, json.dumps(content).encode()))
    lab.note(f"broker 3, the controller, is paused, and {request} is created")


def failing_failover(scene: Scene) -> None:
    """Add a partition whose broker is down, request its election in ZooKeeper, and fail over."""
    lab = scene.lab
    _add_dead_partition(scene, dead=(3,), replicas=(3,))
    request = {"version": 1, "partitions": [{"topic": scene.topic, "partition": 1}]}
    lab.zk.do(delete("/controller"), create(ELECTION, json.dumps(request).encode()))  # which the next one finds
    lab.note(f"{scene.topic}-1 never had a leader, and its election is requested")
    rest(lab)


def failing_failover_of_a_move(scene: Scene) -> None:
    """Add a partition whose broker is down, move it to another one that is down, and fail over."""
    lab = scene.lab
    _add_dead_partition(scene, dead=(3, 4), replicas=(4, 3), adding_replicas={"1": [4]}, removing_replicas={"1": [3]})
    lab.delete_controller()
    lab.note(f"{scene.topic}-1 never had a leader, and moves from broker 3 to 4, which do not run")
    rest(lab)


def _add_dead_partition(scene: Scene, *, dead: Sequence[int], replicas: Sequence[int], **moving: object) -> None:
    """Stop brokers, and write a second partition into the topic's znode that has replicas on them."""
    lab, path = scene.lab, f"/brokers/topics/{scene.topic}"
    scene.create({0: [1, 2]})
    scene.write(FIRST)
    lab.move_controller(1)
    scene.stop(*dead)
    content = lab.topic(scene.topic) or {}
    content["partitions"]["1"] = list(replicas)
    lab.zk.do(set_data(path, json.dumps(content | moving).encode()))
    rest(lab)


def half_deleted(scene: Scene) -> None:
    """Mark a topic for deletion that is moved and has lost its state, beside one that is served, and fail over."""
    lab, path = scene.lab, f"/brokers/topics/{HALF}"
    scene.create(THREE)
    scene.write(FIRST)
    lab.admin(milliseconds=8000).create_topic(HALF, THREE)
    lab.wait_for_leaders(HALF)
    rest(lab)
    moving = {"adding_replicas": {"0": [3]}, "removing_replicas": {"0": [1]}}
    lab.zk.do(
        delete("/controller"),
        delete(f"{path}/partitions/0/state"),
        set_data(path, json.dumps({**(lab.topic(HALF) or {}), **moving}).encode()),
        create(f"/admin/delete_topics/{HALF}"),
    )
    lab.note(f"{HALF} is marked for deletion, is moved, and has no state")
    rest(lab)


def lost_state(scene: Scene) -> None:
    """Delete the state znode of a partition that has seen elections, while brokers serve it."""
    lab = scene.lab
    scene.create(THREE)
    scene.write(FIRST)
    for number in (2, 3, 1):
        new_term(scene, number)
    lab.move_controller(2)
    lab.zk.do(delete(f"/brokers/topics/{scene.topic}/partitions/0/state"))
    lab.note(f"the state of {scene.topic}-0 is deleted")


def state_begun_anew(scene: Scene) -> None:
    """Delete a state znode, crash the leader, and let the next controller write a state for those that have run."""
    lab = scene.lab
    scene.create(THREE)
    scene.write(FIRST)
    lab.move_controller(2)
    lab.zk.do(delete(f"/brokers/topics/{scene.topic}/partitions/0/state"))
    lab.note(f"the state of {scene.topic}-0 is deleted")
    lab.kill(1)
    wait_until(lambda: "1" not in lab.zk.children("/brokers/ids"), 60)
    lab.move_controller(3)
    wait_until(lambda: 0 in lab.states(scene.topic), 60)
    scene.start(1)
    rest(lab)


def added_beside_a_silent_controller(scene: Scene) -> None:
    """Pause the controller, which leads nothing, and add a partition to the topic's znode."""
    scene.create({0: [1, 2]})
    scene.write(FIRST)
    scene.lab.move_controller(3)
    scene.lab.pause(3)
    write_replicas(scene, {1: [2, 1]})


def refusing_member(scene: Scene) -> None:
    """Delete a topic while broker 3 is down, and create one of its name when it is back with its logs."""
    scene.create(THREE)
    scene.write("earlier")
    scene.lab.move_controller(1)
    scene.crash(3)
    scene.remove_topic()
    scene.start(3)
    scene.create(THREE, aged=False)


def ids_in_memory(scene: Scene, *, edits: bool = False) -> None:
    """Let a controller mint another topic id, and remove partition.metadata on all brokers, which run, or edit it."""
    lab = scene.lab
    scene.create(THREE)
    scene.write(FIRST)
    scene.erase_id()
    for _ in range(2):
        lab.delete_controller()
        rest(lab)
    for broker in lab.brokers:
        if edits:
            assert lab.edit_metadata_files(broker, scene.topic) == 1
        else:
            for file in lab.metadata_files(broker, scene.topic):
                file.unlink()
    lab.note(f"partition.metadata is {'edited' if edits else 'removed'} on all brokers")
    lab.delete_controller()
    rest(lab)


def erased_while_down(scene: Scene) -> None:
    """Erase the topic's id, as an old client does, when all brokers have stopped."""
    scene.create(THREE)
    scene.write(FIRST)
    scene.stop(1, 2, 3)
    scene.erase_id()


# What is done.


def fail_over(scene: Scene, way_out: str) -> None:
    """Delete /controller, as the sentence says, and wake the broker that was silent."""
    read(re.compile("delete /controller"), way_out)
    scene.lab.delete_controller()
    rest(scene.lab)
    for number, broker in scene.lab.brokers.items():
        if broker.paused:
            scene.lab.resume(number)
    rest(scene.lab)


def without_the_request(scene: Scene, way_out: str) -> None:
    """Do what the sentence says first: delete the request, end the reassignment, or start the brokers."""
    lab, path = scene.lab, f"/brokers/topics/{HALF}"
    if ELECTION in way_out:
        lab.zk.do(delete(ELECTION))
    elif HALF in way_out:
        read(re.compile(f"write the znode of {HALF} with empty adding_replicas and removing_replicas"), way_out)
        empty = {**(lab.topic(HALF) or {}), "adding_replicas": {}, "removing_replicas": {}}
        lab.zk.do(set_data(path, json.dumps(empty).encode()))
    else:
        read(re.compile("^start broker"), way_out)
        start_all(scene)
    if not wait_until(lambda: lab.controller() is not None and not without_controller(scene), 60):
        raise KwalkError("No broker stays the controller.")
    rest(lab)
    start_all(scene)


def reassign_to_live_brokers(scene: Scene, way_out: str) -> None:
    """Reassign the partition to the live ISR member and another broker that runs."""
    read(re.compile("if it is gone for good, reassign the partition to live ISR members and other brokers"), way_out)
    reassign(scene, 0, [2, 4])


def create_the_state(scene: Scene, way_out: str) -> None:
    """Create the state that the sentence has, fail the controller over, and restart the brokers where it says so."""
    put_states(scene, way_out)
    scene.lab.delete_controller()
    rest(scene.lab)
    leader = scene.lab.states(scene.topic)[0]["leader"]
    if "restart it, and then its followers" in way_out:
        for number in (leader, *(one for one in scene.lab.brokers if one != leader)):
            scene.lab.stop(number)
            scene.start(number)


def begin_with_empty_logs(scene: Scene, way_out: str) -> None:
    """Move the directories of the topic away while their brokers are stopped, as is said of records not wanted."""
    read(
        re.compile("to begin with empty logs, move the directories of .* away while their brokers are stopped"), way_out
    )
    for number, broker in scene.lab.brokers.items():
        scene.lab.stop(number)
        move_away(broker, broker.data / f"{scene.topic}-0")
        scene.start(number)


def restart_each(scene: Scene, way_out: str) -> None:
    """Restart every broker, one at a time."""
    read(
        re.compile("^restart every broker that has run since the files were removed or edited, one at a time"), way_out
    )
    roll_brokers(scene)


def restart_the_leader(scene: Scene, way_out: str) -> None:
    """Restart the leader that the state names."""
    read(re.compile("^restart the leader"), way_out)
    leader = scene.lab.states(scene.topic)[0]["leader"]
    scene.lab.stop(leader)
    scene.start(leader)


def write_the_id(scene: Scene, way_out: str) -> None:
    """Write the id that the logs have into the topic's znode, and start the brokers, the last leader first."""
    read(re.compile("write the topic_id that the replicas have back before the next failover"), way_out)
    scene.lab.zk.do(scene.lab.topic_id_write(scene.topic, id_of_logs(scene.lab, scene.topic)))
    scene.start(*scene.lab.states(scene.topic)[0]["isr"])
    start_all(scene)


# What else is wrong.


def moving(scene: Scene) -> list[str]:
    """Return that the topic's znode has a reassignment."""
    znode = scene.lab.topic(scene.topic) or {}
    return [f"{name}: {znode[name]}" for name in ("adding_replicas", "removing_replicas") if znode.get(name)]


def requested(scene: Scene) -> list[str]:
    """Return that the election is requested, or has not been held."""
    leader = scene.lab.states(scene.topic)[0]["leader"]
    return [*([ELECTION] if scene.lab.zk.exists(ELECTION) else []), *([f"{leader} leads"] if leader != 1 else [])]


def marked(scene: Scene) -> list[str]:
    """Return that the mark is there; if it is not, create the topic, and return what is refused."""
    if scene.lab.zk.exists(MARK):
        return [f"{MARK} is there"]
    if scene.lab.topic(GONE) is None:
        scene.lab.admin(milliseconds=8000).create_topic(GONE, {0: [1, 2]})
        scene.lab.wait_for_leaders(GONE)
        rest(scene.lab)
    return Ledger(GONE).write(scene.lab, AFTER)


def without_controller(scene: Scene) -> list[str]:
    """Return that no controller stays in office for five seconds, and what is left of the topic that was marked."""
    stays = not wait_until(lambda: scene.lab.controller() is None, 5)
    left = [f"{HALF} is there"] if scene.lab.topic(HALF) is not None else []
    return [*([] if stays else ["no controller stays in office"]), *left]


# Experiments.

EXPERIMENTS = (
    *(
        advised(
            f"reassignment-does-not-end{name}",
            f"A reassignment is written into a topic's znode by hand{what}, and all replicas are in the ISR",
            Advised(
                partial(reassignment_by_hand, adding=adding, removing=removing),
                "reassignment-does-not-end",
                fail_over,
                moving,
                repaired=RELEASES,
            ),
            "reassignment.md",
        )
        for name, what, adding, removing in (
            ("", "", [3], []),
            ("-and-removes", ", which removes the leader", [3], [1]),
        )
    ),
    advised(
        "reassignment-whose-replicas-are-dead",
        "Of the brokers that are to have a partition one is lost, and then the one that had it",
        Advised(replicas_are_dead, "reassignment-waits", reassign_to_live_brokers, moving, repaired=RELEASES),
        "reassignment.md",
        options=LabOptions(brokers=4),
    ),
    advised(
        "request-waits",
        "A preferred election is requested in ZooKeeper while the controller is silent",
        Advised(
            partial(request_beside_a_silent_controller, request=ELECTION),
            "request-waits",
            fail_over,
            requested,
            repaired=RELEASES,
        ),
    ),
    advised(
        "deletion-mark-without-topic",
        "A topic that does not exist is marked for deletion while the controller is silent",
        Advised(
            partial(request_beside_a_silent_controller, request=MARK),
            "deletion-mark-without-topic",
            fail_over,
            marked,
            repaired=RELEASES,
        ),
        "topic-deletion.md",
    ),
    *(
        advised(
            f"failover-fails{name}",
            f"{what}, and the controller fails over",
            Advised(damage, "failover-fails", without_the_request, without_controller, repaired=RELEASES),
            story,
            options=LabOptions(brokers=4),
        )
        for name, what, damage, story in (
            ("", "A partition is added whose broker is down, its election is requested", failing_failover, DOWN),
            (
                "-moving",
                "A partition is added whose broker is down, it is moved to another one that is down",
                failing_failover_of_a_move,
                DOWN,
            ),
            (
                "-half-deleted",
                "A topic is marked for deletion that is moved and has lost its state",
                half_deleted,
                "topic-deletion.md",
            ),
        )
    ),
    advised(
        "partition-without-state",
        "A partition is added in ZooKeeper while the controller is silent",
        Advised(added_beside_a_silent_controller, "partition-without-state", fail_over, repaired=RELEASES),
    ),
    advised(
        "leader-not-elected",
        "A state without a leader is written by hand while the ISR runs",
        Advised(
            partial(state_by_hand, assignment=THREE, leader=-1), "leader-not-elected", fail_over, repaired=RELEASES
        ),
    ),
    advised(
        "isr-member-refuses",
        "A topic is created while a broker has the log of an earlier one of its name",
        Advised(refusing_member, "isr-member-refuses", begin_with_empty_logs, repaired=SINCE_3),
        DELETED,
    ),
    *(
        advised(
            f"{kind}{'-edited' * edits}",
            f"The next controllers mint another topic id, and partition.metadata is {'edited' if edits else 'removed'} "
            "while brokers run",
            Advised(partial(ids_in_memory, edits=edits), kind, restart_each, repaired=releases),
            REPAIR,
        )
        for kind, edits, releases in (
            ("fetch-by-id-refused-in-memory", False, SINCE_3),
            ("fetch-by-id-refused-in-memory", True, SINCE_3),
            ("topic-id-differs-in-memory", False, ("2.8.2",)),
        )
    ),
    advised(
        "erased-id-while-all-are-down",
        "The topic's id is erased when all brokers have stopped",
        Advised(erased_while_down, "topic-id-missing", write_the_id, repaired=RELEASES),
        REPAIR,
    ),
    advised(
        "partition-state-is-lost",
        "The state of a partition that has seen elections is deleted",
        Advised(lost_state, "partition-state-is-lost", create_the_state, repaired=RELEASES),
    ),
    advised(
        "leader-ignores-its-state",
        "The state of a partition is deleted, its leader crashes, and the next controller writes another one",
        Advised(state_begun_anew, "leader-ignores-its-state", restart_the_leader, repaired=RELEASES),
    ),
)
