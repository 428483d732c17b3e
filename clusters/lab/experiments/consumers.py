"""Kafka's own consumers in a group: cooperative rebalances, sticky assignors, and a thread that waits."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from attrs import evolve

from kwalk.clusters.lab.brokers import produce
from kwalk.clusters.lab.cluster import Lab, LabOptions
from kwalk.clusters.lab.consumers import RealConsumers
from kwalk.clusters.lab.experiments.experiment import Experiment, ExperimentRound, RoundOutcome
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.producers import RealProducers
from kwalk.clusters.lab.zookeeper import create
from kwalk.model.language import KwalkError

ASSIGNORS = "org.apache.kafka.clients.consumer."
COOPERATIVE = {"group.id": "g", "partition.assignment.strategy": f"{ASSIGNORS}CooperativeStickyAssignor"}
STICKY = {"group.id": "g", "partition.assignment.strategy": f"{ASSIGNORS}StickyAssignor"}
OFFSETS = {
    "offsets.topic.replication.factor": 1,
    "offsets.topic.num.partitions": 1,
    "group.initial.rebalance.delay.ms": 0,
    "auto.create.topics.enable": "false",
}
PAGE = "consumers-of-a-group.md"


def create_topics(lab: Lab, topics: Mapping[str, Sequence[int]]) -> None:
    """Create topics, each with the brokers of its partitions, and wait for their leaders."""
    for topic, brokers in topics.items():
        if lab.options.old_brokers:
            replicas = ",".join(map(str, brokers))
            lab.tool("1.0.0", "--create", "--topic", topic, "--replica-assignment", replicas)
        else:
            lab.admin().create_topic(topic, {number: [broker] for number, broker in enumerate(brokers)})
        if not lab.wait_for_leaders(topic, len(brokers)):
            raise KwalkError(f"Topic {topic} had no leaders within 20 s.")


def _owners(group: RealConsumers, names: Sequence[str], partition: str) -> list[str]:
    return [name for name in names if partition in group.owned(name)]


def _removed_consumer(lab: Lab) -> tuple[list[str], RoundOutcome]:
    """Have a consumer's callback take longer than max.poll.interval.ms; return who has its other partition later."""
    create_topics(lab, {"t": [1], "u": [1]})
    with RealConsumers(lab, COOPERATIVE | {"session.timeout.ms": 6000, "max.poll.interval.ms": 6000}) as group:
        group.add("a", "t,u", delay_ms=16_000)
        group.tell("start", "a")
        wait_until(lambda: len(group.owned("a")) == 2, 30)
        group.tell("pause", "a")
        group.add("b", "t")
        group.tell("start", "b")
        group.tell("subscribe", "a", "t", 16_000)
        lab.note("consumer a subscribes to t only, and its callback begins")
        group.tell("start", "a")
        wait_until(lambda: "t-0" in group.owned("b"), 30)
        time.sleep(45)
        owners = _owners(group, "ab", "t-0")
        history = group.history()
    details = {"history": history, "owners": owners}
    return owners, RoundOutcome(f"t-0 is consumed by {' and '.join(owners)}", False, details)


