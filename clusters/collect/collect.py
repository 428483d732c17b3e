"""Takes a snapshot of a running cluster: ZooKeeper, then brokers and log directories, then ZooKeeper again.

The parts are read one after another while the cluster runs. All znodes are compared after the brokers were looked at;
if one has changed, it is read again and the brokers are looked at again, a few times at most. What still changed is
named in the snapshot, as is everything that could not be read.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from attrs import evolve, field, frozen

from kwalk.clusters.collect.log_files import RootFiles
from kwalk.clusters.collect.logs import (
    SSH,
    LogsUnread,
    SshPlace,
    read_by_ssh,
    read_path,
    ssh_place,
)
from kwalk.clusters.collect.metadata_log import MetadataImage, newest_image
from kwalk.clusters.collect.snapshot import BrokerSeen, ClusterParts, now, snapshot_of
from kwalk.clusters.collect.znodes import (
    CLUSTER_ID,
    Topics,
    ZnodeReader,
    Znodes,
    some,
    topic_of,
)
from kwalk.clusters.fetch import errors_of_replicas
from kwalk.clusters.leader_epochs import Place, likely_epochs, replicas_in_memory
from kwalk.clusters.metadata import Metadata, describe_log_dirs, describe_settings, metadata
from kwalk.clusters.wire import Malformed
from kwalk.model.kafka.snapshots.capture import METADATA_LOG, SETTINGS, CapturedReplica, read_any_capture
from kwalk.model.kafka.snapshots.diagnosis import fetches_by_topic_id
from kwalk.model.kafka.snapshots.untrusted_json import printable
from kwalk.model.kafka.versions.reported import reported_release
from kwalk.model.language import UsageError
from kwalk.search.base.progress import Progress, Report, silent

ROUNDS = 3
"""How often brokers are looked at, while znodes change."""
AT_ONCE = 8
"""How many brokers are looked at at a time."""
HOST_OF_BROKER = "{host}"
"""In a place: the host that a broker has registered."""
PLAINTEXT = "PLAINTEXT"
BROKER_SECONDS = 10.0
"""The patience for a response of a broker."""


@frozen
class LogPlace:
    """Where log directories are: a path of this machine, or a root on a host that ssh reaches; of one broker or any."""

    root: str
    broker: int | None = None
    host: str | None = None

    def __str__(self) -> str:
        return f"ssh {self.host}" if self.host else self.root


def log_place(text: str) -> LogPlace:
    """Return a place from [ID=]PATH or [ID=]ssh://[USER@]HOST[:PORT]/PATH.

    Raises:
        UsageError: The text is neither.
    """
    number, place = found.groups() if (found := re.fullmatch(r"([0-9]{1,10})=(.+)", text, re.DOTALL)) else (None, text)
    broker = None if number is None else int(number)
    if not place.startswith("ssh://"):
        return LogPlace(place, broker)
    host, slash, path = place.removeprefix("ssh://").partition("/")
    if not slash or not path:
        raise UsageError(f"{text!r} names no folder. Allowed: [ID=]ssh://[USER@]HOST[:PORT]/FOLDER.")
    ssh_place(host.replace(HOST_OF_BROKER, "host"), path)
    if broker is None and HOST_OF_BROKER not in host:
        each = f"ssh://{HOST_OF_BROKER}/{path}"
        raise UsageError(f"{text!r} names no broker. Allowed: ID={place} for one, or {each} for every broker.")
    return LogPlace(f"/{path}", broker, host)


@frozen
class CollectOptions:
    """What is collected.

    Args:
        version: Kafka's version, such as "2.8.2"; see `reported_release`.
        topics: Patterns of topics' names; all topics without one.
        logs: Where log directories are.
        ask_brokers: Whether brokers are asked for their metadata caches, the state of their log directories, the
            topic ids of their logs, and two settings.
        ssh: The command that reaches another machine.
        seconds: The patience for the log directories of one machine.
    """

    version: str
    topics: tuple[str, ...] = ()
    logs: tuple[LogPlace, ...] = ()
    ask_brokers: bool = True
    ssh: tuple[str, ...] = SSH
    seconds: float = 120.0


@frozen
class Collected:
    """A snapshot, the content of its file, and why `kwalk diagnose` would refuse it, if it would."""

    document: Mapping[str, Any] = field(repr=False)
    text: str = field(repr=False)
    refusal: str | None = None

    @property
    def problems(self) -> list[str]:
        """What could not be read, or not be read of one moment."""
        found, unsettled = list(self.document["problems"]), self.document["unsettled"]
        if unsettled:
            names = some(map(printable, unsettled), 5)
            found.append(f"Topics that changed while the snapshot was taken, so that it may mix two moments: {names}.")
        if self.refusal:
            found.append(f"The snapshot cannot be inspected as it is: {self.refusal}")
        return found


def collect(reader: ZnodeReader, options: CollectOptions, *, report: Report = silent) -> Collected:
    """Return a snapshot of the cluster whose znodes are read.

    Args:
        reader: Reads the cluster's ZooKeeper.
        options: What is collected.
        report: Gets the progress.

    Raises:
        UsageError: A path of this machine has no log directory.
    """
    began = now()
    znodes = Znodes(reader, Topics(options.topics), report=report)
    znodes.read()
    znodes.check()
    for _ in range(ROUNDS):
        visit = _Visit(znodes, options, report)
        brokers = visit.brokers()
        changed = znodes.refresh()
        if not changed:
            break
    absent = [pattern for pattern in options.topics if not _fits(pattern, znodes)]
    problems = [*(f"No topic is named {printable(pattern)}." for pattern in absent), *sorted(visit.problems)]
    if any(topic_of(path) is None for path in changed):
        problems.append("The controller, the brokers or the list of topics changed meanwhile.")
    about = {"taken": {"began": began, "ended": now(), "topics": list(options.topics)}}
    image, unread = newest_image(Path(place.root) for place in options.logs if place.host is None)
    problems += [*unread, *_without_image(znodes, image)]
    parts = ClusterParts(options.version, znodes, brokers, problems, _unsettled(changed), about, image)
    document = snapshot_of(parts)
    document["problems"] += _without_directories(document)
    text = json.dumps(document, separators=(",", ":")) + "\n"
    return Collected(document, text, _refusal(text))


def _without_image(znodes: Znodes, image: MetadataImage | None) -> Iterator[str]:
    """Yield that the image of a cluster that migrates is not known."""
    if image is None and znodes.has_migrated():
        yield (
            f"The cluster migrates to KRaft, and no metadata log was read: copy {METADATA_LOG} of a controller, and "
            "name the folder that it is in with --logs."
        )


def _without_directories(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the running brokers that are in the ISR of partitions of which they have no directory.

    Such a partition has an offline disk; or a log directory of the broker was not named. Logs of a topic that is being
    deleted may be gone.
    """
    missing: dict[str, list[str]] = {}
    for name, topic in document["topics"].items():
        if name in document["delete_topics"]:
            continue
        for partition, state in topic["partition_state"].items():
            for number in map(str, state["isr"]):
                broker = document["brokers"][number]
                if broker["alive"] and broker["dirs"] is not None and f"{name}-{partition}" not in broker["dirs"]:
                    missing.setdefault(number, []).append(f"{name}-{partition}")
    for number, names in missing.items():
        yield (
            f"Broker {number} is in the ISR of {some(map(printable, names))}; no such directory was found. "
            "If it has further log directories, name them with --logs."
        )


