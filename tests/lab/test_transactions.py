"""The lab's requests of a transactional producer, and what a reader of committed records gets."""

from __future__ import annotations

from kwalk.clusters.lab.brokers import CONTROL, TRANSACTIONAL, consume, record_batch, record_values
from kwalk.clusters.lab.transactions import TransactionalProducer
from kwalk.clusters.metadata import Api
from kwalk.clusters.wire import Reader, array, buffer, int8, int16, int32, int64, string
from tests.lab.test_group_requests import NO_THROTTLE, broker, head

BEGUN = (NO_THROTTLE + int16(0), NO_THROTTLE + int16(0) + int64(7) + int16(0))
ATTRIBUTES = 8 + 4 + 4 + 1 + 4
"""Where a batch has them."""


def partition_error(code: int) -> bytes:
    return NO_THROTTLE + array([string("t") + array([int32(0) + int16(code)])])


def produced(code: int) -> bytes:
    return array([string("t") + array([int32(0) + int16(code) + int64(3) + int64(-1) + int64(0)])]) + NO_THROTTLE


def test_a_producer_writes_in_its_transaction_and_ends_it():
    answers = (*BEGUN, partition_error(0), produced(0), produced(48), NO_THROTTLE + int16(48))
    with broker(*answers) as (requests, sent):
        producer = TransactionalProducer(requests.port, "p")
        assert (producer.begin(1000), producer.add("t")) == ("NONE", "NONE")
        assert producer.write("t", "first")["offset"] == 3
        assert producer.write("t", "second")["error"] == "INVALID_TXN_STATE"
        assert producer.end(commits=False) == "INVALID_TXN_STATE"
    wanted = [
        Api.FIND_COORDINATOR,
        Api.INIT_PRODUCER_ID,
        Api.ADD_PARTITIONS_TO_TXN,
        Api.PRODUCE,
        Api.PRODUCE,
        Api.END_TXN,
    ]
    assert [head(one)[0] for one in sent] == wanted
    assert (sent[2].string(), sent[2].int64(), sent[2].int16()) == ("p", 7, 0)
    assert sent[3].string() == "p" and sent[5].content.endswith(string("p") + int64(7) + int16(0) + int8(0))
    assert producer.sequence == 1


def test_an_offset_is_committed_in_a_transaction_unless_its_group_is_refused():
    added = NO_THROTTLE + int16(0)
    with broker(*BEGUN, added, partition_error(12), NO_THROTTLE + int16(48)) as (requests, sent):
        producer = TransactionalProducer(requests.port, "p")
        producer.begin(1000)
        assert producer.commit_offset("g", "t", 8) == "OFFSET_METADATA_TOO_LARGE"
        assert producer.commit_offset("g", "t", 8) == "INVALID_TXN_STATE"
    assert [head(one)[0] for one in sent][2:] == [Api.ADD_OFFSETS_TO_TXN, Api.TXN_OFFSET_COMMIT, Api.ADD_OFFSETS_TO_TXN]


def test_a_record_of_a_transaction_has_its_attribute_and_a_marker_is_no_record():
    plain, within = record_batch(b"v", 0), record_batch(b"v", 0, None, 7, 0, transactional=True)
    assert [Reader(one[ATTRIBUTES:]).int16() for one in (plain, within)] == [0, TRANSACTIONAL]
    marker = within[:ATTRIBUTES] + int16(TRANSACTIONAL | CONTROL) + within[ATTRIBUTES + 2 :]
    assert list(record_values(within + marker + plain)) == [b"v", b"v"]


def test_a_reader_of_committed_records_says_so():
    partition = int32(0) + int16(0) + int64(5) + int64(5) + int64(0) + array([int64(7) + int64(3)]) + int32(-1)
    answer = (
        NO_THROTTLE + int16(0) + int32(0) + array([string("t") + array([partition + buffer(record_batch(b"v", 0))])])
    )
    with broker(answer, answer) as (requests, sent):
        assert [consume(requests.port, "t", 0, committed=one)["n"] for one in (False, True)] == [1, 1]
    for request, level in zip(sent, (b"\0", b"\1"), strict=True):
        head(request)
        request.take(16)
        assert request.take(1) == level
