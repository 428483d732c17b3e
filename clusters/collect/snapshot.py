"""The writer of snapshots: what was seen of a cluster, in the format that `kwalk.model.kafka.snapshots` reads.

The lab and `kwalk collect` have different eyes (another client of ZooKeeper, other ways to log directories), and this
one writer. docs/generate/snapshot_format.toml describes the format.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from attrs import asdict, evolve, field, frozen

from kwalk.clusters.collect.log_files import CHECKPOINTS, RootFiles, directory_object, garbled_checkpoints, offsets_in
from kwalk.clusters.collect.metadata_log import MetadataImage
from kwalk.clusters.collect.znodes import (
    CLUSTER_ID,
    CONTROLLER,
    CONTROLLER_EPOCH,
    DEFAULT_CONFIG,
    DELETED,
    ELECTIONS,
    MIGRATION,
    REASSIGNMENTS,
    TOPIC_CONFIGS,
    TOPICS,
    Topics,
    Znode,
    Znodes,
    some,
)
from kwalk.clusters.metadata import STORAGE_ERROR, Metadata, TopicMetadata
from kwalk.model.kafka.snapshots.capture import (
    FORMAT,
    INT32,
    MIN_IN_SYNC,
    UNCLEAN_ELECTIONS,
    CapturedReplica,
)

STATE_FIELDS = ("leader", "leader_epoch", "isr", "controller_epoch")


@frozen
class BrokerSeen:
    """What was read of one broker.

    Args:
        id: Its id.
        alive: Whether it runs.
        roots: Its log directories; None if they were not read.
        metadata: Its Metadata response; None if there was none.
        log_dirs: The errors of its log directories by path, as it says; None if it does not.
        fetches: The errors of fetches from its replicas by topic id, by topic and partition; None if it was not asked.
        replicas: The replicas that it has in memory; None if it was not asked.
        settings: Its values of min.insync.replicas and unclean.leader.election.enable; None if it does not say.
    """

    id: int
    alive: bool
    roots: Sequence[RootFiles] | None = None
    metadata: Metadata | None = None
    log_dirs: Mapping[str, int] | None = None
    fetches: Mapping[tuple[str, int], int] | None = None
    replicas: Mapping[tuple[str, int], CapturedReplica | None] | None = None
    settings: Mapping[str, str] | None = None

    def is_offline(self, path: str) -> bool | None:
        """Whether the disk of a log directory has failed; None if the broker does not say."""
        error = {_path(each): error for each, error in (self.log_dirs or {}).items()}.get(_path(path))
        return {0: False, STORAGE_ERROR: True}.get(error) if error is not None else None


@frozen
class ClusterParts:
    """All that was read of a cluster.

    Args:
        version: Kafka's version.
        znodes: ZooKeeper.
        brokers: The brokers; those that ZooKeeper names beside them are added.
        problems: What could not be read, one sentence each.
        unsettled: The topics that changed while the parts of the snapshot were read.
        about: Further fields, such as a label.
        image: KRaft's image; None if no metadata log was read.
    """

    version: str
    znodes: Znodes
    brokers: Sequence[BrokerSeen]
    problems: Sequence[str] = ()
    unsettled: Sequence[str] = ()
    about: Mapping[str, Any] = field(factory=dict)
    image: MetadataImage | None = None


def now() -> str:
    """Return the present time as a snapshot has it: in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def snapshot_of(parts: ClusterParts) -> dict[str, Any]:
    """Return what was read as a snapshot; its problems name what is left out."""
    znodes, problems = parts.znodes, [*parts.problems, *parts.znodes.problems()]
    topics = {name: topic for name in znodes.topic_names() if (topic := _topic(znodes, name, problems)) is not None}
    controller, image = _controller(znodes), parts.image
    brokers = [_in_image(one, image) for one in _with_named(parts.brokers, topics.values(), controller, znodes)]
    return {
        "format": FORMAT,
        **parts.about,
        "version": parts.version,
        "cluster_id": _text((znodes.object(CLUSTER_ID) or {}).get("id")),
        "broker_ids": list(znodes.registrations()),
        "controller": controller,
        "controller_epoch": _controller_epoch(znodes),
        "kraft_controller_epoch": _kraft_controller_epoch(znodes),
        "migration": _migration(znodes),
        "image": None if image is None else image.object(znodes.topics.have),
        "delete_topics": [name for name in znodes.children(DELETED) if znodes.topics.have(name)],
        "preferred_replica_election": _requested(znodes, ELECTIONS),
        "reassign_partitions": _requested(znodes, REASSIGNMENTS),
        "default_settings": _settings_in(znodes, DEFAULT_CONFIG),
        "topics": topics,
        "brokers": _brokers(brokers, znodes, topics, problems, image),
        "problems": problems,
        "unsettled": list(parts.unsettled),
    }


