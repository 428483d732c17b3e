"""A client of ZooKeeper, for writing and reading znodes as no Kafka client would, and for ending a broker's session.

Requests are sent at once and answered in order, so several can be under way (`send`). There are no watches.

Source: zookeeper.jute; org.apache.zookeeper.ZooDefs.OpCode; org.apache.zookeeper.KeeperException.Code.
"""

from __future__ import annotations

import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from enum import IntEnum
from typing import Any

from attrs import frozen

from kwalk.clusters.wire import Malformed, Reader, buffer, framed, int8, int32, int64, long_string, read_frame
from kwalk.model.language import KwalkError


class Op(IntEnum):
    """The types of requests."""

    CREATE = 1
    DELETE = 2
    EXISTS = 3
    GET_DATA = 4
    SET_DATA = 5
    GET_ACL = 6
    SET_ACL = 7
    GET_CHILDREN = 8
    SYNC = 9
    PING = 11
    GET_CHILDREN2 = 12
    CHECK = 13
    MULTI = 14
    CREATE2 = 15
    RECONFIG = 16
    CHECK_WATCHES = 17
    REMOVE_WATCHES = 18
    CREATE_CONTAINER = 19
    CREATE_TTL = 21
    MULTI_READ = 22
    AUTH = 100
    SET_WATCHES = 101
    SASL = 102
    GET_EPHEMERALS = 103
    SET_WATCHES2 = 105
    CREATE_SESSION = -10
    CLOSE_SESSION = -11


WITH_PATH = frozenset(
    (
        Op.CREATE,
        Op.DELETE,
        Op.EXISTS,
        Op.GET_DATA,
        Op.SET_DATA,
        Op.GET_ACL,
        Op.SET_ACL,
        Op.GET_CHILDREN,
        Op.SYNC,
        Op.GET_CHILDREN2,
        Op.CHECK,
        Op.CREATE2,
        Op.CREATE_CONTAINER,
        Op.CREATE_TTL,
        Op.CHECK_WATCHES,
        Op.REMOVE_WATCHES,
    )
)
"""The requests whose first field is the path of a znode."""
PING_XID, NOTIFICATION_XID = -2, -1
ANY_VERSION = -1
ERROR_RESULT, ROLLED_BACK = -1, -2
"""In the answer to a transaction: the type of a failed operation, and the code of those before the one to blame."""
ERRORS = {
    -4: "CONNECTIONLOSS",
    -8: "BADARGUMENTS",
    -101: "NONODE",
    -102: "NOAUTH",
    -103: "BADVERSION",
    -110: "NODEEXISTS",
    -111: "NOTEMPTY",
    -112: "SESSIONEXPIRED",
    -118: "SESSIONMOVED",
}
SESSION_MILLISECONDS = 30_000


class ZooKeeperError(KwalkError):
    """An error that ZooKeeper answered; `code` is its name, such as NONODE."""

    def __init__(self, code: str, about: str) -> None:
        super().__init__(f"ZooKeeper answered {code} to {about}.")
        self.code = code


@frozen
class Stat:
    """What ZooKeeper knows of a znode: transaction ids of its creation and last change, times in ms, its version.

    `pzxid` is the id of the transaction that last changed its list of children.
    """

    czxid: int
    mzxid: int
    ctime: int
    mtime: int
    version: int
    pzxid: int


@frozen
class Session:
    """A session's id and password: who has both can continue it, or end it."""

    id: int
    password: bytes


@frozen
class Write:
    """One operation of a transaction, or a request of its own: its type, its fields, and what it is for messages."""

    op: Op
    fields: bytes
    path: str


def create(path: str, content: bytes = b"") -> Write:
    """Return the request that creates a persistent znode, which anybody may change."""
    anyone = int32(1) + int32(31) + long_string("world") + long_string("anyone")
    return Write(Op.CREATE, long_string(path) + buffer(content) + anyone + int32(0), path)


def delete(path: str, version: int = ANY_VERSION) -> Write:
    """Return the request that deletes a znode."""
    return Write(Op.DELETE, long_string(path) + int32(version), path)


def set_data(path: str, content: bytes, version: int = ANY_VERSION) -> Write:
    """Return the request that replaces the content of a znode."""
    return Write(Op.SET_DATA, long_string(path) + buffer(content) + int32(version), path)


def transaction(writes: Sequence[Write]) -> bytes:
    """Return the fields of a MULTI request: all of the writes, or none."""
    parts = [int32(write.op) + int8(0) + int32(-1) + write.fields for write in writes]
    return b"".join([*parts, int32(-1) + int8(1) + int32(-1)])


def read_transaction(reader: Reader) -> None:
    """Read the answer to a MULTI request; ZooKeeperError for the operation that made it fail."""
    codes = []
    while True:
        op, done = reader.int32(), reader.boolean()
        reader.int32()
        if done:
            break
        if op == ERROR_RESULT:
            codes.append(reader.int32())
        elif op == Op.CREATE:
            reader.buffer()
        elif op == Op.SET_DATA:
            read_stat(reader)
    failed = [ERRORS.get(code, str(code)) for code in codes if code not in (0, ROLLED_BACK)]
    if failed:
        raise ZooKeeperError(failed[0], "a transaction")


def read_stat(reader: Reader) -> Stat:
    """Read a znode's Stat."""
    czxid, mzxid, ctime, mtime, version = (
        reader.int64(),
        reader.int64(),
        reader.int64(),
        reader.int64(),
        reader.int32(),
    )
    reader.take(4 + 4 + 8 + 4 + 4)
    return Stat(czxid, mzxid, ctime, mtime, version, reader.int64())


