"""What releases and fixes change about batches that a log takes, or refuses, and their formats."""

from __future__ import annotations

from kwalk.model.kafka.releases import ReleaseFlags
from kwalk.model.language import Trial

FLAGS = ReleaseFlags()
version_flag, candidate = FLAGS.version_flag, FLAGS.candidate

DAMAGED_BATCHES_ARE_FETCHED_AGAIN = version_flag(
    "damaged_batches_are_fetched_again",
    "KAFKA-4384 (0.10.1.1): a fetcher goes on behind a batch when that is appended; before, also if its checksum was "
    "wrong, and the next batch then ended the thread (Offset mismatch for partition)",
    {"0.10.1.1": True},
    closes="a follower outlives a batch that was damaged on its way",
    source="KAFKA-4384 (0.10.1.1)",
    trials=(Trial("log-copy-damaged", ("follower_catches_up",), variant="0.10.1"),),
)
FOLLOWERS_TAKE_LARGE_BATCHES = version_flag(
    "followers_take_large_batches",
    "KAFKA-9617 (2.6.0): a follower appends what its leader has; before, it refused batches that are larger than "
    "max.message.bytes of the topic is by now",
    {"2.6.0": True},
    closes="a follower copies batches of before max.message.bytes was lowered",
    source="KAFKA-9617 (2.6.0)",
    trials=(Trial("log-copy", ("follower_catches_up",), variant="2.5"),),
)
FOLLOWERS_TAKE_LARGER_THAN_SEGMENTS = candidate(
    "followers_take_larger_than_segments",
    "KAFKA-17375: a follower appends what its leader has, also a batch that is larger than segment.bytes is by now",
    closes="a follower copies batches of before segment.bytes was lowered",
    source="no release; KAFKA-17375",
    trials=(Trial("log-copy-above-segments", ("follower_catches_up",), variant="3.9.0"),),
)
OFFSETS_OF_A_BATCH_ARE_COUNTED = version_flag(
    "offsets_of_a_batch_are_counted",
    "KAFKA-6554 (1.1.0): a batch whose records are not as many as its offsets is refused",
    {"1.1.0": True},
    closes="consumers get past each batch",
    source="KAFKA-6554 (1.1.0): LogValidator.validateBatch",
    trials=(Trial("log-received-batches", ("batch_has_a_record_for_each_offset",), variant="1.0"),),
)
DAMAGED_MESSAGES_ARE_REFUSED = version_flag(
    "damaged_messages_are_refused",
    "KAFKA-8722 (0.11.0.0): the checksum of each message in a compressed set is compared; before, not if the set was "
    "compressed again, as its offsets are those of another log",
    {"0.11.0.0": True},
    closes="consumers get past each message",
    source="KAFKA-8722 (0.11.0.0; its commit is in no release of 0.10.2): LogValidator",
    trials=(Trial("log-damaged-message", ("appended_messages_are_sound",), variant="0.10.2"),),
)
OLD_BATCHES_MAY_HAVE_GAPS = version_flag(
    "old_batches_may_have_gaps",
    "KAFKA-9669 (2.5.1): a batch of format v1 may have gaps among its offsets; in 2.4 and 2.5.0 it was refused",
    {"2.4.0": False, "2.5.1": True},
    before=True,
    closes="earlier producers can write",
    source="KAFKA-9669 (2.5.1): LogValidator.validateOffset",
    trials=(Trial("log-received-batches", ("earlier_batch_is_accepted",), variant="2.5"),),
)
ZSTD_WAITS_FOR_THE_PROTOCOL = version_flag(
    "zstd_waits_for_the_protocol",
    "KAFKA-7920 (2.2.0): a batch in zstd is refused until the inter-broker protocol is 2.1; in 2.1, followers of "
    "earlier releases could not fetch it",
    {"2.1.0": False, "2.2.0": True},
    before=True,
    closes="followers can fetch what is appended amid an upgrade",
    source="KAFKA-7920 (2.2.0): LogValidator",
    trials=(Trial("log-received-batches", ("followers_know_the_compression",), variant="2.1.0"),),
)
OLD_ZSTD_IS_ANSWERED = version_flag(
    "old_zstd_is_answered",
    "KAFKA-7549 (2.1.1): an earlier request with a batch in zstd gets an error; in 2.1.0 its connection was closed",
    {"2.1.0": False, "2.1.1": True},
    before=True,
    closes="a producer learns why it is refused",
    source="KAFKA-7549 (2.1.1): KafkaApis.handleProduceRequest",
    trials=(Trial("log-received-batches", ("refused_producer_is_answered",), variant="2.1.0"),),
)
HEADERS_ARE_LEFT_OUT = version_flag(
    "headers_are_left_out",
    "KAFKA-6739 (1.1.1): headers of records are left out as they are converted for a consumer of before 0.11; before, "
    "its fetch failed",
    {"1.0.2": True, "1.1.0": False, "1.1.1": True},
    closes="an earlier consumer reads records with headers",
    source="KAFKA-6739 (1.1.1): RecordsUtil.downConvert",
    trials=(Trial("log-converted-batches", ("headers_are_left_out",), variant="1.0"),),
)
OLD_BATCHES_GET_ROOM = version_flag(
    "old_batches_get_room",
    "KAFKA-8570 (2.2.2, 2.3.1): the buffer of a conversion grows for a batch that stays as it is, too; before, such a "
    "batch was taken to come before all that are converted",
    {"2.2.2": True, "2.3.0": False, "2.3.1": True},
    closes="an earlier consumer reads batches in whatever order their formats are",
    source="KAFKA-8570 (2.2.2, 2.3.1): RecordsUtil.downConvert",
    trials=(Trial("log-converted-batches", ("converted_batches_have_room",), variant="2.0"),),
)
FUTURE_TIMESTAMPS_ARE_REFUSED = candidate(
    "future_timestamps_are_refused",
    "message.timestamp.after.max.ms is set (KIP-937, since 3.6.0): a leader refuses a batch with a timestamp above its "
    "clock; without it, and before, retention keeps such a batch until then",
    closes="a segment goes when the retention time is over since its last append",
    source="KAFKA-14991, KIP-937 (3.6.0), a configuration that is off unless it is set",
    trials=(Trial("log-future-timestamps", ("old_appends_are_deleted",), variant="3.9.0"),),
)
