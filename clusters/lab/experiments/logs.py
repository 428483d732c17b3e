"""Records that a log loses: what holds after a configuration has changed, and what the log cleaner keeps."""

from __future__ import annotations

import base64
import json
import os
import shutil
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from attrs import evolve

from kwalk.clusters.lab.brokers import AdminRequests, Probe, consume, produce
from kwalk.clusters.lab.cluster import Lab, LabOptions
from kwalk.clusters.lab.experiments.experiment import Experiment, ExperimentRound, RoundOutcome
from kwalk.clusters.lab.experiments.known_records import AFTER_LENGTH
from kwalk.clusters.lab.experiments.recoveries import collected
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.proxy import Direction, Match, matching
from kwalk.clusters.lab.zookeeper import set_data
from kwalk.clusters.metadata import Api
from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.model.kafka.snapshots.capture import UNCLEAN_ELECTIONS
from kwalk.model.language import KwalkError

HOUR = 3600.0
YEAR = 8760 * HOUR
PATIENCE = 8.0
"""Seconds in which a retention that is checked every half second deletes what it means to delete."""
LAST, OTHER = 1, 2
"""The brokers of a topic with two replicas: the one that leads to the last, and the other one."""
HANDLED = 3.0
"""Seconds after which a broker has handled the notification of a changed configuration."""


def _consumed(lab: Lab, broker: int, topic: str) -> Probe:
    """Fetch partition 0 of a topic from offset 0, by its topic id where consumers of the version do so."""
    return consume(lab.brokers[broker].port, topic, 0, topic_id=lab.id_to_fetch(topic), seconds=1)


def _goes(lab: Lab, topic: str, age: float, seconds: float) -> tuple[bool, Probe]:
    """Produce a record of some age in seconds; return whether it is gone soon, and the last answer to a consumer."""
    produced = produce(lab.brokers[1].port, topic, 0, "old", age=age)
    if not produced["ok"]:
        raise KwalkError(f"Produce was answered with {produced['error']}.")
    seen: list[Probe] = []

    def is_gone() -> bool:
        seen.append(_consumed(lab, 1, topic))
        return seen[-1]["error"] == "OFFSET_OUT_OF_RANGE" or seen[-1].get("n") == 0

    return wait_until(is_gone, seconds, every=0.3), seen[-1]


def _configure(lab: Lab, **changes: str | None) -> None:
    """Change the dynamic configuration of all brokers, and wait until it was handled; `_` stands for a dot."""
    wanted = {name.replace("_", "."): value for name, value in changes.items()}
    answer = lab.admin().configure_brokers(wanted)
    lab.note(f"configuration of all brokers: {wanted}: {answer}")
    if not answer.ok:
        raise KwalkError(f"IncrementalAlterConfigs was answered with {answer}.")
    time.sleep(HANDLED)


def _created(lab: Lab, topic: str, replicas: list[int], configuration: dict[str, str] | None = None) -> None:
    answer = lab.admin().create_topic(topic, {0: replicas}, configuration)
    if not (answer.ok and lab.wait_for_leaders(topic)):
        raise KwalkError(f"CreateTopics was answered with {answer}, and the topic has no leader.")
    wait_until(lambda: lab.are_informed(topic), 10)


def _wait_for_retention(lab: Lab, topic: str) -> None:
    """Wait until retention runs, which begins 30 s after a start: until a record of two years is deleted."""
    _created(lab, topic, [1])
    if not _goes(lab, topic, 2 * YEAR, 60)[0]:
        raise KwalkError("A record of two years was not deleted within 60 s.")


