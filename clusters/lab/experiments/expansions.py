"""Partitions are added: by a client that knows no topic ids, and at the same time as a reassignment."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from kwalk.clusters.lab.brokers import NO_ANSWER, OK, AdminAnswer
from kwalk.clusters.lab.cluster import SETTINGS, Lab, LabOptions
from kwalk.clusters.lab.experiments.experiment import Experiment, ExperimentRound, RoundOutcome
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.proxy import matching
from kwalk.clusters.lab.zookeeper import set_data
from kwalk.clusters.metadata import Api

OLD_CLIENT = "1.0.0"
QUIET = 3.0
"""Seconds without a change after which a topic's znode counts as settled."""
LAG_SECONDS = SETTINGS["replica.lag.time.max.ms"] / 1000
"""Time after which a leader of the lab removes a follower that does not fetch from the ISR."""
MOST_CREATIONS = 400
"""How many topics two clients create at most."""
MAY_BE_WRITTEN = ("written", OK, "REQUEST_TIMED_OUT", NO_ANSWER)
"""Answers to an expansion after which its partition was, or may have been, in the znode."""


def _old_client_expands(lab: Lab, this: ExperimentRound, *, aged: bool) -> RoundOutcome:
    """Follow the operators' eight steps; `aged` adds a failover after the first."""
    topic = this.topic
    words = ("--create", "--topic", topic, "--partitions", "2", "--replication-factor", "3")
    lab.tool(OLD_CLIENT, *words)
    lab.wait_for_leaders(topic, 2)
    this.capture("old client has created")
    if aged:
        lab.delete_controller()
        time.sleep(4)
        this.capture("aged by a failover")
    this.capture("produced and consumed", {"rw": lab.probe(topic)})
    lab.tool(OLD_CLIENT, "--alter", "--topic", topic, "--partitions", "4")
    lab.wait_for_leaders(topic, 4)
    erased = "topic_id" not in (lab.topic(topic) or {})
    this.capture("old client has added partitions", {"rw": lab.probe(topic)})
    lab.delete_controller()
    time.sleep(4)
    after = lab.probe(topic)
    this.capture("controller deleted", {"rw": after})
    stopped = next(number for number in lab.brokers if number != lab.controller())
    lab.restart(stopped)
    wait_until(lambda: lab.is_in_every_isr(stopped, topic), 20, every=0.5)
    last = lab.probe(topic)
    this.capture(f"broker {stopped} restarted", {"rw": last})
    this.keep_lines("does not match the topic I[Dd]|New topics|New partitions to be added")
    outside = [number for number, state in lab.states(topic).items() if stopped not in state["isr"]]
    failed = sorted(int(number) for number, probe in last.items() if not probe["produce"]["ok"])
    details = {
        "topic id erased by the expansion": erased,
        "restarted": stopped,
        "partitions whose ISR lacks it": outside,
        "acks=all fails for": failed,
        "works before the restart": all(p["produce"]["ok"] for p in after.values()),
        "lines": [str(line) for line in this.lines("state-change", "does not match the topic I[Dd]")][:4],
    }
    seen = bool(outside and failed)
    return RoundOutcome(f"outage of {len(failed)} of 4 partitions" if seen else "no outage", seen, details)


