"""Coordinators of transactions, whose log has too few replicas, or moves."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from kwalk.clusters.lab.cluster import Lab, LabOptions
from kwalk.clusters.lab.debugger import Debugger
from kwalk.clusters.lab.experiments.experiment import Experiment, ExperimentRound, RoundOutcome
from kwalk.clusters.lab.experiments.groups import OK, TRANSACTIONS, begun, coordinator_of, created, must
from kwalk.clusters.lab.experiments.reassignments import LIST
from kwalk.clusters.lab.group_requests import GroupMember, GroupRequests
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.proxy import matching
from kwalk.clusters.lab.transactions import TransactionalProducer
from kwalk.clusters.lab.zookeeper import create, expire
from kwalk.clusters.metadata import Api
from kwalk.model.language import KwalkError

STATES = "__transaction_state"
EXPIRATION_SECONDS = 4
"""After what time transactional ids expire."""
TWICE = {
    "transaction.state.log.replication.factor": 2,
    "transaction.state.log.min.isr": 2,
    "transaction.state.log.num.partitions": 1,
    "offsets.topic.replication.factor": 1,
}
ONCE = TWICE | {"transaction.state.log.replication.factor": 1, "transaction.state.log.min.isr": 1}
EXPIRING = TWICE | {
    "transactional.id.expiration.ms": EXPIRATION_SECONDS * 1000,
    "transaction.remove.expired.transaction.cleanup.interval.ms": 1000,
}

SMALL_BATCHES = EXPIRING | ONCE | {"message.max.bytes": 1000}
"""Batches that have room for a record of a transaction, and for few tombstones of long ids."""


def _coordinator(lab: Lab, brokers: int = 2) -> tuple[int, int]:
    """Create `__transaction_state`, and return its leader and the other broker."""
    first = TransactionalProducer(lab.brokers[1].port, "first")
    if not wait_until(lambda: first.begin(60_000) in (OK, "NOT_COORDINATOR"), 40, every=0.5):
        raise KwalkError("No transaction could begin within 40 s.")
    _wait_for_isr(lab, brokers)
    leader = int(lab.states(STATES)[0]["leader"])
    return leader, next(number for number in lab.brokers if number != leader)


def _wait_for_isr(lab: Lab, brokers: int) -> None:
    if not wait_until(lambda: len(lab.states(STATES).get(0, {}).get("isr", ())) == brokers, 40):
        raise KwalkError(f"The ISR of {STATES}-0 did not have {brokers} brokers within 40 s.")


def _stop_the_follower(lab: Lab, follower: int) -> None:
    lab.stop(follower)
    _wait_for_isr(lab, 1)


def _start_the_follower(lab: Lab, follower: int) -> None:
    lab.start(follower)
    _wait_for_isr(lab, 2)


def _restart_helps(lab: Lab, leader: int, identity: str) -> bool:
    """Restart a coordinator; return whether an id can then be used, at whichever broker."""
    lab.restart(leader)
    producers = [TransactionalProducer(broker.port, identity) for broker in lab.brokers.values() if broker.runs]
    helps = wait_until(lambda: any(producer.begin(60_000) == OK for producer in producers), 30, every=0.5)
    lab.note(f"the id can be used after a restart of the coordinator: {helps}")
    return helps


def _id_that_cannot_expire(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Let an id expire while its tombstone cannot be replicated; then use it again."""
    leader, follower = _coordinator(lab)
    producer = TransactionalProducer(lab.brokers[leader].port, f"p{this.number}")
    must(producer.begin(60_000), "InitProducerId")
    _stop_the_follower(lab, follower)
    time.sleep(EXPIRATION_SECONDS + 4)
    _start_the_follower(lab, follower)
    errors: list[str] = []

    def begins() -> bool:
        errors.append(producer.begin(60_000))
        return errors[-1] == OK

    is_used = wait_until(begins, 20, every=0.5)
    lab.note(f"InitProducerId was answered with {sorted(set(errors))}; at last with {errors[-1]}")
    outcome = "the id can be used" if is_used else f"the id is answered with {errors[-1]}"
    return RoundOutcome(outcome, not is_used and errors[-1] == "CONCURRENT_TRANSACTIONS", {"answers": errors})


