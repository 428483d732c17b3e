"""Requests of two controllers at once, a request that ends each, and a broker that takes part while it stops."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from functools import partial

from kwalk.clusters.lab.cluster import Lab, LabOptions, text_from
from kwalk.clusters.lab.experiments.deletions import writes_of_creation
from kwalk.clusters.lab.experiments.experiment import Experiment, ExperimentRound, RoundOutcome
from kwalk.clusters.lab.experiments.reassignments import FAILOVERS_TAKE
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.proxy import Direction, ProxiedFrame, matching
from kwalk.clusters.lab.zookeeper import Op, delete, set_data
from kwalk.clusters.metadata import Api
from kwalk.model.kafka.snapshots.capture import UNCLEAN_ELECTIONS

REQUESTED = "/admin/preferred_replica_election"
OLD_CLIENT = "1.0.0"
"""The release whose tools write topics and their configurations into ZooKeeper, for brokers of any release."""
OLD_TOOL = "2.8.2"
"""The last release whose tool writes a requested election into ZooKeeper."""


def _stopping_broker_rejoins(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Hold the answer to a broker's ControlledShutdown, and look which ISRs it joins that it is not in."""
    controller, stopping, leader, topic = 1, 2, 3, this.topic
    lab.move_controller(controller)
    lab.admin().create_topic(topic, {0: [stopping, leader], 1: [leader, stopping]})
    lab.wait_for_leaders(topic, 2)
    time.sleep(1)
    fetches = lab.rules.hold(matching(Api.FETCH, broker=leader))
    lab.probe(topic, acks=1, seconds=2)  # what has nothing to fetch is not behind
    is_behind = wait_until(lambda: stopping not in lab.states(topic)[1]["isr"], 20)
    answer = lab.rules.hold(matching(Api.CONTROLLED_SHUTDOWN, broker=controller, direction=Direction.RESPONSE))
    end = threading.Thread(target=lab.stop, args=(stopping,))
    end.start()
    answered = lab.rules.wait_for(answer)
    lab.rules.drop(fetches)
    found = wait_until(lambda: stopping in lab.states(topic)[1]["isr"], 10, every=0.05)
    this.capture("the controlled shutdown is answered, and the answer held")
    states = lab.states(topic)
    lab.rules.drop(answer)
    end.join()
    left = wait_until(lambda: not any(stopping in state["isr"] for state in lab.states(topic).values()), 20)
    this.capture("the broker has stopped")
    refused = this.lines("controller", "ineligible replicas", broker=controller)
    skipped = this.lines("state-change", "Skipped the adding-fetcher step", broker=stopping)
    details = {
        "it was behind": is_behind,
        "answered": answered,
        "ISR of what it led": states[0]["isr"],
        "ISR of what it followed": states[1]["isr"],
        "in no ISR when it has stopped": left,
        "refused": [str(line) for line in refused][:1],
        "without fetcher": [str(line) for line in skipped][:1],
    }
    this.keep_lines(rf"\b{topic}\b|{topic}-[01]|hutting down|ineligible")
    outcome = "joins the ISR of what it followed" if found else "joins no ISR"
    if stopping in states[0]["isr"]:
        outcome = "joins the ISR of what it led"
    return RoundOutcome(outcome, found, details)


