"""Random histories of one log, done by Kafka's own class Log and by the log model, whose bytes are compared each time.

One history is one log: batches are appended, it rolls, is flushed, truncated, cut by retention, closed and loaded; and
it crashes, with files as a lost write leaves them. `WriteLogs.java` drives class Log (2.8) or UnifiedLog (3.9) with a
clock of its own, which takes a fraction of a broker's time and answers what the model says of memory: the recovery
point, the high watermark, both lookups. What LogManager does (it writes checkpoints, and passes them to a log that it
loads) is done here, with the values that the log has.

Source: kafka.log.Log (2.8), kafka.log.UnifiedLog, LogLoader and LocalLog (3.9).
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from attrs import field, frozen, mutable

from kwalk.clusters.lab.segment_files import (
    INT_MAX,
    OFFSET_ENTRY,
    TIME_ENTRY,
    CorruptSegment,
    LogRefused,
    RealLog,
    SegmentFiles,
    modelled,
    read_batches,
)
from kwalk.invariants.stories.log_segments import RECOVERY
from kwalk.model.kafka.storage import log as log_model
from kwalk.model.kafka.storage import log_loading
from kwalk.model.kafka.storage.log import active_segment, fetch_offset_by_timestamp, file_name, read_from_log
from kwalk.model.kafka.storage.log_segment import open_segment
from kwalk.model.kafka.storage.state import Batch, LogPhase, PartitionLog
from kwalk.model.kafka.storage.versions import VARIANTS
from kwalk.model.language.binding import Binding
from kwalk.model.language.errors import GuardFailed

BEGIN = 1_000_000_000_000
"""The clock at the beginning of a history, in ms: before all modification times that the machine itself gives files."""
LATER = 2**62
"""A timestamp above all others."""
DATED = 1_400_000_000
"""Seconds: a modification time above that was given by this machine's clock, and not by that of the log."""

OVERFLOW = "ended by an index that overflows"
NOT_MODELLED = ("full time index", "full offset index", "Attempt to append to a full index")
"""What Kafka says when a recovery or a cleaning needs more entries than a small index has room for: appends after a
start have left entries out, or other records went. The directory fails then, or the log is not cleaned any more. In the
model neither fails; such a history ends there, and is counted."""


@frozen
class LogSettings:
    """The configuration of a random log."""

    segment_bytes: int
    segment_ms: int
    index_interval_bytes: int
    index_bytes: int
    retention_ms: int
    retention_bytes: int
    delay_ms: int

    @staticmethod
    def of(source: random.Random) -> LogSettings:
        """Return a random one, in which each rule of a roll and of retention can be the first."""
        return LogSettings(
            # A batch larger than a segment is refused; all batches of the model fit in one.
            segment_bytes=source.choice((620, 800, 1_000, 4_000)),
            segment_ms=source.choice((200, 500, 10_000)),
            index_interval_bytes=source.choice((0, 80, 200, 1_000)),
            index_bytes=source.choice((48, 96, 4_096)),
            retention_ms=source.choice((300, 1_000, 10**9)),
            retention_bytes=source.choice((500, 1_500, 10**9)),
            delay_ms=source.choice((1, 200)),
        )

    def line(self) -> str:
        """Return it as a topic is configured."""
        settings = {
            "segment.bytes": self.segment_bytes,
            "segment.ms": self.segment_ms,
            "index.interval.bytes": self.index_interval_bytes,
            "segment.index.bytes": self.index_bytes,
            "retention.ms": self.retention_ms,
            "retention.bytes": self.retention_bytes,
            "file.delete.delay.ms": self.delay_ms,
        }
        return ",".join(f"{name}={value}" for name, value in settings.items())

    def binding(self, version: str, length: int) -> Binding:
        """Return the bounds and flags in which its log is modelled: larger numbers than those of a search."""
        bounds = {
            **RECOVERY.bounds,
            "offsets": 2**40,
            "times": 2 * BEGIN,
            "segments": length + 2,
            "batches": length,
            "batch_bytes": 100_000,
            "batch_records": 100,
            "gaps": INT_MAX,
            "truncations": length,
            "crashes": length,
            "stops": length,
            "segment_bytes": self.segment_bytes,
            "segment_ms": self.segment_ms,
            "index_interval_bytes": self.index_interval_bytes,
            "index_entries": self.index_bytes // OFFSET_ENTRY.size,
            "time_index_entries": self.index_bytes // TIME_ENTRY.size,
            "max_relative_offset": INT_MAX,
            "retention_ms": self.retention_ms,
            "retention_bytes": self.retention_bytes,
            "file_delete_delay_ms": self.delay_ms,
        }
        return Binding(bounds, VARIANTS[version])


