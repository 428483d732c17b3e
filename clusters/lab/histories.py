"""Random histories of a cluster: the operations, how they are drawn, and how they are done.

Words: a *history* is a list of operations on one or two topics of fresh names, with a snapshot whenever the cluster is
at rest; it is drawn from a seed.
"""

from __future__ import annotations

import gzip
import json
import random
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import Factory, define, field, frozen

from kwalk.clusters.lab.cluster import LOGS, Lab, serves
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.zookeeper import Write, ZooKeeperError, create, delete, set_data
from kwalk.model.language import KwalkError
from kwalk.search.base.atomic_files import save

OPERATIONS, BROKER_LOGS, ROLLED, SEQUEL = "operations.json", "logs", "rolled.json", "sequel"
"""In the folder of a history: what was done, what the brokers have logged, the snapshot after all brokers were
restarted, and the beginning of the names of those of the sequel."""
REST = 0.8
"""Seconds without a change after which a cluster counts as at rest."""
EARLY_REST, LONGEST_REST = 5.0, 15.0
"""Seconds after which a cluster counts as at rest though a replica is missing, and in any case."""
SLOWNESS = 5
"""How many looks at the cluster `REST` has at least: on a busy machine, where they take long, all times grow."""
MOST_PARTITIONS = 4
CREATION = 5
"""How much more often topics are created while there is none."""
DAMAGE = "Controller moved to another broker when moving|Error while moving"
"""What a controller logs when a change of states ends early. The requests that it has collected stay in its batch, also
when it is elected again, and from then on every change fails: "requests batch is not empty while creating a new one".

Source: ZkReplicaStateMachine.handleStateChanges; AbstractControllerBrokerRequestBatch.newBatch, clear.
"""
LOG_BYTES = 8 << 20
"""How much of each log of a broker is kept with a history, before compression; what is later is left out."""
TOGETHER = 0.3
"""The share of operations that are followed by the next one, without rest and snapshot."""
PAUSE = 3.0
"""For how many seconds a broker is paused."""
ALONE = 0.5
"""The share of sequels in which all other brokers stop first."""
PROBED = 0.7
"""The share of operations after whose snapshot partitions are probed."""
TWO_TOPICS, OLD_CLIENTS, PAUSED = 0.4, 0.5, 0.5
"""The shares of histories with two topics, of those with clients that know no topic ids, and of operations without rest
that are followed by a pause."""
LONGEST_WAIT = 2.0
"""The longest pause between two operations, in seconds."""
PROBE_SECONDS = 1.5
"""How long brokers may wait for the replicas, or for records, when a partition is probed."""


@frozen
class FuzzOperation:
    """What is done, and what follows.

    Args:
        name: Its name in `KINDS`.
        broker: A broker that it may use.
        number: A number that it may use.
        topic: Which topic of the history it is about.
        rests: Whether a rest and a snapshot follow, or else the next operation.
        probes: Whether the partitions are probed after the snapshot: the probe's records show leader epochs in logs.
        waits: Seconds before the next operation if no rest follows.
    """

    name: str
    broker: int = 1
    number: int = 0
    topic: int = 0
    rests: bool = True
    probes: bool = True
    waits: float = 0.0


# Operations.


@define
class FuzzHands:
    """What operations work with: the lab, the topics of the history, and what an operator has noted."""

    lab: Lab
    topic: str
    """The topic of the present operation."""
    marks: Mapping[Path, int] = field(factory=dict)
    """The sizes of the logs at the beginning of the history."""
    topics: tuple[str, ...] = field(default=Factory(lambda self: (self.topic,), takes_self=True))
    """All topics of the history."""
    ids: dict[str, list[str]] = field(factory=dict)
    """The ids that each topic has had in ZooKeeper."""
    down: set[int] = field(factory=set)
    is_unclean: bool = False
    """Whether the cluster must not serve another history."""

    @property
    def path(self) -> str:
        """The topic's znode."""
        return f"/brokers/topics/{self.topic}"

    @property
    def znode(self) -> dict[str, Any]:
        """The content of the topic's znode; empty if there is none."""
        return self.lab.topic(self.topic) or {}

    @property
    def marker(self) -> str:
        """The znode that asks the controller to delete the topic."""
        return f"/admin/delete_topics/{self.topic}"

    def write(self, *writes: Write) -> str:
        """Write to ZooKeeper; return what it answered."""
        try:
            self.lab.zk.do(*writes)
        except ZooKeeperError as error:
            return str(error)
        return "written"


