"""A replica's log, and what its Partition object stores about other replicas: this makes loss and divergence visible.

Words: a record's *incarnation* says which topic of that name it was written to, counted from 0. The *log end offset* is
the number of records; the *high watermark* the number of those that consumers may read. The *end offset of a leader
epoch* is where a log's records of that epoch, or of the last one before it, end. A log is truncated by comparing such
offsets, never by comparing records. A record is *committed* when its leader's high watermark passes it: it is then
acknowledged to a producer with acks=all. All of this exists only while the bound `records` is not 0.

*leader-epoch-checkpoint* is the file in which a log stores where each leader epoch starts. A process that starts
without the file after a clean stop has *lost* the epochs of the records that it finds, whatever the records' own
headers say; after a crash it recovers the log's last segment, and with it the epochs.
"""

from __future__ import annotations

from kwalk.model.kafka.domains import BROKERS, INCARNATIONS, LEADER_EPOCHS, RECORDS
from kwalk.model.kafka.versions.grain import EPOCH_CHECKPOINT_REMOVAL
from kwalk.model.kafka.versions.records import TRUNCATION
from kwalk.model.language import Array, Fifo, array, fifo, flag, nested, number, optional, state, subset, value


@value
class Record:
    """A record batch: its offset and leader epoch as in its header, and the incarnation of the topic."""

    offset: int = number(0, RECORDS)
    leader_epoch: int = number(0, LEADER_EPOCHS, when=RECORDS)
    incarnation: int = number(0, INCARNATIONS)


@value
class Commit:
    """A committed record, and the leader epoch under which it was committed first."""

    record: Record = nested(Record)
    leader_epoch: int = number(0, LEADER_EPOCHS, when=RECORDS)


@state
class Log:
    """A replica's log on disk, and its high watermark (Kafka: Log, UnifiedLog).

    `checkpoint` is the value in replication-offset-checkpoint. `forgotten` is the number of first records whose leader
    epochs are lost; `epochs_removed` means that leader-epoch-checkpoint is gone and was not written again; `is_closed`
    that a clean stop has closed the log.
    """

    records: Fifo[Record] = fifo(Record, RECORDS)
    high_watermark: int = number(0, RECORDS)
    checkpoint: int = number(0, RECORDS)
    forgotten: int = number(0, RECORDS, when=EPOCH_CHECKPOINT_REMOVAL)
    epochs_removed: bool = flag(when=EPOCH_CHECKPOINT_REMOVAL)
    is_closed: bool = flag(when=EPOCH_CHECKPOINT_REMOVAL)

    @property
    def end(self) -> int:
        """The log end offset."""
        return len(self.records)

    @property
    def latest_epoch(self) -> int:
        """The leader epoch of the last record; 0 if there is none."""
        return max((record.leader_epoch for record in self.records if record.offset == self.end - 1), default=0)

    @property
    def knows_its_epochs(self) -> bool:
        """Whether the leader epoch of the last record is known, or the log is empty."""
        return self.end == 0 or self.end > self.forgotten

    def end_of_epoch(self, leader_epoch: int) -> int:
        """Return where the records of this leader epoch, or of one before it, end.

        If all known epochs are later, that is where the first of them starts.

        Kafka: LeaderEpochFileCache.endOffsetFor.
        """
        return max(
            (r.offset + 1 for r in self.records if self.forgotten <= r.offset and r.leader_epoch <= leader_epoch),
            default=self.forgotten,
        )

    def epoch_up_to(self, leader_epoch: int) -> int:
        """Return the largest leader epoch of a record that is not above the given one.

        If there is none it is 0, or the given epoch itself where earlier epochs are lost.
        """
        none = leader_epoch if self.forgotten > 0 else 0
        return max(
            (r.leader_epoch for r in self.records if self.forgotten <= r.offset and r.leader_epoch <= leader_epoch),
            default=none,
        )

    def write_epochs(self) -> None:
        """Write leader-epoch-checkpoint, as for a new epoch or a truncation (Kafka: LeaderEpochFileCache.flush)."""
        if EPOCH_CHECKPOINT_REMOVAL:
            self.epochs_removed = False

    def load_epochs(self) -> None:
        """Load the epochs when a process starts: without the file, and without recovery, all are lost."""
        if EPOCH_CHECKPOINT_REMOVAL:
            if not self.is_closed:
                self.forgotten, self.epochs_removed = 0, False
            elif self.epochs_removed:
                self.forgotten = self.end
            self.is_closed = False

    def truncate_to(self, offset: int) -> None:
        """Remove the records from the offset on, and lower the high watermark to it if needed.

        Kafka: Log.truncateTo.
        """
        end = self.end
        for slot in range(RECORDS):
            if slot < end:
                record = self.records.pop()
                if slot < offset:
                    self.records.push(record)
        self.high_watermark = min(self.high_watermark, offset)
        if EPOCH_CHECKPOINT_REMOVAL:
            self.forgotten = min(self.forgotten, offset)
            self.write_epochs()


@state
class Replication:
    """What a Partition object stores about the other replicas; a process starts with nothing (Kafka: Partition).

    A follower has its `leader`. A leader has the ISR, the offset at which its epoch began, and the log end offset of
    each follower that has fetched from it.
    """

    leader: int | None = optional(BROKERS, when=RECORDS)
    isr: frozenset[int] = subset(BROKERS, when=RECORDS)
    epoch_start: int = number(0, RECORDS)
    remote_ends: Array[int | None] = array(BROKERS, optional(number(0, RECORDS)), when=RECORDS)

    def clear_followers(self) -> None:
        """Clear what is stored about followers."""
        for broker in BROKERS:
            self.remote_ends[broker] = None

    def forget(self) -> None:
        """Clear everything."""
        if RECORDS > 0:
            self.leader, self.isr, self.epoch_start = None, frozenset(), 0
            self.clear_followers()


def diverging_offset(follower: Log, leader: Log) -> int:
    """Return the offset to which a follower truncates; its log end offset if the logs do not diverge.

    A follower truncates by the leader's answer for its latest leader epoch; if the leader does not have that epoch, the
    follower asks again after truncating. Records are not compared: under equal leader epochs the logs do not diverge
    (KIP-101, KIP-279; Partition.readRecords since KIP-595). A follower that does not know its latest leader epoch
    truncates to its high watermark (ReplicaManager.initialFetchOffset).

    Kafka: AbstractFetcherThread.getOffsetTruncationState.
    """
    if TRUNCATION == "high watermark":
        return min(follower.end, leader.end)
    if not follower.knows_its_epochs:
        return min(follower.end, follower.high_watermark)
    latest = follower.latest_epoch
    common = leader.epoch_up_to(latest)
    return min(follower.end, leader.end_of_epoch(latest), follower.end_of_epoch(common))