def _hours_are_dropped(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Keep a record of 200 hours under a retention of a year in hours; then change another configuration of logs."""
    _wait_for_retention(lab, f"{this.topic}-first")
    _created(lab, this.topic, [1])
    before, _ = _goes(lab, this.topic, 200 * HOUR, 5)
    _configure(lab, message_max_bytes="2000000")
    gone = wait_until(lambda: _consumed(lab, 1, this.topic)["error"] == "OFFSET_OUT_OF_RANGE", PATIENCE, every=0.3)
    this.keep_lines(rf"{this.topic}-0|retention", ["server"])
    details = {"gone before the change": before, "consumer": _consumed(lab, 1, this.topic)}
    deleted = this.lines("server", rf"{this.topic}-0.*(retention time \d+ms|log retention)")
    details["lines"] = [str(line) for line in deleted][:2]
    return RoundOutcome("the record is deleted" if gone else "the record is kept", gone and not before, details)


def _young_record_goes(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Produce a record without a timestamp to two topics, one of which has a record of an hour; keep half an hour."""
    _wait_for_retention(lab, f"{this.topic}-first")
    mixed, other = this.topic, f"{this.topic}-other"
    for topic in (mixed, other):
        _created(lab, topic, [1])
    written = [produce(lab.brokers[1].port, mixed, 0, "old", age=HOUR)]
    written += [produce(lab.brokers[1].port, topic, 0, "young", age=None) for topic in (mixed, other)]
    before = [_consumed(lab, 1, topic) for topic in (mixed, other)]
    for topic in (mixed, other):
        lab.admin().configure_topic(topic, {"retention.ms": str(int(HOUR / 2 * 1000))})
    gone = wait_until(lambda: _consumed(lab, 1, mixed)["error"] == "OFFSET_OUT_OF_RANGE", PATIENCE, every=0.3)
    time.sleep(HANDLED)
    after = [_consumed(lab, 1, topic) for topic in (mixed, other)]
    details = {"acknowledged": written, "consumers before": before, "consumers after": after}
    is_alone = after[1].get("n") == 1
    return RoundOutcome("the record is deleted" if gone else "the record is kept", gone and is_alone, details)


def _deleted_value_holds(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Set a retention of an hour for all brokers, and delete it again; then produce a record of two hours."""
    _wait_for_retention(lab, f"{this.topic}-first")
    _created(lab, this.topic, [1])
    _configure(lab, log_retention_ms=str(int(HOUR * 1000)))
    while_set, _ = _goes(lab, this.topic, 2 * HOUR, PATIENCE)
    _configure(lab, log_retention_ms=None)
    later = f"{this.topic}-later"
    _created(lab, later, [1])
    gone, consumer = _goes(lab, later, 2 * HOUR, PATIENCE)
    details: dict[str, Any] = {"gone while it was set": while_set, "consumer": consumer}
    details["configuration in ZooKeeper"] = lab.json("/config/brokers/<default>")
    lab.restart(1)
    _wait_for_retention(lab, f"{this.topic}-second")
    restarted = f"{this.topic}-restarted"
    _created(lab, restarted, [1])
    details["gone after a restart"], _ = _goes(lab, restarted, 2 * HOUR, PATIENCE)
    this.keep_lines(rf"{this.topic}|retention", ["server"])
    return RoundOutcome("the record is deleted" if gone else "the record is kept", gone and while_set, details)


def _compacted_above_the_high_watermark(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Let the cleaner see a record that is not replicated; then its leader fails, comes back, and leads again."""
    topic, leader, other = this.topic, 1, 2
    own = {"cleanup.policy": "compact", "segment.bytes": "100", "min.cleanable.dirty.ratio": "0.01"}
    _created(lab, topic, [leader, other], own)

    def write(key: str, value: str, acks: int) -> Probe:
        return produce(lab.brokers[leader].port, topic, 0, value, key=key, acks=acks)

    committed = write("k", "committed", -1)
    wait_until(lambda: _consumed(lab, leader, topic).get("n") == 1, 10)
    fetches = lab.rules.hold(matching(Api.FETCH, broker=leader))
    try:
        if not lab.rules.wait_for(fetches, seconds=5):
            raise KwalkError("The follower did not fetch within 5 s.")
        others = [write("k", "not replicated", 1), write("l", "in the active segment", 1)]
        vanished = wait_until(lambda: _consumed(lab, leader, topic).get("n") == 0, PATIENCE, every=0.2)
        lab.note(f"a consumer no longer gets the committed record: {vanished}")
        lab.kill(leader)
        lab.expire_session(leader)
        moved = wait_until(lambda: lab.states(topic)[0]["leader"] == other, 30)
    finally:
        lab.rules.drop(fetches)
    at_other = _consumed(lab, other, topic)
    lab.start(leader)
    joined = wait_until(lambda: lab.is_in_every_isr(leader, topic), 30)
    lab.stop(other)
    back = wait_until(lambda: lab.states(topic)[0]["leader"] == leader, 30)
    _await_answer(lambda: _consumed(lab, leader, topic))
    later = _consumed(lab, leader, topic)
    details = {
        "acks=all": committed,
        "acks=1": others,
        "leader moved": moved,
        "at the other leader": at_other,
        "joined the ISR again": joined,
        "leads again": back,
        "vanished from the first leader": vanished,
        "at the first leader later": later,
    }
    this.keep_lines(rf"{topic}-0", ["server"])
    lost = committed["ok"] and later["error"] == "NONE" and at_other.get("n") == 1 and later.get("n") == 0
    return RoundOutcome("the committed value is lost" if lost else "the committed value is kept", lost, details)


def _compacted_by_the_brokers_policy(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Produce values of one key to a topic without a policy of its own; one of its two brokers cleans its log."""
    topic, cleaning = this.topic, 1
    _created(lab, topic, [cleaning, 2])
    for number in range(VALUES):
        produce(lab.brokers[cleaning].port, topic, 0, f"value {number}", key="k", acks=-1)
    checkpoint = lab.brokers[cleaning].data / "cleaner-offset-checkpoint"
    is_cleaned = wait_until(lambda: f"{topic} 0 " in checkpoint.read_text(), 4 * PATIENCE, every=0.3)
    snapshot = collected(lab)
    this.keep_snapshot("cleaned", snapshot.decode())
    found = inspect_snapshot(snapshot)
    sizes = [sum(broker["dirs"][f"{topic}-0"]["files"].values()) for broker in json.loads(snapshot)["brokers"].values()]
    kinds = [kind.name for kind in found.by_kind()]
    details = {"bytes of the copies": sizes, "kinds": kinds, "condition": found.condition.value}
    text = f"copies have {sizes[0]} and {sizes[1]} bytes: {found.condition.value}"
    return RoundOutcome(text, is_cleaned and sizes[0] != sizes[1] and not kinds, details)


def _emptied_replica_joins(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Replace the disk of a follower while its leader asks to add it to the ISR; then the leader fails."""
    topic, leader, follower, controller = this.topic, 1, 2, 3
    _created(lab, topic, [leader, follower])
    lab.move_controller(controller)
    lab.stop(follower)
    wait_until(lambda: lab.states(topic)[0]["isr"] == [leader], 20)
    committed = produce(lab.brokers[leader].port, topic, 0, "committed", acks=-1)
    before = _consumed(lab, leader, topic)
    requests = lab.rules.hold(matching(Api.ALTER_PARTITION, broker=controller))
    lab.start(follower)
    if not lab.rules.wait_for(requests, seconds=20):
        raise KwalkError("The leader did not ask for a change of the ISR within 20 s.")
    fetches = lab.rules.hold(matching(Api.FETCH, broker=leader))
    try:
        lab.kill(follower)
        lab.expire_session(follower)
        shutil.rmtree(lab.brokers[follower].data)
        lab.note(f"the disk of broker {follower} is empty")
        lab.start(follower)
        wait_until(lambda: lab.brokers[follower].directory(f"{topic}-0") is not None, 10)
        lab.rules.drop(requests)
        joined = wait_until(lambda: lab.is_in_every_isr(follower, topic), 40)
        lab.kill(leader)
        lab.expire_session(leader)
        moved = wait_until(lambda: lab.states(topic)[0]["leader"] == follower, 20)
    finally:
        lab.rules.drop(fetches)
    if moved:
        _await_answer(lambda: _consumed(lab, follower, topic))
    later = _consumed(lab, follower, topic)
    details = {"acks=all": committed, "before": before, "joined the ISR": joined, "leads": moved, "later": later}
    this.keep_lines(rf"{topic}-0", ["server", "state-change"])
    lost = committed["ok"] and before.get("n") == 1 and later["error"] == "NONE" and later.get("n") == 0
    return RoundOutcome("the committed record is lost" if lost else "the committed record is kept", lost, details)


def _answers_about(lab: Lab, topic: str, broker: int) -> Match:
    """Return a match of a broker's answers to fetches that name a topic, by its id where the version does so."""
    identity = lab.id_to_fetch(topic)
    name = topic.encode() if identity is None else base64.urlsafe_b64decode(f"{identity}==")
    is_answer = matching(Api.FETCH, broker=broker, direction=Direction.RESPONSE)
    return lambda frame: is_answer(frame) and name in frame.content


def lead(lab: Lab, topic: str, leader: int, follower: int) -> None:
    """Make a member of the ISR the leader, by the order of the replicas."""
    lab.admin().reassign(topic, {0: [leader, follower]})
    wait_until(lambda: (lab.topic(topic) or {}).get("partitions", {}).get("0") == [leader, follower], 10)
    lab.admin().elect_preferred(topic, 0)
    if not wait_until(lambda: lab.states(topic)[0]["leader"] == leader, 10):
        raise KwalkError(f"Broker {leader} does not lead {topic}.")


def _answer_of_an_earlier_epoch(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Hold a leader's answer that a log diverges, until the follower has led, committed its record, and follows again.

    Another partition keeps the follower's fetcher alive.
    """
    topic, first, second = this.topic, 1, 2
    _created(lab, f"{topic}-other", [first, second])
    _created(lab, topic, [second, first])
    lab.move_controller(3)
    produced = [produce(lab.brokers[second].port, topic, 0, "first", acks=-1)]
    fetches = lab.rules.hold(matching(Api.FETCH, broker=second))
    if not lab.rules.wait_for(fetches, seconds=10):
        raise KwalkError("The follower did not fetch within 10 s.")
    produced.append(produce(lab.brokers[second].port, topic, 0, "second", acks=1))
    answer = lab.rules.hold(_answers_about(lab, topic, first))
    lead(lab, topic, first, second)
    if not lab.rules.wait_for(answer, seconds=15):
        raise KwalkError("The leader did not answer that the follower's log diverges.")
    lead(lab, topic, second, first)
    lab.rules.drop(fetches)
    _await_answer(lambda: _consumed(lab, second, topic))
    committed = wait_until(lambda: _consumed(lab, second, topic).get("n") == 2, 10)
    lead(lab, topic, first, second)
    time.sleep(HANDLED)
    fetches = lab.rules.hold(matching(Api.FETCH, broker=first))
    try:
        lab.rules.drop(answer)
        fetched = lab.rules.wait_for(fetches, seconds=10)
        isr = lab.states(topic)[0]["isr"]
        lab.kill(first)
        lab.expire_session(first)
        moved = wait_until(lambda: lab.states(topic)[0]["leader"] == second, 20)
    finally:
        lab.rules.drop(fetches)
    _await_answer(lambda: _consumed(lab, second, topic))
    later = _consumed(lab, second, topic)
    details = {"produced": produced, "committed": committed, "fetched": fetched, "ISR": isr, "leads": moved}
    this.keep_lines(rf"{topic}-0", ["server", "state-change"])
    lost = committed and set(isr) == {first, second} and later["error"] == "NONE" and later.get("n") == 1
    outcome = "the committed record is lost" if lost else "the committed record is kept"
    return RoundOutcome(outcome, lost, {**details, "later": later})


def _await_answer(ask: Callable[[], Probe]) -> None:
    """Wait until a broker that has become the leader answers as one."""
    wait_until(lambda: ask()["error"] == "NONE", 15)


CHECKING = LabOptions(brokers=1, settings={"log.retention.check.interval.ms": 500})
IN_HOURS = evolve(CHECKING, settings={**CHECKING.settings, "log.retention.hours": int(YEAR / HOUR)})
COMPACTING = LabOptions(
    brokers=2,
    proxied=True,
    settings={
        "log.cleaner.enable": "true",
        "log.cleaner.backoff.ms": 200,
        "log.cleaner.dedupe.buffer.size": 2 << 20,
        "replica.lag.time.max.ms": 60_000,
    },
)


COMPACTING_BY_DEFAULT = LabOptions(
    brokers=2,
    settings={
        **COMPACTING.settings,
        "log.cleanup.policy": "compact",
        "log.segment.bytes": 100,
        "log.cleaner.min.cleanable.ratio": 0.01,
    },
    own_settings={2: {"log.cleaner.backoff.ms": int(HOUR * 1000)}},
)


def _follower_is_refused_a_batch(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Lower segment.bytes below the size of a batch while the follower is down; it starts again."""
    topic, leader, follower = this.topic, 1, 2
    _created(lab, topic, [leader, follower])
    lab.stop(follower)
    produced = produce(lab.brokers[leader].port, topic, 0, "x" * 300, acks=1)
    answer = lab.admin().configure_topic(topic, {"segment.bytes": "100"})
    time.sleep(HANDLED)
    since = lab.marks()
    lab.start(follower)
    joined = wait_until(lambda: lab.is_in_every_isr(follower, topic), 30)
    lines = len(lab.lines("server", f"processing data for partition {topic}-0 at offset 0", since=since))
    this.keep_lines(topic, ["server"])
    details = {"produced": produced["ok"], "configured": answer.ok, "in the ISR": joined, "lines": lines}
    seen = bool(produced["ok"] and answer.ok and not joined and lines)
    return RoundOutcome("the follower joins the ISR" if joined else "the follower stays out of the ISR", seen, details)


def _cut_the_last_member(lab: Lab, topic: str) -> list[Probe]:
    """Write two records with both replicas in sync, crash both brokers, and take the second record from the last."""
    lab.move_controller(3)
    _created(lab, topic, [LAST, OTHER], {UNCLEAN_ELECTIONS: "false"})
    answers = [produce(lab.brokers[LAST].port, topic, 0, value) for value in ("kept", "acknowledged")]
    for number, leader in ((OTHER, LAST), (LAST, -1)):
        lab.kill(number)
        lab.expire_session(number)
        wait_until(partial(_leads_alone, lab, topic, leader, LAST), 30)
    directory = lab.brokers[LAST].directory(f"{topic}-0")
    assert directory is not None
    segment = directory / "00000000000000000000.log"
    os.truncate(segment, AFTER_LENGTH + int.from_bytes(segment.read_bytes()[8:AFTER_LENGTH], "big"))
    return answers


def _last_member_loses_its_tail(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Start the last member, which has lost a record, and then the other replica."""
    return _started(lab, this, _cut_the_last_member(lab, this.topic), LAST, OTHER)


def _longest_log_leads(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Write the other replica into the state as the ISR, start it, and then the one that has lost a record."""
    answers, path = _cut_the_last_member(lab, this.topic), f"/brokers/topics/{this.topic}/partitions/0/state"
    lab.zk.do(set_data(path, json.dumps({**lab.states(this.topic)[0], "isr": [OTHER]}).encode()))
    lab.delete_controller()
    wait_until(lambda: lab.controller() is not None, 20)
    outcome = _started(lab, this, answers, OTHER, LAST)
    return evolve(outcome, seen=outcome.details["read"].get("last") == "acknowledged")


def _started(lab: Lab, this: ExperimentRound, answers: list[Probe], first: int, second: int) -> RoundOutcome:
    topic = this.topic
    lab.start(first)
    wait_until(lambda: lab.states(topic)[0]["leader"] == first, 30)
    lab.start(second)
    wait_until(lambda: lab.is_in_every_isr(second, topic), 30)
    read = _consumed(lab, first, topic)
    details: dict[str, Any] = {"acks=all": answers, "state": lab.states(topic)[0], "read": read}
    this.keep_lines(rf"{topic}-0")
    is_lost = all(answer["ok"] for answer in answers) and read.get("last") == "kept"
    return RoundOutcome("the record is lost" if is_lost else "the record is there", is_lost, details)


def _leads_alone(lab: Lab, topic: str, leader: int, member: int) -> bool:
    state = lab.states(topic)[0]
    return bool(state["leader"] == leader and state["isr"] == [member])


def _start_offsets_are_not_written(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Have many logs of a follower begin again while records are deleted; crash it when no offsets were written."""
    topic, many, follower, leader = this.topic, f"{this.topic}-many", 1, 2
    _created(lab, topic, [follower])
    answer = lab.admin().create_topic(many, {number: [leader, follower] for number in range(LOGS)})
    if not (answer.ok and lab.wait_for_leaders(many, LOGS)):
        raise KwalkError(f"CreateTopics was answered with {answer}.")
    for number in range(RECORDS):
        produce(lab.brokers[follower].port, topic, 0, str(number))
    deleted: dict[int, float] = {}
    times = (_begin_again(lab, many, lambda: _delete_next(lab, topic, deleted)) for _ in range(TRUNCATIONS))
    failed = next((at for at in times if at is not None), None)
    if failed is None:
        time.sleep(2 * WRITTEN)
    lab.kill(follower)
    before = [offset for offset, at in deleted.items() if failed is None or at < failed - WRITTEN / 5]
    lab.start(follower)
    wait_until(lambda: _fetched(lab, topic, RECORDS - 1)["error"] == OK, 30)
    seen = [_fetched(lab, topic, max(deleted) - 1), _fetched(lab, topic, before[-1] - 1)]
    this.keep_lines("kafka-log-start-offset-checkpoint|NoSuchElement", ["server"])
    details: dict[str, Any] = {
        "deletions": len(deleted),
        "before the round": len(before),
        "a round failed": failed is not None,
    }
    details |= {"before the last one": seen[0], "before the last one that a round has met": seen[1]}
    is_back = failed is not None and seen[1].get("n", 0) > 0
    return RoundOutcome("deleted records are back" if is_back else "deleted records stay deleted", is_back, details)


def _delete_next(lab: Lab, topic: str, deleted: dict[int, float]) -> None:
    """Delete one more record, and keep the time of the answer by the offset below which all are deleted."""
    offset = len(deleted) + 1
    if AdminRequests(lambda: lab.brokers[1].port).delete_records(topic, {0: offset}).ok:
        deleted[offset] = time.time()


def _fetched(lab: Lab, topic: str, offset: int) -> Probe:
    return consume(lab.brokers[1].port, topic, 0, topic_id=lab.id_to_fetch(topic), seconds=1, offset=offset)


def _begin_again(lab: Lab, topic: str, meanwhile: Callable[[], None]) -> float | None:
    """Delete what the follower has not fetched, and let it fetch; return when a round of its failed, if one did."""
    follower, leader = 1, 2
    since = lab.marks()
    hold = lab.rules.hold(matching(Api.FETCH, broker=leader))
    try:
        for number in range(2 * LOGS):
            produce(lab.brokers[leader].port, topic, number % LOGS, "r", acks=1)
            if number == LOGS - 1:
                wait_until(lambda: all(state["isr"] == [leader] for state in lab.states(topic).values()), 20)
        at_leader = AdminRequests(lambda: lab.brokers[leader].port, milliseconds=200)
        lab.note(f"DeleteRecords: {at_leader.delete_records(topic, dict.fromkeys(range(LOGS), -1))}")
    finally:
        lab.rules.drop(hold)
    end = time.monotonic() + BEGUN
    while time.monotonic() < end:
        meanwhile()
        lines = lab.lines("server", "task 'kafka-log-start-offset-checkpoint'", broker=follower, since=since)
        if lines:
            return lines[0].time.timestamp()
        time.sleep(0.01)
    return None


OK = "NONE"
VALUES = 18
"""How many values of a key are produced to a log that is cleaned."""
LOGS, TRUNCATIONS, RECORDS = 300, 15, 4000
"""How many logs begin again, how often at most, and how many records another one has."""
WRITTEN, BEGUN = 0.5, 4.0
"""The seconds between two rounds that write start offsets, and those within which the logs begin again."""
EXPERIMENTS = (
    Experiment(
        name="batch-above-segment-bytes",
        about="A follower is down while its topic gets a segment.bytes below the size of a batch; it starts again.",
        expected="The follower stays out of the ISR: it does not append the batch.",
        story="log-segments.md",
        run=_follower_is_refused_a_batch,
        options=LabOptions(brokers=2),
        releases=("2.8.2", "3.9.0"),
        is_ordered=True,
        predicted=lambda release: True,
    ),
    Experiment(
        name="young-record-without-a-timestamp",
        about="A record without a timestamp is produced behind one of an hour, and alone; half an hour is kept.",
        expected="Since 0.10.1 the record behind the old one is deleted with it; that of the other topic is kept.",
        story="log-segments.md",
        run=_young_record_goes,
        options=CHECKING,
        releases=("2.8.2", "3.9.0"),
        predicted=lambda release: True,
    ),
    Experiment(
        name="retention-hours-dropped",
        about="The file has a year of log.retention.hours; message.max.bytes of all brokers is changed meanwhile.",
        expected="From 2.6 to 3.8 a record of 200 hours is deleted then: Kafka's 168 hours hold; else it is kept.",
        story="dynamic-configuration.md",
        run=_hours_are_dropped,
        options=IN_HOURS,
        releases=("2.5.0", "2.8.2", "3.4.1", "3.9.0"),
        predicted=lambda release: release in ("2.8.2", "3.4.1"),
    ),
    Experiment(
        name="deleted-retention-holds",
        about="log.retention.ms of all brokers is set to an hour and deleted again; a record of two hours is produced.",
        expected="Before 2.6 the record is deleted, until the broker is restarted; later it is kept.",
        story="dynamic-configuration.md",
        run=_deleted_value_holds,
        options=CHECKING,
        releases=("2.5.0", "2.8.2", "3.9.0"),
        predicted=lambda release: release == "2.5.0",
    ),
    Experiment(
        name="committed-value-compacted",
        about="The follower's fetches are held while the log is cleaned; the leader is killed, and leads again later.",
        expected="Before 3.1 the last committed value of a key is lost; later it is kept.",
        story="log-compaction.md",
        run=_compacted_above_the_high_watermark,
        options=COMPACTING,
        is_ordered=True,
        releases=("2.8.2", "3.0.0", "3.4.1", "3.9.0"),
        predicted=lambda release: release in ("2.8.2", "3.0.0"),
    ),
    Experiment(
        name="compacted-by-the-brokers-policy",
        about="Brokers compact logs, and a topic has no policy of its own; one of two brokers has cleaned its copy.",
        expected="The copies have different bytes, and the cluster is consistent: cleaner-offset-checkpoint has it.",
        story="log-compaction.md",
        run=_compacted_by_the_brokers_policy,
        options=COMPACTING_BY_DEFAULT,
        releases=("2.8.2", "3.9.0"),
        predicted=lambda _: True,
    ),
    Experiment(
        name="emptied-replica-joins",
        about="AlterPartition for a follower is held; its broker restarts with an empty disk; then the leader fails.",
        expected="The follower joins the ISR without a record and leads: the committed record is lost.",
        story="leader-epochs.md",
        run=_emptied_replica_joins,
        options=LabOptions(brokers=3, proxied=True),
        is_ordered=True,
        releases=("2.8.2", "3.4.1", "3.9.0"),
        predicted=lambda _: True,
    ),
    Experiment(
        name="answer-of-an-earlier-epoch",
        about="A fetch's answer that the log diverges is held; the follower leads, commits, follows again; failover.",
        expected="The follower truncates what is committed, is in the ISR, and leads: the record is lost.",
        story="leader-epochs.md",
        run=_answer_of_an_earlier_epoch,
        options=LabOptions(
            brokers=3,
            proxied=True,
            settings={"replica.lag.time.max.ms": 90_000, "replica.socket.timeout.ms": 120_000},
        ),
        is_ordered=True,
        releases=("2.8.2", "3.4.1", "3.9.0"),
        predicted=lambda _: True,
    ),
    Experiment(
        name="last-member-loses-its-tail",
        about="The last member of an ISR crashes with its machine, which loses the end of its log; then all start.",
        expected="It leads again, and the others truncate the acknowledged record that it has lost.",
        story="leader-epochs.md",
        run=_last_member_loses_its_tail,
        options=LabOptions(proxied=True),
        is_ordered=True,
    ),
    Experiment(
        name="longest-log-leads",
        about="The same; the state gets another ISR, the replica with the longest log, which is started first.",
        expected="It leads, and nothing is lost.",
        story="leader-epochs.md",
        run=_longest_log_leads,
        options=LabOptions(proxied=True),
        is_ordered=True,
    ),
    Experiment(
        name="starts-amid-a-truncation",
        about="Hundreds of a follower's logs begin again while records of another one are deleted; then it crashes.",
        expected="Up to 3.2 a round that writes start offsets fails, and deleted records are there again; later not.",
        story="log-segments.md",
        run=_start_offsets_are_not_written,
        is_ordered=True,
        releases=("2.8.2", "3.0.2", "3.3.2", "3.9.0"),
        options=LabOptions(
            brokers=2,
            proxied=True,
            settings={
                "log.flush.start.offset.checkpoint.interval.ms": int(WRITTEN * 1000),
                "replica.lag.time.max.ms": 1000,
            },
        ),
        predicted=lambda release: release in ("2.8.2", "3.0.2"),
    ),
)