def _replicas(partition: int, factor: int) -> list[int]:
    return [(partition + place) % 3 + 1 for place in range(factor)]


def _drawn(this: FuzzOperation, factor: int) -> dict[int, list[int]]:
    """Return the replicas of one to three partitions; the number and the broker of the operation say in which order."""
    found = {}
    for partition in range(1 + this.number):
        first, *others = _replicas(partition + this.number, factor)
        found[partition] = [first, *(others if this.broker % 2 else reversed(others))]
    return found


def _old_content(partitions: Mapping[str, Any]) -> bytes:
    """Return a topic's znode as clients older than 2.4 write it."""
    return json.dumps({"version": 1, "partitions": partitions}).encode()


def _create_old(hands: FuzzHands, this: FuzzOperation) -> str:
    partitions = {str(partition): replicas for partition, replicas in _drawn(this, 3).items()}
    with suppress(ZooKeeperError):  # the configuration of an earlier topic may still be there
        hands.lab.zk.do(create(f"/config/topics/{hands.topic}", b'{"version":1,"config":{}}'))
    return hands.write(create(hands.path, _old_content(partitions)))


def _create_new(hands: FuzzHands, this: FuzzOperation) -> str:
    return str(hands.lab.admin(milliseconds=3000).create_topic(hands.topic, _drawn(this, 3)))


def _create_two(hands: FuzzHands, this: FuzzOperation) -> str:
    return str(hands.lab.admin(milliseconds=3000).create_topic(hands.topic, {0: _replicas(this.number, 2)}))


def _expand_old(hands: FuzzHands, this: FuzzOperation) -> str:
    known = hands.znode.get("partitions")
    if not known or len(known) >= MOST_PARTITIONS:
        return "not possible"
    more = {**known, str(len(known)): _replicas(len(known), len(known["0"]))}
    return hands.write(set_data(hands.path, _old_content(more)))


def _expand_new(hands: FuzzHands, this: FuzzOperation) -> str:
    known = hands.znode.get("partitions")
    if not known or len(known) >= MOST_PARTITIONS:
        return "not possible"
    added = [_replicas(len(known), len(known["0"]))]
    return str(hands.lab.admin(milliseconds=3000).add_partitions(hands.topic, len(known) + 1, added))


def _delete_topic(hands: FuzzHands, this: FuzzOperation) -> str:
    return str(hands.lab.admin(milliseconds=1500).delete_topic(hands.topic))


def _delete_controller(hands: FuzzHands, this: FuzzOperation) -> str:
    hands.lab.delete_controller()
    return f"controller {hands.lab.controller()}"


def _restart(hands: FuzzHands, this: FuzzOperation) -> str:
    if this.broker in hands.down:
        return _start(hands, this)
    hands.lab.restart(this.broker)
    return "restarted"


def _pause(hands: FuzzHands, this: FuzzOperation) -> str:
    """Pause a broker until others have taken over: it comes back with what it knew before."""
    if not _may_go(hands, this):
        return "not possible"
    hands.lab.pause(this.broker)
    try:
        hands.lab.expire_session(this.broker)
        time.sleep(PAUSE)
    finally:
        hands.lab.resume(this.broker)
    return "paused, and its session ended meanwhile"


def _roll(hands: FuzzHands, this: FuzzOperation) -> str:
    """Restart all brokers, one after the other, as an operator does who waits for each."""
    restart_all(hands)
    return "restarted all brokers"


def _delete_while_away(hands: FuzzHands, this: FuzzOperation) -> str:
    """Remove the topic and create it again while a broker is gone; that broker's log is of the earlier one.

    Brokers refuse the creation, as they still have metadata of the earlier topic; an old client asks ZooKeeper.
    """
    if not hands.znode or not _may_go(hands, this):
        return "not possible"
    gone = _crash(hands, this)
    hands.lab.zk.delete_tree(hands.path)
    hands.is_unclean = True
    return f"{gone}; znodes removed; {_create_old(hands, this)}"


