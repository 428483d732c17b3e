"""Transactions whose requests come late: what consumers read that read what is committed."""

from __future__ import annotations

from typing import Any

from kwalk.clusters.lab.brokers import Probe, consume, error_name, produce
from kwalk.clusters.lab.cluster import Lab, LabOptions
from kwalk.clusters.lab.experiments.experiment import Experiment, ExperimentRound, RoundOutcome
from kwalk.clusters.lab.experiments.groups import OK, TRANSACTIONS, begun, coordinator_of, created, must
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.proxy import matching
from kwalk.clusters.lab.transactions import TransactionalProducer
from kwalk.clusters.metadata import Api, BrokerConnection
from kwalk.clusters.wire import Reader
from kwalk.model.language import KwalkError


def written(transaction: TransactionalProducer, topic: str, value: str) -> None:
    """Add the topic's partition, once the transaction before has ended, and write a record to it."""
    if not wait_until(lambda: transaction.add(topic) == OK, 10, every=0.1):
        raise KwalkError("AddPartitionsToTxn was not answered with NONE within 10 s.")
    must(transaction.write(topic, value)["error"], "Produce")


def _reads(lab: Lab, topic: str, *, committed: bool = True) -> Probe:
    identity = lab.id_to_fetch(topic)
    return consume(lab.brokers[1].port, topic, 0, topic_id=identity, seconds=0.5, committed=committed)


def _proxied_port(lab: Lab, broker: int) -> int:
    proxy = lab.brokers[broker].from_brokers
    if proxy is None:
        raise KwalkError("The lab has no proxies.")
    return proxy.port


def _ended(reader: Reader) -> str:
    reader.int32()
    return error_name(reader.int16())


def _late_commit_ends_the_next(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Hold a request to commit, send it again, begin the next transaction; the first request comes; abort."""
    topic = this.topic
    created(lab, topic, 1)
    producer = begun(lab, f"p{this.number}")
    written(producer, topic, "first")
    hold = lab.rules.hold(matching(Api.END_TXN, broker=1))
    with BrokerConnection(_proxied_port(lab, 1)) as late:
        late.send(Api.END_TXN, 0, producer.end_body())
        if not lab.rules.wait_for(hold, seconds=5):
            raise KwalkError("The proxy did not get the request within 5 s.")
        must(producer.end(), "EndTxn")
        written(producer, topic, "second")
        before = _reads(lab, topic)
        lab.rules.drop(hold)
        details: dict[str, Any] = {"late EndTxn": _ended(late.receive()), "read before it": before}
    is_read = wait_until(lambda: _reads(lab, topic)["last"] == "second", 10)
    lab.note(f"a consumer gets the second record, which its producer has not committed: {is_read}")
    details |= {"read after it": _reads(lab, topic), "EndTxn that aborts": producer.end(commits=False)}
    is_early = is_read and before["last"] == "first" and details["EndTxn that aborts"] == "INVALID_TXN_STATE"
    return RoundOutcome("the record is read" if is_read else "the record is not read", is_early, details)


def _late_batch_opens_another(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Commit a transaction, and let a batch of it come then; write without transactions, start the producer again."""
    topic = this.topic
    created(lab, topic, 1)
    producer = begun(lab, f"p{this.number}")
    written(producer, topic, "first")
    must(producer.end(), "EndTxn")
    if not wait_until(lambda: _reads(lab, topic)["n"] == 1, 10):
        raise KwalkError("A committed record is not read within 10 s.")
    late = producer.write(topic, "late")
    must(produce(lab.brokers[1].port, topic, 0, "later")["error"], "Produce")
    begun(lab, f"p{this.number}")
    is_read = wait_until(lambda: _reads(lab, topic)["last"] == "later", PATIENCE, every=0.3)
    details = {"late batch": late, "read": _reads(lab, topic), "written": _reads(lab, topic, committed=False)}
    outcome = "readers of committed records go on" if is_read else "readers of committed records stop"
    return RoundOutcome(outcome, late["ok"] and not is_read and details["written"]["last"] == "later", details)


def _connection_is_lost(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Close the connection by which a broker asks about a transaction: as an offset is committed, and as it writes."""
    topic, group = this.topic, f"g{this.number}"
    coordinator_of(lab, group, 1)
    created(lab, topic, 1)
    producer = begun(lab, f"p{this.number}")
    written(producer, topic, "first")
    must(producer.commit_offset(group, topic, 1), "TxnOffsetCommit")
    must(producer.end(), "EndTxn")
    errors = {}
    for what in ("TxnOffsetCommit", "Produce"):
        if not wait_until(lambda: producer.add(topic) == OK, 10, every=0.1):
            raise KwalkError("AddPartitionsToTxn was not answered with NONE within 10 s.")
        cut = lab.rules.cut(matching(Api.ADD_PARTITIONS_TO_TXN, broker=1))
        is_commit = what == "TxnOffsetCommit"
        errors[what] = (
            producer.commit_offset(group, topic, 2) if is_commit else producer.write(topic, "second")["error"]
        )
        lab.rules.drop(cut)
        errors[f"{what}, again"] = (
            producer.send_offset(group, topic, 2) if is_commit else producer.write(topic, "second")["error"]
        )
    errors["EndTxn"] = producer.end()
    lab.note(f"answers: {errors}")
    outcome = f"TxnOffsetCommit is answered with {errors['TxnOffsetCommit']}"
    return RoundOutcome(outcome, errors["TxnOffsetCommit"] == "NETWORK_EXCEPTION", errors)


PATIENCE = 10.0
"""Seconds in which a reader gets a record, unless a transaction is open before it."""
EXPERIMENTS = (
    Experiment(
        name="commit-as-a-connection-is-lost",
        about="The connection is closed by which a broker verifies a transaction, as an offset is committed in it.",
        expected="In 3.7.0 the producer gets NETWORK_EXCEPTION, at which it gives up; later it tries again.",
        story="committed-offsets.md",
        run=_connection_is_lost,
        options=LabOptions(brokers=1, proxied=True, settings=TRANSACTIONS),
        is_ordered=True,
        releases=("3.6.2", "3.7.0", "3.7.2", "3.9.0"),
        predicted=lambda release: release == "3.7.0",
    ),
    Experiment(
        name="batch-that-comes-late",
        about="A batch comes when its transaction has ended; others write, and the producer starts again.",
        expected="Before 3.6 it begins a transaction that never ends: readers of committed records stop; later not.",
        story="producer-state.md",
        run=_late_batch_opens_another,
        options=LabOptions(brokers=1, settings=TRANSACTIONS),
        is_ordered=True,
        releases=("2.8.2", "3.4.1", "3.6.2", "3.9.0"),
        predicted=lambda release: release in ("2.8.2", "3.4.1"),
    ),
    Experiment(
        name="commit-that-comes-late",
        about="A request to commit is held, and sent again; it comes in the next transaction, which then is aborted.",
        expected="It commits what there is of the next transaction, and the producer cannot abort that.",
        story="answers.md",
        run=_late_commit_ends_the_next,
        options=LabOptions(brokers=1, proxied=True, settings=TRANSACTIONS),
        is_ordered=True,
        predicted=lambda release: True,
    ),
)
