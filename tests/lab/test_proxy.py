"""The proxies: what they read of a frame, and that holds, delays, cuts and orders do what they say."""

from __future__ import annotations

import socket
import struct
import threading
import time
from contextlib import ExitStack

import pytest

from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.proxy import Direction, KafkaParser, Proxy, Rules, ZooKeeperParser, matching
from kwalk.clusters.lab.zookeeper import Op, connect_request, create, delete, set_data, transaction
from kwalk.clusters.metadata import Api
from kwalk.clusters.wire import framed, int8, int32, int64, long_string, read_frame, string

PATIENCE = 10


def zookeeper_request(xid, op, fields):
    return int32(xid) + int32(op) + fields


def kafka_request(api, correlation=1, client="1"):
    return struct.pack(">hhi", api, 5, correlation) + string(client) + b"body"


# Parsing.


@pytest.fixture
def connected():
    parser = ZooKeeperParser(2)
    parser.request(connect_request(None))
    parser.response(struct.pack(">iiqi", 0, 6000, 99, 16) + bytes(16))
    return parser


def test_the_session_of_a_connection_is_known(connected):
    assert connected.session.id == 99


@pytest.mark.parametrize("write", [create("/a/b", b"content"), delete("/a/b"), set_data("/a/b", b"")])
def test_a_write_is_named_with_its_path(connected, write):
    frame = connected.request(zookeeper_request(1, write.op, write.fields))
    assert (frame.kind, frame.paths, frame.direction) == (write.op.name, ("/a/b",), Direction.REQUEST)


def test_a_transaction_is_named_with_the_paths_of_all_its_operations(connected):
    check = int32(Op.CHECK) + int8(0) + int32(-1) + long_string("/controller_epoch") + int32(3)
    fields = check + transaction([set_data("/a", b"x"), create("/b", b"y"), delete("/c")])
    frame = connected.request(zookeeper_request(1, Op.MULTI, fields))
    assert (frame.kind, frame.paths) == ("MULTI", ("/controller_epoch", "/a", "/b", "/c"))


def test_an_answer_has_the_operation_and_the_path_of_its_request(connected):
    connected.request(zookeeper_request(7, Op.DELETE, delete("/x").fields))
    frame = connected.response(int32(7) + int64(1) + int32(0))
    assert (frame.kind, frame.paths, frame.direction) == ("DELETE", ("/x",), Direction.RESPONSE)


def test_a_notification_has_the_path_that_changed(connected):
    frame = connected.response(int32(-1) + int64(-1) + int32(0) + int32(3) + int32(3) + long_string("/brokers/topics"))
    assert (frame.direction, frame.paths) == (Direction.NOTIFICATION, ("/brokers/topics",))


def test_pings_are_known_in_both_directions(connected):
    assert connected.request(int32(-2) + int32(Op.PING)).is_ping
    assert connected.response(int32(-2) + int64(0) + int32(0)).is_ping


def test_a_request_that_has_no_name_keeps_its_number(connected):
    assert connected.request(zookeeper_request(1, 4711, b"")).kind == "4711"


def test_a_kafka_request_and_its_answer_are_named():
    parser = KafkaParser(3)
    frame = parser.request(kafka_request(Api.STOP_REPLICA, correlation=8, client="2"))
    assert (frame.kind, frame.client, frame.broker) == ("STOP_REPLICA", "2", 3)
    assert parser.response(int32(8) + b"rest").kind == "STOP_REPLICA"
    assert parser.response(int32(9)).kind == "UNKNOWN"


def test_a_match_is_by_kind_broker_direction_path_and_client(connected):
    frame = connected.request(zookeeper_request(1, Op.DELETE, delete("/controller").fields))
    assert matching(Op.DELETE, path="/controller")(frame)
    assert matching(broker=2)(frame)
    assert not matching(Op.DELETE, path="/control")(frame)
    assert not matching(Op.CREATE)(frame)
    assert not matching(broker=1)(frame)
    assert not matching(direction=Direction.RESPONSE)(frame)
    assert not matching(client="1")(frame)


# Passing.


class Server:
    """Receives frames, and answers each with the frame's bytes 4 to 8 and "ok"."""

    def __init__(self):
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.received, self.changed = [], threading.Condition()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listening.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        while (content := read_frame(connection)) is not None:
            with self.changed:
                self.received.append(content)
                self.changed.notify_all()
            connection.sendall(framed(content[4:8] + b"ok"))

    def has(self, number):
        with self.changed:
            return self.changed.wait_for(lambda: len(self.received) >= number, PATIENCE)


@pytest.fixture
def stage():
    """A server, the rules, and a function that opens a connection through a proxy for a broker."""
    with ExitStack() as stack:
        server, rules = Server(), Rules()
        stack.callback(server.listening.close)

        def connect(broker=1, parser=KafkaParser):
            proxy = Proxy(broker, server.port, parser, rules)
            stack.callback(proxy.close)
            return stack.enter_context(socket.create_connection(("127.0.0.1", proxy.port), timeout=PATIENCE))

        yield server, rules, connect