def _may_go(hands: FuzzHands, this: FuzzOperation) -> bool:
    return this.broker not in hands.down and len(hands.down) < 2


def _stop(hands: FuzzHands, this: FuzzOperation) -> str:
    if not _may_go(hands, this):
        return "not possible"
    hands.lab.stop(this.broker)
    hands.down.add(this.broker)
    return "stopped"


def _crash(hands: FuzzHands, this: FuzzOperation) -> str:
    if not _may_go(hands, this):
        return "not possible"
    hands.lab.kill(this.broker)
    hands.lab.expire_session(this.broker)
    hands.down.add(this.broker)
    return "killed, and its session ended"


def _start(hands: FuzzHands, this: FuzzOperation) -> str:
    if not hands.down:
        return "not possible"
    broker = this.broker if this.broker in hands.down else min(hands.down)
    hands.lab.start(broker)
    hands.down.discard(broker)
    return f"started broker {broker}"


def _expire(hands: FuzzHands, this: FuzzOperation) -> str:
    if this.broker in hands.down:
        return "not possible"
    hands.lab.expire_session(this.broker)
    return "expired"


def _reassign(hands: FuzzHands, this: FuzzOperation) -> str:
    """Move one of two replicas, or write three in another order."""
    known = hands.znode.get("partitions")
    if not known:
        return "not possible"
    partition = this.broker % len(known)
    factor = len(known[str(partition)])
    target = _replicas(this.number, factor)
    return str(
        hands.lab.admin(milliseconds=3000).reassign(hands.topic, {partition: target[:: -1 if factor > 2 else 1]})
    )


def _cancel(hands: FuzzHands, this: FuzzOperation) -> str:
    return str(
        hands.lab.admin(milliseconds=3000).cancel(
            hands.topic, this.broker % max(1, len(hands.znode.get("partitions", ())))
        )
    )


def _remove_znodes(hands: FuzzHands, this: FuzzOperation) -> str:
    hands.is_unclean = True
    hands.lab.zk.delete_tree(hands.path)
    return "removed"


def _remove_marker(hands: FuzzHands, this: FuzzOperation) -> str:
    return hands.write(delete(hands.marker))


def _write_id(hands: FuzzHands, this: FuzzOperation) -> str:
    """Write the first id of the topic back, as an operator does who has noted it."""
    noted = hands.ids.get(hands.topic)
    if not hands.znode or not noted:
        return "not possible"
    return hands.write(hands.lab.topic_id_write(hands.topic, noted[0]))


def _remove_files(hands: FuzzHands, this: FuzzOperation) -> str:
    files = hands.lab.metadata_files(this.broker, hands.topic)
    for path in files:
        path.unlink()
    return f"removed {len(files)} files"


def _edit_files(hands: FuzzHands, this: FuzzOperation) -> str:
    return f"edited {hands.lab.edit_metadata_files(this.broker, hands.topic)} files"


def _remove_states(hands: FuzzHands, this: FuzzOperation) -> str:
    hands.is_unclean = True
    hands.lab.zk.delete_tree(f"{hands.path}/partitions")
    return "removed"


def _remove_logs(hands: FuzzHands, this: FuzzOperation) -> str:
    """Remove the topic's log directories of a broker that is down."""
    if not hands.down:
        return "not possible"
    broker = this.broker if this.broker in hands.down else min(hands.down)
    folders = [path for disk in hands.lab.brokers[broker].roots for path in disk.glob(f"{hands.topic}-*")]
    for path in folders:
        shutil.rmtree(path)
    return f"removed {len(folders)} directories of broker {broker}"


def _produce(hands: FuzzHands, this: FuzzOperation) -> str:
    if not hands.znode:
        return "not possible"
    found = hands.lab.probe(hands.topic, seconds=PROBE_SECONDS)
    return ", ".join(f"{number}: {probe['produce']['error']}" for number, probe in found.items())


@frozen
class OperationKind:
    """A kind of operation: what it does, how often it is drawn, and whether it needs the topic (None: either)."""

    do: Callable[[FuzzHands, FuzzOperation], str]
    weight: int
    needs_topic: bool | None = None


