"""Proxies that understand frames: they hold, delay, pass or cut what brokers, ZooKeeper and controllers send.

Words: a *frame* is one message on a connection, with its `Direction`: a request to the server (a broker, or ZooKeeper),
or an answer or notification from it. A *match* selects frames. A *rule* says what happens to those that match: a `Hold`
keeps them, and everything behind them on the same connection, until it is released; a `Delay` keeps each for some
seconds; a `Cut` closes the connection; a `Turn` of an `Order` keeps a frame until the turns before it have passed.
ZooKeeper's pings and their answers pass what is held, so that no session expires by a hold.

Frames on one connection never change their order, as TCP never changes it. A schedule of frames on different
connections is a sequence of holds and releases, or an `Order`.
"""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from typing import TypeVar

from attrs import field, frozen

from kwalk.clusters.lab import zookeeper
from kwalk.clusters.lab.zookeeper import Op, Session
from kwalk.clusters.metadata import Api
from kwalk.clusters.wire import Malformed, Reader, framed, read_frame

UNKNOWN = "UNKNOWN"
"""The kind of a frame that cannot be read, and of an answer to no request that was seen."""


class Direction(Enum):
    """Where a frame goes."""

    REQUEST = "request"
    RESPONSE = "response"
    NOTIFICATION = "notification"


@frozen
class ProxiedFrame:
    """A message on a connection.

    Args:
        broker: The broker whose connection to ZooKeeper, or whose listener, the proxy stands before.
        direction: Where the frame goes.
        kind: "LEADER_AND_ISR", "CREATE", …: the API key or the operation, of a response that of its request;
            "CONNECT" for the first frames of a ZooKeeper connection; the number if it has no name here.
        paths: The znodes that a ZooKeeper request or notification names; a transaction may name several.
        client: The client id of a Kafka request: a controller's is its broker id, a fetcher's `broker-ID-fetcher-N`.
        content: The bytes.
        ops: The operations of a ZooKeeper request, one for each path.
    """

    broker: int
    direction: Direction
    kind: str
    paths: tuple[str, ...] = ()
    client: str = ""
    content: bytes = field(default=b"", repr=False)
    ops: tuple[str, ...] = ()

    @property
    def is_ping(self) -> bool:
        """Whether it only keeps a session alive."""
        return self.kind == Op.PING.name


Match = Callable[[ProxiedFrame], bool]


def matching(
    *kinds: str | Api | Op,
    broker: int | None = None,
    direction: Direction | None = Direction.REQUEST,
    path: str = "",
    client: str | None = None,
) -> Match:
    """Return a match of frames.

    Args:
        kinds: The kinds, as names, `Api` or `Op`; any kind without.
        broker: Only at this broker's proxy.
        direction: Only in this direction; None for any.
        path: Only if some path is this one or below it.
        client: Only requests of this client, and their responses.
    """
    names = {kind if isinstance(kind, str) else kind.name for kind in kinds}

    def match(frame: ProxiedFrame) -> bool:
        return (
            (not names or frame.kind in names)
            and broker in (None, frame.broker)
            and direction in (None, frame.direction)
            and client in (None, frame.client)
            and (not path or any(p == path or p.startswith(f"{path}/") for p in frame.paths))
        )

    return match


class Rule:
    """What happens to frames that match; this one lets them pass, and counts them."""

    def __init__(self, match: Match) -> None:
        self.match, self.arrived, self.passed = match, 0, 0

    def arrive(self) -> float:
        """Count a frame that arrives; return the earliest time at which it may pass (of the monotonic clock)."""
        self.arrived += 1
        return 0.0

    def takes(self) -> bool:
        """Whether the frame that has arrived is lost, and its connection closed."""
        return False

    def may_pass(self) -> bool:
        """Whether a frame at the head of its connection may pass."""
        return True

    def admit(self) -> None:
        """Take note of a frame that is about to be sent."""

    def leave(self) -> None:
        """Count a frame that was sent."""
        self.passed += 1


class Delay(Rule):
    """Keep each frame for some seconds; frames that arrive together pass together."""

    def __init__(self, match: Match, seconds: float) -> None:
        super().__init__(match)
        self.seconds = seconds

    def arrive(self) -> float:
        super().arrive()
        return time.monotonic() + self.seconds


