"""Random histories of a compacted log, done by Kafka's own cleaner and by the log model.

Records with keys are appended, clients delete records, and the cleaner's thread cleans the log and deletes segments.
`WriteLogs.java` has a LogCleanerManager, which chooses what is cleaned and keeps the cleaner's checkpoint, and a
Cleaner with a small map. A crash may stop a cleaning at each of its steps. The cleaner's buffers have room for one
batch, which the model cleans at a time.

Source: kafka.log.LogCleaner, kafka.log.Cleaner, kafka.log.LogCleanerManager.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, ClassVar

from attrs import frozen, mutable

from kwalk.clusters.collect.log_files import HEADER
from kwalk.clusters.lab.log_histories import BEGIN, LogHistory, LogSettings
from kwalk.clusters.lab.segment_files import AFTER_LENGTH, INT_MAX
from kwalk.model.kafka.storage import log as log_model
from kwalk.model.kafka.storage import log_cleaner, log_loading
from kwalk.model.kafka.storage.log import append_to_log, file_name
from kwalk.model.kafka.storage.state import Batch, LogPhase, Suffix
from kwalk.model.kafka.storage.versions.compaction import TOMBSTONES_HAVE_A_HORIZON
from kwalk.model.language.binding import Binding
from kwalk.model.language.errors import GuardFailed

KEYS = "abcd"
BUFFER = 120
"""Bytes of the cleaner's buffers: more than the largest batch has, and less than two batches have."""
SPAN = 40
"""Most that the clock moves on, in ms: a timestamp delta has one byte, also if a batch gets a delete horizon."""
HORIZON = 1 << 6
"""The attribute of a batch whose first timestamp is its delete horizon."""
STOPPED = -1
"""What a cleaning answers that has stopped."""


@frozen
class CleanerSettings(LogSettings):
    """The configuration of a random compacted log, and of its cleaner."""

    min_dirty_percent: int
    delete_retention_ms: int
    map_keys: int

    @staticmethod
    def of(source: random.Random) -> CleanerSettings:
        """Return a random one."""
        return CleanerSettings(
            segment_bytes=source.choice((160, 250, 400, 1_000)),
            segment_ms=source.choice((3, 20, 10_000)),
            index_interval_bytes=source.choice((0, 80, 200)),
            index_bytes=source.choice((24, 48, 4_096)),
            retention_ms=10**9,
            retention_bytes=10**9,
            delay_ms=0,
            min_dirty_percent=source.choice((0, 0, 20, 50)),
            delete_retention_ms=source.choice((0, 2, 8)),
            map_keys=source.choice((1, 2, 3, 9)),
        )

    def line(self) -> str:
        """Return it as a topic is configured."""
        ratio = self.min_dirty_percent / 100
        return (
            f"{super().line()},cleanup.policy=compact,min.cleanable.dirty.ratio={ratio},"
            f"delete.retention.ms={self.delete_retention_ms}"
        )

    def binding(self, version: str, length: int) -> Binding:
        """Return the bounds and flags in which its log is modelled."""
        given = super().binding(version, length)
        bounds = {
            **given.bounds,
            "losses": 0,
            "keys": len(KEYS),
            "tombstones": 1,
            "cleanings": length,
            "min_dirty_percent": self.min_dirty_percent,
            "delete_retention_ms": self.delete_retention_ms,
            "map_keys": self.map_keys,
        }
        return Binding(bounds, given.flags)


