"""Snapshots of random damaged clusters that are to migrate, wait for brokers, or are in dual write; and an oracle.

The oracle reads the snapshot alone, by what `model.kafka.migration` has from Kafka's source and from real brokers: what
KRaft copies, and which logs it then takes for those of a topic. Sizes of logs are not compared: a snapshot is of one
moment, and a follower may be about to copy the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from random import Random
from typing import Any

from tests.snapshots.random_clusters import random_cluster, with_records
from tests.snapshots.test_combined_damages import IDS, OTHER

BEFORE, WAITING, DUAL_WRITE = PHASES = ("before", "waiting", "dual write")
CONTROLLER, SHARE = 3000, 0.4
FULL_REQUESTS_BY_ID = "3.6.2"
"""The release since when a broker compares the ids of all its directories with a full LeaderAndIsr (KAFKA-21022)."""


def random_migration(release: str, seed: int) -> dict[str, Any]:
    """Return the snapshot of a random cluster: the same for the same release and seed."""
    chance, snapshot = Random(f"migration {seed}"), random_cluster(release, seed, SHARE)
    phase = chance.choice(PHASES)
    snapshot["migration"] = None
    for broker in snapshot["brokers"].values():
        if broker["dirs"] is not None and chance.random() < 0.04:
            broker["dirs"]["gone-0"] = with_records(chance.choice([OTHER, None]))
        if "orders-0" in (broker["dirs"] or {}) and chance.random() < 0.05:
            copy = with_records(chance.choice([IDS["orders"], OTHER, None]))
            broker["set_aside"] = {f"orders-0.{'a' * 32}-future": copy}
    for path in ("preferred_replica_election", "reassign_partitions"):
        if chance.random() < 0.05:
            snapshot[path] = {"orders": [0]}
    if chance.random() < 0.05:
        snapshot["topics"]["empty"] = _without_partitions(snapshot, chance.choice([None, "D" * 21 + "Q"]))
    if phase != BEFORE:
        _begin(snapshot)
    if phase == DUAL_WRITE:
        _copy(snapshot, chance)
    return snapshot


def _without_partitions(snapshot: dict[str, Any], identity: str | None) -> dict[str, Any]:
    topic: dict[str, Any] = {**snapshot["topics"]["orders"], "partition_state": {}}
    topic["znode"] = {**topic["znode"], "partitions": {}, "adding_replicas": {}, "removing_replicas": {}}
    topic["znode"]["topic_id"] = identity
    return topic


def _begin(snapshot: dict[str, Any]) -> None:
    """All brokers have restarted with the migration enabled, and KRaft's controllers run."""
    snapshot["migration"] = _record(-1)
    for broker in snapshot["brokers"].values():
        broker["mode"] = "migrating" if broker["alive"] else None
    snapshot["image"] = {
        "end_offset": 9,
        "state": "PRE_MIGRATION",
        "metadata_version": 21,
        "open_transaction": False,
        "brokers": {str(number): {"migrating": True, "fenced": False} for number in snapshot["broker_ids"]},
        "topics": {},
    }


def _record(offset: int) -> dict[str, int]:
    epoch = {"kraft_metadata_epoch": 4, "kraft_controller_id": CONTROLLER, "kraft_controller_epoch": 4}
    return {"kraft_metadata_offset": offset, **epoch}


