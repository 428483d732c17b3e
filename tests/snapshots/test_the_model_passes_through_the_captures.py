"""From one capture, the model's own steps lead to what the next capture of the same cluster shows.

Compared is what a capture shows of the partitions that both have in focus: who leads, the ISR, and the ids on disk.
"""

from __future__ import annotations

import pytest
from attrs import evolve

from kwalk.invariants.reading.outlook import read_snapshot
from kwalk.invariants.stories.expansion import OLD_CLIENT_EXPANSION
from kwalk.model.kafka.snapshots.capture import read_capture
from kwalk.model.language import Model, StepResult, Vector
from tests.snapshots.captured import FILES

SERIES = {
    "2.8.2, aged topic: the failover mints a second id": (
        "scenario-01-05-produce-consume",
        ("delete_controller()", "reelect(1)"),
        "scenario-01-06-delete-controller",
    ),
    "2.8.2, fresh topic: all take the second id": (
        "scenario-01-exact-05-produce-consume",
        ("delete_controller()", "reelect(0)"),
        "scenario-01-exact-06-delete-controller",
    ),
    "3.9.0: the failover mints a second id": (
        "scenario-06-05-produce-consume",
        ("delete_controller()", "reelect(2)"),
        "scenario-06-06-delete-controller",
    ),
    "2.8.2, fresh topic: the first failover brings files": (
        "scenario-01-01-old-create",
        ("delete_controller()", "reelect(0)"),
        "scenario-01-01b-aged-by-failover",
    ),
    "2.8.2: broker 1 stops, and the others refuse the new leader epoch": (
        "scenario-01-07-produce-consume",
        ("stop(0, 1)",),
        "scenario-01-08a-broker1-stopped",
    ),
    "2.8.2: broker 3 stops where all agree": (
        "scenario-01-exact-07-produce-consume",
        ("stop(1, 0)",),
        "scenario-01-exact-08a-broker2-stopped",
    ),
    "3.9.0: broker 1 stops, and the others refuse the new leader epoch": (
        "scenario-06-07-produce-consume",
        ("stop(0, 2)",),
        "scenario-06-08a-broker1-stopped",
    ),
    "2.8.2: the controller, last in the ISR, stops": (
        "scenario-01-08d-broker3-restarted-12s",
        ("stop(1, 1)", "reelect(2)"),
        "scenario-01-08e-controller2-stopped",
    ),
    "3.9.0: the controller, last in the ISR, stops": (
        "scenario-06-08d-broker2-restarted-12s",
        ("stop(2, 2)", "reelect(0)"),
        "scenario-06-08e-controller3-stopped",
    ),
    "2.8.2: the last in the ISR comes back, leads by ZooKeeper, and does not lead": (
        "scenario-01-08e-controller2-stopped",
        ("restart(1)",),
        "scenario-01-08f-controller2-restarted-12s",
    ),
    "3.9.0: the last in the ISR comes back, leads by ZooKeeper, and does not lead": (
        "scenario-06-08e-controller3-stopped",
        ("restart(2)",),
        "scenario-06-08f-controller3-restarted-12s",
    ),
    "2.8.2: another failover heals nothing": (
        "scenario-01-08f-controller2-restarted-12s",
        ("delete_controller()", "reelect(1)"),
        "scenario-01-08g-controller-failover-again",
    ),
}
REBALANCED = {"scenario-01-08f-controller2-restarted-12s"}
"""Where the automatic preferred-leader election had moved leaders by the time of the capture."""


def model_from(name: str, **flags: object) -> Model:
    reading = read_snapshot(FILES[name])
    begun = OLD_CLIENT_EXPANSION.starting_from(reading)
    as_in_reality = {**begun.flags, "isr_changes": "between requests", **flags}
    return Model(evolve(begun, flags=as_in_reality), reading.variant, {"failovers": 1})


def after(model: Model, doings: tuple[str, ...]) -> Vector:
    """The quiescent state after some steps, which are taken in order; no stopped broker starts again unless listed."""
    vector = model.initial[0]
    for key in doings:
        outcome = model.attempt(model.instance(key), vector)
        assert outcome.result is StepResult.DONE, key
        vector = outcome.after
    system = [i for i in model.instances if i.action.by.system and i.action.name != "restart"]
    for _ in range(100):
        done = (model.attempt(instance, vector).after for instance in system)
        vector, before = next((state for state in done if state is not None), None), vector
        if vector is None:
            return before
    raise AssertionError("the cluster does not come to rest")


def seen(model: Model, vector: Vector) -> dict[str, object]:
    """What a capture would show; ids by whether they are ZooKeeper's, as the names of minted ones differ."""
    cluster, shown = model.state(vector), {}
    topic = cluster.zookeeper.topics[0]
    shown["controller"] = cluster.zookeeper.controller
    shown["up"] = cluster.zookeeper.broker_ids
    for p, state in enumerate(topic.states):
        shown[f"leader of {p}"] = state.leader
        shown[f"ISR of {p}"] = state.isr
        files = [broker.replicas[0][p].file_topic_id for broker in cluster.brokers]
        shown[f"files of {p}"] = [file if file is None else file == topic.topic_id for file in files]
        led = [b for b, broker in enumerate(cluster.brokers) if leads(broker.replicas[0][p], state, b)]
        shown[f"working leader of {p}"] = led
    return shown


def leads(replica, state, broker: int) -> bool:
    return replica.is_leader and state.leader == broker and replica.leader_epoch == state.leader_epoch


@pytest.mark.parametrize("start, doings, end", SERIES.values(), ids=SERIES)
def test_the_model_goes_from_one_capture_to_the_next(start: str, doings: tuple[str, ...], end: str) -> None:
    model, wanted = model_from(start, preferred_election=end in REBALANCED), model_from(end)
    assert model.scenario.labels["partitions"] == wanted.scenario.labels["partitions"]
    assert seen(model, after(model, doings)) == seen(wanted, wanted.initial[0])


def test_the_pairs_are_of_one_cluster_each() -> None:
    for start, _, end in SERIES.values():
        one, other = read_capture(FILES[start]), read_capture(FILES[end])
        assert one.version == other.version
        assert one.topics["t"].partitions == other.topics["t"].partitions