# ZooKeeper.


def _controller(znodes: Znodes) -> int | None:
    number = (znodes.object(CONTROLLER) or {}).get("brokerid")
    return number if isinstance(number, int) else None


def _kraft_controller_epoch(znodes: Znodes) -> int | None:
    """Return the epoch of a KRaft controller, -1 of another one; None before 3.4, which does not write it."""
    epoch = (znodes.object(CONTROLLER) or {}).get("kraftControllerEpoch")
    return epoch if type(epoch) is int and -1 <= epoch <= INT32 else None


def _migration(znodes: Znodes) -> dict[str, int] | None:
    """Return the state of a migration in /migration; None if there is none."""
    found = znodes.object(MIGRATION) or {}
    fields = ("kraft_metadata_offset", "kraft_metadata_epoch", "kraft_controller_id", "kraft_controller_epoch")
    return {name: found[name] for name in fields} if all(type(found.get(name)) is int for name in fields) else None


def _requested(znodes: Znodes, path: str) -> dict[str, list[int]] | None:
    """Return the partitions that a client's request names, by topic; None if there is no request that can be read."""
    request, found = znodes.object(path), dict[str, list[int]]()
    if request is None:
        return None
    entries = request.get("partitions")
    for entry in entries if isinstance(entries, list) else ():
        name, number = (entry.get("topic"), entry.get("partition")) if isinstance(entry, dict) else (None, None)
        if isinstance(name, str) and type(number) is int and 0 <= number <= INT32 and znodes.topics.have(name):
            found.setdefault(name, []).append(number)
    return found


def _in_image(broker: BrokerSeen, image: MetadataImage | None) -> BrokerSeen:
    """Return a broker that runs if KRaft says so: in KRaft mode it is not in /brokers/ids."""
    known = None if image is None else image.brokers.get(broker.id)
    return broker if known is None or known.migrating else evolve(broker, alive=not known.fenced)


def _mode(broker: BrokerSeen, image: MetadataImage | None) -> str | None:
    """Return the mode of a broker: by its registration in the image, or by its meta.properties."""
    known = None if image is None else image.brokers.get(broker.id)
    if known is not None:
        return "migrating" if known.migrating else "kraft"
    kept = [root for root in broker.roots or () if root.broker_id is not None]
    return ("kraft" if any(root.is_kraft for root in kept) else "zookeeper") if kept else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _controller_epoch(znodes: Znodes) -> int:
    found = znodes.contents.get(CONTROLLER_EPOCH)
    return int(found.content) if isinstance(found, Znode) and found.content.isdigit() else 0


def _topic(znodes: Znodes, name: str, problems: list[str]) -> dict[str, Any] | None:
    path = f"{TOPICS}/{name}"
    znode, found = znodes.object(path), znodes.contents.get(path)
    if znode is None or not isinstance(found, Znode):
        return None
    if not _has_assignment(znode):
        problems.append(f"No assignment of replicas is in {path}: the topic is left out.")
        return None
    numbers = [number for number in znodes.children(f"{path}/partitions") if number.isdecimal()]
    below = {number: f"{path}/partitions/{number}/state" for number in sorted(numbers, key=int)}
    states = {number: _state(znodes, state) for number, state in below.items()}
    incomplete = [number for number, state in states.items() if state == {}]
    if incomplete:
        problems.append(f"The states of the partitions {some(incomplete)} of {name} lack a field: it is left out.")
    if incomplete or any(map(znodes.is_unread, (f"{path}/partitions", *below.values()))):
        return None
    return {
        "znode": znode,
        "version": found.version,
        "czxid": found.czxid,
        "mzxid": found.mzxid,
        "cleanup_policy": _cleanup_policy(znodes.object(f"{TOPIC_CONFIGS}/{name}")),
        "settings": _settings_in(znodes, f"{TOPIC_CONFIGS}/{name}"),
        "partition_state": {number: state for number, state in states.items() if state},
    }


def _cleanup_policy(config: Mapping[str, Any] | None) -> str | None:
    """Return cleanup.policy of a topic's configuration, "default" where it has none; None if it was not read."""
    values = None if config is None else config.get("config")
    if not isinstance(values, dict):
        return None
    return str(values.get("cleanup.policy", "default"))


def _settings_in(znodes: Znodes, path: str) -> dict[str, int | bool] | None:
    """Return the settings in a configuration's znode, none where there is no znode; None if it could not be read."""
    if path in znodes.contents and znodes.contents[path] is None:
        return {}
    return _settings((znodes.object(path) or {}).get("config"))