def _copy(snapshot: dict[str, Any], chance: Random) -> None:
    """KRaft has copied the topics; some have changed since in ZooKeeper only."""
    snapshot.update(controller=CONTROLLER, kraft_controller_epoch=4, controller_epoch=9, migration=_record(98))
    image = snapshot["image"]
    image.update(state="MIGRATION", end_offset=99)
    for name, topic in snapshot["topics"].items():
        znode, states = topic["znode"], topic["partition_state"]
        copied = {}
        for number, replicas in znode["partitions"].items():
            first = {"leader": replicas[0], "leader_epoch": 0, "isr": replicas}
            state = {key: states.get(number, first)[key] for key in first}
            lists = {key: znode[key].get(number, []) for key in ("adding_replicas", "removing_replicas")}
            copied[number] = {**state, "replicas": replicas, **lists}
        if chance.random() > 0.04:
            image["topics"][name] = {"topic_id": znode.get("topic_id") or OTHER, "partitions": copied}
    if chance.random() < 0.06 and snapshot["topics"]["orders"]["partition_state"]:
        state = snapshot["topics"]["orders"]["partition_state"]["0"]
        state["isr"] = state["isr"][:1]
    if chance.random() < 0.05:
        snapshot["topics"]["orders"]["znode"]["topic_id"] = None
    for number in list(snapshot["broker_ids"]) if chance.random() < 0.5 else ():
        if chance.random() < 0.5:
            _start_in_kraft_mode(snapshot, number)
    if chance.random() < 0.04:
        snapshot["image"] = None


def _start_in_kraft_mode(snapshot: dict[str, Any], number: int) -> None:
    """A broker has started in KRaft mode, unless it would have removed a log."""
    broker = snapshot["brokers"][str(number)]
    ids = {name: topic["topic_id"] for name, topic in snapshot["image"]["topics"].items()}
    logs = (broker["dirs"] or {}).items()
    if not broker.get("set_aside") and all(_id(log) == ids.get(name.rpartition("-")[0], "") for name, log in logs):
        snapshot["broker_ids"].remove(number)
        snapshot["image"]["brokers"][str(number)]["migrating"] = False
        broker["mode"] = "kraft"


# The oracle.


def phase_of(snapshot: dict[str, Any]) -> str:
    """Return how far the migration of a random cluster is."""
    if snapshot.get("kraft_controller_epoch"):
        return DUAL_WRITE
    return WAITING if snapshot["migration"] else BEFORE


def harms(snapshot: dict[str, Any]) -> list[str]:
    """Return what a migration from a snapshot on, or a rollback, loses, lets in, or is stuck at."""
    brokers, image = snapshot["brokers"], snapshot.get("image")
    is_led = snapshot.get("kraft_controller_epoch", -1) >= 0
    topics = _image_of(snapshot) if is_led and image is not None else _copy_of(snapshot)
    found = [*_of_zookeeper(snapshot)] if is_led and image is not None else []
    if is_led and image is None:
        found.append("KRaft's image is not shown")
    if not is_led and (snapshot["migration"] or _record(-1))["kraft_metadata_offset"] >= 0:
        found.append("the copy is skipped")
    found += [f"{name} is to be deleted" for name in snapshot["delete_topics"]]
    named = {f"{name}-{number}" for name, (_, parts) in topics.items() for number in parts}
    for broker, known in brokers.items():
        for log in known["dirs"] or () if known["alive"] or not is_led else ():
            if log not in named and known["dirs"][log]["files"][f"{0:020}.log"]:
                found.append(f"{log} on broker {broker} has no place")
        for copy in known.get("set_aside", {}).values():
            if _id(copy) is None and snapshot["version"] >= FULL_REQUESTS_BY_ID:
                found.append(f"broker {broker} refuses full requests for a copy without id")
            elif _id(copy) not in (None, topics.get("orders", (None,))[0]):
                found.append(f"a copy with another id takes the log of broker {broker} along")
    for name, (identity, partitions) in topics.items():
        if identity is None and (is_led or snapshot["migration"]):
            found.append(f"{name} has no id")
        for number, one in partitions.items():
            found += [f"{name}-{number}: {text}" for text in _of_partition(snapshot, name, number, identity, one)]
    return found


def _copy_of(snapshot: dict[str, Any]) -> dict[str, Any]:
    return {
        name: (
            topic["znode"].get("topic_id"),
            {n: (replicas, topic["partition_state"].get(n)) for n, replicas in topic["znode"]["partitions"].items()},
        )
        for name, topic in snapshot["topics"].items()
    }


