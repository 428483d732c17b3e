"""What files in log directories say of a log: whose it is, how long it is, and how it begins.

Words: a *root* is one of a broker's log directories (log.dirs); a *directory* in it belongs to one partition. A
*header* is the beginning of a record batch, in front of its records. A *checkpoint* of a root has an offset of every
log in it.

Source: kafka.log.LogManager, kafka.server.BrokerMetadataCheckpoint, kafka.server.PartitionMetadataFile,
kafka.server.checkpoints.OffsetCheckpointFile, org.apache.kafka.common.record.DefaultRecordBatch.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attrs import define, field, frozen

from kwalk.model.kafka.snapshots.capture import METADATA_LOG, leader_epochs, partition_metadata
from kwalk.model.kafka.snapshots.untrusted_json import INT_LIMIT, JsonNode
from kwalk.model.language import UsageError

DIRECTORY = re.compile(r".+-\d+", re.DOTALL)
"""The name of a partition's directory; that of a deleted, moved or stray one has a suffix."""
SET_ASIDE = re.compile(r".+-\d+\.[0-9a-f]{32}-(stray|delete|future)", re.DOTALL)
"""The name of the directory of a stray log, of one that is to be deleted, or of one that moves to another root."""
SEGMENT = re.compile(r"[0-9]{20}\.log")
MOST_IDENTITY = 80
"""The most characters of partition.metadata, which has 43, that a snapshot has of a garbled one."""
BROKER, IDENTITY, EPOCHS = "meta.properties", "partition.metadata", "leader-epoch-checkpoint"
CHECKPOINTS = {
    "log_start": "log-start-offset-checkpoint",
    "recovery_point": "recovery-point-offset-checkpoint",
    "high_watermark": "replication-offset-checkpoint",
    "cleaned": "cleaner-offset-checkpoint",
}
"""The checkpoints of a root, by their fields in a snapshot."""
NO_ENTRY = {"cleaned": 0}
"""What the fields have without an entry, where the checkpoint was read; null, if not named. A cleaner creates it empty.

Kafka: LogCleanerManager (checkpoints); CheckpointFile creates the file that it is to write.
"""
HEADER = struct.Struct(">qiibIhiqqqhii")
"""Of a batch of format 2: base offset, length, leader epoch, magic, CRC, attributes, last offset delta, timestamp, …"""
MAGIC, MAGIC_AT = 2, 16
"""The format of batches, and where a header has it. In older formats a record begins before 61 bytes have ended."""
ENTRY = re.compile(r"(\S+)\s+([0-9]{1,10})\s+([0-9]{1,19})\s*", re.ASCII)


@frozen
class PartitionFiles:
    """What was read in a partition's directory; None where there is none.

    Args:
        identity: The text of partition.metadata.
        epochs: The text of leader-epoch-checkpoint.
        sizes: The sizes of segments in bytes, by their names; None if they were not looked at.
        head: The header of the first batch of the first segment, if that has format 2.
    """

    identity: str | None = None
    epochs: str | None = None
    sizes: Mapping[str, int] | None = None
    head: bytes | None = None


@frozen
class RootFiles:
    """A root: its path, the content of its meta.properties (None without one), and its directories by name.

    `checkpoints` are the texts of its checkpoints, by their names; `set_aside` are directories of logs that brokers
    have set aside, are about to delete, or move to this root; `is_missing` says that it could not be entered.
    """

    path: str
    broker: str | None = None
    directories: dict[str, PartitionFiles] = field(factory=dict)
    problems: tuple[str, ...] = ()
    checkpoints: dict[str, str] = field(factory=dict)
    is_missing: bool = False
    set_aside: dict[str, PartitionFiles] = field(factory=dict)
    has_metadata_log: bool = False

    def value_of(self, name: str) -> str | None:
        """Return a value of meta.properties."""
        found = re.search(rf"^{re.escape(name)}=(.*)$", self.broker or "", re.MULTILINE)
        return found[1].strip() if found else None

    @property
    def broker_id(self) -> int | None:
        """The broker, or the node of KRaft, that the root belongs to."""
        number = self.value_of("broker.id") or self.value_of("node.id") or ""
        return int(number) if re.fullmatch("[0-9]{1,10}", number) else None

    @property
    def is_kraft(self) -> bool:
        """Whether it belongs to a node in KRaft mode."""
        return self.value_of("node.id") is not None

    @property
    def is_root(self) -> bool:
        """Whether it looks like a log directory at all."""
        return self.broker is not None or bool(self.directories) or self.has_metadata_log


