"""Brokers that do not stop, consumers that fetch from a follower, and a producer that meets a new partition."""

from __future__ import annotations

import re
import signal
import time
from functools import partial
from typing import Any

from kwalk.clusters.lab.brokers import AdminRequests, Probe, consume, new_producer_id, produce
from kwalk.clusters.lab.cluster import Lab, LabOptions
from kwalk.clusters.lab.experiments.experiment import Experiment, ExperimentRound, RoundOutcome
from kwalk.clusters.lab.experiments.known_records import read_records
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.proxy import matching
from kwalk.clusters.metadata import Api
from kwalk.model.language import KwalkError

PATIENCE = 60.0
"""Seconds for a broker without replicas to end."""
RETENTION = 60.0
"""Seconds in which retention deletes what it takes for old: its task begins 30 s after the start."""
FIRST_DELETION = 35.0
"""Seconds after which the task that deletes logs has begun: it does 30 s after the start."""
STOPPING = re.compile(r'^"kafka-shutdown-hook"(?:.+\n)+', re.MULTILINE)
"""The stack of the thread that stops a broker."""
FAR_BEHIND = 2000
"""How many batches a follower lacks that gets one with each fetch."""
NEAR, FAR = "near", "far"
"""The racks of the follower, with the consumer, and of the leader."""


def _ends(lab: Lab, details: dict[str, Any]) -> bool:
    """Stop broker 1 with SIGTERM; return whether it ends in time."""
    process, start = lab.brokers[1].process, time.monotonic()
    assert process is not None
    process.send(signal.SIGTERM)
    ended = process.wait(PATIENCE)
    details["seconds"] = round(time.monotonic() - start, 1) if ended else None
    lab.note(f"broker 1 has {'' if ended else 'not '}ended")
    if not ended:
        process.send(signal.SIGQUIT)  # Java writes the stacks of all threads
        time.sleep(1)
        found = STOPPING.search(process.output.read_text(errors="replace"))
        details["where it waits"] = found[0].splitlines()[2:14] if found else None
    return ended