@mutable
class CleanerHistory(LogHistory):
    """One history of a compacted log."""

    kind: ClassVar[str] = "compacted log"
    settings_class: ClassVar[Any] = CleanerSettings
    weights: ClassVar[dict[str, float]] = {
        "append": 50,
        "hw": 10,
        "wait": 6,
        "delete_records": 2,
        "expire": 3,
        "flush": 3,
        "checkpoint": 3,
        "checkpoint_start": 3,
        "clean": 10,
        "stop_cleaning": 4,
        "stop": 1,
        "crash": 1,
    }

    def _append(self) -> None:
        log, choose = self.log, self.source.choice
        # Where the map is full, Kafka bounds the last segment of a group by the first offset that cannot be cleaned.
        # The model has the end of the cleaning there: only a gap that no segment can have tells them apart.
        far = INT_MAX if self.settings.map_keys > len(KEYS) else 0
        gap = choose((0, 0, 0, 0, 0, 1, 7, far if self.source.random() < 0.05 else 0))
        key = self.source.randrange(len(KEYS))
        size, timestamp = choose((-1, -1, 0, 7, 30)), log.clock + self.source.randint(-10, 5)
        answer = self.ask(f"record {log.end_offset + gap} {KEYS[key]} {size} {timestamp}")
        assert answer is not None
        batch = Batch(
            last_offset=log.end_offset + gap,
            timestamp=timestamp,
            size=answer,
            key=key,
            is_tombstone=size < 0,
            appended=log.clock,
        )
        append_to_log(log, batch)

    def _wait(self) -> None:
        self.log.clock += self.source.choice((1, 2, 5)) if self.log.clock < BEGIN + SPAN else 0
        self.ask(f"clock {self.log.clock}")

    def _expire(self) -> None:
        self.ask("expire")
        self.ask("files")
        try:
            log_model.delete_before_start(self.log)
            self.counts["delete_before_start"] += 1
        except GuardFailed:
            pass

    def _begin(self, checks: int, renames: int) -> int | None:
        """Have both begin to clean; return up to where the real log was cleaned, if it was."""
        tick = self.source.choice((0, 0, 3)) if self.log.clock < BEGIN + SPAN else 0
        answer = self.ask(f"clean {self.settings.map_keys} {BUFFER} {tick} {checks} {renames}")
        if answer is None:
            try:
                log_cleaner.begin_cleaning(self.log)
            except GuardFailed:
                self.counts["nothing to clean"] += 1
                # Whoever looks writes a checkpoint that is no offset of the log again; the model does with a cleaning.
                if self._checkpoint_of_cleaner() is not None:
                    self.log.dirty_offset = log_cleaner.first_dirty_offset(self.log)
            else:
                self.problems.append("cleans what is not cleaned")
        else:
            log_cleaner.begin_cleaning(self.log)
            self.log.clock += tick
        return answer

    def _clean(self) -> None:
        self._end(self._begin(0, 0))

    def _end(self, answer: int | None) -> None:
        if answer is not None:
            if self.log.cleaning_to not in (0, answer):
                self.problems.append(f"is cleaned up to {self.log.cleaning_to} in place of {answer}")
            while self.log.cleaning_to > 0:
                _clean_group(self)
            self.counts["cleaned"] += 1
        self.ask("files")

    def _stop_cleaning(self) -> None:
        """Crash amid a cleaning, if it gets as far as it is to stop."""
        at = self.source.randint(1, 12)
        checks, renames = (at, 0) if self.source.random() < 0.4 else (0, min(at, 4))
        answer = self._begin(checks, renames)
        if answer != STOPPED:
            self._end(answer)
            return
        cleaned = [int(path.name.partition(".")[0]) for path in self.folder.glob("*.log.cleaned")]
        if renames:
            self._stop_at_rename(renames)
        else:
            while cleaned and self.log.segments[log_cleaner.first_slot(self.log)].base_offset != cleaned[0]:
                _clean_group(self)
            if cleaned:
                log_cleaner.write_cleaned(self.log)
            self.counts["crash with .cleaned" if cleaned else "crash at the map"] += 1
        self._crash()

    def _crash(self) -> None:
        """The disk has all of the log."""
        self.ask("crash")
        log_loading.crash(self.log, self.log.end_offset, False)
        # The model has no more than 0 for a checkpoint that is not written yet.
        if self._checkpoint_of_cleaner() is None:
            self.log.dirty_offset = 0

    def _load(self) -> None:
        super()._load()
        self.ask("files")

    def _stop_at_rename(self, renames: int) -> None:
        """Let the model clean up to a crash that comes after a number of renames; it may lose the first one."""
        log, first = self.log, 0
        while renames > 0:
            first = log.segments[log_cleaner.first_slot(log)].base_offset
            renames -= len(_clean_group(self, renames))
        if log.renamed == 1 and self.source.random() < 0.5:
            for path in self.folder.glob(f"{file_name(first, '')}.*.deleted"):
                path.rename(path.with_suffix(""))
            log.renamed = 0
        self.operations.append(f"# {log.renamed} of {log.replaced} old segments are renamed")
        self.counts[f"crash with .swap, {'none' if log.renamed == 0 else 'some'} renamed"] += 1

    def differences(self) -> list[str]:
        """Return those of any log, and of the cleaner's checkpoint and of delete horizons."""
        if self.log.suffix is Suffix.SWAP:
            # The files are those of old segments and of the new one until the next start.
            return self.problems
        found = [*self.problems, *super().differences()]
        dirty = self._checkpoint_of_cleaner()
        if dirty is not None and self.log.dirty_offset != dirty:
            found.append(f"the cleaner's checkpoint {self.log.dirty_offset} in place of {dirty}")
        mine = {
            batch.last_offset: batch.cleaned + self.settings.delete_retention_ms
            for segment in self.log.segments
            for batch in segment.batches
            if batch.cleaned is not None and TOMBSTONES_HAVE_A_HORIZON
        }
        real = dict(self._horizons())
        if mine != real:
            found.append(f"delete horizons {mine} in place of {real}")
        return found

    def _checkpoint_of_cleaner(self) -> int | None:
        """Return the offset of the log in the file, of whose lines two are its version and its length."""
        words = (self.folder.parent / "cleaner-offset-checkpoint").read_text().split()
        return int(words[-1]) if len(words) > 2 else None

    def _deleted_files(self) -> set[int]:
        # Those that a cleaning has renamed before a crash are removed by the next start.
        return super()._deleted_files() if self.log.phase is LogPhase.RUNNING else set()

    def _horizons(self) -> Iterator[tuple[int, int]]:
        for path in self.folder.glob("*.log"):
            data, at = path.read_bytes(), 0
            while at < len(data):
                base, length, _, _, _, attributes, _, first, *_ = HEADER.unpack_from(data, at)
                if attributes & HORIZON:
                    yield base, first
                at += AFTER_LENGTH + length


def _clean_group(done_by: CleanerHistory, renames: int = 0) -> list[int]:
    """Let the model clean the next group of segments, at most up to a number of renames (0: all); return them."""
    log = done_by.log
    done: list[int] = []
    log_cleaner.write_cleaned(log)
    log_cleaner.rename_to_swap(log)
    while log.renamed < log.replaced and len(done) != (renames or -1):
        log_cleaner.rename_old(log)
        done.append(log.renamed)
    if len(done) != renames:
        log_cleaner.finish_swap(log)
    assert log.suffix is Suffix.NONE or renames
    done_by.counts["groups"] += 1
    return done
