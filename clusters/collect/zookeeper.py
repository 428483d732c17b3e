"""A connection to ZooKeeper that can read and do nothing else, by the library kazoo.

ZooKeeper's log of transactions shows two of such a connection: the beginning of its session, and the end. Requests are
sent without waiting for answers to earlier ones.
"""

from __future__ import annotations

import logging
import re
import select
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from attrs import frozen
from kazoo.client import KazooClient
from kazoo.exceptions import (
    AuthFailedError,
    ConnectionClosedError,
    ConnectionLoss,
    KazooException,
    NoAuthError,
    NoNodeError,
    OperationTimeoutError,
    SessionExpiredError,
    ZookeeperError,
)
from kazoo.handlers.threading import KazooTimeoutError, SequentialThreadingHandler
from kazoo.protocol import connection
from kazoo.protocol.serialization import Exists, GetChildren2, GetData

from kwalk.clusters.collect.znodes import BROKER_IDS, TOPICS, Answer, RefusedRead, Znode
from kwalk.model.kafka.snapshots.untrusted_json import printable
from kwalk.model.language import UsageError
from kwalk.model.language.errors import InternalError

READS = (GetData, GetChildren2, Exists)
HOSTS = re.compile(r"[^\s/,@]+(?:,[^\s/,@]+)*(?:/[^\s]*)?")
LOST = (ConnectionLoss, ConnectionClosedError, OperationTimeoutError, SessionExpiredError, KazooTimeoutError)
"""Errors after which a read is tried again."""
TRIES = 3


@frozen
class ZooKeeperOptions:
    """How ZooKeeper is reached.

    Args:
        hosts: HOST:PORT, several with commas between them, and a chroot behind.
        seconds: How long a connection and an answer may take.
        sasl: A user for SASL with DIGEST-MD5.
        digest: A user for ZooKeeper's own scheme "digest".
        password: The password of either.
        tls: Whether the connection is encrypted.
        ca: A file with the certificates of authorities; those of the system without one.
        certificate: A file with the client's certificate.
        key: A file with its key.
    """

    hosts: str
    seconds: float = 30.0
    sasl: str | None = None
    digest: str | None = None
    password: str = ""
    tls: bool = False
    ca: str | None = None
    certificate: str | None = None
    key: str | None = None

    def __attrs_post_init__(self) -> None:
        if not HOSTS.fullmatch(self.hosts):
            raise UsageError(f"{self.hosts!r} is no address of ZooKeeper. Allowed: HOST:PORT[,HOST:PORT ...][/CHROOT].")
        if self.sasl is not None and not connection.PURESASL_AVAILABLE:
            raise UsageError("SASL needs the package pure-sasl, which is not installed. Run: pip install pure-sasl")
        for path in filter(None, (self.ca, self.certificate, self.key)):
            if not Path(path).is_file():
                raise UsageError(f"There is no file {path!r}. Name a file with certificates, or with a key, as PEM.")
        if (self.certificate is None) != (self.key is None):
            raise UsageError("A client certificate needs its key: give both, or neither.")


class _Remarks(logging.Handler):
    """Keeps the last warning of the library, which says why a connection failed."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.last = ""

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if not text.startswith(("Transition", "Failed connecting")):
            self.last = text + (f": {record.exc_info[1]}" if record.exc_info and record.exc_info[1] else "")


class _Handler(SequentialThreadingHandler):
    """Waits for sockets with one system call; the library's own way takes four, and half of the time of a read."""

    def select(self, reading: Any, writing: Any, failing: Any, timeout: float | None = None) -> Any:
        try:
            return select.select(reading, writing, failing, timeout)
        except ValueError:  # a descriptor above 1,023
            return super().select(reading, writing, failing, timeout)


class _ReadingClient(KazooClient):
    """Refuses every request that is not a read; all requests of the library pass here."""

    def _call(self, request: Any, async_object: Any) -> Any:
        if not isinstance(request, READS) or getattr(request, "watcher", None) is not None:
            raise InternalError(f"a request to ZooKeeper that is no read: {type(request).__name__}.")
        return super()._call(request, async_object)


