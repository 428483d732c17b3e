"""Records whose values are known, and what the logs on the disks of brokers have of them, by bytes.

Words: the *origin* of a record is the topic that it was written to, where several had one name: "first", "second"; or
the time of a probe: "damaged" after the damage, "after" when a plan was carried out. A value begins with the origin.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from attrs import frozen

from kwalk.clusters.collect.log_files import HEADER
from kwalk.clusters.lab.brokers import records_in
from kwalk.clusters.lab.cluster import Lab

DAMAGED, AFTER = "damaged", "after"
AFTER_LENGTH = 12
"""How many bytes of a batch its length does not count."""
BACKUP = "backup"
"""The folder of a broker that has what was moved away."""


@frozen
class Acknowledged:
    """A record that was acknowledged by all of the ISR."""

    partition: int
    offset: int
    value: str

    @property
    def origin(self) -> str:
        """The origin of the record."""
        return origin_of(self.value)


@frozen
class Entry:
    """A record in a log, with the leader epoch and the CRC of its batch."""

    value: str
    epoch: int
    crc: int

    @property
    def origin(self) -> str:
        """The origin of the record."""
        return origin_of(self.value)


Log = Mapping[int, Entry]
"""The records of a log by their offsets."""
Logs = Mapping[int, Mapping[int, Log]]
"""The logs on disks, by broker and partition."""


def origin_of(value: str) -> str:
    """Return the origin of a record from its value."""
    return value.partition(":")[0]


def read_records(folder: Path) -> Log:
    """Return what the segments in a directory have; a batch that is cut off at the end is skipped."""
    found: dict[int, Entry] = {}
    for segment in sorted(folder.glob("*.log")):
        content, at = segment.read_bytes(), 0
        while at + HEADER.size <= len(content):
            _, length, epoch, _, crc, *_ = HEADER.unpack_from(content, at)
            end = at + AFTER_LENGTH + length
            if length <= 0 or end > len(content):
                break
            for offset, value in records_in(content[at:end]):
                found[offset] = Entry(value.decode(errors="replace"), epoch, crc)
            at = end
    return found


def logs_on_disks(lab: Lab, topic: str) -> Logs:
    """Return the logs of a topic on each broker, also of one that is down, or whose disk has failed.

    Two directories of a partition count as one log with the records of both.
    """
    found: dict[int, dict[int, dict[int, Entry]]] = {number: {} for number in lab.brokers}
    for number, broker in lab.brokers.items():
        for folder in (place for root in broker.roots for place in (root, root.with_name(f"{root.name}.failed"))):
            for path in folder.glob(f"{topic}-*") if folder.is_dir() else ():
                if path.name.removeprefix(f"{topic}-").isdecimal():
                    log = found[number].setdefault(int(path.name.rpartition("-")[2]), {})
                    log.update(read_records(path))
    return found


def logs_in_backups(lab: Lab, topic: str) -> list[tuple[int, Log]]:
    """Return the partitions and the logs of what was moved away."""
    return [
        (int(path.name.rpartition("-")[2]), read_records(path))
        for folder in lab.folder.glob(f"broker-*/{BACKUP}")
        for path in sorted(folder.rglob(f"{topic}-*"))
        if path.name.removeprefix(f"{topic}-").isdecimal()
    ]


class Ledger:
    """What was written to a topic, and acknowledged."""

    def __init__(self, topic: str) -> None:
        self.topic = topic
        self.acknowledged: list[Acknowledged] = []

    def write(self, lab: Lab, origin: str, times: int = 1) -> list[str]:
        """Write to each partition with acks=all, and consume; return what was refused, of the last time."""
        refused: list[str] = []
        for _ in range(times):
            probes = lab.probe(self.topic, mark=f"{origin}:")
            refused = [] if probes else [f"{self.topic} has no metadata"]
            for number, by in probes.items():
                produced, consumed, name = by["produce"], by["consume"], f"{self.topic}-{number}"
                if produced["ok"]:
                    self.acknowledged.append(Acknowledged(int(number), produced["offset"], produced["value"]))
                else:
                    refused.append(f"{name} is not written: {produced['error']}")
                if not consumed.get("n"):
                    refused.append(f"{name} is not read: {consumed['error']}")
        return refused


@frozen
class Kept:
    """What a plan has to keep, from the logs when it was made.

    Attributes:
        records: the acknowledged records that every ISR member must have.
        origins: for each partition, the origins of the records that an ISR member may have.
        copies: the records that were on disks, as partition, offset and value: a copy of each must be left.
        lost: the acknowledged records of the topic that were on no disk any more.
    """

    records: tuple[Acknowledged, ...]
    origins: Mapping[int, frozenset[str]]
    copies: frozenset[tuple[int, int, str]]
    lost: tuple[Acknowledged, ...] = ()


def what_to_keep(ledger: Ledger, logs: Logs, origin: str | None) -> Kept:
    """Return what is to be kept of logs.

    Args:
        ledger: What was acknowledged.
        logs: The logs, when the plan is made.
        origin: The origin of the records that the topic is to have; None if it is to begin with empty logs.
    """
    partitions = {one.partition for one in ledger.acknowledged} | {p for each in logs.values() for p in each}
    own = {p: _own(logs, p, origin) for p in partitions}
    on_disk = frozenset(_copies((p, log) for each in logs.values() for p, log in each.items()))
    wanted = [one for one in ledger.acknowledged if one.origin in own[one.partition] - {AFTER}]
    return Kept(
        tuple(one for one in wanted if (one.partition, one.offset, one.value) in on_disk),
        own,
        on_disk,
        tuple(one for one in wanted if (one.partition, one.offset, one.value) not in on_disk),
    )


def _own(logs: Logs, partition: int, origin: str | None) -> frozenset[str]:
    """Return the origins that are one with an origin: of a probe, if it is in one log with it, or alone."""
    if origin is None:
        return frozenset({AFTER})
    known = [{entry.origin for entry in each[partition].values()} for each in logs.values() if partition in each]
    is_joined = any(DAMAGED in one and one <= {DAMAGED, origin} for one in known)
    return frozenset({origin, AFTER, *([DAMAGED] if is_joined else [])})


def _copies(logs: Iterable[tuple[int, Log]]) -> Iterator[tuple[int, int, str]]:
    return ((partition, offset, entry.value) for partition, log in logs for offset, entry in log.items())


def differing(one: Log, other: Log) -> int | None:
    """Return the first offset at which two logs have different bytes; None if there is none."""
    return min((offset for offset in one.keys() & other.keys() if one[offset] != other[offset]), default=None)


def wrong_records(
    kept: Kept, ledger: Ledger, logs: Logs, members: Mapping[int, Sequence[int]], *, may_lose: bool = False
) -> list[str]:
    """Return what is wrong with the records of a topic after a plan.

    Args:
        kept: What the plan had to keep.
        ledger: What was acknowledged, also after the plan.
        logs: The logs now.
        members: The ISR of each partition, its leader first.
        may_lose: Whether acknowledged records may be lost.
    """
    later = [one for one in ledger.acknowledged if one.origin == AFTER]
    wanted = [*(() if may_lose else kept.records), *later]
    found: list[str] = []
    if may_lose:
        empty = {one.partition for one in kept.records} - {one.partition for one in records_left(kept, logs, members)}
        found += [f"{ledger.topic}-{number}: all acknowledged records are lost" for number in sorted(empty)]
    for partition, isr in sorted(members.items()):
        for broker in isr:
            log = logs.get(broker, {}).get(partition)
            where = f"{ledger.topic}-{partition} on broker {broker}"
            if log is None:
                found.append(f"{where}: in the ISR without a log")
                continue
            values = {offset: entry.value for offset, entry in log.items()}
            lacks = [one for one in wanted if one.partition == partition and values.get(one.offset) != one.value]
            if lacks:
                first = lacks[0]
                shown = f"{values.get(first.offset)!r} in place of {first.value!r} at offset {first.offset}"
                found.append(f"{where}: {len(lacks)} acknowledged records are lost: {shown}")
            foreign = {e.origin for e in log.values()} - kept.origins.get(partition, frozenset({AFTER}))
            if foreign:
                found.append(f"{where}: has records of {', '.join(sorted(foreign))}")
            offset = differing(logs.get(isr[0], {}).get(partition, {}), log)
            if offset is not None:
                found.append(f"{where}: differs from broker {isr[0]} at offset {offset}")
    return found


def records_left(kept: Kept, logs: Logs, members: Mapping[int, Sequence[int]]) -> list[Acknowledged]:
    """Return which of the records that were to be kept the first ISR member of their partition has."""
    leaders = {number: logs.get(isr[0], {}).get(number, {}) for number, isr in members.items() if isr}
    places = ((one, leaders.get(one.partition, {}).get(one.offset)) for one in kept.records)
    return [one for one, entry in places if entry is not None and entry.value == one.value]


def lost_copies(kept: Kept, logs: Logs, backups: Iterable[tuple[int, Log]]) -> list[str]:
    """Return a line for each partition with records of which no copy is left, on no disk and in no backup."""
    now = (pair for each in logs.values() for pair in each.items())
    left = kept.copies - set(_copies(chain(now, backups)))
    return [
        f"partition {number}: no copy is left of {sum(p == number for p, _, _ in left)} records"
        for number in sorted({p for p, _, _ in left})
    ]


def members_of(states: Mapping[int, Mapping[str, Any]]) -> dict[int, list[int]]:
    """Return the ISR of each partition, its leader first."""
    return {
        number: sorted(map(int, state["isr"]), key=lambda b: b != state["leader"]) for number, state in states.items()
    }


def seen_damage(
    topic: str,
    replicas: Mapping[int, Sequence[int]],
    states: Mapping[int, Mapping[str, Any]],
    logs: Logs,
    live: Collection[int],
) -> list[str]:
    """Return what is wrong with a topic without any diagnosis: from ZooKeeper's state and the bytes of logs."""
    found = []
    for number, state in states.items():
        isr, name = members_of({number: state})[number], f"{topic}-{number}"
        found += [f"{name}: broker {b} is in the ISR and down" for b in isr if b not in live]
        found += [
            f"{name}: broker {b} is up and not in the ISR" for b in replicas[number] if b in live and b not in isr
        ]
        found += [f"{name}: broker {b} is in the ISR and no replica" for b in isr if b not in replicas[number]]
        for broker in isr:
            log = logs.get(broker, {}).get(number, {})
            offset = differing(logs.get(isr[0], {}).get(number, {}), log)
            if offset is not None:
                found.append(f"{name}: brokers {isr[0]} and {broker} of the ISR differ at offset {offset}")
            origins = {entry.origin for entry in log.values()} - {DAMAGED, AFTER}
            if len(origins) > 1:
                found.append(f"{name}: broker {broker} has records of {' and '.join(sorted(origins))}")
    return found