REMOVAL, LOGS_GO = "remove the topic's znodes by hand", "remove logs of a broker that is down"
KINDS: Mapping[str, OperationKind] = {
    "old client creates": OperationKind(_create_old, 10, needs_topic=False),
    "create": OperationKind(_create_new, 10, needs_topic=False),
    "create with two replicas": OperationKind(_create_two, 3, needs_topic=False),
    "old client adds a partition": OperationKind(_expand_old, 8, needs_topic=True),
    "add a partition": OperationKind(_expand_new, 5, needs_topic=True),
    "delete": OperationKind(_delete_topic, 3, needs_topic=True),
    "delete /controller": OperationKind(_delete_controller, 14),
    "restart a broker": OperationKind(_restart, 12),
    "stop a broker": OperationKind(_stop, 4),
    "crash a broker": OperationKind(_crash, 4),
    "start a broker": OperationKind(_start, 9),
    "end a session": OperationKind(_expire, 3),
    "pause a broker": OperationKind(_pause, 3),
    "restart all brokers": OperationKind(_roll, 2),
    "reassign": OperationKind(_reassign, 5, needs_topic=True),
    "cancel": OperationKind(_cancel, 1, needs_topic=True),
    REMOVAL: OperationKind(_remove_znodes, 4, needs_topic=True),
    "crash, remove and create again": OperationKind(_delete_while_away, 4, needs_topic=True),
    "remove the delete_topics znode by hand": OperationKind(_remove_marker, 1),
    "write the first id back": OperationKind(_write_id, 3, needs_topic=True),
    "remove the partitions' states by hand": OperationKind(_remove_states, 2, needs_topic=True),
    LOGS_GO: OperationKind(_remove_logs, 5, needs_topic=True),
    "remove partition.metadata": OperationKind(_remove_files, 2, needs_topic=True),
    "write ZooKeeper's id into partition.metadata": OperationKind(_edit_files, 3, needs_topic=True),
    "produce": OperationKind(_produce, 2, needs_topic=True),
}
"""All operations, by name."""


GOES, STOPS = ("delete", REMOVAL), ("stop a broker", "crash a broker", "crash, remove and create again")
OF_OLD_CLIENTS = ("old client creates", "old client adds a partition")
STARTS, ROLLS = "start a broker", "restart all brokers"
"""The operations after which the topic is gone, those after which a broker is down, those of clients that know no topic
ids, and those that start brokers."""


def draw_history(seed: str, length: int) -> list[FuzzOperation]:
    """Return the operations of a history; the same for the same seed."""
    chance = random.Random(seed)
    count = 2 if chance.random() < TWO_TOPICS else 1
    drawn, found = _Drawn(has_old_clients=chance.random() < OLD_CLIENTS), list[FuzzOperation]()
    while len(found) < length:
        topic = chance.randrange(count)
        names = [name for name in KINDS if drawn.allows(name, topic)]
        if not found:
            names = [name for name in names if KINDS[name].needs_topic is False]
        name = chance.choices(names, [KINDS[each].weight * drawn.factor(each) for each in names])[0]
        rests = chance.random() >= TOGETHER
        probes = chance.random() < PROBED
        waits = round(chance.uniform(0, LONGEST_WAIT), 1) if not rests and chance.random() < PAUSED else 0.0
        found.append(FuzzOperation(name, chance.randint(1, 3), chance.randint(0, 2), topic, rests, probes, waits))
        drawn.note(found[-1])
    return found


@define
class _Drawn:
    """What the operations that were drawn lead to: which topics are there, and which brokers are down."""

    has_old_clients: bool
    topics: set[int] = field(factory=set)
    down: set[int] = field(factory=set)

    def allows(self, name: str, topic: int) -> bool:
        """Whether an operation may be possible."""
        if name in OF_OLD_CLIENTS and not self.has_old_clients:
            return False
        if name in (STARTS, LOGS_GO) and not self.down:
            return False
        return KINDS[name].needs_topic in (None, topic in self.topics)

    def factor(self, name: str) -> int:
        """Return how much more often an operation is drawn than its weight says: creations, if there is no topic."""
        return CREATION if KINDS[name].needs_topic is False and not self.topics else 1

    def note(self, operation: FuzzOperation) -> None:
        kind = KINDS[operation.name]
        if kind.needs_topic is False:
            self.topics.add(operation.topic)
        elif operation.name in GOES:
            self.topics.discard(operation.topic)
        if operation.name in STOPS and len(self.down) < 2:
            self.down.add(operation.broker)
        elif operation.name == STARTS:
            self.down.discard(operation.broker if operation.broker in self.down else min(self.down))
        elif operation.name == ROLLS:
            self.down.clear()