def _deposed_controller_first(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Keep a controller from its list of brokers until its successor has sent; let its request pass before."""
    deposed, receiver, topic = 1, 3, this.topic
    lab.move_controller(deposed)
    lab.admin().create_topic(topic, {0: [2, receiver]})
    lab.wait_for_leaders(topic)
    wait_until(lambda: lab.is_in_every_isr(receiver, topic), 20)
    lab.stop(receiver)
    wait_until(lambda: not lab.is_in_every_isr(receiver, topic), 20)
    time.sleep(1)
    listed = lab.rules.hold(
        matching(Op.GET_CHILDREN, Op.GET_CHILDREN2, broker=deposed, direction=Direction.RESPONSE, path="/brokers/ids")
    )
    requests = {Api.LEADER_AND_ISR.name, Api.STOP_REPLICA.name, Api.UPDATE_METADATA.name}

    def of_the_successor(frame: ProxiedFrame) -> bool:
        is_request = frame.direction is Direction.REQUEST and frame.kind in requests
        return is_request and frame.broker == receiver and frame.client != str(deposed)

    later = lab.rules.hold(of_the_successor)
    lab.launch(receiver)
    noticed = lab.rules.wait_for(listed, seconds=60)
    lab.zk.do(delete("/controller"))
    sent = lab.rules.wait_for(later, seconds=60)
    successor = lab.controller()
    lab.rules.drop(listed)
    handled = rf"from controller {deposed} .*epoch|from controller {deposed} for"
    arrived = wait_until(lambda: bool(this.lines("state-change", handled, broker=receiver)), 20)
    time.sleep(1)
    is_there = topic in "".join(lab.directories(topic)[receiver])
    this.capture("the deposed controller's request was handled")
    refused = this.lines("state-change", "since its controller epoch .* is old", broker=receiver)
    first = [str(line) for line in this.lines("state-change", handled, broker=receiver)][:3]
    lab.rules.drop(later)
    rejoined = wait_until(lambda: lab.is_in_every_isr(receiver, topic), 30)
    this.capture("the next controller's requests have arrived")
    details = {
        "the broker's start was noticed": noticed,
        "the successor": successor,
        "it has sent": sent,
        "log": is_there,
        "handled before": first,
        "refused": [str(line) for line in refused],
        "in the ISR at the end": rejoined,
    }
    this.keep_lines(rf"\b{topic}\b|{topic}-0|LeaderAndIsr request|elected|epoch")
    accepted = sent and arrived and not refused
    return RoundOutcome("accepted" if accepted else "not accepted", accepted, details)


def _requested_election(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Request the election of a partition whose only replica is down, and was when the topic was created.

    Then let the controller move, remove the request, let it be requested and move again, and start the replica.
    """
    topic, zk = this.topic, lab.zk
    lab.move_controller(1)
    lab.stop(3)
    lab.admin(milliseconds=2000).create_topic(topic, {0: [1], 1: [3]})
    lab.wait_for_leaders(topic)
    time.sleep(1)
    details: dict[str, object] = {"states": lab.states(topic), "request": _request_election(lab, topic, 1)}
    stays = not _is_handled(lab)
    failed = this.lines("controller", "Error processing event ReplicaLeaderElection", broker=1)
    details |= {"the request stays": stays, "failed": list(map(str, failed)), "exceptions": _exceptions(lab, this, 1)}
    this.capture("the event has failed")
    details["second request"] = _request_election(lab, topic, 0)
    zk.do(delete(REQUESTED))
    details["request of another partition, once that is removed"] = _request_election(lab, topic, 0)
    details["it is handled"] = _is_handled(lab)
    zk.do(delete(REQUESTED))
    _request_election(lab, topic, 1)
    lab.delete_controller()
    elections = _elections(lab)
    failures = [line.broker for line in this.lines("controller", "Error while electing or becoming controller")]
    details |= {"elections": elections, "seconds": FAILOVERS_TAKE, "failures": dict(Counter(failures))}
    details["another topic"] = str(lab.admin(milliseconds=2000).create_topic(f"{topic}-other", {0: [1]}))
    this.capture("every failover fails")
    zk.do(delete(REQUESTED))
    details["with the request removed"] = _rest(lab)
    details["request of another partition after it"] = _request_election(lab, topic, 0)
    details["it is handled after it"] = _is_handled(lab)
    details["request again"] = _request_election(lab, topic, 1)
    details["it stays again"] = not _is_handled(lab)
    lab.delete_controller()
    details["elections again"] = _elections(lab)
    lab.start(3)
    details["with the replica up"] = _rest(lab)
    details |= {"states at the end": lab.states(topic), "request at the end": lab.json(REQUESTED)}
    this.capture("the replica is up")
    this.keep_lines("Error processing event|Error while electing|elected as the controller", ["controller"])
    seen = stays and bool(failed) and elections >= 10 and len(failures) >= 10
    return RoundOutcome("every failover fails" if seen else "a controller stays", seen, details)


def _empty_replica_list(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Write an empty list of replicas into a topic's znode, let the controller move, and write the replicas back."""
    topic, path = this.topic, f"/brokers/topics/{this.topic}"
    lab.move_controller(1)
    lab.admin().create_topic(topic, {0: [1, 2], 1: [2, 3]})
    lab.wait_for_leaders(topic, 2)
    before = lab.probe(topic)
    znode = lab.topic(topic) or {}
    emptied = {**znode, "partitions": {**znode["partitions"], "0": []}}
    lab.zk.do(set_data(path, json.dumps(emptied).encode()))
    time.sleep(2)
    details: dict[str, object] = {"elections before the failover": _elections(lab)}
    lab.delete_controller()
    elections = _elections(lab)
    failures = [line.broker for line in this.lines("controller", "Error while electing or becoming controller")]
    details |= {"elections": elections, "seconds": FAILOVERS_TAKE, "failures": dict(Counter(failures))}
    details["exceptions"] = sorted({line for number in (1, 2, 3) for line in _exceptions(lab, this, number)})
    details["state"] = lab.states(topic)
    this.capture("the list is empty")
    lab.zk.do(set_data(path, json.dumps(znode).encode()))
    details["with the replicas written back"] = _rest(lab)
    lab.delete_controller()
    details["after another failover"] = _rest(lab)
    details |= {"records before": str(before), "records at the end": str(lab.probe(topic))}
    this.capture("the replicas are written back")
    this.keep_lines("Error while electing|elected as the controller|NoSuchElement", ["controller"])
    seen = elections >= 10 and len(failures) >= 10
    return RoundOutcome("every failover fails" if seen else "a controller stays", seen, details)


def _replicas_that_do_not_exist(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Create a topic on brokers that do not exist, reassign it to brokers that run, and let the controller move."""
    topic = this.topic
    lab.move_controller(1)
    lab.zk.do(*writes_of_creation(topic, {0: [7, 8]}))
    time.sleep(3)
    details: dict[str, object] = {"states": lab.states(topic)}
    this.capture("no replica is live")
    details["reassigned"] = str(lab.admin(milliseconds=5000).reassign(topic, {0: [2, 3]}))
    time.sleep(2)
    details |= {"znode": lab.topic(topic), "states after it": lab.states(topic)}
    this.capture("it is reassigned")
    lab.delete_controller()
    is_led = wait_until(lambda: bool(lab.states(topic)) and lab.states(topic)[0]["leader"] in (2, 3), 20)
    wait_until(lambda: set((lab.topic(topic) or {})["partitions"]["0"]) == {2, 3}, 20)
    time.sleep(2)
    probe = lab.probe_anywhere(topic, seconds=6.0)
    details |= {"znode at the end": lab.topic(topic), "states at the end": lab.states(topic), "records": str(probe)}
    details["controller"] = _rest(lab)
    this.capture("the controller has moved")
    this.keep_lines("No assigned replica is alive|Error|elected as the controller", ["controller", "state-change"])
    serves = is_led and probe["0"]["produce"]["ok"] and probe["0"]["consume"]["n"] == 1
    return RoundOutcome("the next controller elects a leader" if serves else "no leader", serves, details)


def _request_election(lab: Lab, name: str, partition: int) -> str:
    """Ask for the election of a partition's preferred leader with the tool for ZooKeeper; return its last message."""
    wanted = lab.folder / "requested.json"
    wanted.write_text(json.dumps({"partitions": [{"topic": name, "partition": partition}]}))
    main = "kafka.admin.PreferredReplicaLeaderElectionCommand"
    printed = lab.tool(OLD_TOOL, "--path-to-json-file", str(wanted), main=main).splitlines()
    return next((line for line in reversed(printed) if line.startswith(("Caused by", "Successfully"))), str(printed))


def _is_handled(lab: Lab) -> bool:
    """Return whether a requested election ends: the controller removes its znode."""
    return wait_until(lambda: not lab.zk.exists(REQUESTED), 5)


def _exceptions(lab: Lab, this: ExperimentRound, broker: int) -> list[str]:
    """Return the lines with exceptions of a broker's controller in the round."""
    path = lab.brokers[broker].log("controller")
    lines = text_from(path, this.marks.get(path, 0)).splitlines()
    return [line for line in lines if line.startswith("java.")]


def _elections(lab: Lab) -> int:
    """Return how many elections there are in some seconds."""
    before = lab.controller_epoch()
    time.sleep(FAILOVERS_TAKE)
    return lab.controller_epoch() - before


def _rest(lab: Lab) -> str:
    """Return whether a controller stays, soon after a change."""
    time.sleep(2)
    elections = _elections(lab)
    return f"{elections} elections" if elections or lab.controller() is None else "a controller stays"


def _last_member_of_an_isr(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Stop the replicas of a topic that may have unclean elections, forbid these, and start the replicas again."""
    controller, last, lagging, topic = 3, 1, 2, this.topic
    lab.move_controller(controller)
    assigned = ("--topic", topic, "--replica-assignment", f"{lagging}:{last}")
    lab.tool(OLD_CLIENT, "--create", *assigned, "--config", f"{UNCLEAN_ELECTIONS}=true")
    lab.wait_for_leaders(topic)
    for number, leader in ((lagging, last), (last, -1)):
        lab.kill(number)
        wait_until(partial(_is_led_by, lab, topic, leader), 40)
    without = lab.states(topic)[0]
    _allow_unclean_elections(lab, topic, allowed=False)
    lab.start(last)
    is_led = wait_until(lambda: lab.states(topic)[0]["leader"] == last, 8)
    this.capture("the last member of the ISR is up")
    lab.start(lagging)
    time.sleep(1)
    _allow_unclean_elections(lab, topic, allowed=True)
    lab.delete_controller()
    wait_until(lambda: lab.states(topic)[0]["leader"] != -1, 20)
    this.keep_lines(rf"{topic}-0|\[{topic},0\]|{topic},0")
    details = {"ISR without a leader": without["isr"], "the last leader leads": is_led}
    details["leader, once allowed again"] = lab.states(topic)[0]["leader"]
    outcome = "the last member leads" if is_led else "the partition has no leader"
    return RoundOutcome(outcome, not is_led, details)


def _is_led_by(lab: Lab, topic: str, leader: int) -> bool:
    return bool(lab.states(topic)[0]["leader"] == leader)


def _allow_unclean_elections(lab: Lab, topic: str, *, allowed: bool) -> None:
    value = f"{UNCLEAN_ELECTIONS}={str(allowed).lower()}"
    words = ("--alter", "--entity-type", "topics", "--entity-name", topic, "--add-config", value)
    lab.tool(OLD_CLIENT, *words, main="kafka.admin.ConfigCommand")


EXPERIMENTS = (
    Experiment(
        name="last-member-of-an-isr",
        about="All replicas of a topic with unclean elections fail; these are forbidden, and the last leader starts.",
        expected="In 1.0.0 the topic has no leader; once allowed again, another replica leads. Later the last leads.",
        story="records-through-failover.md",
        run=_last_member_of_an_isr,
        predicted=lambda release: release.startswith("1.0"),
        options=LabOptions(old_brokers=True),
        releases=("1.0.0", "2.5.0", "3.9.0"),
        is_ordered=True,
    ),
    Experiment(
        name="requested-election",
        about="A preferred leader is requested in ZooKeeper for a partition that never had one; the controller moves.",
        expected="The request stays and blocks others; every failover fails until it is removed, or a replica is up.",
        story="controller-comes-back.md",
        run=_requested_election,
        is_ordered=True,
    ),
    Experiment(
        name="empty-replica-list",
        about="A topic's znode gets an empty list of replicas for a partition that has a state; the controller moves.",
        expected="Since 2.7, every failover fails until the replicas are written back.",
        story="not-reported.md",
        run=_empty_replica_list,
        predicted=lambda release: not release.startswith(("1.", "2.5.")),
        is_ordered=True,
    ),
    Experiment(
        name="replicas-that-do-not-exist",
        about="A topic is created on brokers that do not exist, and reassigned to others; then the controller moves.",
        expected="The next controller elects one of the others, and the reassignment ends.",
        story="topic-deletion.md",
        run=_replicas_that_do_not_exist,
        is_ordered=True,
    ),
    Experiment(
        name="stopping-broker-rejoins",
        about="A broker that is behind in one partition and leads another is shut down; the answer to it is held.",
        expected="Below 3.3 it joins the ISR of the first one before it stops, never that of the second one.",
        story="retire-broker.md",
        run=_stopping_broker_rejoins,
        predicted=lambda release: release.startswith("2."),
        options=LabOptions(proxied=True, settings={"replica.lag.time.max.ms": 2000}),
        is_ordered=True,
    ),
    Experiment(
        name="deposed-controller-first",
        about="A broker gets the request of a deposed controller before that of its successor, which was sent first.",
        expected="It is accepted.",
        story="zombie-controller.md",
        run=_deposed_controller_first,
        options=LabOptions(proxied=True),
        is_ordered=True,
    ),
)