def _settings(values: object) -> dict[str, int | bool] | None:
    """Return the settings about acknowledgements and elections in a configuration; None if one is no value of it."""
    if not isinstance(values, Mapping):
        return None
    texts = {name: str(values[name]).strip().lower() for name in (MIN_IN_SYNC, UNCLEAN_ELECTIONS) if name in values}
    read = {name: {"true": True, "false": False}.get(text, _whole(text)) for name, text in texts.items()}
    are_whole = all(isinstance(value, bool) is (name == UNCLEAN_ELECTIONS) for name, value in read.items())
    found = {name: value for name, value in read.items() if value is not None}
    return found if are_whole and len(found) == len(read) else None


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and 1 <= int(text) <= INT32 else None


def _state(znodes: Znodes, path: str) -> dict[str, Any] | None:
    """Return a state znode; None if there is none or it cannot be read, empty if it lacks a field."""
    state, found = znodes.object(path), znodes.contents.get(path)
    if state is None or not isinstance(found, Znode):
        return None
    whole = (state.get(name) for name in STATE_FIELDS if name != "isr")
    if not all(type(value) is int for value in whole) or not _are_brokers(state.get("isr")):
        return {}
    return {**{name: state[name] for name in STATE_FIELDS}, "zk_version": found.version}


def _has_assignment(znode: Mapping[str, Any]) -> bool:
    partitions = znode.get("partitions")
    return isinstance(partitions, dict) and all(map(_are_brokers, partitions.values()))


def _are_brokers(value: object) -> bool:
    return isinstance(value, list) and all(type(number) is int for number in value)


# Brokers.


def _with_named(
    brokers: Iterable[BrokerSeen], topics: Iterable[Mapping[str, Any]], controller: int | None, znodes: Znodes
) -> list[BrokerSeen]:
    """Return the brokers, and those that only ZooKeeper names: registered ones run."""
    known = {broker.id: broker for broker in brokers}
    registered = znodes.registrations()
    named = {*registered, *(() if controller is None else (controller,))}
    for topic in topics:
        named.update(*topic["znode"]["partitions"].values())
        for state in topic["partition_state"].values():
            named.update(state["isr"], [state["leader"]])
    numbers = {number for number in named if isinstance(number, int) and number >= 0}
    return [known.get(number) or BrokerSeen(number, number in registered) for number in sorted({*known, *numbers})]


def _brokers(
    brokers: Iterable[BrokerSeen],
    znodes: Znodes,
    topics: Mapping[str, Any],
    problems: list[str],
    image: MetadataImage | None,
) -> dict[str, Any]:
    unread = {name for name in znodes.topic_names() if name not in topics}
    found: dict[str, Any] = {}
    answers = _Answers(znodes.topics)
    for broker in brokers:
        found[str(broker.id)] = {
            "alive": broker.alive,
            "mode": _mode(broker, image),
            "log_dirs": _log_dirs(broker),
            "dirs": _directories(broker, znodes.topics, unread, problems),
            "set_aside": _set_aside(broker, znodes.topics),
            "twice": _twice(broker, znodes.topics),
            "metadata_cache": answers.object(broker),
            "fetch_errors": _fetch_errors(broker),
            "replicas": _replicas(broker),
            "settings": _settings(broker.settings),
        }
    return found


def _directories(broker: BrokerSeen, topics: Topics, unread: set[str], problems: list[str]) -> dict[str, Any] | None:
    """Return the directories of a broker; those of topics whose znodes could not be read would look orphaned."""
    if broker.roots is None:
        return None
    found: dict[str, tuple[RootFiles, dict[str, dict[str, int] | None]]] = {}
    for root in broker.roots:
        problems += [f"Broker {broker.id}: {problem}." for problem in root.problems]
        offsets = _offsets(broker, root, problems)
        wanted = {name: (root, offsets) for name in root.directories if topics.have_directory(name)}
        twice = sorted(found.keys() & wanted)
        if twice:
            problems.append(f"Broker {broker.id} has {some(twice)} in two log directories; one of each is left out.")
        found = {**wanted, **found}
    kept: dict[str, Any] = {}
    for name in sorted(found):
        if name.rpartition("-")[0] not in unread:
            root, offsets = found[name]
            kept[name], garbled = directory_object(name, root.directories[name], _path(root.path), offsets)
            problems += [f"Broker {broker.id}: {file} of {name} is truncated or garbled." for file in garbled]
    return kept


