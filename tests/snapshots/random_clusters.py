"""Snapshots of random damaged clusters: logs, states, brokers and disks are wrong in several ways at once."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.snapshots.test_combined_damages import EPOCHS, IDS, OTHER, cluster, log

THIRD = "CCCCCCCCCCCCCCCCCCCCCQ"
"""A topic id that no log has."""
DIVERGED = ((0, 0), (4, 30))
UNRELATED = (((0, 0), (7, 30)), ((0, 0), (2, 30)))
"""The leader epochs of logs of another topic: later than ZooKeeper's, or earlier."""
LOGS = {
    "whole": 40,
    "shorter": 8,
    "without the last epoch": 8,
    "diverged": 4,
    "longer": 4,
    "with another id": 6,
    "of another topic": 6,
    "without id": 4,
    "empty": 6,
    "gone": 6,
}
"""How often a replica of a damaged topic has which log."""


def with_records(identity: str | None, epochs: tuple[tuple[int, int], ...] = EPOCHS, crc: int = 7) -> dict[str, Any]:
    """A log with committed records of its last epoch, which were flushed."""
    end = epochs[-1][1] + 20
    known = {"high_watermark": end, "recovery_point": end, "files": {f"{0:020}.log": 1000 + 100 * end}}
    return {**log(identity, epochs, crc), **known}


def of_kind(kind: str, identity: str | None, chance: Random) -> dict[str, Any] | None:
    """A log of a kind of `LOGS`; None if it is gone."""
    other = None if identity is None else OTHER
    whole, name = with_records(identity), f"{0:020}.log"
    nothing = {"leader_epoch_checkpoint": "0\n0\n", "first_batch": None, "high_watermark": 0, "files": {name: 0}}
    nothing["recovery_point"] = 0
    found = {
        "whole": whole,
        "shorter": {**whole, "files": {name: 6000}, "high_watermark": 50, "recovery_point": None},
        "without the last epoch": with_records(identity, EPOCHS[:2]),
        "diverged": with_records(identity, DIVERGED),
        "longer": {**whole, "files": {name: 8000}},
        "with another id": with_records(other),
        "of another topic": with_records(other, chance.choice(UNRELATED), crc=8),
        "without id": with_records(None),
        "empty": {**whole, **nothing},
    }
    return found.get(kind)


def random_cluster(release: str, seed: int, share: float = 1.0) -> dict[str, Any]:
    """Return the snapshot of a random cluster: the same for the same release and seed.

    Args:
        release: the release.
        seed: a number.
        share: how often brokers and logs are damaged.
    """
    chance, is_old = Random(seed), release < "2.8"
    numbers = range(1, chance.choice([3, 3, 4]) + 1)
    snapshot = cluster(release, brokers=len(numbers), ids=dict.fromkeys(IDS) if is_old else IDS)
    for number in numbers:
        broker = snapshot["brokers"][str(number)]
        broker["dirs"] = {}
        broker["log_dirs"] = [{"path": "/kafka", "broker_id": number, "cluster_id": "c", "offline": False}]
    if chance.random() < 0.5:
        del snapshot["topics"]["payments"]
    down = [number for number in numbers if chance.random() < 0.22 * share]
    for name in snapshot["topics"]:
        damage_topic(snapshot, name, down, chance, share if name == "orders" else 0.3 * share, is_old=is_old)
    for number in numbers:
        broker = snapshot["brokers"][str(number)]
        is_unseen = number in down and chance.random() < 0.2
        if chance.random() < 0.04:
            broker.update(dirs={}, log_dirs=[{**broker["log_dirs"][0], "broker_id": None, "offline": True}])
        if number in down:
            broker["alive"] = False
            snapshot["broker_ids"].remove(number)
        if is_unseen:
            broker["dirs"] = None
    if snapshot["controller"] in down:
        snapshot["controller"] = next((number for number in numbers if number not in down), None)
    if chance.random() < 0.08:
        snapshot["controller"] = None
    return snapshot


def damage_topic(
    snapshot: dict[str, Any], name: str, down: list[int], chance: Random, share: float, *, is_old: bool
) -> None:
    """Give a topic random replicas, logs and a random state."""
    topic, numbers = snapshot["topics"][name], [int(number) for number in snapshot["brokers"]]
    identity = None if is_old else IDS[name]
    replicas = chance.sample(numbers, chance.choice([1, 2, 2, 3, 3, 3]))
    others = [number for number in numbers if number not in replicas]
    topic["znode"]["partitions"]["0"] = replicas
    for number in numbers:
        logs = snapshot["brokers"][str(number)]["dirs"]
        if number in replicas:
            kinds = chance.choices(list(LOGS), list(LOGS.values())) if chance.random() < share else ["whole"]
            found = of_kind(kinds[0], identity, chance)
        else:
            found = with_records(identity, EPOCHS[:2]) if chance.random() < 0.05 else None
        if found is not None:
            logs[f"{name}-0"] = found
    isr = [number for number in replicas if chance.random() < 0.7] or [chance.choice(replicas)]
    if others and chance.random() < 0.04:
        isr.append(chance.choice(others))
    live = [number for number in isr if number not in down]
    leader = chance.choice([*live] * 9 + [-1, -1, *replicas[:1]])
    topic["partition_state"]["0"].update(leader=leader, isr=[] if chance.random() < 0.05 else isr)
    if not is_old:
        identities = [topic["znode"]["topic_id"]] * 8 + [None, chance.choice([OTHER, THIRD])]
        topic["znode"]["topic_id"] = chance.choice(identities)
        if topic["znode"]["topic_id"] is None:
            del topic["znode"]["topic_id"]
            topic["znode"]["version"] = 1
    if chance.random() < 0.06 * share:
        snapshot["delete_topics"].append(name)
    if chance.random() < 0.05 * share:
        topic["partition_state"]["0"]["leader_epoch"] = 2
    if chance.random() < 0.04 * share:
        topic["partition_state"] = {}
    if others and chance.random() < 0.06 * share:
        topic["znode"]["partitions"]["0"] = [*replicas, others[0]]
        topic["znode"]["adding_replicas"] = {"0": others[:1]}
        topic["znode"]["removing_replicas"] = {"0": replicas[:1]} if chance.random() < 0.5 else {}
