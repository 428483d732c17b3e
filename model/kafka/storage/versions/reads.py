"""What releases and fixes change about reads of a log: fetches, and lookups of offsets."""

from __future__ import annotations

from kwalk.model.kafka.releases import ReleaseFlags
from kwalk.model.language import Trial

FLAGS = ReleaseFlags()
version_flag, candidate = FLAGS.version_flag, FLAGS.candidate

STABLE_OFFSET_IS_OF_ONE_MOMENT = version_flag(
    "stable_offset_is_of_one_moment",
    "KAFKA-9807 (2.5.0): a fetch with read_committed reads the high watermark once; before, twice, and it may have "
    "risen in between, to records of a transaction that is open",
    {"2.5.0": True},
    closes="readers of committed records read no record of an open transaction",
    source="KAFKA-9807 (2.5.0)",
    trials=(Trial("log-committed-reads", ("open_transaction_is_not_read",), variant="2.3.1"),),
)
LARGEST_TIMESTAMP_IS_READ = version_flag(
    "largest_timestamp_is_read",
    "KAFKA-16310 (3.8.0): a lookup of the largest timestamp (KIP-734, 3.0) reads the records of the batch that has it; "
    "before, it answered with the last offset of a compressed batch, and of any that is fetched from a leader",
    {"3.8.0": True},
    closes="a lookup of the largest timestamp finds the record that has it",
    source="KAFKA-16310 (3.8.0)",
    trials=(Trial("log-largest-timestamp", ("largest_timestamp_has_its_offset",)),),
)
UNCOMPRESSED_OFFSETS_ARE_KNOWN = version_flag(
    "uncompressed_offsets_are_known",
    "KAFKA-16341 (3.8.0): a leader knows which record of a batch that is not compressed has the largest timestamp; in "
    "3.7 it took the last one",
    {"3.7.0": False, "3.8.0": True},
    before=True,
    closes="a lookup of the largest timestamp finds the record that has it, also of batches that are not compressed",
    source="KAFKA-16341 (3.8.0)",
    trials=(Trial("log-largest-timestamp-uncompressed", ("largest_timestamp_has_its_offset",), variant="3.7.0"),),
)
RESPONSES_ARE_OF_ONE_MOMENT = version_flag(
    "responses_are_of_one_moment",
    "KAFKA-7104 (1.0.2, 1.1.1, 2.0.0): a response to a fetch has the start offset that the leader had when it read the "
    "records; since 1.0.0 and until then, a later one, which the follower could not take",
    {"1.0.0": False, "1.0.2": True, "1.1.0": False, "1.1.1": True},
    before=True,
    closes="a follower goes on when its leader deletes records",
    source="KAFKA-7104 (1.0.2, 1.1.1, 2.0.0)",
    trials=(
        Trial(
            "log-copy",
            ("follower_catches_up",),
            variant="1.0",
            flags={"followers_take_large_batches": True, "copies_begin_within_a_batch": True},
        ),
    ),
)
COPIES_BEGIN_WITHIN_A_BATCH = version_flag(
    "copies_begin_within_a_batch",
    "KAFKA-6975 (1.0.2, 1.1.1, 2.0.0): a follower whose log begins within a batch, as its leader's start offset is "
    "there, begins again where the batch does; before, it could not append the batch, and its fetcher ended",
    {"1.0.2": True, "1.1.0": False, "1.1.1": True},
    closes="a follower copies a log of which clients have deleted a part of the first batch",
    source="KAFKA-6975 (1.0.2, 1.1.1, 2.0.0)",
    trials=(
        Trial(
            "log-copy",
            ("follower_catches_up",),
            variant="1.0",
            flags={"followers_take_large_batches": True, "responses_are_of_one_moment": True},
        ),
    ),
)
LOOKUPS_END_AT_THE_STABLE_OFFSET = version_flag(
    "lookups_end_at_the_stable_offset",
    "KAFKA-5522 (0.11.0.1, 1.0.0): a lookup by timestamp with read_committed finds no record of an open transaction; "
    "before, any record up to the high watermark, and the one at it",
    {"0.11.0.1": True},
    closes="a lookup with read_committed finds what a fetch does",
    source="KAFKA-5522 (0.11.0.1, 1.0.0)",
    trials=(Trial("log-committed-lookups", ("lookup_finds_what_can_be_read",), variant="0.11.0.0"),),
)
SLICES_LOOK_ONCE = version_flag(
    "slices_look_once",
    "KAFKA-9835 (2.5.1): a fetch looks once where the file ends; since 1.1.0 twice, so that one that ends there gets "
    "what is written in between, too",
    {"1.1.0": False, "2.5.1": True},
    before=True,
    closes="a consumer gets nothing from above the high watermark",
    source="KAFKA-9835 (2.5.1): FileRecords.slice",
    trials=(Trial("log-fetch-amid-an-append", ("fetch_ends_at_the_high_watermark",), variant="2.3.1"),),
)
LOOKUPS_LOOK_ONCE = version_flag(
    "lookups_look_once",
    "KAFKA-2236 (0.10.0.1): a lookup of offsets looks once whether the last segment has records; before, twice",
    {"0.10.0.1": True},
    closes="a lookup of offsets is answered while the first record of a segment is appended",
    source="KAFKA-2236 (0.10.0.1): KafkaApis.fetchOffsetsBefore",
    trials=(Trial("log-lookup-amid-changes", ("lookup_is_answered",), variant="0.10.0", bounds={"old_segments": 0}),),
)
SEGMENTS_ARE_BUFFERED = version_flag(
    "segments_are_buffered",
    "KAFKA-4205 (0.10.1.1): lookups, and the cleaner, copy the list of segments one by one; before, into an array, "
    "which had nulls for segments that were removed meanwhile",
    {"0.10.1.1": True},
    closes="a lookup of offsets is answered while a segment is removed",
    source="KAFKA-4205 (0.10.1.1): KafkaApis.fetchOffsetsBefore, LogCleanerManager.cleanableOffsets",
    trials=(Trial("log-lookup-amid-changes", ("lookup_is_answered",), variant="0.10.1"),),
)
LEADERS_KNOW_POSITIONS_FIRST = version_flag(
    "leaders_know_positions_first",
    "KAFKA-5745 (1.0.0): a replica looks up the position of its high watermark before it leads; before, afterwards",
    {"1.0.0": True},
    closes="a fetch that waits is answered by a replica that begins to lead",
    source="KAFKA-5745 (1.0.0): Partition.makeLeader",
    trials=(Trial("log-fetch-from-a-new-leader", ("fetch_is_answered",), variant="0.11.0.0"),),
)
HEADERS_ARE_READ_WHOLE = version_flag(
    "headers_are_read_whole",
    "KAFKA-4576 (0.10.2.0): a read that gives a part of a header goes on; before, that was taken for the end of "
    "the file",
    {"0.10.2.0": True},
    closes="all batches of a file are read",
    source="KAFKA-4576 (0.10.2.0): FileLogInputStream.nextBatch",
    trials=(Trial("log-file-that-is-read", ("file_is_read_to_its_end",), variant="0.10.1"),),
)
POSITIONS_DO_NOT_OVERFLOW = version_flag(
    "positions_do_not_overflow",
    "KAFKA-6292 (1.1.1): the position of the next header is compared without an overflow; before, one beyond 2 "
    "GiB was before the end of the file",
    {"1.0.2": True, "1.1.0": False, "1.1.1": True},
    closes="a file of any size that a segment may have can be read",
    source="KAFKA-6292 (1.1.1): FileLogInputStream.nextBatch",
    trials=(Trial("log-file-that-is-read", ("reading_does_not_fail",), variant="1.0"),),
)
LATER_SEGMENTS_ARE_SEARCHED = candidate(
    "later_segments_are_searched",
    "a lookup by timestamp that finds nothing at or above the log start offset in a segment continues in the next one",
    closes="a lookup by timestamp finds a record although an earlier segment has such ones before the start offset",
    source="no release",
    trials=(Trial("log-lookup", ("timestamp_lookup_finds_the_first_record",)),),
)
