"""The znodes that a snapshot needs, read in batches, and read again where they have changed.

Words: a znode's *mark* are the ids of the transactions that created it, that last changed its content, and that last
changed its list of children. Transactions have different ids, so that equal marks mean an unchanged znode.

Only these paths are read: the controller and its epoch, the state of a migration, the brokers' registrations, the
topics with their partitions' states and configurations, those of all brokers, and what clients request there:
deletions, elections, reassignments. Credentials are elsewhere (/config/users, /config/brokers/ID, /delegation_token):
/config/brokers/<default> has no passwords (DynamicBrokerConfig.validateConfigs).

Source: kafka.zk.ZkData; zookeeper.jute.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any, Protocol

from attrs import frozen

from kwalk.model.kafka.snapshots.capture import INT32
from kwalk.model.language import UsageError
from kwalk.search.base.progress import Progress, Report, silent

CONTROLLER, CONTROLLER_EPOCH, CLUSTER_ID = "/controller", "/controller_epoch", "/cluster/id"
BROKER_IDS, TOPICS, DELETED = "/brokers/ids", "/brokers/topics", "/admin/delete_topics"
ELECTIONS, REASSIGNMENTS = "/admin/preferred_replica_election", "/admin/reassign_partitions"
TOPIC_CONFIGS, MIGRATION = "/config/topics", "/migration"
DEFAULT_CONFIG = "/config/brokers/<default>"
BATCH = 2_000
"""How many znodes are read between two reports of progress."""
LEFT_OUT = "Topics of which a znode could not be read are left out."
SETTLING = 5
"""How often znodes that change again and again are read."""


@frozen
class Znode:
    """A znode, or its list of children: `content` or `children` is empty where it was not asked for."""

    content: bytes
    children: tuple[str, ...]
    version: int
    czxid: int
    mzxid: int
    pzxid: int

    @property
    def mark(self) -> tuple[int, int, int]:
        """What differs after each change."""
        return self.czxid, self.mzxid, self.pzxid


@frozen
class RefusedRead:
    """The error, such as NOAUTH, with which ZooKeeper refused a read."""

    code: str


Answer = Znode | RefusedRead | None
"""What ZooKeeper answered; None where there is no znode."""


class ZnodeReader(Protocol):
    """What reads znodes, and can do nothing else. Answers are in the order of the paths."""

    def get(self, paths: Sequence[str]) -> list[Answer]:
        """Return the contents of znodes."""

    def children(self, paths: Sequence[str]) -> list[Answer]:
        """Return the children of znodes."""

    def stat(self, paths: Sequence[str]) -> list[Answer]:
        """Return znodes without content and children."""


@frozen
class Topics:
    """Which topics a snapshot has: those whose name fits one of the patterns; all without a pattern."""

    patterns: tuple[str, ...] = ()

    def have(self, name: str) -> bool:
        """Whether a topic is one of them."""
        return not self.patterns or any(fnmatchcase(name, pattern) for pattern in self.patterns)

    def have_directory(self, name: str) -> bool:
        """Whether a partition's directory, such as t-0, belongs to one of them."""
        return self.have(name.rpartition("-")[0])


