"""Reassignments that are cancelled, added to a list, or whose StopReplica is not answered when the controller moves."""

from __future__ import annotations

import json
import shutil
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from kwalk.clusters.lab.brokers import AdminAnswer, consume, produce
from kwalk.clusters.lab.cluster import Lab, LabOptions
from kwalk.clusters.lab.experiments.experiment import Experiment, ExperimentRound, RoundOutcome
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.proxy import Hold, matching
from kwalk.clusters.lab.zookeeper import Op, ZooKeeperError, create, delete, set_data
from kwalk.clusters.metadata import Api

DELAYS = (0.0, 0.003, 0.006, 0.012, 0.025)
"""Seconds between the cancellation and the deletion of /controller."""


def _cancel_and_elect(lab: Lab, this: ExperimentRound) -> dict[str, Any]:
    """Reassign, cancel, delete /controller soon after; return what is there when all has settled."""
    topic, admin = this.topic, lab.admin(milliseconds=8000)
    admin.create_topic(topic, {0: [1, 2]})
    lab.wait_for_leaders(topic)
    time.sleep(0.3)
    admin.reassign(topic, {0: [2, 3]})
    answers: list[AdminAnswer] = []
    cancelling = threading.Thread(target=lambda: answers.append(admin.cancel(topic, 0)), daemon=True)
    cancelling.start()
    time.sleep(DELAYS[this.number % len(DELAYS)])
    with suppress(ZooKeeperError):
        lab.zk.do(delete("/controller"))
    wait_until(lambda: lab.controller() is not None, 20, every=0.01)
    time.sleep(4)  # a controller that has moved may never answer the cancellation
    delay = {"delay_ms": 1000 * DELAYS[this.number % len(DELAYS)]}
    return delay | {"cancellation": str(answers[0]) if answers else "no answer"} | _what_remains(lab, topic)


def _what_remains(lab: Lab, topic: str) -> dict[str, Any]:
    replicas = (lab.topic(topic) or {})["partitions"]["0"]
    isr = lab.states(topic)[0]["isr"]
    logs = [number for number, names in lab.directories(topic).items() if names]
    return {
        "replicas": replicas,
        "isr": isr,
        "logs": logs,
        "in the ISR, not a replica": sorted(set(isr) - set(replicas)),
        "log, not a replica": sorted(set(logs) - set(replicas)),
    }


def hold_a_reassignment(lab: Lab, topic: str, target: list[int]) -> tuple[Hold, AdminAnswer, bool]:
    """Create a topic on brokers 1 and 2, and reassign it; hold the leader's request to add a replica to the ISR.

    The controller is on broker 1. The lab must have proxies.

    Returns:
        The rule that holds the request, the answer to the reassignment, and whether the leader has sent the request.
    """
    admin = lab.admin()
    lab.move_controller(1)
    admin.create_topic(topic, {0: [1, 2]})
    lab.wait_for_leaders(topic)
    time.sleep(1)
    joining = lab.rules.hold(matching(Api.ALTER_PARTITION))
    reassigned = admin.reassign(topic, {0: target})
    return joining, reassigned, lab.rules.wait_for(joining)


def cancel_and_elect_in_between(lab: Lab, this: ExperimentRound) -> dict[str, Any]:
    """Let the controller move between the writes of a cancellation: the assignment, and the leader epoch.

    The next controller receives the leader's request to add the replica to the ISR. The lab must have proxies.
    """
    topic, admin = this.topic, lab.admin()
    joining, _, asked = hold_a_reassignment(lab, topic, [2, 3])
    epoch = lab.rules.hold(matching(Op.MULTI, broker=1, path=f"/brokers/topics/{topic}/partitions"))
    threading.Thread(target=lambda: admin.cancel(topic, 0), daemon=True).start()
    between = lab.rules.wait_for(epoch)
    lab.zk.do(delete("/controller"))
    wait_until(lambda: lab.controller() not in (None, 1), 20)
    time.sleep(2)
    lab.rules.drop(joining)
    time.sleep(2)
    lab.rules.drop(epoch)
    time.sleep(12)  # the ISR shrinks after 8 to 12 s without a fetch
    what = {"leader asked to expand the ISR": asked, "controller moved between the writes": between}
    return what | _what_remains(lab, topic)