class Cut(Rule):
    """Close the connection of the next frames that match, `times` of them; they are lost."""

    def __init__(self, match: Match, times: int = 1) -> None:
        super().__init__(match)
        self.times = times

    def takes(self) -> bool:
        self.times -= 1
        return self.times >= 0


class Hold(Rule):
    """Keep frames until they are released."""

    def __init__(self, match: Match) -> None:
        super().__init__(match)
        self.permits: float = 0

    def may_pass(self) -> bool:
        return self.permits > 0

    def admit(self) -> None:
        self.permits -= 1


class Turn(Rule):
    """One place in an order: its first frame waits for the turns before it; later ones pass."""

    def __init__(self, match: Match, before: Sequence[Turn]) -> None:
        super().__init__(match)
        self.before = before

    def may_pass(self) -> bool:
        return self.passed > 0 or all(turn.passed for turn in self.before)


@frozen(eq=False)
class Passage:
    """A frame on its way: its rules with the earliest times at which it may pass, and whether it will be lost."""

    frame: ProxiedFrame
    due: Mapping[Rule, float]
    is_lost: bool


R = TypeVar("R", bound=Rule)


class Rules:
    """The rules of all proxies of a lab; threads wait here until their frame may pass."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.rules: list[Rule] = []
        self.frames: list[tuple[float, ProxiedFrame]] = []
        self.recorded: Match = lambda frame: False
        self.waiting: list[Passage] = []
        """The frames at the heads of their connections that may not pass yet, the oldest first."""
        self.freed: set[Passage] = set()

    def record(self, match: Match) -> None:
        """Keep a record of the frames that match, with the time at which each passes."""
        self.recorded = match

    def watch(self, match: Match) -> Rule:
        """Count frames from now on; all pass."""
        return self._add(Rule(match))

    def delay(self, match: Match, seconds: float) -> Delay:
        """Delay frames from now on."""
        return self._add(Delay(match, seconds))

    def cut(self, match: Match, times: int = 1) -> Cut:
        """Cut the connections of the next frames that match."""
        return self._add(Cut(match, times))

    def hold(self, match: Match) -> Hold:
        """Hold frames from now on."""
        return self._add(Hold(match))

    def in_order(self, *matches: Match) -> list[Turn]:
        """Let the first frame of each match pass only after the first frame of every match before it was sent.

        What was sent on one connection may be received after what was sent later on another one. To be sure that a
        request was handled, name its response as a match, too, before the next request.
        """
        turns: list[Turn] = []
        for match in matches:
            turns.append(self._add(Turn(match, tuple(turns))))
        return turns

    def release(self, hold: Hold, frames: int | None = None) -> None:
        """Let held frames pass: some of them, or all, and all that come."""
        with self.changed:
            hold.permits += float("inf") if frames is None else frames
            self.changed.notify_all()

    def close(self, hold: Hold) -> None:
        """Hold again what comes: permits that are left end."""
        with self.changed:
            hold.permits = 0

    def free(self, passage: Passage) -> None:
        """Let one frame pass, whatever holds it."""
        with self.changed:
            self.freed.add(passage)
            self.changed.notify_all()

    def waiting_passages(self) -> list[Passage]:
        """Return the frames at the heads of their connections that may not pass yet, the oldest first."""
        with self.changed:
            return list(self.waiting)

    def held(self) -> list[ProxiedFrame]:
        """Return the same, as frames."""
        return [passage.frame for passage in self.waiting_passages()]

    def drop(self, rule: Rule) -> None:
        """End a rule; what it kept passes."""
        with self.changed:
            if rule in self.rules:
                self.rules.remove(rule)
            self.changed.notify_all()

    def wait_for(self, rule: Rule, frames: int = 1, seconds: float = 30.0, *, passed: bool = False) -> bool:
        """Wait until some frames have arrived at a rule (or have passed it); return whether they have."""
        with self.changed:
            return self.changed.wait_for(lambda: (rule.passed if passed else rule.arrived) >= frames, seconds)

    def _add(self, rule: R) -> R:
        with self.changed:
            self.rules.append(rule)
        return rule

    # What connections call.

    def arrive(self, frame: ProxiedFrame) -> Passage:
        """Count a frame; return what it has to wait for."""
        with self.changed:
            rules = [rule for rule in self.rules if rule.match(frame)]
            passage = Passage(frame, {rule: rule.arrive() for rule in rules}, any(rule.takes() for rule in rules))
            self.changed.notify_all()
        return passage

    def wait_to_pass(self, passage: Passage, ended: Callable[[], bool]) -> bool:
        """Wait until a frame may pass and return True; False if its connection has ended."""
        with self.changed:
            self.waiting.append(passage)
            try:
                while not ended():
                    if passage in self.freed:
                        return True
                    due = {rule: at for rule, at in passage.due.items() if rule in self.rules}
                    later = max(due.values(), default=0.0) - time.monotonic()
                    if later <= 0 and all(rule.may_pass() for rule in due):
                        for rule in due:
                            rule.admit()
                        return True
                    self.changed.wait(min(1.0, later) if later > 0 else 1.0)
            finally:
                self.waiting.remove(passage)
                self.freed.discard(passage)
        return False

    def sent(self, passage: Passage) -> None:
        """Count a frame that was sent."""
        with self.changed:
            for rule in passage.due:
                rule.leave()
            if self.recorded(passage.frame):
                self.frames.append((time.time(), passage.frame))
            self.changed.notify_all()


class ZooKeeperParser:
    """Reads the frames of a connection to ZooKeeper; remembers its session, and which request an answer belongs to."""

    def __init__(self, broker: int) -> None:
        self.broker, self.ops = broker, dict[int, tuple[str, tuple[str, ...]]]()
        self.session: Session | None = None
        self.connecting = [True, True]

    def request(self, content: bytes) -> ProxiedFrame:
        """Return what the broker sends."""
        if self.connecting[0]:
            self.connecting[0] = False
            return ProxiedFrame(self.broker, Direction.REQUEST, "CONNECT", content=content)
        reader = Reader(content)
        xid, number = reader.int32(), reader.int32()
        kind = Op(number).name if number in set(Op) else str(number)
        parts = _parts(number, reader)
        paths = tuple(path for _, path in parts)
        self.ops[xid] = kind, paths
        ops = tuple(Op(op).name for op, _ in parts)
        return ProxiedFrame(self.broker, Direction.REQUEST, kind, paths, content=content, ops=ops)

    def response(self, content: bytes) -> ProxiedFrame:
        """Return what ZooKeeper sends."""
        if self.connecting[1]:
            self.connecting[1] = False
            self.session = zookeeper.read_connect_response(content)
            return ProxiedFrame(self.broker, Direction.RESPONSE, "CONNECT", content=content)
        reader = Reader(content)
        xid = reader.int32()
        if xid == zookeeper.NOTIFICATION_XID:
            reader.take(8 + 4 + 4 + 4)
            path = reader.long_string()
            return ProxiedFrame(self.broker, Direction.NOTIFICATION, "NOTIFICATION", (path,), content=content)
        kind, paths = self.ops.pop(xid, (Op.PING.name if xid == zookeeper.PING_XID else UNKNOWN, ()))
        return ProxiedFrame(self.broker, Direction.RESPONSE, kind, paths, content=content)


def _parts(number: int, reader: Reader) -> tuple[tuple[int, str], ...]:
    """Return the operation of a request and the path that it names, of a transaction those of all its operations."""
    if number in zookeeper.WITH_PATH:
        return ((number, reader.long_string()),)
    return tuple(_parts_of_transaction(reader)) if number in (Op.MULTI, Op.MULTI_READ) else ()


def _parts_of_transaction(reader: Reader) -> Iterator[tuple[int, str]]:
    while True:
        op, done = reader.int32(), reader.boolean()
        reader.int32()
        if done:
            return
        yield op, reader.long_string()
        if op in (Op.CREATE, Op.CREATE2, Op.CREATE_CONTAINER, Op.CREATE_TTL):
            reader.buffer()
            reader.array(lambda: (reader.int32(), reader.buffer(), reader.buffer()))
            reader.take(12 if op == Op.CREATE_TTL else 4)
        elif op == Op.SET_DATA:
            reader.buffer(), reader.int32()
        elif op in (Op.DELETE, Op.CHECK):
            reader.int32()
        elif op in (Op.GET_DATA, Op.GET_CHILDREN):
            reader.boolean()
        else:
            raise Malformed(f"an operation of type {op} in a transaction")


class KafkaParser:
    """Reads the frames of one connection to a broker; remembers which request an answer belongs to."""

    def __init__(self, broker: int) -> None:
        self.broker, self.requests = broker, dict[int, tuple[str, str]]()

    def request(self, content: bytes) -> ProxiedFrame:
        """Return what another broker or a client sends."""
        reader = Reader(content)
        number, _, correlation, client = reader.int16(), reader.int16(), reader.int32(), reader.string() or ""
        kind = Api(number).name if number in set(Api) else str(number)
        self.requests[correlation] = kind, client
        return ProxiedFrame(self.broker, Direction.REQUEST, kind, client=client, content=content)

    def response(self, content: bytes) -> ProxiedFrame:
        """Return what the broker sends."""
        kind, client = self.requests.pop(Reader(content).int32(), (UNKNOWN, ""))
        return ProxiedFrame(self.broker, Direction.RESPONSE, kind, client=client, content=content)


Parser = ZooKeeperParser | KafkaParser


class _Connection:
    """One connection through a proxy: in each direction a thread that reads frames, and one that passes them on."""

    def __init__(self, near: socket.socket, far: socket.socket, parser: Parser, rules: Rules) -> None:
        self.near, self.far, self.parser, self.rules, self.ended = near, far, parser, rules, False
        for end in (near, far):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for source, target, parse in ((near, far, parser.request), (far, near, parser.response)):
            waiting: queue.SimpleQueue[Passage | None] = queue.SimpleQueue()
            lock = threading.Lock()
            threading.Thread(target=self._read, args=(source, target, parse, waiting, lock), daemon=True).start()
            threading.Thread(target=self._write, args=(target, waiting, lock), daemon=True).start()

    def _read(
        self,
        source: socket.socket,
        target: socket.socket,
        parse: Callable[[bytes], ProxiedFrame],
        waiting: queue.SimpleQueue[Passage | None],
        lock: threading.Lock,
    ) -> None:
        with suppress(OSError, Malformed):
            while (content := read_frame(source)) is not None:
                frame = self._parsed(parse, content)
                if frame.is_ping:
                    with lock:
                        target.sendall(framed(content))
                else:
                    waiting.put(self.rules.arrive(frame))
        waiting.put(None)

    def _parsed(self, parse: Callable[[bytes], ProxiedFrame], content: bytes) -> ProxiedFrame:
        """Return a frame; what cannot be read passes as "UNKNOWN"."""
        try:
            return parse(content)
        except Malformed:
            return ProxiedFrame(self.parser.broker, Direction.REQUEST, UNKNOWN, content=content)

    def _write(self, target: socket.socket, waiting: queue.SimpleQueue[Passage | None], lock: threading.Lock) -> None:
        with suppress(OSError):
            while (passage := waiting.get()) is not None:
                if passage.is_lost or not self.rules.wait_to_pass(passage, lambda: self.ended):
                    break
                with lock:
                    target.sendall(framed(passage.frame.content))
                self.rules.sent(passage)
        self.close()

    def close(self) -> None:
        """Close both ends."""
        self.ended = True
        for end in (self.near, self.far):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            with suppress(OSError):
                end.close()


class Proxy:
    """Listens on a port of its own and connects to a target, for one broker."""

    def __init__(self, broker: int, target: int, parser: type[Parser], rules: Rules) -> None:
        self.broker, self.target, self.parser, self.rules = broker, target, parser, rules
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listening.getsockname()[1]
        self.connections: list[_Connection] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self.listening.accept()
                try:
                    far = socket.create_connection(("127.0.0.1", self.target))
                except OSError:
                    near.close()
                    continue
                self.connections = [each for each in self.connections if not each.ended]
                self.connections.append(_Connection(near, far, self.parser(self.broker), self.rules))

    @property
    def session(self) -> Session | None:
        """The ZooKeeper session of the newest connection that has one."""
        for connection in reversed(self.connections):
            if isinstance(connection.parser, ZooKeeperParser) and connection.parser.session:
                return connection.parser.session
        return None

    def cut(self) -> None:
        """Close all connections."""
        for connection in self.connections:
            connection.close()

    def close(self) -> None:
        """Close all connections, and accept no more."""
        with suppress(OSError):
            self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()
        self.cut()
