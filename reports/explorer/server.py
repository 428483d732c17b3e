"""The server of the explorer: one page and its calls, on the loopback interface, for whoever knows the token.

The page and its calls are below a random token. A request with another Host header is refused, so that no name that a
foreign site makes resolve to this machine (DNS rebinding) reaches them; a call must be JSON, and one with an Origin
header must come from the page itself. No header permits another origin anything. The only files that are written are
those of saved traces, in the folder that the command names.
"""

from __future__ import annotations

import errno
import hmac
import json
import re
import secrets
import socket
import threading
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from kwalk.model.language import UsageError
from kwalk.model.language.errors import KwalkError, error_text
from kwalk.reports.escaping import visible
from kwalk.reports.explorer.page import explorer_page, neighbourhood_svg
from kwalk.reports.explorer.session import ExplorerSession

LOOPBACK = "127.0.0.1"
LONGEST_CALL = 1 << 16
"""The most bytes of a call."""
MOST_AROUND, FARTHEST = 150, 6
"""The most states of a neighbourhood, and the most steps from its centre."""
LEAVING = 2.0
"""Seconds after which a page that was left counts as closed: one that is loaded again asks for something meanwhile."""
PATIENCE = 30.0
"""Seconds after which a connection that sends nothing is closed."""
HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class ExplorerServer(ThreadingHTTPServer):
    """A server for one exploration. `serve_forever` ends when the page asks for that, or `shutdown` is called.

    Args:
        exploration: What it shows.
        port: The port; 0 for a free one.
        framed: Whether a page of a notebook on this machine may show it in a frame.

    Raises:
        UsageError: The port is in use, or this user may not use it.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, exploration: ExplorerSession, port: int = 0, *, framed: bool = False) -> None:
        self.exploration, self.framed = exploration, framed
        self.token = secrets.token_urlsafe(24)
        self.on_leave: Callable[[], None] = lambda: None
        self._requests = 0
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except OSError as error:
            why = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be used ({error_text(error)})"
            raise UsageError(f"Port {port} {why}. Name another with --port, or leave it out for a free one.") from error
        self.port = int(self.server_address[1])
        self.hosts = frozenset(f"{name}:{self.port}" for name in (LOOPBACK, "localhost"))

    @property
    def address(self) -> str:
        """Return the address of the page."""
        return f"http://{LOOPBACK}:{self.port}/{self.token}/"

    def count_request(self) -> None:
        """Count a request."""
        self._requests += 1

    def leave(self) -> None:
        """Call `on_leave` soon, unless a page is loaded again meanwhile."""
        seen = self._requests

        def look() -> None:
            if self._requests == seen:
                self.on_leave()

        later = threading.Timer(LEAVING, look)
        later.daemon = True
        later.start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a connection that the browser has closed; print nothing else either, as the page shows errors."""

    def server_bind(self) -> None:
        """Bind without looking up the name of this machine, which can take seconds."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = LOOPBACK, int(self.server_address[1])


def _number(arguments: dict[str, Any], name: str, most: int, otherwise: int) -> int:
    """Return a number of a call; UsageError if it is none in 1 … `most`."""
    found = arguments.get(name, otherwise)
    if type(found) is not int or not 1 <= found <= most:
        raise UsageError(f"`{name}` is a whole number in 1 … {most:,}.")
    return found


class _Handler(BaseHTTPRequestHandler):
    """One connection of a browser."""

    server: ExplorerServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "kwalk", ""
    timeout = PATIENCE

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""

    # Requests.

    def do_GET(self) -> None:
        """Send the page."""
        refusal = self._refusal()
        if refusal is None and self._name() == "":
            self._send(HTTPStatus.OK, "text/html; charset=utf-8", *explorer_page(framed=self.server.framed))
        else:
            self._refuse(refusal or HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        """Answer a call of the page."""
        handler = self._calls().get(self._name())
        refusal = self._refusal() or (HTTPStatus.NOT_FOUND if handler is None else None)
        wanted = refusal or self._content()
        if handler is None or isinstance(wanted, HTTPStatus):
            self._refuse(refusal or HTTPStatus.BAD_REQUEST)
            return
        try:
            with self.server.exploration.lock:
                answer: Any = handler(wanted, wanted.get("position"))
        except KwalkError as error:
            answer = {"error": visible(str(error), 2000)}
        self._send(HTTPStatus.OK, "application/json", json.dumps(answer))
        if self._name() == "end":
            threading.Thread(target=self.server.shutdown, daemon=True).start()

    def _calls(self) -> dict[str, Callable[[dict[str, Any], Any], Any]]:
        """Return what the page can ask for, by name: functions of a call and of the position that it names."""
        one = self.server.exploration
        return {
            "about": lambda _, at: one.about(),
            "view": lambda _, at: one.view(at),
            "take": lambda call, at: {"position": one.take(at, _listed(call.get("steps")))},
            "walk": lambda call, at: one.walk(at, call.get("steps"), call.get("seed")),
            "reads": lambda call, at: {"parts": one.reads(at, call.get("property"))},
            "distance": lambda call, at: one.distance(at, _seconds(call.get("seconds")), call.get("goal")),
            "bookmark": lambda call, at: {"bookmarks": one.bookmark(at, call.get("name"))},
            "save": lambda _, at: {"files": one.saved(at)},
            "graph": partial(_graph, one),
            "leave": lambda _, at: self.server.leave(),
            "end": lambda _, at: {},
        }

    # What is refused.

    def _name(self) -> str:
        """Return the rest of the path after the token."""
        return "/".join(self.path.split("/")[2:])

    def _refusal(self) -> HTTPStatus | None:
        """Return why a request is refused before its content is read; None if it is not."""
        self.server.count_request()
        origin, site = self.headers.get("Origin"), self.headers.get("Sec-Fetch-Site")
        own = {f"http://{host}" for host in self.server.hosts}
        if self.headers.get("Host") not in self.server.hosts or (origin is not None and origin not in own):
            return HTTPStatus.FORBIDDEN
        token = [*self.path.split("/"), ""][1]
        if not hmac.compare_digest(token.encode("utf-8", "surrogatepass"), self.server.token.encode()):
            return HTTPStatus.NOT_FOUND
        if self.command == "GET":
            return None
        length = self.headers.get("Content-Length", "")
        if site not in (None, "same-origin"):
            return HTTPStatus.FORBIDDEN
        if self.headers.get("Content-Type", "").partition(";")[0].strip() != "application/json":
            return HTTPStatus.UNSUPPORTED_MEDIA_TYPE
        if not re.fullmatch("[0-9]{1,9}", length) or int(length) > LONGEST_CALL:
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        return None

    def _content(self) -> dict[str, Any] | HTTPStatus:
        """Return the object that a call sends."""
        try:
            found = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        except (ValueError, RecursionError):
            found = None
        return found if isinstance(found, dict) else HTTPStatus.BAD_REQUEST

    def _refuse(self, status: HTTPStatus) -> None:
        """Refuse a request, and close the connection, as its content may not be read."""
        self.close_connection = True
        self._send(status, "text/plain; charset=utf-8", f"{status.value} {status.phrase}\n")

    # Answers.

    def _send(self, status: HTTPStatus, kind: str, text: str, policy: str = "default-src 'none'") -> None:
        content = text.encode("utf-8", "surrogatepass")
        try:
            self.send_response(status)
            headers = {**HEADERS, "Content-Type": kind, "Content-Security-Policy": policy}
            if self.close_connection:
                headers["Connection"] = "close"
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)
        except OSError:
            self.close_connection = True  # the browser has closed the connection


def _listed(steps: Any) -> list[Any]:
    if not isinstance(steps, list):
        raise UsageError("`steps` is a list of numbers.")
    return steps


def _seconds(value: Any) -> float | None:
    if value is None:
        return None
    if type(value) not in (int, float) or not 0 < value <= 3600:
        raise UsageError("`seconds` is a number above 0, at most 3,600.")
    return float(value)


def _graph(one: ExplorerSession, call: dict[str, Any], at: Any) -> dict[str, Any]:
    """Return the drawing of a neighbourhood, and what it leaves out."""
    steps, most = _number(call, "steps", FARTHEST, 2), _number(call, "most", MOST_AROUND, 60)
    around = one.neighbourhood(at, steps, most)
    return {"svg": neighbourhood_svg(one, around), "states": len(around.nodes), "left_out": around.left_out}
