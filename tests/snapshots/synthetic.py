"""Captures that the model itself makes: a walk of the model, written as captures of a real cluster are.

Broker number n is broker n + 1, and the topics are t, u, v … What captures show and no state holds is kept on the way:
how often a topic's znode was written, which controller wrote a partition's state last, and in which leader epochs each
replica has led.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
from attrs import define, field

from kwalk.model.kafka.assignment import assignment
from kwalk.model.kafka.controller.controller_context import EventProgress
from kwalk.model.kafka.snapshots.series import EVENTS, IDLE_TIME
from kwalk.model.kafka.state import Cluster
from kwalk.model.language import ActionInstance, Model, Vector
from kwalk.search.kernel.interface import Kernel
from kwalk.search.kernel.stepping import KernelStepper, PlainStepper

TOPIC = "t"
"""The first topic."""


def topic_name(number: int) -> str:
    """The name of a topic of the model."""
    return "tuvwxyz"[number]


def identity(number: int | None) -> str | None:
    """The real topic id that stands for one of the model's."""
    return None if number is None else f"{chr(ord('A') + number) * 21}g"


@define
class Walk:
    """A behaviour of the model, step by step; `captures` are those taken of it so far. A kernel makes it fast."""

    model: Model
    release: str
    seed: int
    kernel: Kernel | None = None
    stepper: Any = field(init=False)
    vector: Vector = field(init=False)
    writes: dict[int, int] = field(init=False, factory=dict)
    """The versions of the topics' znodes."""
    writers: dict[tuple[int, int], int] = field(init=False, factory=dict)
    """The controller epochs in which the states of partitions were written last."""
    led: dict[tuple[int, int, int], set[int]] = field(init=False, factory=dict)
    """The leader epochs in which replicas have led, by broker, topic and partition."""
    captures: list[bytes] = field(init=False, factory=list)
    taken: list[str] = field(init=False, factory=list)
    random: Random = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.vector, self.random = self.model.initial[0], Random(self.seed)
        self.stepper = KernelStepper(self.model, (), self.kernel) if self.kernel else PlainStepper(self.model, ())

    # Steps.

    def enabled(self, *, system: bool = False) -> list[tuple[ActionInstance, Any]]:
        """What can happen now, and where it leads in the stepper's terms."""
        here = self.stepper.start(self.vector)
        return [(self.model.instances[index], after) for index, after in self.stepper.successors(here, system=system)]

    def take(self, instance: ActionInstance, after: Any) -> None:
        """One step."""
        before = self.model.state(self.vector)
        self.vector = self.vector_of(after)
        self.taken.append(instance.key)
        self._keep_history(before, self.model.state(self.vector), instance.action.name)

    def vector_of(self, state: Any) -> Vector:
        """What the stepper calls a state, as a vector."""
        if self.kernel is None:
            return state
        return tuple(self.kernel.unpack(np.frombuffer(state, np.uint64).reshape(1, -1))[0].tolist())

    def do(self, key: str) -> None:
        """The step of this name, which must be possible."""
        instance = self.model.instance(key)
        after = self.stepper.step(instance.index, self.stepper.start(self.vector))
        assert after is not None, f"{key} is not possible after {self.taken}"
        self.take(instance, after)

    def system_steps(self, *, orderly: bool = False) -> list[tuple[ActionInstance, Any]]:
        """What the system may do next by itself; if orderly, ISRs change only when nothing else is left."""
        steps = [s for s in self.enabled(system=True) if s[0].action.name not in EVENTS]
        first = [s for s in steps if s[0].action.name not in IDLE_TIME] if orderly else ()
        return list(first) or steps

    def rest(self, *, orderly: bool = False) -> None:
        """Let the system do what it does by itself, in any order, until nothing is left; if orderly, ISRs last."""
        while steps := self.system_steps(orderly=orderly):
            self.take(*self.random.choice(steps))

    def _keep_history(self, before: Cluster, now: Cluster, action: str) -> None:
        for topic, (was, znode) in enumerate(zip(before.zookeeper.topics, now.zookeeper.topics, strict=True)):
            if not znode.exists or not was.exists:
                self.writes[topic] = 0
            elif (was.partition_count, was.topic_id, was.assignments) != (
                znode.partition_count,
                znode.topic_id,
                znode.assignments,
            ):
                self.writes[topic] = self.writes.get(topic, -1) + 1
            for p, state in enumerate(znode.states):
                if state != was.states[p]:
                    self.writers[topic, p] = now.zookeeper.controller_epoch
            self._keep_leaders((before, now), topic, action)

    def _keep_leaders(self, states: tuple[Cluster, Cluster], topic: int, action: str) -> None:
        before, now = states
        for b, broker in enumerate(now.brokers):
            for p, replica in enumerate(broker.replicas[topic]):
                removed = action == "remove_metadata_files" and before.brokers[b] != broker
                if removed or (before.replica_of(b, topic, p).on_disk and not replica.on_disk):
                    self.led.pop((b, topic, p), None)
                if replica.is_leader:
                    self.led.setdefault((b, topic, p), set()).add(replica.leader_epoch)

    # Captures.

    def capture(self) -> None:
        """What a capture of the present moment shows."""
        cluster = self.model.state(self.vector)
        with self.model.active():
            shown = {
                "version": self.release.replace(".", ""),
                "controller": _real(cluster.zookeeper.controller),
                "controller_epoch": cluster.zookeeper.controller_epoch,
                "broker_ids": [b + 1 for b in sorted(cluster.zookeeper.broker_ids)],
                "delete_topics": [topic_name(topic) for topic in sorted(cluster.zookeeper.delete_topics)],
                "topics": dict(self._topics(cluster)),
                "brokers": {str(b + 1): self._broker(cluster, b) for b in range(len(cluster.brokers))},
            }
        self.captures.append(json.dumps(shown).encode())

    def _topics(self, cluster: Cluster) -> Iterator[tuple[str, dict[str, Any]]]:
        for topic, znode in enumerate(cluster.zookeeper.topics):
            if not znode.exists:
                continue
            partitions = {
                str(p): [b + 1 for b in assignment(p) if b in znode.assignments[p].replicas]
                for p in range(znode.partition_count)
            }
            shown = identity(znode.topic_id)
            yield (
                topic_name(topic),
                {
                    "znode": {"version": 3 if shown else 1, "partitions": partitions, "topic_id": shown},
                    "topic_id": shown,
                    "version": self.writes[topic],
                    "czxid": 100 * (1 + znode.incarnation),
                    "partition_state": {
                        str(p): {
                            "leader": -1 if s.leader is None else s.leader + 1,
                            "leader_epoch": s.leader_epoch,
                            "isr": [b + 1 for b in sorted(s.isr)],
                            "controller_epoch": self.writers[topic, p],
                        }
                        for p, s in enumerate(znode.states)
                        if s.exists
                    },
                },
            )

    def _broker(self, cluster: Cluster, b: int) -> dict[str, Any]:
        alive = cluster.is_up(b)
        return {
            "alive": alive,
            "dirs": {
                f"{topic_name(topic)}-{p}": self._directory(cluster, (b, topic, p))
                for topic, replicas in enumerate(cluster.brokers[b].replicas)
                for p in range(len(replicas))
                if self._hosts(cluster, (b, topic, p))
            },
            "metadata_cache": self._cache(cluster) if alive else None,
        }

    def _hosts(self, cluster: Cluster, at: tuple[int, int, int]) -> bool:
        """Whether there is a directory; where logs are never deleted it comes with the partition's state."""
        if self.model.binding.flags["stop_replica"]:
            return cluster.replica_of(*at).on_disk
        return cluster.zookeeper.state_of(*at[1:]).exists

    def _directory(self, cluster: Cluster, at: tuple[int, int, int]) -> dict[str, Any]:
        shown = identity(cluster.replica_of(*at).file_topic_id)
        epochs = sorted(self.led.get(at, ()))
        lines = "".join(f"{epoch} 0\n" for epoch in epochs)
        return {
            "partition_metadata": f"version: 0\ntopic_id: {shown}" if shown else None,
            "topic_id": shown,
            "leader_epoch_checkpoint": f"0\n{len(epochs)}\n{lines}" if epochs else "",
        }

    def _cache(self, cluster: Cluster) -> dict[str, Any]:
        active = cluster.zookeeper.controller
        controller = None if active is None else cluster.controller_of(active)
        shown = {}
        if controller and controller.step is EventProgress.IDLE:
            for topic, context in enumerate(controller.topics):
                if context.partition_count:
                    shown[topic_name(topic)] = {"topic_id": identity(context.topic_id), "partitions": {}}
        live = [b + 1 for b in sorted(cluster.zookeeper.broker_ids)]
        return {"brokers": live, "controller": _real(active), "topics": shown}


def _real(broker: int | None) -> int | None:
    return None if broker is None else broker + 1
