"""The model passes through the states that real clusters were seen in, step by step.

Compared are, for every partition, leader, ISR, leader epoch and each broker's partition.metadata; the znode's topic id;
the controller and its epoch. Of a series' numbers only the order of a new controller's election is taken.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kwalk.model.kafka.assignment import code_of
from tests.kafka.schedule import Schedule, model_of

CAPTURES = Path(__file__).resolve().parents[1] / "captures"

AGED_2_8_2 = (
    ("create", "01-01-old-create"),
    ("delete /controller", "01-01b-aged-by-failover"),
    (None, "01-03-produce-consume"),
    ("alter", "01-04-old-alter"),
    (None, "01-05-produce-consume"),
    ("delete /controller", "01-06-delete-controller"),
    (None, "01-07-produce-consume"),
    ("stop 1", "01-08a-broker1-stopped"),
    ("start 1", "01-08b-broker1-restarted-4s"),
    (None, "01-08c-broker1-restarted-14s"),
    ("stop 3, start 3", "01-08d-broker3-restarted-12s"),
    ("stop 2", "01-08e-controller2-stopped"),
    ("start 2, preferred election", "01-08f-controller2-restarted-12s"),
    ("delete /controller", "01-08g-controller-failover-again"),
)
FRESH_2_8_2 = (
    ("create", "01-exact-01-old-create"),
    (None, "01-exact-02-03-produce-consume"),
    ("alter", "01-exact-04a-old-alter-immediately"),
    (None, "01-exact-04-old-alter"),
    (None, "01-exact-05-produce-consume"),
    ("delete /controller", "01-exact-06-delete-controller"),
    (None, "01-exact-07-produce-consume"),
    ("stop 2", "01-exact-08a-broker2-stopped"),
    ("start 2", "01-exact-08b-broker2-restarted-5s"),
    (None, "01-exact-08c-broker2-restarted-15s"),
    ("stop 3, start 3", "01-exact-08d-broker3-restarted-12s"),
    ("stop 1", "01-exact-08e-controller1-stopped"),
    ("start 1", "01-exact-08f-controller1-restarted-12s"),
)
FRESH_3_9_0 = (
    ("create", "06-01-old-create"),
    (None, "06-03-produce-consume"),
    ("alter", "06-04-old-alter"),
    (None, "06-05-produce-consume"),
    ("delete /controller", "06-06-delete-controller"),
    (None, "06-07-produce-consume"),
    ("stop 1", "06-08a-broker1-stopped"),
    ("start 1", "06-08b-broker1-restarted-4s"),
    (None, "06-08c-broker1-restarted-14s"),
    ("stop 2, start 2", "06-08d-broker2-restarted-12s"),
    ("stop 3", "06-08e-controller3-stopped"),
    ("start 3", "06-08f-controller3-restarted-12s"),
    ("delete /controller", "06-08g-controller-failover-again"),
)


class Replay:
    """A series of captures beside a schedule of the model that does the same things."""

    def __init__(self, variant: str, names: list[str]) -> None:
        self.captures = [json.loads((CAPTURES / f"scenario-{name}.json").read_text()) for name in names]
        first = self.captures[0]["broker_ids"].index(self.captures[0]["controller"])
        self.brokers = [*self.captures[0]["broker_ids"][first:], *self.captures[0]["broker_ids"][:first]]
        replicas = self.captures[-1]["topics"]["t"]["znode"]["partitions"]
        orders = [[self.number(b) for b in replicas[str(p)]] for p in range(len(replicas))]
        self.schedule = Schedule(
            model_of(
                variant,
                flags={"preferred_election": True},
                partitions=len(orders),
                created_partitions=len(self.captures[0]["topics"]["t"]["znode"]["partitions"]),
                replica_orders=code_of(orders),
            )
        )
        self.ids: list[str] = []

    def number(self, broker: int) -> int | None:
        """The model's number of a broker; -1 is none."""
        return None if broker == -1 else self.brokers.index(broker)

    def act(self, what: str, winner: int) -> None:
        """Do what was done to the real cluster; `winner` is who is controller afterwards."""
        active = self.schedule.cluster.zookeeper.controller
        verb, _, target = what.partition(" ")
        next_controller = winner if winner != active or verb == "delete" else None
        if verb == "stop":
            self.schedule.do(f"stop({self.number(int(target))}, {active})", winner=next_controller)
        elif verb == "start":
            self.schedule.restart(self.number(int(target)))
        elif verb == "preferred":
            self.schedule.do(f"auto_preferred_election({active})")
        else:
            keys = {"create": "old_client_creates_topic(0)", "alter": "old_client_adds_partitions(0)"}
            self.schedule.do(keys.get(verb, "delete_controller()"), winner=next_controller)

    def seen(self, capture: dict[str, Any]) -> dict[str, Any]:
        """What a capture shows, in the model's numbers."""
        topic = capture["topics"]["t"]
        shown: dict[str, Any] = {
            "controller": self.number(capture["controller"]),
            "controller epoch": capture["controller_epoch"],
            "znode id": self.identity(topic["topic_id"]),
        }
        for partition, state in topic["partition_state"].items():
            isr = frozenset(self.number(b) for b in state["isr"])
            shown[f"state of {partition}"] = (self.number(state["leader"]), isr, state["leader_epoch"])
            for broker in self.brokers:
                kept = capture["brokers"][str(broker)]["dirs"][f"t-{partition}"]["topic_id"]
                shown[f"file of {partition} at {self.number(broker)}"] = self.identity(kept)
        return shown

    def modelled(self) -> dict[str, Any]:
        """The same of the model's state."""
        cluster = self.schedule.cluster
        topic = cluster.zookeeper.topics[0]
        shown: dict[str, Any] = {
            "controller": cluster.zookeeper.controller,
            "controller epoch": cluster.zookeeper.controller_epoch,
            "znode id": topic.topic_id,
        }
        for partition, state in enumerate(topic.states):
            if state.exists:
                shown[f"state of {partition}"] = (state.leader, state.isr, state.leader_epoch)
                for broker, kept in enumerate(self.schedule.files(partition)):
                    shown[f"file of {partition} at {broker}"] = kept
        return shown

    def identity(self, topic_id: str | None) -> int | None:
        """The model's number of an id: they are counted in the order in which ZooKeeper has them."""
        if topic_id is None:
            return None
        if topic_id not in self.ids:
            self.ids.append(topic_id)
        return self.ids.index(topic_id)


@pytest.mark.parametrize(
    ("variant", "series"),
    [("2.8.2", AGED_2_8_2), ("2.8.2", FRESH_2_8_2), ("3.9.0", FRESH_3_9_0)],
    ids=["2.8.2-aged-topic", "2.8.2-fresh-topic", "3.9.0-fresh-topic"],
)
def test_the_model_passes_through_every_state_that_the_real_cluster_was_captured_in(variant, series):
    replay = Replay(variant, [name for _, name in series])
    for (actions, name), capture in zip(series, replay.captures, strict=True):
        for action in (actions or "").split(", "):
            if action:
                replay.act(action, replay.number(capture["controller"]))
        assert replay.modelled() == replay.seen(capture), name


def test_the_wrong_version_does_not_pass_through_the_captures():
    replay = Replay("3.9.0", [name for _, name in AGED_2_8_2])
    replay.act("create", 0)
    assert replay.modelled() != replay.seen(replay.captures[0])