def _refusal(text: str) -> str | None:
    """Return why the reader of snapshots refuses one; None if it does not."""
    try:
        read_any_capture(text.encode())
    except UsageError as error:
        return str(error)
    return None


def _fits(pattern: str, znodes: Znodes) -> bool:
    return any(Topics((pattern,)).have(name) for name in znodes.topic_names())


def _unsettled(changed: Iterable[str]) -> list[str]:
    return sorted({name for path in changed if (name := topic_of(path)) is not None})


# Brokers.


class _Visit:
    """Looks at all brokers once: what they answer, and their log directories."""

    def __init__(self, znodes: Znodes, options: CollectOptions, report: Report) -> None:
        self.znodes, self.options, self.report = znodes, options, report
        self.registered = znodes.registrations()
        self.assigned = znodes.assigned()
        self.problems: list[str] = []
        self.roots: dict[int, list[RootFiles]] = {}
        self.missing: list[tuple[int, LogPlace | SshPlace, RootFiles]] = []
        self.failed: set[int] = set()
        self.started, self.answers = time.monotonic(), 0

    def brokers(self) -> list[BrokerSeen]:
        """Return what is seen of each broker; `problems` then has what is not."""
        asked = self.registered if self.options.ask_brokers else {}
        places = self._remote_places()
        self._read_paths()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            answers = {number: pool.submit(self._ask, number) for number in asked}
            listings = [(number, place, pool.submit(self._list, place)) for number, place in places]
            seen = {}
            for number, answer in answers.items():
                seen[number] = answer.result()
                self._report(len(asked) + len(places))
            for number, place, listing in listings:
                self._take(number, place, listing.result())
                self._report(len(asked) + len(places))
        numbers = sorted({*self.registered, *self.roots, *self.failed, *(number for number, *_ in self.missing)})
        brokers = {n: seen.get(n) or BrokerSeen(n, n in self.registered) for n in numbers}
        self._explain_missing(brokers)
        return [evolve(b, roots=None if n in self.failed else self.roots.get(n)) for n, b in brokers.items()]

    def _report(self, total: int) -> None:
        self.answers += 1
        seconds = time.monotonic() - self.started
        left = (total - self.answers) * seconds / self.answers
        self.report(Progress("collect", self.answers, "answers of brokers", seconds, total, left, "brokers"))

    # Answers.

    def _ask(self, number: int) -> BrokerSeen:
        """Return what a broker answers, as far as it does: its metadata, log directories, topic ids and replicas."""
        seen, endpoint = BrokerSeen(number, alive=True), plaintext_endpoint(self.registered[number])
        if endpoint is None:
            self.problems.append(f"Broker {number} has no PLAINTEXT listener: it was not asked for its metadata.")
            return seen
        (host, port), request = endpoint, "a Metadata"
        try:
            seen = evolve(seen, metadata=_ask(host, port, with_ids=self._has_topic_ids()))
            request = "a DescribeLogDirs"
            seen = evolve(seen, log_dirs=describe_log_dirs(port, host=host, seconds=BROKER_SECONDS))
            self.problems += _wrong_log_dirs(seen)
            request = "a Fetch"
            seen = evolve(seen, fetches=self._fetch(seen, host, port))
            request = "an OffsetForLeaderEpoch"
            seen = evolve(seen, replicas=self._replicas(seen, host, port))
            request = "a DescribeConfigs"
            settings = describe_settings(port, number, SETTINGS, host=host, seconds=BROKER_SECONDS)
            seen = evolve(seen, settings=settings)
        except (OSError, Malformed) as error:
            where = f"{printable(host)}:{port}"
            self.problems.append(f"Broker {number} did not answer {request} request at {where}: {_why(error)}.")
        return seen

    def _has_topic_ids(self) -> bool:
        """Whether brokers answer Metadata requests of version 10, which has topic ids."""
        return _numbers(reported_release(self.options.version).name) >= (2, 8)

    def _fetch(self, broker: BrokerSeen, host: str, port: int) -> dict[tuple[str, int], int] | None:
        """Return the errors of fetches by topic id from a broker's replicas; None before 3.1."""
        if broker.metadata is None or not fetches_by_topic_id(reported_release(self.options.version).name):
            return None
        names = self._names(broker.metadata)
        return errors_of_replicas(port, broker.id, broker.metadata, names, host=host, seconds=BROKER_SECONDS)

    def _replicas(self, broker: BrokerSeen, host: str, port: int) -> dict[Place, CapturedReplica | None]:
        """Return the replicas that a broker has in memory."""
        assert broker.metadata is not None
        assigned = self.assigned.get(broker.id, {})
        epochs = likely_epochs(broker.id, assigned, broker.metadata, self._names(broker.metadata))
        return replicas_in_memory(port, epochs, host=host, seconds=BROKER_SECONDS)

    def _names(self, answer: Metadata) -> list[str]:
        return [name for name in answer.topics if self.znodes.topics.have(name)]

    # Log directories.

    def _read_paths(self) -> None:
        """Read what is on this machine; whoever names it can correct it, so that an error ends the command."""
        for place in self.options.logs:
            if place.host is None:
                try:
                    found = read_path(Path(place.root), may_be_empty=place.broker is not None)
                    self._add(place.broker, place, found)
                except LogsUnread as error:
                    raise UsageError(f"{error}.") from error

    def _remote_places(self) -> list[tuple[int, SshPlace]]:
        """Return the places that ssh reaches: one for each broker and host, with all roots."""
        found: dict[tuple[int, str], list[str]] = {}
        for place in self.options.logs:
            for number, host in self._hosts(place) if place.host else ():
                found.setdefault((number, host), []).append(place.root)
        places = []
        for (number, host), roots in found.items():
            try:
                places.append((number, evolve(ssh_place(host, roots[0]), roots=tuple(roots))))
            except UsageError as error:
                self._fail(number, str(error))
        return places

    def _hosts(self, place: LogPlace) -> Iterator[tuple[int, str]]:
        assert place.host is not None
        for number in self.registered if place.broker is None else (place.broker,):
            host = _host(self.registered.get(number, {}))
            if HOST_OF_BROKER in place.host and host is None:
                self._fail(number, f"Broker {number} has registered no host, so that ssh cannot reach it.")
            else:
                yield number, place.host.replace(HOST_OF_BROKER, host or "")

    def _list(self, place: SshPlace) -> list[RootFiles] | LogsUnread:
        try:
            return read_by_ssh(place, self.options.ssh, seconds=self.options.seconds)
        except LogsUnread as error:
            return error

    def _take(self, number: int, place: SshPlace, listing: list[RootFiles] | LogsUnread) -> None:
        try:
            if isinstance(listing, LogsUnread):
                raise listing
            self._add(number, place, listing)
        except LogsUnread as error:
            self._fail_to_read(number, error)

    def _fail_to_read(self, number: int, error: LogsUnread) -> None:
        self._fail(number, f"The log directories of broker {number} were not read: {error}.")

    def _fail(self, number: int, problem: str) -> None:
        self.failed.add(number)
        self.problems.append(problem)

    def _explain_missing(self, brokers: Mapping[int, BrokerSeen]) -> None:
        """Keep those roots that could not be entered of which their brokers say that the disk has failed.

        Raises:
            UsageError: Another one could not be entered, according to a listing on this machine.
        """
        for number, place, root in self.missing:
            if brokers[number].is_offline(root.path):
                self.roots.setdefault(number, []).append(root)
                continue
            if isinstance(place, LogPlace):
                raise UsageError(f"{_missing(place, root)}.")
            self._fail_to_read(number, _missing(place, root))

    def _add(self, number: int | None, place: LogPlace | SshPlace, roots: Sequence[RootFiles]) -> None:
        """Add roots to the broker that they belong to; LogsUnread if that is another one, or of another cluster."""
        cluster, source = (self.znodes.object(CLUSTER_ID) or {}).get("id"), str(place)
        for root in roots:
            where = printable(source if source == root.path else f"{source}, {root.path}", 200)
            owner = root.broker_id if number is None else number
            if root.is_missing and owner is None:
                raise _missing(place, root)
            if root.value_of("cluster.id") not in (None, cluster) and cluster is not None:
                raise LogsUnread(
                    f"{where} belongs to another cluster ({printable(root.value_of('cluster.id'))}), as ZooKeeper has "
                    f"{printable(cluster)}: see whether its address and chroot are right, and it has not lost its data"
                )
            if owner is None and root.has_metadata_log and not root.directories:
                continue  # a copy of a metadata log
            if owner is None:
                raise LogsUnread(f"{where} does not say which broker it belongs to: name it, as in --logs 1={source}")
            if root.broker_id not in (None, owner):
                raise LogsUnread(f"{where} belongs to broker {root.broker_id}, not {owner}")
            if root.is_kraft and not root.directories and not self.znodes.has_migrated():
                self.problems.append(
                    f"{where} belongs to a controller of KRaft, and ZooKeeper shows no migration: it is left out."
                )
                continue
            if root.is_kraft and not self.znodes.has_migrated():
                raise LogsUnread(f"{where} belongs to a node in KRaft mode, and the cluster does not migrate")
            if root.is_kraft and not root.directories:
                continue  # a controller's: it has the metadata log only
            if root.is_missing:
                self.missing.append((owner, place, root))
            else:
                self.roots.setdefault(owner, []).append(root)