@define
class RootParts:
    """Collects what is read of a root, in any order.

    Args:
        path: Its path.
        texts: The texts of files, by their paths in the root.
        names: The names of directories; those of segments and of small files need not be named.
        sizes: The sizes of segments, by the names of their directories, and by their own.
        heads: The beginnings of segments, by the names of their directories: of the first segment, at last.
    """

    path: str
    texts: dict[str, str] = field(factory=dict)
    names: set[str] = field(factory=set)
    sizes: dict[str, dict[str, int]] = field(factory=dict)
    heads: dict[str, bytes | None] = field(factory=dict)
    problems: list[str] = field(factory=list)
    is_missing: bool = False

    def is_first(self, directory: str, segment: str) -> bool:
        """Whether no earlier segment of a directory was added; it may be added itself."""
        return segment <= min(self.sizes.get(directory, (segment,)))

    def add_segment(self, directory: str, segment: str, size: int) -> None:
        """Add the size of a segment."""
        self.sizes.setdefault(directory, {})[segment] = size

    def root(self) -> RootFiles:
        """Return what was collected."""
        holders = (path.rpartition("/")[0] for path in self.texts)
        names = sorted(name for name in {*self.names, *self.sizes, *holders} if "/" not in name)
        known = [name for name in names if DIRECTORY.fullmatch(name) and name != METADATA_LOG]
        return RootFiles(
            self.path,
            self.texts.get(BROKER),
            {name: self._files(name) for name in known},
            tuple(self.problems),
            {name: self.texts[name] for name in CHECKPOINTS.values() if name in self.texts},
            self.is_missing,
            {name: self._files(name) for name in names if SET_ASIDE.fullmatch(name)},
        )

    def _files(self, name: str) -> PartitionFiles:
        """Return what was read in a directory; it has no segment if a file of it was read, and segments of others."""
        identity, epochs = self.texts.get(f"{name}/{IDENTITY}"), self.texts.get(f"{name}/{EPOCHS}")
        is_read = bool(self.sizes) and (identity is not None or epochs is not None)  # else it may not be allowed
        sizes = self.sizes.get(name, {} if is_read else None)
        return PartitionFiles(identity, epochs, sizes, self.heads.get(name))


def header_in(content: bytes) -> bytes | None:
    """Return the header of a batch from its first bytes; None if they are fewer, or the batch has an older format."""
    if len(content) < HEADER.size or content[MAGIC_AT] != MAGIC:
        return None
    return content[: HEADER.size]


def offsets_in(checkpoint: str) -> dict[str, int] | None:
    """Return the offsets in a checkpoint by the names of directories; None if it is truncated or garbled.

    A broker reads it with the same strictness, except that it knows no largest offset.
    """
    if not checkpoint:
        return {}
    version, _, rest = checkpoint.partition("\n")
    count, _, rest = rest.partition("\n")
    lines = rest.removesuffix("\n").split("\n") if rest else []
    entries = [ENTRY.fullmatch(line) for line in lines]
    found = {f"{entry[1]}-{int(entry[2])}": int(entry[3]) for entry in entries if entry}
    is_whole = version.strip() == "0" and count.strip() == str(len(lines)) and all(entries)
    return found if is_whole and max(found.values(), default=0) <= INT_LIMIT else None


# The pieces of a snapshot.


def directory_object(
    name: str, files: PartitionFiles, root: str, offsets: Mapping[str, Mapping[str, int] | None]
) -> tuple[dict[str, Any], list[str]]:
    """Return a directory as a snapshot has it, and the names of what is garbled: it has only partition.metadata of it.

    Args:
        name: Its name.
        files: What was read in it.
        root: The path of its root.
        offsets: The entries of its root's checkpoints, None if not read, by the fields of a snapshot.
    """
    batch, is_batch = _batch_object(files.head)
    garbled = [
        *_unreadable((IDENTITY, partition_metadata, files.identity), (EPOCHS, leader_epochs, files.epochs)),
        *(() if is_batch else ("the first batch",)),
    ]
    found = {
        "partition_metadata": files.identity if files.identity is None else files.identity[:MOST_IDENTITY],
        "leader_epoch_checkpoint": None if EPOCHS in garbled else files.epochs,
        "root": root,
        "files": None if files.sizes is None else dict(sorted(files.sizes.items())),
        "first_batch": batch,
        **{e: None if known is None else known.get(name, NO_ENTRY.get(e)) for e, known in offsets.items()},
    }
    return found, garbled


def garbled_checkpoints(root: RootFiles) -> list[str]:
    """Return the paths in a root of checkpoints that are truncated or garbled."""
    found = [name for name, text in root.checkpoints.items() if offsets_in(text) is None]
    found += [
        f"{name}/{EPOCHS}"
        for name, files in root.directories.items()
        if list(_unreadable((EPOCHS, leader_epochs, files.epochs)))
    ]
    return sorted(found)


def _batch_object(head: bytes | None) -> tuple[dict[str, int] | None, bool]:
    """Return a header as a snapshot has it, None if there is none or it is garbled; and whether it is not garbled."""
    if head is None:
        return None, True
    base, length, epoch, _, crc, _, _, timestamp, *_ = HEADER.unpack(head)
    if base < 0 or length <= 0 or epoch < -1 or timestamp < -1:
        return None, False
    return {"base_offset": base, "leader_epoch": epoch, "timestamp": timestamp, "crc": crc}, True


def _unreadable(*files: tuple[str, Callable[[JsonNode], object], str | None]) -> Iterable[str]:
    """Yield the names of files that the reader of snapshots refuses."""
    for name, read, text in files:
        try:
            read(JsonNode(text))
        except UsageError:
            yield name
