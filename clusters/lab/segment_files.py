"""Segment files: a reader of their bytes, and a comparison of the log model with what Kafka's own class Log writes.

    python -m kwalk.clusters.lab.segment_files --logs 1000 --seed 0

writes random logs with the jars of Kafka 2.8.2 in one Java, appends the same batches in the model of
`kwalk.model.kafka.storage`, and compares: base offsets of segments, entries of both indexes, and the answers of both
lookups. Java must be a JDK, as it compiles `WriteLogs.java`.

Source: org.apache.kafka.common.record.DefaultRecordBatch (the format of a batch), kafka.log.OffsetIndex, TimeIndex.
"""

from __future__ import annotations

import argparse
import random
import struct
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import attrs
from attrs import frozen

from kwalk.clusters.collect.log_files import HEADER, MAGIC
from kwalk.clusters.lab.java_helper import JavaHelper
from kwalk.invariants.stories.log_segments import LOOKUP
from kwalk.model.kafka.storage.log import append_to_log, fetch_offset_by_timestamp, file_name, read_from_log
from kwalk.model.kafka.storage.state import Batch, PartitionLog
from kwalk.model.kafka.storage.versions import VARIANTS
from kwalk.model.language import KwalkError, UsageError
from kwalk.model.language.binding import Binding

RELEASE = "2.8.2"
INT_MAX = 2**31 - 1
AFTER_LENGTH, AFTER_CRC = 12, 21
"""How many bytes of a batch its length does not count, and its CRC does not cover."""
OFFSET_ENTRY, TIME_ENTRY = struct.Struct(">ii"), struct.Struct(">qi")
FILE_TIME = 10**14
"""The modification time of files in the model, later than all timestamps, as that of the real files is."""
CASTAGNOLI = 0x82F63B78


class CorruptSegment(UsageError):
    """The bytes of a segment are not in Kafka's format."""


class LogRefused(KwalkError):
    """Kafka's class Log has thrown an exception."""


@frozen
class SegmentFiles:
    """What the files of a segment say: batches, and entries with absolute offsets."""

    base_offset: int
    batches: tuple[tuple[int, int, int, int], ...]
    """First offset, last offset, largest timestamp and size of each batch."""
    offset_index: tuple[tuple[int, int], ...]
    time_index: tuple[tuple[int, int], ...]


