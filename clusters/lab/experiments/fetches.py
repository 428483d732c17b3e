"""Kafka's own clients: what consumers fetch beside lost partitions, and the batches that a request has room for."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from kwalk.clusters.lab.brokers import produce
from kwalk.clusters.lab.cluster import Lab, LabOptions
from kwalk.clusters.lab.consumers import RealConsumers
from kwalk.clusters.lab.experiments.consumers import create_topics
from kwalk.clusters.lab.experiments.experiment import Experiment, ExperimentRound, RoundOutcome
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.producers import RealProducers
from kwalk.clusters.lab.zookeeper import create
from kwalk.model.language import KwalkError

SETTINGS = {
    "offsets.topic.replication.factor": 1,
    "offsets.topic.num.partitions": 1,
    "auto.create.topics.enable": "false",
}
PAGE = "fetches-and-batches.md"
RECORDS = 20


def _beside_a_lost_partition(lab: Lab) -> dict[str, Any]:
    """Stop the leader of one of two partitions; return what a consumer is told of, and what it gets of the other."""
    create_topics(lab, {"t": [1, 2]})
    with RealProducers(lab, {}) as producers:
        producers.add("p")
        for partition in (0, 1):
            producers.must("send", "p", "t", partition, 100)
        time.sleep(3)
    with RealConsumers(lab, {"group.id": "g", "enable.auto.commit": "false"}) as group:
        group.make("first")
        group.tell("assign", "first", "t")
        group.poll("first", 3)
        other = 3 - int(lab.states("__consumer_offsets")[0]["leader"])
        lab.stop(other)
        wait_until(lambda: int(lab.states("t")[other - 1]["leader"]) == -1, 20)
        group.make("c")
        told = int(group.tell("partitions", "c", "t")[1])
        group.tell("assign", "c", "t", 2)
        group.tell("start", "c")
        time.sleep(20)
        count = int(group.tell("count", "c")[1])
        history = group.history()
    lab.note(f"partitionsFor names {told} of 2 partitions; consumer c has got {count} records")
    return {"told": told, "records": count, "history": history}


def _reads_beside_it(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Look whether it gets the record of the other one."""
    details = _beside_a_lost_partition(lab)
    waits = details["records"] == 0
    return RoundOutcome("it gets nothing" if waits else "it gets the other partition's record", waits, details)