def _image_of(snapshot: dict[str, Any]) -> dict[str, Any]:
    return {
        name: (topic["topic_id"], {n: (one["replicas"], one) for n, one in topic["partitions"].items()})
        for name, topic in snapshot["image"]["topics"].items()
    }


def _of_zookeeper(snapshot: dict[str, Any]) -> Iterator[str]:
    """What ZooKeeper does not have of the image: a rollback goes on with ZooKeeper's content."""
    here, there = _copy_of(snapshot), _image_of(snapshot)
    for name in here.keys() | there.keys():
        if name not in here or name not in there or here[name][0] != there[name][0]:
            yield f"ZooKeeper and KRaft have not the same topic {name}"
            continue
        for number, (replicas, one) in there[name][1].items():
            its, state = here[name][1].get(number, (None, None))
            if state is None or its != replicas or any(state[k] != one[k] for k in ("isr", "leader_epoch")):
                yield f"ZooKeeper and KRaft have not the same of {name}-{number}"


def _of_partition(
    snapshot: dict[str, Any], name: str, number: str, identity: str | None, one: tuple[list[int], dict[str, Any] | None]
) -> Iterator[str]:
    replicas, state = one
    in_kraft_mode = {int(number) for number, broker in snapshot["brokers"].items() if broker.get("mode") == "kraft"}
    live = {*snapshot["broker_ids"], *in_kraft_mode}
    logs = _logs(snapshot, f"{name}-{number}")
    if not {*replicas} <= live:
        yield "an assigned broker is down"
    if state is None:
        yield "it has no state"
        return
    isr = state["isr"]
    if not isr or not {*isr} <= {*replicas} or not live & {*isr} or state["leader"] not in (-1, *isr):
        yield "no live ISR member of the replicas leads it"
    is_rolled = snapshot["migration"] is not None
    held = {broker: log for broker, log in logs.items() if log["files"][f"{0:020}.log"]}
    for broker, log in held.items():
        if broker not in replicas:
            yield f"broker {broker} is no replica and has a log"
        elif _id(log) not in (None, identity) and (identity or "") != _id(log):
            yield f"the log of broker {broker} has another id"
        elif _id(log) is None and is_rolled:
            yield f"the log of broker {broker} gets no id any more"
    own = {broker: log for broker, log in held.items() if broker in replicas and _id(log) in (None, identity)}
    for broker, log in own.items():
        if any(epoch > state["leader_epoch"] for epoch, _ in _epochs(log)):
            yield f"the log of broker {broker} has a later leader epoch"
        for member in {*isr} & {*replicas}:
            if snapshot["brokers"][str(member)]["dirs"] is not None and _lacks(own.get(member), log):
                yield f"broker {member} of the ISR lacks what broker {broker} has committed"
    for (broker, log), (other, its) in combinations(own.items(), 2):
        if log["first_batch"] != its["first_batch"]:
            yield f"the logs of brokers {broker} and {other} begin with different records"


def _logs(snapshot: dict[str, Any], directory: str) -> dict[int, dict[str, Any]]:
    return {
        int(number): broker["dirs"][directory]
        for number, broker in snapshot["brokers"].items()
        if broker["dirs"] and directory in broker["dirs"]
    }


def _id(log: dict[str, Any]) -> str | None:
    return log["partition_metadata"] and log["partition_metadata"].split()[-1]


def _lacks(member: dict[str, Any] | None, log: dict[str, Any]) -> bool:
    """Whether a log has committed records of a leader epoch that the log of an ISR member lacks."""
    has = set() if member is None else _epochs(member)
    return any(start < log["high_watermark"] and (epoch, start) not in has for epoch, start in _epochs(log))


def _epochs(log: dict[str, Any]) -> set[tuple[int, int]]:
    lines = log["leader_epoch_checkpoint"].split("\n")[2:]
    return {(int(epoch), int(start)) for epoch, start in (line.split() for line in lines if line)}