def _unused_id_keeps_others(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Have an id whose first record cannot be replicated; see whether another one expires, and can be used."""
    leader, follower = _coordinator(lab)
    port = lab.brokers[leader].port
    _stop_the_follower(lab, follower)
    refused = TransactionalProducer(port, f"unused{this.number}").begin(60_000)
    _start_the_follower(lab, follower)
    other = TransactionalProducer(port, f"used{this.number}")
    if not wait_until(lambda: other.begin(60_000) == OK, 20, every=0.5):
        raise KwalkError("InitProducerId was not answered with NONE within 20 s.")
    first = other.id
    time.sleep(EXPIRATION_SECONDS + 4)
    is_used = wait_until(lambda: other.begin(60_000) == OK, 20, every=0.5)
    lines = this.lines("server", "Uncaught exception in scheduled task .transactionalId-expiration", broker=leader)
    details: dict[str, Any] = {
        "first answer": refused,
        "ids": [first, other.id],
        "can be used": is_used,
        "lines": len(lines),
    }
    details["after a restart"] = is_used or _restart_helps(lab, leader, other.identity)
    lab.note(f"the other id can be used: {is_used}; errors of the task: {len(lines)}")
    expires = "has expired" if is_used and details["ids"][1] != first else "has not expired"
    outcome = f"the other id {expires}" if is_used else f"the other id cannot be used within 20 s, and {expires}"
    return RoundOutcome(outcome, (not is_used or expires == "has not expired") and bool(lines), details)


def _expire(lab: Lab, producers: list[TransactionalProducer]) -> int:
    """Let ids expire while none of them is used; return how many have: those then get other producer ids."""
    time.sleep(EXPIRATION_SECONDS + 4)
    ids = [producer.id for producer in producers]
    for producer in producers:
        if not wait_until(lambda one=producer: one.begin(60_000) == OK, 20, every=0.1):  # type: ignore[misc]
            raise KwalkError(f"InitProducerId of {producer.identity} was not answered with NONE within 20 s.")
    expired = sum(producer.id != before for producer, before in zip(producers, ids, strict=True))
    lab.note(f"of {len(ids)} ids, {expired} have expired")
    return expired


def _many_ids_expire(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Have more ids expire than a batch has room for; restart the coordinator, and give batches more room."""
    begun(lab, "first")
    port, long = lab.brokers[1].port, "long" * 50
    producers = [TransactionalProducer(port, f"{long}-{this.number}-{number}") for number in range(MANY)]
    for producer in producers:
        must(producer.begin(60_000), "InitProducerId")
    details: dict[str, Any] = {"expired": _expire(lab, producers)}
    lines = this.lines("server", "Tombstone append error code: MESSAGE_TOO_LARGE")
    details["lines"] = len(lines)
    if not details["expired"]:
        lab.restart(1)
        details["after a restart"] = _expire(lab, producers)
        must(lab.admin().configure_topic(STATES, {"max.message.bytes": "1000000"}).error, "IncrementalAlterConfigs")
        details["with larger batches"] = _expire(lab, producers)
    outcome = "no id expires" if not details["expired"] else f"{details['expired']} of {MANY} ids expire"
    return RoundOutcome(outcome, not details["expired"] and bool(lines), details)


def _fences_that_fail(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Start a producer again and again amid a transaction, while its epoch cannot be replicated."""
    leader, follower = _coordinator(lab)
    created(lab, this.topic, 1)
    producer = TransactionalProducer(lab.brokers[leader].port, f"p{this.number}")
    must(producer.begin(600_000), "InitProducerId")
    if not wait_until(lambda: producer.add(this.topic) == OK, 10, every=0.2):
        raise KwalkError("AddPartitionsToTxn was not answered with NONE within 10 s.")
    _stop_the_follower(lab, follower)
    again = TransactionalProducer(lab.brokers[leader].port, f"p{this.number}")
    answers = [again.begin(600_000) for _ in range(ATTEMPTS)]
    _start_the_follower(lab, follower)
    if not wait_until(lambda: again.begin(600_000) == OK, 30, every=0.5):
        raise KwalkError("InitProducerId was not answered with NONE within 30 s.")
    lab.note(f"the epoch after {ATTEMPTS} attempts: {again.epoch}")
    is_used_up = again.epoch > ATTEMPTS
    details = {"answers": answers, "epoch before": producer.epoch, "epoch after": again.epoch}
    return RoundOutcome(f"the epoch rises by {again.epoch - producer.epoch}", is_used_up, details)


def _move_transactions(lab: Lab, broker: int, partition: int = 0) -> None:
    """Reassign a partition of `__transaction_state` to a broker, and wait until that leads."""
    wanted = {"version": 1, "partitions": [{"topic": STATES, "partition": partition, "replicas": [broker]}]}
    lab.zk.do(create(LIST, json.dumps(wanted).encode()))

    def is_moved() -> bool:
        topic, state = lab.topic(STATES), lab.states(STATES).get(partition, {})
        is_there = (
            topic is not None and topic["partitions"][str(partition)] == [broker] and state.get("leader") == broker
        )
        return is_there and lab.json(LIST) is None

    if not wait_until(is_moved, 30):
        raise KwalkError(f"{STATES}-{partition} has not moved to broker {broker} within 30 s.")
    lab.note(f"broker {broker} coordinates transactions of partition {partition}")


def _marker_of_an_earlier_epoch(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Hold markers, let the coordinator move there and back, and let them pass; then begin another transaction."""
    leader, other = _coordinator(lab, 1)
    third = next(number for number in lab.brokers if number not in (leader, other))
    _place(lab, this.topic, third)
    producer = TransactionalProducer(lab.brokers[leader].port, f"p{this.number}")
    if not wait_until(lambda: producer.begin(600_000) == OK, 20, every=0.5):
        raise KwalkError("InitProducerId was not answered with NONE within 20 s.")
    if not wait_until(lambda: producer.add(this.topic) == OK, 10, every=0.2):
        raise KwalkError("AddPartitionsToTxn was not answered with NONE within 10 s.")
    hold = lab.rules.hold(matching(Api.WRITE_TXN_MARKERS, broker=third))
    must(producer.end(), "EndTxn")
    if not lab.rules.wait_for(hold, seconds=10):
        raise KwalkError("No marker was sent within 10 s.")
    _move_transactions(lab, other)
    _move_transactions(lab, leader)
    time.sleep(2)
    lab.rules.drop(hold)
    errors: list[str] = []

    def begins() -> bool:
        errors.append(producer.add(this.topic))
        return errors[-1] == OK

    goes_on = wait_until(begins, 20, every=0.5)
    lab.note(f"AddPartitionsToTxn was answered with {sorted(set(errors))}")
    lines = this.lines("server", "cancel sending transaction markers", broker=leader)
    outcome = "the next transaction begins" if goes_on else f"the next transaction is answered with {errors[-1]}"
    is_stuck = not goes_on and errors[-1] == "CONCURRENT_TRANSACTIONS"
    details: dict[str, Any] = {"answers": sorted(set(errors)), "lines": len(lines)}
    details["after a restart"] = goes_on or _restart_helps(lab, leader, producer.identity)
    return RoundOutcome(outcome, is_stuck, details)


def _created_by_znodes(lab: Lab, topic: str, replicas: list[int]) -> None:
    """Create a topic, as old brokers do not know the lab's request; a segment has room for one marker."""
    configuration = {"version": 1, "config": {"segment.bytes": "100"}}
    partitions = {"version": 1, "partitions": {"0": replicas}}
    lab.zk.do(
        create(f"/config/topics/{topic}", json.dumps(configuration).encode()),
        create(f"/brokers/topics/{topic}", json.dumps(partitions).encode()),
    )
    if not lab.wait_for_leaders(topic):
        raise KwalkError(f"{topic} has no leader.")


def _ended_transaction(producer: TransactionalProducer, topic: str, before: Callable[[], None] = lambda: None) -> None:
    """Add the topic to a transaction, and commit that."""
    if not wait_until(lambda: producer.add(topic) == OK, 20, every=0.2):
        raise KwalkError("AddPartitionsToTxn was not answered with NONE within 20 s.")
    before()
    must(producer.end(), "EndTxn")


def _marker_at_a_failed_disk(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Commit a transaction as the disk of its partition fails, which another broker leads then; begin the next one."""
    coordinator, other = _coordinator(lab, 1)
    _created_by_znodes(lab, this.topic, [other, coordinator])
    producer = TransactionalProducer(lab.brokers[coordinator].port, f"p{this.number}")
    if not wait_until(lambda: producer.begin(600_000) == OK, 20, every=0.5):
        raise KwalkError("InitProducerId was not answered with NONE within 20 s.")
    _ended_transaction(producer, this.topic)
    log = lab.brokers[other].directory(f"{this.topic}-0")
    assert log is not None
    _ended_transaction(producer, this.topic, lambda: lab.take_disk(other, log.parent))
    moves = wait_until(lambda: lab.states(this.topic)[0]["leader"] == coordinator, 20)
    goes_on = wait_until(lambda: producer.add(this.topic) == OK, 20, every=0.5)
    last = producer.add(this.topic)
    details: dict[str, Any] = {
        "another broker leads": moves,
        "unknown errors": len(this.lines("server", "Uncaught error in request completion", broker=coordinator)),
        "tried again": len(this.lines("server", "has failed with error .*KafkaStorageException", broker=coordinator)),
    }
    details["after a restart"] = goes_on or _restart_helps(lab, coordinator, producer.identity)
    outcome = "the next transaction begins" if goes_on else f"the next transaction is answered with {last}"
    return RoundOutcome(outcome, not goes_on and details["unknown errors"] > 0, details)


def _completion_beside_a_load(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Hold the thread that completes a transaction until another one that loads a partition has the lock."""
    coordinator, other = _coordinator(lab, 1)
    _created_by_znodes(lab, this.topic, [coordinator])
    names = [f"p{this.number}-{number}" for number in range(20)]
    producers = [TransactionalProducer(lab.brokers[coordinator].port, name) for name in names]
    ready: list[TransactionalProducer] = []

    def one_begins() -> bool:
        ready.extend(producer for producer in producers if not ready and producer.begin(600_000) == OK)
        return bool(ready)

    if not wait_until(one_begins, 20, every=0.5):
        raise KwalkError("InitProducerId was not answered with NONE within 20 s.")
    producer = ready[0]
    with Debugger(lab, coordinator) as debugger:
        completes = f"{PACKAGE}.TransactionMetadata.removePartition"
        loads = f"{PACKAGE}.TransactionStateManager.addLoadedTransactionsToCache"
        debugger.hold(completes)
        debugger.hold(loads)
        _ended_transaction(producer, this.topic)
        (sender,) = debugger.held(completes)
        moved = next(number for number, one in lab.states(STATES).items() if one["leader"] == other)
        _move_transactions(lab, coordinator, moved)
        debugger.held(loads)
        debugger.let_go(sender)
        time.sleep(2)
    goes_on = wait_until(lambda: producer.add(this.topic) == OK, 20, every=0.5)
    last = producer.add(this.topic)
    details: dict[str, Any] = {"after a restart": goes_on or _restart_helps(lab, coordinator, producer.identity)}
    outcome = "the next transaction begins" if goes_on else f"the next transaction is answered with {last}"
    return RoundOutcome(outcome, not goes_on and last == "CONCURRENT_TRANSACTIONS", details)


def _queue_made_twice(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """End two transactions at a time: both threads make the queue of the broker's markers, before either uses it."""
    producers = [begun(lab, f"p{this.number}-{number}") for number in range(2)]
    _created_by_znodes(lab, this.topic, [1])
    makes, uses = (f"{PACKAGE}.TxnMarkerQueue.{method}" for method in ("<init>", "addMarkers"))
    with Debugger(lab, 1) as debugger:
        debugger.hold(makes)
        for producer in producers:
            _ended_transaction(producer, this.topic)
        first, second = debugger.held(makes, 2)
        debugger.hold(uses)
        debugger.let_go(first)
        debugger.held(uses)
        debugger.let_go(second)
        debugger.held(uses, 2)
    time.sleep(2)
    stuck = [one for one in producers if not wait_until(lambda each=one: each.add(this.topic) == OK, 10)]  # type: ignore[misc]
    details: dict[str, Any] = {"answers": [producer.add(this.topic) for producer in producers]}
    details["after a restart"] = not stuck or _restart_helps(lab, 1, stuck[0].identity)
    outcome = f"{len(stuck)} of 2 producers can begin no other transaction"
    return RoundOutcome(outcome, bool(stuck) and "CONCURRENT_TRANSACTIONS" in details["answers"], details)


def _goes_on_after_a_timeout(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Let the coordinator abort a transaction after its timeout; then its producer goes on with another topic."""
    first, second = f"{this.topic}-first", f"{this.topic}-second"
    begun(lab, "first")
    for topic in (first, second):
        _created_by_znodes(lab, topic, [1])
    producer = TransactionalProducer(lab.brokers[1].port, f"p{this.number}")
    if not wait_until(lambda: producer.begin(1000) == OK, 20, every=0.5):
        raise KwalkError("InitProducerId was not answered with NONE within 20 s.")
    if not wait_until(lambda: producer.add(first) == OK, 20, every=0.2):
        raise KwalkError("AddPartitionsToTxn was not answered with NONE within 20 s.")
    aborted = f"Completed rollback .*{producer.identity} due to timeout"
    if not wait_until(lambda: this.lines("server", aborted), 90):
        raise KwalkError("The transaction was not aborted within 90 s.")
    time.sleep(1)
    added = producer.add(second)
    ended = producer.end() if added == OK else ""
    lab.note(f"after the abort, AddPartitionsToTxn is answered with {added}, EndTxn with {ended or 'nothing'}")
    commits = ended == OK
    outcome = "the rest is committed" if commits else f"the producer is answered {ended or added}"
    return RoundOutcome(outcome, commits, {"AddPartitionsToTxn": added, "EndTxn": ended})


def _load_as_a_session_expires(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Have a broker coordinate while it connects to ZooKeeper again; its session then expires."""
    leader, _ = _coordinator(lab, 2)
    follower = next(int(number) for number in lab.states(STATES)[0]["isr"] if int(number) != leader)
    third = next(number for number in lab.brokers if number not in (leader, follower))
    lab.move_controller(third)
    proxy = lab.brokers[follower].to_zookeeper
    session = proxy.session if proxy else None
    if proxy is None or session is None:
        raise KwalkError("The lab has no proxies.")
    hold = lab.rules.hold(matching("CONNECT", broker=follower, direction=None))
    proxy.cut()
    if not lab.rules.wait_for(hold, seconds=10):
        raise KwalkError("The broker has not connected again within 10 s.")
    lab.stop(leader)
    leads = wait_until(lambda: lab.states(STATES)[0]["leader"] == follower, 10)
    time.sleep(1)
    expire(lab.zookeeper_port, session)
    lab.rules.drop(hold)
    producer = TransactionalProducer(lab.brokers[follower].port, f"p{this.number}")
    errors: list[str] = []

    def begins() -> bool:
        errors.append(producer.begin(60_000))
        return errors[-1] == OK

    loads = wait_until(begins, 40, every=1)
    lines = this.lines("server", "Uncaught exception in scheduled task .load-txns", broker=follower)
    lab.note(f"InitProducerId was answered with {sorted(set(errors))}, at last with {errors[-1]}")
    details: dict[str, Any] = {"leads": leads, "answers": errors, "lines": len(lines), "state": lab.states(STATES)}
    details["after a restart"] = loads or _restart_helps(lab, follower, producer.identity)
    outcome = "the coordinator loads" if loads else f"the coordinator answers {errors[-1]}"
    return RoundOutcome(outcome, not loads and bool(lines), details)


def _commit_in_a_transaction(producer: TransactionalProducer, topic: str, offset: int) -> None:
    """Commit an offset for the group g, as soon as the transaction before has ended."""
    if not wait_until(lambda: producer.commit_offset("g", topic, offset) == OK, 20, every=0.001):
        raise KwalkError("No offset could be committed within 20 s.")


def _offset_soon(at: GroupRequests, topic: str, expected: int) -> int:
    """Return the offset of the group g, the expected one if it has that within half a second."""
    wait_until(lambda: at.committed("g", topic)[1] == expected, 0.5, every=0.01)
    return at.committed("g", topic)[1]


def _offsets_of_consecutive_transactions(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Commit an offset in each of many transactions; while one is open, look which one the group has, and abort it."""
    coordinator_of(lab, "g", 1)
    created(lab, this.topic, 1)
    at = GroupRequests(lab.brokers[1].port)

    def has_committed(member: GroupMember) -> bool:
        return wait_until(lambda: at.commit(member, this.topic, 1) == OK, 20, every=0.1)

    if not all(has_committed(GroupMember(f"idle{number}")) for number in range(IDLE_GROUPS)):
        raise KwalkError("OffsetCommit was not answered with NONE within 20 s.")
    producer = begun(lab, f"p{this.number}")
    counts: Counter[str] = Counter()
    last, end = -1, time.monotonic() + CONSECUTIVE_SECONDS
    for offset in range(1, CONSECUTIVE + 1):
        _commit_in_a_transaction(producer, this.topic, offset)
        known = _offset_soon(at, this.topic, last)
        counts["the last" if known == last else "the open" if known == offset else "an earlier"] += 1
        must(producer.end(commits=known != offset), "EndTxn")
        last = offset
        if time.monotonic() > end:
            break
    details: dict[str, Any] = dict(counts)
    lab.note(f"offsets that the group has, by their transactions: {details}")
    is_wrong = counts["the open"] + counts["an earlier"] > 0
    outcome = "the group has offsets of other transactions" if is_wrong else "the group has the last offset"
    return RoundOutcome(outcome, is_wrong, details)


def _place(lab: Lab, topic: str, broker: int) -> None:
    answer = lab.admin().create_topic(topic, {0: [broker]})
    if not (answer.ok and lab.wait_for_leaders(topic) and wait_until(lambda: lab.are_informed(topic), 10)):
        raise KwalkError(f"CreateTopics was answered with {answer}.")


def _controller_is_late(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Hold the broker's requests for producer ids, and start a producer."""
    hold = lab.rules.hold(matching(Api.ALLOCATE_PRODUCER_IDS, broker=1))
    producer = TransactionalProducer(lab.brokers[1].port, f"p{this.number}")
    errors: list[str] = []

    def is_late() -> bool:
        errors.append(producer.begin(60_000))
        return lab.rules.wait_for(hold, seconds=0.1) and len(errors) > 1

    if not wait_until(is_late, 60, every=0.5):
        raise KwalkError("The broker has asked for no producer ids within 60 s.")
    lab.rules.drop(hold)
    given = wait_until(lambda: producer.begin(60_000) == OK, 30, every=0.5)
    lab.note(f"InitProducerId was answered with {errors}; at last with an id: {given}")
    answers = {"answers": errors, "an id at last": given}
    ends = "REQUEST_TIMED_OUT" in errors
    return RoundOutcome("the producer ends" if ends else "the producer asks again", ends, answers)


ATTEMPTS, MANY = 10, 60
PACKAGE = "kafka.coordinator.transaction"
CONSECUTIVE, CONSECUTIVE_SECONDS, IDLE_GROUPS = 200, 60, 500
EXPERIMENTS = (
    Experiment(
        name="offsets-of-consecutive-transactions",
        about="A producer commits an offset in each of many transactions, while the coordinator looks for old offsets.",
        expected="Up to 3.9.0 the group has an earlier offset, or that of the next transaction, which is aborted then.",
        story="coordinator-moves.md",
        run=_offsets_of_consecutive_transactions,
        options=LabOptions(
            brokers=1,
            settings=TRANSACTIONS | {"offsets.topic.num.partitions": 1, "offsets.retention.check.interval.ms": 1},
        ),
        releases=("2.8.2", "3.9.0", "3.9.2"),
        predicted=lambda release: release != "3.9.2",
    ),
    Experiment(
        name="controller-that-is-late",
        about="A broker's requests for producer ids are held; a producer starts.",
        expected="From 3.0 to 3.3.1 it gets REQUEST_TIMED_OUT, which ends it; later it asks again.",
        story="transactional-ids.md",
        run=_controller_is_late,
        options=LabOptions(brokers=1, proxied=True, settings=ONCE | {"request.timeout.ms": 3000}),
        is_ordered=True,
        releases=("3.0.2", "3.3.2", "3.9.0"),
        predicted=lambda release: release == "3.0.2",
    ),
    Experiment(
        name="load-as-a-session-expires",
        about="A broker coordinates transactions as it connects to ZooKeeper again, and its session expires.",
        expected="Since 1.1 its load fails, and it answers COORDINATOR_LOAD_IN_PROGRESS until it is restarted.",
        story="transactional-ids.md",
        run=_load_as_a_session_expires,
        options=LabOptions(proxied=True, settings=TWICE | {"transaction.state.log.min.isr": 1}, old_brokers=True),
        is_ordered=True,
        releases=("1.0.0", "2.8.2", "3.9.0"),
        predicted=lambda release: release != "1.0.0",
    ),
    Experiment(
        name="marker-of-an-earlier-epoch",
        about="Markers are held while the coordinator of their transaction moves away and back; then they are written.",
        expected="Up to 3.7 the transaction is not completed, and its producer begins no other; later it is.",
        story="transactional-ids.md",
        run=_marker_of_an_earlier_epoch,
        options=LabOptions(proxied=True, settings=ONCE),
        is_ordered=True,
        releases=("2.8.2", "3.7.2", "3.9.0"),
        predicted=lambda release: release in ("2.8.2", "3.7.2"),
    ),
    Experiment(
        name="marker-at-a-failed-disk",
        about="The disk of a partition fails as a transaction with it is committed; another broker leads it then.",
        expected="From 1.0 to 2.4 the transaction is not completed, and its producer begins no other; later it is.",
        story="transactional-ids.md",
        run=_marker_at_a_failed_disk,
        options=LabOptions(brokers=2, directories=2, settings=ONCE, old_brokers=True),
        releases=("1.0.0", "2.5.0", "2.8.2"),
        predicted=lambda release: release == "1.0.0",
    ),
    Experiment(
        name="producer-after-a-timeout",
        about="A transaction is aborted after its timeout; its producer adds another partition, and commits.",
        expected="In 0.11.0.0 and 0.11.0.1 the rest is committed; later the producer is fenced.",
        story="transactional-ids.md",
        run=_goes_on_after_a_timeout,
        options=LabOptions(
            brokers=1,
            settings=ONCE | {"transaction.abort.timed.out.transaction.cleanup.interval.ms": 1000},
            old_brokers=True,
        ),
        releases=("0.11.0.1", "1.0.0", "2.8.2"),
        predicted=lambda release: release == "0.11.0.1",
    ),
    Experiment(
        name="completion-beside-a-load",
        about="A transaction is completed while its coordinator loads another partition; a debugger holds the threads.",
        expected="Up to 2.5 the transaction is not completed, and its producer begins no other; later it is.",
        story="transactional-ids.md",
        run=_completion_beside_a_load,
        options=LabOptions(brokers=2, settings=ONCE | {"transaction.state.log.num.partitions": 2}, debugged=True),
        is_ordered=True,
        releases=("2.5.0", "2.8.2"),
        predicted=lambda release: release == "2.5.0",
    ),
    Experiment(
        name="queue-made-twice",
        about="Two transactions end at a time, and both threads make the queue of markers; a debugger holds them.",
        expected="In 0.11.0.0 and 0.11.0.1 one is not completed, and its producer begins no other; later both are.",
        story="transactional-ids.md",
        run=_queue_made_twice,
        options=LabOptions(brokers=1, settings=ONCE, old_brokers=True, debugged=True),
        is_ordered=True,
        releases=("0.11.0.1", "1.0.0"),
        predicted=lambda release: release == "0.11.0.1",
    ),
    Experiment(
        name="id-that-cannot-expire",
        about="A transactional id is to expire while `__transaction_state` lacks a replica.",
        expected="Up to 2.0.0 it cannot be used afterwards: CONCURRENT_TRANSACTIONS; later it can.",
        story="transactional-ids.md",
        run=_id_that_cannot_expire,
        options=LabOptions(brokers=2, settings=EXPIRING, old_brokers=True),
        releases=("1.0.0", "2.5.0"),
        predicted=lambda release: release == "1.0.0",
    ),
    Experiment(
        name="unused-id-keeps-others",
        about="A transactional id is to get its first epoch while `__transaction_state` lacks a replica.",
        expected="Up to 3.4.0 no id of the coordinator expires, and others cannot be used; later they expire.",
        story="transactional-ids.md",
        run=_unused_id_keeps_others,
        options=LabOptions(brokers=2, settings=EXPIRING),
        releases=("2.8.2", "3.3.2", "3.4.1", "3.9.0"),
        predicted=lambda release: release in ("2.8.2", "3.3.2"),
    ),
    Experiment(
        name="many-ids-that-expire",
        about="More transactional ids are to expire at once than a batch has room for.",
        expected="Up to 2.8.0 none expires, also after a restart; later they expire.",
        story="transactional-ids.md",
        run=_many_ids_expire,
        options=LabOptions(brokers=1, settings=SMALL_BATCHES),
        releases=("2.8.0", "2.8.2"),
        predicted=lambda release: release == "2.8.0",
    ),
    Experiment(
        name="fences-that-fail",
        about="A producer starts again and again amid a transaction, while `__transaction_state` lacks a replica.",
        expected="Up to 2.5 each attempt takes an epoch; later two are taken in all.",
        story="transactional-ids.md",
        run=_fences_that_fail,
        options=LabOptions(brokers=2, settings=TWICE),
        releases=("2.5.0", "2.8.2"),
        predicted=lambda release: release == "2.5.0",
    ),
)