class ZooKeeperReader:
    """Reads znodes. Use it as a context: the session ends with the block.

    Raises:
        UsageError: No ZooKeeper answers, or it refuses the user.
    """

    def __init__(self, options: ZooKeeperOptions) -> None:
        self.options, self.remarks = options, _Remarks()
        self._client = _client(options, self.remarks)

    def __enter__(self) -> ZooKeeperReader:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about a chroot that does not exist, which has its own error
                self._client.start(timeout=self.options.seconds)
        except (KazooException, KazooTimeoutError) as error:
            raise self._failure(error) from error
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._client.stop()
        self._client.close()

    def get(self, paths: Sequence[str]) -> list[Answer]:
        """Return the contents of znodes."""
        return self._read(self._client.get_async, paths, lambda result: _znode(result[1], content=result[0]))

    def children(self, paths: Sequence[str]) -> list[Answer]:
        """Return the children of znodes."""

        def ask(path: str) -> Any:
            return self._client.get_children_async(path, include_data=True)

        return self._read(ask, paths, lambda result: _znode(result[1], children=result[0]))

    def stat(self, paths: Sequence[str]) -> list[Answer]:
        """Return znodes without content and children."""
        return self._read(self._client.exists_async, paths, lambda result: None if result is None else _znode(result))

    def _read(self, ask: Callable[[str], Any], paths: Sequence[str], read: Callable[[Any], Answer]) -> list[Answer]:
        found: dict[str, Answer] = {}
        for attempt in range(TRIES):
            left = [path for path in paths if path not in found]
            sent = [(path, ask(path)) for path in left]
            for path, answer in sent:
                try:
                    found[path] = _answer(answer, read, self.options.seconds)
                except LOST as error:
                    if attempt == TRIES - 1:
                        raise self._failure(error) from error
                except (AuthFailedError, KazooException) as error:
                    raise self._failure(error) from error
            if len(found) == len(paths):
                break
            self._wait()
        return [found[path] for path in paths]

    def _wait(self) -> None:
        """Wait until the library has connected again."""
        end = time.monotonic() + self.options.seconds
        while not self._client.connected and time.monotonic() < end:
            time.sleep(0.1)

    def _failure(self, error: BaseException) -> UsageError:
        hosts, why = printable(self.options.hosts, 200), printable(self.remarks.last or str(error), 200)
        if isinstance(error, AuthFailedError) or "SASL" in why or "AUTH_FAILED" in why:
            who = "the password" if self.options.sasl or self.options.digest else "a connection without a user"
            return UsageError(f"ZooKeeper at {hosts} refuses {who} ({why}). See --sasl, --digest and --password-file.")
        return UsageError(
            f"No ZooKeeper answers at {hosts} within {self.options.seconds:g} s ({why}). Allowed: the address in the "
            "brokers' zookeeper.connect; the port of a broker is another one, and a KRaft cluster has no ZooKeeper."
        )

    def check_cluster(self) -> None:
        """Check that a cluster has its znodes here; UsageError, with what is there instead."""
        ids, topics, top = self.children([BROKER_IDS, TOPICS, "/"])
        if ids is not None or topics is not None:
            return
        hosts, _, chroot = self.options.hosts.partition("/")
        if chroot:
            raise UsageError(
                f"No cluster has its znodes below /{printable(chroot)} of ZooKeeper at {printable(hosts, 200)}. "
                "Name the chroot of the brokers' zookeeper.connect."
            )
        names = top.children if isinstance(top, Znode) else ()
        roots = [f"/{name}" for name, found in zip(names, self._have_brokers(names), strict=True) if found is not None]
        shown = f"Perhaps {' or '.join(f'{hosts}{printable(root)}' for root in roots[:3])}. " if roots else ""
        raise UsageError(
            f"No cluster has its znodes in ZooKeeper at {printable(hosts, 200)}: there is no {BROKER_IDS}. {shown}"
            "Name the address with the chroot of the brokers' zookeeper.connect; a KRaft cluster has no ZooKeeper."
        )

    def _have_brokers(self, names: Iterable[str]) -> list[Answer]:
        return self.stat([f"/{name}{BROKER_IDS}" for name in names])


def _client(options: ZooKeeperOptions, remarks: _Remarks) -> Any:
    logger = logging.Logger("kwalk.zookeeper")
    logger.addHandler(remarks)
    sasl = {"mechanism": "DIGEST-MD5", "username": options.sasl, "password": options.password}
    return _ReadingClient(
        hosts=options.hosts,
        timeout=min(options.seconds, 10.0),
        logger=logger,
        handler=_Handler(),
        use_ssl=options.tls,
        ca=options.ca,
        certfile=options.certificate,
        keyfile=options.key,
        verify_certs=True,
        check_hostname=options.tls,
        auth_data=[("digest", f"{options.digest}:{options.password}")] if options.digest else None,
        sasl_options=sasl if options.sasl else None,
    )


def _answer(sent: Any, read: Callable[[Any], Answer], seconds: float) -> Answer:
    try:
        return read(sent.get(timeout=seconds))
    except NoNodeError:
        return None
    except NoAuthError:
        return RefusedRead("NOAUTH")
    except LOST:
        raise
    except ZookeeperError as error:
        if isinstance(error, AuthFailedError):
            raise
        return RefusedRead(type(error).__name__)


def _znode(stat: Any, *, content: bytes = b"", children: Iterable[str] = ()) -> Znode:
    return Znode(content or b"", tuple(children), stat.version, stat.czxid, stat.mzxid, stat.pzxid)
