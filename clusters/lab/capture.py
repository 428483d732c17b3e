"""Snapshots of a running cluster, in the format that `kwalk.model.kafka.snapshots` reads.

What is seen: the znodes of ZooKeeper, each broker's log directories on disk, and its answer to a Metadata request. The
parts are read one after another: a snapshot of a cluster that changes meanwhile may mix two moments.
"""
from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from attrs import frozen

from kwalk.clusters.lab.brokers import Metadata, metadata
from kwalk.clusters.lab.zookeeper import ZooKeeperClient
from kwalk.model.kafka.snapshots.capture import ZERO_ID

DIRECTORY = re.compile(r".+-\d+")
"""The name of a partition's log directory; a deleted or stray one has a suffix."""
TOPIC_ID = re.compile(r"topic_id: (\S+)")
PATIENCE = 2.0
"""Seconds that a broker has for its Metadata response."""


@frozen
class Place:
    """Where a broker is looked at.

    Args:
        id: Its id.
        port: Its port.
        data: The folder of its log directories.
        alive: Whether its process runs.
        with_ids: Whether its Metadata responses have topic ids.
        asked: Whether it is asked for one; not if it is known to be paused.
    """

    id: int
    port: int
    data: Path
    alive: bool
    with_ids: bool
    asked: bool = True


def take(zk: ZooKeeperClient, places: Iterable[Place]) -> dict[str, Any]:
    """Return what is seen of a cluster at this moment, as a capture without its label and version."""
    raw = _text(zk, "/controller")
    return {
        "broker_ids": sorted(int(child) for child in zk.children("/brokers/ids")),
        "controller_raw": raw,
        "controller": json.loads(raw)["brokerid"] if raw else None,
        "controller_epoch": int(_text(zk, "/controller_epoch") or 0),
        "delete_topics": zk.children("/admin/delete_topics"),
        "topics": {name: found for name in zk.children("/brokers/topics") if (found := _topic(zk, name))},
        "brokers": {str(place.id): _broker(place) for place in places},
    }


def _text(zk: ZooKeeperClient, path: str) -> str | None:
    found = zk.get(path)
    return None if found is None else found[0].decode(errors="replace")


def _topic(zk: ZooKeeperClient, name: str) -> dict[str, Any] | None:
    path = f"/brokers/topics/{name}"
    found = zk.get(path)
    if found is None or not found[0]:
        return None
    raw, stat = found[0].decode(errors="replace"), found[1]
    znode = json.loads(raw)
    return {
        "znode_raw": raw,
        "znode": znode,
        "topic_id": znode.get("topic_id"),
        "version": stat.version,
        "czxid": stat.czxid,
        "mzxid": stat.mzxid,
        "config_znode": _text(zk, f"/config/topics/{name}"),
        "partition_state": {
            number: state
            for number in sorted(zk.children(f"{path}/partitions"), key=int)
            if (state := _state(zk, f"{path}/partitions/{number}/state"))
        },
    }


def _state(zk: ZooKeeperClient, path: str) -> dict[str, Any] | None:
    found = zk.get(path)
    if found is None:
        return None
    raw = found[0].decode(errors="replace")
    return {"raw": raw, **json.loads(raw), "zk_version": found[1].version}


def _broker(place: Place) -> dict[str, Any]:
    folders = sorted(place.data.iterdir()) if place.data.is_dir() else []
    return {
        "alive": place.alive,
        "dirs": {path.name: _directory(path) for path in folders if path.is_dir() and DIRECTORY.fullmatch(path.name)},
        "metadata_cache": _metadata_cache(place),
    }


def _directory(path: Path) -> dict[str, Any]:
    identity = _file(path / "partition.metadata")
    found = TOPIC_ID.search(identity or "")
    return {
        "partition_metadata": identity,
        "topic_id": found[1] if found and found[1] != ZERO_ID else None,
        "leader_epoch_checkpoint": _file(path / "leader-epoch-checkpoint"),
        "files": {file.name: file.stat().st_size for file in sorted(path.glob("*.log"))},
    }


def _file(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def _metadata_cache(place: Place) -> dict[str, Any] | None:
    if not place.alive or not place.asked:
        return None
    try:
        return _metadata_object(metadata(place.port, with_ids=place.with_ids, seconds=PATIENCE))
    except OSError:
        return None


def _metadata_object(found: Metadata) -> dict[str, Any]:
    return {
        "brokers": list(found.brokers),
        "controller": found.controller,
        "topics": {
            name: {
                "error": topic.error,
                "topic_id": topic.topic_id,
                "partitions": {
                    str(number): {
                        "error": partition.error, "leader": partition.leader, "leader_epoch": partition.leader_epoch,
                        "isr": list(partition.isr), "offline": list(partition.offline),
                    }
                    for number, partition in topic.partitions.items()
                },
            }
            for name, topic in sorted(found.topics.items())
        },
    }  # fmt: skip