def _fetch_sessions_end(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Erase a topic's id, let the controller move, and break each fetcher's connection once; no broker restarts.

    At the end the id is written back, and the controller moves again.
    """
    topic = this.topic
    lab.tool(OLD_CLIENT, "--create", "--topic", topic, "--partitions", "1", "--replication-factor", "3")
    lab.wait_for_leaders(topic)
    lab.probe(topic)
    first_id = (lab.topic(topic) or {}).get("topic_id")
    lab.tool(OLD_CLIENT, "--alter", "--topic", topic, "--partitions", "2")
    lab.wait_for_leaders(topic, 2)
    lab.delete_controller()
    time.sleep(4)
    before = lab.probe(topic)
    this.capture("controller deleted", {"rw": before})
    for broker in lab.brokers:
        lab.rules.cut(matching(Api.FETCH, broker=broker), len(lab.brokers))
    time.sleep(2)
    after = lab.probe(topic)
    this.capture("connections of fetchers broken", {"rw": after})
    time.sleep(2 * LAG_SECONDS)
    last = lab.probe(topic)
    this.capture("after twice replica.lag.time.max.ms", {"rw": last})
    states = lab.states(topic)
    lab.zk.do(lab.topic_id_write(topic, first_id))
    lab.delete_controller()
    time.sleep(4)
    repaired = lab.probe(topic)
    this.capture("id written back, controller deleted", {"rw": repaired})
    this.keep_lines(r"Received UNKNOWN_TOPIC_ID|Shrinking ISR|INCONSISTENT_TOPIC_ID")
    refused = this.lines("server", "Received UNKNOWN_TOPIC_ID from the leader")
    full = sorted(number for number, state in states.items() if len(state["isr"]) == len(lab.brokers))
    failed = sorted(int(number) for number, probe in last.items() if not probe["produce"]["ok"])
    details = {
        "acks=all before": {n: p["produce"]["error"] for n, p in before.items()},
        "acks=all after the cut": {n: p["produce"]["error"] for n, p in after.items()},
        "acks=all later": {n: p["produce"]["error"] for n, p in last.items()},
        "acks=all after the id is written back": {n: p["produce"]["error"] for n, p in repaired.items()},
        "isr": {number: state["isr"] for number, state in states.items()},
        "fetches refused": len(refused),
    }
    seen = bool(set(full) & set(failed))
    what = "full ISR that does not fetch" if seen else "ISR shrunk" if len(full) < len(states) else "no effect"
    return RoundOutcome(f"{what}; acks=all fails for {len(failed)} of {len(last)}", seen, details)


def _expansion_and_reassignment(lab: Lab, this: ExperimentRound, *, through_zookeeper: bool) -> RoundOutcome:
    """Add a partition and reassign another one at the same moment; which is first alternates."""
    topic, admin = this.topic, lab.admin(milliseconds=8000)
    admin.create_topic(topic, {0: [1, 2]})
    lab.wait_for_leaders(topic)
    time.sleep(0.1)
    answers: dict[str, AdminAnswer | str] = {}

    def reassign() -> None:
        answers["reassignment"] = admin.reassign(topic, {0: [1, 3]})

    def expand() -> None:
        if not through_zookeeper:
            answers["expansion"] = admin.add_partitions(topic, 2, [[1, 2]])
            return
        znode = lab.topic(topic) or {}
        znode["partitions"]["1"] = [1, 2]
        lab.zk.do(set_data(f"/brokers/topics/{topic}", json.dumps(znode).encode()))
        answers["expansion"] = "written"

    _at_once(expand, reassign) if this.number % 2 else _at_once(reassign, expand)
    changes = _changes_when_settled(lab, topic)
    znode = lab.topic(topic) or {}
    texts = {name: str(answer) for name, answer in answers.items()}
    this.keep_lines(rf"\b{topic}\b", ["controller"])
    answer = texts["expansion"].split(" ")[0]
    is_absent = len(znode["partitions"]) == 1
    lost = is_absent and answer in MAY_BE_WRITTEN
    what = "expansion lost" if lost else "expansion refused" if is_absent else "expansion done"
    details = {
        "answers": texts,
        "partitions": znode["partitions"],
        "changes of the znode": changes,
        "isr": lab.states(topic)[0]["isr"],
    }
    return RoundOutcome(f"{what} ({answer})", lost, details)


def _at_once(first: Any, second: Any) -> None:
    threads = [threading.Thread(target=each) for each in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _changes_when_settled(lab: Lab, topic: str) -> int:
    """Wait until a topic's znode has not changed for some seconds; return how often it has changed."""
    path, seen, since = f"/brokers/topics/{topic}", -1, time.monotonic()
    end = since + 20
    while time.monotonic() < min(since + QUIET, end):
        found = lab.zk.get(path)
        if found and found[1].version != seen:
            seen, since = found[1].version, time.monotonic()
        time.sleep(0.05)
    return seen


def _two_clients_create(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Let two clients create a topic at a time, each with another retention, until it has that of a refused one."""
    first, tried, answered = this.topic, 0, Counter[str]()
    for tried in range(1, MOST_CREATIONS + 1):
        topic, start = f"{first}-{tried}", threading.Barrier(2)

        def create(hours: int, topic: str = topic, start: threading.Barrier = start) -> AdminAnswer:
            start.wait()
            own = {"retention.ms": str(hours * 3_600_000)}
            return lab.admin().create_topic(topic, {0: [1]}, own)

        with ThreadPoolExecutor(2) as clients:
            answers = list(clients.map(create, (1, 2)))
        answered.update(str(answer) for answer in answers)
        written = lab.zk.get(f"/config/topics/{topic}")
        own = {} if written is None else json.loads(written[0])["config"]
        hours = int(own.get("retention.ms", 0)) // 3_600_000
        if hours and not answers[hours - 1].ok and answers[2 - hours].ok:
            break
    else:
        return RoundOutcome("never", False, {"topics": tried, "answers": dict(answered)})
    details = {"topics": tried, "answers": dict(answered), "configuration": own, "of the last": list(map(str, answers))}
    return RoundOutcome("the topic has the configuration of a creation that was refused", True, details)


EXPERIMENTS = (
    Experiment(
        name="two-creations",
        about="Two clients create a topic at the same time, each with another retention, several hundred times.",
        expected="Some topic has the configuration of the creation that was answered TOPIC_ALREADY_EXISTS.",
        story="two-admins.md",
        run=_two_clients_create,
    ),
    Experiment(
        name="topic-id-expansion",
        about="A client of 1.0.0 creates a topic and adds partitions, /controller is deleted, a broker is restarted.",
        expected="From 3.0 on the restarted broker leaves the ISR and acks=all fails; on 2.8 a fresh topic survives.",
        story="old-client-expansion.md",
        run=lambda lab, this: _old_client_expands(lab, this, aged=False),
        predicted=lambda release: not release.startswith("2."),
    ),
    Experiment(
        name="topic-id-expansion-aged",
        about="The same, with one failover of the controller before the partitions are added.",
        expected="The restarted broker leaves the ISR and acks=all fails: for old partitions on 2.8, for all later.",
        story="old-client-expansion.md",
        run=lambda lab, this: _old_client_expands(lab, this, aged=True),
        predicted=lambda release: not release.startswith("2.5"),
    ),
    Experiment(
        name="full-isr",
        about="An old client adds a partition, /controller is deleted, and each fetcher's connection is broken once.",
        expected="From 3.3 on followers are refused, the ISR stays full, and acks=all times out; up to 3.0 nothing.",
        story="full-isr.md",
        run=_fetch_sessions_end,
        predicted=lambda release: not release.startswith(("2.", "3.0", "3.1", "3.2")),
        options=LabOptions(proxied=True),
        is_ordered=True,
    ),
    Experiment(
        name="lost-expansion",
        about="A partition is added by a write of the topic's znode, and another one reassigned at the same moment.",
        expected="In some rounds the reassignment's write removes the added partition.",
        story="reassignment-with-expansion.md",
        run=lambda lab, this: _expansion_and_reassignment(lab, this, through_zookeeper=True),
        fresh=False,
        rounds=30,
    ),
    Experiment(
        name="lost-expansion-by-brokers",
        about="The same with CreatePartitions in place of the write.",
        expected="In few rounds the reassignment's write removes the added partition, and the expansion times out.",
        story="reassignment-with-expansion.md",
        run=lambda lab, this: _expansion_and_reassignment(lab, this, through_zookeeper=False),
        fresh=False,
        rounds=60,
    ),
)
