"""The requests of a transactional producer, each sent when the experiment says, to the only broker.

Source: the messages in org.apache.kafka.common.message; kafka/coordinator/transaction/TransactionCoordinator.scala.
"""

from __future__ import annotations

from kwalk.clusters.lab.brokers import OK, Probe, error_name, produce
from kwalk.clusters.metadata import Api, BrokerConnection
from kwalk.clusters.wire import Reader, array, int8, int16, int32, int64, string


class TransactionalProducer:
    """A producer's transactions, one after another, at the only broker.

    Args:
        port: the broker's port.
        identity: the transactional id.
    """

    def __init__(self, port: int, identity: str) -> None:
        self.port, self.identity = port, identity
        self.id, self.epoch, self.sequence = -1, -1, 0

    def begin(self, timeout_ms: int) -> str:
        """Find the coordinator, which creates `__transaction_state`, and get a producer id; return the error."""
        reader = self._ask(Api.FIND_COORDINATOR, 1, string(self.identity) + int8(1))
        reader.int32()
        code = reader.int16()
        if not code:
            reader = self._ask(Api.INIT_PRODUCER_ID, 0, string(self.identity) + int32(timeout_ms))
            reader.int32()
            code, self.id, self.epoch = reader.int16(), reader.int64(), reader.int16()
        return error_name(code)

    def commit_offset(self, group: str, topic: str, offset: int) -> str:
        """Commit an offset of partition 0 of a topic for a group, in the transaction; return the error."""
        error = error_name(
            self._error(Api.ADD_OFFSETS_TO_TXN, string(self.identity) + self._producer() + string(group))
        )
        return self.send_offset(group, topic, offset) if error == OK else error

    def send_offset(self, group: str, topic: str, offset: int) -> str:
        """Send the second request of a commit, to the coordinator of the group; return the error."""
        partitions = array([int32(0) + int64(offset) + string("")])
        body = string(self.identity) + string(group) + self._producer() + array([string(topic) + partitions])
        return error_name(self._error_of_a_partition(Api.TXN_OFFSET_COMMIT, body))

    def add(self, topic: str) -> str:
        """Add partition 0 of a topic to the transaction; return the error."""
        body = string(self.identity) + self._producer() + array([string(topic) + array([int32(0)])])
        return error_name(self._error_of_a_partition(Api.ADD_PARTITIONS_TO_TXN, body))

    def write(self, topic: str, value: str) -> Probe:
        """Produce a record to partition 0 of a topic, which was added; return the probe of it."""
        answer = produce(
            self.port, topic, 0, value, producer_id=self.id, sequence=self.sequence, transaction=self.identity
        )
        self.sequence += answer["ok"]
        return answer

    def end(self, *, commits: bool = True) -> str:
        """Commit or abort the transaction; return the error."""
        return error_name(self._error(Api.END_TXN, self.end_body(commits=commits)))

    def end_body(self, *, commits: bool = True) -> bytes:
        """Return an EndTxn request."""
        return string(self.identity) + self._producer() + int8(int(commits))

    def _producer(self) -> bytes:
        return int64(self.id) + int16(self.epoch)

    def _error(self, api: Api, body: bytes) -> int:
        reader = self._ask(api, 0, body)
        reader.int32()
        return reader.int16()

    def _error_of_a_partition(self, api: Api, body: bytes) -> int:
        reader = self._ask(api, 0, body)
        reader.int32()
        ((_, code),) = next(iter(reader.array(lambda: _codes(reader))))
        return code

    def _ask(self, api: Api, version: int, body: bytes) -> Reader:
        with BrokerConnection(self.port) as connection:
            return connection.ask(api, version, body)


def _codes(reader: Reader) -> list[tuple[int, int]]:
    reader.string()
    return reader.array(lambda: (reader.int32(), reader.int16()))
