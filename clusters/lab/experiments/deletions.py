"""Deletions that are lost, that hang, that end too early, or that an operator completes by hand."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from kwalk.clusters.lab.brokers import AdminAnswer, consume, produce
from kwalk.clusters.lab.cluster import Lab, LabOptions
from kwalk.clusters.lab.experiments.experiment import Experiment, ExperimentRound, RoundOutcome
from kwalk.clusters.lab.experiments.reassignments import hold_a_reassignment
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.proxy import matching
from kwalk.clusters.lab.zookeeper import Op, ZooKeeperError, create, delete
from kwalk.clusters.metadata import Api, metadata
from kwalk.clusters.wire import new_topic_id

EARLIER = "of the earlier topic"
"""The value of a record that is written before a topic is removed."""
NO_CONFIGURATION = b'{"version":1,"config":{}}'
OF_ZOOKEEPER = (*Op, "CONNECT", "NOTIFICATION")


def writes_of_creation(topic: str, assignment: Mapping[int, list[int]]) -> list[Any]:
    """Return the writes of a client that creates a topic in ZooKeeper."""
    znode = {
        "version": 3,
        "partitions": {str(number): list(replicas) for number, replicas in assignment.items()},
        "topic_id": new_topic_id(),
        "adding_replicas": {},
        "removing_replicas": {},
    }
    return [
        create(f"/config/topics/{topic}", NO_CONFIGURATION),
        create(f"/brokers/topics/{topic}", json.dumps(znode).encode()),
    ]


def _is_gone(lab: Lab, topic: str) -> bool:
    return not lab.zk.exists(f"/brokers/topics/{topic}") and not lab.zk.exists(f"/admin/delete_topics/{topic}")


def _fate(lab: Lab, topic: str, seconds: float = 3.0) -> str:
    """Return what becomes of a deletion."""
    if wait_until(lambda: _is_gone(lab, topic), seconds, every=0.01):
        return "deleted"
    has_marker = lab.zk.exists(f"/admin/delete_topics/{topic}")
    return "the deletion is pending" if has_marker else "the deletion is lost: the topic stays"


def _delete_twice(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Delete, and when topic and marker are gone, write topic and marker again without waiting for answers."""
    topic, zk = this.topic, lab.zk
    for write in writes_of_creation(topic, {0: [1, 2]}):
        zk.do(write)
    lab.wait_for_leaders(topic)
    time.sleep(0.05)
    zk.do(create(f"/admin/delete_topics/{topic}"))
    end = time.monotonic() + 10
    while not _is_gone(lab, topic) and time.monotonic() < end:
        pass
    writes = [*writes_of_creation(topic, {0: [1, 2]}), create(f"/admin/delete_topics/{topic}")]
    for answer in [zk.send(write) for write in writes]:
        with suppress(ZooKeeperError):  # the configuration may still be there
            answer.result(10)
    fate = _fate(lab, topic)
    details: dict[str, Any] = {}
    if fate.startswith("the deletion is lost"):
        this.keep_lines(rf"\b{topic}\b", ["controller"])
        details["warnings"] = [str(line) for line in this.lines("controller", "Ignoring request to delete")][:2]
        zk.do(create(f"/admin/delete_topics/{topic}"))
        details["deleting again helps"] = _fate(lab, topic, 5) == "deleted"
    return RoundOutcome(fate, fate.startswith("the deletion is lost"), details)