# One history.


def run_history(lab: Lab, name: str, operations: Sequence[FuzzOperation], folder: Path) -> FuzzHands:
    """Do the operations, with a snapshot at each rest, and then restart all brokers; the case is in the folder.

    Args:
        lab: The cluster.
        name: What the names of the history's topics begin with.
        operations: What is done.
        folder: The folder of the case.
    """
    topics = tuple(f"{name}-{letter}" for letter in "ab"[: 1 + max(operation.topic for operation in operations)])
    hands, done = FuzzHands(lab, topics[0], lab.marks(), topics), list[dict[str, Any]]()
    number = 0
    for place, operation in enumerate(operations, start=1):
        begun = time.monotonic()
        hands.topic = topics[operation.topic]
        answer = KINDS[operation.name].do(hands, operation)
        _note_ids(hands)
        done.append(
            {
                "operation": operation.name,
                "broker": operation.broker,
                "number": operation.number,
                "topic": hands.topic,
                "rests": operation.rests,
                "probes": operation.probes,
                "waits": operation.waits,
                "answer": answer,
                "seconds": round(time.monotonic() - begun, 2),
            }
        )
        if operation.rests or place == len(operations):
            number += 1
            done[-1]["snapshot"] = f"{number:02}.json"
            label, path = f"{place}. {operation.name}: {answer}", folder / done[-1]["snapshot"]
            _probed_snapshot(hands, label, path, probes=operation.probes or place == len(operations))
        else:
            time.sleep(operation.waits)
    _keep_logs(hands, folder / BROKER_LOGS)
    restart_all(hands)
    if not any(map(lab.topic, topics)):  # there is something to probe in what follows
        lab.admin(milliseconds=3000).create_topic(topics[0], _drawn(operations[-1], 3))
    _probed_snapshot(hands, "all brokers restarted", folder / ROLLED)
    _sequel(hands, random.Random(repr(operations)), folder)
    save(folder / OPERATIONS, json.dumps({"topics": topics, "operations": done}, indent=1).encode())
    return hands


def restart_all(hands: FuzzHands) -> None:
    """Restart all brokers, the controller first, and wait after each; brokers that are down start."""
    controller = hands.lab.controller()
    for broker in sorted(hands.lab.brokers, key=lambda number: number != controller):
        if broker in hands.down:
            hands.lab.start(broker)
            hands.down.discard(broker)
        else:
            hands.lab.restart(broker)
        _rest(hands)


def _probed_snapshot(hands: FuzzHands, label: str, path: Path, *, probes: bool = True) -> None:
    """Take a snapshot at rest, then produce to each partition and consume from it; the snapshot keeps what they got.

    Beside the probes it has whether the cluster was at rest, and whether it changed until the probes were done.
    """
    lab, is_at_rest = hands.lab, _rest(hands)
    before = _fingerprint(hands)
    taken = lab.capture(label, topic=f"{hands.topics[0][:-1]}?")
    extra: dict[str, Any] = {"at_rest": is_at_rest}
    if probes:
        there = [topic for topic in hands.topics if topic not in _deleting(lab) and lab.topic(topic)]
        extra["probe"] = {topic: probed_twice(lab, topic) for topic in there}
    extra["changed"] = _fingerprint(hands) != before
    save(path, json.dumps({**taken, "extra": extra}, indent=1).encode())


def probed_twice(lab: Lab, topic: str) -> dict[str, Any]:
    """Probe the partitions of a topic, and once more those that do not serve.

    A follower whose fetch was refused, as of a topic that was created again, waits for a second before the next one
    (replica.fetch.backoff.ms), and on a busy machine for longer.
    """
    first = lab.probe_anywhere(topic, seconds=PROBE_SECONDS)
    if all(map(serves, first.values())):
        return first
    second = lab.probe_anywhere(topic, seconds=PROBE_SECONDS)
    return {number: probe if serves(probe) else second.get(number, probe) for number, probe in first.items()}


