"""The requests of a consumer group, each sent when the experiment says, to the broker that it names.

A consumer library joins, sends heartbeats and finds the coordinator by itself; here each of these is a step. The
versions are the last ones before compact lengths, which all brokers from 2.5 to 3.9 understand.

Source: the messages in org.apache.kafka.common.message; kafka/coordinator/group/GroupCoordinator.scala.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import evolve, frozen

from kwalk.clusters.lab.brokers import error_name
from kwalk.clusters.metadata import PATIENCE, Api, BrokerConnection
from kwalk.clusters.wire import (
    NO_TAGS,
    Reader,
    array,
    buffer,
    compact_array,
    compact_string,
    int8,
    int16,
    int32,
    int64,
    string,
)

OFFSETS = "__consumer_offsets"
PROTOCOL = "range"


@frozen
class GroupMember:
    """A member of a group, as its consumer knows it.

    Attributes:
        group: the group's name.
        id: its member id; empty before the first JoinGroup is answered.
        instance: its `group.instance.id`, if it is a static member.
        generation: the generation that it is in; -1 for none.
        leader: the member id of the generation's leader, which assigns the partitions.
        session_ms: its session timeout.
        rebalance_ms: its rebalance timeout.
        topics: what it subscribes to.
    """

    group: str
    id: str = ""
    instance: str | None = None
    generation: int = -1
    leader: str = ""
    session_ms: int = 30_000
    rebalance_ms: int = 30_000
    topics: tuple[str, ...] = ()

    @property
    def subscription(self) -> bytes:
        """What its JoinGroup says of its topics (ConsumerProtocolSubscription, version 0)."""
        return int16(0) + array(map(string, self.topics)) + buffer(None)


class GroupRequests:
    """Requests to one broker about groups; each has a connection of its own, and waits for its answer.

    Args:
        port: the broker's port.
        seconds: the patience with an answer.
    """

    def __init__(self, port: int, *, seconds: float = PATIENCE) -> None:
        self.port, self.seconds = port, seconds

    def find_coordinator(self, group: str) -> str:
        """Ask for the coordinator, which creates `__consumer_offsets` if it is not there; return the error."""
        reader = self._ask(Api.FIND_COORDINATOR, 1, string(group) + int8(0))
        reader.int32()
        return error_name(reader.int16())

    def join(self, member: GroupMember) -> tuple[str, GroupMember]:
        """Send JoinGroup, again with the member id that the coordinator demands; return the error and the member."""
        protocols = array([string(PROTOCOL) + buffer(member.subscription)])
        while True:
            body = string(member.group) + int32(member.session_ms) + int32(member.rebalance_ms) + string(member.id)
            body += string(member.instance) + string("consumer") + protocols
            reader = self._ask(Api.JOIN_GROUP, 5, body)
            reader.int32()
            error, generation = error_name(reader.int16()), reader.int32()
            reader.string()
            leader, identity = reader.string() or "", reader.string() or ""
            if error != "MEMBER_ID_REQUIRED":
                return error, evolve(member, id=identity, generation=generation, leader=leader)
            member = evolve(member, id=identity)

    def sync(self, member: GroupMember, assignments: Mapping[str, bytes] | None = None) -> str:
        """Send SyncGroup, as the leader with assignments by member id; return the error."""
        given = array(string(identity) + buffer(content) for identity, content in (assignments or {}).items())
        reader = self._ask(Api.SYNC_GROUP, 3, self._member(member) + given)
        reader.int32()
        return error_name(reader.int16())

    def heartbeat(self, member: GroupMember) -> str:
        """Send a Heartbeat; return the error."""
        reader = self._ask(Api.HEARTBEAT, 3, self._member(member))
        reader.int32()
        return error_name(reader.int16())

    def leave(self, member: GroupMember) -> str:
        """Send LeaveGroup; return the error."""
        reader = self._ask(Api.LEAVE_GROUP, 2, string(member.group) + string(member.id))
        reader.int32()
        return error_name(reader.int16())

    def commit(self, member: GroupMember, topic: str, offset: int) -> str:
        """Commit an offset of partition 0 of a topic; return the error."""
        return self.commit_each(member, topic, {0: offset}, {})[0]

    def commit_each(
        self, member: GroupMember, topic: str, offsets: Mapping[int, int], texts: Mapping[int, str]
    ) -> dict[int, str]:
        """Commit offsets by partition, some with a text as metadata, in one request; return the errors by partition."""
        body = self.commit_body(member, topic, offsets, texts)
        return self.commit_errors(self._ask(Api.OFFSET_COMMIT, 7, body))

    def commit_body(
        self, member: GroupMember, topic: str, offsets: Mapping[int, int], texts: Mapping[int, str]
    ) -> bytes:
        """Return an OffsetCommit request."""
        partitions = array(int32(p) + int64(at) + int32(-1) + string(texts.get(p, "")) for p, at in offsets.items())
        return self._member(member) + array([string(topic) + partitions])

    def commit_errors(self, reader: Reader) -> dict[int, str]:
        """Return the errors in the answer to OffsetCommit, by partition."""
        reader.int32()
        (codes,) = reader.array(lambda: self._partitions(reader))
        return {number: error_name(code) for number, code in codes}

    def stable(self, group: str, topic: str) -> tuple[str, int]:
        """Return the error and the offset of partition 0, asked for a stable one, as consumers do that read committed.

        Source: OffsetFetchRequest.json, version 7, in which lengths are compact.
        """
        topics = compact_array([compact_string(topic) + compact_array([int32(0)]) + NO_TAGS])
        body = compact_string(group) + topics + int8(1) + NO_TAGS
        with BrokerConnection(self.port, seconds=self.seconds) as connection:
            reader = connection.ask(Api.OFFSET_FETCH, 7, body, flexible=True)
        reader.int32()

        def partition() -> tuple[int, int]:
            _, offset, _ = reader.numbers("iqi")
            reader.compact_string()
            code = reader.int16()
            reader.tags()
            return code, offset

        def named() -> list[tuple[int, int]]:
            reader.compact_string()
            found = reader.compact_array(partition)
            reader.tags()
            return found

        ((code, offset),) = reader.compact_array(named)[0]
        return error_name(reader.int16() or code), offset

    def committed(self, group: str, topic: str) -> tuple[str, int]:
        """Return the error of OffsetFetch, and the offset that is committed for partition 0 of a topic; -1 for none."""
        error, offsets = self.committed_each(group, topic, [0])
        return error, offsets.get(0, -1)

    def committed_each(self, group: str, topic: str, numbers: Iterable[int]) -> tuple[str, dict[int, int]]:
        """Return an error of OffsetFetch, and the offsets that are committed by partition of a topic; -1 for none."""
        reader = self._ask(Api.OFFSET_FETCH, 5, string(group) + array([string(topic) + array(map(int32, numbers))]))
        reader.int32()

        def partition() -> tuple[int, int, int]:
            number, offset = reader.int32(), reader.int64()
            reader.int32()
            reader.string()
            return number, offset, reader.int16()

        found = [
            each for named in reader.array(lambda: (reader.string(), reader.array(partition))[1]) for each in named
        ]
        codes = [reader.int16(), *(code for _, _, code in found)]
        return error_name(next(filter(None, codes), 0)), {number: offset for number, offset, _ in found}

    def state(self, group: str) -> str:
        """Return the state of a group that DescribeGroups shows, or the error."""
        reader = self._ask(Api.DESCRIBE_GROUPS, 4, array([string(group)]) + int8(0))
        reader.int32()
        reader.int32()
        code = reader.int16()
        reader.string()
        return error_name(code) if code else reader.string() or ""

    def listed(self) -> list[str]:
        """Return the groups that the broker lists."""
        reader = self._ask(Api.LIST_GROUPS, 2, b"")
        reader.int32()
        reader.int16()
        return reader.array(lambda: (reader.string() or "", reader.string())[0])

    def delete(self, group: str) -> str:
        """Delete a group; return the error."""
        reader = self._ask(Api.DELETE_GROUPS, 1, array([string(group)]))
        reader.int32()
        (code,) = reader.array(lambda: (reader.string(), reader.int16())[1])
        return error_name(code)

    @staticmethod
    def _member(member: GroupMember) -> bytes:
        return string(member.group) + int32(member.generation) + string(member.id) + string(member.instance)

    @staticmethod
    def _partitions(reader: Reader) -> list[tuple[int, int]]:
        reader.string()
        return reader.array(lambda: (reader.int32(), reader.int16()))

    def _ask(self, api: Api, version: int, body: bytes) -> Reader:
        with BrokerConnection(self.port, seconds=self.seconds) as connection:
            return connection.ask(api, version, body)
