"""Snapshots of a cluster of the lab: its own eyes, and the writer of `kwalk.clusters.collect`.

What is seen: the znodes of ZooKeeper, each broker's log directories on disk, and what it answers to clients: metadata,
log directories, and the replicas that it has in memory. The parts are read one after another: a snapshot of a cluster
that changes meanwhile may mix two moments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from kwalk.clusters.collect.logs import read_folder
from kwalk.clusters.collect.metadata_log import newest_image
from kwalk.clusters.collect.snapshot import BrokerSeen, ClusterParts, now, snapshot_of
from kwalk.clusters.collect.znodes import Answer, RefusedRead, Topics, Znode, Znodes
from kwalk.clusters.fetch import errors_of_replicas
from kwalk.clusters.lab.zookeeper import Op, Stat, ZooKeeperClient, ZooKeeperError, read_stat
from kwalk.clusters.leader_epochs import likely_epochs, replicas_in_memory
from kwalk.clusters.metadata import describe_log_dirs, describe_settings, metadata
from kwalk.clusters.wire import Malformed, Reader
from kwalk.model.kafka.snapshots.capture import SETTINGS

PATIENCE = 2.0
"""Seconds that a broker has for a response."""


@frozen
class Place:
    """Where a broker is looked at.

    Args:
        id: Its id.
        port: Its port.
        disks: The folders of its log directories.
        alive: Whether its process runs.
        with_ids: Whether its Metadata responses have topic ids.
        fetches_by_id: Whether consumers fetch from it by topic id.
        is_queried: Whether it is asked for anything; not if it is known to be paused.
    """

    id: int
    port: int
    disks: Sequence[Path]
    alive: bool
    with_ids: bool
    fetches_by_id: bool
    is_queried: bool = True


@frozen
class LabZnodes:
    """Reads znodes with the lab's client, many at once."""

    client: ZooKeeperClient

    def get(self, paths: Sequence[str]) -> list[Answer]:
        return self._answers(Op.GET_DATA, paths, lambda r: _znode(content=r.buffer() or b"", stat=read_stat(r)))

    def children(self, paths: Sequence[str]) -> list[Answer]:
        def read(reader: Reader) -> Znode:
            names = reader.array(reader.long_string)
            return _znode(children=names, stat=read_stat(reader))

        return self._answers(Op.GET_CHILDREN2, paths, read)

    def stat(self, paths: Sequence[str]) -> list[Answer]:
        return self._answers(Op.EXISTS, paths, lambda r: _znode(stat=read_stat(r)))

    def _answers(self, op: Op, paths: Sequence[str], read: Callable[[Reader], Znode]) -> list[Answer]:
        return [_answer(sent) for sent in [self.client.read(op, path, read) for path in paths]]


def _znode(*, content: bytes = b"", children: Iterable[str] = (), stat: Stat) -> Znode:
    return Znode(content, tuple(children), stat.version, stat.czxid, stat.mzxid, stat.pzxid)


def _answer(sent: Future[Znode]) -> Answer:
    try:
        return sent.result(30)
    except ZooKeeperError as error:
        if error.code == "NOAUTH":
            return RefusedRead(error.code)
        if error.code == "NONODE":
            return None
        raise


def take(
    zk: ZooKeeperClient, places: Iterable[Place], version: str, about: Mapping[str, Any], topic: str | None = None
) -> dict[str, Any]:
    """Return what is seen of a cluster at this moment.

    Args:
        zk: A client of its ZooKeeper.
        places: Its brokers.
        version: Its version.
        about: Further fields, such as a label.
        topic: The only topic that is looked at; all without one.
    """
    began = now()
    znodes = Znodes(LabZnodes(zk), Topics(() if topic is None else (topic,)))
    znodes.read()
    known = list(places)
    assigned = znodes.assigned()
    brokers = [_broker(place, znodes.topics, assigned.get(place.id, {})) for place in known]
    image, problems = newest_image(disk for place in known for disk in place.disks)
    taken = {"began": began, "ended": now(), "topics": [] if topic is None else [topic]}
    parts = ClusterParts(version, znodes, brokers, problems, about={**about, "taken": taken}, image=image)
    return snapshot_of(parts)


def _broker(place: Place, topics: Topics, assigned: Mapping[tuple[str, int], int]) -> BrokerSeen:
    """Return what there is of a broker, with what it answers, as far as it does."""
    seen = BrokerSeen(place.id, place.alive, [read_folder(disk) for disk in place.disks])
    if not place.alive or not place.is_queried:
        return seen
    with suppress(OSError, Malformed):
        known = metadata(place.port, with_ids=place.with_ids, seconds=PATIENCE)
        seen = evolve(seen, metadata=known)
        seen = evolve(seen, log_dirs=describe_log_dirs(place.port, seconds=PATIENCE))
        names = [name for name in known.topics if topics.have(name)]
        epochs = likely_epochs(place.id, assigned, known, names)
        seen = evolve(seen, replicas=replicas_in_memory(place.port, epochs, seconds=PATIENCE))
        seen = evolve(seen, settings=describe_settings(place.port, place.id, SETTINGS, seconds=PATIENCE))
        if place.fetches_by_id:
            seen = evolve(seen, fetches=errors_of_replicas(place.port, place.id, known, names, seconds=PATIENCE))
    return seen