def _twice(broker: BrokerSeen, topics: Topics) -> dict[str, list[str]]:
    """Return the log directories of each partition's directory that is in more than one of them."""
    found: dict[str, list[str]] = {}
    for root in broker.roots or ():
        for name in filter(topics.have_directory, root.directories):
            found.setdefault(name, []).append(_path(root.path))
    return {name: sorted(paths) for name, paths in sorted(found.items()) if len(paths) > 1}


def _set_aside(broker: BrokerSeen, topics: Topics) -> dict[str, Any] | None:
    """Return the directories of logs that a broker has set aside, is about to delete, or moves between roots."""
    if broker.roots is None:
        return None
    return {
        name: directory_object(name, files, _path(root.path), {})[0]
        for root in broker.roots
        for name, files in sorted(root.set_aside.items())
        if topics.have_directory(name.rpartition(".")[0])
    }


def _offsets(broker: BrokerSeen, root: RootFiles, problems: list[str]) -> dict[str, dict[str, int] | None]:
    """Return the entries of a root's checkpoints by the fields of a snapshot; None if missing or garbled."""
    found: dict[str, dict[str, int] | None] = {}
    for each, name in CHECKPOINTS.items():
        text = root.checkpoints.get(name)
        found[each] = None if text is None else offsets_in(text)
        if text is not None and found[each] is None:
            problems.append(f"Broker {broker.id}: {name} in {root.path} is truncated or garbled.")
    return found


def _log_dirs(broker: BrokerSeen) -> list[dict[str, Any]] | None:
    """Return the log directories that were read, and those that the broker names; None if there is neither."""
    if broker.roots is None and broker.log_dirs is None:
        return None
    read = list(broker.roots or ())
    others = {_path(path) for path in broker.log_dirs or ()} - {_path(root.path) for root in read}
    return [
        {
            "path": _path(root.path),
            "broker_id": root.broker_id if (root.broker_id or 0) <= INT32 else None,
            "cluster_id": root.value_of("cluster.id"),
            "offline": broker.is_offline(root.path),
            **({"garbled": garbled} if (garbled := garbled_checkpoints(root)) else {}),
        }
        for root in sorted((*read, *map(RootFiles, others)), key=lambda root: _path(root.path))
    ]


def _fetch_errors(broker: BrokerSeen) -> dict[str, dict[str, list[int]]] | None:
    """Return the partitions with each error of a fetch by topic id, by topic."""
    found: dict[str, dict[str, list[int]]] = {}
    for (name, number), error in sorted((broker.fetches or {}).items()):
        found.setdefault(str(error), {}).setdefault(name, []).append(number)
    return None if broker.fetches is None else dict(sorted(found.items()))


def _replicas(broker: BrokerSeen) -> dict[str, dict[str, dict[str, Any] | None]] | None:
    """Return the replicas that a broker has in memory, by topic and partition."""
    found: dict[str, dict[str, dict[str, Any] | None]] = {}
    for (name, number), one in sorted((broker.replicas or {}).items()):
        found.setdefault(name, {})[str(number)] = None if one is None else asdict(one)
    return None if broker.replicas is None else found


def _path(path: str) -> str:
    """Return the path of a log directory without what may differ between its spellings, such as a slash at its end."""
    return posixpath.normpath(path)


class _Answers:
    """Writes Metadata responses. One that is nearly that of the first broker is written as its differences."""

    def __init__(self, topics: Topics) -> None:
        self.topics = topics
        self.first: tuple[int, Mapping[str, TopicMetadata]] | None = None

    def object(self, broker: BrokerSeen) -> dict[str, Any] | None:
        if broker.metadata is None:
            return None
        topics = {name: topic for name, topic in sorted(broker.metadata.topics.items()) if self.topics.have(name)}
        head: dict[str, Any] = {"brokers": list(broker.metadata.brokers), "controller": broker.metadata.controller}
        if self.first is None:
            self.first = broker.id, topics
            return {**head, "topics": {name: _metadata_topic(topic) for name, topic in topics.items()}}
        number, known = self.first
        gone = dict.fromkeys(name for name in known if name not in topics)
        differing = {name: _metadata_topic(topic) for name, topic in topics.items() if known.get(name) != topic}
        return {**head, "like": number, "topics": {**differing, **gone}}


def _metadata_topic(topic: TopicMetadata) -> dict[str, Any]:
    return {
        "error": topic.error,
        "topic_id": topic.topic_id,
        "partitions": {
            str(number): {
                "error": partition.error,
                "leader": partition.leader,
                "leader_epoch": partition.leader_epoch,
                "isr": list(partition.isr),
                "offline": list(partition.offline),
            }
            for number, partition in topic.partitions.items()
        },
    }