def _is_told_of_it(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Look whether it is told of both."""
    details = _beside_a_lost_partition(lab)
    return RoundOutcome(f"it is told of {details['told']} of 2 partitions", details["told"] < 2, details)


def _moved_follower(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Move the replica that a consumer reads from, and write on."""
    lab.admin().create_topic("t", {0: [1, 2]})
    lab.wait_for_leaders("t")
    counts = []
    with RealConsumers(lab, {"group.id": "g", "client.rack": "r2"}) as group:
        group.make("c")
        group.tell("assign", "c", "t")
        group.tell("start", "c")
        for end in (5, 10):
            for number in range(end - 5, end):
                produce(lab.brokers[1].port, "t", 0, f"v{number}")
            time.sleep(20)
            counts.append(int(group.tell("count", "c")[1]))
            if end == 5:
                lab.admin().reassign("t", {0: [1, 3]})
                wait_until(lambda: lab.states("t")[0]["isr"] == [1, 3], 30)
                time.sleep(3)
        history = group.history()
    lab.note(f"consumer c has got {counts[0]} records before the replica moves, and {counts[1]} after")
    return RoundOutcome(f"it gets {counts[1]} of 10 records", counts == [5, 5], {"counts": counts, "history": history})


def _one_request_of_two(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Send many records to two partitions of a paused broker, where a request has room for one batch."""
    create_topics(lab, {"t": [1, 1]})
    settings = {"max.request.size": 15_000, "max.in.flight.requests.per.connection": 1}
    with RealProducers(lab, settings) as producers:
        producers.add("p")
        for partition in (0, 1):
            producers.must("send", "p", "t", partition, 100)
        time.sleep(3)
        lab.pause(1)
        for _ in range(RECORDS):
            for partition in (0, 1):
                producers.must("send", "p", "t", partition, 10_000)
        lab.resume(1)
        time.sleep(8)
        history = producers.history()
    order = [event.split(" to t-")[1][0] for event in history if "record of 10000 bytes" in event]
    turns = sum(one != other for one, other in pairwise(order))
    is_starved = len(order) == 2 * RECORDS and turns < RECORDS
    text = "one partition waits for the other's records" if is_starved else "they take turns"
    return RoundOutcome(text, is_starved, {"order": "".join(order), "history": history})


def _beside_an_unreadable_record(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Have a consumer poll three partitions, of which the second one has a record that it cannot read."""
    create_topics(lab, {"t": [1, 1, 1]})
    with RealProducers(lab, {}, "1.0.0") as producers, RealConsumers(lab, {"unreadable.bytes": 13}) as consumers:
        producers.add("p")
        producers.must("send", "p", "t", 1, 13)
        for _ in range(RECORDS):
            for partition in (0, 2):
                producers.must("send", "p", "t", partition, 100)
        time.sleep(3)
        consumers.make("c", group_id="g")
        consumers.tell("assign", "c", "t", 3)
        for number in range(20):
            if number == 10:
                consumers.tell("seek", "c", "t", 1, 1)
                lab.note("consumer c passes the record")
            consumers.tell("poll", "c", 500)
            time.sleep(0.3)
        count = int(consumers.tell("count", "c")[1])
        history = producers.history() + consumers.history()
    text = f"it gets {count} of {2 * RECORDS} records"
    return RoundOutcome(text, count < 2 * RECORDS, {"records": count, "history": history})


def _offsets_of_a_new_leader(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Ask for the end of a partition before and after another replica is elected."""
    lab.tool("1.0.0", "--create", "--topic", "t", "--replica-assignment", "1:2")
    lab.wait_for_leaders("t")
    with RealConsumers(lab, {"group.id": "g", "default.api.timeout.ms": 20_000}) as consumers:
        consumers.make("c")
        before = " ".join(consumers.tell("end", "c", "t"))
        of_t = {"topic": "t", "partition": 0}
        plan = {"version": 1, "partitions": [{**of_t, "replicas": [2, 1]}]}
        lab.zk.do(create("/admin/reassign_partitions", json.dumps(plan).encode()))
        time.sleep(3)
        election = {"version": 1, "partitions": [of_t]}
        lab.zk.do(create("/admin/preferred_replica_election", json.dumps(election).encode()))
        if not wait_until(lambda: lab.states("t")[0]["leader"] == 2, 20):
            raise KwalkError("Broker 2 did not lead within 20 s.")
        time.sleep(3)
        after = " ".join(consumers.tell("end", "c", "t"))
    lab.note(f"endOffsets: {before}; with the new leader: {after}")
    failed = after.startswith("failed")
    return RoundOutcome("the call fails" if failed else "it returns", failed, {"before": before, "after": after})


def _is(*releases: str) -> Callable[[str], bool]:
    return lambda release: release in releases


OLD = LabOptions(brokers=2, settings=SETTINGS, old_brokers=True)
IN_RACKS = LabOptions(
    brokers=3,
    settings=SETTINGS | {"replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector"},
    own_settings={number: {"broker.rack": f"r{number}"} for number in (1, 2, 3)},
)
EXPERIMENTS = (
    Experiment(
        name="consumer-beside-a-lost-partition",
        about="A consumer reads two partitions, of which one has no leader.",
        expected="Up to 1.0 it gets nothing; later it gets the other partition's records.",
        story=PAGE,
        run=_reads_beside_it,
        options=OLD,
        releases=("1.0.0", "2.5.0"),
        predicted=_is("1.0.0"),
    ),
    Experiment(
        name="partitions-that-a-consumer-is-told-of",
        about="A consumer asks for the partitions of a topic, of which one has no leader.",
        expected="Up to 2.0.0 it is told of the other one alone; later of both.",
        story=PAGE,
        run=_is_told_of_it,
        options=OLD,
        releases=("1.0.0", "2.5.0"),
        predicted=_is("1.0.0"),
    ),
    Experiment(
        name="consumer-beside-an-unreadable-record",
        about="A consumer reads three partitions, cannot deserialize the only record of one, and seeks after it.",
        expected="Up to 0.10.2.0 it does not get records of another one; later it gets all of both.",
        story=PAGE,
        run=_beside_an_unreadable_record,
        options=LabOptions(brokers=1, settings=SETTINGS, old_brokers=True),
        releases=("0.10.2.0", "0.11.0.1"),
        predicted=_is("0.10.2.0"),
    ),
    Experiment(
        name="offsets-of-a-new-leader",
        about="A consumer asks for the end of a partition before and after another replica is elected.",
        expected="From 1.1 to 2.4.0 the second call ends with TimeoutException; later it returns.",
        story=PAGE,
        run=_offsets_of_a_new_leader,
        options=OLD,
        releases=("1.0.0", "2.3.0", "2.5.0"),
        predicted=_is("2.3.0"),
    ),
    Experiment(
        name="consumer-of-a-moved-follower",
        about="A consumer reads from a follower, whose replica moves to another broker.",
        expected="It goes on in all releases, as the leader epoch changes; KAFKA-14379 says otherwise up to 3.3.1.",
        story=PAGE,
        run=_moved_follower,
        options=IN_RACKS,
        releases=("2.8.2", "3.3.2"),
        predicted=_is(),
    ),
    Experiment(
        name="partitions-of-one-request",
        about="A producer has many records for two partitions of a broker, and max.request.size has room for one.",
        expected="Up to 3.2 all records of one partition are sent before those of the other; later they take turns.",
        story=PAGE,
        run=_one_request_of_two,
        options=LabOptions(brokers=1, settings=SETTINGS),
        releases=("2.8.2", "3.3.2"),
        predicted=_is("2.8.2"),
        is_ordered=True,
    ),
)
