"""Kafka's own producers: transactions that lack a record, calls that are repeated, and closes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

from kwalk.clusters.lab.cluster import Lab, LabOptions
from kwalk.clusters.lab.consumers import RealConsumers
from kwalk.clusters.lab.debugger import Debugger
from kwalk.clusters.lab.experiments.consumers import create_topics
from kwalk.clusters.lab.experiments.experiment import Experiment, ExperimentRound, RoundOutcome
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.producers import RealProducers
from kwalk.clusters.lab.zookeeper import create, delete
from kwalk.model.language import KwalkError

SETTINGS = {
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "transaction.state.log.num.partitions": 1,
    "offsets.topic.replication.factor": 1,
    "auto.create.topics.enable": "false",
}
PAGE = "transactional-producers.md"
PATIENCE = {
    "metadata.max.age.ms": 1000,
    "max.block.ms": 20_000,
    "delivery.timeout.ms": 20_000,
    "request.timeout.ms": 5000,
}


def _ready(producers: RealProducers, name: str) -> None:
    """Have a producer get its id, once `__transaction_state` is there."""
    if not wait_until(lambda: producers.tell("init", name) == "ok", 60, every=0.5):
        raise KwalkError("initTransactions did not return within 60 s.")


def _committed_records(lab: Lab) -> int:
    """Return how many records of topic t a consumer with read_committed gets within ten seconds."""
    with RealConsumers(lab, {"group.id": "readers", "isolation.level": "read_committed"}) as group:
        group.add("reader", "t")
        group.poll("reader", 10)
        count = int(group.tell("count", "reader")[1])
    lab.note(f"a consumer with read_committed gets {count} records")
    return count


def _refused_record(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Send a record, and one that is larger than max.request.size; commit; count what consumers get."""
    create_topics(lab, {"t": [1]})
    with RealProducers(lab, {"max.request.size": 2000}) as producers:
        producers.add("p", transactional_id="p")
        _ready(producers, "p")
        producers.must("begin", "p")
        producers.must("send", "p", "t", 0, 100)
        producers.must("send", "p", "t", 0, 5000)
        committed = producers.tell("commit", "p")
        history = producers.history()
    count = _committed_records(lab)
    text = f"the commit returns, with {count} of 2 records" if committed == "ok" else "the commit fails"
    return RoundOutcome(text, committed == "ok", {"commit": committed, "records": count, "history": history})