def _ask(host: str, port: int, *, with_ids: bool) -> Metadata:
    """Return a broker's metadata; a broker that is older than `with_ids` says closes the connection."""
    try:
        return metadata(port, host=host, with_ids=with_ids, seconds=BROKER_SECONDS)
    except ConnectionError:
        if not with_ids:
            raise
        return metadata(port, host=host, with_ids=False, seconds=BROKER_SECONDS)


def _wrong_log_dirs(broker: BrokerSeen) -> Iterator[str]:
    """Yield what is wrong with the log directories of a broker, as it says."""
    if not broker.log_dirs:
        yield (
            f"Broker {broker.id} names no log directory in its answer to a DescribeLogDirs request: the client may "
            "lack the permission DESCRIBE for the cluster."
        )
    for path, error in (broker.log_dirs or {}).items():
        if broker.is_offline(path):
            yield f"Broker {broker.id} says that its log directory {printable(path, 200)} is offline."
        elif error:
            yield f"Broker {broker.id} cannot describe its log directory {printable(path, 200)} (error {error})."


def _missing(place: LogPlace | SshPlace, root: RootFiles) -> LogsUnread:
    return LogsUnread(f"{place}: there is no folder {printable(root.path, 200)}, or it cannot be entered")


def _why(error: Exception) -> str:
    return printable(getattr(error, "strerror", None) or str(error) or type(error).__name__)


def plaintext_endpoint(registration: Mapping[str, Any]) -> tuple[str, int] | None:
    """Return the host and port of a listener without encryption and authentication, as a broker registered it.

    Source: kafka.zk.BrokerIdZNode; the listeners' protocols are there from 0.10.2 on.
    """
    protocols = registration.get("listener_security_protocol_map") or {}
    endpoints = registration.get("endpoints") or []
    for endpoint in endpoints if isinstance(endpoints, list) and isinstance(protocols, dict) else ():
        try:
            parts = urlsplit(str(endpoint))
            name = str(endpoint).partition(":")[0]
            if protocols.get(name, name) == PLAINTEXT and parts.hostname and parts.port:
                return parts.hostname, parts.port
        except ValueError:
            continue
    return None


def _host(registration: Mapping[str, Any]) -> str | None:
    """Return the host of a broker, of whatever listener."""
    endpoints = registration.get("endpoints") or []
    for endpoint in [registration.get("host"), *(endpoints if isinstance(endpoints, list) else [])]:
        host = urlsplit(endpoint).hostname if isinstance(endpoint, str) and "://" in endpoint else endpoint
        if isinstance(host, str) and host:
            return host
    return None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