def _keep_logs(hands: FuzzHands, folder: Path) -> None:
    """Keep what the brokers have logged since the history began, as `kwalk diagnose --explain --logs` reads it."""
    for broker in hands.lab.brokers.values():
        for path in (broker.log(name) for name in LOGS):
            if path.exists():
                with path.open("rb") as file:
                    file.seek(hands.marks.get(path, 0))
                    text = file.read(LOG_BYTES)
                whole = text[: text.rfind(b"\n") + 1]
                save(folder / f"broker-{broker.id}" / f"{path.name}.gz", gzip.compress(whole, mtime=0))


def _note_ids(hands: FuzzHands) -> None:
    for topic in hands.topics:
        identity = (hands.lab.topic(topic) or {}).get("topic_id")
        if identity and identity not in hands.ids.setdefault(topic, []):
            hands.ids[topic].append(identity)


def _rest(hands: FuzzHands) -> bool:
    """Wait until nothing changes and replicas that can have logs and are in the ISR, or for the longest time.

    The answer is whether nothing changed at last.

    On a busy machine a cluster may do nothing for as long as several looks at it take.
    """
    lab, begun = hands.lab, time.monotonic()
    seen, since = "", begun
    while True:
        looked = time.monotonic()
        now = _fingerprint(hands)
        slow = max(1.0, SLOWNESS * (time.monotonic() - looked) / REST)
        if now != seen:
            seen, since = now, time.monotonic()
        waited, is_full = time.monotonic() - begun, _is_full(hands)
        is_still = time.monotonic() - since > REST * slow and (is_full or waited > EARLY_REST * slow)
        if (is_still and lab.controller() is not None) or waited > LONGEST_REST * slow:
            return is_still
        time.sleep(0.1)


def _is_full(hands: FuzzHands) -> bool:
    """Whether running brokers are registered, partitions have a leader, and live replicas a log and a place in the ISR.

    A failover replaces a dead leader in two writes; between them there is no leader. A broker whose session has ended
    registers again, which takes it a while. One that has started is informed later; UpdateMetadata comes last.
    """
    lab = hands.lab
    if set(lab.brokers) - hands.down - {int(broker) for broker in lab.zk.children("/brokers/ids")}:
        return False
    return all(_topic_is_full(hands, topic) and lab.are_informed(topic) for topic in hands.topics)


def _topic_is_full(hands: FuzzHands, topic: str) -> bool:
    states, directories = hands.lab.states(topic), hands.lab.directories(topic)
    for partition, replicas in (hands.lab.topic(topic) or {}).get("partitions", {}).items():
        live = {number for number in replicas if number not in hands.down}
        state = states.get(int(partition))
        if state is None or not live <= set(state["isr"]):
            return False
        if live and state["leader"] not in live:
            return False
        if any(f"{topic}-{partition}" not in directories.get(number, ()) for number in live):
            return False
    return True


def _fingerprint(hands: FuzzHands) -> str:
    lab = hands.lab
    cluster = [
        lab.controller_epoch(),
        lab.controller(),
        *map(lab.zk.children, ("/brokers/ids", "/admin/delete_topics")),
    ]
    topics = []
    for topic in hands.topics:
        directories = lab.directories(topic)
        files = with_metadata({disk: names for b, names in directories.items() for disk in lab.brokers[b].roots})
        topics.append([lab.topic(topic), lab.states(topic), directories, files])
    return json.dumps([cluster, topics])


def _deleting(lab: Lab) -> list[str]:
    return lab.zk.children("/admin/delete_topics")


def with_metadata(directories: Mapping[Path, Sequence[str]]) -> list[str]:
    """Return the log directories that have a partition.metadata; one that is deleted meanwhile has none."""
    found = (data / name for data, names in directories.items() for name in names)
    return [str(path) for path in found if (path / "partition.metadata").exists()]