@mutable
class LogHistory:
    """One history: the real log, the model's, and what was done to both.

    A difference that an operation sees itself is one of its `problems`.
    """

    kind: ClassVar[str] = "log"
    state: ClassVar[Any] = PartitionLog
    settings_class: ClassVar[Any] = LogSettings
    weights: ClassVar[dict[str, float]] = {
        "append": 40,
        "hw": 12,
        "wait": 8,
        "delete_records": 3,
        "retain": 8,
        "files": 3,
        "flush": 6,
        "checkpoint": 6,
        "checkpoint_start": 3,
        "truncate": 3,
        "restart": 0.4,
        "stop": 2,
        "crash": 4,
    }
    real: RealLog
    release: str
    folder: Path
    settings: Any
    source: random.Random
    log: Any
    counts: Counter[str] = field(factory=Counter)
    operations: list[str] = field(factory=list)
    offsets: tuple[int, ...] = ()
    entries: tuple[int, ...] = ()
    producer: tuple[int, ...] = ()
    is_over: bool = False
    problems: list[str] = field(factory=list)

    def ask(self, line: str) -> int | None:
        """Have the real log do what a line says, and note it; its files then have the time of its clock."""
        self.operations.append(line)
        answer, memory = self.real.ask(line)
        if memory:
            self.offsets, self.entries, self.producer = memory[:4], memory[4:6], memory[6:]
        self._date()
        return answer

    def _date(self) -> None:
        for path in self.folder.glob("*.log"):
            if path.stat().st_mtime > DATED:
                os.utime(path, ns=(self.log.clock * 1_000_000,) * 2)

    def begin(self) -> None:
        """Make the log, empty."""
        self.log.clock = BEGIN
        open_segment(self.log.segments[0], 0, BEGIN)
        self.ask(f"clock {BEGIN}")
        self.ask(f"log {self.folder} {self.settings.line()}")

    @property
    def is_up(self) -> bool:
        """Whether the log is open."""
        return self.log.phase is not LogPhase.STOPPED

    def step(self) -> list[str]:
        """Do a random operation that the model allows; return the differences after it."""
        name = "load"
        if self.is_up:
            name = self.source.choices(list(self.weights), list(self.weights.values()))[0]
        before = len(self.operations)
        try:
            getattr(self, f"_{name}")()
        except GuardFailed:
            if len(self.operations) > before:
                return ["does not allow this"]
            return []
        except LogRefused as refused:
            self.is_over = any(text in str(refused) for text in NOT_MODELLED)
            if not self.is_over:
                return [f"allows what the log refuses: {refused}"]
            self.counts[OVERFLOW] += 1
        if len(self.operations) == before:
            return []
        self.counts[name] += 1
        return [] if self.is_over else self.differences()

    def _append(self) -> None:
        log, choose = self.log, self.source.choice
        gap = choose((0, 0, 0, 0, 0, 1, 7, INT_MAX if self.source.random() < 0.05 else 0))
        records, size = choose((1, 1, 1, 2, 5)), choose((0, 1, 30, 100))
        timestamp = log.clock + self.source.randint(-400, 100)
        times = ",".join([str(timestamp)] * records)
        answer = self.ask(f"batch {log.end_offset + gap} {size} {times}")
        log_model.append(log, answer, timestamp, records, gap)

    def _hw(self) -> None:
        offset = self.source.choice((self.log.end_offset, self.source.randint(0, self.log.end_offset)))
        log_model.raise_high_watermark(self.log, offset)
        self.ask(f"hw {offset}")

    def _wait(self) -> None:
        """Stands for as many steps of `time_passes`."""
        self.log.clock += self.source.choice((1, 50, 300, 1_000))
        self.ask(f"clock {self.log.clock}")

    def _delete_records(self) -> None:
        offset = self.source.randint(self.log.start_offset, self.log.high_watermark)
        log_model.delete_records(self.log, offset)
        self.ask(f"start {offset}")

    def _retain(self) -> None:
        """Do one check of retention: the model's three steps, in the order of the release (Log.deleteOldSegments)."""
        self.ask("retain")
        actions = (log_model.delete_old, log_model.delete_excess, log_model.delete_before_start)
        for action in actions if self.release == "2.8.2" else reversed(actions):
            try:
                action(self.log)
                self.counts[action.name] += 1
            except GuardFailed:
                pass

    def _files(self) -> None:
        self.ask("files")
        while not self.log.deleted.is_empty and log_model.is_delay_over(self.log):
            log_model.delete_files(self.log)

    def _flush(self) -> None:
        offset = self.source.choice((active_segment(self.log).base_offset, self.log.end_offset))
        log_loading.flush(self.log, offset)
        self.ask(f"flush {offset}")

    def _checkpoint(self) -> None:
        log_loading.checkpoint_recovery_point(self.log)
        self.operations.append(f"# recovery point {self.log.recovery_point} is written")

    def _checkpoint_start(self) -> None:
        log_loading.checkpoint_start_offset(self.log)
        self.operations.append(f"# start offset {self.log.start_offset} is written")

    def _truncate(self) -> None:
        log = self.log
        offset = self.source.randint(max(log.high_watermark, log.start_offset), log.end_offset)
        log_model.truncate_to(log, offset)
        # A segment that was loaded reads its largest timestamp when that is first needed, by this lookup at the latest;
        # a truncation before that forgets it, which the model lacks.
        self.ask(f"time {LATER}")
        self.ask(f"truncate {offset}")

    def _restart(self) -> None:
        offset = self.log.end_offset + self.source.choice((1, 10))
        log_model.truncate_fully(self.log, offset)
        self.ask(f"restart {offset}")

    def _stop(self) -> None:
        log_loading.shut_down(self.log)
        self.ask("close")

    def _crash(self) -> None:
        """The files are closed as they are; then they lose what a crash of the machine may have lost."""
        log = self.log
        # The model has one part of a batch at most.
        if log.torn is not None:
            return
        ends = [b.last_offset for s in log.segments for b in s.batches if not log_loading.is_flushed(s, b)]
        offset = self.source.choice((log.end_offset, *ends, *ends))
        torn = offset < log.end_offset and self.source.random() < 0.5
        damage = self.source.choice(("a part", "zeros")) if torn else "nothing"
        self.ask("crash")
        self.operations.append(f"# the disk has the log up to {offset}, and {damage} of the next batch")
        self.counts[f"crash, {damage} of a batch" if offset < log.end_offset else "crash, nothing lost"] += 1
        bases = sorted(int(path.stem) for path in self.folder.glob("*.log"))
        flushed = {segment.base_offset: segment.flushed for segment in log.segments}
        for base, following in zip(bases, [*bases[1:], log.end_offset + 1], strict=True):
            left = damage if base <= offset < following else "nothing"
            _lose(self.folder / file_name(base, ".log"), max(offset, flushed[base]), left)
        self._date()
        log_loading.crash(log, offset, torn)

    def _load(self) -> None:
        log, is_clean = self.log, self.log.has_clean_shutdown_file
        watermark = log.high_watermark
        self.ask(f"load {log.start_offset_checkpoint} {log.recovery_point_checkpoint} {int(is_clean)}")
        log_loading.load(log)
        log_loading.finish_loading(log)
        self.ask(f"hw {watermark}")

    def differences(self) -> list[str]:
        """Return where the model's state is another one than that of the files, or of the open log."""
        log = self.log
        is_open = log.phase is LogPhase.RUNNING
        found = [
            f"{ours} in place of {theirs}"
            for ours, theirs in zip(modelled(log), self._files_of_segments(), strict=False)
            if ours != theirs
        ]
        # Recovery leaves a part of a batch before the recovery point, and the model does not say how much of it.
        if is_open and log.torn is None:
            sizes = sum(path.stat().st_size for path in self.folder.glob("*.log"))
            mine = sum(segment.size for segment in log.segments)
            if sizes != mine:
                found.append(f"{mine} bytes of log files in place of {sizes}")
        bases = [segment.base_offset for segment in modelled(log)]
        real = sorted(int(path.stem) for path in self.folder.glob("*.log"))
        if bases != real:
            found.append(f"segments {bases} in place of {real}")
        deleted = sorted({entry.base_offset for entry in log.deleted})
        gone = sorted(self._deleted_files())
        if deleted != gone:
            found.append(f"files {deleted} in place of {gone} with the suffix .deleted")
        offsets = (log.start_offset, log.end_offset, log.high_watermark, log.recovery_point)
        if is_open and offsets != self.offsets:
            found.append(f"start, end, high watermark, recovery point {offsets} in place of {self.offsets}")
        return found or (self._lookups() if is_open else [])

    def _deleted_files(self) -> set[int]:
        return {int(path.name.partition(".")[0]) for path in self.folder.glob("*.log.deleted")}

    def _files_of_segments(self) -> list[SegmentFiles]:
        bases = sorted(int(path.stem) for path in self.folder.glob("*.log"))
        # A clean stop trims the indexes of the active segment, too.
        closed = self.log.has_clean_shutdown_file
        return [
            read_open_segment(self.folder, base, None if closed or base != bases[-1] else self.entries)
            for base in bases
        ]

    def _lookups(self) -> list[str]:
        log = self.log
        offset = self.source.randint(log.start_offset, log.end_offset)
        timestamp = log.clock + self.source.randint(-1_000, 100)
        pairs: tuple[tuple[str, Callable[[PartitionLog, int], Batch | None], int], ...] = (
            ("offset", read_from_log, offset),
            ("time", fetch_offset_by_timestamp, timestamp),
        )
        found = []
        for name, lookup, wanted in pairs:
            batch, answer = lookup(log, wanted), self.real.ask(f"{name} {wanted}")[0]
            self.counts["lookups"] += 1
            if (batch is None) != (answer is None) or (
                batch is not None and answer is not None and not batch.first_offset <= answer <= batch.last_offset
            ):
                found.append(f"lookup of {name} {wanted}: {batch} in place of {answer}")
        return found