def _delete_twice_by_brokers(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Delete; then one thread creates until it works, another deletes until it works."""
    topic, admin = this.topic, lab.admin()
    admin.create_topic(topic, {0: [1, 2]})
    lab.wait_for_leaders(topic)
    wait_until(lambda: admin.delete_topic(topic).ok, 10)
    answers: dict[str, list[AdminAnswer]] = {"create": [], "delete": []}

    def repeat(name: str, ask: Any) -> None:
        end = time.monotonic() + 5
        while time.monotonic() < end and not (answers[name] and answers[name][-1].ok):
            answers[name].append(ask())

    threads = [
        threading.Thread(target=repeat, args=("create", lambda: admin.create_topic(topic, {0: [1, 2]}))),
        threading.Thread(target=repeat, args=("delete", lambda: admin.delete_topic(topic))),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    both = all(each and each[-1].ok for each in answers.values())
    fate = _fate(lab, topic) if both else "not both were accepted"
    details = {name: sorted({str(answer) for answer in found}) for name, found in answers.items()}
    return RoundOutcome(fate, fate.startswith("the deletion is lost"), details)


def hang_a_deletion(lab: Lab, this: ExperimentRound) -> dict[str, Any]:
    """Pause a replica while its topic is deleted, restart the other replica meanwhile; then delete the name again."""
    topic, admin = this.topic, lab.admin(milliseconds=8000)
    lab.move_controller(1)
    admin.create_topic(topic, {0: [2, 3]})
    lab.wait_for_leaders(topic)
    time.sleep(1)
    lab.pause(2)
    time.sleep(0.3)
    deleting = threading.Thread(target=lambda: admin.delete_topic(topic))
    deleting.start()
    answered = wait_until(
        lambda: this.lines("controller", rf"StopReplica response received from broker 3.*{topic}-0 -> NONE", broker=1),
        12,
    )
    lab.stop(3)
    wait_until(lambda: "3" not in lab.zk.children("/brokers/ids"), 20)
    time.sleep(0.7)
    lab.resume(2)
    first = wait_until(lambda: _is_gone(lab, topic), 15)
    deleting.join()
    lab.start(3)
    time.sleep(3)
    created = admin.create_topic(topic, {0: [2, 3]})
    lab.wait_for_leaders(topic)
    time.sleep(1)
    again = admin.delete_topic(topic)
    hangs = not wait_until(lambda: _is_gone(lab, topic), 15)
    return {
        "broker 3 answered": answered,
        "first deletion complete": first,
        "creation": str(created),
        "second deletion": str(again),
        "hangs": hangs,
        "brokers": lab.zk.children("/brokers/ids"),
    }


def _hanging_deletion(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    details = hang_a_deletion(lab, this)
    topic, hangs = this.topic, details["hangs"]
    this.capture("deleted again")
    this.keep_lines(rf"\b{topic}\b|{topic}-0")
    invalid = this.lines("state-change", "ReplicaDeletionSuccessful to ReplicaDeletionIneligible failed")
    details["lines"] = [str(line) for line in invalid]
    if hangs:
        lab.restart(2)
        details["complete after a restart of broker 2"] = wait_until(lambda: _is_gone(lab, topic), 15)
    seen = hangs and details["first deletion complete"]
    return RoundOutcome("hangs with all brokers up" if hangs else "deleted", seen, details)


def _answer_of_an_earlier_term(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Let a controller be elected twice while a deletion runs, with slow ways to ZooKeeper; then stop it."""
    controller, other, topic, admin = 1, 2, this.topic, lab.admin()
    lab.move_controller(controller)
    admin.create_topic(topic, {0: [1, 2]})
    lab.wait_for_leaders(topic)
    time.sleep(2)
    slow = [
        lab.rules.delay(matching(*OF_ZOOKEEPER, broker=broker, direction=None), seconds)
        for broker, seconds in ((controller, 0.15), (other, 1.5))
    ]
    responses = lab.rules.watch(matching(Api.STOP_REPLICA, broker=other, direction=None, client=str(controller)))
    lab.zk.do(create(f"/admin/delete_topics/{topic}"), delete("/controller"))
    both = lab.rules.wait_for(responses, 4, 15, passed=True)  # two requests, and their answers
    held = lab.rules.hold(matching(Api.LEADER_AND_ISR, Api.STOP_REPLICA, broker=other))
    complete = wait_until(lambda: not lab.zk.exists(f"/admin/delete_topics/{topic}"), 30, every=0.01)
    this.capture("deletion complete")
    lab.stop(controller, seconds=25)
    lab.rules.drop(held)
    for rule in slow:
        lab.rules.drop(rule)
    time.sleep(3)
    lab.start(controller)
    time.sleep(5)
    this.capture("all brokers back")
    stray = bool(lab.directories(topic)[other]) and not lab.zk.exists(f"/brokers/topics/{topic}")
    details = {
        "both StopReplica answered": both,
        "deletion complete": complete,
        "logs": lab.directories(topic),
        "frames held": held.arrived,
    }
    this.keep_lines(rf"\b{topic}\b|{topic}-0|elected|epoch")
    return RoundOutcome("stray log" if stray else "no stray log", stray, details)


def _late_stop_replica(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Keep a controller's StopReplica on its way and depose it; use the name again, and let the request arrive."""
    controller, receiver, topic = 1, 2, this.topic
    lab.move_controller(controller)
    lab.admin().create_topic(topic, {0: [2, 3]})
    lab.wait_for_leaders(topic)
    time.sleep(1)
    held = lab.rules.hold(matching(Api.STOP_REPLICA, broker=receiver, client=str(controller)))
    lab.zk.do(create(f"/admin/delete_topics/{topic}"))
    first = lab.rules.wait_for(held)
    lab.rules.release(held, 1)  # the first one stops the replica, the second one removes its log
    second = lab.rules.wait_for(held, 2)
    lab.pause(controller)
    lab.expire_session(controller)
    deleted = wait_until(lambda: _is_gone(lab, topic), 60)
    created = lab.admin().create_topic(topic, {0: [2, 3]})
    lab.wait_for_leaders(topic)
    is_there = wait_until(lambda: bool(lab.directories(topic)[receiver]), 20)
    this.capture("created again")
    lab.rules.drop(held)
    ignored = rf"Ignoring StopReplica request from controller {controller} .* since its controller epoch \d+ is old"
    refused = wait_until(lambda: bool(this.lines("state-change", ignored, broker=receiver)), 20)
    time.sleep(1)
    is_lost = is_there and not lab.directories(topic)[receiver]
    this.capture("the late request has arrived")
    details = {
        "both StopReplica sent": first and second,
        "deleted by the next controller": deleted,
        "creation": str(created),
        "refused": [str(line) for line in this.lines("state-change", ignored, broker=receiver)],
        "logs": lab.directories(topic),
        "probe": lab.probe(topic),
    }
    this.keep_lines(rf"\b{topic}\b|{topic}-0|StopReplica request from|elected|epoch")
    outcome = "the log is removed" if is_lost else "refused, and the log stays" if refused else "it did not arrive"
    return RoundOutcome(outcome, is_lost, details)


def _delete_by_hand(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Delete the topic's znodes, as runbooks say; create the topic again; then let the controller move."""
    topic, admin = this.topic, lab.admin()
    admin.create_topic(topic, {0: [1, 2]})
    lab.wait_for_leaders(topic)
    time.sleep(0.5)
    written = produce(lab.brokers[1].port, topic, 0, EARLIER)
    lab.zk.delete_tree(f"/brokers/topics/{topic}")
    lab.note(f"deleteall /brokers/topics/{topic}")
    time.sleep(2)
    still = lab.probe(topic)
    this.capture("znodes deleted by hand", {"rw": still})
    by_broker = admin.create_topic(topic, {0: [1, 2]})
    if not by_broker.ok:
        for write in writes_of_creation(topic, {0: [1, 2]}):
            with suppress(ZooKeeperError):  # the configuration has stayed
                lab.zk.do(write)
    has_leader = lab.wait_for_leaders(topic, seconds=10)
    by_name = consume(lab.brokers[1].port, topic, 0, seconds=1)
    new_id = (lab.topic(topic) or {}).get("topic_id")
    by_id = {}
    if lab.brokers[1].fetches_by_id and new_id is not None:
        by_id = consume(lab.brokers[1].port, topic, 0, topic_id=new_id, seconds=1)
    this.capture("created again", {"by name": by_name, "by id": by_id})
    lab.delete_controller()
    later = lab.wait_for_leaders(topic, seconds=10)
    time.sleep(2)
    probe = lab.probe(topic)
    this.capture("controller deleted", {"rw": probe})
    this.keep_lines(rf"\b{topic}\b|{topic}-0")
    details = {
        "acks=all to the topic that is gone": still.get("0", {}).get("produce", {}).get("error"),
        "creation through a broker": str(by_broker),
        "leader after the creation": has_leader,
        "record of the earlier topic": written,
        "read by name from its leader, once created again": by_name,
        "read by the new id": by_id,
        "leader after a failover": later,
        "acks=all after it": probe.get("0", {}).get("produce", {}).get("error"),
    }
    return RoundOutcome("no leader" if not has_leader else "has a leader", not has_leader, details)


def _delete_during_a_reassignment(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Hold the leader's request for a larger ISR, so that a reassignment does not end; delete the topic meanwhile."""
    topic, admin = this.topic, lab.admin()
    joining, reassigned, asked = hold_a_reassignment(lab, topic, [1, 3])
    znode = lab.topic(topic) or {}
    this.capture("reassignment under way")
    deleted = admin.delete_topic(topic)
    fate = _fate(lab, topic, 15)
    this.capture("deletion requested")
    seen = fate == "deleted"
    details: dict[str, Any] = {
        "reassignment": str(reassigned),
        "leader asked to expand the ISR": asked,
        "adding": znode.get("adding_replicas"),
        "removing": znode.get("removing_replicas"),
        "deletion": str(deleted),
        "logs": lab.directories(topic),
        "lines": [str(line) for line in this.lines("controller", "topic reassignment in progress")][:3],
    }
    lab.rules.drop(joining)
    details["later"] = _fate(lab, topic, 15)
    time.sleep(3)
    details["logs later"] = lab.directories(topic)
    this.keep_lines(rf"\b{topic}\b|{topic}-0")
    return RoundOutcome("deleted during the reassignment" if seen else fate, seen, details)


def _deletion_resumed_with_a_reassignment(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Stop the replica that is being added, delete the topic, and start the broker when the others have deleted."""
    topic, admin = this.topic, lab.admin()
    joining, _, asked = hold_a_reassignment(lab, topic, [1, 3])
    lab.kill(3)
    wait_until(lambda: "3" not in lab.zk.children("/brokers/ids"), 30)
    time.sleep(2)
    admin.delete_topic(topic)
    halted = wait_until(lambda: not lab.directories(topic)[1] and not lab.directories(topic)[2], 15)
    this.capture("deletion halted")
    is_pending = lab.zk.exists(f"/admin/delete_topics/{topic}")
    lab.start(3)
    complete = wait_until(lambda: _is_gone(lab, topic), 20)
    time.sleep(4)
    lab.rules.drop(joining)
    this.capture("deletion complete")
    logs = lab.directories(topic)
    this.keep_lines(rf"\b{topic}\b|{topic}-0")
    stray = complete and any(logs.values())
    details = {
        "leader asked to expand the ISR": asked,
        "two replicas deleted, deletion pending": halted and is_pending,
        "deletion complete": complete,
        "logs": logs,
        "lines": [str(line) for line in this.lines("controller", "topic reassignment in progress")][:3],
    }
    outcome = "stray log" if stray else "no stray log" if complete else "the deletion hangs"
    return RoundOutcome(outcome, stray, details)


def _deletion_and_reassignment_wait(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Let the controller move when a deletion has taken the leader of a partition that is being reassigned."""
    topic, controller = this.topic, 1
    joining, _, asked = hold_a_reassignment(lab, topic, [1, 3])
    removing = lab.rules.hold(matching(Api.STOP_REPLICA, client=str(controller)))
    lab.zk.do(create(f"/admin/delete_topics/{topic}"))
    begun = lab.rules.wait_for(removing) and wait_until(lambda: lab.states(topic)[0]["leader"] == -1, 15)
    this.capture("deletion begun")
    lab.zk.do(delete("/controller"))
    if not wait_until(lambda: lab.controller() not in (None, controller), 5):
        lab.move_controller(2)
    lab.note(f"the controller is broker {lab.controller()}")
    lab.rules.drop(removing)
    lab.rules.drop(joining)
    hangs = not wait_until(lambda: _is_gone(lab, topic), HANGING)
    this.capture("the deletion waits")
    registered, logs = lab.zk.children("/brokers/ids"), lab.directories(topic)
    details: dict[str, Any] = {
        "leader asked to expand the ISR": asked,
        "deletion has taken the leader": begun,
        "brokers": registered,
        "controller": lab.controller(),
        "state": lab.states(topic),
        "logs": logs,
        "znode": lab.topic(topic),
        "cancellation": str(lab.admin().cancel(topic, 0)),
        "lines": [str(line) for line in this.lines("controller", "topic reassignment in progress")][:2],
    }
    if hangs:
        restarted = next(broker for broker in lab.brokers if broker != lab.controller() and logs[broker])
        lab.restart(restarted)
        details[f"complete after a restart of broker {restarted}"] = wait_until(lambda: _is_gone(lab, topic), 30)
        time.sleep(3)
        details["logs after it"] = lab.directories(topic)
    this.keep_lines(rf"\b{topic}\b|{topic}-0|elected")
    seen = hangs and begun and len(registered) == len(lab.brokers)
    return RoundOutcome("hangs with all brokers up" if seen else _fate(lab, topic), seen, details)


def _missed_deletion(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Pause a broker without a replica until its session has expired, and delete the topic meanwhile.

    When it runs on, ask it for the topic, let it be the controller, create the topic, and restart it.
    """
    topic, admin, missing = this.topic, lab.admin(), 3

    def is_registered() -> bool:
        return str(missing) in lab.zk.children("/brokers/ids")

    def who_knows_it() -> list[int]:
        return [b.id for b in lab.brokers.values() if topic in metadata(b.port, with_ids=b.knows_topic_ids).topics]

    lab.move_controller(1)
    for name in (f"{topic}-other", topic):
        admin.create_topic(name, {0: [1]})
    informed = wait_until(lambda: lab.are_informed(topic), 20)
    lab.pause(missing)
    expired = wait_until(lambda: not is_registered(), 60)
    time.sleep(1)
    deleted = admin.delete_topic(topic)
    complete = wait_until(lambda: _is_gone(lab, topic), 20)
    lab.resume(missing)
    is_back = wait_until(is_registered, 60)
    lab.note(f"broker {missing} is registered again: {is_back}")
    time.sleep(HANGING)
    known_by = who_knows_it()
    this.capture("the broker is registered again")
    lab.move_controller(missing)
    refused, is_there = admin.create_topic(topic, {0: [1]}), lab.topic(topic) is not None
    details = {
        "all brokers knew it": informed,
        "session expired": expired,
        "deletion": str(deleted),
        "deletion complete": complete,
        "registered again": is_back,
        f"known after {HANGING:.0f} s by": known_by,
        "known after the failover by": who_knows_it(),
        "creation": str(refused),
        "ZooKeeper has it": is_there,
        "deletion by that controller": str(admin.delete_topic(topic)),
    }
    this.capture("the creation is refused")
    lab.restart(missing)
    lab.move_controller(missing)
    details["known after its restart by"] = who_knows_it()
    details["creation after its restart"] = str(admin.create_topic(topic, {0: [1]}))
    this.keep_lines(rf"\b{topic}\b|{topic}-0|expired|metadata cache|elected as the controller")
    seen = complete and missing in known_by and refused.error == "TOPIC_ALREADY_EXISTS" and not is_there
    return RoundOutcome("the name cannot be used" if seen else "the name can be used", seen, details)


TWO = LabOptions(brokers=2)
HANGING = 60.0
"""Seconds after which a deletion counts as hanging: all else on the cluster takes a few."""
EXPERIMENTS = (
    Experiment(
        name="lost-deletion",
        about="A topic is deleted; when its znodes are gone, a writer of ZooKeeper creates and deletes it at once.",
        expected="In many rounds the second deletion is lost: its marker is removed, and the topic stays.",
        story="delete-and-recreate.md",
        run=_delete_twice,
        options=TWO,
        fresh=False,
        rounds=60,
    ),
    Experiment(
        name="lost-deletion-by-brokers",
        about="The same with CreateTopics and DeleteTopics.",
        expected="Never: brokers refuse to delete a topic that they do not know yet.",
        story="delete-and-recreate.md",
        run=_delete_twice_by_brokers,
        predicted=lambda release: False,
        options=TWO,
        fresh=False,
        rounds=40,
    ),
    Experiment(
        name="hanging-deletion",
        about="A replica is paused while its topic is deleted, another restarted; the name is used and deleted again.",
        expected="The second deletion hangs with all brokers up, until the broker that was paused restarts.",
        story="delete-and-recreate.md",
        run=_hanging_deletion,
        is_ordered=True,
    ),
    Experiment(
        name="deletion-answered-to-an-earlier-term",
        about="A controller is elected twice during a deletion (the ways to ZooKeeper are slow), and then stopped.",
        expected="An answer to its first term completes the deletion; a request of the second one leaves a stray log.",
        story="stray-logs.md",
        run=_answer_of_an_earlier_term,
        options=LabOptions(brokers=2, proxied=True),
        is_ordered=True,
    ),
    Experiment(
        name="late-stop-replica",
        about="A deposed controller's StopReplica for a deletion arrives when the name is in use again.",
        expected="Never: the broker refuses the older controller epoch, and the new topic's log stays.",
        story="zombie-controller.md",
        run=_late_stop_replica,
        predicted=lambda release: False,
        options=LabOptions(proxied=True),
        is_ordered=True,
    ),
    Experiment(
        name="delete-by-hand",
        about="The znodes of a topic are deleted by hand, and the topic is created again.",
        expected="No leader until the next failover; the earlier topic's leader answers who fetches by name.",
        story="delete-by-hand.md",
        run=_delete_by_hand,
        options=TWO,
    ),
    Experiment(
        name="deletion-during-reassignment",
        about="A reassignment cannot end, as the leader's AlterPartition is held; the topic is deleted meanwhile.",
        expected="The topic is deleted at once: no controller waits for the reassignment.",
        story="deletion-during-reassignment.md",
        run=_delete_during_a_reassignment,
        options=LabOptions(proxied=True),
        is_ordered=True,
    ),
    Experiment(
        name="stray-log-of-deleted-reassignment",
        about="The replica that a reassignment adds is down when the topic is deleted; then its broker starts.",
        expected="The deletion ends, and the other replicas' logs are created again: they stay.",
        story="deletion-during-reassignment.md",
        run=_deletion_resumed_with_a_reassignment,
        options=LabOptions(proxied=True),
        is_ordered=True,
    ),
    Experiment(
        name="hanging-deletion-of-reassignment",
        about="A topic is deleted while it is reassigned; the controller moves when the deletion has begun.",
        expected="The deletion hangs with all brokers up, until a broker with a replica restarts.",
        story="deletion-during-reassignment.md",
        run=_deletion_and_reassignment_wait,
        options=LabOptions(proxied=True),
        is_ordered=True,
    ),
    Experiment(
        name="deletion-missed",
        about="A broker without a replica is paused until its session ends, and the topic deleted; later it controls.",
        expected="Its metadata has the topic until it restarts, and as controller it refuses to create that name.",
        story="topic-deletion.md",
        run=_missed_deletion,
        is_ordered=True,
    ),
)