def reset(hands: FuzzHands) -> bool:
    """Prepare a cluster for the next history; return whether that is sound."""
    lab = hands.lab
    if hands.is_unclean:
        return False
    try:
        for broker in sorted(hands.down):
            lab.start(broker)
        if not wait_until(lambda: len(lab.zk.children("/brokers/ids")) == len(lab.brokers), 30):
            return False
        for topic in hands.topics:
            if lab.topic(topic):
                lab.admin(milliseconds=3000).delete_topic(topic)
        if not wait_until(
            lambda: not any(map(lab.topic, hands.topics)) and not lab.zk.children("/admin/delete_topics"), 10
        ):
            return False
        lab.delete_controller()
        are_gone = wait_until(lambda: not any(any(lab.directories(topic).values()) for topic in hands.topics), 5)
        return are_gone and not lab.lines("controller", DAMAGE, since=hands.marks)
    except (KwalkError, OSError):
        return False


# What follows a history. `kwalk diagnose --explain` does not look at it: the model has neither.


def _sequel(hands: FuzzHands, chance: random.Random, folder: Path) -> None:
    """Break what the model does not have, with a probed snapshot after each step, in most histories."""
    sequel = chance.choice((None, _returns_under_another_id, _loses_a_disk, _disks_are_replaced, _states_are_edited))
    broker, alone = chance.choice(sorted(hands.lab.brokers)), chance.random() < ALONE
    for number, label in enumerate(sequel(hands, broker, alone) if sequel else (), start=1):
        hands.is_unclean = True
        _probed_snapshot(hands, label, folder / f"{SEQUEL}-{number}.json")


def _stop_others(hands: FuzzHands, broker: int) -> list[int]:
    """Stop all other brokers, one after the other: this one is the last in every ISR."""
    others = [number for number in hands.lab.brokers if number != broker]
    for other in others:
        hands.lab.stop(other)
        hands.down.add(other)
        _rest(hands)
    return others


def _start_all(hands: FuzzHands, brokers: Iterable[int]) -> None:
    for broker in brokers:
        hands.lab.start(broker)
        hands.down.discard(broker)


def _returns_under_another_id(hands: FuzzHands, broker: int, alone: bool) -> Iterator[str]:
    others, other_id = _stop_others(hands, broker) if alone else [], broker + len(hands.lab.brokers)
    hands.lab.stop(broker)
    hands.lab.renumber(broker, other_id)
    _start_all(hands, [*others, other_id])
    yield f"broker {broker} has returned with the id {other_id}"
    hands.lab.stop(other_id)
    hands.lab.renumber(other_id, broker)
    _start_all(hands, [broker])
    yield f"broker {broker} has its id again"


def _loses_a_disk(hands: FuzzHands, broker: int, alone: bool) -> Iterator[str]:
    others = _stop_others(hands, broker) if alone else []
    hands.lab.fail_disk(broker, hands.lab.brokers[broker].roots[-1])
    yield f"a disk of broker {broker} has failed"
    _start_all(hands, others)
    yield "the others have started"
    hands.lab.restart(broker)
    yield f"broker {broker} has restarted without the disk"
    hands.lab.repair_disks(broker)
    hands.lab.restart(broker)
    yield f"broker {broker} has restarted with the disk"


def _disks_are_replaced(hands: FuzzHands, broker: int, alone: bool) -> Iterator[str]:
    others = _stop_others(hands, broker) if alone else []
    hands.lab.stop(broker)
    for disk in hands.lab.brokers[broker].roots:
        shutil.rmtree(disk)
    _start_all(hands, [broker])
    yield f"broker {broker} has empty disks"
    _start_all(hands, others)
    yield "all brokers run"


def _states_are_edited(hands: FuzzHands, broker: int, alone: bool) -> Iterator[str]:
    """Write an ISR without members, or with this broker only, into every state, and elect another controller."""
    for topic in hands.topics:
        for number, state in hands.lab.states(topic).items():
            isr = [] if alone else [broker]
            content = {**state, "leader": -1, "isr": isr, "leader_epoch": state["leader_epoch"] + 1}
            hands.write(set_data(f"/brokers/topics/{topic}/partitions/{number}/state", json.dumps(content).encode()))
    yield "states are edited"
    hands.lab.delete_controller()
    yield "another controller is elected"
    restart_all(hands)
    yield "all brokers restarted"
