"""KRaft's metadata log (__cluster_metadata-0): the image of topics and brokers that its records make.

Words: a *record* of the log has a type and a version; a *checkpoint* is a file with the records of an image at an
offset. A *transaction* is a range of records of which nothing holds until its end, such as the copy of ZooKeeper's
content.

Records after the last checkpoint are applied in order. The last ones may not be committed yet: only the quorum knows.

Source: org.apache.kafka.metadata (the schemas of records), org.apache.kafka.image.MetadataDelta, MetadataBatchLoader,
org.apache.kafka.server.common.serialization.AbstractApiMessageSerde (the frame of a record).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from attrs import define, evolve, field, frozen

from kwalk.clusters.collect.log_files import HEADER, MAGIC, SEGMENT
from kwalk.clusters.wire import Malformed, Reader
from kwalk.model.kafka.snapshots.capture import METADATA_LOG
from kwalk.model.kafka.snapshots.untrusted_json import printable

CHECKPOINT = re.compile(r"([0-9]{20})-([0-9]{10})\.checkpoint")
AFTER_LENGTH = 12
"""How many bytes of a batch its length does not count."""
COMPRESSION, CONTROL = 0x07, 0x20
"""The bits of a batch's attributes."""
STATES = ("NONE", "MIGRATION", "PRE_MIGRATION", "POST_MIGRATION")
"""The states of a migration by their numbers in records (ZkMigrationState); 3.4 writes none but 0."""
LEVEL = "metadata.version"


@frozen
class RegisteredPartition:
    """A partition in the image; `leader` is -1 if there is none."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()


@frozen
class RegisteredBroker:
    """A registered broker: whether it is one in ZooKeeper mode that migrates, and whether it is fenced."""

    migrating: bool
    fenced: bool


@define
class MetadataImage:
    """What the records up to an offset make: topics by id, partitions of each, brokers, and how far the migration is.

    Attributes:
        end: the offset after the last record that was applied.
        names: the topics' names by their ids.
        partitions: their partitions, by topic id and number.
        brokers: the registered brokers.
        state: the state of the migration; None if no record has said it.
        level: the level of metadata.version.
        open_transaction: whether a transaction has begun and not ended: its records are left out.
    """

    end: int = 0
    names: dict[str, str] = field(factory=dict)
    partitions: dict[str, dict[int, RegisteredPartition]] = field(factory=dict)
    brokers: dict[int, RegisteredBroker] = field(factory=dict)
    state: str | None = None
    level: int | None = None
    open_transaction: bool = False

    def object(self, is_kept: Callable[[str], bool]) -> dict[str, Any]:
        """Return it as a snapshot has it, with the topics whose names are kept."""
        return {
            "end_offset": self.end,
            "state": self.state,
            "metadata_version": self.level,
            "open_transaction": self.open_transaction,
            "brokers": {str(b): {"migrating": one.migrating, "fenced": one.fenced} for b, one in self.brokers.items()},
            "topics": {
                name: {
                    "topic_id": identity,
                    "partitions": {
                        str(number): {
                            "replicas": list(one.replicas),
                            "isr": list(one.isr),
                            "leader": one.leader,
                            "leader_epoch": one.leader_epoch,
                            "adding_replicas": list(one.adding),
                            "removing_replicas": list(one.removing),
                        }
                        for number, one in sorted(self.partitions.get(identity, {}).items())
                    },
                }
                for identity, name in sorted(self.names.items(), key=lambda item: item[1])
                if is_kept(name)
            },
        }


def read_image(folder: Path) -> MetadataImage:
    """Return the image of a metadata log.

    Args:
        folder: the directory __cluster_metadata-0 of a controller or a broker.

    Raises:
        Malformed: a file is not in Kafka's format.
        OSError: one cannot be read.
    """
    image = MetadataImage()
    checkpoints = sorted((found[1], path) for path in folder.iterdir() if (found := CHECKPOINT.fullmatch(path.name)))
    if checkpoints:
        name, path = checkpoints[-1]
        for _, content in records_in(path.read_bytes()):
            _apply(image, content)
        image.end = int(name)
    held: list[bytes] = []
    for path in sorted(path for path in folder.iterdir() if SEGMENT.fullmatch(path.name)):
        for offset, content in records_in(path.read_bytes()):
            if offset < image.end:
                continue
            image.end = offset + 1
            _apply_in_transaction(image, content, held)
    return image


def newest_image(roots: Iterable[Path]) -> tuple[MetadataImage | None, list[str]]:
    """Return the newest of the images in log directories of brokers and controllers, and why others were not read."""
    images, problems = list[MetadataImage](), []
    for root in roots:
        try:
            if (root / METADATA_LOG).is_dir():
                images.append(read_image(root / METADATA_LOG))
        except (Malformed, OSError) as error:
            problems.append(f"The metadata log in {printable(str(root), 200)} cannot be read: {error}.")
    return max(images, key=lambda image: image.end, default=None), problems


def records_in(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the offset and the value of each record of a file; one that is cut at its end ends there.

    Raises:
        Malformed: a batch has another format than 2, or is compressed.
    """
    at = 0
    while at + HEADER.size <= len(content):
        base, length, _, magic, _, attributes, *_, count = HEADER.unpack_from(content, at)
        end = at + AFTER_LENGTH + length
        if magic != MAGIC or length < HEADER.size - AFTER_LENGTH:
            raise Malformed(f"no batch of format 2 at byte {at:,}")
        if end > len(content):
            return
        if attributes & COMPRESSION:
            raise Malformed(f"a compressed batch at byte {at:,}")
        if not attributes & CONTROL:
            yield from _records(Reader(content[at + HEADER.size : end]), base, count)
        at = end