class Znodes:
    """The znodes of a cluster as they were read, and what could not be read or understood.

    Args:
        reader: Reads znodes.
        topics: Which topics are read.
        report: Gets the progress.
    """

    def __init__(self, reader: ZnodeReader, topics: Topics, *, report: Report = silent) -> None:
        self.reader, self.topics, self.report = reader, topics, report
        self.contents: dict[str, Answer] = {}
        self.lists: dict[str, Answer] = {}

    # Reading.

    def read(self) -> None:
        """Read what is needed and not there yet: lists of children show what else is needed."""
        while True:
            lists = [path for path in self._needed_lists() if path not in self.lists]
            contents = [path for path in self._needed_contents() if path not in self.contents]
            if not lists and not contents:
                break
            self.lists |= zip(lists, self._batches(self.reader.children, lists, "children"), strict=True)
            self.contents |= zip(contents, self._batches(self.reader.get, contents, "contents"), strict=True)
        self.lists = {path: self.lists[path] for path in self._needed_lists()}
        self.contents = {path: self.contents[path] for path in self._needed_contents()}

    def refresh(self) -> frozenset[str]:
        """Compare all znodes with ZooKeeper, and read again those that have changed; return their paths.

        If none has, all of them had their contents at one moment: the one at which the comparison began.
        """
        found: set[str] = set()
        suspects = {*self.contents, *self.lists}
        for _ in range(SETTLING):
            changed = self._changed(sorted(suspects))
            if not changed:
                break
            before = {*self.contents, *self.lists}
            for path in changed:
                self.contents.pop(path, None)
                self.lists.pop(path, None)
            self.read()
            suspects = changed | ({*self.contents, *self.lists} - before)
            found |= suspects
        return frozenset(found)

    def _changed(self, paths: Sequence[str]) -> set[str]:
        found = zip(paths, self._batches(self.reader.stat, paths, "comparison"), strict=True)
        return {path for path, now in found if any(_differ(was, now) for was in self._known(path))}

    def _known(self, path: str) -> Iterator[Answer]:
        yield from (known[path] for known in (self.contents, self.lists) if path in known)

    def _needed_lists(self) -> Iterator[str]:
        yield from (BROKER_IDS, TOPICS, DELETED)
        yield from (f"{TOPICS}/{name}/partitions" for name in self.topic_names())

    def _needed_contents(self) -> Iterator[str]:
        yield from (CONTROLLER, CONTROLLER_EPOCH, CLUSTER_ID, MIGRATION, ELECTIONS, REASSIGNMENTS, DEFAULT_CONFIG)
        yield from (f"{BROKER_IDS}/{child}" for child in self.children(BROKER_IDS))
        for name in self.topic_names():
            yield f"{TOPICS}/{name}"
            yield f"{TOPIC_CONFIGS}/{name}"
            parent = f"{TOPICS}/{name}/partitions"
            yield from (f"{parent}/{child}/state" for child in self.children(parent))

    def _batches(
        self, ask: Callable[[Sequence[str]], list[Answer]], paths: Sequence[str], what: str
    ) -> Iterator[Answer]:
        started = time.monotonic()
        for start in range(0, len(paths), BATCH):
            batch = paths[start : start + BATCH]
            yield from ask(batch)
            done, seconds = start + len(batch), time.monotonic() - started
            left = (len(paths) - done) * seconds / done
            self.report(Progress("collect", done, "znodes", seconds, len(paths), left, f"{what} in ZooKeeper"))

    # What was read.

    def check(self) -> None:
        """Check that what every other part depends on could be read; UsageError if not."""
        for path in (CONTROLLER, BROKER_IDS, TOPICS):
            found = self.contents.get(path) or self.lists.get(path)
            if isinstance(found, RefusedRead):
                raise UsageError(
                    f"ZooKeeper refuses to read {path} ({found.code}), without which nothing is known of the cluster. "
                    "Give a user who may read it, with --sasl or --digest."
                )

    def children(self, path: str) -> tuple[str, ...]:
        """Return the names of a znode's children, sorted; none where the list was refused."""
        found = self.lists.get(path)
        return tuple(sorted(found.children)) if isinstance(found, Znode) else ()

    def topic_names(self) -> list[str]:
        """Return the names of the topics."""
        return [name for name in self.children(TOPICS) if self.topics.have(name)]

    def is_unread(self, path: str) -> bool:
        """Whether a znode is there, and could not be read or understood."""
        known = self.contents.get(path) or self.lists.get(path)
        return isinstance(known, RefusedRead) or (path in self.contents and self._is_garbled(path))

    def object(self, path: str) -> dict[str, Any] | None:
        """Return a znode's JSON object; None if there is no znode, or none that can be read."""
        found = self.contents.get(path)
        try:
            read = json.loads(found.content) if isinstance(found, Znode) and found.content else None
        except ValueError:
            return None
        return read if isinstance(read, dict) else None

    def has_migrated(self) -> bool:
        """Whether a migration to KRaft has begun: /controller is that of a KRaft controller, or /migration is there."""
        epoch = (self.object(CONTROLLER) or {}).get("kraftControllerEpoch", -1)
        return (isinstance(epoch, int) and epoch >= 0) or isinstance(self.contents.get(MIGRATION), Znode)

    def registrations(self) -> dict[int, dict[str, Any]]:
        """Return the registrations of brokers by id; an empty object for one that cannot be read."""
        numbers = sorted(int(child) for child in self.children(BROKER_IDS) if child.isdecimal())
        return {number: self.object(f"{BROKER_IDS}/{number}") or {} for number in numbers}

    def assigned(self) -> dict[int, dict[tuple[str, int], int]]:
        """Return the partitions that each broker is to have, or leads, with their leader epochs; 0 without a state."""
        found: dict[int, dict[tuple[str, int], int]] = {}
        for name in self.topic_names():
            path = f"{TOPICS}/{name}"
            replicas = (self.object(path) or {}).get("partitions")
            by_number = replicas if isinstance(replicas, dict) else {}
            for number in {*by_number, *self.children(f"{path}/partitions")}:
                state = self.object(f"{path}/partitions/{number}/state") or {}
                held, isr, epoch = by_number.get(number), state.get("isr"), state.get("leader_epoch", 0)
                brokers = [one for part in (held, isr, [state.get("leader")]) if isinstance(part, list) for one in part]
                is_whole = number.isdecimal() and int(number) <= INT32 and type(epoch) is int and 0 <= epoch <= INT32
                for broker in (one for one in brokers if is_whole and type(one) is int):
                    found.setdefault(broker, {})[name, int(number)] = epoch
        return found

    def problems(self) -> Iterator[str]:
        """Yield what could not be read or understood."""
        refused: dict[str, list[str]] = {}
        for path, found in (*self.contents.items(), *self.lists.items()):
            if isinstance(found, RefusedRead):
                refused.setdefault(found.code, []).append(path)
        for code, paths in refused.items():
            yield f"ZooKeeper refused with {code} to read {some(paths)}. {LEFT_OUT}"
        migration = self.contents.get(MIGRATION)
        if isinstance(migration, Znode) and not migration.content:
            yield (
                f"{MIGRATION} has no content: KRaft's controllers fail to read it, again and again, before 3.9.2 "
                "(KAFKA-19480). Delete it, if no controller of KRaft leads."
            )
        garbled = [path for path in self.contents if path != CONTROLLER_EPOCH and self._is_garbled(path)]
        if garbled:
            yield f"No JSON object is in {some(garbled)}. {LEFT_OUT}"

    def _is_garbled(self, path: str) -> bool:
        found = self.contents[path]
        return isinstance(found, Znode) and bool(found.content) and self.object(path) is None


def _differ(was: Answer, now: Answer) -> bool:
    """Whether a znode has changed. One that is refused has not: whoever may not read it may still compare it."""
    if isinstance(was, RefusedRead) or isinstance(now, RefusedRead):
        return False
    return (was.mark if was else None) != (now.mark if now else None)


def some(names: Iterable[str], most: int = 3) -> str:
    """Return the first names, and how many there are beside them."""
    listed = list(names)
    more = f" and {len(listed) - most:,} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more


def topic_of(path: str) -> str | None:
    """Return the topic that a znode belongs to; None if to none."""
    return path.split("/")[3] if path.startswith(f"{TOPICS}/") else None