def _claim_of_a_removed_consumer(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Look whether both have it."""
    owners, outcome = _removed_consumer(lab)
    return evolve(outcome, seen=len(owners) == 2)


def _removed_consumer_keeps_its_partition(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Look whether the consumer has it that was removed."""
    owners, outcome = _removed_consumer(lab)
    return evolve(outcome, seen="a" in owners)


def _earlier_generation(lab: Lab, effect: str) -> RoundOutcome:
    """Have a consumer miss an assignment, as another one asks for a rebalance; say what becomes of its partition."""
    create_topics(lab, {"t": [1, 1]})
    with RealConsumers(lab, COOPERATIVE | {"session.timeout.ms": 10_000, "heartbeat.interval.ms": 1000}) as group:
        for name, count in (("leader", 2), ("z", 1), ("a", 0)):
            group.add(name, "t", delay_ms=2000)
            group.tell("start", name)
            wait_until(lambda n=name, c=count: len(group.owned(n)) == c, 30)  # type: ignore[misc]
            time.sleep(8)
        for name in ("leader", "z", "a"):
            group.tell("pause", name)
        missed = group.owned("z")
        lab.note("the leader asks for a rebalance; consumer z sends JoinGroup, and does not look at the answer")
        group.tell("rejoin", "leader")
        group.poll("leader", 0.3)
        time.sleep(2)
        group.poll("z", 0.3)
        for name in ("leader", "a"):
            group.tell("start", name)
        time.sleep(3)
        group.tell("pause", "leader")
        lab.note("the leader asks for another one, and then consumer z polls again")
        group.tell("rejoin", "leader")
        group.poll("leader", 0.3)
        for name in ("z", "leader"):
            group.tell("start", name)
        time.sleep(8)
        history = group.history()
    what = outcome_of_partition(history, *missed)
    return RoundOutcome(f"its partition is {what}", what == effect, {"history": history})


def outcome_of_partition(history: list[str], partition: str) -> str:
    """Return what has happened to a partition of consumer z: `refused`, `lost`, `taken` before it was revoked, `kept`.

    Args:
        history: What has happened to the consumers, in order.
        partition: Its name.
    """
    later = history[history.index(f"z gets {partition}") + 1 :]
    if any("IllegalStateException" in event for event in later):
        return "refused"
    if f"z loses {partition}" in later:
        return "lost"
    taken = f"a gets {partition}"
    return "taken" if taken in later and f"z revokes {partition}" not in later[: later.index(taken)] else "kept"


def _refused(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    return _earlier_generation(lab, "refused")


def _taken(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    return _earlier_generation(lab, "taken")


def _deleted_topic(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Delete a topic to which a consumer with the sticky assignor has subscribed; another one joins then."""
    create_topics(lab, {"t": [1], "u": [1]})
    with RealConsumers(lab, STICKY | {"metadata.max.age.ms": 1000}) as group:
        group.add("a", "t,u")
        group.tell("start", "a")
        wait_until(lambda: len(group.owned("a")) == 2, 30)
        lab.tool("1.0.0", "--delete", "--topic", "u")
        time.sleep(10)
        history = group.history()
    failed = any("NullPointerException" in event for event in history)
    return RoundOutcome("the consumer ends" if failed else "t is assigned", failed, {"history": history})


def _two_topics(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Have a consumer with all partitions of two topics, and another one join."""
    create_topics(lab, {"t": [1] * 4, "u": [1] * 4})
    with RealConsumers(lab, COOPERATIVE) as group:
        for name, count in (("a", 8), ("b", 4)):
            group.add(name, "t,u")
            group.tell("start", name)
            wait_until(lambda n=name, c=count: len(group.owned(n)) == c, 40)  # type: ignore[misc]
        time.sleep(3)
        owned = {name: group.owned(name) for name in "ab"}
        history = group.history()
    of_one = {name: sum(partition.startswith("t") for partition in owned[name]) for name in "ab"}
    text = "; ".join(f"{name} has {count} of t and {len(owned[name]) - count} of u" for name, count in of_one.items())
    return RoundOutcome(text, set(of_one.values()) != {2}, {"owned": owned, "history": history})


def _racks(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Have four consumers in two racks join together, where four of five partitions are in one of these."""
    create_topics(lab, {"t": [1, 1, 1, 1, 2]})
    with RealConsumers(lab, COOPERATIVE) as group:
        names = ("a", "b", "c", "d")
        for name in names:
            group.add(name, "t", client_rack="z" if name in "cd" else "x")
            group.tell("start", name)
        time.sleep(20)
        owned = {name: group.owned(name) for name in names}
        history = group.history()
    failed = any("IllegalStateException" in event for event in history)
    text = "the assignment fails" if failed else f"{sorted(map(len, owned.values()))} partitions"
    return RoundOutcome(text, failed, {"owned": owned, "history": history})


def _rack_of_another(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Move a partition to the rack of another consumer, and look whether that gets it before it is revoked."""
    create_topics(lab, {"t": [1, 1]})
    with RealConsumers(lab, COOPERATIVE | {"metadata.max.age.ms": 2000}) as group:
        for name, rack in (("a", "x"), ("b", "y")):
            group.add(name, "t", delay_ms=4000 if name == "a" else 0, client_rack=rack)
            group.tell("start", name)
        wait_until(lambda: all(len(group.owned(name)) == 1 for name in "ab"), 40)
        time.sleep(4)
        (partition,) = group.owned("a")
        number = int(partition[-1])
        plan = {"version": 1, "partitions": [{"topic": "t", "partition": number, "replicas": [2]}]}
        lab.zk.do(create("/admin/reassign_partitions", json.dumps(plan).encode()))
        wait_until(lambda: partition in group.owned("b"), 60)
        time.sleep(5)
        history = group.history()
    later = history[history.index(f"a gets {partition}") + 1 :]
    moved = f"b gets {partition}" in later
    early = moved and f"a revokes {partition}" not in later[: later.index(f"b gets {partition}")]
    text = "both have it for a while" if early else "it is revoked first" if moved else "it stays"
    return RoundOutcome(text, early, {"history": history})


def _leaves_amid_a_join(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Have a consumer's join answered while it asks for offsets; it polls again after max.poll.interval.ms."""
    create_topics(lab, {"t": [1, 1], "u": [1]})
    with RealConsumers(lab, {"group.id": "g", "session.timeout.ms": 6000, "heartbeat.interval.ms": 1000}) as group:
        for name, settings in (("b", {}), ("a", {"max_poll_interval_ms": 8000})):
            group.add(name, "t", **settings)
            group.tell("start", name)
            time.sleep(6)
        wait_until(lambda: len(group.owned("a")) == 1, 30)
        group.tell("pause", "b")
        group.tell("pause", "a")
        group.tell("subscribe", "a", "t,u", 0)
        group.tell("start", "a")
        time.sleep(3)
        lab.note("consumer a has sent JoinGroup, and is woken")
        group.tell("wakeup", "a")
        group.tell("pause", "a")
        group.tell("start", "b")
        for _ in range(8):
            time.sleep(0.5)
            group.tell("ends", "a", "t")
            group.tell("pause", "a")
        lab.note("consumer a does not poll")
        time.sleep(12)
        group.tell("poll", "a", 3000)
        history = group.history()
    failed = any("IllegalStateException" in event for event in history)
    return RoundOutcome("its polls fail" if failed else "it joins again", failed, {"history": history})


def _waits(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Stop the process of a broker whose answer a consumer waits for, and look whether its group loses it."""
    create_topics(lab, {"t": [1]})
    settings = {"group.id": "g", "session.timeout.ms": 10_000, "heartbeat.interval.ms": 3000}
    coordinator = None
    with RealConsumers(lab, settings) as group:
        group.add("a", "t")
        group.tell("start", "a")
        wait_until(lambda: group.owned("a") == ["t-0"], 40)
        coordinator = int(lab.states("__consumer_offsets")[0]["leader"])
        other = 3 - coordinator
        create_topics(lab, {"u": [other]})
        group.tell("pause", "a")
        group.tell("ends", "a", "u")  # the first one connects
        time.sleep(2)
        lab.pause(other)
        group.tell("ends", "a", "u")
        time.sleep(25)
        lab.resume(other)
    lines = this.lines("server", "has failed, removing it from the group", broker=coordinator)
    text = "the member is removed" if lines else "the member stays"
    return RoundOutcome(text, bool(lines), {"lines": [str(line) for line in lines]})


def _joins_amid_a_restart(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Restart the only broker while a consumer waits for the answer to its JoinGroup."""
    create_topics(lab, {"t": [1, 1]})
    with RealConsumers(lab, {"group.id": "g", "session.timeout.ms": 20_000, "heartbeat.interval.ms": 1000}) as group:
        for name in ("a", "b"):
            group.add(name, "t")
            group.tell("start", name)
            time.sleep(6)
        wait_until(lambda: all(len(group.owned(name)) == 1 for name in "ab"), 30)
        for name in ("a", "b"):
            group.tell("pause", name)
        group.tell("rejoin", "a")
        group.tell("start", "a")
        time.sleep(3)
        lab.note("consumer a has sent JoinGroup, and waits for consumer b")
        lab.restart(1)
        time.sleep(5)
        group.tell("start", "b")
        time.sleep(40)
        history = group.history()
    lines = this.lines("server", "has failed, removing it from the group", broker=1)
    text = "its earlier member is left over" if lines else "it is the same member"
    return RoundOutcome(text, bool(lines), {"lines": [str(line) for line in lines], "history": history})


def _owns(consumers: RealConsumers, name: str, count: int) -> bool:
    """Whether a consumer owns so many partitions."""
    return len(consumers.owned(name)) == count


def _two_releases(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Have a consumer join whose leader is of the brokers' release, where another one of 2.5.0 has a partition."""
    create_topics(lab, {"t": [1, 1]})
    with RealConsumers(lab, COOPERATIVE) as group, RealConsumers(lab, COOPERATIVE, "2.5.0") as older:
        group.add("leader", "t")
        older.add("z", "t", delay_ms=6000)
        for consumers, name, count in ((group, "leader", 2), (older, "z", 1)):
            consumers.tell("start", name)
            wait_until(partial(_owns, consumers, name, count), 30)
            time.sleep(8)
        (partition,) = older.owned("z")
        lab.note("consumer a joins, of the release of the brokers")
        group.add("a", "t")
        group.tell("start", "a")

        def both_have_it() -> bool:
            return partition in group.owned("a") and partition in older.owned("z")

        early = wait_until(both_have_it, 15, every=0.1)
        time.sleep(10)
        history = group.history() + older.history()
    failed = any("IllegalStateException" in event for event in history)
    text = "the leader ends" if failed else "both have a partition for a while" if early else "each has its own"
    return RoundOutcome(text, failed or early, {"history": history})


def _commits_by_itself(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Restart the only broker twice under a consumer that assigns a partition to itself, and commits."""
    create_topics(lab, {"t": [1]})
    committed: list[int] = []
    settings = {"group.id": "g", "enable.auto.commit": "true", "auto.commit.interval.ms": 500}
    with RealProducers(lab, {}) as producers, RealConsumers(lab, settings) as group:
        producers.add("p")
        for name in ("c", "reader"):
            group.make(name)
        group.tell("assign", "c", "t")
        group.tell("start", "c")

        def offset() -> int:
            return int(group.tell("committed", "reader", "t")[1])

        def is_committed(end: int) -> bool:
            return offset() == end

        for end in (5, 10, 15):
            if committed:
                lab.restart(1)
                time.sleep(5)
            for _ in range(5):
                producers.must("send", "p", "t", 0, 100)
            wait_until(partial(is_committed, end), 30, every=1)
            committed.append(offset())
        group.tell("pause", "c")
        group.tell("commit", "c")
        after = offset()
        history = group.history()
    lab.note(f"after 5, 10 and 15 records {committed} are committed; after commitSync {after}")
    details = {"committed": committed, "after commitSync": after, "history": history}
    return RoundOutcome(f"committed: {committed}; after commitSync {after}", committed[-1] < 15, details)


def _polls_without_a_coordinator(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Have a consumer seek, which assigns a partition to itself and commits nothing, while no coordinator can be had.

    Another consumer, without a group, reads the same records.
    """
    create_topics(lab, {"t": [1]})
    taken: dict[str, float] = {}
    with RealProducers(lab, {}) as producers, RealConsumers(lab, {"enable.auto.commit": "false"}) as group:
        producers.add("p")
        for _ in range(5):
            producers.must("send", "p", "t", 0, 100)
        for name, settings in (("alone", {}), ("named", {"group.id": "g"})):
            group.make(name, **settings)
            group.tell("assign", name, "t")
            group.tell("seek", name, "t", 0, 0)
            began = time.monotonic()
            while int(group.tell("count", name)[1]) < 5 and time.monotonic() < began + 5 * LONG_POLL:
                group.tell("poll", name, int(LONG_POLL * 1000))
            taken[name] = round(time.monotonic() - began, 1)
        history = group.history()
    lab.note(f"seconds until 5 records, by consumer: {taken}")
    text = f"{taken['named']} s until 5 records with a group, {taken['alone']} s without"
    return RoundOutcome(text, taken["named"] > LONG_POLL > taken["alone"], {"seconds": taken, "history": history})


def _subscribes_amid_a_restart(lab: Lab, this: ExperimentRound, consumers: str = "") -> RoundOutcome:
    """Have a consumer subscribe to another topic, and restart the only broker while it waits for the answer."""
    create_topics(lab, {"t": [1, 1], "u": [1]})
    settings = {"group.id": "g", "session.timeout.ms": 20_000, "heartbeat.interval.ms": 1000}
    with RealConsumers(lab, settings, consumers) as group:
        for name in ("a", "b"):
            group.add(name, "t")
            group.tell("start", name)
            time.sleep(6)
        wait_until(lambda: all(len(group.owned(name)) == 1 for name in "ab"), 30)
        for name in ("a", "b"):
            group.tell("pause", name)
        group.tell("subscribe", "b", "t,u", 0)
        group.tell("start", "b")
        time.sleep(3)
        lab.note("consumer b has sent JoinGroup, and waits for consumer a")
        lab.restart(1)
        time.sleep(5)
        group.tell("start", "a")
        joins = wait_until(lambda: "u-0" in group.owned("b"), 60, every=1)
        owned = {name: group.owned(name) for name in "ab"}
        if consumers:
            for number in range(6):
                produce(lab.brokers[1].port, "t", number % 2, f"v{number}")
            time.sleep(10)
        counts = {name: group.tell("count", name)[1] for name in "ab"}
        history = group.history()
    text = "it joins" if joins else f"it has not joined after 60 s; a owns {', '.join(owned['a'])}"
    text += f"; of 6 records a gets {counts['a']}, and it {counts['b']}" if consumers else ""
    return RoundOutcome(text, not joins, {"owned": owned, "counts": counts, "history": history})


def _late_consumer(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Have a consumer with the sticky assignor not poll for max.poll.interval.ms; look who has its partition later."""
    create_topics(lab, {"t": [1]})
    with RealConsumers(lab, STICKY | {"session.timeout.ms": 6000, "max.poll.interval.ms": 6000}) as group:
        for name in ("a", "b"):
            group.add(name, "t")
            group.tell("start", name)
            wait_until(lambda: group.owned("a") == ["t-0"], 30)
            time.sleep(6)
        group.tell("pause", "a")
        wait_until(lambda: group.owned("b") == ["t-0"], 40)
        lab.note("consumer a was removed, and polls again")
        group.tell("start", "a")
        time.sleep(15)
        owners = _owners(group, "ab", "t-0")
        history = group.history()
    details = {"history": history, "owners": owners}
    return RoundOutcome(f"t-0 is consumed by {' and '.join(owners)}", len(owners) == 2, details)


def _topic_of_a_commit(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Delete one of two topics of a consumer with enable.auto.commit; look when it joins, and gets another record."""
    create_topics(lab, {"t": [1], "u": [1]})
    settings = {"group.id": "g", "metadata.max.age.ms": 1000, "max.poll.interval.ms": 40_000}
    with RealConsumers(lab, settings) as group:
        group.add("a", "t,u")
        group.tell("start", "a")
        wait_until(lambda: len(group.owned("a")) == 2, 30)
        time.sleep(10)
        lab.tool("1.0.0", "--delete", "--topic", "u")
        time.sleep(5)

        def reads_on() -> bool:
            produce(lab.brokers[1].port, "t", 0, "v")
            return " ".join(group.tell("history")).count("a gets t-0") == 2 or group.tell("count", "a")[1] != "0"

        early = wait_until(reads_on, 15, every=1)
        late = early or wait_until(reads_on, 60, every=1)
        history = group.history()
    when = "within 20 s" if early else "within 80 s" if late else "not within 80 s"
    return RoundOutcome(f"it joins again, or gets a record, {when}", not early, {"history": history})


def _woken_callback(lab: Lab, *, rebalances: bool = False) -> tuple[list[str], RoundOutcome]:
    """Have a consumer's onPartitionsAssigned end with WakeupException, and poll on; return what happened."""
    create_topics(lab, {"t": [1]})
    with RealConsumers(lab, {"group.id": "g"}) as group:
        group.make("a")
        group.tell("subscribe", "a", "t", 0, "woken")
        for _ in range(3):
            group.tell("start", "a")
            time.sleep(8)
        if rebalances:
            group.add("b", "t")
            group.tell("start", "b")
            time.sleep(20)
        history = group.history()
    gets = "a gets t-0" in history
    others = [event for event in history if "ends with" in event and "WakeupException" not in event]
    empty = "a gets no partition" in history
    called = "the callback is called again" if gets else "the callback is not called again"
    text = "a poll fails" if others else "the callback is called with no partition" if empty else called
    return history, RoundOutcome(text, False, {"history": history})


def _callback_is_not_called_again(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Look whether it is called again."""
    history, outcome = _woken_callback(lab)
    return evolve(outcome, seen="a gets t-0" not in history)


def _poll_fails_after_a_callback(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Look whether a poll fails as the group rebalances then."""
    _, outcome = _woken_callback(lab, rebalances=True)
    return evolve(outcome, seen=outcome.outcome == "a poll fails")


def _subscribes_amid_a_join(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Have a consumer subscribe to another topic while the answer to its JoinGroup is under way."""
    create_topics(lab, {"t": [1], "u": [1]})
    with RealConsumers(lab, {"group.id": "g"}) as group:
        for name in ("first", "a"):  # the first one waits until there is a coordinator
            if name == "a":
                group.tell("pause", "first")
                group.tell("subscribe", "first", "u", 0)
            group.make(name, group_id=name)
            group.tell("subscribe", name, "t", 0)
            group.tell("start", name)
            if name == "first":
                wait_until(partial(_owns, group, name, 1), 40)
        time.sleep(2)
        group.tell("wakeup", "a")
        time.sleep(1)
        group.tell("pause", "a")
        group.tell("subscribe", "a", "u", 0)
        lab.note("consumer a has sent JoinGroup, and subscribes to u")
        group.tell("start", "a")
        time.sleep(20)
        history = group.history()
    failed = any("ends with" in event and "WakeupException" not in event for event in history)
    return RoundOutcome("a poll fails" if failed else "no poll fails", failed, {"history": history})


def _is(*releases: str) -> Callable[[str], bool]:
    return lambda release: release in releases


ONE = LabOptions(brokers=1, settings=OFFSETS)
OLD = LabOptions(brokers=1, settings=OFFSETS, old_brokers=True)
IN_RACKS = LabOptions(
    brokers=2,
    settings=OFFSETS | {"group.initial.rebalance.delay.ms": 4000},
    own_settings={1: {"broker.rack": "x"}, 2: {"broker.rack": "y"}},
)
LONG_POLL = 4.0
"""The seconds of a poll of a consumer that may wait for its coordinator."""
EXPERIMENTS = (
    Experiment(
        name="claim-of-a-removed-consumer",
        about="A callback of a consumer takes longer than max.poll.interval.ms; then it joins again.",
        expected="In 2.8.0 its other partition is consumed by two consumers for good; later by one.",
        story=PAGE,
        run=_claim_of_a_removed_consumer,
        options=ONE,
        releases=("2.8.0", "2.8.2", "3.9.0"),
        predicted=_is("2.8.0"),
    ),
    Experiment(
        name="removed-consumer-keeps-its-partition",
        about="A callback of a consumer takes longer than max.poll.interval.ms; then it joins again.",
        expected="Up to 2.8.0 it keeps its other partition, which another one has by then.",
        story=PAGE,
        run=_removed_consumer_keeps_its_partition,
        options=ONE,
        releases=("2.5.0", "2.8.2"),
        predicted=_is("2.5.0", "2.8.0"),
    ),
    Experiment(
        name="consumer-that-joins-amid-a-restart",
        about="A broker is restarted while a consumer waits for the answer to its JoinGroup.",
        expected="In 2.8.0 its earlier member is left over, until its session ends; later it is the same member.",
        story=PAGE,
        run=_joins_amid_a_restart,
        options=ONE,
        releases=("2.8.0", "2.8.2"),
        predicted=_is("2.8.0"),
    ),
    Experiment(
        name="consumers-of-two-releases",
        about="A consumer joins a group with the cooperative sticky assignor, in which another one is of 2.5.0.",
        expected="From 2.8.1 to 3.4.0 it gets that one's partition before it is revoked, or the leader ends.",
        story=PAGE,
        run=_two_releases,
        options=ONE,
        releases=("2.8.2", "3.0.0", "3.3.2", "3.4.1", "3.9.0"),
        predicted=_is("2.8.2", "3.0.0", "3.3.2"),
    ),
    Experiment(
        name="consumer-that-commits-by-itself",
        about="The coordinator of a consumer that assigns a partition to itself is restarted twice.",
        expected="In 2.8.x to 3.1.0 it commits no more; in others it does.",
        story=PAGE,
        run=_commits_by_itself,
        options=ONE,
        releases=("2.8.2", "3.0.2", "3.3.2"),
        predicted=_is("2.8.2", "3.0.2"),
    ),
    Experiment(
        name="consumer-without-its-coordinator",
        about="A consumer that assigns a partition to itself and commits nothing polls for 4 s; its group has no "
        "coordinator.",
        expected="In 3.1.1 and 3.2.0 each poll takes 4 s; in others it returns as it has records.",
        story=PAGE,
        run=_polls_without_a_coordinator,
        options=evolve(ONE, settings={**OFFSETS, "offsets.topic.replication.factor": 3}),
        releases=("3.0.2", "3.2.0", "3.3.2"),
        predicted=_is("3.2.0"),
    ),
    Experiment(
        name="consumer-that-commits-with-an-old-library",
        about="The coordinator of a consumer that assigns a partition to itself is restarted twice.",
        expected="Up to 1.0 it commits no more; in 2.5.0 it does.",
        story=PAGE,
        run=_commits_by_itself,
        options=OLD,
        releases=("1.0.0", "2.5.0"),
        predicted=_is("1.0.0"),
    ),
    Experiment(
        name="callback-that-is-woken",
        about="onPartitionsAssigned of a consumer is woken, and the consumer polls on.",
        expected="Up to 1.1 the next poll does not call it again; since 2.4 it does, without its partition.",
        story=PAGE,
        run=_callback_is_not_called_again,
        options=OLD,
        releases=("0.10.2.0", "1.0.0", "2.3.0", "2.5.0", "3.9.0"),
        predicted=_is("0.10.2.0", "1.0.0", "2.5.0", "3.9.0"),
    ),
    Experiment(
        name="poll-after-a-callback-that-is-woken",
        about="onPartitionsAssigned of a consumer is woken, the consumer polls on, and another one joins.",
        expected="From 0.11.0.1 to 1.1 a poll fails; later it does not.",
        story=PAGE,
        run=_poll_fails_after_a_callback,
        options=OLD,
        releases=("1.0.0", "2.3.0"),
        predicted=_is("1.0.0"),
    ),
    Experiment(
        name="subscription-amid-a-join",
        about="A consumer subscribes to another topic while it joins.",
        expected="Up to 2.2 its poll fails; later none does.",
        story=PAGE,
        run=_subscribes_amid_a_join,
        options=evolve(OLD, settings=OFFSETS | {"group.initial.rebalance.delay.ms": 6000}),
        releases=("1.0.0", "2.5.0"),
        predicted=_is("1.0.0"),
        is_ordered=True,
    ),
    Experiment(
        name="refused-assignment",
        about="A consumer misses an assignment, as another rebalance begins, and claims its partition of before.",
        expected="In 3.0.0 the leader may end with IllegalStateException.",
        story=PAGE,
        run=_refused,
        options=ONE,
        releases=("3.0.0", "3.9.0"),
        predicted=_is("3.0.0"),
    ),
    Experiment(
        name="assignment-before-a-revocation",
        about="A consumer misses an assignment, as another rebalance begins, and claims its partition of before.",
        expected="In 2.8.2 to 3.4.0, without 3.0.0, 3.3.0 and 3.3.1, another one gets it before it is revoked.",
        story=PAGE,
        run=_taken,
        options=ONE,
        releases=("2.8.2", "3.0.2", "3.3.2", "3.4.1", "3.9.0"),
        predicted=_is("2.8.2", "3.0.2", "3.3.2"),
    ),
    Experiment(
        name="sticky-assignor-and-a-deleted-topic",
        about="A topic is deleted to which a consumer with the sticky assignor has subscribed.",
        expected="Up to 2.2 the consumer ends with NullPointerException.",
        story=PAGE,
        run=_deleted_topic,
        options=OLD,
        releases=("1.0.0", "2.5.0"),
        predicted=_is("1.0.0"),
    ),
    Experiment(
        name="late-consumer-with-the-sticky-assignor",
        about="A consumer does not poll for max.poll.interval.ms, and joins again.",
        expected="Up to 2.2 it and another one have its partition.",
        story=PAGE,
        run=_late_consumer,
        options=OLD,
        releases=("1.0.0", "2.5.0"),
        predicted=_is("1.0.0"),
    ),
    Experiment(
        name="subscription-amid-a-restart",
        about="A consumer subscribes to another topic; the broker is restarted as it waits for the answer.",
        expected="From 0.10.1 to 2.4 it never joins.",
        story=PAGE,
        run=_subscribes_amid_a_restart,
        options=OLD,
        releases=("1.0.0", "2.5.0"),
        predicted=_is("1.0.0"),
    ),
    Experiment(
        name="old-subscription-amid-a-restart",
        about="subscription-amid-a-restart with consumers of 1.0.0 on later brokers; then records are written.",
        expected="It never joins, and gets records that another consumer gets, too.",
        story=PAGE,
        run=partial(_subscribes_amid_a_restart, consumers="1.0.0"),
        options=ONE,
        releases=("2.8.2",),
        predicted=_is("2.8.2"),
    ),
    Experiment(
        name="consumer-of-a-deleted-topic",
        about="A topic is deleted to which a consumer with enable.auto.commit subscribes (max.poll.interval.ms: 40 s).",
        expected="In 2.0 and later but 3.2.0 to 3.2.2 it does not join, and gets no records, for so long.",
        story=PAGE,
        run=_topic_of_a_commit,
        options=OLD,
        releases=("1.0.0", "2.8.2", "3.9.0"),
        predicted=_is("2.8.2", "3.9.0"),
    ),
    Experiment(
        name="consumers-of-two-topics",
        about="A second consumer joins one that consumes two topics.",
        expected="Up to 3.7.0 the partitions of a topic may be of one consumer; later each has half of each topic.",
        story=PAGE,
        run=_two_topics,
        options=ONE,
        releases=("3.6.2", "3.9.0"),
        predicted=_is("3.6.2"),
    ),
    Experiment(
        name="consumers-in-racks",
        about="Four consumers in two racks join, where four of five partitions are in one.",
        expected="In 3.5 to 3.7.0 the leader ends with IllegalStateException.",
        story=PAGE,
        run=_racks,
        options=IN_RACKS,
        releases=("3.6.2", "3.9.0"),
        predicted=_is("3.6.2"),
    ),
    Experiment(
        name="partition-in-another-rack",
        about="A partition moves to the rack of another consumer.",
        expected="In 3.5 to 3.7.0 that gets it before the first one has revoked it.",
        story=PAGE,
        run=_rack_of_another,
        options=IN_RACKS,
        releases=("3.6.2", "3.9.0"),
        predicted=_is("3.6.2"),
    ),
    Experiment(
        name="consumer-that-leaves-amid-a-join",
        about="A consumer's join is answered while it asks for offsets; it does not poll for max.poll.interval.ms.",
        expected="Up to 2.3 its polls fail from then on; later it joins again.",
        story=PAGE,
        run=_leaves_amid_a_join,
        options=OLD,
        releases=("1.0.0", "2.5.0"),
        predicted=_is("1.0.0"),
        is_ordered=True,
    ),
    Experiment(
        name="consumer-that-waits",
        about="A consumer waits for the answer of a broker that is paused, while its coordinator runs.",
        expected="In 1.0.0 it is removed from its group.",
        story=PAGE,
        run=_waits,
        options=LabOptions(brokers=2, settings=OFFSETS, old_brokers=True),
        releases=("1.0.0", "2.5.0"),
        predicted=_is("1.0.0"),
        is_ordered=True,
    ),
)