def _records(reader: Reader, base: int, count: int) -> Iterator[tuple[int, bytes]]:
    for _ in range(count):
        record = Reader(reader.take(_signed(reader.varint())))
        record.int8()
        _long(record)
        offset = base + _signed(record.varint())
        record.take(max(_signed(record.varint()), 0))
        yield offset, record.take(max(_signed(record.varint()), 0))


def _signed(number: int) -> int:
    """Return the number that a zigzag varint stands for."""
    return number >> 1 if number & 1 == 0 else -((number + 1) >> 1)


def _long(reader: Reader) -> None:
    """Skip a varint of up to ten bytes."""
    while reader.take(1)[0] & 0x80:
        pass


# Records.

BEGIN, END, ABORT = 23, 24, 25


def _apply_in_transaction(image: MetadataImage, content: bytes, held: list[bytes]) -> None:
    """Apply a record; those of a transaction only when it ends, and none if it is aborted."""
    kind = _kind(content)
    if kind == BEGIN:
        image.open_transaction = True
    elif kind in (END, ABORT):
        for one in held if kind == END else ():
            _apply(image, one)
        held.clear()
        image.open_transaction = False
    elif image.open_transaction:
        held.append(content)
    else:
        _apply(image, content)


def _kind(content: bytes) -> int:
    reader = Reader(content)
    if reader.varint() != 1:
        raise Malformed("a record of an unknown frame")
    return reader.varint()


def _apply(image: MetadataImage, content: bytes) -> None:
    reader = Reader(content)
    if reader.varint() != 1:
        raise Malformed("a record of an unknown frame")
    kind, version = reader.varint(), reader.varint()
    if kind in READERS:
        READERS[kind](image, reader, version)


def _register_broker(image: MetadataImage, reader: Reader, version: int) -> None:
    broker = reader.int32()
    migrating = version >= 2 and reader.boolean()
    reader.take(16)
    reader.int64()
    reader.compact_array(lambda: _endpoint(reader))
    reader.compact_array(lambda: _feature(reader))
    reader.compact_string()
    image.brokers[broker] = RegisteredBroker(migrating, fenced=reader.boolean())


def _endpoint(reader: Reader) -> None:
    reader.compact_string()
    reader.compact_string()
    reader.take(4)
    reader.tags()


def _feature(reader: Reader) -> None:
    reader.compact_string()
    reader.take(4)
    reader.tags()


def _unregister_broker(image: MetadataImage, reader: Reader, _: int) -> None:
    image.brokers.pop(reader.int32(), None)


def _fence(image: MetadataImage, broker: int, fenced: bool) -> None:
    if broker in image.brokers:
        image.brokers[broker] = evolve(image.brokers[broker], fenced=fenced)


def _change_registration(image: MetadataImage, reader: Reader, _: int) -> None:
    broker = reader.int32()
    reader.int64()
    change = {tag: found.int8() for tag, found in _tagged(reader) if tag == 0}.get(0, 0)
    if change:
        _fence(image, broker, change > 0)


def _topic(image: MetadataImage, reader: Reader, _: int) -> None:
    name = reader.compact_string() or ""
    image.names[reader.topic_id() or ""] = name


def _remove_topic(image: MetadataImage, reader: Reader, _: int) -> None:
    identity = reader.topic_id() or ""
    image.names.pop(identity, None)
    image.partitions.pop(identity, None)


def _partition(image: MetadataImage, reader: Reader, _: int) -> None:
    number, identity = reader.int32(), reader.topic_id() or ""
    replicas, isr, removing, adding = (reader.compact_int32s() for _ in range(4))
    leader, epoch = reader.int32(), reader.int32()
    found = RegisteredPartition(replicas, isr, leader, epoch, adding, removing)
    image.partitions.setdefault(identity, {})[number] = found


def _change_partition(image: MetadataImage, reader: Reader, _: int) -> None:
    number, identity = reader.int32(), reader.topic_id() or ""
    known = image.partitions.get(identity, {}).get(number)
    if known is None:
        raise Malformed(f"a change of partition {number} of a topic {identity} that is not there")
    changes: dict[str, Any] = {}
    for tag, found in _tagged(reader):
        if tag == 1:
            changes["leader"] = found.int32()
        elif tag in LISTS:
            changes[LISTS[tag]] = found.compact_int32s()
    if "leader" in changes:
        changes["leader_epoch"] = known.leader_epoch + 1
    image.partitions[identity][number] = evolve(known, **changes)


LISTS = {0: "isr", 2: "replicas", 3: "removing", 4: "adding"}
"""The tagged fields of a change of a partition that are lists of brokers."""


def _tagged(reader: Reader) -> Iterator[tuple[int, Reader]]:
    for _ in range(reader.varint()):
        tag = reader.varint()
        yield tag, Reader(reader.take(reader.varint()))


def _feature_level(image: MetadataImage, reader: Reader, _: int) -> None:
    if reader.compact_string() == LEVEL:
        image.level = reader.int16()


def _migration_state(image: MetadataImage, reader: Reader, _: int) -> None:
    number = reader.int8()
    if not 0 <= number < len(STATES):
        raise Malformed(f"the state {number} of a migration")
    image.state = STATES[number]


READERS: dict[int, Callable[[MetadataImage, Reader, int], None]] = {
    0: _register_broker,
    1: _unregister_broker,
    2: _topic,
    3: _partition,
    5: _change_partition,
    7: lambda image, reader, _: _fence(image, reader.int32(), True),
    8: lambda image, reader, _: _fence(image, reader.int32(), False),
    9: _remove_topic,
    12: _feature_level,
    17: _change_registration,
    21: _migration_state,
}
"""The types of records that matter here; others are skipped."""
