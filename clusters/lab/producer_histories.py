"""Random histories of what a log knows of a producer, done by Kafka's own ProducerStateManager and by the model.

A producer sends batches, some of them again, with or without transactions, to a leader, or a follower copies them. The
log rolls, loses its first segment, is truncated; its broker stops, or crashes. After each operation the memory of the
log is compared, and its snapshot files.

Source: kafka.log.ProducerStateManager (2.8), org.apache.kafka.storage.internals.log.ProducerStateManager (3.9).
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from attrs import frozen, mutable

from kwalk.clusters.lab.log_histories import BEGIN, LogHistory
from kwalk.clusters.lab.segment_files import LogRefused
from kwalk.invariants.stories.log_producers import LATE_BATCHES
from kwalk.model.kafka.storage import producer_state
from kwalk.model.kafka.storage.producer_state import ProducerEntry, ProducerLog, end_offset
from kwalk.model.kafka.storage.versions import VARIANTS
from kwalk.model.language.binding import Binding
from kwalk.model.language.errors import GuardFailed

ENTRY = struct.Struct(">qhiqiqiq")
"""Of a snapshot file: producer, epoch, last sequence number, its offset, offset delta, timestamp, coordinator epoch,
first offset of the open transaction."""
ENTRIES_AT = 10
"""Where a snapshot file has its entries, behind its version, its CRC and their number."""
NONE = -1
ProducerKnown = tuple[int, int, int, int, int]
"""The epoch, the last sequence number, its offset, its timestamp, and the first offset of the open transaction."""


@frozen
class ProducerSettings:
    """What the producer does, and how long a log knows it."""

    is_transactional: bool
    follows: bool
    expiration_ms: int

    @staticmethod
    def of(source: random.Random) -> ProducerSettings:
        """Return random ones."""
        is_transactional = source.random() < 0.5
        return ProducerSettings(
            is_transactional=is_transactional,
            follows=not is_transactional and source.random() < 0.3,
            expiration_ms=source.choice((300, 10**8)),
        )

    def line(self) -> str:
        """Return them as a topic is configured."""
        return f"file.delete.delay.ms=0,producer.expiration={self.expiration_ms}"

    def binding(self, version: str, length: int) -> Binding:
        """Return the bounds and flags in which the log is modelled."""
        bounds = {
            **LATE_BATCHES.bounds,
            "offsets": length,
            "times": 2 * BEGIN,
            "segments": length,
            "expiration_ms": self.expiration_ms,
            "follows": int(self.follows),
            "transactional": int(self.is_transactional),
            "epochs": 1,
            "crashes": length,
            "losses": 1,
            "stops": length,
            "truncations": length,
            "copies": length,
        }
        return Binding(bounds, VARIANTS[version])


@mutable
class ProducerHistory(LogHistory):
    """One history: the real log, the model's, and what was done to both.

    After a crash the next start recovers the log from the `recovery_point` on.
    """

    kind: ClassVar[str] = "producer"
    state: ClassVar[Any] = ProducerLog
    settings_class: ClassVar[Any] = ProducerSettings
    weights: ClassVar[dict[str, float]] = {
        "produce": 30,
        "other": 10,
        "begin": 12,
        "end": 8,
        "delay": 3,
        "arrive": 6,
        "copy": 3,
        "wait": 6,
        "forget": 4,
        "delete": 4,
        "truncate": 4,
        "stop": 3,
        "crash": 4,
    }

    recovery_point: int | None = None
    is_over: bool = False

    @property
    def is_up(self) -> bool:
        """Whether the log is open."""
        return bool(self.log.is_up)

    def begin(self) -> None:
        """Make the log, empty."""
        self.log = ProducerLog(clock=BEGIN)
        producer_state.starts_empty(self.log)
        self.ask(f"clock {BEGIN}")
        self.ask(f"log {self.folder} {self.settings.line()}")

    def _append_both(self, line: str, model: Callable[[], None], *, rolls: bool) -> None:
        """Have both append, or refuse to."""
        if rolls:
            self.ask("roll")
        try:
            self.ask(line)
        except LogRefused:
            self.counts["refused"] += 1
            end = end_offset(self.log)
            try:
                model()
            except GuardFailed:
                return
            if end_offset(self.log) > end:
                raise
            return
        model()

    def _batch(self) -> str:
        log = self.log
        offset = end_offset(log) if self.settings.follows else NONE
        ongoing = int(log.is_ongoing) if self.settings.is_transactional else 2
        return f"produce {offset} {log.next_sequence} {log.clock} {ongoing}"

    def _rolls(self) -> bool:
        return self.log.bases[-1] < end_offset(self.log) and self.source.random() < 0.3

    def _produce(self) -> None:
        log = self.log
        if log.in_flight or log.is_fenced or (self.settings.is_transactional and not log.is_ongoing):
            return
        is_new = self.settings.follows or not producer_state.is_duplicate(log, log.next_sequence)
        rolls = is_new and producer_state.accepts(log, log.next_sequence) and self._rolls()
        answered = not is_new or self.settings.follows or self.source.random() < 0.7
        self._append_both(self._batch(), lambda: producer_state.produce(log, answered, rolls), rolls=rolls)

    def _other(self) -> None:
        log, rolls, replicated = self.log, self._rolls(), self.source.random() < 0.5
        line = f"batch {end_offset(log)} 0 {log.clock}"
        self._append_both(line, lambda: producer_state.append_other(log, replicated, rolls), rolls=rolls)

    def _begin(self) -> None:
        if self.settings.is_transactional:
            producer_state.begin(self.log)
            self.operations.append("# a transaction begins")

    def _delay(self) -> None:
        if self.settings.is_transactional:
            producer_state.delay(self.log)
            self.operations.append("# a batch is delayed")

    def _arrive(self) -> None:
        if self.log.in_flight:
            self._append_both(self._batch(), lambda: producer_state.arrive(self.log), rolls=False)

    def _copy(self) -> None:
        """Send the last batch again, which was answered."""
        if self.settings.is_transactional and not self.log.is_fenced:
            producer_state.delay_copy(self.log)
            line = f"produce {NONE} {self.log.next_sequence - 1} {self.log.clock} {int(self.log.is_ongoing)}"
            with suppress(LogRefused):
                self.ask(line)
            producer_state.arrive_copy(self.log)

    def _end(self) -> None:
        if self.log.is_ongoing:
            # A producer that gives a batch up has a new epoch afterwards, which the model does not have.
            epoch = int(self.source.random() < 0.2 or self.log.next_sequence < self.log.appended)
            self.ask(f"marker {NONE} {epoch} {self.log.clock}")
            producer_state.end_transaction(self.log, epoch)

    def _wait(self) -> None:
        if not self.log.in_flight:
            self.log.clock += self.source.choice((1, 100, 250))
            self.ask(f"clock {self.log.clock}")

    def _forget(self) -> None:
        self.ask("forget")
        try:
            producer_state.expire(self.log)
        except GuardFailed:
            pass

    def _delete(self) -> None:
        log = self.log
        if len(log.bases) > 1 and log.bases[1] <= log.high_watermark:
            self.ask(f"start {log.bases[1]}")
            self.ask("retain")
            producer_state.delete_first_segment(log)
            self._files()

    def _files(self) -> None:
        self.ask("files")
        while not self.log.doomed.is_empty:
            producer_state.delete_files(self.log)

    def _truncate(self) -> None:
        log = self.log
        least = max(log.high_watermark, log.start_offset)
        if least < end_offset(log):
            offset = self.source.randrange(least, end_offset(log))
            self.ask(f"truncate {offset}")
            producer_state.truncate_to(log, offset)
            self._files()

    def _stop(self) -> None:
        self.ask("close")
        self.recovery_point = None
        producer_state.stop(self.log)

    def _crash(self) -> None:
        loses, recovers_all = self.source.random() < 0.5, len(self.log.bases) > 1 and self.source.random() < 0.5
        self.ask("crash")
        if loses:
            for snapshot in self.log.snapshots:
                if not snapshot.is_flushed:
                    (self.folder / f"{snapshot.offset:020d}.snapshot").write_bytes(b"")
            self.operations.append("# snapshots that were not flushed are empty")
        self.recovery_point = self.log.start_offset if recovers_all else end_offset(self.log)
        producer_state.crash(self.log, loses, recovers_all)

    def _load(self) -> None:
        log = self.log
        recovery_point = end_offset(log) if self.recovery_point is None else self.recovery_point
        self.ask(f"load {log.start_offset} {recovery_point} {int(self.recovery_point is None)}")
        producer_state.start(log)

    def differences(self) -> list[str]:
        """Return where the model knows something else than the real log, or its snapshots."""
        log, found = self.log, []
        if log.is_up:
            self.ask(f"hw {log.high_watermark}")
            stable, *entry = self.producer
            mine = log.high_watermark
            if log.entry is not None and log.entry.transaction is not None:
                mine = min(mine, max(log.entry.transaction, log.start_offset))
            if mine != stable:
                found.append(f"last stable offset {mine} in place of {stable}")
            real = tuple(entry) if entry else None
            if _known(log.entry) != _comparable(real):
                found.append(f"producer {_known(log.entry)} in place of {_comparable(real)}")
        if not log.is_up:
            return found
        files = {int(path.stem): path for path in self.folder.glob("*.snapshot")}
        for snapshot in log.snapshots:
            path = files.pop(snapshot.offset, None)
            if path is None:
                # A start removes those where no segment begins, but the last one.
                is_kept = snapshot.offset in log.bases or snapshot == log.snapshots[-1]
                if is_kept:
                    found.append(f"a snapshot {snapshot.offset} that is not there")
            elif not snapshot.is_torn:
                theirs = _comparable(read_snapshot(path))
                # A recovery that writes it again leaves out a producer that has expired, as each reader does.
                producer = snapshot.producer
                is_gone = producer is not None and theirs is None and producer_state.is_expired(producer, log.clock)
                if _known(producer) != theirs and not is_gone:
                    found.append(f"snapshot {snapshot.offset} {_known(producer)} in place of {theirs}")
        # A start also writes those where segments begin; those before the log are never read.
        extra = sorted(offset for offset in files if offset not in log.bases and offset >= log.start_offset)
        if extra:
            found.append(f"no snapshots {extra}")
        return found


def _known(entry: ProducerEntry | None) -> ProducerKnown | None:
    if entry is None:
        return None
    sequence, offset = (NONE, NONE) if entry.sequence is None else (entry.sequence, entry.offset)
    return entry.epoch, sequence, offset, entry.time, NONE if entry.transaction is None else entry.transaction


def _comparable(entry: tuple[int, ...] | None) -> ProducerKnown | None:
    """Return what a log knows; without a sequence number there is no offset."""
    if entry is None:
        return None
    epoch, sequence, offset, time, transaction = entry
    return epoch, sequence, NONE if sequence == NONE else offset, time, transaction


def read_snapshot(path: Path) -> ProducerKnown | None:
    """Return what a snapshot file has of producer 1."""
    for producer, epoch, sequence, offset, _, time, _, transaction in ENTRY.iter_unpack(path.read_bytes()[ENTRIES_AT:]):
        if producer == 1:
            return epoch, sequence, offset, time, transaction
    return None