def _election_within_a_cancellation(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    details = cancel_and_elect_in_between(lab, this)
    this.capture("settled")
    this.keep_lines(rf"\b{this.topic}-0\b")
    seen = bool(details["in the ISR, not a replica"])
    return RoundOutcome(OUTSIDE if seen else AMONG, seen, details)


OUTSIDE, AMONG = "ISR with a broker that is no replica", "ISR among the replicas"


def _leader_outside(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    details = _cancel_and_elect(lab, this)
    seen = bool(details["in the ISR, not a replica"])
    _keep(this, seen=seen)
    return RoundOutcome(OUTSIDE if seen else AMONG, seen, details)


def _stray_after_cancel(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    details = _cancel_and_elect(lab, this)
    seen = bool(details["log, not a replica"])
    _keep(this, seen=seen)
    return RoundOutcome("stray log" if seen else "no stray log", seen, details)


def _keep(this: ExperimentRound, *, seen: bool) -> None:
    if seen:
        this.capture("settled")
        this.keep_lines(rf"\b{this.topic}-0\b")


def leave_a_log(lab: Lab, this: ExperimentRound) -> dict[str, Any]:
    """Pause the replica that moves away, stop the controller when the reassignment is complete, let both come back."""
    topic, admin = this.topic, lab.admin(milliseconds=8000)
    controller = lab.controller() or 1
    leader, leaving = (number for number in lab.brokers if number != controller)
    admin.create_topic(topic, {0: [leader, leaving]})
    lab.wait_for_leaders(topic)
    time.sleep(1)
    reassigning = threading.Thread(target=lambda: admin.reassign(topic, {0: [leader, controller]}))
    marks = lab.marks()
    reassigning.start()
    wait_until(lambda: lab.lines("state-change", "Finished LeaderAndIsr", broker=leaving, since=marks), 10, every=0.01)
    lab.pause(leaving)
    reassigning.join()
    complete = wait_until(lambda: _has_moved(lab, topic, [leader, controller]), 14)
    time.sleep(0.5)
    this.capture("reassignment complete, StopReplica unanswered")
    lab.stop(controller)
    wait_until(lambda: lab.controller() not in (None, controller), 20)
    lab.resume(leaving)
    time.sleep(5)
    lab.start(controller)
    time.sleep(5)
    return {
        "controller": controller,
        "leader": leader,
        "leaving": leaving,
        "reassignment complete": complete,
        "stray": f"{topic}-0" in lab.directories(topic)[leaving],
    }


def _controller_stops_before_stop_replica(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    details = leave_a_log(lab, this)
    this.capture("all brokers back")
    stray = details["stray"]
    harm = _use_the_name_again(lab, this, (details["leader"], details["leaving"])) if stray else {}
    this.keep_lines(rf"\b{this.topic}-0\b", ["controller", "state-change"])
    complete = details["reassignment complete"]
    outcome = "stray log" if stray else "no stray log" if complete else "the reassignment did not complete"
    return RoundOutcome(outcome, stray, details | harm)


def _has_moved(lab: Lab, topic: str, replicas: list[int]) -> bool:
    znode = lab.topic(topic) or {}
    return znode["partitions"]["0"] == replicas and not znode.get("removing_replicas")


def _use_the_name_again(lab: Lab, this: ExperimentRound, replicas: tuple[int, int]) -> dict[str, Any]:
    """Delete the topic, create it again where the stray log is, and produce."""
    topic, admin = this.topic, lab.admin(milliseconds=8000)
    deleted = admin.delete_topic(topic)
    wait_until(lambda: not lab.zk.exists(f"/brokers/topics/{topic}"), 10)
    time.sleep(1)
    remains = {number: names for number, names in lab.directories(topic).items() if names}
    created = admin.create_topic(topic, {0: list(replicas)})
    time.sleep(4)
    probe = lab.probe(topic)
    this.capture("name used again", {"rw": probe})
    return {
        "deletion": str(deleted),
        "logs after the deletion": remains,
        "creation": str(created),
        "acks=all to the new topic": probe.get("0", {}).get("produce", {}).get("error"),
    }


FAILOVERS_TAKE = 10
"""Seconds in which elections are counted."""


def _no_controller_stays(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Reassign a partition that never had a leader, stop the added replica too, and let the controller move.

    Then start a replica again.
    """
    topic, admin = this.topic, lab.admin(milliseconds=8000)
    lab.move_controller(1)
    lab.stop(2)
    created = lab.admin(milliseconds=2000).create_topic(topic, {0: [2]})
    wait_until(lambda: lab.topic(topic) is not None, 10)
    time.sleep(1)
    reassigned = admin.reassign(topic, {0: [3]})
    assignment, states = lab.topic(topic), lab.states(topic)
    lab.stop(3)
    lab.delete_controller()
    before = lab.controller_epoch()
    time.sleep(FAILOVERS_TAKE)
    after = lab.controller_epoch()
    other = admin.create_topic(f"{topic}-other", {0: [1, 4]})
    this.keep_lines("Error while electing|leaderAndIsr path is empty")
    failures = len(this.lines("controller", "Error while electing"))
    lab.start(2)
    wait_until(lambda: bool(lab.states(topic)), 20)
    healed = lab.controller_epoch()
    time.sleep(FAILOVERS_TAKE)
    is_healed = lab.controller_epoch() == healed
    seen = after - before >= 10 and failures >= 10
    return RoundOutcome(
        "every failover fails" if seen else "a controller stays",
        seen,
        {
            "creation": str(created),
            "reassignment": str(reassigned),
            "znode": assignment,
            "states": states,
            "elections": after - before,
            "seconds": FAILOVERS_TAKE,
            "another topic": str(other),
            "with a replica up again": "a controller stays" if is_healed else "every failover fails",
        },
    )


def _deleted_twice(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Delete /controller, and once more as soon as it is there again; then wait."""
    if lab.controller() is None:
        lab.restart(1)
        wait_until(lambda: lab.controller() is not None, 20)
        time.sleep(2)
    before = lab.controller_epoch()
    lab.delete_controller()
    with suppress(ZooKeeperError):
        lab.zk.do(delete("/controller"))
    time.sleep(FAILOVERS_TAKE)
    controller, elections = lab.controller(), lab.controller_epoch() - before
    created = lab.admin(milliseconds=2000).create_topic(this.topic, {0: [1]})
    this.keep_lines("Resigned|successfully elected", ["controller"])
    return RoundOutcome(
        "no controller" if controller is None else "a controller",
        controller is None,
        {"controller": controller, "elections": elections, "seconds": FAILOVERS_TAKE, "creation": str(created)},
    )


LIST = "/admin/reassign_partitions"


def _to_broker_2(topic: str, partitions: int) -> bytes:
    """Return what /admin/reassign_partitions has, as tools write it: the first partitions move to broker 2."""
    moved = [{"topic": topic, "partition": number, "replicas": [2]} for number in range(partitions)]
    return json.dumps({"version": 1, "partitions": moved}).encode()


def _added_to_a_list(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Have a partition reassigned through ZooKeeper to a broker that is paused; add another one; let the broker run.

    Then let the controller move.
    """
    topic = this.topic
    lab.move_controller(1)
    lab.admin().create_topic(topic, {0: [1], 1: [1]})
    lab.wait_for_leaders(topic, 2)
    lab.pause(2)
    lab.zk.do(create(LIST, _to_broker_2(topic, 1)))
    has_begun = wait_until(lambda: bool((lab.topic(topic) or {}).get("adding_replicas")), 3, every=0.01)
    lab.zk.do(set_data(LIST, _to_broker_2(topic, 2)))
    lab.resume(2)
    is_first_done = wait_until(lambda: (lab.topic(topic) or {})["partitions"]["0"] == [2], 20)
    time.sleep(10)
    left, replicas = lab.json(LIST), (lab.topic(topic) or {})["partitions"]["1"]
    lab.delete_controller()
    is_done_later = wait_until(lambda: (lab.topic(topic) or {})["partitions"]["1"] == [2], 20)
    seen = bool(is_first_done) and replicas == [1]
    this.keep_lines("reassign", ["controller"])
    return RoundOutcome(
        "the partition is not reassigned" if seen else "it is reassigned",
        seen,
        {
            "the first reassignment has begun": has_begun,
            "the first one is done": is_first_done,
            "the list 10 s later": left,
            "replicas of the other partition": replicas,
            "reassigned by the next controller": is_done_later,
        },
    )


def _leaders_stay_after_a_deletion(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Delete a topic while it is reassigned; restart the leader of another one; later, move the controller."""
    topic, other, admin = this.topic, f"{this.topic}-other", lab.admin(milliseconds=10_000)
    lab.move_controller(1)
    for name in (topic, other):
        admin.create_topic(name, {0: [2, 1]})
        lab.wait_for_leaders(name)
    hold = lab.rules.hold(matching(Api.FETCH, broker=2, client="broker-3-fetcher-0"))
    try:
        details = {"reassignment": str(admin.reassign(topic, {0: [2, 3]})), "deletion": str(admin.delete_topic(topic))}
        gone = wait_until(lambda: lab.topic(topic) is None, 20)
    finally:
        lab.rules.drop(hold)
    lab.restart(2)
    wait_until(lambda: lab.is_in_every_isr(2, other), 30)

    def leads_again() -> bool:
        return bool(lab.states(other)[0]["leader"] == 2)

    is_back = wait_until(leads_again, CHECKED)
    lab.move_controller(3)
    details |= {"deleted": str(gone), "leads again": str(is_back), "later": str(wait_until(leads_again, CHECKED))}
    outcome = "the leader moves back" if is_back else "the leader moves back with another controller only"
    return RoundOutcome(outcome, gone and not is_back and details["later"] == "True", details)


def _cancel_without_replicas(lab: Lab, topic: str) -> dict[str, Any]:
    """Reassign a topic, crash its only replica when one of two new ones is in sync, write, and cancel."""
    admin = lab.admin(milliseconds=10_000)
    lab.move_controller(3)
    admin.create_topic(topic, {0: [1]})
    lab.wait_for_leaders(topic)
    hold = lab.rules.hold(matching(Api.FETCH, client="broker-3-fetcher-0"))
    try:
        details: dict[str, Any] = {"reassignment": str(admin.reassign(topic, {0: [2, 3]}))}
        wait_until(lambda: lab.is_in_every_isr(2, topic), 20)
        lab.kill(1)
        lab.expire_session(1)
        wait_until(lambda: lab.states(topic)[0]["leader"] == 2, 30)
        details["acks=all"] = produce(lab.brokers[2].port, topic, 0, "acknowledged")
        details["cancellation"] = str(admin.cancel(topic, 0))
    finally:
        lab.rules.drop(hold)
    return details


def _cancelled_without_its_replicas(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Cancel a reassignment without its replicas, start the broker that had the replica, and ask for elections."""
    topic, admin = this.topic, lab.admin(milliseconds=10_000)
    details = _cancel_without_replicas(lab, topic)
    lab.start(1)
    is_led = wait_until(lambda: lab.states(topic)[0]["leader"] != -1, CHECKED)
    this.capture("the broker is back")
    details |= {"state": lab.states(topic)[0], "logs": lab.directories(topic)}
    details["unclean election"] = str(admin.elect_unclean(topic, 0))
    lab.kill(2)
    lab.expire_session(2)
    wait_until(lambda: "2" not in lab.zk.children("/brokers/ids"), 10)
    details["the same without broker 2"] = str(admin.elect_unclean(topic, 0))
    wait_until(lambda: lab.states(topic)[0]["leader"] == 1, 20)
    details["read"] = consume(lab.brokers[1].port, topic, 0, topic_id=lab.id_to_fetch(topic), seconds=1)
    is_lost = details["acks=all"]["ok"] and not is_led and details["read"].get("n") == 0
    return RoundOutcome("the partition has no leader" if not is_led else "the partition is led", is_lost, details)


def _deleted_log_is_restored(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Cancel likewise; stop the broker that the ISR names, and give what it was to delete to the replica of before."""
    topic = this.topic
    details = _cancel_without_replicas(lab, topic)
    wait_until(lambda: _deleted(lab, 2, topic) is not None, 20)
    lab.kill(2)
    kept = _deleted(lab, 2, topic)
    if kept is None:
        return RoundOutcome("no directory is left", seen=False, details=details)
    here = lab.brokers[1].directory(f"{topic}-0")
    assert here is not None
    shutil.move(here, lab.folder / "aside")
    shutil.copytree(kept, here)
    state = lab.states(topic)[0]
    details["state"] = dict(state)
    lab.zk.do(set_data(f"/brokers/topics/{topic}/partitions/0/state", json.dumps({**state, "isr": [1]}).encode()))
    lab.start(1)
    lab.delete_controller()
    is_led = wait_until(lambda: lab.states(topic)[0]["leader"] == 1, CHECKED)
    time.sleep(2)
    details["read"] = consume(lab.brokers[1].port, topic, 0, topic_id=lab.id_to_fetch(topic), seconds=1)
    lab.start(2)
    details["acks=all, then"] = lab.probe(topic)
    is_back = is_led and details["acks=all"]["ok"] and details["read"].get("last") == "acknowledged"
    return RoundOutcome("the record is back" if is_back else "the record is lost", is_back, details)


def _deleted(lab: Lab, broker: int, topic: str) -> Path | None:
    """Return the directory of a log that a broker is about to delete."""
    return next((path for root in lab.brokers[broker].roots for path in root.glob(f"{topic}-0.*-delete")), None)


CHECKED = 20.0
"""Seconds in which the controller has looked for leaders that are not the preferred replicas."""
EXPERIMENTS = (
    Experiment(
        name="reassignment-added-to-a-list",
        about="A partition is added to /admin/reassign_partitions while another one is reassigned.",
        expected="It is not reassigned, and the list stays, until the controller moves (KAFKA-9478).",
        story="answers.md",
        run=_added_to_a_list,
        releases=("2.5.0", "2.8.2", "3.9.0"),
    ),
    Experiment(
        name="cancelled-reassignment",
        about="A reassignment is cancelled, and /controller deleted 0 to 25 ms later.",
        expected="In some rounds the ISR keeps a broker that is no replica (the property leader_in_assignment).",
        story="reassignment.md",
        run=_leader_outside,
        fresh=False,
        rounds=30,
    ),
    Experiment(
        name="cancelled-reassignment-ordered",
        about="A reassignment is cancelled, and the controller moves between two writes of the cancellation.",
        expected="The ISR keeps a broker that is no replica (the property leader_in_assignment).",
        story="reassignment.md",
        run=_election_within_a_cancellation,
        options=LabOptions(proxied=True),
        is_ordered=True,
    ),
    Experiment(
        name="cancelled-reassignment-stray",
        about="A reassignment is cancelled, and /controller deleted 0 to 25 ms later.",
        expected="In some rounds the log of the adding replica stays on a broker that is no replica.",
        story="reassignment.md",
        run=_stray_after_cancel,
        fresh=False,
        rounds=30,
    ),
    Experiment(
        name="controller-deleted-twice",
        about="/controller of a single broker is deleted, and again as soon as the broker has created it.",
        expected="No broker is elected any more, until one starts: the cluster has no controller.",
        story="controller-comes-back.md",
        run=_deleted_twice,
        fresh=False,
        rounds=3,
        options=LabOptions(brokers=1),
    ),
    Experiment(
        name="no-controller-stays",
        about="A partition that never had a leader is reassigned, all its replicas are down, and the controller moves.",
        expected="Every failover fails, on every broker, until a replica starts: the cluster has no controller.",
        story="not-reported.md",
        run=_no_controller_stays,
        options=LabOptions(brokers=4),
        is_ordered=True,
    ),
    Experiment(
        name="stray-log-of-reassignment",
        about="The replica that moves away is paused (SIGSTOP), and the controller restarted before it answers.",
        expected="The log stays: no controller sends StopReplica again. A new topic of that name has no replica there.",
        story="stray-logs.md",
        run=_controller_stops_before_stop_replica,
        is_ordered=True,
    ),
    Experiment(
        name="deleted-amid-a-reassignment",
        about="A topic is deleted while it is reassigned; the leader of another topic starts again.",
        expected="Up to 3.3 that does not lead again before the controller moves; later it does.",
        story="reassignment.md",
        run=_leaders_stay_after_a_deletion,
        options=LabOptions(
            proxied=True,
            settings={"auto.leader.rebalance.enable": "true", "leader.imbalance.check.interval.seconds": 2},
        ),
        is_ordered=True,
        releases=("2.8.2", "3.3.2", "3.4.1", "3.9.0"),
        predicted=lambda release: release in ("2.8.2", "3.3.2"),
    ),
    Experiment(
        name="cancelled-without-its-replicas",
        about="The only replica of a topic that is reassigned crashes; then the reassignment is cancelled.",
        expected="The topic has no leader, also when the broker is back; what was acknowledged meanwhile is lost.",
        story="reassignment.md",
        run=_cancelled_without_its_replicas,
        options=LabOptions(proxied=True),
        is_ordered=True,
        releases=("2.8.2", "3.4.1", "3.9.0"),
        predicted=lambda release: True,
    ),
    Experiment(
        name="deleted-log-is-restored",
        about="The same; within the minute the log that is to be deleted is copied to the broker of the replica.",
        expected="With that broker as the ISR in the state, it leads, and what was acknowledged can be read.",
        story="reassignment.md",
        run=_deleted_log_is_restored,
        options=LabOptions(proxied=True),
        is_ordered=True,
    ),
)
