"""Walks of the model that leave the lines which real brokers log about such steps, with times.

A line comes after its step, and after the lines of its thread before it; how much later is random. Lines may be lost.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from attrs import define, field

from kwalk.model.kafka.controller.controller_context import BrokerRegistration, EventKind
from kwalk.model.kafka.requests import RequestKind
from kwalk.model.kafka.state import Cluster
from kwalk.model.language import ActionInstance
from tests.snapshots.synthetic import TOPIC, Walk, identity

STEP, REST, LATE = 0.02, 3.0, 0.2
"""Seconds between two steps, around a snapshot, and by which a line may come after its step."""
CONTROLLER, STATES, SERVER = "controller", "state-change", "server"


def stamp(moment: float) -> datetime:
    """The time of a moment of a walk."""
    return datetime.fromtimestamp(1_800_000_000 + moment, UTC)


@define
class LoggedWalk(Walk):
    """A walk with the lines of every broker's logs; `lost` is the chance that a line is missing."""

    lost: float = 0.0
    now: float = 0.0
    lines: list[tuple[int, str, float, str]] = field(factory=list)
    """The broker, the file, the time and the text of each line."""
    last: dict[tuple[int, str], float] = field(factory=dict)
    elected: dict[int, int] = field(factory=lambda: {1: 0})
    """The controllers by their controller epochs."""
    changing: set[int] = field(factory=set)
    """The controllers in the middle of a BrokerChange that they have logged."""

    def take(self, instance: ActionInstance, after: Any) -> None:
        """One step, with its lines."""
        before = self.model.state(self.vector)
        super().take(instance, after)
        self.now += STEP
        given = {p.name: v for p, v in zip(instance.action.parameters, instance.args, strict=True)}
        with self.model.active():
            _Lines(self, before, self.model.state(self.vector)).write(instance.action.name, given)

    def log(self, broker: int, file: str, text: str) -> None:
        """Write a line some time after now, in the order of its file."""
        moment = max(self.now + LATE * self.random.random(), self.last.get((broker, file), 0.0))
        self.last[broker, file] = moment
        if self.random.random() >= self.lost:
            self.lines.append((broker, file, moment, text))

    def capture(self) -> None:
        """A capture with its time."""
        self.now += REST
        super().capture()
        document = json.loads(self.captures[-1])
        document["taken"] = {"began": stamp(self.now).isoformat(), "ended": stamp(self.now + 0.1).isoformat()}
        self.captures[-1] = json.dumps(document).encode()
        self.now += REST

    def save(self, folder: Path) -> Path:
        """Write the logs into a folder, each broker's in a folder of its own."""
        for broker, file, moment, text in self.lines:
            path = folder / f"broker-{broker + 1}" / f"{file}.log"
            path.parent.mkdir(parents=True, exist_ok=True)
            when = stamp(moment).strftime("%Y-%m-%d %H:%M:%S,%f")[:-3]
            with path.open("a", encoding="utf-8") as out:
                out.write(f"[{when}] INFO {text}\n")
        return folder