def _stop_without_a_delete_delay(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Stop a broker whose task that deletes logs has run, with a delay of 0."""
    details: dict[str, Any] = {}
    time.sleep(FIRST_DELETION)
    ended = _ends(lab, details)
    this.keep_lines("[Ss]hut", ["server"])
    details["last lines"] = [str(line) for line in this.lines("server", "shut")][-2:]
    return RoundOutcome("the broker ends" if ended else "the broker does not end", not ended, details)


def _time_index_is_not_trimmed(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Put a directory where a time index is while its broker stops, so that it keeps its room; start, and write."""
    broker, topic = lab.brokers[1], this.topic
    answer = lab.admin().create_topic(topic, {0: [1]}, {"index.interval.bytes": "0"})
    if not (answer.ok and lab.wait_for_leaders(topic)):
        raise KwalkError(f"CreateTopics was answered with {answer}.")
    written = [produce(broker.port, topic, 0, f"young:{number}") for number in range(3)]
    directory = broker.directory(f"{topic}-0")
    assert directory is not None
    index, aside = directory / f"{0:020}.timeindex", lab.folder / "aside"
    index.rename(aside)
    index.mkdir()
    lab.stop(1)
    index.rmdir()
    aside.rename(index)
    is_clean = (broker.data / ".kafka_cleanshutdown").exists()
    lab.start(1)
    wait_until(lambda: lab.wait_for_leaders(topic) and lab.are_informed(topic), 20)
    written.append(produce(broker.port, topic, 0, "later"))
    read = partial(consume, broker.port, topic, 0, topic_id=lab.id_to_fetch(topic), seconds=1)
    is_gone = wait_until(lambda: read()["error"] == "OFFSET_OUT_OF_RANGE", RETENTION, every=1)
    this.keep_lines("retention|ailed to close|Is a directory|Rolled", ["server"])
    details = {"produced": written, "the stop is clean": is_clean, "read": read()}
    outcome = "young records are deleted" if is_gone else "the records are there"
    return RoundOutcome(outcome, is_gone and is_clean and all(one["ok"] for one in written), details)


def _stop_without_zookeeper(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Kill ZooKeeper, and stop a broker: one that does not wait for ZooKeeper as it begins to be the controller."""
    details: dict[str, Any] = {}
    if not wait_until(lambda: lab.lines("controller", "Starting the controller scheduler"), 30):
        raise KwalkError("The controller has not begun.")
    time.sleep(2)
    lab.zookeeper.send(signal.SIGKILL)
    lab.zookeeper.wait(20)
    lab.note("ZooKeeper: SIGKILL")
    ended = _ends(lab, details)
    this.keep_lines("[Ss]hut|ontrolled", ["server"])
    details["last lines"] = [str(line) for line in this.lines("server", "[Ss]hut")][-2:]
    return RoundOutcome("the broker ends" if ended else "the broker does not end", not ended, details)


def _sent_to_a_lagging_follower(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Hold the fetches of a follower until it has left the ISR, write more, and consume in its rack."""
    topic, leader, follower = this.topic, 1, 2
    answer = lab.admin().create_topic(topic, {0: [leader, follower]})
    if not (answer.ok and lab.wait_for_leaders(topic)):
        raise KwalkError(f"CreateTopics was answered with {answer}.")
    wait_until(lambda: lab.are_informed(topic), 10)
    first = [produce(lab.brokers[leader].port, topic, 0, f"first:{n}") for n in range(2)]
    if not all(probe["ok"] for probe in first):
        raise KwalkError(f"Produce was answered with {first}.")
    end = len(first)
    fetches = lab.rules.hold(matching(Api.FETCH, broker=leader))
    try:
        later = [produce(lab.brokers[leader].port, topic, 0, "later:0", acks=1)]
        left = wait_until(lambda: lab.states(topic)[0]["isr"] == [leader], 40)
        later += [produce(lab.brokers[leader].port, topic, 0, f"later:{n}") for n in (1, 2)]

        def fetch(broker: int) -> Probe:
            identity = lab.id_to_fetch(topic)
            return consume(lab.brokers[broker].port, topic, 0, topic_id=identity, offset=end, rack=NEAR, seconds=1)

        rounds = [(fetch(leader), fetch(follower)) for _ in range(3)]
    finally:
        lab.rules.drop(fetches)
    details = {"left the ISR": left, "acknowledged": first + later, "the leader and the follower answered": rounds}
    is_sent = all(at.get("sent to") == follower and there.get("n") == 0 for at, there in rounds)
    has_all = all(at.get("n") == len(later) for at, _ in rounds)
    outcome = "the consumer gets nothing" if is_sent else "it gets all" if has_all else "it gets some"
    return RoundOutcome(outcome, is_sent and left and later[-1]["ok"], details)


def _asks_a_follower(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Hold the fetches of a follower until it has left the ISR, write more, and have a consumer ask that follower."""
    topic, leader, follower = this.topic, 1, 2
    answer = lab.admin().create_topic(topic, {0: [leader, follower]})
    if not (answer.ok and lab.wait_for_leaders(topic)):
        raise KwalkError(f"CreateTopics was answered with {answer}.")
    wait_until(lambda: lab.are_informed(topic), 10)
    identity = lab.id_to_fetch(topic)
    fetches = lab.rules.hold(matching(Api.FETCH, broker=leader))
    try:
        written = [produce(lab.brokers[leader].port, topic, 0, "first", acks=1)]
        left = wait_until(lambda: lab.states(topic)[0]["isr"] == [leader], 40)
        written += [produce(lab.brokers[leader].port, topic, 0, f"later:{n}") for n in (1, 2)]
        ports = (lab.brokers[leader].port, lab.brokers[follower].port)
        answers = [consume(port, topic, 0, topic_id=identity, offset=len(written), seconds=1) for port in ports]
    finally:
        lab.rules.drop(fetches)
    details = {"left the ISR": left, "acknowledged": written, "the leader and the follower answered": answers}
    is_reset = answers[0]["ok"] and answers[1]["error"] == "OFFSET_OUT_OF_RANGE"
    outcome = "the offset is out of range" if is_reset else f"the follower answers {answers[1]['error']}"
    return RoundOutcome(outcome, is_reset and left and written[-1]["ok"], details)


def _joins_from_far_behind(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Hold the fetches of a follower until it has left the ISR, write much, and see what it has as it joins again."""
    topic, leader, follower = this.topic, 1, 2
    answer = lab.admin().create_topic(topic, {0: [leader, follower]}, {"min.insync.replicas": "2"})
    if not (answer.ok and lab.wait_for_leaders(topic)):
        raise KwalkError(f"CreateTopics was answered with {answer}.")
    wait_until(lambda: lab.are_informed(topic), 10)
    fetches = lab.rules.hold(matching(Api.FETCH, broker=leader))
    try:
        first = produce(lab.brokers[leader].port, topic, 0, "first", acks=1)
        left = wait_until(lambda: lab.states(topic)[0]["isr"] == [leader], 40)
        for number in range(FAR_BEHIND):
            produce(lab.brokers[leader].port, topic, 0, f"later:{number}", acks=1)
    finally:
        lab.rules.drop(fetches)
    joined = wait_until(lambda: follower in lab.states(topic)[0]["isr"], 60, every=0.02)
    directory = lab.brokers[follower].directory(f"{topic}-0")
    has = 0 if directory is None else len(read_records(directory))
    details = {"first": first, "left the ISR": left, "joined": joined, "records": FAR_BEHIND + 1, "follower has": has}
    is_behind = left and joined and has < FAR_BEHIND
    return RoundOutcome("it joins from far behind" if is_behind else "it joins with all records", is_behind, details)


def _meets_a_new_partition(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Hold LeaderAndIsr while a producer sends its first record; let it pass, send the second one, and the first."""
    port, topic = lab.brokers[1].port, this.topic
    producer = new_producer_id(port)
    held = lab.rules.hold(matching(Api.LEADER_AND_ISR, broker=1))
    try:
        created = AdminRequests(lambda: port, milliseconds=1000).create_topic(topic, {0: [1]})
        first = produce(port, topic, 0, "first", producer_id=producer)
    finally:
        lab.rules.drop(held)
    if not lab.wait_for_leaders(topic):
        raise KwalkError(f"CreateTopics was answered with {created}, and the topic has no leader.")
    wait_until(lambda: lab.are_informed(topic), 10)
    second = produce(port, topic, 0, "second", producer_id=producer, sequence=1)
    again = [produce(port, topic, 0, "first", producer_id=producer) for _ in range(3)]
    third = produce(port, topic, 0, "third", producer_id=producer, sequence=2)
    read = consume(port, topic, 0, topic_id=lab.id_to_fetch(topic), seconds=1)
    details = {"first": first, "second": second, "first again": again, "third": third, "read": read}
    errors = {probe["error"] for probe in again}
    is_lost = second["ok"] and errors == {"OUT_OF_ORDER_SEQUENCE_NUMBER"} and third["ok"] and read["n"] == 2
    outcome = "the first record is refused for good" if is_lost else f"sent again, it is answered with {sorted(errors)}"
    return RoundOutcome(outcome, is_lost and not first["ok"], details)


RACKS = LabOptions(
    brokers=2,
    proxied=True,
    settings={"replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector"},
    own_settings={1: {"broker.rack": FAR}, 2: {"broker.rack": NEAR}},
)
ONE_BATCH = LabOptions(
    brokers=2, proxied=True, settings={"replica.fetch.max.bytes": 1, "replica.fetch.response.max.bytes": 1}
)
EXPERIMENTS = (
    Experiment(
        name="stop-without-a-delete-delay",
        about="A broker has log.segment.delete.delay.ms=0, and is stopped when it has run for 35 s.",
        expected="Up to 3.7 it does not end within 60 s; later it ends.",
        story="log-recovery.md",
        run=_stop_without_a_delete_delay,
        options=LabOptions(brokers=1, settings={"log.segment.delete.delay.ms": 0}),
        releases=("2.8.2", "3.7.2", "3.8.1", "3.9.0"),
        predicted=lambda release: release in ("2.8.2", "3.7.2"),
    ),
    Experiment(
        name="time-index-that-is-not-trimmed",
        about="A time index cannot be closed as its broker stops in order; the broker starts again, and gets a record.",
        expected="The stop is taken for clean; retention (7 days) then deletes the records of before, seconds old.",
        story="log-recovery.md",
        run=_time_index_is_not_trimmed,
        options=LabOptions(brokers=1, settings={"log.retention.check.interval.ms": 500}),
    ),
    Experiment(
        name="stop-without-zookeeper",
        about="ZooKeeper is killed, and a broker is stopped.",
        expected="Up to 2.8 it does not end within 60 s; later it ends.",
        story="log-recovery.md",
        run=_stop_without_zookeeper,
        options=LabOptions(brokers=1),
        releases=("2.8.2", "3.0.2", "3.9.0"),
        predicted=lambda release: release == "2.8.2",
    ),
    Experiment(
        name="consumer-sent-to-a-lagging-follower",
        about="The fetches of a follower are held until it has left the ISR; a consumer in its rack fetches.",
        expected="From 2.4 to 3.3.1 the leader sends it to the follower, which has nothing for it; later it does not.",
        story="leader-epochs.md",
        run=_sent_to_a_lagging_follower,
        options=RACKS,
        releases=("2.8.2", "3.0.2", "3.3.2", "3.9.0"),
        is_ordered=True,
        predicted=lambda release: release in ("2.8.2", "3.0.2"),
    ),
    Experiment(
        name="consumer-asks-a-lagging-follower",
        about="The fetches of a follower are held until it has left the ISR; a consumer without leader epochs asks it.",
        expected="Since 2.4 the follower answers that the offset is out of range, which the leader has.",
        story="leader-epochs.md",
        run=_asks_a_follower,
        options=LabOptions(brokers=2, proxied=True),
        releases=("2.8.2", "3.9.0"),
        is_ordered=True,
        predicted=lambda release: True,
    ),
    Experiment(
        name="follower-joins-a-small-isr",
        about="With min.insync.replicas=2 the only follower leaves the ISR, 2,000 batches are written, and it fetches.",
        expected="Since 3.7 it joins the ISR from far behind; before, with all records.",
        story="leader-epochs.md",
        run=_joins_from_far_behind,
        options=ONE_BATCH,
        releases=("2.8.2", "3.6.2", "3.9.0"),
        is_ordered=True,
        predicted=lambda release: release == "3.9.0",
    ),
    Experiment(
        name="producer-meets-a-new-partition",
        about="The first record of an idempotent producer comes before its partition is there, the second one after.",
        expected="Since 2.5 the second record is appended, and the first one is refused as often as it is sent again.",
        story="producer-state.md",
        run=_meets_a_new_partition,
        options=LabOptions(brokers=1, proxied=True),
        releases=("2.8.2", "3.9.0"),
        is_ordered=True,
        predicted=lambda release: True,
    ),
)