def connect_request(session: Session | None, milliseconds: int = SESSION_MILLISECONDS) -> bytes:
    """Return the content of a connection's first frame: a new session, or one that is continued."""
    known = session or Session(0, bytes(16))
    return int32(0) + int64(0) + int32(milliseconds) + int64(known.id) + buffer(known.password) + int8(0)


def read_connect_response(content: bytes) -> Session | None:
    """Return the session of a connection's first answer; None if the session has expired."""
    reader = Reader(content)
    reader.int32()
    granted, number, password = reader.int32(), reader.int64(), reader.buffer()
    return Session(number, password or b"") if granted > 0 else None


class ZooKeeperClient:
    """A connection with a session of its own; `close` ends it."""

    def __init__(self, port: int, session: Session | None = None, *, seconds: float = 30) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=seconds)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        got = self._connect(session)
        self.session, self.xid, self.lock, self.ended = got, 0, threading.Lock(), False
        self.waiting: deque[tuple[str, Callable[[Reader], Any], Future[Any]]] = deque()
        self.socket.settimeout(None)
        threading.Thread(target=self._receive, daemon=True).start()
        threading.Thread(target=self._keep_alive, daemon=True).start()

    def _connect(self, session: Session | None) -> Session:
        try:
            self.socket.sendall(framed(connect_request(session)))
            answer = read_frame(self.socket)
            if answer is None:
                raise ConnectionError("ZooKeeper closed the connection")
            if (got := read_connect_response(answer)) is None:
                raise ZooKeeperError("SESSIONEXPIRED", "the connection")
        except BaseException:
            self.socket.close()
            raise
        return got

    # Requests; each waits for its answer.

    def exists(self, path: str) -> bool:
        """Whether there is a znode."""
        return self._or_none(Op.EXISTS, path, read_stat) is not None

    def get(self, path: str) -> tuple[bytes, Stat] | None:
        """Return the content of a znode and its Stat; None if there is none."""
        found: tuple[bytes, Stat] | None = self._or_none(Op.GET_DATA, path, lambda r: (r.buffer() or b"", read_stat(r)))
        return found

    def children(self, path: str) -> list[str]:
        """Return the names of a znode's children, sorted; none if there is no znode."""
        return sorted(self._or_none(Op.GET_CHILDREN, path, lambda r: r.array(r.long_string)) or ())

    def do(self, *writes: Write) -> None:
        """Do one write, or several in one transaction; ZooKeeperError if it is refused."""
        self.send(*writes).result(SESSION_MILLISECONDS / 1000)

    def delete_tree(self, path: str) -> None:
        """Delete a znode and all below it, one after another, as `deleteall` of ZooKeeper's shell does."""
        for child in self.children(path):
            self.delete_tree(f"{path}/{child}")
        with suppress(ZooKeeperError):
            self.do(delete(path))

    def _or_none(self, op: Op, path: str, read: Callable[[Reader], Any]) -> Any:
        try:
            return self.read(op, path, read).result(SESSION_MILLISECONDS / 1000)
        except ZooKeeperError as error:
            if error.code == "NONODE":
                return None
            raise

    # Sending.

    def read(self, op: Op, path: str, read: Callable[[Reader], Any]) -> Future[Any]:
        """Send a request that reads a znode, without a watch; return the future of its answer, as `read` reads it."""
        return self._request(op, long_string(path) + int8(0), path, read)

    def send(self, *writes: Write) -> Future[Any]:
        """Send one write, or several in one transaction; return the future of its answer."""
        if len(writes) == 1:
            return self._request(writes[0].op, writes[0].fields, writes[0].path, lambda _: None)
        return self._request(Op.MULTI, transaction(writes), ", ".join(w.path for w in writes), read_transaction)

    def _request(self, op: Op, fields: bytes, path: str, read: Callable[[Reader], Any]) -> Future[Any]:
        answer: Future[Any] = Future()
        with self.lock:
            if self.ended:
                raise ZooKeeperError("CONNECTIONLOSS", f"{op.name} {path}")
            self.xid += 1
            self.waiting.append((f"{op.name} {path}", read, answer))
            self.socket.sendall(framed(int32(self.xid) + int32(op) + fields))
        return answer

    def _receive(self) -> None:
        with suppress(OSError, Malformed):
            while (content := read_frame(self.socket)) is not None:
                reader = Reader(content)
                xid, _, error = reader.int32(), reader.int64(), reader.int32()
                if xid in (PING_XID, NOTIFICATION_XID):
                    continue
                about, read, answer = self.waiting.popleft()
                if error:
                    answer.set_exception(ZooKeeperError(ERRORS.get(error, str(error)), about))
                else:
                    _settle(answer, read, reader)
        with self.lock:
            self.ended = True
        while self.waiting:
            about, _, answer = self.waiting.popleft()
            answer.set_exception(ZooKeeperError("CONNECTIONLOSS", about))

    def _keep_alive(self) -> None:
        while not self.ended:
            time.sleep(SESSION_MILLISECONDS / 4000)
            with self.lock, suppress(OSError):
                if not self.ended:
                    self.socket.sendall(framed(int32(PING_XID) + int32(Op.PING)))

    def close(self) -> None:
        """End the session and the connection."""
        with suppress(OSError, KwalkError, TimeoutError):
            self._request(Op.CLOSE_SESSION, b"", "", lambda _: None).result(5)
        self.ended = True
        with suppress(OSError):
            self.socket.close()


def _settle(answer: Future[Any], read: Callable[[Reader], Any], reader: Reader) -> None:
    try:
        answer.set_result(read(reader))
    except ZooKeeperError as error:
        answer.set_exception(error)


def expire(port: int, session: Session) -> None:
    """End a session of another client: ZooKeeper removes its ephemeral znodes, and reports to it that it expired."""
    ZooKeeperClient(port, session).close()