class _Lines:
    """The lines about one step."""

    def __init__(self, walk: LoggedWalk, before: Cluster, after: Cluster) -> None:
        self.walk, self.before, self.after = walk, before, after

    def write(self, action: str, given: dict[str, Any]) -> None:
        """Write them."""
        if "broker" in given:
            broker: int = given["broker"]
            about = getattr(self, f"_{action}", None)
            if about is not None:
                about(broker)
            if self._epoch(broker) > self.before.controller_of(broker).epoch:
                self.walk.elected[self._epoch(broker)] = broker
                self._control(
                    broker,
                    f"{broker + 1} successfully elected as the controller. Epoch incremented to "
                    f"{self._epoch(broker)} and epoch zk version is now {self._epoch(broker)}",
                )
        writer = given.get("controller", given.get("broker"))
        if writer is not None and action not in ("shrink_isr", "expand_isr"):
            self._states(writer)

    def _epoch(self, broker: int) -> int:
        return self.after.controller_of(broker).epoch

    def _control(self, broker: int, text: str) -> None:
        self.walk.log(broker, CONTROLLER, f"[Controller id={broker + 1}] {text} (kafka.controller.KafkaController)")

    def _states(self, broker: int) -> None:
        """The state machines log what they write."""
        epoch = self.before.controller_of(broker).epoch or self._epoch(broker)
        before, after = self.before.zookeeper.topics[0].states, self.after.zookeeper.topics[0].states
        for number, (was, now) in enumerate(zip(before, after, strict=True)):
            if not now.exists or (was.leader_epoch == now.leader_epoch and was.exists):
                continue
            isr, known = ", ".join(str(b + 1) for b in sorted(now.isr)), now.leader is not None
            origin = f"[Controller id={broker + 1} epoch={epoch}]"
            old = "OnlinePartition" if was.exists else "NewPartition"
            text = (
                f"{origin} Changed partition {TOPIC}-{number} from {old} to OnlinePartition with state LeaderAndIsr("
                f"leader={now.leader + 1}, leaderEpoch={now.leader_epoch}, isr=List({isr}), zkVersion=1)"
                if known and was.leader != now.leader
                else f"{origin} Partition {TOPIC}-{number} state changed to (Leader:{now.leader + 1 if known else -1},"
                f"ISR:{isr},LeaderEpoch:{now.leader_epoch},ZkVersion:1,ControllerEpoch:{epoch}) after removing replica "
                "1 from the ISR as part of transition to OfflineReplica"
            )
            self.walk.log(broker, STATES, f"{text} (state.change.logger)")

    # The controller.

    def _failover_sends_requests(self, broker: int) -> None:
        self._control(broker, f"Ready to serve as the new controller with epoch {self._epoch(broker)}")

    def _topic_change(self, broker: int) -> None:
        context = self.after.controller_of(broker).topics[0]
        if 0 in self.after.controller_of(broker).new_topics:
            read = f"Some({identity(context.topic_id)})" if context.topic_id is not None else "None"
            parts = ", ".join(f"{TOPIC}-{p} -> ReplicaAssignment(replicas=1)" for p in sorted(context.partitions))
            self._control(
                broker,
                f"New topics: [Set({TOPIC})], deleted topics: [HashSet()], new partition replica "
                f"assignment [Set(TopicIdReplicaAssignment({TOPIC},{read},Map({parts})))]",
            )

    def _partition_modifications(self, broker: int) -> None:
        was, now = (c.controller_of(broker).topics[0].partition_count for c in (self.before, self.after))
        if now > was:
            parts = ", ".join(f"{TOPIC}-{p} -> ReplicaAssignment(replicas=1)" for p in range(was, now))
            self._control(broker, f"New partitions to be added HashMap({parts})")

    def _broker_startup(self, broker: int) -> None:
        """One event: new and bounced brokers, and those that are gone; it is logged once."""
        controller = self.before.controller_of(broker)
        if not controller.is_active:
            return
        known, still = controller.registrations, self.after.controller_of(broker)
        if broker not in self.walk.changing:
            new, gone, bounced = [], [], []
            for other, registration in enumerate(known):
                up = self.before.is_registered(other)
                if registration is BrokerRegistration.GONE and up:
                    new.append(str(other + 1))
                elif registration is not BrokerRegistration.GONE and not up:
                    gone.append(str(other + 1))
                elif registration is BrokerRegistration.STALE:
                    bounced.append(str(other + 1))
            self._control(
                broker,
                f"Newly added brokers: {','.join(new)}, deleted brokers: {','.join(gone)}, bounced brokers: "
                f"{','.join(bounced)}, all live brokers: 1,2,3",
            )
        self.walk.changing.discard(broker)
        events = still.events
        if len(events) == len(controller.events) and still.is_at(EventKind.BROKER_CHANGE):
            self.walk.changing.add(broker)

    _broker_failure = _broker_startup

    def _topic_deletion(self, broker: int) -> None:
        if self.after.controller_of(broker).topics[0].to_be_deleted:
            self._control(broker, f"Starting topic deletion for topics {TOPIC}")

    def _complete_deletion_deletes_request(self, broker: int) -> None:
        if 0 not in self.after.zookeeper.delete_topics:
            text = f"[Topic Deletion Manager {broker + 1}] Deletion of topic {TOPIC} successfully completed"
            self.walk.log(broker, CONTROLLER, f"{text} (kafka.controller.TopicDeletionManager)")

    # Brokers.

    def _handle_leader_and_isr(self, broker: int) -> None:
        self._replica(broker, "Handling LeaderAndIsr request correlationId 1 from controller 1 for 1 partitions")
        request = self.before.brokers[broker].requests.headers.head
        for number, (was, now) in enumerate(
            zip(self.before.brokers[broker].replicas[0], self.after.brokers[broker].replicas[0], strict=True)
        ):
            if now.leader_epoch is not None and now.leader_epoch != was.leader_epoch:
                role = "Leader" if now.is_leader else "Follower"
                with_id = f" with topic id {identity(0)}" * (now.is_leader and self.walk.release >= "3")
                self._replica(
                    broker,
                    f"{role} {TOPIC}-{number}{with_id} starts at leader epoch {now.leader_epoch} "
                    "from offset 0 with high watermark 0.",
                )
            wanted = self.before.brokers[broker].requests.partition_states[number].head
            is_refused = wanted is not None and None not in (was.topic_id, request.topic_id)
            if is_refused and was.topic_id != request.topic_id and (was.log_open or self.walk.release >= "3"):
                ids = identity(was.topic_id), identity(request.topic_id)
                new = self.walk.release >= "3"
                name = "ID" if new else "Id"
                given = f"received: {ids[1]}." if new else f"provided in the request: {ids[1]}."
                self._replica(
                    broker,
                    f"Topic {name} in memory: {ids[0]} does not match the topic {name} for partition "
                    f"{TOPIC}-{number} {given}",
                )

        if request.controller_epoch in self.walk.elected:
            sender = self.walk.elected[request.controller_epoch] + 1
            self._replica(
                broker,
                "Add 1 partitions and deleted 0 partitions from metadata cache in response to "
                f"UpdateMetadata request sent by controller {sender} epoch {request.controller_epoch} with "
                "correlation id 7",
            )
        self._directories(broker)

    def _directories(self, broker: int) -> None:
        """The log manager names no broker."""
        if not self.walk.model.binding.flags["stop_replica"]:
            return
        for number, (was, now) in enumerate(
            zip(self.before.brokers[broker].replicas[0], self.after.brokers[broker].replicas[0], strict=True)
        ):
            log, logger = f"{TOPIC}-{number}", "(kafka.log.LogManager)"
            if now.on_disk and not was.on_disk:
                text = f"Created log for partition {log} in /data/{log} with properties {{}}"
                self.walk.log(broker, SERVER, f"{text} {logger}")
            if was.on_disk and not now.on_disk:
                text = f"Log for partition {log} is renamed to /data/{log}.a-delete and is scheduled for deletion"
                self.walk.log(broker, SERVER, f"{text} {logger}")

    def _shrink_isr(self, broker: int) -> None:
        before, after = self.before.zookeeper.topics[0].states, self.after.zookeeper.topics[0].states
        for number, (was, now) in enumerate(zip(before, after, strict=True)):
            if was.isr != now.isr:
                isr = ",".join(str(b + 1) for b in sorted(now.isr))
                version = " and version updated to 1" if self.walk.release >= "3" else "and version updated to [1]"
                leader = now.leader if now.leader is not None else broker
                self.walk.log(
                    leader,
                    SERVER,
                    f"[Partition {TOPIC}-{number} broker={leader + 1}] ISR updated to {isr} "
                    f"{version} (kafka.cluster.Partition)",
                )

    _expand_isr = _shrink_isr

    def _handle_stop_replica(self, broker: int) -> None:
        assert self.before.brokers[broker].requests.headers.head.kind is RequestKind.STOP_REPLICA
        self._directories(broker)
        self._replica(broker, "Handling StopReplica request correlationId 2 from controller 1 for 1 partitions")

    def _replica(self, broker: int, text: str) -> None:
        self.walk.log(broker, STATES, f"[Broker id={broker + 1}] {text} (state.change.logger)")

    def _restart(self, broker: int) -> None:
        self.walk.log(broker, SERVER, "starting (kafka.server.KafkaServer)")
        self.walk.log(broker, SERVER, f"[KafkaServer id={broker + 1}] started (kafka.server.KafkaServer)")

    def _leave(self, broker: int) -> None:
        self.walk.log(broker, SERVER, f"[KafkaServer id={broker + 1}] shut down completed (kafka.server.KafkaServer)")

    def _notice_expiry(self, broker: int) -> None:
        text = "[ZooKeeperClient Kafka server] Session expired. (kafka.zookeeper.ZooKeeperClient)"
        self.walk.log(broker, SERVER, text)