def _repeated_call(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Have initTransactions and commitTransaction time out while the broker is paused; repeat each when it is not."""
    create_topics(lab, {"t": [1]})
    answers: dict[str, str] = {}
    with RealProducers(lab, {"max.block.ms": 3000}) as producers:
        producers.add("first", transactional_id="first")
        _ready(producers, "first")
        for call in ("init", "commit"):
            name = f"of-{call}"
            producers.add(name, transactional_id=name)
            if call == "commit":
                _ready(producers, name)
                producers.must("begin", name)
                producers.must("send", name, "t", 0, 100)
                time.sleep(3)
            lab.pause(1)
            answers[f"{call}, while the broker is paused"] = producers.tell(call, name)
            lab.resume(1)
            time.sleep(5)
            answers[f"{call}, again"] = producers.tell(call, name)
        history = producers.history()
    refused = [call for call in ("init", "commit") if "Invalid transition" in answers[f"{call}, again"]]
    count = _committed_records(lab)
    text = f"refused: {', '.join(refused)}" if refused else "both return"
    return RoundOutcome(text, len(refused) == 2, {"answers": answers, "committed records": count, "history": history})


def _forced_close(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Close producers by force that have asked for their ids when no broker runs."""
    create_topics(lab, {"t": [1]})
    lab.stop(1)
    answers: dict[str, str] = {}
    with RealProducers(lab, {"max.block.ms": 2000}) as producers:
        producers.add("idempotent", enable_idempotence="true")
        producers.add("transactional", transactional_id="p")
        producers.tell("send", "idempotent", "t", 0, 100)
        producers.tell("start", "transactional", "init")
        time.sleep(3)
        for name in ("idempotent", "transactional"):
            answers[name] = producers.tell("close", name, 2000, 40_000)
        history = producers.history()
    text = "; ".join(f"close of the {name} one {answer}" for name, answer in answers.items())
    return RoundOutcome(text, "waits" in answers.values(), {"answers": answers, "history": history})


def _close_amid_a_transaction(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Close a producer amid its transaction, have another one append, and count what consumers get of both."""
    create_topics(lab, {"t": [1]})
    with RealProducers(lab, {"transaction.timeout.ms": 60_000}) as producers:
        for name in ("closed", "other"):
            producers.add(name, transactional_id=name)
            _ready(producers, name)
            producers.must("begin", name)
            producers.must("send", name, "t", 0, 100)
            time.sleep(2)
            if name == "closed":
                producers.tell("close", name, 30_000, 40_000)
        producers.must("commit", "other")
        time.sleep(5)
        count = _committed_records(lab)
        history = producers.history()
    text = "consumers get the record of the other one" if count else "consumers wait"
    return RoundOutcome(text, not count, {"records": count, "history": history})


def _close_after_a_failed_commit(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Have a commit time out and then a batch, as the broker is paused; close the producer."""
    create_topics(lab, {"t": [1]})
    settings = {"max.block.ms": 3000, "request.timeout.ms": 3000, "delivery.timeout.ms": 8000}
    with RealProducers(lab, settings) as producers:
        producers.add("p", transactional_id="p")
        _ready(producers, "p")
        producers.must("begin", "p")
        producers.must("send", "p", "t", 0, 100)
        time.sleep(2)
        lab.pause(1)
        producers.must("send", "p", "t", 0, 100)
        commit = producers.tell("commit", "p")
        time.sleep(10)
        lab.resume(1)
        time.sleep(2)
        close = producers.tell("close", "p", 3_600_000, 30_000)
        history = producers.history()
    details = {"commit": commit, "close": close, "history": history}
    return RoundOutcome(f"the close {close}", close == "waits", details)


def _offsets_amid_a_load(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Move a group to another broker, whose load a debugger holds; send its offsets by producers of two releases."""
    create_topics(lab, {"t": [1]})
    loads = "kafka.coordinator.group.GroupMetadataManager.loadGroupsAndOffsets"
    with RealProducers(lab, {}, "1.0.0") as old, RealProducers(lab, {}) as own:
        for producers, name in ((old, "old"), (own, "own")):
            producers.add(name, transactional_id=name)
            _ready(producers, name)
            producers.must("begin", name)
            producers.must("offsets", name, "g", "t", 60_000)
            producers.must("commit", name)
        other = 3 - int(lab.states("__consumer_offsets")[0]["leader"])
        plan = {"version": 1, "partitions": [{"topic": "__consumer_offsets", "partition": 0, "replicas": [other]}]}
        with Debugger(lab, other) as debugger:
            debugger.hold(loads)
            lab.zk.do(create("/admin/reassign_partitions", json.dumps(plan).encode()))
            debugger.held(loads)
            for producers, name in ((old, "old"), (own, "own")):
                producers.must("begin", name)
            during = {name: one.tell("offsets", name, "g", "t", 8000) for one, name in ((old, "old"), (own, "own"))}
        time.sleep(8)
        commits = {name: producers.tell("commit", name) for producers, name in ((old, "old"), (own, "own"))}
        history = old.history() + own.history()
    ended = [name for name, answer in commits.items() if answer != "ok"]
    text = f"producers that end: {', '.join(ended) or 'none'}"
    details = {"offsets, during the load": during, "commits": commits, "history": history}
    return RoundOutcome(text, ended == ["old"] and "The coordinator is loading" in during["old"], details)


def _one_request(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Start transactional producers that may have one request in flight, at the only broker."""
    create_topics(lab, {"t": [1]})
    answers: dict[str, str] = {}
    with RealProducers(lab, {"max.block.ms": 10_000, "max.in.flight.requests.per.connection": 1}) as producers:
        producers.add("first", transactional_id="first")
        producers.tell("init", "first")
        time.sleep(5)
        for number in range(10):
            name = f"p{number}"
            producers.add(name, transactional_id=name)
            answers[name] = producers.tell("init", name)
        history = producers.history()
    failed = [name for name, answer in answers.items() if answer != "ok"]
    details = {"answers": answers, "history": history}
    return RoundOutcome(f"{len(failed)} of {len(answers)} do not start", bool(failed), details)


def _raised_epoch(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Have a batch time out, as its leader is paused; write to the partition of another leader then."""
    create_topics(lab, {"t": [1, 2]})
    settings = {"enable.idempotence": "true", "request.timeout.ms": 3000, "delivery.timeout.ms": 6000}
    with RealProducers(lab, settings) as producers:
        producers.add("p")
        for _ in range(3):
            for partition in (0, 1):
                producers.must("send", "p", "t", partition, 100)
            time.sleep(2)
        lab.pause(1)
        producers.must("send", "p", "t", 0, 100)
        time.sleep(10)
        lab.resume(1)
        time.sleep(3)
        producers.must("send", "p", "t", 1, 100)
        time.sleep(5)
        history = producers.history()
    lines = this.lines("server", "Error processing append operation on partition t-1", broker=2)
    text = "the other leader refuses a batch" if lines else "the other leader takes the batch"
    return RoundOutcome(text, bool(lines), {"lines": [str(line) for line in lines], "history": history})


def _after_an_election(lab: Lab, producers: RealProducers) -> None:
    """Have a producer write to partition 0 of topic t before and after its leader, broker 2, is restarted."""
    lab.admin().create_topic("t", {0: [2, 1]})
    lab.wait_for_leaders("t")
    producers.add("p")
    producers.must("send", "p", "t", 0, 100)
    lab.restart(2)
    if not wait_until(lambda: lab.is_in_every_isr(2, "t"), 60):
        raise KwalkError("Broker 2 did not come back into the ISR within 60 s.")
    producers.must("send", "p", "t", 0, 200)
    time.sleep(5)


def _sent_late(lab: Lab, producers: RealProducers) -> RoundOutcome:
    """Have it write again, and another producer; say whether the first one cannot."""
    producers.add("new")
    answers = {name: producers.tell("send", name, "t", 0, 300) for name in ("p", "new")}
    time.sleep(25)
    history = producers.history()
    written = {
        name: any(e.startswith(f"{name} record of 300") and ": offset" in e for e in history) for name in answers
    }
    if not written["new"]:
        raise KwalkError(f"A new producer could not write, either: {history}")
    text = f"the producer {'writes' if written['p'] else 'does not write'}, a new one writes"
    return RoundOutcome(text, not written["p"], {"answers": answers, "history": history, "states": lab.states("t")})


def _recreated_topic(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Delete and create a topic while a producer that has written to it asks for metadata."""
    with RealProducers(lab, PATIENCE) as producers:
        _after_an_election(lab, producers)
        lab.admin().delete_topic("t")
        if not wait_until(lambda: lab.topic("t") is None, 60):
            raise KwalkError("The topic was not deleted within 60 s.")
        time.sleep(5)
        lab.admin().create_topic("t", {0: [2, 1]})
        lab.wait_for_leaders("t")
        return _sent_late(lab, producers)


def _removed_state(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Remove the state of a partition while its brokers are down, and start them."""
    with RealProducers(lab, PATIENCE) as producers:
        _after_an_election(lab, producers)
        for number in (2, 1):
            lab.stop(number)
        lab.zk.do(delete("/brokers/topics/t/partitions/0/state"))
        lab.start(2)
        lab.start(1)
        lab.wait_for_leaders("t")
        return _sent_late(lab, producers)


def _is(*releases: str) -> Callable[[str], bool]:
    return lambda release: release in releases


ONE = LabOptions(brokers=1, settings=SETTINGS)
OLD = LabOptions(brokers=1, settings=SETTINGS, old_brokers=True)
TWO = LabOptions(brokers=2, settings=SETTINGS | {"offsets.topic.num.partitions": 1}, old_brokers=True, debugged=True)
EXPERIMENTS = (
    Experiment(
        name="transaction-with-a-refused-record",
        about="A producer sends two records in a transaction, of which one is too large for it, and commits.",
        expected="Up to 3.1 the commit returns, and consumers get one record; later the commit fails.",
        story=PAGE,
        run=_refused_record,
        options=ONE,
        releases=("2.8.2", "3.0.2", "3.3.2", "3.9.0"),
        predicted=_is("2.8.2", "3.0.2"),
    ),
    Experiment(
        name="call-that-is-repeated",
        about="initTransactions and commitTransaction time out, as the broker is paused, and are called again.",
        expected="From 2.3 to 3.1.0 both end with an error although they were done; later both return.",
        story=PAGE,
        run=_repeated_call,
        options=ONE,
        releases=("2.8.2", "3.0.2", "3.3.2", "3.9.0"),
        predicted=_is("2.8.2", "3.0.2"),
    ),
    Experiment(
        name="producer-closed-without-brokers",
        about="An idempotent and a transactional producer are closed with a timeout while no broker runs.",
        expected="Up to 2.1.0 (transactional: up to 1.1) the close does not return; later it does.",
        story=PAGE,
        run=_forced_close,
        options=OLD,
        releases=("1.0.0", "2.5.0"),
        predicted=_is("1.0.0"),
    ),
    Experiment(
        name="producer-closed-amid-a-transaction",
        about="A producer is closed amid its transaction; another one commits.",
        expected="Up to 2.2 consumers wait for the first one's timeout; later they get the other one's record.",
        story=PAGE,
        run=_close_amid_a_transaction,
        options=OLD,
        releases=("1.0.0", "2.5.0"),
        predicted=_is("1.0.0"),
    ),
    Experiment(
        name="producer-closed-after-a-failed-commit",
        about="A commit times out, and a batch after it; then the producer is closed.",
        expected="From 3.6.0 to 3.7.0 the close does not return; in others it does.",
        story=PAGE,
        run=_close_after_a_failed_commit,
        options=ONE,
        releases=("3.4.1", "3.6.2", "3.9.0"),
        predicted=_is("3.6.2"),
    ),
    Experiment(
        name="offsets-of-a-transaction-amid-a-load",
        about="Producers of 1.0.0 and of the brokers send offsets of a group, whose load a debugger holds.",
        expected="With brokers since 2.0.0 that of 1.0.0 ends; the other one, and both before, wait, and commit.",
        story=PAGE,
        run=_offsets_amid_a_load,
        options=TWO,
        releases=("1.0.0", "2.5.0"),
        predicted=_is("2.5.0"),
        is_ordered=True,
    ),
    Experiment(
        name="producers-with-one-request",
        about="Transactional producers start with max.in.flight.requests.per.connection=1.",
        expected="From 2.3.1 to 2.6 some may not start; in others all do.",
        story=PAGE,
        run=_one_request,
        options=ONE,
        releases=("2.5.0", "2.8.2"),
        predicted=_is("2.5.0"),
    ),
    Experiment(
        name="epoch-of-an-idempotent-producer",
        about="A batch of an idempotent producer times out; it writes to a partition of another leader.",
        expected="From 2.5 to 2.7.0 that one refuses a batch, which is sent again; later it takes it.",
        story=PAGE,
        run=_raised_epoch,
        options=LabOptions(brokers=2, settings=SETTINGS, old_brokers=True),
        releases=("2.5.0", "2.8.2"),
        predicted=_is("2.5.0"),
        is_ordered=True,
    ),
    Experiment(
        name="producer-of-a-recreated-topic",
        about="A topic is deleted and created again; a producer has seen a later leader epoch of it, and its deletion.",
        expected="From 2.4 to 2.8.1, and in 3.0.0, the producer cannot write until it is made anew; later it writes.",
        story="fetches-and-batches.md",
        run=_recreated_topic,
        options=LabOptions(brokers=2, settings=SETTINGS),
        releases=("2.8.0", "2.8.2", "3.0.0", "3.9.0"),
        predicted=_is("2.8.0", "3.0.0"),
    ),
    Experiment(
        name="producer-of-a-removed-state",
        about="The state znode of a partition is removed while its brokers are down, and a producer waits for them.",
        expected="From 2.4 on the producer cannot write until it is made anew: the leader epoch is lower than before.",
        story="fetches-and-batches.md",
        run=_removed_state,
        options=LabOptions(brokers=2, settings=SETTINGS),
        releases=("2.8.2", "3.9.0"),
        predicted=_is("2.8.2", "3.9.0"),
    ),
)