def test_frames_pass_in_both_directions_unchanged(stage):
    server, _, connect = stage
    client, content = connect(), kafka_request(Api.FETCH, 5)
    client.sendall(framed(content))
    assert read_frame(client) == int32(5) + b"ok"
    assert server.received == [content]


def test_a_held_frame_and_all_behind_it_wait_until_it_is_released(stage):
    server, rules, connect = stage
    hold = rules.hold(matching(Api.STOP_REPLICA))
    client = connect()
    requests = [kafka_request(api, number) for number, api in enumerate((Api.FETCH, Api.STOP_REPLICA, Api.METADATA))]
    client.sendall(b"".join(map(framed, requests)))
    assert rules.wait_for(hold) and server.has(1)
    time.sleep(0.05)
    assert server.received == requests[:1]
    rules.release(hold)
    assert server.has(3)
    assert server.received == requests


def test_frames_are_released_one_by_one(stage):
    server, rules, connect = stage
    hold = rules.hold(matching(Api.FETCH))
    client = connect()
    for number in range(3):
        client.sendall(framed(kafka_request(Api.FETCH, number)))
    assert rules.wait_for(hold, 3)
    rules.release(hold, 2)
    assert server.has(2)
    assert rules.wait_for(hold, 2, passed=True)
    time.sleep(0.05)
    assert len(server.received) == 2
    rules.drop(hold)
    assert server.has(3)


def test_what_was_held_arrives_also_after_its_sender_has_gone(stage):
    server, rules, connect = stage
    hold = rules.hold(matching(Api.LEADER_AND_ISR))
    with connect() as client:
        client.sendall(framed(kafka_request(Api.LEADER_AND_ISR)))
        assert rules.wait_for(hold)
    rules.release(hold)
    assert server.has(1)


def test_a_ping_passes_what_is_held(stage):
    server, rules, connect = stage
    hold = rules.hold(matching(Op.CREATE))
    client = connect(parser=ZooKeeperParser)
    client.sendall(framed(connect_request(None)))
    assert read_frame(client) is not None  # no client sends pings before it is connected
    client.sendall(framed(zookeeper_request(1, Op.CREATE, create("/a").fields)))
    assert rules.wait_for(hold)
    client.sendall(framed(int32(-2) + int32(Op.PING)))
    assert server.has(2)
    assert server.received[1] == int32(-2) + int32(Op.PING)


def test_an_order_decides_between_two_connections(stage):
    server, rules, connect = stage
    answered = matching(Api.FETCH, client="a", direction=Direction.RESPONSE)
    rules.in_order(matching(Api.FETCH, client="a"), answered, matching(Api.FETCH, client="b"))
    late, early = connect(1), connect(2)
    early.sendall(framed(kafka_request(Api.FETCH, client="b")))
    time.sleep(0.05)
    assert server.received == []
    late.sendall(framed(kafka_request(Api.FETCH, client="a")))
    assert server.has(2)
    assert server.received == [kafka_request(Api.FETCH, client=name) for name in "ab"]


def test_a_response_can_be_held(stage):
    server, rules, connect = stage
    hold = rules.hold(matching(Api.FETCH, direction=Direction.RESPONSE))
    client = connect()
    client.sendall(framed(kafka_request(Api.FETCH)))
    assert rules.wait_for(hold) and server.has(1)
    client.settimeout(0.05)
    with pytest.raises(TimeoutError):
        client.recv(1)
    client.settimeout(PATIENCE)
    rules.release(hold)
    assert read_frame(client) == int32(1) + b"ok"


def test_a_delay_keeps_frames_but_not_one_after_the_other(stage):
    server, rules, connect = stage
    rules.delay(matching(Api.FETCH), 0.2)
    client, start = connect(), time.monotonic()
    client.sendall(b"".join(framed(kafka_request(Api.FETCH, number)) for number in range(20)))
    assert server.has(20)
    assert 0.2 <= time.monotonic() - start < 20 * 0.2


def test_a_cut_closes_the_connection_and_the_frame_is_lost(stage):
    server, rules, connect = stage
    rules.cut(matching(Api.FETCH))
    client = connect()
    client.sendall(framed(kafka_request(Api.FETCH)))
    assert client.recv(1) == b""
    again = connect()
    again.sendall(framed(kafka_request(Api.FETCH, 2)))
    assert read_frame(again) == int32(2) + b"ok"
    assert server.received == [kafka_request(Api.FETCH, 2)]


def test_frames_that_pass_are_recorded_with_their_times(stage):
    _, rules, connect = stage
    rules.record(matching(Api.STOP_REPLICA))
    client, before = connect(broker=2), time.time()
    for number, api in enumerate((Api.FETCH, Api.STOP_REPLICA)):
        client.sendall(framed(kafka_request(api, number)))
        read_frame(client)
    assert wait_until(lambda: rules.frames, PATIENCE)
    [(moment, frame)] = rules.frames
    assert (frame.kind, frame.broker) == ("STOP_REPLICA", 2)
    assert before <= moment <= time.time()