def _lose(path: Path, offset: int, damage: str) -> None:
    """Cut a log file before the first batch that ends at or above an offset; leave something of that batch.

    The file keeps the modification time of its last append; which one a crash leaves is the file system's choice.
    """
    data = path.read_bytes()
    kept, first = 0, 0
    for _, last, _, size in read_batches(data, path):
        if last < offset:
            kept += size
        elif not first:
            first = size
    left = {"nothing": b"", "a part": data[kept : kept + first * 2 // 3], "zeros": bytes(first)}[damage]
    if len(data) > kept:
        modified = path.stat().st_mtime_ns
        path.write_bytes(data[:kept] + left)
        os.utime(path, ns=(modified, modified))


def read_open_segment(folder: Path, base_offset: int, most: tuple[int, ...] | None) -> SegmentFiles:
    """Read the files of a segment. Of an active one, read only these numbers of index entries, and no torn batch."""
    path = folder / file_name(base_offset, ".log")
    batches = _whole(path.read_bytes(), path)
    entries: dict[str, list[Any]] = {}
    numbers = (None, None) if most is None else most
    for (suffix, form), number in zip(((".index", OFFSET_ENTRY), (".timeindex", TIME_ENTRY)), numbers, strict=True):
        index_path = folder / file_name(base_offset, suffix)
        # LazyIndex makes the file when the index is first used.
        index = index_path.read_bytes() if index_path.exists() else b""
        entries[suffix] = list(form.iter_unpack(index[: len(index) // form.size * form.size]))[:number]
    return SegmentFiles(
        base_offset,
        tuple(batches),
        tuple((base_offset + offset, position) for offset, position in entries[".index"]),
        tuple((timestamp, base_offset + offset) for timestamp, offset in entries[".timeindex"]),
    )


def _whole(data: bytes, path: Path) -> list[tuple[int, int, int, int]]:
    """Return the batches before a torn one, which only a crash may leave."""
    found = []
    with suppress(CorruptSegment):
        for batch in read_batches(data, path):
            found.append(batch)
    return found
