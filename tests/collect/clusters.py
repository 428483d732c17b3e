"""Clusters that are not there: znodes in memory, and log directories on disk, as a capture shows them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from attrs import define, evolve, field

from kwalk.clusters.collect.log_files import HEADER, MAGIC
from kwalk.clusters.collect.znodes import Answer, RefusedRead, Znode

CLUSTER = "a-cluster-of-the-tests"
SECRET = "hunter2-plaintext"


@define
class FakeZooKeeper:
    """Znodes by path. Each change has a transaction id of its own; `asked` are the paths that were read."""

    znodes: dict[str, Znode] = field(factory=dict)
    refused: set[str] = field(factory=set)
    asked: list[str] = field(factory=list)
    zxid: int = 1000
    before: Callable[[str], None] = lambda path: None
    """Is called before a path is read."""

    def put(self, path: str, content: object = b"") -> None:
        """Write a znode, and those above it; a text or an object is written as JSON."""
        parent = path.rpartition("/")[0]
        if parent and parent not in self.znodes:
            self.put(parent)
        self.zxid += 1
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        known = self.znodes.get(path)
        if known is None:
            self.znodes[path] = Znode(raw, (), 0, self.zxid, self.zxid, self.zxid)
            self._touch(parent)
        else:
            self.znodes[path] = evolve(known, content=raw, version=known.version + 1, mzxid=self.zxid)

    def delete(self, path: str) -> None:
        """Delete a znode and all below it."""
        self.zxid += 1
        for name in [name for name in self.znodes if name == path or name.startswith(f"{path}/")]:
            del self.znodes[name]
        self._touch(path.rpartition("/")[0])

    def _touch(self, parent: str) -> None:
        if parent in self.znodes:
            self.znodes[parent] = evolve(self.znodes[parent], pzxid=self.zxid)

    def names(self, path: str) -> tuple[str, ...]:
        """The names of a znode's children."""
        start = path.rstrip("/") + "/"
        return tuple({name[len(start) :].split("/")[0] for name in self.znodes if name.startswith(start)})

    # What collect uses.

    def get(self, paths: Sequence[str]) -> list[Answer]:
        return [self._answer(path, lambda znode: znode) for path in paths]

    def children(self, paths: Sequence[str]) -> list[Answer]:
        return [self._answer(p, lambda znode, p=p: evolve(znode, content=b"", children=self.names(p))) for p in paths]

    def stat(self, paths: Sequence[str]) -> list[Answer]:
        return [self._answer(path, lambda znode: evolve(znode, content=b""), allowed=True) for path in paths]

    def _answer(self, path: str, shown: Callable[[Znode], Znode], *, allowed: bool = False) -> Answer:
        self.asked.append(path)
        self.before(path)
        if path in self.refused and not allowed:
            return RefusedRead("NOAUTH")
        return shown(self.znodes[path]) if path in self.znodes else None


def zookeeper_of(document: dict[str, Any]) -> FakeZooKeeper:
    """The znodes that a capture shows, and secrets beside them."""
    zk = FakeZooKeeper()
    zk.put("/cluster/id", {"version": "1", "id": CLUSTER})
    zk.put("/controller_epoch", str(document["controller_epoch"]).encode())
    zk.put("/admin/delete_topics")
    zk.put("/brokers/topics")
    zk.put("/brokers/ids")
    if document["controller"] is not None:
        zk.put("/controller", {"version": 1, "brokerid": document["controller"], "timestamp": "1"})
    for number in document["broker_ids"]:
        zk.put(
            f"/brokers/ids/{number}",
            {
                "host": f"broker-{number}",
                "endpoints": [f"PLAINTEXT://broker-{number}:9092"],
                "listener_security_protocol_map": {"PLAINTEXT": "PLAINTEXT"},
            },
        )
    for name, topic in document["topics"].items():
        put_topic(zk, name, topic)
    for path in ("/config/users/alice", "/config/brokers/1", "/config/topics/t", "/delegation_token/tokens/x"):
        zk.put(path, {"config": {"listener.name.x.ssl.keystore.password": SECRET, "SCRAM-SHA-256": SECRET}})
    return zk


def put_topic(zk: FakeZooKeeper, name: str, topic: dict[str, Any]) -> None:
    """Write a topic as a capture shows it, with its count of changes and the transaction of its creation."""
    path = f"/brokers/topics/{name}"
    zk.put(path, topic["znode"])
    zk.znodes[path] = evolve(zk.znodes[path], version=topic["version"], czxid=topic["czxid"])
    for number, state in topic["partition_state"].items():
        zk.put(f"{path}/partitions/{number}/state", state)


def batch(base_offset: int = 0, *, epoch: int = 0, timestamp: int = 1_700_000_000_000, crc: int = 7) -> bytes:
    """A batch of format 2 with a secret where records are."""
    return HEADER.pack(base_offset, 200, epoch, MAGIC, crc, 0, 0, timestamp, timestamp, -1, -1, -1, 1) + SECRET.encode()


def log_folders(document: dict[str, Any], folder: Path) -> dict[int, Path]:
    """The log directories that a capture shows, by broker; records are there, and are secret.

    Segments have the sizes that it shows; all logs begin with the same batch.
    """
    found = {}
    for number, broker in document["brokers"].items():
        root = found[int(number)] = folder / f"broker-{number}"
        root.mkdir(parents=True)
        (root / "meta.properties").write_text(f"#\nversion=0\nbroker.id={number}\ncluster.id={CLUSTER}\n")
        for name, directory in broker["dirs"].items():
            (root / name).mkdir()
            for segment, size in (directory.get("files") or {"00000000000000000000.log": len(batch())}).items():
                (root / name / segment).write_bytes(batch().ljust(size, b"\0")[:size])
            for file, key in (
                ("partition.metadata", "partition_metadata"),
                ("leader-epoch-checkpoint", "leader_epoch_checkpoint"),
            ):
                if directory[key] is not None:
                    (root / name / file).write_text(directory[key])
    return found