def _crc_table() -> list[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (CASTAGNOLI if value & 1 else 0)
        table.append(value)
    return table


TABLE = _crc_table()


def crc32c(data: bytes) -> int:
    """Return the CRC-32C of some bytes."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def read_segment(folder: Path, base_offset: int) -> SegmentFiles:
    """Read the three files of a segment.

    Raises:
        CorruptSegment: a batch is cut off, has another format than 2 or a wrong CRC, an index is no number of entries
            or does not grow, or an entry of the offset index is not that of a batch.
    """
    data = (folder / file_name(base_offset, ".log")).read_bytes()
    batches = tuple(read_batches(data, folder / file_name(base_offset, ".log")))
    offsets = _entries(folder / file_name(base_offset, ".index"), OFFSET_ENTRY)
    times = _entries(folder / file_name(base_offset, ".timeindex"), TIME_ENTRY)
    return SegmentFiles(
        base_offset,
        batches,
        tuple((base_offset + offset, position) for offset, position in offsets),
        tuple((timestamp, base_offset + offset) for timestamp, offset in times),
    )


def read_batches(data: bytes, path: Path) -> Iterator[tuple[int, int, int, int]]:
    """Yield first offset, last offset, largest timestamp and size of each batch of a log file.

    Raises:
        CorruptSegment: a batch is cut off, has another format than 2 or a wrong CRC (`path` is for the message).
    """
    at = 0
    while at < len(data):
        if at + HEADER.size > len(data):
            raise CorruptSegment(f"{path}: {len(data) - at} bytes at {at:,} are no batch.")
        base, length, _, magic, crc, _, delta, _, largest, *_ = HEADER.unpack_from(data, at)
        end = at + AFTER_LENGTH + length
        if magic != MAGIC or length < HEADER.size - AFTER_LENGTH or end > len(data):
            raise CorruptSegment(f"{path}: no batch of format 2 is at byte {at:,} (magic {magic}, length {length}).")
        if crc32c(data[at + AFTER_CRC : end]) != crc:
            raise CorruptSegment(f"{path}: the batch at byte {at:,} has another CRC than its bytes.")
        yield base, base + delta, largest, end - at
        at = end


def _entries(path: Path, form: struct.Struct) -> list[tuple[int, int]]:
    data = path.read_bytes()
    if len(data) % form.size:
        raise CorruptSegment(f"{path}: {len(data)} bytes are no number of entries of {form.size} bytes.")
    found = [(first, second) for first, second in form.iter_unpack(data)]
    for earlier, later in pairwise(found):
        if earlier[0] >= later[0] or earlier[1] >= later[1]:
            raise CorruptSegment(f"{path}: the entry {later} follows {earlier}.")
    return found


def read_log(folder: Path) -> list[SegmentFiles]:
    """Read all segments of a log, in order (`read_segment`)."""
    return [read_segment(folder, int(path.stem)) for path in sorted(folder.glob("*.log"))]


@frozen
class LogPlan:
    """A random log: its configuration, its batches as (base offset, record size, timestamps), and its start offset."""

    segment_bytes: int
    segment_ms: int
    index_interval_bytes: int
    index_bytes: int
    batches: tuple[tuple[int, int, tuple[int, ...]], ...]
    start_offset: int
    offsets: tuple[int, ...]
    timestamps: tuple[int, ...]

    def lines(self, folder: Path) -> Iterator[str]:
        """Yield the lines from which `WriteLogs` writes the log."""
        settings = {
            "segment.bytes": self.segment_bytes,
            "segment.ms": self.segment_ms,
            "index.interval.bytes": self.index_interval_bytes,
            "segment.index.bytes": self.index_bytes,
        }
        yield f"log {folder} {','.join(f'{name}={value}' for name, value in settings.items())}"
        for base, size, timestamps in self.batches:
            yield f"batch {base} {size} {','.join(map(str, timestamps))}"
        yield f"hw {self.batches[-1][0]}"
        yield f"start {self.start_offset}"
        yield from (f"offset {offset}" for offset in self.offsets)
        yield from (f"time {timestamp}" for timestamp in self.timestamps)
        yield "close"


def random_plan(source: random.Random) -> LogPlan:
    """Return a small random log, with gaps between offsets, timestamps in any order, and all rules of a roll."""
    batches: list[tuple[int, int, tuple[int, ...]]] = []
    end, now = 0, 1_557_554_753_000
    for _ in range(source.randint(1, 25)):
        now += source.choice((0, 1, 10, 300))
        gap = source.choice((0, 0, 0, 0, 1, 7, INT_MAX if source.random() < 0.1 else 0))
        records = tuple(now + source.randint(-400, 100) for _ in range(source.choice((1, 1, 1, 2, 5))))
        batches.append((end + gap, source.choice((0, 1, 30, 100)), records))
        end += gap + len(records)
    every = [timestamp for _, _, timestamps in batches for timestamp in timestamps]
    start = source.choice((0, 0, source.choice(batches)[0]))
    return LogPlan(
        segment_bytes=source.choice((700, 1_000, 4_000, 100_000)),
        segment_ms=source.choice((200, 500, 10_000)),
        index_interval_bytes=source.choice((0, 80, 200, 1_000)),
        index_bytes=source.choice((48, 96, 4_096)),
        batches=tuple(batches),
        start_offset=start,
        offsets=tuple(source.randrange(start, end) for _ in range(6)),
        timestamps=tuple(source.choice(every) + source.randint(-1, 1) for _ in range(6)),
    )


def write_logs(plans: Mapping[Path, LogPlan]) -> list[list[int | None]]:
    """Write logs with Kafka's class Log, in one Java; return the answers of the lookups of each.

    Raises:
        UsageError: the jars or Java are not there, or Java fails.
    """
    lines = [line for folder, plan in plans.items() for line in plan.lines(folder)]
    with RealLog(RELEASE) as real:
        answers = iter([real.ask(line)[0] for line in lines])
    asked = iter([answer for line, answer in zip(lines, answers, strict=True) if line.split()[0] in ("offset", "time")])
    return [[next(asked) for _ in (*plan.offsets, *plan.timestamps)] for plan in plans.values()]


class RealLog(JavaHelper):
    """Kafka's own class Log of a release, in a Java of its own that `WriteLogs.java` drives line by line."""

    source = "WriteLogs.java"

    def ask(self, line: str) -> tuple[int | None, tuple[int, ...]]:
        """Give Java a line; return its answer, and the log's offsets while that is open.

        Raises:
            LogRefused: Kafka has thrown an exception.
            UsageError: Java has ended.
        """
        words = self.words(line)
        if words[0] == "error":
            raise LogRefused(f"{line}: {' '.join(words[1:])}")
        return None if words[0] == "none" else int(words[0]), tuple(map(int, words[1:]))


def binding_of(plan: LogPlan, batches: int) -> Binding:
    """Return the bounds and flags in which a log is modelled: larger numbers than those of a search."""
    bounds = {
        **LOOKUP.bounds,
        "offsets": plan.batches[-1][0] + 100,
        "times": FILE_TIME,
        "segments": batches + 1,
        "batches": batches,
        "batch_bytes": 100_000,
        "batch_records": 100,
        "segment_bytes": plan.segment_bytes,
        "segment_ms": plan.segment_ms,
        "index_interval_bytes": plan.index_interval_bytes,
        "index_entries": plan.index_bytes // OFFSET_ENTRY.size,
        "time_index_entries": plan.index_bytes // TIME_ENTRY.size,
        "max_relative_offset": INT_MAX,
    }
    return Binding(bounds, VARIANTS[RELEASE])


def modelled(log: PartitionLog) -> list[SegmentFiles]:
    """Return what the files of the model's log would say."""
    return [
        SegmentFiles(
            segment.base_offset,
            tuple((b.first_offset, b.last_offset, b.timestamp, b.size) for b in segment.batches),
            tuple((entry.offset, entry.position) for entry in segment.offset_index),
            tuple((entry.timestamp, entry.offset) for entry in segment.time_index),
        )
        for slot, segment in enumerate(log.segments)
        if slot < log.count
    ]


def differences(plan: LogPlan, segments: Sequence[SegmentFiles], answers: Sequence[int | None]) -> list[str]:
    """Append the batches of some files in the model, and return where the two differ."""
    batches = [batch for segment in segments for batch in segment.batches]
    with binding_of(plan, len(batches)).active():
        log = PartitionLog()
        log.clock = log.segments[0].last_modified = FILE_TIME
        for first, last, timestamp, size in batches:
            append_to_log(log, Batch(last_offset=last, records=last - first + 1, timestamp=timestamp, size=size))
        log.start_offset = plan.start_offset
        mine = modelled(log)
        # A closed log has its largest timestamp in its last index, as a rolled segment has.
        mine[-1] = attrs.evolve(mine[-1], time_index=_closed(mine[-1]))
        pairs = zip(mine, segments, strict=False)
        found = [f"segment {ours} in place of {theirs}" for ours, theirs in pairs if ours != theirs]
        if len(mine) != len(segments):
            found.append(f"{len(mine)} segments in place of {len(segments)}")
        asked = [read_from_log(log, offset) for offset in plan.offsets]
        asked += [fetch_offset_by_timestamp(log, timestamp) for timestamp in plan.timestamps]
    for query, batch, answer in zip((*plan.offsets, *plan.timestamps), asked, answers, strict=True):
        if (batch is None) != (answer is None) or (
            batch is not None and answer is not None and not batch.first_offset <= answer <= batch.last_offset
        ):
            found.append(f"lookup of {query}: {batch} in place of {answer}")
    return found


def _closed(segment: SegmentFiles) -> tuple[tuple[int, int], ...]:
    """Return the time index of an active segment after LogSegment.close."""
    largest = max(segment.batches, key=lambda batch: batch[2])
    if segment.time_index and segment.time_index[-1][0] >= largest[2]:
        return segment.time_index
    return (*segment.time_index, (largest[2], largest[1]))


def missed(plan: LogPlan, segments: Iterable[SegmentFiles], answers: Sequence[int | None]) -> int:
    """Return how many lookups by timestamp answered none, although a batch at or above the start offset has one."""
    batches = [batch for segment in segments for batch in segment.batches if batch[0] >= plan.start_offset]
    times = zip(plan.timestamps, answers[len(plan.offsets) :], strict=True)
    return sum(answer is None and any(batch[2] >= timestamp for batch in batches) for timestamp, answer in times)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare the model with random logs; return 0 if there is no difference."""
    parser = argparse.ArgumentParser(prog="python -m kwalk.clusters.lab.segment_files", description=main.__doc__)
    parser.add_argument("--logs", type=int, default=1_000, help="how many (default: 1,000)")
    parser.add_argument("--seed", type=int, default=0, help="of all random choices (default: 0)")
    given = parser.parse_args(arguments)
    source = random.Random(given.seed)
    with tempfile.TemporaryDirectory(prefix="kwalk-logs-") as folder:
        plans = {Path(folder) / f"log-{number}": random_plan(source) for number in range(given.logs)}
        written = zip(plans.items(), write_logs(plans), strict=True)
        logs = [(path, plan, read_log(path), answers) for (path, plan), answers in written]
    wrong = {path.name: found for path, plan, files, answers in logs if (found := differences(plan, files, answers))}
    for name, found in list(wrong.items())[:5]:
        print(f"{name}: {'; '.join(found)}")
    entries = sum(len(one.offset_index) + len(one.time_index) for _, _, files, _ in logs for one in files)
    lookups = sum(len(answers) for *_, answers in logs)
    print(
        f"{len(logs):,} logs, {sum(len(files) for _, _, files, _ in logs):,} segments, {entries:,} index entries, "
        f"{lookups:,} lookups: {len(wrong):,} logs differ; {sum(missed(p, f, a) for _, p, f, a in logs):,} lookups by "
        "timestamp found nothing although the log has a record"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
